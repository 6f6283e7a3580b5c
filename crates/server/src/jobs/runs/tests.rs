use std::{fs, path::Path};

use evolve::{
    robot::{InProcessWorld, evaluate_all, library},
    run::{EvaluationSite, Run, RunConfig},
    search::{Algorithm, Evaluation, Settings},
};
use tempfile::TempDir;
use wire::console::RunState;

use super::*;
use crate::jobs::testing::{program, until};

const GENERATIONS: u64 = 3;

fn wanted() -> NewRun {
    NewRun {
        simulators: Vec::new(),
        world: "obstacles".to_owned(),
        body: "platine".to_owned(),
        fitness: None,
        algorithm: "ga".to_owned(),
        generations: 5,
        population: Some(4),
        hidden: Some(0),
        seed: 1,
        target: None,
    }
}

/// Runs whose program is a script.
fn runs(folder: &TempDir, script: &str) -> Runs {
    Runs::new(folder.path().join("runs"), program(folder.path(), script))
}

/// A run of a few generations, made in this process.
fn made(folder: &Path, site: EvaluationSite) -> Run {
    let here = EvaluationSite::Local {
        world: arena::Plan::built_in_text("obstacles").unwrap(),
        body: library::body_text("platine").unwrap(),
        fitness: None,
        seed: 1,
    };
    let here = here.local().unwrap().unwrap();
    let settings = Settings { population: Some(4), ..Settings::default() };
    let parameters = here.design.parameters().clone();
    let algorithm = Algorithm::Ga;
    let start = RunConfig { algorithm, settings, seed: 1, parameters, generations: GENERATIONS, target: None, site };
    let mut run = Run::begin(folder, start).unwrap();
    for generation in 1..=GENERATIONS {
        let world = || Ok(InProcessWorld::new(here.world.clone(), here.seed));
        let asked = run.ask().to_vec();
        let outcomes = evaluate_all(&here.design, generation, &asked, 1, world, &|_| {}).unwrap();
        let tested = |fitness| Evaluation { fitness, ..Evaluation::default() };
        let tested: Vec<_> = outcomes.into_iter().map(|outcome| tested(outcome.fitness)).collect();
        run.tell(&tested).unwrap();
    }
    run
}

fn here() -> EvaluationSite {
    let world = arena::Plan::built_in_text("obstacles").unwrap();
    EvaluationSite::Local { world, body: library::body_text("platine").unwrap(), fitness: None, seed: 1 }
}

fn of<'a>(list: &'a [RunSummary], name: &str) -> &'a RunSummary {
    list.iter().find(|run| run.name == name).unwrap_or_else(|| panic!("{name} is not in {list:?}"))
}

#[test]
fn what_can_be_chosen_can_be_started() {
    let folder = TempDir::new().unwrap();
    let info = runs(&folder, "exit").info();
    assert!(info.worlds.len() > 3 && info.bodies.len() > 2 && info.fitnesses.len() > 2, "{info:?}");
    assert_eq!(info.algorithms.len(), Algorithm::ALL.len());
    for world in &info.worlds {
        for body in &info.bodies {
            let run = NewRun { world: world.name.clone(), body: body.name.clone(), ..wanted() };
            RunRequest::new(&run, &info).unwrap();
        }
    }
}

