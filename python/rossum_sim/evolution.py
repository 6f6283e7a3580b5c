"""Evolve robots: algorithms with ask and tell, evaluation on all cores, and runs that the program can resume.

>>> site = Site("blocks", "platine")
>>> search = site.search("cma-es", population=20, seed=1)
>>> for generation in range(1, 31):
...     individuals = search.ask()
...     outcomes = site.evaluate(individuals, generation)
...     search.tell(outcomes)
>>> genotype, fitness = search.best
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Genotype, Net

if TYPE_CHECKING:
    from .ray import Progress

__all__ = [
    "ALGORITHMS",
    "BODIES",
    "FITNESS_SCRIPTS",
    "WORLDS",
    "Generation",
    "Genotype",
    "Net",
    "Outcome",
    "Run",
    "Search",
    "Site",
]

# time between two updates of what the console shows of workers, unless one is lost, in s
SHOW_INTERVAL = 1.0

WORLDS, BODIES, FITNESS_SCRIPTS, ALGORITHMS = (tuple(names) for names in _native.evolution_names())


@dataclass(frozen=True)
class Outcome:
    """The result of evaluating an individual."""

    fitness: float
    """Higher is better."""
    behaviour: list[float] = field(default_factory=list)
    """The behaviour descriptor, for MAP-Elites."""
    figures: list[float] = field(default_factory=list)
    """The figures of the fitness script's summary."""
    steps: int = 0
    """Steps of all trials together."""
    deaths: int = 0
    """Trials that ended on deathly ground."""
    blocked: int = 0
    """Trials without a free start pose."""


@dataclass(frozen=True)
class Generation:
    """Statistics of a finished generation."""

    number: int
    evaluations: int
    best: float
    mean: float
    worst: float
    best_so_far: float
    diversity: float
    hidden: int


def _told(outcomes: Sequence[Outcome | float]) -> list[tuple[float, list[float], list[float]]]:
    return [
        (outcome.fitness, list(outcome.behaviour), list(outcome.figures))
        if isinstance(outcome, Outcome)
        else (float(outcome), [], [])
        for outcome in outcomes
    ]


def _settings(settings: dict[str, Any]) -> str:
    return json.dumps({name.replace("_", "-"): value for name, value in settings.items()})


class Search:
    """A search for good individuals, with ``ask`` and ``tell``.

    ``algorithm`` is one of ``ALGORITHMS``. Settings are those of the configuration file of ``rossum evolve``, such as
    ``population`` and ``sigma``.
    """

    def __init__(self, algorithm: str, parameters: str, *, seed: int = 1, **settings: Any) -> None:
        self._search = _native.Search(algorithm, parameters, _settings(settings), seed)

    @classmethod
    def of_vector(
        cls, algorithm: str, length: int, *, low: float = -1.0, high: float = 1.0, seed: int = 1, **settings: Any
    ) -> Search:
        """A search for a vector of numbers within limits; it is ``globals`` of each individual."""
        return cls(algorithm, _native.vector_parameters(length, low, high), seed=seed, **settings)

    def ask(self) -> list[Genotype]:
        """The individuals of the next generation; the same ones again until ``tell``."""
        return self._search.ask()

    def tell(self, outcomes: Sequence[Outcome | float]) -> None:
        """Passes the outcomes, or the fitness, of the generation's individuals in the order of ``ask``."""
        self._search.tell(_told(outcomes))

    @property
    def best(self) -> tuple[Genotype, float] | None:
        """The best individual so far, with its fitness."""
        return self._search.best

    @property
    def generation(self) -> int:
        """Number of the last generation asked for, from 1."""
        return self._search.generation

    @property
    def diversity(self) -> float:
        """Diversity of the last generation: 0 if all individuals are equal."""
        return self._search.diversity

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored_search, (self._search.to_json(),)

    def __repr__(self) -> str:
        return repr(self._search)


def _restored_search(text: str) -> Search:
    search = Search.__new__(Search)
    search._search = _native.Search.from_json(text)
    return search


