"""RoboCup's MuJoCo soccer league over the network: players, and monitors that watch and train.

Perceptions and actions are the data objects of the managed simulation, ``rossum_sim.soccer``. What chooses actions from perceptions
plays in process and over the network unchanged; with the same seed and actions both perceive the same, bit for bit.

>>> from rossum_sim.soccer import MotorAction
>>> with Agent("Reds", 9, port=60000) as striker:  # rossum soccer --sequential
...     perception = striker.step()
...     while perception.game_state.play_mode != "GameOver":
...         striker.act(MotorAction("he1", q=-0.1 * perception.gyro.rz, kp=5, kd=0.1))
...         perception = striker.step()
"""

from __future__ import annotations

import math
import struct
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from ..soccer import (
    AccelerometerPerception,
    Action,
    AgentDetection,
    BeamAction,
    Detection,
    GameStatePerception,
    GyroPerception,
    HeardMessage,
    HearPerception,
    JointStatePerception,
    MotorAction,
    ObjectDetection,
    OrientationPerception,
    Perception,
    PositionPerception,
    SayAction,
    TimePerception,
    TouchPerception,
    VisionPerception,
)
from ._lists import integer, number, parse, word
from ._scene import Pose, Scene, Update
from ._stream import Stream

__all__ = ["Agent", "Monitor", "Pose", "SoccerError", "Update"]

Dialect = Literal["reference", "document"]

_MAX_FRAME = 64 * 1024
_MAX_DEPTH = 16
_MAX_UPDATE_FRAME = 4 * 1024 * 1024
_MAX_EFFECTORS = 512
# what a list of nonsense raises when it is taken apart
_MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)
_SIDES = ("left", "right")
# of a message in sync mode
_END = b"(syn)"


class SoccerError(ConnectionError):
    """The connection failed, or the server has sent something that is no message of the protocol."""


class _Frames:
    """Texts, each after its length."""

    def __init__(self, host: str, port: int, timeout: float | None, limit: int) -> None:
        self._stream = Stream(host, port, timeout, SoccerError)
        self._limit = limit

    def send(self, data: bytes) -> None:
        self._stream.send(struct.pack(">I", len(data)) + data)

    def receive(self) -> str:
        try:
            return self._stream.receive(self._length)[4:].decode()
        except UnicodeDecodeError as cause:
            raise self.invalid("message", cause) from cause

    def _length(self, received: bytearray) -> int:
        if len(received) < 4:
            return 0
        (length,) = struct.unpack_from(">I", received)
        if length > self._limit:
            raise self.failed(f"the server announces a message of {length} bytes; the largest has {self._limit}")
        return 4 + length if len(received) >= 4 + length else 0

    def invalid(self, what: str, cause: Exception) -> ConnectionError:
        return self.failed(f"the server has sent an invalid {what}: {cause!r}")

    def failed(self, reason: str) -> ConnectionError:
        return self._stream.failed(reason)

    def close(self) -> None:
        self._stream.close()


# --- perceptions and actions -------------------------------------------------------------------------------------------


def _perception(text: str, dialect: Dialect) -> Perception:
    found: dict[str, list[list[Any]]] = {}
    for kind, *rest in parse(text, _MAX_DEPTH):
        found.setdefault(kind, []).append(rest)
    [[[clock, now]]] = found["time"]
    [state] = found["GS"]
    game = dict(state)
    joints = found.get("HJ", [])
    prefix = "q_" if dialect == "reference" else ""
    return Perception(
        TimePerception(word(clock), number(now)),
        GameStatePerception(
            "GS",
            number(game["t"]),
            word(game["pm"]),
            word(game["tl"]) if "tl" in game else None,
            word(game["tr"]) if "tr" in game else None,
            integer(game["sl"]),
            integer(game["sr"]),
        ),
        _named(OrientationPerception, found.get("quat", [])),
        _named(PositionPerception, found.get("pos", [])),
        _named(GyroPerception, found.get("GYR", [])),
        _named(AccelerometerPerception, found.get("ACC", [])),
        tuple(TouchPerception(word(name), int(integer(active) != 0)) for _, name, _, active in found.get("TCH", [])),
        JointStatePerception(
            "joints",
            tuple(word(name).removeprefix(prefix) for (_, name), _, _ in joints),
            tuple(number(angle) for _, (_, angle), _ in joints),
            tuple(number(velocity) for _, _, (_, velocity) in joints),
        ),
        _heard(*found["MIC"]) if "MIC" in found else None,
        _seen(*found["See"], dialect=dialect) if "See" in found else None,
    )


T = TypeVar("T")


def _named(kind: type[T], sensors: list[list[Any]]) -> tuple[T, ...]:
    return tuple(kind(word(name), *map(number, numbers)) for (_, name), (_, *numbers) in sensors)


def _heard(message: list[Any]) -> HearPerception:
    name, *messages = message
    heard = (HeardMessage(integer(azimuth), b64decode(text, validate=True)) for azimuth, text in messages)
    return HearPerception(word(name), tuple(heard))


