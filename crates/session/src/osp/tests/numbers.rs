//! Numbers that are infinite, not a number, or huge.

use world::value::ValueKind;

use super::*;

/// The hash of the state after a run in which something happens between two steps.
fn run(disturb: impl Fn(&mut Harness)) -> u64 {
    let mut harness = Harness::new(1, &[Dialect::Document; 2]);
    harness.register(0, 1);
    for step in 0..20 {
        if step == 5 {
            disturb(&mut harness);
        }
        let replies = harness.ask_numbered(0, &step_of(1, &[0.3, step as f32 / 20.0]), 10 * step);
        assert_eq!(kinds(&replies), STEP);
    }
    harness.run.world().state_hash()
}

#[test]
fn a_written_number_that_is_refused_leaves_no_trace() {
    let untouched = run(|_| {});
    assert_eq!(untouched, run(|_| {}));
    let numbers = ["nan", "-nan", "inf", "-inf", "infinity", "1e999", "-1e999", "1e300", "-1e300"];
    let hash = run(|harness| {
        let variables = harness.run.world().snapshot().catalogue.variables.clone();
        // any text is a value of these
        let is_number = |card: &&world::snapshot::VariableCard| card.writable && card.kind != ValueKind::String;
        let mut refused = 0;
        for card in variables.iter().filter(is_number) {
            // lists are paced
            harness.pass(Duration::from_millis(1));
            let value = harness.local(1, &card.name);
            for number in numbers {
                let (three, four) = ([number; 3].join(","), [number; 4].join(","));
                let texts = [
                    number.to_owned(),
                    format!("({three})"),
                    format!("(0,{number},0)"),
                    format!("({four})"),
                    format!("(1,0,0,{number})"),
                    format!("({three};{three};{three})"),
                    format!("{number},{number}"),
                ];
                for text in texts {
                    let content = Text::from(text.as_str());
                    let replies = harness.ask(1, &Request::SetValue { value, content });
                    let is_refused = matches!(&replies[..], [Reply::SetValueAck { status: Status::Failed, .. }]);
                    assert!(is_refused, "{} = {text}: {replies:?}", card.name);
                    refused += 1;
                }
            }
        }
        assert!(refused > 1_000, "{refused}");
    });
    assert_eq!(hash, untouched);
    let gravitation = run(|harness| {
        let value = harness.local(1, "/Simulation/Gravitation");
        harness.ask(1, &Request::SetValue { value, content: Text::from("3.7") });
    });
    assert_ne!(gravitation, untouched, "a number that is accepted does");
}

#[test]
fn an_input_that_is_refused_is_as_good_as_a_missing_one() {
    let run_with = |inputs: &[f32]| {
        run(|harness| {
            harness.ask_numbered(0, &step_of(1, inputs), 45);
        })
    };
    let missing = run_with(&[]);
    for inputs in [[f32::NAN; 2], [f32::INFINITY; 2], [f32::NEG_INFINITY, -f32::NAN], [f32::NAN, f32::INFINITY]] {
        assert_eq!(run_with(&inputs), missing, "{inputs:?}");
    }
    assert_eq!(run_with(&[f32::MAX, f32::MIN]), run_with(&[1.0, -1.0]), "huge ones are clamped");
    assert_ne!(run_with(&[1.0, -1.0]), missing);
}
