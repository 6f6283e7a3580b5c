//! A world together with its clock: what sessions ask of it, and when time passes.
//!
//! Questions are answered at once, whether or not time is moving. Actions are kept for the next tick.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use physics::Source;

use crate::{
    agent::AgentId,
    change::{Change, Changed, Ticket},
    clock::{Clock, Gate, Pace},
    command::{Answer, Command, CommandRefusal, SPEEDS},
    director::{Envelope, Spawn},
    event::AgentEvent,
    setup::Robot,
    snapshot::Snapshot,
    structure::{Blueprint, BuildError, Structure},
    variable::{VariableError, VariableId},
    world::{SessionId, World},
};

/// Ticks that may be asked for while time stands still.
const STEPS: u32 = 1_000;

/// What [`Runner::advance`] did.
#[derive(Debug)]
pub enum Progress {
    /// A tick passed, or a reset was carried out.
    Moved(Arc<Snapshot>),
    /// Nothing will happen before this time, unless something arrives.
    Until(Instant),
    /// Nothing will happen until something arrives.
    Waiting,
}

/// Who wants to come in.
#[derive(Debug)]
struct Guest {
    session: SessionId,
    request: Envelope,
    source: Source,
    lockstep: bool,
}

/// A running world.
#[derive(Debug)]
pub struct Runner {
    world: World,
    clock: Clock,
    /// Who asked for a change of the model; with the variable, where it was asked for by writing one.
    asked: BTreeMap<Ticket, (SessionId, Option<VariableId>)>,
    voters: BTreeMap<AgentId, SessionId>,
    /// Robots go with the session that brought them.
    owners: BTreeMap<AgentId, SessionId>,
    /// Robots on their way whose session has ended.
    orphans: BTreeSet<Ticket>,
    /// Robots on their way that will vote.
    expected: BTreeSet<Ticket>,
    /// Who wants to come in, once somebody has gone.
    guests: Vec<Guest>,
    observed: BTreeMap<SessionId, Vec<VariableId>>,
    /// How many times real time.
    speed: f64,
    /// Ticks that were asked for while time stands still.
    steps: u32,
    /// Whether the next tick has been prepared.
    is_prepared: bool,
    answers: Vec<(SessionId, Answer)>,
}

