//! Commands from monitors and trainers.

use super::number::{put_float, put_int};
use super::sexp::{self, List};
use super::{Fault, MAX_DEPTH, Name, PlayMode, Side, decode_lists, malformed, skip, stop};
use crate::{DecodeError, Message};

/// Maximum number of commands decoded from one message (D5).
pub const MAX_COMMANDS: usize = 512;

/// Maximum number of joints in one command.
pub const MAX_JOINTS: usize = 256;

/// One frame from a monitor.
#[derive(Debug, Clone, Default)]
pub struct MonitorRequest {
    /// The commands, in order.
    pub commands: Vec<Command>,
    /// The error of the first list that failed to decode. Not encoded, and ignored by `==`.
    pub first_error: Option<DecodeError>,
}

impl PartialEq for MonitorRequest {
    fn eq(&self, other: &Self) -> bool {
        self.commands == other.commands
    }
}

impl From<Vec<Command>> for MonitorRequest {
    fn from(commands: Vec<Command>) -> Self {
        Self { commands, first_error: None }
    }
}

/// A command from a monitor. Decoded numbers are finite; only finite numbers can be encoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Kicks off for a side, or for a random one.
    KickOff(Option<Side>),
    /// Resumes play with the ball where it is.
    DropBall,
    /// Moves the ball.
    PlaceBall {
        /// World position, in m.
        position: [f64; 3],
        /// Velocity, in m/s; zero if `None`.
        velocity: Option<[f64; 3]>,
    },
    /// Moves a robot, sets its joints, or both.
    PlaceAgent(AgentPlacement),
    /// Sets the play mode.
    SetPlayMode(PlayMode),
    /// Shuts the server down.
    KillSim,
    /// Requests a full scene, as the first message of a monitor.
    Init,
    /// Requests a full scene.
    RequestFullState,
    /// Restarts the game (a trainer's command).
    Reset {
        /// Random seed; the scenario's if `None`.
        seed: Option<u64>,
    },
    /// Pauses the world (a trainer's command).
    Pause,
    /// Resumes the world (a trainer's command).
    Resume,
    /// Requests an acknowledgement once all previous commands have been applied (a trainer's command).
    Acknowledge(u64),
}

/// New pose and joint angles of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentPlacement {
    /// The player's number.
    pub number: u8,
    /// The player's team.
    pub team: TeamRef,
    /// The new pose; unchanged if `None`.
    pub pose: Option<Pose>,
    /// Joints and their angles in deg (a trainer's addition). With a pose, unnamed joints are set to 0; without one
    /// they keep their angles.
    pub joints: Vec<(Name, f64)>,
}

/// A team, by side or by name. A word for a side is never a name (D16).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamRef {
    /// The team on this side.
    Side(Side),
    /// The team with that name.
    Named(Name),
}

/// A position in the world, in m, with an optional orientation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Pose {
    /// Upright, facing along x.
    Position([f64; 3]),
    /// Upright, with a heading.
    Upright {
        /// Position, in m.
        position: [f64; 3],
        /// Heading, counter-clockwise from x.
        yaw_deg: f64,
    },
    /// Any orientation.
    Free {
        /// Position, in m.
        position: [f64; 3],
        /// w, x, y, z; not all 0, need not be normalized.
        quaternion: [f64; 4],
    },
}

impl Message for MonitorRequest {
    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let lists = sexp::parse(payload, MAX_DEPTH)?;
        let (commands, first_error) = decode_lists(lists, MAX_COMMANDS, "commands", Command::decode);
        Ok(Self { commands, first_error })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.commands.iter().for_each(|command| command.encode(out));
    }
}

