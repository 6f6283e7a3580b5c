//! The folder of an evolutionary run, as somebody else may hand it over: it is read, shown and resumed, or refused. Lines of
//! the input that begin with `=` name the file that follows.

#![no_main]

use evolve::run::{
    Run,
    coevolution::{self, Coevolution},
    read, read_best, read_best_of, read_status,
};
use libfuzzer_sys::fuzz_target;
use std::{fs, path::PathBuf, sync::LazyLock};

const FILES: [&str; 6] = ["run.json", "checkpoint.json", "best.json", "bests.jsonl", "log.jsonl", "coevolution.json"];

static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("rossum-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|text: &str| {
    for name in FILES {
        fs::write(FOLDER.join(name), "").expect("room on the disk");
    }
    for part in text.split("\n=") {
        let (name, content) = part.split_once('\n').unwrap_or((part, ""));
        if let Some(name) = FILES.iter().find(|known| **known == name.trim_start_matches('=')) {
            fs::write(FOLDER.join(name), content).expect("room on the disk");
        }
    }
    let _ = (read(&FOLDER), read_status(&FOLDER), read_best(&FOLDER), read_best_of(&FOLDER, 1));
    let _ = (coevolution::read(&FOLDER), coevolution::learnt(&FOLDER), Coevolution::resume(&FOLDER));
    if let Ok(run) = Run::resume(&FOLDER) {
        assert!(run.next_generation() > 0 && run.record().history == run.history());
    }
});
