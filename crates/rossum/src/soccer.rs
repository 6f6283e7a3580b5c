//! `rossum soccer`: soccer games, with the options of the league's server.

mod playback;

use std::{
    io::Write,
    net::{IpAddr, TcpListener, ToSocketAddrs},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use server::{Scenario, Server, config::ConfigError, jobs::Demo, protocol::EndpointId};
use toml::{Table, Value};

use crate::serve::{CommonOptions, ServedWorld, as_json, greet, host};

/// Port of the first game's console; those of further games follow.
const HTTP_PORT: u16 = 1920;
/// A port for agents and one for monitors.
const PORTS_PER_GAME: u16 = 2;

/// Options of `rossum soccer`, starting with those of the league's server, which have the same meaning there.
#[derive(Debug, Args)]
#[command(args_override_self = true, infer_long_args = true)]
pub(crate) struct Options {
    /// Address to listen on; access from other machines also needs --allow
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Port for agents
    #[arg(long, value_name = "PORT", default_value_t = 60000)]
    aport: u16,
    /// Port for monitors
    #[arg(long, value_name = "PORT", default_value_t = 60001)]
    mport: u16,
    /// Send perceptions at the end of a cycle, and wait for the answers of the agents
    #[arg(long)]
    sequential: bool,
    /// Wait for a message from every agent in every cycle
    #[arg(long)]
    sync: bool,
    /// Run in real time (default)
    #[arg(long, overrides_with = "no_realtime")]
    realtime: bool,
    /// Run as fast as the agents answer; in real time without agents
    #[arg(long, overrides_with = "realtime")]
    no_realtime: bool,
    /// Accepted for compatibility and ignored: monitors connect to their port
    #[arg(long, overrides_with = "no_render")]
    render: bool,
    /// Accepted for compatibility and ignored
    #[arg(long, overrides_with = "render")]
    no_render: bool,
    /// Append the messages for monitors to this file, which is created or is a log already
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "rcssservermj_monitor.log")]
    logfile: Option<PathBuf>,
    /// The field; chosen by the rules by default
    #[arg(long, value_enum)]
    field: Option<FieldName>,
    /// The rules
    #[arg(long, value_enum, default_value_t = RuleBook::Ssim)]
    rules: RuleBook,
    /// The period: 0 and 1 are the halves, 2 and 3 those of extra time, 4 is the penalty shoot-out
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=4))]
    phase: u8,
    /// Initial game time, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<f64>,

    /// Number of concurrent games; each uses the next two ports
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    games: u16,
    /// Run a demo game of the example team against itself, with this number of players per team; needs python3
    #[arg(long, value_name = "PLAYERS", value_parser = clap::value_parser!(u8).range(1..=11))]
    demo: Option<u8>,
    /// Play this log to monitors instead of running a game
    #[arg(long, value_name = "LOG", conflicts_with_all = ["demo", "games", "logfile", "record"])]
    play: Option<PathBuf>,
    /// Playback speed relative to real time
    #[arg(long, value_name = "FACTOR", requires = "play", value_parser = speed)]
    speed: Option<f64>,
    /// Random seed of the first game; those of further games follow
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    seed: u64,
    /// Directory of additional robots: NAME.xml or NAME/robot.xml
    #[arg(long, value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// Noisy vision with missed detections and occlusion
    #[arg(long)]
    noisy_vision: bool,
    /// Encode messages as in the league's document instead of like the league's server
    #[arg(long)]
    document: bool,
    /// Record every game to this file, for `rossum replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FieldName {
    /// 105 x 68 m, 11 players
    Fifa,
    /// 55 x 36 m, 7 players
    Fifa7vs7,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RuleBook {
    /// Halves of 45 minutes, on the field `fifa`
    Fifa,
    /// Halves of 5 minutes, on the field `fifa7vs7`
    Ssim,
    /// Like ssim, version of 2026
    Ssim26,
}

impl Options {
    /// The scenario of one of the games.
    fn scenario(&self, game: u16) -> anyhow::Result<Scenario> {
        let mut table = Table::new();
        let title = if self.games == 1 { "Soccer".to_owned() } else { format!("Soccer, game {}", game + 1) };
        table.insert("title".to_owned(), title.into());
        table.insert("world".to_owned(), self.world(game).into());
        table.insert("server".to_owned(), self.server(game)?.into());
        table.insert("soccer".to_owned(), self.soccer(game)?.into());
        let folder = std::env::current_dir().context("failed to determine the current directory")?;
        match Scenario::parse("rossum soccer", &table.to_string(), &folder) {
            Err(ConfigError::OpenBind(_)) => {
                bail!(
                    "--host {} is reachable from other machines; also pass --allow with their network, such as 192.168.1.0/24",
                    self.host
                )
            }
            parsed => Ok(parsed?),
        }
    }

