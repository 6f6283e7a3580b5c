use std::time::Duration;

use world::{VariableId, snapshot::VariableCard, value::ValueKind};

use super::*;

/// Patterns that were, or look, expensive.
const HOSTILE: [&str; 5] =
    ["(.*a.*b.*c)*", "((a*)*)*", "(?:[a-z/]*[A-Z/]*){20}", "(.{0,40}/){8}", "((.|.|.|.)*(.|.|.|.)*)*x"];

#[expect(clippy::disallowed_methods, reason = "an Instant can only be had from the system")]
fn start() -> Instant {
    Instant::now()
}

/// A catalogue of this many variables, and the length of their names.
fn catalogue(count: usize) -> (Arc<Catalogue>, usize) {
    let card = |index: usize| {
        let name = format!("/Sim/Robot{index:05}/Left/Knee/DesiredAngle");
        VariableCard { id: VariableId(index as u32), name: name.into(), kind: ValueKind::Double, writable: false }
    };
    let variables: Vec<_> = (0..count).map(card).collect();
    let length = variables[0].name.len();
    (Arc::new(Catalogue { variables, ..Catalogue::default() }), length)
}

#[test]
fn expressions_match_whole_names() {
    for (expression, name, matches) in [
        (".*", "/A/B", true),
        ("/A", "/A/B", false),
        ("/A|/A/B", "/A/B", true),
        (".*[Bb]", "/A/B", true),
        ("/a/b", "/A/B", false),
        ("(?i)/a/b", "/A/B", true),
        ("", "/A/B", false),
        ("", "", true),
        ("/Bär/.", "/Bär/ü", true),
        ("/\\w+/\\d", "/A_b/7", true),
    ] {
        assert_eq!(whole_match(expression).unwrap().is_match(name), matches, "{expression} {name}");
    }
}

#[test]
fn large_and_invalid_expressions_are_refused() {
    let unicode = format!("(?i)[{}]", "\\pL\\pN".repeat(150));
    let names = vec!["/Sim/Robot/Position"; 50].join("|");
    let (long, repeated) = ("x".repeat(limits::EXPRESSION), "[^a-c]{100}".repeat(90));
    for (expression, is_accepted) in [
        ("(", false),
        (")(", false),
        ("a)|(b", false),
        ("*", false),
        ("\\p{nothing}", false),
        (&unicode, false),
        ("(?u)\\pL", false),
        ("(((a{50}){50}){50}){50}", false),
        ("(?:){4294967295}", false),
        ("(.{900}){9}", false),
        (&repeated, false),
        (&long, true),
        (&names, true),
        ("\\w{500}", true),
    ] {
        assert!(expression.len() <= limits::EXPRESSION);
        assert_eq!(whole_match(expression).is_some(), is_accepted, "{expression}");
    }
}

#[test]
fn a_search_has_at_most_so_many_matches() {
    for (variables, matches) in [(limits::MATCHES, limits::MATCHES), (limits::MATCHES + 2_000, limits::MATCHES)] {
        let (catalogue, _) = catalogue(variables);
        let mut searches = Searches::new(SearchBudget::default());
        let mut now = start();
        searches.push(".*", &catalogue, now).unwrap();
        let complete = loop {
            if let Some(complete) = searches.advance(now) {
                break complete;
            }
            now = now.max(searches.timeout().unwrap());
        };
        assert_eq!(complete.found().len(), matches);
        assert_eq!(complete.is_cut_off, variables > matches);
        assert_eq!(searches.timeout(), None);
    }
}

#[test]
fn a_usual_search_is_complete_at_once() {
    let (catalogue, _) = catalogue(1_000);
    for expression in [".*", ".*Knee.*", "/Sim/Robot00007/.*", "/Sim/Robot00007/Left/Knee/DesiredAngle"] {
        let (mut searches, now) = (Searches::new(SearchBudget::default()), start());
        searches.push(expression, &catalogue, now).unwrap();
        let complete = std::iter::from_fn(|| Some(searches.advance(now))).take(10_000).flatten().next();
        assert!(complete.is_some_and(|search| search.found().len() > 0), "{expression}");
    }
}

