//! `rossum_sim.evolution`: the algorithms, runs and evaluations of the evolving robots.
//!
//! Objects that travel between processes convert to text and back; `rossum_sim.evolution` pickles them that way.

use std::{path::PathBuf, thread};

use ::evolve::{
    Genotype as Genes, NetParameters,
    robot::{Net as NetState, Outcome},
    run::{Best, EvaluationSite, Generation, LocalSite, Run as RunState, RunConfig, Workers, learnt, save_workers},
    search::{Algorithm, Evaluation, Search as SearchState, Settings},
};
use numpy::PyArray1;
use parking_lot::Mutex;
use pyo3::{Bound, PyResult, Python, exceptions::PyValueError, pyclass, pyfunction, pymethods, types::PyType};
use server::protocol::evo::local_site;

use crate::{
    agent::Numbers,
    error,
    guarded::{Guarded, unwinding},
};

/// The genes of an individual: its neurons and weights.
#[pyclass(frozen, eq, module = "rossum_sim.evolution")]
#[derive(Clone, PartialEq)]
pub(crate) struct Genotype {
    genes: Genes,
}

#[pymethods]
impl Genotype {
    /// Number of hidden neurons.
    #[getter]
    fn hidden(&self) -> usize {
        self.genes.hidden
    }

    /// All values: global parameters, input, output and hidden neurons, weights. A copy.
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let Genes { globals, input_values, output_values, hidden_values, weights, .. } = &self.genes;
        PyArray1::from_vec(
            py,
            [globals, input_values, output_values, hidden_values, weights].map(Vec::as_slice).concat(),
        )
    }

    /// Global parameters. A copy.
    #[getter]
    fn globals<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.genes.globals)
    }

    /// The weight matrix, row by row. A copy.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.genes.weights)
    }

    /// As JSON, as in the files of a run.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.genes).map_err(error::failed)
    }

    /// From `to_json`.
    #[new]
    fn from_json(text: &str) -> PyResult<Self> {
        Ok(Self { genes: serde_json::from_str(text).map_err(error::invalid)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (String,))> {
        Ok((py.get_type::<Self>(), (self.to_json()?,)))
    }

    fn __repr__(&self) -> String {
        format!("<Genotype, {} hidden neurons, {} weights>", self.genes.hidden, self.genes.weights.len())
    }
}

/// Fitness, behaviour, figures, steps, deaths and blocked trials of an evaluation.
type OutcomeTuple = (f64, Vec<f64>, Vec<f64>, u64, u32, u32);

fn tuple(Outcome { fitness, behaviour, figures, steps, deaths, blocked, .. }: Outcome) -> OutcomeTuple {
    (fitness, behaviour, figures, steps, deaths, blocked)
}

/// Fitness, behaviour and figures of each individual.
fn evaluations(told: Vec<(f64, Vec<f64>, Vec<f64>)>) -> Vec<Evaluation> {
    told.into_iter().map(|(fitness, behaviour, figures)| Evaluation { fitness, behaviour, figures }).collect()
}

/// Settings of an algorithm, as JSON.
fn settings(text: &str) -> PyResult<Settings> {
    serde_json::from_str(text).map_err(error::invalid)
}

fn algorithm(name: &str) -> PyResult<Algorithm> {
    name.parse().map_err(error::invalid)
}

/// A search for good individuals by one of the algorithms, with `ask` and `tell`.
#[pyclass(frozen, module = "rossum_sim.evolution")]
pub(crate) struct Search {
    state: Guarded<SearchState>,
}

#[pymethods]
impl Search {
    /// `parameters` and `settings` are JSON.
    #[new]
    fn new(name: &str, parameters: &str, settings_text: &str, seed: u64) -> PyResult<Self> {
        let parameters: NetParameters = serde_json::from_str(parameters).map_err(error::invalid)?;
        let state = SearchState::new(algorithm(name)?, &settings(settings_text)?, &parameters, seed);
        Ok(Self { state: Guarded::new("search", state.map_err(error::invalid)?) })
    }

    /// The individuals of the next generation; the same ones again until `tell`.
    fn ask(&self, py: Python<'_>) -> PyResult<Vec<Genotype>> {
        self.state.with(py, |state| Ok(state.ask().into_iter().map(|genes| Genotype { genes }).collect()))
    }

    /// Passes the evaluations of the generation, in the order of `ask`.
    fn tell(&self, py: Python<'_>, told: Vec<(f64, Vec<f64>, Vec<f64>)>) -> PyResult<()> {
        self.state.with(py, |state| state.tell(&evaluations(told)).map_err(error::invalid))
    }

    /// The best individual so far, with its fitness; `None` before the first `tell`.
    #[getter]
    fn best(&self, py: Python<'_>) -> PyResult<Option<(Genotype, f64)>> {
        self.state
            .with(py, |state| Ok(state.best().map(|(genes, fitness)| (Genotype { genes: genes.clone() }, fitness))))
    }

    /// Number of the last generation asked for, from 1.
    #[getter]
    fn generation(&self, py: Python<'_>) -> PyResult<u64> {
        self.state.with(py, |state| Ok(state.generation()))
    }

    /// Diversity of the last generation: 0 if all are equal, about 0.29 if their genes are uniformly distributed.
    #[getter]
    fn diversity(&self, py: Python<'_>) -> PyResult<f64> {
        self.state.with(py, |state| Ok(state.diversity()))
    }

    /// The whole state, as JSON.
    fn to_json(&self, py: Python<'_>) -> PyResult<String> {
        self.state.with(py, |state| serde_json::to_string(state).map_err(error::failed))
    }

    /// From `to_json`: continues bit for bit.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        let state = serde_json::from_str(text).map_err(error::invalid)?;
        Ok(Self { state: Guarded::new("search", state) })
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.state.with(py, |state| Ok(format!("<Search {}>", state.describe())))
    }
}

