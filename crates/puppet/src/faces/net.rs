//! The networks: read from the files of others, checked, and run on one core.
//!
//! [`tflite`] reads the detector's file and [`mod@translate`] makes a [`plan`] of it, which is run here: there is no time to
//! lose, and rten is slow at convolving each channel by itself. [`resnet`] makes a graph for rten of the embedding's weights.

mod graph;
mod plan;
mod planes;
mod resnet;
mod tflite;
mod translate;

pub(super) use graph::Network as RtenNetwork;
pub(super) use plan::Network;
pub(super) use resnet::embedding_network;
pub(super) use translate::translate;
