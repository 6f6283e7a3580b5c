"""ORCS Standard Protocol 1.1: lockstep, variables, events and resets over UDP.

>>> with Simulation("127.0.0.1", 45454) as simulation:
...     rover = simulation.control("Rover")
...     simulation.reset(seed=7)
...     while True:
...         step = rover.step([0.8, 0.6])
...         if "/Collision/Crash" in step.events:
...             break
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Agent", "OspError", "Simulation", "Step", "ValueInfo"]

_DATAGRAM = 65_536
_TRIES = 20


class OspError(ConnectionError):
    """The server refused a request, or does not answer any more."""


@dataclass(frozen=True)
class ValueInfo:
    """A variable, or an input, output or info of an agent."""

    id: int
    name: str


@dataclass(frozen=True)
class Step:
    """What followed from a step."""

    outputs: NDArray[np.float32]
    """What the agent senses, normalized."""
    infos: NDArray[np.float32]
    """What only its controller is told, normalized."""
    events: frozenset[str]
    """The subscribed events that occurred."""
    values: dict[str, str]
    """The observed variables, as text."""


class Simulation:
    """A connection to a server.

    A datagram that is lost is sent again; the server does nothing twice.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 45454, *, timeout: float = 0.5) -> None:
        self._number = 0
        self._events: dict[int, str] = {}
        self._observed: dict[int, str] = {}
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(timeout)
        for _ in range(6):
            self._socket.sendto(struct.pack("<Bii", 5, 1, 1), (host, port))
            try:
                # the answer comes from a port of our own, to which everything else goes
                _, address = self._socket.recvfrom(_DATAGRAM)
            except (TimeoutError, ConnectionRefusedError):
                continue
            self._socket.connect(address)
            return
        self._socket.close()
        raise OspError(f"no answer from {host}:{port}; start a server with a scenario that has [osp]")

    def agents(self) -> dict[str, int]:
        """Names and ids of all agents."""
        _, found = self._ask(bytes([90]), bytes([91]), 92, lambda head: _integer(head, 1))
        self._socket.send(bytes([93]))
        # an id, the robot's name and that of the agent, both zero-terminated
        return {_text(data, data.index(0, 9) + 2): _integer(data, 5) for data in found}

    def control(self, name: str) -> Agent:
        """Takes control of an agent, which the world then waits for in each step."""
        agents = self.agents()
        if name not in agents:
            raise OspError(f"no agent named {name}; available: {', '.join(sorted(agents)) or 'none'}")
        return Agent(self, name, agents[name])

    def variables(self, pattern: str = ".*") -> list[ValueInfo]:
        """The variables whose whole names match a regular expression."""
        request = bytes([40]) + pattern.encode() + b"\0"
        _, found = self._ask(request, bytes([41]), 43, lambda head: _integer(head, 1))
        values = [ValueInfo(_integer(data, 5), _text(data, data.index(0, 9) + 1)) for data in found]
        return sorted(values, key=lambda value: value.name)

    def variable(self, name: str) -> ValueInfo:
        """The variable of this name."""
        for value in self.variables(_escaped(name)):
            if value.name == name:
                return value
        raise OspError(f"no variable named {name}")

    def read(self, variable: ValueInfo) -> str:
        """The value of a variable, as text."""
        head, _ = self._ask(struct.pack("<Bi", 50, variable.id), struct.pack("<Bi", 51, variable.id))
        return _text(head, 5)

    def write(self, variable: ValueInfo, value: str) -> None:
        """Writes a variable, as text."""
        request = struct.pack("<Bi", 52, variable.id) + value.encode() + b"\0"
        head, _ = self._ask(request, struct.pack("<Bi", 53, variable.id))
        if len(head) > 5 and head[5] != 1:
            raise OspError(f"{variable.name} was not set to {value}")

    def observe(self, variables: Iterable[ValueInfo]) -> None:
        """Asks for values of variables after each step."""
        variables = list(variables)
        self._observed.update({variable.id: variable.name for variable in variables})
        ids = [variable.id for variable in variables]
        self._ask(struct.pack(f"<Bi{len(ids)}i", 54, len(ids), *ids), bytes([55]))

    def subscribe(self, event: str) -> None:
        """Asks for an event, which is reported after each step in which it occurs."""
        head, _ = self._ask(bytes([20]) + event.encode() + b"\0", bytes([21]))
        if _integer(head, 1) == 0:
            raise OspError(f"no event named {event}")
        self._events[_integer(head, 1)] = event

    def reset(self, seed: int = 0) -> None:
        """Returns the world to its start; 0 leaves the choice of the seed to the server."""
        self._ask(struct.pack("<Bi", 70, seed), bytes([76]), numbered=True)
        self._socket.send(bytes([75]))

    def close(self) -> None:
        """Disconnects, so that other clients can take the agents."""
        try:
            self._ask(bytes([7]), bytes([8]))
        except OspError:
            pass  # the server is gone already
        finally:
            self._socket.close()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _ask(
        self,
        request: bytes,
        answer: bytes,
        item: int = 0,
        count: Callable[[bytes], int] = lambda head: 0,
        *,
        numbered: bool = False,
    ) -> tuple[bytes, list[bytes]]:
        """Sends a request; returns the datagram that starts with `answer`, and the `count` items that follow it.

        Steps and resets have a number at the end, and so do their answers: a late copy does not pass for the next one.
        """
        self._number += 1
        end = b"NUM:" + struct.pack("<I", self._number & 0xFFFF_FFFF) if numbered else b""
        for _ in range(_TRIES):
            try:
                self._socket.send(request + end)
                head, wanted, items = b"", -1, {}
                while len(items) != wanted:
                    data = self._socket.recv(_DATAGRAM)
                    if data.startswith(answer) and data.endswith(end):
                        head, items, wanted = data, {}, count(data)
                    elif head and data[0] == item:
                        items[_integer(data, 1)] = data  # items start with an index or an id
                return head, list(items.values())
            except TimeoutError:
                continue
            except ConnectionRefusedError as error:
                raise OspError("the server is not there any more") from error
        raise OspError("the server does not answer any more")


