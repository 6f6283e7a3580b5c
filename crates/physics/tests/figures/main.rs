//! Compares the shipped robots and fields with their figures: the compiled model must reproduce every number of
//! `figures.json`. Gaits of existing agents depend on these numbers.

mod comparison;

use std::path::{Path, PathBuf};

use mujoco_rs::prelude::*;
use serde_json::{Value, json};

use self::comparison::differences;

/// Models with figures: folder in `models/`, file of the model.
const WITH_FIGURES: [(&str, &str); 5] = [
    ("robots/T1", "robot.xml"),
    ("robots/K1", "robot.xml"),
    ("robots/ant", "robot.xml"),
    ("fields/fifa", "field.xml"),
    ("fields/fifa7vs7", "field.xml"),
];

/// All shipped models, and their mass in kg where it is specified.
const ALL: [(&str, &str, Option<f64>); 9] = [
    ("robots/T1", "robot.xml", Some(31.614_357)),
    ("robots/K1", "robot.xml", Some(19.666)),
    ("robots/ant", "robot.xml", Some(0.910_880_083)),
    ("robots/aseries", "robot.xml", Some(2.033_45)),
    ("robots/alice", "robot.xml", None),
    ("robots/rover", "robot.xml", Some(1.2)),
    ("fields/fifa", "field.xml", None),
    ("fields/fifa7vs7", "field.xml", None),
    ("fields/flat", "field.xml", None),
];

/// Largest difference allowed; relative for figures above 1 (they are given with nine digits).
const TOLERANCE: f64 = 1e-6;

/// Group of geoms that are only for display.
const VISUAL_GROUP: i32 = 2;

fn folder(model: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(model)
}

fn load(model: &str, file: &str) -> MjModel {
    let path = folder(model).join(file);
    MjModel::from_xml(&path).unwrap_or_else(|error| panic!("{} does not compile: {error}", path.display()))
}

