//! Team names, player numbers, and the positions that the rules assign to players.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::DVec2;

use crate::{
    field::Field,
    rules::{PlayMode, Rules, Side},
    scene::{Placement, PlayerId},
};

/// Least distance between penalised robots, in m.
const PENALISED_CLEARANCE: f64 = 1.0;
/// Least distance between robots after a beam, in m.
const BEAM_CLEARANCE: f64 = 0.5;
/// Distance between the rings on which a free spot is searched around an occupied one, in m.
const BEAM_RING: f64 = 0.6;
/// Number of spots on a ring.
const BEAM_DIRECTIONS: u32 = 8;

/// The two teams of a game. Names stay when players leave, until they are released.
#[derive(Clone, Debug)]
pub struct Teams {
    size: usize,
    max_number: u8,
    names: [Option<String>; 2],
    members: [Vec<u8>; 2],
}

/// Why a player cannot join.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// Two other teams are playing.
    #[error("team `{name}` cannot join: `{left}` and `{right}` are playing")]
    ThirdTeam {
        /// Name of the third team.
        name: String,
        /// The left team.
        left: String,
        /// The right team.
        right: String,
    },
    /// The number is taken.
    #[error("team `{name}` already has a number {number}")]
    NumberTaken {
        /// The team.
        name: String,
        /// The number.
        number: u8,
    },
    /// The number is too large.
    #[error("player number {number} is out of range 0..={max}")]
    NumberTooLarge {
        /// The number.
        number: u8,
        /// The largest number.
        max: u8,
    },
    /// No more players are allowed.
    #[error("team `{name}` already has {size} players")]
    TeamFull {
        /// The team.
        name: String,
        /// Most players of a team.
        size: usize,
    },
}

impl Teams {
    /// No teams yet.
    pub fn new(rules: &Rules) -> Self {
        Self {
            size: rules.team_size,
            max_number: rules.max_number,
            names: [None, None],
            members: [Vec::new(), Vec::new()],
        }
    }

    /// Adds a player. The first team to join is the left one, the second the right one.
    pub fn join(&mut self, name: &str, number: u8) -> Result<PlayerId, JoinError> {
        if number > self.max_number {
            return Err(JoinError::NumberTooLarge { number, max: self.max_number });
        }
        let side = match (self.side(name), &self.names[0], &self.names[1]) {
            (Some(side), ..) => side,
            (None, None, _) => Side::Left,
            (None, Some(_), None) => Side::Right,
            (None, Some(left), Some(right)) => {
                return Err(JoinError::ThirdTeam { name: name.into(), left: left.clone(), right: right.clone() });
            }
        };
        let members = &mut self.members[side.index()];
        if members.contains(&number) {
            return Err(JoinError::NumberTaken { name: name.into(), number });
        }
        if members.len() >= self.size {
            return Err(JoinError::TeamFull { name: name.into(), size: self.size });
        }
        members.push(number);
        self.names[side.index()].get_or_insert_with(|| name.into());
        Ok(PlayerId { side, number })
    }

    /// Removes a player. Its number becomes free, its team's name stays.
    pub fn leave(&mut self, player: PlayerId) {
        self.members[player.side.index()].retain(|number| *number != player.number);
    }

    /// Teams without players give their names back: another team may play on their side.
    pub fn release_empty(&mut self) {
        for (name, members) in self.names.iter_mut().zip(&self.members) {
            if members.is_empty() {
                *name = None;
            }
        }
    }

    /// Name of a side's team, once a player has joined.
    pub fn name(&self, side: Side) -> Option<&str> {
        self.names[side.index()].as_deref()
    }

    /// The side of the team of that name.
    pub fn side(&self, name: &str) -> Option<Side> {
        Side::BOTH.into_iter().find(|side| self.name(*side) == Some(name))
    }

    /// The players of a side, in the order of joining.
    pub fn players(&self, side: Side) -> impl Iterator<Item = PlayerId> {
        self.members[side.index()].iter().map(move |number| PlayerId { side, number: *number })
    }
}

/// Start position of a player: beside the upper touch line, facing the field.
pub fn spawn_placement(field: &Field, player: PlayerId) -> Placement {
    let x = player.side.sign() * (2.0 * f64::from(player.number) + 1.0);
    Placement { x, y: field.half_width() + field.border, heading: -FRAC_PI_2 }
}