/// A world and the robots that are evaluated in it.
#[pyclass(frozen, module = "rossum_sim.evolution")]
pub(crate) struct Site {
    site: EvaluationSite,
    local: LocalSite,
}

impl Site {
    fn of(site: EvaluationSite) -> PyResult<Self> {
        let local = site.local().map_err(error::invalid)?;
        let local = local.ok_or_else(|| error::invalid("the individuals are evaluated by Robot Simulators"))?;
        Ok(Self { site, local })
    }
}

#[pymethods]
impl Site {
    #[new]
    fn new(world: &str, body: &str, fitness: Option<&str>, seed: u64, concurrent: usize) -> PyResult<Self> {
        Self::of(local_site(world, body, fitness, seed, concurrent).map_err(error::invalid)?)
    }

    /// As JSON, with the texts of all files.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.site).map_err(error::failed)
    }

    /// From `to_json`.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Self::of(serde_json::from_str(text).map_err(error::invalid)?)
    }

    /// The nets that fit the body, as JSON.
    fn parameters(&self) -> PyResult<String> {
        serde_json::to_string(self.local.design.parameters()).map_err(error::failed)
    }

    /// What the fitness script rewards.
    #[getter]
    fn title(&self) -> &str {
        &self.local.design.fitness().title
    }

    /// One line about an individual, with the figures of its evaluation; `None` if the script has no summary.
    fn summary(&self, figures: Vec<f64>) -> Option<String> {
        self.local.design.summary().fill(&figures)
    }

    /// Evaluates individuals on several threads. The results depend neither on their number nor on the order.
    fn evaluate(
        &self,
        py: Python<'_>,
        generation: u64,
        individuals: Vec<Bound<'_, Genotype>>,
        threads: Option<usize>,
    ) -> PyResult<Vec<OutcomeTuple>> {
        let individuals: Vec<Genes> = individuals.iter().map(|individual| individual.get().genes.clone()).collect();
        let threads = threads.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
        let outcomes = py.detach(|| {
            unwinding(|| self.local.evaluate(generation, &individuals, threads, &|_| ()).map_err(error::failed))
        });
        py.check_signals()?;
        Ok(outcomes?.into_iter().map(tuple).collect())
    }

    /// Divides a generation of so many individuals into groups that can be evaluated independently, as lists of their indices.
    fn groups(&self, generation: u64, individuals: usize) -> PyResult<Vec<Vec<usize>>> {
        self.local.groups(generation, individuals).map_err(error::failed)
    }

    /// Evaluates a group, whose members have these indices.
    fn evaluate_group(
        &self,
        py: Python<'_>,
        generation: u64,
        indices: Vec<u64>,
        individuals: Vec<Bound<'_, Genotype>>,
    ) -> PyResult<Vec<OutcomeTuple>> {
        if indices.len() != individuals.len() {
            let (indices, individuals) = (indices.len(), individuals.len());
            return Err(error::invalid(format_args!("{indices} indices of {individuals} individuals")));
        }
        let genes: Vec<Genes> = individuals.iter().map(|individual| individual.get().genes.clone()).collect();
        let members: Vec<_> = indices.iter().map(|index| index.saturating_add(1)).zip(&genes).collect();
        let outcomes =
            py.detach(|| unwinding(|| self.local.evaluate_group(generation, &members).map_err(error::failed)));
        Ok(outcomes?.into_iter().map(tuple).collect())
    }

    /// The net of an individual, to be stepped.
    fn net(&self, genotype: &Genotype) -> PyResult<Net> {
        let net = NetState::new(self.local.design.net(), &genotype.genes).map_err(error::invalid)?;
        Ok(Net { net: Mutex::new(net) })
    }

    fn __repr__(&self) -> String {
        format!("<Site {}>", self.local.design.fitness().title)
    }
}

