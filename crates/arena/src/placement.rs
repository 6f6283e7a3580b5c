//! Placement of robots: whether a pose is free, a random free pose, and the nearest free pose.

use std::{
    cell::Cell,
    f64::consts::{FRAC_PI_2, PI, TAU},
};

use glam::DVec2;
use rand::{Rng, RngExt};

use crate::{
    Body, Material, Plan, Pose,
    body::BodyPrism,
    ground::{Barrier, Ground, Plane},
    plan::{ARENA_SIZE, Drops},
    polygon::Piece,
    separation::{PlacedPiece, Separation},
    solid::{Bounds, Solid},
    surroundings::Surroundings,
    transform::Transform,
};

/// Overlap up to this counts as touching, in mm.
pub(crate) const TOUCH: f64 = 1e-6;
/// Random poses tried before the grid search.
const RANDOM_TRIES: usize = 256;
/// Points per side and directions of the grid search.
const GRID: (usize, usize) = (40, 8);
/// Distance kept from an obstacle that a robot is pushed out of, in mm.
const CLEARANCE: f64 = 1e-3;
const MAX_PUSHES: usize = 32;
/// Where the nearest free pose is searched, without and with a rotation.
const UNROTATED: Rings = Rings { rays: 32, growth: 1.1, reach: 3000.0 };
const ROTATED: Rings = Rings { rays: 16, growth: 1.3, reach: 300.0 };
/// Rotations tried in each direction, up to half a turn.
const ROTATIONS: usize = 18;
/// Budget of a search, in units of about 1 ns, so that no shape can keep the world busy for long.
const MAX_WORK: usize = 20_000_000;
/// Cost of placing a prism and of looking up an obstacle, in the same unit.
const PLACE_COST: usize = 64;
const LOOKUP_COST: usize = 64;
/// Angles of a quarter turn at which a large body is compared with the arena.
const FIT_ANGLES: u32 = 90;

/// Points on concentric circles of growing radius.
struct Rings {
    /// Points per circle.
    rays: usize,
    /// Factor between two radii.
    growth: f64,
    /// Largest radius, in mm.
    reach: f64,
}

/// The plane a body stands on.
pub(crate) fn ground_plane(plan: &Plan, body: &Body, transform: &Transform) -> Plane {
    let contacts = body.contacts().iter().map(|contact| transform.world_from_body(*contact));
    plan.scene.ground.plane_under(transform.origin, contacts)
}

/// Whether the bottom layer is on deathly ground.
pub(crate) fn is_deathly(plan: &Plan, body: &Body, transform: &Transform) -> bool {
    let reach = Bounds::around(transform.origin, body.radius());
    let near = plan.scene.deathly.iter().map(|piece| (piece, Bounds::of(&piece.points)));
    let near: Vec<_> = near.filter(|(_, bounds)| bounds.intersects(&reach)).collect();
    !near.is_empty()
        && body.prisms().iter().filter(|prism| prism.low == 0.0).any(|prism| {
            let placed = PlacedPiece::new(&prism.piece, transform);
            let at = Bounds::of(placed.points());
            let mut touched = near.iter().filter(|(_, bounds)| bounds.intersects(&at));
            touched.any(|(piece, _)| placed.separating_axis(piece).distance < -TOUCH)
        })
}

/// A body as upright prisms in the world.
pub(crate) fn solids(body: &Body, transform: &Transform, ground_plane: &Plane, color: [u8; 3]) -> Vec<Solid> {
    let rotation = Transform { origin: DVec2::ZERO, heading: transform.heading };
    let solid = |prism: &BodyPrism| {
        let piece = Piece {
            points: prism.piece.points.iter().map(|point| transform.world_from_body(*point)).collect(),
            normals: prism.piece.normals.iter().map(|normal| rotation.world_from_body(*normal)).collect(),
            outer: prism.piece.outer,
        };
        Solid::new(piece, ground_plane.height + prism.low, ground_plane.height + prism.high, color, Material::WOOD)
    };
    body.prisms().iter().map(solid).collect()
}

/// Which barriers a body must not lie across.
#[derive(Debug)]
pub(crate) enum BarrierFilter {
    /// All of them.
    All,
    /// All but these.
    AllBut(Vec<usize>),
    /// None.
    Ignored,
}

