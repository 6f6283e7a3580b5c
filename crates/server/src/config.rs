//! Scenarios: one TOML file per runnable world.
//!
//! This module defines the sections that no protocol owns, with their defaults; each protocol defines its own section.
//! Unknown keys are refused with a suggestion.

mod threads;

use std::{
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
    time::Duration,
};

use ipnet::IpNet;
use library::{LibraryError, ModelKind};
use physics::{Pose, Threads};
use serde::{Deserialize, Deserializer, Serialize};
use support::suggest;
use world::{
    Robot, Setup, Value, ValueKind,
    clock::Pace,
    event::{Condition, Watch},
    setup::Randomise,
};

use crate::{
    access::{OpenBind, check_bind},
    protocol::{PROTOCOLS, Service},
};

/// A scenario, complete with defaults.
#[derive(Debug)]
pub struct Scenario {
    /// Everything but the protocols.
    pub base: Base,
    /// The protocols that are switched on, by name.
    pub services: Vec<(&'static str, Box<dyn Service>)>,
    /// Base of relative paths.
    folder: PathBuf,
}

/// The part of a scenario that no protocol owns.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Base {
    /// One-line description.
    pub title: String,
    /// The world and its time.
    pub world: WorldConfig,
    /// Sockets and folders of the server.
    pub server: ServerConfig,
    /// Robots that the world starts with.
    #[serde(rename = "robot")]
    pub robots: Vec<RobotConfig>,
    /// Variables drawn at each reset.
    pub randomise: Vec<RandomiseConfig>,
    /// Events to detect.
    pub watch: Vec<WatchConfig>,
    /// Variables written at the start.
    pub settings: toml::Table,
}

impl Default for Base {
    fn default() -> Self {
        Self {
            title: "A world without a title".to_owned(),
            world: WorldConfig::default(),
            server: ServerConfig::default(),
            robots: Vec::new(),
            randomise: Vec::new(),
            watch: Vec::new(),
            settings: toml::Table::new(),
        }
    }
}

/// The `[world]` section.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorldConfig {
    /// Name of a field, or path of an MJCF file.
    pub field: String,
    /// Physics step, in s. Default: the field's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestep: Option<f64>,
    /// Physics steps per tick.
    pub steps_per_tick: u32,
    /// Seed until the first reset.
    pub seed: u64,
    /// What the simulation's speed depends on.
    pub pace: Pace,
    /// A lockstep client that keeps others waiting for this long, in s, no longer holds up the world.
    pub silence: f64,
    /// Interval at which a recording contains a hash of the state, in ticks.
    pub hash_every: u64,
    /// Threads that help with the physics.
    #[serde(with = "threads")]
    pub threads: Threads,
}

impl Default for WorldConfig {
    fn default() -> Self {
        Self {
            field: "flat".to_owned(),
            timestep: None,
            steps_per_tick: 4,
            seed: 1,
            pace: Pace::Realtime,
            silence: 5.0,
            hash_every: 50,
            threads: Threads::None,
        }
    }
}

/// The `[server]` section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address of all sockets.
    pub bind: IpAddr,
    /// Networks that may connect, in addition to this machine.
    pub allow: Vec<IpNet>,
    /// Port of the console, the status page and the metrics; 0 for any free one.
    pub http_port: u16,
    /// Listen on any free ports instead of the configured ones.
    pub free_ports: bool,
    /// Days after which new tokens of the console expire.
    pub token_days: u32,
    /// Host names of this server besides its addresses and `localhost`: the console serves them, and certificates made for it
    /// have them.
    pub names: Vec<String>,
    /// PEM file of the console's certificate and those it was signed with. Without one, the console uses TLS with a
    /// self-signed certificate when listening beyond loopback, and no TLS on a loopback address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// PEM file of the certificate's private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
    /// Folder of the evolutionary runs that the console shows.
    pub runs: PathBuf,
    /// Folder of the recordings and logs that the console plays.
    pub recordings: PathBuf,
    /// Replace files that exist already: those of `--record`, and of `logfile` and `sound` in the scenario. Otherwise the
    /// server refuses to start, or continues the log.
    pub overwrite: bool,
}

impl Default for ServerConfig {
    fn default() -> Self {
        // the year of R.U.R.
        Self {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            allow: Vec::new(),
            http_port: 1920,
            free_ports: false,
            token_days: 30,
            names: Vec::new(),
            certificate: None,
            key: None,
            runs: PathBuf::from("runs"),
            recordings: PathBuf::from("."),
            overwrite: false,
        }
    }
}

