//! Errors of models and of the engine.

/// Why a model cannot be used. Each message names the problem, the file, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A file is missing, of the wrong kind, or not readable.
    #[error("failed to read {file}: {reason}")]
    Unreadable {
        /// Path of the file.
        file: String,
        /// What the system reported.
        reason: String,
    },
    /// The text is not well-formed, or has a document type definition, which is not accepted.
    #[error("failed to parse {file} as XML: {reason}")]
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
    /// A count is not written as a plain integer, so it cannot be checked.
    #[error("{file}: {attribute} is {value:?}; write it as a plain number")]
    BadNumber {
        /// Path or name of the text.
        file: String,
        /// Element and attribute.
        attribute: String,
        /// The attribute's value.
        value: String,
    },
    /// A path points outside of the model's folder.
    #[error("{file} refers to {path:?}, outside its folder; use a relative path without `..` and move the file there")]
    OutsideFolder {
        /// Path or name of the text.
        file: String,
        /// The path as written.
        path: String,
    },
    /// A model given as text refers to a file.
    #[error(
        "{file} refers to the file {path:?}, but a model given as text must be self-contained; use primitive shapes"
    )]
    FileInText {
        /// Name of the text.
        file: String,
        /// The path as written.
        path: String,
    },
    /// A file is included more than once, or includes itself.
    #[error("{file} includes {path:?} a second time; a file can be included only once")]
    IncludedTwice {
        /// Path of the file with the include.
        file: String,
        /// The path as written.
        path: String,
    },
    /// An element that loads code or other models.
    #[error("{file} uses <{element}>, which is not supported; remove it")]
    Unsupported {
        /// Path or name of the text.
        file: String,
        /// The element.
        element: String,
    },
    /// The trial of the model failed.
    #[error("{reason}")]
    Refused {
        /// The message.
        reason: String,
    },
    /// The model cannot be compiled within limits.
    #[error("{model} cannot be used: {reason}; make it smaller, with fewer or simpler meshes")]
    TooCostly {
        /// Name of the model.
        model: String,
        /// The limit that it exceeds.
        reason: String,
    },
    /// The engine refused the model.
    #[error("{model} does not compile: {reason}")]
    Engine {
        /// Name of the model, with its prefix if it is attached to another.
        model: String,
        /// The engine's message.
        reason: String,
    },
    /// A model to be attached has no body.
    #[error("{model} has no body in its worldbody, so there is nothing to attach; put the robot into a <body>")]
    Empty {
        /// Name of the model.
        model: String,
    },
    /// An edit names an unknown geom, or an invalid size.
    #[error("cannot resize geom {geom:?} to {size:?}: {reason}")]
    BadEdit {
        /// Full name of the geom.
        geom: String,
        /// The requested size, in m.
        size: [f64; 3],
        /// What is wrong with it.
        reason: String,
    },
}

/// Why a call into the engine failed. Callers turn it into a [`ModelError::Engine`] or a [`Fault`](crate::Fault).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum EngineError {
    /// The engine's own message.
    #[error("{0}")]
    Reported(String),
    #[error("the source is empty")]
    EmptySource,
    #[error("{0:?} contains a zero character")]
    ZeroCharacter(String),
    #[error("{file} is too long")]
    TooLong { file: String },
    #[error("{file} cannot be passed to the engine (status {status})")]
    FileRefused { file: String, status: i32 },
    #[error("out of memory for {what}")]
    OutOfMemory { what: String },
    #[error("its time step is {seconds} s; it must be positive")]
    TimeStep { seconds: f64 },
}
