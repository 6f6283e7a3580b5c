//! Listening and shutdown of the two servers of the evolving robots.

use std::{io::Write, net::IpAddr};

use anyhow::Context;
use clap::Args;
use server::{
    address::first_screen,
    driver::evo::{ListenOptions, StandaloneServer},
};
use tokio::signal::unix::{SignalKind, signal};
use tracing::info;

/// Options of a server.
#[derive(Debug, Args)]
pub(super) struct ListenFlags {
    /// Address to listen on; other machines also need --allow
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// Network that may connect, such as 192.168.1.0/24; repeatable
    #[arg(long, value_name = "NETWORK")]
    allow: Vec<String>,
    /// Use the next free port if the port is in use
    #[arg(long)]
    port_auto: bool,
    /// Listen on any free port and print it
    #[arg(long, conflicts_with = "port_auto")]
    pub(super) free_ports: bool,
    /// Print the addresses as one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

impl ListenFlags {
    pub(super) fn listen_options(&self) -> anyhow::Result<ListenOptions> {
        let network = |network: &String| {
            network.parse().with_context(|| format!("--allow {network}: expected a network like 10.0.0.0/8"))
        };
        let allow = self.allow.iter().map(network).collect::<anyhow::Result<_>>()?;
        Ok(ListenOptions { bind: self.bind, allow, next_free: self.port_auto, ..ListenOptions::default() })
    }

    /// Prints the server's addresses and runs it until a signal stops it.
    pub(super) fn host(
        &self,
        title: &str,
        more: &str,
        serve: impl FnOnce() -> anyhow::Result<StandaloneServer>,
        out: &mut dyn Write,
    ) -> anyhow::Result<()> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            // first, so that no signal is missed
            let mut interrupt = signal(SignalKind::interrupt())?;
            let mut terminate = signal(SignalKind::terminate())?;
            let served = serve()?;
            if self.json {
                let greeting = serde_json::json!({ "title": title, "addresses": served.addresses() });
                writeln!(out, "{greeting}")?;
            } else {
                write!(out, "{}", first_screen(title, served.addresses()))?;
                writeln!(out, "{more}\nReady. Press ctrl-C to stop.")?;
            }
            out.flush()?;
            tokio::select! {
                _ = interrupt.recv() => info!("ctrl-C: stopping"),
                _ = terminate.recv() => info!("SIGTERM: stopping"),
            }
            served.stop();
            Ok(())
        })
    }
}
