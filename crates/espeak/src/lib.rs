//! The helper process that speaks with espeak-ng, and how to talk to it.
//!
//! espeak-ng is under the GPL and written in C, so it runs in a process of its own: [`serve`] is that process, and
//! [`frame`] is what goes through the pipes between it and whoever started it. Only `engine` is unsafe.

mod engine;
pub mod frame;
mod words;

use std::{
    io::{self, Read, Write},
    path::Path,
};

use engine::Engine;
pub use engine::EngineError;
use frame::{Answer, FrameError, Request};

/// Why the helper ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// espeak-ng could not be set up; the other side has been told.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What came in is no request, or what goes out finds no reader.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The answers find no reader.
    #[error("the answer could not be written: {0}")]
    Write(#[from] io::Error),
}

/// Answers requests from `input` until it ends, speaking with the espeak-ng at `library` (a path, or a name that the
/// system's loader knows) and its folder `data`.
///
/// If there is no such library, that is the one answer, and an error. If something is wrong with a request's voice or text,
/// the answer says so, and the next request is read.
pub fn serve(library: &Path, data: &Path, input: impl Read, output: impl Write) -> Result<(), ServeError> {
    let (mut input, mut output) = (io::BufReader::new(input), io::BufWriter::new(output));
    let mut engine = match Engine::load(library, data) {
        Ok(engine) => engine,
        Err(error) => {
            let outcome = Err(error.to_string());
            Answer { id: frame::NO_REQUEST, outcome }.write(&mut output)?;
            output.flush()?;
            return Err(error.into());
        }
    };
    while let Some(request) = Request::read(&mut input)? {
        let outcome = engine.speak(&request).map_err(|error| error.to_string());
        Answer { id: request.id, outcome }.write(&mut output)?;
        output.flush()?;
    }
    Ok(())
}
