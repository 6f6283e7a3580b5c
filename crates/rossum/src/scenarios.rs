//! `rossum scenarios`.

use clap::Args;
use server::{Scenario, library};

/// Options of `rossum scenarios`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Show this one as it is, to copy and change
    name: Option<String>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if let Some(name) = &options.name {
        print!("{}", library::scenario(name)?);
        return Ok(());
    }
    let names = library::scenarios();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    for name in &names {
        println!("{name:<width$}  {}", Scenario::load(name)?.base.title);
    }
    println!("\nRun one with `rossum serve --scenario NAME`, or copy one with `rossum scenarios NAME > mine.toml`.");
    Ok(())
}
