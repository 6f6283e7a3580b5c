//! Test harness: a soccer game with agents and monitors, without sockets and with time passed in.

use core::net::SocketAddr;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use wire::{
    Message, StreamMessage,
    soccer::{MonitorMessage, Perception},
};
use world::{
    Command, Runner, SessionId, Snapshot, World,
    clock::{Gate, Pace},
    runner::Progress,
};

use soccer::{
    RuleBook, Timing,
    game::{Game, GameConfig},
    rules::Phase,
};
use wire::soccer::Dialect;

use super::{AgentOptions, Agents, Models, Monitors, VisionModel};
use crate::{
    BytesOutbox, Context, Notice, Outbox, StreamEffect, StreamService, StreamSession, Ticks, testing::setup_with,
};

/// Options of a game in tests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Config {
    pub(super) rules: RuleBook,
    pub(super) agents: AgentOptions,
}

impl Default for Config {
    fn default() -> Self {
        let agents =
            AgentOptions { dialect: Dialect::Reference, sync: false, sequential: false, vision: VisionModel::Ideal };
        Self { rules: RuleBook::Fifa, agents }
    }
}

impl Config {
    /// Cycles wait for agents.
    pub(super) fn sync(sequential: bool) -> Self {
        let agents = AgentOptions { sync: true, sequential, ..Self::default().agents };
        Self { agents, ..Self::default() }
    }

    /// Cycles wait for agents because these perceive them at their end.
    pub(super) fn sequential() -> Self {
        let agents = AgentOptions { sequential: true, ..Self::default().agents };
        Self { agents, ..Self::default() }
    }
}

pub(super) const SILENCE: Duration = Duration::from_secs(5);
pub(super) const CYCLE: Duration = Duration::from_millis(20);

/// The payload of a frame.
pub(super) fn frame(payload: &str) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(payload.as_bytes());
    bytes
}

pub(super) fn peer(index: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 1_000 + index as u16))
}

/// One end of a connection.
pub(super) struct Peer {
    pub(super) session: Box<dyn StreamSession>,
    /// When it is notified of a cycle.
    ticks: Ticks,
    /// Messages received, as text.
    pub(super) received: Vec<String>,
    pub(super) refusals: Vec<String>,
    closed: Option<String>,
    /// The client that has requested a shutdown of the server.
    pub(super) ended: Option<String>,
}

/// A game with its connected agents and monitors.
pub(super) struct TestGame {
    pub(super) run: Runner,
    pub(super) config: Config,
    pub(super) models: Arc<Models>,
    monitors: Monitors,
    /// The snapshot that sessions are given.
    pub(super) latest: Arc<Snapshot>,
    pub(super) agents: Vec<Peer>,
    sequence: u64,
    pub(super) now: Instant,
}

impl TestGame {
    #[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
    pub(super) fn on(field: &str, config: Config, pace: Pace) -> Self {
        let rules = if field == "fifa" { RuleBook::Fifa } else { RuleBook::Ssim };
        let phase = Phase::default();
        let (field, timing) = (field.to_owned(), Timing::Rounded);
        let config_of_game =
            GameConfig { rules, field: field.clone(), phase, time: None, releases_names: true, timing, referee: true };
        let game = Game::new(config_of_game).unwrap();
        let mut setup = setup_with(&field, None);
        setup.directors.push(format!("soccer {}", game.description()));
        let world = World::with_directors(&setup, vec![Box::new(game)]).unwrap();
        let now = Instant::now();
        let latest = world.snapshot();
        Self {
            run: Runner::new(world, pace, SILENCE, now),
            monitors: Monitors::new(config.rules),
            config,
            models: Arc::default(),
            latest,
            agents: Vec::new(),
            sequence: 0,
            now,
        }
    }

    /// In real time: a cycle runs whenever it is requested.
    pub(super) fn new() -> Self {
        Self::on("fifa", Config::default(), Pace::Fast)
    }

    /// Cycles wait for agents.
    pub(super) fn sync(sequential: bool) -> Self {
        Self::on("fifa", Config::sync(sequential), Pace::Lockstep)
    }

    pub(super) fn agents_port(&self) -> Agents {
        Agents { options: self.config.agents.in_world(Pace::Realtime), models: Arc::clone(&self.models) }
    }

    pub(super) fn connect(&mut self) -> usize {
        let (peer, port) = (self.next_peer(), self.agents_port());
        self.add(port.open(peer), port.ticks())
    }

    /// Connects a monitor.
    pub(super) fn watch(&mut self) -> usize {
        let peer = self.next_peer();
        self.add(self.monitors.open(peer), self.monitors.ticks())
    }

    fn next_peer(&self) -> SocketAddr {
        peer(self.agents.len())
    }

    fn add(&mut self, session: Box<dyn StreamSession>, ticks: Ticks) -> usize {
        let index = self.agents.len();
        let (received, refusals) = (Vec::new(), Vec::new());
        self.agents.push(Peer { session, ticks, received, refusals, closed: None, ended: None });
        index
    }

    pub(super) fn send(&mut self, index: usize, message: &str) {
        self.send_bytes(index, &frame(message));
    }

    pub(super) fn send_bytes(&mut self, index: usize, bytes: &[u8]) {
        self.send_bytes_only(index, bytes);
        self.deliver();
    }

    /// Sends a message without letting the world build robots or answer.
    pub(super) fn send_only(&mut self, index: usize, message: &str) {
        self.send_bytes_only(index, &frame(message));
    }

