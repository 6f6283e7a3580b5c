//! A log of a soccer game: what its monitors were sent, a line each.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use wire::{
    Message,
    console::encode_poses,
    soccer::{Graph, MAX_UPDATE_FRAME, MonitorMessage, MonitorUpdate},
};

use super::{
    playback::{Marker, PlaybackWriter, RATE, ReadEnd},
    tree::{Moving, Tree},
};

/// A gap in the log's time that is longer, or goes back, is none: another game begins. In s.
const LONGEST_GAP: f64 = 10.0;
/// Lines that are looked through for what moves, before the first frame is made.
const LOOKED_AHEAD: usize = 300;

/// Playbacks a log. Gives what is odd about it.
pub(super) fn read(path: &Path, playback: &mut PlaybackWriter) -> Result<Option<String>, ReadEnd> {
    let mut scene = Scene::default();
    scene.look_ahead(path)?;
    let mut lines = Lines::open(path)?;
    while let Some(update) = lines.next()? {
        scene.take(update, playback, &mut lines.passed_over)?;
    }
    if playback.length() == 0 {
        return Err(ReadEnd::new("there is no whole picture of a game in this log"));
    }
    Ok(match lines.passed_over {
        0 => None,
        1 => Some("one line is no picture of a game and was passed over".to_owned()),
        several => Some(format!("{several} lines are no pictures of a game and were passed over")),
    })
}

/// The pictures of a log.
struct Lines {
    reader: BufReader<File>,
    line: Vec<u8>,
    passed_over: usize,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, ReadEnd> {
        let file = File::open(path).map_err(|error| ReadEnd::Trouble(format!("the log cannot be read: {error}")))?;
        Ok(Self { reader: BufReader::new(file), line: Vec::new(), passed_over: 0 })
    }

    /// The next picture, whatever is between; none at the end.
    fn next(&mut self) -> Result<Option<MonitorUpdate>, ReadEnd> {
        loop {
            self.line.clear();
            let mut limited = (&mut self.reader).take(MAX_UPDATE_FRAME as u64 + 2);
            limited
                .read_until(b'\n', &mut self.line)
                .map_err(|error| ReadEnd::Trouble(format!("the log cannot be read any further: {error}")))?;
            // whoever wrote the log may not have come to the end of its last line
            if !self.line.ends_with(b"\n") && self.line.len() <= MAX_UPDATE_FRAME {
                return Ok(None);
            }
            match MonitorMessage::decode(self.line.trim_ascii_end()) {
                Ok(MonitorMessage::Update(update)) => return Ok(Some(*update)),
                Ok(MonitorMessage::Acknowledged(_)) => {}
                Err(_) => self.passed_over += 1,
            }
        }
    }
}

/// What is to be seen by now.
#[derive(Default)]
struct Scene {
    tree: Option<Tree>,
    moving: Moving,
    generation: u32,
    /// Whether the film knows how it looks.
    is_told: bool,
    teams: [String; 2],
    marker: Marker,
    /// Of the log and of the film, in s.
    time: Option<(f64, f64)>,
    pictures: u64,
}

impl Scene {
    /// Finds out what moves, so that the film need not begin with a dozen scenes.
    fn look_ahead(&mut self, path: &Path) -> Result<(), ReadEnd> {
        let mut lines = Lines::open(path)?;
        for _ in 0..LOOKED_AHEAD {
            let Some(update) = lines.next()? else { break };
            self.see(&update.graph);
        }
        self.tree = None;
        Ok(())
    }

    /// Takes in what a picture shows; false if that does not fit what was there before.
    fn see(&mut self, graph: &Graph) -> bool {
        let (Graph::Full { root, .. } | Graph::Diff { root }) = graph;
        if let Graph::Full { environment, .. } = graph {
            // there is a whole picture every few seconds, mostly of the same
            if !self.tree.as_ref().is_some_and(|tree| tree.is_like(root)) {
                self.tree = Some(Tree::new(root, environment.as_deref()));
                self.is_told = false;
            }
        }
        // a log that goes on in another file begins with changes
        let Some(has_more) = self.tree.as_mut().and_then(|tree| tree.change(root, &mut self.moving)) else {
            return false;
        };
        self.is_told &= !has_more;
        true
    }

    fn take(
        &mut self,
        update: MonitorUpdate,
        playback: &mut PlaybackWriter,
        passed_over: &mut usize,
    ) -> Result<(), ReadEnd> {
        if !self.see(&update.graph) {
            *passed_over += 1;
            return Ok(());
        }
        self.pictures += 1;
        if let Graph::Full { teams, .. } = &update.graph {
            let name = |team: &Option<wire::soccer::Name>, side: &str| {
                team.as_ref().map_or_else(|| format!("the {side} team"), |team| team.as_str().to_owned())
            };
            self.teams = [name(&teams.left, "left"), name(&teams.right, "right")];
        }
        let now = update.time.get();
        let film = match self.time {
            None => 0.0,
            Some((before, film)) if (0.0..=LONGEST_GAP).contains(&(now - before)) => film + now - before,
            Some((_, film)) => film + 1.0 / RATE,
        };
        self.time = Some((now, film));
        if !playback.wants(film)? {
            return Ok(());
        }
        let Some(tree) = &mut self.tree else { return Ok(()) };
        if !self.is_told {
            self.is_told = true;
            self.generation = self.generation.wrapping_add(1);
            playback.scene(tree.scene(self.generation, &self.moving))?;
        }
        let game = &update.game;
        let score = [game.score_left.into(), game.score_right.into()];
        let [left, right] = &self.teams;
        for mark in self.marker.look(game.play_mode.name(), score, [left, right]) {
            playback.mark(mark);
        }
        let poses = tree.poses();
        playback.add(encode_poses(self.generation, self.pictures, now, poses.into_iter()))
    }
}
