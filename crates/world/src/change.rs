//! Changes that need a newly compiled model: robots come and go, objects get another size.

use crate::{
    agent::AgentId,
    event::standard,
    light,
    record::{Entry, ReplayError},
    setup::Robot,
    structure::{Blueprint, BuildError, Structure},
    world::World,
};

/// Identifies a request for a change of the model until it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// A change that needs a newly compiled model.
#[derive(Clone, Debug)]
pub enum Change {
    /// A robot comes.
    Join(Robot),
    /// A robot goes.
    Leave(AgentId),
    /// An object changes its size.
    Resize {
        /// Name of the geom in the model.
        geom: String,
        /// As MuJoCo counts it: half sizes or radius and half length, in m.
        size: [f64; 3],
    },
}

/// What came of a [`Change`].
#[derive(Debug)]
pub enum Changed {
    /// The robot is there.
    Joined(AgentId),
    /// The robot has gone.
    Left(AgentId),
    /// The object has its new size.
    Resized,
    /// Nothing happened.
    Refused(BuildError),
    /// There is no such agent.
    NoSuchAgent(AgentId),
}

impl World {
    /// Asks for a change of the model. It is carried out by [`World::next_blueprint`] and [`World::install`].
    pub fn request(&mut self, change: Change) -> Ticket {
        let ticket = Ticket(self.next_ticket);
        self.next_ticket += 1;
        self.changes.push_back((ticket, change));
        ticket
    }

    /// The next model to compile, if a change is wanted and none is being compiled. Changes that are refused without
    /// compiling anything are answered on the way.
    pub fn next_blueprint(&mut self, answers: &mut Vec<(Ticket, Changed)>) -> Option<Blueprint> {
        while self.building.is_none() {
            let (ticket, change) = self.changes.pop_front()?;
            let mut blueprint = self.structure.blueprint.clone();
            let refusal = match &change {
                Change::Join(robot) => blueprint.add(robot).err().map(Changed::Refused),
                Change::Leave(agent) => (!blueprint.remove(*agent)).then_some(Changed::NoSuchAgent(*agent)),
                Change::Resize { geom, size, .. } => {
                    blueprint.resize(geom.clone(), *size);
                    None
                }
            };
            if let Some(refusal) = refusal {
                self.give_up(&change);
                answers.push((ticket, refusal));
                continue;
            }
            self.building = Some((ticket, change));
            return Some(blueprint);
        }
        None
    }

    /// Swaps in what became of [`World::next_blueprint`], with everyone's state carried over by name.
    pub fn install(&mut self, built: Result<Structure, BuildError>) -> Option<(Ticket, Changed)> {
        let (ticket, change) = self.building.take()?;
        let changed = match built {
            Ok(structure) => self.swap_in(structure, change),
            Err(error) => {
                self.give_up(&change);
                Changed::Refused(error)
            }
        };
        Some((ticket, changed))
    }

    /// A robot that the director may have let in does not come.
    fn give_up(&mut self, change: &Change) {
        if let Change::Join(robot) = change {
            self.cancel_admission(&robot.name);
        }
    }

    /// Whether a robot is about to go.
    pub fn is_losing_a_robot(&self) -> bool {
        let waiting = self.changes.iter().chain(&self.building);
        waiting.map(|(_, change)| change).any(|change| matches!(change, Change::Leave(_)))
    }

    fn swap_in(&mut self, mut structure: Structure, change: Change) -> Changed {
        structure.sim.carry_over(&self.structure.sim);
        self.structure = structure;
        let mut agents = std::mem::take(&mut self.agents);
        self.agents = self.structure.fresh_agents();
        for (id, agent) in &mut self.agents {
            if let Some(mut before) = agents.remove(id) {
                before.move_to(agent.interface.clone());
                *agent = before;
            }
        }
        light::shine(&mut self.structure.sim, &self.structure.light_sensors);
        self.raise(standard::ENVIRONMENT_CHANGED);
        self.for_each_director(|director, world| director.model_changed(world));
        match change {
            Change::Join(robot) => {
                let id = self.structure.blueprint.residents.last().map_or(AgentId(0), |resident| resident.id);
                self.enter_journal(|| Entry::Join((&robot).into()));
                Changed::Joined(id)
            }
            Change::Leave(agent) => {
                self.staged.retain(|staged| staged.agent != agent);
                self.enter_journal(|| Entry::Leave { agent });
                Changed::Left(agent)
            }
            Change::Resize { geom, size } => {
                self.enter_journal(|| Entry::Resize { geom, size });
                Changed::Resized
            }
        }
    }

    pub(crate) fn change_now(&mut self, change: Change) -> Result<(), ReplayError> {
        self.request(change);
        for (_, changed) in self.settle() {
            match changed {
                Changed::Joined(_) | Changed::Left(_) | Changed::Resized => {}
                Changed::Refused(cause) => return Err(ReplayError::Build(cause)),
                Changed::NoSuchAgent(agent) => return Err(ReplayError::UnknownAgent { agent }),
            }
        }
        Ok(())
    }

    /// Carries out all wanted changes at once, here and now.
    pub fn settle(&mut self) -> Vec<(Ticket, Changed)> {
        let mut answers = Vec::new();
        while let Some(blueprint) = self.next_blueprint(&mut answers) {
            answers.extend(self.install(blueprint.build()));
        }
        answers
    }
}
