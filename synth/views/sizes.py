"""Sizes of a row in the words of its plain CUDA: what its parameters call them, of what, and which
it is for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

_SYMBOL = re.compile(r"[A-Za-z_]\w*")
_MILLION = 1_000_000
_PLAIN_BELOW = 10_000


def size_names(row: Row) -> dict[str, str]:
    """The parameter that holds each size symbol; a symbol that none holds is left out."""
    plain = plain_names(row)
    names = {arg["size"]: arg["name"] for arg in row["plain_args"] or () if arg["size"]}
    for arg in row["args"]:
        prefix, _, symbol = (arg["init"] or "").partition(":")
        if prefix == "size" and _SYMBOL.fullmatch(symbol):
            names.setdefault(symbol, plain.get(arg["name"], arg["name"]))
    return names


def plain_names(row: Row) -> dict[str, str]:
    """What the plain CUDA calls each argument: C++ has some names for itself, as ``half``."""
    return {
        arg["name"]: plain["name"]
        for arg, plain in zip(row["args"], row["plain_args"] or (), strict=False)
    }


def said(formula: str, names: Mapping[str, str]) -> str:
    """A formula of size symbols with the names of parameters in their place."""
    return _SYMBOL.sub(lambda symbol: names.get(symbol[0], symbol[0]), formula)


def shapes_clause(row: Row) -> str:
    """Which shapes the arrays have; in one word where all have the only size that there is."""
    names = size_names(row)
    shapes: dict[tuple[str, ...], list[str]] = {}
    for arg in row["args"]:
        if arg["kind"] == "array":
            shape = tuple(said(extent, names) for extent in arg["shape"])
            shapes.setdefault(shape, []).append(f"`{arg['name']}`")
    if not shapes:
        return ""
    if len(shapes) == 1:
        ((shape, listed),) = shapes.items()
        if len(listed) > 1:
            return f"Shapes: all arrays ({', '.join(shape)})."
    told = [f"{', '.join(listed)} ({', '.join(shape)})" for shape, listed in shapes.items()]
    return f"Shapes: {', '.join(told)}."


def regime_clause(row: Row) -> str:
    """``In use `n` is 2 to 20 million, `width` 32 to 128.``; nothing where a row has none."""
    names = size_names(row)
    told = [
        f"`{names.get(span['symbol'], span['symbol'])}` {'is ' * (not k)}{_span(span)}"
        for k, span in enumerate(row["regime"] or ())
    ]
    return f"In use {', '.join(told)}." if told else ""


def _span(span: Mapping[str, int]) -> str:
    low, high = span["low"], span["high"]
    if low == high:
        return number(low)
    if low >= _MILLION:
        return f"{low / _MILLION:.3g} to {high / _MILLION:.3g} million"
    return f"{number(low)} to {number(high)}"


def number(value: int) -> str:
    """A size in words: ``7.75 million``, ``24,000``."""
    if value >= _MILLION:
        return f"{value / _MILLION:.3g} million"
    return str(value) if value < _PLAIN_BELOW else f"{value:,}"


def counted(count: float, one: str, more: str) -> str:
    """``1 barrier``, ``2 barriers``."""
    told = many(count)
    return f"{told} {one if told == '1' else more}"


def us(time_us: float) -> str:
    """``4.8 µs``, ``23.3 µs``, ``1,210 µs``: three digits that count."""
    return f"{float(f'{time_us:.3g}'):,.0f} µs" if time_us >= 100 else f"{time_us:.3g} µs"


def many(count: float) -> str:
    """``7``, ``1,536``, ``6.3 million``, ``1.2 billion``."""
    if count >= 1e9:
        return f"{count / 1e9:.3g} billion"
    return f"{count / 1e6:.3g} million" if count >= 1e6 else f"{count:,.0f}"


def rounded(value: float) -> str:
    """Two digits that count: ``1.4``, ``12``, ``390``."""
    return f"{float(f'{value:.2g}'):,.0f}" if value >= 9.5 else f"{value:.2g}"


def in_bytes(count: float) -> str:
    """``96.1 MB``, in powers of 1,000."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:,.0f} bytes"
