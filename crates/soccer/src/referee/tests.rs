//! Each rule as a table: a situation, and what the referee makes of it.

mod playing;
mod properties;

use glam::{DQuat, DVec2};

use super::*;
use crate::{
    rules::Side::{Left, Right},
    scene::{Ball, BodyPart, Contact, Pose, TorsoBox},
};

const CYCLE: Duration = Duration::from_millis(20);
const L1: PlayerId = PlayerId { side: Left, number: 1 };
const L2: PlayerId = PlayerId { side: Left, number: 2 };
const L3: PlayerId = PlayerId { side: Left, number: 3 };
const L4: PlayerId = PlayerId { side: Left, number: 4 };
const R1: PlayerId = PlayerId { side: Right, number: 1 };
const R2: PlayerId = PlayerId { side: Right, number: 2 };
const R3: PlayerId = PlayerId { side: Right, number: 3 };
const R4: PlayerId = PlayerId { side: Right, number: 4 };

/// Ball and players on the small field. Whatever the referee decides is carried out.
struct Pitch {
    referee: Referee,
    ball: DVec3,
    players: Vec<Player>,
    decisions: Vec<Decision>,
}

impl Pitch {
    fn new(players: &[(PlayerId, f64, f64)]) -> Self {
        Self::at(Phase::FirstHalf, None, players)
    }

    fn at(phase: Phase, time: Option<Duration>, players: &[(PlayerId, f64, f64)]) -> Self {
        Self {
            referee: Referee::new(RuleBook::Ssim, Field::FIFA7VS7, phase, time),
            ball: DVec3::new(0.0, 0.0, BALL_RADIUS),
            players: players.iter().map(|&(id, x, y)| player_at(id, DVec3::new(x, y, 0.67))).collect(),
            decisions: Vec::new(),
        }
    }

    /// Two a side, far from everything, in this mode, with the ball on the ground at `spot`.
    fn in_mode(mode: PlayMode, spot: (f64, f64)) -> Self {
        let mut pitch = Self::new(&[(L1, -15.0, 9.0), (L2, -14.0, -9.0), (R1, 15.0, 9.0), (R2, 14.0, -9.0)]);
        pitch.ball = DVec3::new(spot.0, spot.1, BALL_RADIUS);
        pitch.set_mode(mode);
        pitch.cycle(None);
        pitch
    }

    fn set_mode(&mut self, mode: PlayMode) {
        self.decisions.clear();
        self.referee.set_play_mode(mode, self.ball, &mut self.decisions);
        self.carry_out();
    }

    fn cycle(&mut self, toucher: Option<PlayerId>) {
        let contact = toucher.map(|player| Contact { player, part: BodyPart::Other });
        self.cycle_with(contact.as_slice());
    }

    fn cycles(&mut self, count: usize, toucher: Option<PlayerId>) {
        (0..count).for_each(|_| self.cycle(toucher));
    }

    fn cycle_with(&mut self, contacts: &[Contact]) {
        let ball = Ball { position: self.ball, velocity: DVec3::ZERO };
        self.decisions.clear();
        let scene = Scene { cycle: CYCLE, ball, players: &self.players, contacts };
        self.referee.judge(&scene, &mut self.decisions);
        self.carry_out();
    }

    fn carry_out(&mut self) {
        for decision in &self.decisions {
            match *decision {
                Decision::PlaceBall { position, velocity } => {
                    assert_eq!(velocity, DVec3::ZERO);
                    self.ball = position;
                }
                Decision::Relocate { player, to } => {
                    let moved = self.players.iter_mut().find(|p| p.id == player).unwrap();
                    *moved = player_at(player, DVec3::new(to.x, to.y, 0.67));
                }
            }
        }
    }

    fn move_ball(&mut self, x: f64, y: f64) {
        self.ball = DVec3::new(x, y, BALL_RADIUS);
    }

    fn mode(&self) -> PlayMode {
        self.referee.mode()
    }

    fn ball_placed(&self) -> Option<(f64, f64)> {
        self.decisions.iter().find_map(|decision| match decision {
            Decision::PlaceBall { position, .. } => Some((position.x, position.y)),
            Decision::Relocate { .. } => None,
        })
    }

