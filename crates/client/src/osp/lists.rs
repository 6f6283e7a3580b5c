//! Answers of many datagrams, which are collected by their index.

use std::{collections::BTreeMap, mem};

use wire::osp::{LocalAgent, LocalValue, Reply, Request, Text};

use super::{ATTEMPTS, Client, ClientError, REPLY_TIMEOUT, now};

/// Most late datagrams that are waited for after a list that was asked for more than once.
const MOST_LATE: usize = 100_000;

/// An agent in the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSummary {
    /// The agent.
    pub agent: LocalAgent,
    /// What kind of group of objects it is: `Agent`.
    pub group_type: String,
    /// Whether nobody controls it.
    pub available: bool,
    /// Its name.
    pub name: String,
}

/// What an agent has.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentInfo {
    /// The agent.
    pub agent: LocalAgent,
    /// Its name.
    pub name: String,
    /// Its motors' settings.
    pub inputs: Vec<InterfaceValue>,
    /// Its sensors.
    pub outputs: Vec<InterfaceValue>,
    /// Its other values.
    pub infos: Vec<InterfaceValue>,
}

/// An input, output or info of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct InterfaceValue {
    /// Its name, such as `/Left/Knee/DesiredAngle`.
    pub name: String,
    /// Its least value, normalized.
    pub min: f32,
    /// Its greatest value, normalized.
    pub max: f32,
}

/// A value of the variable repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueInfo {
    /// The value.
    pub value: LocalValue,
    /// Its type: `Double`, `Integer`, `Point3D`...
    pub kind: String,
    /// Its full name.
    pub name: String,
}

/// A datagram of a list.
enum Part<H, T> {
    /// What comes first, and how many follow.
    Head(H, usize),
    /// One of them, with its index.
    Item(usize, T),
}

impl Client {
    /// All agents, and whether somebody controls them. No agent can be asked about or registered for before.
    ///
    /// # Errors
    ///
    /// When the answer does not arrive, or not in full.
    pub fn agents(&mut self) -> Result<Vec<AgentSummary>, ClientError> {
        let ((), agents) = self.collect("agent overview", &Request::GetAgentOverview, |reply| match reply {
            Reply::AgentOverview { count } => Some(Part::Head((), count)),
            Reply::AgentOverviewNext { index, agent, group_type, available, name } => {
                let (group_type, name) = (group_type.into(), name.into());
                Some(Part::Item(index, AgentSummary { agent, group_type, available, name }))
            }
            _ => None,
        })?;
        self.send(&Request::AgentOverviewAck)?;
        Ok(agents)
    }

    /// What an agent has.
    ///
    /// # Errors
    ///
    /// [`ClientError::UnknownAgent`], or when the answer does not arrive, or not in full.
    pub fn info(&mut self, agent: LocalAgent) -> Result<AgentInfo, ClientError> {
        let request = Request::GetAgentInfo { agent };
        let (head, mut inputs) = self.collect("agent info", &request, |reply| match reply {
            Reply::AgentInfo { agent: told, inputs, outputs, infos, name } if told == agent => {
                let count = inputs.saturating_add(outputs).saturating_add(infos);
                Some(Part::Head((inputs, outputs, String::from(name)), count))
            }
            Reply::AgentInfoNext { index, min, max, name } => {
                Some(Part::Item(index, InterfaceValue { name: name.into(), min, max }))
            }
            _ => None,
        })?;
        let (input_count, output_count, name) = head;
        if inputs.is_empty() && name.is_empty() {
            return Err(ClientError::UnknownAgent { agent });
        }
        self.send(&Request::AgentInfoAck)?;
        let mut outputs = inputs.split_off(input_count.min(inputs.len()));
        let infos = outputs.split_off(output_count.min(outputs.len()));
        Ok(AgentInfo { agent, name, inputs, outputs, infos })
    }

    /// The values whose whole names match a regular expression, such as `.*StepSize`; none if it cannot be read.
    ///
    /// # Errors
    ///
    /// When the answer does not arrive, or not in full.
    pub fn values(&mut self, expression: &str) -> Result<Vec<ValueInfo>, ClientError> {
        let request = Request::GetValueIds { expression: Text::from(expression) };
        let ((), values) = self.collect("value ids", &request, |reply| match reply {
            Reply::ValueIds { count } => Some(Part::Head((), count)),
            Reply::ValueInfo { index, value, kind, name } => {
                Some(Part::Item(index, ValueInfo { value, kind: kind.into(), name: name.into() }))
            }
            _ => None,
        })?;
        Ok(values)
    }

    /// Asks for a list until all of it is there. What has arrived already counts; what is lost each time is less and
    /// less.
    fn collect<H, T: PartialEq>(
        &mut self,
        name: &'static str,
        request: &Request,
        read: impl Fn(Reply) -> Option<Part<H, T>>,
    ) -> Result<(H, Vec<T>), ClientError> {
        self.clear_late_replies()?;
        let mut head: Option<(H, usize)> = None;
        let mut items = BTreeMap::new();
        for attempt in 0..ATTEMPTS {
            self.send(request)?;
            let mut deadline = now() + REPLY_TIMEOUT;
            while let Some(reply) = self.receive(deadline)? {
                match read(reply) {
                    Some(Part::Head(told, count)) => {
                        // another count is another list: something came or went meanwhile
                        if head.as_ref().is_some_and(|(_, known)| *known != count) {
                            items.clear();
                        }
                        items.retain(|index, _| *index < count);
                        head = Some((told, count));
                    }
                    Some(Part::Item(index, item)) => {
                        if head.as_ref().is_some_and(|(_, count)| index >= *count) {
                            continue;
                        }
                        // and so is another item in the same place
                        if items.get(&index).is_some_and(|known| *known != item) {
                            items.clear();
                        }
                        items.insert(index, item);
                    }
                    None => continue,
                }
                if let Some((head, _)) = head.take_if(|(_, count)| items.len() == *count) {
                    if attempt > 0 {
                        self.let_late_replies_come()?;
                    }
                    return Ok((head, mem::take(&mut items).into_values().collect()));
                }
                // a long list takes its time
                deadline = now() + REPLY_TIMEOUT;
            }
        }
        match head {
            Some((_, count)) => Err(ClientError::Incomplete { request: name, missing: count - items.len() }),
            None => Err(ClientError::NoReply { request: name }),
        }
    }

    /// A list that was asked for twice may come twice, and what is late would pass for part of the next list.
    fn let_late_replies_come(&mut self) -> Result<(), ClientError> {
        for _ in 0..MOST_LATE {
            if self.receive(now() + REPLY_TIMEOUT)?.is_none() {
                break;
            }
        }
        Ok(())
    }
}
