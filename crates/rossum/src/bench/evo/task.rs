//! The task of all contestants, and Rossum's robot.

use std::{f64::consts::PI, sync::Arc, time::Duration};

use anyhow::{Context, bail, ensure};
use arena::{Arena, Beam, Body, Layer, Plan, Pose, Position, Request, Response, RobotId, VisualReading};

use super::super::cpu_time;

/// The obstacles, which the peers use as well.
pub(super) const TEXT: &str = include_str!("../../../../../bench/evo/task.txt");

/// Sees everything in the arena, in mm.
pub(super) const FAR: f64 = 3000.0;
/// Range of infrared sensors, within which the robot reacts, in mm.
pub(super) const NEAR: f64 = 200.0;

/// The robot's size, in mm.
const LENGTH: f64 = 80.0;
const WIDTH: f64 = 60.0;
const HEIGHT: f64 = 50.0;
/// In mm above the ground.
const SENSOR_HEIGHT: f64 = 25.0;
const SENSORS: usize = 8;
/// Full opening angle, horizontal and vertical.
const OPENING: f64 = PI / 6.0;
/// Distance of a wheel per step, in mm.
const REACH: f64 = 8.0;
const STEPS_OF_A_TRIAL: u64 = 500;
/// The only connection.
const CONNECTION: u64 = 0;

/// The result of one turn.
pub(super) struct Stint {
    pub(super) steps: u64,
    /// Processor time, in s.
    pub(super) cpu: f64,
}

/// The parsed task.
pub(super) struct Task {
    /// Centre, radius and turn, in mm and degrees.
    obstacles: Vec<[f64; 4]>,
    starts: Vec<Pose>,
}

impl Task {
    pub(super) fn read() -> anyhow::Result<Self> {
        let mut task = Self { obstacles: Vec::new(), starts: Vec::new() };
        for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (what, numbers) = line.split_once(' ').unwrap_or((line, ""));
            let numbers = numbers.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>();
            let numbers = numbers.with_context(|| format!("in the task: {line}"))?;
            match (what, numbers.as_slice()) {
                ("obstacle", &[x, y, radius, turn]) => task.obstacles.push([x, y, radius, turn]),
                ("start", &[x, y, degrees]) => task.starts.push(Pose { x, y, dir: degrees.to_radians() }),
                _ => bail!("in the task: {line}"),
            }
        }
        ensure!(!task.starts.is_empty(), "the task does not say where to start");
        Ok(task)
    }

    /// The same world as a world file, with squares of the discs' area.
    pub(super) fn world_file(&self, max_range: f64) -> String {
        let mut text = format!("title = \"The task of `rossum bench evo`\"\n[sensors]\nmax_range = {max_range:?}\n");
        for [x, y, radius, turn] in &self.obstacles {
            let side = radius * PI.sqrt();
            let shape = format!("{{ box = [{x:?}, {y:?}, {side:?}, {side:?}], turn_deg = {turn:?} }}");
            text.push_str(&format!("[[obstacle]]\nshape = {shape}\nheight = {HEIGHT:?}\ncolor = \"#808080\"\n"));
        }
        text
    }
}

/// A place for a sensor on the robot's edge.
#[derive(Clone, Copy)]
struct Mount {
    ahead: f64,
    left: f64,
    /// From straight ahead to the left.
    direction: f64,
}

/// Rossum's robot in its own arena.
pub(super) struct Rover {
    arena: Arena,
    id: RobotId,
    starts: Vec<Pose>,
    /// Numbered from straight ahead to the left.
    mounts: [Mount; SENSORS],
}

impl Rover {
    pub(super) fn new(task: &Task, max_range: f64) -> anyhow::Result<Self> {
        let plan = Plan::parse(&task.world_file(max_range)).context("the task is no world")?;
        let mut arena = Arena::new(Arc::new(plan), 1);
        let Some(Response::Created(id)) = arena.handle(CONNECTION, 0, &Request::Create, Duration::ZERO)? else {
            bail!("no robot was created");
        };
        let (x, y) = (WIDTH / 2.0, LENGTH / 2.0);
        let polygons = vec![vec![[x, -y], [x, y], [-x, y], [-x, -y]]];
        let body = Body::new(vec![Layer { height: HEIGHT, polygons }])?;
        arena.handle(CONNECTION, 0, &Request::Shape(id, Arc::new(body)), Duration::ZERO)?;
        let mounts = std::array::from_fn(|index| {
            let direction = 2.0 * PI * index as f64 / SENSORS as f64;
            let (left, ahead) = direction.sin_cos();
            let out = 0.5 / (ahead.abs() / LENGTH).max(left.abs() / WIDTH);
            Mount { ahead: out * ahead, left: out * left, direction }
        });
        Ok(Self { arena, id, starts: task.starts.clone(), mounts })
    }

    /// Runs trials for this much processor time.
    pub(super) fn run(&mut self, block: Duration) -> anyhow::Result<Stint> {
        let (began, mut steps) = (cpu_time(), 0);
        loop {
            steps += self.lap()?;
            let cpu = cpu_time().saturating_sub(began);
            if cpu >= block {
                return Ok(Stint { steps, cpu: cpu.as_secs_f64() });
            }
        }
    }

    /// Runs one trial from each start; returns the number of steps.
    pub(super) fn lap(&mut self) -> anyhow::Result<u64> {
        for index in 0..self.starts.len() {
            let mut at = self.start(index)?;
            for _ in 0..STEPS_OF_A_TRIAL {
                at = self.step(at)?;
            }
        }
        Ok(STEPS_OF_A_TRIAL * self.starts.len() as u64)
    }

