//! Players that stay down.

use std::time::Duration;

use super::{Referee, View};
use crate::{
    rules::{Grace, PlayMode, Rules},
    scene::{Foul, PlayerId},
};

/// A torso lower than this lies on the ground, in m.
const LYING: f64 = 0.15;
/// A torso lower than this is down, in m.
const DOWN: f64 = 0.25;
/// Standing for longer than this makes a fresh start.
const STEADY: Duration = Duration::from_millis(500);
/// Players farther off the field than this are left alone, in m.
const OFF_FIELD: f64 = 0.1;

/// How long a player has been down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fitness {
    lying: Duration,
    down: Duration,
    standing: Duration,
}

impl Fitness {
    fn update(&mut self, torso_height: f64, cycle: Duration) {
        if torso_height < DOWN {
            self.standing = Duration::ZERO;
            self.down += cycle;
            if torso_height < LYING {
                self.lying += cycle;
            }
        } else {
            self.lying = Duration::ZERO;
            self.standing += cycle;
            if self.standing > STEADY {
                self.down = Duration::ZERO;
            }
        }
    }

    /// Whether a limit is passed. The clock of that limit starts again, the other one goes on: it is stopped only by
    /// standing, or by being off the field, which is where the player goes now.
    fn is_spent(&mut self, rules: &Rules, player: PlayerId) -> bool {
        let clocks = [(&mut self.lying, rules.lying), (&mut self.down, rules.down)];
        let spent = clocks.into_iter().find(|(clock, limit)| **clock > limit.for_player(player));
        spent.map(|(clock, _)| *clock = Duration::ZERO).is_some()
    }
}

impl Grace {
    fn for_player(self, player: PlayerId) -> Duration {
        if player.is_goalie() { self.goalie } else { self.player }
    }
}

impl Referee {
    pub(super) fn check_fitness(&mut self, cycle: Duration, view: &mut View<'_>) {
        if self.mode == PlayMode::BeforeKickOff {
            return;
        }
        // who has left starts afresh when coming back
        self.fitness.retain(|player, _| view.players.iter().any(|p| p.id == *player));
        let edge = self.field.half_width() + OFF_FIELD;
        for index in team_order(view) {
            let player = view.players[index];
            let fitness = self.fitness.entry(player.id).or_default();
            if player.torso.position.y.abs() > edge {
                *fitness = Fitness::default();
                continue;
            }
            fitness.update(player.torso.position.z, cycle);
            if fitness.is_spent(self.rules, player.id) {
                self.call(player.id, Foul::Incapable);
                self.penalise(player.id, view);
            }
        }
    }
}

/// Left team, then right, each in the order of joining.
fn team_order(view: &View<'_>) -> Vec<usize> {
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
        let mut fitness = Fitness::default();
        for &(cycles, height) in story {
            (0..cycles).for_each(|_| fitness.update(height, cycle));
        }
        assert_eq!((fitness.lying, fitness.down), (lying * cycle, down * cycle), "{story:?}");
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
        check(&[(10, 0.2), (25, 0.3)], 0, 10);
        check(&[(10, 0.2), (26, 0.3)], 0, 0);
        check(&[(10, 0.2), (20, 0.3), (1, 0.2), (20, 0.3)], 0, 11);
    }
}
