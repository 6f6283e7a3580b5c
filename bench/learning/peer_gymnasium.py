"""Ant in Gymnasium's AsyncVectorEnv, with a process for each environment: `peer_gymnasium.py ENVS THREADS FRAME_SKIP STEPS SEED`.
For each line on stdin it makes a run, and prints its wall and CPU time, with that of its processes, as a line of JSON; it exits at
the end of stdin.
"""

import json
import multiprocessing
import os
import sys
import time
from pathlib import Path

import gymnasium
import mujoco
import numpy as np


def cpu_seconds() -> float:
    """CPU time of this process and of those of the environments."""
    ticks = 0
    for process in multiprocessing.active_children():
        numbers = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(numbers[11]) + int(numbers[12])
    return time.process_time() + ticks / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Runs on request."""
    envs, _, frame_skip, steps, seed = map(int, sys.argv[1:])
    vector = gymnasium.make_vec(
        "Ant-v5",
        num_envs=envs,
        vectorization_mode="async",
        frame_skip=frame_skip,
        include_cfrc_ext_in_observation=False,
        vector_kwargs={"shared_memory": True},
    )
    actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, envs, 8)).astype(np.float32)
    vector.reset(seed=seed)
    version = f"Gymnasium {gymnasium.__version__} with MuJoCo {mujoco.__version__}"
    print(json.dumps({"version": version}), flush=True)
    for _ in sys.stdin:
        vector.reset(seed=seed)
        wall, cpu = time.perf_counter(), cpu_seconds()
        for step in actions:
            vector.step(step)
        print(json.dumps({"wall": time.perf_counter() - wall, "cpu": cpu_seconds() - cpu}), flush=True)
    vector.close()


if __name__ == "__main__":
    main()
