//! Playback through an external program.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::Write as _,
    process::{Child, Command, Stdio},
    thread,
};

use super::{Sink, SinkError, little_endian};
use crate::program;

/// Playback commands in order of preference; `RATE` is replaced by the sample rate.
pub const PLAYERS: [&[&str]; 3] = [
    &["pw-cat", "--playback", "--raw", "--format=s16", "--channels=1", "--rate=RATE", "-"],
    &["paplay", "--raw", "--format=s16le", "--channels=1", "--rate=RATE"],
    &["aplay", "--quiet", "--file-type=raw", "--format=S16_LE", "--channels=1", "--rate=RATE", "-"],
];

/// Maximum number of processes: the previous one still drains its buffer when the next phrase starts.
const MAX_PLAYERS: usize = 3;

/// Plays each phrase with its own process. After a failure, the next phrase is played by the next program.
#[derive(Debug)]
pub struct PlayerSink {
    commands: Vec<Vec<OsString>>,
    /// Index of the command for the next phrase.
    current: usize,
    /// Index of the command and process, oldest first.
    players: Vec<(usize, Child)>,
}

impl PlayerSink {
    /// Uses those of the [`PLAYERS`] that are on the `PATH` and support raw samples.
    pub fn find() -> Result<Self, SinkError> {
        Self::find_in(&env::var_os("PATH").unwrap_or_default())
    }

    fn find_in(path: &OsStr) -> Result<Self, SinkError> {
        let can_play = |name: &str| match program::find(name, path) {
            Some(program) => name != "pw-cat" || program::supports_raw(&program),
            None => false,
        };
        let found = PLAYERS.into_iter().filter(|player| player.first().is_some_and(|name| can_play(name)));
        let commands: Vec<_> = found.map(|player| player.iter().map(OsString::from).collect()).collect();
        if commands.is_empty() { Err(SinkError::NoPlayer) } else { Ok(Self::with(commands)) }
    }

    /// Uses a program that plays raw 16-bit little-endian samples from its standard input; arguments may contain `RATE`.
    pub fn new(command: Vec<OsString>) -> Self {
        Self::with(vec![command])
    }

    fn with(commands: Vec<Vec<OsString>>) -> Self {
        Self { commands, current: 0, players: Vec::new() }
    }

    fn program(&self, command: usize) -> String {
        let program = self.commands.get(command).and_then(|command| command.first());
        program.map_or(String::new(), |program| program.to_string_lossy().into_owned())
    }

    /// Switches to the next command, unless a failure of this one has already done so.
    fn give_up(&mut self, command: usize) {
        if command == self.current {
            self.current = (self.current + 1) % self.commands.len().max(1);
        }
    }

    /// Reaps processes that have exited. Returns an error if one of them failed.
    fn collect(&mut self) -> Result<(), SinkError> {
        let mut failed = None;
        self.players.retain_mut(|(command, player)| match player.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                failed = (!status.success()).then_some((*command, status)).or(failed);
                false
            }
            // no longer our child
            Err(_) => false,
        });
        let Some((command, status)) = failed else { return Ok(()) };
        self.give_up(command);
        Err(SinkError::Ended { program: self.program(command), status: status.to_string() })
    }

    fn play(&mut self, rate: u32, samples: &[i16]) -> Result<(), SinkError> {
        let command = self.current;
        let failed = |source| SinkError::Start { program: self.program(command), source };
        let rate = rate.to_string();
        let with_rate = |argument: &OsString| match argument.to_str() {
            Some(text) => OsString::from(text.replace("RATE", &rate)),
            None => argument.clone(),
        };
        let words = self.commands.get(command).and_then(|words| words.split_first());
        let (program, arguments) = words.ok_or(SinkError::NoPlayer)?;
        let player = Command::new(program)
            .args(arguments.iter().map(with_rate))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed);
        let mut player = match player {
            Ok(player) => player,
            Err(error) => {
                self.give_up(command);
                return Err(error);
            }
        };
        let pipe = player.stdin.take();
        let bytes = little_endian(samples);
        // the pipe drains only as fast as the audio is played; this thread ends with the player
        let feeder = move || {
            if let Some(mut pipe) = pipe {
                // the exit status of the player is more informative
                let _ = pipe.write_all(&bytes);
            }
        };
        let started = thread::Builder::new().name("loudspeaker".to_owned()).spawn(feeder).map(drop).map_err(failed);
        self.players.push((command, player));
        started
    }

    fn kill_all_but(&mut self, kept: usize) {
        let surplus = self.players.len().saturating_sub(kept);
        for (_, mut player) in self.players.drain(..surplus) {
            // it may have exited already; it must be reaped in any case
            let _ = player.kill();
            let _ = player.wait();
        }
    }
}

impl Sink for PlayerSink {
    /// Also returns the failure of an earlier phrase; the new phrase is played nevertheless.
    fn start(&mut self, rate: u32, samples: &[i16], _now: f64) -> Result<(), SinkError> {
        let before = self.collect();
        if !samples.is_empty() {
            self.kill_all_but(MAX_PLAYERS - 1);
            self.play(rate, samples)?;
        }
        before
    }

