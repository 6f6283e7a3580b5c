//! Number formatting and parsing: "only using 0..9, +, -, E, e, and `.`" (D3, D4).

use super::error::NotFinite;
use std::io::Write as _;

/// Numbers from here up to [`EXPONENT_FROM`] are written without an exponent.
const EXPONENT_BELOW: f64 = 1e-5;
const EXPONENT_FROM: f64 = 1e15;

/// Most numbers have at most this many fractional digits and take a fast path.
const SHORT_SCALE: f64 = 1e9;
const SHORT_DIGITS: usize = 9;
/// Below this, such a number has at most 15 digits, and decimals of 15 digits are distinct as doubles.
const SHORT_BELOW: f64 = 1e6;

/// Why a word is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberError {
    Spelling,
    DecimalComma,
    TooLarge,
}

/// Parses a word. The check of the characters excludes what only the standard library accepts (`inf`, `nan`).
pub(super) fn parse(word: &[u8]) -> Result<f64, NumberError> {
    if !word.iter().all(|&byte| is_number_byte(byte)) {
        return Err(if has_decimal_comma(word) { NumberError::DecimalComma } else { NumberError::Spelling });
    }
    let text = std::str::from_utf8(word).map_err(|_| NumberError::Spelling)?;
    let number: f64 = text.parse().map_err(|_| NumberError::Spelling)?;
    if number.is_finite() { Ok(number) } else { Err(NumberError::TooLarge) }
}

fn is_number_byte(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'E' | b'e' | b'.')
}

/// Whether a word would be a number with a point instead of the comma.
fn has_decimal_comma(word: &[u8]) -> bool {
    let commas = word.iter().filter(|&&byte| byte == b',').count();
    let with_point: Vec<u8> = word.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    commas == 1 && parse(&with_point).is_ok()
}

/// Writes the shortest text that parses back to the same double.
pub(super) fn put(out: &mut Vec<u8>, number: f64) -> Result<(), NotFinite> {
    if !number.is_finite() {
        return Err(NotFinite);
    }
    let size = number.abs();
    if size >= EXPONENT_FROM || (size < EXPONENT_BELOW && size > 0.0) {
        // writing to memory cannot fail
        let _ = write!(out, "{number:e}");
        return Ok(());
    }
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let steps = (size * SHORT_SCALE).round();
    if size.fract() == 0.0 {
        put_whole(out, size as u64);
    } else if size < SHORT_BELOW && steps / SHORT_SCALE == size {
        // the quotient of two integers below 2^53 is rounded once, exactly like the text when it is parsed
        put_steps(out, steps as u64);
    } else {
        let _ = write!(out, "{size}");
    }
    Ok(())
}

/// Writes an integer.
pub(super) fn put_whole(out: &mut Vec<u8>, mut whole: u64) {
    let mut text = [b'0'; 20];
    let mut used = 0;
    for place in text.iter_mut().rev() {
        *place = b'0' + (whole % 10) as u8;
        whole /= 10;
        used += 1;
        if whole == 0 {
            break;
        }
    }
    out.extend_from_slice(text.get(text.len() - used..).unwrap_or_default());
}

/// Writes a number of billionths that is not an integer.
fn put_steps(out: &mut Vec<u8>, steps: u64) {
    let scale = SHORT_SCALE as u64;
    put_whole(out, steps / scale);
    out.push(b'.');
    let mut fraction = steps % scale;
    let mut digits = SHORT_DIGITS;
    while digits > 1 && fraction.is_multiple_of(10) {
        fraction /= 10;
        digits -= 1;
    }
    let mut text = [b'0'; SHORT_DIGITS];
    for place in text.iter_mut().take(digits).rev() {
        *place = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    out.extend_from_slice(text.get(..digits).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(number: f64) -> String {
        let mut out = Vec::new();
        put(&mut out, number).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn spellings() {
        fn check(word: &str, expected: Result<f64, NumberError>) {
            let found = parse(word.as_bytes());
            assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{word}");
        }
        // "valid examples are"
        check("0", Ok(0.0));
        check("+1", Ok(1.0));
        check("-0.3", Ok(-0.3));
        check("12.5E-2", Ok(0.125));
        check("-711e3", Ok(-711_000.0));
        check("5.", Ok(5.0));
        check(".5", Ok(0.5));
        check("-.5e+1", Ok(-5.0));
        check("-0", Ok(-0.0));
        check("1e-999", Ok(0.0));
        check("007", Ok(7.0));
        for word in ["", ".", "+", "-", "e5", "1e", "1e+", "1-2", "--1", "1.2.3", "+-1", ".e1", "1,2,3", "a,b", ","] {
            check(word, Err(NumberError::Spelling));
        }
        for word in ["inf", "-inf", "infinity", "nan", "NaN", "0x10", "1_000", "1f", "１", "1\0", "1e5,3", "0x1,5"] {
            check(word, Err(NumberError::Spelling));
        }
        for word in ["0,5", "-1,25", ",5", "1,5e3"] {
            check(word, Err(NumberError::DecimalComma));
        }
        for word in ["1e999", "-1e999", "1e309"] {
            check(word, Err(NumberError::TooLarge));
        }
        check(&"9".repeat(1000), Err(NumberError::TooLarge));
        check(&format!("0.{}1", "0".repeat(1000)), Ok(0.0));
    }

    #[test]
    fn numbers_are_short() {
        fn check(number: f64, expected: &str) {
            assert_eq!(text(number), expected);
        }
        check(0.0, "0");
        check(-0.0, "-0");
        check(17.0, "17");
        check(-30.0, "-30");
        check(0.1, "0.1");
        check(-0.3, "-0.3");
        check(12.000_000_001, "12.000000001");
        check(std::f64::consts::PI, "3.141592653589793");
        check(0.1 + 0.2, "0.30000000000000004");
        check(1e-5, "0.00001");
        check(9.99e-6, "9.99e-6");
        check(1e15, "1e15");
        check(999_999_999_999_999.0, "999999999999999");
        check(-1.5e300, "-1.5e300");
        check(f64::MIN_POSITIVE, "2.2250738585072014e-308");
        check(5e-324, "5e-324");
        check(f64::MAX, "1.7976931348623157e308");
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut out = b"before".to_vec();
            assert_eq!(put(&mut out, odd), Err(NotFinite));
            assert_eq!(out, b"before");
        }
    }

    proptest! {
        #[test]
        fn every_number_round_trips(bits in any::<u64>(), small in -3000.0..3000.0_f64, steps in -9_999_999..9_999_999_i64, digits in 0..8) {
            for number in [f64::from_bits(bits), small, steps as f64 / 10_f64.powi(digits)] {
                if number.is_finite() {
                    prop_assert_eq!(parse(text(number).as_bytes()).map(f64::to_bits), Ok(number.to_bits()));
                    let obvious = [format!("{number}"), format!("{number:e}")];
                    prop_assert!(obvious.contains(&text(number)), "{}", number);
                }
            }
        }

        #[test]
        fn whole_numbers(whole in any::<u64>()) {
            let mut out = Vec::new();
            put_whole(&mut out, whole);
            prop_assert_eq!(out, whole.to_string().into_bytes());
        }
    }
}
