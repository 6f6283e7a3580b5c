//! Assigns individuals to simulators. No sockets and no clock.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};
use wire::evo::{Individual, NetParameters};

/// Maximum number of individuals that one simulator gets at a time, whatever it announces.
pub(super) const MAX_SHARE: usize = 4_096;

/// Identifies a submitted individual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    pub(super) ticket: Ticket,
    pub(super) individual: Arc<Individual>,
    /// Number of simulators it was sent to.
    pub(super) attempts: u32,
}

/// Each job is either queued or assigned to exactly one simulator.
#[derive(Debug, Default)]
pub(super) struct Roster {
    /// The nets of the first simulator. All others must agree.
    parameters: Option<NetParameters>,
    members: Vec<Option<Member>>,
    waiting: VecDeque<Job>,
    tickets: u64,
}

/// A connected simulator.
#[derive(Debug)]
struct Member {
    /// Number of the connection.
    connection: u64,
    /// Number of concurrent evaluations.
    share: usize,
    jobs: VecDeque<Job>,
    /// When it last sent something, or got work while it was idle.
    heard: Instant,
}

impl Roster {
    pub(super) fn new(simulators: usize) -> Self {
        Self { members: (0..simulators).map(|_| None).collect(), ..Self::default() }
    }

    pub(super) fn parameters(&self) -> Option<&NetParameters> {
        self.parameters.as_ref()
    }

    /// Number of individuals that can be tested at once.
    pub(super) fn capacity(&self) -> usize {
        self.members.iter().flatten().map(|member| member.share).sum()
    }

    /// Number of connected simulators.
    pub(super) fn present(&self) -> usize {
        self.members.iter().flatten().count()
    }

    /// Number of individuals that wait or are being tested.
    pub(super) fn unfinished(&self) -> usize {
        self.waiting.len() + self.members.iter().flatten().map(|member| member.jobs.len()).sum::<usize>()
    }

    pub(super) fn submit(&mut self, individual: Individual) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        self.waiting.push_back(Job { ticket, individual: Arc::new(individual), attempts: 0 });
        ticket
    }

    /// A simulator has connected; the error is why it cannot be used.
    pub(super) fn admit(
        &mut self,
        simulator: usize,
        connection: u64,
        parameters: &NetParameters,
        now: Instant,
    ) -> Result<(), String> {
        if parameters.concurrent == 0 {
            return Err("it tests 0 individuals at once".to_owned());
        }
        match &self.parameters {
            Some(first) if first.nets() != parameters.nets() => {
                return Err("its nets differ from those of the other simulators".to_owned());
            }
            Some(_) => {}
            None => self.parameters = Some(parameters.clone()),
        }
        let share = parameters.concurrent.min(MAX_SHARE);
        if let Some(member) = self.members.get_mut(simulator) {
            *member = Some(Member { connection, share, jobs: VecDeque::new(), heard: now });
        }
        Ok(())
    }

    /// Assigns the next individual to the simulator with the most room; returns both.
    pub(super) fn assign(&mut self, now: Instant) -> Option<(usize, Arc<Individual>)> {
        let room = |member: &Member| member.share - member.jobs.len().min(member.share);
        let present = self.members.iter_mut().enumerate().filter_map(|(at, member)| Some((at, member.as_mut()?)));
        // of equals the first
        let (at, member) =
            present.rev().max_by_key(|(_, member)| room(member)).filter(|(_, member)| room(member) > 0)?;
        let mut job = self.waiting.pop_front()?;
        job.attempts += 1;
        if member.jobs.is_empty() {
            member.heard = now;
        }
        let individual = Arc::clone(&job.individual);
        member.jobs.push_back(job);
        Some((at, individual))
    }

    /// A simulator has finished an individual; of several with the same numbers, the one it was given first.
    pub(super) fn finish(
        &mut self,
        simulator: usize,
        connection: u64,
        numbers: (u64, u64),
        now: Instant,
    ) -> Option<Job> {
        let member = self.member(simulator, connection)?;
        member.heard = now;
        let numbered = |job: &Job| (job.individual.generation, job.individual.number) == numbers;
        let place = member.jobs.iter().position(numbered)?;
        member.jobs.remove(place)
    }

    /// Removes a simulator. Its jobs return to the front of the queue, except for those with too many attempts.
    pub(super) fn lose(&mut self, simulator: usize, connection: u64, max_attempts: u32) -> Option<Loss> {
        self.member(simulator, connection)?;
        let member = self.members.get_mut(simulator)?.take()?;
        let (failed, again): (Vec<Job>, Vec<Job>) =
            member.jobs.into_iter().partition(|job| job.attempts >= max_attempts);
        let resent = again.len();
        again.into_iter().rev().for_each(|job| self.waiting.push_front(job));
        Some(Loss { resent, failed })
    }

    /// A simulator with assigned jobs that has been silent for this long.
    pub(super) fn stuck(&self, now: Instant, timeout: Duration) -> Option<(usize, u64)> {
        let is_stuck =
            |member: &Member| !member.jobs.is_empty() && now.saturating_duration_since(member.heard) >= timeout;
        let mut present = self.members.iter().enumerate().filter_map(|(at, member)| Some((at, member.as_ref()?)));
        present.find(|(_, member)| is_stuck(member)).map(|(at, member)| (at, member.connection))
    }

    /// When the next simulator counts as stuck, if it sends nothing.
    pub(super) fn next_stuck(&self, timeout: Duration) -> Option<Instant> {
        let busy = self.members.iter().flatten().filter(|member| !member.jobs.is_empty());
        busy.map(|member| member.heard).min().map(|heard| heard + timeout)
    }

    fn member(&mut self, simulator: usize, connection: u64) -> Option<&mut Member> {
        self.members.get_mut(simulator)?.as_mut().filter(|member| member.connection == connection)
    }
}

