//! What a browser asks.

use serde::{Deserialize, Serialize};

use super::MAX_COMMAND;

/// A command, and the number under which its sender wants to hear of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The number, if it wants to hear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The command.
    #[serde(flatten)]
    pub command: Command,
}

impl Request {
    /// Reads a text frame, or says what is wrong with it; then also under which number, if that can be read.
    pub fn decode(text: &str) -> Result<Self, (Option<u64>, String)> {
        if text.len() > MAX_COMMAND {
            return Err((None, format!("a command has {MAX_COMMAND} bytes at most")));
        }
        serde_json::from_str(text).map_err(|error| {
            let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
            let id = value.and_then(|value| value.get("id")?.as_u64());
            (id, format!("this is no command: {error}"))
        })
    }

    /// As a text frame.
    pub fn to_text(&self) -> String {
        // plain data always has a text
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a browser can be told about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the messages say what belongs to which")]
pub enum Topic {
    World,
    Poses,
    Soccer,
    Puppet,
    Video,
    Sound,
    Health,
    Evolution,
}

/// A side of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "there are two")]
pub enum Side {
    Left,
    Right,
}

/// What a browser asks. Lengths are in m, angles in rad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Command {
    /// From now on these topics, and no others.
    Watch {
        /// Which.
        topics: Vec<Topic>,
    },
    /// Have news of this agent, or of none.
    Follow {
        /// Its name.
        agent: Option<String>,
    },
    /// Let time stand still.
    Pause,
    /// Let time go on.
    Play,
    /// One tick, while time stands still.
    Step,
    /// Begin a new try.
    Reset {
        /// For its random numbers.
        #[serde(default)]
        seed: Option<u64>,
    },
    /// So many times real time.
    Speed {
        /// How many.
        factor: f64,
    },
    /// Move motors of an agent.
    Act {
        /// Its name.
        agent: String,
        /// Places of motors, and their targets in physical units.
        motors: Vec<(usize, f64)>,
    },
    /// Push an agent.
    Push {
        /// Its name.
        agent: String,
        /// How much faster its first body is then, in m/s.
        velocity: [f64; 3],
    },
    /// What is under a path of the variables' tree.
    List {
        /// It ends with a slash.
        path: String,
    },
    /// Variables with this in their names.
    Search {
        /// Words; all have to be there.
        text: String,
    },
    /// Tell a variable.
    Read {
        /// Its name.
        variable: String,
    },
    /// Change a variable.
    Write {
        /// Its name.
        variable: String,
        /// Its text.
        value: String,
    },
    /// From now on tell these variables, and no others.
    Observe {
        /// Their names.
        variables: Vec<String>,
    },
    /// Kick off.
    KickOff {
        /// Who; by lot, without.
        side: Option<Side>,
    },
    /// Let play go on where the ball is.
    DropBall,
    /// Put the ball somewhere.
    PlaceBall {
        /// Where.
        position: [f64; 3],
        /// How fast it moves from there, in m/s.
        #[serde(default)]
        velocity: [f64; 3],
    },
    /// Put a player somewhere.
    PlacePlayer {
        /// Its team's side.
        side: Side,
        /// Its number.
        number: u8,
        /// Where.
        position: [f64; 2],
        /// Which way it faces.
        heading: f64,
    },
    /// Set what the game is at.
    PlayMode {
        /// Name of the mode.
        mode: String,
    },
    /// Let two teams of so many players come in and play.
    Demo {
        /// How many each.
        players: u8,
    },
    /// Send them home.
    StopDemo,
    /// An order to the puppet.
    Puppet {
        /// Which.
        order: PuppetCommand,
    },
    /// Give a face in view a name.
    NameFace {
        /// Which.
        face: u64,
        /// What it is called.
        name: String,
    },
    /// Forget a name and its faces.
    ForgetFace {
        /// Which.
        name: String,
    },
    /// Begin an evolutionary run.
    StartRun {
        /// What to evolve.
        run: NewRun,
    },
    /// Stop a run; it can go on later.
    StopRun {
        /// Which.
        name: String,
    },
    /// Go on with a run.
    ResumeRun {
        /// Which.
        name: String,
        /// How many generations there are to be in all, if not as many as planned.
        #[serde(default)]
        generations: Option<u64>,
    },
    /// Details of a run, with every generation, or no longer.
    Run {
        /// Which.
        name: Option<String>,
    },
    /// Test an individual of a run again, and show how it moves.
    Replay {
        /// Which run.
        run: String,
        /// The best of this generation, or of all.
        #[serde(default)]
        generation: Option<u64>,
    },
    /// What recordings and logs there are.
    #[serde(rename = "films")]
    ListPlaybacks,
    /// Read one of them.
    #[serde(rename = "open-film")]
    OpenPlayback {
        /// Which.
        name: String,
    },
    /// Let go of it.
    #[serde(rename = "close-film")]
    ClosePlayback,
    /// Send frames of it.
    Frames {
        /// The first one.
        from: usize,
        /// How many.
        count: usize,
    },
    /// Keep something for the desk.
    Save {
        /// Under this name.
        key: String,
        /// What.
        value: serde_json::Value,
    },
}

impl Command {
    /// Whether those may ask it who may only look on.
    pub fn is_read_only(&self) -> bool {
        matches!(
            self,
            Self::Watch { .. }
                | Self::Follow { .. }
                | Self::List { .. }
                | Self::Search { .. }
                | Self::Read { .. }
                | Self::Observe { .. }
                | Self::Run { .. }
                | Self::Replay { .. }
                | Self::ListPlaybacks
                | Self::OpenPlayback { .. }
                | Self::ClosePlayback
                | Self::Frames { .. }
        )
    }
}

/// What an operator wants of the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PuppetCommand {
    /// Fall silent, stop moving, and go back to the defaults.
    Reset,
    /// Say a text with tags.
    Speak(String),
    /// Speak so loud, 0 to 1.
    Volume(f32),
    /// Speak so high, 0.5 to 2.
    Pitch(f32),
    /// Begin a gesture.
    Gesture(u32),
    /// Show an expression.
    Expression(u32),
    /// Look at something.
    LookAt(u32),
    /// Blink so often a second.
    Blink(f32),
    /// Weigh a subsystem, 0 to 1.
    Weigh(String, f32),
    /// Put a servo at a position, 0 to 1.
    Servo(u32, f32),
    /// Put all servos at positions.
    Servos(Vec<f32>),
}

