//! What works and what does not, for people: a page that names the part that fails.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How a part is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it does what it is there for.
    pub works: bool,
    /// In words.
    pub words: String,
}

/// How all parts of a server are doing, by name. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<BTreeMap<&'static str, Condition>>>);

impl Health {
    /// A part says how it is doing. False if it has said the same before.
    pub fn note(&self, part: &'static str, works: bool, words: impl Into<String>) -> bool {
        let condition = Condition { works, words: words.into() };
        let mut parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.insert(part, condition.clone()) != Some(condition)
    }

    /// All parts that have said something.
    pub fn parts(&self) -> Vec<(&'static str, Condition)> {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        parts.iter().map(|(&name, condition)| (name, condition.clone())).collect()
    }
}