/// Position of a penalised player: beyond the touch line away from the ball, at the first spot of its own half with no
/// robot of `others` near it, facing the field.
pub fn penalised_placement(
    field: &Field,
    side: Side,
    ball_y: f64,
    others: impl Iterator<Item = DVec2> + Clone,
) -> Placement {
    let upper = if ball_y > 0.0 { -1.0 } else { 1.0 };
    let y = upper * (field.half_width() + field.border);
    let mut spot = DVec2::new(2.0 * side.sign(), y);
    // spots are twice the clearance apart, so that each robot blocks one at most
    while others.clone().any(|other| other.distance(spot) < PENALISED_CLEARANCE) {
        spot.x += 2.0 * side.sign();
    }
    Placement { x: spot.x, y, heading: -upper * FRAC_PI_2 }
}

/// Position of a player that beams to `wanted`, which is given as for the left team; none if it may not beam now.
///
/// A beam ends in the own half: the sign of `wanted.x` does not matter. If a robot of `others` is there, the player gets
/// the nearest free spot, backwards first.
pub fn beam_placement(
    mode: PlayMode,
    side: Side,
    wanted: Placement,
    others: impl Iterator<Item = DVec2> + Clone,
) -> Option<Placement> {
    let finite = wanted.x.is_finite() && wanted.y.is_finite() && wanted.heading.is_finite();
    if !mode.allows_beam() || !finite {
        return None;
    }
    let heading = match side {
        Side::Left => wanted.heading,
        Side::Right => wanted.heading + PI,
    };
    let spot = DVec2::new(side.sign() * wanted.x.abs(), wanted.y);
    let spot = free_spot(spot, side, others);
    Some(Placement { x: spot.x, y: spot.y, heading })
}

