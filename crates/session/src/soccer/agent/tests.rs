mod joining;
mod mechanics;

use std::{fs, path::Path};

use physics::{Limits, Source};
use proptest::prelude::*;
use wire::{Message, soccer::PlayMode};
use world::clock::Pace;

use crate::{Context, Outbox};

use super::{
    super::testing::{CYCLE, Config, SILENCE, TestGame, frame, peer},
    *,
};

/// The names of the landmarks, the ball and the players in what is seen, in order.
fn seen_names(text: &str) -> Vec<String> {
    let see = text.split_once("(See ").map_or("", |(_, see)| see);
    see.split("(pol ").filter_map(|part| part.rsplit('(').next()).map(|name| name.trim().to_owned()).collect()
}

/// A text without its numbers: the expressions and their order.
fn shape(text: &str) -> String {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let mut shape = String::new();
    for piece in text.split_inclusive([' ', '(', ')']) {
        let word = piece.trim_end_matches([' ', '(', ')']);
        shape.push_str(if is_number(word) { "#" } else { word });
        shape.push_str(&piece[word.len()..]);
    }
    shape
}

#[test]
fn agents_get_a_perception_each_cycle_after_joining() {
    let mut game = TestGame::new();
    game.cycles(3);
    let a = game.join("T1 Reds 2");
    assert_eq!(game.received(a), 0, "an init is not answered");
    for count in 1..20 {
        game.cycles(1);
        assert_eq!(game.received(a), count);
        let perception = game.last(a);
        let behind = f64::from(count as u32 + 2) * 0.02 - perception.time.get();
        assert!((0.0..0.011).contains(&behind), "{count}: {behind}");
        assert_eq!(perception.see.is_some(), (count + 2) % 2 == 0, "vision every second cycle");
    }
    let perception = game.last(a);
    assert_eq!(perception.game.play_mode, PlayMode::BeforeKickOff);
    assert_eq!(perception.game.team_left.unwrap().as_str(), "Reds");
    assert_eq!(perception.game.team_right, None);
    let [x, y, _] = game.position(a);
    assert!((x + 5.0).abs() < 0.1 && (y - 37.0).abs() < 0.1, "{x} {y}");
    assert_eq!(game.agents[a].refusals, [""; 0]);
}

/// Compares with messages of the league's server for the same robot: the same names in the same order.
#[test]
fn perceptions_are_those_of_the_league() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/soccer/recorded.json");
    let recorded: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let text = |index: usize| recorded["perceptions"][index]["text"].as_str().unwrap().to_owned();

    let mut game = TestGame::on("fifa7vs7", Config::default(), Pace::Fast);
    let a = game.join("T1 TeamA 2");
    game.cycles(2);
    let [ours, blind] = &game.agents[a].received[..] else { panic!("{} messages", game.received(a)) };
    assert_eq!(shape(blind), shape(&text(1)), "without sight");
    // objects near the edge of the field of view are ignored
    let is_sure = |name: &String| name != "t_cuf";
    let names = |text: &str| seen_names(text).into_iter().filter(is_sure).collect::<Vec<_>>();
    assert_eq!(names(ours), names(&text(0)));
    let before = |text: &str| shape(text.split("(See").next().unwrap());
    assert_eq!(before(ours), before(&text(0)));

    let theirs = Perception::decode(text(0).as_bytes()).unwrap();
    let ours = Perception::decode(ours.as_bytes()).unwrap();
    for (landmark, at) in theirs.see.as_ref().unwrap().landmarks.iter() {
        let seen = ours.see.as_ref().unwrap().landmarks.iter().find(|(other, _)| other == landmark);
        let Some((_, seen)) = seen else { continue };
        for (one, other) in
            [(at.distance, seen.distance), (at.azimuth_deg, seen.azimuth_deg), (at.elevation_deg, seen.elevation_deg)]
        {
            assert!((one.get() - other.get()).abs() < 0.05, "{landmark:?}: {at:?} and {seen:?}");
        }
    }
    let far = |one: f64, other: f64| (one - other).abs() > 0.002;
    let (one, other) = (&theirs.positions[0].values, &ours.positions[0].values);
    assert!(!one.iter().zip(other).any(|(one, other)| far(one.get(), other.get())), "{one:?} and {other:?}");
    let (one, other) = (&theirs.orientations[0].values, &ours.orientations[0].values);
    assert!(!one.iter().zip(other).any(|(one, other)| far(one.get(), other.get())), "{one:?} and {other:?}");
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/soccer/transcripts");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let transcript: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut game = TestGame::new();
        let (mut agents, mut read) = (Vec::new(), Vec::new());
        for (number, step) in transcript["steps"].as_array().unwrap().iter().enumerate() {
            let place = format!("step {number} of {}", path.display());
            let name = step["from"].as_str().unwrap_or("a");
            let agent = agents.iter().position(|known| *known == name).unwrap_or_else(|| {
                agents.push(name);
                read.push(0);
                game.connect()
            });
            if let Some(message) = step["send"].as_str() {
                game.send(agent, message);
            } else if let Some(texts) = step["expect"].as_array() {
                let has_all = |message: &String| texts.iter().all(|text| message.contains(text.as_str().unwrap()));
                let found = (0..100).any(|_| {
                    let found = game.agents[agent].received[read[agent]..].iter().position(has_all);
                    read[agent] += found.map_or(game.received(agent) - read[agent], |index| index + 1);
                    found.is_some() || {
                        game.cycles(1);
                        false
                    }
                });
                assert!(found, "{place}: {}", game.last_text(agent));
            } else {
                assert_eq!(step["expect_end"], true, "{place} is not a known step");
                assert!(game.closed(agent).is_some(), "{place}");
            }
        }
        count += 1;
    }
    assert!(count >= 4, "only {count} transcripts were found");
}

