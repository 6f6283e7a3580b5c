//! Test helpers: shell scripts as programs, and waiting with a deadline.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::sync_channel,
    time::Duration,
};

use crate::testing::DEADLINE;

const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Polls a condition until it holds. Panics after [`DEADLINE`].
pub(crate) fn until(what: &str, mut is_met: impl FnMut() -> bool) {
    let (_never, wait) = sync_channel::<()>(0);
    for _ in 0..DEADLINE.as_millis() / POLL_INTERVAL.as_millis() {
        if is_met() {
            return;
        }
        // nothing is ever sent: this is a sleep
        let _ = wait.recv_timeout(POLL_INTERVAL);
    }
    panic!("{what}: not within {DEADLINE:?}");
}

/// Creates an executable shell script.
pub(crate) fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("program");
    // written by another process: a process that another test forks meanwhile would inherit this one's descriptor, and a
    // file open for writing cannot be executed
    let mut writer = Command::new("/bin/sh")
        .args(["-c", r#"cat > "$0" && chmod 755 "$0""#])
        .arg(&path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    writer.stdin.take().unwrap().write_all(format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    path
}
