#!/usr/bin/env python3
"""Evolve a rover that avoids obstacles, over OSP, the ORCS Standard Protocol.

    rossum serve --scenario arena
    python3 evolve.py

A controller is a list of 18 numbers: the weights from each of eight distance sensors, and from a constant, to each of two
wheels. They are not designed: controllers that drive well get children with slightly different numbers, and the best survive.

Only the picture needs a package (matplotlib). Read the file from the top down: `Osp` talks to the server, `Rover` drives
and scores a controller, `evolve` breeds better ones, `draw` plots the result.
"""

import argparse
import math
import random
import re
import socket
import sys
import time
from struct import pack, unpack_from
from typing import Callable, Dict, List, Set, Tuple

PARENTS, CHILDREN = 4, 12  # survivors of each generation, and the number of their children
STEPS = 300  # length of a trial; a step is 50 ms
TRIALS = 3  # trials of each controller in a generation
NEW_STARTS = (101, 102, 103)  # seeds of new starts, for the picture


class Osp:
    """A connection to a server. A datagram is a byte for the message type, then integers, floats and strings."""

    def __init__(self, host: str, port: int) -> None:
        self.number, self.socket = 0, socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(0.5)
        for _ in range(6):
            self.socket.sendto(pack("<Bii", 5, 1, 1), (host, port))
            try:
                address = self.socket.recvfrom(65536)[1]
            except socket.timeout:
                continue
            self.socket.connect(address)  # the answer comes from our own port, where everything else goes
            return
        sys.exit(f"no answer from {host}:{port}; start a server with: rossum serve --scenario arena")

    def ask(self, request: bytes, answer: bytes, item: int = 0, count: Callable[[bytes], int] = lambda head: 0,
            numbered: bool = False) -> Tuple[bytes, List[bytes]]:
        """Sends a request; returns the datagram that starts with `answer`, and the `count` items that follow it.

        UDP may lose any of them. Then the very same request is sent again; the server does nothing twice. Steps and
        resets have a number at the end, and so do their answers, so that a late copy does not pass for the next one.
        """
        self.number += 1
        end = b"NUM:" + pack("<I", self.number) if numbered else b""
        for _ in range(20):
            self.socket.send(request + end)
            head, wanted = b"", -1
            items: Dict[int, bytes] = {}
            try:
                while len(items) != wanted:
                    data = self.socket.recv(65536)
                    if data.startswith(answer) and data.endswith(end):
                        head, items, wanted = data, {}, count(data)
                    elif head and data[0] == item:
                        items[integer(data, 1)] = data  # items start with an index or an id
                return head, list(items.values())
            except socket.timeout:
                pass
        raise ConnectionError("the server does not answer any more")

    def agents(self) -> Dict[str, int]:
        """Names and ids of all agents."""
        found = self.ask(bytes([90]), bytes([91]), 92, lambda head: integer(head, 1))[1]
        self.socket.send(bytes([93]))
        return {text(data, data.index(0, 9) + 2): integer(data, 5) for data in found}

    def control(self, agent: int) -> List[List[str]]:
        """Takes control of an agent; returns the names of its inputs, outputs and infos."""
        if self.ask(pack("<Bi", 100, agent), bytes([101]))[0][5] != 1:
            sys.exit("another client controls this agent")
        head, found = self.ask(pack("<Bi", 95, agent), bytes([96]), 98, lambda head: sum(unpack_from("<3i", head, 5)))
        self.socket.send(bytes([97]))
        names = iter([text(data, 13) for data in found])
        return [[next(names) for _ in range(size)] for size in unpack_from("<3i", head, 5)]

    def event(self, name: str) -> int:
        """Subscribes to an event, reported after each step in which it occurs; returns its id, 0 if it does not exist."""
        return integer(self.ask(bytes([20]) + name.encode() + b"\0", bytes([21]))[0], 1)

    def variables(self, pattern: str) -> Dict[str, int]:
        """Names and ids of all variables; the regular expression has to match the whole name."""
        found = self.ask(bytes([40]) + pattern.encode() + b"\0", bytes([41]), 43, lambda head: integer(head, 1))[1]
        return {text(data, data.index(0, 9) + 1): integer(data, 5) for data in found}

    def read(self, variable: int) -> str:
        """The value of a variable."""
        return text(self.ask(pack("<Bi", 50, variable), pack("<Bi", 51, variable))[0], 5)

    def observe(self, variable: int) -> None:
        """Asks for the value of a variable after each step."""
        self.ask(pack("<Bii", 54, 1, variable), bytes([55]))

    def reset(self, seed: int) -> None:
        """Resets the world to its start with this seed."""
        self.ask(pack("<Bi", 70, seed), bytes([76]), numbered=True)
        self.socket.send(bytes([75]))

    def step(self, agent: int, inputs: List[float]) -> Tuple[Tuple[float, ...], Set[int], Dict[int, str]]:
        """Sets the inputs and takes a step; returns outputs and infos, events that occurred, and observed variables."""
        request = pack(f"<Bii{len(inputs)}f", 80, agent, len(inputs), *inputs)
        head, seen = self.ask(request, pack("<Bi", 85, agent), 51, lambda head: integer(head, 17), numbered=True)
        self.socket.send(pack("<Bi", 86, agent))
        outputs, infos, events = unpack_from("<3i", head, 5)
        values = unpack_from(f"<{outputs + infos}f{events}i", head, 21)
        return values[:outputs + infos], set(values[outputs + infos:]), {integer(v, 1): text(v, 5) for v in seen}

    def end(self) -> None:
        """Disconnects, so that other clients can take the agent."""
        try:
            self.ask(bytes([7]), bytes([8]))
        except ConnectionError:
            pass  # the server is gone already


