//! OSP 1.1: agents, variables, events, resets and steps over UDP. Choices are in `protocols/osp/decisions.md`.
//!
//! A client that controls an agent votes for it: its requests to step and to reset are votes, and the world's clock is
//! the barrier. There is nothing else that clients share.

mod control;
mod lists;
mod locals;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::SocketAddr,
    time::Instant,
};

use serde::{Deserialize, Serialize};
use wire::osp::{
    Dialect, LocalAgent, LocalEvent, LocalValue, MAX_DATAGRAM, MAX_INPUTS, MAX_STEP_NUMBERS, Reply, Request,
    SequenceNumber, Status, Text, Version,
};
use world::{
    Action, AgentId, Answer, Catalogue, Command, Snapshot, VariableId,
    clock::{Pace, Vote},
    event::EventId,
    interface::Role,
    snapshot::AgentCard,
    variable::VariableError,
};

use self::{
    control::{Arrival, Control, Stage},
    lists::{Lists, Search},
    locals::Locals,
};
use super::{ConversationService, ConversationSession, Endpoint, EndpointKind, Greeting, Outbox, Protocol, Service};
use crate::{limits, sim_thread::Ticks};

/// OSP in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "osp",
    title: "ORCS Standard Protocol 1.1",
    configure: |section, _| Ok(Box::new(section.try_into::<Config>()?)),
    direct: None,
};

/// The `[osp]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// UDP port where clients begin; 0 for any free one.
    port: u16,
}

impl Default for Config {
    fn default() -> Self {
        Self { port: 45454 }
    }
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn endpoints(&self, _: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        let kind = EndpointKind::Conversation(Box::new(Osp));
        Ok(vec![Endpoint { title: "OSP".to_owned(), port: self.port, kind }])
    }
}

/// The port where clients begin.
#[derive(Debug)]
pub struct Osp;

impl ConversationService for Osp {
    fn wants_ticks(&self) -> Ticks {
        Ticks::AndResets
    }

    fn greet(&self, peer: SocketAddr, datagram: &[u8]) -> Greeting {
        match Request::decode(datagram) {
            Ok(Request::Init { dialect, version: Version::SUPPORTED }) => {
                Greeting::Begin(Box::new(OspSession::new(peer, dialect)))
            }
            Ok(Request::Init { dialect, version: Version { major, minor } }) => {
                let answer = Reply::InitAck { version: Version::SUPPORTED }.to_bytes_in(dialect);
                Greeting::Answer(answer, format!("OSP {major}.{minor} was asked for; there is 1.1"))
            }
            Ok(Request::ResetCommunication) => Greeting::Disband,
            Ok(_) => Greeting::Nothing("a request before the first one, which asks for a connection".to_owned()),
            Err(error) => Greeting::Nothing(error.to_string()),
        }
    }
}

/// One client.
#[derive(Debug)]
pub struct OspSession {
    peer: SocketAddr,
    dialect: Dialect,
    agents: Locals<AgentId>,
    events: Locals<EventId>,
    values: Locals<VariableId>,
    /// Events that the client is to be told of, and those of them that have occurred since it was told last.
    registered: BTreeSet<EventId>,
    occurred: BTreeSet<LocalEvent>,
    /// Values that the client is to be told after each step, in the order of their registration.
    observed: Vec<VariableId>,
    /// What the world was asked about variables and has not answered, in order.
    asked: VecDeque<(VariableId, Asked)>,
    /// Agents that the client wants to control, and the world has not said whether it can.
    registering: BTreeSet<LocalAgent>,
    controlled: BTreeMap<LocalAgent, Control>,
    /// Agents of which the client has to be told, in order. The first one waits for its confirmation, until this time.
    news: VecDeque<LocalAgent>,
    confirm_by: Option<Instant>,
    reset: Reset,
    lists: Lists,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    Read,
    Write(Text),
}