    fn relocated(&self) -> Vec<(PlayerId, f64, f64)> {
        let moves = self.decisions.iter().filter_map(|decision| match decision {
            Decision::Relocate { player, to } => Some((*player, to.x, to.y)),
            Decision::PlaceBall { .. } => None,
        });
        moves.collect()
    }

    fn fouls(&self) -> Vec<(PlayerId, Foul)> {
        self.referee.fouls().iter().map(|call| (call.player, call.foul)).collect()
    }
}

fn player_at(id: PlayerId, position: DVec3) -> Player {
    Player {
        id,
        active: true,
        torso: Pose { position, rotation: DQuat::IDENTITY },
        torso_box: TorsoBox { center: DVec3::new(0.06, 0.0, 0.12), half_size: DVec2::new(0.075, 0.1) },
        camera_height: position.z + 0.42,
        camera_along_torso: 0.42,
        head_top: position.z + 0.49,
    }
}

#[test]
fn the_clock_ends_each_phase() {
    let ms = Duration::from_millis;
    for (phase, start, cycles) in [
        (Phase::FirstHalf, Some(ms(299_900)), 5),
        (Phase::SecondHalf, Some(ms(599_960)), 2),
        (Phase::SecondHalf, None, 15_000),
        (Phase::FirstExtraHalf, None, 9_000),
        (Phase::PenaltyShooting, Some(ms(59_950)), 3),
    ] {
        let mut pitch = Pitch::at(phase, start, &[]);
        pitch.set_mode(PlayMode::PlayOn);
        pitch.cycles(cycles - 1, None);
        assert_eq!(pitch.mode(), PlayMode::PlayOn, "{phase:?}");
        pitch.cycle(None);
        assert_eq!(pitch.mode(), PlayMode::GameOver, "{phase:?}");
        let end = pitch.referee.play_time();
        pitch.cycles(9, None);
        assert_eq!(pitch.referee.play_time(), end, "the clock stands");
    }
}

#[test]
fn the_clock_waits_for_the_kick_off() {
    let mut pitch = Pitch::new(&[]);
    pitch.cycles(10, None);
    assert_eq!((pitch.mode(), pitch.referee.play_time()), (PlayMode::BeforeKickOff, Duration::ZERO));
    pitch.set_mode(PlayMode::KickOff(Left));
    pitch.cycle(None);
    assert_eq!((pitch.referee.play_time(), pitch.referee.mode_since), (CYCLE, Duration::ZERO));
}

#[test]
fn after_the_end_nothing_is_judged() {
    let mut pitch = Pitch::at(Phase::FirstHalf, Some(Duration::from_secs(300)), &[(L1, -1.0, 0.0), (R1, -3.0, 0.0)]);
    pitch.set_mode(PlayMode::KickOff(Left));
    pitch.move_ball(28.0, 0.0);
    pitch.cycle(None);
    assert_eq!((pitch.mode(), pitch.decisions.len(), pitch.referee.score(Left)), (PlayMode::GameOver, 0, 0));
}

#[test]
fn a_cycle_that_is_not_judged_takes_time_and_nothing_else() {
    let mut pitch = Pitch::in_mode(PlayMode::PlayOn, (0.0, 0.0));
    let before = pitch.referee.play_time();
    pitch.move_ball(30.0, 0.0);
    pitch.referee.let_pass(CYCLE);
    assert_eq!((pitch.mode(), pitch.referee.score(Left)), (PlayMode::PlayOn, 0));
    assert_eq!(pitch.referee.play_time(), before + CYCLE);
    // a command that was carried out before does not tell where the ball is now
    pitch.referee.place_ball(DVec3::new(9.0, 9.0, BALL_RADIUS), DVec3::ZERO, &mut pitch.decisions);
    pitch.referee.let_pass(CYCLE);
    pitch.decisions.clear();
    pitch.referee.drop_ball(DVec3::new(1.0, 2.0, BALL_RADIUS), &mut pitch.decisions);
    assert_eq!(pitch.ball_placed(), Some((1.0, 2.0)));
}

