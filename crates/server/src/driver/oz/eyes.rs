//! The eyes: camera images for the operators, and the faces in them for the puppet.

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
    puppet::PuppetOrder,
};
use wire::oz::Jpeg;
use world::Snapshot;

use super::{PuppetConnection, Setup, frame_grabber::FrameGrabber, note, thread};
use session::oz::{Naming, OperatorPanel};

use crate::{
    cpu_affinity,
    driver::{now, rest_until},
    health::Health,
    protocol::{
        Companion,
        oz::{Config, PersonConfig},
    },
    serve::ServeError,
    sim_thread::{SimHandle, Ticks},
};

const PART: &str = "camera";
const FACES: &str = "faces";
/// Width and height of the images, in pixels.
const SIZE: (usize, usize) = (640, 480);
/// Vertical field of view of the simulated camera, in degrees.
const VERTICAL_FOV_DEG: f64 = 48.0;
/// Smallest and largest frame rate, in Hz.
const FRAME_RATES: (f64, f64) = (0.1, 120.0);
/// Maximum number of people in the scene.
const MAX_PEOPLE: usize = 64;
/// Time until a failed camera is opened again.
const RETRY: Duration = Duration::from_secs(3);
/// How often the end of the world is checked.
const POLL: Duration = Duration::from_millis(50);
/// The robot's site that carries the camera.
const EYE: &str = "eye";
/// The body around the camera, which is not rendered.
const HEAD: &str = "head";

/// Validates the camera settings.
pub(super) fn check(config: &Config) -> Result<(), String> {
    let (least, most) = FRAME_RATES;
    if !(least..=most).contains(&config.frames) {
        return Err(format!("`frames` is {}, but must be {least} to {most}", config.frames));
    }
    if !(1..=100).contains(&config.quality) {
        return Err(format!("`quality` is {}, but must be 1 to 100", config.quality));
    }
    if config.people.len() > MAX_PEOPLE {
        return Err(format!("{} people are configured, but at most {MAX_PEOPLE} are supported", config.people.len()));
    }
    config.people.iter().try_for_each(|person| Person::read(person).map(|_| ()))
}

pub(super) fn start(Setup { config, panel, sim, health, .. }: Setup<'_>) -> Result<Vec<Companion>, ServeError> {
    let wrong = |reason| ServeError::Protocol { protocol: "oz", reason };
    let source = config.camera.clone();
    if source == CameraSource::None {
        note(health, PART, true, "none, as configured");
        return Ok(Vec::new());
    }
    let people = config.people.iter().map(Person::read).collect::<Result<_, _>>().map_err(wrong)?;
    health.note(PART, true, "idle until an operator connects");
    health.note(FACES, true, "idle until there are images");
    let puppet = PuppetConnection::open(FACES, sim, Ticks::Never)?;
    let (frames, to_watch) = sync_channel(1);
    let eyes = Eyes {
        source,
        robot: config.robot.clone(),
        people,
        period: Duration::from_secs_f64(1.0 / config.frames),
        quality: config.quality,
        panel: Arc::clone(panel),
        sim: sim.clone(),
        health: health.clone(),
        frames,
    };
    let names = config.names.clone();
    let (watching, seen_by) = (health.clone(), sim.clone());
    let naming = Arc::clone(panel);
    let faces = move || watch_faces(&to_watch, names.as_deref(), puppet, &naming, &seen_by, &watching);
    Ok(vec![thread("oz-eyes", move || eyes.run())?, thread("oz-faces", faces)?])
}

/// A person in the scene.
struct Person {
    config: PersonConfig,
    picture: Arc<Image>,
}

impl Person {
    fn read(config: &PersonConfig) -> Result<Self, String> {
        let numbers = config.position.iter().chain(config.to.iter().flatten()).chain([&config.width, &config.seconds]);
        if !numbers.copied().all(f64::is_finite) || config.width <= 0.0 || config.seconds <= 0.0 {
            return Err("a person's position, width and time must be finite, and width and time positive".to_owned());
        }
        let picture = Image::open(&config.picture).map_err(|error| format!("picture of a person: {error}"))?;
        Ok(Self { config: config.clone(), picture: Arc::new(picture) })
    }

    /// The person's billboard at a time in s.
    fn at(&self, time: f64) -> Billboard {
        let PersonConfig { position, to, seconds, width, .. } = self.config;
        // back and forth, slowing down at the ends
        let fraction = 0.5 - 0.5 * (time / seconds * std::f64::consts::PI).cos();
        let to = to.unwrap_or(position);
        let position = std::array::from_fn(|axis| position[axis] + (to[axis] - position[axis]) * fraction);
        Billboard { picture: Arc::clone(&self.picture), position, width_m: width }
    }
}

