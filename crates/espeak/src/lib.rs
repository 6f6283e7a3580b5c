//! A helper process around espeak-ng.
//!
//! espeak-ng is licensed under the GPL and written in C, so it runs in its own process: [`serve`] is the body of that
//! process, and [`frame`] the protocol on its pipes. Only `engine` contains unsafe code.

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

/// Why the helper exited.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// espeak-ng could not be initialised; an answer with the reason has been sent.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A request is invalid, or an answer cannot be encoded.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The answer could not be written.
    #[error("failed to write the answer: {0}")]
    Write(#[from] io::Error),
}

/// Answers requests from `input` until it ends, with the espeak-ng library at `library` (a path, or a name for the dynamic
/// loader) and its data folder.
///
/// If the library cannot be loaded, the only answer is the reason, and an error is returned. A request with an invalid
/// voice or text is answered with the reason.
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
