//! A session for ELAN: an annotation document, EAF 3.0.
//!
//! Annotations of a tier do not overlap in ELAN, and none is without length. Where more goes on at once than a tier
//! holds, there is another tier of the same name with a number. What happens at once is given a length that can be seen.

use std::{collections::BTreeMap, fmt::Write};

use super::session::{Kind, Row, SPEAK, Session};

/// How long an annotation of something is that happens at once, in ms, if nothing follows earlier.
const INSTANT: u64 = 250;

/// One annotation.
#[derive(Clone, Debug, PartialEq)]
struct Annotation {
    /// In ms.
    begin: u64,
    end: u64,
    value: String,
}

/// A tier: its name, whose it is, and its annotations by time.
struct Tier<'a> {
    name: String,
    participant: &'a str,
    annotations: Vec<Annotation>,
}

/// The document of a session whose recording was made so many seconds after the start of 1970 (UTC).
pub(super) fn document(session: &Session, made: u64) -> String {
    write(&tiers(session), made)
}

fn tiers(session: &Session) -> Vec<Tier<'_>> {
    let rows = |wanted: fn(Kind) -> bool| session.rows.iter().filter(move |row| wanted(row.kind));
    let robot = session.robot.as_str();
    let at_once = |name: &str, participant, rows: Vec<Annotation>| {
        vec![Tier { name: name.to_owned(), participant, annotations: instants(rows) }]
    };
    let of = |kind: fn(Kind) -> bool, value: fn(&Row) -> String| -> Vec<Annotation> {
        rows(kind).map(|row| annotation(row, value(row))).collect()
    };
    let with_remark = |said: &str, remark: &str| match remark {
        "" => said.to_owned(),
        remark => format!("{said} ({remark})"),
    };
    [
        at_once("operator speech", "operator", of(|kind| kind == SPEAK, |row| row.text.clone())),
        at_once("operator actions", "operator", of(|kind| kind != SPEAK && is_done_to_the_robot(kind), in_words)),
        lanes(
            "robot speech",
            robot,
            rows(|kind| kind == Kind::Speech).map(|row| annotation(row, with_remark(&row.text, &row.what))).collect(),
        ),
        lanes(
            "gestures",
            robot,
            rows(|kind| kind == Kind::Gesture).map(|row| annotation(row, with_remark(&row.what, &row.text))).collect(),
        ),
        lanes("expression", robot, of(|kind| kind == Kind::Expression, |row| row.what.clone())),
        lanes("lookat", robot, of(|kind| kind == Kind::LookAt, |row| row.what.clone())),
        at_once("utterances", robot, of(|kind| kind == Kind::Utterance, |row| row.text.clone())),
        lanes("faces", robot, merged(rows(|kind| kind == Kind::Face))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn is_done_to_the_robot(kind: Kind) -> bool {
    kind.is_action() || kind == Kind::NewTry
}

/// Such as `servo neck_yaw 0.5`.
fn in_words(row: &Row) -> String {
    let kind = row.kind.name();
    let name = kind.split_once('.').map_or(kind, |(_, name)| name);
    let words = [name, &row.what, &row.text];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn milliseconds(seconds: f64) -> u64 {
    (seconds * 1e3).round() as u64
}

fn annotation(row: &Row, value: String) -> Annotation {
    let begin = milliseconds(row.begin);
    Annotation { begin, end: milliseconds(row.end).max(begin + 1), value }
}

/// For what happens at once: what begins together is one annotation, and each ends before the next begins.
fn instants(annotations: Vec<Annotation>) -> Vec<Annotation> {
    let mut kept: Vec<Annotation> = Vec::new();
    for annotation in annotations {
        match kept.last_mut() {
            Some(last) if last.begin == annotation.begin => {
                last.value = format!("{}; {}", last.value, annotation.value);
                continue;
            }
            Some(last) => last.end = last.end.min(annotation.begin),
            None => {}
        }
        kept.push(Annotation { end: annotation.begin + INSTANT, ..annotation });
    }
    kept
}

/// As many tiers as are needed so that nothing overlaps; one at least.
fn lanes<'a>(name: &str, participant: &'a str, annotations: Vec<Annotation>) -> Vec<Tier<'a>> {
    let tier = |name: String| Tier { name, participant, annotations: Vec::new() };
    let mut tiers = vec![tier(name.to_owned())];
    for annotation in annotations {
        let is_free = |tier: &Tier<'_>| tier.annotations.last().is_none_or(|last| last.end <= annotation.begin);
        let place = tiers.iter().position(is_free).unwrap_or_else(|| {
            tiers.push(tier(format!("{name} {}", tiers.len() + 1)));
            tiers.len() - 1
        });
        if let Some(tier) = tiers.get_mut(place) {
            tier.annotations.push(annotation);
        }
    }
    tiers
}

/// The times during which there is somebody, with the names of all who were seen.
fn merged<'a>(faces: impl Iterator<Item = &'a Row>) -> Vec<Annotation> {
    let mut kept: Vec<(Annotation, Vec<&str>)> = Vec::new();
    for row in faces {
        let next = annotation(row, String::new());
        match kept.last_mut() {
            Some((last, names)) if next.begin <= last.end => {
                last.end = last.end.max(next.end);
                if !names.contains(&row.what.as_str()) {
                    names.push(&row.what);
                }
            }
            _ => kept.push((next, vec![&row.what])),
        }
    }
    kept.into_iter().map(|(annotation, names)| Annotation { value: names.join(", "), ..annotation }).collect()
}

