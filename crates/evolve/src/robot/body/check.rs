//! What a body file may say.

use super::{
    BodyFile, BodyFileError, Feeling, HeadFile, MAX_CONCURRENT, MAX_GROUPS, MAX_POINTS, MAX_SENSORS, MAX_STEPS,
    MAX_TRIALS, Mount, NetFile, Reading, SensorFile, SensorKind, Start, TrialFile, ValuesFile, WheelsFile,
};
use crate::robot::{net::Meaning, noise::MOTOR_NOISE_SPAN, script};

/// Greatest length, in mm: the arena's side and more.
const LENGTH: f64 = 10_000.0;
/// Most shapes of a head: more would only take memory.
const MAX_SHAPES: f64 = 1000.0;

/// Checks every value by itself and against the others; shape and scripts are checked where they are made.
pub(super) fn check(file: &BodyFile) -> Result<(), BodyFileError> {
    layers(file)?;
    sensors(&file.sensors, file.head.is_some())?;
    wheels(&file.wheels, &file.trial)?;
    if let Some(head) = &file.head {
        check_head(head, file.layers.len())?;
    } else if file.inputs.contains(&Feeling::Head) {
        return wrong("inputs", "there is no head to feel; add a section [head]");
    }
    net(&file.net)?;
    trial(&file.trial)?;
    within("fitness.worst", file.fitness.worst, -1e100, 1e100)?;
    match (&file.fitness.script, &file.fitness.own) {
        (Some(_), Some(_)) => wrong("fitness", "either `script` or `own` can say what counts, not both"),
        (None, None) => wrong("fitness", "name a ready-made `script`, or write one under [fitness.own]"),
        _ => Ok(()),
    }
}

fn wrong<T>(place: impl Into<String>, problem: impl Into<String>) -> Result<T, BodyFileError> {
    Err(BodyFileError::Value { place: place.into(), problem: problem.into() })
}

fn within(place: impl Into<String>, value: f64, low: f64, high: f64) -> Result<(), BodyFileError> {
    if value >= low && value <= high { Ok(()) } else { wrong(place, format!("{value} must be {low} to {high}")) }
}

fn above_0(place: impl Into<String>, value: f64, high: f64) -> Result<(), BodyFileError> {
    let good = value > 0.0 && value <= high;
    if good { Ok(()) } else { wrong(place, format!("{value} must be above 0 and at most {high}")) }
}

fn layers(file: &BodyFile) -> Result<(), BodyFileError> {
    let points = file.layers.iter().flat_map(|layer| &layer.polygons).map(Vec::len).sum::<usize>();
    if points > MAX_POINTS {
        return wrong("layer", format!("{points} points are too many; at most {MAX_POINTS} are allowed"));
    }
    for (nth, layer) in (1..).zip(&file.layers) {
        above_0(format!("layer {nth}: height"), layer.height, LENGTH)?;
        for &coordinate in layer.polygons.iter().flatten().flatten() {
            within(format!("layer {nth}: polygons"), coordinate, -LENGTH, LENGTH)?;
        }
    }
    Ok(())
}

fn sensors(sensors: &[SensorFile], has_head: bool) -> Result<(), BodyFileError> {
    if sensors.len() > MAX_SENSORS {
        return wrong("sensor", format!("{} sensors are too many; at most {MAX_SENSORS} are allowed", sensors.len()));
    }
    for (nth, sensor) in (1..).zip(sensors) {
        let place = |key: &str| format!("sensor {nth} ({}): {key}", sensor.name);
        if sensor.groups.len() > MAX_GROUPS {
            return wrong(place("groups"), format!("a sensor is in at most {MAX_GROUPS} groups"));
        }
        for word in sensor.groups.iter().chain([&sensor.name]) {
            if !script::is_name(word) {
                return wrong(place("name"), format!("`{word}` is no word of letters, digits and _ for a script"));
            }
        }
        for &coordinate in &sensor.at {
            within(place("at"), coordinate, -LENGTH, LENGTH)?;
        }
        within(place("direction"), sensor.direction, -360.0, 360.0)?;
        within(place("tilt"), sensor.tilt, -90.0, 90.0)?;
        for &angle in &sensor.opening {
            within(place("opening"), angle, 0.0, 90.0)?;
        }
        above_0(place("range"), sensor.range, LENGTH)?;
        within(place("noise"), sensor.noise, 0.0, 1.0)?;
        if sensor.mount == Mount::Head && !has_head {
            return wrong(place("mount"), "there is no head to carry it; add a section [head]");
        }
        let sees_colour = !matches!(sensor.reading, Reading::Near | Reading::Distance);
        if sensor.kind == SensorKind::Sonic && sees_colour {
            return wrong(place("reading"), "sound has no colour; use `near` or `distance`, or a visual sensor");
        }
    }
    Ok(())
}

