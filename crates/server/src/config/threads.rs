//! The key `threads` of a scenario: a number or `"auto"`.

use physics::Threads;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

use super::text_of;

pub(super) fn serialize<S: Serializer>(threads: &Threads, serializer: S) -> Result<S::Ok, S::Error> {
    let text = threads.to_string();
    match text.parse() {
        Ok(count) => serializer.serialize_u8(count),
        Err(_) => serializer.serialize_str(&text),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Threads, D::Error> {
    let value = toml::Value::deserialize(deserializer)?;
    text_of(&value).parse().map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{Scenario, serve::build_world};

    #[test]
    fn threads_are_a_number_or_automatic() {
        for (written, printed) in [("0", "0"), ("2", "2"), ("16", "16"), ("\"auto\"", "\"auto\""), ("\"3\"", "3")] {
            let scenario = Scenario::parse("test", &format!("[world]\nthreads = {written}"), Path::new("")).unwrap();
            assert!(scenario.to_toml().contains(&format!("threads = {printed}\n")), "{written}");
            let (_, world) = build_world(&scenario).unwrap();
            assert_eq!(world.sim().threads(), scenario.base.world.threads);
        }
        for wrong in ["17", "-1", "1.5", "\"many\"", "true"] {
            let error = Scenario::parse("test", &format!("[world]\nthreads = {wrong}"), Path::new("")).unwrap_err();
            assert!(error.to_string().contains("`auto` or a number of threads from 0 to 16"), "{error}");
        }
    }
}
