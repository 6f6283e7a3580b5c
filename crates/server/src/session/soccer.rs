//! RoboCup's MuJoCo soccer league: agents. Choices are in `protocols/soccer/decisions.md`.

mod senses;

use std::{collections::VecDeque, net::SocketAddr};

use serde::{Deserialize, Serialize};
use soccer::{
    Placement,
    game::{Entry, Game, GameConfig, GameView, Order},
    rules::{Phase, RuleBook},
};
use wire::soccer::{AgentMessage, Beam, Dialect, Effector, Init, Motor, Perception};
use world::{Action, AgentId, Answer, Catalogue, Command, JointTarget, Snapshot, clock::Vote};

use super::{
    Direction, Endpoint, EndpointKind, Input, Outbox, Protocol, Service, Session, StreamService, StreamSession,
};
use crate::{
    library::{self, ModelKind},
    sim_thread::Ticks,
};

use self::senses::Senses;

/// Messages of one agent that may wait for their cycle.
const WAITING: usize = 16;
/// Messages of one agent that count in one cycle, where they need not wait for theirs.
const MESSAGES_PER_CYCLE: usize = 256;
/// Always there to be read.
const CURRENT_STEP: &str = "/Control/CurrentStep";

/// Soccer in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "soccer",
    title: "RoboCup's MuJoCo soccer league",
    configure: |section| Ok(Box::new(section.try_into::<Config>()?)),
    direct: Some(|description| {
        Game::from_description(description).map(|game| Box::new(game) as _).map_err(|error| error.to_string())
    }),
};

/// The `[soccer]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// TCP port of the agents; 0 for any free one.
    agent_port: u16,
    /// The rule book.
    rules: RuleBook,
    /// Which half is played, 0 to 4.
    phase: Phase,
    /// Where the game clock begins, in s; at the phase's beginning if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Whether a cycle waits for a message of each agent.
    sync: bool,
    /// Whether agents are told of a cycle at its end rather than when the next one begins.
    sequential: bool,
    /// How the wire is read where page and league differ.
    dialect: DialectConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            agent_port: 60000,
            rules: RuleBook::Fifa,
            phase: Phase::default(),
            time: None,
            sync: false,
            sequential: false,
            dialect: DialectConfig::Reference,
        }
    }
}

/// How the wire is read where page and league differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum DialectConfig {
    /// As the league's server does it.
    Reference,
    /// As the page says.
    Document,
}

impl From<DialectConfig> for Dialect {
    fn from(dialect: DialectConfig) -> Self {
        match dialect {
            DialectConfig::Reference => Self::Reference,
            DialectConfig::Document => Self::Document,
        }
    }
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn director(&self, field: &str) -> Result<Option<Direction>, String> {
        let (rules, field, phase, time) = (self.rules, field.to_owned(), self.phase, self.time);
        let game = Game::new(GameConfig { rules, field, phase, time }).map_err(|error| error.to_string())?;
        Ok(Some(Direction { description: game.description(), director: Box::new(game) }))
    }

    fn endpoints(&self, _: &Catalogue) -> Result<Vec<Endpoint>, String> {
        let agents = EndpointKind::Stream(Box::new(Agents { config: self.clone() }));
        Ok(vec![Endpoint { title: "Soccer agents".to_owned(), port: self.agent_port, kind: agents }])
    }
}

struct Agents {
    config: Config,
}

impl StreamService for Agents {
    fn wants_ticks(&self) -> Ticks {
        if self.config.sequential { Ticks::AtEnd } else { Ticks::AtNext }
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(AgentSession::new(peer, &self.config))
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
    dialect: Dialect,
    sync: bool,
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
    /// In sync mode: the world may not wait for the agent yet; what it did so far does not count.
    Entering,
    /// In sync mode: the world waits for its message.
    Awaited,
    /// In sync mode: this cycle has its message.
    Voted,
    /// Whenever it likes; it has said so much in this cycle.
    Any(usize),
}

impl AgentSession {
    /// A session with an agent that has just connected.
    pub fn new(peer: SocketAddr, config: &Config) -> Self {
        let Config { sync, sequential, dialect, .. } = *config;
        // an agent that is told of a cycle at its end has to have its say before the next
        let sync = sync || sequential;
        let state = State::AwaitingInit;
        Self { peer, dialect: dialect.into(), sync, state, waiting: VecDeque::new() }
    }

    fn init(&mut self, message: &AgentMessage, out: &mut Outbox<Perception>) {
        let init = message.effectors.iter().find_map(|effector| match effector {
            Effector::Init(init) => Some(init),
            _ => None,
        });
        let Some(Init { model, team, number }) = init else {
            if !message.effectors.is_empty() || message.lost.is_some() {
                out.close("the first message has no init that can be read");
            }
            return;
        };
        // only by name: what comes over the wire is never a path
        match library::named_model(ModelKind::Robot, model.as_str()) {
            Ok(source) => {
                let request = Entry { team: team.as_str().to_owned(), number: *number }.to_text();
                out.ask(Command::Admit { request, source });
                self.state = State::Joining;
            }
            Err(error) => out.close(error),
        }
    }

