//! Collision sweeps: how far a body can move, by conservative advancement.
//!
//! At each step a line separates the body from an obstacle. Each corner's distance from that line is bounded from below by
//! its speed and by how much the rotation can bend its path; the body advances as far as no corner can reach the line. So
//! it never tunnels through anything, however thin, and takes few steps.

use std::cell::OnceCell;

use glam::DVec2;

use crate::{
    Body,
    body::BodyPrism,
    ground::Plane,
    placement::{self, TOUCH},
    plan::ARENA_SIZE,
    polygon::Piece,
    separation::{PlacedPiece, Separation},
    solid::Bounds,
    surroundings::Surroundings,
    transform::Transform,
};

/// Distance from an obstacle at which a robot stops, in mm.
pub(crate) const STOP_GAP: f64 = 0.01;
/// Tolerance of that distance, in mm.
const TOLERANCE: f64 = 1e-5;
/// A corner that approaches by less than this fraction of its speed slides along.
const SLIDING: f64 = 1e-6;
/// Smaller fractions are rounding errors.
const ROUNDING: f64 = 1e-10;
const MAX_STEPS: usize = 1000;
/// On uneven ground, the height is updated after each of these, in mm and rad.
const STRIDE: (f64, f64) = (20.0, 0.2);

/// A straight motion with a uniform rotation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    /// Start, in mm.
    pub(crate) from: DVec2,
    /// Heading at the start, in rad, counter-clockwise from +x.
    pub(crate) angle: f64,
    /// Displacement, in mm.
    pub(crate) by: DVec2,
    /// Rotation, in rad, counter-clockwise.
    pub(crate) turn: f64,
}

/// The result of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SweepOutcome {
    /// The completed fraction of the motion, 0 to 1.
    pub(crate) fraction: f64,
    /// Whether the body passed deathly ground, if the world's rules count that.
    pub(crate) died: bool,
}

impl Motion {
    pub(crate) fn transform(&self, fraction: f64) -> Transform {
        Transform::new(self.from + self.by * fraction, self.angle + self.turn * fraction)
    }

    fn segment(&self, start: f64, end: f64) -> Self {
        Self {
            from: self.from + self.by * start,
            angle: self.angle + self.turn * start,
            by: self.by * (end - start),
            turn: self.turn * (end - start),
        }
    }

    fn is_none(&self) -> bool {
        self.by == DVec2::ZERO && self.turn == 0.0
    }

    fn bounds(&self, radius: f64) -> Bounds {
        Bounds::of(&[self.from, self.from + self.by]).grown(radius + 1.0)
    }

    /// The area that a prism passes through.
    fn swept(&self, prism: &BodyPrism) -> Bounds {
        let at = |fraction: f64| Bounds::of(PlacedPiece::new(&prism.piece, &self.transform(fraction)).points());
        // a rotating point leaves the straight path by at most this
        let bulge = 0.125 * self.turn * self.turn * prism.radius;
        at(0.0).union(at(1.0)).grown(bulge + 1.0)
    }
}

/// The prisms of a body with the bounds of where they pass. They are computed when needed: most motions come near nothing.
struct SweptPrisms<'a> {
    body: &'a Body,
    motion: &'a Motion,
    prisms: OnceCell<Vec<(&'a BodyPrism, Bounds)>>,
}

impl<'a> SweptPrisms<'a> {
    fn new(body: &'a Body, motion: &'a Motion) -> Self {
        Self { body, motion, prisms: OnceCell::new() }
    }

    /// The prisms whose bounds pass the test.
    fn near(&self, passes: impl Fn(&Bounds) -> bool) -> impl Iterator<Item = &'a BodyPrism> {
        let swept = |prism| (prism, self.motion.swept(prism));
        let prisms = self.prisms.get_or_init(|| self.body.prisms().iter().map(swept).collect());
        prisms.iter().filter(move |(_, bounds)| passes(bounds)).map(|(prism, _)| *prism)
    }
}

/// Moves a body until it arrives or is blocked.
pub(crate) fn sweep(
    surroundings: &Surroundings<'_>,
    body: &Body,
    ground_plane: Plane,
    motion: &Motion,
) -> SweepOutcome {
    let fraction = if surroundings.plan.scene.ground.is_flat {
        sweep_level(surroundings, body, &ground_plane, motion)
    } else {
        over_uneven_ground(surroundings, body, ground_plane, motion)
    };
    let died =
        surroundings.plan.rules().death_sweep && passes_deathly(surroundings, body, &motion.segment(0.0, fraction));
    SweepOutcome { fraction, died }
}

