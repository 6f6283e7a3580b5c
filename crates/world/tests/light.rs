//! How bright the lamps are where a robot has a light sensor.

mod worlds;

use world::{Value, World};
use worlds::*;

/// A lamp 2 m above the origin, and a wall that hides it from behind.
const ROOM: &str = r#"
<mujoco model="room">
  <worldbody>
    <light name="lamp" pos="0 0 2" dir="0 0 -1"/>
    <geom name="wall" type="box" size="0.05 2 2" pos="3 0 1"/>
  </worldbody>
</mujoco>"#;

/// A plate that hangs in the air with a sensor on top. The plate itself casts no shadow on it.
const PLATE: &str = r#"
<mujoco model="plate">
  <worldbody>
    <body name="plate" gravcomp="1">
      <freejoint name="root"/>
      <geom name="plate" type="box" size="0.2 0.2 0.02" mass="1"/>
      <site name="eye"/>
    </body>
  </worldbody>
  <sensor><user name="Light" objtype="site" objname="eye" dim="1" datatype="positive" cutoff="1" needstage="vel"/></sensor>
</mujoco>"#;

fn brightness(world: &World) -> f64 {
    number(world, "/Sim/Plate/Light")
}

#[test]
fn brightness_falls_with_distance_and_angle_and_behind_things() {
    let mut world = build(&setup(text("room", ROOM), vec![text_robot("Plate", PLATE, 0.0, 0.0)]));
    assert!(close(brightness(&world), 0.2, 1e-9), "from the start");
    for (what, position, turn, wanted) in [
        ("right below, 1 m away", [0.0, 0.0, 1.0], 0.0, 1.0 / 2.0),
        ("right below, 2 m away", [0.0, 0.0, 0.0], 0.0, 1.0 / 5.0),
        ("at 45 degrees", [0.0, 1.0, 1.0], 0.0, 0.5_f64.sqrt() / 3.0),
        ("level with the lamp", [0.0, 1.0, 2.0], 0.0, 0.0),
        ("above the lamp", [0.0, 0.0, 3.0], 0.0, 0.0),
        ("upside down", [0.0, 0.0, 1.0], std::f64::consts::PI, 0.0),
        ("behind the wall", [4.0, 0.0, 0.0], 0.0, 0.0),
        ("exactly at the lamp", [0.0, 0.0, 2.0], 0.0, 0.0),
    ] {
        let (sin, cos) = (turn / 2.0_f64).sin_cos();
        write(&mut world, "/Sim/Plate/plate/Orientation", Value::Quaternion([cos, sin, 0.0, 0.0]));
        write(&mut world, "/Sim/Plate/Position", Value::Point3D(position));
        assert!(close(brightness(&world), wanted, 1e-9), "{what}: {} is not {wanted}", brightness(&world));
        world.tick();
        assert!(close(brightness(&world), wanted, 1e-3), "{what}, a tick later: {}", brightness(&world));
    }
}

#[test]
fn whoever_joins_sees_at_once() {
    let mut world = build(&setup(text("room", ROOM), vec![]));
    join(&mut world, text_robot("Plate", PLATE, 0.0, 0.0));
    assert!(close(brightness(&world), 0.2, 1e-9));
}

#[test]
fn the_rover_is_led_by_the_lamp_of_the_arena() {
    let mut world = build(&setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0)]));
    let mut at = |x, y| {
        write(&mut world, "/Sim/Rover/Position", Value::Point3D([x, y, 0.035]));
        number(&world, "/Sim/Rover/Light")
    };
    let (far, near, below) = (at(-1.0, -1.5), at(0.5, 0.5), at(1.5, 1.5));
    assert!(0.0 < far && far < near && near < below && below <= 1.0, "{far} {near} {below}");
}

#[test]
fn a_refreshed_world_shows_what_was_moved() {
    let mut world = build(&setup(text("room", ROOM), vec![text_robot("Plate", PLATE, 0.0, 0.0)]));
    let plate = world.sim().model().body_named("Plate:plate").unwrap();
    assert!(world.sim_mut().place(plate, physics::Pose::at(0.0, 0.0, 1.0)));
    assert!(close(brightness(&world), 0.2, 1e-9), "not yet");
    world.refresh().unwrap();
    assert!(close(brightness(&world), 0.5, 1e-9));
    assert_eq!(point(&world, "/Sim/Plate/Position"), [0.0, 0.0, 1.0]);
}
