//! Compares a compiled model with its figures and lists every difference by name.

use std::fmt::Debug;

use mujoco_rs::prelude::*;
use serde_json::Value;

use super::{TOLERANCE, index, name};

/// All differences between a compiled model and its figures.
pub(super) fn differences(title: &str, model: &MjModel, figures: &Value) -> Vec<String> {
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

fn rows<'a>(figures: &'a Value, section: &str) -> &'a [Value] {
    figures[section].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_default()
}

/// The numbers of a figure, which is a number, a boolean or a list of numbers.
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

    /// An element without a name in the figures may have any name.
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

    /// Relative tolerance also for small values, such as masses and inertias.
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
            return; // the figures of fields leave out the ball's joint
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

    /// Colliding geoms, in order, and named visual geoms. The model may have more visual geoms.
    fn geoms(&mut self, figures: &Value) {
        let model = self.model;
        let collides = |id: &usize| model.geom_contype()[*id] != 0 || model.geom_conaffinity()[*id] != 0;
        let colliding: Vec<usize> = (0..model.geom_type().len()).filter(collides).collect();
        let (expected, visual): (Vec<&Value>, Vec<&Value>) =
            rows(figures, "geoms").iter().partition(|row| row["contype"] != 0 || row["conaffinity"] != 0);
        self.count("geoms that collide", expected.len(), colliding.len());
        for (row, id) in expected.into_iter().zip(colliding) {
            self.geom(row, id);
        }
        for row in visual {
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
