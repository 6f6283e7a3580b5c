//! A soccer game without a network: the sessions of its agents' port, without sockets, and with time that passes on request.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use ::session::{
    Context, Input, Outbox, Session, StreamEffect,
    soccer::{AgentSession, Agents},
};
use ::soccer::{Game, GameOrder, PlayerId, game::GameView};
use physics::{BodyId, Pose, Velocity};
use pyo3::{PyErr, PyResult};
use server::{Scenario, serve::build_world};
use wire::soccer::{AgentMessage, Effector, Init, MAX_EFFECTORS, Motor, Name, Perception, See};
use world::{
    AgentId, Answer, Command, Runner, SessionId, Snapshot, World, clock::Pace, runner::Progress, snapshot::AgentCard,
};

use super::drive::Drive;
use crate::{
    error,
    recording::{Recording, RecordingOptions},
};

/// The session of commands that are no player's.
const TRAINER: SessionId = SessionId(u64::MAX);
/// The address of agents that have none.
const IN_PROCESS: (Ipv4Addr, u16) = (Ipv4Addr::UNSPECIFIED, 0);

/// A game and its players.
pub(crate) struct Match {
    run: Runner,
    /// Makes the sessions of players.
    agents: Agents,
    members: BTreeMap<SessionId, Member>,
    next_session: u64,
    /// Number of the last command.
    sequence: u64,
    /// The state that sessions are shown.
    latest: Arc<Snapshot>,
    /// A time for the clock of the world. It advances with the cycles.
    now: Instant,
    cycle: Duration,
    /// What sessions have refused since it was last reported.
    refusals: Vec<String>,
    recording: Option<Recording>,
}

/// A player.
pub(crate) struct Member {
    session: AgentSession,
    /// Name of its team, as it was given.
    pub(crate) team: Name,
    pub(crate) number: u8,
    /// Its robot, once it has joined.
    agent: Option<AgentId>,
    /// How its motors follow normalized actions.
    drives: Vec<Drive>,
    /// Its effectors of the next cycle.
    pending: Vec<Effector>,
    /// The last perception.
    pub(crate) perception: Option<Arc<Perception>>,
    /// The last one with a picture, which not every perception has.
    picture: Option<Arc<Perception>>,
    /// Why its session has ended.
    closed: Option<String>,
}

impl Member {
    /// What it last saw.
    pub(crate) fn see(&self) -> Option<&See> {
        self.picture.as_ref()?.see.as_ref()
    }

    /// The motor commands of a normalized action: a number for each motor.
    pub(crate) fn commands(&self, action: &[f64]) -> PyResult<Vec<Motor>> {
        if self.drives.len() != action.len() {
            return Err(error::invalid(format_args!("{} numbers for {} motors", action.len(), self.drives.len())));
        }
        if action.iter().any(|x| !x.is_finite()) {
            return Err(error::invalid("a number of an action is not finite"));
        }
        Ok(self.drives.iter().zip(action).map(|(drive, x)| drive.command(*x)).collect())
    }

    fn perceive(&mut self, perception: Perception) {
        let perception = Arc::new(perception);
        if perception.see.is_some() {
            self.picture = Some(Arc::clone(&perception));
        }
        self.perception = Some(perception);
    }
}

impl Match {
    /// The game of a scenario.
    pub(crate) fn new(scenario: &Scenario, record: Option<RecordingOptions>) -> PyResult<Self> {
        // without a wall clock, so that agents are in sync mode
        let pace = Pace::Fast;
        let agents = scenario.services.iter().find_map(|(_, service)| service.soccer_agents(pace).transpose());
        let agents = agents.transpose().map_err(error::failed)?;
        let agents = agents.ok_or_else(|| error::failed("the scenario has no [soccer] section"))?;
        let (setup, mut world) = build_world(scenario).map_err(error::failed)?;
        let hash_every = scenario.base.world.hash_every;
        let recording = record.map(|options| Recording::start(options, &setup, &mut world, hash_every)).transpose()?;
        let now = any_time();
        Ok(Self {
            latest: world.snapshot(),
            cycle: Duration::from_secs_f64(world.tick_seconds()),
            run: Runner::new(world, pace, scenario.silence(), now),
            agents,
            members: BTreeMap::new(),
            next_session: 0,
            sequence: 0,
            now,
            refusals: Vec::new(),
            recording,
        })
    }

