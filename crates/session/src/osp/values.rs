//! Values: searching, reading, writing and observing variables.

use std::{collections::VecDeque, time::Instant};

use wire::osp::{LocalValue, Reply, Status, Text};
use world::{Command, Snapshot, Value, VariableId, variable::VariableError};

use super::{OspSession, locals::Locals, searches::Search};
use crate::{ConversationOutbox, limits};

/// Variables as the client knows them.
#[derive(Debug, Default)]
pub(super) struct Values {
    pub(super) ids: Locals<VariableId>,
    /// Variables that each step report includes, in the order of their registration.
    pub(super) observed: Vec<VariableId>,
    /// Reads and writes that the world has not answered yet, in order.
    pub(super) pending: VecDeque<(VariableId, Pending)>,
}

/// A request that waits for the world's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Read,
    Write(Text),
}

impl OspSession {
    pub(super) fn value_read(&mut self, id: VariableId, value: &Value, out: &mut ConversationOutbox) {
        self.take_pending(id, |pending| *pending == Pending::Read);
        self.send_value(id, &value.to_string(), out);
    }

    pub(super) fn value_written(&mut self, id: VariableId, out: &mut ConversationOutbox) {
        self.take_pending(id, |pending| *pending != Pending::Read);
        self.send_written(id, Status::Done, out);
    }

    pub(super) fn value_failed(&mut self, id: VariableId, error: &VariableError, out: &mut ConversationOutbox) {
        match self.take_pending(id, |_| true) {
            Some(Pending::Write(_)) if *error != VariableError::Unknown => {
                out.refuse(Some(self.peer), error);
                self.send_written(id, Status::Failed, out);
            }
            Some(Pending::Write(_)) => self.send_written(id, Status::NotFound, out),
            Some(Pending::Read) | None => self.send_no_value(out),
        }
    }

    pub(super) fn search_values(
        &mut self,
        expression: &Text,
        world: &Snapshot,
        now: Instant,
        out: &mut ConversationOutbox,
    ) {
        if let Err(reason) = self.searches.push(expression.as_str(), &world.catalogue, now) {
            out.refuse(Some(self.peer), reason);
            self.send(&Reply::ValueIds { count: 0 }, out);
        }
    }

    pub(super) fn list_found(&mut self, search: &Search, out: &mut ConversationOutbox) {
        if search.is_cut_off {
            out.refuse(Some(self.peer), format_args!("only the first {} matches are listed", limits::MATCHES));
        }
        let found = search.found();
        self.list(&Reply::ValueIds { count: found.len() });
        for (index, card) in found.enumerate() {
            let value = LocalValue(self.values.ids.number(card.id));
            let (kind, name) = (Text::from(card.kind.name()), Text::from(&*card.name));
            self.list(&Reply::ValueInfo { index, value, kind, name });
        }
    }

    /// The variable that the client knows by this number, if it is in the world.
    pub(super) fn variable(&self, value: LocalValue, world: &Snapshot) -> Option<VariableId> {
        let id = self.values.ids.thing(value.0)?;
        world.catalogue.variables.iter().any(|card| card.id == id).then_some(id)
    }

    pub(super) fn ask(&mut self, id: VariableId, pending: Pending, command: Command, out: &mut ConversationOutbox) {
        if self.values.pending.len() >= limits::QUESTIONS {
            return out.refuse(Some(self.peer), "too many pending reads and writes");
        }
        self.values.pending.push_back((id, pending));
        out.command(command);
    }

    /// Removes the oldest matching request that the world has answered.
    pub(super) fn take_pending(&mut self, id: VariableId, matches: impl Fn(&Pending) -> bool) -> Option<Pending> {
        let index = self.values.pending.iter().position(|(other, asked)| *other == id && matches(asked))?;
        self.values.pending.remove(index).map(|(_, asked)| asked)
    }

    pub(super) fn get_value(&mut self, value: LocalValue, world: &Snapshot, out: &mut ConversationOutbox) {
        match self.variable(value, world) {
            Some(id) => self.ask(id, Pending::Read, Command::Read(id), out),
            None => self.send_no_value(out),
        }
    }

    pub(super) fn send_value(&mut self, id: VariableId, content: &str, out: &mut ConversationOutbox) {
        let value = LocalValue(self.values.ids.number(id));
        self.send(&Reply::Value { value, content: Text::from(content) }, out);
    }

    pub(super) fn send_no_value(&self, out: &mut ConversationOutbox) {
        self.send(&Reply::Value { value: LocalValue::UNREADABLE, content: Text::default() }, out);
    }

    pub(super) fn set_value(
        &mut self,
        value: LocalValue,
        content: &Text,
        world: &Snapshot,
        out: &mut ConversationOutbox,
    ) {
        let known = self.values.ids.thing(value.0);
        let card = known.and_then(|id| world.catalogue.variables.iter().find(|card| card.id == id));
        let Some(card) = card else {
            return self.send(&Reply::SetValueAck { value, status: Status::NotFound }, out);
        };
        let asked = Pending::Write(content.clone());
        if self.values.pending.contains(&(card.id, asked.clone())) {
            // repeated while the first is in progress: changing a size takes a while
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

    pub(super) fn send_written(&mut self, id: VariableId, status: Status, out: &mut ConversationOutbox) {
        let value = LocalValue(self.values.ids.number(id));
        self.send(&Reply::SetValueAck { value, status }, out);
    }

    pub(super) fn observe(&mut self, values: &[LocalValue], world: &Snapshot, out: &mut ConversationOutbox) {
        let mut answer = Vec::new();
        for &value in values {
            if self.values.ids.thing(value.0).is_some_and(|id| self.values.observed.contains(&id)) {
                answer.push(value);
            } else if self.values.observed.len() >= limits::OBSERVED {
                out.refuse(Some(self.peer), "too many observed values");
                answer.push(LocalValue::NOT_FOUND);
            } else if let Some(id) = self.variable(value, world) {
                self.values.observed.push(id);
                out.command(Command::Observe(id));
                answer.push(value);
            } else {
                answer.push(LocalValue::NOT_FOUND);
            }
        }
        self.send(&Reply::RegisterForValuesAck { values: answer }, out);
    }

    pub(super) fn unobserve(&mut self, values: &[LocalValue], out: &mut ConversationOutbox) {
        let mut answer = Vec::new();
        for &value in values {
            let id = self.values.ids.thing(value.0);
            answer.push(if id.is_some() { value } else { LocalValue::NOT_FOUND });
            if let Some(index) = self.values.observed.iter().position(|&other| Some(other) == id) {
                out.command(Command::Unobserve(self.values.observed.remove(index)));
            }
        }
        self.send(&Reply::DeregisterFromValuesAck { values: answer }, out);
    }
}