class Site:
    """A world and the robots that are evaluated in it.

    World, body and fitness script are names of those that ship with the package (``WORLDS``, ``BODIES``,
    ``FITNESS_SCRIPTS``), or ``.toml`` files. In worlds that robots share, they are evaluated in groups.
    """

    def __init__(
        self, world: str, body: str, fitness: str | None = None, *, seed: int = 1, concurrent: int = 8
    ) -> None:
        self._site = _native.Site(world, body, fitness, seed, concurrent)

    @property
    def title(self) -> str:
        """What the fitness script rewards."""
        return self._site.title

    @property
    def parameters(self) -> str:
        """The nets that fit the body, as JSON: the message ``NetParameters``."""
        return self._site.parameters()

    def search(self, algorithm: str, *, seed: int = 1, **settings: Any) -> Search:
        """A search for nets of the body."""
        return Search(algorithm, self.parameters, seed=seed, **settings)

    def evaluate(
        self, individuals: Sequence[Genotype], generation: int = 1, *, threads: int | None = None
    ) -> list[Outcome]:
        """Evaluates individuals on all cores, or so many threads. The outcomes do not depend on their number."""
        return [Outcome(*outcome) for outcome in self._site.evaluate(generation, list(individuals), threads)]

    def groups(self, individuals: int, generation: int = 1) -> list[list[int]]:
        """Divides a generation of so many individuals into groups that can be evaluated anywhere and in any order.

        Each is a list of indices. It has one where robots do not meet.
        """
        return self._site.groups(generation, individuals)

    def evaluate_group(
        self, group: Sequence[int], individuals: Sequence[Genotype], generation: int = 1
    ) -> list[Outcome]:
        """Evaluates the individuals of a group, given in its order, on one core. The outcomes are those of ``evaluate``."""
        return [Outcome(*outcome) for outcome in self._site.evaluate_group(generation, list(group), list(individuals))]

    def summary(self, outcome: Outcome) -> str | None:
        """One line about what an individual did, if the fitness script has a summary."""
        return self._site.summary(outcome.figures)

    def net(self, genotype: Genotype) -> Net:
        """The net of an individual, to be stepped."""
        return self._site.net(genotype)

    def __reduce__(self) -> tuple[Any, ...]:
        return site_from_json, (self._site.to_json(),)

    def __repr__(self) -> str:
        return repr(self._site)


def site_from_json(text: str) -> Site:
    """A site from the text of its pickle, or from ``place`` in the configuration of a run."""
    return _site_of(_native.Site.from_json(text))


def _site_of(native: _native.Site) -> Site:
    site = Site.__new__(Site)
    site._site = native
    return site


class Run:
    """An evolutionary run in a folder, with a checkpoint after each generation.

    ``rossum evolve --resume FOLDER`` continues a run that was started here, and ``Run.resume`` one of the program's.
    Iterating evaluates generation after generation:

    >>> with Run.begin("runs/mine", Site("maze", "sonar"), "neat", generations=50) as run:
    ...     for generation in run:
    ...         print(generation.number, generation.best_so_far)
    """

    def __init__(self, native: _native.Run) -> None:
        self._run = native
        self._lost = 0
        self._next_show = 0.0

    @classmethod
    def begin(
        cls,
        folder: str | PathLike[str],
        site: Site,
        algorithm: str = "cma-es",
        *,
        seed: int = 1,
        generations: int | None = None,
        target: float | None = None,
        **settings: Any,
    ) -> Run:
        """Starts a run in a new or empty folder. Without ``generations`` it goes on until the program stops."""
        return cls(_native.Run.begin(folder, site._site, algorithm, _settings(settings), seed, generations, target))

    @classmethod
    def resume(cls, folder: str | PathLike[str]) -> Run:
        """Continues a run after its last finished generation."""
        return cls(_native.Run.resume(folder))

    @property
    def site(self) -> Site:
        """Its world and robots."""
        return _site_of(self._run.site())

    def ask(self) -> list[Genotype]:
        """The individuals of the next generation."""
        return self._run.ask()

    def tell(self, outcomes: Sequence[Outcome | float]) -> Generation:
        """Finishes the generation and writes its checkpoint."""
        return Generation(*self._run.tell(_told(outcomes)))

    def generations(
        self, evaluate: Callable[[Site, Sequence[Genotype], int], Sequence[Outcome]] | None = None
    ) -> Iterator[Generation]:
        """Evaluates generation after generation until the last one, or until the target is reached.

        ``evaluate`` is called with the site, the individuals and the number of the generation; by default they are
        evaluated in this process.
        """
        site = self.site
        evaluate = evaluate or Site.evaluate
        while not self.is_finished:
            number = self.next_generation
            yield self.tell(evaluate(site, self.ask(), number))

    def __iter__(self) -> Iterator[Generation]:
        return self.generations()

    def show_workers(self, progress: Progress) -> None:
        """Shows on the console what the workers of a pool have done: ``rossum_sim.ray.Pool(progress=run.show_workers)``."""
        now = time.monotonic()
        is_loss = progress.lost > self._lost
        if is_loss or progress.finished == progress.total or now >= self._next_show:
            self._lost, self._next_show = progress.lost, now + SHOW_INTERVAL
            self._run.show_workers(
                progress.workers, progress.lost, progress.retried, progress.finished, progress.total
            )

    @property
    def is_finished(self) -> bool:
        """Whether the last generation has been finished, or the target reached."""
        return self._run.is_finished

    @property
    def next_generation(self) -> int:
        """Number of the next generation, from 1."""
        return self._run.next_generation

    @property
    def history(self) -> list[Generation]:
        """The finished generations."""
        return [Generation(*line) for line in self._run.history()]

    @property
    def best(self) -> tuple[Genotype, float] | None:
        """The best individual so far, with its fitness."""
        return self._run.best

    @property
    def learnt(self) -> str | None:
        """One line about what has been learnt."""
        return self._run.learnt

    @property
    def folder(self) -> PathLike[str]:
        """Folder of the run."""
        return self._run.folder

    def close(self) -> None:
        """Ends the use of the folder, so that another process can continue the run."""
        self._run.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._run)
