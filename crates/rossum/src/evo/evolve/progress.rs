//! Progress of a run on the terminal or as JSON lines.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use evolve::run::{Generation, Run, learnt};
use indicatif::{ProgressBar, ProgressStyle};

use crate::table::short;

/// Shows the progress of a run.
pub(super) struct Progress {
    bar: ProgressBar,
    json: bool,
    began: Instant,
    /// Evaluations before this process resumed the run.
    before: u64,
    generations: u64,
}

impl Progress {
    /// Prints the run's description and starts the progress bar.
    pub(super) fn begin(
        run: &Run,
        evaluator: &str,
        generations: u64,
        json: bool,
        out: &mut dyn Write,
    ) -> anyhow::Result<Self> {
        let before = run.history().last().map_or(0, |last| last.evaluations);
        if !json {
            writeln!(out, "{}\n{evaluator}", run.describe())?;
            let more = if before > 0 { format!(", {} generations done", run.history().len()) } else { String::new() };
            writeln!(out, "run: {}{more}; ctrl-C stops it, --resume continues it\n", run.folder().display())?;
        }
        let bar = if json { ProgressBar::hidden() } else { ProgressBar::new(0) };
        bar.set_style(ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} {elapsed} {msg}")?);
        bar.enable_steady_tick(Duration::from_millis(500));
        Ok(Self { bar, json, began: now(), before, generations })
    }

    /// Starts a generation.
    pub(super) fn generation(&self, generation: u64, individuals: usize) {
        self.bar.set_prefix(format!("generation {generation}/{}", self.generations));
        self.bar.set_length(individuals as u64);
        self.bar.set_position(0);
    }

    /// Updates the number of evaluated individuals.
    pub(super) fn evaluated(&self, count: usize) {
        self.bar.set_position(count as u64);
    }

    /// Prints a finished generation.
    pub(super) fn finished(&self, line: &Generation, out: &mut dyn Write) -> anyhow::Result<()> {
        if self.json {
            serde_json::to_writer(&mut *out, line)?;
            writeln!(out)?;
            return Ok(out.flush()?);
        }
        let Generation { generation, best_so_far, best, mean, diversity, hidden, .. } = line;
        let text = format!(
            "generation {generation:4}   best so far {:>10}   best {:>10}   mean {:>10}   diversity {diversity:.3}   \
             hidden {hidden}",
            short(*best_so_far),
            short(*best),
            short(*mean)
        );
        if std::io::stderr().is_terminal() {
            self.bar.suspend(|| writeln!(out, "{text}"))?;
        } else {
            writeln!(out, "{text}")?;
        }
        let (best, mean) = (short(*best_so_far), short(*mean));
        self.bar.set_message(format!("best {best}  mean {mean}  diversity {diversity:.3}"));
        Ok(())
    }

    /// Prints the summary of the run.
    pub(super) fn end(self, run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if self.json {
            return Ok(());
        }
        let took = now().duration_since(self.began).as_secs_f64();
        let evaluated = run.history().last().map_or(0, |last| last.evaluations) - self.before;
        let rate = evaluated as f64 / took.max(1e-9);
        writeln!(out, "\n{evaluated} individuals in {took:.1} s, {rate:.0} per second")?;
        if let Some(best) = run.best() {
            let (generation, individual) = (best.generation, best.individual);
            let fitness = short(best.fitness);
            writeln!(out, "best {fitness}, individual {individual} of generation {generation}")?;
        }
        if let Some(learnt) = learnt(run.folder(), &run.record()) {
            writeln!(out, "\nWhat it has learnt: {learnt}.")?;
        }
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "wall-clock time for the user")]
fn now() -> Instant {
    Instant::now()
}
