//! Jobs that the console starts: evolutionary runs, a demo game, and playbacks of recordings and logs.
//!
//! They do not touch the running world, except for the demo's kick-off, which goes through an ordinary session. Every
//! error is human-readable text.

pub mod demo;
pub mod playbacks;
pub mod runs;
#[cfg(test)]
mod testing;

pub use self::{
    demo::Demo,
    playbacks::{OpenPlayback, Playbacks},
    runs::Runs,
};

use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};

/// Longest name of a run or a playback, in bytes.
pub const MAX_NAME: usize = 100;

/// Whether a name sent by a client names a visible file or directory directly inside its folder.
fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('.') && name.chars().all(is_plain)
}

fn checked_name(name: &str) -> Result<&str, String> {
    is_name(name).then_some(name).ok_or_else(|| {
        format!("invalid name: use 1 to {MAX_NAME} letters, digits, `.`, `_` and `-`, not starting with a dot")
    })
}

/// Waits for a child process to exit, without reaping it: its id is not reused until then, so no signal can reach another
/// process.
fn wait_for(process: u32) {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .is_err_and(|error| error == Errno::INTR)
    {}
}
