//! Variables: every parameter and state of the world under a path name.
//!
//! `/Simulation/...` and `/Control/...` are about the whole world, `/Sim/<group>/<object>/<parameter>` about its objects (the
//! group is an agent's name, or `World`), `/Performance/...` about its speed.

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

/// Identifies a variable for the lifetime of its world, also after its robot has left.
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
    Gravitation,
    Seed,
    Time,
    Paused,
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
pub(crate) enum GeomProperty {
    Position,
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
    }

    /// The kind of its value, and whether it can be written.
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
            Self::Director(_, kind) => (kind, false),
            Self::AgentName(_) | Self::AgentRobot(_) => (K::String, false),
            Self::Heading(_) => (K::Double, true),
            Self::Input(..) => (K::NormalizedDouble, true),
            Self::Sensed(..) => (K::NormalizedDouble, false),
            Self::Body(_, property) => match property {
                BodyProperty::Position => (K::Point3D, true),
                BodyProperty::Orientation => (K::Quaternion, true),
                BodyProperty::Rotation => (K::Matrix, false),
                BodyProperty::LinearVelocity | BodyProperty::AngularVelocity => (K::Point3D, true),
                BodyProperty::Mass => (K::Double, true),
            },
            Self::Geom(_, property) => match property {
                GeomProperty::Position => (K::Point3D, false),
                GeomProperty::Size | GeomProperty::Friction => (K::Point3D, true),
                GeomProperty::Colour => (K::Colour, true),
            },
            Self::Joint(_, JointProperty::Limits) => (K::Range, true),
            Self::Joint(..) => (K::Double, true),
        }
    }
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
        let mut bindings = Bindings::default();
        bindings.simulation();
        for (index, (name, kind)) in director_variables.iter().enumerate() {
            bindings.add(name.clone(), Binding::Director(index, *kind));
        }
        let mut prefixes = Vec::new();
        for (resident, interface) in agents {
            prefixes.push((resident.prefix(), resident.name.clone()));
            bindings.agent(model, resident, interface);
        }
        bindings.objects(model, &prefixes);

        let mut repository = Self::default();
        for (name, binding) in bindings.0 {
            let name: Arc<str> = name.into();
            let (kind, writable) = binding.describe();
            let id = names.variable(&name);
            repository.bindings.insert(id, (binding, repository.cards.len()));
            repository.cards.push(VariableCard { id, name, kind, writable });
        }
        repository
    }
}

/// Bindings by name; the first binding of a name stays.
#[derive(Default)]
struct Bindings(BTreeMap<String, Binding>);

impl Bindings {
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
            self.add(format!("{group}/Position"), Binding::Body(root, BodyProperty::Position));
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
        let paths = ObjectPaths(prefixes);
        for body in model.bodies() {
            self.body(model, body, &paths);
        }
        for joint in model.joints() {
            self.joint(model, joint, &paths);
        }
    }

    fn body(&mut self, model: &Model, body: BodyId, paths: &ObjectPaths<'_>) {
        let is_world = model.body_parent(body) == body;
        let object = paths.path(model.body_name(body));
        if !is_world {
            for (name, property) in [
                ("Position", BodyProperty::Position),
                ("Orientation", BodyProperty::Orientation),
                ("Rotation", BodyProperty::Rotation),
                ("LinearVelocity", BodyProperty::LinearVelocity),
                ("AngularVelocity", BodyProperty::AngularVelocity),
                ("Mass", BodyProperty::Mass),
            ] {
                self.add(format!("{object}/{name}"), Binding::Body(body, property));
            }
        }
        let geoms: Vec<_> = model.body_geoms(body).collect();
        for (index, &geom) in geoms.iter().enumerate() {
            let name = model.geom_name(geom);
            // a geom without a name is called by its number
            let path = match (name, geoms.len()) {
                _ if is_world && !name.is_empty() => paths.path(name),
                _ if is_world => format!("/Sim/World/{}", index + 1),
                (_, 1) => object.clone(),
                ("", _) => format!("{object}/{}", index + 1),
                (name, _) => format!("{object}/{}", name.rsplit([':', '/']).next().unwrap_or(name)),
            };
            for (name, property) in [
                ("Position", GeomProperty::Position),
                ("Size", GeomProperty::Size),
                ("Friction", GeomProperty::Friction),
                ("Color", GeomProperty::Colour),
            ] {
                self.add(format!("{path}/{name}"), Binding::Geom(geom, property));
            }
        }
    }

    fn joint(&mut self, model: &Model, joint: JointId, paths: &ObjectPaths<'_>) {
        let is_axis = matches!(model.joint_kind(joint), JointKind::Hinge | JointKind::Slide);
        if model.joint_name(joint).is_empty() || !is_axis {
            return;
        }
        let object = paths.path(model.joint_name(joint));
        for (name, property) in [
            ("Angle", JointProperty::Angle),
            ("Velocity", JointProperty::Velocity),
            ("Damping", JointProperty::Damping),
            ("DynamicFriction", JointProperty::Friction),
            ("Armature", JointProperty::Armature),
            ("Stiffness", JointProperty::Stiffness),
        ] {
            self.add(format!("{object}/{name}"), Binding::Joint(joint, property));
        }
        if model.joint_range(joint).is_some() {
            self.add(format!("{object}/Limits"), Binding::Joint(joint, JointProperty::Limits));
        }
    }
}

/// Maps names of the model to paths: prefixes of robots, and the groups of their variables.
struct ObjectPaths<'a>(&'a [(String, String)]);

impl ObjectPaths<'_> {
    /// `/Sim/<group>/<object>` of a name in the model.
    fn path(&self, name: &str) -> String {
        let of_robot =
            |(prefix, group): &'_ (String, String)| Some((group.clone(), name.strip_prefix(prefix.as_str())?));
        let (group, object) = self.0.iter().find_map(of_robot).unwrap_or(("World".to_owned(), name));
        format!("/Sim/{group}/{object}")
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
    /// The object is fixed in the model.
    #[error("`{name}` cannot be changed: the object is fixed to its parent; only free bodies can be moved")]
    Fixed {
        /// Full name of the variable.
        name: String,
    },
    /// The shape cannot have this size, or any.
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
