//! Built-in bodies and fitness scripts.

use rust_embed::RustEmbed;

use super::body::{BodyFile, BodyFileError, FitnessFile};

#[derive(RustEmbed)]
#[folder = "bodies"]
#[include = "*.toml"]
struct Bodies;

#[derive(RustEmbed)]
#[folder = "fitness"]
#[include = "*.toml"]
struct Scripts;

/// Names of the bodies, sorted.
pub fn bodies() -> Vec<String> {
    names::<Bodies>()
}

/// Names of the fitness scripts, sorted.
pub fn scripts() -> Vec<String> {
    names::<Scripts>()
}

/// The text of a body file, by its name.
pub fn body_text(name: &str) -> Result<String, BodyFileError> {
    text::<Bodies>("body", name)
}

/// A body by its name.
pub fn body(name: &str) -> Result<BodyFile, BodyFileError> {
    BodyFile::parse(&body_text(name)?)
}

/// The text of a fitness file, by its name.
pub fn script_text(name: &str) -> Result<String, BodyFileError> {
    text::<Scripts>("fitness script", name)
}

/// A fitness script by its name.
pub fn script(name: &str) -> Result<FitnessFile, BodyFileError> {
    FitnessFile::parse(&script_text(name)?)
}

fn names<E: RustEmbed>() -> Vec<String> {
    let mut names: Vec<_> = E::iter().filter_map(|file| Some(file.strip_suffix(".toml")?.to_owned())).collect();
    names.sort();
    names
}

fn text<E: RustEmbed>(what: &'static str, name: &str) -> Result<String, BodyFileError> {
    let file = E::get(&format!("{name}.toml"));
    let text = file.and_then(|file| String::from_utf8(file.data.into_owned()).ok());
    text.ok_or_else(|| BodyFileError::Unknown { what, name: name.to_owned(), known: names::<E>() })
}