/// Number of messages between a perception and the effect of the beam that answers it.
fn cycles_until_a_beam_is_perceived(game: &mut TestGame) -> usize {
    let a = game.join("T1 Reds 2");
    let mut answered = 0;
    let mut asked = None;
    for _ in 0..30 {
        while answered < game.received(a) {
            answered += 1;
            if answered == 5 {
                game.send(a, "(beam -10 4 30)(syn)");
                asked = Some(answered);
            } else {
                game.send(a, "(syn)");
            }
        }
        if game.received(a) > 0 && (game.position(a)[0] + 10.0).abs() < 0.1 {
            return game.received(a) - asked.unwrap();
        }
        game.cycles(1);
    }
    panic!("the beam was never perceived")
}

#[test]
fn a_beam_is_perceived_two_messages_later_or_one_if_sequential() {
    assert_eq!(cycles_until_a_beam_is_perceived(&mut TestGame::new()), 2, "real time");
    assert_eq!(cycles_until_a_beam_is_perceived(&mut TestGame::sync(false)), 2, "sync");
    assert_eq!(cycles_until_a_beam_is_perceived(&mut TestGame::sync(true)), 1, "sequential");
    let late = Config::sequential();
    assert_eq!(
        cycles_until_a_beam_is_perceived(&mut TestGame::on("fifa", late, Pace::Lockstep)),
        1,
        "sequential implies sync"
    );
}

#[test]
fn a_beam_of_the_right_team_is_mirrored() {
    let mut game = TestGame::new();
    let a = game.join("T1 Reds 2");
    let b = game.join("T1 Blues 2");
    game.cycles(2);
    for agent in [a, b] {
        game.send(agent, "(beam -10 4 0)(beam -12 4 0)");
    }
    game.cycles(2);
    let [ax, ay, _] = game.position(a);
    let [bx, by, _] = game.position(b);
    assert!((ax + 12.0).abs() < 0.01 && (ay - 4.0).abs() < 0.01, "the last beam counts: {ax} {ay}");
    assert!((bx - 12.0).abs() < 0.01 && (by - 4.0).abs() < 0.01, "{bx} {by}");
    let faces = |index: usize| game.last(index).orientations[0].values.map(|value| value.get());
    assert!(faces(a)[0] > 0.99, "{:?}", faces(a));
    assert!(faces(b)[3].abs() > 0.99, "{:?}", faces(b));
}

#[test]
fn messages_right_after_the_init_are_executed() {
    for mut game in [TestGame::new(), TestGame::sync(false), TestGame::sync(true)] {
        let a = game.connect();
        let mut bytes = frame("(init T1 Reds 2)");
        bytes.extend(frame("(beam -10 4 0)"));
        game.send_bytes(a, &bytes);
        game.cycle();
        game.send(a, "(syn)");
        game.cycle();
        assert!((game.position(a)[0] + 10.0).abs() < 0.1, "{}", game.last_text(a));
    }
}

