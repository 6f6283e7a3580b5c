//! What a model looks like: shapes and colours for renderers.

use std::sync::Arc;

use mujoco_rs::{
    mujoco_c::mjtTextureRole,
    wrappers::{MjModel, MjtGeomBase, MjtObjBase},
};

use crate::{
    id::GeomId,
    model::{Model, Shape, at},
    pose::Pose,
};

/// A shape to draw, fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Visual {
    /// Index of the body in [`Model::bodies`](crate::Model::bodies); 0 is the world.
    pub body: usize,
    /// Pose in the body's frame.
    pub pose: Pose,
    /// Shape, about the origin of `pose`.
    pub shape: VisualShape,
    /// Red, green, blue and opacity, each 0 to 1. A texture is replaced by its mean colour.
    pub rgba: [f32; 4],
    /// Name of its material as written in the model, without a prefix.
    pub material: Option<Arc<str>>,
}

impl Visual {
    /// Whether this is what is visible of a geom of the same assembly: both have the same shape at the same place.
    pub fn shows(&self, model: &Model, geom: GeomId) -> bool {
        let (pose, compiled) = (model.geom_pose(geom), model.compiled());
        let is_close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < SAME_PLACE);
        let kind = compiled.geom_type()[geom.index()];
        let is_same_shape = match primitive(kind, compiled.geom_size()[geom.index()]) {
            Some(shape) => self.shape == shape,
            None => matches!(self.shape, VisualShape::Mesh(_)) && model.geom_shape(geom) != Shape::Other,
        };
        self.body == model.geom_body(geom).index()
            && is_same_shape
            && is_close(&self.pose.pos, &pose.pos)
            && is_close(&self.pose.quat, &pose.quat)
    }
}

/// Shape of a [`Visual`], about the origin of its pose. Lengths are in m.
#[derive(Clone, Debug, PartialEq)]
pub enum VisualShape {
    /// A rectangle in the xy plane, visible from above.
    Plane {
        /// Half lengths along x and y; 0 means infinite.
        half_sizes: [f64; 2],
    },
    /// A sphere.
    Sphere {
        /// Radius, in m.
        radius: f64,
    },
    /// A cylinder along z with a hemisphere on either end.
    Capsule {
        /// Radius of the cylinder and of the hemispheres.
        radius: f64,
        /// Half length of the cylinder, without the hemispheres.
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius, in m.
        radius: f64,
        /// Half length, in m.
        half_length: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Radii along x, y and z.
        radii: [f64; 3],
    },
    /// A box.
    Box {
        /// Half lengths along x, y and z.
        half_sizes: [f64; 3],
    },
    /// Triangles; those of a height field are its surface, without its sides.
    Mesh(Arc<Mesh>),
}

/// Triangles. All visuals of one source that use a mesh share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Vertices, in m.
    pub vertices: Vec<[f32; 3]>,
    /// Indices of three vertices each, counter-clockwise seen from outside.
    pub faces: Vec<[u32; 3]>,
}

/// The first geom group that is not shown.
const FIRST_HIDDEN_GROUP: i32 = 3;

/// Difference of poses that rounding makes.
const SAME_PLACE: f64 = 1e-9;

/// Colour of a geom that has none of its own.
const NO_COLOUR: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

/// The visible geoms of a model, sorted by body: those of the groups 0 to 2 that are not fully transparent.
pub(crate) fn visuals_of(model: &MjModel) -> Vec<Visual> {
    let materials: Vec<Material> = (0..model.mat_rgba().len()).map(|index| Material::of(model, index)).collect();
    let (meshes, fields) = (model.mesh_vertadr().len(), model.hfield_adr().len());
    let meshes: Vec<Arc<Mesh>> = (0..meshes).map(|index| Arc::new(mesh(model, index))).collect();
    let fields: Vec<Arc<Mesh>> = (0..fields).map(|index| Arc::new(height_field(model, index))).collect();
    let visual = |geom: usize| {
        if model.geom_group()[geom] >= FIRST_HIDDEN_GROUP {
            return None;
        }
        let material = usize::try_from(model.geom_matid()[geom]).ok().and_then(|index| materials.get(index));
        let own = model.geom_rgba()[geom];
        // as in the engine, a geom's own colour takes precedence over that of its material
        let rgba = material.filter(|_| own == NO_COLOUR).map_or(own, |material| material.rgba);
        let (size, data) = (model.geom_size()[geom], at(model.geom_dataid()[geom]));
        let shape = match model.geom_type()[geom] {
            // both are made of triangles; they only collide differently
            MjtGeomBase::mjGEOM_MESH | MjtGeomBase::mjGEOM_SDF => VisualShape::Mesh(meshes.get(data)?.clone()),
            MjtGeomBase::mjGEOM_HFIELD => VisualShape::Mesh(fields.get(data)?.clone()),
            kind => primitive(kind, size)?,
        };
        let pose = Pose { pos: model.geom_pos()[geom], quat: model.geom_quat()[geom] };
        let material = material.map(|material| material.name.clone());
        (rgba[3] > 0.0).then(|| Visual { body: at(model.geom_bodyid()[geom]), pose, shape, rgba, material })
    };
    // the engine keeps geoms in the order of their bodies
    (0..model.geom_type().len()).filter_map(visual).collect()
}

