use std::fs;

use super::*;
use crate::{
    Edit, JointKind, Limits, SensorKind, Shape, Sim,
    testing::{BOX, FLOOR, WALKER, attachment, compile, source},
};

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn attachments_are_found_by_prefix() {
    let robot = source("walker", WALKER);
    let attachments: Vec<Attachment> = (0..2)
        .map(|i| Attachment {
            prefix: format!("r{i}/"),
            source: robot.clone(),
            pose: Pose::facing(f64::from(i), 2.0, 0.0, 1.0),
        })
        .collect();
    let model = compile(&attachments).unwrap();
    let names = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(
        names(model.bodies().map(|b| model.body_name(b)).collect()),
        ["world", "r0/torso", "r0/left", "r0/right", "r1/torso", "r1/left", "r1/right"]
    );
    assert_eq!(
        names(model.actuators().map(|a| model.actuator_name(a)).collect()),
        ["r0/left", "r0/right", "r1/left", "r1/right"]
    );
    assert_eq!(names(model.lights().map(|l| model.light_name(l)).collect()), ["sun"]);
    assert_eq!(model.geom_named("r1/paint"), None, "visual geoms are left out");
    assert_eq!((model.body_named(""), model.body_named("a\0b"), model.joint_named("none")), (None, None, None));

    let torso = model.body_named("r1/torso").unwrap();
    let left = model.body_named("r1/left").unwrap();
    assert_eq!((model.body_parent(left), model.body_root(left)), (torso, torso));
    assert_eq!(model.subtree(torso).count(), 3);
    assert_eq!(model.subtree(left).collect::<Vec<_>>(), [left]);
    assert_eq!(model.joint_kind(model.body_free_joint(torso).unwrap()), JointKind::Free);
    assert_eq!(model.body_free_joint(left), None);
    let geom = model.body_geoms(left).next().unwrap();
    assert_eq!((model.geom_name(geom), model.geom_shape(geom)), ("r1/left", Shape::Capsule));

    let joint = model.joint_named("r1/left").unwrap();
    assert_eq!(model.joint_kind(joint), JointKind::Hinge);
    assert!(close(&model.joint_range(joint).unwrap(), &[-60_f64.to_radians(), 60_f64.to_radians()]));
    let right = model.joint_named("r1/right").unwrap();
    assert_eq!((model.joint_range(right), model.joint_force_range(right)), (None, Some([-3.0, 3.0])));

    let servo = model.actuator(model.actuator_named("r1/left").unwrap());
    assert_eq!(servo.joint, Some(joint));
    assert_eq!((servo.gain[0], servo.bias, servo.gear), (5.0, [0.0, -5.0, 0.0], 1.0));
    assert_eq!((servo.ctrl_range, servo.force_range), (Some([-1.0, 1.0]), Some([-2.0, 2.0])));
    assert_eq!(servo.user, [7.0, 8.0]);

    let gyro = model.sensor(model.sensor_named("r1/gyro").unwrap());
    assert_eq!((gyro.kind, gyro.dim, gyro.cutoff, gyro.positive), (SensorKind::Gyro, 3, 10.0, false));
    assert_eq!(gyro.site, model.site_named("r1/imu"));
    assert!(model.sensor(model.sensor_named("r1/touch").unwrap()).positive);
    let eye = model.sensor_named("r1/eye").unwrap();
    assert_eq!((model.sensor(eye).kind, model.sensor_range(eye).len()), (SensorKind::User, 3));
    assert_eq!(model.sensor(eye).user, [1.0]);
}

#[test]
fn the_pose_is_that_of_the_models_origin() {
    let check = |text: &str, pose: Pose, body: &str, expected: [f64; 3]| {
        let sim = Sim::new(compile(&[attachment("a-", text, pose)]).unwrap()).unwrap();
        let body = sim.model().body_named(body).unwrap();
        assert!(close(&sim.body_pose(body).pos, &expected), "{:?}", sim.body_pose(body));
    };
    check(WALKER, Pose::at(1.0, 2.0, 0.0), "a-torso", [1.0, 2.0, 0.5]);
    check(WALKER, Pose::facing(1.0, 2.0, 0.0, std::f64::consts::FRAC_PI_2), "a-left", [0.9, 2.0, 0.3]);
    // a frame of the author's own stays in force, and what is nested in it too
    let framed = r#"<mujoco><worldbody><frame pos="0 0 1"><frame pos="1 0 0"><body name="b" pos="0 1 0">
        <freejoint/><geom size="0.1"/></body></frame></frame></worldbody></mujoco>"#;
    check(framed, Pose::at(10.0, 0.0, 0.0), "a-b", [11.0, 1.0, 1.0]);
}

