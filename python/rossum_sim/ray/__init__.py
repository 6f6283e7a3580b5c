"""Evaluate populations and roll out policies on many processes and machines, with Ray.

    from rossum_sim.evolution import Run, Site
    from rossum_sim.ray import Pool

    site = Site("maze", "sonar")
    with Pool() as pool, Run.begin("runs/mine", site, "neat", generations=50) as run:
        for generation in run.generations(pool.evaluate):
            print(generation.number, generation.best_so_far)

The results are the same, bit for bit, as in a single process, whatever ends meanwhile.
"""

try:
    import ray  # noqa: F401
except ImportError as cause:
    raise ImportError("rossum_sim.ray needs Ray; install it with: pip install rossum-sim[ray]") from cause

from .pool import Pool, Progress
from .scheduler import PoolError

__all__ = ["Pool", "PoolError", "Progress"]
