//! A compiled model: its elements and their relations. It is immutable.

use std::{ops::Range, sync::Arc};

use mujoco_rs::wrappers::{MjModel, MjtBias, MjtGeomBase, MjtJoint, MjtObjBase, MjtTrn};

use crate::{
    id::{ActuatorId, BodyId, GeomId, JointId, LightId, SensorId, SiteId},
    pose::Pose,
    sensor::{SensorKind, SensorSpec},
};

/// A compiled model. Cheap to clone.
///
/// Parameters that may change during a simulation (mass, friction, gains, ...) have their compiled values here; current
/// values are read from the [`Sim`](crate::Sim).
#[derive(Clone, Debug)]
pub struct Model {
    compiled: Arc<MjModel>,
    fingerprint: u64,
}

/// Shape of a geom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The xy plane; infinite for contacts, drawn as a rectangle.
    Plane,
    /// Size: radius.
    Sphere,
    /// Size: radius, half length of the cylinder along z.
    Capsule,
    /// Size: radius, half length along z.
    Cylinder,
    /// Size: half lengths along x, y, z.
    Box,
    /// Size: radii along x, y, z.
    Ellipsoid,
    /// Triangles; size: half lengths of the bounding box.
    Mesh,
    /// Heights over a grid.
    HeightField,
    /// Any other kind of the engine.
    Other,
}

/// Kind of a joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKind {
    /// Six degrees of freedom; 7 position values (m, then quaternion w x y z) and 6 velocities (m/s, rad/s).
    Free,
    /// Three rotations; 4 position values (quaternion w x y z) and 3 velocities (rad/s).
    Ball,
    /// One translation, in m.
    Slide,
    /// One rotation, in rad.
    Hinge,
}

/// An actuator as compiled: the force is `gain[0]·u + bias[0] + bias[1]·length + bias[2]·velocity`, clamped to
/// `force_range`, where `u` is the control clamped to `ctrl_range`, and length and velocity are those of the joint
/// times `gear`.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorSpec {
    /// The joint it drives; `None` if it drives a tendon, a site or a body.
    pub joint: Option<JointId>,
    /// Ratio between actuator and joint.
    pub gear: f64,
    /// First three gain parameters; motors and servos use only the first.
    pub gain: [f64; 3],
    /// First three bias parameters; zeros for a plain motor.
    pub bias: [f64; 3],
    /// Range of the control, in its own unit (a servo's: rad or m; a motor's: N·m or N over the gear).
    pub ctrl_range: Option<[f64; 2]>,
    /// Range of the actuator's force, in N·m or N over the gear.
    pub force_range: Option<[f64; 2]>,
    /// The `user` values, padded with zeros to the longest list of its kind.
    pub user: Vec<f64>,
}

/// For one kind of elements: an iterator over all, the name of one, and lookup by name.
macro_rules! elements {
    ($($all:ident, $count:ident, $name:ident, $named:ident, $id:ident, $kind:ident, $what:literal;)*) => {$(
        #[doc = concat!("All ", $what, ", in the model's order.")]
        pub fn $all(&self) -> impl ExactSizeIterator<Item = $id> + use<> {
            (0..u32::try_from(self.compiled.$count()).unwrap_or(0)).map($id)
        }

        /// Full name, with the prefix of the attachment; empty if it has none.
        pub fn $name(&self, id: $id) -> &str {
            self.compiled.id_to_name(MjtObjBase::$kind, id.index()).unwrap_or_default()
        }

        /// Finds one by its full name.
        pub fn $named(&self, name: &str) -> Option<$id> {
            if name.is_empty() || name.contains('\0') {
                return None;
            }
            let index = self.compiled.name_to_id(MjtObjBase::$kind, name)?;
            u32::try_from(index).ok().map($id)
        }
    )*};
}

impl Model {
    elements! {
        bodies, nbody, body_name, body_named, BodyId, mjOBJ_BODY, "bodies, the world first";
        geoms, ngeom, geom_name, geom_named, GeomId, mjOBJ_GEOM, "geoms";
        joints, njnt, joint_name, joint_named, JointId, mjOBJ_JOINT, "joints";
        sites, nsite, site_name, site_named, SiteId, mjOBJ_SITE, "sites";
        actuators, nactuator, actuator_name, actuator_named, ActuatorId, mjOBJ_ACTUATOR, "actuators";
        sensors, nsensor, sensor_name, sensor_named, SensorId, mjOBJ_SENSOR, "sensors";
        lights, nlight, light_name, light_named, LightId, mjOBJ_LIGHT, "lights";
    }

    pub(crate) fn new(compiled: MjModel, fingerprint: u64) -> Self {
        Self { compiled: Arc::new(compiled), fingerprint }
    }

    pub(crate) fn compiled(&self) -> &MjModel {
        &self.compiled
    }

    /// Hash of the compiled model. Equal models have equal fingerprints on the same machine and MuJoCo version.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Parent of a body; that of the world is the world.
    pub fn body_parent(&self, body: BodyId) -> BodyId {
        body_at(self.compiled.body_parentid()[body.index()])
    }

