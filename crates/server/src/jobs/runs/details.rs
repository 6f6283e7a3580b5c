//! The details of a run: its generations, the net of an individual, and the replay of its trials.

use std::path::Path;

use arena::{
    Body, Plan,
    plan::{ARENA_SIZE, Patch},
};
use evolve::{
    NetParameters,
    robot::{
        Net, NetSpec, Trace,
        body::InternalInput,
        net::{ParameterKind, ParameterSpec, Transfer},
        trace,
    },
    run::{
        self, Best, FolderError, Generation, LocalSite, Record, RunConfig, Status,
        coevolution::{self, Population},
    },
};
use wire::console::{
    ArenaKind, ArenaPlan, ArenaPolygon, Net as NetCard, PopulationDetail, Replay, ReplayRobot, RunDetail, TrialPath,
    Weight,
};

use super::RunsError;

/// About the maximum number of generations sent.
const MAX_GENERATIONS: usize = 2_000;
/// Maximum number of positions of all robots of a replay.
const MAX_STEPS: usize = 20_000;
/// Maximum number of beams of a replay; it limits the positions.
const MAX_BEAMS: usize = 400_000;
/// Maximum number of weights sent: the strongest.
const MAX_WEIGHTS: usize = 5_000;

/// Thickness of the walls around an arena, in mm.
const WALL: f64 = 20.0;
/// Low ground is dark, high ground light; this height difference, in mm, would go from black to white.
const SHADES: f64 = 500.0;

pub(super) fn detail(name: &str, folder: &Path) -> Result<RunDetail, FolderError> {
    let populations = match coevolution::read(folder)? {
        Some(populations) => {
            let learnt = coevolution::learnt(folder).unwrap_or_default();
            let of = |(population, learnt): (&Population, String)| {
                // a fitness that depends on the others has no best so far
                let last = population.record.history.last().map_or(0, |last| last.generation);
                let best = run::read_best_of(&folder.join(&population.name), last).ok();
                self::population(&population.name, &population.record, best.as_ref(), learnt)
            };
            populations.iter().zip(learnt).map(of).collect()
        }
        None => {
            let record = run::read(folder)?;
            let learnt = run::learnt(folder, &record).unwrap_or_default();
            vec![population("", &record, record.best.as_ref(), learnt)]
        }
    };
    Ok(RunDetail { name: name.to_owned(), populations })
}

fn population(name: &str, record: &Record, best: Option<&Best>, learnt: String) -> PopulationDetail {
    let history = run::thinned(&record.history, MAX_GENERATIONS);
    let each = |value: fn(&Generation) -> f64| history.clone().map(value).collect();
    PopulationDetail {
        population: name.to_owned(),
        generations: history.clone().map(|line| line.generation).collect(),
        best: each(|line| line.best),
        mean: each(|line| line.mean),
        worst: each(|line| line.worst),
        best_so_far: each(|line| line.best_so_far),
        diversity: each(|line| line.diversity),
        learnt,
        net: best.and_then(|best| net(&record.config, best)),
    }
}

/// The net of an individual; `None` if it does not fit the run's parameters.
fn net(config: &RunConfig, best: &Best) -> Option<NetCard> {
    let local = config.site.local().ok().flatten();
    let spec = local.as_ref().map_or_else(|| anonymous(&config.parameters), |local| local.design.net().clone());
    let net = Net::new(&spec, &best.genotype).ok()?;
    let (inputs, outputs, hidden) = (spec.parameters.inputs, spec.parameters.outputs, best.genotype.hidden);
    // the console numbers outputs after the hidden neurons
    let neuron = |nth: usize| if nth < outputs { inputs + hidden + nth } else { inputs + nth - outputs };
    let mut weights: Vec<Weight> = net
        .connections()
        .map(|(from, to, weight)| {
            let from = from.checked_sub(inputs).map_or(from, neuron);
            Weight { from, to: neuron(to), weight }
        })
        .collect();
    if weights.len() > MAX_WEIGHTS {
        weights.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
        weights.truncate(MAX_WEIGHTS);
    }
    let numbered = |what: &str, count: usize| (1..=count).map(|nth| format!("{what} {nth}")).collect();
    let (input_names, output_names) = match &local {
        Some(local) => neuron_names(local),
        None => (numbered("input", inputs), numbered("output", outputs)),
    };
    Some(NetCard {
        generation: best.generation,
        individual: best.individual,
        fitness: best.fitness,
        inputs: input_names,
        hidden,
        outputs: output_names,
        weights,
    })
}

