"""A measured figure, and runs that take turns."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Figure:
    """One measured figure, and its goal."""

    what: str
    value: float
    goal: str
    met: bool
    detail: str


# A prepared run: it is reset by the first function, which is not timed, and carried out by the second.
Run = tuple[Callable[[], object], Callable[[], object]]


def timed(run: Run) -> tuple[float, float]:
    """Wall and CPU time of a run in this process, in s."""
    reset, work = run
    reset()
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def compared(what: str, times: list[list[tuple[float, float]]], column: int, steps: int, goal: float, detail: str) -> Figure:
    """How many times as fast as the peer of this column ours is, which is in column 0: a row for each round, with wall and CPU
    times."""
    ratio = statistics.median(row[column][0] / row[0][0] for row in times)
    cpu_ratio = statistics.median(row[column][1] / row[0][1] for row in times)
    speeds = [statistics.median(steps / row[side][0] for row in times) for side in (0, column)]
    detail = f"{speeds[0]:,.0f} / {speeds[1]:,.0f} {detail}; by CPU time {cpu_ratio:.3f}"
    return Figure(what, ratio, f">= {goal}", ratio >= goal, detail)
