//! Transfer of state and parameters from one model to another, by name.

use crate::{
    id::{ActuatorId, BodyId, GeomId, JointId, LightId},
    model::{Model, at},
    parameter::Parameter,
    sim::Sim,
};

use mujoco_rs::wrappers::MjtObjBase;

impl Sim {
    /// Copies the state of everything that both simulations have: joints (position, velocity, warm start), activations and
    /// controls of actuators, mocap poses, equality constraints switched on or off, parameters changed while running, user
    /// sensors, and the time. New elements keep their initial state.
    ///
    /// Elements match if they have the same name and kind; unnamed joints and geoms, if they have the same index in a body of
    /// the same name. Other unnamed elements restart, as do delays of sensors and actuators.
    ///
    /// Copied values are equal to the bit. Between two assemblies of the same models, the simulation continues bit for bit
    /// as it would have. When models are added or removed, so does every robot that touches nothing; one that stands on the
    /// ground differs in the last digits of its next steps (some 1e-13 after hundreds), because the engine adds up contacts
    /// in another order.
    pub fn carry_over(&mut self, from: &Self) {
        self.data.set_time(from.time());
        self.carry_joints(from);
        self.carry_actuators(from);
        self.carry_mocap(from);
        self.carry_equalities(from);
        self.carry_parameters(from);
        self.carry_sensors(from);
        self.save_good();
        if let Err(fault) = self.forward() {
            self.pending = Some(fault);
        }
    }

    fn carry_joints(&mut self, from: &Self) {
        for old in from.model.joints() {
            let Some(new) = from.model.matching_joint(old, &self.model) else { continue };
            if from.model.joint_kind(old) != self.model.joint_kind(new) {
                continue;
            }
            let (old_q, new_q) = (from.model.joint_qpos_range(old), self.model.joint_qpos_range(new));
            self.data.qpos_mut()[new_q].copy_from_slice(&from.data.qpos()[old_q]);
            let (old_v, new_v) = (from.model.joint_dof_range(old), self.model.joint_dof_range(new));
            self.data.qvel_mut()[new_v.clone()].copy_from_slice(&from.data.qvel()[old_v.clone()]);
            self.data.qacc_warmstart_mut()[new_v].copy_from_slice(&from.data.qacc_warmstart()[old_v]);
        }
    }

    fn carry_actuators(&mut self, from: &Self) {
        for old in from.model.actuators() {
            let Some(new) = from.model.matching_actuator(old, &self.model) else { continue };
            let (old_act, new_act) = (from.model.actuator_act_range(old), self.model.actuator_act_range(new));
            if old_act.len() == new_act.len() {
                self.data.act_mut()[new_act].copy_from_slice(&from.data.act()[old_act]);
            }
            let (old_ctrl, new_ctrl) = (from.model.actuator_ctrl_range(old), self.model.actuator_ctrl_range(new));
            if old_ctrl.len() == new_ctrl.len() {
                self.data.ctrl_mut()[new_ctrl].copy_from_slice(&from.data.ctrl()[old_ctrl]);
            }
        }
    }

    fn carry_mocap(&mut self, from: &Self) {
        for old in from.model.bodies() {
            let Some(new) = from.model.matching_body(old, &self.model) else { continue };
            let (old, new) = (from.model.mocap_index(old), self.model.mocap_index(new));
            if let (Some(old), Some(new)) = (old, new) {
                self.data.mocap_pos_mut()[new] = from.data.mocap_pos()[old];
                self.data.mocap_quat_mut()[new] = from.data.mocap_quat()[old];
            }
        }
    }

    fn carry_equalities(&mut self, from: &Self) {
        let (old_model, new_model) = (from.model.compiled(), self.model.compiled());
        for old in 0..at(old_model.neq().try_into().unwrap_or_default()) {
            let name = old_model.id_to_name(MjtObjBase::mjOBJ_EQUALITY, old).filter(|name| !name.is_empty());
            if let Some(new) = name.and_then(|name| new_model.name_to_id(MjtObjBase::mjOBJ_EQUALITY, name)) {
                self.data.eq_active_mut()[new] = from.data.eq_active()[old];
            }
        }
    }

