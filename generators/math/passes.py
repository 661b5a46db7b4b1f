"""Kernels that evaluate a formula at several places: rows in two passes, slopes, neighbours."""

from __future__ import annotations

from contextlib import nullcontext

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title
from generators.kit.formulas import keys_of, read_once
from generators.kit.functions import clamp, most, sqrt
from generators.kit.naming import local
from generators.math.cards import Family
from generators.math.core import Prepared, card_text, evaluate, prepared
from generators.math.reduce import trip_count
from generators.math.scene import Scene, Source
from generators.math.stores import out_names
from generators.program.dtypes import Array
from generators.program.expr import Const, Expr, Var

_SCALES = {
    "centred": "less their mean",
    "standard": "less their mean, over sqrt(variance + {eps})",
    "rms": "over sqrt(mean square + {eps})",
    "peak": "over (largest size + {eps})",
}


_HELPED = 0.6
"""How often a formula that a kernel evaluates in one place is in a helper."""


def two_passes(k: KernelBuilder, level: int, family: Family) -> Title:
    """The values of a row put on a common scale: a pass for it and one to write."""
    shape = k.draw.shape
    (card,) = family.drawn(k, 1)
    outer = shape.weighted({1: 3, 2: 1})
    inner = ("cols", "depth")[outer - 1]
    found = prepared(k, family, card, outer, inner, helped=_HELPED)
    s, how = found.s, shape.choice(sorted(_SCALES))
    out = k.out("out scaled_out normalized", s.type, s.dims)
    names = f"raw {card.outs} unscaled"
    raw = k.out(names, s.type, s.dims) if shape.chance(0.25) else out
    eps = k.draw.value.choice((1.0e-3, 1.0e-2, 1.0e-4))
    reports = level > 3 and raw is out and shape.chance(0.6)
    report = k.out("scale_out row_scale norms_out", s.type, s.dims[:-1]) if reports else None
    count = trip_count(k, f"count num_{inner}", inner, linear=False)
    centre, scale = _scale(k, how, _first_pass(found, how, raw, count), cast(count, s.type), eps)
    k.used.discard(s.loop)
    with k.for_(s.loop, count) as j:
        _rescaled(k, (*s.threads, j), (raw, out), centre, scale)
    done = f"Over {s.over}, evaluate {found.text}. {out.name} gets these values "
    done += f"{_SCALES[how].format(eps=eps)}."
    done += f" {raw.name} gets them as they are." if raw is not out else ""
    kept = scale or centre
    if report is not None and kept is not None:
        k.store(report, s.threads, kept)
        done += f" {report.name} gets the {'divisor' if scale is not None else 'mean'}."
    name = card.name
    return Title(k.name(f"{how}_{name} {name}_{how} normalize_{name}"), done)


def _first_pass(found: Prepared, how: str, raw: Var, count: Expr) -> tuple[Var, Var | None]:
    """Evaluate and store a row; its total (or its largest size), and the sum of squares."""
    s, k, cards = found.s, found.s.k, found.core.cards
    total = k.let("total acc row_sum", k.lift(0.0, s.type))
    squares = k.let("squares sum_sq", k.lift(0.0, s.type)) if how == "standard" else None
    s.hoist(keys_of(cards), read_once(cards))
    k.used.discard(s.loop)
    with k.for_(s.loop, count) as j:
        s.place = (*s.threads, j)
        value = local(k, "value entry", found.term())
        k.store(raw, s.place, value)
        if how == "peak":
            k.assign(total, most(total, abs(value)))
        else:
            k.augment(total, "add", value * value if how == "rms" else value)
        if squares is not None:
            k.augment(squares, "add", value * value)
    return total, squares


def _rescaled(
    k: KernelBuilder,
    at: tuple[Expr, ...],
    arrays: tuple[Var, Var],
    centre: Var | None,
    scale: Var | None,
) -> None:
    """Put a value that the first pass stored on the common scale, perhaps in its own place."""
    raw, out = arrays
    if raw is out and (centre is None or scale is None):
        if centre is not None:
            k.store(out, at, centre, op="sub")
        if scale is not None:
            k.store(out, at, scale, op="div")
        return
    value: Expr = raw[at] if centre is None else raw[at] - centre
    k.store(out, at, value if scale is None else value / scale)


