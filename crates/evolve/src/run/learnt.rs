//! What the robots of a run have learnt, in words.

use std::path::Path;

use super::{Best, Record, folder};
use crate::robot::Summary;

/// One line about the best individual so far, compared with the best of the first generation. The figures are those measured
/// in the run; without any, it is about the fitness. `None` before the first generation.
pub fn learnt(path: &Path, record: &Record) -> Option<String> {
    let best = record.best.as_ref()?;
    let site = record.config.site.local().ok().flatten();
    let summary = site.map(|site| site.design.summary().clone()).unwrap_or_default();
    // missing in runs of older versions
    let first = folder::read_best_of(path, 1).ok();
    let before = record.history.first()?.best;
    Some(compare(&summary, best, first.as_ref(), before))
}

/// `before` is the highest fitness of the first generation, whose best individual may be unknown.
fn compare(summary: &Summary, best: &Best, first: Option<&Best>, before: f64) -> String {
    let words = |best: &Best| summary.fill(&best.figures);
    match (words(best), first.and_then(words)) {
        (Some(now), _) if best.generation == 1 => {
            format!("the best robot {now}; it is still one of the first generation")
        }
        (Some(now), Some(then)) => format!("the best robot {now}; the best of the first generation {then}"),
        (Some(now), None) => format!("the best robot {now}"),
        (None, _) => {
            let (now, generation) = (best.fitness, best.generation);
            format!(
                "the best robot, of generation {generation}, has fitness {now:.3}; the best of the first had {before:.3}"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_is_compared_with_the_first() {
        let summary = Summary::parse("visits {squares_visited} squares").unwrap();
        let best = |generation, figures: &[f64]| Best {
            generation,
            individual: 1,
            fitness: 0.75,
            figures: figures.to_vec(),
            ..Best::default()
        };
        for (now, first, expected) in [
            (
                best(40, &[34.0]),
                Some(best(1, &[6.4])),
                "the best robot visits 34 squares; the best of the first generation visits 6.4 squares",
            ),
            (
                best(1, &[6.4]),
                Some(best(1, &[6.4])),
                "the best robot visits 6.4 squares; it is still one of the first generation",
            ),
            (best(40, &[34.0]), None, "the best robot visits 34 squares"),
            (
                best(40, &[]),
                Some(best(1, &[])),
                "the best robot, of generation 40, has fitness 0.750; the best of the first had 0.125",
            ),
        ] {
            assert_eq!(compare(&summary, &now, first.as_ref(), 0.125), expected);
        }
    }
}
