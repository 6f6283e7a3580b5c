"""A TCP connection that never waits longer than it should, nor takes in more than it should."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

__all__ = ["Stream"]

_CHUNK = 65_536


class Stream:
    """A connection that carries messages.

    ``timeout`` limits, in seconds, how long connecting, sending and receiving a message take; ``None`` is without a limit. Failures
    are raised as ``error``. They close the connection, because what would come next is unknown.
    """

    def __init__(self, host: str, port: int, timeout: float | None, error: type[ConnectionError]) -> None:
        self._timeout, self._error = timeout, error
        self._received = bytearray()
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except OSError as cause:
            raise error(f"cannot connect to {host}:{port}: {cause}") from cause
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, data: bytes) -> None:
        """Sends bytes, with one write."""
        try:
            self._socket.settimeout(self._timeout)
            self._socket.sendall(data)
        except TimeoutError as cause:
            raise self.failed(f"the server has read nothing for {self._timeout} s") from cause
        except OSError as cause:
            raise self.failed(f"sending failed: {cause}") from cause

    def receive(self, length_of: Callable[[bytearray], int]) -> bytes:
        """The next message. ``length_of`` is given the bytes at hand, and returns its length, or 0 if it is not complete."""
        until = None if self._timeout is None else time.monotonic() + self._timeout
        while not (length := length_of(self._received)):
            self._fill(until)
        message = bytes(self._received[:length])
        del self._received[:length]
        return message

    def _fill(self, until: float | None) -> None:
        left = None if until is None else until - time.monotonic()
        try:
            if left is not None and left <= 0.0:
                raise TimeoutError
            self._socket.settimeout(left)
            received = self._socket.recv(_CHUNK)
        except ConnectionResetError:
            received = b""
        except TimeoutError as cause:
            raise self.failed(f"no message of the server for {self._timeout} s") from cause
        except OSError as cause:
            raise self.failed(f"receiving failed: {cause}") from cause
        if not received:
            raise self.failed("the server has closed the connection; its log says why")
        self._received += received

    def failed(self, reason: str) -> ConnectionError:
        """Closes the connection, and returns the error to raise."""
        self.close()
        return self._error(reason)

    def close(self) -> None:
        """Closes the connection."""
        self._socket.close()
