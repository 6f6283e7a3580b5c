//! Searches for variables by regular expression (D21), in small steps and within a budget.
//!
//! All conversations share one thread with the steps of all clients, so the work of a search is bounded in three ways: the
//! compiled expression is small and needs no tables of Unicode, a step of a search is short, and the work of a client, and
//! of all clients together, has a budget per second. The unit of work is one state of an expression compared with one
//! character, some nanoseconds.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use parking_lot::Mutex;
use regex_lite::{Regex, RegexBuilder};
use world::{Catalogue, snapshot::VariableCard};

use crate::{TokenBucket, limits};

/// Memory limit of a compiled expression, in bytes.
const EXPRESSION_MEMORY: usize = 1 << 16;
/// Most states of a compiled expression; each takes 32 bytes.
const STATES: usize = EXPRESSION_MEMORY / 32;
/// Work of compiling a state.
const COMPILING: f64 = 20.0;
/// Work of finding a name.
const FINDING: f64 = 500.0;
/// Work of listing a match: a datagram.
const LISTING: f64 = 300.0;
/// Work after which a step ends.
const STEP: f64 = 2_000.0;

/// Characters with a meaning in regular expressions.
const META: [char; 14] = ['\\', '.', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$'];

/// The budget that the searches of all clients share.
#[derive(Clone, Debug)]
pub struct SearchBudget(Arc<Mutex<TokenBucket>>);

impl Default for SearchBudget {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(TokenBucket::new(limits::SEARCH_WORK_TOGETHER))))
    }
}

/// The pending searches of a client.
#[derive(Debug)]
pub(super) struct Searches {
    queue: VecDeque<Search>,
    own: TokenBucket,
    shared: SearchBudget,
    /// When the first one can go on.
    resumes: Option<Instant>,
}

impl Searches {
    pub(super) fn new(shared: SearchBudget) -> Self {
        Self { queue: VecDeque::new(), own: TokenBucket::new(limits::SEARCH_WORK), shared, resumes: None }
    }

    /// Queues a search, or returns why not.
    pub(super) fn push(
        &mut self,
        expression: &str,
        catalogue: &Arc<Catalogue>,
        now: Instant,
    ) -> Result<(), &'static str> {
        // a request that was repeated because it takes long is answered once
        if self.queue.iter().any(|search| search.expression == expression) {
            return Ok(());
        }
        if self.queue.len() >= limits::SEARCHES {
            return Err("too many searches at once");
        }
        if expression.len() > limits::EXPRESSION {
            return Err("the regular expression is too long");
        }
        self.resumes.get_or_insert(now);
        self.queue.push_back(Search::new(expression, catalogue));
        Ok(())
    }

    /// Takes a step of the first search, if the budget allows it. Returns the search when it is complete.
    pub(super) fn advance(&mut self, now: Instant) -> Option<Search> {
        let search = self.queue.front_mut()?;
        let mut shared = self.shared.0.lock();
        let available = self.own.available(now).max(shared.available(now));
        if available > now {
            self.resumes = Some(available);
            return None;
        }
        let (work, is_complete) = search.advance();
        self.own.charge(work);
        shared.charge(work);
        if !is_complete {
            return None;
        }
        let complete = self.queue.pop_front();
        self.resumes = self.resumes.filter(|_| !self.queue.is_empty());
        complete
    }

    /// When there is work to do again.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.resumes
    }
}

/// A search for variables by name.
#[derive(Debug)]
pub(super) struct Search {
    expression: String,
    /// None until the first step has compiled it.
    regex: Option<Regex>,
    catalogue: Arc<Catalogue>,
    compared: usize,
    found: Vec<usize>,
    /// Whether there are more matches than are listed.
    pub(super) is_cut_off: bool,
}

impl Search {
    fn new(expression: &str, catalogue: &Arc<Catalogue>) -> Self {
        let (expression, catalogue) = (expression.to_owned(), Arc::clone(catalogue));
        Self { expression, regex: None, catalogue, compared: 0, found: Vec::new(), is_cut_off: false }
    }

    /// Compiles the expression, or compares it with some more names. Returns the work, and whether the search is complete.
    fn advance(&mut self) -> (f64, bool) {
        if !self.expression.contains(META) {
            // a plain name, as most are
            let by_name = |card: &VariableCard| (*card.name).cmp(self.expression.as_str());
            self.found.extend(self.catalogue.variables.binary_search_by(by_name));
            return (FINDING, true);
        }
        let prefix = literal_prefix(&self.expression);
        let Some(regex) = &self.regex else {
            self.regex = whole_match(&self.expression);
            self.compared = self.catalogue.variables.partition_point(|card| *card.name < *prefix);
            return (COMPILING * states(&self.expression) as f64, self.regex.is_none());
        };
        let mut work = 0.0;
        while let Some(card) = self.catalogue.variables.get(self.compared) {
            if work >= STEP {
                return (work, false);
            }
            // names are sorted
            if !card.name.starts_with(prefix) {
                break;
            }
            work += comparing(&self.expression, &card.name);
            if regex.is_match(&card.name) {
                if self.found.len() >= limits::MATCHES {
                    self.is_cut_off = true;
                    break;
                }
                self.found.push(self.compared);
                work += LISTING;
            }
            self.compared += 1;
        }
        (work, true)
    }

    /// The matches, ordered by name.
    pub(super) fn found(&self) -> impl ExactSizeIterator<Item = &VariableCard> {
        self.found.iter().filter_map(|&index| self.catalogue.variables.get(index)).collect::<Vec<_>>().into_iter()
    }
}

/// The text with which all matches begin.
fn literal_prefix(expression: &str) -> &str {
    if expression.contains('|') {
        return "";
    }
    let (prefix, rest) = expression.split_at(expression.find(META).unwrap_or(expression.len()));
    // the last character may be missing in a match
    let last = if rest.starts_with(['*', '?', '{']) { prefix.chars().next_back() } else { None };
    prefix.strip_suffix(|character| Some(character) == last).unwrap_or(prefix)
}

/// An upper estimate of the states of a compiled expression.
fn states(expression: &str) -> usize {
    if expression.contains('{') { STATES } else { 2 * expression.len() + 8 }
}

/// An upper estimate of the work of comparing an expression with a name.
fn comparing(expression: &str, name: &str) -> f64 {
    let states = states(expression);
    // each state is visited about once, unless something is repeated
    let is_repeated = expression.contains(['*', '+', '?', '{']);
    (if is_repeated { states * (name.len() + 1) } else { states + name.len() }) as f64
}

/// Compiles an expression that has to match a whole name; none if it is invalid or too large.
fn whole_match(expression: &str) -> Option<Regex> {
    let build = |text: &str| RegexBuilder::new(text).size_limit(EXPRESSION_MEMORY).build().ok();
    // also on its own: an unbalanced parenthesis must not close our group
    build(expression)?;
    build(&format!("^(?:{expression})$"))
}

#[cfg(test)]
mod tests;
