use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

fn portrait(words: &str) -> Image {
    portrait_of_size(48, words)
}

fn portrait_of_size(side: usize, words: &str) -> Image {
    let size = format!("{side}x{side}");
    let line = Line::parse_from(["portrait", "--size", &size, "a.png"].into_iter().chain(words.split_whitespace()));
    let studio = Studio::open(&line.options).unwrap();
    studio.portrait(&Scene::from_options(&line.options, &studio).unwrap()).unwrap()
}

#[test]
fn whatever_the_robot_does_can_be_seen() {
    let plain = portrait("");
    for words in [
        "--expression happy",
        "--gesture nol",
        "--look up",
        "--say Oh!",
        "--servo jaw=1 --servo eyelids=0",
        "--view body",
        "--view three-quarters",
    ] {
        assert_ne!(portrait(words), plain, "{words}");
    }
    assert_eq!(portrait("--gesture nol --at 0"), plain);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    for text in ["neck_yaw", "tail=0.5", "neck_yaw=2", "neck_yaw=NaN", "neck_yaw="] {
        assert!(parse_servo(text).is_err(), "{text}");
    }
    assert_eq!(parse_servo("neck_yaw=0.7"), Ok((21, 0.7)));
    for text in ["480", "0x480", "480x", "480x9999", "-1x1"] {
        assert!(parse_size(text).is_err(), "{text}");
    }
    assert_eq!(parse_size("64x48"), Ok((64, 48)));
    let line = Line::parse_from(["portrait", "a.png", "--gesture", "dance"]);
    let studio = Studio::open(&line.options).unwrap();
    assert!(Scene::from_options(&line.options, &studio).is_err());
}

/// Side of the images in which details of the face are measured.
const LARGE: usize = 400;

/// Whether green is this part of red, and blue less than half of it: what tells hair, brows and lips apart in any light.
fn has_tint([red, green, blue]: [u8; 3], part: std::ops::Range<f32>) -> bool {
    part.contains(&(f32::from(green) / f32::from(red).max(1.0))) && blue < red / 2
}

fn is_upper_lip([red, green, blue]: [u8; 3]) -> bool {
    red > 90 && (0.3..0.45).contains(&(f32::from(green) / f32::from(red))) && blue > green / 2
}

fn is_brow(pixel: [u8; 3]) -> bool {
    pixel[0] < 125 && has_tint(pixel, 0.5..0.63)
}

fn is_hair(pixel: [u8; 3]) -> bool {
    has_tint(pixel, 0.64..0.71)
}

/// The pixels of an image, in columns from top to bottom.
fn columns(image: &Image) -> impl Iterator<Item = Vec<[u8; 3]>> {
    (0..image.width).map(|x| (0..image.height).map(|y| image.pixel(x, y).unwrap()).collect())
}

/// Height of the middle of the upper lip above its lowest end, at steps of 1/8 from its right end to its left one, in
/// parts of its width.
fn upper_lip(words: &str) -> [f32; 9] {
    let image = portrait_of_size(LARGE, words);
    // below the nose and above the bow of the dress
    let rows = LARGE / 2..LARGE * 4 / 5;
    let middle = |(x, column): (usize, Vec<[u8; 3]>)| {
        let lip: Vec<usize> = rows.clone().filter(|&y| is_upper_lip(column[y])).collect();
        (!lip.is_empty()).then(|| (x as f32, lip.iter().sum::<usize>() as f32 / lip.len() as f32))
    };
    let lip: Vec<(f32, f32)> = columns(&image).enumerate().filter_map(middle).collect();
    let width = lip[lip.len() - 1].0 - lip[0].0;
    assert!((0.15..0.35).contains(&(width / LARGE as f32)), "{words}: a mouth of {width} pixels");
    // the caps at the ends are round
    let inside = &lip[4..lip.len() - 4];
    std::array::from_fn(|step| {
        let at = step * (inside.len() - 1) / 8;
        let around = &inside[at.saturating_sub(2)..(at + 3).min(inside.len())];
        (LARGE as f32 - around.iter().map(|(_, y)| y).sum::<f32>() / around.len() as f32) / width
    })
}

