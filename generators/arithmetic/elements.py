"""Formulas of a few numbers, applied element by element to arrays, numbers and structs."""

from __future__ import annotations

from collections.abc import Sequence

from generators.arithmetic.subjects import MEASURES, PHYSICS, Subject
from generators.build import KernelBuilder
from generators.build.registry import Title, idiom
from generators.kit.formulas import Formula, keys_of
from generators.kit.functions import least, most
from generators.kit.masks import condition, early_out
from generators.kit.naming import evaluated
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import listed, say, singular
from generators.program.dtypes import Scalar
from generators.program.expr import Const, Expr, Field, Var

_COUNTS = {1: (1, 1), 2: (1, 1), 3: (1, 2), 4: (1, 2), 5: (1, 2)}
"""How many results of a subject a kernel of a level has."""

_BOUNDS = {4: (0, 1), 5: (0, 1)}
"""How many inputs are kept within bounds."""


@idiom(depth=2)
def combine_elements(k: KernelBuilder, level: int) -> Title:
    """A formula of a subject element by element; at higher levels several, guarded and masked."""
    shape, f = k.draw.shape, k.draw.wide_float_type()
    subject = shape.choice(PHYSICS + MEASURES)
    s = launch(k, list=5, grid=6)
    count = min(shape.integer(*_COUNTS[level]), len(subject.results))
    results = shape.sample(subject.results, count)
    values = _inputs(s, level, subject, results, f)
    texts = {key: say(k, value) for key, value in values.items()}
    varying = [key for key, value in values.items() if not _shared(k, value)]
    bounds = min(shape.integer(*_BOUNDS.get(level, (0, 0))), len(varying))
    last = "".join(_limited(k, key, subject, values) for key in shape.sample(varying, bounds))
    called = results[0].name.replace("_", " ").capitalize()
    called = called.upper() if called in ("Ndvi", "Savi", "Rms") else called
    called = called.replace("Michaelis menten", "Michaelis-Menten rate")
    done = f"{called}, element by element: {results[0].said(texts)}."
    chance = 0.45 if level >= 3 else 0.0
    if level >= 4 and shape.chance(0.06):
        test = condition(s)
        outs = [s.out(result.outs, f) for result in results]
        other = float(k.draw.value.choice((0, 0, -1)))
        early_out(s, test, [(out, other) for out in outs])
        for result, out in zip(results, outs, strict=True):
            k.store(out, s.at, evaluated(k, chance, result, values))
            done += f" {out.name} gets {'it' if out == outs[0] else result.said(texts)}."
        gets = "get" if len(outs) > 1 else "gets"
        done += f" Where {test.off}, {listed([out.name for out in outs])} {gets} {other:g}."
    else:
        more = ""
        for result in results[1:]:
            out = s.put(result.outs, evaluated(k, chance, result, values))
            more += f" {out.name} gets {result.said(texts)}."
        first = evaluated(k, chance, results[0], values)
        done += deliver(s, level, results[0].outs, first, ways={"plain": 1}) + more
    name = results[0].name
    return Title(k.name(f"{name}_kernel compute_{name} {name}_map"), done + last)


def _inputs(
    s: Site, level: int, subject: Subject, results: Sequence[Formula], f: Scalar
) -> dict[str, Expr]:
    """The inputs by key: arrays, an array of structs, numbers or a struct of them."""
    k, shape = s.k, s.k.draw.shape
    keys = [key for key in subject.inputs if key in keys_of(results)]
    style = k.draw.word.integer(0, 2)
    names_of = {key: _one_of(names, style) for key, (names, _, _) in subject.inputs.items()}
    parts = {
        key: Part(names_of[key], f, low, high, many=names_of[key])
        for key, (_, low, high) in subject.inputs.items()
    }
    alike = subject in MEASURES
    free = [key for key in keys if key not in subject.fixed]
    own = [key for key in free if alike or shape.chance(0.75)] or free[:1]
    shared = {key: parts[key] for key in keys if key not in own}
    struct = 0.0 if level < 2 else 0.25
    values = dict(record(s, subject.record, {key: parts[key] for key in own}, struct).values)
    if len(shared) > 1 and level >= 3 and shape.chance(0.5):
        values |= record(s, f"{subject.record}Params", shared, 1.0, shared=True).values
    else:
        for key, part in shared.items():
            ways = {"shared": 2, "each": key not in subject.fixed}
            values[key] = given(s, part.names, f, part.low, part.high, many=part.names, forms=ways)
    return {key: _local(k, names_of[key], key, results, values[key]) for key in keys}


def _one_of(names: str, style: int) -> str:
    """Of candidate names the one of a style, so that the names of several match."""
    known = names.split()
    return known[min(style, len(known) - 1)]


def _local(k: KernelBuilder, names: str, key: str, results: Sequence[Formula], value: Expr) -> Expr:
    """An input in a local where formulas read it more than once, or now and then anyway."""
    reads = sum(result.reads(key) for result in results)
    if isinstance(value, Var | Const) or not k.draw.shape.chance(0.9 if reads > 1 else 0.2):
        return value
    one = singular(names)
    return k.let(one if one not in k.used else f"{names}_i", value)


def _shared(k: KernelBuilder, value: Expr) -> bool:
    """Whether all threads have the same of a value: a literal, a number or a field of one."""
    while isinstance(value, Field):
        value = value.value
    return isinstance(value, Const) or value in [Var(p.name, p.type) for p in k.params]


def _limited(k: KernelBuilder, key: str, subject: Subject, values: dict[str, Expr]) -> str:
    """An input is kept within a bound; says so."""
    names, low, high = subject.inputs[key]
    name, value, width = names.split()[0], values[key], high - low
    up = k.draw.shape.chance(0.5)
    side, share, bounded = ("min", 0.2, most) if up else ("max", 0.6, least)
    least_or_most = "least" if up else "most"
    bound = k.scalar(
        f"{side}_{name} at_{least_or_most}",
        value.type,
        low + share * width,
        low + (share + 0.2) * width,
    )
    done = f" In the formulas {say(k, value)} counts as at {least_or_most} {bound.name}."
    values[key] = k.let(f"{name}_kept bounded_{name}", bounded(value, bound))
    return done
