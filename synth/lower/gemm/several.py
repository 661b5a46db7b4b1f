"""Several products in one text, each in a namespace of its own, and their launches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synth.lower.gemm.parts import launches, scratch
from synth.lower.gemm.plan import Gemm
from synth.lower.gemm.text import text
from synth.lower.op import Lowered
from validate.text.launches import listed
from validate.text.plain import kernel_names

_INCLUDE = re.compile(r"#include <[^>]*>\n\n?")


def in_namespaces(products: Sequence[Gemm], more: str) -> str:
    """The texts of products, each with its constants and functions in a namespace of its own."""
    texts = [text(product) for product in products]
    heads = list(dict.fromkeys(line for one in texts for line in _INCLUDE.findall(one)))
    bodies = []
    for product, one in zip(products, texts, strict=True):
        body = _INCLUDE.sub("", one).rstrip("\n")
        space = f"of_{product.name}"
        shown = "".join(f"using {space}::{name};\n" for name in kernel_names(one))
        bodies.append(f"namespace {space} {{\n{body}\n}}\n{shown}")
    return "".join(heads) + "\n".join(bodies) + more


def launched(product: Gemm, given: Mapping[str, str]) -> list[dict[str, Any]]:
    """The launches of a product whose kernel's arguments are `given`: arrays by name, sizes as
    formulas after "="."""
    found = []
    for one in listed(launches(product)):
        said = one.get("args") or list(given)
        args = [
            f"={_renamed(name[1:], given)}" if name.startswith("=") else given.get(name, name)
            for name in said
        ]
        grid = [_renamed(str(extent), given) for extent in one["grid"]]
        found.append({**one, "kernel": one.get("kernel", product.name), "args": args, "grid": grid})
    return found


def _renamed(formula: str, given: Mapping[str, str]) -> str:
    """A formula of a product's sizes as one of the op's."""
    return re.sub(r"\b[a-z_]+\b", lambda m: given.get(m[0], m[0]).removeprefix("="), formula)


def lowered(
    name: str,
    about: str,
    products: Sequence[tuple[Gemm, Mapping[str, str]]],
    arrays: Sequence[tuple[str, str]],
    sizes: Sequence[str],
    more: tuple[str, list[dict[str, Any]]],
) -> Lowered:
    """One text of several products, and what else it launches. Their parts of k take turns in one
    array."""
    args: list[dict[str, str | None]] = [
        {"name": one, "type": kind, "size": None} for one, kind in arrays
    ]
    args += [{"name": one, "type": "int", "size": one} for one in sizes]
    whole = f"// {about}\n\n" + in_namespaces([g for g, _ in products], more[0])
    made = [launch for g, given in products for launch in launched(g, given)]
    parts = [
        {**s, "count": _renamed(s["count"], given)} for g, given in products for s in scratch(g)
    ]
    if len(parts) == 2:
        parts = [{**parts[0], "count": f"max({parts[0]['count']}, {parts[1]['count']})"}]
    return Lowered(name, whole, args, [*made, *more[1]], parts)
