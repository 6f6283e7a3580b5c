//! Messages from agents.

use super::number::{put_float, put_int};
use super::sexp::{self, List};
use super::{Fault, MAX_DEPTH, Name, base64, decode_lists, malformed, skip, stop};
use crate::{DecodeError, Message};

/// Maximum number of effectors decoded from one message (D5). A robot has some twenty motors.
pub const MAX_EFFECTORS: usize = 512;

/// Player numbers are below this.
const NUMBERS: u8 = 100;

/// One frame from an agent. It may be empty.
#[derive(Debug, Clone, Default)]
pub struct AgentMessage {
    /// The effectors, in order.
    pub effectors: Vec<Effector>,
    /// The error of the first list that failed to decode. Not encoded, and ignored by `==`.
    pub first_error: Option<DecodeError>,
}

impl PartialEq for AgentMessage {
    fn eq(&self, other: &Self) -> bool {
        self.effectors == other.effectors
    }
}

impl From<Vec<Effector>> for AgentMessage {
    fn from(effectors: Vec<Effector>) -> Self {
        Self { effectors, first_error: None }
    }
}

/// A command from an agent. Decoded numbers are finite; only finite numbers can be encoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Effector {
    /// Joins the game. The first effector of every agent.
    Init(Init),
    /// Moves the robot, where the play mode allows it.
    Beam(Beam),
    /// Drives a motor. Every list of six elements that starts with a word is one, whether the motor exists or not.
    Motor(Motor),
    /// Speaks through a loudspeaker.
    Speak(Speak),
    /// Speaks, in the page's syntax.
    Say(Name),
    /// Ends the agent's cycle.
    Sync,
}

/// Requests a robot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Init {
    /// The robot's model.
    pub model: Name,
    /// The team's name.
    pub team: Name,
    /// The player's number, 0 to 99.
    pub number: u8,
}

/// A position on the field, in the team's frame: the own half has negative x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    /// Along the field, in m.
    pub x: f64,
    /// Across the field, in m.
    pub y: f64,
    /// Heading, counter-clockwise from the direction of the opponent's goal.
    pub theta_deg: f64,
}

/// Drives one joint with the torque `kp (q - q_now) + kd (dq - dq_now) + tau`, until replaced.
#[derive(Debug, Clone, PartialEq)]
pub struct Motor {
    /// The motor's name in the robot's model.
    pub name: Name,
    /// Target angle, in deg.
    pub q_deg: f64,
    /// Target velocity, in deg/s.
    pub dq_deg: f64,
    /// Proportional gain, in Nm/rad.
    pub kp: f64,
    /// Derivative gain, in Nm·s/rad.
    pub kd: f64,
    /// Feed-forward torque, in Nm.
    pub tau: f64,
}

/// Speech for nearby players.
#[derive(Debug, Clone, PartialEq)]
pub struct Speak {
    /// The loudspeaker, `say` on all known robots.
    pub speaker: Name,
    /// Volume, 0 to 100.
    pub volume: f64,
    /// Any bytes; not empty, which the wire cannot express.
    pub text: Vec<u8>,
}

impl Message for AgentMessage {
    fn decode(payload: &[u8]) -> Result<Self, DecodeError> {
        let lists = sexp::parse(payload, MAX_DEPTH)?;
        let (effectors, mut first_error) = decode_lists(lists, MAX_EFFECTORS, "effectors", Effector::decode);
        // text outside lists is skipped, but it alone is not a message
        if effectors.is_empty() && first_error.is_none() && !payload.trim_ascii().is_empty() {
            first_error = Some(DecodeError::Malformed { field: "effector" });
        }
        Ok(Self { effectors, first_error })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.effectors.iter().for_each(|effector| effector.encode(out));
    }
}

