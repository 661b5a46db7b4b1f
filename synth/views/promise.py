"""What is promised of a kernel: from which inputs, and how close its outputs must be.

Said wherever the answer is a kernel of ours. Views that ask for what Warp writes, or for the Warp
that CUDA came from, ask for that text, and promise nothing beyond it; a problem of KernelBench
draws its inputs itself, and its evaluator has a tolerance of its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from generators.program.leads import COUNT, INDEX, OFFSETS, uses_of
from generators.program.serialise import from_json
from synth.views.sizes import plain_names, said, size_names
from validate.host.gradient import shares_of
from validate.row.sizes import evaluate, own_sizes

Row = Mapping[str, Any]

_WHOLE = re.compile(r"\b(?:u?int\d+|bool)\b")
_NARROW = re.compile(r"\bu?int(?:8|16)\b")


def promise_clause(row: Row) -> str:
    """The values that inputs have, and how close each output must be, in two sentences."""
    return " ".join(part for part in (inputs_clause(row), _tolerances(row)) if part)


def gradient_promise_clause(row: Row) -> str:
    """The values that inputs have, and the tolerance of gradients by them, in two sentences."""
    return " ".join(part for part in (inputs_clause(row), gradient_tolerance_clause(row)) if part)


def gradient_tolerance_clause(row: Row) -> str:
    """How close gradients must be."""
    each, largest = shares_of(row)
    return f"Tolerance: gradients within {each:g} relative plus {largest:g} of an array's largest."


def inputs_clause(row: Row, left_out: Collection[str] = ()) -> str:
    """The values that inputs have, in a sentence; nothing of those that are ``left_out``."""
    domains: dict[str, list[str]] = {}
    uses = uses_of(from_json(row["program"]).kernel) if row.get("program") else {}
    names = size_names(row)
    for name, entry in _drawn(row):
        if name in left_out:
            continue
        use = uses.get(name)
        if text := (_led(row, entry, use, names) if use else "") or _domain(name, entry, names):
            domains.setdefault(text, []).append(f"`{name}`")
    given = "; ".join(f"{', '.join(found)} {text}" for text, found in domains.items())
    return f"Inputs: {given}." if given else ""


def _drawn(row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each input and each field of one, with how it is drawn."""
    plain = plain_names(row)
    for arg in row["args"]:
        if arg["role"] == "out":
            continue
        if arg["fields"]:
            yield from ((f"{arg['name']}.{f['name']}", f) for f in arg["fields"])
        else:
            yield plain.get(arg["name"], arg["name"]), arg


def _led(row: Row, entry: Mapping[str, Any], use: tuple[str, str], names: Mapping[str, str]) -> str:
    """The range of what leads into an array: of the extent, not of the sizes at which a row is
    tried. Empty where its values were not drawn from that range."""
    how, extent = use
    if entry["low"] is None or entry["high"] is None or entry.get("among"):
        return ""
    low, high, most = (
        entry["low"],
        float(entry["high"]),
        evaluate(extent, own_sizes(row["sizes"])),
    )
    if entry["init"] == "sorted" and how == OFFSETS and high <= most and float(low) == 0.0:
        return f"ascending offsets, each in [0, `{said(extent, names)}`]"
    if extent.isdigit() or entry["init"] != "uniform":
        return ""
    if how == INDEX and high < most:
        return f"in [{_short(low)}, `{said(extent, names)}`)"
    return f"in [{_short(low)}, `{said(extent, names)}`]" if how == COUNT and high <= most else ""


def _domain(name: str, entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Which values; nothing for sizes under their own names and what has no bounds."""
    if entry.get("among"):
        return "of a few values"
    init, low, high = entry["init"], entry["low"], entry["high"]
    kind, _, extent = init.partition(":")
    if kind == "index_of":
        return f"in [0, `{said(extent, names)}`)"
    if kind == "size":
        size = said(extent, names)
        return "" if size == name else f"= `{size}`"
    bounds = "" if low is None or high is None else f"in [{_short(low)}, {_short(high)}]"
    if init == "unit":
        whole = entry["dtype"].startswith("transform")
        return f"with a rotation of length 1, positions {bounds}" if whole else "of length 1"
    if init == "reduction_identity":
        # Tests start it elsewhere as well: a kernel adds to what it finds.
        return f"starting at {_short(low)} or at what an earlier call left"
    if init == "permutation":
        return "a permutation"
    if not bounds:
        return ""
    ends = {"sorted": ", ascending", "well_conditioned": " beside a dominant diagonal"}
    return bounds + ends.get(init, "")


def _tolerances(row: Row) -> str:
    """How far each output may be off; whole numbers and bool not at all."""
    found: dict[tuple[float, float], list[str]] = {}
    exact = []
    for arg in row["args"]:
        if arg["role"] == "in":
            continue
        if arg["rtol"] is not None:
            found.setdefault((arg["rtol"], arg["atol"]), []).append(f"`{arg['name']}`")
        elif all(_WHOLE.search(part["dtype"]) for part in arg["fields"] or [arg]):
            exact.append(f"`{arg['name']}`")
    told = [f"{', '.join(names)} {_within(*key)}" for key, names in found.items()]
    told += [f"{', '.join(exact)} exact"] if exact else []
    return f"Tolerance: {'; '.join(told)}." if told else ""


def _within(rtol: float, atol: float) -> str:
    return f"within {rtol:g} relative plus {atol:g}" if atol else f"within {rtol:g} relative"


def _short(bound: str) -> str:
    """A bound without digits that the drawing added: ``0.05`` for ``0.05000000000000001``."""
    return bound if bound.lstrip("-").isdigit() else f"{float(bound):.6g}"


def python_numbers(row: Row) -> str:
    """What Python's numbers are where an array's own are narrower: it would round or wrap them."""
    halves = [f"`{arg['name']}`" for arg in row["args"] if "float16" in arg["dtype"]]
    narrow = [f"`{arg['name']}`" for arg in row["args"] if _NARROW.search(arg["dtype"])]
    told = []
    if halves:
        told.append(f"Arithmetic is in float32, on {', '.join(halves)} in half precision too.")
    if narrow:
        told.append(f"Whole numbers in {', '.join(narrow)} wrap only where they are stored.")
    return " ".join(told)
