//! Logs for people or for machines, on standard error.

use std::{
    fmt::{self, Write as _},
    io::IsTerminal,
    time::{SystemTime, UNIX_EPOCH},
};

use clap::{Args, ValueEnum};
use server::log_buffer::LOG_BUFFER;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{EnvFilter, Layer, layer::Context, layer::SubscriberExt as _, util::SubscriberInitExt as _};

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
        let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_target(false);
        let log = tracing_subscriber::registry().with(filter).with(ForConsole);
        match self.log_format {
            Format::Human => log.with(lines.with_ansi(std::io::stderr().is_terminal())).init(),
            Format::Json => log.with(lines.json()).init(),
        }
        guard
    }
}

/// Keeps the lines of late for those who look at the console.
struct ForConsole;

impl<S: Subscriber> Layer<S> for ForConsole {
    #[expect(clippy::disallowed_methods, reason = "for people, who have a clock")]
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let mut line = Line::default();
        event.record(&mut line);
        LOG_BUFFER.add(time, event.metadata().level().as_str(), line.message + &line.fields);
    }
}

/// The message of an event, and its fields.
#[derive(Default)]
struct Line {
    message: String,
    fields: String,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // writing to a string cannot fail
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
