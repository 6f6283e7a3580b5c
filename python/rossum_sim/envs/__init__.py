"""Gymnasium environments. Importing this module registers them.

    import gymnasium
    import rossum_sim.envs

    env = gymnasium.make("rossum/RoverAvoid-v0", render_mode="rgb_array")
    envs = gymnasium.make_vec("rossum/T1Walk-v0", num_envs=64, threads=4)

A vector of environments runs in native threads, without Python's lock. Its environment ``i`` does, bit for bit, what a single
environment does that was reset with ``seed + i``, on any number of threads.

``from_mjcf`` makes an environment of your own model and a reward function. A ``Twin`` is a task whose robot is a player of the
soccer league, in process or on a server.
"""

try:
    import gymnasium
except ImportError as cause:
    raise ImportError("rossum_sim.envs needs Gymnasium; install it with: pip install rossum-sim[learning]") from cause

from .._native import tasks
from .episodes import Episode, Policy, rollout
from .mjcf import MjcfEnv, MjcfVectorEnv, from_mjcf
from .task import TaskEnv
from .twin import Twin
from .vector import TaskVectorEnv

__all__ = [
    "Episode",
    "MjcfEnv",
    "MjcfVectorEnv",
    "Policy",
    "TaskEnv",
    "TaskVectorEnv",
    "Twin",
    "from_mjcf",
    "rollout",
]

for _name, _steps in tasks():
    gymnasium.register(
        f"rossum/{_name}-v0",
        entry_point="rossum_sim.envs:TaskEnv",
        vector_entry_point="rossum_sim.envs:TaskVectorEnv",
        max_episode_steps=_steps,
        kwargs={"task": _name},
    )
gymnasium.register(
    "rossum/Mjcf-v0",
    entry_point="rossum_sim.envs:MjcfEnv",
    vector_entry_point="rossum_sim.envs:MjcfVectorEnv",
    max_episode_steps=1_000,
)
