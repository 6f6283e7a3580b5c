use std::io::ErrorKind;

use tokio::{net::tcp::WriteHalf, task::JoinHandle, time::Instant as TokioInstant};
use wire::{DecodeError, Message, Split, StreamMessage};
use world::clock::Pace;

use super::*;
use session::{Context, Input, OverStream, Session, StreamOutbox, Ticks};

use crate::{
    sim_thread::SimThread,
    testing::{Stepper, running, within},
};

/// Bytes after their length, a big-endian 32-bit integer.
#[derive(Clone, Debug, PartialEq)]
struct Frame(Vec<u8>);

const HEAD: usize = 4;
const MAX: usize = 1 << 20;

impl Message for Frame {
    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(bytes.to_vec()))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }
}

impl StreamMessage for Frame {
    fn split(buffer: &[u8]) -> Result<Option<Split>, DecodeError> {
        let Some(head) = buffer.first_chunk::<HEAD>() else { return Ok(None) };
        let length = u32::from_be_bytes(*head) as usize;
        if length > MAX {
            return Err(DecodeError::OutOfRange { field: "length", value: length as i64, min: 0, max: MAX as i64 });
        }
        let consumed = HEAD + length;
        Ok((buffer.len() >= consumed).then_some(Split { message: HEAD..consumed, consumed }))
    }

    fn encode_in_stream(&self, out: &mut Vec<u8>) {
        out.extend((self.0.len() as u32).to_be_bytes());
        self.encode(out);
    }
}

/// Echoes messages. [`BYE`] also closes the session, [`TICKS`] requests a message per tick.
struct Echo {
    peer: SocketAddr,
    /// Length of the message about a tick.
    about_tick: Option<usize>,
}

const BYE: &[u8] = b"bye";
const TICKS: &[u8] = b"ticks";
const LONG_TICKS: &[u8] = b"long ticks";

impl Session for Echo {
    type Request = Frame;
    type Reply = Frame;
    type Effect = StreamEffect<Frame>;

    fn handle(&mut self, input: Input<Frame>, Context { world, .. }: Context<'_>, out: &mut StreamOutbox<Frame>) {
        match input {
            Input::Message { from, message } => {
                match message.0.as_slice() {
                    BYE => out.close("it said bye"),
                    TICKS => self.about_tick = Some(8),
                    LONG_TICKS => self.about_tick = Some(64 * 1024),
                    _ => {}
                }
                out.send(from, message);
            }
            Input::Tick => {
                if let Some(length) = self.about_tick {
                    let mut about = world.tick.0.to_be_bytes().to_vec();
                    about.resize(length, 0);
                    out.send(self.peer, Frame(about));
                }
            }
            Input::Opened => {}
            other => out.refuse(None, format_args!("{other:?}")),
        }
    }
}

struct EchoService;

impl StreamService for EchoService {
    fn ticks(&self) -> Ticks {
        Ticks::AtEnd
    }

    fn open(&self, peer: SocketAddr) -> Box<dyn StreamSession> {
        Box::new(OverStream(Echo { peer, about_tick: None }))
    }
}

/// [`Echo`] sessions behind a listener, in a lockstep world that the test advances.
struct Served {
    sim: SimThread,
    address: SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Served {
    async fn start() -> Self {
        let sim = running(Pace::Lockstep);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let (handle, allow) = (sim.handle().clone(), AllowList::default());
        let task = tokio::spawn(run(
            listener,
            "echo",
            Box::new(EchoService),
            handle,
            allow,
            Admission::default(),
            stop.clone(),
        ));
        Self { sim, address, stop, task }
    }

    async fn client(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }
}

struct Client(TcpStream);

impl Client {
    async fn send(&mut self, message: &[u8]) {
        self.0.write_all(&stream_of(&[message])).await.unwrap();
    }

