//! The journal: inputs of a world from outside, kept for recordings and repeated by replays.

use crate::{
    agent::Action,
    change::Change,
    record::{Entry, ReplayError, TickRecord},
    variable::VariableError,
    world::{SaveError, World},
};

impl World {
    /// From now on keeps all inputs for [`World::take_record`].
    pub fn keep_journal(&mut self) {
        self.journal.get_or_insert_default();
        self.recorded = self.tick_count();
    }

    /// Stops keeping inputs.
    pub fn stop_journal(&mut self) {
        self.journal = None;
    }

    /// The last record of a recording that ends here: the hash of the state, unless it is recorded already or there were
    /// inputs since the last tick.
    pub fn last_record(&mut self, hash_every: u64) -> Option<TickRecord> {
        let ticks = self.tick_count().0;
        let is_recorded = ticks == 0 || ticks.is_multiple_of(hash_every);
        let is_unchanged = self.journal.as_ref().is_some_and(Vec::is_empty) && !self.half_recorded;
        (!is_recorded && is_unchanged).then(|| TickRecord {
            tick: ticks - 1,
            entries: Vec::new(),
            hash: Some(self.state_hash()),
        })
    }

    /// Takes the record of the last tick; to be called after each. It has the inputs before the tick and, every `hash_every`
    /// ticks, the hash of the state after it; `None` if it would be empty.
    ///
    /// A reset takes no tick: there is no record until the next one, which gets the inputs since.
    pub fn take_record(&mut self, hash_every: u64) -> Option<TickRecord> {
        let next = self.tick_count();
        if std::mem::replace(&mut self.recorded, next) == next {
            return None;
        }
        self.half_recorded = false;
        let hash = next.0.is_multiple_of(hash_every).then(|| self.state_hash());
        let entries = self.take_journal();
        (!entries.is_empty() || hash.is_some()).then(|| TickRecord { tick: next.0 - 1, entries, hash })
    }

    /// Takes a part of the record of the next tick once it has `count` entries: while time is paused, that tick may be far
    /// away.
    pub fn take_partial_record(&mut self, count: usize) -> Option<TickRecord> {
        if self.journal.as_ref().is_none_or(|journal| journal.len() < count) {
            return None;
        }
        self.half_recorded = true;
        Some(TickRecord { tick: self.tick_count().0, entries: self.take_journal(), hash: None })
    }

    /// Takes the inputs since the last call.
    pub fn take_journal(&mut self) -> Vec<Entry> {
        self.journal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub(crate) fn enter_journal(&mut self, entry: impl FnOnce() -> Entry) {
        if let Some(journal) = &mut self.journal {
            journal.push(entry());
        }
    }

    /// Applies an input of a recording.
    pub fn apply(&mut self, entry: Entry) -> Result<(), ReplayError> {
        match entry {
            Entry::Act { agent, mut actions } => {
                actions.retain(Action::is_valid);
                self.act(agent, actions);
            }
            Entry::Write { variable, value } => {
                let id = self.catalogue().variable_named(&variable).map(|card| card.id);
                id.ok_or(VariableError::Unknown)
                    .and_then(|id| self.write(id, value))
                    .map(drop)
                    .map_err(|cause| ReplayError::Write { variable, cause })?;
            }
            Entry::Admit { to, request } => {
                self.admit_recorded(&to, &request).map_err(|refusal| ReplayError::Order { order: request, refusal })?;
            }
            Entry::Order { to, order } => {
                self.deliver_recorded_order(&to, &order).map_err(|refusal| ReplayError::Order { order, refusal })?;
            }
            Entry::TurnedAway { name } => self.cancel_admission(&name),
            Entry::Reset { seed } => self.reset(Some(seed)),
            Entry::Join(robot) => self.change_now(Change::Join(robot.restore()?))?,
            Entry::Leave { agent } => self.change_now(Change::Leave(agent))?,
            Entry::Save { save } => {
                if self.save()? != save {
                    return Err(SaveError::Unknown.into());
                }
            }
            Entry::Restore { save } => self.restore(save)?,
            Entry::Discard { save } => self.discard(save),
            Entry::Resize { geom, size } => self.change_now(Change::Resize { geom, size })?,
        }
        Ok(())
    }
}
