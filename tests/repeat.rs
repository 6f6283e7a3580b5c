//! Runs with the same seed and the same messages are equal to the bit, also while the machine is busy.
//!
//! Some of each kind by default; `make repeat N=100` compares more.

mod playing;
mod running;

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io::Write,
    net::SocketAddr,
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use client::osp::Client;
use playing::{AGENTS, Agent};
use running::{DEADLINE, Running, eventually, run};

/// Runs of each kind, unless `ROSSUM_REPEAT` says otherwise.
const RUNS: usize = 3;
/// Threads that keep the machine busy meanwhile.
const BUSY_THREADS: usize = 4;

/// Keeps the machine busy until dropped.
struct Load {
    may_end: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    fn start() -> Self {
        let may_end = Arc::new(AtomicBool::new(false));
        let busy = |_| {
            let may_end = Arc::clone(&may_end);
            thread::spawn(move || {
                while !may_end.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            })
        };
        let threads = (0..BUSY_THREADS).map(busy).collect();
        Self { may_end, threads }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.may_end.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // it only counts
            let _ = thread.join();
        }
    }
}

/// Compares the hashes of many runs.
#[expect(clippy::print_stdout, reason = "who asks for many runs wants to see their hash")]
fn all_equal(what: &str, run: impl Fn() -> u64) {
    let runs = std::env::var("ROSSUM_REPEAT").map_or(RUNS, |runs| runs.parse().expect("a number of runs"));
    let _load = Load::start();
    let first = run();
    for number in 2..=runs {
        assert_eq!(run(), first, "{what}: run {number} differs from the first");
    }
    println!("{what}: {runs} runs with the hash {first:016x}");
}

/// A server with this scenario.
fn serve(scenario: &str) -> Running {
    let mut file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
    file.write_all(scenario.as_bytes()).expect("written");
    Running::serve(&["--scenario", &file.path().to_string_lossy()])
}

#[test]
fn games() {
    all_equal("soccer", || {
        let server = serve(
            "[world]\nfield = \"fifa7vs7\"\npace = \"lockstep\"\nsilence = 600\nseed = 5\n\
             [soccer]\nrules = \"ssim\"\nsync = true\n[osp]\n",
        );
        let mut reader = Client::connect(server.address("OSP")).expect("it answers");
        reader.set_timeout(DEADLINE);
        let mut hash = DefaultHasher::new();
        let mut agents = Vec::new();
        for (init, name) in [("T1 Reds 2", "Left 2"), ("ant Blues 1", "Right 1")] {
            let mut agent = Agent::init(server.address(AGENTS), init);
            if agents.is_empty() {
                // the second one joins in the next cycle, which waits for the answer of the first
                agent.next_text().expect("it plays").hash(&mut hash);
            }
            agents.push(agent);
            eventually("the robot", || reader.agents().ok()?.iter().any(|agent| agent.name == name).then_some(()));
        }
        for cycle in 0..120_u32 {
            // the first perception of the second agent follows the first answer of the other
            if cycle > 0 {
                for agent in &mut agents {
                    agent.next_text().expect("it plays").hash(&mut hash);
                }
            }
            let knee = f64::from(cycle) * 0.3;
            agents[0].send(&match cycle {
                5 => "(beam -4 1 20)(syn)".to_owned(),
                _ => format!("(lle4 {knee} 0 60 2 0)(rle4 {knee} 0 60 2 0)(SPK say 50 aGVsbG8=)(syn)"),
            });
            if cycle > 0 {
                agents[1].send(&format!("(l1e1 {knee} 0 1 0.1 0)(l3e2 {knee} 0 1 0.1 0)(syn)"));
            }
        }
        for agent in &mut agents {
            agent.next_text().expect("it plays").hash(&mut hash);
        }
        // with all digits
        for value in reader.values("/Sim/(Left 2|Right 1|World/ball)/(Position|Orientation)").expect("values") {
            reader.get(value.value).expect("an answer").hash(&mut hash);
        }
        hash.finish()
    });
}

/// The bits of all reports to a client that steps a rover; the clients begin together.
fn step(address: SocketAddr, rover: usize, begin: &Barrier) -> Vec<u32> {
    let mut client = Client::connect(address).expect("it answers");
    client.set_timeout(DEADLINE);
    let name = format!("R{rover}");
    let agent = client.agents().expect("agents").iter().find(|agent| agent.name == name).expect("present").agent;
    assert!(client.register(agent).expect("an answer"));
    begin.wait();
    let mut bits = Vec::new();
    for step in 0..100_u16 {
        let inputs = [f32::from(step) / 100.0, 0.3 * rover as f32];
        let report = client.step(&[(agent, &inputs)]).expect("a step");
        bits.extend(report.completed.iter().flat_map(|agent| &agent.outputs).map(|output| output.to_bits()));
    }
    begin.wait();
    bits
}

#[test]
fn steps() {
    all_equal("OSP", || {
        let robot =
            |index| format!("[[robot]]\nname = \"R{index}\"\nmodel = \"rover\"\nposition = [{index}.0, 0.0, 0.0]\n");
        let server = serve(&format!(
            "[world]\nfield = \"arena\"\npace = \"lockstep\"\nsilence = 600\nseed = 5\n[osp]\n{}{}",
            robot(1),
            robot(2)
        ));
        let (address, begin) = (server.address("OSP"), Arc::new(Barrier::new(2)));
        let clients = [1, 2].map(|rover| {
            let begin = Arc::clone(&begin);
            thread::spawn(move || step(address, rover, &begin))
        });
        let mut hash = DefaultHasher::new();
        for client in clients {
            client.join().expect("no panic").hash(&mut hash);
        }
        hash.finish()
    });
}

#[test]
fn evolution() {
    all_equal("evolution", || {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("run");
        let name = out.to_str().expect("a name");
        let arguments = ["evolve", "--all", "--population", "8", "--seed", "4", "--generations", "3", "--out", name];
        let ended = run(&arguments);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let mut hash = DefaultHasher::new();
        for file in ["log.csv", "best.json", "checkpoint.json"] {
            fs::read(out.join(file)).expect("it is there").hash(&mut hash);
        }
        hash.finish()
    });
}
