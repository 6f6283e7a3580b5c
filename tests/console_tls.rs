//! The console over TLS, end to end, and pages of other sites that try to use it, with and without TLS.

mod running;
mod visiting;

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
};

use client::console::{Client, ClientError};
use running::{DEADLINE, Running};
use visiting::{Served, ask};
use wire::console::{Command as ConsoleCommand, Role};

/// A server that other machines could use.
fn served_beyond_loopback() -> Served {
    Served::start(&["--scenario", "small", "--bind", "0.0.0.0", "--allow", "203.0.113.0/24"])
}

/// A connection to the console without TLS.
fn plain(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address("Console")).expect("it listens");
    stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
    stream
}

fn gravity(client: &mut Client) -> Result<(), String> {
    ask(client, ConsoleCommand::Read { variable: "/Simulation/Gravitation".to_owned() })
}

#[test]
fn a_console_beyond_loopback_uses_tls() {
    let served = served_beyond_loopback();
    let server = &served.server;
    let link = served.link("console");
    assert!(link.starts_with("https://127.0.0.1:"), "{link}");
    let fingerprint = server.fingerprint().expect("it prints the fingerprint");
    assert_eq!(server.page("/health").0, 200);
    let (status, page) = server.page("/");
    assert!(status == 200 && page.contains("<!doctype html>"), "{status} {page}");
    let mut operator = served.operator();
    assert_eq!(operator.hello().role, Role::Operator);
    gravity(&mut operator).expect("the WebSocket works");

    // a client that trusts another certificate does not even send its token
    let mut other = fingerprint.to_string();
    other.replace_range(..1, if other.starts_with('0') { "1" } else { "0" });
    let refused = Client::connect_trusting(&link, other.parse().expect("a fingerprint")).map(drop);
    assert!(matches!(refused, Err(ClientError::Io(_))), "{refused:?}");
    assert!(matches!(Client::connect(&link).map(drop), Err(ClientError::Untrusted)));

    // a client without TLS is told so
    let mut stream = plain(server);
    write!(stream, "GET /?token={} HTTP/1.1\r\nHost: localhost\r\n\r\n", server.token("console")).expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 400 ") && answer.ends_with("begins with https://\n"), "{answer}");
    let unencrypted = Client::connect(&link.replace("https", "http")).map(drop);
    assert!(matches!(unencrypted, Err(ClientError::Refused { .. })), "{unencrypted:?}");

    let address = server.address("Console").to_string().replace("0.0.0.0", "127.0.0.1");
    let listed = served.run(&["agents", "--server", &format!("https://{address}")]);
    assert!(listed.code == Some(0) && listed.stdout.contains("Rover"), "{listed:?}");
    let listed = served.run(&["agents", "--server", &address]);
    assert!(listed.code == Some(1) && listed.stderr.contains("https://"), "{listed:?}");
    gravity(&mut operator).expect("it goes on");
}

