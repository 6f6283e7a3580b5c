//! The robot's camera: images of the simulated scene, of image and video files, and of real cameras.
//!
//! The scene is rendered in software, so it needs no GPU and looks the same on every machine.

mod ground;
pub mod image;
mod mesh;
mod mipmap;
mod raster;
pub mod source;
pub mod view;

pub use self::{
    image::{Image, ImageError},
    source::{CameraSource, Feed, SourceError, StopHandle, Video},
    view::{Billboard, Camera, Renderer},
};
