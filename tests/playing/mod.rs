//! Players of the soccer league, with plain sockets.

#![allow(dead_code, reason = "each test uses what it needs")]

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use wire::{Message, soccer::Perception};

use crate::running::{DEADLINE, eventually};

pub(crate) const AGENTS: &str = "Soccer agents";
pub(crate) const MONITORS: &str = "Soccer monitors";
pub(crate) const MAX_FRAME: usize = 64 * 1024;

/// An agent, as seen by itself.
pub(crate) struct Agent {
    pub(crate) stream: TcpStream,
}

impl Agent {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("it listens");
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(DEADLINE)).expect("a deadline");
        stream.set_write_timeout(Some(DEADLINE)).expect("a deadline");
        Self { stream }
    }

    /// Connects and sends an `init`; may be refused.
    pub(crate) fn init(address: SocketAddr, init: &str) -> Self {
        let mut agent = Self::connect(address);
        agent.send(&format!("(init {init})"));
        agent
    }

    /// Tries until it plays: whoever had the number may not have gone yet.
    pub(crate) fn join(address: SocketAddr, init: &str) -> Self {
        eventually("a place in the game", || {
            let mut agent = Self::init(address, init);
            agent.next().is_some().then_some(agent)
        })
    }

    pub(crate) fn send(&mut self, message: &str) {
        self.send_frame(message.len() as u32, message.as_bytes());
    }

    /// Sends what claims to have a length. The server may have gone away already.
    pub(crate) fn send_frame(&mut self, length: u32, payload: &[u8]) {
        let mut bytes = length.to_be_bytes().to_vec();
        bytes.extend_from_slice(payload);
        let _ = self.stream.write_all(&bytes);
    }

    /// The next message; none once the server has closed the connection.
    pub(crate) fn next_text(&mut self) -> Option<String> {
        let mut length = [0; 4];
        let may_end = |result: std::io::Result<()>| match result {
            Ok(()) => Some(()),
            Err(error) => {
                let timed_out = matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut);
                assert!(!timed_out, "neither a message nor the end within {DEADLINE:?}");
                None
            }
        };
        may_end(self.stream.read_exact(&mut length))?;
        let length = u32::from_be_bytes(length) as usize;
        assert!(length <= MAX_FRAME, "{length} bytes");
        let mut payload = vec![0; length];
        may_end(self.stream.read_exact(&mut payload))?;
        Some(String::from_utf8(payload).expect("text"))
    }

    pub(crate) fn next(&mut self) -> Option<Perception> {
        self.next_text().map(|text| Perception::decode(text.as_bytes()).expect("a perception"))
    }

    /// Waits for the end of the connection.
    pub(crate) fn await_end(&mut self) {
        eventually("the end of the connection", || self.next_text().is_none().then_some(()));
    }

    /// Waits until it stands there.
    pub(crate) fn await_place(&mut self, x: f64) {
        eventually("the new place", || {
            let perception = self.next().expect("it plays");
            ((perception.positions[0].values[0].get() - x).abs() < 0.05).then_some(())
        });
    }
}

/// Which cycle a perception is about. The league's way of writing the time is often a hundredth behind.
pub(crate) fn cycle_of(perception: &Perception) -> u64 {
    (perception.time.get() * 50.0 - 0.25).ceil() as u64
}

/// A healthy agent that is told of every cycle, whatever others do.
pub(crate) struct Witness {
    may_end: Arc<AtomicBool>,
    watching: JoinHandle<u64>,
}

impl Witness {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let mut agent = Agent::join(address, "T1 Witnesses 1");
        let may_end = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&may_end);
        let watching = thread::spawn(move || {
            let mut last = cycle_of(&agent.next().expect("it plays"));
            let mut cycles = 0;
            while !ends.load(Ordering::Relaxed) {
                let perception = agent.next().expect("nobody closes a healthy agent");
                assert_eq!(cycle_of(&perception), last + 1, "a cycle was missed at {:?}", perception.time);
                last += 1;
                cycles += 1;
                agent.send("(he1 10 0 5 1 0)(he2 0 0 5 1 0)(syn)");
            }
            cycles
        });
        Self { may_end, watching }
    }

    /// Fails if it missed anything; says how many cycles it saw.
    pub(crate) fn end(self) -> u64 {
        self.may_end.store(true, Ordering::Relaxed);
        self.watching.join().expect("it missed nothing")
    }
}
