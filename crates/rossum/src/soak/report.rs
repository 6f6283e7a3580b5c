//! What the soak test measures, and when it has failed.

use std::{collections::BTreeMap, fmt, fs, time::Duration};

use anyhow::Context;

use super::witnesses::Count;
use crate::process::{Server, memory_of};

/// Growth of memory that is tolerated, after the first ten minutes.
const GROWTH: f64 = 0.01;
const SETTLING_MINUTES: usize = 10;
/// Growth of the number of descriptors that is tolerated: clients come and go.
const DESCRIPTORS: usize = 64;

/// What the server occupies, sampled several times a second: clients come and go, and single samples differ by a tenth.
#[derive(Debug, Default)]
pub(super) struct Occupied {
    samples: u32,
    megabytes: f64,
    descriptors: usize,
}

impl Occupied {
    /// Takes a sample.
    pub(super) fn sample(&mut self, server: &Server) -> anyhow::Result<()> {
        let (megabytes, _) = memory_of(server.id())?;
        let descriptors = fs::read_dir(format!("/proc/{}/fd", server.id())).context("the server has ended")?.count();
        self.samples += 1;
        self.megabytes += megabytes;
        self.descriptors = self.descriptors.max(descriptors);
        Ok(())
    }

    /// Mean of the samples.
    fn megabytes(&self) -> f64 {
        self.megabytes / f64::from(self.samples.max(1))
    }
}

/// One minute.
#[derive(Debug)]
pub(super) struct Minute {
    seconds: f64,
    /// Cores used by the server.
    cores: f64,
    /// Mean of the minute.
    megabytes: f64,
    /// Largest number in the minute.
    descriptors: usize,
    witnessed: Count,
}

impl Minute {
    pub(super) const HEADER: &str =
        "seconds   cores  memory MB  descriptors   cycles   late  longest ms   replies  slowest ms";

    pub(super) fn new(time: Duration, cpu: Duration, occupied: &Occupied, witnessed: Count) -> Self {
        let seconds = time.as_secs_f64();
        let (megabytes, descriptors) = (occupied.megabytes(), occupied.descriptors);
        Self { seconds, cores: cpu.as_secs_f64() / seconds, megabytes, descriptors, witnessed }
    }
}

impl fmt::Display for Minute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, cores, megabytes, descriptors, witnessed } = self;
        let Count { cycles, late, longest, replies, slowest } = witnessed;
        let [longest, slowest] = [longest, slowest].map(|time| time.as_secs_f64() * 1e3);
        write!(
            f,
            "{seconds:7.1} {cores:7.2} {megabytes:10.1} {descriptors:12} {cycles:8} {late:6} {longest:11.1} {replies:9} \
             {slowest:11.1}"
        )
    }
}

/// The result of the whole test.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) idle: Vec<Minute>,
    pub(super) loaded: Vec<Minute>,
    /// Errors of clients, by cause.
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) stopped_within: Duration,
    pub(super) is_clean_exit: bool,
}

impl Outcome {
    /// Fraction of the witnesses' cycles that came late.
    fn late(minutes: &[Minute]) -> f64 {
        let sum = |value: fn(&Count) -> u64| minutes.iter().map(|minute| value(&minute.witnessed)).sum::<u64>() as f64;
        sum(|count| count.late) / sum(|count| count.cycles).max(1.0)
    }

    /// Growth of memory after it has settled, as a fraction; none if the test was too short.
    fn growth(&self) -> Option<f64> {
        let settled = self.loaded.get(SETTLING_MINUTES..).filter(|minutes| minutes.len() >= 2)?;
        // means of the first and the last third, as clients come and go
        let part = settled.len().div_ceil(3);
        let mean = |minutes: &[Minute]| {
            minutes.iter().map(|minute| minute.megabytes).sum::<f64>() / minutes.len().max(1) as f64
        };
        let (first, last) = (mean(settled.get(..part)?), mean(settled.get(settled.len() - part..)?));
        Some(last / first - 1.0)
    }