impl ServerConfig {
    /// Time after which new tokens of the console expire.
    pub fn token_lifetime(&self) -> Duration {
        Duration::from_secs(u64::from(self.token_days) * 24 * 3600)
    }
}

/// A `[[robot]]` section.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RobotConfig {
    /// Name of the agent.
    pub name: String,
    /// Name of a robot, or path of an MJCF or URDF file.
    pub model: String,
    /// World position of the model's origin, in m.
    #[serde(default)]
    pub position: [f64; 3],
    /// Heading in degrees, counter-clockwise from the x axis.
    #[serde(default)]
    pub heading: f64,
}

/// A `[[randomise]]` section.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RandomiseConfig {
    /// Full name of the variable.
    pub variable: String,
    /// Smallest value, as text of the variable's kind. A file may also contain a number.
    #[serde(deserialize_with = "text_from_any")]
    pub min: String,
    /// Largest value.
    #[serde(deserialize_with = "text_from_any")]
    pub max: String,
}

/// A `[[watch]]` section: either `between` two groups, or a `variable` with bounds.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WatchConfig {
    /// Name of the event, without its path.
    pub name: String,
    /// Two groups of names of agents, bodies or geoms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<[Vec<String>; 2]>,
    /// Full name of a variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// Lower bound of the variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Upper bound of the variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Whether `/Control/TerminateTry` is raised as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_try: bool,
}

/// Why a scenario is invalid.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("failed to read the scenario `{path}`: {cause}", path = .path.display())]
    Read {
        /// The scenario's file.
        path: PathBuf,
        /// Error of the file system.
        cause: std::io::Error,
    },
    /// It is not TOML, or contains an unknown key or a value of the wrong kind.
    #[error("{scenario}: {message}")]
    Syntax {
        /// Name of the scenario.
        scenario: String,
        /// Position and cause.
        message: String,
    },
    /// The library has no scenario or model of this name.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// The server would listen to other machines without an allow-list.
    #[error(transparent)]
    OpenBind(#[from] OpenBind),
    /// A value is out of range.
    #[error("{key} is {value}; it must be {must}")]
    Value {
        /// Key of the value.
        key: &'static str,
        /// The value found.
        value: String,
        /// Range of the key.
        must: &'static str,
    },
    /// A range to draw from is empty.
    #[error("`{variable}` cannot be randomised from {min} to {max}: `min` must not exceed `max` in any component")]
    Randomise {
        /// Full name of the variable.
        variable: String,
        /// Smallest value.
        min: String,
        /// Largest value.
        max: String,
    },
    /// A watch has neither or both of `between` and `variable`, or no bounds.
    #[error("the watch `{name}` needs either `between` (two groups of names) or `variable` with `min` or `max`")]
    Watch {
        /// Name of the watch.
        name: String,
    },
}

impl Scenario {
    /// Loads a scenario from the library, or from a file if the name ends in `.toml`.
    pub fn load(name: &str) -> Result<Self, ConfigError> {
        if name.ends_with(".toml") {
            let path = Path::new(name);
            let read = |cause| ConfigError::Read { path: path.to_owned(), cause };
            let text = std::fs::read_to_string(path).map_err(read)?;
            Self::parse(name, &text, path.parent().unwrap_or(Path::new("")))
        } else {
            Self::parse(name, &library::scenario(name)?, Path::new(""))
        }
    }

    /// Parses a scenario. Relative paths in it are relative to `folder`.
    pub fn parse(name: &str, text: &str, folder: &Path) -> Result<Self, ConfigError> {
        let syntax = |message: String| ConfigError::Syntax { scenario: name.to_owned(), message };
        let mut table: toml::Table = text.parse().map_err(|error: toml::de::Error| syntax(error.to_string()))?;
        check_sections(&table).map_err(syntax)?;
        let mut services = Vec::new();
        for protocol in PROTOCOLS {
            if let Some(section) = table.remove(protocol.name) {
                let section = section.try_into().map_err(|error: toml::de::Error| syntax(error.to_string()))?;
                let service =
                    (protocol.configure)(section, folder).map_err(|error| syntax(suggest::toml_message(&error)))?;
                services.push((protocol.name, service));
            }
        }
        let base: Base = table.try_into().map_err(|error: toml::de::Error| syntax(suggest::toml_message(&error)))?;
        let scenario = Self { base, services, folder: folder.to_owned() };
        scenario.check()?;
        Ok(scenario)
    }

