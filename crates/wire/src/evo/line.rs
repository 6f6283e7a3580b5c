/// Maximum length of a line with its terminator, in bytes (D5).
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// Buffer capacity that is kept after a long line.
const KEPT: usize = 64 * 1024;

/// Splits a byte stream into lines.
///
/// A line ends with a line feed, optionally preceded by a carriage return (D1). Each byte is scanned once, no matter
/// how a line is fragmented.
#[derive(Debug, Clone, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Start of the first unread line.
    start: usize,
    /// Where to continue the search for its end.
    searched: usize,
}

/// A line exceeds [`MAX_LINE`]. The stream is then unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line longer than {MAX_LINE} bytes")]
pub struct LineTooLong;

impl LineBuffer {
    /// Appends received bytes.
    pub fn push(&mut self, received: &[u8]) {
        self.compact();
        self.bytes.extend_from_slice(received);
    }

    /// Returns the next complete line without its terminator; `Ok(None)` if it is still incomplete.
    ///
    /// # Errors
    ///
    /// [`LineTooLong`] as soon as the line exceeds the limit.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        let unseen = self.bytes.get(self.searched..).unwrap_or_default();
        let Some(length) = find_line_feed(unseen) else {
            self.searched = self.bytes.len();
            return if self.searched - self.start >= MAX_LINE { Err(LineTooLong) } else { Ok(None) };
        };
        let (start, end) = (self.start, self.searched + length);
        if end - start >= MAX_LINE {
            return Err(LineTooLong);
        }
        self.start = end + 1;
        self.searched = self.start;
        let line = self.bytes.get(start..end).unwrap_or_default();
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Number of bytes received and not yet returned.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether all received bytes have been returned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn compact(&mut self) {
        if self.start == 0 {
            return;
        }
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        if self.bytes.len() < KEPT && self.bytes.capacity() > 4 * KEPT {
            self.bytes.shrink_to(KEPT);
        }
    }
}

/// `contains` on blocks is vectorized; only the block with the line feed is scanned byte by byte.
fn find_line_feed(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 64;
    let block = bytes.chunks(BLOCK).position(|block| block.contains(&b'\n'))? * BLOCK;
    let rest = bytes.get(block..)?;
    Some(block + rest.iter().position(|&byte| byte == b'\n')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(buffer: &mut LineBuffer) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| buffer.next_line().unwrap().map(<[u8]>::to_vec)).collect()
    }

    #[test]
    fn lines_end_with_a_line_feed() {
        fn check(stream: &[u8], expected: &[&[u8]], left: usize) {
            let mut buffer = LineBuffer::default();
            buffer.push(stream);
            assert_eq!(lines(&mut buffer), expected);
            assert_eq!(buffer.len(), left);
        }
        check(b"", &[], 0);
        check(b"a b\r\n", &[b"a b"], 0);
        check(b"a\nb\r\nc", &[b"a", b"b"], 1);
        check(b"\r\n\n", &[b"", b""], 0);
        check(b"a\rb\r\r\n", &[b"a\rb\r"], 0);
        check(&[b'x'; 200], &[], 200);
    }

    #[test]
    fn a_line_without_an_end_is_an_error() {
        let mut buffer = LineBuffer::default();
        let block = vec![b'1'; 1024 * 1024];
        for _ in 0..15 {
            buffer.push(&block);
            assert_eq!(buffer.next_line(), Ok(None));
        }
        buffer.push(&block);
        assert_eq!(buffer.next_line(), Err(LineTooLong));
        buffer.push(b"\n");
        assert_eq!(buffer.next_line(), Err(LineTooLong));
        // the longest line, including its terminator
        let mut buffer = LineBuffer::default();
        buffer.push(&vec![b'1'; MAX_LINE - 1]);
        buffer.push(b"\n");
        assert_eq!(buffer.next_line().unwrap().map(<[u8]>::len), Some(MAX_LINE - 1));
        buffer.push(b"a\n");
        assert_eq!(buffer.next_line(), Ok(Some(&b"a"[..])));
        assert!(buffer.bytes.capacity() <= 4 * KEPT, "{}", buffer.bytes.capacity());
    }

    proptest! {
        #[test]
        fn fragmentation_does_not_matter(
            stream in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..300),
            cuts in prop::collection::vec(0..300_usize, 0..20),
        ) {
            let mut whole = LineBuffer::default();
            whole.push(&stream);
            let mut cut = LineBuffer::default();
            let mut found = Vec::new();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|at| at.min(stream.len())).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
                cut.push(stream.get(*from..*to).unwrap());
                found.extend(lines(&mut cut));
            }
            prop_assert_eq!(found, lines(&mut whole));
            prop_assert_eq!(cut.len(), whole.len());
        }
    }
}
