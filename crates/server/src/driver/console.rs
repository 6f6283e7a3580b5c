//! The console's WebSockets: a session for each browser, and what takes time done beside.

use std::{net::SocketAddr, sync::Arc};

use axum::extract::ws::{CloseFrame, Message as Frame, WebSocket};
use tokio::{
    sync::{OwnedSemaphorePermit, oneshot},
    task::JoinSet,
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::info;
use wire::console::{Message, Role};

use super::now;
use crate::{
    limits,
    roster::Client,
    session::console::{ConsoleSession, Errand, FRAME, Out, Shared},
    sim_thread::{Delivery, SendError, SessionSender, Ticks},
};

/// The protocol's name among the others.
pub(crate) const PROTOCOL: &str = "console";
/// A close frame's code for a server that goes away, and one for a browser that does not keep to the rules.
const GOING_AWAY: u16 = 1001;
const POLICY: u16 = 1008;

/// What came of an errand.
struct Report {
    id: Option<u64>,
    result: Result<Found, String>,
}

/// What an errand brings back.
#[derive(Default)]
struct Found {
    messages: Vec<Message>,
    film: Option<Arc<crate::backstage::Film>>,
}

impl From<Message> for Found {
    fn from(message: Message) -> Self {
        Self { messages: vec![message], film: None }
    }
}

/// Talks to one browser until it goes, or the server stops. The place is given back then.
pub(crate) async fn run(
    mut socket: WebSocket,
    peer: SocketAddr,
    role: Role,
    shared: Arc<Shared>,
    place: OwnedSemaphorePermit,
    stop: CancellationToken,
) {
    let reason = match converse(&mut socket, peer, role, shared, &stop).await {
        Ok(reason) => reason,
        Err(error) => error.to_string(),
    };
    info!(protocol = PROTOCOL, %peer, "closed: {reason}");
    let code = if stop.is_cancelled() { GOING_AWAY } else { POLICY };
    let frame = CloseFrame { code, reason: reason.chars().take(100).collect::<String>().into() };
    // it may be gone
    let _ = timeout(limits::LAST_WORDS, socket.send(Frame::Close(Some(frame)))).await;
    drop(place);
}

struct Browser {
    session: ConsoleSession,
    shared: Arc<Shared>,
    commands: SessionSender,
    errands: JoinSet<Report>,
    /// What it was told of a run last: with each generation of any run, this one is looked at again.
    run: String,
}

async fn converse(
    socket: &mut WebSocket,
    peer: SocketAddr,
    role: Role,
    shared: Arc<Shared>,
    stop: &CancellationToken,
) -> Result<String, axum::Error> {
    let client = Client { protocol: PROTOCOL, peer: Some(peer), role: Some(role) };
    let (commands, mut deliveries) = shared.sim.open_for(client, Ticks::Never).map_err(axum::Error::new)?;
    let session = ConsoleSession::new(commands.session(), peer, role, Arc::clone(&shared));
    info!(protocol = PROTOCOL, %peer, ?role, "opened");
    let mut browser = Browser { session, shared, commands, errands: JoinSet::new(), run: String::new() };
    let mut out = Out::default();
    browser.session.greet(&browser.shared.sim.latest(), &mut out);
    let mut due = interval(FRAME);
    // a browser that is slow to read sees less, not later
    due.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        if let Some(reason) = browser.carry_out(std::mem::take(&mut out), socket).await? {
            return Ok(reason);
        }
        tokio::select! {
            () = stop.cancelled() => return Ok("the server stops".to_owned()),
            received = socket.recv() => match received.transpose()? {
                Some(Frame::Text(text)) => {
                    browser.session.command(&text, &browser.shared.sim.latest(), now(), &mut out);
                }
                Some(Frame::Binary(_)) => return Ok("commands are text".to_owned()),
                Some(Frame::Ping(_) | Frame::Pong(_)) => {}
                Some(Frame::Close(_)) | None => return Ok("the browser has gone".to_owned()),
            },
            delivery = deliveries.recv() => match delivery {
                Some(Delivery::Answer(answer)) => browser.session.answer(answer, &mut out),
                Some(Delivery::Tick(_)) => {}
                None => return Ok("the browser did not keep up, or the world has ended".to_owned()),
            },
            Some(report) = browser.errands.join_next() => match report {
                Ok(report) => browser.report(report, &mut out),
                Err(error) => {
                    tracing::error!(protocol = PROTOCOL, "something did not end in order: {error}");
                    out.texts.push(refusal(None, "something went wrong; the server's log says what"));
                }
            },
            // one that watches nothing costs nothing
            _ = due.tick(), if browser.session.is_watching() => browser.session.look(&browser.shared.sim.latest(), now(), &mut out),
        }
    }
}

fn refusal(id: Option<u64>, why: impl Into<String>) -> String {
    Message::Refused { id, why: why.into() }.to_text()
}

