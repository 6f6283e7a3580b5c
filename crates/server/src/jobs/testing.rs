//! Small programs to start, and waiting for them with a deadline.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc::sync_channel,
    time::Duration,
};

use crate::testing::DEADLINE;

/// How often somebody looks.
const LOOK: Duration = Duration::from_millis(5);

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let (_never, wait) = sync_channel::<()>(0);
    for _ in 0..DEADLINE.as_millis() / LOOK.as_millis() {
        if is_so() {
            return;
        }
        // there is nobody who sends anything
        let _ = wait.recv_timeout(LOOK);
    }
    panic!("{what}: not within {DEADLINE:?}");
}

/// A program that is a script of the shell.
pub(crate) fn program(folder: &Path, script: &str) -> PathBuf {
    let path = folder.join("program");
    // written by another process: a file that this one writes may be busy for whoever another test starts meanwhile
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
