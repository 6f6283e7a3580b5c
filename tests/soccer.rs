//! Soccer over real sockets, against the built binary.

mod playing;
mod running;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    net::{Shutdown, SocketAddr},
    path::Path,
};

use playing::{AGENTS, Agent, MAX_FRAME, Witness, cycle_of};
use running::{Running, eventually, run};
use serde_json::Value;
use wire::soccer::{Dialect, Perception};

fn serve() -> (Running, SocketAddr) {
    let server = Running::serve(&["--scenario", "soccer"]);
    let address = server.address(AGENTS);
    (server, address)
}

#[test]
fn transcripts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../protocols/soccer/transcripts");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("transcripts") {
        let path = entry.expect("a transcript").path();
        let transcript: Value = serde_json::from_str(&fs::read_to_string(&path).expect("text")).expect("JSON");
        let (_server, address) = serve();
        let mut agents = BTreeMap::new();
        for (number, step) in transcript["steps"].as_array().expect("steps").iter().enumerate() {
            let context = format!("step {number} of {}", path.display());
            let name = step["from"].as_str().unwrap_or("a");
            let agent = agents.entry(name).or_insert_with(|| Agent::connect(address));
            if let Some(message) = step["send"].as_str() {
                agent.send(message);
            } else if let Some(texts) = step["expect"].as_array() {
                eventually(&context, || {
                    let told = agent.next_text().unwrap_or_else(|| panic!("{context}: the end"));
                    texts.iter().all(|text| told.contains(text.as_str().expect("a text"))).then_some(())
                });
            } else {
                assert_eq!(step["expect_end"], true, "{context} means nothing");
                agent.await_end();
            }
        }
        count += 1;
    }
    assert!(count >= 4, "only {count} transcripts were found");
}

#[test]
fn two_teams_play_and_a_third_is_rejected() {
    let (_server, address) = serve();
    let mut reds = Agent::join(address, "T1 Reds 2");
    let mut blues = Agent::join(address, "K1 Blues 2");
    Agent::init(address, "T1 Greens 1").await_end();
    let names = eventually("both teams", || {
        let game = reds.next().expect("it plays").game;
        Some((game.team_left?, game.team_right?))
    });
    assert_eq!((names.0.as_str(), names.1.as_str()), ("Reds", "Blues"));
    reds.send("(beam -3 0 0)");
    blues.send("(beam -4 0 0)");
    reds.await_place(-3.0);
    blues.await_place(4.0);
    let seen = eventually("the other", || reds.next().expect("it plays").see);
    assert!(seen.players.iter().any(|player| player.team.as_str() == "Blues" && player.number == 2), "{seen:?}");
    reds.send("(SPK say 100 aGVsbG8=)");
    let heard = eventually("a word", || blues.next().expect("it plays").heard);
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].text, b"hello");
}

#[test]
fn with_document_perceptions_have_the_format_of_the_page() {
    let options = ["soccer", "--free-ports", "--json", "--document", "--no-realtime"];
    let server = Running::start(running::rossum().args(options));
    let mut agent = Agent::init(server.address(AGENTS), "T1 Reds 2");
    let mut first = None;
    for cycle in 0..200_u32 {
        let text = agent.next_text().expect("it plays");
        let begin = *first.get_or_insert_with(|| {
            Perception::decode_in(Dialect::Document, text.as_bytes()).expect("valid").time.get()
        });
        // the time has no rounding errors, and no digits that it does not need
        let time = format!("{:?}", ((begin * 50.0).round() + f64::from(cycle)) / 50.0);
        let start = format!(
            "(time (now {time})) (GS (t 0.0) (pm BeforeKickOff) (tl Reds) (sl 0) (sr 0)) (quat (n torso_quat) (q "
        );
        assert!(text.starts_with(&start), "{start}: {text}");
        for part in [" (pos (n torso_pos) (pos ", " (HJ (n hj1) (ax "] {
            assert!(text.contains(part), "{part}: {text}");
        }
        agent.send("(syn)");
    }
}

