//! What holds for every algorithm.

use proptest::prelude::*;
use proptest::strategy::Strategy;

use super::samples::parameters;
use super::*;
use crate::genotype::Genes;

/// Something to be good at that depends on every kind of gene.
fn evaluate(net: &Genotype) -> Evaluation {
    let all = || net.globals.iter().chain(&net.output_values).chain(&net.hidden_values).chain(&net.weights);
    let fitness = -all().enumerate().map(|(index, x)| (x - (index % 3) as f64).powi(2)).sum::<f64>();
    let behaviour = vec![net.hidden as f64 / 5.0, net.weights.first().copied().unwrap_or_default()];
    Evaluation { fitness, behaviour, ..Evaluation::default() }
}

fn small() -> Settings {
    Settings { population: Some(12), add_neuron: 0.3, remove_neuron: 0.2, ..Settings::default() }
}

/// What is wrong with a net, if anything.
fn fault(parameters: &NetParameters, net: &Genotype) -> Option<String> {
    if !(parameters.hidden_min..=parameters.hidden_max).contains(&net.hidden) {
        return Some(format!("{} hidden neurons", net.hidden));
    }
    let parts = [
        ("globals", &net.globals, parameters.globals, parameters.globals.values),
        ("inputs", &net.input_values, parameters.input, parameters.input.values * parameters.inputs),
        ("outputs", &net.output_values, parameters.output, parameters.output.values * parameters.outputs),
        ("hidden", &net.hidden_values, parameters.hidden, parameters.hidden.values * net.hidden),
    ];
    for (name, values, of, count) in parts {
        if values.len() != count || !values.iter().all(|value| (of.low..=of.high).contains(value)) {
            return Some(format!("{name}: {values:?}"));
        }
    }
    if net.weights.len() != parameters.weights(net.hidden) {
        return Some(format!("{} weights", net.weights.len()));
    }
    let columns = parameters.inputs + parameters.outputs + net.hidden;
    let Genes { values, low, high } = parameters.weight;
    net.weights.iter().enumerate().find_map(|(index, weight)| {
        let (row, column) = (index / values / columns, index / values % columns);
        let exists = parameters.connects(row, column);
        let good = if exists { (low..=high).contains(weight) } else { *weight == 0.0 };
        (!good).then(|| format!("the weight from {column} to {row} is {weight}"))
    })
}

fn genes() -> impl Strategy<Value = Genes> {
    let limits =
        prop_oneof![Just((-10.0, 10.0)), Just((0.0, 0.0)), Just((1.0, 2.0)), Just((-3.5, -3.5)), (-1e3..0.0, 0.0..1e3)];
    (0_usize..3, limits).prop_map(|(values, (low, high))| Genes { values, low, high })
}

