//! Variables: every parameter and state of the world under a path name.
//!
//! `/Simulation/...` and `/Control/...` are about the whole world, `/Sim/<group>/<object>/<parameter>` about the things
//! in it (the group is an agent's name, or `World`), `/Performance/...` about how fast it runs.

use std::{collections::BTreeMap, sync::Arc};

use physics::{BodyId, Fault, GeomId, JointId, JointKind, Model, Shape};
use serde::{Deserialize, Serialize};

use crate::{
    agent::{AgentId, Resident},
    event::EventId,
    interface::{Interface, Role},
    snapshot::VariableCard,
    value::{Value, ValueKind},
};

/// Names a variable for as long as its world lives; also after what it belonged to has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct VariableId(pub u32);

/// Gives out ids for names and never forgets one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    ids: BTreeMap<Arc<str>, u32>,
}

impl Names {
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

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Binding {
    TimeStep,
    StepsPerTick,
    Gravitation,
    Seed,
    Time,
    Paused,
    Step,
    Try,
    Performance(Counter),
    /// One of the director's own, by its place among them.
    Directed(usize, ValueKind),
    AgentName(AgentId),
    AgentRobot(AgentId),
    Heading(BodyId),
    Input(AgentId, usize),
    Sensed(AgentId, usize),
    Body(BodyId, BodyPart),
    Geom(GeomId, GeomPart),
    Joint(JointId, JointPart),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyPart {
    Position,
    Orientation,
    Rotation,
    LinearVelocity,
    AngularVelocity,
    Mass,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GeomPart {
    Position,
    Size,
    Friction,
    Colour,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointPart {
    Angle,
    Velocity,
    Damping,
    Friction,
    Armature,
    Stiffness,
    Limits,
}

/// How fast the world runs. Filled in by whoever runs it; not part of its state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Performance {
    /// Wall time of the last tick, in s.
    pub tick_time: f64,
    /// Ticks in the last second of wall time.
    pub ticks_per_second: f64,
    /// Wall time since the world started, in s.
    pub real_time: f64,
    /// Times that a paced world fell behind.
    pub overruns: u64,
    /// Times that the simulation failed and was restored.
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
    /// Whether the model is compiled anew when it is written.
    pub(crate) fn needs_compiler(self) -> bool {
        matches!(self, Self::Geom(_, GeomPart::Size))
    }

    /// Whether poses and sensor values are others at once when it is written.
    pub(crate) fn moves_things(self) -> bool {
        use JointPart as J;
        matches!(self, Self::Heading(_) | Self::Body(..) | Self::Joint(_, J::Angle | J::Velocity | J::Armature))
    }

    /// What it holds, and whether it can be written at all.
    fn describe(self) -> (ValueKind, bool) {
        use ValueKind as K;
        match self {
            Self::TimeStep | Self::Gravitation => (K::Double, true),
            Self::StepsPerTick | Self::Seed => (K::Integer, true),
            Self::Time => (K::Double, false),
            Self::Paused => (K::Boolean, true),
            Self::Step | Self::Try => (K::Integer, false),
            Self::Performance(Counter::Overruns | Counter::Faults) => (K::Integer, false),
            Self::Performance(_) => (K::Double, false),
            Self::Directed(_, kind) => (kind, false),
            Self::AgentName(_) | Self::AgentRobot(_) => (K::String, false),
            Self::Heading(_) => (K::Double, true),
            Self::Input(..) => (K::NormalizedDouble, true),
            Self::Sensed(..) => (K::NormalizedDouble, false),
            Self::Body(_, part) => match part {
                BodyPart::Position => (K::Point3D, true),
                BodyPart::Orientation => (K::Quaternion, true),
                BodyPart::Rotation => (K::Matrix, false),
                BodyPart::LinearVelocity | BodyPart::AngularVelocity => (K::Point3D, true),
                BodyPart::Mass => (K::Double, true),
            },
            Self::Geom(_, part) => match part {
                GeomPart::Position => (K::Point3D, false),
                GeomPart::Size | GeomPart::Friction => (K::Point3D, true),
                GeomPart::Colour => (K::Colour, true),
            },
            Self::Joint(_, JointPart::Limits) => (K::Range, true),
            Self::Joint(..) => (K::Double, true),
        }
    }
}

/// All variables of one model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repository {
    /// In order of names.
    pub(crate) cards: Vec<VariableCard>,
    /// And where the card is.
    bindings: BTreeMap<VariableId, (Binding, usize)>,
}

impl Repository {
    pub(crate) fn binding(&self, id: VariableId) -> Option<Binding> {
        self.bindings.get(&id).map(|&(binding, _)| binding)
    }

    pub(crate) fn card(&self, id: VariableId) -> Option<&VariableCard> {
        self.bindings.get(&id).and_then(|&(_, index)| self.cards.get(index))
    }

    pub(crate) fn new<'a>(
        model: &Model,
        agents: impl Iterator<Item = (&'a Resident, &'a Interface)>,
        directed: &[(String, ValueKind)],
        names: &mut Names,
    ) -> Self {
        let mut found = Found::default();
        found.simulation();
        for (index, (name, kind)) in directed.iter().enumerate() {
            found.add(name.clone(), Binding::Directed(index, *kind));
        }
        let mut prefixes = Vec::new();
        for (resident, interface) in agents {
            prefixes.push((resident.prefix(), resident.name.clone()));
            found.agent(model, resident, interface);
        }
        found.objects(model, &prefixes);

        let mut repository = Self::default();
        for (name, binding) in found.0 {
            let name: Arc<str> = name.into();
            let (kind, writable) = binding.describe();
            let id = names.variable(&name);
            repository.bindings.insert(id, (binding, repository.cards.len()));
            repository.cards.push(VariableCard { id, name, kind, writable });
        }
        repository
    }
}

/// Names and bindings, in order of names; the first binding of a name stays.
#[derive(Default)]
struct Found(BTreeMap<String, Binding>);

impl Found {
    fn add(&mut self, name: String, binding: Binding) {
        self.0.entry(name).or_insert(binding);
    }

