//! S-expressions in the league's flavour: a space is the only separator, and there is no quoting (D2).
//!
//! Zero-copy. [`parse`] checks nesting and depth once; the list is then traversed lazily.

use super::{Name, malformed};
use crate::DecodeError;

/// The content of a list, or a whole message. Nested lists are closed and within the depth limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct List<'a>(&'a [u8]);

/// An element of a list.
#[derive(Debug, Clone, Copy)]
pub(super) enum Item<'a> {
    Atom(&'a [u8]),
    List(List<'a>),
}

/// Checks a message. A surplus closing parenthesis ends it; a missing one is an error.
pub(super) fn parse(payload: &[u8], max_depth: usize) -> Result<List<'_>, DecodeError> {
    let mut depth = 0_usize;
    for (at, byte) in payload.iter().enumerate() {
        match byte {
            b'(' if depth == max_depth => {
                let max = max_depth as i64;
                return Err(DecodeError::OutOfRange { field: "depth", value: max + 1, min: 0, max });
            }
            b'(' => depth += 1,
            b')' if depth == 0 => return Ok(List(payload.get(..at).unwrap_or_default())),
            b')' => depth -= 1,
            _ => {}
        }
    }
    if depth > 0 { Err(malformed("closing parenthesis")) } else { Ok(List(payload)) }
}

impl<'a> List<'a> {
    pub(super) fn items(self) -> Items<'a> {
        Items(self.0)
    }

    /// The nested lists, without the atoms.
    pub(super) fn lists(self) -> impl Iterator<Item = List<'a>> {
        self.items().filter_map(Item::list)
    }

    /// The first element, if it is an atom.
    pub(super) fn head(self) -> Option<&'a [u8]> {
        self.items().next()?.atom()
    }

    /// The elements, if there are exactly `N`.
    pub(super) fn exactly<const N: usize>(self) -> Option<[Item<'a>; N]> {
        let mut items = self.items();
        let found = items.take_array()?;
        items.next().is_none().then_some(found)
    }

    /// The `N` elements after the head; surplus elements are ignored.
    pub(super) fn values<const N: usize>(self) -> Option<[Item<'a>; N]> {
        let mut items = self.items();
        items.next()?;
        items.take_array()
    }

    /// The `N` numbers after the head; surplus elements are ignored.
    pub(super) fn floats<const N: usize>(self, field: &'static str) -> Result<[f64; N], DecodeError> {
        let values = self.values::<N>().ok_or(malformed(field))?;
        let mut floats = [0.0; N];
        for (float, value) in floats.iter_mut().zip(values) {
            *float = value.float(field)?;
        }
        Ok(floats)
    }

    /// The only element after the head.
    pub(super) fn value(self, field: &'static str) -> Result<Item<'a>, DecodeError> {
        let [value] = self.values().ok_or(malformed(field))?;
        Ok(value)
    }

    /// The first nested list that starts with `word`.
    pub(super) fn find(self, word: &'static str) -> Result<List<'a>, DecodeError> {
        self.find_any(word).ok_or(malformed(word))
    }

    /// The first nested list that starts with `word`, if any.
    pub(super) fn find_any(self, word: &str) -> Option<List<'a>> {
        self.lists().find(|list| list.head() == Some(word.as_bytes()))
    }
}

impl<'a> Item<'a> {
    pub(super) fn atom(self) -> Option<&'a [u8]> {
        match self {
            Self::Atom(atom) => Some(atom),
            Self::List(_) => None,
        }
    }

    pub(super) fn list(self) -> Option<List<'a>> {
        match self {
            Self::Atom(_) => None,
            Self::List(list) => Some(list),
        }
    }

    pub(super) fn name(self, field: &'static str) -> Result<Name, DecodeError> {
        self.text().and_then(|text| Name::new(text).ok()).ok_or(malformed(field))
    }

    /// A finite number. Tabs and newlines are not separators, but are ignored around a number.
    pub(super) fn float(self, field: &'static str) -> Result<f64, DecodeError> {
        let number: Option<f64> = self.text().and_then(|text| text.trim_ascii().parse().ok());
        number.filter(|number| number.is_finite()).ok_or(malformed(field))
    }

    /// An integer in the range of `T`.
    pub(super) fn int<T: std::str::FromStr>(self, field: &'static str) -> Result<T, DecodeError> {
        self.text().and_then(|text| text.trim_ascii().parse().ok()).ok_or(malformed(field))
    }

    pub(super) fn text(self) -> Option<&'a str> {
        std::str::from_utf8(self.atom()?).ok()
    }
}

