"""Finite elements and surfaces: element matrices applied, lumped masses, cotangent weights."""

from __future__ import annotations

from generators.atomic.parallel.parts import named
from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, sqrt
from generators.kit.naming import applied
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Array, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var

_NODES = "num_nodes"
_VEC = Vec(3, FLOAT32)


class _Element:
    """The nodes of an element: a row of an array, a vector of numbers, or a flat list."""

    def __init__(self, k: KernelBuilder, count: int, name: str, plain: bool = True) -> None:
        shape = k.draw.shape
        self.k, self.count = k, count
        self.size = k.size(name, 24, 36)
        k.size(_NODES, 14, 20)
        (self.e,) = k.thread(name, names=(k.name("e elem" if plain else "f tri"),))
        self.form = shape.choice(("row", "row", "packed", "flat"))
        init = f"index_of:{_NODES}"
        names = "elements conn connectivity" if plain else "faces triangles indices"
        dims: tuple[str, ...] = (name, str(count))
        type_: Scalar | Vec = INT32
        if self.form != "row":
            dims = (name,) if self.form == "packed" else (f"{count}*{name}",)
            type_ = Vec(count, INT32) if self.form == "packed" else INT32
        self.array = k.array(names, type_, dims, init=init)
        self.whole: Expr | None = None
        if self.form == "packed":
            self.whole = named(k, "nodes ids", self.array[self.e], 0.7)

    def node(self, n: Expr | int) -> Expr:
        """The number of the element's n-th node."""
        if self.whole is not None:
            return self.whole[n]
        if self.form == "row":
            return self.array[self.e, n]
        base = self.count * self.e
        return self.array[base if isinstance(n, int) and not n else base + n]

    def each(self, names: str) -> list[Expr]:
        """All its nodes, in locals."""
        return [self.k.let(name, self.node(n)) for n, name in enumerate(names.split())]

    @property
    def said(self) -> str:
        return self.array.name + (f" ({self.count} numbers each)" if self.form == "flat" else "")


class _Matrix:
    """The matrix of an element: a value of a matrix type, a block of an array, or one for all."""

    def __init__(self, k: KernelBuilder, e: _Element, real: Scalar) -> None:
        self.k, self.e, self.form = k, e, k.draw.shape.choice(("whole", "array", "reference"))
        count = str(e.count)
        self.whole: Expr | None = None
        names = "stiffness element_matrices ke"
        if self.form == "whole":
            mat = Mat(e.count, e.count, real)
            self.array = k.array(names, mat, e.size, low=-1.0, high=1.0)
            self.whole = k.let("ke m", self.array[e.e])
        elif self.form == "array":
            self.array = k.array(names, real, (e.size, count, count), low=-1.0, high=1.0)
        else:
            self.array = k.array("reference_matrix k_ref", real, (count, count), low=-1.0, high=1.0)

    def entry(self, a: Expr, b: Expr) -> Expr:
        if self.whole is not None:
            return self.whole[a, b]
        return self.array[self.e.e, a, b] if self.form == "array" else self.array[a, b]

    @property
    def said(self) -> str:
        own = self.form != "reference"
        return f"its matrix in {self.array.name}" if own else f"the matrix {self.array.name}"


def _whole_product(
    e: _Element, matrix: Expr, u: Var, to: tuple[str, Var], scale: Expr | None
) -> None:
    """The element's matrix times the vector of its nodes' values."""
    assert isinstance(u.type, Array)
    k, real, (how, out) = e.k, scalar_of(u.type.element), to
    values = (u[e.node(n)] for n in range(e.count))
    held = k.let("ue local_u", make(Vec(e.count, real), *values))
    product = k.let("fe local_f", fn("mul", matrix, held))
    with k.for_("a p", e.count) as a:
        value = product[a] if scale is None else scale * product[a]
        k.atomic(how, out, named(k, "v node", e.node(a), 0.4), value)


@idiom(depth=3)
def element_products(k: KernelBuilder, level: int) -> Title:
    """Element by element: small matrices times the values of their nodes, assembled by atomics.

    T. J. R. Hughes, I. Levit, J. Winget, J. Eng. Mech. 109 (1983).
    """
    shape = k.draw.shape
    e = _Element(k, shape.choice((2, 3, 4)), "num_elements")
    real = k.draw.wide_float_type()
    m = _Matrix(k, e, real)
    scale = None
    if m.form == "reference" or shape.chance(0.4):
        load = k.array("coefficients moduli", real, e.size, low=0.5, high=2.0)[e.e]
        scale = named(k, "c scale", load)
    vec = level > 1 and shape.chance(0.5)
    type_ = Vec(shape.choice((2, 3)), real) if vec else real
    u = k.array("u x displacement", type_, _NODES, low=-1.0, high=1.0)
    how = shape.weighted({"add": 2, "sub": 1})
    out = k.accumulator("y f_int" if how == "add" else "residual", type_, _NODES)
    if not vec and m.whole is not None and shape.chance(0.5):
        _whole_product(e, m.whole, u, (how, out), scale)
    else:
        with k.for_("a p", e.count) as a:
            zero = k.lift(0.0, real)
            total = k.let("acc total fa", make(type_, zero) if isinstance(type_, Vec) else zero)
            with k.for_("b q", e.count) as b:
                far = named(k, "v_b col_node", e.node(b), 0.4)
                k.augment(total, "add", m.entry(a, b) * u[far])
            place = named(k, "v_a row_node", e.node(a), 0.4)
            k.atomic(how, out, place, total if scale is None else scale * total)
    text = f"Matrix-free finite elements: for each element, multiply {m.said}"
    text += f", times {written(load)}," if scale is not None else ""
    text += (
        f" by {u.name} at its nodes ({e.said}), and {'add' if how == 'add' else 'subtract'} the "
    )
    text += f"result {'to' if how == 'add' else 'from'} {out.name} at them."
    names = "apply_stiffness matrix_free_apply" if how == "add" else "subtract_stiffness residual"
    return Title(k.name(names), text)


