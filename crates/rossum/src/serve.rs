//! `rossum serve`.

use std::{io::Write, net::IpAddr, path::PathBuf};

use anyhow::Context;
use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use physics::Threads;
use server::{Scenario, Server, address::first_screen, serve::End};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinSet,
};
use tracing::info;
use wire::console::Role;
use world::clock::Pace;

use crate::output::OverwriteOption;

pub(crate) const DEFAULT_SCENARIO: &str = "playground";

/// Options of `rossum serve`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Name of a built-in scenario (see `rossum scenarios`), or path of a .toml file
    #[arg(long, short, default_value = DEFAULT_SCENARIO)]
    scenario: String,
    /// Record to this file, for `rossum replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Random seed
    #[arg(long)]
    seed: Option<u64>,
    /// Speed of the simulation
    #[arg(long, value_parser = pace_parser())]
    pace: Option<Pace>,
    /// Address to listen on; access from other machines also needs --allow
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<IpAddr>,
    #[command(flatten)]
    common: CommonOptions,
}

/// Options shared by `rossum serve` and `rossum soccer`.
#[derive(Debug, Args)]
pub(crate) struct CommonOptions {
    /// Network to accept connections from, such as 192.168.1.0/24; repeatable
    #[arg(long, value_name = "NETWORK")]
    pub(crate) allow: Vec<String>,
    /// PEM file of the console's certificate; without one, a self-signed one is created when listening beyond loopback
    #[arg(long, value_name = "FILE", requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// PEM file of the certificate's private key
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// Listen on free ports instead of the configured ones, and print them
    #[arg(long)]
    pub(crate) free_ports: bool,
    /// Print the addresses as one JSON object instead of a table
    #[arg(long)]
    pub(crate) json: bool,
    /// Threads that help with the physics: a number, or `auto` to use idle cores while that is faster. Results do not depend
    /// on it
    #[arg(long, value_name = "COUNT")]
    pub(crate) threads: Option<Threads>,
    #[command(flatten)]
    pub(crate) overwrite: OverwriteOption,
    /// Print the complete configuration, including defaults, and exit
    #[arg(long)]
    pub(crate) print_config: bool,
}

/// The paces and their help.
const PACES: [(Pace, &str); 4] = [
    (Pace::Realtime, "One second of simulation per second"),
    (Pace::Lockstep, "As fast as lockstep clients vote; paused without them"),
    (Pace::Eager, "As fast as lockstep clients vote; in real time without them"),
    (Pace::Fast, "As fast as possible"),
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
        base.world.threads = self.common.threads.unwrap_or(base.world.threads);
        base.server.bind = self.bind.unwrap_or(base.server.bind);
        for network in &self.common.allow {
            let parsed =
                network.parse().with_context(|| format!("--allow {network}: expected a network such as 10.0.0.0/8"))?;
            base.server.allow.push(parsed);
        }
        base.server.free_ports |= self.common.free_ports;
        base.server.overwrite |= self.common.overwrite.is_given();
        if let (Some(certificate), Some(key)) = (&self.common.certificate, &self.common.key) {
            // relative to the working directory, not to the scenario
            base.server.certificate = Some(std::path::absolute(certificate)?);
            base.server.key = Some(std::path::absolute(key)?);
        }
        scenario.check()?;
        Ok(scenario)
    }
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let scenario = options.scenario()?;
    if options.common.print_config {
        write!(out, "{}", scenario.to_toml())?;
        return Ok(());
    }
    let world = ServedWorld { scenario, record: options.record.clone() };
    host(&[world], |worlds, servers| {
        if options.common.json {
            return Ok(writeln!(out, "{}", as_json(worlds, servers)?)?);
        }
        greet(worlds, servers, out)?;
        Ok(writeln!(out, "Ready. Press ctrl-C to stop. Options: `rossum serve --help`")?)
    })
}

pub(crate) struct ServedWorld {
    pub(crate) scenario: Scenario,
    /// Path of the recording, if any.
    pub(crate) record: Option<PathBuf>,
}

/// Serves worlds until they are stopped. The value returned by `ready` is dropped afterwards.
pub(crate) fn host<T>(
    worlds: &[ServedWorld],
    ready: impl FnOnce(&[ServedWorld], &[Server]) -> anyhow::Result<T>,
) -> anyhow::Result<()> {
    let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let outcome = runtime.block_on(async {
        // installed first, so that no signal is missed
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
                info!("interrupted, stopping");
                Ok(())
            }
            _ = terminate.recv() => {
                info!("terminated, stopping");
                Ok(())
            }
            Some(ended) = ends.join_next() => match ended {
                Ok(End::Asked(by)) => {
                    info!("{by} requested shutdown, stopping");
                    Ok(())
                }
                _ => Err(anyhow::anyhow!("the world stopped unexpectedly; see the log")),
            },
        };
        drop(kept);
        let stopped: JoinSet<_> = servers.into_iter().map(Server::stop).collect();
        stopped.join_all().await;
        outcome
    });
    // dropping it would wait for tasks that do not yield
    runtime.shutdown_background();
    outcome
}

pub(crate) fn as_json(worlds: &[ServedWorld], servers: &[Server]) -> anyhow::Result<serde_json::Value> {
    let addresses: Vec<_> = servers.iter().flat_map(Server::addresses).collect();
    let title = worlds.first().map(|world| world.scenario.base.title.as_str());
    let link = |role| servers.first().map(|server| server.console(role));
    let (console, viewer) = (link(Role::Operator), link(Role::Viewer));
    let fingerprint = servers.first().and_then(Server::fingerprint);
    let addresses = serde_json::to_value(addresses)?;
    Ok(serde_json::json!({
        "title": title, "console": console, "viewer": viewer, "fingerprint": fingerprint, "addresses": addresses,
    }))
}

pub(crate) fn greet(worlds: &[ServedWorld], servers: &[Server], out: &mut dyn Write) -> anyhow::Result<()> {
    for (world, server) in worlds.iter().zip(servers) {
        writeln!(out, "{}", first_screen(&world.scenario.base.title, &server.addresses()))?;
        if let Some(path) = &world.record {
            writeln!(out, "  Recording to {}\n", path.display())?;
        }
        writeln!(out, "Open    {}", server.console(Role::Operator))?;
        writeln!(out, "Watch   {}", server.console(Role::Viewer))?;
        if let Some(fingerprint) = server.fingerprint() {
            writeln!(out, "Trust   certificate with SHA-256 fingerprint {fingerprint}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
