"""Random numbers by Warp's own generator."""

from __future__ import annotations

from generators.arithmetic.parts import (
    FLOAT32,
    INT32,
    UINT32,
    Given,
    Grid,
    grid,
    parameters,
)
from generators.build import KernelBuilder, fn
from generators.build.registry import Title
from generators.program.expr import Expr, Var


def library(k: KernelBuilder, level: int) -> Title:
    """Random numbers by ``wp.rand_init`` and its samplers."""
    shape = k.draw.shape
    g = grid(k, {1: 3, 2: 3, 3: 1})
    seed: Expr = k.scalar(("seed", "frame", "iteration"), INT32, 0, 1000)
    state = k.random_state(("state", "rng"), seed, _flat(k, g))
    kinds = shape.sample(("randf", "range", "randi", "randn", "randu"), 1 if level < 3 else 2)
    done = f"Seed each thread's generator with {_name(seed)} and the flat index of its element."
    for kind in kinds:
        done += _sampled(k, level, kind, state, g)
    return Title(k.name("random_field", "fill_random", "sample_noise"), done)


def _name(seed: Expr) -> str:
    assert isinstance(seed, Var)
    return seed.name


def _flat(k: KernelBuilder, g: Grid) -> Expr:
    index: Expr = g.at[0]
    for at, size in zip(g.at[1:], g.sizes[1:], strict=True):
        index = index * k.size_param((f"num_{at.name}", f"n{at.name}"), size) + at
    return index if g.ndim == 1 or k.draw.shape.chance(0.5) else k.let(("index", "flat"), index)


def _sampled(k: KernelBuilder, level: int, kind: str, state: Var, g: Grid) -> str:
    if kind == "randi":
        sides = k.scalar(("sides", "num_choices"), INT32, 6, 40)
        drawn = k.sample(("roll", "pick"), "randi", state, 0, sides)
        out = k.out(("rolls", "picks"), INT32, g.sizes)
        k.store(out, g.at, drawn + 1 if level > 1 else drawn)
        plus = " plus 1" if level > 1 else ""
        return f" {out.name} gets wp.randi in [0, {sides.name}){plus}."
    if kind == "randu":
        drawn = k.sample(("word", "bits32"), "randu", state)
        out = k.out(("words", "random_bits"), UINT32, g.sizes)
        by = k.draw.value.integer(1, 16)
        k.store(out, g.at, drawn ^ (drawn >> by))
        return f" {out.name} gets w ^ (w >> {by}) of w = wp.randu."
    names = {"randf": ("u", "sample"), "range": ("t", "offset"), "randn": ("z", "normal")}[kind]
    if kind == "range":
        bounds = sorted(k.draw.value.integer(-4, 4) * 0.25 for _ in range(2))
        drawn = k.sample(names, "randf", state, bounds[0], bounds[1] + 0.5)
        text = f"wp.randf in [{bounds[0]}, {bounds[1] + 0.5})"
    else:
        drawn = k.sample(names, kind, state)
        text = f"wp.{kind}"
    value, said = _shaped(k, level, drawn, g)
    out = k.out((f"{names[0]}_out", "noise", "field_out"), FLOAT32, g.sizes)
    k.store(out, g.at, value)
    return f" {out.name} gets {said.format(text)}."


def _shaped(k: KernelBuilder, level: int, drawn: Var, g: Grid) -> tuple[Expr, str]:
    form = k.draw.shape.choice(("plain", "affine", "added") if level < 4 else ("added", "bridge"))
    if form == "plain":
        return (drawn, "{}") if k.draw.shape.chance(0.5) else (drawn * drawn, "the square of {}")
    mean, spread = parameters(
        k,
        [(("mean", "mu"), FLOAT32, -1.0, 1.0), (("sigma", "spread"), FLOAT32, 0.3, 1.2)],
        ("Moments", "Gaussian"),
        0.3,
    )
    value: Expr = mean.value + spread.value * drawn
    text = f"{mean.text} + {spread.text} * {{}}"
    if form == "affine":
        return value, text
    base = k.array(("signal", "base", "image"), FLOAT32, g.sizes, low=-1.0, high=1.0)
    given = Given(base[g.at], base.name)
    if form == "added":
        return given.value + value, f"{given.text} + {text}"
    limit = k.scalar(("limit", "max_abs"), FLOAT32, 1.0, 1.5)
    bounded = fn("clamp", given.value + value, -limit, limit)
    return bounded, f"{given.text} + {text}, clamped to [-{limit.name}, {limit.name}]"
