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

/// Between the name of a file and the number of its temporary file.
const PART: &str = ".part-";

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
    remove_leftovers(path);
    let mut result = write_and_rename(path, content, mode);
    if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) && folder_of(path).is_dir() {
        // another process took the temporary file for a leftover, in the moment before it was locked
        result = write_and_rename(path, content, mode);
    }
    result?;
    // the rename, too, must survive a power cut
    File::open(folder_of(path))?.sync_all()
}

fn write_and_rename(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let temporary = temporary_path(path);
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        // tells it from a leftover; where files cannot be locked, leftovers stay
        let _ = file.try_lock();
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    let result = write();
    if result.is_err() {
        // an incomplete file may be what fills the disk; if it was never created, there is nothing to remove
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// Removes the temporary files of processes that ended before they could. Nobody has them locked.
fn remove_leftovers(path: &Path) {
    let (Some(name), Ok(entries)) = (path.file_name(), fs::read_dir(folder_of(path))) else { return };
    let own = format!("{}-", process::id());
    for entry in entries.flatten() {
        let found = entry.file_name();
        let found = found.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let Some(number) = found.and_then(|rest| rest.strip_prefix(PART.as_bytes())) else { continue };
        let is_number = number.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-');
        if !is_number || number.starts_with(own.as_bytes()) || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let is_left = File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        if is_left {
            // one that cannot be removed does no harm
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// A name in the same folder, so that the rename stays within one file system; unique among threads and processes.
fn temporary_path(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().map(OsString::from).unwrap_or_default();
    name.push(format!("{PART}{}-{count}", process::id()));
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
    fn leftovers_of_dead_processes_are_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["notes.part-1-0", "notes.part-4194305-17", "notes.part-one", "notes", "other.part-1-0"] {
            fs::write(at(name), "text").unwrap();
        }
        // of a process that is writing it
        fs::write(at("notes.part-2-0"), "text").unwrap();
        let busy = File::open(at("notes.part-2-0")).unwrap();
        busy.try_lock().unwrap();
        replace(&at("notes"), b"new").unwrap();
        let names = || {
            let entries = fs::read_dir(folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(names(), ["notes", "notes.part-2-0", "notes.part-one", "other.part-1-0"]);
        drop(busy);
        replace(&at("notes"), b"new").unwrap();
        assert_eq!(names(), ["notes", "notes.part-one", "other.part-1-0"]);
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
