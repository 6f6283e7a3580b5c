//! The voice: says what the puppet wants to say, and tells it the timing.

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
    talk::Wanted,
};
use tracing::{info, warn};
use world::Answer;

use super::{Line, note, thread};
use crate::{
    cpu_affinity,
    driver::now,
    health::Health,
    serve::ServeError,
    session::{
        Beside,
        oz::{Config, Stage, VoiceConfig},
    },
    sim_thread::{Delivery, SimHandle, Ticks},
};

const PART: &str = "voice";
const LOUDSPEAKER: &str = "loudspeaker";
/// How long the engine may take for a phrase. It is tried twice, and both have to fit into the puppet's own patience.
const DEADLINE: Duration = Duration::from_millis(1_200);
/// How long an engine that fails again and again is left alone.
const REST: Duration = Duration::from_secs(10);
/// A phrase that has no more than this left is let finish.
const NEARLY: Duration = Duration::from_millis(60);

/// The subcommand of this program that speaks, with the engine's library and its voices.
pub const HELPER: &str = "speak-for-oz";

pub(super) fn start(
    config: &Config,
    stage: &Arc<Stage>,
    sim: &SimHandle,
    health: &Health,
) -> Result<Beside, ServeError> {
    let line = Line::open(PART, sim, Ticks::WhenFree)?;
    let (config, stage, health) = (config.clone(), Arc::clone(stage), health.clone());
    thread("oz-voice", move || {
        // also for the engine's process, which comes from here
        cpu_affinity::avoid_first();
        let (voice, voice_words) = find_voice(config.voice);
        let (sink, sink_words) = open_sink(&config.sound);
        // for whoever looks; the log is told when somebody wants to hear it
        for (part, words) in [(PART, &voice_words), (LOUDSPEAKER, &sink_words)] {
            let (Ok(text) | Err(text)) = words;
            health.note(part, words.is_ok(), text.clone());
        }
        let mut mouth = Mouth {
            voice,
            voice_words,
            sink,
            sink_words,
            has_spoken: false,
            line,
            stage,
            health,
            saying: None,
            began: now(),
            ends: now(),
        };
        mouth.run();
    })
}

/// The best voice there is, and what to say of it.
fn find_voice(config: VoiceConfig) -> (Box<dyn Voice>, Result<String, String>) {
    if config == VoiceConfig::Silent {
        return (Box::new(SilentVoice), Ok("silent, as configured".to_owned()));
    }
    let missing = "there is no espeak-ng, so the robot moves its mouth in silence; \
                   run scripts/fetch-puppet voice, or install libespeak-ng1";
    match (find_espeak(), std::env::current_exe()) {
        (Some((library, data)), Ok(program)) => {
            let command = [program.into_os_string(), OsString::from(HELPER), library.into(), data.into()];
            let voice = Espeak::new(command.to_vec()).with_times(DEADLINE, REST);
            let name = voice.name();
            (Box::new(voice), Ok(name))
        }
        (None, _) => (Box::new(SilentVoice), Err(missing.to_owned())),
        (_, Err(error)) => (Box::new(SilentVoice), Err(format!("this program cannot find itself: {error}"))),
    }
}

/// Where the voice is heard, and what to say of it.
fn open_sink(output: &AudioOutput) -> (Box<dyn Sink>, Result<String, String>) {
    let words = match output {
        AudioOutput::None => "none, as configured".to_owned(),
        AudioOutput::Speaker => "the default device".to_owned(),
        AudioOutput::File(path) => format!("the file {}", path.display()),
    };
    match output.open() {
        Ok(sink) => (sink, Ok(words)),
        Err(error) => (Box::new(MuteSink), Err(error.to_string())),
    }
}

struct Mouth {
    voice: Box<dyn Voice>,
    voice_words: Result<String, String>,
    sink: Box<dyn Sink>,
    sink_words: Result<String, String>,
    has_spoken: bool,
    line: Line,
    /// Where others listen.
    stage: Arc<Stage>,
    health: Health,
    /// Text and phrase that are being said.
    saying: Option<(u64, usize)>,
    began: Instant,
    /// When the sound of the phrase is over.
    ends: Instant,
}

