//! Too many players in their own goalie area.

use std::{collections::BTreeMap, time::Duration};

use super::{CycleView, Referee};
use crate::{
    rules::Side,
    scene::{Foul, PlayerId},
};

/// Most players of a team in its goalie area.
const MAX_DEFENDERS: usize = 2;
/// Number of cycles with more players before the foul is called.
const CALL_AFTER: u32 = 5;

/// The players of a team in their own goalie area.
#[derive(Clone, Debug, Default)]
pub(super) struct AreaOccupancy {
    entered: BTreeMap<PlayerId, Duration>,
    /// Number of consecutive cycles with too many players.
    cycles: u32,
}

impl Referee {
    pub(super) fn check_defence(&mut self, view: &mut CycleView<'_>) {
        for side in Side::BOTH {
            if let Some(player) = self.illegal_defender(side, view) {
                self.call(player, Foul::IllegalDefence);
                self.penalise(player, view);
            }
        }
    }

    /// The last player to enter, if the foul is due.
    fn illegal_defender(&mut self, side: Side, view: &CycleView<'_>) -> Option<PlayerId> {
        let area = self.field.goalie_area(side);
        let inside: Vec<PlayerId> =
            view.team(side).filter(|(_, spot)| area.contains(*spot)).map(|(id, _)| id).collect();
        let occupancy = &mut self.goalie_areas[side.index()];
        occupancy.entered.retain(|player, _| inside.contains(player));
        for player in &inside {
            occupancy.entered.entry(*player).or_insert(self.now);
        }
        if occupancy.entered.len() <= MAX_DEFENDERS {
            occupancy.cycles = 0;
            return None;
        }
        occupancy.cycles += 1;
        if occupancy.cycles < CALL_AFTER {
            return None;
        }
        occupancy.cycles = 0;
        // of those who entered together, the one that joined the game first
        let latest = occupancy.entered.values().max().copied();
        let last = inside.into_iter().find(|player| occupancy.entered.get(player).copied() == latest)?;
        occupancy.entered.remove(&last);
        Some(last)
    }
}
