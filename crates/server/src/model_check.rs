//! Tries models in a process of their own before they are compiled in this one.
//!
//! The scan bounds what a model contains, but not what the engine makes of it: the hull of a mesh or the contacts of
//! thousands of geoms may take minutes and all memory. The trial process has limits for both, and its crash affects nothing
//! else. Models that ship with the program need no trial; others pass once.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    io::{self, Read, Write},
    os::unix::process::ExitStatusExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{RecvTimeoutError, sync_channel},
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use physics::{
    Limits, ModelError, Source,
    vet::{Use, try_out},
};
use rustix::process::{Resource, Rlimit, Signal, setrlimit};

/// The hidden subcommand of this program that tries a model.
pub const HELPER: &str = "try-model";
/// Time that a trial may take. A model that passes is compiled again, which may take as long: 20 s in total.
pub const TRIAL_TIME: Duration = Duration::from_secs(10);
/// Memory that a trial may take, in bytes.
pub const TRIAL_MEMORY: u64 = 2 << 30;
/// Exit code of a trial whose model was refused; the reason is on its standard error.
const REFUSED: u8 = 3;
/// Longest reason, in bytes.
const MAX_REASON: u64 = 4096;
/// Models that have passed and are remembered.
const MAX_PASSED: usize = 1000;

/// A trial, as passed to the helper.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Name of the model.
    pub name: String,
    /// Its file; `None` if the text is on standard input.
    pub path: Option<PathBuf>,
    /// Prefix under which it is attached to another model; `None` for the base of a world.
    pub prefix: Option<String>,
}

impl Trial {
    /// The arguments of the helper.
    fn arguments(&self) -> impl Iterator<Item = OsString> + use<> {
        let option = |name: &str, value: Option<OsString>| {
            value.map(|value| {
                let mut argument = OsString::from(name);
                argument.push(value);
                argument
            })
        };
        let name = option("--name=", Some(self.name.clone().into()));
        let path = option("--path=", self.path.clone().map(PathBuf::into_os_string));
        let prefix = option("--prefix=", self.prefix.clone().map(OsString::from));
        [Some(OsString::from(HELPER)), name, path, prefix].into_iter().flatten()
    }
}

/// Checks a model, for [`physics::vet::install_check`].
pub fn check(source: &Source, used: Use<'_>) -> Result<(), ModelError> {
    static PASSED: Mutex<BTreeSet<(u64, bool)>> = Mutex::new(BTreeSet::new());
    if source.path().is_none() && library::is_shipped(source.text()) {
        return Ok(());
    }
    let key = (source.fingerprint(), used == Use::Base);
    if PASSED.lock().contains(&key) {
        return Ok(());
    }
    try_in_process(source, used)?;
    let mut passed = PASSED.lock();
    if passed.len() < MAX_PASSED {
        passed.insert(key);
    }
    Ok(())
}

/// Runs the helper, and waits for it.
fn try_in_process(source: &Source, used: Use<'_>) -> Result<(), ModelError> {
    let failed = |error: io::Error| too_costly(source, format!("the trial compilation failed to start ({error})"));
    let prefix = match used {
        Use::Base => None,
        Use::Attached { prefix } => Some(prefix.to_owned()),
    };
    let trial = Trial { name: source.name().to_owned(), path: source.path().map(Path::to_owned), prefix };
    let mut command = Command::new(own_program().map_err(failed)?);
    command.args(trial.arguments()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let text = if source.path().is_some() { "" } else { source.text() };
    let (status, reason) = finish(&mut child, text, TRIAL_TIME).map_err(failed)?;
    judge(source, status, reason)
}

/// The program that is running, even if its file has been replaced since.
fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { env::current_exe() }
}

/// Feeds the helper and waits until it ends or its time is up. Returns its exit status and its error output.
fn finish(child: &mut Child, text: &str, time: Duration) -> io::Result<(ExitStatus, String)> {
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let (done, ended) = sync_channel(1);
    thread::scope(|scope| {
        // either may block until the helper ends
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
        scope.spawn(move || {
            let mut said = Vec::new();
            if let Some(mut stderr) = stderr {
                // what cannot be read is no reason
                let _ = stderr.by_ref().take(MAX_REASON).read_to_end(&mut said);
                let _ = io::copy(&mut stderr, &mut io::sink());
            }
            let _ = done.send(said);
        });
        let said = ended.recv_timeout(time);
        if said == Err(RecvTimeoutError::Timeout) {
            child.kill()?;
        }
        let said = said.unwrap_or_default();
        Ok((child.wait()?, String::from_utf8_lossy(&said).trim().to_owned()))
    })
}