#[test]
fn a_cycle_uses_one_message_per_agent() {
    for sequential in [false, true] {
        let mut game = TestGame::sync(sequential);
        assert_eq!(game.cycles_while_open(), 0, "no agent has joined");
        let a = game.join("T1 Reds 2");
        let b = game.join("T1 Blues 2");
        assert_eq!(game.cycles_while_open(), usize::from(!sequential), "until the first perception");
        assert_eq!((game.received(a), game.received(b)), (1, 1));
        let mut before = game.tick();
        for _ in 0..10 {
            game.send(a, "(syn)");
            assert_eq!(game.cycles_while_open(), 0, "one of two has answered");
            game.send(b, "");
            assert_eq!(game.cycles_while_open(), 1, "an empty message counts");
            assert_eq!(game.tick(), before + 1);
            before = game.tick();
        }
        assert_eq!((game.received(a), game.received(b)), (11, 11));

        // early messages are queued, one per cycle
        for _ in 0..5 {
            game.send(a, "(he1 0 0 1 1 0)");
        }
        for _ in 0..5 {
            assert_eq!(game.cycles_while_open(), 0);
            game.send(b, "(he1 0 0 1 1 0");
            assert_eq!(game.cycles_while_open(), 1, "an invalid message counts");
        }
        game.send(b, "(syn)");
        assert_eq!(game.cycles_while_open(), 0, "no queued message is left");
        game.send(a, "(syn)");
        assert_eq!(game.cycles_while_open(), 1);

        for _ in 0..=WAITING + 1 {
            game.send(a, "(syn)");
        }
        assert_eq!(game.closed(a), Some("too many messages ahead of their cycle"));
        game.send(b, "(syn)");
        assert_eq!(game.cycles_while_open(), 1, "the others continue");
        assert_eq!(game.closed(b), None);
    }
}

#[test]
fn unknown_motors_and_invalid_numbers_have_no_effect() {
    let run = |messages: &[&str]| {
        let mut game = TestGame::new();
        let a = game.join("T1 Reds 2");
        game.cycles(2);
        game.send(a, "(lle1 20 0 50 1 0)");
        for message in messages {
            game.send(a, message);
        }
        game.cycles(25);
        let refusals = std::mem::take(&mut game.agents[a].refusals);
        assert_eq!(game.closed(a), None);
        (game.run.world().state_hash(), refusals)
    };
    let (untouched, refusals) = run(&[]);
    assert_eq!(refusals, [""; 0]);
    for (message, wanted) in [
        ("(wheel1 1 2 3 4 5)", "no motor named `wheel1`"),
        ("(lle2 nan 0 50 1 0)", ""),
        ("(lle2 0 inf 50 1 0)", ""),
        ("(lle2 0 0 -inf 1 0)", ""),
        ("(lle2 0 0 1e999 1 0)", ""),
        ("(lle2 1e300 0 1 1 0)", "too large"),
        ("(lle2 0 0 1 1)", ""),
        ("(lle2 0 0 1 1 0", ""),
        ("(beam nan 0 0)", ""),
        ("(beam 0 inf 0)", ""),
        ("(beam 0 0 1e999)", ""),
        ("(beam 1e300 0 0)", ""),
        ("(beam 0 -1e9 0)", ""),
        ("(lle2 0 0 0 0 -1e300)", "too large"),
        ("(beam 1 2)", ""),
        ("(SPK say nan aGVsbG8=)", ""),
        ("(init T1 Reds 3)", "-"),
        ("", "-"),
    ] {
        let (hash, refusals) = run(&[message]);
        assert_eq!(hash, untouched, "{message}");
        let expected = usize::from(wanted != "-");
        assert_eq!(refusals.len(), expected, "{message}: {refusals:?}");
        assert!(expected == 0 || refusals[0].contains(wanted), "{message}: {refusals:?}");
    }
    let (hash, _) = run(&["(lle2 5 0 50 1 0)"]);
    assert_ne!(hash, untouched, "a known motor moves");
    let (one, _) = run(&["(lle2 5 0 50 1 0)", "(wheel1 1 2 3 4 5)(lle3 5 0 50 1 0)"]);
    let (other, _) = run(&["(lle2 5 0 50 1 0)(lle3 5 0 50 1 0)"]);
    assert_eq!(one, other, "the rest of the message is executed");
}

