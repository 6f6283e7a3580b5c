//! The puppet: takes orders, lets time pass, moves servos and tells what happens.
//!
//! No world, no sockets, no clock: orders and passing time in, positions and events out. The same seed, orders and steps
//! give the same motion and the same events.

use std::{collections::VecDeque, mem::discriminant, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    expression::EXPRESSIONS,
    faces::Face,
    gaze::{LOOK_ATS, LookAt, Target},
    gesture::Gestures,
    hearing::Heard,
    idle::MAX_BLINKS,
    mixer::{Mixer, Subsystem, Weights},
    servo::{COUNT, Positions},
    speech::{Manner, Timeline, script},
    talk::{Moment, Talk, Wanted},
};

/// Events that are kept for whoever has not seen them yet.
pub const KEPT_EVENTS: usize = 1024;
/// Most faces at a time, and most options of an utterance.
pub const MAX_FOUND: usize = 16;
/// Ticks for which is known where the head pointed: more than two seconds' worth of pictures.
const PAST: usize = 256;
/// Longest [`AttributedOrder::source`], in bytes.
const MAX_SOURCE: usize = 256;

/// A command to the puppet, or an input of its senses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PuppetOrder {
    /// Fall silent, stop moving, and go back to the defaults.
    Reset,
    /// Say a text, with gesture tags in it, after those that wait already.
    Speak(String),
    /// Speak with this voice.
    Voice(u32),
    /// Speak so loud, 0 to 1.
    Volume(f32),
    /// Speak so high, 0.5 to 2.
    Pitch(f32),
    /// Begin a gesture.
    Gesture(u32),
    /// Show an expression.
    Expression(u32),
    /// Look at something.
    LookAt(u32),
    /// Blink so often a second, 0 to 10.
    Blink(f32),
    /// Weigh a subsystem, 0 to 1.
    Weigh(Subsystem, f32),
    /// Put a servo at a position, 0 to 1.
    Servo(u32, f32),
    /// Put all servos at positions, 0 to 1, in the order of their ids.
    Servos(Vec<f32>),
    /// A voice begins to say a phrase, with this timing.
    Say {
        /// Which text.
        speech: u64,
        /// Which of its phrases.
        phrase: usize,
        /// When its sounds and gestures are due.
        timeline: Timeline,
    },
    /// Somebody said something.
    Hear(Vec<Heard>),
    /// These faces are in the picture.
    See {
        /// The tick that the picture shows; none if the camera does not turn with the head.
        tick: Option<u64>,
        /// What the picture spans across and from top to bottom, in rad.
        span: [f32; 2],
        /// The faces.
        faces: Vec<Face>,
    },
}

impl PuppetOrder {
    /// Whether it comes from the robot's own senses and voice, not from an operator.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Say { .. } | Self::Hear(_) | Self::See { .. })
    }
}

/// An order and who gave it. This is what the director takes, and what is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttributedOrder {
    /// Address of the operator, or name of the sense.
    #[serde(rename = "who")]
    pub source: String,
    /// The order itself.
    pub order: PuppetOrder,
}

impl AttributedOrder {
    /// An order and its source.
    pub fn new(source: impl Into<String>, order: PuppetOrder) -> Self {
        Self { source: source.into(), order }
    }

    /// Parses an order of a recording.
    ///
    /// # Errors
    /// If the text is not an order, or its source is too long.
    pub fn from_text(text: &str) -> Result<Self, OrderTextError> {
        let order: Self = serde_json::from_str(text)?;
        order.check_source()?;
        Ok(order)
    }

    /// Refuses names that would fill recordings.
    pub(crate) fn check_source(&self) -> Result<(), PuppetRefusal> {
        if self.source.len() > MAX_SOURCE { Err(PuppetRefusal::SourceTooLong) } else { Ok(()) }
    }
}

