//! `rossum osp`: manual inspection of a running simulation.

mod show;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow, bail, ensure};
use clap::{Args, Subcommand, ValueEnum};
use client::osp::{AgentInfo, AgentSummary, Client, ClientError, Completed, Dialect, Status, ValueInfo};

use crate::interrupt;

/// Time limit of a reset.
const RESET_TIMEOUT: Duration = Duration::from_secs(5);

/// Options of `rossum osp`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Address of the server's OSP port
    #[arg(long, global = true, value_name = "ADDRESS", default_value = "127.0.0.1:45454")]
    server: String,
    /// Encoding of datagrams
    #[arg(long, global = true, value_enum, default_value_t = DialectName::Document)]
    dialect: DialectName,
    /// Print JSON instead of tables; watch, step and events print one object per line
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DialectName {
    /// As documented
    Document,
    /// As the original server, ORCS, does it
    Original,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the agents and whether they are controlled
    Agents,
    /// Show an agent's inputs (motors), outputs (sensors) and infos (for fitness functions)
    Info {
        /// Name of the agent
        agent: String,
    },
    /// List the variables of the simulation
    Values {
        /// Regular expression to match the full name, such as '/Simulation/.*'
        #[arg(default_value = ".*")]
        regex: String,
    },
    /// Read variables
    Get {
        /// Names, or regular expressions to match the full name
        #[arg(required = true)]
        names: Vec<String>,
    },
    /// Write a variable
    Set {
        /// Full name, such as `/Control/Pause`
        name: String,
        /// New value, in the format of `get`
        #[arg(allow_negative_numbers = true)]
        value: String,
    },
    /// Print variables whenever they change, until ctrl-C
    Watch {
        /// Names, or regular expressions to match the full name
        #[arg(required = true)]
        names: Vec<String>,
        /// Polling interval
        #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds)]
        every: Duration,
        /// Stop after this number of polls
        #[arg(long, value_name = "N")]
        count: Option<u64>,
    },
    /// Control an agent for some steps and print its outputs and infos after each
    Step {
        /// Name of the agent, which must be free
        agent: String,
        /// Its inputs, in the order of `info`, constant for all steps; omitted ones keep their values
        #[arg(allow_negative_numbers = true, value_parser = finite)]
        inputs: Vec<f32>,
        /// Number of steps
        #[arg(long, value_name = "N", default_value_t = 1)]
        steps: u64,
        /// Reset the simulation with this seed first; 0 keeps the current seed
        #[arg(long, allow_negative_numbers = true)]
        seed: Option<i32>,
        /// Print the last step only
        #[arg(long)]
        last: bool,
    },
    /// Control an agent for some steps, without changing its inputs, and print the events that occur
    Events {
        /// Names of events, such as /Control/NextTry
        #[arg(required = true)]
        names: Vec<String>,
        /// Name of the agent, which must be free
        #[arg(long)]
        agent: String,
        /// Number of steps
        #[arg(long, value_name = "N", default_value_t = 1)]
        steps: u64,
    },
    /// Reset the simulation; only possible while no agent is controlled
    Reset {
        /// Random seed; 0 keeps the current seed
        #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
        seed: i32,
    },
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let dialect = match options.dialect {
        DialectName::Document => Dialect::Document,
        DialectName::Original => Dialect::Original,
    };
    let client =
        Client::connect_in(dialect, &*options.server).map_err(|error| explain_connect(&options.server, error))?;
    let mut inspector = Inspector { client, json: options.json, out };
    match &options.command {
        Command::Agents => {
            let agents = inspector.client.agents()?;
            inspector.show(show::agents(&agents))
        }
        Command::Info { agent } => {
            let agent = inspector.agent(agent)?;
            let info = inspector.client.info(agent.agent)?;
            inspector.show(show::info(&info))
        }
        Command::Values { regex } => {
            let values = inspector.client.values(regex)?;
            ensure!(!values.is_empty(), "no variable matches `{regex}` with its full name; try '.*{regex}.*'");
            inspector.show(show::values(&values))
        }
        Command::Get { names } => inspector.get(names),
        Command::Set { name, value } => inspector.set(name, value),
        Command::Watch { names, every, count } => inspector.watch(names, *every, *count),
        Command::Step { agent, inputs, steps, seed, last } => inspector.step(agent, inputs, *steps, *seed, *last),
        Command::Events { names, agent, steps } => inspector.events(names, agent, *steps),
        Command::Reset { seed } => inspector.reset(*seed),
    }
}

