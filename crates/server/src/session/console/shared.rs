//! What all browsers of one server share.

use std::{
    collections::BTreeMap,
    fs,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use axum::body::Bytes;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wire::console::{Address, Component, EvolutionInfo, Gauge, Message, PuppetInfo};
use world::Snapshot;

use super::{puppet, scene};
use crate::{
    backstage::{Demo, Films, Runs},
    driver::stream::Doors,
    health::Health,
    limits,
    session::oz::Desk,
    sim_thread::{STANDSTILL, SimHandle},
    user_data::SavedItems,
};

/// What browsers are shown besides the world, and what they can have done.
#[derive(Debug)]
pub struct SharedParts {
    /// Of the scenario.
    pub title: String,
    /// Simulated seconds of a tick.
    pub tick_seconds: f64,
    /// Everything that listens.
    pub addresses: Vec<Address>,
    /// The world.
    pub sim: SimHandle,
    /// What sets its speed, in a word.
    pub pace: String,
    /// How the parts are doing.
    pub health: Health,
    /// What is counted.
    pub metrics: PrometheusHandle,
    /// Connections of the protocols that have worlds of their own, too.
    pub doors: Doors,
    /// The puppet's, if there is one.
    pub desk: Option<Desk>,
    /// Evolutionary runs.
    pub runs: Runs,
    /// What of it this server offers, if it does.
    pub evolution: Option<EvolutionInfo>,
    /// The demo game.
    pub demo: Demo,
    /// Recordings and logs.
    pub films: Films,
    /// What operators save.
    pub saved_items: SavedItems,
    /// File of the recording that is being made.
    pub recording: Option<String>,
}

/// [`SharedParts`], and what is worked out once for all browsers.
#[derive(Debug)]
pub struct Shared {
    parts: SharedParts,
    /// What a desk has to know.
    pub(super) puppet: Option<PuppetInfo>,
    /// The last poses that somebody looked at, and where they are from.
    poses: Mutex<Option<(Arc<Snapshot>, Bytes)>>,
    /// The last scene, with its generation.
    scene: Mutex<Option<(u64, Arc<str>)>>,
    /// Variables that all browsers together observe.
    observed: AtomicUsize,
    /// Room for what takes time, for all browsers together.
    errands: Arc<Semaphore>,
}

impl std::ops::Deref for Shared {
    type Target = SharedParts;

    fn deref(&self) -> &SharedParts {
        &self.parts
    }
}

fn hold<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    /// Puts together what browsers share.
    pub fn new(parts: SharedParts) -> Self {
        let puppet = parts.desk.as_ref().and_then(|desk| match puppet::info(desk) {
            Ok(info) => Some(info),
            Err(why) => {
                tracing::warn!("the console does without the puppet: {why}");
                None
            }
        });
        Self {
            parts,
            puppet,
            poses: Mutex::default(),
            scene: Mutex::default(),
            observed: AtomicUsize::new(0),
            errands: Arc::new(Semaphore::new(limits::CONSOLE_ERRANDS_TOGETHER)),
        }
    }

    /// Whether a browser that observes so many variables may observe so many instead.
    pub(super) fn may_observe(&self, before: usize, wanted: usize) -> bool {
        wanted <= before
            || self.observed.load(Ordering::Relaxed) + (wanted - before) <= limits::CONSOLE_OBSERVED_TOGETHER
    }

    /// A browser that observed so many variables now observes so many.
    pub(super) fn note_observed(&self, before: usize, now: usize) {
        self.observed.fetch_add(now, Ordering::Relaxed);
        self.observed.fetch_sub(before, Ordering::Relaxed);
    }

    /// Room for something that takes time, if there is any.
    pub(crate) fn room_for_errand(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.errands).try_acquire_owned().ok()
    }

    /// The poses of a snapshot, as a frame. Browsers that look at the same time get the same one.
    pub(super) fn poses(&self, world: &Arc<Snapshot>) -> Bytes {
        let mut poses = hold(&self.poses);
        match poses.as_ref() {
            Some((of, frame)) if Arc::ptr_eq(of, world) => frame.clone(),
            _ => {
                let frame = Bytes::from(scene::poses(world));
                *poses = Some((Arc::clone(world), frame.clone()));
                frame
            }
        }
    }

    /// How the world looks, as text.
    pub(super) fn scene(&self, world: &Snapshot) -> Arc<str> {
        let generation = world.catalogue.generation;
        let mut kept = hold(&self.scene);
        match kept.as_ref() {
            Some((of, text)) if *of == generation => Arc::clone(text),
            _ => {
                let text: Arc<str> = Message::Scene(scene::scene(&world.catalogue)).to_text().into();
                *kept = Some((generation, Arc::clone(&text)));
                text
            }
        }
    }

    /// How all parts are doing.
    pub(super) fn parts(&self) -> Vec<Component> {
        let part = |name: &str, works: bool, words: String| Component { name: name.to_owned(), works, words };
        let failure = self.sim.failure();
        let physics = failure.as_ref().map_or_else(|| "runs".to_owned(), |cause| format!("{STANDSTILL}: {cause}"));
        let recorder = match &self.recording {
            None => part("recorder", true, "off; `rossum serve --record FILE` records".to_owned()),
            Some(file) if counted(&self.metrics.render(), "rossum_recordings_ended_early_total") > 0.0 => {
                part("recorder", false, format!("{file} could not be written to the end; the log says why"))
            }
            Some(file) => part("recorder", true, format!("writes {file}")),
        };
        let mut parts = vec![
            part("physics", failure.is_none(), physics),
            part("ports", true, format!("{} listen", self.addresses.len())),
            recorder,
        ];
        let said = self.health.components().into_iter().map(|(name, said)| part(name, said.works, said.words));
        parts.extend(said);
        parts
    }

    /// Numbers for people.
    pub(super) fn gauges(&self, world: &Snapshot) -> Vec<Gauge> {
        let text = self.metrics.render();
        let gauge = |name: &str, unit: &str, value: f64, help: &str| Gauge {
            name: name.to_owned(),
            unit: unit.to_owned(),
            value,
            help: help.to_owned(),
        };
        let performance = world.performance;
        let lateness = quantile(&text, "rossum_tick_lateness_seconds", 0.99);
        let tick = quantile(&text, "rossum_tick_seconds", 0.99);
        let mut gauges = vec![
            gauge("Ticks a second", "1/s", performance.ticks_per_second, "How fast the world runs"),
            gauge("Time of a tick", "ms", performance.tick_time * 1e3, "Wall time of the last tick"),
        ];
        let ms = |seconds: f64| seconds * 1e3;
        gauges.extend(tick.map(|s| gauge("Time of 99 % of ticks", "ms", ms(s), "So long or shorter, since the start")));
        gauges.extend(lateness.map(|s| {
            gauge("Lateness of 99 % of ticks", "ms", ms(s), "So late or less, where ticks keep to wall time")
        }));
        gauges.extend(memory().map(|bytes| gauge("Memory", "MB", bytes / 1e6, "Of this process")));
        for (name, metric, help) in [
            ("Waiting commands", "rossum_inbox", "Taken by the world before its last tick"),
            ("Overruns", "rossum_overruns", "Times that the world fell behind real time"),
            ("Faults", "rossum_faults_total", "Times that the simulation failed and was put back"),
            ("Dropped sessions", "rossum_sessions_dropped_total", "Clients that did not keep up"),
            ("Refusals", "rossum_refusals_total", "Requests that were not carried out"),
            ("Datagrams", "rossum_datagrams_total", "Received so far"),
        ] {
            gauges.push(gauge(name, "", counted(&text, metric), help));
        }
        let clients = self.sim.roster().clients().iter().filter(|(_, client)| client.peer.is_some()).count();
        gauges.push(gauge("Clients", "", clients as f64, "Connected now"));
        gauges
    }
}

