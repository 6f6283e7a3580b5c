//! What each role may see, decided here and nowhere else. Every message passes through [`visible`] on its way to a
//! client; the server's text pages use the other functions.
//!
//! Operators see everything. Viewers see the world, but nothing about the machine that simulates it or about who is
//! connected to it: no paths, no addresses of clients or other machines, no log, and no texts that may contain them, such
//! as the causes of failures. A hidden text is empty, or says that only operators see it.

use wire::console::{Component, Message, Role, RunSummary};

/// Replaces a cause that a viewer may not see.
const HIDDEN_CAUSE: &str = "only operators see the cause";

/// The message as a role may see it; none if it may not see any of it.
pub fn visible(role: Role, message: Message) -> Option<Message> {
    match role {
        Role::Operator => Some(message),
        Role::Viewer => visible_to_viewers(message),
    }
}

/// Lists every message, so that a new one cannot be forgotten.
fn visible_to_viewers(mut message: Message) -> Option<Message> {
    match &mut message {
        Message::Log { .. } | Message::Saved { .. } => return None,
        Message::Hello(hello) => {
            hello.recording = None;
            if let Some(evolution) = &mut hello.evolution {
                evolution.folder.clear();
            }
        }
        Message::State(state) => state.clients.iter_mut().for_each(|client| client.peer.clear()),
        Message::Health { parts, .. } => {
            parts.iter_mut().for_each(|part| part.words = condition(Role::Viewer, part).to_owned());
        }
        Message::Evolution { runs, simulators } => {
            runs.iter_mut().for_each(hide_run);
            // it may be another machine's
            simulators.robot_world.iter_mut().for_each(|address| "a World Simulator".clone_into(address));
        }
        Message::Playbacks { folder, .. } => folder.clear(),
        Message::Playback(state) => {
            if let Some(trouble) = &mut state.trouble {
                *trouble = format!("the file could not be loaded completely; {HIDDEN_CAUSE}");
            }
        }
        Message::Game(game) => {
            // a cause follows a colon
            if let Some(demo) = &mut game.demo
                && let Some((fact, _)) = demo.note.split_once(':')
            {
                demo.note = fact.to_owned();
            }
        }
        Message::Scene(_)
        | Message::Agent(_)
        | Message::Events { .. }
        | Message::Decisions { .. }
        | Message::Puppet(_)
        | Message::PuppetEvents { .. }
        | Message::Run(_)
        | Message::Replay(_)
        | Message::List { .. }
        | Message::Found { .. }
        | Message::Value { .. }
        | Message::Values { .. }
        | Message::Done { .. }
        | Message::Refused { .. } => {}
    }
    Some(message)
}

fn hide_run(run: &mut RunSummary) {
    run.words.clear();
    if !run.here {
        // otherwise their addresses
        "Robot Simulators".clone_into(&mut run.place);
    }
}

/// The description of a component's condition, as a role may see it.
pub fn condition(role: Role, component: &Component) -> &str {
    match role {
        Role::Operator => &component.words,
        Role::Viewer if component.works => "",
        Role::Viewer => HIDDEN_CAUSE,
    }
}

/// Why a job failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    why: String,
    is_public: bool,
}

impl JobError {
    /// A reason without paths and addresses.
    pub fn public(why: impl Into<String>) -> Self {
        Self { why: why.into(), is_public: true }
    }

    /// The reason, as a role may see it.
    pub fn reason(&self, role: Role) -> &str {
        if role == Role::Operator || self.is_public { &self.why } else { HIDDEN_CAUSE }
    }
}

/// Any text may contain paths or addresses.
impl From<String> for JobError {
    fn from(why: String) -> Self {
        Self { why, is_public: false }
    }
}

