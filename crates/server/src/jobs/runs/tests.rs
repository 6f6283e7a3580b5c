use std::{fs, path::Path};

use evolve::{
    robot::{InProcessWorld, evaluate_all, library},
    run::{
        Encounters, EvaluationSite, Run, RunConfig,
        coevolution::{Coevolution, CoevolutionConfig, PopulationConfig},
    },
    search::{Algorithm, Evaluation, Settings},
};
use tempfile::TempDir;
use wire::console::{BestFitness, PopulationDetail, Rival, RunState, RunWorkers};

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
        rival: None,
    }
}

fn rival(body: &str) -> Option<Rival> {
    Some(Rival { body: body.to_owned(), fitness: None })
}

/// The only population of a run.
fn population(detail: RunDetail) -> PopulationDetail {
    let [population] = detail.populations.try_into().unwrap();
    population
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
        encounters: Encounters::Nobody,
    };
    let here = here.local().unwrap().unwrap();
    let settings = Settings { population: Some(4), ..Settings::default() };
    let parameters = here.design.parameters().clone();
    let algorithm = Algorithm::Ga;
    let start =
        RunConfig { algorithm, settings, seed: 1, parameters, generations: Some(GENERATIONS), target: None, site };
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

fn local(world: String, encounters: Encounters) -> EvaluationSite {
    EvaluationSite::Local { world, body: library::body_text("platine").unwrap(), fitness: None, seed: 1, encounters }
}

