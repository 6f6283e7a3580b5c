//! The status page and the metrics.

use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::sim_thread::SimHandle;

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
    stop: CancellationToken,
) {
    let pages = Router::new()
        .route("/", get(status_page))
        .route("/health", get(|| async { "ok\n" }))
        .route("/metrics", get(|State(shared): State<Shared>| async move { shared.metrics.render() }))
        .layer(middleware::from_fn(own_name_only))
        .with_state(Shared { sim, metrics, status });
    if let Err(error) = axum::serve(listener, pages).with_graceful_shutdown(stop.cancelled_owned()).await {
        error!("the status page ended: {error}");
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

/// A page of another site that has its name point at this machine gets nothing.
async fn own_name_only(request: Request, next: Next) -> Response {
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_matches(['[', ']']);
    if name == "localhost" || name.parse::<std::net::IpAddr>().is_ok() {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "this server answers to its address only\n").into_response()
    }
}
