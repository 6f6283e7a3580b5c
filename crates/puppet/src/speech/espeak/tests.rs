//! Some of these need the real engine, which `scripts/fetch-puppet voice` puts into the user's cache. Its process is this
//! test program itself, as [`serves`].

use std::{env, fs, io, path::Path};

use super::*;
use crate::speech::{Mark, find_espeak, script};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);

fn fetch() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-puppet");
    let output = Command::new(script).arg("voice").output().expect("the script can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the voice could not be fetched:\n{said}");
}

/// It is the process that the other tests talk to, and by itself does nothing.
#[test]
fn serves() {
    if env::var_os("SPEECH_TEST_SERVES").is_none() {
        return;
    }
    let (library, data) = match env::var_os("SPEECH_TEST_LIBRARY") {
        Some(library) => (library.into(), "/nowhere".into()),
        None => find_espeak().expect("it was fetched"),
    };
    // the standard output is the test harness's
    let output = fs::OpenOptions::new().write(true).open("/dev/fd/3").expect("the other output");
    let _ = espeak::serve(&library, &data, io::stdin(), output);
}

/// Runs the lines in a shell, in which `serve` becomes the real process.
fn shell(lines: &str) -> Vec<OsString> {
    let exe = env::current_exe().expect("this program");
    let serve =
        "export SPEECH_TEST_SERVES=1; exec \"$0\" --exact speech::espeak::tests::serves --nocapture 3>&1 >/dev/null";
    ["sh".into(), "-c".into(), lines.replace("serve", serve).into(), exe.into()].into()
}

fn real() -> Espeak {
    fetch();
    Espeak::new(shell("serve")).with_times(LONG, LONG)
}

fn gesture(tag: &str) -> Option<u32> {
    ["braisel", "yess", "nos", "wob"].iter().position(|known| *known == tag).map(|index| index as u32)
}

fn phrase(text: &str) -> Phrase {
    let mut phrases = script::parse(text, gesture);
    assert_eq!(phrases.len(), 1, "{text:?}");
    phrases.remove(0)
}

fn say(voice: &mut Espeak, text: &str) -> SpokenPhrase {
    let spoken = voice.synthesise(&phrase(text), VoiceSettings::default()).expect("speech");
    assert!(spoken.timeline.is_valid(), "{:?}", spoken.timeline);
    spoken
}

#[test]
fn gestures_coincide_with_their_words() {
    let mut voice = real();
    let nope = say(&mut voice, "[braisel][nos]Nope.").timeline;
    assert_eq!(nope.marks, [(0.0, 0), (0.0, 2)]);
    assert!(nope.mouth.iter().any(|opening| opening.1 > 0.5) && nope.mouth.last().is_some_and(|last| last.1 == 0.0));

    let plain = say(&mut voice, "Nope. I think you are right, and we should go now.");
    let spoken =
        say(&mut voice, "[braisel]Nope. [nos]I think [yess] you are right, and [wob]we should go[nos] now.[yess]");
    assert_eq!(plain.samples.len() / 1_000, spoken.samples.len() / 1_000, "tags take no time");
    let timeline = spoken.timeline;
    assert_eq!(timeline.marks.iter().map(|mark| mark.1).collect::<Vec<_>>(), [0, 2, 1, 3, 2, 1]);
    let times: Vec<f32> = timeline.marks.iter().map(|mark| mark.0).collect();
    assert!(times.is_sorted_by(|one, other| one < other) && times[5] < timeline.seconds, "{times:?}");
    // the silent voice is about as fast
    let silent = crate::speech::silent_timeline(&phrase("Nope. I think you are right, and we should go now."));
    assert!((0.75..1.35).contains(&(silent.seconds / timeline.seconds)), "{} {}", silent.seconds, timeline.seconds);
}