    fn start(&mut self, index: usize) -> anyhow::Result<Position> {
        let pose = self.starts.get(index).copied().context("there is no such start")?;
        let at = self.place(&Request::Jump(self.id, pose))?;
        ensure!(at.stress == 0.0, "something stands at the start {pose:?}");
        Ok(at)
    }

    /// All sensors, the controller, and a move.
    fn step(&mut self, at: Position) -> anyhow::Result<Position> {
        let mut close = [0.0; SENSORS];
        for (close, mount) in close.iter_mut().zip(self.mounts) {
            *close = 1.0 - self.see(beam(at, mount, 0.0, OPENING))?.distance.min(NEAR) / NEAR;
        }
        self.place(&Request::Move(self.id, goal(at, close)))
    }

    fn see(&mut self, beam: Beam) -> anyhow::Result<VisualReading> {
        match self.arena.handle(CONNECTION, 0, &Request::See(self.id, beam), Duration::ZERO)? {
            Some(Response::Seen(sight)) => Ok(sight),
            other => bail!("seeing was answered with {other:?}"),
        }
    }

    fn place(&mut self, ask: &Request) -> anyhow::Result<Position> {
        match self.arena.handle(CONNECTION, 0, ask, Duration::ZERO)? {
            Some(Response::Placed(position)) => Ok(position),
            other => bail!("{ask:?} was answered with {other:?}"),
        }
    }

    /// The share of readings in which some rays within the opening are off by more than this, in mm.
    pub(super) fn rays_off_by(&mut self, rays: usize, error: f64) -> anyhow::Result<f64> {
        let (mut readings, mut off) = (0_u32, 0_u32);
        for index in 0..self.starts.len() {
            let mut at = self.start(index)?;
            for _ in 0..STEPS_OF_A_TRIAL / 10 {
                for mount in self.mounts {
                    let exact = self.see(beam(at, mount, 0.0, OPENING))?.distance;
                    let mut nearest = f64::INFINITY;
                    for ray in 0..rays {
                        let aside = OPENING * (ray as f64 / (rays - 1) as f64 - 0.5);
                        nearest = nearest.min(self.see(beam(at, mount, aside, 0.0))?.distance);
                    }
                    ensure!(exact <= nearest + 0.01, "a ray finds something at {nearest}, its beam at {exact}");
                    readings += 1;
                    off += u32::from(nearest - exact > error);
                }
                at = self.step(at)?;
            }
        }
        Ok(f64::from(off) / f64::from(readings.max(1)))
    }
}

/// The direction of a sensor, turned aside by this angle.
fn beam(at: Position, mount: Mount, aside: f64, opening: f64) -> Beam {
    let (sin, cos) = at.dir.sin_cos();
    Beam {
        x: at.x + mount.ahead * cos - mount.left * sin,
        y: at.y + mount.ahead * sin + mount.left * cos,
        z: at.z + SENSOR_HEIGHT,
        dir: at.dir + mount.direction + aside,
        tilt: 0.0,
        angle_h: opening,
        angle_v: opening,
    }
}

/// The same controller as in Enki: away from the side where more is close, and to the right from what is ahead. As nothing
/// slides along obstacles here, a robot that was blocked backs off.
fn goal(at: Position, close: [f64; SENSORS]) -> Pose {
    let [front, left, side_left, .., side_right, right] = close;
    let ahead = 1.0 - 0.6 * right.max(front).max(left);
    let turn = left + side_left / 2.0 - right - side_right / 2.0 + front;
    let speeds = if at.stress > 0.0 { [-0.5, -1.0] } else { [ahead + turn, ahead - turn] };
    let [left_wheel, right_wheel] = speeds.map(|speed| REACH * speed.clamp(-1.0, 1.0));
    let (way, turned) = ((left_wheel + right_wheel) / 2.0, (right_wheel - left_wheel) / WIDTH);
    let (sin, cos) = (at.dir + turned / 2.0).sin_cos();
    Pose { x: at.x + way * cos, y: at.y + way * sin, dir: at.dir + turned }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robot_does_its_task() -> anyhow::Result<()> {
        let mut rover = Rover::new(&Task::read()?, FAR)?;
        let (mut way, mut bumps, mut steps) = (0.0, 0, 0);
        for start in 0..rover.starts.len() {
            let mut at = rover.start(start)?;
            for _ in 0..STEPS_OF_A_TRIAL {
                let next = rover.step(at)?;
                way += (next.x - at.x).hypot(next.y - at.y);
                bumps += u32::from(next.stress > 0.0);
                steps += 1;
                at = next;
            }
        }
        // Enki's robot goes 5.7 mm a step, and bumps into something in 1 of 1000
        let mean = way / f64::from(steps);
        assert!((4.0..8.0).contains(&mean), "{mean} mm a step");
        assert!(bumps * 50 < steps, "{bumps} bumps in {steps} steps");
        Ok(())
    }

    #[test]
    fn many_rays_find_what_a_beam_finds() -> anyhow::Result<()> {
        let mut rover = Rover::new(&Task::read()?, FAR)?;
        let [few, many] = [rover.rays_off_by(3, 10.0)?, rover.rays_off_by(101, 10.0)?];
        assert!(many < 0.01 && many < few, "{few} and {many} are off");
        Ok(())
    }
}
