//! Measures whether a step is faster with the help of other threads.
//!
//! Cores are idle or not from one moment to the next, so this is measured over and over: some steps with help and some
//! without take turns, and the faster way is kept for a while. Where help does not pay, it is tried less and less often; where
//! it ceases to pay, it ends within a few steps.

use std::time::Duration;

/// Steps of one kind in a row during a trial.
const BLOCK: usize = 4;
/// Steps of a trial.
const TRIAL: usize = 6 * BLOCK;
/// Steps between a trial that help has won and the next one.
const KEEP: u32 = 2_000;
/// Steps between a trial that help has lost and the next one: at first, and at most.
const PAUSE: (u32, u32) = (1_000, 64_000);
/// Steps with help after which their time is compared with what was measured without.
const CHECK: u32 = 16;
/// Help has to take at most this share of the time.
const GAIN: f64 = 0.95;

/// How a step is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trial {
    /// Without help, and not measured.
    Off,
    /// Without help, measured.
    Alone,
    /// With help, measured.
    Helped,
}

/// Decides, step by step, whether threads help.
#[derive(Debug)]
pub(super) struct Gauge {
    phase: Phase,
    /// Length of the next pause.
    pause: u32,
    /// Median time of a step without help in the last trial.
    alone: Duration,
}

#[derive(Debug)]
enum Phase {
    Pause { left: u32 },
    Trial { alone: Vec<Duration>, helped: Vec<Duration> },
    Help { left: u32, steps: u32, time: Duration },
}

impl Default for Gauge {
    fn default() -> Self {
        // not at once: the first steps of a world are not like the others
        Self { phase: Phase::Pause { left: 50 }, pause: PAUSE.0, alone: Duration::ZERO }
    }
}

impl Gauge {
    /// Begins a step.
    pub(super) fn begin_step(&mut self) -> Trial {
        match &mut self.phase {
            Phase::Pause { left: 0 } | Phase::Help { left: 0, .. } => self.begin_trial(),
            Phase::Pause { left } | Phase::Help { left, .. } => *left -= 1,
            Phase::Trial { .. } => {}
        }
        self.current()
    }

    /// How the step that has begun is taken.
    pub(super) fn current(&self) -> Trial {
        match &self.phase {
            Phase::Pause { .. } => Trial::Off,
            Phase::Help { .. } => Trial::Helped,
            Phase::Trial { alone, helped } if ((alone.len() + helped.len()) / BLOCK).is_multiple_of(2) => Trial::Alone,
            Phase::Trial { .. } => Trial::Helped,
        }
    }

    /// Records the time of the step that has begun, unless it was [`Trial::Off`].
    pub(super) fn record(&mut self, took: Duration) {
        let current = self.current();
        match &mut self.phase {
            Phase::Pause { .. } => {}
            Phase::Trial { alone, helped } => {
                if current == Trial::Alone {
                    alone.push(took)
                } else {
                    helped.push(took)
                }
                let is_hopeless = helped.len() >= 2
                    && helped.iter().sum::<Duration>() > alone.iter().take(helped.len()).sum::<Duration>() * 2;
                if is_hopeless || alone.len() + helped.len() == TRIAL {
                    self.end_trial();
                }
            }
            Phase::Help { steps, time, .. } => {
                *steps += 1;
                *time += took;
                let expected = self.alone * *steps;
                // a single step that was interrupted is not enough
                if *steps >= 4 && *time > expected * 2 || *steps == CHECK && *time > expected {
                    self.begin_trial();
                } else if *steps == CHECK {
                    (*steps, *time) = (0, Duration::ZERO);
                }
            }
        }
    }

    fn begin_trial(&mut self) {
        self.phase = Phase::Trial { alone: Vec::with_capacity(TRIAL), helped: Vec::with_capacity(TRIAL) };
    }

    fn end_trial(&mut self) {
        let Phase::Trial { alone, helped } = &mut self.phase else { return };
        let (without, with) = (median(alone), median(helped));
        self.alone = without;
        self.phase = if helped.len() == TRIAL / 2 && with < without.mul_f64(GAIN) {
            self.pause = PAUSE.0;
            Phase::Help { left: KEEP, steps: 0, time: Duration::ZERO }
        } else {
            let left = self.pause;
            self.pause = left.saturating_mul(2).min(PAUSE.1);
            Phase::Pause { left }
        };
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes steps whose times are given in microseconds: without and with help. Returns how many were helped, and the time
    /// of all.
    fn run(gauge: &mut Gauge, steps: u32, times: impl Fn(u32) -> (u64, u64)) -> (u32, Duration) {
        let (mut helped, mut total) = (0, Duration::ZERO);
        for step in 0..steps {
            let (without, with) = times(step);
            let trial = gauge.begin_step();
            let took = Duration::from_micros(if trial == Trial::Helped { with } else { without });
            if trial != Trial::Off {
                gauge.record(took);
            }
            helped += u32::from(trial == Trial::Helped);
            total += took;
        }
        (helped, total)
    }

    #[test]
    fn help_that_pays_is_kept() {
        let (helped, _) = run(&mut Gauge::default(), 100_000, |_| (400, 250));
        assert!(helped > 98_000, "{helped}");
    }

    #[test]
    fn help_that_does_not_pay_costs_next_to_nothing() {
        for with in [390, 400, 800, 40_000] {
            let (helped, total) = run(&mut Gauge::default(), 100_000, |_| (400, with));
            assert!(helped < 200, "{with}: {helped}");
            assert!(total < Duration::from_micros(400) * 101_500, "{with}: {total:?}");
        }
    }

    #[test]
    fn help_ends_within_steps_when_cores_are_busy() {
        let mut gauge = Gauge::default();
        run(&mut gauge, 1_000, |_| (400, 250));
        let (helped, total) = run(&mut gauge, 1_000, |_| (400, 8_000));
        assert!(helped < 10, "{helped}");
        assert!(total < Duration::from_millis(480), "{total:?}");
        // and returns when they are idle again
        run(&mut gauge, 5_000, |_| (400, 250));
        let (helped, _) = run(&mut gauge, 1_000, |_| (400, 250));
        assert!(helped > 950, "{helped}");
    }

    #[test]
    fn one_slow_step_does_not_matter() {
        let mut gauge = Gauge::default();
        run(&mut gauge, 1_000, |_| (400, 250));
        let (helped, _) = run(&mut gauge, 1_000, |step| (400, if step == 500 { 1_500 } else { 250 }));
        assert!(helped > 980, "{helped}");
    }
}
