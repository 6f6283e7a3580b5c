//! Typed counters, gauges and histograms. The console reads their values; `render` writes them for Prometheus.
//!
//! Servers in one process share them.

use std::{
    fmt::Write,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use crate::protocol::PROTOCOLS;

/// All metrics of this process.
pub(crate) static METRICS: Metrics = Metrics::new();

/// Upper bounds of the tick time's buckets, in s.
const TICK_BOUNDS: [f64; 10] = [0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5];
/// Upper bounds of the lateness' buckets, in s.
const LATENESS_BOUNDS: [f64; 8] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02];

/// A number that only grows.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Labels of [`ByProtocol`] that are not in [`PROTOCOLS`]; the last one is for all others.
const OTHER_LABELS: [&str; 3] = ["console", "http", "other"];
const LABELS: usize = PROTOCOLS.len() + OTHER_LABELS.len();

/// A counter for each protocol.
#[derive(Debug)]
pub(crate) struct ByProtocol([Counter; LABELS]);

impl ByProtocol {
    const fn new() -> Self {
        Self([const { Counter::new() }; LABELS])
    }

    fn labels() -> impl Iterator<Item = &'static str> {
        PROTOCOLS.iter().map(|protocol| protocol.name).chain(OTHER_LABELS)
    }

    pub(crate) fn add(&self, protocol: &str, count: u64) {
        let index = Self::labels().position(|label| label == protocol).unwrap_or(LABELS - 1);
        if let Some(counter) = self.0.get(index) {
            counter.add(count);
        }
    }

    /// The sum over all protocols.
    pub(crate) fn total(&self) -> u64 {
        self.0.iter().map(Counter::get).sum()
    }
}

/// A number that goes up and down.
#[derive(Debug)]
pub(crate) struct Gauge(AtomicU64);

impl Gauge {
    const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Measurements of time by bucket.
#[derive(Debug)]
pub(crate) struct Histogram<const N: usize> {
    /// Upper bounds, in s, ascending.
    bounds: [f64; N],
    buckets: [Counter; N],
    above: Counter,
    sum_ns: Counter,
}

impl<const N: usize> Histogram<N> {
    const fn new(bounds: [f64; N]) -> Self {
        let (above, sum_ns) = (Counter::new(), Counter::new());
        Self { bounds, buckets: [const { Counter::new() }; N], above, sum_ns }
    }

    pub(crate) fn record(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let index = self.bounds.iter().position(|bound| seconds <= *bound);
        index.and_then(|index| self.buckets.get(index)).unwrap_or(&self.above).add(1);
        self.sum_ns.add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Upper bounds, each with the number of measurements up to it.
    fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        self.bounds.iter().zip(&self.buckets).scan(0, |sum, (bound, bucket)| {
            *sum += bucket.get();
            Some((*bound, *sum))
        })
    }

    fn count(&self) -> u64 {
        self.above.get() + self.buckets.iter().map(Counter::get).sum::<u64>()
    }

    /// The smallest bound, in s, below which this share of the measurements is; none without such a bound.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = share * self.count() as f64;
        self.cumulative().find(|(_, count)| wanted > 0.0 && *count as f64 >= wanted).map(|(bound, _)| bound)
    }
}

/// See [`METRICS`].
#[derive(Debug)]
pub(crate) struct Metrics {
    pub(crate) tick_time: Histogram<10>,
    /// How late ticks begin in real time.
    pub(crate) lateness: Histogram<8>,
    pub(crate) inbox: Gauge,
    pub(crate) overruns: Gauge,
    pub(crate) faults: Counter,
    failed: AtomicBool,
    pub(crate) sessions_dropped: Counter,
    pub(crate) recordings_ended_early: Counter,
    pub(crate) refusals: ByProtocol,
    pub(crate) datagrams: ByProtocol,
    pub(crate) rate_limited: ByProtocol,
    pub(crate) lines: ByProtocol,
    pub(crate) evictions: ByProtocol,
    pub(crate) accept_failures: ByProtocol,
    pub(crate) held_bytes: Gauge,
    pub(crate) evo_robots: Gauge,
    pub(crate) evo_individuals: Counter,
}

impl Metrics {
    const fn new() -> Self {
        Self {
            tick_time: Histogram::new(TICK_BOUNDS),
            lateness: Histogram::new(LATENESS_BOUNDS),
            inbox: Gauge::new(),
            overruns: Gauge::new(),
            faults: Counter::new(),
            failed: AtomicBool::new(false),
            sessions_dropped: Counter::new(),
            recordings_ended_early: Counter::new(),
            refusals: ByProtocol::new(),
            datagrams: ByProtocol::new(),
            rate_limited: ByProtocol::new(),
            lines: ByProtocol::new(),
            evictions: ByProtocol::new(),
            accept_failures: ByProtocol::new(),
            held_bytes: Gauge::new(),
            evo_robots: Gauge::new(),
            evo_individuals: Counter::new(),
        }
    }

    /// The simulation has failed or runs again.
    pub(crate) fn set_failed(&self, failed: bool) {
        self.failed.store(failed, Ordering::Relaxed);
    }
}

