use std::f64::consts::{FRAC_PI_2, SQRT_2};

use super::*;
use crate::{
    Assembly, RayHit, SensorKind,
    testing::{BOX, FLOOR, WALKER, attachment, compile, sim, sim_of, source},
};

fn walkers(count: usize) -> Sim {
    let attachments: Vec<_> =
        (0..count).map(|i| attachment(&format!("r{i}-"), WALKER, Pose::at(2.0 * i as f64, 0.0, 0.0))).collect();
    sim(&attachments)
}

/// Moves the legs, differently at each step.
fn wave(sim: &mut Sim) {
    for (k, actuator) in sim.model().actuators().enumerate() {
        let value = (sim.time() * 7.0 + k as f64).sin();
        sim.set_ctrl(actuator, value);
    }
}

fn run(sim: &mut Sim, steps: usize) {
    for _ in 0..steps {
        wave(sim);
        sim.step().unwrap();
    }
}

/// A heap of boxes that fits its memory until the boxes touch.
fn cramped() -> Model {
    let boxes: String = (0..40)
        .map(|i| {
            format!("<body name='b{i}' pos='0 0 {}'><freejoint/><geom type='box' size='.1 .1 .1'/></body>", i * 2 + 1)
        })
        .collect();
    let text = FLOOR.replace("</worldbody>", &format!("{boxes}</worldbody>"));
    let mut small = Assembly::new(source("heap", &text)).compile().unwrap().compiled().clone();
    // SAFETY: no data has been made of it yet
    unsafe { small.ffi_mut() }.narena = 120_000;
    Model::new(small, 1)
}

#[test]
fn an_engine_error_ends_a_step_and_nothing_else() {
    let mut bystander = walkers(1);
    let mut control = walkers(1);
    let mut heap = Sim::new(cramped()).unwrap();
    heap.step().unwrap();
    let boxes: Vec<BodyId> = heap.model().bodies().skip(1).collect();
    for (i, body) in boxes.iter().enumerate() {
        assert!(heap.place(*body, Pose::at(0.0, 0.0, 0.09 + i as f64 * 0.01)));
    }
    let before = (heap.time(), heap.hash());
    for _ in 0..3 {
        let fault = heap.step().unwrap_err();
        assert!(matches!(&fault, Fault::Engine { cause } if cause.contains("stack")), "{fault}");
        assert_eq!((heap.time(), heap.hash()), before);
        run(&mut bystander, 10);
        run(&mut control, 10);
        assert_eq!(bystander.hash(), control.hash());
    }
    // the same simulation continues once the cause is gone
    for (i, body) in boxes.iter().enumerate() {
        heap.place(*body, Pose::at(i as f64, 0.0, 0.5));
    }
    heap.step().unwrap();
    assert!(heap.time() > before.0);
}

/// What happens between the preparation of a step and the step itself.
type Between = fn(&mut Sim, usize);

#[test]
fn a_prepared_step_has_the_same_result_and_nothing_changes_before_it() {
    let between: [(&str, Between); 8] = [
        ("nothing", |_, _| {}),
        ("a joint is moved", |sim, _| sim.set_joint_position(sim.model().joint_named("r0-left").unwrap(), 0.1)),
        ("the floor is lowered", |sim, step| {
            let floor = sim.model().geom_named("floor").unwrap();
            sim.move_fixed_geom(floor, Pose::at(0.0, 0.0, -0.001 * step as f64));
        }),
        ("a robot is put elsewhere", |sim, step| {
            let torso = sim.model().body_named("r1-torso").unwrap();
            sim.place(torso, Pose::at(3.0, step as f64 * 0.01, 1.0));
        }),
        ("gravity changes", |sim, step| sim.set_gravity([0.0, 0.0, -9.0 - step as f64 * 0.01])),
        ("the time step changes", |sim, step| sim.set_timestep(0.002 + step as f64 * 1e-5)),
        ("a mass changes", |sim, step| {
            sim.set_body_mass(sim.model().body_named("r0-torso").unwrap(), 3.0 + step as f64 * 0.01);
        }),
        ("everything starts anew", |sim, _| sim.reset()),
    ];
    for (what, change) in between {
        let (mut ahead, mut plain) = (walkers(2), walkers(2));
        for step in 0..120 {
            let seen = |sim: &Sim| {
                (sim.positions().to_vec(), sim.sensor_values().to_vec(), sim.contacts().count(), sim.hash())
            };
            // a step whose sensing differs from the prepared one starts over
            ahead.prepare_step(step % 5 == 0);
            assert_eq!(seen(&ahead), seen(&plain), "{what}, step {step}, begun");
            for sim in [&mut ahead, &mut plain] {
                if step % 10 == 9 {
                    change(sim, step);
                }
                wave(sim);
                if step % 3 == 0 { sim.step_without_sensors() } else { sim.step() }.unwrap();
            }
            assert_eq!(seen(&ahead), seen(&plain), "{what}, step {step}");
        }
        assert_eq!(ahead.warnings(), plain.warnings(), "{what}");
    }
}