fn explain_connect(server: &str, error: ClientError) -> anyhow::Error {
    match error {
        ClientError::NoReply { .. } => anyhow!(
            "no OSP server at {server}; start one with `rossum serve --scenario orcs`, and pass its OSP address with \
             --server. An original ORCS server needs `--dialect original`"
        ),
        other => anyhow::Error::new(other).context(format!("failed to connect to {server}")),
    }
}

/// A connection to a running simulation, with the output.
struct Inspector<'a> {
    client: Client,
    json: bool,
    out: &'a mut dyn Write,
}

impl Inspector<'_> {
    fn show(&mut self, report: show::Report) -> anyhow::Result<()> {
        match self.json {
            true => writeln!(self.out, "{:#}", report.json)?,
            false => write!(self.out, "{}", report.text)?,
        }
        Ok(())
    }

    /// Prints one of several results, on a line of its own.
    fn show_next(&mut self, report: show::Report) -> anyhow::Result<()> {
        match self.json {
            true => writeln!(self.out, "{}", report.json)?,
            false => write!(self.out, "{}", report.text)?,
        }
        Ok(self.out.flush()?)
    }

    fn agent(&mut self, name: &str) -> anyhow::Result<AgentSummary> {
        let agents = self.client.agents()?;
        let names: Vec<_> = agents.iter().map(|agent| agent.name.as_str()).collect();
        let unknown = || format!("no agent named `{name}`; available: {}", names.join(", "));
        agents.iter().find(|agent| agent.name == name).cloned().with_context(unknown)
    }

    /// Takes control of an agent.
    fn take_control(&mut self, name: &str) -> anyhow::Result<AgentInfo> {
        let agent = self.agent(name)?.agent;
        let taken = self.client.register(agent)?;
        ensure!(taken, "agent `{name}` is controlled by another client; `rossum osp agents` lists free ones");
        Ok(self.client.info(agent)?)
    }

    fn find(&mut self, names: &[String]) -> anyhow::Result<Vec<ValueInfo>> {
        let mut found: Vec<ValueInfo> = Vec::new();
        for name in names {
            let mut values = self.client.values(name)?;
            if values.is_empty() {
                values = self.client.values(&escaped(name))?;
            }
            ensure!(!values.is_empty(), "no variable named `{name}`; `rossum osp values` lists all");
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
        let info = found.with_context(|| format!("no variable named `{name}`; `rossum osp values` lists all"))?;
        match self.client.set(info.value, value)? {
            Status::Done => {
                let content = self.client.get(info.value)?;
                self.show(show::contents(&[(info, content)]))
            }
            Status::Failed => bail!(
                "invalid value `{value}` for {name} of type {}, or the variable is read-only; `rossum osp get {name}` shows \
                 the format",
                info.kind
            ),
            Status::NotFound => bail!("{name} no longer exists"),
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
        let info = self.take_control(name)?;
        let (given, has) = (inputs.len(), info.inputs.len());
        ensure!(given <= has, "`{name}` has {has} inputs, got {given}; `rossum osp info {name}` lists them");
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
            events.push((event.with_context(|| format!("no event named `{name}`"))?, name));
        }
        let info = self.take_control(agent)?;
        for number in 1..=steps {
            let step = self.client.step(&[(info.agent, &[])])?;
            for (_, name) in events.iter().filter(|(event, _)| step.events.contains(event)) {
                self.show_next(show::event(number, name))?;
            }
        }
        Ok(())
    }

    fn reset(&mut self, seed: i32) -> anyhow::Result<()> {
        self.client.set_timeout(RESET_TIMEOUT);
        match self.client.reset(seed) {
            Err(ClientError::NotCompleted { .. }) => bail!(
                "the simulation was not reset: another client controls an agent, so only such clients can reset it; \
                 `rossum osp agents` lists the controlled ones"
            ),
            done => Ok(done?),
        }
    }
}

/// A regular expression that matches only this text.
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
    let invalid = || "expected 0.01 to 3600 seconds".to_owned();
    let seconds: f64 = text.parse().map_err(|_| invalid())?;
    if (0.01..=3600.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err(invalid()) }
}

fn finite(text: &str) -> Result<f32, String> {
    text.parse().ok().filter(|input: &f32| input.is_finite()).ok_or_else(|| "expected a finite number".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "changes are printed with the time since the start")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_names_are_escaped() {
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
    fn unreachable_server() {
        let error = explain_connect("127.0.0.1:1", ClientError::NoReply { request: "init" }).to_string();
        assert!(error.contains("rossum serve --scenario orcs") && error.contains("127.0.0.1:1"), "{error}");
    }
}
