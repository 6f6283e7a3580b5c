//! The helper as a program of its own: `espeak-helper LIBRARY DATA`.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(library), Some(data)) = (arguments.next(), arguments.next()) else {
        return failed(&"say where the library and the voices' data are: espeak-helper LIBRARY DATA");
    };
    match espeak::serve(&library, &data, io::stdin(), io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

fn failed(reason: &dyn std::fmt::Display) -> ExitCode {
    // without a place to complain there is nothing left to do
    let _ = writeln!(io::stderr(), "espeak-helper: {reason}");
    ExitCode::FAILURE
}