#[test]
fn an_engine_error_in_a_prepared_step_is_reported_by_the_step() {
    let mut heap = Sim::new(cramped()).unwrap();
    heap.step().unwrap();
    let boxes: Vec<BodyId> = heap.model().bodies().skip(1).collect();
    for (i, body) in boxes.iter().enumerate() {
        heap.place(*body, Pose::at(0.0, 0.0, 0.09 + i as f64 * 0.01));
    }
    // so that the heap is the state that a step is prepared from
    heap.save_good();
    let before = (heap.time(), heap.hash());
    heap.prepare_step(false);
    let fault = heap.step().unwrap_err();
    assert!(matches!(&fault, Fault::Engine { cause } if cause.contains("stack")), "{fault}");
    assert_eq!((heap.time(), heap.hash()), before);
    for (i, body) in boxes.iter().enumerate() {
        heap.place(*body, Pose::at(i as f64, 0.0, 0.5));
    }
    heap.prepare_step(false);
    heap.step().unwrap();
    assert!(heap.time() > before.0);
}

#[test]
fn unsound_values_are_named_and_replaced() {
    type Write = fn(&mut Sim, f64);
    let writes: [(Write, &str, &str); 5] = [
        (|s, v| s.data.ctrl_mut()[2] = v, "r1-left", "control"),
        (|s, v| s.data.qvel_mut()[14] = v, "r1-left", "velocity"),
        (|s, v| s.data.qpos_mut()[7] = v, "r0-left", "position"),
        (|s, v| s.data.qvel_mut()[8] = v, "r1-torso", "velocity"),
        (|s, v| s.data.act_mut()[1] = v, "r1-right", "activation"),
    ];
    for (write, name, quantity) in writes {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e11] {
            let (mut sim, mut control) = (walkers(2), walkers(2));
            run(&mut sim, 50);
            run(&mut control, 50);
            write(&mut sim, bad);
            match sim.step().unwrap_err() {
                Fault::NotFinite { what, quantity: q, value } => {
                    assert_eq!((what.as_str(), q, value.to_bits()), (name, quantity, bad.to_bits()));
                }
                fault => panic!("{fault}"),
            }
            assert_eq!(sim.hash(), control.hash(), "{name} {quantity} {bad}");
            run(&mut sim, 50);
            run(&mut control, 50);
            assert_eq!(sim.hash(), control.hash());
        }
    }
}

#[test]
fn motion_that_leaves_the_range_is_undone() {
    let mut sim = walkers(2);
    run(&mut sim, 20);
    let joint = sim.model().joint_named("r1-right").unwrap();
    sim.set_joint_velocity(joint, 9e9);
    let before = (sim.hash(), sim.time());
    let fault = sim.step().unwrap_err();
    assert!(matches!(&fault, Fault::NotFinite { what, .. } if what.starts_with("r1-")), "{fault}");
    assert_eq!((sim.hash(), sim.time()), before);
    sim.set_joint_velocity(joint, 0.0);
    run(&mut sim, 20);
}

