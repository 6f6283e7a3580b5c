//! Parameters of the model that can be changed during a simulation.

use mujoco_rs::wrappers::{MjModel, MjtBias};

use crate::{
    engine,
    guard::guarded,
    id::{ActuatorId, BodyId, GeomId, JointId, LightId},
    setting::Setting,
    sim::{Sim, engine_fault},
};

/// Parameters that a [`Sim`] can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Parameter {
    Timestep,
    Gravity,
    Setting(Setting),
    BodyMass,
    BodyPose,
    GeomPose,
    GeomFriction,
    GeomColour,
    JointDamping,
    JointFrictionLoss,
    JointArmature,
    JointStiffness,
    JointLimits,
    JointForceRange,
    ActuatorGain,
    ActuatorForceRange,
    LightActive,
}

impl Sim {
    /// Mass of a body, in kg, without its children.
    pub fn body_mass(&self, body: BodyId) -> f64 {
        self.data.model().body_mass()[body.index()]
    }

    /// Sets the mass of a body, in kg; positive. Its inertia changes in proportion.
    ///
    /// Constants that depend on it are recomputed; the state does not change. If the engine refuses, the mass stays as it is
    /// and the next step returns the fault.
    pub fn set_body_mass(&mut self, body: BodyId, mass: f64) {
        let old = self.write_mass(body, mass);
        if !self.refresh_constants() {
            self.write_mass(body, old);
        }
    }

    /// Sets mass and inertia without the constants that depend on them; returns the old mass.
    pub(crate) fn write_mass(&mut self, body: BodyId, mass: f64) -> f64 {
        debug_assert!(mass.is_finite() && mass > 0.0, "a mass must be positive, not {mass}");
        self.tuned.insert((Parameter::BodyMass, body.0));
        // from the compiled values, so that rounding errors do not accumulate
        let compiled = self.model.compiled();
        let (compiled_mass, inertia) = (compiled.body_mass()[body.index()], compiled.body_inertia()[body.index()]);
        let model = self.tune();
        if compiled_mass > 0.0 {
            model.body_inertia_mut()[body.index()] = inertia.map(|i| i * (mass / compiled_mass));
        }
        std::mem::replace(&mut model.body_mass_mut()[body.index()], mass)
    }

    /// Friction of a geom: sliding, torsional (m), rolling (m).
    pub fn geom_friction(&self, geom: GeomId) -> [f64; 3] {
        self.data.model().geom_friction()[geom.index()]
    }

    /// Sets the friction of a geom: sliding, torsional (m), rolling (m); not negative.
    pub fn set_geom_friction(&mut self, geom: GeomId, friction: [f64; 3]) {
        debug_assert!(
            friction.iter().all(|f| f.is_finite() && *f >= 0.0),
            "friction must not be negative: {friction:?}"
        );
        self.tuned.insert((Parameter::GeomFriction, geom.0));
        self.tune().geom_friction_mut()[geom.index()] = friction;
    }

    /// Colour of a geom: red, green, blue and opacity, 0 to 1.
    pub fn geom_rgba(&self, geom: GeomId) -> [f32; 4] {
        self.data.model().geom_rgba()[geom.index()]
    }

    /// Sets the colour of a geom: red, green, blue and opacity, 0 to 1.
    pub fn set_geom_rgba(&mut self, geom: GeomId, rgba: [f32; 4]) {
        debug_assert!(rgba.iter().all(|v| (0.0..=1.0).contains(v)), "a colour must be 0 to 1, not {rgba:?}");
        self.tuned.insert((Parameter::GeomColour, geom.0));
        self.tune().geom_rgba_mut()[geom.index()] = rgba;
    }

    /// Size of a geom, in m; see [`Shape`](crate::Shape). To change it, compile with an [`Edit`](crate::Edit).
    pub fn geom_size(&self, geom: GeomId) -> [f64; 3] {
        self.data.model().geom_size()[geom.index()]
    }

    /// Damping of a joint, in N·m·s/rad or N·s/m.
    pub fn joint_damping(&self, joint: JointId) -> f64 {
        self.data.model().dof_damping()[self.model.joint_dof_index(joint)]
    }

    /// Sets the damping of a joint, in N·m·s/rad or N·s/m; not negative.
    pub fn set_joint_damping(&mut self, joint: JointId, damping: f64) {
        debug_assert!(damping.is_finite() && damping >= 0.0, "damping must not be negative: {damping}");
        self.tuned.insert((Parameter::JointDamping, joint.0));
        let range = self.model.joint_dof_range(joint);
        self.tune().dof_damping_mut()[range].fill(damping);
    }