    /// Checks the ranges of values. Call it again after a change.
    pub fn check(&self) -> Result<(), ConfigError> {
        let Base { world, server, .. } = &self.base;
        check_bind(server.bind, &server.allow)?;
        let value = |key, value: String, must| Err(ConfigError::Value { key, value, must });
        if i64::try_from(world.seed).is_err() {
            return value("seed", world.seed.to_string(), "at most 9223372036854775807, the largest number in TOML");
        }
        if !(1..=10_000).contains(&world.steps_per_tick) {
            return value("steps_per_tick", world.steps_per_tick.to_string(), "1 to 10000");
        }
        if world.hash_every == 0 {
            return value("hash_every", "0".to_owned(), "at least 1");
        }
        if world.timestep.is_some_and(|dt| !(1e-5..=0.05).contains(&dt)) {
            return value("timestep", world.timestep.unwrap_or_default().to_string(), "0.00001 to 0.05 s");
        }
        if !(0.01..=86_400.0).contains(&world.silence) {
            return value("silence", world.silence.to_string(), "0.01 to 86400 s");
        }
        if !(1..=3650).contains(&server.token_days) {
            return value("token_days", server.token_days.to_string(), "1 to 3650");
        }
        let is_name = |name: &String| {
            (1..=253).contains(&name.len())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
        };
        if let Some(name) = server.names.iter().find(|name| !is_name(name)) {
            return value("names of [server]", name.clone(), "host names of letters, digits, `-` and `.`");
        }
        if server.certificate.is_some() != server.key.is_some() {
            return value("one of certificate and key", "missing".to_owned(), "given together with the other");
        }
        for robot in &self.base.robots {
            if !robot.position.iter().chain([&robot.heading]).all(|x| x.is_finite() && x.abs() < 1e5) {
                return value("position or heading of a robot", robot.name.clone(), "finite and below 100000");
            }
        }
        for RandomiseConfig { variable, min, max } in &self.base.randomise {
            if is_above(min, max) {
                let (variable, min, max) = (variable.clone(), min.clone(), max.clone());
                return Err(ConfigError::Randomise { variable, min, max });
            }
        }
        Ok(())
    }

    /// The whole configuration as TOML, with every default.
    pub fn to_toml(&self) -> String {
        let mut table = toml::Table::try_from(&self.base).unwrap_or_default();
        for (name, service) in &self.services {
            table.insert((*name).to_owned(), toml::Value::Table(service.config()));
        }
        table.to_string()
    }