impl BarrierFilter {
    /// For a jump: ignored where moves may cross an edge downwards.
    pub(crate) fn for_jump(plan: &Plan) -> Self {
        match plan.rules().drops {
            Drops::Fall => Self::Ignored,
            Drops::Block => Self::All,
        }
    }

    /// For a new shape: barriers that the robot lies across already are ignored.
    fn for_new_shape(surroundings: &Surroundings<'_>) -> Self {
        let mut across = Vec::new();
        if let Some(own) = surroundings.own() {
            let reach = Bounds::around(own.transform.origin, own.body.radius());
            surroundings.each_barrier(&reach, |ground, barrier, index| {
                let lies_across = |prism: &BodyPrism| {
                    let placed = PlacedPiece::new(&prism.piece, &own.transform);
                    is_barred(ground, barrier, &own.ground_plane, prism)
                        && placed.separating_axis(&barrier.piece).distance < -TOUCH
                };
                if own.body.prisms().iter().any(lies_across) {
                    across.push(index);
                }
            });
        }
        Self::AllBut(across)
    }

    fn includes(&self, index: usize) -> bool {
        match self {
            Self::All => true,
            Self::AllBut(across) => !across.contains(&index),
            Self::Ignored => false,
        }
    }
}

/// Whether a prism must not lie across a barrier. One that stands on the ground never may.
fn is_barred(ground: &Ground, barrier: &Barrier, ground_plane: &Plane, prism: &BodyPrism) -> bool {
    prism.low == 0.0 || barrier.blocks(ground, ground_plane, prism.low, prism.high)
}

/// The work a search may still do.
struct WorkBudget(Cell<usize>);

impl WorkBudget {
    fn new() -> Self {
        Self(Cell::new(MAX_WORK))
    }

    /// Returns `false` if not enough is left.
    fn spend(&self, amount: usize) -> bool {
        let left = self.0.get().checked_sub(amount);
        self.0.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// The search ran out of budget.
struct BudgetExhausted;

/// The deepest overlap of a body with anything; `None` if the pose is free.
fn deepest_overlap<'b>(
    surroundings: &Surroundings<'_>,
    body: &'b Body,
    transform: &Transform,
    barriers: &BarrierFilter,
    budget: &WorkBudget,
) -> Result<Option<Separation>, BudgetExhausted> {
    let scene = &surroundings.plan.scene;
    let ground_cost = if scene.ground.is_flat { 0 } else { body.contacts().len() * scene.ground.facets.len() };
    let placing_cost = PLACE_COST * body.prisms().len() + surroundings.others.len() + scene.solids.len() / 4;
    if !budget.spend(placing_cost + ground_cost) {
        return Err(BudgetExhausted);
    }
    let mut worst: Option<Separation> = None;
    let mut note = |separation: Separation| {
        if separation.distance < worst.map_or(-TOUCH, |worst| worst.distance) {
            worst = Some(separation);
        }
    };
    let reach = Bounds::around(transform.origin, body.radius());
    let is_at_wall = reach.min.min_element() < 0.0 || reach.max.max_element() > ARENA_SIZE;
    let place = |prism: &'b BodyPrism| {
        let placed = PlacedPiece::new(&prism.piece, transform);
        (prism, placed, Bounds::of(placed.points()))
    };
    let placed: Vec<(&BodyPrism, PlacedPiece, Bounds)> = body.prisms().iter().map(place).collect();
    if is_at_wall {
        for point in placed.iter().flat_map(|(_, placed, _)| placed.points()).chain([&transform.origin]) {
            note(Separation { distance: point.x, normal: DVec2::X });
            note(Separation { distance: point.y, normal: DVec2::Y });
            note(Separation { distance: ARENA_SIZE - point.x, normal: DVec2::NEG_X });
            note(Separation { distance: ARENA_SIZE - point.y, normal: DVec2::NEG_Y });
        }
    }
    let ground_plane = ground_plane(surroundings.plan, body, transform);
    let mut is_within_budget = true;
    let mut check = |piece: &Piece, bounds: &Bounds, can_collide: &dyn Fn(&BodyPrism) -> bool| {
        is_within_budget = is_within_budget && budget.spend(LOOKUP_COST + placed.len());
        for (prism, placed, at) in &placed {
            if is_within_budget && at.intersects(bounds) && can_collide(prism) {
                is_within_budget = budget.spend(2 * placed.points().len() * piece.points.len());
                note(placed.separating_axis(piece));
            }
        }
    };
    surroundings.each_solid(&reach, |solid| {
        check(&solid.piece, &solid.bounds, &|prism| {
            let (low, high) = (ground_plane.height + prism.low, ground_plane.height + prism.high);
            low < solid.high - TOUCH && high > solid.low + TOUCH
        });
    });
    surroundings.each_barrier(&reach, |ground, barrier, index| {
        if barriers.includes(index) {
            check(&barrier.piece, &Bounds::of(&barrier.piece.points), &|prism| {
                is_barred(ground, barrier, &ground_plane, prism)
            });
        }
    });
    if is_within_budget { Ok(worst) } else { Err(BudgetExhausted) }
}

