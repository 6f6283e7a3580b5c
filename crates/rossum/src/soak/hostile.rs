//! Hostile clients: each thread runs one attack after the other, in a random order, with two connections at a time.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    thread,
    time::{Duration, Instant},
};

use wire::{Message, odcp, osp};

use super::{clients::Target, group::Random, now, pause};

const THREADS: usize = 2;
/// Duration of one attack.
const ATTACK: Duration = Duration::from_secs(5);
const CONNECTIONS: usize = 2;
/// Bytes per second that an attack sends over TCP. More would measure the loopback interface.
const BYTES_PER_SECOND: u64 = 1_000_000;
/// Datagrams that an attack sends from one socket in a burst. More would measure the senders, which share the cores.
const DATAGRAMS: usize = 10;
/// Pause between two bursts.
const PAUSE: Duration = Duration::from_millis(10);

/// A way to disturb a server.
pub(super) struct Attack {
    pub(super) name: &'static str,
    /// Whether it targets OSP, and so may slow down a client that steps a world.
    pub(super) targets_osp: bool,
    run: fn(&Target, &mut Random, Instant) -> anyhow::Result<()>,
}

impl Attack {
    const fn new(name: &'static str, run: fn(&Target, &mut Random, Instant) -> anyhow::Result<()>) -> Self {
        Self { name, targets_osp: false, run }
    }

    const fn on_osp(self) -> Self {
        Self { targets_osp: true, ..self }
    }
}

pub(super) const ATTACKS: &[Attack] = &[
    Attack::new("monitors that request everything", request_everything),
    Attack::new("garbage on every port", send_garbage),
    Attack::new("silent connections", stay_silent),
    Attack::new("peers that never read", never_read),
    Attack::new("half a frame", half_a_frame),
    Attack::new("endless lines", endless_line),
    Attack::new("as many robots as possible", fill_the_arena),
    Attack::new("slow HTTP requests", slow_http),
    Attack::new("OSP greetings from many ports", greet_from_many_ports).on_osp(),
    Attack::new("a flood of ODCP requests", flood_odcp),
    Attack::new("costly OSP patterns", search_with_costly_patterns).on_osp(),
    Attack::new("a flood of OSP requests", flood_osp).on_osp(),
    Attack::new("a flood of motor commands", flood_with_motors),
];

/// The endpoints that listen on TCP.
const TCP: [&str; 6] = ["soccer-agents", "soccer-monitors", "world-simulator", "robot-simulator", "oz", "console"];

