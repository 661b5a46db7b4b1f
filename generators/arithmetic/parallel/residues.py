"""Butterflies of residues: stages of number-theoretic transforms."""

from __future__ import annotations

from generators.arithmetic.parallel.butterflies import Stage, stage
from generators.build import KernelBuilder, cast
from generators.build.draw import Stream
from generators.build.registry import Title, idiom
from generators.kit.naming import maybe
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_UNSIGNED = Scalar("uint32")


_WIDE = Scalar("uint64")


@idiom
def number_theoretic_butterfly(k: KernelBuilder, level: int) -> Title:
    """A stage of a number-theoretic transform: butterflies of residues modulo a prime."""
    shape = k.draw.shape
    prime = shape.choice((998244353, 7681, 12289, 3329, 2013265921, 469762049))
    wide = prime > 2**16
    type_ = _WIDE if wide or shape.chance(0.3) else _UNSIGNED
    element = _UNSIGNED if type_ == _WIDE and shape.chance(0.6) else type_
    s = stage(k, level, 2)
    in_place = shape.chance(0.65)
    dims = (*s.dims, s.points)
    data = k.array(
        "coeffs x poly", element, dims, role="inout" if in_place else "in", low=0, high=prime - 1
    )
    out = data if in_place else k.out("y out transformed", element, dims)
    roots = k.array("roots zetas twiddles", element, "half", low=1, high=prime - 1)
    q: Expr = k.lift(prime, type_)
    if shape.chance(0.5):
        q = k.scalar("q modulus prime", type_, prime, prime + 4096)
    elif shape.chance(0.4):
        q = k.let("q modulus prime", q)
    name = q.name if isinstance(q, Var) else str(prime)
    time = shape.chance(0.6)
    pair = k.draw.word.choice((("u", "v"), ("a", "b"), ("lo", "hi")))
    a, b = (k.let(word, cast(data[s.at(n)], type_)) for n, word in enumerate(pair))
    w = maybe(k, "w zeta", cast(roots[s.offset], type_), 0.6)
    if time:
        b = k.let("t wv prod", b * w % q)
    return _number_theoretic_butterfly_stored(
        shape, q, a, b, k, time, w, out, element, s, name, data, roots, in_place
    )


def _number_theoretic_butterfly_stored(
    shape: Stream,
    q: Expr,
    a: Var,
    b: Var,
    k: KernelBuilder,
    time: bool,
    w: Expr,
    out: Var,
    element: Scalar,
    s: Stage,
    name: str,
    data: Var,
    roots: Var,
    in_place: bool,
) -> Title:
    """Store the result; what the kernel is called, and what it does in words."""
    way = shape.choice(("mod", "if"))
    if way == "mod":
        plus: Expr = (a + b) % q
        minus: Expr = (a + q - b) % q
    else:
        plus = k.let("total s add", a + b)
        with k.if_(plus >= q):
            k.augment(plus, "sub", q)
        minus = k.let("diff d sub", a + q - b)
        with k.if_(minus >= q):
            k.augment(minus, "sub", q)
    if not time:
        minus = minus * w % q
    k.store(out, s.at(0), cast(plus, element))
    k.store(out, s.at(1), cast(minus, element))
    which = "Cooley and Tukey: the second point is multiplied by its root before"
    if not time:
        which = "Gentleman and Sande: the difference is multiplied by its root after"
    text = f"One stage of a number-theoretic transform of {data.name} modulo {name}, with "
    text += f"butterflies of {which} sum and difference are taken. "
    text += f"{s.said[0].upper()}{s.said[1:]}; its root is {roots.name} "
    text += "at j." + (" It works in place." if in_place else f" {out.name} gets the points.")
    return Title(k.name("ntt_stage ntt_butterfly", "number_theoretic_pass"), text)
