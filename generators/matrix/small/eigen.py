"""Eigenvalues of symmetric 2 x 2 matrices in closed form, and what is told from them."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper, times_identity, zero
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, grid, say
from generators.program import ir
from generators.program.dtypes import INT32, Mat, Scalar, Type, Vec
from generators.program.expr import Expr, Var


def _image_tensor(k: KernelBuilder, scalar: Scalar, level: int) -> tuple[Grid, Var, str]:
    """The structure tensor of an image: outer products of gradients over a window."""
    k.size("h", 7, 9, minimum=3)
    k.size("w", 7, 9, minimum=3)
    image = k.array(("image", "luma", "frame"), scalar, ("h", "w"), low=-1.0, high=1.0)
    rows, cols = k.size_param(("height", "rows"), "h"), k.size_param(("width", "cols"), "w")
    names = k.draw.word.choice((("y", "x"), ("i", "j"), ("r", "c")))
    g = Grid(k, ("h", "w"), k.thread("h", "w", names=names))
    y, x = g.index
    tensor = k.let(("t", "tensor", "st"), zero(Mat(2, 2, scalar)))
    central = k.draw.shape.chance(0.6)
    bell = k.draw.shape.chance(0.5)
    with k.for_(("dy", "di"), 2, -1) as dy, k.for_(("dx", "dj"), 2, -1) as dx:
        at_y = k.let(("yy", "py"), fn("clamp", y + dy, 1, rows - 2))
        at_x = k.let(("xx", "px"), fn("clamp", x + dx, 1, cols - 2))
        if central:
            gx = k.let(("gx", "ix"), 0.5 * (image[at_y, at_x + 1] - image[at_y, at_x - 1]))
            gy = k.let(("gy", "iy"), 0.5 * (image[at_y + 1, at_x] - image[at_y - 1, at_x]))
        else:
            gx = k.let(("gx", "ix"), image[at_y, at_x + 1] - image[at_y, at_x])
            gy = k.let(("gy", "iy"), image[at_y + 1, at_x] - image[at_y, at_x])
        grad = k.let(("grad", "gvec"), make(Vec(2, scalar), gx, gy))
        term: Expr = fn("outer", grad, grad)
        if bell:
            near = fn("where", fn("eq", dy * dx, 0), k.lift(1.0, scalar), k.lift(0.5, scalar))
            term = near * term
        k.augment(tensor, "add", term)
    kind = "half the central differences" if central else "forward differences"
    counted = ", corners counted half," if bell else ""
    text = f"T, the sum of outer(g, g) over the 3 x 3 window{counted}"
    text += f" of {image.name}, g = (gx, gy) by {kind}, places clamped to [1, size - 2]"
    return g, tensor, text


def _given_tensor(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> tuple[Var, str]:
    """A symmetric matrix: packed in three numbers, made symmetric, or of forms of a surface."""
    mat = Mat(2, 2, scalar)
    way = k.draw.shape.choice(("packed", "symmetrized", "gram", "fields"))
    name = ("t", "m", "sym")
    if way == "packed":
        source = g.array(("packed", "hessians", "tensors"), Vec(3, scalar), -1.5, 1.5)
        v = k.let(("v", "c"), source[g.index])
        t = k.let(name, make(mat, v[0], v[1], v[1], v[2]))
        return t, f"T = ((v[0], v[1]), (v[1], v[2])), v of {source.name}"
    if way == "symmetrized":
        source = g.array(("hessians", "gradients", "mats"), mat, -1.5, 1.5)
        raw = k.let(("raw", "hess"), source[g.index])
        t = k.let(name, 0.5 * (raw + fn("transpose", raw)))
        return t, f"T, the symmetric part of {source.name}"
    if way == "gram":
        source = g.array(("jacobians", "def_grads"), mat, -1.2, 1.2)
        j = k.let(("jac", "f"), source[g.index])
        return k.let(name, fn("transpose", j) * j), f"T = transpose(J) * J, J of {source.name}"
    inits = [ir.FieldInit(axis, scalar, "uniform", "-1.5", "1.5") for axis in ("xx", "xy", "yy")]
    fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
    struct = k.struct(k.name("Sym2", "Hessian2", "Tensor2"), *fields)
    items = g.structs(("tensors", "hessians"), struct, inits)
    item = k.let(("item", "h"), items[g.index])
    parts = [field(item, axis) for axis in ("xx", "xy", "xy", "yy")]
    return k.let(name, make(mat, *parts)), f"T = ((xx, xy), (xy, yy)) of {items.name}"


def _values(body: BodyBuilder, t: Expr) -> Expr:
    """Both eigenvalues, the larger first, by the mean and the radius of Mohr's circle."""
    assert isinstance(t.type, Mat)
    vec = Vec(2, t.type.scalar)
    if body.draw.shape.chance(0.5):
        mean = body.let(("mean", "mid"), 0.5 * (t[0, 0] + t[1, 1]))
        half = body.let(("half", "dev"), 0.5 * (t[0, 0] - t[1, 1]))
        radius = body.let(("radius", "rad"), fn("sqrt", half * half + t[0, 1] * t[0, 1]))
        return make(vec, mean + radius, mean - radius)
    tr = body.let(("tr", "sum_diag"), fn("trace", t))
    gap = body.let(("gap", "diff"), t[0, 0] - t[1, 1])
    root = body.let(("root", "disc"), fn("sqrt", gap * gap + 4.0 * t[0, 1] * t[0, 1]))
    return make(vec, 0.5 * (tr + root), 0.5 * (tr - root))


