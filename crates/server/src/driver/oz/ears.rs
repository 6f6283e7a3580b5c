//! The ears: segments audio into utterances, recognises them and reports the result to the puppet.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use puppet::{
    hearing::{AudioSource, AudioStream, RATE, Recogniser, Segmenter, StopHandle, Utterance},
    puppet::{PuppetOrder, PuppetView},
};

use super::{PuppetConnection, Setup, note, spawn};
use session::oz::OperatorPanel;

use crate::{
    cpu_affinity,
    driver::{now, rest_until},
    health::Health,
    protocol::Companion,
    serve::ServeError,
    sim_thread::{SimHandle, Ticks},
};

const PART: &str = "ears";
const RECOGNISER: &str = "recogniser";
/// Samples per read: 32 ms.
const CHUNK: usize = 512;
/// Maximum number of utterances waiting for the recogniser; more are dropped.
const QUEUE: usize = 4;
/// Time until a failed source is opened again.
const RETRY: Duration = Duration::from_secs(3);
/// How often the presence of an operator is checked.
const POLL: Duration = Duration::from_millis(50);

pub(super) fn start(Setup { config, panel, sim, health, .. }: Setup<'_>) -> Result<Vec<Companion>, ServeError> {
    let source = config.ears.clone();
    if source == AudioSource::None {
        note(health, PART, true, "none, as configured");
        return Ok(Vec::new());
    }
    health.note(PART, true, "idle until an operator connects");
    health.note(RECOGNISER, true, "idle until something is heard");
    let puppet = PuppetConnection::open(RECOGNISER, sim, Ticks::Never)?;
    let (queue, utterances) = sync_channel(QUEUE);
    let closing = Arc::new(Closing::default());
    let panel = Arc::clone(panel);
    let ear = Ear { source, panel, sim: sim.clone(), health: health.clone(), closing: Arc::clone(&closing), queue };
    let listener = spawn("oz-ears", move || ear.listen()).map_err(ServeError::Thread)?;
    let health = health.clone();
    let recogniser =
        spawn("oz-recogniser", move || recognise(&utterances, puppet, &health)).map_err(ServeError::Thread)?;
    // a thread that waits for audio does not notice that the world has ended
    Ok(vec![Companion::with_stop(listener, move || closing.close()), Companion::new(recogniser)])
}

/// Closes the audio stream from another thread.
#[derive(Default)]
struct Closing(Mutex<ClosingState>);

#[derive(Default)]
struct ClosingState {
    is_closed: bool,
    stream: Option<StopHandle>,
}

impl Closing {
    fn close(&self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        if let Some(stream) = state.stream.take() {
            stream.stop();
        }
    }

    fn is_closed(&self) -> bool {
        self.0.lock().is_closed
    }

    /// Sets the stream that [`close`](Self::close) stops. Stops it at once if it is closed already.
    fn watch(&self, stream: StopHandle) {
        let mut state = self.0.lock();
        if state.is_closed {
            stream.stop();
        } else {
            state.stream = Some(stream);
        }
    }
}

struct Ear {
    source: AudioSource,
    panel: Arc<OperatorPanel>,
    sim: SimHandle,
    health: Health,
    closing: Arc<Closing>,
    queue: SyncSender<Utterance>,
}

/// Why listening stopped.
enum Pause {
    /// The source has ended for good.
    Ended,
    /// No operator is connected any more.
    NoOperators,
}

