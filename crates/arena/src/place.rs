//! Places for robots: whether one is free, a random one, and the nearest free one.

use std::{
    cell::Cell,
    f64::consts::{FRAC_PI_2, PI, TAU},
};

use glam::DVec2;
use rand::{Rng, RngExt};

use crate::{
    Body, Material, Plan, Pose, RobotId,
    body::Part,
    gap::{Gap, Placed},
    ground::{Barrier, Ground, Plane},
    plan::{ARENA_SIZE, Drops},
    polygon::Piece,
    robot::{Member, Robots, Shaped},
    solid::{Bounds, Solid},
    stance::{Stance, angle_from_dir},
};

/// Overlap up to this is touching, in mm.
pub(crate) const TOUCH: f64 = 1e-6;
/// Random places that are tried before all are gone through.
const TRIES: usize = 256;
/// Places per side and directions, when all are gone through.
const RASTER: (usize, usize) = (40, 8);
/// How much farther than necessary a robot is pushed out, in mm.
const CLEARANCE: f64 = 1e-3;
const MAX_PUSHES: usize = 32;
/// How far away a free place is looked for, without a turn and with one.
const STRAIGHT: Rings = Rings { rays: 32, growth: 1.1, reach: 3000.0 };
const TURNED: Rings = Rings { rays: 16, growth: 1.3, reach: 300.0 };
/// Turns that are tried, both ways, up to a half turn.
const TURNS: usize = 18;
/// What may be worked before a search is given up, so that no shape can keep the world busy for long: about 1 ns each.
const MAX_WORK: usize = 20_000_000;
/// What it takes to place a part, and to get hold of an obstacle, in the same unit.
const PLACING: usize = 64;
const MEETING: usize = 64;
/// Angles of a quarter turn at which a large body is held against the arena.
const FITTINGS: u32 = 90;

/// Places on circles that become larger and larger.
struct Rings {
    rays: usize,
    growth: f64,
    /// In mm.
    reach: f64,
}

/// What a robot can meet.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) robots: &'a Robots,
    /// Robots that it shares the world with; it may be among them.
    pub(crate) others: &'a [Member],
    pub(crate) me: RobotId,
}

impl<'a> Around<'a> {
    /// Other robots that have a place, and whose bounds pass the test.
    #[inline]
    pub(crate) fn others(&self, passes: impl Fn(&Bounds) -> bool) -> impl Iterator<Item = &'a Shaped> {
        let (robots, me) = (self.robots, self.me);
        let others = self.others.iter().filter(move |other| passes(&other.bounds) && other.id != me);
        others.filter_map(move |other| robots.get(other.id)?.shaped.as_ref()).filter(|shaped| !shaped.is_lost)
    }

    /// The robot itself.
    pub(crate) fn own(&self) -> Option<&'a Shaped> {
        self.robots.get(self.me)?.shaped.as_ref()
    }

    /// Obstacles and other robots near a place, without the walls.
    #[inline]
    pub(crate) fn each_solid(&self, bounds: &Bounds, mut visit: impl FnMut(&Solid)) {
        let scene = &self.plan.scene;
        scene.blocks.visit(
            |block| block.meets(bounds),
            |_, index| {
                if index < scene.obstacles {
                    visit(&scene.solids[index]);
                }
            },
        );
        for other in self.others(|other| other.meets(bounds)) {
            other.solids.iter().filter(|solid| solid.bounds.meets(bounds)).for_each(&mut visit);
        }
    }

    /// Steps and slopes near a place, with their number.
    #[inline]
    pub(crate) fn each_barrier(&self, bounds: &Bounds, mut visit: impl FnMut(&Ground, &Barrier, usize)) {
        let ground = &self.plan.scene.ground;
        if !ground.barriers.is_empty() {
            let near = |block: &Bounds| block.meets(bounds);
            ground.barrier_blocks.visit(near, |_, index| visit(ground, &ground.barriers[index], index));
        }
    }

    fn stance(&self, pose: Pose) -> Stance {
        Stance::new(DVec2::new(pose.x, pose.y), angle_from_dir(self.plan.rules(), pose.dir))
    }
}

/// The plane under a body's feet.
pub(crate) fn stand(plan: &Plan, body: &Body, stance: &Stance) -> Plane {
    let feet = body.feet().iter().map(|foot| stance.world_from_body(*foot));
    plan.scene.ground.plane_under(stance.at, feet)
}

