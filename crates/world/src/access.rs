//! Reading and writing variables.

use glam::{DMat3, DQuat, EulerRot};
use physics::{BodyId, GeomId, JointId, Pose, Setting, Shape, Sim, Velocity};

use crate::{
    agent::{Agent, AgentId},
    change::{Change, Ticket},
    command::SPEEDS,
    interface::{InterfaceValue, Port},
    value::Value,
    variable::{
        Binding, BodyProperty, GeomProperty, JointProperty, MotorProperty, VariableError, VariableId, is_whole,
    },
    world::World,
};

/// Range of the physics step, in s.
pub(crate) const TIMESTEPS: (f64, f64) = (1e-5, 0.05);
/// Range of the number of physics steps per tick.
const STEPS_PER_TICK: (f64, f64) = (1.0, 10_000.0);
/// Gravitation, in m/s².
const GRAVITATION: (f64, f64) = (-1e3, 1e3);
/// Masses, in kg.
const MASSES: (f64, f64) = (1e-6, 1e6);
/// Extents of objects, in m.
const SIZES: (f64, f64) = (1e-5, 1e3);
/// Positions, in m.
pub(crate) const POSITIONS: (f64, f64) = (-1e5, 1e5);
/// Friction, damping and similar coefficients.
const COEFFICIENTS: (f64, f64) = (0.0, 1e6);
/// Lengths of quaternions, which are normalized.
pub(crate) const QUATERNION_LENGTHS: (f64, f64) = (1e-9, 1e9);
/// Velocities of bodies, in m/s and rad/s.
const VELOCITIES: (f64, f64) = (-1e3, 1e3);
/// Joint angles and speeds, in rad and rad/s (or m and m/s).
const JOINTS: (f64, f64) = (-1e4, 1e4);
/// Gains and top speeds of motors; above 0, as they are divisors.
const GAINS: (f64, f64) = (1e-6, 1e6);

/// Range of a parameter of a motor.
fn bounds_of_motor(property: MotorProperty) -> (f64, f64) {
    match property {
        MotorProperty::MaxTorque | MotorProperty::Damping => COEFFICIENTS,
        MotorProperty::Gain | MotorProperty::TopSpeed => GAINS,
    }
}

/// Range of a setting of the whole simulation.
fn bounds_of(setting: Setting) -> (f64, f64) {
    match setting {
        Setting::SolverIterations | Setting::LineSearchIterations => (1.0, 1_000.0),
        Setting::NoSlipIterations => (0.0, 1_000.0),
        Setting::SolverTolerance => (0.0, 1.0),
        Setting::Density | Setting::Viscosity => (0.0, 1e6),
    }
}

impl World {
    /// Current value of a variable.
    pub fn read(&self, variable: VariableId) -> Result<Value, VariableError> {
        let binding = self.structure.variables.binding(variable).ok_or(VariableError::Unknown)?;
        let sim = self.sim();
        Ok(match binding {
            Binding::TimeStep => Value::Double(sim.timestep()),
            Binding::StepsPerTick => Value::Integer(self.steps_per_tick.into()),
            Binding::UpdateFrequency => Value::Double(1.0 / self.tick_seconds()),
            Binding::Gravitation => Value::Double(-sim.gravity()[2]),
            Binding::Setting(setting) => {
                let value = sim.setting(setting);
                if is_whole(setting) { Value::Integer(value as i64) } else { Value::Double(value) }
            }
            Binding::Seed => Value::Integer(self.seed as i64),
            Binding::Time => Value::Double(sim.time()),
            Binding::Paused => Value::Boolean(self.paused),
            Binding::Pace => Value::String(self.pace().name().to_owned()),
            Binding::Speed => Value::Double(self.speed()),
            Binding::Step => Value::Integer(self.step as i64),
            Binding::Try => Value::Integer(self.tries as i64),
            Binding::Performance(counter) => self.performance.read(counter),
            Binding::Director(index, _) => {
                let mut variables = self.directors.iter().flat_map(|director| director.variables());
                variables.nth(index).map(|(_, value)| value).ok_or(VariableError::Unknown)?
            }
            Binding::AgentName(agent) => {
                Value::String(self.structure.resident(agent).map(|r| r.name.clone()).unwrap_or_default())
            }
            Binding::AgentRobot(agent) => {
                Value::String(self.structure.resident(agent).map(|r| r.robot.clone()).unwrap_or_default())
            }
            Binding::Heading(root) => Value::Double(heading(sim.body_pose(root).quat)),
            Binding::Input(agent, index) => {
                let (agent, value) = self.interface_value(agent, index)?;
                Value::NormalizedDouble(match value.port {
                    Port::MotorTarget(motor) => value.normalized_from_physical(agent.commanded(motor).0),
                    Port::MotorTorque(motor) => agent.commanded(motor).1,
                    Port::Sensor(_) | Port::Distance(_) => return Err(VariableError::Unknown),
                })
            }
            Binding::Sensed(agent, index) => {
                let (_, value) = self.interface_value(agent, index)?;
                let reading = value.normalized_from_sensors(sim.sensor_values());
                Value::NormalizedDouble(reading.ok_or(VariableError::Unknown)?)
            }
            Binding::Range(agent, index) => {
                let (agent, value) = self.interface_value(agent, index)?;
                let range = agent.range(value);
                Value::Range(range.min, range.max)
            }
            Binding::Motor(agent, motor, property) => {
                let agent = self.agents.get(&agent).ok_or(VariableError::Unknown)?;
                Value::Double(agent.parameter(motor, property).ok_or(VariableError::Unknown)?)
            }
            Binding::Body(body, property) => self.read_body(body, property),
            Binding::Geom(geom, property) => self.read_geom(geom, property),
            Binding::Joint(joint, property) => self.read_joint(joint, property),
        })
    }

