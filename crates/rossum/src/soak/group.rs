//! A group of clients in a process of its own, so that all of them can be killed at once.

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};

use super::{
    clients::{Kind, Progress, Target},
    hostile, now, pause,
};
use crate::process::Server;

/// Shortest and longest life of a client.
const LIFE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(60));

/// Errors that may wait to be collected.
const ERRORS: usize = 4_096;

/// How many clients there are.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Load {
    /// Soccer players
    #[arg(long, default_value_t = 13)]
    soccer: usize,
    /// OSP clients
    #[arg(long, default_value_t = 63)]
    osp: usize,
    /// ODCP clients
    #[arg(long, default_value_t = 63)]
    odcp: usize,
    /// Robots in the World Simulator
    #[arg(long, default_value_t = 63)]
    evo: usize,
    /// Operators of the social robot
    #[arg(long, default_value_t = 8)]
    oz: usize,
    /// Browsers
    #[arg(long, default_value_t = 7)]
    console: usize,
}

impl Load {
    /// The part of one of several groups.
    pub(super) fn part(self, index: usize, groups: usize) -> Self {
        let part = |all: usize| all / groups + usize::from(index < all % groups);
        Self {
            soccer: part(self.soccer),
            osp: part(self.osp),
            odcp: part(self.odcp),
            evo: part(self.evo),
            oz: part(self.oz),
            console: part(self.console),
        }
    }

    fn of(self, kind: Kind) -> usize {
        match kind {
            Kind::Soccer => self.soccer,
            Kind::Osp => self.osp,
            Kind::Odcp => self.odcp,
            Kind::Evo => self.evo,
            Kind::Oz => self.oz,
            Kind::Console => self.console,
        }
    }
}

/// A group, seen from the soak test.
#[derive(Debug)]
pub(super) struct Group {
    arguments: Vec<String>,
    child: Child,
    errors: Receiver<String>,
    sender: SyncSender<String>,
}

impl Group {
    pub(super) fn start(server: &Server, load: Load, index: usize) -> anyhow::Result<Self> {
        let mut arguments = vec!["--index".to_owned(), index.to_string()];
        for kind in Kind::ALL {
            arguments.extend([format!("--{}", kind.name()), load.of(kind).to_string()]);
        }
        Self::with(server, arguments)
    }

    /// Attacks in all ways, or in one.
    pub(super) fn start_hostile(server: &Server, attack: Option<&str>) -> anyhow::Result<Self> {
        let one = attack.map(|name| ["--attack".to_owned(), name.to_owned()]);
        Self::with(server, ["--hostile".to_owned()].into_iter().chain(one.into_iter().flatten()).collect())
    }

    fn with(server: &Server, arguments: Vec<String>) -> anyhow::Result<Self> {
        let (sender, errors) = sync_channel(ERRORS);
        let child = spawn(server, &arguments, sender.clone())?;
        Ok(Self { arguments, child, errors, sender })
    }

    /// Kills the group without a warning, and starts it again.
    pub(super) fn kill_and_restart(&mut self, server: &Server) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        self.child = spawn(server, &self.arguments, self.sender.clone())?;
        Ok(())
    }

    /// The errors of its clients so far, by cause.
    pub(super) fn take_errors(&self) -> BTreeMap<String, u64> {
        let mut errors = BTreeMap::new();
        for error in self.errors.try_iter() {
            *errors.entry(error).or_default() += 1;
        }
        errors
    }

    pub(super) fn send_signal(&self, signal: Signal) -> anyhow::Result<()> {
        let id = Pid::from_raw(self.child.id().try_into()?).context("a group without a process")?;
        Ok(kill_process(id, signal)?)
    }

    /// Ends the group.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

/// Starts a process that runs a group, and collects its errors.
fn spawn(server: &Server, arguments: &[String], errors: SyncSender<String>) -> anyhow::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["soak-clients", "--console-url", server.console()]).args(arguments);
    for (id, address) in server.addresses() {
        command.arg(format!("{id}={address}"));
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start a group of clients")?;
    let output = child.stdout.take().context("a group without output")?;
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if errors.send(line).is_err() {
                return;
            }
        }
    });
    Ok(child)
}

/// Options of a group of clients.
#[derive(Debug, clap::Args)]
pub(crate) struct GroupOptions {
    /// The console's address
    #[arg(long)]
    console_url: String,
    /// Which of the groups it is
    #[arg(long, default_value_t = 0)]
    index: usize,
    #[command(flatten)]
    load: Load,
    /// Attack the server instead
    #[arg(long)]
    hostile: bool,
    /// Attack in this way only
    #[arg(long)]
    attack: Option<String>,
    /// Ids and addresses of the endpoints
    #[arg(value_name = "ID=ADDRESS")]
    endpoints: Vec<String>,
}

/// Runs a group until it is killed. Errors are printed, one per line.
pub(crate) fn run_group(options: &GroupOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut endpoints = Vec::new();
    for endpoint in &options.endpoints {
        let (id, address) = endpoint.rsplit_once('=').context("an endpoint is ID=ADDRESS")?;
        endpoints.push((id.to_owned(), address.parse()?));
    }
    let target = Target { endpoints, console: options.console_url.clone() };
    if options.hostile {
        return hostile::run(&target, options.attack.as_deref());
    }
    let (sender, errors) = sync_channel(ERRORS);
    for kind in Kind::ALL {
        for number in 0..options.load.of(kind) {
            let (target, sender) = (target.clone(), sender.clone());
            // no two groups share a slot
            let slot = number * super::GROUPS + options.index;
            let mut random = Random(slot as u64 + 1);
            thread::Builder::new().stack_size(256 * 1024).spawn(move || {
                loop {
                    let mut life = Life { until: now() + random.between(LIFE) };
                    if let Err(error) = target.run(kind, slot, &mut life)
                        && sender.send(format!("{}: {error:#}", kind.name())).is_err()
                    {
                        return;
                    }
                    pause(random.between((Duration::ZERO, Duration::from_secs(2))));
                }
            })?;
        }
    }
    for error in errors {
        writeln!(out, "{error}")?;
        out.flush()?;
    }
    Ok(())
}

/// The time until a client leaves.
struct Life {
    until: Instant,
}

impl Progress for Life {
    fn answered(&mut self, _: Duration) {}

    fn is_over(&self) -> bool {
        now() >= self.until
    }
}

/// A small generator of random numbers (SplitMix64).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn between(&mut self, (least, most): (Duration, Duration)) -> Duration {
        least + (most - least).mul_f64((self.next() % 1_000) as f64 / 1e3)
    }
}
