//! Decimal fixed-point numbers, and the formatting of all numbers.

use std::fmt::{self, Write};

/// Two fractional digits.
pub type Hundredths = Decimal<2>;
/// Three fractional digits.
pub type Thousandths = Decimal<3>;

/// A number with `DIGITS` fractional digits, as the wire carries measurements.
///
/// It is finite, has at most 15 digits in total, and keeps the sign of zero, which is visible on the wire. Constructors
/// accept any `f64`: they clamp, and map NaN to 0.
///
/// ```
/// use wire::soccer::Hundredths;
///
/// assert_eq!(Hundredths::truncated(-1.239).get(), -1.23);
/// assert_eq!(Hundredths::rounded(-1.239).get(), -1.24);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Decimal<const DIGITS: usize>(
    /// The value in units of the last digit: an integer of at most [`MAX_STEPS`].
    f64,
);

/// Decimals of up to 15 digits are distinct as `f64`, so the shortest text that parses back has the same digits.
const MAX_STEPS: f64 = 999_999_999_999_999.0;

impl<const DIGITS: usize> Decimal<DIGITS> {
    /// Zero.
    pub const ZERO: Self = Self(0.0);

    const STEPS_IN_ONE: u64 = 10_u64.pow(DIGITS as u32);
    const SCALE: f64 = Self::STEPS_IN_ONE as f64;

    /// Truncates towards zero.
    ///
    /// Truncates after a binary multiplication, as the league's server does: an `f64` slightly below a decimal, such as
    /// the one nearest to 0.29, loses one unit of the last digit (D8).
    pub fn truncated(value: f64) -> Self {
        Self::from_steps((value * Self::SCALE).trunc())
    }

    /// Rounds the exact value to nearest, ties to even, like C's `printf`.
    pub fn rounded(value: f64) -> Self {
        let steps = value * Self::SCALE;
        let halfway = steps.floor() + 0.5;
        if steps != halfway {
            return Self::from_steps(steps.round());
        }
        // near a tie, the rounding error of the multiplication decides
        let lost = value.mul_add(Self::SCALE, -steps);
        let nearest = if lost > 0.0 {
            steps.ceil()
        } else if lost < 0.0 {
            steps.floor()
        } else {
            steps.round_ties_even()
        };
        Self::from_steps(nearest.copysign(value))
    }

    /// The number that was parsed from the wire as this `f64`; surplus digits are truncated.
    pub(super) fn from_written(value: f64) -> Self {
        let steps = (value * Self::SCALE).round();
        if steps / Self::SCALE == value { Self::from_steps(steps) } else { Self::truncated(value) }
    }

    /// The same number with more fractional digits.
    pub fn widened<const MORE: usize>(self) -> Decimal<MORE> {
        const { assert!(MORE >= DIGITS, "use `narrowed` for fewer digits") };
        Decimal::from_steps(self.0 * 10_f64.powi((MORE - DIGITS) as i32))
    }

    /// Truncates to fewer fractional digits.
    pub fn narrowed<const LESS: usize>(self) -> Decimal<LESS> {
        const { assert!(LESS <= DIGITS, "use `widened` for more digits") };
        Decimal::from_steps((self.0 / 10_f64.powi((DIGITS - LESS) as i32)).trunc())
    }

    fn from_steps(steps: f64) -> Self {
        if steps.is_nan() { Self::ZERO } else { Self(steps.clamp(-MAX_STEPS, MAX_STEPS)) }
    }

    /// The nearest `f64`.
    pub fn get(self) -> f64 {
        self.0 / Self::SCALE
    }

    /// Writes the shortest text that parses back, with at least one fractional digit: `0.0`, `-0.0`, `1.4`.
    pub(super) fn put_shortest(self, out: &mut Vec<u8>) {
        let mut steps = self.0.abs() as u64;
        let mut digits = DIGITS;
        while digits > 1 && steps.is_multiple_of(10) {
            steps /= 10;
            digits -= 1;
        }
        put_digits(out, self.0.is_sign_negative(), steps, digits);
    }

    /// Writes all fractional digits: `0.0000`.
    pub(super) fn put_fixed(self, out: &mut Vec<u8>) {
        put_digits(out, self.0.is_sign_negative(), self.0.abs() as u64, DIGITS);
    }
}

/// Writes an integer with a point before its last `digits` digits. Avoids allocations: agents receive hundreds of
/// thousands of these per second.
fn put_digits(out: &mut Vec<u8>, is_negative: bool, mut steps: u64, digits: usize) {
    // sign, 20 digits of a `u64`, point
    let mut text = [b'0'; 22];
    let mut start = text.len();
    let mut put = |byte| {
        start -= 1;
        if let Some(place) = text.get_mut(start) {
            *place = byte;
        }
    };
    for _ in 0..digits {
        put(b'0' + (steps % 10) as u8);
        steps /= 10;
    }
    put(b'.');
    loop {
        put(b'0' + (steps % 10) as u8);
        steps /= 10;
        if steps == 0 {
            break;
        }
    }
    if is_negative {
        put(b'-');
    }
    out.extend_from_slice(text.get(start..).unwrap_or_default());
}

