//! A network that loses, duplicates and reorders datagrams.

use std::{
    collections::VecDeque,
    net::{SocketAddr, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// A relay between a client and an OSP server that loses, duplicates and reorders a share of all datagrams, both ways.
pub(crate) struct LossyNetwork {
    /// Address for the client.
    pub(crate) address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl LossyNetwork {
    /// `share` is the probability of each of the three faults.
    pub(crate) fn start(server: SocketAddr, share: f64, seed: u64) -> Self {
        let (near, far) =
            (UdpSocket::bind("127.0.0.1:0").expect("a port"), UdpSocket::bind("127.0.0.1:0").expect("a port"));
        let (address, stop) = (near.local_addr().expect("an address"), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        thread::spawn(move || relay(&near, &far, server, share, seed, &stopped));
        Self { address, stop }
    }
}

impl Drop for LossyNetwork {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn relay(near: &UdpSocket, far: &UdpSocket, server: SocketAddr, share: f64, seed: u64, stop: &AtomicBool) {
    let mut state = seed;
    let mut chance = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f64 / f64::from(1_u32 << 31)) < share
    };
    for socket in [near, far] {
        socket.set_nonblocking(true).expect("set");
    }
    // the address of each side, and the datagrams held back on the way there
    let (mut client, mut handler) = (None, server);
    let (mut to_client, mut to_server) = (VecDeque::new(), VecDeque::new());
    let mut buffer = vec![0; 65_535];
    while !stop.load(Ordering::Relaxed) {
        let mut is_idle = true;
        if let Ok((length, from)) = near.recv_from(&mut buffer) {
            (client, is_idle) = (Some(from), false);
            forward(&mut chance, &buffer[..length], &mut to_server, |datagram| {
                // an init goes to the main port
                let to = if datagram.first() == Some(&5) { server } else { handler };
                let _ = far.send_to(datagram, to);
            });
        }
        if let (Ok((length, from)), Some(client)) = (far.recv_from(&mut buffer), client) {
            (handler, is_idle) = (from, false);
            forward(&mut chance, &buffer[..length], &mut to_client, |datagram| {
                let _ = near.send_to(datagram, client);
            });
        }
        if is_idle {
            thread::yield_now();
        }
    }
}

/// Forwards a datagram once, twice, after the next one, or not at all.
fn forward(chance: &mut impl FnMut() -> bool, datagram: &[u8], held: &mut VecDeque<Vec<u8>>, send: impl Fn(&[u8])) {
    if chance() {
        return;
    }
    if chance() {
        held.push_back(datagram.to_vec());
        return;
    }
    send(datagram);
    if chance() {
        send(datagram);
    }
    for late in held.drain(..) {
        send(&late);
    }
}
