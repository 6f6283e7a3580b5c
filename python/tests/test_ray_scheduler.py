"""Scheduling on workers that exist in no cluster, with a clock of their own."""

import heapq
import random

import pytest

pytest.importorskip("ray")

from rossum_sim.ray import PoolError
from rossum_sim.ray.scheduler import MAX_ATTEMPTS, MAX_STARTS, Scheduler, WorkerLost


class Fake:
    """Workers that take as long for a task as the task says, in s, and return twice as much."""

    def __init__(self, *, start=1, ends=None, never_ready=(), failing_starts=0):
        self.now = 0
        self.carried_out = []
        self.stopped = set()
        self._start, self._never_ready, self._failing_starts = start, never_ready, failing_starts
        self._ends = ends or (lambda tasks: False)
        self._workers = 0
        self._events = []
        self._results = {}

    def start(self):
        self._workers += 1
        worker = self._workers
        if worker in self._never_ready:
            return worker, ("never", worker)
        lost = worker <= self._failing_starts
        return worker, self._ticket(worker, self._start, WorkerLost("no disk") if lost else [])

    def submit(self, worker, tasks):
        assert worker not in self.stopped and tasks
        self.carried_out.append(tasks)
        seconds = sum(task for task in tasks if isinstance(task, int))
        broken = [task for task in tasks if isinstance(task, Exception)]
        result = broken[0] if broken else [2 * task for task in tasks]
        return self._ticket(worker, seconds, WorkerLost("killed") if self._ends(tasks) else result)

    def _ticket(self, worker, seconds, result):
        ticket = (worker, len(self._results))
        self._results[ticket] = result
        heapq.heappush(self._events, (self.now + seconds, ticket))
        return ticket

    def wait(self, tickets, timeout):
        assert tickets
        while self._events:
            when, ticket = heapq.heappop(self._events)
            if ticket in tickets:
                self.now = when
                return [ticket]
            # nobody waits for what a stopped worker does
            assert ticket[0] in self.stopped
        assert timeout is not None, "it would wait for ever"
        return []

    def result(self, ticket):
        result = self._results[ticket]
        if isinstance(result, Exception):
            raise result
        return result

    def stop(self, worker):
        self.stopped.add(worker)

    def resources(self):
        return "no machine"


def run(scheduler, tasks, **options):
    """The results, once they are known to be accepted once each."""
    seen = []
    results = scheduler.run(tasks, seen.extend, **options)
    assert sorted(seen) == list(range(len(tasks)))
    return results


@pytest.mark.parametrize(("tasks", "workers"), [(0, 2), (1, 4), (2, 1), (40, 3), (1000, 7)])
def test_results_are_in_order(tasks, workers):
    durations = [random.Random(tasks).randint(1, 9) for _ in range(tasks)]
    scheduler = Scheduler(Fake(), workers)
    for _ in range(2):
        assert run(scheduler, durations) == [2 * duration for duration in durations]
    assert (scheduler.lost, scheduler.retried) == (0, 0)


@pytest.mark.parametrize("position", [0, 20, 39])
def test_the_slowest_task_does_not_stall_the_others(position):
    tasks = [1] * 40
    tasks[position] = 30
    fake = Fake(start=0)
    run(Scheduler(fake, 2), tasks)
    # the ideal is half of all, or the slowest alone once it has begun
    assert fake.now <= max(sum(tasks) / 2, position / 2 + 30) + 5
    assert [1] in fake.carried_out, "one at a time towards the end"


def test_most_of_the_time_all_workers_are_busy():
    for seed in range(20):
        draw = random.Random(seed)
        tasks, workers = [draw.randint(1, 20) for _ in range(draw.randint(50, 300))], draw.randint(2, 16)
        fake = Fake(start=0)
        run(Scheduler(fake, workers), tasks)
        assert fake.now <= 1.15 * sum(tasks) / workers + max(tasks), (seed, workers)


def test_a_lost_worker_is_replaced_and_its_tasks_are_carried_out_by_others():
    deaths = iter([True])
    fake = Fake(ends=lambda tasks: next(deaths, False))
    scheduler = Scheduler(fake, 2)
    assert run(scheduler, [3] * 16) == [6] * 16
    lost = fake.carried_out[0]
    assert (scheduler.lost, scheduler.retried, scheduler.ready) == (1, len(lost), 2)
    assert len(lost) > 1 and sum(map(len, fake.carried_out)) == 16 + len(lost)


def test_whatever_dies_each_result_is_accepted_once():
    lost = 0
    for seed in range(100):
        draw = random.Random(seed)
        tasks = [draw.randint(1, 9) for _ in range(draw.randint(1, 80))]
        scheduler = Scheduler(Fake(ends=lambda tasks, draw=draw: draw.random() < 0.15), draw.randint(1, 5))
        assert run(scheduler, tasks) == [2 * task for task in tasks]
        lost += scheduler.lost
    assert lost > 100


def test_a_task_that_ends_its_workers_is_named():
    fake = Fake(ends=lambda tasks: 7 in tasks)
    scheduler = Scheduler(fake, 3)
    tasks = [1] * 30 + [7] + [1] * 30
    with pytest.raises(PoolError, match=f"number 31 has ended {MAX_ATTEMPTS} workers in a row.*killed"):
        scheduler.run(tasks, describe=lambda index: f"number {index + 1}")
    assert scheduler.lost == MAX_ATTEMPTS
    assert fake.carried_out.count([7]) >= MAX_ATTEMPTS - 1, "alone, so that the others are not blamed"
    assert run(scheduler, [1, 2, 3]) == [2, 4, 6]


def test_an_error_of_a_task_is_raised_and_the_pool_goes_on():
    fake = Fake()
    scheduler = Scheduler(fake, 2)
    with pytest.raises(ValueError, match="no idea"):
        scheduler.run([9, ValueError("no idea")])
    # what was in progress is nobody's result any more
    assert run(scheduler, [1, 2, 3, 4]) == [2, 4, 6, 8]
    assert scheduler.lost == 0 and len(fake.stopped) == 2


def test_an_interrupted_run_leaves_a_pool_that_goes_on():
    scheduler = Scheduler(Fake(), 2)

    def interrupt(finished):
        if finished:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scheduler.run([5] * 20, interrupt)
    assert run(scheduler, [1] * 20) == [2] * 20


def test_workers_that_are_not_ready_hold_nobody_up():
    scheduler = Scheduler(Fake(never_ready={1, 3}), 3)
    assert run(scheduler, [1] * 9) == [2] * 9
    assert scheduler.ready == 1


def test_without_any_worker_there_is_an_error():
    with pytest.raises(PoolError, match="no worker is ready after 60 s: no machine"):
        Scheduler(Fake(never_ready={1, 2}), 2).run([1])
    with pytest.raises(PoolError, match=f"{MAX_STARTS} workers in a row ended before they were ready: no disk"):
        Scheduler(Fake(failing_starts=MAX_STARTS), 1).run([1])
    scheduler = Scheduler(Fake(failing_starts=MAX_STARTS - 1), 1)
    assert run(scheduler, [1]) == [2] and scheduler.lost == MAX_STARTS - 1


def test_closing_ends_all_workers():
    fake = Fake(never_ready={2})
    scheduler = Scheduler(fake, 2)
    run(scheduler, [1])
    scheduler.close()
    assert fake.stopped == {1, 2} and scheduler.ready == 0