#[test]
fn halves() {
    for (ms, half) in [(0, 1), (300_000, 1), (300_020, 2), (700_000, 2)] {
        let pitch = Pitch::at(Phase::SecondExtraHalf, Some(Duration::from_millis(ms)), &[]);
        assert_eq!(pitch.referee.half(), half, "{ms}");
    }
}

#[test]
fn set_plays_wait_for_15_s_and_goals_for_3() {
    use PlayMode::*;
    for (mode, cycles, next, ball) in [
        (KickOff(Left), 750, PlayOn, None),
        (KickIn(Right), 750, PlayOn, None),
        (CornerKick(Left), 750, PlayOn, None),
        (FreeKick(Right), 750, PlayOn, None),
        (DirectFreeKick(Left), 750, PlayOn, None),
        (GoalKick(Left), 750, PlayOn, Some((-23.5, 3.65))),
        (GoalKick(Right), 750, PlayOn, Some((23.5, 3.65))),
        (Goal(Left), 150, KickOff(Right), Some((0.0, 0.0))),
        (Goal(Right), 150, KickOff(Left), Some((0.0, 0.0))),
    ] {
        let mut pitch = Pitch::in_mode(mode, (5.0, 5.0));
        pitch.cycles(cycles - 1, None);
        assert_eq!(pitch.mode(), mode);
        pitch.cycle(None);
        assert_eq!((pitch.mode(), pitch.ball_placed()), (next, ball), "after {mode:?}");
    }
    // play times of goals, in ms: as on the server, the rounding of its clock decides the last cycle
    for (goal, cycles) in [(1_380, 151), (1_400, 150), (1_420, 151), (1_440, 150)] {
        let mut pitch = Pitch::at(Phase::FirstHalf, Some(Duration::from_millis(goal)), &[]);
        pitch.set_mode(Goal(Right));
        pitch.cycles(cycles - 1, None);
        assert_eq!((pitch.mode(), pitch.ball_placed()), (Goal(Right), None), "a goal at {goal} ms");
        pitch.cycle(None);
        assert_eq!((pitch.mode(), pitch.ball_placed()), (KickOff(Left), Some((0.0, 0.0))), "a goal at {goal} ms");
    }
    for mode in [PenaltyKick(Left), PenaltyShoot(Right), Offside(Left), PlayOn, BeforeKickOff] {
        let mut pitch = Pitch::in_mode(mode, (5.0, 5.0));
        pitch.cycles(800, None);
        assert_eq!(pitch.mode(), mode, "never ends by itself");
    }
}

#[test]
fn a_ball_out_of_the_field() {
    use PlayMode::*;
    // who touched last, where it is: mode and ball
    for (toucher, x, y, mode, ball) in [
        (None, 28.0, 5.0, GoalKick(Right), Some((25.5, 0.0))),
        (None, -28.0, -5.0, GoalKick(Left), Some((-25.5, 0.0))),
        (Some(L2), 28.0, 5.0, GoalKick(Right), Some((25.5, 0.0))),
        (Some(R2), 28.0, 5.0, CornerKick(Left), Some((27.5, 18.0))),
        (Some(R2), 28.0, -5.0, CornerKick(Left), Some((27.5, -18.0))),
        (Some(R2), 28.6, 0.0, CornerKick(Left), Some((27.5, 18.0))),
        (Some(L2), -28.0, -5.0, CornerKick(Right), Some((-27.5, -18.0))),
        (Some(R2), -28.0, -5.0, GoalKick(Left), Some((-25.5, 0.0))),
        (Some(L2), 28.0, 18.5, GoalKick(Right), Some((25.5, 0.0))),
        (Some(L2), 3.0, 18.01, KickIn(Right), Some((3.0, 18.0))),
        (Some(R2), -3.0, -18.01, KickIn(Left), Some((-3.0, -18.0))),
        (None, 3.0, 18.01, PlayOn, Some((3.0, 18.0))),
        (Some(L2), 27.5, 5.0, PlayOn, None),
        (Some(L2), 3.0, -18.0, PlayOn, None),
    ] {
        let mut pitch = Pitch::in_mode(PlayOn, (0.0, 0.0));
        pitch.cycle(toucher);
        pitch.move_ball(x, y);
        pitch.cycle(None);
        assert_eq!((pitch.mode(), pitch.ball_placed()), (mode, ball), "{toucher:?} {x} {y}");
    }
}

