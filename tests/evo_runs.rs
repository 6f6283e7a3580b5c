//! Evolutionary runs, in one process and with World Simulators and Robot Simulators over sockets.

mod evolving;
mod running;

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Stdio},
};

use evolving::{Plain, robot, world};
use running::{Running, eventually, rossum, run};
use tempfile::TempDir;

/// A short run, with these arguments; what it wrote of its generations.
fn evolve(folder: &Path, arguments: &[&str]) -> String {
    let folder = folder.to_str().expect("a name");
    let common = ["evolve", "--generations", "3", "--population", "8", "--seed", "4", "--out", folder];
    let ended = run(&[&common, arguments].concat());
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}{}", ended.stdout, ended.stderr);
    fs::read_to_string(Path::new(folder).join("log.csv")).expect("a log")
}

#[test]
fn a_run_over_sockets_equals_one_in_a_process_bit_for_bit() {
    let folder = TempDir::new().expect("a folder");
    let here = evolve(&folder.path().join("here"), &["--all", "--world", "obstacles", "--threads", "2"]);
    let world = world("obstacles");
    let address = world.address("World Simulator").to_string();
    let one = robot(&["platine", "--world", &address, "--seed", "4"]);
    let other = robot(&["platine", "--in-process", "obstacles", "--seed", "4"]);
    for (name, simulators) in [("wire", vec![&one]), ("both", vec![&one, &other])] {
        let addresses: Vec<String> =
            simulators.iter().map(|simulator| simulator.address("Robot Simulator").to_string()).collect();
        let there = evolve(&folder.path().join(name), &["--simulators", &addresses.join(",")]);
        assert_eq!(there, here, "{name}");
    }
}

