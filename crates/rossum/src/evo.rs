//! The three programs of the evolving robots: `rossum world`, `rossum robot` and `rossum evolve`.

pub(crate) mod evolve;
mod files;
mod host;
pub(crate) mod robot;
pub(crate) mod world;
