"""Newton-Schulz iterations: products alone, no divisions; a step of large matrices, or small ones.

Sources: N. J. Higham, Functions of Matrices, chapters 6 to 8; the quintic step is that of the Muon
optimizer (K. Jordan and others, 2024), whose coefficients are tuned and therefore parameters.
"""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import sqrt
from generators.kit.text import written
from generators.matrix.learning.forms import Work, alike, work
from generators.matrix.parts import identity, index, mat_of, place, transpose
from generators.matrix.small.series import Made, found
from generators.program.dtypes import Mat
from generators.program.expr import Expr, Var

_ROWS, _COLS = "i row", "j col"


def _summed(w: Work, depth: str, term: Callable[[Expr], Expr]) -> Var:
    """An entry of a product."""
    total = w.sum("acc total")
    with w.loop("p kk", depth) as p:
        w.k.augment(total, "add", term(p))
    return total


def _gram(w: Work, lead: tuple[str, ...]) -> str:
    deep = w.size("hidden", 5, 8, "m num_cols")
    x = w.tensor("x x_mat", (*lead, "n", deep))
    out = w.out("gram g_mat", (*lead, "n", "n"))
    with w.each(out.dims, _called(lead)) as at:
        own, (i, j) = at[:-2], at[-2:]
        out.store(at, _summed(w, deep, lambda p: x[index(*own, i, p)] * x[index(*own, j, p)]))
    w.say(
        f"First part of a Newton-Schulz step that makes {x.name} orthogonal: {out.name} gets "
        f"{x.name} * transpose({x.name})."
    )
    return "newton_schulz_gram gram_matrix"


def _quintic(w: Work, lead: tuple[str, ...]) -> str:
    w.size("m", 5, 8, "m num_cols")
    x, b = w.tensor("x x_mat", (*lead, "n", "m")), w.tensor("poly b_mat", (*lead, "n", "n"))
    a = w.number("a coef_a", 1.0, 3.5, 0.0)
    out = w.out("x_next x_out", x.dims)
    with w.each(x.dims, _called(lead)) as at:
        own, (i, j) = at[:-2], at[-2:]
        total = _summed(w, "n", lambda p: b[index(*own, i, p)] * x[index(*own, p, j)])
        out.store(at, a * x[at] + total)
    w.say(
        f"Last part of a quintic Newton-Schulz step that makes X = {x.name} orthogonal: {out.name} "
        f"gets {written(a)} * X + B * X, where B = {b.name} is a polynomial of X * transpose(X)."
    )
    return "newton_schulz_step orthogonalize_step"


def _cubic(w: Work, lead: tuple[str, ...]) -> str:
    w.size("m", 5, 8, "m num_cols")
    wide = w.chance(0.5)
    side = "n" if wide else "m"
    x, g = w.tensor("x x_mat", (*lead, "n", "m")), w.tensor("gram g_mat", (*lead, side, side))
    out = w.out("x_next x_out", x.dims)
    with w.each(x.dims, _called(lead)) as at:
        own, (i, j) = at[:-2], at[-2:]

        def term(p: Expr) -> Expr:
            if wide:
                return g[index(*own, i, p)] * x[index(*own, p, j)]
            return x[index(*own, i, p)] * g[index(*own, p, j)]

        out.store(at, 1.5 * x[at] - 0.5 * _summed(w, side, term))
    product, gram = ("G * X", "X * transpose(X)") if wide else ("X * G", "transpose(X) * X")
    w.say(
        f"Cubic Newton-Schulz step toward the orthogonal polar factor of X = {x.name}: {out.name} "
        f"gets 1.5 * X - 0.5 * {product}, where G = {g.name} is {gram}."
    )
    return "newton_schulz_step polar_step"


def _inverse(w: Work, lead: tuple[str, ...]) -> str:
    w.size("m", 5, 8, "m num_cols")
    names = alike(w.k, "x ax", "pinv_approx a_pinv")
    x, ax = w.tensor(names[0], (*lead, "n", "m")), w.tensor(names[1], (*lead, "m", "m"))
    out = w.out("x_next x_out", x.dims)
    with w.each(x.dims, _called(lead)) as at:
        own, (i, j) = at[:-2], at[-2:]
        total = _summed(w, "m", lambda p: x[index(*own, i, p)] * ax[index(*own, p, j)])
        out.store(at, 2.0 * x[at] - total)
    w.say(
        f"Second half of a Newton-Schulz step for the pseudo-inverse of a matrix A: {out.name} "
        f"gets 2 * X - X * P, where X = {x.name} is the approximate pseudo-inverse and "
        f"P = {ax.name} is A * X."
    )
    return "newton_schulz_pinv pinv_step"


