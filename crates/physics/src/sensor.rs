//! Kinds of sensors.

use mujoco_rs::wrappers::{MjModel, MjtDataType, MjtObjBase, MjtSensor};

use crate::{
    id::{JointId, SiteId},
    model::{at, row},
};

/// A sensor as compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorSpec {
    /// What it measures, and in what unit.
    pub kind: SensorKind,
    /// Number of values.
    pub dim: usize,
    /// Values are clamped to ± this (to 0..=this if `positive`), in the sensor's unit; 0 disables it.
    pub cutoff: f64,
    /// Whether its values cannot be negative.
    pub positive: bool,
    /// The site it is attached to, if it is.
    pub site: Option<SiteId>,
    /// The joint it measures, if it does.
    pub joint: Option<JointId>,
    /// The `user` values, padded with zeros to the longest list of all sensors.
    pub user: Vec<f64>,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $engine:ident,)*) => {
        /// What a sensor measures, and in what unit.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum SensorKind {
            $($(#[$doc])* $kind,)*
            /// Any other kind of the engine.
            Other,
        }

        impl SensorKind {
            pub(crate) fn of(kind: MjtSensor) -> Self {
                match kind {
                    $(MjtSensor::$engine => Self::$kind,)*
                    _ => Self::Other,
                }
            }
        }
    };
}

kinds! {
    /// Sum of normal forces in a site's volume, in N.
    Touch = mjSENS_TOUCH,
    /// Linear acceleration with gravity, in m/s², site frame.
    Accelerometer = mjSENS_ACCELEROMETER,
    /// Linear velocity, in m/s, site frame.
    Velocimeter = mjSENS_VELOCIMETER,
    /// Angular velocity, in rad/s, site frame.
    Gyro = mjSENS_GYRO,
    /// Force between the site's body and its parent, in N, site frame.
    Force = mjSENS_FORCE,
    /// Torque between the site's body and its parent, in N·m, site frame.
    Torque = mjSENS_TORQUE,
    /// Magnetic flux, in the model's unit, site frame.
    Magnetometer = mjSENS_MAGNETOMETER,
    /// Distance along the site's z axis, in m; -1 when nothing is hit.
    Rangefinder = mjSENS_RANGEFINDER,
    /// Joint position, in rad or m.
    JointPos = mjSENS_JOINTPOS,
    /// Joint velocity, in rad/s or m/s.
    JointVel = mjSENS_JOINTVEL,
    /// Tendon length, in m.
    TendonPos = mjSENS_TENDONPOS,
    /// Tendon velocity, in m/s.
    TendonVel = mjSENS_TENDONVEL,
    /// Actuator length: joint position times gear, in rad or m.
    ActuatorPos = mjSENS_ACTUATORPOS,
    /// Actuator velocity: joint velocity times gear, in rad/s or m/s.
    ActuatorVel = mjSENS_ACTUATORVEL,
    /// Actuator force, in N·m or N.
    ActuatorForce = mjSENS_ACTUATORFRC,
    /// Total actuator force on a joint, in N·m or N.
    JointActuatorForce = mjSENS_JOINTACTFRC,
    /// Orientation of a ball joint, quaternion w x y z.
    BallQuat = mjSENS_BALLQUAT,
    /// Angular velocity of a ball joint, in rad/s.
    BallAngVel = mjSENS_BALLANGVEL,
    /// Position of an object's frame, in m, world frame or that of its reference.
    FramePos = mjSENS_FRAMEPOS,
    /// Orientation of an object's frame, quaternion w x y z.
    FrameQuat = mjSENS_FRAMEQUAT,
    /// X axis of an object's frame, unit vector.
    FrameXAxis = mjSENS_FRAMEXAXIS,
    /// Y axis of an object's frame, unit vector.
    FrameYAxis = mjSENS_FRAMEYAXIS,
    /// Z axis of an object's frame, unit vector.
    FrameZAxis = mjSENS_FRAMEZAXIS,
    /// Linear velocity of an object's frame, in m/s.
    FrameLinVel = mjSENS_FRAMELINVEL,
    /// Angular velocity of an object's frame, in rad/s.
    FrameAngVel = mjSENS_FRAMEANGVEL,
    /// Linear acceleration of an object's frame, in m/s².
    FrameLinAcc = mjSENS_FRAMELINACC,
    /// Angular acceleration of an object's frame, in rad/s².
    FrameAngAcc = mjSENS_FRAMEANGACC,
    /// Centre of mass of a subtree, in m, world frame.
    SubtreeCom = mjSENS_SUBTREECOM,
    /// Linear velocity of a subtree's centre of mass, in m/s, world frame.
    SubtreeLinVel = mjSENS_SUBTREELINVEL,
    /// Angular momentum of a subtree about its centre of mass, in kg·m²/s, world frame.
    SubtreeAngMom = mjSENS_SUBTREEANGMOM,
    /// Time, in s.
    Clock = mjSENS_CLOCK,
    /// Set from outside, see [`Sim::set_sensor`](crate::Sim::set_sensor).
    User = mjSENS_USER,
}

impl SensorSpec {
    pub(crate) fn of(m: &MjModel, i: usize) -> Self {
        let object = m.sensor_objid()[i];
        let (site, joint) = match m.sensor_objtype()[i] {
            MjtObjBase::mjOBJ_SITE => (SiteId::of(object), None),
            MjtObjBase::mjOBJ_JOINT => (None, JointId::of(object)),
            _ => (None, None),
        };
        Self {
            kind: SensorKind::of(m.sensor_type()[i]),
            dim: at(m.sensor_dim()[i]),
            cutoff: m.sensor_cutoff()[i],
            positive: m.sensor_datatype()[i] == MjtDataType::mjDATATYPE_POSITIVE,
            site,
            joint,
            user: row(m.sensor_user(), i, m.nuser_sensor()),
        }
    }
}
