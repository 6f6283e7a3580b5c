"""Many environments on native threads."""

from __future__ import annotations

import os
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import _native
from .task import SIZE, VIEWS, spaces

Observations = NDArray[np.float32]
Step = tuple[Observations, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]


class TaskVectorEnv(VectorEnv[Observations, Observations, NDArray[Any]]):
    """Many environments.

    They run on ``threads`` native threads, by default one for each core that the process may use. With ``copy=False``, every
    step returns the same arrays, in which the next step writes: nothing is allocated, and what is to be kept has to be copied.
    The other arguments are those of ``TaskEnv``.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50, "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        width: int = SIZE[0],
        height: int = SIZE[1],
        camera: dict[str, Any] | None = None,
    ) -> None:
        view = VIEWS.get(task, {}) if camera is None else camera
        mode = AutoresetMode(autoreset_mode)
        self._build(_native.Task(task), num_envs, threads, mode, mode, copy, max_episode_steps)
        self._set_view(render_mode, (width, height), view)

    def _build(
        self,
        task: _native.Task,
        num_envs: int,
        threads: int | None,
        mode: AutoresetMode,
        native_mode: AutoresetMode,
        copy: bool,
        max_episode_steps: int | None,
    ) -> None:
        if threads is None:
            threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        elif threads < 1:
            raise ValueError(f"{threads} threads; at least one is needed")
        self._native = _native.VectorEnv(task, num_envs, threads, max_episode_steps, native_mode.value, copy)
        self.num_envs = num_envs
        self.single_observation_space, self.single_action_space = spaces(self._native)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        fps = round(1.0 / self._native.tick_seconds)
        self.metadata = {**self.metadata, "render_fps": fps, "autoreset_mode": mode}
        self._has_seed = False

    def _set_view(self, render_mode: str | None, size: tuple[int, int], view: dict[str, Any]) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"unknown render mode {render_mode!r}; available: rgb_array")
        self.render_mode = render_mode
        self._size, self._view = size, view

    @property
    def threads(self) -> int:
        """Number of threads that the environments run on."""
        return self._native.threads

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begins an episode in all environments, or in those of ``options["reset_mask"]``.

        Environment ``i`` gets ``seed + i``, or the seed at its place in a list.
        """
        super().reset(seed=seed if isinstance(seed, int) else None)
        mask = None if options is None else options.get("reset_mask")
        if mask is not None:
            mask = self._checked(mask)
        return self._native.reset(self._seeds(seed), mask), {}

    def _seeds(self, seed: int | list[int | None] | None) -> list[int | None]:
        if seed is None and not self._has_seed:
            seed = int(self.np_random.integers(2**63))
        self._has_seed = True
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            return [(int(seed) + index) % 2**64 for index in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise ValueError(f"{len(seed)} seeds for {self.num_envs} environments")
        return [None if one is None else one % 2**64 for one in seed]

    def _checked(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(f"the reset mask is an array of {self.num_envs} bool")
        if not mask.any():
            raise ValueError("the reset mask selects no environment")
        return np.ascontiguousarray(mask)

    def step(self, actions: Observations) -> Step:
        """Takes a step in each environment. In the mode ``SAME_STEP``, the last observations of episodes that have ended are in
        ``infos["final_obs"]``, in the rows where ``infos["_final_obs"]`` is true."""
        actions = np.ascontiguousarray(actions, np.float32)
        observations, rewards, terminated, truncated, final = self._native.step(actions, None)
        infos = {} if final is None else final_infos(final, terminated | truncated)
        return observations, rewards, terminated, truncated, infos

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """An image of each world, if the render mode is ``rgb_array``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs environments that were made with render_mode='rgb_array'")
            return None
        return tuple(self._native.render(index, *self._size, **self._view) for index in range(self.num_envs))

    def close_extras(self, **_kwargs: Any) -> None:
        """Frees the worlds."""
        self._native.close()


def final_infos(observations: Observations, ended: NDArray[np.bool_]) -> dict[str, Any]:
    """What Gymnasium adds to the infos of a step in which episodes have ended and begun."""
    return {"final_obs": observations, "_final_obs": ended, "final_info": {}, "_final_info": ended.copy()}
