//! The recogniser on recorded speech, and the script that downloads models and recordings.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use puppet::hearing::{
    AudioSource, HearingError, MAX_OPTIONS, MAX_SECONDS, MAX_TEXT, RATE, Recogniser, Segmenter, hashed_words,
    word_errors,
};

/// Maximum word error rate.
const MAX_WORD_ERROR: f64 = 0.1;

/// Transcript of `beckett.wav`, which is under copyright, as [`hashed_words`].
const BECKETT: &str = "\
    f6dc9f15 b56d5fdf f6dc9f15 e0accfb4 62366ffa 89d95a28 \
    ac1db00e b33fe54f 1e53876d b33fe54f 1e53876d 3a4a268f";

/// Transcript of `two_cities.wav`.
const TWO_CITIES: &str = "\
    It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, \
    it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of \
    Darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing \
    before us, we were all going direct to Heaven, we were all going direct the other way - in short, the period was \
    so far like the present period, that some of its noisiest authorities insisted on its being received, for good \
    or for evil, in the superlative degree of comparison only.";

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/fetch-puppet")
}

/// The folder that the script downloads into.
fn fetched(name: &str) -> PathBuf {
    let output = Command::new(script()).arg(name).output().expect("the script can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} could not be set up:\n{said}");
    String::from_utf8(output.stdout).expect("a path").trim_end().into()
}

#[test]
fn recorded_speech_is_recognised() {
    let recogniser = Recogniser::load(&fetched("hearing")).expect("the recogniser loads");
    let recordings = fetched("recordings").join("moonshine_voice/assets");
    for (file, read) in [("beckett.wav", BECKETT.to_owned()), ("two_cities.wav", hashed_words(TWO_CITIES))] {
        let mut sound = AudioSource::File { path: recordings.join(file) }
            .open(IpAddr::V4(Ipv4Addr::LOCALHOST))
            .expect("the recording opens");
        let (mut segmenter, mut heard) = (Segmenter::new(), String::new());
        let mut buffer = [0.0; 1600];
        loop {
            let count = sound.read(&mut buffer).expect("a file does not fail");
            let ended =
                if count > 0 { segmenter.push(&buffer[..count]) } else { segmenter.finish().into_iter().collect() };
            for utterance in ended {
                let options = recogniser.recognise(&utterance.samples).expect("it is recognised");
                assert!((1..=MAX_OPTIONS).contains(&options.len()), "{options:?}");
                assert!(options.is_sorted_by(|a, b| a.confidence >= b.confidence), "{options:?}");
                assert!(options.iter().all(|option| (0.0..=1.0).contains(&option.confidence)), "{options:?}");
                assert!(options.iter().all(|option| option.text.len() <= MAX_TEXT), "{options:?}");
                heard = heard + &options[0].text + " ";
            }
            if count == 0 {
                break;
            }
        }
        let (errors, words) = word_errors(&read, &hashed_words(&heard));
        assert!(
            errors as f64 <= MAX_WORD_ERROR * words as f64,
            "{file}: {errors} of {words} words are wrong in: {heard}"
        );
    }
}

#[test]
fn noise_is_not_recognised_as_speech() {
    let recogniser = Recogniser::load(&fetched("hearing")).expect("the recogniser loads");
    let second = RATE as usize;
    // noise that is the same each time
    let noise = |i: usize| ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32 - 0.5;
    let sounds = [
        ("nothing", Vec::new()),
        ("a click", vec![0.5; 3]),
        ("silence", vec![0.0; 2 * second]),
        ("noise", (0..3 * second).map(|i| 0.1 * noise(i)).collect()),
        ("no numbers", vec![f32::NAN; second]),
    ];
    for (name, sound) in sounds {
        assert_eq!(recogniser.recognise(&sound).expect("it is recognised"), [], "{name}");
    }
    let long = recogniser.recognise(&vec![0.0; MAX_SECONDS * second + 1]);
    assert!(matches!(long, Err(HearingError::TooLong { .. })), "{long:?}");
}

/// A cache, lock files, and local packages.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        let fixture = Self { folder: tempfile::tempdir().expect("a temporary folder") };
        for name in ["cache", "locks", "packages", "bin"] {
            fs::create_dir(fixture.path(name)).expect("a folder is made");
        }
        fixture
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn lock(&self, lines: &str) {
        fs::write(self.path("locks/thing.lock"), format!("# a thing\n{lines}\n")).expect("a lock is written");
    }

    fn program(&self, name: &str, script: &str) {
        // another process writes it: what this one writes may be open in a child that another test starts just then, and
        // could not be started as long as it is
        let lines = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"";
        let written = Command::new("sh").args(["-c", lines]).arg(self.path("bin").join(name)).arg(script).status();
        assert!(written.expect("a shell").success(), "{name} is not written");
    }

    /// Builds the wheel of a package and returns its hash.
    fn wheel(&self) -> String {
        let program = "import hashlib, sys, zipfile\n\
            with zipfile.ZipFile(sys.argv[1], 'w') as wheel:\n\
            \x20   wheel.writestr('thing-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n')\n\
            \x20   wheel.writestr('thing-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nTag: py3-none-any\\n')\n\
            \x20   wheel.writestr('thing/data/a.txt', 'a')\n\
            \x20   wheel.writestr('thing/data/b.bin', 'b')\n\
            \x20   wheel.writestr('../out.txt', 'c')\n\
            print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())";
        let wheel = self.path("packages/thing-1.0-py3-none-any.whl");
        let output = Command::new("python3").args(["-c", program]).arg(wheel).output().expect("python can be started");
        String::from_utf8(output.stdout).expect("a hash").trim().to_owned()
    }

    fn run(&self, names: &[&str], environment: &[(&str, &str)]) -> Output {
        let path = std::env::var("PATH").expect("there is one");
        Command::new(script())
            .args(names)
            .env("ROSSUM_CACHE", self.path("cache"))
            .env("ROSSUM_PUPPET_LOCKS", self.path("locks"))
            .env("PIP_NO_INDEX", "1")
            .env("PIP_FIND_LINKS", self.path("packages"))
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .envs(environment.iter().copied())
            .output()
            .expect("the script can be started")
    }

    /// Checks that it fails with this last line and leaves nothing in the cache.
    fn check_fails(&self, environment: &[(&str, &str)], sentence: &str) {
        let output = self.run(&["thing"], environment);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let last = said.lines().last().unwrap_or_default();
        assert!(last.starts_with("fetch-puppet: ") && last.contains(sentence), "`{sentence}` is not in:\n{said}");
        assert_eq!(self.cached(), Vec::<String>::new(), "{sentence}");
    }

    /// The files in the cache.
    fn cached(&self) -> Vec<String> {
        fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() { collect(&entry.path(), found) } else { found.push(entry.path()) }
            }
        }
        let (home, mut found) = (self.path("cache/puppet"), Vec::new());
        collect(&home, &mut found);
        let name = |path: &PathBuf| path.strip_prefix(&home).expect("it is inside").display().to_string();
        let mut names: Vec<String> = found.iter().map(name).collect();
        names.sort();
        names
    }
}

