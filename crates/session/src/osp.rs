//! OSP 1.1: agents, variables, events, resets and steps over UDP. Choices are in `protocols/osp/decisions.md`.
//!
//! A client that controls an agent votes for it: its step and reset requests are votes, and the world's clock is the
//! barrier. Clients share nothing else.
//!
//! One section of the protocol per file: `agents`, `events`, `values`, `steps`, `resets`.

mod agents;
mod controlled_agent;
mod events;
mod lists;
mod locals;
mod resets;
mod searches;
mod steps;
mod values;

use core::net::SocketAddr;
use std::time::Instant;

use wire::{
    DecodeError,
    osp::{Dialect, LocalEvent, MAX_DATAGRAM, Reply, Request, SequenceNumber, Version},
};
use world::{Answer, Snapshot};

pub use self::searches::SearchBudget;
use self::{
    agents::Agents, events::Events, lists::Lists, resets::Reset, searches::Searches, steps::Steps, values::Values,
};
use crate::{
    Context, ConversationEffect, ConversationOutbox, ConversationService, DatagramSession, Greeting, Input, Notice,
    Session, Ticks,
};

/// The port at which clients begin.
#[derive(Debug, Default)]
pub struct Osp {
    searches: SearchBudget,
}

impl ConversationService for Osp {
    fn ticks(&self) -> Ticks {
        Ticks::AndResets
    }

    fn greet(&self, peer: SocketAddr, datagram: &[u8]) -> Greeting {
        match Request::decode(datagram) {
            Ok(Request::Init { dialect, version: Version::SUPPORTED }) => {
                Greeting::Begin(Box::new(OspSession::new(peer, dialect, self.searches.clone())))
            }
            Ok(Request::Init { dialect, version: Version { major, minor } }) => Greeting::Reply {
                datagram: Reply::InitAck { version: Version::SUPPORTED }.to_bytes_in(dialect),
                reason: format!("unsupported version {major}.{minor}, this server speaks 1.1"),
            },
            Ok(Request::ResetCommunication) => Greeting::ResetCommunication,
            Ok(_) => Greeting::Ignore("request before `Init`".to_owned()),
            Err(error) => Greeting::Ignore(error.to_string()),
        }
    }
}

/// A request with what follows it in its datagram.
#[derive(Debug)]
pub struct Received {
    request: Request,
    /// The number that follows a step or reset request (D35).
    number: Option<SequenceNumber>,
    /// All bytes, to recognise a repeated request (D32).
    datagram: Vec<u8>,
}

impl Received {
    fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let request = Request::decode(datagram)?;
        let number = SequenceNumber::of(&request, datagram);
        Ok(Self { request, number, datagram: datagram.to_vec() })
    }
}

/// One client.
///
/// It has no states of its own: each controlled agent has (`StepState` in `controlled_agent`), and requests
/// about agents, events and values are answered at any time.
#[derive(Debug)]
pub struct OspSession {
    peer: SocketAddr,
    dialect: Dialect,
    agents: Agents,
    events: Events,
    values: Values,
    steps: Steps,
    reset: Reset,
    searches: Searches,
    lists: Lists,
}

impl Session for OspSession {
    type Request = Received;
    type Reply = Vec<u8>;
    type Effect = ConversationEffect;

    fn handle(&mut self, input: Input<Received>, context: Context<'_>, out: &mut ConversationOutbox) {
        let Context { world, now } = context;
        match input {
            Input::Opened => self.send(&Reply::InitAck { version: Version::SUPPORTED }, out),
            Input::Message { message, .. } => {
                self.handle_request(message, world, now, out);
                self.send_listed(now, out);
            }
            Input::Malformed { error, .. } => {
                out.refuse(Some(self.peer), error);
                self.send_listed(now, out);
            }
            Input::Answer(answer) => self.handle_answer(answer, world, out),
            Input::Tick => self.handle_tick(world, now, out),
            Input::Timeout => self.handle_timeout(now, out),
            Input::CommunicationReset => self.send(&Reply::ResetCommunicationAck, out),
        }
    }

    fn timeout(&self) -> Option<Instant> {
        // a search waits until the list of the one before has been sent
        let searches_or_lists = if self.lists.is_empty() { self.searches.timeout() } else { self.lists.timeout() };
        [self.steps.confirm_by, searches_or_lists].into_iter().flatten().min()
    }

    fn is_needed(&self) -> bool {
        !self.agents.controlled.is_empty()
    }

    fn wants_ticks(&self) -> bool {
        Session::is_needed(self) || !self.events.registered.is_empty()
    }
}

impl DatagramSession<ConversationEffect> for OspSession {
    fn receive(&mut self, from: SocketAddr, datagram: &[u8], context: Context<'_>, out: &mut ConversationOutbox) {
        let input = match Received::decode(datagram) {
            Ok(message) => Input::Message { from, message },
            Err(error) => Input::Malformed { from, error },
        };
        self.handle(input, context, out);
    }

    fn notify(&mut self, notice: Notice, context: Context<'_>, out: &mut ConversationOutbox) {
        self.handle(notice.into(), context, out);
    }

    fn timeout(&self) -> Option<Instant> {
        Session::timeout(self)
    }

    fn is_needed(&self) -> bool {
        Session::is_needed(self)
    }

    fn wants_ticks(&self) -> bool {
        Session::wants_ticks(self)
    }
}

