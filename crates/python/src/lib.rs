//! The native part of the Python package `rossum_sim`.
//!
//! Classes are frozen and guard their state with a mutex, which is taken without the interpreter lock: other Python threads
//! run while a world steps.

mod agent;
mod error;
mod evolution;
mod guarded;
mod image;
mod learning;
mod recording;
mod simulation;
mod soccer;
mod threads;
mod value;
mod world;

use pyo3::pymodule;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::{
        agent::{Agent, Motor, Sensor},
        error::RossumError,
        evolution::{Genotype, Net, Run, Search, Site, evolution_names, vector_parameters},
        learning::{Env, Task, VectorEnv, tasks},
        soccer::SoccerGame,
        world::{Contact, SavedState, Variable, World},
    };

    use pyo3::{
        Bound, PyResult,
        types::{PyModule, PyModuleMethods},
    };

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("MUJOCO_VERSION", physics::mujoco_version())
    }
}
