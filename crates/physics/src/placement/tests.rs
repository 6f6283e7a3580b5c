use super::*;
use crate::{
    Attachment,
    testing::{WALKER, sim_of, source},
};

/// Fixed things among which a dumbbell falls: geoms of the world, one of them with the world's own frame, and a table.
fn scene(post: &str, table: &str) -> String {
    format!(
        r#"<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="50 50 1"/>
    <geom name="stone" type="box" size="0.1 0.1 0.1"/>
    <geom name="rock" type="sphere" size="0.2" pos="3 0 0"/>
    <geom name="post" type="box" size="0.3 0.1 0.4" {post}/>
    <body name="table" {table}>
      <geom name="top" type="box" size="0.5 0.5 0.02" pos="0 0 0.5" mass="3"/>
      <geom name="leg" type="cylinder" size="0.05 0.25" pos="0 0 0.25" mass="1"/>
    </body>
    <body name="dumbbell" pos="1.05 1 1.5">
      <freejoint/>
      <geom name="near" size="0.1" pos="0.15 0 0"/>
      <geom name="far" size="0.1" pos="-0.15 0 0.02"/>
      <geom name="bar" type="capsule" fromto="0.15 0 0 -0.15 0 0.02" size="0.03"/>
    </body>
  </worldbody>
</mujoco>"#
    )
}

