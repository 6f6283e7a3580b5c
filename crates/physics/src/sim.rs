//! A simulation: model and state, stepped under guard.

mod fork;
mod helped;
mod prepared;

use std::{collections::BTreeSet, ffi::c_int, ops::Range};

use mujoco_rs::{
    mujoco_c::{mjData, mjModel, mjtState},
    wrappers::{MjData, MjModel, MjtObjBase},
};

use self::prepared::{PreparedStep, Sensing};
use crate::{
    alloc, engine,
    error::EngineError,
    guard::{Fault, first_unsound, guarded},
    id::{ActuatorId, BodyId, GeomId, JointId, LightId, SensorId, SiteId},
    model::{JointKind, Model, at},
    parameter::Parameter,
    pose::Pose,
    rangefinder::Rangefinders,
    sensor::SensorKind,
    state::{self, STATE, State, read_state, write_state},
    threads::Helpers,
};

/// A simulation of one world.
///
/// *When values are up to date.* Poses, sensor values, contacts and actuator forces follow from the state. A step
/// computes them for the state it starts from and then moves on, so after [`step`](Self::step) they are one time step
/// older than the joint positions; after a write to the state they are those before it. [`forward`](Self::forward)
/// brings them up to date and changes nothing else.
///
/// *Values that are not finite.* Writing one is a bug of the caller, which debug builds assert. The next step returns a
/// [`Fault`] that names the value, and restores the last finite one.
#[derive(Debug)]
pub struct Sim {
    pub(crate) model: Model,
    pub(crate) data: MjData<Box<MjModel>>,
    /// The last state known to be sound.
    good: Vec<f64>,
    /// The state that the current step starts from.
    before: Vec<f64>,
    /// Index range of the controls in a state.
    controls: Range<usize>,
    /// The next step, as far as it has been computed in advance.
    prepared: Option<PreparedStep>,
    pub(crate) helpers: Helpers,
    rangefinders: Rangefinders,
    /// Values of user sensors, which the engine clears whenever it evaluates the state.
    user_sensors: Vec<(Range<usize>, Box<[f64]>)>,
    /// Warnings counted in data that has been replaced or reset since.
    earlier_warnings: u64,
    /// Parameters that have been changed since the model was compiled.
    pub(crate) tuned: BTreeSet<(Parameter, u32)>,
    /// A fault from a function that cannot return it; the next step does.
    pub(crate) pending: Option<Fault>,
}

/// Velocity of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity {
    /// Linear velocity, in m/s, world frame.
    pub linear: [f64; 3],
    /// Angular velocity, in rad/s, world frame.
    pub angular: [f64; 3],
}

impl Sim {
    /// Starts a simulation in the model's initial state: joints at their reference, at rest, time 0.
    ///
    /// # Errors
    /// If there is not enough memory, or the engine cannot evaluate that state.
    pub fn new(model: Model) -> Result<Self, Fault> {
        let mut own = alloc::copy(model.compiled()).map_err(engine_fault)?;
        let rangefinders = Rangefinders::of(&model);
        rangefinders.disable_in(&mut own);
        let data = alloc::make_data(own).map_err(engine_fault)?;
        let user_sensors = model
            .sensors()
            .filter(|sensor| model.sensor_kind(*sensor) == SensorKind::User)
            .map(|sensor| model.sensor_range(sensor))
            .map(|range| (range.clone(), vec![0.0; range.len()].into_boxed_slice()))
            .collect();
        let mut sim = Self {
            model,
            user_sensors,
            data,
            good: Vec::new(),
            before: Vec::new(),
            controls: 0..0,
            prepared: None,
            helpers: Helpers::default(),
            rangefinders,
            earlier_warnings: 0,
            tuned: BTreeSet::new(),
            pending: None,
        };
        sim.good = vec![0.0; sim.size_of(STATE)?];
        sim.before = sim.good.clone();
        // the components of a state are in the order of their flags
        let controls = mjtState::mjSTATE_CTRL as c_int;
        let before = sim.size_of(STATE & (controls - 1))?;
        sim.controls = before..before + sim.size_of(controls)?;
        sim.save_good();
        sim.forward()?;
        Ok(sim)
    }

