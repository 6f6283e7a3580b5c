//! What was asked of the simulation, and what has come of it; no socket.

use std::collections::BTreeMap;

use wire::osp::{LocalAgent, LocalEvent, LocalValue, Reply, Request, SequenceNumber};

/// What came of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// Each agent that this client controls, by its id.
    pub completed: Vec<Completed>,
    /// What this client has registered for and has occurred since its last step.
    pub events: Vec<LocalEvent>,
    /// The values that this client observes, in the format of their types.
    pub observed: Vec<(LocalValue, String)>,
}

/// An agent after a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The agent.
    pub agent: LocalAgent,
    /// Its sensors, normalized, in the order of its info.
    pub outputs: Vec<f32>,
    /// Its other values, normalized, in the order of its info.
    pub infos: Vec<f32>,
}

/// Steps and resets under way. Every request has a number (D35), and so has every answer, if the server knows numbers.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The server has used a number: what has none is not meant for the current request.
    numbered: bool,
    agents: BTreeMap<LocalAgent, Row>,
    last_reset: u32,
    reset: Phase,
}

/// The requests of one agent.
#[derive(Debug)]
struct Row {
    last: SequenceNumber,
    /// The last one, until its answer is taken.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    datagram: Vec<u8>,
    acknowledged: bool,
    notice: Option<Notice>,
}

impl Open {
    fn is_complete(&self) -> bool {
        self.notice.as_ref().is_some_and(Notice::is_complete)
    }
}

/// A notification that the step is done, and what came after it so far.
#[derive(Debug)]
struct Notice {
    completed: Completed,
    events: Vec<LocalEvent>,
    /// How many values come after it.
    awaited: usize,
    observed: Vec<(LocalValue, String)>,
}

impl Notice {
    fn is_complete(&self) -> bool {
        self.observed.len() >= self.awaited
    }
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Idle,
    Asked,
    Acknowledged,
    Done,
}

impl Progress {
    pub(super) fn is_numbered(&self) -> bool {
        self.numbered
    }

    /// Notes a step that is asked for. Gives the datagram with its number.
    pub(super) fn ask_step(&mut self, agent: LocalAgent, mut datagram: Vec<u8>) -> Vec<u8> {
        let row = self.agents.entry(agent).or_insert(Row { last: SequenceNumber(0), open: None });
        row.last = row.last.next();
        row.last.append_to(&mut datagram);
        row.open = Some(Open { datagram: datagram.clone(), acknowledged: false, notice: None });
        datagram
    }

    /// Notes a reset that is asked for. It makes the server forget all steps. Gives the datagram with its number.
    pub(super) fn ask_reset(&mut self, mut datagram: Vec<u8>) -> Vec<u8> {
        self.agents.values_mut().for_each(|row| row.open = None);
        self.reset = Phase::Asked;
        self.last_reset = self.last_reset.wrapping_add(1);
        SequenceNumber(self.last_reset).append_to(&mut datagram);
        datagram
    }

    pub(super) fn is_stepping(&self, agent: LocalAgent) -> bool {
        self.agents.get(&agent).is_some_and(|row| row.open.is_some())
    }

    pub(super) fn forget_step(&mut self, agent: LocalAgent) {
        if let Some(row) = self.agents.get_mut(&agent) {
            row.open = None;
        }
    }

    pub(super) fn is_reset_acknowledged(&self) -> bool {
        self.reset >= Phase::Acknowledged
    }

    pub(super) fn is_reset_done(&self) -> bool {
        self.reset == Phase::Done
    }

    /// Whether the server has said of every step that it has its request.
    pub(super) fn is_step_acknowledged(&self) -> bool {
        self.open().all(|(_, open)| open.acknowledged)
    }

    /// Whether all that was asked for has come.
    pub(super) fn is_step_done(&self) -> bool {
        self.open().all(|(_, open)| open.is_complete())
    }

    /// What is sent again when nothing comes: requests without their answer, and confirmations, without which the server
    /// does not go on to the next agent.
    pub(super) fn repetitions(&self) -> (Vec<Vec<u8>>, Vec<Request>) {
        let requests = self.open().filter(|(_, open)| !open.is_complete()).map(|(_, open)| open.datagram.clone());
        let confirmed = self.open().filter(|(_, open)| open.is_complete());
        (requests.collect(), confirmed.map(|(agent, _)| Request::StepCompletedAck { agent }).collect())
    }

