//! `rossum evolve`: the Population Manager.

mod choices;
mod show;
mod testing;
mod watch;

use std::{io::Write, path::PathBuf};

use anyhow::{Context, ensure};
use clap::{Args, Subcommand};
use evolve::run::{EvaluationSite, Run, RunConfig};
use tracing::warn;

use self::{
    choices::{Choices, Plan},
    testing::Testers,
    watch::Watch,
};

/// Options of `rossum evolve`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct Options {
    #[command(flatten)]
    choices: Choices,
    /// Go on with the run in this folder, after its last finished generation
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = [
            "replay", "out", "all", "world", "body", "fitness", "algorithm", "population", "hidden", "seed", "config",
        ]
    )]
    resume: Option<PathBuf>,
    /// Run the best individual of a run, or the one in a file, and draw its path over the arena
    #[arg(long, value_name = "BEST")]
    replay: Option<PathBuf>,
    /// File of the picture of --replay, ending in .png or .svg; without: path.png in the run's folder
    #[arg(long, value_name = "FILE", requires = "replay")]
    picture: Option<PathBuf>,
    /// Folder of the run; without: one in runs/, named after what is evolved
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Print a JSON object for each generation instead of a bar
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Generations from one picture to the next, for those who look at the run's folder meanwhile.
const CHART_EVERY: u64 = 20;

const EXAMPLES: &str = "Examples:
  rossum evolve --all                                    evolve obstacle avoidance, all in this process
  rossum evolve --all --world cliff --algorithm neat     another world, another algorithm
  rossum evolve --simulators 127.0.0.1:7720,10.0.0.2     with Robot Simulators that run already
  rossum evolve --resume runs/obstacles-platine-ga-1     go on after a stop
  rossum evolve show runs/obstacles-platine-ga-1         what came of it";

#[derive(Debug, Subcommand)]
enum Command {
    /// Show a run: what it is, how far it came, and the plot of its fitness
    Show(show::Options),
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(Command::Show(options)) = &options.command {
        return show::run(options, out);
    }
    let mut plan = options.choices.plan()?;
    if let Some(best) = &options.replay {
        return show::replay(best, &plan, options.picture.as_deref(), out);
    }
    let (run, testers) = match &options.resume {
        Some(folder) => resume(folder, &mut plan)?,
        None => begin(options.out.clone(), &plan)?,
    };
    evolve(run, testers, &plan, options.json, out)
}

fn begin(folder: Option<PathBuf>, plan: &Plan) -> anyhow::Result<(Run, Testers)> {
    let place = plan.place()?;
    let testers = Testers::at(&place, plan)?;
    let config = RunConfig {
        algorithm: plan.algorithm,
        settings: plan.settings.clone(),
        seed: plan.seed,
        parameters: testers.parameters().clone(),
        generations: plan.generations(),
        target: plan.target,
        site: place,
    };
    let folder = folder.unwrap_or_else(|| plan.folder());
    Ok((Run::begin(&folder, config)?, testers))
}

fn resume(folder: &std::path::Path, plan: &mut Plan) -> anyhow::Result<(Run, Testers)> {
    let run = Run::resume(folder)?;
    plan.go_on(run.config());
    let place = match (&run.config().site, &plan.simulators) {
        // they may have moved since
        (EvaluationSite::Simulators(_), Some(simulators)) => EvaluationSite::Simulators(simulators.clone()),
        (place, _) => place.clone(),
    };
    let testers = Testers::at(&place, plan)?;
    ensure!(
        testers.parameters().nets() == run.config().parameters.nets(),
        "the Robot Simulator now wants other nets than those of the run in {}; start a new run",
        folder.display()
    );
    Ok((run, testers))
}

/// Generation after generation, until there are enough or one is good enough.
fn evolve(mut run: Run, mut testers: Testers, plan: &Plan, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let watch = Watch::begin(&run, &testers.describe(), plan.generations(), json, out)?;
    while run.next_generation() <= plan.generations() && !plan.is_reached(run.best()) {
        let generation = run.next_generation();
        let individuals = run.ask().to_vec();
        watch.generation(generation, individuals.len());
        let folder = run.folder().display().to_string();
        let unfinished = || format!("generation {generation} was not finished; go on with --resume {folder}");
        let tested = testers.test(generation, &individuals, &|tested| watch.tested(tested));
        let evaluations = tested.with_context(unfinished)?;
        let line = run.tell(&evaluations).with_context(unfinished)?.clone();
        watch.finished(&line, out)?;
        if line.generation % CHART_EVERY == 0 {
            // a picture is worth less than the run
            show::draw_chart(&run).unwrap_or_else(|error| warn!("no plot: {error:#}"));
        }
    }
    watch.end(&run, out)?;
    show::draw_chart(&run)?;
    show::draw_path(&run, out)
}
