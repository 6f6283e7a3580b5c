//! The `rossum` program: one simulated robot world, robot protocols in front of it.
#![allow(clippy::print_stderr, reason = "a program for people prints")]

mod agents;
mod bench;
mod check_model;
mod doctor;
mod evo;
mod interrupt;
mod logs;
mod odcp;
mod osp;
mod oz;
mod picture;
mod portrait;
mod replay;
mod scenarios;
mod serve;
mod soccer;
mod table;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand};

/// One simulated robot world, robot protocols in front of it.
///
/// Start with `rossum serve`: it builds a world, says where it listens, and runs until you press ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "rossum", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    logs: logs::Options,
}

const EXIT_CODES: &str = "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a world and let robots' controllers connect to it
    Serve(serve::Options),
    /// Run soccer games for the MuJoCo league's agents and monitors, with the flags of its server
    Soccer(soccer::Options),
    /// Evolve robots: the Population Manager, alone or with world and robots in one process
    Evolve(Box<evo::evolve::Options>),
    /// Run the world of the evolving robots: the World Simulator
    World(evo::world::Options),
    /// Test individuals for Population Managers: the Robot Simulator
    Robot(evo::robot::Options),
    /// Run a recording again and compare it with the original, bit for bit
    Replay(replay::Options),
    /// List the worlds that come with the program, or show one
    Scenarios(scenarios::Options),
    /// List the agents of a running server, and where each can be controlled
    Agents(agents::Options),
    /// Look around in a running simulation over OSP: agents, variables, events, single steps
    Osp(osp::Options),
    /// Read or set the motors of one agent over ODCP
    Odcp(odcp::Options),
    /// Puppeteer the social robot of a running server over Oz, and look at what was done with it
    Oz(oz::Options),
    /// Draw the robot Alice with an expression or in the middle of a gesture
    Portrait(portrait::Options),
    /// Say whether a robot or world model can be used, and what is in it
    CheckModel(check_model::Options),
    /// Say what is present on this machine and what is missing
    Doctor,
    /// Measure the simulation on this machine
    Bench(bench::Options),
    /// Speak for the robot with espeak-ng, which stays in this process; the server starts it
    #[command(name = server::driver::oz::HELPER, hide = true)]
    SpeakForOz {
        /// The engine's library.
        library: PathBuf,
        /// The folder of its voices.
        voices: PathBuf,
    },
    /// Print a completion script for your shell
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let _logs = cli.logs.start();
    match run(cli.command, &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // whoever reads our output, such as `head`, has seen enough
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rossum: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, out: &mut dyn Write) -> anyhow::Result<()> {
    match command {
        Command::Serve(options) => serve::run(&options, out),
        Command::Soccer(options) => soccer::run(&options, out),
        Command::Evolve(options) => evo::evolve::run(&options, out),
        Command::World(options) => evo::world::run(&options, out),
        Command::Robot(options) => evo::robot::run(&options, out),
        Command::Replay(options) => replay::run(&options, out),
        Command::Scenarios(options) => scenarios::run(&options, out),
        Command::Agents(options) => agents::run(&options, out),
        Command::Osp(options) => osp::run(&options, out),
        Command::Odcp(options) => odcp::run(&options, out),
        Command::Oz(options) => oz::run(&options, out),
        Command::Portrait(options) => portrait::run(&options, out),
        Command::CheckModel(options) => check_model::run(&options, out),
        Command::Doctor => doctor::run(out),
        Command::Bench(options) => bench::run(&options, out),
        Command::SpeakForOz { library, voices } => {
            Ok(espeak::serve(&library, &voices, io::stdin().lock(), io::stdout().lock())?)
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "rossum", &mut script);
            Ok(out.write_all(&script)?)
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
