//! The eyes: pictures of what the robot sees for the operators, and the faces in them for the puppet.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};

use physics::Pose;
use puppet::{
    camera::{Billboard, Camera, CameraSource, Feed, Image, Renderer},
    faces::{Names, Watcher},
    puppet::Order,
};
use wire::oz::Jpeg;
use world::Snapshot;

use super::{Line, note, reel::Reel, thread};
use crate::{
    driver::{now, rest_until},
    health::Health,
    processor,
    serve::ServeError,
    session::{
        Beside,
        oz::{Config, Naming, PersonConfig, Stage},
    },
    sim_thread::{SimHandle, Ticks},
};

const PART: &str = "camera";
const FACES: &str = "faces";
/// Size of the pictures, in pixels.
const SIZE: (usize, usize) = (640, 480);
/// Angle from the lower to the upper edge of the simulated camera's pictures, in degrees.
const VERTICAL_FOV_DEG: f64 = 48.0;
/// Pictures a second, at least and at most.
const FRAMES: (f64, f64) = (0.1, 120.0);
/// People in the scene, at most.
const MAX_PEOPLE: usize = 64;
/// After a camera has failed, it is tried again after this time.
const RETRY: Duration = Duration::from_secs(3);
/// How often it is looked whether the world has ended.
const GLANCE: Duration = Duration::from_millis(50);
/// The site on the robot where the camera is.
const EYE: &str = "eye";
/// The part of the robot that the camera does not see, because it is inside.
const HEAD: &str = "head";

/// Whether a configuration makes sense.
pub(super) fn check(config: &Config) -> Result<(), String> {
    let (least, most) = FRAMES;
    if !(least..=most).contains(&config.frames) {
        return Err(format!("frames is {}, and must be {least} to {most}", config.frames));
    }
    if !(1..=100).contains(&config.quality) {
        return Err(format!("quality is {}, and must be 1 to 100", config.quality));
    }
    if config.people.len() > MAX_PEOPLE {
        return Err(format!("{} people, and there can be {MAX_PEOPLE}", config.people.len()));
    }
    config.people.iter().try_for_each(|person| Person::read(person).map(|_| ()))
}

pub(super) fn start(
    config: &Config,
    stage: &Arc<Stage>,
    sim: &SimHandle,
    health: &Health,
) -> Result<Vec<Beside>, ServeError> {
    let wrong = |reason| ServeError::Protocol { protocol: "oz", reason };
    let source = config.camera.clone();
    if source == CameraSource::None {
        note(health, PART, true, "none, as configured");
        return Ok(Vec::new());
    }
    let people = config.people.iter().map(Person::read).collect::<Result<_, _>>().map_err(wrong)?;
    health.note(PART, true, "resting until somebody looks");
    health.note(FACES, true, "resting until there are pictures");
    let line = Line::open(FACES, sim, Ticks::Never)?;
    let (pictures, to_watch) = sync_channel(1);
    let eyes = Eyes {
        source,
        robot: config.robot.clone(),
        people,
        period: Duration::from_secs_f64(1.0 / config.frames),
        quality: config.quality,
        stage: Arc::clone(stage),
        sim: sim.clone(),
        health: health.clone(),
        pictures,
    };
    let names = config.names.clone();
    let (watching, seen_by) = (health.clone(), sim.clone());
    let naming = Arc::clone(stage);
    let faces = move || watch_faces(&to_watch, names.as_deref(), line, &naming, &seen_by, &watching);
    Ok(vec![thread("oz-eyes", move || eyes.run())?, thread("oz-faces", faces)?])
}

/// Somebody in the scene.
struct Person {
    config: PersonConfig,
    picture: Arc<Image>,
}

impl Person {
    fn read(config: &PersonConfig) -> Result<Self, String> {
        let numbers = config.position.iter().chain(config.to.iter().flatten()).chain([&config.width, &config.seconds]);
        if !numbers.copied().all(f64::is_finite) || config.width <= 0.0 || config.seconds <= 0.0 {
            return Err("a person's place, width and time are numbers, and the last two above 0".to_owned());
        }
        let picture = Image::open(&config.picture).map_err(|error| format!("a person: {error}"))?;
        Ok(Self { config: config.clone(), picture: Arc::new(picture) })
    }

