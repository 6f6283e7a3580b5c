use physics::{Limits, Source};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    task::JoinHandle,
    time::Instant,
};
use world::{Command, Setup, World, clock::Pace};

use super::*;
use crate::{
    sim_thread::{SimThread, Ticks},
    testing::{self, running, running_recorded, within},
};

struct Served {
    sim: SimThread,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Served {
    async fn start(bind: &str, allow: AllowList) -> Self {
        Self::start_with(running(Pace::Fast), bind, allow).await
    }

    async fn start_with(sim: SimThread, bind: &str, allow: AllowList) -> Self {
        let listener = TcpListener::bind(bind).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let odcp = Address {
            id: EndpointId::Odcp { agent: "Rover".to_owned() },
            title: "ODCP of Rover".to_owned(),
            kind: "udp",
            address,
        };
        let about = About { title: "A test".to_owned(), addresses: vec![odcp], health: Health::default() };
        let console = Console { tokens: tokens(), server: testing::console_server(sim.handle()) };
        let pages = Pages { sim: sim.handle().clone(), about, console };
        let task = tokio::spawn(run(listener, pages, allow, Admission::default(), stop.clone()));
        Self { sim, address, stop, task }
    }
}

fn tokens() -> Tokens {
    Tokens { operator: "0123456789abcdef".to_owned(), viewer: "fedcba9876543210".to_owned() }
}

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
    let Served { sim, address, stop, task } = Served::start("127.0.0.1:0", AllowList::default()).await;
    let mut snapshots = sim.handle().watch();
    within("ticks", snapshots.wait_for(|snapshot| snapshot.tick.0 > 3)).await.unwrap();
    for (path, wanted) in [
        ("/health", "ok"),
        ("/metrics", "rossum_tick_seconds_bucket"),
        ("/metrics", "rossum_overruns"),
        ("/status", "A test"),
        ("/status", "Rover (rover), 2 motors"),
        ("/", "<!doctype html>"),
    ] {
        let (status, body) = get(address, path, "127.0.0.1").await;
        assert!(status == 200 && body.contains(wanted), "{path}: {status} {body}");
    }
    assert_eq!(get(address, "/nothing", "127.0.0.1").await.0, 404);

    tokio::task::spawn_blocking(|| sim.stop()).await.unwrap();
    assert_eq!(get(address, "/health", "127.0.0.1").await.0, 503, "a server without a world is not healthy");
    stop.cancel();
    within("the end", task).await.unwrap();
}

#[tokio::test]
async fn agents_are_listed_for_programs() {
    let Served { sim, address, .. } = Served::start("127.0.0.1:0", AllowList::default()).await;
    let (status, body) = get(address, "/agents", "localhost").await;
    let rover = json!([{
        "name": "Rover", "robot": "rover", "motors": 2, "inputs": 2, "outputs": 13, "infos": 7,
        "odcp": address, "controlled": false,
    }]);
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()), (200, rover));
    // without an ODCP port, and controlled by a client
    let mut snapshot = Snapshot::clone(&sim.handle().latest());
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

#[test]
fn own_names() {
    for (host, own) in [
        ("localhost", true),
        ("localhost:1920", true),
        ("127.0.0.1:1920", true),
        ("192.168.1.7", true),
        ("[::1]:1920", true),
        ("[::1]", true),
        ("", false),
        ("evil.example", false),
        ("evil.example:1920", false),
        ("localhost.evil.example", false),
        ("127.0.0.1.evil.example:1920", false),
        ("[localhost]", false),
    ] {
        assert_eq!(is_own_name(host), own, "{host}");
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
    let Served { sim, address, .. } = Served::start_with(sim, "127.0.0.1:0", AllowList::default()).await;
    let health = async || get(address, "/health", "localhost").await;
    within("the failure", async { while health().await.0 == 200 {} }).await;
    let (status, body) = health().await;
    assert!(status == 503 && body.contains("reset") && body.contains("mine"), "{status} {body}");
    assert!(get(address, "/status", "localhost").await.1.contains(&body), "the status page says so too");
    let metrics = get(address, "/metrics", "localhost").await.1;
    let faults = metrics.lines().find_map(|line| line.strip_prefix("rossum_faults_total "));
    assert!(faults.unwrap().parse::<u64>().unwrap() > 0, "{metrics}");
    // tests run several worlds at once, and the metric is that of the last one that ticked
    assert!(metrics.contains("\nrossum_failed "), "{metrics}");

    let (mut sender, _deliveries) = sim.handle().open(Ticks::Never).unwrap();
    let stiffness = sim.handle().latest().catalogue.variable_named("/Sim/World/mine/Stiffness").unwrap().id;
    sender.send(Command::Write(stiffness, world::Value::Double(1.0))).unwrap();
    sender.send(Command::Reset(None)).unwrap();
    within("a healthy world", async { while health().await.0 != 200 {} }).await;
    let metrics = get(address, "/metrics", "localhost").await.1;
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
    let Served { sim: _sim, address, stop, task } = Served::start("127.0.0.1:0", AllowList::default()).await;
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(b"GET /health HTTP/1.1\r\nHost:").await.unwrap();
    let began = Instant::now();
    stop.cancel();
    within("the end", task).await.unwrap();
    assert!(began.elapsed() < limits::FLUSH_TIMEOUT, "{:?}", began.elapsed());
}

/// Requests a WebSocket; returns the first line of the response.
async fn upgrade(address: SocketAddr, path: &str, origin: Option<&str>) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let origin = origin.map(|origin| format!("Origin: {origin}\r\n")).unwrap_or_default();
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\n{origin}Connection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = [0; 16];
    within("an answer", stream.read_exact(&mut answer)).await.unwrap();
    String::from_utf8_lossy(&answer[9..12]).into_owned()
}

#[tokio::test]
async fn the_console_opens_to_its_own_pages_with_a_token() {
    let Served { address, .. } = Served::start("127.0.0.1:0", AllowList::default()).await;
    let Tokens { operator, viewer } = tokens();
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
        assert_eq!(upgrade(address, &path, origin).await, status, "{token} {origin:?}");
    }
    assert_eq!(upgrade(address, "/api", None).await, "403");
    assert_eq!(get(address, &format!("/api?token={operator}"), "localhost").await.0, 426, "not a WebSocket");
    assert_eq!(get(address, "/?token=wrong", "localhost").await.0, 403);
    let (status, page) = get(address, &format!("/?token={viewer}"), "localhost").await;
    assert!(status == 200 && page.contains("<!doctype html>"));
}
