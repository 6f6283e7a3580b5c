//! Loads a recording by simulating it again.

use std::{fs::File, path::Path, sync::Arc};

use physics::Visual;
use session::console::scene::{poses, scene};
use soccer::game::GameView;
use world::{Snapshot, World, record::RecordReader};

use super::playback::{GameMarks, LoadError, PlaybackWriter};
use crate::protocol::restore_director;

/// Largest recording that can be played, in bytes.
const MAX_FILE: u64 = 512 << 20;
/// Shortest time between two scenes of one model, in which something has been moved, in s.
const SCENE: f64 = 0.2;

/// Simulates a recording again and writes its frames. Returns a warning if the recording is incomplete or
/// damaged.
pub(super) fn load(path: &Path, writer: &mut PlaybackWriter) -> Result<Option<String>, LoadError> {
    let unreadable = |error| LoadError::Failed(format!("failed to read the recording: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length > MAX_FILE {
        let (found, max) = (length >> 20, MAX_FILE >> 20);
        return Err(LoadError::Failed(format!("the recording has {found} MB; at most {max} MB can be played")));
    }
    let mut records = RecordReader::new(file).map_err(LoadError::new)?;
    let directors = records.setup.directors.iter().map(|description| restore_director(description));
    let directors = directors.collect::<Result<_, _>>().map_err(LoadError::new)?;
    let mut replay = Replay::new(World::with_directors(&records.setup, directors).map_err(LoadError::new)?);
    replay.write_frame(writer)?;
    for record in records.by_ref() {
        let record = record.map_err(LoadError::new)?;
        while replay.world.tick_count().0 < record.tick {
            replay.tick(writer)?;
        }
        for entry in record.entries {
            replay.world.apply(entry).map_err(LoadError::new)?;
        }
        if let Some(hash) = record.hash {
            replay.tick(writer)?;
            if replay.world.state_hash() != hash {
                let tick = record.tick;
                return Err(LoadError::Failed(format!(
                    "the replay differs from the recording at tick {tick}; it was made by another version or on \
                     another kind of machine"
                )));
            }
        }
    }
    Ok(match records.damage() {
        [] if records.is_complete() => None,
        [] => Some("the recording is cut off; playing its complete part".to_owned()),
        [damage, ..] => Some(format!("the recording is damaged, but no record is missing ({damage})")),
    })
}

/// The world being simulated again, and how far the playback follows it.
struct Replay {
    world: World,
    /// Time of the playback, in s; a reset does not set it back.
    time: f64,
    /// Generation of the last scene, what it shows, and when it was written.
    shown: Option<(u64, Arc<[Visual]>, f64)>,
    tries: u64,
    marks: GameMarks,
}

impl Replay {
    fn new(world: World) -> Self {
        let tries = world.snapshot().tries;
        Self { world, time: 0.0, shown: None, tries, marks: GameMarks::default() }
    }

    /// Simulates a tick, and writes a frame if one is due.
    fn tick(&mut self, writer: &mut PlaybackWriter) -> Result<(), LoadError> {
        self.world.tick();
        self.time += self.world.tick_seconds();
        self.write_frame(writer)
    }

    /// Whether the last scene shows what is visible now. Where things are moved all the time, it may be a little old.
    fn shows(&self, snapshot: &Snapshot) -> bool {
        self.shown.as_ref().is_some_and(|(generation, visuals, since)| {
            let is_recent = *generation == snapshot.catalogue.generation && self.time - since < SCENE;
            Arc::ptr_eq(visuals, &snapshot.visuals) || is_recent
        })
    }

    fn write_frame(&mut self, writer: &mut PlaybackWriter) -> Result<(), LoadError> {
        if !writer.advance_to(self.time)? {
            return Ok(());
        }
        let snapshot = self.world.snapshot();
        if !self.shows(&snapshot) {
            self.shown = Some((snapshot.catalogue.generation, Arc::clone(&snapshot.visuals), self.time));
            writer.push_scene(scene(&snapshot))?;
        }
        if self.tries != snapshot.tries {
            self.tries = snapshot.tries;
            writer.push_mark("reset".to_owned());
        }
        if let Some(game) = snapshot.view::<GameView>() {
            let [left, right] = &game.teams;
            let teams = [left.as_deref().unwrap_or("the left team"), right.as_deref().unwrap_or("the right team")];
            for mark in self.marks.update(game.mode.name(), game.score, teams) {
                writer.push_mark(mark);
            }
        }
        writer.push_frame(poses(&snapshot))
    }
}
