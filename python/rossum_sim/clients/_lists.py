"""The league's nested lists of words, such as ``(time (now 1.2))``."""

from __future__ import annotations

import math
import re
from typing import Any

__all__ = ["integer", "number", "parse", "word"]

_MAX_TOKENS = 262_144
_MAX_WORD = 128
_TOKEN = re.compile(r"[()]|[^ ()]+")
_WORD = re.compile(r"[^ ()\x00-\x1f\x7f]+")
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")


def parse(text: str, depth: int) -> list[list[Any]]:
    """The lists of a message. Words are strings; those outside all lists are left out. Lists are nested at most ``depth`` deep."""
    stack: list[list[Any]] = [[]]
    for count, token in enumerate(_TOKEN.finditer(text)):
        if count == _MAX_TOKENS:
            raise ValueError(f"more than {_MAX_TOKENS} words and parentheses")
        if token[0] == "(":
            if len(stack) > depth:
                raise ValueError(f"lists are nested more than {depth} deep")
            stack.append([])
        elif token[0] == ")":
            if len(stack) == 1:
                raise ValueError("a parenthesis too many")
            done = stack.pop()
            stack[-1].append(done)
        elif len(stack) > 1:
            stack[-1].append(token[0])
    if len(stack) > 1:
        raise ValueError("a list that is not closed")
    return stack[0]


def number(text: str) -> float:
    """A finite number."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a finite number")
    return value


def integer(text: str) -> int:
    """A whole number."""
    if not _INTEGER.fullmatch(text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def word(text: str) -> str:
    """A name, which is one word of a list."""
    if not _WORD.fullmatch(text) or len(text.encode()) > _MAX_WORD:
        raise ValueError(f"invalid name {text!r}: expected 1 to {_MAX_WORD} bytes, no spaces, parentheses or control characters")
    return text
