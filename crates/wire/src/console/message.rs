//! Messages from the server to a browser. The types they consist of are in one file per topic.

mod evolution;
mod health;
mod playback;
mod puppet;
mod soccer;
mod world;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::{evolution::*, health::*, playback::*, puppet::*, soccer::*, world::*};

/// A text frame from the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Message {
    /// The first message of a connection.
    Hello(Box<Hello>),
    /// Topic `world`: bodies, their appearance, and agents. Sent at first and whenever robots or objects come or go.
    Scene(Scene),
    /// Topic `world`: the clock and the connected clients. At most 5 times a second, on change.
    State(WorldState),
    /// Topic `world`: readings of the agent chosen with `follow`. At most 15 times a second, on change.
    Agent(AgentReadings),
    /// Topic `world`: events, except those raised in every tick.
    Events {
        /// In chronological order.
        events: Vec<WorldEvent>,
    },
    /// Topic `soccer`: state of the game. At most 10 times a second, on change.
    Game(Game),
    /// Topic `soccer`: the referee's decisions, including those made before this client connected.
    Decisions {
        /// In chronological order.
        decisions: Vec<Decision>,
    },
    /// Topic `puppet`: state of the puppet. At most 10 times a second, on change.
    Puppet(Puppet),
    /// Topic `puppet`: events, sent immediately.
    PuppetEvents {
        /// In chronological order.
        events: Vec<PuppetEvent>,
    },
    /// Topic `health`: once a second.
    Health {
        /// Components that have reported a state.
        parts: Vec<Component>,
        /// Human-readable metrics.
        gauges: Vec<Gauge>,
    },
    /// Topic `health`, operators only: recent log lines at first, then each new one.
    Log {
        /// In chronological order.
        lines: Vec<LogLine>,
    },
    /// Topic `evolution`: all evolutionary runs and the server's own simulators. At most twice a second, on change.
    Evolution {
        /// Latest first.
        runs: Vec<RunSummary>,
        /// The server's own simulators.
        simulators: SimulatorsInfo,
    },
    /// Answer to `run`, and again after each generation of that run.
    Run(RunDetail),
    /// Answer to `replay`.
    Replay(Replay),
    /// Answer to `list`.
    List {
        /// The listed path.
        path: String,
        /// Names of the folders under it.
        folders: Vec<String>,
        /// Variables directly under it.
        variables: Vec<Variable>,
    },
    /// Answer to `search`.
    Found {
        /// The search text.
        search: String,
        /// Number of matches; `variables` may list fewer.
        total: usize,
        /// The first matches.
        variables: Vec<Variable>,
    },
    /// Answer to `read`.
    Value {
        /// Full name.
        variable: String,
        /// Value as text.
        value: String,
    },
    /// Observed variables that changed. At most 5 times a second.
    Values {
        /// Values as text, by full name.
        values: BTreeMap<String, String>,
    },
    /// Answer to `films`: recordings and logs that can be played back.
    #[serde(rename = "films")]
    Playbacks {
        /// The folder searched.
        folder: String,
        /// Latest first.
        films: Vec<PlaybackEntry>,
    },
    /// Answer to `open-film`, and again while the file is being loaded: `ready` grows until `complete` is true.
    #[serde(rename = "film")]
    Playback(PlaybackState),
    /// Operators only: an item stored with `save`. Each one at first, then whenever one changes.
    Saved {
        /// Name of the item.
        key: String,
        /// Arbitrary JSON.
        #[cfg_attr(test, ts(type = "unknown"))]
        value: serde_json::Value,
    },
    /// The command with this id was carried out, or handed to the world where the world sends no answer.
    Done {
        /// The command's id.
        id: u64,
    },
    /// A command was refused.
    Refused {
        /// The command's id, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        id: Option<u64>,
        /// Human-readable reason.
        why: String,
    },
}

impl Message {
    /// Encodes the message as a text frame.
    pub fn to_text(&self) -> String {
        // plain data always serialises
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Decodes a text frame.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Rights of a browser, given by the token in its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// May send every command.
    Operator,
    /// May send read-only commands.
    Viewer,
}

/// What a browser needs to know first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hello {
    /// Version of the protocol.
    pub api: u32,
    /// Version of the program.
    pub version: String,
    /// Title of the scenario.
    pub title: String,
    /// Rights of this browser.
    pub role: Role,
    /// Id of this connection, as in `state.clients`.
    pub you: u64,
    /// Simulated seconds per tick.
    pub tick_seconds: f64,
    /// All listening endpoints.
    pub addresses: Vec<Address>,
    /// The soccer game, if the scenario has one.
    pub soccer: Option<SoccerInfo>,
    /// The puppet, if the scenario has one.
    pub puppet: Option<PuppetInfo>,
    /// Options of evolutionary runs, if the server starts any.
    pub evolution: Option<EvolutionInfo>,
    /// Path of the recording being written, if any.
    pub recording: Option<String>,
}

/// A listening endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Address {
    /// Human-readable name of the service.
    pub title: String,
    /// `tcp`, `udp`, `http` or `https`.
    pub kind: String,
    /// Host and port.
    pub address: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_match_the_documented_json() {
        let check = |message: Message, text: &str| {
            assert_eq!(message.to_text(), text);
            assert_eq!(Message::decode(text).expect(text), message);
        };
        check(Message::Done { id: 3 }, r#"{"type":"done","id":3}"#);
        check(Message::Refused { id: None, why: "no".to_owned() }, r#"{"type":"refused","why":"no"}"#);
        let what = PuppetEventKind::SpeakDone { speech: 2 };
        check(
            Message::PuppetEvents { events: vec![PuppetEvent { number: 1, time: 0.5, what }] },
            r#"{"type":"puppet-events","events":[{"number":1,"time":0.5,"what":"speak-done","speech":2}]}"#,
        );
        let entry = PlaybackEntry { name: "a.mcap".to_owned(), bytes: 9, kind: PlaybackKind::Recording };
        check(
            Message::Playbacks { folder: ".".to_owned(), films: vec![entry] },
            r#"{"type":"films","folder":".","films":[{"name":"a.mcap","bytes":9,"kind":"recording"}]}"#,
        );
        let playback = PlaybackState {
            name: "a.log".to_owned(),
            ready: 2,
            complete: true,
            trouble: None,
            rate: 25.0,
            scenes: Vec::new(),
            marks: vec![TimelineMark { frame: 1, text: "goal".to_owned() }],
        };
        check(
            Message::Playback(playback),
            r#"{"type":"film","name":"a.log","ready":2,"complete":true,"trouble":null,"rate":25.0,"scenes":[],"marks":[{"frame":1,"text":"goal"}]}"#,
        );
        let look = Visual {
            body: 1,
            position: [0.0; 3],
            quaternion: [1.0, 0.0, 0.0, 0.0],
            shape: VisualShape::Sphere,
            size: vec![0.5],
            rgba: [1.0; 4],
            material: None,
        };
        check(
            Message::Scene(Scene {
                generation: 1,
                bodies: vec!["world".to_owned()],
                parents: vec![0],
                looks: vec![look],
                meshes: Vec::new(),
                agents: Vec::new(),
            }),
            r#"{"type":"scene","generation":1,"bodies":["world"],"parents":[0],"looks":[{"body":1,"position":[0.0,0.0,0.0],"quaternion":[1.0,0.0,0.0,0.0],"shape":"sphere","size":[0.5],"rgba":[1.0,1.0,1.0,1.0],"material":null}],"meshes":[],"agents":[]}"#,
        );
    }
}