const ELSEWHERE: &str = r#"pos="-8 3 1" quat="0.6 0 0 0.8""#;
/// A pose under the dumbbell, as an attribute and as a value.
const UNDER: (&str, Pose) =
    (r#"pos="1 1 0.3" quat="0.8 0 0.6 0""#, Pose { pos: [1.0, 1.0, 0.3], quat: [0.8, 0.0, 0.6, 0.0] });

fn run(sim: &mut Sim, steps: usize) {
    for _ in 0..steps {
        sim.step().unwrap();
    }
}

fn geom(sim: &Sim, name: &str) -> GeomId {
    sim.model().geom_named(name).unwrap()
}

fn body(sim: &Sim, name: &str) -> BodyId {
    sim.model().body_named(name).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Runs both and compares the motions; the engine may add up contacts in another order.
fn check_same_motion(mut moved: Sim, mut compiled: Sim, what: &str) {
    let start = compiled.qpos().to_vec();
    for _ in 0..6 {
        run(&mut moved, 50);
        run(&mut compiled, 50);
        let apart = largest_difference(moved.qpos(), compiled.qpos());
        assert!(apart < 1e-9, "{what}: {apart:e} after {} s", moved.time());
    }
    assert!(largest_difference(compiled.qpos(), &start) > 0.1, "{what}: it falls");
}

#[test]
fn what_is_moved_acts_as_if_it_had_been_built_there() {
    let (attribute, pose) = UNDER;
    let mut moved = sim_of(&scene(ELSEWHERE, ELSEWHERE));
    assert!(moved.move_fixed_geom(geom(&moved, "post"), pose));
    check_same_motion(moved, sim_of(&scene(attribute, ELSEWHERE)), "a geom of the world");

    let mut moved = sim_of(&scene(ELSEWHERE, ELSEWHERE));
    assert!(moved.move_fixed_body(body(&moved, "table"), pose));
    check_same_motion(moved, sim_of(&scene(ELSEWHERE, attribute)), "a body");

    // the other way: what was in the way is gone
    let away = Pose::at(-8.0, 3.0, 1.0);
    let mut moved = sim_of(&scene(attribute, ELSEWHERE));
    assert!(moved.move_fixed_geom(geom(&moved, "post"), away));
    check_same_motion(moved, sim_of(&scene(r#"pos="-8 3 1""#, ELSEWHERE)), "a geom that was in the way");
}

#[test]
fn geoms_that_have_the_frame_of_their_body_are_moved_as_well() {
    let mut sim = sim_of(&scene(ELSEWHERE, ELSEWHERE));
    for (name, at) in [("stone", [1.0, 1.0, 0.2]), ("floor", [0.0, 0.0, -2.0]), ("top", [4.0, 0.0, 1.0])] {
        let pose = Pose { pos: at, quat: UNDER.1.quat };
        assert!(sim.move_fixed_geom(geom(&sim, name), pose), "{name}");
        let known = sim.fixed_geom_pose(geom(&sim, name)).unwrap();
        sim.forward().unwrap();
        for (what, now) in [("as written", known), ("as computed", sim.geom_pose(geom(&sim, name)))] {
            assert!(largest_difference(&now.pos, &pose.pos) < 1e-12, "{name} {what}: {now:?}");
            assert!(largest_difference(&now.quat, &pose.quat) < 1e-12, "{name} {what}: {now:?}");
        }
    }
    let hit = sim.ray([1.0, 1.0, 1.2], [0.0, 0.0, -1.0], None).unwrap();
    assert_eq!(hit.geom, geom(&sim, "stone"));
}

#[test]
fn a_reset_returns_what_was_moved() {
    let mut fresh = sim_of(&scene(UNDER.0, ELSEWHERE));
    let mut sim = sim_of(&scene(UNDER.0, ELSEWHERE));
    let (post, stone, table) = (geom(&sim, "post"), geom(&sim, "stone"), body(&sim, "table"));
    sim.move_fixed_geom(post, Pose::at(5.0, 0.0, 0.0));
    sim.move_fixed_geom(stone, Pose::at(1.0, 1.2, 0.9));
    sim.move_fixed_body(table, UNDER.1);
    assert_eq!(sim.moved_geoms().map(|(geom, _)| geom).collect::<Vec<_>>(), [stone, post]);
    run(&mut sim, 100);
    sim.reset();
    assert_eq!(sim.moved_geoms().count(), 0);
    assert_eq!(sim.data.model().bvh_aabb(), sim.model.compiled().bvh_aabb());
    assert_eq!(sim.data.model().geom_sameframe(), sim.model.compiled().geom_sameframe());
    for _ in 0..300 {
        sim.step().unwrap();
        fresh.step().unwrap();
        assert_eq!(sim.hash(), fresh.hash(), "to the bit");
    }
}

#[test]
fn what_can_move_by_itself_is_left_alone() {
    let mut sim = sim_of(&scene(ELSEWHERE, ELSEWHERE));
    let before = sim.hash();
    let far = Pose::at(9.0, 9.0, 9.0);
    assert!(!sim.move_fixed_geom(geom(&sim, "bar"), far));
    assert!(!sim.move_fixed_body(body(&sim, "dumbbell"), far));
    assert!(!sim.move_fixed_body(BodyId::WORLD, far));
    assert_eq!((sim.fixed_geom_pose(geom(&sim, "bar")), sim.fixed_body_pose(body(&sim, "dumbbell"))), (None, None));
    sim.forward().unwrap();
    assert_eq!((sim.hash(), sim.moved_geoms().count()), (before, 0));
}

#[test]
fn what_was_moved_stays_there_in_a_new_model() {
    let base = source("scene", &scene(ELSEWHERE, ELSEWHERE));
    let build = |attachments: Vec<Attachment>| {
        let assembly = crate::Assembly { attachments, ..crate::Assembly::new(base.clone()) };
        Sim::new(assembly.compile().unwrap()).unwrap()
    };
    let mut old = build(Vec::new());
    old.move_fixed_geom(geom(&old, "post"), UNDER.1);
    old.move_fixed_body(body(&old, "table"), Pose::at(-3.0, 0.0, 0.0));
    let walker = crate::testing::attachment("w-", WALKER, Pose::at(6.0, 6.0, 0.0));
    let mut new = build(vec![walker]);
    new.carry_over(&old);
    assert_eq!(new.fixed_geom_pose(geom(&new, "post")), old.fixed_geom_pose(geom(&old, "post")));
    assert_eq!(new.body_pose(body(&new, "table")).pos, [-3.0, 0.0, 0.0]);
    new.reset();
    assert_eq!(new.body_pose(body(&new, "table")).pos, [-8.0, 3.0, 1.0]);
}
