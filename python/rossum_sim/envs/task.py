"""Single environments."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from .. import _native

# where the camera is if it does not simply follow the robot
VIEWS: dict[str, dict[str, Any]] = {
    "RoverAvoid": {"eye": (0.0, -2.8, 3.2), "target": (0.0, -0.1, 0.0)},
    "RoverLight": {"eye": (0.0, -3.8, 4.0), "target": (0.0, -0.1, 0.0)},
    "ASeriesWalk": {"fov": 18.0},
}
SIZE = (640, 480)


def spaces(native: _native.Env | _native.VectorEnv) -> tuple[Box, Box]:
    """The spaces of observations and actions of one environment."""
    low, high = native.bounds
    return Box(low, high, dtype=np.float32), Box(-1.0, 1.0, (native.actions,), np.float32)


class TaskEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """One environment.

    ``task`` is the name of a task, such as ``"T1Walk"``. Episodes are truncated after ``max_episode_steps``; an environment from
    ``gymnasium.make`` gets its limit there. ``camera`` may have ``eye``, ``target`` (positions in m) and ``fov`` (degrees).
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}

    def __init__(
        self,
        task: str,
        *,
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
        width: int = SIZE[0],
        height: int = SIZE[1],
        camera: dict[str, Any] | None = None,
    ) -> None:
        view = VIEWS.get(task, {}) if camera is None else camera
        self._build(_native.Task(task), render_mode, max_episode_steps, (width, height), view)

    def _build(
        self,
        task: _native.Task,
        render_mode: str | None,
        max_episode_steps: int | None,
        size: tuple[int, int],
        view: dict[str, Any],
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"unknown render mode {render_mode!r}; available: rgb_array")
        self._native = _native.Env(task, max_episode_steps)
        self.observation_space, self.action_space = spaces(self._native)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self._native.tick_seconds)}
        self.render_mode = render_mode
        self._size, self._view = size, view
        self._has_seed = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode: with a seed the first of that seed, otherwise the next one."""
        super().reset(seed=seed)
        if seed is None and not self._has_seed:
            seed = int(self.np_random.integers(2**63))
        self._has_seed = True
        return self._native.reset(None if seed is None else seed % 2**64), {}

    def step(self, action: NDArray[np.float32]) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Takes a step."""
        observation, reward, terminated, truncated = self._native.step(np.ascontiguousarray(action, np.float32))
        return observation, reward, terminated, truncated, {}

    def render(self) -> NDArray[np.uint8] | None:
        """An image of the world, if the render mode is ``rgb_array``."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() needs an environment that was made with render_mode='rgb_array'")
            return None
        return self._native.render(*self._size, **self._view)

    def close(self) -> None:
        """Frees the world."""
        self._native.close()