def _menu(k: KernelBuilder, g: Grid, t: Var, pair: Var, definite: bool) -> dict[str, Extra]:
    big, small = pair[0], pair[1]
    mat = t.type
    assert isinstance(mat, Mat)
    vec = Vec(2, mat.scalar)

    def angle() -> Expr:
        return 0.5 * fn("atan2", 2.0 * t[0, 1], t[0, 0] - t[1, 1])

    def axis() -> Expr:
        theta = k.let(("theta", "angle"), angle())
        return make(vec, fn("cos", theta), fn("sin", theta))

    def corner() -> Expr:
        share = g.supply(("kappa", "harris_k"), ("kappas",), mat.scalar, 0.04, 0.15)
        tr = k.let(("tr_t", "both"), fn("trace", t))
        return fn("determinant", t) - share * tr * tr

    def coherence() -> Expr:
        total = k.let(("total", "energy"), big + small + 0.1)
        ratio = k.let(("ratio", "coh"), (big - small) / total)
        return ratio * ratio

    menu = {
        "large": Extra(("largest", "major"), lambda: big, "the larger eigenvalue"),
        "small": Extra(("smallest", "minor"), lambda: small, "the smaller eigenvalue"),
        "angle": Extra(("angles", "orientation"), angle, "atan2(2 T01, T00 - T11) / 2"),
        "axis": Extra(
            ("axes", "principal"), axis, "(cos(a), sin(a)) with a = atan2(2 T01, T00 - T11) / 2"
        ),
        "harris": Extra(
            ("corner_response", "harris"), corner, "det(T) - kappa * trace(T)^2, kappa as given"
        ),
        "gap": Extra(("anisotropy", "max_shear"), lambda: 0.5 * (big - small), "half their gap"),
        "ratio": Extra(
            ("ratios", "roundness"),
            lambda: small / (fn("abs", big) + 0.1),
            "small / (|large| + 0.1)",
        ),
        "radius": Extra(
            ("radii", "spectral"),
            lambda: fn("max", fn("abs", big), fn("abs", small)),
            "the larger of their sizes",
        ),
        "frangi": Extra(
            ("lineness", "ridge_measure"),
            lambda: fn("abs", big + small) - fn("abs", big * small),
            "|sum| - |product| of both",
        ),
    }
    if definite:
        menu["coherence"] = Extra(
            ("coherence", "edge_strength"), coherence, "((large - small) / (large + small + 0.1))^2"
        )
        del menu["radius"], menu["frangi"]
    return menu