    /// Dry friction of a joint, in N·m or N.
    pub fn joint_frictionloss(&self, joint: JointId) -> f64 {
        self.data.model().dof_frictionloss()[self.model.joint_dof_index(joint)]
    }

    /// Sets the dry friction of a joint, in N·m or N; not negative.
    pub fn set_joint_frictionloss(&mut self, joint: JointId, frictionloss: f64) {
        debug_assert!(frictionloss.is_finite() && frictionloss >= 0.0, "friction must not be negative: {frictionloss}");
        self.tuned.insert((Parameter::JointFrictionLoss, joint.0));
        let range = self.model.joint_dof_range(joint);
        self.tune().dof_frictionloss_mut()[range].fill(frictionloss);
    }

    /// Inertia of a joint's motor and gears, in kg·m² or kg.
    pub fn joint_armature(&self, joint: JointId) -> f64 {
        self.data.model().dof_armature()[self.model.joint_dof_index(joint)]
    }

    /// Sets the inertia of a joint's motor and gears, in kg·m² or kg; not negative.
    ///
    /// Constants that depend on it are recomputed; the state does not change. If the engine refuses, the inertia stays as it
    /// is and the next step returns the fault.
    pub fn set_joint_armature(&mut self, joint: JointId, armature: f64) {
        let old = self.joint_armature(joint);
        self.write_armature(joint, armature);
        if !self.refresh_constants() {
            self.write_armature(joint, old);
        }
    }

    /// Sets the inertia without the constants that depend on it.
    pub(crate) fn write_armature(&mut self, joint: JointId, armature: f64) {
        debug_assert!(armature.is_finite() && armature >= 0.0, "inertia must not be negative: {armature}");
        self.tuned.insert((Parameter::JointArmature, joint.0));
        let range = self.model.joint_dof_range(joint);
        self.tune().dof_armature_mut()[range].fill(armature);
    }

    /// Stiffness of a joint's spring, in N·m/rad or N/m.
    pub fn joint_stiffness(&self, joint: JointId) -> f64 {
        self.data.model().jnt_stiffness()[joint.index()]
    }

    /// Sets the stiffness of a joint's spring, in N·m/rad or N/m; not negative.
    pub fn set_joint_stiffness(&mut self, joint: JointId, stiffness: f64) {
        debug_assert!(stiffness.is_finite() && stiffness >= 0.0, "stiffness must not be negative: {stiffness}");
        self.tuned.insert((Parameter::JointStiffness, joint.0));
        self.tune().jnt_stiffness_mut()[joint.index()] = stiffness;
    }

    /// Limits of a joint, in rad (hinge; ball: 0 and the largest angle) or m (slide); `None` if it is unlimited.
    pub fn joint_limits(&self, joint: JointId) -> Option<[f64; 2]> {
        let model = self.data.model();
        model.jnt_limited()[joint.index()].then(|| model.jnt_range()[joint.index()])
    }

    /// Limits a hinge (rad) or slide (m) to a range, lowest first.
    pub fn set_joint_limits(&mut self, joint: JointId, limits: [f64; 2]) {
        debug_assert!(limits[0].is_finite() && limits[0] <= limits[1], "limits must be in ascending order: {limits:?}");
        self.tuned.insert((Parameter::JointLimits, joint.0));
        let model = self.tune();
        model.jnt_limited_mut()[joint.index()] = true;
        model.jnt_range_mut()[joint.index()] = limits;
    }

    /// Range of the total force of all actuators on a joint, in N·m or N; `None` if it is unlimited.
    pub fn joint_force_range(&self, joint: JointId) -> Option<[f64; 2]> {
        let model = self.data.model();
        model.jnt_actfrclimited()[joint.index()].then(|| model.jnt_actfrcrange()[joint.index()])
    }

    /// Limits the total force of all actuators on a joint to a range, in N·m or N, lowest first; `None` lifts the limit.
    pub fn set_joint_force_range(&mut self, joint: JointId, range: Option<[f64; 2]>) {
        debug_assert!(is_in_order(range), "a range must be in ascending order: {range:?}");
        if self.joint_force_range(joint) == range {
            return;
        }
        self.tuned.insert((Parameter::JointForceRange, joint.0));
        let model = self.tune();
        model.jnt_actfrclimited_mut()[joint.index()] = range.is_some();
        model.jnt_actfrcrange_mut()[joint.index()] = range.unwrap_or_default();
    }