#[test]
fn bumpers_are_touch_sensors() {
    let mut game = TestGame::new();
    let (a, monitor) = (game.join("roller Reds 1"), game.watch());
    game.cycles(2);
    assert!(game.last_text(a).contains("(TCH n bumper_left val 0)"), "{}", game.last_text(a));
    game.send(monitor, "(agent (unum 1)(team Reds)(move 0 0 0.3 0))(ball (pos 0.5 0 0.11)(vel -3 0 0))");
    let felt = (0..50).any(|_| {
        game.cycles(1);
        game.last_text(a).contains("(TCH n flap val 1)")
    });
    assert!(felt, "{}", game.last_text(a));
    game.send(monitor, "(agent (unum 1)(team Reds)(move 0 0 0.3 0))(ball (pos -0.5 0 0.2)(vel 4 0 0))");
    let felt = (0..50).any(|_| {
        game.cycles(1);
        game.last_text(a).contains("(TCH n bumper_back val 1)")
    });
    assert!(felt, "{}", game.last_text(a));
    // it drives at the speed of its wheels without falling
    game.send(monitor, "(agent (unum 1)(team Reds)(move 0 0 0.3 0))(ball (pos 0 5 0.2))");
    game.cycles(5);
    game.send(a, "(we1 0 360 0 1 0)(we2 0 360 0 1 0)");
    game.cycles(100);
    let [x, y, z] = game.position(a);
    assert!((0.7..1.3).contains(&x) && y.abs() < 0.1 && (z - 0.3).abs() < 0.02, "{x} {y} {z}");
}

#[test]
fn speech_is_heard_by_others_with_its_direction() {
    let mut game = TestGame::new();
    let a = game.join("T1 Reds 2");
    let b = game.join("T1 Reds 3");
    let c = game.join("T1 Blues 2");
    game.cycles(2);
    // b looks at the other goal with a to its left, c looks at it from the right half
    game.send(a, "(beam -10 10 0)");
    game.send(b, "(beam -10 0 0)");
    game.send(c, "(beam -10 10 0)");
    game.cycles(5);
    let heard = |game: &TestGame, index: usize| {
        let heard = game.last(index).heard;
        heard.map(|words| words.into_iter().map(|word| (word.azimuth_deg, word.text)).collect::<Vec<_>>())
    };
    assert_eq!([a, b, c].map(|index| heard(&game, index)), [None, None, None], "no one has spoken");

    for (message, text) in [("(SPK say 100 aGVsbG8=)", &b"hello"[..]), ("(say hi)", b"hi")] {
        game.send(a, message);
        game.cycles(2);
        assert_eq!(heard(&game, a), Some(vec![]), "one's own voice");
        assert!(game.last_text(a).contains("(MIC hear )"));
        for (index, azimuth) in [(b, 90), (c, 0)] {
            let words = heard(&game, index).expect("something");
            let [(direction, word)] = &words[..] else { panic!("{words:?}") };
            assert_eq!(word, text);
            assert!((i32::from(*direction) - azimuth).abs() <= 1, "{direction} for {azimuth}");
        }
        game.cycles(1);
        assert_eq!([a, b, c].map(|index| heard(&game, index)), [None, None, None], "only once");
    }
    game.send(a, "(SPK say 100 aGVsbG9oZWxsbzE=)");
    game.cycles(2);
    assert_eq!([a, b, c].map(|index| heard(&game, index)), [Some(vec![]), Some(vec![]), Some(vec![])], "too long");
    game.send(a, "(SPK say 0 aGVsbG8=)");
    game.cycles(2);
    assert_eq!([a, b, c].map(|index| heard(&game, index)), [None, None, None], "too low");
}

