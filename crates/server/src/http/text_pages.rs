//! Pages for programs and people without a browser. All need a token but `/health`, which then says only whether the
//! simulation runs.

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use session::console::visibility;
use wire::console::{Component, Role};
use world::{Snapshot, interface, snapshot::AgentCard};

use super::{
    Shared,
    guard::{Secret, unauthorized},
};
use crate::{
    address::{Address, first_screen},
    health::{Condition, Health},
    metrics,
    protocol::EndpointId,
    sim_thread::STANDSTILL,
};

pub(super) async fn health(State(shared): State<Shared>, secret: Secret) -> (StatusCode, String) {
    let role = shared.role(&secret);
    let failure = if shared.sim.has_ended() {
        Some("the world has ended".to_owned())
    } else {
        shared.sim.failure().map(|cause| format!("{STANDSTILL}: {cause}"))
    };
    match (failure, role) {
        (Some(cause), Some(_)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{cause}\n")),
        (Some(_), None) => (StatusCode::SERVICE_UNAVAILABLE, "not running\n".to_owned()),
        // a failed companion does not make the server unhealthy
        (None, Some(role)) => (StatusCode::OK, format!("ok\n{}", conditions(&shared.about.health, role, false))),
        (None, None) => (StatusCode::OK, "ok\n".to_owned()),
    }
}

/// One line for each component, or for each that does not work.
fn conditions(health: &Health, role: Role, all: bool) -> String {
    let parts = health.components().into_iter().filter(|(_, condition)| all || !condition.works);
    let line = |(part, Condition { works, words })| {
        let component = Component { name: String::new(), works, words };
        let words = visibility::condition(role, &component);
        let state = match (works, words) {
            (false, words) => format!("NOT WORKING: {words}"),
            (true, "") => "working".to_owned(),
            (true, words) => words.to_owned(),
        };
        format!("  {part}: {state}\n")
    };
    parts.map(line).collect()
}

pub(super) async fn metrics(State(shared): State<Shared>, secret: Secret) -> Response {
    if shared.role(&secret).is_none() { unauthorized() } else { metrics::render().into_response() }
}

pub(super) async fn status(State(shared): State<Shared>, secret: Secret) -> Response {
    let Some(role) = shared.role(&secret) else { return unauthorized() };
    let snapshot = shared.sim.latest();
    let mut page = first_screen(&shared.about.title, &shared.about.endpoints.all());
    page.push_str(&format!("\ntick {}, {:.2} s into try {}\n", snapshot.tick.0, snapshot.time, snapshot.tries));
    if let Some(cause) = shared.sim.failure() {
        page.push_str(&format!("{STANDSTILL}: {cause}\n"));
    }
    for agent in &snapshot.catalogue.agents {
        page.push_str(&format!("  {} ({}), {} motors\n", agent.name, agent.robot, agent.motors.len()));
    }
    page.push_str(&conditions(&shared.about.health, role, true));
    page.into_response()
}

pub(super) async fn agents(State(shared): State<Shared>, secret: Secret) -> Response {
    if shared.role(&secret).is_none() {
        return unauthorized();
    }
    let agents = agents_of(&shared.sim.latest(), &shared.about.endpoints.fixed);
    ([(header::CONTENT_TYPE, "application/json")], format!("{agents}\n")).into_response()
}

/// Each agent with the number of its values, its ODCP address and whether a client controls it.
pub(super) fn agents_of(snapshot: &Snapshot, addresses: &[Address]) -> Value {
    let agent = |agent: &AgentCard| {
        let odcp = EndpointId::Odcp { agent: agent.name.clone() };
        json!({
            "name": agent.name,
            "robot": agent.robot,
            "motors": agent.motors.len(),
            "inputs": agent.count(interface::Role::Input),
            "outputs": agent.count(interface::Role::Output),
            "infos": agent.count(interface::Role::Info),
            "odcp": addresses.iter().find(|address| address.id == odcp).map(|address| address.address),
            "controlled": snapshot.lockstep.contains(&agent.id),
        })
    };
    snapshot.catalogue.agents.iter().map(agent).collect()
}
