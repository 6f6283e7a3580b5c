//! `rossum agents`.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use clap::Args;
use client::tls::{Fingerprint, Stream};
use serde_json::Value;
use server::user_data::{self, Tokens};

use crate::table::table;

/// Time limit for connecting and for the answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of the answer, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Options of `rossum agents`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Address of the server's console, or a link that the server printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:1920")]
    server: String,
    /// Token for the server's pages; that of your own servers by default
    #[arg(long, value_name = "TOKEN", env = "ROSSUM_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// SHA-256 fingerprint of the certificate of a server that uses TLS; that of your own servers by default
    #[arg(long, value_name = "SHA256")]
    fingerprint: Option<Fingerprint>,
    /// Print a JSON array instead of a table
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(options: &Options, out: &mut dyn Write) -> anyhow::Result<()> {
    let (scheme, link) = options.server.split_once("://").unwrap_or(("http", &options.server));
    let (server, linked) = link.split_once("/?token=").unwrap_or((link, ""));
    let server = server.trim_end_matches('/');
    let token = options.token.as_deref().or(Some(linked).filter(|token| !token.is_empty()));
    let encrypted = match scheme {
        "http" => None,
        "https" => Some(options.fingerprint.map_or_else(own_fingerprint, Ok)?),
        _ => bail!("--server {}: expected an address, or a link that begins with http:// or https://", options.server),
    };
    let agents = fetch(server, "/agents", token, encrypted)?;
    let agents: Value =
        serde_json::from_str(&agents).with_context(|| format!("{server} did not send a list of agents"))?;
    if options.json {
        writeln!(out, "{agents:#}")?;
    } else {
        write!(out, "{}", as_table(&agents))?;
    }
    Ok(())
}

fn as_table(agents: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        other => other.to_string(),
    };
    const COLUMNS: [&str; 8] = ["name", "robot", "motors", "inputs", "outputs", "infos", "odcp", "controlled"];
    let rows: Vec<_> = agents
        .as_array()
        .into_iter()
        .flatten()
        .map(|agent| COLUMNS.map(|column| text(agent.get(column).unwrap_or(&Value::Null))))
        .collect();
    table(COLUMNS, &rows)
}

/// The fingerprint of this user's own servers.
fn own_fingerprint() -> anyhow::Result<Fingerprint> {
    let own = server::tls::kept_fingerprint(&user_data::folder());
    Ok(own.context("pass the fingerprint that the server printed with --fingerprint")?.parse()?)
}

/// The token of this user's own servers. It is not sent to other machines.
fn own_token(address: SocketAddr) -> anyhow::Result<String> {
    ensure!(address.ip().is_loopback(), "pass a token of the server on the other machine with --token");
    let tokens = Tokens::read(&user_data::folder()).context("no tokens of a server of yours; pass one with --token")?;
    Ok(tokens.viewer.secret)
}

/// Fetches a page of the server.
fn fetch(server: &str, path: &str, token: Option<&str>, trusted: Option<Fingerprint>) -> anyhow::Result<String> {
    let no_server = || {
        format!(
            "no server at {server}; start one with `rossum serve --scenario orcs`, and pass the address of its console \
             with --server"
        )
    };
    let stream = connect(server).with_context(no_server)?;
    let token = token.map_or_else(|| own_token(stream.peer_addr()?), |token| Ok(token.to_owned()))?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut stream = match trusted {
        None => Stream::Plain(stream),
        Some(fingerprint) => Stream::encrypt(stream, fingerprint)
            .with_context(|| format!("{server} has another certificate, or no TLS"))?,
    };
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {server}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).with_context(no_server)?;
    let mut answer = String::new();
    stream.take(MAX_BYTES).read_to_string(&mut answer).with_context(no_server)?;
    body(&answer).with_context(|| format!("{server} is not a Rossum server with {path}"))
}

fn connect(server: &str) -> anyhow::Result<TcpStream> {
    let mut failure = anyhow::anyhow!("the address does not resolve to any host");
    for address in server.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = error.into(),
        }
    }
    Err(failure)
}

/// The body of a successful HTTP response.
fn body(answer: &str) -> anyhow::Result<String> {
    let Some((head, body)) = answer.split_once("\r\n\r\n") else { bail!("invalid HTTP response") };
    let status = head.lines().next().unwrap_or_default();
    match status.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        // also of our servers, if they use TLS
        Some("400") => bail!("{}", body.trim()),
        Some("401") => bail!("the server does not accept the token; pass one of its tokens with --token"),
        _ => bail!("status: {status}"),
    }
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use serde_json::json;

    use super::*;

    const AGENTS: &str = r#"[
        {"name": "ASeries", "robot": "aseries", "motors": 21, "inputs": 42, "outputs": 27, "infos": 4,
         "odcp": "127.0.0.1:45453", "controlled": true},
        {"name": "Ball", "robot": "ball", "motors": 0, "inputs": 0, "outputs": 0, "infos": 0,
         "odcp": null, "controlled": false}
    ]"#;

    #[test]
    fn tables_have_a_row_per_agent() {
        let table = as_table(&serde_json::from_str(AGENTS).unwrap());
        let expected = "\
name     robot    motors  inputs  outputs  infos  odcp             controlled
ASeries  aseries  21      42      27       4      127.0.0.1:45453  yes
Ball     ball     0       0       0        0      -                no
";
        assert_eq!(table, expected);
        assert_eq!(as_table(&json!([])).lines().count(), 1);
    }

    /// Fetches the agents from a server that sends `answer`, with this link and token; returns the request as well.
    fn ask(answer: &'static str, rest: &str, token: Option<&str>) -> (anyhow::Result<String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = format!("http://{}/{rest}", listener.local_addr().unwrap());
        let serving = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let length = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let mut out = Vec::new();
        let result = run(&Options { server, token: token.map(str::to_owned), fingerprint: None, json: true }, &mut out);
        (result.map(|()| String::from_utf8(out).unwrap()), serving.join().unwrap())
    }

    #[test]
    fn agents_are_fetched() {
        let found = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n[{\"name\":\"Rover\"}]\n";
        for (link, token, sent) in
            [("", Some("abc"), "abc"), ("?token=def", None, "def"), ("?token=def", Some("abc"), "abc")]
        {
            let (printed, request) = ask(found, link, token);
            assert_eq!(serde_json::from_str::<Value>(&printed.unwrap()).unwrap(), json!([{ "name": "Rover" }]));
            let wanted = format!("\r\nAuthorization: Bearer {sent}\r\n");
            assert!(request.starts_with("GET /agents HTTP/1.1\r\n") && request.contains(&wanted), "{request}");
        }
        for (answer, wanted) in [
            ("HTTP/1.1 404 Not Found\r\n\r\n", "404 Not Found"),
            ("HTTP/1.1 401 Unauthorized\r\n\r\n", "--token"),
            ("220 mail\r\n", "invalid HTTP response"),
            ("HTTP/1.1 200 OK\r\n\r\nhello", "did not send a list of agents"),
        ] {
            let error = format!("{:#}", ask(answer, "", Some("abc")).0.unwrap_err());
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn unreachable_server() {
        let server = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
        let error = format!(
            "{:#}",
            run(&Options { server, token: None, fingerprint: None, json: false }, &mut Vec::new()).unwrap_err()
        );
        assert!(error.contains("rossum serve --scenario orcs"), "{error}");
    }
}
