//! The driver of the console: a session for each WebSocket, and jobs that run beside them.

mod backend;
mod jobs;

use std::{net::SocketAddr, sync::Arc};

use axum::extract::ws::{CloseFrame, Message as WebSocketFrame, WebSocket};
use session::{
    Context, Input, Outbox, Session,
    console::{ConsoleEffect, ConsoleOutbox, ConsoleSession, Frame, Job, JobError, JobResult, Shared},
};
use tokio::{
    sync::{OwnedSemaphorePermit, watch},
    task::JoinSet,
    time::{sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::info;
use wire::console::{Message, Role};

pub(crate) use self::{
    backend::ServerBackend,
    jobs::{JobContext, Jobs},
};
use super::{RefusalLog, now};
use crate::{
    limits,
    roster::Client,
    sim_thread::{Delivery, SendError, SessionSender, SimHandle, Ticks},
    user_data::{Tokens, today},
};

/// Name of the protocol.
pub(crate) const PROTOCOL: &str = "console";
/// Close code of a server that is stopping.
const GOING_AWAY: u16 = 1001;
/// Close code for a client that violates a rule.
const POLICY: u16 = 1008;

/// State shared by all console connections.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleServer {
    pub(crate) sim: SimHandle,
    pub(crate) shared: Arc<Shared>,
    pub(crate) jobs: Arc<Jobs>,
}

/// A client that was admitted.
#[derive(Debug)]
pub(crate) struct Visitor {
    pub(crate) peer: SocketAddr,
    pub(crate) role: Role,
    /// The secret that gives it its role.
    pub(crate) secret: String,
    /// Changes of the tokens.
    pub(crate) tokens: watch::Receiver<Arc<Tokens>>,
}

impl Visitor {
    /// Waits until its token was replaced or has expired.
    async fn dismissed(&mut self) {
        let is_valid = |tokens: &Arc<Tokens>| tokens.role(&self.secret, today()) == Some(self.role);
        if self.tokens.wait_for(|tokens| !is_valid(tokens)).await.is_err() {
            // no tokens change any more: the server is stopping
            std::future::pending().await
        }
    }
}

/// Serves one client until it leaves, its token becomes invalid or the server stops. The permit is returned then.
pub(crate) async fn run(
    mut socket: WebSocket,
    mut visitor: Visitor,
    server: ConsoleServer,
    permit: OwnedSemaphorePermit,
    stop: CancellationToken,
) {
    let (peer, role) = (visitor.peer, visitor.role);
    let ended = tokio::select! {
        ended = converse(&mut socket, peer, role, server, &stop) => ended,
        () = visitor.dismissed() => Ok("the token was replaced or has expired; open the new link".to_owned()),
    };
    let reason = match ended {
        Ok(reason) => reason,
        Err(error) => error.to_string(),
    };
    info!(protocol = PROTOCOL, %peer, "closed: {reason}");
    let code = if stop.is_cancelled() { GOING_AWAY } else { POLICY };
    let frame = CloseFrame { code, reason: reason.chars().take(100).collect::<String>().into() };
    // the client may have left
    let _ = timeout(limits::FLUSH_TIMEOUT, socket.send(WebSocketFrame::Close(Some(frame)))).await;
    drop(permit);
}

struct Connection {
    session: ConsoleSession,
    role: Role,
    server: ConsoleServer,
    commands: SessionSender,
    jobs: JoinSet<(Option<u64>, Result<JobResult, JobError>)>,
    refusals: RefusalLog,
}

async fn converse(
    socket: &mut WebSocket,
    peer: SocketAddr,
    role: Role,
    server: ConsoleServer,
    stop: &CancellationToken,
) -> Result<String, axum::Error> {
    let client = Client { protocol: PROTOCOL, peer: Some(peer), role: Some(role) };
    let (commands, mut deliveries) = server.sim.open_for(client, Ticks::Never).map_err(axum::Error::new)?;
    let session = ConsoleSession::new(commands.session(), peer, role, Arc::clone(&server.shared));
    info!(protocol = PROTOCOL, %peer, ?role, "opened");
    let (jobs, refusals) = (JoinSet::new(), RefusalLog::new(PROTOCOL));
    let mut connection = Connection { session, role, server, commands, jobs, refusals };
    let mut out = Outbox::default();
    connection.handle(Input::Opened, &mut out);
    loop {
        if let Some(reason) = connection.execute(out.take(), socket).await? {
            return Ok(reason);
        }
        let due = connection.session.timeout();
        tokio::select! {
            () = stop.cancelled() => return Ok("server is stopping".to_owned()),
            received = socket.recv() => match received.transpose()? {
                Some(WebSocketFrame::Text(text)) => {
                    connection.handle(Input::Message { from: peer, message: text.to_string() }, &mut out);
                }
                Some(WebSocketFrame::Binary(_)) => return Ok("commands are text frames".to_owned()),
                Some(WebSocketFrame::Ping(_) | WebSocketFrame::Pong(_)) => {}
                Some(WebSocketFrame::Close(_)) | None => return Ok("closed by the client".to_owned()),
            },
            delivery = deliveries.recv() => match delivery {
                Some(Delivery::Answer(answer)) => connection.handle(Input::Answer(answer), &mut out),
                Some(Delivery::Tick(_)) => connection.handle(Input::Tick, &mut out),
                None => return Ok("session queue full, or the world has ended".to_owned()),
            },
            Some(finished) = connection.jobs.join_next() => match finished {
                Ok((id, result)) => connection.session.job_finished(id, result, now(), &mut out),
                Err(error) => tracing::error!(protocol = PROTOCOL, "job failed: {error}"),
            },
            // a client that watches nothing costs nothing
            () = sleep_until(due.unwrap_or_else(now).into()), if due.is_some() => {
                connection.handle(Input::Timeout, &mut out);
            }
        }
    }
}

impl Connection {
    fn handle(&mut self, input: Input<String>, out: &mut ConsoleOutbox) {
        self.session.handle(input, Context::new(&self.server.sim.latest(), now()), out);
    }

    /// Executes the session's output; returns why the connection ends, if it does.
    async fn execute(&mut self, out: ConsoleOutbox, socket: &mut WebSocket) -> Result<Option<String>, axum::Error> {
        let Outbox { replies, commands, refusals, effects } = out;
        self.refusals.note(&refusals, now());
        for command in commands {
            match self.commands.send(command) {
                Ok(()) => {}
                // the client would wait for an answer that never comes
                Err(error @ (SendError::Full | SendError::Ended)) => return Ok(Some(error.to_string())),
            }
        }
        let mut frames: Vec<_> = replies.into_iter().map(|(_, frame)| frame).collect();
        for ConsoleEffect::StartJob { id, job } in effects {
            frames.extend(self.start_job(id, job).map(|refused| Frame::Text(refused.to_text())));
        }
        for frame in frames {
            let frame = match frame {
                Frame::Text(text) => WebSocketFrame::Text(text.into()),
                Frame::Binary(bytes) => WebSocketFrame::Binary(bytes),
            };
            match timeout(limits::WRITE_TIMEOUT, socket.send(frame)).await {
                Ok(sent) => sent?,
                Err(_) => return Ok(Some("the client does not read".to_owned())),
            }
        }
        Ok(None)
    }

    /// Starts a job, or returns a refusal.
    fn start_job(&mut self, id: Option<u64>, job: Job) -> Option<Message> {
        match self.server.jobs.try_acquire(self.role).filter(|_| self.jobs.len() < limits::CONSOLE_JOBS) {
            Some(permit) => {
                let run = Arc::clone(&self.server.jobs).run(job, permit);
                self.jobs.spawn(async move { (id, run.await) });
                None
            }
            // not requested by the client: the session retries it
            None if id.is_none() => None,
            None => Some(Message::Refused { id, why: "too many running jobs; try again in a moment".to_owned() }),
        }
    }
}
