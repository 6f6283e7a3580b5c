//! The scene from where a camera is, drawn in software.

use std::sync::Arc;

use glam::{DQuat, DVec3, Mat3, Quat, Vec3};
use physics::{Look, LookShape, Pose};
use world::Snapshot;

use super::{
    ground::{Plane, Sky},
    image::{Image, MAX_SIDE},
    mesh::{self, Solid, Solids},
    people::Album,
    raster::{Canvas, NEAR, Spot, Vertex},
};

/// Most samples along each side of a pixel.
pub const MAX_SAMPLES: usize = 4;
/// Smallest and largest angle of view, in degrees.
const FOV_DEG: (f64, f64) = (1.0, 170.0);
/// Where most light comes from, world frame; not of unit length.
const SUN: Vec3 = Vec3::new(0.35, 0.25, 0.9);
/// Light from everywhere, from above, from the camera and from the sun, as parts of a colour's brightness.
const LIGHTS: [f32; 4] = [0.54, 0.1, 0.18, 0.3];

/// A camera and where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// World frame, in m: x is where it looks, y is to the left of the picture, z is up in it.
    pub pose: Pose,
    /// Angle from the lower to the upper edge of the picture, in degrees, 1 to 170.
    pub vertical_fov_deg: f64,
}

impl Camera {
    /// Where a point (m, world frame) is in a picture of this size: pixels from the left and from the top, also outside
    /// of the picture. `None` behind the camera.
    pub fn pixel_of(&self, point: [f64; 3], width: usize, height: usize) -> Option<[f64; 2]> {
        let [forward, left, up] = self.pose.inverse().then(&Pose { pos: point, ..Pose::IDENTITY }).pos;
        let scale = self.focal(height) / forward;
        let pixel = [width as f64 / 2.0 - left * scale, height as f64 / 2.0 - up * scale];
        (forward > 0.0 && pixel.iter().all(|part| part.is_finite())).then_some(pixel)
    }

    /// Which way, as a unit vector in the world frame, the camera looks at this place of a picture of this size: pixels
    /// from the left and from the top.
    pub fn ray_of(&self, pixel: [f64; 2], width: usize, height: usize) -> [f64; 3] {
        let focal = self.focal(height);
        let (left, up) = ((width as f64 / 2.0 - pixel[0]) / focal, (height as f64 / 2.0 - pixel[1]) / focal);
        let length = (1.0 + left * left + up * up).sqrt();
        self.pose.turn([1.0 / length, left / length, up / length])
    }

    /// Pixels per unit of slope.
    fn focal(&self, height: usize) -> f64 {
        let fov =
            if self.vertical_fov_deg.is_finite() { self.vertical_fov_deg.clamp(FOV_DEG.0, FOV_DEG.1) } else { 60.0 };
        height as f64 / 2.0 / (fov.to_radians() / 2.0).tan()
    }
}

/// A picture of somebody that stands in the scene, upright and turned to the camera about the vertical.
#[derive(Clone, Debug)]
pub struct Billboard {
    /// What is on it.
    pub picture: Arc<Image>,
    /// Its middle, in m, world frame.
    pub position: [f64; 3],
    /// Its width, in m; the height follows from the picture.
    pub width_m: f64,
}

/// A look, ready to be drawn.
#[derive(Debug)]
struct Piece {
    form: Form,
    /// Size along each axis, in m.
    scale: Vec3,
    /// How far the ends of a capsule are from its middle, in m.
    lift: f32,
    /// Radius of a ball around it all, in m.
    reach: f32,
    rgb: [f32; 3],
    opacity: f32,
}

#[derive(Debug)]
enum Form {
    Plane,
    Capsule,
    Cylinder,
    Cube,
    /// Place among the own solids.
    Mesh(usize),
}

