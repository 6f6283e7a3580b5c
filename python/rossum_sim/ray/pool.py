"""A pool of Ray actors that evaluate individuals and roll out policies."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayError

from ..evolution import Genotype, Outcome, Site
from .actors import Actors, Work, cause
from .scheduler import Scheduler
from .work import Evaluation, Rollouts

if TYPE_CHECKING:
    from ..envs import Episode, Policy

# Ray's store on a machine of its own: only what is on its way between processes
STORE_BYTES = 128 << 20
MAX_WORKERS = 10_000
# time for the head of a cluster to accept a connection, in s
CONNECT_TIMEOUT = 10.0


@dataclass(frozen=True)
class Progress:
    """What a pool has done."""

    finished: int
    """Finished individuals of the generation, or episodes."""
    total: int
    """All of them."""
    workers: int
    """Workers that are ready."""
    lost: int
    """Workers that have ended since the pool was opened; each is replaced."""
    retried: int
    """Tasks that have been handed out again, because their worker was lost."""


class Pool:
    """Workers on a Ray cluster, or on the processors of this machine.

    Without ``address``, or with ``"local"``, it starts Ray on this machine, unless the program has called ``ray.init`` itself.
    ``"auto"`` is the cluster that this machine belongs to, if there is one. Otherwise ``address`` is that of a cluster, as for
    ``ray.init``. ``workers`` is the number of actors, each of which needs a CPU; by default, one for each CPU of the cluster.
    ``progress`` is called whenever tasks are finished, and when a worker is ready or lost.

    A worker that ends is replaced, and its tasks are carried out by others. So the results are the same, bit for bit, as those
    of a single process. A task that ends several workers in a row raises ``PoolError``.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        workers: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        if workers is not None and not 1 <= workers <= MAX_WORKERS:
            raise ValueError(f"{workers} workers; 1 to {MAX_WORKERS} are possible")
        self._owns_ray = connect(address, workers)
        count = workers or min(max(int(ray.cluster_resources().get("CPU", 1)), 1), MAX_WORKERS)
        self.workers = count
        """Number of workers that the pool keeps."""
        self._actors = Actors()
        self._scheduler = Scheduler(self._actors, count)
        self.progress = progress
        """Called with the progress; may be changed."""

    @property
    def processes(self) -> list[tuple[str, int]]:
        """Host and process id of each worker that is ready."""
        return list(self._actors.processes.values())

    @property
    def lost(self) -> int:
        """Workers that have ended since the pool was opened."""
        return self._scheduler.lost

    @property
    def retried(self) -> int:
        """Tasks that have been handed out again since the pool was opened."""
        return self._scheduler.retried

    def evaluate(self, site: Site, individuals: Sequence[Genotype], generation: int = 1) -> list[Outcome]:
        """Evaluates individuals as ``site.evaluate`` does, for ``Run.generations(pool.evaluate)``.

        Individuals that meet are evaluated by the same worker.
        """
        individuals = list(individuals)
        groups = site.groups(len(individuals), generation)

        def describe(index: int) -> str:
            numbers = ", ".join(str(member + 1) for member in groups[index])
            which = f"individual {numbers}" if len(groups[index]) == 1 else f"the group of individuals {numbers}"
            return f"{which} of generation {generation}"

        tasks = [(group, [individuals[member] for member in group], generation) for group in groups]
        done = self._run(Evaluation(site), tasks, describe, [len(group) for group in groups])
        outcomes: dict[int, Outcome] = {}
        for group, of_group in zip(groups, done, strict=True):
            outcomes.update(zip(group, of_group, strict=True))
        return [outcomes[index] for index in range(len(individuals))]

    def rollouts(
        self,
        env: str | Callable[[], Any],
        policy: Policy,
        episodes: int,
        *,
        seed: int = 0,
        max_steps: int | None = None,
        **options: Any,
    ) -> list[Episode]:
        """Lets a policy act in episodes of an environment, as ``rossum_sim.envs.rollout`` does.

        ``env`` is the id of an environment with ``options`` for ``gymnasium.make``, or a function that makes one. Episode
        ``i`` is that of ``seed + i``.
        """
        if episodes < 0 or seed < 0:
            raise ValueError(f"{episodes} episodes from seed {seed} on; neither can be negative")
        work = Rollouts(env, options, policy, max_steps)
        seeds = range(seed, seed + episodes)
        return self._run(work, seeds, lambda index: f"the episode of seed {seeds[index]}", [1] * len(seeds))

    def _run(
        self,
        work: Work,
        tasks: Sequence[Any],
        describe: Callable[[int], str],
        sizes: Sequence[int],
    ) -> list[Any]:
        scheduler, finished = self._scheduler, 0

        def update(indices: list[int]) -> None:
            nonlocal finished
            finished += sum(sizes[index] for index in indices)
            if self.progress is not None:
                self.progress(Progress(finished, sum(sizes), scheduler.ready, scheduler.lost, scheduler.retried))

        self._actors.use(work)
        return scheduler.run(tasks, update, describe)

    def close(self) -> None:
        """Ends the workers, and Ray if the pool has started it."""
        self._scheduler.close()
        if self._owns_ray:
            ray.shutdown()

    def __enter__(self) -> Pool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def connect(address: str | None, workers: int | None) -> bool:
    """Connects to a cluster, or starts Ray here. Returns whether it is to be shut down with the pool."""
    if ray.is_initialized():
        return False
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address == "auto":
        try:
            ray.init("auto", **quiet)
            return True
        except ConnectionError:
            address = None
    if address in (None, "local"):
        # nothing is reported to anybody from a machine of its own
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init("local", num_cpus=workers, include_dashboard=False, object_store_memory=STORE_BYTES, **quiet)
        return True
    try:
        check_reachable(address)
        ray.init(address, **quiet)
    except (OSError, RuntimeError, ValueError, RayError) as error:
        raise ConnectionError(
            f"no Ray cluster at {address} ({cause(error)}); start one with `ray start --head`, and this machine's part of it "
            f"with `ray start --address {address}`"
        ) from error
    return True


def check_reachable(address: str) -> None:
    """Raises an error if nobody listens at an address: Ray itself would try again for minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError("expected an address such as 10.0.0.1:6379, local or auto")
    with socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT):
        pass