/// Number of pixels that look different.
fn difference(a: &Image, b: &Image) -> usize {
    let differs = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > 40);
    a.rgb.chunks_exact(3).zip(b.rgb.chunks_exact(3)).filter(|&pair| differs(pair)).count()
}

#[test]
fn expressions_differ_at_200_pixels() {
    let portraits = EXPRESSIONS.map(|name| (name, portrait_of_size(200, &format!("--expression {name}"))));
    for (index, (name, image)) in portraits.iter().enumerate() {
        for (other_name, other) in &portraits[..index] {
            let pixels = difference(image, other);
            assert!(pixels > 400, "{name} and {other_name} differ in {pixels} pixels");
        }
    }
}

#[test]
fn the_mouth_is_a_curve() {
    for (expression, rises) in [
        ("neutral", 0.0..0.06),
        ("happy", 0.1..0.2),
        ("evil", 0.1..0.2),
        ("sad", -0.12..-0.05),
        ("afraid", -0.12..-0.04),
    ] {
        let lip = upper_lip(&format!("--expression {expression}"));
        let rise = (lip[0] + lip[8]) / 2.0 - lip[4];
        assert!(rises.contains(&rise), "{expression}: the corners of the mouth are up by {rise}");
        assert!((0..4).all(|at| (lip[at] - lip[8 - at]).abs() < 0.02), "{expression} is not symmetrical: {lip:?}");
        // two straight sticks would bend in the middle alone; an open mouth hides the edge of the lip
        if matches!(expression, "happy" | "evil" | "sad") {
            let bends: Vec<f32> = (1..8).map(|at| lip[at - 1] + lip[at + 1] - 2.0 * lip[at]).collect();
            let sharpest = bends.iter().fold(0.0f32, |most, bend| most.max(bend.abs()));
            assert!(sharpest < 0.4 * bends.iter().sum::<f32>().abs(), "{expression} has an edge: {bends:?}");
        }
    }
}

#[test]
fn the_chin_has_no_seam() {
    let is_skin =
        |[red, green, blue]: [u8; 3]| (0.76..0.9).contains(&(f32::from(green) / f32::from(red))) && blue < green;
    for expression in ["neutral", "happy", "sad", "evil"] {
        let image = portrait_of_size(LARGE, &format!("--expression {expression}"));
        let at = |x: usize, y: usize| image.pixel(x, y).unwrap();
        let mut checked = 0;
        // from the corners of the mouth to the chin, away from the lips and the outline
        for (x, y) in
            (LARGE * 32 / 100..LARGE * 68 / 100).flat_map(|x| (LARGE * 65 / 100..LARGE * 75 / 100).map(move |y| (x, y)))
        {
            if !(x - 4..=x + 4).all(|x| (y - 4..=y + 4).all(|y| is_skin(at(x, y)))) {
                continue;
            }
            checked += 1;
            for (before, after) in [(at(x - 2, y), at(x + 2, y)), (at(x, y - 2), at(x, y + 2))] {
                let edge = i32::from(before[0]) + i32::from(after[0]) - 2 * i32::from(at(x, y)[0]);
                assert!(edge.abs() < 25, "{expression}: an edge of {edge} at {x}, {y}");
            }
        }
        assert!(checked > 2000, "{expression}: only {checked} pixels of skin");
    }
}

#[test]
fn raised_brows_stay_below_the_hair() {
    for words in ["--servo brows=1", "--expression afraid", "--expression afraid --gesture braisel"] {
        let image = portrait_of_size(LARGE, words);
        let mut seen = 0;
        for (x, column) in columns(&image).enumerate() {
            let Some(top) = column.iter().position(|&pixel| is_brow(pixel)) else { continue };
            seen += 1;
            let above = &column[top - 4..top - 2];
            assert!(!above.iter().any(|&pixel| is_hair(pixel)), "{words}: hair above a brow in column {x}");
        }
        assert!(seen > LARGE / 6, "{words}: {seen} columns with brows");
    }
}

#[test]
fn the_face_is_what_its_script_computes() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/alice-face");
    let output = std::process::Command::new("python3").args([script, "--check"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
