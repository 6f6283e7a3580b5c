//! Progress of a run on the terminal or as JSON lines.

use std::{
    io::{IsTerminal, Write},
    path::Path,
    time::{Duration, Instant},
};

use evolve::run::Generation;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::table::short;

/// What is known of a run when its progress begins.
pub(super) struct Beginning<'a> {
    /// The algorithm, and where individuals are evaluated.
    pub(super) description: String,
    pub(super) folder: &'a Path,
    /// Number of finished generations.
    pub(super) finished: u64,
    /// Number of evaluations in them.
    pub(super) evaluations: u64,
    /// Total number of generations; `None` for no last one.
    pub(super) generations: Option<u64>,
}

/// Shows the progress of a run.
pub(super) struct Progress {
    bar: ProgressBar,
    json: bool,
    began: Instant,
    /// Evaluations before this process resumed the run.
    before: u64,
    generations: Option<u64>,
}

/// A generation of a population.
#[derive(Serialize)]
pub(super) struct Finished<'a> {
    /// The name of its population, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) population: Option<&'a str>,
    #[serde(flatten)]
    pub(super) line: &'a Generation,
}

impl Progress {
    /// Prints the run's description and starts the progress bar.
    pub(super) fn begin(beginning: &Beginning<'_>, json: bool, out: &mut dyn Write) -> anyhow::Result<Self> {
        let &Beginning { ref description, folder, finished, evaluations, generations } = beginning;
        if !json {
            writeln!(out, "{description}")?;
            let more = if finished > 0 { format!(", {finished} generations done") } else { String::new() };
            writeln!(out, "run: {}{more}; ctrl-C stops it, --resume continues it\n", folder.display())?;
        }
        let bar = if json { ProgressBar::hidden() } else { ProgressBar::new(0) };
        bar.set_style(ProgressStyle::with_template("{prefix} {bar:24} {pos}/{len} {elapsed} {msg}")?);
        bar.enable_steady_tick(Duration::from_millis(500));
        Ok(Self { bar, json, began: now(), before: evaluations, generations })
    }

    /// Starts a generation with this many evaluations.
    pub(super) fn generation(&self, generation: u64, evaluations: usize) {
        let of = self.generations.map_or(String::new(), |generations| format!("/{generations}"));
        self.bar.set_prefix(format!("generation {generation}{of}"));
        self.bar.set_length(evaluations as u64);
        self.bar.set_position(0);
    }

    /// Updates the number of finished evaluations.
    pub(super) fn evaluated(&self, count: usize) {
        self.bar.set_position(count as u64);
    }

    /// Prints a finished generation of each population.
    pub(super) fn finished(&self, populations: &[Finished<'_>], out: &mut dyn Write) -> anyhow::Result<()> {
        if self.json {
            for finished in populations {
                serde_json::to_writer(&mut *out, finished)?;
                writeln!(out)?;
            }
            return Ok(out.flush()?);
        }
        let text: Vec<String> = populations.iter().map(Finished::text).collect();
        let text = text.join("\n");
        if std::io::stderr().is_terminal() {
            self.bar.suspend(|| writeln!(out, "{text}"))?;
        } else {
            writeln!(out, "{text}")?;
        }
        let message = populations.iter().map(Finished::message).collect::<Vec<_>>().join("   ");
        self.bar.set_message(message);
        Ok(())
    }

    /// Prints the time that the run has taken, after so many evaluations.
    pub(super) fn end(self, evaluations: u64, out: &mut dyn Write) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        if self.json {
            return Ok(());
        }
        let took = now().duration_since(self.began).as_secs_f64();
        let evaluated = evaluations - self.before;
        let rate = evaluated as f64 / took.max(1e-9);
        Ok(writeln!(out, "\n{evaluated} individuals in {took:.1} s, {rate:.0} per second")?)
    }
}

impl Finished<'_> {
    fn text(&self) -> String {
        let Generation { generation, best_so_far, best, mean, diversity, hidden, .. } = self.line;
        let (best, mean) = (short(*best), short(*mean));
        let about = match self.population {
            // a fitness that depends on the others has no best so far
            Some(name) => format!("{name:<10}"),
            None => format!("best so far {:>10}", short(*best_so_far)),
        };
        format!(
            "generation {generation:4}   {about}   best {best:>10}   mean {mean:>10}   diversity {diversity:.3}   hidden \
             {hidden}"
        )
    }

    fn message(&self) -> String {
        let Generation { best, best_so_far, mean, diversity, .. } = self.line;
        match self.population {
            Some(name) => format!("{name} {}", short(*best)),
            None => format!("best {}  mean {}  diversity {diversity:.3}", short(*best_so_far), short(*mean)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "wall-clock time for the user")]
pub(super) fn now() -> Instant {
    Instant::now()
}
