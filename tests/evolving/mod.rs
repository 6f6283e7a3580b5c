//! The World Simulator and the Robot Simulator of the built program, and plain sockets that know nothing but the document.

#![allow(dead_code, reason = "each test file uses only some of this")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
};

use crate::running::{DEADLINE, Running, rossum};

/// A World Simulator with this world.
pub(crate) fn world(name: &str) -> Running {
    Running::start(rossum().args(["world", name, "--free-ports", "--json", "--seed", "5"]))
}

/// A Robot Simulator with these arguments.
pub(crate) fn robot(arguments: &[&str]) -> Running {
    Running::start(rossum().args(["robot", "--free-ports", "--json"]).args(arguments))
}

/// A socket that sends and reads lines.
pub(crate) struct Plain {
    pub(crate) reader: BufReader<TcpStream>,
}

impl Plain {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        stream.set_nodelay(true).expect("no delay");
        Self { reader: BufReader::new(stream) }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).expect("it is read");
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.send(format!("{line}\r\n").as_bytes());
    }

    /// The next line, which must end as the document says, with single spaces and finite numbers.
    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        let line = line.strip_suffix("\r\n").unwrap_or_else(|| panic!("`{line}` does not end in CrLf")).to_owned();
        for word in line.split(' ').skip(1) {
            assert!(!word.is_empty() && word.bytes().all(|byte| b"0123456789+-Ee.".contains(&byte)), "{line}");
        }
        line
    }

    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.say(line);
        self.hear()
    }

    /// The answer's numbers, after its name.
    pub(crate) fn numbers(&mut self, line: &str, name: &str) -> Vec<f64> {
        let answer = self.ask(line);
        let mut words = answer.split(' ');
        assert_eq!(words.next(), Some(name), "{line}: {answer}");
        words.map(|word| word.parse().expect("a number")).collect()
    }

    pub(crate) fn create(&mut self) -> u64 {
        self.numbers("CreateRobot", "YourIdentifier")[0] as u64
    }

    /// The peer has closed the connection and says nothing more.
    pub(crate) fn closes(mut self) -> bool {
        let mut rest = Vec::new();
        self.reader.read_to_end(&mut rest).is_ok() && rest.is_empty()
    }
}
