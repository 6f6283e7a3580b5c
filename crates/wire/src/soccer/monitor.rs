//! Messages to monitors.

use super::number::{put_int, put_short_float};
use super::scene::Node;
use super::sexp::{self, Item, List};
use super::{FoulKind, Hundredths, MAX_UPDATE_DEPTH, Name, PlayMode, Side, Thousandths, malformed};
use crate::{DecodeError, Message};

/// Placeholders for teams that have not joined yet.
const NO_TEAM: [&str; 2] = ["<LEFT>", "<RIGHT>"];

/// Messages to monitors.
#[derive(Debug, Clone, PartialEq)]
pub enum MonitorMessage {
    /// The state of scene and game.
    Update(Box<MonitorUpdate>),
    /// All commands before the request for this acknowledgement have been applied (a trainer's message).
    Acknowledged(u64),
}

impl Message for MonitorMessage {
    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let message = sexp::parse(payload, MAX_UPDATE_DEPTH)?.lists().next().ok_or(malformed("RSMP"))?;
        if message.head() == Some(b"ack") {
            return Ok(Self::Acknowledged(message.value("ack")?.int("ack")?));
        }
        MonitorUpdate::from_list(message).map(|update| Self::Update(Box::new(update)))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Update(update) => update.encode(out),
            Self::Acknowledged(number) => {
                out.extend_from_slice(b"(ack ");
                put_int(out, *number);
                out.push(b')');
            }
        }
    }
}

/// The state of scene and game at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorUpdate {
    /// The world's time, in s, rounded.
    pub time: Hundredths,
    /// The scene.
    pub graph: Graph,
    /// The state of the game.
    pub game: MonitorGame,
}

/// A scene: complete or as a difference.
#[derive(Debug, Clone, PartialEq)]
pub enum Graph {
    /// The complete scene, with everything that stays constant during a game.
    Full {
        /// The root of the tree.
        root: Node,
        /// Names of the teams.
        teams: Teams,
        /// The field and the rules.
        environment: Option<Box<Environment>>,
    },
    /// Changes since the previous scene, in a tree of the same shape.
    Diff {
        /// The root of the tree.
        root: Node,
    },
}

/// Names of the teams.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Teams {
    /// The left team's name, once it has one.
    pub left: Option<Name>,
    /// The right team's name, once it has one.
    pub right: Option<Name>,
}

/// The state of the game as sent to monitors.
#[derive(Debug, Clone, PartialEq)]
pub struct MonitorGame {
    /// Time played, in s.
    pub time: Thousandths,
    /// The current half: 1 or 2.
    pub half: u8,
    /// Goals of the left team.
    pub score_left: u16,
    /// Goals of the right team.
    pub score_right: u16,
    /// The play mode.
    pub play_mode: PlayMode,
    /// Fouls since the last update.
    pub fouls: Vec<Foul>,
}

/// A foul as sent to monitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foul {
    /// Kind of foul.
    pub kind: FoulKind,
    /// The team of the offender.
    pub side: Side,
    /// The offender's number.
    pub number: u8,
}

/// The field and the rules. Lengths in m, times in s; all numbers are finite.
///
/// On the wire the names of the goal's width and depth are swapped, as on the league's server, whose monitors rely on
/// it (D14). Here they have the correct names.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Environment {
    pub field_length: f64,
    pub field_width: f64,
    pub field_height: f64,
    pub goal_depth: f64,
    pub goal_width: f64,
    pub goal_height: f64,
    pub border_size: f64,
    pub free_kick_distance: f64,
    pub ball_radius: f64,
    pub goal_pause_time: f64,
    pub half_time: f64,
    pub centre_circle_radius: f64,
    pub corner_area_radius: f64,
    pub goalie_area_length: f64,
    pub goalie_area_width: f64,
    pub penalty_spot_distance: f64,
    pub penalty_area_length: f64,
    pub penalty_area_width: f64,
}

