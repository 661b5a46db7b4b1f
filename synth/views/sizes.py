"""Sizes of a row in the words of its plain CUDA: what its parameters call them, and of what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

_SYMBOL = re.compile(r"[A-Za-z_]\w*")


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
