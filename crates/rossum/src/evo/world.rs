//! `rossum world`: the World Simulator.

use std::{io::Write, path::PathBuf};

use anyhow::{Context, ensure};
use arena::plan::{Isolation, Plan};
use clap::Args;
use server::driver::evo::{WorldOptions, serve_world};

use super::{files, host};
use crate::{output::OverwriteOption, picture, table::table};

/// Options of `rossum world`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of a world (see --list), or a file ending in .toml
    #[arg(default_value = "obstacles")]
    world: String,
    /// List the built-in worlds
    #[arg(long)]
    list: bool,
    /// Print the world file, as a template
    #[arg(long, conflicts_with = "list")]
    print: bool,
    /// Draw the plan view of the world into a file ending in .png or .svg
    #[arg(long, value_name = "FILE", conflicts_with_all = ["list", "print"])]
    picture: Option<PathBuf>,
    /// Port for Robot Simulators, one per kind of robot [default: as in the world file, 7770 and up]
    #[arg(long, value_name = "PORT", value_delimiter = ',', conflicts_with = "free_ports")]
    port: Vec<u16>,
    /// Seed of the initial poses of new robots
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Answer invalid requests instead of closing the connection
    #[arg(long)]
    lenient: bool,
    #[command(flatten)]
    host: host::ListenFlags,
    #[command(flatten)]
    overwrite: OverwriteOption,
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
        return picture::arena::draw(&plan, plan.title(), &summary(&plan), &[])
            .write(file, options.overwrite.existing());
    }
    let kinds = plan.ports().len();
    ensure!(
        options.port.is_empty() || options.port.len() == kinds,
        "--port: the world has {kinds} kinds of robots and needs as many ports"
    );
    let ports = if options.host.free_ports { vec![0; kinds] } else { options.port.clone() };
    let settings = WorldOptions { seed: options.seed, ports, lenient: options.lenient };
    let listen = options.host.listen_options()?;
    let serve = || Ok(serve_world(&plan, &settings, &listen)?);
    let more = format!("\n  {}\n", summary(&plan));
    options.host.host(plan.title(), &more, serve, out)
}

fn list(out: &mut dyn Write) -> anyhow::Result<()> {
    let rows = Plan::names()
        .into_iter()
        .map(|name| {
            let plan = Plan::built_in(&name).context("a built-in world")??;
            Ok([name, plan.title().to_owned()])
        })
        .collect::<anyhow::Result<Vec<[String; 2]>>>()?;
    Ok(write!(out, "{}", table(["world", "description"], &rows))?)
}

/// A one-line summary of a world.
fn summary(plan: &Plan) -> String {
    let rules = plan.rules();
    let isolation = match rules.isolation {
        Isolation::Shared => "all robots meet",
        Isolation::PerConnection => "robots of the same connection meet",
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