    fn interface_value(&self, agent: AgentId, index: usize) -> Result<(&Agent, &InterfaceValue), VariableError> {
        let agent = self.agents.get(&agent).ok_or(VariableError::Unknown)?;
        Ok((agent, agent.interface.values.get(index).ok_or(VariableError::Unknown)?))
    }

    fn read_body(&self, body: BodyId, property: BodyProperty) -> Value {
        let sim = self.sim();
        match property {
            BodyProperty::Position => Value::Point3D(sim.body_pose(body).pos),
            BodyProperty::Orientation => Value::Quaternion(sim.body_pose(body).quat),
            BodyProperty::Rotation => {
                let columns = DMat3::from_quat(rotation(sim.body_pose(body).quat));
                Value::Matrix(columns.transpose().to_cols_array_2d())
            }
            BodyProperty::LinearVelocity => Value::Point3D(sim.body_velocity(body).linear),
            BodyProperty::AngularVelocity => Value::Point3D(sim.body_velocity(body).angular),
            BodyProperty::Mass => Value::Double(sim.body_mass(body)),
        }
    }

    fn read_geom(&self, geom: GeomId, property: GeomProperty) -> Value {
        let sim = self.sim();
        match property {
            GeomProperty::Position => Value::Point3D(sim.geom_pose(geom).pos),
            GeomProperty::Orientation => Value::Quaternion(sim.geom_pose(geom).quat),
            GeomProperty::Size => Value::Point3D(extents_from_size(sim.model().geom_shape(geom), sim.geom_size(geom))),
            GeomProperty::Friction => Value::Point3D(sim.geom_friction(geom)),
            GeomProperty::Colour => {
                Value::Colour(sim.geom_rgba(geom).map(|c| (c * 255.0).round().clamp(0.0, 255.0) as u8))
            }
        }
    }

    fn read_joint(&self, joint: JointId, property: JointProperty) -> Value {
        let sim = self.sim();
        Value::Double(match property {
            JointProperty::Angle => sim.joint_position(joint),
            JointProperty::Velocity => sim.joint_velocity(joint),
            JointProperty::Damping => sim.joint_damping(joint),
            JointProperty::Friction => sim.joint_frictionloss(joint),
            JointProperty::Armature => sim.joint_armature(joint),
            JointProperty::Stiffness => sim.joint_stiffness(joint),
            JointProperty::Limits => {
                let [min, max] = sim.joint_limits(joint).unwrap_or_default();
                return Value::Range(min, max);
            }
        })
    }

