//! The port of the agents: each plays with one robot.

use std::{collections::VecDeque, net::SocketAddr, sync::Arc};

use soccer::{Game, GameOrder, JoinRequest, Placement, game::GameView};
use wire::soccer::{AgentMessage, Beam, Dialect, Effector, Init, Motor, Perception};
use world::{
    Action, AgentId, Answer, Command, JointTarget, Snapshot,
    clock::{Pace, Vote},
};

use super::{Config, Eyes, models::Models, senses::Senses};
use crate::{
    session::{Input, Outbox, Session, StreamService, StreamSession},
    sim_thread::Ticks,
};

/// Messages of one agent that may wait for their cycle.
const WAITING: usize = 16;
/// Messages of one agent that count in one cycle, where they need not wait for theirs.
const MESSAGES_PER_CYCLE: usize = 256;

/// How agents are treated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manners {
    dialect: Dialect,
    /// Whether a cycle waits for a message of each agent.
    sync: bool,
    /// Whether agents are told of a cycle at its end.
    sequential: bool,
    vision: Eyes,
}

impl Manners {
    pub(super) fn new(config: &Config, pace: Pace) -> Self {
        let Config { sync, sequential, dialect, vision, .. } = *config;
        // who is told of a cycle at its end has to have its say before the next, and so has one without a wall clock
        let sync = sync || sequential || pace != Pace::Realtime;
        Self { dialect: dialect.into(), sync, sequential, vision }
    }
}

/// Lets agents in.
pub(super) struct Agents {
    pub(super) manners: Manners,
    pub(super) models: Arc<Models>,
}

impl StreamService for Agents {
    fn wants_ticks(&self) -> Ticks {
        if self.manners.sequential { Ticks::AtEnd } else { Ticks::AtNext }
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(AgentSession::new(peer, self.manners, Arc::clone(&self.models)))
    }
}

/// One agent.
///
/// ```text
/// AwaitingInit --init--> Joining --joined--> Playing --gone, silent--> (closed)
///      |                    `----refused---> (closed)
///      `--anything else but an empty message--> (closed)
/// ```
#[derive(Debug)]
pub struct AgentSession {
    peer: SocketAddr,
    manners: Manners,
    models: Arc<Models>,
    state: State,
    /// Messages that came too early for their cycle.
    waiting: VecDeque<AgentMessage>,
}

#[derive(Debug)]
enum State {
    AwaitingInit,
    Joining,
    Playing(Box<Playing>),
}

#[derive(Debug)]
struct Playing {
    agent: AgentId,
    senses: Option<Senses>,
    turn: Turn,
}

/// Whether the agent may say something.
#[derive(Debug)]
enum Turn {
    /// In sync mode: the world waits for its message.
    Awaited,
    /// In sync mode: this cycle has its message.
    Voted,
    /// Whenever it likes; it has said so much in this cycle.
    Any(usize),
}

impl AgentSession {
    /// A session with an agent that has just connected.
    fn new(peer: SocketAddr, manners: Manners, models: Arc<Models>) -> Self {
        Self { peer, manners, models, state: State::AwaitingInit, waiting: VecDeque::new() }
    }

    fn init(&mut self, message: &AgentMessage, out: &mut Outbox<Perception>) {
        let init = message.effectors.iter().find_map(|effector| match effector {
            Effector::Init(init) => Some(init),
            _ => None,
        });
        let Some(Init { model, team, number }) = init else {
            if !message.effectors.is_empty() || message.first_error.is_some() {
                out.close("the first message has no init that can be read");
            }
            return;
        };
        // only by name: what comes over the wire is never a path
        match self.models.named(model.as_str()) {
            Ok(source) => {
                let request = JoinRequest { team: team.as_str().to_owned(), number: *number };
                out.ask(Command::admit::<Game>(request, source, self.manners.sync));
                self.state = State::Joining;
            }
            Err(error) => out.close(error),
        }
    }

    fn joined(&mut self, agent: AgentId, world: &Snapshot, out: &mut Outbox<Perception>) {
        let turn = if self.manners.sync { Turn::Awaited } else { Turn::Any(0) };
        self.state = State::Playing(Box::new(Playing { agent, senses: None, turn }));
        if self.manners.sync {
            // the world waits for this agent already, which has nothing to answer yet
            return self.take_turn(false, world, out);
        }
        for message in self.waiting.drain(..) {
            obey(agent, self.peer, &message, world, out);
        }
    }

    /// In sync mode one message counts a cycle; the others wait for theirs. Otherwise each counts at once.
    fn hear(&mut self, message: AgentMessage, world: &Snapshot, out: &mut Outbox<Perception>) {
        if let Some(lost) = &message.first_error {
            out.refuse(Some(self.peer), lost);
        }
        if let State::Playing(playing) = &mut self.state {
            match &mut playing.turn {
                Turn::Awaited => {
                    playing.turn = Turn::Voted;
                    return vote(playing.agent, self.peer, &message, world, out);
                }
                Turn::Any(heard) if *heard < MESSAGES_PER_CYCLE => {
                    *heard += 1;
                    return obey(playing.agent, self.peer, &message, world, out);
                }
                Turn::Any(_) => return out.refuse(Some(self.peer), "too many messages for one cycle"),
                Turn::Voted => {}
            }
        }
        if self.waiting.len() < WAITING {
            self.waiting.push_back(message);
        } else if self.manners.sync {
            out.close("too many messages before their cycle");
        } else {
            out.refuse(Some(self.peer), "too many messages before the first cycle");
        }
    }

