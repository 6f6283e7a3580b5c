use std::{net::IpAddr, time::Duration};

use physics::{Limits, Source};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinHandle,
    time::Instant,
};
use world::{Command, Setup, Snapshot, World, clock::Pace};

use super::{text_pages::agents_of, *};
use crate::{
    address::Address,
    protocol::EndpointId,
    sim_thread::{SimThread, Ticks},
    testing::{self, running, running_recorded, within},
    user_data::Tokens,
};

struct Served {
    sim: SimThread,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
    health: Health,
    /// Where the tokens are.
    folder: TempDir,
}

impl Served {
    async fn start(bind: &str, allow: AllowList) -> Self {
        Self::start_with(running(Pace::Fast), bind, allow).await
    }

    async fn start_with(sim: SimThread, bind: &str, allow: AllowList) -> Self {
        let listener = TcpListener::bind(bind).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let odcp = Address::new(EndpointId::Odcp { agent: "Rover".to_owned() }, "ODCP of Rover", "udp", address, &[]);
        let endpoints = Endpoints { fixed: vec![odcp], simulators: None };
        let health = Health::default();
        let about = About { title: "A test".to_owned(), endpoints, health: health.clone() };
        let folder = tempfile::tempdir().unwrap();
        let tokens = LiveTokens::open(folder.path(), LIFETIME, today()).unwrap();
        let console = Console { tokens, server: testing::console_server(sim.handle()) };
        let pages = Pages { sim: sim.handle().clone(), about, console, tls: None, names: Vec::new() };
        let task = tokio::spawn(run(listener, pages, allow, Admission::default(), stop.clone()));
        Self { sim, address, stop, task, health, folder }
    }

    fn secret(&self, role: Role) -> String {
        Tokens::read(self.folder.path()).unwrap().of(role).secret.clone()
    }

    /// Status and body of a page, as a role is served it.
    async fn page(&self, path: &str, role: Role) -> (u16, String) {
        get(self.address, &format!("{path}?token={}", self.secret(role)), "localhost").await
    }
}

/// Lifetime of the tokens.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Status and body of a page; `None` if the connection is closed without an answer.
async fn ask(address: SocketAddr, path: &str, host: &str) -> Option<(u16, String)> {
    let mut answer = String::new();
    let talk = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_string(&mut answer).await
    };
    // a closed connection may also be reset
    within("a page", talk).await.ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Some((status, body.to_owned()))
}

async fn get(address: SocketAddr, path: &str, host: &str) -> (u16, String) {
    ask(address, path, host).await.expect("an answer")
}

#[tokio::test]
async fn pages_show_the_state_of_the_world() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    let mut snapshots = served.sim.handle().watch();
    within("ticks", snapshots.wait_for(|snapshot| snapshot.tick.0 > 3)).await.unwrap();
    for (path, wanted) in [
        ("/health", "ok"),
        ("/metrics", "rossum_tick_seconds_bucket"),
        ("/metrics", "rossum_overruns"),
        ("/status", "A test"),
        ("/status", "Rover (rover), 2 motors"),
        ("/", "<!doctype html>"),
    ] {
        for role in [Role::Operator, Role::Viewer] {
            let (status, body) = served.page(path, role).await;
            assert!(status == 200 && body.contains(wanted), "{path}: {status} {body}");
        }
    }
    let Served { sim, address, stop, task, .. } = served;
    assert_eq!(get(address, "/nothing", "127.0.0.1").await.0, 404);
    tokio::task::spawn_blocking(|| sim.stop()).await.unwrap();
    assert_eq!(get(address, "/health", "127.0.0.1").await.0, 503, "a server without a world is not healthy");
    stop.cancel();
    within("the end", task).await.unwrap();
}

#[tokio::test]
async fn pages_show_what_a_role_may_see() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    served.health.note("ears", false, "/dev/snd is missing");
    served.health.note("voice", true, "reads /home/ada/voices");
    let nobody = async |path| get(served.address, path, "localhost").await;
    for path in ["/status", "/agents", "/metrics", "/status?token=", "/metrics?token=0123456789abcdef0123456789abcdef"]
    {
        let (status, body) = nobody(path).await;
        assert!(status == 401 && body.contains("Bearer") && !body.contains("Rover"), "{path}: {status} {body}");
    }
    assert_eq!(nobody("/health").await, (200, "ok\n".to_owned()), "nothing else");
    for (path, role, shown, hidden) in [
        ("/health", Role::Operator, "ears: NOT WORKING: /dev/snd is missing", "voice"),
        ("/health", Role::Viewer, "ears: NOT WORKING: only operators see the cause", "/dev"),
        ("/status", Role::Operator, "voice: reads /home/ada/voices", "only operators"),
        ("/status", Role::Viewer, "voice: working", "/home"),
        ("/status", Role::Viewer, "ears: NOT WORKING", "/dev"),
    ] {
        let (status, body) = served.page(path, role).await;
        assert!(status == 200 && body.contains(shown) && !body.contains(hidden), "{path} {role:?}: {status} {body}");
    }
    // as programs send it
    let header = format!("localhost\r\nAuthorization: bearer {}", served.secret(Role::Viewer));
    assert_eq!(get(served.address, "/metrics", &header).await.0, 200);
    let header = format!("localhost\r\nAuthorization: Basic {}", served.secret(Role::Viewer));
    assert_eq!(get(served.address, "/metrics", &header).await.0, 401);
}

