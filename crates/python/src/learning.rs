//! `rossum_sim._native.Env` and `VectorEnv`, below the Gymnasium classes of `rossum_sim.envs`.

use learning::{Autoreset, EnvError, Mjcf, Motion, Part, Step, TaskKind};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use physics::{ActuatorId, Pose};
use pyo3::{Bound, Py, PyErr, PyResult, Python, pyclass, pyfunction, pymethods};
use support::suggest;

use crate::{
    error,
    guarded::Guarded,
    image::{self, View},
    simulation::Model,
};

/// What an environment lets a robot learn.
#[pyclass(frozen, module = "rossum_sim._native")]
pub(crate) struct Task {
    kind: TaskKind,
}

/// One environment.
#[pyclass(frozen, module = "rossum_sim._native")]
pub(crate) struct Env {
    env: Guarded<learning::Env>,
    observation_size: usize,
}

/// Many environments on several threads.
#[pyclass(frozen, module = "rossum_sim._native")]
pub(crate) struct VectorEnv {
    envs: Guarded<learning::VectorEnv>,
    count: usize,
    observation_size: usize,
    /// The arrays that every step returns, if they are to be used again.
    kept: Option<Arrays>,
}

/// What a step of many environments writes.
struct Arrays {
    observations: Py<PyArray2<f32>>,
    rewards: Py<PyArray1<f64>>,
    terminated: Py<PyArray1<bool>>,
    truncated: Py<PyArray1<bool>>,
}

/// What a step of many environments returns; the last item are the final observations, with zeros where no episode has ended.
type Stepped<'py> = (
    Bound<'py, PyArray2<f32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<bool>>,
    Option<Bound<'py, PyArray2<f32>>>,
);

/// Lower and upper bounds of an observation.
type Bounds<'py> = (Bound<'py, PyArray1<f32>>, Bound<'py, PyArray1<f32>>);

/// What a motor is told: its name, and angle (rad), speed (rad/s), stiffness, damping and torque (N·m).
type Target = (String, [f64; 5]);

/// How a robot moves: position, orientation and velocity in the frame of the world, angular velocity in its own frame, and angle
/// and speed of the joint of each motor.
type MotionParts = ([f64; 3], [f64; 4], [f64; 3], [f64; 3], Vec<[f64; 2]>);

/// Names of all tasks, with the suggested length of an episode in steps.
#[pyfunction]
pub(crate) fn tasks() -> Vec<(&'static str, u32)> {
    TaskKind::NAMED.iter().map(|kind| (kind.name(), kind.max_steps())).collect()
}

#[pymethods]
impl Task {
    #[new]
    fn named(name: &str) -> PyResult<Self> {
        let kind = TaskKind::named(name).ok_or_else(|| {
            let known: Vec<_> = TaskKind::NAMED.iter().map(TaskKind::name).collect();
            error::invalid(suggest::unknown("task", name, &known))
        })?;
        Ok(Self { kind })
    }

    /// A user's model: its path, the name of a robot, or text that begins with `<`.
    #[staticmethod]
    #[pyo3(signature = (model, *, field, position, timestep, steps, observation, noise))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn of_model(
        py: Python<'_>,
        model: &str,
        field: Option<&str>,
        position: [f64; 3],
        timestep: Option<f64>,
        steps: u32,
        observation: Vec<String>,
        noise: f64,
    ) -> PyResult<Self> {
        if !(0.0..=10.0).contains(&noise) {
            return Err(error::invalid(format_args!("the noise is {noise}; it is from 0 to 10")));
        }
        let part = |name: &String| {
            let found = Part::ALL.into_iter().find(|part| part.name() == name);
            let known = Part::ALL.map(Part::name);
            found.ok_or_else(|| error::invalid(suggest::unknown("part of an observation", name, &known)))
        };
        let observation = observation.iter().map(part).collect::<PyResult<_>>()?;
        py.detach(|| {
            let source = Model::source(model)?;
            let base = Model::base(&source, field)?;
            let pose = Pose { pos: position, ..Pose::IDENTITY };
            let mjcf = Mjcf { source, base, pose, timestep, steps_per_tick: steps, observation, noise };
            Ok(Self { kind: TaskKind::Mjcf(Box::new(mjcf)) })
        })
    }

    fn __repr__(&self) -> String {
        format!("<Task {}>", self.kind.name())
    }
}

