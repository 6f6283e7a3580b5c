//! Lockstep: agents enter, leave and vote.

use std::time::Instant;

use super::Runner;
use crate::{agent::AgentId, clock::Vote, command::Answer, event::AgentEvent, world::SessionId};

impl Runner {
    /// Whether the world waits for votes, all of which are one session's.
    pub fn waits_for_one(&self) -> bool {
        let mut voters = self.voters.values();
        let first = voters.next();
        self.clock.waits() && voters.all(|voter| Some(voter) == first)
    }

    pub(super) fn try_enter_lockstep(&mut self, session: SessionId, agent: AgentId, now: Instant) -> Option<Answer> {
        if self.world.catalogue().agent(agent).is_none() {
            return Some(Answer::VoteLost(agent));
        }
        if let Some(&voter) = self.voters.get(&agent)
            && voter != session
        {
            // a robot that its client added stays with it
            let is_own = self.owners.get(&agent) == Some(&voter);
            if is_own || !self.clock.contest(agent, now) {
                return Some(Answer::VoteLost(agent));
            }
            self.lose_vote(agent);
        }
        self.enter_lockstep(agent, session, now);
        Some(Answer::Entered(agent))
    }

    pub(super) fn try_leave_lockstep(&mut self, session: SessionId, agent: AgentId) -> Option<Answer> {
        if self.votes_for(session, agent) {
            self.leave_lockstep(agent);
        }
        None
    }

    pub(super) fn vote(&mut self, session: SessionId, agent: AgentId, vote: Vote, now: Instant) -> Option<Answer> {
        let counts = self.votes_for(session, agent) && self.clock.vote(agent, vote, now);
        (!counts).then_some(Answer::VoteLost(agent))
    }

    fn votes_for(&self, session: SessionId, agent: AgentId) -> bool {
        self.voters.get(&agent) == Some(&session)
    }

    pub(super) fn enter_lockstep(&mut self, agent: AgentId, session: SessionId, now: Instant) {
        self.clock.enter(agent, session, now);
        self.voters.insert(agent, session);
        self.world.set_lockstep(agent, true);
        self.world.set_controller(agent, Some(session));
    }

    /// Ends the votes of an agent that was silent for too long. Its session is notified.
    pub(super) fn lose_vote(&mut self, agent: AgentId) {
        self.world.raise_agent_event(agent, AgentEvent::VoteLost);
        let session = self.leave_lockstep(agent);
        self.answers.extend(session.map(|session| (session, Answer::VoteLost(agent))));
    }

    /// Returns the session that voted for the agent.
    pub(super) fn leave_lockstep(&mut self, agent: AgentId) -> Option<SessionId> {
        self.clock.leave(agent);
        self.world.set_lockstep(agent, false);
        let voter = self.voters.remove(&agent);
        if voter.is_some() && !self.owners.contains_key(&agent) {
            self.world.set_controller(agent, None);
        }
        voter
    }
}
