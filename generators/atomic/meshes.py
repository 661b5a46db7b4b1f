"""Meshes: forces of springs, fluxes through faces, normals and masses at vertices."""

from __future__ import annotations

from generators.atomic.tally import Tally, any_of, threads
from generators.build import BodyBuilder, KernelBuilder, fn, identity, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, most, sqrt, where
from generators.kit.naming import applied
from generators.kit.sources import given
from generators.program.dtypes import INT32, Mat, Scalar, Vec, scalar_of
from generators.program.expr import Expr, Var

_HALF = 6
"""Of the vertices that springs join, so many are first ends and as many second ones."""


def _ends(t: Tally, size: str, arrays: str, locals_: str, apart: bool = False) -> list[Var]:
    """The two ends of the thread's edge or face, as descriptions call them: i and j.

    Ends that are ``apart`` are never the same.
    """
    found: list[Var] = []
    for array, name, short in zip(arrays.split(), locals_.split(), "ij", strict=True):
        how: dict[str, object] = {"init": f"index_of:{size}"}
        if apart:
            how = {"low": _HALF * len(found), "high": _HALF * len(found) + _HALF - 1}
        end = t.k.let(name, t.s.read(array, INT32, **how))
        t.known[end] = short
        t.defined.append(f"{short} = {array}[{t.s.where}]")
        found.append(end)
    return found


_SPRINGS = ("spring_a spring_b", "edge_a edge_b", "end_a end_b")
_LAWS = {
    1: ("hooke", "zero_length"),
    2: ("hooke", "cable", "hooke"),
    3: ("strain", "fene", "damped"),
    4: ("damped", "hessian"),
    5: ("hessian",),
}


@idiom
def edge_springs(k: KernelBuilder, level: int) -> Title:
    """Forces of springs between particles, added to one end and taken from the other."""
    shape = k.draw.shape
    vec = Vec(shape.choice((2, 3, 3)), k.draw.wide_float_type())
    k.size("num_verts", 2 * _HALF, 3 * _HALF, minimum=2 * _HALF)
    t = Tally(level, threads(k, "num_springs", 48, 72, "s spring"), "Springs")
    law = shape.choice(_LAWS[level])
    i, j = _ends(t, "num_verts", k.draw.word.choice(_SPRINGS), "i j", apart=True)
    x = k.array("positions x pos", vec, "num_verts", low=-1.5, high=1.5)
    k.note("from the first end to the second")
    d = t.define("d", t.let("d delta", x[j] - x[i]))
    stiff = given(t.s, "stiffness", vec.scalar, 1.0, 5.0, shared=1, each=2, many="stiffness ke")
    if law == "hessian":
        return _stiffness_product(t, (i, j), d, stiff, vec)
    force = t.define("q", t.let("force pull", _pull(t, law, (i, j), d, stiff)))
    f = t.into("forces f", "num_verts", i, force)
    if t.chance(0.5):
        t.update("sub", f, j, force)
    else:
        t.update("add", f, j, -force)
    if law == "zero_length" and t.chance(0.5):
        t.into("energy potential_energy", "1", 0, 0.5 * stiff * dot(d, d))
    about = {
        "hooke": "Hookean springs",
        "zero_length": "springs of zero rest length",
        "cable": "cables, which only pull",
        "strain": "springs whose force goes with their strain",
        "fene": "FENE springs",
        "damped": "springs with damping along their direction",
    }[law]
    names = {"cable": "cable_forces", "fene": "fene_forces", "damped": "damped_springs"}
    names_ = f"{names.get(law, 'spring_forces')} eval_springs"
    return t.title(names_, f"Forces of {about}: for each spring {t.s.where} from i to j, ")


