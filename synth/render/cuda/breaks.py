"""Long C++ expressions on several lines, as people break them and as clang-format leaves them.

A line is broken where the fewest brackets are open: before the operators that bind loosest, else
after an opening bracket or at its commas. What spans several lines itself gets lines of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

WIDTH = 100
TAB = 4

_LEVELS = ("?:", "||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
_RANKS = {sign: rank for rank, level in enumerate(_LEVELS[1:], 1) for sign in level.split()}
_RANKS |= {"?": 0, ":": 0}
_TOKEN = re.compile(r"[(\[{]|[)\]}]|, | (\|\||&&|[=!<>]=|<<|>>|[-+*/%<>&|^?:]) ")


class Place(NamedTuple):
    """Where a piece stands: its column, that of the lines that follow, and what stands after it."""

    column: int
    indent: int
    """Of the operators of a chain that is broken."""
    hang: int
    """Of what stands in a bracket that is broken."""
    tail: int = 0
    first: int = TAB
    """How much further in the operators within its operands stand."""


class Laid(NamedTuple):
    """Lines, the first without its indent, and what their breaks cost."""

    lines: list[str]
    cost: float = 0.0


def around(head: str, laid: Laid, tail: str) -> Laid:
    """The lines with what stands before and after them."""
    lines = [head + laid.lines[0], *laid.lines[1:]]
    lines[-1] += tail
    return Laid(lines, laid.cost)


def lay(text: str, place: Place) -> Laid:
    """An expression on as many lines as it takes."""
    if place.column + len(text) + place.tail <= WIDTH:
        return Laid([text])
    pieces, signs = _operands(text)
    return _chain(pieces, signs, place) if signs else _term(text, place)


def _operands(text: str) -> tuple[list[str], list[str]]:
    """The operands of the operators that bind loosest, and these operators."""
    depth, best = 0, 99
    found: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        sign = token.group(1)
        if sign is None:
            c = text[token.start()]
            depth += (c in "([{") - (c in ")]}")
        elif depth == 0 and _RANKS[sign] <= best:
            if _RANKS[sign] < best:
                best, found = _RANKS[sign], []
            found.append(token)
    edges = [0, *(k for t in found for k in t.span()), len(text)]
    pieces = [text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
    return _ladder(pieces, [t.group(1) for t in found])


def _ladder(pieces: list[str], signs: list[str]) -> tuple[list[str], list[str]]:
    """A chain of ``?:``: brackets around the last choice go, for each has lines of its own."""
    last = pieces[-1]
    if signs[:1] == ["?"] and last.startswith("(") and _partner(last, 0) == len(last) - 1:
        more, others = _operands(last[1:-1])
        if others[:1] == ["?"]:
            return [*pieces[:-1], *more], [*signs, *others]
    return pieces, signs


def _chain(pieces: list[str], signs: list[str], place: Place) -> Laid:
    """Operands, each on the line before it where it fits, its operator leading a new line."""
    inner, last = place.indent + place.first, len(signs)
    opened = Place(place.column, inner, place.column + TAB)
    lines, cost = lay(pieces[0], opened)
    alone, room = len(lines) > 1 or signs[0] == "?", WIDTH - place.column
    lines = list(lines)
    for k, (sign, piece) in enumerate(zip(signs, pieces[1:], strict=True), 1):
        tail = place.tail if k == last else 0
        added = f" {sign} {piece}"
        if not alone and len(lines[-1]) + len(added) + tail <= room:
            lines[-1] += added
            continue
        start = place.indent + len(sign) + 1
        if signs[0] == "?":
            below = Place(start, place.indent + TAB, start + TAB, tail)
        else:
            below = Place(start, inner, place.indent + TAB, tail)
        laid = lay(piece, below)
        lines += [f"{' ' * place.indent}{sign} {laid.lines[0]}", *laid.lines[1:]]
        cost += 1 + 2 * laid.cost
        alone, room = len(laid.lines) > 1 or signs[0] == "?", WIDTH
    return Laid(lines, cost + _over(lines, place))


def _over(lines: list[str], place: Place) -> float:
    """The price of lines that are too long."""
    first = place.column + len(lines[0]) > WIDTH
    return 1000.0 * (first + sum(len(line) > WIDTH for line in lines[1:]))


def _partner(text: str, at: int) -> int:
    depth = 0
    for k in range(at, len(text)):
        depth += (text[k] in "([{") - (text[k] in ")]}")
        if depth == 0:
            return k
    raise ValueError(f"a bracket stays open in {text!r}")


def _term(text: str, place: Place) -> Laid:
    """A call, an initialiser or a group, broken within its longest bracket."""
    spans, k = [], 0
    while k < len(text):
        if text[k] in "([{":
            spans.append((k, _partner(text, k)))
            k = spans[-1][1]
        k += 1
    if not spans:
        return Laid([text], 1000.0)
    opened, closed = max(spans, key=lambda span: span[1] - span[0])
    head, inside, suffix = text[: opened + 1], text[opened + 1 : closed], text[closed:]
    shapes: list[Callable[[str, str, str, Place], Laid]] = [_beside]
    if head[-1] == "(" and head[-2:-1].isidentifier():
        shapes.append(_below)
    return min((shape(head, inside, suffix, place) for shape in shapes), key=lambda x: x.cost)


def _beside(head: str, inside: str, tail: str, place: Place) -> Laid:
    """The first argument right after the bracket."""
    after = place.tail + len(tail)
    laid = _arguments(inside, place.column + len(head), place.hang, place.hang, after)
    laid = around(head, laid, tail)
    return Laid(laid.lines, 2 * laid.cost + _over(laid.lines, place))


def _below(head: str, inside: str, tail: str, place: Place) -> Laid:
    """The first argument on a line of its own."""
    after = place.tail + len(tail)
    laid = _arguments(inside, place.hang, place.hang, place.hang + TAB, after)
    first, *rest = laid.lines
    lines = [head, " " * place.hang + first, *rest]
    lines[-1] += tail
    return Laid(lines, 2.5 + 2 * laid.cost + _over(lines[:1], place))


def _arguments(text: str, column: int, hang: int, inner: int, tail: int) -> Laid:
    """What stands in a bracket, filled into lines; an argument that is broken has its own."""
    items = _items(text)
    if len(items) == 1:
        step = TAB if _operands(text)[1][:1] == ["?"] else 0
        return lay(text, Place(column, hang + step, inner, tail))
    lines: list[str] = []
    cost, room, alone = 0.0, WIDTH - column, text.startswith("{")
    for k, item in enumerate(items):
        comma = "," if k < len(items) - 1 else ""
        after = len(comma) or tail
        if k and not alone and len(lines[-1]) + 1 + len(item) + after <= room:
            lines[-1] += f" {item}{comma}"
            continue
        start = hang if k else column
        laid = lay(item, Place(start, hang + TAB, start + TAB, after))
        first, *rest = around(" " * hang if k else "", laid, comma).lines
        lines += [first, *rest]
        cost += (k > 0) + 2 * laid.cost
        alone, room = bool(rest) or text.startswith("{"), WIDTH if k else room
    return Laid(lines, cost)


def _items(text: str) -> list[str]:
    """The arguments between the commas of the outermost level."""
    depth, start, found = 0, 0, []
    for token in _TOKEN.finditer(text):
        c = text[token.start()]
        if c == "," and depth == 0:
            found.append(text[start : token.start()])
            start = token.end()
        depth += (c in "([{") - (c in ")]}")
    return [*found, text[start:]]
