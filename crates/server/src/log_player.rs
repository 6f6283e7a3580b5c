//! Plays a soccer log to monitors, as if the game were on.
//!
//! Playing starts with the first monitor. One that connects later is sent the last full update and all differential ones
//! since.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    fs::File,
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream, tcp::OwnedWriteHalf},
    sync::{broadcast, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};
use wire::{
    Message, StreamMessage,
    soccer::{Command, MAX_UPDATE_FRAME, MonitorRequest},
};

use crate::{
    access::AllowList,
    driver::{
        admission::{Admission, Permit},
        connections::accept,
    },
    limits,
};

/// Updates that may wait for a monitor before it is dropped.
const MONITOR_QUEUE: usize = 256;
/// A longer gap in the time of a log, in seconds, or a negative one, is skipped: another game starts.
const LONGEST_GAP: f64 = 10.0;
/// Updates since the last full one that are kept for monitors that connect later.
const MAX_SCENE: usize = 4_096;
const PROTOCOL: &str = "soccer log";

/// Why a log cannot be played.
#[derive(Debug, thiserror::Error)]
pub enum LogPlayerError {
    /// The file could not be opened or read.
    #[error("cannot read the log {path}: {cause}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system reported.
        cause: io::Error,
    },
    /// A line is not an update.
    #[error("{path}, line {line}: not a line of a soccer log, which starts with `((RSMP`")]
    Line {
        /// The file.
        path: PathBuf,
        /// Its number, from 1.
        line: usize,
    },
    /// The file is empty, or ends within its first line.
    #[error("{path} has no complete line")]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

/// A message to monitors with its length prefix.
type Frame = Arc<[u8]>;

/// A line of a log.
#[derive(Clone, Debug, PartialEq)]
struct Update {
    /// Game time, in seconds.
    time: f64,
    /// Whether it holds the whole scene rather than the differences to the last one.
    is_full: bool,
    frame: Frame,
}

impl Update {
    /// Parses a line; `None` if it is not an update.
    fn from_line(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if !line.starts_with("((RSMP") || line.len() > MAX_UPDATE_FRAME {
            return None;
        }
        let (_, time) = line.split_once("((gt 1 0)")?;
        let time: f64 = time.split_once(')')?.0.trim().parse().ok()?;
        let mut frame = (line.len() as u32).to_be_bytes().to_vec();
        frame.extend_from_slice(line.as_bytes());
        time.is_finite().then(|| Self { time, is_full: line.contains("((sg 1 0)full"), frame: frame.into() })
    }
}

/// A log that is being read.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    reader: BufReader<File>,
    /// Lines read so far.
    lines: usize,
}

impl Log {
    async fn open(path: &Path) -> Result<Self, LogPlayerError> {
        let path = path.to_owned();
        match File::open(&path).await {
            Ok(file) => Ok(Self { path, reader: BufReader::new(file), lines: 0 }),
            Err(cause) => Err(LogPlayerError::Read { path, cause }),
        }
    }

    /// The next update; `None` at the end of the file.
    async fn next(&mut self) -> Result<Option<Update>, LogPlayerError> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(MAX_UPDATE_FRAME as u64 + 2);
        if let Err(cause) = limited.read_until(b'\n', &mut line).await {
            return Err(LogPlayerError::Read { path: self.path.clone(), cause });
        }
        self.lines += 1;
        let update = std::str::from_utf8(&line).ok().and_then(Update::from_line);
        // the program that wrote the log may have been stopped in the middle of its last line
        let is_cut = !line.ends_with(b"\n") && line.len() <= MAX_UPDATE_FRAME;
        match update {
            _ if is_cut => Ok(None),
            Some(update) => Ok(Some(update)),
            None => Err(LogPlayerError::Line { path: self.path.clone(), line: self.lines }),
        }
    }

    /// The next update; skips lines that are none.
    async fn next_valid(&mut self) -> Result<Option<Update>, LogPlayerError> {
        loop {
            match self.next().await {
                Err(error @ LogPlayerError::Line { .. }) => warn!("line skipped: {error}"),
                next => return next,
            }
        }
    }
}

/// What all monitors share.
#[derive(Debug)]
struct Feed {
    /// The last full update and all since.
    scene: Mutex<Vec<Frame>>,
    updates: broadcast::Sender<Frame>,
    /// Whether a monitor has connected yet.
    is_started: watch::Sender<bool>,
    is_paused: watch::Sender<bool>,
}

impl Feed {
    fn new() -> Self {
        let (updates, _) = broadcast::channel(MONITOR_QUEUE);
        let (is_started, is_paused) = (watch::Sender::new(false), watch::Sender::new(false));
        Self { scene: Mutex::new(Vec::new()), updates, is_started, is_paused }
    }

    fn publish(&self, update: &Update) {
        let mut scene = self.scene.lock();
        if update.is_full {
            scene.clear();
        }
        // without a full update before it, a differential one is useless to a monitor that connects later
        if !scene.is_empty() || update.is_full {
            scene.push(Arc::clone(&update.frame));
        }
        if scene.len() > MAX_SCENE {
            scene.clear();
        }
        // fails if no monitor is connected
        let _ = self.updates.send(Arc::clone(&update.frame));
    }

    /// The current scene, and the updates that follow it.
    fn subscribe(&self) -> (Vec<Frame>, broadcast::Receiver<Frame>) {
        let scene = self.scene.lock();
        self.is_started.send_replace(true);
        (scene.clone(), self.updates.subscribe())
    }
}