def _pull(t: Tally, law: str, ends: tuple[Var, Var], d: Expr, stiff: Expr) -> Expr:
    """The force on the first end."""
    k = t.k
    assert isinstance(d.type, Vec)
    if law == "zero_length":
        return stiff * d
    if law == "fene":
        longest = k.scalar("max_extent r_max", d.type.scalar, 7.0, 9.0)
        return stiff * d / (1.0 - t.let("ratio_sq", dot(d, d) / (longest * longest)))
    size = t.let("length l", fn("length", d))
    unit = t.let("direction n", fn("normalize", d))
    if law == "cable":
        slack = t.s.read("cable_length rest_length", size.type, 0.6, 1.4)
        return stiff * most(size - slack, 0.0) * unit
    rest = t.s.read("rest_length rest_lengths", size.type, 0.2, 0.9)
    if law == "strain":
        return stiff * t.let("strain", (size - rest) / rest) * unit
    if law == "damped":
        v = k.array("velocities v", d.type, "num_verts", low=-1.0, high=1.0)
        speed = t.let("rate rel_speed", dot(v[ends[1]] - v[ends[0]], unit))
        damping = k.scalar("damping kd", d.type.scalar, 0.05, 0.4)
        return (stiff * (size - rest) + damping * speed) * unit
    return stiff * (size - rest) * unit


def _stiffness_product(
    t: Tally, ends: tuple[Var, Var] | list[Var], d: Expr, stiff: Expr, vec: Vec
) -> Title:
    """The springs' stiffness matrix times a vector, as implicit integrators need it."""
    k, (i, j) = t.k, ends
    rest = t.s.read("rest_length rest_lengths", vec.scalar, 0.5, 2.0)
    p = k.array("directions dx", vec, "num_verts", low=-1.0, high=1.0)
    size = k.let("length l", fn("length", d))
    unit = k.let("n unit", d / size)
    gap = k.let("dp gap", p[j] - p[i])
    along = k.let("along", dot(unit, gap))
    if k.draw.shape.chance(0.5):
        keep = k.let("ratio", most(1.0 - rest / size, 0.0))
        value: Expr = stiff * (along * unit + keep * (gap - along * unit))
    else:
        eye = identity(Mat(vec.size, vec.size, vec.scalar))
        keep = k.let("ratio", most(1.0 - rest / size, 0.0))
        outer = k.let("nn", fn("outer", unit, unit))
        block = k.let("block hess", stiff * (outer + keep * (eye - outer)))
        value = fn("mul", block, gap)
    value = k.let("df force", value)
    out = k.accumulator("result df_out", vec, "num_verts")
    k.atomic("sub", out, i, value)
    k.atomic("add", out, j, value)
    text = "Product of the stiffness matrix of springs with a vector, for implicit steps: for each "
    text += f"spring {t.s.where} from i to j, q = k * (n n^T + r * (I - n n^T)) * ({p.name}[j] - "
    text += f"{p.name}[i]) is added to {out.name}[j] and subtracted from {out.name}[i]. Here "
    text += f"{', '.join(t.defined)}, k = {t.say(stiff)}, l = |d|, n = d / l and r = "
    text += f"max(1 - {t.say(rest)} / l, 0).{''.join(t.notes)}"
    return Title(k.name("spring_hessian_product apply_spring_stiffness"), text)


_FACES = ("owner neighbor", "left_cell right_cell", "face_left face_right")
_FLUXES = {
    1: ("diffusion", "central", "upwind"),
    2: ("diffusion", "upwind"),
    3: ("both", "upwind"),
    4: ("linear", "both"),
    5: ("rusanov", "linear"),
}
_TOLD = {
    "diffusion": "Diffusive fluxes",
    "central": "Advective fluxes by central averages",
    "upwind": "First-order upwind fluxes",
    "both": "Upwind advection and diffusion",
    "linear": "Second-order upwind fluxes by linear reconstruction",
}