#[test]
fn invalid_requests_are_refused_with_a_reason() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    let simulators = |address: &str| vec![address.to_owned()];
    let check = |run: NewRun, expected: &str| {
        let error = runs.start(&run).unwrap_err().to_string();
        assert!(error.contains(expected), "{run:?}: {error}");
    };
    check(NewRun { world: "moon".to_owned(), ..wanted() }, "unknown world `moon`; available: ");
    check(NewRun { world: "/etc/passwd.toml".to_owned(), ..wanted() }, "unknown world");
    check(NewRun { body: "../x.toml".to_owned(), ..wanted() }, "unknown body");
    check(NewRun { fitness: Some("money".to_owned()), ..wanted() }, "unknown fitness");
    check(NewRun { algorithm: "--help".to_owned(), ..wanted() }, "unknown algorithm");
    check(NewRun { generations: 0, ..wanted() }, "generations: out of range 1..=1000000");
    check(NewRun { generations: 1_000_001, ..wanted() }, "generations: out of range 1..=1000000");
    check(NewRun { population: Some(1), ..wanted() }, "individuals per generation: out of range 2..=10000");
    check(NewRun { hidden: Some(1_001), ..wanted() }, "hidden neurons: out of range 0..=1000");
    check(NewRun { target: Some(f64::NAN), ..wanted() }, "must be finite");
    for address in ["", "-h", "a,b", "a b", &"a".repeat(257)] {
        check(NewRun { simulators: simulators(address), ..wanted() }, "invalid address");
    }
    check(NewRun { simulators: vec!["a".to_owned(); 65], ..wanted() }, "at most 64 Robot Simulators");
    assert!(!folder.path().join("runs").exists());
    assert_eq!((runs.list(), runs.version()), (Vec::new(), 0));
}

#[test]
fn the_program_is_told_what_was_wanted() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, r#"printf '%s\n' "$@" > "$0.told""#);
    let name = runs.start(&NewRun { target: Some(-0.5), ..wanted() }).unwrap();
    assert_eq!(name, "obstacles-platine-ga-1");
    let told = || fs::read_to_string(folder.path().join("program.told")).unwrap();
    until("the end", || !matches!(of(&runs.list(), &name).state, RunState::Running));
    let out = folder.path().join("runs").join(&name);
    let expected = format!(
        "evolve --all --world=obstacles --body=platine --algorithm=ga --generations=5 --seed=1 --population=4 --hidden=0 \
         --target=-0.5 --json --out={}",
        out.display()
    );
    assert_eq!(told().split_whitespace().collect::<Vec<_>>().join(" "), expected);

    // the name is taken, although nothing came of it
    let simulators = vec!["127.0.0.1:7720".to_owned(), "robots.example".to_owned()];
    assert_eq!(runs.start(&wanted()).unwrap(), "obstacles-platine-ga-1-2");
    let name = runs.start(&NewRun { simulators, ..wanted() }).unwrap();
    assert_eq!(name, "simulators-ga-1");
    until("the end", || runs.list().iter().all(|run| run.state == RunState::Failed));
    assert!(of(&runs.list(), &name).words.contains("without creating a run"));
}

#[test]
fn what_fails_at_once_says_why() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, r"printf 'many\nlines\n\033[31mrossum: the disk is full\033[0m\n' >&2; exit 3");
    let name = runs.start(&wanted()).unwrap();
    until("the end", || of(&runs.list(), &name).state == RunState::Failed);
    assert_eq!(of(&runs.list(), &name).words, "many\nlines\nrossum: the disk is full");
    assert!(runs.stop(&name).unwrap_err().to_string().contains("is not running"));
    assert!(runs.resume(&name, None).unwrap_err().to_string().contains("no run named"));
    assert!(runs.detail(&name).is_err() && runs.replay(&name, None).is_err());

    let nowhere = Runs::new(folder.path().join("runs"), folder.path().join("nowhere"));
    let error = nowhere.start(&wanted()).unwrap_err().to_string();
    assert!(error.contains("failed to start") && error.contains("nowhere"), "{error}");
    assert_eq!(nowhere.list(), Vec::new());
}

#[test]
fn what_a_process_waits_for_is_told() {
    let folder = TempDir::new().unwrap();
    let script = "printf 'one\\n2026-11-16T00:00:00Z  WARN waiting for a Robot Simulator\\n' >&2; exec sleep 1000";
    let runs = runs(&folder, script);
    let name = runs.start(&wanted()).unwrap();
    until("its words", || of(&runs.list(), &name).words == "waiting for a Robot Simulator");
    assert!(of(&runs.list(), &name).state == RunState::Running && runs.version() >= 2);
    runs.end();
}