/// Names of the input and output neurons.
fn neuron_names(local: &LocalSite) -> (Vec<String>, Vec<String>) {
    let file = local.design.file();
    let sensors = file.sensors.iter().map(|sensor| sensor.name.clone());
    let inputs = sensors.chain(file.inputs.iter().map(|input| internal_input_name(*input).to_owned())).collect();
    let head = file.head.as_ref().map(|_| "head");
    (inputs, ["left wheel", "right wheel"].into_iter().chain(head).map(str::to_owned).collect())
}

fn internal_input_name(input: InternalInput) -> &'static str {
    match input {
        InternalInput::Constant => "constant",
        InternalInput::Bumper => "bumper",
        InternalInput::Stress => "stress",
        InternalInput::Death => "death",
        InternalInput::TiltS => "tilt ahead",
        InternalInput::TiltC => "tilt across",
        InternalInput::CompassX => "compass x",
        InternalInput::CompassY => "compass y",
        InternalInput::OdometryLeft => "left speed",
        InternalInput::OdometryRight => "right speed",
        InternalInput::Head => "head angle",
    }
}

/// The nets of a remote Robot Simulator. The meaning of their values is unknown except for the weight, which comes first.
fn anonymous(parameters: &NetParameters) -> NetSpec {
    let (low, high) = (parameters.weight.low, parameters.weight.high);
    let means = |nth: usize| if nth == 0 { ParameterKind::Weight } else { ParameterKind::Bias };
    NetSpec {
        parameters: parameters.clone(),
        transfer: Transfer::default(),
        dt: 1.0,
        globals: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        hidden: Vec::new(),
        weights: (0..parameters.weight.values).map(|nth| ParameterSpec { means: means(nth), low, high }).collect(),
    }
}

/// Evaluates the best individual of a generation again, or the best of all, and returns the paths of all individuals that
/// meet. Of two populations, the best ones of a generation, or of the last one, meet.
pub(super) fn replay(name: &str, folder: &Path, generation: Option<u64>) -> Result<Replay, RunsError> {
    if coevolution::names(folder)?.is_some() {
        let (rivals, bests) = coevolution::bests(folder, generation)?;
        let sites = rivals.sites();
        let traces = trace(rivals.duel(bests.each_ref(), positions(sites.iter()))?)?;
        let robots = traces.iter().zip(sites).zip(rivals.names().iter().zip(rivals.kinds()));
        let robots = robots.map(|((trace, site), (population, kind))| robot(population, site, kind, trace)).collect();
        return Ok(replay_of(name, bests[0].generation, &sites[0], robots));
    }
    let Status { config, best, .. } = run::read_status(folder)?;
    let best = match generation {
        Some(generation) => run::read_best_of(folder, generation)?,
        None => best.ok_or_else(|| RunsError::NoGeneration(name.to_owned()))?,
    };
    let site = config.site.local()?.ok_or(RunsError::NotLocal)?;
    let (encounter, place) = site.encounter(&best, positions(std::iter::repeat_n(&site, best.companions.len() + 1)))?;
    let mut traces = trace(encounter)?;
    // the individual itself is the first one
    traces[..=place].rotate_right(1);
    let robots = traces.iter().map(|trace| robot("", &site, 0, trace)).collect();
    Ok(replay_of(name, best.generation, &site, robots))
}

/// Number of positions that are recorded of each of these robots.
fn positions<'a>(sites: impl Iterator<Item = &'a LocalSite> + Clone) -> usize {
    let beams: usize = sites.clone().map(|site| site.design.file().sensors.len()).sum();
    (MAX_STEPS / sites.count().max(1)).min(MAX_BEAMS / beams.max(1))
}

fn robot(population: &str, site: &LocalSite, kind: usize, trace: &Trace) -> ReplayRobot {
    ReplayRobot {
        population: population.to_owned(),
        colour: hex(site.world.ports().get(kind).map_or([0; 3], |port| port.color.0)),
        fitness: trace.outcome.fitness,
        shape: shape(site.design.shape()),
        trials: trials(trace),
    }
}

