//! What a browser has seen, and what is new to it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use ::puppet::puppet::PuppetView;
use axum::body::Bytes;
use soccer::game::GameView;
use wire::console::{AgentReadings, Client, Frame, Game, Message, Puppet, Role, Topic, WorldEvent, WorldState};
use world::{Snapshot, VariableId, interface, snapshot::EventCard};

use super::{ConsoleSession, Errand, Out, Shared, puppet, words};
use crate::{log_buffer::LOG_BUFFER, roster};

/// How often the state of the world is told.
const STATE: Duration = Duration::from_millis(200);
/// How often it is told what an agent measures.
const AGENT: Duration = Duration::from_millis(66);
/// How often a game or a puppet is looked at.
const SCENE: Duration = Duration::from_millis(100);
/// How often health is told.
const HEALTH: Duration = Duration::from_secs(1);
/// How often it is looked whether runs have gone on.
const RUNS: Duration = Duration::from_millis(500);
/// How often runs are listed that nobody here has started.
const RUNS_OF_OTHERS: Duration = Duration::from_secs(5);

/// Numbers of clients that have no session with this world begin here.
const APART: u64 = 1 << 40;

/// A time that comes again and again.
#[derive(Debug, Default)]
struct Due(Option<Instant>);

impl Due {
    /// Whether it has come. Then it comes again after this long.
    fn comes(&mut self, now: Instant, every: Duration) -> bool {
        let is_due = self.0.is_none_or(|last| now.duration_since(last) >= every);
        if is_due {
            self.0 = Some(now);
        }
        is_due
    }
}

/// What makes a state another one: whether time stands still, ticks, steps, tries and speed, why not, and who is there.
type StateKey = (bool, (u64, u64, u64, u64), Option<String>, Vec<Client>);

/// What a browser has seen.
#[derive(Debug, Default)]
pub(super) struct Sights {
    poses: Option<Bytes>,
    scene: Option<u64>,
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
    /// None if it has never looked.
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
    /// Version of the film, scenes and marks that were told.
    film: (Option<u64>, usize, usize),
    pub(super) saved: u64,
}

impl Sights {
    pub(super) fn forget_film(&mut self) {
        self.film = (None, 0, 0);
    }

    /// A topic is watched from now on: all of it is new, but for what has passed.
    pub(super) fn begin(&mut self, topic: Topic, world: &Snapshot, shared: &Shared) {
        match topic {
            Topic::World => {
                (self.scene, self.state, self.state_due) = (None, None, Due::default());
                // those of late, so that a new page is not empty
                self.events = self.events.max(world.recent.next().saturating_sub(20));
            }
            Topic::Poses => self.poses = None,
            Topic::Soccer => (self.game, self.game_due, self.decisions) = (None, Due::default(), 0),
            Topic::Puppet => {
                (self.puppet, self.puppet_due) = (None, Due::default());
                // whoever comes back is told what it has missed
                let next = world.view::<PuppetView>().map_or(0, |view| view.events.next());
                self.puppet_events = self.puppet_events.or(Some(next));
            }
            Topic::Video => self.video = 0,
            Topic::Sound => self.sound = shared.desk.as_ref().map_or(0, |desk| desk.stage.next_sound()),
            Topic::Health => (self.health_due, self.log) = (Due::default(), 0),
            Topic::Evolution => (self.runs, self.runs_due, self.run) = (None, Due::default(), None),
        }
    }
}

impl ConsoleSession {
    /// Tells what is new. To be called some thirty times a second.
    pub fn look(&mut self, world: &Arc<Snapshot>, now: Instant, out: &mut Out) {
        for topic in self.watched.clone() {
            match topic {
                Topic::World => self.look_at_world(world, now, out),
                Topic::Poses => self.look_at_poses(world, out),
                Topic::Soccer => self.look_at_game(world, now, out),
                Topic::Puppet => self.look_at_puppet(world, now, out),
                Topic::Video => self.look_at_video(out),
                Topic::Sound => self.listen(out),
                Topic::Health => self.look_at_health(world, now, out),
                Topic::Evolution => self.look_at_runs(now, out),
            }
        }
        if !self.watched.is_empty() {
            self.look_at_values(world, now, out);
        }
        self.look_at_film(out);
        if self.sights.saved != self.shared.saved_items.version() {
            self.tell_saved(out);
        }
    }

