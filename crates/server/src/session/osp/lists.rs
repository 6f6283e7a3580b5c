//! Long answers: searches that take a while, and lists that a client with small buffers could not take at once (D21).

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use regex::{Regex, RegexBuilder};
use world::{Catalogue, snapshot::VariableCard};

use crate::limits;

/// Names that are looked at in one go.
const NAMES_AT_ONCE: usize = 32;
/// Memory that an expression may need, in bytes.
const EXPRESSION_MEMORY: usize = 1 << 17;
/// Datagrams of lists that are sent at once; a client's default buffer has room for some 270.
const BURST: f64 = 48.0;
/// And in the long run, in a second: a client may sleep for 15 ms and loses none.
const RATE: f64 = 14_000.0;
/// Between two looks at how many may go.
const PAUSE: Duration = Duration::from_millis(1);

/// A search for variables by their names.
#[derive(Debug)]
pub(super) struct Search {
    expression: String,
    /// None until it has begun.
    regex: Option<Regex>,
    catalogue: Arc<Catalogue>,
    looked_at: usize,
    found: Vec<usize>,
}

impl Search {
    /// Compiles the expression, or looks at some more names. True when it is done.
    fn go_on(&mut self) -> bool {
        let Some(regex) = &self.regex else {
            self.regex = whole_match(&self.expression);
            return self.regex.is_none();
        };
        let names = self.catalogue.variables.iter().enumerate().skip(self.looked_at).take(NAMES_AT_ONCE);
        self.found.extend(names.filter(|(_, card)| regex.is_match(&card.name)).map(|(index, _)| index));
        self.looked_at += NAMES_AT_ONCE;
        self.looked_at >= self.catalogue.variables.len()
    }

    /// What was found, in order of names.
    pub(super) fn found(&self) -> impl ExactSizeIterator<Item = &VariableCard> {
        self.found.iter().filter_map(|&index| self.catalogue.variables.get(index)).collect::<Vec<_>>().into_iter()
    }
}

/// An expression that has to match a whole name, if it is one that can be afforded.
fn whole_match(expression: &str) -> Option<Regex> {
    let build = |text: &str| {
        RegexBuilder::new(text).size_limit(EXPRESSION_MEMORY).dfa_size_limit(EXPRESSION_MEMORY).build().ok()
    };
    // on its own, too: a parenthesis too many must not end ours
    build(expression)?;
    build(&format!("^(?:{expression})$"))
}

/// Searches to be done, and datagrams of lists to be sent.
#[derive(Debug)]
pub(super) struct Lists {
    searches: VecDeque<Search>,
    waiting: VecDeque<Vec<u8>>,
    may_go: f64,
    at: Option<Instant>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { searches: VecDeque::new(), waiting: VecDeque::new(), may_go: BURST, at: None }
    }
}

impl Lists {
    /// Begins a search, or says why not.
    pub(super) fn search(&mut self, expression: &str, catalogue: &Arc<Catalogue>) -> Result<(), &'static str> {
        if self.searches.len() >= limits::SEARCHES {
            return Err("too many searches at once");
        }
        if expression.len() > limits::EXPRESSION {
            return Err("the regular expression is too long");
        }
        let (expression, catalogue) = (expression.to_owned(), Arc::clone(catalogue));
        self.searches.push_back(Search { expression, regex: None, catalogue, looked_at: 0, found: Vec::new() });
        Ok(())
    }

    /// Whether there is room for another list.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < limits::LISTED
    }

    /// Sends a datagram of a list after all that wait.
    pub(super) fn push(&mut self, datagram: Vec<u8>) {
        self.waiting.push_back(datagram);
    }

    /// Goes on with the first search, while no list waits. What is returned is done.
    pub(super) fn go_on(&mut self) -> Option<Search> {
        if !self.waiting.is_empty() || !self.searches.front_mut()?.go_on() {
            return None;
        }
        self.searches.pop_front()
    }

    /// Takes out what may go at `now`.
    pub(super) fn flow(&mut self, now: Instant) -> impl Iterator<Item = Vec<u8>> + '_ {
        let passed = self.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.at = Some(now);
        self.may_go = (self.may_go + passed * RATE).min(BURST);
        let count = (self.may_go as usize).min(self.waiting.len());
        self.may_go -= count as f64;
        self.waiting.drain(..count)
    }

    /// When there is something to be done again.
    pub(super) fn wakes_at(&self) -> Option<Instant> {
        let at = self.at?;
        if !self.waiting.is_empty() {
            Some(at + PAUSE)
        } else {
            // at once
            (!self.searches.is_empty()).then_some(at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_match_whole_names() {
        for (expression, name, matches) in [
            (".*", "/A/B", true),
            ("/A", "/A/B", false),
            ("/A|/A/B", "/A/B", true),
            (".*[Bb]", "/A/B", true),
            ("/a/b", "/A/B", false),
            ("", "/A/B", false),
            ("", "", true),
        ] {
            assert_eq!(whole_match(expression).unwrap().is_match(name), matches, "{expression} {name}");
        }
        for expression in ["(", ")(", "a)|(b", "*", "\\p{nothing}", "(((a{50}){50}){50}){50}", "\\w{500}"] {
            assert!(whole_match(expression).is_none(), "{expression}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
    fn lists_do_not_go_faster_than_they_can_be_read() {
        let mut lists = Lists::default();
        let start = Instant::now();
        let total = 10_000;
        for _ in 0..total {
            lists.push(vec![43]);
        }
        let mut gone = lists.flow(start).count();
        assert_eq!(gone, BURST as usize, "a short list goes at once");
        assert_eq!(lists.flow(start).count(), 0);
        let mut now = start;
        while gone < total {
            assert_eq!(lists.wakes_at(), Some(now + PAUSE));
            now += PAUSE;
            gone += lists.flow(now).count();
        }
        assert!(now - start < Duration::from_secs(1), "{:?}", now - start);
        assert_eq!(lists.wakes_at(), None);
        lists.push(vec![43]);
        assert_eq!(lists.flow(now + Duration::from_secs(60)).count(), 1);
        for _ in 0..total {
            lists.push(vec![43]);
        }
        assert!(lists.flow(now + Duration::from_secs(90)).count() <= BURST as usize, "however long nothing was sent");
    }
}
