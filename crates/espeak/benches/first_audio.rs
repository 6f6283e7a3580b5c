//! How long a phrase of some three seconds takes, from the request to all of its samples: with a helper that has to be
//! started, and with one that runs.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a bench measures time and prints it")]

use std::{
    io::BufReader,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use espeak::frame::{Answer, Request, Speech};

const ROUNDS: u32 = 50;

fn start(voice: &Path) -> Child {
    let name = if cfg!(target_os = "macos") { "libespeak-ng.1.dylib" } else { "libespeak-ng.so.1" };
    Command::new(env!("CARGO_BIN_EXE_espeak-helper"))
        .args([voice.join(name), voice.join("espeak-ng-data")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the helper starts")
}

fn say(helper: &mut Child, id: u32) -> Speech {
    let text = "I think that you are right, and that we should go home now.".into();
    let request = Request { id, pitch: 1.0, volume: 1.0, voice: "en-us".into(), text, marks: Vec::new() };
    request.write(helper.stdin.as_mut().expect("a pipe")).expect("a request");
    let answer = Answer::read(BufReader::new(helper.stdout.as_mut().expect("a pipe")));
    answer.expect("an answer").expect("an answer").outcome.expect("speech")
}

fn print(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let ms = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    println!("{what:<5} median {:6.2} ms   99 % {:6.2} ms", ms(50), ms(99));
}

fn main() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-puppet");
    let output =
        Command::new(script).arg("voice").stderr(Stdio::inherit()).output().expect("the script can be started");
    let voice = PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim_end()).join("espeakng_loader");
    let (mut cold, mut warm) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let mut helper = start(&voice);
        let speech = say(&mut helper, 1);
        cold.push(began.elapsed());
        if cold.len() == 1 {
            println!("{:.2} s of speech", speech.samples.len() as f64 / f64::from(speech.rate));
        }
        drop(helper.stdin.take());
        helper.wait().expect("the helper ends");
    }
    let mut helper = start(&voice);
    say(&mut helper, 1);
    for id in 2..2 + ROUNDS {
        let began = Instant::now();
        say(&mut helper, id);
        warm.push(began.elapsed());
    }
    drop(helper.stdin.take());
    helper.wait().expect("the helper ends");
    print("cold", cold);
    print("warm", warm);
}
