//! A design in words, for people.

use std::fmt::{self, Display, Formatter};

use super::{
    Design,
    body::{Feeling, Mount, Reading, SensorFile, SensorKind},
    net::{Meaning, Value},
};
use crate::genotype::Genes;

/// What each neuron and each value of a robot means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// What it is.
    pub title: String,
    /// What counts.
    pub fitness: String,
    /// Input neurons, in their order.
    pub inputs: Vec<String>,
    /// Output neurons, in their order.
    pub outputs: Vec<String>,
    /// The values among the genes.
    pub values: Vec<String>,
    /// Trials, and where they start.
    pub trial: String,
}

impl Design {
    /// What each neuron and each value means.
    pub fn describe(&self) -> Description {
        let file = self.file();
        let (wheels, title) = (&file.wheels, &self.fitness().title);
        let lowest = if wheels.reverse { -wheels.max_speed } else { 0.0 };
        let wheel = |side| format!("{side} wheel, {lowest} to {} mm/s", wheels.max_speed);
        let head = file.head.as_ref().map(|head| {
            let [right, left] = head.limits;
            format!("head, {right} to {left} degrees at up to {} degrees/s", head.max_speed)
        });
        let inputs = file.sensors.iter().map(sensor).chain(file.inputs.iter().map(|feeling| felt(*feeling)));
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
        let (plan, net) = (self.plan(), self.parameters());
        let hidden = match (net.hidden_min, net.hidden_max) {
            (min, max) if min == max => format!("{max} hidden neurons"),
            (min, max) => format!("{min} to {max} hidden neurons"),
        };
        let flags = [
            (net.input_to_output, "weights from inputs to outputs", "no weights from inputs to outputs"),
            (net.recurrent, "recurrent weights", "no recurrent weights"),
        ];
        let parts: [(&str, Genes, &[Value]); 5] = [
            ("global", net.globals, &plan.globals),
            ("each input", net.input, &plan.inputs),
            ("each output", net.output, &plan.outputs),
            ("each hidden neuron", net.hidden, &plan.hidden),
            ("each weight", net.weight, &plan.weights),
        ];
        let values = parts
            .into_iter()
            .flat_map(|(of, genes, values)| values.iter().map(move |value| format!("{of}: {}", meaning(genes, value))));
        let flags = flags.into_iter().map(|(set, yes, no)| if set { yes } else { no }.to_owned());
        [hidden].into_iter().chain(flags).chain(values).collect()
    }
}

fn counted(count: u32, of: &str) -> String {
    if count == 1 { format!("1 {of}") } else { format!("{count} {of}s") }
}

fn meaning(genes: Genes, value: &Value) -> String {
    let name = match value.means {
        Meaning::Bias => "bias",
        Meaning::Gain => "gain",
        Meaning::Tau => "time constant in s",
        Meaning::Speed => "part of the full speed",
        Meaning::Weight => "weight",
        Meaning::Gate => "gate, open above 0",
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
        Mount::World => " on the world",
    };
    let says = match sensor.reading {
        Reading::Near => format!("1 near, 0 from {} mm on", sensor.range),
        Reading::Distance => format!("0 near, 1 from {} mm on", sensor.range),
        Reading::Red => "how red".to_owned(),
        Reading::Green => "how green".to_owned(),
        Reading::Blue => "how blue".to_owned(),
        Reading::Brightness => "how bright".to_owned(),
        Reading::Match([red, green, blue]) => format!("how like the colour {red} {green} {blue}"),
    };
    format!("{}: {kind}{mount}, at {} degrees, {says}", sensor.name, sensor.direction)
}

fn felt(feeling: Feeling) -> String {
    match feeling {
        Feeling::Constant => "always 1",
        Feeling::Bumper => "1 if the last move was blocked",
        Feeling::Stress => "blocked part of the last move",
        Feeling::Death => "1 on deathly ground",
        Feeling::TiltS => "tilt straightforward, 1 is 90 degrees uphill",
        Feeling::TiltC => "tilt across, 1 is the left side up by 90 degrees",
        Feeling::CompassX => "cosine of the direction",
        Feeling::CompassY => "sine of the direction",
        Feeling::OdometryLeft => "speed of the left wheel",
        Feeling::OdometryRight => "speed of the right wheel",
        Feeling::Head => "direction of the head, -1 right to 1 left",
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
