//! Output as text and as JSON.

use client::osp::{AgentInfo, AgentSummary, Completed, InterfaceValue, ValueInfo};
use serde_json::{Map, Value, json};

use crate::table::table;

/// A result as text and as JSON.
#[derive(Debug)]
pub(super) struct Report {
    /// Whole lines.
    pub(super) text: String,
    pub(super) json: Value,
}

pub(super) fn agents(agents: &[AgentSummary]) -> Report {
    let row = |agent: &AgentSummary| {
        let state = if agent.available { "free" } else { "controlled" };
        [agent.name.clone(), agent.group_type.clone(), state.to_owned()]
    };
    let object =
        |agent: &AgentSummary| json!({ "name": agent.name, "type": agent.group_type, "available": agent.available });
    Report {
        text: table(["name", "type", "state"], &agents.iter().map(row).collect::<Vec<_>>()),
        json: agents.iter().map(object).collect(),
    }
}

pub(super) fn info(info: &AgentInfo) -> Report {
    let roles = [("input", &info.inputs), ("output", &info.outputs), ("info", &info.infos)];
    let row = |role: &str, index: usize, value: &InterfaceValue| {
        [role.to_owned(), index.to_string(), value.name.clone(), value.min.to_string(), value.max.to_string()]
    };
    let rows: Vec<_> = roles
        .iter()
        .flat_map(|(role, values)| values.iter().enumerate().map(|(index, value)| row(role, index, value)))
        .collect();
    let list = |values: &[InterfaceValue]| -> Value {
        let object =
            |value: &InterfaceValue| json!({ "name": value.name, "min": number(value.min), "max": number(value.max) });
        values.iter().map(object).collect()
    };
    Report {
        text: table(["role", "no.", "name", "min", "max"], &rows),
        json: json!({
            "name": info.name,
            "inputs": list(&info.inputs),
            "outputs": list(&info.outputs),
            "infos": list(&info.infos),
        }),
    }
}

pub(super) fn values(values: &[ValueInfo]) -> Report {
    let rows: Vec<_> = values.iter().map(|info| [info.name.clone(), info.kind.clone()]).collect();
    let object = |info: &ValueInfo| json!({ "name": info.name, "type": info.kind });
    Report { text: table(["name", "type"], &rows), json: values.iter().map(object).collect() }
}

/// Variables with their values; `None` if a variable no longer exists.
pub(super) fn contents(read: &[(ValueInfo, Option<String>)]) -> Report {
    let row = |(info, content): &(ValueInfo, Option<String>)| {
        [info.name.clone(), info.kind.clone(), content.clone().unwrap_or_else(|| "(gone)".to_owned())]
    };
    let object = |(info, content): &(ValueInfo, Option<String>)| json!({ "name": info.name, "type": info.kind, "value": content });
    Report {
        text: table(["name", "type", "value"], &read.iter().map(row).collect::<Vec<_>>()),
        json: read.iter().map(object).collect(),
    }
}

pub(super) fn change(seconds: f64, name: &str, width: usize, content: Option<&String>) -> Report {
    let shown = content.map_or("(gone)", String::as_str);
    Report {
        text: format!("{seconds:9.2} s  {name:<width$}  {shown}\n"),
        json: json!({ "seconds": seconds, "name": name, "value": content }),
    }
}

/// The state of an agent after a step, with the names of its values.
pub(super) fn step(step: u64, info: &AgentInfo, completed: &Completed) -> Report {
    let roles = [("output", &info.outputs, &completed.outputs), ("info", &info.infos, &completed.infos)];
    let mut rows = Vec::new();
    let [mut outputs, mut infos] = [Map::new(), Map::new()];
    for ((role, names, values), object) in roles.into_iter().zip([&mut outputs, &mut infos]) {
        for (value, content) in names.iter().zip(values) {
            rows.push([role.to_owned(), value.name.clone(), content.to_string()]);
            object.insert(value.name.clone(), number(*content));
        }
    }
    Report {
        text: format!("step {step}\n{}", table(["role", "name", "value"], &rows)),
        json: json!({ "step": step, "outputs": outputs, "infos": infos }),
    }
}

