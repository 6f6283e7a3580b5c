//! The football game: fields, rules, referee, teams, speech and vision of the players.
//!
//! The rules are pure: no world, no wire, no socket, no clock. [`game::Game`] applies them to a world: as its director it
//! fills in a [`Scene`] after each cycle, lets the [`Referee`] judge it, and carries out its [`Decision`]s. Randomness
//! comes from a seeded generator that is passed in.
//!
//! Units are SI and radians. The frame is the field's: origin at the centre spot, x towards the right goal, y towards the
//! upper touch line, z up. The left team defends the goal at negative x. Only values that the protocol has in degrees are
//! kept in degrees, with names that say so (`azimuth_deg`).

pub mod audio;
pub mod calls;
pub mod field;
pub mod game;
pub mod orders;
pub mod referee;
pub mod rules;
pub mod scene;
pub mod teams;
pub mod truncate;
pub mod vision;

pub use crate::{
    field::Field,
    game::Game,
    orders::{GameAnswer, GameOrder, GameRefusal, JoinRequest},
    referee::{Referee, Timing},
    rules::{Phase, PlayMode, RuleBook, Side},
    scene::{Decision, Foul, Placement, PlayerId, Scene},
    teams::Teams,
};