impl OspSession {
    /// A session with a client that speaks this dialect. Its searches share a budget with those of other clients.
    pub fn new(peer: SocketAddr, dialect: Dialect, searches: SearchBudget) -> Self {
        Self {
            peer,
            dialect,
            agents: Agents::default(),
            events: Events::default(),
            values: Values::default(),
            steps: Steps::default(),
            reset: Reset::default(),
            searches: Searches::new(searches),
            lists: Lists::default(),
        }
    }

    fn handle_request(
        &mut self,
        Received { request, number, datagram }: Received,
        world: &Snapshot,
        now: Instant,
        out: &mut ConversationOutbox,
    ) {
        self.reset.tries.get_or_insert(world.tries);
        match request {
            Request::NextStep { agent, inputs } => {
                self.next_step(agent, &inputs, (&datagram, number), world, now, out);
            }
            Request::StepCompletedAck { agent } => self.confirmed(agent, now, out),
            Request::ResetSimulation { seed } => self.reset_simulation(seed, number, world, now, out),
            Request::ResetCompleted => self.reset.confirm_by = None,

            Request::GetAgentOverview => self.list_agents(world, out),
            Request::GetAgentInfo { agent } => self.list_interface(agent, world, out),
            Request::RegisterForAgent { agent } => self.register_for_agent(agent, world, out),
            Request::DeregisterFromAgent { agent } => self.deregister_from_agent(agent, now, out),

            Request::RegisterForEvent { name } => self.register_for_event(&name, world, out),
            Request::DeregisterFromEvent { event } => self.deregister_from_event(event, out),

            Request::GetValueIds { expression } => self.search_values(&expression, world, now, out),
            Request::GetValue { value } => self.get_value(value, world, out),
            Request::SetValue { value, content } => self.set_value(value, &content, world, out),
            Request::RegisterForValues { values } => self.observe(&values, world, out),
            Request::DeregisterFromValues { values } => self.unobserve(&values, out),

            // nothing waits for these
            Request::AgentOverviewAck | Request::AgentInfoAck | Request::ValueInfoAck => {}
            Request::End => {
                self.send(&Reply::EndAck, out);
                out.close("ended by the client");
            }
            Request::ResetCommunication => out.effects.push(ConversationEffect::ResetCommunication),
            Request::Init { .. } => out.refuse(Some(self.peer), "already connected"),
        }
    }

    fn handle_answer(&mut self, answer: Answer, world: &Snapshot, out: &mut ConversationOutbox) {
        match answer {
            Answer::Entered(agent) => self.lockstep_entered(agent, out),
            Answer::VoteLost(agent) => self.lockstep_refused(agent, world, out),
            Answer::Value(id, value) => self.value_read(id, &value, out),
            Answer::Written(id) => self.value_written(id, out),
            Answer::NoValue(id, error) => self.value_failed(id, &error, out),
            Answer::Refused(reason) => out.refuse(Some(self.peer), reason),
            Answer::Joined(_) | Answer::Left(_) | Answer::Ordered(_) => {}
        }
    }

    /// The world has stepped or has been reset.
    fn handle_tick(&mut self, world: &Snapshot, now: Instant, out: &mut ConversationOutbox) {
        for &event in &world.events {
            if self.events.registered.contains(&event) {
                self.events.occurred.insert(LocalEvent(self.events.ids.number(event)));
            }
        }
        // robots come and go
        self.agents.controlled.retain(|_, controlled| world.catalogue.agent(controlled.agent).is_some());
        let before = self.reset.tries.replace(world.tries);
        if before.is_some_and(|tries| tries != world.tries) {
            self.was_reset(now, out);
        } else {
            self.stepped(world, now, out);
        }
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut ConversationOutbox) {
        if self.steps.confirm_by.is_some_and(|deadline| deadline <= now) {
            self.steps.unreported.pop_front();
            self.send_next_report(now, out);
        }
        if self.lists.is_empty()
            && let Some(search) = self.searches.advance(now)
        {
            self.list_found(&search, out);
        }
        self.send_listed(now, out);
    }

    fn send(&self, reply: &Reply, out: &mut ConversationOutbox) {
        self.send_numbered(reply, None, out);
    }

    fn send_numbered(&self, reply: &Reply, number: Option<SequenceNumber>, out: &mut ConversationOutbox) {
        if let Some(datagram) = self.encoded(reply, number, out) {
            out.send(self.peer, datagram);
        }
    }

    /// Encodes a reply, unless it is too large for a datagram (D4).
    fn encoded(&self, reply: &Reply, number: Option<SequenceNumber>, out: &mut ConversationOutbox) -> Option<Vec<u8>> {
        let mut datagram = reply.to_bytes_in(self.dialect);
        if let Some(number) = number {
            number.append_to(&mut datagram);
        }
        if datagram.len() > MAX_DATAGRAM {
            out.refuse(
                Some(self.peer),
                format_args!("reply of {} bytes exceeds the size of a datagram", datagram.len()),
            );
            return None;
        }
        Some(datagram)
    }

    fn send_listed(&mut self, now: Instant, out: &mut ConversationOutbox) {
        let peer = self.peer;
        out.replies.extend(self.lists.take_due(now).map(|datagram| (peer, datagram)));
    }

    fn list(&mut self, reply: &Reply) {
        // names of agents and variables are far shorter than a datagram
        self.lists.push(reply.to_bytes_in(self.dialect));
    }
}

#[cfg(test)]
mod tests;
