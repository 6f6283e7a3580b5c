//! The helper as a process, with the real engine, which `scripts/fetch-puppet voice` puts into the user's cache.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use espeak::frame::{Answer, EventKind, Mark, NO_REQUEST, Request, Speech};

/// The folder with the library and its data.
fn voice() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-puppet");
    let output = Command::new(script).arg("voice").output().expect("the script can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the voice could not be fetched:\n{said}");
    Path::new(String::from_utf8(output.stdout).expect("a path").trim_end()).join("espeakng_loader")
}

fn library() -> PathBuf {
    voice().join(if cfg!(target_os = "macos") { "libespeak-ng.1.dylib" } else { "libespeak-ng.so.1" })
}

/// What a helper answers to these bytes, and whether it ended well.
fn answers(library: &Path, data: &Path, input: &[u8]) -> (Vec<Answer>, bool) {
    let mut helper = Command::new(env!("CARGO_BIN_EXE_espeak-helper"))
        .args([library, data])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the helper starts");
    let mut pipe = helper.stdin.take().expect("a pipe");
    // whoever cannot start reads nothing
    let _ = pipe.write_all(input);
    drop(pipe);
    let output = helper.wait_with_output().expect("the helper ends");
    let mut rest = &*output.stdout;
    let answers = std::iter::from_fn(|| Answer::read(&mut rest).expect("an answer")).collect();
    (answers, output.status.success())
}

fn say(requests: &[Request]) -> Vec<Answer> {
    let mut input = Vec::new();
    for request in requests {
        request.write(&mut input).expect("a request");
    }
    let (answers, is_well) = answers(&library(), &voice().join("espeak-ng-data"), &input);
    assert!(is_well);
    answers
}

fn request(id: u32, text: &str, marks: &[u32]) -> Request {
    let marks = marks.iter().map(|&at| Mark { at }).collect();
    Request { id, pitch: 1.0, volume: 1.0, voice: "en-us".into(), text: text.into(), marks }
}

fn speech(answer: &Answer) -> &Speech {
    answer.outcome.as_ref().expect("speech")
}

fn marks(speech: &Speech) -> Vec<(u16, u32)> {
    let mark = |event: &espeak::frame::Event| match event.kind {
        EventKind::Mark(index) => Some((index, event.milliseconds)),
        EventKind::Phoneme(_) => None,
    };
    speech.events.iter().filter_map(mark).collect()
}

fn phonemes(speech: &Speech) -> String {
    let phoneme = |event: &espeak::frame::Event| match &event.kind {
        EventKind::Phoneme(name) => Some(name.clone()),
        EventKind::Mark(_) => None,
    };
    speech.events.iter().filter_map(phoneme).collect()
}

