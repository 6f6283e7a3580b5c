#!/usr/bin/env python3
"""A small Wizard of Oz in plain Python: looks at the nearest person, greets newcomers, and answers what they say.

    rossum serve --scenario oz
    python3 operator.py
    python3 operator.py --say "[braisel]Good morning. [yesl]How nice to see you."

Each message is a 32-bit id and its fields; numbers are big-endian, and strings are preceded by their length (16 bits). There
is no framing: a message ends where its last field ends. The robot sends, among others:

    14 SPEAK_DONE                                   a text has been spoken
    15 GESTURE_DONE                                 a gesture has ended
    16 SPEAK_GESTURE  gesture                       a gesture inside a text starts
    17 UTTERANCE      count, (confidence, text)*    recognised speech; the likeliest option first
    18 FACES          count, (confidence, x, y, width, height, name)*
    19 VIDEO_FRAME    length, JPEG                  what the robot sees
"""

import argparse
import re
import socket
import struct
import time

VERSION = 0x01000000
SPEAK, EXPRESSION, RANDOM_EYES_WEIGHT, LOOKAT = 0x03, 0x09, 0x0D, 0x12
SPEAK_DONE, GESTURE_DONE, SPEAK_GESTURE, UTTERANCE, FACES, VIDEO_FRAME = range(0x14, 0x1A)
NEUTRAL, HAPPY = 0, 1
LARGEST_FACE = 3
GREET_AGAIN = 30  # s without a face, after which the next person is greeted

ANSWERS = {  # a recognised word and the reply to it; the first match wins
    "name": "[braises]I am Alice.",
    "no": "[nos3]No? [yesl]As you like.",
    "you": "[wob]I am well, thank you. [braisel]And you?",
    "": "[yess3]I see. [braisel]Tell me more.",
}


class Robot:
    """A connection to the robot."""

    def __init__(self, host: str, port: int) -> None:
        connection = socket.create_connection((host, port), timeout=10)
        self.stream = connection.makefile("rwb")
        self.tell(">II", 1, VERSION)
        (version,) = self.read(">I")  # the only reply without an id
        if version != VERSION:
            raise SystemExit(f"the robot speaks version {version:#010x}, this program {VERSION:#010x}")
        self.name, self.long_name = self.text(), self.text()
        connection.settimeout(None)  # from now on, the robot may be silent for any time

    def tell(self, layout: str, *values: object) -> None:
        self.stream.write(struct.pack(layout, *values))
        self.stream.flush()

    def say(self, text: str) -> None:
        words = text.encode()
        self.tell(f">IH{len(words)}s", SPEAK, len(words), words)

    def take(self, count: int) -> bytes:
        data = self.stream.read(count)
        if len(data) < count:
            raise SystemExit("the robot has closed the connection; its log says why")
        return data

    def read(self, layout: str) -> tuple:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def text(self) -> str:
        return self.take(*self.read(">H")).decode()

    def event(self) -> tuple:
        """The next event: its id and its fields."""
        (kind,) = self.read(">I")
        if kind == SPEAK_GESTURE:
            return kind, *self.read(">I")
        if kind == UTTERANCE:
            return kind, [(*self.read(">f"), self.text()) for _ in range(*self.read(">I"))]
        if kind == FACES:
            return kind, [(*self.read(">5f"), self.text()) for _ in range(*self.read(">I"))]
        if kind == VIDEO_FRAME:
            return kind, self.take(*self.read(">I"))
        return kind, None


def answer(heard: str) -> str:
    words = re.findall(r"[a-z']+", heard.lower())
    return next(reply for word, reply in ANSWERS.items() if not word or word in words)


def operate(robot: Robot) -> None:
    faces, last_face = 0, float("-inf")
    while True:
        kind, what = robot.event()
        if kind == FACES:
            now = time.monotonic()
            if len(what) != faces:
                print("sees", ", ".join(name or "somebody" for *_, name in what) or "nobody any more")
            if what and now - last_face >= GREET_AGAIN:
                *_, name = max(what, key=lambda face: face[3] * face[4])
                robot.tell(">II", EXPRESSION, HAPPY)
                robot.say(f"[braises]Hello {name}! [wob]Nice to see you.")
            faces, last_face = len(what), now if what else last_face
        elif kind == UTTERANCE and what:
            confidence, heard = what[0]
            reply = answer(heard)
            print(f"hears {heard!r} ({confidence:.0%}), says {reply!r}")
            robot.say(reply)
        elif kind == SPEAK_GESTURE:
            print("makes gesture", what)
        elif kind == SPEAK_DONE:
            print("has spoken")
            robot.tell(">II", EXPRESSION, NEUTRAL)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--robot", default="127.0.0.1:7331", metavar="ADDRESS", help="where the robot listens")
    options.add_argument("--say", metavar="TEXT", help="what to say first, with gesture tags in brackets")
    chosen = options.parse_args()
    host, port = chosen.robot.rsplit(":", 1)
    alice = Robot(host, int(port))
    print(f"operating {alice.name}: {alice.long_name}")
    alice.tell(">II", LOOKAT, LARGEST_FACE)
    alice.tell(">If", RANDOM_EYES_WEIGHT, 0.3)  # eyes that never move look dead
    if chosen.say:
        alice.say(chosen.say)
    try:
        operate(alice)
    except KeyboardInterrupt:
        pass