#[test]
fn processes_are_counted_stopped_and_ended() {
    let folder = TempDir::new().unwrap();
    // one line at once, and then nothing for a long time
    let runs = runs(&folder, "echo '{}'; exec sleep 1000");
    let names: Vec<_> = (0..MAX_PROCESSES).map(|_| runs.start(&wanted()).unwrap()).collect();
    assert!(runs.start(&wanted()).unwrap_err().to_string().contains("4 runs are in progress"));
    until("a line of each", || runs.version() == 2 * MAX_PROCESSES as u64);
    assert!(runs.list().iter().all(|run| run.state == RunState::Running));
    assert_eq!(
        runs.list().iter().map(|run| run.name.as_str()).collect::<Vec<_>>(),
        names.iter().rev().collect::<Vec<_>>()
    );
    runs.stop(&names[0]).unwrap();
    until("the end", || of(&runs.list(), &names[0]).state == RunState::Stopped);
    assert_eq!(of(&runs.list(), &names[0]).words, "");
    assert_eq!(runs.version(), 2 * MAX_PROCESSES as u64 + 1);
    let again = runs.start(&wanted()).unwrap();
    assert!(!names.contains(&again));
    runs.end();
    assert!(runs.list().iter().all(|run| run.state == RunState::Stopped), "{:?}", runs.list());
    assert!(runs.start(&wanted()).unwrap_err().to_string().contains("shutting down"));
}

#[test]
fn a_process_that_does_not_listen_is_made_to_end() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "trap '' TERM; echo '{}'; while :; do read line < /dev/zero; done");
    runs.start(&wanted()).unwrap();
    until("its line", || runs.version() == 2);
    runs.end();
    assert!(runs.list().iter().all(|run| run.state == RunState::Stopped), "{:?}", runs.list());
}

#[test]
fn names_lead_nowhere_else() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    drop(made(&folder.path().join("outside"), here()));
    fs::create_dir_all(folder.path().join("runs")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("outside"), folder.path().join("runs/link")).unwrap();
    assert_eq!(runs.list(), Vec::new());
    for name in
        ["", ".", "..", "../outside", "runs/../../outside", "/", ".hidden", "a b", "a\0b", "ä", &"a".repeat(101)]
    {
        for error in [
            runs.stop(name).unwrap_err(),
            runs.resume(name, None).unwrap_err(),
            runs.detail(name).unwrap_err(),
            runs.replay(name, None).unwrap_err(),
        ] {
            assert!(error.to_string().contains("invalid name"), "{name:?}: {error}");
        }
    }
    for error in [
        runs.resume("link", Some(9)).unwrap_err(),
        runs.detail("link").unwrap_err(),
        runs.replay("link", None).unwrap_err(),
    ] {
        assert!(error.to_string().contains("no run named"), "{error}");
    }
}

#[test]
fn runs_on_disk_are_shown_as_they_are() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exec sleep 1000");
    let at = |name: &str| folder.path().join("runs").join(name);
    let busy = made(&at("busy"), here());
    drop(made(&at("far"), EvaluationSite::Simulators(vec!["10.0.0.1:7720".to_owned()])));
    drop(made(&at("broken"), here()));
    fs::write(at("broken").join("checkpoint.json"), "{").unwrap();
    fs::create_dir(at("empty")).unwrap();
    fs::write(at("file"), "").unwrap();
    let list = runs.list();
    assert_eq!(list.len(), 3, "{list:?}");
    let run = of(&list, "busy");
    assert_eq!(
        (run.state, run.generation, run.generations, run.here),
        (RunState::Running, GENERATIONS, GENERATIONS, true)
    );
    assert!(run.words.contains("another process") && run.place.contains(" in "), "{run:?}");
    assert!(runs.stop("busy").unwrap_err().to_string().contains("another process"));
    assert!(runs.resume("busy", Some(9)).unwrap_err().to_string().contains("another process"));
    let run = of(&list, "far");
    assert_eq!((run.state, run.here, run.place.as_str()), (RunState::Finished, false, "10.0.0.1:7720"));
    let run = of(&list, "broken");
    assert!(run.state == RunState::Failed && run.words.contains("checkpoint.json"), "{run:?}");
    drop(busy);

    assert_eq!(of(&runs.list(), "busy").state, RunState::Finished);
    assert!(runs.resume("busy", None).unwrap_err().to_string().contains("3 generations already"));
    assert!(runs.resume("busy", Some(0)).unwrap_err().to_string().contains("1..=1000000"));
    runs.resume("busy", Some(9)).unwrap();
    assert!(runs.resume("busy", Some(9)).unwrap_err().to_string().contains("is running already"));
    let run = of(&runs.list(), "busy").clone();
    assert_eq!((run.state, run.generations), (RunState::Running, 9));
    runs.stop("busy").unwrap();
    until("the end", || of(&runs.list(), "busy").state == RunState::Stopped);
    // elsewhere as well
    assert!(runs.replay("far", None).unwrap_err().to_string().contains("evaluated by Robot Simulators"));
    let net = runs.detail("far").unwrap().net.unwrap();
    assert_eq!((net.inputs[0].as_str(), net.outputs[0].as_str()), ("input 1", "output 1"));
}

