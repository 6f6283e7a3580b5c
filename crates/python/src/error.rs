//! Errors as Python exceptions.

use std::{any::Any, fmt::Display};

use pyo3::{
    PyErr, create_exception,
    exceptions::{PyException, PyKeyError, PyOSError, PyValueError},
};

create_exception!(
    rossum_sim,
    RossumError,
    PyException,
    "A scenario, model or simulation failed. The message says what happened, where, and what to do."
);

/// A scenario, model or simulation failed.
pub(crate) fn failed(cause: impl Display) -> PyErr {
    RossumError::new_err(cause.to_string())
}

/// An argument has a wrong value.
pub(crate) fn invalid(cause: impl Display) -> PyErr {
    PyValueError::new_err(cause.to_string())
}

/// Nothing has this name.
pub(crate) fn unknown(cause: impl Display) -> PyErr {
    PyKeyError::new_err(cause.to_string())
}

/// A file cannot be read or written.
pub(crate) fn file(cause: impl Display) -> PyErr {
    PyOSError::new_err(cause.to_string())
}

/// A bug of ours: the message of a panic.
pub(crate) fn panicked(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    failed(format_args!("internal error: {}; please report it", text.unwrap_or("unknown cause")))
}