/// Why the text of a recorded order is invalid.
#[derive(Debug, thiserror::Error)]
pub enum OrderTextError {
    /// It is not the JSON of an order.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The order is invalid by itself.
    #[error(transparent)]
    Refused(#[from] PuppetRefusal),
}

/// Why the puppet refuses an order. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PuppetRefusal {
    /// As many texts wait as may: the text will not be spoken.
    #[error("the text is not spoken: too many texts are waiting")]
    SpeechQueueFull,
    /// As many gestures play as may: the gesture will not be made.
    #[error("the gesture is not made: too many gestures are playing")]
    TooManyGestures,
    /// No gesture has this id.
    #[error("unknown gesture {id}")]
    UnknownGesture {
        /// The id that was given.
        id: u32,
    },
    /// The protocol has a single voice, 0.
    #[error("unknown voice {id}; the only one is 0")]
    UnknownVoice {
        /// The id that was given.
        id: u32,
    },
    /// No expression has this id.
    #[error("unknown expression {id}; expressions are 0 to {}", EXPRESSIONS.len() - 1)]
    UnknownExpression {
        /// The id that was given.
        id: u32,
    },
    /// No look-at mode has this id.
    #[error("unknown look-at mode {id}; modes are 0 to {}", LOOK_ATS.len() - 1)]
    UnknownLookAt {
        /// The id that was given.
        id: u32,
    },
    /// No servo has this id.
    #[error("unknown servo {id}; servos are 0 to {}", COUNT - 1)]
    UnknownServo {
        /// The id that was given.
        id: u32,
    },
    /// Not one position for each servo.
    #[error("{count} positions for {COUNT} servos")]
    PositionCount {
        /// The number of positions that were given.
        count: usize,
    },
    /// A number is infinite or not a number.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// Names the number.
        what: &'static str,
    },
    /// A voice answers for a phrase that is no longer waited for.
    #[error("phrase {phrase} of text {speech} is no longer waited for")]
    TooLate {
        /// Number of the text.
        speech: u64,
        /// Index of the phrase in the text.
        phrase: usize,
    },
    /// The timing of a phrase is inconsistent.
    #[error("invalid timing of a phrase")]
    InvalidTimeline,
    /// The name of the order's source is too long.
    #[error("the name of an order's source is longer than {MAX_SOURCE} bytes")]
    SourceTooLong,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Happening {
    /// A text begins to be said.
    SpeakBegun(u64),
    /// A gesture inside a text begins.
    SpeakGesture(u32),
    /// A text has been said, or was cut short.
    SpeakDone(u64),
    /// A gesture has been played, or was cut short.
    GestureDone(u32),
    /// Somebody said something: what it may have been, the most likely first.
    Utterance(Vec<Heard>),
    /// Faces in the picture; empty once, when the last one has gone.
    Faces(Vec<Face>),
}

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Counts events, from 0.
    pub number: u64,
    /// Since the puppet began, in s.
    pub time: f64,
    /// What.
    pub what: Happening,
}

/// The events of late.
#[derive(Clone, Debug, Default)]
pub struct Events {
    kept: VecDeque<Arc<Event>>,
    next: u64,
}

impl Events {
    fn add(&mut self, time: f64, what: Happening) {
        self.kept.push_back(Arc::new(Event { number: self.next, time, what }));
        self.next += 1;
        if self.kept.len() > KEPT_EVENTS {
            self.kept.pop_front();
        }
    }

    /// Adds an event, in the place of the last one if that was of the same kind at the same time.
    fn add_latest(&mut self, time: f64, what: Happening) {
        match self.kept.back_mut() {
            Some(last) if last.time == time && discriminant(&last.what) == discriminant(&what) => {
                *last = Arc::new(Event { number: last.number, time, what });
            }
            _ => self.add(time, what),
        }
    }

    /// The number that the next event will have.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// The number of the oldest one that is kept.
    pub fn oldest(&self) -> u64 {
        self.next - self.kept.len() as u64
    }

    /// All from this number on; none if some of them are no longer kept.
    pub fn since(&self, number: u64) -> Option<impl Iterator<Item = &Event>> {
        let skip = number.checked_sub(self.oldest())?;
        Some(self.kept.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).map(AsRef::as_ref))
    }
}

/// What can be seen of a puppet from outside. Never changes once shown.
#[derive(Clone, Debug)]
pub struct PuppetView {
    /// What has happened of late.
    pub events: Arc<Events>,
    /// Where the servos are told to be, 0 to 1.
    pub positions: Positions,
    /// What a voice is to say, or is saying.
    pub wanted: Option<Wanted>,
    /// Whether a phrase is being said.
    pub is_loud: bool,
    /// How much each subsystem has to say.
    pub weights: Weights,
    /// Number of the expression.
    pub expression: u32,
    /// What it looks at.
    pub look_at: LookAt,
    /// Blinks a second.
    pub blinks: f32,
    /// How it speaks.
    pub manner: Manner,
    /// How many gestures play.
    pub gestures: usize,
    /// Faces in the picture.
    pub faces: Arc<[Face]>,
}

