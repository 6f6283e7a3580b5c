use super::field::{Writer, count, counted_values, floats, ints, status, text, version_of_bytes, version_of_ints};
use super::{Dialect, LocalAgent, LocalEvent, LocalValue, NUMBER_BYTES, Status, Text, Version, id};
use crate::{DecodeError, Reader};

/// A reply or notification from the server.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The answer to [`Request::Init`](super::Request::Init). All further requests go to the port it was sent from.
    InitAck {
        /// The version of the server.
        version: Version,
    },
    /// The answer to [`Request::End`](super::Request::End).
    EndAck,
    /// A client has closed all connections.
    ResetCommunicationAck,
    /// The answer to [`Request::RegisterForEvent`](super::Request::RegisterForEvent).
    RegisterForEventAck {
        /// The event, or [`LocalEvent::NOT_FOUND`].
        event: LocalEvent,
    },
    /// The answer to [`Request::DeregisterFromEvent`](super::Request::DeregisterFromEvent).
    DeregisterFromEventAck {
        /// The event, or [`LocalEvent::NOT_FOUND`].
        event: LocalEvent,
    },
    /// The answer to [`Request::GetValueIds`](super::Request::GetValueIds).
    ValueIds {
        /// Number of [`ValueInfo`](Self::ValueInfo) messages that follow.
        count: usize,
    },
    /// One of the requested values.
    ValueInfo {
        /// Its index in the answer, from 0.
        index: usize,
        /// The value.
        value: LocalValue,
        /// Its type, such as `String`, `Integer`, `NormalizedDouble`, `Point3D`.
        kind: Text,
        /// Its full name.
        name: Text,
    },
    /// The answer to [`Request::GetValue`](super::Request::GetValue), and the notification about an observed value
    /// after a step.
    Value {
        /// The value, or [`LocalValue::UNREADABLE`].
        value: LocalValue,
        /// Its content, in the format of its type.
        content: Text,
    },
    /// The answer to [`Request::SetValue`](super::Request::SetValue).
    SetValueAck {
        /// The value.
        value: LocalValue,
        /// [`Status::Failed`] if the content is invalid for the value's type.
        status: Status,
    },
    /// The answer to [`Request::RegisterForValues`](super::Request::RegisterForValues). Only [`Dialect::Original`]
    /// starts with a count.
    RegisterForValuesAck {
        /// The requested values, unknown ones replaced by [`LocalValue::NOT_FOUND`]; at most
        /// [`MAX_VALUES`](super::MAX_VALUES).
        values: Vec<LocalValue>,
    },
    /// The answer to [`Request::DeregisterFromValues`](super::Request::DeregisterFromValues).
    DeregisterFromValuesAck {
        /// The requested values, unknown ones replaced by [`LocalValue::NOT_FOUND`]; at most
        /// [`MAX_VALUES`](super::MAX_VALUES).
        values: Vec<LocalValue>,
    },
    /// The answer to [`Request::ResetSimulation`](super::Request::ResetSimulation).
    ResetSimulationAck,
    /// The simulation has been reset. Confirmed by [`Request::ResetCompleted`](super::Request::ResetCompleted). Written
    /// as 76 in [`Dialect::Document`], as 75 in [`Dialect::Original`]; both are accepted (D7).
    ResetCompleted,
    /// The answer to [`Request::NextStep`](super::Request::NextStep).
    NextStepAck {
        /// The agent.
        agent: LocalAgent,
    },
    /// A step has been completed. Confirmed by [`Request::StepCompletedAck`](super::Request::StepCompletedAck). Carries
    /// at most [`MAX_STEP_NUMBERS`](super::MAX_STEP_NUMBERS) numbers.
    StepCompleted {
        /// The agent.
        agent: LocalAgent,
        /// Sensor values, normalized, in the order of the agent info.
        outputs: Vec<f32>,
        /// Other values, normalized, in the order of the agent info.
        infos: Vec<f32>,
        /// The events the client has registered for that occurred in this step.
        events: Vec<LocalEvent>,
        /// Number of [`Value`](Self::Value) messages that follow.
        observed: usize,
    },
    /// The answer to [`Request::GetAgentOverview`](super::Request::GetAgentOverview).
    AgentOverview {
        /// Number of [`AgentOverviewNext`](Self::AgentOverviewNext) messages that follow.
        count: usize,
    },
    /// One of the agents.
    AgentOverviewNext {
        /// Its index in the answer, from 0.
        index: usize,
        /// The agent.
        agent: LocalAgent,
        /// Type of the group of objects it belongs to.
        group_type: Text,
        /// Whether no client controls it.
        available: bool,
        /// Its name.
        name: Text,
    },
    /// The answer to [`Request::GetAgentInfo`](super::Request::GetAgentInfo). Followed by one
    /// [`AgentInfoNext`](Self::AgentInfoNext) per input, output and info.
    AgentInfo {
        /// The agent.
        agent: LocalAgent,
        /// Number of motors.
        inputs: usize,
        /// Number of sensors.
        outputs: usize,
        /// Number of other values.
        infos: usize,
        /// Its name.
        name: Text,
    },
    /// One of an agent's values: the inputs, then the outputs, then the infos.
    AgentInfoNext {
        /// Its index in the answer, from 0.
        index: usize,
        /// Its smallest value, normalized.
        min: f32,
        /// Its largest value, normalized.
        max: f32,
        /// Its name.
        name: Text,
    },
    /// The answer to [`Request::RegisterForAgent`](super::Request::RegisterForAgent).
    RegisterForAgentAck {
        /// The agent.
        agent: LocalAgent,
        /// [`Status::Failed`] if the agent does not exist or another client controls it.
        status: Status,
    },
    /// The answer to [`Request::DeregisterFromAgent`](super::Request::DeregisterFromAgent).
    DeregisterFromAgentAck {
        /// The agent.
        agent: LocalAgent,
        /// [`Status::NotFound`] if the agent does not exist.
        status: Status,
    },
}

