use std::{fs, io, net::Ipv4Addr, time::Duration};

use session::osp::Osp;
use tokio::time::timeout;
use world::{Command, Value, clock::Pace};

use super::*;
use crate::{
    access::AllowList,
    sim_thread::{SimOptions, SimThread, Ticks},
    testing::{running, small_world, within},
};

const INIT: &[u8] = &[5, 1, 1];
const INIT_ACK: &[u8] = &[6, 1, 1, 120];
const OVERVIEW: &[u8] = &[90];
const REGISTER: &[u8] = &[100, 1, 0, 0, 0];
const STEP: &[u8] = &[80, 1, 0, 0, 0, 0, 0, 0, 0];

/// A service in front of the small world.
struct Running {
    sim: Option<SimThread>,
    address: SocketAddr,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Running {
    async fn start() -> Self {
        Self::with(running(Pace::Lockstep)).await
    }

    async fn with(sim: SimThread) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let (address, stop) = (socket.local_addr().unwrap(), CancellationToken::new());
        let (sim_handle, allow, osp) = (sim.handle().clone(), AllowList::default(), Box::<Osp>::default());
        let (most, stopping) = (limits::CONVERSATIONS, stop.clone());
        let port = Port { socket, protocol: "osp", service: osp, sim: sim_handle, allow, most, stop: stopping };
        Self { address, stop, task: tokio::spawn(port.run()), sim: Some(sim) }
    }

    /// Greets from a new socket; returns it and the address of the answer.
    async fn greet(&self) -> (UdpSocket, SocketAddr) {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let from = self.greet_again(&socket).await;
        (socket, from)
    }

    async fn greet_again(&self, socket: &UdpSocket) -> SocketAddr {
        socket.send_to(INIT, self.address).await.unwrap();
        let mut buffer = [0; 100];
        loop {
            let (length, from) = within("an answer", socket.recv_from(&mut buffer)).await.unwrap();
            if &buffer[..length] == INIT_ACK {
                return from;
            }
        }
    }

    async fn client(&self) -> UdpSocket {
        let (socket, from) = self.greet().await;
        socket.connect(from).await.unwrap();
        socket
    }

    async fn end(mut self) {
        self.stop.cancel();
        within("the end", &mut self.task).await.unwrap();
        let sim = self.sim.take().unwrap();
        tokio::task::spawn_blocking(move || sim.stop()).await.unwrap();
    }
}

/// The first answer with this id.
async fn ask(client: &UdpSocket, datagram: &[u8], id: u8) -> Vec<u8> {
    client.send(datagram).await.unwrap();
    receive(client, id).await
}

async fn receive(client: &UdpSocket, id: u8) -> Vec<u8> {
    let mut buffer = [0; 2_000];
    loop {
        let length = within("an answer", client.recv(&mut buffer)).await.unwrap();
        if buffer[0] == id {
            return buffer[..length].to_vec();
        }
    }
}

/// Whether nobody is at the other end any more. A request that arrives while it closes is lost, and sent again.
async fn is_closed(client: &UdpSocket) -> bool {
    let is_refused = |error: io::Error| {
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused, "{error}");
        true
    };
    loop {
        if let Err(error) = client.send(OVERVIEW).await {
            return is_refused(error);
        }
        if let Ok(received) = timeout(Duration::from_millis(100), client.recv(&mut [0; 2_000])).await {
            return received.is_err_and(is_refused);
        }
    }
}

async fn register(client: &UdpSocket) -> u8 {
    ask(client, OVERVIEW, 92).await;
    ask(client, REGISTER, 101).await[5]
}

#[tokio::test]
async fn a_repeated_greeting_is_answered_by_the_same_conversation() {
    let server = Running::start().await;
    let (socket, from) = server.greet().await;
    assert_ne!(from, server.address);
    assert_eq!(server.greet_again(&socket).await, from, "the answer may have got lost");
    socket.send_to(OVERVIEW, from).await.unwrap();
    receive(&socket, 92).await;
    socket.send_to(REGISTER, from).await.unwrap();
    assert_eq!(receive(&socket, 101).await[5], 1);
    assert_eq!(server.greet_again(&socket).await, from, "the greeting may have been late");
    // another greeting is that of a restarted client
    socket.send_to(&[5, 1, 1, 120], server.address).await.unwrap();
    let mut buffer = [0; 100];
    let (_, restarted) = within("an answer", socket.recv_from(&mut buffer)).await.unwrap();
    assert_ne!(restarted, from);
    socket.connect(restarted).await.unwrap();
    // agents of the old conversation are released when it has ended
    while register(&socket).await != 1 {}
    server.end().await;
}

