"""A formula of the elements around each one, at the borders too."""

from __future__ import annotations

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title
from generators.kit.formulas import read_once
from generators.math.cards import Family
from generators.math.core import keys_of
from generators.math.passes import Term, count_of, prepared
from generators.math.scene import Scene
from generators.program.dtypes import Array
from generators.program.expr import Expr, Var


def _first_array(s: Scene) -> Var:
    """An array that spans the whole launch, for its extent."""
    spans = [x.value for x in s.sources.values() if x.axes == s.everywhere]
    return next(v for v in spans if isinstance(v, Var) and isinstance(v.type, Array))


def neighbourhood(k: KernelBuilder, level: int, family: Family) -> Title:
    """A formula of the elements around each one: their mean, weighted sum or extreme."""
    shape = k.draw.shape
    cards = shape.sample(list(family.cards), count_of(level, k))
    ndim = shape.weighted({1: 3, 2: 2})
    border = shape.choice(("clamp", "wrap", "skip"))
    radius = 1 if border == "wrap" else shape.integer(1, 2)
    how = shape.choice(
        ("mean", "taps", "detail") if border != "skip" else ("mean", "detail", "top")
    )
    s, _, term, text = prepared(k, family, cards, ndim, twice=how == "detail")
    taps = None
    if how == "taps":
        names = ("taps", "coeffs", "stencil_weights")
        taps = k.array(names, s.type, str(2 * radius + 1), low=0.1, high=0.6)
    outs = [k.out(("out", "smoothed", "local", "filtered"), s.type, s.dims)]
    size = k.let(("n_last", "width", "extent_n"), extent(_first_array(s), ndim - 1))
    start = -1.0e6 if how == "top" else 0.0
    total = k.let(("total", "acc", "local_sum"), k.lift(start, s.type))
    used = k.let(("used", "inside", "found"), k.lift(0.0, s.type)) if border == "skip" else None
    here = s.threads[-1]
    s.hoist(keys_of(cards), read_once(cards))
    with k.for_(("o", "tap", "shift"), radius + 1, start=-radius) as o:
        index = {
            "clamp": lambda: fn("clamp", here + o, 0, size - 1),
            "wrap": lambda: (here + o + size) % size,
            "skip": lambda: here + o,
        }[border]()
        near = k.let(("near", "src", "at"), index)
        if border == "skip":
            with k.if_(fn("and", near >= 0, near < size)):
                _gather(s, near, total, term, how)
                assert used is not None
                if how != "top":
                    k.augment(used, "add", 1.0)
        else:
            _gather(s, near, total, term, how, taps[o + radius] if taps is not None else None)
    s.place = s.threads
    value: Expr = total
    if how in ("mean", "detail"):
        value = total / (used if used is not None else k.lift(2.0 * radius + 1.0, s.type))
    if how == "detail":
        value = k.let(("smooth", "local_mean"), value)
        value = term() - value
    k.store(outs[0], s.threads, value)
    phrase = {
        "mean": "the mean",
        "taps": f"the sum with weights {taps.name if taps is not None else ''}",
        "detail": "the value here less the mean",
        "top": "the largest",
    }[how]
    borders = {
        "clamp": "indices clamped to the range",
        "wrap": "indices wrapped around",
        "skip": "only those that exist",
    }[border]
    done = f"Set {outs[0].name} to {phrase} over the elements up to {radius} away along "
    done += f"{here.name} ({borders}) of {text}."
    base = family.titles.split()[0] if len(cards) > 1 else cards[0].name
    return Title(k.name(f"local_{base}", f"{base}_stencil", f"smoothed_{base}"), done)


def _gather(
    s: Scene, near: Var, total: Var, term: Term, how: str, weight: Expr | None = None
) -> None:
    """Add the value at a neighbour to the total."""
    s.place = (*s.threads[:-1], near)
    value = term()
    if how == "top":
        s.k.assign(total, fn("max", total, value))
    else:
        s.k.augment(total, "add", value if weight is None else weight * value)
