"""Evolving robots over the network: the three programs of the protocol speak through two connections.

A Population Manager sends individuals to a Robot Simulator, and gets their fitness:

>>> from rossum_sim.evolution import Search
>>> with RobotSimulator(port=7720) as simulator:  # rossum robot platine --in-process obstacles
...     search = Search("cma-es", simulator.parameters.to_json(), population=20)
...     for generation in range(1, 31):
...         individuals = search.ask()
...         search.tell(simulator.evaluate(individuals, generation))

A Robot Simulator lets its robots move and sense in a World Simulator:

>>> with WorldSimulator(port=7770) as world:  # rossum world obstacles
...     robot = world.create([Layer(40, [[(-30, 40), (30, 40), (30, -40), (-30, -40)]])])
...     x, y, z, direction, *_ = robot.position
...     [ahead] = robot.see([Beam(x, y, z + 20, direction, 0, 0.35, 0.35)])
...     robot.move_to(x + 8, y, direction)

Lengths are in mm, angles in rad, counter-clockwise from the world's x axis; robots point along their own y axis.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._native import Genotype
from ._stream import Stream

__all__ = [
    "Beam",
    "EvoError",
    "Fitness",
    "Layer",
    "NetParameters",
    "Position",
    "Robot",
    "RobotSimulator",
    "Sight",
    "WorldSimulator",
]

# of an answer; the longest one is that of the net parameters
_MAX_LINE = 16 * 1024
_MAX_COUNT = 1_048_576
_MAX_VALUES = 2_097_152
# of requests that are sent together, so that full buffers cannot block both sides
_MAX_PIECE = 16 * 1024
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class EvoError(ConnectionError):
    """The connection failed, or the server has sent something that is no answer."""


# --- data --------------------------------------------------------------------------------------------------------------


class NetParameters(NamedTuple):
    """The nets that a Robot Simulator can test. The names are the document's, in lower case."""

    cci: int
    """Individuals that may be evaluated concurrently."""
    cgp: int
    """Global parameters, and their limits."""
    lgp: float
    hgp: float
    cin: int
    """Input neurons, parameters of each, and their limits."""
    vin: int
    lin: float
    hin: float
    con: int
    """Output neurons."""
    von: int
    lon: float
    hon: float
    cihn: int
    """Least and largest number of hidden neurons."""
    cahn: int
    vhn: int
    lhn: float
    hhn: float
    vw: int
    """Parameters of a weight."""
    lw: float
    hw: float
    fio: int
    """0 if there are no weights from input to output neurons."""
    fre: int
    """0 if nothing is recurrent."""

    def limits(self, hidden: int | None = None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest values of an individual with so many hidden neurons, by default the least number."""
        hidden = self.cihn if hidden is None else hidden
        if not self.cihn <= hidden <= self.cahn:
            raise ValueError(f"{hidden} hidden neurons are out of range {self.cihn} to {self.cahn}")
        weights = (self.cin + hidden + self.con) * (hidden + self.con) * self.vw
        groups = [
            (self.cgp, self.lgp, self.hgp),
            (self.cin * self.vin, self.lin, self.hin),
            (self.con * self.von, self.lon, self.hon),
            (hidden * self.vhn, self.lhn, self.hhn),
            (weights, self.lw, self.hw),
        ]
        counts = [count for count, _, _ in groups]
        if sum(counts) > _MAX_VALUES:
            raise ValueError(f"an individual with {sum(counts)} values is too long")
        return np.repeat([low for _, low, _ in groups], counts), np.repeat([high for _, _, high in groups], counts)

    def to_json(self) -> str:
        """As JSON, for ``rossum_sim.evolution.Search``."""

        def genes(values: int, low: float, high: float) -> dict[str, float]:
            return {"values": values, "low": low, "high": high}

        fields = {
            "concurrent": self.cci,
            "globals": genes(self.cgp, self.lgp, self.hgp),
            "inputs": self.cin,
            "input": genes(self.vin, self.lin, self.hin),
            "outputs": self.con,
            "output": genes(self.von, self.lon, self.hon),
            "hidden_min": self.cihn,
            "hidden_max": self.cahn,
            "hidden": genes(self.vhn, self.lhn, self.hhn),
            "weight": genes(self.vw, self.lw, self.hw),
            "input_to_output": self.fio != 0,
            "recurrent": self.fre != 0,
        }
        return json.dumps(fields)


class Fitness(NamedTuple):
    """The result of an individual."""

    generation: int
    individual: int
    value: float
    """Higher is better."""


class Layer(NamedTuple):
    """A layer of a robot's body. Layers are stacked, from bottom to top."""

    height: float
    """Its thickness, in mm."""
    polygons: Sequence[Sequence[tuple[float, float]]]
    """Outlines, in mm; y is the direction of travel."""


class Position(NamedTuple):
    """Where a robot is."""

    x: float
    y: float
    z: float
    """Height of the ground below it, in mm."""
    direction: float
    tilt_ahead: float
    """Positive uphill, in rad."""
    tilt_across: float
    """Positive if its left side is up, in rad."""
    stress: float
    """Part of the last move that was blocked, 0 to 1."""
    is_dead: bool
    """Whether it is on deathly ground."""


class Beam(NamedTuple):
    """The beam of a sensor, in the frame of the world."""

    x: float
    y: float
    z: float
    direction: float
    tilt: float
    """Positive upwards."""
    width: float
    """Full opening angles."""
    height: float


class Sight(NamedTuple):
    """The nearest thing in a beam."""

    distance: float
    red: float
    """0 to 255."""
    green: float
    blue: float


# --- lines -------------------------------------------------------------------------------------------------------------


class _Lines:
    """Messages of a name and numbers, one on each line."""

    def __init__(self, host: str, port: int, timeout: float | None) -> None:
        self._stream = Stream(host, port, timeout, EvoError)

    def send(self, lines: Iterable[str]) -> None:
        self._stream.send("".join(f"{line}\r\n" for line in lines).encode())

    def receive(self, name: str) -> list[float]:
        """The numbers of the next message, which has this name."""
        line = self._stream.receive(self._length).decode("ascii", "replace")
        given, *words = line.split()
        if given != name:
            raise self.failed(f"the server has sent {given[:100]!r} instead of {name}")
        numbers = [float(word) if _NUMBER.fullmatch(word) else math.nan for word in words]
        if not all(map(math.isfinite, numbers)):
            raise self.failed(f"a value of {name} is not a number: {line[:100].strip()!r}")
        return numbers

    def _length(self, received: bytearray) -> int:
        # blank lines have no meaning
        del received[: len(received) - len(received.lstrip())]
        length = received.find(b"\n") + 1
        if (length or len(received)) > _MAX_LINE:
            raise self.failed(f"the server has sent a line of more than {_MAX_LINE} bytes")
        return length

    def failed(self, reason: str) -> ConnectionError:
        return self._stream.failed(reason)

    def close(self) -> None:
        self._stream.close()


def _line(name: str, *values: float) -> str:
    words = [name]
    for value in values:
        if not math.isfinite(value):
            raise ValueError(f"a value of {name} is not finite")
        words.append(str(value) if isinstance(value, int) else repr(float(value)))
    return " ".join(words)


# --- a Population Manager ----------------------------------------------------------------------------------------------


class RobotSimulator:
    """A Population Manager's connection to a Robot Simulator.

    ``timeout`` limits, in seconds, how long the next fitness may take; ``None`` is without a limit.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 7720, *, timeout: float | None = 120.0) -> None:
        self._lines = _Lines(host, port, timeout)
        self._lines.send([_line("SendNetParameters")])
        numbers = self._lines.receive("NetParameters")
        self.parameters = self._parameters(numbers)
        """The nets that it can test."""

    def _parameters(self, numbers: list[float]) -> NetParameters:
        limits = {"lgp", "hgp", "lin", "hin", "lon", "hon", "lhn", "hhn", "lw", "hw"}
        fields = NetParameters._fields
        if len(numbers) != len(fields):
            raise self._lines.failed(f"the server has sent {len(numbers)} net parameters instead of {len(fields)}")
        for name, value in zip(fields, numbers, strict=True):
            most = 1 if name in ("fio", "fre") else _MAX_COUNT
            if name not in limits and not (value.is_integer() and 0 <= value <= most):
                raise self._lines.failed(f"net parameter {name} is {value}: expected 0 to {most}")
        pairs = zip(fields, numbers, strict=True)
        parameters = NetParameters(*(value if name in limits else int(value) for name, value in pairs))
        if parameters.cci < 1 or parameters.con < 1 or parameters.cihn > parameters.cahn:
            raise self._lines.failed(f"the server has sent impossible net parameters: {parameters}")
        return parameters

    def send(self, generation: int, individual: int, values: Sequence[float], hidden: int | None = None) -> None:
        """Sends an individual for evaluation: its values in the document's order, and its number of hidden neurons, by default the
        least one. At most ``parameters.cci`` should be under way at a time."""
        hidden = self.parameters.cihn if hidden is None else hidden
        wanted = len(self.parameters.limits(hidden)[0])
        if len(values) != wanted:
            raise ValueError(f"an individual with {hidden} hidden neurons has {wanted} values, not {len(values)}")
        self._lines.send([_line("Individual", generation, individual, hidden, *values)])

    def receive(self) -> Fitness:
        """Waits for the next fitness. They arrive in the order in which evaluations end.

        :raises EvoError: if the server closes the connection, is silent, or sends nonsense.
        """
        numbers = self._lines.receive("Fitness")
        if len(numbers) != 3 or not all(number.is_integer() for number in numbers[:2]):
            raise self._lines.failed(f"the server has sent an invalid fitness: {numbers}")
        generation, individual, value = numbers
        return Fitness(int(generation), int(individual), value)

    def evaluate(
        self, individuals: Sequence[Genotype | Sequence[float]], generation: int = 1, *, hidden: int | None = None
    ) -> list[float]:
        """The fitness of individuals: those of ``rossum_sim.evolution``, or vectors of values. As many are under way at a time as
        the simulator allows."""
        fitness: dict[int, float] = {}
        sent = 0
        while len(fitness) < len(individuals):
            while sent < len(individuals) and sent - len(fitness) < self.parameters.cci:
                individual = individuals[sent]
                sent += 1
                if isinstance(individual, Genotype):
                    self.send(generation, sent, individual.values.tolist(), individual.hidden)
                else:
                    self.send(generation, sent, individual, hidden)
            answer = self.receive()
            is_known = answer.generation == generation and 1 <= answer.individual <= sent
            if not is_known or answer.individual in fitness:
                raise self._lines.failed(f"the server has sent a fitness that nobody has asked for: {answer}")
            fitness[answer.individual] = answer.value
        return [fitness[number] for number in range(1, len(individuals) + 1)]

    def close(self) -> None:
        """Disconnects. What is being evaluated is aborted."""
        self._lines.close()

    def __enter__(self) -> RobotSimulator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


# --- a Robot Simulator -------------------------------------------------------------------------------------------------


class WorldSimulator:
    """A Robot Simulator's connection to a World Simulator.

    With ``pipeline``, the readings of several sensors are requested together; Rossum's World Simulator allows it, others may not.
    ``timeout`` limits, in seconds, how long an answer may take; ``None`` is without a limit.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = 7770, *, pipeline: bool = False, timeout: float | None = 10.0
    ) -> None:
        self._lines = _Lines(host, port, timeout)
        self._piece = _MAX_PIECE if pipeline else 0

    def create(self, body: Sequence[Layer]) -> Robot:
        """Creates a robot with a body, which the world places somewhere.

        :raises EvoError: also if the world refuses the body; its log says why.
        """
        self._lines.send([_line("CreateRobot")])
        numbers = self._lines.receive("YourIdentifier")
        if len(numbers) != 1 or not (numbers[0].is_integer() and 1 <= numbers[0] <= 65_535):
            raise self._lines.failed(f"the server has sent an invalid identifier: {numbers}")
        return Robot(self, int(numbers[0]), body)

    def close(self) -> None:
        """Disconnects. The world removes the robots of this connection."""
        self._lines.close()

    def __enter__(self) -> WorldSimulator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _ask(self, robot: int, requests: Sequence[str], answer: str, count: int) -> list[list[float]]:
        """Sends requests; returns the numbers of their answers, without the robot's."""
        answers: list[list[float]] = []
        pending: list[str] = []
        for index, request in enumerate(requests):
            pending.append(request)
            if index + 1 < len(requests) and sum(map(len, pending)) < self._piece:
                continue
            self._lines.send(pending)
            for _ in pending:
                numbers = self._lines.receive(answer)
                if len(numbers) != 1 + count or numbers[0] != robot:
                    raise self._lines.failed(f"the server has sent an invalid {answer}: {numbers}")
                answers.append(numbers[1:])
            pending.clear()
        return answers


