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
        admission::{Admission, Permit},
        connections::accept,
        console::{self, ConsoleServer},
    },
    health::{Condition, Health},
    limits, metrics,
    protocol::EndpointId,
    serve::{Address, first_screen},
    sim_thread::{STANDSTILL, SimHandle},
    user_data::Tokens,
};

/// Browsers load nothing from other sites and run no inline scripts.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
                              connect-src 'self'; media-src 'self' blob:; font-src 'self'; worker-src 'self'; \
                              base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Facts about the server that the pages show.
#[derive(Clone, Debug)]
pub struct About {
    /// Title of the scenario.
    pub title: String,
    /// All listening sockets.
    pub addresses: Vec<Address>,
    /// Condition of the companions.
    pub health: Health,
}

/// State that the HTTP server is built from.
#[derive(Clone)]
pub struct Pages {
    /// Handle of the sim thread.
    pub sim: SimHandle,
    /// Facts about the server.
    pub about: About,
    /// Access to the console.
    pub console: Console,
}

#[derive(Clone)]
struct Shared {
    sim: SimHandle,
    about: About,
    console: Console,
    /// Permits for operators and for viewers.
    permits: [Arc<Semaphore>; 2],
    /// Tasks of the console connections.
    browsers: TaskTracker,
    stop: CancellationToken,
}

/// Access to the console and the state its connections share.
#[derive(Clone, Debug)]
pub struct Console {
    /// Tokens of operators and viewers.
    pub tokens: Tokens,
    pub(crate) server: ConsoleServer,
}

/// Serves the console, `/status`, `/agents`, `/health` and `/metrics` until the server stops.
pub async fn run(
    listener: TcpListener,
    Pages { sim, about, console }: Pages,
    allow: AllowList,
    admission: Admission,
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
        .layer(middleware::from_fn(check_host))
        .layer(middleware::from_fn(add_headers))
        .with_state(shared);
    let stopping = stop.clone();
    let serve = |stream, peer, permit| Ok(serve_request(stream, peer, permit, pages.clone(), stopping.clone()));
    accept(listener, admission.reserved_endpoint("http"), &allow, stop, serve).await;
    // they notify their browsers of the shutdown
    browsers.close();
    browsers.wait().await;
}

/// Serves one request. A peer that is slow to send or to read is dropped, as are all when the server stops.
async fn serve_request(stream: TcpStream, peer: SocketAddr, permit: Permit, pages: Router, stop: CancellationToken) {
    let permit = Arc::new(permit);
    let pages = pages.layer(Extension(peer)).layer(middleware::from_fn_with_state(Arc::clone(&permit), note_request));
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::FIRST_MESSAGE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages))
        // a WebSocket outlives this function
        .with_upgrades();
    tokio::select! {
        () = stop.cancelled() => {}
        eviction = permit.evicted() => debug!(%peer, "closed: {eviction}"),
        served = timeout(limits::FIRST_MESSAGE_TIMEOUT + limits::WRITE_TIMEOUT, served) => match served {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%peer, "HTTP request failed: {error}"),
            Err(_) => debug!(%peer, "HTTP request timed out"),
        },
    }
}

/// The peer has sent a request: its connection no longer makes room for others.
async fn note_request(State(permit): State<Arc<Permit>>, request: Request, next: Next) -> Response {
    permit.note_message();
    next.run(request).await
}

/// Query of a link to the console.
#[derive(Debug, Deserialize)]
struct Link {
    token: Option<String>,
}

fn forbidden(reason: &'static str) -> Response {
    (StatusCode::FORBIDDEN, format!("{reason}\n")).into_response()
}

const WRONG_TOKEN: &str = "wrong token: open the console with the link that `rossum serve` prints";

/// The console's page. Without a token it asks for one; a wrong token is refused.
async fn first_page(State(shared): State<Shared>, link: Result<Query<Link>, QueryRejection>) -> Response {
    match link {
        Ok(Query(Link { token: Some(token) })) if shared.console.tokens.role(&token).is_none() => {
            forbidden(WRONG_TOKEN)
        }
        _ => file("/".parse().unwrap_or_default()).await,
    }
}

/// A file of the console.
async fn file(uri: Uri) -> Response {
    let Some(page) = ::console::page(uri.path().trim_start_matches('/')) else {
        return (StatusCode::NOT_FOUND, "page not found; the console is at /\n").into_response();
    };
    let caching = if page.is_immutable() { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, page.kind), (header::CACHE_CONTROL, caching)], page.bytes).into_response()
}

/// The console's WebSocket, for this server's pages and for clients that are not browsers.
async fn api(
    State(shared): State<Shared>,
    Extension(peer): Extension<SocketAddr>,
    link: Result<Query<Link>, QueryRejection>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    if !is_own_page(&headers) {
        return forbidden("cross-origin requests are not allowed");
    }
    let token = link.ok().and_then(|Query(link)| link.token).unwrap_or_default();
    let Some(role) = shared.console.tokens.role(&token) else { return forbidden(WRONG_TOKEN) };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) => {
            return (StatusCode::UPGRADE_REQUIRED, "this is a WebSocket; see docs/console-api.md\n").into_response();
        }
    };
    let [operators, viewers] = &shared.permits;
    let permits = if role == wire::console::Role::Operator { operators } else { viewers };
    let Ok(permit) = Arc::clone(permits).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many open consoles; close one and try again\n").into_response();
    };
    let Shared { console, browsers, stop, .. } = shared;
    upgrade
        .max_message_size(wire::console::MAX_COMMAND)
        .max_frame_size(wire::console::MAX_COMMAND)
        .on_upgrade(move |socket| browsers.track_future(console::run(socket, peer, role, console.server, permit, stop)))
}

/// Whether a request comes from a page of this server, or not from a page.
fn is_own_page(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or_default());
    match (text(header::ORIGIN), text(header::HOST)) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.strip_prefix("http://") == Some(host),
        (Some(_), None) => false,
    }
}

/// Adds security headers, and closes the connection after the response.
async fn add_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    // one request per connection, so that none waits for another; a WebSocket has a connection of its own
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
        // a failed companion does not make the server unhealthy
        (StatusCode::OK, format!("ok\n{}", conditions(&shared.about.health, false)))
    }
}

/// One line for each component, or for each that does not work.
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

/// Each agent with the number of its values, its ODCP address and whether a client controls it.
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

/// Refuses other host names: a page of another site whose name resolves to this machine (DNS rebinding) gets no answer.
async fn check_host(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if is_own_name(host) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "unknown host name; use the server's IP address or `localhost`\n").into_response()
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
