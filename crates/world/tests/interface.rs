//! What controllers find of a robot: motors, inputs, outputs and infos, in the order of the model.

mod worlds;

use world::{
    Action, SessionId, Setup, Value,
    interface::{Bounds, MotorKind, Role},
    snapshot::{AgentCard, Catalogue},
};
use worlds::*;

const ASERIES_MOTORS: [&str; 21] = [
    "Waist",
    "Right/ShoulderYaw",
    "Left/ShoulderYaw",
    "Right/ShoulderPitch",
    "Left/ShoulderPitch",
    "Right/Elbow",
    "Left/Elbow",
    "Right/HipRoll",
    "Left/HipRoll",
    "Right/HipPitch",
    "Left/HipPitch",
    "Right/HipYaw",
    "Left/HipYaw",
    "Right/Knee",
    "Left/Knee",
    "Right/AnkleYaw",
    "Left/AnkleYaw",
    "Right/AnklePitch",
    "Left/AnklePitch",
    "Head/Pan",
    "Head/Tilt",
];
const ASERIES_BOARDS: [&str; 8] = ["ABFR", "ABHR", "ABSR", "ABAR", "ABFL", "ABHL", "ABML", "ABAL"];
const SYMMETRIC: Bounds = Bounds { min: -1.0, max: 1.0 };
const POSITIVE: Bounds = Bounds { min: 0.0, max: 1.0 };

fn names(agent: &AgentCard, role: Role) -> Vec<&str> {
    agent.values.iter().filter(|value| value.role == role).map(|value| value.name.as_str()).collect()
}

fn agent<'a>(catalogue: &'a Catalogue, name: &str) -> &'a AgentCard {
    catalogue.agent_named(name).unwrap_or_else(|| panic!("there is no agent {name}"))
}

#[test]
fn the_a_series_has_42_inputs_and_37_outputs_in_order() {
    // also beside a robot whose sensors say nothing of exported axes
    for robots in [vec![robot("A", "aseries", 0.0, 0.0)], arena().robots] {
        let world = build(&setup(flat(), robots));
        let catalogue = world.catalogue();
        let card = catalogue.agents.iter().find(|card| card.motors.len() == 21).unwrap();
        let inputs: Vec<_> =
            ASERIES_MOTORS.iter().flat_map(|m| [format!("/{m}/DesiredAngle"), format!("/{m}/DesiredTorque")]).collect();
        assert_eq!(names(card, Role::Input), inputs);
        assert_eq!(inputs.len(), 42);
        let angles = ASERIES_MOTORS.iter().map(|m| format!("/{m}/JointAngle"));
        let boards = ASERIES_BOARDS.iter().flat_map(|b| [format!("/{b}/AccelAxis1"), format!("/{b}/AccelAxis2")]);
        let outputs: Vec<_> = angles.chain(boards).collect();
        assert_eq!(names(card, Role::Output), outputs);
        assert_eq!(outputs.len(), 37);
        for value in &card.values {
            let (unit, physical, normalized) = match value.name.rsplit('/').next().unwrap() {
                "DesiredAngle" | "JointAngle" => ("rad", Bounds::symmetric(150_f64.to_radians()), SYMMETRIC),
                "DesiredTorque" => ("N·m", Bounds::positive(1.04803939), POSITIVE),
                _ => ("m/s²", Bounds::symmetric(19.62), SYMMETRIC),
            };
            assert_eq!((value.unit, value.normalized), (unit, normalized), "{}", value.name);
            assert!(close(value.physical.min, physical.min, 1e-9), "{}: {:?}", value.name, value.physical);
            assert!(close(value.physical.max, physical.max, 1e-9), "{}: {:?}", value.name, value.physical);
        }
    }
}

#[test]
fn the_t1_has_23_joint_motors() {
    let world = build(&setup(flat(), vec![robot("T", "T1", 0.0, 0.0)]));
    let card = agent(world.catalogue(), "T");
    let motors: Vec<_> = card.motors.iter().map(|motor| motor.name.as_str()).collect();
    let wanted = [
        "he1", "he2", "lae1", "lae2", "lae3", "lae4", "rae1", "rae2", "rae3", "rae4", "te1", "lle1", "lle2", "lle3",
        "lle4", "lle5", "lle6", "rle1", "rle2", "rle3", "rle4", "rle5", "rle6",
    ];
    assert_eq!(motors, wanted);
    assert!(card.motors.iter().all(|motor| motor.kind == MotorKind::Angle && motor.max_torque >= 7.0));
    assert_eq!(card.count(Role::Input), 46);
}

