//! The agents' port: each connection plays one robot.

use core::net::SocketAddr;
use std::{collections::VecDeque, sync::Arc};

use soccer::{Game, GameOrder, JoinRequest, Placement, game::GameView};
use wire::soccer::{AgentMessage, Beam, Dialect, Effector, Init, Motor, Perception};
use world::{
    Action, AgentId, Answer, Command, JointTarget, Snapshot,
    clock::{Pace, Vote},
    snapshot::{AgentCard, MotorCard},
};

use super::{VisionModel, models::Models, senses::Senses};
use crate::{Context, Input, OverStream, Session, StreamEffect, StreamOutbox, StreamService, StreamSession, Ticks};

/// Messages of one agent that may wait for their cycle.
const WAITING: usize = 16;
/// Messages of one agent that are executed in one cycle without sync.
const MESSAGES_PER_CYCLE: usize = 256;

/// What all agents of a game have in common.
#[derive(Clone, Copy, Debug)]
pub struct AgentOptions {
    /// How the wire is read where document and league differ.
    pub dialect: Dialect,
    /// Whether a cycle waits for a message of each agent.
    pub sync: bool,
    /// Whether agents are sent their perceptions at the end of a cycle rather than when the next one begins.
    pub sequential: bool,
    /// How well robots see.
    pub vision: VisionModel,
}

impl AgentOptions {
    /// Options in a world of this pace.
    #[must_use]
    pub fn in_world(self, pace: Pace) -> Self {
        // an agent that perceives a cycle at its end must act before the next one; so must any agent without a wall clock
        Self { sync: self.sync || self.sequential || pace != Pace::Realtime, ..self }
    }
}

/// Accepts agents.
#[derive(Debug)]
pub struct Agents {
    /// Options of all sessions.
    pub options: AgentOptions,
    /// Robots that may play.
    pub models: Arc<Models>,
}

impl StreamService for Agents {
    fn ticks(&self) -> Ticks {
        if self.options.sequential { Ticks::AtEnd } else { Ticks::AtNext }
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(OverStream(self.session(peer)))
    }
}

impl Agents {
    /// A session for a new agent. Its messages are typed: [`OverStream`] is for those that come over a connection.
    pub fn session(&self, peer: SocketAddr) -> AgentSession {
        AgentSession::new(peer, self.options, Arc::clone(&self.models))
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
    options: AgentOptions,
    models: Arc<Models>,
    state: State,
    /// Messages that have arrived before their cycle.
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

/// Whether a message of the agent is executed now.
#[derive(Debug)]
enum Turn {
    /// In sync mode: the world waits for its message.
    Awaited,
    /// In sync mode: this cycle's message has arrived.
    Voted,
    /// Without sync: at any time, up to a limit; the number of messages in this cycle.
    Any(usize),
}

impl AgentSession {
    fn new(peer: SocketAddr, options: AgentOptions, models: Arc<Models>) -> Self {
        Self { peer, options, models, state: State::AwaitingInit, waiting: VecDeque::new() }
    }

    /// In sync mode: whether the next cycle waits for a message of the agent.
    pub fn is_awaited(&self) -> bool {
        matches!(&self.state, State::Playing(playing) if matches!(playing.turn, Turn::Awaited))
    }

    /// What the agent perceives in this state of the world, without taking part in a cycle; `None` if its robot is not in the
    /// game.
    pub fn perceive(&mut self, world: &Snapshot) -> Option<Perception> {
        match &mut self.state {
            State::Playing(playing) => playing.perceive(self.options, world),
            State::AwaitingInit | State::Joining => None,
        }
    }

    fn init(&mut self, message: &AgentMessage, out: &mut StreamOutbox<Perception>) {
        let init = message.effectors.iter().find_map(|effector| match effector {
            Effector::Init(init) => Some(init),
            _ => None,
        });
        let Some(Init { model, team, number }) = init else {
            if !message.effectors.is_empty() || message.first_error.is_some() {
                out.close("first message has no readable `init`");
            }
            return;
        };
        // a name, never a path
        match self.models.named(model.as_str()) {
            Ok(source) => {
                let request = JoinRequest { team: team.as_str().to_owned(), number: *number };
                out.command(Command::admit::<Game>(request, source, self.options.sync));
                self.state = State::Joining;
            }
            Err(error) => out.close(error),
        }
    }

    fn joined(&mut self, agent: AgentId, world: &Snapshot, out: &mut StreamOutbox<Perception>) {
        let turn = if self.options.sync { Turn::Awaited } else { Turn::Any(0) };
        self.state = State::Playing(Box::new(Playing { agent, senses: None, turn }));
        match self.options {
            // the last cycle is over: it perceives its spawn, and the next one waits for the answer
            AgentOptions { sequential: true, .. } => self.tick(world, out),
            // it perceives its spawn when the next cycle begins, which must not wait for an answer
            AgentOptions { sync: true, .. } => self.take_turn(false, world, out),
            AgentOptions { sync: false, .. } => {
                for message in self.waiting.drain(..) {
                    execute(agent, self.peer, &message, world, out);
                }
            }
        }
    }

    /// In sync mode one message is executed per cycle and the others wait for theirs. Otherwise each is executed at once.
    fn accept(&mut self, message: AgentMessage, world: &Snapshot, out: &mut StreamOutbox<Perception>) {
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
                    return execute(playing.agent, self.peer, &message, world, out);
                }
                Turn::Any(_) => return out.refuse(Some(self.peer), "too many messages in one cycle"),
                Turn::Voted => {}
            }
        }
        if self.waiting.len() < WAITING {
            self.waiting.push_back(message);
        } else if self.options.sync {
            out.close("too many messages ahead of their cycle");
        } else {
            out.refuse(Some(self.peer), "too many messages before the first cycle");
        }
    }

    fn tick(&mut self, world: &Snapshot, out: &mut StreamOutbox<Perception>) {
        let State::Playing(playing) = &mut self.state else { return };
        let Some(perception) = playing.perceive(self.options, world) else {
            return out.close("robot is not in the game: it has left, or has no torso");
        };
        out.send(self.peer, perception);
        if self.options.sync {
            self.take_turn(true, world, out);
        } else {
            playing.turn = Turn::Any(0);
        }
    }

    /// In sync mode: a cycle begins, and the oldest waiting message is executed in it.
    fn take_turn(&mut self, can_answer: bool, world: &Snapshot, out: &mut StreamOutbox<Perception>) {
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
    type Effect = StreamEffect<Perception>;

    fn handle(
        &mut self,
        input: Input<AgentMessage>,
        Context { world, .. }: Context<'_>,
        out: &mut StreamOutbox<Perception>,
    ) {
        match (&self.state, input) {
            (State::AwaitingInit, Input::Malformed { error, .. }) => out.close(error),
            (State::AwaitingInit, Input::Message { message, .. }) => self.init(&message, out),
            // a malformed message has no effect, but it counts as the message of its cycle
            (_, Input::Malformed { error, .. }) => {
                self.accept(AgentMessage { effectors: Vec::new(), first_error: Some(error) }, world, out);
            }
            (_, Input::Message { message, .. }) => self.accept(message, world, out),
            (State::Joining, Input::Answer(Answer::Joined(agent))) => self.joined(agent, world, out),
            (State::Joining, Input::Answer(Answer::Refused(why))) => out.close(why),
            (State::Playing(playing), Input::Answer(Answer::VoteLost(agent))) if agent == playing.agent => {
                out.close("no message in time");
            }
            (_, Input::Answer(Answer::Refused(why))) => out.refuse(Some(self.peer), why),
            (_, Input::Tick) => self.tick(world, out),
            (_, Input::Answer(_) | Input::Opened | Input::Timeout | Input::CommunicationReset) => {}
        }
    }
}

