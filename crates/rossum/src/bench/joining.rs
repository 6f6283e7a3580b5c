//! The 22nd robot joins a game that runs in real time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use library::ModelKind;
use physics::Pose;
use server::sim_thread::{Delivery, SessionSender, SimOptions, SimThread, Ticks};
use world::{Answer, Catalogue, Command, Robot, World, clock::Pace};

use super::{Behaviour, Figure, Goal, Options, median, now, t1_setup};

const ROBOTS_BEFORE: usize = 21;
const JOINS: usize = 5;
/// Length of a tick of [`t1_setup`].
const TICK: Duration = Duration::from_millis(20);
/// Time limit of the whole measurement.
const DEADLINE: Duration = Duration::from_secs(30);

pub(super) fn measure(_: &Options) -> anyhow::Result<Vec<Figure>> {
    let world = World::new(&t1_setup(ROBOTS_BEFORE)?)?;
    let catalogue = world.catalogue().clone();
    let options = SimOptions { pace: Pace::Realtime, silence: DEADLINE, steady: false, recording: None };
    let sim = SimThread::start(world, options)?;
    let (commands, deliveries) = sim.handle().open(Ticks::AtEnd)?;
    let source = library::model(ModelKind::Robot, "T1", std::path::Path::new(""))?;

    let mut game = Game {
        commands,
        deliveries,
        catalogue,
        deadline: now() + DEADLINE,
        last: None,
        missed: 0,
        longest_gap: Duration::ZERO,
    };
    let mut joins = Vec::new();
    for round in 0..JOINS {
        let pose = Pose::at(20.0, round as f64, 0.0);
        game.commands.send(Command::Join(Robot { name: format!("Late {round}"), source: source.clone(), pose }))?;
        let asked = now();
        let Answer::Joined(late) = game.answer()? else { bail!("the 22nd robot was rejected") };
        joins.push(now().duration_since(asked).as_secs_f64() * 1e3);
        game.commands.send(Command::Leave(late))?;
        let Answer::Left(_) = game.answer()? else { bail!("the 22nd robot did not leave") };
    }
    let ticks = sim.handle().latest().tick.0;
    sim.stop();
    let longest = joins.iter().copied().fold(0.0, f64::max);
    let detail = format!("longest of {JOINS}: {longest:.0} ms, {ticks} ticks in real time");
    Ok(vec![
        Figure { what: "join of the 22nd T1", detail, value: median(joins), goal: Goal::AtMost(150.0), unit: "ms" },
        Figure {
            what: "ticks the other 21 missed",
            detail: format!(
                "longest interval between ticks (nominal 20 ms): {:.1} ms",
                game.longest_gap.as_secs_f64() * 1e3
            ),
            value: game.missed.into(),
            goal: Goal::AtMost(0.0),
            unit: "",
        },
    ])
}

/// The other 21 robots, which keep moving.
struct Game {
    commands: SessionSender,
    deliveries: tokio::sync::mpsc::Receiver<Delivery>,
    catalogue: Arc<Catalogue>,
    deadline: Instant,
    last: Option<Instant>,
    /// Ticks that were more than one tick late.
    missed: u32,
    longest_gap: Duration,
}

impl Game {
    /// Keeps playing until the world answers.
    fn answer(&mut self) -> anyhow::Result<Answer> {
        while now() < self.deadline {
            match self.deliveries.blocking_recv().context("the world has stopped")? {
                Delivery::Answer(answer) => return Ok(answer),
                Delivery::Tick(snapshot) => self.play(snapshot.tick.0)?,
            }
        }
        bail!("no answer within {DEADLINE:?}")
    }

    fn play(&mut self, tick: u64) -> anyhow::Result<()> {
        for agent in &self.catalogue.agents {
            let actions = Behaviour::Flailing.actions(agent.id, tick as u32, agent.motors.len());
            self.commands.send(Command::Act(agent.id, actions))?;
        }
        let now = now();
        if let Some(last) = self.last.replace(now) {
            let gap = now.duration_since(last);
            self.missed += u32::from(gap > 2 * TICK);
            self.longest_gap = self.longest_gap.max(gap);
        }
        Ok(())
    }
}
