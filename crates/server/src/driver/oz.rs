//! The robot's parts that work beside the world: voice, ears and eyes.
//!
//! Each has threads of its own, and knows the world as a session without a socket does: it looks at snapshots and gives
//! orders to the puppet, which are recorded like an operator's. The world never waits for them.
//!
//! ```text
//! view.wanted --> voice (espeak-ng in a process) --> PuppetOrder::Say, loudspeaker
//! microphone  --> ears (cut into utterances, recognised) --> PuppetOrder::Hear
//! scene, film --> eyes (picture, JPEG) --> operators
//!                   `--> faces (found, followed, named) --> PuppetOrder::See
//! ```

mod ears;
mod eyes;
mod frame_grabber;

mod voice;

pub use self::voice::HELPER;

use std::{io, sync::Arc, thread};

use puppet::{
    director::PuppetDirector,
    puppet::{AttributedOrder, PuppetOrder},
};
use tokio::sync::mpsc;
use world::{Answer, Command};

use crate::{
    health::Health,
    serve::ServeError,
    session::{
        Beside,
        oz::{Config, Stage},
    },
    sim_thread::{Delivery, SendError, SessionSender, SimHandle, Ticks},
};

/// Whether a configuration makes sense, before anything is opened.
pub(crate) fn check(config: &Config) -> Result<(), String> {
    if !config.blink.is_finite() {
        return Err("blink is not a number".to_owned());
    }
    eyes::check(config)
}

/// Starts all parts. One that cannot work says so in the log and on the status page; the robot does without it.
pub(crate) fn start(
    config: &Config,
    stage: &Arc<Stage>,
    sim: &SimHandle,
    health: &Health,
) -> Result<Vec<Beside>, ServeError> {
    let mut started = vec![voice::start(config, stage, sim, health)?];
    started.extend(eyes::start(config, stage, sim, health)?);
    started.extend(ears::start(config, stage, sim, health)?);
    Ok(started)
}

/// Starts a thread of a part.
fn thread(name: &'static str, run: impl FnOnce() + Send + 'static) -> Result<Beside, ServeError> {
    spawn(name, run).map(Beside::new).map_err(ServeError::Thread)
}

fn spawn(name: &'static str, run: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(run)
}

/// A part's line to the puppet.
struct Line {
    who: &'static str,
    sim: SessionSender,
    answers: mpsc::Receiver<Delivery>,
}

impl Line {
    fn open(who: &'static str, sim: &SimHandle, ticks: Ticks) -> Result<Self, ServeError> {
        let (sim, answers) = sim.open(ticks)?;
        Ok(Self { who, sim, answers })
    }

    /// Gives an order. False if the world has ended.
    fn tell(&mut self, order: PuppetOrder) -> bool {
        let order = AttributedOrder::new(self.who, order);
        match self.sim.send(Command::order::<PuppetDirector>(order)) {
            Ok(()) => true,
            Err(SendError::Full) => {
                tracing::warn!(protocol = "oz", part = self.who, "{}; something was not told", SendError::Full);
                true
            }
            Err(SendError::Ended) => false,
        }
    }

    /// Whether the world is gone.
    fn has_ended(&self) -> bool {
        self.answers.is_closed()
    }

    /// Waits for the next tick, or for an answer.
    fn next(&mut self) -> Option<Delivery> {
        self.answers.blocking_recv()
    }

    /// Looks through the answers so far; an order that was refused is a mistake of ours or came too late.
    fn read_answers(&mut self) {
        while let Ok(delivery) = self.answers.try_recv() {
            if let Delivery::Answer(Answer::Refused(why)) = delivery {
                tracing::debug!(protocol = "oz", part = self.who, "refused: {why}");
            }
        }
    }
}

/// Says how a part is doing, in the log whenever that changes.
fn note(health: &Health, part: &'static str, works: bool, words: impl Into<String>) {
    let words = words.into();
    if health.note(part, works, words.clone()) {
        if works {
            tracing::info!(protocol = "oz", part, "{words}");
        } else {
            tracing::warn!(protocol = "oz", part, "{words}");
        }
    }
}