#[pymethods]
impl Env {
    #[new]
    fn build(py: Python<'_>, task: &Task, max_steps: Option<u32>) -> PyResult<Self> {
        let env = py.detach(|| learning::Env::new(&task.kind, max_steps)).map_err(explained)?;
        let observation_size = env.spaces().observation.len();
        Ok(Self { env: Guarded::new("environment", env), observation_size })
    }

    /// Lower and upper bounds of an observation.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bounds<'py>> {
        let bounds = self.env.with(py, |env| Ok(env.spaces().observation.clone()))?;
        Ok(arrays_of(py, &bounds))
    }

    /// Number of actions.
    #[getter]
    fn actions(&self, py: Python<'_>) -> PyResult<usize> {
        self.env.with(py, |env| Ok(env.spaces().actions))
    }

    /// Length of a step, in s.
    #[getter]
    fn tick_seconds(&self, py: Python<'_>) -> PyResult<f64> {
        self.env.with(py, |env| Ok(env.world().tick_seconds()))
    }

    /// Begins an episode and returns the observation.
    fn reset<'py>(&self, py: Python<'py>, seed: Option<u64>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let mut observation = vec![0.0; self.observation_size];
        self.env.with(py, |env| {
            env.reset(seed).map_err(explained)?;
            env.observe(&mut observation).map_err(explained)
        })?;
        Ok(PyArray1::from_slice(py, &observation))
    }

    /// Takes a step; returns observation, reward, and whether the episode was terminated or truncated.
    fn step<'py>(
        &self,
        py: Python<'py>,
        action: PyReadonlyArray1<'py, f32>,
    ) -> PyResult<(Bound<'py, PyArray1<f32>>, f64, bool, bool)> {
        let action = action.as_slice().map_err(error::invalid)?;
        let mut observation = vec![0.0; self.observation_size];
        let outcome = self.env.with(py, |env| {
            let outcome = env.step(action).map_err(explained)?;
            env.observe(&mut observation).map_err(explained)?;
            Ok(outcome)
        })?;
        Ok((PyArray1::from_slice(py, &observation), outcome.reward, outcome.terminated, outcome.truncated))
    }

    /// The current observation.
    fn observe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let mut observation = vec![0.0; self.observation_size];
        self.env.with(py, |env| env.observe(&mut observation).map_err(explained))?;
        Ok(PyArray1::from_slice(py, &observation))
    }

    /// What the motors of the robot are told.
    fn motors(&self, py: Python<'_>) -> PyResult<Vec<Target>> {
        let motors = self.env.with(py, |env| env.motors().map_err(explained))?;
        Ok(motors.into_iter().map(|(name, at)| (name, [at.q, at.dq, at.kp, at.kd, at.tau])).collect())
    }

    /// How the robot moves.
    fn motion(&self, py: Python<'_>) -> PyResult<MotionParts> {
        let Motion { pose, velocity, spin, joints } = self.env.with(py, |env| env.motion().map_err(explained))?;
        Ok((pose.pos, pose.quat, velocity, spin, joints))
    }

    /// Begins a step whose time passes elsewhere: carries out an action.
    fn act(&self, py: Python<'_>, action: PyReadonlyArray1<'_, f32>) -> PyResult<()> {
        let action = action.as_slice().map_err(error::invalid)?;
        self.env.with(py, |env| env.act(action).map_err(explained))
    }

    /// Takes over how the robot moves elsewhere.
    fn follow(
        &self,
        py: Python<'_>,
        position: [f64; 3],
        orientation: [f64; 4],
        velocity: [f64; 3],
        spin: [f64; 3],
        joints: Vec<[f64; 2]>,
    ) -> PyResult<()> {
        let motion = Motion { pose: Pose { pos: position, quat: orientation }, velocity, spin, joints };
        self.env.with(py, |env| env.follow(&motion).map_err(explained))
    }

    /// Ends a step that `act` has begun; returns reward, and whether the episode was terminated or truncated.
    fn judge(&self, py: Python<'_>) -> PyResult<(f64, bool, bool)> {
        let outcome = self.env.with(py, |env| env.judge().map_err(explained))?;
        Ok((outcome.reward, outcome.terminated, outcome.truncated))
    }

    /// Joint positions of the whole world, as in MuJoCo's `qpos`. A copy.
    #[getter]
    fn qpos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.env.with(py, |env| Ok(env.world().sim().qpos().to_vec()))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Joint velocities of the whole world, as in MuJoCo's `qvel`. A copy.
    #[getter]
    fn qvel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.env.with(py, |env| Ok(env.world().sim().qvel().to_vec()))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Current controls of all actuators, as in MuJoCo's `ctrl`. A copy.
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.of_actuators(py, |sim, actuator| [sim.ctrl(actuator)])?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Current gains of all actuators, one row each: gain, and the three numbers of the bias. A copy.
    #[getter]
    fn gains<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let values = self.of_actuators(py, |sim, actuator| {
            let (gain, [offset, length, velocity]) = sim.actuator_gain(actuator);
            [gain, offset, length, velocity]
        })?;
        let count = values.len() / 4;
        PyArray1::from_vec(py, values).reshape([count, 4])
    }

    /// Renders an image: an array of height x width x 3 bytes, RGB.
    #[pyo3(signature = (width, height, eye = None, target = None, fov = 45.0))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: usize,
        height: usize,
        eye: Option<[f64; 3]>,
        target: Option<[f64; 3]>,
        fov: f64,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let view = View::new(width, height, eye, target, fov)?;
        let pixels = self.env.with(py, |env| Ok(image::render(env.world(), &view)))?;
        PyArray1::from_vec(py, pixels).reshape([height, width, 3])
    }

    /// Frees the world.
    fn close(&self, py: Python<'_>) {
        drop(self.env.take(py));
    }
}

