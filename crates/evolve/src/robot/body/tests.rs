use super::*;
use crate::robot::{Design, library};

const SMALL: &str = r#"
title = "small"
inputs = ["constant"]
[[layer]]
height = 20
polygons = [[[-30, 40], [30, 40], [30, -40], [-30, -40]]]
[[sensor]]
name = "nose"
kind = "visual"
at = [0, 40, 10]
range = 100
[wheels]
axle = 50
max_speed = 100
[fitness]
script = "distance"
"#;

fn problem(change: impl Fn(String) -> String) -> String {
    let text = change(SMALL.to_owned());
    let design = BodyFile::parse(&text).and_then(|file| Design::new(file, None));
    design.map(drop).expect_err(&text).to_string()
}

#[test]
fn a_small_body() {
    let design = Design::new(BodyFile::parse(SMALL).unwrap(), None).unwrap();
    let net = design.parameters();
    assert_eq!((net.inputs, net.outputs, net.concurrent, net.weight.values), (2, 2, 32, 1));
    assert_eq!(design.shape().layers().len(), 1);
    let said = design.describe().to_string();
    assert!(said.contains("input 1: nose: visual, at 0 degrees, 1 near, 0 from 100 mm on"), "{said}");
    assert!(said.contains("output 2: right wheel, -100 to 100 mm/s"), "{said}");
}

#[test]
fn mistakes_are_named_with_a_remedy() {
    let swap = |from: &'static str, to: &'static str| {
        problem(move |text| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        })
    };
    let more = |text: &'static str| problem(move |body| body + text);
    let cases = [
        (swap("range = 100", "range = 0"), "sensor 1 (nose): range: 0 must be above 0 and at most 10000"),
        (swap("range = 100", "range = 100\ntilt = -91"), "sensor 1 (nose): tilt: -91 is out of range -90..=90"),
        (swap("range = 100", "range = 1\nopening = [0, 100]"), "sensor 1 (nose): opening: 100 is out of range 0..=90"),
        (swap("range = 100", "rang = 100"), "did you mean `range`?"),
        (swap("\"visual\"", "\"visul\""), "did you mean `visual`?"),
        (swap("\"visual\"", "\"sonic\"\nreading = \"red\""), "reading: sound has no colour"),
        (swap("range = 100", "range = 1\nmount = \"head\""), "mount: `head` requires a section [head]"),
        (swap("[\"constant\"]", "[\"head\"]"), "inputs: `head` requires a section [head]"),
        (swap("\"nose\"", "\"my nose\""), "`my nose` is not a valid name"),
        (swap("\"nose\"", "\"speed\""), "`speed` would be ambiguous in a script"),
        (swap("height = 20", "height = nan"), "layer 1: height: NaN must be above 0"),
        (
            swap("max_speed = 100", "max_speed = 1000"),
            "the robot could turn by 229 degrees in a step; it must be below 180",
        ),
        (swap("\"distance\"", "\"distanc\""), "unknown fitness script `distanc`; did you mean `distance`?"),
        (
            swap("\"distance\"", "\"line\""),
            "line 2, column 10 of `each_step`: the robot has no sensors in the group `line`",
        ),
        (
            swap("script = \"distance\"", ""),
            "fitness: set `script` to a built-in script, or add a section [fitness.own]",
        ),
        (more("[fitness.own]\nat_end = \"\""), "fitness: `script` and `own` exclude each other"),
        (more("[net]\nhidden = [3, 2]"), "the minimum of 3 hidden neurons exceeds the maximum of 2"),
        (more("[net]\nhidden = [0, 100000]"), "a net may have"),
        (more("[net]\nconcurrent = 0"), "net.concurrent: 0 is out of range 1..=1024"),
        (
            more("[net]\noutput_values = { limits = [-1, 1], values = [{ means = \"tau\" }] }"),
            "net.output_values: a time constant must not be negative",
        ),
        (
            more("[net]\noutput_values = { limits = [-1, 1], values = [{ means = \"gate\" }] }"),
            "net.output_values: `gate` is not allowed here",
        ),
        (
            more("[net]\nweight_values = { limits = [-1, 1], values = [] }"),
            "the first value of a weight must be `weight`",
        ),
        (more("[trial]\nsteps = 0"), "trial.steps: 0 is out of range 1..=1000000"),
        (more("[trial]\nstart = { zone = [5, 5, 4, 6] }"), "trial.start.zone: the minimum x and y come first"),
        (more("[trial]\nstart = { poses = [] }"), "trial.start.poses: at least one pose is required"),
        (more("[head]\nlimits = [10, 20]\nmax_speed = 1"), "head.limits: 10 is out of range -180..=0"),
        (more("[head]\nlimits = [-9, 9]\nmax_speed = 1\nlayers = [2]"), "head.layers: layer 2 is out of range 1..=1"),
    ];
    for (nth, (said, expected)) in cases.iter().enumerate() {
        assert!(said.contains(expected), "case {nth}: {said}");
    }
}

