//! Values of variables and their text form.
//!
//! Scenario files, the command line and OSP clients read and write the text form:
//! `0.5`, `7`, `T`, `(x,y,z)`, `(w,x,y,z)`, `(a,b,c;d,e,f;g,h,i)`, `min,max`, `(r,g,b,a)`.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValueKind {
    /// Any finite number.
    Double,
    /// A signed 64-bit integer.
    Integer,
    /// True or false.
    Boolean,
    /// Text.
    String,
    /// Three numbers: a point, a direction or three extents.
    Point3D,
    /// A rotation, w first.
    Quaternion,
    /// Three rows of three numbers.
    Matrix,
    /// A lower and an upper bound.
    Range,
    /// Red, green, blue and opacity, each 0 to 255.
    Colour,
    /// A number within the bounds of its interface value.
    NormalizedDouble,
}

impl ValueKind {
    /// The name on the wire and in listings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "Double",
            Self::Integer => "Integer",
            Self::Boolean => "Boolean",
            Self::String => "String",
            Self::Point3D => "Point3D",
            Self::Quaternion => "Quaternion",
            Self::Matrix => "Matrix",
            Self::Range => "Range",
            Self::Colour => "Color",
            Self::NormalizedDouble => "NormalizedDouble",
        }
    }

    /// Whether values of this kind are one number; see [`Value::as_number`].
    pub fn is_number(self) -> bool {
        matches!(self, Self::Double | Self::NormalizedDouble | Self::Integer | Self::Boolean)
    }

    /// Parses a value of this kind. Numbers must be finite.
    pub fn parse(self, text: &str) -> Result<Value, ParseError> {
        let text = text.trim();
        let wrong = || ParseError { kind: self, text: text.chars().take(80).collect() };
        let value = match self {
            Self::Double => Value::Double(number(text).ok_or_else(wrong)?),
            Self::NormalizedDouble => Value::NormalizedDouble(number(text).ok_or_else(wrong)?),
            Self::Integer => Value::Integer(text.parse().map_err(|_| wrong())?),
            Self::Boolean => Value::Boolean(match text.to_ascii_lowercase().as_str() {
                "1" | "t" | "true" => true,
                "0" | "f" | "false" => false,
                _ => return Err(wrong()),
            }),
            Self::String => Value::String(text.to_owned()),
            Self::Point3D => Value::Point3D(numbers(in_parentheses(text).ok_or_else(wrong)?).ok_or_else(wrong)?),
            Self::Quaternion => {
                let q: [f64; 4] = numbers(in_parentheses(text).ok_or_else(wrong)?).ok_or_else(wrong)?;
                let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length < 1e-9 {
                    return Err(wrong());
                }
                Value::Quaternion(q.map(|x| x / length))
            }
            Self::Matrix => {
                let mut rows = in_parentheses(text).ok_or_else(wrong)?.split(';');
                let mut row = || rows.next().and_then(numbers::<3>).ok_or_else(wrong);
                let matrix = [row()?, row()?, row()?];
                if rows.next().is_some() {
                    return Err(wrong());
                }
                Value::Matrix(matrix)
            }
            Self::Range => {
                let [min, max] = numbers(text).ok_or_else(wrong)?;
                if min > max {
                    return Err(wrong());
                }
                Value::Range(min, max)
            }
            Self::Colour => {
                let channels: [f64; 4] = numbers(in_parentheses(text).ok_or_else(wrong)?).ok_or_else(wrong)?;
                if channels.iter().any(|c| !(0.0..=255.0).contains(c) || c.fract() != 0.0) {
                    return Err(wrong());
                }
                Value::Colour(channels.map(|c| c as u8))
            }
        };
        Ok(value)
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the kinds are described at ValueKind")]
pub enum Value {
    Double(f64),
    Integer(i64),
    Boolean(bool),
    String(String),
    Point3D([f64; 3]),
    Quaternion([f64; 4]),
    Matrix([[f64; 3]; 3]),
    Range(f64, f64),
    Colour([u8; 4]),
    NormalizedDouble(f64),
}

impl Value {
    /// The kind of this value.
    pub fn kind(&self) -> ValueKind {
        match self {
            Self::Double(_) => ValueKind::Double,
            Self::Integer(_) => ValueKind::Integer,
            Self::Boolean(_) => ValueKind::Boolean,
            Self::String(_) => ValueKind::String,
            Self::Point3D(_) => ValueKind::Point3D,
            Self::Quaternion(_) => ValueKind::Quaternion,
            Self::Matrix(_) => ValueKind::Matrix,
            Self::Range(..) => ValueKind::Range,
            Self::Colour(_) => ValueKind::Colour,
            Self::NormalizedDouble(_) => ValueKind::NormalizedDouble,
        }
    }

    /// The value as a number, if it is one; a boolean is 0 or 1.
    pub fn as_number(&self) -> Option<f64> {
        match *self {
            Self::Double(x) | Self::NormalizedDouble(x) => Some(x),
            Self::Integer(i) => Some(i as f64),
            Self::Boolean(b) => Some(f64::from(u8::from(b))),
            _ => None,
        }
    }

    /// Whether every number in the value is finite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Double(x) | Self::NormalizedDouble(x) => x.is_finite(),
            Self::Point3D(v) => v.iter().all(|x| x.is_finite()),
            Self::Quaternion(q) => q.iter().all(|x| x.is_finite()),
            Self::Matrix(m) => m.iter().flatten().all(|x| x.is_finite()),
            Self::Range(min, max) => min.is_finite() && max.is_finite(),
            Self::Integer(_) | Self::Boolean(_) | Self::String(_) | Self::Colour(_) => true,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Double(x) | Self::NormalizedDouble(x) => f.write_str(&general(*x)),
            Self::Integer(i) => write!(f, "{i}"),
            Self::Boolean(b) => f.write_str(if *b { "T" } else { "F" }),
            Self::String(s) => f.write_str(s),
            Self::Point3D(v) => write!(f, "({})", list(v)),
            Self::Quaternion(q) => write!(f, "({})", list(q)),
            Self::Matrix([a, b, c]) => write!(f, "({};{};{})", list(a), list(b), list(c)),
            Self::Range(min, max) => f.write_str(&list(&[*min, *max])),
            Self::Colour([r, g, b, a]) => write!(f, "({r},{g},{b},{a})"),
        }
    }
}

