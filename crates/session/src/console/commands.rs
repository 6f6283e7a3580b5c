//! Handles the commands of a client.

use std::{collections::BTreeSet, time::Instant};

use soccer::{Game, GameOrder, PlayMode};
use wire::console::{self, Message, Role, Side, Topic, Variable};
use world::{Command, Snapshot, Value, agent::Action, command::SPEEDS, snapshot::VariableCard};

use super::{ConsoleSession, Job, Output, Request, game, scene};
use crate::{limits, oz::Naming};

impl ConsoleSession {
    /// Handles one text frame.
    pub(super) fn handle_text(&mut self, text: &str, world: &Snapshot, now: Instant, out: &mut Output) {
        if !self.budget.try_take(1.0 + text.len() as f64 / limits::CONSOLE_COMMAND_BYTES, now) {
            // not even decoded; a flood is answered a few times only
            if self.dropped < limits::CONSOLE_FLOOD_REFUSALS {
                out.refuse(None, "too many commands; some are dropped");
            }
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.dropped = 0;
        let console::Request { id, command } = match console::Request::decode(text) {
            Ok(asked) => asked,
            Err((id, why)) => return out.refuse(id, why),
        };
        if self.role == Role::Viewer && !command.is_read_only() {
            return out.refuse(id, "viewers cannot send commands; open the operator's link to take control");
        }
        self.execute(id, command, world, out);
    }

    #[expect(clippy::too_many_lines, reason = "one arm per command")]
    fn execute(&mut self, id: Option<u64>, command: console::Command, world: &Snapshot, out: &mut Output) {
        use console::Command as C;
        match command {
            C::Watch { topics } => {
                self.watch(topics.into_iter().collect(), world);
                out.done(id);
            }
            C::Follow { agent } => {
                self.followed = agent.filter(|name| name.len() <= limits::CONSOLE_NAME);
                out.done(id);
            }
            C::Pause => self.write_named("/Control/Pause", Value::Boolean(true), id, world, out),
            C::Play => self.write_named("/Control/Pause", Value::Boolean(false), id, world, out),
            C::Step if !world.paused => out.refuse(id, "the world is running; pause it first"),
            C::Step => send_unanswered(id, Command::Step, out),
            C::Reset { seed } => send_unanswered(id, Command::Reset(seed), out),
            C::Speed { factor } if !(SPEEDS.0..=SPEEDS.1).contains(&factor) => {
                out.refuse(id, format!("speed {factor} is out of range {}..={} times real time", SPEEDS.0, SPEEDS.1));
            }
            C::Speed { factor } => send_unanswered(id, Command::Speed(factor), out),
            C::Act { agent, motors } => act(id, &agent, &motors, world, out),
            C::Push { agent, velocity } => self.push(id, &agent, velocity, world, out),
            C::List { path } => {
                list(&path, world, out);
                out.done(id);
            }
            C::Search { text } => {
                search(&text, world, out);
                out.done(id);
            }
            C::Read { variable } => match world.catalogue.variable_named(&variable) {
                Some(card) => self.request(card.id, id, Request::Read(variable), Command::Read(card.id), out),
                None => out.refuse(id, unknown("variable", &variable)),
            },
            C::Write { variable, value } => self.write_text(&variable, &value, id, world, out),
            C::Observe { variables } => self.observe(id, &variables, world, out),
            C::KickOff { .. } | C::DropBall | C::PlaceBall { .. } | C::PlacePlayer { .. } | C::PlayMode { .. } => {
                match game_order(&command) {
                    _ if game::soccer_info(world).is_none() => out.refuse(id, "this world has no game"),
                    Ok(order) => send_unanswered(id, Command::order::<Game>(order), out),
                    Err(why) => out.refuse(id, why),
                }
            }
            C::Puppet { order } => self.puppet(id, order, out),
            C::NameFace { .. } | C::ForgetFace { .. } if self.shared.puppet.is_none() => {
                out.refuse(id, "this world has no puppet");
            }
            C::NameFace { .. } | C::ForgetFace { .. } if !self.has_control() => {
                out.refuse(id, "another operator is in control");
            }
            C::NameFace { face, name } => self.start_job(id, Job::NameFace(Naming::Give { face, name }), out),
            C::ForgetFace { name } => self.start_job(id, Job::NameFace(Naming::Forget { name }), out),
            C::Demo { players } => self.start_job(id, Job::StartDemo(players), out),
            C::StopDemo => self.start_job(id, Job::StopDemo, out),
            C::ChangeSimulators { settings } => self.start_job(id, Job::ChangeSimulators(settings), out),
            C::StartRun { run } => self.start_job(id, Job::StartRun(run), out),
            C::StopRun { name } => self.start_job(id, Job::StopRun(name), out),
            C::ResumeRun { name, generations } => self.start_job(id, Job::ResumeRun(name, generations), out),
            C::Run { name } => {
                self.run.clone_from(&name);
                match name {
                    Some(name) => self.start_job(id, Job::ReadRun(name), out),
                    None => out.done(id),
                }
            }
            C::Replay { run, generation } => self.start_job(id, Job::ReplayTrial(run, generation), out),
            C::ListPlaybacks => self.start_job(id, Job::ListPlaybacks, out),
            C::OpenPlayback { name } => self.start_job(id, Job::OpenPlayback(name), out),
            C::ClosePlayback => {
                self.playback = None;
                out.done(id);
            }
            C::Frames { from, count } => self.frames(id, from, count, out),
            C::Save { key, value } => self.start_job(id, Job::Save(key, value), out),
        }
    }

    fn start_job(&self, id: Option<u64>, job: Job, out: &mut Output) {
        out.jobs.push((id, job));
    }

    fn watch(&mut self, topics: BTreeSet<Topic>, world: &Snapshot) {
        let new: Vec<Topic> = topics.difference(&self.watched).copied().collect();
        self.watched = topics;
        for topic in new {
            self.view.begin(topic, world, &self.shared);
        }
        let wants_panel = [Topic::Puppet, Topic::Video, Topic::Sound].iter().any(|topic| self.watched.contains(topic));
        // operators turn the microphone and camera on; viewers get what is on already
        let wants_panel = wants_panel && self.role == Role::Operator;
        self.presence = match (&self.shared.puppet, self.presence.take()) {
            (Some(puppet), None) if wants_panel => Some(puppet.panel.enter(self.peer)),
            (_, presence) if wants_panel => presence,
            _ => None,
        };
    }

    fn write_named(&mut self, name: &str, value: Value, id: Option<u64>, world: &Snapshot, out: &mut Output) {
        match world.catalogue.variable_named(name) {
            Some(card) => self.write(card.id, value, id, out),
            None => out.refuse(id, unknown("variable", name)),
        }
    }

    fn write_text(&mut self, name: &str, text: &str, id: Option<u64>, world: &Snapshot, out: &mut Output) {
        let Some(card) = world.catalogue.variable_named(name) else {
            return out.refuse(id, unknown("variable", name));
        };
        match card.kind.parse(text) {
            Ok(value) => self.write(card.id, value, id, out),
            Err(error) => out.refuse(id, error.to_string()),
        }
    }

    fn observe(&mut self, id: Option<u64>, names: &[String], world: &Snapshot, out: &mut Output) {
        if !self.shared.may_observe(self.observed.len(), names.len()) {
            return out.refuse(id, "too many observed variables on all pages together; stop observing some");
        }
        if names.len() > limits::CONSOLE_OBSERVED {
            return out.refuse(id, format!("at most {} variables can be observed", limits::CONSOLE_OBSERVED));
        }
        let known = names.iter().filter_map(|name| Some((name.clone(), world.catalogue.variable_named(name)?.id)));
        let wanted: std::collections::BTreeMap<_, _> = known.collect();
        for variable in self.observed.values().filter(|old| !wanted.values().any(|new| new == *old)) {
            out.commands.push(Command::Unobserve(*variable));
        }
        for variable in wanted.values().filter(|new| !self.observed.values().any(|old| old == *new)) {
            out.commands.push(Command::Observe(*variable));
        }
        self.shared.note_observed(self.observed.len(), wanted.len());
        self.observed = wanted;
        self.view.values.clear();
        out.done(id);
    }

    /// Reads the velocity of the agent's first body; the answer is written back with the push added.
    fn push(&mut self, id: Option<u64>, agent: &str, velocity: [f64; 3], world: &Snapshot, out: &mut Output) {
        if !velocity.iter().all(|part| part.abs() <= 100.0) {
            return out.refuse(id, "a push is at most 100 m/s in each direction");
        }
        let Some(card) = world.catalogue.agent_named(agent) else { return out.refuse(id, unknown("agent", agent)) };
        let body = scene::first_body(&world.catalogue, card).and_then(|body| world.catalogue.bodies.get(body));
        let object = body.and_then(|name| name.strip_prefix(agent)).map(|name| name.trim_start_matches(':'));
        let variable = object.map(|object| format!("/Sim/{agent}/{object}/LinearVelocity"));
        match variable.and_then(|name| world.catalogue.variable_named(&name)) {
            Some(card) => self.request(card.id, id, Request::Push(velocity), Command::Read(card.id), out),
            None => out.refuse(id, "this robot cannot be pushed"),
        }
    }

    fn frames(&self, id: Option<u64>, from: usize, count: usize, out: &mut Output) {
        let Some(playback) = &self.playback else { return out.refuse(id, "no recording is open") };
        for number in from..from.saturating_add(count.min(limits::CONSOLE_FRAMES)) {
            let Some(poses) = playback.frame(number) else { break };
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            out.frames.push(console::Frame::Playback { number, poses: &poses }.to_bytes().into());
        }
        out.done(id);
    }
}

/// Sends a command that the world does not answer.
fn send_unanswered(id: Option<u64>, command: Command, out: &mut Output) {
    out.commands.push(command);
    out.done(id);
}

fn unknown(kind: &str, name: &str) -> String {
    format!("unknown {kind} `{}`", truncated(name))
}

/// The start of a name, short enough for a message.
fn truncated(name: &str) -> String {
    name.chars().take(80).collect()
}

fn act(id: Option<u64>, agent: &str, motors: &[(usize, f64)], world: &Snapshot, out: &mut Output) {
    let Some(card) = world.catalogue.agent_named(agent) else {
        return out.refuse(id, unknown("agent", agent));
    };
    if motors.len() > card.motors.len() || motors.iter().any(|(motor, _)| *motor >= card.motors.len()) {
        return out.refuse(id, format!("{agent} has {} motors", card.motors.len()));
    }
    let set = |&(motor, target): &(usize, f64)| Action::Set { motor, target: Some(target), torque: Some(1.0) };
    send_unanswered(id, Command::Act(card.id, motors.iter().map(set).collect()), out);
}

/// A velocity with a push added.
pub(super) fn pushed(value: &Value, faster: [f64; 3]) -> Option<Value> {
    match value {
        Value::Point3D(velocity) => Some(Value::Point3D(std::array::from_fn(|axis| velocity[axis] + faster[axis]))),
        _ => None,
    }
}

fn side_from(side: Side) -> soccer::Side {
    match side {
        Side::Left => soccer::Side::Left,
        Side::Right => soccer::Side::Right,
    }
}

/// The order to the game that a command stands for.
fn game_order(command: &console::Command) -> Result<GameOrder, String> {
    use console::Command as C;
    Ok(match command {
        C::KickOff { side } => GameOrder::KickOff(side.map(side_from)),
        C::DropBall => GameOrder::DropBall,
        C::PlaceBall { position, velocity } => {
            if !position.iter().chain(velocity).all(|number| number.is_finite()) {
                return Err("position and velocity must be finite".to_owned());
            }
            GameOrder::PlaceBall { position: *position, velocity: *velocity }
        }
        C::PlacePlayer { side, number, position: [x, y], heading } => {
            if ![*x, *y, *heading].iter().all(|number| number.is_finite()) {
                return Err("position and heading must be finite".to_owned());
            }
            let player = soccer::PlayerId { side: side_from(*side), number: *number };
            GameOrder::StandPlayer { player, to: soccer::Placement { x: *x, y: *y, heading: *heading } }
        }
        C::PlayMode { mode } => {
            GameOrder::SetPlayMode(PlayMode::from_name(mode).ok_or_else(|| unknown("play mode", mode))?)
        }
        _ => return Err("not an order to the game".to_owned()),
    })
}

fn variable(card: &VariableCard) -> Variable {
    Variable { name: card.name.to_string(), kind: card.kind.name().to_owned(), writable: card.writable }
}

/// Lists the folders and variables directly under a path.
fn list(path: &str, world: &Snapshot, out: &mut Output) {
    let (mut folders, mut variables) = (BTreeSet::new(), Vec::new());
    for card in world.catalogue.variables.iter().filter(|card| card.name.starts_with(path)) {
        match card.name.get(path.len()..).and_then(|rest| rest.split_once('/')) {
            Some((folder, _)) if !folder.is_empty() => {
                folders.insert(folder.to_owned());
            }
            // the path did not end with a slash
            Some(_) => {}
            None if variables.len() < limits::CONSOLE_LISTED => variables.push(variable(card)),
            None => {}
        }
    }
    let folders = folders.into_iter().take(limits::CONSOLE_LISTED).collect();
    out.send(Message::List { path: path.to_owned(), folders, variables });
}

/// Finds variables whose names contain all of the words, ignoring case.
fn search(text: &str, world: &Snapshot, out: &mut Output) {
    let words: Vec<String> = text.split_whitespace().take(8).map(str::to_lowercase).collect();
    let has_all = |card: &&VariableCard| {
        let name = card.name.to_lowercase();
        !words.is_empty() && words.iter().all(|word| name.contains(word))
    };
    let found: Vec<&VariableCard> = world.catalogue.variables.iter().filter(has_all).collect();
    let variables = found.iter().take(limits::CONSOLE_LISTED).map(|card| variable(card)).collect();
    out.send(Message::Found { search: text.to_owned(), total: found.len(), variables });
}
