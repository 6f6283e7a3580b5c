//! What the console starts and reads beside the world: evolutionary runs, a demo game, films of recordings and logs.
//!
//! Nothing here touches the running world but the kick-off of the demo game, which goes through a session like
//! everybody's. Every error is a sentence for a person.

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

/// Longest name of a run or a film, in bytes.
pub const MAX_NAME: usize = 100;

/// Whether a name that somebody sent is one of a file or folder right here, and of nothing else.
fn is_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('.') && name.chars().all(is_plain)
}

/// The name, or why it is none.
fn checked_name(name: &str) -> Result<&str, String> {
    is_name(name).then_some(name).ok_or_else(|| {
        format!("this is no name: one has letters, digits, `.`, `_` and `-`, {MAX_NAME} at most, and no dot in front")
    })
}

/// Waits for the end of a process of ours, without taking note of it: until somebody does, its number stays its own, so
/// that no signal can reach another one.
fn wait_for(process: u32) {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return };
    while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
        .is_err_and(|error| error == Errno::INTR)
    {}
}
