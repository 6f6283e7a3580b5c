//! `rossum portrait`.

use std::{fs, io::Write, path::PathBuf, sync::Arc};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum, builder::PossibleValuesParser};
use library::ModelKind;
use physics::{Limits, Pose, Source};
use puppet::{
    camera::{Camera, Image, Renderer, image::MAX_SIDE},
    director::{PuppetConfig, PuppetDirector},
    gesture::{Gestures, read_folder},
    mixer::Subsystem,
    puppet::{AttributedOrder, PuppetOrder, PuppetView},
    servo::servo_named,
};
use wire::oz::{EXPRESSIONS, LOOKATS};
use world::{Robot, Setup, Snapshot, World};

use crate::{
    interrupt,
    picture::{Anchor, Svg, png_from_svg},
};

/// Name of the robot while it is drawn.
const ROBOT: &str = "Alice";
/// Nothing but ground, so that nothing draws attention from the robot.
const GROUND: &str =
    r#"<mujoco><worldbody><geom type="plane" size="5 5 0.1" rgba="0.71 0.72 0.74 1"/></worldbody></mujoco>"#;
/// Time in s in which a face and limbs get to where they are told to be.
const SETTLE: f64 = 2.0;
/// Longest that a gesture or a text is followed, in s.
const PATIENCE: f64 = 120.0;
/// Samples along each side of a pixel.
const SAMPLES: usize = 3;
/// Quality of a JPEG.
const QUALITY: u8 = 88;
/// Pictures in a row of the sheet, and pixels of a side of each.
const COLUMNS: usize = 6;
const TILE: usize = 240;
/// Pixels around each of them, and of its caption.
const GAP: usize = 8;
const CAPTION: usize = 26;
/// Pixels for a unit of an SVG, as `picture` draws it.
const SVG_SCALE: f64 = 2.0;

/// Options of `rossum portrait`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where the picture goes: a .png, .jpg or .jpeg file
    out: PathBuf,
    /// What the face shows
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(EXPRESSIONS))]
    expression: Option<String>,
    /// A gesture, by its tag
    #[arg(long, value_name = "TAG", conflicts_with = "say")]
    gesture: Option<String>,
    /// A text to be said, with gestures in it; nobody hears it
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    /// When, in s after the gesture or the text began; without it, the moment at which most is moved farthest
    #[arg(long, value_name = "SECONDS")]
    at: Option<f64>,
    /// Where to look
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(["forward", "down", "up"]))]
    look: Option<String>,
    /// A servo and its position, 0 to 1; may be given several times
    #[arg(long, value_name = "NAME=POSITION", value_parser = parse_servo)]
    servo: Vec<(u32, f32)>,
    /// Folder of gestures besides the protocol's own
    #[arg(long, value_name = "FOLDER")]
    gestures: Option<PathBuf>,
    /// Whom to draw: a robot that comes with the program, or an MJCF file; it needs all servos of Oz
    #[arg(long, default_value = "alice", value_name = "MODEL")]
    robot: String,
    /// From where
    #[arg(long, value_enum, default_value_t = View::Face)]
    view: View,
    /// Width and height, in pixels
    #[arg(long, default_value = "480x480", value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    size: (usize, usize),
    /// All expressions and all gestures in one picture, with captions
    #[arg(long, conflicts_with_all = ["expression", "gesture", "say", "at", "look", "servo", "size"])]
    sheet: bool,
}

/// From where the robot is drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum View {
    /// The face, from the front
    Face,
    /// All of it, from the front
    Body,
    /// Head and arms, from its left
    ThreeQuarters,
}

impl View {
    /// Where the camera is for a robot whose eyes are here when it stands at rest.
    fn camera(self, eye: &Pose) -> Camera {
        // ahead, to the robot's left and up, in m: what is in the middle, and the way from there to the camera
        let (middle, way, vertical_fov_deg) = match self {
            Self::Face => ([-0.03, 0.0, -0.015], [1.0, 0.0, 0.06], 20.0),
            Self::Body => ([-0.05, 0.0, eye.pos[2] * -0.43], [3.0, 0.0, 0.35], 21.0),
            Self::ThreeQuarters => ([-0.03, 0.0, -0.2], [1.45, 0.95, 0.25], 26.0),
        };
        let towards = Pose { pos: [0.0; 3], ..*eye };
        let place = |[x, y, z]: [f64; 3]| Pose::then(eye, &Pose { pos: [x, y, z], ..Pose::IDENTITY }).pos;
        let [x, y, z] = std::array::from_fn(|axis| place(middle)[axis] + towards.turn(way)[axis]);
        let (yaw, pitch) = ((-way[1]).atan2(-way[0]), way[2].atan2(way[0].hypot(way[1])));
        let turn = Pose::facing(0.0, 0.0, 0.0, yaw)
            .then(&Pose { pos: [0.0; 3], quat: [(pitch / 2.0).cos(), 0.0, (pitch / 2.0).sin(), 0.0] });
        Camera { pose: Pose { pos: [x, y, z], quat: towards.then(&turn).quat }, vertical_fov_deg }
    }
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    interrupt::exit_on_ctrl_c()?;
    let studio = Studio::open(options)?;
    let image = if options.sheet { studio.sheet()? } else { studio.portrait(&Sitting::wanted(options, &studio)?)? };
    let path = options.out.display();
    let bytes = match options.out.extension().and_then(|extension| extension.to_str()) {
        Some("png") => image.png()?,
        Some("jpg" | "jpeg") => image.jpeg(QUALITY)?,
        _ => bail!("{path}: the name of a portrait ends in .png, .jpg or .jpeg"),
    };
    fs::write(&options.out, &bytes).with_context(|| format!("cannot write {path}"))?;
    writeln!(out, "{path}: {} x {} pixels, {} kB", image.width, image.height, bytes.len().div_ceil(1000))?;
    Ok(())
}

