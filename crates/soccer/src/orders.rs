//! Commands of agents and monitors to the game, and its replies.

use std::fmt;

use serde::{Deserialize, Serialize};
use world::AgentId;

use crate::{
    rules::{PlayMode, Side},
    scene::{Placement, PlayerId},
    teams::JoinError,
};

/// Limit of all positions, in m, and speeds, in m/s: physics fails far beyond it.
pub const MAX_DISTANCE: f64 = 1_000.0;

/// A command to the game.
///
/// [`GameOrder::Beam`] and [`GameOrder::Say`] are carried out before the physics of the next cycle, in the order in which
/// the players joined; the others after it, before the referee judges the cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum GameOrder {
    /// Move a player to a spot of its choice, as far as the rules allow.
    Beam {
        /// The player's robot.
        agent: AgentId,
        /// Given as for the left team.
        to: Placement,
    },
    /// Let a player speak.
    Say {
        /// The player's robot.
        agent: AgentId,
        /// Loudness, 0 to 1.
        volume: f64,
        /// The message, in any encoding.
        text: Vec<u8>,
    },
    /// Start the game; without a side a coin is tossed.
    KickOff(Option<Side>),
    /// Continue play with the ball where it is.
    DropBall,
    /// Move the ball.
    PlaceBall {
        /// Centre of the ball in the field's frame, in m.
        position: [f64; 3],
        /// Velocity, in m/s.
        velocity: [f64; 3],
    },
    /// Move a player, its joints, or both; whatever is moved is at rest afterwards.
    PlacePlayer {
        /// The player.
        player: PlayerId,
        /// Position of its torso, in m, and rotation as a quaternion, w first, of any length but 0.
        to: Option<([f64; 3], [f64; 4])>,
        /// Motors and the angles of their joints, in rad. The other joints go to 0 if the player is moved, and keep
        /// their angles if it is not.
        joints: Vec<(String, f64)>,
    },
    /// Put a player upright on its feet, at rest.
    StandPlayer {
        /// The player.
        player: PlayerId,
        /// Where, in the field's frame.
        to: Placement,
    },
    /// Set the play mode.
    SetPlayMode(PlayMode),
}

impl GameOrder {
    /// Whether all numbers are finite and within [`MAX_DISTANCE`].
    ///
    /// # Errors
    /// The refusal that the order would get.
    pub fn check(&self) -> Result<(), GameRefusal> {
        let is_finite = |numbers: &[f64]| numbers.iter().all(|number| number.is_finite());
        let is_near = |numbers: &[f64]| numbers.iter().all(|number| number.abs() <= MAX_DISTANCE);
        let (is_finite, is_near) = match self {
            Self::Beam { to: Placement { x, y, heading }, .. }
            | Self::StandPlayer { to: Placement { x, y, heading }, .. } => (heading.is_finite(), is_near(&[*x, *y])),
            Self::Say { volume, .. } => (volume.is_finite(), true),
            Self::PlaceBall { position, velocity } => (true, is_near(position) && is_near(velocity)),
            Self::PlacePlayer { to, joints, .. } => {
                let (position, rotation) = to.unwrap_or_default();
                (is_finite(&rotation) && joints.iter().all(|(_, angle)| angle.is_finite()), is_near(&position))
            }
            Self::KickOff(_) | Self::DropBall | Self::SetPlayMode(_) => (true, true),
        };
        match (is_finite, is_near) {
            (false, _) => Err(GameRefusal::NotFinite),
            (true, false) => Err(GameRefusal::TooFar),
            (true, true) => Ok(()),
        }
    }
}

/// A remark on an order that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameAnswer {
    /// Some joints were not moved because the robot has no such motors.
    UnknownMotors {
        /// Their names.
        motors: Vec<String>,
    },
}

impl fmt::Display for GameAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::UnknownMotors { motors } = self;
        write!(f, "the robot has no motor `{}`", motors.join("`, `"))
    }
}

/// Why the game refuses an order or a player.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameRefusal {
    /// A position or speed is out of range.
    #[error("a position is beyond {MAX_DISTANCE} m, or a speed beyond {MAX_DISTANCE} m/s")]
    TooFar,
    /// A number is infinite or not a number.
    #[error("not a finite number")]
    NotFinite,
    /// A player has given too many orders since the last cycle.
    #[error("too many beams and messages of one player in one cycle")]
    PlayerQueueFull,
    /// Too many orders were given since the last cycle.
    #[error("too many orders in one cycle")]
    QueueFull,
    /// The order is about a player who is not in the game.
    #[error("no {} player has the number {}", player.side.name(), player.number)]
    UnknownPlayer {
        /// The player.
        player: PlayerId,
    },
    /// A robot may not join.
    #[error(transparent)]
    Join(#[from] JoinError),
}