    /// Writes without an entry in the journal. A change that needs a new model is only requested; its ticket is returned.
    pub(crate) fn write_now(&mut self, variable: VariableId, value: &Value) -> Result<Option<Ticket>, VariableError> {
        let binding = self.structure.variables.binding(variable).ok_or(VariableError::Unknown)?;
        let card = self.structure.variables.card(variable).ok_or(VariableError::Unknown)?;
        let name = card.name.to_string();
        if !card.writable {
            return Err(VariableError::ReadOnly { name });
        }
        if value.kind() != card.kind {
            return Err(VariableError::WrongKind { name, wanted: card.kind, given: value.kind() });
        }
        let writer = VariableWriter(&name);
        let sim = &mut self.structure.sim;
        match (binding, value) {
            (Binding::Heading(root), &Value::Double(x)) => {
                let wanted = writer.check(x, JOINTS)?;
                writer.place(sim, root, |pose| {
                    let turn = DQuat::from_rotation_z(wanted - heading(pose.quat));
                    let DQuat { w, x, y, z } = turn * rotation(pose.quat);
                    pose.quat = [w, x, y, z];
                })?;
            }
            (Binding::Body(body, property), value) => writer.write_body(sim, body, property, value)?,
            (Binding::Joint(joint, property), value) => writer.write_joint(sim, joint, property, value)?,
            (Binding::Geom(geom, GeomProperty::Size), &Value::Point3D(extents)) => {
                let change = writer.resize(sim, geom, extents)?;
                return Ok(Some(self.request(change)));
            }
            (Binding::Geom(geom, property), value) => writer.write_geom(sim, geom, property, value)?,
            (Binding::Motor(agent, motor, property), &Value::Double(x)) => {
                let x = writer.check(x, bounds_of_motor(property))?;
                let robot = self.agents.get_mut(&agent).ok_or(VariableError::Unknown)?;
                robot.set_parameter(sim, motor, property, x);
            }
            (Binding::Input(agent, index), &Value::NormalizedDouble(x)) => {
                let robot = self.agents.get_mut(&agent).ok_or(VariableError::Unknown)?;
                let value = robot.interface.values.get(index).ok_or(VariableError::Unknown)?;
                let x = writer.check(x, (value.normalized.min, value.normalized.max))?;
                robot.apply(value.action(x).ok_or_else(|| writer.read_only())?);
                robot.update_sim(sim);
            }
            (binding, value) => self.write_global(&writer, binding, value)?,
        }
        Ok(None)
    }

    /// Writes a parameter of the whole simulation.
    fn write_global(
        &mut self,
        writer: &VariableWriter<'_>,
        binding: Binding,
        value: &Value,
    ) -> Result<(), VariableError> {
        let sim = &mut self.structure.sim;
        match (binding, value) {
            (Binding::TimeStep, &Value::Double(x)) => sim.set_timestep(writer.check(x, TIMESTEPS)?),
            (Binding::Gravitation, &Value::Double(x)) => sim.set_gravity([0.0, 0.0, -writer.check(x, GRAVITATION)?]),
            (Binding::StepsPerTick, &Value::Integer(n)) => {
                self.steps_per_tick = writer.check(n as f64, STEPS_PER_TICK)? as u32;
            }
            (Binding::UpdateFrequency, &Value::Double(hertz)) => {
                let (fewest, most) = STEPS_PER_TICK;
                let frequency = |steps: f64| 1.0 / (sim.timestep() * steps);
                let hertz = writer.check(hertz, (frequency(most), frequency(fewest)))?;
                self.steps_per_tick = (frequency(fewest) / hertz).round() as u32;
            }
            (Binding::Setting(setting), &Value::Integer(n)) => {
                sim.set_setting(setting, writer.check(n as f64, bounds_of(setting))?);
            }
            (Binding::Setting(setting), &Value::Double(x)) => {
                sim.set_setting(setting, writer.check(x, bounds_of(setting))?);
            }
            (Binding::Speed, &Value::Double(speed)) => self.speed = writer.check(speed, SPEEDS)?,
            (Binding::Seed, &Value::Integer(seed)) => self.seed = seed as u64,
            (Binding::Paused, &Value::Boolean(paused)) => self.paused = paused,
            _ => return Err(writer.read_only()),
        }
        Ok(())
    }
}

/// Writes to a variable; errors contain its name.
struct VariableWriter<'a>(&'a str);