/// The wire names of the fields of [`Environment`], in wire order.
const ENVIRONMENT: [(&str, Field); 18] = [
    ("FieldLength", |e| &mut e.field_length),
    ("FieldWidth", |e| &mut e.field_width),
    ("FieldHeight", |e| &mut e.field_height),
    ("GoalWidth", |e| &mut e.goal_depth),
    ("GoalDepth", |e| &mut e.goal_width),
    ("GoalHeight", |e| &mut e.goal_height),
    ("BorderSize", |e| &mut e.border_size),
    ("FreeKickDistance", |e| &mut e.free_kick_distance),
    ("BallRadius", |e| &mut e.ball_radius),
    ("RuleGoalPauseTime", |e| &mut e.goal_pause_time),
    ("RuleHalfTime", |e| &mut e.half_time),
    ("CenterCircleRadius", |e| &mut e.centre_circle_radius),
    // the league's spelling
    ("CorderAreaRadius", |e| &mut e.corner_area_radius),
    ("GoalieAreaLength", |e| &mut e.goalie_area_length),
    ("GoalieAreaWidth", |e| &mut e.goalie_area_width),
    ("PenaltySpotDistance", |e| &mut e.penalty_spot_distance),
    ("PenaltyAreaLength", |e| &mut e.penalty_area_length),
    ("PenaltyAreaWidth", |e| &mut e.penalty_area_width),
];
const PLAY_MODES_AFTER: &str = "RuleHalfTime";

type Field = fn(&mut Environment) -> &mut f64;

impl Message for MonitorUpdate {
    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        Self::from_list(sexp::parse(payload, MAX_UPDATE_DEPTH)?.lists().next().ok_or(malformed("RSMP"))?)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"((RSMP 1 0)((gt 1 0)");
        self.time.put_fixed(out);
        out.extend_from_slice(b")((sg 1 0)");
        let (root, full) = match &self.graph {
            Graph::Full { root, teams, environment } => {
                out.extend_from_slice(b"full");
                (root, Some((teams, environment)))
            }
            Graph::Diff { root } => {
                out.extend_from_slice(b"diff");
                (root, None)
            }
        };
        root.put(out);
        out.extend_from_slice(b")((gs 1 0)");
        self.game.put(out, full.map(|(teams, _)| teams));
        out.push(b')');
        if let Some((_, Some(environment))) = full {
            out.extend_from_slice(b"((ge 1 0)");
            environment.put(out);
            out.push(b')');
        }
        out.push(b')');
    }
}

impl MonitorUpdate {
    fn from_list(message: List<'_>) -> Result<Self, DecodeError> {
        message.find("RSMP")?;
        let time = section(message, "gt")?.items().nth(1).ok_or(malformed("gt"))?.float("gt")?;
        let game = section(message, "gs")?;
        Ok(Self {
            time: Hundredths::from_written(time),
            graph: Graph::decode(message, game)?,
            game: MonitorGame::decode(game)?,
        })
    }
}

/// The section with this name, which is the first word of its first list.
fn section<'a>(message: List<'a>, name: &'static str) -> Result<List<'a>, DecodeError> {
    find_section(message, name).ok_or(malformed(name))
}

fn find_section<'a>(message: List<'a>, name: &str) -> Option<List<'a>> {
    let is_named = |part: &List<'_>| part.lists().next().and_then(List::head) == Some(name.as_bytes());
    message.lists().find(is_named)
}

impl Graph {
    fn decode(message: List<'_>, game: List<'_>) -> Result<Self, DecodeError> {
        let graph = section(message, "sg")?;
        let kind = graph.items().find_map(Item::atom);
        let root = Node::decode(graph.find("nd")?, &mut 0)?;
        match kind {
            Some(b"full") => Ok(Self::Full {
                root,
                teams: Teams {
                    left: decode_team(game, "team_left")?.filter(|team| team.as_str() != NO_TEAM[0]),
                    right: decode_team(game, "team_right")?.filter(|team| team.as_str() != NO_TEAM[1]),
                },
                environment: find_section(message, "ge").map(Environment::decode).transpose()?.map(Box::new),
            }),
            Some(b"diff") => Ok(Self::Diff { root }),
            _ => Err(malformed("sg")),
        }
    }
}

fn decode_team(game: List<'_>, key: &'static str) -> Result<Option<Name>, DecodeError> {
    game.find_any(key).map(|team| team.value(key)?.name(key)).transpose()
}

