//! What goes wrong costs the robot, at worst the world, and never the process.
//!
//! Errors of the engine itself are provoked in the tests of `physics`: from here a model always has the memory it needs.

mod worlds;

use physics::Fault;
use world::{Action, AgentId, JointTarget, SessionId, Setup, World};
use worlds::*;

/// A servo so stiff and strong that it throws its arm beyond all numbers as soon as it is given a target.
const BOMB: &str = r#"
<mujoco model="bomb">
  <worldbody>
    <body name="base" pos="0 0 0.3">
      <freejoint name="root"/>
      <geom name="base" size="0.05" mass="1"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="hinge" axis="0 1 0"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0 0 0.1" size="0.01" mass="0.001"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="fuse" joint="hinge" kp="1e14" ctrlrange="-3 3"/></actuator>
</mujoco>"#;

/// A robot whose joint has no name of its own.
const NAMELESS_BOMB: &str = r#"
<mujoco model="bomb">
  <worldbody>
    <body name="arm" pos="0 0 0.4">
      <joint axis="0 1 0"/>
      <geom name="arm" type="capsule" fromto="0 0 0 0 0 0.1" size="0.01" mass="0.001"/>
      <site name="tip" pos="0 0 0.1"/>
    </body>
  </worldbody>
  <actuator><general name="fuse" site="tip" gear="1e14 0 0 0 0 0" ctrlrange="-3 3"/></actuator>
</mujoco>"#;

fn set(motor: usize, target: f64) -> Action {
    Action::Set { motor, target: Some(target), torque: None }
}

/// Two rovers and a bomb, far from each other, which has gone off; events of all that.
fn exploded(bomb: &str) -> (World, Vec<String>) {
    let robots =
        vec![robot("One", "rover", 0.0, 0.0), text_robot("Bomb", bomb, -1.0, 0.3), robot("Two", "rover", 0.0, 0.5)];
    let mut world = build(&setup(flat(), robots));
    for agent in [1, 3] {
        world.stage(AgentId(agent), SessionId(0), 0, vec![set(0, 8.0), set(1, 8.0)]);
    }
    ticks(&mut world, 20);
    events(&mut world);
    world.stage(AgentId(2), SessionId(0), 0, vec![set(0, 3.0)]);
    ticks(&mut world, 100);
    let events = events(&mut world);
    (world, events)
}

#[test]
fn a_robot_that_explodes_is_released_and_put_back_and_the_others_go_on() {
    for (bomb, fuse) in [(BOMB, "/Sim/Bomb/fuse/DesiredAngle"), (NAMELESS_BOMB, "/Sim/Bomb/fuse/Signal")] {
        let (mut world, events) = exploded(bomb);
        assert_eq!(world.failure(), None);
        assert!(number(&world, "/Performance/Faults") > 0.0, "{fuse} has not gone off");
        let faults: Vec<_> = events.iter().filter(|name| name.ends_with("/Fault")).collect();
        assert_eq!(faults, ["/Agent/Bomb/Fault"], "nobody else is touched");
        let reports = world.take_fault_reports();
        assert!(reports.iter().all(|report| report.agent.as_deref() == Some("Bomb")), "{reports:?}");
        assert!(!reports.is_empty() && world.take_fault_reports().is_empty(), "each is told once");
        assert_eq!(number(&world, fuse), 0.0, "its motor is released");
        for rover in ["One", "Two"] {
            let [x, ..] = point(&world, &format!("/Sim/{rover}/Position"));
            assert!(x > 0.1, "{rover} has come to {x}");
            assert!(close(number(&world, &format!("/Sim/{rover}/Left/Wheel/DesiredVelocity")), 8.0 / 12.0, 1e-9));
        }
        let positions = world.sim().positions().as_flattened();
        assert!(positions.iter().all(|x| x.is_finite() && x.abs() < 100.0), "everything is where it can be");
    }
}

#[test]
fn a_fault_is_the_same_each_time() {
    let (one, _) = exploded(BOMB);
    let (other, _) = exploded(BOMB);
    assert_eq!(one.state_hash(), other.state_hash());
}