#[test]
fn the_default_run_soon_shows_what_it_has_learnt() {
    let folder = TempDir::new().expect("a folder");
    for seed in ["1", "2", "3"] {
        let out = folder.path().join(seed);
        let out = out.to_str().expect("a name");
        let ended = run(&["evolve", "--all", "--generations", "20", "--seed", seed, "--out", out]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let learnt = ended.stdout.lines().find(|line| line.starts_with("What it has learnt: ")).expect("a summary");
        let squares = |of: &str| {
            let (_, rest) = learnt.split_once(&format!("{of} visits ")).unwrap_or_else(|| panic!("{of}: {learnt}"));
            rest.split(' ').next().and_then(|number| number.parse::<f64>().ok()).expect("a number")
        };
        let (now, at_first) = (squares("the best robot"), squares("the best of the first generation"));
        assert!(now >= 2.0 * at_first, "seed {seed}: {learnt}");
    }
}

#[test]
fn robots_in_lockstep_do_not_wait_for_a_time_out() {
    let folder = TempDir::new().expect("a folder");
    let text = run(&["world", "obstacles", "--print"]).stdout;
    let file = folder.path().join("lockstep.toml");
    // a single time-out would be longer than the test may take
    fs::write(&file, format!("lockstep = {{ timeout = 25 }}\n{text}")).expect("written");
    let world = world(file.to_str().expect("a name"));
    let address = world.address("World Simulator").to_string();
    let simulator = robot(&["platine", "--world", &address, "--seed", "4", "--concurrent", "8"]);
    let address = simulator.address("Robot Simulator").to_string();
    let there = evolve(&folder.path().join("there"), &["--simulators", &address]);
    let here = evolve(&folder.path().join("here"), &["--all", "--world", "obstacles"]);
    assert_eq!(there, here);
}

/// A process that would go on, and is killed at the end. What it says is held, as a pipe that nobody holds ends it.
struct Doomed(Child, BufReader<ChildStdout>);

impl Doomed {
    /// Starts a run of many generations of eight and waits until so many are finished.
    fn start(folder: &Path, arguments: &[&str], generations: usize) -> Self {
        let common: &[&str] = if arguments.contains(&"--generations") { &[] } else { &["--generations", "100000"] };
        Self::start_with(folder, &[common, &["--population", "8"], arguments].concat(), generations)
    }

    /// Starts a run and waits until it has printed so many lines.
    fn start_with(folder: &Path, arguments: &[&str], lines: usize) -> Self {
        let mut child = rossum()
            .args(["evolve", "--seed", "4", "--json", "--out"])
            .arg(folder)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let stdout = child.stdout.take().expect("it is piped");
        let mut doomed = Self(child, BufReader::new(stdout));
        assert_eq!(doomed.1.by_ref().lines().take(lines).count(), lines);
        doomed
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        // one that has ended cannot be killed
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let folder = TempDir::new().expect("a folder");
    let (killed, whole) = (folder.path().join("killed"), folder.path().join("whole"));
    for generations in [1, 3] {
        // at any time: wherever it is when the lines have been read
        drop(Doomed::start(&killed.with_extension(generations.to_string()), &["--all"], generations));
    }
    let killed = killed.with_extension("3");
    let finished = fs::read_to_string(killed.join("log.csv")).expect("a log").lines().count() - 1;
    assert!(finished >= 3, "what was told was written before: {finished}");
    let target = (finished + 4).to_string();
    let name = |path: &PathBuf| path.to_str().expect("a name").to_owned();
    let ended = run(&["evolve", "--resume", &name(&killed), "--generations", &target]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ended =
        run(&["evolve", "--all", "--population", "8", "--seed", "4", "--generations", &target, "--out", &name(&whole)]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for file in ["log.csv", "log.jsonl", "best.json", "checkpoint.json"] {
        let read = |folder: &Path| fs::read_to_string(folder.join(file)).expect("it is there");
        assert!(read(&killed) == read(&whole), "{file} differs");
    }
}

#[test]
fn a_run_goes_on_until_it_is_stopped() {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().join("endless");
    // of more generations than a run has by default, in the shortest time
    let body = run(&["robot", "platine", "--print"]).stdout;
    let file = folder.path().join("short.toml");
    fs::write(&file, body.replace("steps = 400", "steps = 2").replace("trials = 8", "trials = 1")).expect("written");
    let file = file.to_str().expect("a name");
    drop(Doomed::start(&place, &["--all", "--body", file, "--algorithm", "ga", "--generations", "0"], 310));
    let name = place.to_str().expect("a name");
    let shown = run(&["evolve", "show", name, "--json"]);
    let record: serde_json::Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert!(record["start"]["generations"].is_null(), "{}", shown.stdout);
    // a last generation can be given later
    let finished = record["history"].as_array().expect("a list").len();
    let ended = run(&["evolve", "--resume", name, "--generations", &(finished + 2).to_string()]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let log = fs::read_to_string(place.join("log.csv")).expect("a log");
    assert_eq!(log.lines().count(), 1 + finished + 2);
}

/// All files of two populations but their locks and pictures.
fn pair_files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = ["log.csv", "log.jsonl", "best.json", "bests.jsonl", "checkpoint.json"];
    let paths = ["prey", "predator"].iter().flat_map(|kind| names.map(|name| format!("{kind}/{name}")));
    paths
        .chain(["evaluations.json".to_owned()])
        .map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap_or_else(|error| panic!("{name}: {error}"))))
        .collect()
}

#[test]
fn predators_and_prey_evolve_against_each_other_in_one_process() {
    let folder = TempDir::new().expect("a folder");
    let place = |name: &str| folder.path().join(name);
    let name = |path: &Path| path.to_str().expect("a name").to_owned();
    let (one, two, killed) = (place("one"), place("two"), place("killed"));
    let pair = |out: &Path, threads: &str, generations: &str| {
        let common =
            ["evolve", "--all", "--coevolve", "--population", "4", "--hidden", "0", "--opponents", "2", "--seed", "4"];
        let ended =
            run(&[&common[..], &["--threads", threads, "--generations", generations, "--out", &name(out)]].concat());
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        ended.stdout
    };
    let told = pair(&one, "1", "3");
    assert!(
        told.contains("against the best predator of the first generation, the best prey stays free for "),
        "{told}"
    );
    pair(&two, "3", "3");
    assert!(pair_files(&one) == pair_files(&two), "whatever the number of threads");

    // killed at any time, and resumed
    let arguments = ["--all", "--coevolve", "--hidden", "0", "--opponents", "2"];
    let started =
        Doomed::start_with(&killed, &[&arguments[..], &["--population", "4", "--generations", "1000"]].concat(), 2);
    drop(started);
    let finished = fs::read_to_string(killed.join("prey/log.csv")).expect("a log").lines().count() - 1;
    let target = (finished + 2).to_string();
    let ended = run(&["evolve", "--resume", &name(&killed), "--generations", &target]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let whole = place("whole");
    pair(&whole, "2", &target);
    assert!(pair_files(&killed) == pair_files(&whole), "as if it had not been stopped");

    // looked at
    for file in ["fitness.svg", "fitness.png", "path.png"] {
        assert!(fs::metadata(one.join(file)).is_ok_and(|found| found.len() > 2_000), "{file}");
    }
    let chart = fs::read_to_string(one.join("fitness.svg")).expect("a chart");
    assert!(chart.contains("prey: best") && chart.contains("predator: best"), "both curves, with a legend");
    let shown = run(&["evolve", "show", &name(&one)]);
    assert!(shown.code == Some(0) && shown.stdout.contains("the best predator"), "{shown:?}");
    let replayed = run(&["evolve", "--replay", &name(&one)]);
    assert!(replayed.code == Some(0) && replayed.stdout.contains("prey: fitness"), "{replayed:?}");
    // one of them does not evolve alone
    let alone = run(&["evolve", "--resume", &name(&one.join("prey"))]);
    assert!(alone.code == Some(1) && alone.stderr.contains("resume both"), "{alone:?}");
}

/// A fitness script that counts the steps in which another kind is seen.
const SEEN: &str = "title = \"seen\"\nmay_stand = true\neach_step = \"seen = seen + if(max(GROUP) > 0.1, 1, 0)\"\nat_end = \"fitness = seen\"\n";

#[test]
fn predators_and_prey_evolve_against_each_other_over_two_ports() {
    let folder = TempDir::new().expect("a folder");
    let world = world("coevolution");
    let simulator = |kind: &str, group: &str| {
        let file = |name: String, text: String| {
            let path = folder.path().join(name);
            fs::write(&path, text).expect("written");
            path.to_str().expect("a name").to_owned()
        };
        // both see across the whole arena
        let body = run(&["robot", kind, "--print"]).stdout.replace("range = 800", "range = 2500");
        let body = file(format!("{kind}.toml"), body);
        let fitness = file(format!("{kind}-fitness.toml"), SEEN.replace("GROUP", group));
        let address = world.address(&format!("World Simulator for {kind}")).to_string();
        robot(&[&body, "--world", &address, "--pipeline", "--fitness", &fitness])
    };
    let (prey, predator) = (simulator("prey", "threat"), simulator("predator", "quarry"));
    let best = |out: &Path| {
        let log = fs::read_to_string(out.join("log.csv")).expect("a log");
        // the last line may be half written
        let best = |line: &str| line.split(',').nth(2)?.parse::<f64>().ok();
        log.lines().skip(1).filter_map(best).fold(f64::NEG_INFINITY, f64::max)
    };
    // alone in the world, nothing is seen
    let address = |of: &Running| of.address("Robot Simulator").to_string();
    let (prey_address, predator_address) = (address(&prey), address(&predator));
    evolve(&folder.path().join("alone"), &["--simulators", &prey_address]);
    assert_eq!(best(&folder.path().join("alone")), 0.0);
    // a Population Manager for each, at the same time; sooner or later they meet
    let (hunted, hunt) = (folder.path().join("hunted"), folder.path().join("hunt"));
    let _managers = [(&hunted, &prey_address), (&hunt, &predator_address)]
        .map(|(out, simulators)| Doomed::start(out, &["--simulators", simulators], 1));
    eventually("prey sees predators", || (best(&hunted) > 0.0).then_some(()));
    eventually("predators see prey", || (best(&hunt) > 0.0).then_some(()));
}

#[test]
fn individuals_of_a_generation_meet_in_one_process_too() {
    let folder = TempDir::new().expect("a folder");
    let script = folder.path().join("seen.toml");
    // those of one kind have the colour of prey, which predators see
    fs::write(&script, SEEN.replace("GROUP", "quarry")).expect("written");
    let fitness = script.to_str().expect("a name");
    let log = |name: &str, concurrent: &str, threads: &str| {
        let all = ["--all", "--world", "coevolution", "--body", "predator", "--fitness", fitness];
        evolve(&folder.path().join(name), &[&all[..], &["--concurrent", concurrent, "--threads", threads]].concat())
    };
    let highest = |log: &str| {
        let best = |line: &str| line.split(',').nth(2).and_then(|word| word.parse::<f64>().ok()).expect("a number");
        log.lines().skip(1).map(best).fold(f64::NEG_INFINITY, f64::max)
    };
    assert_eq!(highest(&log("alone", "1", "2")), 0.0);
    let together = log("together", "4", "1");
    assert!(highest(&together) > 0.0);
    assert_eq!(log("threads", "4", "3"), together, "whatever the number of threads");
    let replayed = run(&["evolve", "--replay", folder.path().join("together").to_str().expect("a name")]);
    assert!(replayed.code == Some(0) && replayed.stdout.contains("as in the run"), "with those it met: {replayed:?}");
}

#[test]
fn a_run_numbers_its_generations_and_individuals_from_1() {
    let folder = TempDir::new().expect("a folder");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    // a Robot Simulator that takes two at a time, and keeps what it is told
    let simulator = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a manager");
        let mut peer = Plain { reader: BufReader::new(stream) };
        let mut told = Vec::new();
        let mut line = String::new();
        while peer.reader.read_line(&mut line).is_ok_and(|length| length > 0) {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["SendNetParameters"] => peer.say("NetParameters 2 0 0 0 1 0 0 0 1 0 0 0 0 0 0 0 0 1 -1 1 1 1"),
                ["Individual", generation, individual, ..] => {
                    told.push((generation.to_owned(), individual.to_owned()));
                    peer.say(&format!("Fitness {generation} {individual} 0.5"));
                }
                _ => panic!("{line}"),
            }
            line.clear();
        }
        told
    });
    evolve(&folder.path().join("run"), &["--algorithm", "ga", "--simulators", &address]);
    let told = simulator.join().expect("it ends");
    let expected = (1..=3).flat_map(|generation| (1..=8).map(move |individual| (generation, individual)));
    assert!(
        told.into_iter().eq(expected.map(|(generation, individual)| (generation.to_string(), individual.to_string())))
    );
}

