use super::*;
use crate::{Message, StreamMessage};

fn text(text: &str) -> Text {
    Text::new(text).unwrap()
}

fn option(confidence: f32, words: &str) -> Hypothesis {
    Hypothesis { confidence, text: text(words) }
}

fn face(x: f32, name: &str) -> Face {
    Face { confidence: 1.0, x, y: 0.0, width: 0.5, height: 0.5, name: text(name) }
}

#[test]
fn volume_and_pitch_are_swapped() {
    fn check(request: Request, swapped: Request) {
        assert_eq!(request.clone().swap_volume_and_pitch(), swapped);
        assert_eq!(swapped.swap_volume_and_pitch(), request);
    }
    check(Request::VoiceVolume(0.25), Request::VoicePitch(0.25));
    check(Request::Speak(text("a")), Request::Speak(text("a")));
    check(Request::GestureWeight(0.5), Request::GestureWeight(0.5));
    // the document's text: "MSG_VOICE_PITCH(0x0000005)"
    let bytes = [0, 0, 0, 5, 0x3F, 0x80, 0, 0];
    assert_eq!(Request::decode(&bytes).map(Request::swap_volume_and_pitch), Ok(Request::VoicePitch(1.0)));
}

#[test]
fn versions() {
    let check = |version, expected| assert_eq!(is_supported_version(version), expected, "{version:#x}");
    check(0x0100_0000, true);
    check(0x0010_0000, true);
    check(0x0200_0000, false);
    check(0x0100_0001, false);
    check(1, false);
    check(0, false);
    const { assert!(VERSION >= FIRST_VERSION && id::VIDEO_FRAME < FIRST_VERSION) };
}

#[test]
fn texts_are_truncated_at_character_boundaries() {
    fn check(whole: &str, bytes: usize) {
        let cut = Text::truncated(whole);
        assert_eq!(cut.len(), bytes);
        assert!(whole.starts_with(cut.as_str()));
    }
    check("", 0);
    check("alice", 5);
    check(&"a".repeat(1023), 1023);
    check(&"a".repeat(1024), 1023);
    check(&"é".repeat(512), 1022);
    check(&"€".repeat(342), 1023);
    check(&("a".to_owned() + &"🤖".repeat(300)), 1021);
}

#[test]
fn the_longest_text() {
    let longest = text(&"a".repeat(MAX_TEXT));
    let bytes = Request::Speak(longest.clone()).to_bytes();
    assert_eq!(bytes.len(), MAX_REQUEST);
    assert_eq!(Request::split(&bytes).map(|split| split.map(|split| split.consumed)), Ok(Some(MAX_REQUEST)));
    assert_eq!(Request::decode(&bytes), Ok(Request::Speak(longest)));
    assert_eq!(Text::new("a".repeat(MAX_TEXT + 1)), Err(TextTooLong { bytes: 65_536 }));
    assert_eq!(Text::new("é".repeat(32_768)), Err(TextTooLong { bytes: 65_536 }));
}

#[test]
fn utterances_fit_old_clients() {
    let long = "é".repeat(1000);
    let heard = Utterance::new((0..20).map(|n| option(n as f32 / 32.0, &long))).unwrap();
    assert_eq!(heard.options().len(), 16);
    assert_eq!(heard.options().first().unwrap().confidence, 19.0 / 32.0);
    assert!(heard.options().is_sorted_by(|a, b| a.confidence >= b.confidence));
    assert!(heard.options().iter().all(|option| option.text.len() == 1022));
    assert_eq!(Utterance::new([]), None);

    let odd = Utterance::new([option(f32::NAN, "a"), option(2.0, "b"), option(-1.0, "c"), option(0.0, "d")]).unwrap();
    let odd: Vec<_> = odd.options().iter().map(|option| (option.confidence, option.text.as_str())).collect();
    // the sort is stable
    assert_eq!(odd, [(1.0, "b"), (0.0, "a"), (0.0, "c"), (0.0, "d")]);
}

