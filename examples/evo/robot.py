#!/usr/bin/env python3
"""Drive a robot through the arena of a World Simulator, in plain Python.

    rossum world obstacles
    python3 robot.py

The World Simulator knows where everything is; the robot's shape, sensors and behaviour are up to us. Each message is one line of
text, and so is each answer:

    CreateRobot                          YourIdentifier ID
    BodyShape ID layers...               YourPosition ID X Y Z Dir TiltS TiltC Stress Death
    VisualSensor ID X Y Z Dir Tilt H V   VisualSensorReading ID Distance Red Green Blue
    MoveTo ID X Y Dir                    YourPosition ...
    KillRobot ID                         (no answer)

Lengths are in millimetres, angles in radians; Dir is where the robot's front points, counter-clockwise from +x.
"""

import argparse
import math
import socket

SENSORS = [math.radians(angle) for angle in (90, 45, 15, -15, -45, -90)]  # directions, from left to right
RANGE = 80  # mm; anything farther away is ignored
STEP = 8  # mm per step


class World:
    """A connection to a World Simulator."""

    def __init__(self, host: str, port: int) -> None:
        connection = socket.create_connection((host, port), timeout=10)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lines = connection.makefile("rw", newline="\r\n")

    def tell(self, *words: object) -> None:
        self.lines.write(" ".join(map(str, words)) + "\n")

    def hear(self, name: str) -> list:
        self.lines.flush()
        words = self.lines.readline().split()
        if not words:
            raise SystemExit("the World Simulator has closed the connection; its log says why")
        assert words[0] == name, words
        return [float(word) for word in words[1:]]


def drive(world: World, steps: int) -> None:
    world.tell("CreateRobot")
    robot = int(world.hear("YourIdentifier")[0])
    # one layer, 40 mm high, one polygon of 4 points: 60 mm wide and 80 mm long; +y is the front
    world.tell("BodyShape", robot, 1, 40, 1, 4, -30, 40, 30, 40, 30, -40, -30, -40)
    _, x, y, z, direction, *_ = world.hear("YourPosition")
    way = bumps = stress = 0
    for step in range(steps):
        # send all requests of a step together: one round trip instead of six
        for angle in SENSORS:
            look = direction + angle
            at = (x + 45 * math.cos(look), y + 45 * math.sin(look), z + 20)
            world.tell("VisualSensor", robot, *at, look, 0, math.radians(20), math.radians(20))
        near = [max(0.0, 1 - world.hear("VisualSensorReading")[1] / RANGE) for _ in SENSORS]
        left, right = sum(near[:3]), sum(near[3:])
        ahead = max(near[2], near[3])
        turn = 0.3 * (right - left) + (0.4 if ahead > 0.5 else 0)
        speed = STEP * (1 - ahead)
        if stress:  # the last move was blocked: back off, straight
            speed, turn = -STEP, 0
        direction += turn
        world.tell("MoveTo", robot, x + speed * math.cos(direction), y + speed * math.sin(direction), direction)
        _, new_x, new_y, z, direction, _, _, stress, death = world.hear("YourPosition")
        way += math.hypot(new_x - x, new_y - y)
        bumps += stress > 0
        x, y = new_x, new_y
        if death:
            break
        if step % 100 == 99:
            print(f"step {step + 1:5}   at ({x:6.1f}, {y:6.1f})   {way / 1000:.2f} m   {bumps} bumps")
    world.tell("KillRobot", robot)
    world.lines.flush()
    print(f"driven {way / 1000:.2f} m, {bumps} bumps")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--world", default="127.0.0.1:7770", metavar="ADDRESS", help="where the world listens")
    options.add_argument("--steps", type=int, default=500)
    chosen = options.parse_args()
    host, port = chosen.world.rsplit(":", 1)
    drive(World(host, int(port)), chosen.steps)
