//! Camera images that are not rendered: image files, video files and real cameras.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    str::FromStr,
    sync::Arc,
    thread::JoinHandle,
};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::image::{Image, ImageError, MAX_SIDE};

/// Maximum length of a source's text, in bytes.
pub const MAX_NAME: usize = 4096;
/// Maximum size of an image file, in bytes.
pub const MAX_PICTURE_FILE: u64 = 64 << 20;
/// Maximum frame rate of a video or a camera, in Hz.
pub const MAX_RATE_HZ: u32 = 240;
/// How much of ffmpeg's error output is kept, in bytes.
const MAX_STDERR: usize = 2048;
/// The program that decodes videos and reads cameras.
const FFMPEG: &str = "ffmpeg";
/// File extensions of images, in lower case.
const IMAGE_EXTENSIONS: [&str; 3] = ["png", "jpg", "jpeg"];
/// Advice for a file that cannot be opened.
const FILE_ADVICE: &str = "give the path of a readable file";
/// Advice for a camera that cannot be opened.
const DEVICE_ADVICE: &str = "check that the camera is plugged in and that this user may read it (group `video`)";

/// Error of an image source.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The text does not describe a source.
    #[error("{text:?} is not an image source; use `scene`, `none`, a PNG, JPEG or video file, or `v4l:/dev/video0`")]
    Unknown {
        /// The text, shortened.
        text: String,
    },
    /// The file or device does not exist or is not readable.
    #[error("failed to open {}: {error}; {advice}", path.display())]
    Open {
        /// Path of the file or device.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
        /// What the user can do about it.
        advice: &'static str,
    },
    /// The image file is too large.
    #[error("{} is larger than {MAX_PICTURE_FILE} bytes; use a smaller image", path.display())]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
    },
    /// The file is not a valid image.
    #[error("{}: {error}", path.display())]
    Image {
        /// Path of the file.
        path: PathBuf,
        /// Error of the decoder.
        error: ImageError,
    },
    /// The program that decodes videos could not be started.
    #[error("failed to start {program}: {error}; it decodes videos and cameras (Debian: apt install ffmpeg)")]
    Program {
        /// Name of the program.
        program: String,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The video has ended, or the camera is gone.
    #[error("{} delivers no more images: {message}; open it again", path.display())]
    Ended {
        /// Path of the video or camera.
        path: PathBuf,
        /// Last error output of the program.
        message: String,
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
                Ok(if IMAGE_EXTENSIONS.contains(&&*ending) { Self::Still(path) } else { Self::Video(path) })
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
                let input = VideoInput { path, is_device: matches!(self, Self::Device(_)), width, height, rate_hz };
                Video::start(OsStr::new(FFMPEG), &input).map(|video| Some(Feed::Video(video)))
            }
        }
    }
}

/// An open image source.
#[derive(Debug)]
pub enum Feed {
    /// A constant image.
    Still(Arc<Image>),
    /// A sequence of images.
    Video(Video),
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
        Self::read(&content).map_err(|error| SourceError::Image { path: path.into(), error })
    }
}

/// What ffmpeg is to read, and in which format.
struct VideoInput<'a> {
    path: &'a Path,
    is_device: bool,
    width: usize,
    height: usize,
    rate_hz: u32,
}

impl VideoInput<'_> {
    fn arguments(&self) -> Vec<OsString> {
        let Self { path, is_device, width, height, rate_hz } = *self;
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let mut arguments = words("-nostdin -hide_banner -loglevel error");
        let mut input = OsString::new();
        if is_device {
            arguments.extend(words(&format!("-f v4l2 -framerate {rate_hz} -video_size {width}x{height}")));
        } else {
            arguments.extend(words("-re -stream_loop -1"));
            // keeps ffmpeg from taking the name for a URL or an option
            input.push("file:");
        }
        input.push(path);
        arguments.extend([OsString::from("-i"), input]);
        let fit = format!("scale={width}:{height}:force_original_aspect_ratio=increase,crop={width}:{height}");
        arguments.extend(words(&format!("-an -vf {fit} -r {rate_hz} -f rawvideo -pix_fmt rgb24 pipe:1")));
        arguments
    }
}

