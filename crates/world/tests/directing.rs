//! A director: what it does, shows and is told is part of the world's course.

mod worlds;

use std::{io::Cursor, sync::Arc};

use physics::Pose;
use world::{
    Value, World,
    director::{Director, DynDirector, Envelope, OrderRefusal, Spawn, View},
    record::{Entry, Recorder, replay},
};
use worlds::{flat, robot, setup};

/// Pushes the rover to an x coordinate, and counts.
#[derive(Debug, Default)]
struct Push {
    x: f64,
    before: i64,
    after: i64,
}

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
enum PushRefusal {
    #[error("{x} m is too far")]
    TooFar { x: f64 },
    #[error("{name} may not join")]
    Stranger { name: String },
}

impl Director for Push {
    const NAME: &'static str = "push";
    type Order = f64;
    /// The coordinate before.
    type Answer = f64;
    type Refusal = PushRefusal;
    type JoinRequest = String;

    fn variables(&self) -> Vec<(String, Value)> {
        vec![("/Game/Before".into(), Value::Integer(self.before)), ("/Game/X".into(), Value::Double(self.x))]
    }

    fn reset(&mut self, _: &mut World) {
        *self = Self::default();
    }

    fn model_changed(&mut self, _: &mut World) {}

    fn before_physics(&mut self, world: &mut World) {
        self.before += 1;
        let rover = world.sim().model().body_named("Rover:Chassis").expect("the rover is there");
        let mut pose = world.sim().body_pose(rover);
        pose.pos[0] = self.x;
        world.sim_mut().place(rover, pose);
    }

    fn after_physics(&mut self, _: &mut World) {
        self.after += 1;
        assert_eq!(self.before, self.after, "physics is between the two");
    }

    fn admit(&mut self, _: &mut World, request: &String) -> Result<Spawn, PushRefusal> {
        match request.as_str() {
            "guest" => Ok(Spawn { name: "Guest".to_owned(), pose: Pose::at(1.0, 1.0, 0.0) }),
            stranger => Err(PushRefusal::Stranger { name: stranger.to_owned() }),
        }
    }

    fn apply_order(&mut self, _: &mut World, x: f64) -> Result<Option<f64>, PushRefusal> {
        if x.abs() > 10.0 {
            return Err(PushRefusal::TooFar { x });
        }
        Ok(Some(std::mem::replace(&mut self.x, x)))
    }

    fn view(&self) -> View {
        Arc::new(self.after)
    }
}

fn pushes(description: &str) -> Result<Box<dyn DynDirector>, String> {
    (description == "push").then(|| Box::new(Push::default()) as _).ok_or_else(|| description.to_owned())
}

fn read(world: &World, name: &str) -> Value {
    world.read(world.catalogue().variable_named(name).expect(name).id).expect(name)
}

#[test]
fn a_director_moves_shows_and_is_recorded() {
    let mut setup = setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0)]);
    setup.directors = vec!["push".to_owned()];
    let director = pushes("push").expect("it is known");
    let mut world = World::with_directors(&setup, vec![director]).expect("it can be built");
    world.keep_journal();
    let mut file = Cursor::new(Vec::new());
    let mut recorder = Recorder::new(&mut file, &setup, &world).expect("memory can be written");
    for tick in 0..30 {
        if tick == 10 {
            let answer = world.order::<Push>(0.5).expect("it is near").expect("it is answered");
            assert_eq!(answer.downcast_ref::<f64>(), Some(&0.0));
            let refusal = world.order::<Push>(20.0).expect_err("it is far");
            assert_eq!(refusal.downcast_ref(), Some(&PushRefusal::TooFar { x: 20.0 }));
        }
        world.tick();
        if let Some(record) = world.take_record(5) {
            recorder.write(&record).expect("memory can be written");
        }
    }
    assert_eq!(read(&world, "/Game/Before"), Value::Integer(30));
    assert_eq!(read(&world, "/Game/X"), Value::Double(0.5));
    let shown = world.take_snapshot().view::<i64>().copied();
    assert_eq!(shown, Some(30));
    world.reset(None);
    assert_eq!(read(&world, "/Game/X"), Value::Double(0.0), "a try begins anew");

    recorder.finish().expect("memory can be written");
    drop(recorder);
    let file = file.into_inner();
    let verdict = replay(Cursor::new(&file), &pushes, |_, _| {}).expect("it replays");
    assert_eq!((verdict.ticks, verdict.compared, verdict.differs_at), (30, 6, None));
    let error = replay(Cursor::new(&file), &world::record::no_director, |_, _| {}).expect_err("nobody directs");
    assert!(error.to_string().contains("unknown director `push`"), "{error}");
}