#[test]
fn several_bodies_are_attached_with_what_connects_them() {
    let pair = r#"<mujoco>
      <asset><mesh name="unused" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
      <worldbody>
        <geom name="scenery" size="1"/>
        <body name="a"><freejoint name="a"/><geom name="a" size="0.1"/><site name="a"/></body>
        <body name="b" pos="1 0 0"><joint name="b"/><geom name="b" size="0.1"/><site name="b"/></body>
        <body name="m" mocap="true"/>
      </worldbody>
      <tendon><spatial name="t"><site site="a"/><site site="b"/></spatial></tendon>
      <equality><weld name="w" body1="a" body2="b"/></equality>
      <contact><pair name="p" geom1="a" geom2="b"/></contact>
      <actuator><motor name="m" tendon="t"/></actuator>
      <sensor><tendonpos name="s" tendon="t"/></sensor>
    </mujoco>"#;
    let robot = source("pair", pair);
    let attachments: Vec<Attachment> = ["x.", "y."]
        .map(|prefix| Attachment { prefix: prefix.to_owned(), source: robot.clone(), pose: Pose::IDENTITY })
        .to_vec();
    let model = compile(&attachments).unwrap();
    let m = model.compiled();
    assert_eq!((m.nbody(), m.ntendon(), m.neq(), m.npair(), m.nactuator(), m.nsensor()), (7, 2, 2, 2, 2, 2));
    assert!(model.body_named("y.m").is_some() && model.sensor_named("y.s").is_some());
    assert_eq!(model.geom_named("x.scenery"), None);
}

#[test]
fn equal_assemblies_have_equal_fingerprints() {
    let one = compile(&[attachment("a-", WALKER, Pose::IDENTITY)]).unwrap();
    let same = compile(&[attachment("a-", WALKER, Pose::IDENTITY)]).unwrap();
    let other = compile(&[attachment("b-", WALKER, Pose::IDENTITY)]).unwrap();
    assert_eq!(one.fingerprint(), same.fingerprint());
    assert_ne!(one.fingerprint(), other.fingerprint());
    fn shareable<T: Send + Sync>() {}
    shareable::<Model>();
    shareable::<Assembly>();
}

#[test]
fn a_size_edit_takes_effect() {
    let size = |geom: &str, size: [f64; 3]| {
        let edits = vec![Edit::GeomSize { geom: geom.to_owned(), size }];
        let attachments = vec![attachment("a-", BOX, Pose::IDENTITY), attachment("b-", WALKER, Pose::IDENTITY)];
        Assembly { attachments, edits, ..Assembly::new(source("floor", FLOOR)) }.compile()
    };
    let sim = Sim::new(size("a-shell", [0.3, 0.2, 0.1]).unwrap()).unwrap();
    assert_eq!(sim.geom_size(sim.model().geom_named("a-shell").unwrap()), [0.3, 0.2, 0.1]);
    for (geom, bad) in [("shell", [0.1; 3]), ("a-shell", [f64::NAN; 3]), ("a-shell", [-1.0; 3]), ("a\0", [0.1; 3])] {
        assert!(matches!(size(geom, bad), Err(ModelError::BadEdit { .. })), "{geom} {bad:?}");
    }
    assert!(matches!(size("a-shell", [0.0; 3]), Err(ModelError::Engine { .. })), "a box has a size");
}