    /// The next message; `None` when the server has closed the connection, also in the middle of a message.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let mut head = [0; HEAD];
        let mut message = Vec::new();
        let read = async {
            self.0.read_exact(&mut head).await?;
            message.resize(u32::from_be_bytes(head) as usize, 0);
            self.0.read_exact(&mut message).await
        };
        match within("a message or the end", read).await {
            Ok(_) => Some(message),
            Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) => None,
            Err(error) => panic!("{error}"),
        }
    }

    /// Whether the connection works.
    async fn is_served(&mut self) -> bool {
        // a connection that was closed may take a write without an error
        self.0.write_all(&stream_of(&[b"hello"])).await.is_ok() && self.next().await.as_deref() == Some(b"hello")
    }
}

fn stream_of(messages: &[&[u8]]) -> Vec<u8> {
    let mut stream = Vec::new();
    for message in messages {
        Frame(message.to_vec()).encode_in_stream(&mut stream);
    }
    stream
}

#[tokio::test]
async fn messages_are_reassembled_from_any_pieces() {
    let long = vec![7; 100_000];
    let messages: [&[u8]; 5] = [b"one", b"", b"three", &long, b"last"];
    let stream = stream_of(&messages);
    let served = Served::start().await;
    for cut in [1_000, 4_097, stream.len()] {
        let mut client = served.client().await;
        let (mut reading, writing) = client.0.split();
        let write = async |mut writing: WriteHalf<'_>| {
            // byte by byte where the short ones are
            let (short, rest) = stream.split_at(40);
            for piece in short.chunks(cut.min(40).min(if cut == stream.len() { 40 } else { 1 })).chain(rest.chunks(cut))
            {
                writing.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let mut echoed = vec![0; stream.len()];
        let (_, read) = tokio::join!(write(writing), within("the echo", reading.read_exact(&mut echoed)));
        read.unwrap();
        assert!(echoed == stream, "cut into pieces of {cut}");
    }
}

#[tokio::test]
async fn a_burst_of_messages_is_handled_in_turns() {
    let served = Served::start().await;
    let (mut loud, mut witness) = (served.client().await, served.client().await);
    assert!(witness.is_served().await);
    // far more replies than the write queue has room for
    const BURST: usize = 20 * WRITE_QUEUE;
    let burst = stream_of(&[&b"!"[..]; BURST]);
    let (mut reading, mut writing) = loud.0.split();
    let mut echoed = vec![0; burst.len()];
    let witnessed = async {
        for _ in 0..10 {
            assert!(witness.is_served().await);
        }
    };
    let read = within("the echo", reading.read_exact(&mut echoed));
    let (written, read, ()) = tokio::join!(writing.write_all(&burst), read, witnessed);
    written.unwrap();
    read.unwrap();
    assert!(echoed == burst);
}

#[tokio::test]
async fn closing_one_connection_keeps_the_others() {
    let served = Served::start().await;
    let mut witness = served.client().await;
    assert!(witness.is_served().await);
    let garbage: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
    for (sent, leaves) in [(garbage, false), (&[0, 0, 0, 5, 1, 2], true), (&[0], true), (&[], true)] {
        let mut client = served.client().await;
        client.0.write_all(sent).await.unwrap();
        if leaves {
            client.0.shutdown().await.unwrap();
        }
        assert_eq!(client.next().await, None, "{sent:?}");
        assert!(witness.is_served().await, "after {sent:?}");
    }
}

#[tokio::test]
async fn queued_messages_are_sent_before_closing() {
    let served = Served::start().await;
    let mut client = served.client().await;
    client.0.write_all(&stream_of(&[b"hello", BYE, b"not received any more"])).await.unwrap();
    assert_eq!(client.next().await.as_deref(), Some(&b"hello"[..]));
    assert_eq!(client.next().await.as_deref(), Some(BYE));
    assert_eq!(client.next().await, None);
}

#[tokio::test]
async fn a_peer_that_never_reads_is_closed_and_another_misses_no_tick() {
    let served = Served::start().await;
    let mut stepper = Stepper::new(served.sim.handle());
    let (mut deaf, mut witness) = (served.client().await, served.client().await);
    deaf.send(LONG_TICKS).await;
    witness.send(TICKS).await;
    assert_eq!(deaf.next().await.as_deref(), Some(LONG_TICKS));
    assert_eq!(witness.next().await.as_deref(), Some(TICKS));
    // more than the queue and the socket buffers hold
    let ticks = 3 * WRITE_QUEUE as u64;
    for _ in 0..ticks {
        let tick = stepper.step().await.tick.0;
        assert_eq!(witness.next().await, Some(tick.to_be_bytes().to_vec()));
    }
    let mut received = 0;
    while let Some(message) = deaf.next().await {
        assert_eq!(message.len(), 64 * 1024, "whole messages only");
        received += 1;
    }
    assert!(received < ticks, "it was not closed");
    assert!(witness.is_served().await);
}

#[tokio::test]
async fn silent_connections_make_room_for_new_ones() {
    let served = Served::start().await;
    let mut witness = served.client().await;
    assert!(witness.is_served().await);
    let mut silent = Vec::new();
    for _ in 0..2 * limits::CONNECTIONS_PER_SOURCE {
        silent.push(served.client().await);
    }
    assert!(served.client().await.is_served().await, "a new one");
    assert!(witness.is_served().await, "one in use");
    assert_eq!(silent[0].next().await, None, "the oldest silent one");
}

#[tokio::test]
async fn connections_from_one_source_are_limited_and_permits_are_returned() {
    let served = Served::start().await;
    let mut clients = Vec::new();
    for _ in 0..limits::CONNECTIONS_PER_SOURCE {
        let mut client = served.client().await;
        assert!(client.is_served().await);
        clients.push(client);
    }
    assert!(!served.client().await.is_served().await, "one too many");
    for client in &mut clients {
        assert!(client.is_served().await);
    }
    drop(clients.pop());
    let freed = async { while !served.client().await.is_served().await {} };
    within("a free permit", freed).await;
}

// the paused clock advances whenever all tasks are idle

#[tokio::test(start_paused = true)]
async fn a_peer_without_a_first_message_is_closed() {
    let served = Served::start().await;
    for sent in [&[][..], &[0], &[0, 0, 0, 2, 65]] {
        let mut client = served.client().await;
        client.0.write_all(sent).await.unwrap();
        let began = TokioInstant::now();
        assert_eq!(client.next().await, None, "{sent:?}");
        assert!(began.elapsed() >= limits::FIRST_MESSAGE_TIMEOUT - limits::FLUSH_TIMEOUT, "{sent:?}");
    }
    let mut client = served.client().await;
    assert!(client.is_served().await);
    tokio::time::advance(10 * limits::FIRST_MESSAGE_TIMEOUT).await;
    assert!(client.is_served().await, "after its first message a peer may be silent");
}

#[tokio::test]
async fn stopping_closes_everything_in_time() {
    let Served { sim, address, stop, task } = Served::start().await;
    let mut stepper = Stepper::new(sim.handle());
    let connect = async || Client(TcpStream::connect(address).await.unwrap());
    let (mut deaf, mut witness, _silent) = (connect().await, connect().await, connect().await);
    deaf.send(LONG_TICKS).await;
    assert_eq!(deaf.next().await.as_deref(), Some(LONG_TICKS));
    assert!(witness.is_served().await);
    for _ in 0..WRITE_QUEUE {
        stepper.step().await;
    }
    tokio::time::pause();
    let began = TokioInstant::now();
    stop.cancel();
    within("the end", task).await.unwrap();
    assert!(began.elapsed() <= limits::SHUTDOWN_TIMEOUT / 2, "{:?}", began.elapsed());
    assert_eq!(witness.next().await, None);
}

#[tokio::test]
async fn the_end_of_the_world_closes_connections() {
    let served = Served::start().await;
    let mut client = served.client().await;
    assert!(client.is_served().await);
    tokio::task::spawn_blocking(|| served.sim.stop()).await.unwrap();
    assert_eq!(client.next().await, None);
}
