//! Pictures that come when they come: a thread takes them in, and only the newest one counts.

use std::{
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use puppet::camera::{Image, StopHandle, Video};

use super::spawn;
use crate::driver::now;

/// A camera that gives no picture for this long is opened again.
const STALL: Duration = Duration::from_secs(5);

/// What the thread has for whoever looks.
#[derive(Default)]
struct Tray {
    newest: Option<Image>,
    failure: Option<String>,
}

/// A film or a camera that runs. Ends with this.
pub(super) struct Reel {
    tray: Arc<Mutex<Tray>>,
    stopper: StopHandle,
    thread: Option<JoinHandle<()>>,
    /// When the last picture came.
    last: Instant,
}

fn hold(tray: &Mutex<Tray>) -> MutexGuard<'_, Tray> {
    tray.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Reel {
    /// Lets a film run, in pictures of this size.
    pub(super) fn start(mut film: Video, width: usize, height: usize) -> io::Result<Self> {
        let (tray, stopper) = (Arc::new(Mutex::new(Tray::default())), film.stop_handle());
        let shared = Arc::clone(&tray);
        let run = move || loop {
            let mut image = Image::new(width, height);
            let taken = film.next(&mut image);
            let mut tray = hold(&shared);
            match taken {
                Ok(()) => tray.newest = Some(image),
                Err(error) => {
                    tray.failure = Some(error.to_string());
                    return;
                }
            }
        };
        Ok(Self { tray, stopper, thread: Some(spawn("oz-film", run)?), last: now() })
    }

    /// The newest picture, if there is one that has not been taken; or why there are no more.
    pub(super) fn take(&mut self) -> Result<Option<Image>, String> {
        let mut tray = hold(&self.tray);
        if let Some(image) = tray.newest.take() {
            self.last = now();
            return Ok(Some(image));
        }
        if let Some(failure) = tray.failure.take() {
            return Err(failure);
        }
        let waited = now().duration_since(self.last);
        if waited > STALL { Err(format!("no picture for {} s", waited.as_secs())) } else { Ok(None) }
    }
}

impl Drop for Reel {
    fn drop(&mut self) {
        self.stopper.stop();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(protocol = "oz", "the thread that reads a film ended with a panic");
        }
    }
}
