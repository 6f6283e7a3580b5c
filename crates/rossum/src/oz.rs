//! `rossum oz`.

use std::io::Write;

/// Puppeteering from the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {}

/// Runs it.
pub(crate) fn run(_: &Options, _: &mut dyn Write) -> anyhow::Result<()> {
    Ok(())
}
