//! Reconstructs a recorded session.
//!
//! A recording contains the orders of operators and of the robot's senses. Their effects (when a text started and ended,
//! how long a gesture took) are reconstructed by applying the orders to the same puppet at the same times. Physics is not
//! simulated: it affects the puppet only through its senses, which are recorded.

use std::{
    collections::BTreeMap,
    io::{Read, Seek},
};

use anyhow::{Context, anyhow};
use puppet::{
    director::{PuppetConfig, PuppetDirector},
    expression::EXPRESSIONS,
    faces::Face,
    gesture::Gestures,
    mixer::MAX_PLAYING,
    puppet::{AttributedOrder, Puppet, PuppetEvent, PuppetEventKind, PuppetOrder},
};
use wire::oz::{LOOKATS, SERVOS};
use world::{
    World,
    director::Director,
    record::{Entry, RecordReader, ReplayError, TickRecord},
};

use crate::oz::names;

/// Variables that affect the passage of time.
const TIME: [&str; 2] = ["/Simulation/TimeStepSize", "/Simulation/IterationsPerStep"];

/// A recorded session.
pub(super) struct Session {
    /// Name of the robot.
    pub(super) robot: String,
    /// Duration, in s of simulated time.
    pub(super) seconds: f64,
    /// What is wrong with the recording, if anything. It is used up to there.
    pub(super) warning: Option<String>,
    /// All actions and events, sorted by start time.
    pub(super) rows: Vec<Row>,
}

/// An action or event.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// Start, in s.
    pub(super) begin: f64,
    /// End, in s; equal to the start for instantaneous events.
    pub(super) end: f64,
    /// Address of the operator, or name of the robot.
    pub(super) who: String,
    /// Kind of the row.
    pub(super) kind: Kind,
    /// Name of the gesture, expression, servo, person etc.
    pub(super) what: String,
    /// The text that was spoken, or the value that was set.
    pub(super) text: String,
}

/// Kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An operator's action, with its name in the table.
    Action(&'static str),
    Speech,
    Gesture,
    Expression,
    LookAt,
    Utterance,
    Face,
    NewTry,
}

/// An operator makes the robot speak.
pub(super) const SPEAK: Kind = Kind::Action("operator.speak");

impl Kind {
    /// Name in the table.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Action(name) => name,
            Self::Speech => "robot.speech",
            Self::Gesture => "robot.gesture",
            Self::Expression => "robot.expression",
            Self::LookAt => "robot.lookat",
            Self::Utterance => "robot.utterance",
            Self::Face => "robot.face",
            Self::NewTry => "world.new_try",
        }
    }

    /// Whether it is an operator's action.
    pub(super) fn is_action(self) -> bool {
        matches!(self, Self::Action(_))
    }
}

