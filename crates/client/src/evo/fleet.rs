//! One Population Manager with many Robot Simulators.

mod roster;
mod simulator_thread;

pub use roster::Ticket;

use super::now;
use roster::{Job, Loss, Roster};
use simulator_thread::{Notice, NoticeKind};
use std::{
    collections::VecDeque,
    net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::{Duration, Instant},
};
use wire::evo::{Individual, NetParameters, NotFinite};

/// Maximum number of pending notices. A simulator that sends more waits until the manager has read some.
const MAX_NOTICES: usize = 4_096;

/// Timeouts and retries of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetOptions {
    /// Timeout of connecting, and of the first answer.
    pub connect: Duration,
    /// Delay before a reconnection; doubles with each failure.
    pub pause: Duration,
    /// Maximum delay before a reconnection.
    pub longest_pause: Duration,
    /// A simulator with pending evaluations that is silent for this long counts as lost.
    pub silence: Duration,
    /// Attempts to evaluate an individual before it counts as failed: it may be the cause of the crashes.
    pub attempts: u32,
    /// Time without any simulator after which [`Fleet::next_event`] fails; `None` for never.
    pub give_up: Option<Duration>,
}

impl Default for FleetOptions {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(5),
            silence: Duration::from_secs(600),
            attempts: 5,
            give_up: Some(Duration::from_secs(60)),
        }
    }
}

/// An event of a fleet.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An individual was evaluated. Each submitted individual has exactly one such event, or one [`Event::Failed`].
    Fitness {
        /// The ticket from [`Fleet::submit`].
        ticket: Ticket,
        /// Number of the generation.
        generation: u64,
        /// Number of the individual.
        number: u64,
        /// Higher is better; finite.
        fitness: f64,
        /// Index of the simulator in the list of addresses.
        simulator: usize,
    },
    /// An individual could not be evaluated: every simulator that tried was lost.
    Failed {
        /// The ticket from [`Fleet::submit`].
        ticket: Ticket,
        /// Number of the generation.
        generation: u64,
        /// Number of the individual.
        number: u64,
        /// Number of attempts.
        attempts: u32,
    },
    /// A simulator connected.
    Joined {
        /// Index of the simulator in the list of addresses.
        simulator: usize,
        /// Number of concurrent evaluations.
        concurrent: usize,
    },
    /// A simulator was lost. The fleet reconnects.
    Lost {
        /// Index of the simulator in the list of addresses.
        simulator: usize,
        /// The cause, human-readable.
        reason: String,
        /// Number of its individuals that are sent to others.
        resent: usize,
    },
    /// A simulator is not reachable or not usable. The fleet retries.
    Unusable {
        /// Index of the simulator in the list of addresses.
        simulator: usize,
        /// The cause, human-readable.
        reason: String,
    },
    /// A simulator sent a fitness that was not requested. It was ignored.
    Unrequested {
        /// Index of the simulator in the list of addresses.
        simulator: usize,
        /// Number of the generation.
        generation: u64,
        /// Number of the individual.
        number: u64,
    },
}

/// An individual that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("individual {number} of generation {generation} failed {attempts} times; each simulator was lost")]
pub struct Failure {
    /// Number of the generation.
    pub generation: u64,
    /// Number of the individual.
    pub number: u64,
    /// Number of attempts.
    pub attempts: u32,
}

/// An error of a fleet.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// An address does not resolve.
    #[error("{address}: {reason}")]
    Address {
        /// The address as given.
        address: String,
        /// The cause, human-readable.
        reason: String,
    },
    /// No addresses.
    #[error("no simulators given")]
    Empty,
    /// No simulator was reachable for too long.
    #[error("no simulator was reachable for {} s; last error: {reason}", .timeout.as_secs_f64())]
    NoSimulator {
        /// The time without a simulator.
        timeout: Duration,
        /// The last error.
        reason: String,
    },
    /// An individual has a value that is not finite. Nothing was submitted.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
    /// A thread could not be started.
    #[error("failed to start a thread: {0}")]
    Thread(std::io::Error),
}

/// A Population Manager's connections to many Robot Simulators.
///
/// Keeps each simulator busy with as many individuals as it evaluates concurrently. The individuals of a lost simulator are
/// sent to others; each fitness is delivered once.
#[derive(Debug)]
pub struct Fleet {
    addresses: Vec<SocketAddr>,
    options: FleetOptions,
    roster: Roster,
    handles: Vec<Option<SimulatorHandle>>,
    notices: Receiver<Notice>,
    events: VecDeque<Event>,
    /// Since when no simulator is connected.
    unconnected_since: Option<Instant>,
    last_reason: String,
    /// The threads end when these are dropped.
    _alive: Vec<SyncSender<()>>,
}

