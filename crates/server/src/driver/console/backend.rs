//! Facts about the server that the console shows in addition to the world.

use std::{fs, net::SocketAddr};

use session::console::{Backend, ConnectedClient};
use wire::console::{Address, Component, Gauge, LogLine};
use world::Snapshot;

use crate::{
    address::{self, Endpoints},
    driver::admission::Admission,
    health::Health,
    jobs::{Demo, Runs},
    log_buffer::LOG_BUFFER,
    metrics::METRICS,
    protocol::evo::{self, Simulators},
    sim_thread::{STANDSTILL, SimHandle},
    user_data::SavedItems,
};

/// The parts of the server that the console shows.
#[derive(Debug)]
pub(crate) struct ServerBackend {
    pub(crate) sim: SimHandle,
    pub(crate) health: Health,
    pub(crate) endpoints: Endpoints,
    pub(crate) admission: Admission,
    pub(crate) runs: Runs,
    pub(crate) demo: Demo,
    pub(crate) saved: SavedItems,
    /// File that the world is recorded to.
    pub(crate) recording: Option<String>,
}

impl ServerBackend {
    fn recorder(&self) -> Component {
        match &self.recording {
            None => component("recorder", true, "off; `rossum serve --record FILE` records".to_owned()),
            Some(file) if METRICS.recordings_ended_early.get() > 0 => {
                component("recorder", false, format!("recording to {file} ended early; see the log"))
            }
            Some(file) => component("recorder", true, format!("recording to {file}")),
        }
    }
}

impl Backend for ServerBackend {
    fn failure(&self) -> Option<String> {
        self.sim.failure()
    }

    fn clients(&self) -> Vec<ConnectedClient> {
        let clients = self.sim.roster().clients().into_iter();
        clients
            .map(|(session, client)| ConnectedClient {
                session,
                protocol: client.protocol,
                peer: client.peer,
                role: client.role,
            })
            .collect()
    }

    fn standalone_clients(&self) -> Vec<(u64, &'static str, SocketAddr)> {
        let protocol = evo::PROTOCOL.name;
        self.admission.connections(protocol).into_iter().map(|(number, peer)| (number, protocol, peer)).collect()
    }

    fn health(&self) -> Vec<Component> {
        let failure = self.failure();
        let physics = failure.as_ref().map_or_else(|| "runs".to_owned(), |cause| format!("{STANDSTILL}: {cause}"));
        let mut components = vec![
            component("physics", failure.is_none(), physics),
            component("ports", true, format!("{} listening", self.endpoints.all().len())),
            self.recorder(),
        ];
        let parts = self.health.components().into_iter();
        components.extend(parts.map(|(name, condition)| component(name, condition.works, condition.words)));
        components
    }

    fn gauges(&self, world: &Snapshot) -> Vec<Gauge> {
        let performance = world.performance;
        let mut gauges = vec![
            gauge("Ticks per second", "1/s", performance.ticks_per_second, "Simulation speed"),
            gauge("Tick time", "ms", performance.tick_time * 1e3, "Wall time of the last tick"),
        ];
        let ms = |seconds: f64| seconds * 1e3;
        let tick_time = METRICS.tick_time.quantile(0.99);
        let lateness = METRICS.lateness.quantile(0.99);
        let tick_help = "99 % of ticks since the start took at most this long";
        gauges.extend(tick_time.map(|seconds| gauge("Tick time, p99", "ms", ms(seconds), tick_help)));
        let late_help = "99 % of ticks in real time began at most this late";
        gauges.extend(lateness.map(|seconds| gauge("Tick lateness, p99", "ms", ms(seconds), late_help)));
        gauges.extend(memory().map(|bytes| gauge("Memory", "MB", bytes / 1e6, "Resident memory of this process")));
        let counts = [
            ("Pending commands", METRICS.inbox.get(), "Handled by the world before its last tick"),
            ("Overruns", METRICS.overruns.get(), "Times the world fell behind real time"),
            ("Faults", METRICS.faults.get(), "Simulation faults that were recovered from"),
            ("Dropped sessions", METRICS.sessions_dropped.get(), "Clients that did not keep up"),
            ("Refusals", METRICS.refusals.total(), "Refused requests"),
            ("Datagrams", METRICS.datagrams.total(), "Datagrams received"),
        ];
        gauges.extend(counts.map(|(name, count, help)| gauge(name, "", count as f64, help)));
        let clients = self.sim.roster().clients().iter().filter(|(_, client)| client.peer.is_some()).count();
        gauges.push(gauge("Clients", "", clients as f64, "Connected now"));
        gauges
    }

    fn log_since(&self, number: u64) -> (Vec<LogLine>, u64) {
        LOG_BUFFER.since(number)
    }

    fn addresses(&self) -> Vec<Address> {
        let shown = |address: &address::Address| {
            let shown = address.reachable.iter().map(|reachable| Address {
                title: address.title.clone(),
                kind: address.kind.to_owned(),
                address: reachable.to_string(),
            });
            shown.collect::<Vec<_>>()
        };
        self.endpoints.all().iter().flat_map(shown).collect()
    }

    fn runs_version(&self) -> u64 {
        self.runs.version() + self.endpoints.simulators.as_ref().map_or(0, Simulators::version)
    }

    fn demo(&self) -> Option<(u8, String)> {
        self.demo.state()
    }

    fn saved_version(&self) -> u64 {
        self.saved.version()
    }

    fn saved_since(&self, version: u64) -> Vec<(String, serde_json::Value)> {
        self.saved.since(version)
    }
}

fn component(name: &str, works: bool, words: String) -> Component {
    Component { name: name.to_owned(), works, words }
}

fn gauge(name: &str, unit: &str, value: f64, help: &str) -> Gauge {
    Gauge { name: name.to_owned(), unit: unit.to_owned(), value, help: help.to_owned() }
}

/// Resident memory of this process, in bytes.
fn memory() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0)
}
