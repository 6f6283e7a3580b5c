//! The threads of one simulator: one that connects and listens, and one that sends.

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

/// How often a thread that listens looks whether the fleet is still there.
const LOOK_UP: Duration = Duration::from_secs(1);

/// What happens on a line.
#[derive(Debug)]
pub(super) struct News {
    pub(super) simulator: usize,
    /// Which of its connections this is about.
    pub(super) connection: u64,
    pub(super) note: Note,
}

#[derive(Debug)]
pub(super) enum Note {
    /// The simulator is there. What is put into `orders` is sent.
    There { parameters: NetParameters, orders: SyncSender<Arc<Individual>>, stream: TcpStream },
    /// It is done with an individual.
    Fitness(Fitness),
    /// It could not be reached.
    Unreachable(String),
    /// It was there and is gone.
    Gone(String),
}

/// Starts the threads; they end when what is returned is dropped.
pub(super) fn open(
    simulator: usize,
    address: SocketAddr,
    options: &FleetOptions,
    tell: SyncSender<News>,
) -> io::Result<SyncSender<()>> {
    let (alive, is_alive) = sync_channel(0);
    let caller = Caller { simulator, address, options: options.clone(), tell, is_alive, connection: 0 };
    thread::Builder::new().name(format!("simulator {simulator}")).spawn(move || caller.run())?;
    Ok(alive)
}

struct Caller {
    simulator: usize,
    address: SocketAddr,
    options: FleetOptions,
    tell: SyncSender<News>,
    is_alive: Receiver<()>,
    connection: u64,
}

/// Nobody listens to the thread any more.
struct FleetEnded;

impl Caller {
    fn run(mut self) {
        let mut pause = self.options.pause;
        loop {
            self.connection += 1;
            let was_there = match self.call() {
                Ok((mut line, parameters)) => {
                    let mut is_useful = false;
                    let Ok(reason) = self.listen(&mut line, parameters, &mut is_useful) else { return };
                    // one that ends every connection at once is not called ten times a second
                    if is_useful {
                        pause = self.options.pause;
                    }
                    self.tell(Note::Gone(reason))
                }
                Err(error) => self.tell(Note::Unreachable(error.to_string())),
            };
            if was_there.is_err() || self.rest(pause).is_err() {
                return;
            }
            pause = (2 * pause).min(self.options.longest_pause);
        }
    }

    fn call(&self) -> Result<(Simulator, NetParameters), ClientError> {
        let mut line = Simulator::connect_within(self.address, self.options.connect)?;
        let parameters = line.net_parameters_within(self.options.connect)?;
        Ok((line, parameters))
    }

    /// Passes on what the simulator says, until it is gone; says why.
    fn listen(
        &self,
        line: &mut Simulator,
        parameters: NetParameters,
        is_useful: &mut bool,
    ) -> Result<String, FleetEnded> {
        let (orders, to_send) = sync_channel(parameters.concurrent.clamp(1, MAX_SHARE));
        let streams = line.stream().try_clone().and_then(|sending| Ok((sending, line.stream().try_clone()?)));
        let (sending, stream) = match streams {
            Ok(streams) => streams,
            Err(error) => return Ok(error.to_string()),
        };
        let name = format!("to simulator {}", self.simulator);
        if let Err(error) = thread::Builder::new().name(name).spawn(move || send(sending, &to_send)) {
            return Ok(format!("cannot start a thread: {error}"));
        }
        self.tell(Note::There { parameters, orders, stream })?;
        loop {
            match line.receive(LOOK_UP) {
                Ok(Some(fitness)) => {
                    *is_useful = true;
                    self.tell(Note::Fitness(fitness))?;
                }
                Ok(None) if matches!(self.is_alive.try_recv(), Err(TryRecvError::Disconnected)) => {
                    return Err(FleetEnded);
                }
                Ok(None) => {}
                Err(error) => return Ok(error.to_string()),
            }
        }
    }

    fn tell(&self, note: Note) -> Result<(), FleetEnded> {
        let news = News { simulator: self.simulator, connection: self.connection, note };
        self.tell.send(news).map_err(|_| FleetEnded)
    }

    fn rest(&self, pause: Duration) -> Result<(), FleetEnded> {
        match self.is_alive.recv_timeout(pause) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            _ => Err(FleetEnded),
        }
    }
}

/// Sends individuals, as many as there are in one piece. A connection that takes no more is ended, so that whoever
/// listens on it finds out.
fn send(mut stream: TcpStream, orders: &Receiver<Arc<Individual>>) {
    const PIECE: usize = 256 * 1024;
    let mut out = Vec::new();
    while let Ok(first) = orders.recv() {
        out.clear();
        let mut next = Some(first);
        while let Some(individual) = next {
            // what is not finite was not submitted
            let _ = individual.encode_line(&mut out);
            next = if out.len() < PIECE { orders.try_recv().ok() } else { None };
        }
        if stream.write_all(&out).is_err() {
            let _ = stream.shutdown(Shutdown::Both);
            return;
        }
    }
}
