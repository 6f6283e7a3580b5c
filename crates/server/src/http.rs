//! The status page and the metrics.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use tracing::debug;
use world::{Snapshot, interface::Role, snapshot::AgentCard};

use crate::{
    access::AllowList,
    driver::stream::{Doors, accept},
    health::{Condition, Health},
    limits,
    serve::{Address, first_screen},
    sim_thread::{STANDSTILL, SimHandle},
};

/// What the pages say that does not change.
#[derive(Clone, Debug)]
pub struct About {
    /// What runs.
    pub title: String,
    /// Everything that listens.
    pub addresses: Vec<Address>,
    /// How the parts are doing.
    pub health: Health,
}

#[derive(Clone)]
struct Shared {
    sim: SimHandle,
    metrics: PrometheusHandle,
    about: About,
}

/// Answers `/`, `/agents`, `/health` and `/metrics` until the server stops.
pub async fn run(
    listener: TcpListener,
    sim: SimHandle,
    metrics: PrometheusHandle,
    about: About,
    allow: AllowList,
    doors: Doors,
    stop: CancellationToken,
) {
    let pages = Router::new()
        .route("/", get(status_page))
        .route("/agents", get(agents))
        .route("/health", get(health))
        .route("/metrics", get(|State(shared): State<Shared>| async move { shared.metrics.render() }))
        .layer(middleware::from_fn(own_name_only))
        .with_state(Shared { sim, metrics, about });
    let stopping = stop.clone();
    let serve = |stream, peer| Ok(answer(stream, peer, pages.clone(), stopping.clone()));
    accept(listener, "http", &allow, &doors, stop, serve).await;
}

/// Answers one request. A peer that is slow to ask, or to read, is given up; so is everyone when the server stops.
async fn answer(stream: TcpStream, peer: SocketAddr, pages: Router, stop: CancellationToken) {
    let answered = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::FIRST_MESSAGE)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages));
    tokio::select! {
        () = stop.cancelled() => {}
        answered = timeout(limits::FIRST_MESSAGE + limits::WRITE, answered) => match answered {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%peer, "a page was not asked for in order: {error}"),
            Err(_) => debug!(%peer, "a page was not read in time"),
        },
    }
}

async fn health(State(shared): State<Shared>) -> (StatusCode, String) {
    if shared.sim.has_ended() {
        (StatusCode::SERVICE_UNAVAILABLE, "the world has ended\n".to_owned())
    } else if let Some(cause) = shared.sim.failure() {
        (StatusCode::SERVICE_UNAVAILABLE, format!("{STANDSTILL}: {cause}\n"))
    } else {
        // a robot without ears is still a robot
        (StatusCode::OK, format!("ok\n{}", conditions(&shared.about.health, false)))
    }
}

/// How the parts are doing, line by line: all of them, or those that do not work.
fn conditions(health: &Health, all: bool) -> String {
    let parts = health.parts().into_iter().filter(|(_, condition)| all || !condition.works);
    let line =
        |(part, Condition { works, words })| format!("  {part}: {}{words}\n", if works { "" } else { "NOT WORKING: " });
    parts.map(line).collect()
}

async fn status_page(State(shared): State<Shared>) -> String {
    let snapshot = shared.sim.latest();
    let mut page = first_screen(&shared.about.title, &shared.about.addresses);
    page.push_str(&format!("\ntick {}, {:.2} s into try {}\n", snapshot.tick.0, snapshot.time, snapshot.tries));
    if let Some(cause) = shared.sim.failure() {
        page.push_str(&format!("{STANDSTILL}: {cause}\n"));
    }
    for agent in &snapshot.catalogue.agents {
        page.push_str(&format!("  {} ({}), {} motors\n", agent.name, agent.robot, agent.motors.len()));
    }
    page.push_str(&conditions(&shared.about.health, true));
    page
}

async fn agents(State(shared): State<Shared>) -> impl IntoResponse {
    let agents = agents_of(&shared.sim.latest(), &shared.about.addresses);
    ([(header::CONTENT_TYPE, "application/json")], format!("{agents}\n"))
}

/// What a program wants to know of each agent: how many values it has, where its ODCP port is, whether it is somebody's.
fn agents_of(snapshot: &Snapshot, addresses: &[Address]) -> Value {
    let agent = |agent: &AgentCard| {
        let title = format!("ODCP of {}", agent.name);
        json!({
            "name": agent.name,
            "robot": agent.robot,
            "motors": agent.motors.len(),
            "inputs": agent.count(Role::Input),
            "outputs": agent.count(Role::Output),
            "infos": agent.count(Role::Info),
            "odcp": addresses.iter().find(|address| address.title == title).map(|address| address.address),
            "controlled": snapshot.lockstep.contains(&agent.id),
        })
    };
    snapshot.catalogue.agents.iter().map(agent).collect()
}

/// A page of another site that has its name point at this machine gets nothing.
async fn own_name_only(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_own_name(host) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "this server answers to its address only\n").into_response()
    }
}

/// Whether a `Host` header has an address or `localhost`, with or without a port.
fn is_own_name(host: &str) -> bool {
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    let name = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(name, _)| name);
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name == "localhost" || address.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests;
