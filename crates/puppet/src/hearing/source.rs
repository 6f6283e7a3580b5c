//! Audio sources: a microphone, a TCP socket, a WAV file, or none.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{HearingError, RATE, wav};
use crate::program;

/// Maximum number of bytes per read from a program or a socket.
const MAX_READ: usize = 16 << 10;

/// Maximum length of a line of a recorder's error output, in bytes.
const MAX_STDERR_LINE: usize = 400;

/// A client that sends nothing for this long is disconnected.
const READ_TIMEOUT: Duration = Duration::from_secs(20);

/// Silence after a client's audio, in samples, which ends its last utterance.
const GAP: usize = RATE as usize;

/// Recording programs and their arguments, in order of preference. Each writes 16-bit samples at [`RATE`] to its standard
/// output until it is killed.
const RECORDERS: [(&str, &[&str]); 3] = [
    ("pw-record", &["--raw", "--rate=16000", "--channels=1", "--format=s16", "--latency=30ms", "-"]),
    ("parec", &["--raw", "--rate=16000", "--channels=1", "--format=s16le", "--latency-msec=30"]),
    ("arecord", &["-q", "-t", "raw", "-r", "16000", "-c", "1", "-f", "S16_LE"]),
];

/// Where the robot's audio comes from. Written as `microphone`, `none`, `tcp:PORT` or the path of a WAV file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum AudioSource {
    /// The default microphone, recorded by the first of `pw-record`, `parec` and `arecord` that is installed.
    Microphone,
    /// No audio.
    None,
    /// A TCP socket that accepts 16-bit little-endian mono samples at [`RATE`] from one client at a time.
    Tcp {
        /// Port to listen on; 0 picks a free one.
        port: u16,
    },
    /// A WAV file.
    File {
        /// Path of the file.
        path: PathBuf,
    },
}

impl FromStr for AudioSource {
    type Err = HearingError;

    fn from_str(text: &str) -> Result<Self, HearingError> {
        let unknown = || HearingError::UnknownSource { given: text.chars().take(200).collect() };
        if let Some(port) = text.strip_prefix("tcp:") {
            return port.parse().map(|port| Self::Tcp { port }).map_err(|_| unknown());
        }
        match text {
            "microphone" => Ok(Self::Microphone),
            "none" => Ok(Self::None),
            path if path.to_ascii_lowercase().ends_with(".wav") => Ok(Self::File { path: path.into() }),
            _ => Err(unknown()),
        }
    }
}

impl TryFrom<String> for AudioSource {
    type Error = HearingError;

    fn try_from(text: String) -> Result<Self, HearingError> {
        text.parse()
    }
}

impl fmt::Display for AudioSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Microphone => f.write_str("microphone"),
            Self::None => f.write_str("none"),
            Self::Tcp { port } => write!(f, "tcp:{port}"),
            Self::File { path } => path.display().fmt(f),
        }
    }
}

impl From<AudioSource> for String {
    fn from(source: AudioSource) -> Self {
        source.to_string()
    }
}

impl AudioSource {
    /// Makes the path of a file relative to `folder`.
    pub fn resolve(&mut self, folder: &Path) {
        if let Self::File { path } = self {
            *path = folder.join(&*path);
        }
    }

    /// Opens the source. A socket is bound to `address`.
    pub fn open(&self, address: IpAddr) -> Result<AudioStream, HearingError> {
        match self {
            Self::None => Ok(AudioStream::new(Input::Samples { samples: Vec::new(), at: 0 }, BlockedOn::Nothing)),
            Self::Microphone => record(&std::env::var_os("PATH").unwrap_or_default()),
            Self::File { path } => play(path),
            Self::Tcp { port } => {
                let requested = SocketAddr::new(address, *port);
                let open = |source| HearingError::Open { name: format!("tcp {requested}"), source };
                let listener = TcpListener::bind(requested).map_err(open)?;
                let bound = listener.local_addr().map_err(open)?;
                let inner = Input::Tcp { listener, client: None, gap: 0 };
                Ok(AudioStream::new(inner, BlockedOn::Tcp { address: bound, client: None }))
            }
        }
    }
}

