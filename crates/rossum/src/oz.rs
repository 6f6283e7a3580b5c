//! `rossum oz`: controls the robot from the command line, and exports recorded sessions.

mod enrol;
mod export;
mod names;
mod watch;

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{anyhow, bail, ensure};
use clap::{Args, Subcommand};
use client::oz::{ClientError, Event, Oz};
use puppet::mixer::Subsystem;
use support::output_file::{self, Existing};

use crate::{interrupt, output::OverwriteOption};

/// Default timeout for connecting, in s.
const CONNECT: f64 = 5.0;
/// Default timeout for an image, in s.
const IMAGE: f64 = 10.0;
/// Default timeout for a text or a gesture, in s. Others may be queued before it.
const PERFORM: f64 = 600.0;

/// Options of `rossum oz`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Address of the robot's Oz server
    #[arg(long, global = true, value_name = "ADDRESS", default_value = "127.0.0.1:7331")]
    at: String,
    /// Timeout [default: 5 s for connecting, 10 s for an image, 10 minutes for a text or gesture]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  rossum serve --scenario oz --record study.mcap   run the robot and record the session
  rossum oz say '[braisel]Hello, who are you?'     speak a text with a gesture
  rossum oz gesture yess                           nod once; `rossum oz list` shows all names
  rossum oz expression happy                       smile
  rossum oz look largest                           look at the nearest person
  rossum oz servo neck_yaw 0.7 brows 1             set servo positions directly
  rossum oz weight direct 0                        release the servos
  rossum oz watch                                  show what the robot hears and sees
  rossum oz snapshot now.jpg                       save an image of the robot's camera
  rossum oz enrol Ada ada.jpg --names names.json   enrol a face
  rossum oz export study.mcap --eaf study.eaf      export the session for annotation in ELAN
Several operators can be connected at the same time, and each is notified when its own texts and
gestures end. Settings stay in effect after an operator disconnects.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Speak a text and wait until it has been spoken
    #[command(after_help = "Gesture tags in the text start gestures at that word: \
        `rossum oz say '[nos]No, thank you.'`. The shell needs the quotes. `rossum oz list` shows all tags.")]
    Say {
        /// The text; several arguments are joined with spaces
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
        /// Set the volume, 0 to 1
        #[arg(long, value_parser = |text: &str| number(text, 0.0, 1.0))]
        volume: Option<f32>,
        /// Set the pitch, 0.5 to 2; 1 is the voice's natural pitch
        #[arg(long, value_parser = |text: &str| number(text, 0.5, 2.0))]
        pitch: Option<f32>,
        /// Do not wait until it has been spoken
        #[arg(long)]
        no_wait: bool,
    },
    /// Play gestures one after the other and wait for the end of each
    Gesture {
        /// Tags such as yess, names such as yes_short, or numbers
        #[arg(required = true, value_name = "GESTURE", value_parser = names::gesture)]
        gestures: Vec<u32>,
        /// Start all of them at once and do not wait
        #[arg(long)]
        no_wait: bool,
    },
    /// Set the facial expression
    Expression {
        /// A name such as happy, or a number
        #[arg(value_parser = names::expression)]
        expression: u32,
    },
    /// Set the gaze mode
    Look {
        /// A name such as forward or largest, or a number
        #[arg(value_name = "MODE", value_parser = names::look_at)]
        mode: u32,
    },
    /// Set servo positions directly
    Servo {
        /// Servo (name or number) and position (0 to 1, over its whole travel); can be repeated
        #[arg(required = true, num_args = 2.., value_names = ["SERVO", "POSITION"])]
        positions: Vec<String>,
        /// Weight of direct positions relative to all other motion, 0 to 1
        #[arg(long, value_name = "W", default_value = "1", value_parser = |text: &str| number(text, 0.0, 1.0))]
        weight: f32,
    },
    /// Set the weight of a subsystem: gesture, expression, lookat, random_head, random_eyes, random_face or direct
    Weight {
        /// Name of the subsystem
        #[arg(value_parser = names::subsystem)]
        subsystem: Subsystem,
        /// Weight, 0 to 1
        #[arg(value_parser = |text: &str| number(text, 0.0, 1.0))]
        value: f32,
    },
    /// Set the blink rate
    Blink {
        /// Blinks per second, 0 to 10
        #[arg(value_parser = |text: &str| number(text, 0.0, 10.0))]
        speed: f32,
    },
    /// Stop speech and gestures, and restore the defaults
    Reset,
    /// Print what the robot perceives until interrupted: utterances, faces, and the rate of images
    Watch(watch::WatchOptions),
    /// Save the next image of the robot's camera
    Snapshot {
        /// JPEG file to write; - for standard output
        file: PathBuf,
        #[command(flatten)]
        overwrite: OverwriteOption,
    },
    /// List the gestures, expressions, lookat modes and servos of the protocol
    List,
    /// Enrol a person's face from pictures
    Enrol(enrol::EnrolOptions),
    /// Export a recorded session as a CSV table or as an ELAN document (EAF)
    Export(export::ExportOptions),
}