#[test]
fn rejected_players_do_not_disturb_others_and_are_logged() {
    let (server, address) = serve();
    let witness = Witness::new(address);
    let mut reds = Agent::join(address, "T1 Reds 2");
    for init in ["T1 Greens 1", "T1 Reds 2", "T3 Reds 3", "../robots/T1 Reds 3", "T1 Reds", "T1 Reds 3 4"] {
        for _ in 0..3 {
            Agent::init(address, init).await_end();
            reds.next().expect("it still plays");
        }
    }
    assert!(witness.end() >= 18, "each attempt took a cycle");
    server.signal("TERM");
    let log = server.end().stderr;
    for reason in ["Greens", "number 2", "unknown robot `T3`", "unknown robot `../robots/T1`", "no readable `init`"] {
        assert!(log.contains(reason), "the log lacks `{reason}`: {log}");
    }
}

#[test]
fn in_sync_mode_only_the_silent_agent_is_disconnected() {
    let server = Running::start(running::rossum().args(["soccer", "--free-ports", "--json", "--no-realtime"]));
    let address = server.address(AGENTS);
    let mut silent = Agent::init(address, "T1 Reds 2");
    silent.next().expect("it plays");
    let mut other = Agent::init(address, "T1 Blues 2");
    let play = |other: &mut Agent, cycles: u64| {
        let mut last = None;
        for _ in 0..cycles {
            let cycle = cycle_of(&other.next().expect("it plays on"));
            assert!(last.is_none_or(|last| cycle == last + 1), "a cycle was missed");
            last = Some(cycle);
            other.send("(he1 10 0 5 1 0)(syn)");
        }
    };
    // it answers for a while, then falls silent
    silent.send("(syn)");
    play(&mut other, 1);
    silent.await_end();
    play(&mut other, 100);
}

#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let (_server, address) = serve();
    let witness = Witness::new(address);
    let mut deaf = Agent::join(address, "T1 Reds 2");
    // messages are sent until its buffers are full; then its number becomes free
    deaf.send("(beam -3 3 0)");
    Agent::join(address, "T1 Reds 2").next().expect("it plays");
    assert!(witness.end() > 100);
}

#[test]
fn frames_may_be_fragmented() {
    let (_server, address) = serve();
    let witness = Witness::new(address);
    let mut agent = Agent::connect(address);
    for byte in b"\0\0\0\x10(init T1 Reds 2)" {
        agent.stream.write_all(&[*byte]).expect("it listens");
    }
    agent.next().expect("it plays");
    let message = b"\0\0\0\x10(beam -09.0 0 0)";
    for cut in 0..=message.len() {
        let x = 5 + cut % 5;
        let mut message = message.to_vec();
        message[12] = b'0' + x as u8;
        let (first, second) = message.split_at(cut);
        agent.stream.write_all(first).expect("it listens");
        // a cycle later, so that the fragments arrive separately
        agent.next().expect("it plays");
        agent.stream.write_all(second).expect("it listens");
        agent.await_place(x as f64);
    }
    let both = [&message[..], b"\0\0\0\0", b"\0\0\0\x10(beam -03.0 0 0)"].concat();
    agent.stream.write_all(&both).expect("it listens");
    agent.await_place(3.0);
    assert!(witness.end() > 20);
}

#[test]
fn faulty_clients_do_not_disturb_others() {
    let (server, address) = serve();
    let witness = Witness::new(address);
    let parentheses = "(".repeat(1_000_000);
    for (what, length, payload) in [
        ("half a frame", 16, &b"(init T1"[..]),
        ("half a length", 0, b""),
        ("4 GiB", u32::MAX, b"(init T1 Reds 2)"),
        ("a frame that is a little too long", MAX_FRAME as u32 + 1, b"(init T1 Reds 2)"),
        ("a million parentheses", 1_000_000, parentheses.as_bytes()),
        ("as many as fit", MAX_FRAME as u32, &parentheses.as_bytes()[..MAX_FRAME]),
        ("no text", 4, b"\xFF\0\xFE\x80"),
    ] {
        for plays in [false, true] {
            let mut agent = if plays { Agent::join(address, "T1 Reds 2") } else { Agent::connect(address) };
            agent.send_frame(length, payload);
            if length as usize > MAX_FRAME {
                agent.await_end();
            } else if plays && length as usize == payload.len() {
                agent.send("(beam -4 2 0)");
                eventually(what, || {
                    let y = agent.next().expect("it still plays").positions[0].values[1].get();
                    ((y - 2.0).abs() < 0.05).then_some(())
                });
            }
            let _ = agent.stream.shutdown(Shutdown::Both);
        }
    }
    let mut agent = Agent::connect(address);
    agent.send("");
    agent.send("(init T1 Reds 2)");
    let mut agent = if agent.next().is_some() { agent } else { Agent::join(address, "T1 Reds 2") };
    for message in ["", "()", ")", "(beam)", "(wheel1 1 2 3 4 5)", "(he1 nan inf -inf 1e999 0)", "(init T1 Reds 2)"] {
        agent.send(message);
        agent.next().expect("it still plays");
    }
    assert!(witness.end() >= 14, "each join and each message took a cycle");
    assert_eq!(server.page("/status").0, 200);
}