/// The net of an individual.
#[pyclass(frozen, module = "rossum_sim.evolution")]
pub(crate) struct Net {
    net: Mutex<NetState>,
}

#[pymethods]
impl Net {
    /// Sets the input neurons, takes a step, and returns the output neurons.
    fn step<'py>(&self, py: Python<'py>, inputs: Numbers<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inputs: Vec<f64> = inputs.as_array().iter().copied().collect();
        let mut net = self.net.lock();
        let expected = net.inputs_mut().len();
        if inputs.len() != expected || inputs.iter().any(|x| !x.is_finite()) {
            return Err(error::invalid(format_args!("the net has {expected} inputs, which must be finite")));
        }
        net.inputs_mut().copy_from_slice(&inputs);
        net.step();
        Ok(PyArray1::from_slice(py, net.outputs()))
    }

    /// Forgets everything: all neurons are at rest.
    fn reset(&self) {
        self.net.lock().reset();
    }
}

/// Number, evaluations, best, mean, worst and best fitness so far, diversity, and hidden neurons of the best individual.
type GenerationTuple = (u64, u64, f64, f64, f64, f64, f64, usize);

fn generation_tuple(line: &Generation) -> GenerationTuple {
    let &Generation { generation, evaluations, best, mean, worst, best_so_far, diversity, hidden } = line;
    (generation, evaluations, best, mean, worst, best_so_far, diversity, hidden)
}

/// An evolutionary run in a folder, which `rossum evolve --resume` can continue.
#[pyclass(frozen, module = "rossum_sim.evolution")]
pub(crate) struct Run {
    state: Guarded<RunState>,
}

#[pymethods]
impl Run {
    /// Starts a run in a new or empty folder.
    #[staticmethod]
    fn begin(
        folder: PathBuf,
        site: &Site,
        name: &str,
        settings_text: &str,
        seed: u64,
        generations: Option<u64>,
        target: Option<f64>,
    ) -> PyResult<Self> {
        let config = RunConfig {
            algorithm: algorithm(name)?,
            settings: settings(settings_text)?,
            seed,
            parameters: site.local.design.parameters().clone(),
            generations,
            target,
            site: site.site.clone(),
        };
        let state = RunState::begin(&folder, config).map_err(error::failed)?;
        Ok(Self { state: Guarded::new("run", state) })
    }

    /// Continues a run after its last finished generation.
    #[staticmethod]
    fn resume(folder: PathBuf) -> PyResult<Self> {
        let state = RunState::resume(&folder).map_err(error::failed)?;
        Ok(Self { state: Guarded::new("run", state) })
    }

