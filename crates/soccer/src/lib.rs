//! The football game: fields, rules, referee, teams, and what players hear and see.
//!
//! The rules are functions of their arguments: no world, no wire, no socket, no clock. [`game::Game`] puts them on a
//! world: as its director it fills in a [`Scene`] after each cycle, lets the [`Referee`] judge it, and carries out its
//! [`Decision`]s. Chance comes from a seeded generator that is passed in.
//!
//! Units are SI and radians. The frame is the field's: origin at the centre spot, x towards the right goal, y towards the
//! upper touch line, z up. The left team defends the goal at negative x. Only what agents and monitors are told in
//! degrees is kept in degrees, and is named so (`azimuth_deg`).

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
    referee::Referee,
    rules::{Phase, PlayMode, RuleBook, Side},
    scene::{Decision, Foul, Placement, PlayerId, Scene},
    teams::Teams,
};
