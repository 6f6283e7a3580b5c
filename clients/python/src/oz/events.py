"""What a robot and its connection report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Tuple, Union

from .errors import OzError


@dataclass(frozen=True)
class Connected:
    """The robot has answered the version request."""

    name: str
    long_name: str


@dataclass(frozen=True)
class Disconnected:
    """The connection has ended: by the program itself, or for this reason."""

    reason: Optional[OzError]


@dataclass(frozen=True)
class ConnectFailed:
    """An attempt to connect again has failed; another one follows."""

    error: OzError


@dataclass(frozen=True)
class SpeakStart:
    """This client has sent a text, which the robot starts speaking."""

    text: str


@dataclass(frozen=True)
class SpeakDone:
    """A text of this client has been spoken."""


@dataclass(frozen=True)
class GestureStart:
    """This client has started a gesture."""

    gesture: int


@dataclass(frozen=True)
class GestureDone:
    """A gesture of this client has ended; the protocol does not say which."""


@dataclass(frozen=True)
class SpeakGesture:
    """A tag in the text has started a gesture."""

    gesture: int


@dataclass(frozen=True)
class Option:
    """What the robot may have heard."""

    confidence: float
    """0 to 1."""
    text: str


@dataclass(frozen=True)
class Utterance:
    """The robot has recognised speech."""

    options: Tuple[Option, ...]
    """The likeliest one first."""

    @property
    def text(self) -> str:
        """The likeliest text."""
        return self.options[0].text if self.options else ""


@dataclass(frozen=True)
class Face:
    """A face in the image."""

    confidence: float
    """0 to 1."""
    x: float
    """Centre: -1 is the left edge of the image, 1 the right one."""
    y: float
    """Centre: -1 is the top edge of the image, 1 the bottom one."""
    width: float
    """As a fraction of the image's width."""
    height: float
    """As a fraction of the image's height."""
    name: str
    """The person's name; empty if it is not known."""


@dataclass(frozen=True)
class Faces:
    """The faces that the robot sees; none when the last one has disappeared."""

    faces: Tuple[Face, ...]


@dataclass(frozen=True)
class VideoFrame:
    """An image of the robot's camera."""

    jpeg: bytes
    """The JPEG file."""

    def __repr__(self) -> str:
        return f"VideoFrame(<{len(self.jpeg)} bytes>)"


@dataclass(frozen=True)
class InvalidMessage:
    """A message had a text that is not UTF-8. It is lost; the connection goes on."""

    error: OzError


Event = Union[
    Connected,
    Disconnected,
    ConnectFailed,
    SpeakStart,
    SpeakDone,
    GestureStart,
    GestureDone,
    SpeakGesture,
    Utterance,
    Faces,
    VideoFrame,
    InvalidMessage,
]
"""Any event."""