#[test]
fn goals() {
    use PlayMode::*;
    for (mode, x, z, next, score, ball) in [
        (PlayOn, 28.0, 0.2, Goal(Left), (1, 0), None),
        (PlayOn, -28.0, 0.2, Goal(Right), (0, 1), None),
        (PlayOn, 28.0, 1.9, GoalKick(Right), (0, 0), Some((25.5, 0.0))),
        (BeforeKickOff, 28.0, 0.2, Goal(Left), (1, 0), None),
        (KickIn(Left), 28.0, 0.2, Goal(Left), (1, 0), None),
        (DirectFreeKick(Left), 28.0, 0.2, Goal(Left), (1, 0), None),
        (KickOff(Left), 28.0, 0.2, GoalKick(Right), (0, 0), Some((25.5, 0.0))),
        (KickOff(Left), -28.0, 0.2, Goal(Right), (0, 1), None),
        (FreeKick(Right), -28.0, 0.2, GoalKick(Left), (0, 0), Some((-25.5, 0.0))),
        (GoalKick(Left), 28.0, 0.2, Goal(Left), (1, 0), None),
        (GoalKick(Left), -28.0, 0.2, PlayOn, (0, 0), Some((-23.5, 3.65))),
        (GoalKick(Right), 28.0, 0.2, PlayOn, (0, 0), Some((23.5, 3.65))),
        (Goal(Left), 28.0, 0.2, Goal(Left), (0, 0), None),
    ] {
        let mut pitch = Pitch::in_mode(mode, (0.0, 0.0));
        pitch.ball = DVec3::new(x, 0.0, z);
        pitch.cycle(None);
        let found = (pitch.referee.score(Left), pitch.referee.score(Right));
        assert_eq!((pitch.mode(), found, pitch.ball_placed()), (next, score, ball), "{mode:?} {x} {z}");
    }
}

#[test]
fn a_goal_kick_ends_when_the_ball_leaves_the_area() {
    let mode = PlayMode::GoalKick(Left);
    for (x, y, next) in
        [(-24.0, 3.0, mode), (-23.5, 3.65, mode), (-23.4, 0.0, PlayMode::PlayOn), (-26.0, 3.7, PlayMode::PlayOn)]
    {
        let mut pitch = Pitch::in_mode(mode, (0.0, 0.0));
        pitch.cycles(3, Some(L1));
        pitch.move_ball(x, y);
        pitch.cycle(None);
        assert_eq!(pitch.mode(), next, "{x} {y}");
    }
}

#[test]
fn any_touch_takes_a_set_play() {
    use PlayMode::*;
    for mode in PlayMode::all() {
        for toucher in [L2, R2] {
            let mut pitch = Pitch::in_mode(mode, (5.0, 5.0));
            pitch.cycle(Some(toucher));
            let taken = matches!(mode, KickOff(_) | KickIn(_) | CornerKick(_) | FreeKick(_) | DirectFreeKick(_));
            assert_eq!(pitch.mode(), if taken { PlayOn } else { mode }, "{mode:?} {toucher:?}");
        }
    }
}

/// The taker kicks, then these players touch in turn, each for so many cycles.
fn touches(pitch: &mut Pitch, story: &[(usize, Option<PlayerId>)]) {
    for &(cycles, toucher) in story {
        pitch.cycles(cycles, toucher);
    }
}

