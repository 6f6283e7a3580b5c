//! `rossum_sim.Agent`.

use numpy::{AllowTypeChange, PyArray1, PyArrayLike1};
use pyo3::{Bound, Py, PyResult, Python, pyclass, pymethods};
use world::{
    Action, JointTarget,
    interface::{InterfaceValue, MotorKind, Port, Role},
    snapshot::AgentCard,
};

use crate::{error, simulation::Simulation, world::World};

/// An array, or anything that NumPy makes one of.
pub(crate) type Numbers<'py> = PyArrayLike1<'py, f64, AllowTypeChange>;

/// A robot in a world. `world.agents` has them by name.
#[pyclass(frozen, module = "rossum_sim")]
pub(crate) struct Agent {
    world: Py<World>,
    card: AgentCard,
    /// The values that it senses.
    sensors: Vec<InterfaceValue>,
}

/// A motor of an agent.
#[pyclass(frozen, module = "rossum_sim", get_all)]
pub(crate) struct Motor {
    /// Name within the agent.
    name: String,
    /// Meaning of its target: `angle` (rad, or m for a sliding joint), `speed` (rad/s, or m/s) or `signal`.
    kind: &'static str,
    /// Smallest target.
    low: f64,
    /// Largest target.
    high: f64,
    /// Largest torque, in N·m.
    max_torque: f64,
}

/// A number that an agent senses.
#[pyclass(frozen, module = "rossum_sim", get_all)]
pub(crate) struct Sensor {
    /// Name within the agent.
    name: String,
    /// Unit; empty for pure numbers.
    unit: &'static str,
    /// Smallest value of its nominal range.
    low: f64,
    /// Largest value of its nominal range.
    high: f64,
}

#[pymethods]
impl Motor {
    fn __repr__(&self) -> String {
        format!("<Motor {} {} {} to {}>", self.name, self.kind, self.low, self.high)
    }
}

#[pymethods]
impl Sensor {
    fn __repr__(&self) -> String {
        format!("<Sensor {} {} to {} {}>", self.name, self.low, self.high, self.unit)
    }
}

impl Agent {
    pub(crate) fn new(world: Py<World>, card: AgentCard) -> Self {
        let sensors = card.values.iter().filter(|value| value.role != Role::Input).cloned().collect();
        Self { world, card, sensors }
    }

    fn with<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Simulation) -> PyResult<R> + Send) -> PyResult<R> {
        self.world.get().simulation.with(py, |simulation| match simulation.world.catalogue().agent(self.card.id) {
            Some(_) => work(simulation),
            None => Err(error::failed(format_args!("the agent `{}` has left the world", self.card.name))),
        })
    }

    /// Reads what the agent senses, by `convert`.
    fn sense<'py>(
        &self,
        py: Python<'py>,
        convert: fn(&InterfaceValue, f64) -> f64,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.with(py, |simulation| {
            let readings = simulation.world.sim().sensor_values();
            let reading = |value: &InterfaceValue| match value.port {
                Port::Sensor(index) => readings.get(index).copied().unwrap_or_default(),
                // the engine reports -1 if nothing is in range
                Port::Distance(index) => {
                    readings.get(index).copied().filter(|x| *x >= 0.0).unwrap_or(value.physical.max)
                }
                Port::MotorTarget(_) | Port::MotorTorque(_) => 0.0,
            };
            Ok(self.sensors.iter().map(|value| convert(value, reading(value))).collect())
        })?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// The numbers of an array, one for each of `count` motors or inputs.
    fn numbers(array: &Numbers<'_>, count: usize, what: &str) -> PyResult<Vec<f64>> {
        let numbers: Vec<f64> = array.as_array().iter().copied().collect();
        if numbers.len() == count {
            return Ok(numbers);
        }
        Err(error::invalid(format_args!("{} {what} for {count} motors", numbers.len())))
    }
}

#[pymethods]
impl Agent {
    /// Name of the agent.
    #[getter]
    fn name(&self) -> &str {
        &self.card.name
    }

    /// Name of its model.
    #[getter]
    fn robot(&self) -> &str {
        &self.card.robot
    }

    /// Its motors, in order.
    #[getter]
    fn motors(&self) -> Vec<Motor> {
        let motors = self.card.motors.iter().map(|motor| Motor {
            name: motor.name.clone(),
            kind: match motor.kind {
                MotorKind::Angle => "angle",
                MotorKind::Speed => "speed",
                MotorKind::Signal => "signal",
            },
            low: motor.range.min,
            high: motor.range.max,
            max_torque: motor.max_torque,
        });
        motors.collect()
    }

