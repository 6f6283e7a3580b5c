//! Moves: how far a body gets on its way, by conservative advancement.
//!
//! At each stop on the way there is a line that separates the body from an obstacle. Each corner's distance from that
//! line is bounded from below by its speed and by how much turning can bend its path; the body advances as far as no
//! corner can reach the line. So it never passes anything, however thin, and takes few stops.

use glam::DVec2;

use crate::{
    Body,
    body::Part,
    gap::{Gap, Placed},
    ground::Plane,
    place::{Around, TOUCH},
    plan::ARENA_SIZE,
    polygon::Piece,
    solid::Bounds,
    stance::Stance,
};

/// How far from an obstacle a robot stops, in mm.
pub(crate) const STOP_GAP: f64 = 0.01;
/// How exactly it stops there, in mm.
const TOLERANCE: f64 = 1e-5;
/// A corner that approaches by less than this share of its speed only slides along.
const SLIDING: f64 = 1e-6;
/// Less than this share is a matter of rounding.
const ROUNDING: f64 = 1e-10;
const MAX_STOPS: usize = 1000;
/// On uneven ground, the height is looked at after each of these, in mm and rad.
const STRIDE: (f64, f64) = (20.0, 0.2);

/// A straight way, with an even turn on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion {
    pub(crate) from: DVec2,
    /// At the start, in rad, counter-clockwise from +x.
    pub(crate) angle: f64,
    pub(crate) by: DVec2,
    pub(crate) turn: f64,
}

/// How a move ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// Of the way, 0 to 1.
    pub(crate) share: f64,
    /// Whether it led over deathly ground, if that counts.
    pub(crate) died: bool,
}

impl Motion {
    pub(crate) fn stance(&self, share: f64) -> Stance {
        Stance::new(self.from + self.by * share, self.angle + self.turn * share)
    }

