//! Finding the external programs that record and play audio.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The first file called `name` in the folders of `path`, which has the format of the `PATH` variable.
pub(crate) fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Whether a `PipeWire` program supports raw audio. Versions up to 1.0.5 exit with an error when given `--raw`.
pub(crate) fn supports_raw(program: &Path) -> bool {
    let help = Command::new(program).arg("--help").stdin(Stdio::null()).output();
    help.is_ok_and(|help| [help.stdout, help.stderr].iter().any(|text| String::from_utf8_lossy(text).contains("--raw")))
}

/// Creates an executable script. A child process writes it: a file descriptor of ours could leak into a child that
/// another test spawns at the same time, and the script could not be executed (`ETXTBSY`) while it is open.
#[cfg(test)]
pub(crate) fn write(folder: &Path, name: &str, script: &str) {
    let lines = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
    let written = Command::new("sh").args(["-c", lines]).arg(folder.join(name)).arg(script).status();
    assert!(written.expect("a shell").success(), "failed to write {name}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_probed() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "new", "[ $1 = --help ] && echo ' -a, --raw' >&2");
        write(folder.path(), "old", "echo ' --rate'");
        let path = env::join_paths([Path::new("/nowhere"), folder.path()]).expect("a path");
        for (name, knows) in [("new", Some(true)), ("old", Some(false)), ("none", None)] {
            assert_eq!(find(name, &path).map(|program| supports_raw(&program)), knows, "{name}");
        }
        assert!(!supports_raw(Path::new("/nowhere/at/all")));
    }
}
