//! `rossum_sim.World`.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use physics::Pose;
use pyo3::{
    Bound, Py, PyAny, PyRef, PyResult, Python, pyclass, pymethods,
    types::{PyDict, PyDictMethods},
};
use server::Scenario;
use world::{Value, VariableId, snapshot::VariableCard, world::SaveId};

use crate::{
    agent::Agent,
    error,
    guarded::Guarded,
    image::{self, View},
    recording::RecordingOptions,
    simulation::{Model, Simulation},
    threads::ThreadsArgument,
    value,
};

/// A simulated world.
///
/// `World("playground")` builds a scenario by its name or from a `.toml` file. Time passes only in `step`. With `record`,
/// everything done to the world is recorded from its start; `rossum replay --verify` repeats it. `threads` is the number of
/// threads that help with the physics, or `"auto"` to use idle cores while that is faster; results do not depend on it.
#[pyclass(frozen, module = "rossum_sim")]
pub(crate) struct World {
    pub(crate) simulation: Guarded<Simulation>,
}

/// A variable of a world.
#[pyclass(frozen, module = "rossum_sim", get_all)]
pub(crate) struct Variable {
    /// Full name, such as `/Sim/Rover/Position`.
    name: String,
    /// Kind of its value: `Double`, `Integer`, `Boolean`, `String`, `Point3D`, `Quaternion`, `Matrix`, `Range`, `Color` or
    /// `NormalizedDouble`.
    kind: &'static str,
    /// Whether it can be written.
    writable: bool,
}

#[pymethods]
impl Variable {
    fn __repr__(&self) -> String {
        let access = if self.writable { "writable" } else { "read-only" };
        format!("<Variable {} {} {access}>", self.name, self.kind)
    }
}

/// A contact between two geoms.
#[pyclass(frozen, module = "rossum_sim", get_all)]
pub(crate) struct Contact {
    /// Names of the two geoms; on a robot, `agent:geom`.
    geoms: (String, String),
    /// Midpoint between the surfaces, in m.
    position: [f64; 3],
    /// Unit vector from the first geom towards the second.
    normal: [f64; 3],
    /// Penetration depth, in m; negative if there is a gap.
    depth: f64,
    /// Force along the normal and the two tangents, in N.
    force: [f64; 3],
}

#[pymethods]
impl Contact {
    fn __repr__(&self) -> String {
        format!("<Contact {} - {}, {:.1} N>", self.geoms.0, self.geoms.1, self.force[0])
    }
}

/// A state that its world can return to. It is freed when Python drops it.
#[pyclass(frozen, module = "rossum_sim")]
pub(crate) struct SavedState {
    world: Py<World>,
    id: SaveId,
}

impl Drop for SavedState {
    fn drop(&mut self) {
        let id = self.id;
        Python::attach(|py| {
            // a closed world has no saved states
            let _ = self.world.get().simulation.with(py, |simulation| {
                simulation.world.discard(id);
                Ok(())
            });
        });
    }
}

impl World {
    fn new(simulation: Simulation) -> Self {
        Self { simulation: Guarded::new("world", simulation) }
    }

    /// Calls `work` with the variable of this name.
    fn with_variable<R: Send>(
        &self,
        py: Python<'_>,
        name: &str,
        work: impl FnOnce(&mut Simulation, VariableCard) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        self.simulation.with(py, |simulation| {
            let card = simulation.world.catalogue().variable_named(name).cloned();
            let card = card.ok_or_else(|| {
                let names = simulation.world.catalogue().variables.iter().map(|card| &*card.name);
                error::unknown(support::suggest::with_nearest(&format!("unknown variable `{name}`"), name, names))
            })?;
            work(simulation, card)
        })
    }
}