fn replay_of(run: &str, generation: u64, site: &LocalSite, robots: Vec<ReplayRobot>) -> Replay {
    let step_seconds = site.design.file().trial.dt;
    Replay { run: run.to_owned(), generation, arena: arena(&site.world), robots, step_seconds }
}

fn trials(Trace { outcome, beams }: &Trace) -> Vec<TrialPath> {
    let mut beams = beams.iter();
    let of_a_trial = outcome.path.chunk_by(|a, b| a.trial == b.trial);
    of_a_trial
        .map(|points| TrialPath {
            steps: points
                .iter()
                .map(|point| &point.position)
                .map(|at| (metres(at.x), metres(at.y), rounded(at.dir), at.stress > 0.0))
                .collect(),
            died: points.last().is_some_and(|point| point.position.death),
            beams: beams
                .by_ref()
                .take(points.len())
                .map(|beams| beams.iter().map(|beam| beam.map(metres)).collect())
                .collect(),
        })
        .collect()
}

/// The outline of a robot that faces along x.
fn shape(body: &Body) -> Vec<[f64; 2]> {
    // the body's +y points forward; the largest polygon approximates the plan view
    let span = |polygon: &[[f64; 2]]| {
        let next = polygon.iter().cycle().skip(1);
        polygon.iter().zip(next).map(|([ax, ay], [bx, by])| ax * by - bx * ay).sum::<f64>().abs()
    };
    let polygons = body.layers().iter().flat_map(|layer| &layer.polygons);
    let largest = polygons.max_by(|a, b| span(a).total_cmp(&span(b)));
    largest.into_iter().flatten().map(|&[x, y]| [metres(y), metres(-x)]).collect()
}

/// The plan view of an arena.
fn arena(plan: &Plan) -> ArenaPlan {
    let square = |margin: f64| {
        let (low, high) = (-margin, ARENA_SIZE + margin);
        vec![[low, low], [high, low], [high, high], [low, high]]
    };
    let mut polygons = Vec::new();
    let mut add = |points: &[[f64; 2]], kind: ArenaKind, color: [u8; 3], height: f64| {
        let points = points.iter().map(|point| point.map(metres)).collect();
        polygons.push(ArenaPolygon { points, kind, colour: hex(color), height: metres(height) });
    };
    let (walls, floor) = (plan.walls(), plan.floor());
    add(&square(WALL), ArenaKind::Obstacle, walls.color.0, walls.height);
    add(&square(0.0), ArenaKind::Ground, floor.color.0, 0.0);
    for area in &floor.areas {
        area.outline.iter().for_each(|outline| add(outline, ArenaKind::Ground, area.color.0, 0.0));
    }
    for patch in plan.patches() {
        let (color, height) = terrain(patch);
        add(&patch.outline, ArenaKind::Terrain, color, height);
    }
    plan.deathly().iter().for_each(|outline| add(outline, ArenaKind::Deadly, [127, 29, 29], 0.0));
    for obstacle in plan.obstacles() {
        obstacle.outline.iter().for_each(|outline| add(outline, ArenaKind::Obstacle, obstacle.color.0, obstacle.high));
    }
    let title = plan.title().split(':').next().unwrap_or_default().to_owned();
    let [low, high] = [metres(-WALL), metres(ARENA_SIZE + WALL)];
    ArenaPlan { title, bounds: [low, low, high, high], polygons }
}

/// Colour and mean height of a patch of ground.
fn terrain(patch: &Patch) -> ([u8; 3], f64) {
    let mean = patch.heights.iter().sum::<f64>() / patch.heights.len().max(1) as f64;
    let base = patch.color.map_or([214, 205, 186], |color| color.0);
    let shade = (1.0 + mean / SHADES).clamp(0.55, 1.25);
    (base.map(|part| (f64::from(part) * shade).clamp(0.0, 255.0) as u8), mean)
}

fn hex([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// From mm to m, rounded to a tenth of a mm.
fn metres(millimetres: f64) -> f64 {
    rounded(millimetres / 1000.0)
}

/// Rounded to four decimal places, to keep the message short.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}