/// Runs the command.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    match &options.command {
        Command::List => Ok(write!(out, "{}", names::list())?),
        Command::Enrol(options) => enrol::run(options, out),
        Command::Export(options) => export::run(options, out),
        Command::Watch(watching) => watch::run(options.connect()?, watching, out),
        Command::Snapshot { file, overwrite } => {
            check(file, overwrite.existing())?;
            let robot = options.connect()?;
            let timeout = options.timeout_or(IMAGE);
            let picture = snapshot(robot, timeout)?;
            save(file, &picture, overwrite.existing(), out)?;
            if !is_stdout(file) {
                writeln!(out, "{}: {} bytes", file.display(), picture.len())?;
            }
            Ok(())
        }
        Command::Servo { positions, weight } => {
            let positions = pairs(positions)?;
            let mut robot = options.connect()?;
            robot.set_direct_weight(*weight)?;
            for (servo, position) in positions {
                robot.set_servo(servo, position)?;
            }
            robot.disconnect();
            Ok(())
        }
        Command::Say { text, volume, pitch, no_wait } => {
            let mut robot = options.connect()?;
            volume.map_or(Ok(()), |volume| robot.set_voice_volume(volume))?;
            pitch.map_or(Ok(()), |pitch| robot.set_voice_pitch(pitch))?;
            robot.speak(&text.join(" "))?;
            if *no_wait {
                robot.disconnect();
                return Ok(());
            }
            wait_for_speech(robot, options.timeout_or(PERFORM), out)
        }
        Command::Gesture { gestures, no_wait } => {
            let mut robot = options.connect()?;
            for &gesture in gestures {
                robot.gesture(gesture)?;
                if !no_wait {
                    let timeout = options.timeout_or(PERFORM);
                    let what = format!("finish the gesture {}", names::tag_of(gesture));
                    ensure!(robot.wait_for_gesture(timeout)?, timed_out(&what, timeout));
                }
            }
            robot.disconnect();
            Ok(())
        }
        setting => {
            let mut robot = options.connect()?;
            set(&mut robot, setting)?;
            robot.disconnect();
            Ok(())
        }
    }
}

/// Sends a command that consists of one message.
fn set(robot: &mut Oz, setting: &Command) -> Result<(), ClientError> {
    match *setting {
        Command::Expression { expression } => robot.set_expression(expression),
        Command::Look { mode } => robot.set_look_at(mode),
        Command::Blink { speed } => robot.set_auto_blink_speed(speed),
        Command::Reset => robot.reset(),
        Command::Weight { subsystem, value } => match subsystem {
            Subsystem::Gesture => robot.set_gesture_weight(value),
            Subsystem::Expression => robot.set_expression_weight(value),
            Subsystem::LookAt => robot.set_look_at_weight(value),
            Subsystem::RandomHead => robot.set_random_head_weight(value),
            Subsystem::RandomEyes => robot.set_random_eyes_weight(value),
            Subsystem::RandomFace => robot.set_random_face_weight(value),
            Subsystem::Direct => robot.set_direct_weight(value),
        },
        _ => Ok(()),
    }
}

impl Options {
    fn connect(&self) -> anyhow::Result<Oz> {
        let mut robot = Oz::connect(&*self.at, self.timeout_or(CONNECT)).map_err(|error| explain(&self.at, error))?;
        robot.skip_video(!matches!(self.command, Command::Watch(_) | Command::Snapshot { .. }));
        Ok(robot)
    }

    fn timeout_or(&self, default: f64) -> Duration {
        self.timeout.unwrap_or(Duration::from_secs_f64(default))
    }
}

