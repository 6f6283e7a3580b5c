//! The shipped robots and fields against their figures: every number of `figures.json` must come out of the
//! compiled model. Gaits of existing agents depend on these numbers, so each difference is listed by name.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use mujoco_rs::prelude::*;
use serde_json::{Value, json};

/// Models with figures: folder below `models/`, file of the model.
const WITH_FIGURES: [(&str, &str); 5] = [
    ("robots/T1", "robot.xml"),
    ("robots/K1", "robot.xml"),
    ("robots/ant", "robot.xml"),
    ("fields/fifa", "field.xml"),
    ("fields/fifa7vs7", "field.xml"),
];

/// All shipped models and the mass of each in kg, where it means something.
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

/// Visibility group of shapes that are only there to be seen.
const LOOKS: i32 = 2;

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

fn rows<'a>(figures: &'a Value, section: &str) -> &'a [Value] {
    figures[section].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

/// A figure as numbers: a number, a truth value or a list of numbers.
fn numbers(figure: &Value) -> Vec<f64> {
    match figure {
        Value::Array(list) => list.iter().flat_map(numbers).collect(),
        Value::Bool(flag) => vec![f64::from(*flag)],
        other => other.as_f64().into_iter().collect(),
    }
}

fn fixed<const N: usize>(figure: &Value) -> [f64; N] {
    numbers(figure).try_into().unwrap_or([f64::NAN; N])
}

/// An index of MuJoCo's, where -1 stands for none.
fn index(id: i32) -> usize {
    usize::try_from(id).expect("the element refers to another one")
}

fn name(model: &MjModel, kind: MjtObjBase, id: usize) -> &str {
    model.id_to_name(kind, id).unwrap_or_default()
}

fn rotation([w, x, y, z]: [f64; 4]) -> [[f64; 3]; 3] {
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// Principal moments and their frame as a tensor in the body's frame: equal bodies have equal tensors, also
/// where the principal axes are arbitrary.
fn tensor(moments: [f64; 3], frame: [f64; 4]) -> Vec<f64> {
    let turned = rotation(frame);
    let entry = |row: [f64; 3], column: [f64; 3]| (0..3).map(|k| row[k] * moments[k] * column[k]).sum();
    turned.iter().flat_map(|row| turned.iter().map(|column| entry(*row, *column))).collect()
}

fn joint_type(kind: MjtJoint) -> &'static str {
    match kind {
        MjtJoint::mjJNT_FREE => "free",
        MjtJoint::mjJNT_BALL => "ball",
        MjtJoint::mjJNT_SLIDE => "slide",
        MjtJoint::mjJNT_HINGE => "hinge",
    }
}

fn geom_type(kind: MjtGeomBase) -> &'static str {
    match kind {
        MjtGeomBase::mjGEOM_PLANE => "plane",
        MjtGeomBase::mjGEOM_SPHERE => "sphere",
        MjtGeomBase::mjGEOM_CAPSULE => "capsule",
        MjtGeomBase::mjGEOM_ELLIPSOID => "ellipsoid",
        MjtGeomBase::mjGEOM_CYLINDER => "cylinder",
        MjtGeomBase::mjGEOM_BOX => "box",
        _ => "other",
    }
}

