//! The referee: play modes, score, clock, fouls.
//!
//! Judges one [`Scene`] per cycle, in this order. The steps in brackets are skipped once the game was restarted in the
//! cycle, also by a monitor's command.
//!
//! clock → ball fouls → incapable → illegal defence → \[timeouts → position of the ball → touches\] → misplaced players

mod defence;
mod falls;
mod fouls;
mod misplacement;
mod set_plays;
mod timing;
mod touches;

use std::{collections::BTreeMap, time::Duration};

use glam::{DVec2, DVec3};
use rand::{Rng, RngExt};

use crate::{
    field::{BALL_RADIUS, Field},
    rules::{Phase, PlayMode, RuleBook, Rules, Side},
    scene::{Decision, Foul, FoulCall, Placement, Player, PlayerId, Scene},
    teams,
};

pub use self::timing::Timing;
use self::{defence::AreaOccupancy, falls::FallTimers, touches::Touches};

/// The state of a game.
#[derive(Clone, Debug)]
pub struct Referee {
    rules: &'static Rules,
    timing: Timing,
    field: Field,
    phase: Phase,
    /// Simulated time since the start of the game.
    now: Duration,
    play_time: Duration,
    mode: PlayMode,
    /// Play time at the start of the mode.
    mode_since: Duration,
    score: [u32; 2],
    fouls: Vec<FoulCall>,
    touches: Touches,
    /// The player who took a set play and may not touch the ball before another player has.
    barred: Option<PlayerId>,
    no_score: Option<ScoringBan>,
    falls: BTreeMap<PlayerId, FallTimers>,
    goalie_areas: [AreaOccupancy; 2],
    /// Whether the game was restarted in this cycle.
    restarted: bool,
    /// Position of the ball, if a command moved it since the last scene.
    ball_moved: Option<DVec3>,
}

/// A team that may not score yet.
#[derive(Clone, Copy, Debug)]
struct ScoringBan {
    side: Side,
    /// A touch farther away than the circle radius lifts the ban.
    from: DVec2,
}

/// The scene of this cycle, updated with the referee's decisions.
struct CycleView<'a> {
    ball: DVec3,
    players: Vec<Player>,
    out: &'a mut Vec<Decision>,
}

impl CycleView<'_> {
    fn ball_spot(&self) -> DVec2 {
        self.ball.truncate()
    }

    /// Active players of one side, in the order of joining.
    fn team(&self, side: Side) -> impl Iterator<Item = (PlayerId, DVec2)> {
        self.players.iter().filter(move |p| p.id.side == side).map(|p| (p.id, p.torso.position.truncate()))
    }

    fn place_ball(&mut self, spot: DVec2) {
        self.ball = spot.extend(BALL_RADIUS);
        self.out.push(Decision::PlaceBall { position: self.ball, velocity: DVec3::ZERO });
    }

    fn relocate(&mut self, player: PlayerId, to: Placement) {
        for known in self.players.iter_mut().filter(|p| p.id == player) {
            (known.torso.position.x, known.torso.position.y) = (to.x, to.y);
        }
        self.out.push(Decision::Relocate { player, to });
    }
}

impl Referee {
    /// A referee for one phase of a game. The clock starts at `time`, or at the phase's beginning.
    pub fn new(book: RuleBook, field: Field, phase: Phase, time: Option<Duration>) -> Self {
        let rules = book.rules();
        let play_time = time.unwrap_or(rules.span(phase).0);
        Self {
            rules,
            timing: Timing::Rounded,
            field,
            phase,
            now: Duration::ZERO,
            play_time,
            mode: PlayMode::BeforeKickOff,
            mode_since: play_time,
            score: [0; 2],
            fouls: Vec::new(),
            touches: Touches::default(),
            barred: None,
            no_score: None,
            falls: BTreeMap::new(),
            goalie_areas: [AreaOccupancy::default(), AreaOccupancy::default()],
            restarted: false,
            ball_moved: None,
        }
    }

    /// The same with another arithmetic of time limits.
    #[must_use]
    pub fn with_timing(self, timing: Timing) -> Self {
        Self { timing, ..self }
    }

    /// Judges the cycle that has just ended. Adds to `out` the decisions to carry out before the next.
    pub fn judge(&mut self, scene: &Scene<'_>, out: &mut Vec<Decision>) {
        let ball = self.ball_moved.take().unwrap_or(scene.ball.position);
        let players = scene.players.iter().filter(|player| player.active).copied().collect();
        let mut view = CycleView { ball, players, out };

        self.fouls.clear();
        self.now += scene.cycle;
        if self.mode.runs_clock() {
            self.play_time += scene.cycle;
        }
        if self.play_time >= self.rules.span(self.phase).1 {
            self.game_over();
            self.restarted = false;
            return;
        }

        // a command has just moved the ball: earlier touches do not count
        if !self.restarted {
            self.touches.update(scene.contacts.iter().map(|contact| contact.player), self.now);
        }
        self.check_ball_fouls(scene.contacts, &mut view);
        self.check_falls(scene.cycle, &mut view);
        self.check_defence(&mut view);
        for check in [Self::check_timeouts, Self::check_ball_position, Self::check_touches] {
            if !self.restarted {
                check(self, &mut view);
            }
        }
        self.check_misplaced(&mut view);
        self.restarted = false;
    }

