//! The companion of a run that is evaluated on a Ray cluster: the process `python3 -m rossum_sim.ray`, which exchanges JSON
//! lines with this one. `python/rossum_sim/ray/__main__.py` describes them.
//!
//! It ends when its standard input does, so it cannot outlive this process, however that ends.

use std::{
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    iter,
    path::PathBuf,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow, bail, ensure};
use evolve::{
    Genotype,
    run::{EvaluationSite, Workers},
    search::Evaluation,
};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tracing::debug;

/// Maximum length of a line of the companion, in bytes: far more than an outcome has.
const MAX_LINE: u64 = 1 << 20;
/// Maximum length of a line of its error output that is shown, in characters.
const MAX_SHOWN: usize = 600;
/// Time that it has to end after its input has.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// How a run uses Ray.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RayOptions {
    /// Address of the cluster; `local` to start Ray on this machine.
    pub(super) address: String,
    /// Number of workers; `None` for one per processor.
    pub(super) workers: Option<usize>,
    /// The Python interpreter.
    pub(super) python: PathBuf,
}

/// A message to the companion.
#[derive(Serialize)]
#[serde(untagged)]
enum Request<'a> {
    /// The first one.
    Site {
        site: &'a EvaluationSite,
    },
    /// A generation, whose individuals follow.
    Generation {
        generation: u64,
        individuals: usize,
    },
    Individual(&'a Genotype),
}

/// A message of the companion.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Message {
    /// It can evaluate.
    Ready { version: String, workers: usize },
    /// How far the generation is.
    Progress(Workers),
    /// The outcome of the next individual.
    Outcome(Evaluation),
    /// It ends, for this reason.
    Error(String),
}

/// A running companion.
#[derive(Debug)]
pub(super) struct Companion {
    options: RayOptions,
    child: Child,
    /// `None` at the end, as the output.
    input: Option<BufWriter<ChildStdin>>,
    output: Option<BufReader<ChildStdout>>,
    errors: ErrorOutput,
    workers: usize,
}

impl Companion {
    /// Starts a companion, and waits until it can evaluate.
    pub(super) fn start(options: &RayOptions, site: &EvaluationSite) -> anyhow::Result<Self> {
        let python = options.python.display();
        let mut command = Command::new(&options.python);
        command.args(["-m", "rossum_sim.ray"]).arg(format!("--address={}", options.address));
        command.args(options.workers.map(|workers| format!("--workers={workers}")));
        // a folder `ray` or `rossum_sim` in the current one is not the package
        command.env("PYTHONSAFEPATH", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| {
            format!("failed to start {python}; install Python 3.10 or newer, or choose an interpreter with --python")
        })?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else { bail!("the companion has no pipes") };
        let mut companion = Self {
            options: options.clone(),
            child,
            input: Some(BufWriter::new(input)),
            output: Some(BufReader::new(output)),
            errors: ErrorOutput::collect(errors)?,
            workers: 0,
        };
        companion.send([Request::Site { site }]);
        match companion.receive()? {
            Some(Message::Ready { version, workers }) => {
                companion.workers = workers;
                check_version(options, &version).map(|()| companion)
            }
            Some(Message::Error(cause)) => Err(anyhow!(cause)),
            Some(other) => Err(unexpected(&other)),
            None => bail!(
                "{python} cannot run the module rossum_sim.ray: {}; install it with `{python} -m pip install \
                 'rossum-sim[ray]'`, or choose another interpreter with --python",
                companion.last_words()
            ),
        }
    }

    /// A human-readable description of where individuals are evaluated.
    pub(super) fn describe(&self) -> String {
        let place = match self.options.address.as_str() {
            "local" => "this machine".to_owned(),
            address => format!("the cluster {address}"),
        };
        format!("evaluated by {} workers on {place}, with Ray", self.workers)
    }

    /// Evaluates a generation. `watch` is called with what the workers have done.
    pub(super) fn evaluate(
        &mut self,
        generation: u64,
        individuals: &[Genotype],
        watch: &mut dyn FnMut(&Workers),
    ) -> anyhow::Result<Vec<Evaluation>> {
        let size = Request::Generation { generation, individuals: individuals.len() };
        self.send(iter::once(size).chain(individuals.iter().map(Request::Individual)));
        let mut evaluations = Vec::with_capacity(individuals.len());
        while evaluations.len() < individuals.len() {
            match self.receive()? {
                Some(Message::Outcome(evaluation)) => evaluations.push(evaluation),
                Some(Message::Progress(workers)) => watch(&workers),
                Some(Message::Error(cause)) => bail!(cause),
                Some(other @ Message::Ready { .. }) => return Err(unexpected(&other)),
                None => bail!("the companion ended: {}", self.last_words()),
            }
        }
        Ok(evaluations)
    }

