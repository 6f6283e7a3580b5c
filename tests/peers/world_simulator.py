#!/usr/bin/env python3
"""A World Simulator written from the document alone: round obstacles in an arena of 2 x 2 m, robots as circles.

It answers one line at a time, which is all that the document asks for. Options make it as awkward as a program may be that still
follows the document. The first line it prints is the port on which it listens.
"""

import argparse
import math
import random
import socket
import threading

ARENA = 2000.0
RANGE = 4000.0
OBSTACLES = [(600.0, 600.0, 150.0), (1400.0, 1300.0, 200.0), (500.0, 1500.0, 120.0)]
RAYS = 9
# the angles of the axes at which directions may be 0
ZEROS = {"x": 0.0, "y": math.pi / 2, "-x": math.pi, "-y": -math.pi / 2}


class World:
    def __init__(self, options):
        self.options = options
        self.random = random.Random(options.seed)
        self.robots = {}
        self.next_id = 1
        self.lock = threading.Lock()

    def heading(self, direction):
        """The unit vector of a direction, in this world's convention."""
        angle = direction if self.options.sense == "ccw" else -direction
        angle += ZEROS[self.options.zero]
        return math.cos(angle), math.sin(angle)

    def is_free(self, robot, x, y):
        radius = robot["radius"]
        if not (radius < x < ARENA - radius and radius < y < ARENA - radius):
            return False
        others = [(o["x"], o["y"], o["radius"]) for o in self.robots.values() if o is not robot and o["x"] is not None]
        return all(math.hypot(x - ox, y - oy) > radius + r for ox, oy, r in OBSTACLES + others)

    def create(self):
        identifier = self.next_id
        self.next_id += 1
        self.robots[identifier] = {"x": None, "y": None, "dir": 0.0, "radius": 1.0}
        return f"YourIdentifier {identifier}"

    def shape(self, identifier, values):
        robot = self.robots[identifier]
        values = iter(values)
        radius = 0.0
        for _ in range(int(next(values))):
            next(values)  # the height
            for _ in range(int(next(values))):
                for _ in range(int(next(values))):
                    radius = max(radius, math.hypot(next(values), next(values)))
        robot["radius"] = radius
        while robot["x"] is None:
            x, y = self.random.uniform(0, ARENA), self.random.uniform(0, ARENA)
            if self.is_free(robot, x, y):
                robot["x"], robot["y"], robot["dir"] = x, y, self.random.uniform(-math.pi, math.pi)
        return self.position(identifier, 0.0)

    def position(self, identifier, stress):
        robot = self.robots[identifier]
        return f"YourPosition {identifier} {robot['x']:.6f} {robot['y']:.6f} 0 {robot['dir']:.9f} 0 0 {stress:.6f} 0"

    def jump(self, identifier, x, y, direction):
        robot = self.robots[identifier]
        if not self.is_free(robot, x, y):
            return self.position(identifier, 1.0)
        robot["x"], robot["y"], robot["dir"] = x, y, direction
        return self.position(identifier, 0.0)

    def move(self, identifier, x, y, direction):
        robot = self.robots[identifier]
        start = robot["x"], robot["y"], robot["dir"]
        steps = max(1, math.ceil(math.hypot(x - start[0], y - start[1])))
        reached = 0
        while reached < steps:
            part = (reached + 1) / steps
            if not self.is_free(robot, start[0] + part * (x - start[0]), start[1] + part * (y - start[1])):
                break
            reached += 1
        part = reached / steps
        robot["x"], robot["y"] = start[0] + part * (x - start[0]), start[1] + part * (y - start[1])
        robot["dir"] = start[2] + part * (direction - start[2])
        return self.position(identifier, 1.0 - part)

    def distance(self, identifier, x, y, z, direction, tilt, angle_h, angle_v):
        """Distance to the nearest thing in the beam, and whether it is a wall."""
        others = [(o["x"], o["y"], o["radius"]) for i, o in self.robots.items() if i != identifier and o["x"] is not None]
        nearest, is_wall = RANGE, True
        for ray in range(RAYS):
            dx, dy = self.heading(direction + angle_h * (ray / (RAYS - 1) - 0.5))
            for at, to in ((x, dx), (y, dy)):
                if to != 0:
                    wall = ((ARENA if to > 0 else 0.0) - at) / to
                    if 0 <= wall < nearest:
                        nearest, is_wall = wall, True
            for ox, oy, radius in OBSTACLES + others:
                along = (ox - x) * dx + (oy - y) * dy
                across = (ox - x) * dy - (oy - y) * dx
                if abs(across) <= radius and along > 0:
                    hit = max(0.0, along - math.sqrt(radius**2 - across**2))
                    if hit < nearest:
                        nearest, is_wall = hit, False
        return nearest, is_wall

    def answer(self, line):
        name, *words = line.split()
        values = [float(word) for word in words]
        if name == "CreateRobot":
            return self.create()
        identifier = int(values[0])
        if name == "KillRobot":
            self.robots.pop(identifier, None)
            return None
        if name == "BodyShape":
            return self.shape(identifier, values[1:])
        if name == "JumpTo":
            return self.jump(identifier, *values[1:])
        if name == "MoveTo":
            return self.move(identifier, *values[1:])
        distance, is_wall = self.distance(identifier, *values[1:])
        if name == "SonicSensor":
            return f"SonicSensorReading {identifier} {distance:.6f}"
        if name == "VisualSensor":
            level = 200 if is_wall else 80
            colour = f"{level}.5" if self.options.fractional_colours else str(level)
            return f"VisualSensorReading {identifier} {distance:.6f} {colour} {colour} {colour}"
        raise ValueError(f"unknown message {name}")


def send(connection, text, options):
    data = (text + "\r\n").encode("ascii")
    if options.nagle:
        # as programs do that write a line and its end separately
        connection.sendall(data[:-2])
        connection.sendall(data[-2:])
    else:
        connection.sendall(data)


def serve(connection, world):
    options = world.options
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0 if options.nagle else 1)
    buffer = b""
    with connection:
        while data := connection.recv(65536):
            buffer += data
            while b"\r\n" in buffer:
                line, buffer = buffer.split(b"\r\n", 1)
                if options.one_per_packet:
                    # KillRobot is not answered, so the next message may be in the same packet
                    if buffer and not line.startswith(b"KillRobot"):
                        raise SystemExit(f"a second message came before the first was answered: {line!r} {buffer!r}")
                with world.lock:
                    answer = world.answer(line.decode("ascii"))
                if answer is not None:
                    send(connection, answer, options)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nagle", action="store_true", help="leave Nagle's algorithm on, and write each line in two parts")
    parser.add_argument("--one-per-packet", action="store_true", help="end if a message comes before the last was answered")
    parser.add_argument("--fractional-colours", action="store_true", help="send colours such as 80.5")
    parser.add_argument("--zero", choices=ZEROS, default="x", help="axis at which directions are 0")
    parser.add_argument("--sense", choices=["ccw", "cw"], default="ccw", help="sense in which directions grow")
    options = parser.parse_args()
    world = World(options)
    with socket.create_server(("127.0.0.1", options.port)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, world), daemon=True).start()


if __name__ == "__main__":
    main()