/// What a robot is told to do while it is drawn.
#[derive(Default)]
struct Sitting {
    /// Before: time passes until they are carried out.
    pose: Vec<PuppetOrder>,
    /// Then.
    act: Option<PuppetOrder>,
    /// When to draw it, in s after the act began; at its most if there is none.
    at: Option<f64>,
    size: (usize, usize),
}

impl Sitting {
    fn wanted(options: &Options, studio: &Studio) -> anyhow::Result<Self> {
        if options.at.is_some_and(|at| !(0.0..=PATIENCE).contains(&at)) {
            bail!("--at is 0 to {PATIENCE} seconds");
        }
        let place = |names: &[&str], name: &String| names.iter().position(|other| other == name).map(|id| id as u32);
        let mut pose = Vec::new();
        pose.extend(
            options.expression.as_ref().and_then(|name| place(&EXPRESSIONS, name)).map(PuppetOrder::Expression),
        );
        pose.extend(options.look.as_ref().and_then(|name| place(&LOOKATS, name)).map(PuppetOrder::LookAt));
        if !options.servo.is_empty() {
            pose.push(PuppetOrder::Weigh(Subsystem::Direct, 1.0));
            pose.extend(options.servo.iter().map(|&(servo, position)| PuppetOrder::Servo(servo, position)));
        }
        let act = match (&options.gesture, &options.say) {
            (Some(tag), _) => Some(PuppetOrder::Gesture(studio.gesture(tag)?)),
            (None, Some(text)) => Some(PuppetOrder::Speak(text.clone())),
            (None, None) => None,
        };
        Ok(Self { pose, act, at: options.at, size: options.size })
    }
}

/// A robot that can be drawn.
struct Studio {
    setup: Setup,
    config: PuppetConfig,
    gestures: Gestures,
    view: View,
}

impl Studio {
    fn open(options: &Options) -> anyhow::Result<Self> {
        let here = std::path::Path::new("");
        let mut setup = Setup::new(Source::from_text("studio", GROUND, &Limits::default())?);
        let source = library::model(ModelKind::Robot, &options.robot, here)?;
        setup.robots = vec![Robot { name: ROBOT.to_owned(), source, pose: Pose::IDENTITY }];
        (setup.timestep, setup.steps_per_tick) = (Some(0.005), 2);
        let gestures = options.gestures.as_deref().map(read_folder).transpose()?.unwrap_or_default();
        // with its eyes open, as everybody wants to be drawn
        let config = PuppetConfig { robot: ROBOT.to_owned(), blinks: 0.0, gestures };
        let gestures = config.all_gestures()?;
        Ok(Self { setup, config, gestures, view: options.view })
    }

    fn gesture(&self, tag: &str) -> anyhow::Result<u32> {
        self.gestures.tagged(tag).with_context(|| {
            let tags: Vec<&str> = self.gestures.iter().map(|gesture| gesture.tag.as_str()).collect();
            format!("there is no gesture `{tag}`; there are {}", tags.join(", "))
        })
    }

    fn portrait(&self, sitting: &Sitting) -> anyhow::Result<Image> {
        let mut world = World::with_directors(&self.setup, vec![Box::new(PuppetDirector::new(&self.config)?)])?;
        PuppetDirector::check(world.catalogue(), ROBOT)?;
        let start = world.snapshot();
        let site = start.catalogue.site_named(&format!("{ROBOT}:eye")).and_then(|site| start.site_pose(site));
        let camera = self.view.camera(&site.context("the robot has no site `eye`")?);
        for order in &sitting.pose {
            tell(&mut world, order)?;
        }
        run_for(&mut world, SETTLE);
        if let Some(act) = &sitting.act {
            tell(&mut world, act)?;
        }
        let moment = match sitting.at {
            Some(at) => {
                run_for(&mut world, at);
                world.snapshot()
            }
            None if sitting.act.is_some() => at_its_most(&mut world),
            None => world.snapshot(),
        };
        if let Some(fault) = world.failure() {
            bail!("the simulation failed: {fault}");
        }
        let (width, height) = sitting.size;
        Ok(Renderer::with_samples(width, height, SAMPLES).render(&moment, &camera, &[], |_| false).clone())
    }