impl Reply {
    /// Decodes a reply to a client of `dialect`. The final byte of [`Dialect::Original`] is optional.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the datagram is not a valid reply. Never panics, whatever the input.
    pub fn decode_in(dialect: Dialect, datagram: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(datagram);
        let reply = match r.u8("id")? {
            id::INIT_ACK => match dialect {
                Dialect::Document => Self::InitAck { version: version_of_ints(&mut r)? },
                Dialect::Original => Self::InitAck { version: version_of_bytes(&mut r)? },
            },
            id::END_ACK => Self::EndAck,
            id::RESET_COMMUNICATION_ACK => Self::ResetCommunicationAck,
            id::REGISTER_FOR_EVENT_ACK => Self::RegisterForEventAck { event: LocalEvent(r.i32_le("event")?) },
            id::DEREGISTER_FROM_EVENT_ACK => Self::DeregisterFromEventAck { event: LocalEvent(r.i32_le("event")?) },
            id::VALUE_IDS => Self::ValueIds { count: count(&mut r, "values")? },
            id::VALUE_INFO => value_info(&mut r)?,
            id::VALUE => Self::Value { value: LocalValue(r.i32_le("value")?), content: text(&mut r) },
            id::SET_VALUE_ACK => Self::SetValueAck { value: LocalValue(r.i32_le("value")?), status: status(&mut r)? },
            id::REGISTER_FOR_VALUES_ACK => match dialect {
                Dialect::Document => Self::RegisterForValuesAck { values: values_to_the_end(&mut r)? },
                Dialect::Original => Self::RegisterForValuesAck { values: counted_values(&mut r)? },
            },
            id::DEREGISTER_FROM_VALUES_ACK => Self::DeregisterFromValuesAck { values: counted_values(&mut r)? },
            id::RESET_SIMULATION_ACK => Self::ResetSimulationAck,
            id::RESET_COMPLETED | id::RESET_COMPLETED_ACK => Self::ResetCompleted,
            id::NEXT_STEP_ACK => Self::NextStepAck { agent: LocalAgent(r.i32_le("agent")?) },
            id::STEP_COMPLETED => step_completed(&mut r)?,
            id::AGENT_OVERVIEW => Self::AgentOverview { count: count(&mut r, "agents")? },
            id::AGENT_OVERVIEW_NEXT => agent_overview_next(&mut r)?,
            id::AGENT_INFO => agent_info(&mut r)?,
            id::AGENT_INFO_NEXT => agent_info_next(&mut r)?,
            id::REGISTER_FOR_AGENT_ACK => {
                Self::RegisterForAgentAck { agent: LocalAgent(r.i32_le("agent")?), status: status(&mut r)? }
            }
            id::DEREGISTER_FROM_AGENT_ACK => {
                Self::DeregisterFromAgentAck { agent: LocalAgent(r.i32_le("agent")?), status: status(&mut r)? }
            }
            id => return Err(DecodeError::UnknownId { id: id.into() }),
        };
        Ok(reply)
    }