#[test]
fn the_rover_has_two_drives_and_says_where_it_is() {
    // with and without a robot beside it whose sensors do say how many axes they export
    for robots in [vec![robot("Rover", "rover", 0.0, 0.0)], arena().robots] {
        let world = build(&setup(flat(), robots));
        let card = agent(world.catalogue(), "Rover");
        assert!(card.motors.iter().all(|motor| motor.kind == MotorKind::Speed));
        assert_eq!(names(card, Role::Input), ["/Left/Wheel/DesiredVelocity", "/Right/Wheel/DesiredVelocity"]);
        let distances = (1..=8).map(|n| format!("/Distance/{n}"));
        let others = ["/Bumper/Left", "/Bumper/Right", "/Light", "/Left/Wheel/Velocity", "/Right/Wheel/Velocity"];
        let outputs: Vec<_> = distances.chain(others.map(str::to_owned)).collect();
        assert_eq!(names(card, Role::Output), outputs);
        let infos = ["X", "Y", "Z"].map(|axis| format!("/Position/{axis}")).into_iter();
        let infos: Vec<_> = infos.chain(["W", "X", "Y", "Z"].map(|axis| format!("/Orientation/{axis}"))).collect();
        assert_eq!(names(card, Role::Info), infos);
    }
}

#[test]
fn plain_motors_of_a_user_s_model_take_signals() {
    let mut world = build(&setup(flat(), vec![text_robot("Cart", CART, 0.0, 0.0)]));
    let card = agent(world.catalogue(), "Cart").clone();
    assert_eq!(names(&card, Role::Input), ["/push/Signal", "/shove/Signal"]);
    assert_eq!(names(&card, Role::Output), ["/Way"]);
    let units: Vec<_> = card.values.iter().map(|value| value.unit).collect();
    assert_eq!(units, ["", "", "m"]);
    let ranges: Vec<_> = card.values.iter().map(|value| (value.physical, value.normalized)).collect();
    assert_eq!(ranges[0], (Bounds { min: -2.0, max: 5.0 }, SYMMETRIC));
    assert_eq!(ranges[1], (SYMMETRIC, SYMMETRIC));
    assert_eq!(ranges[2], (Bounds::symmetric(4.0), SYMMETRIC));

    // F = m a: 5 N on 1 kg for 0.5 s give 2.5 m/s, less a little for the air
    world.stage(card.id, SessionId(0), 0, vec![Action::Set { motor: 0, target: Some(99.0), torque: None }]);
    ticks(&mut world, 100);
    assert!(close(number(&world, "/Sim/Cart/rail/Velocity"), 2.5, 0.02));
    assert_eq!(number(&world, "/Sim/Cart/push/Signal"), 1.0, "the target is clamped to the motor's range");
}

#[test]
fn an_output_never_leaves_its_range() {
    let mut world = build(&setup(flat(), vec![text_robot("Cart", CART, 0.0, 0.0)]));
    for (way, reading) in [(0.0, 0.0), (2.0, 0.5), (-4.0, -1.0), (50.0, 1.0), (-50.0, -1.0)] {
        write(&mut world, "/Sim/Cart/rail/Angle", Value::Double(way));
        assert_eq!(number(&world, "/Sim/Cart/Way"), reading, "at {way} m");
        let snapshot = world.take_snapshot();
        let card = agent(&snapshot.catalogue, "Cart");
        assert_eq!(snapshot.sensed(card, Role::Output).collect::<Vec<_>>(), [reading], "at {way} m");
    }
}

#[test]
fn a_distance_sensor_that_sees_nothing_reads_its_full_range() {
    let empty = "<mujoco><worldbody><geom name='floor' type='plane' size='9 9 1'/></worldbody></mujoco>";
    let mut world = build(&setup(text("empty", empty), vec![robot("Rover", "rover", 0.0, 0.0)]));
    world.tick();
    for sensor in 1..=8 {
        assert_eq!(number(&world, &format!("/Sim/Rover/Distance/{sensor}")), 1.0, "sensor {sensor}");
    }
    let snapshot = world.take_snapshot();
    let card = agent(&snapshot.catalogue, "Rover");
    assert_eq!(snapshot.sensed(card, Role::Output).take(8).collect::<Vec<_>>(), [1.0; 8]);
}

#[test]
fn infos_follow_the_rover() {
    let mut world = build(&setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0)]));
    write(&mut world, "/Sim/Rover/Position", Value::Point3D([1.5, -0.5, 0.035]));
    assert!(close(number(&world, "/Sim/Rover/Position/X"), 0.15, 1e-9), "of 10 m");
    assert!(close(number(&world, "/Sim/Rover/Position/Y"), -0.05, 1e-9));
    write(&mut world, "/Sim/Rover/Heading", Value::Double(std::f64::consts::PI / 2.0));
    assert!(close(number(&world, "/Sim/Rover/Orientation/Z"), 0.5_f64.sqrt(), 1e-9));
}

