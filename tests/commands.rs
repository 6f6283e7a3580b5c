//! Output and exit codes of the program's commands.

mod running;

use std::fs;

use running::{Ended, run};

fn check(arguments: &[&str], code: i32, wanted: &[&str]) -> Ended {
    let ended = run(arguments);
    assert_eq!(ended.code, Some(code), "{arguments:?}: {ended:?}");
    let printed = if code == 0 { &ended.stdout } else { &ended.stderr };
    for text in wanted {
        assert!(printed.contains(text), "{arguments:?} does not print `{text}`: {printed}");
    }
    ended
}

/// Errors are a single line, without panics or backtraces.
fn check_failure(arguments: &[&str], wanted: &[&str]) {
    let Ended { stderr, stdout, .. } = check(arguments, 1, wanted);
    assert!(stderr.starts_with("rossum: ") && stderr.trim_end().lines().count() == 1, "{arguments:?}: {stderr}");
    assert!(!stderr.contains("panicked") && !stdout.contains("panicked"), "{arguments:?}: {stderr}");
}

#[test]
fn every_command_has_help() {
    for (command, wanted) in [
        ("serve", "Run a world"),
        ("replay", "recording"),
        ("scenarios", "built-in worlds"),
        ("tokens", "when they expire"),
        ("check-model", "Validate a robot or world model"),
        ("doctor", "Check this machine's set-up"),
        ("bench", "Measure"),
        ("completions", "completion script"),
    ] {
        check(&[command, "--help"], 0, &[wanted, "Usage: rossum", command]);
        check(&["--help"], 0, &[command]);
    }
    check(&["--help"], 0, &["Exit codes: 0 success, 1 failure, 2 usage error, 130 interrupted"]);
    check(&["--version"], 0, &["rossum ", env!("CARGO_PKG_VERSION")]);
}

#[test]
fn usage_errors_have_exit_code_2() {
    for arguments in [
        &[][..],
        &["frobnicate"],
        &["serve", "--pase", "fast"],
        &["serve", "--pace", "warp"],
        &["serve", "--seed", "many"],
        &["serve", "--bind", "nowhere"],
        &["replay"],
        &["scenarios", "small", "soccer"],
        &["check-model"],
        &["doctor", "please"],
        &["bench", "--frobnicate"],
        &["completions", "abacus"],
    ] {
        let ended = check(arguments, 2, &[]);
        assert!(ended.stderr.contains("--help") || ended.stderr.contains("Usage"), "{arguments:?}: {}", ended.stderr);
    }
    check(&["serve", "--pase", "fast"], 2, &["--pace"]);
}

#[test]
fn the_printed_configuration_is_a_scenario() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("printed.toml");
    let name = file.to_str().expect("a path in UTF-8");
    for scenario in ["playground", "arena", "orcs", "small", "soccer"] {
        let printed = check(&["serve", "--scenario", scenario, "--print-config"], 0, &["title = ", "[world]"]).stdout;
        fs::write(&file, &printed).expect("written");
        assert_eq!(check(&["serve", "--scenario", name, "--print-config"], 0, &[]).stdout, printed, "{scenario}");
    }
    let options = ["--seed", "7", "--pace", "lockstep", "--bind", "0.0.0.0", "--allow", "10.0.0.0/8", "--free-ports"];
    let wanted = ["seed = 7", "pace = \"lockstep\"", "bind = \"0.0.0.0\"", "10.0.0.0/8", "free_ports = true"];
    check(&[&["serve", "-s", "small", "--print-config"], &options[..]].concat(), 0, &wanted);
    check_failure(&["serve", "-s", "small", "--print-config", "--seed", "18446744073709551615"], &["seed"]);
}

#[test]
fn scenarios() {
    check(&["scenarios"], 0, &["playground", "arena", "orcs", "small", "soccer"]);
    check(&["scenarios", "small"], 0, &["title = \"Small", "[[robot]]"]);
    check_failure(&["scenarios", "smal"], &["did you mean `small`?"]);
    check_failure(&["serve", "--scenario", "playgruond"], &["did you mean `playground`?"]);
    check_failure(&["serve", "--scenario", "../scenarios/small"], &["unknown scenario"]);
}

