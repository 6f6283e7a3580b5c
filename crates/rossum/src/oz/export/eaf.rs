//! A session as an ELAN annotation document (EAF 3.0).
//!
//! In ELAN, annotations of a tier do not overlap and have a positive length. Concurrent annotations are therefore
//! distributed over numbered tiers, and instantaneous events get a visible length.

use std::{borrow::Cow, collections::BTreeMap, io};

use jiff::Timestamp;
use quick_xml::{
    Writer,
    escape::escape,
    events::{BytesDecl, BytesText, Event},
};

use super::session::{Kind, Row, SPEAK, Session};

/// Length of the annotation of an instantaneous event in ms, unless the next one starts earlier.
const INSTANT: u64 = 250;

#[derive(Clone, Debug, PartialEq)]
struct Annotation {
    /// Start, in ms.
    begin: u64,
    /// End, in ms.
    end: u64,
    value: String,
}

/// A tier, with its annotations sorted by time.
struct Tier<'a> {
    name: String,
    participant: &'a str,
    annotations: Vec<Annotation>,
}

/// The document of a session that was recorded at this time.
pub(super) fn document(session: &Session, recorded: Timestamp) -> io::Result<Vec<u8>> {
    write(&tiers(session), recorded)
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
        at_once("operator actions", "operator", of(|kind| kind != SPEAK && affects_the_robot(kind), description)),
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

fn affects_the_robot(kind: Kind) -> bool {
    kind.is_action() || kind == Kind::NewTry
}

/// Text of an action, such as `servo neck_yaw 0.5`.
fn description(row: &Row) -> String {
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

/// Merges instantaneous events at the same time, and ends each annotation before the next one starts.
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

/// Distributes annotations over as many tiers as necessary to avoid overlaps; at least one.
fn lanes<'a>(name: &str, participant: &'a str, annotations: Vec<Annotation>) -> Vec<Tier<'a>> {
    let tier = |name: String| Tier { name, participant, annotations: Vec::new() };
    let mut tiers = vec![tier(name.to_owned())];
    for annotation in annotations {
        let is_free = |tier: &Tier<'_>| tier.annotations.last().is_none_or(|last| last.end <= annotation.begin);
        let index = tiers.iter().position(is_free).unwrap_or_else(|| {
            tiers.push(tier(format!("{name} {}", tiers.len() + 1)));
            tiers.len() - 1
        });
        if let Some(tier) = tiers.get_mut(index) {
            tier.annotations.push(annotation);
        }
    }
    tiers
}

/// The periods in which faces were in view, with the names of all of them.
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

fn write(tiers: &[Tier<'_>], recorded: Timestamp) -> io::Result<Vec<u8>> {
    let date = recorded.to_string();
    let attributes = [
        ("AUTHOR", "rossum"),
        ("DATE", &date),
        ("FORMAT", "3.0"),
        ("VERSION", "3.0"),
        ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
        ("xsi:noNamespaceSchemaLocation", "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"),
    ];
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 4);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("ANNOTATION_DOCUMENT").with_attributes(attributes).write_inner_content(|writer| {
        let mut slots = Slots::of(tiers);
        write_header(writer, tiers, &slots.times)?;
        let mut last_id = 0;
        for tier in tiers {
            write_tier(writer, tier, &mut slots, &mut last_id)?;
        }
        let kind = writer.create_element("LINGUISTIC_TYPE").with_attributes([
            ("GRAPHIC_REFERENCES", "false"),
            ("LINGUISTIC_TYPE_ID", "default-lt"),
            ("TIME_ALIGNABLE", "true"),
        ]);
        kind.write_empty().map(drop)
    })?;
    let mut document = writer.into_inner();
    document.push(b'\n');
    Ok(document)
}

