//! Threads that help with the physics: results are the same, bit for bit, with any number of them.

mod worlds;

use std::io::Cursor;

use physics::Threads;
use world::{
    Action, JointTarget, SessionId, Setup, World,
    record::{Recorder, no_director, replay_with_threads},
};
use worlds::*;

const TICKS: u32 = 50;
const HASH_EVERY: u64 = 5;

fn fixed(count: u8) -> Threads {
    Threads::try_from(count).expect("not too many")
}

/// A full field of T1, in pairs that are close enough to hit each other.
fn full_field() -> Setup {
    let place = |index: u8| (-10.0 + 2.0 * f64::from(index / 2), 0.5 * f64::from(index % 2));
    let player = |index: u8| {
        let (x, y) = place(index);
        robot(&format!("T1-{index}"), "T1", x, y)
    };
    Setup { steps_per_tick: 4, ..setup(model("fields/fifa/field.xml"), (0..22).map(player).collect()) }
}

/// Lets every robot swing all its joints.
fn flail(world: &mut World, tick: u32) {
    let catalogue = world.catalogue().clone();
    for agent in &catalogue.agents {
        let swing = |motor: usize| {
            let q = (f64::from(tick) * 0.2 + motor as f64 + f64::from(agent.id.0)).sin();
            Action::Joint { motor, target: JointTarget { q, dq: 0.0, kp: 80.0, kd: 2.0, tau: 0.0 } }
        };
        assert!(world.stage(agent.id, SessionId(0), tick.into(), (0..agent.motors.len()).map(swing).collect()));
    }
}

/// Number of contacts between two robots.
fn count_hits(world: &World) -> usize {
    let sim = world.sim();
    let owner = |geom| sim.model().geom_name(geom).split_once(':').map(|(agent, _)| agent);
    let is_hit = |[first, second]: [physics::GeomId; 2]| {
        owner(first).is_some() && owner(second).is_some() && owner(first) != owner(second)
    };
    sim.contacts().filter(|contact| is_hit(contact.geoms)).count()
}

#[test]
fn a_full_field_moves_the_same_with_any_number_of_threads() {
    let run = |threads: Threads| {
        let mut world = build(&full_field());
        world.set_threads(threads).unwrap();
        let (mut hashes, mut hits) = (Vec::new(), 0);
        for tick in 0..TICKS {
            flail(&mut world, tick);
            if tick % 3 == 0 {
                world.prepare();
            }
            world.tick();
            hashes.push(world.state_hash());
            hits += count_hits(&world);
        }
        if threads != Threads::Auto {
            assert_eq!(world.sim().helping_threads().to_string(), threads.to_string());
        }
        assert!(hits > 0, "no robot hits another one");
        hashes
    };
    let alone = run(Threads::None);
    for threads in [fixed(1), fixed(3), Threads::Auto] {
        assert_eq!(run(threads), alone, "{threads}");
    }
}

/// A run with robots that join and leave and a state that is returned to, recorded.
fn record(threads: Threads) -> Vec<u8> {
    let setup = full_field();
    let mut world = build(&setup);
    world.set_threads(threads).expect("they start");
    world.keep_journal();
    let mut file = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut file, &setup, &world).expect("it begins");
    let (mut guest, mut saved) = (None, None);
    for tick in 0..TICKS {
        match tick {
            10 => guest = Some(join(&mut world, robot("Guest", "T1", 0.0, 4.0))),
            20 => leave(&mut world, guest.expect("it has joined")),
            25 => saved = world.save().ok(),
            35 => world.restore(saved.expect("it was saved")).expect("it is still saved"),
            40 => world.reset(Some(3)),
            _ => {}
        }
        flail(&mut world, tick);
        world.tick();
        assert_eq!(world.sim().helping_threads().to_string(), threads.to_string(), "tick {tick}");
        let record = world.take_record(HASH_EVERY).expect("each tick has commands");
        recorder.write(&record).expect("it is written");
    }
    recorder.finish().expect("it is written");
    drop(recorder);
    file.into_inner()
}

#[test]
fn a_recording_does_not_depend_on_the_number_of_threads() {
    let file = record(fixed(1));
    assert_eq!(record(Threads::None), file);
    for threads in [Threads::None, fixed(1), fixed(3), Threads::Auto] {
        let verdict = replay_with_threads(Cursor::new(&file), &no_director, threads, |_, _| {}).unwrap();
        assert_eq!((verdict.differs_at, verdict.complete), (None, true), "{threads}");
        assert_eq!(verdict.compared, u64::from(TICKS) / HASH_EVERY, "{threads}");
    }
}

#[test]
fn a_fork_has_threads_of_its_own() {
    let mut world = build(&full_field());
    world.set_threads(fixed(2)).unwrap();
    flail(&mut world, 0);
    world.tick();
    let mut fork = world.fork().unwrap();
    drop(world);
    fork.tick();
    assert_eq!(fork.sim().helping_threads(), 2);
}
