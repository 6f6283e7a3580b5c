use proptest::prelude::*;

use super::*;

fn request() -> Request {
    Request {
        id: 7,
        pitch: 1.5,
        volume: 0.25,
        voice: "en-us".into(),
        text: "Nöpe.".into(),
        marks: vec![Mark { at: 0 }, Mark { at: 6 }],
    }
}

fn answer() -> Answer {
    let event = |milliseconds, kind| Event { milliseconds, kind };
    Answer {
        id: 7,
        outcome: Ok(Speech {
            rate: 22_050,
            samples: vec![0, 1, -1, i16::MIN, i16::MAX],
            events: vec![event(0, EventKind::Mark(1)), event(12, EventKind::Phoneme("əʊ".into()))],
        }),
    }
}

fn written(write: impl Fn(&mut Vec<u8>) -> Result<(), FrameError>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("it can be written");
    bytes
}

#[test]
fn what_is_written_can_be_read() {
    let bytes = written(|bytes| request().write(bytes));
    assert_eq!(Request::read(&*bytes).expect("a request"), Some(request()));
    let refusal = Answer { id: NO_REQUEST, outcome: Err("no library".into()) };
    for answer in [answer(), refusal] {
        let bytes = written(|bytes| answer.write(bytes));
        assert_eq!(Answer::read(&*bytes).expect("an answer"), Some(answer));
    }
    assert!(Request::read(&[][..]).expect("the end").is_none());
    assert!(Answer::read(&[][..]).expect("the end").is_none());
}

#[test]
fn a_long_reason_is_cut_between_characters() {
    let bytes = written(|bytes| Answer { id: 1, outcome: Err("é".repeat(2_000) + "x") }.write(bytes));
    let read = Answer::read(&*bytes).expect("an answer").expect("an answer");
    assert_eq!(read.outcome, Err("é".repeat(MAX_REASON / 2)));
}

#[test]
fn what_is_cut_off_is_an_error() {
    let (request, answer) = (written(|bytes| request().write(bytes)), written(|bytes| answer().write(bytes)));
    for end in 1..request.len() {
        assert!(matches!(Request::read(&request[..end]), Err(FrameError::Io(_))), "{end}");
    }
    for end in 1..answer.len() {
        assert!(matches!(Answer::read(&answer[..end]), Err(FrameError::Io(_))), "{end}");
    }
}

#[test]
fn what_is_too_long_or_out_of_range_is_neither_written_nor_read() {
    let refused = |change: &dyn Fn(&mut Request)| {
        let mut request = request();
        change(&mut request);
        request.write(&mut Vec::new()).expect_err("it is too long");
    };
    refused(&|request| request.text = "a".repeat(MAX_TEXT + 1));
    refused(&|request| request.voice = "a".repeat(MAX_VOICE + 1));
    refused(&|request| request.marks = vec![Mark { at: 0 }; MAX_MARKS + 1]);
    refused(&|request| request.marks[0].at = 7);
    for (pitch, volume) in [(0.4, 1.0), (2.1, 1.0), (f32::NAN, 1.0), (1.0, -0.1), (1.0, 1.1), (1.0, f32::NAN)] {
        let bytes = written(|bytes| Request { pitch, volume, ..request() }.write(bytes));
        assert!(matches!(Request::read(&*bytes), Err(FrameError::OutOfRange { .. })), "{pitch} {volume}");
    }

    let head = |rate: u32, samples: u32| {
        let numbers = [rate.to_le_bytes(), samples.to_le_bytes()].concat();
        [b"SAID\x07\0\0\0\0".as_slice(), &numbers].concat()
    };
    assert!(matches!(Answer::read(&*head(1, 0)), Err(FrameError::OutOfRange { field: "rate" })));
    let huge = head(22_050, u32::MAX);
    assert!(matches!(Answer::read(&*huge), Err(FrameError::TooMany { field: "samples", .. })));
    assert!(matches!(Answer::read(&b"SAID\x07\0\0\0\x02"[..]), Err(FrameError::OutOfRange { .. })));
    assert!(matches!(Answer::read(&b"Segmentation fault"[..]), Err(FrameError::Magic { .. })));
    let no_text = b"SAID\x07\0\0\0\x01\x01\0\xff";
    assert!(matches!(Answer::read(&no_text[..]), Err(FrameError::Utf8 { field: "reason" })));
}

proptest! {
    #[test]
    fn garbage_never_panics(mut garbage: Vec<u8>, damaged: prop::sample::Index, byte: u8) {
        let _ = (Request::read(&*garbage), Answer::read(&*garbage));
        garbage.splice(0..0, *b"SAID");
        let _ = Answer::read(&*garbage);
        garbage[..4].copy_from_slice(b"SAY1");
        let _ = Request::read(&*garbage);
        let mut answer = written(|bytes| answer().write(bytes));
        let at = damaged.index(answer.len());
        answer[at] = byte;
        let _ = Answer::read(&*answer);
    }
}
