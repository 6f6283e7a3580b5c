use std::{fs, path::Path};

use mujoco_rs::wrappers::{MjModel, MjtObjBase};

use super::*;
use crate::{
    Attachment, Mesh, VisualShape,
    limits::Limits,
    testing::{FLOOR, WALKER, attachment, source},
};

const ROBOTS: [&str; 5] = ["T1", "K1", "ant", "aseries", "rover"];
const FIELDS: [&str; 4] = ["flat", "arena", "fifa", "fifa7vs7"];

fn shipped(path: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models").join(path);
    Source::from_file(&path, &Limits::default()).unwrap()
}

fn robot(name: &str) -> Source {
    shipped(&format!("robots/{name}/robot.xml"))
}

fn field(name: &str) -> Source {
    shipped(&format!("fields/{name}/field.xml"))
}

fn assembly(base: Source, attachments: &[Attachment]) -> Assembly {
    Assembly { attachments: attachments.to_vec(), ..Assembly::new(base) }
}

fn on_floor(attachments: &[Attachment], edits: &[Edit]) -> Result<Vec<Visual>, ModelError> {
    Assembly { edits: edits.to_vec(), ..assembly(source("floor", FLOOR), attachments) }.visuals()
}

fn alone(text: &str) -> Vec<Visual> {
    Assembly::new(source("alone", text)).visuals().unwrap()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// The assembly compiled as a whole, with its visuals; names of materials have prefixes.
fn whole(assembly: &Assembly) -> MjModel {
    let mut world = visible(&assembly.base).unwrap();
    for attachment in &assembly.attachments {
        let (spec, bundle) = bundled(&attachment.source, visible(&attachment.source).unwrap()).unwrap();
        world.attach(&spec, &bundle, &attachment.prefix, attachment.pose).unwrap();
    }
    assembly.edits.iter().for_each(|edit| assert!(resize(&mut world, edit, edit.geom()).unwrap()));
    world.set_common_options();
    alloc::load(&world.compile().unwrap()).unwrap()
}

/// Combined visuals equal those of the whole, on the bodies of the simulated model.
fn check_whole(assembly: &Assembly) {
    let (visuals, whole) = (assembly.visuals().unwrap(), whole(assembly));
    let others = visuals_of(&whole);
    assert_eq!(visuals.len(), others.len());
    for (visual, other) in visuals.iter().zip(&others) {
        assert_eq!(
            (visual.body, &visual.shape, visual.rgba),
            (other.body, &other.shape, other.rgba),
            "{visual:?}\n{other:?}"
        );
        assert!(close(&visual.pose.pos, &other.pose.pos), "{visual:?}\n{other:?}");
        let [turned, expected] = [visual, other].map(|visual| visual.pose.turn([1.0, 2.0, 3.0]));
        assert!(close(&turned, &expected), "{visual:?}\n{other:?}");
        let (name, full) = (visual.material.as_deref().unwrap_or(""), other.material.as_deref().unwrap_or(""));
        assert!(full.ends_with(name) && name.is_empty() == full.is_empty(), "{name:?} {full:?}");
    }

    let model = assembly.compile().unwrap();
    assert_eq!(model.bodies().len(), whole.body_pos().len());
    for body in model.bodies() {
        let name = whole.id_to_name(MjtObjBase::mjOBJ_BODY, body.index()).unwrap_or_default();
        assert_eq!(model.body_name(body), name);
        assert!(close(&model.body_pose(body).pos, &whole.body_pos()[body.index()]), "{name}");
        assert!(close(&model.body_pose(body).quat, &whole.body_quat()[body.index()]), "{name}");
    }
}

#[test]
fn visuals_of_shipped_models_are_on_the_right_bodies() {
    for base in FIELDS {
        let mut attachments = Vec::new();
        for (place, name) in ROBOTS.iter().chain(&["T1", "rover"]).enumerate() {
            let pose = Pose::facing(1.0, 3.0, 0.1, place as f64);
            attachments.push(Attachment { prefix: format!("{place}:"), source: robot(name), pose });
        }
        check_whole(&Assembly::new(field(base)));
        check_whole(&assembly(field(base), &attachments));
    }
}

#[test]
fn visuals_are_on_the_bodies_of_their_attachment() {
    let framed = "<mujoco><worldbody>
        <geom name='scenery' size='1'/>
        <frame pos='0 0 1' euler='0 0 90'><geom name='along' type='box' size='1 2 3' pos='1 0 0'/>
          <body name='b'><joint/><geom size='0.1'/><body name='c' pos='1 0 0'><geom size='0.2'/></body></body></frame>
        <body name='d'><geom size='0.3'/></body>
        <frame pos='0 1 0'><body name='e'><joint/><geom size='0.4'/></body></frame></worldbody></mujoco>";
    let turned = Pose { pos: [1.0, 2.0, 3.0], quat: [0.0, 0.0, 0.6, 1.6] };
    let aligned = "<mujoco><compiler alignfree='true'/><worldbody><body name='f' pos='1 0 0'><freejoint/>
        <geom type='box' size='0.1 0.2 0.3' pos='0 0 1' euler='10 20 30'/>
        <geom size='0.4' pos='0 1 1' contype='0' conaffinity='0'/></body></worldbody></mujoco>";
    let attachments = [
        attachment("a-", framed, turned),
        attachment("b-", WALKER, turned),
        attachment("a-b-", framed, Pose::IDENTITY),
    ];
    check_whole(&assembly(source("floor", FLOOR), &[attachment("f-", aligned, turned)]));
    let fusing = "<mujoco><compiler fusestatic='true'/><worldbody><body name='post'><geom size='0.5'/></body>
        <body name='ball'><freejoint/><geom size='0.6'/></body></worldbody></mujoco>";
    check_whole(&assembly(source("floor", FLOOR), &attachments));
    let size = |geom: &str| Edit::GeomSize { geom: geom.to_owned(), size: [0.7, 0.8, 0.9] };
    let mut edited = assembly(source("floor", FLOOR), &attachments);
    edited.edits = ["a-b-along", "b-left", "floor"].map(size).to_vec();
    check_whole(&edited);

    let fused = assembly(source("fusing", fusing), &attachments);
    let (visuals, whole) = (fused.visuals().unwrap(), visuals_of(&whole(&fused)));
    // the engine puts what it fused after what was there
    let sorted = |visuals: &[Visual]| {
        let mut found: Vec<_> =
            visuals.iter().map(|visual| format!("{} {:?} {:.9?}", visual.body, visual.shape, visual.pose)).collect();
        found.sort();
        found
    };
    assert_eq!(sorted(&visuals), sorted(&whole));
    assert_eq!(
        visuals.iter().filter(|visual| visual.body == 0).count(),
        5,
        "post, and `along` and `d` of two attachments"
    );

    let visuals = on_floor(&attachments[..1], &[]).unwrap();
    let found: Vec<_> = visuals.iter().map(|visual| visual.body).collect();
    assert_eq!(found, [0, 0, 1, 2, 3, 4], "{visuals:?}");
    // its author's frame, then where the part stands: upside down in this case
    let along = &visuals[1];
    assert_eq!(along.shape, VisualShape::Box { half_sizes: [1.0, 2.0, 3.0] });
    let expected = turned.normalized().then(&Pose::at(0.0, 1.0, 1.0)).pos;
    assert!(close(&along.pose.pos, &expected), "{along:?}");
}

#[test]
fn t1_has_its_materials() {
    let source = robot("T1");
    let visuals = assembly(field("flat"), &[Attachment { prefix: "t:".to_owned(), source, pose: Pose::IDENTITY }]);
    let model = visuals.compile().unwrap();
    let all = visuals.visuals().unwrap();
    let torso = model.body_named("t:torso").unwrap().index();
    let own: Vec<&Visual> = all.iter().filter(|visual| visual.body >= torso).collect();
    let collide: usize = model.subtree(model.body_named("t:torso").unwrap()).map(|b| model.body_geoms(b).len()).sum();
    assert!(own.len() > 4 * collide && own.len() == 84, "{} visuals, {collide} shapes", own.len());
    let colours = [
        ("shell", [0.9, 0.91, 0.93, 1.0]),
        ("frame", [0.17, 0.18, 0.2, 1.0]),
        ("team", [0.1, 0.36, 0.75, 1.0]),
        ("visor", [0.03, 0.035, 0.05, 1.0]),
        ("glow", [0.45, 0.9, 1.0, 1.0]),
    ];
    for (material, rgba) in colours {
        assert!(own.iter().any(|visual| visual.material.as_deref() == Some(material)), "{material}");
        assert!(
            own.iter().all(|visual| visual.material.as_deref() != Some(material) || visual.rgba == rgba),
            "{material}"
        );
    }
    assert!(own.iter().all(|visual| visual.material.is_some()), "what collides is hidden");
    let head = model.body_named("t:H2").unwrap().index();
    let visor = own.iter().find(|visual| visual.body == head && visual.material.as_deref() == Some("visor")).unwrap();
    assert_eq!(visor.shape, VisualShape::Ellipsoid { radii: [0.05, 0.064, 0.052] });
    assert_eq!(visor.pose.pos, [0.047, 0.0, 0.112]);
}

#[test]
fn the_ball_and_the_pitch_are_visible() {
    let fifa = Assembly::new(field("fifa"));
    let (model, visuals) = (fifa.compile().unwrap(), fifa.visuals().unwrap());
    let ball = model.body_named("ball").unwrap().index();
    let ball = visuals.iter().find(|visual| visual.body == ball).unwrap();
    let white = Visual {
        body: 1,
        pose: Pose::IDENTITY,
        shape: VisualShape::Sphere { radius: 0.11 },
        rgba: [1.0; 4],
        material: Some("ball".into()),
    };
    assert_eq!(*ball, white);
    let pitch = &visuals[0];
    assert_eq!((pitch.body, &pitch.shape), (0, &VisualShape::Plane { half_sizes: [52.5, 34.0] }));
    assert_eq!(pitch.material.as_deref(), Some("grass"));
    // halfway between the two greens of its texture
    for (component, expected) in pitch.rgba.into_iter().zip([0.22, 0.55, 0.215, 1.0]) {
        assert!((component - expected).abs() < 0.01, "{:?}", pitch.rgba);
    }
}

#[test]
fn hidden_or_transparent_geoms_are_left_out() {
    let check = |geom: &str, expected: Option<[f32; 4]>| {
        let text = format!(
            "<mujoco><asset><material name='red' rgba='1 0 0 1'/><material name='air' rgba='1 1 1 0'/></asset>
             <worldbody><geom size='0.1' {geom}/></worldbody></mujoco>"
        );
        let visuals = alone(&text);
        assert_eq!(visuals.first().map(|visual| visual.rgba), expected, "{geom}");
    };
    let (grey, red) = (Some([0.5, 0.5, 0.5, 1.0]), Some([1.0, 0.0, 0.0, 1.0]));
    check("", grey);
    check("group='1'", grey);
    check("group='2' contype='0' conaffinity='0'", grey);
    check("group='3'", None);
    check("group='5'", None);
    check("rgba='0 0 1 0.25'", Some([0.0, 0.0, 1.0, 0.25]));
    check("rgba='0 0 1 0'", None);
    check("material='red'", red);
    check("material='air'", None);
    // as in the engine's own viewer
    check("material='red' rgba='0 0 1 1'", Some([0.0, 0.0, 1.0, 1.0]));
    let discarding = "<mujoco><compiler discardvisual='true'/>
        <worldbody><geom size='0.1' contype='0' conaffinity='0'/></worldbody></mujoco>";
    assert_eq!(alone(discarding).len(), 1);
}

#[test]
fn shapes() {
    let check = |geom: &str, shape: &VisualShape| {
        let visuals = alone(&format!("<mujoco><worldbody><geom {geom}/></worldbody></mujoco>"));
        assert_eq!(visuals.iter().map(|visual| &visual.shape).collect::<Vec<_>>(), [shape], "{geom}");
    };
    check("type='plane' size='0 2 1'", &VisualShape::Plane { half_sizes: [0.0, 2.0] });
    check("size='0.5'", &VisualShape::Sphere { radius: 0.5 });
    check("type='capsule' size='1 2'", &VisualShape::Capsule { radius: 1.0, half_length: 2.0 });
    check("type='cylinder' size='1' fromto='0 0 0 4 0 0'", &VisualShape::Cylinder { radius: 1.0, half_length: 2.0 });
    check("type='ellipsoid' size='1 2 3'", &VisualShape::Ellipsoid { radii: [1.0, 2.0, 3.0] });
    check("type='box' size='1 2 3'", &VisualShape::Box { half_sizes: [1.0, 2.0, 3.0] });
}

#[test]
fn an_edited_size_is_visible() {
    let check = |geom: &str, size: [f64; 3], body: usize, shape: &VisualShape| {
        let attachments = [attachment("a-", WALKER, Pose::IDENTITY), attachment("b-", WALKER, Pose::IDENTITY)];
        let (before, edits) = (on_floor(&attachments, &[]).unwrap(), [Edit::GeomSize { geom: geom.to_owned(), size }]);
        let after = on_floor(&attachments, &edits).unwrap();
        let changed: Vec<_> = before.iter().zip(&after).filter(|(before, after)| before != after).collect();
        let [(before, after)] = changed[..] else { panic!("{geom}: {changed:?}") };
        assert_eq!((after.body, &after.shape, after.pose), (body, shape, before.pose), "{geom}");
    };
    check("floor", [3.0, 4.0, 1.0], 0, &VisualShape::Plane { half_sizes: [3.0, 4.0] });
    check("a-torso", [0.1, 0.2, 0.3], 1, &VisualShape::Box { half_sizes: [0.1, 0.2, 0.3] });
    check("b-left", [0.05, 0.2, 0.0], 5, &VisualShape::Capsule { radius: 0.05, half_length: 0.2 });
    for (geom, size) in [("c-torso", [0.1; 3]), ("torso", [0.1; 3]), ("a-torso", [f64::NAN; 3]), ("a-\0", [0.1; 3])] {
        let edits = [Edit::GeomSize { geom: geom.to_owned(), size }];
        let refused = on_floor(&[attachment("a-", WALKER, Pose::IDENTITY)], &edits);
        assert!(matches!(refused, Err(ModelError::BadEdit { .. })), "{geom:?}");
    }
}

#[test]
fn meshes_are_shared_and_have_their_pose() {
    let folder = tempfile::tempdir().unwrap();
    let corners = [[3.0, 0.0, 0.0], [5.0, 0.0, 0.0], [3.0, 2.0, 0.0], [3.0, 0.0, 2.0]];
    let lines: String = corners.map(|[x, y, z]| format!("v {x} {y} {z}\n")).concat();
    fs::write(folder.path().join("wedge.obj"), lines + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n").unwrap();
    let main = folder.path().join("robot.xml");
    let text = "<mujoco><asset><mesh name='wedge' file='wedge.obj'/></asset><worldbody><body name='b'><freejoint/>
        <geom type='mesh' mesh='wedge' contype='0' conaffinity='0'/><geom type='mesh' mesh='wedge' pos='0 0 9'/>
        </body></worldbody></mujoco>";
    fs::write(&main, text).unwrap();
    let source = Source::from_file(&main, &Limits::default()).unwrap();
    let attachments =
        ["a-", "b-"].map(|prefix| Attachment { prefix: prefix.into(), source: source.clone(), pose: Pose::IDENTITY });
    check_whole(&assembly(self::source("floor", FLOOR), &attachments));
    let visuals = on_floor(&attachments, &[]).unwrap();
    let meshes: Vec<(&Visual, &Arc<Mesh>)> = visuals
        .iter()
        .filter_map(|visual| if let VisualShape::Mesh(mesh) = &visual.shape { Some((visual, mesh)) } else { None })
        .collect();
    assert_eq!(meshes.iter().map(|(visual, _)| visual.body).collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert!(meshes.windows(2).all(|pair| Arc::ptr_eq(pair[0].1, pair[1].1)));
    let (visual, mesh) = meshes[0];
    assert_eq!((mesh.vertices.len(), mesh.faces.len()), (4, 4));
    // the engine moves meshes about; on the body they are where their author put them
    for (vertex, corner) in mesh.vertices.iter().zip(corners) {
        let found = visual.pose.then(&Pose { pos: vertex.map(f64::from), ..Pose::IDENTITY }).pos;
        assert!(found.iter().zip(corner).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} {corner:?}");
    }

    // what was seen once is kept
    fs::remove_file(folder.path().join("wedge.obj")).unwrap();
    assert_eq!(on_floor(&attachments, &[]).unwrap().len(), 5);
}

#[test]
fn a_height_field_is_a_surface() {
    let visuals = alone(
        "<mujoco><asset><hfield name='h' nrow='2' ncol='3' size='2 1 4 0.1' elevation='0 0 1  0 0.5 1'/></asset>
         <worldbody><geom type='hfield' hfield='h' pos='0 0 1'/></worldbody></mujoco>",
    );
    let [Visual { shape: VisualShape::Mesh(mesh), pose, .. }] = &visuals[..] else { panic!("{visuals:?}") };
    assert_eq!(pose.pos, [0.0, 0.0, 1.0]);
    let mut corners = mesh.vertices.clone();
    corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let ends = [[-2.0, -1.0, 0.0], [-2.0, 1.0, 0.0]];
    assert_eq!(corners[..2], ends);
    assert!(corners.contains(&[2.0, -1.0, 4.0]) && corners.contains(&[2.0, 1.0, 4.0]), "{corners:?}");
    assert_eq!(mesh.faces.len(), 4);
    for face in &mesh.faces {
        let [a, b, c] = face.map(|place| mesh.vertices[place as usize]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        assert!(area > 0.0, "seen from above: {face:?}");
    }
}

#[test]
fn invalid_visuals_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("picture.png"), "not a picture").unwrap();
    let main = folder.path().join("robot.xml");
    let text = "<mujoco><asset><texture name='t' type='2d' file='picture.png'/><material name='m' texture='t'/></asset>
        <worldbody><body name='b'><freejoint/><geom size='0.1' material='m'/></body></worldbody></mujoco>";
    fs::write(&main, text).unwrap();
    let source = Source::from_file(&main, &Limits::default()).unwrap();
    let one =
        assembly(self::source("floor", FLOOR), &[Attachment { prefix: "a-".into(), source, pose: Pose::IDENTITY }]);
    assert!(one.compile().is_ok(), "it moves all the same");
    let refused = one.visuals().unwrap_err();
    assert!(matches!(&refused, ModelError::Engine { model, .. } if model == "robot"), "{refused}");
    let empty = on_floor(&[attachment("a-", "<mujoco/>", Pose::IDENTITY)], &[]);
    assert!(matches!(empty, Err(ModelError::Empty { .. })));
}

#[test]
fn equal_sources_share_their_visuals() {
    let [first, second, other] = [WALKER, WALKER, FLOOR].map(|text| source("same", text));
    assert!(first.is(&second) && !first.is(&other) && !first.is(&source("another", WALKER)));
    let attachment = |source: &Source| Attachment { prefix: "a-".into(), source: source.clone(), pose: Pose::IDENTITY };
    on_floor(&[attachment(&first)], &[]).unwrap();
    let known = first.visual_cache().0[Role::Attached as usize].get().unwrap();
    on_floor(&[Attachment { prefix: "b-".into(), ..attachment(&first) }, attachment(&second)], &[]).unwrap();
    assert!(Arc::ptr_eq(known, second.visual_cache().0[Role::Attached as usize].get().unwrap()));

    // and parsed once, which changes nothing
    let compile = |second: &Source| {
        let attachments = [Attachment { prefix: "b-".into(), ..attachment(&first) }, attachment(second)];
        assembly(source("floor", FLOOR), &attachments).compile().unwrap().fingerprint()
    };
    assert_eq!(compile(&second), compile(&source("another", WALKER)));
}
