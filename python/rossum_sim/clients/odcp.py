"""ORCS Direct Control Protocol 1.0: motor angles over UDP, one port for each agent.

>>> with Robot("127.0.0.1", 45453) as robot:
...     angles = robot.angles()
...     angles[3] = 900
...     robot.move(angles)
"""

from __future__ import annotations

import socket
import struct

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["NULL", "OdcpError", "Robot"]

NULL = 512
"""The null position of each motor; 0 and 1023 are the ends of its range."""

_TRIES = 10


class OdcpError(ConnectionError):
    """The agent does not answer."""


class Robot:
    """The motors of one agent."""

    def __init__(self, host: str = "127.0.0.1", port: int = 45453, *, timeout: float = 0.5) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.settimeout(timeout)
        self._socket.connect((host, port))
        try:
            self._ask(5, 6)
        except OdcpError:
            self._socket.close()
            raise

    def angles(self) -> NDArray[np.int32]:
        """The measured angle of each motor, 0 to 1023."""
        return np.frombuffer(self._ask(150, 151), dtype="<i4", offset=1).astype(np.int32)

    def move(self, angles: ArrayLike, torques: ArrayLike | None = None) -> None:
        """Sets all motors: angles from 0 to 1023, and the largest torques from 0 to 1023. Not answered."""
        angles = np.asarray(angles)
        torques = np.full(angles.shape, 1023) if torques is None else np.asarray(torques)
        if angles.shape != torques.shape or angles.ndim != 1:
            raise ValueError(f"{angles.shape} angles and {torques.shape} torques; both need one for each motor")
        self._socket.send(bytes([100]) + np.concatenate([angles, torques]).astype("<i4").tobytes())

    def close(self) -> None:
        """Says goodbye; the motors hold what they have."""
        try:
            self._ask(7, 8)
        except OdcpError:
            pass  # the server is gone already
        finally:
            self._socket.close()

    def __enter__(self) -> Robot:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _ask(self, request: int, answer: int) -> bytes:
        for _ in range(_TRIES):
            try:
                self._socket.send(struct.pack("<B", request))
                data = self._socket.recv(65_536)
                while data[0] != answer:
                    data = self._socket.recv(65_536)
            except TimeoutError:
                continue
            except ConnectionRefusedError as error:
                raise OdcpError("nothing listens on this port; the agent may have another one") from error
            return data
        raise OdcpError("the agent does not answer")
