//! Face detection, tracking and recognition in the images of the eye camera.
//!
//! [`Detector`] finds faces in one image, [`Tracker`] assigns identities that persist across images, [`Embedder`] computes
//! a 128-dimensional embedding of a face, and [`Names`] recognises it. [`Watcher`] combines them.
//!
//! The neural networks are third-party models that `scripts/fetch-puppet faces` downloads into the user's cache. They are
//! validated on loading and run on one core. The same images yield the same faces on the same kind of processor.

mod boxes;
mod detector;
mod embedder;
mod names;
mod net;
mod sampling;
mod tracker;
mod watcher;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::{
    detector::Detector,
    embedder::{Embedder, Embedding},
    names::{MAX_NAME_BYTES, MAX_NAMES, MAX_SAMPLES, NAME_DISTANCE, Names},
    tracker::{TrackedFace, Tracker},
    watcher::{Face, Watcher},
};

/// Maximum number of faces per image; the least certain ones are dropped.
pub const MAX_FACES: usize = 16;

/// Error of face recognition.
#[derive(Debug, thiserror::Error)]
pub enum FacesError {
    /// The file of a network could not be read.
    #[error("failed to read {}: {source}; download the networks with `scripts/fetch-puppet faces`", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file of names could not be read.
    #[error("failed to read {}: {source}; `rossum oz enrol NAME PICTURE --names {}` creates it", path.display(), path.display())]
    ReadNames {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("failed to write {}: {source}", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file exceeds the maximum size.
    #[error("{} is larger than {limit} bytes", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Maximum size, in bytes.
        limit: u64,
    },
    /// A file is corrupt or not the expected one.
    #[error("{} is invalid: {reason}", path.display())]
    Invalid {
        /// Path of the file.
        path: PathBuf,
        /// Description of the problem.
        reason: String,
    },
    /// A neural network failed.
    #[error("the neural network failed: {reason}")]
    Run {
        /// Message of the runtime.
        reason: String,
    },
    /// A name is empty, too long or contains control characters.
    #[error("invalid name of {bytes} bytes: a name has 1 to {MAX_NAME_BYTES} bytes and no control characters")]
    Name {
        /// Length of the name, in bytes.
        bytes: usize,
    },
    /// The maximum number of names is reached.
    #[error("the maximum of {MAX_NAMES} names is reached; forget one first")]
    Full,
    /// An embedding contains a value that is not finite.
    #[error("the embedding contains a value that is not finite")]
    NotFinite,
    /// The face is not in view.
    #[error("{}", match id { Some(id) => format!("no face {id} in view"), None => "no face in view".into() })]
    NoFace {
        /// The requested face; `None` for any.
        id: Option<u64>,
    },
}

/// A face detected in one image.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FaceDetection {
    /// Confidence, 0 to 1.
    pub confidence: f32,
    /// Centre of the bounding box, -1 (left edge of the image) to 1 (right edge).
    pub x: f32,
    /// Centre of the bounding box, -1 (top of the image) to 1 (bottom).
    pub y: f32,
    /// Width of the bounding box, as a fraction of the image width, 0 to 1.
    pub width: f32,
    /// Height of the bounding box, as a fraction of the image height, 0 to 1.
    pub height: f32,
    /// The two eyes in pixels, left one in the image first, if known.
    pub eyes: Option<[[f32; 2]; 2]>,
    /// Centre of the mouth in pixels, if known.
    pub mouth: Option<[f32; 2]>,
}

/// Reads a file of at most `limit` bytes.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FacesError> {
    use std::io::Read;
    let failed = |source| FacesError::Read { path: path.into(), source };
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(FacesError::TooLarge { path: path.into(), limit });
    }
    Ok(bytes)
}
