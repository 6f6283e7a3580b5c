//! The players' cameras.
//!
//! A camera reports landmarks, the ball and markers on robots as distance and direction. Its quality is replaceable:
//! [`IdealVision`] detects everything in its field of view, [`NoisyVision`] has errors, misses points, and detects nothing
//! that is hidden.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::{field::Landmark, rules::Side, scene::PlayerId, truncate::truncate};

/// Half the field of view, horizontally and vertically, in degrees.
pub const HALF_FIELD_OF_VIEW_DEG: f64 = 60.0;
/// Tangent of an angle a little beyond half the field of view.
const BEYOND_VIEW: f64 = 1.734;
/// Decimals of the directions that agents receive. The field of view is compared with the truncated value.
const DIGITS: u8 = 2;

/// A camera of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// In the field's frame, in m.
    pub position: DVec3,
    /// From the camera's axes (x into the picture, y left, z up) to the field's.
    pub rotation: DQuat,
}

/// Everything that a camera can detect.
#[derive(Clone, Copy, Debug)]
pub struct VisionTargets<'a> {
    /// In the order of the protocol.
    pub landmarks: &'a [Landmark],
    /// The ball's centre, in m.
    pub ball: DVec3,
    /// All players on the field in the order of joining, including the camera's own.
    pub players: &'a [MarkedPlayer<'a>],
}

/// A player and the markers on its robot.
#[derive(Clone, Copy, Debug)]
pub struct MarkedPlayer<'a> {
    /// The player.
    pub id: PlayerId,
    /// In the order of the robot's model.
    pub markers: &'a [Marker<'a>],
}

/// A point on a robot that cameras recognise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker<'a> {
    /// `head`, `lfoot`, `rfoot`, ...
    pub name: &'a str,
    /// In the field's frame, in m.
    pub position: DVec3,
}

/// Distance and direction from a camera, not truncated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polar {
    /// In m.
    pub distance: f64,
    /// Counter-clockwise from straight ahead, in degrees.
    pub azimuth_deg: f64,
    /// Up from straight ahead, in degrees.
    pub elevation_deg: f64,
}

/// Something that a camera has detected.
#[derive(Clone, Debug, PartialEq)]
pub enum Detection<'a> {
    /// A landmark.
    Landmark {
        /// Its name in the protocol.
        name: &'static str,
        /// As seen from the camera.
        at: Polar,
    },
    /// The ball.
    Ball {
        /// As seen from the camera.
        at: Polar,
    },
    /// At least one marker of a player.
    Player {
        /// The player.
        id: PlayerId,
        /// Names and positions of the detected markers.
        markers: Vec<(&'a str, Polar)>,
    },
}

impl Camera {
    /// Distance and direction of a point in the field's frame.
    pub fn polar(&self, point: DVec3) -> Polar {
        Polar::of(self.seen(point))
    }

    /// A point of the field's frame in the camera's.
    fn seen(&self, point: DVec3) -> DVec3 {
        self.rotation.inverse() * (point - self.position)
    }
}

/// Whether a point in the camera's frame is certainly outside the field of view. Spares most points the trigonometry.
fn is_beyond_view(seen: DVec3) -> bool {
    seen.x < 0.0
        || seen.y.abs() > BEYOND_VIEW * seen.x
        || seen.z * seen.z > BEYOND_VIEW * BEYOND_VIEW * seen.truncate().length_squared()
}

impl Polar {
    /// Distance and direction of a point in the camera's frame.
    fn of(seen: DVec3) -> Self {
        Self {
            distance: seen.length(),
            azimuth_deg: seen.y.atan2(seen.x).to_degrees(),
            elevation_deg: seen.z.atan2(seen.truncate().length()).to_degrees(),
        }
    }

    /// Whether it is in the field of view, as decided by the truncated angles that agents receive.
    pub fn is_in_view(&self) -> bool {
        let within = |angle_deg| truncate(angle_deg, DIGITS).abs() <= HALF_FIELD_OF_VIEW_DEG;
        within(self.azimuth_deg) && within(self.elevation_deg)
    }
}

/// The quality of a camera.
pub trait Vision {
    /// The point as the camera measures it, if it detects it.
    fn detect(&mut self, camera: &Camera, point: DVec3) -> Option<Polar>;

