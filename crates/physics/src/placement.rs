//! Moving what cannot move by itself: bodies without joints, and the geoms of such bodies and of the world.

use std::ops::Range;

use mujoco_rs::wrappers::{MjModel, MjtSameFrame};

use crate::{
    id::{BodyId, GeomId},
    model::{Model, at},
    parameter::Parameter,
    pose::Pose,
    sim::Sim,
};

impl Model {
    /// Whether a body is fixed in the world: neither it nor a body above it has a joint or is placed by a mocap pose.
    pub fn is_fixed(&self, body: BodyId) -> bool {
        self.compiled().body_weldid()[body.index()] == 0
    }
}

impl Sim {
    /// Current pose of a body that is fixed in the world, world frame; `None` if it can move by itself.
    pub fn fixed_body_pose(&self, body: BodyId) -> Option<Pose> {
        self.model.is_fixed(body).then(|| self.pose_of_fixed(body))
    }

    /// Current pose of a geom of a body that is fixed in the world, world frame; `None` if the body can move by itself.
    pub fn fixed_geom_pose(&self, geom: GeomId) -> Option<Pose> {
        Some(self.fixed_body_pose(self.model.geom_body(geom))?.then(&self.local_geom_pose(geom)))
    }

    /// Moves a body that is fixed in the world, with everything that is attached to it, to `pose` (world frame), until the
    /// next [`reset`](Self::reset). Returns `false` if it can move by itself, or is the world.
    pub fn move_fixed_body(&mut self, body: BodyId, pose: Pose) -> bool {
        let movable = body != BodyId::WORLD && self.model.is_fixed(body);
        if movable {
            let parent = self.pose_of_fixed(self.model.body_parent(body));
            self.write_body_pose(body, parent.inverse().then(&pose));
        }
        movable
    }

    /// Moves a geom of a body that is fixed in the world to `pose` (world frame), until the next [`reset`](Self::reset).
    /// Returns `false` if the body can move by itself.
    pub fn move_fixed_geom(&mut self, geom: GeomId, pose: Pose) -> bool {
        let body = self.fixed_body_pose(self.model.geom_body(geom));
        if let Some(body) = body {
            self.write_geom_pose(geom, body.inverse().then(&pose));
        }
        body.is_some()
    }

    /// The geoms that have been moved since the last reset, with their poses in the frame of their bodies.
    pub fn moved_geoms(&self) -> impl Iterator<Item = (GeomId, Pose)> + '_ {
        let moved = self.tuned.range((Parameter::GeomPose, 0)..=(Parameter::GeomPose, u32::MAX));
        moved.map(|&(_, geom)| (GeomId(geom), self.local_geom_pose(GeomId(geom))))
    }

    /// Returns everything that has been moved to where it was compiled.
    pub(crate) fn return_moved(&mut self) {
        let bodies = (Parameter::BodyPose, 0)..=(Parameter::BodyPose, u32::MAX);
        for (_, body) in self.tuned.extract_if(bodies, |_| true).collect::<Vec<_>>() {
            let start = self.model.body_pose(BodyId(body));
            set_body_pose(self.tune(), BodyId(body), start);
        }
        let geoms = (Parameter::GeomPose, 0)..=(Parameter::GeomPose, u32::MAX);
        for (_, geom) in self.tuned.extract_if(geoms, |_| true).collect::<Vec<_>>() {
            let (geom, model) = (GeomId(geom), self.model.clone());
            let same_frame = model.compiled().geom_sameframe()[geom.index()];
            let own = self.tune();
            set_geom_pose(own, geom, model.geom_pose(geom));
            own.geom_sameframe_mut()[geom.index()] = same_frame;
            self.fit_bounds(model.geom_body(geom));
        }
    }

    /// Current pose of a body in its parent's frame.
    pub(crate) fn local_body_pose(&self, body: BodyId) -> Pose {
        let model = self.data.model();
        Pose { pos: model.body_pos()[body.index()], quat: model.body_quat()[body.index()] }
    }

    /// Current pose of a geom in its body's frame.
    pub(crate) fn local_geom_pose(&self, geom: GeomId) -> Pose {
        let model = self.data.model();
        Pose { pos: model.geom_pos()[geom.index()], quat: model.geom_quat()[geom.index()] }
    }

    /// Sets the pose of a fixed body in its parent's frame.
    pub(crate) fn write_body_pose(&mut self, body: BodyId, pose: Pose) {
        self.tuned.insert((Parameter::BodyPose, body.0));
        set_body_pose(self.tune(), body, pose.normalized());
    }

    /// Sets the pose of a geom in the frame of its body, which is fixed.
    pub(crate) fn write_geom_pose(&mut self, geom: GeomId, pose: Pose) {
        self.tuned.insert((Parameter::GeomPose, geom.0));
        let own = self.tune();
        set_geom_pose(own, geom, pose.normalized());
        // the engine would take the body's frame for its own
        own.geom_sameframe_mut()[geom.index()] = MjtSameFrame::mjSAMEFRAME_NONE;
        self.fit_bounds(self.model.geom_body(geom));
    }

    fn pose_of_fixed(&self, body: BodyId) -> Pose {
        if body == BodyId::WORLD {
            return Pose::IDENTITY;
        }
        self.pose_of_fixed(self.model.body_parent(body)).then(&self.local_body_pose(body))
    }

    /// Updates the tree of bounding boxes in which the engine looks for the geoms of a body that may touch something.
    fn fit_bounds(&mut self, body: BodyId) {
        let model = self.model.clone();
        let compiled = model.compiled();
        let nodes = bounding_boxes(compiled, body);
        let moved: Vec<(GeomId, Bounds)> = self
            .moved_geoms()
            .filter(|(geom, _)| model.geom_body(*geom) == body)
            .map(|(geom, pose)| (geom, Bounds::of_geom(compiled, body, geom, &pose)))
            .collect();
        let boxes = &mut self.tune().bvh_aabb_mut()[nodes.clone()];
        boxes.copy_from_slice(&compiled.bvh_aabb()[nodes.clone()]);
        if moved.is_empty() {
            return;
        }
        // the children of a node come after it
        for node in (0..boxes.len()).rev() {
            let geom = compiled.bvh_nodeid()[nodes.start + node];
            if let Some((_, bounds)) = moved.iter().find(|(moved, _)| GeomId::of(geom) == Some(*moved)) {
                boxes[node] = bounds.to_box();
            } else if geom < 0 {
                let children = compiled.bvh_child()[nodes.start + node].map(|child| Bounds::of_box(&boxes[at(child)]));
                boxes[node] = children[0].union(&children[1]).to_box();
            }
        }
    }
}