fn primitive(kind: MjtGeomBase, size: [f64; 3]) -> Option<VisualShape> {
    let [radius, half_length, _] = size;
    Some(match kind {
        MjtGeomBase::mjGEOM_PLANE => VisualShape::Plane { half_sizes: [size[0], size[1]] },
        MjtGeomBase::mjGEOM_SPHERE => VisualShape::Sphere { radius },
        MjtGeomBase::mjGEOM_CAPSULE => VisualShape::Capsule { radius, half_length },
        MjtGeomBase::mjGEOM_CYLINDER => VisualShape::Cylinder { radius, half_length },
        MjtGeomBase::mjGEOM_ELLIPSOID => VisualShape::Ellipsoid { radii: size },
        MjtGeomBase::mjGEOM_BOX => VisualShape::Box { half_sizes: size },
        // other kinds appear only in the engine's own renderer
        _ => return None,
    })
}

/// Name and colour of a material.
struct Material {
    name: Arc<str>,
    rgba: [f32; 4],
}

impl Material {
    fn of(model: &MjModel, index: usize) -> Self {
        let roles = [mjtTextureRole::mjTEXROLE_RGB, mjtTextureRole::mjTEXROLE_RGBA];
        let texture = roles.iter().find_map(|&role| usize::try_from(model.mat_texid()[index][role as usize]).ok());
        let tint = texture.and_then(|texture| mean_colour(model, texture)).unwrap_or([1.0; 3]);
        let [red, green, blue, opacity] = model.mat_rgba()[index];
        let rgba = [red * tint[0], green * tint[1], blue * tint[2], opacity];
        Self { name: model.id_to_name(MjtObjBase::mjOBJ_MATERIAL, index).unwrap_or_default().into(), rgba }
    }
}

/// Mean of a texture's pixels, each component 0 to 1; `None` if it has no colours or its pixels are not in the model.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a colour has no more than eight bits"
)]
fn mean_colour(model: &MjModel, texture: usize) -> Option<[f32; 3]> {
    let start = usize::try_from(model.tex_adr()[texture]).ok()?;
    let [rows, columns, channels] =
        [model.tex_height(), model.tex_width(), model.tex_nchannel()].map(|s| at(s[texture]));
    if rows * columns == 0 || channels < 3 {
        return None;
    }
    let pixels = model.tex_data().get(start..start + rows * columns * channels)?;
    let mut sums = [0_u64; 3];
    for pixel in pixels.chunks_exact(channels) {
        for (sum, component) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(*component);
        }
    }
    Some(sums.map(|sum| (sum as f64 / (255 * rows * columns) as f64) as f32))
}

fn mesh(model: &MjModel, index: usize) -> Mesh {
    let (first, count) = (at(model.mesh_vertadr()[index]), at(model.mesh_vertnum()[index]));
    let vertices = model.mesh_vert().get(first..first + count).unwrap_or_default().to_vec();
    let (first, count) = (at(model.mesh_faceadr()[index]), at(model.mesh_facenum()[index]));
    let faces = model.mesh_face().get(first..first + count).unwrap_or_default();
    Mesh { vertices, faces: faces.iter().map(|face| face.map(i32::cast_unsigned)).collect() }
}

/// The surface of a height field: two triangles for each cell of its grid.
#[expect(clippy::cast_possible_truncation, reason = "the engine's heights have the same precision")]
fn height_field(model: &MjModel, index: usize) -> Mesh {
    let (rows, columns) = (model.hfield_nrow()[index].cast_unsigned(), model.hfield_ncol()[index].cast_unsigned());
    let ([x, y, top, _], first) = (model.hfield_size()[index], at(model.hfield_adr()[index]));
    let along = |half: f64, index: u32, count: u32| half * (2.0 * f64::from(index) / f64::from(count.max(2) - 1) - 1.0);
    let points = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let heights = model.hfield_data().get(first..).unwrap_or_default();
    let vertices = points.zip(heights).map(|((row, column), &height)| {
        [along(x, column, columns), along(y, row, rows), top * f64::from(height)].map(|value| value as f32)
    });
    let cells = (1..rows).flat_map(|row| (1..columns).map(move |column| row * columns + column));
    let faces = cells.flat_map(|far| {
        let (near, left, below) = (far - columns - 1, far - 1, far - columns);
        [[near, below, far], [near, far, left]]
    });
    Mesh { vertices: vertices.collect(), faces: faces.collect() }
}