const ZEROS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn download_failures_are_explained() {
    let fixture = Fixture::new();
    fixture.check_fails(&[], "unknown component thing");
    let hash = fixture.wheel();
    let cases = [
        (format!("pypi thing 1.0 {ZEROS} any"), "does not match scripts/thing.lock"),
        (format!("pypi thing 2.0 {hash} any"), "downloading thing 2.0 failed; check the network"),
        (format!("pypi thing 1.0 {hash} amiga"), "has no thing for this machine"),
        (format!("pypi thing 1.0 {hash} any\nkeep thing/none*"), "no thing/none*"),
        (format!("pypi thing 1.0 {hash} any"), "unsafe path"),
        (format!("pypi thing 1.0 {hash} any\nkeep thing/*\nwheel thing"), "line 4 of scripts/thing.lock"),
        (format!("pypi thing 1.0 {hash} any\nkeep"), "line 3 of scripts/thing.lock"),
        (format!("pypi thing 1.0 {hash}"), "line 2 of scripts/thing.lock"),
    ];
    for (lines, sentence) in cases {
        fixture.lock(&lines);
        fixture.check_fails(&[], sentence);
    }
    fixture.check_fails(&[("PYTHON", "no-such-python")], "no-such-python is missing");
    fixture.program("python-without-pip", "exit 1");
    fixture.check_fails(&[("PYTHON", "python-without-pip")], "has none; install it");
}

#[test]
fn npm_packages_are_verified_like_wheels() {
    let fixture = Fixture::new();
    fixture.lock(&format!("npm @some/thing 1.0 {ZEROS} any"));
    fixture.program("npm", "while [ $1 != --pack-destination ]; do shift; done; echo altered >$2/some-thing-1.0.tgz");
    fixture.check_fails(&[], "the hash of @some/thing 1.0 does not match");
    fixture.program("npm", "echo 'npm error network' >&2; exit 1");
    fixture.check_fails(&[], "check the network and npm's settings, then try again (npm: npm error network)");

    // everything that the script needs but npm
    fs::remove_file(fixture.path("bin/npm")).expect("it was there");
    let path = std::env::var("PATH").expect("there is one");
    for tool in ["sh", "dirname", "uname", "grep", "cmp", "mkdir", "mktemp", "awk", "rm", "cp", "tail", "python3"] {
        let place = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| file.exists());
        symlink(place.expect(tool), fixture.path("bin").join(tool)).expect("a link is made");
    }
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().expect("it runs");
    let python = String::from_utf8(python.stdout).expect("a path");
    let bin = fixture.path("bin").display().to_string();
    fixture.check_fails(&[("PATH", &bin), ("PYTHON", python.trim())], "needs npm, which is missing; install it");
}

#[test]
fn files_are_installed_once() {
    let fixture = Fixture::new();
    let hash = fixture.wheel();
    let check = |expected: &[&str]| {
        let output = fixture.run(&["thing", "thing"], &[]);
        let folder = fixture.path("cache/puppet/thing").display().to_string();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{folder}\n{folder}\n"), "{output:?}");
        assert_eq!(fixture.cached(), expected);
    };
    // packages of one name have the globs after the last of them
    fixture.lock(&format!("pypi thing 1.0 {hash} any\npypi thing 1.0 {ZEROS} amiga\nkeep *.txt\nkeep thing/data/b.*"));
    fixture.check_fails(&[], "unsafe path");
    fixture.lock(&format!(
        "pypi thing 1.0 {hash} any\npypi thing 1.0 {ZEROS} amiga\nkeep thing/*.txt\nkeep thing/data/b.*"
    ));
    check(&["thing/complete", "thing/thing/data/a.txt", "thing/thing/data/b.bin"]);

    // it is not fetched again, as it could not be
    let wheel = fixture.path("packages/thing-1.0-py3-none-any.whl");
    fs::rename(&wheel, fixture.path("away")).expect("it was there");
    check(&["thing/complete", "thing/thing/data/a.txt", "thing/thing/data/b.bin"]);

    // another lock replaces it
    fs::rename(fixture.path("away"), &wheel).expect("it was there");
    fixture.lock(&format!("pypi thing 1.0 {hash} any\nkeep thing/data/b.bin"));
    check(&["thing/complete", "thing/thing/data/b.bin"]);
}
