//! A thread that reads a video or camera and keeps only the newest frame.

use std::{
    io,
    sync::Arc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use puppet::camera::{Image, StopHandle, Video};

use super::spawn;
use crate::driver::now;

/// A camera that delivers no frame for this long is opened again.
const STALL: Duration = Duration::from_secs(5);

/// What the reading thread shares with its owner.
#[derive(Default)]
struct Shared {
    newest: Option<Image>,
    error: Option<String>,
}

/// Reads a video or camera on its own thread, until it is dropped.
pub(super) struct FrameGrabber {
    shared: Arc<Mutex<Shared>>,
    stop_handle: StopHandle,
    thread: Option<JoinHandle<()>>,
    /// When the last frame was taken.
    last: Instant,
}

impl FrameGrabber {
    /// Starts reading frames of this size.
    pub(super) fn start(mut video: Video, width: usize, height: usize) -> io::Result<Self> {
        let (shared, stop_handle) = (Arc::new(Mutex::new(Shared::default())), video.stop_handle());
        let writer = Arc::clone(&shared);
        let run = move || loop {
            let mut image = Image::new(width, height);
            let read = video.next(&mut image);
            let mut shared = writer.lock();
            match read {
                Ok(()) => shared.newest = Some(image),
                Err(error) => {
                    shared.error = Some(error.to_string());
                    return;
                }
            }
        };
        Ok(Self { shared, stop_handle, thread: Some(spawn("oz-video", run)?), last: now() })
    }

    /// The newest frame, unless it has been taken. An error is final.
    pub(super) fn take(&mut self) -> Result<Option<Image>, String> {
        let mut shared = self.shared.lock();
        if let Some(image) = shared.newest.take() {
            self.last = now();
            return Ok(Some(image));
        }
        if let Some(error) = shared.error.take() {
            return Err(error);
        }
        let waited = now().duration_since(self.last);
        if waited > STALL { Err(format!("no image for {} s", waited.as_secs())) } else { Ok(None) }
    }
}

impl Drop for FrameGrabber {
    fn drop(&mut self) {
        self.stop_handle.stop();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!(protocol = "oz", "the video thread panicked");
        }
    }
}