    fn look_at_poses(&mut self, world: &Arc<Snapshot>, out: &mut Out) {
        let frame = self.shared.poses(world);
        // as long as this one is kept, no other can be at its place
        if self.sights.poses.as_ref().is_none_or(|last| last.as_ptr() != frame.as_ptr()) {
            out.frames.push(frame.clone());
            self.sights.poses = Some(frame);
        }
    }

    fn look_at_world(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        if self.sights.scene != Some(world.catalogue.generation) {
            self.sights.scene = Some(world.catalogue.generation);
            out.texts.push(self.shared.scene(world).to_string());
        }
        let events: Vec<WorldEvent> = world
            .recent
            .since(self.sights.events)
            .filter_map(|raised| {
                let card = world.catalogue.events.iter().find(|EventCard { id, .. }| *id == raised.event)?;
                Some(WorldEvent { tick: raised.tick.0, time: raised.time, name: card.name.to_string() })
            })
            .collect();
        self.sights.events = world.recent.next();
        if !events.is_empty() {
            out.say(&Message::Events { events });
        }
        self.tell_state(world, now, out);
        self.tell_agent(world, now, out);
    }

    fn tell_state(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        if !self.sights.state_due.comes(now, STATE) {
            return;
        }
        let state = WorldState {
            tick: world.tick.0,
            step: world.step,
            tries: world.tries,
            time: world.time,
            paused: world.paused,
            pace: self.shared.pace.clone(),
            speed: world.speed,
            ticks_per_second: if world.paused { 0.0 } else { world.performance.ticks_per_second },
            standstill: self.shared.sim.failure(),
            clients: self.clients(world),
        };
        // a world that stands still has nothing to say
        let times = (state.tick, state.step, state.tries, state.speed.to_bits());
        let key = (state.paused, times, state.standstill.clone(), state.clients.clone());
        if self.sights.state.as_ref() != Some(&key) {
            self.sights.state = Some(key);
            out.say(&Message::State(state));
        }
    }

