"""Finite elements and surfaces: element matrices applied, lumped masses, cotangent weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from generators.atomic.parallel.parts import named
from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, sqrt
from generators.kit.naming import applied, routine
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Mat, Scalar, Type, Vec, scalar_of
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
            self.whole = k.let("nodes ids", self.array[self.e])

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
        return [
            self.k.let(name, self.node(n)) for n, name in enumerate(names.split()[: self.count])
        ]

    @property
    def said(self) -> str:
        return self.array.name + (f" ({self.count} numbers each)" if self.form == "flat" else "")


class _Matrix:
    """The matrix of an element: a value of a matrix type, blocks of an array, or one for all."""

    def __init__(self, k: KernelBuilder, e: _Element, real: Scalar, size: int) -> None:
        forms = ("array", "reference") if size > 1 else ("whole", "array", "reference")
        self.k, self.e, self.form, self.size = k, e, k.draw.shape.choice(forms), size
        count = str(e.count)
        self.whole: Expr | None = None
        names = "stiffness element_matrices ke"
        if self.form == "whole":
            mat = Mat(e.count, e.count, real)
            self.array = k.array(names, mat, e.size, low=-1.0, high=1.0)
            self.whole = k.let("ke mat_e", self.array[e.e])
        elif self.form == "array":
            # An element of vectors couples their components.
            block = Mat(size, size, real) if size > 1 else real
            self.array = k.array(names, block, (e.size, count, count), low=-1.0, high=1.0)
        else:
            self.array = k.array("reference_matrix k_ref", real, (count, count), low=-1.0, high=1.0)

    def entry(self, a: Expr | int, b: Expr | int) -> Expr:
        if self.whole is not None:
            return self.whole[a, b]
        return self.array[self.e.e, a, b] if self.form == "array" else self.array[a, b]

    @property
    def said(self) -> str:
        if self.form == "reference":
            return f"the matrix {self.array.name}"
        blocks = f", of {self.size} x {self.size} blocks," if self.size > 1 else ""
        return f"its matrix in {self.array.name}{blocks}"


def _by_loops(m: _Matrix, u: Var, to: tuple[str, Var], scale: Expr | None) -> None:
    """The product row by row, of the nodes' values in a vector."""
    e, k, (how, out) = m.e, m.k, to
    real = scalar_of(u[e.node(0)].type)
    held = k.let("ue u_e", make(Vec(e.count, real), *(u[e.node(n)] for n in range(e.count))))
    if m.whole is not None:
        product = fn("mul", m.whole, held)
        product = k.let("fe f_e", product if scale is None else scale * product)
        with k.for_("a", e.count) as a:
            k.atomic(how, out, e.node(a), product[a])
        return
    with k.for_("a", e.count) as a:
        total = k.let("fa f_a", k.lift(0.0, real))
        with k.for_("b", e.count) as b:
            k.augment(total, "add", m.entry(a, b) * held[b])
        k.atomic(how, out, e.node(a), total if scale is None else scale * total)


def _written_out(m: _Matrix, u: Var, to: tuple[str, Var], scale: Expr | None) -> None:
    """The product written out, each node's value read once."""
    e, k, (how, out) = m.e, m.k, to
    ids = e.each(k.draw.word.choice(("i j l m", "n0 n1 n2 n3", "a b c d")))
    if m.whole is not None:
        held = k.let("ue u_e", make(Vec(e.count, scalar_of(u[ids[0]].type)), *(u[v] for v in ids)))
        product = fn("mul", m.whole, held)
        product = k.let("fe f_e", product if scale is None else scale * product)
        for n, v in enumerate(ids):
            k.atomic(how, out, v, product[n])
        return
    values = [k.let(f"u{n}", u[v]) for n, v in enumerate(ids)]
    for a, v in enumerate(ids):
        terms = [fn("mul", m.entry(a, b), value) for b, value in enumerate(values)]
        total = reduce(add, terms)
        k.atomic(how, out, v, k.let(f"f{a}", total if scale is None else scale * total))


