use crate::{
    Attachment, Pose, Sim,
    testing::{WALKER, attachment, sim, source},
};

/// Robots of one kind, 3 m apart.
fn robots(names: &[&str]) -> Vec<Attachment> {
    let walker = source("walker", WALKER);
    let place = |name: &str| f64::from(name.bytes().next().unwrap() - b'a') * 3.0;
    names
        .iter()
        .map(|name| Attachment {
            prefix: format!("{name}-"),
            source: walker.clone(),
            pose: Pose::at(place(name), 0.0, 0.0),
        })
        .collect()
}

fn run(sim: &mut Sim, steps: usize) {
    for _ in 0..steps {
        for actuator in sim.model().actuators() {
            let phase = f64::from(sim.model().actuator_name(actuator).as_bytes()[0]);
            let value = (sim.time() * 7.0 + phase).sin();
            sim.set_ctrl(actuator, value);
        }
        sim.step().unwrap();
    }
}

/// Joint positions and velocities of one robot.
fn motion(sim: &Sim, robot: &str) -> Vec<f64> {
    let model = sim.model();
    let torso = model.body_named(&format!("{robot}-torso")).unwrap();
    let joints = model.subtree(torso).flat_map(|body| model.body_joints(body));
    joints
        .flat_map(|joint| {
            let (q, v) = (model.joint_qpos_range(joint), model.joint_dof_range(joint));
            [&sim.qpos()[q], &sim.qvel()[v]].concat()
        })
        .collect()
}

fn swap(old: &Sim, names: &[&str]) -> Sim {
    let mut new = sim(&robots(names));
    new.carry_over(old);
    new
}

/// Largest difference between two robots' motions.
fn max_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn other_robots_continue_when_one_is_added_or_removed() {
    let mut alone = sim(&robots(&["b"]));
    let mut world = sim(&robots(&["a", "b"]));
    for names in [&["a", "b"][..], &["a", "b", "c"], &["b", "c"], &["b"], &["d", "b"]] {
        let next = swap(&world, names);
        assert_eq!(motion(&next, "b"), motion(&world, "b"), "carried over to the bit");
        world = next;
        run(&mut world, 200);
        run(&mut alone, 200);
        assert_eq!(world.time(), alone.time());
        let apart = max_difference(&motion(&world, "b"), &motion(&alone, "b"));
        assert!(apart < 1e-9, "{names:?}: {apart:e}");
    }
}

#[test]
fn a_swap_between_equal_models_changes_nothing() {
    let names = ["a", "b", "c"];
    let mut kept = sim(&robots(&names));
    let mut swapped = sim(&robots(&names));
    for _ in 0..10 {
        run(&mut kept, 37);
        run(&mut swapped, 37);
        swapped = swap(&swapped, &names);
        assert_eq!(swapped.hash(), kept.hash());
    }
}

#[test]
fn robots_without_contacts_are_independent_of_others() {
    let lift = |names: &[&str]| {
        let mut attachments = robots(names);
        attachments.iter_mut().for_each(|attachment| attachment.pose.pos[2] = 50.0);
        sim(&attachments)
    };
    let (mut alone, mut world) = (lift(&["b"]), lift(&["a", "b"]));
    for names in [&["a", "b", "c"][..], &["b", "c"], &["d", "b"]] {
        run(&mut alone, 100);
        run(&mut world, 100);
        assert_eq!(motion(&world, "b"), motion(&alone, "b"), "{names:?}");
        let mut next = lift(names);
        next.carry_over(&world);
        world = next;
    }
}

