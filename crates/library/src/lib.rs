//! The robots, fields and scenarios that come with the program, and those a user brings.

use std::path::Path;

use physics::{Limits, ModelError, Source};
use rust_embed::RustEmbed;
use support::suggest;

#[derive(RustEmbed)]
#[folder = "../../models"]
#[include = "*.xml"]
struct Models;

#[derive(RustEmbed)]
#[folder = "../../scenarios"]
#[include = "*.toml"]
struct Scenarios;

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A robot that can be put into a world.
    Robot,
    /// Everything in a world but the robots.
    Field,
}

impl ModelKind {
    fn folder(self) -> &'static str {
        match self {
            Self::Robot => "robots",
            Self::Field => "fields",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Robot => "robot.xml",
            Self::Field => "field.xml",
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Robot => "robot",
            Self::Field => "field",
        }
    }
}

/// Why something is not in the library.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// Nothing has this name.
    #[error("{}", suggest::unknown(.what, .name, .known))]
    Unknown {
        /// Robot, field or scenario.
        what: &'static str,
        /// The name that was asked for.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The model is no good.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A model by its name in the library, or by its path if the name looks like one (it ends in `.xml` or `.urdf`).
/// Relative paths start at `folder`.
pub fn model(kind: ModelKind, name: &str, folder: &Path) -> Result<Source, LibraryError> {
    if name.ends_with(".xml") || name.ends_with(".urdf") {
        return Ok(Source::from_file(&folder.join(name), &Limits::default())?);
    }
    named_model(kind, name)
}

/// A model by its name in the library, and only by that: for names that come from outside.
pub fn named_model(kind: ModelKind, name: &str) -> Result<Source, LibraryError> {
    let unknown = || LibraryError::Unknown { what: kind.noun(), name: name.to_owned(), known: models(kind) };
    if !models(kind).iter().any(|known| known == name) {
        return Err(unknown());
    }
    let file = Models::get(&format!("{}/{name}/{}", kind.folder(), kind.file())).ok_or_else(unknown)?;
    Ok(Source::from_text(name, &String::from_utf8_lossy(&file.data), &Limits::default())?)
}

/// Whether a model text is one that comes with the program.
pub fn is_shipped(text: &str) -> bool {
    Models::iter().filter_map(|path| Models::get(&path)).any(|file| *file.data == *text.as_bytes())
}

/// The names of all models of a kind.
pub fn models(kind: ModelKind) -> Vec<String> {
    let ours = |path: &str| {
        let (folder, rest) = path.split_once('/')?;
        let (name, file) = rest.split_once('/')?;
        (folder == kind.folder() && file == kind.file()).then(|| name.to_owned())
    };
    let mut names: Vec<_> = Models::iter().filter_map(|path| ours(&path)).collect();
    names.sort();
    names
}

/// The text of a scenario that comes with the program.
pub fn scenario(name: &str) -> Result<String, LibraryError> {
    let unknown = || LibraryError::Unknown { what: "scenario", name: name.to_owned(), known: scenarios() };
    let file = Scenarios::get(&format!("{name}.toml")).ok_or_else(unknown)?;
    Ok(String::from_utf8_lossy(&file.data).into_owned())
}

/// The names of all scenarios that come with the program.
pub fn scenarios() -> Vec<String> {
    let mut names: Vec<_> =
        Scenarios::iter().filter_map(|path| path.strip_suffix(".toml").map(str::to_owned)).collect();
    names.sort();
    names
}
