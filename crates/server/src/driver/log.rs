//! The driver of log files. A disk that cannot keep up ends the log; it never slows the world down.

use std::{
    io::{self, SeekFrom},
    path::Path,
};

use tokio::{
    fs::{File, OpenOptions},
    io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt, BufWriter},
};
use tokio_util::sync::CancellationToken;
use tracing::error;

use session::LogSession;
use support::output_file::Existing;

use crate::{
    jobs::playbacks::LOG_START,
    sim_thread::{Delivery, SimHandle, Ticks},
};

/// Opens a log for appending. A file that is not a log is only written to if it may be replaced.
pub async fn open(path: &Path, existing: Existing) -> io::Result<File> {
    let mut file = OpenOptions::new().create(true).append(true).read(true).open(path).await?;
    if existing == Existing::Replace {
        file.set_len(0).await?;
    }
    let mut last = [b'\n'];
    let length = file.seek(SeekFrom::End(0)).await?;
    if length > 0 {
        let mut start = vec![0; LOG_START.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
        file.seek(SeekFrom::Start(0)).await?;
        file.read_exact(&mut start).await?;
        if !LOG_START.starts_with(&start) {
            return Err(io::Error::other(
                "it exists and is not a log of a soccer game; choose another name, or replace it with --overwrite",
            ));
        }
        // an earlier writer may have been killed in the middle of a line
        file.seek(SeekFrom::End(-1)).await?;
        file.read_exact(&mut last).await?;
    }
    if last != *b"\n" {
        file.write_all(b"\n").await?;
    }
    Ok(file)
}

/// Writes until the server stops or the world ends.
pub async fn run(file: File, name: String, session: Box<dyn LogSession>, sim: SimHandle, stop: CancellationToken) {
    let mut file = BufWriter::new(file);
    let mut outcome = write(&mut file, session, &sim, stop).await;
    if outcome.is_ok() {
        outcome = file.flush().await;
    }
    if let Err(cause) = outcome {
        error!(file = name, "log ended: {cause}");
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
            None => return Err(io::Error::other("the disk cannot keep up with the world")),
        }
        file.write_all(&line).await?;
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_existing_log_is_continued_on_a_new_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("game.log");
        for (before, existing, after) in [
            ("", Existing::Keep, "new\n"),
            ("((RSMP 1)\n", Existing::Keep, "((RSMP 1)\nnew\n"),
            ("((RSMP 1) cut o", Existing::Keep, "((RSMP 1) cut o\nnew\n"),
            ("((R", Existing::Keep, "((R\nnew\n"),
            ("((RSMP 1)\n", Existing::Replace, "new\n"),
            ("a shopping list", Existing::Replace, "new\n"),
        ] {
            std::fs::write(&path, before).unwrap();
            let mut file = open(&path, existing).await.unwrap();
            file.write_all(b"new\n").await.unwrap();
            file.flush().await.unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
        std::fs::write(&path, "a shopping list").unwrap();
        let error = open(&path, Existing::Keep).await.unwrap_err().to_string();
        assert!(error.contains("not a log") && error.contains("--overwrite"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a shopping list");
    }
}