#[tokio::test]
async fn agents_are_listed_for_programs() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    let (status, body) = served.page("/agents", Role::Viewer).await;
    let rover = json!([{
        "name": "Rover", "robot": "rover", "motors": 2, "inputs": 2, "outputs": 13, "infos": 7,
        "odcp": served.address, "controlled": false,
    }]);
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()), (200, rover));
    // without an ODCP port, and controlled by a client
    let mut snapshot = Snapshot::clone(&served.sim.handle().latest());
    snapshot.lockstep = vec![crate::testing::ROVER];
    let [rover] = agents_of(&snapshot, &[]).as_array().unwrap().clone().try_into().unwrap();
    assert_eq!((&rover["odcp"], &rover["controlled"]), (&Value::Null, &json!(true)));
}

#[tokio::test]
async fn unknown_host_names_are_refused() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    for path in ["/", "/status", "/agents", "/health", "/metrics"] {
        let (status, body) = get(served.address, path, "evil.example").await;
        assert!(status == 403 && !body.contains("rossum"), "{path}: {status} {body}");
    }
}

/// An address of this machine that is not loopback. No datagram is sent to find it.
async fn outer_address() -> Option<IpAddr> {
    let socket = tokio::net::UdpSocket::bind("0.0.0.0:0").await.ok()?;
    socket.connect("203.0.113.1:9").await.ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback() && !address.is_unspecified())
}

#[tokio::test]
async fn addresses_outside_the_allow_list_are_refused() {
    // a machine without a network has no such address
    let Some(outer) = outer_address().await else { return };
    for (allow, status) in [("203.0.113.0/24".parse().unwrap(), None), (outer.into(), Some(200))] {
        let served = Served::start("0.0.0.0:0", AllowList::new(vec![allow])).await;
        let address = SocketAddr::new(outer, served.address.port());
        let answer = ask(address, "/health", "127.0.0.1").await;
        assert_eq!(answer.map(|(status, _)| status), status, "{allow}");
    }
}

/// A field with a spring that no step can follow.
const MINE: &str = r#"<mujoco>
    <option integrator="Euler"/>
    <worldbody><body name="mine" pos="0 3 1">
        <joint name="mine" type="slide" axis="1 0 0" stiffness="1e18" springref="1"/><geom size="0.1" mass="0.001"/>
    </body></worldbody>
</mujoco>"#;

#[tokio::test]
async fn a_world_that_failed_is_not_healthy_until_it_is_reset() {
    let source = Source::from_text("mine", MINE, &Limits::default()).unwrap();
    let sim = running_recorded(World::new(&Setup::new(source)).unwrap(), Pace::Fast, None);
    let served = Served::start_with(sim, "127.0.0.1:0", AllowList::default()).await;
    let health = async || served.page("/health", Role::Viewer).await;
    within("the failure", async { while health().await.0 == 200 {} }).await;
    let (status, body) = health().await;
    assert!(status == 503 && body.contains("reset") && body.contains("mine"), "{status} {body}");
    assert_eq!(get(served.address, "/health", "localhost").await, (503, "not running\n".to_owned()), "without a token");
    assert!(served.page("/status", Role::Viewer).await.1.contains(&body), "the status page says so too");
    let metrics = served.page("/metrics", Role::Viewer).await.1;
    let faults = metrics.lines().find_map(|line| line.strip_prefix("rossum_faults_total "));
    assert!(faults.unwrap().parse::<u64>().unwrap() > 0, "{metrics}");
    // tests run several worlds at once, and the metric is that of the last one that ticked
    assert!(metrics.contains("\nrossum_failed "), "{metrics}");

    let (mut sender, _deliveries) = served.sim.handle().open(Ticks::Never).unwrap();
    let stiffness = served.sim.handle().latest().catalogue.variable_named("/Sim/World/mine/Stiffness").unwrap().id;
    sender.send(Command::Write(stiffness, world::Value::Double(1.0))).unwrap();
    sender.send(Command::Reset(None)).unwrap();
    within("a healthy world", async { while health().await.0 != 200 {} }).await;
    let metrics = served.page("/metrics", Role::Viewer).await.1;
    assert!(metrics.contains("rossum_failed 0\n"), "{metrics}");
}

