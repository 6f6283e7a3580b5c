"""Evolution: ask and tell, evaluation, and runs shared with the program."""

import json
import os
import pickle
import subprocess

import numpy as np
import pytest
from rossum_sim import RossumError, evolution
from rossum_sim.evolution import ALGORITHMS, BODIES, FITNESS_SCRIPTS, WORLDS, Outcome, Run, Search, Site

ROSSUM = os.environ.get("ROSSUM", "rossum")


def test_what_ships_is_listed():
    assert "blocks" in WORLDS and "platine" in BODIES and "exploration" in FITNESS_SCRIPTS
    assert ALGORITHMS == ("ga", "cma-es", "openai-es", "map-elites", "neat", "nsga2")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_each_algorithm_finds_the_bottom_of_a_bowl(algorithm):
    search = Search.of_vector(algorithm, 4, low=-2.0, high=3.0, seed=5, population=40)

    def fitness(individual):
        return -float(np.sum((individual.globals - 0.7) ** 2))

    first = None
    for _ in range(60):
        outcomes = [
            Outcome(fitness(individual), behaviour=[(individual.globals[0] + 2) / 5]) for individual in search.ask()
        ]
        search.tell(outcomes)
        first = first or max(outcome.fitness for outcome in outcomes)
    best, value = search.best
    assert value == fitness(best) > 0.3 * first > -10
    assert search.generation == 60


def test_a_pickled_search_continues_as_the_original():
    search = Search.of_vector("cma-es", 3, seed=2)
    for _ in range(5):
        search.tell([-float(np.sum(individual.globals**2)) for individual in search.ask()])
    other = pickle.loads(pickle.dumps(search))
    assert [a.values.tolist() for a in other.ask()] == [a.values.tolist() for a in search.ask()]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Search.of_vector("annealing", 3), "available: ga, cma-es"),
        (lambda: Search.of_vector("ga", 3, popluation=9), "popluation"),
        (lambda: Search.of_vector("ga", 3, population=1), "out of range"),
        (lambda: Site("blokcs", "platine"), "did you mean `blocks`"),
        (lambda: Search.of_vector("ga", 3).tell([1.0]), "no generation"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_result_does_not_depend_on_the_number_of_threads():
    site = Site("blocks", "platine", seed=3)
    search = site.search("cma-es", population=12, seed=3)
    individuals = search.ask()
    one, two = (site.evaluate(individuals, threads=threads) for threads in (1, 2))
    assert one == two
    assert site.evaluate(individuals[4:6], threads=1) == one[4:6], "nobody meets another"
    restored = pickle.loads(pickle.dumps(site))
    assert restored.evaluate(pickle.loads(pickle.dumps(individuals)), threads=2) == one
    assert "square" in site.summary(max(one, key=lambda outcome: outcome.fitness))


def test_a_net_is_stepped():
    site = Site("blocks", "platine")
    genotype = site.search("ga").ask()[0]
    net = site.net(genotype)
    inputs = json.loads(site.parameters)["inputs"]
    outputs = net.step(np.full(inputs, 0.5))
    assert outputs.shape == (json.loads(site.parameters)["outputs"],) and np.isfinite(outputs).all()
    net.reset()
    assert np.array_equal(net.step([0.5] * inputs), outputs)
    with pytest.raises(ValueError, match=f"{inputs} inputs"):
        net.step([1.0])


def test_a_run_goes_back_and_forth_between_python_and_the_program(tmp_path):
    folder, reference = tmp_path / "run", tmp_path / "reference"
    site = Site("blocks", "platine", seed=4)
    options = {"seed": 4, "generations": 2, "population": 8}
    with Run.begin(folder, site, "cma-es", **options) as run:
        assert [generation.number for generation in run] == [1, 2]
        assert run.is_finished and run.learnt
        with pytest.raises(RossumError):
            Run.resume(folder)  # in use
    evolve = [ROSSUM, "evolve", "--threads", "1", "--json"]
    subprocess.run([*evolve, "--resume", folder, "--generations", "4"], check=True, capture_output=True)
    flags = ["--all", "--seed", "4", "--population", "8", "--generations", "4", "--out", reference]
    subprocess.run([*evolve, *flags], check=True, capture_output=True)
    with Run.resume(folder) as run, Run.resume(reference) as expected:
        assert len(run.history) == 4
        assert run.history == expected.history
        assert run.best == expected.best
        run.tell(run.site.evaluate(run.ask(), run.next_generation))
        expected.tell(expected.site.evaluate(expected.ask(), expected.next_generation, threads=1))
        assert run.history == expected.history and len(run.history) == 5


def test_evaluation_may_happen_elsewhere(tmp_path):
    site = Site("blocks", "platine")
    seen = []

    def evaluate(site, individuals, generation):
        seen.append((generation, len(individuals)))
        return site.evaluate(individuals, generation, threads=1)

    with Run.begin(tmp_path / "run", site, "ga", generations=3, population=6) as run:
        list(run.generations(evaluate))
    assert seen == [(1, 6), (2, 6), (3, 6)]
    assert evolution.Run.resume(tmp_path / "run").is_finished
