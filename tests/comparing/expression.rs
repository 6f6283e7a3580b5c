//! S-expressions without interpretation.

/// A word or a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Word(String),
    List(Vec<Node>),
}

impl Node {
    /// Parses a text.
    pub(crate) fn read(text: &str) -> Vec<Self> {
        let mut open = vec![Vec::new()];
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            match first {
                '(' => open.push(Vec::new()),
                ')' => {
                    let list = Self::List(open.pop().expect("a list"));
                    open.last_mut().unwrap_or_else(|| panic!("a surplus `)` in {text}")).push(list);
                }
                ' ' => {}
                _ => {
                    let length = rest.find([' ', '(', ')']).unwrap_or(rest.len());
                    open.last_mut().expect("a list").push(Self::Word(rest[..length].to_owned()));
                    rest = &rest[length..];
                    continue;
                }
            }
            rest = &rest[1..];
        }
        assert_eq!(open.len(), 1, "a list has no end in {text}");
        open.pop().expect("a list")
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(nodes) => nodes,
            Self::Word(_) => &[],
        }
    }

    pub(crate) fn word(&self) -> &str {
        match self {
            Self::List(_) => "",
            Self::Word(word) => word,
        }
    }

    pub(crate) fn number(&self) -> f64 {
        self.word().parse().unwrap_or_else(|_| panic!("`{}` is no number", self.word()))
    }

    /// The first word of a list.
    pub(crate) fn head(&self) -> &str {
        self.list().first().map(Self::word).unwrap_or_default()
    }
}

/// The text with `#` for every decimal number and `%` for every integer.
pub(crate) fn shape(text: &str) -> String {
    let mut shape = String::new();
    for piece in text.split_inclusive([' ', '(', ')']) {
        let word = piece.trim_end_matches([' ', '(', ')']);
        let mark = match (word.parse::<f64>().is_ok(), word.contains('.')) {
            (true, true) => "#",
            (true, false) => "%",
            (false, _) => word,
        };
        shape.push_str(mark);
        shape.push_str(&piece[word.len()..]);
    }
    shape
}

/// All numbers of a text, in order.
pub(crate) fn numbers(text: &str) -> Vec<f64> {
    text.split([' ', '(', ')']).filter_map(|word| word.parse().ok()).collect()
}

/// Checks that every decimal number has at most `most` fractional digits and no trailing zeros.
pub(crate) fn check_digits(text: &str, most: usize) {
    for word in text.split([' ', '(', ')']).filter(|word| word.parse::<f64>().is_ok()) {
        let Some((_, digits)) = word.split_once('.') else { continue };
        let shortest = digits == "0" || !digits.ends_with('0');
        assert!(digits.len() <= most && shortest && !word.contains('e'), "`{word}` is written otherwise: {text}");
    }
}
