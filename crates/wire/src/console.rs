//! The console's own words: JSON in text frames, poses, pictures and sound in binary ones, over one WebSocket.
//!
//! `docs/console-api.md` describes them for people who write tools of their own; `console/src/api.ts` says the same for
//! the browser. Unlike the other protocols this one is ours, and may grow: whoever reads a message ignores what it does
//! not know, and a command that is not known is refused.

mod command;
mod frame;
mod message;

pub use self::{
    command::{Command, NewRun, PuppetCommand, Request, Side, Topic},
    frame::{BODY_BYTES, Frame, POSES_HEADER, Pose, encode_poses},
    message::*,
};

/// Version of these words.
pub const API: u32 = 1;
/// Longest command, in bytes.
pub const MAX_COMMAND: usize = 256 * 1024;
