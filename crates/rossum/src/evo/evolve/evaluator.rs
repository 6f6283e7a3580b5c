//! Evaluation of individuals, in this process, on a Ray cluster or by Robot Simulators.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use client::evo::{Event, Fleet, FleetOptions};
use evolve::{
    Genotype, NetParameters,
    run::{Encounters, EvaluationSite, LocalSite, Workers, save_workers},
    search::Evaluation,
};
use server::driver::evo::{ROBOT_PORTS, with_port};
use tracing::{info, warn};

use super::{choices::RunPlan, companion::Companion, progress::now};

/// Time after which the user is told that no Robot Simulator has connected.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Time between two updates of the file that says what the workers have done, unless one is lost.
const WORKERS_INTERVAL: Duration = Duration::from_secs(1);

/// Evaluates the individuals of a run.
pub(super) enum Evaluator {
    Local { site: LocalSite, threads: usize },
    Ray { site: LocalSite, companion: Box<Companion>, watched: Watched },
    Remote { fleet: Box<Fleet>, parameters: NetParameters },
}

impl Evaluator {
    pub(super) fn new(site: &EvaluationSite, plan: &RunPlan) -> anyhow::Result<Self> {
        if let Some(local) = site.local()? {
            return Ok(match &plan.ray {
                Some(options) => {
                    let companion = Box::new(Companion::start(options, site)?);
                    Self::Ray { site: local, companion, watched: Watched::new() }
                }
                None => Self::Local { site: local, threads: plan.threads },
            });
        }
        ensure!(plan.ray.is_none(), "--ray cannot be used with a run that Robot Simulators evaluate");
        let EvaluationSite::Simulators(simulators) = site else { unreachable!("all other sites are local") };
        let addresses: Vec<String> = simulators.iter().map(|address| with_port(address, ROBOT_PORTS.0)).collect();
        let mut fleet = Fleet::new(&addresses, FleetOptions::default())?;
        if fleet.next_within(CONNECT_TIMEOUT)?.is_none_or(|event| matches!(event, Event::Unusable { .. })) {
            warn!("waiting for a Robot Simulator at {}; `rossum robot` starts one", addresses.join(", "));
        }
        let announced = fleet.net_parameters().with_context(|| {
            format!(
                "no Robot Simulator at {}; start one with `rossum robot`, or give --simulators, or --all",
                addresses.join(", ")
            )
        })?;
        Ok(Self::Remote { fleet: Box::new(fleet), parameters: announced })
    }

    /// A human-readable description.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Local { site, threads } => {
                let title = &site.design.fitness().title;
                format!("evaluated in this process, on {threads} threads: {title}{}", encounters(site))
            }
            Self::Ray { site, companion, .. } => {
                format!("{}: {}{}", companion.describe(), site.design.fitness().title, encounters(site))
            }
            Self::Remote { fleet, .. } => {
                let addresses: Vec<String> = fleet.addresses().iter().map(ToString::to_string).collect();
                format!("evaluated by Robot Simulators at {}; change with --simulators", addresses.join(", "))
            }
        }
    }

    /// The nets that can be evaluated.
    pub(super) fn parameters(&self) -> &NetParameters {
        match self {
            Self::Local { site, .. } | Self::Ray { site, .. } => site.design.parameters(),
            Self::Remote { parameters, .. } => parameters,
        }
    }

    /// Evaluates a generation of the run in a folder. `progress` is called with the number of finished evaluations.
    pub(super) fn evaluate(
        &mut self,
        folder: &Path,
        generation: u64,
        individuals: &[Genotype],
        progress: &(dyn Fn(usize) + Sync),
    ) -> anyhow::Result<Vec<Evaluation>> {
        match self {
            Self::Local { site, threads } => {
                let outcomes = site.evaluate(generation, individuals, *threads, progress)?;
                Ok(outcomes.into_iter().map(Evaluation::from).collect())
            }
            Self::Ray { companion, watched, .. } => companion.evaluate(generation, individuals, &mut |workers| {
                progress(usize::try_from(workers.finished).unwrap_or(usize::MAX));
                watched.update(folder, workers);
            }),
            Self::Remote { fleet, .. } => evaluate_remotely(fleet, generation, individuals, progress),
        }
    }
}

/// What is known of the evaluation partners of an individual.
fn encounters(site: &LocalSite) -> String {
    match site.encounters {
        Encounters::Group(size) => format!("\nrobots meet in groups of up to {size}; change with --concurrent"),
        Encounters::Nobody | Encounters::Opponents { .. } => String::new(),
    }
}

/// What the user has been told of the workers.
pub(super) struct Watched {
    lost: u64,
    /// Time of the next update of the file.
    due: Instant,
}

impl Watched {
    fn new() -> Self {
        Self { lost: 0, due: now() }
    }

    fn update(&mut self, folder: &Path, workers: &Workers) {
        let &Workers { lost, retried, finished, total, .. } = workers;
        let is_loss = lost > self.lost;
        if is_loss {
            self.lost = lost;
            warn!(lost, retried, "worker lost, its individuals are evaluated by others");
        }
        if is_loss || finished == total || now() >= self.due {
            self.due = now() + WORKERS_INTERVAL;
            // the run does not need it
            save_workers(folder, workers).unwrap_or_else(|error| warn!("{error}"));
        }
    }
}

fn evaluate_remotely(
    fleet: &mut Fleet,
    generation: u64,
    individuals: &[Genotype],
    progress: &(dyn Fn(usize) + Sync),
) -> anyhow::Result<Vec<Evaluation>> {
    let messages = (1..).zip(individuals).map(|(number, genotype)| individual(generation, number, genotype)).collect();
    let addresses = fleet.addresses().to_vec();
    let mut finished = 0;
    let results = fleet.evaluate(messages, |event| {
        let at = |simulator: &usize| addresses.get(*simulator).map(ToString::to_string).unwrap_or_default();
        match event {
            Event::Fitness { .. } => {
                finished += 1;
                progress(finished);
            }
            Event::Failed { generation, number, attempts, .. } => {
                warn!(generation, number, attempts, "evaluation failed");
            }
            Event::Joined { simulator, concurrent } => {
                info!(simulator = at(simulator), concurrent, "Robot Simulator connected");
            }
            Event::Lost { simulator, reason, resent } => {
                warn!(
                    simulator = at(simulator),
                    resent, "Robot Simulator lost, its individuals are sent to others: {reason}"
                );
            }
            Event::Unusable { simulator, reason } => {
                warn!(simulator = at(simulator), "Robot Simulator not usable: {reason}");
            }
            Event::Unrequested { simulator, generation, number } => {
                warn!(simulator = at(simulator), generation, number, "unrequested fitness ignored");
            }
        }
    })?;
    let fitness = results.into_iter().collect::<Result<Vec<f64>, _>>()?;
    Ok(fitness.into_iter().map(|fitness| Evaluation { fitness, ..Evaluation::default() }).collect())
}

fn individual(generation: u64, number: u64, genotype: &Genotype) -> wire::evo::Individual {
    let Genotype { hidden, globals, input_values, output_values, hidden_values, weights } = genotype;
    let values = [globals, input_values, output_values, hidden_values, weights];
    wire::evo::Individual {
        generation,
        number,
        hidden: *hidden,
        values: values.into_iter().flatten().copied().collect(),
    }
}
