//! Variables are read, written and observed.

use super::Runner;
use crate::{command::Answer, value::Value, variable::VariableId, world::SessionId};

impl Runner {
    pub(super) fn read(&self, id: VariableId) -> Option<Answer> {
        Some(match self.world.read(id) {
            Ok(value) => Answer::Value(id, value),
            Err(error) => Answer::NoValue(id, error),
        })
    }

    /// A write that needs a new model is answered once that is installed.
    pub(super) fn write(&mut self, session: SessionId, id: VariableId, value: Value) -> Option<Answer> {
        match self.world.write(id, value) {
            Ok(None) => Some(Answer::Written(id)),
            Ok(Some(ticket)) => {
                self.requesters.insert(ticket, (session, Some(id)));
                None
            }
            Err(error) => Some(Answer::NoValue(id, error)),
        }
    }

    pub(super) fn observe(&mut self, session: SessionId, id: VariableId) -> Option<Answer> {
        self.world.observe(id);
        self.observed.entry(session).or_default().push(id);
        None
    }

    pub(super) fn unobserve(&mut self, session: SessionId, id: VariableId) -> Option<Answer> {
        let observed = self.observed.entry(session).or_default();
        // a session ends only its own observations
        if let Some(index) = observed.iter().position(|&other| other == id) {
            observed.swap_remove(index);
            self.world.unobserve(id);
        }
        None
    }
}
