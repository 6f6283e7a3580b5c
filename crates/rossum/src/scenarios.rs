//! `rossum scenarios`.

use std::io::Write;

use clap::Args;
use server::{Scenario, library};

/// Options of `rossum scenarios`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Show this one as it is, to copy and change
    name: Option<String>,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(name) = &options.name {
        write!(out, "{}", library::scenario(name)?)?;
        return Ok(());
    }
    let names = library::scenarios();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for name in &names {
        writeln!(out, "{name:<width$}  {}", Scenario::load(name)?.base.title)?;
    }
    writeln!(
        out,
        "\nRun one with `rossum serve --scenario NAME`, or copy one with `rossum scenarios NAME > mine.toml`."
    )?;
    Ok(())
}
