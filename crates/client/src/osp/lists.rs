//! Answers that consist of many datagrams, collected by index.

use std::{collections::BTreeMap, mem};

use wire::osp::{LocalAgent, LocalValue, Reply, Request, Text};

use super::{ATTEMPTS, Client, ClientError, REPLY_TIMEOUT, now};

/// Maximum number of late datagrams discarded after a list that was requested more than once.
const MAX_LATE_ITEMS: usize = 100_000;

/// An agent in the overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSummary {
    /// Its number, local to this conversation.
    pub agent: LocalAgent,
    /// Type of the group of objects it belongs to, such as `Agent`.
    pub group_type: String,
    /// Whether no client controls it.
    pub available: bool,
    /// Name in the scenario, such as `Rover1`.
    pub name: String,
}

/// Sent instead of the agent if there is none with the requested number.
const UNKNOWN: LocalAgent = LocalAgent(0);

/// The inputs, outputs and infos of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentInfo {
    /// Its number, local to this conversation.
    pub agent: LocalAgent,
    /// Name in the scenario, such as `Rover1`.
    pub name: String,
    /// Motor settings.
    pub inputs: Vec<InterfaceValue>,
    /// Sensor readings.
    pub outputs: Vec<InterfaceValue>,
    /// Other values.
    pub infos: Vec<InterfaceValue>,
}

/// An input, output or info of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct InterfaceValue {
    /// Its name, such as `/Left/Knee/DesiredAngle`.
    pub name: String,
    /// Its smallest value, normalized.
    pub min: f32,
    /// Its largest value, normalized.
    pub max: f32,
}

/// A value of the variable repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueInfo {
    /// Its number, local to this conversation.
    pub value: LocalValue,
    /// Its type, such as `Double`, `Integer` or `Point3D`.
    pub kind: String,
    /// Its full name.
    pub name: String,
}

/// A datagram of a list answer.
enum ListReply<H, T> {
    /// The first datagram, with the number of items.
    Head(H, usize),
    /// An item with its index.
    Item(usize, T),
}

impl Client {
    /// Lists all agents. Required before requests about agents.
    ///
    /// # Errors
    ///
    /// If the answer does not arrive or is incomplete.
    pub fn agents(&mut self) -> Result<Vec<AgentSummary>, ClientError> {
        let ((), agents) = self.collect("agent overview", &Request::GetAgentOverview, |reply| match reply {
            Reply::AgentOverview { count } => Some(ListReply::Head((), count)),
            Reply::AgentOverviewNext { index, agent, group_type, available, name } => {
                let (group_type, name) = (group_type.into(), name.into());
                Some(ListReply::Item(index, AgentSummary { agent, group_type, available, name }))
            }
            _ => None,
        })?;
        self.send(&Request::AgentOverviewAck)?;
        Ok(agents)
    }

    /// The inputs, outputs and infos of an agent.
    ///
    /// # Errors
    ///
    /// [`ClientError::UnknownAgent`], or if the answer does not arrive or is incomplete.
    pub fn info(&mut self, agent: LocalAgent) -> Result<AgentInfo, ClientError> {
        let request = Request::GetAgentInfo { agent };
        let (head, mut inputs) = self.collect("agent info", &request, |reply| match reply {
            Reply::AgentInfo { agent: told, inputs, outputs, infos, name } if told == agent || told == UNKNOWN => {
                let count = inputs.saturating_add(outputs).saturating_add(infos);
                Some(ListReply::Head((inputs, outputs, String::from(name)), count))
            }
            Reply::AgentInfoNext { index, min, max, name } => {
                Some(ListReply::Item(index, InterfaceValue { name: name.into(), min, max }))
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

    /// Lists the values whose full names match a regular expression, such as `.*StepSize`; empty if the expression is
    /// invalid.
    ///
    /// # Errors
    ///
    /// If the answer does not arrive or is incomplete.
    pub fn values(&mut self, expression: &str) -> Result<Vec<ValueInfo>, ClientError> {
        let request = Request::GetValueIds { expression: Text::from(expression) };
        let ((), values) = self.collect("value ids", &request, |reply| match reply {
            Reply::ValueIds { count } => Some(ListReply::Head((), count)),
            Reply::ValueInfo { index, value, kind, name } => {
                Some(ListReply::Item(index, ValueInfo { value, kind: kind.into(), name: name.into() }))
            }
            _ => None,
        })?;
        Ok(values)
    }

    /// Requests a list until it is complete. Items of earlier attempts are kept, so fewer are missing each time.
    fn collect<H, T: PartialEq>(
        &mut self,
        name: &'static str,
        request: &Request,
        read: impl Fn(Reply) -> Option<ListReply<H, T>>,
    ) -> Result<(H, Vec<T>), ClientError> {
        self.clear_late_replies()?;
        let mut head: Option<(H, usize)> = None;
        let mut items = BTreeMap::new();
        for attempt in 0..ATTEMPTS {
            self.send(request)?;
            let mut deadline = now() + REPLY_TIMEOUT;
            while let Some(reply) = self.receive(deadline)? {
                match read(reply) {
                    Some(ListReply::Head(told, count)) => {
                        // another count means another list: it changed meanwhile
                        if head.as_ref().is_some_and(|(_, known)| *known != count) {
                            items.clear();
                        }
                        items.retain(|index, _| *index < count);
                        head = Some((told, count));
                    }
                    Some(ListReply::Item(index, item)) => {
                        if head.as_ref().is_some_and(|(_, count)| index >= *count) {
                            continue;
                        }
                        // so does another item at the same index
                        if items.get(&index).is_some_and(|known| *known != item) {
                            items.clear();
                        }
                        items.insert(index, item);
                    }
                    None => continue,
                }
                if let Some((head, _)) = head.take_if(|(_, count)| items.len() == *count) {
                    if attempt > 0 {
                        self.drain_late_items()?;
                    }
                    return Ok((head, mem::take(&mut items).into_values().collect()));
                }
                // a long list takes longer
                deadline = now() + REPLY_TIMEOUT;
            }
        }
        match head {
            Some((_, count)) => Err(ClientError::Incomplete { request: name, missing: count - items.len() }),
            None => Err(ClientError::NoReply { request: name }),
        }
    }

    /// A list that was requested twice may arrive twice; late items would be mistaken for those of the next list.
    fn drain_late_items(&mut self) -> Result<(), ClientError> {
        for _ in 0..MAX_LATE_ITEMS {
            if self.receive(now() + REPLY_TIMEOUT)?.is_none() {
                break;
            }
        }
        Ok(())
    }
}