impl Browser {
    /// Does what the session wants. Says why the connection is over, if it is.
    async fn carry_out(&mut self, mut out: Out, socket: &mut WebSocket) -> Result<Option<String>, axum::Error> {
        for command in out.commands {
            match self.commands.send(command) {
                Ok(()) => {}
                // its page would wait for answers that never come
                Err(SendError::Full) => return Ok(Some(SendError::Full.to_string())),
                Err(SendError::Ended) => return Ok(Some("the world has ended".to_owned())),
            }
        }
        for (id, errand) in out.errands {
            match self.shared.room_for_errand().filter(|_| self.errands.len() < limits::CONSOLE_ERRANDS) {
                Some(room) => {
                    self.errands.spawn(carry_out(id, errand, Arc::clone(&self.shared), room));
                }
                // what nobody asked for comes again by itself
                None if id.is_none() => {}
                None => out.texts.push(refusal(id, "too much at once; try again in a moment")),
            }
        }
        let texts = out.texts.into_iter().map(|text| Frame::Text(text.into()));
        let frames = texts.chain(out.frames.into_iter().map(Frame::Binary));
        for frame in frames {
            match timeout(limits::WRITE, socket.send(frame)).await {
                Ok(sent) => sent?,
                Err(_) => return Ok(Some("the browser does not read".to_owned())),
            }
        }
        Ok(None)
    }

    fn report(&mut self, Report { id, result }: Report, out: &mut Out) {
        match result {
            Ok(Found { messages, film }) => {
                for message in &messages {
                    let text = message.to_text();
                    let is_known = matches!(message, Message::Run(_)) && id.is_none() && self.run == text;
                    if matches!(message, Message::Run(_)) {
                        self.run.clone_from(&text);
                    }
                    out.texts.extend((!is_known).then_some(text));
                }
                if let Some(film) = film {
                    self.session.show_film(film);
                }
                out.texts.extend(id.map(|id| Message::Done { id }.to_text()));
            }
            // what nobody asked for comes again by itself
            Err(_) if id.is_none() => {}
            Err(why) => out.texts.push(refusal(id, why)),
        }
    }
}

/// Does something that takes time.
async fn carry_out(id: Option<u64>, errand: Errand, shared: Arc<Shared>, room: OwnedSemaphorePermit) -> Report {
    let result = match errand {
        Errand::Name(name) => give_name(name, &shared).await,
        errand => {
            let work = tokio::task::spawn_blocking(move || {
                let done = work(errand, &shared);
                // not before, although the browser may be gone
                drop(room);
                done
            });
            work.await.unwrap_or_else(|error| {
                tracing::error!(protocol = PROTOCOL, "something did not end in order: {error}");
                Err("something went wrong; the server's log says what".to_owned())
            })
        }
    };
    Report { id, result }
}

async fn give_name(name: crate::session::console::NameErrand, shared: &Shared) -> Result<Found, String> {
    let desk = shared.desk.as_ref().ok_or("there is no puppet in this world")?;
    let (answer, answered) = oneshot::channel();
    desk.stage.name(name.0, answer);
    match timeout(limits::CONSOLE_NAMING, answered).await {
        Ok(Ok(done)) => done.map(|()| Found::default()),
        _ => Err("nobody looks for faces now; the page Health says why".to_owned()),
    }
}

fn work(errand: Errand, shared: &Shared) -> Result<Found, String> {
    let runs = &shared.runs;
    let may_evolve = || shared.evolution.as_ref().map(|_| ()).ok_or("there is no evolution in this scenario");
    Ok(match errand {
        Errand::StartDemo(players) => {
            let agents = shared.addresses.iter().find(|address| address.title == "Soccer agents");
            let agents = agents.ok_or("there is no soccer in this scenario")?;
            let address = agents.address.parse().map_err(|_| "the address of the agents is not known")?;
            shared.demo.start(address, &shared.sim, players)?;
            Found::default()
        }
        Errand::StopDemo => {
            shared.demo.stop();
            Found::default()
        }
        Errand::ListRuns => Message::Evolution { runs: runs.list() }.into(),
        Errand::StartRun(run) => {
            may_evolve()?;
            runs.start(&run)?;
            Message::Evolution { runs: runs.list() }.into()
        }
        Errand::StopRun(name) => {
            runs.stop(&name)?;
            Found::default()
        }
        Errand::ResumeRun(name, generations) => {
            may_evolve()?;
            runs.resume(&name, generations)?;
            Found::default()
        }
        Errand::Run(name) => Message::Run(runs.detail(&name)?).into(),
        Errand::Replay(name, generation) => Message::Replay(runs.replay(&name, generation)?).into(),
        Errand::Films => {
            let (folder, films) = shared.films.list();
            Message::Playbacks { folder, films }.into()
        }
        Errand::OpenFilm(name) => Found { messages: Vec::new(), film: Some(shared.films.open(&name)?) },
        Errand::Save(key, value) => {
            shared.saved_items.save(&key, value).map_err(|error| error.to_string())?;
            Found::default()
        }
        // it has its own way
        Errand::Name(_) => Found::default(),
    })
}
