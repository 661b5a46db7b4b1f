"""SASS as nvdisasm prints it: the instructions of each kernel, and which lines they come from."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_SECTION = re.compile(r"^//-{3,} (\S+) +-{3,}$", re.MULTILINE)
_CODE = ".text."
_FRAME = re.compile(r'^\t//## File "([^"]*)", line (\d+)')
_INSTRUCTION = re.compile(r"^ +/\*([0-9a-f]{4,})\*/ +(\S.*?)\s*$")
_LABEL = re.compile(r"^(\S+):$")
_PADDING = re.compile(r"NOP ?;")
# What nvdisasm says of an instruction stands far to the right.
_REMARK = re.compile(r" +\(\*")


@dataclass(frozen=True)
class Sass:
    """The code of a kernel and the functions that it calls.

    `text` has an instruction or a label a line, each instruction behind its offset in bytes; what
    only fills the section up is left out. `lines` are pairs of an offset and the line of the source
    that the instructions from there on come from, None for those of no line of it: a pair for each
    change. Of inlined functions it is the innermost line that lies in the source itself.
    """

    text: str
    lines: tuple[tuple[int, int | None], ...]
    instructions: int


def kernels(listing: str, sources: Collection[str]) -> dict[str, Sass]:
    """The code of each kernel in what `nvdisasm -c -gi` printed; `sources` are the names of the
    files whose lines are wanted."""
    parts = _SECTION.split(listing)
    return {
        name.removeprefix(_CODE): _sass(body, sources)
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
        if name.startswith(_CODE)
    }


def _sass(body: str, sources: Collection[str]) -> Sass:
    found: list[tuple[int | None, str]] = []
    lines: list[tuple[int, int | None]] = []
    for offset, text, line in _parsed(body, sources):
        found.append((offset, text))
        if offset is not None and (not lines or lines[-1][1] != line):
            lines.append((offset, line))
    while found and (found[-1][0] is None or _PADDING.fullmatch(found[-1][1])):
        found.pop()
    end = max((offset for offset, _ in found if offset is not None), default=-1)
    printed = (t if at is None else f"    /*{at:04x}*/  {t}" for at, t in found)
    return Sass(
        text="".join(f"{one}\n" for one in printed),
        lines=tuple((at, line) for at, line in lines if at <= end),
        instructions=sum(offset is not None for offset, _ in found),
    )


def _parsed(body: str, sources: Collection[str]) -> Iterator[tuple[int | None, str, int | None]]:
    """Offset (None of labels), text and source line of each instruction and label."""
    line: int | None = None
    frames: list[tuple[str, int]] = []
    for raw in body.splitlines():
        if match := _FRAME.match(raw):
            frames.append((match[1].rsplit("/", 1)[-1], int(match[2])))
        elif match := _INSTRUCTION.match(raw):
            if frames:
                line = next((number for name, number in frames if name in sources), None)
                frames = []
            yield int(match[1], 16), _REMARK.sub(" (*", match[2]), line
        elif (match := _LABEL.match(raw)) and not match[1].startswith(_CODE):
            yield None, raw, line