    fn carry_sensors(&mut self, from: &Self) {
        for old in from.model.sensors() {
            let Some(new) = self.model.sensor_named(from.model.sensor_name(old)) else { continue };
            let user = |model: &Model, sensor| model.sensor_kind(sensor) == crate::SensorKind::User;
            let same_size = from.sensor(old).len() == self.sensor(new).len();
            if user(&from.model, old) && user(&self.model, new) && same_size {
                self.set_sensor(new, from.sensor(old));
            }
        }
    }

    fn carry_parameters(&mut self, from: &Self) {
        for &(parameter, index) in &from.tuned {
            use Parameter as P;
            match parameter {
                P::Timestep => self.set_timestep(from.timestep()),
                P::Gravity => self.set_gravity(from.gravity()),
                P::Setting(setting) => self.set_setting(setting, from.setting(setting)),
                P::BodyMass | P::BodyPose => self.carry_body(from, BodyId(index), parameter),
                P::GeomPose | P::GeomFriction | P::GeomColour => self.carry_geom(from, GeomId(index), parameter),
                P::JointArmature
                | P::JointDamping
                | P::JointFrictionLoss
                | P::JointStiffness
                | P::JointLimits
                | P::JointForceRange => self.carry_joint(from, JointId(index), parameter),
                P::ActuatorGain | P::ActuatorForceRange => self.carry_actuator(from, ActuatorId(index), parameter),
                P::LightActive => self.carry_light(from, LightId(index)),
            }
        }
        // once for all of them: it is expensive
        if self.tuned.iter().any(|(parameter, _)| matches!(parameter, Parameter::BodyMass | Parameter::JointArmature)) {
            self.refresh_constants();
        }
    }

    /// The caller refreshes the constants that depend on the mass.
    fn carry_body(&mut self, from: &Self, old: BodyId, parameter: Parameter) {
        let Some(new) = from.model.matching_body(old, &self.model) else { return };
        match parameter {
            Parameter::BodyMass => {
                self.write_mass(new, from.body_mass(old));
            }
            Parameter::BodyPose if self.model.is_fixed(new) => self.write_body_pose(new, from.local_body_pose(old)),
            _ => {}
        }
    }

    fn carry_geom(&mut self, from: &Self, old: GeomId, parameter: Parameter) {
        let Some(new) = from.model.matching_geom(old, &self.model) else { return };
        match parameter {
            Parameter::GeomPose if self.model.is_fixed(self.model.geom_body(new)) => {
                self.write_geom_pose(new, from.local_geom_pose(old));
            }
            Parameter::GeomFriction => self.set_geom_friction(new, from.geom_friction(old)),
            Parameter::GeomColour => self.set_geom_rgba(new, from.geom_rgba(old)),
            _ => {}
        }
    }

    /// The caller refreshes the constants that depend on the armature.
    fn carry_joint(&mut self, from: &Self, old: JointId, parameter: Parameter) {
        let Some(new) = from.model.matching_joint(old, &self.model) else { return };
        match parameter {
            Parameter::JointArmature => self.write_armature(new, from.joint_armature(old)),
            Parameter::JointDamping => self.set_joint_damping(new, from.joint_damping(old)),
            Parameter::JointFrictionLoss => self.set_joint_frictionloss(new, from.joint_frictionloss(old)),
            Parameter::JointStiffness => self.set_joint_stiffness(new, from.joint_stiffness(old)),
            Parameter::JointLimits => {
                if let Some(limits) = from.joint_limits(old) {
                    self.set_joint_limits(new, limits);
                }
            }
            Parameter::JointForceRange => self.set_joint_force_range(new, from.joint_force_range(old)),
            _ => {}
        }
    }

    fn carry_actuator(&mut self, from: &Self, old: ActuatorId, parameter: Parameter) {
        let Some(new) = from.model.matching_actuator(old, &self.model) else { return };
        match parameter {
            Parameter::ActuatorGain => {
                let (gain, bias) = from.actuator_gain(old);
                self.set_actuator_gain(new, gain, bias);
            }
            Parameter::ActuatorForceRange => self.set_actuator_force_range(new, from.actuator_force_range(old)),
            _ => {}
        }
    }

    fn carry_light(&mut self, from: &Self, old: LightId) {
        if let Some(new) = self.model.light_named(from.model.light_name(old)) {
            self.set_light_active(new, from.light_active(old));
        }
    }
}

#[cfg(test)]
mod tests;
