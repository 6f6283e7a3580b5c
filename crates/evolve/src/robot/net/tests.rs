use proptest::prelude::*;

use super::*;

fn genes(values: usize, low: f64, high: f64) -> Genes {
    Genes { values, low, high }
}

fn value(means: ParameterKind, low: f64, high: f64) -> ParameterSpec {
    ParameterSpec { means, low, high }
}

/// A plan with weights only, linear up to 1.
fn plan(inputs: usize, outputs: usize, hidden_max: usize) -> NetSpec {
    NetSpec {
        parameters: NetParameters {
            concurrent: 1,
            globals: Genes::default(),
            inputs,
            input: Genes::default(),
            outputs,
            output: Genes::default(),
            hidden_min: 0,
            hidden_max,
            hidden: Genes::default(),
            weight: genes(1, -10.0, 10.0),
            input_to_output: true,
            recurrent: true,
        },
        transfer: Transfer::Tanh,
        dt: 0.1,
        globals: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        hidden: Vec::new(),
        weights: vec![value(ParameterKind::Weight, -10.0, 10.0)],
    }
}

fn step(net: &mut Net, inputs: &[f64]) -> Vec<f64> {
    net.inputs_mut().copy_from_slice(inputs);
    net.step();
    net.outputs().to_vec()
}

#[test]
fn the_example_of_the_protocol() {
    // 3.1: Individual 1 1 0 0.3 -1.5 2.7 -0.4 2.1 0.1 -3.6 -0.9
    let weights = vec![0.3, -1.5, 2.7, -0.4, 2.1, 0.1, -3.6, -0.9];
    let mut net = Net::new(&plan(2, 2, 0), &Genotype { weights, ..Genotype::default() }).unwrap();
    let first = step(&mut net, &[1.0, 0.5]);
    assert_eq!(first, [f64::tanh(0.3 - 0.75), f64::tanh(2.1 + 0.05)]);
    let second = step(&mut net, &[0.0, 0.0]);
    let [a, b] = [first[0], first[1]];
    assert_eq!(second, [f64::tanh(2.7 * a - 0.4 * b), f64::tanh(-3.6 * a - 0.9 * b)]);
    net.reset();
    assert_eq!(step(&mut net, &[1.0, 0.5]), first);
}

#[test]
fn connections_are_the_weights_that_exist() {
    // rows: output, hidden; columns: two inputs, output, hidden
    let weights = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let genotype = Genotype { hidden: 1, weights, ..Genotype::default() };
    let mut plan = plan(2, 1, 1);
    let found = |plan: &NetSpec| -> Vec<_> { Net::new(plan, &genotype).unwrap().connections().collect() };
    let all = [(0, 0, 1.0), (0, 1, 5.0), (1, 0, 2.0), (1, 1, 6.0), (2, 0, 3.0), (2, 1, 7.0), (3, 0, 4.0), (3, 1, 8.0)];
    assert_eq!(found(&plan), all);
    (plan.parameters.recurrent, plan.parameters.input_to_output) = (false, false);
    assert_eq!(found(&plan), [(0, 1, 5.0), (1, 1, 6.0), (3, 0, 4.0)]);
}

#[test]
fn a_hidden_neuron_is_one_step_on_the_way() {
    // rows: output, hidden; columns: input, output, hidden
    let weights = vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0];
    let genotype = Genotype { hidden: 1, weights, ..Genotype::default() };
    let plan = NetSpec { transfer: Transfer::LinearClamped, ..plan(1, 1, 1) };
    let mut net = Net::new(&plan, &genotype).unwrap();
    let seen: Vec<_> = [0.5, 0.0, 0.0].map(|input| step(&mut net, &[input])[0]).into();
    assert_eq!(seen, [0.0, 0.5, 0.0]);
}

