//! ODCP 1.0: motor angles of one agent over UDP. Choices are in `protocols/odcp/decisions.md`.
//!
//! There is no state between datagrams: anybody may send anything at any time.

use std::{collections::BTreeMap, net::SocketAddr};

use serde::{Deserialize, Serialize};
use wire::odcp::{
    MAX_MOTORS, MotorAngles, MotorValues, Raw, Reply, Request, normalized_angle_from_raw, normalized_torque_from_raw,
    raw_from_normalized_angle,
};
use world::{
    Action, AgentId, Catalogue, Command, Snapshot,
    clock::Pace,
    event::AgentEvent,
    interface::Bounds,
    snapshot::{AgentCard, MotorCard},
};

use super::{Endpoint, EndpointKind, Input, Outbox, Protocol, Service, Session};

/// ODCP in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "odcp",
    title: "ORCS Direct Control Protocol 1.0",
    configure: |section, _| Ok(Box::new(section.try_into::<Config>()?)),
    direct: None,
};

/// The `[odcp]` section of a scenario.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// UDP port of each agent that can be controlled; 0 for any free one.
    #[serde(default)]
    ports: BTreeMap<String, u16>,
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn endpoints(&self, world: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        self.ports.iter().map(|(agent, &port)| endpoint(world, agent, port)).collect()
    }
}

fn endpoint(world: &Catalogue, agent: &str, port: u16) -> Result<Endpoint, String> {
    let card = world.agent_named(agent).ok_or_else(|| {
        let known: Vec<_> = world.agents.iter().map(|card| card.name.as_str()).collect();
        format!("there is no agent `{agent}` for the port {port}; the scenario has {}", known.join(", "))
    })?;
    let motors = card.motors.len();
    if motors > MAX_MOTORS {
        return Err(format!("`{agent}` has {motors} motors; ODCP carries {MAX_MOTORS}"));
    }
    let session = OdcpSession { agent: agent.to_owned() };
    Ok(Endpoint { title: format!("ODCP of {agent}"), port, kind: EndpointKind::Datagram(Box::new(session)) })
}

/// All controllers of one agent.
#[derive(Debug)]
pub struct OdcpSession {
    /// Name of the agent.
    pub agent: String,
}

impl Session for OdcpSession {
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, input: Input<Request>, world: &Snapshot, out: &mut Outbox<Reply>) {
        let (from, message) = match input {
            Input::Message { from, message } => (from, message),
            Input::Malformed { from, error } => return out.refuse(Some(from), error),
            Input::Tick => return,
            Input::Answer(answer) => return out.refuse(None, format_args!("the world says: {answer:?}")),
        };
        match world.catalogue.agent_named(&self.agent) {
            Some(card) => obey(message, from, card, world, out),
            None => out.refuse(Some(from), format_args!("{} has left the world", self.agent)),
        }
    }
}

fn obey(message: Request, from: SocketAddr, agent: &AgentCard, world: &Snapshot, out: &mut Outbox<Reply>) {
    let tell = |out: &mut Outbox<Reply>, event| out.ask(Command::Tell(agent.id, event));
    match message {
        Request::Connect => {
            tell(out, AgentEvent::ControllerConnected);
            out.send(from, Reply::Connected);
        }
        Request::Disconnect => {
            tell(out, AgentEvent::ControllerDisconnected);
            out.send(from, Reply::Disconnected);
        }
        Request::SetMotors(values) => {
            out.ask(action(agent.id, &agent.motors, &values));
            tell(out, AgentEvent::MotorsSet);
        }
        Request::GetMotors => match MotorAngles::new(measured(agent, world)) {
            Ok(angles) => out.send(from, Reply::Motors(angles)),
            Err(error) => out.refuse(Some(from), error),
        },
    }
}

fn action(agent: AgentId, motors: &[MotorCard], values: &MotorValues) -> Command {
    let actions = values
        .changes(motors.len())
        .zip(motors)
        .enumerate()
        .map(|(motor, (change, card))| Action::Set {
            motor,
            target: Some(Bounds::symmetric(1.0).map_to(card.range, normalized_angle_from_raw(change.angle))),
            torque: change.torque.map(normalized_torque_from_raw),
        })
        .collect();
    Command::Act(agent, actions)
}

fn measured(agent: &AgentCard, world: &Snapshot) -> Vec<Raw> {
    let normalized = |(motor, card): (usize, &MotorCard)| {
        let value = world.motor(agent, motor).unwrap_or_default();
        raw_from_normalized_angle(card.range.map_to(Bounds::symmetric(1.0), value))
    };
    agent.motors.iter().enumerate().map(normalized).collect()
}

#[cfg(test)]
mod tests;
