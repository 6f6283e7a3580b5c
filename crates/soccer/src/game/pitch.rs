//! Finds the ball and the relevant parts of each player's robot in the model, reads and moves them.

use std::f64::consts::TAU;

use glam::{DQuat, DVec2, DVec3};
use physics::{BodyId, GeomId, Model, Pose, Shape, Sim, SiteId, Velocity};
use world::{AgentId, World};

use crate::{
    field::BALL_RADIUS,
    scene::{self, BodyPart, Contact, Placement, Player, PlayerId, TorsoBox},
};

/// Ball and robots in one model.
#[derive(Clone, Debug, Default)]
pub(super) struct Pitch {
    /// Generation of the model; none before the first search.
    generation: Option<u64>,
    ball: Option<BodyId>,
    robots: Vec<Robot>,
    /// Index of the robot that each geom belongs to; none for the field and the ball.
    owners: Vec<Option<usize>>,
    /// Bodies that were moved: index in the model and new pose.
    moved: Vec<(usize, Pose)>,
}

#[derive(Clone, Debug)]
struct Robot {
    player: PlayerId,
    agent: AgentId,
    root: BodyId,
    camera: Option<SiteId>,
    mouth: Option<SiteId>,
    ear: Option<SiteId>,
    head: Option<GeomId>,
    torso_box: TorsoBox,
}

impl Pitch {
    /// Whether the model has changed since.
    pub(super) fn is_outdated(&self, world: &World) -> bool {
        self.generation != Some(world.catalogue().generation)
    }

    /// Finds the ball and the robots of these players, as far as they have joined.
    pub(super) fn new<'a>(world: &World, players: impl Iterator<Item = (PlayerId, &'a str)>) -> Self {
        let catalogue = world.catalogue();
        let model = world.sim().model();
        let robots: Vec<_> = players
            .filter_map(|(player, name)| robot(world, model, player, name, catalogue.agent_named(name)?.id))
            .collect();
        let owner = |geom: GeomId| {
            let root = model.body_root(model.geom_body(geom));
            robots.iter().position(|robot| robot.root == root)
        };
        let owners = model.geoms().map(owner).collect();
        let (generation, ball) = (Some(catalogue.generation), model.body_named("ball"));
        Self { generation, ball, robots, owners, moved: Vec::new() }
    }

    /// Players and their robots.
    pub(super) fn players(&self) -> impl Iterator<Item = (PlayerId, AgentId)> {
        self.robots.iter().map(|robot| (robot.player, robot.agent))
    }

    /// The player of a robot.
    pub(super) fn player(&self, agent: AgentId) -> Option<PlayerId> {
        self.robots.iter().find(|robot| robot.agent == agent).map(|robot| robot.player)
    }

    /// Positions of all players on the ground, in m.
    pub(super) fn spots<'a>(&'a self, world: &'a World) -> impl Iterator<Item = (PlayerId, DVec2)> + 'a {
        self.robots.iter().map(|robot| {
            let [x, y, _] = self.torso(world.sim(), robot).pos;
            (robot.player, DVec2::new(x, y))
        })
    }

    /// Pose of a robot's torso, also if it was moved since the last physics step.
    fn torso(&self, sim: &Sim, robot: &Robot) -> Pose {
        let moved = self.moved.iter().rfind(|(body, _)| *body == robot.root.index());
        moved.map_or_else(|| sim.body_pose(robot.root), |(_, pose)| *pose)
    }

    fn robot(&self, player: PlayerId) -> Option<&Robot> {
        self.robots.iter().find(|robot| robot.player == player)
    }

    /// Position of a player's speaker, in m; none if its robot has none.
    pub(super) fn mouth(&self, world: &World, player: PlayerId) -> Option<DVec3> {
        Some(world.sim().site_pose(self.robot(player)?.mouth?).pos.into())
    }

    /// Position and rotation of a player's microphone; none if its robot has none.
    pub(super) fn ear(&self, world: &World, player: PlayerId) -> Option<(DVec3, DQuat)> {
        let pose = world.sim().site_pose(self.robot(player)?.ear?);
        Some((pose.pos.into(), rotation(&pose)))
    }

    /// Position and velocity of the ball.
    pub(super) fn ball(&self, world: &World) -> Option<(DVec3, DVec3)> {
        let ball = self.ball?;
        let sim = world.sim();
        Some((sim.body_pose(ball).pos.into(), sim.body_velocity(ball).linear.into()))
    }

    /// Moves a body.
    fn place(&mut self, sim: &mut Sim, body: BodyId, pose: Pose) {
        sim.place(body, pose);
        self.moved.push((body.index(), pose));
    }

    /// Takes the bodies that were moved since the last call.
    pub(super) fn take_moved(&mut self) -> Vec<(usize, Pose)> {
        std::mem::take(&mut self.moved)
    }

    /// Index of the ball's body in the catalogue.
    pub(super) fn ball_body(&self) -> Option<usize> {
        self.ball.map(BodyId::index)
    }

    /// Moves the ball. It does not spin.
    pub(super) fn place_ball(&mut self, world: &mut World, position: DVec3, velocity: DVec3) {
        let Some(ball) = self.ball else { return };
        let position = position.max(DVec3::new(f64::MIN, f64::MIN, BALL_RADIUS));
        let sim = world.sim_mut();
        self.place(sim, ball, Pose { pos: position.into(), ..Pose::IDENTITY });
        sim.set_free_velocity(ball, Velocity { linear: velocity.into(), angular: [0.0; 3] });
    }

    /// Puts a player upright on its feet, at its model's height, joints at zero.
    pub(super) fn stand(&mut self, world: &mut World, player: PlayerId, to: Placement) {
        let Some(root) = self.robot(player).map(|robot| robot.root) else { return };
        let sim = world.sim_mut();
        let [_, _, height] = sim.start_pose(root).pos;
        sim.rest(root);
        self.place(sim, root, Pose::facing(to.x, to.y, height, to.heading));
    }

    /// Moves a player, sets joints by the names of their motors, or both. It is at rest afterwards.
    pub(super) fn place_player(
        &mut self,
        world: &mut World,
        player: PlayerId,
        to: Option<([f64; 3], [f64; 4])>,
        joints: &[(String, f64)],
    ) {
        let Some(&Robot { agent, root, .. }) = self.robot(player) else { return };
        let joint = |(motor, angle): &(String, f64)| Some((world.motor_joint(agent, motor)?, *angle));
        let joints: Vec<_> = joints.iter().filter_map(joint).collect();
        let sim = world.sim_mut();
        match to {
            Some((pos, quat)) => {
                sim.rest(root);
                self.place(sim, root, Pose { pos, quat: normalized(quat) });
            }
            None => _ = sim.set_free_velocity(root, Velocity { linear: [0.0; 3], angular: [0.0; 3] }),
        }
        for (joint, angle) in joints {
            let [least, most] = sim.model().joint_range(joint).unwrap_or([-TAU, TAU]);
            sim.set_joint_position(joint, angle.clamp(least, most));
            sim.set_joint_velocity(joint, 0.0);
        }
    }

    /// The players as the referee sees them, with those that were moved at their new positions.
    pub(super) fn scene_players(&self, world: &World) -> Vec<Player> {
        let sim = world.sim();
        let describe = |robot: &Robot| {
            let torso = self.torso(sim, robot);
            let (position, rotation) = (DVec3::from(torso.pos), rotation(&torso));
            let camera = robot.camera.map_or(position, |site| sim.site_pose(site).pos.into());
            let head_top = robot.head.map_or(camera.z, |head| sim.geom_pose(head).pos[2] + sim.geom_size(head)[0]);
            Player {
                id: robot.player,
                active: true,
                torso: scene::Pose { position, rotation },
                torso_box: robot.torso_box,
                camera_height: camera.z,
                camera_along_torso: (camera - position).dot(rotation * DVec3::Z),
                head_top,
            }
        };
        self.robots.iter().map(describe).collect()
    }

    /// Contacts of players with the ball.
    pub(super) fn ball_contacts(&self, world: &World) -> Vec<Contact> {
        let (sim, model) = (world.sim(), world.sim().model());
        let touch = |[a, b]: [GeomId; 2]| {
            let ball = self.ball?;
            let other = match (model.geom_body(a) == ball, model.geom_body(b) == ball) {
                (true, _) => b,
                (_, true) => a,
                _ => return None,
            };
            let robot = self.robots.get((*self.owners.get(other.index())?)?)?;
            let part = if BodyPart::is_arm(model.geom_name(other)) {
                BodyPart::Arm { position: sim.geom_pose(other).pos.into(), radius: sim.geom_size(other)[0] }
            } else {
                BodyPart::Other
            };
            Some(Contact { player: robot.player, part })
        };
        sim.contacts().filter_map(|contact| touch(contact.geoms)).collect()
    }
}

