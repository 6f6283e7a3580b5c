//! Commands of monitors, and a game from kick-off to kick-off.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::*;

#[test]
fn commands() {
    let mut pitch = Pitch::in_mode(PlayMode::PlayOn, (3.0, 4.0));
    let (referee, out) = (&mut pitch.referee, &mut pitch.decisions);
    out.clear();
    referee.drop_ball(DVec3::new(3.0, 4.0, 1.5), out);
    assert_eq!(out[..], [Decision::PlaceBall { position: DVec3::new(3.0, 4.0, 0.11), velocity: DVec3::ZERO }]);
    assert_eq!(referee.mode(), PlayMode::PlayOn);

    let placed = Decision::PlaceBall { position: DVec3::new(1.0, 2.0, 3.0), velocity: DVec3::X };
    referee.place_ball(DVec3::new(1.0, 2.0, 3.0), DVec3::X, out);
    assert_eq!(out.last(), Some(&placed));

    let mut rng = ChaCha8Rng::seed_from_u64(1);
    referee.kick_off(Some(Right), &mut rng, out);
    assert_eq!(referee.mode(), PlayMode::KickOff(Right));
    let tosses: Vec<PlayMode> = (0..40)
        .map(|_| {
            referee.kick_off(None, &mut rng, out);
            referee.mode()
        })
        .collect();
    for side in Side::BOTH {
        assert!(tosses.contains(&PlayMode::KickOff(side)));
    }
}

#[test]
fn a_command_comes_before_what_the_scene_still_shows() {
    // the ball lies in the goal and is touched; the kick-off takes it away first
    let mut pitch = Pitch::in_mode(PlayMode::PlayOn, (0.0, 0.0));
    let mut out = Vec::new();
    pitch.referee.kick_off(Some(Left), &mut ChaCha8Rng::seed_from_u64(0), &mut out);
    pitch.move_ball(28.0, 0.0);
    pitch.cycle(Some(L2));
    assert_eq!((pitch.mode(), pitch.referee.score(Left)), (PlayMode::KickOff(Left), 0));
    // a placed ball is judged where it was placed
    let mut pitch = Pitch::in_mode(PlayMode::PlayOn, (0.0, 0.0));
    pitch.referee.place_ball(DVec3::new(28.0, 0.0, 0.2), DVec3::ZERO, &mut out);
    pitch.cycle(None);
    assert_eq!(pitch.mode(), PlayMode::Goal(Left));
}

#[test]
fn a_small_game() {
    use PlayMode::*;
    let mut pitch = Pitch::new(&[(L1, -25.0, 0.0), (L2, -0.5, 0.0), (R1, 25.0, 0.0), (R2, 8.0, 0.0)]);
    // what happens, and how it goes on: cycles, who touches, where the ball is
    type Act = (usize, Option<PlayerId>, (f64, f64), PlayMode);
    let acts: [Act; 12] = [
        (50, None, (0.0, 0.0), KickOff(Left)),
        (3, Some(L2), (0.2, 0.0), PlayOn),
        (20, None, (8.0, 1.0), PlayOn),
        (5, Some(R2), (7.0, 1.0), PlayOn),
        (1, None, (3.0, -18.2), KickIn(Left)),
        (700, None, (3.0, -18.0), KickIn(Left)),
        (60, None, (3.0, -18.0), PlayOn),
        (5, Some(L2), (4.0, -17.0), PlayOn),
        (1, None, (28.0, 1.0), Goal(Left)),
        (150, None, (28.1, 1.0), Goal(Left)),
        (1, None, (28.1, 1.0), KickOff(Right)),
        (100, Some(R2), (0.0, 0.0), PlayOn),
    ];
    pitch.set_mode(KickOff(Left));
    for (step, (cycles, toucher, (x, y), mode)) in acts.into_iter().enumerate() {
        pitch.move_ball(x, y);
        pitch.cycles(cycles, toucher);
        assert_eq!(pitch.mode(), mode, "act {step}");
    }
    assert_eq!((pitch.referee.score(Left), pitch.referee.score(Right)), (1, 0));
    let cycles: u32 = acts.iter().map(|act| act.0 as u32).sum();
    assert_eq!(pitch.referee.play_time(), cycles * CYCLE);
}
