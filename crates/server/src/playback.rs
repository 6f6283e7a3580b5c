//! Plays a soccer log to monitors, as if its game were on.
//!
//! The log waits for the first monitor. One that comes later gets the last whole picture and all changes since.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

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
    driver::stream::{Doors, accept},
    limits,
};

/// Pictures that a monitor may be behind.
const BEHIND: usize = 256;
/// A gap in the log's time that is longer, or goes back, is none: another game begins.
const LONGEST_GAP: f64 = 10.0;
/// Pictures that somebody who comes later is shown at most.
const MOST_SHOWN: usize = 4_096;
const PROTOCOL: &str = "soccer log";

/// Why a log is not played.
#[derive(Debug, thiserror::Error)]
pub enum PlaybackError {
    /// The file could not be read.
    #[error("cannot read the log {path}: {cause}")]
    Read {
        /// Where.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// A line is no picture of a game.
    #[error("{path}, line {line}: this is no line of a soccer log; each begins with `((RSMP`")]
    Line {
        /// Where.
        path: PathBuf,
        /// Which, from 1.
        line: usize,
    },
    /// The file has nothing in it.
    #[error("{path} has no whole line")]
    Empty {
        /// Where.
        path: PathBuf,
    },
}

/// A message to monitors, length and all.
type Frame = Arc<[u8]>;

/// One picture of a log, as monitors are sent it.
#[derive(Clone, Debug, PartialEq)]
struct Picture {
    /// The time in its game, in s.
    time: f64,
    /// Whether it is a whole one.
    whole: bool,
    frame: Frame,
}

impl Picture {
    /// Reads a line; none if it is no picture.
    fn from_line(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if !line.starts_with("((RSMP") || line.len() > MAX_UPDATE_FRAME {
            return None;
        }
        let (_, time) = line.split_once("((gt 1 0)")?;
        let time: f64 = time.split_once(')')?.0.trim().parse().ok()?;
        let mut frame = (line.len() as u32).to_be_bytes().to_vec();
        frame.extend_from_slice(line.as_bytes());
        time.is_finite().then(|| Self { time, whole: line.contains("((sg 1 0)full"), frame: frame.into() })
    }
}

/// A file of pictures.
#[derive(Debug)]
struct Log {
    path: PathBuf,
    reader: BufReader<File>,
    /// Lines read so far.
    lines: usize,
}

impl Log {
    async fn open(path: &Path) -> Result<Self, PlaybackError> {
        let path = path.to_owned();
        match File::open(&path).await {
            Ok(file) => Ok(Self { path, reader: BufReader::new(file), lines: 0 }),
            Err(cause) => Err(PlaybackError::Read { path, cause }),
        }
    }

    /// The next picture; none at the end.
    async fn next(&mut self) -> Result<Option<Picture>, PlaybackError> {
        let mut line = Vec::new();
        let mut limited = (&mut self.reader).take(MAX_UPDATE_FRAME as u64 + 2);
        if let Err(cause) = limited.read_until(b'\n', &mut line).await {
            return Err(PlaybackError::Read { path: self.path.clone(), cause });
        }
        self.lines += 1;
        let picture = std::str::from_utf8(&line).ok().and_then(Picture::from_line);
        // whoever wrote the log may not have come to the end of its last line
        let is_cut = !line.ends_with(b"\n") && line.len() <= MAX_UPDATE_FRAME;
        match picture {
            _ if is_cut => Ok(None),
            Some(picture) => Ok(Some(picture)),
            None => Err(PlaybackError::Line { path: self.path.clone(), line: self.lines }),
        }
    }

    /// The next picture, whatever is between; none at the end.
    async fn next_good(&mut self) -> Result<Option<Picture>, PlaybackError> {
        loop {
            match self.next().await {
                Err(error @ PlaybackError::Line { .. }) => warn!("passed over: {error}"),
                next => return next,
            }
        }
    }
}

/// What monitors see, and how they hold it up.
#[derive(Debug)]
struct Stage {
    /// The last whole picture and all since.
    shown: Mutex<Vec<Frame>>,
    news: broadcast::Sender<Frame>,
    /// Whether anybody has come yet.
    opened: watch::Sender<bool>,
    paused: watch::Sender<bool>,
}

impl Stage {
    fn new() -> Self {
        let (news, _) = broadcast::channel(BEHIND);
        let (opened, paused) = (watch::Sender::new(false), watch::Sender::new(false));
        Self { shown: Mutex::new(Vec::new()), news, opened, paused }
    }

    fn show(&self, picture: &Picture) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if picture.whole {
            shown.clear();
        }
        // changes without a whole picture before them are of no use to who comes later
        if !shown.is_empty() || picture.whole {
            shown.push(Arc::clone(&picture.frame));
        }
        if shown.len() > MOST_SHOWN {
            shown.clear();
        }
        // nobody may be watching
        let _ = self.news.send(Arc::clone(&picture.frame));
    }

    /// All there is to see now, and what follows.
    fn enter(&self) -> (Vec<Frame>, broadcast::Receiver<Frame>) {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        self.opened.send_replace(true);
        (shown.clone(), self.news.subscribe())
    }
}

