#!/usr/bin/env python3
"""A Robot Simulator written from the document alone: a round robot with two wheels and four visual sensors, and a net without hidden
neurons. Its fitness is how far it drives, less how often it bumps into something.

The first line it prints is the port on which it listens for Population Managers.
"""

import argparse
import math
import socket
import threading

INPUTS, OUTPUTS = 5, 2
SENSORS = [-0.9, -0.3, 0.3, 0.9]
STEP = 20.0


class Lines:
    """A connection that carries lines, one question and one answer at a time."""

    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        self.reader = connection.makefile("r", encoding="ascii", newline="\r\n")

    def send(self, *words):
        line = " ".join(word if isinstance(word, str) else repr(word) for word in words)
        self.connection.sendall((line + "\r\n").encode("ascii"))

    def receive(self, name=None):
        line = self.reader.readline()
        if not line:
            raise ConnectionError("the connection was closed")
        words = line.split()
        if name is not None and words[0] != name:
            raise ValueError(f"{name} was expected, not {line!r}")
        return words[0], [float(word) for word in words[1:]]

    def ask(self, name, *words):
        self.send(*words)
        return self.receive(name)[1]


def evaluate(world, values, steps):
    """Drives a robot with these weights and returns its fitness."""
    weights = [values[row * (INPUTS + OUTPUTS) : (row + 1) * (INPUTS + OUTPUTS)] for row in range(OUTPUTS)]
    (identifier,) = world.ask("YourIdentifier", "CreateRobot")
    identifier = int(identifier)
    try:
        body = [-30, 40, 30, 40, 30, -40, -30, -40]
        position = world.ask("YourPosition", "BodyShape", identifier, 1, 20, 1, 4, *body)
        outputs, fitness = [0.0] * OUTPUTS, 0.0
        for _ in range(steps):
            _, x, y, z, direction, _, _, stress, death = position
            if death:
                break
            inputs = [1.0]
            for angle in SENSORS:
                beam = (x, y, z + 10, direction + angle, 0.0, 0.3, 0.1)
                _, distance, *_ = world.ask("VisualSensorReading", "VisualSensor", identifier, *beam)
                inputs.append(max(0.0, 1.0 - distance / 500.0))
            outputs = [math.tanh(sum(w * v for w, v in zip(row, inputs + outputs))) for row in weights]
            left, right = outputs
            forward, turn = STEP * (left + right) / 2, 0.3 * (right - left)
            target = (x + forward * math.cos(direction), y + forward * math.sin(direction), direction + turn)
            position = world.ask("YourPosition", "MoveTo", identifier, *target)
            fitness += (forward / STEP) * (1.0 - position[7]) - position[7]
        return fitness / steps
    finally:
        world.send("KillRobot", identifier)


def serve(connection, options):
    manager = Lines(connection)
    host, port = options.world.rsplit(":", 1)
    with connection, socket.create_connection((host, int(port))) as stream:
        world = Lines(stream)
        while True:
            try:
                name, values = manager.receive()
            except ConnectionError:
                return
            if name == "SendNetParameters":
                manager.send("NetParameters", 1, 0, 0, 0, INPUTS, 0, 0, 0, OUTPUTS, 0, 0, 0, 0, 0, 0, 0, 0, 1, -5, 5, 1, 1)
            elif name == "Individual":
                generation, individual, hidden, *weights = values
                if hidden != 0 or len(weights) != (INPUTS + OUTPUTS) * OUTPUTS:
                    raise ValueError(f"an individual with {hidden} hidden neurons and {len(weights)} values")
                fitness = evaluate(world, weights, options.steps)
                manager.send("Fitness", int(generation), int(individual), fitness)
            else:
                raise ValueError(f"unknown message {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", default="127.0.0.1:7770")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    with socket.create_server(("127.0.0.1", options.port)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=(connection, options), daemon=True).start()


if __name__ == "__main__":
    main()
