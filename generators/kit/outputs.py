"""How results reach memory: as they are, masked, weighted, added, or moved a share of the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.build import fn, make
from generators.kit.masks import Test, condition, early_out
from generators.kit.naming import held, maybe
from generators.kit.rows import row_result
from generators.kit.sites import Names, Site
from generators.kit.sources import zero
from generators.kit.words import say, words
from generators.program.dtypes import Scalar, scalar_of
from generators.program.expr import Expr, Operand, Var
from generators.program.ir import FieldInit

WAYS: dict[int, dict[str, int]] = {
    1: {"plain": 1},
    2: {"plain": 1},
    3: {"plain": 40, "add": 1},
    4: {"plain": 40, "add": 1},
    5: {"plain": 40, "add": 1},
}
"""Ways of each level, by weight."""
ROWS = {3: 0.04, 4: 0.06, 5: 0.08}
"""How often a grid of a level has a thread for each row, of which something is made."""


def deliver(
    s: Site,
    level: int,
    names: Names,
    value: Expr,
    *,
    ways: Mapping[str, int] | None = None,
    otherwise: Expr | None = None,
    blends: bool = True,
    last: bool = False,
) -> str:
    """Declare an output, called by one of ``names``, and store ``value`` in it in a drawn way.

    Gives what the description says of that: a sentence after a blank. ``ways`` are weights as in
    ``WAYS[level]``, the default. ``otherwise`` is what masked elements get (zero by default);
    ``blends=False`` where a running average of such a result means nothing; ``last=True`` where
    nothing is stored after it, so that threads may end early.
    """
    if ways is None and s.k.can_run_rows() and s.k.draw.shape.chance(ROWS.get(level, 0.0)):
        return row_result(s, names, value)
    how = s.k.draw.shape.weighted(_usable(ways or WAYS[level], value, blends))
    text = ""
    if how != "plain":
        value = maybe(s.k, "value result res val", value, 0.7)
    if "weight" in how:
        weight = s.read("weights importance gains confidence", scalar_of(value.type), 0.2, 1.0)
        value, text = weight * value, f" times {say(s.k, weight)}"
    if "add" not in how and "blend" not in how:
        out = s.out(names, value.type)
        if "mask" in how:
            return f" {out.name} gets it{text}{masked(s, out, value, otherwise, last=last)}."
        s.k.store(out, s.at, value)
        return f" {out.name} gets it{text}."
    return _kept(s, how, names, value, text)


def _usable(ways: Mapping[str, int], value: Expr, blends: bool) -> dict[str, int]:
    """The ways that such a value allows: whole numbers are neither weighted nor averaged."""
    floats = scalar_of(value.type).is_float
    averages = blends and floats and isinstance(value.type, Scalar)
    return {
        way: weight
        for way, weight in ways.items()
        if (averages or "blend" not in way) and (floats or "weight" not in way)
    }


def _kept(s: Site, how: str, names: Names, value: Expr, text: str) -> str:
    """Add to an array that holds something already, or move it a share of the way; a sentence."""
    low = 0 if scalar_of(value.type).is_unsigned else -1.0 if scalar_of(value.type).is_float else -1
    out = s.array(names, value.type, low, -low or 1, role="inout")
    if "add" in how:
        s.k.store(out, s.at, value, op="add")
        return f" It is added to {out.name}{text}."
    rate = s.k.scalar(("rate", "blend", "momentum"), value.type, 0.1, 0.9)
    s.k.store(out, s.at, fn("lerp", out[s.at], value, rate))
    return f" {out.name} becomes lerp({out.name}, it, {rate.name}){text}."


def masked(
    s: Site,
    out: Var,
    value: Expr,
    otherwise: Operand | None = None,
    test: Test | None = None,
    last: bool = False,
) -> str:
    """Store a value where a test (a drawn one by default) holds, ``otherwise`` or zero elsewhere.

    Gives what the description says of the other elements: ``", 0 where mask is 0"``.
    """
    test = test or condition(s)
    other = s.k.lift(otherwise, value.type) if otherwise is not None else zero(value.type)
    choose(s, out, test, value, other, last)
    shown = "0" if otherwise is None else say(s.k, other)
    return f", {shown} where {test.off}"


def choose(s: Site, out: Var, test: Test, value: Expr, other: Expr, last: bool = False) -> None:
    """Store ``value`` where the test holds, else ``other``: by ``where``, branches, a default, or,
    with ``last``, an early return."""
    k = s.k
    forms = ("where", "branches", "default", "store")
    form = k.draw.shape.choice((*forms, "early") if last else forms)
    if form == "where":
        k.store(out, s.at, fn("where", test.value, value, other))
    elif form == "branches":
        value = held(k, "value result res", value)
        with k.if_(test.value):
            k.store(out, s.at, value)
        with k.else_():
            k.store(out, s.at, other)
    elif form == "early":
        early_out(s, test, [(out, other)])
        k.store(out, s.at, value)
    elif form == "store":
        k.store(out, s.at, other)
        with k.if_(test.value):
            k.store(out, s.at, value)
    else:
        result = k.let("result chosen final", other)
        with k.if_(test.value):
            k.assign(result, value)
        k.store(out, s.at, result)


@dataclass(frozen=True)
class Extra:
    """One more result on offer: names of its output, its value, and its text."""

    names: Names
    value: Callable[[], Expr]
    text: str = ""
    """Empty where the value says it itself."""


def extras(s: Site, menu: Mapping[str, Extra], count: int, together: float = 0.4) -> str:
    """Write ``count`` of the results on offer, each to an output of its own or, with the
    probability ``together``, as one struct; gives a sentence after a blank, or nothing."""
    keys = s.k.draw.shape.sample(sorted(menu), min(count, len(menu)))
    if len(keys) > 1 and s.k.draw.shape.chance(together):
        return _together(s, {key: menu[key] for key in keys})
    done = []
    for key in keys:
        value = menu[key].value()
        text = menu[key].text or say(s.k, value)
        done.append(f"{s.put(menu[key].names, value).name} gets {text}")
    return f" {'; '.join(done)}." if done else ""


def _together(s: Site, chosen: Mapping[str, Extra]) -> str:
    values = {key: extra.value() for key, extra in chosen.items()}
    texts = [f"{key} = {extra.text or say(s.k, values[key])}" for key, extra in chosen.items()]
    inits = [FieldInit(key, value.type, "uniform", "0", "1") for key, value in values.items()]
    name = s.k.name("Summary", "Measures", "Report", "Stats")
    struct = s.k.struct(name, *((f.name, f.type) for f in inits))
    out = s.array("summaries reports stats", struct, role="out", fields=inits)
    whole: Expr = make(struct, *values.values())
    s.k.store(out, s.at, maybe(s.k, words("record summary"), whole))
    return f" {out.name} gets a {name} of {'; '.join(texts)}."
