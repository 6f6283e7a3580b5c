use std::{fs, path::PathBuf};

use tempfile::TempDir;

use super::*;
use crate::genotype::Genes;

const GENERATIONS: usize = 5;

fn start(algorithm: Algorithm) -> RunConfig {
    let parameters = NetParameters {
        concurrent: 4,
        globals: Genes::default(),
        inputs: 2,
        input: Genes::default(),
        outputs: 1,
        output: Genes { values: 1, low: -1.0, high: 1.0 },
        hidden_min: 0,
        hidden_max: 3,
        hidden: Genes { values: 1, low: -1.0, high: 1.0 },
        weight: Genes { values: 1, low: -5.0, high: 5.0 },
        input_to_output: true,
        recurrent: true,
    };
    let settings = Settings { population: Some(8), ..Settings::default() };
    RunConfig {
        algorithm,
        settings,
        seed: 3,
        parameters,
        generations: Some(9),
        target: None,
        site: EvaluationSite::Simulators(vec!["127.0.0.1:7720".to_owned()]),
    }
}

/// Something that depends on every gene.
fn test(genotype: &Genotype) -> Evaluation {
    let genes = genotype.weights.iter().chain(&genotype.output_values).chain(&genotype.hidden_values);
    Evaluation {
        fitness: -genes.zip(1..).map(|(gene, n)| (gene - 0.1 * f64::from(n)).abs()).sum::<f64>(),
        ..Evaluation::default()
    }
}

fn generation(run: &mut Run) {
    let evaluations: Vec<Evaluation> = run.ask().iter().map(test).collect();
    run.tell(&evaluations).unwrap();
}

fn whole(algorithm: Algorithm, folder: &Path) -> Run {
    let mut run = Run::begin(folder, start(algorithm)).unwrap();
    for _ in 0..GENERATIONS {
        generation(&mut run);
    }
    run
}

/// What a run leaves on disk, without its lock.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("lock"))
        .map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

#[test]
fn a_run_that_was_stopped_anywhere_leaves_the_same_as_one_that_was_not() {
    for algorithm in Algorithm::ALL {
        let (one, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        drop(whole(algorithm, one.path()));
        drop(Run::begin(other.path(), start(algorithm)).unwrap());
        for _ in 0..GENERATIONS {
            // asked for, tested, and then stopped before anything was told
            let mut run = Run::resume(other.path()).unwrap();
            let _ = run.ask().iter().map(test).count();
            drop(run);
            generation(&mut Run::resume(other.path()).unwrap());
        }
        let differ: Vec<PathBuf> = files(one.path())
            .into_iter()
            .zip(files(other.path()))
            .filter(|(one, other)| one != other)
            .map(|(one, _)| one.0)
            .collect();
        assert!(differ.is_empty(), "{algorithm}: {differ:?} differ");
    }
}

#[test]
fn logs_that_ran_ahead_of_the_checkpoint_are_trimmed() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut run = whole(Algorithm::Ga, path);
    let finished = files(path);
    let kept = fs::read(path.join("checkpoint.json")).unwrap();
    generation(&mut run);
    drop(run);
    // as if it was stopped between log and checkpoint, with half a checkpoint written
    fs::write(path.join("checkpoint.json"), &kept).unwrap();
    fs::write(path.join("checkpoint.json.new"), &kept[..kept.len() / 2]).unwrap();
    fs::write(path.join("best.json"), &finished[0].1).unwrap();
    assert_eq!(fs::read_to_string(path.join("log.csv")).unwrap().lines().count(), 1 + GENERATIONS + 1);
    let mut run = Run::resume(path).unwrap();
    assert_eq!(run.next_generation(), GENERATIONS as u64 + 1);
    for (name, lines) in [("log.csv", 1 + GENERATIONS), ("log.jsonl", GENERATIONS), ("bests.jsonl", GENERATIONS)] {
        assert_eq!(fs::read_to_string(path.join(name)).unwrap().lines().count(), lines, "{name}");
    }
    generation(&mut run);
    let numbers: Vec<u64> = run.history().iter().map(|line| line.generation).collect();
    assert_eq!(numbers, (1..=GENERATIONS as u64 + 1).collect::<Vec<_>>());
}