/// Whether the bottom layer is on deathly ground.
pub(crate) fn is_deathly(plan: &Plan, body: &Body, stance: &Stance) -> bool {
    let reach = Bounds { min: stance.at, max: stance.at }.grown(body.radius());
    let near = plan.scene.deathly.iter().filter(|piece| Bounds::of(&piece.points).meets(&reach));
    let bottom = || body.parts().iter().filter(|part| part.low == 0.0);
    near.into_iter()
        .any(|piece| bottom().any(|part| Placed::new(&part.piece, stance).separation(piece).distance < -TOUCH))
}

/// A body as others meet it.
pub(crate) fn solids(body: &Body, stance: &Stance, stand: &Plane, color: [u8; 3]) -> Vec<Solid> {
    let upright = Stance { at: DVec2::ZERO, heading: stance.heading };
    let solid = |part: &crate::body::Part| {
        let piece = Piece {
            points: part.piece.points.iter().map(|point| stance.world_from_body(*point)).collect(),
            normals: part.piece.normals.iter().map(|normal| upright.world_from_body(*normal)).collect(),
            outer: part.piece.outer,
        };
        Solid::new(piece, stand.height + part.low, stand.height + part.high, color, Material::WOOD)
    };
    body.parts().iter().map(solid).collect()
}

/// Which steps and slopes keep a body from a place.
#[derive(Debug)]
pub(crate) enum Edges {
    /// All that it would lie across.
    All,
    /// All but these.
    AllBut(Vec<usize>),
    /// None.
    Ignored,
}

impl Edges {
    /// For a jump: moves lead across an edge, where they lead down from it.
    pub(crate) fn of_jumps(plan: &Plan) -> Self {
        match plan.rules().drops {
            Drops::Fall => Self::Ignored,
            Drops::Block => Self::All,
        }
    }

    /// For another shape: what the robot lies across already does not count.
    fn of_new_shape(around: &Around<'_>) -> Self {
        let mut across = Vec::new();
        if let Some(own) = around.own() {
            let reach = Bounds { min: own.stance.at, max: own.stance.at }.grown(own.body.radius());
            around.each_barrier(&reach, |ground, barrier, index| {
                let lies_across = |part: &Part| {
                    let placed = Placed::new(&part.piece, &own.stance);
                    bars(ground, barrier, &own.stand, part) && placed.separation(&barrier.piece).distance < -TOUCH
                };
                if own.body.parts().iter().any(lies_across) {
                    across.push(index);
                }
            });
        }
        Self::AllBut(across)
    }

    fn count(&self, index: usize) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(across) => !across.contains(&index),
            Self::Ignored => false,
        }
    }
}

/// Whether a part cannot be put across a step or slope: nothing that stands on the ground can.
fn bars(ground: &Ground, barrier: &Barrier, stand: &Plane, part: &Part) -> bool {
    part.low == 0.0 || barrier.blocks(ground, stand, part.low, part.high)
}

/// What may still be worked.
struct Work(Cell<usize>);

impl Work {
    fn new() -> Self {
        Self(Cell::new(MAX_WORK))
    }