/// Attacks until killed: at random, or always in the way of this name.
pub(super) fn run(target: &Target, name: Option<&str>) -> anyhow::Result<()> {
    let attacks: Vec<_> = ATTACKS.iter().filter(|attack| name.is_none_or(|name| name == attack.name)).collect();
    let threads: Vec<_> = (0..THREADS as u64)
        .map(|number| {
            let (target, attacks) = (target.clone(), attacks.clone());
            thread::spawn(move || {
                let mut random = Random(number ^ 0x5EED);
                loop {
                    let index = random.next() as usize % attacks.len().max(1);
                    let Some(attack) = attacks.get(index) else { return };
                    // an attacker expects to be disconnected
                    if (attack.run)(&target, &mut random, now() + ATTACK).is_err() {
                        pause(PAUSE);
                    }
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().map_err(|_| anyhow::anyhow!("an attack panicked"))?;
    }
    Ok(())
}

fn connect(address: SocketAddr) -> anyhow::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

fn connections(target: &Target, id: &str) -> anyhow::Result<Vec<TcpStream>> {
    let address = target.address(id)?;
    (0..CONNECTIONS).map(|_| connect(address)).collect()
}

fn any_port(target: &Target, random: &mut Random) -> anyhow::Result<SocketAddr> {
    target.address(TCP.get(random.next() as usize % TCP.len()).unwrap_or(&TCP[0]))
}

fn frame(payload: &str) -> Vec<u8> {
    [&(payload.len() as u32).to_be_bytes()[..], payload.as_bytes()].concat()
}

/// Sends bytes on all connections at the allowed rate, and reads what comes if wanted.
fn send_repeatedly(streams: &mut [TcpStream], bytes: &[u8], reads: bool, until: Instant) -> anyhow::Result<()> {
    let mut chunk = vec![0; 1 << 20];
    while now() < until {
        for stream in &mut *streams {
            stream.write_all(bytes)?;
            if reads {
                stream.set_nonblocking(true)?;
                while stream.read(&mut chunk).is_ok_and(|length| length > 0) {}
                stream.set_nonblocking(false)?;
            }
        }
        let cost = Duration::from_micros(bytes.len() as u64 * 1_000_000 / BYTES_PER_SECOND);
        pause(cost.max(PAUSE));
    }
    Ok(())
}

fn request_everything(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let request = frame(&"(reqfullstate)".repeat(512));
    send_repeatedly(&mut connections(target, "soccer-monitors")?, &request, true, until)
}

fn send_garbage(target: &Target, random: &mut Random, until: Instant) -> anyhow::Result<()> {
    while now() < until {
        let mut stream = connect(any_port(target, random)?)?;
        let bytes: Vec<u8> = (0..1 + random.next() % 4_096).map(|_| random.next() as u8).collect();
        // may be closed meanwhile
        let _ = stream.write_all(&bytes);
        pause(PAUSE);
    }
    Ok(())
}

fn stay_silent(target: &Target, random: &mut Random, until: Instant) -> anyhow::Result<()> {
    let mut held = Vec::new();
    while now() < until {
        held.push(connect(any_port(target, random)?)?);
        pause(PAUSE);
    }
    Ok(())
}

fn never_read(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let _deaf = connections(target, "soccer-monitors")?;
    let mut robots = connections(target, "world-simulator")?;
    send_repeatedly(&mut robots, b"CreateRobot\r\n", false, until)
}

fn half_a_frame(target: &Target, random: &mut Random, until: Instant) -> anyhow::Result<()> {
    while now() < until {
        let mut stream = connect(any_port(target, random)?)?;
        stream.write_all(&[0, 0, 0, 200, b'(', b'i', b'n', b'i'])?;
        pause(PAUSE);
    }
    Ok(())
}

fn endless_line(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    send_repeatedly(&mut connections(target, "world-simulator")?, &[b'1'; 64 * 1024], false, until)
}

fn fill_the_arena(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let requests = b"CreateRobot\r\n".repeat(1_000);
    send_repeatedly(&mut connections(target, "world-simulator")?, &requests, true, until)
}

fn slow_http(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let mut streams = connections(target, "console")?;
    send_repeatedly(&mut streams, b"X", false, until)
}

fn greet_from_many_ports(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let address = target.address("osp")?;
    while now() < until {
        UdpSocket::bind("127.0.0.9:0")?.send_to(&[5, 1, 1], address)?;
        pause(PAUSE);
    }
    Ok(())
}

fn flood_odcp(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let (socket, address) = (UdpSocket::bind("127.0.0.1:0")?, target.address("odcp:Alice")?);
    while now() < until {
        for _ in 0..20 * DATAGRAMS {
            socket.send_to(&odcp::Request::GetMotors.to_bytes(), address)?;
        }
        pause(PAUSE);
    }
    Ok(())
}

fn flood_osp(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let address = target.address("osp")?;
    let mut sockets = Vec::new();
    for _ in 0..CONNECTIONS {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.set_read_timeout(Some(Duration::from_secs(1)))?;
        socket.send_to(&[5, 1, 1], address)?;
        let (_, conversation) = socket.recv_from(&mut [0; 64])?;
        socket.connect(conversation)?;
        sockets.push(socket);
    }
    let request = osp::Request::GetValueIds { expression: ".*".into() }.to_bytes_in(osp::Dialect::Document);
    while now() < until {
        for socket in &sockets {
            for _ in 0..DATAGRAMS {
                // the conversation may have been ended
                socket.send(&request)?;
            }
        }
        pause(PAUSE);
    }
    Ok(())
}

fn search_with_costly_patterns(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let mut clients = (0..CONNECTIONS)
        .map(|_| client::osp::Client::connect(target.address("osp")?).map_err(anyhow::Error::from))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let pattern = format!("(?i){}", r"[\pL\pN]".repeat(100));
    while now() < until {
        for client in &mut clients {
            client.values(&pattern)?;
        }
    }
    Ok(())
}

fn flood_with_motors(target: &Target, _: &mut Random, until: Instant) -> anyhow::Result<()> {
    let mut players = connections(target, "soccer-agents")?;
    for player in &mut players {
        player.write_all(&frame("(init T1 Reds 99)"))?;
    }
    let motors = frame(&"(he1 1e308 nan 5 1 0)(beam 1e30 0 0)(syn)".repeat(100)).repeat(4);
    send_repeatedly(&mut players, &motors, true, until)
}
