//! The argument `threads`.

use physics::Threads;
use pyo3::{FromPyObject, PyResult};

use crate::error;

/// A number of threads, or `"auto"`.
#[derive(FromPyObject)]
pub(crate) enum ThreadsArgument {
    #[pyo3(annotation = "int")]
    Count(i64),
    #[pyo3(annotation = "str")]
    Text(String),
}

impl ThreadsArgument {
    pub(crate) fn parse(self) -> PyResult<Threads> {
        let text = match self {
            Self::Count(count) => count.to_string(),
            Self::Text(text) => text,
        };
        text.parse().map_err(error::invalid)
    }
}