#[tokio::test]
async fn silent_connections_keep_nobody_out() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    let mut silent = Vec::new();
    for _ in 0..2 * limits::CONNECTIONS_PER_SOURCE {
        silent.push(TcpStream::connect(served.address).await.unwrap());
        assert!(ask(served.address, "/health", "localhost").await.is_some());
    }
}

// the paused clock advances whenever all tasks are idle

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_is_closed() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    for sent in ["", "GET", "GET /health HTTP/1.1\r\nHost: local"] {
        let mut client = TcpStream::connect(served.address).await.unwrap();
        client.write_all(sent.as_bytes()).await.unwrap();
        let began = Instant::now();
        let mut answer = Vec::new();
        within("the end", client.read_to_end(&mut answer)).await.unwrap();
        let took = began.elapsed();
        assert!(
            (limits::FIRST_MESSAGE_TIMEOUT / 2..limits::FIRST_MESSAGE_TIMEOUT * 2).contains(&took),
            "{sent}: {took:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_pending_request_does_not_delay_the_shutdown() {
    let Served { sim: _sim, address, stop, task, .. } = Served::start("127.0.0.1:0", AllowList::default()).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"GET /health HTTP/1.1\r\nHost:").await.unwrap();
    let began = Instant::now();
    stop.cancel();
    within("the end", task).await.unwrap();
    assert!(began.elapsed() < limits::FLUSH_TIMEOUT, "{:?}", began.elapsed());
}

/// Requests a WebSocket; returns the status and the connection.
async fn upgrade(address: SocketAddr, path: &str, origin: Option<&str>) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 16];
    within("an answer", stream.read_exact(&mut answer)).await.unwrap();
    (String::from_utf8_lossy(&answer[9..12]).into_owned(), stream)
}

#[tokio::test]
async fn the_console_opens_to_its_own_pages_with_a_token() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    let (address, operator, viewer) = (served.address, served.secret(Role::Operator), served.secret(Role::Viewer));
    let own = format!("http://{address}");
    for (token, origin, status) in [
        (operator.as_str(), None, "101"),
        (&viewer, None, "101"),
        (&operator, Some(own.as_str()), "101"),
        (&operator, Some("http://evil.example"), "403"),
        (&operator, Some("https://127.0.0.1"), "403"),
        (&operator, Some("null"), "403"),
        (&operator[1..], None, "403"),
        ("", None, "403"),
    ] {
        let path = format!("/api?token={token}");
        assert_eq!(upgrade(address, &path, origin).await.0, status, "{token} {origin:?}");
    }
    assert_eq!(upgrade(address, "/api", None).await.0, "403");
    assert_eq!(get(address, &format!("/api?token={operator}"), "localhost").await.0, 426, "not a WebSocket");
    assert_eq!(get(address, "/?token=wrong", "localhost").await.0, 403);
    let (status, page) = get(address, &format!("/?token={viewer}"), "localhost").await;
    assert!(status == 200 && page.contains("<!doctype html>"));
}

/// A client with a rotated token is sent away at once, and nobody else is.
#[tokio::test]
async fn rotating_a_token_ends_its_sessions_and_no_others() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    let (address, operator, viewer) = (served.address, served.secret(Role::Operator), served.secret(Role::Viewer));
    let open = async |secret: &str| upgrade(address, &format!("/api?token={secret}"), None).await;
    let (_, mut witness) = open(&operator).await;
    let (_, mut dismissed) = open(&viewer).await;
    Tokens::rotate(served.folder.path(), &[Role::Viewer], LIFETIME, today()).unwrap();
    // requests are refused even before sessions end
    assert_eq!(open(&viewer).await.0, "403");
    assert_eq!(served.page("/status", Role::Viewer).await.0, 200, "with the new token");
    let mut rest = Vec::new();
    within("the end of the session", dismissed.read_to_end(&mut rest)).await.unwrap();
    assert!(String::from_utf8_lossy(&rest).contains("the token was replaced or has expired"), "{rest:?}");
    // a masked ping with an empty payload, after the greeting
    witness.write_all(&[0x89, 0x80, 0, 0, 0, 0]).await.unwrap();
    let mut heard = Vec::new();
    while !heard.ends_with(&[0x8a, 0]) {
        assert_ne!(within("a pong", witness.read_buf(&mut heard)).await.unwrap(), 0, "the witness stays");
    }
    assert_eq!(open(&operator).await.0, "101");
}
