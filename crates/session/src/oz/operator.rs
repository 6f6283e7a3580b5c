//! One operator's session.

use core::net::SocketAddr;
use std::sync::Arc;

use puppet::{
    director::PuppetDirector,
    mixer::Subsystem,
    puppet::{AttributedOrder, PuppetEvent, PuppetEventKind, PuppetOrder, PuppetRefusal, PuppetView},
};
use wire::oz::{Event, Face, Faces, Hypothesis, Reply, Request, Text, Utterance, Welcome, is_supported_version};
use world::{Answer, Command, CommandRefusal, Snapshot};

use super::{
    Control,
    panel::{OperatorPanel, Presence},
};
use crate::{Context, Input, OverStream, Session, StreamEffect, StreamOutbox, StreamService, StreamSession, Ticks};

/// Texts and gestures that an operator may order at once. The end of each is an event.
const ORDERS_AT_ONCE: u32 = 512;
/// Texts and gestures per tick in the long run.
const ORDERS_PER_TICK: u32 = 64;
/// Events sent to an operator per tick; a reset may cause more than the send queue holds.
const EVENTS_PER_TICK: usize = 128;

/// Accepts operators.
#[derive(Debug)]
pub struct Operators {
    options: Arc<OperatorOptions>,
    panel: Arc<OperatorPanel>,
}

/// What all operators of a robot have in common.
#[derive(Debug)]
pub struct OperatorOptions {
    /// The robot's reply to a version request.
    pub welcome: Welcome,
    /// Who may move the robot.
    pub control: Control,
    /// Whether 05 is pitch and 06 volume, as in the document's text, and not as in its header.
    pub swap_volume_and_pitch: bool,
}

impl Operators {
    /// Operators that share `panel`.
    pub fn new(options: OperatorOptions, panel: Arc<OperatorPanel>) -> Self {
        Self { options: Arc::new(options), panel }
    }
}

impl StreamService for Operators {
    fn ticks(&self) -> Ticks {
        Ticks::WhenFree
    }

    fn droppable_queue(&self) -> usize {
        // a frame that would have to wait is dropped for the next one, so that video is never delayed
        1
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        let (options, panel) = (Arc::clone(&self.options), Arc::clone(&self.panel));
        Box::new(OverStream(OperatorSession { peer, options, panel, state: State::AwaitingVersion }))
    }
}

#[derive(Debug)]
enum State {
    /// Only version requests are answered.
    AwaitingVersion,
    Puppeteering(Operator),
}

/// What an operator has been sent.
#[derive(Debug)]
struct Operator {
    presence: Presence,
    /// Source of its orders.
    name: String,
    /// The first event that has not been sent.
    next_event: u64,
    /// Number of the last camera frame sent.
    frame: u64,
    /// Texts and gestures that may still be ordered.
    orders_left: u32,
}

/// One operator's connection.
///
/// ```text
/// AwaitingVersion --supported version--> Puppeteering
///   |  `--another version: sent ours, may try again
///   `--anything else--> (closed)
/// ```
#[derive(Debug)]
pub struct OperatorSession {
    peer: SocketAddr,
    options: Arc<OperatorOptions>,
    panel: Arc<OperatorPanel>,
    state: State,
}

impl Session for OperatorSession {
    type Request = Request;
    type Reply = Reply;
    type Effect = StreamEffect<Reply>;

    fn handle(&mut self, input: Input<Request>, Context { world, .. }: Context<'_>, out: &mut StreamOutbox<Reply>) {
        match input {
            Input::Message { message: Request::Nothing, .. } => {}
            Input::Message { message: Request::RequestVersion(version), .. } => self.welcome(version, world, out),
            Input::Message { message, .. } => self.request(message, out),
            Input::Malformed { from, error } => out.refuse(Some(from), error),
            Input::Answer(Answer::Refused(refusal)) => self.refused(&refusal, out),
            Input::Answer(_) => {}
            Input::Tick => self.tick(world, out),
            Input::Opened | Input::Timeout | Input::CommunicationReset => {}
        }
    }
}

impl OperatorSession {
    fn welcome(&mut self, version: u32, world: &Snapshot, out: &mut StreamOutbox<Reply>) {
        out.send(self.peer, Reply::Welcome(self.options.welcome.clone()));
        if !is_supported_version(version) {
            return out.refuse(Some(self.peer), format!("unsupported version {version:#010x}"));
        }
        if let State::AwaitingVersion = self.state {
            let next_event = world.view::<PuppetView>().map_or(0, |view| view.events.next());
            // a frame from before it connected is outdated
            let frame = self.panel.frame().map_or(0, |frame| frame.number);
            let presence = self.panel.enter(self.peer);
            let (name, orders_left) = (self.peer.to_string(), ORDERS_AT_ONCE);
            self.state = State::Puppeteering(Operator { presence, name, next_event, frame, orders_left });
        }
    }

    /// The puppet has refused an order. The operator must not wait for the end of something that does not begin.
    fn refused(&self, refusal: &CommandRefusal, out: &mut StreamOutbox<Reply>) {
        match refusal.by_director() {
            Some(PuppetRefusal::SpeechQueueFull) => out.send(self.peer, Reply::Event(Event::SpeakDone)),
            Some(PuppetRefusal::UnknownGesture { .. } | PuppetRefusal::TooManyGestures) => {
                out.send(self.peer, Reply::Event(Event::GestureDone));
            }
            _ => {}
        }
        out.refuse(Some(self.peer), refusal);
    }

