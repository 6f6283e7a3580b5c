"""RoboCup's MuJoCo soccer league in process: the managed simulation of the league's agent protocol.

The game and its referee run in this process, and players join, perceive and act as they do over the network. Perceptions and
actions are data objects with the names of the protocol. Time passes only in ``Game.step``; the same seed and the same actions give
the same game here and on the agents' port of ``rossum soccer``, bit for bit.

::

    from rossum_sim.soccer import BeamAction, Game, MotorAction

    with Game(seed=7) as game:
        striker = game.join("Reds", 9, model="T1")
        striker.act(BeamAction(-0.5, 0, 0))
        game.step()
        game.kick_off("left")
        for _ in range(500):
            perception = striker.perception
            striker.act(MotorAction("he1", q=20, kp=5, kd=0.1))
            game.step()

Lengths are in m and angles in deg, as in the protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._native import SoccerGame

__all__ = [
    "AccelerometerPerception",
    "Action",
    "AgentDetection",
    "BeamAction",
    "Detection",
    "Field",
    "Foul",
    "Game",
    "GameState",
    "GameStatePerception",
    "GyroPerception",
    "HearPerception",
    "HeardMessage",
    "JointStatePerception",
    "MotorAction",
    "Motion",
    "ObjectDetection",
    "OrientationPerception",
    "Perception",
    "Player",
    "PositionPerception",
    "SayAction",
    "TimePerception",
    "TouchPerception",
    "VisionPerception",
]

Side = Literal["left", "right"]


class TimePerception(NamedTuple):
    """The simulated time."""

    name: str
    time: float
    """Since the start of the game, in s."""


class GameStatePerception(NamedTuple):
    """The state of the game, as players are told it."""

    name: str
    play_time: float
    """In s."""
    play_mode: str
    team_left: str | None
    """Once the team has a player."""
    team_right: str | None
    score_left: int
    score_right: int


class OrientationPerception(NamedTuple):
    """Orientation of a part of the robot in the world, as a quaternion."""

    name: str
    qw: float
    qx: float
    qy: float
    qz: float


class PositionPerception(NamedTuple):
    """Position of a part of the robot in the world, in m."""

    name: str
    x: float
    y: float
    z: float


class GyroPerception(NamedTuple):
    """Angular velocity about the axes of a sensor, in deg/s."""

    name: str
    rx: float
    ry: float
    rz: float


class AccelerometerPerception(NamedTuple):
    """Acceleration along the axes of a sensor, in m/s²; 9.81 upwards at rest."""

    name: str
    ax: float
    ay: float
    az: float


class TouchPerception(NamedTuple):
    """A bumper."""

    name: str
    active: int
    """1 in contact, 0 otherwise."""


class JointStatePerception(NamedTuple):
    """All joints of the robot."""

    name: str
    names: tuple[str, ...]
    axs: tuple[float, ...]
    """Angles, in deg."""
    vxs: tuple[float, ...]
    """Velocities, in deg/s."""


class HeardMessage(NamedTuple):
    """A message that another player has said."""

    azimuth: int
    """Direction of the speaker, to the left of straight ahead, in deg."""
    message: bytes


class HearPerception(NamedTuple):
    """What the player hears in a cycle. Empty if somebody spoke, but nothing was understood."""

    name: str
    messages: tuple[HeardMessage, ...]


class ObjectDetection(NamedTuple):
    """A landmark, the ball (``B``), or a visible part of a player."""

    name: str
    distance: float
    """From the camera, in m."""
    azimuth: float
    """To the left, in deg."""
    elevation: float
    """Upwards, in deg."""


class AgentDetection(NamedTuple):
    """A player that is seen."""

    name: str
    team_name: str
    player_no: int
    body_detections: tuple[ObjectDetection, ...]


Detection = ObjectDetection | AgentDetection


class VisionPerception(NamedTuple):
    """The picture of the camera: landmarks, then the ball, then players."""

    name: str
    detections: tuple[Detection, ...]


class Perception(NamedTuple):
    """Everything that a player perceives in one cycle."""

    time: TimePerception
    game_state: GameStatePerception
    orientations: tuple[OrientationPerception, ...]
    positions: tuple[PositionPerception, ...]
    gyros: tuple[GyroPerception, ...]
    accelerometers: tuple[AccelerometerPerception, ...]
    touches: tuple[TouchPerception, ...]
    joints: JointStatePerception
    hear: HearPerception | None
    """``None`` if nobody spoke."""
    see: VisionPerception | None
    """Every second cycle."""

    @property
    def orientation(self) -> OrientationPerception:
        """The first orientation: that of the torso."""
        return self.orientations[0]

    @property
    def position(self) -> PositionPerception:
        """The first position: that of the torso."""
        return self.positions[0]

    @property
    def gyro(self) -> GyroPerception:
        """The first gyroscope: that of the torso."""
        return self.gyros[0]

    @property
    def accelerometer(self) -> AccelerometerPerception:
        """The first accelerometer: that of the torso."""
        return self.accelerometers[0]


class MotorAction(NamedTuple):
    """Drives a joint with the torque ``kp (q - q_now) + kd (dq - dq_now) + tau``, until replaced."""

    name: str
    q: float = 0.0
    """In deg."""
    dq: float = 0.0
    """In deg/s."""
    kp: float = 0.0
    """In N m/rad."""
    kd: float = 0.0
    """In N m s/rad."""
    tau: float = 0.0
    """In N m."""


class BeamAction(NamedTuple):
    """Moves the robot before the kick-off and after goals, as seen by the left team."""

    x: float
    y: float
    theta: float = 0.0
    """Heading, in deg; 0 faces the opponents' goal."""
    name: str = "beam"