#[test]
fn a_run_is_told_at_length() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    let path = folder.path().join("runs/one");
    let run = made(&path, here());
    let (history, best) = (run.history().to_vec(), run.best().unwrap().clone());
    let detail = runs.detail("one").unwrap();
    assert_eq!(detail.best, history.iter().map(|line| line.best).collect::<Vec<_>>());
    assert_eq!([detail.mean.len(), detail.worst.len(), detail.best_so_far.len(), detail.diversity.len()], [3; 4]);
    let net = detail.net.unwrap();
    assert_eq!((net.generation, net.fitness), (best.generation, best.fitness));
    assert!(net.outputs == ["left wheel", "right wheel"] && net.inputs.len() > 2, "{net:?}");
    let neurons = net.inputs.len() + net.hidden + net.outputs.len();
    assert!(!net.weights.is_empty());
    assert!(net.weights.iter().all(|weight| weight.from < neurons && (net.inputs.len()..neurons).contains(&weight.to)));

    for (generation, fitness) in [(None, best.fitness), (Some(1), history[0].best), (Some(3), history[2].best)] {
        let replay = runs.replay("one", generation).unwrap();
        assert_eq!((replay.fitness, replay.generation), (fitness, generation.unwrap_or(best.generation)));
        assert!(replay.shape.len() > 2 && replay.step_seconds > 0.0);
        assert_eq!(replay.arena.polygons[1].kind, wire::console::ArenaKind::Ground);
        for trial in &replay.trials {
            assert_eq!(trial.steps.len(), trial.beams.len());
            let inside = |at: &f64| (0.0..=2.0).contains(at);
            assert!(trial.steps.iter().all(|(x, y, ..)| inside(x) && inside(y)));
            assert!(trial.beams[0].iter().all(|[x, y, ..]| (x - trial.steps[0].0).hypot(y - trial.steps[0].1) < 0.2));
        }
        let text = wire::console::Message::Replay(replay).to_text();
        assert!(text.len() < 4_000_000, "{}", text.len());
    }
    assert!(runs.replay("one", Some(4)).unwrap_err().to_string().contains("generation 4"));
    fs::remove_file(path.join("bests.jsonl")).unwrap();
    assert!(runs.replay("one", Some(1)).unwrap_err().to_string().contains("older versions"));
    assert!(runs.replay("one", None).is_ok());
}

#[test]
fn a_net_has_its_outputs_last() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    drop(made(&folder.path().join("runs/one"), here()));
    let net = runs.detail("one").unwrap().net.unwrap();
    let (first_output, hidden) = (net.inputs.len() + net.hidden, net.inputs.len()..net.inputs.len() + net.hidden);
    let into = |neuron: usize| net.weights.iter().filter(|weight| weight.to == neuron).count();
    assert!(into(first_output) > 0 && hidden.into_iter().all(|neuron| into(neuron) > 0), "{net:?}");
}
