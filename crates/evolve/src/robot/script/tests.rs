use proptest::prelude::*;

use super::*;

fn vocabulary() -> Vocabulary {
    Vocabulary::new(&["nose", "tail"], &["ir"]).unwrap()
}

fn script(each_step: &str, at_end: &str) -> Result<Script, ScriptError> {
    let file = FitnessFile { each_step: each_step.to_owned(), at_end: at_end.to_owned(), ..FitnessFile::default() };
    Script::new(&file, &vocabulary())
}

/// The value of an expression with x = 3, speed = 0.5, the sensors at 0.25 and 0.75, and all else at 0.
fn value(expression: &str) -> Result<f64, String> {
    let script = script("", &format!("fitness = {expression}")).map_err(|error| error.to_string())?;
    let mut memory = script.memory();
    for &(place, input) in script.inputs() {
        let value = match input {
            Input::X => 3.0,
            Input::Speed => 0.5,
            Input::Activity(0) | Input::GroupMin(0) => 0.25,
            Input::Activity(1) | Input::GroupMax(0) => 0.75,
            Input::GroupMean(0) => 0.5,
            _ => 0.0,
        };
        memory.set(place, value);
    }
    script.start(&mut memory);
    Ok(script.at_end(&mut memory))
}

#[test]
fn expressions_have_values() {
    let cases = [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("7 - 2 - 1", 4.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-2 ^ 2", -4.0),
        ("2 ^ -1", 0.5),
        ("2 * -3", -6.0),
        ("- - 2", 2.0),
        ("8 / 4 / 2", 1.0),
        ("7 % 4", 3.0),
        ("-1 % 4", 3.0),
        ("1.5e1 + .5", 15.5),
        ("1e-1*10", 1.0),
        ("1 < 2", 1.0),
        ("2 <= 1", 0.0),
        ("1 == 1 and 2 != 2", 0.0),
        ("0 or 7", 1.0),
        ("3 and 7", 1.0),
        ("1 or 0 and 0", 1.0),
        ("not 0 == 1", 1.0),
        ("not 1 or 1", 1.0),
        ("if(x > 2, 10, 20) + 1", 11.0),
        ("if(0/0, 1, 2)", 2.0),
        ("if(1, 2, 1/0)", 2.0),
        ("if(0, 1, if(1, 5, 6))", 5.0),
        ("min(3, 1, 2)", 1.0),
        ("max(3, 1, 2, 9)", 9.0),
        ("abs(-2) + sqrt(9) + floor(1.9) + sign(-3) + sign(0)", 5.0),
        ("exp(0) + ln(1) + sin(0) + cos(0)", 2.0),
        ("atan2(0, 1) + hypot(3, 4) + clamp(7, 0, 1)", 6.0),
        ("sin(pi / 2)", 1.0),
        ("x * speed", 1.5),
        ("nose + tail", 1.0),
        ("max(ir) - min(ir)", 0.5),
        ("mean(ir)", 0.5),
        ("ir_max + ir_min + ir_mean", 1.5),
        ("(1\n + # a comment\n 2)", 3.0),
        ("1 # the end", 1.0),
        ("1 / 0", f64::INFINITY),
    ];
    for (expression, expected) in cases {
        assert_eq!(value(expression), Ok(expected), "{expression}");
    }
    for expression in ["0 / 0", "sqrt(-1)", "ln(-1)"] {
        assert!(value(expression).unwrap().is_nan(), "{expression}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        ("sped", "line 1, column 11 of `at_end`: unknown name `sped`; did you mean `speed`?"),
        ("max(qq)", "line 1, column 15 of `at_end`: the robot has no sensors in the group `qq`"),
        ("max(irr)", "line 1, column 15 of `at_end`: unknown name `irr`; did you mean `ir`?"),
        ("1 +", "line 1, column 14 of `at_end`: expected a number or a name, not the end"),
        ("1 2", "line 1, column 13 of `at_end`: expected an operator or the end of the line, not `2`"),
        ("(1", "line 1, column 13 of `at_end`: expected `)`, not the end"),
        ("1 $ 2", "line 1, column 13 of `at_end`: unexpected character `$`"),
        ("1.2.3", "line 1, column 11 of `at_end`: invalid number `1.2.3`"),
        ("1e999", "line 1, column 11 of `at_end`: invalid number `1e999`"),
        ("1 < 2 < 3", "line 1, column 17 of `at_end`: comparisons cannot be chained; join two with `and`"),
        ("sqrt(1, 2)", "line 1, column 11 of `at_end`: `sqrt` takes one value, not 2"),
        ("max(1)", "line 1, column 11 of `at_end`: `max` takes two or more values or the name of a group, not 1"),
        ("if(1, 2)", "line 1, column 18 of `at_end`: expected `,`, not `)`"),
        ("sqr(1)", "line 1, column 11 of `at_end`: unknown name `sqr`; did you mean `sqrt`?"),
        ("1\nx = 2", "line 2, column 1 of `at_end`: `x` is reserved; choose another name"),
        ("1\nir = 2", "line 2, column 1 of `at_end`: `ir` is reserved; choose another name"),
        ("1\nmin = 2", "line 2, column 1 of `at_end`: `min` is reserved; choose another name"),
        ("1\n2 = 3", "line 2, column 1 of `at_end`: expected a variable name, not `2`"),
        ("1\nx", "line 2, column 2 of `at_end`: expected `=`, not the end"),
        ("1\nü = 3", "line 2, column 1 of `at_end`: unexpected character `ü`"),
    ];
    for (expression, expected) in cases {
        assert_eq!(value(expression), Err(expected.to_owned()), "{expression}");
    }
    let none = script("sum = 1", "a = 1\nb = 2").map(drop).map_err(|error| error.to_string());
    assert_eq!(
        none,
        Err("line 2, column 1 of `at_end`: `fitness` is never set; end with a line `fitness = ...`".into())
    );
    let file = FitnessFile {
        at_end: "fitness = 1".to_owned(),
        behaviour: vec!["x".to_owned(), "1 + z0".to_owned()],
        ..FitnessFile::default()
    };
    let wrong = Script::new(&file, &vocabulary()).map(drop).map_err(|error| error.to_string());
    assert_eq!(wrong, Err("line 2, column 5 of `behaviour`: unknown name `z0`; did you mean `z`?".into()));
}

#[test]
fn limits_hold() {
    let deep = format!("{}1{}", "(".repeat(1000), ")".repeat(1000));
    let signs = format!("{}1", "-".repeat(100_000));
    let long = "1 + ".repeat(15_000) + "1";
    let many = format!("1\n{}", (0..300).map(|nth| format!("v{nth} = 1\n")).collect::<String>());
    for (text, limit) in [(deep, "deep"), (signs, "bytes"), (long, "operations"), (many, "variables")] {
        let error = value(&text).unwrap_err();
        assert!(error.contains(limit), "{error}");
    }
}

#[test]
fn variables_last_through_a_trial() {
    let file = FitnessFile {
        start: "lowest = 100".to_owned(),
        each_step: "sum = sum + x\nlowest = min(lowest, x)\n\nlast = previous\nprevious = x".to_owned(),
        at_end: "fitness = sum + 1000 * lowest".to_owned(),
        behaviour: vec!["last".to_owned(), "fitness / 2".to_owned()],
        ..FitnessFile::default()
    };
    let script = Script::new(&file, &vocabulary()).unwrap();
    assert_eq!(script.behaviours(), 2);
    let mut memory = script.memory();
    for _ in 0..2 {
        memory.clear();
        script.start(&mut memory);
        for x in [5.0, 2.0, 3.0] {
            for &(place, _) in script.inputs() {
                memory.set(place, x);
            }
            script.each_step(&mut memory);
        }
        assert_eq!(script.at_end(&mut memory), 2010.0);
        assert_eq!(script.behaviour(&mut memory).collect::<Vec<_>>(), [2.0, 1005.0]);
    }
}

#[test]
fn names_mean_one_thing() {
    assert_eq!(Vocabulary::new(&["ir_max"], &["ir"]), Err("ir_max".to_owned()));
    assert_eq!(Vocabulary::new(&["speed"], &[]), Err("speed".to_owned()));
    assert!(is_name("_a1") && !is_name("1a") && !is_name("") && !is_name("a b") && !is_name("ä"));
}

proptest! {
    #[test]
    fn any_text_is_a_script_or_a_mistake(text in "\\PC{0,60}") {
        let _ = value(&text);
    }

    /// Words of the language in any order.
    #[test]
    fn any_words_are_a_script_or_a_mistake(words in prop::collection::vec(prop::sample::select(vec![
        "1", "0", "2.5", "x", "nose", "ir", "pi", "+", "-", "*", "/", "%", "^", "(", ")", ",", "<", "==", "=", "and", "or", "not",
        "if(", "max(", "sqrt(", "clamp(", "sum", "\n", "fitness",
    ]), 0..24)) {
        if let Ok(script) = script(&words.join(" "), "fitness = 1") {
            let mut memory = script.memory();
            script.each_step(&mut memory);
            prop_assert_eq!(script.at_end(&mut memory), 1.0);
        }
    }

    /// What is built as an expression has the value of what it was built from.
    #[test]
    fn sums_of_products(numbers in prop::collection::vec((-100_i32..100, 1_i32..100), 1..20)) {
        let text: Vec<_> = numbers.iter().map(|(a, b)| format!("{a} * {b}")).collect();
        let sum: i32 = numbers.iter().map(|(a, b)| a * b).sum();
        prop_assert_eq!(value(&text.join(" + ")), Ok(f64::from(sum)));
    }
}
