"""Reductions of a formula's values over a row of entries or over parts, by one thread."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast, fn
from generators.kit.formulas import Formula, keys_of, read_once
from generators.kit.functions import least, most, sqrt
from generators.kit.naming import local
from generators.math.core import Prepared
from generators.math.scene import Scene
from generators.math.stores import plain_outs
from generators.program.dtypes import Array
from generators.program.expr import Expr, Var, literal

_KINDS = {
    "sum": ("the sum", "total acc", "total"),
    "mean": ("the mean", "total acc", "mean"),
    "rms": ("the square root of the mean square", "squares power", "rms"),
    "largest": ("the largest", "top peak", "max"),
    "smallest": ("the smallest", "low least", "min"),
}
"""Each reduction in words, names of what it is gathered in, and the first word of its output."""


@dataclass
class Plan:
    """What is made of the values: reductions, each with its output; weights and flags."""

    kinds: list[str]
    outs: list[Var] = field(default_factory=list)
    weights: Var | None = None
    flags: Var | None = None

    @property
    def what(self) -> str:
        short = {"largest": "max", "smallest": "min"}
        return "_".join(short.get(kind, kind) for kind in self.kinds)


@dataclass
class _Sums:
    """What the reductions are gathered in (a sum and a mean share it), and the sum of weights."""

    totals: dict[str, Var]
    mass: Var | None


def trip_count(k: KernelBuilder, names: str, symbol: str) -> Expr:
    """How often a loop runs: a parameter."""
    return k.size_param(names, symbol)


def declare_reduction(s: Scene, parts: bool, card: Formula) -> Plan:
    """Choose the reductions and declare what they read and write."""
    shape = s.k.draw.shape
    kinds = ["sum"] if parts else list(s.family.reductions)
    many = 1 + ("sum" not in kinds and shape.chance(0.15))
    plan = Plan(shape.sample(kinds, min(many, len(kinds))))
    summed = not {"largest", "smallest"} & set(plan.kinds)
    if summed and s.family.weights and (s.family.mixed if parts else shape.chance(0.1)):
        axes = s.everywhere[-1:] if parts else s.everywhere
        plan.weights = s.array(s.family.weights, s.type, axes, 0.1, 1.0)
    if not parts and summed and shape.chance(0.05):
        plan.flags = s.flags()
    for kind in plan.kinds:
        lead = _KINDS[kind][2]
        names = [f"{lead}_{name}" for name in plain_outs(card)]
        if parts:
            names = ["mixture", "mixture_out"] if s.family.parts[0] == "c" else ["mix_out", "mixed"]
        plan.outs.append(s.k.out(names, s.type, s.dims[:-1]))
    return plan


def reduced(found: Prepared, plan: Plan) -> str:
    """The loop and the stores; and what they do."""
    s, k, cards = found.s, found.s.k, found.core.cards
    count = trip_count(k, f"num_{s.dims[-1]} {s.dims[-1]}", s.dims[-1])
    sums = _start(s, plan)
    s.hoist(keys_of(cards), read_once(cards))
    k.used.discard(s.loop)
    with k.for_(s.loop, count) as j:
        s.place = (*s.threads, j)
        flags = plan.flags
        with nullcontext() if flags is None else k.if_(fn("ne", flags[s.place], 0)):
            _accumulate(s, plan, sums, found.term())
    for kind, out in zip(plan.kinds, plan.outs, strict=True):
        value: Expr = sums.totals[kind]
        if kind in ("mean", "rms"):
            value = value / _divisor(plan, sums.mass, cast(count, s.type))
        k.store(out, s.threads, sqrt(value) if kind == "rms" else value)
    return _text(s, plan, found.text, sums.mass is not None)


def _divisor(plan: Plan, mass: Var | None, count: Expr) -> Expr:
    """The count, or the sum of weights; where all entries may be left out, never zero."""
    if mass is None:
        return count
    return mass if plan.flags is None else most(mass, 1.0e-6)


def _start(s: Scene, plan: Plan) -> _Sums:
    bounds = {"largest": "-1.0e6", "smallest": "1.0e6"}
    made: dict[str, Var] = {}
    for kind in plan.kinds:
        other = made.get({"sum": "mean", "mean": "sum"}.get(kind, ""))
        made[kind] = other or s.k.let(_KINDS[kind][1], literal(bounds.get(kind, "0.0"), s.type))
    weighed = plan.weights is not None or plan.flags is not None
    by_mass = {"mean", "rms"} & set(plan.kinds) and weighed
    return _Sums(made, s.k.let("mass norm weight_sum", s.k.lift(0.0, s.type)) if by_mass else None)


def _accumulate(s: Scene, plan: Plan, sums: _Sums, value: Expr) -> None:
    """One more value to each reduction."""
    k, totals = s.k, {total: kind for kind, total in sums.totals.items()}
    if len(totals) > 1:
        value = local(k, "value entry current", value)
    weight: Expr | None = None
    if plan.weights is not None:
        assert isinstance(plan.weights.type, Array)
        weight = plan.weights[s.place[-plan.weights.type.ndim :]]
        if len(totals) > 1 or sums.mass is not None:
            weight = k.let("weight w share", weight)
    for total, kind in totals.items():
        if kind in ("largest", "smallest"):
            k.assign(total, (most if kind == "largest" else least)(total, value))
            continue
        if kind == "rms":
            value = local(k, "value entry", value)
        scaled = value if weight is None else weight * value
        k.augment(total, "add", scaled * value if kind == "rms" else scaled)
    if sums.mass is not None:
        k.augment(sums.mass, "add", weight if weight is not None else 1.0)


def parts_alone(plan: Plan) -> bool:
    """Whether all that is made of a row is a sum, weighted by an array of its entries."""
    weights = plan.weights
    return (
        plan.kinds == ["sum"]
        and weights is not None
        and isinstance(weights.type, Array)
        and (weights.type.ndim == 1)
    )


def _text(s: Scene, plan: Plan, text: str, has_mass: bool) -> str:
    outs = zip(plan.kinds, plan.outs, strict=True)
    parts = [f"{out.name} gets {_KINDS[kind][0]}" for kind, out in outs]
    done = f"Over {s.over}, {' and '.join(parts)} of {text}"
    if plan.weights is not None:
        done += f", each times {plan.weights.name}[{s.loop}]" if parts_alone(plan) else ""
    done += "."
    if plan.weights is not None and not parts_alone(plan):
        done += f" Each entry is weighted by {plan.weights.name}."
    if plan.flags is not None:
        done += f" Entries where {plan.flags.name} is 0 are left out."
    if has_mass:
        weighed = "the sum of weights" if plan.weights is not None else "the number of entries left"
        done += f" The mean divides by {weighed}"
        done += ", at least 1e-6." if plan.flags is not None else "."
    return done
