"""Gymnasium's Ant: as a user's model in our vector of environments, in EnvPool, and in Gymnasium's own `AsyncVectorEnv`.

All take the same random actions, with the same frame skip and number of environments; each observes positions and velocities, and
begins anew where an ant has fallen. Peers run in processes and virtual environments of their own (`peer_*.py`), and wait while it
is not their turn.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import gymnasium
import numpy as np
from figure import Figure, Run, compared, timed
from numpy.typing import NDArray
from rossum_sim.envs import from_mjcf

HERE = Path(__file__).resolve().parent
MODEL = Path(gymnasium.__file__).parent / "envs/mujoco/assets/ant.xml"
FRAME_SKIP = 5
STEP_SECONDS = 0.05
STEPS = 100  # of each environment in a run
SEED = 1
GOALS = {"envpool": 1.0, "gymnasium": 5.0}
NAMES = {"envpool": "EnvPool's Ant", "gymnasium": "Gymnasium's AsyncVectorEnv"}


def reward(before: NDArray[np.float32], action: NDArray[np.float32], after: NDArray[np.float32]) -> NDArray[np.float32]:
    """Gymnasium's, without that of contact forces."""
    return (after[..., 0] - before[..., 0]) / STEP_SECONDS + 1.0 - 0.5 * np.square(action).sum(axis=-1)


def terminated(after: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Whether an ant has fallen or taken off."""
    return (after[..., 2] < 0.2) | (after[..., 2] > 1.0)


def ours(envs: int, threads: int) -> Run:
    """The vector of a user's model."""
    vector = from_mjcf(
        str(MODEL), reward, terminated=terminated, frame_skip=FRAME_SKIP, noise=0.1, num_envs=envs, threads=threads
    )
    actions = np.random.default_rng(SEED).uniform(-1.0, 1.0, (STEPS, envs, 8)).astype(np.float32)

    def run() -> None:
        for step in actions:
            vector.step(step)

    return lambda: vector.reset(seed=SEED), run


class Peer:
    """A peer's process: for each line it makes a run, and answers with wall and CPU time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.version = self._read()["version"]

    def timed(self) -> tuple[float, float]:
        """Wall and CPU time of a run, in s."""
        assert self.process.stdin is not None
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        answer = self._read()
        return answer["wall"], answer["cpu"]

    def _read(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended with {self.process.wait()}")
        return json.loads(line)


@contextmanager
def peer(name: str, python: str, envs: int, threads: int) -> Iterator[Peer]:
    """Starts a peer, with the interpreter of its virtual environment."""
    arguments = [python, str(HERE / f"peer_{name}.py"), *map(str, (envs, threads, FRAME_SKIP, STEPS, SEED))]
    # a worker process for each environment needs no threads of its own
    settings = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=settings) as process:
        try:
            yield Peer(process)
        finally:
            process.stdin.close()


def figures(rounds: int, envs: int, threads: int, envpool: str | None, gymnasium_: str | None) -> list[Figure]:
    """Steps per second of our vector and of each peer that there is an interpreter for."""
    pythons = {"envpool": envpool, "gymnasium": gymnasium_}
    names = [name for name, python in pythons.items() if python]
    if not names:
        return []
    work = ours(envs, threads)
    with ExitStack() as stack:
        peers = [stack.enter_context(peer(name, pythons[name], envs, threads)) for name in names]
        times = [[timed(work), *(peer.timed() for peer in peers)] for _ in range(rounds)]
        detail = f"steps/s, {envs} environments, {threads} threads"
        return [
            compared(f"Ant / {NAMES[name]}", times, column, STEPS * envs, GOALS[name], f"{detail}, {peer.version}")
            for column, (name, peer) in enumerate(zip(names, peers, strict=True), 1)
        ]