#[test]
fn a_number_becomes_free_when_its_agent_leaves() {
    let (_server, address) = serve();
    let witness = Witness::new(address);
    for round in 0..5 {
        let mut agent = Agent::join(address, "T1 Reds 7");
        let [x, y, _] = agent.next().expect("it plays").positions[0].values.map(|value| value.get());
        assert!((x - 15.0).abs() < 0.2 && (y - 37.0).abs() < 0.2, "round {round}: {x} {y}");
        agent.send("(beam -3 0 0)");
        // it leaves in the middle of a frame, with unread messages
        agent.send_frame(100, b"(beam ");
    }
    assert!(witness.end() >= 5, "each round takes a cycle");
}

#[test]
fn silent_connections_do_not_block_others() {
    let (_server, address) = serve();
    let witness = Witness::new(address);
    let mut silent: Vec<_> = (0..200).map(|_| Agent::connect(address)).collect();
    for agent in silent.iter_mut().skip(100) {
        // connections beyond the limit have been closed
        let _ = agent.stream.write_all(b"\0\0\0\x10(init");
    }
    let mut agent = Agent::join(address, "T1 Reds 2");
    for agent in &mut silent {
        agent.await_end();
    }
    agent.next().expect("it still plays");
    assert!(witness.end() > 200, "they were given five seconds");
}

#[test]
fn lockstep_games_are_repeatable() {
    let folder = tempfile::tempdir().expect("a folder");
    let play = |sequential: bool| {
        let path = folder.path().join("lockstep.toml");
        let text = format!(
            "[world]\nfield = \"fifa7vs7\"\npace = \"lockstep\"\n[soccer]\nrules = \"ssim\"\nsync = true\n\
             sequential = {sequential}\n"
        );
        fs::write(&path, text).expect("written");
        let server = Running::serve(&["--scenario", path.to_str().expect("a path")]);
        let mut agent = Agent::init(server.address(AGENTS), "T1 Reds 2");
        let mut told = Vec::new();
        for cycle in 0..200 {
            told.push(agent.next_text().expect("it plays"));
            let knee = f64::from(cycle) * 0.3;
            agent.send(&match cycle {
                5 => "(beam -4 1 20)(syn)".to_owned(),
                _ => format!("(lle4 {knee} 0 60 2 0)(rle4 {knee} 0 60 2 0)(SPK say 50 aGVsbG8=)(syn)"),
            });
        }
        told
    };
    for sequential in [false, true] {
        let (one, other) = (play(sequential), play(sequential));
        assert!(one == other, "sequential = {sequential}");
        assert!(one.last().is_some_and(|text| text.contains("(MIC hear )")));
    }
}

#[test]
fn a_recorded_game_replays() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("game.mcap");
    let file = file.to_str().expect("a path");
    let server = Running::serve(&["--scenario", "soccer", "--record", file]);
    let address = server.address(AGENTS);
    let mut reds = Agent::join(address, "T1 Reds 2");
    reds.send("(beam -3 0 0)(SPK say 100 aGVsbG8=)(lle4 30 0 60 2 0)");
    let mut blues = Agent::join(address, "ant Blues 1");
    blues.send("(beam -4 0 0)(say hi)");
    blues.await_place(4.0);
    drop(reds);
    let mut reds = Agent::join(address, "T1 Reds 2");
    reds.send("(beam -5 0 0)(beam 1e300 0 0)");
    reds.send("(beam -5 0 0)");
    reds.await_place(-5.0);
    server.await_tick(server.tick() + 60);
    server.signal("TERM");
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let verified = run(&["replay", "--verify", file]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("all equal"), "{}", verified.stdout);
}
