//! Rule books, play modes, sides and phases of a game.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::{
    PlayMode as M,
    Side::{Left, Right},
};
use crate::field::Field;

/// The half of the field that a team defends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Defends the goal at negative x.
    Left,
    /// Defends the goal at positive x.
    Right,
}

impl Side {
    /// Left, then right.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    /// `left` or `right`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    /// The opponents.
    pub fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// The sign of x at the own goal.
    pub fn sign(self) -> f64 {
        match self {
            Self::Left => -1.0,
            Self::Right => 1.0,
        }
    }

    /// 0 for left, 1 for right.
    pub fn index(self) -> usize {
        self as usize
    }
}

/// A phase of a game. Each is played by a server of its own; the next server is started with its number and the clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Phase {
    /// 0
    #[default]
    FirstHalf,
    /// 1
    SecondHalf,
    /// 2
    FirstExtraHalf,
    /// 3
    SecondExtraHalf,
    /// 4
    PenaltyShooting,
}

impl Phase {
    /// All phases, in the order of their numbers.
    pub const ALL: [Self; 5] =
        [Self::FirstHalf, Self::SecondHalf, Self::FirstExtraHalf, Self::SecondExtraHalf, Self::PenaltyShooting];

    /// 0 to 4.
    pub fn index(self) -> u8 {
        self as u8
    }

    /// The phase of that number.
    pub fn from_index(index: u8) -> Option<Self> {
        Self::ALL.get(usize::from(index)).copied()
    }
}

impl From<Phase> for u8 {
    fn from(phase: Phase) -> Self {
        phase.index()
    }
}

impl TryFrom<u8> for Phase {
    type Error = UnknownPhase;

    fn try_from(index: u8) -> Result<Self, UnknownPhase> {
        Self::from_index(index).ok_or(UnknownPhase { index })
    }
}

/// No phase has this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("phase {index} is out of range 0..=4")]
pub struct UnknownPhase {
    /// The value that was given.
    pub index: u8,
}

/// The state of play, and the side that it favours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum PlayMode {
    /// Teams join and take their positions. The clock is stopped.
    #[default]
    BeforeKickOff,
    /// The side kicks off.
    KickOff(Side),
    /// The ball is in play.
    PlayOn,
    /// The side brings the ball in from the touch line.
    KickIn(Side),
    /// The side kicks from the opponents' corner.
    CornerKick(Side),
    /// The side kicks from its goalie area.
    GoalKick(Side),
    /// Never entered by the referee.
    Offside(Side),
    /// The phase has ended. The clock is stopped.
    GameOver,
    /// The side has scored.
    Goal(Side),
    /// The side kicks, and may not score directly.
    FreeKick(Side),
    /// The side kicks, and may score directly.
    DirectFreeKick(Side),
    /// Never entered by the referee.
    PenaltyKick(Side),
    /// Never entered by the referee.
    PenaltyShoot(Side),
}

/// The modes by index, with their names in the protocol.
const MODES: [(PlayMode, &str); 23] = [
    (M::BeforeKickOff, "BeforeKickOff"),
    (M::KickOff(Left), "KickOff_Left"),
    (M::KickOff(Right), "KickOff_Right"),
    (M::PlayOn, "PlayOn"),
    (M::KickIn(Left), "KickIn_Left"),
    (M::KickIn(Right), "KickIn_Right"),
    (M::CornerKick(Left), "corner_kick_left"),
    (M::CornerKick(Right), "corner_kick_right"),
    (M::GoalKick(Left), "goal_kick_left"),
    (M::GoalKick(Right), "goal_kick_right"),
    (M::Offside(Left), "offside_left"),
    (M::Offside(Right), "offside_right"),
    (M::GameOver, "GameOver"),
    (M::Goal(Left), "Goal_Left"),
    (M::Goal(Right), "Goal_Right"),
    (M::FreeKick(Left), "free_kick_left"),
    (M::FreeKick(Right), "free_kick_right"),
    (M::DirectFreeKick(Left), "direct_free_kick_left"),
    (M::DirectFreeKick(Right), "direct_free_kick_right"),
    (M::PenaltyKick(Left), "penalty_kick_left"),
    (M::PenaltyKick(Right), "penalty_kick_right"),
    (M::PenaltyShoot(Left), "penalty_shoot_left"),
    (M::PenaltyShoot(Right), "penalty_shoot_right"),
];