#[test]
fn values_are_what_the_plan_says() {
    let base = NetSpec { transfer: Transfer::LinearClamped, ..plan(1, 1, 0) };
    let with = |change: &dyn Fn(&mut NetSpec), genotype: Genotype| {
        let mut plan = base.clone();
        change(&mut plan);
        let genotype = Genotype { weights: vec![0.5, 0.0], ..genotype };
        let mut net = Net::new(&plan, &genotype).unwrap();
        (step(&mut net, &[0.5])[0], net.speed(), net.clamped())
    };
    let outputs = |values: Vec<f64>| Genotype { output_values: values, ..Genotype::default() };
    let bias = |plan: &mut NetSpec| {
        plan.parameters.output = genes(1, -1.0, 1.0);
        plan.outputs = vec![value(ParameterKind::Bias, -1.0, 1.0)];
    };
    let bias_and_gain = |plan: &mut NetSpec| {
        plan.parameters.output = genes(2, -1.0, 1.0);
        plan.outputs = vec![value(ParameterKind::Bias, -1.0, 1.0), value(ParameterKind::Gain, 0.0, 4.0)];
    };
    let tau = |plan: &mut NetSpec| {
        plan.parameters.output = genes(1, 0.0, 1.0);
        plan.outputs = vec![value(ParameterKind::Tau, 0.0, 1.0)];
    };
    let input = |plan: &mut NetSpec| {
        plan.parameters.input = genes(2, -1.0, 1.0);
        plan.inputs = vec![value(ParameterKind::Gain, -1.0, 1.0), value(ParameterKind::Bias, -1.0, 1.0)];
    };
    let global = |plan: &mut NetSpec| {
        plan.parameters.globals = genes(2, 0.0, 1.0);
        plan.globals = vec![value(ParameterKind::Gain, 0.0, 2.0), value(ParameterKind::Speed, 0.0, 1.0)];
    };
    let inputs = Genotype { input_values: vec![-1.0, 0.25], ..Genotype::default() };
    let globals = Genotype { globals: vec![1.0, 0.25], ..Genotype::default() };
    let leak = 0.25 * -f64::exp_m1(-0.1);
    assert_eq!(with(&|_| {}, Genotype::default()), (0.25, 1.0, 0));
    assert_eq!(with(&bias, outputs(vec![0.5])), (0.75, 1.0, 0));
    assert_eq!(with(&bias, outputs(vec![-3.0])), (-0.75, 1.0, 1));
    assert_eq!(with(&bias, outputs(vec![f64::NAN])), (-0.75, 1.0, 1));
    assert_eq!(with(&bias_and_gain, outputs(vec![-0.125, 0.0])), (0.25, 1.0, 0));
    assert_eq!(with(&tau, outputs(vec![1.0])), (leak, 1.0, 0));
    assert_eq!(with(&tau, outputs(vec![0.0])), (0.25, 1.0, 0));
    assert_eq!(with(&input, inputs), (-0.125, 1.0, 0));
    assert_eq!(with(&global, globals), (0.5, 0.25, 0));
}

#[test]
fn the_values_of_a_neuron_are_consecutive() {
    use ParameterKind::{Bias, Gain, Gate, Weight};
    let mut plan = NetSpec { transfer: Transfer::LinearClamped, ..plan(2, 2, 2) };
    let two = genes(2, -1.0, 1.0);
    let NetParameters { input, output, hidden, weight, .. } = &mut plan.parameters;
    (*input, *output, *hidden, *weight) = (two, two, two, two);
    let specs = |kinds: [ParameterKind; 2]| kinds.map(|kind| value(kind, -1.0, 1.0)).to_vec();
    (plan.inputs, plan.outputs, plan.hidden) = (specs([Gain, Bias]), specs([Bias, Gain]), specs([Bias, Gain]));
    plan.weights = specs([Weight, Gate]);
    // rows: two outputs, two hidden neurons; columns: two inputs and the same; each weight with its gate
    let mut weights = vec![0.0; 2 * 4 * 6];
    for (row, column, gate) in [(0, 0, 1.0), (1, 1, 1.0), (1, 0, -1.0), (3, 1, 1.0)] {
        let at = 2 * (row * 6 + column);
        (weights[at], weights[at + 1]) = (1.0, gate);
    }
    let genotype = Genotype {
        hidden: 2,
        input_values: vec![0.5, 0.125, -1.0, 0.25],
        output_values: vec![0.25, 0.5, 0.5, 0.25],
        hidden_values: vec![0.25, 1.0, 0.5, 0.5],
        weights,
        ..Genotype::default()
    };
    let mut net = Net::new(&plan, &genotype).unwrap();
    // the inputs become 0.625 and -0.25
    assert_eq!(step(&mut net, &[1.0, 0.5]), [(0.625 + 0.25) * 0.5, (-0.25 + 0.5) * 0.25]);
    assert_eq!(net.hidden(), [0.25, (-0.25 + 0.5) * 0.5]);
}