    /// Sends messages. If the companion does not read them, it has ended, and what it sent says why.
    fn send<'a>(&mut self, messages: impl IntoIterator<Item = Request<'a>>) {
        let Some(input) = &mut self.input else { return };
        let mut write = |message: Request<'_>| -> io::Result<()> {
            serde_json::to_writer(&mut *input, &message)?;
            input.write_all(b"\n")
        };
        let written = messages.into_iter().try_for_each(&mut write).and_then(|()| input.flush());
        if let Err(error) = written {
            debug!("the companion does not read: {error}");
            self.input = None;
        }
    }

    /// The next message; `None` at the end.
    fn receive(&mut self) -> anyhow::Result<Option<Message>> {
        let mut line = Vec::new();
        let Some(output) = &mut self.output else { return Ok(None) };
        output.take(MAX_LINE).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        ensure!(line.ends_with(b"\n"), "the companion's message is cut off, or longer than {} KiB", MAX_LINE >> 10);
        let shown = || format!("unexpected line of the companion: {}", shown(&line));
        serde_json::from_slice(&line).map(Some).with_context(shown)
    }

    /// Stops it; the last line of its error output.
    fn last_words(&mut self) -> String {
        self.stop();
        self.errors.last_line()
    }

    /// Waits until it has ended, which it does when its input does.
    fn stop(&mut self) {
        (self.input, self.output) = (None, None);
        self.errors.wait(STOP_TIMEOUT);
        // fails if it has ended
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.stop();
    }
}

fn check_version(options: &RayOptions, version: &str) -> anyhow::Result<()> {
    let expected = env!("CARGO_PKG_VERSION");
    ensure!(
        version == expected,
        "{} has version {version} of the package rossum-sim, and this program is version {expected}; install the same version",
        options.python.display()
    );
    Ok(())
}

fn unexpected(message: &Message) -> anyhow::Error {
    anyhow!("unexpected message of the companion: {message:?}")
}

/// The beginning of a line, for a message.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim().chars().take(MAX_SHOWN).collect()
}

/// The error output of the companion, which goes to the log.
#[derive(Debug)]
struct ErrorOutput {
    /// Its end.
    kept: Arc<Mutex<String>>,
    /// Is told when it has ended.
    ended: Receiver<()>,
}