#[test]
fn a_thing_of_the_world_that_explodes_ends_the_try_at_worst() {
    // a spring that no step can follow, between two things that are no robot's
    let base = r#"
      <mujoco>
        <worldbody>
          <geom name="floor" type="plane" size="9 9 1"/>
          <body name="mine" pos="0 3 1">
            <joint name="mine" type="slide" axis="1 0 0" stiffness="1e18" springref="1"/>
            <geom size="0.1" mass="0.001"/>
          </body>
        </worldbody>
        <option integrator="Euler"/>
      </mujoco>"#;
    let setup = Setup { robots: vec![robot("Rover", "rover", 0.0, 0.0)], ..Setup::new(text("mine", base)) };
    let mut world = build(&setup);
    ticks(&mut world, 20);
    let failure = world.failure().cloned();
    assert!(matches!(&failure, Some(Fault::NotFinite { what, .. }) if what == "mine"), "{failure:?}");
    let hash = world.state_hash();
    ticks(&mut world, 5);
    assert_eq!(world.state_hash(), hash, "nothing moves after a failure");
    assert_eq!(world.tick_count().0, 25, "ticks are counted all the same");

    // without the cause, a reset is all it takes
    write(&mut world, "/Sim/World/mine/Stiffness", world::Value::Double(1.0));
    assert!(world.failure().is_some());
    world.reset(None);
    assert_eq!(world.failure(), None);
    ticks(&mut world, 20);
    assert_eq!(world.failure(), None);
    assert_ne!(world.state_hash(), hash);
}

#[test]
fn numbers_that_are_none_are_never_staged() {
    let team = || build(&setup(flat(), vec![robot("T", "T1", 0.0, 0.0), robot("Rover", "rover", 1.0, 0.0)]));
    let (mut world, mut twin) = (team(), team());
    let fine = JointTarget { q: 0.5, dq: 0.0, kp: 50.0, kd: 1.0, tau: 0.1 };
    let mut bad = Vec::new();
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300] {
        for target in [
            JointTarget { q: x, ..fine },
            JointTarget { dq: x, ..fine },
            JointTarget { kp: x, ..fine },
            JointTarget { kd: x, ..fine },
            JointTarget { tau: x, ..fine },
        ] {
            bad.push(Action::Joint { motor: 3, target });
        }
    }
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        bad.push(Action::Set { motor: 0, target: Some(x), torque: None });
        bad.push(Action::Set { motor: 0, target: None, torque: Some(x) });
    }
    for (tick, action) in bad.into_iter().enumerate() {
        let fine = Action::Joint { motor: tick % 23, target: fine };
        for agent in [1, 2] {
            assert!(!world.stage(AgentId(agent), SessionId(1), 0, vec![action]), "{action:?}");
        }
        // what stands beside it is kept
        assert!(!world.stage(AgentId(1), SessionId(0), 0, vec![action, fine]));
        assert!(twin.stage(AgentId(1), SessionId(0), 0, vec![fine]));
        world.tick();
        twin.tick();
        assert_eq!(world.state_hash(), twin.state_hash(), "{action:?}");
    }
    assert_eq!(number(&world, "/Performance/Faults"), 0.0);
}

#[test]
fn actions_for_nobody_and_nothing_change_nothing() {
    let (mut world, mut twin) = (build(&arena()), build(&arena()));
    let target = JointTarget { q: 1.0, dq: 0.0, kp: 50.0, kd: 1.0, tau: 0.0 };
    for (agent, action) in [
        (AgentId(77), set(0, 1.0)),
        (AgentId(1), set(2, 1.0)),
        (AgentId(1), set(usize::MAX, 1.0)),
        (AgentId(1), Action::Joint { motor: 0, target }),
        (AgentId(2), Action::Joint { motor: 99, target }),
    ] {
        world.stage(agent, SessionId(0), 0, vec![action]);
        world.tick();
        twin.tick();
        assert_eq!(world.state_hash(), twin.state_hash(), "{agent:?} {action:?}");
    }
}
