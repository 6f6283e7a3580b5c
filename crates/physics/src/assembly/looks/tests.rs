use std::{fs, path::Path};

use mujoco_rs::wrappers::{MjModel, MjtObjBase};

use super::*;
use crate::{
    LookShape, Mesh, Part,
    limits::Limits,
    testing::{FLOOR, WALKER, part, source},
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

fn assembly(base: Source, parts: &[Part]) -> Assembly {
    Assembly { parts: parts.to_vec(), ..Assembly::new(base) }
}

fn on_floor(parts: &[Part], edits: &[Edit]) -> Result<Vec<Look>, ModelError> {
    Assembly { edits: edits.to_vec(), ..assembly(source("floor", FLOOR), parts) }.looks()
}

fn alone(text: &str) -> Vec<Look> {
    Assembly::new(source("alone", text)).looks().unwrap()
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// The assembly with its looks compiled all together; names of materials have prefixes.
fn whole(assembly: &Assembly) -> MjModel {
    let mut world = visible(&assembly.base).unwrap();
    for part in &assembly.parts {
        let (spec, bundle) = bundled(&part.source, visible(&part.source).unwrap()).unwrap();
        world.attach(&spec, &bundle, &part.prefix, part.pose).unwrap();
    }
    assembly.edits.iter().for_each(|edit| assert!(resize(&mut world, edit, edit.geom()).unwrap()));
    world.settle_options();
    room::load(&world.compile().unwrap()).unwrap()
}

/// Looks that were put together are those of the whole, on the bodies of the model that is simulated.
fn check_whole(assembly: &Assembly) {
    let (looks, whole) = (assembly.looks().unwrap(), whole(assembly));
    let others = looks_of(&whole);
    assert_eq!(looks.len(), others.len());
    for (look, other) in looks.iter().zip(&others) {
        assert_eq!((look.body, &look.shape, look.rgba), (other.body, &other.shape, other.rgba), "{look:?}\n{other:?}");
        assert!(close(&look.pose.pos, &other.pose.pos), "{look:?}\n{other:?}");
        let [turned, expected] = [look, other].map(|look| look.pose.turn([1.0, 2.0, 3.0]));
        assert!(close(&turned, &expected), "{look:?}\n{other:?}");
        let (name, full) = (look.material.as_deref().unwrap_or(""), other.material.as_deref().unwrap_or(""));
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
fn looks_of_all_that_we_ship_are_on_the_right_bodies() {
    for base in FIELDS {
        let mut parts = Vec::new();
        for (place, name) in ROBOTS.iter().chain(&["T1", "rover"]).enumerate() {
            let pose = Pose::facing(1.0, 3.0, 0.1, place as f64);
            parts.push(Part { prefix: format!("{place}:"), source: robot(name), pose });
        }
        check_whole(&Assembly::new(field(base)));
        check_whole(&assembly(field(base), &parts));
    }
}

#[test]
fn looks_are_on_the_bodies_of_their_part() {
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
    let parts = [part("a-", framed, turned), part("b-", WALKER, turned), part("a-b-", framed, Pose::IDENTITY)];
    check_whole(&assembly(source("floor", FLOOR), &[part("f-", aligned, turned)]));
    let fusing = "<mujoco><compiler fusestatic='true'/><worldbody><body name='post'><geom size='0.5'/></body>
        <body name='ball'><freejoint/><geom size='0.6'/></body></worldbody></mujoco>";
    check_whole(&assembly(source("floor", FLOOR), &parts));
    let size = |geom: &str| Edit::GeomSize { geom: geom.to_owned(), size: [0.7, 0.8, 0.9] };
    let mut edited = assembly(source("floor", FLOOR), &parts);
    edited.edits = ["a-b-along", "b-left", "floor"].map(size).to_vec();
    check_whole(&edited);

    let fused = assembly(source("fusing", fusing), &parts);
    let (looks, whole) = (fused.looks().unwrap(), looks_of(&whole(&fused)));
    // the engine puts what it fused after what was there
    let sorted = |looks: &[Look]| {
        let mut found: Vec<_> =
            looks.iter().map(|look| format!("{} {:?} {:.9?}", look.body, look.shape, look.pose)).collect();
        found.sort();
        found
    };
    assert_eq!(sorted(&looks), sorted(&whole));
    assert_eq!(looks.iter().filter(|look| look.body == 0).count(), 5, "post, and `along` and `d` of two parts");

    let looks = on_floor(&parts[..1], &[]).unwrap();
    let found: Vec<_> = looks.iter().map(|look| look.body).collect();
    assert_eq!(found, [0, 0, 1, 2, 3, 4], "{looks:?}");
    // its author's frame, then where the part stands: upside down in this case
    let along = &looks[1];
    assert_eq!(along.shape, LookShape::Box { half_sizes: [1.0, 2.0, 3.0] });
    let expected = turned.normalized().then(&Pose::at(0.0, 1.0, 1.0)).pos;
    assert!(close(&along.pose.pos, &expected), "{along:?}");
}

#[test]
fn t1_is_seen_as_it_was_painted() {
    let source = robot("T1");
    let looks = assembly(field("flat"), &[Part { prefix: "t:".to_owned(), source, pose: Pose::IDENTITY }]);
    let model = looks.compile().unwrap();
    let all = looks.looks().unwrap();
    let torso = model.body_named("t:torso").unwrap().index();
    let own: Vec<&Look> = all.iter().filter(|look| look.body >= torso).collect();
    let collide: usize = model.subtree(model.body_named("t:torso").unwrap()).map(|b| model.body_geoms(b).len()).sum();
    assert!(own.len() > 4 * collide && own.len() == 84, "{} looks, {collide} shapes", own.len());
    let colours = [
        ("shell", [0.9, 0.91, 0.93, 1.0]),
        ("frame", [0.17, 0.18, 0.2, 1.0]),
        ("team", [0.1, 0.36, 0.75, 1.0]),
        ("visor", [0.03, 0.035, 0.05, 1.0]),
        ("glow", [0.45, 0.9, 1.0, 1.0]),
    ];
    for (material, rgba) in colours {
        assert!(own.iter().any(|look| look.material.as_deref() == Some(material)), "{material}");
        assert!(own.iter().all(|look| look.material.as_deref() != Some(material) || look.rgba == rgba), "{material}");
    }
    assert!(own.iter().all(|look| look.material.is_some()), "what collides is hidden");
    let head = model.body_named("t:H2").unwrap().index();
    let visor = own.iter().find(|look| look.body == head && look.material.as_deref() == Some("visor")).unwrap();
    assert_eq!(visor.shape, LookShape::Ellipsoid { radii: [0.05, 0.064, 0.052] });
    assert_eq!(visor.pose.pos, [0.047, 0.0, 0.112]);
}

#[test]
fn the_ball_and_the_pitch_are_seen() {
    let fifa = Assembly::new(field("fifa"));
    let (model, looks) = (fifa.compile().unwrap(), fifa.looks().unwrap());
    let ball = model.body_named("ball").unwrap().index();
    let ball = looks.iter().find(|look| look.body == ball).unwrap();
    let white = Look {
        body: 1,
        pose: Pose::IDENTITY,
        shape: LookShape::Sphere { radius: 0.11 },
        rgba: [1.0; 4],
        material: Some("ball".into()),
    };
    assert_eq!(*ball, white);
    let pitch = &looks[0];
    assert_eq!((pitch.body, &pitch.shape), (0, &LookShape::Plane { half_sizes: [52.5, 34.0] }));
    assert_eq!(pitch.material.as_deref(), Some("grass"));
    // halfway between the two greens of its texture
    for (part, expected) in pitch.rgba.into_iter().zip([0.22, 0.55, 0.215, 1.0]) {
        assert!((part - expected).abs() < 0.01, "{:?}", pitch.rgba);
    }
}

#[test]
fn what_is_hidden_or_transparent_is_not_seen() {
    let check = |geom: &str, expected: Option<[f32; 4]>| {
        let text = format!(
            "<mujoco><asset><material name='red' rgba='1 0 0 1'/><material name='air' rgba='1 1 1 0'/></asset>
             <worldbody><geom size='0.1' {geom}/></worldbody></mujoco>"
        );
        let looks = alone(&text);
        assert_eq!(looks.first().map(|look| look.rgba), expected, "{geom}");
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
    let check = |geom: &str, shape: &LookShape| {
        let looks = alone(&format!("<mujoco><worldbody><geom {geom}/></worldbody></mujoco>"));
        assert_eq!(looks.iter().map(|look| &look.shape).collect::<Vec<_>>(), [shape], "{geom}");
    };
    check("type='plane' size='0 2 1'", &LookShape::Plane { half_sizes: [0.0, 2.0] });
    check("size='0.5'", &LookShape::Sphere { radius: 0.5 });
    check("type='capsule' size='1 2'", &LookShape::Capsule { radius: 1.0, half_length: 2.0 });
    check("type='cylinder' size='1' fromto='0 0 0 4 0 0'", &LookShape::Cylinder { radius: 1.0, half_length: 2.0 });
    check("type='ellipsoid' size='1 2 3'", &LookShape::Ellipsoid { radii: [1.0, 2.0, 3.0] });
    check("type='box' size='1 2 3'", &LookShape::Box { half_sizes: [1.0, 2.0, 3.0] });
}

#[test]
fn an_edited_size_shows() {
    let check = |geom: &str, size: [f64; 3], body: usize, shape: &LookShape| {
        let parts = [part("a-", WALKER, Pose::IDENTITY), part("b-", WALKER, Pose::IDENTITY)];
        let (before, edits) = (on_floor(&parts, &[]).unwrap(), [Edit::GeomSize { geom: geom.to_owned(), size }]);
        let after = on_floor(&parts, &edits).unwrap();
        let changed: Vec<_> = before.iter().zip(&after).filter(|(before, after)| before != after).collect();
        let [(before, after)] = changed[..] else { panic!("{geom}: {changed:?}") };
        assert_eq!((after.body, &after.shape, after.pose), (body, shape, before.pose), "{geom}");
    };
    check("floor", [3.0, 4.0, 1.0], 0, &LookShape::Plane { half_sizes: [3.0, 4.0] });
    check("a-torso", [0.1, 0.2, 0.3], 1, &LookShape::Box { half_sizes: [0.1, 0.2, 0.3] });
    check("b-left", [0.05, 0.2, 0.0], 5, &LookShape::Capsule { radius: 0.05, half_length: 0.2 });
    for (geom, size) in [("c-torso", [0.1; 3]), ("torso", [0.1; 3]), ("a-torso", [f64::NAN; 3]), ("a-\0", [0.1; 3])] {
        let edits = [Edit::GeomSize { geom: geom.to_owned(), size }];
        let refused = on_floor(&[part("a-", WALKER, Pose::IDENTITY)], &edits);
        assert!(matches!(refused, Err(ModelError::BadEdit { .. })), "{geom:?}");
    }
}

#[test]
fn meshes_are_shared_and_come_with_their_place() {
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
    let parts = ["a-", "b-"].map(|prefix| Part { prefix: prefix.into(), source: source.clone(), pose: Pose::IDENTITY });
    check_whole(&assembly(self::source("floor", FLOOR), &parts));
    let looks = on_floor(&parts, &[]).unwrap();
    let meshes: Vec<(&Look, &Arc<Mesh>)> = looks
        .iter()
        .filter_map(|look| if let LookShape::Mesh(mesh) = &look.shape { Some((look, mesh)) } else { None })
        .collect();
    assert_eq!(meshes.iter().map(|(look, _)| look.body).collect::<Vec<_>>(), [1, 1, 2, 2]);
    assert!(meshes.windows(2).all(|pair| Arc::ptr_eq(pair[0].1, pair[1].1)));
    let (look, mesh) = meshes[0];
    assert_eq!((mesh.vertices.len(), mesh.faces.len()), (4, 4));
    // the engine moves meshes about; on the body they are where their author put them
    for (vertex, corner) in mesh.vertices.iter().zip(corners) {
        let found = look.pose.then(&Pose { pos: vertex.map(f64::from), ..Pose::IDENTITY }).pos;
        assert!(found.iter().zip(corner).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} {corner:?}");
    }

    // what was seen once is kept
    fs::remove_file(folder.path().join("wedge.obj")).unwrap();
    assert_eq!(on_floor(&parts, &[]).unwrap().len(), 5);
}

#[test]
fn a_height_field_is_ground() {
    let looks = alone(
        "<mujoco><asset><hfield name='h' nrow='2' ncol='3' size='2 1 4 0.1' elevation='0 0 1  0 0.5 1'/></asset>
         <worldbody><geom type='hfield' hfield='h' pos='0 0 1'/></worldbody></mujoco>",
    );
    let [Look { shape: LookShape::Mesh(mesh), pose, .. }] = &looks[..] else { panic!("{looks:?}") };
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
fn looks_that_cannot_be_made_are_said() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("picture.png"), "not a picture").unwrap();
    let main = folder.path().join("robot.xml");
    let text = "<mujoco><asset><texture name='t' type='2d' file='picture.png'/><material name='m' texture='t'/></asset>
        <worldbody><body name='b'><freejoint/><geom size='0.1' material='m'/></body></worldbody></mujoco>";
    fs::write(&main, text).unwrap();
    let source = Source::from_file(&main, &Limits::default()).unwrap();
    let one = assembly(self::source("floor", FLOOR), &[Part { prefix: "a-".into(), source, pose: Pose::IDENTITY }]);
    assert!(one.compile().is_ok(), "it moves all the same");
    let refused = one.looks().unwrap_err();
    assert!(matches!(&refused, ModelError::Engine { model, .. } if model == "robot"), "{refused}");
    let empty = on_floor(&[part("a-", "<mujoco/>", Pose::IDENTITY)], &[]);
    assert!(matches!(empty, Err(ModelError::Empty { .. })));
}

#[test]
fn equal_sources_are_looked_at_once() {
    let [first, second, other] = [WALKER, WALKER, FLOOR].map(|text| source("same", text));
    assert!(first.is(&second) && !first.is(&other) && !first.is(&source("another", WALKER)));
    let part = |source: &Source| Part { prefix: "a-".into(), source: source.clone(), pose: Pose::IDENTITY };
    on_floor(&[part(&first)], &[]).unwrap();
    let known = first.wardrobe().0[Role::Part as usize].get().unwrap();
    on_floor(&[Part { prefix: "b-".into(), ..part(&first) }, part(&second)], &[]).unwrap();
    assert!(Arc::ptr_eq(known, second.wardrobe().0[Role::Part as usize].get().unwrap()));

    // and parsed once, which changes nothing
    let compile = |second: &Source| {
        let parts = [Part { prefix: "b-".into(), ..part(&first) }, part(second)];
        assembly(source("floor", FLOOR), &parts).compile().unwrap().fingerprint()
    };
    assert_eq!(compile(&second), compile(&source("another", WALKER)));
}