impl ErrorOutput {
    fn collect(pipe: ChildStderr) -> anyhow::Result<Self> {
        let (report, ended) = sync_channel(1);
        let kept: Arc<Mutex<String>> = Arc::default();
        let keeper = kept.clone();
        let read = move || {
            let (mut reader, mut line) = (BufReader::new(pipe), Vec::new());
            // a read error counts as the end
            while (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line).trim().to_owned();
                debug!("companion: {text}");
                if !text.is_empty() {
                    *keeper.lock() = text.chars().take(MAX_SHOWN).collect();
                }
                line.clear();
            }
            // nobody may be waiting
            let _ = report.send(());
        };
        thread::Builder::new().name("companion's stderr".into()).spawn(read)?;
        Ok(Self { kept, ended })
    }

    /// Waits until it has ended, at most for the timeout: another process may hold the pipe.
    fn wait(&self, timeout: Duration) {
        // at the end, or if the thread has ended before
        let _ = self.ended.recv_timeout(timeout);
    }

    /// The last line that is not empty.
    fn last_line(&self) -> String {
        let kept = self.kept.lock();
        if kept.is_empty() { "without a message".to_owned() } else { kept.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use evolve::run::Encounters;

    use super::*;

    fn options(python: impl Into<PathBuf>) -> RayOptions {
        RayOptions { address: "local".to_owned(), workers: Some(2), python: python.into() }
    }

    fn site() -> EvaluationSite {
        let (world, body) = ("world".to_owned(), "body".to_owned());
        EvaluationSite::Local { world, body, fitness: None, seed: u64::MAX, encounters: Encounters::Nobody }
    }

    /// A shell script in the place of Python.
    fn interpreter(folder: &Path, script: &str) -> PathBuf {
        let path = folder.join("python");
        // written by another process: one that another test forks meanwhile would inherit this one's descriptor, and a file
        // open for writing cannot be executed
        let mut writer = Command::new("/bin/sh")
            .args(["-c", r#"cat > "$0" && chmod 755 "$0""#])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        writer.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
        assert!(writer.wait().unwrap().success());
        path
    }

    const READY: &str = concat!(
        r#"read -r site; echo '{"ready": {"version": ""#,
        env!("CARGO_PKG_VERSION"),
        r#"", "workers": 2}}'; read -r size; read -r one; read -r other"#
    );

    fn individuals() -> Vec<Genotype> {
        [0.1, 5e-324].map(|weight| Genotype { weights: vec![weight], ..Genotype::default() }).to_vec()
    }

    #[test]
    fn numbers_reach_the_other_side_to_the_bit_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join("notes").display().to_string();
        let script = format!(
            r#"{READY}
printf '%s\n' "$*" "$site" "$size" "$one" "$other" > '{notes}'
echo '{{"progress": {{"finished": 1, "total": 2, "workers": 2, "lost": 3, "retried": 4}}}}'
echo '{{"outcome": {{"fitness": -0.30000000000000004, "behaviour": [], "figures": [5e-324, -0.0], "steps": 7}}}}'
echo '{{"outcome": {{"fitness": 1.7976931348623157e308, "behaviour": [0.1]}}}}'
read -r end"#
        );
        let mut companion = Companion::start(&options(interpreter(folder.path(), &script)), &site()).unwrap();
        assert_eq!(companion.describe(), "evaluated by 2 workers on this machine, with Ray");
        let mut seen = Vec::new();
        let evaluations = companion.evaluate(9, &individuals(), &mut |workers| seen.push(*workers)).unwrap();
        assert_eq!(seen, [Workers { workers: 2, lost: 3, retried: 4, finished: 1, total: 2 }]);
        let bits: Vec<u64> = evaluations.iter().map(|evaluation| evaluation.fitness.to_bits()).collect();
        assert_eq!(bits, [(-0.1_f64 - 0.2).to_bits(), f64::MAX.to_bits()]);
        assert_eq!(evaluations[0].figures.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [1, 1 << 63]);
        assert_eq!(evaluations[1].behaviour, [0.1]);
        drop(companion);
        let notes = fs::read_to_string(notes).unwrap();
        let [arguments, asked, size, sent @ ..] = &notes.lines().collect::<Vec<_>>()[..] else { panic!("{notes}") };
        assert_eq!(*arguments, "-m rossum_sim.ray --address=local --workers=2");
        assert!(asked.contains("18446744073709551615"), "{asked}");
        assert_eq!(*size, r#"{"generation":9,"individuals":2}"#);
        let sent: Vec<Genotype> = sent.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(sent, individuals());
    }

    #[test]
    fn what_goes_wrong_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let ready = |then: &str| format!("{READY}\n{then}");
        for (script, expected) in [
            ("echo 'No module named rossum_sim' >&2; exit 1".to_owned(), "No module named rossum_sim; install it with"),
            ("exit 1".to_owned(), "without a message; install it with"),
            ("echo hello".to_owned(), "unexpected line of the companion: hello"),
            (r#"echo '{"error": "no Ray cluster"}'"#.to_owned(), "no Ray cluster"),
            (r#"echo '{"ready": {"version": "0.0.0", "workers": 1}}'"#.to_owned(), "version 0.0.0 of the package"),
            ("yes x | tr -d '\\n' | head -c 2000000".to_owned(), "longer than 1024 KiB"),
            (ready("echo tired >&2; exit 3"), "ended: tired"),
            (ready(r#"echo '{"outcome": {"fitness": 1, "behaviour": []}}'"#), "ended: without a message"),
            (ready(r#"echo '{"outcome": {"fitness": 1e999, "behaviour": []}}'"#), "unexpected line"),
            (ready(r#"echo '{"error": "individual 2 has ended 5 workers"}'"#), "individual 2 has ended"),
            (ready(r#"echo '{"ready": {"version": "0", "workers": 1}}'"#), "unexpected message"),
        ] {
            let python = interpreter(folder.path(), &script);
            let evaluated = Companion::start(&options(python), &site())
                .and_then(|mut companion| companion.evaluate(1, &individuals(), &mut |_| ()));
            let error = format!("{:#}", evaluated.unwrap_err());
            assert!(error.contains(expected), "{script}: {error}");
        }
        let error = format!("{:#}", Companion::start(&options("/nowhere/python3"), &site()).unwrap_err());
        assert!(error.contains("choose an interpreter with --python"), "{error}");
    }
}
