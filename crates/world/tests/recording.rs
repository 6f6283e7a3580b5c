//! Recordings: written beside a run, run again, and compared to the bit.

mod worlds;

use std::io::Cursor;

use proptest::prelude::*;
use world::{
    Action, AgentId, SessionId, Setup, Value, World,
    record::{Entry, Recorder, ReplayError, TickRecord, Verdict, no_director, replay},
    setup::Randomise,
};
use worlds::*;

const TICKS: u32 = 120;
const HASH_EVERY: u64 = 10;

fn scenario() -> Setup {
    let randomise = vec![Randomise { variable: "/Sim/Rover/Heading".into(), min: "-3".into(), max: "3".into() }];
    let settings = [("/Sim/World/box-1/Size", "(0.2,0.2,0.2)"), ("/Sim/World/box-2/Position", "(0.4,0.1,0.1)")];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Setup { randomise, settings, seed: 11, steps_per_tick: 2, ..arena() }
}

fn set(motor: usize, target: f64) -> Action {
    Action::Set { motor, target: Some(target), torque: None }
}

/// What is done to the world before each tick: of everything something.
fn script(world: &mut World, tick: u32) {
    let x = f64::from(tick);
    world.stage(AgentId(1), SessionId(1), tick.into(), vec![set(0, 8.0 * (x / 7.0).sin()), set(1, 5.0)]);
    match tick {
        10 => drop(join(world, robot("Guest", "rover", 0.5, 0.0))),
        15 => write(world, "/Simulation/Gravitation", Value::Double(5.0)),
        20 => write(world, "/Sim/Guest/Left/Wheel/DesiredVelocity", Value::NormalizedDouble(0.5)),
        25 => write(world, "/Sim/World/post-1/Size", Value::Point3D([0.3, 0.3, 0.4])),
        28 => write(world, "/Sim/World/box-1/Position", Value::Point3D([0.3, -0.2, 0.1])),
        29 => write(world, "/Sim/World/box-1/Orientation", Value::Quaternion([0.8, 0.0, 0.0, 0.6])),
        30 => write(world, "/Sim/Rover/Position", Value::Point3D([0.1, 0.2, 0.3])),
        // at a tick without a hash, with nothing else before it
        43 => world.reset(Some(77)),
        50 => write(world, "/Simulation/IterationsPerStep", Value::Integer(3)),
        52 => write(world, "/Simulation/SolverIterations", Value::Integer(7)),
        53 => write(world, "/Sim/Rover/Left/Wheel/Motor/MaxTorque", Value::Double(0.5)),
        54 => write(world, "/Sim/Guest/Left/Wheel/Motor/Gain", Value::Double(0.02)),
        55 => write(world, "/Sim/Rover/Chassis/Mass", Value::Double(2.0)),
        57 => write(world, "/Sim/World/box-3/Position", Value::Point3D([0.0, 0.0, -0.06])),
        60 => leave(world, AgentId(3)),
        70 => world.reset(None),
        75 => drop(join(world, text_robot("Cart", CART, 1.0, 1.0))),
        80 => assert!(world.stage(AgentId(4), SessionId(2), 0, vec![set(0, 5.0)])),
        _ => {}
    }
}