#[test]
fn the_taker_may_not_touch_again() {
    let kick_in = PlayMode::KickIn(Left);
    type Story<'a> = &'a [(usize, Option<PlayerId>)];
    let fouls: [Story<'_>; 3] = [
        &[(10, Some(L2)), (60, None), (1, Some(L2))],
        // 50 cycles after the first touch are still one kick
        &[(1, Some(L2)), (10, None), (41, Some(L2))],
        &[(1, Some(R2)), (60, None), (1, Some(R2))],
    ];
    for story in fouls {
        let mut pitch = Pitch::in_mode(kick_in, (5.0, 5.0));
        touches(&mut pitch, story);
        let toucher = story[0].1.unwrap();
        assert_eq!(pitch.fouls(), [(toucher, Foul::DoubleTouch)], "{story:?}");
        assert_eq!(pitch.mode(), PlayMode::FreeKick(toucher.side.other()));
        assert_eq!(pitch.ball_placed(), Some((5.0, 18.0)));
    }
    let fair: [Story<'_>; 4] = [
        &[(100, Some(L2))],
        &[(1, Some(L2)), (10, None), (40, Some(L2))],
        &[(1, Some(L2)), (60, None), (1, Some(L1)), (1, Some(L2)), (60, None), (1, Some(L2))],
        &[(1, Some(L2)), (60, None), (1, Some(R1)), (60, None), (1, Some(L2))],
    ];
    for story in fair {
        let mut pitch = Pitch::in_mode(kick_in, (5.0, 5.0));
        touches(&mut pitch, story);
        assert_eq!(pitch.mode(), PlayMode::PlayOn, "{story:?}");
    }
    let mut alone = Pitch::new(&[(L2, -9.0, 0.0), (R1, 9.0, 0.0)]);
    alone.set_mode(kick_in);
    touches(&mut alone, &[(2, Some(L2)), (60, None), (9, Some(L2))]);
    assert_eq!(alone.mode(), PlayMode::PlayOn, "nobody else could go on");
}

