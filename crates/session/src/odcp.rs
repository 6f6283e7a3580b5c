//! ODCP 1.0: motor angles of one agent over UDP. Choices are in `protocols/odcp/decisions.md`.
//!
//! The session keeps no state between datagrams: any peer may send any request at any time.

use core::net::SocketAddr;

use wire::odcp::{
    MotorAngles, MotorValues, Raw, Reply, Request, normalized_angle_from_raw, normalized_torque_from_raw,
    raw_from_normalized_angle,
};
use world::{
    Action, AgentId, Command, Snapshot,
    event::AgentEvent,
    interface::Bounds,
    snapshot::{AgentCard, MotorCard},
};

use crate::{Context, DatagramEffect, DatagramOutbox, Input, Session};

/// All controllers of one agent.
#[derive(Debug)]
pub struct OdcpSession {
    /// Name of the agent.
    pub agent: String,
}

impl Session for OdcpSession {
    type Request = Request;
    type Reply = Reply;
    type Effect = DatagramEffect;

    fn handle(&mut self, input: Input<Request>, Context { world, .. }: Context<'_>, out: &mut DatagramOutbox<Reply>) {
        let (from, message) = match input {
            Input::Message { from, message } => (from, message),
            Input::Malformed { from, error } => return out.refuse(Some(from), error),
            Input::Opened | Input::Tick | Input::Timeout | Input::CommunicationReset => return,
            Input::Answer(answer) => return out.refuse(None, format_args!("refused by the world: {answer:?}")),
        };
        match world.catalogue.agent_named(&self.agent) {
            Some(card) => handle_request(message, from, card, world, out),
            None => out.refuse(Some(from), format_args!("{} is not in the world", self.agent)),
        }
    }
}

fn handle_request(
    message: Request,
    from: SocketAddr,
    agent: &AgentCard,
    world: &Snapshot,
    out: &mut DatagramOutbox<Reply>,
) {
    let raise = |out: &mut DatagramOutbox<Reply>, event| out.command(Command::RaiseEvent(agent.id, event));
    match message {
        Request::Connect => {
            raise(out, AgentEvent::ControllerConnected);
            out.effects.push(DatagramEffect::Connected(from));
            out.send(from, Reply::Connected);
        }
        Request::Disconnect => {
            raise(out, AgentEvent::ControllerDisconnected);
            out.effects.push(DatagramEffect::Disconnected(from));
            out.send(from, Reply::Disconnected);
        }
        Request::SetMotors(values) => {
            out.command(action(agent.id, &agent.motors, &values));
            raise(out, AgentEvent::MotorsSet);
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
