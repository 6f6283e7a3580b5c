//! The ears: sound is cut into utterances, and what was said is told to the puppet.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use puppet::{
    hearing::{AudioSource, RATE, Recogniser, Segmenter, Stopper, Tap, Utterance},
    puppet::{Order, PuppetView},
};

use super::{Line, note, spawn};
use crate::{
    driver::{now, rest_until},
    health::Health,
    processor,
    serve::ServeError,
    session::{
        Beside,
        oz::{Config, Stage},
    },
    sim_thread::{SimHandle, Ticks},
};

const PART: &str = "ears";
const RECOGNISER: &str = "recogniser";
/// Sound that is taken at once: 32 ms.
const CHUNK: usize = 512;
/// Utterances that wait to be recognised. More are not heard: whoever speaks that much is not answered anyway.
const WAITING: usize = 4;
/// After a source has failed, it is tried again after this time.
const RETRY: Duration = Duration::from_secs(3);
/// How often it is looked whether somebody is there.
const GLANCE: Duration = Duration::from_millis(50);

pub(super) fn start(
    config: &Config,
    stage: &Arc<Stage>,
    sim: &SimHandle,
    health: &Health,
) -> Result<Vec<Beside>, ServeError> {
    let source = config.ears.clone();
    if source == AudioSource::None {
        note(health, PART, true, "none, as configured");
        return Ok(Vec::new());
    }
    health.note(PART, true, "resting until somebody listens");
    health.note(RECOGNISER, true, "resting until something is heard");
    let line = Line::open(RECOGNISER, sim, Ticks::Never)?;
    let (cut, utterances) = sync_channel(WAITING);
    let closing = Arc::new(Closing::default());
    let stage = Arc::clone(stage);
    let ear = Ear { source, stage, sim: sim.clone(), health: health.clone(), closing: Arc::clone(&closing), cut };
    let listener = spawn("oz-ears", move || ear.listen()).map_err(ServeError::Thread)?;
    let health = health.clone();
    let recogniser =
        spawn("oz-recogniser", move || recognise(&utterances, line, &health)).map_err(ServeError::Thread)?;
    // a thread that waits for sound is not woken up by the end of the world
    Ok(vec![Beside::with_end(listener, move || closing.close()), Beside::new(recogniser)])
}

/// How a source is ended from another thread.
#[derive(Default)]
struct Closing(Mutex<(bool, Option<Stopper>)>);

impl Closing {
    fn close(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = true;
        if let Some(stopper) = state.1.take() {
            stopper.stop();
        }
    }

    fn is_closed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// From now on this is what is to be ended.
    fn watch(&self, stopper: Stopper) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 {
            stopper.stop();
        } else {
            state.1 = Some(stopper);
        }
    }
}

struct Ear {
    source: AudioSource,
    stage: Arc<Stage>,
    sim: SimHandle,
    health: Health,
    closing: Arc<Closing>,
    cut: SyncSender<Utterance>,
}

/// Why the ears stop listening.
enum Pause {
    /// There is no more to be heard, ever.
    Over,
    /// Nobody looks on any more.
    Alone,
}

impl Ear {
    /// Listens while there are operators, until it is closed, and opens the source again when it fails.
    fn listen(self) {
        while !self.closing.is_closed() && !self.sim.has_ended() {
            if !self.stage.has_operators() {
                rest_until(now() + GLANCE);
                continue;
            }
            let failed = match self.source.open(IpAddr::V4(Ipv4Addr::LOCALHOST)) {
                Ok(tap) => {
                    self.closing.watch(tap.stopper());
                    // a recorder without a microphone ends before it gives any sound
                    if self.source != AudioSource::Microphone {
                        self.report(&tap);
                    }
                    match self.hear(tap) {
                        Ok(Pause::Over) => return,
                        Ok(Pause::Alone) => continue,
                        Err(error) => error.to_string(),
                    }
                }
                Err(error) => error.to_string(),
            };
            note(&self.health, PART, false, format!("{failed}; trying again"));
            let again = now() + RETRY;
            while now() < again && !self.closing.is_closed() {
                rest_until(again.min(now() + GLANCE));
            }
        }
    }

    fn report(&self, tap: &Tap) {
        note(&self.health, PART, true, format!("listening to {}", self.name(tap)));
    }

    fn name(&self, tap: &Tap) -> String {
        match (&self.source, tap.address()) {
            (AudioSource::Tcp { .. }, Some(address)) => format!("tcp {address} (16-bit little-endian mono at 16 kHz)"),
            (AudioSource::File { path }, _) => path.display().to_string(),
            _ => "the microphone".to_owned(),
        }
    }

    /// Takes sound until there is no more.
    fn hear(&self, mut tap: Tap) -> std::io::Result<Pause> {
        let (mut segmenter, mut chunk) = (Segmenter::new(), [0.0; CHUNK]);
        // a file is as long as what it sounds like
        let mut pace = matches!(self.source, AudioSource::File { .. }).then(|| Pace { began: now(), samples: 0 });
        loop {
            let count = tap.read(&mut chunk)?;
            if count == 0 {
                self.pass_on(segmenter.finish());
                return Ok(Pause::Over);
            }
            match &mut pace {
                Some(pace) => pace.keep(count),
                None => self.report(&tap),
            }
            if self.closing.is_closed() {
                return Ok(Pause::Over);
            }
            // a file is played once; a microphone is on only while somebody is there
            if pace.is_none() && !self.stage.has_operators() {
                return Ok(Pause::Alone);
            }
            let is_loud = self.sim.latest().view::<PuppetView>().is_some_and(|view| view.wanted.is_some());
            segmenter.mute(is_loud);
            self.pass_on(segmenter.push(chunk.get(..count).unwrap_or_default()));
        }
    }

    fn pass_on(&self, utterances: impl IntoIterator<Item = Utterance>) {
        for utterance in utterances {
            if self.cut.try_send(utterance).is_err() {
                note(&self.health, RECOGNISER, false, "it does not keep up, and an utterance was lost");
            }
        }
    }
}

/// Plays a file as fast as it sounds.
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

/// Recognises utterances until there are no more. What it takes is loaded with the first one.
fn recognise(utterances: &Receiver<Utterance>, mut line: Line, health: &Health) {
    processor::leave_first();
    let mut loaded = None;
    for utterance in utterances {
        // what was said last is not worth waiting for
        if line.has_ended() {
            return;
        }
        line.read_answers();
        let recogniser = match &mut loaded {
            Some(recogniser) => recogniser,
            None => match Recogniser::load(&puppet::fetched_folder("hearing").unwrap_or_default()) {
                Ok(recogniser) => loaded.insert(recogniser),
                Err(error) => {
                    note(health, RECOGNISER, false, format!("nothing is understood: {error}"));
                    continue;
                }
            },
        };
        match recogniser.recognise(&utterance.samples) {
            Ok(options) => {
                note(health, RECOGNISER, true, "working");
                if !options.is_empty() && !line.tell(Order::Hear(options)) {
                    return;
                }
            }
            Err(error) => note(health, RECOGNISER, false, error.to_string()),
        }
    }
}
