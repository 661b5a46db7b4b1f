"""What the vector idioms do with a value at last: masks, weights, sums, outputs."""

from __future__ import annotations

from collections.abc import Sequence

from generators.build import KernelBuilder, fn
from generators.kit.pieces import zero
from generators.program.dtypes import BOOL, Scalar, scalar_of
from generators.program.expr import Expr, Field, Load, Op, Var, op
from generators.vector.kit import Site, said


def put(k: KernelBuilder, site: Site, names: Sequence[str], value: Expr) -> Var:
    """Store a value in an output of the launch's shape."""
    out = k.out(names, value.type, site.dims)
    k.store(out, site.at, value)
    return out


_FLAGS = {"int32": 4, "uint8": 3, "bool": 3, "int8": 1, "uint32": 1, "int64": 1, "uint64": 1}


def flag(k: KernelBuilder, site: Site, names: Sequence[str]) -> tuple[Expr, str]:
    """A condition from an array of flags, and its wording."""
    type_ = Scalar(k.draw.shape.weighted(_FLAGS))
    if type_ == BOOL:
        marks = k.array(names, BOOL, site.dims)
        return marks[site.at], f"{marks.name} is true"
    marks = k.array(names, type_, site.dims, low=0, high=1)
    return fn("ne", marks[site.at], 0), f"{marks.name} is not 0"


def negation(condition: Expr) -> Expr:
    """The opposite of a flag."""
    if isinstance(condition, Op) and condition.op == "ne":
        return op("eq", *condition.args)
    return op("not", condition)


def early_out(
    k: KernelBuilder, site: Site, names: Sequence[str], outs: Sequence[tuple[Var, Expr]]
) -> str:
    """A flag without which the thread stores these values and ends; the sentence on it."""
    live, text = flag(k, site, names)
    with k.if_(negation(live)):
        for out, value in outs:
            k.store(out, site.at, value)
        k.return_()
    return text


def deliver(
    k: KernelBuilder,
    site: Site,
    level: int,
    names: Sequence[str],
    value: Expr,
    otherwise: Expr | None = None,
) -> str:
    """Store ``value``: as it is, weighted, only where a flag is set, or added; the sentence."""
    forms = {"plain": 6, "added": 2}
    if level >= 2:
        forms = {"plain": 4, "added": 2, "weighted": 2, "where": 2, "if": 3, "out": 2}
    if not scalar_of(value.type).is_float:
        forms.pop("weighted", None)
    form = k.draw.shape.weighted(forms)
    if form == "added":
        low = 0 if scalar_of(value.type).is_unsigned else -1
        out = k.array(names, value.type, site.dims, role="inout", low=low, high=1)
        k.store(out, site.at, value, op="add")
        return f" It is added to {out.name}."
    if form == "plain":
        return f" {put(k, site, names, value).name} gets it."
    if form == "weighted":
        names_of = ("weights", "confidence", "importance")
        weights = k.array(names_of, scalar_of(value.type), site.dims, low=0.1, high=1)
        out = put(k, site, names, weights[site.at] * value)
        return f" {out.name} gets it times {weights.name}."
    return _flagged(k, site, form, names, value, otherwise or zero(value.type))


def _flagged(
    k: KernelBuilder, site: Site, form: str, names: Sequence[str], value: Expr, otherwise: Expr
) -> str:
    live, text = flag(k, site, ("active", "mask", "alive", "enabled", "valid", "selected"))
    out = k.out(names, value.type, site.dims)
    if form == "where":
        k.store(out, site.at, fn("where", live, value, otherwise))
    elif form == "if":
        value = value if isinstance(value, Var) else k.let(("value", "result", "res"), value)
        with k.if_(live):
            k.store(out, site.at, value)
        with k.else_():
            k.store(out, site.at, otherwise)
    else:
        k.store(out, site.at, otherwise)
        with k.if_(live):
            k.store(out, site.at, value)
    named = said(k, otherwise) if isinstance(otherwise, Var | Load | Field) else "zero"
    return f" {out.name} gets it where {text}, {named} elsewhere."