/// What to evolve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewRun {
    /// Addresses of Robot Simulators; none to test in the run's own process.
    pub simulators: Vec<String>,
    /// Name of a world.
    pub world: String,
    /// Name of a body.
    pub body: String,
    /// Name of a fitness, if not the body's own.
    #[serde(default)]
    pub fitness: Option<String>,
    /// Name of an algorithm.
    pub algorithm: String,
    /// How many generations.
    pub generations: u64,
    /// Individuals of a generation, if not as many as the algorithm likes.
    #[serde(default)]
    pub population: Option<u64>,
    /// Hidden neurons, if not as many as the algorithm likes.
    #[serde(default)]
    pub hidden: Option<u64>,
    /// Of everything random.
    pub seed: u64,
    /// End with an individual that is as good as this.
    #[serde(default)]
    pub target: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_as_the_document_writes_them() {
        let check = |text: &str, id: Option<u64>, command: Command| {
            let asked = Request::decode(text).expect(text);
            assert_eq!(asked, Request { id, command });
            assert_eq!(Request::decode(&asked.to_text()), Ok(asked));
        };
        check(
            r#"{"do":"watch","topics":["world","poses"]}"#,
            None,
            Command::Watch { topics: vec![Topic::World, Topic::Poses] },
        );
        check(r#"{"do":"pause","id":7}"#, Some(7), Command::Pause);
        check(r#"{"do":"reset","id":7}"#, Some(7), Command::Reset { seed: None });
        check(
            r#"{"do":"act","agent":"Rover1","motors":[[0,1.5]]}"#,
            None,
            Command::Act { agent: "Rover1".to_owned(), motors: vec![(0, 1.5)] },
        );
        check(r#"{"do":"kick-off","side":null}"#, None, Command::KickOff { side: None });
        check(r#"{"do":"films"}"#, None, Command::ListPlaybacks);
        let open = Command::OpenPlayback { name: "a.mcap".to_owned() };
        check(r#"{"do":"open-film","name":"a.mcap"}"#, None, open);
        check(r#"{"do":"close-film"}"#, None, Command::ClosePlayback);
        for (text, order) in [
            (r#""reset""#, PuppetCommand::Reset),
            (r#"{"speak":"Hello"}"#, PuppetCommand::Speak("Hello".to_owned())),
            (r#"{"look-at":3}"#, PuppetCommand::LookAt(3)),
            (r#"{"weigh":["direct",0.5]}"#, PuppetCommand::Weigh("direct".to_owned(), 0.5)),
            (r#"{"servo":[3,0.25]}"#, PuppetCommand::Servo(3, 0.25)),
        ] {
            check(&format!(r#"{{"do":"puppet","order":{text}}}"#), None, Command::Puppet { order });
        }
    }

    #[test]
    fn what_is_no_command_is_refused_under_its_number() {
        for (text, id) in [
            ("", None),
            ("[]", None),
            (r#"{"do":"fly","id":3}"#, Some(3)),
            (r#"{"id":4}"#, Some(4)),
            (r#"{"do":"speed","factor":"fast","id":5}"#, Some(5)),
            (r#"{"do":"speed","factor":1e999,"id":-1}"#, None),
        ] {
            assert_eq!(Request::decode(text).expect_err(text).0, id, "{text}");
        }
        assert!(Request::decode(&" ".repeat(MAX_COMMAND + 1)).is_err());
    }
}
