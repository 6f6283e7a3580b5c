//! Two populations that evolve against each other.

use std::{io::Write, path::Path};

use anyhow::Context;
use evolve::{
    robot::suitability,
    run::{
        Generation,
        coevolution::{self, Coevolution, Population},
    },
};
use support::output_file::{self, Existing};
use tracing::warn;

use super::{
    Options,
    choices::RunPlan,
    progress::{Beginning, Finished, Progress},
    show, updates_chart,
};
use crate::{
    picture::{
        arena::{self as arena_picture, Robot},
        chart,
    },
    table::short,
};

/// Begins or resumes the run of two populations, and runs generations until all are done.
pub(super) fn run(options: &Options, plan: &mut RunPlan, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut pair = match &options.resume {
        Some(folder) => {
            let pair = Coevolution::resume(folder)?;
            plan.complete_from(pair.runs()[0].config());
            pair
        }
        None => {
            let folder = options.out.clone().unwrap_or_else(|| plan.folder());
            Coevolution::begin(&folder, plan.coevolution()?)?
        }
    };
    let rivals = pair.rivals();
    for (side, site) in rivals.sites().iter().enumerate() {
        if let Err(reason) = suitability::check_rival(&site.design, &site.world, rivals.kinds()[1 - side]) {
            warn!("the {} is unlikely to learn: {reason}", rivals.names()[side]);
        }
    }
    let beginning = Beginning {
        description: describe(&pair, plan.threads),
        folder: pair.folder(),
        finished: pair.next_generation() - 1,
        evaluations: evaluations(&pair),
        generations: plan.generations(),
    };
    let progress = Progress::begin(&beginning, options.json, out)?;
    while plan.has_generation(pair.next_generation()) {
        let generation = pair.next_generation();
        progress.generation(generation, pair.encounters());
        let folder = pair.folder().display().to_string();
        let unfinished = || format!("generation {generation} was not finished; continue with --resume {folder}");
        let lines = pair.generation(plan.threads, &|count| progress.evaluated(count)).with_context(unfinished)?;
        let names = pair.rivals().names();
        let finished = [0, 1].map(|side| Finished { population: Some(&names[side]), line: &lines[side] });
        progress.finished(&finished, out)?;
        if updates_chart(generation) {
            // a missing chart must not end the run
            draw_chart(&pair).unwrap_or_else(|error| warn!("chart not written: {error:#}"));
        }
    }
    progress.end(evaluations(&pair), out)?;
    if !options.json {
        conclude(pair.folder(), out)?;
    }
    draw_chart(&pair)?;
    if pair.next_generation() > 1 {
        let folder = pair.folder();
        draw_paths(folder, &folder.join("path.png"), Existing::Replace)?;
        writeln!(out, "plot: {0}/fitness.png   path of the last best: {0}/path.png", folder.display())?;
    }
    Ok(())
}

fn describe(pair: &Coevolution, threads: usize) -> String {
    let rivals = pair.rivals();
    let populations =
        [0, 1].map(|side| format!("{}: {}", rivals.names()[side], rivals.sites()[side].design.fitness().title));
    let run = pair.runs()[0].describe();
    format!(
        "{run}\n{}\neach meets {} of the others, one after the other, in this process, on {threads} threads",
        populations.join("\n"),
        rivals.opponents()
    )
}

/// Number of individuals evaluated so far.
fn evaluations(pair: &Coevolution) -> u64 {
    pair.runs().iter().filter_map(|run| run.history().last()).map(|last| last.evaluations).sum()
}

/// Prints what each population has learnt.
fn conclude(folder: &Path, out: &mut dyn Write) -> anyhow::Result<()> {
    let Some(learnt) = coevolution::learnt(folder) else { return Ok(()) };
    writeln!(out, "\nWhat they have learnt: {}.", learnt.join(";\n"))?;
    Ok(())
}

fn draw_chart(pair: &Coevolution) -> anyhow::Result<()> {
    let (names, runs) = (pair.rivals().names(), pair.runs());
    write_chart(pair.folder(), [0, 1].map(|side| (names[side].as_str(), runs[side].history()))).map(drop)
}

fn write_chart(folder: &Path, populations: [(&str, &[Generation]); 2]) -> anyhow::Result<Vec<std::path::PathBuf>> {
    show::write_chart(folder, &chart::draw_two(&show::name_of(folder), populations))
}

/// Prints two populations.
pub(super) fn show(
    folder: &Path,
    populations: &[Population; 2],
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    if json {
        serde_json::to_writer_pretty(&mut *out, &serde_json::json!({ "populations": populations }))?;
        return Ok(writeln!(out)?);
    }
    for Population { name, record } in populations {
        let (algorithm, seed) = (record.config.algorithm, record.config.seed);
        writeln!(out, "{name}: {algorithm} with seed {seed}\n\n{}", show::generations(&record.history))?;
    }
    for learnt in coevolution::learnt(folder).into_iter().flatten() {
        writeln!(out, "learnt: {learnt}")?;
    }
    let histories = populations.each_ref().map(|of| (of.name.as_str(), of.record.history.as_slice()));
    for name in write_chart(folder, histories)? {
        writeln!(out, "plot: {}", name.display())?;
    }
    Ok(())
}

/// Evaluates the best individuals of the last generation against each other, and draws their paths.
pub(super) fn replay(
    folder: &Path,
    file: Option<&Path>,
    existing: Existing,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    // the run's own picture is drawn again
    let existing = if file.is_none() { Existing::Replace } else { existing };
    let file = file.map_or_else(|| folder.join("path.png"), Path::to_owned);
    output_file::check(&file, existing)?;
    writeln!(out, "{}", draw_paths(folder, &file, existing)?)?;
    Ok(writeln!(out, "path: {}", file.display())?)
}

/// Draws the best individuals of the last generation; returns their results.
fn draw_paths(folder: &Path, file: &Path, existing: Existing) -> anyhow::Result<String> {
    let (rivals, bests) = coevolution::bests(folder, None)?;
    let outcomes = rivals.duel(bests.each_ref(), usize::MAX)?.run()?;
    let (names, sites) = (rivals.names(), rivals.sites());
    let fitness: Vec<String> = names
        .iter()
        .zip(&outcomes)
        .map(|(name, outcome)| format!("{name}: fitness {}", short(outcome.fitness)))
        .collect();
    let note = format!("the best of generation {} against each other; {}", bests[0].generation, fitness.join(", "));
    let robots: Vec<Robot<'_>> = (outcomes.iter().zip(sites).zip(rivals.kinds()))
        .map(|((outcome, site), kind)| Robot { body: site.design.shape(), kind, paths: show::paths(outcome) })
        .collect();
    let world = &sites[0].world;
    arena_picture::draw(world, &show::name(world.title()), &note, &robots).write(file, existing)?;
    Ok(note)
}