@idiom(depth=3)
def element_products(k: KernelBuilder, level: int) -> Title:
    """Element by element: small matrices times the values of their nodes, assembled by atomics.

    T. J. R. Hughes, I. Levit, J. Winget, J. Eng. Mech. 109 (1983).
    """
    shape = k.draw.shape
    corners = shape.choice((3, 4))
    e = _Element(k, corners, "num_faces" if corners == 3 else "num_elements")
    real = k.draw.wide_float_type()
    size = shape.choice((2, 3)) if level > 1 and shape.chance(0.5) else 1
    m = _Matrix(k, e, real, size)
    scale = None
    if m.form == "reference":
        load = k.array("coefficients diffusivity", real, e.size, low=0.5, high=2.0)[e.e]
        scale = k.let("coeff scale", load)
    type_ = Vec(size, real) if size > 1 else real
    u = k.array("u x" if size == 1 else "u displacement", type_, _NODES, low=-1.0, high=1.0)
    how = shape.weighted({"add": 2, "sub": 1})
    out = k.accumulator("y f_int" if how == "add" else "residual", type_, _NODES)
    looped = size == 1 and e.form == "packed"
    (_by_loops if looped else _written_out)(m, u, (how, out), scale)
    free = m.form == "reference"
    text = f"{'Matrix-free' if free else 'Element-by-element product of'} finite elements: "
    text += f"for each element, multiply {m.said}"
    text += f", times {written(load)}," if scale is not None else ""
    text += (
        f" by {u.name} at its nodes ({e.said}), and {'add' if how == 'add' else 'subtract'} the "
    )
    text += f"result {'to' if how == 'add' else 'from'} {out.name} at them."
    names = "matrix_free_apply apply_operator" if free else "apply_stiffness element_products"
    names = names if how == "add" else "subtract_stiffness update_residual"
    return Title(k.name(names), text)


class _Tet:
    """A tetrahedron: the numbers of its vertices and the sides from the first of them."""

    def __init__(
        self, k: KernelBuilder, e: _Element, level: int, rest: bool, deformed: bool
    ) -> None:
        shape = k.draw.shape
        self.k, self.e = k, e
        names = "rest rest_positions" if rest or deformed else "positions node_positions"
        self.x = k.array(names, _VEC, _NODES, low=-1.0, high=1.0)
        self.ids = e.each(k.draw.word.choice(("i j l m", "a b c d", "v0 v1 v2 v3")))
        self.moved: Var | None = None
        if deformed:
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
    form = shape.choice(("mass", "volume", "force", "gradient"))
    # Mass stays with the body at rest; volumes and their gradients are those of its present shape.
    lasting = form in ("mass", "force")
    t = _Tet(k, e, level, lasting, not lasting and shape.chance(0.4))
    what = _volume_gradient(k, t) if form == "gradient" else _nodal_shares(k, t, form)
    where = t.x.name if t.moved is None else f"{t.x.name} + {t.moved.name}"
    about = {"mass": "Lumped masses", "volume": "Nodal volumes", "force": "Body forces"}.get(
        form, "Forces of the pressures"
    )
    of = "in" if form == "gradient" else "of"
    text = f"{about} {of} tetrahedra (vertices by {e.said}, at {where}): at each vertex of each, "
    names = {
        "volume": "nodal_volumes",
        "mass": "lumped_mass tet_masses",
        "force": "body_forces tet_loads",
    }
    return Title(k.name(names.get(form, "pressure_forces tet_pressures")), f"{text}{what}.")