/// The individuals of a lost simulator.
#[derive(Debug, PartialEq)]
pub(super) struct Loss {
    /// Number of individuals that were queued again.
    pub(super) resent: usize,
    /// Those that were tried too often.
    pub(super) failed: Vec<Job>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evo::now;

    fn net(concurrent: usize) -> NetParameters {
        NetParameters { concurrent, outputs: 2, ..NetParameters::default() }
    }

    fn individual(number: u64) -> Individual {
        Individual { generation: 1, number, ..Individual::default() }
    }

    fn assigned(roster: &mut Roster) -> Vec<(usize, u64)> {
        std::iter::from_fn(|| roster.assign(now())).map(|(at, individual)| (at, individual.number)).collect()
    }

    #[test]
    fn each_simulator_is_kept_busy_and_none_more_than_it_says() {
        let mut roster = Roster::new(3);
        (1..=9).for_each(|number| _ = roster.submit(individual(number)));
        assert_eq!(assigned(&mut roster), []);
        roster.admit(0, 1, &net(2), now()).unwrap();
        roster.admit(2, 1, &net(3), now()).unwrap();
        assert_eq!((roster.capacity(), roster.present()), (5, 2));
        assert_eq!(assigned(&mut roster), [(2, 1), (0, 2), (2, 3), (0, 4), (2, 5)]);
        // out of order
        assert_eq!(roster.finish(0, 1, (1, 4), now()).map(|job| job.ticket), Some(Ticket(4)));
        assert_eq!(assigned(&mut roster), [(0, 6)]);
        // what it does not have it cannot finish
        assert_eq!(roster.finish(0, 1, (1, 4), now()), None);
        assert_eq!(roster.finish(2, 1, (2, 1), now()), None);
        assert_eq!(roster.finish(1, 1, (1, 1), now()), None);
        assert_eq!(roster.unfinished(), 8);
    }

    #[test]
    fn what_a_lost_simulator_had_goes_to_others_once() {
        let mut roster = Roster::new(2);
        (1..=4).for_each(|number| _ = roster.submit(individual(number)));
        roster.admit(0, 1, &net(2), now()).unwrap();
        roster.admit(1, 1, &net(1), now()).unwrap();
        assert_eq!(assigned(&mut roster), [(0, 1), (0, 2), (1, 3)]);
        assert_eq!(roster.lose(0, 7, 3), None, "another connection");
        assert_eq!(roster.lose(0, 1, 3), Some(Loss { resent: 2, failed: vec![] }));
        assert_eq!(roster.lose(0, 1, 3), None);
        // late words of the lost one count no more
        assert_eq!(roster.finish(0, 1, (1, 1), now()), None);
        roster.admit(0, 2, &net(3), now()).unwrap();
        assert_eq!(roster.finish(0, 1, (1, 1), now()), None);
        assert_eq!(assigned(&mut roster), [(0, 1), (0, 2), (0, 4)]);
        // tried too often
        let loss = roster.lose(0, 2, 2).unwrap();
        assert_eq!((loss.resent, loss.failed.iter().map(|job| job.ticket.0).collect::<Vec<_>>()), (1, vec![1, 2]));
        assert_eq!(roster.unfinished(), 2);
    }

    #[test]
    fn twins_are_finished_in_their_order() {
        let mut roster = Roster::new(1);
        (0..3).for_each(|_| _ = roster.submit(individual(7)));
        roster.admit(0, 1, &net(3), now()).unwrap();
        assigned(&mut roster);
        let finished: Vec<_> = (0..4).map(|_| roster.finish(0, 1, (1, 7), now()).map(|job| job.ticket.0)).collect();
        assert_eq!(finished, [Some(1), Some(2), Some(3), None]);
    }

    #[test]
    fn all_must_have_the_same_nets() {
        let mut roster = Roster::new(2);
        assert!(roster.admit(0, 1, &net(0), now()).unwrap_err().contains("0 individuals"));
        roster.admit(0, 1, &net(1), now()).unwrap();
        roster.admit(1, 1, &net(5), now()).unwrap();
        let other = NetParameters { outputs: 3, ..net(1) };
        assert!(roster.admit(1, 2, &other, now()).unwrap_err().contains("differ"));
        assert_eq!(roster.parameters(), Some(&net(1)));
    }

    #[test]
    fn silence_with_something_to_do_is_found_out() {
        let (mut roster, start, timeout) = (Roster::new(1), now(), Duration::from_secs(10));
        roster.admit(0, 1, &net(1), start).unwrap();
        assert_eq!(roster.stuck(start + 2 * timeout, timeout), None);
        roster.submit(individual(1));
        roster.assign(start + timeout);
        assert_eq!(roster.stuck(start + timeout, timeout), None);
        assert_eq!(roster.next_stuck(timeout), Some(start + 2 * timeout));
        assert_eq!(roster.stuck(start + 2 * timeout, timeout), Some((0, 1)));
    }
}
