"""Matrices: algebra of small ones, and rows, products and windows of two-dimensional arrays."""

from __future__ import annotations

from generators._matrix_arrays import array_product, sliding_window
from generators._matrix_rows import row_normalize, row_reduce
from generators._vector_parts import constant, extra_output, thread
from generators.build import KernelBuilder, fn, make
from generators.dtypes import Mat, Quat, Type, Vec
from generators.expr import Expr, Var
from generators.registry import Category, Title

CATEGORY = Category("matrix", "small-matrix algebra, matrix products, row reductions, windows")


def _square(k: KernelBuilder) -> Mat:
    size = k.draw.shape.weighted({2: 3, 3: 4, 4: 1})
    return Mat(size, size, k.draw.wide_float_type())


_PRODUCTS = {
    "a * b": lambda a, b: a * b,
    "transpose(a) * b": lambda a, b: fn("transpose", a) * b,
    "a * transpose(b)": lambda a, b: a * fn("transpose", b),
    "a * b - b * a": lambda a, b: a * b - b * a,
    "0.5 * (a * b + b * a)": lambda a, b: 0.5 * (a * b + b * a),
    "the componentwise product of a and b": lambda a, b: fn("cw_mul", a, b),
    "0.5 * (a + transpose(a)) * b": lambda a, b: 0.5 * (a + fn("transpose", a)) * b,
}
_SUMMARIES = {
    "trace": (("traces", "tr_out"), lambda m: fn("trace", m)),
    "determinant": (("dets", "determinants"), lambda m: fn("determinant", m)),
    "Frobenius norm squared": (("norms_sq", "energies"), lambda m: fn("ddot", m, m)),
    "corner difference": (("skewness", "gaps"), lambda m: m[0, 1] - m[1, 0]),
}


@CATEGORY.idiom
def small_product(k: KernelBuilder, level: int) -> Title:
    """A product of two small matrices a thread, its powers, and scalar summaries of it."""
    shape = k.draw.shape
    mat = _square(k)
    n = k.size("n", 48, 80)
    left = k.array(("a", "lhs", "left"), mat, n, low=-1.0, high=1.0)
    right = k.array(("b", "rhs", "right"), mat, n, low=-1.0, high=1.0)
    out = k.out(("products", "out", "c"), mat, n)
    i = thread(k, n, "i", "tid", "e")
    a, b = k.let(("ai", "m0"), left[i]), k.let(("bi", "m1"), right[i])
    form = shape.choice(sorted(_PRODUCTS))
    c = k.let(("prod", "ci", "m"), _PRODUCTS[form](a, b))
    done = f"For each pair of matrices a = {left.name}[i], b = {right.name}[i], compute c = {form}"
    if level >= 2:
        beta = k.scalar(("beta", "shift", "mu"), mat.scalar, 0.2, 1.2)
        k.augment(c, "add", beta * a)
        done += f", plus {beta.name} * a"
    if level >= 3 and shape.chance(0.7):
        turned = shape.chance(0.5)
        with k.if_(fn("trace", c) < 0.0):
            k.assign(c, 0.5 * fn("transpose", c) if turned else -c)
        done += f"; {'transpose and halve' if turned else 'negate'} c where its trace is negative"
    if level >= 4:
        rounds, keep = k.draw.value.integer(2, 3), constant(k, 0.3, 0.6)
        with k.for_(("r", "step", "power"), rounds):
            k.assign(c, keep * (c * b) + a)
        done += f"; then {rounds} times replace c by {keep} * c * b + a"
    k.store(out, i, c)
    done += "."
    for what in shape.sample(sorted(_SUMMARIES), 0 if level < 2 else 1 if level < 5 else 2):
        names, summary = _SUMMARIES[what]
        done += extra_output(k, level - 1, names, (n, i), summary(c), f"the {what} of c")
    return Title(k.name("multiply_pairs", "matrix_products", "small_matmul"), done)


