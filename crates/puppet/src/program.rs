//! Programs of this machine that record and play sound.

use std::{
    env,
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The program of this name in the first folder of `path` that has it.
pub(crate) fn find(name: &str, path: &OsStr) -> Option<PathBuf> {
    env::split_paths(path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Whether a program of `PipeWire` can do without the header of a sound file. Those up to 1.0.5 cannot, and do not start
/// if they are asked to.
pub(crate) fn knows_raw(program: &Path) -> bool {
    let help = Command::new(program).arg("--help").stdin(Stdio::null()).output();
    help.is_ok_and(|help| [help.stdout, help.stderr].iter().any(|text| String::from_utf8_lossy(text).contains("--raw")))
}

/// Makes a script that can be started. Another process writes it: what this one writes may be open in a child that another
/// test starts just then, and could not be started as long as it is.
#[cfg(test)]
pub(crate) fn write(folder: &Path, name: &str, script: &str) {
    let lines = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
    let written = Command::new("sh").args(["-c", lines]).arg(folder.join(name)).arg(script).status();
    assert!(written.expect("a shell").success(), "{name} is not written");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_and_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), "new", "[ $1 = --help ] && echo ' -a, --raw' >&2");
        write(folder.path(), "old", "echo ' --rate'");
        let path = env::join_paths([Path::new("/nowhere"), folder.path()]).expect("a path");
        for (name, knows) in [("new", Some(true)), ("old", Some(false)), ("none", None)] {
            assert_eq!(find(name, &path).map(|program| knows_raw(&program)), knows, "{name}");
        }
        assert!(!knows_raw(Path::new("/nowhere/at/all")));
    }
}