@idiom
def eigen_symmetric(k: KernelBuilder, level: int) -> Title:
    """Principal values of 2 x 2 tensors: images, surfaces, stress."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    if level >= 3 and shape.chance(0.5):
        g, t, text = _image_tensor(k, scalar, level)
    else:
        g = grid(k, None, "i", "tid", "pt")
        t, text = _given_tensor(k, g, scalar, level)
    definite = "outer" in text or "J" in text
    names = ("lam", "pair", "eig")
    if level >= 2 and shape.chance(0.6):
        made = helper(
            k,
            ("eigenvalues2", "principal_values"),
            (("m", t.type),),
            lambda body, m: _values(body, m),
        )
        pair = k.let(names, k.call(made, t))
    else:
        pair = k.let(names, _values(k, t))
    menu = _menu(k, g, t, pair, definite)
    count = (1, 2, 2, 3, 4)[level - 1]
    done = f"Eigenvalues of {text}."
    if level >= 4 or (level == 3 and shape.chance(0.4)):
        done += _clamped(k, g, t, pair, definite)
    elif level == 1 and shape.chance(0.6):
        count = 0
        target = g.write(("eigenvalues", "principal_out"), pair)
        done += f" {target.name} gets both, the larger first."
    if level >= 2 or count:
        keys = sorted(menu)
        uses = [key for key in keys if key not in ("angle", "axis", "harris")]
        first = shape.choice(uses)
        rest = {key: menu[key] for key in keys if key != first}
        done += extras(g, {first: menu[first]}, 1) + extras(g, rest, count - 1)
    if level >= 5 or (level == 2 and shape.chance(0.3)):
        done += _classified(k, g, pair, definite)
    return Title(k.name("eigen_symmetric", "principal_values_2d", "tensor_eigen"), done)


def _classified(k: KernelBuilder, g: Grid, pair: Var, definite: bool) -> str:
    """What kind of point it is: flat, edge or corner; or bowl, saddle or dome."""
    kind = k.let(("kind", "label"), k.lift(0, INT32))
    if not definite:
        with k.if_(pair[1] > 0.0):
            k.assign(kind, 1)
        with k.elif_(pair[0] < 0.0):
            k.assign(kind, 2)
        text = "1 where both are positive, 2 where both are negative, 0 elsewhere"
    else:
        ratio = k.let(("isotropy", "roundness"), pair[1] / (pair[0] + 0.05))
        round_ = k.draw.value.choice((0.4, 0.45, 0.5))
        thin = k.draw.value.choice((0.1, 0.15, 0.2))
        with k.if_(ratio > round_):
            k.assign(kind, 2)
        with k.elif_(ratio > thin):
            k.assign(kind, 1)
        text = f"2 where q = small / (large + 0.05) exceeds {round_}, 1 where q exceeds {thin}"
        text += ", 0 elsewhere"
    target = g.write(("kinds", "labels"), kind)
    return f" {target.name} gets {text}."


def _clamped(k: KernelBuilder, g: Grid, t: Var, pair: Var, definite: bool) -> str:
    """The matrix again with other eigenvalues: its projector on the larger, put together."""
    mat = t.type
    assert isinstance(mat, Mat)
    spread = k.let(("spread", "width"), pair[0] - pair[1] + 0.05)
    share = times_identity(mat, pair[1])
    major = k.let(("major_part", "proj"), (t - share) / spread)
    way = "root" if definite and k.draw.shape.chance(0.5) else "soft"
    if way == "root":
        a = k.let("root_large", fn("sqrt", pair[0] + 0.05))
        b = k.let("root_small", fn("sqrt", pair[1] + 0.05))
        text = "f(v) = sqrt(v + 0.05)"
    else:
        limit = g.supply(("limit", "soft_limit"), ("limits",), mat.scalar, 0.5, 2.0)
        names = k.draw.word.choice(("fa fb", "f_large f_small", "soft0 soft1")).split()
        a = k.let(names[0], pair[0] / (1.0 + fn("abs", pair[0]) / limit))
        b = k.let(names[1], pair[1] / (1.0 + fn("abs", pair[1]) / limit))
        text = f"f(v) = v / (1 + |v| / {say(limit)})"
    whole = (a - b) * major + times_identity(mat, b)
    target = g.write(("mapped", "regularized", "functions_of"), whole)
    return (
        f" With P = (T - small * I) / (large - small + 0.05), {target.name} gets"
        f" (f(large) - f(small)) * P + f(small) * I, {text}."
    )