class _Tet:
    """A tetrahedron: the numbers of its vertices and the sides from the first of them."""

    def __init__(self, k: KernelBuilder, e: _Element, level: int) -> None:
        shape = k.draw.shape
        self.k, self.e = k, e
        self.x = k.array("positions vertices rest", _VEC, _NODES, low=-1.0, high=1.0)
        self.ids = e.each(k.draw.word.choice(("i j l m", "a b c d", "v0 v1 v2 v3")))
        self.moved: Var | None = None
        if shape.chance(0.3):
            self.moved = k.array("displacement disp", _VEC, _NODES, low=-0.2, high=0.2)
        moved = self.moved
        self.p: list[Expr] = [
            self.x[v] if moved is None else self.x[v] + moved[v] for v in self.ids
        ]
        if moved is not None or shape.chance(0.6):
            self.p = [k.let(f"p{n}", p) for n, p in enumerate(self.p)]
        self.helper = 0.2 + 0.1 * level

    def sides(self) -> list[Var]:
        origin = named(self.k, "origin apex", self.p[0], 0.6)
        ends = zip(("e1", "e2", "e3"), self.p[1:], strict=True)
        return [self.k.let(name, q - origin) for name, q in ends]

    def volume(self, signed: bool) -> Expr:
        """Its volume; by a helper at times."""

        def triple(b: BodyBuilder, a: Expr, *others: Expr) -> Expr:
            e1, e2, e3 = (b.let(f"e{n}", q - a) for n, q in enumerate(others, 1))
            return dot(fn("cross", e1, e2), e3) / 6.0

        args = dict(zip(("a", "b", "c", "d"), self.p, strict=True))
        value = applied(self.k, self.helper, "tet_volume signed_volume", args, triple)
        return self.k.let("volume vol", value if signed else abs(value))


@idiom(depth=3)
def tet_masses(k: KernelBuilder, level: int) -> Title:
    """Volumes of tetrahedra as lumped masses, loads or gradients of volume at their vertices."""
    shape = k.draw.shape
    e = _Element(k, 4, "num_tets")
    t = _Tet(k, e, level)
    form = shape.choice(("mass", "mass", "force", "gradient"))
    what = _volume_gradient(k, t) if form == "gradient" else _nodal_shares(k, t, form)
    where = t.x.name if t.moved is None else f"{t.x.name} + {t.moved.name}"
    about = {"mass": "Lumped masses", "force": "Body forces"}.get(form, "Volume gradients")
    text = f"{about} of tetrahedra ({e.said}, vertices in {where}): at each vertex of each, "
    names = {"mass": "lumped_mass tet_masses", "force": "body_forces tet_loads"}
    return Title(k.name(names.get(form, "volume_gradients tet_gradients")), f"{text}{what}.")


def _volume_gradient(k: KernelBuilder, t: _Tet) -> str:
    out = k.accumulator("volume_grad gradients", _VEC, _NODES)
    sides = t.sides()
    parts = []
    for n, (a, b) in enumerate(((1, 2), (2, 0), (0, 1)), 1):
        parts.append(k.let(f"g{n}", fn("cross", sides[a], sides[b]) / 6.0))
    for v, g in zip(t.ids[1:], parts, strict=True):
        k.atomic("add", out, v, g)
    k.atomic("sub", out, t.ids[0], parts[0] + parts[1] + parts[2])
    return f"add the gradient of its signed volume by that vertex to {out.name}"


def _nodal_shares(k: KernelBuilder, t: _Tet, form: str) -> str:
    """A quarter of the volume, of the mass or of the load for each vertex."""
    shape = k.draw.shape
    share: Expr = t.volume(False)
    what, weighed = "a quarter of its volume", False
    if form == "force" or shape.chance(0.75):
        rho: Expr
        if shape.chance(0.5):
            rho = k.array("density rho", FLOAT32, t.e.size, low=0.5, high=2.0)[t.e.e]
        else:
            rho = k.scalar("density rho", FLOAT32, 0.5, 2.0)
        share, what, weighed = rho * share, f"{what} times {written(rho)}", True
    share = k.let("share quarter nodal", share / 4.0 if shape.chance(0.5) else 0.25 * share)
    if form == "force":
        gravity = k.scalar("gravity body_force", _VEC, -2.0, 2.0)
        out = k.accumulator("forces loads", _VEC, _NODES)
        share, what = k.let("load f", share * gravity), f"{what} times {gravity.name}"
    else:
        names = "lumped_mass node_mass" if weighed else "node_volume volumes"
        out = k.accumulator(names, FLOAT32, _NODES)
    if t.e.form != "packed" and shape.chance(0.5):
        with k.for_("n corner", 4) as n:
            k.atomic("add", out, t.e.node(n), share)
    else:
        for v in t.ids:
            k.atomic("add", out, v, share)
    return f"add {what} to {out.name}"


