"""The example that learns: a few updates, and what it leaves behind."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/learning/ppo.py"


def run(*arguments):
    """The lines that the example prints."""
    command = [sys.executable, EXAMPLE, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_policy_is_learned_saved_and_loaded(tmp_path):
    printed = run("--task", "RoverAvoid", "--steps", 5 * 32 * 128, "--seed", 7, "--out", tmp_path)
    [mean] = re.findall(r"mean return (-?[\d.]+) in 20 new episodes", printed)
    policy = np.load(tmp_path / "policy.npz")
    assert str(policy["task"]) == "RoverAvoid"
    assert policy["w0"].shape[0] == 10 and policy["w2"].shape[1] == 2
    assert all(np.isfinite(policy[name]).all() and policy[name].any() for name in ("w0", "w1", "w2"))
    assert policy["b2"].any(), "it began with zeros"
    # the curve appears with the first episodes that have ended
    assert (tmp_path / "curve.svg").read_text().startswith("<svg")
    again = run("--play", tmp_path / "policy.npz")
    assert f"mean return {mean} in 20 new episodes" in again
