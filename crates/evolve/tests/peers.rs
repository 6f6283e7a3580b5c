//! The same standard problems, for our algorithms and for those of others: pycma and pyribs, which
//! `scripts/fetch-python evolution-peers` puts into the user's cache. `ROSSUM_EVOLUTION_PEERS` may name a Python that has them.
//!
//! What is compared is how many evaluations are needed and how much of an archive is filled, so that the figures do not
//! depend on the machine.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use evolve::search::archive::{Archive, Axis};
use evolve::search::cma::Cma;
use evolve::search::{gaussian, iso_line};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Ours may need so many times the evaluations of theirs, and theirs so many times ours. The medians of five runs vary
/// by some ten percent, those of rastrigin, where luck decides, by a factor of two.
const FACTOR: f64 = 3.0;

/// Ours must fill so much of the archive, and as well, in proportion to theirs. Theirs of ours too, as more would mean
/// that the problems are not the same.
const SHARE: f64 = 0.9;

/// A function to be minimised by CMA-ES from where all axes are `start`. Runs that go on for longer than `generations`
/// are given up and started again, as rastrigin's may end in one of its dents.
#[derive(Serialize)]
struct Minimum {
    name: &'static str,
    function: &'static str,
    axes: usize,
    start: f64,
    sigma: f64,
    lambda: usize,
    target: f64,
    generations: usize,
    seeds: Vec<u64>,
}

/// An archive to be filled by MAP-Elites: the sphere with linear projection. Without `line`, children are drawn around
/// one parent.
#[derive(Serialize)]
struct Filling {
    name: &'static str,
    axes: usize,
    cells: usize,
    batch: usize,
    batches: usize,
    sigma: f64,
    line: f64,
    seeds: Vec<u64>,
}

#[derive(Serialize)]
struct Cases {
    cma: Vec<Minimum>,
    elites: Vec<Filling>,
}

#[derive(Deserialize)]
struct Theirs {
    cma: std::collections::BTreeMap<String, Vec<Option<usize>>>,
    elites: std::collections::BTreeMap<String, Filled>,
}

#[derive(Debug, Deserialize)]
struct Filled {
    coverage: f64,
    score: f64,
}

fn cases() -> Cases {
    let minimum = |name, function, axes, lambda, generations| Minimum {
        name,
        function,
        axes,
        start: 3.0,
        sigma: 2.0,
        lambda,
        target: 1e-8,
        generations,
        seeds: (1..=5).collect(),
    };
    let filling = |name, sigma, line| Filling {
        name,
        axes: 10,
        cells: 32,
        batch: 50,
        batches: 500,
        sigma,
        line,
        seeds: (1..=3).collect(),
    };
    Cases {
        cma: vec![
            minimum("sphere-10", "sphere", 10, 10, 2_000),
            minimum("ellipsoid-10", "ellipsoid", 10, 10, 2_000),
            minimum("rosenbrock-8", "rosenbrock", 8, 10, 1_000),
            minimum("rastrigin-5", "rastrigin", 5, 200, 100),
        ],
        elites: vec![filling("gaussian", 0.5, 0.0), filling("iso-line", 0.1, 0.2)],
    }
}

/// The Python that has the others' libraries.
fn python() -> PathBuf {
    if let Some(given) = std::env::var_os("ROSSUM_EVOLUTION_PEERS") {
        return given.into();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-python");
    let output = Command::new(&script)
        .arg("evolution-peers")
        .stderr(Stdio::piped())
        .output()
        .expect("the script can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "what we compare with could not be set up:\n{said}");
    String::from_utf8(output.stdout).expect("a path").trim_end().into()
}

fn theirs(cases: &Cases) -> Theirs {
    let python = python();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers.py");
    let mut child = Command::new(&python)
        .arg(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} could not be started: {error}", python.display()));
    let text = serde_json::to_vec(cases).expect("cases can be written");
    child.stdin.take().expect("it is piped").write_all(&text).expect("it reads the cases");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "peers.py failed; what it said is above");
    serde_json::from_slice(&output.stdout).expect("it says what was agreed")
}

fn function(name: &str) -> fn(&[f64]) -> f64 {
    match name {
        "sphere" => |x| x.iter().map(|x| x * x).sum(),
        "ellipsoid" => |x| {
            let power = |index: usize| 1e6_f64.powf(index as f64 / (x.len() - 1) as f64);
            x.iter().enumerate().map(|(index, x)| power(index) * x * x).sum()
        },
        "rosenbrock" => |x| x.windows(2).map(|p| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2)).sum(),
        "rastrigin" => |x| x.iter().map(|x| x * x - 10.0 * (std::f64::consts::TAU * x).cos() + 10.0).sum(),
        other => panic!("no function {other}"),
    }
}