/// What is kept of resets.
#[derive(Debug, Default)]
struct Reset {
    /// The try that the client knows of.
    tries: Option<u64>,
    /// Sequence number of the last request.
    number: Option<SequenceNumber>,
    /// Whether the client has asked for a reset, to some effect.
    is_asked: bool,
    /// Whether the client was told of the reset that it had asked for...
    told: bool,
    /// ...and until when it may confirm it, if it has not.
    confirm_by: Option<Instant>,
}

impl ConversationSession for OspSession {
    fn greeted(&mut self, out: &mut Outbox<Vec<u8>>) {
        self.send(&Reply::InitAck { version: Version::SUPPORTED }, out);
    }

    fn datagram(&mut self, datagram: &[u8], world: &Snapshot, now: Instant, out: &mut Outbox<Vec<u8>>) {
        match Request::decode(datagram) {
            Ok(request) => self.obey(request, datagram, world, now, out),
            Err(error) => out.refuse(Some(self.peer), error),
        }
        self.send_listed(now, out);
    }

    fn answer(&mut self, answer: Answer, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        match answer {
            Answer::Entered(agent) => self.entered(agent, out),
            Answer::VoteLost(agent) => self.not_entered(agent, world, out),
            Answer::Value(id, value) => {
                self.was_asked(id, |asked| *asked == Asked::Read);
                self.send_value(id, &value.to_string(), out);
            }
            Answer::Written(id) => {
                self.was_asked(id, |asked| *asked != Asked::Read);
                self.send_written(id, Status::Done, out);
            }
            Answer::NoValue(id, error) => match self.was_asked(id, |_| true) {
                Some(Asked::Write(_)) if error != VariableError::Unknown => {
                    out.refuse(Some(self.peer), error);
                    self.send_written(id, Status::Failed, out);
                }
                Some(Asked::Write(_)) => self.send_written(id, Status::NotFound, out),
                Some(Asked::Read) | None => self.send_no_value(out),
            },
            Answer::Refused(reason) => out.refuse(Some(self.peer), reason),
            Answer::Joined(_) | Answer::Left(_) | Answer::Ordered(_) => {}
        }
    }

    fn moved(&mut self, world: &Snapshot, now: Instant, out: &mut Outbox<Vec<u8>>) {
        for &event in &world.events {
            if self.registered.contains(&event) {
                self.occurred.insert(LocalEvent(self.events.number(event)));
            }
        }
        // robots come and go
        self.controlled.retain(|_, control| world.catalogue.agent(control.agent).is_some());
        let before = self.reset.tries.replace(world.tries);
        if before.is_some_and(|tries| tries != world.tries) {
            self.was_reset(now, out);
        } else {
            self.stepped(world, now, out);
        }
    }

    fn wakes_at(&self) -> Option<Instant> {
        [self.confirm_by, self.lists.wakes_at()].into_iter().flatten().min()
    }

    fn wake(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>) {
        if self.confirm_by.is_some_and(|deadline| deadline <= now) {
            self.news.pop_front();
            self.tell_next(now, out);
        }
        if let Some(search) = self.lists.go_on() {
            self.list_found(&search);
        }
        self.send_listed(now, out);
    }

    fn disbanded(&mut self, out: &mut Outbox<Vec<u8>>) {
        self.send(&Reply::ResetCommunicationAck, out);
    }

    fn is_needed(&self) -> bool {
        !self.controlled.is_empty()
    }
}

impl OspSession {
    /// A client that speaks this dialect.
    pub fn new(peer: SocketAddr, dialect: Dialect) -> Self {
        Self {
            peer,
            dialect,
            agents: Locals::default(),
            events: Locals::default(),
            values: Locals::default(),
            registered: BTreeSet::new(),
            occurred: BTreeSet::new(),
            observed: Vec::new(),
            asked: VecDeque::new(),
            registering: BTreeSet::new(),
            controlled: BTreeMap::new(),
            news: VecDeque::new(),
            confirm_by: None,
            reset: Reset::default(),
            lists: Lists::default(),
        }
    }