#[test]
fn a_gate_shuts_a_weight() {
    let mut plan = plan(1, 1, 0);
    plan.parameters.weight = genes(2, -1.0, 1.0);
    plan.weights = vec![value(ParameterKind::Weight, -1.0, 1.0), value(ParameterKind::Gate, -1.0, 1.0)];
    let net = |gate| {
        let genotype = Genotype { weights: vec![1.0, gate, 0.0, 0.0], ..Genotype::default() };
        step(&mut Net::new(&plan, &genotype).unwrap(), &[1.0])[0]
    };
    assert_eq!([net(0.5), net(0.0), net(-0.5)], [f64::tanh(1.0), 0.0, 0.0]);
}

#[test]
fn transfer_functions() {
    let cases = [
        (Transfer::Tanh, [-1.0, 0.0, 1.0]),
        (Transfer::Logistic, [0.0, 0.5, 1.0]),
        (Transfer::LinearClamped, [-1.0, 0.0, 1.0]),
        (Transfer::Step, [0.0, 0.0, 1.0]),
    ];
    for (transfer, expected) in cases {
        assert_eq!([-1e3, 0.0, 1e3].map(|u| transfer.apply(u)), expected, "{transfer:?}");
    }
}

#[test]
fn genotypes_of_another_size_are_refused() {
    let plan = plan(2, 2, 1);
    let check = |genotype: Genotype, expected: &str| {
        assert_eq!(Net::new(&plan, &genotype).map(drop).map_err(|error| error.to_string()), Err(expected.to_owned()));
    };
    check(Genotype { hidden: 2, ..Genotype::default() }, "the individual has 2 hidden neurons; 0 to 1 are allowed");
    check(
        Genotype { hidden: 1, weights: vec![0.0; 8], ..Genotype::default() },
        "the individual has 8 values for its weights; with its hidden neurons it needs 15",
    );
    check(
        Genotype { globals: vec![1.0], weights: vec![0.0; 8], ..Genotype::default() },
        "the individual has 1 values for its global parameters; with its hidden neurons it needs 0",
    );
}

proptest! {
    /// The same as a matrix and a vector, with all flags, over several steps.
    #[test]
    fn a_net_is_a_matrix(
        (inputs, outputs, hidden) in (0_usize..6, 1_usize..4, 0_usize..6),
        (input_to_output, recurrent) in any::<(bool, bool)>(),
        weights in prop::collection::vec(-12.0..12.0, 15 * 15),
        seen in prop::collection::vec(-1.0..1.0, 3 * 6),
    ) {
        let mut plan = plan(inputs, outputs, 6);
        plan.parameters = NetParameters { input_to_output, recurrent, ..plan.parameters };
        let (rows, columns) = (outputs + hidden, inputs + outputs + hidden);
        let weights = weights[..rows * columns].to_vec();
        let genotype = Genotype { hidden, weights: weights.clone(), ..Genotype::default() };
        let mut net = Net::new(&plan, &genotype).unwrap();
        prop_assert_eq!(net.clamped(), weights.iter().filter(|weight| weight.abs() > 10.0).count());

        let mut x = vec![0.0; columns];
        for inputs_now in seen.chunks(6) {
            x[..inputs].copy_from_slice(&inputs_now[..inputs]);
            let y: Vec<f64> = (0..rows).map(|row| {
                let terms = (0..columns).filter(|&column| plan.parameters.connects(row, column));
                terms.map(|column| weights[row * columns + column].clamp(-10.0, 10.0) * x[column]).sum::<f64>().tanh()
            }).collect();
            x[inputs..].copy_from_slice(&y);
            let shown = step(&mut net, &inputs_now[..inputs]);
            prop_assert_eq!(&shown, &y[..outputs]);
            prop_assert_eq!(net.hidden(), &y[outputs..]);
        }
    }
}

#[test]
fn a_parameter_has_the_name_that_body_files_use() {
    use ParameterKind::{Bias, Gain, Gate, Speed, Tau, Weight};
    for kind in [Bias, Gain, Tau, Speed, Weight, Gate] {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
}
