//! The state of pending steps and resets, without I/O.

use std::collections::BTreeMap;

use wire::osp::{LocalAgent, LocalEvent, LocalValue, Reply, Request, SequenceNumber};

/// The result of a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Step {
    /// The agents that this client controls, ordered by id.
    pub completed: Vec<Completed>,
    /// The subscribed events that occurred since the client's previous step.
    pub events: Vec<LocalEvent>,
    /// The observed values, in the format of their types.
    pub observed: Vec<(LocalValue, String)>,
}

/// The state of an agent after a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// The agent.
    pub agent: LocalAgent,
    /// Sensor values, normalized, in the order of the agent info.
    pub outputs: Vec<f32>,
    /// Other values, normalized, in the order of the agent info.
    pub infos: Vec<f32>,
}

/// Pending steps and resets. Every request carries a sequence number (D35), and so does every answer if the server
/// supports them.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The server uses sequence numbers, so replies without one do not belong to the current request.
    numbered: bool,
    agents: BTreeMap<LocalAgent, AgentSteps>,
    last_reset: u32,
    reset: Phase,
}

/// The step requests of one agent.
#[derive(Debug)]
struct AgentSteps {
    last: SequenceNumber,
    /// The last request, until its result is taken.
    pending: Option<PendingStep>,
}

#[derive(Debug)]
struct PendingStep {
    datagram: Vec<u8>,
    acknowledged: bool,
    notice: Option<Notice>,
}

impl PendingStep {
    fn is_complete(&self) -> bool {
        self.notice.as_ref().is_some_and(Notice::is_complete)
    }
}

/// A notification that the step is complete, and the observed values received so far.
#[derive(Debug)]
struct Notice {
    completed: Completed,
    events: Vec<LocalEvent>,
    /// Number of values that follow.
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

    /// Registers a step request and returns the numbered datagram.
    pub(super) fn ask_step(&mut self, agent: LocalAgent, mut datagram: Vec<u8>) -> Vec<u8> {
        let steps = self.agents.entry(agent).or_insert(AgentSteps { last: SequenceNumber(0), pending: None });
        steps.last = steps.last.next();
        steps.last.append_to(&mut datagram);
        steps.pending = Some(PendingStep { datagram: datagram.clone(), acknowledged: false, notice: None });
        datagram
    }

    /// Registers a reset request, which makes the server drop all steps, and returns the numbered datagram.
    pub(super) fn ask_reset(&mut self, mut datagram: Vec<u8>) -> Vec<u8> {
        self.agents.values_mut().for_each(|steps| steps.pending = None);
        self.reset = Phase::Asked;
        self.last_reset = self.last_reset.wrapping_add(1);
        SequenceNumber(self.last_reset).append_to(&mut datagram);
        datagram
    }

    pub(super) fn is_stepping(&self, agent: LocalAgent) -> bool {
        self.agents.get(&agent).is_some_and(|steps| steps.pending.is_some())
    }

    pub(super) fn forget_step(&mut self, agent: LocalAgent) {
        if let Some(steps) = self.agents.get_mut(&agent) {
            steps.pending = None;
        }
    }

    pub(super) fn is_reset_acknowledged(&self) -> bool {
        self.reset >= Phase::Acknowledged
    }

    pub(super) fn is_reset_done(&self) -> bool {
        self.reset == Phase::Done
    }

    /// Whether the server has acknowledged every pending step.
    pub(super) fn is_step_acknowledged(&self) -> bool {
        self.pending().all(|(_, pending)| pending.acknowledged)
    }

    /// Whether every pending step is complete.
    pub(super) fn is_step_done(&self) -> bool {
        self.pending().all(|(_, pending)| pending.is_complete())
    }

    /// The datagrams to retransmit on timeout: unanswered requests, and confirmations, without which the server does
    /// not proceed to the next agent.
    pub(super) fn retransmissions(&self) -> (Vec<Vec<u8>>, Vec<Request>) {
        let requests =
            self.pending().filter(|(_, pending)| !pending.is_complete()).map(|(_, pending)| pending.datagram.clone());
        let confirmed = self.pending().filter(|(_, pending)| pending.is_complete());
        (requests.collect(), confirmed.map(|(agent, _)| Request::StepCompletedAck { agent }).collect())
    }