def _scale(
    k: KernelBuilder, how: str, sums: tuple[Var, Var | None], count: Expr, eps: float
) -> tuple[Var | None, Var | None]:
    """What to subtract and what to divide by."""
    total, squares = sums
    if how == "peak":
        return None, k.let("scale norm", total + eps)
    if how == "rms":
        return None, k.let("scale norm", sqrt(total / count + eps))
    centre = k.let("centre avg", total / count)
    if squares is None:
        return centre, None
    spread = k.let("variance var_row", squares / count - centre * centre)
    return centre, k.let("scale std", sqrt(spread + eps))


_BUMPED = (
    "moved_up value_up moved_down value_down value_here",
    "x_plus f_plus x_minus f_minus f_here",
    "bumped_up up bumped_down down base_value",
)


def bumped(k: KernelBuilder, level: int, family: Family) -> Title:
    """The slope of a formula by one of its quantities, from differences."""
    shape = k.draw.shape
    by = family.slopes.split()
    card = shape.choice([card for card in family.cards if {*card.keys} & {*by}])
    found = prepared(k, family, card, shape.weighted({1: 3, 2: 2, 3: 1}), helped=1.0)
    s = found.s
    key = shape.choice([x for x in card.keys if x in by])
    if isinstance(s.sources[key].value, Const):
        q = family.quantity(key)
        s.sources[key] = Source(q, k.scalar(s.style(q.names), s.type, q.low, q.high))
    bounds = family.quantity(key)
    step = float(f"{0.02 * (bounds.high - bounds.low):.0e}")
    central = level > 3 or shape.chance(0.6)
    slopes = k.out("slopes sensitivity gradient_out", s.type, s.dims)
    report = k.out(out_names(k, card), s.type, s.dims) if level > 3 else None
    values = {x: local(k, family.quantity(x).names, v) for x, v in s.values(card.keys).items()}
    k.store(slopes, s.threads, _slope(found, key, values, step, central))
    sides = "(f(up) - f(down)) / (2 * h)" if central else "(f(up) - f) / h"
    done = f"Set {slopes.name} to the slope {sides} of {card_text(s, card)}, where {s.text(key)} is"
    done += f" moved by h = {step}{' both ways' if central else ' up'}."
    if report is not None:
        k.store(report, s.threads, evaluate(s, found.core, card, values))
        done += f" {report.name} gets the value itself."
    return Title(k.name(f"{card.name}_slope {card.name}_sensitivity bump_{card.name}"), done)


def _slope(found: Prepared, key: str, values: dict[str, Var], step: float, central: bool) -> Expr:
    """The difference of two values of the formula, over that of the quantity."""
    s, k, card = found.s, found.s.k, found.core.cards[0]
    names = k.draw.word.choice(_BUMPED).split()
    bump = k.let("bump h_step delta_x", k.lift(step, s.type))

    def at(name: str, value: Expr) -> Var:
        return k.let(name, evaluate(s, found.core, card, {**values, key: value}))

    up = at(names[1], k.let(names[0], values[key] + bump))
    if central:
        down = at(names[3], k.let(names[2], values[key] - bump))
        return (up - down) / (2.0 * bump)
    return (up - at(names[4], values[key])) / bump


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
    (card,) = family.drawn(k, 1)
    ndim = 2 if level == 5 else shape.weighted({1: 3, 2: 2})
    border = shape.choice(tuple(_BORDERS))
    radius = 1 if border == "wrap" else shape.integer(1, 2)
    how = shape.choice(("mean", "detail", "top" if border == "skip" else "taps"))
    found = prepared(k, family, card, ndim, helped=1.0 if how == "detail" else _HELPED)
    s, names = found.s, "taps coeffs stencil_weights"
    taps = k.array(names, s.type, str(2 * radius + 1), low=0.1, high=0.6) if how == "taps" else None
    out = k.out("out smoothed local filtered", s.type, s.dims)
    size = k.let("n_last width extent_n", extent(_first_array(s), ndim - 1))
    total = k.let("total acc local_sum", k.lift(-1.0e6 if how == "top" else 0.0, s.type))
    used = k.let("used inside found", k.lift(0.0, s.type)) if border == "skip" else None
    s.hoist(card.keys, read_once([card]))
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
    titles = f"local_{card.name} {card.name}_stencil smoothed_{card.name}"
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
