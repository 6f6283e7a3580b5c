//! Logs for people or for machines, on standard error.

use std::io::IsTerminal;

use clap::{Args, ValueEnum};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::EnvFilter;

/// Log lines that may wait to be read.
const LINES: usize = 4_096;

/// How the program talks about what it does.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// How log lines look
    #[arg(long, help_heading = "Logging", global = true, value_enum, default_value_t = Format::Human)]
    log_format: Format,
    /// What is logged: error, warn, info, debug or trace, also per part (`info,server=debug`)
    #[arg(long, help_heading = "Logging", global = true, default_value = "info", env = "ROSSUM_LOG")]
    log: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// One readable line each
    Human,
    /// One JSON object each
    Json,
}

impl Options {
    /// Begins to log, until the guard is dropped. Whoever logs never waits for whoever reads: lines that nobody takes
    /// are lost.
    pub(crate) fn start(&self) -> WorkerGuard {
        let filter = EnvFilter::try_new(&self.log).unwrap_or_else(|error| {
            eprintln!("rossum: `{}` says nothing about logging ({error}); using `info`", self.log);
            EnvFilter::new("info")
        });
        let (writer, guard) =
            NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES).finish(std::io::stderr());
        let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_target(false);
        match self.log_format {
            Format::Human => lines.with_ansi(std::io::stderr().is_terminal()).init(),
            Format::Json => lines.json().init(),
        }
        guard
    }
}
