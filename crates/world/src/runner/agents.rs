//! Robots join, leave and move.

use std::time::Instant;

use physics::Source;

use super::{Runner, agents_of};
use crate::{
    agent::{Action, AgentId},
    change::{Change, ChangeOutcome, Ticket},
    command::{Answer, CommandRefusal},
    director::{Envelope, Spawn},
    setup::Robot,
    structure::{Blueprint, BuildError, Structure},
    variable::{VariableError, VariableId},
    world::SessionId,
};

/// A request to join that a director decides on.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) session: SessionId,
    pub(super) request: Envelope,
    pub(super) source: Source,
    pub(super) lockstep: bool,
}

impl Runner {
    pub(super) fn join(&mut self, session: SessionId, robot: Robot) -> Option<Answer> {
        let ticket = self.world.request(Change::Join(robot));
        self.requesters.insert(ticket, (session, None));
        None
    }

    pub(super) fn leave(&mut self, session: SessionId, agent: AgentId) -> Option<Answer> {
        self.try_leave_lockstep(session, agent);
        let ticket = self.world.request(Change::Leave(agent));
        self.requesters.insert(ticket, (session, None));
        None
    }

    /// Asks a director to admit a robot. A request that is refused while a robot is leaving is repeated once that has
    /// left: it may be in the way.
    pub(super) fn admit(&mut self, admission: Admission, now: Instant) -> Option<Answer> {
        match self.world.admit(&admission.request) {
            Ok(Spawn { name, pose }) => {
                let ticket = self.world.request(Change::Join(Robot { name, source: admission.source, pose }));
                self.requesters.insert(ticket, (admission.session, None));
                if admission.lockstep {
                    self.expected.insert(ticket);
                    self.clock.expect(now);
                }
                None
            }
            Err(_) if self.world.is_robot_leaving() => {
                self.admissions.push(admission);
                None
            }
            Err(refusal) => Some(Answer::Refused(refusal.into())),
        }
    }

    fn retry_admissions(&mut self, now: Instant) {
        for admission in std::mem::take(&mut self.admissions) {
            let session = admission.session;
            let answer = self.admit(admission, now);
            self.answers.extend(answer.map(|answer| (session, answer)));
        }
    }

    pub(super) fn act(
        &mut self,
        session: SessionId,
        sequence: u64,
        agent: AgentId,
        actions: Vec<Action>,
        now: Instant,
    ) -> Option<Answer> {
        if self.voters.get(&agent) != Some(&session) {
            self.clock.await_tick(session, now);
        }
        // an agent stays with the session that votes for it or added it, even if others move it
        let holder = self.voters.get(&agent).or_else(|| self.owners.get(&agent)).copied();
        if self.world.catalogue().agent(agent).is_some() {
            self.world.set_controller(agent, Some(holder.unwrap_or(session)));
        }
        let is_complete = self.world.stage(agent, session, sequence, actions);
        (!is_complete).then_some(Answer::Refused(CommandRefusal::Actions))
    }

    /// A session that has ended controls no agents any more; those of others go back to their voters and owners.
    pub(super) fn release_controllers(&mut self, session: SessionId) {
        self.world.remove_controller(session);
        let holders = self.voters.iter().chain(&self.owners).filter(|(_, holder)| **holder != session);
        for (&agent, &holder) in holders {
            if !self.world.has_controller(agent) {
                self.world.set_controller(agent, Some(holder));
            }
        }
    }

    /// Removes the robots that a session has added, including those that are still joining.
    pub(super) fn remove_robots(&mut self, session: SessionId, now: Instant) {
        for agent in agents_of(&self.owners, session) {
            self.world.request(Change::Leave(agent));
        }
        let orphans: Vec<_> = self.requesters.extract_if(.., |_, (requester, _)| *requester == session).collect();
        for (ticket, _) in orphans {
            // the world does not wait for a robot without a controller
            if self.expected.remove(&ticket) {
                self.clock.arrived(now);
            }
            self.orphans.insert(ticket);
        }
    }

    /// The next model to compile, on another thread.
    pub fn next_blueprint(&mut self, now: Instant) -> Option<Blueprint> {
        let mut refused = Vec::new();
        let blueprint = self.world.next_blueprint(&mut refused);
        for (ticket, changed) in refused {
            self.finish_change(ticket, changed, now);
        }
        blueprint
    }

    /// Swaps in a compiled model.
    pub fn install(&mut self, built: Result<Structure, BuildError>, now: Instant) {
        if let Some((ticket, changed)) = self.world.install(built) {
            self.finish_change(ticket, changed, now);
        }
    }

    fn finish_change(&mut self, ticket: Ticket, changed: ChangeOutcome, now: Instant) {
        let is_expected = self.expected.remove(&ticket);
        if is_expected {
            self.clock.arrived(now);
        }
        if let ChangeOutcome::Left(agent) = changed {
            self.forget_agent(ticket, agent);
        }
        let is_orphan = self.orphans.remove(&ticket);
        if let ChangeOutcome::Joined(agent) = changed
            && is_orphan
        {
            self.world.request(Change::Leave(agent));
        }
        if matches!(changed, ChangeOutcome::Left(_) | ChangeOutcome::UnknownAgent(_)) {
            self.retry_admissions(now);
        }
        let Some((session, variable)) = self.requesters.remove(&ticket) else { return };
        if let ChangeOutcome::Joined(agent) = changed {
            self.owners.insert(agent, session);
            self.world.set_controller(agent, Some(session));
            if is_expected {
                self.enter_lockstep(agent, session, now);
            }
        }
        let answer = self.answer_to_change(changed, variable);
        self.answers.extend(answer.map(|answer| (session, answer)));
    }

    /// An agent was removed. The session that voted for it is notified, unless it asked for that itself.
    fn forget_agent(&mut self, ticket: Ticket, agent: AgentId) {
        self.owners.remove(&agent);
        let voter = self.leave_lockstep(agent);
        self.world.set_controller(agent, None);
        let requester = self.requesters.get(&ticket).map(|(session, _)| *session);
        let notified = voter.filter(|voter| requester != Some(*voter));
        self.answers.extend(notified.map(|session| (session, Answer::VoteLost(agent))));
    }

    fn answer_to_change(&self, changed: ChangeOutcome, variable: Option<VariableId>) -> Option<Answer> {
        Some(match (changed, variable) {
            (ChangeOutcome::Joined(agent), _) => Answer::Joined(agent),
            (ChangeOutcome::Left(agent), _) => Answer::Left(agent),
            (ChangeOutcome::Resized, Some(id)) => Answer::Written(id),
            (ChangeOutcome::Resized, None) => return None,
            (ChangeOutcome::Refused(error), Some(id)) => {
                let card = self.world.catalogue().variables.iter().find(|card| card.id == id);
                let name = card.map(|card| card.name.to_string()).unwrap_or_default();
                Answer::NoValue(id, VariableError::NotBuilt { name, reason: error.to_string() })
            }
            (ChangeOutcome::Refused(error), None) => Answer::Refused(CommandRefusal::Build(error)),
            (ChangeOutcome::UnknownAgent(agent), _) => Answer::Refused(CommandRefusal::UnknownAgent { agent }),
        })
    }
}
