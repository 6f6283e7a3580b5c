//! A safe interface to MuJoCo: models, guarded stepping, saved states, rays.
//!
//! Model text is scanned into a [`Source`], sources are combined in an [`Assembly`], an assembly compiles to a [`Model`], and
//! a [`Sim`] simulates it. Engine errors do not end the process: they are returned as [`ModelError`] or [`Fault`], and the
//! simulation continues from its last good state.
//!
//! Units are SI and radians, quaternions are w x y z, and the world's z axis points up, unless said otherwise.
#![allow(unsafe_code, reason = "the engine is a C library; this is the only crate that talks to it")]

mod alloc;
mod assembly;
mod asset;
mod carry_over;
mod contact;
mod engine;
mod error;
mod guard;
mod id;
mod layout;
mod limits;
mod model;
mod parameter;
mod placement;
mod pose;
mod rangefinder;
mod ray;
mod scan;
mod sensor;
mod setting;
mod sim;
mod source;
mod spec;
mod state;
#[cfg(test)]
mod testing;
mod threads;
pub mod vet;
mod visual;

pub use assembly::{Assembly, Attachment, Edit};
pub use contact::Contact;
pub use error::ModelError;
pub use guard::Fault;
pub use id::{ActuatorId, BodyId, GeomId, JointId, LightId, SensorId, SiteId};
pub use limits::Limits;
pub use model::{ActuatorSpec, JointKind, Model, Shape};
pub use pose::Pose;
pub use ray::RayHit;
pub use sensor::{SensorKind, SensorSpec};
pub use setting::Setting;
pub use sim::{Sim, Velocity};
pub use source::Source;
pub use state::State;
pub use threads::{MAX_THREADS, ParseThreadsError, Threads, ThreadsError};
pub use visual::{Mesh, Visual, VisualShape};

/// Version of the MuJoCo library in use, such as "3.17.0".
pub fn mujoco_version() -> &'static str {
    mujoco_rs::mujoco_version()
}