#[test]
fn the_history_says_what_happened() {
    let folder = TempDir::new().unwrap();
    let mut run = Run::begin(folder.path(), start(Algorithm::Ga)).unwrap();
    let count = run.ask().len();
    let evaluations: Vec<Evaluation> =
        (0..count).map(|n| Evaluation { fitness: [1.0, 7.0, 4.0][n % 3], ..Evaluation::default() }).collect();
    let line = run.tell(&evaluations).unwrap().clone();
    assert_eq!((line.generation, line.evaluations, line.best, line.worst), (1, count as u64, 7.0, 1.0));
    let mean = evaluations.iter().map(|evaluation| evaluation.fitness).sum::<f64>() / count as f64;
    assert_eq!((line.mean, line.best_so_far), (mean, 7.0));
    assert_eq!(run.best().map(|best| best.fitness), Some(7.0));
    let worse: Vec<Evaluation> =
        run.ask().iter().map(|_| Evaluation { fitness: 2.0, ..Evaluation::default() }).collect();
    let line = run.tell(&worse).unwrap().clone();
    assert_eq!((line.best, line.best_so_far, line.evaluations), (2.0, 7.0, (count + worse.len()) as u64));
    assert_eq!(run.best().map(|best| best.generation), Some(1));
    let read = read(folder.path()).unwrap();
    assert_eq!(read, run.record());
    assert_eq!(read_best(folder.path()).unwrap(), *run.best().unwrap());
}

#[test]
fn the_best_of_each_generation_is_kept() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let mut run = whole(Algorithm::Ga, path);
    for line in run.history() {
        let best = read_best_of(path, line.generation).unwrap();
        assert_eq!((best.generation, best.fitness), (line.generation, line.best));
        assert_eq!(test(&best.genotype).fitness, line.best);
    }
    let said = |generation| read_best_of(path, generation).unwrap_err().to_string();
    for missing in [0, GENERATIONS as u64 + 1] {
        assert!(said(missing).contains(&format!("generation {missing}")), "{}", said(missing));
    }
    // a line that is just being written, or was when the power went
    let kept = fs::read(path.join("bests.jsonl")).unwrap();
    let half = [kept.as_slice(), &kept[..kept.len() / GENERATIONS / 2]].concat();
    fs::write(path.join("bests.jsonl"), half).unwrap();
    assert_eq!(read_best_of(path, GENERATIONS as u64).unwrap().generation, GENERATIONS as u64);
    drop(run);
    run = Run::resume(path).unwrap();
    assert_eq!(fs::read(path.join("bests.jsonl")).unwrap(), kept);
    // a run of a version that did not keep them
    drop(run);
    fs::remove_file(path.join("bests.jsonl")).unwrap();
    assert!(said(1).contains("older versions"), "{}", said(1));
    run = Run::resume(path).unwrap();
    generation(&mut run);
    assert_eq!(read_best_of(path, GENERATIONS as u64 + 1).unwrap().generation, GENERATIONS as u64 + 1);
    assert!(said(1).contains("older versions"), "{}", said(1));
}

#[test]
fn a_run_of_an_older_version_goes_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    drop(whole(Algorithm::Ga, path));
    // its checkpoint had all generations
    let lines = fs::read_to_string(path.join("log.jsonl")).unwrap();
    let history: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let text = fs::read(path.join("checkpoint.json")).unwrap();
    let mut checkpoint: serde_json::Value = serde_json::from_slice(&text).unwrap();
    checkpoint.as_object_mut().unwrap().remove("last");
    checkpoint["history"] = history.into();
    fs::write(path.join("checkpoint.json"), checkpoint.to_string()).unwrap();
    let finished = |path| read_status(path).unwrap().last.map(|last| last.generation);
    assert_eq!(finished(path), Some(GENERATIONS as u64));
    let mut run = Run::resume(path).unwrap();
    assert_eq!((run.next_generation(), run.history().len()), (GENERATIONS as u64 + 1, GENERATIONS));
    generation(&mut run);
    assert_eq!(finished(path), Some(GENERATIONS as u64 + 1));
    assert_eq!(read(path).unwrap().history.len(), GENERATIONS + 1);
}

#[test]
fn a_checkpoint_does_not_grow_with_the_generations() {
    let folder = TempDir::new().unwrap();
    let mut run = Run::begin(folder.path(), start(Algorithm::CmaEs)).unwrap();
    let mut size_after = |generations| {
        (0..generations).for_each(|_| generation(&mut run));
        fs::metadata(folder.path().join("checkpoint.json")).unwrap().len() as f64
    };
    let (few, many) = (size_after(5), size_after(200));
    assert!(many < 1.2 * few, "{few} {many}");
}

#[test]
fn some_generations_stand_for_all() {
    let line = |generation| Generation { generation, ..a_generation() };
    let history: Vec<Generation> = (1..=1000).map(line).collect();
    let of = |count: usize, of: &[Generation]| thinned(of, count).map(|line| line.generation).collect::<Vec<_>>();
    assert_eq!(of(4, &history), [1, 250, 500, 750, 1000]);
    assert_eq!(of(3, &history), [1, 334, 668, 1000]);
    assert_eq!(of(5, &history[..3]), [1, 2, 3]);
    assert_eq!(of(5, &[]), [0; 0]);
}

