//! Programs that use the packages of the clients, with a live robot: those in `docs/clients.md`, and the examples.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::sync_channel,
    thread,
};

use super::harness::{self, Built, Contestant};
use crate::{
    operating::Robot,
    running::{DEADLINE, run_command},
};

/// The port in the programs of the page.
const PORT: &str = "7331";

/// The programs in the code blocks of the page, with their languages.
pub(crate) fn documented() -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let page = fs::read_to_string(path).expect("the page");
    let blocks = page.split("\n```").skip(1).step_by(2);
    let blocks = blocks.map(|block| block.split_once('\n').expect("a program"));
    blocks.map(|(language, program)| (language.to_owned(), program.to_owned() + "\n")).collect()
}

/// The folder in `clients/` and the extension of a program; `None` for one in Rust.
fn kind(language: &str, program: &str) -> Option<(&'static str, &'static str)> {
    match language {
        "c" => Some(("c", "c")),
        "cpp" => Some(("qt", "cpp")),
        "java" if program.contains("import android.") => Some(("android", "java")),
        "java" => Some(("java", "java")),
        "csharp" => Some(("csharp", "cs")),
        "python" => Some(("python", "py")),
        "js" => Some(("node", "mjs")),
        "rust" => None,
        other => panic!("no client is known for {other}"),
    }
}

/// Writes the page's programs in a language into files, for a robot at this port.
fn write(language: &str, port: u16) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients").join(language).join("documented");
    fs::create_dir_all(&folder).expect("a folder");
    let mut paths = Vec::new();
    for (block, program) in documented() {
        let Some((_, extension)) = kind(&block, &program).filter(|(of, _)| *of == language) else { continue };
        // in Java, that of the class
        let class = program.split_once("public class ").and_then(|(_, rest)| rest.split(' ').next());
        let name = class.map_or_else(|| format!("hello{}", paths.len()), str::to_owned);
        let path = folder.join(name).with_extension(extension);
        fs::write(&path, program.replace(PORT, &port.to_string())).expect("it can be written");
        paths.push(path);
    }
    assert!(!paths.is_empty(), "the page has no program for {language}");
    paths
}

/// Compiles the programs of a language with its package, and runs them. Returns what is missing for that.
pub(crate) fn run(language: &str, robot: &Robot) -> Option<String> {
    let address = robot.address();
    let sources = [write(language, address.port()), harness::examples(language)].concat();
    let programs = match harness::compile(language, &sources) {
        Built::Contestants(programs) => programs,
        Built::Missing(what) => return Some(what),
    };
    // those for Android need a device
    assert_eq!(programs.len(), if language == "android" { 0 } else { sources.len() }, "{language}");
    for program in &programs {
        if program.name.eq_ignore_ascii_case("wizard") {
            is_refused(program);
            operates(program, address);
        } else {
            greets(program);
        }
    }
    None
}

fn command(program: &Contestant) -> Command {
    let mut command = Command::new(&program.command[0]);
    command.args(&program.command[1..]).envs(&program.env);
    command
}

/// A program of the page runs to its end.
fn greets(program: &Contestant) {
    let ended = run_command(&mut command(program));
    let said = format!("{}{}", ended.stdout, ended.stderr);
    assert_eq!(ended.code, Some(0), "{:?}: {said}", program.command);
    assert!(
        said.contains("operating") && said.contains("Alice, a simulated humanoid"),
        "{:?}: {said}",
        program.command
    );
}

/// An example says that nobody listens at a port.
fn is_refused(program: &Contestant) {
    let ended = run_command(command(program).args(["--robot", "127.0.0.1:1"]));
    let is_said = ended.stderr.contains("127.0.0.1:1 cannot be reached");
    assert!(ended.code != Some(0) && is_said, "{:?}: {ended:?}", program.command);
}

/// An example has the robot say a text with a gesture, and goes on.
fn operates(program: &Contestant, address: SocketAddr) {
    let mut command = command(program);
    command.args(["--robot", &address.to_string(), "--say", "[yesl]Good morning."]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let output = BufReader::new(child.stdout.take().expect("it is piped"));
    let (sender, lines) = sync_channel(64);
    thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let mut said = String::new();
    while !said.contains("has spoken") {
        let Ok(line) = lines.recv_timeout(DEADLINE) else { break };
        said.push_str(&(line + "\n"));
    }
    let goes_on = child.try_wait().is_ok_and(|status| status.is_none());
    // one that has ended cannot be killed
    let _ = child.kill();
    let _ = child.wait();
    for expected in ["operating", "Alice, a simulated humanoid", "makes gesture", "has spoken"] {
        assert!(said.contains(expected), "{command:?} does not say `{expected}`, but: {said}");
    }
    assert!(goes_on, "{command:?} has ended: {said}");
}
