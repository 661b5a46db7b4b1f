"""Small systems, one a thread: Newton steps, implicit steps, damped least squares, sweeps."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, zero
from generators.matrix.small.extras import Extra, extras, flagged
from generators.matrix.small.grid import Grid, grid, say
from generators.matrix.small.systems import METHODS, Solved
from generators.program.dtypes import Mat, Vec
from generators.program.expr import Expr


def _limited(k: KernelBuilder, g: Grid, s: Solved, level: int) -> str:
    """A step is damped, cut to a length, started from somewhere, or not taken at all."""
    x = s.x
    assert isinstance(x.type, Vec)
    scalar = x.type.scalar
    way = k.draw.shape.choice(
        ("rate", "from", "mask", "cut", "soft") if level >= 3 else ("rate", "from", "mask")
    )
    if way == "rate":
        rate = g.supply(("rate", "gain"), ("rates_x", "gains"), scalar, 0.3, 0.95)
        k.augment(x, "mul", rate)
        return f" Multiply x by {say(rate)}."
    if way == "from":
        start = g.supply(("origin", "x0"), ("origins", "x0s"), x.type, -1.0, 1.0)
        k.augment(x, "add", start)
        return f" Add {say(start)} to x."
    if way == "mask":
        there, text = flagged(g, ("active", "enabled"), off=True)
        with k.if_(there):
            k.assign(x, zero(x.type))
        return f" x is zero unless {text}."
    limit = g.supply(("max_step", "radius"), ("max_steps", "radii"), scalar, 0.3, 0.9)
    if way == "soft":

        def build(body: BodyBuilder, v: Expr, bound: Expr) -> Expr:
            size = body.let(("size", "norm"), fn("sqrt", fn("dot", v, v) + 0.0001))
            return v * (bound / (bound + size))

        made = helper(k, ("soft_limit", "limited"), (("v", x.type), ("bound", scalar)), build)
        k.assign(x, k.call(made, x, limit))
        return f" Multiply x by r / (r + sqrt(dot(x, x) + 0.0001)), r = {say(limit)}."
    size = k.let(("size", "norm_x"), fn("length", x))
    with k.if_(size > limit):
        k.augment(x, "mul", limit / size)
    return f" Shorten x to length {say(limit)} where it is longer."


def _menu(k: KernelBuilder, g: Grid, s: Solved) -> dict[str, Extra]:
    x, m, b = s.x, s.m, s.b
    mat = m.type
    assert isinstance(mat, Mat)

    def sensitivity() -> Expr:
        grads = g.array(("x_grads", "seeds"), x.type, -1.0, 1.0)
        return fn("outer", grads[g.index], x)

    return {
        "size": Extra(("sizes_sq", "step_sq"), lambda: fn("dot", x, x), "dot(x, x)"),
        "work": Extra(
            ("works", "predicted"),
            lambda: fn("dot", m * x, b),
            "dot(M * x, b), with the matrix and the right-hand side solved with",
        ),
        "outer": Extra(("gradients", "updates"), sensitivity, "outer(gradient, x) of its gradient"),
        "top": Extra(
            ("greatest", "tops"), lambda: fn("max_element", x), "the greatest component of x"
        ),
    }


@idiom
def small_solve(k: KernelBuilder, level: int) -> Title:
    """Small systems as simulation, optimization and robotics solve them."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "e")
    scalar = k.draw.wide_float_type()
    keys = sorted(METHODS) if level >= 2 else ["damped", "implicit", "newton", "plain", "sweeps"]
    key = shape.choice(keys)
    s = METHODS[key](k, g, level, scalar)
    done = s.text
    if level >= 2:
        done += _limited(k, g, s, level)
    if level >= 4:
        exact = key in ("plain", "implicit", "schur")
        done += _cases(k, g, s) if exact else _searched(k, g, s)
    target = g.write(("x_out", "solutions", "steps_out"), s.x)
    done += f" {target.name} gets x."
    done += extras(
        g, _menu(k, g, s), (shape.integer(0, 1), shape.integer(0, 1), 1, 2, 3)[level - 1]
    )
    names = {"damped": ("damped_least_squares", "ik_step"), "newton": ("newton_step", "newton_2d")}
    names |= {
        "implicit": ("implicit_step", "backward_euler"),
        "schur": ("schur_solve", "block_solve"),
    }
    names |= {"sweeps": ("relax_systems", "sweep_systems")}
    return Title(k.name(*names.get(key, ("solve_small", "solve_systems"))), done)


def _cases(k: KernelBuilder, g: Grid, s: Solved) -> str:
    """The inverse is used again: for more right-hand sides, and for the most yielding of them."""
    vec = s.x.type
    assert isinstance(vec, Vec)
    k.size("t", 2, 4)
    count = k.trip_count(("num_cases", "case_count"), "t")
    own = k.draw.shape.chance(0.5)
    cases = k.array(
        ("cases", "more_loads"), vec, (*g.dims, "t") if own else "t", low=-1.0, high=1.0
    )
    assert s.inv is not None
    target = k.out(("case_solutions", "responses"), vec, (*g.dims, "t"))
    total = k.let(("total", "compliance"), zero(vec.scalar))
    with k.for_(("case", "q"), count) as q:
        load = k.let(("case_load", "fq"), cases[g.at(q)] if own else cases[q])
        y = k.let(("y_case", "answer"), s.inv * load)
        k.store(target, g.at(q), y)
        k.augment(total, "add", fn("dot", load, y))
    whole = g.write(("compliances", "case_works"), total)
    return (
        f" With the same matrix {target.name} gets the solution y for each of {cases.name}, and"
        f" {whole.name} the sum of dot(load, y) over them."
    )


def _searched(k: KernelBuilder, g: Grid, s: Solved) -> str:
    """A line search: the loss at several lengths of the step, and the best of them."""
    x, m, b = s.x, s.m, s.b
    vec = x.type
    assert isinstance(vec, Vec)
    k.size("t", 3, 4)
    count = k.trip_count(("num_trials", "trial_count"), "t")
    lengths = k.array(("trial_lengths", "etas"), vec.scalar, "t", low=0.1, high=1.6)
    goal = k.let(("mx", "model_x"), m * x)
    best = k.let(("best", "lowest"), fn("dot", b, b))
    taken = k.let(("taken", "eta_best"), k.lift(0.0, vec.scalar))
    with k.for_(("trial", "q"), count) as q:
        r = k.let(("rq", "trial_res"), lengths[q] * goal - b)
        loss = k.let(("loss_q", "value_q"), fn("dot", r, r))
        with k.if_(loss < best):
            k.assign(best, loss)
            k.assign(taken, lengths[q])
    target = g.write(("best_losses", "trial_losses"), best)
    k.augment(x, "mul", taken)
    return (
        f" Among {lengths.name} (and 0, which is kept on a tie) find the s with the least"
        f" |s * M * x - b|^2 of the matrix and right-hand side solved with; {target.name} gets that"
        " least value, and x is multiplied by s."
    )
