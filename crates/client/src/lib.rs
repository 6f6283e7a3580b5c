//! Rust clients for the protocols Rossum speaks: blocking, on the standard library's sockets.

#![forbid(unsafe_code)]

pub mod console;
pub mod evo;
pub mod odcp;
pub mod osp;
pub mod oz;
pub mod soccer;
pub mod tls;
mod udp;
