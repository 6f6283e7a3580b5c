//! The state that a client has been sent, and the changes to send next.

use core::net::SocketAddr;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use ::puppet::puppet::PuppetView;
use bytes::Bytes;
use physics::Visual;
use soccer::game::GameView;
use wire::console::{AgentReadings, Client, Frame, Game, Message, Puppet, Topic, WorldEvent, WorldState};
use world::{Snapshot, VariableId, interface, snapshot::EventCard};

use super::{ConnectedClient, ConsoleSession, Job, Output, Shared, game, puppet};

/// Interval of the world's state.
const STATE: Duration = Duration::from_millis(200);
/// Interval of the followed agent's measurements.
const AGENT: Duration = Duration::from_millis(66);
/// Interval of the state of a game or a puppet, and of scenes in which something was moved.
const SCENE: Duration = Duration::from_millis(100);
/// Interval of health and metrics.
const HEALTH: Duration = Duration::from_secs(1);
/// Interval at which runs of this server are checked for progress.
const RUNS: Duration = Duration::from_millis(500);
/// Interval at which runs of other processes are listed.
const OTHER_RUNS: Duration = Duration::from_secs(5);

/// Ids of clients without a session in this world begin here.
const STANDALONE: u64 = 1 << 40;

/// A recurring deadline.
#[derive(Debug, Default)]
struct Due(Option<Instant>);