def _seen(items: list[Any], *, dialect: Dialect) -> VisionPerception:
    def point(name: str, polar: list[str]) -> ObjectDetection:
        one, two, three = map(number, polar[1:])
        # distance, azimuth and elevation; the document has the distance last
        return ObjectDetection(word(name), *((one, two, three) if dialect == "reference" else (three, one, two)))

    detections: list[Detection] = []
    for name, *rest in items:
        if name == "P":
            (_, team), (_, player), *markers = rest
            parts = tuple(point(*marker) for marker in markers)
            detections.append(AgentDetection("P", word(team), integer(player), parts))
        else:
            [polar] = rest
            detections.append(point(name, polar))
    return VisionPerception("camera", tuple(detections))


def _numbers(name: str, *values: float) -> str:
    """A list of a name and numbers."""
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"a number of `{name}` is not finite")
    return f"({word(name)} {' '.join(map(repr, numbers))})"


def _effector(action: Action) -> str:
    if isinstance(action, MotorAction):
        if action.name in ("SPK", "syn"):
            raise ValueError(f"no motor can be named `{action.name}`")
        return _numbers(*action)
    if isinstance(action, BeamAction):
        return _numbers("beam", action.x, action.y, action.theta)
    if isinstance(action, SayAction):
        message = action.message.encode() if isinstance(action.message, str) else action.message
        if not message:
            raise ValueError("a message has at least one byte")
        if not 0.0 <= action.volume <= 100.0:
            raise ValueError(f"volume {action.volume} is out of range 0 to 100")
        return f"(SPK say {float(action.volume)!r} {b64encode(message).decode()})"
    raise TypeError(f"{action!r} is no action: expected MotorAction, BeamAction or SayAction")


# --- players -----------------------------------------------------------------------------------------------------------


class Agent:
    """A player of a game on a server.

    It joins when it is created; the first ``perceive`` fails if the server has refused it. ``step`` is enough for a program with
    one player. With several in a program, all of them ``send``, and then all of them ``perceive``: a server in sync mode waits for
    each.

    ``dialect`` is that of the server, ``timeout`` limits in seconds how long it may take to answer; ``None`` is without a limit.
    """

    model: str
    """Name of its robot."""
    number: int
    team: str

    def __init__(
        self,
        team: str,
        number: int,
        model: str = "T1",
        *,
        host: str = "127.0.0.1",
        port: int = 60_000,
        dialect: Dialect = "reference",
        timeout: float | None = 10.0,
    ) -> None:
        if dialect not in ("reference", "document"):
            raise ValueError(f"unknown dialect {dialect!r}; available: reference, document")
        if not 0 <= number <= 99:
            raise ValueError(f"player number {number} is out of range 0 to 99")
        init = f"(init {word(model)} {word(team)} {number})"
        self.team, self.number, self.model = team, number, model
        self._dialect: Dialect = dialect
        self._pending: list[bytes] = []
        self._perception: Perception | None = None
        self._frames = _Frames(host, port, timeout, _MAX_FRAME)
        self._frames.send(init.encode())

    @property
    def perception(self) -> Perception | None:
        """What it has perceived last; ``None`` before its first cycle."""
        return self._perception

    @property
    def side(self) -> str | None:
        """``left`` or ``right``; ``None`` before its first cycle. The first team that joins is the left one."""
        if self._perception is None:
            return None
        state = self._perception.game_state
        return next((side for side in _SIDES if getattr(state, f"team_{side}") == self.team), None)

    def act(self, *actions: Action) -> None:
        """Adds actions to its next message. Of several beams or says in a message the last one counts; motors keep what they were
        told. Nothing is added if an action is invalid. The server ignores motors that the robot does not have."""
        effectors = self._pending + [_effector(action).encode() for action in actions]
        if len(effectors) >= _MAX_EFFECTORS:
            raise ValueError(f"a message has at most {_MAX_EFFECTORS} effectors, of which the last one ends it")
        if sum(map(len, effectors)) + len(_END) > _MAX_FRAME:
            raise ValueError(f"a message has at most {_MAX_FRAME} bytes")
        self._pending = effectors

    def send(self) -> None:
        """Sends the message of this cycle, which may be empty. Before the first perception there is nothing to answer, and nothing
        is sent."""
        if self._perception is None:
            return
        effectors, self._pending = self._pending, []
        self._frames.send(b"".join([*effectors, _END]))

    def perceive(self) -> Perception:
        """Waits for the perception of the next cycle.

        :raises SoccerError: if the server closes the connection, is silent, or sends nonsense.
        """
        text = self._frames.receive()
        try:
            self._perception = _perception(text, self._dialect)
        except _MALFORMED as cause:
            raise self._frames.invalid("perception", cause) from cause
        return self._perception

    def step(self) -> Perception:
        """Sends the message of this cycle, and waits for the next perception."""
        self.send()
        return self.perceive()

    def close(self) -> None:
        """Leaves the game."""
        self._frames.close()

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Agent {self.team} {self.number} ({self.model})>"