#[test]
fn an_invalid_time_step_is_refused() {
    let mut sim = walkers(1);
    let good = sim.timestep();
    for bad in [0.0, -0.01, f64::NAN, f64::INFINITY] {
        let before = sim.hash();
        sim.data.model_opt_mut().timestep = bad;
        assert!(matches!(sim.step(), Err(Fault::Engine { .. })), "{bad}");
        assert_eq!(sim.hash(), before);
    }
    for odd in [1e-300, 1e-20, 1e5, 1e300] {
        let before = sim.hash();
        sim.set_timestep(odd);
        if sim.step().is_err() {
            assert_eq!(sim.hash(), before);
        }
        assert!(sim.qpos().iter().all(|q| q.is_finite()));
    }
    sim.reset();
    sim.set_timestep(good);
    run(&mut sim, 10);
}

#[test]
fn warnings_are_counted() {
    let mut sim = walkers(1);
    run(&mut sim, 5);
    assert_eq!(sim.warnings(), 0);
    // the engine warns of an unsound velocity, and would reset itself
    sim.data.qvel_mut()[0] = f64::NAN;
    sim.step_unguarded();
    assert_eq!(sim.time(), sim.timestep() * 6.0);
    let counted = sim.warnings();
    assert!(counted > 0);
    sim.reset();
    assert_eq!((sim.warnings(), sim.time()), (counted, 0.0));
}

#[test]
fn equal_runs_are_bit_for_bit_equal() {
    let (mut one, mut other) = (walkers(3), walkers(3));
    for _ in 0..1000 {
        run(&mut one, 1);
        run(&mut other, 1);
        assert_eq!(one.hash(), other.hash());
    }
    // reading changes nothing
    let mut watched = walkers(3);
    for _ in 0..1000 {
        wave(&mut watched);
        watched.step().unwrap();
        watched.forward().unwrap();
    }
    assert_eq!(watched.hash(), one.hash());
    let mut bare = walkers(3);
    for _ in 0..1000 {
        wave(&mut bare);
        bare.step_unguarded();
    }
    assert_eq!(bare.hash(), one.hash());
}

#[test]
fn a_step_without_sensors_has_the_same_result_and_keeps_sensor_values() {
    let (mut seeing, mut blind) = (walkers(2), walkers(2));
    for _ in 0..20 {
        for sim in [&mut seeing, &mut blind] {
            wave(sim);
        }
        let sensed = blind.sensor_values().to_vec();
        seeing.step().unwrap();
        blind.step_without_sensors().unwrap();
        assert_eq!(seeing.hash(), blind.hash());
        assert_eq!(blind.sensor_values(), sensed);
        // and the next one evaluates them again
        seeing.step().unwrap();
        blind.step().unwrap();
        assert_eq!(seeing.sensor_values(), blind.sensor_values());
    }
    assert!(seeing.sensor_values().iter().any(|&value| value != 0.0));
}

#[test]
fn a_restored_state_continues_as_before() {
    let mut sim = walkers(2);
    run(&mut sim, 200);
    let saved = sim.state();
    assert_eq!((saved.hash(), saved.time()), (sim.hash(), sim.time()));
    run(&mut sim, 300);
    let first = sim.hash();
    sim.restore(&saved).unwrap();
    assert_eq!(sim.hash(), saved.hash());
    run(&mut sim, 300);
    assert_eq!(sim.hash(), first);

    let mut fresh = walkers(2);
    fresh.restore(&saved).unwrap();
    run(&mut fresh, 300);
    assert_eq!(fresh.hash(), first);

    let mut other = walkers(1);
    let before = other.hash();
    assert!(matches!(other.restore(&saved), Err(Fault::Engine { .. })));
    let mut spoiled = saved.clone();
    spoiled.values[3] = f64::NAN;
    assert!(matches!(fresh.restore(&spoiled), Err(Fault::NotFinite { .. })));
    assert_eq!((other.hash(), fresh.hash()), (before, first));
}

#[test]
fn reset_restores_the_initial_state_and_keeps_parameters() {
    let mut sim = walkers(1);
    let start = sim.hash();
    let torso = sim.model().body_named("r0-torso").unwrap();
    sim.set_body_mass(torso, 3.0);
    run(&mut sim, 100);
    assert_ne!(sim.hash(), start);
    sim.reset();
    assert_eq!((sim.hash(), sim.body_mass(torso)), (start, 3.0));
}

