//! A recording, run again.

use std::{fs, path::Path};

use session::console::scene::{poses, scene};
use soccer::game::GameView;
use world::{World, record::RecordReader};

use super::reel::{Cut, Marker, Reel};
use crate::protocol::restore_director;

/// Longest recording that is read, in bytes.
const MAX_FILE: u64 = 512 << 20;

/// Runs a recording again, and films it. Gives what is odd about it.
pub(super) fn read(path: &Path, reel: &mut Reel) -> Result<Option<String>, Cut> {
    let length = fs::metadata(path).map_err(Cut::new)?.len();
    if length > MAX_FILE {
        return Err(Cut::Trouble(format!("the recording has {} MB; {} are read", length >> 20, MAX_FILE >> 20)));
    }
    let bytes = fs::read(path).map_err(|error| Cut::Trouble(format!("the recording cannot be read: {error}")))?;
    let mut records = RecordReader::new(&bytes).map_err(Cut::new)?;
    let directors = records.setup.directors.iter().map(|description| restore_director(description));
    let directors = directors.collect::<Result<_, _>>().map_err(Cut::new)?;
    let mut camera = Camera::new(World::with_directors(&records.setup, directors).map_err(Cut::new)?);
    camera.shoot(reel)?;
    for record in records.by_ref() {
        let record = record.map_err(Cut::new)?;
        while camera.world.tick_count().0 < record.tick {
            camera.tick(reel)?;
        }
        for entry in record.entries {
            camera.world.apply(entry).map_err(Cut::new)?;
        }
        if let Some(hash) = record.hash {
            camera.tick(reel)?;
            if camera.world.state_hash() != hash {
                let tick = record.tick;
                return Err(Cut::Trouble(format!(
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
    fn tick(&mut self, reel: &mut Reel) -> Result<(), Cut> {
        self.world.tick();
        self.time += self.world.tick_seconds();
        self.shoot(reel)
    }

    fn shoot(&mut self, reel: &mut Reel) -> Result<(), Cut> {
        if !reel.wants(self.time)? {
            return Ok(());
        }
        let seen = self.world.snapshot();
        if self.generation != Some(seen.catalogue.generation) {
            self.generation = Some(seen.catalogue.generation);
            reel.scene(scene(&seen.catalogue))?;
        }
        if self.tries != seen.tries {
            self.tries = seen.tries;
            reel.mark("reset".to_owned());
        }
        if let Some(game) = seen.view::<GameView>() {
            let [left, right] = &game.teams;
            let teams = [left.as_deref().unwrap_or("the left team"), right.as_deref().unwrap_or("the right team")];
            for mark in self.marker.look(game.mode.name(), game.score, teams) {
                reel.mark(mark);
            }
        }
        reel.add(poses(&seen))
    }
}