class _Corners:
    """Corners of triangles: the cotangent of each weighs the side that faces it."""

    def __init__(self, k: KernelBuilder, e: _Element, level: int) -> None:
        shape = k.draw.shape
        self.k = k
        self.x = k.array("positions vertices verts", _VEC, _NODES, low=-1.0, high=1.0)
        self.u = self.x
        type_: Scalar | Vec = _VEC
        if shape.chance(0.6):
            self.u, type_ = k.array("u phi values", FLOAT32, _NODES, low=-1.0, high=1.0), FLOAT32
        self.out = k.accumulator("laplacian lap", type_, _NODES)
        self.weights: Var | None = None
        if level > 1 and shape.chance(0.5):
            self.weights = k.accumulator("weight_sums diagonal", FLOAT32, _NODES)
        self.eps: Expr = k.scalar("eps", FLOAT32, 0.005, 0.02)
        self.once = shape.chance(0.5)
        self.factor: Expr | None = None
        self.load: Expr | None = None
        if self.u is not self.x and shape.chance(0.5):
            self.load = k.array("conductivity", FLOAT32, e.size, low=0.5, high=2.0)[e.e]
            self.factor = named(k, "c_e factor", self.load)
        sides = k.draw.word.choice((("d1", "d2"), ("ea", "eb"), ("to_p", "to_q")))
        words = (*sides, "normal nrm", "w cot", "flow du")
        self.names = [k.name(word) for word in words]

    def _let(self, n: int, value: Expr) -> Var:
        self.k.used.discard(self.names[n])
        return self.k.let(self.names[n], value)

    def add(self, at: Expr, first: Expr, second: Expr) -> None:
        k, x = self.k, self.x
        to_first, to_second = self._let(0, x[first] - x[at]), self._let(1, x[second] - x[at])
        normal = self._let(2, fn("cross", to_first, to_second))
        area = sqrt(dot(normal, normal) + self.eps)
        half = 0.5 * dot(to_first, to_second) / area
        w = self._let(3, half if self.factor is None else self.factor * half)
        flow: Expr = w * (self.u[second] - self.u[first])
        flow = self._let(4, flow) if self.once else flow
        k.atomic("add", self.out, first, flow)
        k.atomic("sub", self.out, second, flow)
        if self.weights is not None:
            k.atomic("add", self.weights, first, w)
            k.atomic("add", self.weights, second, w)


@idiom(depth=3)
def cotangent_laplacian(k: KernelBuilder, level: int) -> Title:
    """Cotangent weights of triangles: the Laplacian of a function, or of positions, at vertices.

    U. Pinkall, K. Polthier, Experimental Mathematics 2 (1993).
    """
    shape = k.draw.shape
    e = _Element(k, 3, "num_faces", plain=False)
    c = _Corners(k, e, level)
    if shape.chance(0.5):
        with k.for_("n corner c0", 3) as n:
            names = k.draw.word.choice((("at", "p", "q"), ("v", "v_next", "v_last")))
            ends = (e.node(n), e.node((n + 1) % 3), e.node((n + 2) % 3))
            at, first, second = (k.let(a, end) for a, end in zip(names, ends, strict=True))
            c.add(at, first, second)
    else:
        ids = e.each(k.draw.word.choice(("i j l", "a b c", "v0 v1 v2")))
        for turn in range(3):
            c.add(ids[turn], ids[(turn + 1) % 3], ids[(turn + 2) % 3])
    times = "" if c.load is None else f"{written(c.load)} * "
    text = (
        f"Cotangent Laplacian of {c.u.name}: for each triangle ({e.said} into {c.x.name}) and each "
    )
    text += (
        f"of its corners, add w * ({c.u.name}[q] - {c.u.name}[p]) to {c.out.name}[p] and subtract "
    )
    text += f"it from {c.out.name}[q]"
    text += f", and add w to {c.weights.name} of both" if c.weights is not None else ""
    text += (
        ". Here p and q are the corner's other vertices, the next one around and the last, d1 and "
    )
    text += "d2 the sides to them, and w = "
    text += f"{times}0.5 * dot(d1, d2) / sqrt(|cross(d1, d2)|^2 + {written(c.eps)}), "
    text += "half the cotangent of the corner"
    text += "." if c.load is None else f" times {written(c.load)}."
    return Title(k.name("cotangent_laplacian cot_weights apply_laplacian"), text)
