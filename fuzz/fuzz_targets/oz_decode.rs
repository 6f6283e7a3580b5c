//! Any bytes are a stream of messages in both directions, up to the first error; decoded messages round-trip byte by
//! byte; and fragmentation of the stream does not matter.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::oz::{Event, MAX_FACES_READ, MAX_OPTIONS_READ, MAX_REQUEST, Reply, Request, Text, Welcome};
use wire::{DecodeError, Message, StreamMessage};

/// The encoded messages of a stream, and the error that ended it.
type Arrived = (Vec<Option<Vec<u8>>>, Option<DecodeError>);

fn arrive<M: StreamMessage>(pieces: impl Iterator<Item = impl AsRef<[u8]>>) -> Arrived {
    let (mut buffer, mut messages) = (Vec::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece.as_ref());
        loop {
            match M::split(&buffer) {
                Ok(Some(split)) => {
                    let bytes = &buffer[split.message];
                    messages.push(match M::decode(bytes) {
                        Ok(message) => Some(written(&message, bytes)),
                        Err(DecodeError::Malformed { .. }) => None,
                        Err(error) => panic!("what was split is whole, but {error}"),
                    });
                    assert!(split.consumed > 0);
                    buffer.drain(..split.consumed);
                }
                Ok(None) => break,
                Err(error) => return (messages, Some(error)),
            }
        }
    }
    (messages, None)
}

fn check<M: StreamMessage>(bytes: &[u8]) {
    let whole = arrive::<M>([bytes].into_iter());
    assert_eq!(whole, arrive::<M>(bytes.chunks(7)));
    assert_eq!(whole, arrive::<M>(bytes.chunks(1)));
    if let Ok(message) = M::decode(bytes) {
        written(&message, bytes);
    }
}

/// The encoded message: the bytes as received, unless they have a text to speak that is not UTF-8.
fn written<M: StreamMessage>(message: &M, bytes: &[u8]) -> Vec<u8> {
    let written = message.to_bytes();
    if bytes.starts_with(&[0, 0, 0, 3]) {
        assert_eq!(M::decode(&written).map(|message| message.to_bytes()), Ok(written.clone()));
    } else {
        assert_eq!(written, bytes);
    }
    written
}

fuzz_target!(|bytes: &[u8]| {
    check::<Request>(bytes);
    check::<Reply>(bytes);
    check::<Welcome>(bytes);
    check::<Event>(bytes);
    if let Ok(request) = Request::decode(bytes) {
        assert!(bytes.len() <= MAX_REQUEST);
        let once = request.to_bytes();
        assert_eq!(request.swap_volume_and_pitch().swap_volume_and_pitch().to_bytes(), once);
    }
    match Event::decode(bytes) {
        Ok(Event::Utterance(heard)) => assert!(heard.options().len() <= MAX_OPTIONS_READ),
        Ok(Event::Faces(faces)) => assert!(faces.as_slice().len() <= MAX_FACES_READ),
        _ => {}
    }
    let text = String::from_utf8_lossy(bytes);
    assert!(text.starts_with(Text::truncated(&text).as_str()));
});
