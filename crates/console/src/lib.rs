//! The web console's files, built by Vite from the folder `console` and embedded.

#![forbid(unsafe_code)]

/// A file of the console.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Path relative to the root.
    pub name: &'static str,
    /// Media type.
    pub kind: &'static str,
    /// Content.
    pub bytes: &'static [u8],
}

impl Page {
    /// Whether the name changes with the content, so that browsers may cache the file forever.
    pub fn is_immutable(&self) -> bool {
        self.name.starts_with("assets/")
    }
}

/// All files, sorted by name.
pub const PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Whether the console was built; if not, the only page states the reason.
pub fn is_built() -> bool {
    PAGES.iter().any(Page::is_immutable)
}

/// The file with this name; `index.html` for an empty name.
pub fn page(name: &str) -> Option<&'static Page> {
    let name = if name.is_empty() { "index.html" } else { name };
    PAGES.iter().find(|page| page.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_the_index_page_and_nothing_outside() {
        let first = page("").expect("a first page");
        assert!(first.kind.starts_with("text/html") && !first.bytes.is_empty());
        assert!(page("../Cargo.toml").is_none() && page("/etc/passwd").is_none());
    }

    #[test]
    fn no_page_loads_anything_from_elsewhere() {
        for page in PAGES.iter().filter(|page| page.kind.starts_with("text/html")) {
            let text = String::from_utf8_lossy(page.bytes);
            for outside in ["src=\"http", "href=\"http", "src=\"//", "href=\"//"] {
                assert!(!text.contains(outside), "{} loads {outside}", page.name);
            }
        }
    }
}
