//! An operator that is a socket and knows nothing but the document, and robots for it.

#![allow(dead_code, reason = "each test uses what it needs")]

use std::{
    fs,
    io::{self, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use tempfile::TempDir;

use crate::running::{DEADLINE, Running, rossum};

pub(crate) const VERSION: u32 = 0x0100_0000;

/// The document's names of messages.
pub(crate) mod id {
    pub(crate) const NOTHING: u32 = 0x00;
    pub(crate) const REQUEST_VERSION: u32 = 0x01;
    pub(crate) const RESET: u32 = 0x02;
    pub(crate) const SPEAK: u32 = 0x03;
    pub(crate) const VOICE_GENDER_LANGUAGE: u32 = 0x04;
    pub(crate) const VOICE_VOLUME: u32 = 0x05;
    pub(crate) const VOICE_PITCH: u32 = 0x06;
    pub(crate) const GESTURE: u32 = 0x07;
    pub(crate) const GESTURE_WEIGHT: u32 = 0x08;
    pub(crate) const EXPRESSION: u32 = 0x09;
    pub(crate) const EXPRESSION_WEIGHT: u32 = 0x0A;
    pub(crate) const AUTO_BLINK_SPEED: u32 = 0x0B;
    pub(crate) const RANDOM_HEAD_WEIGHT: u32 = 0x0C;
    pub(crate) const RANDOM_EYES_WEIGHT: u32 = 0x0D;
    pub(crate) const RANDOM_FACE_WEIGHT: u32 = 0x0E;
    pub(crate) const SERVO: u32 = 0x0F;
    pub(crate) const ALL_SERVOS: u32 = 0x10;
    pub(crate) const DIRECT_WEIGHT: u32 = 0x11;
    pub(crate) const LOOKAT: u32 = 0x12;
    pub(crate) const LOOKAT_WEIGHT: u32 = 0x13;
}

/// What the robot tells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    Welcome(u32, String, String),
    SpeakDone,
    GestureDone,
    SpeakGesture(u32),
    Utterance(Vec<(f32, String)>),
    Faces(Vec<Face>),
    Frame(usize),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Face {
    pub(crate) confidence: f32,
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    pub(crate) height: f32,
    pub(crate) name: String,
}

pub(crate) fn word(id: u32, value: u32) -> Vec<u8> {
    [id.to_be_bytes(), value.to_be_bytes()].concat()
}

pub(crate) fn float(id: u32, value: f32) -> Vec<u8> {
    [id.to_be_bytes(), value.to_be_bytes()].concat()
}

pub(crate) fn speech(text: impl AsRef<[u8]>) -> Vec<u8> {
    let text = text.as_ref();
    let length = u16::try_from(text.len()).expect("short enough").to_be_bytes();
    [&id::SPEAK.to_be_bytes()[..], &length, text].concat()
}

pub(crate) fn servo(servo: u32, position: f32) -> Vec<u8> {
    [id::SERVO.to_be_bytes(), servo.to_be_bytes(), position.to_be_bytes()].concat()
}

/// Somebody at the other end.
pub(crate) struct Operator {
    reader: BufReader<TcpStream>,
}

impl Operator {
    /// A connection on which nothing was said.
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        stream.set_nodelay(true).expect("no delay");
        Self { reader: BufReader::new(stream) }
    }

    /// Connects and shakes hands.
    pub(crate) fn join(address: SocketAddr) -> Self {
        let mut operator = Self::connect(address);
        operator.send(word(id::REQUEST_VERSION, VERSION));
        assert!(matches!(operator.hear(), Told::Welcome(VERSION, ..)));
        operator
    }

    /// The same, unless it is turned away.
    pub(crate) fn try_join(address: SocketAddr) -> Option<Self> {
        let mut operator = Self::connect(address);
        operator.reader.get_mut().write_all(&word(id::REQUEST_VERSION, VERSION)).ok()?;
        matches!(operator.try_hear(), Ok(Told::Welcome(VERSION, ..))).then_some(operator)
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.reader.get_mut().write_all(bytes.as_ref()).expect("it is read");
    }

    /// The next message. Pictures must be whole; an unknown message is a failure.
    pub(crate) fn hear(&mut self) -> Told {
        self.try_hear().expect("a message")
    }

    fn try_hear(&mut self) -> io::Result<Told> {
        let first = self.word()?;
        Ok(match first {
            VERSION.. => Told::Welcome(first, self.text()?, self.text()?),
            0x14 => Told::SpeakDone,
            0x15 => Told::GestureDone,
            0x16 => Told::SpeakGesture(self.word()?),
            0x17 => {
                let count = self.word()?;
                assert!((1..=16).contains(&count), "{count} options");
                let option = |_| Ok((self.unit()?, self.text()?));
                Told::Utterance((0..count).map(option).collect::<io::Result<_>>()?)
            }
            0x18 => {
                let count = self.word()?;
                assert!(count <= 16, "{count} faces");
                let face = |_| {
                    let [confidence, x, y] = [self.unit()?, self.float()?, self.float()?];
                    let [width, height] = [self.unit()?, self.unit()?];
                    assert!(x.abs() <= 1.0 && y.abs() <= 1.0, "{x} {y}");
                    Ok(Face { confidence, x, y, width, height, name: self.text()? })
                };
                Told::Faces((0..count).map(face).collect::<io::Result<_>>()?)
            }
            0x19 => {
                let length = self.word()? as usize;
                assert!(length < 1 << 20, "a picture of {length} bytes");
                let mut jpeg = vec![0; length];
                self.reader.read_exact(&mut jpeg)?;
                assert!(jpeg.starts_with(&[0xFF, 0xD8]) && jpeg.ends_with(&[0xFF, 0xD9]), "no picture");
                let image = puppet::camera::Image::read(&jpeg).expect("a picture");
                assert_eq!((image.width, image.height), (640, 480));
                Told::Frame(length)
            }
            other => panic!("message {other:#x} is not known"),
        })
    }

    fn word(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.reader.read_exact(&mut bytes)?;
        Ok(u32::from_be_bytes(bytes))
    }

    fn float(&mut self) -> io::Result<f32> {
        self.word().map(f32::from_bits)
    }

    /// A number that is 0 to 1.
    fn unit(&mut self) -> io::Result<f32> {
        let number = self.float()?;
        assert!((0.0..=1.0).contains(&number), "{number}");
        Ok(number)
    }

    fn text(&mut self) -> io::Result<String> {
        let mut length = [0; 2];
        self.reader.read_exact(&mut length)?;
        let mut text = vec![0; u16::from_be_bytes(length).into()];
        self.reader.read_exact(&mut text)?;
        Ok(String::from_utf8(text).expect("UTF-8"))
    }

    /// Hears until this is so, and tells everything.
    pub(crate) fn hear_until(&mut self, what: &str, mut is_it: impl FnMut(&Told) -> bool) -> Vec<Told> {
        let begin = now();
        let mut heard = Vec::new();
        loop {
            let told = self.hear();
            let is_last = is_it(&told);
            heard.push(told);
            if is_last {
                return heard;
            }
            assert!(begin.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        }
    }

    /// Hears until a short gesture is done that begins now; nothing else may end meanwhile. Tells everything before.
    pub(crate) fn hear_until_now(&mut self) -> Vec<Told> {
        self.send(word(id::GESTURE, 1));
        let mut heard = self.hear_until("the end of a gesture", |told| *told == Told::GestureDone);
        heard.pop();
        heard
    }

    /// The peer has closed the connection, and says nothing more.
    pub(crate) fn closes(mut self) -> bool {
        let mut rest = Vec::new();
        // what it has not read may make it a reset
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => rest.is_empty(),
            Err(error) => error.kind() == io::ErrorKind::ConnectionReset && rest.is_empty(),
        }
    }

    /// Hears until the peer closes the connection.
    pub(crate) fn hears_the_end(mut self) -> bool {
        let begin = now();
        while begin.elapsed() < DEADLINE {
            match self.try_hear() {
                Ok(_) => {}
                Err(error) => return !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut),
            }
        }
        false
    }
}

