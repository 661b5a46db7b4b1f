"""Reductions of a formula's values over a row of entries or over parts, by one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from generators.build import MOST_COPIES, KernelBuilder, cast, fn
from generators.kit.formulas import read_once
from generators.math.core import Core, keys_of
from generators.math.scene import Scene
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, literal

_FIRST = {"sum": "total acc", "mean": "total acc", "rms": "squares power", "largest": "top peak"}
_FIRST |= {"smallest": "low least"}
_OUTS = {
    "sum": "totals row_sum sums",
    "mean": "means row_mean averages",
    "rms": "rms_out row_rms",
    "largest": "peaks row_max maxima",
    "smallest": "minima row_min",
    "spread": "spreads row_std deviations",
}


@dataclass
class Plan:
    """What is made of the values: reductions, each with its output; weights and flags."""

    kinds: list[str]
    outs: list[Var] = field(default_factory=list)
    weights: Var | None = None
    flags: Var | None = None
    skip: bool = False
    bias: Var | None = None

    @property
    def what(self) -> str:
        return {"largest": "max", "smallest": "min"}.get(self.kinds[0], self.kinds[0])


def trip_count(k: KernelBuilder, names: Sequence[str], symbol: str, linear: bool) -> Expr:
    """How often a loop runs: mostly a literal where its sum is not used as it is.

    Warp's adjoint of such loops with a bound known at run time only is wrong.
    """
    if linear or k.draw.shape.chance(0.2):
        return k.trip_count(names, symbol)
    k.fixed[symbol] = min(k.sizes.pop(symbol).value, MOST_COPIES)
    return k.lift(k.fixed[symbol], INT32)


def declare_reduction(s: Scene, core: Core, level: int, parts: bool) -> Plan:
    """Choose the reductions and declare what they read and write."""
    k, shape = s.k, s.k.draw.shape
    kinds = [r for r in s.family.reductions if not parts or r in ("sum", "mean", "largest")]
    many = {3: 1, 4: 1 + shape.chance(0.6), 5: 2}[level]
    plan = Plan(shape.sample(kinds, min(many, len(kinds))))
    last = s.everywhere[-1:]
    summed = not {"largest", "smallest"} & set(plan.kinds)
    if (parts or level >= 4) and summed and shape.chance(0.6):
        axes = last if parts or shape.chance(0.4) else s.everywhere
        plan.weights = k.array(s.family.weights.split(), s.type, s.shape(axes), low=0.1, high=1.0)
    if level >= 4 and not parts and summed and shape.chance(0.6):
        scalar = Scalar(shape.weighted({"int32": 4, "uint8": 4, "int8": 1, "uint32": 1}))
        names = s.family.masks.split()
        plan.flags = k.array(names, scalar, s.shape(s.everywhere), low=0, high=1)
    outer = s.shape(s.everywhere[:-1])
    for kind in plan.kinds:
        free = [name for name in _OUTS[kind].split() if name not in k.used]
        plan.outs.append(k.out(free or [f"out_{kind}"], s.type, outer))
    return plan


def reduced(s: Scene, core: Core, plan: Plan, term: Callable[[], Expr], text: str) -> str:
    """The loop and the stores; and what they do."""
    k = s.k
    names = ("count", "num_parts", f"num_{s.dims[-1]}")
    linear = set(plan.kinds) <= {"sum", "mean"} and plan.flags is None
    count = trip_count(k, names, s.dims[-1], linear)
    sums = _totals(s, plan)
    mass = None
    if {"mean", "rms"} & set(plan.kinds) and (plan.weights is not None or plan.flags is not None):
        mass = k.let(("mass", "norm", "weight_sum"), k.lift(0.0, s.type))
    s.place = s.threads
    s.hoist(keys_of(core.cards), read_once(core.cards))
    k.used.discard(s.loop)
    with k.for_((s.loop,), count) as j:
        s.place = (*s.threads, j)
        _add(s, plan, sums, mass, term)
    for kind, total, out in zip(plan.kinds, sums, plan.outs, strict=True):
        value: Expr = total
        if kind == "mean":
            value = total / _mean_divisor(plan, mass, cast(count, s.type))
        elif kind == "rms":
            value = fn("sqrt", total / _mean_divisor(plan, mass, cast(count, s.type)))
        k.store(out, s.threads, value)
    return _text(s, plan, text, mass is not None)


def _mean_divisor(plan: Plan, mass: Var | None, count: Expr) -> Expr:
    """The count, or the sum of weights; where all entries may be left out, never zero."""
    if mass is None:
        return count
    return mass if plan.flags is None else fn("max", mass, 1.0e-6)


def _totals(s: Scene, plan: Plan) -> list[Var]:
    """What each reduction is gathered in; a sum and a mean share it."""
    made: dict[str, Var] = {}
    for kind in plan.kinds:
        other = made.get({"sum": "mean", "mean": "sum"}.get(kind, ""))
        made[kind] = other or s.k.let(tuple(_FIRST[kind].split()), _start(s, kind))
    return list(made.values())


def _start(s: Scene, kind: str) -> Expr:
    bounds = {"largest": "-1.0e6", "smallest": "1.0e6"}
    return literal(bounds.get(kind, "0.0"), s.type)


def _add(s: Scene, plan: Plan, sums: list[Var], mass: Var | None, term: Callable[[], Expr]) -> None:
    """The body of the loop: one more value to each reduction."""
    k = s.k
    if plan.flags is not None:
        with k.if_(fn("ne", plan.flags[s.place], 0)):
            _accumulate(s, plan, sums, mass, term)
    else:
        _accumulate(s, plan, sums, mass, term)


def _accumulate(
    s: Scene, plan: Plan, sums: list[Var], mass: Var | None, term: Callable[[], Expr]
) -> None:
    k, value = s.k, term()
    totals = dict.fromkeys(sums)
    if len(totals) > 1 and not isinstance(value, Var):
        value = k.let(("value", "entry", "current"), value)
    weight: Expr | None = None
    if plan.weights is not None:
        axes = plan.weights.type.ndim  # type: ignore[union-attr]
        weight = plan.weights[s.place[-axes:]]
        if len(totals) > 1 or mass is not None:
            weight = k.let(("weight", "w", "share"), weight)
    for kind, total in zip(plan.kinds, sums, strict=True):
        if total not in totals:
            continue
        del totals[total]
        scaled = value if weight is None else weight * value
        if kind == "largest":
            k.assign(total, fn("max", total, value))
        elif kind == "smallest":
            k.assign(total, fn("min", total, value))
        elif kind == "rms":
            held = value if isinstance(value, Var) else k.let(("value", "entry"), value)
            k.augment(total, "add", held * held if weight is None else weight * held * held)
        else:
            k.augment(total, "add", scaled)
    if mass is not None:
        k.augment(mass, "add", weight if weight is not None else 1.0)


def _text(s: Scene, plan: Plan, text: str, has_mass: bool) -> str:
    phrases = {
        "sum": "the sum",
        "mean": "the mean",
        "rms": "the square root of the mean square",
        "largest": "the largest",
        "smallest": "the smallest",
    }
    parts = [
        f"{out.name} gets {phrases[kind]}" for kind, out in zip(plan.kinds, plan.outs, strict=True)
    ]
    done = f"Over {s.over}, {' and '.join(parts)} of {text}."
    if plan.weights is not None:
        done += f" Each entry counts with {plan.weights.name}."
    if plan.flags is not None:
        done += f" Entries where {plan.flags.name} is 0 are left out."
    if has_mass:
        weighed = "the sum of weights" if plan.weights is not None else "the number of entries left"
        done += f" The mean divides by {weighed}"
        done += ", at least 1e-6." if plan.flags is not None else "."
    return done
