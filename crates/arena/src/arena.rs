//! The arena: a world with its robots, which handles their requests.

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
    Beam, Body, Plan, Pose, Position, Request, Response, RobotId, VisualReading, placement,
    plan::Isolation,
    robot::{GroupMember, MAX_ROBOTS, PhysicalState, Robot, Robots},
    sense::{self, Candidate, Modality},
    solid::Bounds,
    surroundings::Surroundings,
    sweep::{self, Motion},
    transform::{Transform, angle_from_dir, shortest_turn},
};

/// Limit of motions and of sensor coordinates, in mm; keeps squares finite.
const MAX_DISTANCE: f64 = 1e6;
/// Directions beyond this are reduced modulo 2π, in rad.
const LARGE_DIR: f64 = 1e6;

/// Why a request fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Never created, killed, or removed after the idle timeout.
    #[error("unknown robot {}", .0.0)]
    UnknownRobot(RobotId),
    /// The robot belongs to another connection.
    #[error("robot {} belongs to another connection", .0.0)]
    NotOwner(RobotId),
    /// The robot has no shape yet.
    #[error("robot {} has no shape yet", .0.0)]
    NoShape(RobotId),
    /// All identifiers are in use.
    #[error("all 65535 identifiers are in use")]
    Full,
    /// The connection has [`MAX_ROBOTS_OF_CONNECTION`].
    #[error("a connection may have at most {MAX_ROBOTS_OF_CONNECTION} robots")]
    TooManyRobots,
    /// The shapes of a connection's robots exceed [`MAX_POINTS`].
    #[error("the robots of a connection may have at most {MAX_POINTS} points together")]
    TooManyPoints,
}

/// Maximum number of robots of a connection: the 32 connections that one address may have leave identifiers to others.
pub const MAX_ROBOTS_OF_CONNECTION: usize = 2_000;

/// Maximum number of points of all shapes of a connection's robots: a rectangle for each robot that an arena holds.
pub const MAX_POINTS: usize = 4 * MAX_ROBOTS;

/// A read-only view of a robot.
#[derive(Clone, Debug)]
pub struct RobotView<'a> {
    /// Its identifier, unique in the arena.
    pub id: RobotId,
    /// The connection that created it.
    pub connection: u64,
    /// Index into [`Plan::ports`].
    pub kind: usize,
    /// Red, green and blue.
    pub color: [u8; 3],
    /// `None` before its first shape.
    pub body: Option<&'a Arc<Body>>,
    /// `None` before its first shape.
    pub position: Option<&'a Position>,
    /// Heading of its +y axis, in rad, counter-clockwise from the world's +x, regardless of the world's `directions`.
    /// `None` before its first shape.
    pub angle: Option<f64>,
}

/// A world with its robots.
#[derive(Debug)]
pub struct Arena {
    plan: Arc<Plan>,
    seed: u64,
    created: u64,
    robots: Robots,
    /// Robots that see and hit each other, by [`group`](Self::group); ordered by identifier.
    groups: BTreeMap<u64, Vec<GroupMember>>,
    /// What each connection with a robot has.
    holdings: BTreeMap<u64, Holding>,
    /// Scratch memory of sensor queries.
    candidates: Vec<Candidate>,
}

/// Resources that the robots of a connection use.
#[derive(Clone, Copy, Debug, Default)]
struct Holding {
    robots: usize,
    /// Number of points of all their shapes.
    points: usize,
}

impl Arena {
    /// An empty arena. Random poses depend on `seed` and on the number of robots created before.
    pub fn new(plan: Arc<Plan>, seed: u64) -> Self {
        Self {
            plan,
            seed,
            created: 0,
            robots: Robots::default(),
            groups: BTreeMap::new(),
            holdings: BTreeMap::new(),
            candidates: Vec::new(),
        }
    }

