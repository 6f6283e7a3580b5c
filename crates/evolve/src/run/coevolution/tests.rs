use std::fs;

use arena::Plan;
use tempfile::TempDir;

use super::*;
use crate::robot::library;

const GENERATIONS: u64 = 3;

fn config(steps: u32) -> CoevolutionConfig {
    let population = |kind: &str| {
        let short = |text: String| text.replace("steps = 300", &format!("steps = {steps}"));
        PopulationConfig { kind: kind.to_owned(), body: short(library::body_text(kind).unwrap()), fitness: None }
    };
    CoevolutionConfig {
        algorithm: Algorithm::CmaEs,
        settings: Settings { population: Some(6), hidden: Some(0), ..Settings::default() },
        seed: 5,
        generations: None,
        world: Plan::built_in_text("coevolution").unwrap(),
        opponents: 2,
        populations: [population("prey"), population("predator")],
    }
}

fn evolve(folder: &Path, threads: usize) -> Vec<[Generation; 2]> {
    let mut pair = Coevolution::begin(folder, config(40)).unwrap();
    (0..GENERATIONS).map(|_| pair.generation(threads, &|_| ()).unwrap()).collect()
}

/// All that the two runs leave on disk, without their locks.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for sub in [folder.to_owned(), folder.join("prey"), folder.join("predator")] {
        let paths = fs::read_dir(&sub).unwrap().map(|entry| entry.unwrap().path());
        let paths = paths.filter(|path| path.is_file() && !path.ends_with("lock"));
        found.extend(paths.map(|path| (path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap())));
    }
    found.sort();
    found
}

#[test]
fn two_populations_evolve_alike_on_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let of = |threads: usize| {
        let path = folder.path().join(threads.to_string());
        (evolve(&path, threads), files(&path))
    };
    let (history, left) = of(1);
    assert_eq!(left.len(), 2 + 2 * 7 - 2, "{:?}", left.iter().map(|(path, _)| path).collect::<Vec<_>>());
    for threads in [2, 5] {
        assert!(of(threads) == (history.clone(), left.clone()), "{threads} threads");
    }
    assert!(history.iter().all(|[prey, predator]| prey.best != predator.best));
    assert_eq!(history.last().map(|[prey, _]| prey.evaluations), Some(6 * GENERATIONS));
}

#[test]
fn the_fitness_of_each_depends_on_the_other() {
    let folder = TempDir::new().unwrap();
    // near each other
    let [mut near, mut other] = [config(250), config(250)];
    for config in [&mut near, &mut other] {
        let (far, near) = ("[1750, 1000, 380, 1780]", "[600, 1000, 200, 1780]");
        config.world = config.world.replace(
            &format!("name = \"east\"\nshape = {{ box = {far} }}"),
            &format!("name = \"east\"\nshape = {{ box = {near} }}"),
        );
        assert!(config.world.contains(near));
    }
    let mut pair = Coevolution::begin(&folder.path().join("pair"), near).unwrap();
    // predators that cannot drive
    other.populations[1].body = other.populations[1].body.replace("max_speed = 240", "max_speed = 0.001");
    let mut lame = Coevolution::begin(&folder.path().join("lame"), other).unwrap();
    let (with, without) = (pair.generation(1, &|_| ()).unwrap(), lame.generation(1, &|_| ()).unwrap());
    // the same prey in both
    assert_eq!(pair.runs()[0].config().seed, lame.runs()[0].config().seed);
    assert_ne!(with[0].mean, without[0].mean, "prey that is hunted, and prey that is not");
    assert_ne!(with[1].mean, without[1].mean);
}

