"""Eigenvalues of symmetric 2 x 2 matrices in closed form, and dominant axes by products."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import atan2, clamp, cos, dot, most, sin, sqrt, where
from generators.kit.naming import applied, routine
from generators.kit.sources import filled, zero
from generators.matrix.parts import (
    Entry,
    Place,
    mat_of,
    place,
    rows_of,
    symmetric,
    times_identity,
    transpose,
)
from generators.program.dtypes import INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var


def _image_tensor(k: KernelBuilder, scalar: Scalar) -> tuple[Place, Var]:
    """The structure tensor of an image: outer products of gradients over a window."""
    dims = (k.size("h", 7, 9, minimum=3), k.size("w", 7, 9, minimum=3))
    image = k.array("image luma frame", scalar, dims, low=-1.0, high=1.0)
    rows, cols = k.size_param("height rows", "h"), k.size_param("width cols", "w")
    y, x = k.thread(*dims, names=k.draw.word.choice((("y", "x"), ("i", "j"), ("r", "c"))))
    g = Place(k, "grid", dims, (y, x))
    tensor = k.let("t tensor st", zero(Mat(2, 2, scalar)))
    central, bell = g.chance(0.6), g.chance(0.5)
    with k.for_("dy di", 2, -1) as dy, k.for_("dx dj", 2, -1) as dx:
        r = k.let("yy py", clamp(y + dy, 1, rows - 2))
        c = k.let("xx px", clamp(x + dx, 1, cols - 2))
        if central:
            gx = k.let("gx ix", 0.5 * (image[r, c + 1] - image[r, c - 1]))
            gy = k.let("gy iy", 0.5 * (image[r + 1, c] - image[r - 1, c]))
        else:
            gx = k.let("gx ix", image[r, c + 1] - image[r, c])
            gy = k.let("gy iy", image[r + 1, c] - image[r, c])
        grad = k.let("grad gvec", make(Vec(2, scalar), gx, gy))
        term: Expr = fn("outer", grad, grad)
        if bell:
            near = where(fn("eq", dy * dx, 0), k.lift(1.0, scalar), k.lift(0.5, scalar))
            term = near * term
        k.augment(tensor, "add", term)
    kind = "half the central differences" if central else "forward differences"
    text = f"the sum of outer(g, g) over the 3 x 3 window{', corners counted half,' * bell} of"
    text += f" {image.name}, g = (gx, gy) by {kind}, places clamped to [1, size - 2]"
    g.spoken[tensor.name] = "T", text
    return g, tensor


@dataclass(frozen=True)
class _Tensor:
    """A symmetric tensor: a matrix, or its three entries where nobody needs the matrix."""

    whole: Expr | None
    entries: tuple[Expr, Expr, Expr]
    said: str

    @property
    def scalar(self) -> Scalar:
        return scalar_of(self.entries[0].type)

    @property
    def trace(self) -> Expr:
        return self.entries[0] + self.entries[2] if self.whole is None else fn("trace", self.whole)

    @property
    def determinant(self) -> Expr:
        xx, xy, yy = self.entries
        return xx * yy - xy * xy if self.whole is None else fn("determinant", self.whole)


def _of_matrix(g: Place, t: Var) -> _Tensor:
    return _Tensor(t, (t[0, 0], t[0, 1], t[1, 1]), g.told(t))


def _entries(g: Place) -> _Tensor:
    """A tensor whose three entries lie in arrays of their own, or in one of vectors."""
    scalar = g.k.draw.wide_float_type()
    if g.chance(0.4):
        v = g.part("v c", g.read("packed hessians tensors", Vec(3, scalar), -1.5, 1.5))
        found: tuple[Expr, Expr, Expr] = (v[0], v[1], v[2])
    else:
        xx, xy, yy = g.shape.choice((("xx", "xy", "yy"), ("h_xx", "h_xy", "h_yy")))
        arrays = [g.read(name, scalar, -1.5, 1.5) for name in (xx, xy, yy)]
        first, middle, last = (
            g.part(f"t_{axes}", e) for axes, e in zip(("xx", "xy", "yy"), arrays, strict=True)
        )
        found = first, middle, last
    xx, xy, yy = (g.tell(e) for e in found)
    return _Tensor(None, found, f"T = (({xx}, {xy}), ({xy}, {yy}))")


def _given_tensor(g: Place, scalar: Scalar, packed: bool) -> Var:
    """A symmetric matrix: made symmetric, a Gram matrix, or packed in three numbers."""
    mat = Mat(2, 2, scalar)
    way = g.shape.choice(("symmetrized", "gram", *["packed"] * packed))
    if way == "packed":
        v = g.k.let("v c", g.read("packed hessians tensors", Vec(3, scalar), -1.5, 1.5))
        value: Expr = make(mat, v[0], v[1], v[1], v[2])
    elif way == "symmetrized":
        value = symmetric(
            g.part("raw m_raw", g.read("velocity_grads displacement_grads", mat, -1.5, 1.5))
        )
    else:
        j = g.part("jac j_mat", g.read("jacobians", mat, -1.2, 1.2))
        value = transpose(j) * j
    return g.let("t m sym", value)


def _values_of(body: BodyBuilder, t: Expr) -> Expr:
    """The same of a matrix."""
    return _values(body, _Tensor(t, (t[0, 0], t[0, 1], t[1, 1]), ""))


def _values(body: BodyBuilder, t: _Tensor) -> Expr:
    """Both eigenvalues, the larger first, by the mean and the radius of Mohr's circle."""
    vec, (xx, xy, yy) = Vec(2, t.scalar), t.entries
    if body.draw.shape.chance(0.5):
        mean = body.let("mean mid", 0.5 * (xx + yy))
        half = body.let("half dev", 0.5 * (xx - yy))
        radius = body.let("radius rad", sqrt(half * half + xy * xy))
        return make(vec, mean + radius, mean - radius)
    tr = body.let("tr sum_diag", t.trace)
    gap = body.let("gap diff", xx - yy)
    root = body.let("root disc", sqrt(gap * gap + 4.0 * xy * xy))
    return make(vec, 0.5 * (tr + root), 0.5 * (tr - root))