def integer(data: bytes, at: int) -> int:
    """The integer that starts at this byte."""
    return unpack_from("<i", data, at)[0]


def text(data: bytes, at: int) -> str:
    """The zero-terminated string that starts at this byte."""
    return data[at:data.index(0, at)].decode()


class Rover:
    """The controlled rover. Its sensors and wheels are looked up by name."""

    def __init__(self, osp: Osp, name: str) -> None:
        agents = osp.agents()
        if name not in agents:
            sys.exit(f"no agent named {name}; available: {', '.join(agents)}")
        self.osp, self.agent = osp, agents[name]
        self.inputs, outputs, _ = osp.control(self.agent)
        self.wheels = [self.inputs.index(f"/{side}/Wheel/DesiredVelocity") for side in ("Left", "Right")]
        self.speeds = [outputs.index(f"/{side}/Wheel/Velocity") for side in ("Left", "Right")]
        self.sensors = [index for index, output in enumerate(outputs) if output.startswith("/Distance/")]
        self.position = osp.variables(f"/Sim/{re.escape(name)}/Position")[f"/Sim/{name}/Position"]
        self.crash = osp.event("/Collision/Crash")

    def drive(self, weights: List[float], seed: int, steps: int = STEPS) -> Tuple[float, List[List[float]], bool]:
        """One trial: the score from 0 to 1, the rover's path if it is observed, and whether it crashed.

        A step counts for more the faster and straighter the rover drives, and the further everything is away.
        """
        self.osp.reset(seed)
        inputs, fitness = [0.0] * len(self.inputs), 0.0
        path: List[List[float]] = []
        for _ in range(steps):
            outputs, events, observed = self.osp.step(self.agent, inputs)
            path.extend(numbers(value) for value in observed.values())
            if self.crash in events:
                return fitness, path, True
            near = [1 - outputs[sensor] for sensor in self.sensors]  # 0: nothing in range, 1: touching
            left, right = (outputs[speed] for speed in self.speeds)
            fitness += max(0, left + right) / 2 * (1 - abs(left - right) / 2) * min(1, 8 - 8 * max(near)) / steps
            for wheel, own in zip(self.wheels, (weights[0::2], weights[1::2])):
                inputs[wheel] = math.tanh(sum(weight * value for weight, value in zip(own, near + [1])))
        return fitness, path, False


def evolve(rover: Rover, generations: int, seed: int) -> Tuple[List[Tuple[float, float]], List[List[float]]]:
    """Best and mean fitness of each generation, and the best controller of each."""
    chance, began = random.Random(seed), time.monotonic()
    controllers = [[chance.gauss(0, 0.5) for _ in range(2 * len(rover.sensors) + 2)] for _ in range(PARENTS + CHILDREN)]
    history, champions = [], []
    for generation in range(generations):
        starts = [chance.randrange(1, 2**31) for _ in range(TRIALS)]
        everybody = [(sum(rover.drive(own, start)[0] for start in starts) / TRIALS, own) for own in controllers]
        everybody.sort(reverse=True)
        parents = [own for _, own in everybody[:PARENTS]]
        best, mean = everybody[0][0], sum(fitness for fitness, _ in everybody) / len(everybody)
        history.append((best, mean))
        champions.append(parents[0])
        children = [[chance.gauss(weight, 0.4) for weight in chance.choice(parents)] for _ in range(CHILDREN)]
        controllers = parents + children
        seconds = time.monotonic() - began
        print(f"generation {generation:2}   best {best:.3f}   mean {mean:.3f}   {seconds:5.1f} s", flush=True)
    return history, champions


