"""What the conformance suite cannot show: threads, tasks, and Python's own types."""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import threading
import unittest
from pathlib import Path
from typing import Callable

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import oz  # noqa: E402
from oz.events import VideoFrame  # noqa: E402
from oz.inbox import Inbox  # noqa: E402

LONG = 30.0
DONE = struct.pack(">I", oz.Message.SPEAK_DONE)
WELCOME = struct.pack(">IH5sH5s", oz.VERSION, 5, b"alice", 5, b"Alice")


class Robot:
    """Welcomes one client, and then does as it is told."""

    def __init__(self, act: Callable[[socket.socket], None]) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.thread = threading.Thread(target=self.run, args=(act,), daemon=True)
        self.thread.start()

    def run(self, act: Callable[[socket.socket], None]) -> None:
        with self.listener, self.listener.accept()[0] as stream:
            stream.settimeout(LONG)
            stream.recv(8)
            stream.sendall(WELCOME)
            act(stream)


def end_every_text(stream: socket.socket) -> None:
    # each text here has five bytes
    while stream.recv(11, socket.MSG_WAITALL):
        stream.sendall(DONE)


def stay(stream: socket.socket) -> None:
    while stream.recv(1024):
        pass


class Blocking(unittest.TestCase):
    def test_many_threads_speak_at_once(self) -> None:
        robot = Robot(end_every_text)
        with oz.Client("127.0.0.1", robot.port) as client:

            def talk() -> None:
                for _ in range(50):
                    self.assertTrue(client.speak("Hello").wait(LONG))

            threads = [threading.Thread(target=talk) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertFalse(client.speaking)

    def test_disconnecting_wakes_a_thread_that_waits(self) -> None:
        robot = Robot(stay)
        client = oz.Client("127.0.0.1", robot.port)
        client.connect()
        ends = []

        def wait(what: Callable[[], object]) -> None:
            try:
                what()
            except oz.ClosedError as error:
                ends.append(error)

        speech = client.speak("Hello")
        waits: list[Callable[[], object]] = [client.wait_for_speak, speech.wait]
        threads = [threading.Thread(target=wait, args=(what,)) for what in waits]
        for thread in threads:
            thread.start()
        client.disconnect()
        for thread in threads:
            thread.join(LONG)
        self.assertEqual(len(ends), 2)
        self.assertRaises(oz.ClosedError, client.reset)

    def test_a_call_that_ends_when_the_loop_stops_returns(self) -> None:
        async def nothing() -> None:
            pass

        loop = asyncio.new_event_loop()
        call = asyncio.run_coroutine_threadsafe(nothing(), loop)
        # stops in the turn in which the call ends, before it is reported
        loop.call_soon(lambda: loop.call_soon(loop.stop))
        oz.blocking._run(loop)
        self.assertTrue(call.done())

    def test_events_end_with_the_connection(self) -> None:
        robot = Robot(lambda stream: stream.sendall(DONE))
        with oz.Client("127.0.0.1", robot.port) as client:
            kinds = [type(event) for event in client.events()]
            self.assertIsNone(client.next_event())
        self.assertEqual(kinds, [oz.Connected, oz.SpeakDone, oz.Disconnected])

    def test_mistakes_are_value_errors(self) -> None:
        robot = Robot(stay)
        with oz.Client("127.0.0.1", robot.port) as client:
            self.assertRaises(ValueError, client.set_expression, 5)
            self.assertRaises(ValueError, client.set_voice_volume, float("nan"))
            self.assertRaises(ValueError, client.set_all_servos, [0.5] * 35)
            self.assertRaises(ValueError, client.gesture, -1)
            self.assertRaises(ValueError, client.speak, "\ud800")
            self.assertRaises(TypeError, client.set_voice_volume, "loud")
            self.assertFalse(client.speaking or client.gesturing)

    def test_a_client_that_is_connected_cannot_connect(self) -> None:
        robot = Robot(stay)
        with oz.Client("127.0.0.1", robot.port) as client:
            self.assertRaises(RuntimeError, client.connect)
            self.assertTrue(client.is_connected)

    def test_a_refused_client_leaves_no_thread(self) -> None:
        before = set(threading.enumerate())
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            port = nobody.getsockname()[1]
        self.assertRaises(oz.UnreachableError, oz.Client("127.0.0.1", port).connect)
        # robots of earlier tests may end meanwhile
        self.assertLessEqual(set(threading.enumerate()), before)


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_one_that_gives_up_does_not_affect_the_others(self) -> None:
        robot = Robot(lambda stream: (stream.recv(11), stream.recv(4), stream.sendall(DONE), stay(stream)))
        async with oz.AsyncClient("127.0.0.1", robot.port) as client:
            speech = client.speak("Hello")
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(speech, 0.02)
            self.assertFalse(speech.done())
            other = asyncio.ensure_future(_await(speech))
            client.reset()
            await asyncio.wait_for(other, LONG)
            self.assertTrue(speech.done())

    async def test_callbacks_get_their_events_only(self) -> None:
        robot = Robot(end_every_text)
        spoken: list[oz.Event] = []
        finished = asyncio.Event()

        async def end(_: oz.SpeakDone) -> None:
            finished.set()

        client = oz.AsyncClient("127.0.0.1", robot.port)
        client.on(oz.SpeakStart, spoken.append)
        client.on(oz.SpeakDone, end)
        async with client:
            await client.speak("Hello")
            await asyncio.wait_for(finished.wait(), LONG)
        self.assertEqual(spoken, [oz.SpeakStart("Hello")])

    async def test_the_mistake_of_a_callback_is_reported_and_stops_nothing(self) -> None:
        robot = Robot(end_every_text)
        mistakes: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: mistakes.append(context["exception"]))

        def fail(_: object) -> None:
            raise LookupError

        client = oz.AsyncClient("127.0.0.1", robot.port)
        client.on(oz.SpeakDone, fail)
        async with client:
            await client.speak("Hello")
            await client.speak("Hello")
        self.assertEqual([type(mistake) for mistake in mistakes], [LookupError, LookupError])

    async def test_a_cancelled_connection_leaves_nothing_behind(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            client = oz.AsyncClient("127.0.0.1", silent.getsockname()[1])
            connecting = asyncio.ensure_future(client.connect())
            await asyncio.sleep(0.02)
            connecting.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await connecting
            self.assertFalse(client.is_connected)
            with silent.accept()[0] as stream:
                stream.settimeout(LONG)
                self.assertEqual(stream.recv(100), struct.pack(">II", oz.Message.REQUEST_VERSION, oz.VERSION))
                self.assertEqual(stream.recv(100), b"")


async def _await(completion: oz.AsyncCompletion) -> None:
    await completion


class Queue(unittest.TestCase):
    def test_old_images_give_way(self) -> None:
        inbox = Inbox()
        for number in range(100):
            inbox.put(VideoFrame(bytes([number])))
            inbox.put(oz.SpeakDone())
        kept = [inbox.take() for _ in range(108)]
        self.assertEqual(sum(event == oz.SpeakDone() for event in kept), 100)
        self.assertEqual([event.jpeg[0] for event in kept if isinstance(event, VideoFrame)], list(range(92, 100)))
        self.assertFalse(inbox)

    def test_the_queue_is_bounded(self) -> None:
        inbox = Inbox()
        for number in range(10_000):
            inbox.put(oz.SpeakGesture(number))
        self.assertEqual(inbox.take(), oz.SpeakGesture(10_000 - 4096))


if __name__ == "__main__":
    unittest.main()
