//! Faces in the eye camera's pictures: where they are, which is which from picture to picture, and what they are called.
//!
//! [`Detector`] finds faces in one picture, [`Tracker`] gives them identities that last, [`Embedder`] describes one in 128
//! numbers, by which [`Names`] knows it again. [`Watcher`] puts them together.
//!
//! The networks are those of others, which `scripts/fetch-puppet faces` puts into a folder of the user's cache. They are
//! read and checked here, and run on one core. The same pictures give the same faces on the same kind of processor.

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
    tracker::{Tracked, Tracker},
    watcher::{Face, Watcher},
};

/// Faces that are found and followed at once; more are left out, the least certain first.
pub const MAX_FACES: usize = 16;

/// What is wrong with the networks' files, with a name or with the file of names.
#[derive(Debug, thiserror::Error)]
pub enum FacesError {
    /// A file could not be read.
    #[error("{} cannot be read ({source}); `scripts/fetch-puppet faces` fetches the networks", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file could not be written.
    #[error("{} cannot be written ({source})", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file is larger than such files are.
    #[error("{} is larger than {limit} bytes", path.display())]
    Large {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        limit: u64,
    },
    /// A file is not what it should be.
    #[error("{} is broken: {reason}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, in words.
        reason: String,
    },
    /// A network that was loaded does not run.
    #[error("the network does not run: {reason}")]
    Run {
        /// What rten says.
        reason: String,
    },
    /// A name is empty, too long or has control characters.
    #[error("a name has 1 to {MAX_NAME_BYTES} bytes and no control characters, not {bytes} bytes")]
    Name {
        /// Bytes of what was given.
        bytes: usize,
    },
    /// There is no room for another name.
    #[error("there are {MAX_NAMES} names already; forget one first")]
    Full,
    /// An embedding has a number that is not finite.
    #[error("an embedding has a number that is not finite")]
    NotFinite,
    /// There is no such face in view.
    #[error("{}", match id { Some(id) => format!("there is no face {id} in view"), None => "there is no face in view".into() })]
    NoFace {
        /// The face that was asked for; any if none.
        id: Option<u64>,
    },
}

/// A face in one picture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// How certain it is that this is a face, 0 to 1.
    pub confidence: f32,
    /// Centre of its box, -1 at the left edge to 1 at the right edge of the picture.
    pub x: f32,
    /// Centre of its box, -1 at the upper edge to 1 at the lower edge of the picture.
    pub y: f32,
    /// Width of its box, as a part of the picture's, 0 to 1.
    pub width: f32,
    /// Height of its box, as a part of the picture's, 0 to 1.
    pub height: f32,
    /// The two eyes in pixels of the picture, the one to the left in an upright picture first, if they are known.
    pub eyes: Option<[[f32; 2]; 2]>,
    /// The middle of the mouth in pixels of the picture, if it is known.
    pub mouth: Option<[f32; 2]>,
}

/// Reads a file of at most so many bytes.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FacesError> {
    use std::io::Read;
    let unreadable = |source| FacesError::Unreadable { path: path.into(), source };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(FacesError::Large { path: path.into(), limit });
    }
    Ok(bytes)
}
