use super::field::{Writer, count, counted_values, floats, text, version_of_bytes, version_of_ints};
use super::{Dialect, LocalAgent, LocalEvent, LocalValue, NUMBER_BYTES, Text, Version, id};
use crate::{DecodeError, Reader};

/// A request from a client. The init goes to the server's port, all others to the port that answered it.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Opens a connection. Answered by [`Reply::InitAck`](super::Reply::InitAck).
    Init {
        /// The dialect of the connection. The init itself is always encoded in this dialect.
        dialect: Dialect,
        /// The version the client requests.
        version: Version,
    },
    /// Closes the connection. Answered by [`Reply::EndAck`](super::Reply::EndAck).
    End,
    /// Closes all connections. Answered by [`Reply::ResetCommunicationAck`](super::Reply::ResetCommunicationAck), which
    /// is sent to all clients.
    ResetCommunication,
    /// Subscribes to an event. Answered by [`Reply::RegisterForEventAck`](super::Reply::RegisterForEventAck).
    RegisterForEvent {
        /// "Its exact global name".
        name: Text,
    },
    /// Unsubscribes from an event. Answered by [`Reply::DeregisterFromEventAck`](super::Reply::DeregisterFromEventAck).
    DeregisterFromEvent {
        /// The event.
        event: LocalEvent,
    },
    /// Lists the values whose names match. Answered by [`Reply::ValueIds`](super::Reply::ValueIds).
    GetValueIds {
        /// Regular expression to match the names.
        expression: Text,
    },
    /// Confirms that every [`Reply::ValueInfo`](super::Reply::ValueInfo) has arrived. Appears only in the document's
    /// list of ids (D8).
    ValueInfoAck,
    /// Reads a value. Answered by [`Reply::Value`](super::Reply::Value).
    GetValue {
        /// The value.
        value: LocalValue,
    },
    /// Writes a value. Answered by [`Reply::SetValueAck`](super::Reply::SetValueAck).
    SetValue {
        /// The value.
        value: LocalValue,
        /// New content, in the format of the value's type.
        content: Text,
    },
    /// Subscribes to values, to be sent after every step. Answered by
    /// [`Reply::RegisterForValuesAck`](super::Reply::RegisterForValuesAck).
    RegisterForValues {
        /// The values; at most [`MAX_VALUES`](super::MAX_VALUES).
        values: Vec<LocalValue>,
    },
    /// Unsubscribes from values. Answered by [`Reply::DeregisterFromValuesAck`](super::Reply::DeregisterFromValuesAck).
    DeregisterFromValues {
        /// The values; at most [`MAX_VALUES`](super::MAX_VALUES).
        values: Vec<LocalValue>,
    },
    /// Votes for a reset on behalf of one of the client's agents. Answered by
    /// [`Reply::ResetSimulationAck`](super::Reply::ResetSimulationAck) at once, and by
    /// [`Reply::ResetCompleted`](super::Reply::ResetCompleted) once all agents have voted.
    ResetSimulation {
        /// Random seed; "0 is interpreted as 'don't care'".
        seed: i32,
    },
    /// Confirms [`Reply::ResetCompleted`](super::Reply::ResetCompleted). Written as 75 in [`Dialect::Document`], as 76
    /// in [`Dialect::Original`]; both are accepted (D7).
    ResetCompleted,
    /// Votes for a step on behalf of one of the client's agents. Answered by
    /// [`Reply::NextStepAck`](super::Reply::NextStepAck) at once, and by
    /// [`Reply::StepCompleted`](super::Reply::StepCompleted) once all agents have voted.
    NextStep {
        /// The agent.
        agent: LocalAgent,
        /// Motor settings, normalized, in the order of the agent info; at most [`MAX_INPUTS`](super::MAX_INPUTS). Not
        /// checked: they may be out of range, infinite or NaN (D6).
        inputs: Vec<f32>,
    },
    /// Confirms [`Reply::StepCompleted`](super::Reply::StepCompleted) and the values that follow it.
    StepCompletedAck {
        /// The agent.
        agent: LocalAgent,
    },
    /// Lists the agents. Answered by [`Reply::AgentOverview`](super::Reply::AgentOverview).
    GetAgentOverview,
    /// Confirms that every [`Reply::AgentOverviewNext`](super::Reply::AgentOverviewNext) has arrived.
    AgentOverviewAck,
    /// Requests an agent's inputs, outputs and infos. Answered by [`Reply::AgentInfo`](super::Reply::AgentInfo).
    GetAgentInfo {
        /// The agent.
        agent: LocalAgent,
    },
    /// Confirms that every [`Reply::AgentInfoNext`](super::Reply::AgentInfoNext) has arrived.
    AgentInfoAck,
    /// Takes control of an agent. Answered by [`Reply::RegisterForAgentAck`](super::Reply::RegisterForAgentAck).
    RegisterForAgent {
        /// The agent.
        agent: LocalAgent,
    },
    /// Releases an agent. Answered by [`Reply::DeregisterFromAgentAck`](super::Reply::DeregisterFromAgentAck).
    DeregisterFromAgent {
        /// The agent.
        agent: LocalAgent,
    },
}

