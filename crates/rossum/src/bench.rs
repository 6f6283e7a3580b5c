//! `rossum bench`.

use clap::Args;

/// Options of `rossum bench`.
#[derive(Debug, Args)]
pub(crate) struct Options {}

pub(crate) fn run(_: &Options) -> anyhow::Result<()> {
    Ok(())
}