    fn world(&self, game: u16) -> Table {
        let field = match (self.field, self.rules) {
            (Some(FieldName::Fifa), _) | (None, RuleBook::Fifa) => "fifa",
            (Some(FieldName::Fifa7vs7), _) | (None, RuleBook::Ssim | RuleBook::Ssim26) => "fifa7vs7",
        };
        let pace = if self.no_realtime { "eager" } else { "realtime" };
        let seed = self.seed.saturating_add(game.into());
        let threads = self.common.threads.unwrap_or_default().to_string();
        Table::from_iter([
            ("field".to_owned(), field.into()),
            ("pace".to_owned(), pace.into()),
            ("seed".to_owned(), Value::Integer(i64::try_from(seed).unwrap_or(i64::MAX))),
            ("threads".to_owned(), threads.into()),
        ])
    }

    fn server(&self, game: u16) -> anyhow::Result<Table> {
        let bind = resolve(&self.host)?;
        let allow = self.common.allow.iter().map(|network| Value::String(network.clone()));
        let mut server = Table::from_iter([
            ("bind".to_owned(), bind.to_string().into()),
            ("allow".to_owned(), Value::Array(allow.collect())),
            ("http_port".to_owned(), Value::Integer(free_or_any(bind, HTTP_PORT + game).into())),
            ("free_ports".to_owned(), self.common.free_ports.into()),
            ("overwrite".to_owned(), self.common.overwrite.is_given().into()),
        ]);
        for (name, file) in [("certificate", &self.common.certificate), ("key", &self.common.key)] {
            let path = file.as_ref().map(|file| Value::String(file.display().to_string()));
            server.extend(path.map(|path| (name.to_owned(), path)));
        }
        Ok(server)
    }

    fn soccer(&self, game: u16) -> anyhow::Result<Table> {
        let port = |first: u16| match first {
            0 => Ok(0),
            _ => first.checked_add(PORTS_PER_GAME * game).context("the ports of the last games would exceed 65535"),
        };
        let rules = self.rules.to_possible_value().map(|rules| rules.get_name().to_owned()).unwrap_or_default();
        let mut soccer = Table::from_iter([
            ("agent_port".to_owned(), Value::Integer(port(self.aport)?.into())),
            ("monitor_port".to_owned(), Value::Integer(port(self.mport)?.into())),
            ("rules".to_owned(), rules.into()),
            ("phase".to_owned(), Value::Integer(self.phase.into())),
            ("sync".to_owned(), self.sync.into()),
            ("sequential".to_owned(), self.sequential.into()),
            ("vision".to_owned(), if self.noisy_vision { "noisy" } else { "ideal" }.into()),
            ("dialect".to_owned(), if self.document { "document" } else { "reference" }.into()),
        ]);
        let path = |path: &Path| Value::String(path.display().to_string());
        let optional = [
            ("time", self.time.map(Value::Float)),
            ("models", self.models.as_deref().map(path)),
            ("logfile", self.logfile.as_deref().map(|file| path(&self.own_file(file, game)))),
        ];
        soccer.extend(optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
        Ok(soccer)
    }

    /// The file of one game; with several games, `log.txt` becomes `log-2.txt`.
    fn own_file(&self, file: &Path, game: u16) -> PathBuf {
        if self.games == 1 {
            return file.to_owned();
        }
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let kind = file.extension().map(|kind| format!(".{}", kind.to_string_lossy())).unwrap_or_default();
        file.with_file_name(format!("{stem}-{}{kind}", game + 1))
    }
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok().filter(|speed| (0.01..=100.0).contains(speed));
    speed.ok_or_else(|| "expected 0.01 to 100".to_owned())
}

/// Resolves a host name.
fn resolve(host: &str) -> anyhow::Result<IpAddr> {
    let unknown = || format!("--host {host}: failed to resolve");
    let addresses: Vec<_> = (host, 0).to_socket_addrs().with_context(unknown)?.map(|found| found.ip()).collect();
    // agents and monitors of the league use IPv4 for `localhost`
    let first = addresses.iter().find(|address| address.is_ipv4()).or(addresses.first());
    first.copied().with_context(unknown)
}

/// The port, or 0 (any free port) if it is in use. No client depends on the console's port.
fn free_or_any(bind: IpAddr, port: u16) -> u16 {
    if TcpListener::bind((bind, port)).is_ok() { port } else { 0 }
}

/// Parses an initial game time, in s.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds));
    seconds.ok_or_else(|| "expected 0 to 1000000".to_owned())
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    if let Some(log) = &options.play {
        return playback::run(options, log, out);
    }
    if options.common.print_config {
        return Ok(write!(out, "{}", options.scenario(0)?.to_toml())?);
    }
    let max = if matches!(options.rules, RuleBook::Fifa) { 11 } else { 7 };
    ensure!(options.demo.is_none_or(|players| players <= max), "a team has at most {max} players with these rules");
    let record = |game| options.record.as_deref().map(|file| options.own_file(file, game));
    let games =
        (0..options.games).map(|game| Ok(ServedWorld { scenario: options.scenario(game)?, record: record(game) }));
    let games: Vec<_> = games.collect::<anyhow::Result<_>>()?;
    host(&games, |games, servers| ready(options, games, servers, out))
}

