//! One Population Manager, many Robot Simulators.

mod line;
mod roster;

pub use roster::Ticket;

use super::now;
use line::{News, Note};
use roster::{Job, Loss, Roster};
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

/// News that may wait for the manager. Simulators that say more wait until it has time.
const NEWS: usize = 4_096;

/// How patient a fleet is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetOptions {
    /// For a connection to be made, and for the first answer on it.
    pub connect: Duration,
    /// Pause after a simulator was lost or not reached; doubles with each failure...
    pub pause: Duration,
    /// ...up to this.
    pub longest_pause: Duration,
    /// A simulator that has something to do and says nothing for this long counts as lost.
    pub silence: Duration,
    /// How often an individual is tried before it counts as failed: one may be what ends simulators.
    pub attempts: u32,
    /// Without a single simulator for this long, [`Fleet::next_event`] gives up; `None` for never.
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

/// What happens in a fleet.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An individual was tested. There is exactly one such event, or one [`Event::Failed`], for each that was submitted.
    Fitness {
        /// As [`Fleet::submit`] gave it.
        ticket: Ticket,
        /// Number of the generation.
        generation: u64,
        /// Number of the individual.
        number: u64,
        /// The more, the better; finite.
        fitness: f64,
        /// Who tested it: its place in the list of addresses.
        simulator: usize,
    },
    /// An individual could not be tested: every simulator that tried was lost.
    Failed {
        /// As [`Fleet::submit`] gave it.
        ticket: Ticket,
        /// Number of the generation.
        generation: u64,
        /// Number of the individual.
        number: u64,
        /// How often it was tried.
        attempts: u32,
    },
    /// A simulator is there.
    Joined {
        /// Its place in the list of addresses.
        simulator: usize,
        /// How many individuals it tests at once.
        concurrent: usize,
    },
    /// A simulator was lost. It will be tried again.
    Lost {
        /// Its place in the list of addresses.
        simulator: usize,
        /// Why.
        reason: String,
        /// Individuals it had, which others are given now.
        resent: usize,
    },
    /// A simulator cannot be reached or used. It will be tried again.
    Unusable {
        /// Its place in the list of addresses.
        simulator: usize,
        /// Why.
        reason: String,
    },
    /// A simulator sent a fitness that nobody waits for. It was dropped.
    Unasked {
        /// Its place in the list of addresses.
        simulator: usize,
        /// Number of the generation.
        generation: u64,
        /// Number of the individual.
        number: u64,
    },
}

/// Why an individual has no fitness.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("individual {number} of generation {generation} was tried {attempts} times, and each simulator was lost")]
pub struct Failure {
    /// Number of the generation.
    pub generation: u64,
    /// Number of the individual.
    pub number: u64,
    /// How often it was tried.
    pub attempts: u32,
}

/// Why a fleet cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// An address names no host.
    #[error("{address}: {reason}")]
    Address {
        /// As it was given.
        address: String,
        /// Why.
        reason: String,
    },
    /// A list without a simulator.
    #[error("there is no simulator in the list")]
    Empty,
    /// Nobody was there for too long.
    #[error("no simulator could be reached for {} s; the last reason: {reason}", .patience.as_secs_f64())]
    Nobody {
        /// For how long.
        patience: Duration,
        /// Why the last one could not be reached.
        reason: String,
    },
    /// An individual has a value that is infinite or not a number. Nothing was submitted.
    #[error(transparent)]
    NotFinite(#[from] NotFinite),
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}

/// A Population Manager's links to many Robot Simulators.
///
/// Keeps as many individuals with each simulator as it says it can test at once. What a simulator had when it was lost
/// is given to others; each fitness is delivered once.
#[derive(Debug)]
pub struct Fleet {
    addresses: Vec<SocketAddr>,
    options: FleetOptions,
    roster: Roster,
    lines: Vec<Option<Line>>,
    news: Receiver<News>,
    told: VecDeque<Event>,
    /// Since when nobody is there.
    alone: Option<Instant>,
    last_reason: String,
    /// The threads end when these are gone.
    _alive: Vec<SyncSender<()>>,
}