class Agent:
    """An agent under control. ``Simulation.control`` makes one."""

    def __init__(self, simulation: Simulation, name: str, number: int) -> None:
        self.name = name
        self._simulation, self._id = simulation, number
        head, _ = simulation._ask(struct.pack("<Bi", 100, number), bytes([101]))
        if head[5] != 1:
            raise OspError(f"another client controls {name}")
        head, found = simulation._ask(
            struct.pack("<Bi", 95, number), bytes([96]), 98, lambda head: sum(struct.unpack_from("<3i", head, 5))
        )
        simulation._socket.send(bytes([97]))
        inputs, outputs, _ = struct.unpack_from("<3i", head, 5)
        names = [_text(data, 13) for data in sorted(found, key=lambda data: _integer(data, 1))]
        self.inputs = names[:inputs]
        """Names of its inputs, in the order of ``step``."""
        self.outputs = names[inputs : inputs + outputs]
        """Names of its outputs."""
        self.infos = names[inputs + outputs :]
        """Names of its infos."""

    def step(self, inputs: ArrayLike) -> Step:
        """Sets the inputs, normalized, and takes a step."""
        numbers: Sequence[float] = np.asarray(inputs, dtype=np.float32).tolist()
        request = struct.pack(f"<Bii{len(numbers)}f", 80, self._id, len(numbers), *numbers)
        answer = struct.pack("<Bi", 85, self._id)
        head, seen = self._simulation._ask(request, answer, 51, lambda head: _integer(head, 17), numbered=True)
        self._simulation._socket.send(struct.pack("<Bi", 86, self._id))
        outputs, infos, events = struct.unpack_from("<3i", head, 5)
        values = np.frombuffer(head, dtype="<f4", count=outputs + infos, offset=21)
        ids = struct.unpack_from(f"<{events}i", head, 21 + 4 * len(values))
        return Step(
            outputs=values[:outputs],
            infos=values[outputs:],
            events=frozenset(self._simulation._events.get(number, "") for number in ids) - {""},
            values={self._simulation._observed.get(_integer(data, 1), ""): _text(data, 5) for data in seen},
        )


def _integer(data: bytes, at: int) -> int:
    return struct.unpack_from("<i", data, at)[0]


def _text(data: bytes, at: int) -> str:
    """The zero-terminated string that starts at this byte."""
    return data[at : data.index(0, at)].decode()


def _escaped(name: str) -> str:
    """A regular expression that matches just this name."""
    return "".join(character if character.isalnum() or character in "/_- " else f"\\{character}" for character in name)
