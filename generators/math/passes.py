"""Kernels that evaluate a formula more than once: a row in two passes, a slope by differences."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title
from generators.kit.formulas import Formula, read_once
from generators.math.cards import Family
from generators.math.core import (
    Core,
    at_place,
    card_text,
    chosen,
    chosen_text,
    declare_codes,
    evaluate,
    keys_of,
    make_core,
)
from generators.math.declare import declare_inputs, declare_params
from generators.math.reduce import trip_count
from generators.math.scene import Scene, launch
from generators.math.stores import out_names
from generators.program.expr import Const, Expr, Var

Term = Callable[[], Expr]


def prepared(
    k: KernelBuilder,
    family: Family,
    cards: list[Formula],
    ndim: int,
    inner: str = "",
    twice: bool = False,
) -> tuple[Scene, Core, Term, str]:
    """A launch with everything declared; what to evaluate at its place, and its text.

    What the kernel evaluates ``twice``, at different places of its body, is a helper.
    """
    keys = keys_of(cards)
    s = launch(k, family, ndim, inner)
    s.place = s.threads
    last = len(s.dims) - 1
    declare_inputs(
        s, [x for x in keys if x in family.inputs], s.everywhere, k.draw.shape.chance(0.2)
    )
    axes: dict[tuple[int, ...], int] = {(last,): 1, (0,): 1}
    declare_params(s, [x for x in keys if x in family.params], axes)
    single = len(cards) == 1
    core = make_core(s, cards, float(single) if twice else 0.6 if single else 0.35)
    if not single:
        declare_codes(s, core, s.everywhere, dispatched=twice)

    def term() -> Expr:
        s.records.clear()
        values = at_place(s, core)
        if core.codes is not None:
            return chosen(s, core, values)
        return evaluate(s, core, core.cards[0], values)

    return s, core, term, chosen_text(s, core) if core.codes is not None else card_text(s, cards[0])


def count_of(level: int, k: KernelBuilder) -> int:
    return {3: 1, 4: k.draw.shape.integer(1, 2), 5: k.draw.shape.integer(2, 3)}[level]


_SCALES = {
    "centred": "less their mean",
    "standard": "less their mean, over sqrt(variance + {eps})",
    "rms": "over sqrt(mean square + {eps})",
    "peak": "over (largest size + {eps})",
}


def two_passes(k: KernelBuilder, level: int, family: Family) -> Title:
    """The values of a row put on a common scale: a pass for it and one to write."""
    shape = k.draw.shape
    cards = shape.sample(list(family.cards), count_of(level, k))
    outer = shape.weighted({1: 3, 2: 1})
    inner = ("cols", "depth")[outer - 1]
    s, _, term, text = prepared(k, family, cards, outer, inner)
    how = shape.choice(sorted(_SCALES))
    out = k.out(("out", "scaled_out", "normalized"), s.type, s.dims)
    names = ("raw", *cards[0].outs.split(), "unscaled")
    raw = k.out(names, s.type, s.dims) if shape.chance(0.8) else out
    eps = k.draw.value.choice((1.0e-3, 1.0e-2, 1.0e-4))
    report = (
        k.out(("scale_out", "row_scale", "norms_out"), s.type, s.dims[:-1]) if level > 3 else None
    )
    count = trip_count(k, ("count", f"num_{inner}"), inner, linear=False)
    total = k.let(("total", "acc", "row_sum"), k.lift(0.0, s.type))
    squares = None
    if how == "standard":
        squares = k.let(("squares", "sum_sq"), k.lift(0.0, s.type))
    s.place = s.threads
    s.hoist(keys_of(cards), read_once(cards))
    k.used.discard(s.loop)
    with k.for_((s.loop,), count) as j:
        s.place = (*s.threads, j)
        value = term()
        if not isinstance(value, Var):
            value = k.let(("value", "entry"), value)
        k.store(raw, s.place, value)
        _sum_up(k, how, total, squares, value)
    centre, scale = _scale(k, how, (total, squares), cast(count, s.type), eps)
    k.used.discard(s.loop)
    with k.for_((s.loop,), count) as j:
        _rescaled(k, (*s.threads, j), (raw, out), centre, scale)
    done = f"Over {s.over}, evaluate {text}. {out.name} gets these values "
    done += f"{_SCALES[how].format(eps=eps)}."
    done += f" {raw.name} gets them as they are." if raw is not out else ""
    if report is not None:
        kept = scale if scale is not None else centre
        assert kept is not None
        k.store(report, s.threads, kept)
        done += f" {report.name} gets the {'divisor' if scale is not None else 'mean'}."
    base = family.titles.split()[0] if len(cards) > 1 else cards[0].name
    return Title(k.name(f"{how}_{base}", f"{base}_{how}", f"normalize_{base}"), done)


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


def _sum_up(k: KernelBuilder, how: str, total: Var, squares: Var | None, value: Expr) -> None:
    if how == "peak":
        k.assign(total, fn("max", total, fn("abs", value)))
    else:
        k.augment(total, "add", value * value if how == "rms" else value)
    if squares is not None:
        k.augment(squares, "add", value * value)


def _scale(
    k: KernelBuilder, how: str, sums: tuple[Var, Var | None], count: Expr, eps: float
) -> tuple[Var | None, Var | None]:
    """What to subtract and what to divide by."""
    total, squares = sums
    if how == "peak":
        return None, k.let(("scale", "norm"), total + eps)
    if how == "rms":
        return None, k.let(("scale", "norm"), fn("sqrt", total / count + eps))
    centre = k.let(("centre", "avg"), total / count)
    if squares is None:
        return centre, None
    spread = k.let(("variance", "var_row"), squares / count - centre * centre)
    return centre, k.let(("scale", "std"), fn("sqrt", spread + eps))


_BUMPED = (
    ("moved_up", "value_up", "moved_down", "value_down", "value_here"),
    ("x_plus", "f_plus", "x_minus", "f_minus", "f_here"),
    ("bumped_up", "up", "bumped_down", "down", "base_value"),
)


def bumped(k: KernelBuilder, level: int, family: Family) -> Title:
    """The slope of a formula by one of its quantities, from differences."""
    shape = k.draw.shape
    card = shape.choice(family.cards)
    ndim = shape.weighted({1: 3, 2: 2, 3: 1})
    s, core, _, text = prepared(k, family, [card], ndim, twice=True)
    table = {**family.inputs, **family.params}
    loose = [x for x in card.keys if not isinstance(s.sources[x].value, Const)]
    key = shape.choice(loose)
    step = float(f"{0.02 * (table[key].high - table[key].low):.0e}")
    central = level > 3 or shape.chance(0.6)
    slopes = k.out(("slopes", "sensitivity", "gradient_out"), s.type, s.dims)
    report = k.out(out_names(k, card), s.type, s.dims) if level > 3 else None
    values: dict[str, Expr] = {}
    for name, value in s.values(card.keys).items():
        values[name] = value if isinstance(value, Var) else k.let(table[name].names, value)
    bump = k.let(("bump", "h_step", "delta_x"), k.lift(step, s.type))

    def at(names: tuple[str, ...], value: Expr) -> Var:
        return k.let(names, evaluate(s, core, card, {**values, key: value}))

    moved_name, up_name, low_name, down_name, base_name = k.draw.word.choice(_BUMPED)
    moved = k.let(moved_name, values[key] + bump)
    up = at((up_name,), moved)
    if central:
        low = k.let(low_name, values[key] - bump)
        down = at((down_name,), low)
        slope = (up - down) / (2.0 * bump)
    else:
        base = at((base_name,), values[key])
        slope = (up - base) / bump
    k.store(slopes, s.threads, slope)
    sides = "(f(up) - f(down)) / (2 * h)" if central else "(f(up) - f) / h"
    done = f"Set {slopes.name} to the slope {sides} of {text}, where {s.text(s.sources[key])} is"
    done += f" moved by h = {step}{' both ways' if central else ' up'}."
    if report is not None:
        k.store(report, s.threads, evaluate(s, core, card, values))
        done += f" {report.name} gets the value itself."
    return Title(
        k.name(f"{card.name}_slope", f"{card.name}_sensitivity", f"bump_{card.name}"), done
    )