impl Session {
    /// Reconstructs the session from a recording.
    pub(super) fn of(recording: impl Read + Seek) -> anyhow::Result<Self> {
        let mut records = RecordReader::new(recording)?;
        let mut descriptions = records.setup.directors.iter().filter_map(|director| director.split_once(' '));
        let description =
            descriptions.find(|(name, _)| *name == PuppetDirector::NAME).map(|(_, description)| description);
        let description = description.context("the recorded world has no [oz] robot")?;
        let config = PuppetConfig::from_description(description).map_err(|why| anyhow!("its robot: {why}"))?;
        let world = World::with_directors(&records.setup, Vec::new())?;
        let mut rerun = Rerun::new(&config, world)?;
        let mut warning = None;
        for record in &mut records {
            match record {
                Ok(record) => rerun.run(record)?,
                Err(missing @ ReplayError::Missing { .. }) => {
                    warning = Some(missing.to_string());
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        let warning = warning.or_else(|| match records.damage() {
            [] if records.is_complete() => None,
            [] => Some("the recording is truncated".to_owned()),
            [damage, ..] => Some(format!("the recording is damaged, but no record is missing ({damage})")),
        });
        let seconds = rerun.time;
        Ok(Self { robot: config.robot, seconds, warning, rows: rerun.end() })
    }
}

/// How a text or gesture ended.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Done,
    Cut,
    Refused,
    Unfinished,
}

impl Ending {
    fn remark(self) -> &'static str {
        match self {
            Self::Done => "",
            Self::Cut => "cut short",
            Self::Refused => "refused: too many at once",
            Self::Unfinished => "unfinished",
        }
    }
}

/// Replays the puppet.
struct Rerun {
    robot: String,
    gestures: Gestures,
    puppet: Puppet,
    /// Not simulated; provides the length of a step.
    world: World,
    tick: u64,
    time: f64,
    next_event: u64,
    rows: Vec<Row>,
    /// Texts that have not been spoken yet, by number: the text, and when it started.
    texts: BTreeMap<u64, (String, Option<f64>)>,
    next_text: u64,
    /// Gestures that are playing and their start times, oldest first.
    playing: Vec<(u32, f64)>,
    /// Faces in view by identity: name, and since when.
    faces: BTreeMap<u64, (String, f64)>,
    expression: (u32, f64),
    look_at: (u32, f64),
}

impl Rerun {
    fn new(config: &PuppetConfig, world: World) -> anyhow::Result<Self> {
        let mut puppet = config.puppet()?;
        puppet.restart(world.seed());
        Ok(Self {
            robot: config.robot.clone(),
            gestures: config.all_gestures()?,
            puppet,
            world,
            tick: 0,
            time: 0.0,
            next_event: 0,
            rows: Vec::new(),
            texts: BTreeMap::new(),
            next_text: 0,
            playing: Vec::new(),
            faces: BTreeMap::new(),
            expression: (0, 0.0),
            look_at: (0, 0.0),
        })
    }

    fn run(&mut self, record: TickRecord) -> anyhow::Result<()> {
        while self.tick < record.tick {
            self.pass_tick()?;
        }
        for entry in record.entries {
            self.apply(entry)?;
        }
        // a hash is taken after the tick
        if record.hash.is_some() { self.pass_tick() } else { Ok(()) }
    }

    fn apply(&mut self, entry: Entry) -> anyhow::Result<()> {
        match entry {
            Entry::Order { to, order } if to == PuppetDirector::NAME => {
                let order =
                    AttributedOrder::from_text(&order).map_err(|error| anyhow!("the order `{order}`: {error}"))?;
                self.apply_order(order)
            }
            Entry::Reset { seed } => {
                self.world.reset(Some(seed));
                self.puppet.restart(seed);
                self.note("", Kind::NewTry, format!("seed {seed}"), String::new());
                self.take_events(Ending::Cut)?;
                self.look_at_the_face();
                Ok(())
            }
            Entry::Write { ref variable, .. } if TIME.contains(&variable.as_str()) => Ok(self.world.apply(entry)?),
            // nothing else affects the puppet
            _ => Ok(()),
        }
    }

    /// Advances by one tick, as the director does in a world.
    fn pass_tick(&mut self) -> anyhow::Result<()> {
        let timestep = self.world.sim().timestep();
        let steps = (self.world.tick_seconds() / timestep).round() as u32;
        for _ in 0..steps {
            self.puppet.step(timestep as f32);
            self.time += f64::from(timestep as f32);
            self.take_events(Ending::Done)?;
        }
        self.tick += 1;
        self.puppet.end_tick(self.tick, None);
        Ok(())
    }

