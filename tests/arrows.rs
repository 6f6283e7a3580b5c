//! What the parts may know of each other, and where `unsafe` may be.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// Which crates of ours each one may use. `rossum` puts everything together and may use all.
const ARROWS: &[(&str, &[&str])] = &[
    ("support", &[]),
    ("wire", &[]),
    ("physics", &[]),
    ("world", &["physics"]),
    ("soccer", &["physics", "world"]),
    ("espeak", &[]),
    ("puppet", &["support", "physics", "world", "espeak"]),
    ("arena", &["support", "wire"]),
    ("evolve", &["support", "arena", "wire"]),
    ("client", &["wire"]),
    ("console", &[]),
    ("library", &["support", "physics"]),
    ("session", &["library", "physics", "world", "soccer", "puppet", "arena", "evolve", "wire"]),
    (
        "server",
        &[
            "support", "library", "physics", "world", "soccer", "puppet", "arena", "evolve", "wire", "session",
            "console",
        ],
    ),
];

/// What `session` may use besides our own crates: nothing that does I/O, reads a clock or runs tasks.
const SESSION_LIBRARIES: &[&str] =
    &["bytes", "glam", "parking_lot", "proptest", "regex-lite", "serde", "serde_json", "tempfile", "thiserror"];

/// What the sources of `session` must not mention. Addresses are `core::net` types; time is an argument.
const NOT_IN_SESSIONS: &[&str] = &[
    "std::net",
    "std::fs",
    "std::io",
    "std::thread",
    "std::process",
    "std::env",
    "SystemTime",
    "Instant::now",
    "tokio",
    "async ",
    "axum",
    "hyper",
    "metrics",
    "tracing",
    "socket2",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn no_arrow_is_added_or_turned_round() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for package in packages {
        let user = name(package);
        if user == "rossum" {
            continue;
        }
        let may = allowed.get(user.as_str()).unwrap_or_else(|| panic!("`{user}` is new: say here what it may use"));
        // of any kind: what a test uses, its crate knows
        for used in package["dependencies"].as_array().expect("a list of dependencies").iter().map(name) {
            assert!(!ours.contains(&used) || may.contains(&used.as_str()), "`{user}` must not use `{used}`");
        }
    }
}

#[test]
fn sessions_do_no_io() {
    let manifest = fs::read_to_string(root().join("crates/session/Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for section in ["dependencies", "dev-dependencies"] {
        for name in manifest[section].as_table().expect("a table").keys().map(String::as_str) {
            let is_allowed = SESSION_LIBRARIES.contains(&name) || allowed["session"].contains(&name);
            assert!(is_allowed, "`session` must not use `{name}`");
        }
    }
    let folder = root().join("crates/session/src");
    let is_test = |path: &Path| {
        path.ends_with("tests.rs")
            || path.ends_with("testing.rs")
            || path.components().any(|part| part.as_os_str() == "tests")
    };
    for path in sources().into_iter().filter(|path| path.starts_with(&folder) && !is_test(path)) {
        let text = fs::read_to_string(&path).expect("sources are text");
        // other attributes may be between `cfg(test)` and the module
        let code = text.split("\nmod tests {").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for word in NOT_IN_SESSIONS {
                assert!(!line.contains(word), "{} has `{word}`: {line}", path.display());
            }
        }
    }
}

/// Text files of the project, without what was built or fetched.
fn sources() -> Vec<PathBuf> {
    const SKIPPED: [&str; 5] = ["target", "node_modules", "corpus", "artifacts", "__pycache__"];
    let (mut found, mut folders) = (Vec::new(), vec![root()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("a file").path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let is_hidden = name.starts_with('.') && name != ".cargo" && name != ".ci";
            if path.is_symlink() || is_hidden || SKIPPED.contains(&name) {
                continue;
            }
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

#[test]
fn only_physics_and_the_speech_engine_are_unsafe() {
    let allowed = [root().join("crates/physics"), root().join("crates/espeak/src/engine.rs")];
    let forms = ["{", "fn", "impl", "extern", "trait"].map(|what| format!("{} {what}", "unsafe"));
    for path in sources().into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "rs")) {
        if !allowed.iter().any(|allowed| path.starts_with(allowed)) {
            let text = fs::read_to_string(&path).expect("sources are text");
            for form in &forms {
                assert!(!text.contains(form.as_str()), "{} has `{form}`", path.display());
            }
        }
    }
}