    fn part(&self, start: f64, end: f64) -> Self {
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
}

/// Moves a body as far as it gets.
pub(crate) fn run(around: &Around<'_>, body: &Body, stand: Plane, motion: &Motion) -> Outcome {
    let share = if around.plan.scene.ground.is_flat {
        leg(around, body, &stand, motion)
    } else {
        over_uneven_ground(around, body, stand, motion)
    };
    let died = around.plan.rules().death_sweep && passes_deathly(around, body, &motion.part(0.0, share));
    Outcome { share, died }
}

fn over_uneven_ground(around: &Around<'_>, body: &Body, mut stand: Plane, motion: &Motion) -> f64 {
    let strides = (motion.by.length() / STRIDE.0).max(motion.turn.abs() / STRIDE.1).ceil().max(1.0);
    let mut done = 0.0;
    // the walls end each way after a few hundred strides
    while done < strides {
        let stride = motion.part(done / strides, (done + 1.0) / strides);
        let share = leg(around, body, &stand, &stride);
        if share < 1.0 {
            return (done + share) / strides;
        }
        stand = crate::place::stand(around.plan, body, &stride.stance(1.0));
        done += 1.0;
    }
    1.0
}

/// The share of the way that is free, with the body at one height.
fn leg(around: &Around<'_>, body: &Body, stand: &Plane, motion: &Motion) -> f64 {
    if motion.is_none() {
        return 1.0;
    }
    let bounds = motion.bounds(body.radius());
    let mut free = between_walls(body, &bounds, motion);
    around.each_solid(&bounds, |solid| {
        for part in body.parts() {
            let (low, high) = (stand.height + part.low, stand.height + part.high);
            if low < solid.high - TOUCH && high > solid.low + TOUCH {
                free = free.min(advance(part, &solid.piece, motion, free));
            }
        }
    });
    around.each_barrier(&bounds, |ground, barrier, _| {
        for part in body.parts().iter().filter(|part| barrier.blocks(ground, stand, part.low, part.high)) {
            // who stands on an edge already may leave it either way
            let is_across = Placed::new(&part.piece, &motion.stance(0.0)).separation(&barrier.piece).distance < -TOUCH;
            if !is_across {
                free = free.min(advance(part, &barrier.piece, motion, free));
            }
        }
    });
    free
}

fn between_walls(body: &Body, bounds: &Bounds, motion: &Motion) -> f64 {
    let mut free = 1.0_f64;
    let walls = [
        (bounds.min.x < 0.0, DVec2::X, 0.0),
        (bounds.min.y < 0.0, DVec2::Y, 0.0),
        (bounds.max.x > ARENA_SIZE, DVec2::NEG_X, -ARENA_SIZE),
        (bounds.max.y > ARENA_SIZE, DVec2::NEG_Y, -ARENA_SIZE),
    ];
    for (_, normal, offset) in walls.into_iter().filter(|(is_near, ..)| *is_near) {
        let to_wall = |points: &[DVec2]| {
            let lowest = points.iter().map(|point| normal.dot(*point)).fold(f64::INFINITY, f64::min);
            Gap { distance: lowest - offset, normal }
        };
        for part in body.parts() {
            let steps = Steps { radius: part.radius, obstacle: None, motion, free };
            free = free.min(steps.run(|stance| {
                let placed = Placed::new(&part.piece, stance);
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

/// How far a part gets before it meets an obstacle.
fn advance(part: &Part, obstacle: &Piece, motion: &Motion, free: f64) -> f64 {
    let steps = Steps { radius: part.radius, obstacle: Some(obstacle), motion, free };
    steps.run(|stance| {
        let placed = Placed::new(&part.piece, stance);
        (placed, placed.gap(obstacle))
    })
}

struct Steps<'a> {
    radius: f64,
    /// None is a wall without end.
    obstacle: Option<&'a Piece>,
    motion: &'a Motion,
    /// Nothing beyond this share matters.
    free: f64,
}

impl Steps<'_> {
    fn run(&self, look: impl Fn(&Stance) -> (Placed, Gap)) -> f64 {
        let (mut placed, mut gap) = look(&self.motion.stance(0.0));
        if gap.distance < -TOUCH {
            return self.out_of(-gap.distance, look);
        }
        let is_touching = gap.distance <= STOP_GAP + TOLERANCE;
        let target = if is_touching { 0.5 * gap.distance.max(0.0) } else { STOP_GAP };
        // what only grazes has room enough in the gap; what pushes on does not begin to move
        let least = if is_touching && self.is_closing(&placed, &gap) { 2.0 * STOP_GAP / self.length() } else { 0.0 };
        let mut share = 0.0;
        for _ in 0..MAX_STOPS {
            share += self.safe_step(&placed, &gap, share, target);
            if share >= self.free {
                return self.free;
            }
            (placed, gap) = look(&self.motion.stance(share));
            if gap.distance <= target + TOLERANCE.min(0.1 * target) {
                break;
            }
        }
        if share > least { share } else { 0.0 }
    }

    /// Of the longest way that a corner can have, in mm.
    fn length(&self) -> f64 {
        self.motion.by.length() + self.motion.turn.abs() * self.radius
    }

    /// Speed of a corner towards the gap's other side, in mm per share; below 0 it approaches.
    #[inline]
    fn speed(&self, off: DVec2, normal: DVec2) -> f64 {
        normal.dot(self.motion.by + off.perp() * self.motion.turn)
    }

    /// Whether the places where they touch approach each other.
    fn is_closing(&self, placed: &Placed, gap: &Gap) -> bool {
        let along = gap.normal.perp();
        let span = |points: &[DVec2], normal: DVec2| {
            let lowest = points.iter().map(|point| normal.dot(*point)).fold(f64::INFINITY, f64::min);
            let touching = points.iter().filter(|point| normal.dot(**point) <= lowest + STOP_GAP);
            touching.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), point| {
                (low.min(along.dot(*point)), high.max(along.dot(*point)))
            })
        };
        let (mut low, mut high) = span(placed.points(), gap.normal);
        if let Some(obstacle) = self.obstacle {
            let (other_low, other_high) = span(&obstacle.points, -gap.normal);
            (low, high) = (low.max(other_low).min(high), high.min(other_high).max(low));
        }
        let fast = self.length();
        let height = lowest(placed, gap);
        [low, high].into_iter().any(|place| {
            let off = along * place + gap.normal * height - self.motion.from;
            self.speed(off, gap.normal) < -SLIDING * fast
        })
    }

    /// How much further no corner can come nearer than `target`.
    fn safe_step(&self, placed: &Placed, gap: &Gap, share: f64, target: f64) -> f64 {
        let lowest = lowest(placed, gap);
        let at = self.motion.from + self.motion.by * share;
        let bend = 0.5 * self.motion.turn * self.motion.turn;
        let negligible = ROUNDING * self.length();
        let mut step = f64::INFINITY;
        for point in placed.points() {
            let off = *point - at;
            let room = (gap.normal.dot(*point) - lowest + gap.distance - target).max(0.0);
            let speed = Some(self.speed(off, gap.normal)).filter(|speed| speed.abs() > negligible).unwrap_or(0.0);
            // the distance left after s is at least room + speed s - curve s²
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

    /// A body that is in something already may move as long as it does not get deeper.
    fn out_of(&self, depth: f64, look: impl Fn(&Stance) -> (Placed, Gap)) -> f64 {
        let steps = self.length().ceil().clamp(1.0, 200.0);
        let mut done = 0.0;
        while done < steps {
            let share = self.free * (done + 1.0) / steps;
            let (_, gap) = look(&self.motion.stance(share));
            if gap.distance < -depth - TOUCH {
                return self.free * done / steps;
            }
            done += 1.0;
        }
        self.free
    }
}

#[inline]
fn lowest(placed: &Placed, gap: &Gap) -> f64 {
    placed.points().iter().map(|point| gap.normal.dot(*point)).fold(f64::INFINITY, f64::min)
}

fn passes_deathly(around: &Around<'_>, body: &Body, motion: &Motion) -> bool {
    let bounds = motion.bounds(body.radius());
    let bottom = || body.parts().iter().filter(|part| part.low == 0.0);
    around.plan.scene.deathly.iter().filter(|piece| Bounds::of(&piece.points).meets(&bounds)).any(|piece| {
        bottom().any(|part| {
            let is_on = Placed::new(&part.piece, &motion.stance(0.0)).separation(piece).distance < -TOUCH;
            is_on || (!motion.is_none() && advance(part, piece, motion, 1.0) < 1.0)
        })
    })
}

#[cfg(test)]
mod tests;
