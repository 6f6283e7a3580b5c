//! `rossum serve`.

use std::{io::Write, net::IpAddr, path::PathBuf};

use anyhow::Context;
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use server::{
    Scenario, Server,
    serve::{End, first_screen},
};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tracing::info;
use wire::console::Role;
use world::clock::Pace;

/// What runs when nothing else is asked for.
pub(crate) const DEFAULT_SCENARIO: &str = "playground";

/// Options of `rossum serve`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of a world (see `rossum scenarios`), or path of a scenario file ending in .toml
    #[arg(long, short, default_value = DEFAULT_SCENARIO)]
    scenario: String,
    /// Record the run into this file, for `rossum replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Seed of the first try
    #[arg(long)]
    seed: Option<u64>,
    /// Speed of the simulation
    #[arg(long, value_parser = pace_parser())]
    pace: Option<Pace>,
    /// Address to listen on; other machines also need --allow
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    /// Network that may talk to the server, such as 192.168.1.0/24; may be given several times
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<String>,
    /// Listen on any free ports instead of the scenario's; they are printed
    #[arg(long)]
    free_ports: bool,
    /// Print the addresses as one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Print the whole configuration, with every default, and end
    #[arg(long)]
    print_config: bool,
}

/// The paces and their help.
const PACES: [(Pace, &str); 4] = [
    (Pace::Realtime, "One second of simulation per second"),
    (Pace::Lockstep, "As fast as lockstep clients vote; stands still without them"),
    (Pace::Eager, "As fast as lockstep clients vote; in real time without them"),
    (Pace::Fast, "As fast as the machine allows"),
];

fn pace_parser() -> impl TypedValueParser<Value = Pace> {
    let values = PACES.map(|(pace, help)| PossibleValue::new(pace.name()).help(help));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<Pace>())
}

impl Options {
    fn scenario(&self) -> anyhow::Result<Scenario> {
        let mut scenario = Scenario::load(&self.scenario)?;
        let base = &mut scenario.base;
        base.world.seed = self.seed.unwrap_or(base.world.seed);
        base.world.pace = self.pace.unwrap_or(base.world.pace);
        base.server.bind = self.bind.unwrap_or(base.server.bind);
        for network in &self.allow {
            let parsed =
                network.parse().with_context(|| format!("--allow {network}: not a network like 10.0.0.0/8"))?;
            base.server.allow.push(parsed);
        }
        base.server.free_ports |= self.free_ports;
        scenario.check()?;
        Ok(scenario)
    }
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let scenario = options.scenario()?;
    if options.print_config {
        write!(out, "{}", scenario.to_toml())?;
        return Ok(());
    }
    let world = Hosted { scenario, record: options.record.clone() };
    host(&[world], |worlds, servers| {
        if options.json {
            return Ok(writeln!(out, "{}", as_json(worlds, servers)?)?);
        }
        greet(worlds, servers, out)?;
        Ok(writeln!(out, "Ready. Press ctrl-C to stop; `rossum serve --help` shows what can be changed.")?)
    })
}

/// A world to run.
pub(crate) struct Hosted {
    pub(crate) scenario: Scenario,
    /// Where it is recorded, if it is.
    pub(crate) record: Option<PathBuf>,
}

/// Runs worlds until somebody stops them. What `ready` gives back is kept as long.
pub(crate) fn host<T>(
    worlds: &[Hosted],
    ready: impl FnOnce(&[Hosted], &[Server]) -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    runtime.block_on(async {
        // before anything is begun, so that no signal is missed
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut servers = Vec::new();
        for world in worlds {
            servers.push(Server::start(&world.scenario, world.record.as_deref()).await?);
        }
        let kept = ready(worlds, &servers)?;
        let mut ends: JoinSet<_> = servers.iter().map(Server::ended).collect();
        let outcome = tokio::select! {
            _ = interrupt.recv() => {
                info!("ctrl-C: stopping");
                Ok(())
            }
            _ = terminate.recv() => {
                info!("asked to end: stopping");
                Ok(())
            }
            Some(ended) = ends.join_next() => match ended {
                Ok(End::Asked(by)) => {
                    info!("{by} asked to end: stopping");
                    Ok(())
                }
                _ => Err(anyhow::anyhow!("the world ended by itself; the log says why")),
            },
        };
        drop(kept);
        let stopped: JoinSet<_> = servers.into_iter().map(Server::stop).collect();
        stopped.join_all().await;
        outcome
    })
}

pub(crate) fn as_json(worlds: &[Hosted], servers: &[Server]) -> anyhow::Result<serde_json::Value> {
    let addresses: Vec<_> = servers.iter().flat_map(Server::addresses).collect();
    let title = worlds.first().map(|world| world.scenario.base.title.as_str());
    let link = |role| servers.first().map(|server| server.console(role));
    let (console, viewer) = (link(Role::Operator), link(Role::Viewer));
    let addresses = serde_json::to_value(addresses)?;
    Ok(serde_json::json!({ "title": title, "console": console, "viewer": viewer, "addresses": addresses }))
}

pub(crate) fn greet(worlds: &[Hosted], servers: &[Server], out: &mut dyn Write) -> anyhow::Result<()> {
    for (world, server) in worlds.iter().zip(servers) {
        writeln!(out, "{}", first_screen(&world.scenario.base.title, server.addresses()))?;
        if let Some(path) = &world.record {
            writeln!(out, "  recording to {}\n", path.display())?;
        }
        writeln!(out, "Open    {}", server.console(Role::Operator))?;
        writeln!(out, "Watch   {}\n", server.console(Role::Viewer))?;
    }
    Ok(())
}