impl PlayMode {
    /// All modes, in the order of their indices.
    pub fn all() -> impl Iterator<Item = Self> {
        MODES.iter().map(|&(mode, _)| mode)
    }

    /// Number in the monitor protocol, 0 to 22.
    pub fn index(self) -> usize {
        let (left, side) = match self {
            M::BeforeKickOff => return 0,
            M::PlayOn => return 3,
            M::GameOver => return 12,
            M::KickOff(side) => (1, side),
            M::KickIn(side) => (4, side),
            M::CornerKick(side) => (6, side),
            M::GoalKick(side) => (8, side),
            M::Offside(side) => (10, side),
            M::Goal(side) => (13, side),
            M::FreeKick(side) => (15, side),
            M::DirectFreeKick(side) => (17, side),
            M::PenaltyKick(side) => (19, side),
            M::PenaltyShoot(side) => (21, side),
        };
        left + side.index()
    }

    /// Name in the protocol.
    pub fn name(self) -> &'static str {
        MODES[self.index()].1
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        MODES.iter().find(|(_, known)| *known == name).map(|&(mode, _)| mode)
    }

    /// Whether the game clock runs.
    pub fn runs_clock(self) -> bool {
        !matches!(self, M::BeforeKickOff | M::GameOver)
    }

    /// Whether players may beam.
    pub fn allows_beam(self) -> bool {
        matches!(self, M::BeforeKickOff | M::Goal(_))
    }

    /// The side that takes a set play which any touch ends.
    pub(crate) fn taker(self) -> Option<Side> {
        match self {
            M::KickOff(side) | M::KickIn(side) | M::CornerKick(side) | M::FreeKick(side) | M::DirectFreeKick(side) => {
                Some(side)
            }
            _ => None,
        }
    }
}

impl From<PlayMode> for String {
    fn from(mode: PlayMode) -> Self {
        mode.name().to_owned()
    }
}

impl TryFrom<String> for PlayMode {
    type Error = UnknownPlayMode;

    fn try_from(name: String) -> Result<Self, UnknownPlayMode> {
        Self::from_name(&name).ok_or(UnknownPlayMode { name })
    }
}

/// No play mode has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown play mode `{name}`")]
pub struct UnknownPlayMode {
    /// The value that was given.
    pub name: String,
}

/// A set of rules, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleBook {
    /// Eleven a side on the large field.
    Fifa,
    /// The simulation league's current rules; the same as [`Self::Ssim26`].
    #[default]
    Ssim,
    /// The simulation league's rules of 2026: seven a side on the small field.
    Ssim26,
}

/// The numbers of a rule book.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Players of a team.
    pub team_size: usize,
    /// The largest player number.
    pub max_number: u8,
    /// Length of a half.
    pub half: Duration,
    /// Length of an extra half.
    pub extra_half: Duration,
    /// Length of the penalty shooting.
    pub penalty_shooting: Duration,
    /// Longest wait for the kick of a set play.
    pub set_play: Duration,
    /// Time from a goal to the kick-off.
    pub goal_pause: Duration,
    /// Time from a taker's first touch in which it may touch the ball again.
    pub second_touch: Duration,
    /// Longest time that a player may lie on the ground.
    pub lying: FallLimit,
    /// Longest time that a player may be down, lying or not.
    pub down: FallLimit,
    /// Default field.
    pub field: Field,
}

/// A time limit that is longer for the goalie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FallLimit {
    /// For number 1.
    pub goalie: Duration,
    /// For everyone else.
    pub player: Duration,
}