/// What a puppet is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// What it can do with its servos.
    pub gestures: Gestures,
    /// Blinks a second after a reset.
    pub blinks: f32,
    /// Seed of its random motion.
    pub seed: u64,
}

/// The robot's behaviour.
pub struct Puppet {
    gestures: Gestures,
    blinks: f32,
    mixer: Mixer,
    talk: Talk,
    manner: Manner,
    faces: Arc<[Face]>,
    /// Ticks, and where the head pointed then.
    past: VecDeque<(u64, [f32; 2])>,
    time: f64,
    events: Arc<Events>,
}

impl Puppet {
    /// A puppet at rest.
    pub fn new(Parts { gestures, blinks, seed }: Parts) -> Self {
        Self {
            gestures,
            blinks,
            mixer: Mixer::new(seed, blinks),
            talk: Talk::new(),
            manner: Manner::default(),
            faces: Arc::default(),
            past: VecDeque::new(),
            time: 0.0,
            events: Arc::default(),
        }
    }

    /// Begins anew in a new try, with another seed: at rest, silent. Whatever was going on is told to be over.
    pub fn begin_anew(&mut self, seed: u64) {
        self.reset();
        self.mixer = Mixer::new(seed, self.blinks);
        self.past.clear();
    }

    /// Carries out an order.
    ///
    /// # Errors
    /// The reason why not. Nothing has changed then.
    pub fn apply(&mut self, order: PuppetOrder) -> Result<(), PuppetRefusal> {
        match order {
            PuppetOrder::Reset => self.reset(),
            PuppetOrder::Speak(text) => self.speak(&text)?,
            // the protocol has one voice so far
            PuppetOrder::Voice(0) => self.manner.voice = 0,
            PuppetOrder::Voice(id) => return Err(PuppetRefusal::UnknownVoice { id }),
            PuppetOrder::Volume(volume) => self.manner.volume = finite("the volume", volume)?.clamp(0.0, 1.0),
            PuppetOrder::Pitch(pitch) => self.manner.pitch = finite("the pitch", pitch)?.clamp(0.5, 2.0),
            PuppetOrder::Gesture(id) => self.play(id)?,
            PuppetOrder::Expression(id) => {
                self.mixer.face.turn_to(id).then_some(()).ok_or(PuppetRefusal::UnknownExpression { id })?;
            }
            PuppetOrder::LookAt(id) => {
                let mode = usize::try_from(id).ok().and_then(|index| LOOK_ATS.get(index));
                self.mixer.gaze.set_mode(*mode.ok_or(PuppetRefusal::UnknownLookAt { id })?);
            }
            PuppetOrder::Blink(speed) => {
                self.mixer.blink.set_speed(finite("the blinking speed", speed)?.clamp(0.0, MAX_BLINKS));
            }
            PuppetOrder::Weigh(subsystem, weight) => {
                *self.mixer.weights.of(subsystem) = finite("a weight", weight)?.clamp(0.0, 1.0);
            }
            PuppetOrder::Servo(id, position) => {
                let position = finite("a position", position)?;
                let servo = usize::try_from(id).unwrap_or(usize::MAX);
                self.mixer.place(servo, position).then_some(()).ok_or(PuppetRefusal::UnknownServo { id })?;
            }
            PuppetOrder::Servos(positions) => self.place_all(&positions)?,
            PuppetOrder::Say { speech, phrase, timeline } => self.talk.answer(speech, phrase, timeline)?,
            PuppetOrder::Hear(options) => self.hear(options)?,
            PuppetOrder::See { tick, span, faces } => self.see(tick, span, faces)?,
        }
        Ok(())
    }

    fn speak(&mut self, text: &str) -> Result<(), PuppetRefusal> {
        if self.talk.is_full() {
            return Err(PuppetRefusal::SpeechQueueFull);
        }
        let phrases = script::read(text, |tag| self.gestures.tagged(tag));
        self.talk.add(phrases, self.manner);
        Ok(())
    }