fn set_body_pose(own: &mut MjModel, body: BodyId, pose: Pose) {
    own.body_pos_mut()[body.index()] = pose.pos;
    own.body_quat_mut()[body.index()] = pose.quat;
}

fn set_geom_pose(own: &mut MjModel, geom: GeomId, pose: Pose) {
    own.geom_pos_mut()[geom.index()] = pose.pos;
    own.geom_quat_mut()[geom.index()] = pose.quat;
}

/// Indices of a body's bounding boxes.
fn bounding_boxes(compiled: &MjModel, body: BodyId) -> Range<usize> {
    let start = at(compiled.body_bvhadr()[body.index()]);
    start..start + at(compiled.body_bvhnum()[body.index()])
}

/// An axis-aligned box: its lowest and its highest corner.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    min: [f64; 3],
    max: [f64; 3],
}

impl Bounds {
    /// From the engine's form: centre, then half lengths.
    fn of_box(&[x, y, z, a, b, c]: &[f64; 6]) -> Self {
        Self { min: [x - a, y - b, z - c], max: [x + a, y + b, z + c] }
    }

    /// The box around a geom with this pose, in the frame of the body's inertia, as the engine wants it.
    fn of_geom(compiled: &MjModel, body: BodyId, geom: GeomId, pose: &Pose) -> Self {
        let inertia = Pose { pos: compiled.body_ipos()[body.index()], quat: compiled.body_iquat()[body.index()] };
        let frame = inertia.inverse().then(pose);
        let [x, y, z, a, b, c] = compiled.geom_aabb()[geom.index()];
        let centre = frame.turn([x, y, z]);
        let centre: [f64; 3] = std::array::from_fn(|i| centre[i] + frame.pos[i]);
        let sides = [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]].map(|side| frame.turn(side));
        let half: [f64; 3] = std::array::from_fn(|i| sides.iter().map(|side| side[i].abs()).sum());
        Self { min: std::array::from_fn(|i| centre[i] - half[i]), max: std::array::from_fn(|i| centre[i] + half[i]) }
    }

    fn union(&self, other: &Self) -> Self {
        Self {
            min: std::array::from_fn(|i| self.min[i].min(other.min[i])),
            max: std::array::from_fn(|i| self.max[i].max(other.max[i])),
        }
    }

    /// The engine's form, with a margin for rounding errors.
    fn to_box(self) -> [f64; 6] {
        let middle = |i: usize| f64::midpoint(self.min[i], self.max[i]);
        let half = |i: usize| (self.max[i] - self.min[i]) / 2.0 * (1.0 + 1e-9) + middle(i).abs() * 1e-9 + 1e-9;
        [middle(0), middle(1), middle(2), half(0), half(1), half(2)]
    }
}

#[cfg(test)]
mod tests;