    /// The world of the game.
    pub(crate) fn world(&self) -> &World {
        self.run.world()
    }

    /// The state of the game.
    pub(crate) fn view(&self) -> PyResult<&GameView> {
        self.latest.view().ok_or_else(|| error::failed("the world has no game"))
    }

    // --- players -----------------------------------------------------------------------------------------------------

    /// Lets a player join, as with the message `init`.
    pub(crate) fn join(&mut self, model: &str, team: &str, number: u8) -> PyResult<SessionId> {
        let name = |text| Name::new(text).map_err(error::invalid);
        let (model, team) = (name(model)?, name(team)?);
        let id = SessionId(self.next_session);
        self.next_session += 1;
        let member = Member {
            session: self.agents.session(IN_PROCESS.into()),
            team: team.clone(),
            number,
            agent: None,
            drives: Vec::new(),
            pending: Vec::new(),
            perception: None,
            picture: None,
            closed: None,
        };
        self.members.insert(id, member);
        self.send(id, vec![Effector::Init(Init { model, team, number })]);
        self.settle();
        match self.welcome(id) {
            Ok(()) => Ok(id),
            Err(refusal) => {
                self.leave(id)?;
                Err(refusal)
            }
        }
    }

    /// Completes what is known of a player that has joined.
    fn welcome(&mut self, id: SessionId) -> PyResult<()> {
        let member = self.member_mut(id)?;
        if let Some(reason) = member.closed.take() {
            return Err(error::failed(reason));
        }
        let agent = member.agent.ok_or_else(|| error::failed("the robot has not joined"))?;
        // the referee cannot judge a robot without a torso
        self.player_of(agent).ok_or_else(|| error::failed("the robot has no body named `torso`"))?;
        let drives = Drive::of(self.world(), self.card(agent)?);
        self.member_mut(id)?.drives = drives;
        Ok(())
    }

    /// Removes a player, as when its connection is closed.
    pub(crate) fn leave(&mut self, id: SessionId) -> PyResult<()> {
        self.member(id)?;
        self.members.remove(&id);
        self.run.end(id, self.now);
        self.settle();
        self.latest = self.run.world().snapshot();
        Ok(())
    }

    /// The players, in the order of joining.
    pub(crate) fn members(&self) -> impl Iterator<Item = (SessionId, &Member)> {
        self.members.iter().map(|(id, member)| (*id, member))
    }

    /// A player.
    pub(crate) fn member(&self, id: SessionId) -> PyResult<&Member> {
        self.members.get(&id).ok_or_else(gone)
    }

    fn member_mut(&mut self, id: SessionId) -> PyResult<&mut Member> {
        self.members.get_mut(&id).ok_or_else(gone)
    }

    /// Side and number of a player.
    pub(crate) fn player(&self, id: SessionId) -> PyResult<PlayerId> {
        self.member(id)?.agent.and_then(|agent| self.player_of(agent)).ok_or_else(gone)
    }

    fn player_of(&self, agent: AgentId) -> Option<PlayerId> {
        let players = &self.latest.view::<GameView>()?.players;
        players.iter().find(|(_, other)| *other == agent).map(|(player, _)| *player)
    }

    /// The robot of a player.
    pub(crate) fn robot(&self, id: SessionId) -> PyResult<&AgentCard> {
        self.card(self.member(id)?.agent.ok_or_else(gone)?)
    }

    fn card(&self, agent: AgentId) -> PyResult<&AgentCard> {
        self.latest.catalogue.agent(agent).ok_or_else(gone)
    }

    /// Adds effectors to a player's message of the next cycle. Nothing is added if one of them is invalid.
    pub(crate) fn act(&mut self, id: SessionId, effectors: Vec<Effector>) -> PyResult<()> {
        let motors = &self.robot(id)?.motors;
        for effector in &effectors {
            if let Effector::Motor(motor) = effector
                && motors.iter().all(|known| known.name != motor.name.as_str())
            {
                let names = motors.iter().map(|known| known.name.as_str());
                let message = format!("no motor named `{}`", motor.name);
                return Err(error::invalid(support::suggest::with_nearest(&message, motor.name.as_str(), names)));
            }
        }
        let pending = &mut self.member_mut(id)?.pending;
        if pending.len() + effectors.len() > MAX_EFFECTORS {
            return Err(error::invalid(format_args!("a player has at most {MAX_EFFECTORS} effectors in one cycle")));
        }
        pending.extend(effectors);
        Ok(())
    }