#[test]
fn behaviour_is_what_the_nearest_file_says() {
    let behaviour = |body: &[&str], other: Option<&[&str]>| {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut file = BodyFile::parse(SMALL).unwrap();
        file.fitness.behaviour = texts(body);
        let script =
            |behaviour: &[&str]| FitnessFile { behaviour: texts(behaviour), ..library::script("homing").unwrap() };
        Design::new(file, other.map(script)).unwrap().fitness().behaviour.join(" ")
    };
    assert_eq!(behaviour(&[], None), "");
    assert_eq!(behaviour(&["x", "y"], None), "x y");
    assert_eq!(behaviour(&["x", "y"], Some(&[])), "x y");
    assert_eq!(behaviour(&["x", "y"], Some(&["dir"])), "dir");
}

#[test]
fn all_that_is_shipped_is_valid() {
    assert_eq!(library::bodies(), ["liner", "platine", "predator", "prey", "sonar"]);
    let scripts =
        ["avoidance", "climb", "distance", "escape", "exploration", "homing", "line", "phototaxis", "pursuit"];
    assert_eq!(library::scripts(), scripts);
    for name in library::bodies() {
        let design = Design::built_in(&name).unwrap();
        let again = BodyFile::parse(&toml::to_string(design.file()).unwrap()).unwrap();
        assert_eq!(&again, design.file(), "{name}");
    }
    for name in library::scripts() {
        let fits = |body: &String| Design::new(library::body(body).unwrap(), library::script(&name).ok()).is_ok();
        assert!(library::bodies().iter().any(fits), "{name}");
    }
}

#[test]
fn the_board_has_the_layers_of_the_example() {
    // 3.2: BodyShape 1 3 35 2 12 ... 4 ... 30 1 14 ... 20 2 4 ... 4 ...
    let design = Design::built_in("platine").unwrap();
    let sizes: Vec<(f64, Vec<usize>)> = design
        .shape()
        .layers()
        .iter()
        .map(|layer| (layer.height, layer.polygons.iter().map(Vec::len).collect()))
        .collect();
    assert_eq!(sizes, [(35.0, vec![12, 4]), (30.0, vec![14]), (20.0, vec![4, 4])]);
}

#[test]
fn a_head_has_a_shape_for_each_angle() {
    let design = Design::built_in("liner").unwrap();
    assert_eq!(design.shapes.len(), 11);
    let head = design.head.unwrap();
    let degrees: Vec<f64> = (0..11).map(|shape| head.shape_angle(shape).to_degrees().round()).collect();
    assert_eq!(degrees, [-50.0, -40.0, -30.0, -20.0, -10.0, 0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
    assert_eq!(head.nearest_shape(0.0), head.neutral_shape);
    // the head's tip goes to the left, the other layers stay
    let (left, ahead) = (design.shapes[10].layers(), design.shape().layers());
    assert_eq!(left[0], ahead[0]);
    assert!(left[2].polygons[0][2][0] < ahead[2].polygons[0][2][0]);
}