fn explain(at: &str, error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Io(_) | ClientError::NoAnswer { .. } | ClientError::NoAddress => anyhow!(
            "no Oz server at {at} ({error}); is `rossum serve --scenario oz` running? It prints the Oz address to pass as \
             --at"
        ),
        other => anyhow::Error::new(other).context(format!("failed to connect to the robot at {at}")),
    }
}

fn timed_out(what: &str, timeout: Duration) -> String {
    let seconds = timeout.as_secs_f64();
    format!("the robot did not {what} within {seconds} s; is the simulation paused? Use --timeout to wait longer")
}

/// Waits until the text has been spoken, and prints its gestures as they start.
fn wait_for_speech(mut robot: Oz, timeout: Duration, out: &mut dyn Write) -> anyhow::Result<()> {
    let deadline = watch::now() + timeout;
    while robot.speaking() > 0 {
        let left = deadline.saturating_duration_since(watch::now());
        let event = if left.is_zero() { None } else { robot.next(left)? };
        let Some(event) = event else { bail!(timed_out("finish speaking", timeout)) };
        if let Event::SpeakGesture(gesture) = event {
            writeln!(out, "gesture {}", names::tag_of(gesture))?;
            out.flush()?;
        }
    }
    robot.disconnect();
    Ok(())
}

fn snapshot(mut robot: Oz, timeout: Duration) -> anyhow::Result<Vec<u8>> {
    let deadline = watch::now() + timeout;
    let picture = loop {
        let left = deadline.saturating_duration_since(watch::now());
        match if left.is_zero() { None } else { robot.next(left)? } {
            Some(Event::VideoFrame(picture)) => break picture,
            Some(_) => {}
            None => bail!(
                "no image received within {} s; does the robot have a camera (`camera` in the [oz] section)?",
                timeout.as_secs_f64()
            ),
        }
    };
    robot.disconnect();
    Ok(picture.as_bytes().to_vec())
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Writes a file, or standard output for `-`.
fn save(file: &Path, bytes: &[u8], existing: Existing, out: &mut dyn Write) -> anyhow::Result<()> {
    if is_stdout(file) {
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    }
    Ok(output_file::write(file, bytes, existing)?)
}

/// Refuses early what [`save`] would refuse.
fn check(file: &Path, existing: Existing) -> anyhow::Result<()> {
    if is_stdout(file) {
        return Ok(());
    }
    Ok(output_file::check(file, existing)?)
}

/// Parses pairs of servo and position.
fn pairs(words: &[String]) -> anyhow::Result<Vec<(u32, f32)>> {
    let (pairs, rest) = words.as_chunks();
    ensure!(rest.is_empty(), "servo without a position; pass pairs such as `neck_yaw 0.5 brows 1`");
    let pair = |[servo, position]: &[String; 2]| -> anyhow::Result<(u32, f32)> {
        let id = names::servo(servo).map_err(|why| anyhow!("`{servo}`: {why}"))?;
        Ok((id, number(position, 0.0, 1.0).map_err(|why| anyhow!("`{position}` for {servo}: {why}"))?))
    };
    pairs.iter().map(pair).collect()
}

fn number(text: &str, least: f32, most: f32) -> Result<f32, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("not a number from {least} to {most}"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "not a time from 0.01 to 86400 s".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if (0.01..=86_400.0).contains(&seconds) { Ok(Duration::from_secs_f64(seconds)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servos_and_positions_are_parsed() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(pairs(&words("neck_yaw 0.5 24 1")).unwrap(), [(21, 0.5), (24, 1.0)]);
        for (text, says) in [
            ("neck_yaw 0.5 brows", "without a position"),
            ("neck_jaw 0.5", "did you mean `neck_yaw`"),
            ("brows 2", "from 0 to 1"),
            ("brows nan", "from 0 to 1"),
        ] {
            let error = pairs(&words(text)).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_are_checked() {
        assert_eq!(number("0.5", 0.0, 1.0), Ok(0.5));
        for text in ["-0.1", "1.1", "nan", "inf", "x", ""] {
            assert!(number(text, 0.0, 1.0).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["0", "-1", "1e9", "nan", "soon"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_server_is_explained() {
        let error = explain("127.0.0.1:1", ClientError::NoAddress).to_string();
        assert!(error.contains("rossum serve --scenario oz") && error.contains("127.0.0.1:1"), "{error}");
    }
}