    /// The ancestor of a body that is a child of the world; that of the world is the world.
    pub fn body_root(&self, body: BodyId) -> BodyId {
        body_at(self.compiled.body_rootid()[body.index()])
    }

    /// Geoms of a body, without those of its children.
    pub fn body_geoms(&self, body: BodyId) -> impl ExactSizeIterator<Item = GeomId> + use<> {
        span(self.compiled.body_geomadr()[body.index()], self.compiled.body_geomnum()[body.index()]).map(GeomId)
    }

    /// The joints between this body and its parent.
    pub fn body_joints(&self, body: BodyId) -> impl ExactSizeIterator<Item = JointId> + use<> {
        span(self.compiled.body_jntadr()[body.index()], self.compiled.body_jntnum()[body.index()]).map(JointId)
    }

    /// A body and its descendants, in the model's order, the body first.
    pub fn subtree(&self, root: BodyId) -> impl Iterator<Item = BodyId> + use<> {
        let parents = self.compiled.body_parentid();
        // bodies are in depth-first order, so a subtree is contiguous
        let mut end = root.0 + 1;
        while (end as usize) < parents.len() && parents[end as usize] >= root.0.cast_signed() {
            end += 1;
        }
        (root.0..end).map(BodyId)
    }

    /// Pose of a body in its parent's frame, with joints at their reference.
    pub fn body_pose(&self, body: BodyId) -> Pose {
        Pose { pos: self.compiled.body_pos()[body.index()], quat: self.compiled.body_quat()[body.index()] }
    }

    /// The free joint of a body; only children of the world can have one.
    pub fn body_free_joint(&self, body: BodyId) -> Option<JointId> {
        self.body_joints(body).find(|joint| self.joint_kind(*joint) == JointKind::Free)
    }

    /// The body a geom belongs to.
    pub fn geom_body(&self, geom: GeomId) -> BodyId {
        body_at(self.compiled.geom_bodyid()[geom.index()])
    }

    /// Shape of a geom.
    pub fn geom_shape(&self, geom: GeomId) -> Shape {
        match self.compiled.geom_type()[geom.index()] {
            MjtGeomBase::mjGEOM_PLANE => Shape::Plane,
            MjtGeomBase::mjGEOM_SPHERE => Shape::Sphere,
            MjtGeomBase::mjGEOM_CAPSULE => Shape::Capsule,
            MjtGeomBase::mjGEOM_CYLINDER => Shape::Cylinder,
            MjtGeomBase::mjGEOM_BOX => Shape::Box,
            MjtGeomBase::mjGEOM_ELLIPSOID => Shape::Ellipsoid,
            MjtGeomBase::mjGEOM_MESH => Shape::Mesh,
            MjtGeomBase::mjGEOM_HFIELD => Shape::HeightField,
            _ => Shape::Other,
        }
    }

    /// Pose of a geom in its body's frame.
    pub fn geom_pose(&self, geom: GeomId) -> Pose {
        Pose { pos: self.compiled.geom_pos()[geom.index()], quat: self.compiled.geom_quat()[geom.index()] }
    }

    /// The body a joint moves.
    pub fn joint_body(&self, joint: JointId) -> BodyId {
        body_at(self.compiled.jnt_bodyid()[joint.index()])
    }

    /// Kind of a joint.
    pub fn joint_kind(&self, joint: JointId) -> JointKind {
        match self.compiled.jnt_type()[joint.index()] {
            MjtJoint::mjJNT_FREE => JointKind::Free,
            MjtJoint::mjJNT_BALL => JointKind::Ball,
            MjtJoint::mjJNT_SLIDE => JointKind::Slide,
            MjtJoint::mjJNT_HINGE => JointKind::Hinge,
        }
    }

    /// Limits of a joint, in rad (hinge; ball: 0 and the largest angle) or m (slide); `None` if it is unlimited.
    pub fn joint_range(&self, joint: JointId) -> Option<[f64; 2]> {
        self.compiled.jnt_limited()[joint.index()].then(|| self.compiled.jnt_range()[joint.index()])
    }

    /// Axis of a hinge or slide, a unit vector in its body's frame.
    pub fn joint_axis(&self, joint: JointId) -> [f64; 3] {
        self.compiled.jnt_axis()[joint.index()]
    }

    /// Range of the total force of all actuators on a joint, in N·m or N, as compiled; `None` if it is unlimited.
    pub fn joint_force_range(&self, joint: JointId) -> Option<[f64; 2]> {
        self.compiled.jnt_actfrclimited()[joint.index()].then(|| self.compiled.jnt_actfrcrange()[joint.index()])
    }

    /// Index of a joint's first value in [`Sim::qpos`](crate::Sim::qpos).
    pub fn joint_qpos_index(&self, joint: JointId) -> usize {
        at(self.compiled.jnt_qposadr()[joint.index()])
    }

    /// Index of a joint's first value in [`Sim::qvel`](crate::Sim::qvel).
    pub fn joint_dof_index(&self, joint: JointId) -> usize {
        at(self.compiled.jnt_dofadr()[joint.index()])
    }

