//! Commands from a browser to the server.

use serde::{Deserialize, Serialize};

use super::MAX_COMMAND;

/// A text frame from a browser: a command, and the id under which its answer is expected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(type = "{ id?: number } & Command"))]
pub struct Request {
    /// If present, the server answers with `done` or `refused` and the same id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The command.
    #[serde(flatten)]
    pub command: Command,
}

impl Request {
    /// Decodes a text frame. On failure, returns the request's id, if it is readable, and what is wrong.
    pub fn decode(text: &str) -> Result<Self, (Option<u64>, String)> {
        if text.len() > MAX_COMMAND {
            return Err((None, format!("command exceeds {MAX_COMMAND} bytes")));
        }
        serde_json::from_str(text).map_err(|error| {
            let value: Option<serde_json::Value> = serde_json::from_str(text).ok();
            let id = value.and_then(|value| value.get("id")?.as_u64());
            (id, format!("invalid command: {error}"))
        })
    }

    /// Encodes the request as a text frame.
    pub fn to_text(&self) -> String {
        // plain data always serialises
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A group of messages that a browser can subscribe to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each message documents its topic")]
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

/// A side of the soccer field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "there are two")]
pub enum Side {
    Left,
    Right,
}

/// A command. Lengths are in m, angles in rad.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Command {
    /// Subscribes to these topics and unsubscribes from all others. A hidden tab watches none.
    Watch {
        /// The new subscriptions.
        topics: Vec<Topic>,
    },
    /// Selects the agent whose readings are sent as `agent`.
    Follow {
        /// Its name; none to stop.
        agent: Option<String>,
    },
    /// Pauses the simulation.
    Pause,
    /// Resumes the simulation.
    Play,
    /// Runs one tick while paused.
    Step,
    /// Resets the world.
    Reset {
        /// New seed of the world's random numbers.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        seed: Option<u64>,
    },
    /// Sets the speed of a world that follows the wall clock.
    Speed {
        /// Multiple of real time, 0.1 to 10.
        factor: f64,
    },
    /// Sets motor targets of an agent.
    Act {
        /// Name of the agent.
        agent: String,
        /// Pairs of motor index and target in physical units.
        motors: Vec<(usize, f64)>,
    },
    /// Pushes an agent.
    Push {
        /// Name of the agent.
        agent: String,
        /// Change of its first body's velocity, in m/s.
        velocity: [f64; 3],
    },
    /// Lists a folder of the variable tree.
    List {
        /// Ends with a slash.
        path: String,
    },
    /// Searches variables by name.
    Search {
        /// Words that must all occur in the name.
        text: String,
    },
    /// Reads a variable.
    Read {
        /// Full name.
        variable: String,
    },
    /// Writes a variable.
    Write {
        /// Full name.
        variable: String,
        /// New value as text.
        value: String,
    },
    /// Subscribes to these variables, sent as `values`, and unsubscribes from all others.
    Observe {
        /// Full names; at most 64.
        variables: Vec<String>,
    },
    /// Gives a kick-off.
    KickOff {
        /// Side that kicks off; random if absent.
        side: Option<Side>,
    },
    /// Resumes play where the ball is.
    DropBall,
    /// Moves the ball.
    PlaceBall {
        /// New position.
        position: [f64; 3],
        /// New velocity, in m/s.
        #[serde(default)]
        #[cfg_attr(test, ts(as = "Option<_>", optional))]
        velocity: [f64; 3],
    },
    /// Moves a player.
    PlacePlayer {
        /// Side of its team.
        side: Side,
        /// Player number.
        number: u8,
        /// New position of its torso.
        position: [f64; 2],
        /// New heading, in rad.
        heading: f64,
    },
    /// Sets the play mode.
    PlayMode {
        /// Name of the mode.
        mode: String,
    },
    /// Starts a demo game between two example teams.
    Demo {
        /// Players per team.
        players: u8,
    },
    /// Ends the demo game.
    StopDemo,
    /// Controls the puppet.
    Puppet {
        /// The puppet's command.
        order: PuppetCommand,
    },
    /// Names a face in view.
    NameFace {
        /// Id of the face.
        face: u64,
        /// The person's name.
        name: String,
    },
    /// Forgets a name and its faces.
    ForgetFace {
        /// The person's name.
        name: String,
    },
    /// Changes the ports of this server's simulators, and the world of its robots. Their clients are disconnected.
    ChangeSimulators {
        /// The new settings.
        settings: SimulatorSettings,
    },
    /// Starts an evolutionary run.
    StartRun {
        /// Parameters of the run.
        run: NewRun,
    },
    /// Stops a run; it can be resumed.
    StopRun {
        /// Name of the run.
        name: String,
    },
    /// Resumes a run.
    ResumeRun {
        /// Name of the run.
        name: String,
        /// New total number of generations, 0: until the run is stopped; as planned if absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        generations: Option<u64>,
    },
    /// Selects the run whose details are sent as `run`, now and after each generation.
    Run {
        /// Name of the run; none to stop.
        name: Option<String>,
    },
    /// Evaluates the best individual of a generation again, and sends its path.
    Replay {
        /// Name of the run.
        run: String,
        /// The generation, from 1; the best of all generations if absent.
        #[serde(default)]
        #[cfg_attr(test, ts(optional = nullable))]
        generation: Option<u64>,
    },
    /// Lists recordings and logs.
    #[serde(rename = "films")]
    ListPlaybacks,
    /// Loads a recording or log.
    #[serde(rename = "open-film")]
    OpenPlayback {
        /// File name.
        name: String,
    },
    /// Closes the open playback.
    #[serde(rename = "close-film")]
    ClosePlayback,
    /// Requests frames of the open playback; they follow the `done` as binary frames.
    Frames {
        /// Number of the first frame.
        from: usize,
        /// Number of frames; at most 250.
        count: usize,
    },
    /// Stores an item for the operator panel.
    Save {
        /// Name of the item, at most 64 bytes.
        key: String,
        /// Arbitrary JSON, at most 64 kB.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: serde_json::Value,
    },
}

impl Command {
    /// Whether the command changes nothing but what its sender is sent. Viewers may send only such commands. Opening a
    /// playback is not one: it takes time and memory of the server.
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
                | Self::ClosePlayback
                | Self::Frames { .. }
        )
    }
}