class SayAction(NamedTuple):
    """Says a message to everybody in earshot. More than 10 bytes are heard, but not understood."""

    message: str | bytes
    volume: float = 100.0
    """0 to 100."""


Action = MotorAction | BeamAction | SayAction


class Foul(NamedTuple):
    """A foul that the referee has called."""

    name: str
    side: str
    player_no: int


class GameState(NamedTuple):
    """The state of the game as it is."""

    play_time: float
    """In s."""
    play_mode: str
    team_left: str | None
    team_right: str | None
    score_left: int
    score_right: int
    half: int
    """1 or 2."""
    seed: int
    fouls: tuple[Foul, ...]
    """Those of the last cycle."""


class Field(NamedTuple):
    """Measures of a field, in m. Its centre is the origin, and the left team defends the goal at negative x."""

    name: str
    length: float
    width: float
    goal_depth: float
    goal_width: float
    goal_height: float
    circle_radius: float
    border: float


class Motion(NamedTuple):
    """Where bodies are and how they move, in m, m/s and rad/s in the frame of the world: a row for each."""

    positions: NDArray[np.float64]
    orientations: NDArray[np.float64]
    """Quaternions, w first."""
    velocities: NDArray[np.float64]
    angular_velocities: NDArray[np.float64]


_FOULS = (
    "crowding",
    "touching",
    "illegal defence",
    "illegal attack",
    "incapable",
    "kick-off",
    "charging",
    "self-collision",
    "ball holding",
    "double touch",
    "hand",
)


def _perception(parts: tuple[Any, ...]) -> Perception:
    """Gives the parts of a perception their names."""
    time, game, orientations, positions, gyros, accelerometers, touches, (names, axs, vxs), heard, seen = parts
    return Perception(
        TimePerception("now", time),
        GameStatePerception("GS", *game),
        tuple(OrientationPerception(name, *numbers) for name, numbers in orientations),
        tuple(PositionPerception(name, *numbers) for name, numbers in positions),
        tuple(GyroPerception(name, *numbers) for name, numbers in gyros),
        tuple(AccelerometerPerception(name, *numbers) for name, numbers in accelerometers),
        tuple(map(TouchPerception._make, touches)),
        JointStatePerception("joints", tuple(names), tuple(axs), tuple(vxs)),
        None if heard is None else HearPerception("hear", tuple(map(HeardMessage._make, heard))),
        None if seen is None else _vision(*seen),
    )