    /// False if there was not enough left.
    fn spend(&self, amount: usize) -> bool {
        let left = self.0.get().checked_sub(amount);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// There was too much to look at.
struct GaveUp;

/// What a body at this place is deepest in; none if the place is free.
fn deepest<'b>(
    around: &Around<'_>,
    body: &'b Body,
    stance: &Stance,
    edges: &Edges,
    work: &Work,
) -> Result<Option<Gap>, GaveUp> {
    let scene = &around.plan.scene;
    let footing = if scene.ground.is_flat { 0 } else { body.feet().len() * scene.ground.facets.len() };
    if !work.spend(PLACING * body.parts().len() + around.others.len() + scene.solids.len() / 4 + footing) {
        return Err(GaveUp);
    }
    let mut worst: Option<Gap> = None;
    let mut note = |gap: Gap| {
        if gap.distance < worst.map_or(-TOUCH, |worst| worst.distance) {
            worst = Some(gap);
        }
    };
    let reach = Bounds { min: stance.at, max: stance.at }.grown(body.radius());
    let is_at_wall = reach.min.min_element() < 0.0 || reach.max.max_element() > ARENA_SIZE;
    let place = |part: &'b Part| {
        let placed = Placed::new(&part.piece, stance);
        (part, placed, Bounds::of(placed.points()))
    };
    let placed: Vec<(&Part, Placed, Bounds)> = body.parts().iter().map(place).collect();
    if is_at_wall {
        for point in placed.iter().flat_map(|(_, placed, _)| placed.points()).chain([&stance.at]) {
            note(Gap { distance: point.x, normal: DVec2::X });
            note(Gap { distance: point.y, normal: DVec2::Y });
            note(Gap { distance: ARENA_SIZE - point.x, normal: DVec2::NEG_X });
            note(Gap { distance: ARENA_SIZE - point.y, normal: DVec2::NEG_Y });
        }
    }
    let stand = stand(around.plan, body, stance);
    let mut is_done = true;
    // an obstacle, its bounds, and which parts it is in the way of
    let mut meet = |piece: &Piece, bounds: &Bounds, is_in_the_way: &dyn Fn(&Part) -> bool| {
        is_done = is_done && work.spend(MEETING + placed.len());
        for (part, placed, at) in &placed {
            if is_done && at.meets(bounds) && is_in_the_way(part) {
                is_done = work.spend(2 * placed.points().len() * piece.points.len());
                note(placed.separation(piece));
            }
        }
    };
    around.each_solid(&reach, |solid| {
        meet(&solid.piece, &solid.bounds, &|part| {
            let (low, high) = (stand.height + part.low, stand.height + part.high);
            low < solid.high - TOUCH && high > solid.low + TOUCH
        });
    });
    around.each_barrier(&reach, |ground, barrier, index| {
        if edges.count(index) {
            meet(&barrier.piece, &Bounds::of(&barrier.piece.points), &|part| bars(ground, barrier, &stand, part));
        }
    });
    if is_done { Ok(worst) } else { Err(GaveUp) }
}

/// Whether a body can be put there by a jump.
pub(crate) fn is_free(around: &Around<'_>, body: &Body, pose: Pose) -> bool {
    Search::new(*around, body, Edges::of_jumps(around.plan)).is_free(pose)
}

/// Whether the arena has room for the body at some angle, as far as its width and depth tell.
fn fits(body: &Body) -> bool {
    let step = FRAC_PI_2 / f64::from(FITTINGS);
    // by how much it may be narrower between two of the angles
    let slack = body.radius() * step;
    let points = || body.parts().iter().flat_map(|part| &part.piece.points).chain([&DVec2::ZERO]);
    2.0 * body.radius() <= ARENA_SIZE
        || (0..FITTINGS).map(|index| Stance::new(DVec2::ZERO, f64::from(index) * step)).any(|stance| {
            let turned = points().map(|point| stance.world_from_body(*point));
            let bounds = turned.fold(Bounds::NOTHING, |all, point| all.with(Bounds { min: point, max: point }));
            (bounds.max - bounds.min).max_element() <= ARENA_SIZE + slack
        })
}

/// Where a robot is said to be that found no place.
pub(crate) fn middle(zone: &[Piece]) -> Pose {
    let bounds = zone.iter().fold(Bounds::NOTHING, |all, piece| all.with(Bounds::of(&piece.points)));
    let at = (0.5 * (bounds.min + bounds.max)).clamp(DVec2::ONE, DVec2::splat(ARENA_SIZE - 1.0));
    Pose { x: at.x, y: at.y, dir: 0.0 }
}

/// A free place with its reference point in the zone; none if there is none, as far as one can tell.
pub(crate) fn anywhere(around: &Around<'_>, body: &Body, zone: &[Piece], random: &mut impl Rng) -> Option<Pose> {
    if !fits(body) {
        return None;
    }
    let bounds = zone.iter().fold(Bounds::NOTHING, |all, piece| all.with(Bounds::of(&piece.points)));
    let size = bounds.max - bounds.min;
    let search = Search::new(*around, body, Edges::All);
    let is_good = |pose: &Pose| {
        zone.iter().any(|piece| piece.contains(DVec2::new(pose.x, pose.y)))
            && search.is_free(*pose)
            && !(around.plan.rules().avoid_deathly && search.is_deathly(*pose))
    };
    let mut toss = || {
        let x = bounds.min.x + size.x * random.random::<f64>();
        let y = bounds.min.y + size.y * random.random::<f64>();
        Pose { x, y, dir: PI - TAU * random.random::<f64>() }
    };
    if let Some(pose) = (0..TRIES).map(|_| toss()).find(is_good) {
        return Some(pose);
    }
    let (per_side, directions) = RASTER;
    let step = |i: usize| (i as f64 + 0.5) / per_side as f64;
    let mut raster = (0..per_side * per_side * directions).map(|index| Pose {
        x: bounds.min.x + size.x * step(index / directions % per_side),
        y: bounds.min.y + size.y * step(index / directions / per_side),
        dir: (index % directions) as f64 * TAU / directions as f64,
    });
    raster.find(is_good)
}

