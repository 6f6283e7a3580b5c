//! What the robot sees: pictures of the simulated scene, of files, of films and of real cameras.
//!
//! The scene is drawn in software, so that it needs no graphics card and gives the same picture everywhere.

mod ground;
pub mod image;
mod mesh;
mod people;
mod raster;
pub mod source;
pub mod view;

pub use self::{
    image::{Image, ImageError},
    source::{CameraSource, Feed, Film, SourceError, Stopper},
    view::{Billboard, Camera, Renderer},
};