@idiom
def face_fluxes(k: KernelBuilder, level: int) -> Title:
    """Fluxes through faces between cells: what leaves one cell enters the other."""
    type_ = k.draw.wide_float_type()
    k.size("num_cells", 10, 15)
    t = Tally(level, threads(k, "num_faces", 56, 80, "f face"), "Faces")
    form = k.draw.shape.choice(_FLUXES[level])
    i, j = _ends(t, "num_cells", k.draw.word.choice(_FACES), "left right")
    if form == "rusanov":
        return _shallow_water(t, (i, j), type_)
    u = k.array("phi temperature concentration", type_, "num_cells", low=0.2, high=2.0)
    spread = form in ("diffusion", "both") or t.chance(0.6)
    flux = _flux(t, form, u, (i, j), spread)
    if spread:
        area = t.s.read("area face_area", type_, 0.3, 1.5)
        flux = area * flux if t.chance(0.5) else flux * area
    flux = t.define("q", t.let("flux q", flux))
    net = t.into("residual net_flux balance", "num_cells", i, flux, "sub")
    t.update("add", net, j, flux)
    names = {"diffusion": "diffusive_fluxes", "central": "central_fluxes"}
    opening = (
        f"{_TOLD[form]} through the faces of a mesh: for each face {t.s.where} from cell i to "
    )
    return t.title(f"{names.get(form, 'upwind_fluxes')} face_fluxes", f"{opening}cell j, ")


def _flux(t: Tally, form: str, u: Var, ends: tuple[Var, Var], spread: bool) -> Expr:
    """What goes from the left to the right cell; ``spread``: through a unit of the area."""
    k, (i, j) = t.k, ends
    type_ = scalar_of(u[i].type)
    named = k.draw.word.choice(("u_l u_r", "phi_l phi_r", "left_value right_value")).split()
    left, right = t.let(named[0], u[i]), t.let(named[1], u[j])
    diffusive = None
    if form in ("diffusion", "both"):
        heat = u.name == "temperature" and form == "diffusion"
        name = "conductivity" if heat else "diffusivity"
        nu = given(t.s, name, type_, 0.2, 1.2, shared=2, each=1, many=name)
        gap = t.s.read("dist cell_distance", type_, 0.5, 1.5)
        diffusive = nu * (left - right) / gap
        if form == "diffusion":
            return diffusive
    names = "normal_velocity face_velocity" if spread else "volume_flux face_flow"
    speed = t.let("un vn" if spread else "flow through", t.s.read(names, type_, -1.5, 1.5))
    if form == "central":
        return 0.5 * speed * (left + right)
    if form == "linear":
        vec = Vec(3, type_)
        grads = k.array("gradients grad_phi", vec, "num_cells", low=-0.5, high=0.5)
        x = k.array("cell_centers centers", vec, "num_cells", low=-1.0, high=1.0)
        mid = t.let("xf mid", t.s.read("face_centers midpoints", vec, -1.0, 1.0))
        left = left + dot(grads[i], mid - x[i])
        right = right + dot(grads[j], mid - x[j])
    carried = t.let("upwind carried", where(speed > 0.0, left, right))
    return speed * carried if diffusive is None else speed * carried + diffusive


def _shallow_water(t: Tally, ends: tuple[Var, Var], type_: Scalar) -> Title:
    """Rusanov's fluxes of the shallow water equations (V. V. Rusanov, 1961)."""
    k, (i, j) = t.k, ends
    state = Vec(3, type_)
    u = k.array("state cells", state, "num_cells", low=0.5, high=1.5)
    n = k.let("n normal", t.s.read("normals face_normals", Vec(2, type_), init="unit"))
    g = k.scalar("gravity g", type_, 9.7, 9.9)

    def speed(b: BodyBuilder, q: Expr, normal: Expr) -> Expr:
        return (q[1] * normal[0] + q[2] * normal[1]) / q[0]

    left, right = k.let("q_l", u[i]), k.let("q_r", u[j])
    vl, vr = (k.let(f"vn_{s}", speed(k, q, n)) for s, q in (("l", left), ("r", right)))

    def physical(q: Expr, vn: Expr) -> Expr:
        push = 0.5 * g * q[0] * q[0]
        return make(state, q[0] * vn, q[1] * vn + push * n[0], q[2] * vn + push * n[1])

    fl, fr = k.let("f_l", physical(left, vl)), k.let("f_r", physical(right, vr))
    fastest = most(abs(vl) + sqrt(g * left[0]), abs(vr) + sqrt(g * right[0]))
    s = k.let("s_max wave", fastest)
    flux = k.let("flux", 0.5 * (fl + fr) - 0.5 * s * (right - left))
    if t.chance(0.7):
        flux = k.let("total through", t.s.read("face_length lengths", type_, 0.3, 1.5) * flux)
    net = k.accumulator("residual net_flux", state, "num_cells")
    k.atomic("sub", net, i, flux)
    k.atomic("add", net, j, flux)
    length = "" if flux.name == "flux" else " times its length"
    return Title(k.name("rusanov_fluxes shallow_water_fluxes"), _water_text(t, u, g, net, length))


