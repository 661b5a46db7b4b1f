"""A formula of the elements around each one, at the borders too."""

from __future__ import annotations

from contextlib import nullcontext

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title
from generators.kit.formulas import keys_of, read_once
from generators.kit.functions import clamp, most
from generators.math.cards import Family
from generators.math.core import prepared
from generators.math.passes import cards_of, share_of_helpers
from generators.math.scene import Scene
from generators.program.dtypes import Array
from generators.program.expr import Expr, Var

_BORDERS = {
    "clamp": "indices clamped to the range",
    "wrap": "indices wrapped around",
    "skip": "only those that exist",
}
_PHRASES = {
    "mean": "the mean",
    "taps": "the sum with weights {}",
    "detail": "the value here less the mean",
    "top": "the largest",
}


def neighbourhood(k: KernelBuilder, level: int, family: Family) -> Title:
    """A formula of the elements around each one: their mean, weighted sum or extreme."""
    shape = k.draw.shape
    cards = cards_of(k, level, family)
    ndim = shape.weighted({1: 3, 2: 2})
    border = shape.choice(tuple(_BORDERS))
    radius = 1 if border == "wrap" else shape.integer(1, 2)
    how = shape.choice(("mean", "detail", "top" if border == "skip" else "taps"))
    helped = share_of_helpers(cards, twice=how == "detail")
    found = prepared(k, family, cards, ndim, helped=helped, dispatched=how == "detail")
    s, names = found.s, "taps coeffs stencil_weights"
    taps = k.array(names, s.type, str(2 * radius + 1), low=0.1, high=0.6) if how == "taps" else None
    out = k.out("out smoothed local filtered", s.type, s.dims)
    size = k.let("n_last width extent_n", extent(_first_array(s), ndim - 1))
    total = k.let("total acc local_sum", k.lift(-1.0e6 if how == "top" else 0.0, s.type))
    used = k.let("used inside found", k.lift(0.0, s.type)) if border == "skip" else None
    s.hoist(keys_of(cards), read_once(cards))
    with k.for_("o tap shift", radius + 1, start=-radius) as o:
        near = _near(s, border, o, size)
        s.place = (*s.threads[:-1], near)
        with k.if_(fn("and", near >= 0, near < size)) if border == "skip" else nullcontext():
            value = found.term() if taps is None else taps[o + radius] * found.term()
            if how == "top":
                k.assign(total, most(total, value))
            else:
                k.augment(total, "add", value)
            if used is not None and how != "top":
                k.augment(used, "add", 1.0)
    s.place = s.threads
    value = total
    if how in ("mean", "detail"):
        value = total / (used if used is not None else k.lift(2.0 * radius + 1.0, s.type))
    if how == "detail":
        value = found.term() - k.let("smooth local_mean", value)
    k.store(out, s.threads, value)
    done = f"Set {out.name} to {_PHRASES[how].format(taps.name if taps is not None else '')} over "
    done += f"the elements up to {radius} away along {s.threads[-1].name} ({_BORDERS[border]}) of "
    base = family.titles.split()[0] if len(cards) > 1 else cards[0].name
    titles = f"local_{base} {base}_stencil smoothed_{base}"
    return Title(k.name(titles), f"{done}{found.text}.")


def _first_array(s: Scene) -> Var:
    """An array that spans the whole launch, for its extent."""
    spans = [x.value for x in s.sources.values() if x.axes == s.everywhere]
    return next(v for v in spans if isinstance(v, Var) and isinstance(v.type, Array))


def _near(s: Scene, border: str, o: Expr, size: Expr) -> Var:
    """The index of a neighbour along the last axis."""
    here = s.threads[-1]
    index: Expr = here + o
    if border == "clamp":
        index = clamp(here + o, 0, size - 1)
    elif border == "wrap":
        index = (here + o + size) % size
    return s.k.let("near src at", index)
