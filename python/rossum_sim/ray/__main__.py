"""The companion of ``rossum evolve --ray``: evaluates the individuals that the program sends.

Both sides write a JSON object per line. The program sends the site, and for each generation its number and size, followed by
its individuals:

    {"site": {...}}
    {"generation": 1, "individuals": 2}
    {"hidden": 0, ...}
    {"hidden": 0, ...}

The companion sends its version when it can begin, progress, and then the outcomes in the order of the individuals:

    {"ready": {"version": "0.1.0", "workers": 4}}
    {"progress": {"finished": 1, "total": 2, "workers": 4, "lost": 0, "retried": 0}}
    {"outcome": {"fitness": 0.25, ...}}
    {"outcome": {"fitness": 0.5, ...}}

Numbers are written so that reading them gives the same bits. In case of ``{"error": "..."}``, the companion ends. It also ends
when its input does: when the program has ended, however it has.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, BinaryIO

from .. import __version__
from ..evolution import Genotype, site_from_json
from .pool import Pool, Progress

# longest line, in bytes; the largest nets have about 20 MB
MAX_LINE = 64 << 20
MAX_INDIVIDUALS = 1_000_000
# lines read ahead
MAX_AHEAD = 16

Write = Callable[[dict[str, Any]], None]


class Refused(ValueError):
    """A line of the program is not as described above."""


def lines_of(stream: BinaryIO) -> Iterator[bytes]:
    """Lines of bounded length, up to the end of the stream."""
    while line := stream.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise Refused(f"a line is longer than {MAX_LINE >> 20} MiB")
        yield line


def read_ahead(stream: BinaryIO) -> Iterator[bytes]:
    """The stream's lines, read by a thread, which interrupts this one at their end: it may be evaluating."""
    ahead: queue.Queue[bytes | Refused] = queue.Queue(MAX_AHEAD)
    reader = threading.main_thread().ident
    assert reader is not None

    def read() -> None:
        try:
            for line in lines_of(stream):
                ahead.put(line)
        except Refused as error:
            ahead.put(error)
        else:
            signal.pthread_kill(reader, signal.SIGINT)

    threading.Thread(target=read, name="input", daemon=True).start()
    while True:
        line = ahead.get()
        if isinstance(line, Refused):
            raise line
        yield line


def decode(line: bytes, name: str) -> dict[str, Any]:
    """The object in a line, which has a value of this name."""
    message = json.loads(line)
    if not isinstance(message, dict) or name not in message:
        raise Refused(f"expected `{name}`, not {line[:80]!r}")
    return message


def serve(pool: Pool, lines: Iterator[bytes], write: Write) -> None:
    """Evaluates generations until the lines end."""
    site = site_from_json(json.dumps(decode(next(lines), "site")["site"]))
    write({"ready": {"version": __version__, "workers": pool.workers}})
    for line in lines:
        message = decode(line, "generation")
        generation, count = int(message["generation"]), int(message["individuals"])
        if not 0 <= count <= MAX_INDIVIDUALS:
            raise Refused(f"{count} individuals; at most {MAX_INDIVIDUALS} are possible")
        individuals = [Genotype(next(lines).decode()) for _ in range(count)]
        for outcome in pool.evaluate(site, individuals, generation):
            write({"outcome": asdict(outcome)})


def private_output() -> BinaryIO:
    """The standard output. What others print goes to the standard error from now on."""
    sys.stdout.flush()
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return output


def main() -> int:
    """Serves the program at the other end of the standard streams; returns the exit status."""
    options = argparse.ArgumentParser(prog="python3 -m rossum_sim.ray", description="The companion of `rossum evolve --ray`.")
    options.add_argument("--address", default="local", help="address of a Ray cluster; local: start Ray on this machine")
    options.add_argument("--workers", type=int, help="number of workers; one for each CPU by default")
    given = options.parse_args()
    output = private_output()
    # a program in the background ignores it, and so would this one
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def write(message: dict[str, Any]) -> None:
        output.write(json.dumps(message, allow_nan=False).encode() + b"\n")
        output.flush()

    def report(progress: Progress) -> None:
        write({"progress": asdict(progress)})

    try:
        with Pool(given.address, workers=given.workers, progress=report) as pool:
            try:
                serve(pool, read_ahead(sys.stdin.buffer), write)
            except KeyboardInterrupt:
                # the program has ended, or is about to
                return 0
            finally:
                signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        return 0
    except BrokenPipeError:
        return 0
    except Exception as error:
        sys.excepthook(*sys.exc_info())
        write({"error": f"{error}" or type(error).__name__})
        return 1
    return 0


if __name__ == "__main__":
    # what is left of the input is read by nobody
    sys.exit(main())
