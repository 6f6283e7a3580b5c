//! Every parameter and state under a path name: read, written with a physical effect, or refused with a reason.

mod worlds;

use world::{Setup, Value, ValueKind, VariableId, World, setup::Randomise, variable::VariableError, world::SetupError};
use worlds::*;

/// What was read, written back, is accepted or refused for a reason that does not depend on the value.
#[test]
fn what_was_read_can_be_written_back() {
    let mut world = build(&arena());
    ticks(&mut world, 20);
    let cards = world.catalogue().variables.clone();
    assert!(cards.len() > 500, "{} variables", cards.len());
    for card in cards.iter().filter(|card| card.writable) {
        let value = world.read(card.id).unwrap_or_else(|error| panic!("{}: {error}", card.name));
        assert_eq!(value.kind(), card.kind, "{}", card.name);
        let before = world.state_hash();
        match world.write(card.id, value.clone()) {
            // placing a body stops it, its velocity is turned into its own frame, and an input gives its motor an order
            Ok(_) if card.kind == ValueKind::NormalizedDouble => {}
            Ok(_)
                if ["Position", "Orientation", "Heading", "arVelocity"].iter().any(|end| card.name.ends_with(end)) => {}
            Ok(_) => assert_eq!(world.state_hash(), before, "{} = {value}", card.name),
            Err(VariableError::Fixed { .. } | VariableError::NoSize { .. } | VariableError::Nameless { .. }) => {
                assert_eq!(world.state_hash(), before, "{} = {value}", card.name);
            }
            Err(error) => panic!("{error}"),
        }
    }
    // sizes written back compile to a world in the same state
    let state = world.state_hash();
    world.settle();
    assert_eq!(world.state_hash(), state);
    ticks(&mut world, 10);
    assert_eq!(world.failure(), None);
}

fn check_variables(wanted: &[(&str, ValueKind, bool)]) {
    let world = build(&arena());
    for &(name, kind, writable) in wanted {
        let catalogue = world.catalogue();
        let card = catalogue.variable_named(name).unwrap_or_else(|| panic!("there is no {name}"));
        assert_eq!((card.kind, card.writable), (kind, writable), "{name}");
        assert_eq!(read(&world, name).kind(), kind, "{name}");
    }
}

#[test]
fn the_world_has_the_variables_that_clients_look_for() {
    check_variables(&[
        ("/Simulation/TimeStepSize", ValueKind::Double, true),
        ("/Simulation/IterationsPerStep", ValueKind::Integer, true),
        ("/Simulation/Gravitation", ValueKind::Double, true),
        ("/Simulation/Seed", ValueKind::Integer, true),
        ("/Simulation/SimulationTime", ValueKind::Double, false),
        ("/Simulation/RealTime", ValueKind::Double, false),
        ("/Control/Pause", ValueKind::Boolean, true),
        ("/Control/CurrentStep", ValueKind::Integer, false),
        ("/Control/CurrentTry", ValueKind::Integer, false),
        ("/Performance/TickTime", ValueKind::Double, false),
        ("/Performance/TicksPerSecond", ValueKind::Double, false),
        ("/Performance/Overruns", ValueKind::Integer, false),
        ("/Performance/Faults", ValueKind::Integer, false),
        ("/Sim/Rover/Name", ValueKind::String, false),
        ("/Sim/Rover/Robot", ValueKind::String, false),
        ("/Sim/Rover/Position", ValueKind::Point3D, true),
        ("/Sim/Rover/Heading", ValueKind::Double, true),
        ("/Sim/Rover/Chassis/Orientation", ValueKind::Quaternion, true),
        ("/Sim/Rover/Chassis/Rotation", ValueKind::Matrix, false),
        ("/Sim/Rover/Chassis/LinearVelocity", ValueKind::Point3D, true),
        ("/Sim/Rover/Chassis/Mass", ValueKind::Double, true),
        ("/Sim/Rover/Chassis/Battery/Size", ValueKind::Point3D, true),
        ("/Sim/Rover/Left/Wheel/Size", ValueKind::Point3D, true),
        ("/Sim/Rover/Left/Wheel/Friction", ValueKind::Point3D, true),
        ("/Sim/Rover/Left/Wheel/Color", ValueKind::Colour, true),
        ("/Sim/Rover/Left/Wheel/Angle", ValueKind::Double, true),
        ("/Sim/Rover/Left/Wheel/DesiredVelocity", ValueKind::NormalizedDouble, true),
        ("/Sim/Rover/Distance/1", ValueKind::NormalizedDouble, false),
        ("/Sim/Rover/Position/X", ValueKind::NormalizedDouble, false),
        ("/Sim/ASeries/Left/Knee/Limits", ValueKind::Range, true),
        ("/Sim/ASeries/Left/Knee/Damping", ValueKind::Double, true),
        ("/Sim/ASeries/Left/Knee/DesiredAngle", ValueKind::NormalizedDouble, true),
        ("/Sim/ASeries/Left/Knee/DesiredTorque", ValueKind::NormalizedDouble, true),
        ("/Sim/World/floor/Friction", ValueKind::Point3D, true),
        ("/Sim/World/box-1/Size", ValueKind::Point3D, true),
    ]);
}