impl Piece {
    fn of(look: &Look, meshes: &mut Vec<Solid>) -> Self {
        let size = |sizes: [f64; 3]| Vec3::from(sizes.map(|size| size as f32));
        let (form, scale, lift) = match &look.shape {
            LookShape::Plane { half_sizes: [x, y] } => (Form::Plane, size([*x, *y, 0.0]), 0.0),
            LookShape::Sphere { radius } => (Form::Capsule, size([*radius; 3]), 0.0),
            LookShape::Capsule { radius, half_length } => (Form::Capsule, size([*radius; 3]), *half_length as f32),
            LookShape::Cylinder { radius, half_length } => {
                (Form::Cylinder, size([*radius, *radius, *half_length]), 0.0)
            }
            LookShape::Ellipsoid { radii } => (Form::Capsule, size(*radii), 0.0),
            LookShape::Box { half_sizes } => (Form::Cube, size(*half_sizes), 0.0),
            LookShape::Mesh(mesh) => {
                meshes.push(mesh::of_mesh(mesh));
                (Form::Mesh(meshes.len() - 1), Vec3::ONE, 0.0)
            }
        };
        let reach = match form {
            Form::Plane if scale.x == 0.0 || scale.y == 0.0 => f32::INFINITY,
            Form::Capsule => scale.max_element() + lift,
            Form::Plane | Form::Cylinder | Form::Cube => scale.length(),
            Form::Mesh(place) => meshes[place].corners.iter().map(|c| c.point.length()).fold(0.0, f32::max),
        };
        let [red, green, blue, opacity] = look.rgba;
        Self { form, scale, lift, reach, rgb: [red, green, blue], opacity }
    }
}

/// A piece in the camera's frame.
struct Placed {
    piece: usize,
    centre: Vec3,
    camera_from_piece: Mat3,
    world_from_piece: Quat,
}

/// Draws scenes, each frame into the same buffers.
#[derive(Debug)]
pub struct Renderer {
    samples: usize,
    image: Image,
    canvas: Canvas,
    sky: Sky,
    solids: Solids,
    /// What the pieces were made of.
    looks: Option<Arc<[Look]>>,
    pieces: Vec<Piece>,
    meshes: Vec<Solid>,
    vertices: Vec<(Vertex<1>, Option<Spot<1>>)>,
    album: Album,
}

impl Renderer {
    /// For pictures of this size, in pixels, 1 to [`MAX_SIDE`].
    pub fn new(width: usize, height: usize) -> Self {
        Self::with_samples(width, height, 1)
    }

    /// With smooth edges: each pixel is the mean of `samples` x `samples`, 1 to [`MAX_SAMPLES`].
    pub fn with_samples(width: usize, height: usize, samples: usize) -> Self {
        let image = Image::new(width, height);
        let most = MAX_SIDE / image.width.max(image.height);
        let samples = samples.clamp(1, MAX_SAMPLES).min(most.max(1));
        Self {
            samples,
            canvas: Canvas::new(image.width * samples, image.height * samples),
            image,
            sky: Sky::new(),
            solids: Solids::new(),
            looks: None,
            pieces: Vec::new(),
            meshes: Vec::new(),
            vertices: Vec::new(),
            album: Album::default(),
        }
    }