    fn simulation(&mut self) {
        for (name, binding) in [
            ("/Simulation/TimeStepSize", Binding::TimeStep),
            ("/Simulation/IterationsPerStep", Binding::StepsPerTick),
            ("/Simulation/Gravitation", Binding::Gravitation),
            ("/Simulation/Seed", Binding::Seed),
            ("/Simulation/SimulationTime", Binding::Time),
            ("/Simulation/RealTime", Binding::Performance(Counter::RealTime)),
            ("/Control/Pause", Binding::Paused),
            ("/Control/CurrentStep", Binding::Step),
            ("/Control/CurrentTry", Binding::Try),
            ("/Performance/TickTime", Binding::Performance(Counter::TickTime)),
            ("/Performance/TicksPerSecond", Binding::Performance(Counter::TicksPerSecond)),
            ("/Performance/Overruns", Binding::Performance(Counter::Overruns)),
            ("/Performance/Faults", Binding::Performance(Counter::Faults)),
        ] {
            self.add(name.to_owned(), binding);
        }
    }

    fn agent(&mut self, model: &Model, resident: &Resident, interface: &Interface) {
        let group = format!("/Sim/{}", resident.name);
        self.add(format!("{group}/Name"), Binding::AgentName(resident.id));
        self.add(format!("{group}/Robot"), Binding::AgentRobot(resident.id));
        if let Some(root) = resident.root(model) {
            self.add(format!("{group}/Position"), Binding::Body(root, BodyPart::Position));
            self.add(format!("{group}/Heading"), Binding::Heading(root));
        }
        for (index, value) in interface.values.iter().enumerate() {
            let binding = match value.role {
                Role::Input => Binding::Input(resident.id, index),
                Role::Output | Role::Info => Binding::Sensed(resident.id, index),
            };
            self.add(format!("{group}{}", value.name), binding);
        }
    }

