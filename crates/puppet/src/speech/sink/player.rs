//! Sound to the loudspeaker, by a program that every desktop has.

use std::{
    env,
    ffi::{OsStr, OsString},
    io::Write as _,
    process::{Child, Command, Stdio},
    thread,
};

use super::{Sink, SinkError, little_endian};

/// What plays sound, in the order in which it is looked for; `RATE` is replaced by the samples a second.
pub const PLAYERS: [&[&str]; 3] = [
    &["pw-cat", "--playback", "--raw", "--format=s16", "--channels=1", "--rate=RATE", "-"],
    &["paplay", "--raw", "--format=s16le", "--channels=1", "--rate=RATE"],
    &["aplay", "--quiet", "--file-type=raw", "--format=S16_LE", "--channels=1", "--rate=RATE", "-"],
];

/// Players that may be at work at a time: the one before still empties its buffer when the next phrase begins.
const MAX_PLAYERS: usize = 3;

/// Plays each phrase with a process of its own.
#[derive(Debug)]
pub struct PlayerSink {
    command: Vec<OsString>,
    /// The oldest first.
    players: Vec<Child>,
}

impl PlayerSink {
    /// With the first of [`PLAYERS`] that is on the `PATH`.
    pub fn find() -> Result<Self, SinkError> {
        Self::find_in(&env::var_os("PATH").unwrap_or_default())
    }

    fn find_in(path: &OsStr) -> Result<Self, SinkError> {
        let is_there = |name: &str| env::split_paths(path).any(|folder| folder.join(name).is_file());
        let found = PLAYERS.into_iter().find(|player| player.first().is_some_and(|name| is_there(name)));
        found.map(|player| Self::new(player.iter().map(OsString::from).collect())).ok_or(SinkError::NoPlayer)
    }

    /// With a program that plays raw samples, 16 bits little-endian, from its standard input; arguments may contain `RATE`.
    pub fn new(command: Vec<OsString>) -> Self {
        Self { command, players: Vec::new() }
    }

    fn program(&self) -> String {
        self.command.first().map_or(String::new(), |program| program.to_string_lossy().into_owned())
    }

    /// Forgets players that are done; whether all of them ended well.
    fn collect(&mut self) -> Result<(), SinkError> {
        let mut failed = None;
        self.players.retain_mut(|player| match player.try_wait() {
            Ok(None) => true,
            Ok(Some(status)) => {
                failed = (!status.success()).then_some(status).or(failed);
                false
            }
            // it is not ours any more
            Err(_) => false,
        });
        let program = self.program();
        failed.map_or(Ok(()), |status| Err(SinkError::Ended { program, status: status.to_string() }))
    }

    fn play(&mut self, rate: u32, samples: &[i16]) -> Result<(), SinkError> {
        let failed = |source| SinkError::Start { program: self.program(), source };
        let rate = rate.to_string();
        let with_rate = |argument: &OsString| match argument.to_str() {
            Some(text) => OsString::from(text.replace("RATE", &rate)),
            None => argument.clone(),
        };
        let (program, arguments) = self.command.split_first().ok_or(SinkError::NoPlayer)?;
        let mut player = Command::new(program)
            .args(arguments.iter().map(with_rate))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let pipe = player.stdin.take();
        let bytes = little_endian(samples);
        // a pipe takes sound no faster than it is played; this ends with the player
        let feeder = move || {
            if let Some(mut pipe) = pipe {
                // the player says how it ended
                let _ = pipe.write_all(&bytes);
            }
        };
        let started = thread::Builder::new().name("loudspeaker".to_owned()).spawn(feeder).map(drop).map_err(failed);
        self.players.push(player);
        started
    }

    fn silence(&mut self, most: usize) {
        let surplus = self.players.len().saturating_sub(most);
        for mut player in self.players.drain(..surplus) {
            // it may have ended by itself; either way it is waited for
            let _ = player.kill();
            let _ = player.wait();
        }
    }
}

impl Sink for PlayerSink {
    /// A player that failed since the last phrase is reported here; the new phrase is played all the same.
    fn start(&mut self, rate: u32, samples: &[i16], _now: f64) -> Result<(), SinkError> {
        let before = self.collect();
        if !samples.is_empty() {
            self.silence(MAX_PLAYERS - 1);
            self.play(rate, samples)?;
        }
        before
    }

    fn stop(&mut self, _now: f64) -> Result<(), SinkError> {
        let before = self.collect();
        self.silence(0);
        before
    }
}

impl Drop for PlayerSink {
    fn drop(&mut self) {
        self.silence(0);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn shell(lines: String) -> PlayerSink {
        PlayerSink::new(["sh", "-c", &lines, "player", "RATE"].map(OsString::from).into())
    }

    /// Waits for the one player that is at work.
    fn finish(sink: &mut PlayerSink) {
        sink.players[0].wait().expect("it ends");
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
        let players: Vec<String> = sink.players.iter().map(|player| player.id().to_string()).collect();
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
        for (name, first) in [("aplay", "aplay"), ("pw-cat", "pw-cat"), ("paplay", "pw-cat")] {
            fs::write(folder.path().join(name), "").expect("a file");
            let sink = PlayerSink::find_in(folder.path().as_os_str()).expect("a player");
            assert_eq!(sink.program(), first);
        }
    }
}
