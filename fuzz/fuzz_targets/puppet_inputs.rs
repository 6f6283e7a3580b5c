//! Whatever reaches the social robot from outside, other than its protocol: spoken text, sound, pictures, gestures, what
//! the voice's process says, and recorded orders. The first byte picks which. Nothing panics, and what is accepted is
//! within its limits.

#![no_main]

use espeak::frame::{Answer, MAX_TEXT, Request};
use libfuzzer_sys::fuzz_target;
use puppet::{
    camera::{Image, image::MAX_SIDE},
    gesture::{Gestures, MAX_SECONDS},
    hearing::wav,
    puppet::AttributedOrder,
    servo::COUNT,
    speech::script,
};

fn speak(text: &str) {
    for phrase in script::parse(text, |tag| (tag.len() < 4).then_some(tag.len() as u32)) {
        assert!(phrase.text.len() <= MAX_TEXT);
        assert!(phrase.marks.iter().all(|mark| phrase.text.is_char_boundary(mark.at)));
    }
}

fn hear(bytes: &[u8]) {
    if let Ok(sound) = wav::read(bytes) {
        assert!(wav::RATES.contains(&sound.rate));
        assert!(sound.samples.iter().all(|sample| (-1.0..=1.0).contains(sample)));
        // a filter for an odd rate is long to make
        if sound.rate % 4_000 == 0 {
            assert!(sound.resampled().iter().all(|sample| sample.is_finite()));
        }
    }
}

fn look(bytes: &[u8]) {
    if let Ok(picture) = Image::read(bytes) {
        assert!((1..=MAX_SIDE).contains(&picture.width) && (1..=MAX_SIDE).contains(&picture.height));
        assert_eq!(picture.rgb.len(), 3 * picture.width * picture.height);
        assert_eq!(picture.covering(16, 12).rgb.len(), 3 * 16 * 12);
    }
}

fn move_by(text: &str) {
    let mut gestures = Gestures::default();
    if gestures.add("fuzz.toml", text).is_ok() {
        for gesture in gestures.iter() {
            assert!(gesture.seconds > 0.0 && gesture.seconds <= MAX_SECONDS + 1.0);
            for part in [0.0, 0.3, 1.0, 2.0] {
                let mut offsets = [0.0; COUNT];
                gesture.add_to(&mut offsets, part * gesture.seconds);
                assert!(offsets.iter().all(|offset| offset.abs() <= 1.001));
            }
        }
    }
}

/// What is read, written and read again is the same.
fn talk(bytes: &[u8]) {
    if let Ok(Some(answer)) = Answer::read(bytes) {
        let mut written = Vec::new();
        answer.write(&mut written).expect("it was read");
        assert_eq!(Answer::read(&*written).expect("it was written"), Some(answer));
    }
    if let Ok(Some(request)) = Request::read(bytes) {
        let mut written = Vec::new();
        request.write(&mut written).expect("it was read");
        assert_eq!(Request::read(&*written).expect("it was written"), Some(request));
    }
}

fn read_order(text: &str) {
    if let Ok(order) = AttributedOrder::from_text(text) {
        // what is beyond the numbers of 32 bits is written as nothing, and refused
        let text = serde_json::to_string(&order).expect("an order that can be recorded");
        if let Ok(again) = AttributedOrder::from_text(&text) {
            assert_eq!(again, order);
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((pick, bytes)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(bytes);
    match pick % 6 {
        0 => speak(&text),
        1 => hear(bytes),
        2 => look(bytes),
        3 => move_by(&text),
        4 => talk(bytes),
        _ => read_order(&text),
    }
});