fn over_uneven_ground(surroundings: &Surroundings<'_>, body: &Body, mut ground_plane: Plane, motion: &Motion) -> f64 {
    let strides = (motion.by.length() / STRIDE.0).max(motion.turn.abs() / STRIDE.1).ceil().max(1.0);
    let mut done = 0.0;
    // the walls end every motion after a few hundred strides
    while done < strides {
        let stride = motion.segment(done / strides, (done + 1.0) / strides);
        let fraction = sweep_level(surroundings, body, &ground_plane, &stride);
        if fraction < 1.0 {
            return (done + fraction) / strides;
        }
        ground_plane = placement::ground_plane(surroundings.plan, body, &stride.transform(1.0));
        done += 1.0;
    }
    1.0
}

/// The free fraction of the motion, with the body at constant height.
fn sweep_level(surroundings: &Surroundings<'_>, body: &Body, ground_plane: &Plane, motion: &Motion) -> f64 {
    if motion.is_none() {
        return 1.0;
    }
    let bounds = motion.bounds(body.radius());
    let swept = SweptPrisms::new(body, motion);
    let mut free = sweep_walls(&swept, &bounds, motion);
    surroundings.each_solid(&bounds, |solid| {
        for prism in swept.near(|swept| swept.intersects(&solid.bounds)) {
            let (low, high) = (ground_plane.height + prism.low, ground_plane.height + prism.high);
            if low < solid.high - TOUCH && high > solid.low + TOUCH {
                free = free.min(advance(prism, &solid.piece, motion, free));
            }
        }
    });
    surroundings.each_barrier(&bounds, |ground, barrier, _| {
        let reach = Bounds::of(&barrier.piece.points);
        let near = swept.near(|swept| swept.intersects(&reach));
        for prism in near.filter(|prism| barrier.blocks(ground, ground_plane, prism.low, prism.high)) {
            // a body that stands on an edge already may leave it either way
            let is_across =
                PlacedPiece::new(&prism.piece, &motion.transform(0.0)).separating_axis(&barrier.piece).distance
                    < -TOUCH;
            if !is_across {
                free = free.min(advance(prism, &barrier.piece, motion, free));
            }
        }
    });
    free
}

fn sweep_walls(swept: &SweptPrisms<'_>, bounds: &Bounds, motion: &Motion) -> f64 {
    let mut free = 1.0_f64;
    let walls = [(DVec2::X, 0.0), (DVec2::Y, 0.0), (DVec2::NEG_X, -ARENA_SIZE), (DVec2::NEG_Y, -ARENA_SIZE)];
    for (normal, offset) in walls {
        let is_near = |bounds: &Bounds| normal.dot(bounds.min).min(normal.dot(bounds.max)) < offset;
        if !is_near(bounds) {
            continue;
        }
        let to_wall = |points: &[DVec2]| {
            let lowest = points.iter().map(|point| normal.dot(*point)).fold(f64::INFINITY, f64::min);
            Separation { distance: lowest - offset, normal }
        };
        for prism in swept.near(is_near) {
            let advancement = Advancement { radius: prism.radius, obstacle: None, motion, free };
            free = free.min(advancement.run(|transform| {
                let placed = PlacedPiece::new(&prism.piece, transform);
                (placed, to_wall(placed.points()))
            }));
        }
        // the reference point stays inside too, wherever the body is
        free = free.min(reference_to_wall(motion, normal, offset, free));
    }
    free
}

fn reference_to_wall(motion: &Motion, normal: DVec2, offset: f64, free: f64) -> f64 {
    let (start, speed) = (normal.dot(motion.from) - offset, normal.dot(motion.by));
    if speed >= 0.0 || start + speed * free >= STOP_GAP {
        return free;
    }
    ((start - STOP_GAP) / -speed).clamp(0.0, free)
}

/// The fraction of the motion at which a prism reaches an obstacle; `free` if it does not.
fn advance(prism: &BodyPrism, obstacle: &Piece, motion: &Motion, free: f64) -> f64 {
    let advancement = Advancement { radius: prism.radius, obstacle: Some(obstacle), motion, free };
    advancement.run(|transform| {
        let placed = PlacedPiece::new(&prism.piece, transform);
        (placed, placed.separation(obstacle))
    })
}

/// Conservative advancement of one prism towards one obstacle.
struct Advancement<'a> {
    radius: f64,
    /// `None` for a wall of the arena.
    obstacle: Option<&'a Piece>,
    motion: &'a Motion,
    /// The fraction beyond which nothing matters.
    free: f64,
}

