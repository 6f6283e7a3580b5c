//! The voice: synthesises and plays the puppet's phrases, and sends it their timing.

use std::{
    ffi::OsString,
    sync::Arc,
    time::{Duration, Instant},
};

use puppet::{
    puppet::{PuppetOrder, PuppetRefusal, PuppetView},
    speech::{
        SilentVoice, SpokenPhrase, Voice, VoiceSettings,
        espeak::Espeak,
        find_espeak,
        sink::{AudioOutput, MuteSink, Sink},
    },
    talk::SpeechRequest,
};
use support::output_file::Existing;
use tracing::{info, warn};
use world::Answer;

use super::{PuppetConnection, Setup, note, thread};
use session::oz::OperatorPanel;

use crate::{
    cpu_affinity,
    driver::now,
    health::Health,
    protocol::{Companion, oz::VoiceConfig},
    serve::ServeError,
    sim_thread::{Delivery, Ticks},
};

const PART: &str = "voice";
const LOUDSPEAKER: &str = "loudspeaker";
/// Timeout for synthesising a phrase. Two attempts must fit into the puppet's timeout for the voice.
const DEADLINE: Duration = Duration::from_millis(1_200);
/// Suspension of an engine that fails repeatedly.
const SUSPENSION: Duration = Duration::from_secs(10);
/// A phrase with at most this much time left is not stopped.
const NEARLY_DONE: Duration = Duration::from_millis(60);
/// Shortest time between two changes of volume, pitch or voice within a phrase: each interrupts the sound for a moment.
const SETTLE: Duration = Duration::from_millis(150);

/// The hidden subcommand of this program that runs the speech engine.
pub const HELPER: &str = "speak-for-oz";

pub(super) fn start(Setup { config, panel, sim, health, existing }: Setup<'_>) -> Result<Companion, ServeError> {
    let puppet = PuppetConnection::open(PART, sim, Ticks::WhenFree)?;
    let (config, panel, health) = (config.clone(), Arc::clone(panel), health.clone());
    thread("oz-voice", move || {
        // inherited by the engine's process
        cpu_affinity::avoid_first();
        let (voice, voice_state) = find_voice(config.voice);
        let (sink, sink_state) = open_sink(&config.sound, existing);
        // logged only when the robot first speaks
        for (part, state) in [(PART, &voice_state), (LOUDSPEAKER, &sink_state)] {
            let (Ok(text) | Err(text)) = state;
            health.note(part, state.is_ok(), text.clone());
        }
        let mut speaker = Speaker {
            voice,
            voice_state,
            sink,
            sink_state,
            has_spoken: false,
            panel,
            health,
            now: Box::new(now),
            epoch: now(),
            current: None,
        };
        speaker.run(puppet);
    })
}

/// The best available voice, and its state or the reason why it is silent.
fn find_voice(config: VoiceConfig) -> (Box<dyn Voice>, Result<String, String>) {
    if config == VoiceConfig::Silent {
        return (Box::new(SilentVoice), Ok("silent, as configured".to_owned()));
    }
    let missing = "espeak-ng not found, the robot is silent; run scripts/fetch-puppet voice, or install libespeak-ng1";
    match (find_espeak(), std::env::current_exe()) {
        (Some((library, data)), Ok(program)) => {
            let command = [program.into_os_string(), OsString::from(HELPER), library.into(), data.into()];
            let voice = Espeak::new(command.to_vec()).with_times(DEADLINE, SUSPENSION);
            let name = voice.name();
            (Box::new(voice), Ok(name))
        }
        (None, _) => (Box::new(SilentVoice), Err(missing.to_owned())),
        (_, Err(error)) => {
            (Box::new(SilentVoice), Err(format!("failed to determine the path of this program: {error}")))
        }
    }
}

/// Opens the audio output, and describes its state or the reason why it is muted.
fn open_sink(output: &AudioOutput, existing: Existing) -> (Box<dyn Sink>, Result<String, String>) {
    let state = match output {
        AudioOutput::None => "none, as configured".to_owned(),
        AudioOutput::Speaker => "the default device".to_owned(),
        AudioOutput::File(path) => format!("the file {}", path.display()),
    };
    match output.open(existing) {
        Ok(sink) => (sink, Ok(state)),
        Err(error) => (Box::new(MuteSink), Err(error.to_string())),
    }
}

struct Speaker {
    voice: Box<dyn Voice>,
    voice_state: Result<String, String>,
    sink: Box<dyn Sink>,
    sink_state: Result<String, String>,
    has_spoken: bool,
    /// Distributes the audio to browsers.
    panel: Arc<OperatorPanel>,
    health: Health,
    /// The clock, and the zero of the sink's time.
    now: Box<dyn Fn() -> Instant + Send>,
    epoch: Instant,
    current: Option<Playing>,
}

/// The phrase that is being spoken.
#[derive(Debug)]
struct Playing {
    /// Number of the text.
    speech: u64,
    /// Index of the phrase in the text.
    phrase: usize,
    settings: VoiceSettings,
    began: Instant,
    ends: Instant,
    /// When it was first heard with these settings.
    changed: Instant,
}

impl Playing {
    fn is(&self, request: &SpeechRequest) -> bool {
        (self.speech, self.phrase) == (request.speech, request.phrase)
    }

    /// Whether there is sound left that would have to be stopped.
    fn sounds(&self, now: Instant) -> bool {
        now + NEARLY_DONE < self.ends
    }
}

