"""Meshes: smoothing over neighbours, winding numbers, support points, culling, cells of levels."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import TWO_PI, atan2, dot, most
from generators.kit.masks import one_if
from generators.kit.sources import zero
from generators.program.dtypes import FLOAT32, INT32, Quat, Vec
from generators.program.expr import Expr, Var
from generators.vector.simulation.parts import Crowd, Points, crowd, index, others, points_of

VEC3 = Vec(3, FLOAT32)


@idiom
def mesh_smoothing(k: KernelBuilder, level: int) -> Title:
    """Laplacian smoothing over the neighbours of a vertex: umbrella, distances or given weights."""
    c = crowd(k, level, space=3, called=k.draw.word.choice(("n", "count", "num")))
    p = c.points("vertices verts positions", -1.0, 1.0)
    way = c.shape.choice(("umbrella", "distance", "gauss", "umbrella"))
    mine = k.let("x xi here", p.at(*c.at))
    total = k.let("lap_sum delta_sum", zero(c.vec))
    names = "num_seen valence" if (plain := way == "umbrella") else "w_sum norm"
    weight = k.let(names, k.lift(0.0, c.scalar))
    soft = k.scalar("eps_sq soft_sq", c.scalar, 0.05, 0.2) if way == "distance" else None
    sigma = k.scalar("sigma bandwidth", c.scalar, 0.5, 1.2) if way == "gauss" else None
    with others(c, p, False, {"counted": 1, "rows": 6}) as j:
        d = k.let("d edge", p.at(*c.place(j)) - mine)
        if way == "umbrella":
            k.augment(total, "add", d)
            k.augment(weight, "add", 1.0)
            law = "1"
        elif way == "distance":
            assert soft is not None
            w = k.let("w", 1.0 / (soft + dot(d, d)))
            k.augment(total, "add", w * d)
            k.augment(weight, "add", w)
            law = f"1 / ({soft.name} + |d|^2)"
        else:
            assert sigma is not None
            w = k.let("w", fn("exp", -dot(d, d) / (2.0 * sigma * sigma)))
            k.augment(total, "add", w * d)
            k.augment(weight, "add", w)
            law = f"exp(-|d|^2 / (2 * {sigma.name}^2))"
    return _mesh_smoothing_stored(c, (p, mine), (total, weight), plain, law)


def _mesh_smoothing_stored(
    c: Crowd, at: tuple[Points, Var], sums: tuple[Var, Var], plain: bool, law: str
) -> Title:
    """What :func:`mesh_smoothing` stores, and its text."""
    (p, mine), (total, weight) = at, sums
    # A row of a ragged list may be empty.
    empty = "up to the next" in c.told[0]
    least_of = 1.0 if plain else 1.0e-12
    lap = c.k.let("lap mean_delta", total / (most(weight, least_of) if empty else weight))
    text = f"Smooth a mesh: the Laplacian L of each vertex of {p.name} is "
    if plain:
        text += f"the mean offset of {c.told[0]}{', 0 where there are none' * empty}. "
    else:
        text += f"the sum of w * d over {c.told[0]}, d the offset of one, over the sum of "
        text += f"w{', 0 where there are none' * empty}; w = {law}. "
    name = c.k.name("mesh_smoothing laplacian_smooth relax_mesh")
    return Title(name, text + _smoothed(c, mine, lap))


def _smoothed(c: Crowd, mine: Var, lap: Var) -> str:
    """The vertex moved by its Laplacian: whole, along a normal, in the plane of it, or pinned."""
    k = c.k
    rate = k.scalar("lam rate step", c.scalar, 0.2, 0.8)
    way = c.shape.choice(("plain", "along", "across", "pinned", "curvature"))
    if way in ("along", "across"):
        normals = c.array("normals vertex_normals", c.vec, init="unit")
        n = k.let("n normal", normals[c.at])
        part = k.let("along lap_n", dot(lap, n) * n)
        shift: Expr = part if way == "along" else lap - part
        name = c.put("smoothed verts_out x_out", mine + rate * shift)
        which = "along" if way == "along" else "across"
        return (
            f"{name} gets the vertex plus {rate.name} times the part of L {which} {normals.name}."
        )
    if way == "pinned":
        fixed = c.array("pinned is_boundary", INT32, 0, 1)
        moved = k.let("moved x_new", mine)
        with k.if_(fn("eq", fixed[c.at], 0)):
            k.augment(moved, "add", rate * lap)
        name = c.put("smoothed verts_out x_out", moved)
        return f"{name} gets the vertex plus {rate.name} * L, or as it is where {fixed.name} is 1."
    name = c.put("smoothed verts_out x_out", mine + rate * lap)
    text = f"{name} gets the vertex plus {rate.name} * L"
    return f"{text}."


@idiom
def winding_number(k: KernelBuilder, level: int) -> Title:
    """The generalised winding number of points: solid angles of all triangles summed."""
    c = crowd(k, level, space=3, sizes=(24, 40), member="i tid q")
    c.vec = VEC3
    x = points_of(k, VEC3, "queries probes points", -1.5, 1.5, c.dims, level)
    k.size("faces", 9, 14)
    soup = c.shape.chance(0.5)
    if soup:
        v = points_of(k, VEC3, "triangles tri_verts", -1.5, 1.5, ("faces", "3"), 1)
        faces, count = None, extent(v.arrays[0], 0)
    else:
        k.size("verts", 8, 12)
        v = points_of(k, VEC3, "vertices verts", -1.5, 1.5, ("verts",), level)
        vector = c.shape.chance(0.4)
        kind, shape = (Vec(3, INT32), ("faces",)) if vector else (INT32, ("faces", "3"))
        faces = k.array("faces tri_ids indices", kind, shape, init="index_of:verts")
        count = extent(faces, 0)
    here = k.let("x here", x.at(*c.at))
    total = k.let("total angle_sum wn", k.lift(0.0, FLOAT32))
    with k.for_("f t", count) as f:
        if faces is None:
            corners = [v.at(f, n) for n in range(3)]
        elif isinstance(faces[tuple([f] if isinstance(kind, Vec) else [f, 0])].type, Vec):
            face = k.let("face ids", faces[f])
            corners = [v.at(face[n]) for n in range(3)]
        else:
            corners = [v.at(faces[index(f, n)]) for n in range(3)]
        a, b, d = (k.let(n, p - here) for n, p in zip("abc", corners, strict=True))
        la, lb, ld = (
            k.let(f"l{n}", fn("length", p)) for n, p in zip("abc", (a, b, d), strict=True)
        )
        det = k.let("det triple", dot(a, fn("cross", b, d)))
        low = la * lb * ld + dot(a, b) * ld + dot(b, d) * la + dot(d, a) * lb
        k.augment(total, "add", atan2(det, k.let("denom cos_part", low)))
    return _winding_number_stored(faces, x, v, total, c, k)


def _winding_number_stored(
    faces: Var | None, x: Points, v: Points, total: Var, c: Crowd, k: KernelBuilder
) -> Title:
    """What :func:`winding_number` stores, and its text."""
    by = f" by {faces.name}" if faces is not None else ""
    text = (
        f"Compute the generalised winding number of a mesh about each point of {x.name}: sum "
        f"atan2(a.(b x c), |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|) over the triangles "
        f"{v.name}{by} with corners a, b, c relative to the point. "
    )
    found = total / TWO_PI
    if c.chance(0.4, 2):
        inside = k.scalar("threshold iso", FLOAT32, 0.08, 0.2)
        w = k.let("w winding", found)
        flag = one_if(abs(w) > inside)
        text += (
            f"Store the sum over 2 * pi in {c.put('winding w_out', w)} and 1 in "
            f"{c.put('inside is_inside', flag)} where its size exceeds {inside.name}, else 0."
        )
    else:
        text += f"Store the sum over 2 * pi in {c.put('winding w_out', found)}."
    return Title(k.name("winding_number mesh_winding winding_numbers"), text)


@idiom
def support_points(k: KernelBuilder, level: int) -> Title:
    """GJK's support mapping: the hull vertex farthest along a direction, of turned hulls."""
    shape = k.draw.shape
    k.size("m", 30, 44)
    at = k.thread("m", names=(k.name("i tid pair"),))
    c = Crowd(k, level, VEC3, ("m",), at)
    flat = shape.chance(0.4)
    dims = ("n",) if flat else ("shapes", "n")
    k.size("n", 6, 10, minimum=2)
    if not flat:
        k.size("shapes", 3, 5)
    v = points_of(k, VEC3, "hull_verts vertices hull_points", -1.0, 1.0, dims)
    lead: tuple[Expr, ...] = ()
    if not flat:
        which = k.array("hull_ids shape_ids", INT32, "m", init="index_of:shapes")
        lead = (k.let("h hull_i", which[at]),)
    return _support_points_found(c, v, lead)