impl Request {
    /// Decodes a request of either dialect.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the datagram is not a valid request. Never panics, whatever the input.
    pub fn decode(datagram: &[u8]) -> Result<Self, DecodeError> {
        let mut r = Reader::new(datagram);
        let request = match r.u8("id")? {
            id::INIT => init(&mut r)?,
            id::END => Self::End,
            id::RESET_COMMUNICATION => Self::ResetCommunication,
            id::REGISTER_FOR_EVENT => Self::RegisterForEvent { name: text(&mut r) },
            id::DEREGISTER_FROM_EVENT => Self::DeregisterFromEvent { event: LocalEvent(r.i32_le("event")?) },
            id::GET_VALUE_IDS => Self::GetValueIds { expression: text(&mut r) },
            id::VALUE_INFO_ACK => Self::ValueInfoAck,
            id::GET_VALUE => Self::GetValue { value: LocalValue(r.i32_le("value")?) },
            id::SET_VALUE => Self::SetValue { value: LocalValue(r.i32_le("value")?), content: text(&mut r) },
            id::REGISTER_FOR_VALUES => Self::RegisterForValues { values: counted_values(&mut r)? },
            id::DEREGISTER_FROM_VALUES => Self::DeregisterFromValues { values: counted_values(&mut r)? },
            id::RESET_SIMULATION => Self::ResetSimulation { seed: r.i32_le("seed")? },
            id::RESET_COMPLETED | id::RESET_COMPLETED_ACK => Self::ResetCompleted,
            id::NEXT_STEP => {
                let agent = LocalAgent(r.i32_le("agent")?);
                // those that are announced but missing keep their values (D29)
                let inputs = count(&mut r, "inputs")?.min(r.remaining() / size_of::<f32>());
                Self::NextStep { agent, inputs: floats(&mut r, inputs, "input")? }
            }
            id::STEP_COMPLETED_ACK => Self::StepCompletedAck { agent: LocalAgent(r.i32_le("agent")?) },
            id::GET_AGENT_OVERVIEW => Self::GetAgentOverview,
            id::AGENT_OVERVIEW_ACK => Self::AgentOverviewAck,
            id::GET_AGENT_INFO => Self::GetAgentInfo { agent: LocalAgent(r.i32_le("agent")?) },
            id::AGENT_INFO_ACK => Self::AgentInfoAck,
            id::REGISTER_FOR_AGENT => Self::RegisterForAgent { agent: LocalAgent(r.i32_le("agent")?) },
            id::DEREGISTER_FROM_AGENT => Self::DeregisterFromAgent { agent: LocalAgent(r.i32_le("agent")?) },
            id => return Err(DecodeError::UnknownId { id: id.into() }),
        };
        Ok(request)
    }

