//! A world and its clock, over time that the tests pass in.
#![expect(
    clippy::disallowed_methods,
    reason = "an Instant can only be had from the system; the tests move it themselves"
)]

mod worlds;

use std::time::{Duration, Instant};

use world::{
    Action, AgentId, Answer, Command, CommandRefusal, Runner, SessionId, Setup, Value,
    clock::{CATCH_UP_TICKS, Pace, Vote},
    runner::Progress,
    variable::VariableError,
};
use worlds::*;

const SILENCE: Duration = Duration::from_secs(5);
const A: (AgentId, SessionId) = (AgentId(1), SessionId(11));
const B: (AgentId, SessionId) = (AgentId(2), SessionId(22));

/// A running world and the time there.
struct Watched {
    run: Runner,
    now: Instant,
}

impl Watched {
    fn new(setup: &Setup, pace: Pace) -> Self {
        let now = Instant::now();
        Self { run: Runner::new(build(setup), pace, SILENCE, now), now }
    }

    /// Two rovers that step together.
    fn lockstep() -> Self {
        let mut watched = Self::new(
            &setup(flat(), vec![robot("A", "rover", 0.0, 0.0), robot("B", "rover", 0.0, 0.5)]),
            Pace::Lockstep,
        );
        for (agent, session) in [A, B] {
            watched.say(session, Command::EnterLockstep(agent));
            assert_eq!(watched.run.take_answers(), [(session, Answer::Entered(agent))]);
        }
        watched
    }

    fn say(&mut self, session: SessionId, command: Command) {
        self.run.handle(session, 0, command, self.now);
    }

    fn vote(&mut self, (agent, session): (AgentId, SessionId), vote: Vote) {
        self.say(session, Command::Vote(agent, vote));
    }

    /// Whether anything moved.
    fn advance(&mut self) -> bool {
        matches!(self.run.advance(self.now).0, Progress::Moved(_))
    }

    /// Lets time pass until something moves, or nothing would without a command.
    fn wait(&mut self) {
        while let Progress::Until(then) = self.run.advance(self.now).0 {
            self.now = then;
        }
    }

    fn ticks(&self) -> u64 {
        self.run.world().tick_count().0
    }

    fn build(&mut self) {
        while let Some(blueprint) = self.run.next_blueprint(self.now) {
            self.run.install(blueprint.build(), self.now);
        }
    }
}

#[test]
fn a_tick_needs_every_vote_and_uses_them_up() {
    let mut world = Watched::lockstep();
    for round in 0..5 {
        assert!(!world.advance(), "nobody has voted");
        world.vote(A, Vote::Step);
        world.vote(A, Vote::Step);
        assert!(!world.advance(), "B has not voted");
        world.vote(B, Vote::Step);
        assert!(world.advance());
        assert_eq!(world.ticks(), round + 1);
    }
    assert_eq!(world.run.take_answers(), []);
}

#[test]
fn a_silent_voter_is_told_and_the_world_goes_on() {
    let mut world = Watched::lockstep();
    world.vote(A, Vote::Step);
    let begin = world.now;
    world.wait();
    assert_eq!(world.now, begin + SILENCE);
    assert_eq!(world.run.world().snapshot().lockstep, [A.0]);
    assert_eq!(world.ticks(), 1);
    assert_eq!(world.run.take_answers(), [(B.1, Answer::VoteLost(B.0))]);
    world.vote(B, Vote::Step);
    assert_eq!(world.run.take_answers(), [(B.1, Answer::VoteLost(B.0))], "its votes no longer count");
    world.vote(A, Vote::Step);
    assert!(world.advance());
    world.say(B.1, Command::EnterLockstep(B.0));
    world.vote(A, Vote::Step);
    assert!(!world.advance(), "it may come back");
}

#[test]
fn a_client_that_is_alone_may_pause() {
    for pace in Pace::ALL {
        let mut world = Watched::new(&setup(flat(), vec![robot("A", "rover", 0.0, 0.0)]), pace);
        world.say(A.1, Command::EnterLockstep(A.0));
        world.run.take_answers();
        for minutes in [1, 60] {
            let until = world.now + Duration::from_secs(60) * minutes;
            while world.now < until {
                world.now += Duration::from_millis(250);
                assert!(!world.advance());
            }
            world.vote(A, Vote::Step);
            world.now += Duration::from_millis(250);
            assert!(world.advance(), "{pace}");
        }
        assert_eq!(world.run.take_answers(), [], "{pace}");
    }
}

