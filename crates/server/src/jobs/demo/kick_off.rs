//! Waits until both teams of a demo have connected and taken their positions, then kicks off.

use std::time::Duration;

use soccer::{Game, GameOrder, PlayMode, Side, game::GameView};
use tokio::{
    runtime,
    sync::mpsc::{Receiver, error::TryRecvError},
    time::timeout,
};
use tracing::{info, warn};
use world::{Answer, Command, Snapshot};

use super::{SharedState, TEAMS};
use crate::sim_thread::{Delivery, SessionSender, SimHandle, Ticks};

/// Time for the players to take their positions, in simulated s.
const POSITIONING: f64 = 3.0;
/// Time after which an accepted kick-off order has taken effect, in simulated s.
const ORDER_DELAY: f64 = 1.0;
/// How often it is checked whether the demo has ended while the world is paused.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Waits and kicks off; returns once the game is running or the demo has ended.
pub(super) fn run(state: &SharedState, sim: &SimHandle, number: u64, players: u8) {
    let outcome = runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(kick_off(state, sim, number, players)));
    if let Err(reason) = outcome {
        warn!("demo kick-off failed: {reason}");
        state.set_note(number, format!("kick-off failed: {reason}"));
    }
}

/// State of a game whose players are still connecting.
pub(super) fn connected_note(connected: usize, all: usize) -> String {
    format!("{connected} of {all} players are connected")
}

async fn kick_off(state: &SharedState, sim: &SimHandle, number: u64, players: u8) -> Result<(), String> {
    let mut snapshots = sim.watch();
    let mut schedule = Schedule::new(TEAMS.len() * usize::from(players));
    let mut session: Option<(SessionSender, Receiver<Delivery>)> = None;
    loop {
        let world = snapshots.borrow_and_update().clone();
        let phase = schedule.observe(&world)?;
        if let Some((_, answers)) = &mut session {
            check_answer(answers)?;
        }
        if phase == Phase::KickOff && session.is_none() {
            let (mut sender, answers) = sim.open(Ticks::Never).map_err(|error| error.to_string())?;
            let order = GameOrder::KickOff(Some(Side::Left));
            sender.send(Command::order::<Game>(order)).map_err(|error| error.to_string())?;
            session = Some((sender, answers));
        }
        let note = match phase {
            Phase::Playing => "the game is running".to_owned(),
            Phase::KickOff => "kick-off".to_owned(),
            Phase::Positioning => format!("all {} players are connected and take their positions", schedule.all),
            Phase::Connecting(connected) => connected_note(connected, schedule.all),
        };
        if !state.set_note(number, note) {
            return Ok(());
        }
        if phase == Phase::Playing {
            info!("demo game started");
            return Ok(());
        }
        // the timeout is only there to notice the end of the demo
        if let Ok(Err(_)) = timeout(POLL_INTERVAL, snapshots.changed()).await {
            return Err("the world has ended".to_owned());
        }
    }
}

/// Fails if the order was refused. An accepted order is not answered.
fn check_answer(answers: &mut Receiver<Delivery>) -> Result<(), String> {
    match answers.try_recv() {
        Ok(Delivery::Answer(Answer::Refused(refusal))) => Err(refusal.to_string()),
        Err(TryRecvError::Disconnected) => Err("the world has ended".to_owned()),
        _ => Ok(()),
    }
}

/// Phase of a demo until its game runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Players are connecting; the number of those that have.
    Connecting(usize),
    /// All players are connected and take their positions.
    Positioning,
    /// The kick-off is ordered.
    KickOff,
    /// The game is running: nothing is left to do.
    Playing,
}

/// Decides when to kick off. Times are in simulated s since the last reset.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Players of both teams.
    all: usize,
    /// When all players were connected.
    complete_at: Option<f64>,
    /// Whether the game was seen before its kick-off.
    is_before_kick_off: bool,
    /// When the kick-off was ordered.
    ordered_at: Option<f64>,
}

impl Schedule {
    pub(super) fn new(all: usize) -> Self {
        Self { all, complete_at: None, is_before_kick_off: false, ordered_at: None }
    }

    fn observe(&mut self, world: &Snapshot) -> Result<Phase, String> {
        let game = world.view::<GameView>().ok_or("the world no longer has a soccer game")?;
        let is_ours = |side: Side| {
            let [left, right] = &game.teams;
            let team = if side == Side::Left { left } else { right };
            team.as_deref().is_some_and(|team| TEAMS.contains(&team))
        };
        let connected = game.players.iter().filter(|(player, _)| is_ours(player.side)).count();
        Ok(self.update(connected, game.mode, world.time))
    }

    pub(super) fn update(&mut self, connected: usize, mode: PlayMode, time: f64) -> Phase {
        // a game that was running when the teams came is restarted; one that had not begun may be started by others
        let has_begun = self.is_before_kick_off && mode != PlayMode::BeforeKickOff;
        if has_begun || self.ordered_at.is_some_and(|ordered| !(0.0..ORDER_DELAY).contains(&(time - ordered))) {
            return Phase::Playing;
        }
        self.is_before_kick_off = mode == PlayMode::BeforeKickOff;
        if connected < self.all && self.ordered_at.is_none() {
            self.complete_at = None;
            return Phase::Connecting(connected);
        }
        // a reset sets the time back
        let since = self.complete_at.filter(|since| *since <= time).unwrap_or(time);
        self.complete_at = Some(since);
        if time - since < POSITIONING && self.ordered_at.is_none() {
            return Phase::Positioning;
        }
        self.ordered_at.get_or_insert(time);
        Phase::KickOff
    }
}