    /// Lets a cycle pass without judging it: only the clock runs.
    pub fn let_pass(&mut self, cycle: Duration) {
        self.now += cycle;
        if self.mode.runs_clock() {
            self.play_time += cycle;
        }
        self.fouls.clear();
        self.restarted = false;
        self.ball_moved = None;
    }

    /// Kick-off for `side`; without one, a coin is tossed.
    pub fn kick_off(&mut self, side: Option<Side>, rng: &mut impl Rng, out: &mut Vec<Decision>) {
        let side = side.unwrap_or_else(|| if rng.random() { Side::Left } else { Side::Right });
        self.command(DVec3::ZERO, out, |referee, view| referee.award_kick_off(side, view));
    }

    /// Puts the ball on the ground below its position and continues play.
    pub fn drop_ball(&mut self, ball: DVec3, out: &mut Vec<Decision>) {
        self.command(ball, out, |referee, view| referee.drop(view.ball_spot(), view));
    }

    /// Moves the ball for a monitor. This is no restart: the mode stays, and the cycle is judged.
    pub fn place_ball(&mut self, position: DVec3, velocity: DVec3, out: &mut Vec<Decision>) {
        self.ball_moved = Some(position);
        out.push(Decision::PlaceBall { position, velocity });
    }

    /// Enters a mode as if the referee had called it: set plays move the ball from `ball`, its current position, to where
    /// it belongs. A goal does not count, and the other modes leave the ball where it is.
    pub fn set_play_mode(&mut self, mode: PlayMode, ball: DVec3, out: &mut Vec<Decision>) {
        self.command(ball, out, |referee, view| match mode {
            PlayMode::KickOff(side) => referee.award_kick_off(side, view),
            PlayMode::KickIn(side) => referee.award_kick_in(side, view),
            PlayMode::CornerKick(side) => referee.award_corner_kick(side, view),
            PlayMode::GoalKick(side) => referee.award_goal_kick(side, view),
            PlayMode::FreeKick(side) => referee.award_free_kick(side, view),
            PlayMode::DirectFreeKick(side) => referee.award_direct_free_kick(side, view),
            PlayMode::PenaltyKick(side) => referee.award_penalty_kick(side, view),
            PlayMode::GameOver => referee.game_over(),
            PlayMode::BeforeKickOff
            | PlayMode::PlayOn
            | PlayMode::Offside(_)
            | PlayMode::Goal(_)
            | PlayMode::PenaltyShoot(_) => referee.enter_mode(mode),
        });
    }

    fn command(&mut self, ball: DVec3, out: &mut Vec<Decision>, act: impl FnOnce(&mut Self, &mut CycleView<'_>)) {
        let ball = self.ball_moved.unwrap_or(ball);
        let mut view = CycleView { ball, players: Vec::new(), out };
        act(self, &mut view);
        if view.ball != ball {
            self.ball_moved = Some(view.ball);
        }
    }

    /// The play mode.
    pub fn mode(&self) -> PlayMode {
        self.mode
    }

    /// The game clock.
    pub fn play_time(&self) -> Duration {
        self.play_time
    }

    /// The phase that is played.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// 1 until the clock has passed the first half, then 2.
    pub fn half(&self) -> u8 {
        if self.play_time > self.rules.half { 2 } else { 1 }
    }

    /// Goals of a side.
    pub fn score(&self, side: Side) -> u32 {
        self.score[side.index()]
    }

    /// The fouls of the last judged cycle, in the order in which they were called.
    pub fn fouls(&self) -> &[FoulCall] {
        &self.fouls
    }

    /// The field of the game.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// The numbers of the game's rule book.
    pub fn rules(&self) -> &'static Rules {
        self.rules
    }

    fn enter_mode(&mut self, mode: PlayMode) {
        self.mode = mode;
        self.mode_since = self.play_time;
        self.restarted = true;
    }

    /// Forgets bans and touches, after a restart.
    fn clear_bans(&mut self) {
        self.touches = Touches::default();
        self.barred = None;
        self.no_score = None;
    }

    fn call(&mut self, player: PlayerId, foul: Foul) {
        self.fouls.push(FoulCall { player, foul });
    }

    /// Moves a player off the field, to the touch line away from the ball.
    fn penalise(&self, player: PlayerId, view: &mut CycleView<'_>) {
        let others = view.players.iter().filter(|p| p.id != player).map(|p| p.torso.position.truncate());
        let to = teams::penalised_placement(&self.field, player.side, view.ball.y, others);
        view.relocate(player, to);
    }
}

#[cfg(test)]
mod tests;
