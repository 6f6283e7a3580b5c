//! A body file, validated and compiled.

use std::sync::Arc;

use arena::{Body, Layer};

use super::{
    body::{BodyFile, BodyFileError, FitnessFile, HeadFile, InternalInput, StartPoses, ValuesFile},
    drive::Drive,
    library,
    net::{NetSpec, ParameterSpec},
    script::{Script, Vocabulary},
    sensor::{Head, Sensor},
    summary::Summary,
};
use crate::{NetParameters, genotype::Genes};

/// A robot as described by its body file; shared by all evaluations.
#[derive(Debug)]
pub struct Design {
    file: BodyFile,
    fitness: FitnessFile,
    net: NetSpec,
    pub(super) script: Script,
    summary: Summary,
    pub(super) sensors: Vec<Sensor>,
    /// Name of each group and the indices of its sensors.
    pub(super) groups: Vec<(String, Vec<u16>)>,
    pub(super) drive: Drive,
    /// A wheel's fraction of full speed is `wheel[0] * output + wheel[1]`.
    pub(super) wheel: [f64; 2],
    pub(super) head: Option<HeadDesign>,
    /// One shape for each angle of the head, from right to left.
    pub(super) shapes: Vec<Arc<Body>>,
}

/// The head; angles in rad.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct HeadDesign {
    /// Its angle is `angle[0] * output + angle[1]`.
    pub(super) angle: [f64; 2],
    pub(super) limits: [f64; 2],
    /// Maximum rotation in a step.
    pub(super) max_turn: f64,
    pub(super) shape_every: f64,
    /// Index of the shape with the head straight ahead.
    pub(super) neutral_shape: usize,
}

impl HeadDesign {
    /// The angle of a shape.
    pub(super) fn shape_angle(&self, shape: usize) -> f64 {
        ((shape as f64 - self.neutral_shape as f64) * self.shape_every).clamp(self.limits[0], self.limits[1])
    }

    /// The shape nearest to an angle.
    pub(super) fn nearest_shape(&self, angle: f64) -> usize {
        ((angle / self.shape_every).round() + self.neutral_shape as f64).max(0.0) as usize
    }
}

impl Design {
    /// Validates a body file. `fitness` replaces the body's own fitness script.
    ///
    /// # Errors
    ///
    /// An invalid value, an unusable shape, or a script that does not compile.
    pub fn new(file: BodyFile, fitness: Option<FitnessFile>) -> Result<Self, BodyFileError> {
        file.check()?;
        let overrides = fitness.is_some();
        let mut fitness = match (fitness, &file.fitness.own, &file.fitness.script) {
            (Some(fitness), _, _) => fitness,
            (None, Some(own), _) => own.clone(),
            (None, None, name) => library::script(name.as_deref().unwrap_or_default())?,
        };
        let has_own_behaviour = overrides && !fitness.behaviour.is_empty();
        if !file.fitness.behaviour.is_empty() && !has_own_behaviour {
            fitness.behaviour.clone_from(&file.fitness.behaviour);
        }
        let groups = groups(&file);
        let sensor_names: Vec<&str> = file.sensors.iter().map(|sensor| sensor.name.as_str()).collect();
        let group_names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
        let vocabulary = Vocabulary::new(&sensor_names, &group_names).map_err(|name| BodyFileError::Value {
            key: "sensor".to_owned(),
            problem: format!("`{name}` would be ambiguous in a script; choose another name"),
        })?;
        let net = net_spec(&file);
        crate::genotype::check(&net.parameters)?;
        let head = file.head.as_ref().map(|head| head_design(head, &file));
        Ok(Self {
            script: Script::new(&fitness, &vocabulary)?,
            summary: Summary::parse(&fitness.summary)?,
            sensors: file.sensors.iter().map(Sensor::new).collect(),
            groups,
            drive: Drive { axle: file.wheels.axle, ahead: file.wheels.ahead },
            wheel: linear(net.transfer.range(), [if file.wheels.reverse { -1.0 } else { 0.0 }, 1.0]),
            shapes: shapes(&file, head.as_ref())?,
            head,
            net,
            fitness,
            file,
        })
    }

    /// A built-in body with its own fitness script.
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

    /// The summary of its fitness script.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The message `NetParameters` for the Population Manager.
    pub fn parameters(&self) -> &NetParameters {
        &self.net.parameters
    }

    /// The permitted nets and the meaning of their values.
    pub fn net(&self) -> &NetSpec {
        &self.net
    }

    /// The shape with the head straight ahead.
    pub fn shape(&self) -> &Arc<Body> {
        &self.shapes[self.neutral_shape()]
    }

    /// Number of behaviour values of an evaluation.
    pub fn behaviours(&self) -> usize {
        self.script.behaviours()
    }

    /// Whether a trial is the same in a world of its own as after another one: the body keeps its shape, which the last trial
    /// could otherwise leave turned, and the world does not choose the start poses one after the other.
    pub(super) fn has_independent_trials(&self) -> bool {
        self.shapes.len() == 1 && !matches!(self.file().trial.start, StartPoses::Placed)
    }

    pub(super) fn neutral_shape(&self) -> usize {
        self.head.map_or(0, |head| head.neutral_shape)
    }

    pub(super) fn internal_inputs(&self) -> &[InternalInput] {
        &self.file.inputs
    }
}

/// Slope and intercept of the linear map between two intervals.
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

fn net_spec(file: &BodyFile) -> NetSpec {
    let net = &file.net;
    let genes = |values: &ValuesFile| {
        let [low, high] = if values.values.is_empty() { [0.0; 2] } else { values.limits };
        Genes { values: values.values.len(), low, high }
    };
    let values = |values: &ValuesFile| {
        let value = |value: &super::body::ValueFile| {
            let [low, high] = value.between.unwrap_or(values.limits);
            ParameterSpec { means: value.means, low, high }
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
    NetSpec {
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
        max_turn: head.max_speed.to_radians() * file.trial.dt,
        shape_every,
        neutral_shape: (-limits[0] / shape_every).round() as usize,
    }
}

/// The body's shape for each angle of the head that is sent to the world.
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
        let invalid = |error: arena::BodyError| {
            let key = format!("layer (with the head at {:.0} degrees)", at.angle().to_degrees());
            BodyFileError::Value { key, problem: error.to_string() }
        };
        Body::new(layers.collect()).map(Arc::new).map_err(invalid)
    };
    (0..=last).map(shape).collect()
}
