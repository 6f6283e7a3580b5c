//! The log's lines of late, for those who look at the console.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use wire::console::LogLine;

/// Lines that are kept.
const KEPT: usize = 500;
/// Longest text of a line that is kept, in bytes.
const MAX_TEXT: usize = 2_000;

/// The lines of this process. Whoever sets up the log fills it.
pub static LOGBOOK: Logbook = Logbook(Mutex::new(Lines { kept: VecDeque::new(), next: 0 }));

/// Lines of a log.
#[derive(Debug)]
pub struct Logbook(Mutex<Lines>);

#[derive(Debug)]
struct Lines {
    kept: VecDeque<LogLine>,
    /// The number that the next one will have.
    next: u64,
}

impl Logbook {
    fn hold(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a line; `time` is in s since 1970.
    pub fn add(&self, time: f64, level: &str, mut text: String) {
        if text.len() > MAX_TEXT {
            let end = (0..=MAX_TEXT).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
        }
        let mut lines = self.hold();
        lines.kept.push_back(LogLine { time, level: level.to_owned(), text });
        lines.next += 1;
        if lines.kept.len() > KEPT {
            lines.kept.pop_front();
        }
    }

    /// The lines from this number on that are still kept, and the number to ask for next.
    pub fn since(&self, number: u64) -> (Vec<LogLine>, u64) {
        let lines = self.hold();
        let first = lines.next - lines.kept.len() as u64;
        let skip = usize::try_from(number.saturating_sub(first)).unwrap_or(usize::MAX);
        (lines.kept.iter().skip(skip).cloned().collect(), lines.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let book = Logbook(Mutex::new(Lines { kept: VecDeque::new(), next: 0 }));
        for index in 0..KEPT + 10 {
            book.add(0.0, "INFO", index.to_string());
        }
        let (lines, next) = book.since(0);
        assert_eq!((lines.len(), next, lines[0].text.as_str()), (KEPT, (KEPT + 10) as u64, "10"));
        assert!(book.since(next).0.is_empty());
        book.add(0.0, "WARN", "ä".repeat(MAX_TEXT));
        let (lines, _) = book.since(next);
        assert_eq!(lines[0].text.len(), MAX_TEXT);
    }
}
