//! The console's pages and its WebSocket, the status page and the metrics.

mod guard;
mod text_pages;

use std::{io, net::SocketAddr, sync::Arc};

use axum::{
    Extension, Router,
    extract::{Request, State, WebSocketUpgrade},
    http::{HeaderValue, StatusCode, Uri, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::get,
};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{interval, timeout},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::debug;
use wire::console::Role;

use self::guard::{Guard, Secret, forbidden};
use crate::{
    access::AllowList,
    address::Endpoints,
    driver::{
        admission::{Admission, Permit},
        connections::accept,
        console::{self, ConsoleServer, Visitor},
    },
    health::Health,
    limits,
    sim_thread::SimHandle,
    user_data::{LiveTokens, today},
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
    pub endpoints: Endpoints,
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
    /// Encrypts connections, if the console uses TLS.
    pub tls: Option<TlsAcceptor>,
    /// Host names of the server besides its addresses and `localhost`.
    pub names: Vec<String>,
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

impl Shared {
    /// The role that a request's token gives.
    fn role(&self, Secret(secret): &Secret) -> Option<Role> {
        let now = today();
        self.console.tokens.current(now).role(secret.as_deref()?, now)
    }
}

/// Access to the console and the state its connections share.
#[derive(Clone, Debug)]
pub struct Console {
    /// Tokens of operators and viewers.
    pub tokens: LiveTokens,
    pub(crate) server: ConsoleServer,
}

/// Serves the console, `/status`, `/agents`, `/health` and `/metrics` until the server stops.
pub async fn run(
    listener: TcpListener,
    Pages { sim, about, console, tls, names }: Pages,
    allow: AllowList,
    admission: Admission,
    stop: CancellationToken,
) {
    let permits = [(); 2].map(|()| Arc::new(Semaphore::new(limits::CONSOLES_PER_ROLE)));
    let browsers = TaskTracker::new();
    let tokens = console.tokens.clone();
    let shared = Shared { sim, about, console, permits, browsers: browsers.clone(), stop: stop.clone() };
    let guard = Guard { scheme: if tls.is_some() { "https" } else { "http" }, names: names.into() };
    let pages = Router::new()
        .route("/", get(first_page))
        .route("/api", get(api))
        .route("/status", get(text_pages::status))
        .route("/agents", get(text_pages::agents))
        .route("/health", get(text_pages::health))
        .route("/metrics", get(text_pages::metrics))
        .fallback(get(file))
        .layer(middleware::from_fn_with_state(guard, guard::check_source))
        .layer(middleware::from_fn(add_headers))
        .with_state(shared);
    let stopping = stop.clone();
    let serve =
        |stream, peer, permit| Ok(serve_connection(stream, peer, permit, pages.clone(), tls.clone(), stopping.clone()));
    tokio::select! {
        () = accept(listener, admission.reserved_endpoint("http"), &allow, stop, serve) => {}
        () = follow(&tokens) => {}
    }
    // they notify their browsers of the shutdown
    browsers.close();
    browsers.wait().await;
}

/// Looks for changes of the tokens from time to time, so that sessions with an invalid one end. Never returns.
async fn follow(tokens: &LiveTokens) {
    let mut timer = interval(limits::TOKEN_CHECK_INTERVAL);
    loop {
        timer.tick().await;
        tokens.current(today());
    }
}

/// Serves one connection, after a handshake where the console uses TLS. A peer that is slow to send or to read is dropped,
/// as are all when the server stops.
async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    permit: Permit,
    pages: Router,
    tls: Option<TlsAcceptor>,
    stop: CancellationToken,
) {
    let permit = Arc::new(permit);
    let pages = pages.layer(Extension(peer)).layer(middleware::from_fn_with_state(Arc::clone(&permit), note_request));
    let serve = async {
        let Some(tls) = tls else { return serve_request(stream, peer, pages).await };
        match timeout(limits::TLS_HANDSHAKE_TIMEOUT, shake_hands(stream, &tls)).await {
            Ok(Ok(Handshake::Done(stream))) => serve_request(*stream, peer, pages).await,
            Ok(Ok(Handshake::NotTls(stream))) => serve_request(stream, peer, wrong_scheme_page()).await,
            Ok(Err(error)) => debug!(%peer, "TLS handshake failed: {error}"),
            Err(_) => debug!(%peer, "TLS handshake timed out"),
        }
    };
    tokio::select! {
        () = stop.cancelled() => {}
        eviction = permit.evicted() => debug!(%peer, "closed: {eviction}"),
        () = serve => {}
    }
}

enum Handshake {
    Done(Box<TlsStream<TcpStream>>),
    /// The client does not use TLS.
    NotTls(TcpStream),
}

/// First byte of a TLS handshake.
const TLS_HANDSHAKE: u8 = 0x16;

async fn shake_hands(stream: TcpStream, tls: &TlsAcceptor) -> io::Result<Handshake> {
    let mut first = [0];
    let length = stream.peek(&mut first).await?;
    if length == 1 && first != [TLS_HANDSHAKE] {
        return Ok(Handshake::NotTls(stream));
    }
    Ok(Handshake::Done(Box::new(tls.accept(stream).await?)))
}

/// Answers every request to `http://` where the console uses TLS. It does not redirect: the next link that is sent without
/// encryption may contain a token.
fn wrong_scheme_page() -> Router {
    let answer = async || (StatusCode::BAD_REQUEST, "this console uses TLS: its address begins with https://\n");
    Router::new().fallback(answer).layer(middleware::from_fn(add_headers))
}

async fn serve_request<S>(stream: S, peer: SocketAddr, pages: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::FIRST_MESSAGE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(pages))
        // a WebSocket outlives this function
        .with_upgrades();
    match timeout(limits::FIRST_MESSAGE_TIMEOUT + limits::WRITE_TIMEOUT, served).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%peer, "HTTP request failed: {error}"),
        Err(_) => debug!(%peer, "HTTP request timed out"),
    }
}

/// The peer has sent a request: its connection no longer makes room for others.
async fn note_request(State(permit): State<Arc<Permit>>, request: Request, next: Next) -> Response {
    permit.note_message();
    next.run(request).await
}

/// The console's page. Without a token it asks for one; a wrong token is refused.
async fn first_page(State(shared): State<Shared>, secret: Secret) -> Response {
    match (&secret, shared.role(&secret)) {
        (Secret(Some(_)), None) => forbidden(guard::WRONG_TOKEN),
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

/// The console's WebSocket.
async fn api(
    State(shared): State<Shared>,
    Extension(peer): Extension<SocketAddr>,
    secret: Secret,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Response {
    let (Some(role), Secret(Some(secret))) = (shared.role(&secret), secret) else {
        return forbidden(guard::WRONG_TOKEN);
    };
    let upgrade = match upgrade {
        Ok(upgrade) => upgrade,
        Err(_) => {
            return (StatusCode::UPGRADE_REQUIRED, "this is a WebSocket; see docs/console-api.md\n").into_response();
        }
    };
    let [operators, viewers] = &shared.permits;
    let permits = if role == Role::Operator { operators } else { viewers };
    let Ok(permit) = Arc::clone(permits).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many open consoles; close one and try again\n").into_response();
    };
    let Shared { console: Console { tokens, server }, browsers, stop, .. } = shared;
    let visitor = Visitor { peer, role, secret, tokens: tokens.changes() };
    upgrade
        .max_message_size(wire::console::MAX_COMMAND)
        .max_frame_size(wire::console::MAX_COMMAND)
        .on_upgrade(move |socket| browsers.track_future(console::run(socket, visitor, server, permit, stop)))
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

#[cfg(test)]
mod tests;
