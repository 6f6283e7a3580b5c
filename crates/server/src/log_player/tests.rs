use std::fs;

use tempfile::TempDir;

use super::*;
use crate::testing::within;

fn line(time: f64, kind: &str) -> String {
    format!("((RSMP 1 0)((gt 1 0){time:.2})((sg 1 0){kind}(nd))((gs 1 0)(time 0.0)))\n")
}

/// A full update, then differential ones, then another full one and differential ones.
fn log() -> String {
    let kind = |index: u32| if index.is_multiple_of(10) { "full" } else { "diff" };
    (0..20).map(|index| line(f64::from(index) * 0.04, kind(index))).collect()
}

struct Playing {
    address: SocketAddr,
    stop: CancellationToken,
    played: tokio::task::JoinHandle<Result<(), LogPlayerError>>,
    _folder: TempDir,
}

async fn play(text: &str) -> Result<Playing, LogPlayerError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("game.log");
    fs::write(&path, text).unwrap();
    let player = LogPlayer::open(&path, 1.0).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let played = tokio::spawn(player.run(listener, AllowList::new(Vec::new()), stop.clone()));
    Ok(Playing { address, stop, played, _folder: folder })
}

async fn next(stream: &mut TcpStream) -> String {
    let length = within("a frame", stream.read_u32()).await.unwrap();
    let mut text = vec![0; length as usize];
    within("a whole frame", stream.read_exact(&mut text)).await.unwrap();
    String::from_utf8(text).unwrap()
}

async fn send(stream: &mut TcpStream, text: &str) {
    stream.write_u32(text.len() as u32).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
}

#[tokio::test]
async fn every_line_is_shown_in_order_and_late_monitors_get_what_they_missed() {
    let playing = play(&log()).await.unwrap();
    let mut first = TcpStream::connect(playing.address).await.unwrap();
    let lines: Vec<_> = log().lines().map(str::to_owned).collect();
    for line in &lines {
        assert_eq!(next(&mut first).await, *line);
    }
    let mut late = TcpStream::connect(playing.address).await.unwrap();
    for line in &lines[10..] {
        assert_eq!(next(&mut late).await, *line, "the last full update, and what follows");
    }
    playing.stop.cancel();
    within("the end", playing.played).await.unwrap().unwrap();
    assert_eq!(within("the end", first.read(&mut [0])).await.unwrap(), 0);
}

#[tokio::test]
async fn a_monitor_can_pause_and_resume() {
    let long: String = (0..1000).map(|index| line(f64::from(index) * 0.04, "diff")).collect();
    let playing = play(&long).await.unwrap();
    let mut monitor = TcpStream::connect(playing.address).await.unwrap();
    assert!(next(&mut monitor).await.contains("0.00"));
    send(&mut monitor, "(kickOff)(pause)").await;
    // nothing more comes than what was on its way
    let mut shown = 1;
    while timeout(Duration::from_millis(300), next(&mut monitor)).await.is_ok() {
        shown += 1;
    }
    assert!(shown < 100, "{shown}");
    send(&mut monitor, "(resume)").await;
    next(&mut monitor).await;
}

#[tokio::test]
async fn a_file_that_is_not_a_log_is_refused_with_the_line() {
    for (text, wanted) in [
        ("", "no complete line"),
        ("hello\n", "line 1"),
        ("((RSMP 1 0)((sg 1 0)full(nd)))\n", "line 1"),
        ("((RSMP 1 0)((gt 1 0)nan)((sg 1 0)full(nd)))\n", "line 1"),
        ("((RSMP 1 0)((gt 1 0)1.0)", "no complete line"),
    ] {
        let error = play(text).await.map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    let missing = LogPlayer::open(Path::new("missing.log"), 1.0).await.unwrap_err().to_string();
    assert!(missing.contains("missing.log"), "{missing}");
}

#[tokio::test]
async fn an_invalid_line_in_between_is_skipped() {
    let playing = play(&format!("{}oops\n\n{}", log(), log())).await.unwrap();
    let mut monitor = TcpStream::connect(playing.address).await.unwrap();
    for line in log().lines().chain(log().lines()) {
        assert_eq!(next(&mut monitor).await, line);
    }
}

#[tokio::test]
async fn a_line_that_was_cut_off_is_the_end() {
    let cut = &log()[..log().len() - 30];
    let playing = play(cut).await.unwrap();
    let mut monitor = TcpStream::connect(playing.address).await.unwrap();
    for line in log().lines().take(19) {
        assert_eq!(next(&mut monitor).await, line);
    }
    playing.stop.cancel();
    within("the end", playing.played).await.unwrap().unwrap();
}

#[test]
fn gaps() {
    for (before, after, speed, wanted) in
        [(1.0, 1.04, 1.0, 40), (1.0, 1.04, 2.0, 20), (5.0, 0.0, 1.0, 0), (0.0, 1e9, 1.0, 0), (0.0, 0.04, 1e-3, 40_000)]
    {
        assert_eq!(gap(before, after, speed).as_millis(), wanted, "{before} {after} {speed}");
    }
}