#[test]
fn places_accuracy_pace_motors_and_ranges_are_variables() {
    check_variables(&[
        ("/Sim/World/box-1/Position", ValueKind::Point3D, true),
        ("/Sim/World/box-1/Orientation", ValueKind::Quaternion, true),
        ("/Simulation/UpdateFrequency", ValueKind::Double, true),
        ("/Simulation/SolverIterations", ValueKind::Integer, true),
        ("/Simulation/SolverTolerance", ValueKind::Double, true),
        ("/Simulation/LineSearchIterations", ValueKind::Integer, true),
        ("/Simulation/NoSlipIterations", ValueKind::Integer, true),
        ("/Simulation/Density", ValueKind::Double, true),
        ("/Simulation/Viscosity", ValueKind::Double, true),
        ("/Control/Pace", ValueKind::String, false),
        ("/Control/Speed", ValueKind::Double, true),
        ("/Sim/Rover/Left/Wheel/Velocity", ValueKind::NormalizedDouble, false),
        ("/Sim/Rover/Left/Wheel/Joint/Velocity", ValueKind::Double, true),
        ("/Sim/Rover/Left/Wheel/Velocity/Range", ValueKind::Range, false),
        ("/Sim/Rover/Left/Wheel/DesiredVelocity/Range", ValueKind::Range, false),
        ("/Sim/Rover/Left/Wheel/Motor/MaxTorque", ValueKind::Double, true),
        ("/Sim/Rover/Left/Wheel/Motor/Gain", ValueKind::Double, true),
        ("/Sim/Rover/Distance/1/Range", ValueKind::Range, false),
        ("/Sim/ASeries/Left/Knee/Motor/Damping", ValueKind::Double, true),
        ("/Sim/ASeries/Left/Knee/Motor/TopSpeed", ValueKind::Double, true),
    ]);
}

/// Runs the bench twice, once with a parameter changed, and compares what is read at the end.
fn check_effect(
    changed: &[(&str, Value)],
    start: &[(&str, Value)],
    seconds: f64,
    measure: impl Fn(&World) -> f64,
    wanted: impl Fn(f64, f64) -> bool,
) {
    let run = |changes: &[(&str, Value)]| {
        let mut world = bench();
        for (name, value) in changes.iter().chain(start) {
            write(&mut world, name, value.clone());
        }
        while number(&world, "/Simulation/SimulationTime") < seconds - 1e-9 {
            world.tick();
        }
        assert_eq!(world.failure(), None);
        measure(&world)
    };
    let (before, after) = (run(&[]), run(changed));
    assert!(wanted(before, after), "{changed:?}: {before} became {after}");
}

const SPIN: (&str, Value) = ("/Sim/World/spinner/Velocity", Value::Double(2.0));
const ROLL: (&str, Value) = ("/Sim/World/rail/Velocity", Value::Double(1.0));

fn spin(world: &World) -> f64 {
    number(world, "/Sim/World/spinner/Velocity")
}

fn angle(world: &World) -> f64 {
    number(world, "/Sim/World/spinner/Angle")
}

fn height(world: &World) -> f64 {
    point(world, "/Sim/World/ball/Position")[2]
}