#[test]
fn a_plain_name_is_found_without_a_search() {
    let (catalogue, _) = catalogue(20_000);
    let (mut searches, now) = (Searches::new(SearchBudget::default()), start());
    // as a client does that asks for each variable by its name
    for card in catalogue.variables.iter().take(1_000) {
        searches.push(&card.name, &catalogue, now).unwrap();
        let complete = searches.advance(now).expect("one step");
        assert_eq!(complete.found().map(|found| found.id).collect::<Vec<_>>(), [card.id]);
    }
    for (expression, count) in [("/Sim/Robot", 0), ("", 0), ("/Sim/Robot00001/Left/Knee/Desired.ngle", 1)] {
        let mut search = Search::new(expression, &catalogue);
        while !search.advance().1 {}
        assert_eq!(search.found().len(), count, "{expression}");
    }
}

#[test]
fn only_names_with_the_literal_prefix_are_compared() {
    for (expression, prefix) in [
        ("/Control/.*", "/Control/"),
        ("/A/B?/.*", "/A/"),
        ("/A/B*", "/A/"),
        ("/A/B{0}", "/A/"),
        ("/A/B+", "/A/B"),
        ("/A/ü?", "/A/"),
        ("/A/.*|/B", ""),
        ("/A\\.", "/A"),
        (".*", ""),
        ("(?i)/a", ""),
        ("?", ""),
    ] {
        assert_eq!(literal_prefix(expression), prefix, "{expression}");
    }
    let (catalogue, _) = catalogue(10_000);
    for (expression, count) in [("/Sim/Robot0000[1-3]/.*", 3), ("/Sim/Robot0999.*", 10), ("/T.*", 0), ("/A.*", 0)] {
        let (mut search, mut total) = (Search::new(expression, &catalogue), 0.0);
        loop {
            let (work, is_complete) = search.advance();
            total += work;
            if is_complete {
                break;
            }
        }
        assert_eq!(search.found().len(), count, "{expression}");
        assert!(total < 100_000.0, "{expression}: {total}");
    }
}

#[test]
fn a_repeated_request_is_answered_once() {
    let (catalogue, _) = catalogue(1_000);
    let (mut searches, now) = (Searches::new(SearchBudget::default()), start());
    for _ in 0..2 * limits::SEARCHES {
        searches.push(".*Knee.*", &catalogue, now).unwrap();
    }
    assert_eq!(searches.queue.len(), 1);
}

#[test]
fn the_work_of_all_clients_together_is_bounded() {
    let (catalogue, length) = catalogue(100);
    for expression in HOSTILE {
        let shared = SearchBudget::default();
        let mut clients: Vec<_> = (0..16).map(|_| Searches::new(shared.clone())).collect();
        let begin = start();
        // of what is complete, by the definition of the unit: each state with each character of each name
        let states = if expression.contains('{') { STATES } else { 2 * expression.len() };
        let of_one = (100 * states * length) as f64;
        let (mut complete, seconds) = (vec![0_u32; clients.len()], 5);
        for millisecond in 0..seconds * 1_000 {
            let now = begin + Duration::from_millis(millisecond);
            for (client, complete) in clients.iter_mut().zip(&mut complete) {
                // as many steps as it may take, and always something to do
                client.push(expression, &catalogue, now).unwrap();
                while client.timeout().is_some_and(|at| at <= now) {
                    *complete += u32::from(client.advance(now).is_some());
                    client.push(expression, &catalogue, now).unwrap();
                }
            }
        }
        let allowed = |(most, per_second): (f64, f64)| most + per_second * seconds as f64;
        let work: f64 = complete.iter().map(|count| f64::from(*count) * of_one).sum();
        let together = allowed(limits::SEARCH_WORK_TOGETHER);
        assert!(work <= together + of_one, "{expression}: {work} of {together}");
        let own = allowed(limits::SEARCH_WORK);
        let most = f64::from(complete.iter().copied().max().unwrap_or_default()) * of_one;
        assert!(most <= own + of_one, "{expression}: {most} of {own} by one client");
    }
}

#[test]
fn a_step_of_a_search_is_short() {
    let (catalogue, length) = catalogue(1_000);
    let longest = (STATES * (length + 1)) as f64;
    for expression in HOSTILE {
        let mut search = Search::new(expression, &catalogue);
        loop {
            let (work, is_complete) = search.advance();
            assert!(work <= (COMPILING * STATES as f64).max(STEP + longest + LISTING), "{expression}: {work}");
            if is_complete {
                break;
            }
        }
    }
}
