//! Builds the console's pages with npm and Vite, and lists them for `lib.rs` to embed.
//!
//! Without Node.js the program still builds; its console is then a page that states what is missing.

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Sources of the pages. All must exist: cargo treats a missing file as changed in every build.
const SOURCES: [&str; 6] =
    ["src", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let sources = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../console").canonicalize()?;
    for source in SOURCES.map(|source| sources.join(source)) {
        assert!(source.exists(), "missing `{}`", source.display());
        println!("cargo::rerun-if-changed={}", source.display());
    }
    println!("cargo::rerun-if-env-changed=PATH");
    let pages = out.join("pages");
    fs::create_dir_all(&pages)?;
    if let Err(reason) = build(&sources, &pages) {
        println!("cargo::warning=web console not built: {reason}");
        fs::remove_dir_all(&pages)?;
        fs::create_dir_all(&pages)?;
        fs::write(pages.join("index.html"), missing(&reason))?;
    }
    fs::write(out.join("pages.rs"), list(&pages)?)?;
    Ok(())
}

fn build(sources: &Path, pages: &Path) -> Result<(), String> {
    let installed = sources.join("node_modules/.package-lock.json");
    let time = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
    if time(&installed) < time(&sources.join("package-lock.json")) {
        // not `npm ci`: without registry addresses in the lock file it misses packages of other platforms
        let install = ["install", "--ignore-scripts", "--no-save", "--no-progress", "--prefer-offline"];
        run(Command::new("npm").args(install).current_dir(sources))?;
    }
    let vite = sources.join("node_modules/vite/bin/vite.js");
    run(Command::new("node").arg(vite).args(["build", "--emptyOutDir", "--outDir"]).arg(pages).current_dir(sources))
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("failed to start `{name}` ({error}); install Node.js 20"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    let last: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).rev().take(6).collect();
    Err(format!("`{name}` failed: {}", last.into_iter().rev().collect::<Vec<_>>().join(" | ")))
}

/// The page shown by a program built without the console.
fn missing(reason: &str) -> String {
    let reason = reason.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html><meta charset=utf-8><title>Rossum</title><h1>Rossum is running without its console</h1>\
         <p>Building the console failed: {reason}</p><p>Install Node.js 20 and rebuild. \
         Meanwhile, <code>/status?token=TOKEN</code> shows the state as text.</p>"
    )
}

/// Renders a Rust slice with all files: name, media type, bytes.
fn list(pages: &Path) -> Result<String, Box<dyn Error>> {
    let mut files = Vec::new();
    let mut folders = vec![pages.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut text = String::from("&[\n");
    for path in files {
        let name = path.strip_prefix(pages)?.to_string_lossy().into_owned();
        let kind = match path.extension().and_then(|kind| kind.to_str()) {
            Some("html") => "text/html; charset=utf-8",
            Some("js") => "text/javascript; charset=utf-8",
            Some("css") => "text/css; charset=utf-8",
            Some("svg") => "image/svg+xml",
            Some("png") => "image/png",
            Some("woff2") => "font/woff2",
            _ => "application/octet-stream",
        };
        writeln!(text, "    Page {{ name: {name:?}, kind: {kind:?}, bytes: include_bytes!({path:?}) }},")?;
    }
    text.push(']');
    Ok(text)
}