    fn obey(&mut self, request: Request, datagram: &[u8], world: &Snapshot, now: Instant, out: &mut Outbox<Vec<u8>>) {
        self.reset.tries.get_or_insert(world.tries);
        let number = SequenceNumber::of(&request, datagram);
        match request {
            Request::NextStep { agent, inputs } => {
                self.next_step(agent, &inputs, (datagram, number), world, now, out);
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

            Request::GetValueIds { expression } => {
                if let Err(reason) = self.lists.search(expression.as_str(), &world.catalogue) {
                    out.refuse(Some(self.peer), reason);
                    self.send(&Reply::ValueIds { count: 0 }, out);
                }
            }
            Request::GetValue { value } => self.get_value(value, world, out),
            Request::SetValue { value, content } => self.set_value(value, &content, world, out),
            Request::RegisterForValues { values } => self.observe(&values, world, out),
            Request::DeregisterFromValues { values } => self.unobserve(&values, out),

            // these hold nothing up
            Request::AgentOverviewAck | Request::AgentInfoAck | Request::ValueInfoAck => {}
            Request::End => {
                self.send(&Reply::EndAck, out);
                out.close("the client said good-bye");
            }
            Request::ResetCommunication => out.disband = true,
            Request::Init { .. } => out.refuse(Some(self.peer), "the connection is there already"),
        }
    }

    // --- sending -----------------------------------------------------------------------------------------------------

    fn send(&self, reply: &Reply, out: &mut Outbox<Vec<u8>>) {
        self.send_numbered(reply, None, out);
    }

    fn send_numbered(&self, reply: &Reply, number: Option<SequenceNumber>, out: &mut Outbox<Vec<u8>>) {
        if let Some(datagram) = self.written(reply, number, out) {
            out.send(self.peer, datagram);
        }
    }

    /// The datagram of a message, if there is one that large (D4).
    fn written(&self, reply: &Reply, number: Option<SequenceNumber>, out: &mut Outbox<Vec<u8>>) -> Option<Vec<u8>> {
        let mut datagram = reply.to_bytes_in(self.dialect);
        if let Some(number) = number {
            number.append_to(&mut datagram);
        }
        if datagram.len() > MAX_DATAGRAM {
            out.refuse(Some(self.peer), format_args!("a reply of {} bytes fits no datagram", datagram.len()));
            return None;
        }
        Some(datagram)
    }

    fn send_listed(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>) {
        let peer = self.peer;
        out.replies.extend(self.lists.flow(now).map(|datagram| (peer, datagram)));
    }

    fn list(&mut self, reply: &Reply) {
        // names of agents and variables are far shorter than a datagram
        self.lists.push(reply.to_bytes_in(self.dialect));
    }

    // --- agents ------------------------------------------------------------------------------------------------------

    fn list_agents(&mut self, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        if !self.lists.has_room() {
            return out.refuse(Some(self.peer), "too many lists at once");
        }
        let offered: Vec<_> = world.catalogue.agents.iter().filter(|agent| fits(agent)).collect();
        self.list(&Reply::AgentOverview { count: offered.len() });
        for (index, card) in offered.into_iter().enumerate() {
            let agent = LocalAgent(self.agents.number(card.id));
            let available = world.lockstep.binary_search(&card.id).is_err();
            let (group_type, name) = (Text::from("Agent"), Text::from(card.name.as_str()));
            self.list(&Reply::AgentOverviewNext { index, agent, group_type, available, name });
        }
    }

    fn list_interface(&mut self, agent: LocalAgent, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        if !self.lists.has_room() {
            return out.refuse(Some(self.peer), "too many lists at once");
        }
        let Some(card) = self.card(agent, world) else {
            return self.list(&Reply::AgentInfo { agent, inputs: 0, outputs: 0, infos: 0, name: Text::default() });
        };
        let (inputs, outputs, infos) = (card.count(Role::Input), card.count(Role::Output), card.count(Role::Info));
        self.list(&Reply::AgentInfo { agent, inputs, outputs, infos, name: Text::from(card.name.as_str()) });
        for (index, value) in card.values.iter().enumerate() {
            let (min, max) = (value.normalized.min as f32, value.normalized.max as f32);
            self.list(&Reply::AgentInfoNext { index, min, max, name: Text::from(value.name.as_str()) });
        }
    }

    /// The agent that the client calls by this number, if it is in the world.
    fn card<'a>(&self, agent: LocalAgent, world: &'a Snapshot) -> Option<&'a AgentCard> {
        world.catalogue.agent(self.agents.thing(agent.0)?)
    }

    fn register_for_agent(&mut self, agent: LocalAgent, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        match self.card(agent, world) {
            None => self.send(&Reply::RegisterForAgentAck { agent, status: Status::Failed }, out),
            Some(_) if self.controlled.contains_key(&agent) => {
                self.send(&Reply::RegisterForAgentAck { agent, status: Status::Done }, out);
            }
            Some(card) => {
                self.registering.insert(agent);
                out.ask(Command::EnterLockstep(card.id));
            }
        }
    }

    fn entered(&mut self, agent: AgentId, out: &mut Outbox<Vec<u8>>) {
        let local = LocalAgent(self.agents.number(agent));
        if self.registering.remove(&local) {
            self.controlled.insert(local, Control::new(agent));
            self.send(&Reply::RegisterForAgentAck { agent: local, status: Status::Done }, out);
        } else if !self.controlled.contains_key(&local) {
            // it was deregistered before it was registered
            out.ask(Command::LeaveLockstep(agent));
        }
    }

    fn not_entered(&mut self, agent: AgentId, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        let local = LocalAgent(self.agents.number(agent));
        if self.registering.remove(&local) {
            self.send(&Reply::RegisterForAgentAck { agent: local, status: Status::Failed }, out);
        } else if world.catalogue.agent(agent).is_none() {
            self.controlled.remove(&local);
            out.refuse(Some(self.peer), format_args!("its agent {} has left the world", local.0));
        } else if self.controlled.contains_key(&local) {
            out.close("the client let the world wait for too long");
        }
    }

    fn deregister_from_agent(&mut self, agent: LocalAgent, now: Instant, out: &mut Outbox<Vec<u8>>) {
        let status = match self.agents.thing(agent.0) {
            Some(id) => {
                self.registering.remove(&agent);
                if self.controlled.remove(&agent).is_some() {
                    out.ask(Command::LeaveLockstep(id));
                }
                Status::Done
            }
            None => Status::NotFound,
        };
        self.send(&Reply::DeregisterFromAgentAck { agent, status }, out);
        self.confirmed(agent, now, out);
    }

    // --- events ------------------------------------------------------------------------------------------------------

    fn register_for_event(&mut self, name: &Text, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        let event = match world.catalogue.event_named(name.as_str()) {
            Some(card) => {
                self.registered.insert(card.id);
                LocalEvent(self.events.number(card.id))
            }
            None => LocalEvent::NOT_FOUND,
        };
        self.send(&Reply::RegisterForEventAck { event }, out);
    }

    fn deregister_from_event(&mut self, event: LocalEvent, out: &mut Outbox<Vec<u8>>) {
        let was_registered = self.events.thing(event.0).is_some_and(|id| self.registered.remove(&id));
        self.occurred.remove(&event);
        let event = if was_registered { event } else { LocalEvent::NOT_FOUND };
        self.send(&Reply::DeregisterFromEventAck { event }, out);
    }

    // --- values ------------------------------------------------------------------------------------------------------

    fn list_found(&mut self, search: &Search) {
        let found = search.found();
        self.list(&Reply::ValueIds { count: found.len() });
        for (index, card) in found.enumerate() {
            let value = LocalValue(self.values.number(card.id));
            let (kind, name) = (Text::from(card.kind.name()), Text::from(&*card.name));
            self.list(&Reply::ValueInfo { index, value, kind, name });
        }
    }

    /// The variable that the client calls by this number, if it is in the world.
    fn variable(&self, value: LocalValue, world: &Snapshot) -> Option<VariableId> {
        let id = self.values.thing(value.0)?;
        world.catalogue.variables.iter().any(|card| card.id == id).then_some(id)
    }

    fn ask(&mut self, id: VariableId, asked: Asked, command: Command, out: &mut Outbox<Vec<u8>>) {
        if self.asked.len() >= limits::QUESTIONS {
            return out.refuse(Some(self.peer), "too many values are read and written at once");
        }
        self.asked.push_back((id, asked));
        out.ask(command);
    }

    /// The world has answered: what was asked of it first?
    fn was_asked(&mut self, id: VariableId, is_it: impl Fn(&Asked) -> bool) -> Option<Asked> {
        let index = self.asked.iter().position(|(other, asked)| *other == id && is_it(asked))?;
        self.asked.remove(index).map(|(_, asked)| asked)
    }

    fn get_value(&mut self, value: LocalValue, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        match self.variable(value, world) {
            Some(id) => self.ask(id, Asked::Read, Command::Read(id), out),
            None => self.send_no_value(out),
        }
    }

    fn send_value(&mut self, id: VariableId, content: &str, out: &mut Outbox<Vec<u8>>) {
        let value = LocalValue(self.values.number(id));
        self.send(&Reply::Value { value, content: Text::from(content) }, out);
    }

    fn send_no_value(&self, out: &mut Outbox<Vec<u8>>) {
        self.send(&Reply::Value { value: LocalValue::UNREADABLE, content: Text::default() }, out);
    }

    fn set_value(&mut self, value: LocalValue, content: &Text, world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        let known = self.values.thing(value.0);
        let card = known.and_then(|id| world.catalogue.variables.iter().find(|card| card.id == id));
        let Some(card) = card else {
            return self.send(&Reply::SetValueAck { value, status: Status::NotFound }, out);
        };
        let asked = Asked::Write(content.clone());
        if self.asked.contains(&(card.id, asked.clone())) {
            // the same once more, while it is being done: a size takes a while
            return;
        }
        match card.kind.parse(content.as_str()) {
            Ok(parsed) => self.ask(card.id, asked, Command::Write(card.id, parsed), out),
            Err(error) => {
                out.refuse(Some(self.peer), format_args!("{}: {error}", card.name));
                self.send(&Reply::SetValueAck { value, status: Status::Failed }, out);
            }
        }
    }

    fn send_written(&mut self, id: VariableId, status: Status, out: &mut Outbox<Vec<u8>>) {
        let value = LocalValue(self.values.number(id));
        self.send(&Reply::SetValueAck { value, status }, out);
    }

    fn observe(&mut self, values: &[LocalValue], world: &Snapshot, out: &mut Outbox<Vec<u8>>) {
        let mut answer = Vec::new();
        for &value in values {
            if self.values.thing(value.0).is_some_and(|id| self.observed.contains(&id)) {
                answer.push(value);
            } else if self.observed.len() >= limits::OBSERVED {
                out.refuse(Some(self.peer), "too many values are observed at once");
                answer.push(LocalValue::NOT_FOUND);
            } else if let Some(id) = self.variable(value, world) {
                self.observed.push(id);
                out.ask(Command::Observe(id));
                answer.push(value);
            } else {
                answer.push(LocalValue::NOT_FOUND);
            }
        }
        self.send(&Reply::RegisterForValuesAck { values: answer }, out);
    }

    fn unobserve(&mut self, values: &[LocalValue], out: &mut Outbox<Vec<u8>>) {
        let mut answer = Vec::new();
        for &value in values {
            let id = self.values.thing(value.0);
            answer.push(if id.is_some() { value } else { LocalValue::NOT_FOUND });
            if let Some(index) = self.observed.iter().position(|&other| Some(other) == id) {
                out.ask(Command::Unobserve(self.observed.remove(index)));
            }
        }
        self.send(&Reply::DeregisterFromValuesAck { values: answer }, out);
    }

    // --- resets ------------------------------------------------------------------------------------------------------

    fn reset_simulation(
        &mut self,
        seed: i32,
        number: Option<SequenceNumber>,
        world: &Snapshot,
        now: Instant,
        out: &mut Outbox<Vec<u8>>,
    ) {
        let again = match (number, self.reset.number) {
            (Some(number), Some(last)) if number != last && !number.is_after(last) => return,
            (Some(number), Some(last)) => number == last,
            (Some(_), None) => false,
            (None, _) => self.reset.confirm_by.is_some_and(|deadline| now < deadline),
        };
        self.send_numbered(&Reply::ResetSimulationAck, number, out);
        if again {
            if self.reset.told {
                self.send_numbered(&Reply::ResetCompleted, self.reset.number, out);
            }
            return;
        }
        self.reset = Reset { number, told: false, confirm_by: None, ..self.reset };
        let seed = (seed != 0).then_some(i64::from(seed) as u64);
        if let Some(control) = self.controlled.values_mut().find(|control| !control.wants_reset) {
            // the last wish counts
            control.wants_reset = true;
            if control.stage == Stage::Asked {
                control.stage = Stage::Idle;
            }
            self.reset.is_asked = true;
            out.ask(Command::Vote(control.agent, Vote::Reset(seed)));
        } else if world.lockstep.is_empty() {
            self.reset.is_asked = true;
            out.ask(Command::Reset(seed));
        }
    }

    fn was_reset(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>) {
        for control in self.controlled.values_mut() {
            control.wants_reset = false;
            // whoever asks for a step while somebody outside resets still waits for it
            if control.stage != Stage::Asked {
                control.stage = Stage::Idle;
            }
        }
        self.news.clear();
        self.confirm_by = None;
        if std::mem::take(&mut self.reset.is_asked) {
            self.reset.told = true;
            self.reset.confirm_by = Some(now + limits::RESET_CONFIRMATION);
        }
        self.send_numbered(&Reply::ResetCompleted, self.reset.number, out);
    }

    // --- steps -------------------------------------------------------------------------------------------------------

    fn next_step(
        &mut self,
        agent: LocalAgent,
        inputs: &[f32],
        (datagram, number): (&[u8], Option<SequenceNumber>),
        world: &Snapshot,
        now: Instant,
        out: &mut Outbox<Vec<u8>>,
    ) {
        let Some(control) = self.controlled.get_mut(&agent) else {
            return out.refuse(Some(self.peer), format_args!("a step of the agent {}, which is not its own", agent.0));
        };
        let arrival = control.arrives(datagram, number);
        if arrival == Arrival::Late {
            return;
        }
        let (peer, id) = (self.peer, control.agent);
        let again = if arrival == Arrival::Again { control.news_again().to_vec() } else { Vec::new() };
        self.send_numbered(&Reply::NextStepAck { agent }, number, out);
        out.replies.extend(again.into_iter().map(|news| (peer, news)));
        if arrival == Arrival::New {
            self.reset.confirm_by = None;
            self.confirmed(agent, now, out);
            if let Some(control) = self.controlled.get_mut(&agent) {
                control.stage = Stage::Asked;
                control.wants_reset = false;
            }
            if let Some(card) = world.catalogue.agent(id) {
                let actions = self.actions(card, inputs, out);
                out.ask(Command::Act(id, actions));
            }
            out.ask(Command::Vote(id, Vote::Step));
            out.may_wait = true;
        }
    }

    /// What the inputs make the motors do (D29).
    fn actions(&self, agent: &AgentCard, inputs: &[f32], out: &mut Outbox<Vec<u8>>) -> Vec<Action> {
        let wanted = agent.count(Role::Input);
        if inputs.len() > wanted {
            let given = inputs.len();
            out.refuse(Some(self.peer), format_args!("{} has {wanted} inputs, and was given {given}", agent.name));
        }
        let values = agent.values.iter().filter(|value| value.role == Role::Input);
        let mut actions = Vec::with_capacity(wanted);
        for (value, &input) in values.zip(inputs) {
            if input.is_finite() {
                actions.extend(value.action(f64::from(input)));
            } else {
                out.refuse(Some(self.peer), format_args!("{}{} cannot be {input}", agent.name, value.name));
            }
        }
        actions
    }

    /// A tick has passed: every agent that has asked for it is told, one after the other.
    fn stepped(&mut self, world: &Snapshot, now: Instant, out: &mut Outbox<Vec<u8>>) {
        let asked: Vec<_> = self
            .controlled
            .iter()
            .filter(|(_, c)| c.stage == Stage::Asked)
            .map(|(&agent, c)| (agent, c.agent))
            .collect();
        let is_waiting = !self.news.is_empty();
        for (index, (agent, id)) in asked.into_iter().enumerate() {
            let Some(card) = world.catalogue.agent(id) else { continue };
            let number = self.controlled.get(&agent).and_then(Control::number);
            // only the first one has these
            let (events, observed) = if index == 0 {
                (std::mem::take(&mut self.occurred).into_iter().collect(), self.observed_now(world))
            } else {
                (Vec::new(), Vec::new())
            };
            let sensed = |role| world.sensed(card, role).map(|value| value as f32).collect();
            let (outputs, infos) = (sensed(Role::Output), sensed(Role::Info));
            let completed = Reply::StepCompleted { agent, outputs, infos, events, observed: observed.len() };
            let mut news = Vec::with_capacity(1 + observed.len());
            news.extend(self.written(&completed, number, out));
            for value in &observed {
                news.extend(self.written(value, number, out));
            }
            if let Some(control) = self.controlled.get_mut(&agent) {
                control.stage = Stage::Done { news, told: false, confirmed: false };
            }
            self.news.push_back(agent);
        }
        if !is_waiting {
            self.tell_next(now, out);
        }
    }

    fn observed_now(&mut self, world: &Snapshot) -> Vec<Reply> {
        let value = |id: &VariableId| {
            let index = world.observed.binary_search_by_key(id, |(other, _)| *other).ok()?;
            let (_, value) = world.observed.get(index)?;
            let content = Text::from(value.to_string().as_str());
            Some(Reply::Value { value: LocalValue(self.values.known(*id)?), content })
        };
        self.observed.iter().filter_map(value).collect()
    }

    /// Sends the news of the first agent that has any.
    fn tell_next(&mut self, now: Instant, out: &mut Outbox<Vec<u8>>) {
        self.confirm_by = None;
        while let Some(agent) = self.news.front() {
            if let Some(Control { stage: Stage::Done { news, told, .. }, .. }) = self.controlled.get_mut(agent) {
                *told = true;
                out.replies.extend(news.iter().map(|news| (self.peer, news.clone())));
                // nothing is held up by the last one
                if self.news.len() > 1 {
                    self.confirm_by = Some(now + limits::CONFIRMATION);
                    return;
                }
            }
            self.news.pop_front();
        }
    }

    /// The client has got the news of an agent, or the agent is no longer its own.
    fn confirmed(&mut self, agent: LocalAgent, now: Instant, out: &mut Outbox<Vec<u8>>) {
        if let Some(Control { stage: Stage::Done { told: true, confirmed, .. }, .. }) = self.controlled.get_mut(&agent)
        {
            *confirmed = true;
        }
        if self.news.front() == Some(&agent) {
            self.news.pop_front();
            self.tell_next(now, out);
        }
    }
}

/// Whether the messages about an agent fit a datagram (D4).
fn fits(agent: &AgentCard) -> bool {
    let sensed = agent.count(Role::Output) + agent.count(Role::Info);
    sensed <= MAX_STEP_NUMBERS && agent.count(Role::Input) <= MAX_INPUTS
}

#[cfg(test)]
mod tests;