def _water_text(t: Tally, u: Var, g: Var, net: Var, length: str) -> str:
    text = (
        f"Rusanov fluxes of the shallow water equations: for each face {t.s.where} from cell i to "
    )
    text += (
        f"cell j, of states (h, hu, hv) in {u.name}, q = 0.5 * (F(i) + F(j)) - 0.5 * s * (state j"
    )
    text += (
        f" - state i){length} is taken from {net.name}[i] and added to {net.name}[j]. F = (h vn, "
    )
    text += f"hu vn + p nx, hv vn + p ny) with vn the velocity along the normal and p = {g.name} * "
    text += (
        f"h^2 / 2, and s is the larger of |vn| + sqrt({g.name} * h) of both. Here {t.defined[0]} "
    )
    return f"{text}and {t.defined[1]}."


_VERTEX = {
    1: ("normal", "area"),
    2: ("normal", "unit", "area", "mass"),
    3: ("angle", "mass", "centroid"),
}
_OF_VERTEX = {
    "normal": ("Area-weighted vertex normals", "vertex_normals accumulate_normals"),
    "unit": ("Vertex normals, all triangles counting alike", "vertex_normals accumulate_normals"),
    "area": ("Vertex areas", "vertex_areas barycentric_areas"),
    "mass": ("Lumped vertex masses of a shell", "vertex_masses lump_masses"),
    "centroid": ("Area-weighted centroids of the triangles around each vertex", "vertex_centroids"),
}


@idiom(depth=3)
def vertex_normals(k: KernelBuilder, level: int) -> Title:
    """Normals, areas or masses of triangles, spread over their three vertices."""
    type_ = k.draw.wide_float_type()
    k.size("num_verts", 14, 20)
    t = Tally(level, threads(k, "num_faces", 40, 64, "t tri"), "Triangles")
    form = k.draw.shape.choice(_VERTEX[level])
    ids, p, corners = _corners(t, Vec(3, type_), form != "normal")
    if form == "angle":
        return _angle_normals(t, ids, p, corners)
    cross = _cross(t, p)
    outs = "normals vertex_normals"
    value = cross
    if form == "unit":
        value = fn("normalize", cross)
    elif form != "normal":
        size = fn("length", cross)
        value, outs = size / 6.0, "vertex_area areas"
    if form == "mass":
        many = "surface_density areal_density"
        thick = given(t.s, "surface_density", type_, 0.5, 2.0, each=1, shared=1, many=many)
        value, outs = thick * value, "masses vertex_mass"
    if form == "centroid":
        value = t.let("area", 0.5 * size)
        outs = "centroid_sums"
    share = t.let("share" if form in ("area", "mass") else "n normal", value)
    if form == "centroid":
        share = t.let("moment", share * ((p[0] + p[1] + p[2]) / 3.0))
    sums = [(t.into(outs, "num_verts", ids[0], share), share)]
    if form == "centroid":
        sums.append((t.into("weight_sums area_sums", "num_verts", ids[0], value), value))
    if form == "unit" and t.chance(0.5):
        one = k.lift(1, INT32)
        sums.append((t.into("valence face_count", "num_verts", ids[0]), one))
    for v in ids[1:]:
        for array, part in sums:
            k.atomic("add", array, v, part)
    about, names = _OF_VERTEX[form]
    opening = f"{about}: for each triangle {t.s.where} of corners p0, p1, p2 ({corners}), at each "
    return t.title(names, f"{opening}of its vertices v, ")


