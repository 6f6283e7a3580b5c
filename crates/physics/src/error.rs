//! Why a model was refused.

/// Why a model cannot be used. Each message says what is wrong, in which file, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A file is missing, is of the wrong kind or may not be read.
    #[error("{file} cannot be read: {reason}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// The system's own words.
        reason: String,
    },
    /// The text is not well-formed, or uses what we do not accept (a document type definition).
    #[error("{file} is not an XML document we accept: {reason}")]
    NotXml {
        /// Path or name of the text.
        file: String,
        /// What is wrong, with line and column where known.
        reason: String,
    },
    /// Something is larger than its limit.
    #[error("{file}: {what} is {amount}, more than the {limit} allowed; make the model smaller or raise the limit")]
    OverLimit {
        /// Path or name of the text.
        file: String,
        /// What is too large.
        what: String,
        /// How large it is, at least.
        amount: u64,
        /// The limit it exceeds.
        limit: u64,
    },
    /// A count is not written as a plain whole number, so it cannot be checked.
    #[error("{file}: {attribute} is {value:?}; write it as a plain number")]
    BadNumber {
        /// Path or name of the text.
        file: String,
        /// Element and attribute.
        attribute: String,
        /// What is written there.
        value: String,
    },
    /// A path leads out of the model's folder.
    #[error("{file} refers to {path:?}, outside its folder; use a relative path without `..` and move the file there")]
    OutsideFolder {
        /// Path or name of the text.
        file: String,
        /// The path as written.
        path: String,
    },
    /// Text without a folder refers to a file.
    #[error("{file} refers to the file {path:?}, but a model given as text must stand by itself; use primitive shapes")]
    FileInText {
        /// Name of the text.
        file: String,
        /// The path as written.
        path: String,
    },
    /// A file is included more than once, or includes itself.
    #[error("{file} includes {path:?} a second time; a file can be included once")]
    IncludedTwice {
        /// Path of the file with the include.
        file: String,
        /// The path as written.
        path: String,
    },
    /// An element that loads code or whole other models.
    #[error("{file} uses <{element}>, which is not accepted here; remove it")]
    Unsupported {
        /// Path or name of the text.
        file: String,
        /// The element.
        element: String,
    },
    /// The engine refused the model.
    #[error("{model} does not compile: {reason}")]
    Engine {
        /// Name of the model, with the prefix of the part where there is one.
        model: String,
        /// The engine's own words.
        reason: String,
    },
    /// A part has no body to attach.
    #[error("{model} has no body in its worldbody, so there is nothing to add; put the robot into a <body>")]
    Empty {
        /// Name of the model.
        model: String,
    },
    /// An edit names a geom that the assembly does not have, or gives it an impossible size.
    #[error("geom {geom:?} cannot be given the size {size:?}: {reason}")]
    BadEdit {
        /// Full name of the geom.
        geom: String,
        /// The size asked for, in m.
        size: [f64; 3],
        /// Why not.
        reason: String,
    },
}