@CATEGORY.idiom
def small_solve(k: KernelBuilder, level: int) -> Title:
    """Solve a small system a thread: by the inverse, by least squares, by relaxation."""
    shape = k.draw.shape
    form = shape.choice(("inverse", "least_squares", "relaxation"))
    mat = _square(k)
    scalar, vec = mat.scalar, Vec(mat.rows, mat.scalar)
    n = k.size("n", 48, 80)
    if form == "least_squares":
        tall = Mat(mat.rows + shape.integer(0, 1), mat.cols, scalar)
        systems = k.array(("a", "designs", "jacobians"), tall, n, low=-1.0, high=1.0)
        rhs = k.array(("b", "targets", "residuals"), Vec(tall.rows, scalar), n, low=-2.0, high=2.0)
    else:
        init = {"init": "well_conditioned", "low": -1.0, "high": 1.0}
        systems = k.array(("a", "systems", "stiffness"), mat, n, **init)  # type: ignore[arg-type]
        rhs = k.array(("b", "rhs", "loads"), vec, n, low=-3.0, high=3.0)
    out = k.out(("x", "solutions", "out"), vec, n)
    i = thread(k, n, "i", "tid", "e")
    m, b = k.let(("m", "ai", "mat"), systems[i]), k.let(("bi", "load", "target"), rhs[i])
    if form == "inverse":
        flipped = shape.chance(0.3)
        x = k.let(("xi", "sol"), fn("inverse", fn("transpose", m) if flipped else m) * b)
        done = f"Solve {'transpose(a)' if flipped else 'a'} * x = b by the inverse"
    elif form == "least_squares":
        ridge = constant(k, 0.5, 1.5)
        mt = k.let(("mt", "at"), fn("transpose", m))
        diagonal = fn("diag", make(vec, k.lift(ridge, scalar)))
        normal = k.let(("normal", "gram", "lhs"), mt * m + diagonal)
        x = k.let(("xi", "sol"), fn("inverse", normal) * (mt * b))
        done = f"Solve the least squares (transpose(a) * a + {ridge} * I) * x = transpose(a) * b"
    else:
        rounds, rate = k.draw.value.integer(3, 6), constant(k, 0.1, 0.25)
        x = k.let(("xi", "sol"), rate * b)
        with k.for_(("it", "sweep", "r"), rounds):
            k.augment(x, "add", rate * (b - m * x))
        done = f"Relax a * x = b: from x = {rate} * b, {rounds} times add {rate} * (b - a * x)"
    done += f" for each a in {systems.name} and b in {rhs.name}"
    if level >= 2:
        start = k.scalar(("offset", "start", "x0"), vec, -1.0, 1.0)
        k.augment(x, "add", start)
        done += f", and add {start.name}"
    if level >= 3:
        done += _shortened(k, x)
    k.store(out, i, x)
    done += "."
    if level >= 4:
        names, value = ("works", "energies", "quadratic"), 0.5 * fn("dot", m * x, b)
        done += extra_output(k, level - 1, names, (n, i), value, "half of dot(a * x, b)")
    return Title(k.name("solve_small", "solve_systems", f"{form}_solve"), done)


def _shortened(k: KernelBuilder, x: Var) -> str:
    """Limit a vector: its length, or the components below a floor."""
    limit = constant(k, 0.6, 1.0)
    if k.draw.shape.chance(0.5):
        size = k.let(("size", "norm_x"), fn("length", x))
        with k.if_(size > limit):
            k.augment(x, "mul", limit / size)
        return f"; shorten x to length {limit} where it is longer"
    assert isinstance(x.type, Vec)
    with k.for_(("c", "comp"), x.type.size) as c, k.if_(x[c] < 0.0):
        k.set(x, c, limit * x[c])
    return f"; multiply negative components by {limit}"


