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
/// How the refusal of a text begins: whoever sent it need not wait for its end.
pub const UNSAID: &str = "the text is not said";
/// How the refusal of a gesture begins.
pub const UNMOVED: &str = "the gesture is not made";
/// Most faces at a time, and most options of an utterance.
pub const MAX_FOUND: usize = 16;
/// Ticks for which is known where the head pointed: more than two seconds' worth of pictures.
const PAST: usize = 256;
/// Longest name of whoever gives an order, in bytes.
const MAX_WHO: usize = 256;

/// What a puppet is to do, or what its senses tell it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
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

impl Order {
    /// Whether it comes from the robot's own senses and voice, not from an operator.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Say { .. } | Self::Hear(_) | Self::See { .. })
    }
}

/// An order and who gave it, as it is recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Who: an address, or the name of a sense.
    pub who: String,
    /// What.
    pub order: Order,
}

impl Told {
    /// As the director takes it.
    pub fn to_text(&self) -> String {
        // it has nothing that JSON cannot hold: numbers that are not finite become null, and are refused
        serde_json::to_string(self).unwrap_or_default()
    }
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

    /// Carries out an order, or changes nothing and says why.
    pub fn obey(&mut self, order: Order) -> Result<(), String> {
        match order {
            Order::Reset => self.reset(),
            Order::Speak(text) => {
                if self.talk.is_full() {
                    return Err(format!("{UNSAID}: too many texts wait already"));
                }
                let phrases = script::read(&text, |tag| self.gestures.tagged(tag));
                self.talk.add(phrases, self.manner);
            }
            // the protocol has one voice so far
            Order::Voice(0) => self.manner.voice = 0,
            Order::Voice(other) => return Err(format!("there is no voice {other}; the only one is 0")),
            Order::Volume(volume) => self.manner.volume = finite("the volume", volume)?.clamp(0.0, 1.0),
            Order::Pitch(pitch) => self.manner.pitch = finite("the pitch", pitch)?.clamp(0.5, 2.0),
            Order::Gesture(id) => self.play(id).map_err(|why| format!("{UNMOVED}: {why}"))?,
            Order::Expression(id) => {
                let last = EXPRESSIONS.len() - 1;
                let is_known = self.mixer.face.turn_to(id);
                is_known.then_some(()).ok_or_else(|| format!("there is no expression {id}; they are 0 to {last}"))?;
            }
            Order::LookAt(id) => {
                let mode = usize::try_from(id).ok().and_then(|id| LOOK_ATS.get(id));
                let last = LOOK_ATS.len() - 1;
                self.mixer
                    .gaze
                    .set_mode(*mode.ok_or_else(|| format!("there is no lookat {id}; they are 0 to {last}"))?);
            }
            Order::Blink(speed) => {
                self.mixer.blink.set_speed(finite("the blinking speed", speed)?.clamp(0.0, MAX_BLINKS));
            }
            Order::Weigh(subsystem, weight) => {
                *self.mixer.weights.of(subsystem) = finite("a weight", weight)?.clamp(0.0, 1.0);
            }
            Order::Servo(id, position) => {
                let position = finite("a position", position)?;
                let servo = usize::try_from(id).unwrap_or(usize::MAX);
                let is_known = self.mixer.place(servo, position);
                is_known.then_some(()).ok_or_else(|| format!("there is no servo {id}; they are 0 to {}", COUNT - 1))?;
            }
            Order::Servos(positions) => self.place_all(&positions)?,
            Order::Say { speech, phrase, timeline } => self.talk.answer(speech, phrase, timeline)?,
            Order::Hear(options) => self.hear(options)?,
            Order::See { tick, span, faces } => self.see(tick, span, faces)?,
        }
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

    /// Begins a gesture, or says why not.
    fn play(&mut self, id: u32) -> Result<(), String> {
        let gesture = self.gestures.get(id).ok_or_else(|| format!("there is no gesture {id}"))?;
        self.mixer.play(gesture).then_some(()).ok_or_else(|| "too many gestures play already".to_owned())
    }

    fn place_all(&mut self, positions: &[f32]) -> Result<(), String> {
        if positions.len() != COUNT {
            return Err(format!("{} positions for {COUNT} servos", positions.len()));
        }
        for &position in positions {
            finite("a position", position)?;
        }
        for (servo, &position) in positions.iter().enumerate() {
            self.mixer.place(servo, position);
        }
        Ok(())
    }

    fn hear(&mut self, mut options: Vec<Heard>) -> Result<(), String> {
        for option in &options {
            finite("a confidence", option.confidence)?;
        }
        options.truncate(MAX_FOUND);
        if !options.is_empty() {
            self.tell(Happening::Utterance(options));
        }
        Ok(())
    }

    fn see(&mut self, tick: Option<u64>, span: [f32; 2], mut faces: Vec<Face>) -> Result<(), String> {
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

/// Reads an order as it is recorded.
pub fn told_from_text(text: &str) -> Result<Told, String> {
    let told: Told = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if told.who.len() > MAX_WHO {
        return Err(format!("a name of more than {MAX_WHO} bytes"));
    }
    Ok(told)
}

fn finite(what: &str, number: f32) -> Result<f32, String> {
    number.is_finite().then_some(number).ok_or_else(|| format!("{what} is not a finite number"))
}

#[cfg(test)]
mod tests;
