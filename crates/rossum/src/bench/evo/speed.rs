//! Robot steps per second of processor time, in turns with the peers.

use anyhow::Context;

use super::{
    super::{Figure, Goal, median},
    Options,
    peer::{Peer, TaskFile},
    task::{FAR, NEAR, Rover, Stint, Task},
};

/// Readings that differ by more than this are counted, in mm.
const OFF: f64 = 10.0;

enum Contestant {
    Ours(Box<Rover>),
    Peer(Peer),
}

struct Entry {
    contestant: Contestant,
    /// Robot steps per second of processor time, by round.
    rates: Vec<f64>,
}

impl Entry {
    fn ours(task: &Task, range: f64) -> anyhow::Result<Self> {
        Ok(Self { contestant: Contestant::Ours(Box::new(Rover::new(task, range)?)), rates: Vec::new() })
    }

    fn run(&mut self, options: &Options) -> anyhow::Result<()> {
        let Stint { steps, cpu } = match &mut self.contestant {
            Contestant::Ours(rover) => rover.run(options.block())?,
            Contestant::Peer(peer) => peer.run()?,
        };
        self.rates.push(steps as f64 / cpu);
        Ok(())
    }

    /// In thousands.
    fn rate(&self) -> f64 {
        median(self.rates.clone()) / 1e3
    }

    /// Speed relative to another contestant, as the median of the rounds.
    fn over(&self, other: &Self) -> f64 {
        median(self.rates.iter().zip(&other.rates).map(|(own, other)| own / other).collect())
    }
}

impl From<Peer> for Entry {
    fn from(peer: Peer) -> Self {
        Self { contestant: Contestant::Peer(peer), rates: Vec::new() }
    }
}

pub(super) fn measure(options: &Options) -> anyhow::Result<Vec<Figure>> {
    let task = Task::read()?;
    let file = TaskFile::write()?;
    let mut ours = [Entry::ours(&task, FAR)?, Entry::ours(&task, NEAR)?];
    let mut enki = match &options.enki {
        Some(program) => {
            let variants = [(FAR, "squares"), (FAR, "discs"), (NEAR, "discs")];
            let start = |(range, shape)| Peer::enki(program, &file, options.block(), range, shape).map(Entry::from);
            Some(each(variants, start)?)
        }
        None => None,
    };
    let mut navground = match &options.navground {
        Some(python) => {
            let variants = [(FAR, "8x3"), (FAR, "1x24"), (FAR, "1x8"), (NEAR, "8x3")];
            let start = |(range, rays)| Peer::navground(python, &file, options.block(), range, rays).map(Entry::from);
            Some(each(variants, start)?)
        }
        None => None,
    };
    for round in 0..=options.rounds() {
        let peers = enki.iter_mut().flatten().chain(navground.iter_mut().flatten());
        for entry in ours.iter_mut().chain(peers) {
            entry.run(options)?;
            if round == 0 {
                // until all are warm
                entry.rates.clear();
            }
        }
    }
    let mut figures = Vec::new();
    figures.extend(enki.map(|enki| beside_enki(&task, &ours, &enki)).transpose()?);
    figures.extend(navground.map(|navground| beside_navground(&ours, &navground)));
    if figures.is_empty() {
        figures.push(alone(&ours));
    }
    Ok(figures)
}

fn each<T, U, const N: usize>(values: [T; N], make: impl FnMut(T) -> anyhow::Result<U>) -> anyhow::Result<[U; N]> {
    let made = values.into_iter().map(make).collect::<anyhow::Result<Vec<U>>>()?;
    made.try_into().ok().context("as many as there were")
}

fn beside_enki(task: &Task, [ours, ours_near]: &[Entry; 2], enki: &[Entry; 3]) -> anyhow::Result<Figure> {
    let [enki, discs, near] = enki;
    let missed = 100.0 * Rover::new(task, FAR)?.rays_off_by(3, OFF)?;
    let detail = format!(
        "{:.1} k steps per CPU second / Enki {:.1} k among the same squares; Enki {:.1} k among its discs; with sensors \
         to {NEAR} mm {:.1} k / {:.1} k; Enki is dynamic, ours kinematic; Enki has 3 rays a sensor, which are off by \
         more than {OFF} mm in {missed:.1} % of readings, ours exact beams",
        ours.rate(),
        enki.rate(),
        discs.rate(),
        ours_near.rate(),
        near.rate(),
    );
    Ok(Figure { what: "robot-steps / Enki", detail, value: ours.over(enki), goal: Goal::AtLeast(7.0), unit: "x" })
}

fn beside_navground([ours, ours_near]: &[Entry; 2], navground: &[Entry; 4]) -> Figure {
    let [navground, one_of_24, one_of_8, near] = navground;
    let detail = format!(
        "{:.1} k steps per CPU second / navground {:.1} k with 8 sensors of 3 rays as in Enki; with sensors to {NEAR} mm \
         {:.1} k / {:.1} k; navground with all 24 rays from its middle {:.1} k, with 8 of them {:.1} k; navground has \
         discs, and its own controller, which does not look at the sensors",
        ours.rate(),
        navground.rate(),
        ours_near.rate(),
        near.rate(),
        one_of_24.rate(),
        one_of_8.rate(),
    );
    Figure { what: "robot-steps / navground", detail, value: ours.over(navground), goal: Goal::AtLeast(2.5), unit: "x" }
}

fn alone([ours, ours_near]: &[Entry; 2]) -> Figure {
    Figure {
        what: "robot-steps per CPU second",
        detail: format!("with sensors to {NEAR} mm {:.1} k", ours_near.rate()),
        value: ours.rate(),
        goal: Goal::AtLeast(140.0),
        unit: "k",
    }
}