#[test]
fn contacts_carry_a_box_at_rest() {
    let mut sim = sim(&[attachment("a-", BOX, Pose::IDENTITY)]);
    for _ in 0..2000 {
        sim.step().unwrap();
    }
    sim.forward().unwrap();
    let (floor, shell) = (sim.model().geom_named("floor").unwrap(), sim.model().geom_named("a-shell").unwrap());
    let mut force = 0.0;
    for contact in sim.contacts() {
        assert_eq!(contact.geoms, [floor, shell]);
        assert!((contact.normal[2] - 1.0).abs() < 1e-9 && contact.depth > 0.0, "{contact:?}");
        assert!(contact.pos[2].abs() < 1e-2 && (contact.pos[0].abs() - 0.1).abs() < 1e-2, "{contact:?}");
        force += contact.force[0];
    }
    assert!((force - 9.81).abs() < 1e-3, "{force}");
}

#[test]
fn rays_ignore_the_excluded_robot() {
    let sim = sim(&[attachment("a-", WALKER, Pose::IDENTITY), attachment("b-", BOX, Pose::at(2.0, 0.0, 0.4))]);
    let m = sim.model();
    let (torso, leg) = (m.body_named("a-torso").unwrap(), m.body_named("a-left").unwrap());
    let check = |origin, direction, exclude, expected: Option<(&str, f64)>| {
        let hit = sim.ray(origin, direction, exclude);
        match (hit, expected) {
            (None, None) => {}
            (Some(RayHit { distance, geom }), Some((name, length))) => {
                assert_eq!(m.geom_name(geom), name, "{origin:?} {direction:?}");
                assert!((distance - length).abs() < 1e-5, "{distance} {length}");
            }
            _ => panic!("{origin:?} {direction:?}: {hit:?}, not {expected:?}"),
        }
    };
    let up = [0.0, 0.0, 1.0];
    check([-1.0, 0.0, 0.5], [1.0, 0.0, 0.0], None, Some(("a-torso", 0.9)));
    check([-1.0, 0.0, 0.5], [9.0, 0.0, 0.0], None, Some(("a-torso", 0.9)));
    // from outside through the robot, from within it, and from one of its limbs
    check([-1.0, 0.0, 0.5], [1.0, 0.0, 0.0], Some(torso), Some(("b-shell", 2.9)));
    check([0.0, 0.0, 0.5], [1.0, 0.0, 0.0], Some(leg), Some(("b-shell", 1.9)));
    check([0.0, 0.1, 2.0], [0.0, 0.0, -2.0], Some(torso), Some(("floor", 2.0)));
    check([0.6, 0.0, 2.0], [1.0, 0.0, -1.0], Some(torso), Some(("b-shell", SQRT_2 * 1.4)));
    check([0.0, 0.0, 2.0], up, None, None);
    check([0.0, 0.0, 2.0], [0.0; 3], None, None);
    check([f64::NAN, 0.0, 2.0], up, None, None);
}

