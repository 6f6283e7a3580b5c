//! Variables: every parameter and state of the world under a path name.
//!
//! `/Simulation/...` and `/Control/...` are about the whole world, `/Sim/<group>/<object>/<parameter>` about its objects (the
//! group is an agent's name, or `World`), `/Performance/...` about its speed.

mod naming;

use std::{collections::BTreeMap, sync::Arc};

use physics::{BodyId, Fault, GeomId, JointId, Model, Setting, Shape};
use serde::{Deserialize, Serialize};

use self::naming::Bindings;
use crate::{
    agent::{AgentId, Resident},
    event::EventId,
    interface::Interface,
    snapshot::VariableCard,
    value::{Value, ValueKind},
};

/// Identifies a variable for the lifetime of its world, even after its robot has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VariableId(pub u32);

/// Assigns ids to names. A name keeps its id for the lifetime of the world.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameIds {
    ids: BTreeMap<Arc<str>, u32>,
}

impl NameIds {
    fn id(&mut self, name: &Arc<str>) -> u32 {
        let next = self.ids.len() as u32;
        *self.ids.entry(Arc::clone(name)).or_insert(next)
    }

    pub(crate) fn variable(&mut self, name: &Arc<str>) -> VariableId {
        VariableId(self.id(name))
    }

    pub(crate) fn event(&mut self, name: &Arc<str>) -> EventId {
        EventId(self.id(name))
    }
}

