//! `rossum robot`: the Robot Simulator.

use std::{
    io::Write,
    net::{SocketAddr, ToSocketAddrs},
};

use anyhow::Context;
use clap::Args;
use evolve::robot::library;
use server::driver::evo::{ROBOT_PORTS, RobotOptions, WORLD_PORTS, WorldAt, serve_robot};

use super::{files, host};
use crate::table::table;

/// Options of `rossum robot`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of a body (see --list), or a file ending in .toml
    #[arg(default_value = "platine")]
    body: String,
    /// List the bodies and fitness scripts that come with the program
    #[arg(long)]
    list: bool,
    /// Say what each neuron and value of the body means, and end
    #[arg(long, conflicts_with = "list")]
    describe: bool,
    /// Print the file of the body, as a start for your own
    #[arg(long, conflicts_with_all = ["list", "describe"])]
    print: bool,
    /// Where the World Simulator listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7770", conflicts_with = "in_process")]
    world: String,
    /// Hold this world in the same process instead, for speed: a name (see `rossum world --list`) or a file
    #[arg(long, value_name = "WORLD")]
    in_process: Option<String>,
    /// What counts instead of the body's own fitness: a name, or a file ending in .toml
    #[arg(long, value_name = "FITNESS")]
    fitness: Option<String>,
    /// Seed of the trials; without: as the body says
    #[arg(long)]
    seed: Option<u64>,
    /// Individuals that are tested at once; without: as the body says
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    concurrent: usize,
    /// Threads that test; without: one for each processor, or one if individuals meet each other or the world is elsewhere
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    threads: usize,
    /// Port for Population Managers
    #[arg(long, default_value_t = ROBOT_PORTS.0, conflicts_with = "free_ports")]
    port: u16,
    #[command(flatten)]
    host: host::Listening,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if options.list {
        return list(out);
    }
    let text = files::body(&options.body)?;
    if options.print {
        return Ok(write!(out, "{text}")?);
    }
    let fitness = options.fitness.as_deref().map(files::fitness).transpose()?;
    let design = files::design(&text, fitness.as_deref(), options.seed)?;
    if options.describe {
        return Ok(write!(out, "{}", design.describe())?);
    }
    let (world_at, where_) = match &options.in_process {
        Some(name) => {
            let plan = files::plan(&files::world(name)?)?;
            let title = plan.title().to_owned();
            (WorldAt::InProcessWorld(plan, options.seed.unwrap_or(1)), format!("in this process: {title}"))
        }
        None => {
            let address = world_address(&options.world)?;
            (WorldAt::Address(address), format!("at tcp {address}; change it with --world"))
        }
    };
    let port = if options.host.free_ports { 0 } else { options.port };
    let settings = RobotOptions { port, threads: options.threads, concurrent: options.concurrent };
    let reception = options.host.reception()?;
    let serve = || Ok(serve_robot(&design, &world_at, &settings, &reception)?);
    let more = format!("  World            {where_}\n\n  fitness: {}\n", design.fitness().title);
    options.host.host(&design.file().title, &more, serve, out)
}

fn world_address(text: &str) -> anyhow::Result<SocketAddr> {
    let mut found =
        host::with_port(text, WORLD_PORTS.0).to_socket_addrs().with_context(|| format!("--world {text}"))?;
    found.next().with_context(|| format!("--world {text}: there is no such host"))
}

fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    let bodies = library::bodies()
        .into_iter()
        .map(|name| Ok([name.clone(), library::body(&name)?.title]))
        .collect::<anyhow::Result<Vec<[String; 2]>>>()?;
    writeln!(out, "{}", table(["body", "what it is"], &bodies))?;
    let scripts = library::scripts()
        .into_iter()
        .map(|name| Ok([name.clone(), library::script(&name)?.title]))
        .collect::<anyhow::Result<Vec<[String; 2]>>>()?;
    Ok(write!(out, "{}", table(["fitness", "what counts"], &scripts))?)
}