/// A constant does not.
impl From<&'static str> for JobError {
    fn from(why: &'static str) -> Self {
        Self::public(why)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What a viewer and an operator receive of a message.
    fn received(message: &Value) -> [Option<Value>; 2] {
        let message: Message = serde_json::from_value(message.clone()).unwrap();
        [Role::Viewer, Role::Operator]
            .map(|role| visible(role, message.clone()).map(|message| serde_json::to_value(message).unwrap()))
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "an example of each message")]
    fn viewers_see_no_paths_addresses_or_causes() {
        let client = |peer: &str| json!({"id": 1, "protocol": "osp", "peer": peer, "agents": ["Rover"], "role": null, "lockstep": false});
        let state = |peer: &str| {
            json!({
                "type": "state", "tick": 1, "step": 1, "tries": 1, "time": 0.5, "paused": false, "pace": "fast",
                "speed": 1.0, "ticks_per_second": 50.0, "standstill": null, "clients": [client(peer)],
            })
        };
        let hello = |folder: &str, recording: Value| {
            let default_run = json!({
                "simulators": [], "world": "obstacles", "body": "platine", "fitness": null, "algorithm": "ga",
                "generations": 100, "population": null, "hidden": null, "seed": 1, "target": null, "rival": null,
            });
            let evolution = json!({
                "worlds": [], "bodies": [], "fitnesses": [], "algorithms": ["ga"], "objections": [],
                "default_run": default_run, "default_coevolution": default_run,
                "folder": folder,
            });
            json!({
                "type": "hello", "api": 1, "version": "1", "title": "A world", "role": "viewer", "you": 1,
                "tick_seconds": 0.02, "soccer": null, "puppet": null, "evolution": evolution, "recording": recording,
                "addresses": [{"title": "Console", "kind": "http", "address": "127.0.0.1:1920"}],
            })
        };
        let run = |place: &str, words: &str, here: bool, robot_world: &str| {
            let simulators = json!({"robot": null, "world": [], "robot_world": robot_world});
            json!({"type": "evolution", "simulators": simulators, "runs": [{
                "name": "a", "algorithm": "ga", "place": place, "seed": 1, "generations": 2, "generation": 1, "best": [],
                "state": "failed", "words": words, "here": here, "workers": null,
            }]})
        };
        let health = |works: bool, words: &str| {
            json!({
                "type": "health", "parts": [{"name": "recorder", "works": works, "words": words}],
                "gauges": [{"name": "Clients", "unit": "", "value": 3.0, "help": "Connected now"}],
            })
        };
        let playback = |trouble: &str| {
            json!({
                "type": "film", "name": "a.mcap", "ready": 0, "complete": false, "trouble": trouble, "rate": 50.0,
                "scenes": [], "marks": [],
            })
        };
        let films = |folder: &str| json!({"type": "films", "folder": folder, "films": [{"name": "a.mcap", "bytes": 1, "kind": "recording"}]});
        let hidden_trouble = "the file could not be loaded completely; only operators see the cause";
        for (message, seen) in [
            (state("192.0.2.1:5000"), Some(state(""))),
            (hello("/home/ada/runs", json!("/home/ada/a.mcap")), Some(hello("", Value::Null))),
            (
                run("liner in empty", "/home/ada/runs/a: damaged", true, "192.0.2.1:7770"),
                Some(run("liner in empty", "", true, "a World Simulator")),
            ),
            (
                run("192.0.2.1:7720", "no answer", false, "192.0.2.1:7770"),
                Some(run("Robot Simulators", "", false, "a World Simulator")),
            ),
            (health(true, "recording to /home/ada/a.mcap"), Some(health(true, ""))),
            (health(false, "/dev/video0 is missing"), Some(health(false, HIDDEN_CAUSE))),
            (playback("failed to read /home/ada/a.mcap"), Some(playback(hidden_trouble))),
            (films("/home/ada"), Some(films(""))),
            (json!({"type": "log", "lines": [{"time": 0.0, "level": "INFO", "text": "192.0.2.1 closed"}]}), None),
            (json!({"type": "saved", "key": "macros", "value": []}), None),
            (json!({"type": "refused", "id": 1, "why": "no"}), Some(json!({"type": "refused", "id": 1, "why": "no"}))),
            (
                json!({"type": "value", "variable": "/V", "value": "1"}),
                Some(json!({"type": "value", "variable": "/V", "value": "1"})),
            ),
        ] {
            assert_eq!(received(&message), [seen, Some(message.clone())], "{message}");
        }
    }

    #[test]
    fn the_reason_of_a_failed_job_is_hidden_if_it_may_name_files() {
        for (error, seen) in [
            (JobError::from("this scenario has no evolution"), "this scenario has no evolution"),
            (JobError::public("no run named `a`".to_owned()), "no run named `a`"),
            (JobError::from("failed to read /home/ada/runs/a".to_owned()), HIDDEN_CAUSE),
        ] {
            assert_eq!(error.reason(Role::Viewer), seen);
            assert_eq!(error.reason(Role::Operator), error.why);
        }
    }
}
