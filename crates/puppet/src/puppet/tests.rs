use super::*;
use crate::{
    mixer::Subsystem,
    servo::{index, rest},
    speech::Timeline,
};

const DT: f32 = 0.005;

fn puppet() -> Puppet {
    Puppet::new(PuppetParameters { gestures: Gestures::shipped().unwrap(), blinks: 0.0, seed: 1 })
}

/// Advances the puppet with a voice that takes half a second for each phrase, and returns the events.
fn run(puppet: &mut Puppet, seconds: f32) -> Vec<PuppetEventKind> {
    let next = puppet.events().next();
    for _ in 0..(seconds / DT) as usize {
        puppet.step(DT);
        if let Some(wanted) = puppet.view().speech_request.filter(|_| !puppet.view().is_speaking) {
            let marks = wanted.content.marks.iter().map(|mark| (0.2, mark.gesture)).collect();
            let timeline = Timeline { seconds: 0.5, marks, mouth: vec![(0.1, 1.0), (0.4, 0.0)] };
            // another phrase may have been requested
            let _ = puppet.apply(PuppetOrder::Say { speech: wanted.speech, phrase: wanted.phrase, timeline });
        }
    }
    puppet.events().since(next).unwrap().map(|event| event.kind.clone()).collect()
}

fn face(x: f32, y: f32, size: f32) -> Face {
    Face { id: 1, confidence: 0.9, x, y, width: size, height: size, name: String::new() }
}

#[test]
fn each_text_starts_and_ends_once_in_order() {
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::Speak("[braisel][nos]Nope.".to_owned())).unwrap();
    puppet.apply(PuppetOrder::Speak(String::new())).unwrap();
    puppet.apply(PuppetOrder::Speak("[wob]".to_owned())).unwrap();
    let happened = run(&mut puppet, 5.0);
    let of_speech: Vec<_> = happened.iter().filter(|what| !matches!(what, PuppetEventKind::GestureDone(_))).collect();
    use PuppetEventKind::{SpeakBegun, SpeakDone, SpeakGesture};
    assert_eq!(
        of_speech,
        [
            &SpeakBegun(0),
            &SpeakGesture(0),
            &SpeakGesture(9),
            &SpeakDone(0),
            &SpeakBegun(1),
            &SpeakDone(1),
            &SpeakBegun(2),
            &SpeakGesture(12),
            &SpeakDone(2)
        ]
    );
    let done = happened.iter().filter(|what| matches!(what, PuppetEventKind::GestureDone(_))).count();
    assert_eq!(done, 3, "each gesture is done once");
}

#[test]
fn a_reset_stops_at_once_and_reports_all_ends() {
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::Speak("[yesl3] One. Two. Three.".to_owned())).unwrap();
    puppet.apply(PuppetOrder::Speak("Four.".to_owned())).unwrap();
    puppet.apply(PuppetOrder::Expression(1)).unwrap();
    puppet.apply(PuppetOrder::Weigh(Subsystem::Direct, 1.0)).unwrap();
    puppet.apply(PuppetOrder::Servo(0, 1.0)).unwrap();
    run(&mut puppet, 0.4);
    let next = puppet.events().next();
    puppet.apply(PuppetOrder::Reset).unwrap();
    let told: Vec<_> = puppet.events().since(next).unwrap().map(|event| event.kind.clone()).collect();
    assert_eq!(told, [PuppetEventKind::SpeakDone(0), PuppetEventKind::SpeakDone(1), PuppetEventKind::GestureDone(6)]);
    let view = puppet.view();
    assert!(
        view.speech_request.is_none()
            && !view.is_speaking
            && view.expression == 0
            && view.weights == Weights::default()
    );
    assert_eq!(run(&mut puppet, 5.0), []);
    assert!(puppet.positions().iter().zip(rest()).all(|(now, rest)| (now - rest).abs() < 1e-2), "back at rest");
}