/// What the end of the helper says about the model.
fn judge(source: &Source, status: ExitStatus, reason: String) -> Result<(), ModelError> {
    const TIME: [Signal; 2] = [Signal::KILL, Signal::XCPU];
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(()),
        (Some(code), _) if code == i32::from(REFUSED) => Err(ModelError::Refused { reason }),
        (_, Some(signal)) if TIME.iter().any(|time| time.as_raw() == signal) => {
            Err(too_costly(source, format!("compiling it takes more than {} s", TRIAL_TIME.as_secs())))
        }
        // an allocation that fails aborts the process
        (_, Some(signal)) if signal == Signal::ABORT.as_raw() => {
            Err(too_costly(source, format!("compiling it needs more than {} GiB of memory", TRIAL_MEMORY >> 30)))
        }
        _ => Err(too_costly(source, format!("the compiler fails ({status})"))),
    }
}

fn too_costly(source: &Source, reason: String) -> ModelError {
    ModelError::TooCostly { model: source.name().to_owned(), reason }
}

/// Tries a model in this process, which is the helper. Returns its exit code.
pub fn run_trial(trial: &Trial, mut input: impl Read, mut report: impl Write) -> io::Result<u8> {
    set_limits()?;
    let mut text = String::new();
    let limits = Limits::default();
    let source = match &trial.path {
        Some(path) => Source::from_file(path, &limits),
        None => {
            input.read_to_string(&mut text)?;
            Source::from_text(&trial.name, &text, &limits)
        }
    };
    let used = trial.prefix.as_deref().map_or(Use::Base, |prefix| Use::Attached { prefix });
    match source.and_then(|source| try_out(&source, used)) {
        // without a body it is a field; the caller finds out as fast
        Ok(()) | Err(ModelError::Empty { .. }) => Ok(0),
        Err(error) => {
            writeln!(report, "{error}")?;
            Ok(REFUSED)
        }
    }
}

/// Limits the time and memory of this process.
fn set_limits() -> io::Result<()> {
    let at_most = |limit: u64| Rlimit { current: Some(limit), maximum: Some(limit) };
    setrlimit(Resource::Core, at_most(0))?;
    setrlimit(Resource::As, at_most(TRIAL_MEMORY))?;
    // the system kills it at the second limit
    let seconds = TRIAL_TIME.as_secs();
    setrlimit(Resource::Cpu, Rlimit { current: Some(seconds), maximum: Some(seconds + 1) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Source {
        Source::from_text("arm", "<mujoco/>", &Limits::default()).unwrap()
    }

    #[test]
    fn the_end_of_a_trial_is_a_verdict() {
        let (exited, killed) = (|code: i32| code << 8, |signal: i32| signal);
        for (status, says) in [
            (exited(0), None),
            (exited(3), Some("arm is not round")),
            (exited(1), Some("the compiler fails")),
            (killed(9), Some("arm cannot be used: compiling it takes more than 10 s")),
            (killed(24), Some("arm cannot be used: compiling it takes more than 10 s")),
            (killed(6), Some("arm cannot be used: compiling it needs more than 2 GiB")),
            (killed(11), Some("the compiler fails (signal: 11")),
        ] {
            let verdict = judge(&source(), ExitStatus::from_raw(status), "arm is not round".to_owned());
            let said = verdict.err().map(|error| error.to_string());
            assert_eq!(said.is_some(), says.is_some(), "{said:?}");
            assert!(said.as_deref().unwrap_or_default().contains(says.unwrap_or_default()), "{said:?}");
        }
    }

    #[test]
    fn a_trial_that_does_not_end_is_killed() {
        // reads nothing, and outlives this test if it is not
        let mut child = Command::new("sleep")
            .arg("1000")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let long = " ".repeat(1 << 20);
        let (status, _) = finish(&mut child, &long, Duration::from_millis(10)).unwrap();
        assert!(judge(&source(), status, String::new()).unwrap_err().to_string().contains("more than 10 s"));
    }

    #[test]
    fn what_a_trial_says_is_read_to_its_end() {
        let mut child = Command::new("sh")
            .args(["-c", "cat; head -c 200000 /dev/zero | tr '\\0' x >&2; exit 3"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (status, said) = finish(&mut child, "text", TRIAL_TIME).unwrap();
        assert_eq!((status.code(), said.len() as u64), (Some(3), MAX_REASON));
    }
}
