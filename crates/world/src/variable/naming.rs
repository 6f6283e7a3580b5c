//! Names of variables. Each parameter has one of its own.

use std::collections::BTreeMap;

use physics::{BodyId, JointId, JointKind, Model, Setting};

use super::{Binding, BodyProperty, Counter, GeomProperty, JointProperty, MotorProperty};
use crate::{
    agent::Resident,
    interface::{Interface, InterfaceValue, Motor, MotorKind, Role},
    value::ValueKind,
};

/// Bindings by name.
#[derive(Default)]
pub(super) struct Bindings(BTreeMap<String, Binding>);

impl IntoIterator for Bindings {
    type Item = (String, Binding);
    type IntoIter = std::collections::btree_map::IntoIter<String, Binding>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Bindings {
    pub(super) fn of<'a>(
        model: &Model,
        agents: impl Iterator<Item = (&'a Resident, &'a Interface)>,
        director_variables: &[(String, ValueKind)],
    ) -> Self {
        let mut bindings = Self::default();
        bindings.simulation();
        for (index, (name, kind)) in director_variables.iter().enumerate() {
            bindings.0.entry(name.clone()).or_insert(Binding::Director(index, *kind));
        }
        let mut prefixes = Vec::new();
        for (resident, interface) in agents {
            prefixes.push((resident.prefix(), resident.name.clone()));
            bindings.agent(model, resident, interface);
        }
        bindings.objects(model, &prefixes);
        bindings
    }

    /// Adds a parameter of an object. If the name is taken, such as that of a joint's velocity by a sensor of it, the part
    /// of the object that it belongs to is inserted: `Wheel/Joint/Velocity`.
    fn add(&mut self, object: &str, part: &str, parameter: &str, binding: Binding) {
        let short = format!("{object}/{parameter}");
        let full = || format!("{object}/{part}/{parameter}");
        let numbered = (2_u32..).map(|number| format!("{object}/{part}-{number}/{parameter}"));
        let mut names = std::iter::once(short).chain(std::iter::once_with(full)).chain(numbered);
        if let Some(name) = names.find(|name| !self.0.contains_key(name)) {
            self.0.insert(name, binding);
        }
    }

    fn simulation(&mut self) {
        for (name, binding) in [
            ("/Simulation/TimeStepSize", Binding::TimeStep),
            ("/Simulation/IterationsPerStep", Binding::StepsPerTick),
            ("/Simulation/UpdateFrequency", Binding::UpdateFrequency),
            ("/Simulation/Gravitation", Binding::Gravitation),
            ("/Simulation/SolverIterations", Binding::Setting(Setting::SolverIterations)),
            ("/Simulation/SolverTolerance", Binding::Setting(Setting::SolverTolerance)),
            ("/Simulation/LineSearchIterations", Binding::Setting(Setting::LineSearchIterations)),
            ("/Simulation/NoSlipIterations", Binding::Setting(Setting::NoSlipIterations)),
            ("/Simulation/Density", Binding::Setting(Setting::Density)),
            ("/Simulation/Viscosity", Binding::Setting(Setting::Viscosity)),
            ("/Simulation/Seed", Binding::Seed),
            ("/Simulation/SimulationTime", Binding::Time),
            ("/Simulation/RealTime", Binding::Performance(Counter::RealTime)),
            ("/Control/Pause", Binding::Paused),
            ("/Control/Pace", Binding::Pace),
            ("/Control/Speed", Binding::Speed),
            ("/Control/CurrentStep", Binding::Step),
            ("/Control/CurrentTry", Binding::Try),
            ("/Performance/TickTime", Binding::Performance(Counter::TickTime)),
            ("/Performance/TicksPerSecond", Binding::Performance(Counter::TicksPerSecond)),
            ("/Performance/Overruns", Binding::Performance(Counter::Overruns)),
            ("/Performance/Faults", Binding::Performance(Counter::Faults)),
        ] {
            self.0.insert(name.to_owned(), binding);
        }
    }

    fn agent(&mut self, model: &Model, resident: &Resident, interface: &Interface) {
        let group = format!("/Sim/{}", resident.name);
        self.add(&group, "Agent", "Name", Binding::AgentName(resident.id));
        self.add(&group, "Agent", "Robot", Binding::AgentRobot(resident.id));
        if let Some(root) = resident.root(model) {
            self.add(&group, "Agent", "Position", Binding::Body(root, BodyProperty::Position));
            self.add(&group, "Agent", "Heading", Binding::Heading(root));
        }
        for (index, value) in interface.values.iter().enumerate() {
            let (part, binding) = match value.role {
                Role::Input => ("Input", Binding::Input(resident.id, index)),
                Role::Output => ("Sensor", Binding::Sensed(resident.id, index)),
                Role::Info => ("Info", Binding::Sensed(resident.id, index)),
            };
            self.add(&group, part, short_name(value), binding);
        }
        // after all values, which keep their names
        for (index, value) in interface.values.iter().enumerate() {
            let object = format!("{group}/{}", short_name(value));
            self.add(&object, "Value", "Range", Binding::Range(resident.id, index));
        }
        for (index, motor) in interface.motors.iter().enumerate() {
            for (name, property) in properties(motor) {
                let object = format!("{group}/{}", motor.name);
                let name = format!("Motor/{name}");
                self.add(&object, "Motor", &name, Binding::Motor(resident.id, index, property));
            }
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
        let object = match model.body_name(body) {
            "" => format!("/Sim/World/body-{}", body.index()),
            name => paths.path(name),
        };
        if !is_world {
            for (name, property) in [
                ("Position", BodyProperty::Position),
                ("Orientation", BodyProperty::Orientation),
                ("Rotation", BodyProperty::Rotation),
                ("LinearVelocity", BodyProperty::LinearVelocity),
                ("AngularVelocity", BodyProperty::AngularVelocity),
                ("Mass", BodyProperty::Mass),
            ] {
                self.add(&object, "Body", name, Binding::Body(body, property));
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
                ("Orientation", GeomProperty::Orientation),
                ("Size", GeomProperty::Size),
                ("Friction", GeomProperty::Friction),
                ("Color", GeomProperty::Colour),
            ] {
                self.add(&path, "Geom", name, Binding::Geom(geom, property));
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
            self.add(&object, "Joint", name, Binding::Joint(joint, property));
        }
        if model.joint_range(joint).is_some() {
            self.add(&object, "Joint", "Limits", Binding::Joint(joint, JointProperty::Limits));
        }
    }
}

/// The name of an interface value, without its slash.
fn short_name(value: &InterfaceValue) -> &str {
    value.name.strip_prefix('/').unwrap_or(&value.name)
}

/// The properties that a motor has, with their names.
fn properties(motor: &Motor) -> Vec<(&'static str, MotorProperty)> {
    let mut properties = vec![("MaxTorque", MotorProperty::MaxTorque)];
    if motor.kind != MotorKind::Signal {
        properties.push(("Gain", MotorProperty::Gain));
    }
    if motor.kind == MotorKind::Angle {
        properties.push(("Damping", MotorProperty::Damping));
    }
    if motor.top_speed.is_some() {
        properties.push(("TopSpeed", MotorProperty::TopSpeed));
    }
    properties
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