/// A video file or a camera, decoded by a child process that is killed on drop.
#[derive(Debug)]
pub struct Video {
    path: PathBuf,
    process: Arc<Mutex<Child>>,
    frames: ChildStdout,
    /// Tail of the child's error output.
    stderr: Arc<Mutex<Vec<u8>>>,
    stderr_reader: Option<JoinHandle<()>>,
    width: usize,
    height: usize,
}

impl Video {
    fn start(program: &OsStr, input: &VideoInput<'_>) -> Result<Self, SourceError> {
        let side = |pixels: usize| pixels.clamp(1, MAX_SIDE);
        let (width, height, rate_hz) = (side(input.width), side(input.height), input.rate_hz.clamp(1, MAX_RATE_HZ));
        let input = VideoInput { width, height, rate_hz, ..*input };
        let path = input.path.to_owned();
        let advice = if input.is_device { DEVICE_ADVICE } else { FILE_ADVICE };
        // the program's own message is less clear
        File::open(&path).map_err(|error| SourceError::Open { path: path.clone(), error, advice })?;
        let failed = |error| SourceError::Program { program: program.to_string_lossy().into_owned(), error };
        let mut command = Command::new(program);
        command.args(input.arguments()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(failed)?;
        let (Some(frames), Some(errors)) = (process.stdout.take(), process.stderr.take()) else {
            kill(&mut process);
            return Err(failed(ErrorKind::BrokenPipe.into()));
        };
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let process = Arc::new(Mutex::new(process));
        let mut video = Self { path, process, frames, stderr, stderr_reader: None, width, height };
        // the child would block once the pipe is full
        let tail = Arc::clone(&video.stderr);
        let reader = std::thread::Builder::new().name("video-stderr".into()).spawn(move || keep_tail(errors, &tail));
        video.stderr_reader = Some(reader.map_err(failed)?);
        Ok(video)
    }

    /// Waits for the next frame and stores it in `image`. An error is final: open the source again.
    pub fn next(&mut self, image: &mut Image) -> Result<(), SourceError> {
        if (image.width, image.height) != (self.width, self.height) {
            *image = Image::new(self.width, self.height);
        }
        self.frames.read_exact(&mut image.rgb).map_err(|error| self.ended(&error))
    }

    /// A handle that stops the video while another thread waits in [`Video::next`].
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle { process: Arc::clone(&self.process) }
    }

    fn ended(&mut self, error: &std::io::Error) -> SourceError {
        self.stop_handle().stop();
        if self.stderr_reader.take().is_some_and(|reader| reader.join().is_err()) {
            tracing::debug!("the thread reading ffmpeg's errors panicked");
        }
        let stderr = self.stderr.lock();
        let stderr = String::from_utf8_lossy(&stderr);
        let message = if stderr.trim().is_empty() { format!("it ended ({error})") } else { stderr.trim().to_owned() };
        SourceError::Ended { path: self.path.clone(), message }
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        self.stop_handle().stop();
    }
}

/// Stops a video from another thread, even if its camera no longer responds.
#[derive(Clone, Debug)]
pub struct StopHandle {
    process: Arc<Mutex<Child>>,
}

impl StopHandle {
    /// Kills the child process; a blocked [`Video::next`] returns an error.
    pub fn stop(&self) {
        kill(&mut self.process.lock());
    }
}

/// Kills a child process and reaps it.
fn kill(process: &mut Child) {
    if let Err(error) = process.kill().and_then(|()| process.wait()) {
        tracing::debug!(%error, "failed to kill ffmpeg");
    }
}

