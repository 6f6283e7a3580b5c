//! Checks the Oz codec against the shared data in `protocols/oz`.

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use wire::oz::{self, Event, Reply, Request, Welcome};
use wire::{DecodeError, Reader, StreamMessage};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vectors {
    values: Vec<Number>,
    requests: Vec<Vector>,
    replies: Vec<Vector>,
    gestures: Vec<(String, String)>,
    expressions: Vec<String>,
    lookats: Vec<String>,
    servos: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    name: String,
    hex: String,
    uint16: Option<u16>,
    uint32: Option<u32>,
    float: Option<f32>,
    string: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    hex: String,
    message: Option<Value>,
    /// How the message is encoded, if not as it was received.
    canonical: Option<String>,
    error: Option<Value>,
    ends: Option<Value>,
    #[serde(default)]
    incomplete: bool,
}

fn vectors() -> Vectors {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../protocols/oz/vectors.json");
    let text = fs::read_to_string(path).expect("vectors.json is there");
    serde_json::from_str(&text).expect("vectors.json has the documented fields")
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "{hex}");
    let digits = |at| u8::from_str_radix(hex.get(at..at + 2).expect("hex is ASCII"), 16).expect("two hex digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

fn hex_from_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON cannot represent infinite numbers and NaN; they become strings.
fn json_from_float(float: f32) -> Value {
    if float.is_finite() { json!(float) } else { json!(float.to_string()) }
}

fn json_from_request(request: &Request) -> Value {
    let weight = |kind: &str, weight: f32| json!({"type": kind, "weight": json_from_float(weight)});
    match request {
        Request::Nothing => json!({"type": "nothing"}),
        Request::RequestVersion(version) => json!({"type": "request_version", "version": version}),
        Request::Reset => json!({"type": "reset"}),
        Request::Speak(text) => json!({"type": "speak", "text": text.as_str()}),
        Request::VoiceGenderLanguage(voice) => json!({"type": "voice_gender_language", "voice": voice}),
        Request::VoiceVolume(volume) => json!({"type": "voice_volume", "volume": json_from_float(*volume)}),
        Request::VoicePitch(pitch) => json!({"type": "voice_pitch", "pitch": json_from_float(*pitch)}),
        Request::Gesture(gesture) => json!({"type": "gesture", "gesture": gesture}),
        Request::GestureWeight(value) => weight("gesture_weight", *value),
        Request::Expression(expression) => json!({"type": "expression", "expression": expression}),
        Request::ExpressionWeight(value) => weight("expression_weight", *value),
        Request::AutoBlinkSpeed(speed) => json!({"type": "auto_blink_speed", "speed": json_from_float(*speed)}),
        Request::RandomHeadWeight(value) => weight("random_head_weight", *value),
        Request::RandomEyesWeight(value) => weight("random_eyes_weight", *value),
        Request::RandomFaceWeight(value) => weight("random_face_weight", *value),
        Request::Servo { id, position } => {
            json!({"type": "servo", "servo": id, "position": json_from_float(*position)})
        }
        Request::AllServos(positions) => {
            json!({"type": "all_servos", "positions": positions.map(json_from_float).to_vec()})
        }
        Request::DirectWeight(value) => weight("direct_weight", *value),
        Request::LookAt(mode) => json!({"type": "lookat", "mode": mode}),
        Request::LookAtWeight(value) => weight("lookat_weight", *value),
    }
}

fn json_from_reply(reply: &Reply) -> Value {
    match reply {
        Reply::Welcome(welcome) => json!({
            "type": "welcome",
            "version": welcome.version(),
            "name": welcome.name().as_str(),
            "long_name": welcome.long_name().as_str(),
        }),
        Reply::Event(Event::SpeakDone) => json!({"type": "speak_done"}),
        Reply::Event(Event::GestureDone) => json!({"type": "gesture_done"}),
        Reply::Event(Event::SpeakGesture(gesture)) => json!({"type": "speak_gesture", "gesture": gesture}),
        Reply::Event(Event::Utterance(utterance)) => {
            let options: Value = utterance
                .options()
                .iter()
                .map(|option| json!({"confidence": json_from_float(option.confidence), "text": option.text.as_str()}))
                .collect();
            json!({"type": "utterance", "options": options})
        }
        Reply::Event(Event::Faces(faces)) => {
            let faces: Value = faces
                .as_slice()
                .iter()
                .map(|face| {
                    json!({
                        "confidence": json_from_float(face.confidence),
                        "x": json_from_float(face.x),
                        "y": json_from_float(face.y),
                        "width": json_from_float(face.width),
                        "height": json_from_float(face.height),
                        "name": face.name.as_str(),
                    })
                })
                .collect();
            json!({"type": "faces", "faces": faces})
        }
        Reply::Event(Event::VideoFrame(jpeg)) => {
            json!({"type": "video_frame", "jpeg": hex_from_bytes(jpeg.as_bytes())})
        }
    }
}

fn json_from_error(error: &DecodeError) -> Value {
    match error {
        DecodeError::UnknownId { id } => json!({"kind": "unknown_id", "id": id}),
        DecodeError::Truncated { field } => json!({"kind": "truncated", "field": field}),
        DecodeError::Malformed { field } => json!({"kind": "malformed", "field": field}),
        DecodeError::OutOfRange { field, value, min, max } => {
            json!({"kind": "out_of_range", "field": field, "value": value, "min": min, "max": max})
        }
    }
}

fn check<M: StreamMessage>(vector: &Vector, json_from_message: fn(&M) -> Value) {
    let (name, bytes) = (&vector.name, bytes_from_hex(&vector.hex));
    let (mut message, mut error, mut ends, mut incomplete) = (None, None, None, false);
    // trailing bytes belong to the next message
    let followed: Vec<u8> = bytes.iter().copied().chain([0xFF; 3]).collect();
    match M::split(&bytes) {
        Err(what) => ends = Some(json_from_error(&what)),
        Ok(None) => incomplete = true,
        Ok(Some(split)) => {
            assert_eq!((split.message.clone(), split.consumed), (0..bytes.len(), bytes.len()), "{name}");
            assert_eq!(M::split(&followed), Ok(Some(split)), "{name}");
            match M::decode(&bytes) {
                Ok(found) => {
                    let canonical = vector.canonical.as_ref().unwrap_or(&vector.hex);
                    assert_eq!(found.to_bytes(), bytes_from_hex(canonical), "{name}");
                    message = Some(json_from_message(&found));
                }
                Err(what) => error = Some(json_from_error(&what)),
            }
        }
    }
    let expected = (&vector.message, &vector.error, &vector.ends, vector.incomplete);
    assert_eq!((&message, &error, &ends, incomplete), expected, "{name}");
    if message.is_none() {
        assert!(M::decode(&bytes).is_err(), "{name}");
    }
}

#[test]
fn messages_match_the_vectors() {
    let vectors = vectors();
    vectors.requests.iter().for_each(|vector| check(vector, json_from_request));
    vectors.replies.iter().for_each(|vector| check(vector, json_from_reply));
}

#[test]
fn every_message_has_a_vector() {
    let vectors = vectors();
    let ids = |vectors: &[Vector]| {
        let mut ids: Vec<_> = vectors
            .iter()
            .filter(|vector| vector.message.is_some())
            .map(|vector| u32::from_str_radix(&vector.hex[..8], 16).expect("an id"))
            .filter(|&word| word < 0x100)
            .collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    };
    assert_eq!(ids(&vectors.requests), (0x00..=0x13).collect::<Vec<_>>());
    assert_eq!(ids(&vectors.replies), (0x14..=0x19).collect::<Vec<_>>());
}

#[test]
fn numbers_match_the_document() {
    for Number { name, hex, uint16, uint32, float, string } in vectors().values {
        let bytes = bytes_from_hex(&hex);
        let mut r = Reader::new(&bytes);
        if let Some(expected) = uint16 {
            assert_eq!(r.u16_be("value"), Ok(expected), "{name}");
        } else if let Some(expected) = uint32 {
            assert_eq!(r.u32_be("value"), Ok(expected), "{name}");
        } else if let Some(expected) = float {
            assert_eq!(r.f32_be("value"), Ok(expected), "{name}");
        } else if let Some(expected) = string {
            let length = r.u16_be("length").expect("a length");
            assert_eq!(r.bytes(length.into(), "value"), Ok(expected.as_bytes()), "{name}");
        } else {
            panic!("{name} says nothing");
        }
        assert_eq!(r.remaining(), 0, "{name}");
    }
}

#[test]
fn names_match_the_vectors() {
    let vectors = vectors();
    let gestures: Vec<_> = oz::GESTURES.iter().map(|&(tag, name)| (tag.to_owned(), name.to_owned())).collect();
    assert_eq!(gestures, vectors.gestures);
    assert_eq!(oz::EXPRESSIONS.as_slice(), vectors.expressions);
    assert_eq!(oz::LOOKATS.as_slice(), vectors.lookats);
    assert_eq!(oz::SERVOS.as_slice(), vectors.servos);
}

/// Bytes that are more likely to be messages than random ones.
fn likely_bytes() -> impl Strategy<Value = Vec<u8>> {
    let id = prop_oneof![9 => 0u32..0x1B, 1 => Just(oz::VERSION), 1 => any::<u32>()];
    let body = proptest::collection::vec(prop_oneof![3 => 0u8..4, 1 => any::<u8>()], 0..200);
    (id, body).prop_map(|(id, body)| id.to_be_bytes().into_iter().chain(body).collect())
}

/// Every message that `split` finds decodes completely or fails; decoded messages round-trip byte by byte, including
/// NaN.
fn check_round_trip<M: StreamMessage>(bytes: &[u8]) {
    // a text to speak that is not UTF-8 is encoded as UTF-8
    let is_latin_1 = bytes.starts_with(&[0, 0, 0, 3]) && str::from_utf8(bytes.get(6..).unwrap_or_default()).is_err();
    if is_latin_1 {
        return;
    }
    if let Ok(message) = M::decode(bytes) {
        assert_eq!(message.to_bytes(), bytes);
        let split = M::split(bytes).expect("it decodes").expect("all of it is there");
        assert_eq!((split.message, split.consumed), (0..bytes.len(), bytes.len()));
    }
    if let Ok(Some(split)) = M::split(bytes) {
        assert!(split.consumed > 0);
        match M::decode(bytes.get(split.message.clone()).expect("within the bytes")) {
            Ok(message) => assert_eq!(message.to_bytes(), bytes[split.message]),
            Err(error) => assert!(matches!(error, DecodeError::Malformed { .. }), "{error}"),
        }
    }
}

/// The encoded messages of a stream that arrives in pieces, and the error that ended it.
fn arrive<M: StreamMessage>(stream: &[u8], cuts: &[usize]) -> (Vec<Result<Vec<u8>, DecodeError>>, Option<DecodeError>) {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (stream.len() + 1)).chain([0, stream.len()]).collect();
    cuts.sort_unstable();
    let (mut buffer, mut messages) = (Vec::new(), Vec::new());
    for piece in cuts.windows(2) {
        buffer.extend_from_slice(&stream[piece[0]..piece[1]]);
        loop {
            match M::split(&buffer) {
                Ok(Some(split)) => {
                    messages.push(M::decode(&buffer[split.message]).map(|message| message.to_bytes()));
                    buffer.drain(..split.consumed);
                }
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}

fn check_cuts<M: StreamMessage>(vectors: &[Vector], picks: &[usize], cuts: &[usize]) {
    let whole: Vec<_> = vectors.iter().filter(|vector| !vector.incomplete && vector.ends.is_none()).collect();
    let stream: Vec<u8> = picks.iter().flat_map(|pick| bytes_from_hex(&whole[pick % whole.len()].hex)).collect();
    let found = arrive::<M>(&stream, cuts);
    assert_eq!(found.0.len(), picks.len());
    assert_eq!(found, arrive::<M>(&stream, &[]));
}

proptest! {
    #[test]
    fn any_bytes_decode_or_err(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        check_round_trip::<Request>(&bytes);
        check_round_trip::<Reply>(&bytes);
        check_round_trip::<Welcome>(&bytes);
        check_round_trip::<Event>(&bytes);
    }

    #[test]
    fn likely_bytes_decode_or_err(bytes in likely_bytes()) {
        check_round_trip::<Request>(&bytes);
        check_round_trip::<Reply>(&bytes);
        check_round_trip::<Welcome>(&bytes);
        check_round_trip::<Event>(&bytes);
    }

    #[test]
    fn a_reply_is_a_welcome_or_an_event(bytes in likely_bytes()) {
        let (reply, welcome, event) = (Reply::split(&bytes), Welcome::split(&bytes), Event::split(&bytes));
        // never both at once
        prop_assert!(matches!(welcome, Err(_) | Ok(None)) || event.is_err());
        if bytes.len() >= 4 {
            prop_assert!(reply == welcome || reply == event);
        }
    }

    #[test]
    fn fragmentation_does_not_change_the_messages(
        picks in proptest::collection::vec(any::<usize>(), 1..12),
        cuts in proptest::collection::vec(any::<usize>(), 0..40),
    ) {
        let vectors = vectors();
        check_cuts::<Request>(&vectors.requests, &picks, &cuts);
        check_cuts::<Reply>(&vectors.replies, &picks, &cuts);
    }

    #[test]
    fn fragmentation_does_not_change_the_error(
        parts in proptest::collection::vec(likely_bytes(), 1..4),
        cuts in proptest::collection::vec(any::<usize>(), 0..40),
    ) {
        let stream = parts.concat();
        prop_assert_eq!(arrive::<Request>(&stream, &cuts), arrive::<Request>(&stream, &[]));
        prop_assert_eq!(arrive::<Reply>(&stream, &cuts), arrive::<Reply>(&stream, &[]));
    }
}