def numbers(value: str) -> List[float]:
    """The numbers of a point or a quaternion, written as (1,2,3)."""
    return [float(number) for number in value.strip("()").split(",")]


def draw(rover: Rover, history: List[Tuple[float, float]], champions: List[List[float]], file: str) -> None:
    """Plots the fitness, and the paths of the best rovers of the first and the last generation from new starts."""
    from matplotlib import patches, pyplot
    figure, (curve, arena) = pyplot.subplots(1, 2, figsize=(11.5, 5.6), constrained_layout=True)
    for line, name in zip(zip(*history), ("best", "mean")):
        curve.plot(line, label=name, linewidth=2)
    curve.set(title="Fitness", xlabel="generation", ylim=(0, 1), xlim=(0, max(1, len(history) - 1)))
    curve.locator_params(axis="x", integer=True)
    curve.grid(alpha=0.3)
    curve.legend(loc="upper left")

    things: Dict[str, Dict[str, List[float]]] = {}
    for name, variable in rover.osp.variables("/Sim/World/.*/(Position|Orientation|Size)").items():
        thing, part = name.split("/")[-2:]
        things.setdefault(thing, {})[part] = numbers(rover.osp.read(variable))
    for thing, parts in things.items():
        (x, y, _), (width, depth, _) = parts["Position"], parts["Size"]
        w, _, _, z = parts.get("Orientation", (1, 0, 0, 0))
        if thing.startswith("Post"):
            arena.add_patch(patches.Circle((x, y), width / 2, color="0.75"))
        elif thing != "Floor":
            corner, angle = (x - width / 2, y - depth / 2), math.degrees(2 * math.atan2(z, w))
            arena.add_patch(patches.Rectangle(corner, width, depth, angle=angle, rotation_point="center", color="0.75"))

    rover.osp.observe(rover.position)
    for generation, colour in ((0, "tab:red"), (len(champions) - 1, "tab:blue")):
        for seed in NEW_STARTS:
            _, path, crashed = rover.drive(champions[generation], seed, 2 * STEPS)
            xs, ys, _ = zip(*path)
            label = f"generation {generation}" if seed == NEW_STARTS[0] else None
            arena.plot(xs, ys, color=colour, label=label, alpha=0.8)
            arena.plot(xs[0], ys[0], "o", color="black")
            arena.plot(xs[-1], ys[-1], "X" if crashed else "s", color=colour, markersize=10)
    for marker, label in (("o", "start"), ("s", "after 30 s"), ("X", "crash")):
        arena.plot([], [], marker, color="black", label=label)
    arena.legend(loc="center")
    arena.set(title="The best rover on new starts", aspect="equal", xlabel="x in m", ylabel="y in m")
    figure.savefig(file, dpi=120)
    print(f"the picture is in {file}")


def main() -> None:
    """Reads the options, evolves and draws."""
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--server", default="127.0.0.1:45454", metavar="HOST:PORT", help="address of the OSP server")
    options.add_argument("--agent", default="Rover", metavar="NAME", help="name of the rover")
    options.add_argument("--generations", default=20, type=int, metavar="N", help="number of generations")
    options.add_argument("--seed", default=1, type=int, help="the same seed gives the same evolution")
    options.add_argument("--plot", default="evolve.png", metavar="FILE", help="file of the picture; '' for none")
    given = options.parse_args()
    if given.plot:
        try:
            import matplotlib
            matplotlib.use("Agg")  # renders into files, without a display
        except ImportError:
            sys.exit("the picture needs matplotlib; install it with pip install matplotlib, or use --plot ''")
    host, port = given.server.rsplit(":", 1)
    osp = Osp(host, int(port))
    try:
        rover = Rover(osp, given.agent)
        history, champions = evolve(rover, max(1, given.generations), given.seed)
        if given.plot:
            draw(rover, history, champions, given.plot)
        print(f"best {history[-1][0]:.3f}")
    except ConnectionError as error:
        sys.exit(f"lost the server: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        osp.end()


if __name__ == "__main__":
    main()
