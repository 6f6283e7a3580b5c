//! Observations for learning: what a player perceives, or the state around it, as numbers.
//!
//! Both teams see the field as the left one: the opponents' goal is at positive x. Numbers are scaled to the order of 1.

use ::soccer::Side;
use glam::{DQuat, DVec2, DVec3};
use physics::{Pose, Velocity};
use pyo3::PyResult;
use wire::soccer::{GameState, Perception, Polar, See};
use world::SessionId;

use super::game::{Match, Member};
use crate::error;

/// Scale of distances, per m.
const PER_METRE: f64 = 0.1;
/// Scale of linear velocities, per m/s.
const PER_SPEED: f64 = 0.2;
/// Scale of angular velocities, per rad/s.
const PER_RATE: f64 = 0.1;
/// Scale of accelerations, per m/s².
const PER_ACCELERATION: f64 = 0.1;
/// Scale of differences of the score.
const PER_GOAL: f64 = 0.2;

/// What an observation has of the ball and the other players.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// What the player has last seen, relative to its camera.
    Seen,
    /// Where they are and how they move, relative to its torso.
    World,
}

/// Observations of these players, one after the other; all of the same length. There are `team_size` players in a team, with
/// the numbers from 1.
pub(crate) fn observe(game: &Match, players: &[SessionId], team_size: u8, sight: Sight) -> PyResult<Vec<f32>> {
    let all = Everybody::new(game)?;
    let mut numbers = Vec::new();
    for &id in players {
        let member = game.member(id)?;
        let side = game.player(id)?.side;
        let perception = member.perception.as_ref();
        let perception =
            perception.ok_or_else(|| error::failed("a player perceives nothing before the first cycle"))?;
        put_body(&mut numbers, game, perception, side)?;
        match sight {
            Sight::Seen => put_seen(&mut numbers, member, team_size),
            Sight::World => all.put(&mut numbers, id, side, team_size),
        }
    }
    Ok(numbers.into_iter().map(|x| x as f32).collect())
}

/// What rewards are made of: the distances of the ball from the goals that the left and the right team attack, and of each of
/// these players from the ball, on the ground, in m; then how upright each player is, as the cosine of its inclination.
pub(crate) fn measure(game: &Match, players: &[SessionId]) -> PyResult<Vec<f64>> {
    let half_length = game.view()?.field.half_length();
    let ball = DVec3::from(game.ball()?.0.pos).truncate();
    let torsos = players.iter().map(|&id| Ok(game.torso(id)?.0)).collect::<PyResult<Vec<_>>>()?;
    let to_goals = [half_length, -half_length].map(|x| ball.distance(DVec2::new(x, 0.0)));
    let to_ball = torsos.iter().map(|torso| ball.distance(DVec3::from(torso.pos).truncate()));
    let upright = torsos.iter().map(|torso| (rotation(torso) * DVec3::Z).z);
    Ok(to_goals.into_iter().chain(to_ball).chain(upright).collect())
}

/// From the field's frame to that of a team, which is turned by half a turn for the right one.
fn turned(vector: DVec3, side: Side) -> DVec3 {
    match side {
        Side::Left => vector,
        Side::Right => DVec3::new(-vector.x, -vector.y, vector.z),
    }
}

/// What the player knows of its own body and of the game.
fn put_body(out: &mut Vec<f64>, game: &Match, perception: &Perception, side: Side) -> PyResult<()> {
    let field = &game.view()?.field;
    let position = perception.positions.first().map(|sensor| DVec3::from(sensor.values.map(|value| value.get())));
    let position = turned(position.unwrap_or_default(), side);
    out.extend([position.x / field.half_length(), position.y / field.half_width(), position.z]);
    let [w, x, y, z] =
        perception.orientations.first().map_or([1.0, 0.0, 0.0, 0.0], |sensor| sensor.values.map(|value| value.get()));
    // perceived numbers are truncated
    let rotation = DQuat::from_xyzw(x, y, z, w).normalize();
    let ahead = turned(rotation * DVec3::X, side);
    out.extend((rotation.inverse() * DVec3::Z).to_array());
    out.extend([ahead.x, ahead.y]);
    let gyro = perception.gyros.first().map(|sensor| sensor.values.map(|value| value.get().to_radians() * PER_RATE));
    out.extend(gyro.unwrap_or_default());
    let acceleration = perception.accelerometers.first();
    let acceleration = acceleration.map(|sensor| sensor.values.map(|value| value.get() * PER_ACCELERATION));
    out.extend(acceleration.unwrap_or_default());
    out.extend(perception.joints.iter().map(|joint| joint.angle_deg.get().to_radians()));
    out.extend(perception.joints.iter().map(|joint| joint.velocity_deg.get().to_radians() * PER_RATE));
    out.extend(perception.touches.iter().map(|touch| f64::from(u8::from(touch.is_active))));
    put_game(out, &perception.game, side);
    Ok(())
}

