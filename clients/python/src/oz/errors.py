"""What can go wrong."""

from __future__ import annotations

from typing import ClassVar


class OzError(Exception):
    """Base class of all errors of this library."""

    kind: ClassVar[str]
    """The kind of the error, named as in the conformance suite of the protocol."""


class UnreachableError(OzError, ConnectionError):
    """No connection could be made: the name is unknown, or nobody listens."""

    kind = "unreachable"


class OzTimeoutError(OzError, TimeoutError):
    """The robot did not answer, or did not read requests, in time."""

    kind = "timeout"


class VersionError(OzError):
    """The robot uses another version of the protocol."""

    kind = "wrong_version"

    def __init__(self, version: int, ours: int) -> None:
        super().__init__(f"the robot uses protocol version {version:#010x}, this client {ours:#010x}")
        self.version = version
        """The robot's version."""


class ClosedError(OzError, ConnectionError):
    """The connection is closed; the robot's log says why."""

    kind = "closed"


class TruncatedError(ClosedError):
    """The connection was closed in the middle of a message."""

    kind = "truncated"


class MessageError(OzError):
    """The robot sent a message that is not valid."""

    kind = "bad_message"


class InvalidTextError(MessageError):
    """A text in a message is not UTF-8. Only this message is lost."""


class NotFiniteError(OzError, ValueError):
    """A number is infinite, NaN or too large to be sent. Nothing was sent."""

    kind = "not_finite"


class OutOfRangeError(OzError, ValueError):
    """The protocol has no such expression, lookat mode or servo. Nothing was sent."""

    kind = "out_of_range"


class TextTooLongError(OzError, ValueError):
    """A text has more bytes than a message can have. Nothing was sent."""

    kind = "text_too_long"
