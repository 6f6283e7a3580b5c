//! The transform from a body's frame to the world's, and the world's convention for directions.

use std::f64::consts::{PI, TAU};

use glam::DVec2;

use crate::plan::Rules;

/// A body's position and heading in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Transform {
    /// The body's (0, 0), in mm.
    pub(crate) origin: DVec2,
    /// The body's +y axis, a unit vector.
    pub(crate) heading: DVec2,
}

impl Transform {
    /// `angle` is counter-clockwise from the world's +x, in rad.
    pub(crate) fn new(origin: DVec2, angle: f64) -> Self {
        Self { origin, heading: DVec2::from_angle(angle) }
    }

    /// From the body's frame to the world's.
    pub(crate) fn world_from_body(&self, point: DVec2) -> DVec2 {
        self.origin + self.heading * point.y - self.heading.perp() * point.x
    }

    /// From the world's frame to the body's.
    pub(crate) fn body_from_world(&self, point: DVec2) -> DVec2 {
        let off = point - self.origin;
        DVec2::new(-self.heading.perp_dot(off), self.heading.dot(off))
    }
}

/// The angle counter-clockwise from the world's +x, in rad. Reduces the direction modulo 2π first, as [`shortest_turn`]
/// does: otherwise very large directions would be rounded differently.
pub(crate) fn angle_from_dir(rules: &Rules, dir: f64) -> f64 {
    rules.directions.zero_angle() + rules.directions.sign() * (dir % TAU)
}

/// The shortest turn between two directions, within (-π, π].
pub(crate) fn shortest_turn(from: f64, to: f64) -> f64 {
    let turn = (to % TAU - from % TAU).rem_euclid(TAU);
    if turn > PI { turn - TAU } else { turn }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;
    use crate::plan::{DirSense, DirZero, Directions};

    #[test]
    fn the_body_s_y_axis_is_the_heading() {
        let check = |zero, sense, dir: f64, ahead: [f64; 2]| {
            let rules = Rules { directions: Directions { zero, sense }, ..Rules::default() };
            let transform = Transform::new(DVec2::new(100.0, 200.0), angle_from_dir(&rules, dir));
            let nose = transform.world_from_body(DVec2::new(0.0, 10.0));
            assert!(nose.distance(DVec2::from(ahead)) < 1e-9, "{zero:?} {sense:?} {dir}: {nose}");
            let right = transform.world_from_body(DVec2::new(10.0, 0.0));
            assert!((nose - transform.origin).perp_dot(right - transform.origin) < 0.0, "+x is to the right of +y");
            assert!(transform.body_from_world(nose).distance(DVec2::new(0.0, 10.0)) < 1e-9);
        };
        check(DirZero::X, DirSense::Ccw, 0.0, [110.0, 200.0]);
        check(DirZero::X, DirSense::Ccw, FRAC_PI_2, [100.0, 210.0]);
        check(DirZero::X, DirSense::Cw, FRAC_PI_2, [100.0, 190.0]);
        check(DirZero::Y, DirSense::Ccw, 0.0, [100.0, 210.0]);
        check(DirZero::Y, DirSense::Cw, FRAC_PI_2, [110.0, 200.0]);
        check(DirZero::MinusX, DirSense::Ccw, 0.0, [90.0, 200.0]);
        check(DirZero::MinusY, DirSense::Cw, FRAC_PI_2, [90.0, 200.0]);
    }

    #[test]
    fn turns_take_the_shorter_way() {
        let check = |from: f64, to: f64, expected: f64| assert!((shortest_turn(from, to) - expected).abs() < 1e-9);
        check(0.0, 1.0, 1.0);
        check(1.0, 0.0, -1.0);
        check(0.0, PI, PI);
        check(0.0, -PI, PI);
        check(0.1, TAU, -0.1);
        check(20.0 * TAU, 0.5, 0.5);
        assert!(shortest_turn(f64::MAX, -f64::MAX).abs() <= PI);
        for (from, to) in [(0.3, 1e15), (1e16, 2.0), (1e300, -3e200)] {
            let heading = |dir: f64| DVec2::from_angle(angle_from_dir(&Rules::default(), dir));
            let turned = heading(from).rotate(DVec2::from_angle(shortest_turn(from, to)));
            assert!(turned.distance(heading(to)) < 1e-12, "{from} {to}");
        }
    }
}
