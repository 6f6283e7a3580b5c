//! Counters and gauges, for Prometheus.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use ::metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// Bounds of the histogram of tick times, in s.
const TICK_BUCKETS: [f64; 10] = [0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5];

/// Bounds of the histogram of how late ticks begin, in s.
const LATENESS_BUCKETS: [f64; 8] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02];

/// Measurements are put into their histograms this often, whether or not anybody looks at them.
const UPKEEP: Duration = Duration::from_secs(5);

/// Begins to count. Servers in one process share their counts.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    static INSTALLED: Mutex<Option<PrometheusHandle>> = Mutex::new(None);
    let mut installed = INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = installed.as_ref() {
        return Ok(handle.clone());
    }
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full("rossum_tick_seconds".into()), &TICK_BUCKETS)?
        .set_buckets_for_metric(Matcher::Full("rossum_tick_lateness_seconds".into()), &LATENESS_BUCKETS)?
        .build_recorder();
    let handle = installed.insert(recorder.handle()).clone();
    if ::metrics::set_global_recorder(recorder).is_err() {
        warn!("this process counts elsewhere already; the page of metrics stays empty");
    }
    describe_histogram!("rossum_tick_seconds", "Wall time of a tick, in seconds");
    describe_histogram!("rossum_tick_lateness_seconds", "How late ticks begin in real time, in seconds");
    describe_gauge!("rossum_inbox", "Messages that the world took in before its last tick");
    describe_gauge!("rossum_overruns", "Times that the world fell behind real time");
    describe_counter!("rossum_faults_total", "Times that the simulation failed and was put back");
    describe_gauge!("rossum_failed", "1 while the world stands still after a failure, until it is reset");
    describe_counter!("rossum_sessions_dropped_total", "Sessions that did not keep up");
    describe_counter!("rossum_refusals_total", "Requests that were not carried out, by protocol");
    describe_counter!("rossum_datagrams_total", "Datagrams received, by protocol");
    describe_counter!("rossum_rate_limited_total", "Datagrams dropped because the peer sent too many, by protocol");
    describe_counter!("rossum_recordings_ended_early_total", "Recordings that could not be written to the end");
    // there from the start, so that a change can be seen
    faults(0);
    failed(false);
    Ok(handle)
}

/// Keeps the counts from growing, until the server stops.
pub(crate) async fn keep_up(metrics: PrometheusHandle, stop: CancellationToken) {
    let mut due = tokio::time::interval(UPKEEP);
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            _ = due.tick() => metrics.run_upkeep(),
        }
    }
}

pub(crate) fn begun(lateness: Duration) {
    histogram!("rossum_tick_lateness_seconds").record(lateness);
}

pub(crate) fn ticked(seconds: f64, overruns: u64, inbox: usize) {
    gauge!("rossum_inbox").set(inbox as f64);
    histogram!("rossum_tick_seconds").record(seconds);
    gauge!("rossum_overruns").set(overruns as f64);
}

pub(crate) fn faults(count: u64) {
    counter!("rossum_faults_total").increment(count);
}

pub(crate) fn failed(failed: bool) {
    gauge!("rossum_failed").set(f64::from(u8::from(failed)));
}

pub(crate) fn session_dropped() {
    counter!("rossum_sessions_dropped_total").increment(1);
}

pub(crate) fn recording_ended_early() {
    counter!("rossum_recordings_ended_early_total").increment(1);
}

pub(crate) fn refused(protocol: &'static str, count: usize) {
    counter!("rossum_refusals_total", "protocol" => protocol).increment(count as u64);
}

pub(crate) fn datagram(protocol: &'static str) {
    counter!("rossum_datagrams_total", "protocol" => protocol).increment(1);
}

pub(crate) fn rate_limited(protocol: &'static str) {
    counter!("rossum_rate_limited_total", "protocol" => protocol).increment(1);
}
