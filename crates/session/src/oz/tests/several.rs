//! What each of several operators is told.

use super::*;

#[test]
fn perceptions_are_sent_to_all_operators() {
    let mut harness = Harness::new();
    let (one, other) = (harness.join(), harness.join());
    let sense = |harness: &mut Harness, order| {
        harness.world.order::<PuppetDirector>(AttributedOrder::new("test", order)).unwrap();
        harness.tick();
    };
    let name = "Zoë".to_owned();
    let face = puppet::faces::Face { id: 7, confidence: 0.5, x: -0.25, y: 0.5, width: 0.125, height: 0.25, name };
    sense(&mut harness, PuppetOrder::See { tick: None, span: [1.0, 0.8], faces: vec![face] });
    sense(&mut harness, PuppetOrder::Hear(vec![Hypothesis { confidence: 0.5, text: "Hello".to_owned() }]));
    let late = harness.join();
    harness.tick();
    let received = harness.events(one);
    let [Event::Faces(faces), Event::Utterance(heard)] = &received[..] else { panic!("{received:?}") };
    let [face] = faces.as_slice() else { panic!("{faces:?}") };
    assert_eq!((face.name.as_str(), face.x, face.width), ("Zoë", -0.25, 0.125));
    assert_eq!(heard.options()[0].text.as_str(), "Hello");
    assert_eq!(harness.events(other), received);
    assert_eq!(harness.events(late), [], "only events after it has joined");
}

#[test]
fn each_operator_is_told_the_ends_of_its_own_texts_and_gestures() {
    let mut harness = Harness::new();
    let (one, other, watcher) = (harness.join(), harness.join(), harness.join());
    harness.send(one, &speak("[nos]"));
    harness.send(other, &speak("[wob][yess]"));
    harness.send(other, &Request::Gesture(1));
    (0..300).for_each(|_| harness.tick());
    assert_eq!(harness.events(one), [Event::SpeakGesture(9), Event::SpeakDone, Event::GestureDone]);
    let gestures = [Event::SpeakGesture(12), Event::SpeakGesture(5), Event::SpeakDone];
    let ends = [Event::GestureDone, Event::GestureDone, Event::GestureDone];
    assert_eq!(harness.events(other), [gestures, ends].concat());
    assert_eq!(harness.events(watcher), []);
    // a reset ends those of all, and each is told its own
    harness.send(one, &speak("A long text."));
    harness.send(one, &Request::Gesture(6));
    harness.send(other, &speak("Another one."));
    harness.tick();
    harness.send(watcher, &Request::Reset);
    harness.tick();
    assert_eq!(harness.events(one), [Event::SpeakDone, Event::GestureDone]);
    assert_eq!(harness.events(other), [Event::SpeakDone]);
    assert_eq!(harness.events(watcher), []);
    // what one that has left ordered concerns nobody
    harness.send(one, &speak("Bye."));
    harness.leave(one);
    (0..500).for_each(|_| harness.tick());
    assert_eq!((harness.events(other), harness.events(watcher)), (vec![], vec![]));
}