fn figures(model: &str) -> Value {
    let path = folder(model).join("figures.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Converts an index of MuJoCo, where -1 means none.
fn index(id: i32) -> usize {
    usize::try_from(id).expect("the element refers to another one")
}

fn name(model: &MjModel, kind: MjtObjBase, id: usize) -> &str {
    model.id_to_name(kind, id).unwrap_or_default()
}

fn sensor_names(model: &MjModel) -> Vec<&str> {
    (0..model.sensor_type().len()).map(|id| name(model, MjtObjBase::mjOBJ_SENSOR, id)).collect()
}

fn actuator_names(model: &MjModel) -> Vec<&str> {
    (0..model.actuator_trnid().len()).map(|id| name(model, MjtObjBase::mjOBJ_ACTUATOR, id)).collect()
}

#[test]
fn models_equal_their_figures() {
    let differences: Vec<String> =
        WITH_FIGURES.iter().flat_map(|(model, file)| differences(model, &load(model, file), &figures(model))).collect();
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
}

/// The figures only count the excluded contacts; these are the pairs.
#[test]
fn t1_excludes_contacts_at_knee_and_ankle() {
    let model = load("robots/T1", "robot.xml");
    let body = |id: i32| name(&model, MjtObjBase::mjOBJ_BODY, usize::try_from(id).expect("a body's number"));
    let pair = |signature: &i32| [body(signature >> 16), body(signature & 0xffff)];
    let mut pairs: Vec<_> = model.exclude_signature().iter().map(pair).collect();
    pairs.iter_mut().for_each(|pair| pair.sort_unstable());
    pairs.sort_unstable();
    let expected = [
        ["Hip_Roll_Left", "Shank_Left"],
        ["Hip_Roll_Right", "Shank_Right"],
        ["Shank_Left", "left_foot_link"],
        ["Shank_Right", "right_foot_link"],
    ];
    assert_eq!(pairs, expected);
}

/// The comparison must notice a change of any kind of figure, however small, and name it.
#[test]
fn a_changed_figure_is_found() {
    let changes: [(&str, Value, &str); 26] = [
        ("/option/timestep", json!(0.002_002), "option: timestep"),
        ("/option/integrator", json!(1), "option: integrator"),
        ("/bodies/1/name", json!("H9"), "body H1: name"),
        ("/bodies/2/parent", json!("torso"), "body H2: parent"),
        ("/bodies/2/pos/2", json!(0.061_852), "body H2: pos"),
        ("/bodies/3/quat/2", json!(0.000_442_6), "body AL1: quat"),
        ("/bodies/16/mass", json!(0.073_000_2), "body Ankle_Cross_Left: mass"),
        ("/bodies/16/inertial_pos/0", json!(-0.003_724), "body Ankle_Cross_Left: inertial_pos"),
        ("/bodies/16/diag_inertia/0", json!(0.000_029_000_1), "body Ankle_Cross_Left: inertia"),
        ("/joints/1/axis/0", json!(0.000_002), "joint AAHead_yaw: axis"),
        ("/joints/1/range/1", json!(1.570_002), "joint AAHead_yaw: range"),
        ("/joints/1/actuator_force_range/1", json!(7.000_01), "joint AAHead_yaw: actuator_force_range"),
        ("/joints/0/actuator_force_range", json!([-1, 1]), "joint root: actuator_force_range"),
        ("/joints/1/damping/0", json!(0.010_002), "joint AAHead_yaw: damping"),
        ("/joints/1/armature/0", json!(0.010_002), "joint AAHead_yaw: armature"),
        ("/joints/1/frictionloss/0", json!(0.100_002), "joint AAHead_yaw: frictionloss"),
        ("/geoms/8/size/0", json!(0.111_502), "geom left_foot: size"),
        ("/geoms/8/solimp/0", json!(0.015_002), "geom left_foot: solimp"),
        ("/geoms/0/type", json!("sphere"), "geom torso: type"),
        ("/sites/4/pos/0", json!(0.050_002), "site camera: pos"),
        ("/actuators/1/biasprm/1", json!(-1.000_002), "actuator he1_pos: biasprm"),
        ("/actuators/0/ctrl_range", json!([-1, 1]), "actuator he1_tau: ctrl_range"),
        ("/actuators/0/joint", json!("Waist"), "actuator he1_tau: joint"),
        ("/sensors/2/type", json!(4), "sensor torso_gyro: type"),
        ("/sensors/4/object", json!("Waist"), "sensor q_hj1: object"),
        ("/excluded_contacts", json!(3), "contact: excluded_contacts"),
    ];
    let model = load("robots/T1", "robot.xml");
    let original = figures("robots/T1");
    for (pointer, value, expected) in changes {
        let mut changed = original.clone();
        *changed.pointer_mut(pointer).expect("the figure exists") = value;
        let found = differences("T1", &model, &changed);
        assert_eq!(found.len(), 1, "{pointer}: {found:#?}");
        assert!(found[0].contains(expected), "{pointer}: {}", found[0]);
    }

    let mut shorter = original;
    shorter["bodies"].as_array_mut().expect("bodies are a list").pop();
    assert!(differences("T1", &model, &shorter).iter().any(|line| line.contains("bodies: number")));
}

#[test]
fn masses() {
    for (model, file, expected) in ALL {
        let total = load(model, file).totalmass();
        if let Some(expected) = expected {
            assert!((total - expected).abs() <= TOLERANCE, "{model}: expected {expected} kg, got {total} kg");
        }
    }
}

#[test]
fn visual_geoms_do_not_collide() {
    for (model, file, _) in ALL {
        let compiled = load(model, file);
        let colliding: Vec<usize> = (0..compiled.geom_type().len())
            .filter(|&id| compiled.geom_group()[id] == VISUAL_GROUP)
            .filter(|&id| compiled.geom_contype()[id] != 0 || compiled.geom_conaffinity()[id] != 0)
            .collect();
        assert!(colliding.is_empty(), "{model}: visual geoms that collide: {colliding:?}");
    }
}

/// The motors of the A-Series humanoid in the order of its interface.
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

/// Its acceleration boards, two axes each.
const ASERIES_BOARDS: [&str; 8] = ["ABFR", "ABHR", "ABSR", "ABAR", "ABFL", "ABHL", "ABML", "ABAL"];

#[test]
fn aseries_interface() {
    let model = load("robots/aseries", "robot.xml");
    assert_eq!(actuator_names(&model), ASERIES_MOTORS);
    let inputs = 2 * model.actuator_trnid().len(); // angle and torque
    assert_eq!(inputs, 42);

    let angles = ASERIES_MOTORS.iter().map(|motor| format!("{motor}/JointAngle"));
    let expected: Vec<String> = angles.chain(ASERIES_BOARDS.map(str::to_owned)).collect();
    assert_eq!(sensor_names(&model), expected);

    let axes = |id: usize| match model.sensor_type()[id] {
        MjtSensor::mjSENS_ACCELEROMETER => model.sensor_user()[id],
        _ => 1.0,
    };
    let outputs: f64 = (0..expected.len()).map(axes).sum();
    assert_eq!(outputs, 37.0);

    let half_range = 150_f64.to_radians();
    for (id, motor) in ASERIES_MOTORS.iter().enumerate() {
        let joint = index(model.actuator_trnid()[id][0]);
        assert_eq!(name(&model, MjtObjBase::mjOBJ_JOINT, joint), *motor);
        assert_eq!(model.actuator_ctrlrange()[id], [-half_range, half_range], "{motor}");
        assert_eq!(model.actuator_forcerange()[id], [-1.048_039_39, 1.048_039_39], "{motor}");
        assert_eq!(model.actuator_user()[id], 3.5, "{motor}: maximum velocity");
        let [kp, kv] = [-model.actuator_biasprm()[id][1], -model.actuator_biasprm()[id][2]];
        assert_eq!(kp, 20.0 * kv, "{motor}: velocity loop of 20 1/s");
        assert_eq!(model.sensor_cutoff()[id], half_range, "{motor}");
    }
}

/// The limits of a left and a right joint mirror each other, and the knees bend one way only.
#[test]
fn aseries_limits() {
    let model = load("robots/aseries", "robot.xml");
    let range = |joint: &str| {
        let id = model.name_to_id(MjtObjBase::mjOBJ_JOINT, joint).expect("the joint exists");
        model.jnt_range()[id].map(f64::to_degrees)
    };
    for joint in ASERIES_MOTORS.iter().filter_map(|motor| motor.strip_prefix("Left/")) {
        let [low, high] = range(&format!("Left/{joint}"));
        let [other_low, other_high] = range(&format!("Right/{joint}"));
        assert!((low + other_high).abs() < 1e-9 && (high + other_low).abs() < 1e-9, "{joint}");
    }
    let [low, high] = range("Left/Knee");
    assert!((low + 150.0).abs() < 1e-9 && high.abs() < 1e-9);
}

#[test]
fn robots_do_not_touch_themselves_in_the_zero_pose() {
    for robot in ["T1", "K1", "ant", "aseries", "rover"] {
        let model = load(&format!("robots/{robot}"), "robot.xml");
        let mut data = model.make_data();
        data.forward();
        assert_eq!(data.ncon(), 0, "{robot}: contacts with itself");
    }
}

/// Stands for 20 s in the zero pose, also with half the torque.
#[test]
fn aseries_stands() {
    let robot = folder("robots/aseries").join("robot.xml");
    let scene = format!(
        r#"<mujoco><include file="{}"/><worldbody><geom type="plane" size="2 2 0.1"/></worldbody></mujoco>"#,
        robot.display()
    );
    for torque in [1.0, 0.5] {
        let mut model = MjModel::from_xml_string(&scene).expect("robot and floor compile");
        for range in model.actuator_forcerange_mut() {
            *range = range.map(|limit| limit * torque);
        }
        let joints = model.actuator_trnid().iter().map(|id| index(id[0]));
        let angles: Vec<usize> = joints.map(|joint| index(model.jnt_qposadr()[joint])).collect();
        let torso = model.name_to_id(MjtObjBase::mjOBJ_BODY, "Middle/UpperBody").expect("the torso exists");
        // as far as ctrl may be ahead of the joint: maximum velocity * kv / kp
        let ahead = |motor: usize| {
            let [_, kp, kv, ..] = model.actuator_biasprm()[motor];
            model.actuator_user()[motor] * kv / kp
        };
        let ahead: Vec<f64> = (0..angles.len()).map(ahead).collect();

        let mut data = model.make_data();
        for _ in 0..4000 {
            for (motor, &angle) in angles.iter().enumerate() {
                let now = data.qpos()[angle];
                data.ctrl_mut()[motor] = now + (-now).clamp(-ahead[motor], ahead[motor]);
            }
            data.step();
        }
        let height = data.xpos()[torso][2];
        let upright = data.xmat()[torso][8];
        assert!(height > 0.31 && upright > 0.999, "torque {torque}: torso at {height} m, upright {upright}");
        let worst = angles.iter().map(|&angle| data.qpos()[angle].abs()).fold(0.0, f64::max);
        assert!(worst < 0.02, "torque {torque}: an angle is off by {worst} rad");
    }
}

#[test]
fn rover_interface() {
    let model = load("robots/rover", "robot.xml");
    assert_eq!(actuator_names(&model), ["Left/Wheel", "Right/Wheel"]);
    let distances = (1..=8).map(|number| format!("Distance/{number}"));
    let others = ["Bumper/Left", "Bumper/Right", "Light", "Left/Wheel/Velocity", "Right/Wheel/Velocity"];
    let infos = ["Info/Position", "Info/Orientation"];
    let expected: Vec<String> = distances.chain(others.into_iter().chain(infos).map(str::to_owned)).collect();
    assert_eq!(sensor_names(&model), expected);
}
