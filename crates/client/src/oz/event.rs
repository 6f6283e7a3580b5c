use wire::oz::{self, Faces, Jpeg, Utterance};

/// What the robot reports, and what this client itself has done.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// This client has connected.
    Connected,
    /// This client has sent a text, which the robot starts speaking.
    SpeakStart,
    /// A text of this client has been spoken.
    SpeakDone,
    /// This client has started a gesture.
    GestureStart(u32),
    /// A gesture of this client has ended; the protocol does not say which.
    GestureDone,
    /// A tag in a text of this client has started a gesture: its index in [`GESTURES`](super::GESTURES).
    SpeakGesture(u32),
    /// The robot has recognised speech.
    Utterance(Utterance),
    /// The faces that the robot sees.
    Faces(Faces),
    /// A picture of the robot's camera.
    VideoFrame(Jpeg),
}

impl From<oz::Event> for Event {
    fn from(event: oz::Event) -> Self {
        match event {
            oz::Event::SpeakDone => Self::SpeakDone,
            oz::Event::GestureDone => Self::GestureDone,
            oz::Event::SpeakGesture(gesture) => Self::SpeakGesture(gesture),
            oz::Event::Utterance(heard) => Self::Utterance(heard),
            oz::Event::Faces(faces) => Self::Faces(faces),
            oz::Event::VideoFrame(picture) => Self::VideoFrame(picture),
        }
    }
}
