//! `rossum oz export`: a recorded session for analysis.

mod csv;
mod eaf;
mod session;
#[cfg(test)]
mod tests;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use anyhow::{Context, ensure};

use self::session::Session;
use super::{is_stdout, save};

/// Options of `rossum oz export`.
#[derive(Debug, clap::Args)]
#[command(after_help = COLUMNS)]
pub(crate) struct ExportOptions {
    /// A recording made with `rossum serve --scenario oz --record FILE`
    recording: PathBuf,
    /// Write a table with a line for each action and event; - for the standard output
    #[arg(long, value_name = "FILE", required_unless_present = "eaf")]
    csv: Option<PathBuf>,
    /// Write a file for ELAN, with tiers for speech, actions, gestures, expression, lookat, utterances and faces
    #[arg(long, value_name = "FILE")]
    eaf: Option<PathBuf>,
}

const COLUMNS: &str = "Columns of the table:
  time_s      when it began, in seconds of the robot's world since the start of the recording
  duration_s  how long it took; 0 for what happens at once
  who         the operator's address, or the robot's name
  kind        what operators did, each once: operator.speak, operator.gesture and so on;
              what the robot did and noticed: robot.speech, robot.gesture, robot.expression,
              robot.lookat, robot.utterance, robot.face;
              world.new_try, when the world was put back to its start
  what        which gesture, expression, lookat mode, servo or subsystem; who was seen;
              how sure the robot is of an utterance; whether a text was cut short
  text        what was said or heard, or the value that was set
Examples:
  rossum oz export study.mcap --csv study.csv --eaf study.eaf
  rossum oz export study.mcap --csv - | grep operator.speak
In ELAN, open the .eaf file and link your video with Edit > Linked Files. Where the robot's world
ran in real time, times are those of a video that began with the recording.";

pub(super) fn run(options: &ExportOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let ExportOptions { recording: file, csv, eaf } = options;
    let name = file.display();
    let both = [csv, eaf].iter().all(|file| file.as_deref().is_some_and(is_stdout));
    ensure!(!both, "only one of the two can be written to the standard output");
    let recording = fs::read(file).with_context(|| format!("cannot read the recording {name}"))?;
    let session = Session::of(&recording).with_context(|| format!("{name} cannot be exported"))?;
    if let Some(csv) = csv {
        save(csv, csv::table(&session).as_bytes(), out)?;
    }
    if let Some(eaf) = eaf {
        let made = fs::metadata(file).and_then(|facts| facts.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        let made = made.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        save(eaf, eaf::document(&session, made.as_secs()).as_bytes(), out)?;
    }
    if [csv, eaf].into_iter().flatten().any(|file| is_stdout(file)) {
        return Ok(());
    }
    if !session.complete {
        writeln!(out, "the recording was cut off; what is there is used")?;
    }
    let actions = session.rows.iter().filter(|row| row.kind.is_action()).count();
    let others = session.rows.len() - actions;
    writeln!(out, "{:.1} s, {actions} actions of operators, {others} other lines", session.seconds)?;
    Ok(())
}