fn wheels(wheels: &WheelsFile, trial: &TrialFile) -> Result<(), BodyFileError> {
    above_0("wheels.axle", wheels.axle, LENGTH)?;
    within("wheels.ahead", wheels.ahead, -LENGTH, LENGTH)?;
    above_0("wheels.max_speed", wheels.max_speed, 100.0 * LENGTH)?;
    within("wheels.noise", wheels.noise, 0.0, 1.0)?;
    // a world turns a robot the shorter way
    let turn = 2.0 * wheels.max_speed * (1.0 + MOTOR_NOISE_SPAN * wheels.noise * trial.noise) * trial.dt / wheels.axle;
    if turn < std::f64::consts::PI {
        return Ok(());
    }
    let problem = format!("the robot could turn by {:.0} degrees in a step; below 180 are allowed", turn.to_degrees());
    wrong("wheels.max_speed", format!("{problem}: take slower wheels or a shorter `trial.dt`"))
}

fn check_head(head: &HeadFile, layers: usize) -> Result<(), BodyFileError> {
    for &coordinate in &head.pivot {
        within("head.pivot", coordinate, -LENGTH, LENGTH)?;
    }
    let [right, left] = head.limits;
    within("head.limits", right, -180.0, 0.0)?;
    within("head.limits", left, 0.0, 180.0)?;
    if right == left {
        return wrong("head.limits", "the head cannot turn; give an angle to the right and one to the left");
    }
    above_0("head.max_speed", head.max_speed, 100_000.0)?;
    above_0("head.shape_every", head.shape_every, 360.0)?;
    if (left - right) / head.shape_every > MAX_SHAPES {
        return wrong("head.shape_every", format!("{} gives too many shapes; at most {MAX_SHAPES}", head.shape_every));
    }
    match head.layers.iter().find(|&&layer| layer == 0 || layer > layers) {
        Some(layer) => wrong("head.layers", format!("there is no layer {layer}; they are 1 to {layers}")),
        None => Ok(()),
    }
}

fn net(net: &NetFile) -> Result<(), BodyFileError> {
    use Meaning::{Bias, Gain, Gate, Speed, Tau, Weight};
    let parts: [(&str, &ValuesFile, &[Meaning]); 5] = [
        ("net.global_values", &net.global_values, &[Gain, Speed]),
        ("net.input_values", &net.input_values, &[Bias, Gain]),
        ("net.output_values", &net.output_values, &[Bias, Gain, Tau]),
        ("net.hidden_values", &net.hidden_values, &[Bias, Gain, Tau]),
        ("net.weight_values", &net.weight_values, &[Weight, Gate]),
    ];
    for (place, values, allowed) in parts {
        for (nth, value) in values.values.iter().enumerate() {
            let name = format!("{:?}", value.means).to_lowercase();
            if !allowed.contains(&value.means) {
                return wrong(place, format!("`{name}` means nothing here"));
            }
            if values.values.iter().skip(nth + 1).any(|other| other.means == value.means) {
                return wrong(place, format!("`{name}` is there twice"));
            }
            let limits = value.between.unwrap_or(values.limits);
            for limit in values.limits.into_iter().chain(limits) {
                within(place, limit, -1e6, 1e6)?;
            }
            if value.means == Speed && limits.iter().any(|limit| !(0.0..=1.0).contains(limit)) {
                return wrong(place, "a factor on the speed must be 0 to 1; give it its own `between`");
            }
            if value.means == Tau && limits[0].min(limits[1]) < 0.0 {
                return wrong(place, "a time constant cannot be below 0; give it its own `between`");
            }
        }
    }
    if net.weight_values.values.first().is_none_or(|value| value.means != Weight) {
        return wrong("net.weight_values", "the first value of a weight must be `weight`");
    }
    within("net.concurrent", net.concurrent as f64, 1.0, MAX_CONCURRENT as f64)
}

fn trial(trial: &TrialFile) -> Result<(), BodyFileError> {
    within("trial.steps", f64::from(trial.steps), 1.0, f64::from(MAX_STEPS))?;
    within("trial.trials", f64::from(trial.trials), 1.0, f64::from(MAX_TRIALS))?;
    above_0("trial.dt", trial.dt, 60.0)?;
    within("trial.noise", trial.noise, 0.0, 100.0)?;
    within("trial.stuck_within", trial.stuck_within, 0.0, LENGTH)?;
    match &trial.start {
        Start::Random => Ok(()),
        Start::Zone(zone) => {
            for &edge in zone {
                within("trial.start.zone", edge, 0.0, 2000.0)?;
            }
            let [left, low, right, high] = *zone;
            let turned = left > right || low > high;
            if turned { wrong("trial.start.zone", "least x and y come first, then the greatest") } else { Ok(()) }
        }
        Start::Poses(poses) if poses.is_empty() => wrong("trial.start.poses", "there must be at least one pose"),
        Start::Poses(poses) => poses.iter().try_for_each(|[x, y, direction]| {
            within("trial.start.poses", *x, 0.0, 2000.0)?;
            within("trial.start.poses", *y, 0.0, 2000.0)?;
            within("trial.start.poses", *direction, -360.0, 360.0)
        }),
    }
}