/// A log that is being played.
#[derive(Debug)]
pub struct Playback {
    log: Log,
    first: Picture,
    /// How many seconds of the log pass in one.
    speed: f64,
    stage: Arc<Stage>,
}

impl Playback {
    /// Opens a log.
    ///
    /// # Errors
    /// When it cannot be read, is empty, or is no log.
    pub async fn open(path: &Path, speed: f64) -> Result<Self, PlaybackError> {
        let mut log = Log::open(path).await?;
        let first = log.next().await?.ok_or_else(|| PlaybackError::Empty { path: path.to_owned() })?;
        Ok(Self { log, first, speed, stage: Arc::new(Stage::new()) })
    }

    /// Lets monitors watch, until the server stops. At the end of the log they keep its last picture.
    ///
    /// # Errors
    /// When the log cannot be read any further.
    pub async fn run(
        self,
        listener: TcpListener,
        allow: AllowList,
        stop: CancellationToken,
    ) -> Result<(), PlaybackError> {
        let stage = Arc::clone(&self.stage);
        let watching = {
            let stopping = stop.clone();
            let serve = move |stream: TcpStream, peer: SocketAddr| {
                let (stage, stop) = (Arc::clone(&stage), stopping.clone());
                Ok(async move {
                    let reason = watch(stream, &stage, stop).await;
                    info!(protocol = PROTOCOL, %peer, "closed: {reason}");
                })
            };
            let stop = stop.clone();
            async move { accept(listener, PROTOCOL, &allow, &Doors::default(), stop, serve).await }
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

    async fn play(mut self) -> Result<(), PlaybackError> {
        let mut opened = self.stage.opened.subscribe();
        // the stage is ours: its sender does not go before this ends
        let _ = opened.wait_for(|opened| *opened).await;
        let mut due = Instant::now();
        let mut picture = self.first.clone();
        loop {
            due = self.wait(due).await;
            self.stage.show(&picture);
            let Some(next) = self.log.next_good().await? else {
                info!("the log is over; ctrl-C ends");
                return Ok(());
            };
            due += gap(picture.time, next.time, self.speed);
            picture = next;
        }
    }

    /// Waits until it is time, and as long as it is held up; says when that was.
    async fn wait(&self, due: Instant) -> Instant {
        sleep_until(due).await;
        let mut paused = self.stage.paused.subscribe();
        if !*paused.borrow_and_update() {
            return due;
        }
        let _ = paused.wait_for(|paused| !paused).await;
        Instant::now()
    }
}

/// How long to wait between two pictures.
fn gap(before: f64, after: f64, speed: f64) -> Duration {
    let seconds = after - before;
    let seconds = if (0.0..=LONGEST_GAP).contains(&seconds) { seconds } else { 0.0 };
    Duration::try_from_secs_f64(seconds / speed).unwrap_or_default()
}

/// Shows the log to one monitor, until one side ends it; says why.
async fn watch(stream: TcpStream, stage: &Stage, stop: CancellationToken) -> String {
    let (mut reading, mut writing) = stream.into_split();
    let (mut buffer, mut chunk) = (Vec::new(), vec![0; 4096]);
    let (shown, mut news) = stage.enter();
    if let Err(error) = send(&mut writing, &shown).await {
        return format!("writing: {error}");
    }
    loop {
        tokio::select! {
            () = stop.cancelled() => return "the server stops".to_owned(),
            received = reading.read(&mut chunk) => match received {
                Ok(0) => return "the monitor left".to_owned(),
                Ok(length) => {
                    buffer.extend_from_slice(chunk.get(..length).unwrap_or_default());
                    if let Err(reason) = obey(&mut buffer, stage) {
                        return reason;
                    }
                }
                Err(error) => return format!("reading: {error}"),
            },
            picture = news.recv() => match picture {
                Ok(picture) => if let Err(error) = send(&mut writing, &[picture]).await {
                    return format!("writing: {error}");
                },
                Err(broadcast::error::RecvError::Lagged(_)) => return "the monitor does not read".to_owned(),
                Err(broadcast::error::RecvError::Closed) => return "the log is over".to_owned(),
            },
        }
    }
}

async fn send(writing: &mut OwnedWriteHalf, frames: &[Frame]) -> io::Result<()> {
    for frame in frames {
        timeout(limits::WRITE, writing.write_all(frame)).await??;
    }
    Ok(())
}

/// Carries out what makes sense for a game that was: to stop its time and let it go on.
fn obey(buffer: &mut Vec<u8>, stage: &Stage) -> Result<(), String> {
    while let Some(split) = MonitorRequest::split(buffer).map_err(|error| error.to_string())? {
        let request = MonitorRequest::decode(buffer.get(split.message).unwrap_or_default());
        buffer.drain(..split.consumed.min(buffer.len()));
        for command in request.map(|request| request.commands).unwrap_or_default() {
            match command {
                Command::Pause => _ = stage.paused.send_replace(true),
                Command::Resume => _ = stage.paused.send_replace(false),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
