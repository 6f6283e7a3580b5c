//! The World Simulator: robots in a world, and answers to what is asked about them.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    f64::consts::{PI, TAU},
    sync::Arc,
    time::Duration,
};

use glam::DVec2;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::{
    Answer, Ask, Beam, Body, Plan, Pose, Position, RobotId, Sight,
    place::{self, Around},
    plan::Isolation,
    robot::{MAX_ROBOTS, Member, Robot, Robots, Shaped},
    sense::{self, Candidate, Mode},
    solid::Bounds,
    stance::{Stance, angle_from_dir, sense, shortest_turn},
    sweep::{self, Motion},
};

/// No way is followed farther, and no sensor is farther away, in mm; it keeps squares finite.
const FARTHEST: f64 = 1e6;
/// Whole turns are taken off directions beyond this, in rad.
const LARGE_DIR: f64 = 1e6;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Never created, killed, or silent for too long.
    #[error("there is no robot {}", .0.0)]
    NoSuchRobot(RobotId),
    /// It belongs to another connection.
    #[error("robot {} belongs to another connection", .0.0)]
    NotYours(RobotId),
    /// Nothing can be said about a robot before its first shape.
    #[error("robot {} has no shape yet", .0.0)]
    NoShape(RobotId),
    /// All identifiers are in use.
    #[error("all 65535 identifiers are in use")]
    Full,
    /// The shapes of a connection's robots are too much to be kept.
    #[error("the shapes of all robots of a connection have at most {MAX_POINTS} points together")]
    TooManyPoints,
}

/// Most points of the shapes of a connection's robots: a rectangle for each that there can be.
pub const MAX_POINTS: usize = 4 * MAX_ROBOTS;

/// A robot, as one can see it from outside.
#[derive(Clone, Debug)]
pub struct RobotView<'a> {
    /// Its identifier.
    pub id: RobotId,
    /// The connection that it belongs to.
    pub connection: u64,
    /// Index into [`Plan::ports`].
    pub kind: usize,
    /// How it looks.
    pub color: [u8; 3],
    /// Its shape, if it has one yet.
    pub body: Option<&'a Arc<Body>>,
    /// Where it is, if it has a shape.
    pub position: Option<&'a Position>,
    /// Where its +y axis points, in rad, counter-clockwise from the world's +x, whatever the world's `directions` are.
    pub angle: Option<f64>,
}

/// A world with its robots.
#[derive(Debug)]
pub struct Arena {
    plan: Arc<Plan>,
    seed: u64,
    created: u64,
    robots: Robots,
    /// Robots that meet each other, by what they have in common; in the order of their identifiers.
    groups: BTreeMap<u64, Vec<Member>>,
    /// Points of all shapes, by connection.
    points: BTreeMap<u64, usize>,
    /// Kept from query to query, so that none has to allocate.
    candidates: Vec<Candidate>,
}

impl Arena {
    /// An empty world. Random places follow from `seed` and from how many robots were created before.
    pub fn new(plan: Arc<Plan>, seed: u64) -> Self {
        Self {
            plan,
            seed,
            created: 0,
            robots: Robots::default(),
            groups: BTreeMap::new(),
            points: BTreeMap::new(),
            candidates: Vec::new(),
        }
    }