impl MonitorGame {
    fn put(&self, out: &mut Vec<u8>, teams: Option<&Teams>) {
        out.extend_from_slice(b"(time ");
        self.time.put_shortest(out);
        let numbers: [(&[u8], u16); 4] = [
            (b")(half ", self.half.into()),
            (b")(score_left ", self.score_left),
            (b")(score_right ", self.score_right),
            (b")(play_mode ", self.play_mode.index().into()),
        ];
        for (key, number) in numbers {
            out.extend_from_slice(key);
            put_int(out, number);
        }
        if let Some(Teams { left, right }) = teams {
            let [no_left, no_right] = NO_TEAM;
            out.extend_from_slice(b")(team_left ");
            out.extend_from_slice(left.as_ref().map_or(no_left, Name::as_str).as_bytes());
            out.extend_from_slice(b")(team_right ");
            out.extend_from_slice(right.as_ref().map_or(no_right, Name::as_str).as_bytes());
        }
        for Foul { kind, side, number } in &self.fouls {
            out.extend_from_slice(b")(foul ");
            put_int(out, kind.index());
            out.extend_from_slice(if *side == Side::Left { b" 1 " } else { b" 2 " });
            put_int(out, *number);
        }
        out.push(b')');
    }

    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let [time] = list.find("time")?.floats("time")?;
        let play_mode = list.find("play_mode")?.value("play_mode")?.int("play_mode")?;
        let fouls = list.lists().filter(|foul| foul.head() == Some(b"foul"));
        Ok(Self {
            time: Thousandths::from_written(time),
            half: list.find("half")?.value("half")?.int("half")?,
            score_left: list.find("score_left")?.value("score_left")?.int("score_left")?,
            score_right: list.find("score_right")?.value("score_right")?.int("score_right")?,
            play_mode: PlayMode::from_index(play_mode).ok_or(malformed("play_mode"))?,
            fouls: fouls.map(Foul::decode).collect::<Result<_, _>>()?,
        })
    }
}

impl Foul {
    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let [kind, side, number] = list.values().ok_or(malformed("foul"))?;
        let side = match side.int("foul")? {
            1 => Side::Left,
            2 => Side::Right,
            _ => return Err(malformed("foul")),
        };
        let kind = FoulKind::from_index(kind.int("foul")?).ok_or(malformed("foul"))?;
        Ok(Self { kind, side, number: number.int("foul")? })
    }
}

impl Environment {
    fn put(&self, out: &mut Vec<u8>) {
        let mut environment = *self;
        for (key, field) in ENVIRONMENT {
            out.push(b'(');
            out.extend_from_slice(key.as_bytes());
            out.push(b' ');
            put_short_float(out, *field(&mut environment));
            out.push(b')');
            if key == PLAY_MODES_AFTER {
                out.extend_from_slice(b"(play_modes");
                for mode in PlayMode::ALL {
                    out.push(b' ');
                    out.extend_from_slice(mode.name().as_bytes());
                }
                out.push(b')');
            }
        }
    }