impl VariableWriter<'_> {
    fn name(&self) -> String {
        self.0.to_owned()
    }

    fn read_only(&self) -> VariableError {
        VariableError::ReadOnly { name: self.name() }
    }

    fn check(&self, value: f64, (min, max): (f64, f64)) -> Result<f64, VariableError> {
        // NaN counts as outside
        if value >= min && value <= max {
            Ok(value)
        } else {
            Err(VariableError::OutOfRange { name: self.name(), value, min, max })
        }
    }

    fn check_all(&self, [x, y, z]: [f64; 3], bounds: (f64, f64)) -> Result<[f64; 3], VariableError> {
        Ok([self.check(x, bounds)?, self.check(y, bounds)?, self.check(z, bounds)?])
    }

    /// The unit quaternion of the same rotation.
    fn unit(&self, quat: [f64; 4]) -> Result<[f64; 4], VariableError> {
        let length = self.check(quat.iter().map(|x| x * x).sum::<f64>().sqrt(), QUATERNION_LENGTHS)?;
        Ok(quat.map(|x| x / length))
    }

    /// Changes the pose of a body that is free, or fixed in the world. Updates that of a free one first: only whole poses
    /// can be set.
    fn place(&self, sim: &mut Sim, body: BodyId, change: impl FnOnce(&mut Pose)) -> Result<(), VariableError> {
        let fixed = sim.fixed_body_pose(body);
        let mut pose = match fixed {
            Some(pose) => pose,
            None => {
                sim.forward().map_err(|cause| VariableError::Refused { name: self.name(), cause })?;
                sim.body_pose(body)
            }
        };
        change(&mut pose);
        let is_done = if fixed.is_some() { sim.move_fixed_body(body, pose) } else { sim.place(body, pose) };
        if is_done { Ok(()) } else { Err(VariableError::Fixed { name: self.name() }) }
    }

    /// Changes the pose of a geom that is fixed in the world.
    fn move_geom(&self, sim: &mut Sim, geom: GeomId, change: impl FnOnce(&mut Pose)) -> Result<(), VariableError> {
        let mut pose = sim.fixed_geom_pose(geom).ok_or_else(|| VariableError::Fixed { name: self.name() })?;
        change(&mut pose);
        sim.move_fixed_geom(geom, pose);
        Ok(())
    }

    /// Changes the velocity of a free body. Updates it first: only whole velocities can be set.
    fn set_velocity(
        &self,
        sim: &mut Sim,
        body: BodyId,
        change: impl FnOnce(&mut Velocity),
    ) -> Result<(), VariableError> {
        sim.forward().map_err(|cause| VariableError::Refused { name: self.name(), cause })?;
        let mut velocity = sim.body_velocity(body);
        change(&mut velocity);
        if sim.set_free_velocity(body, velocity) { Ok(()) } else { Err(VariableError::Fixed { name: self.name() }) }
    }

    fn write_body(
        &self,
        sim: &mut Sim,
        body: BodyId,
        property: BodyProperty,
        value: &Value,
    ) -> Result<(), VariableError> {
        match (property, value) {
            (BodyProperty::Position, &Value::Point3D(pos)) => {
                let pos = self.check_all(pos, POSITIONS)?;
                self.place(sim, body, |pose| pose.pos = pos)
            }
            (BodyProperty::Orientation, &Value::Quaternion(quat)) => {
                let quat = self.unit(quat)?;
                self.place(sim, body, |pose| pose.quat = quat)
            }
            (BodyProperty::LinearVelocity, &Value::Point3D(velocity)) => {
                let linear = self.check_all(velocity, VELOCITIES)?;
                self.set_velocity(sim, body, |velocity| velocity.linear = linear)
            }
            (BodyProperty::AngularVelocity, &Value::Point3D(velocity)) => {
                let angular = self.check_all(velocity, VELOCITIES)?;
                self.set_velocity(sim, body, |velocity| velocity.angular = angular)
            }
            (BodyProperty::Mass, &Value::Double(mass)) => {
                sim.set_body_mass(body, self.check(mass, MASSES)?);
                Ok(())
            }
            _ => Err(self.read_only()),
        }
    }

    fn write_geom(
        &self,
        sim: &mut Sim,
        geom: GeomId,
        property: GeomProperty,
        value: &Value,
    ) -> Result<(), VariableError> {
        match (property, value) {
            (GeomProperty::Position, &Value::Point3D(pos)) => {
                let pos = self.check_all(pos, POSITIONS)?;
                self.move_geom(sim, geom, |pose| pose.pos = pos)?;
            }
            (GeomProperty::Orientation, &Value::Quaternion(quat)) => {
                let quat = self.unit(quat)?;
                self.move_geom(sim, geom, |pose| pose.quat = quat)?;
            }
            (GeomProperty::Friction, &Value::Point3D(v)) => {
                sim.set_geom_friction(geom, self.check_all(v, COEFFICIENTS)?);
            }
            (GeomProperty::Colour, &Value::Colour(c)) => sim.set_geom_rgba(geom, c.map(|c| f32::from(c) / 255.0)),
            _ => return Err(self.read_only()),
        }
        Ok(())
    }

    fn write_joint(
        &self,
        sim: &mut Sim,
        joint: JointId,
        property: JointProperty,
        value: &Value,
    ) -> Result<(), VariableError> {
        match (property, value) {
            (JointProperty::Angle, &Value::Double(x)) => sim.set_joint_position(joint, self.check(x, JOINTS)?),
            (JointProperty::Velocity, &Value::Double(x)) => sim.set_joint_velocity(joint, self.check(x, JOINTS)?),
            (JointProperty::Damping, &Value::Double(x)) => sim.set_joint_damping(joint, self.check(x, COEFFICIENTS)?),
            (JointProperty::Friction, &Value::Double(x)) => {
                sim.set_joint_frictionloss(joint, self.check(x, COEFFICIENTS)?)
            }
            (JointProperty::Armature, &Value::Double(x)) => sim.set_joint_armature(joint, self.check(x, COEFFICIENTS)?),
            (JointProperty::Stiffness, &Value::Double(x)) => {
                sim.set_joint_stiffness(joint, self.check(x, COEFFICIENTS)?)
            }
            (JointProperty::Limits, &Value::Range(min, max)) => {
                sim.set_joint_limits(joint, [self.check(min, JOINTS)?, self.check(max, (min, JOINTS.1))?]);
            }
            _ => return Err(self.read_only()),
        }
        Ok(())
    }

    fn resize(&self, sim: &Sim, geom: GeomId, extents: [f64; 3]) -> Result<Change, VariableError> {
        let (shape, geom) = (sim.model().geom_shape(geom), sim.model().geom_name(geom).to_owned());
        let extents = self.check_all(extents, SIZES)?;
        if geom.is_empty() {
            return Err(VariableError::Nameless { name: self.name() });
        }
        let no_size = || VariableError::NoSize { name: self.name(), shape, extents };
        let size = size_from_extents(shape, extents).ok_or_else(no_size)?;
        Ok(Change::Resize { geom, size })
    }
}