#[test]
fn texts_and_gestures_have_their_sources() {
    use PuppetEventKind::{GestureDone, SpeakBegun, SpeakDone, SpeakGesture};
    let mut puppet = puppet();
    let give = |puppet: &mut Puppet, source: &str, order: PuppetOrder| {
        puppet.apply(AttributedOrder::new(source, order)).unwrap();
    };
    give(&mut puppet, "ada", PuppetOrder::Gesture(5));
    give(&mut puppet, "ada", PuppetOrder::Speak("[nos]One.".to_owned()));
    give(&mut puppet, "bob", PuppetOrder::Speak("Two.".to_owned()));
    run(&mut puppet, 0.1);
    // the same gesture as that of another one which began before it, and a longer one which is cut short
    give(&mut puppet, "bob", PuppetOrder::Gesture(5));
    run(&mut puppet, 0.8);
    give(&mut puppet, "bob", PuppetOrder::Gesture(4));
    puppet.apply(PuppetOrder::Hear(vec![Hypothesis { confidence: 1.0, text: "Hi".to_owned() }])).unwrap();
    give(&mut puppet, "eve", PuppetOrder::Speak("Three.".to_owned()));
    give(&mut puppet, "ada", PuppetOrder::Reset);
    let told: Vec<_> = puppet.events().since(0).unwrap().map(|event| (event.source.as_deref(), &event.kind)).collect();
    let of = |name| told.iter().filter(|(source, _)| *source == name).map(|(_, kind)| *kind).collect::<Vec<_>>();
    let ada = [SpeakBegun(0), SpeakGesture(9), GestureDone(5), SpeakDone(0), GestureDone(9)];
    assert_eq!(of(Some("ada")), ada.iter().collect::<Vec<_>>());
    let bob = [SpeakBegun(1), GestureDone(5), SpeakDone(1), GestureDone(4)];
    assert_eq!(of(Some("bob")), bob.iter().collect::<Vec<_>>());
    assert_eq!(of(Some("eve")), [&SpeakDone(2)]);
    assert!(matches!(of(None)[..], [PuppetEventKind::Utterance(_)]), "perceptions are for all");
}

#[test]
fn a_voice_that_answers_once_speaks_every_text() {
    let mut puppet = puppet();
    for text in ["One. Two.", "", "Three.", "[wob]", "Four."] {
        puppet.apply(PuppetOrder::Speak(text.to_owned())).unwrap();
    }
    let (mut spoken, mut last) = (Vec::new(), None);
    for _ in 0..(5.0 / DT) as usize {
        puppet.step(DT);
        let Some(request) = puppet.view().speech_request else { continue };
        let place = (request.speech, request.phrase);
        if last.replace(place) != Some(place) && !request.content.text.is_empty() {
            let timeline = Timeline { seconds: 0.5, ..Timeline::default() };
            // the same instant in which it was requested
            puppet.apply(PuppetOrder::Say { speech: place.0, phrase: place.1, timeline }).unwrap();
            spoken.push(request.content.text.clone());
        }
    }
    assert_eq!(spoken, ["One. Two.", "Three.", "Four."]);
    let ended = |event: &&PuppetEvent| matches!(event.kind, PuppetEventKind::SpeakDone(_));
    assert_eq!(puppet.events().since(0).unwrap().filter(ended).count(), 5);
}

#[test]
fn a_text_begins_at_once_and_ends_with_its_sound() {
    let mut puppet = puppet();
    run(&mut puppet, 1.0);
    puppet.apply(PuppetOrder::Speak("Hello.".to_owned())).unwrap();
    puppet.step(DT);
    let request = puppet.view().speech_request.expect("requested in the first step");
    let mouth = vec![(0.0, 1.0)];
    let timeline = Timeline { seconds: 0.75, marks: Vec::new(), mouth };
    puppet.apply(PuppetOrder::Say { speech: request.speech, phrase: request.phrase, timeline }).unwrap();
    let (next, closed) = (puppet.events().next(), rest()[index::JAW]);
    let mut steps = 0;
    while puppet.events().next() == next {
        puppet.step(DT);
        steps += 1;
        assert!(puppet.positions()[index::JAW] > closed, "the mouth moves from the first step on");
    }
    let last = puppet.events().since(next).unwrap().next().unwrap();
    assert_eq!(last.kind, PuppetEventKind::SpeakDone(0));
    let seconds = steps as f32 * DT;
    assert!((0.75..0.75 + 2.0 * DT).contains(&(seconds + 1e-4)), "reported after {seconds} s");
}

#[test]
fn volume_and_pitch_are_those_of_now() {
    let mut puppet = puppet();
    let settings = |puppet: &mut Puppet| {
        puppet.step(DT);
        puppet.view().speech_request.map(|request| (request.speech, request.settings.volume, request.settings.pitch))
    };
    puppet.apply(PuppetOrder::Speak("One.".to_owned())).unwrap();
    puppet.apply(PuppetOrder::Speak("Two.".to_owned())).unwrap();
    assert_eq!(settings(&mut puppet), Some((0, 1.0, 1.0)), "the defaults");
    puppet.apply(PuppetOrder::Volume(0.25)).unwrap();
    puppet.apply(PuppetOrder::Pitch(1.5)).unwrap();
    assert_eq!(settings(&mut puppet), Some((0, 0.25, 1.5)), "within a text");
    let timeline = Timeline { seconds: 0.1, ..Timeline::default() };
    puppet.apply(PuppetOrder::Say { speech: 0, phrase: 0, timeline }).unwrap();
    assert_eq!(settings(&mut puppet), Some((0, 0.25, 1.5)), "while it is spoken");
    (0..20).for_each(|_| puppet.step(DT));
    assert_eq!(settings(&mut puppet), Some((1, 0.25, 1.5)), "in the one that waited");
    puppet.apply(PuppetOrder::Reset).unwrap();
    puppet.apply(PuppetOrder::Speak("Three.".to_owned())).unwrap();
    assert_eq!(settings(&mut puppet), Some((2, 1.0, 1.0)), "the defaults again");
}