#[test]
fn whoever_keeps_a_robot_waiting_that_does_not_vote_loses_its_vote() {
    let check = |pace: Pace, wanted: &[(SessionId, Answer)], acts: &dyn Fn(&mut Watched)| {
        let mut world = Watched::new(&setup(flat(), vec![robot("A", "rover", 0.0, 0.0)]), pace);
        world.say(A.1, Command::EnterLockstep(A.0));
        acts(&mut world);
        world.build();
        world.run.take_answers();
        world.wait();
        assert_eq!(world.run.take_answers(), wanted, "{pace}");
    };
    let lost = [(A.1, Answer::VoteLost(A.0))];
    for pace in [Pace::Realtime, Pace::Eager, Pace::Fast] {
        check(pace, &lost, &|world| world.say(B.1, Command::Join(text_robot("Cart", CART, 0.0, 3.0))));
        check(pace, &lost, &|world| world.say(B.1, Command::Act(A.0, Vec::new())));
        check(pace, &[], &|world| world.say(A.1, Command::Join(text_robot("Cart", CART, 0.0, 3.0))));
        check(pace, &[], &|world| world.say(A.1, Command::Act(A.0, Vec::new())));
    }
    check(Pace::Lockstep, &[], &|world| world.say(B.1, Command::Join(text_robot("Cart", CART, 0.0, 3.0))));
}

#[test]
fn a_stop_of_the_server_costs_no_vote_and_no_tick() {
    let mut world = Watched::lockstep();
    let seconds = |world: &Watched| number(world.run.world(), "/Simulation/SimulationTime");
    for (round, stop) in [1.0, 10.0, 3600.0].into_iter().enumerate() {
        // one has voted, and the vote of the other arrives during the stop
        world.vote(A, Vote::Step);
        assert!(!world.advance());
        let before = seconds(&world);
        world.now += Duration::from_secs_f64(stop);
        assert!(!world.advance(), "its vote is still on its way");
        world.vote(B, Vote::Step);
        let burst = (0..100).take_while(|_| world.advance()).count();
        assert_eq!((burst, world.ticks()), (1, round as u64 + 1), "{stop} s");
        assert!(close(seconds(&world), before + world.run.world().tick_seconds(), 1e-9));
    }
    assert_eq!(world.run.take_answers(), []);
}

#[test]
fn an_agent_whose_client_has_vanished_goes_to_who_keeps_asking() {
    let mut world = Watched::lockstep();
    let rival = SessionId(33);
    let mut refused = 0;
    while {
        world.say(rival, Command::EnterLockstep(A.0));
        world.run.take_answers().last() == Some(&(rival, Answer::VoteLost(A.0)))
    } {
        world.now += Duration::from_millis(100);
        assert!(!world.advance());
        refused += 1;
    }
    assert_eq!(refused, 50, "5 s");
    assert_eq!(world.run.world().snapshot().controllers.get(&A.0), Some(&rival));
    // a robot that its client has added stays with it
    world.say(B.1, Command::Join(text_robot("Cart", CART, 0.0, 3.0)));
    world.build();
    world.say(B.1, Command::EnterLockstep(AgentId(3)));
    for _ in 0..100 {
        world.say(rival, Command::EnterLockstep(AgentId(3)));
        world.now += Duration::from_millis(100);
        world.advance();
    }
    let answers = world.run.take_answers();
    assert!(answers.iter().all(|(session, answer)| (*session, answer) != (rival, &Answer::Entered(AgentId(3)))));
}

#[test]
fn whoever_leaves_is_not_waited_for() {
    let mut world = Watched::lockstep();
    world.say(B.1, Command::Leave(B.0));
    world.vote(A, Vote::Step);
    assert!(world.advance());
    // entering once more on the way out does not hold up the world
    world.say(B.1, Command::EnterLockstep(B.0));
    world.build();
    assert_eq!(world.run.take_answers(), [(B.1, Answer::Entered(B.0)), (B.1, Answer::Left(B.0))]);
    world.vote(A, Vote::Step);
    assert!(world.advance());
    world.say(B.1, Command::EnterLockstep(B.0));
    assert_eq!(world.run.take_answers(), [(B.1, Answer::VoteLost(B.0))], "nobody is there to vote");
    world.vote(A, Vote::Step);
    assert!(world.advance());
}