    /// Draws what the camera sees of the world and of `people`. Bodies of which `hide` says so, by their place in
    /// [`Catalogue::bodies`](world::Catalogue::bodies), are left out. What has no finite place is not drawn.
    pub fn render(
        &mut self,
        snapshot: &Snapshot,
        camera: &Camera,
        people: &[Billboard],
        hide: impl Fn(usize) -> bool,
    ) -> &Image {
        self.prepare(&snapshot.catalogue.looks);
        self.canvas.focal = camera.focal(self.canvas.height) as f32;
        let Some(eye) = frame(&camera.pose) else {
            self.sky.draw(&mut self.canvas, Vec3::Z);
            self.album.keep_only(&[]);
            return self.finish();
        };
        let world_to_camera = eye.1.inverse();
        let up = (world_to_camera * DVec3::Z).as_vec3();
        self.sky.draw(&mut self.canvas, up);
        let (mut clear, mut planes) = (Vec::new(), Vec::new());
        for (place, look) in snapshot.catalogue.looks.iter().enumerate() {
            if hide(look.body) {
                continue;
            }
            let Some(placed) = self.place(place, look, snapshot, eye) else { continue };
            match &self.pieces[place] {
                piece if piece.opacity < 1.0 => clear.push(placed),
                Piece { form: Form::Plane, .. } => planes.push(placed),
                _ => self.draw(&placed, up),
            }
        }
        self.album.keep_only(people);
        for person in people {
            self.album.draw(&mut self.canvas, person, eye);
        }
        // most of the ground is behind something, and what is behind costs least
        planes.iter().for_each(|placed| self.draw(placed, up));
        // what lies behind shines through, so the farthest come first
        clear.sort_by(|a, b| b.centre.length_squared().total_cmp(&a.centre.length_squared()));
        for placed in &clear {
            self.draw(placed, up);
        }
        self.finish()
    }

    /// Makes pieces of new looks; most frames have the same as the one before.
    fn prepare(&mut self, looks: &Arc<[Look]>) {
        if self.looks.as_ref().is_some_and(|known| Arc::ptr_eq(known, looks)) {
            return;
        }
        self.meshes.clear();
        self.pieces = looks.iter().map(|look| Piece::of(look, &mut self.meshes)).collect();
        self.looks = Some(Arc::clone(looks));
    }

    /// Where a look is for the camera. `None` where it cannot be seen.
    fn place(&self, place: usize, look: &Look, snapshot: &Snapshot, eye: (DVec3, DQuat)) -> Option<Placed> {
        let piece = self.pieces.get(place)?;
        let (position, turn) = frame(&snapshot.look_pose(look)?)?;
        let world_to_camera = eye.1.inverse();
        let centre = (world_to_camera * (position - eye.0)).as_vec3();
        self.in_sight(centre, piece.reach).then(|| {
            let camera_from_piece = Mat3::from_quat((world_to_camera * turn).as_quat());
            Placed { piece: place, centre, camera_from_piece, world_from_piece: turn.as_quat() }
        })
    }

    /// Whether any of a ball is between the edges of the picture and in front of the camera.
    fn in_sight(&self, centre: Vec3, reach: f32) -> bool {
        let beside = |offset: f32, pixels: usize| {
            let half = pixels as f32 / 2.0 / self.canvas.focal;
            // distance from the plane through the eye and the edge of the picture
            (offset.abs() - centre.x * half) / (1.0 + half * half).sqrt() > reach
        };
        centre.x + reach > NEAR && !beside(centre.y, self.canvas.width) && !beside(centre.z, self.canvas.height)
    }

