//! What a browser is told. The parts that messages are made of are in a file for each topic.

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
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Message {
    /// First of all, once.
    Hello(Box<Hello>),
    /// What is there, and how it looks.
    Scene(Scene),
    /// How time passes, and who is there.
    State(WorldState),
    /// What an agent measures.
    Agent(AgentReadings),
    /// What happened.
    Events {
        /// The latest last.
        events: Vec<WorldEvent>,
    },
    /// How a game stands.
    Game(Game),
    /// What the referee decided.
    Decisions {
        /// The latest last.
        decisions: Vec<Decision>,
    },
    /// How the puppet is.
    Puppet(Puppet),
    /// What happened to the puppet.
    PuppetEvents {
        /// The latest last.
        events: Vec<PuppetEvent>,
    },
    /// How the parts are doing.
    Health {
        /// All that have said something.
        parts: Vec<Component>,
        /// Numbers for people.
        gauges: Vec<Gauge>,
    },
    /// Lines of the log.
    Log {
        /// The latest last.
        lines: Vec<LogLine>,
    },
    /// All evolutionary runs.
    Evolution {
        /// The latest first.
        runs: Vec<RunSummary>,
    },
    /// One of them.
    Run(RunDetail),
    /// How an individual moves.
    Replay(Replay),
    /// What is under a path of the variables' tree.
    List {
        /// The path.
        path: String,
        /// Names of what has more below.
        folders: Vec<String>,
        /// Variables right here.
        variables: Vec<Variable>,
    },
    /// What was searched for.
    Found {
        /// The words.
        search: String,
        /// How many there are; not all may be listed.
        total: usize,
        /// The first of them.
        variables: Vec<Variable>,
    },
    /// A variable.
    Value {
        /// Its name.
        variable: String,
        /// Its text.
        value: String,
    },
    /// What is observed.
    Values {
        /// Texts by name.
        values: BTreeMap<String, String>,
    },
    /// Recordings and logs.
    #[serde(rename = "films")]
    Playbacks {
        /// Where they are.
        folder: String,
        /// The latest first.
        films: Vec<PlaybackEntry>,
    },
    /// One of them.
    #[serde(rename = "film")]
    Playback(PlaybackState),
    /// Something kept for the desk.
    Saved {
        /// Under this name.
        key: String,
        /// What.
        value: serde_json::Value,
    },
    /// A command was carried out.
    Done {
        /// Its number.
        id: u64,
    },
    /// Something was not done.
    Refused {
        /// Number of the command, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<u64>,
        /// Why.
        why: String,
    },
}

impl Message {
    /// As a text frame.
    pub fn to_text(&self) -> String {
        // plain data always has a text
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads a text frame.
    pub fn decode(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

/// Who somebody is to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// May do everything.
    Operator,
    /// May look on.
    Viewer,
}

/// What a browser has to know first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// Version of these words.
    pub api: u32,
    /// Version of the program.
    pub version: String,
    /// Of the scenario.
    pub title: String,
    /// What this browser may do.
    pub role: Role,
    /// Number of its connection.
    pub you: u64,
    /// Simulated seconds of a tick.
    pub tick_seconds: f64,
    /// Everything that listens.
    pub addresses: Vec<Address>,
    /// The soccer game, if there is one.
    pub soccer: Option<SoccerInfo>,
    /// The puppet, if there is one.
    pub puppet: Option<PuppetInfo>,
    /// What can be evolved, if something can.
    pub evolution: Option<EvolutionInfo>,
    /// File of the recording that is being made.
    pub recording: Option<String>,
}

/// Something that listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// What answers there.
    pub title: String,
    /// `tcp`, `udp` or `http`.
    pub kind: String,
    /// Where.
    pub address: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_as_the_document_writes_them() {
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
