//! Any datagrams from two clients of one world, while time passes: nothing panics, every reply goes to the sender of the
//! request, and no step is executed without one.
//!
//! The input is a list of a client, a pause in ms, a length and that many bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use session::osp::{OspSession, SearchBudget};
use session::{Context, ConversationEffect, ConversationOutbox, DatagramSession, Notice, Outbox};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wire::osp::Dialect;
use world::clock::Pace;
use world::runner::Progress;
use world::{Command, Runner, SessionId, Setup, Snapshot, World};

const CLIENTS: usize = 2;
const SILENCE: Duration = Duration::from_millis(500);
/// Longest time between two looks at the world.
const LOOK: Duration = Duration::from_millis(50);

static SETUP: LazyLock<(Setup, Instant)> = LazyLock::new(|| {
    let setup = Scenario::load("small").and_then(|scenario| scenario.setup()).expect("the scenario is sound");
    (setup, Instant::now())
});

struct Shared {
    run: Runner,
    now: Instant,
    searches: SearchBudget,
    clients: Vec<Client>,
    /// Sessions so far.
    opened: u64,
    /// Datagrams that may have requested a step, and ticks.
    requested: u64,
    ticks: u64,
}

struct Client {
    id: SessionId,
    session: OspSession,
    sequence: u64,
}

fn peer(client: usize) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 5000 + client as u16))
}

impl Shared {
    fn open(&mut self, client: usize) -> Client {
        self.opened += 1;
        let session = OspSession::new(peer(client), Dialect::ALL[client], self.searches.clone());
        Client { id: SessionId(self.opened), session, sequence: 0 }
    }

    fn receive(&mut self, client: usize, datagram: &[u8]) {
        self.requested += u64::from(datagram.first() == Some(&80));
        let (world, now, mut out) = (self.run.world().snapshot(), self.now, Outbox::default());
        self.clients[client].session.receive(peer(client), datagram, Context::new(&world, now), &mut out);
        self.execute(client, out);
    }

    fn notify(&mut self, client: usize, notice: Notice, world: &Arc<Snapshot>) {
        let mut out = Outbox::default();
        self.clients[client].session.notify(notice, Context::new(world, self.now), &mut out);
        self.execute(client, out);
    }

    fn execute(&mut self, client: usize, out: ConversationOutbox) {
        assert!(out.replies.iter().all(|(to, _)| *to == peer(client)));
        for command in out.commands {
            let Client { id, sequence, .. } = &mut self.clients[client];
            *sequence += 1;
            let is_reset = matches!(command, Command::Reset(_));
            self.run.handle(*id, *sequence, command, self.now);
            if is_reset {
                let world = self.run.world().snapshot();
                (0..CLIENTS).for_each(|client| self.notify(client, Notice::Tick, &world));
            }
        }
        if out.effects.iter().any(|effect| matches!(effect, ConversationEffect::Close(_))) {
            self.run.end(self.clients[client].id, self.now);
            self.clients[client] = self.open(client);
        }
    }

    /// Lets the world and the sessions do what they can do now.
    fn settle(&mut self) {
        loop {
            while let Some(blueprint) = self.run.next_blueprint(self.now) {
                self.run.install(blueprint.build(), self.now);
            }
            let answers = self.run.take_answers();
            let is_quiet = answers.is_empty();
            for (session, answer) in answers {
                let world = self.run.world().snapshot();
                if let Some(client) = self.clients.iter().position(|client| client.id == session) {
                    self.notify(client, Notice::Answer(answer), &world);
                }
            }
            let is_due = |client: &Client| DatagramSession::timeout(&client.session).is_some_and(|at| at <= self.now);
            let due = self.clients.iter().position(is_due);
            if let Some(client) = due {
                let world = self.run.world().snapshot();
                self.notify(client, Notice::Timeout, &world);
            }
            let tries = self.run.world().snapshot().tries;
            match self.run.advance(self.now).0 {
                Progress::Moved(snapshot) => {
                    self.ticks += u64::from(snapshot.tries == tries);
                    (0..CLIENTS).for_each(|client| self.notify(client, Notice::Tick, &snapshot));
                }
                Progress::Until(_) | Progress::Waiting if is_quiet && due.is_none() => return,
                Progress::Until(_) | Progress::Waiting => {}
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let (setup, start) = &*SETUP;
    let run = Runner::new(World::new(setup).expect("the world can be built"), Pace::Lockstep, SILENCE, *start);
    let searches = SearchBudget::default();
    let mut shared = Shared { run, now: *start, searches, clients: Vec::new(), opened: 0, requested: 0, ticks: 0 };
    for client in 0..CLIENTS {
        let opened = shared.open(client);
        shared.clients.push(opened);
    }
    let mut rest = input;
    while let [client, pause, length, tail @ ..] = rest {
        let (bytes, tail) = tail.split_at(usize::from(*length).min(tail.len()));
        rest = tail;
        let until = shared.now + Duration::from_millis(u64::from(*pause));
        while shared.now < until {
            shared.now = (shared.now + LOOK).min(until);
            shared.settle();
        }
        shared.receive(usize::from(*client) % CLIENTS, bytes);
        shared.settle();
        assert!(shared.ticks <= shared.requested, "{} ticks for {} requests", shared.ticks, shared.requested);
    }
});
