"""The sizes that a kernel is for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.views.sizes import size_names

Row = Mapping[str, Any]

_MILLION = 1_000_000
_PLAIN_BELOW = 10_000


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