    pub(super) fn send_bytes_only(&mut self, index: usize, bytes: &[u8]) {
        let mut buffer = bytes.to_vec();
        loop {
            let (mut out, world) = (Outbox::default(), self.run.world().snapshot());
            let context = Context::new(&world, self.now);
            let turn = self.agents[index].session.receive(peer(index), &mut buffer, context, &mut out);
            self.execute(index, out);
            if !turn.is_over {
                return;
            }
        }
    }

    /// Connects and sends an `init`.
    pub(super) fn join(&mut self, init: &str) -> usize {
        let index = self.connect();
        self.send(index, &format!("(init {init})"));
        index
    }

    pub(super) fn execute(&mut self, index: usize, out: BytesOutbox) {
        let Outbox { replies, commands, refusals, effects } = out;
        let session = SessionId(index as u64);
        for command in commands {
            self.sequence += 1;
            let is_reset = matches!(command, Command::Reset(_));
            self.run.handle(session, self.sequence, command, self.now);
            if is_reset {
                self.latest = self.run.world().snapshot();
            }
        }
        let agent = &mut self.agents[index];
        agent.refusals.extend(refusals.into_iter().map(|refusal| refusal.reason));
        assert!(replies.iter().all(|(to, _)| *to == peer(index)));
        let mut sent: Vec<_> = replies.into_iter().map(|(_, bytes)| bytes).collect();
        let mut closed = None;
        for effect in effects {
            match effect {
                StreamEffect::SendDroppable(bytes) => sent.push(bytes),
                StreamEffect::Close(reason) => closed = closed.or(Some(reason)),
                StreamEffect::StopServer(who) => agent.ended = agent.ended.take().or(Some(who)),
            }
        }
        for bytes in sent {
            // the longest frames are those to monitors
            let split = MonitorMessage::split(&bytes).unwrap().unwrap();
            assert_eq!(split.consumed, bytes.len());
            agent.received.push(String::from_utf8(bytes[split.message].to_vec()).unwrap());
        }
        if closed.is_some() && agent.closed.is_none() {
            agent.closed = closed;
            self.run.end(session, self.now);
        }
    }

    /// Disconnects a peer.
    pub(super) fn leave(&mut self, index: usize) {
        self.leave_only(index);
        self.deliver();
    }

    /// Disconnects a peer without removing its robot yet.
    pub(super) fn leave_only(&mut self, index: usize) {
        self.agents[index].closed = Some("the peer left".to_owned());
        self.run.end(SessionId(index as u64), self.now);
    }

    /// Builds pending robots and delivers the answers.
    pub(super) fn deliver(&mut self) {
        loop {
            while let Some(blueprint) = self.run.next_blueprint(self.now) {
                self.run.install(blueprint.build(), self.now);
                self.latest = self.run.world().snapshot();
            }
            let answers = self.run.take_answers();
            if answers.is_empty() {
                return;
            }
            for (session, answer) in answers {
                let index = session.0 as usize;
                if self.agents[index].closed.is_none() {
                    let (mut out, world) = (Outbox::default(), self.run.world().snapshot());
                    self.agents[index].session.notify(Notice::Answer(answer), Context::new(&world, self.now), &mut out);
                    self.execute(index, out);
                }
            }
        }
    }

    /// Runs a cycle, if the gate is open; returns whether it has run. Messages of agents are handled at its end.
    pub(super) fn cycle(&mut self) -> bool {
        let has_moved = self.cycle_only();
        self.deliver();
        has_moved
    }

    /// Runs a cycle without letting the world build robots or answer.
    pub(super) fn cycle_only(&mut self) -> bool {
        self.now += CYCLE;
        self.run.drop_silent(self.now);
        let gate = self.run.gate(self.now);
        let mut outs = if gate == Gate::Open { self.notify(Ticks::AtNext) } else { Vec::new() };
        let (progress, _) = self.run.pass(gate, self.now);
        let has_moved = if let Progress::Moved(snapshot) = progress {
            self.latest = snapshot;
            outs.extend(self.notify(Ticks::AtEnd));
            outs.extend(self.notify(Ticks::WhenFree));
            true
        } else {
            false
        };
        for (index, out) in outs {
            self.execute(index, out);
        }
        has_moved
    }

    /// Notifies the sessions that want to know of a cycle at this point.
    fn notify(&mut self, when: Ticks) -> Vec<(usize, BytesOutbox)> {
        let open = self.agents.iter_mut().enumerate();
        let open = open.filter(|(_, agent)| agent.closed.is_none() && agent.ticks == when);
        open.map(|(index, agent)| {
            let mut out = Outbox::default();
            agent.session.notify(Notice::Tick, Context::new(&self.latest, self.now), &mut out);
            (index, out)
        })
        .collect()
    }

    pub(super) fn cycles(&mut self, count: usize) {
        for _ in 0..count {
            assert!(self.cycle(), "the world has not ticked");
        }
    }

    /// Runs cycles while the gate is open; returns their number.
    pub(super) fn cycles_while_open(&mut self) -> usize {
        (0..100).take_while(|_| self.cycle()).count()
    }

    pub(super) fn tick(&self) -> u64 {
        self.run.world().tick_count().0
    }

    /// Number of messages that a peer has received.
    pub(super) fn received(&self, index: usize) -> usize {
        self.agents[index].received.len()
    }

    pub(super) fn last_text(&self, index: usize) -> &str {
        self.agents[index].received.last().expect("a perception")
    }

    pub(super) fn last(&self, index: usize) -> Perception {
        Perception::decode(self.last_text(index).as_bytes()).unwrap()
    }

    pub(super) fn position(&self, index: usize) -> [f64; 3] {
        self.last(index).positions[0].values.map(|value| value.get())
    }

    pub(super) fn closed(&self, index: usize) -> Option<&str> {
        self.agents[index].closed.as_deref()
    }
}