    fn apply_order(&mut self, AttributedOrder { source, order }: AttributedOrder) -> anyhow::Result<()> {
        match &order {
            PuppetOrder::Speak(text) => {
                self.texts.insert(self.next_text, (text.clone(), None));
                self.next_text += 1;
            }
            PuppetOrder::Gesture(gesture) => self.playing.push((*gesture, self.time)),
            _ => {}
        }
        if !order.is_own() {
            let (kind, what, text) = self.describe(&order);
            self.note(&source, kind, what, text);
        }
        let is_reset = order == PuppetOrder::Reset;
        self.puppet.apply(order).map_err(|why| {
            anyhow!(
                "the order of {source} at tick {} was carried out when it was recorded, and is refused now: {why}",
                self.tick
            )
        })?;
        self.take_events(if is_reset { Ending::Cut } else { Ending::Done })?;
        self.look_at_the_face();
        Ok(())
    }

    /// The columns `kind`, `what` and `text` of an operator's action.
    fn describe(&self, order: &PuppetOrder) -> (Kind, String, String) {
        let (kind, what, text) = match order {
            PuppetOrder::Reset => ("operator.reset", String::new(), String::new()),
            PuppetOrder::Speak(text) => return (SPEAK, String::new(), text.clone()),
            PuppetOrder::Voice(voice) => ("operator.voice", String::new(), voice.to_string()),
            PuppetOrder::Volume(volume) => ("operator.volume", String::new(), volume.to_string()),
            PuppetOrder::Pitch(pitch) => ("operator.pitch", String::new(), pitch.to_string()),
            PuppetOrder::Gesture(gesture) => ("operator.gesture", self.tag(*gesture), String::new()),
            PuppetOrder::Expression(id) => ("operator.expression", expression_name(*id), String::new()),
            PuppetOrder::LookAt(id) => ("operator.lookat", names::name_of(&LOOKATS, *id), String::new()),
            PuppetOrder::Blink(speed) => ("operator.blink", String::new(), speed.to_string()),
            PuppetOrder::Weigh(which, weight) => {
                ("operator.weight", names::of_subsystem(*which).to_owned(), weight.to_string())
            }
            PuppetOrder::Servo(id, position) => ("operator.servo", names::name_of(&SERVOS, *id), position.to_string()),
            PuppetOrder::Servos(positions) => {
                let positions: Vec<_> = positions.iter().map(f32::to_string).collect();
                ("operator.servos", String::new(), positions.join(" "))
            }
            // not actions of an operator
            PuppetOrder::Say { .. } | PuppetOrder::Hear(_) | PuppetOrder::See { .. } => {
                ("operator.sense", String::new(), String::new())
            }
        };
        (Kind::Action(kind), what, text)
    }

    fn tag(&self, gesture: u32) -> String {
        self.gestures.get(gesture).map_or_else(|| gesture.to_string(), |gesture| gesture.tag.clone())
    }

    /// Adds an instantaneous row.
    fn note(&mut self, who: &str, kind: Kind, what: String, text: String) {
        self.rows.push(Row { begin: self.time, end: self.time, who: who.to_owned(), kind, what, text });
    }

    /// Adds a row of the robot that lasted from `begin` until now.
    fn did(&mut self, begin: f64, kind: Kind, what: String, text: String) {
        self.rows.push(Row { begin, end: self.time, who: self.robot.clone(), kind, what, text });
    }

    fn take_events(&mut self, ending: Ending) -> anyhow::Result<()> {
        if self.puppet.events().next() == self.next_event {
            return Ok(());
        }
        let events = self.puppet.events().since(self.next_event).context("too many events at once")?;
        let events: Vec<PuppetEvent> = events.cloned().collect();
        self.next_event = self.puppet.events().next();
        for event in events {
            match event.kind {
                PuppetEventKind::SpeakBegun(text) => {
                    self.texts.entry(text).and_modify(|text| text.1 = Some(event.time));
                }
                PuppetEventKind::SpeakDone(text) => self.end_text(text, ending),
                PuppetEventKind::SpeakGesture(gesture) => self.playing.push((gesture, event.time)),
                PuppetEventKind::GestureDone(gesture) => self.end_gesture(gesture, ending),
                PuppetEventKind::Utterance(heard) => {
                    if let Some(best) = heard.into_iter().next() {
                        self.did(self.time, Kind::Utterance, format!("{:.2}", best.confidence), best.text);
                    }
                }
                PuppetEventKind::Faces(faces) => self.see(&faces),
            }
        }
        Ok(())
    }