/// A text is not a value of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}")]
pub struct ParseError {
    /// The expected kind.
    pub kind: ValueKind,
    /// The first characters of the text.
    pub text: String,
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let mut parts = text.split(',');
    let mut out = [0.0; N];
    for slot in &mut out {
        *slot = number(parts.next()?)?;
    }
    parts.next().is_none().then_some(out)
}

fn in_parentheses(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

fn list(numbers: &[f64]) -> String {
    numbers.iter().map(|x| general(*x)).collect::<Vec<_>>().join(",")
}

/// A number with 15 significant digits, as C's `%.15g` prints it.
fn general(x: f64) -> String {
    const DIGITS: i32 = 15;
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let scientific = format!("{x:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        without_trailing_zeros(&format!("{x:.*}", (DIGITS - 1 - exponent) as usize)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_trailing_zeros(mantissa), exponent.abs())
    }
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_and_value_mean_the_same() {
        let table = [
            (Value::Double(0.01), "0.01"),
            (Value::Double(-0.0), "-0"),
            (Value::Double(1e-5), "1e-05"),
            (Value::Double(1e15), "1e+15"),
            (Value::Double(123456789012345.0), "123456789012345"),
            (Value::Double(0.1 + 0.2), "0.3"),
            (Value::Double(9.81), "9.81"),
            (Value::Integer(-7), "-7"),
            (Value::Boolean(true), "T"),
            (Value::String("a b".into()), "a b"),
            (Value::Point3D([1.0, -2.5, 0.0]), "(1,-2.5,0)"),
            (Value::Quaternion([1.0, 0.0, 0.0, 0.0]), "(1,0,0,0)"),
            (Value::Matrix([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), "(1,2,3;4,5,6;7,8,9)"),
            (Value::Range(-1.0, 2.0), "-1,2"),
            (Value::Colour([25, 25, 25, 255]), "(25,25,25,255)"),
            (Value::NormalizedDouble(0.5), "0.5"),
        ];
        for (value, text) in table {
            assert_eq!(value.to_string(), text, "{value:?}");
            let read = value.kind().parse(text).unwrap();
            assert_eq!(read.to_string(), text, "{text} read as {read:?}");
        }
    }

    #[test]
    fn what_is_not_a_value_is_refused() {
        let table = [
            (ValueKind::Double, "nan"),
            (ValueKind::Double, "inf"),
            (ValueKind::Double, ""),
            (ValueKind::Double, "1,5"),
            (ValueKind::Integer, "1.5"),
            (ValueKind::Boolean, "yes"),
            (ValueKind::Point3D, "(1,2)"),
            (ValueKind::Point3D, "1,2,3"),
            (ValueKind::Point3D, "(1,2,NaN)"),
            (ValueKind::Quaternion, "(0,0,0,0)"),
            (ValueKind::Matrix, "(1,2,3;4,5,6)"),
            (ValueKind::Matrix, "(1,2,3;4,5,6;7,8,9;1,2,3)"),
            (ValueKind::Range, "2,1"),
            (ValueKind::Colour, "(256,0,0,0)"),
            (ValueKind::Colour, "(0.5,0,0,0)"),
        ];
        for (kind, text) in table {
            assert!(kind.parse(text).is_err(), "{kind} accepted `{text}`");
        }
        for (text, value) in [("1", true), ("t", true), ("true", true), ("0", false), ("F", false), ("False", false)] {
            assert_eq!(ValueKind::Boolean.parse(text), Ok(Value::Boolean(value)));
        }
    }

    proptest! {
        #[test]
        fn fifteen_digits_read_back(x in prop::num::f64::NORMAL) {
            let text = general(x);
            let read: f64 = text.parse().unwrap();
            prop_assert!((read - x).abs() <= x.abs() * 1e-14, "{x:e} printed {text}");
            prop_assert_eq!(general(read), text);
        }

        #[test]
        fn any_text_parses_or_errs(text in ".{0,40}") {
            for kind in [ValueKind::Double, ValueKind::Integer, ValueKind::Boolean, ValueKind::Point3D, ValueKind::Quaternion,
                         ValueKind::Matrix, ValueKind::Range, ValueKind::Colour, ValueKind::NormalizedDouble] {
                if let Ok(value) = kind.parse(&text) {
                    prop_assert!(value.is_finite());
                }
            }
        }
    }
}
