"""What is promised of a kernel: from which inputs, and how close its outputs must be.

Said wherever the answer is a kernel of ours. Views that ask for what Warp writes, or for the Warp
that CUDA came from, ask for that text, and promise nothing beyond it; a problem of KernelBench
draws its inputs itself, and its evaluator has a tolerance of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from validate.host.gradient import shares_of

Row = Mapping[str, Any]


def promise_clause(row: Row) -> str:
    """The values that inputs have, and the tolerances of float outputs, in two sentences."""
    return " ".join(part for part in (_domains(row), _tolerances(row)) if part)


def gradient_promise_clause(row: Row) -> str:
    """The values that inputs have, and the tolerance of gradients by them, in two sentences."""
    each, largest = shares_of(row)
    told = f"Tolerance: gradients within {each:g} relative plus {largest:g} of an array's largest."
    return " ".join(part for part in (_domains(row), told) if part)


def _domains(row: Row) -> str:
    domains: dict[str, list[str]] = {}
    for name, entry in _drawn(row):
        if text := _domain(entry):
            domains.setdefault(text, []).append(f"`{name}`")
    given = "; ".join(f"{', '.join(names)} {text}" for text, names in domains.items())
    return f"Inputs: {given}." if given else ""


def _drawn(row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each input and each field of one, with how it is drawn."""
    for arg in row["args"]:
        if arg["role"] == "out":
            continue
        if arg["fields"]:
            yield from ((f"{arg['name']}.{f['name']}", f) for f in arg["fields"])
        else:
            yield arg["name"], arg


def _domain(entry: Mapping[str, Any]) -> str:
    """Which values; nothing for sizes, indices and what has no bounds."""
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
    if not bounds:
        return ""
    ends = {"sorted": ", ascending", "well_conditioned": " beside a dominant diagonal"}
    return bounds + ends.get(init, "")


def _tolerances(row: Row) -> str:
    """How far float outputs may be off."""
    found: dict[tuple[float, float], list[str]] = {}
    for arg in row["args"]:
        if arg["rtol"] is not None:
            found.setdefault((arg["rtol"], arg["atol"]), []).append(f"`{arg['name']}`")
    if not found:
        return ""
    told = [f"{', '.join(n)} within {r:g} relative plus {a:g}" for (r, a), n in found.items()]
    return f"Tolerance: {'; '.join(told)}."


def _short(bound: str) -> str:
    """A bound without needless digits."""
    return bound.removesuffix(".0") if "e" not in bound else f"{float(bound):g}"
