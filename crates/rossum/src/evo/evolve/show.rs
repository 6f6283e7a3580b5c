//! The results of a run: statistics, fitness chart, and the path of its best individual.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use arena::Pose;
use clap::Args;
use evolve::{
    robot::Outcome,
    run::{self, Best, EvaluationSite, Generation, LocalSite, Record, Run, coevolution, thinned},
};

use support::output_file::{self, Existing};

use super::{choices::RunPlan, coevolve};
use crate::{
    picture::{
        Svg,
        arena::{self as arena_picture, Robot, TrialPath},
        chart,
    },
    table::{short, table},
};

/// Options of `rossum evolve show`.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Folder of the run
    run: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(populations) = coevolution::read(&options.run)? {
        return coevolve::show(&options.run, &populations, options.json, out);
    }
    let record = run::read(&options.run)?;
    if options.json {
        serde_json::to_writer_pretty(&mut *out, &record)?;
        return Ok(writeln!(out)?);
    }
    let Record { config, history, best } = &record;
    let site = match &config.site {
        EvaluationSite::Local { world, body, .. } => format!("in {}, with {}", title(world), title(body)),
        EvaluationSite::Simulators(simulators) => format!("by the Robot Simulators at {}", simulators.join(", ")),
    };
    writeln!(out, "{} with seed {}, evaluated {site}\n", config.algorithm, config.seed)?;
    write!(out, "{}", generations(history))?;
    if let Some(Best { generation, individual, fitness, .. }) = best {
        writeln!(out, "\nbest {fitness:?}: individual {individual} of generation {generation}")?;
    }
    if let Some(learnt) = run::learnt(&options.run, &record) {
        writeln!(out, "learnt: {learnt}")?;
    }
    for name in chart_files(&options.run, &record)? {
        writeln!(out, "plot: {}", name.display())?;
    }
    Ok(())
}

/// A table of about twenty generations.
pub(super) fn generations(history: &[Generation]) -> String {
    let row = |line: &Generation| {
        [
            line.generation.to_string(),
            line.evaluations.to_string(),
            short(line.best_so_far),
            short(line.mean),
            format!("{:.3}", line.diversity),
            line.hidden.to_string(),
        ]
    };
    let rows: Vec<_> = thinned(history, 20).map(row).collect();
    table(["generation", "individuals", "best so far", "mean", "diversity", "hidden"], &rows)
}

/// The title of a world or body file.
pub(super) fn title(text: &str) -> String {
    let titled: Option<String> = toml::from_str::<toml::Table>(text)
        .ok()
        .and_then(|table| table.get("title").and_then(|title| title.as_str()).map(str::to_owned));
    titled.unwrap_or_else(|| "a file without a title".to_owned())
}

/// Writes the fitness chart into the run's folder.
pub(super) fn draw_chart(run: &Run) -> anyhow::Result<()> {
    chart_files(run.folder(), &run.record()).map(|_| ())
}

fn chart_files(folder: &Path, record: &Record) -> anyhow::Result<Vec<PathBuf>> {
    write_chart(folder, &chart::draw(&format!("{}: {}", name_of(folder), record.config.algorithm), &record.history))
}

/// The name of a run's folder.
pub(super) fn name_of(folder: &Path) -> String {
    folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Writes the chart of a run into its folder.
pub(super) fn write_chart(folder: &Path, chart: &Svg) -> anyhow::Result<Vec<PathBuf>> {
    let files = ["fitness.svg", "fitness.png"].map(|name| folder.join(name));
    for file in &files {
        // of the run itself
        chart.write(file, Existing::Replace)?;
    }
    Ok(files.into())
}

/// Draws the path of the best individual, if the run evaluates in this process.
pub(super) fn draw_path(run: &Run, out: &mut dyn Write) -> anyhow::Result<()> {
    let (Some(best), Some(local)) = (run.best(), run.config().site.local()?) else { return Ok(()) };
    let file = run.folder().join("path.png");
    picture(best, &local, &file, Existing::Replace)?;
    Ok(writeln!(out, "plot: {0}/fitness.png   path of the best: {0}/path.png", run.folder().display())?)
}

/// Evaluates the best individual again, prints its fitness, and draws its path.
pub(super) fn replay(
    best: &Path,
    plan: &RunPlan,
    file: Option<&Path>,
    existing: Existing,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if coevolution::names(best)?.is_some() {
        return coevolve::replay(best, file, existing, out);
    }
    // best.json may be a generation behind the checkpoint
    let individual = match best.is_dir() {
        true => run::read(best)?.best.with_context(|| format!("{} has no finished generation", best.display()))?,
        false => run::read_best(best)?,
    };
    let folder = if best.is_dir() { best } else { best.parent().unwrap_or(Path::new(".")) };
    let record = run::read(folder);
    // the run's own picture is drawn again
    let existing = if file.is_none() && record.is_ok() { Existing::Replace } else { existing };
    let file = file.map_or_else(|| folder.join("path.png"), Path::to_owned);
    output_file::check(&file, existing)?;
    let site = match record {
        Ok(record) if matches!(record.config.site, EvaluationSite::Local { .. }) => record.config.site,
        _ => match plan.site()? {
            EvaluationSite::Simulators(_) => bail!(
                "{} was evaluated by a Robot Simulator; to evaluate it local, use --all --world WORLD --body BODY",
                best.display()
            ),
            site => site,
        },
    };
    let local = site.local()?.context("the site is local")?;
    let outcome = picture(&individual, &local, &file, existing)?;
    let (now, then) = (outcome.fitness, individual.fitness);
    let compared = if now == then { "as in the run".to_owned() } else { format!("{then} in the run") };
    writeln!(out, "fitness {now} ({compared}); {} steps, {} deaths", outcome.steps, outcome.deaths)?;
    Ok(writeln!(out, "path: {}", file.display())?)
}

fn picture(best: &Best, local: &LocalSite, file: &Path, existing: Existing) -> anyhow::Result<Outcome> {
    let (encounter, place) = local.encounter(best, usize::MAX)?;
    let mut outcomes = encounter.run()?;
    let met =
        if best.companions.is_empty() { String::new() } else { format!(", with {} others", best.companions.len()) };
    let note = format!(
        "fitness {}, individual {} of generation {}{met}, {} trials",
        short(outcomes[place].fitness),
        best.individual,
        best.generation,
        local.design.file().trial.trials
    );
    let title = format!("{} in {}", name(&local.design.file().title), name(local.world.title()));
    let robot = |outcome| Robot { body: local.design.shape(), kind: 0, paths: paths(outcome) };
    let robots: Vec<Robot<'_>> = outcomes.iter().map(robot).collect();
    arena_picture::draw(&local.world, &title, &note, &robots).write(file, existing)?;
    Ok(outcomes.swap_remove(place))
}

/// A title up to its colon.
pub(super) fn name(title: &str) -> String {
    title.split(':').next().unwrap_or_default().to_owned()
}

pub(super) fn paths(outcome: &Outcome) -> Vec<TrialPath> {
    let of_a_trial = outcome.path.chunk_by(|a, b| a.trial == b.trial);
    of_a_trial
        .map(|points| TrialPath {
            poses: points.iter().map(|point| pose(&point.position)).collect(),
            bumps: points.iter().map(|point| point.position.stress > 0.0).collect(),
            died: points.last().is_some_and(|point| point.position.death),
        })
        .collect()
}

fn pose(position: &arena::Position) -> Pose {
    Pose { x: position.x, y: position.y, dir: position.dir }
}