/// A command for the puppet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum PuppetCommand {
    /// Stops speech and motion, and restores the defaults.
    Reset,
    /// Speaks a text, which may contain gesture tags.
    Speak(String),
    /// Starts the gesture with this id.
    Gesture(u32),
    /// Volume of the voice, 0 to 1.
    Volume(f32),
    /// Pitch of the voice, 0.5 to 2.
    Pitch(f32),
    /// Shows the expression with this id.
    Expression(u32),
    /// Switches to the gaze mode with this id.
    LookAt(u32),
    /// Blinks per second.
    Blink(f32),
    /// Weight of a subsystem, 0 to 1.
    Weigh(String, f32),
    /// Position of the servo with this id, 0 to 1.
    Servo(u32, f32),
    /// Positions of all servos, 0 to 1.
    Servos(Vec<f32>),
}

/// Settings of a server's own simulators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct SimulatorSettings {
    /// Port of the Robot Simulator; absent if the server has none.
    #[serde(default)]
    pub robot_port: Option<u16>,
    /// Ports of the World Simulator, one for each kind of robots.
    pub world_ports: Vec<u16>,
    /// The World Simulator that the robots use: `host` or `host:port`; empty for the default port of this machine. If
    /// absent, their world is in the server's own process.
    #[serde(default)]
    pub robot_world: Option<String>,
}

/// Parameters of a new evolutionary run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct NewRun {
    /// Addresses of Robot Simulators; if empty, the run evaluates individuals in its own process.
    pub simulators: Vec<String>,
    /// Name of the world.
    pub world: String,
    /// Name of the body.
    pub body: String,
    /// Name of the fitness function; the body's own if absent.
    #[serde(default)]
    pub fitness: Option<String>,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Number of generations; 0: until the run is stopped.
    pub generations: u64,
    /// Individuals per generation; the algorithm's default if absent.
    #[serde(default)]
    pub population: Option<u64>,
    /// Number of hidden neurons; the algorithm's default if absent.
    #[serde(default)]
    pub hidden: Option<u64>,
    /// Seed of the random number generator.
    pub seed: u64,
    /// Ends the run once an individual reaches this fitness.
    #[serde(default)]
    pub target: Option<f64>,
    /// A second population that evolves against the first one, in the run's own process.
    #[serde(default)]
    pub rival: Option<Rival>,
}

/// A population that evolves against another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields = nullable))]
pub struct Rival {
    /// Name of the body.
    pub body: String,
    /// Name of the fitness function; the body's own if absent.
    #[serde(default)]
    pub fitness: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_match_the_documented_json() {
        let check = |text: &str, id: Option<u64>, command: Command| {
            let request = Request::decode(text).expect(text);
            assert_eq!(request, Request { id, command });
            assert_eq!(Request::decode(&request.to_text()), Ok(request));
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
    fn invalid_commands_are_refused_under_their_id() {
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
