//! `rossum robot`: the Robot Simulator.

use std::io::Write;

use arena::plan::{DirSense, DirZero, Directions};
use clap::Args;
use evolve::robot::library;
use server::driver::evo::{DEFAULT_HOST, ROBOT_PORTS, RemoteWorld, RobotOptions, WorldAt, find_world, serve_robot};

use super::{files, host};
use crate::table::table;

/// Options of `rossum robot`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of a body (see --list), or a file ending in .toml
    #[arg(default_value = "platine")]
    body: String,
    /// List the built-in bodies and fitness scripts
    #[arg(long)]
    list: bool,
    /// Describe each neuron and value of the body, and exit
    #[arg(long, conflicts_with = "list")]
    describe: bool,
    /// Print the body file, as a template
    #[arg(long, conflicts_with_all = ["list", "describe"])]
    print: bool,
    /// Address of the World Simulator; the default port is 7770
    #[arg(long, value_name = "ADDRESS", default_value = DEFAULT_HOST, conflicts_with = "in_process")]
    world: String,
    /// Send requests without waiting for the answers to earlier ones, which is faster. The World Simulator must expect it;
    /// `rossum world` does
    #[arg(long, conflicts_with = "in_process")]
    pipeline: bool,
    /// Axis of the World Simulator at which directions are 0
    #[arg(long, value_enum, default_value_t, allow_hyphen_values = true, conflicts_with = "in_process")]
    dir_zero: Zero,
    /// Sense in which the World Simulator's directions grow, seen from above
    #[arg(long, value_enum, default_value_t, conflicts_with = "in_process")]
    dir_sense: Sense,
    /// Simulate this world in the same process instead, which is faster: a name (see `rossum world --list`) or a file
    #[arg(long, value_name = "WORLD")]
    in_process: Option<String>,
    /// Fitness script instead of the body's own: a name, or a file ending in .toml
    #[arg(long, value_name = "FITNESS")]
    fitness: Option<String>,
    /// Seed of the trials [default: as in the body file]
    #[arg(long)]
    seed: Option<u64>,
    /// Number of concurrent evaluations; 0: as in the body file
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    concurrent: usize,
    /// Number of threads; 0: one per processor, or one if robots meet each other. With a World Simulator but without
    /// --pipeline there is one for each concurrent evaluation
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    threads: usize,
    /// Port for Population Managers
    #[arg(long, default_value_t = ROBOT_PORTS.0, conflicts_with = "free_ports")]
    port: u16,
    #[command(flatten)]
    host: host::ListenFlags,
}

/// An axis of the world.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Zero {
    /// +x
    #[default]
    X,
    /// +y
    Y,
    /// -x
    #[value(name = "-x")]
    MinusX,
    /// -y
    #[value(name = "-y")]
    MinusY,
}

impl From<Zero> for DirZero {
    fn from(zero: Zero) -> Self {
        match zero {
            Zero::X => Self::X,
            Zero::Y => Self::Y,
            Zero::MinusX => Self::MinusX,
            Zero::MinusY => Self::MinusY,
        }
    }
}

/// A sense of rotation.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Sense {
    /// Counter-clockwise
    #[default]
    Ccw,
    /// Clockwise
    Cw,
}

impl From<Sense> for DirSense {
    fn from(sense: Sense) -> Self {
        match sense {
            Sense::Ccw => Self::Ccw,
            Sense::Cw => Self::Cw,
        }
    }
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
    let (world_at, location) = match &options.in_process {
        Some(name) => {
            let plan = files::plan(&files::world(name)?)?;
            let title = plan.title().to_owned();
            (WorldAt::InProcess(plan, options.seed.unwrap_or(1)), format!("in this process: {title}"))
        }
        None => {
            let address = find_world(&options.world).map_err(|error| anyhow::anyhow!("--world {error}"))?;
            let directions = Directions { zero: options.dir_zero.into(), sense: options.dir_sense.into() };
            let remote = RemoteWorld { address, is_pipelined: options.pipeline, directions };
            let hint = if options.pipeline { "" } else { "; --pipeline is faster if it is rossum's" };
            (WorldAt::Remote(remote), format!("at tcp {address}; change it with --world{hint}"))
        }
    };
    let port = if options.host.free_ports { 0 } else { options.port };
    let settings = RobotOptions { port, threads: options.threads, concurrent: options.concurrent };
    let listen = options.host.listen_options()?;
    let serve = || Ok(serve_robot(&design, &world_at, &settings, &listen)?);
    let more = format!("  World            {location}\n\n  fitness: {}\n", design.fitness().title);
    options.host.host(&design.file().title, &more, serve, out)
}

fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    let bodies = library::bodies()
        .into_iter()
        .map(|name| Ok([name.clone(), library::body(&name)?.title]))
        .collect::<anyhow::Result<Vec<[String; 2]>>>()?;
    writeln!(out, "{}", table(["body", "description"], &bodies))?;
    let scripts = library::scripts()
        .into_iter()
        .map(|name| Ok([name.clone(), library::script(&name)?.title]))
        .collect::<anyhow::Result<Vec<[String; 2]>>>()?;
    Ok(write!(out, "{}", table(["fitness", "description"], &scripts))?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Flags {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn addresses_and_ports_have_defaults_and_can_be_chosen() {
        for (flags, port, world) in [
            (&["robot"][..], 7720, "127.0.0.1:7770"),
            (&["robot", "--port", "7733", "--world", "127.0.0.2:7799"], 7733, "127.0.0.2:7799"),
            (&["robot", "--world", "[::1]"], 7720, "[::1]:7770"),
        ] {
            let Options { port: found, world: address, .. } = Flags::try_parse_from(flags).unwrap().options;
            assert_eq!((found, find_world(&address)), (port, Ok(world.parse().unwrap())), "{flags:?}");
        }
    }

    #[test]
    fn directions_are_0_at_any_axis() {
        for (name, expected) in [("x", DirZero::X), ("y", DirZero::Y), ("-x", DirZero::MinusX), ("-y", DirZero::MinusY)]
        {
            let options = Flags::try_parse_from(["robot", "--dir-zero", name]).unwrap().options;
            assert_eq!(DirZero::from(options.dir_zero), expected);
        }
    }
}
