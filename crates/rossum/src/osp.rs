//! `rossum osp`: looking around in a running simulation by hand.

mod show;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use client::osp::{AgentInfo, AgentSummary, Client, ClientError, Completed, Dialect, Status, ValueInfo};

use crate::interrupt;

/// How long a reset is waited for that nobody else asks for.
const RESET_PATIENCE: Duration = Duration::from_secs(5);

/// Options of `rossum osp`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where the server takes OSP clients
    #[arg(long, global = true, value_name = "ADDRESS", default_value = "127.0.0.1:45454")]
    server: String,
    /// How datagrams are written
    #[arg(long, global = true, value_enum, default_value_t = DialectName::Document)]
    dialect: DialectName,
    /// Print JSON for scripts instead of tables; watch, step and events print one object in each line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DialectName {
    /// As the protocol's document says
    Document,
    /// As the original server, ORCS, does
    Original,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the agents, and whether somebody controls them
    Agents,
    /// Show what an agent has: its inputs (motors), its outputs (sensors) and its infos, for fitness functions
    Info {
        /// Name of the agent
        agent: String,
    },
    /// List the variables of the simulation
    Values {
        /// A regular expression that the whole name matches, such as '/Simulation/.*'
        #[arg(default_value = ".*")]
        regex: String,
    },
    /// Read variables
    Get {
        /// Names, or regular expressions that the whole name matches
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Write a variable
    Set {
        /// Its name
        name: String,
        /// What it shall be, written as `get` shows it
        #[arg(allow_negative_numbers = true)]
        value: String,
    },
    /// Show variables whenever they change, until ctrl-C
    Watch {
        /// Names, or regular expressions that the whole name matches
        #[arg(required = true)]
        names: Vec<String>,
        /// Time between two looks
        #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds)]
        every: Duration,
        /// Look so many times, and end
        #[arg(long, value_name = "N")]
        count: Option<u64>,
    },
    /// Control an agent for some steps, and show its outputs and infos after each
    Step {
        /// Name of the agent; nobody else may control it
        agent: String,
        /// Its inputs, in the order of `info`, held for all steps; those left out stay as they are
        #[arg(allow_negative_numbers = true, value_parser = finite)]
        inputs: Vec<f32>,
        /// How many steps
        #[arg(long, value_name = "N", default_value_t = 1)]
        steps: u64,
        /// Reset the simulation with this seed before; 0 leaves the seed as it is
        #[arg(long, allow_negative_numbers = true)]
        seed: Option<i32>,
        /// Show the last step only
        #[arg(long)]
        last: bool,
    },
    /// Control an agent for some steps, and show which events occur; it keeps its inputs
    Events {
        /// Names of events, such as /Control/NextTry
        #[arg(required = true)]
        names: Vec<String>,
        /// Name of the agent; nobody else may control it
        #[arg(long)]
        agent: String,
        /// How many steps
        #[arg(long, value_name = "N", default_value_t = 1)]
        steps: u64,
    },
    /// Put the simulation back to its start; while agents are controlled, only their clients can do so
    Reset {
        /// What random numbers start from; 0 leaves the seed as it is
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        seed: i32,
    },
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::ends_the_program()?;
    let dialect = match options.dialect {
        DialectName::Document => Dialect::Document,
        DialectName::Original => Dialect::Original,
    };
    let client =
        Client::connect_in(dialect, &*options.server).map_err(|error| explain_connect(&options.server, error))?;
    let mut look = Look { client, json: options.json, out };
    match &options.command {
        Command::Agents => {
            let agents = look.client.agents()?;
            look.show(show::agents(&agents))
        }
        Command::Info { agent } => {
            let agent = look.agent(agent)?;
            let info = look.client.info(agent.agent)?;
            look.show(show::info(&info))
        }
        Command::Values { regex } => {
            let values = look.client.values(regex)?;
            ensure!(!values.is_empty(), "no variable has a name that matches `{regex}` as a whole; try '.*{regex}.*'");
            look.show(show::values(&values))
        }
        Command::Get { names } => look.get(names),
        Command::Set { name, value } => look.set(name, value),
        Command::Watch { names, every, count } => look.watch(names, *every, *count),
        Command::Step { agent, inputs, steps, seed, last } => look.step(agent, inputs, *steps, *seed, *last),
        Command::Events { names, agent, steps } => look.events(names, agent, *steps),
        Command::Reset { seed } => look.reset(*seed),
    }
}

fn explain_connect(server: &str, error: ClientError) -> anyhow::Error {
    match error {
        ClientError::NoReply { .. } => anyhow!(
            "nobody speaks OSP at {server}; is `rossum serve --scenario orcs` running? It prints the address for OSP, \
             which --server takes. An original ORCS server needs `--dialect original`"
        ),
        other => anyhow::Error::new(other).context(format!("cannot connect to {server}")),
    }
}

/// A look at a running simulation.
struct Look<'a> {
    client: Client,
    json: bool,
    out: &'a mut dyn Write,
}