/// All metrics in Prometheus' text format. Labelled counters appear with their first count.
pub(crate) fn render() -> String {
    let (metrics, mut text) = (&METRICS, Text::default());
    text.histogram("rossum_tick_seconds", "Wall time of a tick, in seconds", &metrics.tick_time);
    let late = "How late ticks begin in real time, in seconds";
    text.histogram("rossum_tick_lateness_seconds", late, &metrics.lateness);
    text.gauge("rossum_inbox", "Messages handled by the world before its last tick", metrics.inbox.get());
    text.gauge("rossum_overruns", "Times the world fell behind real time", metrics.overruns.get());
    let failed = metrics.failed.load(Ordering::Relaxed);
    text.gauge("rossum_failed", "1 while the simulation has failed and waits for a reset", failed.into());
    let held = "Bytes that connections hold: not handled or not sent yet, beyond a free amount each";
    text.gauge("rossum_held_bytes", held, metrics.held_bytes.get());
    text.gauge("rossum_evo_robots", "Robots in the World Simulator", metrics.evo_robots.get());
    for (name, help, counter) in [
        ("rossum_faults_total", "Simulation faults that were recovered from", &metrics.faults),
        ("rossum_sessions_dropped_total", "Sessions dropped because they did not keep up", &metrics.sessions_dropped),
        ("rossum_recordings_ended_early_total", "Recordings that ended early", &metrics.recordings_ended_early),
        ("rossum_evo_individuals_total", "Individuals evaluated by the Robot Simulator", &metrics.evo_individuals),
    ] {
        text.head(name, "counter", help);
        text.value(name, "", counter.get());
    }
    for (name, help, counters) in [
        ("rossum_refusals_total", "Refused requests, by protocol", &metrics.refusals),
        ("rossum_datagrams_total", "Datagrams received, by protocol", &metrics.datagrams),
        ("rossum_rate_limited_total", "Datagrams dropped by the rate limit, by protocol", &metrics.rate_limited),
        ("rossum_lines_total", "Lines received, by protocol", &metrics.lines),
        ("rossum_evictions_total", "Connections closed in favour of others, by protocol", &metrics.evictions),
        (
            "rossum_accept_failures_total",
            "Connections that could not be accepted, by protocol",
            &metrics.accept_failures,
        ),
    ] {
        text.head(name, "counter", help);
        for (label, counter) in ByProtocol::labels().zip(&counters.0).filter(|(_, counter)| counter.get() > 0) {
            text.value(name, &format!("{{protocol=\"{label}\"}}"), counter.get());
        }
    }
    text.0
}

/// Prometheus' text format. Writing to a string cannot fail.
#[derive(Default)]
struct Text(String);

impl Text {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn value(&mut self, name: &str, labels: &str, value: u64) {
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "gauge", help);
        self.value(name, "", value);
    }

    fn histogram<const N: usize>(&mut self, name: &str, help: &str, histogram: &Histogram<N>) {
        self.head(name, "histogram", help);
        for (bound, count) in histogram.cumulative() {
            self.value(name, &format!("_bucket{{le=\"{bound}\"}}"), count);
        }
        let count = histogram.count();
        self.value(name, "_bucket{le=\"+Inf\"}", count);
        let _ = writeln!(self.0, "{name}_sum {}", Duration::from_nanos(histogram.sum_ns.get()).as_secs_f64());
        self.value(name, "_count", count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_by_bucket() {
        let histogram = Histogram::new([0.001, 0.01]);
        assert_eq!(histogram.quantile(0.5), None);
        for (count, millis) in [(50, 1), (49, 5), (1, 100)] {
            (0..count).for_each(|_| histogram.record(Duration::from_millis(millis)));
        }
        let quantiles = [0.5, 0.99, 0.999].map(|share| histogram.quantile(share));
        assert_eq!(quantiles, [Some(0.001), Some(0.01), None]);
        let mut text = Text::default();
        text.histogram("h", "Help", &histogram);
        let expected = "# HELP h Help\n# TYPE h histogram\nh_bucket{le=\"0.001\"} 50\nh_bucket{le=\"0.01\"} 99\n\
                        h_bucket{le=\"+Inf\"} 100\nh_sum 0.395\nh_count 100\n";
        assert_eq!(text.0, expected);
    }

    #[test]
    fn counters_are_labelled_by_protocol() {
        let counters = ByProtocol::new();
        counters.add("osp", 3);
        counters.add("odcp", 4);
        counters.add("something else", 5);
        assert_eq!(counters.total(), 12);
        let by_label: Vec<_> = ByProtocol::labels().zip(counters.0.iter().map(Counter::get)).collect();
        assert!(by_label.contains(&("osp", 3)) && by_label.contains(&("odcp", 4)) && by_label.contains(&("other", 5)));
    }

    #[test]
    fn everything_is_rendered() {
        METRICS.datagrams.add("osp", 1);
        METRICS.set_failed(false);
        let text = render();
        for line in
            ["# TYPE rossum_tick_seconds histogram\n", "rossum_failed 0\n", "# TYPE rossum_faults_total counter\n"]
        {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(text.lines().any(|line| line.starts_with("rossum_datagrams_total{protocol=\"osp\"} ")), "{text}");
    }
}