    /// Number of values in these components of the state.
    fn size_of(&self, components: c_int) -> Result<usize, Fault> {
        // SAFETY: the model is valid
        guarded(|| unsafe { engine::mj_stateSize(self.raw_model(), components) }).map(at).map_err(engine_fault)
    }

    /// The model as compiled. Current values of parameters are read from the simulation.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Simulation time, in s.
    pub fn time(&self) -> f64 {
        self.data.time()
    }

    /// Length of a step, in s.
    pub fn timestep(&self) -> f64 {
        self.data.model_opt().timestep
    }

    /// Sets the length of a step, in s; positive.
    pub fn set_timestep(&mut self, seconds: f64) {
        debug_assert!(seconds.is_finite() && seconds > 0.0, "a time step is positive, not {seconds}");
        self.discard_prepared();
        self.data.model_opt_mut().timestep = seconds;
        self.tuned.insert((Parameter::Timestep, 0));
    }

    /// Gravity, in m/s², world frame.
    pub fn gravity(&self) -> [f64; 3] {
        self.data.model_opt().gravity
    }

    /// Sets gravity, in m/s², world frame.
    pub fn set_gravity(&mut self, gravity: [f64; 3]) {
        debug_assert!(gravity.iter().all(|g| g.is_finite()), "gravity is finite, not {gravity:?}");
        self.discard_prepared();
        self.data.model_opt_mut().gravity = gravity;
        self.tuned.insert((Parameter::Gravity, 0));
    }

    /// Number of warnings of the engine since this simulation was created: contacts dropped for lack of memory, singular
    /// matrices.
    pub fn warnings(&self) -> u64 {
        self.earlier_warnings + count_warnings(&self.data) + self.prepared.as_ref().map_or(0, PreparedStep::warnings)
    }

    /// Advances the simulation by one time step.
    ///
    /// # Errors
    /// If the engine reports an error or a value leaves its range. The state, including the time, is then the one before the
    /// call, with values that were unsound already replaced by the last sound ones. Poses, sensor values and contacts are
    /// those of that state, and the simulation can continue.
    pub fn step(&mut self) -> Result<(), Fault> {
        self.step_with(Sensing::On)
    }

