"""Ant in EnvPool: `peer_envpool.py ENVS THREADS FRAME_SKIP STEPS SEED`. For each line on stdin it makes a run, and prints its wall
and CPU time as a line of JSON; it exits at the end of stdin.
"""

import json
import sys
import time

import envpool
import numpy as np

envs, threads, frame_skip, steps, seed = map(int, sys.argv[1:])
vector = envpool.make(
    "Ant-v4",
    env_type="gymnasium",
    num_envs=envs,
    num_threads=threads,
    seed=seed,
    frame_skip=frame_skip,
    use_contact_force=False,
)
actions = np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, envs, 8))
print(json.dumps({"version": f"EnvPool {envpool.__version__}"}), flush=True)
for _ in sys.stdin:
    vector.reset()
    wall, cpu = time.perf_counter(), time.process_time()
    for step in actions:
        vector.step(step)
    print(json.dumps({"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}), flush=True)