#[test]
fn whoever_votes_for_a_robot_that_another_takes_out_is_told() {
    let mut world = Watched::lockstep();
    world.say(B.1, Command::Leave(A.0));
    assert_eq!(world.run.take_answers(), [], "it is still there");
    world.build();
    let answers = world.run.take_answers();
    assert_eq!(answers, [(A.1, Answer::VoteLost(A.0)), (B.1, Answer::Left(A.0))]);
}

#[test]
fn an_agent_votes_through_one_session() {
    let mut world = Watched::lockstep();
    let lost = [(B.1, Answer::VoteLost(A.0))];
    world.say(B.1, Command::EnterLockstep(A.0));
    assert_eq!(world.run.take_answers(), lost, "it votes through another");
    world.say(A.1, Command::EnterLockstep(A.0));
    assert_eq!(world.run.take_answers(), [(A.1, Answer::Entered(A.0))], "again");
    world.vote((A.0, B.1), Vote::Step);
    assert_eq!(world.run.take_answers(), lost, "a vote of somebody else's");
    world.say(B.1, Command::LeaveLockstep(A.0));
    world.vote(B, Vote::Step);
    assert!(!world.advance(), "nobody can send another's agent away");
    assert_eq!(world.run.world().snapshot().lockstep, [A.0, B.0]);
    world.run.end(A.1, world.now);
    world.say(B.1, Command::EnterLockstep(A.0));
    assert_eq!(world.run.take_answers(), [(B.1, Answer::Entered(A.0))], "its session has gone");
}

#[test]
fn a_reset_is_voted_on_and_gives_the_seed() {
    let mut world = Watched::lockstep();
    for vote in [A, B] {
        world.vote(vote, Vote::Step);
    }
    assert!(world.advance());
    world.vote(A, Vote::Reset(Some(42)));
    assert!(!world.advance());
    world.vote(B, Vote::Reset(None));
    assert!(world.advance());
    let inside = world.run.world();
    assert_eq!((inside.seed(), world.ticks(), number(inside, "/Control/CurrentTry")), (42, 1, 2.0));
    assert!(!world.advance(), "votes are used up");
}

#[test]
fn a_reset_from_outside_keeps_the_votes() {
    let mut world = Watched::lockstep();
    world.vote(A, Vote::Step);
    world.say(SessionId(99), Command::Reset(Some(3)));
    assert_eq!(world.run.world().seed(), 3);
    world.vote(B, Vote::Step);
    assert!(world.advance(), "A waits for the tick that it voted for");
}

#[test]
fn a_paused_world_waits_for_nobody_and_can_be_reset() {
    let mut world = Watched::lockstep();
    let pause = id(world.run.world(), "/Control/Pause");
    world.say(A.1, Command::Write(pause, Value::Boolean(true)));
    world.vote(A, Vote::Step);
    world.vote(B, Vote::Step);
    assert!(!world.advance());
    world.say(A.1, Command::Write(pause, Value::Boolean(false)));
    assert!(world.advance());
    world.say(A.1, Command::Write(pause, Value::Boolean(true)));
    assert!(!world.advance());
    world.now += 10 * SILENCE;
    assert!(!world.advance());
    world.run.take_answers();
    for voter in [A, B] {
        world.vote(voter, Vote::Reset(None));
    }
    assert_eq!(world.run.take_answers(), [], "nobody lost its vote while time stood still");
    assert!(world.advance());
    assert_eq!(number(world.run.world(), "/Control/CurrentTry"), 2.0);
}