/// The connection to a simulator.
#[derive(Debug)]
struct SimulatorHandle {
    connection: u64,
    individuals: SyncSender<Arc<Individual>>,
    stream: TcpStream,
}

impl Drop for SimulatorHandle {
    fn drop(&mut self) {
        // wakes its threads; fails if the connection has closed already
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Fleet {
    /// Connects to simulators in the background.
    ///
    /// # Errors
    ///
    /// An address does not resolve.
    pub fn new<A: AsRef<str>>(addresses: &[A], options: FleetOptions) -> Result<Self, FleetError> {
        let resolve = |address: &A| {
            let address = address.as_ref();
            let failed = |reason: String| FleetError::Address { address: address.to_owned(), reason };
            let mut found = address.to_socket_addrs().map_err(|error| failed(error.to_string()))?;
            found.next().ok_or_else(|| failed("does not resolve".to_owned()))
        };
        let addresses = addresses.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
        if addresses.is_empty() {
            return Err(FleetError::Empty);
        }
        let (tell, notices) = sync_channel(MAX_NOTICES);
        let mut alive = Vec::new();
        for (simulator, &address) in addresses.iter().enumerate() {
            alive
                .push(simulator_thread::start(simulator, address, &options, tell.clone()).map_err(FleetError::Thread)?);
        }
        Ok(Self {
            roster: Roster::new(addresses.len()),
            handles: addresses.iter().map(|_| None).collect(),
            addresses,
            options,
            notices,
            events: VecDeque::new(),
            unconnected_since: Some(now()),
            last_reason: "none has answered yet".to_owned(),
            _alive: alive,
        })
    }

    /// Addresses of the simulators; events refer to them by index.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The nets that the first simulator announced; `concurrent` is that of one simulator. The others have the same nets.
    /// `None` until one has connected.
    pub fn parameters(&self) -> Option<&NetParameters> {
        self.roster.parameters()
    }

    /// Number of concurrent evaluations of all connected simulators.
    pub fn capacity(&self) -> usize {
        self.roster.capacity()
    }

    /// Number of submitted individuals without a result.
    pub fn unfinished(&self) -> usize {
        self.roster.unfinished()
    }

    /// Waits for the first simulator; returns the nets it accepts. Events are kept meanwhile.
    ///
    /// # Errors
    ///
    /// [`FleetError::NoSimulator`].
    pub fn net_parameters(&mut self) -> Result<NetParameters, FleetError> {
        loop {
            if let Some(parameters) = self.roster.parameters() {
                return Ok(parameters.clone());
            }
            self.wait(None)?;
        }
    }

    /// Queues an individual for evaluation.
    ///
    /// # Errors
    ///
    /// A value is not finite.
    pub fn submit(&mut self, individual: Individual) -> Result<Ticket, NotFinite> {
        if !individual.values.iter().all(|value| value.is_finite()) {
            return Err(NotFinite);
        }
        let ticket = self.roster.submit(individual);
        self.assign_individuals();
        Ok(ticket)
    }

    /// The next event; `None` when all submitted individuals have a result.
    ///
    /// # Errors
    ///
    /// [`FleetError::NoSimulator`]. May be called again: the fleet keeps reconnecting.
    pub fn next_event(&mut self) -> Result<Option<Event>, FleetError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.roster.unfinished() == 0 {
                return Ok(None);
            }
            self.wait(None)?;
        }
    }