/// Iterates over the elements of a list.
#[derive(Debug, Clone)]
pub(super) struct Items<'a>(&'a [u8]);

impl<'a> Items<'a> {
    fn take_array<const N: usize>(&mut self) -> Option<[Item<'a>; N]> {
        let mut found = [Item::Atom(b""); N];
        for place in &mut found {
            *place = self.next()?;
        }
        Some(found)
    }

    /// Takes `length` bytes and skips the next `drop`.
    fn take(&mut self, length: usize, drop: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at_checked(length).unwrap_or((self.0, b""));
        self.0 = rest.get(drop..).unwrap_or_default();
        taken
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    fn next(&mut self) -> Option<Item<'a>> {
        while let [b' ', rest @ ..] = self.0 {
            self.0 = rest;
        }
        match self.0 {
            [] => None,
            [b'(', inside @ ..] => {
                self.0 = inside;
                let length = length_of_list(inside);
                Some(Item::List(List(self.take(length, 1))))
            }
            atom => {
                let ends = |byte: &u8| matches!(byte, b' ' | b'(' | b')');
                let length = atom.iter().position(ends).unwrap_or(atom.len());
                Some(Item::Atom(self.take(length, 0)))
            }
        }
    }
}

/// Distance from an opening parenthesis to its closing one.
fn length_of_list(inside: &[u8]) -> usize {
    let mut open = 1_usize;
    let closes = |byte: &u8| {
        match byte {
            b'(' => open += 1,
            b')' => open -= 1,
            _ => {}
        }
        open == 0
    };
    inside.iter().position(closes).unwrap_or(inside.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Formats a list with one space between elements.
    fn show(list: List<'_>) -> String {
        let items = list.items().map(|item| match item {
            Item::Atom(atom) => String::from_utf8_lossy(atom).into_owned(),
            Item::List(list) => format!("({})", show(list)),
        });
        items.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn messages() {
        fn check(payload: &str, expected: Result<&str, DecodeError>) {
            let shown = parse(payload.as_bytes(), 3).map(show);
            assert_eq!(shown, expected.map(str::to_owned), "{payload}");
        }
        let unclosed = || Err(malformed("closing parenthesis"));
        let deep = || Err(DecodeError::OutOfRange { field: "depth", value: 4, min: 0, max: 3 });
        check("", Ok(""));
        check("  ", Ok(""));
        check("a b(c d)e", Ok("a b (c d) e"));
        check("( a  (b) )()", Ok("(a (b)) ()"));
        check("(a\tb\nc \"d e\")", Ok("(a\tb\nc \"d e\")"));
        check("(((a)))", Ok("(((a)))"));
        // a surplus one ends the message, a missing one is an error
        check("(a))(b)", Ok("(a)"));
        check("(a))(b", Ok("(a)"));
        check(")(a)", Ok(""));
        check("(a)(b", unclosed());
        check("(", unclosed());
        check("((((a))))", deep());
        check("(a)((((", deep());
        check(&"(".repeat(1_000_000), deep());
    }

    #[test]
    fn numbers() {
        fn check(atom: &str, expected: Option<f64>) {
            assert_eq!(Item::Atom(atom.as_bytes()).float("x").ok(), expected, "{atom}");
        }
        check("12.42", Some(12.42));
        check("-0", Some(-0.0));
        check("+2", Some(2.0));
        check(".5", Some(0.5));
        check("5.", Some(5.0));
        check("1e3", Some(1000.0));
        check("\t5\n", Some(5.0));
        for bad in ["", "x", "nan", "inf", "-Infinity", "1e999", "0x10", "1_000", "1,5", "--1", "\u{661}"] {
            check(bad, None);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_traversed_to_the_end(payload in "[() a\u{e9}]{0,60}") {
            if let Ok(list) = parse(payload.as_bytes(), 8) {
                let shown = show(list);
                prop_assert_eq!(parse(shown.as_bytes(), 8).map(show), Ok(shown));
            }
        }
    }
}
