//! OSP clients and their world in memory.

use super::*;

/// Clients of a world with some rovers, without sockets and with time passed in.
pub(super) struct Harness {
    pub(super) run: Runner,
    pub(super) now: Instant,
    pub(super) clients: Vec<Client>,
}

pub(super) struct Client {
    pub(super) session: OspSession,
    pub(super) sequence: u64,
    /// Datagrams received.
    pub(super) received: Vec<Vec<u8>>,
    pub(super) refusals: Vec<String>,
    pub(super) closed: Option<String>,
    pub(super) resets_communication: bool,
}

pub(super) fn rovers(count: usize) -> Setup {
    let mut setup = small_setup();
    let rover = setup.robots.remove(0);
    setup.watches.clear();
    setup.randomise.retain(|randomise| count == 1 || !randomise.variable.contains("/Rover/"));
    for index in 0..count {
        let mut robot = rover.clone();
        if count > 1 {
            robot.name = format!("Rover{}", index + 1);
        }
        robot.pose.pos = [index as f64 * 2.0, 0.0, robot.pose.pos[2]];
        setup.robots.push(robot);
    }
    setup
}

impl Harness {
    #[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
    pub(super) fn new(count: usize, dialects: &[Dialect]) -> Self {
        let now = Instant::now();
        let run = Runner::new(World::new(&rovers(count)).unwrap(), Pace::Lockstep, SILENCE, now);
        let searches = SearchBudget::default();
        let client = |&dialect: &Dialect| Client {
            session: OspSession::new(PEER, dialect, searches.clone()),
            sequence: 0,
            received: Vec::new(),
            refusals: Vec::new(),
            closed: None,
            resets_communication: false,
        };
        let mut harness = Self { run, now, clients: dialects.iter().map(client).collect() };
        for client in 0..dialects.len() {
            harness.ask(client, &Request::GetAgentOverview);
        }
        harness
    }

    /// Sends a datagram; returns the replies, including those that the world causes.
    pub(super) fn send(&mut self, client: usize, datagram: &[u8]) -> Vec<Reply> {
        self.clients[client].received.clear();
        let world = self.run.world().snapshot();
        let now = self.now;
        self.with(client, |session, out| session.receive(PEER, datagram, Context::new(&world, now), out));
        self.settle();
        self.received(client)
    }

    pub(super) fn ask(&mut self, client: usize, request: &Request) -> Vec<Reply> {
        let dialect = self.clients[client].session.dialect;
        self.send(client, &request.to_bytes_in(dialect))
    }

    pub(super) fn ask_numbered(&mut self, client: usize, request: &Request, number: u32) -> Vec<Reply> {
        let mut datagram = request.to_bytes_in(self.clients[client].session.dialect);
        SequenceNumber(number).append_to(&mut datagram);
        let replies = self.send(client, &datagram);
        for got in &self.clients[client].received {
            assert_eq!(SequenceNumber::at_end(got), Some(SequenceNumber(number)), "{got:?}");
        }
        replies
    }

    /// What a client has received since it sent something, or since the last call.
    pub(super) fn received(&mut self, client: usize) -> Vec<Reply> {
        let Client { session, received, .. } = &self.clients[client];
        received.iter().map(|datagram| Reply::decode_in(session.dialect, datagram).unwrap()).collect()
    }

    pub(super) fn with(&mut self, client: usize, act: impl FnOnce(&mut OspSession, &mut ConversationOutbox)) {
        let id = SessionId(client as u64);
        let connection = &mut self.clients[client];
        if connection.closed.is_some() {
            return;
        }
        let mut out = Outbox::default();
        act(&mut connection.session, &mut out);
        assert!(out.replies.iter().all(|(to, _)| *to == connection.session.peer));
        connection.received.extend(out.replies.into_iter().map(|(_, datagram)| datagram));
        connection.refusals.extend(out.refusals.into_iter().map(|refusal| refusal.reason));
        for effect in out.effects {
            match effect {
                ConversationEffect::HoldReplies => {}
                ConversationEffect::Close(reason) => connection.closed = Some(reason),
                ConversationEffect::ResetCommunication => connection.resets_communication = true,
            }
        }
        for command in out.commands {
            self.clients[client].sequence += 1;
            let is_reset = matches!(command, Command::Reset(_));
            self.run.handle(id, self.clients[client].sequence, command, self.now);
            if is_reset {
                let snapshot = self.run.world().snapshot();
                self.notify_all(&snapshot);
            }
        }
        if self.clients[client].closed.is_some() {
            self.run.end(id, self.now);
        }
    }

