/// Longest line, in bytes, with its end (D5).
pub const MAX_LINE: usize = 16 * 1024 * 1024;

/// Beyond this, memory that one long line took is given back.
const KEPT: usize = 64 * 1024;

/// Bytes of a stream, out of which lines are taken.
///
/// A line ends with a line feed; a carriage return before it belongs to the end (D1). Bytes are looked at once, however
/// many pieces a line comes in.
#[derive(Debug, Clone, Default)]
pub struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the first line begins that was not taken.
    start: usize,
    /// Where the search for its end goes on.
    searched: usize,
}

/// A line is longer than [`MAX_LINE`]. Such a stream cannot be read any further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a line is longer than {MAX_LINE} bytes")]
pub struct LineTooLong;

impl LineBuffer {
    /// Appends what was received.
    pub fn push(&mut self, received: &[u8]) {
        self.make_room();
        self.bytes.extend_from_slice(received);
    }

    /// Takes out the next whole line, without its end; `Ok(None)` when its end has not arrived.
    ///
    /// # Errors
    ///
    /// [`LineTooLong`] as soon as that is certain.
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

    /// Bytes that were received and not taken out.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Whether everything was taken out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn make_room(&mut self) {
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

/// Blocks are looked through at once by the standard library, the last one byte by byte.
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
    fn a_line_without_an_end_is_given_up() {
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
        // one byte less, with its end, is the longest
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
        fn it_does_not_matter_where_a_stream_is_cut(
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
