use rand::SeedableRng;

use super::super::samples::parameters;
use super::*;

/// One input, one output, one value for each weight.
fn tiny() -> NetParameters {
    NetParameters {
        globals: Genes::default(),
        inputs: 1,
        input: Genes::default(),
        outputs: 1,
        output: Genes::default(),
        hidden_min: 0,
        hidden: Genes { values: 1, low: 0.0, high: 100.0 },
        weight: Genes { values: 1, low: 0.0, high: 100.0 },
        ..parameters()
    }
}

/// A net whose weights say where they are: tens for the row, units for the column, and `mark` for whose they are.
fn marked(parameters: &NetParameters, hidden: usize, mark: f64) -> Genotype {
    let mut net = blank(parameters, hidden);
    for gene in &GenomeLayout::new(parameters, hidden).genes {
        let value = match gene.locus {
            Locus::Weight { row, column, .. } => (10 * row + column) as f64 + mark,
            Locus::Hidden(index) => index as f64 + mark,
            _ => mark,
        };
        set(parameters, &mut net, gene.locus, value);
    }
    net
}

#[test]
fn crossover_maps_weights_by_their_neurons() {
    let parameters = tiny();
    // (sizes of both, sizes that children have)
    for (sizes, expected) in [([1, 3], [1, 3]), ([0, 2], [0, 2]), ([2, 2], [2, 2])] {
        let (a, b) = (marked(&parameters, sizes[0], 0.25), marked(&parameters, sizes[1], 0.75));
        let mut seen = [false; 2];
        for seed in 0..40 {
            let child = cross(&parameters, &a, &b, &mut ChaCha8Rng::seed_from_u64(seed));
            let size = expected.iter().position(|&size| size == child.hidden).unwrap();
            seen[size] = true;
            assert_eq!(child.weights.len(), parameters.weights(child.hidden));
            let columns = 2 + child.hidden;
            for (row, weights) in child.weights.chunks(columns).enumerate() {
                let places: Vec<f64> = weights.iter().map(|weight| weight.floor()).collect();
                assert_eq!(places, (0..columns).map(|column| (10 * row + column) as f64).collect::<Vec<_>>());
                // all that both parents have in a row comes from one of them, with the neuron's value
                let both = 2 + sizes[0].min(sizes[1]);
                let mut marks: Vec<f64> = weights[..both.min(columns)].iter().map(|weight| weight.fract()).collect();
                if let (1.., true) = (row, row <= sizes[0].min(sizes[1])) {
                    marks.push(child.hidden_values[row - 1].fract());
                }
                assert!(row > sizes[0].min(sizes[1]) || marks.iter().all(|mark| *mark == marks[0]), "{row}: {marks:?}");
            }
        }
        assert!(seen[0] || seen[1]);
        assert_eq!(seen, if expected[0] == expected[1] { [true, false] } else { [true, true] });
    }
}

#[test]
fn a_neuron_goes_with_its_row_and_column() {
    let parameters = tiny();
    let net = marked(&parameters, 3, 0.0);
    // columns: input, output, hidden 0 to 2; rows: output, hidden 0 to 2
    let cases = [
        (0, vec![0, 1, 3, 4, 20, 21, 23, 24, 30, 31, 33, 34], vec![1, 2]),
        (1, vec![0, 1, 2, 4, 10, 11, 12, 14, 30, 31, 32, 34], vec![0, 2]),
        (2, vec![0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23], vec![0, 1]),
    ];
    for (gone, weights, values) in cases {
        let smaller = without(&parameters, &net, gone);
        assert_eq!(smaller.weights, weights.into_iter().map(f64::from).collect::<Vec<_>>());
        assert_eq!(smaller.hidden_values, values.into_iter().map(f64::from).collect::<Vec<_>>());
    }
}

#[test]
fn a_new_neuron_is_not_heard_yet() {
    let parameters = tiny();
    let net = marked(&parameters, 1, 0.5);
    let larger = resize(&parameters, net.clone(), [1.0, 0.0], &mut ChaCha8Rng::seed_from_u64(1));
    assert_eq!(larger.hidden, 2);
    assert_eq!(without(&parameters, &larger, 1), net);
    let heard: Vec<f64> = (0..3).map(|row| larger.weights[row * 4 + 3]).collect();
    assert_eq!(heard, [0.0; 3]);
    assert!(larger.weights[8..11].iter().all(|&weight| weight > 0.0));
}

#[test]
fn sizes_stay_within_the_limits() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let parameters = parameters();
    for (hidden, chances, expected) in [(5, [1.0, 0.0], 5), (1, [0.0, 1.0], 1), (4, [1.0, 0.0], 5), (2, [0.0, 1.0], 1)]
    {
        let net = random(&parameters, hidden, &mut rng);
        assert_eq!(resize(&parameters, net, chances, &mut rng).hidden, expected);
    }
}

#[test]
fn units_and_values_are_the_same_genes() {
    let gene = Gene { locus: Locus::Global(0), low: -10.0, high: 10.0 };
    for (unit, value) in [(0.0, -10.0), (0.5, 0.0), (1.0, 10.0), (0.75, 5.0)] {
        assert_eq!((gene.value(unit), gene.unit(value)), (value, unit));
    }
    let widest = Gene { locus: Locus::Global(0), low: f64::MIN, high: f64::MAX };
    for unit in [0.0, 0.25, 0.5, 1.0] {
        assert!(widest.value(unit).is_finite());
        assert!((widest.unit(widest.value(unit)) - unit).abs() < 1e-12);
    }
}

#[test]
fn diversity_is_a_share_of_the_ranges() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let parameters = parameters();
    let even: Vec<Genotype> = (0..200).map(|_| first(&parameters, 5, &mut rng)).collect();
    assert!((diversity(&parameters, &even) - 0.288).abs() < 0.01, "{}", diversity(&parameters, &even));
    assert!(diversity(&parameters, &vec![even[0].clone(); 8]) < 1e-12);
    assert_eq!(diversity(&parameters, &[]), 0.0);
}

#[test]
fn mean_weights_count_those_that_exist() {
    let forward = NetParameters { recurrent: false, ..tiny() };
    let mut net = blank(&forward, 1);
    // input to output, input to hidden, hidden to output; three of six
    for (row, column) in [(0, 0), (1, 0), (0, 2)] {
        set(&forward, &mut net, Locus::Weight { row, column, value: 0 }, 50.0);
    }
    assert_eq!(mean_weight(&forward, &net), 0.5);
    let without = NetParameters { weight: Genes::default(), ..tiny() };
    assert_eq!(mean_weight(&without, &blank(&without, 1)), 0.0);
}
