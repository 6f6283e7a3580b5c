//! The puppet: the robot's behaviour, without a world, sockets or a clock.
//!
//! Orders and time steps go in, servo positions and events come out. It is deterministic: the same seed, orders and steps
//! produce the same motion and the same events.

use std::{collections::VecDeque, sync::Arc};

pub use crate::{
    event::{EventLog, KEPT_EVENTS, PuppetEvent, PuppetEventKind, Source},
    order::{AttributedOrder, OrderTextError, PuppetOrder, PuppetRefusal},
};
use crate::{
    faces::Face,
    gaze::{FaceTarget, LOOK_ATS, LookAt, View},
    gesture::Gestures,
    hearing::Hypothesis,
    idle::MAX_BLINKS,
    mixer::{Mixer, Weights},
    servo::{COUNT, Positions},
    speech::{VoiceSettings, script},
    talk::{SpeechEvent, SpeechQueue, SpeechRequest},
};

/// Maximum number of faces in an image, and of hypotheses for an utterance.
pub const MAX_FOUND: usize = 16;
/// Number of ticks for which the direction of the head is kept: more than two seconds, the latency of face detection.
const HEAD_HISTORY: usize = 256;

/// State of a puppet in a snapshot.
#[derive(Clone, Debug)]
pub struct PuppetView {
    /// Recent events.
    pub events: Arc<EventLog>,
    /// Commanded servo positions, 0 to 1.
    pub positions: Positions,
    /// The phrase that the voice has to speak, or is speaking.
    pub speech_request: Option<SpeechRequest>,
    /// Whether a phrase is being spoken.
    pub is_speaking: bool,
    /// Weights of the subsystems.
    pub weights: Weights,
    /// Number of the selected expression.
    pub expression: u32,
    /// Gaze mode.
    pub look_at: LookAt,
    /// Blink rate, per second.
    pub blinks: f32,
    /// Voice, volume and pitch.
    pub voice: VoiceSettings,
    /// Number of gestures that are playing.
    pub gestures: usize,
    /// Faces in view.
    pub faces: Arc<[Face]>,
}

/// Parameters of a puppet.
#[derive(Clone, Debug)]
pub struct PuppetParameters {
    /// Available gestures.
    pub gestures: Gestures,
    /// Blink rate after a reset, per second.
    pub blinks: f32,
    /// Seed of the random motion.
    pub seed: u64,
}

/// The robot's behaviour.
pub struct Puppet {
    gestures: Gestures,
    blinks: f32,
    mixer: Mixer,
    /// The gestures that are playing and who ordered them, oldest first. Of equal gestures the oldest ends first.
    playing: Vec<(u32, Source)>,
    speech: SpeechQueue,
    voice: VoiceSettings,
    faces: Arc<[Face]>,
    /// Recent ticks and the direction of the head.
    head_history: VecDeque<(u64, [f32; 2])>,
    time: f64,
    events: Arc<EventLog>,
}

impl Puppet {
    /// A puppet at rest.
    pub fn new(PuppetParameters { gestures, blinks, seed }: PuppetParameters) -> Self {
        Self {
            gestures,
            blinks,
            mixer: Mixer::new(seed, blinks),
            playing: Vec::new(),
            speech: SpeechQueue::new(),
            voice: VoiceSettings::default(),
            faces: Arc::default(),
            head_history: VecDeque::new(),
            time: 0.0,
            events: Arc::default(),
        }
    }

    /// Restarts at rest with another seed, for a new trial. The end of everything in progress is reported.
    pub fn restart(&mut self, seed: u64) {
        self.reset();
        self.mixer = Mixer::new(seed, self.blinks);
        self.head_history.clear();
    }

    /// The servos are at rest at once: the robot was put back to its start pose.
    pub fn settle(&mut self) {
        self.mixer.settle();
    }