    fn objects(&mut self, model: &Model, prefixes: &[(String, String)]) {
        // `/Sim/<group>/<object>` of a name in the model; the n-th nameless thing of a body is called by its number
        let path = |name: &str| {
            let own =
                prefixes.iter().find_map(|(prefix, group)| Some((group.as_str(), name.strip_prefix(prefix.as_str())?)));
            let (group, object) = own.unwrap_or(("World", name));
            format!("/Sim/{group}/{object}")
        };
        for body in model.bodies() {
            let is_world = model.body_parent(body) == body;
            let object = path(model.body_name(body));
            if !is_world {
                for (name, part) in [
                    ("Position", BodyPart::Position),
                    ("Orientation", BodyPart::Orientation),
                    ("Rotation", BodyPart::Rotation),
                    ("LinearVelocity", BodyPart::LinearVelocity),
                    ("AngularVelocity", BodyPart::AngularVelocity),
                    ("Mass", BodyPart::Mass),
                ] {
                    self.add(format!("{object}/{name}"), Binding::Body(body, part));
                }
            }
            let geoms: Vec<_> = model.body_geoms(body).collect();
            for (index, &geom) in geoms.iter().enumerate() {
                let name = model.geom_name(geom);
                let place = match (name, geoms.len()) {
                    _ if is_world && !name.is_empty() => path(name),
                    _ if is_world => format!("/Sim/World/{}", index + 1),
                    (_, 1) => object.clone(),
                    ("", _) => format!("{object}/{}", index + 1),
                    (name, _) => format!("{object}/{}", name.rsplit([':', '/']).next().unwrap_or(name)),
                };
                for (name, part) in [
                    ("Position", GeomPart::Position),
                    ("Size", GeomPart::Size),
                    ("Friction", GeomPart::Friction),
                    ("Color", GeomPart::Colour),
                ] {
                    self.add(format!("{place}/{name}"), Binding::Geom(geom, part));
                }
            }
        }
        for joint in model.joints() {
            if model.joint_name(joint).is_empty()
                || !matches!(model.joint_kind(joint), JointKind::Hinge | JointKind::Slide)
            {
                continue;
            }
            let object = path(model.joint_name(joint));
            for (name, part) in [
                ("Angle", JointPart::Angle),
                ("Velocity", JointPart::Velocity),
                ("Damping", JointPart::Damping),
                ("DynamicFriction", JointPart::Friction),
                ("Armature", JointPart::Armature),
                ("Stiffness", JointPart::Stiffness),
            ] {
                self.add(format!("{object}/{name}"), Binding::Joint(joint, part));
            }
            if model.joint_range(joint).is_some() {
                self.add(format!("{object}/Limits"), Binding::Joint(joint, JointPart::Limits));
            }
        }
    }
}

/// Why a variable was not read or written.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum VariableError {
    /// No such variable, or what it belonged to has gone.
    #[error("there is no such variable")]
    Unknown,
    /// It can only be read.
    #[error("{name} can only be read")]
    ReadOnly {
        /// Full name.
        name: String,
    },
    /// The value is of another kind.
    #[error("{name} holds a {wanted}, not a {given}")]
    WrongKind {
        /// Full name.
        name: String,
        /// What it holds.
        wanted: ValueKind,
        /// What was given.
        given: ValueKind,
    },
    /// The value is outside what the simulation can take.
    #[error("{name} takes {min} to {max}, not {value}")]
    OutOfRange {
        /// Full name.
        name: String,
        /// What was given.
        value: f64,
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// The object is fixed in the model.
    #[error("{name} cannot be changed: the object is fixed to what carries it; only free bodies can be placed")]
    Fixed {
        /// Full name.
        name: String,
    },
    /// The shape cannot have this size, or none at all.
    #[error("{name} cannot be changed: {extents:?} is not a size that a {shape:?} can be given")]
    NoSize {
        /// Full name.
        name: String,
        /// Its shape.
        shape: Shape,
        /// The full extents that were given, in m.
        extents: [f64; 3],
    },
    /// The model is compiled anew for this, and finds objects by their names.
    #[error("{name} cannot be changed: the object has no name in its model; give it one")]
    Nameless {
        /// Full name.
        name: String,
    },
    /// The simulation cannot go on from there.
    #[error("{name} cannot be changed: {cause}")]
    Refused {
        /// Full name.
        name: String,
        /// Why.
        cause: Fault,
    },
    /// The model does not compile with this size.
    #[error("{name} cannot be changed: {reason}")]
    NotBuilt {
        /// Full name, or that of the geom.
        name: String,
        /// The compiler's words.
        reason: String,
    },
}