impl Look<'_> {
    fn show(&mut self, shown: show::Shown) -> anyhow::Result<()> {
        match self.json {
            true => writeln!(self.out, "{:#}", shown.json)?,
            false => write!(self.out, "{}", shown.text)?,
        }
        Ok(())
    }

    /// One of many, in a line of its own.
    fn show_next(&mut self, shown: show::Shown) -> anyhow::Result<()> {
        match self.json {
            true => writeln!(self.out, "{}", shown.json)?,
            false => write!(self.out, "{}", shown.text)?,
        }
        Ok(self.out.flush()?)
    }

    fn agent(&mut self, name: &str) -> anyhow::Result<AgentSummary> {
        let agents = self.client.agents()?;
        let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
        let unknown = || format!("there is no agent `{name}`; there are: {}", names.join(", "));
        agents.iter().find(|agent| agent.name == name).cloned().with_context(unknown)
    }

    /// Takes control of an agent.
    fn take(&mut self, name: &str) -> anyhow::Result<AgentInfo> {
        let agent = self.agent(name)?.agent;
        let taken = self.client.register(agent)?;
        ensure!(taken, "somebody else controls `{name}`; `rossum osp agents` says which are free");
        Ok(self.client.info(agent)?)
    }

    fn find(&mut self, names: &[String]) -> anyhow::Result<Vec<ValueInfo>> {
        let mut found: Vec<ValueInfo> = Vec::new();
        for name in names {
            let mut values = self.client.values(name)?;
            if values.is_empty() {
                values = self.client.values(&escaped(name))?;
            }
            ensure!(!values.is_empty(), "no variable has the name `{name}`; `rossum osp values '.*'` lists all");
            values.retain(|value| found.iter().all(|known| known.value != value.value));
            found.extend(values);
        }
        Ok(found)
    }

    fn get(&mut self, names: &[String]) -> anyhow::Result<()> {
        let mut read = Vec::new();
        for info in self.find(names)? {
            let content = self.client.get(info.value)?;
            read.push((info, content));
        }
        self.show(show::contents(&read))
    }

    fn set(&mut self, name: &str, value: &str) -> anyhow::Result<()> {
        let found = self.client.values(&escaped(name))?.into_iter().find(|info| info.name == name);
        let info =
            found.with_context(|| format!("no variable has the name `{name}`; `rossum osp values '.*'` lists all"))?;
        match self.client.set(info.value, value)? {
            Status::Done => {
                let content = self.client.get(info.value)?;
                self.show(show::contents(&[(info, content)]))
            }
            Status::Failed => bail!(
                "`{value}` is nothing that {name} can be: it is a {}, and `rossum osp get {name}` shows how that is \
                 written; some variables cannot be written at all",
                info.kind
            ),
            Status::NotFound => bail!("{name} is gone"),
        }
    }

    fn watch(&mut self, names: &[String], every: Duration, count: Option<u64>) -> anyhow::Result<()> {
        let mut watched: Vec<_> = self.find(names)?.into_iter().map(|info| (info, None)).collect();
        let width = watched.iter().map(|(info, _)| info.name.chars().count()).max().unwrap_or(0);
        let began = now();
        let mut looks = 0;
        loop {
            for (info, last) in &mut watched {
                let content = self.client.get(info.value)?;
                if last.as_ref() != Some(&content) {
                    let seconds = now().duration_since(began).as_secs_f64();
                    self.show_next(show::change(seconds, &info.name, width, content.as_ref()))?;
                    *last = Some(content);
                }
            }
            looks += 1;
            if count.is_some_and(|count| looks >= count) {
                return Ok(());
            }
            self.client.attend(every)?;
        }
    }

    fn step(&mut self, name: &str, inputs: &[f32], steps: u64, seed: Option<i32>, last: bool) -> anyhow::Result<()> {
        let info = self.take(name)?;
        let (given, has) = (inputs.len(), info.inputs.len());
        ensure!(given <= has, "`{name}` has {has} inputs, and {given} were given; `rossum osp info {name}` lists them");
        if let Some(seed) = seed {
            self.client.reset(seed)?;
        }
        for number in 1..=steps {
            let step = self.client.step(&[(info.agent, inputs)])?;
            let completed: Option<&Completed> = step.completed.iter().find(|completed| completed.agent == info.agent);
            if let Some(completed) = completed.filter(|_| number == steps || !last) {
                self.show_next(show::step(number, &info, completed))?;
            }
        }
        Ok(())
    }

    fn events(&mut self, names: &[String], agent: &str, steps: u64) -> anyhow::Result<()> {
        let mut events = Vec::new();
        for name in names {
            let event = self.client.register_for_event(name)?;
            events.push((event.with_context(|| format!("there is no event `{name}`"))?, name));
        }
        let info = self.take(agent)?;
        for number in 1..=steps {
            let step = self.client.step(&[(info.agent, &[])])?;
            for (_, name) in events.iter().filter(|(event, _)| step.events.contains(event)) {
                self.show_next(show::event(number, name))?;
            }
        }
        Ok(())
    }

    fn reset(&mut self, seed: i32) -> anyhow::Result<()> {
        self.client.set_timeout(RESET_PATIENCE);
        match self.client.reset(seed) {
            Err(ClientError::NotCompleted { .. }) => bail!(
                "the simulation was not reset: somebody controls an agent, and then only the clients that do can reset \
                 it; `rossum osp agents` says which are controlled"
            ),
            done => Ok(done?),
        }
    }
}

/// A regular expression that only this text matches.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if r"\.+*?()|[]{}^$".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "not a time from 0.01 to 3600 s".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if (0.01..=3600.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err(wrong()) }
}

fn finite(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|input: &f32| input.is_finite()).ok_or_else(|| "not a number".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "changes are shown with the time since the start")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_are_no_expressions() {
        assert_eq!(escaped("/Sim/Robot (1)/Mass"), r"/Sim/Robot \(1\)/Mass");
        assert_eq!(escaped(r"a.b*c\d"), r"a\.b\*c\\d");
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "1e9", "nan", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert_eq!(finite("-0.5"), Ok(-0.5));
        for text in ["nan", "inf", "1e99", "x"] {
            assert!(finite(text).is_err(), "{text}");
        }
    }

    #[test]
    fn nobody_there() {
        let error = explain_connect("127.0.0.1:1", ClientError::NoReply { request: "init" }).to_string();
        assert!(error.contains("rossum serve --scenario orcs") && error.contains("127.0.0.1:1"), "{error}");
    }
}
