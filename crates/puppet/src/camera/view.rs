//! Renders the scene as a camera sees it.

use std::sync::Arc;

use glam::{DQuat, DVec3, Mat3, Quat, Vec3};
use physics::{Pose, Visual, VisualShape};
use world::Snapshot;

use super::{
    ground::{Plane, Sky},
    image::{Image, MAX_SIDE},
    mesh::{self, TriangleMesh, UnitShapes},
    mipmap::MipmapCache,
    raster::{Canvas, NEAR, ScreenVertex, Vertex},
};

/// Maximum number of samples along each side of a pixel.
pub const MAX_SAMPLES: usize = 4;
/// Smallest and largest field of view, in degrees.
const FOV_DEG: (f64, f64) = (1.0, 170.0);
/// Direction of the sun, world frame; not normalised.
const SUN: Vec3 = Vec3::new(0.35, 0.25, 0.9);
/// Brightness of the ambient light, and of the light from above, from the camera and from the sun.
const LIGHTS: [f32; 4] = [0.54, 0.1, 0.18, 0.3];

/// A pinhole camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Pose in the world frame, in m: x points forward, y to the left of the image, z up.
    pub pose: Pose,
    /// Vertical field of view, in degrees, 1 to 170.
    pub vertical_fov_deg: f64,
}

impl Camera {
    /// Projects a point (m, world frame) into an image of this size: pixels from the left and from the top, possibly
    /// outside the image. `None` behind the camera.
    pub fn pixel_of(&self, point: [f64; 3], width: usize, height: usize) -> Option<[f64; 2]> {
        let [forward, left, up] = self.pose.inverse().then(&Pose { pos: point, ..Pose::IDENTITY }).pos;
        let scale = self.focal(height) / forward;
        let pixel = [width as f64 / 2.0 - left * scale, height as f64 / 2.0 - up * scale];
        (forward > 0.0 && pixel.iter().all(|part| part.is_finite())).then_some(pixel)
    }

    /// The ray through a pixel (from the left and from the top) of an image of this size, as a unit vector in the world
    /// frame.
    pub fn ray_of(&self, pixel: [f64; 2], width: usize, height: usize) -> [f64; 3] {
        let focal = self.focal(height);
        let (left, up) = ((width as f64 / 2.0 - pixel[0]) / focal, (height as f64 / 2.0 - pixel[1]) / focal);
        let length = (1.0 + left * left + up * up).sqrt();
        self.pose.turn([1.0 / length, left / length, up / length])
    }

    /// Focal length, in pixels.
    fn focal(&self, height: usize) -> f64 {
        let fov =
            if self.vertical_fov_deg.is_finite() { self.vertical_fov_deg.clamp(FOV_DEG.0, FOV_DEG.1) } else { 60.0 };
        height as f64 / 2.0 / (fov.to_radians() / 2.0).tan()
    }
}

/// An image of a person in the scene, upright and turned towards the camera.
#[derive(Clone, Debug)]
pub struct Billboard {
    /// The image.
    pub picture: Arc<Image>,
    /// Centre, in m, world frame.
    pub position: [f64; 3],
    /// Width, in m; the height follows from the aspect ratio of the image.
    pub width_m: f64,
}

/// A look, ready to be drawn.
#[derive(Debug)]
struct Primitive {
    shape: PrimitiveShape,
    /// Size along each axis, in m.
    scale: Vec3,
    /// Distance of the ends of a capsule from its centre, in m.
    lift: f32,
    /// Radius of the bounding sphere, in m.
    reach: f32,
    rgb: [f32; 3],
    opacity: f32,
}

#[derive(Debug)]
enum PrimitiveShape {
    Plane,
    Capsule,
    Cylinder,
    Cube,
    /// Index into the renderer's meshes.
    Mesh(usize),
}

