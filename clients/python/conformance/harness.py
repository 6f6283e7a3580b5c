"""The conformance harness of the Python client; see protocols/oz/conformance/README.md.

    harness.py [--asyncio]
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import sys
import threading
from pathlib import Path
from typing import Any, Dict, List, Union

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

import oz  # noqa: E402

AnyClient = Union[oz.Client, oz.AsyncClient]

# of the events, by class; those that are missing have no fields
FIELDS = {
    oz.GestureStart: lambda event: {"gesture": event.gesture},
    oz.SpeakGesture: lambda event: {"gesture": event.gesture},
    oz.Utterance: lambda event: {
        "options": [{"confidence": number(option.confidence), "text": option.text} for option in event.options]
    },
    oz.Faces: lambda event: {"faces": [face(each) for each in event.faces]},
    oz.VideoFrame: lambda event: {"jpeg": event.jpeg.hex()},
    oz.Disconnected: lambda event: {"reason": None if event.reason is None else failure(event.reason)},
    oz.ConnectFailed: lambda event: {"error": failure(event.error)},
    oz.InvalidMessage: lambda event: {"error": failure(event.error)},
}


def number(value: float) -> Union[float, str]:
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else "inf" if value > 0 else "-inf"


def face(face: oz.Face) -> Dict[str, Any]:
    numbers = {key: number(getattr(face, key)) for key in ("confidence", "x", "y", "width", "height")}
    return {**numbers, "name": face.name}


def failure(error: Exception) -> Dict[str, str]:
    return {"kind": error.kind if isinstance(error, oz.OzError) else type(error).__name__, "message": str(error)}


def snake_case(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("_")


def constants() -> Dict[str, int]:
    found = {"OZ_PORT": oz.PORT, "MAX_SERVOS": oz.MAX_SERVOS, "MAX_GESTURES": oz.MAX_GESTURES}
    prefixes = {
        "SERVO": oz.Servo,
        "VGL": oz.VoiceGenderLanguage,
        "GESTURE": oz.Gesture,
        "EXPRESSION": oz.Expression,
        "LOOKAT": oz.LookAt,
        "MSG": oz.Message,
    }
    for prefix, members in prefixes.items():
        found.update({f"{prefix}_{member.name}": int(member) for member in members})
    return found


class Harness:
    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async
        self.clients: Dict[str, AnyClient] = {}
        # of texts and gestures, in the order in which they were started
        self.completions: Dict[str, Dict[str, List[Any]]] = {}
        self.writing = threading.Lock()

    def write(self, line: Dict[str, Any]) -> None:
        with self.writing:
            print(json.dumps(line), flush=True)

    def tell(self, client: str, event: oz.Event) -> None:
        fields = FIELDS.get(type(event), lambda _: {})(event)
        self.write({"client": client, "event": snake_case(type(event).__name__), **fields})

    async def handle(self, command: Dict[str, Any]) -> None:
        try:
            result = self.call(command["client"], command["call"], *command["args"])
            if inspect.isawaitable(result):
                result = await result
        except Exception as error:
            self.write({"id": command["id"], "fails": failure(error)})
        else:
            self.write({"id": command["id"], "returns": result})

    def call(self, name: str, call: str, *args: Any) -> Any:
        if call == "constants":
            return constants()
        if call == "gesture_tags":
            return [gesture.tag for gesture in oz.Gesture]
        if call == "connect":
            return self.connect(name, **args[0])
        client = self.clients[name]
        if call in ("speak", "gesture"):
            self.completions[name][call].append(getattr(client, call)(*args))
            return None
        if call in ("await_text", "await_gesture"):
            kind, (index, timeout_ms) = ("speak" if call == "await_text" else "gesture"), args
            return self.wait(self.completions[name][kind][index - 1], timeout_ms / 1000)
        if call in ("wait_for_speak", "wait_for_gesture"):
            return getattr(client, call)(args[0] / 1000)
        if call == "set_all_servos" or call.startswith("set_"):
            args = tuple([float(each) for each in arg] if isinstance(arg, list) else to_number(arg) for arg in args)
        # a method, or a property
        member = getattr(client, call)
        return member(*args) if callable(member) else member

    def connect(self, name: str, host: str, port: int, timeout_ms: int, reconnect_ms: Any = None) -> Any:
        reconnect = None if reconnect_ms is None else reconnect_ms / 1000
        kind = oz.AsyncClient if self.is_async else oz.Client
        client = kind(host, port, timeout=timeout_ms / 1000, reconnect=reconnect)
        self.clients[name], self.completions[name] = client, {"speak": [], "gesture": []}
        if isinstance(client, oz.AsyncClient):
            client.on(object, lambda event: self.tell(name, event))
            return client.connect()
        client.connect()
        threading.Thread(target=lambda: [self.tell(name, event) for event in client.events()], daemon=True).start()
        return None

    @staticmethod
    def wait(completion: Any, timeout: float) -> Any:
        if isinstance(completion, oz.Completion):
            return completion.wait(timeout)

        async def wait() -> bool:
            try:
                await asyncio.wait_for(completion, timeout)
            except oz.OzError:
                raise
            except asyncio.TimeoutError:
                return False
            return True

        return wait()


def to_number(argument: Any) -> Any:
    # numbers that JSON does not have are texts
    return float(argument) if isinstance(argument, str) else argument


async def main() -> None:
    harness = Harness("--asyncio" in sys.argv)
    loop = asyncio.get_running_loop()
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line:
            break
        await harness.handle(json.loads(line))
    for client in harness.clients.values():
        closing = client.disconnect()
        if closing is not None:
            await closing


if __name__ == "__main__":
    asyncio.run(main())