#[test]
fn a_reset_restores_gaze_blinking_and_voice() {
    let mut puppet = Puppet::new(PuppetParameters { gestures: Gestures::shipped().unwrap(), blinks: 0.5, seed: 1 });
    let state = |puppet: &Puppet| {
        let PuppetView { look_at, blinks, voice, .. } = puppet.view();
        (look_at, blinks, voice)
    };
    let before = state(&puppet);
    assert_eq!(before, (LookAt::Forward, 0.5, VoiceSettings { pitch: 1.0, volume: 1.0, voice: 0 }));
    for order in [PuppetOrder::LookAt(5), PuppetOrder::Blink(3.0), PuppetOrder::Volume(0.5), PuppetOrder::Pitch(2.0)] {
        puppet.apply(order).unwrap();
    }
    assert_eq!(state(&puppet), (LookAt::Away, 3.0, VoiceSettings { pitch: 2.0, volume: 0.5, voice: 0 }));
    puppet.apply(PuppetOrder::Reset).unwrap();
    assert_eq!(state(&puppet), before);
}

#[test]
fn the_jaw_moves_with_the_voice_and_without_one() {
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::Speak("Hello there.".to_owned())).unwrap();
    let mut open = 0f32;
    let mut step = |puppet: &mut Puppet, count: usize| {
        for _ in 0..count {
            puppet.step(DT);
            open = open.max(puppet.positions()[index::JAW] - rest()[index::JAW]);
        }
    };
    // no voice answers; after the timeout the mouth moves silently
    step(&mut puppet, 150);
    assert!(puppet.view().speech_request.is_some() && !puppet.view().is_speaking);
    step(&mut puppet, 1000);
    assert!(open > 0.1 && puppet.view().speech_request.is_none(), "{open}");
}

#[test]
fn invalid_orders_are_refused_and_have_no_effect() {
    let timeline = Timeline { seconds: f32::NAN, marks: Vec::new(), mouth: Vec::new() };
    for (order, says) in [
        (PuppetOrder::Weigh(Subsystem::Gesture, f32::NAN), "not a finite number"),
        (PuppetOrder::Volume(f32::INFINITY), "not a finite number"),
        (PuppetOrder::Pitch(f32::NAN), "not a finite number"),
        (PuppetOrder::Blink(f32::NAN), "not a finite number"),
        (PuppetOrder::Servo(36, 0.5), "unknown servo 36"),
        (PuppetOrder::Servo(0, f32::NAN), "not a finite number"),
        (PuppetOrder::Servos(vec![0.5; 35]), "35 positions"),
        (PuppetOrder::Servos(vec![f32::NAN; 36]), "not a finite number"),
        (PuppetOrder::Expression(5), "unknown expression 5"),
        (PuppetOrder::LookAt(6), "unknown look-at mode 6"),
        (PuppetOrder::Voice(1), "unknown voice 1"),
        (PuppetOrder::Say { speech: 0, phrase: 0, timeline }, "no longer requested"),
        (
            PuppetOrder::See { tick: Some(0), span: [1.0, 1.0], faces: vec![face(f32::NAN, 0.0, 0.1)] },
            "not a finite number",
        ),
        (PuppetOrder::Hear(vec![Hypothesis { confidence: f32::NAN, text: String::new() }]), "not a finite number"),
    ] {
        let mut puppet = puppet();
        let told = format!("{order:?}");
        let error = puppet.apply(order).unwrap_err();
        assert!(error.to_string().contains(says), "{told}: {error}");
        assert_eq!(run(&mut puppet, 0.5), [], "{told}");
        assert_eq!(puppet.positions(), rest(), "{told}");
    }
}

