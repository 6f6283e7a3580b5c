"""Measures the evaluation of populations on Ray, and repeats one whose workers are killed."""

from __future__ import annotations

import os
import signal
import statistics
import threading
import time

import ray
from figure import Figure
from rossum_sim.evolution import Outcome, Site
from rossum_sim.ray import Pool
from rossum_sim.ray.pool import connect

POPULATION = 200
SEED = 1
GOAL = 1.7
KILL_EVERY = 5.0  # s
WORKERS = 2


def speed_up(rounds: int) -> Figure:
    """Time of one worker / time of two, for the same individuals."""
    site = Site("blocks", "platine", seed=SEED)
    individuals = site.search("cma-es", population=POPULATION, seed=SEED).ask()
    expected = site.evaluate(individuals)
    with Pool(workers=1) as one, Pool(workers=WORKERS) as two:

        def timed(pool: Pool) -> float:
            began = time.perf_counter()
            assert pool.evaluate(site, individuals) == expected, "other outcomes than in one process"
            return time.perf_counter() - began

        # the first time, they start
        timed(one), timed(two)
        times = [(timed(one), timed(two)) for _ in range(rounds)]
    ratio = statistics.median(alone / both for alone, both in times)
    alone, both = (statistics.median(column) for column in zip(*times, strict=True))
    detail = f"{POPULATION / alone:,.0f} / {POPULATION / both:,.0f} individuals/s with 1 / {WORKERS} workers"
    what = f"evaluation of {POPULATION} individuals with {WORKERS} workers / 1"
    return Figure(what, ratio, f">= {GOAL}", ratio >= GOAL, detail)


class Killer(threading.Thread):
    """Kills a worker every few seconds."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(daemon=True)
        self.pool, self.kills, self.ended = pool, 0, threading.Event()

    def run(self) -> None:
        """Goes on until it is told to end."""
        while not self.ended.wait(KILL_EVERY):
            for _, process in self.pool.processes[:1]:
                try:
                    os.kill(process, signal.SIGKILL)
                    self.kills += 1
                except ProcessLookupError:
                    pass  # not replaced yet


def disturbed(site: Site, seconds: float) -> tuple[list[list[Outcome]], Pool, int]:
    """Generations evaluated while workers are killed."""
    search = site.search("cma-es", population=POPULATION, seed=SEED)
    generations: list[list[Outcome]] = []
    with Pool(workers=WORKERS) as pool:
        killer = Killer(pool)
        killer.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            generations.append(pool.evaluate(site, search.ask(), len(generations) + 1))
            search.tell(generations[-1])
        killer.ended.set()
        killer.join()
        return generations, pool, killer.kills


def kills(seconds: float) -> Figure:
    """Individuals whose outcome differs from an undisturbed run in one process, or that are missing."""
    site = Site("blocks", "platine", seed=SEED)
    generations, pool, killed = disturbed(site, seconds)
    search = site.search("cma-es", population=POPULATION, seed=SEED)
    wrong = 0
    for number, outcomes in enumerate(generations, 1):
        expected = site.evaluate(search.ask(), number)
        wrong += abs(len(outcomes) - len(expected))
        wrong += sum(one != other for one, other in zip(outcomes, expected, strict=False))
        search.tell(expected)
    detail = (
        f"{len(generations)} generations in {seconds:.0f} s, {killed} workers killed, {pool.lost} lost, "
        f"{pool.retried} tasks retried"
    )
    met = wrong == 0 and killed > 0
    return Figure("individuals that a killed worker changes, loses or doubles", wrong, "0", met, detail)


def figures(quick: bool) -> list[Figure]:
    """All figures of scale-out."""
    # processors for all workers, whatever this machine has
    connect("local", 1 + WORKERS)
    try:
        return [speed_up(3 if quick else 9), kills(12.0 if quick else 60.0)]
    finally:
        ray.shutdown()
