//! Changes that need a newly compiled model: robots join and leave, objects are resized.

use crate::{
    agent::AgentId,
    event::standard,
    light,
    record::{Entry, ReplayError},
    setup::Robot,
    structure::{Blueprint, BuildError, Structure},
    world::World,
};

/// Identifies a requested change of the model until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A change that needs a newly compiled model.
#[derive(Clone, Debug)]
pub enum Change {
    /// Add a robot.
    Join(Robot),
    /// Remove a robot.
    Leave(AgentId),
    /// Resize an object.
    Resize {
        /// Name of the geom in the model.
        geom: String,
        /// MuJoCo's size: half sizes, or radius and half length, in m.
        size: [f64; 3],
    },
}

/// The result of a [`Change`].
#[derive(Debug)]
pub enum ChangeOutcome {
    /// The robot has joined.
    Joined(AgentId),
    /// The robot has left.
    Left(AgentId),
    /// The object has its new size.
    Resized,
    /// The new model cannot be built. Nothing has changed.
    Refused(BuildError),
    /// No agent has this id.
    UnknownAgent(AgentId),
}

impl World {
    /// Requests a change of the model. [`World::next_blueprint`] and [`World::install`] carry it out.
    pub fn request(&mut self, change: Change) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.changes.push_back((ticket, change));
        ticket
    }

    /// The next model to compile, if a change is requested and none is being compiled. Changes that fail without compiling
    /// are added to `answers`.
    pub fn next_blueprint(&mut self, answers: &mut Vec<(Ticket, ChangeOutcome)>) -> Option<Blueprint> {
        while self.building.is_none() {
            let (ticket, change) = self.changes.pop_front()?;
            let mut blueprint = self.structure.blueprint.clone();
            let refusal = match &change {
                Change::Join(robot) => blueprint.add(robot).err().map(ChangeOutcome::Refused),
                Change::Leave(agent) => (!blueprint.remove(*agent)).then_some(ChangeOutcome::UnknownAgent(*agent)),
                Change::Resize { geom, size, .. } => {
                    blueprint.resize(geom.clone(), *size);
                    None
                }
            };
            if let Some(refusal) = refusal {
                self.abandon(&change);
                answers.push((ticket, refusal));
                continue;
            }
            self.building = Some((ticket, change));
            return Some(blueprint);
        }
        None
    }

    /// Swaps in the model built from [`World::next_blueprint`], with the state carried over by name.
    pub fn install(&mut self, built: Result<Structure, BuildError>) -> Option<(Ticket, ChangeOutcome)> {
        let (ticket, change) = self.building.take()?;
        let changed = match built {
            Ok(structure) => self.swap_in(structure, change),
            Err(error) => {
                self.abandon(&change);
                ChangeOutcome::Refused(error)
            }
        };
        Some((ticket, changed))
    }

    /// A robot that a director may have admitted failed to join.
    fn abandon(&mut self, change: &Change) {
        if let Change::Join(robot) = change {
            self.cancel_admission(&robot.name);
        }
    }

    /// Whether a robot is about to leave.
    pub fn is_robot_leaving(&self) -> bool {
        let waiting = self.changes.iter().chain(&self.building);
        waiting.map(|(_, change)| change).any(|change| matches!(change, Change::Leave(_)))
    }

    fn swap_in(&mut self, mut structure: Structure, change: Change) -> ChangeOutcome {
        structure.sim.carry_over(&self.structure.sim);
        structure.sim.adopt_threads(&mut self.structure.sim);
        self.structure = structure;
        let mut agents = std::mem::take(&mut self.agents);
        self.agents = self.structure.fresh_agents();
        for (id, agent) in &mut self.agents {
            if let Some(mut before) = agents.remove(id) {
                before.move_to(agent.interface.clone());
                *agent = before;
            }
        }
        light::update_sensors(&mut self.structure.sim, &self.structure.light_sensors);
        self.update_visuals();
        self.raise(standard::ENVIRONMENT_CHANGED);
        self.for_each_director(|director, world| director.model_changed(world));
        match change {
            Change::Join(robot) => {
                let id = self.structure.blueprint.residents.last().map_or(AgentId(0), |resident| resident.id);
                self.enter_journal(|| Entry::Join((&robot).into()));
                ChangeOutcome::Joined(id)
            }
            Change::Leave(agent) => {
                self.staged.retain(|staged| staged.agent != agent);
                self.enter_journal(|| Entry::Leave { agent });
                ChangeOutcome::Left(agent)
            }
            Change::Resize { geom, size } => {
                self.enter_journal(|| Entry::Resize { geom, size });
                ChangeOutcome::Resized
            }
        }
    }

    pub(crate) fn change_now(&mut self, change: Change) -> Result<(), ReplayError> {
        self.request(change);
        for (_, changed) in self.settle() {
            match changed {
                ChangeOutcome::Joined(_) | ChangeOutcome::Left(_) | ChangeOutcome::Resized => {}
                ChangeOutcome::Refused(cause) => return Err(ReplayError::Build(cause)),
                ChangeOutcome::UnknownAgent(agent) => return Err(ReplayError::UnknownAgent { agent }),
            }
        }
        Ok(())
    }

    /// Carries out all requested changes now, on this thread.
    pub fn settle(&mut self) -> Vec<(Ticket, ChangeOutcome)> {
        let mut answers = Vec::new();
        while let Some(blueprint) = self.next_blueprint(&mut answers) {
            answers.extend(self.install(blueprint.build()));
        }
        answers
    }
}
