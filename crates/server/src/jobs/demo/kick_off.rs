//! Waits until both teams of a demo are complete and have found their places, then kicks off.

use std::time::Duration;

use soccer::{Game, GameOrder, PlayMode, Side, game::GameView};
use tokio::{
    runtime,
    sync::mpsc::{Receiver, error::TryRecvError},
    time::timeout,
};
use world::{Answer, Command, Snapshot};

use super::{Stage, TEAMS, announce};
use crate::sim_thread::{Delivery, SessionSender, SimHandle, Ticks};

/// Time to find one's place, in simulated s.
const PLACES: f64 = 3.0;
/// A kick-off that was asked for has been carried out after this, in simulated s.
const CARRIED_OUT: f64 = 1.0;
/// How often somebody looks whether the demo is over while the world stands still.
const LOOK: Duration = Duration::from_millis(200);

/// Waits and kicks off; comes back when the game is on or will never be.
pub(super) fn wait(stage: &Stage, sim: &SimHandle, number: u64, players: u8) {
    let outcome = runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(kick_off(stage, sim, number, players)));
    if let Err(reason) = outcome {
        let note = format!("there was no kick-off: {reason}");
        announce(&note);
        stage.note(number, note);
    }
}

async fn kick_off(stage: &Stage, sim: &SimHandle, number: u64, players: u8) -> Result<(), String> {
    let mut snapshots = sim.watch();
    let mut waiting = Waiting::new(TEAMS.len() * usize::from(players));
    let mut session: Option<(SessionSender, Receiver<Delivery>)> = None;
    loop {
        let world = snapshots.borrow_and_update().clone();
        let step = waiting.look(&world)?;
        if let Some((_, answers)) = &mut session {
            heard(answers)?;
        }
        if step == Step::KickOff && session.is_none() {
            let (mut sender, answers) = sim.open(Ticks::Never).map_err(|error| error.to_string())?;
            let order = GameOrder::KickOff(Some(Side::Left));
            sender.send(Command::order::<Game>(order)).map_err(|error| error.to_string())?;
            session = Some((sender, answers));
        }
        let note = match step {
            Step::On => "the game is on".to_owned(),
            Step::KickOff => "kick-off".to_owned(),
            Step::Places => format!("all {} players are there and find their places", waiting.all),
            Step::Coming(there) => format!("{there} of {} players are there", waiting.all),
        };
        if !stage.note(number, note) {
            return Ok(());
        }
        if step == Step::On {
            announce("the game is on");
            return Ok(());
        }
        // without news it is only looked whether the demo is over
        if let Ok(Err(_)) = timeout(LOOK, snapshots.changed()).await {
            return Err("the world has ended".to_owned());
        }
    }
}

/// Whether the order was refused; one that was carried out is not answered.
fn heard(answers: &mut Receiver<Delivery>) -> Result<(), String> {
    match answers.try_recv() {
        Ok(Delivery::Answer(Answer::Refused(refusal))) => Err(refusal.to_string()),
        Err(TryRecvError::Disconnected) => Err("the world has ended".to_owned()),
        _ => Ok(()),
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// So many are there.
    Coming(usize),
    /// All are.
    Places,
    /// It is time.
    KickOff,
    /// Nothing: the game is on.
    On,
}

/// How far it is. Times are in simulated s of the try.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Players of both teams.
    all: usize,
    /// When all were there.
    since: Option<f64>,
    /// Whether the game has not begun yet.
    is_before: bool,
    /// When it was time to kick off.
    asked: Option<f64>,
}

impl Waiting {
    pub(super) fn new(all: usize) -> Self {
        Self { all, since: None, is_before: false, asked: None }
    }

    fn look(&mut self, world: &Snapshot) -> Result<Step, String> {
        let game = world.view::<GameView>().ok_or("there is no soccer game any more")?;
        let is_ours = |side: Side| {
            let [left, right] = &game.teams;
            let team = if side == Side::Left { left } else { right };
            team.as_deref().is_some_and(|team| TEAMS.contains(&team))
        };
        let there = game.players.iter().filter(|(player, _)| is_ours(player.side)).count();
        Ok(self.step(there, game.mode, world.time))
    }

    pub(super) fn step(&mut self, there: usize, mode: PlayMode, time: f64) -> Step {
        // a game that was on before the teams came begins anew; one that had not begun may be begun by anybody
        let is_begun = self.is_before && mode != PlayMode::BeforeKickOff;
        if is_begun || self.asked.is_some_and(|asked| !(0.0..CARRIED_OUT).contains(&(time - asked))) {
            return Step::On;
        }
        self.is_before = mode == PlayMode::BeforeKickOff;
        if there < self.all && self.asked.is_none() {
            self.since = None;
            return Step::Coming(there);
        }
        // a reset lets time begin again
        let since = self.since.filter(|since| *since <= time).unwrap_or(time);
        self.since = Some(since);
        if time - since < PLACES && self.asked.is_none() {
            return Step::Places;
        }
        self.asked.get_or_insert(time);
        Step::KickOff
    }
}
