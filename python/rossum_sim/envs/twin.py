"""Tasks of the T1 whose robot is a player of the soccer league, in process or on a server."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _native
from ..soccer import Motion, MotorAction, Perception

__all__ = ["Twin"]

_TASKS = ("T1Stand", "T1Walk")


class Twin:
    """A task whose robot is a player elsewhere: the game lets time pass, and the task says where the robot begins, what it is told,
    what it observes, and what is rewarded.

    The player is a T1 of a ``rossum_sim.soccer.Game``, or an agent of ``rossum_sim.clients.soccer``. Its game is ``sequential``:
    perceptions come without the league's usual delay of a cycle, as in the task::

        twin = Twin("T1Stand")
        observation = twin.reset(seed=1)     # the player is placed at `twin.height`, with `twin.joints`
        while True:
            player.act(*twin.act(policy(observation)))  # and pushed with `twin.push`
            ...                                         # a cycle passes: `perception`, and how the torso moves: `motion`
            observation, reward, terminated, truncated = twin.follow(perception, motion)

    The reward is that of the torso's true motion, and of the joints as they are perceived.
    """

    def __init__(self, task: str = "T1Stand", *, max_episode_steps: int | None = None) -> None:
        if task not in _TASKS:
            raise ValueError(f"no player of the league can do {task!r} alone; available: {', '.join(_TASKS)}")
        steps = dict(_native.tasks())[task] if max_episode_steps is None else max_episode_steps
        self._env = _native.Env(_native.Task(task), steps)
        self._motors: list[str] = []
        self.height = 0.0
        """Height of the torso at the start, in m."""
        self.joints: dict[str, float] = {}
        """Angles of the joints at the start, by their motors, in deg."""
        self.push: tuple[float, float, float] = (0.0, 0.0, 0.0)
        """The change of the torso's velocity with the last action, in m/s: from where the robot faced at the start."""

    def reset(self, seed: int | None = None) -> NDArray[np.float32]:
        """Begins an episode: with a seed the first of that seed, otherwise the next one."""
        observation = self._env.reset(seed)
        self._motors = [motor for motor, _ in self._env.motors()]
        (_, _, self.height), _, _, _, joints = self._env.motion()
        self.joints = {motor: math.degrees(angle) for motor, (angle, _) in zip(self._motors, joints, strict=True)}
        self.push = (0.0, 0.0, 0.0)
        return observation

    def hold(self) -> list[MotorAction]:
        """What the motors are told: that of the last action, or to hold the posture of the start."""
        return [
            MotorAction(motor, math.degrees(q), math.degrees(dq), kp, kd, tau)
            for motor, (q, dq, kp, kd, tau) in self._env.motors()
        ]

    def act(self, action: NDArray[np.float32]) -> list[MotorAction]:
        """Begins a step: what the motors are told by an action."""
        before = self._env.motion()[2]
        self._env.act(np.ascontiguousarray(action, np.float32))
        after = self._env.motion()[2]
        x, y, z = (now - then for now, then in zip(after, before, strict=True))
        self.push = (x, y, z)
        return self.hold()

    def follow(self, perception: Perception, motion: Motion) -> tuple[NDArray[np.float32], float, bool, bool]:
        """Ends a step: what the player has perceived since, and how its torso moves, in the first row. Returns observation, reward,
        and whether the episode was terminated or truncated."""
        joints = self._joints(perception)
        orientation = motion.orientations[0]
        spin = _own_frame(orientation, motion.angular_velocities[0])
        numbers = (motion.positions[0], orientation, motion.velocities[0], spin)
        self._env.follow(*(row.tolist() for row in numbers), joints)
        reward, terminated, truncated = self._env.judge()
        return self.observe(perception), reward, terminated, truncated

    def observe(self, perception: Perception) -> NDArray[np.float32]:
        """The task's observation of what a player perceives."""
        position, orientation, gyro = perception.position, perception.orientation, perception.gyro
        spin = [math.radians(rate) for rate in gyro[1:]]
        self._env.follow(list(position[1:]), list(orientation[1:]), [0.0] * 3, spin, self._joints(perception))
        return self._env.observe()

    def _joints(self, perception: Perception) -> list[list[float]]:
        """Angle and speed of the joint of each motor, in rad."""
        joints = perception.joints
        rows = zip(joints.names, joints.axs, joints.vxs, strict=True)
        found = {name: [math.radians(angle), math.radians(speed)] for name, angle, speed in rows}
        # the motor lle1 moves the joint llj1
        return [found[motor.replace("e", "j", 1)] for motor in self._motors]

    def close(self) -> None:
        """Frees the task's world."""
        self._env.close()

    def __enter__(self) -> Twin:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _own_frame(orientation: NDArray[Any], vector: NDArray[Any]) -> NDArray[np.float64]:
    """A vector of the world in the frame of a body with this orientation, a quaternion."""
    w, x, y, z = orientation
    axis = np.array([-x, -y, -z])
    return vector + 2.0 * np.cross(axis, np.cross(axis, vector) + w * vector)