#[test]
fn players_are_seen_left_team_first_including_the_agent_itself() {
    let mut game = TestGame::new();
    let c = game.join("T1 Reds 4");
    let b = game.join("T1 Blues 7");
    let a = game.join("T1 Reds 3");
    let trainer = game.watch();
    game.cycles(2);
    game.send(c, "(beam -10 0 0)");
    game.send(b, "(beam -5 0 0)");
    game.send(a, "(beam -5 2 0)");
    game.cycles(2);
    // it looks at its feet; the others are still in view
    game.send(trainer, "(agent (unum 4)(team Reds)(joints (he2 40)))");
    let see = std::iter::repeat_with(|| {
        game.cycles(1);
        game.last(c).see
    });
    let see = see.skip(3).flatten().next().unwrap();
    let players: Vec<_> = see.players.iter().map(|player| (player.team.as_str(), player.number)).collect();
    assert_eq!(players, [("Reds", 4), ("Reds", 3), ("Blues", 7)]);
    let markers = |index: usize| see.players[index].markers.iter().map(|marker| marker.name.as_str());
    assert_eq!(markers(0).collect::<Vec<_>>(), ["lfoot", "rfoot"]);
    assert_eq!(markers(2).collect::<Vec<_>>(), ["head", "lfoot", "rfoot"]);
    let left_foot = see.players[0].markers[0].polar;
    let [distance, azimuth, elevation] =
        [left_foot.distance, left_foot.azimuth_deg, left_foot.elevation_deg].map(|value| value.get());
    assert!((0.9..1.2).contains(&distance) && azimuth > 0.0 && elevation < -30.0, "{left_foot:?}");
}

#[test]
fn a_beam_puts_the_robot_upright_with_its_joints_at_zero() {
    // of the fall from the model's height, a perception shows three steps of 5 ms: 1.5 mm
    for (model, height) in [("T1", 0.672), ("K1", 0.998), ("roller", 0.298)] {
        let mut game = TestGame::new();
        let (a, trainer) = (game.join(&format!("{model} Reds 2")), game.watch());
        game.cycles(2);
        let lies = "(move3d -3 3 0.5 0.7 0.0 0.7 0.1)(joints (he1 40)(he2 30))";
        game.send(trainer, &format!("(agent (unum 2)(team Reds){lies})"));
        game.cycles(10);
        let head = |game: &TestGame| game.last(a).joints[0].angle_deg.get();
        assert!(head(&game) > 30.0, "{model}: {}", game.last_text(a));
        game.send(a, "(beam -10 4 30)");
        game.cycles(2);
        let perception = game.last(a);
        let position = perception.positions[0].values.map(|value| value.get());
        let orientation = perception.orientations[0].values.map(|value| value.get());
        let wanted = [-10.0, 4.0, height, 0.965, 0.0, 0.0, 0.258];
        for (value, wanted) in position.into_iter().chain(orientation).zip(wanted) {
            assert!((value - wanted).abs() < 0.0015, "{model}: {position:?}, {orientation:?}");
        }
        for joint in &perception.joints {
            assert!(joint.angle_deg.get().abs() < 0.1 && joint.velocity_deg.get().abs() < 10.0, "{model}: {joint:?}");
        }
    }
}

#[test]
fn the_play_time_has_no_rounding_errors() {
    let mut game = TestGame::new();
    let (a, trainer) = (game.join("ant Reds 2"), game.watch());
    game.cycles(2);
    game.send(trainer, "(kickOff Left)");
    game.cycles(1);
    for cycle in 1..=100_u32 {
        game.cycles(1);
        let time = format!("(t {:?})", f64::from(cycle * 2) / 100.0);
        assert!(game.last_text(a).contains(&format!("(GS {time}(pm KickOff_Left)")), "{time}: {}", game.last_text(a));
    }
}

#[test]
fn players_beamed_to_the_same_spot_do_not_overlap() {
    let mut game = TestGame::new();
    let agents: Vec<_> = (1..4).map(|number| game.join(&format!("T1 Reds {number}"))).collect();
    game.cycles(1);
    for agent in &agents {
        game.send(*agent, "(beam -3 1 0)");
    }
    game.cycles(3);
    let places: Vec<_> = agents.iter().map(|agent| game.position(*agent)).collect();
    for (index, one) in places.iter().enumerate() {
        for other in &places[index + 1..] {
            let apart = (one[0] - other[0]).hypot(one[1] - other[1]);
            assert!(apart > 0.45, "{places:?}");
        }
    }
}

