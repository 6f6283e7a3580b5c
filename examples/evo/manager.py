#!/usr/bin/env python3
"""Evolve robots with your own Population Manager, in plain Python.

    rossum robot platine --in-process obstacles
    python3 manager.py

The Robot Simulator announces which nets it can test, and answers each genotype with its fitness:

    SendNetParameters                    NetParameters Cci Cgp Lgp Hgp Cin Vin ... Fio Fre
    Individual Gen Ind Chn values...     Fitness Gen Ind Fit

With `--cma` the genotypes come from CMA-ES (pip install cma), otherwise from a simple evolution strategy.
"""

import argparse
import random
import socket
from typing import Dict, List

NAMES = "Cci Cgp Lgp Hgp Cin Vin Lin Hin Con Von Lon Hon CIhn CAhn Vhn Lhn Hhn Vw Lw Hw Fio Fre".split()


class Simulator:
    """A connection to a Robot Simulator."""

    def __init__(self, host: str, port: int, hidden: int) -> None:
        connection = socket.create_connection((host, port), timeout=120)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = connection.makefile("rw", newline="\r\n")
        self.say("SendNetParameters")
        net = self.net = dict(zip(NAMES, map(float, self.hear()[1:])))
        self.hidden = max(int(net["CIhn"]), min(hidden, int(net["CAhn"])))
        neurons = self.hidden + int(net["Con"])  # neurons with incoming weights
        groups = [("gp", net["Cgp"]), ("in", net["Cin"] * net["Vin"]), ("on", net["Con"] * net["Von"]),
                  ("hn", self.hidden * net["Vhn"]), ("w", (net["Cin"] + neurons) * neurons * net["Vw"])]
        self.limits = [(net["L" + name], net["H" + name]) for name, count in groups for _ in range(int(count))]

    def say(self, *words: object) -> None:
        self.lines.write(" ".join(map(str, words)) + "\n")
        self.lines.flush()

    def hear(self) -> List[str]:
        words = self.lines.readline().split()
        if not words:
            raise SystemExit("the Robot Simulator has closed the connection; its log says why")
        return words

    def test(self, generation: int, genotypes: List[List[float]]) -> List[float]:
        """Returns the fitness of each. Keeps as many in flight as the simulator allows; results may arrive in any order."""
        fitness: Dict[int, float] = {}
        sent = 0
        while len(fitness) < len(genotypes):
            while sent < len(genotypes) and sent - len(fitness) < self.net["Cci"]:
                self.say("Individual", generation, sent + 1, self.hidden, *genotypes[sent])
                sent += 1
            name, _, number, value = self.hear()
            assert name == "Fitness", name
            fitness[int(number)] = float(value)
        return [fitness[number + 1] for number in range(len(genotypes))]


class Strategy:
    """The best survive and have children with slightly different genes."""

    def __init__(self, limits: List, size: int, random: random.Random) -> None:
        self.limits, self.size, self.random = limits, size, random
        self.parents: List = []

    def ask(self) -> List[List[float]]:
        if not self.parents:
            return [[self.random.uniform(low, high) * 0.3 for low, high in self.limits] for _ in range(self.size)]
        return [self.child(self.random.choice(self.parents)[1]) for _ in range(self.size)]

    def child(self, parent: List[float]) -> List[float]:
        step = self.random.choice((0.01, 0.03, 0.1))
        return [min(high, max(low, gene + self.random.gauss(0, step) * (high - low)))
                for gene, (low, high) in zip(parent, self.limits)]

    def tell(self, genotypes: List[List[float]], fitness: List[float]) -> None:
        both = sorted(list(zip(fitness, genotypes)) + self.parents, key=lambda pair: -pair[0])
        self.parents = both[: max(2, self.size // 4)]


class Cma:
    """CMA-ES from the package `cma`, which minimises instead of maximising."""

    def __init__(self, limits: List, size: int, seed: int) -> None:
        import cma

        low, high = zip(*limits)
        options = {"seed": seed, "popsize": size, "bounds": [list(low), list(high)], "verbose": -9}
        self.search = cma.CMAEvolutionStrategy([0.0] * len(limits), 0.2 * (high[0] - low[0]), options)

    def ask(self) -> List[List[float]]:
        return [list(genes) for genes in self.search.ask()]

    def tell(self, genotypes: List[List[float]], fitness: List[float]) -> None:
        self.search.tell(genotypes, [-value for value in fitness])


def evolve(simulator: Simulator, search, generations: int) -> None:
    best = float("-inf")
    for generation in range(1, generations + 1):
        genotypes = search.ask()
        fitness = simulator.test(generation, genotypes)
        search.tell(genotypes, fitness)
        best = max(best, *fitness)
        print(f"generation {generation:3}   best {best:.4f}   mean {sum(fitness) / len(fitness):.4f}", flush=True)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--simulator", default="127.0.0.1:7720", metavar="ADDRESS", help="where it listens")
    options.add_argument("--generations", type=int, default=30)
    options.add_argument("--population", type=int, default=32)
    options.add_argument("--hidden", type=int, default=0, help="hidden neurons")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--cma", action="store_true", help="CMA-ES instead of the simple strategy")
    chosen = options.parse_args()
    host, port = chosen.simulator.rsplit(":", 1)
    there = Simulator(host, int(port), chosen.hidden)
    own = Strategy(there.limits, chosen.population, random.Random(chosen.seed))
    evolve(there, Cma(there.limits, chosen.population, chosen.seed) if chosen.cma else own, chosen.generations)