    /// Carries out an order.
    ///
    /// # Errors
    /// A refused order has no effect.
    pub fn apply(&mut self, order: impl Into<AttributedOrder>) -> Result<(), PuppetRefusal> {
        let AttributedOrder { source, order } = order.into();
        match order {
            PuppetOrder::Reset => self.reset(),
            PuppetOrder::Speak(text) => self.speak(&text, source.into())?,
            // the protocol has one voice so far
            PuppetOrder::Voice(0) => self.voice.voice = 0,
            PuppetOrder::Voice(id) => return Err(PuppetRefusal::UnknownVoice { id }),
            PuppetOrder::Volume(volume) => self.voice.volume = finite("the volume", volume)?.clamp(0.0, 1.0),
            PuppetOrder::Pitch(pitch) => self.voice.pitch = finite("the pitch", pitch)?.clamp(0.5, 2.0),
            PuppetOrder::Gesture(id) => self.play(id, source.into())?,
            PuppetOrder::Expression(id) => {
                self.mixer.expression.select(id).then_some(()).ok_or(PuppetRefusal::UnknownExpression { id })?;
            }
            PuppetOrder::LookAt(id) => {
                let mode = usize::try_from(id).ok().and_then(|index| LOOK_ATS.get(index));
                self.mixer.gaze.set_mode(*mode.ok_or(PuppetRefusal::UnknownLookAt { id })?);
            }
            PuppetOrder::Blink(rate) => {
                self.mixer.blink.set_rate(finite("the blink rate", rate)?.clamp(0.0, MAX_BLINKS));
            }
            PuppetOrder::Weigh(subsystem, weight) => {
                *self.mixer.weights.of(subsystem) = finite("a weight", weight)?.clamp(0.0, 1.0);
            }
            PuppetOrder::Servo(id, position) => {
                let position = finite("a position", position)?;
                let servo = usize::try_from(id).unwrap_or(usize::MAX);
                self.mixer.set_direct(servo, position).then_some(()).ok_or(PuppetRefusal::UnknownServo { id })?;
            }
            PuppetOrder::Servos(positions) => self.set_all_direct(&positions)?,
            PuppetOrder::Say { speech, phrase, timeline } => self.speech.start_phrase(speech, phrase, timeline)?,
            PuppetOrder::Hear(options) => self.hear(options)?,
            PuppetOrder::See { tick, span, faces } => self.see(tick, span, faces)?,
        }
        Ok(())
    }

    fn speak(&mut self, text: &str, source: Source) -> Result<(), PuppetRefusal> {
        if self.speech.is_full() {
            return Err(PuppetRefusal::SpeechQueueFull);
        }
        let phrases = script::parse(text, |tag| self.gestures.tagged(tag));
        self.speech.add(phrases, source);
        Ok(())
    }

    fn reset(&mut self) {
        for (speech, source) in self.speech.stop() {
            self.emit(Some(source), PuppetEventKind::SpeakDone(speech));
        }
        for gesture in self.mixer.reset(self.blinks) {
            self.end_gesture(gesture);
        }
        self.voice = VoiceSettings::default();
    }

    fn play(&mut self, id: u32, source: Source) -> Result<(), PuppetRefusal> {
        let gesture = self.gestures.get(id).ok_or(PuppetRefusal::UnknownGesture { id })?;
        self.mixer.play(gesture).then_some(()).ok_or(PuppetRefusal::TooManyGestures)?;
        self.playing.push((id, source));
        Ok(())
    }

    fn end_gesture(&mut self, id: u32) {
        let oldest = self.playing.iter().position(|(playing, _)| *playing == id);
        let source = oldest.map(|oldest| self.playing.remove(oldest).1);
        self.emit(source, PuppetEventKind::GestureDone(id));
    }

    fn set_all_direct(&mut self, positions: &[f32]) -> Result<(), PuppetRefusal> {
        if positions.len() != COUNT {
            return Err(PuppetRefusal::PositionCount { count: positions.len() });
        }
        for &position in positions {
            finite("a position", position)?;
        }
        for (servo, &position) in positions.iter().enumerate() {
            self.mixer.set_direct(servo, position);
        }
        Ok(())
    }

    fn hear(&mut self, mut options: Vec<Hypothesis>) -> Result<(), PuppetRefusal> {
        for option in &options {
            finite("a confidence", option.confidence)?;
        }
        options.truncate(MAX_FOUND);
        if !options.is_empty() {
            self.emit(None, PuppetEventKind::Utterance(options));
        }
        Ok(())
    }

