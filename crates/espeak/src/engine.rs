//! espeak-ng itself: the few functions of its C interface (`speak_lib.h`, interface 12) that are needed, looked up when
//! the library is loaded.
#![expect(unsafe_code, reason = "the engine is a C library; this is the only file that talks to it")]

use std::{
    ffi::{CString, c_char, c_int, c_short, c_uint, c_void},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    ptr,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use libloading::Library;

use crate::{
    frame::{Event, EventKind, MAX_EVENTS, MAX_PHONEME, RATES, Request, Speech, max_samples},
    words::{self, Word},
};

// of speak_lib.h
const AUDIO_OUTPUT_SYNCHRONOUS: c_int = 2;
const PHONEME_EVENTS: c_int = 1;
const PHONEME_IPA: c_int = 2;
const DONT_EXIT: c_int = 0x8000;
const POS_CHARACTER: c_int = 1;
const CHARS_UTF8: c_uint = 1;
const EVENT_LIST_TERMINATED: c_int = 0;
const EVENT_WORD: c_int = 1;
const EVENT_PHONEME: c_int = 7;
const PARAMETER_VOLUME: c_int = 2;
const PARAMETER_PITCH: c_int = 3;

/// How much sound the library hands over at a time, in ms.
const BUFFER_MS: c_int = 200;

#[repr(C)]
union RawId {
    number: c_int,
    name: *const c_char,
    string: [c_char; 8],
}

#[repr(C)]
struct RawEvent {
    kind: c_int,
    unique_identifier: c_uint,
    text_position: c_int,
    length: c_int,
    audio_position: c_int,
    sample: c_int,
    user_data: *mut c_void,
    id: RawId,
}

type Callback = extern "C" fn(*mut c_short, c_int, *mut RawEvent) -> c_int;
type Initialize = unsafe extern "C" fn(c_int, c_int, *const c_char, c_int) -> c_int;
type SetSynthCallback = unsafe extern "C" fn(Callback);
type SetVoiceByName = unsafe extern "C" fn(*const c_char) -> c_int;
type SetParameter = unsafe extern "C" fn(c_int, c_int, c_int) -> c_int;
type Synth =
    unsafe extern "C" fn(*const c_void, usize, c_uint, c_int, c_uint, c_uint, *mut c_uint, *mut c_void) -> c_int;

/// Why there is no speech.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// There is no library, or it lacks a function.
    #[error("the voice's library {library} cannot be used: {source}")]
    Library {
        /// What was to be loaded.
        library: PathBuf,
        /// What the loader said.
        source: libloading::Error,
    },
    /// The library did not accept its data.
    #[error("the voice cannot use its data in {data} (answer {code})")]
    Data {
        /// The folder.
        data: PathBuf,
        /// What the library answered.
        code: i32,
    },
    /// The library keeps its state in globals, so a process has it once.
    #[error("the voice has been loaded in this process before")]
    Twice,
    /// There is no such voice.
    #[error("there is no voice {voice:?} (answer {code})")]
    Voice {
        /// Its name.
        voice: String,
        /// What the library answered.
        code: i32,
    },
    /// The text could not be spoken.
    #[error("the text could not be spoken (answer {code})")]
    Text {
        /// What the library answered.
        code: i32,
    },
}

/// espeak-ng, ready to speak.
pub(crate) struct Engine {
    set_voice: SetVoiceByName,
    set_parameter: SetParameter,
    synth: Synth,
    rate: u32,
    voice: String,
    // the functions above live in it
    _library: Library,
}

/// What the library's callback has got so far.
struct Take {
    speech: Speech,
    words: Vec<Word>,
}

/// The phrase at work.
static TAKE: Mutex<Option<Take>> = Mutex::new(None);

/// Whether this process has tried to load the library.
static LOADED: AtomicBool = AtomicBool::new(false);

impl Engine {
    /// Loads the library at a path or of a name, and its data. A process can do so once.
    pub(crate) fn load(library: &Path, data: &Path) -> Result<Self, EngineError> {
        if LOADED.swap(true, Ordering::SeqCst) {
            return Err(EngineError::Twice);
        }
        let failed = |source| EngineError::Library { library: library.to_owned(), source };
        let refused = |code| EngineError::Data { data: data.to_owned(), code };
        let folder = CString::new(data.as_os_str().as_bytes()).map_err(|_| refused(0))?;
        // SAFETY: whoever starts the helper names the library; running its code is what the helper is for. The types are
        // those of its header, and the functions are kept no longer than the library.
        unsafe {
            let opened = Library::new(library).map_err(failed)?;
            let initialize: Initialize = *opened.get("espeak_Initialize").map_err(failed)?;
            let set_callback: SetSynthCallback = *opened.get("espeak_SetSynthCallback").map_err(failed)?;
            let set_voice: SetVoiceByName = *opened.get("espeak_SetVoiceByName").map_err(failed)?;
            let set_parameter: SetParameter = *opened.get("espeak_SetParameter").map_err(failed)?;
            let synth: Synth = *opened.get("espeak_Synth").map_err(failed)?;
            let options = PHONEME_EVENTS | PHONEME_IPA | DONT_EXIT;
            let code = initialize(AUDIO_OUTPUT_SYNCHRONOUS, BUFFER_MS, folder.as_ptr(), options);
            let rate = u32::try_from(code).ok().filter(|rate| RATES.contains(rate)).ok_or_else(|| refused(code))?;
            set_callback(collect);
            Ok(Self { set_voice, set_parameter, synth, rate, voice: String::new(), _library: opened })
        }
    }