#[test]
fn who_may_not_score_yet() {
    type Story<'a> = &'a [(Option<PlayerId>, f64)];
    // touches with the ball at x, after a kick-off for the left; then it rolls into the right goal
    let cases: [(Story<'_>, bool); 8] = [
        (&[(Some(L2), 0.0), (None, 0.0)], false),
        (&[(Some(L2), 0.0), (None, 0.0), (Some(L1), 1.0)], false),
        (&[(Some(L2), 0.0), (None, 0.0), (Some(L1), 5.5)], false),
        (&[(Some(L2), 0.0), (None, 0.0), (Some(L1), 5.51)], true),
        (&[(Some(L2), 0.0), (None, 0.0), (Some(L2), 6.0)], true),
        (&[(Some(L2), 0.0), (Some(R1), 1.0)], true),
        // whoever takes it lifts nothing, not even an opponent
        (&[(Some(R1), 0.0), (None, 0.0)], false),
        (&[(Some(L2), 6.0), (None, 6.0)], false),
    ];
    for (story, scores) in cases {
        let mut pitch = Pitch::in_mode(PlayMode::KickOff(Left), (0.0, 0.0));
        for &(toucher, x) in story {
            pitch.move_ball(x, 0.0);
            pitch.cycle(toucher);
        }
        pitch.move_ball(28.0, 0.0);
        pitch.cycle(None);
        let expected = if scores { PlayMode::Goal(Left) } else { PlayMode::GoalKick(Right) };
        assert_eq!(pitch.mode(), expected, "{story:?}");
    }
}

#[test]
fn hands() {
    let arm = |player, x: f64| {
        let position = DVec3::new(x, 0.0, 0.67);
        Contact { player, part: BodyPart::Arm { position, radius: 0.03 } }
    };
    let foot = |player| Contact { player, part: BodyPart::Other };
    // where the ball is, who touches with what: is it a foul?
    type Case = (f64, Vec<Contact>, Option<PlayerId>);
    let cases: Vec<Case> = vec![
        (0.0, vec![arm(L2, -14.6)], Some(L2)),
        (0.0, vec![foot(L2), arm(L2, -14.6)], Some(L2)),
        (0.0, vec![arm(L2, -14.9)], None),
        (0.0, vec![foot(L2)], None),
        // only the first player at the ball counts
        (0.0, vec![foot(R2), arm(L2, -14.6)], None),
        // goalies may, at home
        (-20.0, vec![arm(L1, -14.6)], None),
        (-18.5, vec![arm(L1, -14.6)], None),
        (-18.4, vec![arm(L1, -14.6)], Some(L1)),
        (20.0, vec![arm(L1, -14.6)], Some(L1)),
        (-20.0, vec![arm(L2, -14.6)], Some(L2)),
    ];
    for (x, contacts, foul) in cases {
        for mode in [PlayMode::PlayOn, PlayMode::Goal(Left), PlayMode::GoalKick(Right)] {
            let mut pitch = Pitch::new(&[(L1, -15.0, 0.0), (L2, -15.0, 0.0), (R2, 15.0, 0.0)]);
            pitch.set_mode(mode);
            pitch.cycle(None);
            pitch.move_ball(x, 0.0);
            pitch.cycle_with(&contacts);
            assert_eq!(pitch.fouls(), Vec::from_iter(foul.map(|player| (player, Foul::Hand))), "{x} {contacts:?}");
            let is_kick = pitch.mode() == PlayMode::DirectFreeKick(Right) && pitch.ball_placed() == Some((x, 0.0));
            assert_eq!(is_kick, foul.is_some());
        }
    }
    for (name, is_arm) in [("left_hand", true), ("right_forearm", true), ("left_foot", false), ("torso", false)] {
        assert_eq!(BodyPart::is_arm(name), is_arm, "{name}");
    }
}

#[test]
fn players_that_stay_down() {
    // number, height of the torso, cycles until it has to go
    for (player, z, cycles) in
        [(L2, 0.149, Some(751)), (L2, 0.15, Some(1501)), (L2, 0.25, None), (L1, 0.1, Some(1501)), (L1, 0.2, Some(3000))]
    {
        let mut pitch = Pitch::new(&[(player, -5.0, 0.0)]);
        pitch.set_mode(PlayMode::PlayOn);
        pitch.players[0].torso.position.z = z;
        let found = (1..=3100).find(|_| {
            pitch.cycle(None);
            !pitch.decisions.is_empty()
        });
        assert_eq!(found, cycles, "{player:?} {z}");
        if cycles.is_some() {
            assert_eq!(pitch.relocated(), [(player, -2.0, 21.0)]);
            assert_eq!(pitch.fouls(), [(player, Foul::Incapable)]);
        }
    }
    for (mode, y, called) in [
        (PlayMode::PlayOn, 18.1, true),
        (PlayMode::PlayOn, 18.11, false),
        (PlayMode::PlayOn, -18.11, false),
        (PlayMode::Goal(Left), 0.0, true),
        (PlayMode::BeforeKickOff, 0.0, false),
        (PlayMode::GameOver, 0.0, true),
    ] {
        let mut pitch = Pitch::new(&[(L2, -9.0, y)]);
        pitch.set_mode(mode);
        pitch.players[0].torso.position.z = 0.1;
        let found = (0..800).any(|_| {
            pitch.cycle(None);
            !pitch.fouls().is_empty()
        });
        assert_eq!(found, called, "{mode:?} {y}");
    }
}

#[test]
fn two_in_the_goalie_area_are_enough() {
    for mode in [PlayMode::BeforeKickOff, PlayMode::PlayOn, PlayMode::Goal(Left)] {
        let mut pitch = Pitch::new(&[(L1, -26.0, 0.0), (L2, -25.0, 1.0), (L3, -20.0, 0.0), (R1, 20.0, 0.0)]);
        pitch.set_mode(mode);
        pitch.move_ball(0.0, 5.0);
        pitch.cycles(10, None);
        pitch.players[2].torso.position.x = -23.5;
        pitch.cycles(4, None);
        assert_eq!(pitch.fouls(), []);
        pitch.cycle(None);
        assert_eq!(pitch.fouls(), [(L3, Foul::IllegalDefence)], "{mode:?}");
        assert_eq!(pitch.relocated(), [(L3, -2.0, -21.0)]);
    }
    // of three who come at once, the first to have joined; both sides at once
    let mut pitch = Pitch::new(&[
        (L4, -26.0, 0.0),
        (L2, -25.0, 1.0),
        (R3, 25.0, 1.0),
        (L3, -25.0, 2.0),
        (R1, 26.0, 0.0),
        (R2, 24.0, -1.0),
    ]);
    pitch.cycles(5, None);
    assert_eq!(pitch.fouls(), [(L4, Foul::IllegalDefence), (R3, Foul::IllegalDefence)]);
}

#[test]
fn leaving_the_goalie_area_in_time() {
    let mut pitch = Pitch::new(&[(L1, -26.0, 0.0), (L2, -25.0, 1.0), (L3, -24.0, 0.0)]);
    for _ in 0..5 {
        pitch.cycles(4, None);
        pitch.players[2].torso.position.x = -23.0;
        pitch.cycle(None);
        pitch.players[2].torso.position.x = -24.0;
        assert_eq!(pitch.fouls(), []);
    }
}

#[test]
fn misplaced_players() {
    use PlayMode::*;
    type Case<'a> = (PlayMode, (f64, f64), &'a [(PlayerId, f64, f64)], &'a [PlayerId]);
    let cases: [Case<'_>; 12] = [
        // takers: over halfway only the nearest, in the circle; ties go to who joined later
        (KickOff(Left), (0.0, 0.0), &[(L1, 1.0, 0.0), (L2, 2.0, 0.0), (L3, -1.0, 0.0)], &[L2]),
        (KickOff(Left), (0.0, 0.0), &[(L1, 5.5, 0.0), (L2, 0.0, 10.0)], &[]),
        (KickOff(Left), (0.0, 0.0), &[(L1, 5.51, 0.0)], &[L1]),
        (KickOff(Left), (0.0, 0.0), &[(L1, 2.0, 0.0), (L2, 2.0, 0.0), (L3, 2.0, 0.0)], &[L1, L2]),
        (
            KickOff(Right),
            (0.0, 0.0),
            &[(R1, -1.0, 5.0), (R2, -1.0, 9.0), (R3, -1.0, 0.0), (L1, -2.0, 0.0)],
            &[L1, R2, R1],
        ),
        // others: neither over halfway nor in the circle
        (KickOff(Left), (0.0, 0.0), &[(R1, 0.0, 7.0), (R2, -0.01, 7.0), (R3, 5.5, 0.0), (R4, 5.49, 0.1)], &[R2, R4]),
        (
            GoalKick(Left),
            (0.0, 0.0),
            &[(R1, -25.0, 0.0), (R2, -26.0, 3.65), (R3, -23.4, 0.0), (L1, -25.0, 1.0)],
            &[R1, R2],
        ),
        (KickIn(Left), (5.0, 5.0), &[(R1, 5.0, 17.0), (R2, 5.0, 5.0), (L1, 5.0, 17.5)], &[R1]),
        (CornerKick(Left), (0.0, 1.0), &[(R1, 24.0, 16.0), (L1, 24.0, 15.0)], &[R1]),
        (FreeKick(Left), (5.0, 5.0), &[(R1, 5.0, 5.0), (R2, 10.5, 5.0), (R3, 10.49, 5.0), (L1, 5.0, 4.0)], &[R1, R3]),
        (DirectFreeKick(Right), (5.0, 5.0), &[(L1, 5.0, 6.0), (R2, 5.0, 5.0)], &[L1]),
        (PlayOn, (5.0, 5.0), &[(L1, 5.0, 6.0), (R2, 5.0, 5.0)], &[]),
    ];
    for (mode, (x, y), players, expected) in cases {
        let mut pitch = Pitch::new(players);
        pitch.move_ball(x, y);
        pitch.set_mode(mode);
        pitch.cycle(None);
        let found: Vec<PlayerId> = pitch.relocated().into_iter().map(|(player, ..)| player).collect();
        assert_eq!(found, expected, "{mode:?} {players:?}");
        assert_eq!(pitch.fouls(), [], "this is no foul");
        pitch.cycle(None);
        assert_eq!(pitch.relocated(), [], "once is enough");
    }
}

#[test]
fn those_who_must_go_line_up() {
    let mut pitch = Pitch::new(&[(L1, 5.0, -5.0), (L2, 6.0, -5.0), (R4, -2.0, 21.0), (L3, -4.5, 21.8)]);
    pitch.move_ball(5.0, -5.0);
    pitch.set_mode(PlayMode::FreeKick(Right));
    pitch.cycle(None);
    assert_eq!(pitch.relocated(), [(L1, -6.0, 21.0), (L2, -8.0, 21.0)]);
}

#[test]
fn inactive_players_are_overlooked() {
    let mut pitch = Pitch::new(&[(L1, 5.0, -5.0)]);
    pitch.players[0].active = false;
    pitch.move_ball(5.0, -5.0);
    pitch.set_mode(PlayMode::FreeKick(Right));
    pitch.cycle(None);
    assert_eq!(pitch.relocated(), []);
}
