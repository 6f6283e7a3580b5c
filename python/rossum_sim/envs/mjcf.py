"""Environments of any model, with a reward function in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from .. import _native
from .task import SIZE, TaskEnv
from .vector import Observations, Step, TaskVectorEnv, final_infos

# (observation before, action, observation after) -> reward
Reward = Callable[[Observations, Observations, Observations], Any]
# (observation after) -> whether the episode is over
Terminated = Callable[[Observations], Any]


def _never(observation: Observations) -> NDArray[np.bool_]:
    return np.zeros(observation.shape[:-1], np.bool_)


def _task(
    model: str,
    *,
    observation: Sequence[str] = ("qpos", "qvel"),
    field: str | None = None,
    position: tuple[float, float, float] = (0.0, 0.0, 0.0),
    timestep: float | None = None,
    frame_skip: int = 1,
    noise: float = 0.0,
) -> _native.Task:
    return _native.Task.of_model(
        str(model),
        field=field,
        position=position,
        timestep=timestep,
        steps=frame_skip,
        observation=list(observation),
        noise=noise,
    )


class MjcfEnv(TaskEnv):
    """One environment of any model. See ``from_mjcf`` for the arguments."""

    def __init__(
        self,
        model: str,
        reward: Reward,
        *,
        terminated: Terminated = _never,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        width: int = SIZE[0],
        height: int = SIZE[1],
        camera: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._build(_task(model, **options), render_mode, max_episode_steps, (width, height), camera or {})
        self._reward, self._terminated = reward, terminated

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode: with a seed the first of that seed, otherwise the next one."""
        observation, infos = super().reset(seed=seed, options=options)
        self._last = observation.copy()
        return observation, infos

    def step(self, action: Observations) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        """Takes a step."""
        action = np.ascontiguousarray(action, np.float32)
        observation, _, failed, truncated = self._native.step(action)
        before, self._last = self._last, observation.copy()
        # if the simulation failed, there is no reward
        reward = 0.0 if failed else float(self._reward(before, action, self._last))
        return observation, reward, failed or bool(self._terminated(self._last)), truncated, {}


class MjcfVectorEnv(TaskVectorEnv):
    """Many environments of any model. See ``from_mjcf`` for the arguments."""

    def __init__(
        self,
        model: str,
        reward: Reward,
        num_envs: int = 1,
        *,
        terminated: Terminated = _never,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        width: int = SIZE[0],
        height: int = SIZE[1],
        camera: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._mode = AutoresetMode(autoreset_mode)
        # who ends episodes also has to begin them
        native_mode = AutoresetMode.DISABLED
        task = _task(model, **options)
        self._build(task, num_envs, threads, self._mode, native_mode, copy, max_episode_steps)
        self._set_view(render_mode, (width, height), camera or {})
        self._reward, self._terminated = reward, terminated
        self._over = np.zeros(num_envs, np.bool_)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in all environments, or in those of ``options["reset_mask"]``."""
        observations, infos = super().reset(seed=seed, options=options)
        mask = None if options is None else options.get("reset_mask")
        self._over[slice(None) if mask is None else mask] = False
        self._last = observations.copy()
        return observations, infos

    def step(self, actions: Observations) -> Step:
        """Takes a step in each environment."""
        resets = self._over if self._mode == AutoresetMode.NEXT_STEP else np.zeros(self.num_envs, np.bool_)
        if self._mode == AutoresetMode.DISABLED and self._over.any():
            raise ValueError("an episode is over: reset its environment with options={'reset_mask': ...}")
        actions = np.ascontiguousarray(actions, np.float32)
        observations, rewards, terminated, truncated, _ = self._native.step(actions, resets)
        before, self._last = self._last, observations.copy()
        # where the simulation failed, or an episode begins, there is no reward
        has_reward = ~(terminated | resets)
        rewards[:] = np.where(has_reward, self._per_env("reward", self._reward(before, actions, self._last)), 0.0)
        ends = self._per_env("terminated", self._terminated(self._last)).astype(np.bool_)
        terminated |= ends & ~resets
        self._over = terminated | truncated
        infos: dict[str, Any] = {}
        if self._mode == AutoresetMode.SAME_STEP and self._over.any():
            ended = self._over
            final = np.where(ended[:, None], self._last, np.float32(0.0))
            infos = final_infos(final, ended)
            observations = self._native.reset([None] * self.num_envs, ended)
            self._over = np.zeros(self.num_envs, np.bool_)
            self._last = observations.copy()
        return observations, rewards, terminated, truncated, infos

    def _per_env(self, what: str, values: Any) -> NDArray[Any]:
        values = np.asarray(values)
        if values.shape != (self.num_envs,):
            raise ValueError(
                f"`{what}` returns an array of the shape {values.shape}, not ({self.num_envs},): it is given all "
                "environments at once, one row each; use observation[..., i] for number i"
            )
        return values


def from_mjcf(
    model: str,
    reward: Reward,
    *,
    num_envs: int | None = None,
    **options: Any,
) -> MjcfEnv | MjcfVectorEnv:
    """An environment of a MuJoCo model: a path, the name of one of Rossum's robots, or text that begins with ``<``. With
    ``num_envs`` it is a vector of them.

    ``reward(before, action, after)`` is called after each step with two observations and the action. A vector calls it once
    for all environments, with a row for each; written with ``after[..., i]`` for number ``i``, it works for both. So does
    ``terminated(after)``, which says whether an episode is over.

    An action is one number from -1 to 1 for each actuator, the ends of its range. Further options:

    - ``observation``: what is observed, a list of ``"qpos"``, ``"qvel"`` and ``"sensors"``
    - ``frame_skip``: number of physics steps in a step; ``timestep``: length of a physics step, in s
    - ``noise``: largest deviation of joints at the start of an episode, in rad or m, and rad/s or m/s
    - ``field``: the surroundings, such as ``"fifa"``; by default the model's own. ``position``: of the model in them, in m
    - ``max_episode_steps``, ``render_mode``, ``width``, ``height``, ``camera``, and for a vector ``threads``,
      ``autoreset_mode``, ``copy``
    """
    if num_envs is None:
        return MjcfEnv(model, reward, **options)
    return MjcfVectorEnv(model, reward, num_envs, **options)