#[test]
fn gravity_sets_how_far_the_ball_falls() {
    // z = 2 - g t²/2 after half a second
    let moon = [("/Simulation/Gravitation", Value::Double(1.62))];
    check_effect(&moon, &[], 0.5, height, |earth, moon| {
        close(earth, 2.0 - 9.81 / 8.0, 0.01) && close(moon, 2.0 - 1.62 / 8.0, 0.01)
    });
}

#[test]
fn friction_decides_whether_the_block_slides() {
    let ice = Value::Point3D([0.0; 3]);
    let icy = [("/Sim/World/block/Friction", ice.clone()), ("/Sim/World/slope/Friction", ice)];
    let along = |world: &World| point(world, "/Sim/World/block/Position")[0];
    // a = g sin 20° down the slope, of which cos 20° is along x
    let way = 0.5 * 9.81 * 20_f64.to_radians().sin() * 0.25 * 20_f64.to_radians().cos();
    check_effect(&icy, &[], 0.5, along, |rough, icy| close(rough, 5.03, 0.01) && close(icy - 5.03, way, 0.03));
}

#[test]
fn mass_sets_how_a_spring_moves_it() {
    // half a swing of 1 kg on 100 N/m takes 0.314 s; of 4 kg, twice that
    let heavy = [("/Sim/World/cart/Mass", Value::Double(4.0))];
    let start = [("/Sim/World/rail/Stiffness", Value::Double(100.0)), ("/Sim/World/rail/Angle", Value::Double(0.2))];
    let way = |world: &World| number(world, "/Sim/World/rail/Angle");
    check_effect(&heavy, &start, 0.314, way, |light, heavy| close(light, -0.2, 0.01) && close(heavy, 0.0, 0.01));
}

#[test]
fn a_joint_does_as_its_parameters_say() {
    check_effect(&[("/Sim/World/spinner/Damping", Value::Double(0.5))], &[SPIN], 0.5, spin, |free, damped| {
        close(free, 2.0, 1e-3) && damped < 1.0
    });
    check_effect(&[("/Sim/World/spinner/DynamicFriction", Value::Double(1.0))], &[SPIN], 0.5, spin, |free, rubbed| {
        close(free, 2.0, 1e-3) && rubbed.abs() < 0.01
    });
    let spring = ("/Sim/World/spinner/Stiffness", Value::Double(1.0));
    check_effect(std::slice::from_ref(&spring), &[SPIN], 0.5, angle, |free, sprung| {
        close(free, 1.0, 1e-3) && sprung < 0.8
    });
    // with the spring, a heavier motor swings back later
    let armature = [("/Sim/World/spinner/Armature", Value::Double(5.0))];
    check_effect(&armature, &[SPIN, spring], 0.5, spin, |light, heavy| light < 1.0 && heavy > 1.8);
    let limits = [("/Sim/World/spinner/Limits", Value::Range(-0.3, 0.3))];
    check_effect(&limits, &[SPIN], 0.5, angle, |free, limited| close(free, 1.0, 1e-3) && limited < 0.4);
}

#[test]
fn time_steps_and_ticks_have_the_written_length() {
    for (name, value, seconds) in [
        ("/Simulation/TimeStepSize", Value::Double(0.001), 0.05),
        ("/Simulation/IterationsPerStep", Value::Integer(7), 0.7),
        ("/Simulation/UpdateFrequency", Value::Double(100.0), 0.5),
        // the nearest that there is
        ("/Simulation/UpdateFrequency", Value::Double(170.0), 0.3),
        ("/Simulation/UpdateFrequency", Value::Double(500.0), 0.1),
    ] {
        let mut world = bench();
        write(&mut world, name, value);
        ticks(&mut world, 50);
        assert!(close(number(&world, "/Simulation/SimulationTime"), seconds, 1e-9), "{name}");
        assert!(close(world.tick_seconds(), seconds / 50.0, 1e-12), "{name}");
        assert!(close(number(&world, "/Simulation/UpdateFrequency"), 50.0 / seconds, 1e-9), "{name}");
    }
}

