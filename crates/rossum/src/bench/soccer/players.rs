//! The load: scripted players, all on one thread, which answer every perception without parsing it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};
use wire::{StreamMessage, soccer::Perception};

use super::{super::now, script::PlayerScript};

/// Time limit of a join, sufficient for the last of many in the reference.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Time limit of a server's start.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A player's connection.
pub(super) struct Player {
    stream: TcpStream,
    script: PlayerScript,
    /// Received bytes, starting with the last frame returned.
    buffer: Vec<u8>,
    consumed: usize,
    frame: std::ops::Range<usize>,
    answers: usize,
    /// Frames so far.
    pub(super) frames: usize,
    /// Frames with vision so far.
    pub(super) seeing: usize,
}

impl Player {
    /// Connects to a server, retrying until it has started.
    pub(super) fn connect(address: SocketAddr, script: PlayerScript) -> anyhow::Result<Self> {
        let begin = now();
        let stream = loop {
            match TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(error) if now().duration_since(begin) > START_TIMEOUT => {
                    return Err(error).with_context(|| format!("no server at {address} after {START_TIMEOUT:?}"));
                }
                Err(_) => pause(Duration::from_millis(20)),
            }
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self { stream, script, buffer: Vec::new(), consumed: 0, frame: 0..0, answers: 0, frames: 0, seeing: 0 })
    }

    /// Requests to join.
    pub(super) fn init(&mut self) -> anyhow::Result<()> {
        Ok(self.stream.write_all(self.script.init())?)
    }

    /// Waits for the next frame.
    pub(super) fn receive(&mut self) -> anyhow::Result<()> {
        const CHUNK: usize = 16 * 1024;
        self.buffer.drain(..self.consumed);
        self.consumed = 0;
        let split = loop {
            if let Some(split) = Perception::split(&self.buffer)? {
                break split;
            }
            let begin = self.buffer.len();
            self.buffer.resize(begin + CHUNK, 0);
            let read = self.stream.read(self.buffer.get_mut(begin..).unwrap_or_default());
            self.buffer.truncate(begin + read.as_ref().map_or(0, |length| *length));
            ensure!(read.context("no message from the server")? > 0, "the server has closed a player's connection");
        };
        (self.consumed, self.frame) = (split.consumed, split.message);
        self.frames += 1;
        self.seeing += usize::from(contains(self.frame(), b"(See "));
        Ok(())
    }

    /// The last frame.
    pub(super) fn frame(&self) -> &[u8] {
        self.buffer.get(self.frame.clone()).unwrap_or_default()
    }

    pub(super) fn restart_script(&mut self) {
        self.answers = 0;
    }

    pub(super) fn answer(&mut self) -> anyhow::Result<()> {
        self.stream.write_all(self.script.answer(self.answers))?;
        self.answers += 1;
        Ok(())
    }

    /// Whether a frame has arrived or arrives within this time.
    pub(super) fn has_frame(&self, within: Duration) -> anyhow::Result<bool> {
        Ok(matches!(Perception::split(self.buffer.get(self.consumed..).unwrap_or_default()), Ok(Some(_)))
            || wait_for(&[&self.stream], within)?.contains(&0))
    }

    /// The encoded time of the last frame, which identifies the cycle.
    fn cycle_time(&self) -> &[u8] {
        let frame = self.frame();
        let end = frame.iter().position(|byte| *byte == b')').unwrap_or(0);
        frame.get(..end).unwrap_or_default()
    }

    /// Height of the torso in the last frame, in m.
    pub(super) fn height(&self) -> Option<f64> {
        let text = std::str::from_utf8(self.frame()).ok()?;
        let (_, rest) = text.split_once("(n torso_pos) (p ")?;
        rest.split_once(')')?.0.rsplit(' ').next()?.parse().ok()
    }
}

/// The players of a game.
#[derive(Default)]
pub(super) struct Players(pub(super) Vec<Player>);

impl Players {
    /// Lets another player join while the others keep playing, and waits for its first perception.
    pub(super) fn join(&mut self, mut player: Player) -> anyhow::Result<()> {
        player.init()?;
        self.0.push(player);
        self.play_until_all_have(1)
    }

    /// All players answer perceptions in any order, until each has had this number of frames and all are in the same
    /// cycle.
    pub(super) fn play_until_all_have(&mut self, frames: usize) -> anyhow::Result<()> {
        let deadline = now() + TIMEOUT;
        while self.0.iter().any(|player| player.frames < frames) || !self.are_in_same_cycle() {
            ensure!(now() < deadline, "players did not join within {TIMEOUT:?}");
            self.answer_ready(|_, _| {})?;
        }
        Ok(())
    }

    /// Waits for perceptions and answers them. `arrived` receives the player's index and the time.
    pub(super) fn answer_ready(&mut self, mut arrived: impl FnMut(usize, Instant)) -> anyhow::Result<()> {
        let streams: Vec<_> = self.0.iter().map(|player| &player.stream).collect();
        let ready = wait_for(&streams, Duration::from_secs(1))?;
        let at = now();
        for index in ready {
            let Some(player) = self.0.get_mut(index) else { bail!("no such player") };
            player.receive()?;
            player.answer()?;
            arrived(index, at);
            while player.has_frame(Duration::ZERO)? {
                player.receive()?;
                player.answer()?;
                arrived(index, now());
            }
        }
        Ok(())
    }

    /// One cycle of sync mode: all players receive a perception and answer it, one after the other.
    pub(super) fn cycle(&mut self) -> anyhow::Result<()> {
        for player in &mut self.0 {
            player.receive()?;
            player.answer()?;
        }
        Ok(())
    }

    fn are_in_same_cycle(&self) -> bool {
        self.0.windows(2).all(|pair| matches!(pair, [one, other] if one.cycle_time() == other.cycle_time()))
    }
}

/// Indices of the streams that are readable, now or within a time.
fn wait_for(streams: &[&TcpStream], within: Duration) -> anyhow::Result<Vec<usize>> {
    let mut polled: Vec<_> = streams.iter().map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
    let within = Timespec::try_from(within)?;
    match poll(&mut polled, Some(&within)) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = polled.iter().enumerate().filter(|(_, polled)| !polled.revents().is_empty());
    Ok(ready.map(|(index, _)| index).collect())
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[expect(clippy::disallowed_methods, reason = "other programs do not signal readiness")]
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