def _volume_gradient(k: KernelBuilder, t: _Tet) -> str:
    """What a pressure in each does to its vertices: it pushes along the gradients of volume."""
    pressure = k.array("pressures tet_pressure", FLOAT32, t.e.size, low=-1.0, high=2.0)
    sixth = k.let("scale sixth", pressure[t.e.e] / 6.0)
    out = k.accumulator("forces f", _VEC, _NODES)
    sides = t.sides()
    parts = []
    for n, (a, b) in enumerate(((1, 2), (2, 0), (0, 1)), 1):
        parts.append(k.let(f"f{n}", sixth * fn("cross", sides[a], sides[b])))
    for v, g in zip(t.ids[1:], parts, strict=True):
        k.atomic("add", out, v, g)
    k.atomic("sub", out, t.ids[0], parts[0] + parts[1] + parts[2])
    text = f"add {written(pressure[t.e.e])} times the gradient of its signed volume by that vertex"
    return f"{text} to {out.name}"


def _nodal_shares(k: KernelBuilder, t: _Tet, form: str) -> str:
    """A quarter of the volume, of the mass or of the load for each vertex."""
    shape = k.draw.shape
    share: Expr = t.volume(False)
    what, weighed = "a quarter of its volume", False
    if form != "volume":
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
        self.factor: Expr | None = None
        self.load: Expr | None = None
        if self.u is not self.x and shape.chance(0.5):
            self.load = k.array("conductivity", FLOAT32, e.size, low=0.5, high=2.0)[e.e]
            self.factor = named(k, "c_e factor", self.load)
        sides = k.draw.word.choice((("d1", "d2"), ("ea", "eb"), ("to_p", "to_q")))
        self.sides = k.draw.word.choice((sides, ("d1", "d2")))
        self.names = [k.name(word) for word in ("w cot_w", "flux")]
        params: dict[str, Type] = {"apex": _VEC, "p": _VEC, "q": _VEC, "eps": FLOAT32}
        self.half = routine(k, 0.7, "half_cotangent half_cot", params, self._half_cotangent)

    def _half_cotangent(self, b: BodyBuilder, apex: Expr, p: Expr, q: Expr, eps: Expr) -> Expr:
        """Half the cotangent of the angle at ``apex``, large but finite where that is flat."""
        b.used.difference_update({*self.sides, "normal"})
        one, two = b.let(self.sides[0], p - apex), b.let(self.sides[1], q - apex)
        normal = b.let("normal", fn("cross", one, two))
        return 0.5 * dot(one, two) / sqrt(dot(normal, normal) + eps)

    def _let(self, n: int, value: Expr) -> Var:
        self.k.used.discard(self.names[n])
        return self.k.let(self.names[n], value)

    def add(self, ids: Sequence[Expr], p: Sequence[Expr], u: Sequence[Expr]) -> None:
        """The part of one corner: of itself and the two vertices that face each other."""
        k, (_, first, second) = self.k, ids
        half = self.half(*p, self.eps)
        w = self._let(0, half if self.factor is None else self.factor * half)
        flux = self._let(1, w * (u[2] - u[1]))
        k.atomic("add", self.out, first, flux)
        k.atomic("sub", self.out, second, flux)
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
        with k.for_("n corner", 3) as n:
            names = k.draw.word.choice((("v", "v_next", "v_last"), ("i", "j", "l")))
            ends = (e.node(n), e.node((n + 1) % 3), e.node((n + 2) % 3))
            each = [k.let(a, end) for a, end in zip(names, ends, strict=True)]
            c.add(each, [c.x[v] for v in each], [c.u[v] for v in each])
    else:
        ids = e.each(k.draw.word.choice(("i j l", "a b c", "n0 n1 n2")))
        p: list[Expr] = [k.let(f"p{n}", c.x[v]) for n, v in enumerate(ids)]
        u = p if c.u is c.x else [k.let(f"{c.u.name[0]}{n}", c.u[v]) for n, v in enumerate(ids)]
        for turn in range(3):
            order = [(turn + n) % 3 for n in range(3)]
            c.add([ids[n] for n in order], [p[n] for n in order], [u[n] for n in order])
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
    return Title(k.name("cotangent_laplacian cot_laplacian apply_laplacian"), text)
