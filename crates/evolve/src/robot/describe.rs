//! A human-readable description of a design.

use std::fmt::{self, Display, Formatter};

use super::{
    Design,
    body::{InternalInput, Mount, Reading, SensorFile, SensorKind},
    net::{ParameterKind, ParameterSpec},
};
use crate::genotype::Genes;

/// The meaning of each neuron and each value of a robot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The body's title.
    pub title: String,
    /// The fitness script's title.
    pub fitness: String,
    /// Input neurons, in order.
    pub inputs: Vec<String>,
    /// Output neurons, in order.
    pub outputs: Vec<String>,
    /// The net's structure and the values encoded in the genes.
    pub values: Vec<String>,
    /// Number and length of the trials.
    pub trial: String,
}

impl Design {
    /// Describes each neuron and each value.
    pub fn describe(&self) -> Description {
        let file = self.file();
        let (wheels, title) = (&file.wheels, &self.fitness().title);
        let lowest = if wheels.reverse { -wheels.max_speed } else { 0.0 };
        let wheel = |side| format!("{side} wheel, {lowest} to {} mm/s", wheels.max_speed);
        let head = file.head.as_ref().map(|head| {
            let [right, left] = head.limits;
            format!("head, {right} to {left} degrees at up to {} degrees/s", head.max_speed)
        });
        let inputs = file.sensors.iter().map(sensor).chain(file.inputs.iter().map(|input| internal_input(*input)));
        Description {
            title: file.title.clone(),
            fitness: if title.is_empty() { "a script without a title".to_owned() } else { title.clone() },
            inputs: inputs.collect(),
            outputs: [wheel("left"), wheel("right")].into_iter().chain(head).collect(),
            values: self.values(),
            trial: format!(
                "{} of {} steps of {} s",
                counted(file.trial.trials, "trial"),
                file.trial.steps,
                file.trial.dt
            ),
        }
    }

    fn values(&self) -> Vec<String> {
        let (spec, net) = (self.net(), self.parameters());
        let hidden = match (net.hidden_min, net.hidden_max) {
            (min, max) if min == max => format!("{max} hidden neurons"),
            (min, max) => format!("{min} to {max} hidden neurons"),
        };
        let flags = [
            (net.input_to_output, "weights from inputs to outputs", "no weights from inputs to outputs"),
            (net.recurrent, "recurrent weights", "no recurrent weights"),
        ];
        let parts: [(&str, Genes, &[ParameterSpec]); 5] = [
            ("global", net.globals, &spec.globals),
            ("each input", net.input, &spec.inputs),
            ("each output", net.output, &spec.outputs),
            ("each hidden neuron", net.hidden, &spec.hidden),
            ("each weight", net.weight, &spec.weights),
        ];
        let values = parts.into_iter().flat_map(|(of, genes, values)| {
            values.iter().map(move |value| format!("{of}: {}", parameter(genes, value)))
        });
        let flags = flags.into_iter().map(|(set, yes, no)| if set { yes } else { no }.to_owned());
        [hidden].into_iter().chain(flags).chain(values).collect()
    }
}

fn counted(count: u32, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

fn parameter(genes: Genes, value: &ParameterSpec) -> String {
    let name = match value.means {
        ParameterKind::Bias => "bias",
        ParameterKind::Gain => "gain",
        ParameterKind::Tau => "time constant in s",
        ParameterKind::Speed => "fraction of full speed",
        ParameterKind::Weight => "weight",
        ParameterKind::Gate => "gate, open above 0",
    };
    let (low, high) = (value.low, value.high);
    if (low, high) == (genes.low, genes.high) {
        return format!("{name}, {low} to {high}");
    }
    format!("{name}, {low} to {high} (genes {} to {})", genes.low, genes.high)
}

fn sensor(sensor: &SensorFile) -> String {
    let kind = match sensor.kind {
        SensorKind::Visual => "visual",
        SensorKind::Sonic => "sonic",
    };
    let mount = match sensor.mount {
        Mount::Body => "",
        Mount::Head => " on the head",
        Mount::World => " fixed in the world",
    };
    let reading = match sensor.reading {
        Reading::Near => format!("1 near, 0 from {} mm on", sensor.range),
        Reading::Distance => format!("0 near, 1 from {} mm on", sensor.range),
        Reading::Red => "redness".to_owned(),
        Reading::Green => "greenness".to_owned(),
        Reading::Blue => "blueness".to_owned(),
        Reading::Brightness => "brightness".to_owned(),
        Reading::Match([red, green, blue]) => format!("similarity to the colour {red} {green} {blue}"),
        Reading::NearColor([red, green, blue]) => {
            format!("1 near, 0 from {} mm on or unless it has the colour {red} {green} {blue}", sensor.range)
        }
    };
    format!("{}: {kind}{mount}, at {} degrees, {reading}", sensor.name, sensor.direction)
}

fn internal_input(input: InternalInput) -> String {
    match input {
        InternalInput::Constant => "always 1",
        InternalInput::Bumper => "1 if the last move was blocked",
        InternalInput::Stress => "blocked fraction of the last move",
        InternalInput::Death => "1 on deathly ground",
        InternalInput::TiltS => "pitch, 1 is 90 degrees uphill",
        InternalInput::TiltC => "roll, 1 is the left side up by 90 degrees",
        InternalInput::CompassX => "cosine of the direction",
        InternalInput::CompassY => "sine of the direction",
        InternalInput::OdometryLeft => "speed of the left wheel",
        InternalInput::OdometryRight => "speed of the right wheel",
        InternalInput::Head => "direction of the head, -1 right to 1 left",
    }
    .to_owned()
}

impl Display for Description {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.title)?;
        writeln!(f, "{}", self.trial)?;
        writeln!(f, "fitness: {}", self.fitness)?;
        for (kind, neurons) in [("input", &self.inputs), ("output", &self.outputs)] {
            for (nth, neuron) in (1..).zip(neurons) {
                writeln!(f, "{kind} {nth}: {neuron}")?;
            }
        }
        self.values.iter().try_for_each(|value| writeln!(f, "{value}"))
    }
}