    fn joined(&mut self, agent: AgentId, world: &Snapshot, out: &mut Outbox<Perception>) {
        let mut turn = Turn::Any(0);
        if self.sync {
            out.ask(Command::EnterLockstep(agent));
            // the answer comes when the world waits for this agent, after all cycles that did not
            out.commands.extend(world.catalogue.variable_named(CURRENT_STEP).map(|card| Command::Read(card.id)));
            turn = Turn::Entering;
        } else {
            for message in self.waiting.drain(..) {
                obey(agent, self.peer, &message, world, out);
            }
        }
        self.state = State::Playing(Box::new(Playing { agent, senses: None, turn }));
    }

    /// In sync mode one message counts a cycle; the others wait for theirs. Otherwise each counts at once.
    fn hear(&mut self, message: AgentMessage, world: &Snapshot, out: &mut Outbox<Perception>) {
        if let Some(lost) = &message.lost {
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
                Turn::Entering | Turn::Voted => {}
            }
        }
        if self.waiting.len() < WAITING {
            self.waiting.push_back(message);
        } else if self.sync {
            out.close("too many messages before their cycle");
        } else {
            out.refuse(Some(self.peer), "too many messages before the first cycle");
        }
    }

    fn tick(&mut self, world: &Snapshot, out: &mut Outbox<Perception>) {
        let State::Playing(playing) = &mut self.state else { return };
        if matches!(playing.turn, Turn::Entering) {
            return;
        }
        let Some(perception) = playing.perceive(self.dialect, world) else {
            return out.close("the robot is not in the game: it has left, or has no torso");
        };
        out.send(self.peer, perception);
        if self.sync {
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
                self.hear(AgentMessage { effectors: Vec::new(), lost: Some(error) }, world, out);
            }
            (_, Input::Message { message, .. }) => self.hear(message, world, out),
            (State::Joining, Input::Answer(Answer::Joined(agent))) => self.joined(agent, world, out),
            (State::Joining, Input::Answer(Answer::Refused(why))) => out.close(why),
            (State::Playing(playing), Input::Answer(Answer::VoteLost(agent))) if agent == playing.agent => {
                out.close("no message in time");
            }
            (State::Playing(playing), Input::Answer(Answer::Value(..) | Answer::NoValue(..)))
                if matches!(playing.turn, Turn::Entering) =>
            {
                self.take_turn(false, world, out);
            }
            (_, Input::Answer(Answer::Refused(why))) => out.refuse(Some(self.peer), why),
            (_, Input::Tick) => self.tick(world, out),
            (_, Input::Answer(_)) => {}
        }
    }
}

impl Playing {
    fn perceive(&mut self, dialect: Dialect, world: &Snapshot) -> Option<Perception> {
        let game = world.view.as_ref()?.downcast_ref::<GameView>()?;
        let (player, _) = *game.players.iter().find(|(_, agent)| *agent == self.agent)?;
        if self.senses.as_ref().is_none_or(|senses| senses.generation() != world.catalogue.generation) {
            self.senses = Senses::new(&world.catalogue, self.agent, game);
        }
        Some(self.senses.as_ref()?.perceive(dialect, player, game, world))
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
                Some(index) => actions.push(action(index, motor)),
                None => out.refuse(Some(peer), format_args!("there is no motor `{}`", motor.name.as_str())),
            },
            Effector::Beam(Beam { x, y, theta_deg }) => {
                beam = Some(Order::Beam { agent, to: Placement { x: *x, y: *y, heading: theta_deg.to_radians() } });
            }
            Effector::Speak(speak) => {
                say = Some(Order::Say { agent, volume: speak.volume / 100.0, text: speak.text.clone() });
            }
            Effector::Say(message) => {
                say = Some(Order::Say { agent, volume: 1.0, text: message.as_str().as_bytes().to_vec() });
            }
            Effector::Init(_) | Effector::Sync => {}
        }
    }
    out.commands.extend(beam.into_iter().chain(say).map(|order| Command::Order(order.to_text())));
    if !actions.is_empty() {
        out.ask(Command::Act(agent, actions));
    }
}

fn action(motor: usize, command: &Motor) -> Action {
    let target = JointTarget {
        q: command.q_deg.to_radians(),
        dq: command.dq_deg.to_radians(),
        kp: command.kp,
        kd: command.kd,
        tau: command.tau,
    };
    Action::Joint { motor, target }
}

#[cfg(test)]
mod tests;
