//! Orders to the puppet, and reasons for refusing them.

use serde::{Deserialize, Serialize};

use crate::{
    expression::EXPRESSIONS, faces::Face, gaze::LOOK_ATS, hearing::Hypothesis, mixer::Subsystem, servo::COUNT,
    speech::Timeline,
};

/// Maximum length of [`AttributedOrder::source`], in bytes.
const MAX_SOURCE: usize = 256;

/// A command to the puppet, or an input of its senses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PuppetOrder {
    /// Stop speech and gestures, and restore the defaults.
    Reset,
    /// Queue a text with gesture tags for speech.
    Speak(String),
    /// Select a voice by number.
    Voice(u32),
    /// Set the volume, 0 to 1.
    Volume(f32),
    /// Set the pitch, 0.5 to 2.
    Pitch(f32),
    /// Start a gesture by number.
    Gesture(u32),
    /// Set the facial expression by number.
    Expression(u32),
    /// Set the gaze mode by number.
    LookAt(u32),
    /// Set the blink rate, 0 to 10 per second.
    Blink(f32),
    /// Set the weight of a subsystem, 0 to 1.
    Weigh(Subsystem, f32),
    /// Set the direct position of a servo, 0 to 1.
    Servo(u32, f32),
    /// Set the direct positions of all servos, 0 to 1, by id.
    Servos(Vec<f32>),
    /// The voice starts a phrase.
    Say {
        /// Number of the text.
        speech: u64,
        /// Index of the phrase in the text.
        phrase: usize,
        /// Timing of its gestures and jaw motion.
        timeline: Timeline,
    },
    /// An utterance was recognised: hypotheses, the most likely first.
    Hear(Vec<Hypothesis>),
    /// The camera image was searched for faces.
    See {
        /// Tick of the image; `None` if the camera does not turn with the head.
        tick: Option<u64>,
        /// Horizontal and vertical field of view, in rad.
        span: [f32; 2],
        /// The faces in view.
        faces: Vec<Face>,
    },
}

impl PuppetOrder {
    /// Whether it comes from the robot's own voice and senses instead of an operator.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Say { .. } | Self::Hear(_) | Self::See { .. })
    }
}

/// An order with its source, as taken by the director and as recorded.
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

    /// Refuses long sources, which would bloat recordings.
    pub(crate) fn check_source(&self) -> Result<(), PuppetRefusal> {
        if self.source.len() > MAX_SOURCE { Err(PuppetRefusal::SourceTooLong) } else { Ok(()) }
    }
}

impl From<PuppetOrder> for AttributedOrder {
    /// An order without a source.
    fn from(order: PuppetOrder) -> Self {
        Self::new(String::new(), order)
    }
}

/// Error of parsing a recorded order.
#[derive(Debug, thiserror::Error)]
pub enum OrderTextError {
    /// It is not the JSON of an order.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The order itself is invalid.
    #[error(transparent)]
    Refused(#[from] PuppetRefusal),
}

/// Why the puppet refuses an order. A refused order has no effect.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PuppetRefusal {
    /// The speech queue is full.
    #[error("the text is not spoken: too many texts are waiting")]
    SpeechQueueFull,
    /// The maximum number of gestures is playing.
    #[error("the gesture is not played: too many gestures are playing")]
    TooManyGestures,
    /// No gesture has this id.
    #[error("unknown gesture {id}")]
    UnknownGesture {
        /// The requested number.
        id: u32,
    },
    /// The protocol has a single voice, 0.
    #[error("unknown voice {id}; the only one is 0")]
    UnknownVoice {
        /// The requested number.
        id: u32,
    },
    /// No expression has this id.
    #[error("unknown expression {id}; expressions are 0 to {}", EXPRESSIONS.len() - 1)]
    UnknownExpression {
        /// The requested number.
        id: u32,
    },
    /// No look-at mode has this id.
    #[error("unknown look-at mode {id}; modes are 0 to {}", LOOK_ATS.len() - 1)]
    UnknownLookAt {
        /// The requested number.
        id: u32,
    },
    /// No servo has this id.
    #[error("unknown servo {id}; servos are 0 to {}", COUNT - 1)]
    UnknownServo {
        /// The requested number.
        id: u32,
    },
    /// The number of positions does not match the number of servos.
    #[error("{count} positions for {COUNT} servos")]
    PositionCount {
        /// Number of positions.
        count: usize,
    },
    /// A number is infinite or NaN.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// Name of the quantity.
        what: &'static str,
    },
    /// The voice has answered a request that is no longer pending.
    #[error("phrase {phrase} of text {speech} is no longer requested")]
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
