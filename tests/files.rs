//! Files: those that others have written are not trusted, those that exist are not replaced, and a crash loses little.

mod running;

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use running::{Running, eventually, rossum, run};
use world::{World, record::RecordReader};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

/// A scenario whose every tick is in a recording.
fn recorded_scenario(folder: &Path) -> PathBuf {
    let path = folder.join("scenario.toml");
    let scenario = "[world]\nhash_every = 1\n[[robot]]\nname = \"Rover\"\nmodel = \"rover\"\n";
    fs::write(&path, scenario).expect("written");
    path
}

#[test]
fn damage_fails_the_verification_and_a_missing_end_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, scenario) = (folder.path().join("run.mcap"), recorded_scenario(folder.path()));
    let server = Running::serve(&["--scenario", text(&scenario), "--record", text(&file)]);
    // several chunks: one is written every half second
    server.await_tick(100);
    server.signal("TERM");
    assert_eq!(server.end().code, Some(0));
    let whole = fs::read(&file).expect("a recording");
    let check = |bytes: &[u8], options: &[&str], code: i32, says: &[&str]| {
        fs::write(&file, bytes).expect("written");
        let ended = run(&[&["replay"], options, &[text(&file)]].concat());
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert_eq!(ended.code, Some(code), "{all}");
        assert!(says.iter().all(|says| all.contains(says)), "{says:?} is not in {all}");
    };
    check(&whole, &["--verify"], 0, &["all equal"]);
    check(&whole[..whole.len() - 40], &["--verify"], 0, &["truncated", "all equal"]);
    // in the content of the third chunk, which starts with the signature of its compression
    let signature = [0x28, 0xb5, 0x2f, 0xfd];
    let mut chunks = whole.windows(4).enumerate().filter(|(_, window)| *window == signature);
    let (chunk, _) = chunks.nth(2).expect("a third chunk");
    let mut damaged = whole.clone();
    damaged[chunk + 20] ^= 4;
    check(&damaged, &["--verify"], 1, &["damaged at byte", "all equal", "the recording is damaged"]);
    check(&damaged, &[], 0, &["damaged at byte"]);
}

/// A recording of 8 kB whose setup has 240 MB.
fn bomb() -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    const BLOCKS: u32 = 1_900;
    let record = |opcode: u8, length: u64, body: &[u8]| [&[opcode], &length.to_le_bytes()[..], body].concat();
    let topic = b"\0\0\0\0\x0d\0\0\0/rossum/setup\x04\0\0\0json\0\0\0\0";
    let start = [&[0; 22][..], br#"{"mujoco":""#].concat();
    let long = u64::from(BLOCK * BLOCKS);
    let head = [record(4, topic.len() as u64, topic), record(5, start.len() as u64 + long, &start)].concat();
    // a raw block, then blocks of one repeated byte
    let block = |kind: u32, size: u32, last: bool| (size << 3 | kind << 1 | u32::from(last)).to_le_bytes();
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 0x38];
    packed.extend(&block(0, head.len() as u32, false)[..3]);
    packed.extend(&head);
    for number in 1..=BLOCKS {
        packed.extend(&block(1, BLOCK, number == BLOCKS)[..3]);
        packed.push(b'a');
    }
    let sizes = [0, 0, head.len() as u64 + long].map(u64::to_le_bytes).concat();
    let chunk = [&sizes[..], &[0; 4], b"\x04\0\0\0zstd", &(packed.len() as u64).to_le_bytes(), &packed].concat();
    let header = record(1, 8, &[0; 8]);
    [b"\x89MCAP0\r\n", &header[..], &record(6, chunk.len() as u64, &chunk)].concat()
}

#[test]
fn a_small_recording_does_not_take_all_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bomb.mcap");
    fs::write(&file, bomb()).expect("written");
    assert!(fs::metadata(&file).expect("a file").len() < 12_000);
    // in kB, of address space
    let limited = "ulimit -v 800000; exec \"$@\"";
    for arguments in [&["replay"][..], &["replay", "--verify"], &["oz", "export", "--csv", "-"]] {
        let ended = Command::new("sh")
            .args(["-c", limited, "sh", env!("CARGO_BIN_EXE_rossum")])
            .args(arguments)
            .arg(&file)
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("claims more than"), "{arguments:?}: {said}");
    }
}

