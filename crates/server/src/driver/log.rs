//! The driver of all logs. A disk that does not keep up ends the log; it never slows the world.

use std::{io, path::Path};

use tokio::{
    fs::{File, OpenOptions},
    io::{AsyncWriteExt, BufWriter},
};
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::{
    session::LogSession,
    sim_thread::{Delivery, SimHandle, Ticks},
};

/// Opens a log, to write after what it has already.
pub async fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path).await
}

/// Writes until the server stops or the world ends.
pub async fn run(file: File, name: String, session: Box<dyn LogSession>, sim: SimHandle, stop: CancellationToken) {
    let mut file = BufWriter::new(file);
    let mut outcome = write(&mut file, session, &sim, stop).await;
    if outcome.is_ok() {
        outcome = file.flush().await;
    }
    if let Err(cause) = outcome {
        error!("the log {name} ends here: {cause}");
    }
}

async fn write(
    file: &mut BufWriter<File>,
    mut session: Box<dyn LogSession>,
    sim: &SimHandle,
    stop: CancellationToken,
) -> io::Result<()> {
    let (_sender, mut deliveries) = sim.open(Ticks::AtEnd).map_err(io::Error::other)?;
    let mut line = Vec::new();
    loop {
        let delivery = tokio::select! {
            () = stop.cancelled() => return Ok(()),
            delivery = deliveries.recv() => delivery,
        };
        match delivery {
            Some(Delivery::Tick(snapshot)) => session.tick(&snapshot, &mut line),
            Some(Delivery::Answer(_)) => continue,
            None if sim.has_ended() => return Ok(()),
            None => return Err(io::Error::other("the disk did not keep up with the world")),
        }
        file.write_all(&line).await?;
        line.clear();
    }
}
