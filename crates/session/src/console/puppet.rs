//! The operator panel: commands to the puppet, and its state.

use puppet::{
    director::PuppetDirector,
    expression::EXPRESSIONS,
    gaze::LOOK_ATS,
    mixer::{Subsystem, Weights},
    puppet::{AttributedOrder, PuppetEventKind as EventKind, PuppetOrder, PuppetView},
    servo::SERVOS,
};
use wire::{
    console::{
        FaceBox, GestureInfo, Hypothesis, NamedId, Puppet, PuppetCommand, PuppetEvent, PuppetEventKind, PuppetInfo,
        ServoInfo,
    },
    oz::LOOKATS,
};
use world::Command;

use super::{ConsoleSession, Output, PuppetAccess};
use crate::{
    limits,
    oz::{Control, is_finite},
};

/// Subsystems with a weight, by their names in the API.
const SUBSYSTEMS: [(&str, Subsystem); 7] = [
    ("gesture", Subsystem::Gesture),
    ("expression", Subsystem::Expression),
    ("look-at", Subsystem::LookAt),
    ("random-head", Subsystem::RandomHead),
    ("random-eyes", Subsystem::RandomEyes),
    ("random-face", Subsystem::RandomFace),
    ("direct", Subsystem::Direct),
];

impl ConsoleSession {
    pub(super) fn puppet(&mut self, id: Option<u64>, order: PuppetCommand, out: &mut Output) {
        if self.shared.puppet.is_none() {
            return out.refuse(id, "this world has no puppet");
        }
        // any operator may stop the robot
        if !matches!(order, PuppetCommand::Reset) && !self.has_control() {
            return out.refuse(id, "another operator is in control");
        }
        match order_from(order) {
            Ok(order) if !is_finite(&order) => out.refuse(id, "number is not finite"),
            Ok(order) => {
                let order = AttributedOrder::new(format!("console {}", self.peer), order);
                out.commands.push(Command::order::<PuppetDirector>(order));
                out.done(id);
            }
            Err(why) => out.refuse(id, why),
        }
    }

    /// Whether it may move the puppet. Where only one operator may, the first to do so takes control.
    pub(super) fn has_control(&mut self) -> bool {
        let Some(puppet) = &self.shared.puppet else { return false };
        let presence = self.presence.get_or_insert_with(|| puppet.panel.enter(self.peer));
        presence.try_take_control() || puppet.control == Control::All
    }
}

fn order_from(order: PuppetCommand) -> Result<PuppetOrder, String> {
    Ok(match order {
        PuppetCommand::Reset => PuppetOrder::Reset,
        PuppetCommand::Speak(text) if text.len() > limits::CONSOLE_TEXT => {
            return Err(format!("a text of {} bytes is too long; say it in parts", text.len()));
        }
        PuppetCommand::Speak(text) => PuppetOrder::Speak(text),
        PuppetCommand::Volume(volume) => PuppetOrder::Volume(volume),
        PuppetCommand::Pitch(pitch) => PuppetOrder::Pitch(pitch),
        PuppetCommand::Gesture(gesture) => PuppetOrder::Gesture(gesture),
        PuppetCommand::Expression(expression) => PuppetOrder::Expression(expression),
        PuppetCommand::LookAt(mode) => PuppetOrder::LookAt(mode),
        PuppetCommand::Blink(speed) => PuppetOrder::Blink(speed),
        PuppetCommand::Weigh(name, weight) => {
            let subsystem = SUBSYSTEMS.iter().find(|(other, _)| *other == name);
            let (_, subsystem) = subsystem.ok_or_else(|| format!("nothing called {name:.40} has a weight"))?;
            PuppetOrder::Weigh(*subsystem, weight)
        }
        PuppetCommand::Servo(servo, position) => PuppetOrder::Servo(servo, position),
        PuppetCommand::Servos(positions) => PuppetOrder::Servos(positions),
    })
}