/// The lighter of two blocks carries the heavier: hard to solve in one iteration.
#[test]
fn the_solver_is_as_accurate_as_asked() {
    let tower = "<mujoco><option timestep='0.01' solver='CG'/><worldbody><geom type='plane' size='5 5 1'/>
        <body pos='0 0 0.1'><freejoint/><geom type='box' size='.1 .1 .1' mass='0.1'/></body>
        <body name='top' pos='0 0 0.3'><freejoint/><geom type='box' size='.1 .1 .1' mass='50'/></body>
        </worldbody></mujoco>";
    let sunk = |changes: &[(&str, Value)]| {
        let mut world = build(&Setup::new(text("tower", tower)));
        for (name, value) in changes {
            let name = format!("/Simulation/{name}");
            write(&mut world, &name, value.clone());
            assert_eq!(read(&world, &name), *value);
        }
        ticks(&mut world, 100);
        0.3 - point(&world, "/Sim/World/top/Position")[2]
    };
    let good = sunk(&[]);
    let one = Value::Integer(1);
    let coarse = sunk(&[("SolverIterations", one.clone()), ("LineSearchIterations", one)]);
    let lax = sunk(&[("SolverTolerance", Value::Double(1.0))]);
    assert!(good.abs() < 0.1 && (coarse - good).abs() > 1e-6 && (lax - good).abs() > 1e-9, "{good} {coarse} {lax}");
    assert!((sunk(&[("NoSlipIterations", Value::Integer(5))]) - good).abs() < 0.02);
}

#[test]
fn the_medium_slows_what_falls() {
    let thick = [("/Simulation/Density", Value::Double(500.0)), ("/Simulation/Viscosity", Value::Double(10.0))];
    check_effect(&thick, &[], 0.5, height, |air, thick| thick > air + 0.2);
}

#[test]
fn each_parameter_has_a_name_of_its_own() {
    let mut world = build(&arena());
    ticks(&mut world, 50);
    // the sensor keeps the name that it had
    let (sensor, joint) = ("/Sim/Rover/Left/Wheel/Velocity", "/Sim/Rover/Left/Wheel/Joint/Velocity");
    write(&mut world, joint, Value::Double(6.0));
    assert!(close(number(&world, joint), 6.0, 1e-12) && close(number(&world, sensor), 0.5, 1e-9));
    // a body and its only shape are at different places
    let slab = "<mujoco><worldbody><body name='slab'><freejoint/><geom size='0.1' pos='0 0 0.5'/></body>
        <body pos='3 0 0'><geom size='0.1'/></body><body pos='4 0 0'><geom size='0.1'/></body></worldbody></mujoco>";
    let world = build(&Setup::new(text("slab", slab)));
    for (name, place) in [
        ("/Sim/World/slab/Position", [0.0, 0.0, 0.0]),
        ("/Sim/World/slab/Geom/Position", [0.0, 0.0, 0.5]),
        ("/Sim/World/body-2/Position", [3.0, 0.0, 0.0]),
        ("/Sim/World/body-3/Position", [4.0, 0.0, 0.0]),
    ] {
        assert_eq!(point(&world, name), place, "{name}");
    }
}

#[test]
fn the_ball_rests_at_its_new_size() {
    let mut world = bench();
    for (diameter, rest) in [(0.2, 0.1), (0.6, 0.3), (0.1, 0.05)] {
        write(&mut world, "/Sim/World/ball/Size", Value::Point3D([diameter; 3]));
        assert_eq!(point(&world, "/Sim/World/ball/Size"), [diameter; 3]);
        write(&mut world, "/Sim/World/ball/Position", Value::Point3D([0.0, 0.0, rest + 0.01]));
        ticks(&mut world, 1000);
        assert!(close(height(&world), rest, 0.005), "{} with a diameter of {diameter}", height(&world));
    }
}

#[test]
fn a_moving_cart_goes_on_through_a_change_of_size() {
    let mut world = bench();
    write(&mut world, ROLL.0, ROLL.1);
    ticks(&mut world, 10);
    let before = number(&world, "/Sim/World/rail/Angle");
    write(&mut world, "/Sim/World/ball/Size", Value::Point3D([0.4; 3]));
    assert_eq!(number(&world, "/Sim/World/rail/Angle"), before);
    ticks(&mut world, 10);
    assert!(close(number(&world, "/Sim/World/rail/Angle"), 2.0 * before, 1e-9));
}

