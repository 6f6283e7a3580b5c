//! Minimal clients and an echo server.

use std::{
    net::{SocketAddr, UdpSocket},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use wire::osp::{Dialect, LocalAgent, Reply, Request, Version};

use super::super::now;
use crate::process::Server;

const DIALECT: Dialect = Dialect::Document;
/// Time limit of a reply.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Size of an echoed datagram, in bytes.
const ECHO_BYTES: usize = 40;

/// A UDP echo server on its own thread.
pub(super) struct Echo {
    address: SocketAddr,
}

impl Echo {
    pub(super) fn start() -> anyhow::Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let address = socket.local_addr()?;
        thread::spawn(move || {
            let mut buffer = [0; 2_048];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                if socket.send_to(buffer.get(..length).unwrap_or_default(), from).is_err() {
                    return;
                }
            }
        });
        Ok(Self { address })
    }

    /// Measures round trips per second.
    pub(super) fn run(&self, block: Duration) -> anyhow::Result<f64> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(self.address)?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        let mut buffer = [0; 2_048];
        let (began, mut count) = (now(), 0_u64);
        loop {
            socket.send(buffer.get(..ECHO_BYTES).unwrap_or_default())?;
            socket.recv(&mut buffer)?;
            count += 1;
            let elapsed = now().duration_since(began);
            if elapsed >= block {
                return Ok(count as f64 / elapsed.as_secs_f64());
            }
        }
    }
}

/// A minimal OSP client.
pub(super) struct Peer {
    socket: UdpSocket,
    buffer: Vec<u8>,
}

pub(super) struct ListCounts {
    pub(super) announced: usize,
    pub(super) received: usize,
}

impl Peer {
    pub(super) fn connect(server: SocketAddr) -> anyhow::Result<Self> {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(TIMEOUT))?;
        socket
            .send_to(&Request::Init { dialect: DIALECT, version: Version::SUPPORTED }.to_bytes_in(DIALECT), server)?;
        let mut buffer = vec![0; 65_536];
        let (_, handler) = socket.recv_from(&mut buffer).context("no answer to the first request")?;
        socket.connect(handler)?;
        Ok(Self { socket, buffer })
    }

    fn send(&self, request: &Request) -> anyhow::Result<()> {
        self.socket.send(&request.to_bytes_in(DIALECT))?;
        Ok(())
    }

    fn receive(&mut self) -> anyhow::Result<Reply> {
        let length = self.socket.recv(&mut self.buffer)?;
        Ok(Reply::decode_in(DIALECT, self.buffer.get(..length).unwrap_or_default())?)
    }

    /// Takes control of an agent, given its index in the overview.
    fn control(&mut self, index: usize) -> anyhow::Result<LocalAgent> {
        self.send(&Request::GetAgentOverview)?;
        let Reply::AgentOverview { count } = self.receive()? else { bail!("no overview") };
        let mut wanted = None;
        for at in 0..count {
            let Reply::AgentOverviewNext { agent, .. } = self.receive()? else { bail!("no agent") };
            wanted = if at == index { Some(agent) } else { wanted };
        }
        self.send(&Request::AgentOverviewAck)?;
        let agent = wanted.context("no such agent")?;
        self.send(&Request::RegisterForAgent { agent })?;
        ensure!(matches!(self.receive()?, Reply::RegisterForAgentAck { .. }), "not registered");
        Ok(agent)
    }

    /// One step: request, acknowledgement, notification, confirmation.
    fn step(&mut self, request: &[u8], confirmation: &[u8]) -> anyhow::Result<()> {
        self.socket.send(request)?;
        loop {
            let length = self.socket.recv(&mut self.buffer)?;
            // only the notification is this long
            if length > 6 {
                break;
            }
        }
        self.socket.send(confirmation)?;
        Ok(())
    }

    pub(super) fn list_variables(&mut self, expression: &str) -> anyhow::Result<ListCounts> {
        self.send(&Request::GetValueIds { expression: expression.into() })?;
        let Reply::ValueIds { count: announced } = self.receive()? else { bail!("no list") };
        self.socket.set_read_timeout(Some(Duration::from_millis(500)))?;
        let mut received = 0;
        while received < announced && self.receive().is_ok() {
            received += 1;
        }
        self.socket.set_read_timeout(Some(TIMEOUT))?;
        Ok(ListCounts { announced, received })
    }
}

