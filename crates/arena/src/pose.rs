//! Where robots are, where sensors look, and what they find. In mm and rad.

/// Where a robot is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// In mm, 0 to 2000, of the body's point (0, 0).
    pub x: f64,
    /// In mm, 0 to 2000, of the body's point (0, 0).
    pub y: f64,
    /// Where the body's +y axis points, in rad; counter-clockwise from the world's +x, unless the world file says
    /// otherwise.
    pub dir: f64,
}

/// Where a robot is, after it was placed or moved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Position {
    /// In mm, 0 to 2000.
    pub x: f64,
    /// In mm, 0 to 2000.
    pub y: f64,
    /// Height of the ground under the robot, in mm, -2000 to 2000.
    pub z: f64,
    /// Where the body's +y axis points, in rad; not wrapped.
    pub dir: f64,
    /// Tilt straightforward, in rad, within (-π/2, π/2); positive is uphill.
    pub tilt_straight: f64,
    /// Tilt across, in rad, within (-π/2, π/2); positive is left side up.
    pub tilt_across: f64,
    /// The blocked fraction of the move, 0 to 1.
    pub stress: f64,
    /// Whether the bottom layer is on deathly ground.
    pub death: bool,
}

/// A sensor's beam: a pyramid without roll, its apex at the sensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// The sensor's place, in mm.
    pub x: f64,
    /// The sensor's place, in mm.
    pub y: f64,
    /// The sensor's place, in mm above ground zero.
    pub z: f64,
    /// Direction of the beam's axis, in rad, as a robot's.
    pub dir: f64,
    /// Tilt of the beam's axis, in rad, -π/2 to π/2; positive is up.
    pub tilt: f64,
    /// Whole horizontal opening angle, in rad, 0 to π/2.
    pub angle_h: f64,
    /// Whole vertical opening angle, in rad, 0 to π/2.
    pub angle_v: f64,
}

/// What a visual sensor finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sight {
    /// To the nearest point in the beam, in mm; the world's greatest range if there is none.
    pub distance: f64,
    /// Red, green and blue of what is nearest; the world's background if there is nothing.
    pub color: [u8; 3],
}
