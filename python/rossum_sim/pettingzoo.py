"""Soccer as a PettingZoo environment, from 1 against 1 to 11 against 11.

::

    from rossum_sim.pettingzoo import SoccerEnv

    env = SoccerEnv(3, robots=("T1", "roller"))
    observations, infos = env.reset(seed=42)
    while env.agents:
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        observations, rewards, terminations, truncations, infos = env.step(actions)

Install it with ``pip install rossum-sim[soccer]``.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from .soccer import BeamAction, Game, MotorAction, Player

__all__ = ["SoccerEnv", "parallel_env"]

TEAMS = ("Left", "Right")
SIDES = ("left", "right")

PROGRESS = 0.1
"""Reward for each m that the ball comes nearer to the opponents' goal."""
APPROACH = 0.05
"""Reward for each m that the nearest player of a team comes nearer to the ball."""
FALLEN = 0.01
"""Cost of each second that a player is not upright."""
LEAP = 1.0
"""Distances that change by more in one step, in m, do so because something was placed."""
UPRIGHT = 0.7
"""Cosine of the inclination up to which a robot is upright."""


class SoccerEnv(ParallelEnv):
    """Two teams play soccer.

    :param players: players in each team, 1 to 11.
    :param robots: model of all robots, or of those of each team: ``T1``, ``K1``, ``ant``, ``roller``, or a robot in ``models``.
    :param observations: ``perception`` is what agents of the league are told: their own body, the game, and what their camera has
        last seen. ``state`` has the true positions and velocities of the ball and the players instead.
    :param rewards: ``sparse`` is 1 for a goal and -1 for one conceded. ``shaped`` adds rewards for bringing the ball towards the
        goal, for approaching it, and for standing upright.
    :param referee: whether the rules of the league apply. Without a referee the ball is in play all the time, and starts at the
        centre after a goal.
    :param ends_at_goal: whether an episode is over with the first goal.
    :param cycles: cycles of 20 ms in a step.
    :param max_cycles: steps after which an episode is truncated.
    :param delay: whether perceptions are those of the last cycle but one, as on the league's server by default.
    :param options: further options of :class:`rossum_sim.soccer.Game`, such as ``vision``, ``models`` and ``record``.

    An action has a number for each motor, -1 to 1: the range of its joint, with 0 where the model stands, or the speed of a wheel.
    ``motor_actions`` gives the commands of the protocol for an action, to play over the network.

    Both teams observe the field as the left one. An observation begins with the player's position, the direction of up, its
    heading, angular velocities, accelerations, angles and velocities of its joints, its bumpers, the lead, and the play mode. Then
    come the ball, the other players of its team and the opponents in order of their numbers. Each has a 1 if it was seen, and its
    position relative to the camera; with ``state``, a 1, position and velocity relative to the torso on the ground.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "rossum_soccer_v0",
        "render_modes": ["rgb_array"],
        "render_fps": 50,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        players: int = 1,
        *,
        robots: str | tuple[str, str] = "T1",
        observations: Literal["perception", "state"] = "perception",
        rewards: Literal["shaped", "sparse"] = "shaped",
        referee: bool = True,
        ends_at_goal: bool = True,
        cycles: int = 1,
        max_cycles: int = 3_000,
        delay: bool = False,
        rules: str | None = None,
        render_mode: Literal["rgb_array"] | None = None,
        **options: Any,
    ) -> None:
        if not 1 <= players <= 11:
            raise ValueError(f"{players} players: a team has 1 to 11")
        if observations not in ("perception", "state"):
            raise ValueError(f"unknown observations {observations!r}: expected 'perception' or 'state'")
        if rewards not in ("shaped", "sparse"):
            raise ValueError(f"unknown rewards {rewards!r}: expected 'shaped' or 'sparse'")
        if cycles < 1:
            raise ValueError(f"{cycles} cycles: a step has at least one")
        self.render_mode = render_mode
        self.max_cycles = max_cycles
        self.team_size = players
        # the field of the smaller leagues has room for seven
        rules = rules or ("ssim" if players <= 7 else "fifa")
        self.game = Game(rules, sequential=not delay, referee=referee, **options)
        self._sees_world = observations == "state"
        self._is_shaped = rewards == "shaped"
        self._has_referee = referee
        self._ends_at_goal = ends_at_goal
        self._cycles = cycles
        self._random = np.random.default_rng()
        self._players: dict[str, Player] = {}
        models = (robots, robots) if isinstance(robots, str) else robots
        for team, side, model in zip(TEAMS, SIDES, models, strict=True):
            for number in range(1, players + 1):
                self._players[f"{side}_{number}"] = self.game.join(team, number, model)
        self.possible_agents = list(self._players)
        self.agents: list[str] = []
        self._ids = [player._id for player in self._players.values()]
        # the two teams, which may have different robots
        self._slices = (slice(0, players), slice(players, 2 * players))
        # from here on all resets are alike: the first message of a player may wait for the second cycle
        self.game.step()
        self._observation_spaces: dict[str, Box] = {}
        self._action_spaces: dict[str, Box] = {}
        for part in self._slices:
            agents = self.possible_agents[part]
            length = self._observe_team(part).shape[1]
            motors = len(self._players[agents[0]].motors)
            for agent in agents:
                self._observation_spaces[agent] = Box(-np.inf, np.inf, (length,), np.float32)
                self._action_spaces[agent] = Box(-1.0, 1.0, (motors,), np.float32)
        self._steps = 0
        self._score = np.zeros(2)
        self._measures = self.game._native.measure(self._ids)

    def observation_space(self, agent: str) -> Box:
        """The same object for an agent each time."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Box:
        """The same object for an agent each time."""
        return self._action_spaces[agent]

    @property
    def state_space(self) -> Box:
        """The space of ``state``."""
        return Box(-np.inf, np.inf, (13 * (1 + len(self._ids)),), np.float32)

    def state(self) -> NDArray[np.float32]:
        """Position, orientation and velocities of the ball and of all players."""
        poses, velocities = self.game._native.motions(self._ids)
        return np.hstack([poses, velocities]).astype(np.float32).ravel()

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[np.float32]], dict[str, dict[str, Any]]]:
        """Begins an episode: both teams take their positions, and one of them kicks off. ``options`` may have ``kick_off``:
        ``left`` or ``right``."""
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.game._native.reset(int(self._random.integers(2**63)))
        kicker = (options or {}).get("kick_off") or SIDES[self._random.integers(2)]
        for side, part in zip(SIDES, self._slices, strict=True):
            spots = self._formation(kicks_off=self._has_referee and side == kicker)
            for agent, spot in zip(self.possible_agents[part], spots, strict=True):
                x, y = spot + self._random.uniform(-0.2, 0.2, 2)
                self._players[agent].act(BeamAction(x, y, self._random.uniform(-10.0, 10.0)))
        self.game._native.step(1)
        if self._has_referee:
            self.game.kick_off(kicker)
        else:
            self.game.set_play_mode("PlayOn")
        # the kick-off comes at the end of this cycle, and with a delay the positions are perceived in the one after it
        self.game._native.step(2)
        self.agents = self.possible_agents[:]
        self._steps = 0
        _, mode, _, score, *_ = self.game._native.state()
        self._score = np.array(score, float)
        self._measures = self.game._native.measure(self._ids)
        return self._observe(), self._infos(mode)

    def _formation(self, kicks_off: bool) -> NDArray[np.float64]:
        """A spot in the own half for each player, as for the left team: the last one is in front, and the first one in the goal
        if there are three."""
        field = self.game.field
        half_length, half_width = field.length / 2, field.width / 2
        front = [-0.6, 0.0] if kicks_off else [-field.circle_radius - 1.0, 0.0]
        goal = [[1.0 - half_length, 0.0]] if self.team_size >= 3 else []
        others = self.team_size - 1 - len(goal)
        rows = (-0.6 * half_length, -0.38 * half_length)
        lines = [[rows[index % 2], 0.7 * half_width * ((2 * index + 1) / others - 1)] for index in range(others)]
        return np.array([*goal, *lines, front])

    def step(
        self, actions: dict[str, NDArray[np.float32]]
    ) -> tuple[
        dict[str, NDArray[np.float32]],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Lets all players act, and takes a step."""
        agents = self.agents
        if not agents:
            return {}, {}, {}, {}, {}
        for part in self._slices:
            team = self.possible_agents[part]
            rows = np.array([actions[agent] for agent in team], np.float32)
            self.game._native.drive(self._ids[part], rows)
        self.game._native.step(self._cycles)
        self._steps += 1
        _, mode, _, score, *_ = self.game._native.state()
        goals = self._goals(score)
        rewards = self._rewards(goals)
        over = mode == "GameOver" or (self._ends_at_goal and bool(goals.any()))
        truncated = not over and self._steps >= self.max_cycles
        observations = self._observe()
        if over or truncated:
            self.agents = []
        return (
            observations,
            dict(zip(agents, rewards.tolist(), strict=True)),
            dict.fromkeys(agents, over),
            dict.fromkeys(agents, truncated),
            self._infos(mode),
        )

    def _goals(self, score: list[int]) -> NDArray[np.float64]:
        """Goals of the two teams in this step."""
        if self._has_referee:
            goals = np.array(score, float) - self._score
        else:
            field = self.game.field
            x, y, z = self.game.ball.positions[0]
            is_goal = abs(x) > field.length / 2 and abs(y) <= field.goal_width / 2 and z <= field.goal_height
            if is_goal and not self._ends_at_goal:
                self.game.place_ball((0.0, 0.0, 0.11))
            goals = np.array([is_goal and x > 0, is_goal and x < 0], float)
        self._score += goals
        return goals

    def _rewards(self, goals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The reward of each player."""
        rewards = np.repeat(goals - goals[::-1], self.team_size)
        if not self._is_shaped:
            return rewards
        measures = self.game._native.measure(self._ids)
        nearer = self._measures - measures
        self._measures = measures
        # the ball and players that leapt were placed
        nearer[np.abs(nearer) > LEAP] = 0.0
        rewards += np.repeat(PROGRESS * nearer[:2], self.team_size)
        players = len(self._ids)
        to_ball, upright = measures[2 : 2 + players], measures[2 + players :]
        for part in self._slices:
            nearest = part.start + int(to_ball[part].argmin())
            rewards[nearest] += APPROACH * nearer[2 + nearest]
        rewards[upright < UPRIGHT] -= FALLEN * 0.02 * self._cycles
        return rewards

    def _observe(self) -> dict[str, NDArray[np.float32]]:
        observations: dict[str, NDArray[np.float32]] = {}
        for part in self._slices:
            # a new array each time: an observation that was handed out never changes
            observations.update(zip(self.possible_agents[part], self._observe_team(part), strict=True))
        return observations

    def _observe_team(self, part: slice) -> NDArray[np.float32]:
        return self.game._native.observe(self._ids[part], self.team_size, self._sees_world)

    def _infos(self, mode: str) -> dict[str, dict[str, Any]]:
        left, right = self._score.astype(int).tolist()
        infos = {}
        for agent, player in self._players.items():
            score = (left, right) if player.side == "left" else (right, left)
            infos[agent] = {"score": score, "play_mode": mode}
        return infos

    def motor_actions(self, agent: str, action: NDArray[np.float32]) -> list[MotorAction]:
        """The protocol's commands for an action, as they are given to the motors."""
        commands = self.game._native.motor_commands(self._players[agent]._id, np.asarray(action, float).tolist())
        return [MotorAction(*command) for command in commands]

    def render(self) -> NDArray[np.uint8] | None:
        """The whole field, if ``render_mode`` is ``rgb_array``."""
        return self.game.render() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Completes a recording, and frees the game."""
        self.game.close()


def parallel_env(**options: Any) -> SoccerEnv:
    """A :class:`SoccerEnv`."""
    return SoccerEnv(**options)