    fn stop(&mut self, _now: f64) -> Result<(), SinkError> {
        let before = self.collect();
        self.kill_all_but(0);
        before
    }

    /// A failure is reported once, here or with the next phrase.
    fn check(&mut self) -> Result<(), SinkError> {
        self.collect()
    }
}

impl Drop for PlayerSink {
    fn drop(&mut self) {
        self.kill_all_but(0);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn shell(lines: String) -> PlayerSink {
        PlayerSink::new(["sh", "-c", &lines, "player", "RATE"].map(OsString::from).into())
    }

    /// Waits for the only player.
    fn finish(sink: &mut PlayerSink) {
        sink.players[0].1.wait().expect("it ends");
    }

    #[test]
    fn samples_and_rate_reach_the_player() {
        let folder = tempfile::tempdir().expect("a folder");
        let heard = folder.path().join("heard");
        let mut sink = shell(format!("cat >{0}; echo $1 >{0}.rate", heard.display()));
        // more than a pipe holds
        let samples: Vec<i16> = (0..100_000).map(|sample| sample as i16).collect();
        sink.start(22_050, &samples, 0.0).expect("a player");
        finish(&mut sink);
        assert_eq!(fs::read(&heard).expect("a file"), little_endian(&samples));
        assert_eq!(fs::read_to_string(folder.path().join("heard.rate")).expect("a file"), "22050\n");
        sink.start(22_050, &[], 1.0).expect("nothing to play");
        assert!(sink.players.is_empty());
    }

    #[test]
    fn stop_kills_at_once_and_collects() {
        let mut sink = shell("exec sleep 1000".to_owned());
        for _ in 0..2 {
            // more than a pipe holds, so that the feeder waits too
            sink.start(22_050, &vec![0; 100_000], 0.0).expect("a player");
        }
        let players: Vec<String> = sink.players.iter().map(|(_, player)| player.id().to_string()).collect();
        let are_there = |ids: &[String]| Command::new("kill").arg("-0").args(ids).stderr(Stdio::null()).status();
        assert!(are_there(&players).expect("kill").success());
        sink.stop(0.5).expect("it was running");
        for player in players {
            assert!(!are_there(&[player]).expect("kill").success());
        }
        sink.stop(0.6).expect("nothing to stop");
    }

    #[test]
    fn players_are_few() {
        let mut sink = shell("exec sleep 1000".to_owned());
        for _ in 0..10 {
            sink.start(22_050, &[1], 0.0).expect("a player");
            assert!(sink.players.len() <= MAX_PLAYERS);
        }
    }

    #[test]
    fn a_player_that_fails_is_named() {
        let mut sink = shell("exit 7".to_owned());
        sink.start(22_050, &[1], 0.0).expect("a player");
        finish(&mut sink);
        let error = sink.start(22_050, &[1], 1.0).expect_err("it failed");
        assert!(matches!(&error, SinkError::Ended { program, .. } if program == "sh"), "{error}");
        finish(&mut sink);
        sink.stop(2.0).expect_err("it failed again");

        let mut sink = PlayerSink::new(vec!["/nowhere/at/all".into()]);
        assert!(matches!(sink.start(22_050, &[1], 0.0), Err(SinkError::Start { .. })));
    }

    #[test]
    fn the_first_player_there_is_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = PlayerSink::find_in(folder.path().as_os_str()).expect_err("there is none");
        assert!(error.to_string().contains("install"), "{error}");
        let cases: [(&str, &str, &[&str]); 4] = [
            ("aplay", "", &["aplay"]),
            ("pw-cat", "echo ' --rate'", &["aplay"]),
            ("paplay", "", &["paplay", "aplay"]),
            ("pw-cat", "echo ' --raw'", &["pw-cat", "paplay", "aplay"]),
        ];
        for (name, script, expected) in cases {
            program::write(folder.path(), name, script);
            let sink = PlayerSink::find_in(folder.path().as_os_str()).expect("a player");
            assert_eq!((0..sink.commands.len()).map(|at| sink.program(at)).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn after_a_failure_the_next_one_plays() {
        let command = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let good = command(&["sh", "-c", "cat >/dev/null"]);
        let mut sink = PlayerSink::with(vec![command(&["sleep", "1000"]), command(&["/nowhere/at/all"]), good]);
        for _ in 0..2 {
            sink.start(22_050, &[1], 0.0).expect("a player");
        }
        for (_, player) in &mut sink.players {
            player.kill().and_then(|()| player.wait()).expect("it ends");
        }
        // two have failed, of one command
        assert!(matches!(sink.check(), Err(SinkError::Ended { program, .. }) if program == "sleep"));
        assert!(sink.players.is_empty());
        sink.check().expect("it was said already");
        assert!(matches!(sink.start(22_050, &[1], 0.0), Err(SinkError::Start { .. })));
        sink.start(22_050, &[1], 0.0).expect("a player");
        finish(&mut sink);
        sink.check().expect("it ended well");
        assert_eq!((sink.players.len(), sink.current), (0, 2));
    }
}
