//! How the world looks, for those who draw it.

mod worlds;

use physics::{Visual, VisualShape};
use world::{
    Value, World,
    change::{Change, ChangeOutcome},
    structure::BuildError,
};
use worlds::*;

/// Names of the bodies that have something to be seen, each once, in order.
fn seen(world: &World) -> Vec<&str> {
    let catalogue = world.catalogue();
    let snapshot = world.snapshot();
    let mut names: Vec<_> = snapshot.visuals.iter().map(|look| catalogue.bodies[look.body].as_str()).collect();
    names.dedup();
    names
}

fn of_agent(world: &World, agent: &str) -> Vec<Visual> {
    let catalogue = world.catalogue();
    let own = |look: &&Visual| catalogue.bodies[look.body].starts_with(&format!("{agent}:"));
    // the body's place changes when others come and go
    world.snapshot().visuals.iter().filter(own).map(|look| Visual { body: 0, ..look.clone() }).collect()
}

#[test]
fn looks_follow_who_is_there() {
    let mut world = build(&setup(model("fields/fifa/field.xml"), vec![robot("A", "T1", 0.0, 0.0)]));
    let (alone, one) = (world.snapshot().visuals.len(), of_agent(&world, "A"));
    assert_eq!(one.len(), 84);
    let rover = join(&mut world, robot("R", "rover", 3.0, 3.0));
    join(&mut world, robot("B", "T1", 2.0, 0.0));
    assert_eq!([of_agent(&world, "A"), of_agent(&world, "B")], [one.clone(), one.clone()]);
    assert!(seen(&world).contains(&"R:Chassis"));
    leave(&mut world, rover);
    assert_eq!(world.snapshot().visuals.len(), alone + one.len());
    assert_eq!(of_agent(&world, "B"), one);
    assert!(!seen(&world).iter().any(|name| name.starts_with("R:")));
}

#[test]
fn bodies_know_their_parents() {
    let world = build(&setup(flat(), vec![robot("A", "T1", 0.0, 0.0), robot("B", "T1", 2.0, 0.0)]));
    let catalogue = world.catalogue();
    assert_eq!(catalogue.parents.len(), catalogue.bodies.len());
    let place = |name: &str| catalogue.bodies.iter().position(|body| body == name).unwrap();
    for (body, parent) in
        [("world", "world"), ("A:torso", "world"), ("B:torso", "world"), ("B:H1", "B:torso"), ("B:H2", "B:H1")]
    {
        assert_eq!(catalogue.bodies[catalogue.parents[place(body)]], parent, "{body}");
    }
}

#[test]
fn a_new_size_shows_and_things_are_seen_where_they_are() {
    let mut world = bench();
    let ball = |world: &World| {
        let catalogue = world.catalogue();
        let ball = |look: &&Visual| catalogue.bodies[look.body] == "ball";
        world.snapshot().visuals.iter().find(ball).cloned().unwrap()
    };
    assert_eq!(ball(&world).shape, VisualShape::Sphere { radius: 0.1 });
    write(&mut world, "/Sim/World/ball/Size", Value::Point3D([0.5; 3]));
    assert_eq!(ball(&world).shape, VisualShape::Sphere { radius: 0.25 });
    ticks(&mut world, 10);
    let snapshot = world.take_snapshot();
    let place = snapshot.visual_pose(&ball(&world)).unwrap().pos;
    assert!(place[2] < 2.0 && snapshot.positions.contains(&place), "{place:?}");
}

#[test]
fn who_cannot_be_drawn_stays_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("picture.png"), "not a picture").unwrap();
    let painted =
        "<mujoco><asset><texture name='t' type='2d' file='picture.png'/><material name='m' texture='t'/></asset>
        <worldbody><body name='b'><freejoint/><geom size='0.1' material='m'/></body></worldbody></mujoco>";
    let path = folder.path().join("robot.xml");
    std::fs::write(&path, painted).unwrap();
    let source = physics::Source::from_file(&path, &physics::Limits::default()).unwrap();
    let mut world = bench();
    world.request(Change::Join(world::Robot { source, ..text_robot("P", CART, 0.0, 0.0) }));
    let answers = world.settle();
    let [(_, ChangeOutcome::Refused(error @ BuildError::Model(_)))] = &answers[..] else { panic!("{answers:?}") };
    assert!(error.to_string().starts_with("robot does not compile"), "{error}");
}