#[expect(clippy::disallowed_methods, reason = "deadlines are in wall time")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A robot and the folder of its scenario.
pub(crate) struct Robot {
    pub(crate) server: Running,
    pub(crate) folder: TempDir,
}

impl Robot {
    /// Alice, with these lines in her section: deaf, blind and silent where they say nothing else.
    pub(crate) fn start(section: &str) -> Self {
        Self::start_as(section, |command| command)
    }

    /// The same, with something else about the process.
    pub(crate) fn start_as(section: &str, prepare: impl FnOnce(&mut Command) -> &mut Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let scenario = folder.path().join("alice.toml");
        let usual = [("ears", "none"), ("sound", "none"), ("camera", "none"), ("voice", "silent")];
        let usual = usual.iter().filter(|(key, _)| !section.lines().any(|line| line.starts_with(key)));
        let usual: String = usual.map(|(key, value)| format!("{key} = \"{value}\"\n")).collect();
        let text = format!(
            "[world]\nfield = \"flat\"\ntimestep = 0.005\nsteps_per_tick = 2\n\
             [[robot]]\nname = \"Alice\"\nmodel = \"alice\"\n[osp]\n[odcp]\nports = {{ Alice = 0 }}\n[oz]\n{usual}{section}\n"
        );
        fs::write(&scenario, text).expect("written");
        let mut command = rossum();
        command.args(["serve", "--free-ports", "--json", "--scenario"]).arg(scenario);
        let server = Running::start(prepare(&mut command));
        Self { server, folder }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.server.address("Oz of Alice")
    }

    pub(crate) fn join(&self) -> Operator {
        Operator::join(self.address())
    }

    /// What the status page says of a part that has begun to work.
    pub(crate) fn condition(&self, part: &str) -> Option<String> {
        let (_, page) = self.server.page("/status");
        let words = page.lines().find_map(|line| line.strip_prefix(&format!("  {part}: ")))?;
        // it has not begun yet
        (!words.starts_with("idle")).then(|| words.to_owned())
    }

    /// Ends it in order, and tells its log.
    pub(crate) fn end(self) -> String {
        self.server.signal("TERM");
        let ended = self.server.end();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        ended.stderr
    }
}

/// The folder of what a script fetches.
pub(crate) fn fetched(name: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-puppet");
    let output = Command::new(script).arg(name).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim())
}