/// Collects the differences between a model and its figures.
struct Comparison<'a> {
    title: &'a str,
    model: &'a MjModel,
    differences: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn differ(&mut self, element: &str, field: &str, expected: impl Debug, got: impl Debug) {
        self.differences.push(format!("{}: {element}: {field}: expected {expected:?}, got {got:?}", self.title));
    }

    fn same_text(&mut self, element: &str, field: &str, expected: &str, got: &str) {
        if expected != got {
            self.differ(element, field, expected, got);
        }
    }

    /// The figures leave some elements unnamed; those may have any name.
    fn same_name(&mut self, element: &str, field: &str, expected: &str, got: &str) {
        if !expected.is_empty() {
            self.same_text(element, field, expected, got);
        }
    }

    /// `scale` is the size that the tolerance is relative to.
    fn within(&mut self, element: &str, field: &str, expected: &[f64], got: &[f64], scale: f64) {
        let close = |(e, g): (&f64, &f64)| (e - g).abs() <= TOLERANCE * scale;
        if expected.len() != got.len() || !expected.iter().zip(got).all(close) {
            self.differ(element, field, expected, got);
        }
    }

    fn same(&mut self, element: &str, field: &str, expected: &Value, got: &[f64]) {
        let expected = numbers(expected);
        let scale = expected.iter().fold(1.0, |largest: f64, e| largest.max(e.abs()));
        self.within(element, field, &expected, got, scale);
    }

    /// Small masses and inertias too must be right to six digits.
    fn same_digits(&mut self, element: &str, field: &str, expected: &[f64], got: &[f64]) {
        let scale = expected.iter().fold(0.0, |largest: f64, e| largest.max(e.abs()));
        self.within(element, field, expected, got, scale);
    }

    /// q and -q are the same orientation.
    fn same_turn(&mut self, element: &str, field: &str, expected: &Value, got: [f64; 4]) {
        let expected = fixed::<4>(expected);
        let along: f64 = expected.iter().zip(got).map(|(e, g)| e * g).sum();
        self.within(element, field, &expected, &got.map(|x| x * along.signum()), 1.0);
    }

    /// A range that may be absent.
    fn same_range(&mut self, element: &str, field: &str, expected: &Value, limited: bool, got: [f64; 2]) {
        match (expected.is_null(), limited) {
            (true, false) => {}
            (false, true) => self.same(element, field, expected, &got),
            _ => self.differ(element, field, expected, limited.then_some(got)),
        }
    }

    fn count(&mut self, what: &str, expected: usize, got: usize) {
        if expected != got {
            self.differ(what, "number", expected, got);
        }
    }

    fn body_name(&self, id: i32) -> &'a str {
        name(self.model, MjtObjBase::mjOBJ_BODY, index(id))
    }

    fn options(&mut self, figures: &Value) {
        let opt = self.model.opt();
        let got: [(&str, Vec<f64>); 10] = [
            ("timestep", vec![opt.timestep]),
            ("integrator", vec![f64::from(opt.integrator)]),
            ("cone", vec![f64::from(opt.cone)]),
            ("solver", vec![f64::from(opt.solver)]),
            ("iterations", vec![f64::from(opt.iterations)]),
            ("gravity", opt.gravity.to_vec()),
            ("density", vec![opt.density]),
            ("viscosity", vec![opt.viscosity]),
            ("disableflags", vec![f64::from(opt.disableflags)]),
            ("enableflags", vec![f64::from(opt.enableflags)]),
        ];
        for (field, got) in got {
            self.same("option", field, &figures["option"][field], &got);
        }
    }

    fn bodies(&mut self, figures: &Value) {
        let model = self.model;
        let expected = rows(figures, "bodies");
        self.count("bodies", expected.len() + 1, model.body_mass().len());
        for (row, id) in expected.iter().zip(1..model.body_mass().len()) {
            let own = name(model, MjtObjBase::mjOBJ_BODY, id);
            let element = format!("body {own}");
            self.same_name(&element, "name", text(row, "name"), own);
            self.same_name(&element, "parent", text(row, "parent"), self.body_name(model.body_parentid()[id]));
            self.same(&element, "pos", &row["pos"], &model.body_pos()[id]);
            self.same_turn(&element, "quat", &row["quat"], model.body_quat()[id]);
            self.same_digits(&element, "mass", &numbers(&row["mass"]), &[model.body_mass()[id]]);
            self.same(&element, "inertial_pos", &row["inertial_pos"], &model.body_ipos()[id]);
            let expected = tensor(fixed(&row["diag_inertia"]), fixed(&row["inertial_quat"]));
            let got = tensor(model.body_inertia()[id], model.body_iquat()[id]);
            self.same_digits(&element, "inertia", &expected, &got);
        }
    }

    fn joints(&mut self, figures: &Value) {
        let model = self.model;
        let expected = rows(figures, "joints");
        if expected.is_empty() {
            return; // the figures of the fields say nothing of the ball's joint
        }
        self.count("joints", expected.len(), model.jnt_type().len());
        for (row, id) in expected.iter().zip(0..model.jnt_type().len()) {
            let own = name(model, MjtObjBase::mjOBJ_JOINT, id);
            let element = format!("joint {own}");
            self.same_text(&element, "name", text(row, "name"), own);
            self.same_name(&element, "body", text(row, "body"), self.body_name(model.jnt_bodyid()[id]));
            self.same_text(&element, "type", text(row, "type"), joint_type(model.jnt_type()[id]));
            self.same(&element, "pos", &row["pos"], &model.jnt_pos()[id]);
            self.same(&element, "axis", &row["axis"], &model.jnt_axis()[id]);
            self.same(&element, "limited", &row["limited"], &[f64::from(model.jnt_limited()[id])]);
            self.same(&element, "range", &row["range"], &model.jnt_range()[id]);
            let force = (model.jnt_actfrclimited()[id], model.jnt_actfrcrange()[id]);
            self.same_range(&element, "actuator_force_range", &row["actuator_force_range"], force.0, force.1);
            let dof = index(model.jnt_dofadr()[id]);
            self.same(&element, "stiffness", &row["stiffness"], &[model.jnt_stiffness()[id]]);
            self.same(&element, "damping", &row["damping"], &[model.dof_damping()[dof]]);
            self.same(&element, "armature", &row["armature"], &[model.dof_armature()[dof]]);
            self.same(&element, "frictionloss", &row["frictionloss"], &[model.dof_frictionloss()[dof]]);
            self.same(&element, "solref_limit", &row["solref_limit"], &model.jnt_solref()[id]);
            self.same(&element, "solimp_limit", &row["solimp_limit"], &model.jnt_solimp()[id]);
        }
    }

    /// Shapes that collide, in order, and named shapes that do not. Further looks are free.
    fn geoms(&mut self, figures: &Value) {
        let model = self.model;
        let collides = |id: &usize| model.geom_contype()[*id] != 0 || model.geom_conaffinity()[*id] != 0;
        let colliding: Vec<usize> = (0..model.geom_type().len()).filter(collides).collect();
        let (expected, looks): (Vec<&Value>, Vec<&Value>) =
            rows(figures, "geoms").iter().partition(|row| row["contype"] != 0 || row["conaffinity"] != 0);
        self.count("geoms that collide", expected.len(), colliding.len());
        for (row, id) in expected.into_iter().zip(colliding) {
            self.geom(row, id);
        }
        for row in looks {
            match model.name_to_id(MjtObjBase::mjOBJ_GEOM, text(row, "name")) {
                Some(id) => self.geom(row, id),
                None => self.differ(&format!("geom {}", text(row, "name")), "name", "present", "missing"),
            }
        }
    }

    fn geom(&mut self, row: &Value, id: usize) {
        let model = self.model;
        let own = name(model, MjtObjBase::mjOBJ_GEOM, id);
        let element = format!("geom {own}");
        self.same_name(&element, "name", text(row, "name"), own);
        self.same_name(&element, "body", text(row, "body"), self.body_name(model.geom_bodyid()[id]));
        // of a mesh only frame and half extents are known: an ellipsoid of the same extents stands for it
        let expected = match text(row, "type") {
            "mesh" => "ellipsoid",
            other => other,
        };
        self.same_text(&element, "type", expected, geom_type(model.geom_type()[id]));
        self.same(&element, "size", &row["size"], &model.geom_size()[id]);
        self.same(&element, "pos", &row["pos"], &model.geom_pos()[id]);
        self.same_turn(&element, "quat", &row["quat"], model.geom_quat()[id]);
        for (field, got) in [
            ("contype", model.geom_contype()[id]),
            ("conaffinity", model.geom_conaffinity()[id]),
            ("condim", model.geom_condim()[id]),
            ("priority", model.geom_priority()[id]),
            ("group", model.geom_group()[id]),
        ] {
            self.same(&element, field, &row[field], &[f64::from(got)]);
        }
        self.same(&element, "friction", &row["friction"], &model.geom_friction()[id]);
        self.same(&element, "solref", &row["solref"], &model.geom_solref()[id]);
        self.same(&element, "solimp", &row["solimp"], &model.geom_solimp()[id]);
        self.same(&element, "margin", &row["margin"], &[model.geom_margin()[id]]);
    }

    fn sites(&mut self, figures: &Value) {
        let model = self.model;
        let expected = rows(figures, "sites");
        self.count("sites", expected.len(), model.site_pos().len());
        for row in expected {
            let own = text(row, "name");
            let element = format!("site {own}");
            let Some(id) = model.name_to_id(MjtObjBase::mjOBJ_SITE, own) else {
                self.differ(&element, "name", "present", "missing");
                continue;
            };
            self.same_text(&element, "body", text(row, "body"), self.body_name(model.site_bodyid()[id]));
            self.same(&element, "pos", &row["pos"], &model.site_pos()[id]);
            self.same_turn(&element, "quat", &row["quat"], model.site_quat()[id]);
        }
    }

    fn actuators(&mut self, figures: &Value) {
        let model = self.model;
        let expected = rows(figures, "actuators");
        self.count("actuators", expected.len(), model.actuator_trnid().len());
        for (row, id) in expected.iter().zip(0..model.actuator_trnid().len()) {
            let own = name(model, MjtObjBase::mjOBJ_ACTUATOR, id);
            let element = format!("actuator {own}");
            self.same_text(&element, "name", text(row, "name"), own);
            let joint = name(model, MjtObjBase::mjOBJ_JOINT, index(model.actuator_trnid()[id][0]));
            self.same_text(&element, "joint", text(row, "joint"), joint);
            self.same(&element, "gear", &row["gear"], &model.actuator_gear()[id][..1]);
            self.same(&element, "gainprm", &row["gainprm"], &model.actuator_gainprm()[id][..3]);
            self.same(&element, "biasprm", &row["biasprm"], &model.actuator_biasprm()[id][..3]);
            let control = (model.actuator_ctrllimited()[id], model.actuator_ctrlrange()[id]);
            self.same_range(&element, "ctrl_range", &row["ctrl_range"], control.0, control.1);
            let force = (model.actuator_forcelimited()[id], model.actuator_forcerange()[id]);
            self.same_range(&element, "force_range", &row["force_range"], force.0, force.1);
        }
    }

    fn sensors(&mut self, figures: &Value) {
        let model = self.model;
        let expected = rows(figures, "sensors");
        self.count("sensors", expected.len(), model.sensor_type().len());
        for (row, id) in expected.iter().zip(0..model.sensor_type().len()) {
            let own = name(model, MjtObjBase::mjOBJ_SENSOR, id);
            let element = format!("sensor {own}");
            self.same_text(&element, "name", text(row, "name"), own);
            self.same(&element, "type", &row["type"], &[f64::from(model.sensor_type()[id] as i32)]);
            let object = name(model, model.sensor_objtype()[id], index(model.sensor_objid()[id]));
            self.same_text(&element, "object", text(row, "object"), object);
        }
    }

    fn exclusions(&mut self, figures: &Value) {
        let expected = figures["excluded_contacts"].as_u64().unwrap_or_default();
        let got = self.model.exclude_signature().len() as f64;
        self.same("contact", "excluded_contacts", &expected.into(), &[got]);
    }
}

/// All differences between a compiled model and its figures.
fn differences(title: &str, model: &MjModel, figures: &Value) -> Vec<String> {
    let mut comparison = Comparison { title, model, differences: Vec::new() };
    comparison.options(figures);
    comparison.bodies(figures);
    comparison.joints(figures);
    comparison.geoms(figures);
    comparison.sites(figures);
    comparison.actuators(figures);
    comparison.sensors(figures);
    comparison.exclusions(figures);
    comparison.differences
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

/// The figures have only the number of excluded contacts; these are the pairs.
#[test]
fn t1_legs_pass_through_themselves_at_knee_and_ankle() {
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
fn looks_touch_nothing() {
    for (model, file, _) in ALL {
        let compiled = load(model, file);
        let colliding: Vec<usize> = (0..compiled.geom_type().len())
            .filter(|&id| compiled.geom_group()[id] == LOOKS)
            .filter(|&id| compiled.geom_contype()[id] != 0 || compiled.geom_conaffinity()[id] != 0)
            .collect();
        assert!(colliding.is_empty(), "{model}: looks that collide: {colliding:?}");
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
fn nothing_touches_itself_in_the_zero_pose() {
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
