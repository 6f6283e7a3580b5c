//! Atomic replacement of whole files: a reader finds the old content or the new, never a part, even after a power cut.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU64, Ordering},
};

/// Replaces the file at `path`, or creates it, readable as the umask permits.
///
/// # Errors
///
/// The folder does not exist or is not writable, or the disk is full. The old file is then unchanged.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with_mode(path, content, 0o666)
}

/// As [`replace`], but only the owner may read and write the file (mode 0600).
///
/// # Errors
///
/// As [`replace`].
pub fn replace_private(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with_mode(path, content, 0o600)
}

fn replace_with_mode(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let temporary = temporary_path(path);
    let result = write(&temporary, content, mode).and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        // an incomplete file may be what fills the disk; if it was never created, there is nothing to remove
        let _ = fs::remove_file(&temporary);
    }
    result?;
    // the rename, too, must survive a power cut
    File::open(folder_of(path))?.sync_all()
}

fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// A name in the same folder, so that the rename stays within one file system; unique among threads and processes.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!(".part-{}-{count}", process::id()));
    path.with_file_name(name)
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    type Replace = fn(&Path, &[u8]) -> io::Result<()>;

    #[test]
    fn a_file_is_created_and_replaced_without_leftovers() {
        for (name, replace, private) in
            [("plain", replace as Replace, false), ("private.json", replace_private as Replace, true)]
        {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(name);
            for content in [&b"first, and longer"[..], b"second", b""] {
                replace(&path, content).unwrap();
                assert_eq!(fs::read(&path).unwrap(), content, "{name}");
            }
            let others = fs::metadata(&path).unwrap().permissions().mode() & 0o077;
            assert!(!private || others == 0, "{name}: others have {others:o}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{name}");
        }
    }

    #[test]
    fn a_failed_replacement_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let occupied = folder.path().join("occupied");
        fs::create_dir_all(occupied.join("inside")).unwrap();
        assert!(replace(&occupied, b"text").is_err(), "a folder has this name");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace(&folder.path().join("missing/file"), b"text").is_err());
    }

    #[test]
    fn concurrent_writers_do_not_mix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared");
        std::thread::scope(|scope| {
            for digit in *b"01234567" {
                let path = &path;
                scope.spawn(move || replace(path, &[digit; 4096]).unwrap());
            }
        });
        let content = fs::read(&path).unwrap();
        assert!(content.len() == 4096 && content.iter().all(|byte| *byte == content[0]));
    }
}
