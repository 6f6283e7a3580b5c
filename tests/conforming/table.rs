//! Results, case by case and client by client.

use std::{collections::BTreeMap, fmt::Write};

use super::generate;

/// What became of a case.
#[derive(Clone, Debug)]
pub(crate) enum Verdict {
    Passed,
    Failed(String),
    Unsupported(String),
}

/// The results of a client, by case.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) verdicts: BTreeMap<String, Verdict>,
}

/// A row that is not one of the cases: group and name.
pub(crate) const MORE: [(&str, &str); 3] = [
    ("more", "damaged streams are read as by our decoder"),
    ("more", "a scene with the server, every message accounted for"),
    ("more", "nothing is left behind: memory, threads, errors"),
];

pub(crate) fn rows() -> Vec<(String, String)> {
    let cases = generate::groups().into_iter();
    let cases = cases.flat_map(|(group, cases)| cases.into_iter().map(move |case| (group.to_owned(), case.name)));
    cases.chain(MORE.map(|(group, name)| (group.to_owned(), name.to_owned()))).collect()
}

/// A table in Markdown, with the reasons of what is not supported below it.
pub(crate) fn table(columns: &[Column]) -> String {
    let mut text = String::from("| case |");
    let mut reasons: Vec<String> = Vec::new();
    columns.iter().for_each(|column| _ = write!(text, " {} |", column.name));
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(columns.len()));
    let mut last = String::new();
    // only some cases may have been played
    let is_played = |name: &String| columns.iter().any(|column| column.verdicts.contains_key(name));
    for (group, name) in rows().into_iter().filter(|(_, name)| is_played(name)) {
        if group != last {
            _ = write!(text, "\n| **{group}** |{}", " |".repeat(columns.len()));
            last.clone_from(&group);
        }
        _ = write!(text, "\n| {name} |");
        for column in columns {
            let cell = match column.verdicts.get(&name) {
                Some(Verdict::Passed) => "yes".to_owned(),
                Some(Verdict::Failed(_)) => "**NO**".to_owned(),
                Some(Verdict::Unsupported(reason)) => format!("no ({})", number_of(&mut reasons, reason)),
                None => String::new(),
            };
            _ = write!(text, " {cell} |");
        }
    }
    text.push('\n');
    for (number, reason) in (1..).zip(&reasons) {
        _ = write!(text, "\n{number}. {reason}");
    }
    if !reasons.is_empty() {
        text.push('\n');
    }
    text
}

fn number_of(reasons: &mut Vec<String>, reason: &str) -> usize {
    let found = reasons.iter().position(|known| known == reason);
    1 + found.unwrap_or_else(|| {
        reasons.push(reason.to_owned());
        reasons.len() - 1
    })
}

/// What failed, a line for each.
pub(crate) fn failures(columns: &[Column]) -> Vec<String> {
    let of = |column: &Column| {
        let failed = column.verdicts.iter().filter_map(|(case, verdict)| match verdict {
            Verdict::Failed(what) => Some(format!("{}: {case}: {what}", column.name)),
            _ => None,
        });
        failed.collect::<Vec<_>>()
    };
    columns.iter().flat_map(of).collect()
}