    fn open(&self) -> impl Iterator<Item = (LocalAgent, &Open)> {
        self.agents.iter().filter_map(|(&agent, row)| Some((agent, row.open.as_ref()?)))
    }

    /// What came of the steps that were asked for, once.
    pub(super) fn take_step(&mut self) -> Step {
        let mut step = Step::default();
        for notice in self.agents.values_mut().filter_map(|row| row.open.take()?.notice) {
            step.completed.push(notice.completed);
            step.events.extend(notice.events);
            step.observed.extend(notice.observed);
        }
        step
    }

    /// Takes what the server has sent. Gives the confirmation that it waits for, if it does.
    pub(super) fn note(&mut self, reply: &Reply, number: Option<SequenceNumber>) -> Option<Request> {
        self.numbered |= number.is_some();
        match reply {
            Reply::NextStepAck { agent } => {
                let (row, numbered) = (self.agents.get_mut(agent)?, self.numbered);
                if answers(numbered, number, row.last) {
                    row.open.as_mut()?.acknowledged = true;
                }
                None
            }
            Reply::StepCompleted { .. } => self.note_completed(reply, number),
            Reply::Value { value, content } => self.note_value(*value, content.as_str(), number),
            Reply::ResetSimulationAck => {
                if answers(self.numbered, number, SequenceNumber(self.last_reset)) {
                    self.reset = self.reset.max(Phase::Acknowledged);
                }
                None
            }
            Reply::ResetCompleted => {
                let is_asked = matches!(self.reset, Phase::Asked | Phase::Acknowledged);
                // without a number it is told from that of an earlier reset by what came before
                let is_early = number.is_none() && self.reset == Phase::Asked;
                let is_ours = answers(self.numbered, number, SequenceNumber(self.last_reset)) && !is_early;
                if is_asked && is_ours {
                    self.reset = Phase::Done;
                }
                // while a reset is awaited, a confirmation of another would pass for one of this
                (is_ours || !is_asked).then_some(Request::ResetCompleted)
            }
            _ => None,
        }
    }

    fn note_completed(&mut self, reply: &Reply, number: Option<SequenceNumber>) -> Option<Request> {
        let Reply::StepCompleted { agent, outputs, infos, events, observed } = reply else { return None };
        let (agent, confirmation) = (*agent, Request::StepCompletedAck { agent: *agent });
        let row = self.agents.get_mut(&agent)?;
        if !answers(self.numbered, number, row.last) {
            return None;
        }
        // the confirmation of the last one got lost
        let Some(open) = &mut row.open else { return Some(confirmation) };
        if number.is_none() && !open.acknowledged {
            return None;
        }
        open.acknowledged = true;
        let notice = open.notice.get_or_insert_with(|| Notice {
            completed: Completed { agent, outputs: outputs.clone(), infos: infos.clone() },
            events: events.clone(),
            awaited: *observed,
            observed: Vec::new(),
        });
        notice.is_complete().then_some(confirmation)
    }

    /// A value belongs to the step whose notification has promised it.
    fn note_value(&mut self, value: LocalValue, content: &str, number: Option<SequenceNumber>) -> Option<Request> {
        let numbered = self.numbered;
        let waits = |row: &&mut Row| {
            let notice = row.open.as_ref().and_then(|open| open.notice.as_ref());
            notice.is_some_and(|notice| !notice.is_complete()) && answers(numbered, number, row.last)
        };
        let notice = self.agents.values_mut().find(waits)?.open.as_mut()?.notice.as_mut()?;
        if notice.observed.iter().all(|(known, _)| *known != value) {
            notice.observed.push((value, content.to_owned()));
        }
        notice.is_complete().then_some(Request::StepCompletedAck { agent: notice.completed.agent })
    }
}

/// Whether an answer with this number, or without, is one to the last request. A server that does not number anything
/// is believed.
fn answers(numbered: bool, number: Option<SequenceNumber>, last: SequenceNumber) -> bool {
    number.map_or(!numbered, |number| number == last)
}
