//! `rossum portrait`: renders an image of the robot.

use std::{io::Write, path::PathBuf, sync::Arc};

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
use support::output_file;
use wire::oz::{EXPRESSIONS, LOOKATS};
use world::{Robot, Setup, Snapshot, World};

use crate::{
    interrupt,
    output::OverwriteOption,
    picture::{Anchor, Svg, png_from_svg},
};

/// Name of the robot in the world.
const ROBOT: &str = "Alice";
/// A world with nothing but the ground.
const GROUND: &str =
    r#"<mujoco><worldbody><geom type="plane" size="5 5 0.1" rgba="0.71 0.72 0.74 1"/></worldbody></mujoco>"#;
/// Time in which the robot reaches its pose, in s.
const SETTLE: f64 = 2.0;
/// Maximum length of a gesture or text, in s.
const MAX_SECONDS: f64 = 120.0;
/// Samples along each side of a pixel.
const SAMPLES: usize = 3;
/// JPEG quality.
const QUALITY: u8 = 88;
/// Images per row of the sheet, and the size of each, in pixels.
const COLUMNS: usize = 6;
const TILE: usize = 240;
/// Gap around each image, and height of its caption, in pixels.
const GAP: usize = 8;
const CAPTION: usize = 26;
/// Pixels per SVG unit in `picture`.
const SVG_SCALE: f64 = 2.0;

/// Options of `rossum portrait`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Output file: .png, .jpg or .jpeg
    out: PathBuf,
    /// Facial expression
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(EXPRESSIONS))]
    expression: Option<String>,
    /// Gesture to show, by its tag
    #[arg(long, value_name = "TAG", conflicts_with = "say")]
    gesture: Option<String>,
    /// Text to speak (silently), with gesture tags
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    /// Time of the image, in seconds since the start of the gesture or text [default: the moment of the largest motion]
    #[arg(long, value_name = "SECONDS")]
    at: Option<f64>,
    /// Gaze mode
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(["forward", "down", "up"]))]
    look: Option<String>,
    /// Direct position of a servo, 0 to 1; can be repeated
    #[arg(long, value_name = "NAME=POSITION", value_parser = parse_servo)]
    servo: Vec<(u32, f32)>,
    /// Folder of custom gestures
    #[arg(long, value_name = "FOLDER")]
    gestures: Option<PathBuf>,
    /// Robot to render: a built-in model or an MJCF file with all servos of Oz
    #[arg(long, default_value = "alice", value_name = "MODEL")]
    robot: String,
    /// Camera view
    #[arg(long, value_enum, default_value_t = View::Face)]
    view: View,
    /// Width and height, in pixels
    #[arg(long, default_value = "480x480", value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    size: (usize, usize),
    /// Render all expressions and gestures as a sheet with captions
    #[arg(long, conflicts_with_all = ["expression", "gesture", "say", "at", "look", "servo", "size"])]
    sheet: bool,
    #[command(flatten)]
    overwrite: OverwriteOption,
}

/// View of the robot.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum View {
    /// The face, from the front
    Face,
    /// The whole body, from the front
    Body,
    /// Head and arms, from its left
    ThreeQuarters,
}

impl View {
    /// The camera for a robot whose eyes have this pose at rest.
    fn camera(self, eye: &Pose) -> Camera {
        // forward, left and up relative to the eyes, in m: the centre of the view, and the offset of the camera from it
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
    let existing = options.overwrite.existing();
    output_file::check(&options.out, existing)?;
    let studio = Studio::open(options)?;
    let image =
        if options.sheet { studio.sheet()? } else { studio.portrait(&Scene::from_options(options, &studio)?)? };
    let path = options.out.display();
    let bytes = match options.out.extension().and_then(|extension| extension.to_str()) {
        Some("png") => image.png()?,
        Some("jpg" | "jpeg") => image.jpeg(QUALITY)?,
        _ => bail!("{path}: unsupported file type; use .png, .jpg or .jpeg"),
    };
    output_file::write(&options.out, &bytes, existing)?;
    writeln!(out, "{path}: {} x {} pixels, {} kB", image.width, image.height, bytes.len().div_ceil(1000))?;
    Ok(())
}

/// What the robot does, and when it is rendered.
#[derive(Default)]
struct Scene {
    /// Orders given in advance, until the robot has reached its pose.
    pose: Vec<PuppetOrder>,
    /// Gesture or text.
    act: Option<PuppetOrder>,
    /// Time of the image, in s since the start of `act`; the moment of the largest motion if `None`.
    at: Option<f64>,
    size: (usize, usize),
}

impl Scene {
    fn from_options(options: &Options, studio: &Studio) -> anyhow::Result<Self> {
        if options.at.is_some_and(|at| !(0.0..=MAX_SECONDS).contains(&at)) {
            bail!("--at must be 0 to {MAX_SECONDS} seconds");
        }
        let index = |names: &[&str], name: &String| names.iter().position(|other| other == name).map(|id| id as u32);
        let mut pose = Vec::new();
        pose.extend(
            options.expression.as_ref().and_then(|name| index(&EXPRESSIONS, name)).map(PuppetOrder::Expression),
        );
        pose.extend(options.look.as_ref().and_then(|name| index(&LOOKATS, name)).map(PuppetOrder::LookAt));
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

/// A robot to be rendered.
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
        // does not blink
        let config = PuppetConfig { robot: ROBOT.to_owned(), blinks: 0.0, gestures };
        let gestures = config.all_gestures()?;
        Ok(Self { setup, config, gestures, view: options.view })
    }

