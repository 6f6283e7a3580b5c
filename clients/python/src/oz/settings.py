"""What a client has set."""

from __future__ import annotations

from typing import Callable, List, Optional, Sequence, Tuple

from . import codec
from .constants import MAX_SERVOS, Expression, LookAt, Message, VoiceGenderLanguage


class Settings:
    """The setters of both clients, and getters that return what this client has set last, or the default.

    The protocol has no queries: what others have set is not known. Numbers that are merely out of range are sent, and the
    robot decides what they mean. A setter raises ``ClosedError`` if the client is not connected, and ``NotFiniteError`` or
    ``OutOfRangeError`` for values that mean nothing.
    """

    def __init__(self) -> None:
        self._restore_defaults()

    def _restore_defaults(self) -> None:
        self._voice_gender_language = int(VoiceGenderLanguage.DEFAULT)
        self._expression = int(Expression.NEUTRAL)
        self._look_at = int(LookAt.FORWARD)
        self._voice_volume = 1.0
        self._voice_pitch = 1.0
        self._gesture_weight = 1.0
        self._expression_weight = 1.0
        self._auto_blink_speed = 2.0
        self._random_head_weight = 0.0
        self._random_eyes_weight = 0.0
        self._random_face_weight = 0.0
        self._direct_weight = 0.0
        self._look_at_weight = 1.0
        self._servos: List[Optional[float]] = [None] * MAX_SERVOS

    def _request(self, request: bytes, then: Callable[[], object] = lambda: None) -> None:
        """Sends a request, and notes what it changes."""
        raise NotImplementedError

    def _set(self, name: str, value: float, request: bytes) -> None:
        self._request(request, lambda: setattr(self, name, value))

    def _set_float(self, message: Message, name: str, value: float) -> None:
        self._set(name, value, codec.encode_float(message, value))

    def reset(self) -> None:
        """Restores all defaults of the robot. Speech and gestures stop, and are reported as done."""
        self._request(codec.encode(Message.RESET), self._restore_defaults)

    def set_voice_gender_language(self, voice: int) -> None:
        """Sets the voice, of ``VoiceGenderLanguage``."""
        self._set("_voice_gender_language", voice, codec.encode_word(Message.VOICE_GENDER_LANGUAGE, voice))

    @property
    def voice_gender_language(self) -> int:
        """The voice."""
        return self._voice_gender_language

    def set_voice_volume(self, volume: float) -> None:
        """Sets the volume, 0 to 1. Default: 1."""
        self._set_float(Message.VOICE_VOLUME, "_voice_volume", volume)

    @property
    def voice_volume(self) -> float:
        """The volume."""
        return self._voice_volume

    def set_voice_pitch(self, pitch: float) -> None:
        """Sets the pitch, 0.5 to 2. Default: 1."""
        self._set_float(Message.VOICE_PITCH, "_voice_pitch", pitch)

    @property
    def voice_pitch(self) -> float:
        """The pitch."""
        return self._voice_pitch

    def set_gesture_weight(self, weight: float) -> None:
        """Sets the weight of gestures, 0 to 1. Default: 1."""
        self._set_float(Message.GESTURE_WEIGHT, "_gesture_weight", weight)

    @property
    def gesture_weight(self) -> float:
        """The weight of gestures."""
        return self._gesture_weight

    def set_expression(self, expression: int) -> None:
        """Sets the facial expression, of ``Expression``."""
        self._set("_expression", expression, codec.encode_word(Message.EXPRESSION, expression, len(Expression)))

    @property
    def expression(self) -> int:
        """The facial expression."""
        return self._expression

    def set_expression_weight(self, weight: float) -> None:
        """Sets the weight of the facial expression, 0 to 1. Default: 1."""
        self._set_float(Message.EXPRESSION_WEIGHT, "_expression_weight", weight)

    @property
    def expression_weight(self) -> float:
        """The weight of the facial expression."""
        return self._expression_weight

    def set_auto_blink_speed(self, speed: float) -> None:
        """Sets the blinks per second, 0 to 10. Default: 2."""
        self._set_float(Message.AUTO_BLINK_SPEED, "_auto_blink_speed", speed)

    @property
    def auto_blink_speed(self) -> float:
        """The blinks per second."""
        return self._auto_blink_speed

    def set_random_head_weight(self, weight: float) -> None:
        """Sets the weight of random head motion, 0 to 1. Default: 0."""
        self._set_float(Message.RANDOM_HEAD_WEIGHT, "_random_head_weight", weight)

    @property
    def random_head_weight(self) -> float:
        """The weight of random head motion."""
        return self._random_head_weight

    def set_random_eyes_weight(self, weight: float) -> None:
        """Sets the weight of random eye motion, 0 to 1. Default: 0."""
        self._set_float(Message.RANDOM_EYES_WEIGHT, "_random_eyes_weight", weight)

    @property
    def random_eyes_weight(self) -> float:
        """The weight of random eye motion."""
        return self._random_eyes_weight

    def set_random_face_weight(self, weight: float) -> None:
        """Sets the weight of random face motion, 0 to 1. Default: 0."""
        self._set_float(Message.RANDOM_FACE_WEIGHT, "_random_face_weight", weight)

    @property
    def random_face_weight(self) -> float:
        """The weight of random face motion."""
        return self._random_face_weight

    def set_servo(self, servo: int, position: float) -> None:
        """Sets the direct position of a servo, of ``Servo``: 0 to 1 over its travel.

        It has no effect unless ``set_direct_weight`` has set a weight.
        """

        def note() -> None:
            self._servos[servo] = position

        self._request(codec.encode_servo(servo, position), note)

    def servo(self, servo: int) -> Optional[float]:
        """The direct position of a servo; ``None`` if it was never set."""
        return self._servos[servo]

    def set_all_servos(self, positions: Sequence[float]) -> None:
        """Sets the direct positions of all servos, in the order of ``Servo``."""
        positions = tuple(positions)

        def note() -> None:
            self._servos = list(positions)

        self._request(codec.encode_servos(positions), note)

    @property
    def all_servos(self) -> Tuple[Optional[float], ...]:
        """The direct positions of all servos; ``None`` for those that were never set."""
        return tuple(self._servos)

    def set_direct_weight(self, weight: float) -> None:
        """Sets the weight of direct servo positions, 0 to 1. Default: 0."""
        self._set_float(Message.DIRECT_WEIGHT, "_direct_weight", weight)

    @property
    def direct_weight(self) -> float:
        """The weight of direct servo positions."""
        return self._direct_weight

    def set_look_at(self, target: int) -> None:
        """Sets what the robot looks at, of ``LookAt``."""
        self._set("_look_at", target, codec.encode_word(Message.LOOKAT, target, len(LookAt)))

    @property
    def look_at(self) -> int:
        """What the robot looks at."""
        return self._look_at

    def set_look_at_weight(self, weight: float) -> None:
        """Sets the weight of looking at something, 0 to 1. Default: 1."""
        self._set_float(Message.LOOKAT_WEIGHT, "_look_at_weight", weight)

    @property
    def look_at_weight(self) -> float:
        """The weight of looking at something."""
        return self._look_at_weight