impl Primitive {
    fn of(look: &Visual, meshes: &mut Vec<TriangleMesh>) -> Self {
        let size = |sizes: [f64; 3]| Vec3::from(sizes.map(|size| size as f32));
        let (shape, scale, lift) = match &look.shape {
            VisualShape::Plane { half_sizes: [x, y] } => (PrimitiveShape::Plane, size([*x, *y, 0.0]), 0.0),
            VisualShape::Sphere { radius } => (PrimitiveShape::Capsule, size([*radius; 3]), 0.0),
            VisualShape::Capsule { radius, half_length } => {
                (PrimitiveShape::Capsule, size([*radius; 3]), *half_length as f32)
            }
            VisualShape::Cylinder { radius, half_length } => {
                (PrimitiveShape::Cylinder, size([*radius, *radius, *half_length]), 0.0)
            }
            VisualShape::Ellipsoid { radii } => (PrimitiveShape::Capsule, size(*radii), 0.0),
            VisualShape::Box { half_sizes } => (PrimitiveShape::Cube, size(*half_sizes), 0.0),
            VisualShape::Mesh(mesh) => {
                meshes.push(mesh::from_model(mesh));
                (PrimitiveShape::Mesh(meshes.len() - 1), Vec3::ONE, 0.0)
            }
        };
        let reach = match shape {
            PrimitiveShape::Plane if scale.x == 0.0 || scale.y == 0.0 => f32::INFINITY,
            PrimitiveShape::Capsule => scale.max_element() + lift,
            PrimitiveShape::Plane | PrimitiveShape::Cylinder | PrimitiveShape::Cube => scale.length(),
            PrimitiveShape::Mesh(index) => meshes[index].vertices.iter().map(|c| c.point.length()).fold(0.0, f32::max),
        };
        let [red, green, blue, opacity] = look.rgba;
        Self { shape, scale, lift, reach, rgb: [red, green, blue], opacity }
    }
}

/// A primitive in the camera frame.
struct PlacedPrimitive {
    primitive: usize,
    centre: Vec3,
    camera_from_primitive: Mat3,
    world_from_primitive: Quat,
}

/// Renders scenes, reusing its buffers from frame to frame.
#[derive(Debug)]
pub struct Renderer {
    samples: usize,
    image: Image,
    canvas: Canvas,
    sky: Sky,
    shapes: UnitShapes,
    /// What the primitives were built from.
    looks: Option<Arc<[Visual]>>,
    primitives: Vec<Primitive>,
    meshes: Vec<TriangleMesh>,
    vertices: Vec<(Vertex<1>, Option<ScreenVertex<1>>)>,
    mipmaps: MipmapCache,
}

impl Renderer {
    /// A renderer for images of this size, in pixels, 1 to [`MAX_SIDE`].
    pub fn new(width: usize, height: usize) -> Self {
        Self::with_samples(width, height, 1)
    }

    /// With antialiasing: each pixel is the mean of `samples` x `samples`, 1 to [`MAX_SAMPLES`].
    pub fn with_samples(width: usize, height: usize, samples: usize) -> Self {
        let image = Image::new(width, height);
        let most = MAX_SIDE / image.width.max(image.height);
        let samples = samples.clamp(1, MAX_SAMPLES).min(most.max(1));
        Self {
            samples,
            canvas: Canvas::new(image.width * samples, image.height * samples),
            image,
            sky: Sky::new(),
            shapes: UnitShapes::new(),
            looks: None,
            primitives: Vec::new(),
            meshes: Vec::new(),
            vertices: Vec::new(),
            mipmaps: MipmapCache::default(),
        }
    }

