//! What holds in any game, however odd the scenes.

use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

/// Modes that the referee itself may go to from another.
fn is_successor(mode: PlayMode, next: PlayMode) -> bool {
    use PlayMode::*;
    match next {
        _ if next == mode => true,
        GameOver | DirectFreeKick(_) | FreeKick(_) => true,
        PlayOn => mode.taker().is_some() || matches!(mode, GoalKick(_)),
        KickOff(side) => mode == Goal(side.other()),
        KickIn(_) | CornerKick(_) | GoalKick(_) | Goal(_) => !matches!(mode, Goal(_)),
        BeforeKickOff | Offside(_) | PenaltyKick(_) | PenaltyShoot(_) => false,
    }
}

fn any_id() -> impl Strategy<Value = PlayerId> {
    (any::<bool>(), 0..6u8).prop_map(|(left, number)| PlayerId::new(if left { Left } else { Right }, number))
}

/// Mostly places on and around a field, sometimes anything.
fn coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![8 => -32.0..32.0f64, 1 => prop::num::f64::NORMAL, 1 => Just(0.0)]
}

fn point() -> impl Strategy<Value = DVec3> {
    (coordinate(), coordinate(), prop_oneof![0.0..2.0, coordinate()]).prop_map(DVec3::from)
}

fn any_player() -> impl Strategy<Value = Player> {
    (any_id(), point(), any::<bool>(), -4.0..4.0, -4.0..4.0).prop_map(|(id, position, active, turn, tilt)| {
        let rotation = DQuat::from_rotation_z(turn) * DQuat::from_rotation_y(tilt);
        Player { active, torso: Pose { position, rotation }, ..player_at(id, position) }
    })
}

fn any_contact() -> impl Strategy<Value = Contact> {
    (any_id(), point(), any::<bool>()).prop_map(|(player, position, arm)| Contact {
        player,
        part: if arm { BodyPart::Arm { position, radius: 0.03 } } else { BodyPart::Other },
    })
}

#[derive(Clone, Debug)]
enum Step {
    Scene(DVec3, Vec<Player>, Vec<Contact>, u32),
    KickOff,
    Drop(DVec3),
    Mode(PlayMode, DVec3),
}

fn any_step() -> impl Strategy<Value = Step> {
    let scene =
        (point(), prop::collection::vec(any_player(), 0..7), prop::collection::vec(any_contact(), 0..3), 1..900u32);
    let mode = (0..23usize).prop_map(|index| PlayMode::all().nth(index).unwrap());
    prop_oneof![
        12 => scene.prop_map(|(ball, players, contacts, count)| Step::Scene(ball, players, contacts, count)),
        1 => Just(Step::KickOff),
        1 => point().prop_map(Step::Drop),
        1 => (mode, point()).prop_map(|(mode, ball)| Step::Mode(mode, ball)),
    ]
}

/// Plays the steps and returns all that could be observed; checks what always holds.
fn play(steps: &[Step], seed: u64) -> Vec<(PlayMode, u32, u32, Vec<Decision>)> {
    let mut referee = Referee::new(RuleBook::Ssim, Field::FIFA7VS7, Phase::FirstHalf, None);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = Vec::new();
    for step in steps {
        let mut out = Vec::new();
        match step {
            Step::KickOff => referee.kick_off(None, &mut rng, &mut out),
            Step::Drop(ball) => referee.drop_ball(*ball, &mut out),
            Step::Mode(mode, ball) => referee.set_play_mode(*mode, *ball, &mut out),
            Step::Scene(position, players, contacts, count) => {
                for _ in 0..*count {
                    let (mode, left, right) = (referee.mode(), referee.score(Left), referee.score(Right));
                    let ball = Ball { position: *position, velocity: DVec3::ZERO };
                    referee.judge(&Scene { cycle: CYCLE, ball, players, contacts }, &mut out);
                    let next = referee.mode();
                    assert!(is_successor(mode, next), "{mode:?} to {next:?}");
                    let scored = |side| u32::from(next == PlayMode::Goal(side) && mode != next);
                    assert_eq!(referee.score(Left), left + scored(Left));
                    assert_eq!(referee.score(Right), right + scored(Right));
                }
            }
        }
        for decision in &out {
            match decision {
                Decision::PlaceBall { position, .. } => assert!(position.is_finite()),
                Decision::Relocate { to, .. } => assert!(to.spot().is_finite() && to.heading.is_finite()),
            }
        }
        seen.push((referee.mode(), referee.score(Left), referee.score(Right), out));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_game_can_be_judged_and_comes_from_its_seed(steps in prop::collection::vec(any_step(), 1..30), seed: u64) {
        prop_assert_eq!(play(&steps, seed), play(&steps, seed));
    }
}