impl Command {
    fn decode(list: List<'_>) -> Result<Self, Fault> {
        let Some(head) = list.items().next() else { return Err(stop("command")) };
        let first = list.items().nth(1).and_then(sexp::Item::text);
        match head.atom().unwrap_or_default() {
            b"kickOff" => Ok(Self::KickOff(first.and_then(Side::from_word))),
            b"dropBall" => Ok(Self::DropBall),
            b"ball" => decode_ball(list),
            b"agent" => AgentPlacement::decode(list).map(Self::PlaceAgent),
            b"playMode" => Ok(Self::SetPlayMode(first.and_then(PlayMode::from_name).ok_or(skip("playMode"))?)),
            b"killsim" => Ok(Self::KillSim),
            b"init" => Ok(Self::Init),
            b"reqfullstate" => Ok(Self::RequestFullState),
            b"reset" => match list.items().nth(1) {
                None => Ok(Self::Reset { seed: None }),
                Some(seed) => Ok(Self::Reset { seed: Some(seed.int("seed").map_err(Fault::Skip)?) }),
            },
            b"pause" => Ok(Self::Pause),
            b"resume" => Ok(Self::Resume),
            b"ack" => {
                let number = list.items().nth(1).ok_or(skip("ack"))?;
                Ok(Self::Acknowledge(number.int("ack").map_err(Fault::Skip)?))
            }
            _ => Err(skip("command")),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.push(b'(');
        match self {
            Self::KickOff(None) => out.extend_from_slice(b"kickOff"),
            Self::KickOff(Some(side)) => put_words(out, &["kickOff", side.word()]),
            Self::DropBall => out.extend_from_slice(b"dropBall"),
            Self::PlaceBall { position, velocity } => {
                out.extend_from_slice(b"ball ");
                put_numbers(out, "pos", position);
                if let Some(velocity) = velocity {
                    put_numbers(out, "vel", velocity);
                }
            }
            Self::PlaceAgent(place) => place.encode(out),
            Self::SetPlayMode(mode) => put_words(out, &["playMode", mode.name()]),
            Self::KillSim => out.extend_from_slice(b"killsim"),
            Self::Init => out.extend_from_slice(b"init"),
            Self::RequestFullState => out.extend_from_slice(b"reqfullstate"),
            Self::Reset { seed: None } => out.extend_from_slice(b"reset"),
            Self::Reset { seed: Some(seed) } => {
                out.extend_from_slice(b"reset ");
                put_int(out, *seed);
            }
            Self::Pause => out.extend_from_slice(b"pause"),
            Self::Resume => out.extend_from_slice(b"resume"),
            Self::Acknowledge(number) => {
                out.extend_from_slice(b"ack ");
                put_int(out, *number);
            }
        }
        out.push(b')');
    }
}

fn decode_ball(list: List<'_>) -> Result<Command, Fault> {
    let mut position = None;
    let mut velocity = None;
    for part in list.lists() {
        match part.items().next().ok_or(stop("ball"))?.atom() {
            Some(b"pos") => position = Some(part.floats("pos").map_err(Fault::Stop)?),
            Some(b"vel") => velocity = Some(part.floats("vel").map_err(Fault::Stop)?),
            _ => {}
        }
    }
    Ok(Command::PlaceBall { position: position.ok_or(skip("pos"))?, velocity })
}

impl AgentPlacement {
    /// The last of repeated parts wins. An invalid part drops the rest of the message.
    fn decode(list: List<'_>) -> Result<Self, Fault> {
        let mut number = None;
        let mut team = None;
        let mut pose = None;
        let mut joints = Vec::new();
        let mut read = |part: List<'_>| {
            match part.items().next().ok_or(malformed("agent"))?.atom() {
                Some(b"unum") => number = Some(part.value("unum")?.int::<i64>("unum")?),
                Some(b"team") => team = Some(part.value("team")?.name("team")?),
                Some(b"pos") => pose = Some(Pose::Position(part.floats("pos")?)),
                Some(b"move") => pose = Some(Pose::upright(part.floats("move")?)),
                Some(b"move3d") => pose = Some(Pose::free(part.floats("move3d")?)),
                Some(b"joints") => joints = decode_joints(part)?,
                _ => {}
            }
            Ok(())
        };
        list.lists().try_for_each(&mut read).map_err(Fault::Stop)?;
        let number = number.and_then(|number| u8::try_from(number).ok()).ok_or(skip("unum"))?;
        let team = TeamRef::from(team.ok_or(skip("team"))?);
        if pose.is_none() && joints.is_empty() {
            return Err(skip("pose"));
        }
        if matches!(pose, Some(Pose::Free { quaternion, .. }) if quaternion.iter().all(|part| *part == 0.0)) {
            return Err(skip("quaternion"));
        }
        Ok(Self { number, team, pose, joints })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"agent (unum ");
        put_int(out, self.number);
        out.extend_from_slice(b")(");
        match &self.team {
            TeamRef::Side(side) => put_words(out, &["team", side.word()]),
            TeamRef::Named(name) => put_words(out, &["team", name.as_str()]),
        }
        out.push(b')');
        match self.pose {
            None => {}
            Some(Pose::Position(position)) => put_numbers(out, "pos", &position),
            Some(Pose::Upright { position: [x, y, z], yaw_deg }) => put_numbers(out, "move", &[x, y, z, yaw_deg]),
            Some(Pose::Free { position: [x, y, z], quaternion: [qw, qx, qy, qz] }) => {
                put_numbers(out, "move3d", &[x, y, z, qw, qx, qy, qz]);
            }
        }
        if !self.joints.is_empty() {
            out.extend_from_slice(b"(joints ");
            for (name, angle_deg) in &self.joints {
                put_numbers(out, name.as_str(), &[*angle_deg]);
            }
            out.push(b')');
        }
    }
}