/// The difference of the score, and the play mode: before the kick-off, play on, a set play of one's own or of the opponents,
/// after a goal, over.
fn put_game(out: &mut Vec<f64>, game: &GameState, side: Side) {
    let lead = f64::from(game.score_left) - f64::from(game.score_right);
    out.push(lead * -side.sign() * PER_GOAL);
    let mode = game.play_mode.name();
    let kind = match mode {
        "BeforeKickOff" => 0,
        "PlayOn" => 1,
        "GameOver" => 5,
        "Goal_Left" | "Goal_Right" => 4,
        _ if mode.to_ascii_lowercase().ends_with(side.name()) => 2,
        _ => 3,
    };
    out.extend((0..6).map(|other| f64::from(u8::from(other == kind))));
}

/// The ball, then the other players of the own team in order of their numbers, then the opponents: for each whether it was
/// seen, and where.
fn put_seen(out: &mut Vec<f64>, member: &Member, team_size: u8) {
    let no_picture = See::default();
    let see = member.see().unwrap_or(&no_picture);
    put_place(out, see.ball.map(cartesian));
    for own in [true, false] {
        for number in (1..=team_size).filter(|number| !own || *number != member.number) {
            let seen = see.players.iter().find(|seen| seen.number == number && (seen.team == member.team) == own);
            let middle = seen.filter(|seen| !seen.markers.is_empty()).map(|seen| {
                let sum: DVec3 = seen.markers.iter().map(|marker| cartesian(marker.polar)).sum();
                sum / seen.markers.len() as f64
            });
            put_place(out, middle);
        }
    }
}

fn put_place(out: &mut Vec<f64>, place: Option<DVec3>) {
    out.push(f64::from(u8::from(place.is_some())));
    out.extend((place.unwrap_or_default() * PER_METRE).to_array());
}

/// x ahead of the camera, y to its left, z up; in m.
fn cartesian(polar: Polar) -> DVec3 {
    let (azimuth, elevation) = (polar.azimuth_deg.get().to_radians(), polar.elevation_deg.get().to_radians());
    let level = elevation.cos();
    polar.distance.get() * DVec3::new(level * azimuth.cos(), level * azimuth.sin(), elevation.sin())
}

/// The ball and all players, as they are.
struct Everybody {
    ball: (Pose, Velocity),
    players: Vec<(SessionId, Side, u8, (Pose, Velocity))>,
}

impl Everybody {
    fn new(game: &Match) -> PyResult<Self> {
        let mut players = Vec::new();
        for (id, member) in game.members() {
            players.push((id, game.player(id)?.side, member.number, game.torso(id)?));
        }
        Ok(Self { ball: game.ball()?, players })
    }

    /// The same order as of what is seen: for each whether it is there, where, and its velocity.
    fn put(&self, out: &mut Vec<f64>, id: SessionId, side: Side, team_size: u8) {
        let Some((.., own_number, (own, _))) = self.players.iter().find(|(other, ..)| *other == id) else { return };
        let frame = Frame::of(own);
        frame.put(out, Some(&self.ball));
        for team in [side, side.other()] {
            for number in (1..=team_size).filter(|number| team != side || number != own_number) {
                let found = self.players.iter().find(|(_, side, other, _)| (*side, *other) == (team, number));
                frame.put(out, found.map(|(.., motion)| motion));
            }
        }
    }
}

/// The frame of a robot on the ground: x is where it faces, z up.
struct Frame {
    origin: DVec3,
    turn: DQuat,
}

impl Frame {
    fn of(pose: &Pose) -> Self {
        let ahead = rotation(pose) * DVec3::X;
        Self { origin: pose.pos.into(), turn: DQuat::from_rotation_z(-ahead.y.atan2(ahead.x)) }
    }

    fn put(&self, out: &mut Vec<f64>, motion: Option<&(Pose, Velocity)>) {
        let Some((pose, velocity)) = motion else { return out.extend([0.0; 7]) };
        out.push(1.0);
        out.extend((self.turn * (DVec3::from(pose.pos) - self.origin) * PER_METRE).to_array());
        out.extend((self.turn * DVec3::from(velocity.linear) * PER_SPEED).to_array());
    }
}

fn rotation(pose: &Pose) -> DQuat {
    let [w, x, y, z] = pose.quat;
    DQuat::from_xyzw(x, y, z, w)
}