def _support_points_found(c: Crowd, v: Points, lead: tuple[Expr, ...]) -> Title:
    """The vertex of :func:`support_points`, what is stored of it, and the text."""
    k, shape = c.k, c.shape
    directions = c.array("directions search_dirs", VEC3, init="unit")
    d = k.let("d dir_w axis", directions[c.at])
    turned = shape.chance(0.6)
    local: Expr = d
    text = f"For each unit vector d of {directions.name}, find the vertex of "
    text += f"{'its' if lead else 'the'} hull in {v.name} that lies farthest along d, the first of "
    text += "equals"
    if turned:
        turns = c.array("rotations orientations", Quat(FLOAT32), init="unit")
        rot = k.let("q rot", turns[c.at])
        local = k.let("local_d d_body", fn("quat_rotate_inv", rot, d))
        text += f", the hull being turned by {turns.name}"
    best = _farthest(k, v, lead, local)
    picked = k.let("far_v support", v.at(*lead, best))
    world: Expr = fn("quat_rotate", rot, picked) if turned else picked
    said = "the vertex as turned" if turned else "the vertex"
    if c.chance(0.4, 2):
        place = c.array("centers hull_pos", VEC3, -1.0, 1.0)
        world = place[c.at] + world
        said = f"{place.name} plus {said}"
    if c.chance(0.4, 2):
        radius = k.scalar("margin radius", FLOAT32, 0.05, 0.3)
        world = world + radius * d
        said = f"{said} plus {radius.name} * d"
    text += f". {c.put('supports support_out', world)} gets {said}."
    if shape.chance(0.6):
        text += f" {c.put('vertex_ids support_ids', best)} gets its index."
    return Title(k.name("support_points gjk_support hull_support"), text)


