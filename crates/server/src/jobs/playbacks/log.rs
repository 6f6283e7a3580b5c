//! Loads a soccer log: the monitor messages of a game, one per line.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use wire::{
    Message,
    console::encode_poses,
    soccer::{Graph, MAX_UPDATE_FRAME, MonitorMessage, MonitorUpdate, Name, Teams},
};

use super::{
    playback::{GameMarks, LoadError, PlaybackWriter, RATE},
    scene_tree::{MovingNodes, SceneTree},
};

/// Longest gap between two updates, in s. If the log's time jumps further, or backwards, another game starts.
const LONGEST_GAP: f64 = 10.0;
/// Updates scanned for moving nodes before the first frame is written.
const LOOKAHEAD: usize = 300;

/// Writes the frames of a log. Returns a warning if lines were skipped.
pub(super) fn load(path: &Path, writer: &mut PlaybackWriter) -> Result<Option<String>, LoadError> {
    let mut scene = LogScene::default();
    scene.find_moving(path)?;
    let mut updates = Updates::open(path)?;
    while let Some(update) = updates.next()? {
        scene.apply(update, writer, &mut updates.skipped)?;
    }
    if writer.length() == 0 {
        return Err(LoadError::new("the log contains no complete scene graph"));
    }
    Ok(match updates.skipped {
        0 => None,
        1 => Some("skipped 1 invalid line".to_owned()),
        several => Some(format!("skipped {several} invalid lines")),
    })
}

/// The updates in a log.
struct Updates {
    reader: BufReader<File>,
    line: Vec<u8>,
    /// Lines that are not monitor messages, or that do not fit the scene.
    skipped: usize,
}

impl Updates {
    fn open(path: &Path) -> Result<Self, LoadError> {
        let file = File::open(path).map_err(|error| LoadError::Failed(format!("failed to open the log: {error}")))?;
        Ok(Self { reader: BufReader::new(file), line: Vec::new(), skipped: 0 })
    }

    /// The next update, or `None` at the end. Other lines are skipped.
    fn next(&mut self) -> Result<Option<MonitorUpdate>, LoadError> {
        loop {
            self.line.clear();
            let mut limited = (&mut self.reader).take(MAX_UPDATE_FRAME as u64 + 2);
            limited
                .read_until(b'\n', &mut self.line)
                .map_err(|error| LoadError::Failed(format!("failed to read the log: {error}")))?;
            // the last line may be incomplete, if the log is still being written or its writer was killed
            if !self.line.ends_with(b"\n") && self.line.len() <= MAX_UPDATE_FRAME {
                return Ok(None);
            }
            match MonitorMessage::decode(self.line.trim_ascii_end()) {
                Ok(MonitorMessage::Update(update)) => return Ok(Some(*update)),
                Ok(MonitorMessage::Acknowledged(_)) => {}
                Err(_) => self.skipped += 1,
            }
        }
    }
}

/// State of the game at the current line.
#[derive(Default)]
struct LogScene {
    tree: Option<SceneTree>,
    moving: MovingNodes,
    generation: u32,
    /// Whether the playback has the current scene.
    is_scene_written: bool,
    teams: [String; 2],
    marks: GameMarks,
    /// Time of the log and of the playback, in s.
    time: Option<(f64, f64)>,
    /// Number of updates applied.
    updates: u64,
}

impl LogScene {
    /// Finds the moving nodes in the first updates, so that the playback does not start with a dozen scenes.
    fn find_moving(&mut self, path: &Path) -> Result<(), LoadError> {
        let mut updates = Updates::open(path)?;
        for _ in 0..LOOKAHEAD {
            let Some(update) = updates.next()? else { break };
            self.apply_graph(&update.graph);
        }
        self.tree = None;
        Ok(())
    }

    /// Applies a scene graph; returns false if it does not fit the current one.
    fn apply_graph(&mut self, graph: &Graph) -> bool {
        let (Graph::Full { root, .. } | Graph::Diff { root }) = graph;
        if let Graph::Full { environment, .. } = graph {
            // a full graph comes every few seconds, mostly with the same nodes
            if !self.tree.as_ref().is_some_and(|tree| tree.has_same_nodes(root)) {
                self.tree = Some(SceneTree::new(root, environment.as_deref()));
                self.is_scene_written = false;
            }
        }
        // a log continued from another file starts with changes, which have no tree to apply to
        let Some(has_new) = self.tree.as_mut().and_then(|tree| tree.apply(root, &mut self.moving)) else {
            return false;
        };
        self.is_scene_written &= !has_new;
        true
    }

    fn apply(
        &mut self,
        update: MonitorUpdate,
        writer: &mut PlaybackWriter,
        skipped: &mut usize,
    ) -> Result<(), LoadError> {
        if !self.apply_graph(&update.graph) {
            *skipped += 1;
            return Ok(());
        }
        self.updates += 1;
        if let Graph::Full { teams, .. } = &update.graph {
            self.teams = team_titles(teams);
        }
        let now = update.time.get();
        let playback_time = match self.time {
            None => 0.0,
            Some((before, time)) if (0.0..=LONGEST_GAP).contains(&(now - before)) => time + now - before,
            Some((_, time)) => time + 1.0 / RATE,
        };
        self.time = Some((now, playback_time));
        if !writer.advance_to(playback_time)? {
            return Ok(());
        }
        let Some(tree) = &mut self.tree else { return Ok(()) };
        if !self.is_scene_written {
            self.is_scene_written = true;
            self.generation = self.generation.wrapping_add(1);
            writer.push_scene(tree.scene(self.generation, &self.moving))?;
        }
        let game = &update.game;
        let score = [game.score_left.into(), game.score_right.into()];
        let [left, right] = &self.teams;
        for mark in self.marks.update(game.play_mode.name(), score, [left, right]) {
            writer.push_mark(mark);
        }
        let poses = tree.poses();
        writer.push_frame(encode_poses(self.generation, self.updates, now, poses.into_iter()))
    }
}

fn team_titles(Teams { left, right }: &Teams) -> [String; 2] {
    let title = |team: &Option<Name>, side: &str| {
        team.as_ref().map_or_else(|| format!("the {side} team"), |team| team.as_str().to_owned())
    };
    [title(left, "left"), title(right, "right")]
}
