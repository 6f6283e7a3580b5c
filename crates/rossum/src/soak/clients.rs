//! Well-behaved clients of each protocol. Each lives for a while, and every request it makes has to be answered.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use anyhow::{Context, bail, ensure};
use client::{console, evo, odcp, osp, oz::Oz};
use wire::{
    console::{Command, Topic},
    evo::{Beam, Layer, Pose},
};

use super::{now, pause};

/// Time limit of a reply.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A player's number may still be in use by its predecessor.
const JOIN_TIMEOUT: Duration = Duration::from_secs(10);

/// What a client does after each reply, until its life is over.
pub(super) trait Progress {
    /// A request was answered, after this time.
    fn answered(&mut self, took: Duration);
    /// Whether to leave.
    fn is_over(&self) -> bool;
}

/// Measures a request.
fn timed<T>(progress: &mut dyn Progress, request: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let began = now();
    let result = request()?;
    progress.answered(now().duration_since(began));
    Ok(result)
}

/// A soccer player, which nods.
pub(super) struct Player {
    stream: TcpStream,
    frame: Vec<u8>,
}

impl Player {
    pub(super) fn join(address: SocketAddr, team: &str, number: usize) -> anyhow::Result<Self> {
        let began = now();
        loop {
            let mut player = Self { stream: TcpStream::connect(address)?, frame: Vec::new() };
            player.stream.set_nodelay(true)?;
            player.stream.set_read_timeout(Some(TIMEOUT))?;
            player.send(&format!("(init T1 {team} {number})"))?;
            if player.receive().is_ok() {
                return Ok(player);
            }
            ensure!(now().duration_since(began) < JOIN_TIMEOUT, "player {number} of {team} cannot join");
            pause(Duration::from_millis(200));
        }
    }

    pub(super) fn send(&mut self, message: &str) -> anyhow::Result<()> {
        let frame = [&(message.len() as u32).to_be_bytes()[..], message.as_bytes()].concat();
        self.stream.write_all(&frame).context("the server has closed a player's connection")
    }

    /// Waits for the next perception; returns its time, in hundredths of a second.
    pub(super) fn receive(&mut self) -> anyhow::Result<u64> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length).context("no perception")?;
        self.frame.resize(u32::from_be_bytes(length) as usize, 0);
        self.stream.read_exact(&mut self.frame).context("half a perception")?;
        let text = String::from_utf8_lossy(&self.frame);
        let time = text.split_once("(now ").and_then(|(_, rest)| rest.split_once(')'));
        let (time, _) = time.context("a perception without a time")?;
        Ok((time.parse::<f64>()? * 1e2).round() as u64)
    }
}

pub(super) fn play(address: SocketAddr, slot: usize, progress: &mut dyn Progress) -> anyhow::Result<()> {
    let team = if slot.is_multiple_of(2) { "Reds" } else { "Blues" };
    let mut player = Player::join(address, team, slot / 2 + 2)?;
    let mut last = player.receive()?;
    let mut cycle = 0;
    while !progress.is_over() {
        cycle += 1;
        player.send(&format!("(he1 {} 0 10 1 0)(lle4 20 0 40 2 0)(rle4 20 0 40 2 0)", cycle % 60 - 30))?;
        let time = timed(progress, || player.receive())?;
        ensure!(time > last && time - last <= 3, "a player missed a cycle: {last} to {time} hundredths");
        last = time;
    }
    Ok(())
}

/// An OSP client that reads variables and searches for them.
pub(super) fn read_variables(address: SocketAddr, progress: &mut dyn Progress) -> anyhow::Result<()> {
    let mut client = osp::Client::connect(address)?;
    client.set_timeout(TIMEOUT);
    let agents = timed(progress, || Ok(client.agents()?))?;
    ensure!(!agents.is_empty(), "OSP shows no agents");
    let values = timed(progress, || Ok(client.values("/Control/.*")?))?;
    ensure!(!values.is_empty(), "OSP finds no variables");
    while !progress.is_over() {
        for value in &values {
            ensure!(timed(progress, || Ok(client.get(value.value)?))?.is_some(), "{} has no value", value.name);
        }
        pause_until_due(now(), progress);
    }
    Ok(client.end()?)
}

/// An ODCP client that reads motors.
pub(super) fn read_motors(address: SocketAddr, progress: &mut dyn Progress) -> anyhow::Result<()> {
    let mut client = odcp::Client::connect(address)?;
    while !progress.is_over() {
        let began = now();
        let motors = timed(progress, || Ok(client.motors()?))?;
        ensure!(!motors.is_empty(), "ODCP shows no motors");
        pause_until_due(began, progress);
    }
    Ok(client.disconnect()?)
}

