//! Tables and numbers for humans.

/// Formats rows in aligned columns below a header, without trailing spaces.
pub(crate) fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let header = header.map(str::to_owned);
    let lines: Vec<&[String; N]> = std::iter::once(&header).chain(rows).collect();
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line.iter()) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for line in lines {
        let cells: Vec<String> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// Formats a number with four fractional digits, large ones in scientific notation.
pub(crate) fn short(number: f64) -> String {
    if number.abs() < 1e7 { format!("{number:.4}") } else { format!("{number:.4e}") }
}

/// Formats a number with three significant digits and thousands separators: `117,000`, `12.3`, `0.0456`.
pub(crate) fn readable(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return format!("{number}");
    }
    let magnitude = number.abs().log10().floor() as i32;
    if magnitude < 3 {
        let decimals = usize::try_from(2 - magnitude).unwrap_or(0);
        let text = format!("{number:.decimals$}");
        return if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    }
    let step = 10_f64.powi(magnitude - 2);
    let digits = format!("{:.0}", (number.abs() / step).round() * step);
    let mut text = if number < 0.0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let rows = [row(["Knöchel", "1"]), row(["a", ""])];
        assert_eq!(table(["name", "angle"], &rows), "name     angle\nKnöchel  1\na\n");
        assert_eq!(table(["name"], &[]), "name\n");
    }

    #[test]
    fn numbers_are_readable() {
        let check = |number: f64, text: &str| assert_eq!(readable(number), text, "{number}");
        check(117_099.423, "117,000");
        check(1_234_567.0, "1,230,000");
        check(50_000.0, "50,000");
        check(999.6, "1000");
        check(150.0, "150");
        check(12.345, "12.3");
        check(1.05, "1.05");
        check(0.847_1, "0.847");
        check(0.012_34, "0.0123");
        check(0.0, "0");
        check(-2.5, "-2.5");
        check(-1_500.0, "-1,500");
    }
}
