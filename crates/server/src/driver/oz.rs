//! Companion threads of the robot: voice, ears and eyes.
//!
//! Each component has its own threads and accesses the world like a session without a socket: it reads snapshots and sends
//! orders to the puppet, which are recorded like those of an operator. The world never waits for them.
//!
//! ```text
//! speech request --> voice (espeak-ng process) --> PuppetOrder::Say, loudspeaker
//! microphone     --> ears (segmentation, recognition) --> PuppetOrder::Hear
//! scene, video   --> eyes (JPEG images) --> operators
//!                      `--> faces (detection, tracking, recognition) --> PuppetOrder::See
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
use support::output_file::Existing;
use tokio::sync::mpsc;
use world::{Answer, Command};

use session::oz::OperatorPanel;

use crate::{
    health::Health,
    protocol::{Companion, oz::Config},
    serve::ServeError,
    sim_thread::{Delivery, SendError, SessionSender, SimHandle, Ticks},
};

/// Validates a configuration before anything is opened.
pub(crate) fn check(config: &Config) -> Result<(), String> {
    if !config.blink.is_finite() {
        return Err("`blink` is not a finite number".to_owned());
    }
    eyes::check(config)
}

/// Starts all components. A component that fails reports it in the log and on the health page; the robot works without it.
pub(crate) fn start(
    config: &Config,
    panel: &Arc<OperatorPanel>,
    sim: &SimHandle,
    health: &Health,
    existing: Existing,
) -> Result<Vec<Companion>, ServeError> {
    let setup = Setup { config, panel, sim, health, existing };
    let mut started = vec![voice::start(setup)?];
    started.extend(eyes::start(setup)?);
    started.extend(ears::start(setup)?);
    Ok(started)
}

/// What each component is built from.
#[derive(Clone, Copy)]
struct Setup<'a> {
    config: &'a Config,
    panel: &'a Arc<OperatorPanel>,
    sim: &'a SimHandle,
    health: &'a Health,
    /// What happens to a sound file that exists.
    existing: Existing,
}

/// Starts a companion thread.
fn thread(name: &'static str, run: impl FnOnce() + Send + 'static) -> Result<Companion, ServeError> {
    spawn(name, run).map(Companion::new).map_err(ServeError::Thread)
}

fn spawn(name: &'static str, run: impl FnOnce() + Send + 'static) -> io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name(name.to_owned()).spawn(run)
}

/// A component's connection to the puppet.
struct PuppetConnection {
    component: &'static str,
    sim: SessionSender,
    answers: mpsc::Receiver<Delivery>,
}

impl PuppetConnection {
    fn open(component: &'static str, sim: &SimHandle, ticks: Ticks) -> Result<Self, ServeError> {
        let (sim, answers) = sim.open(ticks)?;
        Ok(Self { component, sim, answers })
    }

    /// Sends an order. Returns false if the world has ended.
    fn send(&mut self, order: PuppetOrder) -> bool {
        let order = AttributedOrder::new(self.component, order);
        match self.sim.send(Command::order::<PuppetDirector>(order)) {
            Ok(()) => true,
            Err(SendError::Full) => {
                tracing::warn!(protocol = "oz", part = self.component, "order dropped: {}", SendError::Full);
                true
            }
            Err(SendError::Ended) => false,
        }
    }

    /// Whether the world has ended.
    fn has_ended(&self) -> bool {
        self.answers.is_closed()
    }

    /// Waits for the next tick or answer. `None` if the world has ended.
    fn next(&mut self) -> Option<Delivery> {
        self.answers.blocking_recv()
    }

    /// Discards pending answers and logs refusals.
    fn drain_answers(&mut self) {
        while let Ok(delivery) = self.answers.try_recv() {
            if let Delivery::Answer(Answer::Refused(refusal)) = delivery {
                tracing::debug!(protocol = "oz", part = self.component, %refusal, "order refused");
            }
        }
    }
}

/// Updates the health of a component, and logs changes.
fn note(health: &Health, part: &'static str, works: bool, state: impl Into<String>) {
    let state = state.into();
    if health.note(part, works, state.clone()) {
        if works {
            tracing::info!(protocol = "oz", part, "{state}");
        } else {
            tracing::warn!(protocol = "oz", part, "{state}");
        }
    }
}
