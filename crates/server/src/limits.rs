//! Limits on connections, queues, rates and waiting times.
//!
//! A limit that one module alone applies, such as the size of a file it reads, is a constant at the top of that module.
//! Limits on message sizes are in `wire`, those on models in `physics::limits`.

use std::time::Duration;

/// Commands that may wait for the sim thread. When it is full the sender loses.
pub const INBOX: usize = 65_536;
/// Answers and snapshots that may wait for one session. A session that lets it fill up is closed.
pub const SESSION_QUEUE: usize = 1_024;
/// Commands that the sim thread takes in between two ticks.
pub const COMMANDS_PER_TICK: usize = 8_192;
/// Entries in the journal of a recording before they are handed over, also while time stands still.
pub const JOURNAL: usize = 1_024;
/// Records that may wait for the disk. Beyond that the recording ends and the simulation goes on.
pub const RECORD_QUEUE: usize = 4_096;

/// Ticks that a session may have before it which would rather miss one than be late.
pub const UNFINISHED_TICKS: usize = 128;

/// Time of the sim thread that the commands of one session may take at once.
pub const COMMAND_TIME: Duration = Duration::from_millis(250);
/// And in the long run: one part in so many.
pub const COMMAND_SHARE: u32 = 4;

/// TCP connections in all.
pub const CONNECTIONS: usize = 256;
/// TCP connections from one address.
pub const CONNECTIONS_PER_ADDRESS: usize = 32;
/// Consoles of operators that are open at once, and of those who look on.
pub const BROWSERS: usize = 32;
/// A TCP peer has sent a whole message within this time of connecting.
pub const FIRST_MESSAGE: Duration = Duration::from_secs(5);
/// A message that may be left out is, when so many wait already. Pictures of a whole world are large.
pub const OPTIONAL_QUEUE: usize = 8;
/// Bytes that the system keeps for a TCP peer that is behind with reading. Left to itself, it would keep megabytes, and a
/// peer that has stopped would be found out after minutes.
pub const SEND_BUFFER: usize = 128 * 1024;
/// A TCP peer takes what is written to it within this time.
pub const WRITE: Duration = Duration::from_secs(30);
/// A TCP peer takes what is still in the queue within this time of the end of its session.
pub const LAST_WORDS: Duration = Duration::from_millis(500);
/// A TCP connection that was silent for this long is asked whether it is still there...
pub const KEEPALIVE: Duration = Duration::from_secs(10);
/// ...and again in such intervals; after nine without an answer it is closed.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
/// After a connection could not be accepted, the next is tried this much later.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Messages that may wait for a TCP peer to read them.
pub const WRITE_QUEUE: usize = 256;

/// Datagrams a second from one peer, on average.
pub const DATAGRAMS_PER_SECOND: f64 = 400_000.0;
/// Datagrams at once from one peer.
pub const DATAGRAM_BURST: f64 = 40_000.0;
/// One that makes the world do something counts as so many more.
pub const COMMAND_COST: f64 = 199.0;
/// Peers whose rate is remembered; beyond that the longest silent is forgotten.
pub const PEERS: usize = 4_096;
/// Largest datagram that UDP can carry.
pub const DATAGRAM: usize = 65_535;

/// Conversations in all.
pub const CONVERSATIONS: usize = 512;
/// Conversations with one address.
pub const CONVERSATIONS_PER_ADDRESS: usize = 256;
/// Notes of the reception that may wait for one conversation.
pub const CONVERSATION_REQUESTS: usize = 4;
/// Datagrams of one conversation that are taken before others get their turn.
pub const DATAGRAMS_IN_A_ROW: u32 = 16;
/// The thread of the conversations waits for the next datagram, and the sim thread for the next vote, without falling
/// asleep for this long.
pub const ALERT: Duration = Duration::from_micros(100);
/// An acknowledgement waits for the news that follows it for this long: one wake-up of the peer less.
pub const HELD: Duration = Duration::from_millis(1);
/// A greeting that comes again within this time after it began a conversation was doubled or late on its way; clients
/// repeat theirs until they have an answer.
pub const LATE_GREETING: Duration = Duration::from_secs(2);
/// All conversations can be ended this often.
pub const COMMUNICATION_RESET_INTERVAL: Duration = Duration::from_secs(1);

