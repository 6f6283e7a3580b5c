//! Evaluation of robots with their sensors' beams recorded.

use arena::{Beam, Request, Response, VisualReading};

use super::{Design, Encounter, Outcome, WorldLost};

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

/// Evaluates robots with all their sensors' beams recorded. Their paths are recorded as far as their evaluations say.
///
/// # Errors
///
/// The world fails.
pub fn trace(encounter: Encounter) -> Result<Vec<Trace>, WorldLost> {
    let mut beams: Vec<Vec<Vec<[f64; 4]>>> = Vec::new();
    let outcomes = encounter.watched(|robot, task, requests, responses| {
        if beams.len() <= robot {
            beams.resize(robot + 1, Vec::new());
        }
        let sensed = segments(task.design(), requests, responses);
        let beams = &mut beams[robot];
        // readings belong to the last recorded position, unless that has its beams already
        let last = task.recorded().checked_sub(1).filter(|last| beams.len() <= *last);
        if let (false, Some(last)) = (sensed.is_empty(), last) {
            beams.resize(last, Vec::new());
            beams.push(sensed);
        }
    })?;
    let complete = |(outcome, mut beams): (Outcome, Vec<_>)| {
        beams.resize(outcome.path.len(), Vec::new());
        Trace { outcome, beams }
    };
    Ok(outcomes.into_iter().zip(beams).map(complete).collect())
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
    use std::sync::Arc;

    use arena::Plan;

    use super::*;
    use crate::{
        Genotype,
        robot::{EvaluationTask, InProcessWorld, evaluate_all},
    };

    fn genotype(design: &Design) -> Genotype {
        let parameters = design.parameters();
        let hidden = parameters.hidden_min;
        let some = |count: usize, low: f64, high: f64| -> Vec<f64> {
            (0..count).map(|nth| low + (high - low) * (0.5 + 0.4 * (nth as f64).sin())).collect()
        };
        let genes = |genes: crate::genotype::Genes, count: usize| some(genes.values * count, genes.low, genes.high);
        Genotype {
            hidden,
            globals: genes(parameters.globals, 1),
            input_values: genes(parameters.input, parameters.inputs),
            output_values: genes(parameters.output, parameters.outputs),
            hidden_values: genes(parameters.hidden, hidden),
            weights: some(parameters.weights(hidden), parameters.weight.low, parameters.weight.high),
        }
    }

    #[test]
    fn a_traced_individual_does_the_same_as_before() {
        for body in crate::robot::library::bodies() {
            let design = Arc::new(Design::built_in(&body).unwrap());
            let plan = Arc::new(Plan::built_in("obstacles").unwrap().unwrap());
            let genotype = genotype(&design);
            let traced = |positions| {
                let task = EvaluationTask::new(design.clone(), &genotype, 1, 1).unwrap().with_path_of(positions);
                trace(Encounter::new(plan.clone(), 3).with(0, task)).unwrap().pop().unwrap()
            };
            let Trace { outcome, beams } = traced(usize::MAX);
            let first = traced(7);
            assert_eq!(first.outcome.fitness, outcome.fitness);
            assert_eq!(
                (first.outcome.path.as_slice(), first.beams.as_slice()),
                (&outcome.path[..7], &beams[..7]),
                "{body}"
            );
            let world = || Ok(InProcessWorld::new(plan.clone(), 3));
            let tested = evaluate_all(&design, 1, std::slice::from_ref(&genotype), 1, world, &|_| {}).unwrap();
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