    /// Indices of a joint's values in [`Sim::qpos`](crate::Sim::qpos): 7 for a free joint, 4 for a ball joint, else 1.
    pub fn joint_qpos_range(&self, joint: JointId) -> Range<usize> {
        let start = self.joint_qpos_index(joint);
        start..start + self.joint_kind(joint).positions()
    }

    /// Indices of a joint's values in [`Sim::qvel`](crate::Sim::qvel): 6 for a free joint, 3 for a ball joint, else 1.
    pub fn joint_dof_range(&self, joint: JointId) -> Range<usize> {
        let start = self.joint_dof_index(joint);
        start..start + self.joint_kind(joint).velocities()
    }

    /// The body a site belongs to.
    pub fn site_body(&self, site: SiteId) -> BodyId {
        body_at(self.compiled.site_bodyid()[site.index()])
    }

    /// Pose of a site in its body's frame.
    pub fn site_pose(&self, site: SiteId) -> Pose {
        Pose { pos: self.compiled.site_pos()[site.index()], quat: self.compiled.site_quat()[site.index()] }
    }

    /// An actuator as compiled.
    pub fn actuator(&self, actuator: ActuatorId) -> ActuatorSpec {
        let (m, i) = (&*self.compiled, actuator.index());
        let ctrl = at(m.actuator_ctrladr()[i]);
        let bias = match m.actuator_biastype()[i] {
            MjtBias::mjBIAS_NONE => [0.0; 3],
            _ => first_three(&m.actuator_biasprm()[i]),
        };
        ActuatorSpec {
            joint: self.actuator_joint(actuator),
            gear: m.actuator_gear()[at(m.actuator_outadr()[i])][0],
            gain: first_three(&m.actuator_gainprm()[i]),
            bias,
            ctrl_range: m.actuator_ctrllimited()[ctrl].then(|| m.actuator_ctrlrange()[ctrl]),
            force_range: m.actuator_forcelimited()[i].then(|| m.actuator_forcerange()[i]),
            user: row(m.actuator_user(), i, m.nuser_actuator()),
        }
    }

    /// Damping of a joint as compiled, in N·m·s/rad or N·s/m.
    pub fn joint_damping(&self, joint: JointId) -> f64 {
        self.compiled.dof_damping()[self.joint_dof_index(joint)]
    }

    /// The joint an actuator drives; `None` if it drives a tendon, a site or a body.
    pub fn actuator_joint(&self, actuator: ActuatorId) -> Option<JointId> {
        let (m, i) = (&*self.compiled, actuator.index());
        let drives_joint = matches!(m.actuator_trntype()[i], MjtTrn::mjTRN_JOINT | MjtTrn::mjTRN_JOINTINPARENT);
        if drives_joint { JointId::of(m.actuator_trnid()[i][0]) } else { None }
    }

    /// A sensor as compiled.
    pub fn sensor(&self, sensor: SensorId) -> SensorSpec {
        SensorSpec::of(&self.compiled, sensor.index())
    }

    /// What a sensor measures.
    pub fn sensor_kind(&self, sensor: SensorId) -> SensorKind {
        SensorKind::of(self.compiled.sensor_type()[sensor.index()])
    }

    /// Indices of a sensor's values in [`Sim::sensor_values`](crate::Sim::sensor_values).
    pub fn sensor_range(&self, sensor: SensorId) -> Range<usize> {
        let start = at(self.compiled.sensor_adr()[sensor.index()]);
        start..start + at(self.compiled.sensor_dim()[sensor.index()])
    }

    /// The body a light moves with.
    pub fn light_body(&self, light: LightId) -> BodyId {
        body_at(self.compiled.light_bodyid()[light.index()])
    }
}

impl JointKind {
    /// Number of position values.
    pub const fn positions(self) -> usize {
        match self {
            Self::Free => 7,
            Self::Ball => 4,
            Self::Slide | Self::Hinge => 1,
        }
    }

    /// Number of velocities.
    pub const fn velocities(self) -> usize {
        match self {
            Self::Free => 6,
            Self::Ball => 3,
            Self::Slide | Self::Hinge => 1,
        }
    }
}

/// Converts an address of the engine that is not negative.
pub(crate) fn at(address: i32) -> usize {
    usize::try_from(address).unwrap_or_default()
}

/// A row of a table with rows of `width` values.
pub(crate) fn row(table: &[f64], index: usize, width: i64) -> Vec<f64> {
    let width = usize::try_from(width).unwrap_or_default();
    table.get(index * width..(index + 1) * width).map(<[f64]>::to_vec).unwrap_or_default()
}

fn body_at(index: i32) -> BodyId {
    BodyId::of(index).unwrap_or(BodyId::WORLD)
}

fn span(start: i32, count: i32) -> Range<u32> {
    // the start is -1 if there are none
    let start = u32::try_from(start).unwrap_or_default();
    start..start + u32::try_from(count).unwrap_or_default()
}

fn first_three(values: &[f64]) -> [f64; 3] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or_default())
}