impl Speaker {
    /// Speaks until the world ends.
    fn run(&mut self, mut puppet: PuppetConnection) {
        while let Some(delivery) = puppet.next() {
            match delivery {
                Delivery::Tick(snapshot) => {
                    let Some(view) = snapshot.view::<PuppetView>() else { continue };
                    if let Err(error) = self.sink.check() {
                        note(&self.health, LOUDSPEAKER, false, error.to_string());
                    }
                    let order = self.handle_request(view.speech_request.as_ref());
                    if order.is_some_and(|order| !puppet.send(order)) {
                        break;
                    }
                }
                // the answer was late; another phrase may have been requested already
                Delivery::Answer(Answer::Refused(refusal)) => {
                    if let Some(&PuppetRefusal::TooLate { speech, phrase }) = refusal.by_director() {
                        self.give_up(speech, phrase);
                    }
                }
                Delivery::Answer(_) => {}
            }
        }
        self.fall_silent();
    }

    /// Speaks what is requested. Returns the answer to a new request.
    fn handle_request(&mut self, request: Option<&SpeechRequest>) -> Option<PuppetOrder> {
        if let (Some(current), Some(request)) = (&self.current, request)
            && current.is(request)
        {
            let now = (self.now)();
            if current.settings != request.settings && current.sounds(now) && now >= current.changed + SETTLE {
                self.change(request);
            }
            return None;
        }
        let continues = matches!((&self.current, request), (Some(before), Some(now)) if before.speech == now.speech);
        if !continues {
            self.fall_silent();
        }
        self.current = None;
        let request = request?;
        // the puppet does not wait for a phrase without words
        let spoken = (!request.content.text.is_empty()).then(|| self.synthesise(request));
        let (speech, phrase, settings, now) = (request.speech, request.phrase, request.settings, (self.now)());
        let seconds = spoken.as_ref().map_or(0.0, |spoken| spoken.timeline.seconds.max(0.0));
        let ends = now + Duration::from_secs_f32(seconds);
        self.current = Some(Playing { speech, phrase, settings, began: now, ends, changed: now });
        let SpokenPhrase { timeline, rate, samples } = spoken?;
        self.play(!continues, rate, samples, now);
        Some(PuppetOrder::Say { speech, phrase, timeline })
    }

    /// Speaks the rest of the current phrase with other settings. It still ends when the puppet expects it.
    fn change(&mut self, request: &SpeechRequest) {
        let SpokenPhrase { rate, samples, .. } = self.synthesise(request);
        let now = (self.now)();
        let Some(current) = &mut self.current else { return };
        (current.settings, current.changed) = (request.settings, now);
        let sample = |at: Instant| (at.duration_since(current.began).as_secs_f64() * f64::from(rate)) as usize;
        let end = sample(current.ends).min(samples.len());
        let rest = samples.get(sample(now)..end).unwrap_or_default().to_vec();
        self.stop(now);
        self.play(true, rate, rest, now);
    }

    /// Starts the sound of a phrase, if it has any; `cuts` interrupts the one before in browsers.
    fn play(&mut self, cuts: bool, rate: u32, samples: Vec<i16>, now: Instant) {
        if samples.is_empty() {
            return;
        }
        match self.sink.start(rate, &samples, self.clock(now)) {
            Err(error) => note(&self.health, LOUDSPEAKER, false, error.to_string()),
            Ok(()) => self.report_sink(),
        }
        self.panel.sound(cuts, rate, samples.into());
    }

    fn clock(&self, now: Instant) -> f64 {
        now.duration_since(self.epoch).as_secs_f64()
    }

    /// Synthesises a phrase; a silent one if the voice fails.
    fn synthesise(&mut self, request: &SpeechRequest) -> SpokenPhrase {
        if !std::mem::replace(&mut self.has_spoken, true) {
            for (part, state) in [(PART, &self.voice_state), (LOUDSPEAKER, &self.sink_state)] {
                match state {
                    Ok(state) => info!(protocol = "oz", part, "{state}"),
                    Err(state) => warn!(protocol = "oz", part, "{state}"),
                }
            }
        }
        match self.voice.synthesise(&request.content, request.settings) {
            Ok(spoken) => {
                self.report(None);
                spoken
            }
            Err(error) => {
                self.report(Some(error.to_string()));
                let timeline = puppet::speech::silent_timeline(&request.content);
                SpokenPhrase { timeline, rate: 0, samples: Vec::new() }
            }
        }
    }

    fn report_sink(&self) {
        if let Ok(state) = &self.sink_state {
            note(&self.health, LOUDSPEAKER, true, state.clone());
        }
    }

    fn report(&self, failure: Option<String>) {
        match (failure, &self.voice_state) {
            (Some(failure), _) => note(&self.health, PART, false, format!("{failure}; the robot is silent")),
            (None, Ok(state)) => note(&self.health, PART, true, state.clone()),
            (None, Err(state)) => note(&self.health, PART, false, state.clone()),
        }
    }

    /// The puppet does not wait for this phrase any more.
    fn give_up(&mut self, speech: u64, phrase: usize) {
        if self.current.as_ref().is_some_and(|current| (current.speech, current.phrase) == (speech, phrase)) {
            self.fall_silent();
        }
    }

    /// Stops the audio, unless it is about to end by itself; the loudspeaker has some latency.
    fn fall_silent(&mut self) {
        let now = (self.now)();
        if let Some(current) = &mut self.current
            && current.sounds(now)
        {
            current.ends = now;
            self.stop(now);
        }
    }

    fn stop(&mut self, now: Instant) {
        self.panel.sound(true, 0, Arc::default());
        if let Err(error) = self.sink.stop(self.clock(now)) {
            warn!(protocol = "oz", part = PART, "failed to stop the audio: {error}");
        }
    }
}

#[cfg(test)]
mod tests;