    /// Like [`step`](Self::step), but leaves the sensor values as they are. The state is bit for bit the same.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn step_without_sensors(&mut self) -> Result<(), Fault> {
        self.step_with(self.sensing(true))
    }

    fn step_with(&mut self, sensing: Sensing) -> Result<(), Fault> {
        self.check_start()?;
        std::mem::swap(&mut self.good, &mut self.before);
        let warnings = self.warnings();
        let mut done = self.finish_step(sensing);
        if self.helpers.have_helped() && (done.is_err() || self.warnings() > warnings) {
            done = self.repeat_alone(sensing, done.is_err());
        }
        if let Err(cause) = done {
            self.rebuild();
            return Err(engine_fault(cause));
        }
        if let Some(fault) = self.unsound_state().or_else(|| self.unsound_motion()) {
            self.restore_good();
            return Err(fault);
        }
        self.save_good();
        self.write_user_sensors();
        Ok(())
    }

    /// A plain `mj_step` without guard or checks, as a baseline for benchmarks.
    ///
    /// # Panics
    /// On an engine error, which leaves the simulation in an undefined state.
    pub fn step_unguarded(&mut self) {
        let (model, data) = self.raw();
        // SAFETY: model and data are valid and belong together
        unsafe { engine::mj_step(model, data) }
    }

    /// Computes poses, sensor values, contacts and forces for the current state, which stays bit for bit the same.
    ///
    /// # Errors
    /// As for [`step`](Self::step).
    pub fn forward(&mut self) -> Result<(), Fault> {
        self.check_start()?;
        std::mem::swap(&mut self.good, &mut self.before);
        if let Err(cause) = self.evaluate() {
            self.rebuild();
            return Err(engine_fault(cause));
        }
        Ok(())
    }

    /// Returns to the model's initial state: joints at their reference, at rest, controls 0, time 0, and what was moved
    /// where it was compiled. Other parameters keep their values.
    pub fn reset(&mut self) {
        self.return_moved();
        self.user_sensors.iter_mut().for_each(|(_, values)| values.fill(0.0));
        self.earlier_warnings += count_warnings(&self.data);
        let (model, data) = self.raw();
        // SAFETY: model and data are valid and belong together
        let done = guarded(|| unsafe { engine::mj_resetData(model, data) });
        let done = done.map_err(engine_fault).and_then(|()| {
            self.save_good();
            self.forward()
        });
        self.pending = done.err();
    }

    /// Saves everything the next step depends on, except for the model and its parameters.
    pub fn state(&self) -> State {
        let mut values = vec![0.0; self.good.len()];
        read_state(&self.data, &mut values);
        State { values: values.into(), fingerprint: self.model.fingerprint() }
    }

    /// Restores a saved state. If the parameters are the same, the simulation then continues bit for bit as it did from
    /// there.
    ///
    /// # Errors
    /// If the state belongs to another model or holds unsound values; nothing is changed then.
    pub fn restore(&mut self, state: &State) -> Result<(), Fault> {
        if state.fingerprint != self.model.fingerprint() || state.values.len() != self.good.len() {
            return Err(Fault::Engine { cause: "the state belongs to another model".to_owned() });
        }
        let mut current = vec![0.0; self.good.len()];
        read_state(&self.data, &mut current);
        write_state(&mut self.data, &state.values);
        let outcome = match self.unsound_state() {
            Some(fault) => Err(fault),
            None => self.forward(),
        };
        if outcome.is_err() {
            write_state(&mut self.data, &current);
        }
        self.save_good();
        outcome
    }

    /// Hash of the state; equal states have equal hashes.
    pub fn hash(&self) -> u64 {
        let mut values = vec![0.0; self.good.len()];
        read_state(&self.data, &mut values);
        state::hash(&values)
    }

    /// Pose of a body in the model's initial state, world frame.
    pub fn start_pose(&self, body: BodyId) -> Pose {
        let model = &self.model;
        if let Some(joint) = model.body_free_joint(body) {
            let [x, y, z, quat @ ..] = &model.compiled().qpos0()[model.joint_qpos_range(joint)] else {
                return Pose::IDENTITY;
            };
            return Pose { pos: [*x, *y, *z], quat: quat.try_into().unwrap_or(Pose::IDENTITY.quat) };
        }
        if body == BodyId::WORLD {
            return Pose::IDENTITY;
        }
        self.start_pose(model.body_parent(body)).then(&model.body_pose(body))
    }

    /// Pose of a body's frame, world frame.
    pub fn body_pose(&self, body: BodyId) -> Pose {
        Pose { pos: self.data.xpos()[body.index()], quat: self.data.xquat()[body.index()] }
    }

    /// Velocity of a body at its frame's origin, world frame.
    pub fn body_velocity(&self, body: BodyId) -> Velocity {
        assert!(body.index() < self.data.xpos().len(), "the body belongs to this model");
        let mut v = [0.0; 6];
        let kind = MjtObjBase::mjOBJ_XBODY as c_int;
        // SAFETY: model and data are valid and belong together, the body exists, and the engine writes six values
        unsafe {
            engine::mj_objectVelocity(self.raw_model(), self.data.ffi(), kind, body.0.cast_signed(), &raw mut v, 0);
        }
        let [ax, ay, az, x, y, z] = v;
        Velocity { linear: [x, y, z], angular: [ax, ay, az] }
    }

    /// Positions of all bodies, in m, world frame, by body.
    pub fn positions(&self) -> &[[f64; 3]] {
        self.data.xpos()
    }

    /// Orientations of all bodies, w x y z, by body.
    pub fn orientations(&self) -> &[[f64; 4]] {
        self.data.xquat()
    }

    /// All joint positions, in rad and m; see [`Model::joint_qpos_range`].
    pub fn qpos(&self) -> &[f64] {
        self.data.qpos()
    }

    /// All joint velocities, in rad/s and m/s; see [`Model::joint_dof_range`].
    pub fn qvel(&self) -> &[f64] {
        self.data.qvel()
    }

    /// All sensor values; see [`Model::sensor_range`].
    pub fn sensor_values(&self) -> &[f64] {
        self.data.sensordata()
    }

    /// Position of a hinge (rad) or slide (m).
    pub fn joint_position(&self, joint: JointId) -> f64 {
        self.data.qpos()[self.model.joint_qpos_index(joint)]
    }

    /// Velocity of a hinge (rad/s) or slide (m/s).
    pub fn joint_velocity(&self, joint: JointId) -> f64 {
        self.data.qvel()[self.model.joint_dof_index(joint)]
    }

    /// Sets the position of a hinge (rad) or slide (m).
    pub fn set_joint_position(&mut self, joint: JointId, position: f64) {
        debug_assert!(position.is_finite(), "a position is finite, not {position}");
        let index = self.model.joint_qpos_index(joint);
        self.data.qpos_mut()[index] = position;
    }

    /// Sets the velocity of a hinge (rad/s) or slide (m/s).
    pub fn set_joint_velocity(&mut self, joint: JointId, velocity: f64) {
        debug_assert!(velocity.is_finite(), "a velocity is finite, not {velocity}");
        let index = self.model.joint_dof_index(joint);
        self.data.qvel_mut()[index] = velocity;
    }

    /// Moves a body with a free joint to `pose` (world frame) and stops its whole subtree. Returns `false` if the body has
    /// no free joint.
    pub fn place(&mut self, root: BodyId, pose: Pose) -> bool {
        debug_assert!(pose.pos.iter().chain(&pose.quat).all(|v| v.is_finite()), "a pose is finite, not {pose:?}");
        let Some(joint) = self.model.body_free_joint(root) else { return false };
        let range = self.model.joint_qpos_range(joint);
        let (pos, quat) = self.data.qpos_mut()[range].split_at_mut(3);
        pos.copy_from_slice(&pose.pos);
        quat.copy_from_slice(&pose.quat);
        self.stop(root);
        true
    }

    /// Sets the velocity of a body with a free joint, world frame; its subtree keeps its relative velocity. Returns `false` if
    /// the body has no free joint.
    pub fn set_free_velocity(&mut self, root: BodyId, velocity: Velocity) -> bool {
        let finite = velocity.linear.iter().chain(&velocity.angular).all(|v| v.is_finite());
        debug_assert!(finite, "a velocity is finite, not {velocity:?}");
        let Some(joint) = self.model.body_free_joint(root) else { return false };
        let quat = self.data.qpos()[self.model.joint_qpos_range(joint)].last_chunk().copied().unwrap_or_default();
        // the engine keeps the angular velocity of a free joint in the body's frame
        let local = Pose { pos: [0.0; 3], quat }.inverse().turn(velocity.angular);
        let range = self.model.joint_dof_range(joint);
        let (linear, angular) = self.data.qvel_mut()[range].split_at_mut(3);
        linear.copy_from_slice(&velocity.linear);
        angular.copy_from_slice(&local);
        true
    }

    /// Moves the joints of a subtree to their reference and stops them; a free joint keeps its pose.
    pub fn rest(&mut self, root: BodyId) {
        for body in self.model.subtree(root) {
            for joint in self.model.body_joints(body) {
                if self.model.joint_kind(joint) != JointKind::Free {
                    let range = self.model.joint_qpos_range(joint);
                    let reference = &self.model.compiled().qpos0()[range.clone()];
                    self.data.qpos_mut()[range].copy_from_slice(reference);
                }
            }
        }
        self.stop(root);
    }

    /// Sets velocity, warm start and activation of a subtree to zero.
    fn stop(&mut self, root: BodyId) {
        let bodies = self.model.subtree(root);
        let joints: Vec<JointId> = bodies.flat_map(|body| self.model.body_joints(body)).collect();
        for &joint in &joints {
            let range = self.model.joint_dof_range(joint);
            self.data.qvel_mut()[range.clone()].fill(0.0);
            self.data.qacc_warmstart_mut()[range].fill(0.0);
        }
        for actuator in self.model.actuators() {
            if self.model.actuator_joint(actuator).is_some_and(|joint| joints.binary_search(&joint).is_ok()) {
                let range = self.model.actuator_act_range(actuator);
                self.data.act_mut()[range].fill(0.0);
            }
        }
    }

    /// Pose of a site, world frame.
    pub fn site_pose(&self, site: SiteId) -> Pose {
        let (pos, matrix) = (self.data.site_xpos()[site.index()], &self.data.site_xmat()[site.index()]);
        Pose { pos, quat: Pose::quat_of_matrix(matrix) }
    }

    /// Pose of a geom, world frame.
    pub fn geom_pose(&self, geom: GeomId) -> Pose {
        let (pos, matrix) = (self.data.geom_xpos()[geom.index()], &self.data.geom_xmat()[geom.index()]);
        Pose { pos, quat: Pose::quat_of_matrix(matrix) }
    }

    /// Values of a sensor.
    pub fn sensor(&self, sensor: SensorId) -> &[f64] {
        &self.data.sensordata()[self.model.sensor_range(sensor)]
    }

    /// Sets the values of a sensor of kind [`User`](crate::SensorKind::User). They stay until the next call or
    /// [`reset`](Self::reset), and are not part of the [`State`].
    ///
    /// # Panics
    /// If the sensor is of another kind, or has another number of values.
    pub fn set_sensor(&mut self, sensor: SensorId, values: &[f64]) {
        let range = self.model.sensor_range(sensor);
        let found = self.user_sensors.binary_search_by_key(&range.start, |(range, _)| range.start);
        let index = found.expect("only user sensors can be set");
        self.user_sensors[index].1.copy_from_slice(values);
        self.data.sensordata_mut()[range].copy_from_slice(values);
    }

    /// Restores the values of user sensors after the engine has cleared them.
    fn write_user_sensors(&mut self) {
        for (range, values) in &self.user_sensors {
            self.data.sensordata_mut()[range.clone()].copy_from_slice(values);
        }
    }

    /// Control of an actuator, in the actuator's own unit.
    pub fn ctrl(&self, actuator: ActuatorId) -> f64 {
        self.data.ctrl()[self.model.actuator_ctrl_index(actuator)]
    }

    /// Sets the control of an actuator, which stays until it is set again. The engine clamps it to the actuator's range.
    pub fn set_ctrl(&mut self, actuator: ActuatorId, value: f64) {
        debug_assert!(value.is_finite(), "a control is finite, not {value}");
        let index = self.model.actuator_ctrl_index(actuator);
        self.data.ctrl_mut()[index] = value;
    }

    /// Force of an actuator, in N·m or N over the gear.
    pub fn actuator_force(&self, actuator: ActuatorId) -> f64 {
        self.data.actuator_force()[self.model.actuator_out_index(actuator)]
    }

    /// Position of a light, in m, world frame.
    pub fn light_position(&self, light: LightId) -> [f64; 3] {
        self.data.light_xpos()[light.index()]
    }

    /// Direction of a light, a unit vector, world frame.
    pub fn light_direction(&self, light: LightId) -> [f64; 3] {
        self.data.light_xdir()[light.index()]
    }

    pub(crate) fn raw_model(&self) -> *const mjModel {
        self.data.model().ffi()
    }

    /// Model and data for a call into the engine.
    pub(crate) fn raw(&mut self) -> (*const mjModel, *mut mjData) {
        let model = self.raw_model();
        // SAFETY: only passed to the engine, which keeps its invariants
        let data = unsafe { self.data.ffi_mut() };
        (model, data)
    }

    /// Checks the state a step starts from and saves it in `before`; replaces unsound values.
    fn check_start(&mut self) -> Result<(), Fault> {
        if let Some(fault) = self.pending.take() {
            return Err(fault);
        }
        let timestep = self.timestep();
        if !(timestep.is_finite() && timestep > 0.0) {
            return Err(Fault::Engine { cause: format!("the time step is {timestep} s") });
        }
        read_state(&self.data, &mut self.before);
        let Some(fault) = self.unsound_state() else { return Ok(()) };
        for (value, good) in self.before.iter_mut().zip(&self.good) {
            if first_unsound(&[*value]).is_some() {
                *value = *good;
            }
        }
        self.good.copy_from_slice(&self.before);
        self.restore_good();
        Err(fault)
    }

    /// Runs `mj_forward` without changing the warm start.
    fn evaluate(&mut self) -> Result<(), EngineError> {
        let warm_start = self.data.qacc_warmstart().to_vec();
        let (model, data) = self.raw();
        // SAFETY: as for the step
        guarded(|| unsafe { engine::mj_forward(model, data) })?;
        self.data.qacc_warmstart_mut().copy_from_slice(&warm_start);
        self.rangefinders.measure(&mut self.data);
        self.write_user_sensors();
        Ok(())
    }

    /// Saves the current state as the last good one.
    pub(crate) fn save_good(&mut self) {
        read_state(&self.data, &mut self.good);
    }

    /// Restores the last good state in data that is intact.
    fn restore_good(&mut self) {
        write_state(&mut self.data, &self.good);
        if self.evaluate().is_err() {
            self.rebuild();
        }
    }

    /// Restores the last good state in new data, after an engine error has left the old data in an undefined state.
    fn rebuild(&mut self) {
        self.earlier_warnings += count_warnings(&self.data);
        match alloc::copy(self.data.model()).and_then(alloc::make_data) {
            Ok(data) => self.data = data,
            Err(cause) => {
                // out of memory: reuse the old data
                let (model, data) = self.raw();
                // SAFETY: model and data are valid and belong together
                self.pending =
                    guarded(|| unsafe { engine::mj_resetData(model, data) }).err().map(|_| engine_fault(cause));
            }
        }
        write_state(&mut self.data, &self.good);
        if self.evaluate().is_err() {
            // derived values are not available, but the state itself is right
            write_state(&mut self.data, &self.good);
        }
    }

    /// The first unsound value of the state.
    fn unsound_state(&self) -> Option<Fault> {
        let (d, m) = (&self.data, &self.model);
        let time = [d.time()];
        None.or_else(|| unsound(&time, "time", |_| "the world".to_owned()))
            .or_else(|| unsound(d.qpos(), "position", |i| m.name_of_position(i)))
            .or_else(|| unsound(d.qvel(), "velocity", |i| m.name_of_velocity(i)))
            .or_else(|| unsound(d.act(), "activation", |i| m.name_of_activation(i)))
            .or_else(|| unsound(d.ctrl(), "control", |i| m.name_of_control(i)))
            .or_else(|| unsound(d.mocap_pos().as_flattened(), "mocap pose", |i| m.name_of_mocap(i / 3)))
            .or_else(|| unsound(d.mocap_quat().as_flattened(), "mocap pose", |i| m.name_of_mocap(i / 4)))
    }

    /// The first unsound acceleration of the last step.
    fn unsound_motion(&self) -> Option<Fault> {
        unsound(self.data.qacc(), "acceleration", |i| self.model.name_of_velocity(i))
    }
}

pub(crate) fn engine_fault(cause: EngineError) -> Fault {
    Fault::Engine { cause: cause.to_string() }
}

fn unsound(values: &[f64], quantity: &'static str, name: impl Fn(usize) -> String) -> Option<Fault> {
    first_unsound(values).map(|(index, value)| Fault::NotFinite { what: name(index), quantity, value })
}

fn count_warnings(data: &MjData<Box<MjModel>>) -> u64 {
    data.warning().iter().map(|w| u64::try_from(w.number).unwrap_or_default()).sum()
}

#[cfg(test)]
mod tests;
