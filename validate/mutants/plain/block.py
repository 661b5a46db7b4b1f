"""Mutants of how the threads of a block work together: barriers, shuffles, reductions, tiles."""

from __future__ import annotations

import re
from collections.abc import Iterator

from validate.mutants.plain.flow import body_of, conditions
from validate.mutants.plain.text import Code
from validate.mutants.plain.values import Edit, replaced

_BARRIERS = ("__syncthreads", "__syncwarp")
_SHARED = re.compile(r"__shared__ [^;]*?(\w+)(?:\[[^;]*\])+;")
_ALONE = re.compile(r"(?:lane|threadIdx\.\w(?: % 32)?) (==|!=) 0")
_JOINED = re.compile(
    r"(\w+) = (?:[^;]*\W)?(?:warp|block)_\w+\(\s*\1\s*\)|(?:warp|block)_\w+\((\w+)\)"
)


def barrier_removed(code: Code) -> Iterator[Edit]:
    """One barrier of the text left out."""
    for at, _ in code.calls():
        if code.at(at) in _BARRIERS:
            yield replaced(code, *code.statement(at), ";")


def shuffle_offset_halved(code: Code) -> Iterator[Edit]:
    """The first exchange of a warp is left out."""
    if not any(code.at(at).startswith("__shfl") for at, _ in code.calls()):
        return
    for at, token in enumerate(code.tokens):
        if token.text == "offset" and code.at(at + 1) == "=" and code.at(at + 2) == "16":
            yield replaced(code, at + 2, at + 3, "8")


def shuffle_mask_wrong(code: Code) -> Iterator[Edit]:
    """Only half of the lanes are said to take part."""
    for at, args in code.calls():
        if code.at(at).startswith("__shfl"):
            yield replaced(code, *args[0], "0x0000ffff")


def half_off_by_one(code: Code) -> Iterator[Edit]:
    """A reduction starts with one thread less than half of them, or with half of the half."""
    for at, token in enumerate(code.tokens):
        start = code.at(at + 2)
        if token.text == "half" and code.at(at + 1) == "=" and start.isdigit():
            yield replaced(code, at + 2, at + 3, str(int(start) - 1))
            yield replaced(code, at + 2, at + 3, str(int(start) // 2))


def identity_wrong(code: Code) -> Iterator[Edit]:
    """What a thread's own part starts with is 1, or 0 where it was no zero."""
    text = code.text(0, len(code.tokens))
    parts = {name for pair in _JOINED.findall(text) for name in pair} - {""}
    for at, token in enumerate(code.tokens):
        if token.text != "=" or code.at(at - 1) not in parts:
            continue
        first, end = code.statement(at)
        declared = at - first > 1
        if not declared or code.around[at] != "{":
            continue
        value = code.text(at + 1, end - 1)
        yield replaced(code, at + 1, end - 1, _no_identity(value))


def _no_identity(value: str) -> str:
    if value.startswith("make_"):
        return re.sub(r"\(0\.0", "(1.0", value)
    return "1" if value.rstrip("f") in ("0", "0.0") else "0"


def tile_guard_dropped(code: Code) -> Iterator[Edit]:
    """What fills a tile reads past the end of the loop."""
    tiles = _SHARED.findall(code.text(0, len(code.tokens)))
    for at, first, end in conditions(code):
        body = body_of(code, end)
        if code.at(at) == "if" and any(re.match(rf"\{{\s*{tile}\[.*\] = ", body) for tile in tiles):
            yield replaced(code, first, end, "true")


def lane_guard_removed(code: Code) -> Iterator[Edit]:
    """All threads go on where one alone should."""
    for at, first, end in conditions(code):
        test = _ALONE.fullmatch(code.text(first, end))
        if code.at(at) == "if" and test:
            yield replaced(code, first, end, "true" if test[1] == "==" else "false")
