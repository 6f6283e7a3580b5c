"""One TCP connection to a robot."""

from __future__ import annotations

import asyncio
from typing import Callable, Optional, cast

from . import codec
from .constants import VERSION, Message
from .errors import ClosedError, InvalidTextError, OzError, OzTimeoutError, TruncatedError

_CLOSE_TIMEOUT = 0.5
"""How long the robot may take to close the connection after the client has, in seconds."""


class Connection(asyncio.Protocol):
    """Shakes hands, and then reports messages until the connection ends."""

    def __init__(
        self,
        timeout: float,
        welcomed: Callable[[codec.Welcome], None],
        received: Callable[[codec.Received], None],
        rejected: Callable[[OzError], None],
        lost: Callable[[OzError], None],
    ) -> None:
        self._timeout = timeout
        self._welcomed = welcomed
        self._received = received
        self._rejected = rejected
        self._lost = lost
        self._decoder = codec.Decoder()
        self._transport: Optional[asyncio.Transport] = None
        self._error: Optional[OzError] = None
        self._unread: Optional[asyncio.TimerHandle] = None
        loop = asyncio.get_running_loop()
        self._loop = loop
        self.welcome: asyncio.Future[None] = loop.create_future()
        """Done when the robot has answered; fails if the connection ends before."""
        self._closed: asyncio.Future[None] = loop.create_future()

    def send(self, request: bytes) -> None:
        """Sends a request. The connection ends if the robot does not read it in time."""
        assert self._transport is not None
        self._transport.write(request)

    def abort(self, error: OzError) -> None:
        """Ends the connection at once, for this reason."""
        if self._error is None:
            self._error = error
        if self._transport is not None:
            self._transport.abort()

    async def close(self) -> None:
        """Ends the connection after the robot has read all requests.

        A socket that is closed with unread images resets the connection, and requests on their way may be lost.
        """
        assert self._transport is not None
        self._error = ClosedError("this client has closed the connection")
        if not self._transport.is_closing():
            self._transport.write_eof()
        await asyncio.wait([self._closed], timeout=_CLOSE_TIMEOUT)
        self._transport.abort()
        await asyncio.wait([self._closed], timeout=_CLOSE_TIMEOUT)

    # called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        if self._error is not None:
            self._transport.abort()
            return
        # resumed as soon as nothing is left to be sent
        self._transport.set_write_buffer_limits(high=0)
        self.send(codec.encode_word(Message.REQUEST_VERSION, VERSION))

    def pause_writing(self) -> None:
        within = f"the robot did not read requests within {self._timeout:g} s"
        self._unread = self._loop.call_later(self._timeout, lambda: self.abort(OzTimeoutError(within)))

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def data_received(self, data: bytes) -> None:
        if self._error is not None:
            return
        self._decoder.feed(data)
        while self._error is None:
            try:
                if not self._take():
                    return
            except InvalidTextError as error:
                if self.welcome.done():
                    self._rejected(error)
                else:
                    self.abort(error)
            except OzError as error:
                self.abort(error)

    def _take(self) -> bool:
        """Reports the next message; ``False`` if there is none."""
        if self.welcome.done():
            message = self._decoder.message()
            if message is not None:
                self._received(message)
            return message is not None
        welcome = self._decoder.welcome()
        if welcome is not None:
            self.welcome.set_result(None)
            self._welcomed(welcome)
        return welcome is not None

    def eof_received(self) -> bool:
        self.abort(self._end())
        return False

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self.resume_writing()
        if self._error is None:
            self._error = self._end()
        if not self._closed.done():
            self._closed.set_result(None)
        if not self.welcome.done():
            self.welcome.set_exception(self._error)
            # nobody may wait for it any more
            self.welcome.exception()
        elif not self.welcome.cancelled():
            self._lost(self._error)

    def _end(self) -> OzError:
        if self._decoder.is_between_messages:
            return ClosedError("the robot has closed the connection; its log may say why")
        return TruncatedError("the connection was closed in the middle of a message")