    /// Appends the request, encoded in `dialect`, to `out`.
    pub fn encode_in(&self, dialect: Dialect, out: &mut Vec<u8>) {
        let w = &mut Writer(out);
        match self {
            Self::Init { dialect: Dialect::Document, version } => w.u8(id::INIT).version_as_ints(*version),
            Self::Init { dialect: Dialect::Original, version } => w.u8(id::INIT).version_as_bytes(*version),
            Self::End => w.u8(id::END),
            Self::ResetCommunication => w.u8(id::RESET_COMMUNICATION),
            Self::RegisterForEvent { name } => w.u8(id::REGISTER_FOR_EVENT).text(name),
            Self::DeregisterFromEvent { event } => w.u8(id::DEREGISTER_FROM_EVENT).int(event.0),
            Self::GetValueIds { expression } => w.u8(id::GET_VALUE_IDS).text(expression),
            Self::ValueInfoAck => w.u8(id::VALUE_INFO_ACK),
            Self::GetValue { value } => w.u8(id::GET_VALUE).int(value.0),
            Self::SetValue { value, content } => w.u8(id::SET_VALUE).int(value.0).text(content),
            Self::RegisterForValues { values } => w.u8(id::REGISTER_FOR_VALUES).count(values.len()).values(values),
            Self::DeregisterFromValues { values } => {
                w.u8(id::DEREGISTER_FROM_VALUES).count(values.len()).values(values)
            }
            Self::ResetSimulation { seed } => w.u8(id::RESET_SIMULATION).int(*seed),
            Self::ResetCompleted => match dialect {
                Dialect::Document => w.u8(id::RESET_COMPLETED),
                Dialect::Original => w.u8(id::RESET_COMPLETED_ACK),
            },
            Self::NextStep { agent, inputs } => w.u8(id::NEXT_STEP).int(agent.0).count(inputs.len()).floats(inputs),
            Self::StepCompletedAck { agent } => w.u8(id::STEP_COMPLETED_ACK).int(agent.0),
            Self::GetAgentOverview => w.u8(id::GET_AGENT_OVERVIEW),
            Self::AgentOverviewAck => w.u8(id::AGENT_OVERVIEW_ACK),
            Self::GetAgentInfo { agent } => w.u8(id::GET_AGENT_INFO).int(agent.0),
            Self::AgentInfoAck => w.u8(id::AGENT_INFO_ACK),
            Self::RegisterForAgent { agent } => w.u8(id::REGISTER_FOR_AGENT).int(agent.0),
            Self::DeregisterFromAgent { agent } => w.u8(id::DEREGISTER_FROM_AGENT).int(agent.0),
        };
        if dialect == Dialect::Original && !matches!(self, Self::Init { .. }) {
            w.u8(id::DATAGRAM_END);
        }
    }

    /// Encodes the request in `dialect`.
    pub fn to_bytes_in(&self, dialect: Dialect) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_in(dialect, &mut out);
        out
    }
}

