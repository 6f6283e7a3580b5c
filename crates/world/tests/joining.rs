//! Robots come and go while the world runs, and nobody else feels it.

mod worlds;

use physics::Pose;
use world::{
    Action, AgentId, JointTarget, Robot, SessionId, World,
    change::{Change, ChangeOutcome},
    variable::VariableError,
};
use worlds::*;

fn team() -> World {
    let mut robots: Vec<_> = (0..3).map(|n| robot(&format!("T{n}"), "T1", 1.5 * f64::from(n) - 1.5, 1.5)).collect();
    robots.push(robot("Rover", "rover", 0.0, 0.0));
    build(&setup(flat(), robots))
}

fn walk(world: &mut World, tick: u32) {
    let x = f64::from(tick);
    for agent in 1..=3 {
        let target = JointTarget { q: (x / 9.0 + f64::from(agent)).sin(), dq: 0.0, kp: 60.0, kd: 1.5, tau: 0.0 };
        let actions = (2..10).map(|motor| Action::Joint { motor, target }).collect();
        world.stage(AgentId(agent), SessionId(agent.into()), tick.into(), actions);
    }
    let wheel = |motor, target| Action::Set { motor, target: Some(target), torque: None };
    world.stage(AgentId(4), SessionId(4), tick.into(), vec![wheel(0, 6.0), wheel(1, 4.0)]);
}

fn run(world: &mut World, from: u32, count: u32) {
    for tick in from..from + count {
        walk(world, tick);
        world.tick();
    }
}

/// Bits of everything that belongs to the agents with these prefixes: joints, controls, sensors, motors, poses.
fn bits(world: &World, prefixes: &[&str]) -> Vec<(String, Vec<u64>)> {
    let (sim, model) = (world.sim(), world.sim().model());
    let own = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let mut found = Vec::new();
    for joint in model.joints().filter(|&joint| own(model.joint_name(joint))) {
        let name = model.joint_name(joint);
        found.push((format!("position of {name}"), bits(&sim.qpos()[model.joint_qpos_range(joint)])));
        found.push((format!("velocity of {name}"), bits(&sim.qvel()[model.joint_dof_range(joint)])));
    }
    for actuator in model.actuators().filter(|&actuator| own(model.actuator_name(actuator))) {
        let (gain, bias) = sim.actuator_gain(actuator);
        let values = [sim.ctrl(actuator), gain, bias[0], bias[1], bias[2]];
        found.push((format!("control of {}", model.actuator_name(actuator)), bits(&values)));
    }
    found.push(("time".to_owned(), bits(&[sim.time()])));
    found
}

const OTHERS: [&str; 4] = ["T0:", "T1:", "T2:", "Rover:"];

#[test]
fn the_others_are_equal_to_the_bit_across_a_join_and_a_leave() {
    let mut world = team();
    run(&mut world, 0, 40);
    let before = bits(&world, &OTHERS);
    assert!(before.len() > 3 * 23 * 2);
    let guest = join(&mut world, robot("Guest", "T1", -1.5, -1.5));
    assert_eq!(bits(&world, &OTHERS), before);
    assert_eq!(guest, AgentId(5));
    run(&mut world, 40, 20);
    assert_ne!(bits(&world, &OTHERS), before, "they go on");
    let before = bits(&world, &OTHERS);
    leave(&mut world, guest);
    assert_eq!(bits(&world, &OTHERS), before);
    run(&mut world, 60, 20);
    assert_eq!(world.failure(), None);
}

#[test]
fn a_run_with_joins_and_leaves_is_deterministic() {
    let script = || {
        let mut world = team();
        let mut hashes = Vec::new();
        for part in 0..3 {
            run(&mut world, part * 20, 10);
            let guest = join(&mut world, robot(&format!("Guest{part}"), "aseries", -1.0, -0.5));
            run(&mut world, part * 20 + 10, 10);
            hashes.push(world.state_hash());
            if part == 1 {
                leave(&mut world, guest);
            }
        }
        (hashes, world.model_hash())
    };
    assert_eq!(script(), script());
}

#[test]
fn what_a_leaver_had_is_gone_and_ids_are_never_given_again() {
    let mut world = build(&arena());
    let rover = world.catalogue().agent_named("Rover").unwrap().clone();
    let position = id(&world, "/Sim/Rover/Position");
    let own: Vec<_> =
        world.catalogue().variables.iter().filter(|c| c.name.starts_with("/Sim/Rover/")).map(|c| c.id).collect();
    assert!(own.len() > 50);
    world.observe(position);
    leave(&mut world, rover.id);
    for &variable in &own {
        assert_eq!(world.read(variable), Err(VariableError::Unknown));
    }
    assert!(world.catalogue().agent(rover.id).is_none());
    assert_eq!(world.take_snapshot().observed, []);

    let other = join(&mut world, robot("Other", "rover", 0.0, 0.0));
    assert!(other > rover.id);
    let new: Vec<_> =
        world.catalogue().variables.iter().filter(|c| c.name.starts_with("/Sim/Other/")).map(|c| c.id).collect();
    assert_eq!(new.len(), own.len());
    assert!(new.iter().all(|id| !own.contains(id)), "an id of the one that left names something else");

    // whoever comes back under the old name has the old variables, but is another agent
    let back = join(&mut world, robot("Rover", "rover", 1.0, 0.0));
    assert!(back > other);
    assert_eq!(id(&world, "/Sim/Rover/Position"), position);
    assert_eq!(world.take_snapshot().observed.len(), 1);
}

