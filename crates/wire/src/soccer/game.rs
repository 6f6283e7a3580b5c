//! Play modes, fouls and sides.

/// Defines an enum with a name and an index on the wire for each variant.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All variants, in wire order.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// The name on the wire.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The variant with this name, if any.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its index on the wire, from 0.
            pub fn index(self) -> u8 {
                self as u8
            }

            /// The variant with this index, if any.
            pub fn from_index(index: u8) -> Option<Self> {
                Self::ALL.get(usize::from(index)).copied()
            }
        }
    };
}
pub(super) use named;

/// Half of the field, and the team that plays from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The half with negative x; the first team that joins.
    Left,
    /// The half with positive x; the second team that joins.
    Right,
}

impl Side {
    /// Parses a side in a monitor's command: `Left`, `left`, `L`, `l`, and likewise for the right.
    pub fn from_word(word: &str) -> Option<Self> {
        match word {
            "Left" | "left" | "L" | "l" => Some(Self::Left),
            "Right" | "right" | "R" | "r" => Some(Self::Right),
            _ => None,
        }
    }

    /// Its name in a monitor's command.
    pub fn word(self) -> &'static str {
        match self {
            Self::Left => "Left",
            Self::Right => "Right",
        }
    }

    /// The opposite side.
    pub fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

named! {
    /// State of the game. Agents receive the name, monitors the index.
    PlayMode {
        /// The game has not started; agents may beam.
        BeforeKickOff = "BeforeKickOff",
        /// The left team kicks off.
        KickOffLeft = "KickOff_Left",
        /// The right team kicks off.
        KickOffRight = "KickOff_Right",
        /// The ball is in play.
        PlayOn = "PlayOn",
        /// The left team has a kick-in.
        KickInLeft = "KickIn_Left",
        /// The right team has a kick-in.
        KickInRight = "KickIn_Right",
        /// The left team has a corner kick.
        CornerKickLeft = "corner_kick_left",
        /// The right team has a corner kick.
        CornerKickRight = "corner_kick_right",
        /// The left team has a goal kick.
        GoalKickLeft = "goal_kick_left",
        /// The right team has a goal kick.
        GoalKickRight = "goal_kick_right",
        /// The left team was offside.
        OffsideLeft = "offside_left",
        /// The right team was offside.
        OffsideRight = "offside_right",
        /// The game has ended.
        GameOver = "GameOver",
        /// The left team has scored; agents may beam.
        GoalLeft = "Goal_Left",
        /// The right team has scored; agents may beam.
        GoalRight = "Goal_Right",
        /// The left team has a free kick.
        FreeKickLeft = "free_kick_left",
        /// The right team has a free kick.
        FreeKickRight = "free_kick_right",
        /// The left team has a free kick from which it may score.
        DirectFreeKickLeft = "direct_free_kick_left",
        /// The right team has a free kick from which it may score.
        DirectFreeKickRight = "direct_free_kick_right",
        /// The left team has a penalty kick.
        PenaltyKickLeft = "penalty_kick_left",
        /// The right team has a penalty kick.
        PenaltyKickRight = "penalty_kick_right",
        /// The left team shoots in a penalty shoot-out.
        PenaltyShootLeft = "penalty_shoot_left",
        /// The right team shoots in a penalty shoot-out.
        PenaltyShootRight = "penalty_shoot_right",
    }
}

named! {
    /// Kind of foul. Monitors receive the index; the names are ours.
    FoulKind {
        /// Too many players at the ball.
        Crowding = "crowding",
        /// A player touches another.
        Touching = "touching",
        /// Too many players in their own goalie area.
        IllegalDefence = "illegal_defence",
        /// Too many players in the other team's goalie area.
        IllegalAttack = "illegal_attack",
        /// A player has been on the ground for too long.
        Incapable = "incapable",
        /// A player was in the wrong place at kick-off.
        KickOff = "kick_off",
        /// A player runs into another.
        Charging = "charging",
        /// A robot's parts collide.
        SelfCollision = "self_collision",
        /// A player holds the ball.
        BallHolding = "ball_holding",
        /// A player who took a set play touched the ball again before anyone else.
        DoubleTouch = "double_touch",
        /// A player touches the ball with an arm.
        Hand = "hand",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_have_the_leagues_indices() {
        fn check(index: u8, name: &str, mode: PlayMode) {
            assert_eq!(mode.index(), index);
            assert_eq!(mode.name(), name);
        }
        check(0, "BeforeKickOff", PlayMode::BeforeKickOff);
        check(3, "PlayOn", PlayMode::PlayOn);
        check(12, "GameOver", PlayMode::GameOver);
        check(17, "direct_free_kick_left", PlayMode::DirectFreeKickLeft);
        check(22, "penalty_shoot_right", PlayMode::PenaltyShootRight);
        for mode in PlayMode::ALL {
            assert_eq!(PlayMode::from_index(mode.index()), Some(mode));
            assert_eq!(PlayMode::from_name(mode.name()), Some(mode));
        }
        assert_eq!(PlayMode::ALL.len(), 23);
        assert_eq!(PlayMode::from_index(23), None);
        assert_eq!(PlayMode::from_name("playon"), None);
    }

    #[test]
    fn fouls_have_the_leagues_indices() {
        assert_eq!(FoulKind::from_index(0), Some(FoulKind::Crowding));
        assert_eq!(FoulKind::from_index(10), Some(FoulKind::Hand));
        assert_eq!(FoulKind::from_index(11), None);
    }
}
