//! Error messages that name what was probably meant.

use std::fmt::{self, Display};

/// Jaro-Winkler similarity above which a known name is suggested.
const MIN_SIMILARITY: f64 = 0.75;

/// The known name most similar to `name`, ignoring case; `None` if all are too different.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&name, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The question ``did you mean `cliffs`?``.
pub fn did_you_mean(near: &str) -> impl Display {
    fmt::from_fn(move |f| write!(f, "did you mean `{near}`?"))
}

/// The message for an unknown name: ``unknown world `clifs`; did you mean `cliffs`? available: cliffs, maze``.
///
/// `kind` is the noun, such as `world`.
pub fn unknown<'a>(kind: &'a str, name: &'a str, known: &'a [impl AsRef<str>]) -> impl Display + 'a {
    fmt::from_fn(move |f| {
        // names may come from the network
        write!(f, "unknown {kind} `{}`; ", name.escape_debug())?;
        if let Some(near) = nearest(name, known.iter().map(AsRef::as_ref)) {
            write!(f, "{} ", did_you_mean(near))?;
        }
        f.write_str("available: ")?;
        for (index, name) in known.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { ", " })?;
            f.write_str(name.as_ref())?;
        }
        if known.is_empty() { f.write_str("none") } else { Ok(()) }
    })
}

/// `message` followed by a line that suggests the nearest known name, if one is similar enough.
pub fn with_nearest<'a>(message: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(name, known) {
        Some(near) => format!("{message}\n{}", did_you_mean(near)),
        None => message.to_owned(),
    }
}

/// The TOML parser's message; for an unknown key or variant, with the nearest valid one.
pub fn toml_message(error: &toml::de::Error) -> String {
    let message = error.to_string();
    let is_unknown = error.message().starts_with("unknown field") || error.message().starts_with("unknown variant");
    // the parser quotes the unknown name first, then the valid ones
    let mut quoted = error.message().split('`').skip(1).step_by(2);
    match quoted.next().filter(|_| is_unknown) {
        Some(name) => with_nearest(message.trim_end(), name, quoted),
        None => message.trim_end().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn the_nearest_name_ignores_case_and_rejects_strangers() {
        for (name, known, expected) in [
            ("clifs", &["maze", "cliffs"][..], Some("cliffs")),
            ("CLIFFS", &["maze", "cliffs"], Some("cliffs")),
            ("t1", &["T1", "T2"], Some("T1")),
            ("sped", &["speed", "spin"], Some("speed")),
            ("zzz", &["maze", "cliffs"], None),
            ("", &["maze"], None),
            ("maze", &[], None),
        ] {
            assert_eq!(nearest(name, known.iter().copied()), expected, "{name}");
        }
    }

    #[test]
    fn unknown_names_are_reported_with_the_available_ones() {
        for (name, known, expected) in [
            ("clifs", &["cliffs", "maze"][..], "unknown world `clifs`; did you mean `cliffs`? available: cliffs, maze"),
            ("zzz", &["cliffs", "maze"], "unknown world `zzz`; available: cliffs, maze"),
            ("zzz", &[], "unknown world `zzz`; available: none"),
            ("z\nz", &[], "unknown world `z\\nz`; available: none"),
        ] {
            assert_eq!(unknown("world", name, known).to_string(), expected);
        }
    }

    #[test]
    fn toml_errors_suggest_the_nearest_key_or_variant() {
        for (text, expected) in [
            ("sede = 1", Some("seed")),
            ("pace = 'realtme'", Some("realtime")),
            ("zzz = 1", None),
            ("seed = 'one'", None),
            ("seed = ", None),
        ] {
            let message = toml_message(&toml::from_str::<Settings>(text).unwrap_err());
            match expected {
                Some(name) => assert!(message.ends_with(&format!("\ndid you mean `{name}`?")), "{message}"),
                None => assert!(!message.contains("did you mean") && !message.ends_with('\n'), "{message}"),
            }
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only the errors matter")]
    struct Settings {
        seed: Option<u64>,
        pace: Option<Pace>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Pace {
        Free,
        Realtime,
    }
}