fn rotation([w, x, y, z]: [f64; 4]) -> DQuat {
    DQuat::from_xyzw(x, y, z, w)
}

/// Angle of the body's x axis in the floor plane, in rad, counter-clockwise from the world's x axis.
fn heading(quat: [f64; 4]) -> f64 {
    let (yaw, _, _) = rotation(quat).to_euler(EulerRot::ZYX);
    yaw
}

/// Full extents along the geom's own axes, in m, from MuJoCo's size.
fn extents_from_size(shape: Shape, [a, b, c]: [f64; 3]) -> [f64; 3] {
    match shape {
        Shape::Sphere => [2.0 * a; 3],
        Shape::Capsule => [2.0 * a, 2.0 * a, 2.0 * (a + b)],
        Shape::Cylinder => [2.0 * a, 2.0 * a, 2.0 * b],
        _ => [2.0 * a, 2.0 * b, 2.0 * c],
    }
}

/// MuJoCo's size from full extents. Round shapes take the first extent as their diameter.
fn size_from_extents(shape: Shape, [x, y, z]: [f64; 3]) -> Option<[f64; 3]> {
    match shape {
        Shape::Sphere => Some([x / 2.0, 0.0, 0.0]),
        Shape::Capsule => (z > x).then_some([x / 2.0, (z - x) / 2.0, 0.0]),
        Shape::Cylinder => Some([x / 2.0, z / 2.0, 0.0]),
        Shape::Box | Shape::Ellipsoid => Some([x / 2.0, y / 2.0, z / 2.0]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_extents_are_each_other_s_inverse() {
        for (shape, size) in [
            (Shape::Sphere, [0.1, 0.0, 0.0]),
            (Shape::Capsule, [0.1, 0.4, 0.0]),
            (Shape::Cylinder, [0.1, 0.4, 0.0]),
            (Shape::Box, [0.1, 0.2, 0.3]),
        ] {
            let back = size_from_extents(shape, extents_from_size(shape, size)).unwrap();
            for (a, b) in back.iter().zip(size) {
                assert!((a - b).abs() < 1e-12, "{shape:?}: {back:?} is not {size:?}");
            }
        }
        assert_eq!(size_from_extents(Shape::Plane, [1.0; 3]), None);
    }
}