def _farthest(k: KernelBuilder, v: Points, lead: tuple[Expr, ...], d: Expr) -> Var:
    """The vertex with the largest projection."""
    best = k.let("best far_i arg", k.lift(0, INT32))
    far = k.let("far top", dot(v.at(*lead, 0), d))
    with k.for_("j s", v.count, start=1) as j:
        along = k.let("along proj", dot(v.at(*lead, j), d))
        with k.if_(along > far):
            k.assign(far, along)
            k.assign(best, j)
    return best


_Plane = Callable[[Expr], tuple[Expr, Expr]]


_SIDES = 6
"""Planes of a view."""


def _planes(
    k: KernelBuilder, dims: tuple[str, ...], lead: tuple[Expr, ...]
) -> tuple[_Plane, Expr, str]:
    """Planes as four numbers each, or as normals and offsets: one of them, their count, a text."""
    many, sides = str(_SIDES), k.lift(_SIDES, INT32)
    if k.draw.shape.chance(0.5):
        planes = k.array("planes frustum", Vec(4, FLOAT32), (*dims, many), low=-1.0, high=1.0)

        def packed(s: Expr) -> tuple[Expr, Expr]:
            plane = k.let("plane eq_p", planes[index(*lead, s)])
            return k.let("n normal", make(VEC3, plane[0], plane[1], plane[2])), plane[3]

        return packed, sides, f"{planes.name} (the unit normal n, then d)"
    normals = k.array("plane_normals inward", VEC3, (*dims, many), init="unit")
    offs = k.array("plane_offsets plane_d", FLOAT32, (*dims, many), low=0.2, high=1.5)

    def split(s: Expr) -> tuple[Expr, Expr]:
        return k.let("n normal", normals[index(*lead, s)]), offs[index(*lead, s)]

    return split, sides, f"{normals.name} (unit vectors n) and {offs.name} (d)"


