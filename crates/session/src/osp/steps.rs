//! Steps: votes in, reports out.

use std::{collections::VecDeque, time::Instant};

use wire::osp::{LocalAgent, LocalValue, Reply, SequenceNumber, Text};
use world::{Action, Command, Snapshot, VariableId, clock::Vote, interface::Role, snapshot::AgentCard};

use super::{
    OspSession,
    controlled_agent::{Arrival, ControlledAgent, StepState},
};
use crate::{ConversationEffect, ConversationOutbox, limits};

/// Step reports to be sent.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Agents whose report the client has not confirmed, in order. Only the first one's report has been sent.
    pub(super) unreported: VecDeque<LocalAgent>,
    /// When the next report is sent even without a confirmation.
    pub(super) confirm_by: Option<Instant>,
}

impl OspSession {
    pub(super) fn next_step(
        &mut self,
        agent: LocalAgent,
        inputs: &[f32],
        (datagram, number): (&[u8], Option<SequenceNumber>),
        world: &Snapshot,
        now: Instant,
        out: &mut ConversationOutbox,
    ) {
        let Some(controlled) = self.agents.controlled.get_mut(&agent) else {
            return out.refuse(
                Some(self.peer),
                format_args!("step request for agent {}, which it does not control", agent.0),
            );
        };
        let arrival = controlled.classify(datagram, number);
        if arrival == Arrival::Stale {
            return;
        }
        let (peer, id) = (self.peer, controlled.agent);
        let again = if arrival == Arrival::Repeated { controlled.sent_report().to_vec() } else { Vec::new() };
        self.send_numbered(&Reply::NextStepAck { agent }, number, out);
        out.replies.extend(again.into_iter().map(|datagram| (peer, datagram)));
        if arrival == Arrival::New {
            self.reset.confirm_by = None;
            self.confirmed(agent, now, out);
            if let Some(controlled) = self.agents.controlled.get_mut(&agent) {
                controlled.step = StepState::Requested;
                controlled.has_voted_reset = false;
            }
            if let Some(card) = world.catalogue.agent(id) {
                let actions = self.actions(card, inputs, out);
                out.command(Command::Act(id, actions));
            }
            out.command(Command::Vote(id, Vote::Step));
            out.effects.push(ConversationEffect::HoldReplies);
        }
    }

    /// Motor actions for the inputs of a step (D29).
    pub(super) fn actions(&self, agent: &AgentCard, inputs: &[f32], out: &mut ConversationOutbox) -> Vec<Action> {
        let wanted = agent.count(Role::Input);
        if inputs.len() > wanted {
            let given = inputs.len();
            out.refuse(
                Some(self.peer),
                format_args!("{} has {wanted} inputs but the step carries {given}", agent.name),
            );
        }
        let values = agent.values.iter().filter(|value| value.role == Role::Input);
        let mut actions = Vec::with_capacity(wanted);
        for (value, &input) in values.zip(inputs) {
            if input.is_finite() {
                actions.extend(value.action(f64::from(input)));
            } else {
                out.refuse(
                    Some(self.peer),
                    format_args!("{}{} is {input}, which is not finite", agent.name, value.name),
                );
            }
        }
        actions
    }

    /// The world has stepped: queues a report for each agent that has voted, and sends the first.
    pub(super) fn stepped(&mut self, world: &Snapshot, now: Instant, out: &mut ConversationOutbox) {
        let asked: Vec<_> = self
            .agents
            .controlled
            .iter()
            .filter(|(_, c)| c.step == StepState::Requested)
            .map(|(&agent, c)| (agent, c.agent))
            .collect();
        let is_waiting = !self.steps.unreported.is_empty();
        for (index, (agent, id)) in asked.into_iter().enumerate() {
            let Some(card) = world.catalogue.agent(id) else { continue };
            let number = self.agents.controlled.get(&agent).and_then(ControlledAgent::number);
            // events and observed values go with the first report only
            let (events, observed) = if index == 0 {
                (std::mem::take(&mut self.events.occurred).into_iter().collect(), self.observed_now(world))
            } else {
                (Vec::new(), Vec::new())
            };
            let sensed = |role| world.sensed(card, role).map(|value| value as f32).collect();
            let (outputs, infos) = (sensed(Role::Output), sensed(Role::Info));
            let completed = Reply::StepCompleted { agent, outputs, infos, events, observed: observed.len() };
            let mut report = Vec::with_capacity(1 + observed.len());
            report.extend(self.encoded(&completed, number, out));
            for value in &observed {
                report.extend(self.encoded(value, number, out));
            }
            if let Some(controlled) = self.agents.controlled.get_mut(&agent) {
                controlled.step = StepState::Completed { report, is_sent: false, is_confirmed: false };
            }
            self.steps.unreported.push_back(agent);
        }
        if !is_waiting {
            self.send_next_report(now, out);
        }
    }

    pub(super) fn observed_now(&mut self, world: &Snapshot) -> Vec<Reply> {
        let value = |id: &VariableId| {
            let index = world.observed.binary_search_by_key(id, |(other, _)| *other).ok()?;
            let (_, value) = world.observed.get(index)?;
            let content = Text::from(value.to_string().as_str());
            Some(Reply::Value { value: LocalValue(self.values.ids.known(*id)?), content })
        };
        self.values.observed.iter().filter_map(value).collect()
    }

    /// Sends the report of the first agent in the queue.
    pub(super) fn send_next_report(&mut self, now: Instant, out: &mut ConversationOutbox) {
        self.steps.confirm_by = None;
        while let Some(agent) = self.steps.unreported.front() {
            if let Some(ControlledAgent { step: StepState::Completed { report, is_sent, .. }, .. }) =
                self.agents.controlled.get_mut(agent)
            {
                *is_sent = true;
                out.replies.extend(report.iter().map(|datagram| (self.peer, datagram.clone())));
                // nothing waits behind the last report
                if self.steps.unreported.len() > 1 {
                    self.steps.confirm_by = Some(now + limits::CONFIRMATION);
                    return;
                }
            }
            self.steps.unreported.pop_front();
        }
    }

    /// The client has confirmed the report of an agent, or no longer controls it.
    pub(super) fn confirmed(&mut self, agent: LocalAgent, now: Instant, out: &mut ConversationOutbox) {
        if let Some(ControlledAgent { step: StepState::Completed { is_sent: true, is_confirmed, .. }, .. }) =
            self.agents.controlled.get_mut(&agent)
        {
            *is_confirmed = true;
        }
        if self.steps.unreported.front() == Some(&agent) {
            self.steps.unreported.pop_front();
            self.send_next_report(now, out);
        }
    }
}