/// An open audio source: samples in -1..1 at [`RATE`]. Dropping it kills the recorder or closes the socket.
#[derive(Debug)]
pub struct AudioStream {
    input: Input,
    stop_handle: StopHandle,
    /// First byte of a sample whose second byte has not arrived.
    half: Option<u8>,
}

#[derive(Debug)]
enum Input {
    Samples { samples: Vec<f32>, at: usize },
    Recorder { name: &'static str, output: ChildStdout, last_error: Receiver<String> },
    Tcp { listener: TcpListener, client: Option<TcpStream>, gap: usize },
}

/// Stops an [`AudioStream`] from another thread, even while it waits for audio.
#[derive(Debug, Clone)]
pub struct StopHandle {
    stopped: Arc<AtomicBool>,
    blocked_on: Arc<Mutex<BlockedOn>>,
}

/// What a read may be blocked on.
#[derive(Debug)]
enum BlockedOn {
    Nothing,
    Recorder(Child),
    Tcp { address: SocketAddr, client: Option<TcpStream> },
}

impl StopHandle {
    /// Ends the stream: a blocked read and every later one return 0 samples.
    pub fn stop(&self) {
        if self.stopped.swap(true, Ordering::SeqCst) {
            return;
        }
        match &mut *self.blocked_on.lock() {
            BlockedOn::Nothing => {}
            BlockedOn::Recorder(child) => kill(child),
            BlockedOn::Tcp { address, client } => {
                if let Some(client) = client {
                    drop(client.shutdown(Shutdown::Both));
                }
                // wakes up a blocked `accept`
                drop(TcpStream::connect_timeout(&reachable(*address), Duration::from_secs(1)));
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}

/// An address at which a socket bound to `bound` can be reached from this machine.
fn reachable(bound: SocketAddr) -> SocketAddr {
    let address = match bound.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(address, bound.port())
}

impl Drop for AudioStream {
    fn drop(&mut self) {
        // a stop handle may outlive the stream; no read is left to be woken up
        self.stop_handle.stopped.store(true, Ordering::SeqCst);
        if let BlockedOn::Recorder(mut child) =
            std::mem::replace(&mut *self.stop_handle.blocked_on.lock(), BlockedOn::Nothing)
        {
            kill(&mut child);
        }
    }
}

/// Kills and reaps a child process, which may have exited already.
fn kill(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

impl AudioStream {
    fn new(input: Input, blocked_on: BlockedOn) -> Self {
        let stop_handle = StopHandle { stopped: Arc::default(), blocked_on: Arc::new(Mutex::new(blocked_on)) };
        Self { input, stop_handle, half: None }
    }

    /// A handle that stops the stream from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        self.stop_handle.clone()
    }

    /// The local address of a socket; `None` for other sources.
    pub fn address(&self) -> Option<SocketAddr> {
        match &self.input {
            Input::Tcp { listener, .. } => listener.local_addr().ok(),
            _ => None,
        }
    }

    /// Waits for audio, stores it in `buffer` and returns the number of samples. 0 means the end: the file has been read,
    /// or the stream was stopped. After an error, which means that the recorder exited, the source can be opened again.
    /// A file is delivered as fast as it is read.
    pub fn read(&mut self, buffer: &mut [f32]) -> io::Result<usize> {
        if buffer.is_empty() || self.stop_handle.is_stopped() {
            return Ok(0);
        }
        match &mut self.input {
            Input::Samples { samples, at } => {
                let next = &samples[*at..samples.len().min(*at + buffer.len())];
                buffer[..next.len()].copy_from_slice(next);
                *at += next.len();
                Ok(next.len())
            }
            Input::Recorder { name, output, last_error } => loop {
                match receive(output, &mut self.half, buffer) {
                    Ok(Some(0)) => {}
                    Ok(Some(count)) => return Ok(count),
                    _ if self.stop_handle.is_stopped() => return Ok(0),
                    Ok(None) => return Err(io::Error::other(format!("{name} exited: {}", reason(last_error)))),
                    Err(error) => return Err(error),
                }
            },
            Input::Tcp { listener, client, gap } => {
                if *gap > 0 {
                    let count = buffer.len().min(*gap);
                    buffer[..count].fill(0.0);
                    *gap -= count;
                    return Ok(count);
                }
                receive_from_client(listener, client, gap, &self.stop_handle, &mut self.half, buffer)
            }
        }
    }
}

/// Audio of the connected client, or of the next one to connect.
fn receive_from_client(
    listener: &TcpListener,
    client: &mut Option<TcpStream>,
    gap: &mut usize,
    stop_handle: &StopHandle,
    half: &mut Option<u8>,
    buffer: &mut [f32],
) -> io::Result<usize> {
    loop {
        let Some(stream) = client else {
            let (stream, _) = listener.accept()?;
            stream.set_read_timeout(Some(READ_TIMEOUT))?;
            if let BlockedOn::Tcp { client, .. } = &mut *stop_handle.blocked_on.lock() {
                *client = Some(stream.try_clone()?);
            }
            (*client, *half) = (Some(stream), None);
            // checked after the handle has the client, so that a stop at this moment is not missed
            if stop_handle.is_stopped() {
                return Ok(0);
            }
            continue;
        };
        match receive(stream, half, buffer) {
            Ok(Some(0)) => {}
            Ok(Some(count)) => return Ok(count),
            _ if stop_handle.is_stopped() => return Ok(0),
            // disconnected or timed out: wait for the next client
            Ok(None) | Err(_) => {
                *client = None;
                if let BlockedOn::Tcp { client, .. } = &mut *stop_handle.blocked_on.lock() {
                    *client = None;
                }
                *gap = GAP.saturating_sub(buffer.len());
                let count = buffer.len().min(GAP);
                buffer[..count].fill(0.0);
                return Ok(count);
            }
        }
    }
}

/// Reads 16-bit samples once. Returns their number, or `None` at the end. A sample may be split between two reads.
fn receive(from: &mut impl Read, half: &mut Option<u8>, buffer: &mut [f32]) -> io::Result<Option<usize>> {
    let mut bytes = [0; MAX_READ];
    let held = usize::from(half.is_some());
    let end = MAX_READ.min(buffer.len().saturating_mul(2));
    bytes[0] = half.unwrap_or(0);
    let count = match from.read(&mut bytes[held..end]) {
        Ok(0) => return Ok(None),
        Ok(count) => held + count,
        Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(Some(0)),
        Err(error) => return Err(error),
    };
    let samples = bytes[..count].chunks_exact(2);
    *half = samples.remainder().first().copied();
    for (slot, sample) in buffer.iter_mut().zip(samples) {
        *slot = f32::from(i16::from_le_bytes([sample[0], sample[1]])) / 32_768.0;
    }
    Ok(Some(count / 2))
}

fn play(path: &Path) -> Result<AudioStream, HearingError> {
    let open = |source| HearingError::Open { name: path.display().to_string(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(open)?;
    file.take(wav::MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(open)?;
    Ok(AudioStream::new(Input::Samples { samples: wav::read(&bytes)?.resampled(), at: 0 }, BlockedOn::Nothing))
}

/// Name of the program that records for [`AudioSource::Microphone`] on this machine.
pub fn recorder() -> Result<&'static str, HearingError> {
    find_recorder(&std::env::var_os("PATH").unwrap_or_default()).map(|(name, ..)| name)
}

/// The first installed recorder: name, path and arguments. `path` has the format of the `PATH` variable.
fn find_recorder(path: &OsStr) -> Result<(&'static str, PathBuf, &'static [&'static str]), HearingError> {
    let can_record = |(name, arguments)| {
        let program = program::find(name, path)?;
        (name != "pw-record" || program::supports_raw(&program)).then_some((name, program, arguments))
    };
    RECORDERS.into_iter().find_map(can_record).ok_or(HearingError::NoRecorder)
}

fn record(path: &OsStr) -> Result<AudioStream, HearingError> {
    let (name, program, arguments) = find_recorder(path)?;
    let open = |source| HearingError::Open { name: program.display().to_string(), source };
    let mut command = Command::new(&program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(open)?;
    let (sender, last_error) = sync_channel(1);
    if let Some(errors) = child.stderr.take() {
        // ends when the recorder exits
        std::thread::spawn(move || report_last_line(errors, &sender));
    }
    let Some(output) = child.stdout.take() else {
        kill(&mut child);
        return Err(open(io::ErrorKind::BrokenPipe.into()));
    };
    Ok(AudioStream::new(Input::Recorder { name, output, last_error }, BlockedOn::Recorder(child)))
}

/// Sends the last line of a recorder's error output once it has exited.
fn report_last_line(errors: impl Read, sender: &SyncSender<String>) {
    let mut lines = BufReader::new(errors);
    let (mut line, mut last) = (Vec::new(), "no error message".to_owned());
    while lines.by_ref().take(MAX_STDERR_LINE as u64).read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
        let text = String::from_utf8_lossy(&line);
        if !text.trim().is_empty() {
            text.trim().clone_into(&mut last);
        }
        line.clear();
    }
    // the stream may have been dropped
    drop(sender.send(last));
}

fn reason(last_error: &Receiver<String>) -> String {
    last_error.recv_timeout(Duration::from_secs(1)).unwrap_or_else(|_| "its output was closed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn sources_are_parsed() {
        let file = |path: &str| Some(AudioSource::File { path: path.into() });
        let cases = [
            ("microphone", Some(AudioSource::Microphone)),
            ("none", Some(AudioSource::None)),
            ("tcp:15220", Some(AudioSource::Tcp { port: 15_220 })),
            ("tcp:0", Some(AudioSource::Tcp { port: 0 })),
            ("said.wav", file("said.wav")),
            ("/a b/SAID.WAV", file("/a b/SAID.WAV")),
            ("tcp:70000", None),
            ("tcp:", None),
            ("tcp:-1", None),
            ("", None),
            ("Microphone", None),
            ("song.mp3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
    }

    /// Everything up to the end, and how it ended.
    fn drain(stream: &mut AudioStream, piece: usize) -> (Vec<f32>, io::Result<usize>) {
        let (mut all, mut buffer) = (Vec::new(), vec![0.0; piece]);
        loop {
            match stream.read(&mut buffer) {
                Ok(count) if count > 0 => all.extend_from_slice(&buffer[..count]),
                end => return (all, end),
            }
        }
    }

    #[test]
    fn nothing_is_heard_from_nowhere() {
        let mut stream = AudioSource::None.open(HERE).expect("it opens");
        assert_eq!(drain(&mut stream, 10).0, Vec::<f32>::new());
        let missing = "/no/such.wav".parse::<AudioSource>().and_then(|source| source.open(HERE));
        assert!(missing.expect_err("there is none").to_string().contains("/no/such.wav"));
        assert!(matches!(record(OsStr::new("/no/such/folder")), Err(HearingError::NoRecorder)));
    }

    #[test]
    fn a_file_is_heard_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.wav");
        let mut bytes =
            b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\0\0\0\x02\0\x10\0data\xff\xff\xff\xff".to_vec();
        bytes.extend([0, 0x40].repeat(1000));
        std::fs::write(&path, &bytes).expect("it is written");
        let mut stream = AudioSource::File { path: path.clone() }.open(HERE).expect("it opens");
        assert_eq!(drain(&mut stream, 77).0, vec![0.5; 1000]);
        std::fs::write(&path, &bytes[1..]).expect("it is written");
        assert!(matches!(AudioSource::File { path }.open(HERE), Err(HearingError::Wav { .. })));
    }

    #[test]
    fn clients_are_heard_one_after_another() {
        let mut stream = AudioSource::Tcp { port: 0 }.open(HERE).expect("it opens");
        let address = stream.address().expect("it is a socket");
        for value in [0x40u8, 0x20] {
            let mut client = TcpStream::connect(address).expect("it connects");
            // an odd byte at the end belongs to no sample
            client.write_all(&[[0, value].repeat(50), vec![9]].concat()).expect("it is sent");
            drop(client);
            let (mut heard, mut buffer) = (Vec::new(), [0.0; 333]);
            while heard.len() < 50 + GAP {
                let count = stream.read(&mut buffer).expect("it goes on");
                heard.extend_from_slice(&buffer[..count]);
            }
            assert_eq!(heard[..50], [f32::from(value) / 128.0; 50]);
            assert!(heard.len() == 50 + GAP && heard[50..].iter().all(|&sample| sample == 0.0));
        }
    }

    #[test]
    fn a_read_that_waits_can_be_stopped() {
        for with_client in [false, true] {
            let mut stream = AudioSource::Tcp { port: 0 }.open(HERE).expect("it opens");
            let (address, stop_handle) = (stream.address().expect("it is a socket"), stream.stop_handle());
            let mut client = with_client.then(|| TcpStream::connect(address).expect("it connects"));
            if let Some(client) = &mut client {
                client.write_all(&[1, 1]).expect("it is sent");
                assert_eq!(stream.read(&mut [0.0; 8]).ok(), Some(1));
            }
            let reader = std::thread::spawn(move || stream.read(&mut [0.0; 8]).ok());
            stop_handle.stop();
            assert_eq!(reader.join().ok(), Some(Some(0)), "client: {with_client}");
        }
    }

    #[test]
    fn dropping_the_stream_disconnects_its_client() {
        let mut stream = AudioSource::Tcp { port: 0 }.open(HERE).expect("it opens");
        let stop_handle = stream.stop_handle();
        let mut client = TcpStream::connect(stream.address().expect("it is a socket")).expect("it connects");
        client.write_all(&[1, 1]).expect("it is sent");
        assert_eq!(stream.read(&mut [0.0; 8]).ok(), Some(1));
        drop(stream);
        assert_eq!(client.read(&mut [0; 8]).ok(), Some(0));
        stop_handle.stop();
    }

    #[test]
    fn the_first_recorder_that_can_is_listened_to() {
        let folder = tempfile::tempdir().expect("a folder");
        program::write(
            folder.path(),
            "arecord",
            "echo overrun >&2; printf '\\000\\100\\000\\300\\000'; echo 'no such device' >&2; exit 1",
        );
        program::write(folder.path(), "pw-record", "echo 'old: --rate'");
        assert_eq!(find_recorder(folder.path().as_os_str()).map(|(name, ..)| name).ok(), Some("arecord"));
        let mut stream = record(folder.path().as_os_str()).expect("it starts");
        let (heard, end) = drain(&mut stream, 100);
        assert_eq!(heard, [0.5, -0.5]);
        assert_eq!(end.expect_err("it ended").to_string(), "arecord exited: no such device");

        program::write(
            folder.path(),
            "pw-record",
            "[ $1 = --help ] && echo ' --raw' && exit; printf '\\000\\040'; exec sleep 1000",
        );
        let mut stream = record(folder.path().as_os_str()).expect("it starts");
        let mut buffer = [0.0; 8];
        assert_eq!((stream.read(&mut buffer).ok(), buffer[0]), (Some(1), 0.25));
        let stop_handle = stream.stop_handle();
        let reader = std::thread::spawn(move || stream.read(&mut [0.0; 8]).ok());
        stop_handle.stop();
        assert_eq!(reader.join().ok(), Some(Some(0)));
    }
}