    fn draw(&mut self, placed: &Placed, up: Vec3) {
        let Some(piece) = self.pieces.get(placed.piece) else { return };
        let radius_px = self.canvas.focal * piece.scale.max_element() / placed.centre.length().max(NEAR);
        let level = mesh::level(radius_px);
        let solid = match piece.form {
            Form::Plane => {
                let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| placed.camera_from_piece * axis);
                let plane = Plane {
                    centre: placed.centre,
                    axes,
                    half_sizes: [piece.scale.x, piece.scale.y],
                    rgb: piece.rgb,
                    opacity: piece.opacity,
                };
                let [all, above, _, sun] = LIGHTS;
                let light = all + above * axes[2].dot(up) + sun + 0.04;
                return plane.draw(&mut self.canvas, light.min(1.0));
            }
            Form::Capsule => &self.solids.capsules[level],
            Form::Cylinder => &self.solids.cylinders[level],
            Form::Cube => &self.solids.cube,
            Form::Mesh(place) => &self.meshes[place],
        };
        place_corners(&mut self.vertices, &self.canvas, solid, piece, placed);
        let bright = piece.rgb.map(|part| part.clamp(0.0, 1.0) * 255.0);
        if piece.opacity < 1.0 {
            let opacity = piece.opacity;
            paint(&mut self.canvas, solid, &self.vertices, false, |pixel, _, [light]| {
                for (part, bright) in pixel.iter_mut().zip(bright) {
                    let under = f32::from(*part);
                    *part = (under + opacity * (bright * light - under)) as u8;
                }
            });
        } else {
            paint(&mut self.canvas, solid, &self.vertices, true, |pixel, _, [light]| {
                *pixel = bright.map(|bright| (bright * light) as u8);
            });
        }
    }

    /// Brings the canvas into the picture.
    fn finish(&mut self) -> &Image {
        let (samples, width) = (self.samples, self.canvas.width);
        if samples == 1 {
            self.image.rgb.copy_from_slice(self.canvas.rgb.as_flattened());
            return &self.image;
        }
        let count = (samples * samples) as u32;
        for (place, pixel) in self.image.rgb.chunks_exact_mut(3).enumerate() {
            let (x, y) = (place % self.image.width * samples, place / self.image.width * samples);
            let mut sums = [count / 2; 3];
            for row in y..y + samples {
                for sample in &self.canvas.rgb[row * width + x..row * width + x + samples] {
                    sums.iter_mut().zip(sample).for_each(|(sum, part)| *sum += u32::from(*part));
                }
            }
            pixel.copy_from_slice(&sums.map(|sum| (sum / count) as u8));
        }
        &self.image
    }
}

/// Position and unit quaternion, where both are finite.
fn frame(pose: &Pose) -> Option<(DVec3, DQuat)> {
    let ([w, x, y, z], position) = (pose.quat, DVec3::from(pose.pos));
    let turn = DQuat::from_xyzw(x, y, z, w);
    let length = turn.length();
    (position.is_finite() && length.is_finite() && length > 1e-9).then(|| (position, turn * (1.0 / length)))
}

/// Brings the corners of a solid into the camera's frame, with the light on them, and on the screen.
fn place_corners(
    vertices: &mut Vec<(Vertex<1>, Option<Spot<1>>)>,
    canvas: &Canvas,
    solid: &Solid,
    piece: &Piece,
    placed: &Placed,
) {
    let [all, above, head, sun] = LIGHTS;
    let world_to_piece = placed.world_from_piece.inverse();
    let sun_ray = world_to_piece * SUN.normalize() * sun;
    let to_camera = placed.camera_from_piece.transpose() * (-placed.centre).normalize_or_zero();
    let soft = world_to_piece * Vec3::Z * above + to_camera * head;
    let shrink = piece.scale.map(|size| if size > 0.0 { 1.0 / size } else { 1.0 });
    vertices.clear();
    vertices.extend(solid.corners.iter().map(|corner| {
        let mut local = corner.point * piece.scale;
        local.z += corner.end * piece.lift;
        let normal = (corner.normal * shrink).normalize_or_zero();
        let light = (all + soft.dot(normal) + sun_ray.dot(normal).max(0.0)).clamp(0.0, 1.0);
        let vertex = Vertex { point: placed.camera_from_piece * local + placed.centre, values: [light] };
        (vertex, (vertex.point.x >= NEAR).then(|| canvas.spot(&vertex, false)))
    }));
}

/// Draws the faces of a solid whose corners have been placed.
fn paint(
    canvas: &mut Canvas,
    solid: &Solid,
    vertices: &[(Vertex<1>, Option<Spot<1>>)],
    keep_depth: bool,
    paint: impl Fn(&mut [u8; 3], f32, [f32; 1]),
) {
    for face in &solid.faces {
        let [Some(a), Some(b), Some(c)] = face.map(|place| vertices.get(place as usize)) else { continue };
        if let (Some(a), Some(b), Some(c)) = (a.1, b.1, c.1) {
            canvas.triangle(&[a, b, c], keep_depth, &paint);
        } else {
            canvas.clipped(&[a.0, b.0, c.0], false, keep_depth, &paint);
        }
    }
}

#[cfg(test)]
mod tests;
