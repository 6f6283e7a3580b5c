//! Agents: listing them, describing their interface, and taking control of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use wire::osp::{LocalAgent, MAX_INPUTS, MAX_STEP_NUMBERS, Reply, Status, Text};
use world::{AgentId, Command, Snapshot, interface::Role, snapshot::AgentCard};

use super::{OspSession, controlled_agent::ControlledAgent, locals::Locals};
use crate::ConversationOutbox;

/// Agents as the client knows them.
#[derive(Debug, Default)]
pub(super) struct Agents {
    pub(super) ids: Locals<AgentId>,
    /// Agents that the client has asked to control and for which the world has not answered yet.
    pub(super) registering: BTreeSet<LocalAgent>,
    pub(super) controlled: BTreeMap<LocalAgent, ControlledAgent>,
}

impl OspSession {
    pub(super) fn list_agents(&mut self, world: &Snapshot, out: &mut ConversationOutbox) {
        if !self.lists.has_room() {
            return out.refuse(Some(self.peer), "too many pending lists");
        }
        let offered: Vec<_> = world.catalogue.agents.iter().filter(|agent| fits(agent)).collect();
        self.list(&Reply::AgentOverview { count: offered.len() });
        for (index, card) in offered.into_iter().enumerate() {
            let agent = LocalAgent(self.agents.ids.number(card.id));
            let available = world.lockstep.binary_search(&card.id).is_err();
            let (group_type, name) = (Text::from("Agent"), Text::from(card.name.as_str()));
            self.list(&Reply::AgentOverviewNext { index, agent, group_type, available, name });
        }
    }

    pub(super) fn list_interface(&mut self, agent: LocalAgent, world: &Snapshot, out: &mut ConversationOutbox) {
        if !self.lists.has_room() {
            return out.refuse(Some(self.peer), "too many pending lists");
        }
        let Some(card) = self.card(agent, world) else {
            let (agent, name) = (LocalAgent(0), Text::default());
            return self.list(&Reply::AgentInfo { agent, inputs: 0, outputs: 0, infos: 0, name });
        };
        let (inputs, outputs, infos) = (card.count(Role::Input), card.count(Role::Output), card.count(Role::Info));
        self.list(&Reply::AgentInfo { agent, inputs, outputs, infos, name: Text::from(card.name.as_str()) });
        for (index, value) in card.values.iter().enumerate() {
            let (min, max) = (value.normalized.min as f32, value.normalized.max as f32);
            self.list(&Reply::AgentInfoNext { index, min, max, name: Text::from(value.name.as_str()) });
        }
    }

    /// The agent that the client knows by this number, if it is in the world.
    pub(super) fn card<'a>(&self, agent: LocalAgent, world: &'a Snapshot) -> Option<&'a AgentCard> {
        world.catalogue.agent(self.agents.ids.thing(agent.0)?)
    }

    pub(super) fn register_for_agent(&mut self, agent: LocalAgent, world: &Snapshot, out: &mut ConversationOutbox) {
        match self.card(agent, world) {
            None => self.send(&Reply::RegisterForAgentAck { agent, status: Status::Failed }, out),
            Some(_) if self.agents.controlled.contains_key(&agent) => {
                self.send(&Reply::RegisterForAgentAck { agent, status: Status::Done }, out);
            }
            Some(card) => {
                self.agents.registering.insert(agent);
                out.command(Command::EnterLockstep(card.id));
            }
        }
    }

    pub(super) fn lockstep_entered(&mut self, agent: AgentId, out: &mut ConversationOutbox) {
        let local = LocalAgent(self.agents.ids.number(agent));
        if self.agents.registering.remove(&local) {
            self.agents.controlled.insert(local, ControlledAgent::new(agent));
            self.send(&Reply::RegisterForAgentAck { agent: local, status: Status::Done }, out);
        } else if !self.agents.controlled.contains_key(&local) {
            // deregistered before the world answered
            out.command(Command::LeaveLockstep(agent));
        }
    }

    pub(super) fn lockstep_refused(&mut self, agent: AgentId, world: &Snapshot, out: &mut ConversationOutbox) {
        let local = LocalAgent(self.agents.ids.number(agent));
        if self.agents.registering.remove(&local) {
            self.send(&Reply::RegisterForAgentAck { agent: local, status: Status::Failed }, out);
        } else if world.catalogue.agent(agent).is_none() {
            self.agents.controlled.remove(&local);
            out.refuse(Some(self.peer), format_args!("its agent {} has left the world", local.0));
        } else if self.agents.controlled.contains_key(&local) {
            out.close("no vote in time");
        }
    }

    pub(super) fn deregister_from_agent(&mut self, agent: LocalAgent, now: Instant, out: &mut ConversationOutbox) {
        let status = match self.agents.ids.thing(agent.0) {
            Some(id) => {
                self.agents.registering.remove(&agent);
                if self.agents.controlled.remove(&agent).is_some() {
                    out.command(Command::LeaveLockstep(id));
                }
                Status::Done
            }
            None => Status::NotFound,
        };
        self.send(&Reply::DeregisterFromAgentAck { agent, status }, out);
        self.confirmed(agent, now, out);
    }
}

/// Whether the messages about an agent fit into a datagram (D4).
fn fits(agent: &AgentCard) -> bool {
    let sensed = agent.count(Role::Output) + agent.count(Role::Info);
    sensed <= MAX_STEP_NUMBERS && agent.count(Role::Input) <= MAX_INPUTS
}
