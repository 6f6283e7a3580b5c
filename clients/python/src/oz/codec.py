"""Messages to bytes and back.

All numbers are big-endian. A message is a 32-bit id followed by its fields; only the answer to the version request has no
id. There is no framing: the end of a message follows from its id and the lengths in it.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple, Optional, Sequence, Union

from .constants import MAX_SERVOS, VERSION, Message
from .errors import InvalidTextError, MessageError, NotFiniteError, OutOfRangeError, TextTooLongError, VersionError
from .events import Face, Faces, GestureDone, Option, SpeakDone, SpeakGesture, Utterance, VideoFrame

MAX_TEXT = 65_535
"""The longest text, in bytes of UTF-8."""

# what is read at most; robots send far less
_MAX_OPTIONS = 256
_MAX_FACES = 256
_MAX_JPEG = 16 * 1024 * 1024

# the smallest version; all message ids are smaller
_FIRST_VERSION = 0x0100_0000

Received = Union[SpeakDone, GestureDone, SpeakGesture, Utterance, Faces, VideoFrame]


class Welcome(NamedTuple):
    """The answer to the version request."""

    version: int
    name: str
    long_name: str


def encode(message: Message) -> bytes:
    """A message without fields."""
    return struct.pack(">I", message)


def encode_word(message: Message, value: int, count: Optional[int] = None) -> bytes:
    """A message with a number, which is below ``count``."""
    return struct.pack(">II", message, _word(message.name.lower(), value, count))


def encode_float(message: Message, value: float) -> bytes:
    """A message with a number that must be finite."""
    return struct.pack(">I", message) + _float(message.name.lower(), value)


def encode_text(message: Message, text: str) -> bytes:
    """A message with a text."""
    encoded = text.encode("utf-8")
    if len(encoded) > MAX_TEXT:
        raise TextTooLongError(f"the text has {len(encoded)} bytes; at most {MAX_TEXT} can be sent")
    return struct.pack(">IH", message, len(encoded)) + encoded


def encode_servo(servo: int, position: float) -> bytes:
    """The direct position of a servo."""
    return struct.pack(">II", Message.SERVO, _word("servo", servo, MAX_SERVOS)) + _float("position", position)


def encode_servos(positions: Sequence[float]) -> bytes:
    """The direct positions of all servos."""
    if len(positions) != MAX_SERVOS:
        raise OutOfRangeError(f"{len(positions)} positions; a robot has {MAX_SERVOS} servos")
    return encode(Message.ALL_SERVOS) + b"".join(_float("position", position) for position in positions)


def _word(what: str, value: int, count: Optional[int]) -> int:
    last = 0xFFFF_FFFF if count is None else count - 1
    if not 0 <= value <= last:
        raise OutOfRangeError(f"{what} {value} is out of range 0 to {last}")
    return value


def _float(what: str, value: float) -> bytes:
    if math.isfinite(value):
        try:
            return struct.pack(">f", value)
        except OverflowError:
            pass
    raise NotFiniteError(f"{what} {value} is not a finite 32-bit number")


class _Incomplete(Exception):
    """The message has not arrived completely."""


class Decoder:
    """Takes a stream apart."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._at = 0
        self._bad_text: Optional[str] = None

    def feed(self, data: bytes) -> None:
        """Adds bytes as they arrive."""
        self._buffer += data

    @property
    def is_between_messages(self) -> bool:
        """Whether no message has arrived in part."""
        return not self._buffer

    def welcome(self) -> Optional[Welcome]:
        """The answer to the version request, with which the stream begins; ``None`` if it is not complete."""
        return self._message(self._read_welcome)

    def message(self) -> Optional[Received]:
        """The next message; ``None`` if it is not complete.

        After an ``InvalidTextError`` the stream can be read on, after another ``MessageError`` it cannot.
        """
        return self._message(self._read_message)

    def _message(self, read):  # type: ignore[no-untyped-def]
        self._at, self._bad_text = 0, None
        try:
            message = read()
        except _Incomplete:
            return None
        del self._buffer[: self._at]
        if self._bad_text is not None:
            raise InvalidTextError(f"the robot sent a {self._bad_text} that is not UTF-8")
        return message

    def _read_welcome(self) -> Welcome:
        version = self._word()
        if version < _FIRST_VERSION:
            raise MessageError(f"the robot answered the version request with {version:#x}, which is not a version")
        # the rest may look different in another version
        if version != VERSION:
            raise VersionError(version, VERSION)
        return Welcome(version, self._text("name"), self._text("long name"))

    def _read_message(self) -> Received:
        message = self._word()
        if message == Message.SPEAK_DONE:
            return SpeakDone()
        if message == Message.GESTURE_DONE:
            return GestureDone()
        if message == Message.SPEAK_GESTURE:
            return SpeakGesture(self._word())
        if message == Message.UTTERANCE:
            count = self._count("options", _MAX_OPTIONS)
            return Utterance(tuple(Option(*self._floats(1), self._text("text")) for _ in range(count)))
        if message == Message.FACES:
            count = self._count("faces", _MAX_FACES)
            return Faces(tuple(Face(*self._floats(5), self._text("name")) for _ in range(count)))
        if message == Message.VIDEO_FRAME:
            return VideoFrame(self._bytes(self._count("bytes of an image", _MAX_JPEG)))
        raise MessageError(f"the robot sent a message with the unknown id {message:#04x}")

    def _skip(self, count: int) -> int:
        start, end = self._at, self._at + count
        if end > len(self._buffer):
            raise _Incomplete
        self._at = end
        return start

    def _bytes(self, count: int) -> bytes:
        start = self._skip(count)
        return bytes(self._buffer[start : self._at])

    def _word(self) -> int:
        start = self._skip(4)
        return int.from_bytes(self._buffer[start : self._at], "big")

    def _floats(self, count: int) -> Sequence[float]:
        return struct.unpack_from(f">{count}f", self._buffer, self._skip(4 * count))

    def _text(self, what: str) -> str:
        start = self._skip(2)
        encoded = self._bytes(int.from_bytes(self._buffer[start : self._at], "big"))
        try:
            return encoded.decode("utf-8")
        except UnicodeDecodeError:
            # the rest of the message has to be skipped first
            self._bad_text = what
            return ""

    def _count(self, what: str, most: int) -> int:
        count = self._word()
        if count > most:
            raise MessageError(f"the robot sent {count} {what}; at most {most} are read")
        return count
