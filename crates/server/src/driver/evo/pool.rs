//! Individuals that wait to be tested, by manager, and what came of them.

use std::{
    collections::{BTreeMap, VecDeque},
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use evolve::robot::Key;
use tokio::sync::Notify;

use crate::session::evo::robot::Order;

/// What came of an individual.
#[derive(Debug, PartialEq)]
pub(super) struct Tested {
    pub(super) key: Key,
    pub(super) fitness: f64,
    /// What a person should know of it.
    pub(super) remark: Option<String>,
}

/// Where a manager finds what came of its individuals. Never holds more than the manager has submitted.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    tested: Mutex<Vec<Tested>>,
    pub(super) news: Notify,
}

impl Mailbox {
    pub(super) fn take(&self) -> Vec<Tested> {
        std::mem::take(&mut *lock(&self.tested))
    }

    fn put(&self, tested: Tested) {
        lock(&self.tested).push(tested);
        self.news.notify_one();
    }
}

/// Between the connections of managers and the threads that test.
#[derive(Debug, Default)]
pub(super) struct Pool {
    desk: Mutex<Desk>,
    wake: Condvar,
    /// Grows with each manager that leaves, and at the end.
    leavings: AtomicU64,
    /// Links to the world, to be cut at the end.
    links: Mutex<BTreeMap<usize, TcpStream>>,
}

#[derive(Debug, Default)]
struct Desk {
    managers: BTreeMap<u64, Manager>,
    /// Who was served last.
    last: u64,
    is_closed: bool,
}

#[derive(Debug)]
struct Manager {
    waiting: VecDeque<Order>,
    mailbox: Arc<Mailbox>,
}

/// What a thread that tests is to do next.
pub(super) enum Work {
    /// Test these, too.
    Orders(Vec<Order>),
    /// End.
    End,
}

impl Pool {
    /// A manager comes; gives the number of managers that are then there.
    pub(super) fn join(&self, owner: u64) -> (Arc<Mailbox>, usize) {
        let mailbox = Arc::new(Mailbox::default());
        let mut desk = lock(&self.desk);
        desk.managers.insert(owner, Manager { waiting: VecDeque::new(), mailbox: Arc::clone(&mailbox) });
        (mailbox, desk.managers.len())
    }

    /// A manager leaves. What it wanted is not wanted any more.
    pub(super) fn leave(&self, owner: u64) {
        lock(&self.desk).managers.remove(&owner);
        self.leavings.fetch_add(1, Ordering::Release);
        self.wake.notify_all();
    }

    pub(super) fn submit(&self, order: Order) {
        if let Some(manager) = lock(&self.desk).managers.get_mut(&order.key.owner) {
            manager.waiting.push_back(order);
        }
        // also those who rest wait for this
        self.wake.notify_all();
    }

    /// Takes up to `room` individuals, from all managers in turn. Waits for one if `waits`, or for a manager to leave.
    pub(super) fn take(&self, room: usize, waits: bool, seen: u64) -> Work {
        let mut desk = lock(&self.desk);
        loop {
            if desk.is_closed {
                return Work::End;
            }
            let orders = desk.next(room);
            if !orders.is_empty() || !waits || self.leavings() != seen {
                return Work::Orders(orders);
            }
            desk = self.wake.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// How often a manager has left.
    pub(super) fn leavings(&self) -> u64 {
        self.leavings.load(Ordering::Acquire)
    }

    /// Whether a manager is there.
    pub(super) fn wants(&self, key: &Key) -> bool {
        lock(&self.desk).managers.contains_key(&key.owner)
    }

    pub(super) fn deliver(&self, tested: Tested) {
        if let Some(manager) = lock(&self.desk).managers.get(&tested.key.owner) {
            manager.mailbox.put(tested);
        }
    }

    /// Waits for some time, or for the end; says whether it is the end.
    pub(super) fn rest(&self, pause: Duration) -> bool {
        let (desk, _) = self
            .wake
            .wait_timeout_while(lock(&self.desk), pause, |desk| !desk.is_closed)
            .unwrap_or_else(PoisonError::into_inner);
        desk.is_closed
    }

    /// A link to the world was made, which is to be cut at the end.
    pub(super) fn note_link(&self, worker: usize, stream: TcpStream) {
        lock(&self.links).insert(worker, stream);
        if lock(&self.desk).is_closed {
            self.close();
        }
    }

    /// All threads that test are to end.
    pub(super) fn close(&self) {
        lock(&self.desk).is_closed = true;
        self.leavings.fetch_add(1, Ordering::Release);
        self.wake.notify_all();
        for stream in lock(&self.links).values() {
            // one that is cut already needs nothing
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Desk {
    fn next(&mut self, room: usize) -> Vec<Order> {
        let mut orders = Vec::new();
        while orders.len() < room {
            let after = self.managers.range(self.last.saturating_add(1)..).chain(self.managers.range(..=self.last));
            let Some(owner) =
                after.into_iter().find(|(_, manager)| !manager.waiting.is_empty()).map(|(owner, _)| *owner)
            else {
                break;
            };
            self.last = owner;
            orders.extend(self.managers.get_mut(&owner).and_then(|manager| manager.waiting.pop_front()));
        }
        orders
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use evolve::Genotype;

    use super::*;

    fn order(owner: u64, individual: u64) -> Order {
        Order { key: Key { owner, generation: 1, individual }, genotype: Genotype::default() }
    }

    fn taken(pool: &Pool, room: usize) -> Vec<(u64, u64)> {
        match pool.take(room, false, 0) {
            Work::Orders(orders) => orders.iter().map(|order| (order.key.owner, order.key.individual)).collect(),
            Work::End => panic!("the end"),
        }
    }

    #[test]
    fn managers_take_turns() {
        let pool = Pool::default();
        assert_eq!((1..=3).map(|owner| pool.join(owner).1).collect::<Vec<_>>(), [1, 2, 3]);
        (1..=4).for_each(|individual| pool.submit(order(1, individual)));
        (1..=2).for_each(|individual| pool.submit(order(3, individual)));
        assert_eq!(taken(&pool, 3), [(1, 1), (3, 1), (1, 2)]);
        pool.submit(order(2, 1));
        assert_eq!(taken(&pool, 10), [(2, 1), (3, 2), (1, 3), (1, 4)]);
        assert_eq!(taken(&pool, 10), []);
    }

    #[test]
    fn what_a_manager_wanted_goes_with_it() {
        let pool = Pool::default();
        let (mailbox, _) = pool.join(1);
        pool.submit(order(1, 1));
        let tested = |individual| Tested { key: order(1, individual).key, fitness: 0.5, remark: None };
        pool.deliver(tested(1));
        assert_eq!(mailbox.take(), [tested(1)]);
        let seen = pool.leavings();
        pool.leave(1);
        assert!(pool.leavings() != seen && !pool.wants(&order(1, 1).key));
        pool.deliver(tested(2));
        assert_eq!(mailbox.take(), []);
        assert_eq!(taken(&pool, 1), []);
        // who waits is told
        assert!(matches!(pool.take(1, true, seen), Work::Orders(orders) if orders.is_empty()));
        pool.close();
        assert!(matches!(pool.take(1, true, pool.leavings()), Work::End));
        assert!(pool.rest(Duration::from_secs(3600)));
    }
}
