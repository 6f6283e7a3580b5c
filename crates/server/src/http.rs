//! The console's pages and its WebSocket, the status page and the metrics.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    Extension, Router,
    extract::{Query, Request, State, WebSocketUpgrade, rejection::QueryRejection},
    http::{HeaderMap, HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::debug;
use world::{Snapshot, interface::Role, snapshot::AgentCard};

use crate::{
    access::AllowList,
    driver::{
        connections::{ConnectionLimit, accept},
        console::{self, ConsoleServer},
    },
    health::{Condition, Health},
    limits, metrics,
    protocol::EndpointId,
    serve::{Address, first_screen},
    sim_thread::{STANDSTILL, SimHandle},
    user_data::Tokens,
};

/// What a browser may load, and from where: nothing from elsewhere, and nothing that a page has not brought with it.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                              connect-src 'self'; media-src 'self' blob:; font-src 'self'; worker-src 'self'; \
                              base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

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

/// What the pages show.
#[derive(Clone)]
pub struct Pages {
    /// The world.
    pub sim: SimHandle,
    /// What does not change.
    pub about: About,
    /// The console.
    pub console: Console,
}

#[derive(Clone)]
struct Shared {
    sim: SimHandle,
    about: About,
    console: Console,
    /// Permits for operators and for viewers.
    permits: [Arc<Semaphore>; 2],
    /// Browsers that are connected.
    browsers: TaskTracker,
    stop: CancellationToken,
}

/// What the console needs.
#[derive(Clone, Debug)]
pub struct Console {
    /// Who may come in.
    pub tokens: Tokens,
    /// What its connections need.
    pub(crate) server: ConsoleServer,
}

/// Answers for the console, for `/status`, `/agents`, `/health` and `/metrics`, until the server stops.
pub async fn run(
    listener: TcpListener,
    Pages { sim, about, console }: Pages,
    allow: AllowList,
    limit: ConnectionLimit,
    stop: CancellationToken,
) {
    let permits = [(); 2].map(|()| Arc::new(Semaphore::new(limits::CONSOLES_PER_ROLE)));
    let browsers = TaskTracker::new();
    let shared = Shared { sim, about, console, permits, browsers: browsers.clone(), stop: stop.clone() };
    let pages = Router::new()
        .route("/", get(first_page))
        .route("/api", get(api))
        .route("/status", get(status_page))
        .route("/agents", get(agents))
        .route("/health", get(health))
        .route("/metrics", get(async || metrics::render()))
        .fallback(get(file))
        .layer(middleware::from_fn(own_name_only))
        .layer(middleware::from_fn(guarded))
        .with_state(shared);
    let stopping = stop.clone();
    let serve = |stream, peer| Ok(answer(stream, peer, pages.clone(), stopping.clone()));
    accept(listener, "http", &allow, &limit, stop, serve).await;
    // each is told that the server goes
    browsers.close();
    browsers.wait().await;
}

/// Answers one request. A peer that is slow to ask, or to read, is given up; so is everyone when the server stops.
async fn answer(stream: TcpStream, peer: SocketAddr, pages: Router, stop: CancellationToken) {
    let pages = pages.layer(Extension(peer));
    let answered = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::FIRST_MESSAGE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages))
        // a WebSocket goes on without this
        .with_upgrades();
    tokio::select! {
        () = stop.cancelled() => {}
        answered = timeout(limits::FIRST_MESSAGE_TIMEOUT + limits::WRITE_TIMEOUT, answered) => match answered {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%peer, "a page was not asked for in order: {error}"),
            Err(_) => debug!(%peer, "a page was not read in time"),
        },
    }
}

/// What a link may say.
#[derive(Debug, Deserialize)]
struct Link {
    token: Option<String>,
}

fn refused(why: &'static str) -> Response {
    (StatusCode::FORBIDDEN, format!("{why}\n")).into_response()
}

const WRONG_TOKEN: &str = "this link does not open the console: its token is not this server's; use the one that `rossum \
                           serve` prints";

/// The console. Without a token it asks for one; with a wrong one there is nothing to see.
async fn first_page(State(shared): State<Shared>, link: Result<Query<Link>, QueryRejection>) -> Response {
    match link {
        Ok(Query(Link { token: Some(token) })) if shared.console.tokens.role(&token).is_none() => refused(WRONG_TOKEN),
        _ => file("/".parse().unwrap_or_default()).await,
    }
}

/// A file of the console.
async fn file(uri: Uri) -> Response {
    let Some(page) = ::console::page(uri.path().trim_start_matches('/')) else {
        return (StatusCode::NOT_FOUND, "there is no such page; the console is at /\n").into_response();
    };
    let keeping = if page.is_immutable() { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, page.kind), (header::CACHE_CONTROL, keeping)], page.bytes).into_response()
}

/// The console's WebSocket, for browsers that this server has sent a page to, and for tools.
async fn api(
    State(shared): State<Shared>,
    Extension(peer): Extension<SocketAddr>,
    link: Result<Query<Link>, QueryRejection>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    if !is_own_page(&headers) {
        return refused("a page of another site may not talk to this server");
    }
    let token = link.ok().and_then(|Query(link)| link.token).unwrap_or_default();
    let Some(role) = shared.console.tokens.role(&token) else { return refused(WRONG_TOKEN) };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) => {
            return (StatusCode::UPGRADE_REQUIRED, "this is a WebSocket; see docs/console-api.md\n").into_response();
        }
    };
    let [operators, viewers] = &shared.permits;
    let permits = if role == wire::console::Role::Operator { operators } else { viewers };
    let Ok(permit) = Arc::clone(permits).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many consoles are open\n").into_response();
    };
    let Shared { console, browsers, stop, .. } = shared;
    upgrade
        .max_message_size(wire::console::MAX_COMMAND)
        .max_frame_size(wire::console::MAX_COMMAND)
        .on_upgrade(move |socket| browsers.track_future(console::run(socket, peer, role, console.server, permit, stop)))
}

/// Whether a request comes from a page of this server, or from no page at all.
fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.strip_prefix("http://") == Some(host),
        (Some(_), None) => false,
    }
}

/// Tells browsers to be careful with what this server sends.
async fn guarded(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    // one request a connection, so that none waits for another; a WebSocket is a connection of its own
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
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
    let parts = health.components().into_iter().filter(|(_, condition)| all || !condition.works);
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
        let odcp = EndpointId::Odcp { agent: agent.name.clone() };
        json!({
            "name": agent.name,
            "robot": agent.robot,
            "motors": agent.motors.len(),
            "inputs": agent.count(Role::Input),
            "outputs": agent.count(Role::Output),
            "infos": agent.count(Role::Info),
            "odcp": addresses.iter().find(|address| address.id == odcp).map(|address| address.address),
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