pub(super) fn event(step: u64, name: &str) -> Report {
    Report { text: format!("step {step}  {name}\n"), json: json!({ "step": step, "event": name }) }
}

/// Converts via the decimal text of the single: 0.1 instead of 0.10000000149011612.
fn number(single: f32) -> Value {
    json!(single.to_string().parse().unwrap_or(f64::from(single)))
}

#[cfg(test)]
mod tests {
    use client::osp::{LocalAgent, LocalValue};

    use super::*;

    fn check(shown: &Report, text: &str, json: &Value) {
        assert_eq!(shown.text, text);
        assert_eq!(&shown.json, json);
    }

    fn leg() -> AgentInfo {
        let value = |name: &str, min| InterfaceValue { name: name.to_owned(), min, max: 1.0 };
        AgentInfo {
            agent: LocalAgent(1),
            name: "Leg".to_owned(),
            inputs: vec![value("/Knee/DesiredAngle", -1.0), value("/Knee/Torque", 0.0)],
            outputs: vec![value("/Knee/Angle", -1.0)],
            infos: vec![value("/Height", 0.1)],
        }
    }

    #[test]
    fn agents_with_their_state() {
        let agent = |name: &str, available| AgentSummary {
            agent: LocalAgent(1),
            group_type: "Agent".to_owned(),
            available,
            name: name.to_owned(),
        };
        check(
            &agents(&[agent("ASeries", true), agent("Rover", false)]),
            "name     type   state\nASeries  Agent  free\nRover    Agent  controlled\n",
            &json!([
                { "name": "ASeries", "type": "Agent", "available": true },
                { "name": "Rover", "type": "Agent", "available": false },
            ]),
        );
    }

    #[test]
    fn an_agent_with_its_interface() {
        let text = "\
role    no.  name                min  max
input   0    /Knee/DesiredAngle  -1   1
input   1    /Knee/Torque        0    1
output  0    /Knee/Angle         -1   1
info    0    /Height             0.1  1
";
        let json = json!({
            "name": "Leg",
            "inputs": [
                { "name": "/Knee/DesiredAngle", "min": -1.0, "max": 1.0 },
                { "name": "/Knee/Torque", "min": 0.0, "max": 1.0 },
            ],
            "outputs": [{ "name": "/Knee/Angle", "min": -1.0, "max": 1.0 }],
            "infos": [{ "name": "/Height", "min": 0.1, "max": 1.0 }],
        });
        check(&info(&leg()), text, &json);
    }

    #[test]
    fn variables() {
        let mass = || ValueInfo { value: LocalValue(4), kind: "Double".to_owned(), name: "/Sim/Leg/Mass".to_owned() };
        check(
            &values(&[mass()]),
            "name           type\n/Sim/Leg/Mass  Double\n",
            &json!([{ "name": "/Sim/Leg/Mass", "type": "Double" }]),
        );
        check(
            &contents(&[(mass(), Some("2.5".to_owned())), (mass(), None)]),
            "name           type    value\n/Sim/Leg/Mass  Double  2.5\n/Sim/Leg/Mass  Double  (gone)\n",
            &json!([
                { "name": "/Sim/Leg/Mass", "type": "Double", "value": "2.5" },
                { "name": "/Sim/Leg/Mass", "type": "Double", "value": null },
            ]),
        );
        check(
            &change(1.5, "/Mass", 8, Some(&"2.5".to_owned())),
            "     1.50 s  /Mass     2.5\n",
            &json!({ "seconds": 1.5, "name": "/Mass", "value": "2.5" }),
        );
    }

    #[test]
    fn steps_and_events() {
        let completed = Completed { agent: LocalAgent(1), outputs: vec![-0.3], infos: vec![0.1] };
        check(
            &step(3, &leg(), &completed),
            "step 3\nrole    name         value\noutput  /Knee/Angle  -0.3\ninfo    /Height      0.1\n",
            &json!({ "step": 3, "outputs": { "/Knee/Angle": -0.3 }, "infos": { "/Height": 0.1 } }),
        );
        check(
            &event(3, "/Control/NextTry"),
            "step 3  /Control/NextTry\n",
            &json!({ "step": 3, "event": "/Control/NextTry" }),
        );
    }
}
