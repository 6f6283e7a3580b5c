//! Where the robot's pictures come from when they are not drawn: files, films and real cameras.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    thread::JoinHandle,
};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::image::{Image, ImageError, MAX_SIDE};

/// Longest name of a source, in bytes.
pub const MAX_NAME: usize = 4096;
/// Largest file of a picture, in bytes.
pub const MAX_PICTURE_FILE: u64 = 64 << 20;
/// Most pictures a second of a film or a camera.
pub const MAX_RATE_HZ: u32 = 240;
/// What is kept of the last words of the program that reads films, in bytes.
const MAX_LAST_WORDS: usize = 2048;
/// The program that reads films and cameras.
const FFMPEG: &str = "ffmpeg";
/// Endings of files that are pictures, in lower case.
const PICTURES: [&str; 3] = ["png", "jpg", "jpeg"];
/// What to do about a file that cannot be opened.
const FILE_ADVICE: &str = "give the path of a file that can be read";
/// What to do about a camera that cannot be opened.
const DEVICE_ADVICE: &str = "plug the camera in, and see that this user may read it (group video)";

/// Why there are no pictures.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The text names no source.
    #[error("{text:?} is no source of pictures: say scene, none, a PNG, JPEG or video file, or v4l:/dev/video0")]
    Unknown {
        /// What was given, shortened.
        text: String,
    },
    /// The file or the device is not there or may not be read.
    #[error("{} cannot be opened: {error}; {advice}", path.display())]
    Open {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
        /// What to do.
        advice: &'static str,
    },
    /// The file is too large for a picture.
    #[error("{} has more than {MAX_PICTURE_FILE} bytes: make the picture smaller", path.display())]
    TooLarge {
        /// Which one.
        path: PathBuf,
    },
    /// The file is no picture.
    #[error("{}: {error}", path.display())]
    Picture {
        /// Which one.
        path: PathBuf,
        /// What is wrong with it.
        error: ImageError,
    },
    /// The program that reads films does not start.
    #[error("{program} does not start: {error}; it reads films and cameras: install it (Debian: apt install ffmpeg)")]
    Program {
        /// Name of the program.
        program: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The film has ended, or the camera is gone.
    #[error("{} gives no more pictures: {last_words}; open it again", path.display())]
    Ended {
        /// The film or camera.
        path: PathBuf,
        /// What the program said at the end.
        last_words: String,
    },
}

/// Where the robot's camera images come from. Written as `scene`, `none`, `v4l:DEVICE` or the path of a PNG, JPEG or
/// video file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum CameraSource {
    /// The simulated world, rendered from the robot's eye.
    Scene,
    /// An image file, repeated.
    Still(PathBuf),
    /// A video file, played in a loop.
    Video(PathBuf),
    /// A Video4Linux device of this machine.
    Device(PathBuf),
    /// No images.
    None,
}

impl FromStr for CameraSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let unknown = || SourceError::Unknown { text: text.chars().take(80).collect() };
        if text.len() > MAX_NAME || text.contains('\0') || text.contains("://") {
            return Err(unknown());
        }
        match (text, text.strip_prefix("v4l:")) {
            ("scene", _) => Ok(Self::Scene),
            ("none", _) => Ok(Self::None),
            (_, Some(device)) if device.starts_with("/dev/") => Ok(Self::Device(device.into())),
            (_, Some(_)) => Err(unknown()),
            (path, None) => {
                let path = PathBuf::from(path);
                let ending = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
                let ending = ending.ok_or_else(unknown)?;
                Ok(if PICTURES.contains(&&*ending) { Self::Still(path) } else { Self::Video(path) })
            }
        }
    }
}

impl TryFrom<String> for CameraSource {
    type Error = SourceError;

    fn try_from(text: String) -> Result<Self, SourceError> {
        text.parse()
    }
}

impl fmt::Display for CameraSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scene => f.write_str("scene"),
            Self::None => f.write_str("none"),
            Self::Still(path) | Self::Video(path) => path.display().fmt(f),
            Self::Device(path) => write!(f, "v4l:{}", path.display()),
        }
    }
}

impl From<CameraSource> for String {
    fn from(source: CameraSource) -> Self {
        source.to_string()
    }
}

