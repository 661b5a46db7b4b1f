"""Inverses, roots and orthogonal factors by the iterations of Newton and Schulz."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.matrix.small.extras import extras
from generators.matrix.small.grid import Grid, grid, identity, say, square_type
from generators.matrix.small.series import Made, applied, in_helper, readings
from generators.program.dtypes import Mat
from generators.program.expr import Expr, Var


def _inverse_steps(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    at = fn("transpose", a)
    x = k.let(("x", "inv"), at / (fn("ddot", a, a) + 0.1))
    two = 2.0 * identity(k, mat)
    with k.for_(("it", "r"), steps):
        k.assign(x, x * (two - a * x))
    start = "transpose(A) / (ddot(A, A) + 0.1)"
    return x, f"E starts as {start} and {steps} times becomes E * (2 * I - A * E)"


def _polar_steps(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    x = k.let(("x", "q"), a / fn("sqrt", fn("ddot", a, a) + 0.1))
    if k.draw.shape.chance(0.5):
        with k.for_(("it", "r"), steps):
            g = k.let(("g", "gram"), fn("transpose", x) * x)
            k.assign(x, 1.5 * x - 0.5 * (x * g))
        how = "becomes 1.5 * E - 0.5 * E * transpose(E) * E"
    else:
        with k.for_(("it", "r"), steps):
            g = k.let(("g", "gram"), x * fn("transpose", x))
            h = k.let(("h", "poly"), -1.25 * g + 0.375 * (g * g))
            k.assign(x, 1.875 * x + h * x)
        how = "becomes 1.875 * E + (0.375 * G * G - 1.25 * G) * E, G = E * transpose(E)"
    return x, f"E starts as A / sqrt(ddot(A, A) + 0.1) and {steps} times {how}"


def _root_steps(k: BodyBuilder, a: Expr, mat: Mat, steps: int) -> Made:
    """Newton and Schulz for the root: Y goes to the root, Z to its inverse."""
    norm = k.let(("norm", "size"), fn("sqrt", fn("ddot", a, a)) + 0.1)
    y = k.let(("y", "root"), a / norm)
    z = k.let(("z", "inv_root"), identity(k, mat))
    three = 3.0 * identity(k, mat)
    with k.for_(("it", "r"), steps):
        t = k.let(("t", "corr"), 0.5 * (three - z * y))
        k.assign(y, y * t)
        k.assign(z, t * z)
    e = k.let(("e", "sqrt_a"), fn("sqrt", norm) * y)
    text = f"from Y = A / s, Z = I {steps} times T = (3 * I - Z * Y) / 2, Y = Y * T, Z = T * Z"
    return e, f"E = sqrt(s) * Y, s = sqrt(ddot(A, A)) + 0.1, {text}"


ITERATIONS = {"inverse": _inverse_steps, "polar": _polar_steps, "root": _root_steps}


@idiom
def newton_schulz(k: KernelBuilder, level: int) -> Title:
    """Inverses, roots and orthogonal factors without division of matrices."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "layer")
    mat = square_type(k, {2: 3, 3: 3, 4: 1}, k.draw.wide_float_type())
    key = shape.choice(sorted(ITERATIONS))
    bound = {2: 0.8, 3: 0.6, 4: 0.4}[mat.rows]
    source = g.array(("mats", "weights", "inputs"), mat, -bound, bound, "well_conditioned")
    raw = k.let(("raw", "w"), source[g.index])
    text = f"A = {source.name}"
    way = shape.choice(("plain", "shifted", "momentum") if level >= 2 else ("plain",))
    if way == "momentum":
        grads = g.array(("grads", "updates"), mat, -0.5, 0.5)
        beta = g.supply(("beta", "mu"), ("betas", "mus"), mat.scalar, 0.5, 0.95)
        raw = k.let(("mom", "blend_m"), beta * raw + grads[g.index])
        text = f"A = {say(beta)} * {source.name} + {grads.name}"
    elif way == "shifted":
        shift = g.supply(("shift", "ridge"), ("shifts", "ridges"), mat.scalar, 0.1, 0.6)
        raw = k.let(("shifted", "reg"), raw + shift * identity(k, mat))
        text = f"A = {source.name} + {say(shift)} * I"
    if key == "root":
        raw = k.let(("spd", "s_a"), 0.5 * (raw + fn("transpose", raw)))
        text += ", made symmetric as (A + transpose(A)) / 2"
    steps = shape.integer(2, 3) if level < 3 else shape.integer(3, 5)
    names = (f"newton_{key}", f"{key}_by_iteration")
    e, how = in_helper(k, level, names, raw, lambda body, m: ITERATIONS[key](body, m, mat, steps))
    done = f"With {text}: {how}."
    target = g.write((f"{key}_out", "results", "iterates"), e)
    done += f" {target.name} gets E."
    if level >= 3:
        done += _stepped(k, g, e)
    if level >= 4:
        done += applied(k, g, e, level)
    menu = {name: value for name, value in readings(k, g, e, raw).items() if name != "det"}
    done += extras(g, menu, (shape.integer(0, 1), 1, 1, 2, 3)[level - 1])
    return Title(k.name("newton_schulz", f"{key}_iteration", f"iterate_{key}"), done)


def _stepped(k: KernelBuilder, g: Grid, e: Var) -> str:
    """A step of weights with the result, as optimizers do."""
    mat = e.type
    assert isinstance(mat, Mat)
    rate = g.supply(("rate", "lr"), ("rates", "lrs"), mat.scalar, 0.05, 0.4)
    past = g.array(("params", "current"), mat, -1.0, 1.0)
    if k.draw.shape.chance(0.5):
        new = g.write(("params_out", "stepped"), past[g.index] - rate * e)
        return f" {new.name} gets {past.name} - {say(rate)} * E."
    decay = g.supply(("decay", "wd"), ("decays",), mat.scalar, 0.02, 0.2, False)
    old = k.let(("old", "param"), past[g.index])
    new = g.write(("params_out", "stepped"), (1.0 - rate * decay) * old - rate * e)
    text = f"(1 - {say(rate)} * {say(decay)}) * {past.name} - {say(rate)} * E"
    return f" {new.name} gets {text}."