def _menu(g: Place, t: _Tensor, pair: Var, definite: bool) -> dict[str, Entry]:
    """What is read off the eigenvalues."""
    big, small = pair[0], pair[1]
    scalar, (xx, xy, yy) = t.scalar, t.entries
    angle = 0.5 * atan2(2.0 * xy, xx - yy)

    def axis() -> Expr:
        theta = g.part("theta angle", angle)
        return make(Vec(2, scalar), cos(theta), sin(theta))

    def corner() -> Expr:
        tr = g.part("tr_t both", t.trace)
        return t.determinant - g.one("kappa harris_k", scalar, 0.04, 0.15) * tr * tr

    def coherence() -> Expr:
        ratio = g.part("ratio coh", (big - small) / g.part("total energy", big + small + 1.0e-6))
        return ratio * ratio

    menu: dict[str, Entry] = {
        "large": ("largest major", lambda: big),
        "small": ("smallest minor", lambda: small),
        "angle": ("angles orientation", lambda: angle),
        "axis": ("axes principal", axis),
        "gap": (
            "half_gap half_gaps" if definite else "max_shear half_gap",
            lambda: 0.5 * (big - small),
        ),
    }
    if "outer" in t.said:
        menu |= {"harris": ("corner_response harris", corner)}
    if definite:
        return menu | {"coherence": ("coherence coherence_sq", coherence)}
    return menu | {
        "radius": ("spectral_radii radii", lambda: most(abs(big), abs(small))),
    }


@idiom(depth=2)
def eigen_symmetric(k: KernelBuilder, level: int) -> Title:
    """Principal values of 2 x 2 tensors: images, surfaces, stress."""
    shape, scalar = k.draw.shape, k.draw.wide_float_type()
    clamps = level >= 4 or (level == 3 and shape.chance(0.4))
    if level >= 3 and shape.chance(0.5):
        g, whole = _image_tensor(k, scalar)
        t = _of_matrix(g, whole)
    else:
        g = place(k, "i tid pt")
        loose = not clamps and shape.chance(0.5)
        t = _entries(g) if loose else _of_matrix(g, _given_tensor(g, scalar, clamps))
    definite = "outer" in t.said or ("transpose" in t.said and "+" not in t.said)
    if t.whole is None:
        values = _values(k, t)
    else:
        names = "eigenvalues2 principal_values"
        values = applied(k, 0.6 * (level >= 2), names, {"m": t.whole}, _values_of)
    pair = g.let("l lam eigs", values, "l")
    menu = _menu(g, t, pair, definite)
    count = (1, 2, 2, 3, 4)[level - 1]
    done = "Closed-form eigenvalues l (the larger first) of the symmetric 2 x 2 tensor "
    done += f"{t.said}."
    if clamps and isinstance(t.whole, Var):
        done += _clamped(g, t.whole, pair, definite)
    elif level == 1 and shape.chance(0.6):
        count = 0
        done += g.gets("eigenvalues principal_values", pair)
    if count:
        first = shape.choice(
            [key for key in sorted(menu) if key not in ("angle", "axis", "harris")]
        )
        done += g.offer(1, **{first: menu.pop(first)}) + g.offer(count - 1, **menu)
    if level >= 5 or (level == 2 and shape.chance(0.3)):
        done += _classified(g, pair, definite)
    return Title(k.name("eigen_symmetric principal_values_2d tensor_eigen"), done)


def _classified(g: Place, pair: Var, definite: bool) -> str:
    """What kind of point it is: flat, edge or corner; or bowl, saddle or dome."""
    k = g.k
    kind = k.let("kind label", k.lift(0, INT32))
    if definite:
        ratio = g.let("q isotropy roundness", pair[1] / (pair[0] + 1.0e-6))
        high = g.one("corner_ratio high_ratio", ratio.type, 0.4, 0.5)
        low = g.one("edge_ratio low_ratio", ratio.type, 0.1, 0.2)
        first, second = ratio > high, ratio > low
        text = f"2 where q = {g.spoken[ratio.name][1]} exceeds {g.tell(high)}, 1 where q exceeds"
        text += f" {g.tell(low)}"
    else:
        first, second = pair[1] > 0.0, pair[0] < 0.0
        text = "1 where both are positive, 2 where both are negative"
    with k.if_(first):
        k.assign(kind, 2 if definite else 1)
    with k.elif_(second):
        k.assign(kind, 1 if definite else 2)
    return g.gets("kinds labels", kind, f"{text}, 0 elsewhere")


