//! Harnesses: programs that do with a client what they are told in JSON lines.

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    io::{BufRead, BufReader, BufWriter, Read, Write, pipe},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};

/// Far longer than anything takes, even under valgrind.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);

/// A client in a language, and perhaps in one of several styles or builds; or a program that uses it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Contestant {
    /// The head of its column, or the name of the program's file.
    pub(crate) name: String,
    /// Empty for our own client.
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Cases that it cannot pass, with the reasons.
    #[serde(skip)]
    pub(crate) unsupported: BTreeMap<String, String>,
}

/// What became of a folder in `clients/`.
pub(crate) enum Built {
    Contestants(Vec<Contestant>),
    /// What is missing on this machine.
    Missing(String),
}

/// Our own client.
pub(crate) fn ours() -> Contestant {
    let (command, env) = (Vec::new(), BTreeMap::new());
    Contestant { name: "Rust".to_owned(), command, env, unsupported: super::rust::unsupported() }
}

/// The languages that have a harness, by the names of their folders.
pub(crate) fn languages() -> Vec<String> {
    let folder = clients();
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let names = entries.map(|entry| entry.expect("readable").file_name().into_string().expect("a name"));
    let mut names: Vec<_> = names.filter(|name| folder.join(name).join("conformance/build").exists()).collect();
    names.sort();
    names
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients").canonicalize().expect("the folder of the clients")
}

/// Builds the harnesses of a language.
pub(crate) fn build(language: &str) -> Built {
    let folder = clients().join(language).join("conformance");
    let mut contestants = match run(language, "build", &[]) {
        Ok(stdout) => contestants(&stdout),
        Err(missing) => return Built::Missing(missing),
    };
    let unsupported: BTreeMap<_, _> = fs::read_to_string(folder.join("unsupported.json")).map_or_else(
        |_| BTreeMap::new(),
        |text| serde_json::from_str(&text).unwrap_or_else(|error| panic!("{language}: unsupported.json: {error}")),
    );
    contestants.iter_mut().for_each(|contestant| contestant.unsupported.clone_from(&unsupported));
    Built::Contestants(contestants)
}

fn contestants(lines: &str) -> Vec<Contestant> {
    let contestant = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    lines.lines().map(contestant).collect()
}

/// Compiles programs with the package of a language. Returns those that can be run.
pub(crate) fn compile(language: &str, programs: &[PathBuf]) -> Built {
    run(language, "compile", programs).map_or_else(Built::Missing, |stdout| Built::Contestants(contestants(&stdout)))
}

/// The example programs of a language.
pub(crate) fn examples(language: &str) -> Vec<PathBuf> {
    let folder = clients().join(language).join("examples");
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("readable").path());
    let is_program =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension != "txt" && extension != "pro");
    paths.filter(is_program).collect()
}

/// Runs the tests that a client has besides the suite, if it has any. Returns what they lacked to run completely.
pub(crate) fn own_tests(language: &str) -> Option<String> {
    if !clients().join(language).join("conformance/test").exists() {
        return None;
    }
    run(language, "test", &[]).err()
}

/// Runs a program of a client with a folder beside the other build outputs, and more arguments. Returns its output, or what is
/// missing.
///
/// # Panics
///
/// If it fails for another reason than a toolchain that is missing.
fn run(language: &str, program: &str, arguments: &[PathBuf]) -> Result<String, String> {
    const MISSING: i32 = 77;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients").join(language).join(program);
    fs::create_dir_all(&folder).expect("a folder for the build");
    let path = clients().join(language).join("conformance").join(program);
    let ended = Command::new(&path).arg(&folder).args(arguments).output();
    let ended = ended.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (stdout, stderr) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    if ended.status.code() == Some(MISSING) {
        return Err(stderr.lines().last().unwrap_or("something").to_owned());
    }
    assert!(ended.status.success(), "{} fails:\n{stdout}{stderr}", path.display());
    Ok(stdout.into_owned())
}

/// Where a harness runs.
enum Place {
    Process(Child),
    /// `None` once it has ended.
    Thread(Option<JoinHandle<()>>),
}

/// A running harness.
pub(crate) struct Harness {
    place: Place,
    input: Option<Box<dyn Write + Send>>,
    lines: Receiver<String>,
    /// The end of what it wrote to its standard error.
    said: Arc<Mutex<String>>,
    /// What clients were told and nobody has looked at yet.
    events: BTreeMap<String, VecDeque<Value>>,
    last_command: u64,
    /// The answer to it, if it has come while an event was waited for.
    answer: Option<Value>,
}

impl Harness {
    pub(crate) fn start(contestant: &Contestant) -> Self {
        let Some((program, arguments)) = contestant.command.split_first() else { return Self::start_ours() };
        let mut command = Command::new(program);
        command.args(arguments).envs(&contestant.env);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{program}: {error}"));
        let input = child.stdin.take().expect("it is piped");
        let output = child.stdout.take().expect("it is piped");
        let errors = child.stderr.take().expect("it is piped");
        let harness = Self::new(Place::Process(child), BufWriter::new(input), output);
        let said = Arc::clone(&harness.said);
        thread::spawn(move || keep_end(errors, &said));
        harness
    }

