//! The driver of conversations: datagram protocols in which each peer gets a socket of its own.
//!
//! A task, the acceptor, listens on the port at which peers begin. The conversations themselves run on one thread of
//! their own, the worker, which drives the world ([`SimHandle::drive`]): between a peer's vote and the report of its tick
//! no other thread has to wake up.

mod acceptor;
mod share;
mod worker;

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    sync::Arc,
    time::Instant,
};

use session::{Context, ConversationEffect, ConversationOutbox, DatagramSession, Notice, Outbox, Refusal};
use socket2::SockRef;
use tokio::{net::UdpSocket, sync::mpsc, time::sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::debug;

pub use self::acceptor::Port;
use self::{acceptor::Activity, share::Share, worker::Spinner};
use super::{RefusalLog, now};
use crate::{
    limits,
    metrics::METRICS,
    sim_thread::{Delivery, SendError, SessionSender, SimHandle},
};

/// What the acceptor asks of a conversation.
enum Request {
    /// Answer the greeting again.
    Greet,
    /// End, as all conversations do.
    ResetCommunication,
    /// End, for this reason.
    Close(&'static str),
}

struct Conversation {
    socket: UdpSocket,
    peer: SocketAddr,
    protocol: &'static str,
    session: Box<dyn DatagramSession<ConversationEffect>>,
    sim: SimHandle,
    commands: SessionSender,
    /// Asks the acceptor to end all conversations.
    reset: mpsc::Sender<SocketAddr>,
    spinner: Arc<Spinner>,
    share: Arc<Share>,
    /// Whether the world waits for this peer.
    is_needed: bool,
    activity: Arc<Activity>,
    /// Time of the last datagram.
    received: Instant,
    /// Replies to be sent, at once or together with the next ones.
    held: Vec<Vec<u8>>,
    /// When they are sent at the latest.
    held_until: Option<Instant>,
    refusals: RefusalLog,
}

/// What a conversation waits for.
enum Event {
    Stop,
    Delivery(Option<Delivery>),
    Request(Option<Request>),
    Datagram(io::Result<usize>),
    Timeout,
    /// The timer was set for a deadline that has changed since.
    OldTimer,
}

impl Drop for Conversation {
    fn drop(&mut self) {
        if self.is_needed {
            self.share.set_needed(false);
        }
    }
}

impl Conversation {
    /// Runs until one side ends it; returns the reason.
    async fn run(
        mut self,
        mut deliveries: mpsc::Receiver<Delivery>,
        mut requests: mpsc::Receiver<Request>,
        stop: CancellationToken,
    ) -> String {
        let mut buffer = vec![0; limits::MAX_DATAGRAM];
        let mut out = Outbox::default();
        let mut in_a_row = 0;
        // set again only for an earlier deadline: most deadlines pass unneeded, and setting a timer takes time
        let timer = sleep_until(now().into());
        tokio::pin!(timer);
        let mut timer_at = None;
        let mut began = now();
        self.notify(Notice::Opened, &mut out);
        loop {
            if let Err(reason) = self.execute(out.take()) {
                return reason;
            }
            let time = now();
            if !self.is_needed {
                self.share.charge(time.duration_since(began));
            }
            if in_a_row >= limits::DATAGRAMS_IN_A_ROW {
                in_a_row = 0;
                // let the other conversations on this thread run
                tokio::task::yield_now().await;
            }
            let paused_until = if self.is_needed { None } else { self.share.resumes(time) };
            let deadline = self.deadline(paused_until);
            let is_due = deadline.is_some_and(|at| at <= time);
            if let Some(at) = deadline.filter(|at| !is_due && timer_at.is_none_or(|timer_at| *at < timer_at)) {
                timer.as_mut().reset(at.into());
                timer_at = Some(at);
            }
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => Event::Stop,
                delivery = deliveries.recv() => Event::Delivery(delivery),
                request = requests.recv() => Event::Request(request),
                received = self.socket.recv(&mut buffer), if paused_until.is_none() => Event::Datagram(received),
                // a timer would take a millisecond
                () = tokio::task::yield_now(), if is_due => Event::Timeout,
                () = &mut timer, if timer_at.is_some() => Event::OldTimer,
            };
            began = now();
            match &event {
                Event::Datagram(_) => in_a_row += 1,
                Event::OldTimer => timer_at = None,
                Event::Stop | Event::Delivery(_) | Event::Request(_) | Event::Timeout => {}
            }
            if let Err(reason) = self.handle(event, &buffer, &mut out) {
                return reason;
            }
        }
    }

    /// When there is something to do, if nothing happens before. Until a pause ends, that is only to send what is held.
    fn deadline(&self, paused_until: Option<Instant>) -> Option<Instant> {
        let timeout = self.session.timeout();
        let resumes = paused_until.map(|until| timeout.map_or(until, |timeout| timeout.max(until)));
        resumes.or(timeout).into_iter().chain(self.held_until).min()
    }

    /// Handles an event; the error is why the conversation ends, if it does.
    fn handle(&mut self, event: Event, buffer: &[u8], out: &mut ConversationOutbox) -> Result<(), String> {
        match event {
            Event::Stop => return Err("server is stopping".to_owned()),
            Event::Delivery(None) => return Err("session queue full, or the world has ended".to_owned()),
            Event::Delivery(Some(delivery)) => self.deliver(delivery, out),
            Event::Request(None) => return Err("the acceptor has ended".to_owned()),
            Event::Request(Some(Request::Close(reason))) => return Err(reason.to_owned()),
            Event::Request(Some(Request::Greet)) => self.notify(Notice::Opened, out),
            Event::Request(Some(Request::ResetCommunication)) => self.reset_communication(out),
            Event::Datagram(Ok(length)) => self.datagram(buffer.get(..length).unwrap_or_default(), out),
            // the peer's system reports that its port is closed
            Event::Datagram(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                return Err("the peer has closed its port".to_owned());
            }
            Event::Datagram(Err(error)) => {
                debug!(protocol = self.protocol, peer = %self.peer, "receive failed: {error}");
            }
            Event::Timeout => self.timed_out(out),
            Event::OldTimer => {}
        }
        Ok(())
    }

    fn deliver(&mut self, delivery: Delivery, out: &mut ConversationOutbox) {
        match delivery {
            Delivery::Answer(answer) => self.notify(Notice::Answer(answer), out),
            Delivery::Tick(snapshot) => self.session.notify(Notice::Tick, Context::new(&snapshot, now()), out),
        }
    }

    fn reset_communication(&mut self, out: &mut ConversationOutbox) {
        self.notify(Notice::CommunicationReset, out);
        out.close("communication reset");
    }

    fn notify(&mut self, notice: Notice, out: &mut ConversationOutbox) {
        self.session.notify(notice, Context::new(&self.sim.latest(), now()), out);
    }

    fn datagram(&mut self, datagram: &[u8], out: &mut ConversationOutbox) {
        if self.is_needed || !self.share.is_restricted() {
            self.spinner.datagram_received();
        }
        METRICS.datagrams.add(self.protocol, 1);
        self.received = now();
        self.session.receive(self.peer, datagram, Context::new(&self.sim.latest(), self.received), out);
        self.activity.datagram_received();
    }

    fn timed_out(&mut self, out: &mut ConversationOutbox) {
        let now = now();
        if self.held_until.is_some_and(|until| until <= now) {
            out.replies.extend(self.held.drain(..).map(|reply| (self.peer, reply)));
        }
        self.session.notify(Notice::Timeout, Context::new(&self.sim.latest(), now), out);
    }

    /// Executes the session's output; the error is why the conversation ends, if it does.
    fn execute(&mut self, out: ConversationOutbox) -> Result<(), String> {
        let Outbox { replies, commands, mut refusals, effects } = out;
        // before a command or a reply can lead to a tick
        self.commands.set_wants_ticks(self.session.wants_ticks());
        let (mut may_wait, mut closed) = (false, Ok(()));
        for effect in effects {
            match effect {
                ConversationEffect::HoldReplies => may_wait = true,
                ConversationEffect::Close(reason) => closed = closed.and(Err(reason)),
                ConversationEffect::ResetCommunication => {
                    // a full queue contains the same request
                    let _ = self.reset.try_send(self.peer);
                }
            }
        }
        if !commands.is_empty() {
            for command in commands {
                self.commands.enqueue(command).map_err(|error: SendError| error.to_string())?;
            }
            self.sim.drive();
        }
        let is_urgent = !replies.is_empty() && !may_wait;
        self.held.extend(replies.into_iter().map(|(_, reply)| reply));
        if is_urgent || closed.is_err() {
            self.held_until = None;
            self.send_held(&mut refusals)?;
        } else if may_wait {
            self.held_until.get_or_insert_with(|| now() + limits::REPLY_DELAY);
        }
        self.refusals.note(&refusals, now());
        let is_needed = self.session.is_needed();
        if is_needed != self.is_needed {
            self.is_needed = is_needed;
            self.share.set_needed(is_needed);
        }
        self.activity.set_last(self.received, is_needed);
        closed
    }

    /// Sends the held replies; the error is why the conversation ends, if it does.
    fn send_held(&mut self, refusals: &mut Vec<Refusal>) -> Result<(), String> {
        // without waiting for the runtime to find that the socket is ready
        let socket = SockRef::from(&self.socket);
        for reply in self.held.drain(..) {
            // a full socket buffer loses the datagram, as the network might
            match socket.send(&reply) {
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                    return Err("the peer has closed its port".to_owned());
                }
                Err(error) => {
                    refusals.push(Refusal { from: Some(self.peer), reason: format!("reply not sent: {error}") });
                }
                Ok(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