    /// Everything that is detected, in the order of the protocol: landmarks, ball, left team, right team.
    fn detect_all<'a>(&mut self, camera: &Camera, targets: &VisionTargets<'a>) -> Vec<Detection<'a>> {
        let mut seen = Vec::new();
        for landmark in targets.landmarks {
            let at = self.detect(camera, landmark.position);
            seen.extend(at.map(|at| Detection::Landmark { name: landmark.name, at }));
        }
        seen.extend(self.detect(camera, targets.ball).map(|at| Detection::Ball { at }));
        for side in Side::BOTH {
            for player in targets.players.iter().filter(|player| player.id.side == side) {
                let look = |marker: &Marker<'a>| Some((marker.name, self.detect(camera, marker.position)?));
                let markers: Vec<_> = player.markers.iter().filter_map(look).collect();
                if !markers.is_empty() {
                    seen.push(Detection::Player { id: player.id, markers });
                }
            }
        }
        seen
    }
}

/// Detects everything in its field of view exactly, at any distance, through anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdealVision;

impl Vision for IdealVision {
    fn detect(&mut self, camera: &Camera, point: DVec3) -> Option<Polar> {
        let seen = camera.seen(point);
        (!is_beyond_view(seen)).then(|| Polar::of(seen)).filter(Polar::is_in_view)
    }
}

/// Decides whether a point is hidden.
pub trait Occlusion {
    /// Whether `to` is hidden from a camera at `from`; both in the field's frame, in m.
    fn hides(&self, from: DVec3, to: DVec3) -> bool;
}

/// Nothing is hidden.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoOcclusion;

impl Occlusion for NoOcclusion {
    fn hides(&self, _from: DVec3, _to: DVec3) -> bool {
        false
    }
}

impl<F: Fn(DVec3, DVec3) -> bool> Occlusion for F {
    fn hides(&self, from: DVec3, to: DVec3) -> bool {
        self(from, to)
    }
}

/// Points behind other players are hidden. Each player is a capsule between its markers.
#[derive(Clone, Debug, Default)]
pub struct PlayerOcclusion(Vec<(DVec3, DVec3)>);

impl PlayerOcclusion {
    /// Radius of the capsules, in m.
    const RADIUS: f64 = 0.12;

