//! Generates the console's TypeScript types from the Rust ones.

use std::{collections::BTreeMap, env, fs, path::Path};

use ts_rs::{Config, TS, TypeVisitor};

use super::{Command, Message, Request};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../console/src/api/generated.ts");
const HEADER: &str = "// Generated from crates/wire/src/console by scripts/generate-console-types. Do not edit.\n";

/// Declarations of all types reachable from those visited, by name.
struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // types that are not ours, such as `Vec`, have no file to export to
        if T::output_path().is_none() || self.by_name.contains_key(&T::ident(&self.config)) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}\n", T::decl(&self.config));
        self.by_name.insert(T::ident(&self.config), layout(&declaration));
        T::visit_dependencies(self);
    }
}

/// Puts each field, its comment and each variant on a line of its own.
fn layout(declaration: &str) -> String {
    let mut text = String::new();
    let mut indent = "";
    let declaration = declaration.replace(" | { \"", "\n| { \"").replace("= { \"", "=\n| { \"");
    let mut lines = declaration.lines().map(str::trim).peekable();
    while let Some(line) = lines.next() {
        let is_variant = line.starts_with("| {");
        text.push_str(if is_variant { "  " } else { indent });
        text.push_str(line);
        if line == "/**" {
            // a comment of one line
            let comment = lines.next().unwrap_or_default();
            text.push_str(comment.trim_start_matches('*'));
            if let Some(end) = lines.next_if_eq(&"*/") {
                text.push(' ');
                text.push_str(end);
            }
        }
        text.push('\n');
        if is_variant {
            indent = "      ";
        } else if line.starts_with("export") {
            indent = "  ";
        }
    }
    text
}

fn generate() -> String {
    // every integer of the protocol is small enough for a JavaScript number
    let config = Config::new().with_large_int("number");
    let mut declarations = Declarations { config, by_name: BTreeMap::new() };
    declarations.visit::<Message>();
    declarations.visit::<Request>();
    declarations.visit::<Command>();
    let declarations: Vec<String> = declarations.by_name.into_values().collect();
    format!("{HEADER}\n{}", declarations.join("\n"))
}

/// Set `ROSSUM_GENERATE` to rewrite the file instead of comparing it.
#[test]
fn the_consoles_types_are_up_to_date() {
    let (generated, file) = (generate(), Path::new(FILE));
    if env::var_os("ROSSUM_GENERATE").is_some() {
        fs::write(file, generated).expect("the generated file is writable");
    } else {
        let found = fs::read_to_string(file).unwrap_or_default();
        assert!(
            found == generated,
            "`console/src/api/generated.ts` is out of date: run `scripts/generate-console-types`"
        );
    }
}