    /// Renders the world and `people`. Bodies for which `hide` returns true, called with their index in
    /// [`Catalogue::bodies`](world::Catalogue::bodies), are skipped, and so is everything without a finite position.
    pub fn render(
        &mut self,
        snapshot: &Snapshot,
        camera: &Camera,
        people: &[Billboard],
        hide: impl Fn(usize) -> bool,
    ) -> &Image {
        self.prepare(&snapshot.visuals);
        self.canvas.focal = camera.focal(self.canvas.height) as f32;
        let Some(eye) = frame(&camera.pose) else {
            self.sky.draw(&mut self.canvas, Vec3::Z);
            self.mipmaps.keep_only(&[]);
            return self.finish();
        };
        let camera_from_world = eye.1.inverse();
        let up = (camera_from_world * DVec3::Z).as_vec3();
        self.sky.draw(&mut self.canvas, up);
        let (mut clear, mut planes) = (Vec::new(), Vec::new());
        for (index, look) in snapshot.visuals.iter().enumerate() {
            if hide(look.body) {
                continue;
            }
            let Some(placed) = self.index(index, look, snapshot, eye) else { continue };
            match &self.primitives[index] {
                primitive if primitive.opacity < 1.0 => clear.push(placed),
                Primitive { shape: PrimitiveShape::Plane, .. } => planes.push(placed),
                _ => self.draw(&placed, up),
            }
        }
        self.mipmaps.keep_only(people);
        for person in people {
            self.mipmaps.draw(&mut self.canvas, person, eye);
        }
        // most of the ground is hidden, and hidden pixels are the cheapest
        planes.iter().for_each(|placed| self.draw(placed, up));
        // transparent surfaces are blended from back to front
        clear.sort_by(|a, b| b.centre.length_squared().total_cmp(&a.centre.length_squared()));
        for placed in &clear {
            self.draw(placed, up);
        }
        self.finish()
    }

    /// Makes primitives of new looks; most frames have the same as the one before.
    fn prepare(&mut self, looks: &Arc<[Visual]>) {
        if self.looks.as_ref().is_some_and(|known| Arc::ptr_eq(known, looks)) {
            return;
        }
        self.meshes.clear();
        self.primitives = looks.iter().map(|look| Primitive::of(look, &mut self.meshes)).collect();
        self.looks = Some(Arc::clone(looks));
    }

    /// Where a look is for the camera. `None` where it cannot be seen.
    fn index(&self, index: usize, look: &Visual, snapshot: &Snapshot, eye: (DVec3, DQuat)) -> Option<PlacedPrimitive> {
        let primitive = self.primitives.get(index)?;
        let (position, turn) = frame(&snapshot.visual_pose(look)?)?;
        let camera_from_world = eye.1.inverse();
        let centre = (camera_from_world * (position - eye.0)).as_vec3();
        self.in_sight(centre, primitive.reach).then(|| {
            let camera_from_primitive = Mat3::from_quat((camera_from_world * turn).as_quat());
            PlacedPrimitive { primitive: index, centre, camera_from_primitive, world_from_primitive: turn.as_quat() }
        })
    }

    /// Whether a sphere intersects the view frustum.
    fn in_sight(&self, centre: Vec3, reach: f32) -> bool {
        let beside = |offset: f32, pixels: usize| {
            let half = pixels as f32 / 2.0 / self.canvas.focal;
            // distance from the plane through the eye and the edge of the image
            (offset.abs() - centre.x * half) / (1.0 + half * half).sqrt() > reach
        };
        centre.x + reach > NEAR && !beside(centre.y, self.canvas.width) && !beside(centre.z, self.canvas.height)
    }