    /// Why the test has failed.
    pub(super) fn faults(&self, stop_within: Duration) -> Vec<String> {
        let mut faults = Vec::new();
        let errors: u64 = self.errors.values().sum();
        if errors > 0 {
            faults.push(format!("{errors} errors of well-behaved clients"));
        }
        let (idle, loaded) = (Self::late(&self.idle), Self::late(&self.loaded));
        if loaded > idle {
            faults.push(format!("{:.4} % of the cycles came late, {:.4} % without load", loaded * 1e2, idle * 1e2));
        }
        if let Some(growth) = self.growth().filter(|growth| *growth > GROWTH) {
            faults.push(format!("memory grew by {:.2} %", growth * 1e2));
        }
        let descriptors =
            |minutes: &[Minute]| minutes.iter().map(|minute| minute.descriptors).max().unwrap_or_default();
        let half = self.loaded.len() / 2;
        let (first, last) = self.loaded.split_at(half);
        if half > 0 && descriptors(last) > descriptors(first) + DESCRIPTORS {
            faults.push(format!("from {} to {} descriptors", descriptors(first), descriptors(last)));
        }
        if self.stopped_within > stop_within || !self.is_clean_exit {
            faults.push(format!("it took {:.2} s to stop", self.stopped_within.as_secs_f64()));
        }
        faults
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (idle, loaded) = (Self::late(&self.idle) * 1e2, Self::late(&self.loaded) * 1e2);
        writeln!(f, "late cycles       {loaded:.4} % under load, {idle:.4} % without")?;
        match self.growth() {
            Some(growth) => writeln!(f, "memory growth     {:.2} % after {SETTLING_MINUTES} minutes", growth * 1e2)?,
            None => writeln!(f, "memory growth     not measured in less than {} minutes", SETTLING_MINUTES + 2)?,
        }
        writeln!(f, "SIGTERM to exit   {:.2} s", self.stopped_within.as_secs_f64())?;
        writeln!(f, "errors            {}", self.errors.values().sum::<u64>())?;
        for (cause, count) in &self.errors {
            writeln!(f, "  {count:6} x {cause}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minute(megabytes: f64, descriptors: usize, late: u64) -> Minute {
        let witnessed = Count { cycles: 3_000, late, replies: 100, ..Count::default() };
        Minute { seconds: 60.0, cores: 1.0, megabytes, descriptors, witnessed }
    }

    fn outcome(change: impl FnOnce(&mut Outcome)) -> Vec<String> {
        let steady = || (0..60).map(|_| minute(100.0, 300, 1)).collect::<Vec<_>>();
        let mut outcome = Outcome {
            idle: vec![minute(50.0, 40, 1)],
            loaded: steady(),
            errors: BTreeMap::new(),
            stopped_within: Duration::from_secs(1),
            is_clean_exit: true,
        };
        change(&mut outcome);
        outcome.faults(Duration::from_secs(2))
    }

    #[test]
    fn each_fault_is_found() {
        assert_eq!(outcome(|_| {}), [""; 0]);
        let faults = [
            outcome(|outcome| *outcome.errors.entry("osp: no reply".to_owned()).or_default() = 1),
            outcome(|outcome| outcome.loaded.push(minute(100.0, 300, 2))),
            outcome(|outcome| (40..60).for_each(|at| outcome.loaded[at].megabytes = 101.1)),
            outcome(|outcome| outcome.loaded[50].descriptors = 400),
            outcome(|outcome| outcome.stopped_within = Duration::from_secs(3)),
            outcome(|outcome| outcome.is_clean_exit = false),
        ];
        assert!(faults.iter().all(|faults| faults.len() == 1), "{faults:?}");
        // before it has settled, memory may grow
        assert_eq!(outcome(|outcome| outcome.loaded[5].megabytes = 20.0), [""; 0]);
    }
}