# --- monitors ----------------------------------------------------------------------------------------------------------


class Monitor:
    """A monitor, which watches a game, or a trainer, which also gives commands.

    A server has an update for monitors in every second cycle. Commands return once the server has received them; all but ``reset``,
    ``pause`` and ``resume`` are carried out at the end of the next cycle, before the referee. Acknowledgements are Rossum's: the
    league's own server has none.
    """

    def __init__(self, *, host: str = "127.0.0.1", port: int = 60_001, timeout: float | None = 10.0) -> None:
        self._frames = _Frames(host, port, timeout, _MAX_UPDATE_FRAME)
        self._timeout = timeout
        self._scene = Scene()
        self._asked = self._acknowledged = 0

    @property
    def latest(self) -> Update | None:
        """The last update; ``None`` before the first one."""
        return self._scene.latest if self._scene.updates else None

    def update(self) -> Update:
        """Waits for the next update.

        :raises SoccerError: if the server closes the connection, is silent, or sends nonsense.
        """
        before = self._scene.updates
        self._await("update", lambda: self._scene.updates > before)
        return self._scene.latest

    def refresh(self) -> Update:
        """Asks for an update, which is sent even if the world stands still."""
        self._frames.send(b"(reqfullstate)")
        before = self._scene.complete_updates
        self._await("complete update", lambda: self._scene.complete_updates > before)
        return self._scene.latest

    def command(self, *commands: str) -> None:
        """Sends commands, such as ``(kickOff Left)``, and waits until the server has received them. Updates that arrive meanwhile
        are not lost: ``latest`` has the last one."""
        self._asked += 1
        self._frames.send(f"{''.join(commands)}(ack {self._asked})".encode())
        self._await("acknowledgement", lambda: self._acknowledged == self._asked)

    # --- trainers ---

    def kick_off(self, side: Literal["left", "right"] | None = None) -> None:
        """Kick-off for a side; without one, a coin is tossed."""
        if side not in (*_SIDES, None):
            raise ValueError(f"unknown side {side!r}; available: left, right")
        self.command("(kickOff)" if side is None else f"(kickOff {side.capitalize()})")

    def drop_ball(self) -> None:
        """Continues play with the ball where it is."""
        self.command("(dropBall)")

    def place_ball(self, position: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Moves the ball to a position, in m, with a velocity, in m/s."""
        (x, y, z), (vx, vy, vz) = position, velocity
        self.command(f"(ball {_numbers('pos', x, y, z)}{_numbers('vel', vx, vy, vz)})")

    def place_player(
        self,
        team: str,
        number: int,
        position: Sequence[float] | None = None,
        *,
        heading: float = 0.0,
        orientation: Sequence[float] | None = None,
        joints: Mapping[str, float] | Iterable[tuple[str, float]] = (),
    ) -> None:
        """Places the torso of a player upright with this heading, in deg, or with an orientation as a quaternion, w first. Joints
        are given by their motors, in deg; if the player is moved, the others go to 0."""
        parts = [f"(unum {int(number)})(team {word(team)})"]
        if position is not None:
            x, y, z = position
            if orientation is None:
                parts.append(_numbers("move", x, y, z, heading))
            else:
                qw, qx, qy, qz = orientation
                parts.append(_numbers("move3d", x, y, z, qw, qx, qy, qz))
        angles = [_numbers(name, angle) for name, angle in dict(joints).items()]
        if angles:
            parts.append(f"(joints {''.join(angles)})")
        self.command(f"(agent {''.join(parts)})")

    def set_play_mode(self, mode: str) -> None:
        """Enters a play mode as if the referee had called it."""
        self.command(f"(playMode {word(mode)})")

    def reset(self, seed: int | None = None) -> None:
        """Starts the game again, with its players where they joined; without a seed, with the same one."""
        self.command("(reset)" if seed is None else f"(reset {int(seed)})")

    def pause(self) -> None:
        """Pauses the world."""
        self.command("(pause)")

    def resume(self) -> None:
        """Resumes the world."""
        self.command("(resume)")

    def close(self) -> None:
        """Disconnects."""
        self._frames.close()

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _await(self, what: str, has_arrived: Callable[[], bool]) -> None:
        until = None if self._timeout is None else time.monotonic() + self._timeout
        while not has_arrived():
            if until is not None and time.monotonic() > until:
                raise self._frames.failed(f"no {what} from the server for {self._timeout} s")
            self._receive()

    def _receive(self) -> None:
        text = self._frames.receive()
        try:
            if text.startswith("(ack "):
                [[_, acknowledged]] = parse(text, 1)
                self._acknowledged = integer(acknowledged)
            else:
                self._scene.apply(text)
        except _MALFORMED as cause:
            raise self._frames.invalid("message", cause) from cause
