"""Springs between particles, whose forces go to both ends."""

from __future__ import annotations

from generators.atomic.graphs import _ends, _skip_loops
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import Vec
from generators.program.expr import Expr, Var


@idiom
def edge_springs(k: KernelBuilder, level: int) -> Title:
    """Forces of springs between particles, added to one end and taken from the other."""
    shape = k.draw.shape
    vec = Vec(shape.choice((2, 3)), k.draw.wide_float_type())
    s = vec.scalar
    n, m = k.size("num_edges", 48, 72), k.size("num_nodes", 12, 18)
    a, b = _ends(k, n, m)
    x = k.array(("pos", "x", "positions"), vec, m, low=-1.5, high=1.5)
    damped = level >= 3 and shape.chance(0.6)
    v = k.array(("vel", "v", "velocities"), vec, m, low=-1.0, high=1.0) if damped else None
    per_edge = shape.chance(0.5)
    k_s: Expr = (
        k.array(("stiffness", "ke"), s, n, low=1.0, high=5.0)
        if per_edge
        else k.scalar(("stiffness", "ke"), s, 1.0, 5.0)
    )
    law = (
        shape.choice(("linear", "rest", "cubic"))
        if level == 1
        else shape.choice(("rest", "rest", "cubic", "soft"))
    )
    rest = (
        k.array(("rest", "rest_length", "l0"), s, n, low=0.2, high=0.9) if law == "rest" else None
    )
    f = k.accumulator(("force", "forces", "f"), vec, m)
    stretch = (
        k.accumulator(("energy", "potential"), s, "1") if level >= 4 and shape.chance(0.6) else None
    )
    (e,) = k.thread(n, names=(k.name("e", "tid", "edge"),))
    i, j = k.let(("i", "p"), a[e]), k.let(("j", "q"), b[e])
    loops = _skip_loops(k, i, j, 1.0 if law in ("rest", "soft") else 0.5)
    k.note("from the first end to the second")
    d = k.let(("d", "dx", "delta"), x[j] - x[i])
    stiff = k_s[e] if per_edge else k_s
    text, pull = _pull(k, law, d, stiff, rest[e] if rest is not None else None, level)
    done = f"For each edge e from i = {a.name}[e] to j = {b.name}[e] with "
    done += f"d = {x.name}[j] - {x.name}[i], "
    if v is not None:
        kd = k.scalar(("damping", "kd"), s, 0.05, 0.4)
        pull = pull + kd * (v[j] - v[i])
        text += f" + {kd.name} * ({v.name}[j] - {v.name}[i])"
    force = k.let(("force_ij", "pull", "fs"), pull)
    if level >= 3 and shape.chance(0.4):
        half = shape.chance(0.5)
        force = k.let("scaled", 0.5 * force) if half else force
        text = f"0.5 * ({text})" if half else text
    k.atomic("add", f, i, force)
    if shape.chance(0.6):
        k.atomic("sub", f, j, force)
    else:
        k.atomic("add", f, j, -force)
    done += f"add f = {text} to {f.name}[i] and subtract it from {f.name}[j]."
    if stretch is not None:
        energy = 0.5 * stiff * fn("dot", d, d)
        k.atomic("add", stretch, 0, energy)
        done += f" Add 0.5 * k * dot(d, d) to {stretch.name}[0]."
    name = k.name("spring_forces", "edge_springs", "eval_springs", "cloth_edges")
    return Title(name, f"{done} k is {'per edge' if per_edge else 'one number'}.{loops}")


def _pull(
    k: KernelBuilder, law: str, d: Var, stiff: Expr, rest: Expr | None, level: int
) -> tuple[str, Expr]:
    """The force on the first end."""
    if law == "linear":
        return "k * d", stiff * d
    if law == "cubic":
        sq = k.let(("sq", "len_sq"), fn("dot", d, d))
        return "k * (1 + dot(d, d)) * d", stiff * (1.0 + sq) * d
    size = k.let(("length", "dist", "l"), fn("length", d))
    if rest is None:
        return "k * d / (1 + |d|)", stiff * d / (1.0 + size)
    if level >= 3 and k.draw.shape.chance(0.5):
        strain = k.let(("strain", "stretch"), (size - rest) / rest)
        return "k * s * d / |d| with s = (|d| - rest) / rest", stiff * strain * d / size
    return "k * (|d| - rest) * d / |d|", stiff * (size - rest) * (d / size)
