use std::time::Duration;

use session::{Context, Input, OverDatagrams, Session};
use tokio::{task::JoinHandle, time::timeout};
use wire::{DecodeError, Message};
use world::{Answer, Command, VariableId, clock::Pace};

use super::*;
use crate::{
    sim_thread::{SimThread, Ticks},
    testing::{running, within},
};

/// Any bytes.
#[derive(Debug)]
struct Text(Vec<u8>);

impl Message for Text {
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(bytes.to_vec()))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

/// Echoes datagrams. [`ASK_MUCH`] makes it request more answers than its queue has room for, and be slow to take
/// them.
struct Echo {
    sim: SimHandle,
    is_slow: bool,
}

const ASK_MUCH: &[u8] = b"ask much";

impl Echo {
    fn new(sim: &SimHandle) -> Box<OverDatagrams<Self>> {
        Box::new(OverDatagrams(Self { sim: sim.clone(), is_slow: false }))
    }
}

impl Session for Echo {
    type Request = Text;
    type Reply = Text;
    type Effect = DatagramEffect;

    fn handle(&mut self, input: Input<Text>, _: Context<'_>, out: &mut DatagramOutbox<Text>) {
        match input {
            Input::Message { from, message } => {
                if message.0 == ASK_MUCH {
                    self.is_slow = true;
                    out.commands = (0..2 * limits::SESSION_QUEUE).map(|_| Command::Read(VariableId(0))).collect();
                }
                out.send(from, message);
            }
            Input::Answer(Answer::Value(..) | Answer::NoValue(..)) => {
                // all commands are handled before the tick after next
                let then = self.sim.latest().tick.0 + 2;
                while std::mem::take(&mut self.is_slow) {
                    self.is_slow = self.sim.latest().tick.0 < then;
                    std::thread::yield_now();
                }
            }
            other => out.refuse(None, format_args!("{other:?}")),
        }
    }
}

/// An [`Echo`] on a socket.
struct Served {
    sim: SimThread,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Served {
    async fn start() -> Self {
        let sim = running(Pace::Realtime);
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let address = socket.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (handle, allow) = (sim.handle().clone(), AllowList::default());
        let task = tokio::spawn(run(socket, "echo", Echo::new(&handle), handle, allow, stop.clone()));
        Self { sim, address, stop, task }
    }

    async fn client(&self) -> UdpSocket {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.connect(self.address).await.unwrap();
        socket
    }
}

/// Sends until an answer arrives: a datagram may get lost in a flood.
async fn ask(client: &UdpSocket, question: &[u8]) {
    let mut buffer = [0; 64];
    let answered = async {
        loop {
            client.send(question).await.unwrap();
            while let Ok(received) = timeout(Duration::from_millis(100), client.recv(&mut buffer)).await {
                if buffer.get(..received.unwrap()) == Some(question) {
                    return;
                }
            }
        }
    };
    within("an answer", answered).await;
}

#[tokio::test]
async fn each_sender_gets_its_own_answers_until_the_server_stops() {
    let served = Served::start().await;
    let clients = [served.client().await, served.client().await];
    for round in 0..20 {
        for (number, client) in clients.iter().enumerate() {
            client.send(format!("{number}.{round}").as_bytes()).await.unwrap();
        }
    }
    for round in 0..20 {
        for (number, client) in clients.iter().enumerate() {
            let mut buffer = [0; 64];
            let length = within("an echo", client.recv(&mut buffer)).await.unwrap();
            assert_eq!(&buffer[..length], format!("{number}.{round}").as_bytes());
        }
    }
    served.stop.cancel();
    within("the end", served.task).await.unwrap();
}

#[tokio::test]
async fn a_flood_blocks_neither_the_world_nor_another_peer() {
    const FLOOD: u32 = 100_000;
    let served = Served::start().await;
    let (loud, quiet) = (served.client().await, served.client().await);
    let mut snapshots = served.sim.handle().watch();
    let first = served.sim.handle().latest().tick.0;
    let began = tokio::time::Instant::now();
    let (mut echoes, mut buffer) = (0, [0; 64]);
    let flood = async {
        for number in 0..FLOOD {
            loud.send(b"flood").await.unwrap();
            if number % 16 == 0 {
                tokio::task::yield_now().await;
                while loud.try_recv(&mut buffer).is_ok() {
                    echoes += 1;
                }
            }
        }
    };
    let witness = async {
        for _ in 0..20 {
            ask(&quiet, b"still there?").await;
        }
    };
    tokio::join!(flood, witness);
    within("ticks", snapshots.wait_for(|snapshot| snapshot.tick.0 >= first + 5)).await.unwrap();
    // a local peer may send as much as one that has connected
    let (burst, rate) = limits::CONNECTED_DATAGRAMS;
    let most = burst + rate * began.elapsed().as_secs_f64();
    assert!(f64::from(echoes) <= most, "{echoes} answered of {FLOOD}, at most {most}");
    assert!(echoes > 0);
}

#[tokio::test]
async fn addresses_outside_the_allow_list_get_no_answer() {
    let sim = running(Pace::Realtime);
    let (commands, _deliveries) = sim.handle().open(Ticks::Never).unwrap();
    let mut driver = Driver {
        socket: UdpSocket::bind("127.0.0.1:0").await.unwrap(),
        protocol: "echo",
        session: Echo::new(sim.handle()),
        sim: sim.handle().clone(),
        commands,
        allow: AllowList::new(vec!["192.0.2.0/25".parse().unwrap()]),
        rate: RateLimit::default(),
        refusals: RefusalLog::new("echo"),
        peer: None,
    };
    for (from, served) in [("192.0.2.1:9", true), ("192.0.2.200:9", false), ("127.0.0.1:9", true)] {
        let mut out = Outbox::default();
        driver.datagram(from.parse().unwrap(), b"hello", &mut out);
        assert_eq!((out.replies.len(), out.refusals.len()), if served { (1, 0) } else { (0, 1) }, "{from}");
    }
}

#[tokio::test]
async fn a_session_whose_queue_was_full_is_reopened() {
    let served = Served::start().await;
    let client = served.client().await;
    let mut snapshots = served.sim.handle().watch();
    for _ in 0..3 {
        ask(&client, ASK_MUCH).await;
        // by then the answers have arrived, and those that found room were taken
        let then = served.sim.handle().latest().tick.0 + 4;
        within("ticks", snapshots.wait_for(|snapshot| snapshot.tick.0 >= then)).await.unwrap();
        ask(&client, b"still there?").await;
    }
    assert!(!served.task.is_finished());
}

#[tokio::test]
async fn the_end_of_the_world_ends_the_driver() {
    let Served { sim, task, .. } = Served::start().await;
    tokio::task::spawn_blocking(|| sim.stop()).await.unwrap();
    within("the end", task).await.unwrap();
}
