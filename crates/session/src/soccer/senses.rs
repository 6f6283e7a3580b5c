//! The perceptions of an agent, built from snapshots. Names are looked up once per model.

use super::VisionModel;
use glam::{DQuat, DVec3};
use physics::{Pose, SensorKind};
use soccer::{
    PlayerId, Side,
    field::Landmark,
    game::GameView,
    vision::{
        Camera, Detection, IdealVision, MarkedPlayer, Marker, Noise, NoisyVision, PlayerOcclusion, Vision,
        VisionTargets,
    },
};
use wire::soccer::{
    self as message, Dialect, GameState, HeardSpeech, Hundredths, Joint, Name, Perception, PlayMode, See, SeenPlayer,
    Sensor, Thousandths, Touch,
};
use world::{
    AgentId, Catalogue, Snapshot,
    interface::{InterfaceValue, Port, Role},
    snapshot::SiteCard,
};

/// Number of cycles per visual perception.
const SEE_EVERY: u64 = 2;
/// Suffix of the sites that mark the visible parts of a player.
const MARKER: &str = "-vismarker";

/// Indices of an agent's sensors in a snapshot.
#[derive(Debug)]
pub(super) struct Senses {
    generation: u64,
    vectors: Vec<(VectorKind, Name, usize)>,
    touches: Vec<(Name, usize)>,
    joints: Vec<(Name, usize, usize)>,
    camera: Option<SiteCard>,
    ball: Option<usize>,
    landmarks: Vec<Landmark>,
    /// Markers of all players, in the order of joining.
    players: Vec<(PlayerId, Vec<(String, SiteCard)>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VectorKind {
    Orientation,
    Position,
    Gyro,
    Accelerometer,
}

impl Senses {
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Looks up the sensors; `None` if the agent has left.
    pub(super) fn new(catalogue: &Catalogue, agent: AgentId, game: &GameView) -> Option<Self> {
        let card = catalogue.agent(agent)?;
        let mut senses = Self {
            generation: catalogue.generation,
            vectors: Vec::new(),
            touches: Vec::new(),
            joints: Vec::new(),
            camera: catalogue.site_named(&format!("{}:camera", card.name)).cloned(),
            ball: catalogue.bodies.iter().position(|name| name == "ball"),
            landmarks: game.field.landmarks().to_vec(),
            players: Vec::new(),
        };
        let sensors: Vec<_> = card.values.iter().filter(|value| value.role == Role::Output).collect();
        for sensor in &sensors {
            senses.add(sensor, &sensors);
        }
        for (player, agent) in &game.players {
            let Some(card) = catalogue.agent(*agent) else { continue };
            let prefix = format!("{}:", card.name);
            let markers = catalogue.sites.iter().filter_map(|site| {
                let name = site.name.strip_prefix(&prefix)?.strip_suffix(MARKER)?;
                Some((name.to_owned(), site.clone()))
            });
            senses.players.push((*player, markers.collect()));
        }
        Some(senses)
    }

    /// Adds a sensor according to what it measures. A joint has two: `q_hj1` and `dq_hj1`. The league has no perceptors for
    /// others (D11).
    fn add(&mut self, value: &InterfaceValue, all: &[&InterfaceValue]) {
        let (Some(measures), Port::Sensor(index)) = (value.measures, value.port) else { return };
        let name = sensor_name(value);
        let vector = match measures {
            SensorKind::FrameQuat => VectorKind::Orientation,
            SensorKind::FramePos => VectorKind::Position,
            SensorKind::Gyro => VectorKind::Gyro,
            SensorKind::Accelerometer => VectorKind::Accelerometer,
            SensorKind::Touch => return self.touches.extend(Name::new(name).map(|name| (name, index))),
            SensorKind::JointPos => return self.joints.extend(joint(name, index, all)),
            _ => return,
        };
        let sensor = name.rsplit_once('/').map_or(name, |(sensor, _axis)| sensor);
        // only the first axis: the others follow it
        if let Ok(sensor) = Name::new(sensor)
            && self.vectors.iter().all(|(_, other, _)| *other != sensor)
        {
            self.vectors.push((vector, sensor, index));
        }
    }

    pub(super) fn perceive(
        &self,
        dialect: Dialect,
        vision: VisionModel,
        player: PlayerId,
        game: &GameView,
        world: &Snapshot,
    ) -> Perception {
        let mut perception = Perception::new(dialect, dialect.time(world.time), game_state(game));
        for (kind, name, at) in &self.vectors {
            let name = name.clone();
            match kind {
                VectorKind::Orientation => {
                    perception.orientations.push(Sensor { name, values: thousandths(world, *at) })
                }
                VectorKind::Position => perception.positions.push(Sensor { name, values: thousandths(world, *at) }),
                VectorKind::Gyro => {
                    perception.gyros.push(Sensor { name, values: hundredths(world, *at, f64::to_degrees) })
                }
                VectorKind::Accelerometer => {
                    perception.accelerometers.push(Sensor { name, values: hundredths(world, *at, |x| x) })
                }
            }
        }
        perception.touches = self
            .touches
            .iter()
            .map(|(name, index)| Touch { name: name.clone(), is_active: value(world, *index) > 0.0 })
            .collect();
        let degrees = |index: usize| Hundredths::truncated(value(world, index).to_degrees());
        perception.joints = self
            .joints
            .iter()
            .map(|(name, angle, velocity)| Joint {
                name: name.clone(),
                angle_deg: degrees(*angle),
                velocity_deg: degrees(*velocity),
            })
            .collect();
        perception.heard = game.heard.get(&player).map(|words| {
            words
                .iter()
                .map(|(azimuth, text)| HeardSpeech { azimuth_deg: *azimuth as i16, text: text.clone() })
                .collect()
        });
        perception.see = world.step.is_multiple_of(SEE_EVERY).then(|| self.see(vision, player, game, world)).flatten();
        perception
    }

    fn see(&self, vision: VisionModel, player: PlayerId, game: &GameView, world: &Snapshot) -> Option<See> {
        let camera = world.site_pose(self.camera.as_ref()?)?;
        let camera = Camera { position: camera.pos.into(), rotation: rotation(&camera) };
        let ball = self.ball.and_then(|index| world.positions.get(index)).map(|&ball| DVec3::from(ball))?;
        let position = |site: &SiteCard| world.site_pose(site).map_or(DVec3::ZERO, |pose| pose.pos.into());
        let markers: Vec<(PlayerId, Vec<Marker<'_>>)> = self
            .players
            .iter()
            .map(|(player, markers)| {
                (*player, markers.iter().map(|(name, site)| Marker { name, position: position(site) }).collect())
            })
            .collect();
        let players: Vec<_> = markers.iter().map(|(id, markers)| MarkedPlayer { id: *id, markers }).collect();
        let targets = VisionTargets { landmarks: &self.landmarks, ball, players: &players };
        let mut see = See::default();
        let seen = match vision {
            VisionModel::Ideal => IdealVision.detect_all(&camera, &targets),
            VisionModel::Noisy => {
                let occlusion = PlayerOcclusion::new(player, &players);
                // different in each cycle, but reproducible when the game is replayed
                let player_bits = u64::from(player.number) << 1 | u64::from(player.side == Side::Right);
                let seed = (game.seed ^ world.step.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ player_bits;
                NoisyVision::new(Noise::default(), occlusion, seed).detect_all(&camera, &targets)
            }
        };
        for detection in seen {
            match detection {
                Detection::Landmark { name, at } => {
                    see.landmarks.extend(message::Landmark::from_name(name).map(|landmark| (landmark, polar(at))));
                }
                Detection::Ball { at } => see.ball = Some(polar(at)),
                Detection::Player { id, markers } => see.players.extend(seen_player(game, id, &markers)),
            }
        }
        Some(see)
    }
}

/// Name of a sensor within the robot, with that of the axis if it has several.
fn sensor_name(value: &InterfaceValue) -> &str {
    value.name.trim_start_matches('/')
}

/// The joint whose angle a sensor of this name measures: its name, and the indices of its angle and its velocity.
fn joint(angle_sensor: &str, angle: usize, all: &[&InterfaceValue]) -> Option<(Name, usize, usize)> {
    let joint = angle_sensor.strip_prefix("q_")?;
    let velocity = all.iter().find_map(|value| match (value.measures, value.port) {
        (Some(SensorKind::JointVel), Port::Sensor(index)) => {
            (sensor_name(value).strip_prefix("dq_") == Some(joint)).then_some(index)
        }
        _ => None,
    });
    Some((Name::new(joint).ok()?, angle, velocity?))
}

fn seen_player(game: &GameView, id: PlayerId, markers: &[(&str, soccer::vision::Polar)]) -> Option<SeenPlayer> {
    let [left, right] = &game.teams;
    let team = if id.side == Side::Left { left } else { right };
    let marker = |(name, at): &(&str, soccer::vision::Polar)| {
        Some(message::Marker { name: Name::new(name).ok()?, polar: polar(*at) })
    };
    Some(SeenPlayer {
        team: Name::new(team.as_deref()?).ok()?,
        number: id.number,
        markers: markers.iter().filter_map(marker).collect(),
    })
}

fn polar(at: soccer::vision::Polar) -> message::Polar {
    message::Polar {
        distance: Hundredths::truncated(at.distance),
        azimuth_deg: Hundredths::truncated(at.azimuth_deg),
        elevation_deg: Hundredths::truncated(at.elevation_deg),
    }
}

fn game_state(game: &GameView) -> GameState {
    let [left, right] = &game.teams;
    let name = |team: &Option<String>| team.as_deref().and_then(|team| Name::new(team).ok());
    let [score_left, score_right] = game.score.map(|score| score.try_into().unwrap_or(u16::MAX));
    GameState {
        time: Thousandths::rounded(game.play_time.as_secs_f64()),
        play_mode: PlayMode::from_name(game.mode.name()).unwrap_or(PlayMode::BeforeKickOff),
        team_left: name(left),
        team_right: name(right),
        score_left,
        score_right,
    }
}

fn value(world: &Snapshot, index: usize) -> f64 {
    world.sensors.get(index).copied().unwrap_or_default()
}

fn thousandths<const N: usize>(world: &Snapshot, at: usize) -> [Thousandths; N] {
    std::array::from_fn(|axis| Thousandths::truncated(value(world, at + axis)))
}

fn hundredths<const N: usize>(world: &Snapshot, at: usize, convert: impl Fn(f64) -> f64) -> [Hundredths; N] {
    std::array::from_fn(|axis| Hundredths::truncated(convert(value(world, at + axis))))
}

fn rotation(pose: &Pose) -> DQuat {
    let [w, x, y, z] = pose.quat;
    DQuat::from_xyzw(x, y, z, w)
}
