"""The constants of the protocol's header file, as enumerations."""

from __future__ import annotations

import enum

PORT = 7331
"""The port that a robot listens on, unless it is configured otherwise."""

VERSION = 0x0100_0000
"""Protocol 1.0."""


class VoiceGenderLanguage(enum.IntEnum):
    """Voices; there is only one."""

    DEFAULT = 0


class Servo(enum.IntEnum):
    """The servos of a robot."""

    WAIST = 0
    SHOULDER_PITCH_LEFT = 1
    SHOULDER_ROLL_LEFT = 2
    ELBOW_YAW_LEFT = 3
    ELBOW_PITCH_LEFT = 4
    SHOULDER_PITCH_RIGHT = 5
    SHOULDER_ROLL_RIGHT = 6
    ELBOW_YAW_RIGHT = 7
    ELBOW_PITCH_RIGHT = 8
    HIP_ROLL_LEFT = 9
    HIP_YAW_LEFT = 10
    HIP_PITCH_LEFT = 11
    KNEE_PITCH_LEFT = 12
    ANKLE_PITCH_LEFT = 13
    ANKLE_ROLL_LEFT = 14
    HIP_ROLL_RIGHT = 15
    HIP_YAW_RIGHT = 16
    HIP_PITCH_RIGHT = 17
    KNEE_PITCH_RIGHT = 18
    ANKLE_PITCH_RIGHT = 19
    ANKLE_ROLL_RIGHT = 20
    NECK_YAW = 21
    NECK_ROLL = 22
    NECK_PITCH = 23
    BROWS = 24
    EYELIDS = 25
    EYES_PITCH = 26
    JAW = 27
    EYE_YAW_RIGHT = 28
    SMILE_LEFT = 29
    EYE_YAW_LEFT = 30
    SMILE_RIGHT = 31
    WRIST_LEFT = 32
    GRASP_LEFT = 33
    WRIST_RIGHT = 34
    GRASP_RIGHT = 35


MAX_SERVOS = len(Servo)
"""The number of servos."""


class Gesture(enum.IntEnum):
    """Gestures. A robot may have more, with higher numbers."""

    BROW_RAISE_LONG = 0
    BROW_RAISE_SHORT = 1
    FROWN_LONG = 2
    FROWN_SHORT = 3
    YES_LONG = 4
    YES_SHORT = 5
    YES_LONG_3X = 6
    YES_SHORT_3X = 7
    NO_LONG = 8
    NO_SHORT = 9
    NO_LONG_3X = 10
    NO_SHORT_3X = 11
    INDIAN_WOBBLE = 12

    @property
    def tag(self) -> str:
        """What starts the gesture inside a text: ``f"{Gesture.NO_SHORT.tag}Nope."``."""
        return _TAGS[self]


_TAGS = (
    "[braisel]",
    "[braises]",
    "[frownl]",
    "[frowns]",
    "[yesl]",
    "[yess]",
    "[yesl3]",
    "[yess3]",
    "[nol]",
    "[nos]",
    "[nol3]",
    "[nos3]",
    "[wob]",
)

MAX_GESTURES = len(Gesture)
"""The number of gestures that every robot has."""


class Expression(enum.IntEnum):
    """Facial expressions."""

    NEUTRAL = 0
    HAPPY = 1
    SAD = 2
    EVIL = 3
    AFRAID = 4


class LookAt(enum.IntEnum):
    """What the robot looks at."""

    FORWARD = 0
    DOWN = 1
    UP = 2
    LARGEST = 3
    """The largest face, which is the closest one."""
    SMALLEST = 4
    """The smallest face, which is the furthest one."""
    AWAY = 5
    """Where no face is."""


class Message(enum.IntEnum):
    """The ids of messages: up to 0x13 to the robot, from 0x14 on to the client."""

    NOTHING = 0x00
    REQUEST_VERSION = 0x01
    RESET = 0x02
    SPEAK = 0x03
    VOICE_GENDER_LANGUAGE = 0x04
    VOICE_VOLUME = 0x05
    VOICE_PITCH = 0x06
    GESTURE = 0x07
    GESTURE_WEIGHT = 0x08
    EXPRESSION = 0x09
    EXPRESSION_WEIGHT = 0x0A
    AUTO_BLINK_SPEED = 0x0B
    RANDOM_HEAD_WEIGHT = 0x0C
    RANDOM_EYES_WEIGHT = 0x0D
    RANDOM_FACE_WEIGHT = 0x0E
    SERVO = 0x0F
    ALL_SERVOS = 0x10
    DIRECT_WEIGHT = 0x11
    LOOKAT = 0x12
    LOOKAT_WEIGHT = 0x13
    SPEAK_DONE = 0x14
    GESTURE_DONE = 0x15
    SPEAK_GESTURE = 0x16
    UTTERANCE = 0x17
    FACES = 0x18
    VIDEO_FRAME = 0x19
