//! Builds a world from its setup.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
};

use super::{World, saves::Saves};
use crate::{
    change::ChangeOutcome,
    clock::Pace,
    director::DynDirector,
    setup::{Randomise, Setup, draw},
    snapshot::Tick,
    structure::{Blueprint, BuildError, Structure},
    value::{ParseError, Value},
    variable::{Binding, Performance, VariableError, VariableId},
};

/// Why a world cannot be built from a setup.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The model is invalid.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A setting or a randomised variable does not exist or does not take this value.
    #[error("`{variable}` in the settings: {cause}")]
    Variable {
        /// Full name of the variable.
        variable: String,
        /// The underlying error.
        cause: VariableError,
    },
    /// A setting's text is not a value.
    #[error("`{variable}` in the settings: {cause}")]
    Text {
        /// Full name of the variable.
        variable: String,
        /// The underlying error.
        cause: ParseError,
    },
    /// A randomised variable is of a kind that cannot be drawn.
    #[error("`{variable}` cannot be randomised: only numbers and points can, and no sizes")]
    CannotDraw {
        /// Full name of the variable.
        variable: String,
    },
}

impl World {
    /// Builds a world without directors, at the start of its first try.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        Self::with_directors(setup, Vec::new())
    }

    /// Builds a world, at the start of its first try.
    pub fn with_directors(setup: &Setup, directors: Vec<Box<dyn DynDirector>>) -> Result<Self, SetupError> {
        let variables = directors.iter().flat_map(|director| director.variables());
        let kinds = variables.map(|(name, value)| (name, value.kind())).collect();
        let structure = Blueprint::new(setup, kinds)?.build()?;
        let mut world = Self::from_structure(structure, directors, setup.seed);
        world.apply_settings(setup)?;
        world.prepare_randomisation(setup)?;
        for (_, changed) in world.settle() {
            if let ChangeOutcome::Refused(cause) = changed {
                return Err(cause.into());
            }
        }
        world.reset(None);
        Ok(world)
    }

    fn from_structure(structure: Structure, directors: Vec<Box<dyn DynDirector>>, seed: u64) -> Self {
        let agents = structure.fresh_agents();
        Self {
            visuals: Arc::clone(&structure.visuals),
            structure,
            directors,
            agents,
            staged: Vec::new(),
            tick: Tick(0),
            step: 0,
            tries: 0,
            seed,
            steps_per_tick: 1,
            paused: false,
            randomise: Vec::new(),
            placed: Vec::new(),
            observed: BTreeMap::new(),
            lockstep: BTreeSet::new(),
            controllers: Arc::default(),
            pace: Pace::Fast,
            speed: 1.0,
            recent: Arc::default(),
            routine: (u64::MAX, BTreeSet::new()),
            raised: BTreeSet::new(),
            outside: BTreeSet::new(),
            changes: VecDeque::new(),
            building: None,
            next_ticket: 0,
            failed: None,
            saves: Saves::default(),
            fault_reports: Vec::new(),
            performance: Performance::default(),
            journal: None,
            recorded: Tick(0),
            half_recorded: false,
            after_step: || {},
        }
    }

    fn apply_settings(&mut self, setup: &Setup) -> Result<(), SetupError> {
        let steps_per_tick = ("/Simulation/IterationsPerStep".to_owned(), setup.steps_per_tick.to_string());
        for (name, text) in std::iter::once(&steps_per_tick).chain(&setup.settings) {
            let (id, value) = self.parse(name, text)?;
            let binding = self.structure.variables.binding(id);
            if binding.is_some_and(|binding| binding.places_fixed(self.sim().model())) {
                self.placed.push((id, value.clone()));
            }
            self.write(id, value).map_err(|cause| SetupError::Variable { variable: name.clone(), cause })?;
        }
        Ok(())
    }

    fn prepare_randomisation(&mut self, setup: &Setup) -> Result<(), SetupError> {
        for Randomise { variable, min, max } in &setup.randomise {
            let (id, min) = self.parse(variable, min)?;
            let (_, max) = self.parse(variable, max)?;
            let binding = self.structure.variables.binding(id);
            if draw(&min, &max, || 0.0).is_none() || binding.is_some_and(Binding::needs_compiler) {
                return Err(SetupError::CannotDraw { variable: variable.clone() });
            }
            // a variable that accepts both ends accepts everything between
            for end in [&min, &max] {
                let refused = |cause| SetupError::Variable { variable: variable.clone(), cause };
                self.write_now(id, end).map_err(refused)?;
            }
            self.randomise.push((id, min, max));
        }
        Ok(())
    }

    fn parse(&self, name: &str, text: &str) -> Result<(VariableId, Value), SetupError> {
        let variable = || name.to_owned();
        let card = self
            .catalogue()
            .variable_named(name)
            .ok_or_else(|| SetupError::Variable { variable: variable(), cause: VariableError::Unknown })?;
        let value = card.kind.parse(text).map_err(|cause| SetupError::Text { variable: variable(), cause })?;
        Ok((card.id, value))
    }
}
