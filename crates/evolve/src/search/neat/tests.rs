use super::super::samples::{context, parameters};
use super::*;
use crate::genotype::{Genes, NetParameters};
use crate::search::Settings;

/// Two inputs and one that is always 1, for nets that only look forward.
fn forward() -> NetParameters {
    NetParameters {
        globals: Genes::default(),
        input: Genes::default(),
        outputs: 1,
        output: Genes::default(),
        hidden_min: 0,
        hidden: Genes::default(),
        recurrent: false,
        ..parameters()
    }
}

/// The output of a net after its inputs have stood long enough to come through.
fn output(parameters: &NetParameters, net: &Genotype, inputs: [f64; 3]) -> f64 {
    let columns = parameters.inputs + parameters.outputs + net.hidden;
    let mut state = vec![0.0; columns];
    state[..3].copy_from_slice(&inputs);
    for _ in 0..=net.hidden {
        let sums = net.weights.chunks_exact(columns).map(|row| row.iter().zip(&state).map(|(w, x)| w * x).sum::<f64>());
        let next: Vec<f64> = sums.map(f64::tanh).collect();
        state[3..].copy_from_slice(&next);
    }
    state[3]
}

const XOR: [([f64; 3], f64); 4] =
    [([0.0, 0.0, 1.0], -1.0), ([0.0, 1.0, 1.0], 1.0), ([1.0, 0.0, 1.0], 1.0), ([1.0, 1.0, 1.0], -1.0)];

#[test]
fn xor_is_learned() {
    let context = context(Settings { population: Some(150), ..Settings::default() }, forward());
    for seed in 1..=3 {
        let mut neat = Neat::new(&context, seed);
        let solved = (0..150).any(|_| {
            let nets = neat.ask(&context);
            let error = |net| XOR.map(|(x, y)| (output(&context.parameters, net, x) - y).powi(2)).iter().sum::<f64>();
            let evaluate = |net| Evaluation { fitness: -error(net), ..Evaluation::default() };
            let evaluations: Vec<Evaluation> = nets.iter().map(evaluate).collect();
            neat.tell(&context, &nets, &evaluations);
            // nobody can have it without a hidden neuron
            assert!(evaluations.iter().zip(&nets).all(|(evaluation, net)| evaluation.fitness < -0.5 || net.hidden > 0));
            evaluations.iter().any(|evaluation| evaluation.fitness > -0.1)
        });
        assert!(solved, "seed {seed}: {}", neat.describe(&context));
    }
}

#[test]
fn growth_stays_within_the_limits() {
    for (input_to_output, recurrent) in [(true, true), (true, false), (false, true), (false, false)] {
        let parameters = NetParameters { input_to_output, recurrent, ..parameters() };
        let settings = Settings {
            population: Some(20),
            add_neuron: 0.5,
            add_connection: 0.5,
            mutation_rate: 0.3,
            ..Settings::default()
        };
        let context = context(settings, parameters.clone());
        let mut neat = Neat::new(&context, 1);
        let mut most = 0;
        for _ in 0..40 {
            let nets = neat.ask(&context);
            assert_eq!(nets.len(), 20);
            most = nets.iter().map(|net| net.hidden).chain([most]).max().unwrap();
            let evaluate = |net: &Genotype| Evaluation { fitness: net.hidden as f64, ..Evaluation::default() };
            neat.tell(&context, &nets, &nets.iter().map(evaluate).collect::<Vec<_>>());
        }
        assert_eq!(most, parameters.hidden_max);
    }
}

#[test]
fn like_nets_are_of_one_species() {
    let context = context(Settings { population: Some(30), ..Settings::default() }, forward());
    let mut neat = Neat::new(&context, 1);
    let nets = neat.ask(&context);
    let (a, b) = (&neat.genomes[0], &neat.genomes[1]);
    assert_eq!(a.distance(a, &context.parameters), 0.0);
    assert_eq!(a.distance(b, &context.parameters), b.distance(a, &context.parameters));
    neat.tell(&context, &nets, &vec![Evaluation::default(); 30]);
    let members: usize = neat.species.iter().map(|species| species.members.len()).sum();
    assert_eq!(members, 30);
    assert_eq!(neat.offspring_counts(30).iter().sum::<usize>(), 30);
}
