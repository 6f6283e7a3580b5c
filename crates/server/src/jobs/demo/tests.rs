use std::{fs, path::Path};

use soccer::{PlayMode, Side};
use tempfile::TempDir;
use world::clock::Pace;

use super::{
    kick_off::{Step, Waiting},
    *,
};
use crate::{
    Scenario,
    jobs::testing::{program, until},
    serve::build_world,
    sim_thread::SimThread,
    testing::{running, running_recorded},
};

/// A game in which nobody plays.
fn field() -> SimThread {
    let text = "[world]\nfield = \"fifa7vs7\"\n[soccer]\nrules = \"ssim\"\n";
    let scenario = Scenario::parse("test", text, Path::new(".")).unwrap();
    let (_, world) = build_world(&scenario).unwrap();
    running_recorded(world, Pace::Realtime, None)
}

/// A demo whose players are a script.
fn demo(folder: &TempDir, script: &str) -> Demo {
    Demo::with_python(program(folder.path(), script).into())
}

fn agents() -> SocketAddr {
    SocketAddr::from(([0, 0, 0, 0], 4711))
}

#[test]
fn teams_come_and_go_home() {
    let (folder, sim) = (TempDir::new().unwrap(), field());
    let script = r#"echo "$*" >> "$0.told"; exec sleep 1000 < /dev/null"#;
    let demo = demo(&folder, script);
    assert_eq!(demo.state(), None);
    demo.start(agents(), sim.handle(), 3).unwrap();
    assert_eq!(demo.state(), Some((3, "0 of 6 players are there".to_owned())));
    let told = || fs::read_to_string(folder.path().join("program.told")).unwrap_or_default();
    until("both teams", || told().lines().count() == 2);
    for team in TEAMS {
        let expected = format!("- --host 127.0.0.1 --port 4711 --team {team} --players 3");
        assert!(told().lines().any(|line| line == expected), "{}", told());
    }
    assert!(demo.start(agents(), sim.handle(), 3).unwrap_err().contains("on already"));
    let pids: Vec<u32> = demo.0.stage.game().iter().flat_map(|game| &game.teams).map(Child::id).collect();
    demo.stop();
    assert!(demo.state().is_none());
    assert!(pids.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()), "{pids:?}");
    demo.stop();
    demo.start(agents(), sim.handle(), 1).unwrap();
    let stage = demo.0.stage.clone();
    drop(demo);
    assert!(stage.game().is_none());
}

#[test]
fn teams_that_end_say_why() {
    let (folder, sim) = (TempDir::new().unwrap(), field());
    let demo = demo(&folder, "cat > /dev/null; echo 'cannot play: connection refused' >&2; exit 1");
    demo.start(agents(), sim.handle(), 2).unwrap();
    let words = || demo.state().unwrap().1;
    until("their words", || words().contains("ended: cannot play: connection refused"));
    until("the end", || demo.0.stage.game().as_mut().is_some_and(|game| !game.is_on()));
    // nobody plays: another one may begin
    demo.start(agents(), sim.handle(), 2).unwrap();

    let missing = Demo::with_python(folder.path().join("nowhere").into());
    let error = missing.start(agents(), sim.handle(), 2).unwrap_err();
    assert!(error.contains("need python3"), "{error}");
    assert_eq!(missing.state(), None);
}

#[test]
fn a_demo_needs_a_game_and_sensible_teams() {
    let (folder, sim) = (TempDir::new().unwrap(), field());
    let demo = demo(&folder, "exec sleep 1000");
    for players in [0, 8] {
        assert!(demo.start(agents(), sim.handle(), players).unwrap_err().contains("1 to 7 players"));
    }
    let no_game = running(Pace::Realtime);
    assert!(demo.start(agents(), no_game.handle(), 3).unwrap_err().contains("no soccer game"));
    assert_eq!(demo.state(), None);
}

#[test]
fn the_kick_off_waits_for_everybody() {
    let (before, left, play_on) = (PlayMode::BeforeKickOff, PlayMode::KickOff(Side::Left), PlayMode::PlayOn);
    let check = |looks: &[(usize, PlayMode, f64, Step)]| {
        let mut waiting = Waiting::new(4);
        for (nth, (there, mode, time, expected)) in looks.iter().enumerate() {
            assert_eq!(waiting.step(*there, *mode, *time), *expected, "look {nth} of {looks:?}");
        }
    };
    check(&[
        (0, before, 0.0, Step::Coming(0)),
        (4, before, 1.0, Step::Places),
        (3, before, 2.0, Step::Coming(3)),
        (4, before, 3.0, Step::Places),
        (4, before, 5.9, Step::Places),
        (4, before, 6.0, Step::KickOff),
        (4, left, 6.1, Step::On),
    ]);
    // a reset
    check(&[(4, before, 9.0, Step::Places), (4, before, 1.0, Step::Places), (4, before, 4.0, Step::KickOff)]);
    // somebody else was faster
    check(&[(2, before, 0.0, Step::Coming(2)), (2, left, 1.0, Step::On)]);
    // an old game begins anew
    check(&[
        (0, play_on, 0.0, Step::Coming(0)),
        (4, PlayMode::KickIn(Side::Right), 1.0, Step::Places),
        (4, play_on, 4.0, Step::KickOff),
        (4, play_on, 4.5, Step::KickOff),
        (4, play_on, 5.0, Step::On),
    ]);
}
