//! Logging to standard error and to the console.

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
    level_filters::LevelFilter,
};
use tracing_appender::non_blocking::{NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::{
    Layer, filter::Targets, layer::Context, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

/// Maximum number of buffered log lines.
const LINES: usize = 4_096;

/// Logging options.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Format of log lines
    #[arg(long, help_heading = "Logging", global = true, value_enum, default_value_t = Format::Human)]
    log_format: Format,
    /// Log level: error, warn, info, debug or trace, also per module (`info,server=debug`)
    #[arg(long, help_heading = "Logging", global = true, default_value = "info", env = "ROSSUM_LOG")]
    log: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Human-readable lines
    Human,
    /// One JSON object per line
    Json,
}

impl Options {
    /// Starts logging, until the guard is dropped. Logging never blocks: lines are dropped while the buffer is full.
    pub(crate) fn start(&self) -> WorkerGuard {
        let filter = self.log.parse().unwrap_or_else(|error| {
            eprintln!("rossum: invalid log filter `{}` ({error}); using `info`", self.log);
            Targets::new().with_default(LevelFilter::INFO)
        });
        let (writer, guard) =
            NonBlockingBuilder::default().lossy(true).buffered_lines_limit(LINES).finish(std::io::stderr());
        let lines = tracing_subscriber::fmt::layer().with_writer(writer).with_target(false);
        let log = tracing_subscriber::registry().with(filter).with(ConsoleLayer);
        match self.log_format {
            Format::Human => log.with(lines.with_ansi(std::io::stderr().is_terminal())).init(),
            Format::Json => log.with(lines.json()).init(),
        }
        guard
    }
}

/// Copies log lines to the buffer that the console shows.
struct ConsoleLayer;

impl<S: Subscriber> Layer<S> for ConsoleLayer {
    #[expect(clippy::disallowed_methods, reason = "log lines carry the wall-clock time")]
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
        let mut text = EventText::default();
        event.record(&mut text);
        LOG_BUFFER.add(time, event.metadata().level().as_str(), text.message + &text.fields);
    }
}

/// The text of a log event.
#[derive(Default)]
struct EventText {
    message: String,
    fields: String,
}

impl Visit for EventText {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // writing to a string cannot fail
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