#[test]
fn a_size_edit_replaces_the_end_points_of_a_capsule() {
    let capsule =
        r#"<mujoco><worldbody><geom name="c" type="capsule" fromto="0 0 0 1 0 0" size="0.1"/></worldbody></mujoco>"#;
    let edits = vec![Edit::GeomSize { geom: "c".to_owned(), size: [0.2, 0.7, 0.0] }];
    let sim = Sim::new(Assembly { edits, ..Assembly::new(source("c", capsule)) }.compile().unwrap()).unwrap();
    let geom = sim.model().geom_named("c").unwrap();
    assert!(close(&sim.geom_size(geom)[..2], &[0.2, 0.7]));
    let pose = sim.geom_pose(geom);
    assert!(close(&pose.pos, &[0.5, 0.0, 0.0]), "{pose:?}");
    assert!(close(&pose.turn([0.0, 0.0, 1.0]).map(f64::abs), &[1.0, 0.0, 0.0]), "{pose:?}");
}

#[test]
fn engine_errors_are_returned() {
    let check = |text: &str, words: &str| match compile(&[attachment("a-", text, Pose::IDENTITY)]) {
        Err(error) => assert!(error.to_string().contains(words), "{error}"),
        Ok(_) => panic!("{text} compiled"),
    };
    let body = |inner: &str| format!("<mujoco><worldbody><body name='b'>{inner}</body></worldbody></mujoco>");
    check("<mujoco/>", "has no body");
    check("<mujocow/>", "does not compile");
    check(&body("<geom size='-1'/>"), "size");
    check(&body("<freejoint/>"), "mass");
    check(&body("<geom size='0.1' nonsense='1'/>"), "nonsense");
    check(&body("<geom type='mesh' mesh='none'/>"), "none");
    let twice = [attachment("a-", BOX, Pose::IDENTITY), attachment("a-", BOX, Pose::IDENTITY)];
    assert!(matches!(compile(&twice), Err(ModelError::Engine { .. })));
    assert!(matches!(compile(&[attachment("a\0", BOX, Pose::IDENTITY)]), Err(ModelError::Engine { .. })));
    let backwards = "<mujoco><option timestep='-1'/><worldbody/></mujoco>";
    assert!(matches!(Assembly::new(source("b", backwards)).compile(), Err(ModelError::Engine { .. })));
}

