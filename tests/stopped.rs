//! The program is stopped and continued, as on a machine that is suspended or overloaded, or a client pauses, as in a
//! debugger: nobody pays for it.

mod playing;
mod running;

use std::{
    io::Write,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use client::osp;
use playing::{AGENTS, Agent, cycle_of};
use running::{DEADLINE, Running, eventually};

/// Silence after which a client is dropped that keeps others waiting.
const SILENCE: Duration = Duration::from_secs(2);
/// How long the program is stopped.
const STOP: Duration = Duration::from_secs(3);
/// Length of a cycle of the league.
const CYCLE: Duration = Duration::from_millis(20);
/// Most cycles that may follow a stop at once.
const BURST: u32 = 5;

/// Stops the program for a while. Returns how long it stood still at least.
fn stop(server: &Running) -> Duration {
    server.signal("STOP");
    // the signal may arrive a moment after it was sent: it has when the state is `T`
    let status = format!("/proc/{}/stat", server.id());
    eventually("the stop", || {
        let state = std::fs::read_to_string(&status).ok()?;
        state.rsplit_once(") ")?.1.starts_with('T').then_some(())
    });
    let begin = now();
    sleep(STOP);
    let stopped = begin.elapsed();
    server.signal("CONT");
    stopped
}

#[expect(clippy::disallowed_methods, reason = "the stop has a length in wall-clock time")]
fn sleep(time: Duration) {
    thread::sleep(time);
}

#[expect(clippy::disallowed_methods, reason = "the stop has a length in wall-clock time")]
fn now() -> Instant {
    Instant::now()
}

/// A client that steps the world until it is told to end, and counts.
struct Stepping {
    name: &'static str,
    steps: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Stepping {
    fn start(name: &'static str, may_end: &Arc<AtomicBool>, mut step: impl FnMut() + Send + 'static) -> Self {
        let (steps, may_end) = (Arc::new(AtomicU64::new(0)), Arc::clone(may_end));
        let count = Arc::clone(&steps);
        let thread = thread::spawn(move || {
            while !may_end.load(Ordering::Relaxed) {
                step();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { name, steps, thread }
    }

    /// An agent that takes its time to answer.
    fn agent(address: SocketAddr, init: &'static str, thinks: Duration, may_end: &Arc<AtomicBool>) -> Self {
        let mut agent = Agent::init(address, init);
        let mut last = None;
        Self::start(init, may_end, move || {
            let cycle = cycle_of(&agent.next().unwrap_or_else(|| panic!("{init} was disconnected")));
            assert!(last.is_none_or(|last| cycle == last + 1), "{init}: cycle {cycle} after {last:?}");
            last = Some(cycle);
            sleep(thinks);
            agent.send("(he1 10 0 5 1 0)(syn)");
        })
    }

    fn osp(address: SocketAddr, name: &'static str, may_end: &Arc<AtomicBool>) -> Self {
        let mut client = osp::Client::connect(address).expect("it answers");
        client.set_timeout(DEADLINE);
        let agents = client.agents().expect("agents");
        let agent = agents.iter().find(|agent| agent.name == name).expect("present").agent;
        assert!(client.register(agent).expect("an answer"));
        Self::start(name, may_end, move || {
            let mut step = client.step(&[(agent, &[0.1, 0.1])]);
            // it gives up before the stop ends, and waits once more
            while let Err(error) = step {
                assert!(matches!(error, osp::ClientError::NoReply { .. }), "{name}: {error}");
                step = client.await_step();
            }
        })
    }

    /// Waits for this many more steps.
    fn await_steps(&self, more: u64) {
        let wanted = self.steps.load(Ordering::Relaxed) + more;
        eventually("steps", || {
            assert!(!self.thread.is_finished(), "{} was dropped", self.name);
            (self.steps.load(Ordering::Relaxed) >= wanted).then_some(())
        });
    }
}

/// A world that two rovers and soccer players step together.
fn lockstep(silence: Duration) -> Running {
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
    let text = format!(
        "[world]\nfield = \"fifa7vs7\"\npace = \"lockstep\"\nsilence = {}\n[soccer]\nsync = true\n[osp]\n\
         [[robot]]\nname = \"R1\"\nmodel = \"rover\"\nposition = [0.0, 8.0, 0.0]\n\
         [[robot]]\nname = \"R2\"\nmodel = \"rover\"\nposition = [2.0, 8.0, 0.0]\n",
        silence.as_secs_f64()
    );
    file.write_all(text.as_bytes()).expect("written");
    Running::serve(&["--scenario", &file.path().to_string_lossy()])
}

#[test]
fn a_client_that_is_alone_may_pause() {
    let silence = Duration::from_millis(100);
    let server = lockstep(silence);
    let mut agent = Agent::init(server.address(AGENTS), "T1 Reds 2");
    for _ in 0..3 {
        agent.next().expect("it keeps its robot");
        sleep(10 * silence);
        agent.send("(syn)");
    }
    drop(agent);
    let mut client = osp::Client::connect(server.address("OSP")).expect("it answers");
    client.set_timeout(DEADLINE);
    let agent = client.agents().expect("agents").iter().find(|agent| agent.name == "R1").expect("present").agent;
    assert!(client.register(agent).expect("an answer"));
    for _ in 0..3 {
        // until the soccer player has gone, it waits with this one
        client.step(&[(agent, &[0.1, 0.1])]).expect("it keeps its robot");
        sleep(10 * silence);
    }
}

#[test]
fn in_lockstep_a_stop_drops_nobody() {
    let server = lockstep(SILENCE);
    let may_end = Arc::new(AtomicBool::new(false));
    let clients = [
        Stepping::osp(server.address("OSP"), "R1", &may_end),
        Stepping::osp(server.address("OSP"), "R2", &may_end),
        Stepping::agent(server.address(AGENTS), "T1 Reds 2", Duration::ZERO, &may_end),
        // for which the others wait most of the time, and so do they when the program is stopped
        Stepping::agent(server.address(AGENTS), "T1 Blues 2", Duration::from_millis(100), &may_end),
    ];
    for _ in 0..3 {
        for client in &clients {
            client.await_steps(3);
        }
        stop(&server);
    }
    for client in &clients {
        client.await_steps(3);
    }
    // nobody may be left waiting for one that has ended: all of them get their steps until the last has seen the flag
    may_end.store(true, Ordering::Relaxed);
    for client in clients {
        client.thread.join().unwrap_or_else(|_| panic!("{} was dropped", client.name));
    }
}

#[test]
fn in_real_time_a_stop_is_not_caught_up_with() {
    let server = Running::serve(&["--scenario", "soccer"]);
    let begin = now();
    let mut agent = Agent::join(server.address(AGENTS), "T1 Reds 2");
    let first = cycle_of(&agent.next().expect("it plays"));
    let mut last = first;
    let mut play = |cycles: u64| {
        for _ in 0..cycles {
            let cycle = cycle_of(&agent.next().expect("it plays on"));
            assert_eq!(cycle, last + 1, "time is continuous");
            last = cycle;
        }
        last
    };
    play(25);
    let stopped = stop(&server);
    let cycles = play(150) - first;
    let ran = begin.elapsed() - stopped;
    let most = ran.div_duration_f64(CYCLE) + f64::from(BURST);
    assert!((cycles as f64) <= most, "{cycles} cycles in {ran:?}");
}
