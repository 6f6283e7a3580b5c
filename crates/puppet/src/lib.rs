//! The social robot behind Oz: a puppet that speaks, looks, listens and moves on an operator's orders.

mod cache;
pub mod camera;
pub mod director;
mod event;
pub mod expression;
pub mod faces;
pub mod gaze;
pub mod gesture;
pub mod hearing;
mod idle;
pub mod mixer;
mod order;
mod program;
pub mod puppet;
pub mod servo;
pub mod speech;
pub mod talk;

pub use crate::cache::fetched_folder;