    fn see(&mut self, tick: Option<u64>, span: [f32; 2], mut faces: Vec<Face>) -> Result<(), PuppetRefusal> {
        for number in span.into_iter().chain(faces.iter().flat_map(|f| [f.confidence, f.x, f.y, f.width, f.height])) {
            finite("a coordinate of a face", number)?;
        }
        faces.truncate(MAX_FOUND);
        let then = |tick: u64| self.head_history.iter().rev().find(|(past, _)| *past <= tick).map(|past| past.1);
        let head = tick.map_or([0.0, 0.0], |tick| then(tick).unwrap_or_else(|| self.mixer.head()));
        let target = |face: &Face| FaceTarget {
            // x points to the right of the image, y down
            direction: [head[0] - face.x * span[0] / 2.0, head[1] - face.y * span[1] / 2.0],
            size: face.width * face.height,
        };
        let view = View { center: head, span, turns: tick.is_some() };
        self.mixer.gaze.see(&faces.iter().map(target).collect::<Vec<_>>(), view);
        if !faces.is_empty() || !self.faces.is_empty() {
            // while the simulation is paused events are not delivered, and the latest one is sufficient
            Arc::make_mut(&mut self.events).add_latest(self.time, PuppetEventKind::Faces(faces.clone()));
        }
        self.faces = faces.into();
        Ok(())
    }

    fn emit(&mut self, source: Option<Source>, kind: PuppetEventKind) {
        Arc::make_mut(&mut self.events).add(self.time, source, kind);
    }

    /// Advances by `dt` seconds.
    pub fn step(&mut self, dt: f32) {
        self.time += f64::from(dt);
        let mut speech_events = Vec::new();
        let mouth = self.speech.step(dt, &mut speech_events);
        for (source, event) in speech_events {
            match event {
                SpeechEvent::Started(speech) => self.emit(Some(source), PuppetEventKind::SpeakBegun(speech)),
                SpeechEvent::Done(speech) => self.emit(Some(source), PuppetEventKind::SpeakDone(speech)),
                SpeechEvent::Gesture(gesture) => {
                    self.emit(Some(Arc::clone(&source)), PuppetEventKind::SpeakGesture(gesture));
                    if self.play(gesture, Arc::clone(&source)).is_err() {
                        self.emit(Some(source), PuppetEventKind::GestureDone(gesture));
                    }
                }
            }
        }
        for gesture in self.mixer.step(dt, mouth) {
            self.end_gesture(gesture);
        }
    }

    /// Ends a tick of the world; images of it may be searched for faces later. `head` is the measured direction of the
    /// head (yaw and pitch in rad), which lags behind the servos; without a robot it is where they are.
    pub fn end_tick(&mut self, tick: u64, head: Option<[f32; 2]>) {
        self.head_history.push_back((tick, head.unwrap_or_else(|| self.mixer.head())));
        if self.head_history.len() > HEAD_HISTORY {
            self.head_history.pop_front();
        }
    }

    /// Commanded servo positions, 0 to 1.
    pub fn positions(&self) -> Positions {
        self.mixer.positions()
    }

    /// Recent events.
    pub fn events(&self) -> &EventLog {
        &self.events
    }

    /// The state for a snapshot.
    pub fn view(&self) -> PuppetView {
        PuppetView {
            events: Arc::clone(&self.events),
            positions: self.mixer.positions(),
            speech_request: self.speech.request(self.voice),
            is_speaking: self.speech.is_speaking(),
            weights: self.mixer.weights,
            expression: self.mixer.expression.selected(),
            look_at: self.mixer.gaze.mode(),
            blinks: self.mixer.blink.rate(),
            voice: self.voice,
            gestures: self.mixer.playing(),
            faces: Arc::clone(&self.faces),
        }
    }
}

fn finite(what: &'static str, number: f32) -> Result<f32, PuppetRefusal> {
    number.is_finite().then_some(number).ok_or(PuppetRefusal::NotFinite { what })
}

#[cfg(test)]
mod tests;
