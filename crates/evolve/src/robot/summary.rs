//! What a robot does, in words, with figures that are measured in its trials.

use super::script::{ScriptError, ScriptErrorKind};

/// Maximum length of a summary, in bytes.
const MAX_TEXT: usize = 1000;
/// Maximum number of figures.
const MAX_FIGURES: usize = 8;

/// A text with expressions in braces, such as `drives {way / 1000} m`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Each expression with the text before it.
    parts: Vec<(String, String)>,
    /// The text after the last one.
    end: String,
}

impl Summary {
    /// Splits a text; the expressions are compiled with the rest of the script.
    ///
    /// # Errors
    ///
    /// A brace without its counterpart, or too long a text.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        let mut parts = Vec::new();
        let error = |column: usize, kind| ScriptError { section: "summary", line: 1, column, kind };
        if text.len() > MAX_TEXT {
            return Err(error(1, ScriptErrorKind::TooMuch { what: "many bytes", max: MAX_TEXT }));
        }
        let expected = |expected, rest: &str, found: &str| {
            let column = text.chars().count() - rest.chars().count() + 1;
            error(column, ScriptErrorKind::Expected { expected, found: found.to_owned() })
        };
        let mut rest = text;
        while let Some((words, after)) = rest.split_once('{') {
            let Some((expression, next)) = after.split_once('}') else {
                return Err(expected("`}`", "", "the end"));
            };
            if words.contains('}') {
                return Err(expected("`{`", rest, "`}`"));
            }
            if parts.len() == MAX_FIGURES {
                return Err(error(1, ScriptErrorKind::TooMuch { what: "many expressions", max: MAX_FIGURES }));
            }
            parts.push((words.to_owned(), expression.to_owned()));
            rest = next;
        }
        if rest.contains('}') {
            return Err(expected("`{`", rest, "`}`"));
        }
        Ok(Self { parts, end: rest.to_owned() })
    }

    /// The expressions, in order.
    pub fn expressions(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(_, expression)| expression.as_str())
    }

    /// Number of expressions.
    pub fn figures(&self) -> usize {
        self.parts.len()
    }

    /// The text with these figures; `None` without a text, or if their number is wrong.
    pub fn fill(&self, figures: &[f64]) -> Option<String> {
        if figures.len() != self.parts.len() || (self.parts.is_empty() && self.end.is_empty()) {
            return None;
        }
        let filled = self.parts.iter().zip(figures).map(|((words, _), figure)| format!("{words}{}", rounded(*figure)));
        Some(filled.collect::<String>() + &self.end)
    }
}

/// A figure as one would say it: whole from 10 on, otherwise with one decimal place.
fn rounded(figure: f64) -> String {
    let text = if figure.abs() < 9.95 { format!("{figure:.1}") } else { format!("{figure:.0}") };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_rounded_and_inserted() {
        let summary = Summary::parse("visits {squares_visited} squares, {if(x > 1, bumps, 0)} bumps").unwrap();
        assert_eq!(summary.expressions().collect::<Vec<_>>(), ["squares_visited", "if(x > 1, bumps, 0)"]);
        for (figures, expected) in [
            (&[34.4, 0.25][..], Some("visits 34 squares, 0.2 bumps")),
            (&[9.97, -0.01], Some("visits 10 squares, 0 bumps")),
            (&[1e6, 3.0], Some("visits 1000000 squares, 3 bumps")),
            (&[], None),
            (&[1.0, 2.0, 3.0], None),
        ] {
            assert_eq!(summary.fill(figures).as_deref(), expected);
        }
        assert_eq!(Summary::parse("stands still").unwrap().fill(&[]).as_deref(), Some("stands still"));
        assert_eq!(Summary::default().fill(&[]), None);
    }

    #[test]
    fn an_unbalanced_brace_is_an_error() {
        for (text, column, expected) in [
            ("drives {way", 12, "expected `}`, not the end"),
            ("drives } far", 1, "expected `{`, not `}`"),
            ("a {b} c} d", 6, "expected `{`, not `}`"),
            ("} {a}", 1, "expected `{`, not `}`"),
        ] {
            let error = Summary::parse(text).unwrap_err();
            assert_eq!((error.column, error.kind.to_string().as_str()), (column, expected), "{text}");
        }
        let long = "x".repeat(MAX_TEXT + 1);
        assert!(Summary::parse(&long).unwrap_err().to_string().contains("at most 1000"));
        let many = "{x}".repeat(MAX_FIGURES + 1);
        assert!(Summary::parse(&many).unwrap_err().to_string().contains("at most 8"));
    }
}