#[test]
fn lips_close_for_bilabials_and_open_for_vowels() {
    let mut voice = real();
    let opening = |timeline: &Timeline| timeline.mouth.iter().map(|opening| opening.1).fold(0.0, f32::max);
    let (wide, narrow) = (say(&mut voice, "Ah.").timeline, say(&mut voice, "Sees.").timeline);
    assert!(opening(&wide) > 2.0 * opening(&narrow), "{wide:?} {narrow:?}");
    let map = say(&mut voice, "Papa").timeline;
    let closed = map.mouth.windows(3).filter(|three| three[0].1 > 0.5 && three[1].1 == 0.0 && three[2].1 > 0.5);
    assert_eq!(closed.count(), 1, "{map:?}");
}

#[test]
fn phrases_of_anything_fit_into_a_timeline() {
    let mut voice = real();
    for text in ["9", "漢", "😀", "@", "ж", "wonderful ", "w ", "é", "$1 ", "ﷺ", "\u{301}", "…", "A.B."] {
        let longest = script::parse(&text.repeat(400), gesture).remove(0);
        let spoken = voice.synthesise(&longest, VoiceSettings::default()).expect("speech");
        assert!(spoken.timeline.is_valid());
        assert!(spoken.timeline.seconds < 110.0, "{text:?} takes {} s", spoken.timeline.seconds);
    }
    let whole = "So it goes on and on, [nos]you know. ".repeat(1_771);
    let phrases = script::parse(&whole, gesture);
    let marks: usize = phrases.iter().map(|phrase| phrase.marks.len()).sum();
    assert_eq!(marks, 1_771);
    for phrase in &phrases[..20] {
        let spoken = voice.synthesise(phrase, VoiceSettings::default()).expect("speech");
        assert!(spoken.timeline.is_valid() && spoken.timeline.marks.len() == phrase.marks.len());
    }
}

#[test]
fn settings_are_clamped_and_unknown_voices_refused() {
    let mut voice = real();
    let mut say = |pitch, volume, voice_id| {
        let settings = VoiceSettings { pitch, volume, voice: voice_id };
        voice.synthesise(&phrase("Hello."), settings)
    };
    let loudest = |spoken: SpokenPhrase| spoken.samples.iter().map(|sample| sample.unsigned_abs()).max();
    assert_eq!(loudest(say(1.0, -3.0, 0).expect("speech")), Some(0));
    assert!(loudest(say(f32::NAN, f32::INFINITY, 0).expect("speech")) > Some(1_000));
    assert!(say(100.0, 1.0, 0).is_ok());
    assert!(matches!(say(1.0, 1.0, 77), Err(VoiceError::UnknownVoice { voice: 77 })));
}

#[test]
fn gestures_without_words_need_no_process() {
    let mut voice = Espeak::new(Vec::new());
    let spoken = say(&mut voice, "[nos][yess]");
    assert_eq!((spoken.timeline.marks, spoken.samples), (vec![(0.0, 2), (0.0, 1)], Vec::new()));
    let long = Phrase { text: "a".repeat(frame::MAX_TEXT + 1), marks: Vec::new() };
    assert!(matches!(voice.synthesise(&long, VoiceSettings::default()), Err(VoiceError::TooLong { .. })));
    let marked = Phrase { text: "a".into(), marks: vec![Mark { at: 0, gesture: 0 }; MAX_MARKS + 1] };
    assert!(matches!(voice.synthesise(&marked, VoiceSettings::default()), Err(VoiceError::TooLong { .. })));
}

#[test]
fn a_killed_process_is_restarted() {
    let mut voice = real();
    assert_eq!(voice.process(), None);
    let first = say(&mut voice, "Hello.");
    let process = voice.process().expect("a process");
    let killed = Command::new("kill").args(["-9", &process.to_string()]).status().expect("kill");
    assert!(killed.success());
    assert_eq!(say(&mut voice, "Hello.").samples.len(), first.samples.len());
    assert_ne!(voice.process(), Some(process));
    // a success resets the count
    assert_eq!(voice.failures, 0);
}