/// An open camera source other than the scene.
enum OpenSource {
    Closed,
    Still(Arc<Image>),
    Running(FrameGrabber),
}

/// A camera image and how it was taken.
struct Frame {
    image: Image,
    /// Tick of the snapshot, for an image of the simulated camera.
    tick: Option<u64>,
    /// Time since the previous frame that was searched for faces, in s.
    dt: f32,
    /// Horizontal and vertical field of view, in rad.
    span: [f32; 2],
    /// Yaw and pitch of the camera in rad (positive to the left and up), if known.
    view: Option<[f32; 2]>,
}

struct Eyes {
    source: CameraSource,
    robot: String,
    people: Vec<Person>,
    period: Duration,
    quality: u8,
    panel: Arc<OperatorPanel>,
    sim: SimHandle,
    health: Health,
    frames: SyncSender<Frame>,
}

impl Eyes {
    /// Produces images until the world ends, while operators are connected.
    fn run(self) {
        cpu_affinity::avoid_first();
        let (width, height) = SIZE;
        let mut renderer = Renderer::new(width, height);
        let mut open_source = OpenSource::Closed;
        let (mut due, mut last) = (now(), None);
        while self.wait_until(due) {
            due += self.period;
            // makes up for a small delay to keep the frame rate, but not for a large one
            if due + self.period < now() {
                due = now();
            }
            if !self.panel.has_operators() {
                // the camera is off while it is not needed
                (open_source, last) = (OpenSource::Closed, None);
                continue;
            }
            let snapshot = self.sim.latest();
            let image = match self.next_image(&snapshot, &mut renderer, &mut open_source) {
                Ok(Some(image)) => image,
                Ok(None) => continue,
                Err(error) => {
                    open_source = OpenSource::Closed;
                    note(&self.health, PART, false, format!("{error}; retrying"));
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
            let frame = Frame { image, tick: view.map(|_| snapshot.tick.0), dt, span: span(), view };
            // skipped if the face detector is still busy with an earlier one
            if self.frames.try_send(frame).is_ok() {
                last = Some(taken);
            }
        }
    }

    /// Sleeps until `due`. Returns false if the world has ended.
    fn wait_until(&self, due: Instant) -> bool {
        while now() < due && !self.sim.has_ended() {
            rest_until(due.min(now() + POLL));
        }
        !self.sim.has_ended()
    }

    /// The next image; `None` if there is no new one yet.
    fn next_image(
        &self,
        snapshot: &Snapshot,
        renderer: &mut Renderer,
        open_source: &mut OpenSource,
    ) -> Result<Option<Image>, String> {
        if self.source == CameraSource::Scene {
            let image = self.scene(snapshot, renderer).ok_or("the world has no such robot")?;
            note(&self.health, PART, true, "the simulated scene");
            return Ok(Some(image));
        }
        if let OpenSource::Closed = open_source {
            *open_source = self.open()?;
        }
        let image = match open_source {
            OpenSource::Closed => None,
            OpenSource::Still(image) => Some(Image::clone(image)),
            OpenSource::Running(grabber) => grabber.take()?,
        };
        if image.is_some() {
            note(&self.health, PART, true, "working");
        }
        Ok(image)
    }

    fn open(&self) -> Result<OpenSource, String> {
        let (width, height) = SIZE;
        let rate = (1.0 / self.period.as_secs_f64()).round().max(1.0) as u32;
        Ok(match self.source.open(width, height, rate).map_err(|error| error.to_string())? {
            None => OpenSource::Closed,
            Some(Feed::Still(image)) => OpenSource::Still(image),
            Some(Feed::Video(video)) => {
                OpenSource::Running(FrameGrabber::start(video, width, height).map_err(|error| error.to_string())?)
            }
        })
    }

    /// Pose of the camera in the world frame.
    fn eye(&self, snapshot: &Snapshot) -> Option<Pose> {
        snapshot.site_pose(snapshot.catalogue.site_named(&format!("{}:{EYE}", self.robot))?)
    }

    /// Renders the world from the robot's eye.
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
            Ok(jpeg) => self.panel.show(jpeg),
            Err(error) => note(&self.health, PART, false, error),
        }
    }
}

