//! `rossum odcp`.

use std::{io::Write, num::ParseFloatError};

use anyhow::{anyhow, ensure};
use clap::{Args, Subcommand};
use client::odcp::{Client, ClientError};
use serde_json::{Value, json};

use crate::table::table;

/// Options of `rossum odcp`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Address of an agent's ODCP port; see `rossum agents`
    #[arg(long, global = true, value_name = "ADDRESS", default_value = "127.0.0.1:45453")]
    server: String,
    /// Print JSON instead of a table
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the angle of every motor: -1 to 1 over its range, 0 at its null position
    Motors,
    /// Set every motor, in the order of `motors`
    Set {
        /// Target angle, -1 to 1, with an optional torque limit, 0 to 1 of the motor's maximum (default 1)
        #[arg(required = true, allow_hyphen_values = true, value_name = "ANGLE:TORQUE", value_parser = setting)]
        settings: Vec<(f64, f64)>,
    },
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut client = Client::connect(&*options.server).map_err(|error| explain(&options.server, error))?;
    let motors = client.motors()?;
    match &options.command {
        Command::Motors if options.json => writeln!(out, "{}", as_json(&motors))?,
        Command::Motors => write!(out, "{}", as_table(&motors))?,
        Command::Set { settings } => {
            let (expected, given) = (motors.len(), settings.len());
            ensure!(expected == given, "expected settings for {expected} motors, got {given}");
            client.set_motors(settings)?;
        }
    }
    Ok(client.disconnect()?)
}

fn explain(server: &str, error: ClientError) -> anyhow::Error {
    match error {
        ClientError::NoReply { .. } | ClientError::Io(_) => anyhow!(
            "no ODCP agent at {server} ({error}); start a server with `rossum serve --scenario orcs`, and pass a port \
             listed by `rossum agents` with --server"
        ),
        other => other.into(),
    }
}

fn as_table(motors: &[f64]) -> String {
    let rows: Vec<_> = motors.iter().enumerate().map(|(at, angle)| [at.to_string(), format!("{angle:+.4}")]).collect();
    table(["motor", "angle"], &rows)
}

fn as_json(motors: &[f64]) -> Value {
    json!({ "angles": motors })
}

/// Parses `ANGLE` or `ANGLE:TORQUE`.
fn setting(text: &str) -> Result<(f64, f64), String> {
    let (angle, torque) = text.split_once(':').unwrap_or((text, "1"));
    let parse = || -> Result<(f64, f64), ParseFloatError> { Ok((angle.parse()?, torque.parse()?)) };
    match parse() {
        Ok((angle, torque)) if (-1.0..=1.0).contains(&angle) && (0.0..=1.0).contains(&torque) => Ok((angle, torque)),
        _ => Err("expected an angle from -1 to 1, optionally with a torque from 0 to 1, such as 0.5:0.8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings() {
        for (text, expected) in [
            ("0.5", Some((0.5, 1.0))),
            ("-1:0", Some((-1.0, 0.0))),
            ("0.25:0.75", Some((0.25, 0.75))),
            ("1.5", None),
            ("0:2", None),
            ("0:-1", None),
            ("nan", None),
            ("0:", None),
            ("half", None),
            ("--json", None),
        ] {
            assert_eq!(setting(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn angles_are_printed() {
        assert_eq!(as_table(&[0.5, -1.0]), "motor  angle\n0      +0.5000\n1      -1.0000\n");
        assert_eq!(as_json(&[0.5, -1.0]).to_string(), r#"{"angles":[0.5,-1.0]}"#);
    }

    #[test]
    fn unreachable_agent() {
        let error = explain("127.0.0.1:1", ClientError::NoReply { request: "connect" }).to_string();
        assert!(error.contains("rossum serve --scenario orcs") && error.contains("127.0.0.1:1"), "{error}");
    }
}