fn here() -> EvaluationSite {
    let world = arena::Plan::built_in_text("obstacles").unwrap();
    local(world, Encounters::Nobody)
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
    let pair = &info.default_coevolution;
    RunRequest::new(pair, &info).unwrap();
    let world = info.worlds.iter().find(|world| world.name == pair.world).unwrap();
    let bodies = [&pair.body, &pair.rival.as_ref().unwrap().body];
    assert_eq!(world.kinds.iter().collect::<Vec<_>>(), bodies, "each kind has the body of its name");
    for (kind, body) in world.kinds.iter().zip(bodies) {
        let fitness = &info.bodies.iter().find(|choice| choice.name == *body).unwrap().fitness;
        let mut about = info.objections.iter().filter(|of| (&of.body, &of.fitness) == (body, fitness));
        assert!(!about.any(|of| of.kind.as_ref() == Some(kind) && of.world.as_ref() == Some(&pair.world)), "{body}");
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
    check(NewRun { rival: rival("prey"), ..wanted() }, "cannot evolve against each other in the world `obstacles`");
    check(NewRun { rival: rival("cat"), world: "coevolution".to_owned(), ..wanted() }, "unknown body `cat`");
    let coevolution = NewRun { rival: rival("prey"), world: "coevolution".to_owned(), ..wanted() };
    check(NewRun { target: Some(1.0), ..coevolution.clone() }, "no target fitness");
    check(NewRun { simulators: simulators("a"), ..coevolution }, "in the run's own process");
    check(NewRun { generations: 1_000_001, ..wanted() }, "generations: out of range 0..=1000000");
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

    // two populations, without end
    let pair = runs.info().default_coevolution;
    let name = runs.start(&NewRun { generations: 0, ..pair }).unwrap();
    assert_eq!(name, "coevolution-prey-predator-neat-1");
    until("the end", || runs.list().iter().all(|run| run.state == RunState::Failed));
    let all =
        "evolve --all --coevolve --world=coevolution --body=prey,predator --algorithm=neat --generations=0 --seed=1";
    assert!(told().split_whitespace().collect::<Vec<_>>().join(" ").starts_with(all), "{}", told());

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
    assert!(runs.resume("busy", Some(1_000_001)).unwrap_err().to_string().contains("0..=1000000"));
    runs.resume("busy", Some(9)).unwrap();
    assert!(runs.resume("busy", Some(9)).unwrap_err().to_string().contains("is running already"));
    let run = of(&runs.list(), "busy").clone();
    assert_eq!((run.state, run.generations), (RunState::Running, 9));
    runs.stop("busy").unwrap();
    until("the end", || of(&runs.list(), "busy").state == RunState::Stopped);
    // elsewhere as well
    assert!(runs.replay("far", None).unwrap_err().to_string().contains("evaluated by Robot Simulators"));
    let net = population(runs.detail("far").unwrap()).net.unwrap();
    assert_eq!((net.inputs[0].as_str(), net.outputs[0].as_str()), ("input 1", "output 1"));
}

#[test]
fn a_run_is_told_at_length() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    let path = folder.path().join("runs/one");
    let run = made(&path, here());
    let (history, best) = (run.history().to_vec(), run.best().unwrap().clone());
    let detail = population(runs.detail("one").unwrap());
    assert_eq!((detail.population.as_str(), detail.generations.as_slice()), ("", &[1, 2, 3][..]));
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
        let [robot] = &replay.robots[..] else { panic!("{} robots", replay.robots.len()) };
        assert_eq!((robot.fitness, replay.generation), (fitness, generation.unwrap_or(best.generation)));
        assert!(robot.shape.len() > 2 && replay.step_seconds > 0.0);
        assert_eq!(replay.arena.polygons[1].kind, wire::console::ArenaKind::Ground);
        for trial in &robot.trials {
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

/// A run of two populations of a few generations, made in this process.
fn made_pair(folder: &Path, generations: Option<u64>) -> Coevolution {
    let population = |kind: &str| {
        let body = library::body_text(kind).unwrap().replace("steps = 300", "steps = 30");
        PopulationConfig { kind: kind.to_owned(), body, fitness: None }
    };
    let config = CoevolutionConfig {
        algorithm: Algorithm::Ga,
        settings: Settings { population: Some(4), ..Settings::default() },
        seed: 1,
        generations,
        world: arena::Plan::built_in_text("coevolution").unwrap(),
        opponents: 2,
        populations: [population("prey"), population("predator")],
    };
    let mut pair = Coevolution::begin(folder, config).unwrap();
    for _ in 0..GENERATIONS {
        pair.generation(1, &|_| ()).unwrap();
    }
    pair
}

#[test]
fn two_populations_are_one_run_with_two_curves() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exec sleep 1000");
    let pair = made_pair(&folder.path().join("runs/pair"), Some(GENERATIONS));
    let histories = pair.runs().each_ref().map(|run| run.history().to_vec());
    assert!(runs.list()[0].words.contains("another process"), "{:?}", runs.list());
    drop(pair);
    let list = runs.list();
    let [run] = &list[..] else { panic!("one run: {list:?}") };
    assert_eq!((run.state, run.generation, run.here), (RunState::Finished, GENERATIONS, true));
    assert_eq!(run.place, "prey and predator in Co-evolution");
    let names = ["prey", "predator"];
    let best = names
        .iter()
        .zip(&histories)
        .map(|(name, history)| BestFitness { population: (*name).to_owned(), fitness: history.last().unwrap().best });
    assert_eq!(run.best, best.collect::<Vec<_>>());

    let detail = runs.detail("pair").unwrap();
    for ((population, name), history) in detail.populations.iter().zip(names).zip(&histories) {
        assert_eq!(population.population, name);
        assert_eq!(population.best, history.iter().map(|line| line.best).collect::<Vec<_>>());
        assert!(population.learnt.contains(&format!("the best {name}")), "{}", population.learnt);
        assert_eq!(population.net.as_ref().map(|net| net.generation), Some(GENERATIONS));
    }
    for (generation, expected) in [(None, GENERATIONS), (Some(1), 1)] {
        let replay = runs.replay("pair", generation).unwrap();
        assert_eq!(replay.generation, expected);
        let seen: Vec<_> =
            replay.robots.iter().map(|robot| (robot.population.as_str(), robot.colour.as_str())).collect();
        assert_eq!(seen, [("prey", "#27ae60"), ("predator", "#c0392b")]);
        let [prey, predator] = &replay.robots[..] else { panic!("two robots") };
        assert_eq!(prey.trials.len(), predator.trials.len());
        assert!(prey.trials.iter().all(|trial| trial.steps.len() == 31 && trial.steps[0].0 < 0.5));
        assert!(predator.trials.iter().all(|trial| trial.steps[0].0 > 1.5));
    }
    assert!(runs.replay("pair", Some(4)).unwrap_err().to_string().contains("generation 4"));

    assert!(runs.resume("pair", None).unwrap_err().to_string().contains("3 generations already"));
    runs.resume("pair", Some(0)).unwrap();
    let run = of(&runs.list(), "pair").clone();
    assert_eq!((run.state, run.generations), (RunState::Running, 0));
    runs.end();
}

#[test]
fn a_run_without_a_last_generation_is_never_finished() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exec sleep 1000");
    drop(made_pair(&folder.path().join("runs/endless"), None));
    let run = of(&runs.list(), "endless").clone();
    assert_eq!((run.state, run.generation, run.generations), (RunState::Stopped, GENERATIONS, 0));
    runs.resume("endless", None).unwrap();
    assert_eq!(of(&runs.list(), "endless").generations, 0);
    runs.end();
}

