//! Counters and gauges, for Prometheus.

use ::metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};

/// Bounds of the histogram of tick times, in s.
const TICK_BUCKETS: [f64; 10] = [0.0001, 0.0003, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5];

/// Begins to count. Only the first call in a process has an effect on where the counts go.
pub fn install() -> Result<PrometheusHandle, BuildError> {
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Full("rossum_tick_seconds".into()), &TICK_BUCKETS)?
        .build_recorder();
    let handle = recorder.handle();
    // a second server in one process shares the first one's counts
    let _ = ::metrics::set_global_recorder(recorder);
    describe_histogram!("rossum_tick_seconds", "Wall time of a tick, in seconds");
    describe_gauge!("rossum_overruns", "Times that the world fell behind real time");
    describe_counter!("rossum_sessions_dropped_total", "Sessions that did not keep up");
    describe_counter!("rossum_refusals_total", "Requests that were not carried out, by protocol");
    describe_counter!("rossum_datagrams_total", "Datagrams received, by protocol");
    describe_counter!("rossum_rate_limited_total", "Datagrams dropped because the peer sent too many, by protocol");
    describe_counter!("rossum_recordings_ended_early_total", "Recordings that could not be written to the end");
    Ok(handle)
}

pub(crate) fn ticked(seconds: f64, overruns: u64) {
    histogram!("rossum_tick_seconds").record(seconds);
    gauge!("rossum_overruns").set(overruns as f64);
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