impl CameraSource {
    /// Makes the path of a file relative to `folder`.
    pub fn resolve(&mut self, folder: &Path) {
        if let Self::Still(path) | Self::Video(path) = self {
            *path = folder.join(&*path);
        }
    }

    /// Opens the source for images of `width` x `height` pixels at `rate_hz`. `None` if there is nothing to open:
    /// the scene is rendered elsewhere, and [`CameraSource::None`] yields no images.
    pub fn open(&self, width: usize, height: usize, rate_hz: u32) -> Result<Option<Feed>, SourceError> {
        match self {
            Self::Scene | Self::None => Ok(None),
            Self::Still(path) => Ok(Some(Feed::Still(Arc::new(Image::open(path)?.covering(width, height))))),
            Self::Video(path) | Self::Device(path) => {
                let reel = Reel { path, device: matches!(self, Self::Device(_)), width, height, rate_hz };
                Film::start(OsStr::new(FFMPEG), &reel).map(|film| Some(Feed::Film(film)))
            }
        }
    }
}

/// Pictures that come in.
#[derive(Debug)]
pub enum Feed {
    /// Always the same one.
    Still(Arc<Image>),
    /// One after the other.
    Film(Film),
}

impl Image {
    /// Reads a PNG or JPEG file of at most [`MAX_PICTURE_FILE`] bytes.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let opened = |error| SourceError::Open { path: path.into(), error, advice: FILE_ADVICE };
        let mut content = Vec::new();
        let read = File::open(path).and_then(|file| file.take(MAX_PICTURE_FILE + 1).read_to_end(&mut content));
        if read.map_err(opened)? as u64 > MAX_PICTURE_FILE {
            return Err(SourceError::TooLarge { path: path.into() });
        }
        Self::read(&content).map_err(|error| SourceError::Picture { path: path.into(), error })
    }
}

/// What a film is to be read from, and how.
struct Reel<'a> {
    path: &'a Path,
    device: bool,
    width: usize,
    height: usize,
    rate_hz: u32,
}

impl Reel<'_> {
    fn arguments(&self) -> Vec<OsString> {
        let Self { path, device, width, height, rate_hz } = *self;
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let mut arguments = words("-nostdin -hide_banner -loglevel error");
        let mut input = OsString::new();
        if device {
            arguments.extend(words(&format!("-f v4l2 -framerate {rate_hz} -video_size {width}x{height}")));
        } else {
            arguments.extend(words("-re -stream_loop -1"));
            // whatever the name looks like, it is a file
            input.push("file:");
        }
        input.push(path);
        arguments.extend([OsString::from("-i"), input]);
        let fit = format!("scale={width}:{height}:force_original_aspect_ratio=increase,crop={width}:{height}");
        arguments.extend(words(&format!("-an -vf {fit} -r {rate_hz} -f rawvideo -pix_fmt rgb24 pipe:1")));
        arguments
    }
}

/// A video file or a camera, read by a process of its own that ends with this.
#[derive(Debug)]
pub struct Film {
    path: PathBuf,
    process: Arc<Mutex<Child>>,
    pictures: ChildStdout,
    last_words: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
    width: usize,
    height: usize,
}