    /// Missing numbers are 0. The list of play modes is ignored.
    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let mut environment = Self::default();
        for (key, field) in ENVIRONMENT {
            if let Some(number) = list.find_any(key) {
                let [number] = number.floats(key)?;
                *field(&mut environment) = number;
            }
        }
        Ok(environment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soccer::{Mesh, NodeKind, Surface, Transform};
    use proptest::prelude::*;

    fn check(payload: &str) -> MonitorUpdate {
        let update = MonitorUpdate::decode(payload.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(update.to_bytes()).unwrap(), payload);
        update
    }

    #[test]
    fn acknowledgements() {
        let message = MonitorMessage::Acknowledged(7);
        assert_eq!(message.to_bytes(), b"(ack 7)");
        assert_eq!(MonitorMessage::decode(b"(ack 7)"), Ok(message));
        assert!(MonitorMessage::decode(b"(ack)").is_err());
        assert!(MonitorMessage::decode(b"(kickOff)").is_err());
    }

    #[test]
    fn changes() {
        let update = check(
            "((RSMP 1 0)((gt 1 0)33.70)((sg 1 0)diff(nd(nd(nd))(nd TRF(SLT 1.0000 0.0000 -0.0000 0.0000 0.0000 1.0000 \
             0.0000 0.0000 0.0000 0.0000 1.0000 0.0000 -3.5000 1.2500 0.6720 1.0000)(nd))))((gs 1 0)(time 3.1)(half 2)\
             (score_left 0)(score_right 12)(play_mode 22)(foul 10 1 3)(foul 4 2 11)))",
        );
        assert_eq!(update.game.play_mode, PlayMode::PenaltyShootRight);
        assert_eq!(
            update.game.fouls,
            [
                Foul { kind: FoulKind::Hand, side: Side::Left, number: 3 },
                Foul { kind: FoulKind::Incapable, side: Side::Right, number: 11 },
            ]
        );
        let Graph::Diff { root } = update.graph else { panic!("changes") };
        assert!(matches!(
            root.children.as_slice(),
            [Node { kind: NodeKind::Same, .. }, Node { kind: NodeKind::Transform(_), .. }]
        ));
    }

    #[test]
    fn full_scenes() {
        let update = check(
            "((RSMP 1 0)((gt 1 0)0.02)((sg 1 0)full(nd DSC(ball)(nd SMN (setVisible 1)(load StdUnitSphere)(sMat ball)\
             (sSc 0.11 0.11 0.11)))(nd DSC(agent TeamA 2)(nd SMN (setVisible 0)(load models/T1/H1.STL)(rgba 1.0 1.0 1.0 \
             0.20000000298023224))))((gs 1 0)(time 0.0)(half 1)(score_left 0)(score_right 0)(play_mode 0)\
             (team_left TeamA)(team_right <RIGHT>)))"
                .replacen("full(nd", "full(nd(nd", 1)
                .replacen(")))((gs", "))))((gs", 1)
                .as_str(),
        );
        let Graph::Full { root, teams, environment: None } = update.graph else { panic!("a whole scene") };
        assert_eq!((teams.left.unwrap().as_str(), teams.right), ("TeamA", None));
        assert_eq!(root.children.len(), 2);
        assert_eq!(
            root.children.last().unwrap().kind,
            NodeKind::Agent { team: Name::new("TeamA").unwrap(), number: 2 }
        );
    }

    #[test]
    fn names_of_goal_width_and_depth_are_swapped() {
        let environment =
            Environment { goal_depth: 1.0, goal_width: 3.66, corner_area_radius: 1.0, ..Default::default() };
        let mut out = Vec::new();
        environment.put(&mut out);
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("(GoalWidth 1)(GoalDepth 3.66)"), "{text}");
        assert!(text.contains("(CorderAreaRadius 1)"), "{text}");
    }

    #[test]
    fn errors_name_the_field() {
        fn check(payload: &str, field: &'static str) {
            assert_eq!(MonitorUpdate::decode(payload.as_bytes()), Err(malformed(field)), "{payload}");
        }
        let game = "((gs 1 0)(time 3.1)(half 2)(score_left 0)(score_right 0)(play_mode 23))";
        check("", "RSMP");
        check("((RSMP 1 0))", "gt");
        check("((RSMP 1 0)((gt 1 0)1.00))", "gs");
        check(&format!("((RSMP 1 0)((gt 1 0)1.00)((sg 1 0)(nd)){game})"), "sg");
        check(&format!("((RSMP 1 0)((gt 1 0)1.00)((sg 1 0)diff){game})"), "nd");
        check(&format!("((RSMP 1 0)((gt 1 0)1.00)((sg 1 0)diff(nd XYZ)){game})"), "node");
        check(&format!("((RSMP 1 0)((gt 1 0)1.00)((sg 1 0)diff(nd TRF(SLT 1))){game})"), "SLT");
        check(&format!("((RSMP 1 0)((gt 1 0)1.00)((sg 1 0)diff(nd)){game})"), "play_mode");
    }

