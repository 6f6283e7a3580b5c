//! `rossum evolve`: the Population Manager.

mod choices;
mod coevolve;
mod companion;
mod evaluator;
mod progress;
mod show;

use std::{io::Write, path::PathBuf};

use anyhow::{Context, bail, ensure};
use clap::{Args, Subcommand};
use evolve::{
    robot::suitability,
    run::{Best, Encounters, EvaluationSite, Run, RunConfig, coevolution, learnt},
};
use tracing::warn;

use self::{
    choices::{RunOptions, RunPlan},
    evaluator::Evaluator,
    progress::{Beginning, Finished, Progress},
};
use crate::{output::OverwriteOption, table::short};

/// Options of `rossum evolve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    choices: RunOptions,
    /// Resume the run in this folder after its last finished generation
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "replay", "out", "all", "world", "body", "fitness", "coevolve", "opponents", "concurrent", "algorithm",
            "population", "hidden", "seed", "config",
        ]
    )]
    resume: Option<PathBuf>,
    /// Evaluate the best individual of a run, or the one in a file, and draw its path over the arena
    #[arg(long, value_name = "BEST")]
    replay: Option<PathBuf>,
    /// Picture file for --replay, .png or .svg [default: path.png in the run's folder]
    #[arg(long, value_name = "FILE", requires = "replay")]
    picture: Option<PathBuf>,
    /// Folder of the run, new or empty [default: a new folder in runs/]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Print a JSON object per generation instead of a progress bar
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overwrite: OverwriteOption,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Generations between two updates of the chart in the run's folder, at least.
const CHART_EVERY: u64 = 20;

const EXAMPLES: &str = "Examples:
  rossum evolve --all                                    evolve a robot that explores, all in this process
  rossum evolve --all --world maze --algorithm neat      another world, another algorithm
  rossum evolve --all --coevolve                         evolve predators and prey against each other
  rossum evolve --simulators 127.0.0.1:7720,10.0.0.2     with running Robot Simulators
  rossum evolve --ray 10.0.0.1:6379                      on a Ray cluster; docs/ray.md has what it needs
  rossum evolve --resume runs/blocks-platine-cma-es-1    resume a run
  rossum evolve show runs/blocks-platine-cma-es-1        show its results";

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a run: its configuration, progress and fitness chart
    Show(show::Options),
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(Command::Show(options)) = &options.command {
        return show::run(options, out);
    }
    let mut plan = options.choices.plan()?;
    if let Some(best) = &options.replay {
        return show::replay(best, &plan, options.picture.as_deref(), options.overwrite.existing(), out);
    }
    let two = match &options.resume {
        Some(folder) => coevolution::names(folder)?.is_some(),
        None => plan.coevolve,
    };
    if two {
        ensure!(plan.ray.is_none(), "--ray cannot be used with two populations that evolve against each other");
        return coevolve::run(options, &mut plan, out);
    }
    let (run, evaluator) = match &options.resume {
        Some(folder) => resume(folder, &mut plan)?,
        None => begin(options.out.clone(), &plan)?,
    };
    evolve(run, evaluator, &plan, options.json, out)
}

/// Whether the chart in the run's folder is updated after this generation. The longer a run is, the less a generation changes.
fn updates_chart(generation: u64) -> bool {
    generation.is_multiple_of(CHART_EVERY.max(generation / 50))
}

fn begin(folder: Option<PathBuf>, plan: &RunPlan) -> anyhow::Result<(Run, Evaluator)> {
    let site = plan.site()?;
    if let Some(local) = site.local()?
        && let Err(reason) = suitability::check(&local.design, &local.world)
    {
        warn!("this combination is unlikely to learn: {reason}");
    }
    let evaluator = Evaluator::new(&site, plan)?;
    let config = RunConfig {
        algorithm: plan.algorithm,
        settings: plan.settings.clone(),
        seed: plan.seed,
        parameters: evaluator.parameters().clone(),
        generations: plan.generations(),
        target: plan.target,
        site,
    };
    let folder = folder.unwrap_or_else(|| plan.folder());
    Ok((Run::begin(&folder, config)?, evaluator))
}

fn resume(folder: &std::path::Path, plan: &mut RunPlan) -> anyhow::Result<(Run, Evaluator)> {
    let run = Run::resume(folder)?;
    plan.complete_from(run.config());
    if let EvaluationSite::Local { encounters: Encounters::Opponents { rival, .. }, .. } = &run.config().site {
        let pair = folder.parent().unwrap_or(folder).display();
        bail!("{} evolves against `{rival}`; resume both with --resume {pair}", folder.display());
    }
    let site = match (&run.config().site, &plan.simulators) {
        // their addresses may have changed
        (EvaluationSite::Simulators(_), Some(simulators)) => EvaluationSite::Simulators(simulators.clone()),
        (site, _) => site.clone(),
    };
    let evaluator = Evaluator::new(&site, plan)?;
    ensure!(
        evaluator.parameters().nets() == run.config().parameters.nets(),
        "the Robot Simulator accepts other nets than the run in {} uses; start a new run",
        folder.display()
    );
    Ok((run, evaluator))
}

/// Runs generations until all are done or the target fitness is reached.
fn evolve(
    mut run: Run,
    mut evaluator: Evaluator,
    plan: &RunPlan,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let last = run.history().last();
    let beginning = Beginning {
        description: format!("{}\n{}", run.describe(), evaluator.describe()),
        folder: run.folder(),
        finished: run.next_generation() - 1,
        evaluations: last.map_or(0, |last| last.evaluations),
        generations: plan.generations(),
    };
    let progress = Progress::begin(&beginning, json, out)?;
    while plan.has_generation(run.next_generation()) && !plan.is_reached(run.best()) {
        let generation = run.next_generation();
        let individuals = run.ask().to_vec();
        progress.generation(generation, individuals.len());
        let folder = run.folder().display().to_string();
        let unfinished = || format!("generation {generation} was not finished; continue with --resume {folder}");
        let evaluated = evaluator.evaluate(run.folder(), generation, &individuals, &|count| progress.evaluated(count));
        let evaluations = evaluated.with_context(unfinished)?;
        let line = run.tell(&evaluations).with_context(unfinished)?.clone();
        progress.finished(&[Finished { population: None, line: &line }], out)?;
        if updates_chart(generation) {
            // a missing chart must not end the run
            show::draw_chart(&run).unwrap_or_else(|error| warn!("chart not written: {error:#}"));
        }
    }
    progress.end(run.history().last().map_or(0, |last| last.evaluations), out)?;
    if !json {
        conclude(&run, out)?;
    }
    show::draw_chart(&run)?;
    show::draw_path(&run, out)
}

/// Prints the best individual, and what has been learnt.
fn conclude(run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(Best { generation, individual, fitness, .. }) = run.best() {
        writeln!(out, "best {}, individual {individual} of generation {generation}", short(*fitness))?;
    }
    if let Some(learnt) = learnt(run.folder(), &run.record()) {
        writeln!(out, "\nWhat it has learnt: {learnt}.")?;
    }
    Ok(())
}