    /// The next event, even without pending evaluations; `None` after the timeout.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event).
    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<Event>, FleetError> {
        let until = now() + timeout;
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if now() >= until {
                return Ok(None);
            }
            self.wait(Some(until))?;
        }
    }

    /// Evaluates a whole generation; the results are in the order of the individuals. `watch` is called with every event.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event).
    pub fn evaluate(
        &mut self,
        individuals: Vec<Individual>,
        mut watch: impl FnMut(&Event),
    ) -> Result<Vec<Result<f64, Failure>>, FleetError> {
        let mut results: Vec<Option<Result<f64, Failure>>> = vec![None; individuals.len()];
        let mut first = None;
        // all or none
        if individuals.iter().flat_map(|individual| &individual.values).any(|value| !value.is_finite()) {
            return Err(NotFinite.into());
        }
        for individual in individuals {
            let ticket = self.submit(individual)?;
            first.get_or_insert(ticket.0);
        }
        let mut place = |ticket: Ticket, result| {
            let at = first.and_then(|first| usize::try_from(ticket.0.checked_sub(first)?).ok());
            if let Some(place) = at.and_then(|at| results.get_mut(at)) {
                *place = Some(result);
            }
        };
        while let Some(event) = self.next_event()? {
            watch(&event);
            match event {
                Event::Fitness { ticket, fitness, .. } => place(ticket, Ok(fitness)),
                Event::Failed { ticket, generation, number, attempts } => {
                    place(ticket, Err(Failure { generation, number, attempts }));
                }
                _ => {}
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Waits for something to happen, or until a time.
    fn wait(&mut self, until: Option<Instant>) -> Result<(), FleetError> {
        let time = now();
        self.drop_silent(time);
        if let (Some(unconnected_since), Some(timeout)) = (self.unconnected_since, self.options.give_up)
            && time.saturating_duration_since(unconnected_since) >= timeout
        {
            // the next call waits for the full time again
            self.unconnected_since = Some(time);
            return Err(FleetError::NoSimulator { timeout, reason: self.last_reason.clone() });
        }
        let gives_up = self
            .unconnected_since
            .zip(self.options.give_up)
            .map(|(unconnected_since, timeout)| unconnected_since + timeout);
        let due = [until, gives_up, self.roster.next_stuck(self.options.silence)].into_iter().flatten().min();
        let timeout = due.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(time));
        match self.notices.recv_timeout(timeout) {
            Ok(notices) => self.hear(notices),
            Err(RecvTimeoutError::Timeout) => {}
            // the threads have a sender as long as the fleet exists
            Err(RecvTimeoutError::Disconnected) => self.last_reason = "all threads have ended".to_owned(),
        }
        while let Ok(notices) = self.notices.try_recv() {
            self.hear(notices);
        }
        self.assign_individuals();
        Ok(())
    }

    fn hear(&mut self, Notice { simulator, connection, kind }: Notice) {
        match kind {
            NoticeKind::Connected { parameters, individuals, stream } => {
                match self.roster.admit(simulator, connection, &parameters, now()) {
                    Ok(()) => {
                        self.unconnected_since = None;
                        if let Some(handle) = self.handles.get_mut(simulator) {
                            *handle = Some(SimulatorHandle { connection, individuals, stream });
                        }
                        self.events.push_back(Event::Joined { simulator, concurrent: parameters.concurrent });
                    }
                    Err(reason) => {
                        let _ = stream.shutdown(Shutdown::Both);
                        self.last_reason.clone_from(&reason);
                        self.events.push_back(Event::Unusable { simulator, reason });
                    }
                }
            }
            NoticeKind::Fitness(fitness) => {
                let numbers = (fitness.generation, fitness.number);
                if let Some(job) = self.roster.finish(simulator, connection, numbers, now()) {
                    let (generation, number) = numbers;
                    let (ticket, fitness) = (job.ticket, fitness.fitness);
                    self.events.push_back(Event::Fitness { ticket, generation, number, fitness, simulator });
                } else if self.has(simulator, connection) {
                    let (generation, number) = numbers;
                    self.events.push_back(Event::Unrequested { simulator, generation, number });
                }
            }
            NoticeKind::Unreachable(reason) => {
                self.last_reason.clone_from(&reason);
                self.events.push_back(Event::Unusable { simulator, reason });
            }
            NoticeKind::Disconnected(reason) => self.lose(simulator, connection, reason),
        }
    }

    fn has(&self, simulator: usize, connection: u64) -> bool {
        self.handles.get(simulator).and_then(Option::as_ref).is_some_and(|line| line.connection == connection)
    }

    fn lose(&mut self, simulator: usize, connection: u64, reason: String) {
        let Some(Loss { resent, failed }) = self.roster.lose(simulator, connection, self.options.attempts) else {
            return;
        };
        if let Some(handle) = self.handles.get_mut(simulator) {
            *handle = None;
        }
        if self.roster.present() == 0 {
            self.unconnected_since = Some(now());
        }
        self.last_reason.clone_from(&reason);
        self.events.push_back(Event::Lost { simulator, reason, resent });
        for Job { ticket, individual, attempts } in failed {
            let (generation, number) = (individual.generation, individual.number);
            self.events.push_back(Event::Failed { ticket, generation, number, attempts });
        }
    }

    fn drop_silent(&mut self, time: Instant) {
        while let Some((simulator, connection)) = self.roster.stuck(time, self.options.silence) {
            let reason = format!("silent for {} s", self.options.silence.as_secs_f64());
            self.lose(simulator, connection, reason);
        }
    }

    fn assign_individuals(&mut self) {
        while let Some((simulator, individual)) = self.roster.assign(now()) {
            let handle = self.handles.get(simulator).and_then(Option::as_ref);
            let Some((connection, sent)) =
                handle.map(|handle| (handle.connection, handle.individuals.try_send(individual)))
            else {
                return;
            };
            // the queue has room for all its individuals, so the sending thread has ended
            if sent.is_err() {
                self.lose(simulator, connection, "connection closed".to_owned());
            }
        }
    }
}
