"""Servers of the built program, on free ports."""

import json
import os
import subprocess
from contextlib import contextmanager

import pytest

ROSSUM = os.environ.get("ROSSUM", "rossum")


@contextmanager
def serving(*arguments, command="serve"):
    """Runs ``rossum serve``, or another command that serves; yields the ports of its endpoints by title."""
    arguments = [ROSSUM, command, "--free-ports", "--json", "--log", "error", *arguments]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server:
        try:
            addresses = json.loads(server.stdout.readline())["addresses"]
            yield {address["title"]: int(address["address"].rsplit(":", 1)[1]) for address in addresses}
        finally:
            server.terminate()


@pytest.fixture
def arena():
    """A server of the scenario ``arena``."""
    with serving("--scenario", "arena") as ports:
        yield ports
