"""Episodes of a policy, for learners that collect them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

# (observation, generator of the episode's random numbers) -> action
Policy = Callable[[NDArray[Any], np.random.Generator], Any]


@dataclass(frozen=True, eq=False)
class Episode:
    """What happened in an episode."""

    seed: int
    """The seed that the environment was reset with."""
    observations: NDArray[Any]
    """One for each action, and the last one."""
    actions: NDArray[Any]
    """In the order of the steps."""
    rewards: NDArray[np.float64]
    """One for each action."""
    terminated: bool
    """Whether the task ended it."""
    truncated: bool
    """Whether it was cut off: by the limit of its environment, or by ``max_steps``."""


def rollout(env: gymnasium.Env[Any, Any], policy: Policy, *, seed: int, max_steps: int | None = None) -> Episode:
    """Lets a policy act in an episode of an environment, which ends after ``max_steps`` at the latest.

    The policy is called with an observation and a random number generator, whose numbers depend on the seed alone. If it
    depends on nothing else, the episode is the same, bit for bit, wherever it takes place.
    """
    random = np.random.default_rng(seed)
    observation, _ = env.reset(seed=seed)
    observations, actions, rewards = [observation], [], []
    terminated = truncated = False
    while not (terminated or truncated):
        if max_steps is not None and len(actions) >= max_steps:
            truncated = True
            break
        action = policy(observation, random)
        observation, reward, terminated, truncated, _ = env.step(action)
        observations.append(observation)
        actions.append(np.asarray(action))
        rewards.append(float(reward))
    shape = env.action_space.shape or ()
    return Episode(
        seed,
        np.array(observations),
        np.array(actions).reshape(len(actions), *shape),
        np.array(rewards, np.float64),
        bool(terminated),
        bool(truncated),
    )