fn a_generation() -> Generation {
    let folder = TempDir::new().unwrap();
    let mut run = Run::begin(folder.path(), start(Algorithm::Ga)).unwrap();
    generation(&mut run);
    run.history()[0].clone()
}

#[test]
fn whoever_asks_whether_a_run_is_busy_is_in_nobodys_way() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run");
    assert!(!is_busy(&path));
    let run = Run::begin(&path, start(Algorithm::Ga)).unwrap();
    assert!(is_busy(&path));
    drop(run);
    assert!(!is_busy(&path));
    drop(Run::resume(&path).unwrap());
}

#[test]
fn numbers_at_the_end_of_all_numbers_can_be_written_and_read() {
    let folder = TempDir::new().unwrap();
    let mut run = Run::begin(folder.path(), start(Algorithm::Ga)).unwrap();
    for worst in [f64::MIN, f64::MAX] {
        let evaluations: Vec<Evaluation> =
            run.ask().iter().map(|_| Evaluation { fitness: worst, ..Evaluation::default() }).collect();
        assert!(run.tell(&evaluations).unwrap().mean.is_finite());
    }
    assert_eq!(read(folder.path()).unwrap(), run.record());
    assert!(fs::read_to_string(folder.path().join("log.csv")).unwrap().lines().all(|line| line.len() < 200));
}

#[test]
fn a_folder_has_one_run_and_one_process_that_continues_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    let said = |result: Result<Run, RunError>| result.unwrap_err().to_string();
    assert!(said(Run::resume(path)).contains("no run in"));
    let run = Run::begin(path, start(Algorithm::Neat)).unwrap();
    assert!(said(Run::begin(path, start(Algorithm::Neat))).contains("--resume"));
    assert!(said(Run::resume(path)).contains("another process"));
    drop(run);
    drop(Run::resume(path).unwrap());
    fs::write(path.join("checkpoint.json"), b"{").unwrap();
    assert!(said(Run::resume(path)).contains("checkpoint.json: "));
    // takes no room on the disk
    fs::File::create(path.join("checkpoint.json")).unwrap().set_len(1 << 40).unwrap();
    assert!(said(Run::resume(path)).contains("more than 512 MiB"));
}

#[test]
fn a_run_does_not_replace_files_of_others() {
    for name in ["log.csv", "best.json", "fitness.svg", "thesis.txt"] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join(name), "precious").unwrap();
        let error = Run::begin(folder.path(), start(Algorithm::Ga)).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("not empty"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "precious");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "and nothing was added");
    }
}

#[test]
fn a_run_that_makes_no_sense_leaves_no_folder() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run");
    let mut wrong = start(Algorithm::Ga);
    wrong.parameters.outputs = 0;
    assert!(matches!(Run::begin(&path, wrong), Err(RunError::Parameters(_))));
    let mut wrong = start(Algorithm::Ga);
    wrong.settings.population = Some(1);
    assert!(matches!(Run::begin(&path, wrong), Err(RunError::Settings(_))));
    assert!(!path.exists());
}

#[test]
fn evaluations_that_do_not_fit_are_refused() {
    let folder = TempDir::new().unwrap();
    let mut run = Run::begin(folder.path(), start(Algorithm::CmaEs)).unwrap();
    run.ask();
    assert!(matches!(run.tell(&[]), Err(RunError::Tell(_))));
    assert!(run.history().is_empty());
}

#[test]
fn a_site_is_local_remote_or_invalid() {
    let text = |name: &str| crate::robot::library::body_text(name).unwrap();
    let place = |world: &str, body: String, fitness: Option<String>| EvaluationSite::Local {
        world: arena::Plan::built_in_text(world).unwrap_or_else(|| world.to_owned()),
        body,
        fitness,
        seed: 7,
        encounters: Encounters::Nobody,
    };
    let here = place("obstacles", text("platine"), None).local().unwrap().unwrap();
    assert_eq!((here.seed, here.design.file().trial.seed), (7, 7));
    assert!(EvaluationSite::Simulators(Vec::new()).local().unwrap().is_none());
    // the world chooses other poses in another generation only if the trials differ
    assert_eq!(here.arena_seed(1), here.arena_seed(2));
    let fresh = text("platine").replace("steps = 400", "steps = 400\nfresh_each_generation = true");
    let fresh = place("obstacles", fresh, None).local().unwrap().unwrap();
    assert_ne!(fresh.arena_seed(1), fresh.arena_seed(2));
    for (place, expected) in [
        (place("title = 3", text("platine"), None), "invalid world"),
        (place("obstacles", "layers".to_owned(), None), "invalid body"),
        (place("obstacles", text("platine"), Some("?".to_owned())), "invalid fitness"),
    ] {
        let error = place.local().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
