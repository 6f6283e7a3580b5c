//! The load: scripted players, all on one thread, who answer whatever they are told and read none of it.

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

use super::{super::now, script::Part};

/// A robot joins within this time, also as the last of many in the reference.
const PATIENCE: Duration = Duration::from_secs(120);
/// A server listens this soon.
const START: Duration = Duration::from_secs(60);

/// One connection.
pub(super) struct Player {
    stream: TcpStream,
    part: Part,
    /// What has come; the first bytes are of the frame that was taken last.
    buffer: Vec<u8>,
    taken: usize,
    frame: std::ops::Range<usize>,
    answers: usize,
    /// Frames so far.
    pub(super) frames: usize,
    /// Frames with something seen in them so far.
    pub(super) seeing: usize,
}

impl Player {
    /// Connects to a server that may have to start first.
    pub(super) fn connect(address: SocketAddr, part: Part) -> anyhow::Result<Self> {
        let begin = now();
        let stream = loop {
            match TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(error) if now().duration_since(begin) > START => {
                    return Err(error).with_context(|| format!("nobody listens at {address} after {START:?}"));
                }
                Err(_) => pause(Duration::from_millis(20)),
            }
        };
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, part, buffer: Vec::new(), taken: 0, frame: 0..0, answers: 0, frames: 0, seeing: 0 })
    }

    /// Asks to play.
    pub(super) fn init(&mut self) -> anyhow::Result<()> {
        Ok(self.stream.write_all(self.part.init())?)
    }

    /// Waits for the next frame.
    pub(super) fn receive(&mut self) -> anyhow::Result<()> {
        const CHUNK: usize = 16 * 1024;
        self.buffer.drain(..self.taken);
        self.taken = 0;
        let split = loop {
            if let Some(split) = Perception::split(&self.buffer)? {
                break split;
            }
            let begin = self.buffer.len();
            self.buffer.resize(begin + CHUNK, 0);
            let read = self.stream.read(self.buffer.get_mut(begin..).unwrap_or_default());
            self.buffer.truncate(begin + read.as_ref().map_or(0, |length| *length));
            ensure!(read.context("the server says nothing")? > 0, "the server has closed a player's connection");
        };
        (self.taken, self.frame) = (split.consumed, split.message);
        self.frames += 1;
        self.seeing += usize::from(contains(self.frame(), b"(See "));
        Ok(())
    }

    /// The frame that came last.
    pub(super) fn frame(&self) -> &[u8] {
        self.buffer.get(self.frame.clone()).unwrap_or_default()
    }

    /// The next answer is the first of the script again.
    pub(super) fn begin_anew(&mut self) {
        self.answers = 0;
    }

    pub(super) fn answer(&mut self) -> anyhow::Result<()> {
        self.stream.write_all(self.part.answer(self.answers))?;
        self.answers += 1;
        Ok(())
    }

    /// Whether a frame has come, or does within this time.
    pub(super) fn has_frame(&self, within: Duration) -> anyhow::Result<bool> {
        Ok(matches!(Perception::split(self.buffer.get(self.taken..).unwrap_or_default()), Ok(Some(_)))
            || wait_for(&[&self.stream], within)?.contains(&0))
    }

    /// The time in the last frame, as it stands there: the same for everybody who was told of one cycle.
    fn told_time(&self) -> &[u8] {
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

/// Everybody in one game.
#[derive(Default)]
pub(super) struct Players(pub(super) Vec<Player>);

impl Players {
    /// Lets one more in while the others play on, and waits for its first perception.
    pub(super) fn join(&mut self, mut player: Player) -> anyhow::Result<()> {
        player.init()?;
        self.0.push(player);
        self.attend_until_all_have(1)
    }

    /// Everybody answers what comes, in any order, until each has had so many frames and all know of the same cycle.
    pub(super) fn attend_until_all_have(&mut self, frames: usize) -> anyhow::Result<()> {
        let deadline = now() + PATIENCE;
        while self.0.iter().any(|player| player.frames < frames) || !self.are_level() {
            ensure!(now() < deadline, "nobody joined for {PATIENCE:?}");
            self.attend(|_, _| {})?;
        }
        Ok(())
    }

    /// Waits until somebody is told something, and answers. `arrived` is given the player's index and the time.
    pub(super) fn attend(&mut self, mut arrived: impl FnMut(usize, Instant)) -> anyhow::Result<()> {
        let streams: Vec<_> = self.0.iter().map(|player| &player.stream).collect();
        let told = wait_for(&streams, Duration::from_secs(1))?;
        let at = now();
        for index in told {
            let Some(player) = self.0.get_mut(index) else { bail!("a player has gone") };
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

    /// One cycle of sync mode: everybody is told something and answers. One after the other, so that nobody is waited for
    /// more than once.
    pub(super) fn cycle(&mut self) -> anyhow::Result<()> {
        for player in &mut self.0 {
            player.receive()?;
            player.answer()?;
        }
        Ok(())
    }

    fn are_level(&self) -> bool {
        self.0.windows(2).all(|pair| matches!(pair, [one, other] if one.told_time() == other.told_time()))
    }
}

/// Which of these can be read from, now or within a time.
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

#[expect(clippy::disallowed_methods, reason = "nothing tells when another program is ready")]
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
