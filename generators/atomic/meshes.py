"""Graphs and meshes: messages and springs along edges, sparse products, fluxes, normals."""

from __future__ import annotations

from collections.abc import Callable

from generators.atomic.tally import INT64, Tally, any_of, threads
from generators.build import BodyBuilder, KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, most, sqrt, where
from generators.kit.naming import applied
from generators.kit.sites import over
from generators.kit.sources import given
from generators.program.dtypes import INT32, Scalar, Vec, scalar_of
from generators.program.expr import Expr

_PAIRS = ("src dst", "tail head", "edge_a edge_b", "from_node to_node")


def _ends(t: Tally, nodes: str, names: tuple[str, str], share: float = 1.0) -> list[Expr]:
    """The two ends of this thread's edge, each under a name with that chance."""
    arrays = t.k.draw.word.choice(_PAIRS).split()
    pairs = list(zip(*(one.split() for one in names), strict=True))
    names = t.k.draw.word.choice(pairs)
    ends = [t.s.read(a, INT32, init=f"index_of:{nodes}", axes=(0,)) for a in arrays]
    return [t.let(name, end, share) for name, end in zip(names, ends, strict=True)]


Message = Callable[[Tally, Expr, Expr], Expr]
_MESSAGES: dict[str, Message] = {
    "plain": lambda t, s, d: s,
    "difference": lambda t, s, d: s - d,
    "relu": lambda t, s, d: most(s - d, 0.0),
    "gated": lambda t, s, d: t.let("gate g", 1.0 / (1.0 + exp(-d))) * s,
}


