//! The `[oz]` section of a scenario.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use ::session::{
    console::PuppetAccess,
    oz::{Control, OperatorOptions, OperatorPanel, Operators},
};
use puppet::{
    camera::CameraSource,
    director::{PuppetConfig, PuppetDirector},
    gesture::{Gestures, read_folder},
    hearing::AudioSource,
    speech::sink::AudioOutput,
};
use serde::{Deserialize, Serialize};
use support::output_file::Existing;
use wire::oz::Welcome;
use world::{Catalogue, clock::Pace};

use super::{Companion, DirectorSetup, Endpoint, EndpointId, EndpointKind, Protocol, Service};
use crate::{driver::oz as companions, health::Health, serve::ServeError, sim_thread::SimHandle};

/// Oz in the list of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: <PuppetDirector as world::director::Director>::NAME,
    title: "Oz puppeteering 1.0",
    configure: |section, folder| {
        let mut config: Config = section.try_into()?;
        config.resolve(folder);
        Ok(Box::new(Oz { config, panel: Arc::default() }))
    },
    restore_director: Some(|description| {
        let config = PuppetConfig::from_description(description)?;
        PuppetDirector::new(&config).map(|director| Box::new(director) as _).map_err(|error| error.to_string())
    }),
};

/// A picture of a person in the simulated scene.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PersonConfig {
    /// PNG or JPEG file.
    pub picture: PathBuf,
    /// Centre of the picture, in m, world frame.
    pub position: [f64; 3],
    /// Width of the picture, in m.
    #[serde(default = "PersonConfig::default_width")]
    pub width: f64,
    /// Other end of the path it walks back and forth, in m; stands still without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<[f64; 3]>,
    /// Duration of one way, in s.
    #[serde(default = "PersonConfig::default_seconds")]
    pub seconds: f64,
}

impl PersonConfig {
    fn default_width() -> f64 {
        0.6
    }

    fn default_seconds() -> f64 {
        10.0
    }
}

/// The `[oz]` section of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// TCP port; 0 picks a free one.
    pub port: u16,
    /// Name of the controlled robot.
    pub robot: String,
    /// Short name reported to clients.
    pub name: String,
    /// Long name reported to clients.
    pub long_name: String,
    /// Which operators can control the robot.
    pub control: Control,
    /// Whether 05 is pitch and 06 volume, as in the text of the specification instead of its header.
    pub swap_volume_and_pitch: bool,
    /// Blink rate after a reset, per second.
    pub blink: f32,
    /// Folder of custom gestures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gestures: Option<PathBuf>,
    /// Speech engine: `espeak` or `silent`.
    pub voice: VoiceConfig,
    /// Audio output: `speaker`, `none` or the path of a WAV file.
    pub sound: AudioOutput,
    /// Audio input: `microphone`, `none`, `tcp:PORT` or the path of a WAV file.
    pub ears: AudioSource,
    /// Image source: `scene`, `none`, `v4l:DEVICE` or the path of an image or video.
    pub camera: CameraSource,
    /// Frame rate, in Hz.
    pub frames: f64,
    /// JPEG quality, 1 to 100.
    pub quality: u8,
    /// File with the names of faces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<PathBuf>,
    /// People in the simulated scene.
    #[serde(rename = "person", skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<PersonConfig>,
}

/// Speech engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VoiceConfig {
    /// espeak-ng in its own process; silent if it is not installed.
    Espeak,
    /// No sound; the mouth moves as if speaking.
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
    /// Makes paths relative to the folder of the scenario.
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

    /// The protocol's gestures and the custom ones.
    pub fn all_gestures(&self) -> Result<Gestures, String> {
        self.puppet()?.all_gestures().map_err(|error| error.to_string())
    }
}

/// Oz in one scenario.
#[derive(Debug)]
struct Oz {
    config: Config,
    panel: Arc<OperatorPanel>,
}

impl Service for Oz {
    fn config(&self) -> toml::Table {
        toml::Table::try_from(&self.config).unwrap_or_default()
    }

    fn director(&self, _: &str) -> Result<Option<DirectorSetup>, String> {
        let config = self.config.puppet()?;
        let director = PuppetDirector::new(&config).map_err(|error| error.to_string())?;
        Ok(Some(DirectorSetup { description: config.description(), director: Box::new(director) }))
    }

    fn endpoints(&self, world: &Catalogue, _: Pace) -> Result<Vec<Endpoint>, String> {
        PuppetDirector::check(world, &self.config.robot).map_err(|error| error.to_string())?;
        companions::check(&self.config)?;
        let Config { name, long_name, control, swap_volume_and_pitch, robot, port, .. } = &self.config;
        let options = OperatorOptions {
            welcome: Welcome::new(name, long_name),
            control: *control,
            swap_volume_and_pitch: *swap_volume_and_pitch,
        };
        let operators = Operators::new(options, Arc::clone(&self.panel));
        Ok(vec![Endpoint {
            id: EndpointId::Oz,
            title: format!("Oz of {robot}"),
            port: *port,
            kind: EndpointKind::Stream(Box::new(operators)),
        }])
    }

    fn has_busy_companions(&self) -> bool {
        true
    }

    fn puppet(&self) -> Result<Option<PuppetAccess>, String> {
        Ok(Some(PuppetAccess {
            panel: Arc::clone(&self.panel),
            robot: self.config.robot.clone(),
            name: self.config.name.clone(),
            control: self.config.control,
            gestures: self.config.all_gestures()?,
        }))
    }

    fn output_files(&self) -> Vec<PathBuf> {
        match &self.config.sound {
            AudioOutput::File(path) => vec![path.clone()],
            AudioOutput::Speaker | AudioOutput::None => Vec::new(),
        }
    }

    fn start_companions(
        &self,
        sim: &SimHandle,
        health: &Health,
        existing: Existing,
    ) -> Result<Vec<Companion>, ServeError> {
        companions::start(&self.config, &self.panel, sim, health, existing)
    }
}

#[cfg(test)]
mod tests;