fn decode_joints(list: List<'_>) -> Result<Vec<(Name, f64)>, DecodeError> {
    let mut joints = Vec::new();
    for joint in list.lists() {
        if joints.len() == MAX_JOINTS {
            let max = MAX_JOINTS as i64;
            return Err(DecodeError::OutOfRange { field: "joints", value: max + 1, min: 0, max });
        }
        let [name, angle_deg] = joint.exactly().ok_or(malformed("joints"))?;
        joints.push((name.name("joints")?, angle_deg.float("joints")?));
    }
    Ok(joints)
}

impl From<Name> for TeamRef {
    fn from(name: Name) -> Self {
        match name.as_str() {
            "Left" => Self::Side(Side::Left),
            "Right" => Self::Side(Side::Right),
            _ => Self::Named(name),
        }
    }
}

impl Pose {
    fn upright([x, y, z, yaw_deg]: [f64; 4]) -> Self {
        Self::Upright { position: [x, y, z], yaw_deg }
    }

    fn free([x, y, z, qw, qx, qy, qz]: [f64; 7]) -> Self {
        Self::Free { position: [x, y, z], quaternion: [qw, qx, qy, qz] }
    }
}

fn put_words(out: &mut Vec<u8>, words: &[&str]) {
    out.extend_from_slice(words.join(" ").as_bytes());
}