#[test]
fn whatever_was_on_disk_when_it_stopped_it_goes_on_as_if_it_had_not() {
    let folder = TempDir::new().unwrap();
    let (whole, stopped) = (folder.path().join("whole"), folder.path().join("stopped"));
    evolve(&whole, 2);
    drop(Coevolution::begin(&stopped, config(40)).unwrap());
    for generation in 1..=GENERATIONS {
        let before = [stopped.join("prey"), stopped.join("predator")].map(|path| files_of(&path));
        let mut pair = Coevolution::resume(&stopped).unwrap();
        assert_eq!(pair.next_generation(), generation);
        pair.generation(1, &|_| ()).unwrap();
        drop(pair);
        // as if it had been stopped before both, one or none of the runs had learnt
        for lost in [[true, true], [false, true], [true, false], [false, false]] {
            for ((path, files), _) in
                [stopped.join("prey"), stopped.join("predator")].iter().zip(&before).zip(lost).filter(|(_, lost)| *lost)
            {
                fs::remove_dir_all(path).unwrap();
                fs::create_dir(path).unwrap();
                files.iter().for_each(|(name, content)| fs::write(path.join(name), content).unwrap());
            }
            assert_eq!(Coevolution::resume(&stopped).unwrap().next_generation(), generation + 1, "{lost:?}");
        }
    }
    let differ = files(&whole).into_iter().zip(files(&stopped)).filter(|(one, other)| one != other);
    let differ: Vec<PathBuf> = differ.map(|(one, _)| one.0).collect();
    assert!(differ.is_empty(), "{differ:?} differ");
}

#[test]
fn names_lead_nowhere_else() {
    let folder = TempDir::new().unwrap();
    for names in [["../prey", "predator"], ["prey", "prey"], ["", "predator"], ["/", "a"]] {
        let text = serde_json::json!({ "populations": names }).to_string();
        fs::write(folder.path().join(folder::PAIR), text).unwrap();
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("not the names of two populations"), "{error}");
    }
}

fn files_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (PathBuf::from(path.file_name().unwrap()), fs::read(&path).unwrap())).collect()
}

#[test]
fn what_they_have_learnt_is_measured_against_the_first_generation() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run");
    let mut pair = Coevolution::begin(&path, config(40)).unwrap();
    assert_eq!(learnt(&path), None);
    pair.generation(1, &|_| ()).unwrap();
    let [prey, predator] = learnt(&path).unwrap();
    assert!(
        prey.starts_with("against the best predator of the first generation, the best prey stays free for "),
        "{prey}"
    );
    assert!(prey.ends_with("it is still one of the first generation"), "{prey}");
    assert!(predator.contains("the best predator catches its quarry in "), "{predator}");
    pair.generation(1, &|_| ()).unwrap();
    let [prey, _] = learnt(&path).unwrap();
    assert!(prey.contains("; the best of the first generation stays free for "), "{prey}");
    // the same individuals, seen once more
    let bests = ["prey", "predator"].map(|name| read_best_of(&path.join(name), 2).unwrap());
    let outcomes = pair.rivals().duel([&bests[0], &bests[1]], 5).unwrap().run().unwrap();
    assert_eq!(outcomes.iter().map(|outcome| outcome.path.len()).collect::<Vec<_>>(), [5, 5]);
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let folder = TempDir::new().unwrap();
    let refused = |change: &dyn Fn(&mut CoevolutionConfig), expected: &str| {
        let mut config = config(40);
        change(&mut config);
        let path = folder.path().join("refused");
        let error = Coevolution::begin(&path, config).unwrap_err().to_string();
        assert!(error.contains(expected) && !path.exists(), "{error}");
    };
    refused(&|config| config.populations[1].kind = "prey".to_owned(), "need different names");
    refused(&|config| config.populations[1].kind = "../x".to_owned(), "need different names");
    refused(
        &|config| config.populations[1].kind = "cat".to_owned(),
        "no robots of the kind `cat`; its kinds are prey, predator",
    );
    let other_trials = |config: &mut CoevolutionConfig| {
        config.populations[1].body = config.populations[1].body.replace("trials = 4", "trials = 3");
    };
    refused(&other_trials, "the trials of both bodies must be equal");
    refused(&|config| config.opponents = 0, "1 to 100 opponents, not 0");
    refused(&|config| config.settings.population = Some(1), "population");
    refused(&|config| config.world = config.world.replace("shared", "per-robot"), "do not meet");
}