/// A world with the director, which keeps a journal.
fn recorded_world() -> World {
    let setup = setup(flat(), vec![robot("Rover", "rover", 0.0, 0.0)]);
    let mut world = World::with_directors(&setup, vec![Box::new(Push::default())]).expect("it can be built");
    world.keep_journal();
    world
}

#[test]
fn granted_orders_and_requests_are_recorded_and_give_the_same_text_again() {
    let mut world = recorded_world();
    world.order::<Push>(0.1).expect("it is near");
    world.admit(&Envelope::join_request::<Push>("guest".to_owned())).expect("it is invited");
    let journal = world.take_journal();
    let to = || Push::NAME.to_owned();
    let wanted = [
        Entry::Order { to: to(), order: "0.1".to_owned() },
        Entry::Admit { to: to(), request: "\"guest\"".to_owned() },
    ];
    assert_eq!(journal, wanted);

    let mut again = recorded_world();
    for entry in journal {
        again.apply(entry).expect("it was granted before");
    }
    assert_eq!(again.take_journal(), wanted);
    assert_eq!(read(&again, "/Game/X"), Value::Double(0.1));
}

#[test]
fn refused_orders_and_requests_are_not_recorded() {
    /// Another director with the same name and other types.
    struct Namesake;
    impl Director for Namesake {
        const NAME: &'static str = Push::NAME;
        type Order = i64;
        type Answer = ();
        type Refusal = std::convert::Infallible;
        type JoinRequest = i64;
        fn variables(&self) -> Vec<(String, Value)> {
            Vec::new()
        }
        fn reset(&mut self, _: &mut World) {}
        fn model_changed(&mut self, _: &mut World) {}
        fn before_physics(&mut self, _: &mut World) {}
        fn after_physics(&mut self, _: &mut World) {}
        fn admit(&mut self, _: &mut World, _: &i64) -> Result<Spawn, Self::Refusal> {
            unreachable!("it is in no world")
        }
        fn apply_order(&mut self, _: &mut World, _: i64) -> Result<Option<()>, Self::Refusal> {
            unreachable!("it is in no world")
        }
        fn view(&self) -> View {
            Arc::new(())
        }
    }

    let mut world = recorded_world();
    world.order::<Push>(20.0).expect_err("it is far");
    let stranger = world.admit(&Envelope::join_request::<Push>("thief".to_owned())).expect_err("it is not invited");
    assert_eq!(stranger, OrderRefusal::by_director(PushRefusal::Stranger { name: "thief".to_owned() }));
    assert_eq!(stranger.to_string(), "thief may not join");
    let wrong_type = OrderRefusal::WrongType { director: Push::NAME };
    assert_eq!(world.order::<Namesake>(1), Err(wrong_type.clone()));
    assert_eq!(world.admit(&Envelope::join_request::<Namesake>(1)), Err(wrong_type));
    assert_eq!(world.take_journal(), []);
}

#[test]
fn without_a_director_orders_are_refused() {
    let mut world = worlds::build(&setup(flat(), Vec::new()));
    assert_eq!(world.order::<Push>(0.5), Err(OrderRefusal::NoDirector { director: "push".to_owned() }));
}
