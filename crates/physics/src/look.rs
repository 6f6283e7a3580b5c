//! What a model looks like: shapes and colours, for those who draw it.

use std::sync::Arc;

use mujoco_rs::{
    mujoco_c::mjtTextureRole,
    wrappers::{MjModel, MjtGeomBase, MjtObjBase},
};

use crate::{model::at, pose::Pose};

/// Something to draw, fixed to a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Place of the body in [`Model::bodies`](crate::Model::bodies); 0 is the world.
    pub body: usize,
    /// Where it is on the body.
    pub pose: Pose,
    /// Its shape.
    pub shape: LookShape,
    /// Red, green, blue and opacity, each 0 to 1. What is covered with a picture has the picture's mean colour.
    pub rgba: [f32; 4],
    /// Name of its material as its author wrote it, without the prefix of the part.
    pub material: Option<Arc<str>>,
}

/// Shape of something to draw, about the origin of its pose. Lengths are in m.
#[derive(Clone, Debug, PartialEq)]
pub enum LookShape {
    /// A rectangle in the plane of x and y, seen from above.
    Plane {
        /// Half lengths along x and y; 0 is without end.
        half_sizes: [f64; 2],
    },
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f64,
    },
    /// A cylinder along z with half a ball on either end.
    Capsule {
        /// Radius of the cylinder and of the balls.
        radius: f64,
        /// Half length of the cylinder, the balls not counted.
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Its radius.
        radius: f64,
        /// Half its length.
        half_length: f64,
    },
    /// A ball with three radii.
    Ellipsoid {
        /// Along x, y and z.
        radii: [f64; 3],
    },
    /// A box.
    Box {
        /// Half lengths along x, y and z.
        half_sizes: [f64; 3],
    },
    /// Triangles; those of a height field are the ground, without its sides.
    Mesh(Arc<Mesh>),
}

/// Triangles. All looks of one source that use a mesh share it.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    /// Corners, in m.
    pub vertices: Vec<[f32; 3]>,
    /// Places of three corners each, counter-clockwise seen from outside.
    pub faces: Vec<[u32; 3]>,
}

/// The first group that is not shown.
const FIRST_HIDDEN_GROUP: i32 = 3;

/// Colour of a geom whose author gave none.
const NO_COLOUR: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

/// All that can be seen in a model, by body: geoms of the groups 0 to 2 that are not fully transparent.
pub(crate) fn looks_of(model: &MjModel) -> Vec<Look> {
    let materials: Vec<Material> = (0..model.mat_rgba().len()).map(|index| Material::of(model, index)).collect();
    let (meshes, fields) = (model.mesh_vertadr().len(), model.hfield_adr().len());
    let meshes: Vec<Arc<Mesh>> = (0..meshes).map(|index| Arc::new(mesh(model, index))).collect();
    let fields: Vec<Arc<Mesh>> = (0..fields).map(|index| Arc::new(height_field(model, index))).collect();
    let look = |geom: usize| {
        if model.geom_group()[geom] >= FIRST_HIDDEN_GROUP {
            return None;
        }
        let material = usize::try_from(model.geom_matid()[geom]).ok().and_then(|index| materials.get(index));
        let own = model.geom_rgba()[geom];
        // as the engine has it: a colour of the geom's own comes before that of its material
        let rgba = material.filter(|_| own == NO_COLOUR).map_or(own, |material| material.rgba);
        let (size, data) = (model.geom_size()[geom], at(model.geom_dataid()[geom]));
        let shape = match model.geom_type()[geom] {
            // made of triangles both; the second one touches differently
            MjtGeomBase::mjGEOM_MESH | MjtGeomBase::mjGEOM_SDF => LookShape::Mesh(meshes.get(data)?.clone()),
            MjtGeomBase::mjGEOM_HFIELD => LookShape::Mesh(fields.get(data)?.clone()),
            kind => primitive(kind, size)?,
        };
        let pose = Pose { pos: model.geom_pos()[geom], quat: model.geom_quat()[geom] };
        let material = material.map(|material| material.name.clone());
        (rgba[3] > 0.0).then(|| Look { body: at(model.geom_bodyid()[geom]), pose, shape, rgba, material })
    };
    // the engine keeps geoms in the order of their bodies
    (0..model.geom_type().len()).filter_map(look).collect()
}

fn primitive(kind: MjtGeomBase, size: [f64; 3]) -> Option<LookShape> {
    let [radius, half_length, _] = size;
    Some(match kind {
        MjtGeomBase::mjGEOM_PLANE => LookShape::Plane { half_sizes: [size[0], size[1]] },
        MjtGeomBase::mjGEOM_SPHERE => LookShape::Sphere { radius },
        MjtGeomBase::mjGEOM_CAPSULE => LookShape::Capsule { radius, half_length },
        MjtGeomBase::mjGEOM_CYLINDER => LookShape::Cylinder { radius, half_length },
        MjtGeomBase::mjGEOM_ELLIPSOID => LookShape::Ellipsoid { radii: size },
        MjtGeomBase::mjGEOM_BOX => LookShape::Box { half_sizes: size },
        // only the engine's own drawings have others
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

/// Mean of a texture's pixels, each part 0 to 1; none when it has no colours or its pixels are not in the model.
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
        for (sum, part) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(*part);
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

/// The ground of a height field: two triangles between each four neighbours of its grid.
#[expect(clippy::cast_possible_truncation, reason = "as exact as the engine keeps heights")]
fn height_field(model: &MjModel, index: usize) -> Mesh {
    let (rows, columns) = (model.hfield_nrow()[index].cast_unsigned(), model.hfield_ncol()[index].cast_unsigned());
    let ([x, y, top, _], first) = (model.hfield_size()[index], at(model.hfield_adr()[index]));
    let along = |half: f64, place: u32, count: u32| half * (2.0 * f64::from(place) / f64::from(count.max(2) - 1) - 1.0);
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let heights = model.hfield_data().get(first..).unwrap_or_default();
    let vertices = places.zip(heights).map(|((row, column), &height)| {
        [along(x, column, columns), along(y, row, rows), top * f64::from(height)].map(|value| value as f32)
    });
    let cells = (1..rows).flat_map(|row| (1..columns).map(move |column| row * columns + column));
    let faces = cells.flat_map(|far| {
        let (near, left, below) = (far - columns - 1, far - 1, far - columns);
        [[near, below, far], [near, far, left]]
    });
    Mesh { vertices: vertices.collect(), faces: faces.collect() }
}