class Robot:
    """A robot in the world. ``WorldSimulator.create`` makes one."""

    def __init__(self, world: WorldSimulator, identifier: int, body: Sequence[Layer]) -> None:
        self.id = identifier
        self._world = world
        self.position = self.shape(body)
        """Where it is, as of its last move."""

    def shape(self, body: Sequence[Layer]) -> Position:
        """Changes its body. If the new one does not fit anywhere near, the old one stays, with a stress of 1."""
        values: list[float] = [self.id, len(body)]
        for height, polygons in body:
            values += [height, len(polygons)]
            for polygon in polygons:
                values.append(len(polygon))
                values += [coordinate for x, y in polygon for coordinate in (x, y)]
        return self._moved("BodyShape", *values)

    def jump_to(self, x: float, y: float, direction: float) -> Position:
        """Places it elsewhere. If there is no room, it stays, with a stress of 1."""
        return self._moved("JumpTo", self.id, x, y, direction)

    def move_to(self, x: float, y: float, direction: float) -> Position:
        """Moves it until it arrives or is blocked."""
        return self._moved("MoveTo", self.id, x, y, direction)

    def see(self, beams: Sequence[Beam]) -> list[Sight]:
        """Reads visual sensors."""
        requests = [_line("VisualSensor", self.id, *beam) for beam in beams]
        return [Sight(*answer) for answer in self._world._ask(self.id, requests, "VisualSensorReading", 4)]

    def hear(self, beams: Sequence[Beam]) -> list[float]:
        """Reads sonic sensors: distances."""
        requests = [_line("SonicSensor", self.id, *beam) for beam in beams]
        return [distance for (distance,) in self._world._ask(self.id, requests, "SonicSensorReading", 1)]

    def kill(self) -> None:
        """Removes it from the world."""
        self._world._lines.send([_line("KillRobot", self.id)])

    def _moved(self, name: str, *values: float) -> Position:
        [numbers] = self._world._ask(self.id, [_line(name, *values)], "YourPosition", 8)
        self.position = Position(*numbers[:-1], is_dead=numbers[-1] != 0)
        return self.position