/// Clients that step a world together, each with its own agent and thread.
pub(super) struct Lockstep {
    clients: Vec<(SyncSender<u64>, JoinHandle<anyhow::Result<()>>)>,
    done: Receiver<Vec<Duration>>,
    /// Steps per order, about a tenth of a block.
    chunk: u64,
}

pub(super) struct Block {
    pub(super) steps: u64,
    pub(super) elapsed: Duration,
    pub(super) delays: Vec<Duration>,
}

impl Lockstep {
    pub(super) fn start(server: SocketAddr, clients: usize) -> anyhow::Result<Self> {
        let (report, done) = sync_channel(clients);
        let mut started = Vec::new();
        for index in 0..clients {
            let mut peer = Peer::connect(server)?;
            let agent = peer.control(index)?;
            let (order, orders) = sync_channel(1);
            let report = report.clone();
            started.push((order, thread::spawn(move || client(peer, agent, &orders, &report))));
        }
        Ok(Self { clients: started, done, chunk: 64 })
    }

    /// Steps for `block`.
    pub(super) fn run(&mut self, block: Duration) -> anyhow::Result<Block> {
        let began = now();
        let (mut steps, mut delays) = (0, Vec::new());
        loop {
            for (order, _) in &self.clients {
                order.send(self.chunk).context("a client has ended")?;
            }
            for _ in &self.clients {
                delays.extend(self.done.recv().context("a client has ended")?);
            }
            steps += self.chunk;
            let elapsed = now().duration_since(began);
            if elapsed >= block {
                self.chunk = (steps / 8).max(64);
                return Ok(Block { steps, elapsed, delays });
            }
        }
    }

    pub(super) fn end(self) -> anyhow::Result<()> {
        for (order, thread) in self.clients {
            drop(order);
            thread.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
        }
        Ok(())
    }
}

/// The inputs of a step; consecutive ones differ.
pub(super) fn inputs(step: u64) -> [f32; 2] {
    [if step.is_multiple_of(2) { 0.2 } else { 0.4 }, 0.3]
}

/// Executes orders of a number of steps and reports the latency of each.
fn client(
    mut peer: Peer,
    agent: LocalAgent,
    orders: &Receiver<u64>,
    report: &SyncSender<Vec<Duration>>,
) -> anyhow::Result<()> {
    let confirmation = Request::StepCompletedAck { agent }.to_bytes_in(DIALECT);
    let requests = [0, 1].map(|step| Request::NextStep { agent, inputs: inputs(step).into() }.to_bytes_in(DIALECT));
    while let Ok(steps) = orders.recv() {
        let mut delays = Vec::new();
        for step in 0..steps {
            let began = now();
            let request = requests.get((step % 2) as usize).map(Vec::as_slice).unwrap_or_default();
            peer.step(request, &confirmation)?;
            delays.push(now().duration_since(began));
        }
        report.send(delays)?;
    }
    peer.send(&Request::End)
}

/// Number of ticks from a motor command over ODCP until the motor moves.
pub(super) fn ticks_to_motion(server: &Server) -> anyhow::Result<u32> {
    let mut stepper = Peer::connect(server.address("osp")?)?;
    let agent = stepper.control(0)?;
    let request = Request::NextStep { agent, inputs: vec![] }.to_bytes_in(DIALECT);
    let confirmation = Request::StepCompletedAck { agent }.to_bytes_in(DIALECT);
    let mut motors = client::odcp::Client::connect(server.address("odcp:Rover")?)?;
    for _ in 0..50 {
        stepper.step(&request, &confirmation)?;
    }
    let at_rest = motors.motors()?;
    motors.set_motors(&[(1.0, 1.0), (1.0, 1.0)])?;
    // the answer arrives after the command has been received
    ensure!(motors.motors()? == at_rest, "the motors move while the world is paused");
    for ticks in 1..100 {
        stepper.step(&request, &confirmation)?;
        if motors.motors()? != at_rest {
            return Ok(ticks);
        }
    }
    bail!("the motors do not move")
}
