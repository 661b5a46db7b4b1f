"""Sizes of a row in the words of its plain CUDA: what its parameters call them, and of what."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Row = Mapping[str, Any]

_SYMBOL = re.compile(r"[A-Za-z_]\w*")


def size_names(row: Row) -> dict[str, str]:
    """The parameter that holds each size symbol; a symbol that none holds is left out."""
    names = {arg["size"]: arg["name"] for arg in row["plain_args"] or () if arg["size"]}
    for arg in row["args"]:
        prefix, _, symbol = (arg["init"] or "").partition(":")
        if prefix == "size" and _SYMBOL.fullmatch(symbol):
            names.setdefault(symbol, arg["name"])
    return names


def said(formula: str, names: Mapping[str, str]) -> str:
    """A formula of size symbols with the names of parameters in their place."""
    return _SYMBOL.sub(lambda symbol: names.get(symbol[0], symbol[0]), formula)


def shapes_clause(row: Row) -> str:
    """Which shapes the arrays have; in few words when all have the only size that there is."""
    names = size_names(row)
    shapes = {
        arg["name"]: tuple(said(extent, names) for extent in arg["shape"])
        for arg in row["args"]
        if arg["kind"] == "array"
    }
    if len(set(shapes.values())) == 1 and all(
        len(shape) == 1 and shape[0] in names.values() for shape in shapes.values()
    ):
        ((extent,),) = set(shapes.values())
        return f"Each array has `{extent}` elements."
    told = [f"`{name}` ({', '.join(shape)})" for name, shape in shapes.items()]
    return f"Shapes: {', '.join(told)}."