impl Runner {
    /// A world that begins to run at `now`.
    pub fn new(world: World, pace: Pace, silence: Duration, now: Instant) -> Self {
        let clock = Clock::new(pace, Duration::from_secs_f64(world.tick_seconds()), silence, now);
        Self {
            world,
            clock,
            asked: BTreeMap::new(),
            voters: BTreeMap::new(),
            owners: BTreeMap::new(),
            orphans: BTreeSet::new(),
            expected: BTreeSet::new(),
            guests: Vec::new(),
            observed: BTreeMap::new(),
            speed: 1.0,
            steps: 0,
            is_prepared: false,
            answers: Vec::new(),
        }
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The world, to be changed between ticks.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// The clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Takes a command. What it leads to comes out of [`Runner::take_answers`], now or later.
    pub fn handle(&mut self, session: SessionId, sequence: u64, command: Command, now: Instant) {
        let answer = match command {
            Command::Join(robot) => {
                let ticket = self.world.request(Change::Join(robot));
                self.asked.insert(ticket, (session, None));
                None
            }
            Command::Admit { request, source, lockstep } => {
                self.admit(Guest { session, request, source, lockstep }, now);
                None
            }
            Command::Leave(agent) => {
                if self.votes_for(session, agent) {
                    self.leave_lockstep(agent);
                }
                let ticket = self.world.request(Change::Leave(agent));
                self.asked.insert(ticket, (session, None));
                None
            }
            Command::Act(agent, actions) => {
                self.note_mover(agent, session);
                let complete = self.world.stage(agent, session, sequence, actions);
                (!complete).then_some(Answer::Refused(CommandRefusal::Actions))
            }
            Command::Read(id) => Some(match self.world.read(id) {
                Ok(value) => Answer::Value(id, value),
                Err(error) => Answer::NoValue(id, error),
            }),
            Command::Write(id, value) => match self.world.write(id, value) {
                Ok(None) => Some(Answer::Written(id)),
                Ok(Some(ticket)) => {
                    self.asked.insert(ticket, (session, Some(id)));
                    None
                }
                Err(error) => Some(Answer::NoValue(id, error)),
            },
            Command::Observe(id) => {
                self.world.observe(id);
                self.observed.entry(session).or_default().push(id);
                None
            }
            Command::Unobserve(id) => {
                let observed = self.observed.entry(session).or_default();
                // nobody ends what others observe
                if let Some(index) = observed.iter().position(|&other| other == id) {
                    observed.swap_remove(index);
                    self.world.unobserve(id);
                }
                None
            }
            Command::EnterLockstep(agent) => {
                let is_there = self.world.catalogue().agent(agent).is_some();
                let is_free = self.voters.get(&agent).is_none_or(|&voter| voter == session);
                Some(if is_there && is_free {
                    self.enter_lockstep(agent, session, now);
                    Answer::Entered(agent)
                } else {
                    Answer::VoteLost(agent)
                })
            }
            Command::LeaveLockstep(agent) => {
                if self.votes_for(session, agent) {
                    self.leave_lockstep(agent);
                }
                None
            }
            Command::Vote(agent, vote) => {
                let counts = self.votes_for(session, agent) && self.clock.vote(agent, vote, now);
                (!counts).then_some(Answer::VoteLost(agent))
            }
            Command::Reset(seed) => {
                self.steps = 0;
                self.world.reset(seed);
                self.clock.reset_by_order(now);
                None
            }
            Command::Order(order) => match self.world.deliver_order(order) {
                Ok(answer) => answer.map(Answer::Ordered),
                Err(refusal) => Some(Answer::Refused(refusal.into())),
            },
            Command::Speed(speed) => {
                let (slowest, fastest) = SPEEDS;
                if speed.is_finite() {
                    self.speed = speed.clamp(slowest, fastest);
                    self.world.note_speed(self.speed);
                }
                (!speed.is_finite()).then_some(Answer::Refused(CommandRefusal::Speed))
            }
            Command::Step if self.world.failure().is_some() => Some(Answer::Refused(CommandRefusal::Failed)),
            Command::Step if self.world.is_paused() => {
                self.steps = (self.steps + 1).min(STEPS);
                None
            }
            Command::Step => Some(Answer::Refused(CommandRefusal::NotPaused)),
            Command::Tell(agent, event) => {
                if event == AgentEvent::ControllerDisconnected {
                    self.world.set_controller(agent, None);
                }
                self.world.tell(agent, event);
                None
            }
        };
        self.answers.extend(answer.map(|answer| (session, answer)));
    }

    /// Asks a director to let a robot in. Whoever is refused while robots are about to go is asked again when they have
    /// gone: one of them may be in the way.
    fn admit(&mut self, guest: Guest, now: Instant) {
        match self.world.admit(&guest.request) {
            Ok(Spawn { name, pose }) => {
                let ticket = self.world.request(Change::Join(Robot { name, source: guest.source, pose }));
                self.asked.insert(ticket, (guest.session, None));
                if guest.lockstep {
                    self.expected.insert(ticket);
                    self.clock.expect(now);
                }
            }
            Err(_) if self.world.is_losing_a_robot() => self.guests.push(guest),
            Err(refusal) => self.answers.push((guest.session, Answer::Refused(refusal.into()))),
        }
    }

    /// A session has ended: its votes no longer count, its robots go, and what it observed is no longer shown.
    pub fn end(&mut self, session: SessionId, now: Instant) {
        self.world.note_end(session);
        // whoever has a robot has it also after somebody else has pushed it
        let holders = self.voters.iter().chain(&self.owners).filter(|(_, holder)| **holder != session);
        for (&agent, &holder) in holders {
            if self.world.has_no_controller(agent) {
                self.world.set_controller(agent, Some(holder));
            }
        }
        self.guests.retain(|guest| guest.session != session);
        let of = |map: &BTreeMap<AgentId, SessionId>| -> Vec<AgentId> {
            map.iter().filter(|(_, owner)| **owner == session).map(|(&agent, _)| agent).collect()
        };
        for agent in of(&self.voters) {
            self.leave_lockstep(agent);
        }
        for agent in of(&self.owners) {
            self.world.request(Change::Leave(agent));
        }
        for id in self.observed.remove(&session).unwrap_or_default() {
            self.world.unobserve(id);
        }
        let orphans: Vec<_> = self.asked.extract_if(.., |_, (asker, _)| *asker == session).collect();
        for (ticket, _) in orphans {
            // nobody waits for a robot whose controller has gone
            if self.expected.remove(&ticket) {
                self.clock.arrived(now);
            }
            self.orphans.insert(ticket);
        }
    }

    /// Somebody moves an agent. One that somebody brought in, or votes for, stays theirs.
    fn note_mover(&mut self, agent: AgentId, session: SessionId) {
        let holder = self.voters.get(&agent).or_else(|| self.owners.get(&agent)).copied();
        if self.world.catalogue().agent(agent).is_some() {
            self.world.set_controller(agent, Some(holder.unwrap_or(session)));
        }
    }

    /// Whether the world waits for votes, all of which are one session's.
    pub fn waits_for_one(&self) -> bool {
        let mut voters = self.voters.values();
        let first = voters.next();
        self.clock.waits() && voters.all(|voter| Some(voter) == first)
    }

    fn votes_for(&self, session: SessionId, agent: AgentId) -> bool {
        self.voters.get(&agent) == Some(&session)
    }

    fn enter_lockstep(&mut self, agent: AgentId, session: SessionId, now: Instant) {
        self.clock.enter(agent, now);
        self.voters.insert(agent, session);
        self.world.note_lockstep(agent, true);
        self.world.set_controller(agent, Some(session));
    }

    /// Says whose vote it was.
    fn leave_lockstep(&mut self, agent: AgentId) -> Option<SessionId> {
        self.clock.leave(agent);
        self.world.note_lockstep(agent, false);
        let voter = self.voters.remove(&agent);
        if voter.is_some() && !self.owners.contains_key(&agent) {
            self.world.set_controller(agent, None);
        }
        voter
    }

    /// Lets time pass, if the gate is open at `now`. Also says whether a paced world has just fallen behind.
    pub fn advance(&mut self, now: Instant) -> (Progress, bool) {
        let gate = self.gate(now);
        self.pass(gate, now)
    }

    /// Whether time may pass at `now`. Whoever was silent for too long is no longer waited for.
    pub fn gate(&mut self, now: Instant) -> Gate {
        // also while a paused world waits for votes to take a single step: nobody can be too late
        let silent = if self.world.is_paused() { Vec::new() } else { self.clock.drop_silent(now) };
        for agent in silent {
            self.world.tell(agent, AgentEvent::VoteLost);
            let session = self.leave_lockstep(agent);
            self.answers.extend(session.map(|session| (session, Answer::VoteLost(agent))));
        }
        if !self.world.is_paused() {
            self.steps = 0;
        }
        let stands_still = self.world.is_paused() && self.steps == 0 || self.world.failure().is_some();
        self.clock.pause(stands_still, now);
        self.clock.set_period(Duration::from_secs_f64(self.world.tick_seconds() / self.speed));
        self.clock.gate(now)
    }

    /// Everybody has been told at `now` what came of the last tick or reset: from now on they can be too late.
    pub fn told(&mut self, now: Instant) {
        self.clock.told(now);
    }

    /// Uses the time while the world waits to do a part of the next tick.
    pub fn prepare(&mut self) {
        if !self.is_prepared {
            self.world.prepare();
            self.is_prepared = true;
        }
    }

    /// Lets time pass through the gate, if it is open. Also says whether a paced world has just fallen behind.
    pub fn pass(&mut self, gate: Gate, now: Instant) -> (Progress, bool) {
        self.is_prepared &= !matches!(gate, Gate::Open | Gate::Reset(_));
        match gate {
            Gate::Open => {
                self.world.tick();
                self.steps = self.steps.saturating_sub(1);
                let behind = self.clock.ticked(now);
                (Progress::Moved(self.world.take_snapshot()), behind)
            }
            Gate::Reset(seed) => {
                self.world.reset(seed);
                self.clock.was_reset(now);
                (Progress::Moved(self.world.take_snapshot()), false)
            }
            Gate::Until(then) => (Progress::Until(then), false),
            Gate::Waiting => (Progress::Waiting, false),
        }
    }

    /// Answers that have come up, with the sessions they are for.
    pub fn take_answers(&mut self) -> Vec<(SessionId, Answer)> {
        std::mem::take(&mut self.answers)
    }

    /// The next model to compile, away from this thread.
    pub fn next_blueprint(&mut self, now: Instant) -> Option<Blueprint> {
        let mut refused = Vec::new();
        let blueprint = self.world.next_blueprint(&mut refused);
        for (ticket, changed) in refused {
            self.changed(ticket, changed, now);
        }
        blueprint
    }

    /// Swaps in a compiled model.
    pub fn install(&mut self, built: Result<Structure, BuildError>, now: Instant) {
        if let Some((ticket, changed)) = self.world.install(built) {
            self.changed(ticket, changed, now);
        }
    }

    fn changed(&mut self, ticket: Ticket, changed: Changed, now: Instant) {
        let is_expected = self.expected.remove(&ticket);
        if is_expected {
            self.clock.arrived(now);
        }
        if let Changed::Left(agent) = changed {
            self.owners.remove(&agent);
            let voter = self.leave_lockstep(agent);
            self.world.set_controller(agent, None);
            // whoever voted for a robot that somebody else takes out has to know
            let asker = self.asked.get(&ticket).map(|(session, _)| *session);
            let told = voter.filter(|voter| asker != Some(*voter));
            self.answers.extend(told.map(|session| (session, Answer::VoteLost(agent))));
        }
        let is_orphan = self.orphans.remove(&ticket);
        if let Changed::Joined(agent) = changed
            && is_orphan
        {
            self.world.request(Change::Leave(agent));
        }
        if matches!(changed, Changed::Left(_) | Changed::NoSuchAgent(_)) {
            for guest in std::mem::take(&mut self.guests) {
                self.admit(guest, now);
            }
        }
        let Some((session, variable)) = self.asked.remove(&ticket) else { return };
        if let Changed::Joined(agent) = changed {
            self.owners.insert(agent, session);
            self.world.set_controller(agent, Some(session));
            if is_expected {
                self.enter_lockstep(agent, session, now);
            }
        }
        let answer = match (changed, variable) {
            (Changed::Joined(agent), _) => Answer::Joined(agent),
            (Changed::Left(agent), _) => Answer::Left(agent),
            (Changed::Resized, Some(id)) => Answer::Written(id),
            (Changed::Resized, None) => return,
            (Changed::Refused(error), Some(id)) => {
                let card = self.world.catalogue().variables.iter().find(|card| card.id == id);
                let name = card.map(|card| card.name.to_string()).unwrap_or_default();
                Answer::NoValue(id, VariableError::NotBuilt { name, reason: error.to_string() })
            }
            (Changed::Refused(error), None) => Answer::Refused(CommandRefusal::Build(error)),
            (Changed::NoSuchAgent(agent), _) => Answer::Refused(CommandRefusal::UnknownAgent { agent }),
        };
        self.answers.push((session, answer));
    }
}