impl Film {
    fn start(program: &OsStr, reel: &Reel<'_>) -> Result<Self, SourceError> {
        let side = |pixels: usize| pixels.clamp(1, MAX_SIDE);
        let (width, height, rate_hz) = (side(reel.width), side(reel.height), reel.rate_hz.clamp(1, MAX_RATE_HZ));
        let reel = Reel { width, height, rate_hz, ..*reel };
        let path = reel.path.to_owned();
        let advice = if reel.device { DEVICE_ADVICE } else { FILE_ADVICE };
        // the program says less clearly what is wrong
        File::open(&path).map_err(|error| SourceError::Open { path: path.clone(), error, advice })?;
        let failed = |error| SourceError::Program { program: program.to_string_lossy().into_owned(), error };
        let mut command = Command::new(program);
        command.args(reel.arguments()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let (Some(pictures), Some(words)) = (process.stdout.take(), process.stderr.take()) else {
            end(&mut process);
            return Err(failed(ErrorKind::BrokenPipe.into()));
        };
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let process = Arc::new(Mutex::new(process));
        let mut film = Self { path, process, pictures, last_words, listener: None, width, height };
        // a process that nobody listens to would stop when its pipe is full
        let kept = Arc::clone(&film.last_words);
        let listener = std::thread::Builder::new().name("film".into()).spawn(move || listen(words, &kept));
        film.listener = Some(listener.map_err(failed)?);
        Ok(film)
    }

    /// Waits for the next picture and puts it into `picture`. After an error there are no more: open the source again.
    pub fn next(&mut self, picture: &mut Image) -> Result<(), SourceError> {
        if (picture.width, picture.height) != (self.width, self.height) {
            *picture = Image::new(self.width, self.height);
        }
        self.pictures.read_exact(&mut picture.rgb).map_err(|error| self.ended(&error))
    }

    /// What ends this film while somebody waits for its next picture.
    pub fn stopper(&self) -> Stopper {
        Stopper { process: Arc::clone(&self.process) }
    }

    fn ended(&mut self, error: &std::io::Error) -> SourceError {
        self.stopper().stop();
        if self.listener.take().is_some_and(|listener| listener.join().is_err()) {
            tracing::debug!("the film's listener failed");
        }
        let words = self.last_words.lock().unwrap_or_else(PoisonError::into_inner);
        let words = String::from_utf8_lossy(&words);
        let last_words = if words.trim().is_empty() { format!("it ended ({error})") } else { words.trim().to_owned() };
        SourceError::Ended { path: self.path.clone(), last_words }
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        self.stopper().stop();
    }
}

/// Ends a film from outside, also while [`Film::next`] waits for a camera that has stopped to answer.
#[derive(Clone, Debug)]
pub struct Stopper {
    process: Arc<Mutex<Child>>,
}

impl Stopper {
    /// Ends the film's process: who waits for a picture gets an error.
    pub fn stop(&self) {
        end(&mut self.process.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Ends a process and takes its status, so that nothing of it is left.
fn end(process: &mut Child) {
    if let Err(error) = process.kill().and_then(|()| process.wait()) {
        tracing::debug!(%error, "the film's process does not end");
    }
}

/// Keeps the last that was said.
fn listen(mut words: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 512];
    while let Ok(count @ 1..) = words.read(&mut bytes) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[..count]);
        let old = kept.len().saturating_sub(MAX_LAST_WORDS);
        kept.drain(..old);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sources_are_understood() {
        for (text, expected) in [
            ("scene", Some(CameraSource::Scene)),
            ("none", Some(CameraSource::None)),
            ("a/face.PNG", Some(CameraSource::Still("a/face.PNG".into()))),
            ("face.jpeg", Some(CameraSource::Still("face.jpeg".into()))),
            ("/tmp/talk.mp4", Some(CameraSource::Video("/tmp/talk.mp4".into()))),
            ("v4l:/dev/video0", Some(CameraSource::Device("/dev/video0".into()))),
            ("v4l:video0", None),
            ("v4l:", None),
            ("", None),
            ("webcam", None),
            ("http://example.org/a.mp4", None),
            ("a\0.png", None),
        ] {
            assert_eq!(text.parse().ok(), expected, "{text}");
        }
        let error = "webcam".parse::<CameraSource>().unwrap_err().to_string();
        assert!(error.contains("v4l:/dev/video0"), "{error}");
    }

    #[test]
    fn what_is_missing_is_told() {
        for (text, expected) in [
            ("/nowhere/face.png", "/nowhere/face.png cannot be opened"),
            ("/nowhere/talk.mp4", "give the path of a file"),
            ("v4l:/dev/video-that-is-not-there", "plug the camera in"),
        ] {
            let error = text.parse::<CameraSource>().unwrap().open(64, 48, 30).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(CameraSource::Scene.open(64, 48, 30).unwrap().is_none());
        assert!(CameraSource::None.open(64, 48, 30).unwrap().is_none());
    }

    #[test]
    fn a_still_picture_has_the_size_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grey.png");
        std::fs::write(&path, Image { width: 4, height: 2, rgb: vec![99; 24] }.png().unwrap()).unwrap();
        let Some(Feed::Still(image)) = path.to_str().unwrap().parse::<CameraSource>().unwrap().open(8, 6, 30).unwrap()
        else {
            panic!("no picture")
        };
        assert_eq!(*image, Image { width: 8, height: 6, rgb: vec![99; 144] });
        assert_eq!(Image::open(&path).unwrap(), Image { width: 4, height: 2, rgb: vec![99; 24] });
        std::fs::write(&path, "no picture").unwrap();
        let error = CameraSource::Still(path).open(8, 6, 30).unwrap_err().to_string();
        assert!(error.contains("grey.png") && error.contains("neither a PNG"), "{error}");
        assert!(matches!(Image::open(Path::new("/dev/zero")), Err(SourceError::TooLarge { .. })));
    }

    /// A film of a script that stands for the program, in its folder.
    fn film(script: &str) -> (Film, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("film.mp4");
        std::fs::write(&path, "abc").unwrap();
        let reel = Reel { path: &path, device: false, width: 2, height: 1, rate_hz: 30 };
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        // a file that this process has just written may still be open in a child of another test
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        loop {
            match Film::start(program.as_os_str(), &reel) {
                Err(SourceError::Program { error, .. }) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                film => return (film.unwrap(), folder),
            }
        }
    }

    #[test]
    fn films_give_pictures_until_they_end() {
        let (mut film, _folder) = film("printf abcdefghijklmno; echo the tape is torn >&2");
        let mut picture = Image::new(9, 9);
        for expected in [b"abcdef", b"ghijkl"] {
            film.next(&mut picture).unwrap();
            assert_eq!((picture.width, picture.height, &picture.rgb[..]), (2, 1, &expected[..]));
        }
        let error = film.next(&mut picture).unwrap_err().to_string();
        assert!(error.contains("film.mp4 gives no more pictures: the tape is torn;"), "{error}");
        assert!(film.next(&mut picture).is_err());
    }

    #[test]
    fn a_film_that_is_dropped_ends_its_process() {
        let (film, _folder) = film("exec cat /dev/zero");
        let process = PathBuf::from(format!("/proc/{}", film.process.lock().unwrap().id()));
        assert!(process.exists());
        drop(film);
        assert!(!process.exists());
    }

    #[test]
    fn a_film_that_hangs_can_be_stopped() {
        let (mut film, _folder) = film("mkfifo \"$0.pipe\" && exec cat <> \"$0.pipe\"");
        let stopper = film.stopper();
        let waiting = std::thread::spawn(move || film.next(&mut Image::new(2, 1)));
        stopper.stop();
        assert!(matches!(waiting.join().unwrap(), Err(SourceError::Ended { .. })));
        stopper.stop();
    }

    #[test]
    fn a_missing_program_is_told() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let reel = Reel { path: &path, device: false, width: 2, height: 1, rate_hz: 30 };
        let error = Film::start(OsStr::new("no-such-program"), &reel).unwrap_err().to_string();
        assert!(error.contains("no-such-program does not start") && error.contains("install it"), "{error}");
    }

    #[test]
    fn names_of_files_are_no_options() {
        let said = |device: bool, path: &str| {
            let reel = Reel { path: Path::new(path), device, width: 640, height: 480, rate_hz: 30 };
            reel.arguments().join(OsStr::new(" ")).into_string().unwrap()
        };
        let film = said(false, "-y.mp4");
        assert!(film.contains("-i file:-y.mp4 ") && film.contains("-pix_fmt rgb24"), "{film}");
        let device = said(true, "/dev/video0");
        assert!(device.contains("-f v4l2 -framerate 30 -video_size 640x480 -i /dev/video0 "), "{device}");
    }

    proptest! {
        #[test]
        fn any_text_is_a_source_or_an_error(text in ".{0,60}") {
            if let Err(error) = text.parse::<CameraSource>() {
                let unknown = matches!(error, SourceError::Unknown { .. });
                prop_assert!(unknown);
            }
        }

        #[test]
        fn last_words_are_bounded(words in proptest::collection::vec(any::<u8>(), 0..9000)) {
            let kept = Mutex::new(Vec::new());
            listen(&words[..], &kept);
            let kept = kept.into_inner().unwrap();
            prop_assert!(kept.len() <= MAX_LAST_WORDS && words.ends_with(&kept));
        }
    }
}
