//! Writes recordings to disk on a thread of their own.

use std::{
    error::Error,
    io::{self, BufWriter, Seek, Write},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use support::output_file::{self, Existing, OutputError};
use tracing::{error, info};
use world::{
    Setup, World,
    record::{RecordError, Recorder, TickRecord},
};

use crate::{limits, metrics::METRICS};

/// How often a recording is flushed: one that is cut off lacks at most this much.
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);

/// Sends ticks to the thread that writes them.
#[derive(Clone, Debug)]
pub struct RecordingSender(pub(crate) SyncSender<TickRecord>);

/// Why a record was not accepted. The recording ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// [`limits::RECORD_QUEUE`] records wait for the disk.
    #[error("the disk is too slow")]
    Behind,
    /// The recording has ended; its thread has logged why.
    #[error("the recording has ended")]
    Ended,
}

impl RecordingSender {
    /// Queues a record. Never blocks.
    pub fn send(&self, record: TickRecord) -> Result<(), RecordingError> {
        self.0.try_send(record).map_err(|error| match error {
            TrySendError::Full(_) => RecordingError::Behind,
            TrySendError::Disconnected(_) => RecordingError::Ended,
        })
    }
}

/// Why a recording could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The file could not be created.
    #[error("cannot create the recording: {0}")]
    Create(#[from] OutputError),
    /// The thread could not be created.
    #[error("cannot create the thread that records: {0}")]
    Thread(io::Error),
    /// The header could not be written.
    #[error("cannot start the recording {path}: {}", with_causes(.cause))]
    Begin {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        cause: RecordError,
    },
}

/// A recording in progress. It ends when all its senders are dropped.
#[derive(Debug)]
pub struct Recording {
    thread: JoinHandle<()>,
}

impl Recording {
    /// Starts to record a world that has just been built from `setup`.
    pub fn start(
        path: &Path,
        existing: Existing,
        setup: &Setup,
        world: &World,
    ) -> Result<(Self, RecordingSender), StartError> {
        let file = output_file::create(path, existing)?;
        Self::start_on(BufWriter::new(file), path, setup, world)
    }

    /// Records to any writer; `path` appears in messages.
    fn start_on<W>(out: W, path: &Path, setup: &Setup, world: &World) -> Result<(Self, RecordingSender), StartError>
    where
        W: Write + Seek + Send + 'static,
    {
        let mut recorder = Recorder::new(out, setup, world)
            .and_then(|mut recorder| recorder.flush().map(|()| recorder))
            .map_err(|cause| StartError::Begin { path: path.to_owned(), cause })?;
        let (sender, records) = sync_channel(limits::RECORD_QUEUE);
        let shown = path.to_owned();
        let thread = thread::Builder::new()
            .name("recording".into())
            .spawn(move || match write_all(&mut recorder, &records) {
                Ok(ticks) => info!(path = %shown.display(), ticks, "recording closed"),
                Err(cause) => {
                    METRICS.recordings_ended_early.add(1);
                    let cause = with_causes(&cause);
                    error!(path = %shown.display(), "recording stopped, readable up to here: {cause}");
                }
            })
            .map_err(StartError::Thread)?;
        Ok((Self { thread }, RecordingSender(sender)))
    }

    /// Waits until everything is on disk.
    pub fn finish(self) {
        if self.thread.join().is_err() {
            error!("recording thread panicked");
        }
    }
}

/// The message of an error and of its sources, without repetitions.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

fn write_all<W: Write + Seek>(recorder: &mut Recorder<W>, records: &Receiver<TickRecord>) -> Result<u64, RecordError> {
    let mut ticks = 0;
    let mut flushed = now();
    let mut dirty = false;
    loop {
        let due = flushed + FLUSH_INTERVAL;
        match records.recv_timeout(due.saturating_duration_since(now())) {
            Ok(record) => {
                recorder.write(&record)?;
                ticks += 1;
                dirty = true;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                recorder.finish()?;
                return Ok(ticks);
            }
        }
        if now() >= due {
            if std::mem::take(&mut dirty) {
                recorder.flush()?;
            }
            flushed = now();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the disk is written in wall time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests;
