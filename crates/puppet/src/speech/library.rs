//! Finding the espeak-ng library on this machine.

use std::path::{Path, PathBuf};

use crate::fetched_folder;

/// File name of the library.
const LIBRARY: &str = if cfg!(target_os = "macos") { "libespeak-ng.1.dylib" } else { "libespeak-ng.so.1" };
/// Folder with the language data.
const DATA: &str = "espeak-ng-data";

/// Folders of installed libraries, and of their data.
const SYSTEM: [(&str, &str); 9] = [
    ("/usr/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"),
    ("/usr/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu"),
    ("/usr/lib/x86_64-linux-gnu", "/usr/share"),
    ("/usr/lib/aarch64-linux-gnu", "/usr/share"),
    ("/usr/lib64", "/usr/share"),
    ("/usr/lib", "/usr/share"),
    ("/usr/local/lib", "/usr/local/share"),
    ("/opt/homebrew/lib", "/opt/homebrew/share"),
    ("/usr/local/lib", "/usr/share"),
];

/// Paths of the espeak-ng library and its data folder: downloaded by `scripts/fetch-puppet voice`, or installed.
pub fn find_espeak() -> Option<(PathBuf, PathBuf)> {
    let own = fetched_folder("voice").map(|folder| folder.join("espeakng_loader"));
    let own = own.iter().map(|folder| (folder.as_path(), folder.as_path()));
    let system = SYSTEM.iter().map(|(library, data)| (Path::new(library), Path::new(data)));
    first_complete(own.chain(system))
}

fn first_complete<'a>(candidates: impl Iterator<Item = (&'a Path, &'a Path)>) -> Option<(PathBuf, PathBuf)> {
    candidates
        .map(|(library, data)| (library.join(LIBRARY), data.join(DATA)))
        .find(|(library, data)| library.is_file() && data.join("phontab").is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_first_complete_installation_is_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str, files: &[&str]| {
            for file in files {
                let path = folder.path().join(name).join(file);
                fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
                fs::write(path, "").expect("a file");
            }
            folder.path().join(name)
        };
        let no_data = place("no-data", &[LIBRARY]);
        let no_library = place("no-library", &["espeak-ng-data/phontab"]);
        let complete = place("complete", &[LIBRARY, "espeak-ng-data/phontab"]);
        let places = |folders: &[&PathBuf]| -> Option<(PathBuf, PathBuf)> {
            first_complete(folders.iter().map(|folder| (folder.as_path(), folder.as_path())))
        };
        assert_eq!(places(&[&no_data, &no_library]), None);
        let expected = Some((complete.join(LIBRARY), complete.join(DATA)));
        assert_eq!(places(&[&no_data, &complete, &no_library]), expected);
    }
}
