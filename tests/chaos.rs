//! Faults against a running, recording server: `make chaos`. Whatever happens, the recording replays bit for bit.
//!
//! These tests take minutes and need a network namespace of their own, in which all packets can be dropped.

mod lossy;
mod playing;
mod running;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use client::{odcp, osp};
use lossy::LossyNetwork;
use playing::{AGENTS, Agent, Witness, cycle_of};
use running::{Running, eventually, rossum, run};
use tempfile::TempDir;

/// How often the faults that need little time are repeated.
const ROUNDS: u64 = 10;

/// A server that records, and the file.
struct Recorded {
    server: Running,
    file: PathBuf,
    _folder: TempDir,
}

impl Recorded {
    fn start(scenario: &str) -> Self {
        Self::start_with(scenario, |command| command)
    }

    fn start_with(scenario: &str, change: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run.mcap");
        let mut command = rossum();
        command.args(["serve", "--free-ports", "--json", "--scenario", scenario, "--record"]).arg(&file);
        Self { server: Running::start(change(&mut command)), file, _folder: folder }
    }

    /// Ends the server in good order and verifies the recording.
    fn end(self) -> String {
        self.server.signal("TERM");
        let ended = self.server.end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        verify(&self.file)
    }
}

/// Verifies a recording; returns the report.
fn verify(file: &Path) -> String {
    let verified = run(&["replay", "--verify", file.to_str().expect("a path")]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("all equal"), "{}", verified.stdout);
    verified.stdout
}

#[expect(clippy::disallowed_methods, reason = "a fault lasts")]
fn pause(seconds: f64) {
    thread::sleep(Duration::from_secs_f64(seconds));
}

/// Moves a rover over ODCP, so that there is something to record.
fn drive(server: &Running, step: u64) {
    let mut client = odcp::Client::connect(server.address("ODCP of Rover1")).expect("it answers");
    let speed = (step % 10) as f64 / 10.0;
    client.set_motors(&[(speed, 1.0), (-speed, 1.0)]).expect("sent");
    client.motors().expect("it answers");
}

#[test]
#[ignore = "make chaos"]
fn a_server_that_is_killed_loses_at_most_a_second() {
    for round in 0..ROUNDS {
        let Recorded { server, file, _folder } = Recorded::start("playground");
        let mut agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
        let mut last = 0;
        for cycle in 0..60 + 17 * round {
            if cycle.is_multiple_of(20) {
                drive(&server, cycle);
            }
            agent.send("(he1 20 0 10 1 0)");
            last = cycle_of(&agent.next().expect("it plays"));
        }
        server.signal("KILL");
        assert_eq!(server.end().code, None);
        let report = verify(&file);
        let ticks = report.split_whitespace().find_map(|word| word.replace(',', "").parse::<u64>().ok());
        let ticks = ticks.unwrap_or_else(|| panic!("no ticks in {report}"));
        assert!(ticks + 50 >= last, "round {round}: {ticks} ticks recorded, a client saw {last}");
    }
}

#[test]
#[ignore = "make chaos"]
fn a_server_that_was_stopped_goes_on() {
    let recorded = Recorded::start("playground");
    let witness = Witness::new(recorded.server.address(AGENTS));
    for seconds in [1.0, 10.0, 3.0] {
        drive(&recorded.server, seconds as u64);
        recorded.server.signal("STOP");
        pause(seconds);
        recorded.server.signal("CONT");
        recorded.server.await_tick(recorded.server.tick() + 100);
    }
    assert!(witness.end() > 100);
    recorded.end();
}

#[test]
#[ignore = "make chaos"]
fn clocks_may_jump() {
    let folder = tempfile::tempdir().expect("a folder");
    let (library, jump) = (folder.path().join("jumping_clock.so"), folder.path().join("jump"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/chaos/jumping_clock.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).status();
    assert!(compiled.is_ok_and(|status| status.success()), "a C compiler is needed");
    fs::write(&jump, "0").expect("written");
    let recorded =
        Recorded::start_with("playground", |command| command.env("LD_PRELOAD", &library).env("CLOCK_JUMP", &jump));
    let witness = Witness::new(recorded.server.address(AGENTS));
    for seconds in ["86400", "-86400", "0", "600000", "-3000000000", "0"] {
        fs::write(&jump, seconds).expect("written");
        drive(&recorded.server, 3);
        recorded.server.await_tick(recorded.server.tick() + 50);
        assert_eq!(recorded.server.page("/health").0, 200);
    }
    assert!(witness.end() > 100);
    recorded.end();
}

#[test]
#[ignore = "make chaos"]
fn lost_and_duplicated_packets_change_nothing() {
    for (round, percent) in [1_u64, 10, 30].into_iter().cycle().take(3 * ROUNDS as usize / 3).enumerate() {
        let recorded = Recorded::start("small");
        let network =
            LossyNetwork::start(recorded.server.address("OSP"), percent as f64 / 100.0, round as u64 * 100 + percent);
        let retry = |client: &mut osp::Client| client.agents().ok();
        let mut client = eventually("a connection", || osp::Client::connect(network.address).ok());
        client.set_timeout(Duration::from_secs(5));
        let agent = eventually("agents", || retry(&mut client)).first().expect("one").agent;
        assert!(eventually("an agent", || client.register(agent).ok()));
        for step in 0..50_u8 {
            // with a third of all datagrams lost, even the retransmissions of one request may be
            if client.step(&[(agent, &[f32::from(step) / 50.0, 0.5])]).is_err() {
                eventually("a step", || client.await_step().ok());
            }
        }
        drop(client);
        recorded.end();
    }
}

#[test]
#[ignore = "make chaos"]
fn vanished_peers_are_dropped_and_the_world_goes_on() {
    let recorded = Recorded::start("playground");
    let mut agents: Vec<_> =
        (2..6).map(|number| Agent::join(recorded.server.address(AGENTS), &format!("T1 Reds {number}"))).collect();
    let before = recorded.server.tick();
    // no packet arrives any more, and nobody hears of it
    Packets::drop_all();
    pause(35.0);
    Packets::pass();
    assert!(recorded.server.tick() >= before + 30 * 50, "the world has not waited");
    for number in 2..6 {
        // the numbers are free again
        let mut again = Agent::join(recorded.server.address(AGENTS), &format!("T1 Reds {number}"));
        again.next().expect("it plays");
    }
    for agent in &mut agents {
        // their system does not know of the end until it sends something
        agent.send("(syn)");
        agent.await_end();
    }
    recorded.end();
}

/// The loopback interface of this network namespace.
struct Packets;

impl Packets {
    fn drop_all() {
        Self::tc(&["replace", "dev", "lo", "root", "tbf", "rate", "8bit", "burst", "1", "limit", "1"]);
    }

    fn pass() {
        Self::tc(&["del", "dev", "lo", "root"]);
    }

    fn tc(arguments: &[&str]) {
        let done = Command::new("tc").arg("qdisc").args(arguments).status();
        assert!(done.is_ok_and(|status| status.success()), "needs a network namespace: run `make chaos`");
    }
}