#[test]
fn ranges_without_a_sensible_end_do_not_end_the_process() {
    // what is written at the actuator or the sensor; each is refused or gets finite ranges
    for [actuator, sensor] in [
        ["<motor name='m' joint='j' ctrllimited='true' ctrlrange='-1 nan'/>", "<jointpos name='s' joint='j'/>"],
        ["<motor name='m' joint='j' ctrllimited='true' ctrlrange='-inf inf'/>", "<jointpos name='s' joint='j'/>"],
        ["<motor name='m' joint='j' ctrllimited='true' ctrlrange='0 inf'/>", "<jointpos name='s' joint='j'/>"],
        [
            "<position name='m' joint='j' kp='5' ctrllimited='true' ctrlrange='-inf inf'/>",
            "<jointpos name='s' joint='j'/>",
        ],
        [
            "<position name='m' joint='j' kp='5' forcelimited='true' forcerange='-inf inf'/>",
            "<jointpos name='s' joint='j'/>",
        ],
        [
            "<velocity name='m' joint='j' kv='5' ctrllimited='true' ctrlrange='-inf inf'/>",
            "<jointpos name='s' joint='j'/>",
        ],
        ["<motor name='m' joint='j'/>", "<jointpos name='s' joint='j' cutoff='inf'/>"],
        ["<motor name='m' joint='j'/>", "<jointpos name='s' joint='j' cutoff='nan'/>"],
        ["<motor name='m' joint='j'/>", "<accelerometer name='s' site='t' user='-3'/>"],
        ["<motor name='m' joint='j'/>", "<accelerometer name='s' site='t' user='nan'/>"],
        [
            "<motor name='m_tau' joint='j' gear='0'/><position name='m_pos' joint='j'/><velocity name='m_vel' joint='j'/>",
            "<jointpos name='s' joint='j'/>",
        ],
        [
            "<motor name='m_tau' joint='j'/><position name='m_pos' joint='j' gear='1e-200'/>
             <velocity name='m_vel' joint='j'/>",
            "<jointpos name='s' joint='j'/>",
        ],
    ] {
        let mjcf = format!(
            "<mujoco><worldbody><body name='b' pos='0 0 1'><joint name='j'/><geom size='0.1'/><site name='t'/></body>
             </worldbody><actuator>{actuator}</actuator><sensor>{sensor}</sensor></mujoco>"
        );
        let Ok(source) = physics::Source::from_text("odd", &mjcf, &physics::Limits::default()) else { continue };
        let odd = world::Robot { name: "Odd".into(), source, pose: physics::Pose::IDENTITY };
        let Ok(mut world) = world::World::new(&Setup { robots: vec![odd], ..Setup::new(flat()) }) else { continue };
        let card = agent(world.catalogue(), "Odd").clone();
        for value in &card.values {
            for bounds in [value.physical, value.normalized] {
                let sound = bounds.min.is_finite() && bounds.max.is_finite() && bounds.min < bounds.max;
                assert!(sound, "{actuator} {sensor}: {} has {bounds:?}", value.name);
            }
        }
        for target in [-1e300, -1.0, 0.0, 0.5, 1e300] {
            world.stage(
                card.id,
                SessionId(0),
                0,
                vec![Action::Set { motor: 0, target: Some(target), torque: Some(1.0) }],
            );
            let target = world::JointTarget { q: 1.0, dq: 1.0, kp: 1e5, kd: 1e3, tau: 1.0 };
            world.stage(card.id, SessionId(0), 1, vec![Action::Joint { motor: 0, target }]);
            world.tick();
            let snapshot = world.take_snapshot();
            assert!(snapshot.sensed(&card, Role::Output).all(|x| (-1.0..=1.0).contains(&x)), "{actuator} {sensor}");
        }
    }
}

#[test]
fn a_servo_turns_at_its_top_speed_and_no_faster() {
    let mut world = build(&setup(flat(), vec![robot("ASeries", "aseries", 0.0, 0.0)]));
    let head = world.catalogue().agents[0].motors.iter().position(|motor| motor.name == "Head/Pan").unwrap();
    let all_the_way = Action::Set { motor: head, target: Some(2.3), torque: None };
    world.stage(world::AgentId(1), SessionId(0), 0, vec![all_the_way]);
    let mut fastest: f64 = 0.0;
    for _ in 0..100 {
        world.tick();
        fastest = fastest.max(number(&world, "/Sim/ASeries/Head/Pan/Velocity"));
    }
    assert!((3.3..=3.51).contains(&fastest), "3.5 rad/s is its top speed, not {fastest}");
}