/// The sum of a metric over its labels.
fn counted(text: &str, metric: &str) -> f64 {
    let value = |line: &str| {
        let rest = line.strip_prefix(metric)?;
        (rest.starts_with(['{', ' '])).then(|| rest.rsplit(' ').next()?.parse::<f64>().ok())?
    };
    text.lines().filter_map(value).sum()
}

/// The smallest bound of a histogram below which this part of its measurements is.
fn quantile(text: &str, metric: &str, part: f64) -> Option<f64> {
    let mut bounds = BTreeMap::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix(metric).and_then(|rest| rest.strip_prefix("_bucket")) else { continue };
        let Some((_, rest)) = rest.split_once("le=\"") else { continue };
        let Some((bound, count)) = rest.split_once("\"}") else { continue };
        let (Ok(bound), Ok(count)) = (bound.parse::<f64>(), count.trim().parse::<f64>()) else { continue };
        // positive floats are in the order of their bits
        bounds.insert(bound.to_bits(), (bound, count));
    }
    let all = bounds.last_key_value().map(|(_, (_, count))| *count).filter(|count| *count > 0.0)?;
    bounds.values().find(|(_, count)| *count >= part * all).map(|(bound, _)| *bound).filter(|bound| bound.is_finite())
}

/// Of this process, in bytes.
fn memory() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes: f64 =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_what_is_counted() {
        let text = "# HELP a_total x\na_total{protocol=\"osp\"} 3\na_total{protocol=\"odcp\"} 4\na_total_more 9\nb 2\n\
                    h_bucket{le=\"0.001\"} 50\nh_bucket{le=\"0.01\"} 99\nh_bucket{le=\"+Inf\"} 100\nh_sum 1\nh_count 100\n";
        assert_eq!((counted(text, "a_total"), counted(text, "b"), counted(text, "c")), (7.0, 2.0, 0.0));
        assert_eq!((quantile(text, "h", 0.5), quantile(text, "h", 0.99)), (Some(0.001), Some(0.01)));
        assert_eq!((quantile(text, "h", 0.999), quantile(text, "a", 0.5)), (None, None));
    }
}