impl Mouth {
    /// Until the world ends.
    fn run(&mut self) {
        while let Some(delivery) = self.line.next() {
            match delivery {
                Delivery::Tick(snapshot) => {
                    let Some(view) = snapshot.view::<PuppetView>() else { continue };
                    if let Err(error) = self.sink.check() {
                        note(&self.health, LOUDSPEAKER, false, error.to_string());
                    }
                    if !self.attend(view.wanted.as_ref()) {
                        break;
                    }
                }
                // the phrase came too late, or is no longer wanted; another one may be under way already
                Delivery::Answer(Answer::Refused(refusal)) => {
                    if let Some(&PuppetRefusal::TooLate { speech, phrase }) = refusal.by_director()
                        && self.saying == Some((speech, phrase))
                    {
                        self.fall_silent();
                    }
                }
                Delivery::Answer(_) => {}
            }
        }
        self.fall_silent();
    }

    /// Sees to what is wanted. False if the world has ended.
    fn attend(&mut self, wanted: Option<&Wanted>) -> bool {
        let next = wanted.map(|wanted| (wanted.speech, wanted.phrase));
        if next == self.saying {
            return true;
        }
        let goes_on = matches!((self.saying, next), (Some((before, _)), Some((now, _))) if before == now);
        if !goes_on {
            self.fall_silent();
        }
        self.saying = next;
        let Some(wanted) = wanted.filter(|wanted| !wanted.words.text.is_empty()) else { return true };
        let SpokenPhrase { timeline, rate, samples } = self.speak(wanted);
        let (speech, phrase) = (wanted.speech, wanted.phrase);
        self.ends = now() + Duration::from_secs_f32(timeline.seconds.max(0.0));
        if !self.line.tell(PuppetOrder::Say { speech, phrase, timeline }) {
            return false;
        }
        if !samples.is_empty() {
            match self.sink.start(rate, &samples, now().duration_since(self.began).as_secs_f64()) {
                Err(error) => note(&self.health, LOUDSPEAKER, false, error.to_string()),
                Ok(()) => self.report_sink(),
            }
            self.stage.sound(!goes_on, rate, samples.into());
        }
        true
    }

    /// Says a phrase, in silence if the voice fails.
    fn speak(&mut self, wanted: &Wanted) -> SpokenPhrase {
        if !std::mem::replace(&mut self.has_spoken, true) {
            for (part, words) in [(PART, &self.voice_words), (LOUDSPEAKER, &self.sink_words)] {
                match words {
                    Ok(words) => info!(protocol = "oz", part, "{words}"),
                    Err(words) => warn!(protocol = "oz", part, "{words}"),
                }
            }
        }
        match self.voice.synthesise(&wanted.words, wanted.manner) {
            Ok(spoken) => {
                self.report(None);
                spoken
            }
            Err(error) => {
                self.report(Some(error.to_string()));
                let silent = puppet::speech::silent(&wanted.words);
                SpokenPhrase { timeline: silent, rate: 0, samples: Vec::new() }
            }
        }
    }

    fn report_sink(&self) {
        if let Ok(words) = &self.sink_words {
            note(&self.health, LOUDSPEAKER, true, words.clone());
        }
    }

    fn report(&self, failure: Option<String>) {
        match (failure, &self.voice_words) {
            (Some(words), _) => note(&self.health, PART, false, format!("{words}; the mouth moves in silence")),
            (None, Ok(words)) => note(&self.health, PART, true, words.clone()),
            (None, Err(words)) => note(&self.health, PART, false, words.clone()),
        }
    }

    /// Ends the sound, unless it is about to end by itself: a loudspeaker is a little behind.
    fn fall_silent(&mut self) {
        if self.ends < now() + NEARLY {
            return;
        }
        self.ends = now();
        self.stage.sound(true, 0, Arc::default());
        if let Err(error) = self.sink.stop(now().duration_since(self.began).as_secs_f64()) {
            warn!(protocol = "oz", part = PART, "stopping the sound: {error}");
        }
    }
}
