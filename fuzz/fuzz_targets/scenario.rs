//! Scenario files: parsed, checked and printed. What is printed is the same scenario.

#![no_main]

use libfuzzer_sys::fuzz_target;
use server::Scenario;
use std::path::Path;

fuzz_target!(|text: &str| {
    // a folder that does not exist: models come from the library
    let folder = Path::new("/nonexistent");
    if let Ok(scenario) = Scenario::parse("fuzz", text, folder) {
        let printed = scenario.to_toml();
        let again = Scenario::parse("printed", &printed, folder).expect("what is printed can be read");
        assert_eq!(again.to_toml(), printed);
    }
});
