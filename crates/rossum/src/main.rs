//! The `rossum` program: a simulated robot world with several robot protocols.
#![allow(clippy::print_stderr, reason = "a command-line program prints")]

mod agents;
mod bench;
mod check_model;
mod doctor;
mod evo;
mod interrupt;
mod logs;
mod odcp;
mod osp;
mod output;
mod oz;
mod picture;
mod portrait;
mod process;
mod replay;
mod scenarios;
mod serve;
mod soak;
mod soccer;
mod table;
mod tokens;

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{CommandFactory, Parser, Subcommand};
use physics::vet;
use server::model_check::{self, Trial};

/// Also serves MuJoCo. Models of several megabytes come and go with every robot, on several threads; with the C library's
/// allocator, the fragmentation that this leaves keeps growing for as long as the server runs. Huge pages, which the feature
/// `no_thp` rules out, would double the memory of a full game.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A simulated robot world with several robot protocols.
///
/// Start with `rossum serve`: it builds a world, prints the addresses it listens on, and runs until you press ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "rossum", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    logs: logs::Options,
}

const EXIT_CODES: &str = "Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a world and accept connections from robot controllers
    Serve(serve::Options),
    /// Run soccer games for agents and monitors of the MuJoCo league, with the options of the league's server
    Soccer(soccer::Options),
    /// Evolve robots: the Population Manager, alone or with world and robots in the same process
    Evolve(Box<evo::evolve::Options>),
    /// Run the world of the evolving robots: the World Simulator
    World(evo::world::Options),
    /// Evaluate individuals for Population Managers: the Robot Simulator
    Robot(evo::robot::Options),
    /// Replay a recording and compare it with the original, bit for bit
    Replay(replay::Options),
    /// List the built-in worlds, or print one
    Scenarios(scenarios::Options),
    /// List the agents of a running server and the addresses to control them
    Agents(agents::Options),
    /// List the tokens of the console and when they expire, or replace them
    Tokens(tokens::Options),
    /// Inspect a running simulation over OSP: agents, variables, events, single steps
    Osp(osp::Options),
    /// Read or set the motors of one agent over ODCP
    Odcp(odcp::Options),
    /// Control the social robot of a running server over Oz, and export recorded sessions
    Oz(oz::Options),
    /// Render the robot Alice with an expression or during a gesture
    Portrait(portrait::Options),
    /// Validate a robot or world model and show its contents
    CheckModel(check_model::Options),
    /// Check this machine's set-up
    Doctor,
    /// Measure the simulation on this machine
    Bench(bench::Options),
    /// Run a server under load and attack, and fail if anything is lost or grows
    Soak(soak::Options),
    /// Run clients of a soak test; started by `rossum soak`
    #[command(hide = true)]
    SoakClients(soak::GroupOptions),
    /// Synthesise speech with espeak-ng; started by the server
    #[command(name = server::driver::oz::HELPER, hide = true)]
    SpeakForOz {
        /// The espeak-ng library.
        library: PathBuf,
        /// The directory of its voices.
        voices: PathBuf,
    },
    /// Compile a model within limits of time and memory; started by the program itself
    #[command(name = server::model_check::HELPER, hide = true)]
    TryModel {
        /// Name of the model
        #[arg(long)]
        name: String,
        /// Its file; otherwise its text is read from standard input
        #[arg(long)]
        path: Option<PathBuf>,
        /// Prefix under which it is attached to a world
        #[arg(long)]
        prefix: Option<String>,
    },
    /// Print a shell completion script
    Completions {
        /// Shell that runs the script
        shell: clap_complete::Shell,
    },
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let _logs = cli.logs.start();
    match run(cli.command, &mut io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        // the reader of our output, such as `head`, has closed the pipe
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rossum: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, out: &mut dyn Write) -> anyhow::Result<()> {
    if !matches!(command, Command::TryModel { .. }) {
        vet::install_check(model_check::check);
    }
    match command {
        Command::Serve(options) => serve::run(&options, out),
        Command::Soccer(options) => soccer::run(&options, out),
        Command::Evolve(options) => evo::evolve::run(&options, out),
        Command::World(options) => evo::world::run(&options, out),
        Command::Robot(options) => evo::robot::run(&options, out),
        Command::Replay(options) => replay::run(&options, out),
        Command::Scenarios(options) => scenarios::run(&options, out),
        Command::Agents(options) => agents::run(&options, out),
        Command::Tokens(options) => tokens::run(&options, out),
        Command::Osp(options) => osp::run(&options, out),
        Command::Odcp(options) => odcp::run(&options, out),
        Command::Oz(options) => oz::run(&options, out),
        Command::Portrait(options) => portrait::run(&options, out),
        Command::CheckModel(options) => check_model::run(&options, out),
        Command::Doctor => doctor::run(out),
        Command::Bench(options) => bench::run(&options, out),
        Command::Soak(options) => soak::run(&options, out),
        Command::SoakClients(options) => soak::run_group(&options, out),
        Command::SpeakForOz { library, voices } => {
            Ok(espeak::serve(&library, &voices, io::stdin().lock(), io::stdout().lock())?)
        }
        Command::TryModel { name, path, prefix } => {
            let code = model_check::run_trial(&Trial { name, path, prefix }, io::stdin().lock(), io::stderr().lock())?;
            std::process::exit(code.into())
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