    /// Its world.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Robots that live, in the order of their identifiers.
    pub fn robots(&self) -> impl Iterator<Item = RobotView<'_>> {
        self.robots.iter().map(|robot| self.view(robot))
    }

    /// One robot.
    pub fn robot(&self, id: RobotId) -> Option<RobotView<'_>> {
        self.robots.get(id).map(|robot| self.view(robot))
    }

    /// How many robots live.
    pub fn len(&self) -> usize {
        self.robots.len()
    }

    /// Whether there is no robot.
    pub fn is_empty(&self) -> bool {
        self.robots.len() == 0
    }

    fn view<'a>(&'a self, robot: &'a Robot) -> RobotView<'a> {
        let shaped = robot.shaped.as_ref();
        RobotView {
            id: robot.id,
            connection: robot.owner,
            kind: robot.kind,
            color: self.plan.ports()[robot.kind].color.0,
            body: shaped.map(|shaped| &shaped.body),
            position: shaped.map(|shaped| &shaped.position),
            angle: shaped.map(|shaped| shaped.stance.heading.to_angle()),
        }
    }

    /// A new robot without a shape; none if all identifiers are in use. `kind` is an index into [`Plan::ports`].
    pub fn create(&mut self, kind: usize, connection: u64, now: Duration) -> Option<RobotId> {
        assert!(kind < self.plan.ports().len(), "kind {kind} is not one of the world's ports");
        if self.robots.free_id().is_none() {
            self.reap(now);
        }
        let id = self.robots.free_id()?;
        let number = self.created;
        self.created += 1;
        self.robots.add(Robot { id, owner: connection, kind, number, heard: now, shaped: None });
        if let Some(group) = self.group(connection) {
            let members = self.groups.entry(group).or_default();
            let place = members.partition_point(|member| member.id < id);
            members.insert(place, Member { id, bounds: Bounds::NOTHING });
        }
        Some(id)
    }

    /// What robots have in common that meet each other; none if it meets nobody.
    fn group(&self, owner: u64) -> Option<u64> {
        match self.plan.rules().isolation {
            Isolation::Shared => Some(0),
            Isolation::PerConnection => Some(owner),
            Isolation::PerRobot => None,
        }
    }

    /// Does what is asked. `kind` is that of the port through which the connection came, and counts for new robots.
    pub fn answer(
        &mut self,
        connection: u64,
        kind: usize,
        ask: &Ask,
        now: Duration,
    ) -> Result<Option<Answer>, Refusal> {
        let answer = match ask {
            Ask::Create => Answer::Created(self.create(kind, connection, now).ok_or(Refusal::Full)?),
            Ask::Kill(id) => {
                match self.touch(*id, connection, now) {
                    Ok(()) => self.kill(&[*id]),
                    Err(Refusal::NoSuchRobot(_)) => {}
                    Err(refusal) => return Err(refusal),
                }
                return Ok(None);
            }
            Ask::Shape(id, body) => {
                self.touch(*id, connection, now)?;
                Answer::Placed(self.shape(*id, body)?)
            }
            Ask::Jump(id, pose) => {
                self.touch(*id, connection, now)?;
                Answer::Placed(self.jump(*id, *pose)?)
            }
            Ask::Move(id, pose) => {
                self.touch(*id, connection, now)?;
                Answer::Placed(self.go(*id, *pose)?)
            }
            Ask::See(id, beam) => {
                self.touch(*id, connection, now)?;
                Answer::Seen(self.sense(*id, beam, Mode::See)?)
            }
            Ask::Hear(id, beam) => {
                self.touch(*id, connection, now)?;
                Answer::Heard(self.sense(*id, beam, Mode::Hear)?.distance)
            }
        };
        Ok(Some(answer))
    }

    fn touch(&mut self, id: RobotId, connection: u64, now: Duration) -> Result<(), Refusal> {
        let shared = self.plan.rules().shared_ids;
        let robot = self.robots.get_mut(id).ok_or(Refusal::NoSuchRobot(id))?;
        if robot.owner != connection && !shared {
            return Err(Refusal::NotYours(id));
        }
        robot.heard = now;
        Ok(())
    }

    fn kill(&mut self, ids: &[RobotId]) {
        let mut groups = BTreeSet::new();
        for id in ids {
            let Some(robot) = self.robots.remove(*id) else { continue };
            let freed = robot.shaped.as_ref().map_or(0, |shaped| shaped.body.points());
            if let Entry::Occupied(mut points) = self.points.entry(robot.owner) {
                *points.get_mut() -= freed;
                if *points.get() == 0 {
                    points.remove();
                }
            }
            groups.extend(self.group(robot.owner));
        }
        for group in groups {
            let Some(members) = self.groups.get_mut(&group) else { continue };
            members.retain(|member| self.robots.get(member.id).is_some());
            if members.is_empty() {
                self.groups.remove(&group);
            }
        }
    }

    /// Kills the robots of a connection that is gone.
    pub fn disconnect(&mut self, connection: u64) {
        let gone: Vec<_> = self.robots.iter().filter(|robot| robot.owner == connection).map(|robot| robot.id).collect();
        self.kill(&gone);
    }

    /// Kills the robots that were silent for longer than the world allows, and says which.
    pub fn reap(&mut self, now: Duration) -> Vec<RobotId> {
        let Some(timeout) = self.plan.rules().idle_timeout else { return Vec::new() };
        let is_idle = |robot: &&Robot| now.saturating_sub(robot.heard) > timeout;
        let idle: Vec<_> = self.robots.iter().filter(is_idle).map(|robot| robot.id).collect();
        self.kill(&idle);
        idle
    }

    /// What a robot can meet, itself left out.
    fn around(&self, id: RobotId) -> Around<'_> {
        let owner = self.robots.get(id).map_or(0, |robot| robot.owner);
        let others = self.group(owner).and_then(|group| self.groups.get(&group));
        Around { plan: &self.plan, robots: &self.robots, others: others.map_or(&[], Vec::as_slice), me: id }
    }

    fn shaped(&self, id: RobotId) -> Result<&Shaped, Refusal> {
        let robot = self.robots.get(id).ok_or(Refusal::NoSuchRobot(id))?;
        robot.shaped.as_ref().ok_or(Refusal::NoShape(id))
    }

    /// Gives a robot a shape: at a random free place the first time, where it is later on.
    fn shape(&mut self, id: RobotId, body: &Arc<Body>) -> Result<Position, Refusal> {
        let robot = self.robots.get(id).ok_or(Refusal::NoSuchRobot(id))?;
        let owner = robot.owner;
        let freed = robot.shaped.as_ref().map_or(0, |shaped| shaped.body.points());
        let points = self.points.get(&owner).copied().unwrap_or_default() - freed + body.points();
        if points > MAX_POINTS {
            return Err(Refusal::TooManyPoints);
        }
        let around = self.around(id);
        let zone = &self.plan.ports()[robot.kind].zone;
        let found = match &robot.shaped {
            Some(shaped) if !shaped.is_lost => match place::corrected(&around, body, pose_of(&shaped.position)) {
                Some(pose) => Some(pose),
                // the old shape stays where it is
                None => return Ok(self.stressed(id, 1.0)),
            },
            _ => {
                let mut random = ChaCha8Rng::seed_from_u64(self.seed);
                random.set_stream(robot.number);
                place::anywhere(&around, body, zone, &mut random)
            }
        };
        let (pose, is_lost) = found.map_or_else(|| (place::middle(zone), true), |pose| (pose, false));
        self.points.insert(owner, points);
        Ok(self.put(id, body.clone(), pose, is_lost, if is_lost { 1.0 } else { 0.0 }, false))
    }

    fn jump(&mut self, id: RobotId, pose: Pose) -> Result<Position, Refusal> {
        let body = self.shaped(id)?.body.clone();
        if !place::is_free(&self.around(id), &body, pose) {
            return Ok(self.stressed(id, 1.0));
        }
        Ok(self.put(id, body, pose, false, 0.0, false))
    }

    fn go(&mut self, id: RobotId, target: Pose) -> Result<Position, Refusal> {
        let shaped = self.shaped(id)?;
        let is_sane = target.x.is_finite() && target.y.is_finite() && target.dir.is_finite();
        if shaped.is_lost || !is_sane {
            return Ok(self.stressed(id, 1.0));
        }
        let start = pose_of(&shaped.position);
        let rules = self.plan.rules();
        let by = DVec2::new(target.x, target.y) - shaped.stance.at;
        let turn = shortest_turn(start.dir, target.dir);
        // of a way that is too long to be worked with, only the beginning is
        let begun = (FARTHEST / by.abs().max_element()).min(1.0);
        let motion = Motion {
            from: shaped.stance.at,
            angle: angle_from_dir(rules, start.dir),
            by: by * begun,
            turn: sense(rules) * turn * begun,
        };
        let outcome = sweep::run(&self.around(id), &shaped.body, shaped.stand, &motion);
        let share = outcome.share * begun;
        let pose = if share >= 1.0 {
            target
        } else {
            let at = motion.from + motion.by * outcome.share;
            // a part of a turn would be lost in a very large number
            let dir = if start.dir.abs() < LARGE_DIR { start.dir } else { start.dir % TAU };
            Pose { x: at.x, y: at.y, dir: dir + turn * share }
        };
        let body = shaped.body.clone();
        Ok(self.put(id, body, pose, false, 1.0 - share, outcome.died))
    }

    fn sense(&mut self, id: RobotId, beam: &Beam, mode: Mode) -> Result<Sight, Refusal> {
        self.shaped(id)?;
        let nothing = Sight { distance: self.plan.rules().max_range, color: self.plan.rules().background.0 };
        let Some(beam) = sane(beam) else { return Ok(nothing) };
        let mut candidates = std::mem::take(&mut self.candidates);
        let sight = sense::nearest(&self.around(id), &beam, mode, &mut candidates);
        self.candidates = candidates;
        Ok(sight)
    }

    /// The robot's position, with this stress.
    fn stressed(&mut self, id: RobotId, stress: f64) -> Position {
        let shaped = self.robots.get_mut(id).and_then(|robot| robot.shaped.as_mut());
        let shaped = shaped.expect("a robot without shape is refused before");
        shaped.position.stress = stress;
        shaped.position
    }

    fn put(&mut self, id: RobotId, body: Arc<Body>, pose: Pose, is_lost: bool, stress: f64, died: bool) -> Position {
        let rules = self.plan.rules();
        let stance = Stance::new(DVec2::new(pose.x, pose.y), angle_from_dir(rules, pose.dir));
        let stand = place::stand(&self.plan, &body, &stance);
        let position = Position {
            x: pose.x,
            y: pose.y,
            z: stand.height,
            dir: pose.dir,
            tilt_straight: stand.slope.dot(stance.heading).atan(),
            tilt_across: stand.slope.dot(stance.heading.perp()).atan(),
            stress,
            death: died || place::is_deathly(&self.plan, &body, &stance),
        };
        let is_met = !is_lost && self.plan.rules().isolation != Isolation::PerRobot;
        let color = |kind: usize| self.plan.ports()[kind].color.0;
        let kind = self.robots.get(id).map_or(0, |robot| robot.kind);
        let solids = if is_met { place::solids(&body, &stance, &stand, color(kind)) } else { Vec::new() };
        let owner = self.robots.get(id).map_or(0, |robot| robot.owner);
        let members = self.group(owner).and_then(|group| self.groups.get_mut(&group));
        if let Some(members) = members
            && let Ok(place) = members.binary_search_by_key(&id, |member| member.id)
        {
            members[place].bounds = solids.iter().fold(Bounds::NOTHING, |all, solid| all.with(solid.bounds));
        }
        if let Some(robot) = self.robots.get_mut(id) {
            robot.shaped = Some(Shaped { body, position, stance, stand, is_lost, solids });
        }
        position
    }
}

fn pose_of(position: &Position) -> Pose {
    Pose { x: position.x, y: position.y, dir: position.dir }
}

/// The beam with everything in its range; none if something is not a number.
fn sane(beam: &Beam) -> Option<Beam> {
    let Beam { x, y, z, dir, tilt, angle_h, angle_v } = *beam;
    if ![x, y, z, dir, tilt, angle_h, angle_v].iter().all(|value| value.is_finite()) {
        return None;
    }
    let place = |value: f64| value.clamp(-FARTHEST, FARTHEST);
    let opening = |angle: f64| angle.clamp(0.0, 0.5 * PI);
    Some(Beam {
        x: place(x),
        y: place(y),
        z: place(z),
        dir,
        tilt: tilt.clamp(-0.5 * PI, 0.5 * PI),
        angle_h: opening(angle_h),
        angle_v: opening(angle_v),
    })
}

#[cfg(test)]
mod tests;
