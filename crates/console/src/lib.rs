//! The web console's files, as Vite built them from the folder `console`.

#![forbid(unsafe_code)]

/// A file of the console.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Path below the root.
    pub name: &'static str,
    /// Its media type.
    pub kind: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

impl Page {
    /// Whether its name changes with its content, so that it can be kept for ever.
    pub fn is_immutable(&self) -> bool {
        self.name.starts_with("assets/")
    }
}

/// All files, by name.
pub const PAGES: &[Page] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Whether the console is there, and not a page that says why it is not.
pub fn is_built() -> bool {
    PAGES.iter().any(Page::is_immutable)
}

/// The file of this name; the first page for an empty one.
pub fn page(name: &str) -> Option<&'static Page> {
    let name = if name.is_empty() { "index.html" } else { name };
    PAGES.iter().find(|page| page.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_first_page_and_nothing_outside() {
        let first = page("").expect("a first page");
        assert!(first.kind.starts_with("text/html") && !first.bytes.is_empty());
        assert!(page("../Cargo.toml").is_none() && page("/etc/passwd").is_none());
    }

    #[test]
    fn no_page_asks_others_for_anything() {
        for page in PAGES.iter().filter(|page| page.kind.starts_with("text/html")) {
            let text = String::from_utf8_lossy(page.bytes);
            for outside in ["src=\"http", "href=\"http", "src=\"//", "href=\"//"] {
                assert!(!text.contains(outside), "{} asks for {outside}", page.name);
            }
        }
    }
}
