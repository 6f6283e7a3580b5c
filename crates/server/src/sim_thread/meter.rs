//! How fast the world runs, and how often it falls behind or fails.

use std::time::{Duration, Instant};

use tracing::warn;
use world::{Value, VariableId, World, variable::Performance, world::FaultReport};

use super::sync::now;
use crate::{limits, metrics::METRICS};

/// How often an overrun is logged at most.
const OVERRUN_LOG_INTERVAL: Duration = Duration::from_secs(60);

pub(super) struct Meter {
    /// Messages handled since the last tick.
    pub(super) handled: usize,
    started: Instant,
    second_began: Instant,
    ticks_this_second: u32,
    ticks_per_second: f64,
    overruns_logged: Option<Instant>,
    /// The variable that counts faults.
    faults: Option<VariableId>,
    faults_counted: u64,
    faults_logged: Option<Instant>,
}

impl Meter {
    pub(super) fn new(world: &World, now: Instant) -> Self {
        Self {
            handled: 0,
            started: now,
            second_began: now,
            ticks_this_second: 0,
            ticks_per_second: 0.0,
            overruns_logged: None,
            faults: world.catalogue().variable_named("/Performance/Faults").map(|card| card.id),
            faults_counted: 0,
            faults_logged: None,
        }
    }

    pub(super) fn note_overrun(&mut self) {
        let now = now();
        if self.overruns_logged.is_none_or(|last| now.duration_since(last) > OVERRUN_LOG_INTERVAL) {
            self.overruns_logged = Some(now);
            warn!(
                "world fell behind real time, schedule restarts from now; is the machine busy? (logged once a minute)"
            );
        }
    }

    pub(super) fn note_faults(&mut self, world: &mut World) {
        let reports = world.take_fault_reports();
        let Some(FaultReport { agent, cause }) = reports.first() else { return };
        // the reports are capped, the counter is not
        if let Some(Ok(Value::Integer(faults))) = self.faults.map(|id| world.read(id)) {
            let before = std::mem::replace(&mut self.faults_counted, faults.unsigned_abs());
            METRICS.faults.add(self.faults_counted.saturating_sub(before));
        }
        let now = now();
        if self.faults_logged.is_none_or(|last| now.duration_since(last) > limits::LOG_INTERVAL) {
            self.faults_logged = Some(now);
            let agent = agent.as_deref().unwrap_or("the world");
            warn!(agent, "simulation fault: state restored, motors released: {cause}");
        }
    }

    pub(super) fn note_tick(&mut self, began: Instant, now: Instant, overruns: u64) -> Performance {
        self.ticks_this_second += 1;
        let since = now.duration_since(self.second_began);
        if since >= Duration::from_secs(1) {
            self.ticks_per_second = f64::from(self.ticks_this_second) / since.as_secs_f64();
            self.ticks_this_second = 0;
            self.second_began = now;
        }
        let took = now.duration_since(began);
        METRICS.tick_time.record(took);
        METRICS.overruns.set(overruns);
        METRICS.inbox.set(std::mem::take(&mut self.handled) as u64);
        let tick_time = took.as_secs_f64();
        Performance {
            tick_time,
            ticks_per_second: self.ticks_per_second,
            real_time: now.duration_since(self.started).as_secs_f64(),
            overruns,
            faults: 0,
        }
    }
}
