use crate::DecodeError;

/// A cursor that reads fields from a datagram or frame.
///
/// Each method takes the name of the field, for errors. A failed read consumes nothing.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Starts at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Number of bytes left.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Reads one byte.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] if no byte is left.
    pub fn u8(&mut self, field: &'static str) -> Result<u8, DecodeError> {
        self.array(field).map(u8::from_le_bytes)
    }

    /// Reads a little-endian 32-bit signed integer.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] when fewer than four bytes are left.
    pub fn i32_le(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        self.array(field).map(i32::from_le_bytes)
    }

    /// Reads a little-endian IEEE 754 single, which may be infinite or NaN.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] when fewer than four bytes are left.
    pub fn f32_le(&mut self, field: &'static str) -> Result<f32, DecodeError> {
        self.array(field).map(f32::from_le_bytes)
    }

    /// Reads a big-endian 16-bit unsigned integer.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] when fewer than two bytes are left.
    pub fn u16_be(&mut self, field: &'static str) -> Result<u16, DecodeError> {
        self.array(field).map(u16::from_be_bytes)
    }

    /// Reads a big-endian 32-bit unsigned integer.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] when fewer than four bytes are left.
    pub fn u32_be(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        self.array(field).map(u32::from_be_bytes)
    }

    /// Reads a big-endian IEEE 754 single, which may be infinite or NaN.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] when fewer than four bytes are left.
    pub fn f32_be(&mut self, field: &'static str) -> Result<f32, DecodeError> {
        self.array(field).map(f32::from_be_bytes)
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Truncated`] when fewer are left.
    pub fn bytes(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Truncated { field })?;
        self.rest = rest;
        Ok(head)
    }

    /// Reads the bytes up to the next NUL, which is consumed but not returned, or up to the end if there is none.
    pub fn nul_terminated(&mut self) -> &'a [u8] {
        let mut parts = self.rest.splitn(2, |&byte| byte == 0);
        let text = parts.next().unwrap_or_default();
        self.rest = parts.next().unwrap_or_default();
        text
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated { field })?;
        self.rest = rest;
        Ok(*head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    #[test]
    fn failed_reads_consume_nothing() {
        type Read<T> = fn(&mut Reader<'_>) -> Result<T, DecodeError>;
        fn check<T: Debug + PartialEq>(bytes: &[u8], read: Read<T>, expected: Option<T>, left: usize) {
            let mut reader = Reader::new(bytes);
            assert_eq!(read(&mut reader), expected.ok_or(DecodeError::Truncated { field: "x" }), "{bytes:?}");
            assert_eq!(reader.remaining(), left, "{bytes:?}");
        }
        check(&[200, 1], |r| r.u8("x"), Some(200), 1);
        check(&[], |r| r.u8("x"), None, 0);
        check(&[1, 2, 3, 4, 5], |r| r.i32_le("x"), Some(0x0403_0201), 1);
        check(&[255, 255, 255, 255], |r| r.i32_le("x"), Some(-1), 0);
        check(&[1, 2, 3], |r| r.i32_le("x"), None, 3);
        check(&[0, 0, 0xC8, 0x3E], |r| r.f32_le("x"), Some(0.390_625), 0);
        check(&[0, 0, 0x80, 0x7F], |r| r.f32_le("x"), Some(f32::INFINITY), 0);
        check(&[0, 0, 0xC8], |r| r.f32_le("x"), None, 3);
        check(&[1, 0x23, 4], |r| r.u16_be("x"), Some(0x0123), 1);
        check(&[1], |r| r.u16_be("x"), None, 1);
        check(&[1, 0x23, 0x45, 0x67], |r| r.u32_be("x"), Some(0x0123_4567), 0);
        check(&[1, 2, 3], |r| r.u32_be("x"), None, 3);
        check(&[0x3E, 0xC8, 0, 0, 9], |r| r.f32_be("x"), Some(0.390_625), 1);
        check(&[0x3E, 0xC8, 0], |r| r.f32_be("x"), None, 3);
        check(&[7, 8, 9], |r| r.bytes(2, "x").map(<[u8]>::to_vec), Some(vec![7, 8]), 1);
        check(&[7, 8], |r| r.bytes(0, "x").map(<[u8]>::to_vec), Some(vec![]), 2);
        check(&[7, 8], |r| r.bytes(usize::MAX, "x").map(<[u8]>::to_vec), None, 2);
    }

    #[test]
    fn text_ends_at_a_nul_or_at_the_end() {
        fn check(bytes: &[u8], expected: &[u8], left: usize) {
            let mut reader = Reader::new(bytes);
            assert_eq!(reader.nul_terminated(), expected, "{bytes:?}");
            assert_eq!(reader.remaining(), left, "{bytes:?}");
        }
        check(b"knee\0x", b"knee", 1);
        check(b"knee\0", b"knee", 0);
        check(b"knee", b"knee", 0);
        check(b"\0\0", b"", 1);
        check(b"", b"", 0);
        check(b"\xFF\0", b"\xFF", 0);
    }
}