#[test]
fn engine_errors_name_the_model() {
    let check = |base: &str, attachments: &[Attachment], edits: &[Edit], model: &str| {
        let assembly =
            Assembly { base: source("field", base), attachments: attachments.to_vec(), edits: edits.to_vec() };
        let Err(ModelError::Engine { model: named, reason }) = assembly.compile() else { panic!("{model} compiled") };
        assert_eq!(named, model, "{reason}");
        assert!(!reason.contains('\n') && !reason.is_empty(), "{reason:?}");
    };
    let bad = "<mujoco><worldbody><body><geom size='-1'/></body></worldbody></mujoco>";
    let good = attachment("a-", BOX, Pose::IDENTITY);
    check(bad, std::slice::from_ref(&good), &[], "field");
    check(FLOOR, &[good.clone(), attachment("b-", bad, Pose::IDENTITY)], &[], "part");
    check(FLOOR, &[good.clone(), attachment("a-", BOX, Pose::IDENTITY)], &[], r#"part as "a-""#);
    let nothing = Edit::GeomSize { geom: "b-shell".to_owned(), size: [0.0; 3] };
    check(FLOOR, &[good.clone(), attachment("b-", BOX, Pose::IDENTITY)], &[nothing], r#"part as "b-""#);
    // words that mention no prefix
    let ball = attachment("", "<mujoco><worldbody><body name='box'/></worldbody></mujoco>", Pose::IDENTITY);
    check(FLOOR, &[good, ball.clone(), ball], &[], r#"part as """#);
}

#[test]
fn unnamed_actuators_and_sensors_get_names() {
    let robot = source(
        "arm",
        "<mujoco><worldbody><body name='arm'><joint name='hip'/><joint name='knee' axis='1 0 0'/><geom size='0.1'/>
         <site name='tip'/></body></worldbody>
         <actuator><motor joint='hip'/><general joint='knee' dyntype='filter' dynprm='0.1'/><motor joint='knee'/>
         <motor name='actuator1' joint='hip'/><motor site='tip'/></actuator>
         <sensor><jointpos joint='hip'/><jointvel joint='hip'/><user dim='2'/><gyro site='tip'/></sensor></mujoco>",
    );
    let attachments = |prefixes: &[&str]| -> Vec<Attachment> {
        let attachment =
            |prefix: &&str| Attachment { prefix: (*prefix).to_owned(), source: robot.clone(), pose: Pose::IDENTITY };
        prefixes.iter().map(attachment).collect()
    };
    let model = compile(&attachments(&["a-", "b-"])).unwrap();
    let actuators: Vec<&str> = model.actuators().map(|id| model.actuator_name(id)).collect();
    let sensors: Vec<&str> = model.sensors().map(|id| model.sensor_name(id)).collect();
    let both = |names: &[&str]| -> Vec<String> {
        ["a-", "b-"].iter().flat_map(|prefix| names.iter().map(move |name| format!("{prefix}{name}"))).collect()
    };
    assert_eq!(actuators, both(&["hip", "knee", "actuator2", "actuator1", "tip"]));
    assert_eq!(sensors, both(&["hip", "sensor1", "sensor2", "tip"]));

    let mut old = Sim::new(model).unwrap();
    for (actuator, value) in old.model().clone().actuators().zip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]) {
        old.set_ctrl(actuator, value);
    }
    old.set_sensor(old.model().sensor_named("b-sensor2").unwrap(), &[1.0, 2.0]);
    old.step().unwrap();
    let mut new = Sim::new(compile(&attachments(&["b-", "c-"])).unwrap()).unwrap();
    new.carry_over(&old);
    for name in ["b-hip", "b-knee", "b-actuator2", "b-tip"] {
        let [before, after] = [&old, &new].map(|sim| {
            let actuator = sim.model().actuator_named(name).unwrap();
            (sim.ctrl(actuator), sim.data.act()[sim.model().actuator_act_range(actuator)].to_vec())
        });
        assert_eq!(before, after, "{name}");
        assert!(before.0 > 0.5, "{name}");
    }
    assert_eq!(new.sensor(new.model().sensor_named("b-sensor2").unwrap()), [1.0, 2.0]);
}

#[test]
fn the_arena_has_a_bound() {
    let arena = |bodies: usize| {
        let ball = |i: usize| format!("<body pos='{i} 0 0'><freejoint/><geom size='0.1'/></body>");
        let text = format!("<mujoco><worldbody>{}</worldbody></mujoco>", (0..bodies).map(ball).collect::<String>());
        Assembly::new(source("balls", &text)).compile().unwrap().compiled().narena()
    };
    assert!(arena(1) < 32 << 20, "{}", arena(1));
    assert_eq!(arena(2_000), 1 << 30);
}

/// Runs itself again in a process with little memory, which must report errors instead of crashing.
#[test]
fn lack_of_memory_is_an_error() {
    const INSIDE: &str = "PHYSICS_TEST_LITTLE_MEMORY";
    if std::env::var_os(INSIDE).is_some() {
        let bodies = "<body><freejoint/><geom size='0.1'/></body>".repeat(2_000);
        let crowd = source("crowd", &format!("<mujoco><worldbody>{bodies}</worldbody></mujoco>"));
        let outcome = Assembly::new(crowd).compile().map_err(|error| error.to_string());
        let outcome = outcome.and_then(|model| Sim::new(model).map_err(|fault| fault.to_string()));
        let words = outcome.err().unwrap_or_default();
        assert!(words.starts_with("crowd does not compile") && words.contains("memory"), "{words}");
        return;
    }
    // room for all that is small, but not for the arena the compiler tries the model in
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 700000; exec \"$0\" \"$@\""])
        .arg(program)
        .args(["assembly::tests::lack_of_memory_is_an_error", "--exact", "--test-threads=1"])
        .env(INSIDE, "1")
        // printing one takes memory
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

