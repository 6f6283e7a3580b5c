//! The threads of one simulator: one connects and receives, one sends.

use super::{FleetOptions, roster::MAX_SHARE};
use crate::evo::{ClientError, Fitness, Simulator};
use std::{
    io::{self, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel},
    },
    thread,
    time::Duration,
};
use wire::evo::{Individual, NetParameters};

/// Interval at which the receiving thread checks whether the fleet still exists.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// An event of a simulator's connection.
#[derive(Debug)]
pub(super) struct Notice {
    pub(super) simulator: usize,
    /// Number of the connection.
    pub(super) connection: u64,
    pub(super) kind: NoticeKind,
}

#[derive(Debug)]
pub(super) enum NoticeKind {
    /// The simulator announced its nets. Individuals put into the channel are sent.
    Connected { parameters: NetParameters, individuals: SyncSender<Arc<Individual>>, stream: TcpStream },
    /// An individual was evaluated.
    Fitness(Fitness),
    /// The connection failed.
    Unreachable(String),
    /// The connection closed.
    Disconnected(String),
}

/// Starts the threads; they end when the returned sender is dropped.
pub(super) fn start(
    simulator: usize,
    address: SocketAddr,
    options: &FleetOptions,
    sender: SyncSender<Notice>,
) -> io::Result<SyncSender<()>> {
    let (alive, is_alive) = sync_channel(0);
    let thread = SimulatorThread { simulator, address, options: options.clone(), sender, is_alive, connection: 0 };
    thread::Builder::new().name(format!("simulator {simulator}")).spawn(move || thread.run())?;
    Ok(alive)
}

struct SimulatorThread {
    simulator: usize,
    address: SocketAddr,
    options: FleetOptions,
    sender: SyncSender<Notice>,
    is_alive: Receiver<()>,
    connection: u64,
}

/// The fleet was dropped.
struct FleetEnded;

impl SimulatorThread {
    fn run(mut self) {
        let mut pause = self.options.pause;
        loop {
            self.connection += 1;
            let was_there = match self.connect() {
                Ok((mut connection, parameters)) => {
                    let mut is_useful = false;
                    let Ok(reason) = self.listen(&mut connection, parameters, &mut is_useful) else { return };
                    // keep the delay for a simulator that closes every connection at once
                    if is_useful {
                        pause = self.options.pause;
                    }
                    self.notify(NoticeKind::Disconnected(reason))
                }
                Err(error) => self.notify(NoticeKind::Unreachable(error.to_string())),
            };
            if was_there.is_err() || self.wait(pause).is_err() {
                return;
            }
            pause = (2 * pause).min(self.options.longest_pause);
        }
    }

    fn connect(&self) -> Result<(Simulator, NetParameters), ClientError> {
        let mut connection = Simulator::connect_within(self.address, self.options.connect)?;
        let parameters = connection.net_parameters_within(self.options.connect)?;
        Ok((connection, parameters))
    }

    /// Forwards the simulator's results until the connection closes; returns the cause.
    fn listen(
        &self,
        connection: &mut Simulator,
        parameters: NetParameters,
        is_useful: &mut bool,
    ) -> Result<String, FleetEnded> {
        let (individuals, to_send) = sync_channel(parameters.concurrent.clamp(1, MAX_SHARE));
        let streams =
            connection.stream().try_clone().and_then(|sending| Ok((sending, connection.stream().try_clone()?)));
        let (sending, stream) = match streams {
            Ok(streams) => streams,
            Err(error) => return Ok(error.to_string()),
        };
        let name = format!("to simulator {}", self.simulator);
        if let Err(error) = thread::Builder::new().name(name).spawn(move || send(sending, &to_send)) {
            return Ok(format!("failed to start a thread: {error}"));
        }
        self.notify(NoticeKind::Connected { parameters, individuals, stream })?;
        loop {
            match connection.receive(POLL_INTERVAL) {
                Ok(Some(fitness)) => {
                    *is_useful = true;
                    self.notify(NoticeKind::Fitness(fitness))?;
                }
                Ok(None) if matches!(self.is_alive.try_recv(), Err(TryRecvError::Disconnected)) => {
                    return Err(FleetEnded);
                }
                Ok(None) => {}
                Err(error) => return Ok(error.to_string()),
            }
        }
    }

    fn notify(&self, kind: NoticeKind) -> Result<(), FleetEnded> {
        let notices = Notice { simulator: self.simulator, connection: self.connection, kind };
        self.sender.send(notices).map_err(|_| FleetEnded)
    }

    fn wait(&self, pause: Duration) -> Result<(), FleetEnded> {
        match self.is_alive.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            _ => Err(FleetEnded),
        }
    }
}

/// Sends individuals, as many as are queued with one write. Shuts down a failed connection, so that the receiving thread
/// notices.
fn send(mut stream: TcpStream, individuals: &Receiver<Arc<Individual>>) {
    const PIECE: usize = 256 * 1024;
    let mut out = Vec::new();
    while let Ok(first) = individuals.recv() {
        out.clear();
        let mut next = Some(first);
        while let Some(individual) = next {
            // `submit` rejects values that are not finite
            let _ = individual.encode_line(&mut out);
            next = if out.len() < PIECE { individuals.try_recv().ok() } else { None };
        }
        if stream.write_all(&out).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}
