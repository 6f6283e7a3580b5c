//! Images of a world.

use glam::{DMat3, DQuat, DVec3};
use physics::Pose;
use puppet::camera::{Camera, Renderer, image::MAX_SIDE};
use pyo3::PyResult;
use world::World;

use crate::error;

/// Where the camera is relative to the robot that it shows by default, in m: in front of it, to its left, and above it.
const DEFAULT_OFFSET: DVec3 = DVec3::new(2.5, 1.2, 0.8);
/// Samples along each side of a pixel.
const SAMPLES: usize = 2;

/// What an image shows.
pub(crate) struct View {
    width: usize,
    height: usize,
    eye: Option<DVec3>,
    target: Option<DVec3>,
    vertical_fov_deg: f64,
}

impl View {
    pub(crate) fn new(
        width: usize,
        height: usize,
        eye: Option<[f64; 3]>,
        target: Option<[f64; 3]>,
        vertical_fov_deg: f64,
    ) -> PyResult<Self> {
        if ![width, height].iter().all(|side| (1..=MAX_SIDE).contains(side)) {
            return Err(error::invalid(format_args!("an image has 1 to {MAX_SIDE} pixels in each direction")));
        }
        if !(1.0..=170.0).contains(&vertical_fov_deg) {
            return Err(error::invalid("the field of view is 1 to 170 degrees"));
        }
        if ![eye, target].iter().flatten().flatten().all(|x| x.is_finite()) {
            return Err(error::invalid("the positions of the camera and its target must be finite"));
        }
        Ok(Self { width, height, eye: eye.map(DVec3::from), target: target.map(DVec3::from), vertical_fov_deg })
    }

    fn camera(&self, world: &World) -> Camera {
        let first = world.catalogue().agents.first().and_then(|agent| world.root_poses(agent.id));
        let target = self.target.or_else(|| first.map(|[now, _]| now.pos.into())).unwrap_or_default();
        let eye = self.eye.unwrap_or(target + DEFAULT_OFFSET);
        Camera { pose: looking_at(eye, target), vertical_fov_deg: self.vertical_fov_deg }
    }
}

/// The pose of a camera at `eye` that looks at `target`, upright.
fn looking_at(eye: DVec3, target: DVec3) -> Pose {
    let forward = (target - eye).try_normalize().unwrap_or(DVec3::X);
    let left = DVec3::Z.cross(forward).try_normalize().unwrap_or(DVec3::Y);
    let turn = DQuat::from_mat3(&DMat3::from_cols(forward, left, forward.cross(left)));
    Pose { pos: eye.into(), quat: [turn.w, turn.x, turn.y, turn.z] }
}

/// Renders the world: rows from top to bottom, three bytes a pixel.
pub(crate) fn render(world: &World, view: &View) -> Vec<u8> {
    let mut renderer = Renderer::with_samples(view.width, view.height, SAMPLES);
    renderer.render(&world.snapshot(), &view.camera(world), &[], |_| false).rgb.clone()
}
