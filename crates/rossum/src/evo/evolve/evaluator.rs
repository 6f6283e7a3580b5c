//! Evaluation of individuals, in this process or by Robot Simulators.

use std::time::Duration;

use anyhow::Context;
use client::evo::{Event, Fleet, FleetOptions};
use evolve::{
    Genotype, NetParameters,
    run::{Encounters, EvaluationSite, LocalSite},
    search::Evaluation,
};
use server::driver::evo::{ROBOT_PORTS, with_port};
use tracing::{info, warn};

use super::choices::RunPlan;

/// Time after which the user is told that no Robot Simulator has connected.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// Evaluates the individuals of a run.
pub(super) enum Evaluator {
    Local { site: LocalSite, threads: usize },
    Remote { fleet: Box<Fleet>, parameters: NetParameters },
}

impl Evaluator {
    pub(super) fn new(site: &EvaluationSite, plan: &RunPlan) -> anyhow::Result<Self> {
        if let Some(site) = site.local()? {
            return Ok(Self::Local { site, threads: plan.threads });
        }
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
                let encounters = match site.encounters {
                    Encounters::Group(size) => {
                        format!("\nrobots meet in groups of up to {size}; change with --concurrent")
                    }
                    Encounters::Nobody | Encounters::Opponents { .. } => String::new(),
                };
                format!("evaluated in this process, on {threads} threads: {}{encounters}", site.design.fitness().title)
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
            Self::Local { site, .. } => site.design.parameters(),
            Self::Remote { parameters, .. } => parameters,
        }
    }

    /// Evaluates a generation. `progress` is called with the number of finished evaluations.
    pub(super) fn evaluate(
        &mut self,
        generation: u64,
        individuals: &[Genotype],
        progress: &(dyn Fn(usize) + Sync),
    ) -> anyhow::Result<Vec<Evaluation>> {
        match self {
            Self::Local { site, threads } => {
                let outcomes = site.evaluate(generation, individuals, *threads, progress)?;
                Ok(outcomes.into_iter().map(Evaluation::from).collect())
            }
            Self::Remote { fleet, .. } => evaluate_remotely(fleet, generation, individuals, progress),
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
