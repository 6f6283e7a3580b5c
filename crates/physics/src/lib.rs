//! MuJoCo made safe: models, guarded stepping, snapshots, rays.
//!
//! Text becomes a [`Source`] when it has been scanned, sources become an [`Assembly`], an assembly compiles to a
//! [`Model`], and a [`Sim`] moves it. Nothing a model or a caller does ends the process: the engine's errors come back
//! as [`ModelError`] or [`Fault`], and a simulation that met one goes on from its last good state.
//!
//! Units are SI and radians, quaternions are w x y z, and the world's z axis points up, unless said otherwise.
#![allow(unsafe_code, reason = "the engine is a C library; this is the only crate that talks to it")]

mod assembly;
mod asset;
mod carry;
mod contact;
mod distance;
mod engine;
mod error;
mod guard;
mod id;
mod layout;
mod limits;
mod look;
mod model;
mod parameter;
mod pose;
mod ray;
mod room;
mod scan;
mod sensor;
mod sim;
mod source;
mod spec;
mod state;
#[cfg(test)]
mod testing;

pub use assembly::{Assembly, Edit, Part};
pub use contact::Contact;
pub use error::ModelError;
pub use guard::Fault;
pub use id::{ActuatorId, BodyId, GeomId, JointId, LightId, SensorId, SiteId};
pub use limits::Limits;
pub use look::{Look, LookShape, Mesh};
pub use model::{ActuatorSpec, JointKind, Model, Shape};
pub use pose::Pose;
pub use ray::RayHit;
pub use sensor::{SensorKind, SensorSpec};
pub use sim::{Sim, Velocity};
pub use source::Source;
pub use state::State;

/// Version of the MuJoCo library in use, such as "3.17.0".
pub fn mujoco_version() -> &'static str {
    mujoco_rs::mujoco_version()
}
