//! The ODCP client against a scripted server on a real socket.

use client::odcp::{ATTEMPTS, Client, ClientError};
use serde_json::Value;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const CONNECT: &str = "05";
const CONNECTED: &str = "060f00000001000000";
const DISCONNECT: &str = "07";
const DISCONNECTED: &str = "08";
const GET_MOTORS: &str = "96";
const AT_NULL: &str = "970002000000020000";
const AT_LIMITS: &str = "9700000000ff030000";

/// One request to await, and the datagrams to answer it with.
type Exchange = (&'static str, Vec<String>);

fn exchange(request: &'static str, replies: &[&str]) -> Exchange {
    (request, replies.iter().map(ToString::to_string).collect())
}

/// A server that goes through its script and panics at the first request that is not in it. A busy machine may make the
/// client ask once more than the script foresees: the last request is answered again.
struct FakeServer {
    address: SocketAddr,
    thread: JoinHandle<()>,
}

impl FakeServer {
    fn start(script: Vec<Exchange>) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a deadline");
        let address = socket.local_addr().expect("bound");
        let thread = thread::spawn(move || {
            let mut buffer = [0; 8192];
            let mut done: Option<&Exchange> = None;
            let mut coming = script.iter().peekable();
            while let Some(next) = coming.peek() {
                let (length, peer) = socket.recv_from(&mut buffer).expect("the next request of the script");
                let request = hex_from_bytes(&buffer[..length]);
                if request == next.0 {
                    done = coming.next();
                }
                let (expected, replies) = done.expect("the first request of the script");
                assert_eq!(request, *expected);
                for reply in replies {
                    socket.send_to(&bytes_from_hex(reply), peer).expect("the client is there");
                }
            }
        });
        Self { address, thread }
    }

    fn finish(self) {
        self.thread.join().expect("the client kept to the script");
    }
}

fn hex_from_bytes(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_from_hex(hex: &str) -> Vec<u8> {
    let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two hex digits");
    (0..hex.len()).step_by(2).map(digits).collect()
}

#[test]
fn a_whole_visit() {
    let server = FakeServer::start(vec![
        exchange(CONNECT, &[CONNECTED]),
        exchange(GET_MOTORS, &[AT_NULL]),
        exchange("6400000000ff030000ff03000000000000", &[]),
        exchange(GET_MOTORS, &[AT_LIMITS]),
        exchange(DISCONNECT, &[DISCONNECTED]),
    ]);
    let mut client = Client::connect(server.address).unwrap();
    assert_eq!(client.motors().unwrap(), [0.0, 0.0]);
    // beyond the limits is at the limits
    client.set_motors(&[(-1.5, 1.0), (1.0, -0.5)]).unwrap();
    assert_eq!(client.motors().unwrap(), [-1.0, 1.0]);
    client.disconnect().unwrap();
    server.finish();
}

#[test]
fn a_lost_reply_is_asked_for_again() {
    let server = FakeServer::start(vec![
        exchange(CONNECT, &[]),
        exchange(CONNECT, &[CONNECTED]),
        exchange(GET_MOTORS, &[]),
        exchange(GET_MOTORS, &[AT_LIMITS]),
        exchange(DISCONNECT, &[]),
        exchange(DISCONNECT, &[DISCONNECTED]),
    ]);
    let mut client = Client::connect(server.address).unwrap();
    assert_eq!(client.motors().unwrap(), [-1.0, 1.0]);
    client.disconnect().unwrap();
    server.finish();
}

#[test]
fn replies_to_something_else_are_passed_over() {
    let server = FakeServer::start(vec![
        exchange(CONNECT, &[AT_NULL, CONNECTED]),
        exchange(GET_MOTORS, &[CONNECTED, CONNECTED, AT_LIMITS]),
    ]);
    let mut client = Client::connect(server.address).unwrap();
    assert_eq!(client.motors().unwrap(), [-1.0, 1.0]);
    server.finish();
}

#[test]
fn a_late_reply_is_not_the_answer_to_the_next_request() {
    let server = FakeServer::start(vec![
        exchange(CONNECT, &[CONNECTED, AT_LIMITS]),
        exchange(DISCONNECT, &[DISCONNECTED]),
        exchange(GET_MOTORS, &[AT_NULL]),
    ]);
    let mut client = Client::connect(server.address).unwrap();
    // once the server has answered somebody else, all it sent before has arrived
    let somebody = UdpSocket::bind("127.0.0.1:0").unwrap();
    somebody.send_to(&[7], server.address).unwrap();
    assert_eq!(somebody.recv(&mut [0]).unwrap(), 1);
    assert_eq!(client.motors().unwrap(), [0.0, 0.0]);
    server.finish();
}

#[test]
fn silence_is_an_error_in_the_end() {
    let silence = (0..ATTEMPTS).map(|_| exchange(CONNECT, &[])).collect();
    let server = FakeServer::start(silence);
    assert!(matches!(Client::connect(server.address), Err(ClientError::NoReply { request: "connect" })));
    server.finish();
}

/// A port that is taken, so that no other test gets it, and refuses everybody: it is connected to itself.
fn deaf_socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.connect(socket.local_addr().expect("bound")).expect("its own address");
    socket
}

