//! Helpers to compare the messages of two servers that play the same script.

pub(crate) mod agent_frames;
pub(crate) mod expression;
pub(crate) mod pictures;
pub(crate) mod servers;

/// Collected differences, reported together because one often explains another.
#[derive(Default)]
pub(crate) struct Differences(Vec<String>);

impl Differences {
    pub(crate) fn check(&mut self, is_right: bool, what: impl FnOnce() -> String) {
        if !is_right {
            self.0.push(what());
        }
    }

    pub(crate) fn check_equal<T: PartialEq + std::fmt::Debug>(&mut self, ours: T, theirs: T, what: &str) {
        self.check(ours == theirs, || format!("{what}:\n  ours:      {ours:?}\n  reference: {theirs:?}"));
    }

    /// Panics if there are any.
    pub(crate) fn end(self) {
        const SHOWN: usize = 20;
        let shown = self.0.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.0.is_empty(), "{} differences:\n{shown}", self.0.len());
    }
}