    fn gesture(&self, tag: &str) -> anyhow::Result<u32> {
        self.gestures.tagged(tag).with_context(|| {
            let tags: Vec<&str> = self.gestures.iter().map(|gesture| gesture.tag.as_str()).collect();
            format!("no gesture `{tag}`; available: {}", tags.join(", "))
        })
    }

    fn portrait(&self, scene: &Scene) -> anyhow::Result<Image> {
        let mut world = World::with_directors(&self.setup, vec![Box::new(PuppetDirector::new(&self.config)?)])?;
        PuppetDirector::check(world.catalogue(), ROBOT)?;
        let start = world.snapshot();
        let site = start.catalogue.site_named(&format!("{ROBOT}:eye")).and_then(|site| start.site_pose(site));
        let camera = self.view.camera(&site.context("the robot has no site `eye`")?);
        for order in &scene.pose {
            give_order(&mut world, order)?;
        }
        run_for(&mut world, SETTLE);
        if let Some(act) = &scene.act {
            give_order(&mut world, act)?;
        }
        let moment = match scene.at {
            Some(at) => {
                run_for(&mut world, at);
                world.snapshot()
            }
            None if scene.act.is_some() => largest_motion(&mut world),
            None => world.snapshot(),
        };
        if let Some(fault) = world.failure() {
            bail!("the simulation failed: {fault}");
        }
        let (width, height) = scene.size;
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
            let scene = Scene { pose, act, at: None, size: (TILE, TILE) };
            tiles.push((caption, self.portrait(&scene)?));
        }
        let (step_x, step_y) = (TILE + GAP, TILE + CAPTION + GAP);
        let (width, height) = (COLUMNS * step_x + GAP, tiles.len().div_ceil(COLUMNS) * step_y + GAP);
        if height > MAX_SIDE {
            bail!("{} images do not fit on a sheet", tiles.len());
        }
        let corner = |index: usize| [GAP + index % COLUMNS * step_x, GAP + index / COLUMNS * step_y];
        let mut captions = Svg::new(width as f64 / SVG_SCALE, height as f64 / SVG_SCALE);
        for (index, (caption, _)) in tiles.iter().enumerate() {
            let [x, y] = corner(index);
            let below = [(x + TILE / 2) as f64 / SVG_SCALE, (y + TILE + CAPTION * 3 / 4) as f64 / SVG_SCALE];
            captions.text(below, 18.0 / SVG_SCALE, "#222", Anchor::Middle, caption);
        }
        let mut sheet = Image::read(&png_from_svg(&captions.finish())?)?;
        for (index, (_, tile)) in tiles.iter().enumerate() {
            paste(&mut sheet, tile, corner(index));
        }
        Ok(sheet)
    }
}

/// Copies an image into another one at a position, as far as it fits.
fn paste(sheet: &mut Image, tile: &Image, [x, y]: [usize; 2]) {
    let width = sheet.width;
    let rows = sheet.rgb.chunks_exact_mut(3 * width).skip(y);
    for (row, pixels) in rows.zip(tile.rgb.chunks_exact(3 * tile.width)) {
        if let Some(part) = row.get_mut(3 * x..3 * (x + tile.width)) {
            part.copy_from_slice(pixels);
        }
    }
}

fn give_order(world: &mut World, order: &PuppetOrder) -> anyhow::Result<()> {
    world.order::<PuppetDirector>(AttributedOrder::new("portrait", order.clone()))?;
    Ok(())
}

fn run_for(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.tick_seconds()).round() as usize {
        world.tick();
    }
}

/// Simulates until the gesture or text has ended, and returns the moment of the largest motion.
fn largest_motion(world: &mut World) -> Arc<Snapshot> {
    let start = world.snapshot();
    let deviation = |snapshot: &Snapshot| -> f64 {
        snapshot.motors.iter().zip(&start.motors).map(|(now, before)| (now - before).abs()).sum()
    };
    let mut most = (0.0, Arc::clone(&start));
    for _ in 0..(MAX_SECONDS / world.tick_seconds()) as usize {
        world.tick();
        let snapshot = world.snapshot();
        let distance = deviation(&snapshot);
        let has_ended =
            snapshot.view::<PuppetView>().is_none_or(|view| view.gestures == 0 && view.speech_request.is_none());
        if distance > most.0 {
            most = (distance, snapshot);
        }
        if has_ended {
            break;
        }
    }
    most.1
}

fn parse_servo(text: &str) -> Result<(u32, f32), String> {
    let (name, position) = text.split_once('=').ok_or("use NAME=POSITION, as in neck_yaw=0.7")?;
    let servo = servo_named(name).ok_or_else(|| format!("unknown servo `{name}`"))?;
    let position = position.parse().ok().filter(|position| (0.0..=1.0).contains(position));
    Ok((servo as u32, position.ok_or("the position must be a number from 0 to 1")?))
}

fn parse_size(text: &str) -> Result<(usize, usize), String> {
    let side = |side: &str| side.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
    let sides = text.split_once('x').and_then(|(width, height)| side(width).zip(side(height)));
    sides.ok_or_else(|| format!("use WIDTHxHEIGHT, as in 480x480, each 1 to {MAX_SIDE}"))
}

#[cfg(test)]
mod tests;
