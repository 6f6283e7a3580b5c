//! Where individuals are tested: in this process, or by Robot Simulators elsewhere.

use std::time::Duration;

use anyhow::Context;
use arena::plan::Isolation;
use client::evo::{Event, Fleet, FleetOptions};
use evolve::{
    Genotype, NetParameters,
    genotype::Genes,
    robot::{InProcessWorld, evaluate_all},
    run::{EvaluationSite, LocalSite},
    search::Evaluation,
};
use server::driver::evo::ROBOT_PORTS;
use tracing::{info, warn};

use super::choices::Plan;
use crate::evo::host::with_port;

/// Somebody who is there answers within this.
const PROMPT: Duration = Duration::from_secs(1);

/// Those who test individuals.
pub(super) enum Testers {
    LocalSite { here: LocalSite, threads: usize },
    Elsewhere { fleet: Box<Fleet>, parameters: NetParameters },
}

impl Testers {
    pub(super) fn at(place: &EvaluationSite, plan: &Plan) -> anyhow::Result<Self> {
        if let Some(here) = place.local()? {
            return Ok(Self::LocalSite { here, threads: plan.threads });
        }
        let EvaluationSite::Simulators(simulators) = place else { unreachable!("all other places are here") };
        let addresses: Vec<String> = simulators.iter().map(|address| with_port(address, ROBOT_PORTS.0)).collect();
        let mut fleet = Fleet::new(&addresses, FleetOptions::default())?;
        if fleet.next_within(PROMPT)?.is_none_or(|event| matches!(event, Event::Unusable { .. })) {
            warn!("waiting for a Robot Simulator at {}; `rossum robot` starts one", addresses.join(", "));
        }
        let told = fleet.net_parameters().with_context(|| {
            format!(
                "no Robot Simulator at {}; start one with `rossum robot`, or give --simulators, or --all",
                addresses.join(", ")
            )
        })?;
        Ok(Self::Elsewhere { fleet: Box::new(fleet), parameters: parameters_from_wire(&told) })
    }

    /// Who and where they are, for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::LocalSite { here, threads } => {
                let alone = match here.world.rules().isolation {
                    Isolation::PerRobot => "",
                    _ => "\neach robot is alone here; to have them meet, run world, robot and evolve apart",
                };
                format!("tested here, on {threads} threads: {}{alone}", here.design.fitness().title)
            }
            Self::Elsewhere { fleet, .. } => {
                let addresses: Vec<String> = fleet.addresses().iter().map(ToString::to_string).collect();
                format!("tested by Robot Simulators at {}; change that with --simulators", addresses.join(", "))
            }
        }
    }

    /// What nets they can test.
    pub(super) fn parameters(&self) -> &NetParameters {
        match self {
            Self::LocalSite { here, .. } => here.design.parameters(),
            Self::Elsewhere { parameters, .. } => parameters,
        }
    }

    /// Tests a generation, and says how many of it are done.
    pub(super) fn test(
        &mut self,
        generation: u64,
        individuals: &[Genotype],
        progress: &(dyn Fn(usize) + Sync),
    ) -> anyhow::Result<Vec<Evaluation>> {
        match self {
            Self::LocalSite { here, threads } => {
                let world = || Ok(InProcessWorld::new(here.world.clone(), here.seed));
                let outcomes = evaluate_all(&here.design, generation, individuals, *threads, world, progress)?;
                let evaluation = |outcome: evolve::robot::Outcome| Evaluation {
                    fitness: outcome.fitness,
                    behaviour: outcome.behaviour,
                };
                Ok(outcomes.into_iter().map(evaluation).collect())
            }
            Self::Elsewhere { fleet, .. } => elsewhere(fleet, generation, individuals, progress),
        }
    }
}

fn elsewhere(
    fleet: &mut Fleet,
    generation: u64,
    individuals: &[Genotype],
    progress: &(dyn Fn(usize) + Sync),
) -> anyhow::Result<Vec<Evaluation>> {
    let messages = (1..).zip(individuals).map(|(number, genotype)| individual(generation, number, genotype)).collect();
    let addresses = fleet.addresses().to_vec();
    let mut tested = 0;
    let results = fleet.evaluate(messages, |event| {
        let at = |simulator: &usize| addresses.get(*simulator).map(ToString::to_string).unwrap_or_default();
        match event {
            Event::Fitness { .. } => {
                tested += 1;
                progress(tested);
            }
            Event::Failed { generation, number, attempts, .. } => {
                warn!(generation, number, attempts, "an individual could not be tested");
            }
            Event::Joined { simulator, concurrent } => {
                info!(simulator = at(simulator), concurrent, "a Robot Simulator is there");
            }
            Event::Lost { simulator, reason, resent } => {
                warn!(simulator = at(simulator), resent, "a Robot Simulator is lost, others do its work: {reason}");
            }
            Event::Unusable { simulator, reason } => {
                warn!(simulator = at(simulator), "a Robot Simulator cannot be used: {reason}");
            }
            Event::Unasked { simulator, generation, number } => {
                warn!(simulator = at(simulator), generation, number, "a fitness came that nobody waits for");
            }
        }
    })?;
    let fitness = results.into_iter().collect::<Result<Vec<f64>, _>>()?;
    Ok(fitness.into_iter().map(|fitness| Evaluation { fitness, behaviour: Vec::new() }).collect())
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

fn parameters_from_wire(told: &wire::evo::NetParameters) -> NetParameters {
    let genes = |genes: wire::evo::Genes| Genes { values: genes.values, low: genes.low, high: genes.high };
    NetParameters {
        concurrent: told.concurrent,
        globals: genes(told.globals),
        inputs: told.inputs,
        input: genes(told.input),
        outputs: told.outputs,
        output: genes(told.output),
        hidden_min: told.hidden_min,
        hidden_max: told.hidden_max,
        hidden: genes(told.hidden),
        weight: genes(told.weight),
        input_to_output: told.input_to_output,
        recurrent: told.recurrent,
    }
}
