"""Hands tasks to workers as they become free, and to others if a worker is lost.

Nothing here knows Ray: what the scheduling needs of it is ``Workers``. A worker gets several tasks at once while many are
waiting, and one at a time towards the end, so that nobody waits for the slowest one longer than it takes.

A task whose worker is lost is tried again, alone, so that a task that ends its workers is told from those that were with it.
Each result is accepted once: those of a lost worker are never looked at.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Worker = Hashable
# what a worker was asked for; it has a result when it is finished
Ticket = Hashable

# workers that a task may end before it fails
MAX_ATTEMPTS = 5
# workers in a row that may end before they are ready
MAX_STARTS = 5
# time for the first worker to become ready, in s
START_TIMEOUT = 60.0
# tasks that a worker is given at once: a part of those that are waiting, and not too many of them
PORTIONS_PER_WORKER = 4
MAX_PORTION = 32


class WorkerLost(Exception):
    """A worker has ended before it finished what it was given."""


class PoolError(RuntimeError):
    """Tasks cannot be carried out, because workers cannot be started or one task ends them all."""


class Workers(Protocol):
    """Starts workers and passes tasks to them."""

    def start(self) -> tuple[Worker, Ticket]:
        """A new worker, and a ticket that is finished when it is ready."""

    def submit(self, worker: Worker, tasks: Sequence[Any]) -> Ticket:
        """Gives tasks to a worker. The result is a list of theirs."""

    def wait(self, tickets: Sequence[Ticket], timeout: float | None) -> Sequence[Ticket]:
        """Some finished tickets; none if there are none after ``timeout`` s."""

    def result(self, ticket: Ticket) -> list[Any]:
        """The result of a finished ticket. Raises the task's own error, or ``WorkerLost``."""

    def stop(self, worker: Worker) -> None:
        """Ends a worker, whatever it is doing."""

    def resources(self) -> str:
        """What workers can be started on, in words."""


@dataclass
class Job:
    """Tasks in progress."""

    tasks: Sequence[Any]
    describe: Callable[[int], str]
    waiting: deque[int]
    again: deque[int] = field(default_factory=deque)
    """Those whose worker was lost."""
    attempts: dict[int, int] = field(default_factory=dict)
    """Workers lost by each of them."""
    results: dict[int, Any] = field(default_factory=dict)

    def portion(self, workers: int) -> list[int]:
        """The next tasks for a worker."""
        if self.again:
            return [self.again.popleft()]
        count = min(max(len(self.waiting) // (PORTIONS_PER_WORKER * workers), 1), MAX_PORTION, len(self.waiting))
        return [self.waiting.popleft() for _ in range(count)]

    def retry(self, portion: list[int], cause: WorkerLost) -> None:
        """Tries tasks again whose worker is lost."""
        for index in portion:
            self.attempts[index] = self.attempts.get(index, 0) + 1
            if self.attempts[index] >= MAX_ATTEMPTS:
                raise PoolError(
                    f"{self.describe(index)} has ended {MAX_ATTEMPTS} workers in a row; the last one: {cause}"
                ) from cause
        self.again.extend(portion)


class Scheduler:
    """A number of workers, each of which is replaced when it is lost."""

    def __init__(self, workers: Workers, count: int) -> None:
        self._workers = workers
        self._count = count
        self._alive: set[Worker] = set()
        self._free: deque[Worker] = deque()
        self._starting: dict[Ticket, Worker] = {}
        self._busy: dict[Ticket, tuple[Worker, list[int]]] = {}
        self._failed_starts = 0
        self.lost = 0
        """Workers lost so far."""
        self.retried = 0
        """Tasks handed out again so far."""

    @property
    def ready(self) -> int:
        """Number of workers that are ready, or were when they were last heard of."""
        return len(self._free) + len(self._busy)

    def run(
        self,
        tasks: Sequence[Any],
        update: Callable[[list[int]], None] = lambda finished: None,
        describe: Callable[[int], str] = lambda index: f"task {index}",
    ) -> list[Any]:
        """Carries out tasks, and returns their results in order.

        ``update`` is called with the indices of tasks that have just been finished, and with none when a worker is ready or
        lost. If a task raises an error, it is raised here. The workers that are busy then are replaced.
        """
        job = Job(tasks, describe, deque(range(len(tasks))))
        try:
            while len(job.results) < len(tasks):
                self._hand_out(job)
                for ticket in self._wait():
                    update(self._finish(ticket, job))
        except BaseException:
            # what the others are doing is of no use to anybody
            self._stop(self._alive - {*self._free, *self._starting.values()})
            self._busy.clear()
            raise
        return [job.results[index] for index in range(len(tasks))]

    def _hand_out(self, job: Job) -> None:
        """Starts missing workers, and gives tasks to those that are free."""
        while len(self._alive) < self._count:
            worker, ticket = self._workers.start()
            self._alive.add(worker)
            self._starting[ticket] = worker
        while self._free and (job.again or job.waiting):
            worker, portion = self._free.popleft(), job.portion(self._count)
            self._busy[self._workers.submit(worker, [job.tasks[index] for index in portion])] = worker, portion

    def _wait(self) -> Sequence[Ticket]:
        """Tickets that are finished."""
        timeout = None if self._busy else START_TIMEOUT
        finished = self._workers.wait([*self._busy, *self._starting], timeout)
        if not finished:
            raise PoolError(f"no worker is ready after {START_TIMEOUT:.0f} s: {self._workers.resources()}")
        return finished

    def _finish(self, ticket: Ticket, job: Job) -> list[int]:
        """Accepts what a worker has done; returns the indices of the finished tasks."""
        if ticket in self._starting:
            self._begin(ticket)
            return []
        worker, portion = self._busy.pop(ticket)
        try:
            results = self._workers.result(ticket)
        except WorkerLost as cause:
            self._lose(worker)
            self.retried += len(portion)
            job.retry(portion, cause)
            return []
        self._free.append(worker)
        job.results.update(zip(portion, results, strict=True))
        return portion

    def _begin(self, ticket: Ticket) -> None:
        """Admits a worker that is ready."""
        worker = self._starting.pop(ticket)
        try:
            self._workers.result(ticket)
        except WorkerLost as cause:
            self._lose(worker)
            self._failed_starts += 1
            if self._failed_starts >= MAX_STARTS:
                raise PoolError(f"{MAX_STARTS} workers in a row ended before they were ready: {cause}") from cause
            return
        self._failed_starts = 0
        self._free.append(worker)

    def _lose(self, worker: Worker) -> None:
        self.lost += 1
        # it may only be out of reach
        self._stop({worker})

    def _stop(self, workers: set[Worker]) -> None:
        self._alive -= workers
        for worker in workers:
            self._workers.stop(worker)

    def close(self) -> None:
        """Ends all workers."""
        self._stop(set(self._alive))
        self._free.clear()
        self._starting.clear()
        self._busy.clear()