#[test]
fn a_port_nobody_listens_on_is_an_error_at_once() {
    let deaf = deaf_socket();
    let Err(ClientError::Io(error)) = Client::connect(deaf.local_addr().unwrap()) else { panic!("nobody answered") };
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn the_next_address_is_tried() {
    let deaf = deaf_socket();
    let server = FakeServer::start(vec![exchange(CONNECT, &[CONNECTED])]);
    Client::connect([deaf.local_addr().unwrap(), server.address].as_slice()).unwrap();
    server.finish();
    assert!(matches!(Client::connect([].as_slice()), Err(ClientError::NoAddress)));
}

#[test]
fn bad_settings_are_not_sent() {
    let server = FakeServer::start(vec![exchange(CONNECT, &[CONNECTED]), exchange(DISCONNECT, &[DISCONNECTED])]);
    let mut client = Client::connect(server.address).unwrap();
    let check = |client: &mut Client, settings: &[(f64, f64)], text: &str| {
        assert_eq!(client.set_motors(settings).unwrap_err().to_string(), text);
    };
    check(&mut client, &[(0.0, 1.0), (f64::NAN, 1.0)], "the setting of motor 1 is not finite");
    check(&mut client, &[(0.0, f64::INFINITY)], "the setting of motor 0 is not finite");
    check(&mut client, &[(0.0, 0.0); 513], "513 motors are more than the 512 that fit into a datagram");
    client.disconnect().unwrap();
    server.finish();
}

/// Every reply of the shared vectors, as the answer to a request for the motors.
#[test]
fn replies_match_the_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../protocols/odcp/vectors.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for vector in vectors["replies"].as_array().unwrap() {
        let hex = vector["hex"].as_str().unwrap();
        // a reply of another kind is ignored, and the next one is used
        let server = FakeServer::start(vec![exchange(CONNECT, &[CONNECTED]), exchange(GET_MOTORS, &[hex, AT_LIMITS])]);
        let mut client = Client::connect(server.address).unwrap();
        let motors = client.motors();
        if vector.get("error").is_some() {
            assert!(matches!(motors, Err(ClientError::BadReply(_))), "{vector}");
        } else if let Some(angles) = vector["message"]["angles"].as_array() {
            let back = motors.unwrap().into_iter().map(|angle| wire::odcp::raw_from_normalized_angle(angle).get());
            assert!(back.map(u64::from).eq(angles.iter().map(|raw| raw.as_u64().unwrap())), "{vector}");
        } else {
            assert_eq!(motors.unwrap(), [-1.0, 1.0], "{vector}");
        }
        server.finish();
    }
}
