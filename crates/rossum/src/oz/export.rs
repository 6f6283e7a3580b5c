//! `rossum oz export`: exports a recorded session for analysis.

mod csv;
mod eaf;
mod session;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    io::Write,
    path::PathBuf,
};

use anyhow::{Context, ensure};
use jiff::Timestamp;

use self::session::Session;
use super::{check, is_stdout, save};
use crate::output::OverwriteOption;

/// Options of `rossum oz export`.
#[derive(Debug, clap::Args)]
#[command(after_help = COLUMNS)]
pub(crate) struct ExportOptions {
    /// Recording made with `rossum serve --scenario oz --record FILE`
    recording: PathBuf,
    /// Write a CSV table with a row for each action and event; - for standard output
    #[arg(long, value_name = "FILE", required_unless_present = "eaf")]
    csv: Option<PathBuf>,
    /// Write an ELAN document with tiers for speech, actions, gestures, expression, lookat, utterances and faces
    #[arg(long, value_name = "FILE")]
    eaf: Option<PathBuf>,
    #[command(flatten)]
    overwrite: OverwriteOption,
}

const COLUMNS: &str = "Columns of the table:
  time_s      start, in seconds of simulated time since the start of the recording
  duration_s  duration; 0 for instantaneous events
  who         the operator's address, or the robot's name
  kind        actions of operators: operator.speak, operator.gesture, ...;
              behaviour and perception of the robot: robot.speech, robot.gesture,
              robot.expression, robot.lookat, robot.utterance, robot.face;
              world.new_try for a reset of the world
  what        gesture, expression, lookat mode, servo or subsystem; name of a face;
              confidence of an utterance; whether a text was cut short
  text        the spoken or recognised text, or the new value
Examples:
  rossum oz export study.mcap --csv study.csv --eaf study.eaf
  rossum oz export study.mcap --csv - | grep operator.speak
In ELAN, open the .eaf file and link a video with Edit > Linked Files. If the simulation ran in real
time, times match a video that started together with the recording.";

pub(super) fn run(options: &ExportOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let ExportOptions { recording: file, csv, eaf, overwrite } = options;
    let existing = overwrite.existing();
    let name = file.display();
    let both = [csv, eaf].iter().all(|file| file.as_deref().is_some_and(is_stdout));
    ensure!(!both, "only one of `--csv` and `--eaf` can be written to standard output");
    // before one of two is written
    [csv, eaf].into_iter().flatten().try_for_each(|file| check(file, existing))?;
    let recording = File::open(file).with_context(|| format!("failed to read the recording {name}"))?;
    let session = Session::of(recording).with_context(|| format!("failed to export {name}"))?;
    if let Some(csv) = csv {
        save(csv, &csv::table(&session)?, existing, out)?;
    }
    if let Some(eaf) = eaf {
        let modified = fs::metadata(file).and_then(|metadata| metadata.modified());
        let recorded = modified.ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_default();
        let recorded = Timestamp::from_second(recorded.as_second()).unwrap_or_default();
        save(eaf, &eaf::document(&session, recorded)?, existing, out)?;
    }
    if [csv, eaf].into_iter().flatten().any(|file| is_stdout(file)) {
        return Ok(());
    }
    if let Some(warning) = &session.warning {
        writeln!(out, "warning: {warning}")?;
    }
    let actions = session.rows.iter().filter(|row| row.kind.is_action()).count();
    let others = session.rows.len() - actions;
    writeln!(out, "{:.1} s, {actions} operator actions, {others} other rows", session.seconds)?;
    Ok(())
}
