//! Built-in worlds, embedded from `worlds/`.

use rust_embed::RustEmbed;

#[derive(RustEmbed)]
#[folder = "worlds"]
#[include = "*.toml"]
struct Worlds;

pub(super) fn text(name: &str) -> Option<String> {
    let file = Worlds::get(&format!("{name}.toml"))?;
    Some(String::from_utf8_lossy(&file.data).into_owned())
}

pub(super) fn names() -> Vec<String> {
    let mut names: Vec<_> = Worlds::iter().filter_map(|path| path.strip_suffix(".toml").map(str::to_owned)).collect();
    names.sort();
    names
}