#[test]
fn the_work_of_a_dead_simulator_is_done_by_another() {
    let folder = TempDir::new().expect("a folder");
    let alive = robot(&["platine", "--in-process", "empty", "--seed", "4"]);
    let dying = robot(&["platine", "--in-process", "empty", "--seed", "4"]);
    let addresses = [&alive, &dying].map(|simulator| simulator.address("Robot Simulator").to_string());
    let run_folder = folder.path().join("run");
    let mut run = Doomed::start(&run_folder, &["--simulators", &addresses.join(",")], 2);
    drop(dying);
    let csv = || fs::read_to_string(run_folder.join("log.csv")).expect("a log");
    let before = csv().lines().count();
    running::eventually("generations that are finished by the other one", || {
        assert!(run.0.try_wait().expect("it can be asked").is_none(), "it goes on");
        (csv().lines().count() > before + 2).then_some(())
    });
    drop(run);
    let generations: Vec<u64> = csv()
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().and_then(|word| word.parse().ok()).expect("a number"))
        .collect();
    assert!(generations.iter().copied().eq(1..=generations.len() as u64), "each once: {generations:?}");
}

#[test]
fn a_run_can_be_looked_at() {
    let folder = TempDir::new().expect("a folder");
    let place = folder.path().join("run");
    evolve(&place, &["--all", "--world", "maze"]);
    let name = place.to_str().expect("a name");
    let begins = |file: &str, with: &[u8]| {
        let bytes = fs::read(place.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(bytes.starts_with(with) && bytes.len() > 2_000, "{file}");
    };
    let png = b"\x89PNG".as_slice();
    for (file, with) in [("fitness.svg", b"<svg".as_slice()), ("fitness.png", png), ("path.png", png)] {
        begins(file, with);
        fs::remove_file(place.join(file)).expect("it is there");
    }
    let shown = run(&["evolve", "show", name]);
    assert!(shown.code == Some(0) && shown.stdout.contains("best so far"), "{shown:?}");
    begins("fitness.png", png);
    let json = run(&["evolve", "show", name, "--json"]);
    let record: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(record["history"].as_array().map(Vec::len), Some(3));
    let replayed = run(&["evolve", "--replay", name]);
    assert!(replayed.code == Some(0) && replayed.stdout.contains("as in the run"), "{replayed:?}");
    begins("path.png", png);
    // and what is wrong is said
    for (arguments, expected) in [
        (&["evolve", "show", "/nowhere"][..], "no run in /nowhere"),
        (&["evolve", "--all", "--out", name], "has a run already"),
        (&["evolve", "--all", "--world", "moon"], "unknown world `moon`"),
        (&["evolve", "--all", "--body", "snake"], "snake"),
        (&["evolve", "--world", "maze"], "require --all"),
        (&["world", "moon"], "unknown world `moon`"),
        (&["robot", "snake", "--in-process", "empty"], "snake"),
    ] {
        let ended = run(arguments);
        assert!(ended.code == Some(1) && ended.stderr.contains(expected), "{arguments:?}: {ended:?}");
    }
}