/// Runs the script and records it; returns the file and its records. `bend` may change a record before it is written.
fn record(setup: &Setup, mut bend: impl FnMut(&mut TickRecord)) -> (Vec<u8>, Vec<TickRecord>) {
    let mut world = build(setup);
    world.keep_journal();
    let mut file = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut file, setup, &world).unwrap_or_else(|error| panic!("{error}"));
    let mut records = Vec::new();
    let mut keep = |record: Option<TickRecord>| {
        if let Some(mut record) = record {
            bend(&mut record);
            recorder.write(&record).unwrap_or_else(|error| panic!("{error}"));
            if record.tick % 20 == 0 {
                recorder.flush().unwrap_or_else(|error| panic!("{error}"));
            }
            records.push(record);
        }
    };
    for tick in 0..TICKS {
        script(&mut world, tick);
        // a reset is no tick: nothing is recorded until the next one
        assert_eq!(world.take_record(HASH_EVERY), None);
        if matches!(tick, 15 | 30 | 70) {
            let part = world.take_partial_record(1);
            assert!(
                part.is_some() && world.take_partial_record(1).is_none(),
                "a part of what comes before the tick {tick}"
            );
            keep(part);
            assert_eq!(world.last_record(HASH_EVERY), None, "something has been done since the last tick");
        }
        world.tick();
        keep(world.take_record(HASH_EVERY));
    }
    recorder.finish().unwrap_or_else(|error| panic!("{error}"));
    drop(recorder);
    (file.into_inner(), records)
}

fn recorded() -> &'static (Vec<u8>, Vec<TickRecord>) {
    static RECORDED: std::sync::OnceLock<(Vec<u8>, Vec<TickRecord>)> = std::sync::OnceLock::new();
    RECORDED.get_or_init(|| record(&scenario(), |_| {}))
}

#[test]
fn a_run_of_everything_replays_to_the_bit() {
    let (file, records) = recorded();
    let entries: Vec<_> = records.iter().flat_map(|record| &record.entries).collect();
    for (what, count) in [
        ("acts", entries.iter().filter(|e| matches!(e, Entry::Act { .. })).count()),
        ("writes", entries.iter().filter(|e| matches!(e, Entry::Write { .. })).count()),
        ("resets", entries.iter().filter(|e| matches!(e, Entry::Reset { .. })).count()),
        ("joins", entries.iter().filter(|e| matches!(e, Entry::Join(_))).count()),
        ("leaves", entries.iter().filter(|e| matches!(e, Entry::Leave { .. })).count()),
        ("resizes", entries.iter().filter(|e| matches!(e, Entry::Resize { .. })).count()),
    ] {
        assert!(count > 0, "no {what}");
    }
    let mut heard = 0;
    let verdict = replay(Cursor::new(file), &no_director, |_, _| heard += 1).unwrap();
    let wanted =
        Verdict { ticks: TICKS.into(), compared: u64::from(TICKS) / HASH_EVERY, complete: true, ..Verdict::default() };
    assert_eq!(verdict, wanted);
    assert_eq!(heard, records.len());
}

#[test]
fn one_changed_number_is_found_at_the_next_hash() {
    for (changed, found) in [(0, 9), (37, 39), (39, 39), (80, 89)] {
        let (file, _) = record(&scenario(), |record| {
            if record.tick == changed {
                for entry in &mut record.entries {
                    if let Entry::Act { actions, .. } = entry {
                        let Action::Set { target: Some(target), .. } = &mut actions[0] else { continue };
                        *target += 1e-9;
                    }
                }
            }
        });
        let verdict = replay(Cursor::new(&file), &no_director, |_, _| {}).unwrap();
        assert_eq!(verdict.differs_at, Some(found), "changed at tick {changed}");
        assert_eq!(verdict.compared, found / HASH_EVERY + 1);
        assert_eq!(verdict.ticks, found + 1);
    }
    let (file, _) = record(&scenario(), |record| {
        if record.tick == 49 {
            record.hash = record.hash.map(|hash| hash ^ 1);
        }
    });
    assert_eq!(replay(Cursor::new(&file), &no_director, |_, _| {}).unwrap().differs_at, Some(49));
}

