//! The thread that compiles models, so that ticks go on while robots come and go.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
    thread,
};

use world::structure::{Blueprint, BuildError, Structure};

use super::{Message, handoff::Handoff, sim_loop::SimLoop};

/// Starts the thread. It builds one blueprint after the other and puts the results into the inbox; it ends with the
/// returned sender.
pub(super) fn start(inbox: SyncSender<Message>, handoff: Arc<Handoff<SimLoop>>) -> io::Result<SyncSender<Blueprint>> {
    let (blueprints, received) = sync_channel::<Blueprint>(1);
    thread::Builder::new().name("builder".into()).spawn(move || {
        for blueprint in received {
            // blocks while the inbox is full, which is fine here
            if inbox.send(Message::Built(Box::new(catch_panic(|| blueprint.build())))).is_err() {
                break;
            }
            handoff.wake();
        }
    })?;
    Ok(blueprints)
}

/// Turns a panic of `build` into an error, so that later builds still run.
pub(super) fn catch_panic(build: impl FnOnce() -> Result<Structure, BuildError>) -> Result<Structure, BuildError> {
    // a build consumes its blueprint: no half-done state survives
    catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(BuildError::Panicked { message })
    })
}