#[test]
fn the_workers_of_a_run_are_listed_until_it_goes_on_without_them() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    let path = folder.path().join("runs/one");
    drop(made(&path, here()));
    let listed = || of(&runs.list(), "one").workers;
    assert_eq!(listed(), None);
    for lost in [0, 1] {
        // within a generation, whose number is the same
        run::save_workers(&path, &run::Workers { workers: 2, lost, retried: 3, finished: 4, total: 8 }).unwrap();
        assert_eq!(listed(), Some(RunWorkers { workers: 2, lost, retried: 3, finished: 4, total: 8 }));
    }
    fs::write(path.join("workers.json"), "?").unwrap();
    assert_eq!(listed(), None);
    drop(Run::resume(&path).unwrap());
    assert!(!path.join("workers.json").exists());
}

#[test]
fn an_individual_is_replayed_with_those_that_it_met() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    let path = folder.path().join("runs/one");
    let site = local(arena::Plan::built_in_text("coevolution").unwrap(), Encounters::Group(3));
    let here = site.local().unwrap().unwrap();
    let settings = Settings { population: Some(6), hidden: Some(0), ..Settings::default() };
    let parameters = here.design.parameters().clone();
    let config =
        RunConfig { algorithm: Algorithm::Ga, settings, seed: 1, parameters, generations: None, target: None, site };
    let mut run = Run::begin(&path, config).unwrap();
    let asked = run.ask().to_vec();
    let outcomes = here.evaluate(1, &asked, 2, &|_| ()).unwrap();
    run.tell(&outcomes.into_iter().map(Evaluation::from).collect::<Vec<_>>()).unwrap();
    let best = run.best().unwrap();
    assert_eq!(best.companions.len(), 2);
    let replay = runs.replay("one", None).unwrap();
    assert_eq!((replay.robots.len(), replay.robots[0].fitness), (3, best.fitness));
}

#[test]
fn a_net_has_its_outputs_last() {
    let folder = TempDir::new().unwrap();
    let runs = runs(&folder, "exit");
    drop(made(&folder.path().join("runs/one"), here()));
    let net = population(runs.detail("one").unwrap()).net.unwrap();
    let (first_output, hidden) = (net.inputs.len() + net.hidden, net.inputs.len()..net.inputs.len() + net.hidden);
    let into = |neuron: usize| net.weights.iter().filter(|weight| weight.to == neuron).count();
    assert!(into(first_output) > 0 && hidden.into_iter().all(|neuron| into(neuron) > 0), "{net:?}");
}
