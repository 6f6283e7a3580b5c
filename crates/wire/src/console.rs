//! The web console's protocol: JSON in text frames; poses, pictures and sound in binary frames, over one WebSocket.
//!
//! `docs/console-api.md` documents it for authors of other tools. The console's TypeScript types
//! (`console/src/api/generated.ts`) are generated from the types in this module: run `scripts/generate-console-types`
//! after changing them. Unlike the other protocols, this one may grow: receivers ignore fields and messages that they do
//! not know, and the server refuses unknown commands.

mod command;
mod frame;
mod message;
#[cfg(test)]
mod typescript;

pub use self::{
    command::{Command, NewRun, PuppetCommand, Request, Rival, Side, SimulatorSettings, Topic},
    frame::{BODY_BYTES, Frame, POSES_HEADER, Pose, encode_poses},
    message::*,
};

/// Version of the protocol; incompatible changes increment it.
pub const API: u32 = 1;
/// Longest command, in bytes.
pub const MAX_COMMAND: usize = 256 * 1024;