    /// Appends the reply, encoded for a client of `dialect`, to `out`.
    pub fn encode_in(&self, dialect: Dialect, out: &mut Vec<u8>) {
        let w = &mut Writer(out);
        match self {
            Self::InitAck { version } => match dialect {
                Dialect::Document => w.u8(id::INIT_ACK).version_as_ints(*version),
                Dialect::Original => w.u8(id::INIT_ACK).version_as_bytes(*version),
            },
            Self::EndAck => w.u8(id::END_ACK),
            Self::ResetCommunicationAck => w.u8(id::RESET_COMMUNICATION_ACK),
            Self::RegisterForEventAck { event } => w.u8(id::REGISTER_FOR_EVENT_ACK).int(event.0),
            Self::DeregisterFromEventAck { event } => w.u8(id::DEREGISTER_FROM_EVENT_ACK).int(event.0),
            Self::ValueIds { count } => w.u8(id::VALUE_IDS).count(*count),
            Self::ValueInfo { index, value, kind, name } => {
                w.u8(id::VALUE_INFO).count(*index).int(value.0).text(kind).text(name)
            }
            Self::Value { value, content } => w.u8(id::VALUE).int(value.0).text(content),
            Self::SetValueAck { value, status } => w.u8(id::SET_VALUE_ACK).int(value.0).status(*status),
            Self::RegisterForValuesAck { values } => match dialect {
                Dialect::Document => w.u8(id::REGISTER_FOR_VALUES_ACK).values(values),
                Dialect::Original => w.u8(id::REGISTER_FOR_VALUES_ACK).count(values.len()).values(values),
            },
            Self::DeregisterFromValuesAck { values } => {
                w.u8(id::DEREGISTER_FROM_VALUES_ACK).count(values.len()).values(values)
            }
            Self::ResetSimulationAck => w.u8(id::RESET_SIMULATION_ACK),
            Self::ResetCompleted => match dialect {
                Dialect::Document => w.u8(id::RESET_COMPLETED_ACK),
                Dialect::Original => w.u8(id::RESET_COMPLETED),
            },
            Self::NextStepAck { agent } => w.u8(id::NEXT_STEP_ACK).int(agent.0),
            Self::StepCompleted { agent, outputs, infos, events, observed } => {
                w.u8(id::STEP_COMPLETED).int(agent.0);
                w.count(outputs.len()).count(infos.len()).count(events.len()).count(*observed);
                w.floats(outputs).floats(infos).ints(events.iter().map(|event| event.0))
            }
            Self::AgentOverview { count } => w.u8(id::AGENT_OVERVIEW).count(*count),
            Self::AgentOverviewNext { index, agent, group_type, available, name } => {
                w.u8(id::AGENT_OVERVIEW_NEXT).count(*index).int(agent.0);
                w.text(group_type).u8((*available).into()).text(name)
            }
            Self::AgentInfo { agent, inputs, outputs, infos, name } => {
                w.u8(id::AGENT_INFO).int(agent.0).count(*inputs).count(*outputs).count(*infos).text(name)
            }
            Self::AgentInfoNext { index, min, max, name } => {
                w.u8(id::AGENT_INFO_NEXT).count(*index).floats(&[*min, *max]).text(name)
            }
            Self::RegisterForAgentAck { agent, status } => {
                w.u8(id::REGISTER_FOR_AGENT_ACK).int(agent.0).status(*status)
            }
            Self::DeregisterFromAgentAck { agent, status } => {
                w.u8(id::DEREGISTER_FROM_AGENT_ACK).int(agent.0).status(*status)
            }
        };
        if dialect == Dialect::Original {
            w.u8(id::DATAGRAM_END);
        }
    }

