//! The clients in all languages, held to the conformance suite in `protocols/oz/conformance`.
//!
//! `ROSSUM_CLIENTS=python,c` and `ROSSUM_CASES=TEXT` select languages, and cases whose names contain the text.

mod conforming;
mod operating;
mod running;

use std::{collections::BTreeSet, fs, path::Path, process::Command, sync::Mutex, thread};

use conforming::{
    case::Case,
    generate,
    harness::{self, Built, Contestant, Harness},
    player, programs, scene, streams,
    table::{self, Column, MORE, Verdict},
};

/// How many clients are tested at the same time.
const AT_ONCE: usize = 2;

#[test]
fn the_cases_are_up_to_date() {
    generate::check_files();
}

#[test]
fn cases_have_names_of_their_own_and_cite_requirements() {
    let coverage = fs::read_to_string(generate::folder().join("../coverage.md")).expect("the requirements");
    let mut names = BTreeSet::new();
    for case in generate::groups().into_iter().flat_map(|(_, cases)| cases) {
        assert!(names.insert(case.name.clone()), "{} is there twice", case.name);
        assert!(!case.cites.is_empty(), "{} cites nothing", case.name);
        for requirement in &case.cites {
            assert!(coverage.contains(&format!("\n| {requirement} | ")), "{}: no requirement {requirement}", case.name);
        }
    }
}

/// Whether `ROSSUM_CLIENTS` selects a language, or nothing.
fn is_chosen(language: &str) -> bool {
    std::env::var("ROSSUM_CLIENTS").map_or(true, |chosen| chosen.split(',').any(|one| one == language))
}

fn languages() -> Vec<String> {
    harness::languages().into_iter().filter(|language| is_chosen(language)).collect()
}

#[test]
fn clients_pass_their_own_tests() {
    let skipped = |language: &String| Some(format!("{language} is skipped: {}", harness::own_tests(language)?));
    refuse_skips(&languages().iter().filter_map(skipped).collect::<Vec<_>>());
}

#[test]
fn programs_use_the_packages() {
    let robot = operating::Robot::start("");
    let skipped = |language: &String| Some(format!("{language} is skipped: {}", programs::run(language, &robot)?));
    refuse_skips(&languages().iter().filter_map(skipped).collect::<Vec<_>>());
}

/// The program for Rust is the example of its module, which is compiled with the documentation.
#[test]
fn the_program_in_rust_is_that_of_its_documentation() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../client/src/oz.rs");
    let module = fs::read_to_string(module).expect("the module");
    let programs = programs::documented();
    let (_, program) = programs.iter().find(|(language, _)| language == "rust").expect("a program");
    let example: String = program.lines().map(|line| format!("//! {line}").trim_end().to_owned() + "\n").collect();
    assert!(module.contains(&example), "not in the module:\n{example}");
}

#[test]
fn eight_lines_operate_a_robot_in_each_language() {
    for (language, program) in programs::documented() {
        let operating = program.lines().filter(|line| line.contains("robot")).count();
        assert!((5..=8).contains(&operating), "{operating} lines of the program in {language} operate the robot");
    }
}

/// The console's compiler reads the declarations of types for Node.js.
#[test]
fn the_declarations_of_types_are_right() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let packages = root.join("console/node_modules");
    if !packages.join("@types/node").exists() {
        return refuse_skips(&["the console's packages are missing; run `scripts/fetch-browser`".to_owned()]);
    }
    let programs = root.join("clients/node/conformance/types");
    let ended = running::run_command(Command::new(packages.join(".bin/tsc")).arg("-p").arg(programs));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn every_client_has_a_package() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("clients/packages");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/package-clients");
    let ended = Command::new(script).arg(folder).output().expect("it runs");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn every_client_conforms() {
    let mut contestants: Vec<_> = is_chosen("rust").then(harness::ours).into_iter().collect();
    let mut missing = Vec::new();
    for language in languages() {
        match harness::build(&language) {
            Built::Contestants(built) => contestants.extend(built),
            Built::Missing(what) => missing.push(format!("{language} is skipped: {what}")),
        }
    }
    assert!(!contestants.is_empty() || !missing.is_empty(), "ROSSUM_CLIENTS selects nothing");
    let columns = test(&contestants);
    let table = table::table(&columns);
    report(&table, &missing);
    let is_complete = std::env::var_os("ROSSUM_CLIENTS").is_none() && case_filter().is_empty() && missing.is_empty();
    let failures = table::failures(&columns);
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    refuse_skips(&missing);
    if is_complete {
        check_page(&table);
    }
}