#[test]
fn what_is_refused_leaves_the_world_untouched() {
    let cubes = |name: &str| text_robot(name, CART, 0.0, 0.0);
    let no_body = "<mujoco><worldbody><geom name='g' size='1'/></worldbody></mujoco>";
    let no_sense = "<mujoco><worldbody><body><joint type='hinge'/></body></worldbody></mujoco>";
    let twice = "<mujoco><worldbody><body name='twin'><geom size='1'/></body><body name='twin'><geom size='1'/></body>
                 </worldbody></mujoco>";
    let nan = Pose { pos: [f64::NAN, 0.0, 0.0], ..Pose::IDENTITY };
    let flat_turn = Pose { quat: [0.0; 4], ..Pose::IDENTITY };
    let refused: Vec<(Change, &str)> = vec![
        (Change::Join(cubes("Rover")), "already"),
        (Change::Join(cubes("")), "invalid agent name"),
        (Change::Join(cubes("a/b")), "invalid agent name"),
        (Change::Join(cubes("a:b")), "invalid agent name"),
        (Change::Join(cubes("World")), "invalid agent name"),
        (Change::Join(cubes(" x")), "invalid agent name"),
        (Change::Join(cubes("x\0")), "invalid agent name"),
        (Change::Join(cubes(&"x".repeat(65))), "invalid agent name"),
        (Change::Join(text_robot("NoBody", no_body, 0.0, 0.0)), "no body"),
        (Change::Join(text_robot("NoSense", no_sense, 0.0, 0.0)), "mass"),
        (Change::Join(text_robot("Twice", twice, 0.0, 0.0)), "twin"),
        (Change::Join(Robot { pose: nan, ..cubes("Nowhere") }), "Nowhere"),
        (Change::Join(Robot { pose: flat_turn, ..cubes("Turned") }), "Turned"),
        (Change::Leave(AgentId(99)), ""),
        (Change::Resize { geom: "nobody".into(), size: [1.0; 3] }, "nobody"),
    ];
    let (mut world, mut twin) = (build(&arena()), build(&arena()));
    for (change, says) in refused {
        let shown = format!("{change:?}").chars().take(60).collect::<String>();
        let catalogue = std::sync::Arc::clone(world.catalogue());
        world.request(change);
        match world.settle().as_slice() {
            [(_, ChangeOutcome::Refused(error))] => assert!(error.to_string().contains(says), "{shown}: {error}"),
            [(_, ChangeOutcome::UnknownAgent(AgentId(99)))] => {}
            other => panic!("{shown}: {other:?}"),
        }
        assert!(std::sync::Arc::ptr_eq(&catalogue, world.catalogue()), "{shown}");
        world.tick();
        twin.tick();
        assert_eq!(world.state_hash(), twin.state_hash(), "{shown}");
    }
    // and the next one can come
    assert_eq!(join(&mut world, cubes("Fine")), AgentId(3));
}

#[test]
fn the_world_runs_on_while_a_model_is_compiled() {
    let (mut world, mut twin) = (team(), team());
    let ticket = world.request(Change::Join(robot("Guest", "rover", -1.0, -0.5)));
    let mut answers = Vec::new();
    let blueprint = world.next_blueprint(&mut answers).unwrap();
    assert!(world.next_blueprint(&mut answers).is_none(), "one at a time");
    let built = std::thread::spawn(move || blueprint.build());
    run(&mut world, 0, 15);
    run(&mut twin, 0, 15);
    assert_eq!(world.state_hash(), twin.state_hash(), "nobody feels the compiler");
    let installed = world.install(built.join().unwrap());
    assert!(matches!(installed, Some((t, ChangeOutcome::Joined(AgentId(5)))) if t == ticket), "{installed:?}");
    assert_eq!(bits(&world, &OTHERS), bits(&twin, &OTHERS));
    // what was done meanwhile to a robot that leaves is forgotten with it
    world.request(Change::Leave(AgentId(5)));
    let blueprint = world.next_blueprint(&mut answers).unwrap();
    world.stage(AgentId(5), SessionId(5), 0, vec![Action::Set { motor: 0, target: Some(1.0), torque: None }]);
    world.install(blueprint.build());
    run(&mut world, 15, 5);
    assert_eq!(world.failure(), None);
}