/// An OSP client confirms what it is told within this time; then it is told the next thing.
pub const CONFIRMATION: Duration = Duration::from_millis(100);
/// A request to reset that an OSP client sends again within this time, without a confirmation, is the same one.
pub const RESET_CONFIRMATION: Duration = Duration::from_secs(1);
/// Values that an OSP client may observe: as many as its buffer has room for.
pub const OBSERVED: usize = 256;
/// Searches of an OSP client that may wait.
pub const SEARCHES: usize = 8;
/// Longest regular expression, in bytes.
pub const EXPRESSION: usize = 1_024;
/// Datagrams of lists that may wait for an OSP client when it asks for the next list.
pub const LISTED: usize = 4_096;
/// Variables that an OSP client may read and write before the world answers.
pub const QUESTIONS: usize = 256;

/// How long lines of one peer of evolving robots are taken before others get their turn...
pub const EVO_TURN: Duration = Duration::from_millis(5);
/// ...and how many.
pub const EVO_LINES_PER_TURN: usize = 256;
/// Bytes that may wait for such a peer. While so many do, no more of its lines are taken.
pub const EVO_OUTPUT: usize = 256 * 1024;
/// Answers of such a peer that may wait for others in lockstep.
pub const EVO_HELD: usize = 4_096;
/// Individuals of a manager that may wait to be tested. While so many do, no more of its lines are taken.
pub const EVO_ORDERS: usize = 4_096;
/// Robots that were silent for too long are looked for this often.
pub const EVO_REAP_INTERVAL: Duration = Duration::from_secs(1);
/// A World Simulator accepts a connection within this time...
pub const EVO_CONNECT: Duration = Duration::from_secs(5);
/// ...and answers within this.
pub const EVO_ANSWER: Duration = Duration::from_secs(30);
/// A World Simulator that could not be reached is tried again after this time, which doubles with each failure...
pub const EVO_RECONNECT: Duration = Duration::from_millis(100);
/// ...up to this.
pub const EVO_RECONNECT_MOST: Duration = Duration::from_secs(5);
/// An individual whose world is lost so often in a row is given up.
pub const EVO_WORLD_ATTEMPTS: u32 = 5;

/// Commands that a browser may send at once, and a second in the long run.
pub const CONSOLE_COMMANDS: (f64, f64) = (400.0, 200.0);
/// So many bytes cost as much as a command.
pub const CONSOLE_COMMAND_BYTES: f64 = 4_096.0;
/// A flood is told so often that commands are left out.
pub const CONSOLE_LEFT_OUT: u32 = 16;
/// Variables that a browser may have shown all the time.
pub const CONSOLE_OBSERVED: usize = 64;
/// Variables that all browsers together may observe: the world reads each of them in every tick.
pub const CONSOLE_OBSERVED_TOGETHER: usize = 512;
/// Variables that a browser has listed at once.
pub const CONSOLE_LISTED: usize = 500;
/// Commands of a browser that wait for an answer of the world.
pub const CONSOLE_ASKED: usize = 512;
/// Frames of a film that a browser is sent at once.
pub const CONSOLE_FRAMES: usize = 250;
/// Longest name of an agent that is followed, in bytes.
pub const CONSOLE_NAME: usize = 256;
/// Longest text that is said at once, in bytes: as in the protocol.
pub const CONSOLE_TEXT: usize = 60_000;
/// Things that a browser may have done at once that take time.
pub const CONSOLE_JOBS: usize = 16;
/// And all browsers together.
pub const CONSOLE_JOBS_TOGETHER: usize = 8;
/// How long whoever looks for faces may take to give one a name.
pub const CONSOLE_NAMING: Duration = Duration::from_secs(5);
/// Most keys of the desk.
pub const DESK_KEYS: usize = 64;
/// Longest key of the desk, in bytes.
pub const DESK_KEY: usize = 64;
/// Longest value of the desk, in bytes of JSON.
pub const DESK_VALUE: usize = 64 * 1024;

/// Time from the wish to stop to the end of the process.
pub const SHUTDOWN: Duration = Duration::from_secs(2);
/// Refusals on one socket that are logged in an interval, each with its reason; the others are counted...
pub const LOGGED_REFUSALS: usize = 20;
/// ...and this is the interval. Faults of the simulation are logged once in it.
pub const LOG_INTERVAL: Duration = Duration::from_secs(1);