fn ready(
    options: &Options,
    games: &[ServedWorld],
    servers: &[Server],
    out: &mut dyn Write,
) -> anyhow::Result<Vec<Demo>> {
    let demos: Vec<_> = match options.demo {
        Some(players) => servers.iter().map(|server| start_demo(server, players)).collect::<anyhow::Result<_>>()?,
        None => Vec::new(),
    };
    if options.common.json {
        writeln!(out, "{}", as_json(games, servers)?)?;
        return Ok(demos);
    }
    greet(games, servers, out)?;
    if let Some(players) = options.demo {
        writeln!(
            out,
            "Demo: Home against Guests, {players} players each; kick-off once all have taken their positions."
        )?;
    }
    writeln!(out, "Ready. Press ctrl-C to stop. Options: `rossum soccer --help`")?;
    Ok(demos)
}

fn start_demo(server: &Server, players: u8) -> anyhow::Result<Demo> {
    let agents = server.addresses().into_iter().find(|found| found.id == EndpointId::SoccerAgents);
    let agents = agents.context("the server has no port for agents")?.local();
    let demo = Demo::new();
    demo.start(agents, server.sim(), players).map_err(anyhow::Error::msg)?;
    Ok(demo)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: Options,
    }

    fn config(flags: &str, game: u16) -> Table {
        let options = Cli::try_parse_from(format!("soccer {flags}").split_whitespace()).unwrap().options;
        options.scenario(game).unwrap().to_toml().parse().unwrap()
    }

    #[test]
    fn options_match_the_leagues_server() {
        for (flags, key, wanted) in [
            ("", "world.pace", "\"realtime\""),
            ("", "world.field", "\"fifa7vs7\""),
            ("", "soccer.rules", "\"ssim\""),
            ("", "soccer.sync", "false"),
            ("", "soccer.agent_port", "60000"),
            ("", "soccer.monitor_port", "60001"),
            ("--no-realtime", "world.pace", "\"eager\""),
            ("--no-realtime --realtime", "world.pace", "\"realtime\""),
            ("--realtime --no-realtime --no-realtime", "world.pace", "\"eager\""),
            ("--rules fifa", "world.field", "\"fifa\""),
            ("--rules fifa --field fifa7vs7", "world.field", "\"fifa7vs7\""),
            ("--rules fifa --rules ssim26", "soccer.rules", "\"ssim26\""),
            ("--aport 7 --aport 8", "soccer.agent_port", "8"),
            ("--sync --sequential --render --no-render", "soccer.sequential", "true"),
            ("--phase 1 --time 12.5", "soccer.time", "12.5"),
            ("--phase 1", "soccer.phase", "1"),
            ("--logfile", "soccer.logfile", "\"rcssservermj_monitor.log\""),
            ("--logfile a/b.log --sync", "soccer.logfile", "\"a/b.log\""),
            ("--host localhost", "server.bind", "\"127.0.0.1\""),
            ("", "soccer.dialect", "\"reference\""),
            ("--document", "soccer.dialect", "\"document\""),
        ] {
            let config = config(flags, 0);
            let (section, key) = key.split_once('.').unwrap();
            assert_eq!(config[section][key].to_string(), wanted, "{flags}: {key}");
        }
    }

    #[test]
    fn games_have_their_own_ports_seeds_and_files() {
        let third = config("--games 3 --seed 5 --logfile log.txt", 2);
        assert_eq!(third["soccer"]["agent_port"], Value::Integer(60004));
        assert_eq!(third["soccer"]["monitor_port"], Value::Integer(60005));
        assert_eq!(third["world"]["seed"], Value::Integer(7));
        assert_eq!(third["soccer"]["logfile"], Value::String("log-3.txt".to_owned()));
    }

    #[test]
    fn the_console_uses_another_port_if_its_own_is_taken() {
        let here = IpAddr::from([127, 0, 0, 1]);
        let taken = TcpListener::bind((here, 0)).unwrap();
        let port = taken.local_addr().unwrap().port();
        assert_eq!(free_or_any(here, port), 0);
        drop(taken);
        assert_eq!(free_or_any(here, port), port);
    }

    #[test]
    fn access_from_other_machines_needs_allow() {
        let options = Cli::try_parse_from(["soccer", "--host", "0.0.0.0"]).unwrap().options;
        assert!(options.scenario(0).unwrap_err().to_string().contains("--allow"));
    }

    #[test]
    fn invalid_options_are_rejected() {
        for (flags, wanted) in [
            ("--phase 5", "--phase"),
            ("--rules chess", "--rules"),
            ("--field moon", "--field"),
            ("--games 0", "--games"),
            ("--aport 70000", "--aport"),
            ("--time nan", "--time"),
            ("--time 1e30", "--time"),
            ("--seed 9223372036854775808", "--seed"),
        ] {
            let error = Cli::try_parse_from(format!("soccer {flags}").split_whitespace()).err().unwrap().to_string();
            assert!(error.contains(wanted), "{flags}: {error}");
        }
    }
}
