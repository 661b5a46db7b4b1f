"""How many bytes the structs and aliases of a text take, for `sizeof` in a launch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from validate.text import toplevel
from validate.text.formula import bytes_of
from validate.text.lexer import WORD, Token, significant
from validate.text.toplevel import Declaration, split_at

_CLASSES = ("struct", "class", "union")
_MOST_BYTES = 1 << 20

Size = tuple[int, int]
"""Bytes of a type, and what it is aligned to."""


def sizes_of(tokens: Sequence[Token], declared: Sequence[Declaration]) -> dict[str, int]:
    """Bytes by name of structs of plain members, and of aliases of types that are known.

    What is not understood (methods, templates, alignments, bases) is left out.
    """
    known: dict[str, Size] = {}
    for one in declared:
        inside = significant(tokens[one.first : one.end])
        found = None
        if one.kind == toplevel.TYPE:
            found = _struct(inside, known)
        elif one.kind == toplevel.ALIAS:
            found = _alias(inside, known)
        if found is not None:
            known[found[0]] = found[1]
    return {name: size for name, (size, _) in known.items()}


def _struct(tokens: Sequence[Token], known: Mapping[str, Size]) -> tuple[str, Size] | None:
    texts = [token.text for token in tokens]
    if len(texts) < 5 or texts[0] not in _CLASSES or texts[2] != "{" or texts[-2:] != ["}", ";"]:
        return None
    at, most, largest = 0, 1, 0
    for size, alignment in _members(tokens[3:-2], known):
        if size == 0:
            return None
        at = -(-at // alignment) * alignment + size
        most, largest = max(most, alignment), max(largest, size)
    end = largest if texts[0] == "union" else at
    whole = max(1, -(-end // most)) * most
    return (texts[1], (whole, most)) if 0 < end <= _MOST_BYTES else None


def _members(tokens: Sequence[Token], known: Mapping[str, Size]) -> Iterator[Size]:
    """The size of each member; of one that is not understood (0, 1)."""
    first = 0
    for place, token in enumerate(tokens):
        if token.text == ";":
            yield from _member(tokens[first:place], known)
            first = place + 1
    if first < len(tokens):
        yield 0, 1


def _member(tokens: Sequence[Token], known: Mapping[str, Size]) -> Iterator[Size]:
    names = split_at(tokens)
    head = next((n for n, t in enumerate(names[0]) if t.text in ("[", "=")), len(names[0]))
    size, alignment = _type(tuple(t.text for t in names[0][: head - 1]), known)
    for number, part in enumerate(names):
        rest = [t.text for t in (part[head - 1 :] if number == 0 else part)]
        rest = rest[: rest.index("=")] if "=" in rest else rest
        extents = rest[2::3]
        shape = [rest[1::3], rest[3::3]]
        plain = all(e.isdecimal() for e in extents) and shape == [
            ["["] * len(extents),
            ["]"] * len(extents),
        ]
        if not plain or len(rest) != 1 + 3 * len(extents) or part[0].kind != WORD:
            yield 0, 1
            return
        yield size * prod(map(int, extents)), alignment


def _alias(tokens: Sequence[Token], known: Mapping[str, Size]) -> tuple[str, Size] | None:
    """`using T = float;` and `typedef float T;`."""
    texts = tuple(token.text for token in tokens)
    if texts[0] == "using" and texts[2:3] == ("=",):
        name, words = texts[1], texts[3:-1]
    elif texts[0] == "typedef" and len(texts) > 3:
        name, words = texts[-2], texts[1:-2]
    else:
        return None
    found = _type(words, known)
    return (name, found) if found[0] and name.isidentifier() else None


def _type(words: tuple[str, ...], known: Mapping[str, Size]) -> Size:
    if len(words) == 1 and words[0] in known:
        return known[words[0]]
    size = bytes_of(words) if words else None
    if size is None:
        return 0, 1
    name = words[-1]
    if name[-1] == "3" and name[:-1].isalpha():
        return size, size // 3
    if name[-1] == "4" and name.startswith(("double", "long", "ulong")):
        return size, 16
    return size, size