/// Evaluations until the function is below the target.
fn evaluations(case: &Minimum, seed: u64) -> Option<usize> {
    let function = function(case.function);
    let mut count = 0;
    for start in 0..50 {
        let mut cma = Cma::new(vec![case.start; case.axes], case.sigma, case.lambda, seed + 1000 * start);
        for _ in 0..case.generations {
            let values: Vec<f64> = cma.ask().iter().map(|x| function(x)).collect();
            count += values.len();
            if values.iter().any(|&value| value < case.target) {
                return Some(count);
            }
            cma.tell(&values.iter().map(|value| -value).collect::<Vec<_>>());
        }
    }
    None
}

fn fill(case: &Filling, seed: u64) -> Filled {
    let limit = 5.12;
    let shift = 0.4 * limit;
    let worst = case.axes as f64 * (limit + shift) * (limit + shift);
    let extent = limit * case.axes as f64 / 2.0;
    let axis = Axis { low: -extent, high: extent, cells: case.cells };
    let mut archive: Archive<Vec<f64>> = Archive::new(vec![axis, axis]);
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let fold = |x: &f64| if x.abs() > limit { limit / x } else { *x };
    for _ in 0..case.batches {
        let mut child = |_| match (archive.sample(&mut rng), archive.sample(&mut rng)) {
            (Some(a), Some(b)) if case.line > 0.0 => {
                iso_line(&a.solution, &b.solution, [case.sigma, case.line], &mut rng)
            }
            (Some(a), _) => gaussian(&a.solution, case.sigma, &mut rng),
            _ => gaussian(&vec![0.0; case.axes], case.sigma, &mut rng),
        };
        let children: Vec<Vec<f64>> = (0..case.batch).map(&mut child).collect();
        for x in children {
            let fitness = 100.0 * (1.0 - x.iter().map(|x| (x - shift) * (x - shift)).sum::<f64>() / worst);
            let measures: Vec<f64> = x.chunks(case.axes / 2).map(|half| half.iter().map(fold).sum()).collect();
            archive.add(x, fitness, &measures);
        }
    }
    Filled { coverage: archive.coverage(), score: archive.qd_score(0.0) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[expect(clippy::print_stderr, reason = "shown with --nocapture only, for who wants the figures")]
fn show(table: &str) {
    eprintln!("{table}");
}

#[test]
fn our_algorithms_are_as_good_as_those_of_others() {
    let cases = cases();
    let theirs = theirs(&cases);
    let (mut table, mut failures) = (String::new(), Vec::new());
    let mut compare = |name: &str, what: &str, ours: f64, theirs: f64, bounds: [f64; 2]| {
        table += &format!("{name:<14} {what:<12} ours {ours:>10.2}  theirs {theirs:>10.2}\n");
        let ratio = ours / theirs;
        if !(bounds[0]..=bounds[1]).contains(&ratio) {
            failures.push(format!("{name}: {what} {ours} against {theirs}"));
        }
    };
    for case in &cases.cma {
        let reach =
            |count: Option<usize>, who| count.unwrap_or_else(|| panic!("{}: {who} did not get there", case.name));
        let ours = case.seeds.iter().map(|&seed| reach(evaluations(case, seed), "ours") as f64).collect();
        let others = theirs.cma[case.name].iter().map(|&count| reach(count, "theirs") as f64).collect();
        compare(case.name, "evaluations", median(ours), median(others), [1.0 / FACTOR, FACTOR]);
    }
    for case in &cases.elites {
        let ours: Vec<Filled> = case.seeds.iter().map(|&seed| fill(case, seed)).collect();
        let theirs = &theirs.elites[case.name];
        let of = |value: fn(&Filled) -> f64| median(ours.iter().map(value).collect());
        compare(case.name, "coverage", of(|filled| filled.coverage), theirs.coverage, [SHARE, 1.0 / SHARE]);
        compare(case.name, "score", of(|filled| filled.score), theirs.score, [SHARE, 1.0 / SHARE]);
    }
    assert!(failures.is_empty(), "{}\n\n{table}", failures.join("\n"));
    show(&table);
}
