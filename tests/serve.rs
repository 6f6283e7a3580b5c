//! `rossum serve`: start, shutdown and recordings.

mod running;

use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream, UdpSocket},
    path::Path,
    process::Command,
};

use client::odcp::Client;
use running::{Running, eventually, peer_of, receive, run};

/// A robot with one motor, as a user might write it.
const ARM: &str = r#"<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="Arm" pos="0 0 1">
      <joint name="Elbow" range="-1 1" damping="0.2"/>
      <geom name="Arm" type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.05"/>
    </body>
  </worldbody>
  <actuator><position name="Elbow" joint="Elbow" kp="5" ctrlrange="-1 1" forcerange="-2 2"/></actuator>
</mujoco>
"#;

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn it_serves_until_it_is_terminated() {
    for signal in ["TERM", "INT"] {
        let server = Running::serve(&["--scenario", "small"]);
        assert!(server.title().starts_with("Small"), "{}", server.title());
        assert_eq!(server.page("/health"), (200, "ok\n".to_owned()));
        server.await_tick(3);
        let (status, metrics) = server.page("/metrics");
        assert!(status == 200 && metrics.contains("rossum_tick_seconds"), "{metrics}");
        assert_eq!(server.page_with("/", "Host: evil.example\r\n").0, 403);
        // a client with an incomplete request
        peer_of(server.address("ODCP of Rover")).send(&[100, 0]).expect("sent");
        let mut asking = TcpStream::connect(server.address("Console")).expect("it listens");
        asking.write_all(b"GET / HTTP/1.1\r\nHost:").expect("sent");
        server.signal(signal);
        let ended = server.end();
        assert_eq!(ended.code, Some(0), "{signal}: {}", ended.stderr);
        assert!(!ended.stderr.contains("did not"), "{signal}: {}", ended.stderr);
    }
}

#[test]
fn a_recording_is_closed_at_the_end_and_replays() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mcap");
    let server = Running::serve(&["--scenario", "small", "--pace", "fast", "--record", text(&file)]);
    let mut client = Client::connect(server.address("ODCP of Rover")).expect("it answers");
    for step in 0..5_u32 {
        client.set_motors(&[(f64::from(step) / 5.0, 1.0), (-0.5, 0.5)]).expect("sent");
        client.motors().expect("it answers");
        server.await_tick(server.tick() + 100);
    }
    server.signal("TERM");
    assert_eq!(server.end().code, Some(0));

    let verified = run(&["replay", "--verify", text(&file)]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("all equal") && !verified.stdout.contains("truncated"), "{}", verified.stdout);
}

#[test]
fn a_killed_server_leaves_a_recording_that_replays() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mcap");
    let server = Running::serve(&["--scenario", "small", "--pace", "fast", "--record", text(&file)]);
    // it can be replayed while it is still being written
    eventually("a state hash on disk", || (run(&["replay", "--verify", text(&file)]).code == Some(0)).then_some(()));
    server.signal("KILL");
    assert_eq!(server.end().code, None);

    let verified = run(&["replay", "--verify", text(&file)]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(verified.stdout.contains("truncated") && verified.stdout.contains("all equal"), "{}", verified.stdout);
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.mcap");
    // limits files to 32 or 64 KiB, depending on the shell; exceeding it is an error instead of a signal
    let limited = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";
    let arguments =
        ["serve", "--free-ports", "--json", "--scenario", "small", "--pace", "fast", "--record", text(&file)];
    let server =
        Running::start(Command::new("sh").args(["-c", limited, "sh", env!("CARGO_BIN_EXE_rossum")]).args(arguments));
    let ended_early = "rossum_recordings_ended_early_total 1\n";
    eventually("the end of the recording", || server.page("/metrics").1.contains(ended_early).then_some(()));
    server.await_tick(server.tick() + 10);
    server.signal("TERM");
    let ended = server.end();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stderr.matches("recording stopped").count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.contains("File too large"), "the cause is named: {}", ended.stderr);

    let verified = run(&["replay", "--verify", text(&file)]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn errors_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let pages = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let udp = datagrams.local_addr().expect("bound").port();
    let tcp = pages.local_addr().expect("bound").port();
    let taken_udp = folder.path().join("udp.toml");
    let taken_tcp = folder.path().join("tcp.toml");
    let rover = "[[robot]]\nname = \"Rover\"\nmodel = \"rover\"\n";
    fs::write(&taken_udp, format!("{rover}[server]\nhttp_port = 0\n[odcp]\nports = {{ Rover = {udp} }}"))
        .expect("written");
    fs::write(&taken_tcp, format!("[server]\nhttp_port = {tcp}")).expect("written");
    let recording = folder.path().join("run.mcap");
    let check = |arguments: &[&str], wanted: &[&str]| {
        let ended = run(&[&["serve"], arguments].concat());
        assert_eq!(ended.code, Some(1), "{arguments:?}: {ended:?}");
        assert!(wanted.iter().all(|text| ended.stderr.contains(text)), "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{arguments:?}");
    };
    check(&["-s", text(&taken_udp), "--record", text(&recording)], &["ODCP of Rover", "another server"]);
    assert!(!recording.exists(), "nothing is begun that cannot go on");
    check(&["-s", text(&taken_tcp)], &["Console", "another server"]);
    check(&["-s", "small", "--free-ports", "--bind", "0.0.0.0"], &["0.0.0.0", "allow"]);
    check(&["-s", "small", "--free-ports", "--allow", "everybody"], &["everybody"]);
    check(&["-s", "small", "--free-ports", "--record", "/does/not/exist.mcap"], &["/does/not/exist.mcap"]);
    check(&["-s", "small", "--free-ports", "--record", "/dev/full"], &["/dev/full", "not a regular file"]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    check(&["-s", "small", "--free-ports", "--record", text(&pipe)], &[text(&pipe), "not a regular file"]);
    check(&["-s", "smal"], &["did you mean `small`?"]);
    check(&["-s", "does-not-exist.toml"], &["does-not-exist.toml"]);
}

#[test]
fn other_machines_need_an_allow_list() {
    let server = Running::serve(&["-s", "small", "--bind", "0.0.0.0", "--allow", "203.0.113.0/24"]);
    assert_eq!(server.page("/health").0, 200);
}

#[test]
fn a_users_own_robot_can_be_moved() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("mine.toml");
    fs::write(folder.path().join("arm.xml"), ARM).expect("written");
    let text_of_scenario = "[[robot]]\nname = \"Mine\"\nmodel = \"arm.xml\"\n[odcp]\nports = { Mine = 0 }\n";
    fs::write(&scenario, text_of_scenario).expect("written");
    let server = Running::serve(&["--scenario", text(&scenario)]);
    let peer = peer_of(server.address("ODCP of Mine"));
    peer.send(&[150]).expect("sent");
    assert_eq!(receive(&peer).len(), 5, "one motor");
    let mut client = Client::connect(server.address("ODCP of Mine")).expect("it answers");
    client.set_motors(&[(0.5, 1.0)]).expect("sent");
    eventually("the arm at its place", || {
        let angles = client.motors().expect("it answers");
        (angles.len() == 1 && (angles[0] - 0.5).abs() < 0.1).then_some(())
    });
}
