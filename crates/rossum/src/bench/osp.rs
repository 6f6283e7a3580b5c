//! `rossum bench osp`: lockstep over OSP against a UDP echo and bare physics, long lists, and ODCP.
//!
//! The clients are plain sockets. Echo and server alternate, so that power saving affects both: waking up a thread
//! dominates the cost of either.

mod load;

use std::{
    io::Write,
    net::UdpSocket,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use library::ModelKind;
use physics::Pose;
use world::{Robot, SessionId, Setup, World, interface::Role};

use self::load::{Echo, Lockstep, Peer};
use super::{Figure, Goal, RoundOptions, bare::BareEngine, median, now, print};
use crate::process::Server;
use crate::{interrupt, table::readable};

/// Length of a step, in s: one physics step, as in the scenario `orcs` and in the original server.
const TIMESTEP: f64 = 0.01;
/// Steps of the bare engine per round.
const BARE_STEPS: u64 = 2_000;
/// Number of variables in the list.
const VARIABLES: usize = 10_000;
/// Number of outstanding requests.
const IN_FLIGHT: usize = 64;

/// Options of `rossum bench osp`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    rounds: RoundOptions,
    /// Run only measurements with this word in their name, such as `eight` or `A-Series`
    #[arg(long, value_name = "WORD")]
    only: Option<String>,
}

impl Options {
    fn block(&self) -> Duration {
        Duration::from_millis(if self.rounds.quick { 300 } else { 1_000 })
    }
}

type Measurement = fn(&Options) -> anyhow::Result<Vec<Figure>>;

const MEASUREMENTS: [(&str, Measurement); 5] = [
    ("rover in lockstep", one_rover),
    ("eight rovers with eight clients", eight_rovers),
    ("A-Series in lockstep", aseries),
    ("ten thousand variables", variables),
    ("ODCP", odcp),
];

