//! Long replies: searches in small steps, and lists paced so that a client with small buffers loses none (D21).

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use regex::{Regex, RegexBuilder};
use world::{Catalogue, snapshot::VariableCard};

use crate::limits;

/// Names matched per step.
const NAMES_AT_ONCE: usize = 32;
/// Memory limit of a compiled expression, in bytes.
const EXPRESSION_MEMORY: usize = 1 << 17;
/// List datagrams sent in one burst; a client's default buffer holds about 270.
const BURST: f64 = 48.0;
/// List datagrams per second in the long run: a client may sleep for 15 ms without losing any.
const RATE: f64 = 14_000.0;
/// Interval between two bursts.
const PAUSE: Duration = Duration::from_millis(1);

/// A search for variables by name.
#[derive(Debug)]
pub(super) struct Search {
    expression: String,
    /// None until the first step has compiled it.
    regex: Option<Regex>,
    catalogue: Arc<Catalogue>,
    matched: usize,
    found: Vec<usize>,
}

impl Search {
    /// Compiles the expression, or matches some more names. True when the search is complete.
    fn advance(&mut self) -> bool {
        let Some(regex) = &self.regex else {
            self.regex = whole_match(&self.expression);
            return self.regex.is_none();
        };
        let names = self.catalogue.variables.iter().enumerate().skip(self.matched).take(NAMES_AT_ONCE);
        self.found.extend(names.filter(|(_, card)| regex.is_match(&card.name)).map(|(index, _)| index));
        self.matched += NAMES_AT_ONCE;
        self.matched >= self.catalogue.variables.len()
    }

    /// The matches, ordered by name.
    pub(super) fn found(&self) -> impl ExactSizeIterator<Item = &VariableCard> {
        self.found.iter().filter_map(|&index| self.catalogue.variables.get(index)).collect::<Vec<_>>().into_iter()
    }
}

/// Compiles an expression that has to match a whole name; none if it is invalid or too large.
fn whole_match(expression: &str) -> Option<Regex> {
    let build = |text: &str| {
        RegexBuilder::new(text).size_limit(EXPRESSION_MEMORY).dfa_size_limit(EXPRESSION_MEMORY).build().ok()
    };
    // also on its own: an unbalanced parenthesis must not close our group
    build(expression)?;
    build(&format!("^(?:{expression})$"))
}

/// Pending searches, and list datagrams to be sent.
#[derive(Debug)]
pub(super) struct Lists {
    searches: VecDeque<Search>,
    waiting: VecDeque<Vec<u8>>,
    allowance: f64,
    at: Option<Instant>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { searches: VecDeque::new(), waiting: VecDeque::new(), allowance: BURST, at: None }
    }
}

impl Lists {
    /// Queues a search, or returns why not.
    pub(super) fn search(&mut self, expression: &str, catalogue: &Arc<Catalogue>) -> Result<(), &'static str> {
        if self.searches.len() >= limits::SEARCHES {
            return Err("too many searches at once");
        }
        if expression.len() > limits::EXPRESSION {
            return Err("the regular expression is too long");
        }
        let (expression, catalogue) = (expression.to_owned(), Arc::clone(catalogue));
        self.searches.push_back(Search { expression, regex: None, catalogue, matched: 0, found: Vec::new() });
        Ok(())
    }

    /// Whether there is room for another list.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < limits::LISTED
    }

    /// Queues a list datagram.
    pub(super) fn push(&mut self, datagram: Vec<u8>) {
        self.waiting.push_back(datagram);
    }

    /// Advances the first search unless a list is being sent. Returns it when it is complete.
    pub(super) fn advance(&mut self) -> Option<Search> {
        if !self.waiting.is_empty() || !self.searches.front_mut()?.advance() {
            return None;
        }
        self.searches.pop_front()
    }

    /// Takes out the datagrams that may be sent at `now`.
    pub(super) fn take_due(&mut self, now: Instant) -> impl Iterator<Item = Vec<u8>> + '_ {
        let passed = self.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        self.at = Some(now);
        self.allowance = (self.allowance + passed * RATE).min(BURST);
        let count = (self.allowance as usize).min(self.waiting.len());
        self.allowance -= count as f64;
        self.waiting.drain(..count)
    }

    /// When there is work to do again.
    pub(super) fn timeout(&self) -> Option<Instant> {
        let at = self.at?;
        if !self.waiting.is_empty() {
            Some(at + PAUSE)
        } else {
            // immediately
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
        let mut gone = lists.take_due(start).count();
        assert_eq!(gone, BURST as usize, "a short list goes at once");
        assert_eq!(lists.take_due(start).count(), 0);
        let mut now = start;
        while gone < total {
            assert_eq!(lists.timeout(), Some(now + PAUSE));
            now += PAUSE;
            gone += lists.take_due(now).count();
        }
        assert!(now - start < Duration::from_secs(1), "{:?}", now - start);
        assert_eq!(lists.timeout(), None);
        lists.push(vec![43]);
        assert_eq!(lists.take_due(now + Duration::from_secs(60)).count(), 1);
        for _ in 0..total {
            lists.push(vec![43]);
        }
        assert!(
            lists.take_due(now + Duration::from_secs(90)).count() <= BURST as usize,
            "however long nothing was sent"
        );
    }
}
