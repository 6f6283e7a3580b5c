//! Too many players in their own goalie area.

use std::{collections::BTreeMap, time::Duration};

use super::{Referee, View};
use crate::{
    rules::Side,
    scene::{Foul, PlayerId},
};

/// So many players of a team may be in its goalie area.
const MAX_DEFENDERS: usize = 2;
/// One more is overlooked for less than so many cycles.
const CALL_AFTER: u32 = 5;

/// The players of a team in their own goalie area.
#[derive(Clone, Debug, Default)]
pub(super) struct Crowd {
    entered: BTreeMap<PlayerId, Duration>,
    /// For how many cycles there were too many.
    cycles: u32,
}

impl Referee {
    pub(super) fn check_defence(&mut self, view: &mut View<'_>) {
        for side in Side::BOTH {
            if let Some(player) = self.last_to_crowd(side, view) {
                self.call(player, Foul::IllegalDefence);
                self.penalise(player, view);
            }
        }
    }

    /// The player who has to leave.
    fn last_to_crowd(&mut self, side: Side, view: &View<'_>) -> Option<PlayerId> {
        let area = self.field.goalie_area(side);
        let inside: Vec<PlayerId> =
            view.team(side).filter(|(_, spot)| area.contains(*spot)).map(|(id, _)| id).collect();
        let crowd = &mut self.crowds[side.index()];
        crowd.entered.retain(|player, _| inside.contains(player));
        for player in &inside {
            crowd.entered.entry(*player).or_insert(self.now);
        }
        if crowd.entered.len() <= MAX_DEFENDERS {
            crowd.cycles = 0;
            return None;
        }
        crowd.cycles += 1;
        if crowd.cycles < CALL_AFTER {
            return None;
        }
        crowd.cycles = 0;
        // of those who came in together, the one that joined the game first
        let latest = crowd.entered.values().max().copied();
        let last = inside.into_iter().find(|player| crowd.entered.get(player).copied() == latest)?;
        crowd.entered.remove(&last);
        Some(last)
    }
}
