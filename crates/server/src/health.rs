//! Which components of the server work: the source of the health page.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

/// State of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Whether it does its job.
    pub works: bool,
    /// Human-readable description of the state.
    pub words: String,
}

/// States of all components, by name. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<BTreeMap<&'static str, Condition>>>);

impl Health {
    /// Sets the state of a component. False if it was the same before.
    pub fn note(&self, component: &'static str, works: bool, words: impl Into<String>) -> bool {
        let condition = Condition { works, words: words.into() };
        let mut components = self.0.lock();
        components.insert(component, condition.clone()) != Some(condition)
    }

    /// All components that have reported a state, sorted by name.
    pub fn components(&self) -> Vec<(&'static str, Condition)> {
        let components = self.0.lock();
        components.iter().map(|(&name, condition)| (name, condition.clone())).collect()
    }
}
