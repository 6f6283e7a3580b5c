//! Links and paths in the documentation lead to files that exist.

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Folders that hold documentation, besides the root itself.
const FOLDERS: [&str; 8] = ["bench", "clients", "docs", "examples", "fuzz", "models", "protocols", "scripts"];

fn pages() -> Vec<PathBuf> {
    fn collect(folder: &Path, deep: bool, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("the folder is readable") {
            let path = entry.expect("the folder is readable").path();
            if path.is_dir() {
                if deep {
                    collect(&path, deep, found);
                }
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    collect(&root(), false, &mut found);
    for folder in FOLDERS {
        collect(&root().join(folder), true, &mut found);
    }
    found
}

/// The texts between `open` and the next `close`, outside code blocks.
fn between<'a>(page: &'a str, open: &'a str, close: char) -> impl Iterator<Item = &'a str> {
    let mut is_code = false;
    let lines = page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.flat_map(move |line| {
        line.match_indices(open)
            .filter_map(move |(at, _)| line.get(at + open.len()..)?.split_once(close))
            .map(|(text, _)| text)
    })
}

/// Applies `check` to each page; it returns the broken references in the page's text.
fn check_pages(check: impl Fn(&Path, &str) -> Vec<String>) {
    let mut broken = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).expect("pages are UTF-8");
        let name = page.strip_prefix(root()).expect("pages are below the root").display().to_string();
        broken.extend(check(&page, &text).into_iter().map(|reference| format!("{name}: {reference}")));
    }
    assert!(broken.is_empty(), "broken references:\n{}", broken.join("\n"));
}

#[test]
fn links_lead_to_files() {
    check_pages(|page, text| {
        let folder = page.parent().expect("a page is in a folder");
        let is_broken = |link: &&str| {
            let file = link.split('#').next().unwrap_or_default();
            !link.contains("://") && !file.is_empty() && !folder.join(file).exists()
        };
        between(text, "](", ')').filter(is_broken).map(str::to_owned).collect()
    });
}

/// Paths below one of the source folders, such as `crates/wire/src`; those with placeholders or globs are skipped.
#[test]
fn paths_lead_to_files() {
    const SOURCES: [&str; 8] =
        ["clients/", "crates/", "docs/", "examples/", "protocols/", "scenarios/", "scripts/", "tests/"];
    check_pages(|_, text| {
        let paths = between(text, "`", '`').filter(|path| SOURCES.iter().any(|folder| path.starts_with(folder)));
        let files = paths.filter_map(|path| path.split([' ', ':']).next());
        let is_broken = |file: &&str| !file.contains(['<', '*', '{', '#']) && !root().join(file).exists();
        files.filter(is_broken).map(str::to_owned).collect()
    });
}

/// The coverage lists of the protocols: each row names an implementation, and tests or decisions that are there.
#[test]
fn coverage_lists_name_what_exists() {
    check_pages(|page, text| {
        if page.file_name().is_none_or(|name| name != "coverage.md") {
            return Vec::new();
        }
        let decisions = fs::read_to_string(page.with_file_name("decisions.md")).expect("decisions");
        let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #"));
        let mut numbers = Vec::new();
        rows.filter_map(|row| {
            let cells: Vec<_> = row.trim_matches('|').split(" | ").map(str::trim).collect();
            let [number, _, implementation, covered] = cells[..] else { return Some(format!("{row}: not four cells")) };
            let is_new = !numbers.contains(&number.to_owned());
            numbers.push(number.to_owned());
            let is_covered =
                references(covered).next().is_some() && references(covered).all(|by| exists(by, &decisions));
            let is_implemented = implementation.contains('`');
            (!is_new || !is_covered || !is_implemented).then(|| row.to_owned())
        })
        .collect()
    });
}

/// What a cell refers to: texts in backticks, whose commas belong to them, and numbers of decisions between commas.
fn references(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').enumerate().flat_map(|(nth, part)| {
        let is_code = nth % 2 == 1;
        let parts = if is_code { vec![part] } else { part.split(',').map(str::trim).collect() };
        parts.into_iter().filter(|part| !part.is_empty())
    })
}

/// Whether a test, given as `path::name`, or a decision, given as its number, exists.
fn exists(by: &str, decisions: &str) -> bool {
    let Some((path, test)) = by.split_once("::") else {
        return decisions.lines().any(|line| line.starts_with(&format!("### {by}.")));
    };
    let Ok(text) = fs::read_to_string(root().join(path)) else { return false };
    match path.rsplit_once('.') {
        Some((_, "rs")) => is_rust_test(&text, test),
        Some((_, "py")) => text.contains(&format!("\ndef {test}(")),
        Some((_, "mjs" | "ts")) => text.contains(&format!("\ntest('{test}', ")),
        Some((_, "cpp")) => text.contains(&format!("::{test}()\n{{")),
        _ => false,
    }
}

/// Whether a function is a test. If it is ignored, a target of the Makefile has to run it.
fn is_rust_test(text: &str, name: &str) -> bool {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let Some(at) = lines.iter().position(|line| line.contains(&format!("fn {name}("))) else { return false };
    let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let attributes: Vec<_> = above.filter(|line| line.starts_with("#[")).collect();
    attributes.iter().any(|attribute| attribute.ends_with("test]"))
        && attributes.iter().filter(|attribute| attribute.starts_with("#[ignore")).all(|ignore| names_target(ignore))
}

/// Whether `make TARGET` in a text names a target of the Makefile.
fn names_target(text: &str) -> bool {
    let makefile = fs::read_to_string(root().join("Makefile")).expect("the Makefile");
    let target = text.split_once("make ").and_then(|(_, rest)| rest.split(['"', ' ']).next());
    target.is_some_and(|target| makefile.contains(&format!("\n{target}:")))
}

#[test]
fn only_tests_that_run_count() {
    let text = "#[test]\nfn one() {}\nfn two() {}\n#[tokio::test]\n// why\nfn three() {}\n#[test]\n#[ignore = \"slow\"]\n\
                fn four() {}\n#[test]\n#[ignore = \"make chaos\"]\nfn five() {}\n";
    let found = ["one", "two", "three", "four", "five", "six"].map(|name| is_rust_test(text, name));
    assert_eq!(found, [true, false, true, false, true, false]);
    let cell = "`a.mjs::once, twice`, D4, `b.rs::c`";
    assert_eq!(references(cell).collect::<Vec<_>>(), ["a.mjs::once, twice", "D4", "b.rs::c"]);
}