prop_compose! {
    fn any_parameters()(
        groups in [genes(), genes(), genes(), genes(), genes()],
        inputs in 0_usize..4,
        outputs in 1_usize..4,
        hidden_min in 0_usize..3,
        more in 0_usize..3,
        input_to_output: bool,
        recurrent: bool,
    ) -> NetParameters {
        let [globals, input, output, hidden, weight] = groups;
        NetParameters {
            concurrent: 1, globals, inputs, input, outputs, output, hidden_min, hidden_max: hidden_min + more, hidden,
            weight, input_to_output, recurrent,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_net_is_one_that_the_simulator_can_handle(parameters in any_parameters(), seed: u64, odd in 0_usize..12) {
        for algorithm in Algorithm::ALL {
            let mut search = Search::new(algorithm, &small(), &parameters, seed).unwrap();
            for _ in 0..6 {
                let nets = search.ask();
                prop_assert_eq!(nets.len(), 12);
                for net in &nets {
                    prop_assert_eq!(fault(&parameters, net), None, "{}", algorithm);
                }
                let mut evaluations: Vec<Evaluation> = nets.iter().map(evaluate).collect();
                evaluations[odd].fitness = f64::NAN;
                evaluations[11 - odd].behaviour = vec![f64::INFINITY];
                search.tell(&evaluations).unwrap();
            }
            prop_assert!(search.diversity().is_finite());
        }
    }
}

/// Runs a search for some generations; at each one it is written and read.
fn run(mut search: Search, generations: usize, through_text: bool) -> (Vec<Vec<Genotype>>, Search) {
    let mut all = Vec::new();
    for _ in 0..generations {
        let reread = |search: &Search| serde_json::from_str(&serde_json::to_string(search).unwrap()).unwrap();
        if through_text {
            search = reread(&search);
        }
        let nets = search.ask();
        if through_text {
            search = reread(&search);
            assert_eq!(search.ask(), nets, "a generation that waits is asked for again");
        }
        search.tell(&nets.iter().map(evaluate).collect::<Vec<_>>()).unwrap();
        all.push(nets);
    }
    (all, search)
}

#[test]
fn a_search_that_was_read_goes_on_as_if_it_had_not_stopped() {
    let many = NetParameters { inputs: 60, ..parameters() };
    for (algorithm, parameters, generations) in
        Algorithm::ALL.map(|algorithm| (algorithm, parameters(), 25)).into_iter().chain([(Algorithm::CmaEs, many, 5)])
    {
        let search = || Search::new(algorithm, &small(), &parameters, 7).unwrap();
        let (straight, end) = run(search(), generations, false);
        let (read, read_end) = run(search(), generations, true);
        assert_eq!(straight, read, "{algorithm}");
        assert_eq!(serde_json::to_string(&end).unwrap(), serde_json::to_string(&read_end).unwrap(), "{algorithm}");
        let (other, _) = run(Search::new(algorithm, &small(), &parameters, 8).unwrap(), generations, false);
        assert_ne!(straight, other, "{algorithm}: another seed, another run");
    }
}

#[test]
fn every_algorithm_becomes_better() {
    for algorithm in Algorithm::ALL {
        let settings = Settings { population: None, ..small() };
        let search = Search::new(algorithm, &settings, &parameters(), 3).unwrap();
        let (_, early) = run(search.clone(), 2, false);
        let (_, late) = run(search, 120, false);
        let [early, late] = [&early, &late].map(|search| search.best().unwrap().1);
        assert!(late > early * 0.5, "{algorithm}: {early} to {late}");
    }
}

#[test]
fn evaluations_must_fit_the_generation() {
    for algorithm in Algorithm::ALL {
        let mut search = Search::new(algorithm, &small(), &parameters(), 1).unwrap();
        assert_eq!(search.tell(&[]), Err(TellError::NotAsked));
        let nets = search.ask();
        let short = vec![Evaluation::default(); 11];
        assert_eq!(search.tell(&short), Err(TellError::Count { asked: 12, told: 11 }), "{algorithm}");
        assert_eq!(search.ask(), nets);
        assert_eq!(search.tell(&vec![Evaluation::default(); 12]), Ok(()));
        assert_eq!(search.tell(&vec![Evaluation::default(); 12]), Err(TellError::NotAsked));
    }
}

#[test]
fn no_fitness_is_worse_than_any() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for algorithm in Algorithm::ALL {
            let mut search = Search::new(algorithm, &small(), &parameters(), 1).unwrap();
            for _ in 0..10 {
                search.ask();
                search.tell(&vec![Evaluation { fitness: odd, ..Evaluation::default() }; 12]).unwrap();
                assert_eq!(search.best(), None, "{algorithm}");
            }
            let nets = search.ask();
            let mut evaluations = vec![Evaluation { fitness: odd, behaviour: vec![0.5], ..Evaluation::default() }; 12];
            evaluations[5].fitness = -1e300;
            search.tell(&evaluations).unwrap();
            assert_eq!(search.best(), Some((&nets[5], -1e300)), "{algorithm}");
            assert!(search.diversity().is_finite() && serde_json::to_string(&search).is_ok());
        }
    }
}

#[test]
fn the_best_are_ranked_first() {
    let cases: [(&[f64], &[usize]); 3] =
        [(&[1.0, 3.0, 2.0], &[1, 2, 0]), (&[5.0, 5.0, 6.0], &[2, 0, 1]), (&[f64::NAN, f64::MIN, 0.0], &[2, 1, 0])];
    for (fitness, expected) in cases {
        assert_eq!(ranking(fitness), expected);
    }
}

#[test]
fn a_search_describes_its_state() {
    let cases = [
        (Algorithm::Ga, "ga: generation 1, best -"),
        (Algorithm::CmaEs, "cma-es: generation 1, best -"),
        (Algorithm::Neat, "neat: generation 1, best -"),
    ];
    for (algorithm, expected) in cases {
        let (_, search) = run(Search::new(algorithm, &small(), &parameters(), 1).unwrap(), 1, false);
        let line = search.describe();
        assert!(line.starts_with(expected) && !line.contains('\n'), "{line}");
    }
    let new = Search::new(Algorithm::MapElites, &small(), &parameters(), 1).unwrap();
    assert_eq!(new.describe(), "map-elites: generation 0, none evaluated yet, empty archive");
    let many = NetParameters { inputs: 60, ..parameters() };
    let separable = Search::new(Algorithm::CmaEs, &small(), &many, 1).unwrap().describe();
    assert!(separable.contains("variances only"), "{separable}");
}