#[test]
fn parameters_take_effect() {
    let pendulum = r#"<mujoco><option timestep="0.001"/><worldbody><body name="arm"><joint name="j" axis="0 1 0"/>
        <geom name="g" size="0.05" pos="1 0 0" mass="1"/></body></worldbody>
        <actuator><motor name="m" joint="j"/></actuator></mujoco>"#;
    // velocity after 0.1 s, from level
    let swing = |change: fn(&mut Sim, JointId)| {
        let mut sim = sim_of(pendulum);
        let joint = sim.model().joint_named("j").unwrap();
        let state = sim.hash();
        change(&mut sim, joint);
        assert_eq!(sim.hash(), state, "the state is not touched");
        (0..100).for_each(|_| sim.step().unwrap());
        sim.joint_velocity(joint)
    };
    let plain = swing(|_, _| {});
    assert!((plain - 0.98).abs() < 0.01, "{plain}");
    assert!((swing(|s, j| s.set_joint_armature(j, 1.0)) / plain - 0.5).abs() < 0.01);
    assert!(swing(|s, j| s.set_joint_damping(j, 100.0)) < 0.2 * plain);
    assert!(swing(|s, j| s.set_joint_stiffness(j, 1000.0)).abs() < 0.8 * plain);
    assert!(swing(|s, j| s.set_joint_frictionloss(j, 20.0)).abs() < 0.1 * plain);
    assert!(swing(|s, _| s.set_gravity([0.0; 3])).abs() < 1e-9);
    // the mass matters only against a motor
    let lifted = swing(|s, _| s.set_body_mass(BodyId(1), 4.0));
    assert!((lifted - plain).abs() < 1e-3, "{lifted}");
    let mut sim = sim_of(pendulum);
    let (body, motor) = (sim.model().body_named("arm").unwrap(), sim.model().actuator_named("m").unwrap());
    let joint = sim.model().joint_named("j").unwrap();
    sim.set_body_mass(body, 2.0);
    assert_eq!(sim.body_mass(body), 2.0);
    assert_eq!(sim.data.model().body_subtreemass()[0], 2.0, "what follows from the mass is up to date");
    sim.forward().unwrap();
    sim.data.model().body_inertia()[1].iter().for_each(|i| assert!((i - 2.0 * 0.4 * 0.05 * 0.05).abs() < 1e-9));
    sim.set_ctrl(motor, -2.0 * 9.81);
    (0..100).for_each(|_| sim.step().unwrap());
    assert!(sim.joint_velocity(joint).abs() < 1e-9, "2 kg are held by 2 g");
    assert!((sim.actuator_force(motor) + 2.0 * 9.81).abs() < 1e-9);
    sim.set_joint_force_range(joint, Some([-1.0, 1.0]));
    sim.set_actuator_force_range(motor, Some([-5.0, 5.0]));
    sim.forward().unwrap();
    assert_eq!(sim.actuator_force(motor), -5.0);
    assert_eq!(sim.data.qfrc_actuator()[0], -1.0);
    assert_eq!((sim.joint_force_range(joint), sim.model().joint_force_range(joint)), (Some([-1.0, 1.0]), None));
    sim.set_joint_limits(joint, [-2.0, 0.5]);
    assert_eq!((sim.joint_limits(joint), sim.model().joint_range(joint)), (Some([-2.0, 0.5]), None));
    // a motor becomes a servo
    sim.set_joint_force_range(joint, Some([-1e3, 1e3]));
    sim.set_actuator_force_range(motor, Some([-1e3, 1e3]));
    sim.set_actuator_gain(motor, 500.0, [0.0, -500.0, -50.0]);
    assert_eq!(sim.actuator_gain(motor), (500.0, [0.0, -500.0, -50.0]));
    assert_eq!(sim.model().actuator(motor).bias, [0.0; 3]);
    sim.set_ctrl(motor, -FRAC_PI_2);
    (0..5000).for_each(|_| sim.step().unwrap());
    assert!((sim.joint_position(joint) + FRAC_PI_2).abs() < 1e-3, "{}", sim.joint_position(joint));
    let geom = sim.model().geom_named("g").unwrap();
    sim.set_geom_friction(geom, [0.5, 0.1, 0.2]);
    sim.set_geom_rgba(geom, [1.0, 0.0, 0.5, 1.0]);
    assert_eq!((sim.geom_friction(geom), sim.geom_rgba(geom)), ([0.5, 0.1, 0.2], [1.0, 0.0, 0.5, 1.0]));
}