impl Due {
    /// Whether the interval has passed. Starts the next one if it has.
    fn is_due(&mut self, now: Instant, every: Duration) -> bool {
        let is_due = self.0.is_none_or(|last| now.duration_since(last) >= every);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

/// What a state is compared by: paused; tick, step, tries and speed; failure; clients.
type StateKey = (bool, (u64, u64, u64, u64), Option<String>, Vec<Client>);

/// What a client has been sent.
#[derive(Debug, Default)]
pub(super) struct ViewState {
    poses: Option<Bytes>,
    scene: Option<(u64, Arc<[Visual]>)>,
    scene_due: Due,
    state_due: Due,
    state: Option<StateKey>,
    agent_due: Due,
    agent: Option<(String, u64, u64)>,
    events: u64,
    game_due: Due,
    game: Option<Game>,
    decisions: u64,
    puppet_due: Due,
    puppet: Option<Puppet>,
    /// None if it has never watched the puppet.
    puppet_events: Option<u64>,
    video: u64,
    sound: u64,
    health_due: Due,
    log: u64,
    runs_due: Due,
    others_due: Due,
    runs: Option<u64>,
    run: Option<(String, u64)>,
    values_due: Due,
    pub(super) values: BTreeMap<String, String>,
    /// Version, number of scenes and number of marks of the playback.
    playback: (Option<u64>, usize, usize),
    pub(super) saved: u64,
}

impl ViewState {
    pub(super) fn forget_playback(&mut self) {
        self.playback = (None, 0, 0);
    }

    /// A topic is watched from now on: all its state is new, past events are not.
    pub(super) fn begin(&mut self, topic: Topic, world: &Snapshot, shared: &Shared) {
        match topic {
            Topic::World => {
                (self.scene, self.state, self.state_due) = (None, None, Due::default());
                // recent ones, so that a new page is not empty
                self.events = self.events.max(world.recent.next().saturating_sub(20));
            }
            Topic::Poses => self.poses = None,
            Topic::Soccer => (self.game, self.game_due, self.decisions) = (None, Due::default(), 0),
            Topic::Puppet => {
                (self.puppet, self.puppet_due) = (None, Due::default());
                // a client that returns is sent what it has missed
                let next = world.view::<PuppetView>().map_or(0, |view| view.events.next());
                self.puppet_events = self.puppet_events.or(Some(next));
            }
            Topic::Video => self.video = 0,
            Topic::Sound => self.sound = shared.puppet.as_ref().map_or(0, |puppet| puppet.panel.next_sound()),
            Topic::Health => (self.health_due, self.log) = (Due::default(), 0),
            Topic::Evolution => (self.runs, self.runs_due, self.run) = (None, Due::default(), None),
        }
    }
}

impl ConsoleSession {
    /// Sends the changes.
    pub(super) fn update(&mut self, world: &Arc<Snapshot>, now: Instant, out: &mut Output) {
        for topic in self.watched.clone() {
            match topic {
                Topic::World => self.update_world(world, now, out),
                Topic::Poses => self.update_poses(world, out),
                Topic::Soccer => self.update_game(world, now, out),
                Topic::Puppet => self.update_puppet(world, now, out),
                Topic::Video => self.update_video(out),
                Topic::Sound => self.update_sound(out),
                Topic::Health => self.update_health(world, now, out),
                Topic::Evolution => self.update_runs(now, out),
            }
        }
        if !self.watched.is_empty() {
            self.update_values(world, now, out);
        }
        self.update_playback(out);
        if self.view.saved != self.shared.backend.saved_version() {
            self.send_saved(out);
        }
    }

    fn update_poses(&mut self, world: &Arc<Snapshot>, out: &mut Output) {
        let frame = self.shared.poses(world);
        // no other frame has its address while this one is kept
        if self.view.poses.as_ref().is_none_or(|last| last.as_ptr() != frame.as_ptr()) {
            out.frames.push(frame.clone());
            self.view.poses = Some(frame);
        }
    }

    fn update_world(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        self.update_scene(world, now, out);
        let events: Vec<WorldEvent> = world
            .recent
            .since(self.view.events)
            .filter_map(|raised| {
                let card = world.catalogue.events.iter().find(|EventCard { id, .. }| *id == raised.event)?;
                Some(WorldEvent { tick: raised.tick.0, time: raised.time, name: card.name.to_string() })
            })
            .collect();
        self.view.events = world.recent.next();
        if !events.is_empty() {
            out.send(Message::Events { events });
        }
        self.update_state(world, now, out);
        self.update_agent(world, now, out);
    }

    /// A new model is shown at once; one in which things are moved all the time, a few times a second.
    fn update_scene(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        let generation = world.catalogue.generation;
        let known = self.view.scene.as_ref();
        let is_shown = known.is_some_and(|(_, visuals)| Arc::ptr_eq(visuals, &world.visuals));
        let is_new = known.is_none_or(|(known, _)| *known != generation);
        if !is_shown && (self.view.scene_due.is_due(now, SCENE) || is_new) {
            self.view.scene = Some((generation, Arc::clone(&world.visuals)));
            // it is shown once its poses have arrived
            self.view.poses = None;
            out.texts.push(self.shared.scene(world).to_string());
        }
    }

    fn update_state(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        if !self.view.state_due.is_due(now, STATE) {
            return;
        }
        let state = WorldState {
            tick: world.tick.0,
            step: world.step,
            tries: world.tries,
            time: world.time,
            paused: world.paused,
            pace: self.shared.info.pace.clone(),
            speed: world.speed,
            ticks_per_second: if world.paused { 0.0 } else { world.performance.ticks_per_second },
            standstill: self.shared.backend.failure(),
            clients: self.clients(world),
        };
        // nothing is sent while nothing changes
        let times = (state.tick, state.step, state.tries, state.speed.to_bits());
        let key = (state.paused, times, state.standstill.clone(), state.clients.clone());
        if self.view.state.as_ref() != Some(&key) {
            self.view.state = Some(key);
            out.send(Message::State(state));
        }
    }

    /// All connected clients. A shared socket is listed once a peer has used it.
    fn clients(&self, world: &Snapshot) -> Vec<Client> {
        let robot = self.shared.puppet.as_ref().map(|puppet| (puppet.robot.as_str(), puppet.panel.in_control()));
        let clients = self.shared.backend.clients().into_iter();
        let standalone = self.shared.backend.standalone_clients().into_iter().map(|(number, protocol, peer)| Client {
            id: STANDALONE + number,
            protocol: protocol.to_owned(),
            peer: peer.to_string(),
            agents: Vec::new(),
            role: None,
            lockstep: false,
        });
        clients
            .filter_map(|ConnectedClient { session, protocol, peer, role }| {
                let hands = world.controllers.iter().filter(|(_, hand)| **hand == session);
                let of = |agent: world::AgentId| world.catalogue.agent(agent).map(|card| card.name.clone());
                let mut agents: Vec<String> = hands.filter_map(|(agent, _)| of(*agent)).collect();
                if let Some((robot, Some(in_control))) = robot
                    && peer == Some(in_control)
                    && !agents.iter().any(|agent| agent == robot)
                {
                    agents.push(robot.to_owned());
                }
                let lockstep = world.lockstep.iter().any(|agent| world.controllers.get(agent) == Some(&session));
                let peer = peer.map(|peer| peer.to_string())?;
                Some(Client { id: session.0, protocol: protocol.to_owned(), peer, agents, role, lockstep })
            })
            .chain(standalone)
            .collect()
    }

    fn update_agent(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        let Some(name) = &self.followed else { return };
        let Some(card) = world.catalogue.agent_named(name) else { return };
        let seen = (name.clone(), world.tick.0, world.tries);
        if self.view.agent.as_ref() == Some(&seen) || !self.view.agent_due.is_due(now, AGENT) {
            return;
        }
        self.view.agent = Some(seen);
        let motors = (0..card.motors.len()).map(|motor| world.motor(card, motor).unwrap_or_default()).collect();
        let roles = [interface::Role::Output, interface::Role::Info];
        let senses = roles.into_iter().flat_map(|role| world.sensed(card, role)).collect();
        out.send(Message::Agent(AgentReadings { name: name.clone(), time: world.time, motors, senses }));
    }

    fn update_game(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        let Some(view) = world.view::<GameView>() else { return };
        if !self.view.game_due.is_due(now, SCENE) {
            return;
        }
        let game = game::state(world, view, self.shared.backend.demo());
        if self.view.game.as_ref() != Some(&game) {
            self.view.game = Some(game.clone());
            out.send(Message::Game(game));
        }
        let decisions = game::decisions(view, self.view.decisions);
        self.view.decisions = view.calls.next();
        if !decisions.is_empty() {
            out.send(Message::Decisions { decisions });
        }
    }

    fn update_puppet(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        let (Some(view), Some(access)) = (world.view::<PuppetView>(), &self.shared.puppet) else { return };
        let (events, next) = puppet::events(view, self.view.puppet_events.unwrap_or_default());
        self.view.puppet_events = Some(next);
        if !events.is_empty() {
            out.send(Message::PuppetEvents { events });
        }
        if !self.view.puppet_due.is_due(now, SCENE) {
            return;
        }
        let session_at = |peer: SocketAddr| {
            let clients = self.shared.backend.clients();
            clients.into_iter().find(|client| client.peer == Some(peer)).map(|client| client.session.0)
        };
        let state = puppet::state(view, access, access.panel.in_control().and_then(session_at));
        if self.view.puppet.as_ref() != Some(&state) {
            self.view.puppet = Some(state.clone());
            out.send(Message::Puppet(state));
        }
    }

    fn update_video(&mut self, out: &mut Output) {
        let Some(frame) = self.shared.puppet.as_ref().and_then(|puppet| puppet.panel.frame()) else { return };
        if frame.number != self.view.video {
            self.view.video = frame.number;
            let number = u32::try_from(frame.number).unwrap_or(u32::MAX);
            out.frames.push(Frame::Video { number, jpeg: frame.jpeg.as_bytes() }.to_bytes().into());
        }
    }

    fn update_sound(&mut self, out: &mut Output) {
        let Some(puppet) = &self.shared.puppet else { return };
        for sound in puppet.panel.sounds_since(self.view.sound) {
            self.view.sound = sound.number + 1;
            let samples = sound.samples.to_vec();
            out.frames.push(Frame::Sound { cuts: sound.cuts, rate: sound.rate, samples }.to_bytes().into());
        }
    }

    fn update_health(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        let (lines, next) = self.shared.backend.log_since(self.view.log);
        self.view.log = next;
        if !lines.is_empty() {
            out.send(Message::Log { lines });
        }
        if self.view.health_due.is_due(now, HEALTH) {
            out.send(Message::Health {
                parts: self.shared.backend.health(),
                gauges: self.shared.backend.gauges(world),
            });
        }
    }

    fn update_runs(&mut self, now: Instant, out: &mut Output) {
        if self.shared.info.evolution.is_none() || !self.view.runs_due.is_due(now, RUNS) {
            return;
        }
        let version = self.shared.backend.runs_version();
        if self.view.others_due.is_due(now, OTHER_RUNS) || self.view.runs != Some(version) {
            self.view.runs = Some(version);
            out.jobs.push((None, Job::ListRuns));
        }
        if let Some(name) = &self.run {
            let seen = (name.clone(), version);
            if self.view.run.as_ref() != Some(&seen) {
                self.view.run = Some(seen);
                out.jobs.push((None, Job::ReadRun(name.clone())));
            }
        }
    }

    fn update_values(&mut self, world: &Snapshot, now: Instant, out: &mut Output) {
        if self.observed.is_empty() || !self.view.values_due.is_due(now, STATE) {
            return;
        }
        let value = |id: VariableId| {
            let found = world.observed.binary_search_by_key(&id, |(id, _)| *id).ok()?;
            world.observed.get(found).map(|(_, value)| value.to_string())
        };
        let mut values = BTreeMap::new();
        for (name, id) in &self.observed {
            let Some(value) = value(*id) else { continue };
            if self.view.values.get(name) != Some(&value) {
                self.view.values.insert(name.clone(), value.clone());
                values.insert(name.clone(), value);
            }
        }
        if !values.is_empty() {
            out.send(Message::Values { values });
        }
    }

    fn update_playback(&mut self, out: &mut Output) {
        let Some(playback) = &self.playback else { return };
        let version = playback.version();
        let (seen, scenes, marks) = &mut self.view.playback;
        if *seen == Some(version) {
            return;
        }
        *seen = Some(version);
        let state = playback.state(*scenes, *marks);
        *scenes += state.scenes.len();
        *marks += state.marks.len();
        out.send(Message::Playback(state));
    }
}
