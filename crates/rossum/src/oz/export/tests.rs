//! Records a session in memory and compares it with the export.

use std::{io::Cursor, path::Path};

use jiff::Timestamp;
use library::{ModelKind, model};
use physics::Pose;
use puppet::{
    director::{PuppetConfig, PuppetDirector},
    faces::Face,
    hearing::Hypothesis,
    mixer::Subsystem,
    puppet::{AttributedOrder, PuppetEvent, PuppetEventKind, PuppetOrder, PuppetView},
    speech::Timeline,
};
use world::{Robot, Setup, Value, World, record::Recorder};

use super::{
    csv, eaf,
    session::{Kind, Row, Session},
};

/// What is done to the robot, and when.
enum Deed {
    Order(&'static str, PuppetOrder),
    /// An order that is not carried out, and so is not in the recording.
    Refused(PuppetOrder),
    Write(&'static str, Value),
    NewTry,
}

const OPERATOR: &str = "127.0.0.1:5000";

fn by_operator(order: PuppetOrder) -> Deed {
    Deed::Order(OPERATOR, order)
}

fn face(id: u64, name: &str) -> Face {
    Face { id, confidence: 0.9, x: 0.1, y: 0.2, width: 0.2, height: 0.3, name: name.to_owned() }
}

fn see(tick: u64, faces: Vec<Face>) -> Deed {
    Deed::Order("eyes", PuppetOrder::See { tick: Some(tick), span: [1.0, 0.8], faces })
}

fn script() -> Vec<(u64, Deed)> {
    let heard = |confidence, text: &str| Hypothesis { confidence, text: text.to_owned() };
    let timeline = Timeline { seconds: 0.5, marks: vec![(0.2, 9)], mouth: vec![(0.1, 1.0), (0.4, 0.0)] };
    vec![
        (0, by_operator(PuppetOrder::Expression(1))),
        (5, by_operator(PuppetOrder::Speak("[nos]No, \"thank\" you.".to_owned()))),
        (10, Deed::Order("voice", PuppetOrder::Say { speech: 0, phrase: 0, timeline })),
        (12, by_operator(PuppetOrder::Gesture(5))),
        (14, Deed::Order("127.0.0.1:5001", PuppetOrder::Gesture(5))),
        (20, Deed::Refused(PuppetOrder::Expression(99))),
        (30, see(28, vec![face(7, "")])),
        (40, see(38, vec![face(7, "Ada"), face(8, "")])),
        (50, see(48, vec![face(8, "")])),
        (60, see(58, Vec::new())),
        (61, Deed::Order("ears", PuppetOrder::Hear(vec![heard(0.8, "Hello <robot> & co"), heard(0.2, "Yellow")]))),
        (70, by_operator(PuppetOrder::Weigh(Subsystem::Direct, 1.0))),
        (70, by_operator(PuppetOrder::Servo(21, 0.25))),
        (70, by_operator(PuppetOrder::Servos(vec![0.5; 36]))),
        (80, Deed::Write("/Simulation/IterationsPerStep", Value::Integer(4))),
        (81, by_operator(PuppetOrder::LookAt(3))),
        (82, by_operator(PuppetOrder::Voice(0))),
        (83, by_operator(PuppetOrder::Volume(0.5))),
        (84, by_operator(PuppetOrder::Pitch(1.5))),
        (85, by_operator(PuppetOrder::Blink(0.5))),
        (90, by_operator(PuppetOrder::Speak("This is never said to its end.".to_owned()))),
        (91, by_operator(PuppetOrder::Speak("Nor is this begun.".to_owned()))),
        (100, by_operator(PuppetOrder::Reset)),
        (110, by_operator(PuppetOrder::Gesture(6))),
        (120, Deed::NewTry),
        (121, Deed::Write("/Simulation/TimeStepSize", Value::Double(0.0025))),
        (130, by_operator(PuppetOrder::Gesture(12))),
        (148, by_operator(PuppetOrder::Speak("The end".to_owned()))),
    ]
}

/// Runs the script in a world with physics. Gives the recording and what the robot told.
fn record(script: &[(u64, Deed)], ticks: u64) -> (Vec<u8>, Vec<PuppetEvent>) {
    let config = PuppetConfig { robot: "Alice".to_owned(), blinks: 2.0, gestures: Vec::new() };
    let source = |kind, name| model(kind, name, Path::new("")).unwrap();
    let robot = Robot {
        name: "Alice".to_owned(),
        source: source(ModelKind::Robot, "alice"),
        pose: Pose { pos: [0.0; 3], quat: [1.0, 0.0, 0.0, 0.0] },
    };
    let setup = Setup {
        robots: vec![robot],
        timestep: Some(0.005),
        steps_per_tick: 2,
        seed: 3,
        directors: vec![format!("oz {}", config.description())],
        ..Setup::new(source(ModelKind::Field, "flat"))
    };
    let director = Box::new(PuppetDirector::new(&config).unwrap());
    let mut world = World::with_directors(&setup, vec![director]).unwrap();
    world.keep_journal();
    let mut file = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut file, &setup, &world).unwrap();
    for tick in 0..ticks {
        for (_, deed) in script.iter().filter(|(at, _)| *at == tick) {
            carry_out(&mut world, deed);
        }
        world.tick();
        if let Some(record) = world.take_record(50) {
            recorder.write(&record).unwrap();
        }
    }
    if let Some(record) = world.last_record(50) {
        recorder.write(&record).unwrap();
    }
    recorder.finish().unwrap();
    drop(recorder);
    let snapshot = world.take_snapshot();
    let view = snapshot.view::<PuppetView>().unwrap();
    let events = view.events.since(0).unwrap().cloned().collect();
    (file.into_inner(), events)
}

fn carry_out(world: &mut World, deed: &Deed) {
    let attributed = |source: &str, order: &PuppetOrder| AttributedOrder::new(source, order.clone());
    match deed {
        Deed::Order(who, order) => drop(world.order::<PuppetDirector>(attributed(who, order)).unwrap()),
        Deed::Refused(order) => drop(world.order::<PuppetDirector>(attributed(OPERATOR, order)).unwrap_err()),
        Deed::Write(variable, value) => {
            let id = world.catalogue().variable_named(variable).unwrap().id;
            let _ = world.write(id, value.clone()).unwrap();
        }
        Deed::NewTry => world.reset(Some(9)),
    }
}

fn rows(session: &Session, kind: Kind) -> Vec<&Row> {
    session.rows.iter().filter(|row| row.kind == kind).collect()
}

#[test]
fn every_action_is_there_once_and_in_its_order() {
    let script = script();
    let (recording, _) = record(&script, 150);
    let session = Session::of(Cursor::new(&recording)).unwrap();
    let actions: Vec<_> = session.rows.iter().filter(|row| row.kind.is_action()).collect();
    let wanted: Vec<_> = script
        .iter()
        .filter_map(|(_, deed)| match deed {
            Deed::Order(who, order) if !order.is_own() => Some(*who),
            _ => None,
        })
        .collect();
    assert_eq!(actions.iter().map(|row| row.who.as_str()).collect::<Vec<_>>(), wanted);
    let servos = vec!["0.5"; 36].join(" ");
    let told: Vec<_> = actions.iter().map(|row| (row.kind.name(), row.what.as_str(), row.text.as_str())).collect();
    assert_eq!(
        told,
        [
            ("operator.expression", "happy", ""),
            ("operator.speak", "", "[nos]No, \"thank\" you."),
            ("operator.gesture", "yess", ""),
            ("operator.gesture", "yess", ""),
            ("operator.weight", "direct", "1"),
            ("operator.servo", "neck_yaw", "0.25"),
            ("operator.servos", "", servos.as_str()),
            ("operator.lookat", "largest", ""),
            ("operator.voice", "", "0"),
            ("operator.volume", "", "0.5"),
            ("operator.pitch", "", "1.5"),
            ("operator.blink", "", "0.5"),
            ("operator.speak", "", "This is never said to its end."),
            ("operator.speak", "", "Nor is this begun."),
            ("operator.reset", "", ""),
            ("operator.gesture", "yesl3", ""),
            ("operator.gesture", "wob", ""),
            ("operator.speak", "", "The end"),
        ]
    );
    let table = String::from_utf8(csv::table(&session).unwrap()).unwrap();
    assert_eq!(table.matches("operator.").count(), wanted.len());
    assert!(table.contains(",\"[nos]No, \"\"thank\"\" you.\"\r\n"), "{table}");
    // 80 ticks of 10 ms, then of 20 ms, and at last of 10 ms
    let time_of = |kind| rows(&session, Kind::Action(kind))[0].begin;
    for (kind, time) in [("operator.speak", 0.05), ("operator.lookat", 0.82), ("operator.reset", 1.2)] {
        assert!((time_of(kind) - time).abs() < 1e-6, "{kind}: {}", time_of(kind));
    }
    let last = actions.last().unwrap().begin;
    assert!((last - (0.8 + 41.0 * 0.02 + 27.0 * 0.01)).abs() < 1e-6, "{last}");
    assert!(session.warning.is_none() && (session.seconds - last - 0.02).abs() < 1e-6, "{}", session.seconds);
}

#[test]
fn what_the_robot_did_is_as_it_was() {
    let (recording, events) = record(&script(), 150);
    let session = Session::of(Cursor::new(&recording)).unwrap();
    let times = |wanted: fn(&PuppetEventKind) -> bool| -> Vec<f64> {
        events.iter().filter(|event| wanted(&event.kind)).map(|event| event.time).collect()
    };
    // to the last bit, although nothing of physics was run
    let speech = rows(&session, Kind::Speech);
    let begun: Vec<_> = speech.iter().filter(|row| row.what != "not begun").map(|row| row.begin).collect();
    assert_eq!(begun, times(|what| matches!(what, PuppetEventKind::SpeakBegun(_))));
    let ended: Vec<_> = speech.iter().filter(|row| row.what != "unfinished").map(|row| row.end).collect();
    assert_eq!(ended, times(|what| matches!(what, PuppetEventKind::SpeakDone(_))));
    let said: Vec<_> = speech.iter().map(|row| (row.text.as_str(), row.what.as_str())).collect();
    assert_eq!(
        said,
        [
            ("[nos]No, \"thank\" you.", ""),
            ("This is never said to its end.", "cut short"),
            ("Nor is this begun.", "not begun"),
            ("The end", "unfinished"),
        ]
    );
    let gestures = rows(&session, Kind::Gesture);
    let mut ended: Vec<_> = gestures.iter().filter(|row| row.text != "unfinished").map(|row| row.end).collect();
    ended.sort_by(f64::total_cmp);
    assert_eq!(ended, times(|what| matches!(what, PuppetEventKind::GestureDone(_))));
    let played: Vec<_> = gestures.iter().map(|row| (row.what.as_str(), row.text.as_str())).collect();
    assert_eq!(played, [("yess", ""), ("yess", ""), ("nos", ""), ("yesl3", "cut short"), ("wob", "unfinished")]);
    let both: Vec<_> = gestures[..2].iter().map(|row| row.end - row.begin).collect();
    assert!((both[0] - both[1]).abs() < 0.006, "the first that begins ends first: {both:?}");
    let seen: Vec<_> = rows(&session, Kind::Face).iter().map(|row| (row.what.as_str(), row.end - row.begin)).collect();
    assert!(
        matches!(seen[..], [("Ada", a), ("unknown", b)] if (a - 0.2).abs() < 1e-6 && (b - 0.2).abs() < 1e-6),
        "{seen:?}"
    );
    let heard: Vec<_> =
        rows(&session, Kind::Utterance).iter().map(|row| (row.what.as_str(), row.text.as_str())).collect();
    assert_eq!(heard, [("0.80", "Hello <robot> & co")]);
    let shown: Vec<_> = rows(&session, Kind::Expression).iter().map(|row| row.what.as_str()).collect();
    assert_eq!(shown, ["happy", "neutral"]);
    let looked: Vec<_> = rows(&session, Kind::LookAt).iter().map(|row| row.what.as_str()).collect();
    assert_eq!(looked, ["forward", "largest", "forward"]);
    assert_eq!(rows(&session, Kind::NewTry).len(), 1);
}

#[test]
fn the_document_is_as_elan_wants_it() {
    let (recording, _) = record(&script(), 150);
    let session = Session::of(Cursor::new(&recording)).unwrap();
    let text = String::from_utf8(eaf::document(&session, Timestamp::UNIX_EPOCH).unwrap()).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("FORMAT")), ("ANNOTATION_DOCUMENT", Some("3.0")));
    let children: Vec<_> =
        root.children().filter(|node| node.is_element()).map(|node| node.tag_name().name()).collect();
    assert!(
        children.starts_with(&["HEADER", "TIME_ORDER", "TIER"]) && children.ends_with(&["TIER", "LINGUISTIC_TYPE"])
    );
    let named = |name: &'static str| document.descendants().filter(move |node| node.has_tag_name(name));
    let slots: Vec<(&str, u64)> = named("TIME_SLOT")
        .map(|slot| (slot.attribute("TIME_SLOT_ID").unwrap(), slot.attribute("TIME_VALUE").unwrap().parse().unwrap()))
        .collect();
    assert!(slots.is_sorted_by_key(|(_, time)| *time));
    let time = |id: &str| slots.iter().find(|(slot, _)| *slot == id).unwrap().1;
    let mut used = Vec::new();
    let mut tiers = Vec::new();
    for tier in named("TIER") {
        let mut last = 0;
        let mut values = Vec::new();
        for annotation in tier.descendants().filter(|node| node.has_tag_name("ALIGNABLE_ANNOTATION")) {
            let slots = ["TIME_SLOT_REF1", "TIME_SLOT_REF2"].map(|name| annotation.attribute(name).unwrap());
            let [begin, end] = slots.map(time);
            assert!(last <= begin && begin < end, "{last} {begin} {end}");
            last = end;
            used.extend(slots);
            values.push(annotation.first_element_child().unwrap().text().unwrap().to_owned());
        }
        tiers.push((tier.attribute("TIER_ID").unwrap(), values));
    }
    used.sort_unstable();
    let all = used.len();
    used.dedup();
    assert!(used.len() == all && all == slots.len(), "each slot is used once");
    let names: Vec<_> = tiers.iter().map(|(name, _)| *name).collect();
    let wanted = "operator speech, operator actions, robot speech, gestures, gestures 2, gestures 3, expression, lookat, \
                  utterances, faces";
    assert_eq!(names.join(", "), wanted);
    let of = |name: &str| tiers.iter().find(|(tier, _)| *tier == name).unwrap().1.clone();
    assert_eq!(of("operator speech")[0], "[nos]No, \"thank\" you.");
    assert!(of("operator actions")[3].starts_with("weight direct 1; servo neck_yaw 0.25; servos 0.5"));
    assert_eq!(of("robot speech")[1], "This is never said to its end. (cut short)");
    assert_eq!(
        (of("utterances"), of("faces")),
        (vec!["Hello <robot> & co".to_owned()], vec!["Ada, unknown".to_owned()])
    );
}

