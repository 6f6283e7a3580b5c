//! Bindings to espeak-ng: the few functions of its C interface (`speak_lib.h`, revision 12) that are needed, loaded at run
//! time.
#![expect(unsafe_code, reason = "espeak-ng is a C library; this is the only file that calls it")]

use std::{
    ffi::{CString, c_char, c_int, c_short, c_uint, c_void},
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
    ptr,
    sync::atomic::{AtomicBool, Ordering},
};

use libloading::Library;
use parking_lot::Mutex;

use crate::{
    frame::{Event, EventKind, MAX_EVENTS, MAX_PHONEME, RATES, Request, Speech, max_samples},
    words::{self, Word},
};

// from speak_lib.h
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

/// Length of the library's audio buffer, in ms.
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

/// Error of espeak-ng.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The library is missing, or lacks a function.
    #[error("failed to load {}: {source}", library.display())]
    Library {
        /// Path or name of the library.
        library: PathBuf,
        /// Error of the loader.
        source: libloading::Error,
    },
    /// The library rejected its data folder.
    #[error("espeak-ng cannot use the data in {} (error {code})", data.display())]
    Data {
        /// Path of the folder.
        data: PathBuf,
        /// Return code of the library.
        code: i32,
    },
    /// The library keeps its state in global variables, so it can be loaded only once per process.
    #[error("espeak-ng has already been loaded in this process")]
    AlreadyLoaded,
    /// The voice is unknown.
    #[error("unknown voice `{voice}` (error {code})")]
    Voice {
        /// Name of the voice.
        voice: String,
        /// Return code of the library.
        code: i32,
    },
    /// The text could not be synthesised.
    #[error("failed to synthesise the text (error {code})")]
    Text {
        /// Return code of the library.
        code: i32,
    },
}

/// An initialised espeak-ng.
pub(crate) struct Engine {
    set_voice: SetVoiceByName,
    set_parameter: SetParameter,
    synth: Synth,
    rate: u32,
    voice: String,
    // keeps the function pointers valid
    _library: Library,
}

/// What the library's callback has collected.
struct Collected {
    speech: Speech,
    words: Vec<Word>,
}

/// The phrase that is being synthesised.
static COLLECTED: Mutex<Option<Collected>> = Mutex::new(None);

/// Whether this process has tried to load the library.
static LOADED: AtomicBool = AtomicBool::new(false);

impl Engine {
    /// Loads the library (a path or a name) and its data. Can be called once per process.
    pub(crate) fn load(library: &Path, data: &Path) -> Result<Self, EngineError> {
        if LOADED.swap(true, Ordering::SeqCst) {
            return Err(EngineError::AlreadyLoaded);
        }
        let failed = |source| EngineError::Library { library: library.to_owned(), source };
        let refused = |code| EngineError::Data { data: data.to_owned(), code };
        let folder = CString::new(data.as_os_str().as_bytes()).map_err(|_| refused(0))?;
        // SAFETY: the library is chosen by the parent process, and running its code is the purpose of this one. The types
        // match its header, and the function pointers do not outlive the library.
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

    /// Synthesises a phrase. Audio and events beyond the limits of an answer are dropped.
    pub(crate) fn speak(&mut self, request: &Request) -> Result<Speech, EngineError> {
        self.use_voice(&request.voice)?;
        // 50 is the natural pitch
        let pitch = (50.0 + 50.0 * request.pitch.log2()).clamp(0.0, 100.0).round() as c_int;
        let volume = (100.0 * request.volume).clamp(0.0, 100.0).round() as c_int;
        // `plain` has removed NUL bytes
        let text = CString::new(words::plain(&request.text)).map_err(|_| EngineError::Text { code: 0 })?;
        *COLLECTED.lock() =
            Some(Collected { speech: Speech { rate: self.rate, ..Speech::default() }, words: Vec::new() });
        // SAFETY: the text is NUL-terminated within the given length and outlives the call, because the engine runs in
        // synchronous mode; identifier and user data are optional.
        let code = unsafe {
            (self.set_parameter)(PARAMETER_PITCH, pitch, 0);
            (self.set_parameter)(PARAMETER_VOLUME, volume, 0);
            let text = text.as_bytes_with_nul();
            let (start, length) = (text.as_ptr().cast(), text.len());
            (self.synth)(start, length, 0, POS_CHARACTER, 0, CHARS_UTF8, ptr::null_mut(), ptr::null_mut())
        };
        let Collected { mut speech, words } =
            COLLECTED.lock().take().filter(|_| code == 0).ok_or(EngineError::Text { code })?;
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
        // the library uses it as a file name
        if !voice.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') || voice.is_empty() {
            return Err(refused(0));
        }
        let name = CString::new(voice).map_err(|_| refused(0))?;
        // SAFETY: the name is NUL-terminated and only read during the call.
        let code = unsafe { (self.set_voice)(name.as_ptr()) };
        // after a failure the current voice is undefined
        self.voice = if code == 0 { voice.to_owned() } else { String::new() };
        if code == 0 { Ok(()) } else { Err(refused(code)) }
    }
}

/// Callback of the library for audio and events; a return value other than 0 stops the synthesis.
extern "C" fn collect(sound: *mut c_short, count: c_int, events: *mut RawEvent) -> c_int {
    let mut collected = COLLECTED.lock();
    let Some(Collected { speech, words }) = collected.as_mut() else { return 1 };
    let room = max_samples(speech.rate).saturating_sub(speech.samples.len());
    let count = usize::try_from(count).unwrap_or(0).min(room);
    if !sound.is_null() && count > 0 {
        // SAFETY: the library passes `count` or more samples.
        speech.samples.extend_from_slice(unsafe { std::slice::from_raw_parts(sound, count) });
    }
    let mut next = events;
    // SAFETY: the list is terminated by an event of kind `EVENT_LIST_TERMINATED`, which is never passed.
    while let Some(event) = unsafe { next.as_ref() }.filter(|event| event.kind != EVENT_LIST_TERMINATED) {
        let milliseconds = u32::try_from(event.audio_position).unwrap_or(0);
        match event.kind {
            EVENT_WORD if words.len() < MAX_EVENTS => {
                // positions start at 1
                let from = usize::try_from(event.text_position).unwrap_or(0).saturating_sub(1);
                words.push(Word { from, length: usize::try_from(event.length).unwrap_or(0), milliseconds });
            }
            EVENT_PHONEME if speech.events.len() < MAX_EVENTS => {
                speech.events.push(Event { milliseconds, kind: EventKind::Phoneme(phoneme(event)) });
            }
            _ => {}
        }
        // SAFETY: this was not the terminating event, so there is another one.
        next = unsafe { next.add(1) };
    }
    c_int::from(speech.samples.len() >= max_samples(speech.rate))
}

/// Name of an event's phoneme, in IPA.
fn phoneme(event: &RawEvent) -> String {
    // SAFETY: for phoneme events the union holds the name, and all byte values are valid characters.
    let name = unsafe { event.id.string }.map(|byte| byte as u8);
    let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
    // long names may be truncated within a character
    name.utf8_chunks().next().map_or("", |chunk| chunk.valid()).to_owned()
}

const _: () = assert!(size_of::<[c_char; 8]>() <= MAX_PHONEME);
