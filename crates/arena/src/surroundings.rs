//! What a robot can collide with or sense.

use glam::DVec2;

use crate::{
    Plan, Pose, RobotId,
    ground::{Barrier, Ground},
    robot::{GroupMember, PhysicalState, Robots},
    solid::{Bounds, Solid},
    transform::{Transform, angle_from_dir},
};

/// Everything a robot can collide with or sense: the world and the other robots of its group.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) robots: &'a Robots,
    /// The group's robots; may include the robot itself.
    pub(crate) others: &'a [GroupMember],
    /// The robot itself.
    pub(crate) me: RobotId,
}

impl<'a> Surroundings<'a> {
    /// Placed robots other than `me` whose bounds pass the test.
    #[inline]
    pub(crate) fn others(&self, passes: impl Fn(&Bounds) -> bool) -> impl Iterator<Item = &'a PhysicalState> {
        let (robots, me) = (self.robots, self.me);
        let others = self.others.iter().filter(move |other| passes(&other.bounds) && other.id != me);
        others.filter_map(move |other| robots.get(other.id)?.state.as_ref()).filter(|state| !state.is_unplaced)
    }

    /// The robot's own state; `None` before its first shape.
    pub(crate) fn own(&self) -> Option<&'a PhysicalState> {
        self.robots.get(self.me)?.state.as_ref()
    }

    /// Visits obstacles and other robots that may intersect `bounds`, without the walls.
    #[inline]
    pub(crate) fn each_solid(&self, bounds: &Bounds, mut visit: impl FnMut(&Solid)) {
        let scene = &self.plan.scene;
        scene.index.visit(
            |bucket| bucket.intersects(bounds),
            |_, index| {
                if index < scene.obstacles {
                    visit(&scene.solids[index]);
                }
            },
        );
        for other in self.others(|other| other.intersects(bounds)) {
            other.solids.iter().filter(|solid| solid.bounds.intersects(bounds)).for_each(&mut visit);
        }
    }

    /// Visits barriers that may intersect `bounds`, with their index.
    #[inline]
    pub(crate) fn each_barrier(&self, bounds: &Bounds, mut visit: impl FnMut(&Ground, &Barrier, usize)) {
        let ground = &self.plan.scene.ground;
        if !ground.barriers.is_empty() {
            let is_near = |bucket: &Bounds| bucket.intersects(bounds);
            ground.barrier_index.visit(is_near, |_, index| visit(ground, &ground.barriers[index], index));
        }
    }

    pub(crate) fn transform(&self, pose: Pose) -> Transform {
        Transform::new(DVec2::new(pose.x, pose.y), angle_from_dir(self.plan.rules(), pose.dir))
    }
}