fn free_spot(wanted: DVec2, side: Side, others: impl Iterator<Item = DVec2> + Clone) -> DVec2 {
    let is_free = |spot: &DVec2| others.clone().all(|other| other.distance(*spot) >= BEAM_CLEARANCE);
    let is_own_half = |spot: &DVec2| side.sign() * spot.x >= 0.0;
    let backwards = DVec2::new(side.sign(), 0.0);
    // a robot blocks few spots of a ring: as many rings as robots are more than enough
    let rings = 1..=u32::try_from(others.clone().count()).unwrap_or(u32::MAX);
    let around = rings.flat_map(|ring| {
        (0..BEAM_DIRECTIONS).map(move |step| {
            let direction = DVec2::from_angle(TAU * f64::from(step) / f64::from(BEAM_DIRECTIONS)).rotate(backwards);
            wanted + BEAM_RING * f64::from(ring) * direction
        })
    });
    std::iter::once(wanted).chain(around.filter(is_own_half)).find(is_free).unwrap_or(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        rules::RuleBook,
        rules::Side::{Left, Right},
    };

    const FIELD: Field = Field::FIFA7VS7;

    #[test]
    fn first_name_is_left_second_right_third_refused() {
        let mut teams = Teams::new(RuleBook::Ssim.rules());
        assert_eq!(teams.join("A", 2), Ok(PlayerId::new(Left, 2)));
        assert_eq!(teams.name(Right), None);
        assert_eq!(teams.join("B", 2), Ok(PlayerId::new(Right, 2)));
        assert!(matches!(teams.join("C", 2), Err(JoinError::ThirdTeam { .. })));
        assert!(matches!(teams.join("A", 2), Err(JoinError::NumberTaken { number: 2, .. })));
        assert!(matches!(teams.join("A", 100), Err(JoinError::NumberTooLarge { number: 100, max: 99 })));

        teams.leave(PlayerId::new(Left, 2));
        assert_eq!(teams.name(Left), Some("A"), "names stay");
        assert!(teams.join("C", 2).is_err());
        assert_eq!(teams.join("A", 2), Ok(PlayerId::new(Left, 2)));
        assert_eq!((teams.side("A"), teams.side("B"), teams.side("C")), (Some(Left), Some(Right), None));

        teams.leave(PlayerId::new(Left, 2));
        teams.release_empty();
        assert_eq!((teams.name(Left), teams.name(Right)), (None, Some("B")));
        assert_eq!(teams.join("B", 3), Ok(PlayerId::new(Right, 3)), "it has its side");
        assert_eq!(teams.join("C", 2), Ok(PlayerId::new(Left, 2)));
    }

    #[test]
    fn a_team_gets_full() {
        let mut teams = Teams::new(RuleBook::Ssim.rules());
        for number in [2, 3, 0, 5, 6, 7, 8] {
            teams.join("A", number).unwrap();
        }
        assert_eq!(teams.join("A", 9), Err(JoinError::TeamFull { name: "A".into(), size: 7 }));
        assert_eq!(teams.players(Left).map(|p| p.number).collect::<Vec<_>>(), [2, 3, 0, 5, 6, 7, 8]);
    }

    #[test]
    fn players_come_in_beside_the_field() {
        for (side, number, x) in [(Left, 2, -5.0), (Left, 3, -7.0), (Right, 1, 3.0), (Right, 2, 5.0), (Left, 0, -1.0)] {
            let expected = Placement { x, y: 21.0, heading: -FRAC_PI_2 };
            assert_eq!(spawn_placement(&FIELD, PlayerId::new(side, number)), expected);
        }
    }

    #[test]
    fn penalised_players_line_up_away_from_the_ball() {
        type Case<'a> = (Side, f64, &'a [(f64, f64)], f64, f64);
        let cases: [Case<'_>; 9] = [
            (Left, 0.0, &[], -2.0, 21.0),
            (Left, -0.0, &[], -2.0, 21.0),
            (Left, -5.0, &[], -2.0, 21.0),
            (Right, 1e-9, &[], 2.0, -21.0),
            (Left, 0.0, &[(-2.0, 22.0), (-2.8, 21.8), (-3.0, 21.0)], -2.0, 21.0),
            (Left, 0.0, &[(-2.0, 21.99)], -4.0, 21.0),
            (Left, 0.0, &[(-1.3, 21.7)], -4.0, 21.0),
            (Left, 0.0, &[(-2.0, 21.0), (-4.5, 21.8)], -6.0, 21.0),
            (Right, 0.0, &[(-2.0, 21.0), (4.0, 21.0)], 2.0, 21.0),
        ];
        for (side, ball_y, others, x, y) in cases {
            let others = others.iter().map(|&(x, y)| DVec2::new(x, y));
            let to = penalised_placement(&FIELD, side, ball_y, others);
            assert_eq!(to, Placement { x, y, heading: -FRAC_PI_2.copysign(y) });
        }
    }

    #[test]
    fn beams_end_in_the_own_half() {
        let beam =
            |mode, side, x, y, heading| beam_placement(mode, side, Placement { x, y, heading }, std::iter::empty());
        for (side, x, y, heading, to) in [
            (Left, -5.0, 3.0, 0.5, (-5.0, 3.0, 0.5)),
            (Left, 5.0, 3.0, 0.5, (-5.0, 3.0, 0.5)),
            (Right, -5.0, 3.0, 0.5, (5.0, 3.0, 0.5 + PI)),
            (Right, 5.0, -3.0, 0.0, (5.0, -3.0, PI)),
            (Left, -100.0, 50.0, 7.0, (-100.0, 50.0, 7.0)),
        ] {
            let found = beam(PlayMode::BeforeKickOff, side, x, y, heading);
            assert_eq!(found, Some(Placement { x: to.0, y: to.1, heading: to.2 }));
        }
        assert_eq!(beam(PlayMode::PlayOn, Left, -5.0, 3.0, 0.5), None);
        assert_eq!(beam(PlayMode::BeforeKickOff, Left, f64::NAN, 3.0, 0.5), None);
    }

    #[test]
    fn a_beam_gives_way() {
        let crowd: Vec<DVec2> = (0..20).map(|i| DVec2::new(-0.3 * f64::from(i), 0.0)).collect();
        for side in Side::BOTH {
            for x in 0..12 {
                let wanted = Placement { x: f64::from(x) * 0.5, y: 0.0, heading: 0.0 };
                let crowd: Vec<DVec2> = crowd.iter().map(|spot| DVec2::new(side.sign() * -spot.x, spot.y)).collect();
                let to = beam_placement(PlayMode::BeforeKickOff, side, wanted, crowd.iter().copied()).unwrap();
                assert!(crowd.iter().all(|other| other.distance(to.spot()) >= BEAM_CLEARANCE), "{side:?} {x}");
                assert!(side.sign() * to.x >= 0.0);
            }
        }
        let blocked = std::iter::once(DVec2::new(-5.0, 0.0));
        let wanted = Placement { x: -5.0, y: 0.0, heading: 0.0 };
        let to = beam_placement(PlayMode::BeforeKickOff, Left, wanted, blocked).unwrap();
        assert_eq!(to, Placement { x: -5.0 - BEAM_RING, ..wanted }, "backwards first");
    }
}
