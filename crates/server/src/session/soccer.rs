//! RoboCup's MuJoCo soccer league: agents and monitors. Choices are in `protocols/soccer/decisions.md`.

mod agent;
mod models;
mod monitor;
mod picture;
mod senses;
#[cfg(test)]
mod testing;

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};
use soccer::{
    game::{Game, GameConfig},
    rules::{Phase, RuleBook},
};
use wire::soccer::Dialect;
use world::{Catalogue, clock::Pace};

use self::{
    agent::{Agents, Manners},
    models::Models,
    monitor::{Monitors, Scribe},
};
use super::{Direction, Endpoint, EndpointKind, Log, Protocol, Service};

pub use self::{agent::AgentSession, monitor::MonitorSession};

/// Soccer in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "soccer",
    title: "RoboCup's MuJoCo soccer league",
    configure: |section, folder| {
        let mut config: Config = section.try_into()?;
        config.models = config.models.map(|models| folder.join(models));
        Ok(Box::new(config))
    },
    direct: Some(|description| {
        Game::from_description(description).map(|game| Box::new(game) as _).map_err(|error| error.to_string())
    }),
};

/// The `[soccer]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// TCP port of the agents; 0 for any free one.
    agent_port: u16,
    /// TCP port of the monitors; 0 for any free one.
    monitor_port: u16,
    /// The rule book.
    rules: RuleBook,
    /// Which half is played, 0 to 4.
    phase: Phase,
    /// Where the game clock begins, in s; at the phase's beginning if it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<f64>,
    /// Whether a cycle waits for a message of each agent. It always does unless the world keeps to real time.
    sync: bool,
    /// Whether agents are told of a cycle at its end rather than when the next one begins.
    sequential: bool,
    /// How the wire is read where page and league differ.
    dialect: DialectConfig,
    /// How well robots see.
    vision: Eyes,
    /// Folder of robots that may play besides our own: `<name>/robot.xml` or `<name>.xml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<PathBuf>,
    /// Where what monitors are sent is written, if it is.
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
            sync: false,
            sequential: false,
            dialect: DialectConfig::Reference,
            vision: Eyes::Ideal,
            models: None,
            logfile: None,
        }
    }
}

/// How the wire is read where page and league differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum DialectConfig {
    /// As the league's server does it.
    Reference,
    /// As the page says.
    Document,
}

/// How well robots see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Eyes {
    /// Everything in the field of view, exactly.
    Ideal,
    /// With errors and misses, and not through other robots.
    Noisy,
}

impl From<DialectConfig> for Dialect {
    fn from(dialect: DialectConfig) -> Self {
        match dialect {
            DialectConfig::Reference => Self::Reference,
            DialectConfig::Document => Self::Document,
        }
    }
}

impl Service for Config {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(self).unwrap_or_default()
    }

    fn director(&self, field: &str) -> Result<Option<Direction>, String> {
        let (rules, field, phase, time) = (self.rules, field.to_owned(), self.phase, self.time);
        let game = Game::new(GameConfig { rules, field, phase, time }).map_err(|error| error.to_string())?;
        Ok(Some(Direction { description: game.description(), director: Box::new(game) }))
    }

    fn endpoints(&self, _: &Catalogue, pace: Pace) -> Result<Vec<Endpoint>, String> {
        let models = Models::new(self.models.as_deref())?;
        let agents = Agents { manners: Manners::new(self, pace), models: Arc::new(models) };
        let monitors = Monitors { rules: self.rules };
        let agents = EndpointKind::Stream(Box::new(agents));
        let monitors = EndpointKind::Stream(Box::new(monitors));
        Ok(vec![
            Endpoint { title: "Soccer agents".to_owned(), port: self.agent_port, kind: agents },
            Endpoint { title: "Soccer monitors".to_owned(), port: self.monitor_port, kind: monitors },
        ])
    }

    fn logs(&self) -> Vec<Log> {
        let log = |path: &PathBuf| Log { path: path.clone(), session: Box::new(Scribe::new(self.rules)) };
        self.logfile.iter().map(log).collect()
    }
}