#[pymethods]
impl World {
    #[new]
    #[pyo3(signature = (scenario = "playground", *, seed = None, record = None, overwrite = false, threads = None))]
    fn build(
        py: Python<'_>,
        scenario: &str,
        seed: Option<u64>,
        record: Option<PathBuf>,
        overwrite: bool,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Self> {
        let threads = threads.map(ThreadsArgument::parse).transpose()?;
        py.detach(|| {
            let scenario = Scenario::load(scenario).map_err(error::failed)?;
            Simulation::of_scenario(scenario, seed, threads, RecordingOptions::new(record, overwrite)).map(Self::new)
        })
    }

    /// Builds the world of a scenario given as TOML text. Relative paths in it are relative to `folder`.
    #[staticmethod]
    #[pyo3(signature = (
        text, *, folder = PathBuf::new(), seed = None, record = None, overwrite = false, threads = None
    ))]
    fn from_toml(
        py: Python<'_>,
        text: &str,
        folder: PathBuf,
        seed: Option<u64>,
        record: Option<PathBuf>,
        overwrite: bool,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Self> {
        let threads = threads.map(ThreadsArgument::parse).transpose()?;
        py.detach(|| {
            let scenario = Scenario::parse("scenario", text, &folder).map_err(error::failed)?;
            Simulation::of_scenario(scenario, seed, threads, RecordingOptions::new(record, overwrite)).map(Self::new)
        })
    }

    /// Builds a world with one robot: a path of an MJCF or URDF file, its text, or the name of a robot that ships with the
    /// package. Without a field, the scenery of the file itself is the world.
    #[staticmethod]
    #[pyo3(signature = (
        model, *, field = None, name = "Robot", position = [0.0; 3], timestep = None, steps_per_tick = 1, seed = 1,
        record = None, overwrite = false, threads = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn from_model(
        py: Python<'_>,
        model: &str,
        field: Option<&str>,
        name: &str,
        position: [f64; 3],
        timestep: Option<f64>,
        steps_per_tick: u32,
        seed: u64,
        record: Option<PathBuf>,
        overwrite: bool,
        threads: Option<ThreadsArgument>,
    ) -> PyResult<Self> {
        let threads = threads.map(ThreadsArgument::parse).transpose()?.unwrap_or_default();
        py.detach(|| {
            let source = Model::source(model)?;
            let base = Model::base(&source, field)?;
            let pose = Pose { pos: position, ..Pose::IDENTITY };
            let model = Model { source, base, name: name.to_owned(), pose, timestep, steps_per_tick, seed, threads };
            Simulation::of_model(model, RecordingOptions::new(record, overwrite)).map(Self::new)
        })
    }

    /// One-line description.
    #[getter]
    fn title(&self, py: Python<'_>) -> PyResult<String> {
        self.simulation.with(py, |simulation| Ok(simulation.title.clone()))
    }

    /// Simulated time since the last reset, in s.
    #[getter]
    fn time(&self, py: Python<'_>) -> PyResult<f64> {
        self.simulation.with(py, |simulation| Ok(simulation.world.sim().time()))
    }

    /// Ticks since the world was built.
    #[getter]
    fn ticks(&self, py: Python<'_>) -> PyResult<u64> {
        self.simulation.with(py, |simulation| Ok(simulation.world.tick_count().0))
    }

    /// Length of a tick, in s.
    #[getter]
    fn tick_seconds(&self, py: Python<'_>) -> PyResult<f64> {
        self.simulation.with(py, |simulation| Ok(simulation.world.tick_seconds()))
    }

    /// Seed of the current try.
    #[getter]
    fn seed(&self, py: Python<'_>) -> PyResult<u64> {
        self.simulation.with(py, |simulation| Ok(simulation.world.seed()))
    }

    /// Hash of the state: equal for equal states, bit for bit.
    #[getter]
    fn state_hash(&self, py: Python<'_>) -> PyResult<u64> {
        self.simulation.with(py, |simulation| Ok(simulation.world.state_hash()))
    }

    /// Number of threads that helped with the last physics step.
    #[getter]
    fn helping_threads(&self, py: Python<'_>) -> PyResult<u8> {
        self.simulation.with(py, |simulation| Ok(simulation.world.sim().helping_threads()))
    }

    /// The robots, by name.
    #[getter]
    fn agents<'py>(this: PyRef<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let py = this.py();
        let cards = this.simulation.with(py, |simulation| Ok(simulation.world.catalogue().agents.clone()))?;
        let agents = PyDict::new(py);
        let world: Py<Self> = this.into();
        for card in cards {
            agents.set_item(card.name.clone(), Agent::new(world.clone_ref(py), card))?;
        }
        Ok(agents)
    }

    /// Takes ticks. Ctrl-C interrupts it between two of them.
    #[pyo3(signature = (ticks = 1))]
    fn step(&self, py: Python<'_>, ticks: u64) -> PyResult<()> {
        self.simulation.with(py, |simulation| {
            simulation.collect_events();
            Ok(())
        })?;
        let mut left = ticks;
        self.simulation.repeat(py, |simulation| {
            if left > 0 {
                left -= 1;
                simulation.tick()?;
            }
            if left == 0 {
                simulation.collect_events();
            }
            Ok(left > 0)
        })
    }

    /// Begins a new try: everything returns to its start, and what the scenario randomises is drawn from the seed. Without a
    /// seed, the current one is used again.
    #[pyo3(signature = (seed = None))]
    fn reset(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
        self.simulation.with(py, |simulation| simulation.reset(seed))
    }

    /// Names of the events of the last `step` or `reset`.
    #[getter]
    fn events(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.simulation.with(py, |simulation| Ok(simulation.events()))
    }

    /// All variables, in order of their names.
    fn variables(&self, py: Python<'_>) -> PyResult<Vec<Variable>> {
        self.simulation.with(py, |simulation| {
            let card = |card: &VariableCard| Variable {
                name: card.name.to_string(),
                kind: card.kind.name(),
                writable: card.writable,
            };
            Ok(simulation.world.catalogue().variables.iter().map(card).collect())
        })
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        let value =
            self.with_variable(py, name, |simulation, card| simulation.world.read(card.id).map_err(error::failed))?;
        value::to_python(py, value)
    }

    fn __setitem__(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (id, kind) = self.with_variable(py, name, |_, card| Ok((card.id, card.kind)))?;
        let value = value::from_python(kind, value)?;
        self.simulation.with(py, |simulation| write(simulation, id, value))
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.simulation.with(py, |simulation| Ok(simulation.world.catalogue().variable_named(name).is_some()))
    }

    /// Saves everything the future depends on. `restore` returns to it.
    fn save(this: PyRef<'_, Self>) -> PyResult<SavedState> {
        let id = this.simulation.with(this.py(), |simulation| simulation.world.save().map_err(error::failed))?;
        Ok(SavedState { world: this.into(), id })
    }

    /// Returns to a saved state of this world, from which it continues bit for bit.
    fn restore(this: PyRef<'_, Self>, state: &SavedState) -> PyResult<()> {
        let py = this.py();
        let is_own = std::ptr::eq::<Self>(state.world.get(), &raw const *this);
        if !is_own {
            return Err(error::invalid("the state was saved in another world"));
        }
        this.simulation.with(py, |simulation| simulation.world.restore(state.id).map_err(error::failed))
    }

    /// All contacts.
    fn contacts(&self, py: Python<'_>) -> PyResult<Vec<Contact>> {
        self.simulation.with(py, |simulation| {
            let sim = simulation.world.sim();
            let name = |geom| sim.model().geom_name(geom).to_owned();
            let contact = |contact: physics::Contact| {
                let physics::Contact { geoms: [first, second], pos: position, normal, depth, force } = contact;
                Contact { geoms: (name(first), name(second)), position, normal, depth, force }
            };
            Ok(sim.contacts().map(contact).collect())
        })
    }

    /// Joint positions of the whole world, as in MuJoCo's `qpos`. A copy.
    #[getter]
    fn qpos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.simulation.with(py, |simulation| Ok(simulation.world.sim().qpos().to_vec()))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Joint velocities of the whole world, as in MuJoCo's `qvel`. A copy.
    #[getter]
    fn qvel<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let values = self.simulation.with(py, |simulation| Ok(simulation.world.sim().qvel().to_vec()))?;
        Ok(PyArray1::from_vec(py, values))
    }

    /// Names of all bodies; the world itself is the first. On a robot, `agent:body`.
    #[getter]
    fn bodies(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.simulation.with(py, |simulation| Ok(simulation.world.catalogue().bodies.clone()))
    }

    /// Positions of all bodies, in m, one row each. A copy.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.simulation.with(py, |simulation| Ok(simulation.world.sim().positions().to_vec()))?;
        table(py, rows)
    }

    /// Orientations of all bodies as quaternions, w first, one row each. A copy.
    #[getter]
    fn orientations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.simulation.with(py, |simulation| Ok(simulation.world.sim().orientations().to_vec()))?;
        table(py, rows)
    }

    /// Renders an image: an array of height x width x 3 bytes, RGB.
    ///
    /// The camera is at `eye` and looks at `target`, both in m; by default it looks at the first robot, from the front.
    /// `fov` is the vertical field of view, in degrees.
    #[pyo3(signature = (width = 640, height = 480, *, eye = None, target = None, fov = 45.0))]
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
        let pixels = self.simulation.with(py, |simulation| Ok(image::render(&simulation.world, &view)))?;
        PyArray1::from_vec(py, pixels).reshape([height, width, 3])
    }

    /// Completes the recording, and frees the world.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.simulation.take(py) {
            Some(simulation) => py.detach(|| simulation.finish()),
            None => Ok(()),
        }
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let described = self.simulation.with(py, |simulation| {
            let world = &simulation.world;
            let agents = world.catalogue().agents.len();
            Ok(format!("<World {:?}, {agents} agents, {:.2} s>", simulation.title, world.sim().time()))
        });
        Ok(described.unwrap_or_else(|_| "<World, closed>".to_owned()))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // a recording that was not closed is completed as well; there is nobody to tell about an error
        let _ = Python::attach(|py| self.close(py));
    }
}

fn write(simulation: &mut Simulation, id: VariableId, value: Value) -> PyResult<()> {
    let ticket = simulation.world.write(id, value).map_err(error::invalid)?;
    if ticket.is_some() { simulation.settle() } else { Ok(()) }
}

fn table<const N: usize>(py: Python<'_>, rows: Vec<[f64; N]>) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let count = rows.len();
    PyArray1::from_vec(py, rows.into_flattened()).reshape([count, N])
}