/// Facts about the puppet, sent to a client when it connects.
pub(super) fn info(puppet: &PuppetAccess) -> PuppetInfo {
    let number = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
    PuppetInfo {
        name: puppet.name.clone(),
        robot: puppet.robot.clone(),
        gestures: puppet
            .gestures
            .iter()
            .map(|gesture| GestureInfo {
                id: gesture.id,
                name: gesture.title.clone(),
                tag: gesture.tag.clone(),
                seconds: gesture.seconds,
            })
            .collect(),
        expressions: (0..)
            .zip(&EXPRESSIONS)
            .map(|(id, expression)| NamedId { id, name: expression.name.to_owned() })
            .collect(),
        look_ats: (0..).zip(LOOKATS).map(|(id, name)| NamedId { id, name: name.to_owned() }).collect(),
        servos: SERVOS
            .iter()
            .enumerate()
            .map(|(place, servo)| ServoInfo {
                id: number(place),
                name: servo.name.to_owned(),
                part: part_of(servo.name).to_owned(),
            })
            .collect(),
        subsystems: SUBSYSTEMS.iter().map(|(name, _)| (*name).to_owned()).collect(),
    }
}

/// The part of the body that a servo moves.
fn part_of(servo: &str) -> &'static str {
    let is_left = servo.ends_with("_left");
    match servo.split('_').next().unwrap_or_default() {
        "waist" => "waist",
        "neck" => "neck",
        "shoulder" | "elbow" | "wrist" | "grasp" if is_left => "left arm",
        "shoulder" | "elbow" | "wrist" | "grasp" => "right arm",
        "hip" | "knee" | "ankle" if is_left => "left leg",
        "hip" | "knee" | "ankle" => "right leg",
        _ => "face",
    }
}

/// The state of the puppet. `in_control` is the id of a client.
pub(super) fn state(view: &PuppetView, puppet: &PuppetAccess, in_control: Option<u64>) -> Puppet {
    let look_at = LOOK_ATS.iter().position(|mode| *mode == view.look_at).unwrap_or_default();
    let weight = |weights: &Weights, subsystem: Subsystem| *weights.clone().of(subsystem);
    Puppet {
        positions: view.positions.to_vec(),
        weights: SUBSYSTEMS.iter().map(|(name, of)| ((*name).to_owned(), weight(&view.weights, *of))).collect(),
        expression: view.expression,
        look_at: u32::try_from(look_at).unwrap_or_default(),
        blinks: view.blinks,
        volume: view.voice.volume,
        pitch: view.voice.pitch,
        speaking: view.speech_request.is_some(),
        gestures: view.gestures,
        faces: view
            .faces
            .iter()
            .map(|face| FaceBox {
                id: face.id,
                name: face.name.clone(),
                confidence: face.confidence,
                x: (face.x + 1.0) / 2.0 - face.width / 2.0,
                y: (face.y + 1.0) / 2.0 - face.height / 2.0,
                width: face.width,
                height: face.height,
            })
            .collect(),
        known: puppet.panel.known_names().to_vec(),
        one_at_a_time: puppet.control == Control::One,
        in_control,
        operators: puppet.panel.operators(),
    }
}

/// Events from this number on, and the number of the next.
pub(super) fn events(view: &PuppetView, from: u64) -> (Vec<PuppetEvent>, u64) {
    let from = if view.events.since(from).is_some() { from } else { view.events.oldest() };
    let events = view.events.since(from).into_iter().flatten();
    let messages = events.filter_map(|event| {
        let what = match &event.kind {
            EventKind::SpeakBegun(speech) => PuppetEventKind::SpeakBegun { speech: *speech },
            EventKind::SpeakDone(speech) => PuppetEventKind::SpeakDone { speech: *speech },
            EventKind::SpeakGesture(gesture) => PuppetEventKind::SpeakGesture { gesture: *gesture },
            EventKind::GestureDone(gesture) => PuppetEventKind::GestureDone { gesture: *gesture },
            EventKind::Utterance(options) => PuppetEventKind::Utterance {
                options: options
                    .iter()
                    .map(|heard| Hypothesis { text: heard.text.clone(), confidence: heard.confidence })
                    .collect(),
            },
            // part of the state
            EventKind::Faces(_) => return None,
        };
        Some(PuppetEvent { number: event.number, time: event.time, what })
    });
    (messages.collect(), view.events.next())
}
