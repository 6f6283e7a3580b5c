//! A session as a table, as RFC 4180 says.

use std::borrow::Cow;

use super::session::Session;

const HEADER: &str = "time_s,duration_s,who,kind,what,text\r\n";

/// All of a session, by time.
pub(super) fn table(session: &Session) -> String {
    let mut table = HEADER.to_owned();
    for row in &session.rows {
        let (begin, length) = (format!("{:.3}", row.begin), format!("{:.3}", row.end - row.begin));
        let cells = [&begin, &length, &row.who, row.kind.name(), &row.what, &row.text];
        table.push_str(&cells.map(quoted).join(","));
        table.push_str("\r\n");
    }
    table
}

fn quoted(cell: &str) -> Cow<'_, str> {
    // spaces at the ends are part of the cell, but not every reader knows
    if cell.contains([',', '"', '\r', '\n']) || cell.starts_with(' ') || cell.ends_with(' ') {
        return format!("\"{}\"", cell.replace('"', "\"\"")).into();
    }
    cell.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oz::export::session::{Kind, Row};

    #[test]
    fn cells_are_quoted_where_they_must() {
        for (cell, written) in [
            ("", ""),
            ("Hello there.", "Hello there."),
            ("Hello, you", "\"Hello, you\""),
            ("say \"yes\"", "\"say \"\"yes\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("\r", "\"\r\""),
            (" x", "\" x\""),
            ("Grüß dich", "Grüß dich"),
        ] {
            assert_eq!(quoted(cell), written);
        }
    }

    #[test]
    fn rows_have_all_columns() {
        let row = Row {
            begin: 1.25,
            end: 2.0,
            who: "Alice".to_owned(),
            kind: Kind::Speech,
            what: String::new(),
            text: "Hello, you".to_owned(),
        };
        let session = Session { robot: "Alice".to_owned(), seconds: 3.0, complete: true, rows: vec![row] };
        assert_eq!(
            table(&session),
            "time_s,duration_s,who,kind,what,text\r\n1.250,0.750,Alice,robot.speech,,\"Hello, you\"\r\n"
        );
    }
}