#[test]
fn too_many_at_once_are_told_from_those_that_were_played() {
    let mut script: Vec<_> = (0..64).map(|_| (0, by_operator(PuppetOrder::Gesture(5)))).collect();
    // a tag in a text; an order of an operator would be refused, and not be in the recording
    script.push((3, by_operator(PuppetOrder::Speak("[yess]".to_owned()))));
    let (recording, _) = record(&script, 400);
    let session = Session::of(Cursor::new(&recording)).unwrap();
    let gestures = rows(&session, Kind::Gesture);
    let played = gestures.iter().filter(|row| row.text.is_empty() && row.begin == 0.0 && row.end > 0.5).count();
    let refused: Vec<_> = gestures.iter().filter(|row| row.text.starts_with("refused")).collect();
    assert_eq!((played, refused.len(), gestures.len()), (64, 1, 65));
    assert!(refused[0].begin == refused[0].end && refused[0].begin > 0.0);
}

#[test]
fn what_is_no_session_is_refused() {
    let setup = Setup::new(model(ModelKind::Field, "flat", Path::new("")).unwrap());
    let world = World::new(&setup).unwrap();
    let mut file = Cursor::new(Vec::new());
    Recorder::new(&mut file, &setup, &world).unwrap().finish().unwrap();
    let said = |recording: &[u8]| Session::of(Cursor::new(recording)).err().unwrap().to_string();
    assert!(said(file.get_ref()).contains("no [oz] robot"), "{}", said(file.get_ref()));
    for other in [&b""[..], b"hello", &[0; 5_000]] {
        assert!(said(other).contains("recording"), "{}", said(other));
    }
    // one that was cut off is used as far as it goes
    let (recording, _) = record(&script(), 150);
    let session = Session::of(Cursor::new(&recording[..recording.len() - 20])).unwrap();
    assert_eq!(session.warning.as_deref(), Some("the recording is truncated"));
}