/// A robot's request to play.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Name of its team.
    pub team: String,
    /// Its number in the team.
    pub number: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recordings hold orders in this form.
    #[test]
    fn orders_are_recorded_as_before() {
        let player = PlayerId::new(Side::Right, 7);
        let to = Placement { x: -1.5, y: 2.0, heading: 0.25 };
        for (order, text) in [
            (
                GameOrder::Beam { agent: AgentId(3), to },
                r#"{"Beam":{"agent":3,"to":{"x":-1.5,"y":2.0,"heading":0.25}}}"#,
            ),
            (
                GameOrder::Say { agent: AgentId(3), volume: 0.5, text: b"hi".to_vec() },
                r#"{"Say":{"agent":3,"volume":0.5,"text":[104,105]}}"#,
            ),
            (GameOrder::KickOff(None), r#"{"KickOff":null}"#),
            (GameOrder::KickOff(Some(Side::Left)), r#"{"KickOff":"left"}"#),
            (GameOrder::DropBall, r#""DropBall""#),
            (
                GameOrder::PlaceBall { position: [1.0, 2.0, 0.1], velocity: [0.0; 3] },
                r#"{"PlaceBall":{"position":[1.0,2.0,0.1],"velocity":[0.0,0.0,0.0]}}"#,
            ),
            (
                GameOrder::PlacePlayer {
                    player,
                    to: Some(([1.0, 2.0, 0.7], [1.0, 0.0, 0.0, 0.0])),
                    joints: vec![("he1".to_owned(), 0.5)],
                },
                r#"{"PlacePlayer":{"player":{"side":"right","number":7},"to":[[1.0,2.0,0.7],[1.0,0.0,0.0,0.0]],"joints":[["he1",0.5]]}}"#,
            ),
            (
                GameOrder::StandPlayer { player, to },
                r#"{"StandPlayer":{"player":{"side":"right","number":7},"to":{"x":-1.5,"y":2.0,"heading":0.25}}}"#,
            ),
            (GameOrder::SetPlayMode(PlayMode::PlayOn), r#"{"SetPlayMode":"PlayOn"}"#),
        ] {
            assert_eq!(serde_json::to_string(&order).unwrap(), text);
            assert_eq!(serde_json::from_str::<GameOrder>(text).unwrap(), order);
        }
        let request = JoinRequest { team: "A".to_owned(), number: 2 };
        assert_eq!(serde_json::to_string(&request).unwrap(), r#"{"team":"A","number":2}"#);
    }

    #[test]
    fn numbers_that_physics_or_recordings_cannot_hold_are_refused() {
        let at = |x, heading| Placement { x, y: 0.0, heading };
        let player = PlayerId::new(Side::Left, 1);
        let place = |rotation, angle| GameOrder::PlacePlayer {
            player,
            to: Some(([0.0; 3], [1.0, 0.0, 0.0, rotation])),
            joints: vec![("he1".to_owned(), angle)],
        };
        for (order, refusal) in [
            (GameOrder::Beam { agent: AgentId(1), to: at(1_001.0, 0.0) }, Some(GameRefusal::TooFar)),
            (GameOrder::Beam { agent: AgentId(1), to: at(f64::NAN, 0.0) }, Some(GameRefusal::TooFar)),
            (GameOrder::StandPlayer { player, to: at(0.0, f64::INFINITY) }, Some(GameRefusal::NotFinite)),
            (GameOrder::Say { agent: AgentId(1), volume: f64::NAN, text: Vec::new() }, Some(GameRefusal::NotFinite)),
            (GameOrder::PlaceBall { position: [0.0; 3], velocity: [0.0, 0.0, 2e3] }, Some(GameRefusal::TooFar)),
            (place(f64::NAN, 0.0), Some(GameRefusal::NotFinite)),
            (place(0.0, f64::NAN), Some(GameRefusal::NotFinite)),
            (place(0.0, 1e6), None),
        ] {
            assert_eq!(order.check().err(), refusal, "{order:?}");
        }
    }
}
