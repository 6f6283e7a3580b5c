//! What several crates need and must exist once. Depends on no other crate of the project.

pub mod atomic_file;
pub mod output_file;
pub mod suggest;