/// Plays one log.
#[derive(Debug)]
pub struct LogPlayer {
    log: Log,
    first: Update,
    /// Seconds of game time per second.
    speed: f64,
    feed: Arc<Feed>,
}

impl LogPlayer {
    /// Opens a log and reads its first update; `speed` is in seconds of game time per second.
    ///
    /// # Errors
    /// If the file cannot be read, is empty, or is not a soccer log.
    pub async fn open(path: &Path, speed: f64) -> Result<Self, LogPlayerError> {
        let mut log = Log::open(path).await?;
        let first = log.next().await?.ok_or_else(|| LogPlayerError::Empty { path: path.to_owned() })?;
        Ok(Self { log, first, speed, feed: Arc::new(Feed::new()) })
    }

    /// Serves monitors until `stop` is cancelled. After the end of the log they stay connected.
    ///
    /// # Errors
    /// If reading the log fails.
    pub async fn run(
        self,
        listener: TcpListener,
        allow: AllowList,
        stop: CancellationToken,
    ) -> Result<(), LogPlayerError> {
        let feed = Arc::clone(&self.feed);
        let watching = {
            let stopping = stop.clone();
            let serve = move |stream: TcpStream, peer: SocketAddr, permit: Permit| {
                let (feed, stop) = (Arc::clone(&feed), stopping.clone());
                Ok(async move {
                    let reason = tokio::select! {
                        reason = serve_monitor(stream, &feed, stop) => reason,
                        eviction = permit.evicted() => eviction.to_string(),
                    };
                    info!(protocol = PROTOCOL, %peer, "closed: {reason}");
                })
            };
            let stop = stop.clone();
            async move { accept(listener, Admission::default().endpoint(PROTOCOL), &allow, stop, serve).await }
        };
        let playing = async {
            self.play().await?;
            stop.cancelled().await;
            Ok(())
        };
        tokio::pin!(watching);
        tokio::select! {
            played = playing => played,
            () = &mut watching => Ok(()),
        }
    }

    async fn play(mut self) -> Result<(), LogPlayerError> {
        let mut is_started = self.feed.is_started.subscribe();
        // cannot fail: `self` owns the sender
        let _ = is_started.wait_for(|is_started| *is_started).await;
        let mut due = Instant::now();
        let mut update = self.first.clone();
        loop {
            due = self.wait(due).await;
            self.feed.publish(&update);
            let Some(next) = self.log.next_valid().await? else {
                info!("end of the log; press ctrl-C to exit");
                return Ok(());
            };
            due += gap(update.time, next.time, self.speed);
            update = next;
        }
    }

    /// Waits until `due`, and while paused. Returns the time from which the next update is due.
    async fn wait(&self, due: Instant) -> Instant {
        sleep_until(due).await;
        let mut is_paused = self.feed.is_paused.subscribe();
        if !*is_paused.borrow_and_update() {
            return due;
        }
        let _ = is_paused.wait_for(|is_paused| !is_paused).await;
        Instant::now()
    }
}

/// How long to wait between two updates.
fn gap(before: f64, after: f64, speed: f64) -> Duration {
    let seconds = after - before;
    let seconds = if (0.0..=LONGEST_GAP).contains(&seconds) { seconds } else { 0.0 };
    Duration::try_from_secs_f64(seconds / speed).unwrap_or_default()
}

/// Sends the log to one monitor until either side ends the connection. Returns the reason.
async fn serve_monitor(stream: TcpStream, feed: &Feed, stop: CancellationToken) -> String {
    let (mut reading, mut writing) = stream.into_split();
    let (mut buffer, mut chunk) = (Vec::new(), vec![0; 4096]);
    let (scene, mut updates) = feed.subscribe();
    if let Err(error) = send(&mut writing, &scene).await {
        return format!("writing: {error}");
    }
    loop {
        tokio::select! {
            () = stop.cancelled() => return "server stopping".to_owned(),
            received = reading.read(&mut chunk) => match received {
                Ok(0) => return "closed by the monitor".to_owned(),
                Ok(length) => {
                    buffer.extend_from_slice(chunk.get(..length).unwrap_or_default());
                    if let Err(reason) = apply_requests(&mut buffer, feed) {
                        return reason;
                    }
                }
                Err(error) => return format!("reading: {error}"),
            },
            update = updates.recv() => match update {
                Ok(update) => if let Err(error) = send(&mut writing, &[update]).await {
                    return format!("writing: {error}");
                },
                Err(broadcast::error::RecvError::Lagged(_)) => return "send queue full".to_owned(),
                Err(broadcast::error::RecvError::Closed) => return "end of the log".to_owned(),
            },
        }
    }
}

async fn send(writing: &mut OwnedWriteHalf, frames: &[Frame]) -> io::Result<()> {
    for frame in frames {
        timeout(limits::WRITE_TIMEOUT, writing.write_all(frame)).await??;
    }
    Ok(())
}

/// Applies the requests that a log supports: pause and resume.
fn apply_requests(buffer: &mut Vec<u8>, feed: &Feed) -> Result<(), String> {
    while let Some(split) = MonitorRequest::split(buffer).map_err(|error| error.to_string())? {
        let request = MonitorRequest::decode(buffer.get(split.message).unwrap_or_default());
        buffer.drain(..split.consumed.min(buffer.len()));
        for command in request.map(|request| request.commands).unwrap_or_default() {
            match command {
                Command::Pause => _ = feed.is_paused.send_replace(true),
                Command::Resume => _ = feed.is_paused.send_replace(false),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