    fn draw(&mut self, placed: &PlacedPrimitive, up: Vec3) {
        let Some(primitive) = self.primitives.get(placed.primitive) else { return };
        let radius_px = self.canvas.focal * primitive.scale.max_element() / placed.centre.length().max(NEAR);
        let level = mesh::level(radius_px);
        let mesh = match primitive.shape {
            PrimitiveShape::Plane => {
                let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| placed.camera_from_primitive * axis);
                let plane = Plane {
                    centre: placed.centre,
                    axes,
                    half_sizes: [primitive.scale.x, primitive.scale.y],
                    rgb: primitive.rgb,
                    opacity: primitive.opacity,
                };
                let [all, above, _, sun] = LIGHTS;
                let light = all + above * axes[2].dot(up) + sun + 0.04;
                return plane.draw(&mut self.canvas, light.min(1.0));
            }
            PrimitiveShape::Capsule => &self.shapes.capsules[level],
            PrimitiveShape::Cylinder => &self.shapes.cylinders[level],
            PrimitiveShape::Cube => &self.shapes.cube,
            PrimitiveShape::Mesh(index) => &self.meshes[index],
        };
        project_vertices(&mut self.vertices, &self.canvas, mesh, primitive, placed);
        let bright = primitive.rgb.map(|part| part.clamp(0.0, 1.0) * 255.0);
        if primitive.opacity < 1.0 {
            let opacity = primitive.opacity;
            paint(&mut self.canvas, mesh, &self.vertices, false, |pixel, _, [light]| {
                for (part, bright) in pixel.iter_mut().zip(bright) {
                    let under = f32::from(*part);
                    *part = (under + opacity * (bright * light - under)) as u8;
                }
            });
        } else {
            paint(&mut self.canvas, mesh, &self.vertices, true, |pixel, _, [light]| {
                *pixel = bright.map(|bright| (bright * light) as u8);
            });
        }
    }

    /// Downsamples the canvas into the image.
    fn finish(&mut self) -> &Image {
        let (samples, width) = (self.samples, self.canvas.width);
        if samples == 1 {
            self.image.rgb.copy_from_slice(self.canvas.rgb.as_flattened());
            return &self.image;
        }
        let count = (samples * samples) as u32;
        for (index, pixel) in self.image.rgb.chunks_exact_mut(3).enumerate() {
            let (x, y) = (index % self.image.width * samples, index / self.image.width * samples);
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

/// Position and unit quaternion, if both are finite.
fn frame(pose: &Pose) -> Option<(DVec3, DQuat)> {
    let ([w, x, y, z], position) = (pose.quat, DVec3::from(pose.pos));
    let turn = DQuat::from_xyzw(x, y, z, w);
    let length = turn.length();
    (position.is_finite() && length.is_finite() && length > 1e-9).then(|| (position, turn * (1.0 / length)))
}

/// Transforms the vertices of a mesh into the camera frame, lights and projects them.
fn project_vertices(
    vertices: &mut Vec<(Vertex<1>, Option<ScreenVertex<1>>)>,
    canvas: &Canvas,
    mesh: &TriangleMesh,
    primitive: &Primitive,
    placed: &PlacedPrimitive,
) {
    let [all, above, head, sun] = LIGHTS;
    let primitive_from_world = placed.world_from_primitive.inverse();
    let sun_ray = primitive_from_world * SUN.normalize() * sun;
    let to_camera = placed.camera_from_primitive.transpose() * (-placed.centre).normalize_or_zero();
    let soft = primitive_from_world * Vec3::Z * above + to_camera * head;
    let shrink = primitive.scale.map(|size| if size > 0.0 { 1.0 / size } else { 1.0 });
    vertices.clear();
    vertices.extend(mesh.vertices.iter().map(|vertex| {
        let mut local = vertex.point * primitive.scale;
        local.z += vertex.end * primitive.lift;
        let normal = (vertex.normal * shrink).normalize_or_zero();
        let light = (all + soft.dot(normal) + sun_ray.dot(normal).max(0.0)).clamp(0.0, 1.0);
        let vertex = Vertex { point: placed.camera_from_primitive * local + placed.centre, values: [light] };
        (vertex, (vertex.point.x >= NEAR).then(|| canvas.project(&vertex, false)))
    }));
}

/// Draws the faces of a mesh whose vertices have been projected.
fn paint(
    canvas: &mut Canvas,
    mesh: &TriangleMesh,
    vertices: &[(Vertex<1>, Option<ScreenVertex<1>>)],
    keep_depth: bool,
    paint: impl Fn(&mut [u8; 3], f32, [f32; 1]),
) {
    for face in &mesh.faces {
        let [Some(a), Some(b), Some(c)] = face.map(|index| vertices.get(index as usize)) else { continue };
        if let (Some(a), Some(b), Some(c)) = (a.1, b.1, c.1) {
            canvas.triangle(&[a, b, c], keep_depth, &paint);
        } else {
            canvas.clipped(&[a.0, b.0, c.0], false, keep_depth, &paint);
        }
    }
}

#[cfg(test)]
mod tests;
