//! Names for the protocol's numbers.

use puppet::mixer::Subsystem;
use support::suggest;
use wire::oz::{EXPRESSIONS, GESTURES, LOOKATS, SERVOS, gesture_from_tag};

use crate::table::table;

/// Subsystems and their names on the command line.
pub(crate) const SUBSYSTEMS: [(Subsystem, &str); 7] = [
    (Subsystem::Gesture, "gesture"),
    (Subsystem::Expression, "expression"),
    (Subsystem::LookAt, "lookat"),
    (Subsystem::RandomHead, "random_head"),
    (Subsystem::RandomEyes, "random_eyes"),
    (Subsystem::RandomFace, "random_face"),
    (Subsystem::Direct, "direct"),
];

/// The number of a gesture, by its tag, its name or its number.
pub(crate) fn gesture(text: &str) -> Result<u32, String> {
    let tag = text.trim_start_matches('[').trim_end_matches(']');
    // a robot may have additional gestures, which are given by number
    let by_name = || named(tag, &GESTURES.map(|(_, name)| name)).or_else(|| tag.parse().ok());
    let tags_and_names = GESTURES.iter().flat_map(|&(tag, name)| [tag, name]);
    gesture_from_tag(tag).or_else(by_name).ok_or_else(|| refusal("gesture", tag, tags_and_names, GESTURES.len()))
}

/// The number of an expression, by its name or its number.
pub(crate) fn expression(text: &str) -> Result<u32, String> {
    find("expression", text, &EXPRESSIONS)
}

/// The number of a lookat mode, by its name or its number.
pub(crate) fn look_at(text: &str) -> Result<u32, String> {
    find("lookat mode", text, &LOOKATS)
}

/// The number of a servo, by its name or its number.
pub(crate) fn servo(text: &str) -> Result<u32, String> {
    find("servo", text, &SERVOS)
}

/// The subsystem with this name.
pub(crate) fn subsystem(text: &str) -> Result<Subsystem, String> {
    let found = SUBSYSTEMS.iter().find(|(_, name)| *name == plain(text));
    let names = SUBSYSTEMS.iter().map(|(_, name)| *name);
    found.map(|(subsystem, _)| *subsystem).ok_or_else(|| {
        let all = SUBSYSTEMS.map(|(_, name)| name).join(", ");
        format!("unknown subsystem{}; available: {all}", meant(text, names))
    })
}

/// Name of a subsystem.
pub(crate) fn of_subsystem(subsystem: Subsystem) -> &'static str {
    SUBSYSTEMS.iter().find(|(other, _)| *other == subsystem).map_or("", |(_, name)| name)
}

/// The name with this number, or the number itself if it has no name.
pub(crate) fn name_of(names: &[&str], id: u32) -> String {
    names.get(id as usize).map_or_else(|| id.to_string(), |name| (*name).to_owned())
}

/// The tag of a gesture, or its number if it is not one of the protocol's.
pub(crate) fn tag_of(gesture: u32) -> String {
    GESTURES.get(gesture as usize).map_or_else(|| gesture.to_string(), |(tag, _)| (*tag).to_owned())
}

/// A table of all names.
pub(crate) fn list() -> String {
    let row = |what: &str, id: usize, name: &str, tag: &str| [what, &id.to_string(), name, tag].map(str::to_owned);
    let mut rows: Vec<_> =
        GESTURES.iter().enumerate().map(|(id, (tag, name))| row("gesture", id, name, &format!("[{tag}]"))).collect();
    for (what, names) in [("expression", &EXPRESSIONS[..]), ("look", &LOOKATS), ("servo", &SERVOS)] {
        rows.extend(names.iter().enumerate().map(|(id, name)| row(what, id, name, "")));
    }
    table(["what", "number", "name", "tag in a text"], &rows)
}

fn find(what: &str, text: &str, names: &[&str]) -> Result<u32, String> {
    named(text, names).ok_or_else(|| refusal(what, text, names.iter().copied(), names.len()))
}

fn named(text: &str, names: &[&str]) -> Option<u32> {
    let (name, number) = (plain(text), text.parse().ok());
    (0..).zip(names).find_map(|(id, known)| (*known == name || number == Some(id)).then_some(id))
}

/// Normalises a name to the protocol's spelling.
fn plain(text: &str) -> String {
    text.trim().to_lowercase().replace(['-', ' '], "_")
}

fn refusal<'a>(what: &str, text: &str, known: impl Iterator<Item = &'a str>, count: usize) -> String {
    let last = count.saturating_sub(1);
    let meant = meant(text, known);
    format!("unknown {what}{meant}; use a number from 0 to {last}, or a name from `rossum oz list`")
}

/// A suggestion of the most similar name in brackets, if there is one.
fn meant<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> String {
    let near = suggest::nearest(&plain(text), known);
    near.map(|name| format!(" ({})", suggest::did_you_mean(name))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_by_name_tag_and_number() {
        for (text, id) in
            [("yess", 5), ("YESS", 5), ("[yess]", 5), ("yes_short", 5), ("Yes-Short", 5), ("5", 5), ("wob", 12)]
        {
            assert_eq!(gesture(text), Ok(id), "{text}");
        }
        assert_eq!((expression("happy"), expression("4")), (Ok(1), Ok(4)));
        assert_eq!((look_at("Largest"), look_at("0")), (Ok(3), Ok(0)));
        assert_eq!((servo("neck yaw"), servo("grasp-right"), servo("35")), (Ok(21), Ok(35), Ok(35)));
        assert_eq!(subsystem("random-head"), Ok(Subsystem::RandomHead));
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let words = |result: Result<u32, String>| result.unwrap_err();
        for (said, near) in [
            (words(gesture("yesss")), "`yess`"),
            (words(gesture("brow_raise")), "`brow_raise_"),
            (words(expression("hapy")), "`happy`"),
            (words(look_at("foward")), "`forward`"),
            (words(servo("neck_jaw")), "`neck_yaw`"),
            (subsystem("randomhead").unwrap_err(), "`random_head`"),
        ] {
            assert!(said.contains(&format!("did you mean {near}")), "{said}");
        }
        assert_eq!(gesture("13"), Ok(13), "a robot may have additional gestures");
        for said in [words(gesture("")), words(expression("-1")), words(servo("36"))] {
            assert!(said.contains("use a number from 0 to") && !said.contains("did you mean"), "{said}");
        }
    }

    #[test]
    fn all_names_are_listed() {
        let list = list();
        assert_eq!(list.lines().count(), 1 + 13 + 5 + 6 + 36);
        for line in ["gesture     5       yes_short", "expression  1       happy", "servo       35      grasp_right"] {
            assert!(list.contains(line), "{list}");
        }
        assert!(list.contains("[yess]"), "{list}");
    }

    #[test]
    fn numbers_without_a_name_stay_numbers() {
        assert_eq!((tag_of(5), tag_of(40)), ("yess".to_owned(), "40".to_owned()));
        assert_eq!((name_of(&EXPRESSIONS, 1), name_of(&EXPRESSIONS, 9)), ("happy".to_owned(), "9".to_owned()));
        assert_eq!(of_subsystem(Subsystem::Direct), "direct");
    }
}
