//! `rossum bench oz`: latencies of the Oz robot's speech, motion, vision and hearing.
//!
//! The server runs in this process with all features and an operator over TCP, so that both share a clock. Face
//! detection and speech recognition are also measured separately.

mod rig;

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use clap::Args;
use puppet::{
    camera::Image,
    faces::{Names, Watcher},
    fetched_folder,
    hearing::{RATE, Recogniser, Segmenter, hashed_words, wav, word_errors},
};

use self::rig::Rig;
use super::{Figure, Goal, cpu_time, median, now, print};
use crate::interrupt;

/// The text of `beckett.wav`, which is under copyright, hashed with [`hashed_words`].
const BECKETT: &str = "\
    f6dc9f15 b56d5fdf f6dc9f15 e0accfb4 62366ffa 89d95a28 \
    ac1db00e b33fe54f 1e53876d b33fe54f 1e53876d 3a4a268f";

/// The text of `two_cities.wav`, which is in the public domain.
const TWO_CITIES: &str = "\
    It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, it \
    was the epoch of belief, it was the epoch of incredulity, it was the season of light, it was the season of \
    darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing \
    before us, we were all going direct to heaven, we were all going direct the other way, in short, the period was \
    so far like the present period that some of its noisiest authorities insisted on its being received, for good \
    or for evil, in the superlative degree of comparison only.";

/// Options of `rossum bench oz`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directory of the recordings, as printed by `scripts/fetch-puppet recordings`
    #[arg(long, value_name = "FOLDER")]
    recordings: Option<PathBuf>,
    /// Fewer and shorter rounds, for a quick check
    #[arg(long)]
    quick: bool,
    /// Print one JSON object per figure
    #[arg(long)]
    json: bool,
}

pub(super) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let recordings = options.recordings.clone().or_else(|| fetched_folder("recordings")).unwrap_or_default();
    let mut figures = together(options).context("while measuring all features together")?;
    figures.extend(faces().context("while detecting faces")?);
    figures.extend(recognition(&recordings).context("while recognising the recordings")?);
    print(&figures, options.json, out)
}

/// Speech, motion, mixer and video, with all features running at once.
fn together(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let (rounds, seconds) = if options.quick { (5, 5) } else { (20, 30) };
    let mut rig = Rig::start(&face_picture()?)?;
    let (audio, motion) = rig.speak(rounds)?;
    let stats = rig.watch(Duration::from_secs(seconds))?;
    rig.end()?;
    let largest = |values: &[f64]| values.iter().copied().fold(f64::MIN, f64::max);
    let detail = format!("median {:.1} ms; largest of {rounds}", median(audio.clone()));
    let first_audio =
        Figure { what: "SPEAK to first audio", detail, value: largest(&audio), goal: Goal::AtMost(30.0), unit: "ms" };
    let detail = format!("median {:.1} ms after its word; largest absolute value of {rounds}", median(motion.clone()));
    let motion: Vec<f64> = motion.iter().map(|ms| ms.abs()).collect();
    let tag = Figure { what: "tag to motion", detail, value: largest(&motion), goal: Goal::AtMost(20.0), unit: "ms" };
    Ok([first_audio, tag].into_iter().chain(stats.figures()).collect())
}

fn face_picture() -> anyhow::Result<PathBuf> {
    let picture = fetched_folder("faces").unwrap_or_default().join("skimage/data/astronaut.png");
    anyhow::ensure!(picture.is_file(), "{} not found; run scripts/fetch-puppet faces", picture.display());
    Ok(picture)
}

/// Detection and tracking of faces in a sequence of pictures.
fn faces() -> anyhow::Result<Vec<Figure>> {
    let picture = Image::read(&fs::read(face_picture()?)?)?;
    let mut watcher = Watcher::load(&fetched_folder("faces").unwrap_or_default(), Names::new())?;
    let (mut times, mut found) = (Vec::new(), 0);
    for round in 0..60 {
        // a face moving across the picture
        let mut frame = Image::new(640, 480);
        paste(&mut frame, &picture.resized(256, 256), 20 + 6 * round, 100);
        let began = cpu_time();
        found += usize::from(!watcher.process(&frame, 1.0 / 30.0).is_empty());
        times.push((cpu_time() - began).as_secs_f64() * 1e3);
    }
    let detail = format!("CPU time, median of 60 pictures of 640x480, including recognition; faces found in {found}");
    Ok(vec![Figure { what: "faces in a picture", detail, value: median(times), goal: Goal::AtMost(15.0), unit: "ms" }])
}

fn paste(frame: &mut Image, picture: &Image, left: usize, top: usize) {
    for y in 0..picture.height {
        for x in 0..picture.width {
            let place = 3 * ((top + y) * frame.width + left + x);
            if let (Some(from), Some(to)) = (picture.pixel(x, y), frame.rgb.get_mut(place..place + 3)) {
                to.copy_from_slice(&from);
            }
        }
    }
}

/// Recordings of people, segmented and recognised as by the server.
fn recognition(folder: &Path) -> anyhow::Result<Vec<Figure>> {
    let recogniser = Recogniser::load(&fetched_folder("hearing").unwrap_or_default())?;
    let (mut took, mut length, mut errors, mut words) = (0.0, 0.0, 0, 0);
    let recordings = [("beckett.wav", BECKETT.to_owned()), ("two_cities.wav", hashed_words(TWO_CITIES))];
    for (name, text) in &recordings {
        let path = folder.join("moonshine_voice/assets").join(name);
        let bytes =
            fs::read(&path).with_context(|| format!("{}; run scripts/fetch-puppet recordings", path.display()))?;
        let samples = wav::read(&bytes)?.resampled();
        let began = now();
        let mut segmenter = Segmenter::new();
        let mut utterances = segmenter.push(&samples);
        utterances.extend(segmenter.finish());
        let mut heard = String::new();
        for utterance in utterances {
            if let Some(best) = recogniser.recognise(&utterance.samples)?.first() {
                heard.push_str(&best.text);
                heard.push(' ');
            }
        }
        took += now().duration_since(began).as_secs_f64();
        length += samples.len() as f64 / f64::from(RATE);
        let (wrong, of) = word_errors(text, &hashed_words(&heard));
        (errors, words) = (errors + wrong, words + of);
    }
    let detail = format!("{took:.1} s for {length:.0} s of speech, on one thread");
    let speed =
        Figure { what: "recognition", detail, value: took / length, goal: Goal::AtMost(0.15), unit: "x real time" };
    let detail = format!("{errors} of {words} words in {} recordings", recordings.len());
    let value = 100.0 * errors as f64 / words.max(1) as f64;
    Ok(vec![speed, Figure { what: "word error", detail, value, goal: Goal::AtMost(10.0), unit: "%" }])
}