    /// Speaks a phrase; what is too long for an answer is cut off.
    pub(crate) fn speak(&mut self, request: &Request) -> Result<Speech, EngineError> {
        self.use_voice(&request.voice)?;
        // the voice as it is has 50
        let pitch = (50.0 + 50.0 * request.pitch.log2()).clamp(0.0, 100.0).round() as c_int;
        let volume = (100.0 * request.volume).clamp(0.0, 100.0).round() as c_int;
        // it has lost its zero bytes on the way
        let text = CString::new(words::plain(&request.text)).map_err(|_| EngineError::Text { code: 0 })?;
        *take() = Some(Take { speech: Speech { rate: self.rate, ..Speech::default() }, words: Vec::new() });
        // SAFETY: the text ends with a zero byte within the length that is given and lives until the call is over, as the
        // engine was told to be synchronous; no identifier and no data of ours are asked for.
        let code = unsafe {
            (self.set_parameter)(PARAMETER_PITCH, pitch, 0);
            (self.set_parameter)(PARAMETER_VOLUME, volume, 0);
            let text = text.as_bytes_with_nul();
            let (start, length) = (text.as_ptr().cast(), text.len());
            (self.synth)(start, length, 0, POS_CHARACTER, 0, CHARS_UTF8, ptr::null_mut(), ptr::null_mut())
        };
        let Take { mut speech, words } = take().take().filter(|_| code == 0).ok_or(EngineError::Text { code })?;
        let end = words::end(&speech.events);
        speech.events.truncate(MAX_EVENTS - request.marks.len().min(MAX_EVENTS));
        speech.events.extend(words::reach(&request.text, &request.marks, &words, end));
        Ok(speech)
    }

    fn use_voice(&mut self, voice: &str) -> Result<(), EngineError> {
        if self.voice == voice {
            return Ok(());
        }
        let refused = |code| EngineError::Voice { voice: voice.to_owned(), code };
        // it becomes a file's name
        if !voice.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') || voice.is_empty() {
            return Err(refused(0));
        }
        let name = CString::new(voice).map_err(|_| refused(0))?;
        // SAFETY: the name ends with a zero byte and is only read during the call.
        let code = unsafe { (self.set_voice)(name.as_ptr()) };
        // after a failure the engine may be between two voices
        self.voice = if code == 0 { voice.to_owned() } else { String::new() };
        if code == 0 { Ok(()) } else { Err(refused(code)) }
    }
}

fn take() -> MutexGuard<'static, Option<Take>> {
    TAKE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Called by the library with sound and events; anything but 0 ends the phrase.
extern "C" fn collect(sound: *mut c_short, count: c_int, events: *mut RawEvent) -> c_int {
    let mut take = take();
    let Some(Take { speech, words }) = take.as_mut() else { return 1 };
    let room = max_samples(speech.rate).saturating_sub(speech.samples.len());
    let count = usize::try_from(count).unwrap_or(0).min(room);
    if !sound.is_null() && count > 0 {
        // SAFETY: the library says that there are so many samples.
        speech.samples.extend_from_slice(unsafe { std::slice::from_raw_parts(sound, count) });
    }
    let mut next = events;
    // SAFETY: the list of events ends with one of its own kind, which is never passed.
    while let Some(event) = unsafe { next.as_ref() }.filter(|event| event.kind != EVENT_LIST_TERMINATED) {
        let milliseconds = u32::try_from(event.audio_position).unwrap_or(0);
        match event.kind {
            EVENT_WORD if words.len() < MAX_EVENTS => {
                // positions are counted from 1
                let from = usize::try_from(event.text_position).unwrap_or(0).saturating_sub(1);
                words.push(Word { from, length: usize::try_from(event.length).unwrap_or(0), milliseconds });
            }
            EVENT_PHONEME if speech.events.len() < MAX_EVENTS => {
                speech.events.push(Event { milliseconds, kind: EventKind::Phoneme(phoneme(event)) });
            }
            _ => {}
        }
        // SAFETY: as above, there is at least one more.
        next = unsafe { next.add(1) };
    }
    c_int::from(speech.samples.len() >= max_samples(speech.rate))
}

/// The name of an event's phoneme, as IPA.
fn phoneme(event: &RawEvent) -> String {
    // SAFETY: a phoneme's id is its name, in these eight bytes; all of their values are characters.
    let name = unsafe { event.id.string }.map(|byte| byte as u8);
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    // long names are cut off anywhere
    name.utf8_chunks().next().map_or("", |chunk| chunk.valid()).to_owned()
}

const _: () = assert!(size_of::<[c_char; 8]>() <= MAX_PHONEME);
