//! Files that a user asks the program to write. One that exists is kept unless the user asks for its replacement.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::atomic_file;

/// What happens to a file that exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// It is kept, and the new file refused.
    #[default]
    Keep,
    /// It is replaced, because the user said `--overwrite`.
    Replace,
}

impl From<bool> for Existing {
    /// From the option `--overwrite`.
    fn from(overwrite: bool) -> Self {
        if overwrite { Self::Replace } else { Self::Keep }
    }
}

/// Why a file was not created.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The file exists, and is kept.
    #[error("{} exists already; choose another name, or replace it with --overwrite", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The path is a folder, a pipe or a device: opening it may block forever, and it cannot be read back.
    #[error("{} exists and is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file system refused it.
    #[error("failed to write {}: {cause}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the file system.
        cause: io::Error,
    },
}

/// Creates a file that is written bit by bit.
///
/// # Errors
///
/// The path exists and may not be replaced, or cannot be created.
pub fn create(path: &Path, existing: Existing) -> Result<File, OutputError> {
    check(path, existing)?;
    let mut options = OpenOptions::new();
    match existing {
        // fails if somebody else creates it at the same time
        Existing::Keep => options.create_new(true),
        Existing::Replace => options.create(true).truncate(true),
    };
    options.write(true).open(path).map_err(|cause| failed(path, cause))
}

/// Writes a whole file. Something that is not a regular file, such as a pipe or `/dev/stdout`, is written to as it is.
///
/// # Errors
///
/// The path exists and may not be replaced, or cannot be written. An existing file is then unchanged.
pub fn write(path: &Path, content: &[u8], existing: Existing) -> Result<(), OutputError> {
    let is_stream = fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
    if is_stream {
        let write = || OpenOptions::new().write(true).open(path)?.write_all(content);
        return write().map_err(|cause| failed(path, cause));
    }
    if existing == Existing::Replace {
        check(path, existing)?;
        return atomic_file::replace(path, content).map_err(|cause| failed(path, cause));
    }
    let mut file = create(path, existing)?;
    file.write_all(content).map_err(|cause| {
        // half a file would be in the way of the next attempt
        let _ = fs::remove_file(path);
        failed(path, cause)
    })
}

/// Refuses early what [`create`] would refuse, before work whose result could not be written.
///
/// # Errors
///
/// The path exists and may not be replaced.
pub fn check(path: &Path, existing: Existing) -> Result<(), OutputError> {
    // of a link itself, if it leads nowhere
    let found = fs::metadata(path).or_else(|_| fs::symlink_metadata(path));
    match found {
        Ok(found) if !found.is_file() && !found.is_symlink() => Err(OutputError::NotAFile { path: path.to_owned() }),
        Ok(_) if existing == Existing::Keep => Err(OutputError::Exists { path: path.to_owned() }),
        _ => Ok(()),
    }
}

fn failed(path: &Path, cause: io::Error) -> OutputError {
    let path = path.to_owned();
    match cause.kind() {
        io::ErrorKind::AlreadyExists => OutputError::Exists { path },
        _ => OutputError::Io { path, cause },
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_existing_file_is_kept_unless_it_is_to_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (old, link) = (folder.path().join("old"), folder.path().join("link"));
        let dangling = folder.path().join("dangling");
        symlink(&old, &link).unwrap();
        symlink(folder.path().join("nowhere"), &dangling).unwrap();
        for path in [&old, &link, &dangling] {
            fs::write(&old, "precious").unwrap();
            let says = |error: OutputError| {
                let text = error.to_string();
                assert!(text.contains("exists already") && text.contains("--overwrite"), "{text}");
            };
            says(create(path, Existing::Keep).unwrap_err());
            says(write(path, b"new", Existing::Keep).unwrap_err());
            says(check(path, Existing::Keep).unwrap_err());
            assert_eq!(fs::read_to_string(&old).unwrap(), "precious");
        }
        write(&old, b"new", Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "new");
        create(&old, Existing::Replace).unwrap().write_all(b"more").unwrap();
        assert_eq!(fs::read_to_string(&old).unwrap(), "more");
    }

    #[test]
    fn a_new_file_is_created_with_either_option() {
        let folder = tempfile::tempdir().unwrap();
        for (name, existing) in [("a", Existing::Keep), ("b", Existing::Replace)] {
            check(&folder.path().join(name), existing).unwrap();
            write(&folder.path().join(name), b"text", existing).unwrap();
            create(&folder.path().join(name).with_extension("c"), existing).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "and nothing else");
        let missing = folder.path().join("missing/file");
        assert!(matches!(write(&missing, b"", Existing::Keep), Err(OutputError::Io { .. })));
    }

    #[test]
    fn what_is_no_file_is_written_to_but_never_recorded_to() {
        let null = Path::new("/dev/null");
        for existing in [Existing::Keep, Existing::Replace] {
            write(null, b"text", existing).unwrap();
            assert!(matches!(create(null, existing), Err(OutputError::NotAFile { .. })));
            let folder = tempfile::tempdir().unwrap();
            assert!(matches!(create(folder.path(), existing), Err(OutputError::NotAFile { .. })));
            assert!(matches!(write(folder.path(), b"", existing), Err(OutputError::NotAFile { .. })));
        }
        assert!(matches!(write(Path::new("/dev/full"), b"text", Existing::Keep), Err(OutputError::Io { .. })));
    }
}
