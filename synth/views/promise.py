"""What is promised of a kernel: from which inputs, and how close its outputs must be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synth.views.sizes import said, size_names

Row = Mapping[str, Any]

_INDEX_OF = "index_of:"


def promise_clause(row: Row) -> str:
    """The values that inputs have, and the tolerances of outputs, in two sentences."""
    domains: dict[str, list[str]] = {}
    names = size_names(row)
    for name, entry in _drawn(row):
        if text := _domain(entry, names):
            domains.setdefault(text, []).append(f"`{name}`")
    given = "; ".join(f"{', '.join(names)} {text}" for text, names in domains.items())
    return " ".join(
        part for part in (f"Inputs: {given}." if given else "", _tolerances(row)) if part
    )


def _drawn(row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each input and each field of one, with how it is drawn."""
    for arg in row["args"]:
        if arg["role"] == "out":
            continue
        if arg["fields"]:
            yield from ((f"{arg['name']}.{f['name']}", f) for f in arg["fields"])
        else:
            yield arg["name"], arg


def _domain(entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Which values, by ``names`` of sizes; nothing for sizes and what has no bounds."""
    if entry.get("among"):
        return "of a few values"
    init, low, high = entry["init"], entry["low"], entry["high"]
    bounds = "" if low is None or high is None else f"in [{_short(low)}, {_short(high)}]"
    if init == "unit":
        whole = entry["dtype"].startswith("transform")
        return f"with a rotation of length 1, positions {bounds}" if whole else "of length 1"
    if init == "reduction_identity":
        return f"starting at {_short(low)}"
    if init == "permutation":
        return "a permutation"
    if init.startswith(_INDEX_OF):
        return f"in [0, {said(init.removeprefix(_INDEX_OF), names)})"
    if not bounds:
        return ""
    ends = {"sorted": ", ascending", "well_conditioned": " beside a dominant diagonal"}
    return bounds + ends.get(init, "")


def _tolerances(row: Row) -> str:
    """How far outputs may be off: those of floats by so much, others not at all."""
    found: dict[tuple[float, float], list[str]] = {}
    exact = []
    for arg in row["args"]:
        if arg["rtol"] is not None:
            found.setdefault((arg["rtol"], arg["atol"]), []).append(f"`{arg['name']}`")
        elif arg["role"] != "in":
            exact.append(f"`{arg['name']}`")
    told = [f"{', '.join(n)} within {r:g} relative plus {a:g}" for (r, a), n in found.items()]
    told += [f"{', '.join(exact)} exact"] if exact else []
    return f"Tolerance: {'; '.join(told)}." if told else ""


def _short(bound: str) -> str:
    """A bound without needless digits."""
    return bound.removesuffix(".0") if "e" not in bound else f"{float(bound):g}"
