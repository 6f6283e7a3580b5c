//! The referee's input after a cycle, and its decisions.

use std::time::Duration;

use glam::{DQuat, DVec2, DVec3};
use serde::{Deserialize, Serialize};

use crate::rules::Side;

/// A player: its team's side and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlayerId {
    /// Its team.
    pub side: Side,
    /// 0 to 99, unique in the team. Number 1 is the goalie.
    pub number: u8,
}

impl PlayerId {
    /// The player of `side` with this number.
    pub fn new(side: Side, number: u8) -> Self {
        Self { side, number }
    }

    /// Number 1 may touch the ball with its hands in its own penalty area, and may lie longer.
    pub fn is_goalie(self) -> bool {
        self.number == 1
    }
}

/// The state of ball and players at the end of a cycle.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// Length of the cycle in simulated time.
    pub cycle: Duration,
    /// The ball.
    pub ball: Ball,
    /// All players, in the order of joining.
    pub players: &'a [Player],
    /// Contacts of players with the ball. Only one player counts: the one of the last cycle if it still touches the ball,
    /// else that of the first entry.
    pub contacts: &'a [Contact],
}

/// The ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Its centre, in m.
    pub position: DVec3,
    /// In m/s.
    pub velocity: DVec3,
}

/// A player as the referee sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Player {
    /// Side and number.
    pub id: PlayerId,
    /// Inactive players are ignored: they are not on the field yet, or no longer.
    pub active: bool,
    /// Pose of its torso in the field's frame.
    pub torso: Pose,
    /// Bounding box of its torso.
    pub torso_box: TorsoBox,
    /// Height of the camera above the ground, in m.
    pub camera_height: f64,
    /// Height of the camera along the torso's z axis, above the torso's origin, in m.
    pub camera_along_torso: f64,
    /// Height of the highest point of the head above the ground, in m.
    pub head_top: f64,
}

/// Position and attitude of a part of a robot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// In the field's frame, in m.
    pub position: DVec3,
    /// From the part's axes (x forward, y left, z up) to the field's; of unit length.
    pub rotation: DQuat,
}

/// Bounding box of a torso.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorsoBox {
    /// Its middle in the torso's frame, in m.
    pub center: DVec3,
    /// Half its size along the torso's x and y axes, in m.
    pub half_size: DVec2,
}

/// A part of a player touches the ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The player.
    pub player: PlayerId,
    /// The part that touches.
    pub part: BodyPart,
}

/// Body parts that the rules distinguish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyPart {
    /// A hand or a forearm.
    Arm {
        /// The middle of the shape that touches, in the field's frame, in m.
        position: DVec3,
        /// Its radius, in m.
        radius: f64,
    },
    /// Feet, legs, torso, head.
    Other,
}

impl BodyPart {
    /// Whether a shape of that name in a robot's model is a hand or a forearm.
    pub fn is_arm(geom: &str) -> bool {
        geom.contains("hand") || geom.contains("forearm")
    }
}

/// A position on the ground and a direction to face.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// In the field's frame, in m.
    pub x: f64,
    /// In the field's frame, in m.
    pub y: f64,
    /// Counter-clockwise from the x axis, in rad.
    pub heading: f64,
}

impl Placement {
    /// The spot without the heading, in m.
    pub fn spot(self) -> DVec2 {
        DVec2::new(self.x, self.y)
    }
}

/// A change of the world that the referee orders before the next cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decision {
    /// Move the ball. It does not spin.
    PlaceBall {
        /// Its centre, in m.
        position: DVec3,
        /// In m/s.
        velocity: DVec3,
    },
    /// Put a player upright on its feet, at its model's height, joints at zero.
    Relocate {
        /// The player.
        player: PlayerId,
        /// Its new position.
        to: Placement,
    },
}

/// A foul, with its number in the monitor protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Foul {
    /// Never called.
    Crowding = 0,
    /// Never called.
    Touching = 1,
    /// One too many in the own goalie area.
    IllegalDefence = 2,
    /// Never called.
    IllegalAttack = 3,
    /// Down for too long.
    Incapable = 4,
    /// Never called.
    KickOff = 5,
    /// Never called.
    Charging = 6,
    /// Never called.
    SelfCollision = 7,
    /// Never called.
    BallHolding = 8,
    /// The taker of a set play touched the ball twice.
    DoubleTouch = 9,
    /// Touched the ball with a stretched arm.
    Hand = 10,
}

impl Foul {
    /// 0 to 10.
    pub fn id(self) -> u8 {
        self as u8
    }
}

/// A foul and who committed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoulCall {
    /// The player.
    pub player: PlayerId,
    /// The foul.
    pub foul: Foul,
}