/// Keeps the last [`MAX_STDERR`] bytes of an output.
fn keep_tail(mut output: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 512];
    while let Ok(count @ 1..) = output.read(&mut bytes) {
        let mut tail = tail.lock();
        tail.extend(&bytes[..count]);
        let old = tail.len().saturating_sub(MAX_STDERR);
        tail.drain(..old);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sources_are_parsed() {
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
    fn missing_sources_are_reported() {
        for (text, expected) in [
            ("/nowhere/face.png", "failed to open /nowhere/face.png"),
            ("/nowhere/talk.mp4", "give the path of a readable file"),
            ("v4l:/dev/video-that-is-not-there", "camera is plugged in"),
        ] {
            let error = text.parse::<CameraSource>().unwrap().open(64, 48, 30).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(CameraSource::Scene.open(64, 48, 30).unwrap().is_none());
        assert!(CameraSource::None.open(64, 48, 30).unwrap().is_none());
    }

    #[test]
    fn a_still_image_has_the_requested_size() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("grey.png");
        std::fs::write(&path, Image { width: 4, height: 2, rgb: vec![99; 24] }.png().unwrap()).unwrap();
        let Some(Feed::Still(image)) = path.to_str().unwrap().parse::<CameraSource>().unwrap().open(8, 6, 30).unwrap()
        else {
            panic!("no image")
        };
        assert_eq!(*image, Image { width: 8, height: 6, rgb: vec![99; 144] });
        assert_eq!(Image::open(&path).unwrap(), Image { width: 4, height: 2, rgb: vec![99; 24] });
        std::fs::write(&path, "no picture").unwrap();
        let error = CameraSource::Still(path).open(8, 6, 30).unwrap_err().to_string();
        assert!(error.contains("grey.png") && error.contains("neither a PNG"), "{error}");
        assert!(matches!(Image::open(Path::new("/dev/zero")), Err(SourceError::TooLarge { .. })));
    }

    /// A video decoded by a shell script instead of ffmpeg, and the folder of both.
    fn video(script: &str) -> (Video, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("video.mp4");
        std::fs::write(&path, "abc").unwrap();
        let input = VideoInput { path: &path, is_device: false, width: 2, height: 1, rate_hz: 30 };
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        // a file that this process has just written may still be open in a child of another test
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        loop {
            match Video::start(program.as_os_str(), &input) {
                Err(SourceError::Program { error, .. }) if error.kind() == ErrorKind::ExecutableFileBusy => {}
                video => return (video.unwrap(), folder),
            }
        }
    }

    #[test]
    fn a_video_delivers_frames_until_it_ends() {
        let (mut video, _folder) = video("printf abcdefghijklmno; echo corrupt stream >&2");
        let mut picture = Image::new(9, 9);
        for expected in [b"abcdef", b"ghijkl"] {
            video.next(&mut picture).unwrap();
            assert_eq!((picture.width, picture.height, &picture.rgb[..]), (2, 1, &expected[..]));
        }
        let error = video.next(&mut picture).unwrap_err().to_string();
        assert!(error.contains("video.mp4 delivers no more images: corrupt stream;"), "{error}");
        assert!(video.next(&mut picture).is_err());
    }

    #[test]
    fn dropping_a_video_kills_its_process() {
        let (video, _folder) = video("exec cat /dev/zero");
        let process = PathBuf::from(format!("/proc/{}", video.process.lock().id()));
        assert!(process.exists());
        drop(video);
        assert!(!process.exists());
    }

    #[test]
    fn a_hanging_video_can_be_stopped() {
        let (mut video, _folder) = video("mkfifo \"$0.pipe\" && exec cat <> \"$0.pipe\"");
        let handle = video.stop_handle();
        let waiting = std::thread::spawn(move || video.next(&mut Image::new(2, 1)));
        handle.stop();
        assert!(matches!(waiting.join().unwrap(), Err(SourceError::Ended { .. })));
        handle.stop();
    }

    #[test]
    fn a_missing_program_is_reported() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let input = VideoInput { path: &path, is_device: false, width: 2, height: 1, rate_hz: 30 };
        let error = Video::start(OsStr::new("no-such-program"), &input).unwrap_err().to_string();
        assert!(error.contains("failed to start no-such-program") && error.contains("apt install"), "{error}");
    }

    #[test]
    fn file_names_are_not_options() {
        let arguments = |is_device: bool, path: &str| {
            let input = VideoInput { path: Path::new(path), is_device, width: 640, height: 480, rate_hz: 30 };
            input.arguments().join(OsStr::new(" ")).into_string().unwrap()
        };
        let file = arguments(false, "-y.mp4");
        assert!(file.contains("-i file:-y.mp4 ") && file.contains("-pix_fmt rgb24"), "{file}");
        let device = arguments(true, "/dev/video0");
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
        fn error_output_is_bounded(output in proptest::collection::vec(any::<u8>(), 0..9000)) {
            let tail = Mutex::new(Vec::new());
            keep_tail(&output[..], &tail);
            let tail = tail.into_inner();
            prop_assert!(tail.len() <= MAX_STDERR && output.ends_with(&tail));
        }
    }
}