#[test]
fn the_certificate_is_kept_and_a_users_own_is_used() {
    let served = served_beyond_loopback();
    let fingerprint = served.server.fingerprint();
    let again = Running::start(
        running::rossum()
            .args([
                "serve",
                "--free-ports",
                "--json",
                "--scenario",
                "small",
                "--bind",
                "0.0.0.0",
                "--allow",
                "203.0.113.0/24",
            ])
            .env("ROSSUM_STATE", served.state()),
    );
    assert_eq!(again.fingerprint(), fingerprint);
    // as if it came from elsewhere
    let kept = fs::read_to_string(served.state().join("certificate.toml")).expect("it is kept");
    let kept: toml::Table = kept.parse().expect("TOML");
    let folder = tempfile::tempdir().expect("a folder");
    let [certificate, key] = ["certificate", "key"].map(|name| {
        let path = folder.path().join(format!("{name}.pem"));
        fs::write(&path, kept[name].as_str().expect("a text")).expect("written");
        path.to_str().expect("a path in UTF-8").to_owned()
    });
    let own = Served::start(&["--scenario", "small", "--certificate", &certificate, "--key", &key]);
    assert_eq!(own.server.fingerprint(), fingerprint);
    assert!(own.link("console").starts_with("https://127.0.0.1:"), "also on a loopback address");
    gravity(&mut own.operator()).expect("it works");
    assert!(!own.state().join("certificate.toml").exists(), "none is made");

    for (arguments, wanted) in [
        (["--certificate", &certificate, "--key", &certificate], "no private key"),
        (["--certificate", "/does/not/exist.pem", "--key", &key], "/does/not/exist.pem"),
    ] {
        let ended = running::run(&[&["serve", "--scenario", "small", "--free-ports"], &arguments[..]].concat());
        assert!(ended.code == Some(1) && ended.stderr.contains(wanted), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
    }
    assert_eq!(running::run(&["serve", "--certificate", &certificate]).code, Some(2));
    let loopback = Served::small();
    assert!(loopback.server.fingerprint().is_none() && loopback.link("console").starts_with("http://"));
}

#[test]
fn silent_handshakes_hold_up_nobody() {
    let served = served_beyond_loopback();
    // nothing at all, and a record that is never completed
    let mut silent: Vec<_> = (0..8).map(|_| plain(&served.server)).collect();
    for stream in silent.iter_mut().take(4) {
        stream.write_all(&[0x16, 3, 1, 2, 0, 1]).expect("it listens");
    }
    let mut witness = served.operator();
    for _ in 0..20 {
        assert_eq!(served.server.page("/health").0, 200);
        gravity(&mut witness).expect("it goes on");
    }
    for mut stream in silent {
        let mut answer = Vec::new();
        let ended = stream.read_to_end(&mut answer);
        // closed, perhaps with an alert
        assert!(ended.is_ok() && answer.len() < 16, "{ended:?} {answer:?}");
    }
    gravity(&mut witness).expect("it goes on");
}

/// Requests as browsers send them for pages of other sites, with a token that such a page cannot know.
#[test]
fn pages_of_other_sites_get_403_and_change_nothing() {
    for served in [Served::small(), served_beyond_loopback()] {
        let server = &served.server;
        let port = server.address("Console").port();
        let mut operator = served.operator();
        let (scheme, other_scheme) = if server.fingerprint().is_some() { ("https", "http") } else { ("http", "https") };
        let own = format!("127.0.0.1:{port}");
        let origin = |origin: &str| format!("Origin: {origin}\r\n");
        for (host, headers, wanted) in [
            (own.clone(), String::new(), 101),
            (own.clone(), origin(&format!("{scheme}://{own}")), 101),
            (own.clone(), origin("http://evil.example"), 403),
            (own.clone(), origin("https://evil.example"), 403),
            (own.clone(), origin("null"), 403),
            (own.clone(), origin(&format!("{other_scheme}://{own}")), 403),
            (own.clone(), origin(&format!("{scheme}://127.0.0.1:1")), 403),
            (own.clone(), origin(&format!("{scheme}://localhost:{port}")), 403),
            (format!("evil.example:{port}"), String::new(), 403),
            (format!("evil.example:{port}"), origin(&format!("{scheme}://evil.example:{port}")), 403),
            (format!("127.0.0.1.evil.example:{port}"), String::new(), 403),
        ] {
            let token = server.token("console");
            let got = served.status_at(&host, &format!("/api?token={token}"), &headers);
            assert_eq!(got, wanted, "{scheme} {host} {headers}");
            for path in ["/", "/status", "/agents", "/metrics", "/health"] {
                let wanted = if wanted == 101 { 200 } else { 403 };
                let headers = format!("Host: {host}\r\nAuthorization: Bearer {token}\r\n{headers}");
                let (got, body) = server.page_with(path, &headers);
                assert_eq!(got, wanted, "{scheme} {path} {headers}: {body}");
                assert!(got == 200 || !body.contains("Rover"), "{scheme} {path}: {body}");
            }
        }
        // forms of other sites can send these without asking
        for method in ["POST", "PUT", "DELETE"] {
            let mut stream = server.connect();
            let command = r#"{"do":"write","variable":"/Simulation/Gravitation","value":"1"}"#;
            let head = format!("{method} /api?token={} HTTP/1.1\r\nHost: {own}\r\n", server.token("console"));
            write!(stream, "{head}Content-Length: {}\r\n\r\n{command}", command.len()).expect("it listens");
            let mut answer = [0; 12];
            stream.read_exact(&mut answer).expect("it answers");
            assert_eq!(&answer, b"HTTP/1.1 405", "{scheme} {method}");
        }
        assert_eq!(visiting::read(&mut operator, "/Simulation/Gravitation"), "9.81", "{scheme}");
    }
}