    /// Where the person is at a time in s.
    fn at(&self, time: f64) -> Billboard {
        let PersonConfig { position, to, seconds, width, .. } = self.config;
        // there and back, as slow at the ends as somebody who turns round
        let part = 0.5 - 0.5 * (time / seconds * std::f64::consts::PI).cos();
        let to = to.unwrap_or(position);
        let position = std::array::from_fn(|axis| position[axis] + (to[axis] - position[axis]) * part);
        Billboard { picture: Arc::clone(&self.picture), position, width_m: width }
    }
}

/// Where pictures come from that are not drawn.
enum Supply {
    Closed,
    Still(Arc<Image>),
    Running(Reel),
}

/// A picture, and what it shows.
struct Picture {
    image: Image,
    /// The tick, if it is one of the simulated camera.
    tick: Option<u64>,
    /// Seconds since the one before was taken.
    dt: f32,
    /// What it spans, in rad.
    span: [f32; 2],
    /// Where the camera pointed, to the left and up in rad, if that is known.
    view: Option<[f32; 2]>,
}

struct Eyes {
    source: CameraSource,
    robot: String,
    people: Vec<Person>,
    period: Duration,
    quality: u8,
    stage: Arc<Stage>,
    sim: SimHandle,
    health: Health,
    pictures: SyncSender<Picture>,
}

impl Eyes {
    /// Until the world ends. While nobody looks on, there are no pictures.
    fn run(self) {
        processor::leave_first();
        let (width, height) = SIZE;
        let mut renderer = Renderer::new(width, height);
        let mut supply = Supply::Closed;
        let (mut due, mut last) = (now(), None);
        while self.rests_until(due) {
            due += self.period;
            // a little late is made up for, so that they keep their rate; more is not
            if due + self.period < now() {
                due = now();
            }
            if !self.stage.has_operators() {
                // a camera that nobody looks through is off
                (supply, last) = (Supply::Closed, None);
                continue;
            }
            let snapshot = self.sim.latest();
            let image = match self.picture(&snapshot, &mut renderer, &mut supply) {
                Ok(Some(image)) => image,
                Ok(None) => continue,
                Err(error) => {
                    supply = Supply::Closed;
                    note(&self.health, PART, false, format!("{error}; trying again"));
                    due = now() + RETRY;
                    continue;
                }
            };
            self.publish(&image, snapshot.tick.0);
            let taken = now();
            let dt = last.map_or(self.period, |last| taken.duration_since(last)).as_secs_f32();
            // only the simulated camera turns with the head
            let view =
                (self.source == CameraSource::Scene).then(|| self.eye(&snapshot).map(|eye| direction(&eye))).flatten();
            let picture = Picture { image, tick: view.map(|_| snapshot.tick.0), dt, span: span(), view };
            // whoever looks for faces is busy with an earlier one, and takes the next
            if self.pictures.try_send(picture).is_ok() {
                last = Some(taken);
            }
        }
    }

    /// Waits until then. False if the world ends before.
    fn rests_until(&self, due: Instant) -> bool {
        while now() < due && !self.sim.has_ended() {
            rest_until(due.min(now() + GLANCE));
        }
        !self.sim.has_ended()
    }

    /// The picture that is due; none if there is no new one yet.
    fn picture(
        &self,
        snapshot: &Snapshot,
        renderer: &mut Renderer,
        supply: &mut Supply,
    ) -> Result<Option<Image>, String> {
        if self.source == CameraSource::Scene {
            let image = self.scene(snapshot, renderer).ok_or("the robot is not in the world")?;
            note(&self.health, PART, true, "the simulated scene");
            return Ok(Some(image));
        }
        if let Supply::Closed = supply {
            *supply = self.open()?;
        }
        let image = match supply {
            Supply::Closed => None,
            Supply::Still(image) => Some(Image::clone(image)),
            Supply::Running(reel) => reel.take()?,
        };
        if image.is_some() {
            note(&self.health, PART, true, "working");
        }
        Ok(image)
    }

