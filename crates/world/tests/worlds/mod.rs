//! Worlds of the project's own models and of small ones written here, and short words for what tests do with them.
#![allow(dead_code, reason = "each test file uses its own part of this")]

use std::path::Path;

use physics::{Limits, Pose, Source};
use world::{
    AgentId, Robot, Setup, Value, VariableId, World,
    change::{Change, ChangeOutcome},
    variable::VariableError,
};

/// Things on a floor, each for one kind of parameter: a ball that falls, a block on a slope, a spinner with a motor,
/// a cart on a rail, a post that is fixed.
pub(crate) const BENCH: &str = r#"
<mujoco model="bench">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="20 20 0.1"/>
    <geom name="slope" type="box" size="2 0.5 0.01" pos="5 0 2" euler="0 20 0"/>
    <body name="ball" pos="0 0 2"><freejoint/><geom name="ball" size="0.1" mass="1"/></body>
    <body name="block" pos="5.03 0 2.058" euler="0 20 0">
      <freejoint/><geom name="block" type="box" size="0.05 0.05 0.05"/>
    </body>
    <body name="spinner" pos="0 5 3">
      <joint name="spinner" axis="0 0 1" range="-170 170"/>
      <geom name="spinner" type="capsule" fromto="0 0 0 0.5 0 0" size="0.02" mass="1"/>
    </body>
    <body name="cart" pos="0 -5 3">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <geom name="cart" type="box" size="0.1 0.1 0.1" mass="1"/>
    </body>
    <body name="post" pos="-5 0 0.5"><geom name="post" type="cylinder" size="0.1 0.5"/></body>
  </worldbody>
</mujoco>"#;

/// A robot on a rail whose motors are plain forces.
pub(crate) const CART: &str = r#"
<mujoco model="cart">
  <worldbody>
    <body name="cart" pos="0 0 1">
      <joint name="rail" type="slide" axis="1 0 0"/>
      <geom name="cart" size="0.1" mass="1"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="push" joint="rail" ctrlrange="-2 5"/>
    <motor name="shove" joint="rail"/>
  </actuator>
  <sensor><jointpos name="Way" joint="rail" cutoff="4"/></sensor>
</mujoco>"#;

pub(crate) fn model(path: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(path);
    Source::from_file(&path, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn text(name: &str, mjcf: &str) -> Source {
    Source::from_text(name, mjcf, &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn flat() -> Source {
    model("fields/flat/field.xml")
}

/// A robot of one of the project's models.
pub(crate) fn robot(name: &str, model_name: &str, x: f64, y: f64) -> Robot {
    let source = model(&format!("robots/{model_name}/robot.xml"));
    Robot { name: name.to_owned(), source, pose: Pose::at(x, y, 0.0) }
}

pub(crate) fn text_robot(name: &str, mjcf: &str, x: f64, y: f64) -> Robot {
    Robot { name: name.to_owned(), source: text(name, mjcf), pose: Pose::at(x, y, 0.0) }
}

pub(crate) fn setup(base: Source, robots: Vec<Robot>) -> Setup {
    Setup { robots, ..Setup::new(base) }
}

pub(crate) fn build(setup: &Setup) -> World {
    World::new(setup).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn bench() -> World {
    build(&Setup::new(text("bench", BENCH)))
}

/// A rover and an A-Series in the walled arena.
pub(crate) fn arena() -> Setup {
    setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0), robot("ASeries", "aseries", -1.0, -0.3)])
}

pub(crate) fn ticks(world: &mut World, count: u32) {
    for _ in 0..count {
        world.tick();
    }
}

pub(crate) fn id(world: &World, name: &str) -> VariableId {
    world.catalogue().variable_named(name).unwrap_or_else(|| panic!("there is no variable {name}")).id
}

pub(crate) fn read(world: &World, name: &str) -> Value {
    world.read(id(world, name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

pub(crate) fn number(world: &World, name: &str) -> f64 {
    read(world, name).as_number().unwrap_or_else(|| panic!("{name} is not one number"))
}

pub(crate) fn point(world: &World, name: &str) -> [f64; 3] {
    let Value::Point3D(point) = read(world, name) else { panic!("{name} is not a point") };
    point
}

pub(crate) fn try_write(world: &mut World, name: &str, value: Value) -> Result<(), VariableError> {
    world.write(id(world, name), value).map(drop)
}

/// Writes, and carries out at once what needs a new model.
pub(crate) fn write(world: &mut World, name: &str, value: Value) {
    try_write(world, name, value).unwrap_or_else(|error| panic!("{error}"));
    for (_, changed) in world.settle() {
        assert!(matches!(changed, ChangeOutcome::Resized), "{name}: {changed:?}");
    }
}

pub(crate) fn join(world: &mut World, robot: Robot) -> AgentId {
    world.request(Change::Join(robot));
    match world.settle().pop() {
        Some((_, ChangeOutcome::Joined(agent))) => agent,
        other => panic!("did not join: {other:?}"),
    }
}

pub(crate) fn leave(world: &mut World, agent: AgentId) {
    world.request(Change::Leave(agent));
    let answers = world.settle();
    assert!(matches!(answers.as_slice(), [(_, ChangeOutcome::Left(left))] if *left == agent), "{answers:?}");
}

/// Names of the events since the last call.
pub(crate) fn events(world: &mut World) -> Vec<String> {
    let snapshot = world.take_snapshot();
    let name = |event| snapshot.catalogue.events.iter().find(|card| card.id == event).map(|card| card.name.to_string());
    snapshot.events.iter().filter_map(|&event| name(event)).collect()
}

pub(crate) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}
