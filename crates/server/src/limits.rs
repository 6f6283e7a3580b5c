//! Limits of sockets, queues and threads. Those of sessions are in `session::limits`, those of message sizes in `wire`
//! and those of models in `physics::limits`.
//!
//! A limit that one module alone applies, such as the size of a file it reads, is a constant at the top of that module.

use std::time::Duration;

/// Commands that may be queued for the sim thread. A session that sends to the full queue is closed.
pub const INBOX: usize = 65_536;
/// Answers and snapshots that may be queued for one session. A session that lets the queue fill up is closed.
pub const SESSION_QUEUE: usize = 1_024;
/// Commands that the sim thread handles between two ticks.
pub const COMMANDS_PER_TICK: usize = 8_192;
/// Journal entries after which they are handed to the recording, even if no tick runs.
pub const JOURNAL: usize = 1_024;
/// Records that may be queued for the disk. When the queue is full the recording ends and the simulation continues.
pub const RECORD_QUEUE: usize = 4_096;

/// Ticks that may be queued for a session that prefers skipping ticks to falling behind.
pub const UNFINISHED_TICKS: usize = 128;

/// Time on the sim thread that the commands of one session may take in a burst.
pub const COMMAND_TIME: Duration = Duration::from_millis(250);
/// In the long run, the commands of one session may take one part in this many of the sim thread's time.
pub const COMMAND_SHARE: u32 = 4;

/// TCP connections of all endpoints but the console's.
pub const CONNECTIONS: usize = 1_024;
/// TCP connections of one endpoint.
pub const CONNECTIONS_PER_ENDPOINT: usize = 256;
/// TCP connections of one endpoint from one source.
pub const CONNECTIONS_PER_SOURCE: usize = 128;
/// File descriptors that are left for files, threads, the console and the listening sockets.
pub const OTHER_DESCRIPTORS: usize = 256;
/// Bytes that all TCP connections together may hold: received and not handled yet, or queued and not sent yet.
pub const HELD_BYTES: usize = 128 * 1024 * 1024;
/// Bytes that a TCP connection may hold without being charged for them.
pub const FREE_BYTES: usize = 64 * 1024;
/// Open console connections per role: this many operators and as many viewers.
pub const CONSOLES_PER_ROLE: usize = 32;
/// A TCP peer that has not sent a complete message this long after connecting is dropped.
pub const FIRST_MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);
/// A TLS handshake that is not complete this long after the connection was accepted is given up.
pub const TLS_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
/// Size of a TCP send buffer, in bytes. The system's default is megabytes, which would hide a stalled peer for minutes.
pub const SEND_BUFFER: usize = 128 * 1024;
/// A TCP peer that does not accept a write within this time is dropped.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Time to flush the write queue of a TCP peer after its session has ended.
pub const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
/// Idle time of a TCP connection after which keep-alive probes are sent.
pub const KEEPALIVE: Duration = Duration::from_secs(10);
/// Interval of the keep-alive probes. A connection with nine unanswered probes is closed.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
/// A TCP connection whose peer does not acknowledge data within this time is closed. Keep-alive probes are not sent while
/// data is unacknowledged.
pub const UNACKNOWLEDGED: Duration = Duration::from_secs(28);
/// Pause after a failed `accept`.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Datagrams from one peer of a shared socket that has connected: at once, and per second in the long run.
pub const CONNECTED_DATAGRAMS: (f64, f64) = (40_000.0, 400_000.0);
/// The same for a peer that has not connected. Its address may be forged.
pub const UNCONNECTED_DATAGRAMS: (f64, f64) = (400.0, 2_000.0);
/// The same for all such peers of one source together.
pub const UNCONNECTED_DATAGRAMS_PER_SOURCE: (f64, f64) = (2_000.0, 8_000.0);
/// Additional cost of a connected peer's datagram that results in a command, in datagrams.
pub const COMMAND_COST: f64 = 199.0;
/// Peers whose rate is tracked. Beyond that the one idle for longest is forgotten.
pub const PEERS: usize = 4_096;
/// Largest UDP datagram, in bytes.
pub const MAX_DATAGRAM: usize = 65_535;