#[test]
fn answers_go_to_whoever_asked() {
    let mut world = Watched::new(&Setup::new(text("bench", BENCH)), Pace::Realtime);
    let sessions: [SessionId; 8] = std::array::from_fn(|n| SessionId(n as u64));
    let inside = world.run.world();
    let (mass, time) = (id(inside, "/Sim/World/ball/Mass"), id(inside, "/Simulation/SimulationTime"));
    let (ball, block) = (id(inside, "/Sim/World/ball/Size"), id(inside, "/Sim/World/block/Size"));
    world.say(sessions[0], Command::Read(mass));
    world.say(sessions[1], Command::Write(mass, Value::Double(2.0)));
    world.say(sessions[2], Command::Write(time, Value::Double(2.0)));
    let name = "/Simulation/SimulationTime".to_owned();
    let wanted = [
        (sessions[0], Answer::Value(mass, Value::Double(1.0))),
        (sessions[1], Answer::Written(mass)),
        (sessions[2], Answer::NoValue(time, VariableError::ReadOnly { name })),
    ];
    assert_eq!(world.run.take_answers(), wanted);

    // what needs a new model is answered once it is there
    world.say(sessions[3], Command::Join(text_robot("Cart", CART, 0.0, 3.0)));
    world.say(sessions[4], Command::Join(text_robot("Cart", CART, 0.0, 3.0)));
    world.say(sessions[5], Command::Write(ball, Value::Point3D([0.4; 3])));
    world.say(sessions[6], Command::Write(block, Value::Point3D([1e-5; 3])));
    world.say(sessions[7], Command::Leave(AgentId(55)));
    assert_eq!(world.run.take_answers(), []);
    world.build();
    let mut answers = world.run.take_answers();
    answers.sort_by_key(|(session, _)| *session);
    assert_eq!(answers[0], (sessions[3], Answer::Joined(AgentId(1))));
    assert!(
        matches!(&answers[1], (s, Answer::Refused(CommandRefusal::Build(why))) if *s == sessions[4] && why.to_string().contains("already"))
    );
    assert_eq!(answers[2], (sessions[5], Answer::Written(ball)));
    // so small a block has next to no inertia
    let (session, refusal) = &answers[3];
    assert_eq!(*session, sessions[6]);
    let Answer::NoValue(variable, error @ VariableError::NotBuilt { .. }) = refusal else { panic!("{refusal:?}") };
    assert_eq!(*variable, block);
    assert!(error.to_string().contains("/Sim/World/block/Size"), "{error}");
    assert!(
        matches!(&answers[4], (s, Answer::Refused(CommandRefusal::UnknownAgent { agent })) if *s == sessions[7] && agent.0 == 55)
    );

    let stop = Action::Set { motor: 0, target: Some(f64::NAN), torque: None };
    world.say(sessions[0], Command::Act(AgentId(1), vec![stop]));
    assert!(
        matches!(world.run.take_answers().as_slice(), [(s, Answer::Refused(CommandRefusal::Actions))] if *s == sessions[0])
    );
}

#[test]
fn real_time_keeps_pace_and_does_not_sprint_after_a_stall() {
    let mut world = Watched::new(&arena(), Pace::Realtime);
    let start = world.now;
    let mut stalled = false;
    let mut behind = 0;
    let mut longest_burst = 0;
    while number(world.run.world(), "/Simulation/SimulationTime") < 10.0 {
        let mut burst = 0;
        let next = loop {
            match world.run.advance(world.now) {
                (Progress::Moved(_), late) => {
                    burst += 1;
                    behind += u32::from(late);
                }
                (Progress::Until(next), _) => break next,
                (Progress::Waiting, _) => panic!("a paced world never waits for good"),
            }
        };
        longest_burst = longest_burst.max(burst);
        world.now = next;
        if !stalled && world.now - start > Duration::from_secs(4) {
            stalled = true;
            world.now += Duration::from_secs(10);
        }
    }
    assert_eq!(behind, 1);
    assert_eq!(world.run.clock().overruns(), 1);
    assert!(longest_burst <= CATCH_UP_TICKS + 1, "{longest_burst} ticks at once");
    let passed = (world.now - start).as_secs_f64();
    assert!(close(passed, 20.0, 0.05), "10 s of simulation and 10 s of stall took {passed} s");
}

#[test]
fn real_time_catches_up_with_small_delays() {
    let mut world = Watched::new(&Setup::new(text("bench", BENCH)), Pace::Realtime);
    let (start, period) = (world.now, Duration::from_millis(2));
    let mut ticks = 0;
    // every other wake-up comes a tick and a half late
    for wake in 0..200 {
        world.now = start + period * wake + if wake % 2 == 1 { period * 3 / 2 } else { Duration::ZERO };
        while world.advance() {
            ticks += 1;
        }
    }
    assert!((200..=202).contains(&ticks), "{ticks}");
    assert_eq!(world.run.clock().overruns(), 0);
}

#[test]
fn the_pace_follows_the_length_of_a_tick() {
    let mut world = Watched::new(&Setup::new(text("bench", BENCH)), Pace::Realtime);
    assert!(world.advance());
    let steps = id(world.run.world(), "/Simulation/IterationsPerStep");
    world.say(SessionId(0), Command::Write(steps, Value::Integer(50)));
    world.now += Duration::from_millis(2);
    assert!(world.advance());
    let before = world.now;
    let Progress::Until(next) = world.run.advance(world.now).0 else { panic!("it is not due yet") };
    assert_eq!(next - before, Duration::from_millis(100));
}

