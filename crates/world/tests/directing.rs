//! A director: what it does, shows and is told is part of the world's course.

mod worlds;

use std::{io::Cursor, sync::Arc};

use physics::Pose;
use world::{
    Value, World,
    director::{Director, Place, View},
    record::{Recorder, replay},
};
use worlds::{flat, robot, setup};

/// Pushes the rover to where it was told, and counts.
#[derive(Default)]
struct Push {
    x: f64,
    before: i64,
    after: i64,
}

impl Director for Push {
    fn name(&self) -> &'static str {
        "push"
    }

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
        world.stage_sim().place(rover, pose);
    }

    fn after_physics(&mut self, _: &mut World) {
        self.after += 1;
        assert_eq!(self.before, self.after, "physics is between the two");
    }

    fn admit(&mut self, _: &mut World, request: &str) -> Result<Place, String> {
        match request {
            "guest" => Ok(Place { name: "Guest".to_owned(), pose: Pose::at(1.0, 1.0, 0.0) }),
            stranger => Err(format!("{stranger} may not come in")),
        }
    }

    fn order(&mut self, _: &mut World, order: &str) -> Result<String, String> {
        self.x = order.parse().map_err(|_| format!("`{order}` is no number"))?;
        Ok("pushed".to_owned())
    }

    fn view(&self) -> View {
        Arc::new(self.after)
    }
}

fn pushes(description: &str) -> Result<Box<dyn Director>, String> {
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
            assert_eq!(world.order("push", "0.5"), Ok("pushed".to_owned()));
            assert_eq!(world.order("push", "far"), Err("`far` is no number".to_owned()));
        }
        world.tick();
        if let Some(record) = world.take_record(5) {
            recorder.write(&record).expect("memory can be written");
        }
    }
    assert_eq!(read(&world, "/Game/Before"), Value::Integer(30));
    assert_eq!(read(&world, "/Game/X"), Value::Double(0.5));
    let shown = world.snapshot().view::<i64>().copied();
    assert_eq!(shown, Some(30));
    world.reset(None);
    assert_eq!(read(&world, "/Game/X"), Value::Double(0.0), "a try begins anew");

    recorder.finish().expect("memory can be written");
    drop(recorder);
    let file = file.into_inner();
    let verdict = replay(&file, &pushes, |_, _| {}).expect("it replays");
    assert_eq!((verdict.ticks, verdict.compared, verdict.differs_at), (30, 6, None));
    let error = replay(&file, &world::record::no_director, |_, _| {}).expect_err("nobody directs");
    assert!(error.to_string().contains("`push` is not known"), "{error}");
}

#[test]
fn without_a_director_orders_are_refused() {
    let mut world = worlds::build(&setup(flat(), Vec::new()));
    assert_eq!(world.order("push", "anything"), Err("no push directs this world".to_owned()));
}