/// In CI, all toolchains have to be there.
fn refuse_skips(skipped: &[String]) {
    assert!(skipped.is_empty() || std::env::var_os("CI").is_none(), "{}", skipped.join("\n"));
}

#[expect(clippy::print_stdout, reason = "`make test-clients` shows it")]
fn report(table: &str, missing: &[String]) {
    println!("{table}");
    missing.iter().for_each(|missing| println!("{missing}"));
}

/// Writes the results into the page for users if `ROSSUM_GENERATE` is set. In CI they have to be those of this run.
fn check_page(table: &str) {
    const HEAD: &str = "\n## Results\n\nEach case of the suite with each client, as `make test-clients` found it. It writes this section.\n\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    let found = fs::read_to_string(&path).expect("the page");
    let (before, _) = found.split_once(HEAD).expect("the section, which is the last one");
    let page = format!("{before}{HEAD}{table}");
    if std::env::var_os("ROSSUM_GENERATE").is_some() {
        fs::write(&path, &page).expect("it can be written");
    } else {
        let is_current = found == page || std::env::var_os("CI").is_none();
        assert!(is_current, "{} is out of date; run make test-clients", path.display());
    }
}

fn case_filter() -> String {
    std::env::var("ROSSUM_CASES").unwrap_or_default()
}

/// Tests some clients at a time, and returns a column for each in the given order.
fn test(contestants: &[Contestant]) -> Vec<Column> {
    let cases: Vec<Case> = generate::groups().into_iter().flat_map(|(_, cases)| cases).collect();
    let next = Mutex::new(contestants.iter().enumerate());
    let columns = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let taken = next.lock().expect("no test panics").next();
                    let Some((number, contestant)) = taken else { return };
                    let column = test_one(contestant, &cases);
                    columns.lock().expect("no test panics").push((number, column));
                }
            });
        }
    });
    let mut columns = columns.into_inner().expect("no test panics");
    columns.sort_by_key(|(number, _)| *number);
    columns.into_iter().map(|(_, column)| column).collect()
}

fn test_one(contestant: &Contestant, cases: &[Case]) -> Column {
    for case in contestant.unsupported.keys() {
        assert!(table::rows().iter().any(|(_, name)| name == case), "{}: no case {case}", contestant.name);
    }
    let filter = case_filter();
    let mut column = Column { name: contestant.name.clone(), verdicts: Default::default() };
    let mut harness = None;
    let mut judge = |name: &str, play: &mut dyn FnMut(&mut Harness) -> Result<(), String>| {
        if !name.contains(&filter) {
            return;
        }
        if let Some(reason) = contestant.unsupported.get(name) {
            column.verdicts.insert(name.to_owned(), Verdict::Unsupported(reason.clone()));
            return;
        }
        let result = play(harness.get_or_insert_with(|| Harness::start(contestant)));
        // after a failure nobody knows what state it is in
        let verdict = match result {
            Ok(()) => Verdict::Passed,
            Err(what) => {
                harness = None;
                Verdict::Failed(what)
            }
        };
        column.verdicts.insert(name.to_owned(), verdict);
    };
    for case in cases {
        judge(&case.name, &mut |harness| player::play(case, harness));
    }
    let [(_, damaged), (_, scene), (_, end)] = MORE;
    judge(damaged, &mut streams::play);
    judge(scene, &mut scene::play);
    if let Some(harness) = harness.take() {
        let verdict = harness.end().map_or_else(Verdict::Failed, |()| Verdict::Passed);
        column.verdicts.insert(end.to_owned(), verdict);
    }
    column
}