#[test]
fn the_order_of_messages_within_a_cycle_does_not_matter() {
    let play = |order: [usize; 2]| {
        let mut game = TestGame::sync(false);
        let agents = [game.join("T1 Reds 1"), game.join("T1 Reds 2"), game.join("T1 Reds 3")];
        for cycle in 0..20 {
            for index in order {
                game.send(agents[index], &format!("(beam -3 1 0)(SPK say 100 {})(syn)", ["QUFB", "QkJC"][index]));
            }
            game.send(agents[2], "(syn)");
            assert!(game.cycle(), "{cycle}");
        }
        agents.map(|agent| game.agents[agent].received.clone())
    };
    assert_eq!(play([0, 1]), play([1, 0]));
}

#[test]
fn extreme_beams_do_no_harm() {
    let mut game = TestGame::new();
    let a = game.join("T1 Reds 2");
    let b = game.join("T1 Blues 2");
    game.cycles(3);
    for (beam, is_refused) in [
        ("1e300 0 0", true),
        ("0 -1e300 0", true),
        ("1e12 1e12 1e300", true),
        ("-1001 0 0", true),
        ("-1000 -1000 0", false),
        ("0 0 1e300", false),
    ] {
        game.send(a, &format!("(beam {beam})"));
        game.cycles(5);
        let refusals = std::mem::take(&mut game.agents[a].refusals);
        assert_eq!(refusals.len(), usize::from(is_refused), "{beam}: {refusals:?}");
        assert!(game.run.world().failure().is_none(), "{beam}");
        assert_eq!(game.run.world_mut().take_fault_reports().len(), 0, "{beam}");
    }
    let [x, y, _] = game.position(b);
    assert!((x - 5.0).abs() < 1.0 && (y - 37.0).abs() < 1.0, "{x} {y}");
}

#[test]
fn a_flood_of_messages_is_dropped() {
    let mut game = TestGame::new();
    let a = game.join("T1 Reds 2");
    game.cycles(2);
    let all: String = std::iter::repeat_n("(beam -3 0 0)(SPK say 100 aGVsbG8=)(he1 0 0 1 1 0)", 100).collect();
    let world = game.run.world().snapshot();
    let mut out = Outbox::default();
    for _ in 0..1_000 {
        game.agents[a].session.receive(peer(a), &mut frame(&all), Context::new(&world, game.now), &mut out);
    }
    assert_eq!(out.commands.len(), 3 * MESSAGES_PER_CYCLE);
    assert_eq!(out.refusals.len(), 1_000 - MESSAGES_PER_CYCLE);
    assert!(!out.is_closing());
    game.execute(a, out);
    game.cycles(1);
    game.send(a, "(wheel1 1 2 3 4 5)");
    assert_eq!(game.agents[a].refusals.last().unwrap(), "no motor named `wheel1`", "accepted again");
}

/// Text that is often almost a message.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("init"),
        Just("T1"),
        Just("beam"),
        Just("SPK"),
        Just("say"),
        Just("syn"),
        Just("he1"),
        Just("aGVsbG8="),
        Just("1"),
        Just("-3.5"),
        Just("nan"),
        Just("1e300"),
        Just("("),
        Just(")"),
        Just(")("),
        Just(" "),
    ];
    let text = prop::collection::vec(word, 0..30).prop_map(|words| words.join(" ").into_bytes());
    prop_oneof![4 => text, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_messages_in_any_order_do_no_harm(
        sent in prop::collection::vec((payload(), 0..3_usize), 0..40), sync in any::<bool>(), joins in any::<bool>(),
    ) {
        let mut game = if sync { TestGame::sync(false) } else { TestGame::new() };
        let agent = if joins { game.join("T1 Reds 2") } else { game.connect() };
        for (payload, cycles) in sent {
            if game.closed(agent).is_some() {
                break;
            }
            let mut bytes = (payload.len() as u32).to_be_bytes().to_vec();
            bytes.extend(payload);
            game.send_bytes(agent, &bytes);
            for _ in 0..cycles {
                game.cycle();
            }
        }
        prop_assert!(game.run.world().failure().is_none());
        prop_assert_eq!(game.run.world_mut().take_fault_reports().len(), 0);
        let witness = game.join("T1 Blues 9");
        game.cycle();
        prop_assert_eq!(game.closed(witness), None);
    }
}