#[test]
fn what_is_left_of_a_recording_replays() {
    let (file, _) = recorded();
    let mut last = 0;
    let mut seen = std::collections::BTreeSet::new();
    for length in (0..file.len()).step_by(file.len() / 40).chain([file.len() - 1]) {
        match replay(Cursor::new(&file[..length]), &no_director, |_, _| {}) {
            Ok(verdict) => {
                assert!(
                    !verdict.complete && verdict.damage.is_empty(),
                    "{length} of {} bytes: {verdict:?}",
                    file.len()
                );
                assert_eq!(verdict.differs_at, None, "{length} bytes");
                assert!(verdict.ticks >= last, "{length} bytes");
                last = verdict.ticks;
                seen.insert(verdict.ticks);
            }
            Err(ReplayError::NoSetup) => assert_eq!(last, 0, "{length} bytes"),
            Err(error) => panic!("{length} bytes: {error}"),
        }
    }
    assert!(seen.len() > 3, "flushed parts are readable: {seen:?}");
    assert!(last > 100, "{last}");
}

#[test]
fn a_recording_stands_by_itself() {
    let (file, records) = recorded();
    let text = String::from_utf8_lossy(&serde_json::to_vec(records).unwrap()).into_owned();
    assert!(text.contains("<mujoco"), "the guest's model is in it");
    assert!(!text.contains("robot.xml"), "and no path of this machine");
    assert!(!file.is_empty());
}

#[test]
fn models_with_files_of_their_own_are_named_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("field.xml");
    std::fs::write(
        folder.path().join("floor.xml"),
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>",
    )
    .unwrap();
    std::fs::write(&path, "<mujoco><include file='floor.xml'/></mujoco>").unwrap();
    let setup = Setup::new(physics::Source::from_file(&path, &physics::Limits::default()).unwrap());
    let world = build(&setup);
    let mut file = Cursor::new(Vec::new());
    Recorder::new(&mut file, &setup, &world).unwrap().finish().unwrap();
    let file = file.into_inner();
    assert!(replay(Cursor::new(&file), &no_director, |_, _| {}).unwrap().complete);
    // the model is another one now
    std::fs::write(
        folder.path().join("floor.xml"),
        "<mujoco><worldbody><geom type='plane' size='2 2 1'/></worldbody></mujoco>",
    )
    .unwrap();
    let error = replay(Cursor::new(&file), &no_director, |_, _| {}).unwrap_err();
    assert!(matches!(error, ReplayError::ModelChanged { .. }), "{error}");
    drop(folder);
    let error = replay(Cursor::new(&file), &no_director, |_, _| {}).unwrap_err();
    assert!(matches!(&error, ReplayError::Model(_)) && error.to_string().contains("field.xml"), "{error}");
}

/// A file with these messages in our two topics.
fn mcap_of(messages: &[(&str, &str)]) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut writer = mcap::Writer::new(&mut file).expect("memory takes everything");
    for (number, (topic, text)) in messages.iter().enumerate() {
        // counted in each topic
        let sequence = messages[..number].iter().filter(|(before, _)| before == topic).count();
        let channel_id = writer.add_channel(0, topic, "json", &Default::default()).expect("memory takes everything");
        let header =
            mcap::records::MessageHeader { channel_id, sequence: sequence as u32, log_time: 0, publish_time: 0 };
        writer.write_to_known_channel(&header, text.as_bytes()).expect("memory takes everything");
    }
    writer.finish().expect("memory takes everything");
    drop(writer);
    file.into_inner()
}