impl Effector {
    /// Invalid lists are skipped or stop decoding as on the league's server (D4).
    fn decode(list: List<'_>) -> Result<Self, Fault> {
        let Some(head) = list.items().next() else { return Err(stop("effector")) };
        match head.atom() {
            Some(b"syn") => return Ok(Self::Sync),
            Some(b"SPK") => return Speak::decode(list).map(Self::Speak),
            Some(b"say") => {
                if let Some([_, message]) = list.exactly() {
                    return message.name("say").map(Self::Say).map_err(Fault::Skip);
                }
            }
            Some(b"init") => {
                if let Some([_, model, team, number]) = list.exactly() {
                    let number = number.atom().and_then(player_number).ok_or(skip("player number"))?;
                    let model = model.name("model").map_err(Fault::Skip)?;
                    let team = team.name("team").map_err(Fault::Skip)?;
                    return Ok(Self::Init(Init { model, team, number }));
                }
            }
            Some(b"beam") => {
                if let Some([_, x, y, theta]) = list.exactly() {
                    let float = |item: sexp::Item<'_>| item.float("beam").map_err(Fault::Stop);
                    return Ok(Self::Beam(Beam { x: float(x)?, y: float(y)?, theta_deg: float(theta)? }));
                }
            }
            _ => {}
        }
        Motor::decode(list).map(Self::Motor)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Init(Init { model, team, number }) => {
                out.extend(b"(init ");
                model.put(out);
                out.push(b' ');
                team.put(out);
                out.push(b' ');
                put_int(out, *number);
            }
            Self::Beam(Beam { x, y, theta_deg }) => {
                out.extend(b"(beam");
                put_floats(out, &[*x, *y, *theta_deg]);
            }
            Self::Motor(Motor { name, q_deg, dq_deg, kp, kd, tau }) => {
                out.push(b'(');
                name.put(out);
                put_floats(out, &[*q_deg, *dq_deg, *kp, *kd, *tau]);
            }
            Self::Speak(Speak { speaker, volume, text }) => {
                out.extend(b"(SPK ");
                speaker.put(out);
                put_floats(out, &[*volume]);
                out.push(b' ');
                base64::put(out, text);
            }
            Self::Say(message) => {
                out.extend(b"(say ");
                message.put(out);
            }
            Self::Sync => out.extend(b"(syn"),
        }
        out.push(b')');
    }
}

impl Motor {
    fn decode(list: List<'_>) -> Result<Self, Fault> {
        let [name, q, dq, kp, kd, tau] = list.exactly().ok_or(skip("effector"))?;
        let float = |item: sexp::Item<'_>| item.float("motor").map_err(Fault::Stop);
        Ok(Self {
            name: name.name("motor name").map_err(Fault::Stop)?,
            q_deg: float(q)?,
            dq_deg: float(dq)?,
            kp: float(kp)?,
            kd: float(kd)?,
            tau: float(tau)?,
        })
    }
}

impl Speak {
    fn decode(list: List<'_>) -> Result<Self, Fault> {
        let [speaker, volume, text] = list.values().ok_or(skip("speech"))?;
        let speaker = speaker.name("speaker").map_err(Fault::Stop)?;
        let volume = volume.float("volume").map_err(Fault::Stop)?.clamp(0.0, 100.0);
        let text = text.text().filter(|text| text.is_ascii()).ok_or(stop("speech"))?;
        let text = base64::decode(text.as_bytes()).ok_or(Fault::Skip(malformed("speech")))?;
        Ok(Self { speaker, volume, text })
    }
}

/// The last two digits of an integer of any length, without its sign.
fn player_number(atom: &[u8]) -> Option<u8> {
    let digits = atom.trim_ascii();
    let digits = digits.strip_prefix(b"-").or(digits.strip_prefix(b"+")).unwrap_or(digits);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u8, |number, digit| {
        // `number` is below 100, so this fits into 16 bits
        let next = u16::from(number) * 10 + u16::from(char::from(*digit).to_digit(10)? as u8);
        Some((next % u16::from(NUMBERS)) as u8)
    })
}

