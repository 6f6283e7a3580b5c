//! Perceptions, the messages to agents.

use super::number::put_int;
use super::sexp::{self, List};
use super::{Decimal, Hundredths, MAX_DEPTH, Name, PlayMode, See, Thousandths, base64, malformed};
use crate::{DecodeError, Message};

/// Prefix of joint names on the league's server; the page has none.
const JOINT_PREFIX: &str = "q_";
/// More than the rounding error of a sum of time steps after days, and less than a time step; in s.
const TIME_ERROR: f64 = 1e-4;

/// The encoding of perceptions where the league's server and its page differ (D7).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// As the league's server does it and the league's agents expect it.
    #[default]
    Reference,
    /// As documented on the page.
    Document,
}

impl Dialect {
    /// The time as encoded in a perception: truncated to two digits by the server, to three on the page. The server
    /// truncates a sum of time steps with its rounding error, the page the time itself (D9).
    pub fn time(self, seconds: f64) -> Thousandths {
        match self {
            Self::Reference => Hundredths::truncated(seconds).widened(),
            Self::Document => Thousandths::truncated(seconds + TIME_ERROR),
        }
    }

    /// Separator between lists: a space on the page, nothing on the server.
    pub(super) fn gaps(self) -> Gaps {
        Gaps { dialect: self, is_first: true }
    }
}

/// Writes the separator before every list except the first.
pub(super) struct Gaps {
    dialect: Dialect,
    is_first: bool,
}

impl Gaps {
    pub(super) fn put(&mut self, out: &mut Vec<u8>) {
        if !self.is_first && self.dialect == Dialect::Document {
            out.push(b' ');
        }
        self.is_first = false;
    }
}

/// Everything an agent receives in one cycle, in wire order.
#[derive(Debug, Clone, PartialEq)]
pub struct Perception {
    /// The encoding. [`decode`](Message::decode) assumes [`Dialect::Reference`].
    pub dialect: Dialect,
    /// The world's time, in s; see [`Dialect::time`].
    pub time: Thousandths,
    /// The state of the game.
    pub game: GameState,
    /// World orientations of robot parts: `torso_quat`.
    pub orientations: Vec<Orientation>,
    /// World positions of robot parts: `torso_pos`.
    pub positions: Vec<Position>,
    /// Gyroscopes: `torso_gyro`.
    pub gyros: Vec<Gyro>,
    /// Accelerometers: `torso_acc`.
    pub accelerometers: Vec<Accelerometer>,
    /// Bumpers, in the order of the model (D11).
    pub touches: Vec<Touch>,
    /// Joints, in the order of the model.
    pub joints: Vec<Joint>,
    /// Speech heard in this cycle; empty if something was heard but not understood (D12).
    pub heard: Option<Vec<HeardSpeech>>,
    /// Detections of the camera, every second cycle.
    pub see: Option<See>,
}

/// The state of the game as sent to agents.
#[derive(Debug, Clone, PartialEq)]
pub struct GameState {
    /// Time played, in s.
    pub time: Thousandths,
    /// The play mode.
    pub play_mode: PlayMode,
    /// The left team's name, once it has one.
    pub team_left: Option<Name>,
    /// The right team's name, once it has one.
    pub team_right: Option<Name>,
    /// Goals of the left team.
    pub score_left: u16,
    /// Goals of the right team.
    pub score_right: u16,
}

/// A named sensor of the robot's model with its measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensor<const VALUES: usize, const DIGITS: usize> {
    /// The sensor's name.
    pub name: Name,
    /// The measured values.
    pub values: [Decimal<DIGITS>; VALUES],
}

/// A quaternion: w, x, y, z.
pub type Orientation = Sensor<4, 3>;
/// x, y, z in m.
pub type Position = Sensor<3, 3>;
/// Rates about x, y, z in deg/s, in the sensor's frame.
pub type Gyro = Sensor<3, 2>;
/// Accelerations along x, y, z in m/s², in the sensor's frame; at rest, 9.81 upwards.
pub type Accelerometer = Sensor<3, 2>;