#[test]
fn check_model() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("model.xml");
    let name = file.to_str().expect("a path in UTF-8");
    let bomb = format!(
        "<mujoco><worldbody>{}<geom size=\"1\"/>{}</worldbody></mujoco>",
        "<replicate count=\"1000\">".repeat(3),
        "</replicate>".repeat(3)
    );
    let entities = "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><mujoco model=\"&b;\"/>";
    let unstable = "<mujoco><option gravity=\"0 0 -1e300\"/><worldbody><body><freejoint/><geom size=\"1\"/></body></worldbody></mujoco>";
    for (text, wanted) in [
        (bomb.as_str(), "20000"),
        (entities, "model.xml"),
        ("not xml at all", "model.xml"),
        ("<mujoco><worldbody><geom/></mujoco>", "model.xml"),
        ("<mujoco><worldbody><body><geom size=\"-1\"/></body></worldbody></mujoco>", "size"),
        ("<mujoco><include file=\"../secret.xml\"/></mujoco>", "../secret.xml"),
        (unstable, ""),
    ] {
        fs::write(&file, text).expect("written");
        let ended = run(&["check-model", name]);
        if text == unstable {
            // the engine may accept or reject it, but the program must not crash
            assert!(matches!(ended.code, Some(0 | 1)), "{ended:?}");
        } else {
            assert_eq!(ended.code, Some(1), "{text}: {ended:?}");
            assert!(ended.stderr.starts_with("rossum: ") && ended.stderr.contains(wanted), "{text}: {}", ended.stderr);
        }
    }
    check_failure(&["check-model", "/does/not/exist.xml"], &["/does/not/exist.xml"]);
    check_failure(&["check-model", "/etc/hostname"], &[".xml"]);
    let rover = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/robots/rover/robot.xml");
    check(&["check-model", rover], 0, &["2 motors", "Left/Wheel", "without errors", "[[robot]]"]);
    let field = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fields/flat/field.xml");
    check(&["check-model", field], 0, &["0 motors", "without errors", "[world] field"]);
}

#[test]
fn replay_rejects_other_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("other.mcap");
    let name = file.to_str().expect("a path in UTF-8");
    for content in
        [&b""[..], b"hello", &[0; 5_000], b"\x89MCAP0\r\n", b"\x89MCAP0\r\n\x01\xff\xff\xff\xff\xff\xff\xff\x7f"]
    {
        fs::write(&file, content).expect("written");
        check_failure(&["replay", name], &[name, "recording"]);
        check_failure(&["replay", "--verify", name], &[name, "recording"]);
    }
    check_failure(&["replay", "/does/not/exist.mcap"], &["/does/not/exist.mcap"]);
}

#[test]
fn doctor_and_completions() {
    check(&["doctor"], 0, &["MuJoCo", "scenarios", "odcp"]);
    for (shell, wanted) in [("bash", "complete -F"), ("zsh", "#compdef rossum"), ("fish", "complete -c rossum")] {
        check(&["completions", shell], 0, &[wanted]);
    }
}

#[test]
fn oz_commands_without_a_robot() {
    for command in ["say", "gesture", "servo", "watch", "snapshot", "enrol", "export"] {
        check(&["oz", command, "--help"], 0, &["Usage: rossum oz", command]);
    }
    check(&["oz", "--help"], 0, &["Examples:", "rossum oz say"]);
    check(&["oz", "list"], 0, &["yes_short", "[yess]", "happy", "largest", "neck_yaw"]);
    for (arguments, wanted) in [
        (&["gesture", "yesss"][..], "did you mean `yess`"),
        (&["expression", "hapy"], "did you mean `happy`"),
        (&["look", "foward"], "did you mean `forward`"),
        (&["weight", "directt", "1"], "did you mean `direct`"),
        (&["weight", "direct", "2"], "from 0 to 1"),
        (&["say"], "TEXT"),
        (&["say", "--pitch", "3", "Hello"], "from 0.5 to 2"),
        (&["export", "some.mcap"], "--csv"),
        (&["enrol", "Ada", "ada.jpg"], "--names"),
    ] {
        check(&[&["oz"], arguments].concat(), 2, &[wanted]);
    }
    let nobody = ["oz", "--at", "127.0.0.1:1", "--timeout", "1"];
    for arguments in [&["say", "Hello"][..], &["watch"], &["snapshot", "a.jpg"], &["servo", "brows", "1"]] {
        check_failure(&[&nobody, arguments].concat(), &["127.0.0.1:1", "rossum serve --scenario oz"]);
    }
    check_failure(&["oz", "servo", "neck_jaw", "1"], &["did you mean `neck_yaw`"]);
    check_failure(&["oz", "servo", "brows", "1", "jaw"], &["without a position"]);
}

#[test]
fn export_rejects_other_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, table) = (folder.path().join("other.mcap"), folder.path().join("other.csv"));
    let (name, csv) = (file.to_str().expect("a path in UTF-8"), table.to_str().expect("a path in UTF-8"));
    for content in [&b""[..], b"hello", &[0; 5_000], b"\x89MCAP0\r\n"] {
        fs::write(&file, content).expect("written");
        check_failure(&["oz", "export", name, "--csv", csv], &[name, "recording"]);
    }
    check_failure(&["oz", "export", "/does/not/exist.mcap", "--csv", csv], &["/does/not/exist.mcap"]);
    check_failure(&["oz", "export", name, "--csv", "-", "--eaf", "-"], &["standard output"]);
    assert!(!table.exists(), "an invalid recording must not produce a file");
}
