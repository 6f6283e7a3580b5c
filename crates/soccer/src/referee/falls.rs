//! Players that stay on the ground.

use std::time::Duration;

use super::{
    CycleView, Referee,
    timing::{Elapsed, Timing},
};
use crate::{
    rules::{FallLimit, PlayMode, Rules},
    scene::{Foul, PlayerId},
};

/// Height of the torso below which a player is lying, in m.
const LYING: f64 = 0.15;
/// Height of the torso below which a player is down, in m.
const DOWN: f64 = 0.25;
/// Time on the feet after which the timers restart.
const STEADY: Duration = Duration::from_millis(500);
/// Distance from the field beyond which players are ignored, in m.
const OFF_FIELD: f64 = 0.1;

/// How long a player has been lying, down and standing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FallTimers {
    lying: Elapsed,
    down: Elapsed,
    standing: Elapsed,
}

impl FallTimers {
    fn update(&mut self, torso_height: f64, cycle: Duration, timing: Timing) {
        if torso_height < DOWN {
            self.standing = Elapsed::default();
            self.down.add(cycle);
            if torso_height < LYING {
                self.lying.add(cycle);
            }
        } else {
            self.lying = Elapsed::default();
            self.standing.add(cycle);
            if self.standing.exceeds(STEADY, timing) {
                self.down = Elapsed::default();
            }
        }
    }

    /// Whether a limit has passed, and restarts its timer. The other timer continues: only standing or leaving the field
    /// stops it, and the player is taken off the field now.
    fn take_expired(&mut self, rules: &Rules, player: PlayerId, timing: Timing) -> bool {
        let clocks = [(&mut self.lying, rules.lying), (&mut self.down, rules.down)];
        let spent = clocks.into_iter().find(|(clock, limit)| clock.exceeds(limit.for_player(player), timing));
        spent.map(|(clock, _)| *clock = Elapsed::default()).is_some()
    }
}

impl FallLimit {
    fn for_player(self, player: PlayerId) -> Duration {
        if player.is_goalie() { self.goalie } else { self.player }
    }
}

impl Referee {
    pub(super) fn check_falls(&mut self, cycle: Duration, view: &mut CycleView<'_>) {
        if self.mode == PlayMode::BeforeKickOff {
            return;
        }
        // the timers of players who have left restart when they come back
        self.falls.retain(|player, _| view.players.iter().any(|p| p.id == *player));
        let edge = self.field.half_width() + OFF_FIELD;
        for index in team_order(view) {
            let player = view.players[index];
            let falls = self.falls.entry(player.id).or_default();
            if player.torso.position.y.abs() > edge {
                *falls = FallTimers::default();
                continue;
            }
            falls.update(player.torso.position.z, cycle, self.timing);
            if falls.take_expired(self.rules, player.id, self.timing) {
                self.call(player.id, Foul::Incapable);
                self.penalise(player.id, view);
            }
        }
    }
}

/// Left team, then right, each in the order of joining.
fn team_order(view: &CycleView<'_>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..view.players.len()).collect();
    order.sort_by_key(|&index| view.players[index].id.side);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Torso heights for so many cycles; then how long it counts as lying and as down, in cycles.
    fn check(story: &[(u32, f64)], lying: u32, down: u32) {
        let cycle = Duration::from_millis(20);
        let mut falls = FallTimers::default();
        for &(cycles, height) in story {
            (0..cycles).for_each(|_| falls.update(height, cycle, Timing::Rounded));
        }
        assert_eq!((falls.lying.exact(), falls.down.exact()), (lying * cycle, down * cycle), "{story:?}");
    }

    #[test]
    fn counts_time_on_the_ground() {
        check(&[(700, 0.1)], 700, 700);
        check(&[(700, 0.15)], 0, 700);
        check(&[(700, 0.25)], 0, 0);
        // getting up a little does not help, a moment on the feet only half
        check(&[(700, 0.1), (100, 0.2), (51, 0.1)], 751, 851);
        check(&[(700, 0.1), (1, 0.3)], 0, 700);
        check(&[(700, 0.1), (1, 0.3), (700, 0.1)], 700, 1400);
        check(&[(10, 0.2), (24, 0.3)], 0, 10);
        check(&[(10, 0.2), (25, 0.3)], 0, 0);
        check(&[(10, 0.2), (20, 0.3), (1, 0.2), (20, 0.3)], 0, 11);
    }
}