    /// A path in the scenario, which is relative to it.
    pub fn path(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// The silence after which a lockstep client is dropped.
    pub fn silence(&self) -> Duration {
        Duration::from_secs_f64(self.base.world.silence)
    }

    /// The setup of the scenario's world.
    pub fn setup(&self) -> Result<Setup, ConfigError> {
        let Base { world, robots, randomise, watch, settings, .. } = &self.base;
        let mut setup = Setup::new(library::model(ModelKind::Field, &world.field, &self.folder)?);
        setup.timestep = world.timestep;
        setup.steps_per_tick = world.steps_per_tick;
        setup.seed = world.seed;
        for robot in robots {
            let [x, y, z] = robot.position;
            setup.robots.push(Robot {
                name: robot.name.clone(),
                source: library::model(ModelKind::Robot, &robot.model, &self.folder)?,
                pose: Pose::facing(x, y, z, robot.heading.to_radians()),
            });
        }
        for RandomiseConfig { variable, min, max } in randomise {
            setup.randomise.push(Randomise { variable: variable.clone(), min: min.clone(), max: max.clone() });
        }
        setup.watches = watch.iter().map(watch_from_config).collect::<Result<_, _>>()?;
        setup.settings = settings.iter().map(|(name, value)| (name.clone(), text_of(value))).collect();
        Ok(setup)
    }
}

fn watch_from_config(config: &WatchConfig) -> Result<Watch, ConfigError> {
    let name = config.name.clone();
    let condition = match (&config.between, &config.variable) {
        (Some([first, second]), None) if config.min.is_none() && config.max.is_none() => {
            Condition::Collision { name, first: first.clone(), second: second.clone() }
        }
        (None, Some(variable)) if config.min.is_some() || config.max.is_some() => {
            Condition::Bound { name, variable: variable.clone(), min: config.min, max: config.max }
        }
        _ => return Err(ConfigError::Watch { name }),
    };
    Ok(Watch { condition, ends_try: config.ends_try })
}

/// The text of a TOML string, or of any other value as it is written.
fn text_of(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn text_from_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    toml::Value::deserialize(deserializer).map(|value| text_of(&value))
}

/// Whether a number, or a component of a point, is larger in `min` than in `max`. The world refuses all other texts.
fn is_above(min: &str, max: &str) -> bool {
    let both = |kind: ValueKind| kind.parse(min).ok().zip(kind.parse(max).ok());
    match both(ValueKind::Double).or_else(|| both(ValueKind::Point3D)) {
        Some((Value::Double(min), Value::Double(max))) => min > max,
        Some((Value::Point3D(min), Value::Point3D(max))) => min.iter().zip(max).any(|(min, max)| *min > max),
        _ => false,
    }
}

/// Refuses sections that belong neither to [`Base`] nor to a protocol.
fn check_sections(table: &toml::Table) -> Result<(), String> {
    let base = toml::Table::try_from(Base::default()).unwrap_or_default();
    let known = || base.keys().map(String::as_str).chain(PROTOCOLS.iter().map(|protocol| protocol.name));
    let Some(wrong) = table.keys().find(|key| known().all(|name| name != *key)) else { return Ok(()) };
    let all: Vec<_> = known().map(|name| format!("`{name}`")).collect();
    let message = format!("unknown key or section `{wrong}`, expected one of {}", all.join(", "));
    Err(suggest::with_nearest(&message, wrong, known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Scenario, ConfigError> {
        Scenario::parse("test", text, Path::new(""))
    }

    #[test]
    fn errors_name_the_key_and_suggest_a_fix() {
        for (text, wanted) in [
            ("[wrold]\nseed = 1", "did you mean `world`?"),
            ("[world]\nsede = 1", "did you mean `seed`?"),
            ("[odcp]\nport = 1", "did you mean `ports`?"),
            ("[world]\npace = \"realtme\"", "did you mean `realtime`?"),
            ("[odpc]\nports = {}", "did you mean `odcp`?"),
            ("[odpc]\nports = {}", "`world`"),
            ("zzz = 1", "`zzz`, expected one of"),
            ("[world]\nsteps_per_tick = 0", "steps_per_tick is 0; it must be 1 to 10000"),
            ("[world]\nsteps_per_tick = 10001", "1 to 10000"),
            ("[[randomise]]\nvariable = \"/V\"\nmin = 2\nmax = \"1.5\"", "`/V` cannot be randomised from 2 to 1.5"),
            ("[[randomise]]\nvariable = \"/V\"\nmin = \"(0,2,0)\"\nmax = \"(1,1,1)\"", "from (0,2,0) to (1,1,1)"),
            ("[world]\nhash_every = 0", "at least 1"),
            ("[world]\ntimestep = nan", "timestep is NaN"),
            ("[world]\nsilence = inf", "silence is inf"),
            ("[[robot]]\nname = \"A\"\nmodel = \"rover\"\nheading = inf", "finite"),
            ("[[robot]]\nname = \"A\"\nmodel = \"rovver\"", "did you mean `rover`?"),
            ("[[robot]]\nname = \"A\"\nmodel = \"missing.xml\"", "missing.xml"),
            ("[server]\nbind = \"0.0.0.0\"", "allow"),
            ("[server]\ncertificate = \"a.pem\"", "one of certificate and key is missing"),
            ("[server]\nnames = [\"a b\"]", "names of [server] is a b"),
            ("[server]\ntoken_days = 0", "token_days is 0; it must be 1 to 3650"),
            ("[world", "test: "),
            ("[[watch]]\nname = \"w\"", "between"),
        ] {
            let error = parse(text).and_then(|scenario| scenario.setup()).unwrap_err().to_string();
            assert!(error.contains(wanted), "`{text}` gives `{error}`, which lacks `{wanted}`");
        }
    }

    #[test]
    fn unknown_models_and_scenarios_name_the_nearest() {
        for (result, wanted) in [
            (parse("[world]\nfield = \"fiffa\"").and_then(|s| s.setup()).map(|_| ()), "did you mean `fifa`?"),
            (Scenario::load("playgruond").map(|_| ()), "did you mean `playground`?"),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn the_printed_configuration_is_a_scenario_and_prints_the_same() {
        for name in library::scenarios() {
            let text = Scenario::load(&name).unwrap().to_toml();
            let again = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            assert_eq!(again.to_toml(), text, "{name}");
        }
    }

    #[test]
    fn a_range_may_be_written_as_numbers() {
        let range = |min: &str, max: &str| {
            let text = format!("[[randomise]]\nvariable = \"/V\"\nmin = {min}\nmax = {max}");
            let setup = parse(&text).unwrap().setup().unwrap();
            setup.randomise.into_iter().map(|range| (range.min, range.max)).collect::<Vec<_>>()
        };
        for (min, max, wanted) in [
            ("-1", "2", ("-1", "2")),
            ("-0.5", "1e-3", ("-0.5", "0.001")),
            ("\"-0.5\"", "3", ("-0.5", "3")),
            ("1", "1", ("1", "1")),
            ("\"(0,0,0)\"", "\"(1,1,0)\"", ("(0,0,0)", "(1,1,0)")),
        ] {
            assert_eq!(range(min, max), [(wanted.0.to_owned(), wanted.1.to_owned())], "{min} {max}");
        }
    }

    #[test]
    fn a_seed_too_large_for_toml_is_refused() {
        let mut scenario = parse("").unwrap();
        scenario.base.world.seed = i64::MAX as u64;
        scenario.check().unwrap();
        assert!(scenario.to_toml().contains("seed = 9223372036854775807"));
        scenario.base.world.seed += 1;
        assert!(scenario.check().is_err());
    }

    #[test]
    fn every_scenario_of_the_library_can_be_built() {
        for name in library::scenarios() {
            let setup = Scenario::load(&name).and_then(|scenario| scenario.setup());
            let setup = setup.unwrap_or_else(|error| panic!("{name}: {error}"));
            world::World::new(&setup).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    /// A robot with one motor, as a user might write it.
    const ARM: &str = r#"<mujoco><compiler angle="radian"/>
        <worldbody><body name="Arm" pos="0 0 1">
            <joint name="Elbow" range="-1 1"/><geom name="Arm" type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
        </body></worldbody>
        <actuator><position name="Elbow" joint="Elbow" kp="5" ctrlrange="-1 1" forcerange="-2 2"/></actuator>
    </mujoco>"#;

    #[test]
    fn a_model_is_found_relative_to_the_scenario() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("robots")).unwrap();
        std::fs::write(folder.path().join("robots/arm.xml"), ARM).unwrap();
        let path = folder.path().join("mine.toml");
        let text = "[[robot]]\nname = \"Mine\"\nmodel = \"robots/arm.xml\"\n[odcp]\nports = { Mine = 0 }";
        std::fs::write(&path, text).unwrap();
        let scenario = Scenario::load(path.to_str().unwrap()).unwrap();
        let world = world::World::new(&scenario.setup().unwrap()).unwrap();
        let card = world.catalogue().agent_named("Mine").unwrap();
        let motors: Vec<_> = card.motors.iter().map(|motor| motor.name.as_str()).collect();
        assert_eq!((motors, card.robot.as_str()), (vec!["Elbow"], "arm"));
    }

    #[test]
    fn models_cannot_include_files_outside_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside");
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(folder.path().join("secret.xml"), ARM).unwrap();
        for (model, wanted) in [
            (r#"<mujoco><include file="../secret.xml"/></mujoco>"#, "../secret.xml"),
            (r#"<mujoco><include file="/etc/hostname"/></mujoco>"#, "/etc/hostname"),
            (r#"<mujoco><asset><mesh name="m" file="../../secret.stl"/></asset></mujoco>"#, "../../secret.stl"),
        ] {
            std::fs::write(inside.join("model.xml"), model).unwrap();
            let text = "[[robot]]\nname = \"A\"\nmodel = \"model.xml\"";
            let error = Scenario::parse("test", text, &inside).unwrap().setup().unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        // names are not paths
        for name in ["../fields/flat", "../../scenarios/small", "rover/robot.xml/..", "/etc/passwd", ""] {
            let error = library::model(ModelKind::Robot, name, &inside).unwrap_err().to_string();
            assert!(error.starts_with("unknown robot `"), "{error}");
            let error = Scenario::load(name).unwrap_err().to_string();
            assert!(error.starts_with("unknown scenario `"), "{error}");
        }
    }
}