    #[test]
    fn the_number_of_nodes_is_limited() {
        let update = |nodes: usize| {
            let game = "((gs 1 0)(time 0.0)(half 1)(score_left 0)(score_right 0)(play_mode 0))";
            format!("((RSMP 1 0)((gt 1 0)1.00)((sg 1 0)diff(nd{})){game})", "(nd)".repeat(nodes - 1))
        };
        assert!(MonitorUpdate::decode(update(65_536).as_bytes()).is_ok());
        let too_many = DecodeError::OutOfRange { field: "nodes", value: 65_537, min: 0, max: 65_536 };
        assert_eq!(MonitorUpdate::decode(update(65_537).as_bytes()), Err(too_many));
    }

    fn any_name() -> impl Strategy<Value = Name> {
        "[a-zA-Z0-9_/.]{1,8}".prop_map(|text| Name::new(&text).unwrap())
    }

    fn any_kind() -> impl Strategy<Value = NodeKind> {
        let surface = prop_oneof![
            any_name().prop_map(Surface::Material),
            [0.0..1.0, 0.0..1.0, 0.0..1.0, 0.0..1.0].prop_map(Surface::Rgba)
        ];
        let mesh = (any::<bool>(), any_name(), surface, proptest::option::of([-9.0..9.0, -9.0..9.0, -1e9..1e9]));
        prop_oneof![
            Just(NodeKind::Same),
            Just(NodeKind::Ball),
            proptest::array::uniform16(-100.0..100.0)
                .prop_map(|columns| NodeKind::Transform(Transform::rounded(columns))),
            (any_name(), any::<u8>()).prop_map(|(team, number)| NodeKind::Agent { team, number }),
            mesh.prop_map(|(is_visible, shape, surface, scale)| NodeKind::Mesh(Mesh {
                is_visible,
                shape,
                surface,
                scale
            })),
        ]
    }

    fn any_node() -> impl Strategy<Value = Node> {
        any_kind().prop_map(Node::leaf).prop_recursive(6, 30, 4, |inner| {
            (any_kind(), proptest::collection::vec(inner, 0..4)).prop_map(|(kind, children)| Node { kind, children })
        })
    }

    fn any_graph() -> impl Strategy<Value = Graph> {
        let teams = (proptest::option::of(any_name()), proptest::option::of(any_name()));
        let environment = proptest::option::of((0.0..200.0, 0.0..10.0).prop_map(|(field_length, goal_width)| {
            Box::new(Environment { field_length, goal_width, ..Default::default() })
        }));
        prop_oneof![
            any_node().prop_map(|root| Graph::Diff { root }),
            (any_node(), teams, environment).prop_map(|(root, (left, right), environment)| Graph::Full {
                root,
                teams: Teams { left, right },
                environment,
            }),
        ]
    }

    prop_compose! {
        fn any_update()(
            (time, played) in (0.0..1e5, 0.0..1e5),
            graph in any_graph(),
            (half, score_left, score_right) in (1..3_u8, any::<u16>(), any::<u16>()),
            play_mode in proptest::sample::select(PlayMode::ALL.to_vec()),
            fouls in proptest::collection::vec((0..11_u8, any::<bool>(), any::<u8>()), 0..3),
        ) -> MonitorUpdate {
            let foul = |(kind, is_left, number)| Foul {
                kind: FoulKind::from_index(kind).unwrap(),
                side: if is_left { Side::Left } else { Side::Right },
                number,
            };
            let fouls = fouls.into_iter().map(foul).collect();
            let game = MonitorGame { time: Thousandths::truncated(played), half, score_left, score_right, play_mode, fouls };
            MonitorUpdate { time: Hundredths::rounded(time), graph, game }
        }
    }

    proptest! {
        #[test]
        fn updates_round_trip(update in any_update()) {
            prop_assert_eq!(MonitorUpdate::decode(&update.to_bytes()), Ok(update));
        }

        #[test]
        fn any_bytes_decode_or_err(
            update in any_update(),
            cut in any::<prop::sample::Index>(),
            noise in proptest::collection::vec(any::<u8>(), 0..4),
        ) {
            let mut bytes = update.to_bytes();
            let at = cut.index(bytes.len());
            bytes.splice(at..bytes.len().min(at + noise.len()), noise);
            if let Ok(update) = MonitorUpdate::decode(&bytes) {
                prop_assert_eq!(MonitorUpdate::decode(&update.to_bytes()), Ok(update));
            }
        }
    }
}
