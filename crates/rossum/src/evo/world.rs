//! `rossum world`: the World Simulator.

use std::{io::Write, path::PathBuf};

use anyhow::{Context, ensure};
use arena::plan::{Isolation, Plan};
use clap::Args;
use server::driver::evo::{WorldOptions, serve_world};

use super::{files, host};
use crate::{picture, table::table};

/// Options of `rossum world`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of a world (see --list), or a file ending in .toml
    #[arg(default_value = "obstacles")]
    world: String,
    /// List the worlds that come with the program
    #[arg(long)]
    list: bool,
    /// Print the file of the world, as a start for your own
    #[arg(long, conflicts_with = "list")]
    print: bool,
    /// Draw the world from above into a file ending in .png or .svg
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "print"])]
    picture: Option<PathBuf>,
    /// Port for Robot Simulators; one for each kind of robots, if the world has several. Without: as the world says, 7770
    /// and up
    #[arg(long, value_name = "PORT", value_delimiter = ',', conflicts_with = "free_ports")]
    port: Vec<u16>,
    /// Seed of the places where new robots are put
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Answer a request without sense instead of closing the connection
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    host: host::Listening,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if options.list {
        return list(out);
    }
    let text = files::world(&options.world)?;
    if options.print {
        return Ok(write!(out, "{text}")?);
    }
    let plan = files::plan(&text)?;
    if let Some(file) = &options.picture {
        return picture::arena::draw(&plan, plan.title(), &summary(&plan), None, &[]).write(file);
    }
    let kinds = plan.ports().len();
    ensure!(
        options.port.is_empty() || options.port.len() == kinds,
        "--port: the world has {kinds} kinds of robots, which need a port each"
    );
    let ports = if options.host.free_ports { vec![0; kinds] } else { options.port.clone() };
    let settings = WorldOptions { seed: options.seed, ports, lenient: options.lenient };
    let reception = options.host.reception()?;
    let serve = || Ok(serve_world(&plan, &settings, &reception)?);
    let more = format!("\n  {}\n", summary(&plan));
    options.host.host(plan.title(), &more, serve, out)
}

fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    let rows = Plan::names()
        .into_iter()
        .map(|name| {
            let plan = Plan::built_in(&name).context("a world that comes with the program")??;
            Ok([name, plan.title().to_owned()])
        })
        .collect::<anyhow::Result<Vec<[String; 2]>>>()?;
    Ok(write!(out, "{}", table(["world", "what it is"], &rows))?)
}

/// What is in a world, in a line.
fn summary(plan: &Plan) -> String {
    let rules = plan.rules();
    let isolation = match rules.isolation {
        Isolation::Shared => "robots meet each other",
        Isolation::PerConnection => "robots meet those of the same connection",
        Isolation::PerRobot => "each robot is alone",
    };
    let count = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let mut parts = vec![count(plan.obstacles().len(), "obstacle", "obstacles")];
    for (things, one, many) in [
        (plan.patches().len(), "slope or plateau", "slopes and plateaus"),
        (plan.floor().areas.len(), "painted area", "painted areas"),
        (plan.deathly().len(), "deathly area", "deathly areas"),
    ] {
        if things > 0 {
            parts.push(count(things, one, many));
        }
    }
    format!("{}; {isolation}", parts.join(", "))
}