def _vision(points: list[Any], players: list[Any]) -> VisionPerception:
    detections: list[Detection] = [ObjectDetection._make(point) for point in points]
    for team, number, markers in players:
        detections.append(AgentDetection("P", team, number, tuple(map(ObjectDetection._make, markers))))
    return VisionPerception("camera", tuple(detections))


class Player:
    """A player of a game. ``Game.join`` makes them."""

    __slots__ = ("_game", "_id", "_perception", "model", "motors", "number", "side", "team")

    model: str
    """Name of its robot."""
    motors: tuple[str, ...]
    """Names of its motors."""
    number: int
    side: str
    """``left`` or ``right``. The first team that joins is the left one."""
    team: str

    def __init__(self, game: Game, identity: int, team: str, number: int, model: str) -> None:
        self._game = game
        self._id = identity
        self._perception: Perception | None = None
        self.team = team
        self.number = number
        self.model = model
        self.side = game._native.side(identity)
        self.motors = tuple(game._native.motors(identity))

    @property
    def perception(self) -> Perception | None:
        """What it has perceived last; ``None`` before its first cycle if the game is not sequential."""
        return self._perception

    def act(self, *actions: Action) -> None:
        """Adds actions to its message of the next cycle. Of several beams or says in a cycle the last one counts; motors keep
        what they were told."""
        motors: list[MotorAction] = []
        beam: tuple[float, float, float] | None = None
        say: tuple[float, bytes] | None = None
        for action in actions:
            if isinstance(action, MotorAction):
                motors.append(action)
            elif isinstance(action, BeamAction):
                beam = (action.x, action.y, action.theta)
            elif isinstance(action, SayAction):
                message = action.message
                say = (action.volume, message.encode() if isinstance(message, str) else message)
            else:
                raise TypeError(f"{action!r} is no action: expected MotorAction, BeamAction or SayAction")
        self._game._native.act(self._id, motors, beam, say)

    def leave(self) -> None:
        """Leaves the game. Its robot is removed before the next cycle."""
        self._game._native.leave(self._id)
        del self._game._players[self._id]

    def __repr__(self) -> str:
        return f"<Player {self.team} {self.number} ({self.model})>"