#[test]
fn what_is_placed_is_there_at_once_and_comes_to_rest() {
    let mut world = build(&arena());
    ticks(&mut world, 30);
    write(&mut world, "/Sim/Rover/Left/Wheel/DesiredVelocity", Value::NormalizedDouble(1.0));
    ticks(&mut world, 30);
    // each write keeps what the others wrote
    let turned = [0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt()];
    write(&mut world, "/Sim/Rover/Position", Value::Point3D([0.2, -0.3, 0.04]));
    write(&mut world, "/Sim/Rover/Heading", Value::Double(1.0));
    assert_eq!(point(&world, "/Sim/Rover/Position"), [0.2, -0.3, 0.04]);
    assert!(close(number(&world, "/Sim/Rover/Heading"), 1.0, 1e-12));
    write(&mut world, "/Sim/Rover/Chassis/Orientation", Value::Quaternion(turned.map(|x| 3.0 * x)));
    assert!(close(number(&world, "/Sim/Rover/Heading"), std::f64::consts::FRAC_PI_2, 1e-12));
    assert_eq!(point(&world, "/Sim/Rover/Position"), [0.2, -0.3, 0.04]);
    assert_eq!(point(&world, "/Sim/Rover/Chassis/LinearVelocity"), [0.0; 3]);
    let Value::Matrix(rows) = read(&world, "/Sim/Rover/Chassis/Rotation") else { panic!("not a matrix") };
    assert!(close(rows[1][0], 1.0, 1e-9), "its x axis points along the world's y: {rows:?}");
    ticks(&mut world, 1);
    let [x, y, _] = point(&world, "/Sim/Rover/Position");
    assert!(close(x, 0.2, 0.01) && close(y, -0.3, 0.01));
}

#[test]
fn turning_a_moving_robot_does_not_shift_it() {
    let mut world = build(&arena());
    for wheel in ["Left", "Right"] {
        write(&mut world, &format!("/Sim/Rover/{wheel}/Wheel/DesiredVelocity"), Value::NormalizedDouble(1.0));
    }
    ticks(&mut world, 200);
    let state = world.sim().qpos().to_vec();
    write(&mut world, "/Sim/Rover/Heading", Value::Double(2.0));
    assert_eq!(world.sim().qpos()[..3], state[..3]);
}

#[test]
fn inputs_move_motors_and_read_back() {
    let mut world = build(&arena());
    ticks(&mut world, 10);
    for (name, value) in [
        ("/Sim/ASeries/Head/Pan/DesiredAngle", 0.25),
        ("/Sim/ASeries/Left/Elbow/DesiredTorque", 0.5),
        ("/Sim/Rover/Left/Wheel/DesiredVelocity", -0.5),
    ] {
        write(&mut world, name, Value::NormalizedDouble(value));
        assert!(close(number(&world, name), value, 1e-12), "{name}");
    }
    ticks(&mut world, 200);
    assert!(close(number(&world, "/Sim/ASeries/Head/Pan/JointAngle"), 0.25, 0.02));
    assert!(close(number(&world, "/Sim/Rover/Left/Wheel/Velocity"), -0.5, 0.05));
    write(&mut world, "/Sim/World/box-1/Color", Value::Colour([1, 2, 3, 255]));
    assert_eq!(read(&world, "/Sim/World/box-1/Color"), Value::Colour([1, 2, 3, 255]));
}

/// A value of each kind with a number in it that is none.
fn not_finite(kind: ValueKind, bad: f64) -> Option<Value> {
    Some(match kind {
        ValueKind::Double => Value::Double(bad),
        ValueKind::NormalizedDouble => Value::NormalizedDouble(bad),
        ValueKind::Point3D => Value::Point3D([0.1, bad, 0.1]),
        ValueKind::Quaternion => Value::Quaternion([1.0, 0.0, bad, 0.0]),
        ValueKind::Range => Value::Range(-1.0, bad),
        _ => return None,
    })
}