    fn request(&mut self, request: Request, out: &mut StreamOutbox<Reply>) {
        let State::Puppeteering(operator) = &mut self.state else {
            return out.close("first message is not a version request");
        };
        let request = if self.options.swap_volume_and_pitch { request.swap_volume_and_pitch() } else { request };
        let end = match request {
            Request::Speak(_) => Some(Event::SpeakDone),
            Request::Gesture(_) => Some(Event::GestureDone),
            _ => None,
        };
        // old clients reset the robot when they connect, also those that only watch
        let may_act = match request {
            Request::Reset => operator.presence.may_take_control(),
            _ => operator.presence.try_take_control(),
        };
        let refusal = if self.options.control == Control::One && !may_act {
            Some("another operator is in control")
        } else if end.is_some() && operator.orders_left == 0 {
            Some("too many pending orders")
        } else {
            None
        };
        if let Some(why) = refusal {
            // the operator must not wait for the end of something that does not begin
            end.into_iter().for_each(|end| out.send(self.peer, Reply::Event(end)));
            return out.refuse(Some(self.peer), why);
        }
        operator.orders_left -= u32::from(end.is_some());
        if let Some(order) = order_from_request(request) {
            if !is_finite(&order) {
                return out.refuse(Some(self.peer), "number is not finite");
            }
            let order = AttributedOrder::new(operator.name.clone(), order);
            out.command(Command::order::<PuppetDirector>(order));
        }
    }

    fn tick(&mut self, world: &Snapshot, out: &mut StreamOutbox<Reply>) {
        let (State::Puppeteering(operator), Some(view)) = (&mut self.state, world.view::<PuppetView>()) else { return };
        let Some(events) = view.events.since(operator.next_event) else {
            return out.close("too far behind the robot's events");
        };
        let mut left = EVENTS_PER_TICK;
        for event in events {
            if left == 0 {
                break;
            }
            operator.next_event = event.number + 1;
            if let Some(event) = message_for(&operator.name, event) {
                left -= 1;
                out.send(self.peer, Reply::Event(event));
            }
        }
        operator.orders_left = (operator.orders_left + ORDERS_PER_TICK).min(ORDERS_AT_ONCE);
        if let Some(frame) = self.panel.frame().filter(|frame| frame.number != operator.frame) {
            operator.frame = frame.number;
            out.send_droppable(Reply::Event(Event::VideoFrame(frame.jpeg)));
        }
    }
}

/// What a request asks of the puppet, if anything.
fn order_from_request(request: Request) -> Option<PuppetOrder> {
    use Subsystem as S;
    Some(match request {
        Request::Nothing | Request::RequestVersion(_) => return None,
        Request::Reset => PuppetOrder::Reset,
        Request::Speak(text) => PuppetOrder::Speak(text.as_str().to_owned()),
        Request::VoiceGenderLanguage(voice) => PuppetOrder::Voice(voice),
        Request::VoiceVolume(volume) => PuppetOrder::Volume(volume),
        Request::VoicePitch(pitch) => PuppetOrder::Pitch(pitch),
        Request::Gesture(gesture) => PuppetOrder::Gesture(gesture),
        Request::GestureWeight(weight) => PuppetOrder::Weigh(S::Gesture, weight),
        Request::Expression(expression) => PuppetOrder::Expression(expression),
        Request::ExpressionWeight(weight) => PuppetOrder::Weigh(S::Expression, weight),
        Request::AutoBlinkSpeed(speed) => PuppetOrder::Blink(speed),
        Request::RandomHeadWeight(weight) => PuppetOrder::Weigh(S::RandomHead, weight),
        Request::RandomEyesWeight(weight) => PuppetOrder::Weigh(S::RandomEyes, weight),
        Request::RandomFaceWeight(weight) => PuppetOrder::Weigh(S::RandomFace, weight),
        Request::Servo { id, position } => PuppetOrder::Servo(id, position),
        Request::AllServos(positions) => PuppetOrder::Servos(positions.to_vec()),
        Request::DirectWeight(weight) => PuppetOrder::Weigh(S::Direct, weight),
        Request::LookAt(mode) => PuppetOrder::LookAt(mode),
        Request::LookAtWeight(weight) => PuppetOrder::Weigh(S::LookAt, weight),
    })
}

/// Whether all numbers of an order are finite (D14).
pub fn is_finite(order: &PuppetOrder) -> bool {
    match order {
        PuppetOrder::Volume(number)
        | PuppetOrder::Pitch(number)
        | PuppetOrder::Blink(number)
        | PuppetOrder::Weigh(_, number)
        | PuppetOrder::Servo(_, number) => number.is_finite(),
        PuppetOrder::Servos(numbers) => numbers.iter().all(|number| number.is_finite()),
        _ => true,
    }
}

/// The message that reports an event to an operator, if it concerns it: what the robot perceives goes to all, but the
/// progress of a text or gesture goes only to the operator that requested it.
fn message_for(operator: &str, event: &PuppetEvent) -> Option<Event> {
    if event.source.as_deref().is_some_and(|source| source != operator) {
        return None;
    }
    Some(match &event.kind {
        PuppetEventKind::SpeakBegun(_) => return None,
        PuppetEventKind::SpeakGesture(gesture) => Event::SpeakGesture(*gesture),
        PuppetEventKind::SpeakDone(_) => Event::SpeakDone,
        PuppetEventKind::GestureDone(_) => Event::GestureDone,
        PuppetEventKind::Utterance(options) => Event::Utterance(Utterance::new(
            options.iter().map(|heard| Hypothesis { confidence: heard.confidence, text: Text::truncated(&heard.text) }),
        )?),
        PuppetEventKind::Faces(faces) => Event::Faces(Faces::new(faces.iter().map(|face| Face {
            confidence: face.confidence,
            x: face.x,
            y: face.y,
            width: face.width,
            height: face.height,
            name: Text::truncated(&face.name),
        }))),
    })
}
