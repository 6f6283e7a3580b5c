//! A check that the scan cannot make: whether the engine compiles a model within limits of time and memory.
//!
//! The program installs a function that tries a model where it can do no harm, such as in another process. Every source must
//! pass it before it is compiled for the first time; programs that compile only their own models need none.

use std::sync::OnceLock;

use crate::{
    assembly::{Assembly, Attachment},
    error::ModelError,
    guard::Fault,
    limits::Limits,
    pose::Pose,
    sim::Sim,
    source::Source,
};

/// How a source is used in a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use<'a> {
    /// As the base.
    Base,
    /// Attached to the base.
    Attached {
        /// Prefix of its names.
        prefix: &'a str,
    },
}

/// Decides whether a source may be compiled in this process.
pub type Check = fn(&Source, Use<'_>) -> Result<(), ModelError>;

static CHECK: OnceLock<Check> = OnceLock::new();

/// Installs the check of this process. A second one is ignored.
pub fn install_check(check: Check) {
    let _ = CHECK.set(check);
}

/// Whether a source is used in this way for the first time, and passes the check.
pub(crate) fn vet(source: &Source, used: Use<'_>) -> Result<(), ModelError> {
    let Some(check) = CHECK.get() else { return Ok(()) };
    let passed = source.passed(used);
    if passed.get().is_none() {
        check(source, used)?;
        let _ = passed.set(());
    }
    Ok(())
}

/// Does everything with a source that a world would: compiles it, computes its visuals, makes a simulation and steps it
/// once.
///
/// # Errors
/// If the engine refuses it.
pub fn try_out(source: &Source, used: Use<'_>) -> Result<(), ModelError> {
    let assembly = match used {
        Use::Base => Assembly::new(source.clone()),
        Use::Attached { prefix } => {
            let empty = Source::from_text("empty", "<mujoco><worldbody/></mujoco>", &Limits::default())?;
            let mut assembly = Assembly::new(empty);
            let (prefix, source) = (prefix.to_owned(), source.clone());
            assembly.attachments.push(Attachment { prefix, source, pose: Pose::IDENTITY });
            assembly
        }
    };
    let model = assembly.compile()?;
    assembly.visuals()?;
    let failed = |fault: Fault| ModelError::Engine { model: source.name().to_owned(), reason: fault.to_string() };
    let mut sim = Sim::new(model).map_err(failed)?;
    // a fault is handled when it happens
    let _ = sim.step();
    Ok(())
}
