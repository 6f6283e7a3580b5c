//! Validation of body files.

use super::{
    BodyFile, BodyFileError, HeadFile, InternalInput, MAX_CONCURRENT, MAX_GROUPS, MAX_POINTS, MAX_SENSORS, MAX_STEPS,
    MAX_TRIALS, Mount, NetFile, Reading, SensorFile, SensorKind, StartPoses, TrialFile, ValuesFile, WheelsFile,
};
use crate::robot::{net::ParameterKind, random::MOTOR_NOISE_SPAN, script};

/// Maximum length, in mm; larger than the arena.
const MAX_LENGTH: f64 = 10_000.0;
/// Maximum number of shapes of a head, to limit memory.
const MAX_SHAPES: f64 = 1000.0;

/// Validates all values, individually and against each other.
pub(super) fn check(file: &BodyFile) -> Result<(), BodyFileError> {
    layers(file)?;
    sensors(&file.sensors, file.head.is_some())?;
    wheels(&file.wheels, &file.trial)?;
    if let Some(head) = &file.head {
        check_head(head, file.layers.len())?;
    } else if file.inputs.contains(&InternalInput::Head) {
        return invalid("inputs", "`head` requires a section [head]");
    }
    net(&file.net)?;
    trial(&file.trial)?;
    within("fitness.worst", file.fitness.worst, -1e100, 1e100)?;
    match (&file.fitness.script, &file.fitness.own) {
        (Some(_), Some(_)) => invalid("fitness", "`script` and `own` exclude each other"),
        (None, None) => invalid("fitness", "set `script` to a built-in script, or add a section [fitness.own]"),
        _ => Ok(()),
    }
}

fn invalid<T>(key: impl Into<String>, problem: impl Into<String>) -> Result<T, BodyFileError> {
    Err(BodyFileError::Value { key: key.into(), problem: problem.into() })
}

fn within(key: impl Into<String>, value: f64, low: f64, high: f64) -> Result<(), BodyFileError> {
    if value >= low && value <= high { Ok(()) } else { invalid(key, format!("{value} is out of range {low}..={high}")) }
}

fn above_0(key: impl Into<String>, value: f64, high: f64) -> Result<(), BodyFileError> {
    let is_valid = value > 0.0 && value <= high;
    if is_valid { Ok(()) } else { invalid(key, format!("{value} must be above 0 and at most {high}")) }
}

fn layers(file: &BodyFile) -> Result<(), BodyFileError> {
    let points = file.layers.iter().flat_map(|layer| &layer.polygons).map(Vec::len).sum::<usize>();
    if points > MAX_POINTS {
        return invalid("layer", format!("{points} points; at most {MAX_POINTS} are allowed"));
    }
    for (nth, layer) in (1..).zip(&file.layers) {
        above_0(format!("layer {nth}: height"), layer.height, MAX_LENGTH)?;
        for &coordinate in layer.polygons.iter().flatten().flatten() {
            within(format!("layer {nth}: polygons"), coordinate, -MAX_LENGTH, MAX_LENGTH)?;
        }
    }
    Ok(())
}

fn sensors(sensors: &[SensorFile], has_head: bool) -> Result<(), BodyFileError> {
    if sensors.len() > MAX_SENSORS {
        return invalid("sensor", format!("{} sensors; at most {MAX_SENSORS} are allowed", sensors.len()));
    }
    for (nth, sensor) in (1..).zip(sensors) {
        let key = |key: &str| format!("sensor {nth} ({}): {key}", sensor.name);
        if sensor.groups.len() > MAX_GROUPS {
            return invalid(key("groups"), format!("a sensor may be in at most {MAX_GROUPS} groups"));
        }
        for word in sensor.groups.iter().chain([&sensor.name]) {
            if !script::is_name(word) {
                return invalid(key("name"), format!("`{word}` is not a valid name; use letters, digits and `_`"));
            }
        }
        for &coordinate in &sensor.at {
            within(key("at"), coordinate, -MAX_LENGTH, MAX_LENGTH)?;
        }
        within(key("direction"), sensor.direction, -360.0, 360.0)?;
        within(key("tilt"), sensor.tilt, -90.0, 90.0)?;
        for &angle in &sensor.opening {
            within(key("opening"), angle, 0.0, 90.0)?;
        }
        above_0(key("range"), sensor.range, MAX_LENGTH)?;
        within(key("noise"), sensor.noise, 0.0, 1.0)?;
        if sensor.mount == Mount::Head && !has_head {
            return invalid(key("mount"), "`head` requires a section [head]");
        }
        let sees_colour = !matches!(sensor.reading, Reading::Near | Reading::Distance);
        if sensor.kind == SensorKind::Sonic && sees_colour {
            return invalid(key("reading"), "sound has no colour; use `near` or `distance`, or a visual sensor");
        }
    }
    Ok(())
}