    fn tick(&mut self, world: &Snapshot, out: &mut Outbox<Perception>) {
        let State::Playing(playing) = &mut self.state else { return };
        let Some(perception) = playing.perceive(self.manners, world) else {
            return out.close("the robot is not in the game: it has left, or has no torso");
        };
        out.send(self.peer, perception);
        if self.manners.sync {
            self.take_turn(true, world, out);
        } else {
            playing.turn = Turn::Any(0);
        }
    }

    /// In sync mode: a cycle begins. The oldest message that waits is the one of this cycle.
    fn take_turn(&mut self, can_answer: bool, world: &Snapshot, out: &mut Outbox<Perception>) {
        let State::Playing(playing) = &mut self.state else { return };
        let message = self.waiting.pop_front().or_else(|| (!can_answer).then(AgentMessage::default));
        playing.turn = match message {
            Some(message) => {
                vote(playing.agent, self.peer, &message, world, out);
                Turn::Voted
            }
            None => Turn::Awaited,
        };
    }
}

impl Session for AgentSession {
    type Request = AgentMessage;
    type Reply = Perception;

    fn handle(&mut self, input: Input<AgentMessage>, world: &Snapshot, out: &mut Outbox<Perception>) {
        match (&self.state, input) {
            (State::AwaitingInit, Input::Malformed { error, .. }) => out.close(error),
            (State::AwaitingInit, Input::Message { message, .. }) => self.init(&message, out),
            // a spoiled message asks for nothing, but it is one
            (_, Input::Malformed { error, .. }) => {
                self.hear(AgentMessage { effectors: Vec::new(), first_error: Some(error) }, world, out);
            }
            (_, Input::Message { message, .. }) => self.hear(message, world, out),
            (State::Joining, Input::Answer(Answer::Joined(agent))) => self.joined(agent, world, out),
            (State::Joining, Input::Answer(Answer::Refused(why))) => out.close(why),
            (State::Playing(playing), Input::Answer(Answer::VoteLost(agent))) if agent == playing.agent => {
                out.close("no message in time");
            }
            (_, Input::Answer(Answer::Refused(why))) => out.refuse(Some(self.peer), why),
            (_, Input::Tick) => self.tick(world, out),
            (_, Input::Answer(_)) => {}
        }
    }
}

impl Playing {
    fn perceive(&mut self, Manners { dialect, vision, .. }: Manners, world: &Snapshot) -> Option<Perception> {
        let game = world.view::<GameView>()?;
        let (player, _) = *game.players.iter().find(|(_, agent)| *agent == self.agent)?;
        if self.senses.as_ref().is_none_or(|senses| senses.generation() != world.catalogue.generation) {
            self.senses = Senses::new(&world.catalogue, self.agent, game);
        }
        Some(self.senses.as_ref()?.perceive(dialect, vision, player, game, world))
    }
}

fn vote(agent: AgentId, peer: SocketAddr, message: &AgentMessage, world: &Snapshot, out: &mut Outbox<Perception>) {
    obey(agent, peer, message, world, out);
    out.ask(Command::Vote(agent, Vote::Step));
}

/// Asks of the world what a message asks for. Of several beams or words in it, the last one counts.
fn obey(agent: AgentId, peer: SocketAddr, message: &AgentMessage, world: &Snapshot, out: &mut Outbox<Perception>) {
    let Some(card) = world.catalogue.agent(agent) else { return };
    let (mut beam, mut say, mut actions) = (None, None, Vec::new());
    for effector in &message.effectors {
        match effector {
            Effector::Motor(motor) => match card.motors.iter().position(|card| card.name == motor.name.as_str()) {
                Some(index) => actions.push(action(index, card.motors.get(index).map_or(1.0, |card| card.gear), motor)),
                None => out.refuse(Some(peer), format_args!("there is no motor `{}`", motor.name.as_str())),
            },
            Effector::Beam(Beam { x, y, theta_deg }) => {
                beam = Some(GameOrder::Beam { agent, to: Placement { x: *x, y: *y, heading: theta_deg.to_radians() } });
            }
            Effector::Speak(speak) => {
                say = Some(GameOrder::Say { agent, volume: speak.volume / 100.0, text: speak.text.clone() });
            }
            Effector::Say(message) => {
                say = Some(GameOrder::Say { agent, volume: 1.0, text: message.as_str().as_bytes().to_vec() });
            }
            Effector::Init(_) | Effector::Sync => {}
        }
    }
    out.commands.extend(beam.into_iter().chain(say).map(Command::order::<Game>));
    if !actions.is_empty() {
        out.ask(Command::Act(agent, actions));
    }
}

/// What a command means at the joint. The league's numbers are those of the actuator, before its gear (D32).
fn action(motor: usize, gear: f64, command: &Motor) -> Action {
    let target = JointTarget {
        q: command.q_deg.to_radians() / gear,
        dq: command.dq_deg.to_radians() / gear,
        kp: command.kp * gear * gear,
        kd: command.kd * gear * gear,
        tau: command.tau * gear,
    };
    Action::Joint { motor, target }
}

#[cfg(test)]
mod tests;