#[test]
fn a_failed_world_stands_still_until_everyone_wants_a_reset() {
    // a spring that no step can follow
    let base = "<mujoco><worldbody><body name='mine' pos='0 3 1'>
                  <joint name='mine' type='slide' axis='1 0 0' stiffness='1e18' springref='1'/>
                  <geom size='0.1' mass='0.001'/>
                </body></worldbody></mujoco>";
    let mut world = Watched::new(&setup(text("mine", base), vec![robot("A", "rover", 0.0, 0.0)]), Pace::Lockstep);
    world.say(A.1, Command::EnterLockstep(A.0));
    while world.run.world().failure().is_none() {
        world.vote(A, Vote::Step);
        assert!(world.advance());
        assert!(world.ticks() < 20, "it has not failed");
    }
    let ticks = world.ticks();
    world.vote(A, Vote::Step);
    assert!(!world.advance());
    world.now += 2 * SILENCE;
    assert!(!world.advance());
    world.vote(A, Vote::Reset(Some(8)));
    assert!(world.advance());
    let inside = world.run.world();
    assert_eq!((inside.seed(), inside.failure(), world.ticks()), (8, None, ticks));
}

#[test]
fn with_a_session_go_its_robots_votes_and_observations() {
    let mut world = Watched::new(&Setup::new(text("bench", BENCH)), Pace::Lockstep);
    let (gone, stays) = (SessionId(7), SessionId(8));
    let time = id(world.run.world(), "/Simulation/SimulationTime");
    world.say(gone, Command::Join(text_robot("Early", CART, 0.0, 3.0)));
    world.say(stays, Command::Join(text_robot("Stays", CART, 0.0, 4.0)));
    world.build();
    for session in [gone, stays] {
        world.say(session, Command::Observe(time));
    }
    world.say(gone, Command::EnterLockstep(AgentId(1)));
    // a second one is on its way when the session ends
    world.say(gone, Command::Join(text_robot("Late", CART, 0.0, 5.0)));
    world.run.take_answers();
    world.run.end(gone, world.now);
    world.build();
    let names: Vec<_> = world.run.world().catalogue().agents.iter().map(|agent| agent.name.clone()).collect();
    assert_eq!(names, ["Stays"]);
    assert_eq!(world.run.take_answers(), [], "nobody is told");
    assert!(!world.run.clock().waits_for(AgentId(1)));
    assert_eq!(world.run.world_mut().take_snapshot().observed.len(), 1, "others observe on");
    world.run.end(stays, world.now);
    assert_eq!(world.run.world_mut().take_snapshot().observed.len(), 0);
}

#[test]
fn the_speed_is_a_variable_and_the_pace_can_be_read() {
    let mut world = Watched::new(&Setup::new(text("bench", BENCH)), Pace::Realtime);
    assert_eq!(read(world.run.world(), "/Control/Pace"), Value::String("realtime".to_owned()));
    let speed = id(world.run.world(), "/Control/Speed");
    let began = world.now;
    let ticks_in = |world: &mut Watched, time: Duration| {
        let (before, end) = (world.ticks(), world.now + time);
        while world.now < end {
            match world.run.advance(world.now).0 {
                Progress::Moved(_) => {}
                Progress::Until(then) => world.now = then.min(end),
                Progress::Waiting => panic!("it runs by itself"),
            }
        }
        world.ticks() - before
    };
    // 2 ms a tick
    assert!(ticks_in(&mut world, Duration::from_secs(1)).abs_diff(500) <= 2);
    for (factor, wanted) in [(2.0, 1_000), (0.5, 250)] {
        world.say(A.1, Command::Write(speed, Value::Double(factor)));
        assert_eq!(world.run.take_answers(), [(A.1, Answer::Written(speed))]);
        assert_eq!(world.run.world().snapshot().speed, factor);
        let count = ticks_in(&mut world, Duration::from_secs(1));
        assert!(count.abs_diff(wanted) <= 3, "{count} ticks at a speed of {factor}");
    }
    world.say(A.1, Command::Speed(4.0));
    assert_eq!(number(world.run.world(), "/Control/Speed"), 4.0);
    assert!(world.now > began);
}
