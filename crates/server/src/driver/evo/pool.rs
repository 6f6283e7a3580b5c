//! The queue of evaluations, by manager, and their results.

use std::{
    collections::{BTreeMap, VecDeque},
    net::{Shutdown, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use evolve::robot::Key;
use parking_lot::{Condvar, Mutex};
use tokio::sync::Notify;

use session::evo::robot::EvaluationRequest;

/// The result of an evaluation.
#[derive(Debug, PartialEq)]
pub(super) struct Evaluated {
    pub(super) key: Key,
    pub(super) fitness: f64,
    /// Something worth logging.
    pub(super) remark: Option<String>,
}

/// Results for one manager. Never holds more than the manager has submitted.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    results: Mutex<Vec<Evaluated>>,
    pub(super) arrived: Notify,
}

impl Mailbox {
    pub(super) fn take(&self) -> Vec<Evaluated> {
        std::mem::take(&mut *self.results.lock())
    }

    fn put(&self, result: Evaluated) {
        self.results.lock().push(result);
        self.arrived.notify_one();
    }
}

/// Between the connections of managers and the evaluation threads.
#[derive(Debug, Default)]
pub(super) struct Pool {
    queues: Mutex<Queues>,
    wake: Condvar,
    /// Incremented for each manager that leaves, and at the end.
    departures: AtomicU64,
    /// Connections to the world, by thread.
    links: Mutex<BTreeMap<usize, TcpStream>>,
}

#[derive(Debug, Default)]
struct Queues {
    managers: BTreeMap<u64, Manager>,
    /// The manager that was served last.
    last: u64,
    is_closed: bool,
}

#[derive(Debug)]
struct Manager {
    waiting: VecDeque<EvaluationRequest>,
    mailbox: Arc<Mailbox>,
}

/// What an evaluation thread is to do next.
pub(super) enum Work {
    /// Evaluate these as well.
    Evaluate(Vec<EvaluationRequest>),
    End,
}

impl Pool {
    /// Adds a manager.
    pub(super) fn join(&self, owner: u64) -> Arc<Mailbox> {
        let mailbox = Arc::new(Mailbox::default());
        let mut queues = self.queues.lock();
        queues.managers.insert(owner, Manager { waiting: VecDeque::new(), mailbox: Arc::clone(&mailbox) });
        mailbox
    }

    /// Removes a manager with its pending evaluations.
    pub(super) fn leave(&self, owner: u64) {
        self.queues.lock().managers.remove(&owner);
        self.departures.fetch_add(1, Ordering::Release);
        self.wake.notify_all();
    }

    pub(super) fn submit(&self, request: EvaluationRequest) {
        if let Some(manager) = self.queues.lock().managers.get_mut(&request.key.owner) {
            manager.waiting.push_back(request);
        }
        // threads in `wait_until_closed` wait for the same condition
        self.wake.notify_all();
    }

    /// Takes up to `room` evaluations, from all managers in turn. If `waits`, waits for one or for a manager to leave.
    pub(super) fn take(&self, room: usize, waits: bool, seen: u64) -> Work {
        let mut queues = self.queues.lock();
        loop {
            if queues.is_closed {
                return Work::End;
            }
            let requests = queues.next(room);
            if !requests.is_empty() || !waits || self.departures() != seen {
                return Work::Evaluate(requests);
            }
            self.wake.wait(&mut queues);
        }
    }

    /// Number of managers that have left.
    pub(super) fn departures(&self) -> u64 {
        self.departures.load(Ordering::Acquire)
    }

    /// Whether the manager of an evaluation is connected.
    pub(super) fn is_wanted(&self, key: &Key) -> bool {
        self.queues.lock().managers.contains_key(&key.owner)
    }

    pub(super) fn deliver(&self, result: Evaluated) {
        if let Some(manager) = self.queues.lock().managers.get(&result.key.owner) {
            manager.mailbox.put(result);
        }
    }

    /// Waits for some time or until the pool is closed; returns whether it is.
    pub(super) fn wait_until_closed(&self, pause: Duration) -> bool {
        let mut queues = self.queues.lock();
        self.wake.wait_while_for(&mut queues, |queues| !queues.is_closed, pause);
        queues.is_closed
    }

    /// Remembers a connection to the world, to be shut down at the end.
    pub(super) fn note_link(&self, worker: usize, stream: TcpStream) {
        self.links.lock().insert(worker, stream);
        if self.queues.lock().is_closed {
            self.close();
        }
    }

    /// Ends all evaluation threads.
    pub(super) fn close(&self) {
        self.queues.lock().is_closed = true;
        self.departures.fetch_add(1, Ordering::Release);
        self.wake.notify_all();
        for stream in self.links.lock().values() {
            // fails if it is shut down already
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Queues {
    fn next(&mut self, room: usize) -> Vec<EvaluationRequest> {
        let mut requests = Vec::new();
        while requests.len() < room {
            let after = self.managers.range(self.last.saturating_add(1)..).chain(self.managers.range(..=self.last));
            let Some(owner) =
                after.into_iter().find(|(_, manager)| !manager.waiting.is_empty()).map(|(owner, _)| *owner)
            else {
                break;
            };
            self.last = owner;
            requests.extend(self.managers.get_mut(&owner).and_then(|manager| manager.waiting.pop_front()));
        }
        requests
    }
}

#[cfg(test)]
mod tests {
    use evolve::Genotype;

    use super::*;

    fn request(owner: u64, individual: u64) -> EvaluationRequest {
        EvaluationRequest { key: Key { owner, generation: 1, individual }, genotype: Genotype::default() }
    }

    fn taken(pool: &Pool, room: usize) -> Vec<(u64, u64)> {
        match pool.take(room, false, 0) {
            Work::Evaluate(requests) => {
                requests.iter().map(|request| (request.key.owner, request.key.individual)).collect()
            }
            Work::End => panic!("the pool is closed"),
        }
    }

    #[test]
    fn managers_take_turns() {
        let pool = Pool::default();
        (1..=3).for_each(|owner| drop(pool.join(owner)));
        (1..=4).for_each(|individual| pool.submit(request(1, individual)));
        (1..=2).for_each(|individual| pool.submit(request(3, individual)));
        assert_eq!(taken(&pool, 3), [(1, 1), (3, 1), (1, 2)]);
        pool.submit(request(2, 1));
        assert_eq!(taken(&pool, 10), [(2, 1), (3, 2), (1, 3), (1, 4)]);
        assert_eq!(taken(&pool, 10), []);
    }

    #[test]
    fn the_evaluations_of_a_manager_that_leaves_are_dropped() {
        let pool = Pool::default();
        let mailbox = pool.join(1);
        pool.submit(request(1, 1));
        let evaluated = |individual| Evaluated { key: request(1, individual).key, fitness: 0.5, remark: None };
        pool.deliver(evaluated(1));
        assert_eq!(mailbox.take(), [evaluated(1)]);
        let seen = pool.departures();
        pool.leave(1);
        assert!(pool.departures() != seen && !pool.is_wanted(&request(1, 1).key));
        pool.deliver(evaluated(2));
        assert_eq!(mailbox.take(), []);
        assert_eq!(taken(&pool, 1), []);
        // a waiting thread is woken up
        assert!(matches!(pool.take(1, true, seen), Work::Evaluate(requests) if requests.is_empty()));
        pool.close();
        assert!(matches!(pool.take(1, true, pool.departures()), Work::End));
        assert!(pool.wait_until_closed(Duration::from_secs(3600)));
    }
}
