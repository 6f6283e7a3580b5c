//! The helper as a standalone program: `espeak-helper LIBRARY DATA`.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(library), Some(data)) = (arguments.next(), arguments.next()) else {
        return failed(&"missing arguments; usage: espeak-helper LIBRARY DATA");
    };
    match espeak::serve(&library, &data, io::stdin(), io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(reason: &dyn std::fmt::Display) -> ExitCode {
    // nothing can be done if stderr is closed
    let _ = writeln!(io::stderr(), "espeak-helper: {reason}");
    ExitCode::FAILURE
}