    /// Adds the commands of normalized actions to a player's message of the next cycle.
    pub(crate) fn drive(&mut self, id: SessionId, action: &[f64]) -> PyResult<()> {
        let member = self.member_mut(id)?;
        let commands = member.commands(action)?.into_iter().map(Effector::Motor);
        // commands that were given before in the same cycle have no effect
        member.pending.retain(|effector| !matches!(effector, Effector::Motor(_)));
        member.pending.extend(commands);
        Ok(())
    }

    // --- time --------------------------------------------------------------------------------------------------------

    /// Takes one cycle. Players that have not acted send an empty message.
    ///
    /// # Errors
    /// If the simulation has failed, the recording cannot be written, or something that a player has sent is refused; in that
    /// case the cycle is complete all the same.
    pub(crate) fn cycle(&mut self) -> PyResult<()> {
        self.check()?;
        self.now += self.cycle;
        for id in self.ids() {
            let Some(member) = self.members.get_mut(&id) else { continue };
            let effectors = std::mem::take(&mut member.pending);
            if member.session.is_awaited() || !effectors.is_empty() {
                self.send(id, effectors);
            }
        }
        self.settle();
        // as the sim thread does it: notified of the last cycle when the next one begins, or of this one at its end. What
        // sessions make of it takes effect after the cycle.
        let sequential = self.agents.options.sequential;
        let mut commands = if sequential { Vec::new() } else { self.notify_all() };
        let gate = self.run.gate(self.now);
        let (Progress::Moved(snapshot), _) = self.run.pass(gate, self.now) else {
            return Err(error::failed("the game stands still"));
        };
        self.latest = snapshot;
        if let Some(recording) = &mut self.recording {
            recording.tick(self.run.world_mut())?;
        }
        if sequential {
            commands = self.notify_all();
        }
        for (id, commands) in commands {
            self.execute(id, commands);
        }
        self.settle();
        self.check()?;
        self.report()
    }

    /// Begins a new try: the game starts again, with another seed if there is one. Players stay.
    pub(crate) fn reset(&mut self, seed: Option<u64>) -> PyResult<()> {
        self.execute(TRAINER, vec![Command::Reset(seed)]);
        self.latest = self.run.world().snapshot();
        let sequential = self.agents.options.sequential;
        for member in self.members.values_mut() {
            member.pending.clear();
            (member.perception, member.picture) = (None, None);
            // otherwise it perceives the start when the first cycle begins
            if sequential && let Some(perception) = member.session.perceive(&self.latest) {
                member.perceive(perception);
            }
        }
        self.check()
    }

    /// Gives an order to the game, as a trainer does.
    pub(crate) fn order(&mut self, order: GameOrder) -> PyResult<()> {
        // the only possible answer is about unknown motors, which `place_player` refuses
        self.run.world_mut().order::<Game>(order).map(drop).map_err(error::failed)
    }

    /// Places a player, its joints, or both.
    pub(crate) fn place_player(
        &mut self,
        id: SessionId,
        to: Option<([f64; 3], [f64; 4])>,
        joints: Vec<(String, f64)>,
    ) -> PyResult<()> {
        let (player, motors) = (self.player(id)?, &self.robot(id)?.motors);
        if let Some((unknown, _)) = joints.iter().find(|(joint, _)| motors.iter().all(|motor| motor.name != *joint)) {
            return Err(error::invalid(format_args!("no motor named `{unknown}`")));
        }
        self.order(GameOrder::PlacePlayer { player, to, joints })
    }

    /// Completes the recording, if there is one.
    pub(crate) fn finish(mut self) -> PyResult<()> {
        self.recording.take().map_or(Ok(()), |recording| recording.finish(self.run.world_mut()))
    }

    fn check(&self) -> PyResult<()> {
        let fault = self.run.world().failure();
        fault.map_or(Ok(()), |fault| Err(error::failed(format_args!("the simulation failed: {fault}; reset it"))))
    }

    /// Reports what was refused, and removes players whose sessions have ended.
    fn report(&mut self) -> PyResult<()> {
        let mut reasons = std::mem::take(&mut self.refusals);
        for id in self.ids() {
            if let Some(reason) = self.members.get_mut(&id).and_then(|member| member.closed.take()) {
                self.leave(id)?;
                reasons.push(reason);
            }
        }
        if reasons.is_empty() { Ok(()) } else { Err(error::failed(reasons.join("; "))) }
    }