    /// Occlusion by all players but the observer.
    pub fn new(observer: PlayerId, players: &[MarkedPlayer<'_>]) -> Self {
        let others = players.iter().filter(|player| player.id != observer);
        Self(others.filter_map(|player| axis(player.markers)).collect())
    }
}

/// From the highest of a player's markers to the middle of the others.
fn axis(markers: &[Marker<'_>]) -> Option<(DVec3, DVec3)> {
    let top = markers.iter().max_by(|a, b| a.position.z.total_cmp(&b.position.z))?.position;
    let others = markers.len().saturating_sub(1);
    let sum: DVec3 = markers.iter().map(|marker| marker.position).sum();
    let bottom = if others == 0 { top } else { (sum - top) / others as f64 };
    Some((top, bottom))
}

impl Occlusion for PlayerOcclusion {
    fn hides(&self, from: DVec3, to: DVec3) -> bool {
        // a robot does not hide its own markers, nor the ball at its feet
        let reaches =
            |point: DVec3, (top, bottom): (DVec3, DVec3)| distance((point, point), (top, bottom)) < 2.0 * Self::RADIUS;
        self.0.iter().any(|&robot| !reaches(to, robot) && distance((from, to), robot) < Self::RADIUS)
    }
}

/// The distance between two line segments, in m.
fn distance((a, b): (DVec3, DVec3), (c, d): (DVec3, DVec3)) -> f64 {
    let (along, across, between) = (b - a, d - c, a - c);
    let (aa, cc, ac) = (along.length_squared(), across.length_squared(), along.dot(across));
    let (ab, cb) = (along.dot(between), across.dot(between));
    // where the two lines are nearest, kept within the first segment; then where the second is nearest to that, and back
    let denominator = aa * cc - ac * ac;
    let part = |above: f64, below: f64| if below > f64::EPSILON { (above / below).clamp(0.0, 1.0) } else { 0.0 };
    let s = part(ac * cb - cc * ab, denominator);
    let t = part(ac * s + cb, cc);
    let s = part(ac * t - ab, aa);
    (a + along * s).distance(c + across * t)
}

/// Errors of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Standard deviation of the distance, relative to it.
    pub distance: f64,
    /// Standard deviation of each angle, in degrees.
    pub angle_deg: f64,
    /// Probability of missing a point.
    pub misses: f64,
}

impl Default for Noise {
    fn default() -> Self {
        Self { distance: 0.01, angle_deg: 0.5, misses: 0.01 }
    }
}

/// Adds noise, misses points, and detects nothing that is hidden. The field of view applies to the exact direction.
#[derive(Clone, Debug)]
pub struct NoisyVision<O> {
    noise: Noise,
    occlusion: O,
    rng: ChaCha8Rng,
}

impl<O: Occlusion> NoisyVision<O> {
    /// The same seed and the same targets give the same errors.
    pub fn new(noise: Noise, occlusion: O, seed: u64) -> Self {
        Self { noise, occlusion, rng: ChaCha8Rng::seed_from_u64(seed) }
    }
}

impl<O: Occlusion> Vision for NoisyVision<O> {
    fn detect(&mut self, camera: &Camera, point: DVec3) -> Option<Polar> {
        let at = IdealVision.detect(camera, point)?;
        if self.occlusion.hides(camera.position, point) {
            return None;
        }
        // drawn for every point, so that a miss does not change the errors of the others
        let missed = self.rng.random::<f64>() < self.noise.misses;
        let [distance, azimuth, elevation] = [(); 3].map(|()| gauss(&mut self.rng));
        let seen = Polar {
            distance: (at.distance * (1.0 + self.noise.distance * distance)).max(0.0),
            azimuth_deg: at.azimuth_deg + self.noise.angle_deg * azimuth,
            elevation_deg: at.elevation_deg + self.noise.angle_deg * elevation,
        };
        (!missed).then_some(seen)
    }
}

/// A number of mean 0 and standard deviation 1 (Box and Muller).
fn gauss(rng: &mut impl Rng) -> f64 {
    // the logarithm needs a number above 0
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (TAU * rng.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        field::Field,
        rules::Side::{Left, Right},
    };

    const AHEAD: Camera = Camera { position: DVec3::new(1.0, 2.0, 0.5), rotation: DQuat::IDENTITY };

    fn at(azimuth_deg: f64, elevation_deg: f64, distance: f64) -> DVec3 {
        let (azimuth, elevation) = (azimuth_deg.to_radians(), elevation_deg.to_radians());
        AHEAD.position + distance * (DQuat::from_rotation_z(azimuth) * DQuat::from_rotation_y(-elevation) * DVec3::X)
    }

    #[test]
    fn a_crowd_hides_what_is_behind_it() {
        let standing = |x: f64, y: f64| {
            let at = |name, y, z| Marker { name, position: DVec3::new(x, y, z) };
            [at("head", y, 1.1), at("lfoot", y + 0.1, 0.0), at("rfoot", y - 0.1, 0.0)]
        };
        let (me, other) = (standing(0.0, 0.0), standing(5.0, 0.0));
        let id = |number| PlayerId { side: Left, number };
        let players = [MarkedPlayer { id: id(1), markers: &me }, MarkedPlayer { id: id(2), markers: &other }];
        let crowd = PlayerOcclusion::new(id(1), &players);
        let eye = DVec3::new(0.05, 0.0, 1.1);
        for (seen, hidden) in [
            (DVec3::new(10.0, 0.0, 0.5), true),
            (DVec3::new(10.0, 1.0, 0.5), false),
            (DVec3::new(10.0, 0.2, 0.5), true),
            (DVec3::new(10.0, 0.0, 2.5), false),
            (DVec3::new(4.0, 0.0, 0.1), false),
            (DVec3::new(-10.0, 0.0, 0.5), false),
            // its own markers, and the ball before its feet
            (other[0].position, false),
            (other[1].position, false),
            (DVec3::new(4.9, 0.0, 0.11), false),
        ] {
            assert_eq!(crowd.hides(eye, seen), hidden, "{seen}");
        }
        assert!(
            !PlayerOcclusion::new(id(2), &players[1..]).hides(eye, DVec3::new(10.0, 0.0, 0.5)),
            "nobody hides from itself"
        );
    }

    #[test]
    fn sees_what_the_reference_sees() {
        // a pose of the reference's camera, and what it reported from there
        let camera = Camera {
            position: DVec3::new(3.4036193046463787, -2.156190450382973, 1.0968912335042864),
            // next to upright, turned left by 0.4: the tilt shows in a last digit
            rotation: DQuat::from_rotation_z(0.4) * DQuat::from_rotation_y(1.882_6e-7),
        };
        let landmarks = Field::FIFA7VS7.landmarks();
        let ball = DVec3::new(0.0, 0.0, 0.11);
        let seen = IdealVision.detect_all(&camera, &VisionTargets { landmarks: &landmarks, ball, players: &[] });
        let told: Vec<_> = (seen.iter())
            .map(|detection| match detection {
                Detection::Landmark { name, at } => {
                    (*name, [at.distance, at.azimuth_deg, at.elevation_deg].map(|number| truncate(number, 2)))
                }
                other => panic!("{other:?} is behind the camera"),
            })
            .collect();
        assert_eq!(
            told,
            [
                ("l_ruf", [31.43, 16.99, -1.99]),
                ("l_rlf", [28.85, -56.24, -2.17]),
                ("p_rpm", [16.94, -15.59, -3.71]),
                ("g_rup", [24.43, -13.52, 1.71]),
                ("g_rlp", [24.1, -22.14, 1.74]),
                ("l_ruga", [22.23, 2.28, -2.82]),
                ("l_rlga", [20.77, -37.27, -3.02]),
                ("t_ruga", [25.9, -1.49, -2.42]),
                ("t_rlga", [24.66, -34.96, -2.54]),
                ("l_rupa", [24.02, 28.1, -2.61]),
                ("t_rupa", [30.49, 14.82, -2.06]),
                ("t_rlpa", [28.06, -53.68, -2.23]),
            ]
        );
    }

    #[test]
    fn the_edge_of_the_picture() {
        for (azimuth, elevation, seen) in [
            (0.0, 0.0, true),
            (60.0, 0.0, true),
            (60.009, 0.0, true),
            (60.011, 0.0, false),
            (-60.009, 0.0, true),
            (-60.011, 0.0, false),
            (0.0, 60.009, true),
            (0.0, -60.011, false),
            (60.0, -60.0, true),
            (180.0, 0.0, false),
        ] {
            let polar = IdealVision.detect(&AHEAD, at(azimuth, elevation, 7.0));
            assert_eq!(polar.is_some(), seen, "{azimuth} {elevation}");
            let Some(polar) = polar else { continue };
            assert!((polar.distance - 7.0).abs() < 1e-9);
            assert!((polar.azimuth_deg - azimuth).abs() < 1e-9 && (polar.elevation_deg - elevation).abs() < 1e-9);
        }
    }

    #[test]
    fn players_come_left_team_first_and_only_with_what_is_seen() {
        let marker = |name, azimuth| Marker { name, position: at(azimuth, 0.0, 3.0) };
        let (front, half, behind) = (
            [marker("head", 1.0), marker("lfoot", 2.0)],
            [marker("head", 170.0), marker("rfoot", 9.0)],
            [marker("head", 99.0)],
        );
        let players = [
            MarkedPlayer { id: PlayerId::new(Right, 4), markers: &front },
            MarkedPlayer { id: PlayerId::new(Left, 3), markers: &half },
            MarkedPlayer { id: PlayerId::new(Left, 2), markers: &behind },
            MarkedPlayer { id: PlayerId::new(Left, 1), markers: &front },
        ];
        let seen = IdealVision
            .detect_all(&AHEAD, &VisionTargets { landmarks: &[], ball: at(0.0, -10.0, 2.0), players: &players });
        let told: Vec<_> = (seen.iter())
            .map(|detection| match detection {
                Detection::Landmark { name, .. } => (*name).to_owned(),
                Detection::Ball { .. } => "B".to_owned(),
                Detection::Player { id, markers } => {
                    let names: Vec<_> = markers.iter().map(|(name, _)| *name).collect();
                    format!("{:?} {} {}", id.side, id.number, names.join("+"))
                }
            })
            .collect();
        assert_eq!(told, ["B", "Left 3 rfoot", "Left 1 head+lfoot", "Right 4 head+lfoot"]);
    }

    #[test]
    fn noise_has_the_size_that_was_asked_for() {
        let mut eye = NoisyVision::new(Noise::default(), NoOcclusion, 3);
        let seen: Vec<Polar> = (0..20_000).filter_map(|_| eye.detect(&AHEAD, at(20.0, -5.0, 10.0))).collect();
        let misses = 1.0 - seen.len() as f64 / 20_000.0;
        assert!((misses - 0.01).abs() < 0.003, "{misses}");
        for (of, mean, sigma) in [
            ((|p: &Polar| p.distance) as fn(&Polar) -> f64, 10.0, 0.1),
            (|p| p.azimuth_deg, 20.0, 0.5),
            (|p| p.elevation_deg, -5.0, 0.5),
        ] {
            let count = seen.len() as f64;
            let found = seen.iter().map(of).sum::<f64>() / count;
            let spread = (seen.iter().map(|p| (of(p) - found).powi(2)).sum::<f64>() / count).sqrt();
            assert!((found - mean).abs() < 0.02, "mean {found}");
            assert!((spread / sigma - 1.0).abs() < 0.03, "sigma {spread}");
        }
    }

    #[test]
    fn noise_comes_from_the_seed_and_hidden_things_stay_hidden() {
        let look = |seed| NoisyVision::new(Noise::default(), NoOcclusion, seed).detect(&AHEAD, at(1.0, 2.0, 3.0));
        assert_eq!(look(5), look(5));
        assert_ne!(look(5), look(6));
        let wall = |from: DVec3, to: DVec3| (from.x < 2.0) != (to.x < 2.0);
        let mut eye = NoisyVision::new(Noise { misses: 0.0, ..Noise::default() }, wall, 5);
        assert_eq!(eye.detect(&AHEAD, at(0.0, 0.0, 3.0)), None);
        assert!(eye.detect(&AHEAD, at(0.0, 0.0, 0.9)).is_some());
    }

    #[test]
    fn the_edge_of_the_view_is_that_of_the_truncated_angles() {
        let edges = (0..=8).map(|step| 59.98 + 0.01 * f64::from(step));
        for edge in edges.flat_map(|edge| [edge, -edge]) {
            for point in [at(edge, 0.0, 3.0), at(0.0, edge, 3.0), at(edge, edge, 3.0), at(edge, 1.0, 0.1)] {
                assert_eq!(IdealVision.detect(&AHEAD, point), Some(AHEAD.polar(point)).filter(Polar::is_in_view));
            }
        }
        for offset in [DVec3::ZERO, DVec3::X, -DVec3::X, DVec3::Y, DVec3::Z, -DVec3::Z, DVec3::NAN] {
            let expected = Some(AHEAD.polar(AHEAD.position + offset)).filter(Polar::is_in_view);
            let seen = IdealVision.detect(&AHEAD, AHEAD.position + offset);
            assert_eq!(format!("{seen:?}"), format!("{expected:?}"), "{offset}");
        }
    }

    proptest! {
        #[test]
        fn nothing_in_view_is_missed(x in -9.0..9.0, y in -9.0..9.0, z in -9.0..9.0, turn in -4.0..4.0, tilt in -1.0..1.0) {
            let rotation = DQuat::from_rotation_z(turn) * DQuat::from_rotation_y(tilt);
            let (camera, point) = (Camera { position: DVec3::ZERO, rotation }, DVec3::new(x, y, z));
            prop_assert_eq!(IdealVision.detect(&camera, point), Some(camera.polar(point)).filter(Polar::is_in_view));
        }

        #[test]
        fn whatever_is_seen_lies_in_that_direction(x in -60.0..60.0, y in -40.0..40.0, z in 0.0..3.0, turn in -4.0..4.0, tilt in -1.0..1.0) {
            let rotation = DQuat::from_rotation_z(turn) * DQuat::from_rotation_y(tilt);
            let camera = Camera { position: DVec3::new(1.0, -2.0, 1.1), rotation };
            let point = DVec3::new(x, y, z);
            if let Some(polar) = IdealVision.detect(&camera, point) {
                let (azimuth, elevation) = (polar.azimuth_deg.to_radians(), polar.elevation_deg.to_radians());
                let ray = DQuat::from_rotation_z(azimuth) * DQuat::from_rotation_y(-elevation) * DVec3::X;
                let back = camera.position + rotation * (polar.distance * ray);
                prop_assert!(back.abs_diff_eq(point, 1e-9));
            }
        }
    }
}