/// The process runs `lines` the first time, and works from the second time on.
fn recovers_from(lines: &str) {
    fetch();
    let folder = tempfile::tempdir().expect("a folder");
    let flag = folder.path().join("flag");
    let flag = flag.display();
    let command = shell(&format!("if [ -e {flag} ]; then serve; fi; : >{flag}; {lines}"));
    let mut voice = Espeak::new(command).with_times(LONG, LONG);
    assert!(!say(&mut voice, "Hello.").samples.is_empty(), "{lines}");
}

#[test]
fn a_single_failure_is_recovered() {
    recovers_from("exit 3");
    recovers_from("head -c 8 >/dev/null; printf 'SAID\\001'; kill -9 $$");
    recovers_from("head -c 8 >/dev/null; echo Segmentation fault");
    // an answer to another request, one that lacks samples, one with a mark that was not asked for
    recovers_from("printf 'SAID\\011\\0\\0\\0\\001\\0\\0'; exec cat >/dev/null");
    recovers_from("printf 'SAID\\001\\0\\0\\0\\0\\042\\126\\0\\0\\377\\0\\0\\0'");
    recovers_from(
        "printf 'SAID\\001\\0\\0\\0\\0\\042\\126\\0\\0\\0\\0\\0\\0\\001\\0\\0\\0\\0\\0\\0\\007\\0'; exec cat >/dev/null",
    );
}

#[test]
fn a_hanging_process_is_restarted() {
    fetch();
    let folder = tempfile::tempdir().expect("a folder");
    let flag = folder.path().join("flag");
    let command = shell(&format!("if [ -e {} ]; then serve; fi; exec sleep 1000", flag.display()));
    // a short deadline while it hangs, a long one once it works
    let mut voice = Espeak::new(command).with_times(Duration::from_millis(20), LONG);
    let error = voice.synthesise(&phrase("Hello."), VoiceSettings::default()).expect_err("it hangs");
    assert!(matches!(&error, VoiceError::Failing { reason } if reason.contains("no answer")), "{error}");
    fs::write(flag, "").expect("a file");
    voice.deadline = LONG;
    assert!(!say(&mut voice, "Hello.").samples.is_empty());
}

#[test]
fn a_process_that_always_fails_is_suspended() {
    let hangs = shell("exec sleep 1000");
    let dies = shell("exit 1");
    let missing = vec![OsString::from("/nowhere/at/all")];
    for command in [hangs, dies, missing, Vec::new()] {
        let mut voice = Espeak::new(command).with_times(Duration::from_millis(20), LONG);
        let mut say = || voice.synthesise(&phrase("Hello."), VoiceSettings::default()).expect_err("it fails");
        for _ in 0..MAX_FAILURES / ATTEMPTS {
            assert!(matches!(say(), VoiceError::Failing { .. }));
        }
        assert!(matches!(say(), VoiceError::Suspended { failures: MAX_FAILURES }));
        voice.suspension = Duration::ZERO;
        voice.suspended_until = Some(now());
        let again = voice.synthesise(&phrase("Hello."), VoiceSettings::default());
        assert!(matches!(again, Err(VoiceError::Failing { .. })), "it is restarted");
        assert_eq!(voice.process(), None);
    }
}

#[test]
fn a_missing_library_is_reported() {
    let mut voice = Espeak::new(shell("export SPEECH_TEST_LIBRARY=/nowhere/libespeak-ng.so.1; serve"));
    voice.deadline = LONG;
    let error = voice.synthesise(&phrase("Hello."), VoiceSettings::default()).expect_err("no library");
    assert!(matches!(&error, VoiceError::Refused { reason } if reason.contains("/nowhere/libespeak")), "{error}");
}

#[test]
fn dropping_the_voice_kills_the_process() {
    let mut voice = real();
    say(&mut voice, "Hello.");
    let process = voice.process().expect("a process").to_string();
    let is_there =
        || Command::new("kill").args(["-0", &process]).stderr(Stdio::null()).status().expect("kill").success();
    assert!(is_there());
    drop(voice);
    // neither running nor a zombie
    assert!(!is_there());
}
