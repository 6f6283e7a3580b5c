//! Limits of the sessions: how much one peer may ask for at once. Limits of sockets, queues and threads are in
//! `server::limits`, those of models in `physics::limits`.

use std::time::Duration;

/// Messages that may be queued for a stream peer; a peer that lets the queue fill up is dropped. Sessions send far fewer
/// at once.
pub const WRITE_QUEUE: usize = 256;
/// A droppable message is dropped when this many messages are queued for the peer. Images of a whole world are large.
pub const DROPPABLE_QUEUE: usize = 8;

/// Messages of one stream peer that are handled before other peers are served.
pub const MESSAGES_PER_TURN: usize = 16;
/// A turn of a stream peer also ends when its replies reach this many bytes.
pub const BYTES_PER_TURN: usize = 256 * 1024;
/// Complete updates that a soccer monitor may request at once, and per second in the long run.
pub const FULL_UPDATES: (f64, f64) = (16.0, 10.0);

/// An OSP client confirms a message within this time; then it is sent the next one.
pub const CONFIRMATION: Duration = Duration::from_millis(100);
/// A reset request that an OSP client repeats within this time, without a confirmation, is the same one.
pub const RESET_CONFIRMATION: Duration = Duration::from_secs(1);
/// Values that an OSP client may observe: as many as its buffer has room for.
pub const OBSERVED: usize = 256;
/// Pending searches of an OSP client.
pub const SEARCHES: usize = 8;
/// Longest regular expression, in bytes.
pub const EXPRESSION: usize = 1_024;
/// Matches of a regular expression that are listed.
pub const MATCHES: usize = 10_000;
/// Work of the searches of one OSP client that is done at once, and per second in the long run. The unit is one state of an
/// expression compared with one character.
pub const SEARCH_WORK: (f64, f64) = (16e6, 16e6);
/// The same for all OSP clients together.
pub const SEARCH_WORK_TOGETHER: (f64, f64) = (48e6, 48e6);
/// List datagrams that may be queued for an OSP client when it asks for the next list.
pub const LISTED: usize = 4_096;
/// Reads and writes of an OSP client that may wait for the world's answer.
pub const QUESTIONS: usize = 256;

/// How long lines of one evo peer are handled before other peers are served.
pub const EVO_TURN: Duration = Duration::from_millis(5);
/// How many lines of one evo peer are handled before other peers are served.
pub const EVO_LINES_PER_TURN: usize = 256;
/// Output bytes that may be queued for an evo peer. No more of its lines are handled while there are as many.
pub const EVO_OUTPUT: usize = 256 * 1024;
/// Answers to an evo peer that may wait for other robots in lockstep.
pub const EVO_HELD: usize = 4_096;
/// Individuals of a Population Manager that may wait for their evaluation. No more of its lines are handled while there
/// are as many.
pub const EVO_EVALUATIONS: usize = 4_096;

/// Commands that a console client may send at once, and per second in the long run.
pub const CONSOLE_COMMANDS: (f64, f64) = (400.0, 200.0);
/// This many bytes cost as much as one command.
pub const CONSOLE_COMMAND_BYTES: f64 = 4_096.0;
/// Refusals sent to a console client that floods the server; the rest is dropped silently.
pub const CONSOLE_FLOOD_REFUSALS: u32 = 16;
/// Variables that a console client may observe.
pub const CONSOLE_OBSERVED: usize = 64;
/// Variables that all console clients together may observe: the world reads each of them in every tick.
pub const CONSOLE_OBSERVED_TOGETHER: usize = 512;
/// Entries in one variable listing.
pub const CONSOLE_LISTED: usize = 500;
/// Commands of a console client that may wait for the world's answer.
pub const CONSOLE_ASKED: usize = 512;
/// Playback frames sent for one request.
pub const CONSOLE_FRAMES: usize = 250;
/// Longest name of a followed agent, in bytes.
pub const CONSOLE_NAME: usize = 256;
/// Longest text to speak, in bytes, as in Oz.
pub const CONSOLE_TEXT: usize = 60_000;