    fn end_text(&mut self, number: u64, ending: Ending) {
        let Some((text, begun)) = self.texts.remove(&number) else { return };
        let remark = if begun.is_none() && ending != Ending::Refused { "not begun" } else { ending.remark() };
        self.did(begun.unwrap_or(self.time), Kind::Speech, remark.to_owned(), text);
    }

    fn end_gesture(&mut self, gesture: u32, ending: Ending) {
        let has = |(other, _): &(u32, f64)| *other == gesture;
        // a gesture that exceeds the limit ends before all others
        let (place, ending) = match ending {
            Ending::Done if self.playing.len() > MAX_PLAYING => (self.playing.iter().rposition(has), Ending::Refused),
            Ending::Refused => (self.playing.iter().rposition(has), ending),
            _ => (self.playing.iter().position(has), ending),
        };
        let Some(place) = place else { return };
        let (_, begin) = self.playing.remove(place);
        self.did(begin, Kind::Gesture, self.tag(gesture), ending.remark().to_owned());
    }

    fn see(&mut self, faces: &[Face]) {
        let gone = |id: &u64| faces.iter().all(|face| face.id != *id);
        let gone: Vec<u64> = self.faces.keys().copied().filter(gone).collect();
        for id in gone {
            self.lose_sight_of(id);
        }
        for face in faces {
            let (name, _) = self.faces.entry(face.id).or_insert_with(|| (String::new(), self.time));
            if !face.name.is_empty() {
                name.clone_from(&face.name);
            }
        }
    }

    fn lose_sight_of(&mut self, id: u64) {
        let Some((name, since)) = self.faces.remove(&id) else { return };
        let name = if name.is_empty() { "unknown".to_owned() } else { name };
        self.did(since, Kind::Face, name, format!("face {id}"));
    }

    /// Records changes of the expression and the gaze mode.
    fn look_at_the_face(&mut self) {
        let view = self.puppet.view();
        self.turn_to(view.expression, view.look_at as u32);
    }

    fn turn_to(&mut self, expression: u32, look_at: u32) {
        let (now, of_look_at) = (self.time, |id| names::name_of(&LOOKATS, id));
        if self.expression.0 != expression {
            let (before, since) = std::mem::replace(&mut self.expression, (expression, now));
            self.was(since, Kind::Expression, expression_name(before));
        }
        if self.look_at.0 != look_at {
            let (before, since) = std::mem::replace(&mut self.look_at, (look_at, now));
            self.was(since, Kind::LookAt, of_look_at(before));
        }
    }

    /// Adds a state that lasted until now, unless its duration is 0.
    fn was(&mut self, since: f64, kind: Kind, what: String) {
        if since < self.time {
            self.did(since, kind, what, String::new());
        }
    }

    /// Ends everything with the recording and returns the rows.
    fn end(mut self) -> Vec<Row> {
        let begun: Vec<u64> = self.texts.keys().copied().collect();
        for text in begun {
            self.end_text(text, Ending::Unfinished);
        }
        while let Some(&(gesture, _)) = self.playing.first() {
            self.end_gesture(gesture, Ending::Unfinished);
        }
        let seen: Vec<u64> = self.faces.keys().copied().collect();
        for id in seen {
            self.lose_sight_of(id);
        }
        let (expression, look_at) = (self.expression, self.look_at);
        self.was(expression.1, Kind::Expression, expression_name(expression.0));
        self.was(look_at.1, Kind::LookAt, names::name_of(&LOOKATS, look_at.0));
        self.rows.sort_by(|a, b| a.begin.total_cmp(&b.begin));
        self.rows
    }
}

fn expression_name(id: u32) -> String {
    names::name_of(&EXPRESSIONS.map(|expression| expression.name), id)
}
