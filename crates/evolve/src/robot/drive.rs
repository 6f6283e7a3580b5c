//! Kinematics of a differential drive.

use arena::Pose;

/// A differential drive without slip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drive {
    /// Distance between the wheels, in mm.
    pub axle: f64,
    /// Offset of the axle ahead of the body's point (0, 0), in mm; negative is behind.
    pub ahead: f64,
}

impl Drive {
    /// The pose after the wheels have travelled `left` and `right` mm. Exact: the axle's centre follows a circular arc.
    pub fn pose_after(&self, from: Pose, left: f64, right: f64) -> Pose {
        let turn = (right - left) / self.axle;
        let half = 0.5 * turn;
        // the chord of the arc, in the direction halfway through the turn
        let chord = 0.5 * (left + right) * sinc(half);
        let (sin, cos) = (from.dir + half).sin_cos();
        let mut to = Pose { x: from.x + chord * cos, y: from.y + chord * sin, dir: from.dir + turn };
        if self.ahead != 0.0 {
            // the point (0, 0) rotates about the axle
            let swing = 2.0 * self.ahead * half.sin();
            to.x += swing * sin;
            to.y -= swing * cos;
        }
        to
    }
}

/// sin(x) / x, and 1 at 0.
fn sinc(x: f64) -> f64 {
    // below this, x² / 6 is less than half the last digit of 1
    if x.abs() < 1e-8 { 1.0 } else { x.sin() / x }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use proptest::prelude::*;

    use super::*;

    fn close(a: Pose, b: Pose) -> bool {
        (a.x - b.x).abs() < 1e-6 && (a.y - b.y).abs() < 1e-6 && (a.dir - b.dir).abs() < 1e-9
    }

    #[test]
    fn known_paths() {
        let drive = Drive { axle: 100.0, ahead: 0.0 };
        let pose = |x, y, dir| Pose { x, y, dir };
        let from = pose(1000.0, 1000.0, 0.0);
        let quarter = FRAC_PI_2 * 100.0;
        let cases = [
            ("straight on", (10.0, 10.0), pose(1010.0, 1000.0, 0.0)),
            ("back", (-10.0, -10.0), pose(990.0, 1000.0, 0.0)),
            ("on the spot, to the left", (-quarter / 2.0, quarter / 2.0), pose(1000.0, 1000.0, FRAC_PI_2)),
            ("a quarter round the left wheel", (0.0, quarter), pose(1050.0, 1050.0, FRAC_PI_2)),
            ("half round the right wheel", (2.0 * quarter, 0.0), pose(1000.0, 900.0, -PI)),
        ];
        for (what, (left, right), to) in cases {
            let reached = drive.pose_after(from, left, right);
            assert!(close(reached, to), "{what}: {reached:?} instead of {to:?}");
        }
    }

    #[test]
    fn the_axle_stays_when_the_body_turns_round_it() {
        let drive = Drive { axle: 100.0, ahead: 30.0 };
        let from = Pose { x: 500.0, y: 500.0, dir: 0.0 };
        let quarter = FRAC_PI_2 * 50.0;
        let expected = Pose { x: 530.0, y: 470.0, dir: FRAC_PI_2 };
        assert!(close(drive.pose_after(from, -quarter, quarter), expected));
    }

    proptest! {
        /// One step is the same as a thousand small ones.
        #[test]
        fn arcs_add_up(left in -50.0..50.0, right in -50.0..50.0, dir in -4.0..4.0, ahead in -40.0..40.0) {
            let drive = Drive { axle: 80.0, ahead };
            let from = Pose { x: 1000.0, y: 1000.0, dir };
            let many = (0..1000).fold(from, |pose, _| drive.pose_after(pose, left / 1000.0, right / 1000.0));
            prop_assert!(close(drive.pose_after(from, left, right), many));
        }
    }
}