/// The value behind a variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Binding {
    TimeStep,
    StepsPerTick,
    UpdateFrequency,
    Gravitation,
    Setting(Setting),
    Seed,
    Time,
    Paused,
    Pace,
    Speed,
    Step,
    Try,
    Performance(Counter),
    /// One of the directors' variables, by its index among them.
    Director(usize, ValueKind),
    AgentName(AgentId),
    AgentRobot(AgentId),
    Heading(BodyId),
    Input(AgentId, usize),
    Sensed(AgentId, usize),
    /// Physical range of an interface value.
    Range(AgentId, usize),
    Motor(AgentId, usize, MotorProperty),
    Body(BodyId, BodyProperty),
    Geom(GeomId, GeomProperty),
    Joint(JointId, JointProperty),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyProperty {
    Position,
    Orientation,
    Rotation,
    LinearVelocity,
    AngularVelocity,
    Mass,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MotorProperty {
    MaxTorque,
    Gain,
    Damping,
    TopSpeed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeomProperty {
    Position,
    Orientation,
    Size,
    Friction,
    Colour,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointProperty {
    Angle,
    Velocity,
    Damping,
    Friction,
    Armature,
    Stiffness,
    Limits,
}

/// Speed of the world, as measured by the thread that runs it; not part of its state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Performance {
    /// Wall time of the last tick, in s.
    pub tick_time: f64,
    /// Ticks in the last second of wall time.
    pub ticks_per_second: f64,
    /// Wall time since the world started, in s.
    pub real_time: f64,
    /// How often a paced world fell behind.
    pub overruns: u64,
    /// How often the simulation failed and was restored.
    pub faults: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counter {
    TickTime,
    TicksPerSecond,
    RealTime,
    Overruns,
    Faults,
}

impl Performance {
    pub(crate) fn read(&self, counter: Counter) -> Value {
        match counter {
            Counter::TickTime => Value::Double(self.tick_time),
            Counter::TicksPerSecond => Value::Double(self.ticks_per_second),
            Counter::RealTime => Value::Double(self.real_time),
            Counter::Overruns => Value::Integer(self.overruns as i64),
            Counter::Faults => Value::Integer(self.faults as i64),
        }
    }
}

impl Binding {
    /// Whether a write recompiles the model.
    pub(crate) fn needs_compiler(self) -> bool {
        matches!(self, Self::Geom(_, GeomProperty::Size))
    }

    /// Whether a write changes poses or sensor values at once.
    pub(crate) fn affects_poses(self) -> bool {
        use JointProperty as J;
        matches!(self, Self::Heading(_) | Self::Body(..) | Self::Joint(_, J::Angle | J::Velocity | J::Armature))
            || self.is_pose_of_geom()
    }

    pub(crate) fn is_pose_of_geom(self) -> bool {
        matches!(self, Self::Geom(_, GeomProperty::Position | GeomProperty::Orientation))
    }

    /// Whether it is where something is that cannot move by itself.
    pub(crate) fn places_fixed(self, model: &Model) -> bool {
        match self {
            Self::Heading(body) | Self::Body(body, BodyProperty::Position | BodyProperty::Orientation) => {
                model.is_fixed(body)
            }
            Self::Geom(geom, GeomProperty::Position | GeomProperty::Orientation) => {
                model.is_fixed(model.geom_body(geom))
            }
            _ => false,
        }
    }

    /// The kind of its value, and whether it can be written.
    fn describe(self) -> (ValueKind, bool) {
        use ValueKind as K;
        match self {
            Self::TimeStep | Self::UpdateFrequency | Self::Gravitation | Self::Speed => (K::Double, true),
            Self::StepsPerTick | Self::Seed => (K::Integer, true),
            Self::Setting(setting) => (if is_whole(setting) { K::Integer } else { K::Double }, true),
            Self::Pace => (K::String, false),
            Self::Time => (K::Double, false),
            Self::Paused => (K::Boolean, true),
            Self::Step | Self::Try => (K::Integer, false),
            Self::Performance(Counter::Overruns | Counter::Faults) => (K::Integer, false),
            Self::Performance(_) => (K::Double, false),
            Self::Director(_, kind) => (kind, false),
            Self::AgentName(_) | Self::AgentRobot(_) => (K::String, false),
            Self::Heading(_) => (K::Double, true),
            Self::Input(..) => (K::NormalizedDouble, true),
            Self::Sensed(..) => (K::NormalizedDouble, false),
            Self::Range(..) => (K::Range, false),
            Self::Motor(..) => (K::Double, true),
            Self::Body(_, property) => match property {
                BodyProperty::Position => (K::Point3D, true),
                BodyProperty::Orientation => (K::Quaternion, true),
                BodyProperty::Rotation => (K::Matrix, false),
                BodyProperty::LinearVelocity | BodyProperty::AngularVelocity => (K::Point3D, true),
                BodyProperty::Mass => (K::Double, true),
            },
            Self::Geom(_, property) => match property {
                GeomProperty::Position | GeomProperty::Size | GeomProperty::Friction => (K::Point3D, true),
                GeomProperty::Orientation => (K::Quaternion, true),
                GeomProperty::Colour => (K::Colour, true),
            },
            Self::Joint(_, JointProperty::Limits) => (K::Range, true),
            Self::Joint(..) => (K::Double, true),
        }
    }
}

/// Whether a setting counts something.
pub(crate) fn is_whole(setting: Setting) -> bool {
    matches!(setting, Setting::SolverIterations | Setting::LineSearchIterations | Setting::NoSlipIterations)
}

/// All variables of one model.
#[derive(Clone, Debug, Default)]
pub(crate) struct VariableTable {
    /// In order of names.
    pub(crate) cards: Vec<VariableCard>,
    /// Bindings, and the indices of the cards.
    bindings: BTreeMap<VariableId, (Binding, usize)>,
}

impl VariableTable {
    pub(crate) fn binding(&self, id: VariableId) -> Option<Binding> {
        self.bindings.get(&id).map(|&(binding, _)| binding)
    }

    pub(crate) fn card(&self, id: VariableId) -> Option<&VariableCard> {
        self.bindings.get(&id).and_then(|&(_, index)| self.cards.get(index))
    }

    pub(crate) fn new<'a>(
        model: &Model,
        agents: impl Iterator<Item = (&'a Resident, &'a Interface)>,
        director_variables: &[(String, ValueKind)],
        names: &mut NameIds,
    ) -> Self {
        let bindings = Bindings::of(model, agents, director_variables);
        let mut repository = Self::default();
        for (name, binding) in bindings {
            let name: Arc<str> = name.into();
            let (kind, writable) = binding.describe();
            let id = names.variable(&name);
            repository.bindings.insert(id, (binding, repository.cards.len()));
            repository.cards.push(VariableCard { id, name, kind, writable });
        }
        repository
    }
}

/// Why a variable was not read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VariableError {
    /// No such variable, or its robot has left.
    #[error("unknown variable")]
    Unknown,
    /// It cannot be written.
    #[error("`{name}` is read-only")]
    ReadOnly {
        /// Full name of the variable.
        name: String,
    },
    /// The value is of another kind.
    #[error("`{name}` is a {wanted}, not a {given}")]
    WrongKind {
        /// Full name of the variable.
        name: String,
        /// Kind of the variable.
        wanted: ValueKind,
        /// Kind of the given value.
        given: ValueKind,
    },
    /// The simulation cannot work with the value.
    #[error("`{name}` takes {min} to {max}, not {value}")]
    OutOfRange {
        /// Full name of the variable.
        name: String,
        /// The given value.
        value: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// The object moves with another one.
    #[error(
        "`{name}` cannot be changed: the object moves with the one it belongs to; only free bodies can be moved, and what is \
         fixed in the world"
    )]
    Fixed {
        /// Full name of the variable.
        name: String,
    },
    /// The shape cannot have this size, or has a fixed size.
    #[error("`{name}` cannot be changed: {extents:?} is not a valid size of a {shape:?}")]
    NoSize {
        /// Full name of the variable.
        name: String,
        /// Its shape.
        shape: Shape,
        /// The full extents that were given, in m.
        extents: [f64; 3],
    },
    /// A write recompiles the model, which needs a name for the object.
    #[error("`{name}` cannot be changed: the object has no name in its model; give it one")]
    Nameless {
        /// Full name of the variable.
        name: String,
    },
    /// The simulation fails with this value.
    #[error("`{name}` cannot be changed: {cause}")]
    Refused {
        /// Full name of the variable.
        name: String,
        /// The error of the physics engine.
        cause: Fault,
    },
    /// The model does not compile with this size.
    #[error("`{name}` cannot be changed: {reason}")]
    NotBuilt {
        /// Full name of the variable.
        name: String,
        /// The compiler's message.
        reason: String,
    },
}
