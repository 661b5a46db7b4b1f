"""Long statements of a C++ text on lines that fit; see :mod:`synth.render.cuda.breaks`."""

from __future__ import annotations

import re
import textwrap

from synth.render.cuda.breaks import TAB, WIDTH, Laid, Place, around, lay

_HEAD = re.compile(r"(?:} else )?(?:if|while|for) \(")
_ASSIGN = re.compile(r" (?:[-+*/%&|^]|<<|>>)?= ")


def wrapped(indent: int, text: str) -> list[str]:
    """One statement or head on lines that fit."""
    pad = " " * indent
    if text.startswith("#"):
        return [text]
    if indent + len(text) <= WIDTH:
        return [pad + text]
    if text.startswith("// "):
        return [f"{pad}// {line}" for line in textwrap.wrap(text[3:], WIDTH - indent - 3)]
    first, *rest = _statement(text, indent).lines
    return [pad + first, *rest]


def leaving(indent: int, test: str) -> list[str]:
    """The lines with which threads that meet a test leave the kernel."""
    pad = " " * indent
    return [*wrapped(indent, f"if ({test}) {{"), f"{pad}    return;", f"{pad}}}"]


def _statement(text: str, indent: int) -> Laid:
    inner, found = indent + TAB, _HEAD.match(text)
    if found:
        head, close = found.group(), text.rindex(")")
        tail = text[close:]
        if head.endswith("for ("):
            return _clauses(head, text[len(head) : close], tail, indent)
        hang = inner if head == "while (" else indent + len(head) + TAB
        place = Place(indent + len(head), inner, hang, len(tail))
        return around(head, lay(text[len(head) : close], place), tail)
    end = ";" if text.endswith(";") else ""
    text = text.removesuffix(";")
    if text.startswith("return "):
        return around("return ", lay(text[7:], Place(indent + 7, inner, inner, 1, 0)), end)
    at = _ASSIGN.search(text)
    if at is None or not end:
        return around("", lay(text, Place(indent, inner, inner, len(end))), end)
    return _assignment(text[: at.end()], text[at.end() :], end, indent)


def _assignment(head: str, value: str, end: str, indent: int) -> Laid:
    """``x = value``, broken within the value or, where that costs less, after the sign."""
    inner = indent + TAB
    column = indent + len(head)
    beside = around(head, lay(value, Place(column, inner, inner, len(end))), end)
    if beside.cost < 2 and column < WIDTH - 30:
        return beside
    under = around("", lay(value, Place(inner, inner, inner + TAB, len(end))), end)
    if under.cost + 1.5 >= beside.cost:
        return beside
    first, *rest = under.lines
    return Laid([head.rstrip(), " " * inner + first, *rest], under.cost)


def _clauses(head: str, text: str, tail: str, indent: int) -> Laid:
    """The head of a ``for``, a clause a line."""
    parts, inner, lines, cost = text.split("; "), indent + TAB, [], 0.0
    for k, part in enumerate(parts):
        last = k == len(parts) - 1
        start = inner if k else indent + len(head)
        found = _ASSIGN.search(part)
        given = part[: found.end()] if found else ""
        below = inner + TAB if found else inner
        place = Place(start + len(given), below, start + TAB, len(tail) if last else 1)
        laid = around(given, lay(part[len(given) :], place), "")
        laid = around(" " * inner if k else head, laid, tail if last else ";")
        lines += laid.lines
        cost += laid.cost
    return Laid(lines, cost)
