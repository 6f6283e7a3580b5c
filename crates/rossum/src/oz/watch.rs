//! `rossum oz watch`: prints the robot's events.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use client::oz::{Event, Face, Oz};
use serde_json::{Value, json};

use super::names;

/// Interval of the image statistics.
const COUNTING: Duration = Duration::from_secs(1);

/// Options of `rossum oz watch`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Times are in seconds since the start of the command. The number of images is printed every second."
)]
pub(crate) struct WatchOptions {
    /// Stop after this time
    #[arg(long = "for", value_name = "SECONDS", value_parser = super::seconds)]
    length: Option<Duration>,
    /// Stop after this number of events, not counting images
    #[arg(long, value_name = "N")]
    events: Option<u64>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Images since the last statistics.
struct Pictures {
    since: Instant,
    count: u64,
    bytes: usize,
}

pub(super) fn run(mut robot: Oz, options: &WatchOptions, out: &mut dyn Write) -> anyhow::Result<()> {
    let began = now();
    let end = options.length.map(|length| began + length);
    let mut pictures = Pictures { since: began, count: 0, bytes: 0 };
    let mut events = 0;
    let mut say = |at: Instant, (words, facts): (String, Value)| -> anyhow::Result<()> {
        let time = at.duration_since(began).as_secs_f64();
        match options.json {
            true => writeln!(out, "{}", with_time(time, facts))?,
            false => writeln!(out, "{time:9.3}  {words}")?,
        }
        Ok(out.flush()?)
    };
    while options.events.is_none_or(|wanted| events < wanted) {
        let told = pictures.since + COUNTING;
        let wake = end.map_or(told, |end| end.min(told));
        let left = wake.saturating_duration_since(now());
        let event = if left.is_zero() { None } else { robot.next(left)? };
        let at = now();
        match event {
            Some(Event::VideoFrame(picture)) => {
                pictures.count += 1;
                pictures.bytes += picture.as_bytes().len();
            }
            // what this program itself has done
            None | Some(Event::Connected | Event::SpeakStart | Event::GestureStart(_)) => {}
            Some(event) => {
                events += 1;
                say(at, describe(&event))?;
            }
        }
        if at >= told {
            if pictures.count > 0 {
                say(at, describe_pictures(pictures.count, pictures.bytes, at.duration_since(pictures.since)))?;
            }
            pictures = Pictures { since: at, count: 0, bytes: 0 };
        }
        if end.is_some_and(|end| at >= end) {
            break;
        }
    }
    robot.disconnect();
    Ok(())
}

fn with_time(time: f64, mut facts: Value) -> Value {
    if let Some(facts) = facts.as_object_mut() {
        // rounded to microseconds
        facts.insert("time".to_owned(), json!((time * 1e6).round() / 1e6));
    }
    facts
}

/// The event as text and as JSON.
fn describe(event: &Event) -> (String, Value) {
    match event {
        Event::Connected => ("connected".to_owned(), json!({ "event": "connected" })),
        Event::SpeakStart => ("speak start".to_owned(), json!({ "event": "speak_start" })),
        Event::GestureStart(gesture) => {
            let tag = names::tag_of(*gesture);
            (format!("gesture start {tag}"), json!({ "event": "gesture_start", "gesture": gesture, "tag": tag }))
        }
        Event::SpeakDone => ("speak done".to_owned(), json!({ "event": "speak_done" })),
        Event::GestureDone => ("gesture done".to_owned(), json!({ "event": "gesture_done" })),
        Event::SpeakGesture(gesture) => {
            let tag = names::tag_of(*gesture);
            (format!("speak gesture {tag}"), json!({ "event": "speak_gesture", "gesture": gesture, "tag": tag }))
        }
        Event::Utterance(heard) => {
            let words =
                heard.options().iter().map(|option| format!("{:?} ({:.2})", option.text.as_str(), option.confidence));
            let options = heard.options().iter();
            let options: Vec<_> = options
                .map(|option| json!({ "text": option.text.as_str(), "confidence": option.confidence }))
                .collect();
            (
                format!("utterance {}", words.collect::<Vec<_>>().join(", or ")),
                json!({ "event": "utterance", "options": options }),
            )
        }
        Event::Faces(faces) if faces.as_slice().is_empty() => {
            ("faces: none".to_owned(), json!({ "event": "faces", "faces": [] }))
        }
        Event::Faces(faces) => {
            let words: Vec<_> = faces.as_slice().iter().map(face_as_text).collect();
            let faces: Vec<_> = faces.as_slice().iter().map(face_as_json).collect();
            (format!("faces: {}", words.join(", ")), json!({ "event": "faces", "faces": faces }))
        }
        Event::VideoFrame(picture) => {
            let bytes = picture.as_bytes().len();
            (format!("image of {bytes} bytes"), json!({ "event": "video_frame", "bytes": bytes }))
        }
    }
}

fn face_as_text(face: &Face) -> String {
    let Face { confidence, x, y, width, height, name } = face;
    let name = if name.as_str().is_empty() { "unknown" } else { name.as_str() };
    format!("{} ({confidence:.2}) at {x:+.2} {y:+.2}, {width:.2} x {height:.2}", name.escape_debug())
}

fn face_as_json(face: &Face) -> Value {
    let Face { confidence, x, y, width, height, name } = face;
    json!({ "name": name.as_str(), "confidence": confidence, "x": x, "y": y, "width": width, "height": height })
}

fn describe_pictures(count: u64, bytes: usize, time: Duration) -> (String, Value) {
    let rate = count as f64 / time.as_secs_f64().max(1e-3);
    let each = bytes / usize::try_from(count).unwrap_or(usize::MAX).max(1);
    (
        format!("{rate:.1} images/s, {each} bytes each"),
        json!({ "event": "video_frames", "count": count, "bytes": bytes }),
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "events are printed with wall-clock times, and waited for with a timeout"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use client::oz::{Faces, Hypothesis, Text, Utterance};

    use super::*;

    #[test]
    fn events_are_printed_as_text_and_json() {
        let text = |text: &str| Text::new(text).unwrap();
        let face = Face { confidence: 0.9, x: 0.5, y: -0.25, width: 0.1, height: 0.2, name: text("Ada\u{1b}") };
        let heard = Utterance::new([Hypothesis { confidence: 0.5, text: text("a \"b\"\n") }]).unwrap();
        for (event, words, facts) in [
            (Event::SpeakDone, "speak done", r#"{"event":"speak_done"}"#),
            (Event::SpeakGesture(5), "speak gesture yess", r#"{"event":"speak_gesture","gesture":5,"tag":"yess"}"#),
            (
                Event::Utterance(heard),
                r#"utterance "a \"b\"\n" (0.50)"#,
                r#"{"event":"utterance","options":[{"confidence":0.5,"text":"a \"b\"\n"}]}"#,
            ),
            (Event::Faces(Faces::default()), "faces: none", r#"{"event":"faces","faces":[]}"#),
        ] {
            let (said, json) = describe(&event);
            assert_eq!((said.as_str(), json.to_string().as_str()), (words, facts));
        }
        let (said, _) = describe(&Event::Faces(Faces::new([face])));
        assert_eq!(said, r"faces: Ada\u{1b} (0.90) at +0.50 -0.25, 0.10 x 0.20", "control characters are escaped");
        assert_eq!(with_time(0.25, json!({ "event": "x" })).to_string(), r#"{"event":"x","time":0.25}"#);
        assert_eq!(describe_pictures(30, 3000, Duration::from_secs(1)).0, "30.0 images/s, 100 bytes each");
    }
}