fn write(tiers: &[Tier<'_>], made: u64) -> String {
    let mut body = String::new();
    let mut slots = Slots::of(tiers);
    let mut next = 1;
    for Tier { name, participant, annotations } in tiers {
        let (name, participant) = (escaped(name), escaped(participant));
        // a string can always be written to
        let _ = writeln!(
            body,
            "    <TIER LINGUISTIC_TYPE_REF=\"default-lt\" PARTICIPANT=\"{participant}\" TIER_ID=\"{name}\">"
        );
        for annotation in annotations {
            let (begin, end) = (slots.take(annotation.begin), slots.take(annotation.end));
            let value = escaped(&annotation.value);
            let _ = writeln!(
                body,
                "        <ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID=\"a{next}\" TIME_SLOT_REF1=\"ts{begin}\" \
                 TIME_SLOT_REF2=\"ts{end}\"><ANNOTATION_VALUE>{value}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>"
            );
            next += 1;
        }
        body.push_str("    </TIER>\n");
    }
    let mut order = String::new();
    for (slot, time) in (1..).zip(&slots.times) {
        let _ = writeln!(order, "        <TIME_SLOT TIME_SLOT_ID=\"ts{slot}\" TIME_VALUE=\"{time}\"/>");
    }
    let (date, last) = (date(made), next - 1);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<ANNOTATION_DOCUMENT AUTHOR=\"rossum\" DATE=\"{date}\" FORMAT=\"3.0\" VERSION=\"3.0\" \
xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" \
xsi:noNamespaceSchemaLocation=\"http://www.mpi.nl/tools/elan/EAFv3.0.xsd\">
    <HEADER MEDIA_FILE=\"\" TIME_UNITS=\"milliseconds\">
        <PROPERTY NAME=\"lastUsedAnnotationId\">{last}</PROPERTY>
    </HEADER>
    <TIME_ORDER>
{order}    </TIME_ORDER>
{body}    <LINGUISTIC_TYPE GRAPHIC_REFERENCES=\"false\" LINGUISTIC_TYPE_ID=\"default-lt\" TIME_ALIGNABLE=\"true\"/>
</ANNOTATION_DOCUMENT>
"
    )
}

/// Two slots for each annotation, numbered by time. They are not shared: who moves one annotation in ELAN moves no other.
struct Slots {
    times: Vec<u64>,
    /// How many of each time were taken.
    taken: BTreeMap<u64, usize>,
}

impl Slots {
    fn of(tiers: &[Tier<'_>]) -> Self {
        let annotations = tiers.iter().flat_map(|tier| &tier.annotations);
        let mut times: Vec<u64> = annotations.flat_map(|annotation| [annotation.begin, annotation.end]).collect();
        times.sort_unstable();
        Self { times, taken: BTreeMap::new() }
    }

    /// The number of the next slot of this time, from 1.
    fn take(&mut self, time: u64) -> usize {
        let first = self.times.partition_point(|other| *other < time);
        let taken = self.taken.entry(time).or_default();
        *taken += 1;
        first + *taken
    }
}

/// Text within an element or attribute. What XML cannot hold is replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\r' => escaped.push_str("&#13;"),
            '\t' | '\n' => escaped.push(character),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// A time in seconds since the start of 1970 as XML writes it.
fn date(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // years that begin in March have their leap day at the end: 400 of them have 146,097 days, and 1970 began 719,468
    // days after the start of the year 0
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + next;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(begin: u64, end: u64) -> Annotation {
        Annotation { begin, end, value: format!("{begin}") }
    }

    #[test]
    fn dates() {
        for (seconds, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_398_902_399, "2014-04-30T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), written);
        }
    }

    #[test]
    fn what_happens_at_once_can_be_seen() {
        let kept = instants(vec![annotation(10, 11), annotation(10, 11), annotation(50, 51), annotation(900, 901)]);
        let spans: Vec<_> = kept.iter().map(|kept| (kept.begin, kept.end, kept.value.as_str())).collect();
        assert_eq!(spans, [(10, 50, "10; 10"), (50, 300, "50"), (900, 1150, "900")]);
    }

    #[test]
    fn nothing_overlaps() {
        let tiers = lanes(
            "gestures",
            "Alice",
            vec![annotation(0, 100), annotation(50, 80), annotation(90, 120), annotation(100, 101)],
        );
        let spans: Vec<_> = tiers
            .iter()
            .map(|tier| (tier.name.as_str(), tier.annotations.iter().map(|a| a.begin).collect::<Vec<_>>()))
            .collect();
        assert_eq!(spans, [("gestures", vec![0, 100]), ("gestures 2", vec![50, 90])]);
        assert_eq!(lanes("gestures", "Alice", Vec::new()).len(), 1);
    }

    #[test]
    fn faces_are_put_together_while_there_are_any() {
        let row = |begin: f64, end: f64, name: &str| Row {
            begin,
            end,
            who: String::new(),
            kind: Kind::Face,
            what: name.to_owned(),
            text: String::new(),
        };
        let rows = [row(0.0, 1.0, "Ada"), row(0.5, 2.0, "unknown"), row(2.0, 2.5, "Ada"), row(3.0, 4.0, "Karel")];
        let spans: Vec<_> = merged(rows.iter()).into_iter().map(|kept| (kept.begin, kept.end, kept.value)).collect();
        assert_eq!(spans, [(0, 2500, "Ada, unknown".to_owned()), (3000, 4000, "Karel".to_owned())]);
    }

    #[test]
    fn any_text_is_xml() {
        let text = "a<b>&\"c\"\r\n\u{0}\u{1b}\u{ffff}ü";
        let xml = format!("<a b=\"{0}\">{0}</a>", escaped(text));
        let document = roxmltree::Document::parse(&xml).unwrap();
        assert_eq!(document.root_element().text(), Some("a<b>&\"c\"\r\n\u{fffd}\u{fffd}\u{fffd}ü"));
    }
}