def _angle_normals(t: Tally, ids: list[Expr], p: list[Expr], corners: str) -> Title:
    """Unit normals of triangles, weighted by the angle at each corner (G. Thuermer and C. A.
    Wuethrich, 1998)."""
    k = t.k
    normal = k.let("n normal", fn("normalize", fn("cross", p[1] - p[0], p[2] - p[0])))
    sums = k.accumulator("normals vertex_normals", p[0].type, "num_verts")
    for c in range(3):
        one, two = p[(c + 1) % 3] - p[c], p[(c + 2) % 3] - p[c]
        across = fn("length", fn("cross", one, two))
        angle = k.let(f"angle{c}", fn("atan2", across, dot(one, two)))
        k.atomic("add", sums, ids[c], angle * normal)
    text = (
        f"Angle-weighted vertex normals: for each triangle of corners p0, p1, p2 ({corners}), add "
    )
    text += (
        f"to {sums.name} at each of its vertices its unit normal, along cross(p1 - p0, p2 - p0), "
    )
    text += "times the angle there, atan2(|cross|, dot) of the two sides."
    return Title(k.name("vertex_normals angle_weighted_normals"), f"{text}{''.join(t.notes)}")


def _corners(t: Tally, vec: Vec, proper: bool) -> tuple[list[Expr], list[Expr], str]:
    """Numbers and places of a triangle's vertices, and what they are read from."""
    k, flat, (i,) = t.k, t.chance(0.3), t.s.at
    n = t.s.dims[0]
    shape: str | tuple[str, ...] = f"3*{n}" if flat else (n, "3")
    faces = k.array("faces triangles indices", INT32, shape, init="index_of:num_verts")
    places = [(3 * i + c if c else 3 * i) if flat else (i, c) for c in range(3)]
    names = k.draw.word.choice(("i j l", "a b c", "v0 v1 v2")).split()
    ids = [k.let(name, faces[at]) for name, at in zip(names, places, strict=True)]
    if proper:
        tests = [fn("eq", ids[a], ids[b]) for a, b in ((0, 1), (1, 2), (0, 2))]
        t.skip(any_of(tests), "two corners are one vertex")
    x = k.array("vertices points", vec, "num_verts", low=-1.0, high=1.0)
    p = [k.let(f"p{c}", x[v]) for c, v in enumerate(ids)]
    t.known.update({**dict.fromkeys(ids, "v"), **{at: f"p{c}" for c, at in enumerate(p)}})
    triples = f"three numbers each in {faces.name}" if flat else f"rows of {faces.name}"
    return [*ids], [*p], f"{triples} into {x.name}"


def _cross(t: Tally, p: list[Expr]) -> Expr:
    """The cross product of two sides, by a helper at times."""

    def build(b: BodyBuilder, first: Expr, second: Expr, third: Expr) -> Expr:
        sides: tuple[Expr, Expr] = second - first, third - first
        if b.draw.shape.chance(0.5):
            names = b.draw.word.choice((("e1", "e2"), ("ab", "ac")))
            sides = b.let(names[0], sides[0]), b.let(names[1], sides[1])
        return fn("cross", *sides)

    args = dict(zip("abc", p, strict=True))
    chance = 0.3 if t.level >= 2 else 0.0
    normal = t.let("cross", applied(t.k, chance, "area_vector", args, build))
    t.known[normal] = "cross(p1 - p0, p2 - p0)"
    return normal