impl Env {
    /// Numbers of each actuator, in the model's order.
    fn of_actuators<const N: usize>(
        &self,
        py: Python<'_>,
        numbers: fn(&physics::Sim, ActuatorId) -> [f64; N],
    ) -> PyResult<Vec<f64>> {
        self.env.with(py, |env| {
            let sim = env.world().sim();
            Ok(sim.model().actuators().flat_map(|actuator| numbers(sim, actuator)).collect())
        })
    }
}

#[pymethods]
impl VectorEnv {
    /// With `copy`, each step returns new arrays; otherwise the same ones every time.
    #[new]
    fn build(
        py: Python<'_>,
        task: &Task,
        count: usize,
        threads: usize,
        max_steps: Option<u32>,
        autoreset: &str,
        copy: bool,
    ) -> PyResult<Self> {
        let autoreset = match autoreset {
            "NextStep" => Autoreset::NextStep,
            "SameStep" => Autoreset::SameStep,
            "Disabled" => Autoreset::Disabled,
            other => return Err(error::invalid(format_args!("unknown autoreset mode `{other}`"))),
        };
        let build = || learning::VectorEnv::new(&task.kind, count, threads, max_steps, autoreset);
        let envs = py.detach(build).map_err(explained)?;
        let observation_size = envs.spaces().observation.len();
        let kept = (!copy).then(|| Arrays::new(py, count, observation_size));
        Ok(Self { envs: Guarded::new("vector of environments", envs), count, observation_size, kept })
    }