class Game:
    """A soccer game. The options are those of ``rossum soccer``.

    ``sequential=False`` gives perceptions the league's usual delay of one cycle. Without a ``referee``, only the methods of this class
    change the play mode and place players. With ``record``, ``rossum replay --verify`` repeats everything that was done.
    """

    def __init__(
        self,
        rules: str = "ssim",
        *,
        field: str | None = None,
        phase: int = 0,
        time: float | None = None,
        seed: int = 1,
        sequential: bool = True,
        vision: Literal["ideal", "noisy"] = "ideal",
        dialect: Literal["reference", "document"] = "reference",
        referee: bool = True,
        models: str | PathLike[str] | None = None,
        record: str | PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        self._native = SoccerGame(
            rules=rules,
            field=field,
            phase=phase,
            time=time,
            seed=seed,
            sequential=sequential,
            vision=vision,
            dialect=dialect,
            referee=referee,
            models=None if models is None else fspath(models),
            record=None if record is None else fspath(record),
            overwrite=overwrite,
        )
        self._players: dict[int, Player] = {}
        name, measures = self._native.field()
        self.field = Field(name, *measures)

    # --- players ---

    @property
    def players(self) -> list[Player]:
        """The players, in the order of joining."""
        return list(self._players.values())

    def join(self, team: str, number: int, model: str = "T1") -> Player:
        """Lets a player join beside the field, as the protocol's ``init`` does.

        :raises RossumError: if the model is unknown, the number is taken, the team is full, or two other teams are playing.
        """
        identity = self._native.join(model, team, number)
        player = Player(self, identity, team, number, model)
        self._players[identity] = player
        for other, parts in self._native.perceptions():
            if other == identity:
                player._perception = _perception(parts)
        return player

    # --- time ---

    def step(self, cycles: int = 1) -> dict[Player, Perception]:
        """Takes cycles of 20 ms. Returns what each player perceives in the last one.

        :raises RossumError: if the simulation fails, or the game refuses an action. The cycle is complete in the latter case.
        """
        try:
            self._native.step(cycles)
        finally:
            perceptions = self._perceive()
        return perceptions

    def reset(self, seed: int | None = None) -> dict[Player, Perception]:
        """Starts the game again, with its players where they joined; without a seed, with the same one. Returns what each player
        perceives, unless the game is not sequential: then the first cycle begins with it."""
        self._native.reset(seed)
        return self._perceive()

    def _perceive(self) -> dict[Player, Perception]:
        perceptions = {}
        for player in self._players.values():
            player._perception = None
        for identity, parts in self._native.perceptions():
            player = self._players[identity]
            player._perception = perceptions[player] = _perception(parts)
        return perceptions

    @property
    def time(self) -> float:
        """Simulated time since the last reset, in s."""
        return self._native.time()

    @property
    def ticks(self) -> int:
        """Cycles since the game was created."""
        return self._native.ticks()

    # --- commands of trainers: each is carried out at the end of the next cycle, before the referee ---

    def kick_off(self, side: Side | None = None) -> None:
        """Kick-off for a side; without one, a coin is tossed."""
        self._native.kick_off(side)

    def drop_ball(self) -> None:
        """Continues play with the ball where it is."""
        self._native.drop_ball()

    def place_ball(self, position: Sequence[float], velocity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        """Moves the ball to a position, in m, with a velocity, in m/s."""
        self._native.place_ball(position, velocity)

    def place_player(
        self,
        player: Player,
        position: Sequence[float] | None = None,
        *,
        heading: float = 0.0,
        orientation: Sequence[float] | None = None,
        joints: Mapping[str, float] | Iterable[tuple[str, float]] = (),
    ) -> None:
        """Places the torso of a player upright with this heading, in deg, or with an orientation as a quaternion, w first. Joints
        are given by their motors, in deg; if the player is moved, the others go to 0."""
        pose = None
        if position is not None:
            half = np.radians(heading) / 2
            pose = (position, (np.cos(half), 0.0, 0.0, np.sin(half)) if orientation is None else orientation)
        self._native.place_player(player._id, pose, list(dict(joints).items()))

    def set_play_mode(self, mode: str) -> None:
        """Enters a play mode as if the referee had called it."""
        self._native.set_play_mode(mode)

    # --- the game as it is ---

    @property
    def state(self) -> GameState:
        """The state of the game."""
        time, mode, teams, score, half, seed, fouls = self._native.state()
        calls = tuple(Foul(_FOULS[kind], side, number) for kind, side, number in fouls)
        return GameState(time, mode, *teams, *score, half, seed, calls)

    @property
    def ball(self) -> Motion:
        """Pose and velocity of the ball: one row."""
        return self._motion([])[0]

    def motion(self, players: Iterable[Player] | None = None) -> Motion:
        """Poses and velocities of the torsos of players, all by default."""
        return self._motion([player._id for player in (self.players if players is None else players)])[1]

    def _motion(self, identities: list[int]) -> tuple[Motion, Motion]:
        poses, velocities = self._native.motions(identities)
        rows = (poses[:, :3], poses[:, 3:], velocities[:, :3], velocities[:, 3:])
        return Motion(*(row[:1] for row in rows)), Motion(*(row[1:] for row in rows))

    @property
    def state_hash(self) -> int:
        """Hash of the world's state: equal for equal states, bit for bit."""
        return self._native.state_hash()

    def render(
        self,
        width: int = 640,
        height: int = 480,
        *,
        eye: Sequence[float] | None = None,
        target: Sequence[float] | None = None,
        fov: float = 45.0,
    ) -> NDArray[np.uint8]:
        """Renders an image: height x width x 3 bytes, RGB. The camera is at ``eye`` and looks at ``target``, in m; by default it
        shows the whole field from the lower touch line."""
        if eye is None:
            eye = (0.0, -1.2 * self.field.width, 0.7 * self.field.width)
        return self._native.render(width, height, eye, (0.0, 0.0, 0.0) if target is None else target, fov)

    def close(self) -> None:
        """Completes the recording, and frees the game."""
        self._native.close()

    def __enter__(self) -> Game:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