@idiom
def message_passing(k: KernelBuilder, level: int) -> Title:
    """Messages along the edges of a graph, gathered at the target nodes."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    k.size("num_nodes", 10, 16)
    edges, indices = "num_edges", "e"
    if shape.chance(0.6 if level >= 2 else 0.4):
        edges, indices = "num_edges channels", "e c"
    t = Tally(level, over(k, edges, indices, ((64, 90), (3, 5))), "Edges")
    s, d = _ends(t, "num_nodes", ("s u source", "t v target"), 0.7)
    source, target = (s, *t.s.at[1:]), (d, *t.s.at[1:])
    dims = ("num_nodes", *t.s.dims[1:])
    h = k.array("features h state", type_, dims, low=0.2, high=2.0)
    if t.chance(0.6, 3):
        t.skip(fn("eq", s, d))
    forms = ("plain", "difference", "relu", "gated") if level >= 2 else ("plain", "difference")
    value = _MESSAGES[t.pick(*forms)](t, h[source], h[target])
    if t.chance(0.6):
        value = t.s.read("edge_weight w attn", type_, 0.2, 1.0, axes=(0,)) * value
    if t.chance(0.5):
        degree = k.array("degree deg", INT32, "num_nodes", low=1, high=6)
        norm = cast(degree[s], type_)
        value = value / (norm if t.chance(0.5) else sqrt(norm * cast(degree[d], type_)))
    both = t.chance(0.2, 3)
    value = t.let("msg message", value, 1.0 if both else 0.7)
    how = t.pick("add", "add", "max") if level >= 2 else "add"
    out = t.into("aggregated messages out_state inbox", dims, target, value, how)
    if both:
        t.update(how, out, source, value)
    names = "message_passing gather_messages propagate graph_conv"
    return t.title(names, f"For each edge {', channel '.join(indices.split())}: ")


@idiom
def edge_springs(k: KernelBuilder, level: int) -> Title:
    """Forces of springs between particles, added to one end and taken from the other."""
    shape = k.draw.shape
    vec = Vec(shape.choice((2, 3)), k.draw.wide_float_type())
    k.size("num_nodes", 12, 18)
    t = Tally(level, threads(k, "num_edges", 48, 72, "e edge"), "Edges")
    i, j = _ends(t, "num_nodes", ("i p", "j q"))
    laws = ("linear", "rest") if level == 1 else ("rest", "rest", "fene", "stretch")
    law = shape.choice(laws)
    if law != "linear" or t.chance(0.3):
        t.skip(fn("eq", i, j))
    x = k.array("pos x positions", vec, "num_nodes", low=-1.5, high=1.5)
    k.note("from the first end to the second")
    d = t.define("d", t.let("d dx delta", x[j] - x[i]))
    stiff = given(t.s, "stiffness ke", vec.scalar, 1.0, 5.0, shared=1, each=1, many="stiffness ke")
    stiff = t.let("stiff k_e", stiff, 0.3)
    pull = _pull(t, law, d, stiff)
    if t.chance(0.6, 3):
        v = k.array("vel v velocities", vec, "num_nodes", low=-1.0, high=1.0)
        pull = pull + k.scalar("damping kd", vec.scalar, 0.05, 0.4) * (v[j] - v[i])
    force = t.let("force_ij pull fs", pull)
    f = t.into("force forces f", "num_nodes", i, force)
    if t.chance(0.6):
        t.update("sub", f, j, force)
    else:
        t.update("add", f, j, -force)
    if law == "linear" and t.chance(0.6):
        t.into("energy potential", "1", 0, 0.5 * stiff * dot(d, d))
    names = "spring_forces edge_springs eval_springs cloth_edges"
    return t.title(names, "For each edge: ")


def _pull(t: Tally, law: str, d: Expr, stiff: Expr) -> Expr:
    """The force on the first end."""
    if law == "linear":
        return stiff * d
    if law == "fene":
        longest = t.k.scalar("max_extent r_max", scalar_of(d.type), 7.0, 9.0)
        return stiff * d / (1.0 - t.let("ratio_sq share_sq", dot(d, d) / (longest * longest)))
    size = t.let("length dist l", fn("length", d))
    if law == "stretch":
        most_long = t.k.scalar("max_length slack", size.type, 0.8, 1.2)
        return stiff * most(size - most_long, 0.0) * fn("normalize", d)
    rest = t.s.read("rest rest_length l0", size.type, 0.2, 0.9)
    if t.chance(0.5, 3):
        return stiff * t.let("strain stretch", (size - rest) / rest) * fn("normalize", d)
    return stiff * (size - rest) * fn("normalize", d)


@idiom
def sparse_product(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix in coordinate form times a vector or a dense matrix."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    if shape.chance(0.2):
        type_ = shape.choice((INT32, INT64))
    form = shape.weighted({"vector": 2, "columns": 1, "loop": 1})
    k.size("rows", 8, 12)
    k.size("cols", 8, 12)
    if form != "columns":
        s = threads(k, "nnz", 64, 96, "e nz")
    else:
        s = over(k, "nnz depth", k.draw.word.choice(("e q", "e col_out")), ((64, 96), (3, 5)))
    t = Tally(level, s, "Stored entries")
    mirror, sure = t.chance(0.6, 3), 0.6 if level <= 2 else 1.0
    row = s.read("row_idx rows_coo ri", INT32, init="index_of:rows", axes=(0,))
    col = s.read("col_idx cols_coo ci", INT32, init="index_of:cols", axes=(0,))
    span = (-2.0, 2.0) if type_.is_float else (-9, 9)
    value: Expr = s.read("values vals data", type_, *span, axes=(0,))
    at = (t.let("row i", row, sure), t.let("col j", col, sure))
    if t.chance(0.3, 4) and type_.is_float:
        value = t.let("raw stored", value, 0.5)
        t.skip(abs(value) < k.scalar("tol drop_tol", type_, 0.3, 1.2))
    if t.chance(0.5, 2):
        value = k.scalar("alpha scale", type_, 2, 5) * value
    value = t.let("a entry v", value, 1.0 if mirror or form != "vector" else 0.35)
    if form == "loop":
        k.size("depth", 3, 5)
        with t.loop("p s", k.trip_count("num_rhs width", "depth")) as p:
            _product(t, at, value, mirror, (p,))
    else:
        _product(t, at, value, mirror, s.at[1:])
    if level >= 4 and form != "columns" and t.chance(0.4):
        with t.when(fn("eq", *at)):
            t.into("diag diagonal", "rows", at[0], value)
    if form == "vector" and t.chance(0.3, 3):
        t.into("row_counts row_nnz", "rows", at[0])
    names = "coo_spmv sparse_matvec" if form == "vector" else "coo_spmm sparse_matmul"
    return t.title(names, f"For each stored entry{f' and column ({s.where})' * (s.rank > 1)}: ")


def _product(
    t: Tally, at: tuple[Expr, Expr], value: Expr, mirror: bool, rest: tuple[Expr, ...]
) -> None:
    """The entry times its row of what is multiplied, and the same the other way round."""
    type_, (row, col) = value.type, ((end, *rest) for end in at)
    span, more = (-2, 2), ("depth",) * len(rest)
    x = t.k.array("x rhs dense", type_, ("cols", *more), low=span[0], high=span[1])
    other = x[col]
    product = value * other if t.chance(0.7) else other * value
    t.into("y out_vec result", ("rows", *more), row, product)
    if mirror:
        w = t.k.array("u left", type_, ("rows", *more), low=span[0], high=span[1])
        t.into("z out_t", ("cols", *more), col, value * w[row])


@idiom
def face_fluxes(k: KernelBuilder, level: int) -> Title:
    """Fluxes through faces between cells: what leaves one cell enters the other."""
    type_ = k.draw.wide_float_type()
    k.size("num_cells", 10, 15)
    t = Tally(level, threads(k, "num_faces", 56, 80, "f face"), "Faces")
    left, right = _ends(t, "num_cells", ("left owner i", "right neighbor j"))
    if t.chance(0.4, 2):
        t.skip(fn("eq", left, right))
    if t.chance(0.3):
        t.skip(fn("ne", t.s.read("closed is_wall", INT32, 0, 1), 0))
    u = k.array("phi temperature concentration rho", type_, "num_cells", low=0.2, high=2.0)
    pair = k.draw.word.choice(("ul ur", "phi_l phi_r", "phi_i phi_j")).split()
    flux = _flux(t, t.let(pair[0], u[left]), t.let(pair[1], u[right]), type_)
    if t.chance(0.5):
        area = t.s.read("area face_area", type_, 0.3, 1.5)
        flux = area * flux if t.chance(0.5) else flux * area
    flux = t.define("q", t.let("flux q transfer", flux))
    net = t.into("residual net_flux divergence balance", "num_cells", left, flux, "sub")
    t.update("add", net, right, flux)
    if t.chance(0.3, 3):
        size = t.let("size moved", abs(flux), 0.5)
        total = t.into("throughput exchanged", "num_cells", left, size)
        t.update("add", total, right, size)
    names = "face_fluxes flux_residual exchange_fluxes finite_volume_step"
    return t.title(names, "For each face between two cells: ")


def _flux(t: Tally, ul: Expr, ur: Expr, type_: Scalar) -> Expr:
    """What goes from the left to the right cell."""
    form = t.pick("diffusion", "upwind", "central")
    if form == "diffusion":
        flux = ul - ur
        if t.chance(0.6):
            flux = flux / t.s.read("dist spacing", type_, 0.5, 1.5)
        if t.chance(0.5):
            flux = t.k.scalar("conductivity diffusion", type_, 0.2, 1.2) * flux
        return flux
    speed = t.let("vn un_f", t.s.read("speed un normal_vel", type_, -1.5, 1.5))
    if form == "upwind":
        flux = speed * t.let("carried upstream", where(speed > 0.0, ul, ur), 0.5)
    else:
        flux = 0.5 * speed * (ul + ur)
    if t.chance(0.5, 3):
        flux = flux + t.k.scalar("nu diffusivity", type_, 0.1, 0.6) * (ul - ur)
    return flux


@idiom
def vertex_normals(k: KernelBuilder, level: int) -> Title:
    """Normals, areas or masses of triangles, spread over their three vertices."""
    type_, verts = k.draw.wide_float_type(), "num_verts"
    k.size(verts, 14, 20)
    t = Tally(level, threads(k, "num_faces", 40, 64, "t tri"), "Triangles")
    forms = ("normal", "area", "unit", "mass", "angle") if level >= 2 else ("normal", "area")
    form = t.pick(*forms)
    if form == "angle":
        return _angle_normals(t)
    ids, p, corners = _corners(t, Vec(3, type_), form != "normal" or t.chance(0.3))
    cross = _cross(t, p)
    value = cross
    if form == "unit":
        value = fn("normalize", cross)
    elif form != "normal":
        size = fn("length", cross)
        value = 0.5 * size / 3.0 if t.chance(0.5) else size / 6.0
    if form == "mass":
        density = given(
            t.s, "density rho", type_, 0.5, 2.0, each=1, shared=1, many="density thickness"
        )
        value = density * value
    share = t.let("share contribution w", value)
    outs = "normals vertex_normals" if value.type != type_ else "vertex_area lumped_mass weights"
    sums = [(t.into(outs, verts, ids[0], share), share)]
    if t.chance(0.5, 3):
        sums.append((t.into("valence face_count", verts, ids[0]), k.lift(1, INT32)))
    for v in ids[1:]:
        for array, part in sums:
            k.atomic("add", array, v, part)
    if level >= 3 and form == "area" and t.chance(0.5):
        t.into("total_area surface", "1", 0, 0.5 * fn("length", cross))
        t.done[-1] = f"once a triangle, {t.done[-1]}"
    names = f"vertex_{form} accumulate_{form} mesh_assembly triangle_{form}"
    opening = f"For each triangle of corners p0, p1, p2 ({corners}), at each of its vertices v: "
    return t.title(names, opening)


def _angle_normals(t: Tally) -> Title:
    """Unit normals of triangles, weighted by the angle at each corner (G. Thuermer and C. A.
    Wuethrich, 1998)."""
    k, type_ = t.k, t.k.draw.wide_float_type()
    ids, p, corners = _corners(t, Vec(3, type_), True)
    normal = k.let("n normal", fn("normalize", fn("cross", p[1] - p[0], p[2] - p[0])))
    sums = k.accumulator("normals vertex_normals", Vec(3, type_), "num_verts")
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
    k, flat, (i,) = t.k, t.chance(0.5), t.s.at
    n, verts = t.s.dims[0], "num_verts"
    shape = (n, "3") if flat else f"3*{n}"
    faces = k.array("faces triangles indices", INT32, shape, init=f"index_of:{verts}")
    places = [(i, c) if flat else 3 * i + c if c else 3 * i for c in range(3)]
    names = k.draw.word.choice(("i j l", "a b c", "v0 v1 v2")).split()
    ids = [k.let(name, faces[at]) for name, at in zip(names, places, strict=True)]
    if proper:
        pairs = ((0, 1), (1, 2), (0, 2))
        t.skip(any_of([fn("eq", ids[a], ids[b]) for a, b in pairs]), "two vertices are the same")
    x = k.array("verts points vertices", vec, verts, low=-1.0, high=1.0)
    p = [k.let(f"p{c}", x[v]) for c, v in enumerate(ids)]
    t.known.update({**dict.fromkeys(ids, "v"), **{at: f"p{c}" for c, at in enumerate(p)}})
    return [*ids], [*p], f"rows of {faces.name} into {x.name}"


def _cross(t: Tally, p: list[Expr]) -> Expr:
    """The cross product of two sides, by a helper at times."""

    def build(b: BodyBuilder, first: Expr, second: Expr, third: Expr) -> Expr:
        sides: tuple[Expr, Expr] = second - first, third - first
        if b.draw.shape.chance(0.5):
            sides = b.let("e0 u", sides[0]), b.let("e1 w", sides[1])
        return fn("cross", *sides)

    args = dict(zip("abc", p, strict=True))
    chance = 0.4 if t.level >= 3 else 0.0
    normal = t.k.let("n normal", applied(t.k, chance, "face_normal area_vector", args, build))
    t.known[normal] = fn("cross", p[1] - p[0], p[2] - p[0])
    return normal