/// Normalises a quaternion; upright if it has no direction.
fn normalized(quat: [f64; 4]) -> [f64; 4] {
    // scaled first, so that squares neither underflow nor overflow
    let largest = quat.iter().fold(0.0, |largest: f64, part| largest.max(part.abs()));
    let scaled = quat.map(|part| part / largest);
    let length = scaled.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length.is_finite() { scaled.map(|part| part / length) } else { Pose::IDENTITY.quat }
}

fn robot(world: &World, model: &Model, player: PlayerId, name: &str, agent: AgentId) -> Option<Robot> {
    let own = |part: &str| format!("{name}:{part}");
    let root = model.body_named(&own("torso"))?;
    let torso_box = model.geom_named(&own("torso")).map_or(
        TorsoBox { center: DVec3::ZERO, half_size: DVec2::splat(0.1) },
        |geom| {
            let [x, y, _] = world.sim().geom_size(geom);
            // a ball-shaped torso has one size
            let y = if model.geom_shape(geom) == Shape::Box { y } else { x };
            TorsoBox { center: model.geom_pose(geom).pos.into(), half_size: DVec2::new(x, y) }
        },
    );
    Some(Robot {
        player,
        agent,
        root,
        camera: model.site_named(&own("camera")),
        mouth: model.site_named(&own("say_a-speaker")),
        ear: model.site_named(&own("hear_a-micro")),
        head: model.geom_named(&own("head")),
        torso_box,
    })
}

fn rotation(pose: &Pose) -> DQuat {
    let [w, x, y, z] = pose.quat;
    DQuat::from_xyzw(x, y, z, w)
}