    fn open(&self) -> Result<Supply, String> {
        let (width, height) = SIZE;
        let rate = (1.0 / self.period.as_secs_f64()).round().max(1.0) as u32;
        Ok(match self.source.open(width, height, rate).map_err(|error| error.to_string())? {
            None => Supply::Closed,
            Some(Feed::Still(image)) => Supply::Still(image),
            Some(Feed::Video(film)) => {
                Supply::Running(Reel::start(film, width, height).map_err(|error| error.to_string())?)
            }
        })
    }

    /// Where the camera is.
    fn eye(&self, snapshot: &Snapshot) -> Option<Pose> {
        snapshot.site_pose(snapshot.catalogue.site_named(&format!("{}:{EYE}", self.robot))?)
    }

    /// What the robot sees of the world.
    fn scene(&self, snapshot: &Snapshot, renderer: &mut Renderer) -> Option<Image> {
        let camera = Camera { pose: self.eye(snapshot)?, vertical_fov_deg: VERTICAL_FOV_DEG };
        let people: Vec<Billboard> = self.people.iter().map(|person| person.at(snapshot.time)).collect();
        let catalogue = &snapshot.catalogue;
        let head = catalogue.bodies.iter().position(|body| *body == format!("{}:{HEAD}", self.robot));
        let is_inside = |mut body: usize| {
            while let Some(&parent) = catalogue.parents.get(body).filter(|&&parent| parent != body) {
                if Some(body) == head {
                    return true;
                }
                body = parent;
            }
            false
        };
        Some(renderer.render(snapshot, &camera, &people, is_inside).clone())
    }

    fn publish(&self, image: &Image, tick: u64) {
        let jpeg = image.jpeg(self.quality).map_err(|error| error.to_string());
        match jpeg
            .and_then(|jpeg| Jpeg::new(with_comment(jpeg, &format!("tick {tick}"))).map_err(|error| error.to_string()))
        {
            Ok(jpeg) => self.stage.show(jpeg),
            Err(error) => note(&self.health, PART, false, error),
        }
    }
}

/// A JPEG file with a comment, so that a picture says which tick it shows.
fn with_comment(mut jpeg: Vec<u8>, comment: &str) -> Vec<u8> {
    // after the start of the file and its first segment, which says that it is JFIF
    let length = |at: usize| Some(usize::from(u16::from_be_bytes([*jpeg.get(at)?, *jpeg.get(at + 1)?])));
    let place = 4 + length(4).unwrap_or(0);
    let segment = u16::try_from(comment.len() + 2).ok().filter(|_| jpeg.get(2..4) == Some(&[0xFF, 0xE0]));
    if let Some(segment) = segment.filter(|_| place <= jpeg.len()) {
        let [high, low] = segment.to_be_bytes();
        let bytes = [0xFF, 0xFE, high, low].into_iter().chain(comment.bytes());
        jpeg.splice(place..place, bytes);
    }
    jpeg
}

/// Where a camera points, to the left and up, in rad.
fn direction(eye: &Pose) -> [f32; 2] {
    let [x, y, z] = Pose { pos: [0.0; 3], ..*eye }.then(&Pose::at(1.0, 0.0, 0.0)).pos;
    [y.atan2(x) as f32, z.atan2(x.hypot(y)) as f32]
}

/// From one direction to another, the shorter way round.
fn turn(from: [f32; 2], to: [f32; 2]) -> [f32; 2] {
    use std::f32::consts::{PI, TAU};
    [(to[0] - from[0] + PI).rem_euclid(TAU) - PI, to[1] - from[1]]
}

/// What a picture spans, in rad.
fn span() -> [f32; 2] {
    let vertical = VERTICAL_FOV_DEG.to_radians();
    let (width, height) = SIZE;
    let horizontal = 2.0 * ((vertical / 2.0).tan() * width as f64 / height as f64).atan();
    [horizontal as f32, vertical as f32]
}