impl Ear {
    /// Listens while operators are connected, and reopens the source when it fails. Returns once closed.
    fn listen(self) {
        while !self.closing.is_closed() && !self.sim.has_ended() {
            if !self.panel.has_operators() {
                rest_until(now() + POLL);
                continue;
            }
            let failed = match self.source.open(IpAddr::V4(Ipv4Addr::LOCALHOST)) {
                Ok(stream) => {
                    self.closing.watch(stream.stop_handle());
                    // a recorder without a microphone exits before it delivers audio
                    if self.source != AudioSource::Microphone {
                        self.report(&stream);
                    }
                    match self.hear(stream) {
                        Ok(Pause::Ended) => return,
                        Ok(Pause::NoOperators) => continue,
                        Err(error) => error.to_string(),
                    }
                }
                Err(error) => error.to_string(),
            };
            note(&self.health, PART, false, format!("{failed}; retrying"));
            let retry = now() + RETRY;
            while now() < retry && !self.closing.is_closed() {
                rest_until(retry.min(now() + POLL));
            }
        }
    }

    fn report(&self, stream: &AudioStream) {
        note(&self.health, PART, true, format!("listening to {}", self.name(stream)));
    }

    fn name(&self, stream: &AudioStream) -> String {
        match (&self.source, stream.address()) {
            (AudioSource::Tcp { .. }, Some(address)) => format!("tcp {address} (16-bit little-endian mono at 16 kHz)"),
            (AudioSource::File { path }, _) => path.display().to_string(),
            _ => "the microphone".to_owned(),
        }
    }

    /// Segments the stream until it ends or the last operator leaves.
    fn hear(&self, mut stream: AudioStream) -> std::io::Result<Pause> {
        let (mut segmenter, mut chunk) = (Segmenter::new(), [0.0; CHUNK]);
        // a file is played in real time
        let mut pace = matches!(self.source, AudioSource::File { .. }).then(|| Pace { began: now(), samples: 0 });
        loop {
            let count = stream.read(&mut chunk)?;
            if count == 0 {
                self.pass_on(segmenter.finish());
                return Ok(Pause::Ended);
            }
            match &mut pace {
                Some(pace) => pace.keep(count),
                None => self.report(&stream),
            }
            if self.closing.is_closed() {
                return Ok(Pause::Ended);
            }
            // a file is played once; a microphone is open only while an operator is connected
            if pace.is_none() && !self.panel.has_operators() {
                return Ok(Pause::NoOperators);
            }
            let is_speaking = self.sim.latest().view::<PuppetView>().is_some_and(|view| view.speech_request.is_some());
            segmenter.mute(is_speaking);
            self.pass_on(segmenter.push(chunk.get(..count).unwrap_or_default()));
        }
    }

    fn pass_on(&self, utterances: impl IntoIterator<Item = Utterance>) {
        for utterance in utterances {
            if self.queue.try_send(utterance).is_err() {
                note(&self.health, RECOGNISER, false, "too slow: an utterance was dropped");
            }
        }
    }
}

/// Delays the audio of a file to real time.
struct Pace {
    began: Instant,
    samples: u64,
}

impl Pace {
    fn keep(&mut self, count: usize) {
        self.samples += count as u64;
        rest_until(self.began + Duration::from_secs_f64(self.samples as f64 / f64::from(RATE)));
    }
}

/// Recognises utterances until the channel is closed. Loads the models with the first one.
fn recognise(utterances: &Receiver<Utterance>, mut puppet: PuppetConnection, health: &Health) {
    cpu_affinity::avoid_first();
    let mut loaded = None;
    for utterance in utterances {
        // the rest of the queue no longer matters
        if puppet.has_ended() {
            return;
        }
        puppet.drain_answers();
        let recogniser = match &mut loaded {
            Some(recogniser) => recogniser,
            None => match Recogniser::load(&puppet::fetched_folder("hearing").unwrap_or_default()) {
                Ok(recogniser) => loaded.insert(recogniser),
                Err(error) => {
                    note(health, RECOGNISER, false, format!("speech recognition is not available: {error}"));
                    continue;
                }
            },
        };
        match recogniser.recognise(&utterance.samples) {
            Ok(options) => {
                note(health, RECOGNISER, true, "working");
                if !options.is_empty() && !puppet.send(PuppetOrder::Hear(options)) {
                    return;
                }
            }
            Err(error) => note(health, RECOGNISER, false, error.to_string()),
        }
    }
}
