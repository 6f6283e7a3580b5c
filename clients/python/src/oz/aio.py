"""The client for asyncio."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Callable, Deque, Generator, List, Optional, Set, Tuple, Type, TypeVar

from . import codec
from .connection import Connection
from .constants import PORT, VERSION, Message
from .errors import ClosedError, OzError, OzTimeoutError, UnreachableError
from .events import (
    ConnectFailed,
    Connected,
    Disconnected,
    Event,
    GestureDone,
    GestureStart,
    InvalidMessage,
    SpeakDone,
    SpeakGesture,
    SpeakStart,
    VideoFrame,
)
from .identity import Identity
from .inbox import Inbox
from .settings import Settings

E = TypeVar("E")


class AsyncCompletion:
    """The end of a text or a gesture. Await it, or leave it alone.

    Waiting raises the reason if the connection ends first.
    """

    def __init__(self) -> None:
        self._future: Future[None] = Future()

    def done(self) -> bool:
        """Whether it has ended, or the connection has."""
        return self._future.done()

    def __await__(self) -> Generator[Any, None, None]:
        end = asyncio.wrap_future(self._future)
        # the one that waits may have given up, and nobody has to know of an error
        end.add_done_callback(lambda end: end.cancelled() or end.exception())
        # it does not affect the others that wait
        return asyncio.shield(end).__await__()


class EventStream:
    """Iterates over events; ends after the event ``Disconnected``, unless the client reconnects."""

    def __init__(self) -> None:
        self._inbox = Inbox()
        self._is_over = False
        self._arrived: Optional[asyncio.Event] = None

    def _put(self, event: Event, is_last: bool) -> None:
        self._inbox.put(event)
        self._is_over = is_last
        if self._arrived is not None:
            self._arrived.set()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        while True:
            event = self._inbox.take()
            if event is not None:
                return event
            if self._is_over:
                raise StopAsyncIteration
            if self._arrived is None:
                self._arrived = asyncio.Event()
            self._arrived.clear()
            await self._arrived.wait()


class AsyncClient(Settings, Identity):
    """A client for asyncio.

    ::

        async with oz.AsyncClient("127.0.0.1") as robot:
            robot.set_expression(oz.Expression.HAPPY)
            await robot.speak("[braisel]Hello, who are you?")
            async for event in robot.events():
                if isinstance(event, oz.Utterance):
                    print(event.text)

    Requests are sent at once, and methods that send them need no ``await``. All methods must be called in the thread of the
    event loop.
    """

    def __init__(
        self, host: str = "127.0.0.1", port: int = PORT, *, timeout: float = 10.0, reconnect: Optional[float] = None
    ) -> None:
        """Prepares a client; ``connect``, or entering the context, connects it.

        ``timeout`` limits, in seconds, how long connecting takes and how long the robot may leave requests unread. With
        ``reconnect``, a lost connection is made again, with that many seconds before each attempt.
        """
        super().__init__()
        self._host, self._port = host, port
        self._timeout, self._reconnect = timeout, reconnect
        self._connection: Optional[Connection] = None
        self._welcome = codec.Welcome(0, "", "")
        self._attempts: Optional[asyncio.Task[None]] = None
        self._texts: Deque[AsyncCompletion] = deque()
        self._gestures: List[AsyncCompletion] = []
        self._gesture_count = 0
        self._skips_video = False
        self._callbacks: List[Tuple[type, Callable[[Any], Any]]] = []
        self._tasks: Set[asyncio.Future[Any]] = set()
        self._streams: weakref.WeakSet[EventStream] = weakref.WeakSet()

    async def __aenter__(self) -> AsyncClient:
        await self.connect()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.disconnect()

    async def connect(self) -> None:
        """Connects and requests the version.

        Raises ``UnreachableError``, ``OzTimeoutError``, ``VersionError``, ``MessageError`` or ``ClosedError``.
        """
        if self._connection is not None or self._attempts is not None:
            raise RuntimeError("the client is connected already")
        await self._open()

    async def disconnect(self) -> None:
        """Closes the connection. Settings of the robot stay in effect."""
        attempts, self._attempts = self._attempts, None
        connection, self._connection = self._connection, None
        if attempts is not None:
            attempts.cancel()
        if connection is not None:
            await connection.close()
        if attempts is not None or connection is not None:
            self._end(ClosedError("this client has closed the connection"), None)

    @property
    def is_connected(self) -> bool:
        """Whether the client is connected."""
        return self._connection is not None

    def speak(self, text: str) -> AsyncCompletion:
        """Sends a text, which may have gesture tags (``"[nos]Nope."``). The result can be awaited.

        Texts are spoken one after another.
        """
        completion = AsyncCompletion()

        def note() -> None:
            self._texts.append(completion)
            self._emit(SpeakStart(text))

        self._request(codec.encode_text(Message.SPEAK, text), note)
        return completion

    async def wait_for_speak(self, timeout: Optional[float] = None) -> bool:
        """Waits until all texts of this client have been spoken; ``False`` if that takes longer than the timeout."""
        return await self._wait(lambda: self._texts[-1] if self._texts else None, timeout)

    @property
    def speaking(self) -> bool:
        """Whether texts of this client have not been spoken yet."""
        return bool(self._texts)

    def gesture(self, gesture: int) -> AsyncCompletion:
        """Starts a gesture: one of ``Gesture``, or another one of the robot. The result can be awaited.

        Several gestures can play at once, and the robot does not tell which one has ended. So all are taken to have ended
        when none is playing any more.
        """
        completion = AsyncCompletion()

        def note() -> None:
            self._gestures.append(completion)
            self._gesture_count += 1
            self._emit(GestureStart(gesture))

        self._request(codec.encode_word(Message.GESTURE, gesture), note)
        return completion

    async def wait_for_gesture(self, timeout: Optional[float] = None) -> bool:
        """Waits until all gestures of this client have ended, including those in its texts."""
        return await self._wait(self._playing, timeout)

    @property
    def gesturing(self) -> bool:
        """Whether gestures of this client are playing, including those in its texts."""
        return self._gesture_count > 0

    def skip_video(self, skip: bool = True) -> None:
        """Sets whether images are dropped."""
        self._skips_video = skip

    def on(self, kind: Type[E], callback: Callable[[E], Any]) -> None:
        """Has ``callback`` called with each event of this type; it may be a coroutine function."""
        self._callbacks.append((kind, callback))

    def events(self) -> EventStream:
        """Iterates over the events from now on.

        A program that does not read them loses the oldest ones, and of images all but the newest few.
        """
        stream = EventStream()
        self._streams.add(stream)
        return stream

    def _last_welcome(self) -> codec.Welcome:
        return self._welcome

    def _playing(self) -> Optional[AsyncCompletion]:
        if self._gesture_count > 0 and not self._gestures:
            self._gestures.append(AsyncCompletion())
        return self._gestures[-1] if self._gestures else None

    async def _wait(self, pending: Callable[[], Optional[AsyncCompletion]], timeout: Optional[float]) -> bool:
        connection = self._connection
        if connection is None:
            raise _not_connected()

        async def wait() -> None:
            completion = pending()
            while completion is not None:
                await completion
                completion = pending()
            if self._connection is not connection:
                raise _not_connected()

        # a timeout of 0 asks whether it is so
        if pending() is None:
            return True
        try:
            await asyncio.wait_for(wait(), timeout)
        except OzError:
            # it may be a timeout of the connection
            raise
        except asyncio.TimeoutError:
            return False
        return True

    def _request(self, request: bytes, then: Callable[[], object] = lambda: None) -> None:
        if self._connection is None:
            raise _not_connected()
        self._connection.send(request)
        then()

    async def _open(self) -> None:
        connection = Connection(
            self._timeout,
            welcomed=lambda welcome: self._welcomed(connection, welcome),
            received=lambda event: self._received(connection, event),
            rejected=lambda error: self._emit(InvalidMessage(error)),
            lost=lambda error: self._lost(connection, error),
        )
        try:
            await asyncio.wait_for(self._shake_hands(connection), self._timeout)
        except asyncio.TimeoutError:
            late = OzTimeoutError(f"no answer to the version request within {self._timeout:g} s")
            connection.abort(late)
            raise late from None
        except asyncio.CancelledError:
            connection.abort(ClosedError("this client has given up"))
            raise

    async def _shake_hands(self, connection: Connection) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: connection, self._host, self._port)
        except OSError as error:
            raise UnreachableError(f"{self._host}:{self._port} cannot be reached: {error}") from error
        await connection.welcome

    def _welcomed(self, connection: Connection, welcome: codec.Welcome) -> None:
        self._connection = connection
        self._welcome = welcome
        self._emit(Connected(welcome.name, welcome.long_name))

    def _received(self, connection: Connection, event: codec.Received) -> None:
        if self._connection is not connection or (self._skips_video and isinstance(event, VideoFrame)):
            return
        ended = self._ended_by(event)
        self._emit(event)
        for completion in ended:
            completion._future.set_result(None)

    def _ended_by(self, event: codec.Received) -> List[AsyncCompletion]:
        if isinstance(event, SpeakDone):
            return [self._texts.popleft()] if self._texts else []
        if isinstance(event, SpeakGesture):
            self._gesture_count += 1
        elif isinstance(event, GestureDone) and self._gesture_count > 0:
            self._gesture_count -= 1
            if self._gesture_count == 0:
                ended, self._gestures = self._gestures, []
                return ended
        return []

    def _lost(self, connection: Connection, error: OzError) -> None:
        if self._connection is not connection:
            return
        self._connection = None
        if self._reconnect is not None:
            self._attempts = asyncio.get_running_loop().create_task(self._open_again(self._reconnect))
        self._end(error, error)

    def _end(self, error: OzError, reason: Optional[OzError]) -> None:
        """Ends what is going on with this error, and tells the reason."""
        pending = [*self._texts, *self._gestures]
        self._texts.clear()
        self._gestures, self._gesture_count = [], 0
        self._emit(Disconnected(reason))
        for completion in pending:
            completion._future.set_exception(error)

    async def _open_again(self, delay: float) -> None:
        while True:
            await asyncio.sleep(delay)
            try:
                await self._open()
            except OzError as error:
                self._emit(ConnectFailed(error))
            else:
                break
        self._attempts = None

    def _emit(self, event: Event) -> None:
        is_last = self._is_last(event)
        for stream in list(self._streams):
            stream._put(event, is_last)
        for kind, callback in list(self._callbacks):
            if isinstance(event, kind):
                self._call(callback, event)

    def _is_last(self, event: Event) -> bool:
        return isinstance(event, Disconnected) and (event.reason is None or self._reconnect is None)

    def _call(self, callback: Callable[[Any], Any], event: Event) -> None:
        try:
            result = callback(event)
        except Exception as error:
            # the mistake of one callback must not stop the others
            context = {"message": f"callback for {event!r} failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
            return
        if asyncio.iscoroutine(result):
            task = asyncio.ensure_future(result)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)


def _not_connected() -> ClosedError:
    return ClosedError("the client is not connected")
