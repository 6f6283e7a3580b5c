use parking_lot::Mutex;
use puppet::speech::{Phrase, Timeline, VoiceError, sink::SinkError};

use super::*;

/// Samples per second of the test voice.
const RATE: u32 = 1_000;
/// Length of each of its phrases.
const LENGTH: Duration = Duration::from_secs(2);

/// Time that it takes to synthesise one.
const SYNTHESIS: Duration = Duration::from_millis(10);

type Clock = Arc<Mutex<Instant>>;

/// A voice whose samples show the settings: 100 for the full volume at the natural pitch.
struct TestVoice(Clock);

impl Voice for TestVoice {
    fn synthesise(&mut self, _: &Phrase, settings: VoiceSettings) -> Result<SpokenPhrase, VoiceError> {
        *self.0.lock() += SYNTHESIS;
        let sample = (100.0 * settings.volume * settings.pitch) as i16;
        // at another pitch a phrase may take a little longer
        let samples = (LENGTH.as_secs_f32() * RATE as f32) as usize + if settings.pitch == 1.0 { 0 } else { 50 };
        let timeline = Timeline { seconds: samples as f32 / RATE as f32, ..Timeline::default() };
        Ok(SpokenPhrase { timeline, rate: RATE, samples: vec![sample; samples] })
    }

    fn name(&self) -> String {
        "test".to_owned()
    }
}

/// What a sink was asked to do: the time in ms, and what it plays from then on.
#[derive(Debug, PartialEq)]
enum Heard {
    /// Value and number of the samples.
    Start(u64, i16, usize),
    Stop(u64),
}

#[derive(Clone, Default)]
struct TestSink(Arc<Mutex<Vec<Heard>>>);

impl TestSink {
    fn add(&self, heard: Heard) -> Result<(), SinkError> {
        self.0.lock().push(heard);
        Ok(())
    }