/// Conversations in total.
pub const CONVERSATIONS: usize = 512;
/// Conversations with one source.
pub const CONVERSATIONS_PER_SOURCE: usize = 256;
/// Conversations with one source in which the peer has sent nothing but its greeting, whose address may be forged.
pub const HALF_OPEN_CONVERSATIONS: usize = 64;
/// Conversations that peers of one source may begin: at once, and per second in the long run.
pub const GREETINGS: (f64, f64) = (1_024.0, 500.0);
/// A half-open conversation ends after this time.
pub const HALF_OPEN_TIMEOUT: Duration = Duration::from_secs(90);
/// A conversation whose peer the world does not wait for ends after this time without a datagram.
pub const IDLE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// How often such conversations are looked for.
pub const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Requests of the acceptor that may be queued for one conversation.
pub const CONVERSATION_REQUESTS: usize = 4;
/// Consecutive datagrams of one conversation before others are served.
pub const DATAGRAMS_IN_A_ROW: u32 = 16;
/// Time of the conversations' thread, in µs, that those conversations together may use which the world does not wait for,
/// while it waits for others: at once, and per second in the long run.
pub const UNNEEDED_TIME: (f64, f64) = (20_000.0, 15_000.0);
/// How long the conversations' thread spins for the next datagram, and the sim thread for the next vote, before it
/// sleeps.
pub const SPIN_TIME: Duration = Duration::from_micros(100);
/// How long an acknowledgement is held back to be sent together with the message that follows it, which saves the peer a
/// wake-up.
pub const REPLY_DELAY: Duration = Duration::from_millis(1);
/// A greeting repeated within this time of the first one is a duplicate or a delayed datagram. Clients repeat theirs
/// until they receive a reply.
pub const REPEATED_GREETING: Duration = Duration::from_secs(2);
/// Shortest time between two resets of all conversations.
pub const COMMUNICATION_RESET_INTERVAL: Duration = Duration::from_secs(1);

/// Interval at which idle evo robots are looked for.
pub const EVO_REAP_INTERVAL: Duration = Duration::from_secs(1);
/// Connections of a Robot Simulator to a World Simulator that answers one request at a time.
pub const EVO_CONNECTIONS_TO_WORLD: usize = 32;
/// Timeout for connecting to a World Simulator.
pub const EVO_CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for an answer of a World Simulator.
pub const EVO_ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// Delay before the first retry of a failed connection to a World Simulator. It doubles with each failure.
pub const EVO_RECONNECT_DELAY: Duration = Duration::from_millis(100);
/// Longest delay before a retry of a failed connection to a World Simulator.
pub const EVO_MAX_RECONNECT_DELAY: Duration = Duration::from_secs(5);
/// Attempts at evaluating an individual whose World Simulator fails every time.
pub const EVO_WORLD_ATTEMPTS: u32 = 5;

/// Jobs that one console connection may have running; fewer than all of its role, so that others have room.
pub const CONSOLE_JOBS: usize = 6;
/// Jobs that the console connections of one role together may have running: this many of operators and as many of viewers.
pub const CONSOLE_JOBS_PER_ROLE: usize = 8;
/// Interval at which the file of the tokens is checked for changes. Each request checks it as well.
pub const TOKEN_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Timeout for the face recognition to name a face.
pub const CONSOLE_NAMING_TIMEOUT: Duration = Duration::from_secs(5);
/// Saved items of the console.
pub const SAVED_ITEMS: usize = 64;
/// Longest key of a saved item, in bytes.
pub const SAVED_KEY: usize = 64;
/// Longest value of a saved item, in bytes of JSON.
pub const SAVED_VALUE: usize = 64 * 1024;

/// Time from a shutdown request to the end of the process.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Refusals logged individually per socket and [`LOG_INTERVAL`]. The rest is counted.
pub const LOGGED_REFUSALS: usize = 20;
/// Interval of the log's rate limits. Simulation faults are logged once per interval.
pub const LOG_INTERVAL: Duration = Duration::from_secs(1);
