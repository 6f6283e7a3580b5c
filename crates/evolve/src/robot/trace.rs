//! Re-evaluation of an individual with its path and its sensors' beams recorded.

use std::sync::Arc;

use arena::{Beam, Plan, Request, Response, VisualReading};

use super::{Design, EvaluationError, EvaluationTask, InProcessWorld, Outcome, World};
use crate::run::Best;

/// A recorded evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The result, including the path.
    pub outcome: Outcome,
    /// For each position of the path, the sensors' beams as `[start x, start y, end x, end y]`, in mm, in the order of the
    /// body's sensors. A beam ends at its hit, or at the sensor's range. Empty where a trial ended, as nothing is sensed
    /// there.
    pub beams: Vec<Vec<[f64; 4]>>,
}

/// Evaluates an individual again in an arena of its own, and records at most the first `positions` positions.
///
/// # Errors
///
/// The genotype does not fit the design, or the world fails.
pub fn trace(
    design: &Arc<Design>,
    plan: &Arc<Plan>,
    seed: u64,
    best: &Best,
    positions: usize,
) -> Result<Trace, EvaluationError> {
    let mut world = InProcessWorld::new(plan.clone(), seed);
    let mut task = EvaluationTask::new(design.clone(), &best.genotype, best.generation, best.individual)?;
    task = task.with_path_of(positions);
    let (mut requests, mut responses, mut beams) = (Vec::new(), Vec::new(), Vec::<Vec<[f64; 4]>>::new());
    loop {
        if let Some(outcome) = task.outcome() {
            beams.resize(outcome.path.len(), Vec::new());
            return Ok(Trace { outcome: outcome.clone(), beams });
        }
        requests.clear();
        responses.clear();
        task.requests(&mut requests);
        world.exchange(&requests, &mut responses)?;
        let sensed = segments(design, &requests, &responses);
        // readings belong to the last recorded position, unless that has its beams already
        let last = task.recorded().checked_sub(1).filter(|last| beams.len() <= *last);
        if let (false, Some(last)) = (sensed.is_empty(), last) {
            beams.resize(last, Vec::new());
            beams.push(sensed);
        }
        task.handle_responses(&responses).map_err(super::WorldLost::from)?;
    }
}

/// The beams of all sensor requests, from start to end.
fn segments(design: &Design, requests: &[Request], responses: &[Response]) -> Vec<[f64; 4]> {
    let found = requests.iter().zip(responses).filter_map(|(request, response)| match (request, response) {
        (Request::See(_, beam), Response::Seen(VisualReading { distance, .. })) => Some((beam, *distance)),
        (Request::Hear(_, beam), Response::Heard(distance)) => Some((beam, *distance)),
        _ => None,
    });
    let ranges = design.file().sensors.iter().map(|sensor| sensor.range);
    found.zip(ranges).map(|((beam, distance), range)| segment(beam, distance.min(range))).collect()
}

/// A beam in the plan view.
fn segment(beam: &Beam, distance: f64) -> [f64; 4] {
    let (sin, cos) = beam.dir.sin_cos();
    let along = distance * beam.tilt.cos();
    [beam.x, beam.y, beam.x + along * cos, beam.y + along * sin]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Genotype, robot::evaluate_all};

    fn individual(design: &Design) -> Best {
        let parameters = design.parameters();
        let hidden = parameters.hidden_min;
        let some = |count: usize, low: f64, high: f64| -> Vec<f64> {
            (0..count).map(|nth| low + (high - low) * (0.5 + 0.4 * (nth as f64).sin())).collect()
        };
        let genes = |genes: crate::genotype::Genes, count: usize| some(genes.values * count, genes.low, genes.high);
        let genotype = Genotype {
            hidden,
            globals: genes(parameters.globals, 1),
            input_values: genes(parameters.input, parameters.inputs),
            output_values: genes(parameters.output, parameters.outputs),
            hidden_values: genes(parameters.hidden, hidden),
            weights: some(parameters.weights(hidden), parameters.weight.low, parameters.weight.high),
        };
        Best { generation: 1, individual: 1, fitness: 0.0, genotype, figures: Vec::new() }
    }

    #[test]
    fn a_traced_individual_does_the_same_as_before() {
        for body in crate::robot::library::bodies() {
            let design = Arc::new(Design::built_in(&body).unwrap());
            let plan = Arc::new(Plan::built_in("obstacles").unwrap().unwrap());
            let best = individual(&design);
            let Trace { outcome, beams } = trace(&design, &plan, 3, &best, usize::MAX).unwrap();
            let first = trace(&design, &plan, 3, &best, 7).unwrap();
            assert_eq!(first.outcome.fitness, outcome.fitness);
            assert_eq!(
                (first.outcome.path.as_slice(), first.beams.as_slice()),
                (&outcome.path[..7], &beams[..7]),
                "{body}"
            );
            let world = || Ok(InProcessWorld::new(plan.clone(), 3));
            let tested = evaluate_all(&design, 1, std::slice::from_ref(&best.genotype), 1, world, &|_| {}).unwrap();
            assert_eq!(
                tested.first().map(|tested| (tested.fitness, tested.steps)),
                Some((outcome.fitness, outcome.steps))
            );
            assert_eq!(beams.len(), outcome.path.len(), "{body}");

            let sensors = &design.file().sensors;
            let in_a_trial = outcome.path.windows(2).zip(&beams).filter(|(two, _)| two[0].trial == two[1].trial);
            for (two, beams) in in_a_trial {
                assert_eq!(beams.len(), sensors.len(), "{body}");
                for ([x, y, to_x, to_y], sensor) in beams.iter().zip(sensors) {
                    let length = (to_x - x).hypot(to_y - y);
                    assert!(length <= sensor.range + 1e-6, "{body}: {} looks {length} far", sensor.name);
                    if sensor.mount == crate::robot::body::Mount::Body {
                        let off = (x - two[0].position.x).hypot(y - two[0].position.y);
                        let at = sensor.at[0].hypot(sensor.at[1]).max(sensor.at[2]);
                        assert!(off <= at + 1.0, "{body}: {} is {off} away from the robot", sensor.name);
                    }
                }
            }
        }
    }
}