    fn pending(&self) -> impl Iterator<Item = (LocalAgent, &PendingStep)> {
        self.agents.iter().filter_map(|(&agent, steps)| Some((agent, steps.pending.as_ref()?)))
    }

    /// Takes the result of the pending steps.
    pub(super) fn take_step(&mut self) -> Step {
        let mut step = Step::default();
        for notice in self.agents.values_mut().filter_map(|steps| steps.pending.take()?.notice) {
            step.completed.push(notice.completed);
            step.events.extend(notice.events);
            step.observed.extend(notice.observed);
        }
        step
    }

    /// Handles a reply. Returns the confirmation the server waits for, if any.
    pub(super) fn handle(&mut self, reply: &Reply, number: Option<SequenceNumber>) -> Option<Request> {
        self.numbered |= number.is_some();
        match reply {
            Reply::NextStepAck { agent } => {
                let (steps, numbered) = (self.agents.get_mut(agent)?, self.numbered);
                if answers(numbered, number, steps.last) {
                    steps.pending.as_mut()?.acknowledged = true;
                }
                None
            }
            Reply::StepCompleted { .. } => self.handle_completed(reply, number),
            Reply::Value { value, content } => self.handle_value(*value, content.as_str(), number),
            Reply::ResetSimulationAck => {
                if answers(self.numbered, number, SequenceNumber(self.last_reset)) {
                    self.reset = self.reset.max(Phase::Acknowledged);
                }
                None
            }
            Reply::ResetCompleted => {
                let is_asked = matches!(self.reset, Phase::Asked | Phase::Acknowledged);
                // without a number, only the preceding acknowledgement distinguishes it from an earlier reset
                let is_early = number.is_none() && self.reset == Phase::Asked;
                let is_ours = answers(self.numbered, number, SequenceNumber(self.last_reset)) && !is_early;
                if is_asked && is_ours {
                    self.reset = Phase::Done;
                }
                // while a reset is pending, confirming an earlier one would be mistaken for confirming this one
                (is_ours || !is_asked).then_some(Request::ResetCompleted)
            }
            _ => None,
        }
    }

    fn handle_completed(&mut self, reply: &Reply, number: Option<SequenceNumber>) -> Option<Request> {
        let Reply::StepCompleted { agent, outputs, infos, events, observed } = reply else { return None };
        let (agent, confirmation) = (*agent, Request::StepCompletedAck { agent: *agent });
        let steps = self.agents.get_mut(&agent)?;
        if !answers(self.numbered, number, steps.last) {
            return None;
        }
        // the confirmation of the last step was lost
        let Some(pending) = &mut steps.pending else { return Some(confirmation) };
        if number.is_none() && !pending.acknowledged {
            return None;
        }
        pending.acknowledged = true;
        let notice = pending.notice.get_or_insert_with(|| Notice {
            completed: Completed { agent, outputs: outputs.clone(), infos: infos.clone() },
            events: events.clone(),
            awaited: *observed,
            observed: Vec::new(),
        });
        notice.is_complete().then_some(confirmation)
    }

    /// A value belongs to the step whose notification announced it.
    fn handle_value(&mut self, value: LocalValue, content: &str, number: Option<SequenceNumber>) -> Option<Request> {
        let numbered = self.numbered;
        let waits = |steps: &&mut AgentSteps| {
            let notice = steps.pending.as_ref().and_then(|pending| pending.notice.as_ref());
            notice.is_some_and(|notice| !notice.is_complete()) && answers(numbered, number, steps.last)
        };
        let notice = self.agents.values_mut().find(waits)?.pending.as_mut()?.notice.as_mut()?;
        if notice.observed.iter().all(|(known, _)| *known != value) {
            notice.observed.push((value, content.to_owned()));
        }
        notice.is_complete().then_some(Request::StepCompletedAck { agent: notice.completed.agent })
    }
}

/// Whether an answer belongs to the last request. Accepts any answer of a server without sequence numbers.
fn answers(numbered: bool, number: Option<SequenceNumber>, last: SequenceNumber) -> bool {
    number.map_or(!numbered, |number| number == last)
}