    /// That of our own client is a thread.
    fn start_ours() -> Self {
        let (its_input, input) = pipe().expect("a pipe");
        let (output, its_output) = pipe().expect("a pipe");
        let thread = thread::spawn(move || super::rust::serve(its_input, its_output));
        Self::new(Place::Thread(Some(thread)), input, output)
    }

    fn new(place: Place, input: impl Write + Send + 'static, output: impl Read + Send + 'static) -> Self {
        let (sender, lines) = sync_channel(64);
        thread::spawn(move || forward(output, &sender));
        let (said, events) = (Arc::default(), BTreeMap::new());
        Self { place, input: Some(Box::new(input)), lines, said, events, last_command: 0, answer: None }
    }

    /// Tells it to call a method.
    pub(crate) fn command(&mut self, client: &str, name: &str, args: &[Value]) -> Result<(), String> {
        self.last_command += 1;
        let line = json!({"id": self.last_command, "client": client, "call": name, "args": args});
        let input = self.input.as_mut().expect("it is open until the end");
        writeln!(input, "{line}")
            .and_then(|()| input.flush())
            .map_err(|error| format!("the harness has ended: {error}"))
    }

    /// What the last command has returned, or the error with which it failed.
    pub(crate) fn answer(&mut self) -> Result<Result<Value, Value>, String> {
        let begin = now();
        loop {
            if let Some(answer) = self.answer.take() {
                return match (answer.get("returns"), answer.get("fails")) {
                    (Some(value), None) => Ok(Ok(value.clone())),
                    (None, Some(error)) => Ok(Err(error.clone())),
                    _ => Err(format!("neither `returns` nor `fails` in {answer}")),
                };
            }
            let line = self.line(begin)?;
            self.keep(line)?;
        }
    }

    /// The next event of a client.
    pub(crate) fn event(&mut self, client: &str) -> Result<Value, String> {
        let begin = now();
        loop {
            if let Some(event) = self.events.get_mut(client).and_then(VecDeque::pop_front) {
                return Ok(event);
            }
            let line = self.line(begin)?;
            self.keep(line)?;
        }
    }

    /// Events that nobody has looked at; they are forgotten.
    pub(crate) fn rest(&mut self) -> Result<Vec<(String, Value)>, String> {
        while let Ok(line) = self.lines.try_recv() {
            self.keep(parse(&line)?)?;
        }
        let rest = std::mem::take(&mut self.events);
        Ok(rest
            .into_iter()
            .flat_map(|(client, events)| events.into_iter().map(move |event| (client.clone(), event)))
            .collect())
    }

    /// Keeps an answer or an event until somebody looks at it.
    fn keep(&mut self, mut line: Value) -> Result<(), String> {
        if line["id"] == self.last_command && self.answer.is_none() {
            self.answer = Some(line);
            return Ok(());
        }
        let Some(Value::String(client)) = line.as_object_mut().and_then(|fields| fields.remove("client")) else {
            return Err(format!("neither an event nor the answer to command {}: {line}", self.last_command));
        };
        self.events.entry(client).or_default().push_back(line);
        Ok(())
    }

    fn line(&mut self, begin: Instant) -> Result<Value, String> {
        let left = PATIENCE.saturating_sub(begin.elapsed());
        match self.lines.recv_timeout(left) {
            Ok(line) => parse(&line),
            Err(RecvTimeoutError::Timeout) => Err(format!("the harness says nothing for {PATIENCE:?}{}", self.said())),
            Err(RecvTimeoutError::Disconnected) => Err(format!("the harness has ended{}", self.said())),
        }
    }

    fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_empty() { String::new() } else { format!("; standard error:\n{said}") }
    }

    /// Has it exit, which must leave no error behind.
    pub(crate) fn end(mut self) -> Result<(), String> {
        self.input = None;
        let begin = now();
        // its output ends when it does
        while self.lines.recv_timeout(PATIENCE.saturating_sub(begin.elapsed())).is_ok() {}
        if begin.elapsed() >= PATIENCE {
            return Err("the harness does not end when its input does".to_owned());
        }
        match &mut self.place {
            Place::Process(child) => match child.wait().expect("waited for") {
                status if status.success() => Ok(()),
                status => Err(format!("the harness ends with {status}{}", self.said())),
            },
            Place::Thread(thread) => {
                let ended = thread.take().map(JoinHandle::join);
                ended.transpose().map(drop).map_err(|_| "the harness panics".to_owned())
            }
        }
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        if let Place::Process(child) = &mut self.place {
            // it may have ended
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn parse(line: &str) -> Result<Value, String> {
    serde_json::from_str(line).map_err(|error| {
        let begin: String = line.chars().take(200).collect();
        format!("not JSON ({error}): {begin}")
    })
}

fn forward(output: impl Read, sender: &SyncSender<String>) {
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { return };
        if sender.send(line).is_err() {
            return;
        }
    }
}

fn keep_end(mut errors: impl Read, to: &Mutex<String>) {
    const KEPT: usize = 16 * 1024;
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = errors.read(&mut buffer) {
        let mut said = to.lock().unwrap_or_else(PoisonError::into_inner);
        said.push_str(&String::from_utf8_lossy(&buffer[..length]));
        let superfluous = said.len().saturating_sub(KEPT);
        let cut = said.ceil_char_boundary(superfluous);
        said.drain(..cut);
    }
}

#[expect(clippy::disallowed_methods, reason = "deadlines are in wall time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