    /// The world description.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// All robots, ordered by identifier.
    pub fn robots(&self) -> impl Iterator<Item = RobotView<'_>> {
        self.robots.iter().map(|robot| self.view(robot))
    }

    /// A robot by its identifier.
    pub fn robot(&self, id: RobotId) -> Option<RobotView<'_>> {
        self.robots.get(id).map(|robot| self.view(robot))
    }

    /// Number of robots.
    pub fn len(&self) -> usize {
        self.robots.len()
    }

    /// Whether the arena has no robots.
    pub fn is_empty(&self) -> bool {
        self.robots.len() == 0
    }

    fn view<'a>(&'a self, robot: &'a Robot) -> RobotView<'a> {
        let state = robot.state.as_ref();
        RobotView {
            id: robot.id,
            connection: robot.owner,
            kind: robot.kind,
            color: self.plan.ports()[robot.kind].color.0,
            body: state.map(|state| &state.body),
            position: state.map(|state| &state.position),
            angle: state.map(|state| state.transform.heading.to_angle()),
        }
    }

    /// Creates a robot without a shape. `kind` is an index into [`Plan::ports`].
    ///
    /// # Errors
    ///
    /// All identifiers are in use, or the connection has too many robots.
    ///
    /// # Panics
    ///
    /// If `kind` is out of range.
    pub fn create(&mut self, kind: usize, connection: u64, now: Duration) -> Result<RobotId, RequestError> {
        assert!(kind < self.plan.ports().len(), "kind {kind} is not one of the world's ports");
        if self.holdings.get(&connection).is_some_and(|held| held.robots >= MAX_ROBOTS_OF_CONNECTION) {
            return Err(RequestError::TooManyRobots);
        }
        if self.robots.free_id().is_none() {
            self.reap(now);
        }
        let id = self.robots.free_id().ok_or(RequestError::Full)?;
        self.holdings.entry(connection).or_default().robots += 1;
        let number = self.created;
        self.created += 1;
        self.robots.add(Robot { id, owner: connection, kind, number, last_request: now, state: None });
        if let Some(group) = self.group(connection) {
            let members = self.groups.entry(group).or_default();
            let index = members.partition_point(|member| member.id < id);
            members.insert(index, GroupMember { id, bounds: Bounds::EMPTY });
        }
        Ok(id)
    }

    /// The group of robots that see and hit each other; `None` if each robot is alone.
    fn group(&self, owner: u64) -> Option<u64> {
        match self.plan.rules().isolation {
            Isolation::Shared => Some(0),
            Isolation::PerConnection => Some(owner),
            Isolation::PerRobot => None,
        }
    }

    /// Carries out a request. `kind` is that of the port the connection came through, and applies to new robots. `now` is
    /// the time for the idle timeout.
    ///
    /// # Errors
    ///
    /// The robot is unknown, has another owner or no shape yet, or a limit is reached.
    pub fn handle(
        &mut self,
        connection: u64,
        kind: usize,
        request: &Request,
        now: Duration,
    ) -> Result<Option<Response>, RequestError> {
        let response = match request {
            Request::Create => Response::Created(self.create(kind, connection, now)?),
            Request::Kill(id) => {
                match self.touch(*id, connection, now) {
                    Ok(()) => self.kill(&[*id]),
                    Err(RequestError::UnknownRobot(_)) => {}
                    Err(error) => return Err(error),
                }
                return Ok(None);
            }
            Request::Shape(id, body) => {
                self.touch(*id, connection, now)?;
                Response::Placed(self.shape(*id, body)?)
            }
            Request::Jump(id, pose) => {
                self.touch(*id, connection, now)?;
                Response::Placed(self.jump(*id, *pose)?)
            }
            Request::Move(id, pose) => {
                self.touch(*id, connection, now)?;
                Response::Placed(self.move_to(*id, *pose)?)
            }
            Request::See(id, beam) => {
                self.touch(*id, connection, now)?;
                Response::Seen(self.sense(*id, beam, Modality::Visual)?)
            }
            Request::Hear(id, beam) => {
                self.touch(*id, connection, now)?;
                Response::Heard(self.sense(*id, beam, Modality::Sonic)?.distance)
            }
        };
        Ok(Some(response))
    }

    fn touch(&mut self, id: RobotId, connection: u64, now: Duration) -> Result<(), RequestError> {
        let shared = self.plan.rules().shared_ids;
        let robot = self.robots.get_mut(id).ok_or(RequestError::UnknownRobot(id))?;
        if robot.owner != connection && !shared {
            return Err(RequestError::NotOwner(id));
        }
        robot.last_request = now;
        Ok(())
    }

    fn kill(&mut self, ids: &[RobotId]) {
        let mut groups = BTreeSet::new();
        for id in ids {
            let Some(robot) = self.robots.remove(*id) else { continue };
            let freed = robot.state.as_ref().map_or(0, |state| state.body.points());
            if let Entry::Occupied(mut held) = self.holdings.entry(robot.owner) {
                held.get_mut().robots -= 1;
                held.get_mut().points -= freed;
                if held.get().robots == 0 {
                    held.remove();
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

    /// Removes the robots of a closed connection.
    pub fn disconnect(&mut self, connection: u64) {
        let gone: Vec<_> = self.robots.iter().filter(|robot| robot.owner == connection).map(|robot| robot.id).collect();
        self.kill(&gone);
    }

    /// Removes robots without a request for longer than the idle timeout; returns their identifiers.
    pub fn reap(&mut self, now: Duration) -> Vec<RobotId> {
        let Some(timeout) = self.plan.rules().idle_timeout else { return Vec::new() };
        let is_idle = |robot: &&Robot| now.saturating_sub(robot.last_request) > timeout;
        let idle: Vec<_> = self.robots.iter().filter(is_idle).map(|robot| robot.id).collect();
        self.kill(&idle);
        idle
    }

    fn surroundings(&self, id: RobotId) -> Surroundings<'_> {
        let owner = self.robots.get(id).map_or(0, |robot| robot.owner);
        let others = self.group(owner).and_then(|group| self.groups.get(&group));
        Surroundings { plan: &self.plan, robots: &self.robots, others: others.map_or(&[], Vec::as_slice), me: id }
    }

    fn state(&self, id: RobotId) -> Result<&PhysicalState, RequestError> {
        let robot = self.robots.get(id).ok_or(RequestError::UnknownRobot(id))?;
        robot.state.as_ref().ok_or(RequestError::NoShape(id))
    }

    /// Sets a robot's shape: at a random free pose the first time, at or near its current pose later.
    fn shape(&mut self, id: RobotId, body: &Arc<Body>) -> Result<Position, RequestError> {
        let robot = self.robots.get(id).ok_or(RequestError::UnknownRobot(id))?;
        let owner = robot.owner;
        let freed = robot.state.as_ref().map_or(0, |state| state.body.points());
        let points = self.holdings.get(&owner).map_or(0, |held| held.points) - freed + body.points();
        if points > MAX_POINTS {
            return Err(RequestError::TooManyPoints);
        }
        let surroundings = self.surroundings(id);
        let zone = &self.plan.ports()[robot.kind].zone;
        let found = match &robot.state {
            Some(state) if !state.is_unplaced => {
                match placement::nearest_free_pose(&surroundings, body, pose_of(&state.position)) {
                    Some(pose) => Some(pose),
                    // the robot keeps its old shape and pose
                    None => return Ok(self.stressed(id, 1.0)),
                }
            }
            _ => {
                let mut random = ChaCha8Rng::seed_from_u64(self.seed);
                random.set_stream(robot.number);
                placement::random_free_pose(&surroundings, body, zone, &mut random)
            }
        };
        let (pose, is_unplaced) = found.map_or_else(|| (placement::zone_center(zone), true), |pose| (pose, false));
        if let Some(held) = self.holdings.get_mut(&owner) {
            held.points = points;
        }
        Ok(self.put(id, body.clone(), pose, is_unplaced, if is_unplaced { 1.0 } else { 0.0 }, false))
    }

    fn jump(&mut self, id: RobotId, pose: Pose) -> Result<Position, RequestError> {
        let body = self.state(id)?.body.clone();
        if !placement::is_free(&self.surroundings(id), &body, pose) {
            return Ok(self.stressed(id, 1.0));
        }
        Ok(self.put(id, body, pose, false, 0.0, false))
    }

    fn move_to(&mut self, id: RobotId, target: Pose) -> Result<Position, RequestError> {
        let state = self.state(id)?;
        let is_finite = target.x.is_finite() && target.y.is_finite() && target.dir.is_finite();
        if state.is_unplaced || !is_finite {
            return Ok(self.stressed(id, 1.0));
        }
        let start = pose_of(&state.position);
        let rules = self.plan.rules();
        let by = DVec2::new(target.x, target.y) - state.transform.origin;
        let turn = shortest_turn(start.dir, target.dir);
        // of a motion that is too long, only the beginning is swept
        let begun = (MAX_DISTANCE / by.abs().max_element()).min(1.0);
        let motion = Motion {
            from: state.transform.origin,
            angle: angle_from_dir(rules, start.dir),
            by: by * begun,
            turn: rules.directions.sign() * turn * begun,
        };
        let outcome = sweep::sweep(&self.surroundings(id), &state.body, state.ground_plane, &motion);
        let fraction = outcome.fraction * begun;
        let pose = if fraction >= 1.0 {
            target
        } else {
            let at = motion.from + motion.by * outcome.fraction;
            // a fraction of a turn would be lost in a very large number
            let dir = if start.dir.abs() < LARGE_DIR { start.dir } else { start.dir % TAU };
            Pose { x: at.x, y: at.y, dir: dir + turn * fraction }
        };
        let body = state.body.clone();
        Ok(self.put(id, body, pose, false, 1.0 - fraction, outcome.died))
    }

    fn sense(&mut self, id: RobotId, beam: &Beam, mode: Modality) -> Result<VisualReading, RequestError> {
        self.state(id)?;
        let nothing = VisualReading { distance: self.plan.rules().max_range, color: self.plan.rules().background.0 };
        let Some(beam) = clamped(beam) else { return Ok(nothing) };
        let mut candidates = std::mem::take(&mut self.candidates);
        let sight = sense::cast(&self.surroundings(id), &beam, mode, &mut candidates);
        self.candidates = candidates;
        Ok(sight)
    }

    /// Sets the robot's stress and returns its position.
    fn stressed(&mut self, id: RobotId, stress: f64) -> Position {
        let state = self.robots.get_mut(id).and_then(|robot| robot.state.as_mut());
        let state = state.expect("callers have checked that the robot has a shape");
        state.position.stress = stress;
        state.position
    }

    fn put(
        &mut self,
        id: RobotId,
        body: Arc<Body>,
        pose: Pose,
        is_unplaced: bool,
        stress: f64,
        died: bool,
    ) -> Position {
        let rules = self.plan.rules();
        let transform = Transform::new(DVec2::new(pose.x, pose.y), angle_from_dir(rules, pose.dir));
        let ground_plane = placement::ground_plane(&self.plan, &body, &transform);
        let position = Position {
            x: pose.x,
            y: pose.y,
            z: ground_plane.height,
            dir: pose.dir,
            tilt_straight: ground_plane.slope.dot(transform.heading).atan(),
            tilt_across: ground_plane.slope.dot(transform.heading.perp()).atan(),
            stress,
            death: died || placement::is_deathly(&self.plan, &body, &transform),
        };
        let is_solid = !is_unplaced && self.plan.rules().isolation != Isolation::PerRobot;
        let color = |kind: usize| self.plan.ports()[kind].color.0;
        let kind = self.robots.get(id).map_or(0, |robot| robot.kind);
        let solids =
            if is_solid { placement::solids(&body, &transform, &ground_plane, color(kind)) } else { Vec::new() };
        let owner = self.robots.get(id).map_or(0, |robot| robot.owner);
        let members = self.group(owner).and_then(|group| self.groups.get_mut(&group));
        if let Some(members) = members
            && let Ok(index) = members.binary_search_by_key(&id, |member| member.id)
        {
            members[index].bounds = solids.iter().fold(Bounds::EMPTY, |all, solid| all.union(solid.bounds));
        }
        if let Some(robot) = self.robots.get_mut(id) {
            robot.state = Some(PhysicalState { body, position, transform, ground_plane, is_unplaced, solids });
        }
        position
    }
}

fn pose_of(position: &Position) -> Pose {
    Pose { x: position.x, y: position.y, dir: position.dir }
}

/// The beam with its values clamped to their ranges; `None` if one is not finite.
fn clamped(beam: &Beam) -> Option<Beam> {
    let Beam { x, y, z, dir, tilt, angle_h, angle_v } = *beam;
    if ![x, y, z, dir, tilt, angle_h, angle_v].iter().all(|value| value.is_finite()) {
        return None;
    }
    let coordinate = |value: f64| value.clamp(-MAX_DISTANCE, MAX_DISTANCE);
    let opening = |angle: f64| angle.clamp(0.0, 0.5 * PI);
    Some(Beam {
        x: coordinate(x),
        y: coordinate(y),
        z: coordinate(z),
        dir,
        tilt: tilt.clamp(-0.5 * PI, 0.5 * PI),
        angle_h: opening(angle_h),
        angle_v: opening(angle_v),
    })
}

#[cfg(test)]
mod tests;
