//! Truncation to the digits that agents receive.

/// Truncates `value` after `digits` decimals.
///
/// Only for decisions that depend on the truncated value, such as the edge of the field of view. The codec formats text.
pub fn truncate(value: f64, digits: u8) -> f64 {
    let scale = 10f64.powi(digits.into());
    (value * scale).trunc() / scale
}

#[cfg(test)]
mod tests {
    use super::truncate;

    #[test]
    fn cuts_towards_zero() {
        for (value, digits, expected) in
            [(1.239, 2, 1.23), (-1.239, 2, -1.23), (60.009_9, 2, 60.0), (-0.004, 2, -0.0), (59.999_9, 3, 59.999)]
        {
            assert_eq!(truncate(value, digits), expected, "{value}");
        }
        assert!(truncate(-0.004, 2).is_sign_negative());
    }
}