/// The state of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// The joint's own name, such as `hj1`. On the wire it is `q_hj1` in [`Dialect::Reference`].
    pub name: Name,
    /// Angle, in deg.
    pub angle_deg: Hundredths,
    /// Its velocity, in deg/s.
    pub velocity_deg: Hundredths,
}

/// The state of a bumper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// The sensor's name.
    pub name: Name,
    /// Whether it is in contact.
    pub is_active: bool,
}

/// Speech of another agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeardSpeech {
    /// Direction of the speaker, counter-clockwise from straight ahead, in deg.
    pub azimuth_deg: i16,
    /// Any bytes; not empty.
    pub text: Vec<u8>,
}

impl Message for Perception {
    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        Self::decode_in(Dialect::Reference, payload)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let dialect = self.dialect;
        let mut gap = dialect.gaps();
        gap.put(out);
        out.extend_from_slice(b"(time (now ");
        match dialect {
            Dialect::Reference => self.time.narrowed::<2>().put_shortest(out),
            Dialect::Document => self.time.put_shortest(out),
        }
        out.extend_from_slice(b"))");
        gap.put(out);
        self.game.put(out, dialect);
        put_sensors(out, &mut gap, "quat", "q", &self.orientations);
        let position = match dialect {
            Dialect::Reference => "p",
            Dialect::Document => "pos",
        };
        put_sensors(out, &mut gap, "pos", position, &self.positions);
        put_sensors(out, &mut gap, "GYR", "rt", &self.gyros);
        put_sensors(out, &mut gap, "ACC", "a", &self.accelerometers);
        for Touch { name, is_active } in &self.touches {
            gap.put(out);
            out.extend_from_slice(b"(TCH n ");
            name.put(out);
            out.extend_from_slice(if *is_active { b" val 1)" } else { b" val 0)" });
        }
        for joint in &self.joints {
            gap.put(out);
            joint.put(out, dialect);
        }
        if let Some(heard) = &self.heard {
            gap.put(out);
            put_heard(out, dialect, heard);
        }
        if let Some(see) = &self.see {
            gap.put(out);
            see.put(out, dialect);
        }
    }
}

impl Perception {
    /// A perception with time and game state, without any sensor readings.
    pub fn new(dialect: Dialect, time: Thousandths, game: GameState) -> Self {
        Self {
            dialect,
            time,
            game,
            orientations: Vec::new(),
            positions: Vec::new(),
            gyros: Vec::new(),
            accelerometers: Vec::new(),
            touches: Vec::new(),
            joints: Vec::new(),
            heard: None,
            see: None,
        }
    }

    /// Decodes a perception of `dialect`. Unknown perceptors are ignored.
    ///
    /// # Errors
    ///
    /// [`DecodeError::Malformed`] names the perceptor that is invalid or missing. Time and game state are required.
    pub fn decode_in(dialect: Dialect, payload: &[u8]) -> Result<Self, DecodeError> {
        let lists = sexp::parse(payload, MAX_DEPTH)?;
        let now = lists.find("time")?.find("now")?;
        let [seconds] = now.floats("time")?;
        let game = GameState::decode(lists.find("GS")?)?;
        let mut perception = Self::new(dialect, Thousandths::from_written(seconds), game);
        if dialect == Dialect::Reference {
            // the dialect cannot encode a third digit
            perception.time = perception.time.narrowed::<2>().widened();
        }
        for list in lists.lists() {
            match list.head() {
                Some(b"quat") => perception.orientations.push(Sensor::decode(list, "q")?),
                Some(b"pos") => perception.positions.push(Sensor::decode_either(list, "p", "pos")?),
                Some(b"GYR") => perception.gyros.push(Sensor::decode(list, "rt")?),
                Some(b"ACC") => perception.accelerometers.push(Sensor::decode(list, "a")?),
                Some(b"HJ") => perception.joints.push(Joint::decode(list, dialect)?),
                Some(b"TCH") => perception.touches.push(Touch::decode(list)?),
                Some(b"MIC") => perception.heard = Some(decode_heard(list)?),
                Some(b"See") => perception.see = Some(See::decode(list, dialect)?),
                _ => {}
            }
        }
        Ok(perception)
    }
}