#[test]
fn files_are_read_from_the_models_folder() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    write("parts/leg.xml", "<mujocoinclude><geom name='leg' type='mesh' mesh='wedge'/></mujocoinclude>");
    write("meshes/wedge.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    let main = write(
        "robot.xml",
        "<mujoco><compiler meshdir='meshes'/><asset><mesh name='wedge' file='wedge.obj'/></asset>
         <worldbody><body name='b'><freejoint/><include file='parts/leg.xml'/></body></worldbody></mujoco>",
    );
    let robot = Source::from_file(&main, &Limits::default()).unwrap();
    assert_eq!(robot.name(), "robot");
    // what was scanned is what is compiled
    write("parts/leg.xml", "<mujocoinclude><nonsense/></mujocoinclude>");
    write("robot.xml", "<nonsense/>");
    let model = compile(&[Attachment { prefix: "a-".to_owned(), source: robot, pose: Pose::IDENTITY }]).unwrap();
    assert_eq!(model.geom_shape(model.geom_named("a-leg").unwrap()), Shape::Mesh);
}

#[test]
fn urdf_loads() {
    let urdf = r#"<robot name="arm">
      <link name="base"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
      <link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
      <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3"/>
        <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
    </robot>"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.urdf");
    fs::write(&path, urdf).unwrap();
    let source = Source::from_file(&path, &Limits::default()).unwrap();
    let arm = Attachment { prefix: "u-".to_owned(), source, pose: Pose::at(0.0, 0.0, 1.0) };
    let mut sim = Sim::new(compile(&[arm]).unwrap()).unwrap();
    let joint = sim.model().joint_named("u-shoulder").unwrap();
    assert_eq!(sim.model().joint_range(joint), Some([-1.0, 1.0]));
    let upper = sim.body_pose(sim.model().body_named("u-upper").unwrap());
    assert!(close(&upper.pos, &[0.0, 0.0, 1.3]), "{upper:?}");
    for _ in 0..100 {
        sim.step().unwrap();
    }
}

#[test]
fn the_options_of_the_base_apply() {
    let robot = "<mujoco><option timestep='0.01' gravity='0 0 1'/><size memory='20K'/><worldbody>
        <body name='b'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>";
    let sim = Sim::new(compile(&[attachment("a-", robot, Pose::IDENTITY)]).unwrap()).unwrap();
    assert_eq!((sim.timestep(), sim.gravity()), (0.002, [0.0, 0.0, -9.81]));
    assert!(sim.model().compiled().narena() > 1 << 20, "the model's own memory size is not used");
}

#[test]
fn keyframes_are_accepted() {
    let base = "<mujoco><worldbody><body name='ball'><freejoint/><geom size='0.1'/></body></worldbody>
        <keyframe><key name='kick-off' qpos='1 2 3 1 0 0 0'/></keyframe></mujoco>";
    let robot = "<mujoco><worldbody><body name='b'><joint name='j'/><geom size='0.1'/></body></worldbody>
        <keyframe><key name='home' qpos='0.5'/></keyframe></mujoco>";
    let robot = source("robot", robot);
    let attachments: Vec<Attachment> = ["x-", "y-"]
        .map(|prefix| Attachment { prefix: prefix.to_owned(), source: robot.clone(), pose: Pose::IDENTITY })
        .to_vec();
    let sim = Sim::new(Assembly { attachments, ..Assembly::new(source("base", base)) }.compile().unwrap()).unwrap();
    assert_eq!(sim.qpos(), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn geoms_that_others_refer_to_are_kept() {
    let robot = "<mujoco><default><geom size='0.1' contype='0' conaffinity='0'/></default><worldbody>
        <body name='a'><freejoint/><geom name='paired'/><geom name='measured'/><geom name='idle' mass='2'/></body>
        <body name='b'><freejoint/><geom name='other' contype='1'/></body></worldbody>
        <contact><pair geom1='paired' geom2='other'/></contact>
        <sensor><framepos objtype='geom' objname='measured'/></sensor></mujoco>";
    let model = compile(&[attachment("", robot, Pose::IDENTITY)]).unwrap();
    let found = ["paired", "measured", "idle", "other"].map(|name| model.geom_named(name).is_some());
    assert_eq!(found, [true, true, false, true]);
    let sphere = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 0.1_f64.powi(3);
    let mass = Sim::new(model.clone()).unwrap().body_mass(model.body_named("a").unwrap());
    assert!((mass - 2.0 - 2.0 * sphere).abs() < 1e-9, "{mass}");
}
