//! Records what a Python program does to a world, for `rossum replay`.

use std::{fs::File, io::BufWriter, path::PathBuf};

use pyo3::{PyErr, PyResult};
use support::output_file::{self, Existing};
use world::{
    Setup, World,
    record::{RecordError, Recorder},
};

use crate::error;

/// Where a recording is written.
pub(crate) struct RecordingOptions {
    path: PathBuf,
    existing: Existing,
}

impl RecordingOptions {
    /// From the arguments of a Python program; none if nothing is recorded.
    pub(crate) fn new(path: Option<PathBuf>, overwrite: bool) -> Option<Self> {
        Some(Self { path: path?, existing: Existing::from(overwrite) })
    }
}

/// A recording that is being written.
pub(crate) struct Recording {
    recorder: Recorder<BufWriter<File>>,
    hash_every: u64,
}

impl Recording {
    /// Begins to record a world that was just built from `setup`, with a hash of its state every so many ticks.
    pub(crate) fn start(
        RecordingOptions { path, existing }: RecordingOptions,
        setup: &Setup,
        world: &mut World,
        hash_every: u64,
    ) -> PyResult<Self> {
        let file = output_file::create(&path, existing).map_err(error::file)?;
        let recorder = Recorder::new(BufWriter::new(file), setup, world).map_err(unwritten)?;
        world.keep_journal();
        Ok(Self { recorder, hash_every })
    }

    /// Records the tick that was just taken.
    pub(crate) fn tick(&mut self, world: &mut World) -> PyResult<()> {
        match world.take_record(self.hash_every) {
            Some(record) => self.recorder.write(&record).map_err(unwritten),
            None => Ok(()),
        }
    }

    /// Completes the recording.
    pub(crate) fn finish(mut self, world: &mut World) -> PyResult<()> {
        if let Some(last) = world.last_record(self.hash_every) {
            self.recorder.write(&last).map_err(unwritten)?;
        }
        self.recorder.finish().map_err(unwritten)
    }
}

fn unwritten(cause: RecordError) -> PyErr {
    error::file(cause)
}
