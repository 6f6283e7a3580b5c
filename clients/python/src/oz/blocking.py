"""The blocking client: the one for asyncio, on a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from concurrent import futures
from types import TracebackType
from typing import Any, Callable, Coroutine, Iterator, Optional, Type, TypeVar

from .aio import AsyncClient
from .codec import Welcome
from .constants import PORT
from .errors import ClosedError
from .events import Event
from .identity import Identity
from .inbox import Inbox
from .settings import Settings

R = TypeVar("R")


class Completion:
    """The end of a text or a gesture."""

    def __init__(self, future: futures.Future[None]) -> None:
        self._future = future

    def done(self) -> bool:
        """Whether it has ended, or the connection has."""
        return self._future.done()

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits for the end; ``False`` on timeout. Raises the reason if the connection ends first."""
        # not `result(timeout)`: the reason may be a timeout as well
        if not futures.wait([self._future], timeout).done:
            return False
        self._future.result()
        return True


class Client(Settings, Identity):
    """A blocking client.

    ::

        with oz.Client("127.0.0.1") as robot:
            robot.set_expression(oz.Expression.HAPPY)
            robot.speak("[braisel]Hello, who are you?").wait()
            for event in robot.events():
                if isinstance(event, oz.Utterance):
                    print(event.text)

    It receives in the background, and its methods may be called in any thread. One that has been disconnected can connect
    again.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = PORT, *, timeout: float = 10.0, reconnect: Optional[float] = None
    ) -> None:
        """Prepares a client; ``connect``, or entering the context, connects it.

        ``timeout`` limits, in seconds, how long connecting takes and how long the robot may leave requests unread. With
        ``reconnect``, a lost connection is made again, with that many seconds before each attempt.
        """
        super().__init__()
        self._robot = AsyncClient(host, port, timeout=timeout, reconnect=reconnect)
        self._robot.on(object, self._keep)
        self._inbox = Inbox()
        self._arrived = threading.Condition()
        self._is_over = False
        self._connecting = threading.Lock()
        # of the loop: what is submitted is done, as it comes before the stop
        self._submitting = threading.Lock()
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._thread: Optional[threading.Thread] = None

    def __enter__(self) -> Client:
        self.connect()
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.disconnect()

    def connect(self) -> None:
        """Connects and requests the version.

        Raises ``UnreachableError``, ``OzTimeoutError``, ``VersionError``, ``MessageError`` or ``ClosedError``.
        """
        with self._connecting:
            if self._loop is not None:
                raise RuntimeError("the client is connected already")
            self._start()
            try:
                self._await(self._robot.connect())
            except BaseException:
                self._stop()
                raise

    def disconnect(self) -> None:
        """Closes the connection. Settings of the robot stay in effect."""
        with self._connecting:
            if self._loop is not None:
                self._await(self._robot.disconnect())
                self._stop()

    @property
    def is_connected(self) -> bool:
        """Whether the client is connected."""
        return self._robot.is_connected

    def speak(self, text: str) -> Completion:
        """Sends a text, which may have gesture tags (``"[nos]Nope."``). The result can be waited for.

        Texts are spoken one after another.
        """
        return Completion(self._do(lambda: self._robot.speak(text)._future))

    def wait_for_speak(self, timeout: Optional[float] = None) -> bool:
        """Waits until all texts of this client have been spoken; ``False`` if that takes longer than the timeout."""
        return self._await(self._robot.wait_for_speak(timeout))

    @property
    def speaking(self) -> bool:
        """Whether texts of this client have not been spoken yet."""
        return self._robot.speaking

    def gesture(self, gesture: int) -> Completion:
        """Starts a gesture: one of ``Gesture``, or another one of the robot. The result can be waited for.

        Several gestures can play at once, and the robot does not tell which one has ended. So all are taken to have ended
        when none is playing any more.
        """
        return Completion(self._do(lambda: self._robot.gesture(gesture)._future))

    def wait_for_gesture(self, timeout: Optional[float] = None) -> bool:
        """Waits until all gestures of this client have ended, including those in its texts."""
        return self._await(self._robot.wait_for_gesture(timeout))

    @property
    def gesturing(self) -> bool:
        """Whether gestures of this client are playing, including those in its texts."""
        return self._robot.gesturing

    def skip_video(self, skip: bool = True) -> None:
        """Sets whether images are dropped."""
        self._robot.skip_video(skip)

    def next_event(self, timeout: Optional[float] = None) -> Optional[Event]:
        """The next event; ``None`` on timeout, and after the event ``Disconnected`` of a client that does not reconnect.

        A program that does not read events loses the oldest ones, and of images all but the newest few.
        """
        with self._arrived:
            self._arrived.wait_for(lambda: self._inbox or self._is_over, timeout)
            return self._inbox.take()

    def events(self) -> Iterator[Event]:
        """Iterates over events; ends after the event ``Disconnected``, unless the client reconnects."""
        while True:
            event = self.next_event()
            if event is not None:
                yield event
            elif self._is_over:
                return

    def _last_welcome(self) -> Welcome:
        return self._robot._last_welcome()

    def _keep(self, event: Event) -> None:
        with self._arrived:
            self._inbox.put(event)
            self._is_over = self._robot._is_last(event)
            self._arrived.notify_all()

    def _request(self, request: bytes, then: Callable[[], object] = lambda: None) -> None:
        self._do(lambda: self._robot._request(request, then))

    def _do(self, what: Callable[[], R]) -> R:
        """Has the thread do something."""

        async def do() -> R:
            return what()

        return self._await(do())

    def _await(self, what: Coroutine[Any, Any, R]) -> R:
        with self._submitting:
            if self._loop is None:
                what.close()
                raise ClosedError("the client is not connected")
            future = asyncio.run_coroutine_threadsafe(what, self._loop)
        return future.result()

    def _start(self) -> None:
        self._is_over = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run, args=(self._loop,), name="oz", daemon=True)
        self._thread.start()

    def _stop(self) -> None:
        with self._submitting:
            loop, self._loop = self._loop, None
        if loop is not None and self._thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        loop.run_until_complete(_finish())
    finally:
        loop.close()


async def _finish() -> None:
    """Lets the calls of other threads return: they have ended with the connection, and need a few turns of the loop."""
    while waiting := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(waiting)