    pub(super) fn notify_all(&mut self, snapshot: &Arc<Snapshot>) {
        let now = self.now;
        for client in 0..self.clients.len() {
            self.with(client, |session, out| session.notify(Notice::Tick, Context::new(snapshot, now), out));
        }
    }

    /// Runs until nothing happens any more without advancing the time.
    pub(super) fn settle(&mut self) {
        loop {
            for (SessionId(client), answer) in self.run.take_answers() {
                let world = self.run.world().snapshot();
                let now = self.now;
                self.with(client as usize, |session, out| {
                    session.notify(Notice::Answer(answer), Context::new(&world, now), out)
                });
            }
            let now = self.now;
            let due = |c: &Client| c.closed.is_none() && Session::timeout(&c.session).is_some_and(|at| at <= now);
            if let Some(client) = self.clients.iter().position(due) {
                let world = self.run.world().snapshot();
                self.with(client, |session, out| session.notify(Notice::Timeout, Context::new(&world, now), out));
                continue;
            }
            match self.run.advance(self.now).0 {
                Progress::Moved(snapshot) => self.notify_all(&snapshot),
                Progress::Until(_) | Progress::Waiting => {
                    let answers = self.run.take_answers();
                    if answers.is_empty() {
                        return;
                    }
                    for (SessionId(client), answer) in answers {
                        let world = self.run.world().snapshot();
                        let now = self.now;
                        self.with(client as usize, |session, out| {
                            session.notify(Notice::Answer(answer), Context::new(&world, now), out)
                        });
                    }
                }
            }
        }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while self.now < until {
            self.now = (self.now + Duration::from_millis(1)).min(until);
            self.settle();
        }
    }

    pub(super) fn ticks(&self) -> u64 {
        self.run.world().tick_count().0
    }

    pub(super) fn value(&mut self, name: &str) -> Value {
        let id = self.run.world().catalogue().variable_named(name).unwrap_or_else(|| panic!("no {name}")).id;
        self.run.world().read(id).unwrap()
    }

    /// The local number of a variable for a client.
    pub(super) fn local(&mut self, client: usize, name: &str) -> LocalValue {
        match self.ask(client, &Request::GetValueIds { expression: Text::from(name) }).as_slice() {
            [Reply::ValueIds { count: 1 }, Reply::ValueInfo { value, .. }] => *value,
            other => panic!("{name}: {other:?}"),
        }
    }

    pub(super) fn register(&mut self, client: usize, agent: i32) -> Status {
        let agent = LocalAgent(agent);
        match self.ask(client, &Request::RegisterForAgent { agent }).as_slice() {
            [Reply::RegisterForAgentAck { agent: same, status }] if *same == agent => *status,
            other => panic!("{other:?}"),
        }
    }
}

pub(super) fn step_of(agent: i32, inputs: &[f32]) -> Request {
    Request::NextStep { agent: LocalAgent(agent), inputs: inputs.to_vec() }
}

pub(super) fn ack_of(agent: i32) -> Request {
    Request::StepCompletedAck { agent: LocalAgent(agent) }
}

pub(super) fn reset_with(seed: i32) -> Request {
    Request::ResetSimulation { seed }
}

/// The names of the messages.
pub(super) fn kinds(replies: &[Reply]) -> Vec<String> {
    let name = |reply: &Reply| {
        let text = format!("{reply:?}");
        text.split([' ', '{', '(']).next().unwrap_or_default().to_owned()
    };
    replies.iter().map(name).collect()
}

pub(super) const STEP: [&str; 2] = ["NextStepAck", "StepCompleted"];
pub(super) const ACK: [&str; 1] = ["NextStepAck"];
