use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use crate::{Scenario, Server, testing::DEADLINE};

fn scenario(section: &str) -> Scenario {
    let text = format!("[server]\nfree_ports = true\n[evo]\n{section}");
    Scenario::parse("test", &text, std::path::Path::new("")).unwrap()
}

#[test]
fn an_unknown_key_is_refused_with_a_suggestion() {
    let error = Scenario::parse("test", "[evo]\nworlds = \"empty\"", std::path::Path::new("")).unwrap_err().to_string();
    assert!(error.contains("worlds") && error.contains("world"), "{error}");
    let whole = scenario("world = \"empty\"\nbody = \"platine\"").to_toml();
    assert!(whole.contains("robot_port = 7720"), "{whole}");
    assert_eq!(Scenario::parse("again", &whole, std::path::Path::new("")).unwrap().to_toml(), whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_names_are_reported() {
    for (section, expected) in [
        ("world = \"emty\"", "did you mean `empty`?"),
        ("world = \"empty\"\nbody = \"platin\"", "platine"),
        ("body = \"platine\"", "needs a `world`"),
        ("world = \"nowhere/else.toml\"", "failed to read"),
    ] {
        let error = Server::start(&scenario(section), None).await.unwrap_err().to_string();
        assert!(error.starts_with("[evo]: ") && error.contains(expected), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn both_simulators_run_next_to_a_world() {
    let server = Server::start(&scenario("world = \"empty\"\nbody = \"platine\""), None).await.unwrap();
    for (title, question, answer) in [
        ("World Simulator", "CreateRobot\r\n", "YourIdentifier 1\r\n"),
        ("Robot Simulator", "SendNetParameters\r\n", "NetParameters "),
    ] {
        let address = server.addresses().iter().find(|address| address.title == title).unwrap().address;
        let reply = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(DEADLINE)).unwrap();
            stream.write_all(question.as_bytes()).unwrap();
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).unwrap();
            line
        });
        let reply = reply.await.unwrap();
        assert!(reply.starts_with(answer), "{reply}");
    }
    server.stop().await;
}
