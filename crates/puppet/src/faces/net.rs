//! The networks: read from the files of others, checked, and run by rten.
//!
//! rten reads ONNX only, so both are translated into it in memory: [`tflite`] reads the detector's file, [`translate`] makes a graph of it, [`resnet`] that of the
//! embedding from its weights.

mod graph;
mod resnet;
mod tflite;
mod translate;

pub(super) use graph::Network;
pub(super) use resnet::embedding_network;
pub(super) use translate::translate;