/// Inserts a comment segment into a JPEG, which carries the tick of the image.
fn with_comment(mut jpeg: Vec<u8>, comment: &str) -> Vec<u8> {
    // after the start-of-image marker and the JFIF segment
    let length = |at: usize| Some(usize::from(u16::from_be_bytes([*jpeg.get(at)?, *jpeg.get(at + 1)?])));
    let offset = 4 + length(4).unwrap_or(0);
    let segment = u16::try_from(comment.len() + 2).ok().filter(|_| jpeg.get(2..4) == Some(&[0xFF, 0xE0]));
    if let Some(segment) = segment.filter(|_| offset <= jpeg.len()) {
        let [high, low] = segment.to_be_bytes();
        let bytes = [0xFF, 0xFE, high, low].into_iter().chain(comment.bytes());
        jpeg.splice(offset..offset, bytes);
    }
    jpeg
}

/// Yaw and pitch of a camera in rad, positive to the left and up.
fn direction(eye: &Pose) -> [f32; 2] {
    let [x, y, z] = Pose { pos: [0.0; 3], ..*eye }.then(&Pose::at(1.0, 0.0, 0.0)).pos;
    [y.atan2(x) as f32, z.atan2(x.hypot(y)) as f32]
}

/// Change of direction from `from` to `to`, with the yaw wrapped to -pi..pi.
fn turn(from: [f32; 2], to: [f32; 2]) -> [f32; 2] {
    use std::f32::consts::{PI, TAU};
    [(to[0] - from[0] + PI).rem_euclid(TAU) - PI, to[1] - from[1]]
}

/// Horizontal and vertical field of view, in rad.
fn span() -> [f32; 2] {
    let vertical = VERTICAL_FOV_DEG.to_radians();
    let (width, height) = SIZE;
    let horizontal = 2.0 * ((vertical / 2.0).tan() * width as f64 / height as f64).atan();
    [horizontal as f32, vertical as f32]
}

/// Searches frames for faces until the channel is closed.
fn watch_faces(
    frames: &Receiver<Frame>,
    names: Option<&std::path::Path>,
    mut puppet: PuppetConnection,
    panel: &OperatorPanel,
    sim: &SimHandle,
    health: &Health,
) {
    cpu_affinity::avoid_first();
    let known = match names.map(Names::load).transpose() {
        Ok(names) => names.unwrap_or_default(),
        Err(error) => {
            note(health, "names of faces", false, error.to_string());
            Names::new()
        }
    };
    panel.set_known_names(known.iter().map(str::to_owned).collect());
    // with the first frame: before that, nothing needs it
    let Ok(first) = frames.recv() else { return };
    let mut watcher = match Watcher::load(&puppet::fetched_folder(FACES).unwrap_or_default(), known) {
        Ok(watcher) => watcher,
        Err(error) => return note(health, FACES, false, format!("face detection is not available: {error}")),
    };
    note(health, FACES, true, "working");
    let (mut had_faces, mut last_view) = (false, None);
    for Frame { image, tick, dt, span, view } in std::iter::once(first).chain(frames) {
        puppet.drain_answers();
        if let (Some(from), Some(to)) = (std::mem::replace(&mut last_view, view), view) {
            watcher.compensate_rotation(turn(from, to), span);
        }
        let faces = watcher.process(&image, dt);
        for (naming, reply) in panel.take_namings() {
            reply.deliver(name(&mut watcher, naming, names));
            panel.set_known_names(watcher.names().iter().map(str::to_owned).collect());
        }
        let has_faces = !faces.is_empty();
        if (has_faces || had_faces) && !puppet.send(PuppetOrder::See { tick, span, faces }) {
            return;
        }
        had_faces = has_faces;
        if sim.has_ended() {
            return;
        }
    }
}

/// Enrols or forgets a name, and saves the names if a file is configured.
fn name(watcher: &mut Watcher, naming: Naming, file: Option<&std::path::Path>) -> Result<(), String> {
    match naming {
        Naming::Give { face, name } => {
            watcher.enrol(Some(face), &name).map_err(|error| error.to_string())?;
        }
        Naming::Forget { name } => {
            let was_known = watcher.forget(&name);
            was_known.then_some(()).ok_or_else(|| format!("no face named `{name}`"))?;
        }
    }
    file.map_or(Ok(()), |file| watcher.names().save(file).map_err(|error| error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_carries_its_tick() {
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
    fn directions_and_turns_are_computed() {
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
    fn a_person_walks_back_and_forth() {
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