#[test]
fn robots_are_placed_and_stopped() {
    let mut sim = walkers(2);
    run(&mut sim, 200);
    let m = sim.model().clone();
    let (torso, leg) = (m.body_named("r1-torso").unwrap(), m.body_named("r1-left").unwrap());
    let others: Vec<f64> = sim.qpos()[..9].to_vec();
    let start = walkers(2);
    for body in m.bodies() {
        let (a, b) = (sim.start_pose(body), start.body_pose(body));
        assert!(a.pos.iter().zip(b.pos).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
    }
    let pose = Pose::facing(5.0, 6.0, 0.5, FRAC_PI_2);
    assert!(sim.place(torso, pose));
    assert!(!sim.place(leg, pose));
    sim.rest(torso);
    sim.forward().unwrap();
    assert_eq!(sim.body_pose(torso), pose);
    assert_eq!(sim.body_velocity(torso), Velocity::default());
    assert_eq!(sim.joint_position(m.joint_named("r1-left").unwrap()), 0.0);
    assert_eq!(sim.qpos()[..9], others);
    let site = sim.site_pose(m.site_named("r1-imu").unwrap());
    assert!(site.quat.iter().zip(pose.quat).all(|(a, b)| (a - b).abs() < 1e-12), "{site:?}");
    let range = m.joint_dof_range(m.body_free_joint(torso).unwrap());
    sim.data.qvel_mut()[range].copy_from_slice(&[1.0, 2.0, 3.0, 0.0, 0.0, 4.0]);
    sim.forward().unwrap();
    let v = sim.body_velocity(torso);
    assert!(v.linear.iter().zip([1.0, 2.0, 3.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{v:?}");
    assert!(v.angular.iter().zip([0.0, 0.0, 4.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{v:?}");
}

#[test]
fn user_sensors_and_lights() {
    let mut sim = walkers(1);
    let eye = sim.model().sensor_named("r0-eye").unwrap();
    assert_eq!(sim.model().sensor_kind(eye), SensorKind::User);
    sim.set_sensor(eye, &[1.0, 2.0, 3.0]);
    run(&mut sim, 10);
    assert_eq!(sim.sensor(eye), [1.0, 2.0, 3.0]);
    assert_eq!(sim.sensor_values()[sim.model().sensor_range(eye)], [1.0, 2.0, 3.0]);
    sim.forward().unwrap();
    assert_eq!(sim.sensor(eye), [1.0, 2.0, 3.0]);
    sim.data.ctrl_mut()[0] = f64::NAN;
    assert!(sim.step().is_err());
    assert_eq!(sim.sensor(eye), [1.0, 2.0, 3.0]);
    sim.reset();
    assert_eq!(sim.sensor(eye), [0.0; 3]);
    let sun = sim.model().light_named("sun").unwrap();
    assert_eq!((sim.light_position(sun), sim.light_direction(sun)), ([0.0, 0.0, 3.0], [0.0, 0.0, -1.0]));
    assert!(sim.light_active(sun));
    sim.set_light_active(sun, false);
    assert!(!sim.light_active(sun));
}

#[test]
fn simulations_can_move_between_threads() {
    let mut here = walkers(1);
    let mut there = walkers(1);
    run(&mut here, 100);
    let there = std::thread::spawn(move || {
        run(&mut there, 100);
        there.hash()
    });
    assert_eq!(there.join().unwrap(), here.hash());
    assert!(compile(&[]).is_ok());
    assert!(crate::mujoco_version().starts_with("3."));
}

#[test]
fn the_velocity_of_a_free_body_is_set_in_the_world_frame() {
    let mut sim = sim(&[attachment("", BOX, Pose::IDENTITY)]);
    let body = sim.model().bodies().find(|&body| sim.model().body_free_joint(body).is_some()).unwrap();
    // lying on its side, so that its own axes are not the world's
    let lying = Pose { pos: [0.0, 0.0, 2.0], quat: [SQRT_2 / 2.0, SQRT_2 / 2.0, 0.0, 0.0] };
    assert!(sim.place(body, lying));
    let given = Velocity { linear: [1.0, -2.0, 3.0], angular: [0.5, 0.25, -1.0] };
    assert!(sim.set_free_velocity(body, given));
    sim.forward().unwrap();
    let got = sim.body_velocity(body);
    for (got, given) in got.linear.iter().chain(&got.angular).zip(given.linear.iter().chain(&given.angular)) {
        assert!((got - given).abs() < 1e-9, "{got} is not {given}");
    }
    assert!(!sim.set_free_velocity(BodyId::WORLD, given), "the world does not move");
}