pub(super) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let is_selected = |name: &str| options.only.as_ref().is_none_or(|word| name.contains(word));
    let measurements: Vec<_> = MEASUREMENTS.into_iter().filter(|(name, _)| is_selected(name)).collect();
    ensure!(
        !measurements.is_empty(),
        "no such measurement; available: {}",
        MEASUREMENTS.map(|(name, _)| name).join(", ")
    );
    let bar = ProgressBar::new(measurements.len() as u64);
    bar.set_style(ProgressStyle::with_template("{bar:20} {pos}/{len} {elapsed} {msg}")?);
    bar.enable_steady_tick(Duration::from_secs(1));
    let mut figures = Vec::new();
    for (name, measure) in measurements {
        bar.set_message(name);
        figures.extend(measure(options).with_context(|| format!("while measuring {name}"))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    print(&figures, options.rounds.json, out)
}

/// A world with only these robots, stepped by OSP clients.
fn world_of(model: &str, count: usize) -> String {
    let mut text =
        format!("[world]\nfield = \"flat\"\ntimestep = {TIMESTEP}\nsteps_per_tick = 1\npace = \"lockstep\"\n[osp]\n");
    for index in 1..=count {
        let [x, y] = position(index);
        let position = format!("position = [{x:.1}, {y:.1}, 0.0]");
        text.push_str(&format!("[[robot]]\nname = \"R{index}\"\nmodel = \"{model}\"\n{position}\n"));
    }
    text
}

/// Positions outside the walls, apart from each other.
fn position(index: usize) -> [f64; 2] {
    [3.0 + (index % 2) as f64, 0.7 * (index / 2) as f64 - 4.0]
}

/// Rates of OSP steps and of echo round trips, measured alternately.
struct Comparison {
    ratio: f64,
    steps: f64,
    echo: f64,
    p99: Duration,
    /// CPU time of the server per step, in µs.
    cpu: f64,
}

fn compare(options: &Options, scenario: &str, clients: usize) -> anyhow::Result<Comparison> {
    let server = Server::start_text(scenario)?;
    let address = server.address("osp")?;
    let echo = Echo::start()?;
    let mut lockstep = Lockstep::start(address, clients)?;
    // warm up
    lockstep.run(options.block() / 4)?;
    let (mut ratios, mut steps, mut echoes, mut delays, mut total) = (vec![], vec![], vec![], vec![], 0);
    let mut cpu = Duration::ZERO;
    for _ in 0..options.rounds.rounds() {
        let round_trips = echo.run(options.block())?;
        let before = server.cpu_time()?;
        let block = lockstep.run(options.block())?;
        cpu += server.cpu_time()?.saturating_sub(before);
        total += block.steps;
        let rate = block.steps as f64 / block.elapsed.as_secs_f64();
        ratios.push(rate / round_trips);
        steps.push(rate);
        echoes.push(round_trips);
        delays.extend(block.delays);
    }
    lockstep.end()?;
    delays.sort();
    let p99 = delays.get(delays.len() * 99 / 100).copied().unwrap_or_default();
    let cpu = cpu.as_secs_f64() * 1e6 / total.max(1) as f64;
    Ok(Comparison { ratio: median(ratios), steps: median(steps), echo: median(echoes), p99, cpu })
}

impl Comparison {
    fn detail(&self) -> String {
        let Self { steps, echo, cpu, .. } = self;
        format!("{} steps/s, echo {}/s; {cpu:.1} µs server CPU per step", readable(*steps), readable(*echo))
    }
}

fn one_rover(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let compared = compare(options, &world_of("rover", 1), 1)?;
    let bare = bare_physics(options, "rover", 1)?;
    Ok(vec![
        Figure {
            what: "rover, 1 client: steps / echo",
            detail: format!("{}; bare physics {} steps/s", compared.detail(), readable(bare)),
            value: compared.ratio,
            goal: Goal::AtLeast(0.5),
            unit: "x",
        },
        Figure {
            what: "rover, 1 client: p99 of step latency",
            detail: "request to completed notification".to_owned(),
            value: compared.p99.as_secs_f64() * 1e3,
            goal: Goal::AtMost(1.0),
            unit: "ms",
        },
    ])
}

fn eight_rovers(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let compared = compare(options, &world_of("rover", 8), 8)?;
    let bare = bare_physics(options, "rover", 8)?;
    Ok(vec![Figure {
        what: "8 rovers, 8 clients: steps / echo",
        detail: format!("{}; bare physics {} steps/s; each client is a thread", compared.detail(), readable(bare)),
        value: compared.ratio,
        goal: Goal::AtLeast(0.25),
        unit: "x",
    }])
}

/// For a humanoid the bound is either the physics or the messages, depending on the machine.
fn aseries(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let compared = compare(options, &world_of("aseries", 1), 1)?;
    let bare = bare_physics(options, "aseries", 1)?;
    let (bound, name) = if bare < compared.echo { (bare, "bare physics") } else { (compared.echo, "echo") };
    Ok(vec![Figure {
        what: "A-Series: steps / the smaller of bare physics and echo",
        detail: format!("{}; bare physics {} steps/s; the smaller is {name}", compared.detail(), readable(bare)),
        value: compared.steps / bound,
        goal: Goal::AtLeast(0.7),
        unit: "x",
    }])
}

/// Step rate of the bare engine, with the motion that the clients command.
fn bare_physics(options: &Options, model: &str, count: usize) -> anyhow::Result<f64> {
    let mut setup = Setup::new(library::model(ModelKind::Field, "flat", Path::new(""))?);
    setup.timestep = Some(TIMESTEP);
    let source = library::model(ModelKind::Robot, model, Path::new(""))?;
    for index in 1..=count {
        let [x, y] = position(index);
        setup.robots.push(Robot { name: format!("R{index}"), source: source.clone(), pose: Pose::at(x, y, 0.0) });
    }
    let (mut world, mut bare) = (World::new(&setup)?, BareEngine::new(&setup)?);
    let catalogue = world.catalogue().clone();
    let mut rates = Vec::new();
    for _ in 0..options.rounds.rounds() {
        let (start, mut controls) = (world.sim().state(), Vec::new());
        for step in 0..BARE_STEPS {
            for agent in &catalogue.agents {
                let values = agent.values.iter().filter(|value| value.role == Role::Input);
                let inputs = load::inputs(step).map(f64::from);
                let actions = values.zip(inputs).filter_map(|(value, input)| value.action(input)).collect();
                world.stage(agent.id, SessionId(0), step, actions);
            }
            world.tick();
            controls.push(bare.controls(&world));
        }
        let took = bare.follow(&world, &start, &controls)?;
        rates.push(BARE_STEPS as f64 / took.as_secs_f64());
    }
    Ok(median(rates))
}

fn variables(options: &Options) -> anyhow::Result<Vec<Figure>> {
    // some 450 variables per robot
    let server = Server::start_text(&world_of("T1", 24))?;
    let mut peer = Peer::connect(server.address("osp")?)?;
    let (mut times, mut lost, mut count) = (Vec::new(), 0, 0);
    for _ in 0..options.rounds.rounds() {
        let began = now();
        let counts = peer.list_variables(".*")?;
        times.push(now().duration_since(began).as_secs_f64() * VARIABLES as f64 / counts.announced as f64);
        lost += counts.announced - counts.received;
        count = counts.announced;
    }
    ensure!(count >= VARIABLES, "the world has only {count} variables");
    Ok(vec![
        Figure {
            what: "list of 10,000 variables",
            detail: format!("{count} variables match `.*`, default buffers, median, scaled to 10,000"),
            value: median(times),
            goal: Goal::AtMost(1.0),
            unit: "s",
        },
        Figure {
            what: "lost variables",
            detail: format!("of {} times {count}", options.rounds.rounds()),
            value: lost as f64,
            goal: Goal::AtMost(0.0),
            unit: "",
        },
    ])
}

fn odcp(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let server = Server::start("small")?;
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    socket.connect(server.address("odcp:Rover")?)?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let (mut rates, mut lost) = (Vec::new(), 0);
    for _ in 0..options.rounds.rounds() {
        let (asked, answered, took) = get_motors(&socket, options.block())?;
        rates.push(answered as f64 / took.as_secs_f64());
        lost += asked - answered;
    }
    Ok(vec![
        Figure {
            what: "ODCP: get-motors throughput",
            detail: format!("{IN_FLIGHT} in flight"),
            value: median(rates),
            goal: Goal::AtLeast(50_000.0),
            unit: "/s",
        },
        Figure {
            what: "ODCP: lost requests",
            detail: "of all of the above".to_owned(),
            value: lost as f64,
            goal: Goal::AtMost(0.0),
            unit: "",
        },
        Figure {
            what: "ODCP: motor command to motion",
            detail: "ticks, in lockstep over OSP".to_owned(),
            value: f64::from(load::ticks_to_motion(&server)?),
            goal: Goal::AtMost(1.0),
            unit: "",
        },
    ])
}

/// The number of requests and of answers, with [`IN_FLIGHT`] requests outstanding, and the elapsed time.
fn get_motors(socket: &UdpSocket, block: Duration) -> anyhow::Result<(u64, u64, Duration)> {
    let began: Instant = now();
    let (mut asked, mut answered) = (0_u64, 0_u64);
    let mut buffer = [0; 64];
    loop {
        let is_over = now().duration_since(began) >= block;
        while !is_over && asked - answered < IN_FLIGHT as u64 {
            socket.send(&[150])?;
            asked += 1;
        }
        if answered == asked || socket.recv(&mut buffer).is_err() {
            return Ok((asked, answered, now().duration_since(began)));
        }
        answered += 1;
    }
}
