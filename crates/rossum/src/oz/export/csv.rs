//! A session as a CSV table (RFC 4180).

use csv::{QuoteStyle, Terminator, WriterBuilder};

use super::session::{Row, Session};

const HEADER: [&str; 6] = ["time_s", "duration_s", "who", "kind", "what", "text"];

/// The table of a session, sorted by start time.
pub(super) fn table(session: &Session) -> csv::Result<Vec<u8>> {
    let mut table = Vec::new();
    write_record(&mut table, HEADER)?;
    for Row { begin, end, who, kind, what, text } in &session.rows {
        let (begin, duration) = (format!("{begin:.3}"), format!("{:.3}", end - begin));
        write_record(&mut table, [&begin, &duration, who, kind.name(), what, text])?;
    }
    Ok(table)
}

fn write_record(table: &mut Vec<u8>, cells: [&str; 6]) -> csv::Result<()> {
    // spaces at the ends belong to a cell, but some readers trim them unless the cell is quoted
    let has_outer_space = cells.iter().any(|cell| cell.starts_with(' ') || cell.ends_with(' '));
    let quote_style = if has_outer_space { QuoteStyle::Always } else { QuoteStyle::Necessary };
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).quote_style(quote_style).from_writer(table);
    writer.write_record(cells)?;
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oz::export::session::Kind;

    fn row_with(text: &str) -> String {
        let row = Row {
            begin: 1.25,
            end: 2.0,
            who: "Alice".to_owned(),
            kind: Kind::Speech,
            what: String::new(),
            text: text.to_owned(),
        };
        let session = Session { robot: "Alice".to_owned(), seconds: 3.0, warning: None, rows: vec![row] };
        let table = String::from_utf8(table(&session).unwrap()).unwrap();
        table.strip_prefix("time_s,duration_s,who,kind,what,text\r\n").unwrap().to_owned()
    }

    #[test]
    fn cells_are_quoted_where_necessary() {
        for (cell, written) in [
            ("", ""),
            ("Hello there.", "Hello there."),
            ("Hello, you", "\"Hello, you\""),
            ("say \"yes\"", "\"say \"\"yes\"\"\""),
            ("two\nlines", "\"two\nlines\""),
            ("\r", "\"\r\""),
            ("Grüß dich", "Grüß dich"),
        ] {
            assert_eq!(row_with(cell), format!("1.250,0.750,Alice,robot.speech,,{written}\r\n"));
        }
        assert_eq!(row_with(" x"), "\"1.250\",\"0.750\",\"Alice\",\"robot.speech\",\"\",\" x\"\r\n");
    }
}