impl Playing {
    fn perceive(&mut self, AgentOptions { dialect, vision, .. }: AgentOptions, world: &Snapshot) -> Option<Perception> {
        let game = world.view::<GameView>()?;
        let (player, _) = *game.players.iter().find(|(_, agent)| *agent == self.agent)?;
        if self.senses.as_ref().is_none_or(|senses| senses.generation() != world.catalogue.generation) {
            self.senses = Senses::new(&world.catalogue, self.agent, game);
        }
        Some(self.senses.as_ref()?.perceive(dialect, vision, player, game, world))
    }
}

fn vote(
    agent: AgentId,
    peer: SocketAddr,
    message: &AgentMessage,
    world: &Snapshot,
    out: &mut StreamOutbox<Perception>,
) {
    execute(agent, peer, message, world, out);
    out.command(Command::Vote(agent, Vote::Step));
}

/// Sends the commands of a message. Of several beams or says in it, the last one counts.
fn execute(
    agent: AgentId,
    peer: SocketAddr,
    message: &AgentMessage,
    world: &Snapshot,
    out: &mut StreamOutbox<Perception>,
) {
    let Some(card) = world.catalogue.agent(agent) else { return };
    let (mut beam, mut say, mut actions) = (None, None, Vec::new());
    // most messages name all motors in their order
    let mut next = 0;
    for effector in &message.effectors {
        match effector {
            Effector::Motor(motor) => match find_motor(card, motor.name.as_str(), next) {
                Some((index, gear)) => {
                    actions.push(action(index, gear, motor));
                    next = index + 1;
                }
                None => out.refuse(Some(peer), format_args!("no motor named `{}`", motor.name.as_str())),
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
        out.command(Command::Act(agent, actions));
    }
}

/// Index and gear of a motor, which may be the one at `guess`.
fn find_motor(card: &AgentCard, name: &str, guess: usize) -> Option<(usize, f64)> {
    let is_it = |motor: &&MotorCard| motor.name == name;
    if let Some(motor) = card.motors.get(guess).filter(is_it) {
        return Some((guess, motor.gear));
    }
    let mut motors = card.motors.iter().enumerate();
    motors.find(|(_, motor)| is_it(motor)).map(|(index, motor)| (index, motor.gear))
}

/// A motor command at the joint. The league's numbers are those of the actuator, before its gear (D32).
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