#[tokio::test]
async fn an_acknowledgement_is_sent_with_the_next_message_or_after_a_delay() {
    let server = Running::start().await;
    let client = server.client().await;
    assert_eq!(register(&client).await, 1);
    client.send(STEP).await.unwrap();
    let mut buffer = [0; 2_000];
    for id in [81, 85] {
        within("an answer", client.recv(&mut buffer)).await.unwrap();
        assert_eq!(buffer[0], id);
    }
    client.send(&[86, 1, 0, 0, 0]).await.unwrap();
    // the world is paused: no message follows
    let handle = server.sim.as_ref().unwrap().handle();
    let pause = handle.latest().catalogue.variable_named("/Control/Pause").unwrap().id;
    let (mut sender, mut deliveries) = handle.open(Ticks::Never).unwrap();
    sender.send(Command::Write(pause, Value::Boolean(true))).unwrap();
    within("an answer", deliveries.recv()).await.unwrap();
    ask(&client, STEP, 81).await;
    sender.send(Command::Write(pause, Value::Boolean(false))).unwrap();
    receive(&client, 85).await;
    server.end().await;
}

#[tokio::test]
async fn a_client_that_vanishes_blocks_no_other() {
    let options =
        SimOptions { pace: Pace::Lockstep, silence: Duration::from_millis(200), steady: false, recording: None };
    let server = Running::with(SimThread::start(small_world(), options).unwrap()).await;
    let (gone, stays) = (server.client().await, server.client().await);
    // killed between a request and its confirmation: noticed when the next datagram to its closed port is refused,
    // otherwise when it has been silent for too long
    assert_eq!(register(&gone).await, 1);
    gone.send(STEP).await.unwrap();
    drop(gone);
    while register(&stays).await != 1 {}
    server.end().await;
}

#[tokio::test]
async fn a_client_can_reset_communication_but_a_stranger_cannot() {
    let server = Running::start().await;
    let (one, other) = (server.client().await, server.client().await);
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    stranger.send_to(&[10], server.address).await.unwrap();
    assert_eq!(ask(&other, &[90], 91).await[0], 91, "nothing happened");
    one.send(&[10]).await.unwrap();
    for client in [&one, &other] {
        assert_eq!(receive(client, 11).await, [11, 120]);
        assert!(is_closed(client).await, "the conversation goes on");
    }
    // immediately again: no conversation is left, and the interval has not passed
    let (again, from) = server.greet().await;
    again.send_to(&[10], from).await.unwrap();
    again.send_to(&[90], from).await.unwrap();
    assert_eq!(receive(&again, 91).await[0], 91);
    server.end().await;
}

#[tokio::test]
async fn unknown_peers_and_invalid_datagrams_are_ignored() {
    let server = Running::start().await;
    let client = server.client().await;
    assert_eq!(register(&client).await, 1);
    let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    for round in 0..200_u32 {
        for datagram in [&[][..], &[5], &[80, 1], &[0; 60_000], &[255; 9]] {
            // a full buffer may lose some
            let _ = stranger.try_send_to(datagram, server.address);
            let _ = client.try_send(datagram);
        }
        let step = [STEP, b"NUM:", &round.to_le_bytes()].concat();
        let news = ask(&client, &step, 85).await;
        assert!(news.ends_with(&round.to_le_bytes()), "{news:?}");
    }
    server.end().await;
}

#[tokio::test]
async fn the_longest_silent_peer_is_evicted() {
    let server = Running::start().await;
    let needed = server.client().await;
    assert_eq!(register(&needed).await, 1);
    let first = server.client().await;
    let mut others = Vec::new();
    ask(&first, OVERVIEW, 91).await;
    for _ in 0..limits::CONVERSATIONS_PER_SOURCE - 2 {
        let other = server.client().await;
        ask(&other, OVERVIEW, 91).await;
        others.push(other);
    }
    // evicts the peer that was silent for longest, but not the one that others wait for
    let last = server.client().await;
    ask(&last, OVERVIEW, 91).await;
    ask(&needed, STEP, 85).await;
    within("the first one's end", has_ended(&first)).await;
    server.end().await;
}

/// Waits until the port of a client's conversation is closed.
async fn has_ended(client: &UdpSocket) {
    let is_refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
    while !client.try_send(OVERVIEW).is_err_and(is_refused) && !client.try_recv(&mut [0; 100]).is_err_and(is_refused) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn greetings_alone_occupy_few_conversations_and_disturb_nobody() {
    let server = Running::start().await;
    let witness = server.client().await;
    assert_eq!(register(&witness).await, 1);
    let sockets = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = sockets();
    let mut greeters = Vec::new();
    for _ in 0..2 * limits::HALF_OPEN_CONVERSATIONS {
        greeters.push(server.client().await);
        ask(&witness, STEP, 85).await;
    }
    within("the first one's end", has_ended(&greeters[0])).await;
    // other tests in this process have sockets too, but not as many
    let few = greeters.len() + limits::HALF_OPEN_CONVERSATIONS + limits::HALF_OPEN_CONVERSATIONS / 2;
    within("closed sockets", async {
        while sockets() - before > few {
            tokio::task::yield_now().await
        }
    })
    .await;
    ask(greeters.last().unwrap(), OVERVIEW, 91).await;
    ask(&witness, STEP, 85).await;
    server.end().await;
}

#[tokio::test]
async fn the_end_of_the_world_ends_the_conversations() {
    let mut server = Running::start().await;
    let client = server.client().await;
    let sim = server.sim.take().unwrap();
    tokio::task::spawn_blocking(move || sim.stop()).await.unwrap();
    within("the end", &mut server.task).await.unwrap();
    drop(client);
}