/// The way to a simulator that is there.
#[derive(Debug)]
struct Line {
    connection: u64,
    orders: SyncSender<Arc<Individual>>,
    stream: TcpStream,
}

impl Drop for Line {
    fn drop(&mut self) {
        // its threads wait for this; a connection that has ended already needs nothing
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Fleet {
    /// Begins to connect to simulators, in the background.
    ///
    /// # Errors
    ///
    /// When an address names no host.
    pub fn new<A: AsRef<str>>(addresses: &[A], options: FleetOptions) -> Result<Self, FleetError> {
        let resolve = |address: &A| {
            let address = address.as_ref();
            let failed = |reason: String| FleetError::Address { address: address.to_owned(), reason };
            let mut found = address.to_socket_addrs().map_err(|error| failed(error.to_string()))?;
            found.next().ok_or_else(|| failed("resolves to nothing".to_owned()))
        };
        let addresses = addresses.iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
        if addresses.is_empty() {
            return Err(FleetError::Empty);
        }
        let (tell, news) = sync_channel(NEWS);
        let mut alive = Vec::new();
        for (simulator, &address) in addresses.iter().enumerate() {
            alive.push(line::open(simulator, address, &options, tell.clone()).map_err(FleetError::Thread)?);
        }
        Ok(Self {
            roster: Roster::new(addresses.len()),
            lines: addresses.iter().map(|_| None).collect(),
            addresses,
            options,
            news,
            told: VecDeque::new(),
            alone: Some(now()),
            last_reason: "none has answered yet".to_owned(),
            _alive: alive,
        })
    }

    /// Where the simulators are; events name them by their place in this list.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What the first simulator said of its nets; its `concurrent` is that of one simulator. The others have the same
    /// nets. `None` before one is there.
    pub fn parameters(&self) -> Option<&NetParameters> {
        self.roster.parameters()
    }

    /// Individuals that all simulators which are there can test at once.
    pub fn capacity(&self) -> usize {
        self.roster.capacity()
    }

    /// Individuals that were submitted and neither tested nor given up.
    pub fn unfinished(&self) -> usize {
        self.roster.unfinished()
    }

    /// Waits for the first simulator and says what nets it can handle. Events that happen meanwhile are kept.
    ///
    /// # Errors
    ///
    /// [`FleetError::Nobody`].
    pub fn net_parameters(&mut self) -> Result<NetParameters, FleetError> {
        loop {
            if let Some(parameters) = self.roster.parameters() {
                return Ok(parameters.clone());
            }
            self.wait(None)?;
        }
    }

    /// Wants an individual tested, as soon as a simulator has room for it.
    ///
    /// # Errors
    ///
    /// A value that is not finite cannot be sent.
    pub fn submit(&mut self, individual: Individual) -> Result<Ticket, NotFinite> {
        if !individual.values.iter().all(|value| value.is_finite()) {
            return Err(NotFinite);
        }
        let ticket = self.roster.submit(individual);
        self.hand_out();
        Ok(ticket)
    }

    /// The next event; `None` when everything that was submitted is done and there is no more to tell.
    ///
    /// # Errors
    ///
    /// [`FleetError::Nobody`]. May be called again: simulators are still being tried.
    pub fn next_event(&mut self) -> Result<Option<Event>, FleetError> {
        loop {
            if let Some(event) = self.told.pop_front() {
                return Ok(Some(event));
            }
            if self.roster.unfinished() == 0 {
                return Ok(None);
            }
            self.wait(None)?;
        }
    }

    /// The next event, whether or not something is being tested; `None` if there is none in time.
    ///
    /// # Errors
    ///
    /// As [`next_event`](Self::next_event).
    pub fn next_within(&mut self, patience: Duration) -> Result<Option<Event>, FleetError> {
        let until = now() + patience;
        loop {
            if let Some(event) = self.told.pop_front() {
                return Ok(Some(event));
            }
            if now() >= until {
                return Ok(None);
            }
            self.wait(Some(until))?;
        }
    }

    /// Tests a whole generation; the results are in the order of the individuals. Every event is shown to `watch`.
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
        self.drop_stuck(time);
        if let (Some(alone), Some(patience)) = (self.alone, self.options.give_up)
            && time.saturating_duration_since(alone) >= patience
        {
            // the next call is patient again
            self.alone = Some(time);
            return Err(FleetError::Nobody { patience, reason: self.last_reason.clone() });
        }
        let gives_up = self.alone.zip(self.options.give_up).map(|(alone, patience)| alone + patience);
        let due = [until, gives_up, self.roster.next_stuck(self.options.silence)].into_iter().flatten().min();
        let patience = due.map_or(Duration::from_secs(1), |due| due.saturating_duration_since(time));
        match self.news.recv_timeout(patience) {
            Ok(news) => self.hear(news),
            Err(RecvTimeoutError::Timeout) => {}
            // the threads have a sender as long as the fleet is there
            Err(RecvTimeoutError::Disconnected) => self.last_reason = "all threads have ended".to_owned(),
        }
        while let Ok(news) = self.news.try_recv() {
            self.hear(news);
        }
        self.hand_out();
        Ok(())
    }

    fn hear(&mut self, News { simulator, connection, note }: News) {
        match note {
            Note::There { parameters, orders, stream } => {
                match self.roster.admit(simulator, connection, &parameters, now()) {
                    Ok(()) => {
                        self.alone = None;
                        if let Some(line) = self.lines.get_mut(simulator) {
                            *line = Some(Line { connection, orders, stream });
                        }
                        self.told.push_back(Event::Joined { simulator, concurrent: parameters.concurrent });
                    }
                    Err(reason) => {
                        let _ = stream.shutdown(Shutdown::Both);
                        self.last_reason.clone_from(&reason);
                        self.told.push_back(Event::Unusable { simulator, reason });
                    }
                }
            }
            Note::Fitness(fitness) => {
                let numbers = (fitness.generation, fitness.number);
                if let Some(job) = self.roster.finish(simulator, connection, numbers, now()) {
                    let (generation, number) = numbers;
                    let (ticket, fitness) = (job.ticket, fitness.fitness);
                    self.told.push_back(Event::Fitness { ticket, generation, number, fitness, simulator });
                } else if self.has(simulator, connection) {
                    let (generation, number) = numbers;
                    self.told.push_back(Event::Unasked { simulator, generation, number });
                }
            }
            Note::Unreachable(reason) => {
                self.last_reason.clone_from(&reason);
                self.told.push_back(Event::Unusable { simulator, reason });
            }
            Note::Gone(reason) => self.lose(simulator, connection, reason),
        }
    }

    fn has(&self, simulator: usize, connection: u64) -> bool {
        self.lines.get(simulator).and_then(Option::as_ref).is_some_and(|line| line.connection == connection)
    }

    fn lose(&mut self, simulator: usize, connection: u64, reason: String) {
        let Some(Loss { resent, failed }) = self.roster.lose(simulator, connection, self.options.attempts) else {
            return;
        };
        if let Some(line) = self.lines.get_mut(simulator) {
            *line = None;
        }
        if self.roster.present() == 0 {
            self.alone = Some(now());
        }
        self.last_reason.clone_from(&reason);
        self.told.push_back(Event::Lost { simulator, reason, resent });
        for Job { ticket, individual, attempts } in failed {
            let (generation, number) = (individual.generation, individual.number);
            self.told.push_back(Event::Failed { ticket, generation, number, attempts });
        }
    }

    fn drop_stuck(&mut self, time: Instant) {
        while let Some((simulator, connection)) = self.roster.stuck(time, self.options.silence) {
            let reason = format!("it said nothing for {} s", self.options.silence.as_secs_f64());
            self.lose(simulator, connection, reason);
        }
    }

    fn hand_out(&mut self) {
        while let Some((simulator, individual)) = self.roster.assign(now()) {
            let line = self.lines.get(simulator).and_then(Option::as_ref);
            let Some((connection, sent)) = line.map(|line| (line.connection, line.orders.try_send(individual))) else {
                return;
            };
            // there is room for all that a simulator may have: the thread that sends has ended
            if sent.is_err() {
                self.lose(simulator, connection, "nothing can be sent to it any more".to_owned());
            }
        }
    }
}
