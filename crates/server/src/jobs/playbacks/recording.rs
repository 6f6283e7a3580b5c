//! A recording, run again.

use std::{fs, path::Path};

use session::console::scene::{poses, scene};
use soccer::game::GameView;
use world::{World, record::RecordReader};

use super::playback::{Marker, PlaybackWriter, ReadEnd};
use crate::protocol::restore_director;

/// Longest recording that is read, in bytes.
const MAX_FILE: u64 = 512 << 20;

/// Runs a recording again, and films it. Gives what is odd about it.
pub(super) fn read(path: &Path, playback: &mut PlaybackWriter) -> Result<Option<String>, ReadEnd> {
    let length = fs::metadata(path).map_err(ReadEnd::new)?.len();
    if length > MAX_FILE {
        return Err(ReadEnd::Trouble(format!("the recording has {} MB; {} are read", length >> 20, MAX_FILE >> 20)));
    }
    let bytes = fs::read(path).map_err(|error| ReadEnd::Trouble(format!("the recording cannot be read: {error}")))?;
    let mut records = RecordReader::new(&bytes).map_err(ReadEnd::new)?;
    let directors = records.setup.directors.iter().map(|description| restore_director(description));
    let directors = directors.collect::<Result<_, _>>().map_err(ReadEnd::new)?;
    let mut camera = Camera::new(World::with_directors(&records.setup, directors).map_err(ReadEnd::new)?);
    camera.shoot(playback)?;
    for record in records.by_ref() {
        let record = record.map_err(ReadEnd::new)?;
        while camera.world.tick_count().0 < record.tick {
            camera.tick(playback)?;
        }
        for entry in record.entries {
            camera.world.apply(entry).map_err(ReadEnd::new)?;
        }
        if let Some(hash) = record.hash {
            camera.tick(playback)?;
            if camera.world.state_hash() != hash {
                let tick = record.tick;
                return Err(ReadEnd::Trouble(format!(
                    "run again, the world differs from the recording at tick {tick}; it was made by another version, or \
                     on another kind of machine"
                )));
            }
        }
    }
    Ok((!records.complete).then(|| "the recording was cut off; what is there is shown".to_owned()))
}

struct Camera {
    world: World,
    /// Time of the film, in s.
    time: f64,
    generation: Option<u64>,
    tries: u64,
    marker: Marker,
}

impl Camera {
    fn new(world: World) -> Self {
        let tries = world.snapshot().tries;
        Self { world, time: 0.0, generation: None, tries, marker: Marker::default() }
    }

    /// Lets a tick pass, and takes a frame if one is due.
    fn tick(&mut self, playback: &mut PlaybackWriter) -> Result<(), ReadEnd> {
        self.world.tick();
        self.time += self.world.tick_seconds();
        self.shoot(playback)
    }

    fn shoot(&mut self, playback: &mut PlaybackWriter) -> Result<(), ReadEnd> {
        if !playback.wants(self.time)? {
            return Ok(());
        }
        let seen = self.world.snapshot();
        if self.generation != Some(seen.catalogue.generation) {
            self.generation = Some(seen.catalogue.generation);
            playback.scene(scene(&seen.catalogue))?;
        }
        if self.tries != seen.tries {
            self.tries = seen.tries;
            playback.mark("reset".to_owned());
        }
        if let Some(game) = seen.view::<GameView>() {
            let [left, right] = &game.teams;
            let teams = [left.as_deref().unwrap_or("the left team"), right.as_deref().unwrap_or("the right team")];
            for mark in self.marker.look(game.mode.name(), game.score, teams) {
                playback.mark(mark);
            }
        }
        playback.add(poses(&seen))
    }
}
