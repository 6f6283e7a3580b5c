//! Players at positions that a set play does not allow.

use glam::DVec2;

use super::{CycleView, Referee};
use crate::{
    rules::{PlayMode, Side},
    scene::PlayerId,
};

impl Referee {
    pub(super) fn check_misplaced(&mut self, view: &mut CycleView<'_>) {
        let misplaced = match self.mode {
            PlayMode::KickOff(taker) => Side::BOTH
                .into_iter()
                .flat_map(
                    |side| if side == taker { self.early_takers(side, view) } else { self.early_others(side, view) },
                )
                .collect(),
            PlayMode::GoalKick(taker) => {
                let area = self.field.goalie_area(taker);
                select(view, taker.other(), |spot| area.contains(spot))
            }
            mode => {
                let Some(taker) = mode.taker() else { return };
                let (ball, radius) = (view.ball_spot(), self.field.circle_radius);
                select(view, taker.other(), |spot| spot.distance(ball) < radius)
            }
        };
        for player in misplaced {
            self.penalise(player, view);
        }
    }

    fn is_over_halfway(side: Side, spot: DVec2) -> bool {
        side.sign() * spot.x < 0.0
    }

    /// Of the side that kicks off, only the player nearest to the ball may be over the halfway line, in the circle.
    fn early_takers(&self, side: Side, view: &CycleView<'_>) -> Vec<PlayerId> {
        let mut early = Vec::new();
        let mut nearest: Option<(PlayerId, f64)> = None;
        for (player, spot) in view.team(side).filter(|(_, spot)| Self::is_over_halfway(side, *spot)) {
            let distance = spot.length();
            if distance > self.field.circle_radius || nearest.is_some_and(|(_, other)| other < distance) {
                early.push(player);
            } else {
                early.extend(nearest.replace((player, distance)).map(|(farther, _)| farther));
            }
        }
        early
    }

    fn early_others(&self, side: Side, view: &CycleView<'_>) -> Vec<PlayerId> {
        let radius = self.field.circle_radius;
        select(view, side, |spot| Self::is_over_halfway(side, spot) || spot.length() < radius)
    }
}

fn select(view: &CycleView<'_>, side: Side, misplaced: impl Fn(DVec2) -> bool) -> Vec<PlayerId> {
    view.team(side).filter(|(_, spot)| misplaced(*spot)).map(|(player, _)| player).collect()
}
