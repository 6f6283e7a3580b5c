//! The voice: synthesises and plays the puppet's phrases, and sends it their timing.

use std::{
    ffi::OsString,
    sync::Arc,
    time::{Duration, Instant},
};

use puppet::{
    puppet::{PuppetOrder, PuppetRefusal, PuppetView},
    speech::{
        SilentVoice, SpokenPhrase, Voice,
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
            puppet,
            panel,
            health,
            current: None,
            began: now(),
            ends: now(),
        };
        speaker.run();
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
    puppet: PuppetConnection,
    /// Distributes the audio to browsers.
    panel: Arc<OperatorPanel>,
    health: Health,
    /// Text and phrase that are being spoken.
    current: Option<(u64, usize)>,
    began: Instant,
    /// End of the audio of the current phrase.
    ends: Instant,
}

impl Speaker {
    /// Speaks until the world ends.
    fn run(&mut self) {
        while let Some(delivery) = self.puppet.next() {
            match delivery {
                Delivery::Tick(snapshot) => {
                    let Some(view) = snapshot.view::<PuppetView>() else { continue };
                    if let Err(error) = self.sink.check() {
                        note(&self.health, LOUDSPEAKER, false, error.to_string());
                    }
                    if !self.handle_request(view.speech_request.as_ref()) {
                        break;
                    }
                }
                // the answer was late; another phrase may have been requested already
                Delivery::Answer(Answer::Refused(refusal)) => {
                    if let Some(&PuppetRefusal::TooLate { speech, phrase }) = refusal.by_director()
                        && self.current == Some((speech, phrase))
                    {
                        self.fall_silent();
                    }
                }
                Delivery::Answer(_) => {}
            }
        }
        self.fall_silent();
    }

    /// Handles a change of the requested phrase. Returns false if the world has ended.
    fn handle_request(&mut self, request: Option<&SpeechRequest>) -> bool {
        let next = request.map(|request| (request.speech, request.phrase));
        if next == self.current {
            return true;
        }
        let continues = matches!((self.current, next), (Some((before, _)), Some((now, _))) if before == now);
        if !continues {
            self.fall_silent();
        }
        self.current = next;
        let Some(request) = request.filter(|request| !request.content.text.is_empty()) else { return true };
        let SpokenPhrase { timeline, rate, samples } = self.synthesise(request);
        let (speech, phrase) = (request.speech, request.phrase);
        self.ends = now() + Duration::from_secs_f32(timeline.seconds.max(0.0));
        if !self.puppet.send(PuppetOrder::Say { speech, phrase, timeline }) {
            return false;
        }
        if !samples.is_empty() {
            match self.sink.start(rate, &samples, now().duration_since(self.began).as_secs_f64()) {
                Err(error) => note(&self.health, LOUDSPEAKER, false, error.to_string()),
                Ok(()) => self.report_sink(),
            }
            self.panel.sound(!continues, rate, samples.into());
        }
        true
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

    /// Stops the audio, unless it is about to end by itself; the loudspeaker has some latency.
    fn fall_silent(&mut self) {
        if self.ends < now() + NEARLY_DONE {
            return;
        }
        self.ends = now();
        self.panel.sound(true, 0, Arc::default());
        if let Err(error) = self.sink.stop(now().duration_since(self.began).as_secs_f64()) {
            warn!(protocol = "oz", part = PART, "failed to stop the audio: {error}");
        }
    }
}
