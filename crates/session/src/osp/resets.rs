//! Resets of the simulation.

use std::time::Instant;

use wire::osp::{Reply, SequenceNumber};
use world::{Command, Snapshot, clock::Vote};

use super::{OspSession, controlled_agent::StepState};
use crate::{ConversationOutbox, limits};

/// The client's last reset request.
#[derive(Debug, Default)]
pub(super) struct Reset {
    /// The try that the client knows of.
    pub(super) tries: Option<u64>,
    /// SequenceNumber of the last request.
    number: Option<SequenceNumber>,
    /// Whether the request has led to a vote or a reset that is still pending.
    is_requested: bool,
    /// Whether the completion of the requested reset has been sent.
    is_sent: bool,
    /// Until when the client may confirm it; none if it has.
    pub(super) confirm_by: Option<Instant>,
}

impl OspSession {
    pub(super) fn reset_simulation(
        &mut self,
        seed: i32,
        number: Option<SequenceNumber>,
        world: &Snapshot,
        now: Instant,
        out: &mut ConversationOutbox,
    ) {
        let again = match (number, self.reset.number) {
            (Some(number), Some(last)) if number != last && !number.is_after(last) => return,
            (Some(number), Some(last)) => number == last,
            (Some(_), None) => false,
            (None, _) => self.reset.confirm_by.is_some_and(|deadline| now < deadline),
        };
        self.send_numbered(&Reply::ResetSimulationAck, number, out);
        if again {
            if self.reset.is_sent {
                self.send_numbered(&Reply::ResetCompleted, self.reset.number, out);
            }
            return;
        }
        self.reset = Reset { number, is_sent: false, confirm_by: None, ..self.reset };
        let seed = (seed != 0).then_some(i64::from(seed) as u64);
        if let Some(control) = self.agents.controlled.values_mut().find(|control| !control.has_voted_reset) {
            // the last vote of an agent counts
            control.has_voted_reset = true;
            if control.step == StepState::Requested {
                control.step = StepState::Idle;
            }
            self.reset.is_requested = true;
            out.command(Command::Vote(control.agent, Vote::Reset(seed)));
        } else if world.lockstep.is_empty() {
            self.reset.is_requested = true;
            out.command(Command::Reset(seed));
        }
    }

    pub(super) fn was_reset(&mut self, now: Instant, out: &mut ConversationOutbox) {
        for control in self.agents.controlled.values_mut() {
            control.has_voted_reset = false;
            // a step requested before an outside reset is still pending
            if control.step != StepState::Requested {
                control.step = StepState::Idle;
            }
        }
        self.steps.unreported.clear();
        self.steps.confirm_by = None;
        if std::mem::take(&mut self.reset.is_requested) {
            self.reset.is_sent = true;
            self.reset.confirm_by = Some(now + limits::RESET_CONFIRMATION);
        }
        self.send_numbered(&Reply::ResetCompleted, self.reset.number, out);
    }
}
