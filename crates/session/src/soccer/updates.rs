//! Updates of a game for monitors: complete ones at intervals, differences in between.

use soccer::{PlayerId, RuleBook, Side, field::BALL_RADIUS, game::GameView, scene::Foul};
use wire::soccer::{
    self as msg, Environment, FoulKind, Graph, Hundredths, MonitorGame, MonitorUpdate, Name, PlayMode, Teams,
    Thousandths,
};
use world::Snapshot;

use super::scene_graph::SceneGraph;

/// Cycles between two updates.
const UPDATE_EVERY: u64 = 2;
/// Cycles between two complete updates.
const COMPLETE_EVERY: u64 = 250;
/// How far up the league's fields go, in m.
const FIELD_HEIGHT: f64 = 40.0;

/// Produces updates of the game: complete ones at intervals, differences in between.
#[derive(Debug)]
pub(super) struct Updates {
    rules: RuleBook,
    /// The scene as last sent; none if the next update has to be complete.
    scene: Option<SceneGraph>,
    /// The try of the last update.
    tries: u64,
    /// Fouls since the last update.
    fouls: Vec<(PlayerId, Foul)>,
}

impl Updates {
    pub(super) fn new(rules: RuleBook) -> Self {
        Self { rules, scene: None, tries: 0, fouls: Vec::new() }
    }

    /// Whether an update is due after this cycle.
    pub(super) fn is_due(world: &Snapshot) -> bool {
        world.step.is_multiple_of(UPDATE_EVERY)
    }

    /// The update after this cycle, if one is due.
    pub(super) fn after_cycle(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        self.fouls.extend(&view(world)?.fouls);
        Self::is_due(world).then(|| self.update(world)).flatten()
    }

    /// A complete update of this moment, with these fouls. The next differences do not build on it.
    pub(super) fn complete(&self, world: &Snapshot, fouls: Vec<msg::Foul>) -> Option<MonitorUpdate> {
        let game = view(world)?;
        let graph = full_graph(&mut SceneGraph::new(world, game), world, game, self.rules);
        Some(MonitorUpdate { time: Hundredths::rounded(world.time), graph, game: state(game, fouls) })
    }

    fn update(&mut self, world: &Snapshot) -> Option<MonitorUpdate> {
        let game = view(world)?;
        let is_due = world.step.is_multiple_of(COMPLETE_EVERY) || world.tries != self.tries;
        self.tries = world.tries;
        let graph = match self.scene.as_mut().filter(|scene| !is_due && scene.is_current(world)) {
            Some(scene) => Graph::Diff { root: scene.diff(world, &game.moved) },
            None => full_graph(self.scene.insert(SceneGraph::new(world, game)), world, game, self.rules),
        };
        let fouls = std::mem::take(&mut self.fouls).into_iter().filter_map(foul).collect();
        Some(MonitorUpdate { time: Hundredths::rounded(world.time), graph, game: state(game, fouls) })
    }
}

pub(super) fn view(world: &Snapshot) -> Option<&GameView> {
    world.view::<GameView>()
}

fn full_graph(scene: &mut SceneGraph, world: &Snapshot, game: &GameView, rules: RuleBook) -> Graph {
    let root = scene.full(world, &game.moved);
    Graph::Full { root, teams: teams(game), environment: Some(Box::new(environment(game, rules))) }
}

fn foul((player, foul): (PlayerId, Foul)) -> Option<msg::Foul> {
    let side = if player.side == Side::Left { msg::Side::Left } else { msg::Side::Right };
    Some(msg::Foul { kind: FoulKind::from_index(foul.id())?, side, number: player.number })
}

fn teams(game: &GameView) -> Teams {
    let [left, right] = &game.teams;
    let name = |team: &Option<String>| team.as_deref().and_then(|team| Name::new(team).ok());
    Teams { left: name(left), right: name(right) }
}

fn state(game: &GameView, fouls: Vec<msg::Foul>) -> MonitorGame {
    let [score_left, score_right] = game.score.map(|score| score.try_into().unwrap_or(u16::MAX));
    MonitorGame {
        time: Thousandths::rounded(game.play_time.as_secs_f64()),
        half: game.half,
        score_left,
        score_right,
        play_mode: PlayMode::from_name(game.mode.name()).unwrap_or(PlayMode::BeforeKickOff),
        fouls,
    }
}

fn environment(game: &GameView, rules: RuleBook) -> Environment {
    let (field, rules) = (&game.field, rules.rules());
    Environment {
        field_length: field.length,
        field_width: field.width,
        field_height: FIELD_HEIGHT,
        goal_depth: field.goal_depth,
        goal_width: field.goal_width,
        goal_height: field.goal_height,
        // the league's border is the width of the lines
        border_size: field.line_width,
        free_kick_distance: 0.0,
        ball_radius: BALL_RADIUS,
        goal_pause_time: rules.goal_pause.as_secs_f64(),
        half_time: rules.half.as_secs_f64(),
        centre_circle_radius: field.circle_radius,
        corner_area_radius: field.corner_radius,
        goalie_area_length: field.goalie_area_depth,
        goalie_area_width: field.goalie_area_width,
        penalty_spot_distance: field.penalty_spot,
        penalty_area_length: field.penalty_area_depth,
        penalty_area_width: field.penalty_area_width,
    }
}