    /// Gain and bias of an actuator; see [`ActuatorSpec`](crate::ActuatorSpec).
    pub fn actuator_gain(&self, actuator: ActuatorId) -> (f64, [f64; 3]) {
        let (model, i) = (self.data.model(), actuator.index());
        let bias = match model.actuator_biastype()[i] {
            MjtBias::mjBIAS_NONE => [0.0; 3],
            _ => std::array::from_fn(|k| model.actuator_biasprm()[i][k]),
        };
        (model.actuator_gainprm()[i][0], bias)
    }

    /// Sets gain and bias of an actuator; see [`ActuatorSpec`](crate::ActuatorSpec). A motor that is given a bias
    /// becomes a servo: gain `kp` and bias `[0, -kp, -kd]` hold the joint at the control.
    pub fn set_actuator_gain(&mut self, actuator: ActuatorId, gain: f64, bias: [f64; 3]) {
        debug_assert!(gain.is_finite() && bias.iter().all(|b| b.is_finite()), "a gain must be finite: {gain} {bias:?}");
        // controllers set the same gains every tick
        if self.actuator_gain(actuator) == (gain, bias) {
            return;
        }
        self.tuned.insert((Parameter::ActuatorGain, actuator.0));
        let (model, i) = (self.tune(), actuator.index());
        // SAFETY: gain and bias parameters are plain numbers to the engine here, and the bias type is one it knows
        unsafe {
            model.actuator_gainprm_mut()[i][0] = gain;
            if let Some(old) = model.actuator_biasprm_mut()[i].first_chunk_mut() {
                *old = bias;
            }
            if bias != [0.0; 3] && model.actuator_biastype()[i] == MjtBias::mjBIAS_NONE {
                model.actuator_biastype_mut()[i] = MjtBias::mjBIAS_AFFINE;
            }
        }
    }

    /// Range of an actuator's force, in N·m or N over the gear; `None` if it is unlimited.
    pub fn actuator_force_range(&self, actuator: ActuatorId) -> Option<[f64; 2]> {
        let model = self.data.model();
        model.actuator_forcelimited()[actuator.index()].then(|| model.actuator_forcerange()[actuator.index()])
    }

    /// Limits an actuator's force to a range, in N·m or N over the gear, lowest first; `None` lifts the limit.
    pub fn set_actuator_force_range(&mut self, actuator: ActuatorId, range: Option<[f64; 2]>) {
        debug_assert!(is_in_order(range), "a range must be in ascending order: {range:?}");
        if self.actuator_force_range(actuator) == range {
            return;
        }
        self.tuned.insert((Parameter::ActuatorForceRange, actuator.0));
        let model = self.tune();
        model.actuator_forcelimited_mut()[actuator.index()] = range.is_some();
        model.actuator_forcerange_mut()[actuator.index()] = range.unwrap_or_default();
    }

    /// Whether a light is on.
    pub fn light_active(&self, light: LightId) -> bool {
        self.data.model().light_active()[light.index()]
    }

    /// Switches a light on or off.
    pub fn set_light_active(&mut self, light: LightId, active: bool) {
        self.tuned.insert((Parameter::LightActive, light.0));
        self.tune().light_active_mut()[light.index()] = active;
    }

    /// The simulation's own copy of the model, for changing parameters.
    pub(crate) fn tune(&mut self) -> &mut MjModel {
        self.discard_prepared();
        // SAFETY: callers only write parameters, no sizes, indices or addresses
        unsafe { self.data.model_mut() }
    }

    /// Recomputes the constants that depend on masses and inertias, in temporary data. Returns `false` if the engine refuses;
    /// the fault is then pending.
    pub(crate) fn refresh_constants(&mut self) -> bool {
        let model = self.tune();
        // SAFETY: the model is valid and not shared; the data is made for it and freed here
        let done = guarded(|| unsafe {
            let scratch = engine::mj_makeData(model.ffi());
            if !scratch.is_null() {
                engine::mj_setConst(model.ffi_mut(), scratch);
                engine::mj_deleteData(scratch);
            }
        });
        let refused = done.err();
        let fine = refused.is_none();
        self.pending = refused.map(engine_fault).or(self.pending.take());
        fine
    }
}

fn is_in_order(range: Option<[f64; 2]>) -> bool {
    range.is_none_or(|[min, max]| min <= max)
}