#[test]
fn what_is_not_a_recording_is_refused_clearly() {
    const SETUP: &str = "/rossum/setup";
    const TICK: &str = "/rossum/tick";
    let model = "<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>";
    let about = |format: u32, hash: u64, more: &str| {
        format!(
            r#"{{"format":{format},"mujoco":"0","model_hash":{hash},"base":{{"Text":{{"name":"m","text":"{model}"}}}},
                "robots":[],"timestep":null,"steps_per_tick":1,"seed":1,"settings":[],"randomise":[],"watches":[]{more}}}"#
        )
    };
    let hash = build(&Setup::new(text("m", model))).model_hash();
    let fine = about(2, hash, "");
    let write = |variable: &str, value: &str| {
        format!(r#"{{"tick":0,"entries":[{{"Write":{{"variable":"{variable}","value":{value}}}}}]}}"#)
    };
    for (messages, says) in [
        (vec![], "has no setup"),
        (vec![(TICK, r#"{"tick":0}"#.to_owned())], "has no setup"),
        (vec![(SETUP, "{}".to_owned())], "failed to parse a message of `/rossum/setup`"),
        (vec![(SETUP, about(1, hash, r#","director":"soccer""#))], "has format 1"),
        (vec![(SETUP, about(2, hash ^ 1, ""))], "not the recorded one"),
        (vec![(SETUP, about(2, hash, "").replace("<mujoco>", "<robot"))], ""),
        (vec![(SETUP, about(2, hash, "").replace("\"timestep\":null", "\"timestep\":-1.0"))], "physics step"),
        (
            vec![(SETUP, fine.clone()), (TICK, "{\"tick\":-1}".to_owned())],
            "failed to parse a message of `/rossum/tick`",
        ),
        (vec![(SETUP, fine.clone()), (TICK, write("/Nothing", r#"{"Double":1.0}"#))], "/Nothing"),
        (vec![(SETUP, fine.clone()), (TICK, write("/Simulation/Gravitation", r#"{"Double":1e300}"#))], "takes"),
        (vec![(SETUP, fine.clone()), (TICK, r#"{"tick":0,"entries":[{"Leave":{"agent":9}}]}"#.to_owned())], "agent 9"),
    ] {
        let messages: Vec<_> = messages.iter().map(|(topic, text)| (*topic, text.as_str())).collect();
        let error = replay(Cursor::new(mcap_of(&messages)), &no_director, |_, _| {}).expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} does not say {says:?}");
    }
    assert!(replay(Cursor::new(mcap_of(&[(SETUP, &fine)])), &no_director, |_, _| {}).unwrap().complete);
    for bytes in [&b""[..], b"RIFF", b"\x89MCAP0\r\n", &[0; 100]] {
        replay(Cursor::new(bytes), &no_director, |_, _| {}).expect_err("it is no recording");
    }
}

/// A file with a chunk in which a record claims this length.
fn with_a_record_of(length: u64) -> Vec<u8> {
    let record = [&[5_u8][..], &length.to_le_bytes(), &[0; 32]].concat();
    let packed = zstd::bulk::compress(&record, 0).expect("it can be packed");
    let times_and_size = [0, 0, record.len() as u64].map(u64::to_le_bytes).concat();
    let no_crc_but_compression = [&[0_u8; 4][..], &[4, 0, 0, 0], b"zstd"].concat();
    let chunk = [&times_and_size[..], &no_crc_but_compression, &(packed.len() as u64).to_le_bytes(), &packed].concat();
    let header = [1_u8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    [mcap::MAGIC, &header, &[6], &(chunk.len() as u64).to_le_bytes(), &chunk].concat()
}

#[test]
fn a_record_that_claims_all_memory_is_refused() {
    for length in [1 << 20, 1 << 40, u64::MAX / 2, u64::MAX] {
        replay(Cursor::new(with_a_record_of(length)), &no_director, |_, _| {}).expect_err("there is no such record");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_replayed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400), magic: bool) {
        let mut file = if magic { mcap::MAGIC.to_vec() } else { Vec::new() };
        file.extend(bytes);
        let _ = replay(Cursor::new(&file), &no_director, |_, _| {});
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn damage_anywhere_never_panics(place in 0.0..1.0_f64, bytes in prop::collection::vec(any::<u8>(), 1..16)) {
        let (file, _) = recorded();
        let mut damaged = file.clone();
        let start = (place * file.len() as f64) as usize;
        for (old, new) in damaged[start..].iter_mut().zip(bytes) {
            *old = new;
        }
        let _ = replay(Cursor::new(&damaged), &no_director, |_, _| {});
    }
}
