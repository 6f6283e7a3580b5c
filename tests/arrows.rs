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
    ("learning", &["library", "physics", "world"]),
    ("session", &["library", "physics", "world", "soccer", "puppet", "arena", "evolve", "wire"]),
    (
        "server",
        &[
            "support", "library", "physics", "world", "soccer", "puppet", "arena", "evolve", "wire", "session",
            "console",
        ],
    ),
    (
        "python",
        &[
            "support", "library", "learning", "physics", "world", "soccer", "puppet", "arena", "evolve", "wire",
            "session", "server",
        ],
    ),
];

/// What `session` may use besides our own crates: nothing that does I/O, reads a clock or runs tasks.
const SESSION_LIBRARIES: &[&str] = &["bytes", "glam", "parking_lot", "regex-lite", "serde", "serde_json", "thiserror"];

/// What its tests may use as well.
const SESSION_TEST_LIBRARIES: &[&str] = &["proptest", "tempfile"];

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
    ".elapsed()",
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

/// Our packages, as Cargo describes them. Their dependencies are of any kind and for any target.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    metadata["packages"].as_array().expect("a list of packages").clone()
}

fn name(value: &Value) -> String {
    value["name"].as_str().expect("a name").to_owned()
}

fn dependencies(package: &Value) -> &[Value] {
    package["dependencies"].as_array().expect("a list of dependencies")
}

#[test]
fn no_arrow_is_added_or_turned_round() {
    let packages = packages();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let allowed: BTreeMap<_, _> = ARROWS.iter().copied().collect();
    for package in &packages {
        let user = name(package);
        if user == "rossum" {
            continue;
        }
        let may = allowed.get(user.as_str()).unwrap_or_else(|| panic!("`{user}` is new: say here what it may use"));
        // of any kind: what a test uses, its crate knows
        for used in dependencies(package).iter().map(name) {
            assert!(!ours.contains(&used) || may.contains(&used.as_str()), "`{user}` must not use `{used}`");
        }
    }
}

#[test]
fn sessions_do_no_io() {
    let (_, ours) = ARROWS.iter().find(|(user, _)| *user == "session").expect("its arrows");
    let session = packages().into_iter().find(|package| name(package) == "session").expect("the package");
    for dependency in dependencies(&session) {
        let (used, is_for_tests) = (name(dependency), dependency["kind"] == "dev");
        let is_allowed = ours.iter().chain(SESSION_LIBRARIES).any(|allowed| *allowed == used)
            || is_for_tests && SESSION_TEST_LIBRARIES.contains(&used.as_str());
        assert!(is_allowed, "`session` must not use `{used}`");
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
        let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let imports = imports(&lines);
        for line in lines.into_iter().chain(imports.iter().map(String::as_str)) {
            for word in NOT_IN_SESSIONS {
                assert!(!line.contains(word), "{} has `{word}`: {line}", path.display());
            }
        }
    }
}

/// The paths that `use` declarations name, one by one: `use std::{fs, io::Read};` names `std::fs` and `std::io::Read`.
fn imports(lines: &[&str]) -> Vec<String> {
    let mut paths = Vec::new();
    for statement in lines.join("\n").split(';') {
        let begins = |line: &&str| line.starts_with("use ") || line.starts_with("pub") && line.contains(" use ");
        let declaration: Vec<&str> = statement.lines().map(str::trim).skip_while(|line| !begins(line)).collect();
        if let Some((_, tree)) = declaration.join(" ").split_once("use ") {
            expand("", tree, &mut paths);
        }
    }
    paths
}

fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, group)) = tree.trim().split_once('{') else {
        return paths.push(format!("{prefix}{}", tree.trim()));
    };
    let group = group.strip_suffix('}').expect("a group is at the end");
    let mut depth = 0;
    let is_between = |character: char| {
        depth += i32::from(character == '{') - i32::from(character == '}');
        character == ',' && depth == 0
    };
    for part in group.split(is_between).filter(|part| !part.trim().is_empty()) {
        expand(&format!("{prefix}{head}"), part, paths);
    }
}

#[test]
fn imports_are_found_in_groups() {
    let lines = ["fn f() {}", "pub use std::{", "    env, fs,", "    io::{self, Read},", "};", "use wire::oz;"];
    let expected = ["std::env", "std::fs", "std::io::self", "std::io::Read", "wire::oz"];
    assert_eq!(imports(&lines), expected);
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