/// Writes the shortest text that parses back, with at least one fractional digit.
pub(super) fn put_float(out: &mut Vec<u8>, value: f64) {
    put_formatted(out, format_args!("{value:?}"));
}

/// Writes the shortest text that parses back.
pub(super) fn put_short_float(out: &mut Vec<u8>, value: f64) {
    put_formatted(out, format_args!("{value}"));
}

pub(super) fn put_int(out: &mut Vec<u8>, value: impl Into<i128>) {
    put_formatted(out, format_args!("{}", value.into()));
}

fn put_formatted(out: &mut Vec<u8>, text: fmt::Arguments<'_>) {
    struct Sink<'a>(&'a mut Vec<u8>);
    impl Write for Sink<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.extend_from_slice(text.as_bytes());
            Ok(())
        }
    }
    // writing to memory cannot fail
    _ = Sink(out).write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shortest<const DIGITS: usize>(number: Decimal<DIGITS>) -> String {
        let mut out = Vec::new();
        number.put_shortest(&mut out);
        String::from_utf8(out).unwrap()
    }

    fn fixed<const DIGITS: usize>(number: Decimal<DIGITS>) -> String {
        let mut out = Vec::new();
        number.put_fixed(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn measured_numbers() {
        fn check(value: f64, two: &str, three: &str) {
            assert_eq!(shortest(Hundredths::truncated(value)), two);
            assert_eq!(shortest(Thousandths::truncated(value)), three);
        }
        check(0.0, "0.0", "0.0");
        check(-0.0, "-0.0", "-0.0");
        check(-0.0009, "-0.0", "-0.0");
        check(1.4, "1.4", "1.4");
        check(-1.239_9, "-1.23", "-1.239");
        check(16.0, "16.0", "16.0");
        check(100.05, "100.05", "100.05");
        check(33.639_999_999_9, "33.63", "33.639");
        // slightly below the decimal in binary
        check(0.29, "0.28", "0.29");
        check(f64::NAN, "0.0", "0.0");
        check(f64::INFINITY, "9999999999999.99", "999999999999.999");
        check(f64::MIN, "-9999999999999.99", "-999999999999.999");
    }

    #[test]
    fn parsed_numbers_are_not_truncated() {
        for steps in -10_000..=10_000 {
            let written = format!("{:?}", f64::from(steps) / 100.0);
            assert_eq!(shortest(Hundredths::from_written(written.parse().unwrap())), written);
        }
        assert_eq!(shortest(Hundredths::from_written(-0.0)), "-0.0");
        assert_eq!(shortest(Hundredths::from_written(0.299)), "0.29");
    }

    #[test]
    fn widening_and_narrowing() {
        assert_eq!(shortest(Hundredths::truncated(-1.25).widened::<3>()), "-1.25");
        assert_eq!(shortest(Thousandths::truncated(-1.259).narrowed::<2>()), "-1.25");
        assert_eq!(shortest(Thousandths::truncated(-0.001).narrowed::<2>()), "-0.0");
    }

    #[test]
    fn all_digits() {
        fn check(value: f64, four: &str) {
            assert_eq!(fixed(Decimal::<4>::rounded(value)), four);
        }
        check(0.0, "0.0000");
        check(-0.000_01, "-0.0000");
        check(0.866_025, "0.8660");
        check(-27.5, "-27.5000");
        // ties, as they are in binary
        check(0.031_25, "0.0312");
        check(0.093_75, "0.0938");
        check(-0.031_25, "-0.0312");
        check(0.000_05, "0.0001");
    }

    proptest! {
        #[test]
        fn shortest_equals_the_standard_formatting(value in -1e12..1e12_f64, small in -200.0..200.0_f64) {
            for value in [value, small] {
                prop_assert_eq!(shortest(Hundredths::truncated(value)), format!("{:?}", (value * 100.0).trunc() / 100.0));
            }
            prop_assert_eq!(shortest(Thousandths::truncated(small)), format!("{:?}", (small * 1000.0).trunc() / 1000.0));
        }

        #[test]
        fn rounded_equals_printf(value in -1e10..1e10_f64, small in -2.0..2.0_f64, sixteenths in -5000..5000_i32) {
            for value in [value, small, f64::from(sixteenths) / 16.0, f64::from(sixteenths) / 32.0] {
                prop_assert_eq!(fixed(Decimal::<4>::rounded(value)), format!("{value:.4}"));
                prop_assert_eq!(fixed(Hundredths::rounded(value)), format!("{value:.2}"));
            }
        }

        #[test]
        fn any_number_round_trips(bits in any::<u64>()) {
            let number = Hundredths::truncated(f64::from_bits(bits));
            let text = shortest(number);
            prop_assert_eq!(Hundredths::from_written(text.parse().unwrap()), number);
            prop_assert_eq!(shortest(Hundredths::from_written(text.parse().unwrap())), text);
        }
    }
}