const FIFA: Rules = Rules {
    team_size: 11,
    max_number: 99,
    half: Duration::from_secs(45 * 60),
    extra_half: Duration::from_secs(15 * 60),
    penalty_shooting: Duration::from_secs(60),
    set_play: Duration::from_secs(15),
    goal_pause: Duration::from_secs(3),
    second_touch: Duration::from_secs(1),
    lying: FallLimit { goalie: Duration::from_secs(30), player: Duration::from_secs(15) },
    down: FallLimit { goalie: Duration::from_secs(60), player: Duration::from_secs(30) },
    field: Field::FIFA,
};

const SSIM26: Rules = Rules {
    team_size: 7,
    half: Duration::from_secs(5 * 60),
    extra_half: Duration::from_secs(3 * 60),
    field: Field::FIFA7VS7,
    ..FIFA
};

impl RuleBook {
    /// All rule books.
    pub const ALL: [Self; 3] = [Self::Fifa, Self::Ssim, Self::Ssim26];

    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fifa => "fifa",
            Self::Ssim => "ssim",
            Self::Ssim26 => "ssim26",
        }
    }

    /// The rule book of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|book| book.name() == name)
    }

    /// Its numbers.
    pub fn rules(self) -> &'static Rules {
        match self {
            Self::Fifa => &FIFA,
            Self::Ssim | Self::Ssim26 => &SSIM26,
        }
    }
}

impl Rules {
    /// The play time at which a phase begins and the one at which it ends.
    pub fn span(&self, phase: Phase) -> (Duration, Duration) {
        let halves = 2 * self.half;
        match phase {
            Phase::FirstHalf => (Duration::ZERO, self.half),
            Phase::SecondHalf => (self.half, halves),
            Phase::FirstExtraHalf => (halves, halves + self.extra_half),
            Phase::SecondExtraHalf => (halves + self.extra_half, halves + 2 * self.extra_half),
            Phase::PenaltyShooting => (Duration::ZERO, self.penalty_shooting),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_stand_at_their_index() {
        for (index, (mode, name)) in MODES.into_iter().enumerate() {
            assert_eq!(mode.index(), index);
            assert_eq!(mode.name(), name);
            assert_eq!(PlayMode::from_name(name), Some(mode));
        }
        assert_eq!(PlayMode::from_name("playon"), None);
    }

    #[test]
    fn beaming_is_for_breaks() {
        let allowed: Vec<_> = PlayMode::all().filter(|mode| mode.allows_beam()).map(PlayMode::name).collect();
        assert_eq!(allowed, ["BeforeKickOff", "Goal_Left", "Goal_Right"]);
        let still: Vec<_> = PlayMode::all().filter(|mode| !mode.runs_clock()).map(PlayMode::name).collect();
        assert_eq!(still, ["BeforeKickOff", "GameOver"]);
    }

    #[test]
    fn phases_follow_each_other() {
        for (book, ends) in [(RuleBook::Fifa, [2700, 5400, 6300, 7200, 60]), (RuleBook::Ssim, [300, 600, 780, 960, 60])]
        {
            let mut begin = 0;
            for (phase, end) in Phase::ALL.into_iter().zip(ends) {
                if phase == Phase::PenaltyShooting {
                    begin = 0;
                }
                let span = (Duration::from_secs(begin), Duration::from_secs(end));
                assert_eq!(book.rules().span(phase), span, "{book:?} {phase:?}");
                begin = end;
            }
        }
        assert_eq!(Phase::from_index(5), None);
    }

    #[test]
    fn books() {
        for (name, size, half, extra, field) in
            [("fifa", 11, 2700, 900, "fifa"), ("ssim", 7, 300, 180, "fifa7vs7"), ("ssim26", 7, 300, 180, "fifa7vs7")]
        {
            let rules = RuleBook::from_name(name).unwrap().rules();
            assert_eq!((rules.team_size, rules.half.as_secs(), rules.extra_half.as_secs()), (size, half, extra));
            assert_eq!(rules.field.name, field);
            assert_eq!(rules.max_number, 99);
        }
        assert_eq!(RuleBook::from_name("x"), None);
    }
}
