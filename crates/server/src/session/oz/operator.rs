//! One operator's session.

use std::{net::SocketAddr, sync::Arc};

use puppet::{
    director::PuppetDirector,
    mixer::Subsystem,
    puppet::{AttributedOrder, PuppetEventKind, PuppetOrder, PuppetRefusal, PuppetView},
};
use wire::oz::{Event, Face, Faces, Hypothesis, Reply, Request, Text, Utterance, Welcome, is_supported_version};
use world::{Answer, Command, CommandRefusal, Snapshot};

use super::{
    super::{Input, Outbox, Session, StreamService, StreamSession},
    Config, Control,
    stage::{Presence, Stage},
};
use crate::sim_thread::Ticks;

/// Texts and gestures that an operator may order at once. Each has an end that everybody is told of.
const ORDERS_AT_ONCE: u32 = 512;
/// And for each tick in the long run.
const ORDERS_PER_TICK: u32 = 64;
/// Events that an operator is told of in a tick; a reset may end more than may wait to be written.
const EVENTS_PER_TICK: usize = 128;

/// Lets operators in.
pub(super) struct Operators {
    manners: Arc<Manners>,
    stage: Arc<Stage>,
}

/// How operators are treated.
struct Manners {
    welcome: Welcome,
    control: Control,
    swap_volume_and_pitch: bool,
}

impl Operators {
    pub(super) fn new(config: &Config, stage: Arc<Stage>) -> Self {
        let manners = Manners {
            welcome: Welcome::new(&config.name, &config.long_name),
            control: config.control,
            swap_volume_and_pitch: config.swap_volume_and_pitch,
        };
        Self { manners: Arc::new(manners), stage }
    }
}

impl StreamService for Operators {
    fn wants_ticks(&self) -> Ticks {
        Ticks::WhenFree
    }

    fn optional_queue(&self) -> usize {
        // a picture that has to wait is left out for the next one, so that what is seen is never old
        1
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        let (manners, stage) = (Arc::clone(&self.manners), Arc::clone(&self.stage));
        Box::new(OperatorSession { peer, manners, stage, state: State::AwaitingVersion })
    }
}

enum State {
    /// Nothing is sent but versions.
    AwaitingVersion,
    Puppeteering(Seat),
}

/// What one operator has seen.
struct Seat {
    presence: Presence,
    /// The first event it has not been told.
    next_event: u64,
    /// Number of the last picture it was sent.
    frame: u64,
    /// Texts and gestures that it may still order.
    orders_left: u32,
}

/// ```text
/// AwaitingVersion --its version is ours--> Puppeteering
///   |  `--another version: told ours, and may ask again
///   `--anything else--> (closed)
/// ```
pub struct OperatorSession {
    peer: SocketAddr,
    manners: Arc<Manners>,
    stage: Arc<Stage>,
    state: State,
}

impl Session for OperatorSession {
    type Request = Request;
    type Reply = Reply;

    fn handle(&mut self, input: Input<Request>, world: &Snapshot, out: &mut Outbox<Reply>) {
        match input {
            Input::Message { message: Request::Nothing, .. } => {}
            Input::Message { message: Request::RequestVersion(version), .. } => self.welcome(version, world, out),
            Input::Message { message, .. } => self.request(message, out),
            Input::Malformed { from, error } => out.refuse(Some(from), error),
            Input::Answer(Answer::Refused(refusal)) => self.refused(&refusal, out),
            Input::Answer(_) => {}
            Input::Tick => self.tick(world, out),
        }
    }
}

impl OperatorSession {
    fn welcome(&mut self, version: u32, world: &Snapshot, out: &mut Outbox<Reply>) {
        out.send(self.peer, Reply::Welcome(self.manners.welcome.clone()));
        if !is_supported_version(version) {
            return out.refuse(Some(self.peer), format!("version {version:#010x} is not spoken here"));
        }
        if let State::AwaitingVersion = self.state {
            let next_event = world.view::<PuppetView>().map_or(0, |view| view.events.next());
            // a picture from before it came is an old one
            let frame = self.stage.frame().map_or(0, |frame| frame.number);
            let presence = self.stage.enter(self.peer);
            self.state = State::Puppeteering(Seat { presence, next_event, frame, orders_left: ORDERS_AT_ONCE });
        }
    }

    /// The puppet has not done something. Nobody waits for the end of what does not begin.
    fn refused(&self, refusal: &CommandRefusal, out: &mut Outbox<Reply>) {
        match refusal.by_director() {
            Some(PuppetRefusal::SpeechQueueFull) => out.send(self.peer, Reply::Event(Event::SpeakDone)),
            Some(PuppetRefusal::UnknownGesture { .. } | PuppetRefusal::TooManyGestures) => {
                out.send(self.peer, Reply::Event(Event::GestureDone));
            }
            _ => {}
        }
        out.refuse(Some(self.peer), refusal);
    }

    fn request(&mut self, request: Request, out: &mut Outbox<Reply>) {
        let State::Puppeteering(seat) = &mut self.state else {
            return out.close("the first message is not a version request");
        };
        let request = if self.manners.swap_volume_and_pitch { request.swap_volume_and_pitch() } else { request };
        let end = match request {
            Request::Speak(_) => Some(Event::SpeakDone),
            Request::Gesture(_) => Some(Event::GestureDone),
            _ => None,
        };
        // old clients reset the robot when they come in, also those that only look on
        let may_act = match request {
            Request::Reset => seat.presence.has_control_or_nobody(),
            _ => seat.presence.takes_control(),
        };
        let refusal = if self.manners.control == Control::One && !may_act {
            Some("somebody else is in control")
        } else if end.is_some() && seat.orders_left == 0 {
            Some("too many orders at once")
        } else {
            None
        };
        if let Some(why) = refusal {
            // nobody waits for the end of what does not begin
            end.into_iter().for_each(|end| out.send(self.peer, Reply::Event(end)));
            return out.refuse(Some(self.peer), why);
        }
        seat.orders_left -= u32::from(end.is_some());
        if let Some(order) = order_from_request(request) {
            if !is_finite(&order) {
                return out.refuse(Some(self.peer), "that is not a finite number");
            }
            let order = AttributedOrder::new(self.peer.to_string(), order);
            out.ask(Command::order::<PuppetDirector>(order));
        }
    }

    fn tick(&mut self, world: &Snapshot, out: &mut Outbox<Reply>) {
        let (State::Puppeteering(seat), Some(view)) = (&mut self.state, world.view::<PuppetView>()) else { return };
        let Some(events) = view.events.since(seat.next_event) else {
            return out.close("more has happened than could be told");
        };
        for event in events.take(EVENTS_PER_TICK) {
            seat.next_event = event.number + 1;
            event_from_kind(&event.kind).into_iter().for_each(|event| out.send(self.peer, Reply::Event(event)));
        }
        seat.orders_left = (seat.orders_left + ORDERS_PER_TICK).min(ORDERS_AT_ONCE);
        if let Some(frame) = self.stage.frame().filter(|frame| frame.number != seat.frame) {
            seat.frame = frame.number;
            out.send_if_read(self.peer, Reply::Event(Event::VideoFrame(frame.jpeg)));
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

/// Whether all numbers of an operator's order are (D14).
pub(crate) fn is_finite(order: &PuppetOrder) -> bool {
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

/// What operators are told of what happens, if anything.
fn event_from_kind(what: &PuppetEventKind) -> Option<Event> {
    Some(match what {
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