impl GameState {
    fn put(&self, out: &mut Vec<u8>, dialect: Dialect) {
        let mut gap = dialect.gaps();
        gap.put(out);
        out.extend_from_slice(b"(GS (t ");
        self.time.put_shortest(out);
        out.push(b')');
        gap.put(out);
        out.extend_from_slice(b"(pm ");
        out.extend_from_slice(self.play_mode.name().as_bytes());
        out.push(b')');
        for (key, team) in [(b"(tl ", &self.team_left), (b"(tr ", &self.team_right)] {
            if let Some(team) = team {
                gap.put(out);
                out.extend_from_slice(key);
                team.put(out);
                out.push(b')');
            }
        }
        for (key, score) in [(b"(sl ", self.score_left), (b"(sr ", self.score_right)] {
            gap.put(out);
            out.extend_from_slice(key);
            put_int(out, score);
            out.push(b')');
        }
        out.push(b')');
    }

    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let [time] = list.find("t")?.floats("t")?;
        let play_mode = list.find("pm")?.value("pm")?.text().and_then(PlayMode::from_name);
        let team = |key, field| list.find_any(key).map(|team| team.value(field)?.name(field)).transpose();
        Ok(Self {
            time: Thousandths::from_written(time),
            play_mode: play_mode.ok_or(malformed("pm"))?,
            team_left: team("tl", "tl")?,
            team_right: team("tr", "tr")?,
            score_left: list.find("sl")?.value("sl")?.int("sl")?,
            score_right: list.find("sr")?.value("sr")?.int("sr")?,
        })
    }
}

fn put_sensors<const VALUES: usize, const DIGITS: usize>(
    out: &mut Vec<u8>,
    gap: &mut Gaps,
    kind: &str,
    key: &str,
    sensors: &[Sensor<VALUES, DIGITS>],
) {
    for Sensor { name, values } in sensors {
        gap.put(out);
        out.push(b'(');
        out.extend_from_slice(kind.as_bytes());
        out.extend_from_slice(b" (n ");
        name.put(out);
        out.extend_from_slice(b") (");
        out.extend_from_slice(key.as_bytes());
        for value in values {
            out.push(b' ');
            value.put_shortest(out);
        }
        out.extend_from_slice(b"))");
    }
}

impl<const VALUES: usize, const DIGITS: usize> Sensor<VALUES, DIGITS> {
    fn decode(list: List<'_>, key: &'static str) -> Result<Self, DecodeError> {
        Self::decode_either(list, key, key)
    }

    fn decode_either(list: List<'_>, key: &'static str, other: &'static str) -> Result<Self, DecodeError> {
        let values = list.find_any(key).or(list.find_any(other)).ok_or(malformed(key))?;
        Ok(Self {
            name: list.find("n")?.value("n")?.name("n")?,
            values: values.floats(key)?.map(Decimal::from_written),
        })
    }
}

impl Joint {
    fn put(&self, out: &mut Vec<u8>, dialect: Dialect) {
        let mut gap = dialect.gaps();
        gap.put(out);
        out.extend_from_slice(b"(HJ (n ");
        if dialect == Dialect::Reference {
            out.extend_from_slice(JOINT_PREFIX.as_bytes());
        }
        self.name.put(out);
        out.push(b')');
        for (key, value) in [(b"(ax ", self.angle_deg), (b"(vx ", self.velocity_deg)] {
            gap.put(out);
            out.extend_from_slice(key);
            value.put_shortest(out);
            out.push(b')');
        }
        out.push(b')');
    }

    fn decode(list: List<'_>, dialect: Dialect) -> Result<Self, DecodeError> {
        let name = list.find("n")?.value("n")?.text().ok_or(malformed("n"))?;
        let bare = match dialect {
            Dialect::Reference => name.strip_prefix(JOINT_PREFIX).unwrap_or(name),
            Dialect::Document => name,
        };
        let [angle] = list.find("ax")?.floats("ax")?;
        let [velocity] = list.find("vx")?.floats("vx")?;
        Ok(Self {
            name: Name::new(bare).map_err(|_| malformed("n"))?,
            angle_deg: Hundredths::from_written(angle),
            velocity_deg: Hundredths::from_written(velocity),
        })
    }
}