    /// The world and robots of the run.
    fn site(&self, py: Python<'_>) -> PyResult<Site> {
        let site = self.state.with(py, |state| Ok(state.config().site.clone()))?;
        Site::of(site)
    }

    /// The individuals of the next generation.
    fn ask(&self, py: Python<'_>) -> PyResult<Vec<Genotype>> {
        self.state.with(py, |state| Ok(state.ask().iter().map(|genes| Genotype { genes: genes.clone() }).collect()))
    }

    /// Finishes the generation and writes its checkpoint.
    fn tell(&self, py: Python<'_>, told: Vec<(f64, Vec<f64>, Vec<f64>)>) -> PyResult<GenerationTuple> {
        self.state.with(py, |state| state.tell(&evaluations(told)).map(generation_tuple).map_err(error::failed))
    }

    /// Whether the last generation has been finished, or the target reached.
    #[getter]
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.state.with(py, |state| {
            let RunConfig { generations, target, .. } = state.config();
            let is_done = generations.is_some_and(|count| state.next_generation() > count);
            let is_reached = target.zip(state.best()).is_some_and(|(target, best)| best.fitness >= target);
            Ok(is_done || is_reached)
        })
    }

    /// Number of the next generation, from 1.
    #[getter]
    fn next_generation(&self, py: Python<'_>) -> PyResult<u64> {
        self.state.with(py, |state| Ok(state.next_generation()))
    }

    /// The finished generations.
    fn history(&self, py: Python<'_>) -> PyResult<Vec<GenerationTuple>> {
        self.state.with(py, |state| Ok(state.history().iter().map(generation_tuple).collect()))
    }

    /// The best individual so far, with its fitness; `None` before the first generation is finished.
    #[getter]
    fn best(&self, py: Python<'_>) -> PyResult<Option<(Genotype, f64)>> {
        let best = |Best { genotype, fitness, .. }: &Best| (Genotype { genes: genotype.clone() }, *fitness);
        self.state.with(py, |state| Ok(state.best().map(best)))
    }

    /// One line about what has been learnt.
    #[getter]
    fn learnt(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.state.with(py, |state| Ok(learnt(state.folder(), &state.record())))
    }

    /// Writes what workers have done, for the console.
    fn show_workers(
        &self,
        py: Python<'_>,
        workers: u64,
        lost: u64,
        retried: u64,
        finished: u64,
        total: u64,
    ) -> PyResult<()> {
        let workers = Workers { workers, lost, retried, finished, total };
        self.state.with(py, |state| save_workers(state.folder(), &workers).map_err(error::failed))
    }

    /// Folder of the run.
    #[getter]
    fn folder(&self, py: Python<'_>) -> PyResult<PathBuf> {
        self.state.with(py, |state| Ok(state.folder().to_owned()))
    }

    /// Ends the use of the folder, so that another process can continue the run.
    fn close(&self, py: Python<'_>) {
        drop(self.state.take(py));
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.state.with(py, |state| Ok(format!("<Run {}: {}>", state.folder().display(), state.describe())))
    }
}

/// Names of the worlds, bodies, fitness scripts and algorithms that ship with the package.
#[pyfunction]
pub(crate) fn evolution_names() -> (Vec<String>, Vec<String>, Vec<String>, Vec<&'static str>) {
    use ::evolve::robot::library;
    (arena::Plan::names(), library::bodies(), library::scripts(), Algorithm::ALL.map(Algorithm::name).to_vec())
}

/// The nets of a plain vector of numbers, as JSON: all values are global parameters.
#[pyfunction]
pub(crate) fn vector_parameters(length: usize, low: f64, high: f64) -> PyResult<String> {
    if !(low.is_finite() && high.is_finite() && low < high) || length == 0 {
        return Err(PyValueError::new_err("a vector needs at least one number, and finite limits in ascending order"));
    }
    let globals = ::evolve::genotype::Genes { values: length, low, high };
    let parameters = NetParameters { concurrent: 1, globals, outputs: 1, ..NetParameters::default() };
    serde_json::to_string(&parameters).map_err(error::failed)
}