/// Looks for faces until there are no more pictures.
fn watch_faces(
    pictures: &Receiver<Picture>,
    names: Option<&std::path::Path>,
    mut line: Line,
    stage: &Stage,
    sim: &SimHandle,
    health: &Health,
) {
    processor::leave_first();
    let known = match names.map(Names::load).transpose() {
        Ok(names) => names.unwrap_or_default(),
        Err(error) => {
            note(health, "names of faces", false, error.to_string());
            Names::new()
        }
    };
    stage.note_known(known.iter().map(str::to_owned).collect());
    // with the first picture: until somebody looks on, nothing needs it
    let Ok(first) = pictures.recv() else { return };
    let mut watcher = match Watcher::load(&puppet::fetched_folder(FACES).unwrap_or_default(), known) {
        Ok(watcher) => watcher,
        Err(error) => return note(health, FACES, false, format!("no faces are found: {error}")),
    };
    note(health, FACES, true, "looked for");
    let (mut had_faces, mut last_view) = (false, None);
    for Picture { image, tick, dt, span, view } in std::iter::once(first).chain(pictures) {
        line.read_answers();
        if let (Some(from), Some(to)) = (std::mem::replace(&mut last_view, view), view) {
            watcher.turned(turn(from, to), span);
        }
        let faces = watcher.look(&image, dt);
        for (naming, answer) in stage.take_namings() {
            // whoever asked may be gone
            let _ = answer.send(name(&mut watcher, naming, names));
            stage.note_known(watcher.names().iter().map(str::to_owned).collect());
        }
        let has_faces = !faces.is_empty();
        if (has_faces || had_faces) && !line.tell(Order::See { tick, span, faces }) {
            return;
        }
        had_faces = has_faces;
        if sim.has_ended() {
            return;
        }
    }
}

/// Gives or forgets a name, and keeps that if there is a file for it.
fn name(watcher: &mut Watcher, naming: Naming, file: Option<&std::path::Path>) -> Result<(), String> {
    match naming {
        Naming::Give { face, name } => {
            watcher.enrol(Some(face), &name).map_err(|error| error.to_string())?;
        }
        Naming::Forget { name } => {
            let was_known = watcher.forget(&name);
            was_known.then_some(()).ok_or_else(|| format!("nobody is known as {name}"))?;
        }
    }
    file.map_or(Ok(()), |file| watcher.names().save(file).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_which_tick_it_shows_and_is_still_one() {
        let mut image = Image::new(16, 16);
        image.rgb.fill(200);
        let plain = image.jpeg(50).unwrap();
        let marked = with_comment(plain.clone(), "tick 123");
        assert_eq!(marked.len(), plain.len() + 12);
        assert!(marked.starts_with(&[0xFF, 0xD8, 0xFF, 0xE0]) && marked.windows(8).any(|text| text == b"tick 123"));
        assert_eq!(Image::read(&marked).unwrap(), Image::read(&plain).unwrap());
        for broken in [vec![], vec![0xFF], vec![0xFF, 0xD8, 0xFF, 0xE0, 0xFF, 0xFF], vec![0; 40]] {
            assert_eq!(with_comment(broken.clone(), "tick 1"), broken);
        }
    }

    #[test]
    fn a_camera_points_somewhere_and_turns_the_shorter_way() {
        let left = direction(&Pose::facing(3.0, -2.0, 1.0, 3.0));
        assert!((left[0] - 3.0).abs() < 1e-6 && left[1].abs() < 1e-6, "{left:?}");
        // a quarter turn about y points down
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let down = direction(&Pose { pos: [0.0; 3], quat: [half, 0.0, half, 0.0] });
        assert!((down[1] + std::f32::consts::FRAC_PI_2).abs() < 1e-3, "{down:?}");
        let turned = turn(left, [-3.0, 0.25]);
        assert!((turned[0] - 0.283).abs() < 1e-3 && turned[1] == 0.25, "{turned:?}");
    }

    #[test]
    fn a_person_walks_there_and_back() {
        let config = PersonConfig {
            picture: "nobody.png".into(),
            position: [1.0, -1.0, 1.0],
            width: 0.5,
            to: Some([1.0, 1.0, 1.0]),
            seconds: 4.0,
        };
        let person = Person { config, picture: Arc::new(Image::new(2, 2)) };
        for (time, y) in [(0.0, -1.0), (2.0, 0.0), (4.0, 1.0), (6.0, 0.0), (8.0, -1.0)] {
            assert!((person.at(time).position[1] - y).abs() < 1e-9, "{time}");
        }
    }
}