    /// What it senses, in the order of `sensor_values`.
    #[getter]
    fn sensors(&self) -> Vec<Sensor> {
        let sensors = self.sensors.iter().map(|value| Sensor {
            name: value.name.trim_start_matches('/').to_owned(),
            unit: value.unit,
            low: value.physical.min,
            high: value.physical.max,
        });
        sensors.collect()
    }

    /// Readings of all sensors, in physical units. A copy.
    #[getter]
    fn sensor_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.sense(py, |_, reading| reading)
    }

    /// Readings of all sensors, clamped to their ranges and normalized to -1 to 1, or 0 to 1. A copy.
    #[getter]
    fn normalized_sensor_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        self.sense(py, InterfaceValue::normalized_from_physical)
    }

    /// Readings of all motors: the angle, the speed, or the signal. A copy.
    #[getter]
    fn motor_values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.with(py, |simulation| Ok(simulation.world.motor_readings(self.card.id)))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Position of its root body, in m.
    #[getter]
    fn position(&self, py: Python<'_>) -> PyResult<[f64; 3]> {
        self.with(py, |simulation| {
            Ok(simulation.world.root_poses(self.card.id).map(|[now, _]| now.pos).unwrap_or_default())
        })
    }

    /// Orientation of its root body, a quaternion with w first.
    #[getter]
    fn orientation(&self, py: Python<'_>) -> PyResult<[f64; 4]> {
        let identity = [1.0, 0.0, 0.0, 0.0];
        self.with(py, |simulation| Ok(simulation.world.root_poses(self.card.id).map_or(identity, |[now, _]| now.quat)))
    }

    /// Sets the targets of all motors, in physical units, and optionally the fraction of its torque that each may use. NaN
    /// keeps what a motor has. Takes effect with the next step, and holds.
    #[pyo3(signature = (targets, torques = None))]
    fn act(&self, py: Python<'_>, targets: Numbers<'_>, torques: Option<Numbers<'_>>) -> PyResult<()> {
        let count = self.card.motors.len();
        let targets = Self::numbers(&targets, count, "targets")?;
        let torques = match torques {
            Some(torques) => Self::numbers(&torques, count, "torques")?,
            None => vec![f64::NAN; count],
        };
        let given = |x: f64| (!x.is_nan()).then_some(x);
        let actions = targets.into_iter().zip(torques).enumerate().map(|(motor, (target, torque))| Action::Set {
            motor,
            target: given(target),
            torque: given(torque),
        });
        let actions = actions.collect();
        self.with(py, |simulation| simulation.act(self.card.id, actions))
    }

    /// Sets the targets of all motors as fractions: -1 to 1 is their range.
    fn act_normalized(&self, py: Python<'_>, targets: Numbers<'_>) -> PyResult<()> {
        let targets = Self::numbers(&targets, self.card.motors.len(), "targets")?;
        if targets.iter().any(|x| !x.is_finite()) {
            return Err(error::invalid("a target is not finite"));
        }
        let inputs = self.card.values.iter().filter(|value| matches!(value.port, Port::MotorTarget(_)));
        let actions = inputs.zip(targets).filter_map(|(input, target)| input.action(target)).collect();
        self.with(py, |simulation| simulation.act(self.card.id, actions))
    }

    /// Sets the feedback law of all motors: in each physics step, the torque is `kp (q - q_now) + kd (dq - dq_now) + tau`, in
    /// rad, rad/s and N·m. For motors with feedback, such as those of the soccer robots.
    #[pyo3(signature = (q, dq, kp, kd, tau))]
    fn act_joints(
        &self,
        py: Python<'_>,
        q: Numbers<'_>,
        dq: Numbers<'_>,
        kp: Numbers<'_>,
        kd: Numbers<'_>,
        tau: Numbers<'_>,
    ) -> PyResult<()> {
        let count = self.card.motors.len();
        let columns = [(&q, "q"), (&dq, "dq"), (&kp, "kp"), (&kd, "kd"), (&tau, "tau")];
        let mut numbers = Vec::with_capacity(columns.len());
        for (column, name) in columns {
            numbers.push(Self::numbers(column, count, name)?);
        }
        let at = |column: usize, motor: usize| {
            numbers.get(column).and_then(|column: &Vec<f64>| column.get(motor)).copied().unwrap_or(f64::NAN)
        };
        let target = |motor| JointTarget {
            q: at(0, motor),
            dq: at(1, motor),
            kp: at(2, motor),
            kd: at(3, motor),
            tau: at(4, motor),
        };
        let actions = (0..count).map(|motor| Action::Joint { motor, target: target(motor) }).collect();
        self.with(py, |simulation| simulation.act(self.card.id, actions))
    }

    fn __repr__(&self) -> String {
        let Self { card, sensors, .. } = self;
        format!("<Agent {} ({}), {} motors, {} sensors>", card.name, card.robot, card.motors.len(), sensors.len())
    }
}