    fn reset(&mut self) {
        for speech in self.talk.stop() {
            self.tell(Happening::SpeakDone(speech));
        }
        for gesture in self.mixer.reset(self.blinks) {
            self.tell(Happening::GestureDone(gesture));
        }
        self.manner = Manner::default();
    }

    fn play(&mut self, id: u32) -> Result<(), PuppetRefusal> {
        let gesture = self.gestures.get(id).ok_or(PuppetRefusal::UnknownGesture { id })?;
        self.mixer.play(gesture).then_some(()).ok_or(PuppetRefusal::TooManyGestures)
    }

    fn place_all(&mut self, positions: &[f32]) -> Result<(), PuppetRefusal> {
        if positions.len() != COUNT {
            return Err(PuppetRefusal::PositionCount { count: positions.len() });
        }
        for &position in positions {
            finite("a position", position)?;
        }
        for (servo, &position) in positions.iter().enumerate() {
            self.mixer.place(servo, position);
        }
        Ok(())
    }

    fn hear(&mut self, mut options: Vec<Heard>) -> Result<(), PuppetRefusal> {
        for option in &options {
            finite("a confidence", option.confidence)?;
        }
        options.truncate(MAX_FOUND);
        if !options.is_empty() {
            self.tell(Happening::Utterance(options));
        }
        Ok(())
    }

    fn see(&mut self, tick: Option<u64>, span: [f32; 2], mut faces: Vec<Face>) -> Result<(), PuppetRefusal> {
        for number in span.into_iter().chain(faces.iter().flat_map(|f| [f.confidence, f.x, f.y, f.width, f.height])) {
            finite("a number of a face", number)?;
        }
        faces.truncate(MAX_FOUND);
        let then = |tick: u64| self.past.iter().rev().find(|(past, _)| *past <= tick).map(|past| past.1);
        let head = tick.map_or([0.0, 0.0], |tick| then(tick).unwrap_or_else(|| self.mixer.head()));
        let target = |face: &Face| Target {
            // right and down in the picture
            direction: [head[0] - face.x * span[0] / 2.0, head[1] - face.y * span[1] / 2.0],
            size: face.width * face.height,
        };
        self.mixer.gaze.see(&faces.iter().map(target).collect::<Vec<_>>());
        if !faces.is_empty() || !self.faces.is_empty() {
            // while time stands still nobody is told, and the latest is enough
            Arc::make_mut(&mut self.events).add_latest(self.time, Happening::Faces(faces.clone()));
        }
        self.faces = faces.into();
        Ok(())
    }

    fn tell(&mut self, what: Happening) {
        Arc::make_mut(&mut self.events).add(self.time, what);
    }

    /// Lets `dt` seconds pass.
    pub fn step(&mut self, dt: f32) {
        self.time += f64::from(dt);
        let mut moments = Vec::new();
        let mouth = self.talk.step(dt, &mut moments);
        for moment in moments {
            match moment {
                Moment::Begun(speech) => self.tell(Happening::SpeakBegun(speech)),
                Moment::Done(speech) => self.tell(Happening::SpeakDone(speech)),
                Moment::Gesture(gesture) => {
                    self.tell(Happening::SpeakGesture(gesture));
                    if self.play(gesture).is_err() {
                        self.tell(Happening::GestureDone(gesture));
                    }
                }
            }
        }
        for gesture in self.mixer.step(dt, mouth) {
            self.tell(Happening::GestureDone(gesture));
        }
    }

    /// A tick of the world is over: pictures of it may come.
    pub fn tick_over(&mut self, tick: u64) {
        self.past.push_back((tick, self.mixer.head()));
        if self.past.len() > PAST {
            self.past.pop_front();
        }
    }

    /// Where the servos are to be, 0 to 1.
    pub fn positions(&self) -> Positions {
        self.mixer.positions()
    }

    /// What has happened of late.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// What can be seen from outside.
    pub fn view(&self) -> PuppetView {
        PuppetView {
            events: Arc::clone(&self.events),
            positions: self.mixer.positions(),
            wanted: self.talk.wanted(),
            is_loud: self.talk.is_loud(),
            weights: self.mixer.weights,
            expression: self.mixer.face.wanted(),
            look_at: self.mixer.gaze.mode(),
            blinks: self.mixer.blink.speed(),
            manner: self.manner,
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