impl Touch {
    fn decode(list: List<'_>) -> Result<Self, DecodeError> {
        let [_, name, _, value] = list.values().ok_or(malformed("TCH"))?;
        Ok(Self { name: name.name("TCH")?, is_active: value.int::<i64>("TCH")? != 0 })
    }
}

fn put_heard(out: &mut Vec<u8>, dialect: Dialect, heard: &[HeardSpeech]) {
    out.extend_from_slice(b"(MIC hear ");
    let mut gap = dialect.gaps();
    for HeardSpeech { azimuth_deg, text } in heard {
        gap.put(out);
        out.push(b'(');
        put_int(out, *azimuth_deg);
        out.push(b' ');
        base64::put(out, text);
        out.push(b')');
    }
    out.push(b')');
}

fn decode_heard(list: List<'_>) -> Result<Vec<HeardSpeech>, DecodeError> {
    let decode = |heard: List<'_>| {
        let [azimuth, text] = heard.exactly().ok_or(malformed("MIC"))?;
        let text = text.atom().and_then(base64::decode).ok_or(malformed("MIC"))?;
        Ok(HeardSpeech { azimuth_deg: azimuth.int("MIC")?, text })
    };
    list.lists().map(decode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soccer::{Landmark, Marker, Polar, SeenPlayer};
    use proptest::prelude::*;

    const GAME: &str = "(GS (t 0.0)(pm BeforeKickOff)(sl 0)(sr 0))";

    /// Decodes a payload and checks that it encodes to the same bytes.
    fn check(dialect: Dialect, payload: &str) -> Perception {
        let perception = Perception::decode_in(dialect, payload.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(perception.to_bytes()).unwrap(), payload);
        perception
    }

    #[test]
    fn both_dialects_of_one_perception() {
        let reference = "(time (now 1.28))(GS (t 231.52)(pm PlayOn)(tl teamBlue)(tr teamRed)(sl 2)(sr 1))\
            (quat (n torso_quat) (q 1.0 -0.0 0.707 0.0))(pos (n torso_pos) (p -0.122 24.575 0.762))\
            (GYR (n torso_gyro) (rt -6.97 -3.31 25.16))(ACC (n torso_acc) (a 0.13 0.41 -9.75))\
            (TCH n bumper val 1)(HJ (n q_hj1)(ax 1.43)(vx 0.03))(HJ (n q_hj2)(ax 16.92)(vx 1.44))\
            (MIC hear (1 aGVsbG8=)(-170 eA==))\
            (See (l_ruf (pol 18.52 18.94 1.54))(x_cuc (pol 5.0 0.0 -1.0))(B (pol 8.51 -0.21 -0.17))\
            (P (team teamRed)(id 1)(head (pol 16.98 -0.21 3.19))(rfoot (pol 17.0 0.29 1.68)))(P (team teamRed)(id 7)))";
        let document = "(time (now 1.28)) (GS (t 231.52) (pm PlayOn) (tl teamBlue) (tr teamRed) (sl 2) (sr 1)) \
            (quat (n torso_quat) (q 1.0 -0.0 0.707 0.0)) (pos (n torso_pos) (pos -0.122 24.575 0.762)) \
            (GYR (n torso_gyro) (rt -6.97 -3.31 25.16)) (ACC (n torso_acc) (a 0.13 0.41 -9.75)) \
            (TCH n bumper val 1) (HJ (n hj1) (ax 1.43) (vx 0.03)) (HJ (n hj2) (ax 16.92) (vx 1.44)) \
            (MIC hear (1 aGVsbG8=) (-170 eA==)) \
            (See (F1R (pol 18.94 1.54 18.52)) (x_cuc (pol 0.0 -1.0 5.0)) (B (pol -0.21 -0.17 8.51)) \
            (P (team teamRed) (id 1) (head (pol -0.21 3.19 16.98)) (rfoot (pol 0.29 1.68 17.0))) (P (team teamRed) (id 7)))";
        let mut perception = check(Dialect::Reference, reference);
        perception.dialect = Dialect::Document;
        assert_eq!(check(Dialect::Document, document), perception);
    }

    #[test]
    fn the_page_has_one_more_digit() {
        assert_eq!(
            check(Dialect::Document, &format!("(time (now 1.234)) {}", GAME.replace(")(", ") ("))).time.get(),
            1.234
        );
        let reference = Perception::decode(format!("(time (now 1.239)){GAME}").as_bytes()).unwrap();
        assert_eq!(reference.time.get(), 1.23);
    }

    #[test]
    fn times_of_a_day_in_both_dialects() {
        // as the physics counts: steps of 5 ms, four a cycle
        let (mut seconds, mut behind) = (0.0, 0);
        for cycle in 1..=24 * 60 * 60 * 50_u32 {
            for _ in 0..4 {
                seconds += 0.005;
            }
            let time = f64::from(cycle * 2) / 100.0;
            assert_eq!(Dialect::Document.time(seconds).get(), time, "{seconds}");
            let reference = Dialect::Reference.time(seconds).get();
            assert!((time - reference).abs() < 0.0101, "{reference} for {seconds}");
            behind += u32::from(reference < time);
        }
        assert!(behind > 0, "the server's error is kept");
        for (seconds, reference, page) in [(0.0, 0.0, 0.0), (1.234_5, 1.23, 1.234), (33.679_999_99, 33.67, 33.68)] {
            assert_eq!(Dialect::Reference.time(seconds).get(), reference);
            assert_eq!(Dialect::Document.time(seconds).get(), page);
        }
    }

    #[test]
    fn optional_perceptors() {
        let perception = check(Dialect::Reference, &format!("(time (now 0.0)){GAME}"));
        assert_eq!((perception.heard, perception.see), (None, None));
        let perception = check(Dialect::Reference, &format!("(time (now 0.0)){GAME}(MIC hear )(See )"));
        assert_eq!((perception.heard, perception.see), (Some(vec![]), Some(See::default())));
    }

    #[test]
    fn unknown_perceptors_are_ignored() {
        let payload = format!("noise(time (now 0.0)){GAME}(new (x 1))(See (l_new (pol 1 2 3))(B (pol 1 2 3)))");
        let see = Perception::decode(payload.as_bytes()).unwrap().see.unwrap();
        assert_eq!(see.landmarks, []);
        assert!(see.ball.is_some());
    }

    #[test]
    fn errors_name_the_perceptor() {
        fn check(payload: &str, field: &'static str) {
            assert_eq!(Perception::decode(payload.as_bytes()), Err(malformed(field)), "{payload}");
        }
        let with = |rest: &str| format!("(time (now 0.0)){GAME}{rest}");
        check("", "time");
        check("(time (now 0.0))", "GS");
        check("(time (now x))", "time");
        check("(time (now 0.0))(GS (t 0.0)(pm playon)(sl 0)(sr 0))", "pm");
        check(&with("(quat (n a) (q 1 0 0))"), "q");
        check(&with("(pos (p 1 0 0))"), "n");
        check(&with("(GYR (n a) (rt nan 0 0))"), "rt");
        check(&with("(HJ (n q_)(ax 0)(vx 0))"), "n");
        check(&with("(TCH n a val)"), "TCH");
        check(&with("(MIC hear (x eA==))"), "MIC");
        check(&with("(See (B))"), "pol");
        check(&with("(See ())"), "seen object");
        check(&with("(See (P (id 1)))"), "team");
        check(&with("(See"), "closing parenthesis");
    }

    fn any_name() -> impl Strategy<Value = Name> {
        "[a-z][a-z0-9_]{0,8}".prop_map(|text| Name::new(&text).unwrap())
    }

    fn any_decimal<const DIGITS: usize>() -> impl Strategy<Value = Decimal<DIGITS>> {
        prop_oneof![(-200.0..200.0), any::<f64>()].prop_map(Decimal::truncated)
    }

    fn any_sensors<const VALUES: usize, const DIGITS: usize>() -> impl Strategy<Value = Vec<Sensor<VALUES, DIGITS>>> {
        let values = proptest::array::uniform(any_decimal());
        let sensor = (any_name(), values).prop_map(|(name, values)| Sensor { name, values });
        proptest::collection::vec(sensor, 0..3)
    }

    fn any_polar() -> impl Strategy<Value = Polar> {
        (any_decimal(), any_decimal(), any_decimal()).prop_map(|(distance, azimuth_deg, elevation_deg)| Polar {
            distance,
            azimuth_deg,
            elevation_deg,
        })
    }

    fn any_see() -> impl Strategy<Value = See> {
        let landmark = (proptest::sample::select(Landmark::ALL.to_vec()), any_polar());
        let marker = (any_name(), any_polar()).prop_map(|(name, polar)| Marker { name, polar });
        let player = (any_name(), any::<u8>(), proptest::collection::vec(marker, 0..4))
            .prop_map(|(team, number, markers)| SeenPlayer { team, number, markers });
        (
            proptest::collection::vec(landmark, 0..5),
            proptest::option::of(any_polar()),
            proptest::collection::vec(player, 0..3),
        )
            .prop_map(|(landmarks, ball, players)| See { landmarks, ball, players })
    }

    fn any_game() -> impl Strategy<Value = GameState> {
        let teams = (proptest::option::of(any_name()), proptest::option::of(any_name()));
        (any_decimal(), proptest::sample::select(PlayMode::ALL.to_vec()), teams, any::<u16>(), any::<u16>()).prop_map(
            |(time, play_mode, (team_left, team_right), score_left, score_right)| GameState {
                time,
                play_mode,
                team_left,
                team_right,
                score_left,
                score_right,
            },
        )
    }

    prop_compose! {
        fn any_perception()(
            dialect in proptest::sample::select(vec![Dialect::Reference, Dialect::Document]),
            seconds in 0.0..1e6,
            game in any_game(),
            (orientations, positions) in (any_sensors(), any_sensors()),
            (gyros, accelerometers) in (any_sensors(), any_sensors()),
            joints in proptest::collection::vec((any_name(), any_decimal(), any_decimal()), 0..4),
            touches in proptest::collection::vec((any_name(), any::<bool>()), 0..3),
            heard in proptest::option::of(
                proptest::collection::vec((any::<i16>(), proptest::collection::vec(any::<u8>(), 1..12)), 0..3)
            ),
            see in proptest::option::of(any_see()),
        ) -> Perception {
            let joint = |(name, angle_deg, velocity_deg)| Joint { name, angle_deg, velocity_deg };
            let touch = |(name, is_active)| Touch { name, is_active };
            let hear = |(azimuth_deg, text)| HeardSpeech { azimuth_deg, text };
            Perception {
                dialect,
                time: dialect.time(seconds),
                game,
                orientations,
                positions,
                gyros,
                accelerometers,
                joints: joints.into_iter().map(joint).collect(),
                touches: touches.into_iter().map(touch).collect(),
                heard: heard.map(|heard| heard.into_iter().map(hear).collect()),
                see,
            }
        }
    }

    proptest! {
        #[test]
        fn perceptions_round_trip(perception in any_perception()) {
            prop_assert_eq!(Perception::decode_in(perception.dialect, &perception.to_bytes()), Ok(perception));
        }

        #[test]
        fn any_bytes_decode_or_err(
            perception in any_perception(),
            cut in any::<prop::sample::Index>(),
            noise in proptest::collection::vec(any::<u8>(), 0..4),
        ) {
            // a valid message with one byte changed
            let mut bytes = perception.to_bytes();
            let at = cut.index(bytes.len());
            bytes.splice(at..bytes.len().min(at + noise.len()), noise);
            for dialect in [Dialect::Reference, Dialect::Document] {
                if let Ok(perception) = Perception::decode_in(dialect, &bytes) {
                    prop_assert_eq!(Perception::decode_in(dialect, &perception.to_bytes()), Ok(perception));
                }
            }
        }
    }
}
