//! The Robot Simulator: nets, bodies, fitness and trials.
