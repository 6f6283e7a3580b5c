//! Torque, gains and top speed of motors, as commands and variables set them.

mod worlds;

use world::{Action, AgentId, SessionId, Value, World, interface::MotorKind};
use worlds::*;

const PAN: &str = "/Sim/ASeries/Head/Pan";

/// A robot on a rail with one motor of each kind, none of which has a limit of force.
const STRONG: &str = r#"
<mujoco model="strong">
  <worldbody>
    <body name="servo" pos="0 0 1"><joint name="servo" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
    <body name="drive" pos="0 1 1"><joint name="drive" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
    <body name="plain" pos="0 2 1"><joint name="plain" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
    <body name="free" pos="0 3 1"><joint name="free" type="slide" axis="1 0 0"/><geom size="0.1" mass="1"/></body>
  </worldbody>
  <actuator>
    <position name="servo" joint="servo" kp="1000" kv="20" ctrlrange="-3 3"/>
    <velocity name="drive" joint="drive" kv="50" ctrlrange="-300 300"/>
    <motor name="plain" joint="plain" ctrlrange="-500 500"/>
    <motor name="free_tau" joint="free"/><motor name="free_pos" joint="free"/><motor name="free_vel" joint="free"/>
  </actuator>
</mujoco>"#;

fn strong() -> World {
    build(&setup(flat(), vec![text_robot("Strong", STRONG, 0.0, 0.0)]))
}

fn speed(world: &World, joint: &str) -> f64 {
    number(world, &format!("/Sim/Strong/{joint}/Velocity"))
}

fn command(world: &mut World, motor: usize, target: f64, torque: Option<f64>) {
    assert!(world.stage(AgentId(1), SessionId(1), 0, vec![Action::Set { motor, target: Some(target), torque }]));
}

/// A force of 100 N is assumed, of which a motor of 1 kg may use a fraction.
#[test]
fn a_fraction_of_an_unlimited_torque_is_a_limit() {
    let motors = ["servo", "drive", "plain", "free"];
    for (motor, name) in motors.into_iter().enumerate() {
        let after = |torques: &[Option<f64>]| {
            let mut world = strong();
            for torque in torques {
                command(&mut world, motor, 500.0, *torque);
                world.tick();
            }
            speed(&world, name)
        };
        let step = strong().tick_seconds();
        let full = after(&[None; 4]);
        assert!(full > 300.0 * 4.0 * step, "{name}: {full} m/s without a limit");
        assert_eq!(after(&[Some(1.0); 4]), full, "{name}: all of it is no limit");
        assert_eq!(after(&[Some(0.0); 4]), 0.0, "{name} is free");
        let some = after(&[Some(0.02); 4]);
        assert!(close(some, 2.0 * 4.0 * step, 1e-4), "{name}: {some} m/s with 2 N");
        let later = after(&[Some(0.02), Some(0.02), Some(0.02), Some(1.0)]);
        assert!(later > 300.0 * step, "{name}: {later} m/s after the limit was lifted");
    }
}

#[test]
fn a_smaller_torque_lifts_less() {
    let raised = |torque: f64| {
        let mut world = build(&arena());
        ticks(&mut world, 100);
        let elbow = world.catalogue().agent_named("ASeries").unwrap();
        let (agent, motor) = (elbow.id, elbow.motors.iter().position(|motor| motor.name == "Left/Elbow").unwrap());
        let action = Action::Set { motor, target: Some(elbow.motors[motor].range.max * 0.5), torque: Some(torque) };
        assert!(world.stage(agent, SessionId(1), 0, vec![action]));
        ticks(&mut world, 40);
        number(&world, "/Sim/ASeries/Left/Elbow/Angle").abs()
    };
    let (none, little, all) = (raised(0.0), raised(0.02), raised(1.0));
    assert!(none < little && little < all && all > 0.1, "{none} {little} {all}");
}

#[test]
fn the_largest_torque_is_a_variable() {
    let name = "/Sim/Rover/Left/Wheel/Motor/MaxTorque";
    let speed_with = |max: Option<f64>| {
        let mut world = build(&arena());
        ticks(&mut world, 50);
        assert_eq!(number(&world, name), 0.12);
        if let Some(max) = max {
            write(&mut world, name, Value::Double(max));
            assert_eq!(number(&world, name), max);
        }
        write(&mut world, "/Sim/Rover/Left/Wheel/DesiredVelocity", Value::NormalizedDouble(1.0));
        ticks(&mut world, 10);
        number(&world, "/Sim/Rover/Left/Wheel/Joint/Velocity")
    };
    let full = speed_with(None);
    assert_eq!(speed_with(Some(0.12)), full);
    assert!(speed_with(Some(0.02)) < full / 2.0 && speed_with(Some(0.0)).abs() < 0.5, "{full}");

    // the same for a motor without a limit, and for the range of its input
    let mut world = strong();
    let (max, range) = ("/Sim/Strong/servo/Motor/MaxTorque", "/Sim/Strong/servo/DesiredTorque/Range");
    assert_eq!((number(&world, max), read(&world, range)), (100.0, Value::Range(0.0, 100.0)));
    write(&mut world, max, Value::Double(5.0));
    assert_eq!((number(&world, max), read(&world, range)), (5.0, Value::Range(0.0, 5.0)));
    command(&mut world, 0, 3.0, Some(0.4));
    world.tick();
    assert!(close(speed(&world, "servo"), 2.0 * world.tick_seconds(), 1e-6));
}

