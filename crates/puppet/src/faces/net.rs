//! The neural networks: parsed, validated and run on one core.
//!
//! [`tflite`] parses the detector's model, and [`mod@translate`] turns it into a [`plan`] that is executed here, because
//! depthwise convolutions are slow in rten. [`resnet`] builds an rten graph from the weights of the embedding network.

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