/// Writes the header and the list of time slots.
fn write_header(writer: &mut Writer<Vec<u8>>, tiers: &[Tier<'_>], times: &[u64]) -> io::Result<()> {
    let count: usize = tiers.iter().map(|tier| tier.annotations.len()).sum();
    let header = writer.create_element("HEADER").with_attributes([("MEDIA_FILE", ""), ("TIME_UNITS", "milliseconds")]);
    header.write_inner_content(|writer| {
        let property = writer.create_element("PROPERTY").with_attribute(("NAME", "lastUsedAnnotationId"));
        property.write_text_content(BytesText::new(&count.to_string())).map(drop)
    })?;
    writer.create_element("TIME_ORDER").write_inner_content(|writer| {
        for (slot, time) in (1..).zip(times) {
            let (id, time) = (format!("ts{slot}"), time.to_string());
            let slot = writer.create_element("TIME_SLOT");
            slot.with_attributes([("TIME_SLOT_ID", &*id), ("TIME_VALUE", &*time)]).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_tier(writer: &mut Writer<Vec<u8>>, tier: &Tier<'_>, slots: &mut Slots, last_id: &mut usize) -> io::Result<()> {
    let attributes = [
        ("LINGUISTIC_TYPE_REF", "default-lt"),
        ("PARTICIPANT", &*valid(tier.participant)),
        ("TIER_ID", &*valid(&tier.name)),
    ];
    let element = writer.create_element("TIER").with_attributes(attributes);
    if tier.annotations.is_empty() {
        return element.write_empty().map(drop);
    }
    element.write_inner_content(|writer| {
        for annotation in &tier.annotations {
            *last_id += 1;
            writer
                .create_element("ANNOTATION")
                .write_inner_content(|writer| write_annotation(writer, annotation, slots, *last_id))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_annotation(
    writer: &mut Writer<Vec<u8>>,
    annotation: &Annotation,
    slots: &mut Slots,
    id: usize,
) -> io::Result<()> {
    let (begin, end) = (slots.take(annotation.begin), slots.take(annotation.end));
    let [id, begin, end] = [format!("a{id}"), format!("ts{begin}"), format!("ts{end}")];
    let attributes = [("ANNOTATION_ID", &*id), ("TIME_SLOT_REF1", &*begin), ("TIME_SLOT_REF2", &*end)];
    let element = writer.create_element("ALIGNABLE_ANNOTATION").with_attributes(attributes);
    element.write_inner_content(|writer| {
        let value = text_content(&annotation.value);
        writer.create_element("ANNOTATION_VALUE").write_text_content(value).map(drop)
    })?;
    Ok(())
}

/// Text that may contain any character. A carriage return is written as a reference, as parsers replace it by a line feed.
fn text_content(text: &str) -> BytesText<'static> {
    BytesText::from_escaped(escape(valid(text)).replace('\r', "&#13;"))
}

/// Replaces characters that XML does not allow by U+FFFD.
fn valid(text: &str) -> Cow<'_, str> {
    let is_invalid =
        |c: char| matches!(c, '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}') && !matches!(c, '\t' | '\n' | '\r');
    if text.contains(is_invalid) { text.replace(is_invalid, "\u{fffd}").into() } else { text.into() }
}

/// Two time slots for each annotation, numbered by time. They are not shared, so that moving an annotation in ELAN does
/// not move others.
struct Slots {
    times: Vec<u64>,
    /// Number of slots taken, by time.
    taken: BTreeMap<u64, usize>,
}

impl Slots {
    fn of(tiers: &[Tier<'_>]) -> Self {
        let annotations = tiers.iter().flat_map(|tier| &tier.annotations);
        let mut times: Vec<u64> = annotations.flat_map(|annotation| [annotation.begin, annotation.end]).collect();
        times.sort_unstable();
        Self { times, taken: BTreeMap::new() }
    }

    /// Takes the next slot at this time and returns its number, from 1.
    fn take(&mut self, time: u64) -> usize {
        let first = self.times.partition_point(|other| *other < time);
        let taken = self.taken.entry(time).or_default();
        *taken += 1;
        first + *taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn annotation(begin: u64, end: u64) -> Annotation {
        Annotation { begin, end, value: format!("{begin}") }
    }

    #[test]
    fn instantaneous_events_are_visible() {
        let kept = instants(vec![annotation(10, 11), annotation(10, 11), annotation(50, 51), annotation(900, 901)]);
        let spans: Vec<_> = kept.iter().map(|kept| (kept.begin, kept.end, kept.value.as_str())).collect();
        assert_eq!(spans, [(10, 50, "10; 10"), (50, 300, "50"), (900, 1150, "900")]);
    }

    #[test]
    fn annotations_do_not_overlap() {
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
    fn overlapping_faces_are_merged() {
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
    fn any_text_can_be_written() {
        let text = "a<b>&\"c\"\r\n\u{0}\u{1b}\u{ffff}ü";
        let annotation = Annotation { begin: 0, end: 10, value: text.to_owned() };
        let tiers = [Tier { name: text.to_owned(), participant: "<Alice>", annotations: vec![annotation] }];
        let xml = String::from_utf8(write(&tiers, Timestamp::from_second(951_782_400).unwrap()).unwrap()).unwrap();
        let document = roxmltree::Document::parse(&xml).unwrap();
        assert_eq!(document.root_element().attribute("DATE"), Some("2000-02-29T00:00:00Z"));
        let value = document.descendants().find(|node| node.has_tag_name("ANNOTATION_VALUE")).unwrap();
        assert_eq!(value.text(), Some("a<b>&\"c\"\r\n\u{fffd}\u{fffd}\u{fffd}ü"));
        let tier = document.descendants().find(|node| node.has_tag_name("TIER")).unwrap();
        assert_eq!(tier.attribute("PARTICIPANT"), Some("<Alice>"));
    }
}
