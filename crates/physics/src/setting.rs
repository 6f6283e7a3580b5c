//! Settings of a whole simulation: accuracy of the solver, and the medium around the bodies.

use std::ffi::c_int;

use crate::{parameter::Parameter, sim::Sim};

/// A setting of a whole simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// Maximum number of iterations of the constraint solver in a step.
    SolverIterations,
    /// Improvement below which the constraint solver stops; 0 for none.
    SolverTolerance,
    /// Maximum number of iterations of a line search of the constraint solver.
    LineSearchIterations,
    /// Number of iterations that remove slip from contacts after the constraint solver.
    NoSlipIterations,
    /// Density of the medium, in kg/m³.
    Density,
    /// Viscosity of the medium, in Pa·s.
    Viscosity,
}

impl Sim {
    /// The current value of a setting.
    pub fn setting(&self, setting: Setting) -> f64 {
        let options = self.data.model_opt();
        match setting {
            Setting::SolverIterations => options.iterations.into(),
            Setting::SolverTolerance => options.tolerance,
            Setting::LineSearchIterations => options.ls_iterations.into(),
            Setting::NoSlipIterations => options.noslip_iterations.into(),
            Setting::Density => options.density,
            Setting::Viscosity => options.viscosity,
        }
    }

    /// Changes a setting; the value is not negative.
    #[expect(clippy::cast_possible_truncation, reason = "the conversion saturates, and whole numbers are exact")]
    pub fn set_setting(&mut self, setting: Setting, value: f64) {
        debug_assert!(value.is_finite() && value >= 0.0, "a setting must not be negative: {value}");
        self.discard_prepared();
        self.tuned.insert((Parameter::Setting(setting), 0));
        let options = self.data.model_opt_mut();
        match setting {
            Setting::SolverIterations => options.iterations = value as c_int,
            Setting::SolverTolerance => options.tolerance = value,
            Setting::LineSearchIterations => options.ls_iterations = value as c_int,
            Setting::NoSlipIterations => options.noslip_iterations = value as c_int,
            Setting::Density => options.density = value,
            Setting::Viscosity => options.viscosity = value,
        }
    }
}
