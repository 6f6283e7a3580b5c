//! The `[soccer]` section of a scenario.

mod models;

use std::{path::PathBuf, sync::Arc};

use ::session::soccer::{AgentOptions, Agents, MonitorLog, Monitors, VisionModel};
use serde::{Deserialize, Serialize};
use soccer::{
    Timing,
    game::{Game, GameConfig},
    rules::{Phase, RuleBook},
};
use wire::soccer::Dialect;
use world::{Catalogue, clock::Pace};

use super::{DirectorSetup, Endpoint, EndpointId, EndpointKind, Log, Protocol, Service};

/// Soccer in the list of protocols.
pub(super) const PROTOCOL: Protocol = Protocol {
    name: "soccer",
    title: "RoboCup's MuJoCo soccer league",
    configure: |section, folder| {
        let mut config: Config = section.try_into()?;
        config.models = config.models.map(|models| folder.join(models));
        Ok(Box::new(config))
    },
    restore_director: Some(|description| {
        Game::from_description(description).map(|game| Box::new(game) as _).map_err(|error| error.to_string())
    }),
};

/// The `[soccer]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Config {
    /// TCP port of the agents; 0 for any free one.
    agent_port: u16,
    /// TCP port of the monitors; 0 for any free one.
    monitor_port: u16,
    /// The rule book.
    rules: RuleBook,
    /// Phase of the match, 0 to 4.
    phase: Phase,
    /// Initial game time, in s; the beginning of the phase by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Whether the referee judges the game. Without one, only the commands of trainers change its state: for training.
    referee: bool,
    /// Whether a cycle waits for a message from each agent. It always does unless the world runs in real time.
    sync: bool,
    /// Whether agents are sent their perceptions at the end of a cycle rather than when the next one begins.
    sequential: bool,
    /// How messages are interpreted where the document and the league's server differ.
    dialect: DialectConfig,
    /// Accuracy of the robots' vision.
    vision: VisionModel,
    /// Folder of additional robots that may play: `<name>/robot.xml` or `<name>.xml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<PathBuf>,
    /// File to which monitor messages are logged. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    logfile: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            agent_port: 60000,
            monitor_port: 60001,
            rules: RuleBook::Fifa,
            phase: Phase::default(),
            time: None,
            referee: true,
            sync: false,
            sequential: false,
            dialect: DialectConfig::Reference,
            vision: VisionModel::Ideal,
            models: None,
            logfile: None,
        }
    }
}

/// How messages are interpreted where the document and the league's server differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum DialectConfig {
    /// Like the league's server.
    Reference,
    /// Like the document.
    Document,
}

impl From<DialectConfig> for Dialect {
    fn from(dialect: DialectConfig) -> Self {
        match dialect {
            DialectConfig::Reference => Self::Reference,
            DialectConfig::Document => Self::Document,
        }
    }
}

impl Config {
    fn agents(&self, pace: Pace) -> Result<Agents, String> {
        let Self { sync, sequential, dialect, vision, .. } = *self;
        let options = AgentOptions { dialect: dialect.into(), sync, sequential, vision }.in_world(pace);
        Ok(Agents { options, models: Arc::new(models::read(self.models.as_deref())?) })
    }
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn director(&self, field: &str) -> Result<Option<DirectorSetup>, String> {
        let Self { rules, phase, time, referee, .. } = *self;
        let (field, timing) = (field.to_owned(), Timing::Rounded);
        let config = GameConfig { rules, field, phase, time, releases_names: true, timing, referee };
        let game = Game::new(config).map_err(|error| error.to_string())?;
        Ok(Some(DirectorSetup { description: game.description(), director: Box::new(game) }))
    }

    fn soccer_agents(&self, pace: Pace) -> Result<Option<Agents>, String> {
        self.agents(pace).map(Some)
    }

    fn endpoints(&self, _: &Catalogue, pace: Pace) -> Result<Vec<Endpoint>, String> {
        let agents = self.agents(pace)?;
        let monitors = Monitors::new(self.rules);
        Ok(vec![
            Endpoint {
                id: EndpointId::SoccerAgents,
                title: "Soccer agents".to_owned(),
                port: self.agent_port,
                kind: EndpointKind::Stream(Box::new(agents)),
            },
            Endpoint {
                id: EndpointId::SoccerMonitors,
                title: "Soccer monitors".to_owned(),
                port: self.monitor_port,
                kind: EndpointKind::Stream(Box::new(monitors)),
            },
        ])
    }

    fn logs(&self) -> Vec<Log> {
        let log = |path: &PathBuf| Log { path: path.clone(), session: Box::new(MonitorLog::new(self.rules)) };
        self.logfile.iter().map(log).collect()
    }
}