#[test]
fn phrases_are_spoken_with_their_marks() {
    let text = "Nope. I think you are right, and we should go now.";
    let at = [0, 0, 14, 33];
    let answers = say(&[request(1, text, &at), request(2, "Nope.", &[5]), request(3, "", &[0])]);
    assert_eq!(answers.iter().map(|answer| answer.id).collect::<Vec<_>>(), [1, 2, 3]);

    let long = speech(&answers[0]);
    let seconds = long.samples.len() as f32 / long.rate as f32;
    assert!((2.5..5.0).contains(&seconds), "{seconds} s");
    assert!(long.samples.iter().any(|sample| sample.unsigned_abs() > 3_000), "there is sound");
    let marks = marks(long);
    assert_eq!(marks.iter().map(|mark| mark.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!((marks[0].1, marks[1].1), (0, 0));
    assert!(0 < marks[2].1 && marks[2].1 < marks[3].1 && (marks[3].1 as f32) < 1e3 * seconds, "{marks:?}");
    assert!(phonemes(long).contains("θ"), "{}", phonemes(long));

    let short = speech(&answers[1]);
    assert!(short.samples.len() < long.samples.len() / 2);
}

#[test]
fn marks_do_not_change_the_speech_and_none_is_lost() {
    // behind full stops, within words, before punctuation, in numbers, at both ends
    let text = "One. Two, no-one! It costs $1,234.56. Dr. Élan said: 10:30?";
    let everywhere: Vec<u32> = (0..=text.len() as u32).collect();
    let answers = say(&[request(1, text, &[]), request(2, text, &everywhere)]);
    let (plain, marked) = (speech(&answers[0]), speech(&answers[1]));
    assert_eq!(phonemes(plain), phonemes(marked));
    let times = marks(marked);
    assert_eq!(times.len(), everywhere.len());
    assert!(times.is_sorted_by_key(|&(_, time)| time), "{times:?}");
    let at = |word: &str| times[text.find(word).expect("a word")].1;
    let words = ["One", "Two", "no-one", "It", "costs", "$", "Dr", "Élan", "said", "10"];
    assert!(words.is_sorted_by(|one, other| at(one) < at(other)), "{times:?}");
}

#[test]
fn manner_and_voice_count() {
    let text = "One two three.";
    let manner = |id, pitch, volume| Request { pitch, volume, ..request(id, text, &[]) };
    let unknown = |id, voice: &str| Request { voice: voice.into(), ..request(id, text, &[]) };
    let answers = say(&[
        manner(1, 1.0, 1.0),
        manner(2, 2.0, 1.0),
        manner(3, 1.0, 0.0),
        unknown(4, "klingon-of-the-north"),
        unknown(5, "../../x"),
        manner(6, 1.0, 1.0),
    ]);
    let crossings = |speech: &Speech| speech.samples.windows(2).filter(|two| (two[0] < 0) != (two[1] < 0)).count();
    assert!(crossings(speech(&answers[1])) > crossings(speech(&answers[0])));
    assert!(speech(&answers[2]).samples.iter().all(|&sample| sample == 0));
    assert!(answers[3].outcome.as_ref().is_err_and(|reason| reason.contains("klingon")), "{:?}", answers[3].id);
    assert!(answers[4].outcome.is_err());
    assert!(answers[5].outcome.is_ok());
}

#[test]
fn any_text_is_survived() {
    let symbols = "😀漢字∑\u{e000}\u{200b}\u{fffd}".repeat(80);
    let texts = [
        "1 < 2 & \"3\" > 2; </speak><mark name=\"0\"/>",
        "\u{0}\u{1}\u{2}\u{7f}",
        "....!!!???---",
        &"a".repeat(8_000),
        &"9".repeat(8_000),
        &symbols,
        "[[h@'loU]]",
        "&amp; &#0; <audio src=\"/etc/passwd\"/>",
        "still here",
    ];
    let requests: Vec<_> =
        texts.iter().enumerate().map(|(index, text)| request(index as u32 + 1, text, &[0])).collect();
    let answers = say(&requests);
    assert_eq!(answers.len(), texts.len());
    let longest = answers.iter().map(|answer| speech(answer).samples.len()).max();
    assert_eq!(longest, Some(22_050 * espeak::frame::MAX_SECONDS as usize), "what takes longer is cut off");
    assert!(!speech(answers.last().expect("an answer")).samples.is_empty());
}

#[test]
fn without_library_or_data_the_reason_is_the_answer() {
    let nowhere = Path::new("/nowhere/at/all");
    for (library, data) in [(nowhere.to_owned(), nowhere.to_owned()), (library(), nowhere.to_owned())] {
        let (answers, is_well) = answers(&library, &data, b"");
        assert!(!is_well);
        let [Answer { id: NO_REQUEST, outcome: Err(reason) }] = &*answers else { panic!("{answers:?}") };
        assert!(reason.contains("nowhere"), "{reason}");
    }
}

#[test]
fn garbage_ends_the_helper() {
    let data = voice().join("espeak-ng-data");
    assert_eq!(answers(&library(), &data, b"hello there"), (Vec::new(), false));
    assert_eq!(answers(&library(), &data, b""), (Vec::new(), true));
}