def _clamped(g: Place, t: Var, pair: Var, definite: bool) -> str:
    """The matrix again with other eigenvalues: its projector on the larger, put together."""
    mat = mat_of(t)
    spread = g.part("spread width", pair[0] - pair[1] + 1.0e-3)
    major = g.let("p major_part proj", (t - times_identity(mat, pair[1])) / spread, "P")
    if definite and g.chance(0.5):
        a, b = (
            g.part(f"root_{n}", sqrt(v + 1.0e-3))
            for n, v in (("large", pair[0]), ("small", pair[1]))
        )
    else:
        a, b = (g.part(f"plus_{c}", most(pair[c], 0.0)) for c in range(2))
    whole = (a - b) * major + times_identity(mat, b)
    names = "roots_of sqrt_out" if "root" in g.tell(a) else "positive_part psd_out"
    return f" Let {g.told(major)}.{g.gets(names, whole)}"


@idiom(depth=2)
def power_iteration(k: KernelBuilder, level: int) -> Title:
    """The dominant axis of a symmetric matrix by a fixed number of products."""
    shape = k.draw.shape
    g = place(k, "i tid")
    size = shape.weighted({3: 4, 4: 2})
    mat = Mat(size, size, k.draw.wide_float_type())
    vec = rows_of(mat)
    a = _dominated(g, mat, level)
    # The result depends on no start, so none is asked for.
    v, done = _iterated(g, level, a, filled(vec, 1))
    if level >= 2:
        done += _valued(g, level, a, v)
    done += g.gets("eigenvectors axes_out", v)
    done += g.offer(
        (shape.integer(0, 1), 1, 1, 2, 3)[level - 1],
        project=("projectors rank_one", lambda: fn("outer", v, v)),
    )
    return Title(k.name("power_iteration dominant_axis principal_axis"), done)


def _iterated(g: Place, level: int, a: Var, start: Expr) -> tuple[Var, str]:
    """A direction times the matrix, over and over, each time made a unit vector."""
    rounds = g.shape.choice((8, 10, 12, 16, 20))
    b: Expr = a
    indefinite = g.spoken[a.name][1] in {p.name for p in g.k.params}
    if level >= 2 and indefinite and g.shape.chance(0.5):
        g.k.note("the shift keeps negative eigenvalues from winning")
        shift = g.one("shift", scalar_of(start.type), 0.2, 0.9)
        b = g.part("b shifted_m", a + times_identity(mat_of(a), shift))

    def unit(_: BodyBuilder, v: Expr) -> Expr:
        return fn("normalize", v)

    scaled = routine(g.k, 0.3 * (level >= 3), "unit_of rescaled", {"v": start.type}, unit)
    v = g.let("v axis", start)
    done = f"Power iteration for the dominant eigenvector of symmetric {g.told(a)}:"
    done += f" from {g.told(v)}, repeat"
    done += f" {rounds} times: v = {g.tell(b * v)}, divided by its length."
    with g.k.for_("it r", rounds):
        g.k.assign(v, scaled(b * v))
    return v, done


def _valued(g: Place, level: int, a: Var, v: Var) -> str:
    """The eigenvalue, and what is left of the matrix without the axis."""
    along = dot(v, g.part("av a_v", a * v))
    lam = g.let("lam eigenvalue", along, "e")
    done = g.gets("eigenvalues rayleigh", lam, f"the Rayleigh quotient {g.told(lam)}")
    if level < 4:
        return done
    rest = g.let("rest deflated", a - lam * fn("outer", v, v), "B")
    return done + g.gets("deflated_out remainders", rest, g.told(rest))


def _dominated(g: Place, mat: Mat, level: int) -> Var:
    """A symmetric matrix, a Gram matrix, or the scatter of points."""
    k = g.k
    ways = ("symmetric", "gram", "scatter") if level >= 3 else ("symmetric", "gram")
    way = g.shape.choice(ways)
    if way == "symmetric":
        return g.let("a m", g.read("covariances tensors sym_mats", mat, 0.1, 1.0), "A")
    if way == "gram":
        f = g.part("f fac", g.read("def_grads jacobians factors", mat, -0.4, 1.2))
        return g.let("a gram", transpose(f) * f)
    count = k.size_param("num_points", k.size("m", 3, 5))
    points = g.array("points samples", rows_of(mat), -0.3, 1.0, more="m")
    a = k.let("a scatter_m", zero(mat))
    with k.for_("s pt", count) as s:
        p = k.let("p q", points[g.index(s)])
        k.augment(a, "add", fn("outer", p, p))
    g.spoken[a.name] = "A", f"the sum of outer(p, p) over p of {points.name}"
    return a