#[test]
fn state_and_parameters_are_carried_over() {
    let mut old = sim(&robots(&["a", "b"]));
    let m = old.model().clone();
    let (body, joint) = (m.body_named("b-torso").unwrap(), m.joint_named("b-left").unwrap());
    let (actuator, geom) = (m.actuator_named("b-right").unwrap(), m.geom_named("b-torso").unwrap());
    let eye = m.sensor_named("b-eye").unwrap();
    old.set_body_mass(body, 2.5);
    old.set_joint_armature(joint, 0.2);
    old.set_joint_damping(joint, 0.3);
    old.set_joint_frictionloss(joint, 0.4);
    old.set_joint_stiffness(joint, 0.5);
    old.set_joint_limits(joint, [-0.5, 0.7]);
    old.set_joint_force_range(joint, Some([-4.0, 4.0]));
    old.set_geom_friction(geom, [0.1, 0.2, 0.3]);
    old.set_geom_rgba(geom, [0.1, 0.2, 0.3, 0.4]);
    old.set_actuator_gain(actuator, 3.0, [0.0, -1.0, 0.0]);
    old.set_actuator_force_range(actuator, Some([-6.0, 6.0]));
    old.set_light_active(m.light_named("sun").unwrap(), false);
    old.set_sensor(eye, &[1.0, 2.0, 3.0]);
    old.set_gravity([0.0, 0.0, -1.6]);
    old.set_timestep(0.001);
    run(&mut old, 50);

    let new = swap(&old, &["c", "b"]);
    let n = new.model().clone();
    let (body, joint) = (n.body_named("b-torso").unwrap(), n.joint_named("b-left").unwrap());
    let (actuator, geom) = (n.actuator_named("b-right").unwrap(), n.geom_named("b-torso").unwrap());
    assert_eq!((new.time(), new.timestep(), new.gravity()), (old.time(), 0.001, [0.0, 0.0, -1.6]));
    assert_eq!((new.body_mass(body), new.joint_armature(joint), new.joint_damping(joint)), (2.5, 0.2, 0.3));
    assert_eq!((new.joint_frictionloss(joint), new.joint_stiffness(joint)), (0.4, 0.5));
    assert_eq!((new.joint_limits(joint), new.joint_force_range(joint)), (Some([-0.5, 0.7]), Some([-4.0, 4.0])));
    assert_eq!((new.geom_friction(geom), new.geom_rgba(geom)), ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4]));
    assert_eq!(new.actuator_gain(actuator), (3.0, [0.0, -1.0, 0.0]));
    assert_eq!(new.actuator_force_range(actuator), Some([-6.0, 6.0]));
    assert!(!new.light_active(n.light_named("sun").unwrap()));
    assert_eq!(new.sensor(n.sensor_named("b-eye").unwrap()), [1.0, 2.0, 3.0]);
    assert_eq!(new.ctrl(actuator), old.ctrl(m.actuator_named("b-right").unwrap()));
    assert_eq!(motion(&new, "b"), motion(&old, "b"));
    // what follows from the mass is as if it had been set here
    assert_eq!(
        new.data.model().dof_invweight0()[n.joint_dof_index(joint)],
        old.data.model().dof_invweight0()[m.joint_dof_index(m.joint_named("b-left").unwrap())]
    );
    // the newcomer is at its start
    assert_eq!(motion(&new, "c"), motion(&sim(&robots(&["c"])), "c"));

    // and again, from there
    let again = swap(&new, &["b"]);
    assert_eq!(again.body_mass(again.model().body_named("b-torso").unwrap()), 2.5);
}

#[test]
fn mocap_and_equalities_are_carried_over() {
    let text = r#"<mujoco><worldbody>
        <body name="hand" mocap="true" pos="0 0 3"/>
        <body name="ball" pos="0 0 2"><freejoint/><geom size="0.1"/></body></worldbody>
        <equality><weld name="hold" body1="hand" body2="ball"/></equality></mujoco>"#;
    let mut old = sim(&[attachment("a-", text, Pose::IDENTITY)]);
    let hand = old.model().body_named("a-hand").unwrap();
    old.data.mocap_pos_mut()[0] = [1.0, 2.0, 3.0];
    old.data.eq_active_mut()[0] = false;
    let mut new = sim(&[attachment("z-", WALKER, Pose::IDENTITY), attachment("a-", text, Pose::IDENTITY)]);
    new.carry_over(&old);
    old.forward().unwrap();
    assert_eq!(new.body_pose(new.model().body_named("a-hand").unwrap()), old.body_pose(hand));
    assert!(!new.data.eq_active()[0]);
}
