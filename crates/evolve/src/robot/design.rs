//! A body file, checked and ready to run.

use std::sync::Arc;

use arena::{Body, Layer};

use super::{
    body::{BodyFile, BodyFileError, Feeling, FitnessFile, HeadFile, ValuesFile},
    drive::Drive,
    library,
    net::{NetPlan, Value},
    script::{Script, Vocabulary},
    sense::{Head, Sense},
};
use crate::{NetParameters, genotype::Genes};

/// A robot as its body file describes it; shared by all individuals that are tested.
#[derive(Debug)]
pub struct Design {
    file: BodyFile,
    fitness: FitnessFile,
    plan: NetPlan,
    pub(super) script: Script,
    pub(super) senses: Vec<Sense>,
    /// Names, and numbers of their sensors.
    pub(super) groups: Vec<(String, Vec<u16>)>,
    pub(super) drive: Drive,
    /// A wheel's part of its full speed is the first times an output, plus the second.
    pub(super) wheel: [f64; 2],
    pub(super) head: Option<HeadDesign>,
    /// One for each angle of the head, from the right to the left.
    pub(super) shapes: Vec<Arc<Body>>,
}

/// A head, in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeadDesign {
    /// Its angle is the first times the output, plus the second.
    pub(super) angle: [f64; 2],
    pub(super) limits: [f64; 2],
    /// How far it turns in a step.
    pub(super) reach: f64,
    pub(super) shape_every: f64,
    /// Number of the shape with the head ahead.
    pub(super) rest: usize,
}

impl HeadDesign {
    /// The angle of a shape.
    pub(super) fn shape_angle(&self, shape: usize) -> f64 {
        ((shape as f64 - self.rest as f64) * self.shape_every).clamp(self.limits[0], self.limits[1])
    }

    /// The shape nearest to an angle.
    pub(super) fn nearest_shape(&self, angle: f64) -> usize {
        ((angle / self.shape_every).round() + self.rest as f64).max(0.0) as usize
    }
}

impl Design {
    /// Checks a body file, with another fitness script than its own if one is given.
    pub fn new(file: BodyFile, fitness: Option<FitnessFile>) -> Result<Self, BodyFileError> {
        file.check()?;
        let overrides = fitness.is_some();
        let mut fitness = match (fitness, &file.fitness.own, &file.fitness.script) {
            (Some(fitness), _, _) => fitness,
            (None, Some(own), _) => own.clone(),
            (None, None, name) => library::script(name.as_deref().unwrap_or_default())?,
        };
        let says_its_own = overrides && !fitness.behaviour.is_empty();
        if !file.fitness.behaviour.is_empty() && !says_its_own {
            fitness.behaviour.clone_from(&file.fitness.behaviour);
        }
        let groups = groups(&file);
        let sensor_names: Vec<&str> = file.sensors.iter().map(|sensor| sensor.name.as_str()).collect();
        let group_names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
        let vocabulary = Vocabulary::new(&sensor_names, &group_names).map_err(|name| BodyFileError::Value {
            place: "sensor".to_owned(),
            problem: format!("`{name}` would mean two things in a script; choose another name"),
        })?;
        let plan = net_plan(&file);
        plan.parameters.check()?;
        let head = file.head.as_ref().map(|head| head_design(head, &file));
        Ok(Self {
            script: Script::new(&fitness, &vocabulary)?,
            senses: file.sensors.iter().map(Sense::new).collect(),
            groups,
            drive: Drive { axle: file.wheels.axle, ahead: file.wheels.ahead },
            wheel: linear(plan.transfer.range(), [if file.wheels.reverse { -1.0 } else { 0.0 }, 1.0]),
            shapes: shapes(&file, head.as_ref())?,
            head,
            plan,
            fitness,
            file,
        })
    }

    /// A body and its own fitness, by the name of the body.
    pub fn built_in(name: &str) -> Result<Self, BodyFileError> {
        Self::new(library::body(name)?, None)
    }

    /// The file it was made from.
    pub fn file(&self) -> &BodyFile {
        &self.file
    }

    /// The fitness script it uses.
    pub fn fitness(&self) -> &FitnessFile {
        &self.fitness
    }

    /// What the Population Manager is told.
    pub fn parameters(&self) -> &NetParameters {
        &self.plan.parameters
    }

    /// What nets there may be, and what their values mean.
    pub fn plan(&self) -> &NetPlan {
        &self.plan
    }