fn wheels(wheels: &WheelsFile, trial: &TrialFile) -> Result<(), BodyFileError> {
    above_0("wheels.axle", wheels.axle, MAX_LENGTH)?;
    within("wheels.ahead", wheels.ahead, -MAX_LENGTH, MAX_LENGTH)?;
    above_0("wheels.max_speed", wheels.max_speed, 100.0 * MAX_LENGTH)?;
    within("wheels.noise", wheels.noise, 0.0, 1.0)?;
    // a world turns a robot through the smaller angle
    let turn = 2.0 * wheels.max_speed * (1.0 + MOTOR_NOISE_SPAN * wheels.noise * trial.noise) * trial.dt / wheels.axle;
    if turn < std::f64::consts::PI {
        return Ok(());
    }
    let problem = format!("the robot could turn by {:.0} degrees in a step; it must be below 180", turn.to_degrees());
    invalid("wheels.max_speed", format!("{problem}; reduce the speed or `trial.dt`"))
}

fn check_head(head: &HeadFile, layers: usize) -> Result<(), BodyFileError> {
    for &coordinate in &head.pivot {
        within("head.pivot", coordinate, -MAX_LENGTH, MAX_LENGTH)?;
    }
    let [right, left] = head.limits;
    within("head.limits", right, -180.0, 0.0)?;
    within("head.limits", left, 0.0, 180.0)?;
    if right == left {
        return invalid("head.limits", "both limits are equal; set the rightmost and the leftmost angle");
    }
    above_0("head.max_speed", head.max_speed, 100_000.0)?;
    above_0("head.shape_every", head.shape_every, 360.0)?;
    if (left - right) / head.shape_every > MAX_SHAPES {
        return invalid(
            "head.shape_every",
            format!("{} results in too many shapes; at most {MAX_SHAPES} are allowed", head.shape_every),
        );
    }
    match head.layers.iter().find(|&&layer| layer == 0 || layer > layers) {
        Some(layer) => invalid("head.layers", format!("layer {layer} is out of range 1..={layers}")),
        None => Ok(()),
    }
}

fn net(net: &NetFile) -> Result<(), BodyFileError> {
    use ParameterKind::{Bias, Gain, Gate, Speed, Tau, Weight};
    let parts: [(&str, &ValuesFile, &[ParameterKind]); 5] = [
        ("net.global_values", &net.global_values, &[Gain, Speed]),
        ("net.input_values", &net.input_values, &[Bias, Gain]),
        ("net.output_values", &net.output_values, &[Bias, Gain, Tau]),
        ("net.hidden_values", &net.hidden_values, &[Bias, Gain, Tau]),
        ("net.weight_values", &net.weight_values, &[Weight, Gate]),
    ];
    for (key, values, allowed) in parts {
        for (nth, value) in values.values.iter().enumerate() {
            let name = value.means.name();
            if !allowed.contains(&value.means) {
                return invalid(key, format!("`{name}` is not allowed here"));
            }
            if values.values.iter().skip(nth + 1).any(|other| other.means == value.means) {
                return invalid(key, format!("duplicate `{name}`"));
            }
            let limits = value.between.unwrap_or(values.limits);
            for limit in values.limits.into_iter().chain(limits) {
                within(key, limit, -1e6, 1e6)?;
            }
            if value.means == Speed && limits.iter().any(|limit| !(0.0..=1.0).contains(limit)) {
                return invalid(key, "a factor on the speed must be within 0..=1; set `between`");
            }
            if value.means == Tau && limits[0].min(limits[1]) < 0.0 {
                return invalid(key, "a time constant must not be negative; set `between`");
            }
        }
    }
    if net.weight_values.values.first().is_none_or(|value| value.means != Weight) {
        return invalid("net.weight_values", "the first value of a weight must be `weight`");
    }
    within("net.concurrent", net.concurrent as f64, 1.0, MAX_CONCURRENT as f64)
}

fn trial(trial: &TrialFile) -> Result<(), BodyFileError> {
    within("trial.steps", f64::from(trial.steps), 1.0, f64::from(MAX_STEPS))?;
    within("trial.trials", f64::from(trial.trials), 1.0, f64::from(MAX_TRIALS))?;
    above_0("trial.dt", trial.dt, 60.0)?;
    within("trial.noise", trial.noise, 0.0, 100.0)?;
    within("trial.stuck_within", trial.stuck_within, 0.0, MAX_LENGTH)?;
    match &trial.start {
        StartPoses::Random | StartPoses::Placed => Ok(()),
        StartPoses::Zone(zone) => {
            for &edge in zone {
                within("trial.start.zone", edge, 0.0, 2000.0)?;
            }
            let [left, low, right, high] = *zone;
            let turned = left > right || low > high;
            if turned {
                invalid("trial.start.zone", "the minimum x and y come first, then the maximum")
            } else {
                Ok(())
            }
        }
        StartPoses::Poses(poses) if poses.is_empty() => invalid("trial.start.poses", "at least one pose is required"),
        StartPoses::Poses(poses) => poses.iter().try_for_each(|[x, y, direction]| {
            within("trial.start.poses", *x, 0.0, 2000.0)?;
            within("trial.start.poses", *y, 0.0, 2000.0)?;
            within("trial.start.poses", *direction, -360.0, 360.0)
        }),
    }
}