/// Two integers mean the document's dialect; anything shorter is two bytes plus trailing bytes (D1).
fn init(r: &mut Reader<'_>) -> Result<Request, DecodeError> {
    if r.remaining() < 2 * NUMBER_BYTES {
        Ok(Request::Init { dialect: Dialect::Original, version: version_of_bytes(r)? })
    } else {
        Ok(Request::Init { dialect: Dialect::Document, version: version_of_ints(r)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_init_selects_the_dialect() {
        fn check(bytes: &[u8], expected: Result<(Dialect, i32, i32), DecodeError>) {
            let expected =
                expected.map(|(dialect, major, minor)| Request::Init { dialect, version: Version { major, minor } });
            assert_eq!(Request::decode(bytes), expected, "{bytes:?}");
        }
        check(&[5, 1, 0, 0, 0, 1, 0, 0, 0], Ok((Dialect::Document, 1, 1)));
        check(&[5, 1, 0, 0, 0, 1, 0, 0, 0, 120], Ok((Dialect::Document, 1, 1)));
        check(&[5, 255, 255, 255, 255, 0, 1, 0, 0], Ok((Dialect::Document, -1, 256)));
        check(&[5, 1, 1], Ok((Dialect::Original, 1, 1)));
        check(&[5, 1, 1, 120], Ok((Dialect::Original, 1, 1)));
        check(&[5, 1, 0, 0, 0, 1, 0, 0], Ok((Dialect::Original, 1, 0)));
        check(&[5, 1], Err(DecodeError::Truncated { field: "minor" }));
        check(&[5], Err(DecodeError::Truncated { field: "major" }));
    }

    #[test]
    fn an_init_is_written_in_its_own_dialect() {
        for dialect in Dialect::ALL {
            let init = |dialect| Request::Init { dialect, version: Version::SUPPORTED };
            assert_eq!(init(Dialect::Document).to_bytes_in(dialect), [5, 1, 0, 0, 0, 1, 0, 0, 0]);
            assert_eq!(init(Dialect::Original).to_bytes_in(dialect), [5, 1, 1]);
        }
    }

    #[test]
    fn truncated_and_unusual_datagrams() {
        fn check(bytes: &[u8], expected: Result<Request, DecodeError>) {
            assert_eq!(Request::decode(bytes), expected, "{bytes:?}");
        }
        check(&[], Err(DecodeError::Truncated { field: "id" }));
        check(&[0], Err(DecodeError::UnknownId { id: 0 }));
        check(&[120], Err(DecodeError::UnknownId { id: 120 }));
        // sent by servers only
        check(&[6, 1, 1, 120], Err(DecodeError::UnknownId { id: 6 }));
        check(&[81, 1, 0, 0, 0], Err(DecodeError::UnknownId { id: 81 }));
        // after a NUL a final 120 is a trailer, without one it is text
        check(b"\x14\0x", Ok(Request::RegisterForEvent { name: "".into() }));
        check(b"\x14x", Ok(Request::RegisterForEvent { name: "x".into() }));
        check(b"\x14", Ok(Request::RegisterForEvent { name: "".into() }));
        check(&[80, 1, 0, 0], Err(DecodeError::Truncated { field: "agent" }));
        check(&[80, 1, 0, 0, 0, 1, 0, 0], Err(DecodeError::Truncated { field: "inputs" }));
        let step = Request::NextStep { agent: LocalAgent(1), inputs: Vec::new() };
        check(&[80, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0], Ok(step));
        check(&[75], Ok(Request::ResetCompleted));
        check(&[76, 120], Ok(Request::ResetCompleted));
    }

    #[test]
    fn a_step_has_the_inputs_that_it_carries() {
        let whole =
            Request::NextStep { agent: LocalAgent(1), inputs: vec![0.5, 0.25, -1.0] }.to_bytes_in(Dialect::Document);
        for (left_out, expected) in [(0, 3), (1, 2), (4, 2), (5, 1), (12, 0)] {
            let decoded = Request::decode(whole.get(..whole.len() - left_out).unwrap_or_default());
            let Ok(Request::NextStep { inputs, .. }) = decoded else { panic!("{left_out}: {decoded:?}") };
            assert_eq!(Some(&*inputs), [0.5, 0.25, -1.0].get(..expected), "without the last {left_out} bytes");
        }
    }

    #[test]
    fn unusual_inputs_round_trip() {
        let sent = [f32::NAN, f32::INFINITY, -0.0, 2.5, f32::MIN_POSITIVE / 2.0];
        let request = Request::NextStep { agent: LocalAgent(1), inputs: sent.to_vec() };
        let Ok(Request::NextStep { inputs, .. }) = Request::decode(&request.to_bytes_in(Dialect::Original)) else {
            panic!("a step is a step")
        };
        assert_eq!(inputs.iter().map(|input| input.to_bits()).collect::<Vec<_>>(), sent.map(f32::to_bits));
    }
}