    // --- sessions ----------------------------------------------------------------------------------------------------

    fn ids(&self) -> Vec<SessionId> {
        self.members.keys().copied().collect()
    }

    /// Sends a message of a player to its session.
    fn send(&mut self, id: SessionId, effectors: Vec<Effector>) {
        let message = AgentMessage::from(effectors);
        let commands = self.tell(id, Input::Message { from: SocketAddr::from(IN_PROCESS), message });
        self.execute(id, commands);
    }

    /// Tells all sessions of the latest cycle.
    fn notify_all(&mut self) -> Vec<(SessionId, Vec<Command>)> {
        self.ids().into_iter().map(|id| (id, self.tell(id, Input::Tick))).collect()
    }

    /// Passes an input to a session. Returns its commands.
    fn tell(&mut self, id: SessionId, input: Input<AgentMessage>) -> Vec<Command> {
        let Some(member) = self.members.get_mut(&id) else { return Vec::new() };
        let mut out = Outbox::default();
        member.session.handle(input, Context::new(&self.latest, self.now), &mut out);
        let Outbox { replies, commands, refusals, effects } = out;
        for (_, perception) in replies {
            member.perceive(perception);
        }
        let who = |reason| format!("{} {}: {reason}", member.team, member.number);
        self.refusals.extend(refusals.into_iter().map(|refusal| who(refusal.reason)));
        for effect in effects {
            match effect {
                StreamEffect::Close(reason) => _ = member.closed.get_or_insert(reason),
                // sessions of agents do neither
                StreamEffect::SendDroppable(_) | StreamEffect::StopServer(_) => {}
            }
        }
        commands
    }

    fn execute(&mut self, id: SessionId, commands: Vec<Command>) {
        for command in commands {
            self.sequence += 1;
            self.run.handle(id, self.sequence, command, self.now);
        }
    }

    /// Builds the models that robots need which join or leave, and delivers the world's answers.
    fn settle(&mut self) {
        loop {
            while let Some(blueprint) = self.run.next_blueprint(self.now) {
                self.run.install(blueprint.build(), self.now);
                self.latest = self.run.world().snapshot();
            }
            let answers = self.run.take_answers();
            if answers.is_empty() {
                return;
            }
            for (id, answer) in answers {
                if let (Answer::Joined(agent), Some(member)) = (&answer, self.members.get_mut(&id)) {
                    member.agent = Some(*agent);
                }
                let commands = self.tell(id, Input::Answer(answer));
                self.execute(id, commands);
            }
        }
    }

    // --- bodies ------------------------------------------------------------------------------------------------------

    /// Pose and velocity of the ball, as they are, not as somebody sees them.
    pub(crate) fn ball(&self) -> PyResult<(Pose, Velocity)> {
        self.motion("ball")
    }

    /// Pose and velocity of a player's torso.
    pub(crate) fn torso(&self, id: SessionId) -> PyResult<(Pose, Velocity)> {
        self.motion(&format!("{}:torso", self.robot(id)?.name))
    }

    fn motion(&self, body: &str) -> PyResult<(Pose, Velocity)> {
        let sim = self.run.world().sim();
        let missing = || error::failed(format_args!("the world has no body named `{body}`"));
        let body = sim.model().body_named(body).ok_or_else(missing)?;
        let moved = self.view()?.moved.iter().rfind(|(moved, _)| *moved == body.index());
        Ok(match moved {
            Some((_, pose)) => (*pose, self.given_velocity(body)),
            None => (sim.body_pose(body), sim.body_velocity(body)),
        })
    }

    /// Velocity of a body that was placed after the physics of the last cycle. It does not spin.
    fn given_velocity(&self, body: BodyId) -> Velocity {
        let sim = self.run.world().sim();
        let joint = sim.model().body_free_joint(body).map(|joint| sim.model().joint_dof_range(joint));
        let linear = joint.and_then(|range| sim.qvel().get(range)?.first_chunk().copied());
        Velocity { linear: linear.unwrap_or_default(), angular: [0.0; 3] }
    }
}

fn gone() -> PyErr {
    error::failed("the player has left the game")
}

#[expect(
    clippy::disallowed_methods,
    reason = "an Instant can only be had from the system; the game advances it itself"
)]
fn any_time() -> Instant {
    Instant::now()
}
