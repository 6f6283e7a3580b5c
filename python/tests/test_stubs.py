"""The type stubs describe the native module as it is."""

import ast
import inspect
from pathlib import Path

from rossum_sim import _native

DUNDERS = {"__getitem__", "__setitem__", "__contains__", "__enter__", "__exit__"}


def described():
    """Public names of the stubs, and the members of each class."""
    tree = ast.parse(Path(_native.__file__).with_name("_native.pyi").read_text())
    names = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {member.name for member in node.body if isinstance(member, ast.FunctionDef)}
            members |= {member.target.id for member in node.body if isinstance(member, ast.AnnAssign)}
            names[node.name] = {name for name in members if not name.startswith("_") or name in DUNDERS}
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = set()
    return names


def test_stubs_and_module_have_the_same_names():
    actual = {}
    for name, value in vars(_native).items():
        if name == "__version__" or not name.startswith("_"):
            is_class = inspect.isclass(value) and not issubclass(value, Exception)
            members = vars(value) if is_class else ()
            actual[name] = {member for member in members if not member.startswith("_") or member in DUNDERS}
    assert described() == actual
