"""What pycma and pyribs need for, or make of, some standard problems, as JSON; see peers.rs, which does the same."""

import json
import statistics
import sys
import warnings

warnings.filterwarnings("ignore")

import cma
import numpy as np
from ribs.archives import GridArchive
from ribs.emitters import GaussianEmitter, IsoLineEmitter
from ribs.schedulers import Scheduler


def sphere(x):
    return float(np.sum(x * x))


def ellipsoid(x):
    return float(np.sum(1e6 ** (np.arange(len(x)) / (len(x) - 1)) * x * x))


def rosenbrock(x):
    return float(np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2))


def rastrigin(x):
    return float(np.sum(x * x - 10 * np.cos(2 * np.pi * x) + 10))


FUNCTIONS = {"sphere": sphere, "ellipsoid": ellipsoid, "rosenbrock": rosenbrock, "rastrigin": rastrigin}


def evaluations(case, seed):
    """Until the function is below the target; with a new start whenever a run has gone on for too many generations."""
    function = FUNCTIONS[case["function"]]
    count = 0
    for start in range(50):
        options = {"seed": seed + 1000 * start, "popsize": case["lambda"], "verbose": -9}
        search = cma.CMAEvolutionStrategy(case["axes"] * [case["start"]], case["sigma"], options)
        for _ in range(case["generations"]):
            points = search.ask()
            values = [function(x) for x in points]
            count += len(values)
            if min(values) < case["target"]:
                return count
            search.tell(points, values)
    return None


def elites(case, seed):
    """Coverage and score of an archive over the sphere with linear projection (Fontaine and others 2020)."""
    axes, limit = case["axes"], 5.12
    extent = limit * axes / 2
    archive = GridArchive(
        solution_dim=axes, dims=(case["cells"], case["cells"]), ranges=[(-extent, extent)] * 2, seed=seed
    )
    start = dict(x0=np.zeros(axes), batch_size=case["batch"], seed=seed)
    if case["line"] > 0:
        emitter = IsoLineEmitter(archive, iso_sigma=case["sigma"], line_sigma=case["line"], **start)
    else:
        emitter = GaussianEmitter(archive, sigma=case["sigma"], **start)
    scheduler = Scheduler(archive, [emitter])
    shift = 0.4 * limit
    worst = axes * (limit + shift) ** 2
    for _ in range(case["batches"]):
        x = scheduler.ask()
        fitness = 100 * (1 - np.sum((x - shift) ** 2, axis=1) / worst)
        folded = np.where(np.abs(x) > limit, limit / np.where(x == 0, 1, x), x)
        measures = np.stack([folded[:, : axes // 2].sum(axis=1), folded[:, axes // 2 :].sum(axis=1)], axis=1)
        scheduler.tell(fitness, measures)
    return float(archive.stats.coverage), float(np.sum(archive.data("objective")))


def main():
    cases = json.load(sys.stdin)
    counts = {case["name"]: [evaluations(case, seed) for seed in case["seeds"]] for case in cases["cma"]}
    archives = {}
    for case in cases["elites"]:
        coverages, scores = zip(*(elites(case, seed) for seed in case["seeds"]))
        archives[case["name"]] = {"coverage": statistics.median(coverages), "score": statistics.median(scores)}
    json.dump({"cma": counts, "elites": archives}, sys.stdout)


main()
