//! RoboCup's MuJoCo soccer league: agents. Choices are in `protocols/soccer/decisions.md`.

mod senses;

use std::{collections::VecDeque, net::SocketAddr};

use serde::{Deserialize, Serialize};
use soccer::{
    Placement, PlayerId,
    game::{Entry, Game, GameConfig, GameView, Order},
    rules::{Phase, RuleBook},
};
use wire::soccer::{AgentMessage, Beam, Dialect, Effector, Init, Motor, Perception};
use world::{Action, AgentId, Answer, Catalogue, Command, JointTarget, Snapshot, clock::Vote};

use super::{
    Direction, Endpoint, EndpointKind, Input, Outbox, Protocol, Service, Session, StreamService, StreamSession,
};
use crate::library::{self, ModelKind};

use self::senses::Senses;

/// Messages of one agent that may wait for their cycle.
const WAITING: usize = 16;

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
    fn wants_ticks(&self) -> bool {
        true
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(AgentSession::new(peer, &self.config))
    }
}

/// One agent.
///
/// ```text
/// AwaitingInit --init--> Joining --joined--> Playing
///      |                    `----refused---> (closed)
///      `--anything else: ignored
/// ```
#[derive(Debug)]
pub struct AgentSession {
    peer: SocketAddr,
    dialect: Dialect,
    sync: bool,
    sequential: bool,
    state: State,
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
    player: Option<PlayerId>,
    senses: Option<Senses>,
    /// Made at the end of the last cycle, for when the next one begins.
    held: Option<Perception>,
    /// In sync mode: whether this cycle has the agent's message already, and what came after it.
    has_voted: bool,
    waiting: VecDeque<AgentMessage>,
}

impl AgentSession {
    /// A session with an agent that has just connected.
    pub fn new(peer: SocketAddr, config: &Config) -> Self {
        let Config { sync, sequential, dialect, .. } = *config;
        // an agent that is told of a cycle at its end has to have its say before the next
        Self { peer, dialect: dialect.into(), sync: sync || sequential, sequential, state: State::AwaitingInit }
    }

    fn init(&mut self, message: &AgentMessage, out: &mut Outbox<Perception>) {
        let init = message.effectors.iter().find_map(|effector| match effector {
            Effector::Init(init) => Some(init),
            _ => None,
        });
        let Some(Init { model, team, number }) = init else { return };
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

    fn joined(&mut self, agent: AgentId, out: &mut Outbox<Perception>) {
        if self.sync {
            out.ask(Command::EnterLockstep(agent));
            // nobody can answer before being told anything
            out.ask(Command::Vote(agent, Vote::Step));
        }
        self.state = State::Playing(Box::new(Playing {
            agent,
            player: None,
            senses: None,
            held: None,
            has_voted: true,
            waiting: VecDeque::new(),
        }));
    }
}

impl Session for AgentSession {
    type Request = AgentMessage;
    type Reply = Perception;

    fn handle(&mut self, input: Input<AgentMessage>, world: &Snapshot, out: &mut Outbox<Perception>) {
        match (&mut self.state, input) {
            (_, Input::Malformed { from, error }) => out.refuse(Some(from), error),
            (State::AwaitingInit, Input::Message { message, .. }) => self.init(&message, out),
            (State::Joining, Input::Answer(Answer::Joined(agent))) => self.joined(agent, out),
            (State::Joining, Input::Answer(Answer::Refused(why))) => out.close(why),
            (State::Playing(playing), Input::Message { from, message }) => {
                if let Some(lost) = &message.lost {
                    out.refuse(Some(from), lost);
                }
                playing.hear(message, self.sync, world, out);
            }
            (State::Playing(playing), Input::Tick) => {
                let perception = playing.perceive(self.dialect, world);
                playing.begin_cycle(self.sync, world, out);
                let told = if self.sequential { perception } else { std::mem::replace(&mut playing.held, perception) };
                match told {
                    Some(perception) => out.send(self.peer, perception),
                    // the first one is held back: the agent cannot answer yet
                    None if self.sync => out.ask(Command::Vote(playing.agent, Vote::Step)),
                    None => {}
                }
            }
            (State::Playing(playing), Input::Answer(Answer::VoteLost(agent))) if agent == playing.agent => {
                out.close("no message in time");
            }
            (_, Input::Answer(Answer::Refused(why))) => out.refuse(Some(self.peer), why),
            (_, Input::Message { .. } | Input::Answer(_) | Input::Tick) => {}
        }
    }
}

impl Playing {
    /// In sync mode one message counts a cycle; the others wait for theirs. Otherwise each counts at once.
    fn hear(&mut self, message: AgentMessage, sync: bool, world: &Snapshot, out: &mut Outbox<Perception>) {
        if !sync {
            return self.obey(&message, world, out);
        }
        if !self.has_voted {
            self.vote(&message, world, out);
        } else if self.waiting.len() < WAITING {
            self.waiting.push_back(message);
        } else {
            out.close("too many messages for one cycle");
        }
    }

    fn begin_cycle(&mut self, sync: bool, world: &Snapshot, out: &mut Outbox<Perception>) {
        self.has_voted = false;
        if sync && let Some(message) = self.waiting.pop_front() {
            self.vote(&message, world, out);
        }
    }

    fn vote(&mut self, message: &AgentMessage, world: &Snapshot, out: &mut Outbox<Perception>) {
        self.obey(message, world, out);
        out.ask(Command::Vote(self.agent, Vote::Step));
        self.has_voted = true;
    }

    fn obey(&self, message: &AgentMessage, world: &Snapshot, out: &mut Outbox<Perception>) {
        let Some(card) = world.catalogue.agent(self.agent) else { return };
        let mut actions = Vec::new();
        for effector in &message.effectors {
            match effector {
                Effector::Motor(motor) => match card.motors.iter().position(|card| card.name == motor.name.as_str()) {
                    Some(index) => actions.push(action(index, motor)),
                    None => out.refuse(None, format_args!("there is no motor `{}`", motor.name.as_str())),
                },
                Effector::Beam(Beam { x, y, theta_deg }) => {
                    let to = Placement { x: *x, y: *y, heading: theta_deg.to_radians() };
                    out.commands.extend(self.player.map(|player| order(&Order::Beam { player, to })));
                }
                Effector::Speak(speak) => {
                    let text = speak.text.clone();
                    let volume = speak.volume / 100.0;
                    out.commands.extend(self.player.map(|player| order(&Order::Say { player, volume, text })));
                }
                Effector::Say(message) => {
                    let text = message.as_str().as_bytes().to_vec();
                    out.commands.extend(self.player.map(|player| order(&Order::Say { player, volume: 1.0, text })));
                }
                Effector::Init(_) | Effector::Sync => {}
            }
        }
        if !actions.is_empty() {
            out.ask(Command::Act(self.agent, actions));
        }
    }

    fn perceive(&mut self, dialect: Dialect, world: &Snapshot) -> Option<Perception> {
        let game = world.view.as_ref()?.downcast_ref::<GameView>()?;
        self.player = game.players.iter().find(|(_, agent)| *agent == self.agent).map(|(player, _)| *player);
        let player = self.player?;
        if self.senses.as_ref().is_none_or(|senses| senses.generation() != world.catalogue.generation) {
            self.senses = Senses::new(&world.catalogue, self.agent, game);
        }
        Some(self.senses.as_ref()?.perceive(dialect, player, game, world))
    }
}

fn order(order: &Order) -> Command {
    Command::Order(order.to_text())
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