/// The free place that is nearest to `pose`: there, else pushed aside, else also turned. None if there is none, as far
/// as one can tell.
pub(crate) fn corrected(around: &Around<'_>, body: &Body, pose: Pose) -> Option<Pose> {
    if !fits(body) {
        return None;
    }
    let search = Search::new(*around, body, Edges::of_new_shape(around));
    let turns = (1..=TURNS).flat_map(|step| [1.0, -1.0].map(|sign| sign * step as f64 * PI / TURNS as f64));
    let turned = |turn: f64| Pose { dir: pose.dir + turn, ..pose };
    let as_it_is = search.is_free(pose).then_some(pose);
    as_it_is
        .or_else(|| search.aside(pose, &STRAIGHT))
        .or_else(|| turns.map(turned).find_map(|pose| search.aside(pose, &TURNED)))
}

/// A search for a free place, with a limit.
struct Search<'a> {
    around: Around<'a>,
    body: &'a Body,
    edges: Edges,
    work: Work,
}

impl<'a> Search<'a> {
    fn new(around: Around<'a>, body: &'a Body, edges: Edges) -> Self {
        Self { around, body, edges, work: Work::new() }
    }

    fn deepest(&self, stance: &Stance) -> Result<Option<Gap>, GaveUp> {
        deepest(&self.around, self.body, stance, &self.edges, &self.work)
    }

    /// Nothing is free any more once there was too much work.
    fn is_free(&self, pose: Pose) -> bool {
        let is_inside = |value: f64| value > 0.0 && value < ARENA_SIZE;
        is_inside(pose.x)
            && is_inside(pose.y)
            && pose.dir.is_finite()
            && matches!(self.deepest(&self.around.stance(pose)), Ok(None))
    }

    /// Everything is deathly once there was too much work.
    fn is_deathly(&self, pose: Pose) -> bool {
        let pieces = self.around.plan.scene.deathly.len();
        !self.work.spend(pieces * (PLACING + 16 * self.body.parts().len()))
            || is_deathly(self.around.plan, self.body, &self.around.stance(pose))
    }

    /// The nearest free place in the same direction.
    fn aside(&self, pose: Pose, rings: &Rings) -> Option<Pose> {
        let start = DVec2::new(pose.x, pose.y);
        let to = |at: DVec2| Pose { x: at.x, y: at.y, ..pose };
        let pushed = self.pushed(pose).filter(|at| at.distance(start) <= rings.reach);
        let reach = pushed.map_or(rings.reach, |at| at.distance(start));
        let mut radius = 1.0;
        while radius < reach {
            let ray = |index: usize| DVec2::from_angle(index as f64 * TAU / rings.rays as f64);
            let found = (0..rings.rays).map(ray).find(|ray| self.is_free(to(start + *ray * radius)));
            if let Some(ray) = found {
                let nearest = shortest(|length| self.is_free(to(start + ray * length)), radius);
                return Some(to(start + ray * nearest));
            }
            radius = radius * rings.growth + 0.5;
        }
        pushed.map(to)
    }

    /// Pushes the body out of what it is deepest in, until it is out of everything.
    fn pushed(&self, pose: Pose) -> Option<DVec2> {
        let mut stance = self.around.stance(pose);
        for _ in 0..MAX_PUSHES {
            match self.deepest(&stance).ok()? {
                Some(gap) => stance.at += gap.normal * (CLEARANCE - gap.distance),
                None => {
                    let there = Pose { x: stance.at.x, y: stance.at.y, ..pose };
                    return self.is_free(there).then_some(stance.at);
                }
            }
        }
        None
    }
}

/// The shortest length that is free, by halving, given one that is.
fn shortest(is_free: impl Fn(f64) -> bool, length: f64) -> f64 {
    let (mut blocked, mut free) = (0.0, length);
    while free - blocked > CLEARANCE {
        let middle = 0.5 * (blocked + free);
        if is_free(middle) { free = middle } else { blocked = middle }
    }
    free
}