@idiom
def frustum_culling(k: KernelBuilder, level: int) -> Title:
    """Spheres or boxes against the planes of a view: out at the first plane, or each marked."""
    shape = k.draw.shape
    c = crowd(k, level, space=3, sizes=(48, 72))
    c.vec = VEC3
    p = points_of(k, VEC3, "centers positions", -2.0, 2.0, c.dims, level)
    several = len(c.dims) > 1 and shape.chance(0.6)
    lead_dims = c.dims[:1] if several else ()
    lead = c.at[:1] if several else ()
    way = shape.choice(("first", "state", "bits"))
    plane_of, count, said = _planes(k, lead_dims, lead)
    return _frustum_culling_worked(way, k, c, p, count, plane_of, said)


def _frustum_culling_worked(
    way: str, k: KernelBuilder, c: Crowd, p: Points, count: Expr, plane_of: _Plane, said: str
) -> Title:
    """What :func:`frustum_culling` stores, and its text."""
    box = k.draw.shape.chance(0.45)
    size = k.array(
        "half_sizes extents" if box else "radii radius",
        VEC3 if box else FLOAT32,
        c.dims,
        low=0.1,
        high=0.6,
    )
    x, r = k.let("x center_i", p.at(*c.at)), k.let("half h_i" if box else "r rad", size[c.at])
    found = k.let(
        {"first": "visible", "state": "state", "bits": "mask bits"}[way],
        k.lift(1 if way == "first" else 0, INT32),
    )
    with k.for_("s pl", count) as s:
        n, offset = plane_of(s)
        away = k.let("away dist", dot(n, x) + offset)
        reach: Expr = dot(r, fn("abs", n)) if box else r
        reach = c.maybe("reach ext", reach, 1.0 if way == "state" and box else 0.4)
        if way == "first":
            with k.if_(away < -reach):
                k.assign(found, 0)
                k.break_()
        elif way == "state":
            with k.if_(away < -reach):
                k.assign(found, 2)
                k.break_()
            with k.if_(away < reach):
                k.assign(found, 1)
        else:
            with k.if_(away < -reach):
                k.assign(found, found | (k.lift(1, INT32) << s))
    return _frustum_culling_stored(way, box, said, p, size, found, c, k)


def _frustum_culling_stored(
    way: str, box: bool, said: str, p: Points, size: Var, found: Var, c: Crowd, k: KernelBuilder
) -> Title:
    """What :func:`frustum_culling` stores, and its text."""
    what = {
        "first": "0 if it lies wholly behind a plane, else 1",
        "state": "2 if it lies wholly behind a plane, else 1 if it crosses one, else 0",
        "bits": "a mask with a bit for each plane that it lies wholly behind",
    }[way]
    kind = "boxes" if box else "spheres"
    outs = {
        "first": "visible_out is_visible",
        "state": "cull_states states_out",
        "bits": "outside_masks plane_masks",
    }[way]
    text = (
        f"Test the {kind} about {p.name} with {'half sides' if box else 'radii'} {size.name} "
        f"against the six planes {said}: the centre x lies dot(n, x) + d before one and reaches "
        f"{'dot(half sides, |n|)' if box else 'its radius'} along n. {c.put(outs, found)} "
        f"gets {what}."
    )
    names = "frustum_culling cull_spheres" if not box else "frustum_culling cull_boxes"
    return Title(k.name(names), text)