#[test]
fn numbers_out_of_range_are_clamped() {
    let mut puppet = puppet();
    for (order, weight) in [(-3.0, 0.0), (7.0, 1.0), (0.25, 0.25)] {
        puppet.apply(PuppetOrder::Weigh(Subsystem::RandomHead, order)).unwrap();
        assert_eq!(puppet.view().weights.random_head, weight);
    }
    for (order, pitch) in [(0.0, 0.5), (9.0, 2.0), (1.5, 1.5)] {
        puppet.apply(PuppetOrder::Pitch(order)).unwrap();
        assert_eq!(puppet.view().voice.pitch, pitch);
    }
    puppet.apply(PuppetOrder::Blink(1e9)).unwrap();
    assert_eq!(puppet.view().blinks, 10.0);
}

#[test]
fn the_disappearance_of_the_last_face_is_reported_once() {
    let mut puppet = puppet();
    let mut see = |faces: Vec<Face>| {
        puppet.step(DT);
        let next = puppet.events().next();
        puppet.apply(PuppetOrder::See { tick: Some(0), span: [1.0, 0.8], faces }).unwrap();
        puppet.events().since(next).unwrap().count()
    };
    assert_eq!([see(vec![]), see(vec![face(0.1, 0.0, 0.2)]), see(vec![]), see(vec![])], [0, 1, 1, 0]);
    let next = puppet.events().next();
    puppet.apply(PuppetOrder::See { tick: Some(0), span: [1.0, 0.8], faces: vec![face(0.0, 0.0, 0.1); 40] }).unwrap();
    let told: Vec<_> = puppet.events().since(next).unwrap().collect();
    assert!(matches!(&told[0].kind, PuppetEventKind::Faces(faces) if faces.len() == MAX_FOUND));
}

/// A face stands still in the world; images of it arrive some ticks late.
#[test]
fn the_head_turns_to_a_face_without_oscillating() {
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::LookAt(3)).unwrap();
    let (span, place, late) = ([1.0f32, 0.8], [0.7f32, -0.15], 6);
    let mut seen = VecDeque::new();
    let mut heads = Vec::new();
    for tick in 0..400u64 {
        for _ in 0..2 {
            puppet.step(DT);
        }
        puppet.end_tick(tick, None);
        let head = puppet.mixer.head();
        heads.push(head);
        seen.push_back((tick, [(head[0] - place[0]) * 2.0 / span[0], (head[1] - place[1]) * 2.0 / span[1]]));
        if seen.len() > late {
            let (tick, [x, y]) = seen.pop_front().unwrap();
            let faces = if x.abs() < 1.5 { vec![face(x, y, 0.2)] } else { vec![] };
            puppet.apply(PuppetOrder::See { tick: Some(tick), span, faces }).unwrap();
        }
    }
    let last = heads.last().unwrap();
    assert!((last[0] - place[0]).abs() < 0.02 && (last[1] - place[1]).abs() < 0.02, "{last:?}");
    let overshoot = heads.iter().fold(0f32, |most, head| most.max(head[0] - place[0]));
    assert!(overshoot < 0.03, "{overshoot}");
}

#[test]
fn look_at_modes_have_the_protocols_numbers() {
    // a large face to her left, a small one to her right
    let faces = || vec![face(-0.6, 0.0, 0.4), face(0.6, 0.0, 0.1)];
    for (number, [left, up]) in [(0, [0, 0]), (1, [0, -1]), (2, [0, 1]), (3, [1, 0]), (4, [-1, 0])] {
        let mut puppet = puppet();
        puppet.apply(PuppetOrder::LookAt(number)).unwrap();
        for _ in 0..400 {
            puppet.apply(PuppetOrder::See { tick: None, span: [1.0, 0.8], faces: faces() }).unwrap();
            puppet.step(DT);
        }
        let direction = |servo: usize| {
            let offset = puppet.positions()[servo] - 0.5;
            i32::from(offset > 0.05) - i32::from(offset < -0.05)
        };
        assert_eq!([index::NECK_YAW, index::NECK_PITCH].map(direction), [left, up], "{number}");
    }
    // 5 looks at neither
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::LookAt(5)).unwrap();
    for _ in 0..400 {
        puppet.apply(PuppetOrder::See { tick: None, span: [1.0, 0.8], faces: vec![face(-0.2, 0.0, 0.4)] }).unwrap();
        puppet.step(DT);
    }
    assert!(puppet.mixer.head()[0] < -0.2, "{:?}", puppet.mixer.head());
}