_STEPS: tuple[Callable[[Work, tuple[str, ...]], str], ...] = (
    _gram,
    _quintic,
    _cubic,
    _inverse,
)


def _called(lead: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the indices of an entry."""
    return ("g item", _ROWS, _COLS)[1 - len(lead) :]


def _large(k: KernelBuilder, level: int) -> Title:
    """One of the products of a step, an entry a thread."""
    w = work(k, level, flattening=0.2)
    lead = (w.size("b", 2, 3, "batch num_batches"),) if w.chance(0.35, 2) else ()
    w.size("n", 5, 8, "n num_rows")
    names = k.draw.shape.choice(_STEPS)(w, lead)
    if lead:
        w.say("Each item of the batch has matrices of its own.")
    return Title(k.name(names), w.text())


def _polar_steps(k: BodyBuilder, a: Expr, steps: int) -> Made:
    """Singular values below 1 grow by half, or by 7/8, in each step until they are near 1."""
    x = k.let("x q", a / sqrt(fn("ddot", a, a)))
    cubic = k.draw.shape.chance(0.5)
    with k.for_("it r", 2 * steps if cubic else steps):
        g = k.let("g gram", transpose(x) * x if cubic else x * transpose(x))
        if cubic:
            k.assign(x, 1.5 * x - 0.5 * (x * g))
        else:
            h = k.let("h poly", 0.375 * (g * g) - 1.25 * g)
            k.assign(x, 1.875 * x + h * x)
    how = f"{steps} times E = 1.875 * E + (0.375 * G * G - 1.25 * G) * E, G = E * transpose(E)"
    how = f"{2 * steps} times E = 1.5 * E - 0.5 * E * transpose(E) * E" if cubic else how
    return x, f"E = A / sqrt(ddot(A, A)) and then {how}"


def _small_polar(k: KernelBuilder, level: int) -> Title:
    """The rotation of a deformation, and what is left of it without that."""
    g = place(k, "i tid elem")
    mat = Mat(3, 3, k.draw.wide_float_type())
    source = g.read("def_grads transforms", mat, -0.6, 0.6, init="well_conditioned")
    a = g.let("a f", source, "A")
    steps = k.draw.shape.integer(5, 7)
    e, how = found(g, level, "polar_factor nearest_orthogonal", a, steps, _polar_steps)
    done = "Orthogonal polar factor E of invertible 3 x 3 matrices by Newton-Schulz, with "
    done += f"{g.told(a)}: {how}.{g.gets('polar_factors rotations', e)}"
    if g.chance(0.4):
        done += g.gets("stretches stretch_out", transpose(e) * a)
    return Title(k.name("newton_schulz_polar polar_rotation"), done)


def _small_refined(k: KernelBuilder, level: int) -> Title:
    """Inverses that were right for the matrices of the step before."""
    g = place(k, "i tid block")
    size = k.draw.shape.choice((3, 4))
    mat = Mat(size, size, k.draw.wide_float_type())
    a = g.let("a m", g.read("mats blocks", mat, -0.5, 0.5, init="well_conditioned"), "A")
    old = g.read("old_inverses inv_guess", mat, -0.5, 0.5)

    def refined(body: BodyBuilder, m: Expr, start: Expr) -> Var:
        x = body.let("x inv", start)
        two = 2.0 * identity(body, mat_of(m))
        with body.for_("it r", steps):
            body.assign(x, x * (two - m * x))
        return x

    steps = k.draw.shape.integer(2, 3)
    x = refined(k, a, old)
    g.spoken[x.name] = "E", ""
    done = "Refine approximate inverses of small matrices that have changed a little, by "
    done += f"Newton-Schulz: with {g.told(a)}, from E = {g.tell(old)}, {steps} times "
    done += f"E = E * (2 * I - A * E).{g.gets('inverses inv_out', x)}"
    return Title(k.name("refine_inverse newton_schulz_refine"), done)


@idiom
def newton_schulz(k: KernelBuilder, level: int) -> Title:
    """Inverses, roots and orthogonal factors by products of matrices alone."""
    ways = {_large: 5, _small_polar: 2, _small_refined: 1}
    names = {build.__name__: build for build in ways}
    way = k.draw.shape.weighted({build.__name__: n for build, n in ways.items()})
    return names[way](k, level)
