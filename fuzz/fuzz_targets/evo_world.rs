//! Arbitrary bytes in arbitrary pieces from several Robot Simulators of one world, with time passing in between: nothing
//! panics, every reply is a complete line that decodes, and a client that leaves leaves no robot behind.
//!
//! The input is a list of a peer, a length and that many bytes. One peer is the clock, one disconnects. The very first
//! byte selects the kind of world.

#![no_main]

use arena::{Arena, Plan};
use libfuzzer_sys::fuzz_target;
use session::evo::{Backlog, LineServer, world::WorldSimulator};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use wire::evo::{FromWorld, Line, LineBuffer};

const PEERS: u8 = 3;
const CLOCK: u8 = PEERS;
const LEAVING: u8 = PEERS + 1;

static PLANS: LazyLock<Vec<Arc<Plan>>> = LazyLock::new(|| {
    [
        "",
        "isolation = \"per-connection\"",
        "isolation = \"per-robot\"",
        "lockstep = { timeout = 1.0 }",
        "shared_ids = true\nlockstep = { timeout = 1.0 }",
    ]
    .iter()
    .map(|rules| Arc::new(Plan::parse(&format!("title = \"fuzz\"\n{rules}")).expect("the world is sound")))
    .collect()
});

fuzz_target!(|input: &[u8]| {
    let Some((&kind, mut rest)) = input.split_first() else { return };
    let plan = &PLANS[usize::from(kind) % PLANS.len()];
    let mut world = WorldSimulator::new(Arena::new(Arc::clone(plan), 1), kind >= 128);
    let mut buffers: Vec<LineBuffer> = (0..PEERS).map(|_| LineBuffer::default()).collect();
    let mut numbers: Vec<u64> = (0..u64::from(PEERS)).collect();
    numbers.iter().for_each(|&number| world.open(number, 0));
    let mut now = Duration::ZERO;
    while let [from, length, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        match from % (LEAVING + 1) {
            CLOCK => {
                now += Duration::from_millis(u64::from(*length) * 100);
                world.tick(now);
            }
            LEAVING => leave(&mut world, &mut buffers, &mut numbers, usize::from(length % PEERS), now),
            peer => {
                let peer = usize::from(peer);
                buffers[peer].push(bytes);
                if take(&mut world, &mut buffers[peer], numbers[peer], now) {
                    leave(&mut world, &mut buffers, &mut numbers, peer, now);
                }
            }
        }
        for connection in world.take_unblocked() {
            if let Some(peer) = numbers.iter().position(|&number| number == connection)
                && take(&mut world, &mut buffers[peer], connection, now)
            {
                leave(&mut world, &mut buffers, &mut numbers, peer, now);
            }
        }
    }
    for number in numbers {
        world.close(number, now);
    }
    assert!(world.arena().is_empty());
});

/// Handles all lines of a peer; returns whether the connection is closed.
fn take(world: &mut WorldSimulator, buffer: &mut LineBuffer, number: u64, now: Duration) -> bool {
    loop {
        let turn = world.receive(number, buffer, || now);
        let out = world.output(number).map(std::mem::take).unwrap_or_default();
        assert!(out.is_empty() || out.ends_with(b"\r\n"));
        for line in out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            FromWorld::decode(line.strip_suffix(b"\r").expect("a whole end")).expect("a message of ours");
        }
        if turn.close.is_some() || turn.backlog != Backlog::TurnOver {
            return turn.close.is_some();
        }
    }
}

fn leave(world: &mut WorldSimulator, buffers: &mut [LineBuffer], numbers: &mut [u64], peer: usize, now: Duration) {
    world.close(numbers[peer], now);
    assert!(world.arena().robots().all(|robot| robot.connection != numbers[peer]));
    numbers[peer] += u64::from(PEERS);
    buffers[peer] = LineBuffer::default();
    world.open(numbers[peer], 0);
}
