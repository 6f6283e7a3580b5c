use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinHandle,
};
use world::clock::Pace;

use super::*;
use crate::{
    sim_thread::SimThread,
    testing::{running, within},
};

struct Served {
    sim: SimThread,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Served {
    async fn start(bind: &str, allow: AllowList) -> Self {
        let metrics = crate::metrics::install().unwrap();
        let sim = running(Pace::Flat);
        let listener = TcpListener::bind(bind).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let task =
            tokio::spawn(run(listener, sim.handle().clone(), metrics, "A test\n".to_owned(), allow, stop.clone()));
        Self { sim, address, stop, task }
    }
}

/// Status and body of a page.
async fn get(address: SocketAddr, path: &str, host: &str) -> (u16, String) {
    let mut answer = String::new();
    let talk = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_string(&mut answer).await
    };
    within("a page", talk).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, body.to_owned())
}

#[tokio::test]
async fn pages_say_how_the_world_is() {
    let Served { sim, address, stop, task } = Served::start("127.0.0.1:0", AllowList::default()).await;
    let mut snapshots = sim.handle().watch();
    within("ticks", snapshots.wait_for(|snapshot| snapshot.tick.0 > 3)).await.unwrap();
    for (path, wanted) in [
        ("/health", "ok"),
        ("/metrics", "rossum_tick_seconds_bucket"),
        ("/metrics", "rossum_overruns"),
        ("/", "A test"),
        ("/", "Rover (rover), 2 motors"),
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
async fn a_foreign_host_gets_nothing() {
    let served = Served::start("127.0.0.1:0", AllowList::default()).await;
    for path in ["/", "/health", "/metrics"] {
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
async fn strangers_get_nothing() {
    // a machine without a network has no strangers
    let Some(outer) = outer_address().await else { return };
    for (allow, status) in [("203.0.113.0/24".parse().unwrap(), 403), (outer.into(), 200)] {
        let served = Served::start("0.0.0.0:0", AllowList::new(vec![allow])).await;
        let address = SocketAddr::new(outer, served.address.port());
        assert_eq!(get(address, "/health", "127.0.0.1").await.0, status, "{allow}");
    }
}