#[test]
fn no_command_replaces_a_file_unasked() {
    let folder = tempfile::tempdir().expect("a folder");
    let precious = |name: &str| {
        let path = folder.path().join(name);
        fs::write(&path, "precious").expect("written");
        path
    };
    let (recording, picture, log) = (precious("a.mcap"), precious("a.png"), precious("a.log"));
    let (table, sound) = (precious("a.csv"), precious("a.wav"));
    let scenario = folder.path().join("study.toml");
    let study = "[[robot]]\nname = \"Alice\"\nmodel = \"alice\"\n[oz]\nsound = \"a.wav\"\n";
    fs::write(&scenario, study).expect("written");
    for (arguments, file) in [
        (&["serve", "-s", "small", "--free-ports", "--record", text(&recording)][..], &recording),
        (&["serve", "-s", text(&scenario), "--free-ports"], &sound),
        (&["soccer", "--free-ports", "--record", text(&recording)], &recording),
        (&["soccer", "--free-ports", "--logfile", text(&log)], &log),
        (&["portrait", text(&picture)], &picture),
        (&["world", "obstacles", "--picture", text(&picture)], &picture),
        (&["oz", "export", text(&recording), "--csv", text(&table)], &table),
        (&["oz", "snapshot", text(&picture)], &picture),
    ] {
        let ended = run(arguments);
        assert_eq!(ended.code, Some(1), "{arguments:?}: {ended:?}");
        assert!(
            ended.stderr.contains(text(file)) && ended.stderr.contains("exists"),
            "{arguments:?}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains("--overwrite"), "{arguments:?}: {}", ended.stderr);
        assert_eq!(fs::read_to_string(file).expect("a file"), "precious", "{arguments:?}");
    }
    let drawn = run(&["world", "obstacles", "--picture", text(&picture), "--overwrite"]);
    assert_eq!(drawn.code, Some(0), "{drawn:?}");
    assert!(fs::read(&picture).expect("a picture").starts_with(b"\x89PNG"));
}

#[test]
fn a_killed_server_loses_at_most_the_last_second() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, scenario) = (folder.path().join("run.mcap"), recorded_scenario(folder.path()));
    let server = Running::serve(&["--scenario", text(&scenario), "--record", text(&file)]);
    server.await_tick(120);
    let seen = server.tick();
    server.signal("KILL");
    assert_eq!(server.end().code, None);

    let mut records = RecordReader::new(fs::File::open(&file).expect("a recording")).expect("a setup");
    let tick_seconds = World::new(&records.setup).expect("a world").tick_seconds();
    let last = records.by_ref().map(|record| record.expect("undamaged").tick).last().expect("a tick");
    assert!(records.damage().is_empty() && !records.is_complete(), "{:?}", records.damage());
    let lost = seen.saturating_sub(last) as f64 * tick_seconds;
    assert!(lost <= 1.0, "{lost} s before tick {seen} are lost");
    assert!(last > 20, "{last}");
}

/// Models that must be refused without harm, and what is said about them.
fn bad_models(folder: &Path) -> Vec<(PathBuf, &'static str)> {
    let world = |inner: &str| format!("<mujoco><worldbody>{inner}</worldbody></mujoco>");
    let attributes: String = (0..80_000).map(|number| format!(" a{number}='1'")).collect();
    let entities = "<!DOCTYPE a [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'>]><mujoco>&b;</mujoco>".to_owned();
    let replicate = "<replicate count='30' offset='1 0 0'>".repeat(3) + "<geom size='.1'/>" + &"</replicate>".repeat(3);
    let deep = "<body>".repeat(100_000) + &"</body>".repeat(100_000);
    let namespaces: String = (0..1_000).map(|number| format!("<a xmlns:n{number}='u'>")).collect();
    let models = [
        ("attributes", world(&format!("<geom{attributes}/>")), "number of attributes"),
        ("entities", entities, "XML"),
        ("replicate", world(&replicate), "number of elements"),
        ("deep", world(&deep), "nesting"),
        ("namespaces", world(&namespaces), "namespaces"),
        ("count", world("<flexcomp type='grid' count='9999 9999 9999'/>"), "number of elements"),
        ("traversal", "<mujoco><include file='../secret.xml'/></mujoco>".to_owned(), "outside its folder"),
        ("absolute", "<mujoco><asset><mesh file='/etc/passwd'/></asset></mujoco>".to_owned(), "outside its folder"),
        ("itself", "<mujoco><include file='itself.xml'/></mujoco>".to_owned(), "second time"),
        ("memory", "<mujoco><size memory='900G'/></mujoco>".to_owned(), "memory"),
        ("engine", world("<body><geom type='mesh' mesh='none'/></body>"), "does not compile"),
    ];
    let write = |(name, text, says): (&str, String, &'static str)| {
        let path = folder.join(format!("{name}.xml"));
        fs::write(&path, text).expect("written");
        (path, says)
    };
    models.into_iter().map(write).collect()
}

#[test]
fn bad_models_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    for (model, says) in bad_models(folder.path()) {
        let scenario = folder.path().join("scenario.toml");
        fs::write(&scenario, format!("[[robot]]\nname = \"R\"\nmodel = '{}'\n", model.display())).expect("written");
        for arguments in [&["check-model", text(&model)][..], &["serve", "-s", text(&scenario), "--free-ports"]] {
            let ended = run(arguments);
            assert_eq!(ended.code, Some(1), "{arguments:?}: {ended:?}");
            assert!(ended.stderr.contains(says), "{arguments:?}: {}", ended.stderr);
            assert_eq!(ended.stderr.lines().count(), 1, "{arguments:?}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_model_is_tried_out_within_limits_of_time_and_memory() {
    let mut trial = rossum()
        .args(["try-model", "--name=arm"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // it waits for the text, and has limits already
    let mut stdin = trial.stdin.take().expect("it is piped");
    let limits = format!("/proc/{}/limits", trial.id());
    let (time, memory) = ("Max cpu time", "Max address space");
    let limit = |name: &str| {
        let limits = fs::read_to_string(&limits).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    assert_eq!(eventually("a limit of time", || limit(time)), 10);
    assert_eq!(eventually("a limit of memory", || limit(memory)), 2 << 30);
    stdin.write_all(b"<mujoco><worldbody><geom type='mesh' mesh='none'/></worldbody></mujoco>").expect("it reads");
    drop(stdin);
    let mut said = String::new();
    trial.stderr.take().expect("it is piped").read_to_string(&mut said).expect("text");
    assert_eq!(trial.wait().expect("it ends").code(), Some(3), "{said}");
    assert!(said.contains("arm does not compile"), "{said}");
}