fn put_numbers(out: &mut Vec<u8>, key: &str, numbers: &[f64]) {
    out.push(b'(');
    out.extend_from_slice(key.as_bytes());
    for &number in numbers {
        out.push(b' ');
        put_float(out, number);
    }
    out.push(b')');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn check(payload: &str, expected: &[Command]) {
        let request = MonitorRequest::decode(payload.as_bytes()).unwrap();
        assert_eq!(request.commands, expected, "{payload}");
        assert_eq!(request.first_error, None, "{payload}");
    }

    fn placement(team: TeamRef, pose: Option<Pose>, joints: &[(&str, f64)]) -> Command {
        let joints = joints.iter().map(|(joint, angle)| (name(joint), *angle)).collect();
        Command::PlaceAgent(AgentPlacement { number: 2, team, pose, joints })
    }

    #[test]
    fn commands_of_monitors() {
        check("", &[]);
        check("(kickOff)", &[Command::KickOff(None)]);
        check("(kickOff foo)", &[Command::KickOff(None)]);
        for (word, side) in [("Left", Side::Left), ("l", Side::Left), ("Right", Side::Right), ("r", Side::Right)] {
            check(&format!("(kickOff {word})"), &[Command::KickOff(Some(side))]);
        }
        check("(dropBall)x(dropBall x)", &[Command::DropBall, Command::DropBall]);
        let ball = |velocity| Command::PlaceBall { position: [1.0, 0.5, 0.11], velocity };
        check("(ball (pos 1.0 0.5 0.11))", &[ball(None)]);
        check("(ball (pos 1.0 0.5 0.11) (vel 2 0 0))", &[ball(Some([2.0, 0.0, 0.0]))]);
        check("(ball x (vel 2 0 0 7) (pos 3 3 3)(pos 1.0 0.5 0.11)(foo))", &[ball(Some([2.0, 0.0, 0.0]))]);
        check("(playMode PlayOn)", &[Command::SetPlayMode(PlayMode::PlayOn)]);
        check("(killsim)(init)(reqfullstate)", &[Command::KillSim, Command::Init, Command::RequestFullState]);
    }

    #[test]
    fn placements_of_agents() {
        let named = || TeamRef::Named(name("TeamA"));
        let position = [-2.0, -1.0, 0.7];
        let upright = Some(Pose::Upright { position, yaw_deg: 90.0 });
        let free = Some(Pose::Free { position, quaternion: [1.0, 0.0, 0.0, 0.0] });
        check("(agent (unum 2) (team TeamA) (move -2 -1 0.7 90))", &[placement(named(), upright, &[])]);
        check(
            "(agent (team Left)(unum 2)(pos -2 -1 0.7))",
            &[placement(TeamRef::Side(Side::Left), Some(Pose::Position(position)), &[])],
        );
        check(
            "(agent (unum 2)(team Right)(move3d -2 -1 0.7 1 0 0 0))",
            &[placement(TeamRef::Side(Side::Right), free, &[])],
        );
        check(
            "(agent (unum 3)(unum 2)(team TeamA)(pos 1 2 3)(move -2 -1 0.7 90))",
            &[placement(named(), upright, &[])],
        );
        // a trainer's addition
        check(
            "(agent (unum 2)(team TeamA)(joints (he1 10)(lle1 -20.5)))",
            &[placement(named(), None, &[("he1", 10.0), ("lle1", -20.5)])],
        );
        check(
            "(agent (unum 2)(team TeamA)(move -2 -1 0.7 90)(joints (he1 10)))",
            &[placement(named(), upright, &[("he1", 10.0)])],
        );
    }

    #[test]
    fn commands_of_trainers() {
        check("(reset)", &[Command::Reset { seed: None }]);
        check("(reset 18446744073709551615)", &[Command::Reset { seed: Some(u64::MAX) }]);
        check("(pause)(resume)", &[Command::Pause, Command::Resume]);
        check("(ack 7)", &[Command::Acknowledge(7)]);
    }

    #[test]
    fn an_invalid_list_is_skipped_or_stops_decoding() {
        fn check(bad: &str, expected: usize) {
            let request = MonitorRequest::decode(format!("(dropBall){bad}(kickOff)").as_bytes()).unwrap();
            assert_eq!(request.commands.len(), expected, "{bad}");
            assert!(request.first_error.is_some(), "{bad}");
        }
        for bad in [
            "(foo)",
            "((x))",
            "(ball)",
            "(ball (vel 4 5 6))",
            "(ball pos 1 2 3)",
            "(agent (unum 2)(team A))",
            "(agent (team A)(pos 1 2 3))",
            "(agent (unum 2)(pos 1 2 3))",
            "(agent (unum -2)(team A)(pos 1 2 3))",
            "(agent (unum 2)(team A)(move3d 1 2 3 0 0 0 0))",
            "(playMode)",
            "(playMode foo)",
            "(reset x)",
            "(reset -1)",
            "(ack)",
            "(ack x)",
        ] {
            check(bad, 2);
        }
        for bad in [
            "()",
            "(ball (pos 1 2))",
            "(ball (pos 1 2 x))",
            "(ball (pos nan 1 2))",
            "(ball (pos 1 2 3)(vel 1 2))",
            "(ball (pos (1) 2 3))",
            "(agent (unum x)(team A)(pos 1 2 3))",
            "(agent (unum)(team A)(pos 1 2 3))",
            "(agent (unum 2)(team)(pos 1 2 3))",
            "(agent (unum 2)(team A)(pos 1 2)(move 1 2 3 4))",
            "(agent (unum 2)(team A)(pos 1 2 3)())",
            "(agent (unum 2)(team A)(joints (he1)))",
            "(agent (unum 2)(team A)(joints (he1 inf)))",
        ] {
            check(bad, 1);
        }
    }

    fn any_command() -> impl Strategy<Value = Command> {
        fn float() -> impl Strategy<Value = f64> {
            prop_oneof![-100.0..100.0, any::<f64>().prop_filter("finite", |value| value.is_finite())]
        }
        let side = prop_oneof![Just(Side::Left), Just(Side::Right)];
        let team = prop_oneof![
            side.clone().prop_map(TeamRef::Side),
            "[a-z]{1,8}".prop_map(|team| TeamRef::Named(name(&team)))
        ];
        let position = || [float(), float(), float()];
        let pose = prop_oneof![
            position().prop_map(Pose::Position),
            (position(), float()).prop_map(|(position, yaw_deg)| Pose::Upright { position, yaw_deg }),
            (position(), [0.1..1.0, -1.0..1.0, -1.0..1.0, -1.0..1.0])
                .prop_map(|(position, quaternion)| Pose::Free { position, quaternion }),
        ];
        let joints = proptest::collection::vec(("[a-z0-9]{1,6}".prop_map(|joint| name(&joint)), float()), 1..4);
        prop_oneof![
            proptest::option::of(side).prop_map(Command::KickOff),
            (position(), proptest::option::of(position()))
                .prop_map(|(position, velocity)| Command::PlaceBall { position, velocity }),
            (any::<u8>(), team, proptest::option::of(pose), joints).prop_map(|(number, team, pose, joints)| {
                Command::PlaceAgent(AgentPlacement { number, team, pose, joints })
            }),
            proptest::sample::select(PlayMode::ALL.to_vec()).prop_map(Command::SetPlayMode),
            proptest::option::of(any::<u64>()).prop_map(|seed| Command::Reset { seed }),
            any::<u64>().prop_map(Command::Acknowledge),
            proptest::sample::select(vec![
                Command::DropBall,
                Command::KillSim,
                Command::Init,
                Command::RequestFullState,
                Command::Pause,
                Command::Resume,
            ]),
        ]
    }

    proptest! {
        #[test]
        fn requests_round_trip(commands in proptest::collection::vec(any_command(), 0..10)) {
            let request = MonitorRequest::decode(&MonitorRequest::from(commands.clone()).to_bytes()).unwrap();
            prop_assert_eq!(request.commands, commands);
            prop_assert_eq!(request.first_error, None);
        }

        #[test]
        fn any_lists_decode_or_err(
            words in proptest::collection::vec(
                proptest::sample::select(vec![
                    "(", ")", "(", ")", " ", "kickOff", "ball ", "(pos 1 2 3)", "agent ", "(unum 2)", "(team A)", "joints ",
                    "he1", "reset", " 7", "nan", "(move 1 2 3 4)",
                ]),
                0..40,
            ),
            noise in proptest::collection::vec(any::<u8>(), 0..40),
        ) {
            for bytes in [words.concat().as_bytes(), &noise] {
                if let Ok(request) = MonitorRequest::decode(bytes) {
                    prop_assert_eq!(MonitorRequest::decode(&request.to_bytes()), Ok(request));
                }
            }
        }
    }
}