impl Advancement<'_> {
    fn run(&self, measure: impl Fn(&Transform) -> (PlacedPiece, Separation)) -> f64 {
        let (mut placed, mut separation) = measure(&self.motion.transform(0.0));
        if separation.distance < -TOUCH {
            return self.escape(-separation.distance, measure);
        }
        let is_touching = separation.distance <= STOP_GAP + TOLERANCE;
        let target = if is_touching { 0.5 * separation.distance.max(0.0) } else { STOP_GAP };
        // a grazing corner has room in the gap; one that pushes against the obstacle does not start to move
        let min_fraction =
            if is_touching && self.is_closing(&placed, &separation) { 2.0 * STOP_GAP / self.length() } else { 0.0 };
        let mut fraction = 0.0;
        for _ in 0..MAX_STEPS {
            fraction += self.safe_step(&placed, &separation, fraction, target);
            if fraction >= self.free {
                return self.free;
            }
            (placed, separation) = measure(&self.motion.transform(fraction));
            if separation.distance <= target + TOLERANCE.min(0.1 * target) {
                break;
            }
        }
        if fraction > min_fraction { fraction } else { 0.0 }
    }

    /// Upper bound of a corner's path length, in mm.
    fn length(&self) -> f64 {
        self.motion.by.length() + self.motion.turn.abs() * self.radius
    }

    /// Speed of a corner along the normal, in mm per unit of the fraction; negative if it approaches.
    #[inline]
    fn speed(&self, off: DVec2, normal: DVec2) -> f64 {
        normal.dot(self.motion.by + off.perp() * self.motion.turn)
    }

    /// Whether the contact points approach each other.
    fn is_closing(&self, placed: &PlacedPiece, separation: &Separation) -> bool {
        let along = separation.normal.perp();
        let span = |points: &[DVec2], normal: DVec2| {
            let lowest = points.iter().map(|point| normal.dot(*point)).fold(f64::INFINITY, f64::min);
            let touching = points.iter().filter(|point| normal.dot(**point) <= lowest + STOP_GAP);
            touching.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| {
                (low.min(along.dot(*point)), high.max(along.dot(*point)))
            })
        };
        let (mut low, mut high) = span(placed.points(), separation.normal);
        if let Some(obstacle) = self.obstacle {
            let (other_low, other_high) = span(&obstacle.points, -separation.normal);
            (low, high) = (low.max(other_low).min(high), high.min(other_high).max(low));
        }
        let fast = self.length();
        let height = lowest(placed, separation);
        [low, high].into_iter().any(|position| {
            let off = along * position + separation.normal * height - self.motion.from;
            self.speed(off, separation.normal) < -SLIDING * fast
        })
    }

    /// The largest step after which no corner is nearer than `target`.
    fn safe_step(&self, placed: &PlacedPiece, separation: &Separation, fraction: f64, target: f64) -> f64 {
        let lowest = lowest(placed, separation);
        let at = self.motion.from + self.motion.by * fraction;
        let bend = 0.5 * self.motion.turn * self.motion.turn;
        let negligible = ROUNDING * self.length();
        let mut step = f64::INFINITY;
        for point in placed.points() {
            let off = *point - at;
            let room = (separation.normal.dot(*point) - lowest + separation.distance - target).max(0.0);
            let speed =
                Some(self.speed(off, separation.normal)).filter(|speed| speed.abs() > negligible).unwrap_or(0.0);
            // the distance after a step s is at least room + speed s - curve s²
            let curve = bend * off.length();
            let root = (speed * speed + 4.0 * curve * room).sqrt();
            let reach = if speed < 0.0 {
                2.0 * room / (root - speed)
            } else if curve > 0.0 {
                (speed + root) / (2.0 * curve)
            } else {
                f64::INFINITY
            };
            step = step.min(reach);
        }
        step
    }

    /// A body that overlaps the obstacle already may move as long as it does not get deeper.
    fn escape(&self, depth: f64, measure: impl Fn(&Transform) -> (PlacedPiece, Separation)) -> f64 {
        let steps = self.length().ceil().clamp(1.0, 200.0);
        let mut done = 0.0;
        while done < steps {
            let fraction = self.free * (done + 1.0) / steps;
            let (_, separation) = measure(&self.motion.transform(fraction));
            if separation.distance < -depth - TOUCH {
                return self.free * done / steps;
            }
            done += 1.0;
        }
        self.free
    }
}

#[inline]
fn lowest(placed: &PlacedPiece, separation: &Separation) -> f64 {
    placed.points().iter().map(|point| separation.normal.dot(*point)).fold(f64::INFINITY, f64::min)
}

fn passes_deathly(surroundings: &Surroundings<'_>, body: &Body, motion: &Motion) -> bool {
    let bounds = motion.bounds(body.radius());
    let swept = SweptPrisms::new(body, motion);
    let deathly = surroundings.plan.scene.deathly.iter().map(|piece| (piece, Bounds::of(&piece.points)));
    deathly.filter(|(_, reach)| reach.intersects(&bounds)).any(|(piece, reach)| {
        swept.near(|swept| swept.intersects(&reach)).filter(|prism| prism.low == 0.0).any(|prism| {
            let is_on = PlacedPiece::new(&prism.piece, &motion.transform(0.0)).separating_axis(piece).distance < -TOUCH;
            is_on || (!motion.is_none() && advance(prism, piece, motion, 1.0) < 1.0)
        })
    })
}

#[cfg(test)]
mod tests;
