#!/usr/bin/env python3
"""A small Wizard of Oz: looks at the nearest person, greets newcomers, and answers what they say.

    rossum serve --scenario oz
    python3 wizard.py
    python3 wizard.py --say "[braisel]Good morning. [yesl]How nice to see you."
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

try:
    import oz
except ImportError:  # not installed: the one in this checkout
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
    import oz

GREET_AGAIN = 30  # s without a face, after which the next person is greeted

ANSWERS = {  # a recognised word and the reply to it; the first match wins
    "name": "[braises]I am Alice.",
    "no": "[nos3]No? [yesl]As you like.",
    "you": "[wob]I am well, thank you. [braisel]And you?",
    "": "[yess3]I see. [braisel]Tell me more.",
}


def answer(heard: str) -> str:
    words = re.findall(r"[a-z']+", heard.lower())
    return next(reply for word, reply in ANSWERS.items() if not word or word in words)


def operate(robot: oz.Client) -> None:
    faces, last_face = 0, float("-inf")
    for event in robot.events():
        if isinstance(event, oz.Faces):
            now = time.monotonic()
            if len(event.faces) != faces:
                print("sees", ", ".join(face.name or "somebody" for face in event.faces) or "nobody any more")
            if event.faces and now - last_face >= GREET_AGAIN:
                nearest = max(event.faces, key=lambda face: face.width * face.height)
                robot.set_expression(oz.Expression.HAPPY)
                robot.speak(f"[braises]Hello {nearest.name}! [wob]Nice to see you.")
            faces, last_face = len(event.faces), now if event.faces else last_face
        elif isinstance(event, oz.Utterance):
            reply = answer(event.text)
            print(f"hears {event.text!r} ({event.options[0].confidence:.0%}), says {reply!r}")
            robot.speak(reply)
        elif isinstance(event, oz.SpeakGesture):
            print("makes gesture", event.gesture)
        elif isinstance(event, oz.SpeakDone):
            print("has spoken")
            robot.set_expression(oz.Expression.NEUTRAL)
        elif isinstance(event, oz.Disconnected) and event.reason is not None:
            sys.exit(str(event.reason))


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--robot", default=f"127.0.0.1:{oz.PORT}", metavar="ADDRESS", help="where the robot listens")
    options.add_argument("--say", metavar="TEXT", help="what to say first, with gesture tags in brackets")
    chosen = options.parse_args()
    host, port = chosen.robot.rsplit(":", 1)
    try:
        with oz.Client(host, int(port)) as robot:
            print(f"operating {robot.name}: {robot.long_name}")
            robot.skip_video()
            robot.set_look_at(oz.LookAt.LARGEST)
            robot.set_random_eyes_weight(0.3)  # eyes that never move look dead
            if chosen.say:
                robot.speak(chosen.say)
            operate(robot)
    except oz.OzError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