@CATEGORY.idiom
def congruence(k: KernelBuilder, level: int) -> Title:
    """R * M * transpose(R) and sums of outer products: tensors, covariances, inertia."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    n = k.size("n", 48, 80)
    form = shape.choice(("rotated", "projected", "inertia", "scaled"))
    inner = Mat(3, 3, scalar)
    tensors = k.array(("tensors", "covariances", "m", "inertias"), inner, n, low=-1.0, high=1.0)
    if form == "projected":
        frame: Type = Mat(2, 3, scalar)
        frames = k.array(("jacobians", "projections", "j"), frame, n, low=-1.0, high=1.0)
    elif form == "rotated":
        frames = k.array(("rotations", "orientations"), Quat(scalar), n, init="unit")
    else:
        frames = k.array(("offsets", "arms", "axes"), Vec(3, scalar), n, low=-1.0, high=1.0)
    result = Mat(2, 2, scalar) if form == "projected" else inner
    out = k.out(("out", "transformed", "world_tensors"), result, n)
    i = thread(k, n, "i", "tid", "e")
    m = k.let(("m", "mat", "tensor"), tensors[i])
    done = f"For each m of {tensors.name}"
    if level >= 2:
        k.assign(m, 0.5 * (m + fn("transpose", m)))
        done += ", made symmetric as 0.5 * (m + transpose(m)),"
    if level >= 3 and shape.chance(0.6):
        cut = constant(k, 0.2, 0.6)
        with k.if_(fn("ddot", m, m) > 2.0):
            k.assign(m, cut * m)
        done += f" multiplied by {cut} where the sum of its squares exceeds 2,"
    if form == "inertia":
        weight = k.scalar(("mass", "weight"), scalar, 0.5, 2.0)
        arm = k.let(("cross_arm", "sk"), fn("skew", frames[i]))
        c = k.let(("moved", "shifted", "total"), m - weight * (arm * arm))
        done += f" compute c = m - {weight.name} * s * s with s = skew({frames.name}[i])"
    else:
        f: Expr = frames[i]
        r = k.let(("r", "rot", "f"), _FRAMES[form](f) if form in _FRAMES else f)
        c = k.let(("c", "moved", "turned"), r * m * fn("transpose", r))
        done += f" compute c = r * m * transpose(r), r being {_FRAME_TEXT[form]} {frames.name}[i]"
    if level >= 3:
        done += _rank_one(k, c)
    k.store(out, i, c)
    done += "."
    if level >= 2:
        what = shape.choice(("trace", "determinant", "Frobenius norm squared"))
        names, summary = _SUMMARIES[what]
        done += extra_output(k, level - 1, names, (n, i), summary(c), f"the {what} of c")
    return Title(k.name("rotate_tensors", "transform_tensors", f"{form}_tensors"), done)


_FRAMES = {
    "rotated": lambda f: fn("quat_to_matrix", f),
    "scaled": lambda f: fn("diag", f),
}
_FRAME_TEXT = {
    "rotated": "the rotation matrix of quaternion",
    "scaled": "the diagonal matrix of",
    "projected": "the 2 x 3 matrix",
}


def _rank_one(k: KernelBuilder, c: Var) -> str:
    """Add weighted outer products of a few shared vectors."""
    assert isinstance(c.type, Mat)
    vec = Vec(c.type.rows, c.type.scalar)
    modes = k.array(("modes", "directions", "samples"), vec, k.size("m", 2, 5), low=-1.0, high=1.0)
    count = k.size_param(("mode_count", "num_modes"), "m")
    weight = constant(k, 0.2, 0.8)
    with k.for_(("s", "mode"), count) as s:
        mode = k.let(("u", "d"), modes[s])
        k.augment(c, "add", weight * fn("outer", mode, mode))
    return f"; add {weight} * outer(u, u) for every u in {modes.name}"


for _idiom in (array_product, row_reduce, row_normalize, sliding_window):
    CATEGORY.idiom(_idiom)