    /// Lower and upper bounds of an observation of one environment.
    #[getter]
    fn bounds<'py>(&self, py: Python<'py>) -> PyResult<Bounds<'py>> {
        let bounds = self.envs.with(py, |envs| Ok(envs.spaces().observation.clone()))?;
        Ok(arrays_of(py, &bounds))
    }

    /// Number of actions of one environment.
    #[getter]
    fn actions(&self, py: Python<'_>) -> PyResult<usize> {
        self.envs.with(py, |envs| Ok(envs.spaces().actions))
    }

    /// Number of threads.
    #[getter]
    fn threads(&self, py: Python<'_>) -> PyResult<usize> {
        self.envs.with(py, |envs| Ok(envs.threads()))
    }

    /// Length of a step, in s.
    #[getter]
    fn tick_seconds(&self, py: Python<'_>) -> PyResult<f64> {
        self.envs.with(py, |envs| Ok(envs.tick_seconds()))
    }

    /// Begins an episode in all environments, or in those of the mask; returns the observations of all.
    fn reset<'py>(
        &self,
        py: Python<'py>,
        seeds: Vec<Option<u64>>,
        mask: Option<PyReadonlyArray1<'py, bool>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let mask = mask.as_ref().map(|mask| mask.as_slice().map_err(error::invalid)).transpose()?;
        let arrays = self.arrays(py);
        let observations = arrays.observations.bind(py).clone();
        let mut borrowed = observations.try_readwrite().map_err(error::invalid)?;
        let rows = borrowed.as_slice_mut().map_err(error::invalid)?;
        self.envs.with(py, |envs| envs.reset(&seeds, mask, rows).map_err(explained))?;
        drop(borrowed);
        Ok(observations)
    }

    /// Takes a step in each environment, or begins an episode where `resets` is true.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: PyReadonlyArray2<'py, f32>,
        resets: Option<PyReadonlyArray1<'py, bool>>,
    ) -> PyResult<Stepped<'py>> {
        if actions.shape().first() != Some(&self.count) {
            let rows = actions.shape().first().copied().unwrap_or_default();
            return Err(error::invalid(format_args!("{rows} rows of actions for {} environments", self.count)));
        }
        let actions = actions.as_slice().map_err(error::invalid)?;
        let resets = resets.as_ref().map(|resets| resets.as_slice().map_err(error::invalid)).transpose()?;
        let arrays = self.arrays(py);
        let (observations, rewards) = (arrays.observations.bind(py).clone(), arrays.rewards.bind(py).clone());
        let (terminated, truncated) = (arrays.terminated.bind(py).clone(), arrays.truncated.bind(py).clone());
        let finals = {
            let mut observations = observations.try_readwrite().map_err(error::invalid)?;
            let mut rewards = rewards.try_readwrite().map_err(error::invalid)?;
            let mut terminated = terminated.try_readwrite().map_err(error::invalid)?;
            let mut truncated = truncated.try_readwrite().map_err(error::invalid)?;
            let step = Step {
                observations: observations.as_slice_mut().map_err(error::invalid)?,
                rewards: rewards.as_slice_mut().map_err(error::invalid)?,
                terminated: terminated.as_slice_mut().map_err(error::invalid)?,
                truncated: truncated.as_slice_mut().map_err(error::invalid)?,
            };
            let (count, size) = (self.count, self.observation_size);
            self.envs.with(py, |envs| {
                envs.step(actions, resets, step).map_err(explained)?;
                Ok(final_rows(envs, count, size))
            })?
        };
        let finals = finals.map(|rows| PyArray1::from_vec(py, rows).reshape([self.count, self.observation_size]));
        Ok((observations, rewards, terminated, truncated, finals.transpose()?))
    }

    /// Renders an image of one environment: an array of height x width x 3 bytes, RGB.
    #[pyo3(signature = (index, width, height, eye = None, target = None, fov = 45.0))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn render<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        width: usize,
        height: usize,
        eye: Option<[f64; 3]>,
        target: Option<[f64; 3]>,
        fov: f64,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let view = View::new(width, height, eye, target, fov)?;
        let pixels = self.envs.with(py, |envs| {
            let world = envs.world(index).map_err(explained)?;
            let world = world.ok_or_else(|| error::invalid(format_args!("there is no environment {index}")))?;
            Ok(image::render(world, &view))
        })?;
        PyArray1::from_vec(py, pixels).reshape([height, width, 3])
    }

    /// Frees the worlds.
    fn close(&self, py: Python<'_>) {
        drop(self.envs.take(py));
    }
}

impl VectorEnv {
    /// The arrays that a step writes.
    fn arrays(&self, py: Python<'_>) -> Arrays {
        match &self.kept {
            Some(kept) => Arrays {
                observations: kept.observations.clone_ref(py),
                rewards: kept.rewards.clone_ref(py),
                terminated: kept.terminated.clone_ref(py),
                truncated: kept.truncated.clone_ref(py),
            },
            None => Arrays::new(py, self.count, self.observation_size),
        }
    }
}

impl Arrays {
    fn new(py: Python<'_>, count: usize, observation_size: usize) -> Self {
        Self {
            observations: PyArray2::zeros(py, [count, observation_size], false).unbind(),
            rewards: PyArray1::zeros(py, count, false).unbind(),
            terminated: PyArray1::zeros(py, count, false).unbind(),
            truncated: PyArray1::zeros(py, count, false).unbind(),
        }
    }
}

/// A table with the final observations of the episodes that have ended; none if none has.
fn final_rows(envs: &learning::VectorEnv, count: usize, size: usize) -> Option<Vec<f32>> {
    let mut rows = None;
    for (index, observation) in envs.final_observations() {
        let rows = rows.get_or_insert_with(|| vec![0.0; count * size]);
        if let Some(row) = rows.get_mut(index * size..(index + 1) * size) {
            row.copy_from_slice(observation);
        }
    }
    rows
}

fn arrays_of<'py>(py: Python<'py>, bounds: &[world::interface::Bounds]) -> Bounds<'py> {
    let column = |end: fn(&world::interface::Bounds) -> f64| {
        PyArray1::from_vec(py, bounds.iter().map(|bounds| end(bounds) as f32).collect())
    };
    (column(|bounds| bounds.min), column(|bounds| bounds.max))
}

/// The exception for an error of an environment.
fn explained(cause: EnvError) -> PyErr {
    if cause.is_misuse() { error::invalid(cause) } else { error::failed(cause) }
}
