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
}