#[test]
fn faces_fit_old_clients() {
    let faces = Faces::new((0..20).map(|n| face(n as f32 / 32.0, &"é".repeat(1000))));
    assert_eq!(faces.as_slice().len(), 16);
    assert_eq!(faces.as_slice().last().unwrap().x, 15.0 / 32.0);
    assert!(faces.as_slice().iter().all(|face| face.name.len() == 1022));

    let [inf, nan] = [f32::INFINITY, f32::NAN];
    let odd = Face { confidence: nan, x: -inf, y: inf, width: -0.5, height: 1.5, name: text("") };
    let near = Face { confidence: 0.0, x: -1.0, y: 1.0, width: 0.0, height: 1.0, name: text("") };
    assert_eq!(Faces::new([odd]).as_slice(), [near]);
    assert_eq!(Faces::new([]), Faces::default());
}

#[test]
fn pictures_fit_old_clients() {
    let largest = Jpeg::new(vec![7; MAX_JPEG]).unwrap();
    assert_eq!(Event::VideoFrame(largest.clone()).to_bytes().len(), 1024 * 1024);
    assert_eq!(Jpeg::new(vec![7; MAX_JPEG + 1]), Err(JpegTooLong { bytes: MAX_JPEG + 1 }));
    // clones share memory
    assert!(std::ptr::eq(largest.as_bytes(), largest.clone().as_bytes()));
}

#[test]
fn welcomes_fit_old_clients() {
    let welcome = Welcome::new(&"a".repeat(2000), "Alice");
    assert_eq!((welcome.version(), welcome.name().len(), welcome.long_name().as_str()), (VERSION, 1023, "Alice"));
}

/// Other servers may exceed our limits; their messages round-trip.
#[test]
fn decoders_accept_more_than_our_server_sends() {
    let many: Vec<u8> = [0, 0, 0, 0, 0, 1].into_iter().chain(*b"x").collect::<Vec<_>>().repeat(MAX_OPTIONS_READ);
    let bytes = [[0, 0, 0, 0x17, 0, 0, 1, 0].as_slice(), &many].concat();
    let Ok(Event::Utterance(heard)) = Event::decode(&bytes) else { panic!("256 options") };
    assert_eq!(heard.options().len(), 256);
    assert_eq!(Event::Utterance(heard).to_bytes(), bytes);

    let bytes = [[0, 0, 0, 0x19, 0, 0x20, 0, 0].as_slice(), &vec![7; 0x20_0000]].concat();
    assert_eq!(Event::split(&bytes).map(|split| split.map(|split| split.consumed)), Ok(Some(bytes.len())));
    assert_eq!(Event::decode(&bytes).map(|event| event.to_bytes()), Ok(bytes));
}

#[test]
fn trailing_bytes_are_errors() {
    fn check<M: Message + std::fmt::Debug + PartialEq>(bytes: &[u8], length: i64) {
        let value = bytes.len() as i64;
        let error = DecodeError::OutOfRange { field: "message length", value, min: length, max: length };
        assert_eq!(M::decode(bytes), Err(error), "{bytes:?}");
    }
    check::<Request>(&[0, 0, 0, 2, 0], 4);
    check::<Request>(b"\0\0\0\x03\0\x01ab", 7);
    check::<Event>(&[0, 0, 0, 0x14, 1, 2], 4);
    check::<Reply>(&[1, 0, 0, 0, 0, 0, 0, 0, 9], 8);
}

#[test]
fn events_and_welcomes_are_distinguished() {
    let too_small = |value| DecodeError::OutOfRange { field: "version", value, min: 0x0100_0000, max: 0xFFFF_FFFF };
    let done = Event::SpeakDone.to_bytes();
    assert_eq!(Welcome::split(&done), Err(too_small(0x14)));
    assert_eq!(Welcome::decode(&done), Err(too_small(0x14)));
    let welcome = Welcome::new("alice", "Alice");
    assert_eq!(Event::split(&welcome.to_bytes()), Err(DecodeError::UnknownId { id: VERSION }));
    for reply in [Reply::from(welcome), Reply::from(Event::SpeakDone)] {
        assert_eq!(Reply::decode(&reply.to_bytes()), Ok(reply));
    }
}

#[test]
fn tags() {
    let check = |tag, expected| assert_eq!(gesture_from_tag(tag), expected, "{tag}");
    check("braisel", Some(0));
    check("wob", Some(12));
    check("YesS3", Some(7));
    check("yes", None);
    check("[nol]", None);
    check("", None);
}