#[test]
fn gains_and_top_speed_are_variables() {
    let turn = |changes: &[(&str, f64)]| {
        let mut world = build(&arena());
        ticks(&mut world, 50);
        for (name, value) in changes {
            let name = format!("{PAN}/Motor/{name}");
            write(&mut world, &name, Value::Double(*value));
            assert_eq!(number(&world, &name), *value);
        }
        write(&mut world, &format!("{PAN}/DesiredAngle"), Value::NormalizedDouble(0.5));
        ticks(&mut world, 60);
        assert_eq!(world.failure(), None);
        (number(&world, &format!("{PAN}/Angle")), number(&world, &format!("{PAN}/Velocity")))
    };
    let world = build(&arena());
    let [gain, top_speed] = ["Gain", "TopSpeed"].map(|name| number(&world, &format!("{PAN}/Motor/{name}")));
    let (angle, speed) = turn(&[]);
    assert!(speed > 0.0 && angle > 0.2, "it is on its way: {angle} rad, {speed} rad/s");
    assert_eq!(turn(&[("Gain", gain), ("TopSpeed", top_speed)]), (angle, speed));
    let (slow_angle, slow_speed) = turn(&[("TopSpeed", top_speed / 4.0)]);
    assert!(close(slow_speed, top_speed / 4.0, 0.05 * top_speed) && slow_angle < angle / 2.0, "{slow_speed} rad/s");
    let (damped, _) = turn(&[("Damping", 1000.0), ("TopSpeed", 1e-6)]);
    assert!(damped < angle / 10.0, "{damped}");

    let mut world = build(&arena());
    ticks(&mut world, 50);
    write(&mut world, "/Sim/Rover/Left/Wheel/Motor/Gain", Value::Double(0.001));
    write(&mut world, "/Sim/Rover/Left/Wheel/DesiredVelocity", Value::NormalizedDouble(1.0));
    ticks(&mut world, 10);
    assert!(number(&world, "/Sim/Rover/Left/Wheel/Joint/Velocity") < 3.0);
}

#[test]
fn parameters_of_motors_outlast_resets_and_new_models() {
    let parameters = [
        ("/Sim/Rover/Left/Wheel/Motor/MaxTorque", 0.05),
        ("/Sim/Rover/Left/Wheel/Motor/Gain", 0.02),
        ("/Sim/ASeries/Head/Pan/Motor/TopSpeed", 0.7),
        ("/Sim/ASeries/Head/Pan/Motor/Damping", 1.5),
    ];
    let run = |with_guest: bool| {
        let mut world = build(&arena());
        for (name, value) in parameters {
            write(&mut world, name, Value::Double(value));
        }
        if with_guest {
            let guest = join(&mut world, robot("Guest", "rover", 1.0, 1.0));
            leave(&mut world, guest);
        }
        world.reset(Some(3));
        for (name, value) in parameters {
            assert_eq!(number(&world, name), value, "{name}");
        }
        write(&mut world, "/Sim/Rover/Left/Wheel/DesiredVelocity", Value::NormalizedDouble(1.0));
        write(&mut world, &format!("{PAN}/DesiredAngle"), Value::NormalizedDouble(0.5));
        ticks(&mut world, 50);
        (number(&world, "/Sim/Rover/Left/Wheel/Joint/Velocity"), number(&world, &format!("{PAN}/Angle")))
    };
    assert_eq!(run(false), run(true));
}

#[test]
fn ranges_are_those_of_the_model() {
    let world = build(&arena());
    for (name, min, max) in [
        ("/Sim/Rover/Distance/1/Range", -0.8, 0.8),
        ("/Sim/Rover/Bumper/Left/Range", 0.0, 20.0),
        ("/Sim/Rover/Left/Wheel/Velocity/Range", -12.0, 12.0),
        ("/Sim/Rover/Left/Wheel/DesiredVelocity/Range", -12.0, 12.0),
        ("/Sim/Rover/Position/X/Range", -10.0, 10.0),
    ] {
        assert_eq!(read(&world, name), Value::Range(min, max), "{name}");
    }
    // each value of each robot has one
    for card in &world.catalogue().agents {
        for value in &card.values {
            let Value::Range(min, max) = read(&world, &format!("/Sim/{}{}/Range", card.name, value.name)) else {
                panic!("{} has no range", value.name)
            };
            assert_eq!((min, max), (value.physical.min, value.physical.max), "{}", value.name);
        }
        for motor in &card.motors {
            let max = number(&world, &format!("/Sim/{}/{}/Motor/MaxTorque", card.name, motor.name));
            assert_eq!(max, motor.max_torque, "{}", motor.name);
            assert_ne!(motor.kind, MotorKind::Signal);
        }
    }
}