#[test]
fn no_variable_takes_a_number_that_is_not_finite_or_absurd() {
    let mut world = build(&arena());
    ticks(&mut world, 10);
    let (before, model) = (world.state_hash(), world.model_hash());
    for card in world.catalogue().variables.clone() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
            let Some(value) = not_finite(card.kind, bad) else { continue };
            let error = world.write(card.id, value).expect_err(&card.name);
            assert!(error.to_string().contains(&*card.name), "{error} does not name {}", card.name);
        }
    }
    world.settle();
    assert_eq!((world.state_hash(), world.model_hash()), (before, model));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Wanted = fn(&VariableError) -> bool;
    let refused: [(&str, Value, Wanted); 28] = [
        ("/Simulation/SimulationTime", Value::Double(1.0), |e| matches!(e, VariableError::ReadOnly { .. })),
        ("/Performance/Faults", Value::Integer(1), |e| matches!(e, VariableError::ReadOnly { .. })),
        ("/Sim/World/ball/Rotation", Value::Matrix([[0.0; 3]; 3]), |e| matches!(e, VariableError::ReadOnly { .. })),
        ("/Sim/World/ball/LinearVelocity", Value::Point3D([1e9; 3]), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/cart/LinearVelocity", Value::Point3D([0.0; 3]), |e| matches!(e, VariableError::Fixed { .. })),
        ("/Simulation/TimeStepSize", Value::Integer(1), |e| matches!(e, VariableError::WrongKind { .. })),
        ("/Control/Pause", Value::Double(1.0), |e| matches!(e, VariableError::WrongKind { .. })),
        ("/Simulation/TimeStepSize", Value::Double(0.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Simulation/IterationsPerStep", Value::Integer(0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Simulation/IterationsPerStep", Value::Integer(i64::MAX), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/ball/Mass", Value::Double(-1.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/spinner/Limits", Value::Range(1.0, -1.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/ball/Orientation", Value::Quaternion([0.0; 4]), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/ball/Size", Value::Point3D([0.0, 1.0, 1.0]), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/post/Position", Value::Point3D([1e9; 3]), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/slope/Position", Value::Point3D([1e9; 3]), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Sim/World/slope/Orientation", Value::Quaternion([0.0; 4]), |e| {
            matches!(e, VariableError::OutOfRange { .. })
        }),
        ("/Sim/World/cart/Geom/Position", Value::Point3D([0.0; 3]), |e| matches!(e, VariableError::Fixed { .. })),
        ("/Simulation/SolverIterations", Value::Integer(0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Simulation/SolverIterations", Value::Integer(1_001), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Simulation/SolverTolerance", Value::Double(-1.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Simulation/UpdateFrequency", Value::Double(0.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Simulation/UpdateFrequency", Value::Double(501.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Control/Speed", Value::Double(0.0), |e| matches!(e, VariableError::OutOfRange { .. })),
        ("/Control/Pace", Value::String("fast".to_owned()), |e| matches!(e, VariableError::ReadOnly { .. })),
        ("/Sim/World/cart/Position", Value::Point3D([0.0; 3]), |e| matches!(e, VariableError::Fixed { .. })),
        ("/Sim/World/floor/Size", Value::Point3D([1.0; 3]), |e| matches!(e, VariableError::NoSize { .. })),
        ("/Sim/World/spinner/Size", Value::Point3D([0.1, 0.1, 0.05]), |e| matches!(e, VariableError::NoSize { .. })),
    ];
    let mut world = bench();
    let before = world.state_hash();
    for (name, value, wanted) in refused {
        let error = try_write(&mut world, name, value.clone()).expect_err(name);
        assert!(wanted(&error), "{name} = {value:?}: {error:?}");
        assert!(error.to_string().contains(name), "{error} does not name {name}");
    }
    assert_eq!(world.state_hash(), before);
    assert_eq!(world.read(VariableId(u32::MAX)), Err(VariableError::Unknown));
    assert_eq!(world.write(VariableId(u32::MAX), Value::Double(0.0)), Err(VariableError::Unknown));
}

#[test]
fn a_free_body_is_pushed_and_spun() {
    let mut world = bench();
    for (name, wanted) in [("LinearVelocity", [0.5, -0.25, 2.0]), ("AngularVelocity", [1.0, 2.0, -3.0])] {
        let name = format!("/Sim/World/ball/{name}");
        try_write(&mut world, &name, Value::Point3D(wanted)).unwrap();
        let Value::Point3D(now) = read(&world, &name) else { panic!("{name}") };
        assert!(now.iter().zip(wanted).all(|(now, wanted)| (now - wanted).abs() < 1e-9), "{name}: {now:?}");
    }
    let Value::Point3D(still) = read(&world, "/Sim/World/ball/LinearVelocity") else { panic!("no velocity") };
    assert!((still[2] - 2.0).abs() < 1e-9, "spinning it does not stop it: {still:?}");
}

#[test]
fn observed_variables_are_in_every_snapshot() {
    let mut world = bench();
    let (time, height) = (id(&world, "/Simulation/SimulationTime"), id(&world, "/Sim/World/ball/Position"));
    world.observe(height);
    world.observe(time);
    world.observe(time);
    ticks(&mut world, 3);
    let ids = |world: &mut World| world.take_snapshot().observed.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    let mut both = [time, height];
    both.sort();
    assert_eq!(ids(&mut world), both);
    assert_eq!(world.take_snapshot().observed.iter().find(|(id, _)| *id == time).unwrap().1, Value::Double(0.006));
    world.unobserve(time);
    assert_eq!(ids(&mut world), both, "two asked for it");
    world.unobserve(time);
    world.unobserve(time);
    assert_eq!(ids(&mut world), [height]);
}

#[test]
fn settings_take_effect_or_are_refused() {
    let with = |name: &str, value: &str| {
        let settings = vec![(name.to_owned(), value.to_owned())];
        World::new(&Setup { settings, ..Setup::new(text("bench", BENCH)) })
    };
    let world = with("/Sim/World/ball/Size", "(0.5,0.5,0.5)").unwrap();
    assert_eq!(point(&world, "/Sim/World/ball/Size"), [0.5; 3]);
    for (name, value, says) in [
        ("/Sim/World/bal/Size", "(1,1,1)", "unknown variable"),
        ("/Simulation/Gravitation", "heavy", "not a Double"),
        ("/Simulation/Gravitation", "1e9", "takes"),
        ("/Simulation/SimulationTime", "1", "read-only"),
    ] {
        let error = with(name, value).expect_err(name).to_string();
        assert!(error.contains(name) && error.contains(says), "{error}");
    }
}

#[test]
fn what_cannot_be_drawn_is_refused_from_the_start() {
    let with = |variable: &str, min: &str, max: &str| {
        let randomise = vec![Randomise { variable: variable.into(), min: min.into(), max: max.into() }];
        World::new(&Setup { randomise, ..Setup::new(text("bench", BENCH)) })
    };
    with("/Sim/World/ball/Mass", "1", "2").unwrap();
    for (variable, min, max) in [
        ("/Sim/World/ball/Mass", "-1", "2"),
        ("/Sim/World/ball/Mass", "1", "1e9"),
        ("/Sim/World/cart/Position", "(0,0,0)", "(1,1,1)"),
        ("/Simulation/SimulationTime", "0", "1"),
        ("/Sim/World/ball/Size", "(0.1,0.1,0.1)", "(0.2,0.2,0.2)"),
        ("/Control/Pause", "F", "T"),
        ("/Sim/Nobody/Heading", "0", "1"),
    ] {
        let error = with(variable, min, max).expect_err(variable);
        assert!(matches!(error, SetupError::Variable { .. } | SetupError::CannotDraw { .. }), "{error:?}");
        assert!(error.to_string().contains(variable), "{error}");
    }
}

#[test]
fn worlds_that_cannot_keep_time_are_refused() {
    for (option, timestep, steps_per_tick) in [
        ("timestep='1e30'", None, 1),
        ("timestep='1e-12'", None, 1),
        ("timestep='0.005'", Some(f64::NAN), 1),
        ("timestep='0.005'", Some(-1.0), 1),
        ("timestep='0.005'", None, 0),
        ("timestep='0.005'", None, u32::MAX),
    ] {
        let base = text("odd", &format!("<mujoco><option {option}/><worldbody><geom size='1'/></worldbody></mujoco>"));
        let setup = Setup { timestep, steps_per_tick, ..Setup::new(base) };
        World::new(&setup).expect_err(option);
    }
}
