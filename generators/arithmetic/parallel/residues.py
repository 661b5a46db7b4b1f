"""Butterflies of residues: stages of number-theoretic transforms."""

from __future__ import annotations

from collections.abc import Callable

from generators.arithmetic.parallel.butterflies import Stage, stage
from generators.build import BodyBuilder, KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import where
from generators.kit.naming import helper, maybe, routine
from generators.program.dtypes import Scalar
from generators.program.expr import Expr, Var

_WORD, _WIDE = Scalar("uint32"), Scalar("uint64")

_PRIMES = (998244353, 469762049, 2013265921)
"""Primes below 2^31 with roots of unity of every order up to 2^23 at least."""

_Product = Callable[[Expr, Expr], Expr]


def _remainder(k: KernelBuilder, q: Expr, prime: int) -> _Product:
    """Products in 64 bits, since those of two residues do not fit in 32."""
    apart = isinstance(q, Var)
    params = {"a": _WORD, "b": _WORD, **({"q": _WORD} if apart else {})}

    def build(body: BodyBuilder, a: Expr, b: Expr, modulus: Expr = q) -> Expr:
        wide = cast(modulus, _WIDE) if apart else body.lift(prime, _WIDE)
        return cast(cast(a, _WIDE) * cast(b, _WIDE) % wide, _WORD)

    product = routine(k, 0.6, "mul_mod mod_mul", params, build)
    return lambda a, b: product(a, b, q) if apart else product(a, b)


def _montgomery(k: KernelBuilder, prime: int) -> _Product:
    """Products without a division (P. L. Montgomery, Math. Comp. 44, 1985), in a helper."""
    negative_inverse = -pow(prime, -1, 2**32) % 2**32

    def build(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        t = body.let("t wide_product", cast(a, _WIDE) * cast(b, _WIDE))
        m = body.let("m factor", cast(t, _WORD) * negative_inverse)
        r = body.let("r reduced", cast((t + cast(m, _WIDE) * prime) >> 32, _WORD))
        return where(r >= prime, r - prime, r)

    names = ("montgomery_mul", "mont_mul")
    called = helper(k, names, (("a", _WORD), ("b", _WORD)), build)
    return lambda a, b: k.call(called, a, b)


def _root(k: KernelBuilder, s: Stage, prime: int) -> tuple[Expr, str]:
    """The root of a butterfly: that of its place in the group, or one for the whole group."""
    if k.draw.shape.chance(0.65):
        roots = k.array("roots twiddles", _WORD, "half", low=1, high=prime - 1)
        return maybe(k, "w root", roots[s.offset], 0.6), f"{roots.name}[j]"
    # A negacyclic transform: the tables of all stages in one, that of g groups from entry g on.
    zetas = k.array("zetas", _WORD, "2*groups", low=1, high=prime - 1)
    count = k.size_param("num_groups", "groups")
    said = f"{zetas.name}[{count.name} + group]"
    return k.let("zeta", zetas[count + s.group]), said


def _wrapped(k: KernelBuilder, q: Expr, a: Var, b: Var) -> tuple[Expr, Expr]:
    """Sum and difference modulo q, which lies below 2^31."""
    way = k.draw.shape.choice(("mod", "if", "where"))
    if way == "mod":
        return (a + b) % q, (a + q - b) % q
    plus, minus = k.let("total add", a + b), k.let("diff sub", a + q - b)
    if way == "where":
        return where(plus >= q, plus - q, plus), where(minus >= q, minus - q, minus)
    for value in (plus, minus):
        with k.if_(value >= q):
            k.augment(value, "sub", q)
    return plus, minus


@idiom
def number_theoretic_butterfly(k: KernelBuilder, level: int) -> Title:
    """A stage of a number-theoretic transform: butterflies of residues modulo a prime."""
    shape = k.draw.shape
    prime = shape.choice(_PRIMES)
    s = stage(k, level, 2)
    in_place = shape.chance(0.65)
    dims = (*s.dims, s.points)
    role = "inout" if in_place else "in"
    data = k.array("coeffs x poly", _WORD, dims, role=role, low=0, high=prime - 1)
    out = data if in_place else k.out("y out transformed", _WORD, dims)
    w, root = _root(k, s, prime)
    q: Expr = k.lift(prime, _WORD)
    montgomery = level > 1 and shape.chance(0.2 + 0.05 * level)
    if not montgomery and shape.chance(0.5):
        q = k.scalar("q modulus prime", _WORD, prime, prime + 4096)
    product = _montgomery(k, prime) if montgomery else _remainder(k, q, prime)
    time = shape.chance(0.6)
    a, b = (k.let([word], data[s.at(n)]) for n, word in enumerate("uv"))
    if time:
        b = k.let("wv scaled", product(b, w))
    plus, minus = _wrapped(k, q, a, b)
    if not time:
        minus = product(minus, w)
    k.store(out, s.at(0), plus)
    k.store(out, s.at(1), minus)
    done = "It works in place." if in_place else f"{out.name} gets the points."
    name = q.name if isinstance(q, Var) else str(prime)
    text = f"One stage of a number-theoretic transform of {data.name} modulo {name}"
    text += f"{', a prime below 2^31' if isinstance(q, Var) else ''}. "
    return Title(
        k.name("ntt_stage ntt_butterfly", "number_theoretic_pass"),
        f"{text}{_told(s, time, root, montgomery)} {done}",
    )


def _told(s: Stage, time: bool, root: str, montgomery: bool) -> str:
    """The butterfly in words."""
    text = f"{s.said[0].upper()}{s.said[1:]}. "
    if time:
        text += f"The second is multiplied by {root}; then they become sum and difference"
        text += " (Cooley and Tukey)."
    else:
        text += f"They become sum and difference, the latter then multiplied by {root}"
        text += " (Gentleman and Sande)."
    if montgomery:
        table = root.partition("[")[0]
        text += f" Products are Montgomery's with R = 2^32, {table} holding the roots times R."
    return text
