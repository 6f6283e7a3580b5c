//! Poses of robots, beams of sensors and their readings, in mm and rad.

/// A pose in the arena.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// x of the body's point (0, 0), in mm, 0 to 2000.
    pub x: f64,
    /// y of the body's point (0, 0), in mm, 0 to 2000.
    pub y: f64,
    /// Direction of the body's +y axis, in rad, counter-clockwise from the world's +x unless the world file changes the
    /// convention.
    pub dir: f64,
}

/// A robot's pose with the state of its last move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// x of the body's point (0, 0), in mm, 0 to 2000.
    pub x: f64,
    /// y of the body's point (0, 0), in mm, 0 to 2000.
    pub y: f64,
    /// Height of the ground under the robot, in mm, -2000 to 2000.
    pub z: f64,
    /// Direction of the body's +y axis, in rad, not wrapped.
    pub dir: f64,
    /// Pitch, in rad, within (-π/2, π/2); positive is nose up.
    pub tilt_straight: f64,
    /// Roll, in rad, within (-π/2, π/2); positive is left side up.
    pub tilt_across: f64,
    /// The blocked fraction of the move, 0 to 1.
    pub stress: f64,
    /// Whether the bottom layer is on deathly ground.
    pub death: bool,
}

/// A sensor's beam: a pyramid without roll whose apex is the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// x of the apex, in mm.
    pub x: f64,
    /// y of the apex, in mm.
    pub y: f64,
    /// z of the apex, in mm above ground zero.
    pub z: f64,
    /// Direction of the beam's axis, in rad, as [`Pose::dir`].
    pub dir: f64,
    /// Tilt of the beam's axis, in rad, -π/2 to π/2; positive is up.
    pub tilt: f64,
    /// Full horizontal opening angle, in rad, 0 to π/2.
    pub angle_h: f64,
    /// Full vertical opening angle, in rad, 0 to π/2.
    pub angle_v: f64,
}

/// The nearest point in a beam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamHit {
    /// Distance from the apex, in mm; the world's maximum range if the beam is empty.
    pub distance: f64,
    /// Red, green and blue at that point; the world's background colour if the beam is empty.
    pub color: [u8; 3],
}