fn put_floats(out: &mut Vec<u8>, values: &[f64]) {
    for &value in values {
        out.push(b' ');
        put_float(out, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    fn motor(motor: &str) -> Effector {
        Effector::Motor(Motor { name: name(motor), q_deg: 1.0, dq_deg: 2.0, kp: 3.0, kd: 4.0, tau: 5.0 })
    }

    fn init(number: u8) -> Effector {
        Effector::Init(Init { model: name("T1"), team: name("A"), number })
    }

    fn speak(volume: f64) -> Effector {
        Effector::Speak(Speak { speaker: name("say"), volume, text: b"hello".to_vec() })
    }

    fn check(payload: impl AsRef<[u8]>, expected: &[Effector], first_error: Option<DecodeError>) {
        let payload = payload.as_ref();
        let shown = String::from_utf8_lossy(payload);
        let message = AgentMessage::decode(payload).unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(message.effectors, expected, "{shown}");
        assert_eq!(message.first_error, first_error, "{shown}");
    }

    fn check_whole(payload: &str, expected: &[Effector]) {
        check(payload, expected, None);
    }

    #[test]
    fn effectors_of_the_page() {
        check_whole(
            "(init T1 teamBlue 2)",
            &[Effector::Init(Init { model: name("T1"), team: name("teamBlue"), number: 2 })],
        );
        check_whole("(beam -29.5 16 -35.0)", &[Effector::Beam(Beam { x: -29.5, y: 16.0, theta_deg: -35.0 })]);
        check_whole(
            "(he1 12.42 0 0.9 0 0)",
            &[Effector::Motor(Motor { name: name("he1"), q_deg: 12.42, dq_deg: 0.0, kp: 0.9, kd: 0.0, tau: 0.0 })],
        );
        check_whole("(say HelloWorld)", &[Effector::Say(name("HelloWorld"))]);
    }

    #[test]
    fn effectors_of_agents() {
        check_whole("", &[]);
        check_whole("(syn)", &[Effector::Sync]);
        check_whole("(he1 1 2 3 4 5)(syn)", &[motor("he1"), Effector::Sync]);
        check_whole(" ( he1  1 2 3 4 5 ) x(he2 +1 2. 3e0 4\n 5.0)y ", &[motor("he1"), motor("he2")]);
        check_whole("(SPK say 100 aGVsbG8=)(say hello)", &[speak(100.0), Effector::Say(name("hello"))]);
        check_whole("(SPK say 101 aGVsbG8= more)(SPK say -5 aGVsbG8=)", &[speak(100.0), speak(0.0)]);
        // six elements are a motor, whatever the first word
        check_whole("(beam 1 2 3 4 5)(say 1 2 3 4 5)", &[motor("beam"), motor("say")]);
        check_whole("(\u{e9} 1 2 3 4 5)(syn 1 2 3 4 5)", &[motor("\u{e9}"), Effector::Sync]);
    }

    #[test]
    fn numbers_of_players() {
        for (text, number) in [("2", 2), ("-2", 2), ("+2", 2), ("102", 2), ("-0", 0), ("99999999999999999999999", 99)] {
            check_whole(&format!("(init T1 A {text})"), &[init(number)]);
        }
        for bad in ["2.5", "x", "--2", "-", "1_0", "(2)", "2 3"] {
            let message = AgentMessage::decode(format!("(init T1 A {bad})(syn)").as_bytes()).unwrap();
            assert_eq!(message.effectors, [Effector::Sync], "{bad}");
            assert!(message.first_error.is_some());
        }
    }

    #[test]
    fn text_alone_is_no_message() {
        for text in ["hello", ")", "\u{80}\u{81}", " x y "] {
            check(text, &[], Some(DecodeError::Malformed { field: "effector" }));
        }
        for blank in ["", "  \r\n"] {
            check_whole(blank, &[]);
        }
    }

    #[test]
    fn an_unknown_list_is_skipped() {
        let bad = [
            "(he1 1 2 3 4)",
            "(he1 1 2 3 4 5 6)",
            "(he1 1 2 3 4 )",
            "(he1 1 2 3 4 5 ())",
            "(()he1 1 2 3 4 5)",
            "((he1))",
            "(foo)",
            "(beam 1 2)",
            "(beam 1 2 3 4)",
            "(SPK say 50)",
            "(SPK say 50 )",
            "(SPK say 50 !!!)",
            "(SPK say 50 aGVsbG8)",
            "(SPK say 5 =)",
            "(say hello world)",
            "(init T1 A)",
            "(he1\t1 2 3 4 5)",
        ];
        for bad in bad {
            let message = AgentMessage::decode(format!("(a 1 2 3 4 5){bad}(b 1 2 3 4 5)").as_bytes()).unwrap();
            assert_eq!(message.effectors, [motor("a"), motor("b")], "{bad}");
            assert!(message.first_error.is_some(), "{bad}");
        }
    }

    #[test]
    fn an_invalid_number_stops_decoding() {
        let bad = [
            "()",
            "(he1 x 2 3 4 5)",
            "(he1 1 2 3 4 0x10)",
            "(he1 nan 2 3 4 5)",
            "(he1 1 2 3 4 inf)",
            "(he1 1 2 3 4 1e999)",
            "(he1 (1) 2 3 4 5)",
            "((he1) 1 2 3 4 5)",
            "(beam a 2 3)",
            "(beam nan 2 3)",
            "(SPK say x aGVsbG8=)",
            "(SPK say nan aGVsbG8=)",
            "(SPK (say) 5 aGk=)",
            "(SPK say 5 (aGk=))",
        ];
        for bad in bad {
            let message = AgentMessage::decode(format!("(a 1 2 3 4 5){bad}(b 1 2 3 4 5)").as_bytes()).unwrap();
            assert_eq!(message.effectors, [motor("a")], "{bad}");
            assert!(message.first_error.is_some(), "{bad}");
        }
        let first_error = Some(malformed("motor name"));
        check(b"(a 1 2 3 4 5)(\xFF 1 2 3 4 5)(b 1 2 3 4 5)", &[motor("a")], first_error);
    }

    #[test]
    fn parentheses() {
        check_whole("(a 1 2 3 4 5))(b 1 2 3 4 5)", &[motor("a")]);
        check(")(a 1 2 3 4 5)", &[], Some(malformed("effector")));
        assert_eq!(AgentMessage::decode(b"(a 1 2 3 4 5)(b 1 2"), Err(malformed("closing parenthesis")));
        assert!(AgentMessage::decode(&b"(".repeat(1_000_000)).is_err());
        assert!(AgentMessage::decode(&[b"(".repeat(17), b")".repeat(17)].concat()).is_err());
    }

    #[test]
    fn the_number_of_effectors_is_limited() {
        let message = AgentMessage::decode(&b"(syn)".repeat(513)).unwrap();
        assert_eq!(message.effectors.len(), MAX_EFFECTORS);
        assert_eq!(
            message.first_error,
            Some(DecodeError::OutOfRange { field: "effectors", value: 513, min: 0, max: 512 })
        );
        assert_eq!(AgentMessage::decode(&b"(syn)".repeat(512)).unwrap().first_error, None);
    }

    fn any_name() -> impl Strategy<Value = Name> {
        "[a-zA-Z0-9_<>.\u{e9}]{1,8}".prop_map(|text| name(&text))
    }

    fn any_float() -> impl Strategy<Value = f64> {
        prop_oneof![-200.0..200.0, any::<f64>().prop_filter("finite", |value| value.is_finite())]
    }

    fn any_effector() -> impl Strategy<Value = Effector> {
        let init = (any_name(), any_name(), 0..100_u8);
        let motor = (any_name(), [any_float(), any_float(), any_float(), any_float(), any_float()]);
        let speech = (any_name(), 0.0..=100.0, proptest::collection::vec(any::<u8>(), 1..20));
        prop_oneof![
            init.prop_map(|(model, team, number)| Effector::Init(Init { model, team, number })),
            [any_float(), any_float(), any_float()].prop_map(|[x, y, theta_deg]| Effector::Beam(Beam {
                x,
                y,
                theta_deg
            })),
            motor.prop_filter("no effector", |(name, _)| !["syn", "SPK"].contains(&name.as_str())).prop_map(
                |(name, [q_deg, dq_deg, kp, kd, tau])| Effector::Motor(Motor { name, q_deg, dq_deg, kp, kd, tau })
            ),
            speech.prop_map(|(speaker, volume, text)| Effector::Speak(Speak { speaker, volume, text })),
            any_name().prop_map(Effector::Say),
            Just(Effector::Sync),
        ]
    }

    proptest! {
        #[test]
        fn messages_round_trip(effectors in proptest::collection::vec(any_effector(), 0..30)) {
            let bytes = AgentMessage::from(effectors.clone()).to_bytes();
            let message = AgentMessage::decode(&bytes).unwrap();
            prop_assert_eq!(message.effectors, effectors);
            prop_assert_eq!(message.first_error, None);
        }

        #[test]
        fn any_bytes_decode_or_err(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            check_round_trip(&bytes);
        }

        #[test]
        fn any_lists_decode_or_err(
            words in proptest::collection::vec(
                proptest::sample::select(vec![
                    "(", ")", "(", ")", " ", " ", "init", "beam", "SPK", "say", "syn", "he1", "1", "-2.5", "nan", "aGk=",
                    " 1 2 3 4 5", "\n",
                ]),
                0..60,
            ),
        ) {
            check_round_trip(words.concat().as_bytes());
        }
    }

    fn check_round_trip(bytes: &[u8]) {
        if let Ok(message) = AgentMessage::decode(bytes) {
            assert_eq!(AgentMessage::decode(&message.to_bytes()), Ok(message));
        }
    }
}