    fn take(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl Sink for TestSink {
    fn start(&mut self, rate: u32, samples: &[i16], now: f64) -> Result<(), SinkError> {
        assert_eq!(rate, RATE);
        self.add(Heard::Start((1e3 * now).round() as u64, samples[0], samples.len()))
    }

    fn stop(&mut self, now: f64) -> Result<(), SinkError> {
        self.add(Heard::Stop((1e3 * now).round() as u64))
    }
}

struct Harness {
    speaker: Speaker,
    clock: Clock,
    sink: TestSink,
    sounds: Arc<OperatorPanel>,
}

impl Harness {
    fn new() -> Self {
        let (sink, sounds) = (TestSink::default(), Arc::<OperatorPanel>::default());
        let epoch = now();
        let clock = Arc::new(Mutex::new(epoch));
        let time = Arc::clone(&clock);
        let speaker = Speaker {
            voice: Box::new(TestVoice(Arc::clone(&clock))),
            voice_state: Ok(String::new()),
            sink: Box::new(sink.clone()),
            sink_state: Ok(String::new()),
            has_spoken: false,
            panel: Arc::clone(&sounds),
            health: Health::default(),
            now: Box::new(move || *time.lock()),
            epoch,
            current: None,
        };
        Self { speaker, clock, sink, sounds }
    }

    fn wait_until(&mut self, seconds: f64) {
        *self.clock.lock() = self.speaker.epoch + Duration::from_secs_f64(seconds);
    }

    /// Requests something `seconds` after the start. Returns the answer, and what is heard from then on.
    fn request(&mut self, seconds: f64, request: Option<&SpeechRequest>) -> (Option<PuppetOrder>, Vec<Heard>) {
        self.wait_until(seconds);
        let answer = self.speaker.handle_request(request);
        (answer, self.sink.take())
    }

    /// The same, for a request that is not new.
    fn repeat(&mut self, seconds: f64, request: &SpeechRequest) -> Vec<Heard> {
        let (answer, heard) = self.request(seconds, Some(request));
        assert_eq!(answer, None, "each request is answered once");
        heard
    }
}

fn request(speech: u64, phrase: usize, volume: f32, pitch: f32) -> SpeechRequest {
    let content = Arc::new(Phrase { text: "Hello".to_owned(), marks: Vec::new() });
    SpeechRequest { speech, phrase, content, settings: VoiceSettings { volume, pitch, voice: 0 } }
}

#[test]
fn a_phrase_is_heard_at_once_and_answered_with_its_length() {
    let mut harness = Harness::new();
    assert_eq!(harness.request(0.5, None), (None, vec![]));
    let (answer, heard) = harness.request(1.0, Some(&request(3, 0, 1.0, 1.0)));
    assert_eq!(heard, [Heard::Start(1_010, 100, 2_000)]);
    let Some(PuppetOrder::Say { speech: 3, phrase: 0, timeline }) = answer else { panic!("{answer:?}") };
    assert_eq!(timeline.seconds, 2.0, "the end of the sound");
    assert_eq!(harness.repeat(1.5, &request(3, 0, 1.0, 1.0)), []);
    // the next phrase and the next text have the settings of their time
    assert_eq!(harness.request(3.25, Some(&request(3, 1, 0.5, 1.0))).1, [Heard::Start(3_260, 50, 2_000)]);
    assert_eq!(harness.request(5.5, Some(&request(4, 0, 0.5, 2.0))).1, [Heard::Start(5_510, 100, 2_050)]);
}

#[test]
fn volume_and_pitch_change_within_a_phrase() {
    let mut harness = Harness::new();
    assert_eq!(harness.request(0.0, Some(&request(0, 0, 1.0, 1.0))).1, [Heard::Start(10, 100, 2_000)]);
    // 0.5 s of it have been heard when the rest is there
    assert_eq!(harness.repeat(0.5, &request(0, 0, 0.0, 1.0)), [Heard::Stop(510), Heard::Start(510, 0, 1_500)]);
    // a slider that moves interrupts the sound a few times per second only, and its last position counts
    assert_eq!(harness.repeat(0.6, &request(0, 0, 0.2, 1.0)), []);
    assert_eq!(harness.repeat(0.7, &request(0, 0, 0.3, 1.0)), [Heard::Stop(710), Heard::Start(710, 30, 1_300)]);
    assert_eq!(harness.repeat(0.9, &request(0, 0, 0.3, 1.0)), [], "nothing has changed");
    // at another pitch it ends at the same time, which is when the puppet reports it
    assert_eq!(harness.repeat(1.0, &request(0, 0, 0.5, 2.0)), [Heard::Stop(1_010), Heard::Start(1_010, 100, 1_000)]);
    assert_eq!(harness.repeat(1.96, &request(0, 0, 1.0, 1.0)), [], "it is about to end");
    let sounds = harness.sounds.sounds_since(0);
    let heard: Vec<_> = sounds.iter().map(|sound| (sound.cuts, sound.samples.len())).collect();
    let expected = [(true, 2_000), (true, 0), (true, 1_500), (true, 0), (true, 1_300), (true, 0), (true, 1_000)];
    assert_eq!(heard, expected, "browsers hear the same");
}

#[test]
fn a_reset_stops_the_sound_within_a_phrase() {
    let mut harness = Harness::new();
    harness.request(0.0, Some(&request(0, 0, 1.0, 1.0)));
    assert_eq!(harness.request(0.25, None), (None, vec![Heard::Stop(250)]));
    assert_eq!(harness.request(0.5, None), (None, vec![]), "once");
    harness.request(1.0, Some(&request(1, 0, 1.0, 1.0)));
    assert_eq!(harness.request(2.98, None), (None, vec![]), "it is about to end by itself");
    // one text is aborted and another one begins in the same tick
    harness.request(4.0, Some(&request(2, 0, 1.0, 1.0)));
    let (_, heard) = harness.request(5.0, Some(&request(3, 0, 1.0, 1.0)));
    assert_eq!(heard, [Heard::Stop(5_000), Heard::Start(5_010, 100, 2_000)]);
}

#[test]
fn an_answer_that_came_too_late_is_not_heard() {
    let mut harness = Harness::new();
    harness.request(0.0, Some(&request(0, 0, 1.0, 1.0)));
    harness.wait_until(0.25);
    harness.speaker.give_up(0, 1);
    assert_eq!(harness.sink.take(), [], "another phrase");
    harness.speaker.give_up(0, 0);
    assert_eq!(harness.sink.take(), [Heard::Stop(250)]);
}
