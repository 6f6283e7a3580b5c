use std::{fs, path::Path};

use soccer::{PlayMode, Side};
use tempfile::TempDir;
use world::clock::Pace;

use super::{
    kick_off::{Phase, Schedule},
    *,
};
use crate::{
    Scenario,
    jobs::testing::{program, until},
    serve::build_world,
    sim_thread::SimThread,
    testing::{running, running_recorded},
};

/// A soccer game without players.
fn field() -> SimThread {
    let text = "[world]\nfield = \"fifa7vs7\"\n[soccer]\nrules = \"ssim\"\n";
    let scenario = Scenario::parse("test", text, Path::new(".")).unwrap();
    let (_, world) = build_world(&scenario).unwrap();
    running_recorded(world, Pace::Realtime, None)
}

/// A demo whose teams run this shell script.
fn demo(folder: &TempDir, script: &str) -> Demo {
    Demo::with_python(program(folder.path(), script).into())
}

fn agents() -> SocketAddr {
    SocketAddr::from(([0, 0, 0, 0], 4711))
}

#[test]
fn teams_are_started_and_killed() {
    let (folder, sim) = (TempDir::new().unwrap(), field());
    let script = r#"echo "$*" >> "$0.arguments"; exec sleep 1000 < /dev/null"#;
    let demo = demo(&folder, script);
    assert_eq!(demo.state(), None);
    demo.start(agents(), sim.handle(), 3).unwrap();
    assert_eq!(demo.state(), Some((3, "0 of 6 players are connected".to_owned())));
    let arguments = || fs::read_to_string(folder.path().join("program.arguments")).unwrap_or_default();
    until("both teams", || arguments().lines().count() == 2);
    for team in TEAMS {
        let expected = format!("- --host 127.0.0.1 --port 4711 --team {team} --players 3");
        assert!(arguments().lines().any(|line| line == expected), "{}", arguments());
    }
    assert!(demo.start(agents(), sim.handle(), 3).unwrap_err().contains("already running"));
    let pids: Vec<u32> = demo.0.state.game().iter().flat_map(|game| &game.teams).map(Child::id).collect();
    demo.stop();
    assert!(demo.state().is_none());
    assert!(pids.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()), "{pids:?}");
    demo.stop();
    demo.start(agents(), sim.handle(), 1).unwrap();
    let state = demo.0.state.clone();
    drop(demo);
    assert!(state.game().is_none());
}

#[test]
fn the_cause_of_an_exit_is_reported() {
    let (folder, sim) = (TempDir::new().unwrap(), field());
    let demo = demo(&folder, "cat > /dev/null; echo 'cannot play: connection refused' >&2; exit 1");
    demo.start(agents(), sim.handle(), 2).unwrap();
    let note = || demo.state().unwrap().1;
    until("the cause", || note().contains("has exited: cannot play: connection refused"));
    until("the end", || demo.0.state.game().as_mut().is_some_and(|game| !game.is_running()));
    // no team is left: another game may start
    demo.start(agents(), sim.handle(), 2).unwrap();

    let missing = Demo::with_python(folder.path().join("nowhere").into());
    let error = missing.start(agents(), sim.handle(), 2).unwrap_err();
    assert!(error.contains("with `python3`"), "{error}");
    assert_eq!(missing.state(), None);
}

#[test]
fn a_demo_needs_a_game_and_a_valid_team_size() {
    let (folder, sim) = (TempDir::new().unwrap(), field());
    let demo = demo(&folder, "exec sleep 1000");
    for players in [0, 8] {
        assert!(demo.start(agents(), sim.handle(), players).unwrap_err().contains("out of range 1..=7"));
    }
    let no_game = running(Pace::Realtime);
    assert!(demo.start(agents(), no_game.handle(), 3).unwrap_err().contains("no soccer game"));
    assert_eq!(demo.state(), None);
}

#[test]
fn the_kick_off_waits_for_all_players() {
    let (before, left, play_on) = (PlayMode::BeforeKickOff, PlayMode::KickOff(Side::Left), PlayMode::PlayOn);
    let check = |updates: &[(usize, PlayMode, f64, Phase)]| {
        let mut schedule = Schedule::new(4);
        for (nth, (connected, mode, time, expected)) in updates.iter().enumerate() {
            assert_eq!(schedule.update(*connected, *mode, *time), *expected, "update {nth} of {updates:?}");
        }
    };
    check(&[
        (0, before, 0.0, Phase::Connecting(0)),
        (4, before, 1.0, Phase::Positioning),
        (3, before, 2.0, Phase::Connecting(3)),
        (4, before, 3.0, Phase::Positioning),
        (4, before, 5.9, Phase::Positioning),
        (4, before, 6.0, Phase::KickOff),
        (4, left, 6.1, Phase::Playing),
    ]);
    // a reset
    check(&[
        (4, before, 9.0, Phase::Positioning),
        (4, before, 1.0, Phase::Positioning),
        (4, before, 4.0, Phase::KickOff),
    ]);
    // another client has kicked off
    check(&[(2, before, 0.0, Phase::Connecting(2)), (2, left, 1.0, Phase::Playing)]);
    // a running game is restarted
    check(&[
        (0, play_on, 0.0, Phase::Connecting(0)),
        (4, PlayMode::KickIn(Side::Right), 1.0, Phase::Positioning),
        (4, play_on, 4.0, Phase::KickOff),
        (4, play_on, 4.5, Phase::KickOff),
        (4, play_on, 5.0, Phase::Playing),
    ]);
}
