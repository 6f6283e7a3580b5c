//! `scripts/check-files`: this repository passes, and a stray or long file is rejected by name.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn check_files(checkout: &Path) -> Output {
    Command::new(root().join("scripts/check-files")).arg(checkout).output().expect("the script starts")
}

#[test]
fn this_repository_has_no_stray_files() {
    let output = check_files(&root());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Puts one file into a fresh checkout and compares the script's complaint, `None` if the file is allowed.
#[track_caller]
fn check(path: &str, content: &[u8], complaint: Option<&str>) {
    let checkout = tempfile::tempdir().expect("a temporary folder");
    let git = Command::new("git").args(["init", "--quiet"]).arg(checkout.path()).status().expect("git starts");
    assert!(git.success(), "git init failed");
    let file = checkout.path().join(path);
    fs::create_dir_all(file.parent().expect("a parent")).expect("the folder is made");
    fs::write(file, content).expect("the file is written");
    fs::write(checkout.path().join(".gitignore"), "target/\n").expect("the file is written");
    let output = check_files(checkout.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), complaint.is_none(), "{path}: {stderr}");
    if let Some(complaint) = complaint {
        let line = format!("  {path}: {complaint}");
        assert!(stderr.lines().any(|said| said == line), "`{line}` is not in:\n{stderr}");
    }
}

#[test]
fn stray_files_are_named() {
    const BINARY: &[u8] = b"\x7fELF\0\0\0\0";
    let unexpected = "unexpected entry in the repository root";
    check("out.txt", b"", Some(unexpected));
    check("cpu.data", BINARY, Some(unexpected));
    check("results/run 1.csv", b"1,2\n", Some(unexpected));
    check("crates/notes.md", b"", Some("empty file"));
    check("crates/server/core", BINARY, Some("binary file outside docs/"));
    check("docs/program", BINARY, Some("binary file outside docs/"));
    check("docs/console/world.png", BINARY, None);
    check("crates/server/src/lib.rs", b"//! Text.\n", None);
    check("target/debug/rossum", BINARY, None);
}

#[test]
fn long_sources_are_named() {
    let lines = |count: usize| "//! Text.\n".repeat(count).into_bytes();
    check("crates/server/src/lib.rs", &lines(600), None);
    check("crates/server/src/lib.rs", &lines(601), Some("601 lines, more than 600"));
    check("console/src/main.ts", &lines(700), Some("700 lines, more than 600"));
    check("console/src/api/generated.ts", &lines(700), None);
    check("docs/evolving-robots.md", &lines(700), None);
}
