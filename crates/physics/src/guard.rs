//! Turns engine errors into values.
//!
//! MuJoCo reports a fatal error to a log handler, and exits the process when the handler returns. The handler here does not
//! return: it unwinds out of the C code into [`guarded`]. All functions that may raise such an error are declared `C-unwind`
//! in [`engine`] and called inside `guarded`. Errors on other threads, those of the engine's pool, are in `threads/pool.rs`.

use std::{
    ffi::{CStr, c_char, c_int},
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

use mujoco_rs::mujoco_c::{mjLogMessage, mjfLogHandler};

use crate::{engine, error::EngineError, threads};

/// Why a step failed. The simulation continues from the state before it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The engine reported an error, or a state does not fit the model.
    #[error("the physics engine refused: {cause}")]
    Engine {
        /// The engine's message.
        cause: String,
    },
    /// A value left the range of the engine: it is not finite, or beyond ±1e10.
    #[error("{quantity} of {what} is {value}")]
    NotFinite {
        /// Name of the joint, actuator or body, with the prefix of the robot it belongs to; "number N" when unnamed.
        what: String,
        /// "position", "velocity", "acceleration", "activation", "control", "mocap pose" or "time".
        quantity: &'static str,
        /// The value, in the unit of the quantity.
        value: f64,
    },
}

/// What unwinds out of the engine: its message.
struct EngineMessage(String);

/// Level of a message after which MuJoCo does not continue.
const LEVEL_ERROR: c_int = mujoco_rs::mujoco_c::mjtLogLevel::mjLOG_ERROR as c_int;

/// The first fields of `mjLogMessage`, the ones read here.
#[repr(C)]
struct Message {
    level: c_int,
    topic: c_int,
    subject: [c_char; 1024],
}

/// Errors unwind. Other messages are dropped: the engine counts warnings in its data, and nothing is printed or written to a
/// file.
unsafe extern "C-unwind" fn on_message(message: *const mjLogMessage) {
    // SAFETY: MuJoCo hands over a valid message whose first three fields are those of `Message`
    let message = unsafe { &*message.cast::<Message>() };
    if message.level == LEVEL_ERROR {
        // SAFETY: MuJoCo ends the subject with a zero inside the array
        let subject = unsafe { CStr::from_ptr(message.subject.as_ptr()) };
        let message = one_line(&subject.to_string_lossy());
        threads::on_engine_error(&message);
        // not `panic!`, which would call the panic hook
        panic::resume_unwind(Box::new(EngineMessage(message)));
    }
}

/// Installs the log handler. Called before any other call into the engine.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        type Handler = unsafe extern "C-unwind" fn(*const mjLogMessage);
        // SAFETY: the two types differ only in whether the callee may unwind, and every caller of MuJoCo in this crate
        // expects that it does. No thread uses the engine yet: all ways into it come through here first.
        unsafe {
            let handler = std::mem::transmute::<Handler, mjfLogHandler>(on_message);
            engine::mju_setLogHandler(handler);
        }
    });
}

/// Runs `work` and returns an engine error inside it. Other panics pass through.
///
/// After an error, the data the engine was working on is in an undefined state: the caller discards or restores it.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, EngineError> {
    install();
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|payload| match payload.downcast::<EngineMessage>() {
        Ok(message) => EngineError::Reported(message.0),
        Err(ours) => panic::resume_unwind(ours),
    })
}

/// A message of the engine without line breaks.
pub(crate) fn one_line(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.join("; ")
}

/// Largest magnitude that the engine accepts (`mjMAXVAL`); anything beyond it, infinite or NaN is unsound.
const MAX_SOUND: f64 = 1e10;

/// First value that is not finite or beyond the engine's range, with its index.
pub(crate) fn first_unsound(values: &[f64]) -> Option<(usize, f64)> {
    // the common case, without a branch per element
    let all_sound = values.iter().fold(true, |sound, v| sound & (v.abs() <= MAX_SOUND));
    if all_sound {
        return None;
    }
    values.iter().copied().enumerate().find(|(_, v)| v.is_nan() || v.abs() > MAX_SOUND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_put_on_one_line() {
        for (words, line) in [("", ""), ("a", "a"), ("a\nb\n", "a; b"), (" a \r\n\n  b", "a; b")] {
            assert_eq!(one_line(words), line, "{words:?}");
        }
    }

    #[test]
    fn unsound_values_are_found() {
        let check = |values: &[f64], index: Option<usize>| {
            assert_eq!(first_unsound(values).map(|(i, _)| i), index, "{values:?}");
        };
        check(&[], None);
        check(&[0.0, -1e10, 1e10, f64::MIN_POSITIVE], None);
        check(&[0.0, f64::NAN], Some(1));
        check(&[f64::NEG_INFINITY, f64::NAN], Some(0));
        check(&[1.0, 2.0, -1.1e10], Some(2));
    }

    #[test]
    fn our_own_panics_pass_through() {
        let ours = panic::catch_unwind(|| guarded(|| panic::resume_unwind(Box::new("ours"))));
        assert_eq!(ours.err().and_then(|p| p.downcast::<&str>().ok()).map(|p| *p), Some("ours"));
    }
}