/// Whether a body can jump to this pose.
pub(crate) fn is_free(surroundings: &Surroundings<'_>, body: &Body, pose: Pose) -> bool {
    PlacementSearch::new(*surroundings, body, BarrierFilter::for_jump(surroundings.plan)).is_free(pose)
}

/// Whether the body's bounding rectangle fits into the arena at some angle.
fn fits_in_arena(body: &Body) -> bool {
    let step = FRAC_PI_2 / f64::from(FIT_ANGLES);
    // between two of the angles it may be narrower by this
    let slack = body.radius() * step;
    let points = || body.prisms().iter().flat_map(|prism| &prism.piece.points).chain([&DVec2::ZERO]);
    2.0 * body.radius() <= ARENA_SIZE
        || (0..FIT_ANGLES).map(|index| Transform::new(DVec2::ZERO, f64::from(index) * step)).any(|transform| {
            let turned = points().map(|point| transform.world_from_body(*point));
            let bounds = turned.fold(Bounds::EMPTY, |all, point| all.union(Bounds { min: point, max: point }));
            (bounds.max - bounds.min).max_element() <= ARENA_SIZE + slack
        })
}

/// The reported pose of a robot for which no free pose was found.
pub(crate) fn zone_center(zone: &[Piece]) -> Pose {
    let bounds = zone.iter().fold(Bounds::EMPTY, |all, piece| all.union(Bounds::of(&piece.points)));
    let at = (0.5 * (bounds.min + bounds.max)).clamp(DVec2::ONE, DVec2::splat(ARENA_SIZE - 1.0));
    Pose { x: at.x, y: at.y, dir: 0.0 }
}

/// A random free pose with its origin in the zone; `None` if the search finds none.
pub(crate) fn random_free_pose(
    surroundings: &Surroundings<'_>,
    body: &Body,
    zone: &[Piece],
    random: &mut impl Rng,
) -> Option<Pose> {
    if !fits_in_arena(body) {
        return None;
    }
    let bounds = zone.iter().fold(Bounds::EMPTY, |all, piece| all.union(Bounds::of(&piece.points)));
    let size = bounds.max - bounds.min;
    let search = PlacementSearch::new(*surroundings, body, BarrierFilter::All);
    let is_good = |pose: &Pose| {
        zone.iter().any(|piece| piece.contains(DVec2::new(pose.x, pose.y)))
            && search.is_free(*pose)
            && !(surroundings.plan.rules().avoid_deathly && search.is_deathly(*pose))
    };
    let mut random_pose = || {
        let x = bounds.min.x + size.x * random.random::<f64>();
        let y = bounds.min.y + size.y * random.random::<f64>();
        Pose { x, y, dir: PI - TAU * random.random::<f64>() }
    };
    if let Some(pose) = (0..RANDOM_TRIES).map(|_| random_pose()).find(is_good) {
        return Some(pose);
    }
    let (per_side, directions) = GRID;
    let step = |i: usize| (i as f64 + 0.5) / per_side as f64;
    let mut grid = (0..per_side * per_side * directions).map(|index| Pose {
        x: bounds.min.x + size.x * step(index / directions % per_side),
        y: bounds.min.y + size.y * step(index / directions / per_side),
        dir: (index % directions) as f64 * TAU / directions as f64,
    });
    grid.find(is_good)
}

