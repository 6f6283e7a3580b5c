//! The status page and the metrics.

use std::net::{IpAddr, SocketAddr};

use axum::{
    Router,
    extract::{ConnectInfo, Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::{access::AllowList, sim_thread::SimHandle};

#[derive(Clone)]
struct Shared {
    sim: SimHandle,
    metrics: PrometheusHandle,
    status: String,
}

/// Answers `/`, `/health` and `/metrics` until the server stops.
pub async fn run(
    listener: TcpListener,
    sim: SimHandle,
    metrics: PrometheusHandle,
    status: String,
    allow: AllowList,
    stop: CancellationToken,
) {
    let pages = Router::new()
        .route("/", get(status_page))
        .route("/health", get(health))
        .route("/metrics", get(|State(shared): State<Shared>| async move { shared.metrics.render() }))
        .layer(middleware::from_fn(own_name_only))
        .layer(middleware::from_fn_with_state(allow, allowed_only))
        .with_state(Shared { sim, metrics, status })
        .into_make_service_with_connect_info::<SocketAddr>();
    if let Err(error) = axum::serve(listener, pages).with_graceful_shutdown(stop.cancelled_owned()).await {
        error!("the status page ended: {error}");
    }
}

async fn health(State(shared): State<Shared>) -> (StatusCode, &'static str) {
    if shared.sim.has_ended() {
        (StatusCode::SERVICE_UNAVAILABLE, "the world has ended\n")
    } else {
        (StatusCode::OK, "ok\n")
    }
}

async fn status_page(State(shared): State<Shared>) -> String {
    let snapshot = shared.sim.latest();
    let mut page = shared.status;
    page.push_str(&format!("\ntick {}, {:.2} s into try {}\n", snapshot.tick.0, snapshot.time, snapshot.tries));
    for agent in &snapshot.catalogue.agents {
        page.push_str(&format!("  {} ({}), {} motors\n", agent.name, agent.robot, agent.motors.len()));
    }
    page
}

/// Whoever is not in the allow-list gets nothing.
async fn allowed_only(
    State(allow): State<AllowList>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    if allow.admits(peer) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "this address is not in the allow-list\n").into_response()
    }
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
