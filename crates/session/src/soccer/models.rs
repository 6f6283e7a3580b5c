//! The robots that may play.

use std::collections::BTreeMap;

use library::{LibraryError, ModelKind};
use physics::Source;

/// Robots of the user besides those of the library, by name.
#[derive(Debug, Default)]
pub struct Models(pub BTreeMap<String, Source>);

impl Models {
    /// Finds a robot by name. Names that come over the wire are never paths.
    ///
    /// # Errors
    ///
    /// When neither the user nor the library has a robot of this name.
    pub fn named(&self, name: &str) -> Result<Source, LibraryError> {
        match self.0.get(name) {
            Some(source) => Ok(source.clone()),
            None => library::named_model(ModelKind::Robot, name),
        }
    }
}