/// The free pose nearest to `pose`: unchanged, else shifted, else also rotated. `None` if the search finds none.
pub(crate) fn nearest_free_pose(surroundings: &Surroundings<'_>, body: &Body, pose: Pose) -> Option<Pose> {
    if !fits_in_arena(body) {
        return None;
    }
    let search = PlacementSearch::new(*surroundings, body, BarrierFilter::for_new_shape(surroundings));
    let turns = (1..=ROTATIONS).flat_map(|step| [1.0, -1.0].map(|sign| sign * step as f64 * PI / ROTATIONS as f64));
    let turned = |turn: f64| Pose { dir: pose.dir + turn, ..pose };
    let as_it_is = search.is_free(pose).then_some(pose);
    as_it_is
        .or_else(|| search.shifted(pose, &UNROTATED))
        .or_else(|| turns.map(turned).find_map(|pose| search.shifted(pose, &ROTATED)))
}

/// A search for a free pose within a budget.
struct PlacementSearch<'a> {
    surroundings: Surroundings<'a>,
    body: &'a Body,
    barriers: BarrierFilter,
    budget: WorkBudget,
}

impl<'a> PlacementSearch<'a> {
    fn new(surroundings: Surroundings<'a>, body: &'a Body, barriers: BarrierFilter) -> Self {
        Self { surroundings, body, barriers, budget: WorkBudget::new() }
    }

    fn deepest_overlap(&self, transform: &Transform) -> Result<Option<Separation>, BudgetExhausted> {
        deepest_overlap(&self.surroundings, self.body, transform, &self.barriers, &self.budget)
    }

    /// Always `false` once the budget is exhausted.
    fn is_free(&self, pose: Pose) -> bool {
        let is_inside = |value: f64| value > 0.0 && value < ARENA_SIZE;
        is_inside(pose.x)
            && is_inside(pose.y)
            && pose.dir.is_finite()
            && matches!(self.deepest_overlap(&self.surroundings.transform(pose)), Ok(None))
    }

    /// Always `true` once the budget is exhausted.
    fn is_deathly(&self, pose: Pose) -> bool {
        let pieces = self.surroundings.plan.scene.deathly.len();
        !self.budget.spend(pieces * (PLACE_COST + 16 * self.body.prisms().len()))
            || is_deathly(self.surroundings.plan, self.body, &self.surroundings.transform(pose))
    }

    /// The nearest free pose with the same direction.
    fn shifted(&self, pose: Pose, rings: &Rings) -> Option<Pose> {
        let start = DVec2::new(pose.x, pose.y);
        let to = |at: DVec2| Pose { x: at.x, y: at.y, ..pose };
        let pushed = self.push_out(pose).filter(|at| at.distance(start) <= rings.reach);
        let reach = pushed.map_or(rings.reach, |at| at.distance(start));
        let mut radius = 1.0;
        while radius < reach {
            let ray = |index: usize| DVec2::from_angle(index as f64 * TAU / rings.rays as f64);
            let found = (0..rings.rays).map(ray).find(|ray| self.is_free(to(start + *ray * radius)));
            if let Some(ray) = found {
                let nearest = shortest_free(|length| self.is_free(to(start + ray * length)), radius);
                return Some(to(start + ray * nearest));
            }
            radius = radius * rings.growth + 0.5;
        }
        pushed.map(to)
    }

    /// Pushes the body out of its deepest overlap until none is left.
    fn push_out(&self, pose: Pose) -> Option<DVec2> {
        let mut transform = self.surroundings.transform(pose);
        for _ in 0..MAX_PUSHES {
            match self.deepest_overlap(&transform).ok()? {
                Some(gap) => transform.origin += gap.normal * (CLEARANCE - gap.distance),
                None => {
                    let there = Pose { x: transform.origin.x, y: transform.origin.y, ..pose };
                    return self.is_free(there).then_some(transform.origin);
                }
            }
        }
        None
    }
}

/// The shortest free length, by bisection, given one that is free.
fn shortest_free(is_free: impl Fn(f64) -> bool, length: f64) -> f64 {
    let (mut blocked, mut free) = (0.0, length);
    while free - blocked > CLEARANCE {
        let middle = 0.5 * (blocked + free);
        if is_free(middle) { free = middle } else { blocked = middle }
    }
    free
}
