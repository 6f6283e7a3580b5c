//! Set plays: what starts them, their time limits, and what ends them.

use glam::DVec2;

use super::{CycleView, Referee, ScoringBan};
use crate::rules::{PlayMode, Side};

/// The side of the field, as a sign, on which something happens at `y`.
fn upper(y: f64) -> f64 {
    if y < 0.0 { -1.0 } else { 1.0 }
}

// Awards: enter a mode and put the ball where it belongs.
impl Referee {
    /// Clears bans and touches, moves the ball to `spot` and enters the mode.
    fn award(&mut self, mode: PlayMode, spot: DVec2, view: &mut CycleView<'_>) {
        self.clear_bans();
        view.place_ball(spot);
        self.enter_mode(mode);
    }

    pub(super) fn award_kick_off(&mut self, side: Side, view: &mut CycleView<'_>) {
        self.award(PlayMode::KickOff(side), DVec2::ZERO, view);
        self.no_score = Some(ScoringBan { side, from: DVec2::ZERO });
    }

    pub(super) fn award_kick_in(&mut self, side: Side, view: &mut CycleView<'_>) {
        self.award(PlayMode::KickIn(side), self.touch_line_spot(view), view);
    }

    fn touch_line_spot(&self, view: &CycleView<'_>) -> DVec2 {
        DVec2::new(view.ball.x, upper(view.ball.y) * self.field.half_width())
    }

    pub(super) fn award_corner_kick(&mut self, side: Side, view: &mut CycleView<'_>) {
        let x = side.other().sign() * self.field.half_length();
        let spot = DVec2::new(x, upper(view.ball.y) * self.field.half_width());
        self.award(PlayMode::CornerKick(side), spot, view);
    }

    pub(super) fn award_goal_kick(&mut self, side: Side, view: &mut CycleView<'_>) {
        self.award(PlayMode::GoalKick(side), self.field.goalie_area(side).center(), view);
    }

    pub(super) fn award_free_kick(&mut self, side: Side, view: &mut CycleView<'_>) {
        let from = view.ball_spot();
        self.award(PlayMode::FreeKick(side), from, view);
        self.no_score = Some(ScoringBan { side, from });
    }

    pub(super) fn award_direct_free_kick(&mut self, side: Side, view: &mut CycleView<'_>) {
        self.award(PlayMode::DirectFreeKick(side), view.ball_spot(), view);
    }

    pub(super) fn award_penalty_kick(&mut self, side: Side, view: &mut CycleView<'_>) {
        let x = side.other().sign() * (self.field.half_length() - self.field.penalty_spot);
        self.award(PlayMode::PenaltyKick(side), DVec2::new(x, 0.0), view);
    }

    /// Continues play with the ball at `spot`. Bans stay.
    pub(super) fn drop(&mut self, spot: DVec2, view: &mut CycleView<'_>) {
        self.touches = super::Touches::default();
        view.place_ball(spot);
        self.enter_mode(PlayMode::PlayOn);
    }

    /// Continues play with the ball at the front upper corner of the goalie area.
    fn drop_at_goalie_area(&mut self, side: Side, view: &mut CycleView<'_>) {
        let area = self.field.goalie_area(side);
        let x = side.sign() * (self.field.half_length() - self.field.goalie_area_depth);
        self.drop(DVec2::new(x, area.max.y), view);
    }

    fn award_goal(&mut self, side: Side) {
        let goals = &mut self.score[side.index()];
        *goals = goals.saturating_add(1);
        self.enter_mode(PlayMode::Goal(side));
    }

    pub(super) fn game_over(&mut self) {
        self.clear_bans();
        self.enter_mode(PlayMode::GameOver);
    }
}

// Checks: leave a mode.
impl Referee {
    pub(super) fn check_timeouts(&mut self, view: &mut CycleView<'_>) {
        let is_over = |limit| self.timing.has_passed(limit, self.mode_since, self.play_time);
        match self.mode {
            PlayMode::Goal(scorer) if is_over(self.rules.goal_pause) => self.award_kick_off(scorer.other(), view),
            PlayMode::GoalKick(side) if is_over(self.rules.set_play) => self.drop_at_goalie_area(side, view),
            mode if mode.taker().is_some() && is_over(self.rules.set_play) => self.enter_mode(PlayMode::PlayOn),
            _ => {}
        }
    }

    pub(super) fn check_ball_position(&mut self, view: &mut CycleView<'_>) {
        if matches!(self.mode, PlayMode::Goal(_)) {
            return;
        }
        let ball = view.ball;
        if let Some(defender) = Side::BOTH.into_iter().find(|side| self.field.goal_contains(*side, ball)) {
            self.ball_in_goal(defender, view);
        } else if ball.x.abs() > self.field.half_length() {
            self.ball_over_goal_line(if ball.x < 0.0 { Side::Left } else { Side::Right }, view);
        } else if ball.y.abs() > self.field.half_width() {
            self.ball_over_touch_line(view);
        } else if let PlayMode::GoalKick(side) = self.mode
            && !self.field.goalie_area(side).contains(view.ball_spot())
        {
            self.enter_mode(PlayMode::PlayOn);
        }
    }

    fn ball_in_goal(&mut self, defender: Side, view: &mut CycleView<'_>) {
        let scorer = defender.other();
        if self.no_score.is_some_and(|ban| ban.side == scorer) {
            self.award_goal_kick(defender, view);
        } else if self.mode == PlayMode::GoalKick(defender) {
            self.drop_at_goalie_area(defender, view);
        } else {
            self.award_goal(scorer);
        }
    }

    fn ball_over_goal_line(&mut self, defender: Side, view: &mut CycleView<'_>) {
        if self.touches.latest().is_some_and(|toucher| toucher.side == defender) {
            self.award_corner_kick(defender.other(), view);
        } else {
            self.award_goal_kick(defender, view);
        }
    }

    fn ball_over_touch_line(&mut self, view: &mut CycleView<'_>) {
        match self.touches.latest() {
            Some(toucher) => self.award_kick_in(toucher.side.other(), view),
            // no touch since the restart: the ball is put back, the mode stays
            None => {
                self.clear_bans();
                view.place_ball(self.touch_line_spot(view));
                self.restarted = true;
            }
        }
    }

    pub(super) fn check_touches(&mut self, view: &mut CycleView<'_>) {
        let Some(toucher) = self.touches.active else { return };
        if self.mode.taker().is_some() {
            self.enter_mode(PlayMode::PlayOn);
            // a player without team mates would have to wait for the opponents
            if view.team(toucher.side).count() > 1 {
                self.barred = Some(toucher);
            }
        }
    }
}