    /// Encodes the reply for a client of `dialect`.
    pub fn to_bytes_in(&self, dialect: Dialect) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_in(dialect, &mut out);
        out
    }
}

fn value_info(r: &mut Reader<'_>) -> Result<Reply, DecodeError> {
    let (index, value) = (count(r, "index")?, LocalValue(r.i32_le("value")?));
    Ok(Reply::ValueInfo { index, value, kind: text(r), name: text(r) })
}

/// Reads complete integers up to the end: the message carries no count.
fn values_to_the_end(r: &mut Reader<'_>) -> Result<Vec<LocalValue>, DecodeError> {
    let values = ints(r, r.remaining() / NUMBER_BYTES, "value")?;
    Ok(values.into_iter().map(LocalValue).collect())
}

fn step_completed(r: &mut Reader<'_>) -> Result<Reply, DecodeError> {
    let agent = LocalAgent(r.i32_le("agent")?);
    let (outputs, infos) = (count(r, "outputs")?, count(r, "infos")?);
    let (events, observed) = (count(r, "events")?, count(r, "observed")?);
    Ok(Reply::StepCompleted {
        agent,
        outputs: floats(r, outputs, "output")?,
        infos: floats(r, infos, "info")?,
        events: ints(r, events, "event")?.into_iter().map(LocalEvent).collect(),
        observed,
    })
}

fn agent_overview_next(r: &mut Reader<'_>) -> Result<Reply, DecodeError> {
    let (index, agent) = (count(r, "index")?, LocalAgent(r.i32_le("agent")?));
    let (group_type, available) = (text(r), r.u8("available")? != 0);
    Ok(Reply::AgentOverviewNext { index, agent, group_type, available, name: text(r) })
}

fn agent_info(r: &mut Reader<'_>) -> Result<Reply, DecodeError> {
    let agent = LocalAgent(r.i32_le("agent")?);
    let (inputs, outputs, infos) = (count(r, "inputs")?, count(r, "outputs")?, count(r, "infos")?);
    Ok(Reply::AgentInfo { agent, inputs, outputs, infos, name: text(r) })
}

