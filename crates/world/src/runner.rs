//! A world together with its clock: handles the commands of sessions and decides when time passes.
//!
//! Reads are answered at once, whether or not time is moving. Actions are kept for the next tick.

mod agents;
mod time;
mod values;
mod votes;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use self::agents::Admission;
use crate::{
    agent::AgentId,
    change::Ticket,
    clock::{Clock, Pace},
    command::{Answer, Command},
    director::Envelope,
    event::AgentEvent,
    snapshot::Snapshot,
    variable::VariableId,
    world::{SessionId, World},
};

/// The result of [`Runner::advance`].
#[derive(Debug)]
pub enum Progress {
    /// A tick passed, or a reset was carried out.
    Moved(Arc<Snapshot>),
    /// Nothing happens before this time, unless a command arrives.
    Until(Instant),
    /// Nothing happens until a command arrives.
    Waiting,
}

/// A running world.
#[derive(Debug)]
pub struct Runner {
    world: World,
    clock: Clock,
    /// Sessions that requested a pending change of the model, with the variable whose writing asks for it.
    requesters: BTreeMap<Ticket, (SessionId, Option<VariableId>)>,
    /// The session through which an agent votes.
    voters: BTreeMap<AgentId, SessionId>,
    /// The session that added an agent: when it ends, the agent is removed.
    owners: BTreeMap<AgentId, SessionId>,
    /// Joining robots whose session has ended.
    orphans: BTreeSet<Ticket>,
    /// Joining robots that will vote.
    expected: BTreeSet<Ticket>,
    /// Refused requests to join, to be repeated when a leaving robot has left.
    admissions: Vec<Admission>,
    observed: BTreeMap<SessionId, Vec<VariableId>>,
    /// Single steps requested while paused.
    steps: u32,
    /// Whether the next tick has been prepared.
    is_prepared: bool,
    answers: Vec<(SessionId, Answer)>,
}

impl Runner {
    /// A world that starts to run at `now`. A lockstep agent that keeps others waiting for `silence` loses its vote.
    pub fn new(mut world: World, pace: Pace, silence: Duration, now: Instant) -> Self {
        world.set_pace(pace);
        let clock = Clock::new(pace, Duration::from_secs_f64(world.tick_seconds()), silence, now);
        Self {
            world,
            clock,
            requesters: BTreeMap::new(),
            voters: BTreeMap::new(),
            owners: BTreeMap::new(),
            orphans: BTreeSet::new(),
            expected: BTreeSet::new(),
            admissions: Vec::new(),
            observed: BTreeMap::new(),
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

    /// Handles a command. `sequence` orders the actions of a session within a tick. Answers come out of
    /// [`Runner::take_answers`], now or later.
    pub fn handle(&mut self, session: SessionId, sequence: u64, command: Command, now: Instant) {
        let answer = match command {
            Command::Join(robot) => self.join(session, robot),
            Command::Admit { request, source, lockstep } => {
                self.admit(Admission { session, request, source, lockstep }, now)
            }
            Command::Leave(agent) => self.leave(session, agent),
            Command::Act(agent, actions) => self.act(session, sequence, agent, actions, now),
            Command::Read(id) => self.read(id),
            Command::Write(id, value) => self.write(session, id, value),
            Command::Observe(id) => self.observe(session, id),
            Command::Unobserve(id) => self.unobserve(session, id),
            Command::EnterLockstep(agent) => self.try_enter_lockstep(session, agent, now),
            Command::LeaveLockstep(agent) => self.try_leave_lockstep(session, agent),
            Command::Vote(agent, vote) => self.vote(session, agent, vote, now),
            Command::Reset(seed) => self.reset(seed, now),
            Command::Speed(speed) => self.set_speed(speed),
            Command::Step => self.request_step(),
            Command::Order(order) => self.order(session, order, now),
            Command::RaiseEvent(agent, event) => self.raise_event(agent, event),
        };
        self.answers.extend(answer.map(|answer| (session, answer)));
    }

    fn order(&mut self, session: SessionId, order: Envelope, now: Instant) -> Option<Answer> {
        match self.world.deliver_order(order) {
            Ok(answer) => {
                self.clock.await_tick(session, now);
                answer.map(Answer::Ordered)
            }
            Err(refusal) => Some(Answer::Refused(refusal.into())),
        }
    }

    fn raise_event(&mut self, agent: AgentId, event: AgentEvent) -> Option<Answer> {
        if event == AgentEvent::ControllerDisconnected {
            self.world.set_controller(agent, None);
        }
        self.world.raise_agent_event(agent, event);
        None
    }

    /// Takes the answers since the last call, with the sessions they are for.
    pub fn take_answers(&mut self) -> Vec<(SessionId, Answer)> {
        std::mem::take(&mut self.answers)
    }

    /// Ends a session: its votes no longer count, its robots are removed, and its observations end.
    pub fn end(&mut self, session: SessionId, now: Instant) {
        self.clock.forget(session);
        self.release_controllers(session);
        self.admissions.retain(|admission| admission.session != session);
        for agent in agents_of(&self.voters, session) {
            self.leave_lockstep(agent);
        }
        self.remove_robots(session, now);
        for id in self.observed.remove(&session).unwrap_or_default() {
            self.world.unobserve(id);
        }
    }
}

fn agents_of(sessions: &BTreeMap<AgentId, SessionId>, session: SessionId) -> Vec<AgentId> {
    sessions.iter().filter(|(_, other)| **other == session).map(|(&agent, _)| agent).collect()
}