    /// All expressions, then all gestures.
    fn sheet(&self) -> anyhow::Result<Image> {
        let expressions =
            (0..).zip(EXPRESSIONS).map(|(id, name)| (name.to_owned(), vec![PuppetOrder::Expression(id)], None));
        let gestures = self
            .gestures
            .iter()
            .map(|known| (format!("[{}]", known.tag), Vec::new(), Some(PuppetOrder::Gesture(known.id))));
        let mut tiles = Vec::new();
        for (caption, pose, act) in expressions.chain(gestures) {
            let sitting = Sitting { pose, act, at: None, size: (TILE, TILE) };
            tiles.push((caption, self.portrait(&sitting)?));
        }
        let (step_x, step_y) = (TILE + GAP, TILE + CAPTION + GAP);
        let (width, height) = (COLUMNS * step_x + GAP, tiles.len().div_ceil(COLUMNS) * step_y + GAP);
        if height > MAX_SIDE {
            bail!("{} pictures do not fit on a sheet", tiles.len());
        }
        let corner = |place: usize| [GAP + place % COLUMNS * step_x, GAP + place / COLUMNS * step_y];
        let mut captions = Svg::new(width as f64 / SVG_SCALE, height as f64 / SVG_SCALE);
        for (place, (caption, _)) in tiles.iter().enumerate() {
            let [x, y] = corner(place);
            let below = [(x + TILE / 2) as f64 / SVG_SCALE, (y + TILE + CAPTION * 3 / 4) as f64 / SVG_SCALE];
            captions.text(below, 18.0 / SVG_SCALE, "#222", Anchor::Middle, caption);
        }
        let mut sheet = Image::read(&png_from_svg(&captions.finish())?)?;
        for (place, (_, tile)) in tiles.iter().enumerate() {
            paste(&mut sheet, tile, corner(place));
        }
        Ok(sheet)
    }
}

/// Puts a picture into another one, where it fits.
fn paste(sheet: &mut Image, tile: &Image, [x, y]: [usize; 2]) {
    let width = sheet.width;
    let rows = sheet.rgb.chunks_exact_mut(3 * width).skip(y);
    for (row, pixels) in rows.zip(tile.rgb.chunks_exact(3 * tile.width)) {
        if let Some(part) = row.get_mut(3 * x..3 * (x + tile.width)) {
            part.copy_from_slice(pixels);
        }
    }
}

fn tell(world: &mut World, order: &PuppetOrder) -> anyhow::Result<()> {
    world.order::<PuppetDirector>(AttributedOrder::new("portrait", order.clone()))?;
    Ok(())
}

fn run_for(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.tick_seconds()).round() as usize {
        world.tick();
    }
}

/// Runs on until the robot has finished, and tells the moment at which its joints were farthest from where they were.
fn at_its_most(world: &mut World) -> Arc<Snapshot> {
    let start = world.snapshot();
    let away = |snapshot: &Snapshot| -> f64 {
        snapshot.motors.iter().zip(&start.motors).map(|(now, before)| (now - before).abs()).sum()
    };
    let mut most = (0.0, Arc::clone(&start));
    for _ in 0..(PATIENCE / world.tick_seconds()) as usize {
        world.tick();
        let snapshot = world.snapshot();
        let distance = away(&snapshot);
        let is_over =
            snapshot.view::<PuppetView>().is_none_or(|view| view.gestures == 0 && view.speech_request.is_none());
        if distance > most.0 {
            most = (distance, snapshot);
        }
        if is_over {
            break;
        }
    }
    most.1
}

fn parse_servo(text: &str) -> Result<(u32, f32), String> {
    let (name, position) = text.split_once('=').ok_or("write NAME=POSITION, as in neck_yaw=0.7")?;
    let servo = servo_named(name).ok_or_else(|| format!("there is no servo `{name}`"))?;
    let position = position.parse().ok().filter(|position| (0.0..=1.0).contains(position));
    Ok((servo as u32, position.ok_or("a position is a number from 0 to 1")?))
}

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let side = |side: &str| side.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| side(width).zip(side(height)));
    sides.ok_or_else(|| format!("write WIDTHxHEIGHT, as in 480x480, each 1 to {MAX_SIDE}"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn portrait(words: &str) -> Image {
        let line =
            Line::parse_from(["portrait", "--size", "48x48", "a.png"].into_iter().chain(words.split_whitespace()));
        let studio = Studio::open(&line.options).unwrap();
        studio.portrait(&Sitting::wanted(&line.options, &studio).unwrap()).unwrap()
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
        assert!(Sitting::wanted(&line.options, &studio).is_err());
    }
}