fn agent_info_next(r: &mut Reader<'_>) -> Result<Reply, DecodeError> {
    let (index, min, max) = (count(r, "index")?, r.f32_le("min")?, r.f32_le("max")?);
    Ok(Reply::AgentInfoNext { index, min, max, name: text(r) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: Dialect, bytes: &[u8], expected: Result<Reply, DecodeError>) {
        assert_eq!(Reply::decode_in(dialect, bytes), expected, "{bytes:?}");
    }

    #[test]
    fn dialects_differ() {
        fn check(reply: &Reply, document: &[u8], original: &[u8]) {
            for (dialect, bytes) in [(Dialect::Document, document), (Dialect::Original, original)] {
                assert_eq!(reply.to_bytes_in(dialect), bytes);
                super::tests::check(dialect, bytes, Ok(reply.clone()));
            }
        }
        check(&Reply::InitAck { version: Version::SUPPORTED }, &[6, 1, 0, 0, 0, 1, 0, 0, 0], &[6, 1, 1, 120]);
        check(&Reply::EndAck, &[8], &[8, 120]);
        check(&Reply::ResetCompleted, &[76], &[75, 120]);
        check(
            &Reply::RegisterForValuesAck { values: vec![LocalValue(3), LocalValue::NOT_FOUND] },
            &[55, 3, 0, 0, 0, 0, 0, 0, 0],
            &[55, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 120],
        );
        check(
            &Reply::DeregisterFromValuesAck { values: vec![LocalValue(3)] },
            &[57, 1, 0, 0, 0, 3, 0, 0, 0],
            &[57, 1, 0, 0, 0, 3, 0, 0, 0, 120],
        );
        check(
            &Reply::Value { value: LocalValue::UNREADABLE, content: Text::default() },
            &[51, 255, 255, 255, 255, 0],
            &[51, 255, 255, 255, 255, 0, 120],
        );
    }

    #[test]
    fn truncated_and_unusual_datagrams() {
        for dialect in Dialect::ALL {
            let truncated = |field| Err(DecodeError::Truncated { field });
            check(dialect, &[], truncated("id"));
            check(dialect, &[5, 1, 1], Err(DecodeError::UnknownId { id: 5 }));
            check(dialect, &[120], Err(DecodeError::UnknownId { id: 120 }));
            check(dialect, &[75], Ok(Reply::ResetCompleted));
            check(dialect, &[76, 120], Ok(Reply::ResetCompleted));
            check(dialect, &[6, 1], truncated(if dialect == Dialect::Document { "major" } else { "minor" }));
            check(dialect, &[53, 1, 0, 0, 0], truncated("status"));
            check(
                dialect,
                &[53, 1, 0, 0, 0, 3],
                Err(DecodeError::OutOfRange { field: "status", value: 3, min: 0, max: 2 }),
            );
            check(
                dialect,
                &[41, 0, 0, 0, 128],
                Err(DecodeError::OutOfRange { field: "values", value: -0x8000_0000, min: 0, max: 0x7FFF_FFFF }),
            );
        }
    }

    #[test]
    fn the_lists_of_a_step_match_its_counts() {
        let step = |outputs: u8, infos: u8, events: u8| {
            let counts = [1, outputs, infos, events, 9].map(|count| [count, 0, 0, 0]).concat();
            [&[85], counts.as_slice(), &[0, 0, 0, 63, 0, 0, 128, 191, 7, 0, 0, 0]].concat()
        };
        let bytes = step(1, 1, 1);
        let (agent, events) = (LocalAgent(1), vec![LocalEvent(7)]);
        check(
            Dialect::Document,
            &bytes,
            Ok(Reply::StepCompleted { agent, outputs: vec![0.5], infos: vec![-1.0], events, observed: 9 }),
        );
        check(Dialect::Document, &step(4, 0, 0), Err(DecodeError::Truncated { field: "output" }));
        check(Dialect::Document, &step(1, 3, 0), Err(DecodeError::Truncated { field: "info" }));
        check(Dialect::Document, &step(1, 1, 2), Err(DecodeError::Truncated { field: "event" }));
    }

    /// Any non-zero byte means true, and a missing text is empty.
    #[test]
    fn missing_and_odd_fields_of_an_agent_are_tolerated() {
        let agent = |available| Reply::AgentOverviewNext {
            index: 0,
            agent: LocalAgent(1),
            group_type: "A".into(),
            available,
            name: Text::default(),
        };
        let bytes = |available| [92, 0, 0, 0, 0, 1, 0, 0, 0, b'A', 0, available];
        check(Dialect::Document, &bytes(0), Ok(agent(false)));
        check(Dialect::Document, &bytes(1), Ok(agent(true)));
        check(Dialect::Document, &bytes(255), Ok(agent(true)));
    }
}