    /// Everybody who is connected. A socket for everybody is listed when somebody has used it.
    fn clients(&self, world: &Snapshot) -> Vec<Client> {
        let robot = self.shared.desk.as_ref().map(|desk| (desk.config.robot.as_str(), desk.stage.in_control()));
        let clients = self.shared.sim.roster().clients().into_iter();
        let apart = self.shared.doors.guests("evo").into_iter().map(|(ticket, peer)| Client {
            id: APART + ticket,
            protocol: "evo".to_owned(),
            peer: peer.to_string(),
            agents: Vec::new(),
            role: None,
            lockstep: false,
        });
        clients
            .filter_map(|(session, roster::Client { protocol, peer, role })| {
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
            .chain(apart)
            .collect()
    }

    fn tell_agent(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        let Some(name) = &self.followed else { return };
        let Some(card) = world.catalogue.agent_named(name) else { return };
        let seen = (name.clone(), world.tick.0, world.tries);
        if self.sights.agent.as_ref() == Some(&seen) || !self.sights.agent_due.comes(now, AGENT) {
            return;
        }
        self.sights.agent = Some(seen);
        let motors = (0..card.motors.len()).map(|motor| world.motor(card, motor).unwrap_or_default()).collect();
        let roles = [interface::Role::Output, interface::Role::Info];
        let senses = roles.into_iter().flat_map(|role| world.sensed(card, role)).collect();
        out.say(&Message::Agent(AgentReadings { name: name.clone(), time: world.time, motors, senses }));
    }

    fn look_at_game(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        let Some(view) = world.view::<GameView>() else { return };
        if !self.sights.game_due.comes(now, SCENE) {
            return;
        }
        let demo = self.shared.demo.state();
        let game = words::game(world, view, demo);
        if self.sights.game.as_ref() != Some(&game) {
            self.sights.game = Some(game.clone());
            out.say(&Message::Game(game));
        }
        let decisions = words::decisions(view, self.sights.decisions);
        self.sights.decisions = view.calls.next();
        if !decisions.is_empty() {
            out.say(&Message::Decisions { decisions });
        }
    }

    fn look_at_puppet(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        let (Some(view), Some(desk)) = (world.view::<PuppetView>(), &self.shared.desk) else { return };
        let (events, next) = puppet::events(view, self.sights.puppet_events.unwrap_or_default());
        self.sights.puppet_events = Some(next);
        if !events.is_empty() {
            out.say(&Message::PuppetEvents { events });
        }
        if !self.sights.puppet_due.comes(now, SCENE) {
            return;
        }
        let at = |peer: SocketAddr| {
            let clients = self.shared.sim.roster().clients();
            clients.into_iter().find(|(_, client)| client.peer == Some(peer)).map(|(session, _)| session.0)
        };
        let state = puppet::state(view, desk, desk.stage.in_control().and_then(at));
        if self.sights.puppet.as_ref() != Some(&state) {
            self.sights.puppet = Some(state.clone());
            out.say(&Message::Puppet(state));
        }
    }

    fn look_at_video(&mut self, out: &mut Out) {
        let Some(frame) = self.shared.desk.as_ref().and_then(|desk| desk.stage.frame()) else { return };
        if frame.number != self.sights.video {
            self.sights.video = frame.number;
            let number = u32::try_from(frame.number).unwrap_or(u32::MAX);
            out.frames.push(Frame::Video { number, jpeg: frame.jpeg.as_bytes() }.to_bytes().into());
        }
    }

    fn listen(&mut self, out: &mut Out) {
        let Some(desk) = &self.shared.desk else { return };
        for sound in desk.stage.sounds_since(self.sights.sound) {
            self.sights.sound = sound.number + 1;
            let samples = sound.samples.to_vec();
            out.frames.push(Frame::Sound { cuts: sound.cuts, rate: sound.rate, samples }.to_bytes().into());
        }
    }

    fn look_at_health(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        // whoever may look on has no business in the log: it names addresses and files
        if self.role == Role::Operator {
            let (lines, next) = LOG_BUFFER.since(self.sights.log);
            self.sights.log = next;
            if !lines.is_empty() {
                out.say(&Message::Log { lines });
            }
        }
        if self.sights.health_due.comes(now, HEALTH) {
            out.say(&Message::Health { parts: self.shared.parts(), gauges: self.shared.gauges(world) });
        }
    }

    fn look_at_runs(&mut self, now: Instant, out: &mut Out) {
        if self.shared.evolution.is_none() || !self.sights.runs_due.comes(now, RUNS) {
            return;
        }
        let version = self.shared.runs.version();
        if self.sights.others_due.comes(now, RUNS_OF_OTHERS) || self.sights.runs != Some(version) {
            self.sights.runs = Some(version);
            out.errands.push((None, Errand::ListRuns));
        }
        if let Some(name) = &self.run {
            let seen = (name.clone(), version);
            if self.sights.run.as_ref() != Some(&seen) {
                self.sights.run = Some(seen);
                out.errands.push((None, Errand::Run(name.clone())));
            }
        }
    }

    fn look_at_values(&mut self, world: &Snapshot, now: Instant, out: &mut Out) {
        if self.observed.is_empty() || !self.sights.values_due.comes(now, STATE) {
            return;
        }
        let value = |id: VariableId| {
            let found = world.observed.binary_search_by_key(&id, |(id, _)| *id).ok()?;
            world.observed.get(found).map(|(_, value)| value.to_string())
        };
        let mut values = BTreeMap::new();
        for (name, id) in &self.observed {
            let Some(value) = value(*id) else { continue };
            if self.sights.values.get(name) != Some(&value) {
                self.sights.values.insert(name.clone(), value.clone());
                values.insert(name.clone(), value);
            }
        }
        if !values.is_empty() {
            out.say(&Message::Values { values });
        }
    }

    fn look_at_film(&mut self, out: &mut Out) {
        let Some(film) = &self.film else { return };
        let version = film.version();
        let (seen, scenes, marks) = &mut self.sights.film;
        if *seen == Some(version) {
            return;
        }
        *seen = Some(version);
        let state = film.state(*scenes, *marks);
        *scenes += state.scenes.len();
        *marks += state.marks.len();
        out.say(&Message::Playback(state));
    }
}
