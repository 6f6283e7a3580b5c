//! Oz: puppeteering a social robot. Choices are in `protocols/oz/decisions.md`.
//!
//! The puppet itself is a director of the world (`puppet::director`). Sessions turn messages into its orders and its
//! events into messages. Voice, ears and eyes work beside the world (`driver::oz`).

mod operator;
mod stage;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use puppet::{
    camera::CameraSource,
    director::{PuppetConfig, PuppetDirector},
    gesture::{Gestures, read_folder},
    hearing::AudioSource,
    speech::sink::AudioOutput,
};
use serde::{Deserialize, Serialize};
use world::{Catalogue, clock::Pace};

use self::operator::Operators;
use super::{Beside, Direction, Endpoint, EndpointKind, Protocol, Service};
use crate::{driver::oz as parts, health::Health, serve::ServeError, sim_thread::SimHandle};

pub use self::operator::OperatorSession;
pub(crate) use self::{
    operator::is_finite,
    stage::{Naming, Presence, Stage},
};

/// Oz in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: <PuppetDirector as world::director::Director>::NAME,
    title: "Oz puppeteering 1.0",
    configure: |section, folder| {
        let mut config: Config = section.try_into()?;
        config.resolve(folder);
        Ok(Box::new(Oz { config, stage: Arc::default() }))
    },
    direct: Some(|description| {
        let config = PuppetConfig::from_description(description)?;
        PuppetDirector::new(&config).map(|director| Box::new(director) as _).map_err(|error| error.to_string())
    }),
};

/// Who may move the robot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// Everybody who is connected.
    All,
    /// The first who moves it, until it leaves; the others look on.
    One,
}

/// A picture of a person in the simulated scene.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PersonConfig {
    /// PNG or JPEG file.
    pub picture: PathBuf,
    /// Where the middle of the picture is, in m, world frame.
    pub position: [f64; 3],
    /// How wide the picture is, in m.
    #[serde(default = "PersonConfig::usual_width")]
    pub width: f64,
    /// Where it walks to and back, in m, if it walks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<[f64; 3]>,
    /// How long one way takes, in s.
    #[serde(default = "PersonConfig::usual_seconds")]
    pub seconds: f64,
}

impl PersonConfig {
    fn usual_width() -> f64 {
        0.6
    }

    fn usual_seconds() -> f64 {
        10.0
    }
}

/// The `[oz]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// TCP port; 0 for any free one.
    pub port: u16,
    /// Name of the robot that is the puppet.
    pub robot: String,
    /// What the robot calls itself.
    pub name: String,
    /// The same at length.
    pub long_name: String,
    /// Who may move the robot.
    pub control: Control,
    /// Whether 05 is pitch and 06 volume, as in the document's text, and not as in its header.
    pub swap_volume_and_pitch: bool,
    /// Blinks a second after a reset.
    pub blink: f32,
    /// Folder of gestures besides the protocol's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gestures: Option<PathBuf>,
    /// `espeak`, or `silent`.
    pub voice: VoiceConfig,
    /// Where the voice is heard: `speaker`, `none` or the path of a WAV file.
    pub sound: AudioOutput,
    /// What the robot hears: `microphone`, `none`, `tcp:PORT` or the path of a WAV file.
    pub ears: AudioSource,
    /// What the robot sees: `scene`, `none`, `v4l:DEVICE` or the path of a picture or a film.
    pub camera: CameraSource,
    /// Pictures a second.
    pub frames: f64,
    /// Quality of the pictures, 1 to 100.
    pub quality: u8,
    /// File of the names of faces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<PathBuf>,
    /// People in the simulated scene.
    #[serde(rename = "person", skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<PersonConfig>,
}

/// What speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VoiceConfig {
    /// espeak-ng, in a process of its own; silent if it is not there.
    Espeak,
    /// Nothing; the mouth moves as if.
    Silent,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            port: wire::oz::PORT,
            robot: "Alice".to_owned(),
            name: "alice".to_owned(),
            long_name: "Alice, a simulated humanoid".to_owned(),
            control: Control::All,
            swap_volume_and_pitch: false,
            blink: 2.0,
            gestures: None,
            voice: VoiceConfig::Espeak,
            sound: AudioOutput::Speaker,
            ears: AudioSource::Microphone,
            camera: CameraSource::Scene,
            frames: 30.0,
            quality: 32,
            names: None,
            people: Vec::new(),
        }
    }
}

impl Config {
    /// Relative paths start at the folder of the scenario.
    fn resolve(&mut self, folder: &Path) {
        for path in [&mut self.gestures, &mut self.names].into_iter().flatten() {
            *path = folder.join(&*path);
        }
        for person in &mut self.people {
            person.picture = folder.join(&person.picture);
        }
        self.sound.resolve(folder);
        self.ears.resolve(folder);
        self.camera.resolve(folder);
    }

    fn puppet(&self) -> Result<PuppetConfig, String> {
        let gestures = self.gestures.as_deref().map(read_folder).transpose().map_err(|error| error.to_string())?;
        let (robot, blinks) = (self.robot.clone(), self.blink.clamp(0.0, 10.0));
        Ok(PuppetConfig { robot, blinks, gestures: gestures.unwrap_or_default() })
    }

    /// All gestures that the robot has.
    pub fn all_gestures(&self) -> Result<Gestures, String> {
        self.puppet()?.all_gestures().map_err(|error| error.to_string())
    }
}

/// What an operator's desk needs to know of the robot besides the world.
#[derive(Clone, Debug)]
pub struct Desk {
    pub(crate) config: Config,
    pub(crate) stage: Arc<Stage>,
}

/// Oz in one scenario.
#[derive(Debug)]
struct Oz {
    config: Config,
    stage: Arc<Stage>,
}

impl Service for Oz {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(&self.config).unwrap_or_default()
    }

    fn director(&self, _: &str) -> Result<Option<Direction>, String> {
        let config = self.config.puppet()?;
        let director = PuppetDirector::new(&config).map_err(|error| error.to_string())?;
        Ok(Some(Direction { description: config.description(), director: Box::new(director) }))
    }

    fn endpoints(&self, world: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        PuppetDirector::check(world, &self.config.robot).map_err(|error| error.to_string())?;
        parts::check(&self.config)?;
        let operators = Operators::new(&self.config, Arc::clone(&self.stage));
        let kind = EndpointKind::Stream(Box::new(operators));
        Ok(vec![Endpoint { title: format!("Oz of {}", self.config.robot), port: self.config.port, kind }])
    }

    fn is_busy_beside(&self) -> bool {
        true
    }

    fn desk(&self) -> Option<Desk> {
        Some(Desk { config: self.config.clone(), stage: Arc::clone(&self.stage) })
    }

    fn start_beside(&self, sim: &SimHandle, health: &Health) -> Result<Vec<Beside>, ServeError> {
        parts::start(&self.config, &self.stage, sim, health)
    }
}

#[cfg(test)]
mod tests;