    /// The shape that the world is told first.
    pub fn shape(&self) -> &Arc<Body> {
        &self.shapes[self.rest()]
    }

    /// How many numbers say how an individual behaved.
    pub fn behaviours(&self) -> usize {
        self.script.behaviours()
    }

    pub(super) fn rest(&self) -> usize {
        self.head.map_or(0, |head| head.rest)
    }

    pub(super) fn feelings(&self) -> &[Feeling] {
        &self.file.inputs
    }
}

/// Factor and summand of the line through both ends.
fn linear([low, high]: [f64; 2], [to_low, to_high]: [f64; 2]) -> [f64; 2] {
    let factor = (to_high - to_low) / (high - low);
    [factor, to_low - factor * low]
}

fn groups(file: &BodyFile) -> Vec<(String, Vec<u16>)> {
    let mut groups: Vec<(String, Vec<u16>)> = Vec::new();
    for (nth, sensor) in (0..).zip(&file.sensors) {
        for name in &sensor.groups {
            match groups.iter_mut().find(|(known, _)| known == name) {
                Some((_, members)) if members.last() == Some(&nth) => {}
                Some((_, members)) => members.push(nth),
                None => groups.push((name.clone(), vec![nth])),
            }
        }
    }
    groups
}

fn net_plan(file: &BodyFile) -> NetPlan {
    let net = &file.net;
    let genes = |values: &ValuesFile| {
        let [low, high] = if values.values.is_empty() { [0.0; 2] } else { values.limits };
        Genes { values: values.values.len(), low, high }
    };
    let values = |values: &ValuesFile| {
        let value = |value: &super::body::ValueFile| {
            let [low, high] = value.between.unwrap_or(values.limits);
            Value { means: value.means, low, high }
        };
        values.values.iter().map(value).collect()
    };
    let parameters = NetParameters {
        concurrent: net.concurrent,
        globals: genes(&net.global_values),
        inputs: file.sensors.len() + file.inputs.len(),
        input: genes(&net.input_values),
        outputs: 2 + usize::from(file.head.is_some()),
        output: genes(&net.output_values),
        hidden_min: net.hidden[0],
        hidden_max: net.hidden[1],
        hidden: genes(&net.hidden_values),
        weight: genes(&net.weight_values),
        input_to_output: net.input_to_output,
        recurrent: net.recurrent,
    };
    NetPlan {
        parameters,
        transfer: net.transfer,
        dt: file.trial.dt,
        globals: values(&net.global_values),
        inputs: values(&net.input_values),
        outputs: values(&net.output_values),
        hidden: values(&net.hidden_values),
        weights: values(&net.weight_values),
    }
}

fn head_design(head: &HeadFile, file: &BodyFile) -> HeadDesign {
    let limits = head.limits.map(f64::to_radians);
    let shape_every = if head.layers.is_empty() { f64::MAX } else { head.shape_every.to_radians() };
    HeadDesign {
        angle: linear(file.net.transfer.range(), limits),
        limits,
        reach: head.max_speed.to_radians() * file.trial.dt,
        shape_every,
        rest: (-limits[0] / shape_every).round() as usize,
    }
}

/// The body's shape with its head at each angle of which the world is told.
fn shapes(file: &BodyFile, head: Option<&HeadDesign>) -> Result<Vec<Arc<Body>>, BodyFileError> {
    let last = head.map_or(0, |head| head.nearest_shape(head.limits[1]));
    let turning = file.head.as_ref().map_or([].as_slice(), |head| head.layers.as_slice());
    let shape = |nth: usize| {
        let mut at = Head::ahead(file.head.as_ref());
        at.turn_to(head.map_or(0.0, |head| head.shape_angle(nth)));
        let layers = file.layers.iter().zip(1..).map(|(layer, number)| {
            let turns = turning.contains(&number) && at.angle() != 0.0;
            let place = |point: &[f64; 2]| if turns { at.point(*point) } else { *point };
            let polygons = layer.polygons.iter().map(|polygon| polygon.iter().map(place).collect()).collect();
            Layer { height: layer.height, polygons }
        });
        let refused = |error: arena::BodyError| {
            let place = format!("layer (with the head at {:.0} degrees)", at.angle().to_degrees());
            BodyFileError::Value { place, problem: error.to_string() }
        };
        Body::new(layers.collect()).map(Arc::new).map_err(refused)
    };
    (0..=last).map(shape).collect()
}