#[test]
fn all_servos_go_to_their_own_positions() {
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::Weigh(Subsystem::Direct, 1.0)).unwrap();
    let ascending: Vec<f32> = (0..COUNT).map(|servo| servo as f32 / 35.0).collect();
    let descending = ascending.iter().rev().copied().collect();
    for positions in [ascending, descending] {
        puppet.apply(PuppetOrder::Servos(positions.clone())).unwrap();
        run(&mut puppet, 5.0);
        for (servo, (now, ordered)) in puppet.positions().into_iter().zip(positions).enumerate() {
            assert!((now - ordered).abs() < 1e-3, "servo {servo} is at {now} instead of {ordered}");
        }
    }
    // positions out of range are those of the stops
    puppet.apply(PuppetOrder::Servos(vec![-1.0; COUNT])).unwrap();
    run(&mut puppet, 5.0);
    assert!(puppet.positions().iter().all(|now| now.abs() < 1e-3));
}

#[test]
fn events_that_are_no_longer_kept_are_missed() {
    let mut puppet = puppet();
    for _ in 0..KEPT_EVENTS + 10 {
        puppet.step(DT);
        puppet.apply(PuppetOrder::See { tick: Some(0), span: [1.0, 1.0], faces: vec![face(0.0, 0.0, 0.1)] }).unwrap();
    }
    assert!(puppet.events().since(9).is_none());
    assert_eq!(puppet.events().since(10).unwrap().count(), KEPT_EVENTS);
    assert_eq!(puppet.events().since(u64::MAX).unwrap().count(), 0);
}

#[test]
fn orders_round_trip_through_json() {
    let order = AttributedOrder::new("127.0.0.1:5", PuppetOrder::Blink(0.1));
    let text = r#"{"who":"127.0.0.1:5","order":{"Blink":0.1}}"#;
    assert_eq!(serde_json::to_string(&order).unwrap(), text);
    assert_eq!(AttributedOrder::from_text(text).unwrap(), order);
    let order = AttributedOrder::new("", PuppetOrder::Servos(vec![0.1; COUNT]));
    assert_eq!(AttributedOrder::from_text(&serde_json::to_string(&order).unwrap()).unwrap(), order);
    let order = AttributedOrder::new("x".repeat(256 + 1), PuppetOrder::Reset);
    let error = AttributedOrder::from_text(&serde_json::to_string(&order).unwrap()).unwrap_err();
    assert!(matches!(error, OrderTextError::Refused(PuppetRefusal::SourceTooLong)), "{error}");
    for text in ["", "{}", "[1]", r#"{"who":"","order":{"Blink":null}}"#] {
        AttributedOrder::from_text(text).unwrap_err();
    }
}

#[test]
fn orders_beyond_the_limits_are_refused() {
    let mut puppet = puppet();
    let mut refused = |order: PuppetOrder, expected: PuppetRefusal| {
        let refusals = (0..1000).filter_map(|_| puppet.apply(order.clone()).err());
        refusals.inspect(|refusal| assert_eq!(*refusal, expected)).count()
    };
    assert_eq!(
        refused(PuppetOrder::Speak("x".to_owned()), PuppetRefusal::SpeechQueueFull),
        1000 - crate::talk::MAX_WAITING
    );
    assert_eq!(refused(PuppetOrder::Gesture(12), PuppetRefusal::TooManyGestures), 1000 - crate::mixer::MAX_PLAYING);
    assert_eq!(refused(PuppetOrder::Gesture(13), PuppetRefusal::UnknownGesture { id: 13 }), 1000);
    assert_eq!(puppet.events().next(), 0, "no events");
}

#[test]
fn while_paused_only_the_latest_faces_are_kept() {
    let mut puppet = puppet();
    let see = |puppet: &mut Puppet, x: f32| {
        puppet.apply(PuppetOrder::See { tick: Some(0), span: [1.0, 0.8], faces: vec![face(x, 0.0, 0.2)] }).unwrap();
    };
    (0..5000).for_each(|count| see(&mut puppet, count as f32 / 5000.0));
    assert_eq!(puppet.events().next(), 1);
    puppet.step(DT);
    see(&mut puppet, 0.25);
    let last = puppet.events().since(1).unwrap().next().unwrap().kind.clone();
    assert!(puppet.events().next() == 2 && matches!(&last, PuppetEventKind::Faces(faces) if faces[0].x == 0.25));
}

#[test]
fn a_fixed_camera_does_not_turn_with_the_head() {
    let mut puppet = puppet();
    puppet.apply(PuppetOrder::LookAt(3)).unwrap();
    for tick in 0..400 {
        puppet.step(DT);
        puppet.end_tick(tick, None);
        puppet.apply(PuppetOrder::See { tick: None, span: [1.0, 0.8], faces: vec![face(-0.4, 0.0, 0.2)] }).unwrap();
    }
    assert!((puppet.mixer.head()[0] - 0.2).abs() < 0.01, "{:?}", puppet.mixer.head());
}
