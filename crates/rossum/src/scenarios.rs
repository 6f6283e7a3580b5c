//! `rossum scenarios`.

use std::io::Write;

use clap::Args;
use server::{Scenario, serve::build_world};

/// Options of `rossum scenarios`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Print this scenario; a name or the path of a .toml file
    name: Option<String>,
    /// List the variables of its world, for the keys `settings`, `randomise` and `watch`
    #[arg(long, requires = "name")]
    variables: bool,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(name) = &options.name {
        if options.variables {
            return list_variables(name, out);
        }
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

fn list_variables(name: &str, out: &mut dyn Write) -> anyhow::Result<()> {
    let (_, world) = build_world(&Scenario::load(name)?)?;
    let variables = &world.catalogue().variables;
    let width = variables.iter().map(|variable| variable.name.len()).max().unwrap_or(0);
    for variable in variables {
        let access = if variable.writable { "rw" } else { "r " };
        let value = world.read(variable.id)?;
        writeln!(out, "{:<width$}  {access}  {:<16}  {value}", variable.name, variable.kind.name())?;
    }
    Ok(())
}
