//! The most recent log lines, which the console shows.

use std::collections::VecDeque;

use parking_lot::Mutex;
use wire::console::LogLine;

/// Number of lines that are kept.
const CAPACITY: usize = 500;
/// Longer lines are cut, in bytes.
const MAX_TEXT: usize = 2_000;

/// The log of this process. The program's log subscriber fills it.
pub static LOG_BUFFER: LogBuffer = LogBuffer::new();

/// A ring buffer of log lines, which are numbered from 0.
#[derive(Debug)]
pub struct LogBuffer(Mutex<Lines>);

#[derive(Debug)]
struct Lines {
    kept: VecDeque<LogLine>,
    /// Number of the next line.
    next: u64,
}

impl LogBuffer {
    const fn new() -> Self {
        Self(Mutex::new(Lines { kept: VecDeque::new(), next: 0 }))
    }

    /// Adds a line; `time` is in seconds since 1970.
    pub fn add(&self, time: f64, level: &str, mut text: String) {
        if text.len() > MAX_TEXT {
            let end = (0..=MAX_TEXT).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
        }
        let mut lines = self.0.lock();
        lines.kept.push_back(LogLine { time, level: level.to_owned(), text });
        lines.next += 1;
        if lines.kept.len() > CAPACITY {
            lines.kept.pop_front();
        }
    }

    /// The lines from `number` on that are still kept, and the number to ask for next.
    pub fn since(&self, number: u64) -> (Vec<LogLine>, u64) {
        let lines = self.0.lock();
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
        let buffer = LogBuffer::new();
        for index in 0..CAPACITY + 10 {
            buffer.add(0.0, "INFO", index.to_string());
        }
        let (lines, next) = buffer.since(0);
        assert_eq!((lines.len(), next, lines[0].text.as_str()), (CAPACITY, (CAPACITY + 10) as u64, "10"));
        assert!(buffer.since(next).0.is_empty());
        buffer.add(0.0, "WARN", "ä".repeat(MAX_TEXT));
        let (lines, _) = buffer.since(next);
        assert_eq!(lines[0].text.len(), MAX_TEXT);
    }
}