/// An evo robot, which turns and senses.
pub(super) fn roam(address: SocketAddr, slot: usize, progress: &mut dyn Progress) -> anyhow::Result<()> {
    let mut world = evo::World::connect(address)?;
    let robot = timed(progress, || Ok(world.create()?))?;
    let square = vec![[-30.0, 40.0], [30.0, 40.0], [30.0, -40.0], [-30.0, -40.0]];
    timed(progress, || Ok(world.shape(robot, vec![Layer { height: 20.0, polygons: vec![square] }])?))?;
    let (x, y) = (300.0 + 200.0 * (slot % 8) as f64, 300.0 + 200.0 * (slot / 8) as f64);
    let mut dir = 0.0;
    while !progress.is_over() {
        let began = now();
        dir += 0.1;
        timed(progress, || Ok(world.move_to(robot, Pose { x, y, dir })?))?;
        let beam = Beam { x: 0.0, y: 0.0, z: 10.0, dir: 0.0, tilt: 0.0, angle_h: 0.2, angle_v: 0.2 };
        timed(progress, || Ok(world.see(robot, beam)?))?;
        pause_until_due(began, progress);
    }
    Ok(world.kill(robot)?)
}

/// An operator of the social robot, who gestures and sometimes speaks.
pub(super) fn operate(address: SocketAddr, slot: usize, progress: &mut dyn Progress) -> anyhow::Result<()> {
    let mut operator = Oz::connect(address, TIMEOUT)?;
    operator.skip_video(true);
    let mut round = slot;
    while !progress.is_over() {
        round += 1;
        let began = now();
        if round.is_multiple_of(10) {
            operator.speak("Hello. [yess] Nice to meet you.")?;
            // the sentences of all operators are spoken one after the other
            ensure!(operator.wait_for_speak(Duration::from_secs(120))?, "a sentence did not end");
        } else {
            operator.gesture(1)?;
            ensure!(operator.wait_for_gesture(Duration::from_secs(60))?, "a gesture did not end");
        }
        progress.answered(Duration::ZERO);
        // also reads what has arrived
        let until = began + Duration::from_secs(2);
        while !progress.is_over() && now() < until {
            operator.next(Duration::from_millis(100))?;
        }
    }
    operator.disconnect();
    Ok(())
}

/// A browser that shows the world.
pub(super) fn browse(url: &str, progress: &mut dyn Progress) -> anyhow::Result<()> {
    let mut browser = console::Client::connect(url)?;
    let topics = vec![Topic::World, Topic::Poses, Topic::Soccer, Topic::Puppet, Topic::Health];
    browser.send(Command::Watch { topics })?;
    while !progress.is_over() {
        timed(progress, || Ok(browser.receive()?))?;
    }
    Ok(())
}

/// Pauses after a request, so that there are ten a second.
fn pause_until_due(began: Instant, progress: &dyn Progress) {
    const PERIOD: Duration = Duration::from_millis(100);
    if !progress.is_over() {
        pause(PERIOD.saturating_sub(now().duration_since(began)));
    }
}

/// Which protocol a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Soccer,
    Osp,
    Odcp,
    Evo,
    Oz,
    Console,
}

impl Kind {
    pub(super) const ALL: [Self; 6] = [Self::Soccer, Self::Osp, Self::Odcp, Self::Evo, Self::Oz, Self::Console];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Soccer => "soccer",
            Self::Osp => "osp",
            Self::Odcp => "odcp",
            Self::Evo => "evo",
            Self::Oz => "oz",
            Self::Console => "console",
        }
    }
}

/// Where the clients connect.
#[derive(Clone, Debug)]
pub(super) struct Target {
    /// The id and address of each endpoint.
    pub(super) endpoints: Vec<(String, SocketAddr)>,
    pub(super) console: String,
}

impl Target {
    pub(super) fn address(&self, id: &str) -> anyhow::Result<SocketAddr> {
        let found = self.endpoints.iter().find(|(other, _)| other == id);
        found.map(|(_, address)| *address).with_context(|| format!("no endpoint `{id}`"))
    }

    /// Runs one client until its life is over.
    pub(super) fn run(&self, kind: Kind, slot: usize, progress: &mut dyn Progress) -> anyhow::Result<()> {
        match kind {
            Kind::Soccer => play(self.address("soccer-agents")?, slot, progress),
            Kind::Osp => read_variables(self.address("osp")?, progress),
            Kind::Odcp => {
                let agents = ["ASeries", "Rover1", "Rover2", "Alice"];
                let Some(agent) = agents.get(slot % agents.len()) else { bail!("no agent for client {slot}") };
                read_motors(self.address(&format!("odcp:{agent}"))?, progress)
            }
            Kind::Evo => roam(self.address("world-simulator")?, slot, progress),
            Kind::Oz => operate(self.address("oz")?, slot, progress),
            Kind::Console => browse(&self.console, progress),
        }
    }
}
