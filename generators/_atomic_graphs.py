"""Graphs and meshes: springs, messages along edges, sparse products, fluxes, vertex normals."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.dtypes import INT32, Scalar, Vec
from generators.expr import Expr, Var, op
from generators.pieces import helper
from generators.registry import Title


def _ends(k: KernelBuilder, n: str, m: str) -> tuple[Var, Var]:
    """The two ends of each edge."""
    pairs = (("src", "dst"), ("head", "tail"), ("edge_a", "edge_b"), ("from_node", "to_node"))
    first, second = k.draw.word.choice(pairs)
    return tuple(k.array(e, INT32, n, init=f"index_of:{m}") for e in (first, second))  # type: ignore[return-value]


def _skip_loops(k: KernelBuilder, a: Expr, b: Expr, share: float) -> str:
    if not k.draw.shape.chance(share):
        return ""
    with k.if_(fn("eq", a, b)):
        k.return_()
    return " Edges from a node to itself are ignored."


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
    law = "linear" if level == 1 else shape.choice(("rest", "rest", "cubic", "soft"))
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


def message_passing(k: KernelBuilder, level: int) -> Title:
    """Messages along the edges of a graph, gathered at the target nodes."""
    shape, type_ = k.draw.shape, k.draw.wide_float_type()
    n, m = k.size("num_edges", 64, 90), k.size("num_nodes", 10, 16)
    a, b = _ends(k, n, m)
    channels = shape.chance(0.6 if level >= 2 else 0.4)
    c = k.size("channels", 3, 5) if channels else ""
    dims = (m, c) if channels else (m,)
    h = k.array(("features", "h", "state", "rank"), type_, dims, low=0.2, high=2.0)
    weight = (
        k.array(("edge_weight", "w", "attn"), type_, n, low=0.2, high=1.0)
        if shape.chance(0.6)
        else None
    )
    degree = k.array(("degree", "deg"), INT32, m, low=1, high=6) if shape.chance(0.5) else None
    reduce_ = shape.choice(("add", "add", "max")) if level >= 2 else "add"
    start: object = 0 if reduce_ == "add" else "-1.0e6"
    out = k.accumulator(("aggregated", "messages", "out_state", "inbox"), type_, dims, start)
    both = level >= 3 and shape.chance(0.5)
    place = k.thread(n, c, names=("e", "c")) if channels else k.thread(n, names=("e",))
    e = place[0]
    s = a[e] if shape.chance(0.3) else k.let(("s", "u", "source"), a[e])
    t = b[e] if shape.chance(0.3) else k.let(("t", "v", "target"), b[e])
    loops = _skip_loops(k, s, t, 0.0 if level < 3 else 0.6)

    def at(node: Expr) -> tuple[Expr, ...]:
        return (node, place[1]) if channels else (node,)

    form = shape.choice(
        ("plain", "difference", "relu", "gated")
        if level >= 2
        else ("plain", "scaled", "difference")
    )
    value, text = _message(k, form, h[at(s)], h[at(t)])
    if weight is not None:
        value, text = weight[e] * value, f"{weight.name}[e] * {text}"
    if degree is not None:
        norm = cast(degree[s], type_)
        if shape.chance(0.5):
            value, text = value / norm, f"{text} / {degree.name}[s]"
        else:
            both_ends = fn("sqrt", norm * cast(degree[t], type_))
            value, text = value / both_ends, f"{text} / sqrt({degree.name}[s] * {degree.name}[t])"
    message = value if shape.chance(0.3) and not both else k.let(("msg", "message"), value)
    k.atomic(reduce_, out, at(t), message)
    if both:
        k.atomic(reduce_, out, at(s), message)
    verb = "Add" if reduce_ == "add" else "Keep the largest"
    done = f"For each edge e from s = {a.name}[e] to t = {b.name}[e]: {verb.lower()} {text} "
    done += f"{'to' if reduce_ == 'add' else 'in'} {out.name} at t"
    done += " and at s" if both else ""
    done += f", where h_s and h_t are {h.name} of the two ends"
    done += ", for each channel c." if channels else "."
    name = ("message_passing", "gather_messages", "propagate", "graph_conv", "push_rank")
    return Title(k.name(*name), f"{done}{loops}")


def _message(k: KernelBuilder, form: str, hs: Expr, ht: Expr) -> tuple[Expr, str]:
    if form == "plain":
        return hs, "h_s"
    if form == "scaled":
        damping = k.draw.value.choice((0.85, 0.9, 0.5))
        return damping * hs, f"{damping} * h_s"
    if form == "difference":
        return hs - ht, "(h_s - h_t)"
    if form == "relu":
        return fn("max", hs - ht, 0.0), "max(h_s - h_t, 0)"
    gate = k.let(("gate", "g"), 1.0 / (1.0 + fn("exp", -ht)))
    return gate * hs, "h_s / (1 + exp(-h_t))"


def sparse_product(k: KernelBuilder, level: int) -> Title:
    """A sparse matrix in coordinate form times a vector or a dense matrix."""
    shape = k.draw.shape
    whole = shape.chance(0.2)
    type_ = shape.choice((INT32, Scalar("int64"))) if whole else k.draw.wide_float_type()
    n, rows, cols = k.size("nnz", 64, 96), k.size("rows", 8, 12), k.size("cols", 8, 12)
    r = k.array(("row_idx", "rows_coo", "ri"), INT32, n, init=f"index_of:{rows}")
    c = k.array(("col_idx", "cols_coo", "ci"), INT32, n, init=f"index_of:{cols}")
    low, high = (-9, 9) if whole else (-2.0, 2.0)
    values = k.array(("values", "vals", "data"), type_, n, low=low, high=high)
    dense = shape.chance(0.5)
    d = k.size("depth", 3, 5) if dense else ""
    x = k.array(("x", "rhs", "dense"), type_, (cols, d) if dense else cols, low=low, high=high)
    turned = shape.chance(0.35)
    out_dims = (rows, d) if dense else (rows,)
    y = k.accumulator(("y", "out_vec", "result"), type_, out_dims)
    alpha = k.scalar(("alpha", "scale"), type_, 2, 5) if level >= 2 and shape.chance(0.5) else None
    mirror = level >= 3 and shape.chance(0.6)
    z = k.accumulator(("z", "out_t"), type_, (cols, d) if dense else cols) if mirror else None
    w = (
        k.array(("u", "left"), type_, (rows, d) if dense else rows, low=low, high=high)
        if mirror
        else None
    )
    diag = k.accumulator(("diag", "diagonal"), type_, rows) if level >= 4 else None
    counts = (
        k.accumulator(("row_counts", "row_nnz"), INT32, rows)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    loop = dense and shape.chance(0.5)
    if dense and not loop:
        e, q = k.thread(n, d, names=("e", k.name("q", "col_out")))
    else:
        (e,) = k.thread(n, names=(k.name("e", "tid", "nz"),))
        q = e
    short = level <= 2 and shape.chance(0.4)
    row: Expr = r[e] if short else k.let(("row", "i"), r[e])
    col: Expr = c[e] if short or (level <= 2 and shape.chance(0.3)) else k.let(("col", "j"), c[e])
    value: Expr = values[e]
    text = f"{values.name}[e] * {x.name} at column"
    if alpha is not None:
        value, text = alpha * value, f"{alpha.name} * {text}"
    if turned or mirror or dense:
        value = k.let(("a", "entry", "v"), value)
    drop = ""
    if level >= 4 and not whole:
        eps = k.scalar(("tol", "drop_tol"), type_, 0.2, 0.6)
        with k.if_(fn("abs", value) < eps):
            k.return_()
        drop = f" Entries of absolute value below {eps.name} are dropped."

    def product(p: Expr | None) -> None:
        def at(node: Expr) -> tuple[Expr, ...]:
            return (node,) if p is None else (node, p)

        k.atomic("add", y, at(row), value * x[at(col)])
        if z is not None and w is not None:
            k.atomic("add", z, at(col), value * w[at(row)])

    if loop:
        with k.for_(("p", "s"), k.trip_count(("num_rhs", "width"), d)) as p:
            product(p)
    else:
        product(q if dense else None)
    done = f"Add {text} {c.name}[e] to {y.name} at row {r.name}[e] for each stored entry e"
    done += ", for each column of the dense matrix" if dense else ""
    if z is not None and w is not None:
        done += f"; add the entry times {w.name} at that row to {z.name} at that column"
    if diag is not None:
        with k.if_(fn("eq", row, col)):
            k.atomic("add", diag, row, value)
        done += f"; add entries of the diagonal to {diag.name}"
    if counts is not None:
        k.atomic("add", counts, row, 1)
        done += f"; count entries of each row in {counts.name}"
    return Title(
        k.name("coo_spmv", "sparse_matvec", "coo_multiply", "scatter_product"), f"{done}.{drop}"
    )


def face_fluxes(k: KernelBuilder, level: int) -> Title:
    """Fluxes through faces between cells: what leaves one cell enters the other."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    n, m = k.size("num_faces", 56, 80), k.size("num_cells", 10, 15)
    a, b = _ends(k, n, m)
    u = k.array(("phi", "temperature", "concentration", "rho"), s, m, low=0.2, high=2.0)
    area = k.array(("area", "face_area"), s, n, low=0.3, high=1.5) if shape.chance(0.5) else None
    form = shape.choice(
        ("diffusion", "upwind", "central") if level >= 2 else ("diffusion", "central")
    )
    speed = (
        k.array(("speed", "un", "normal_vel"), s, n, low=-1.5, high=1.5)
        if form != "diffusion"
        else None
    )
    dist = (
        k.array(("dist", "spacing"), s, n, low=0.5, high=1.5)
        if form == "diffusion" and shape.chance(0.6)
        else None
    )
    mixed = level >= 3 and form != "diffusion" and shape.chance(0.5)
    net = k.accumulator(("residual", "net_flux", "divergence", "balance"), s, m)
    total = (
        k.accumulator(("throughput", "exchanged"), s, m)
        if level >= 3 and shape.chance(0.6)
        else None
    )
    (f,) = k.thread(n, names=(k.name("f", "face", "tid"),))
    left, right = k.let(("left", "owner", "i"), a[f]), k.let(("right", "neighbor", "j"), b[f])
    loops = _skip_loops(k, left, right, 0.4 if level >= 2 else 0.0)
    ul, ur = k.let(("ul", "phi_l"), u[left]), k.let(("ur", "phi_r"), u[right])
    flux: Expr
    if form == "diffusion":
        flux, text = ul - ur, "u_l - u_r"
        if dist is not None:
            flux, text = flux / dist[f], f"({text}) / {dist.name}[f]"
    else:
        assert speed is not None
        vn = k.let(("vn", "w"), speed[f])
        if form == "upwind":
            carried: Expr = fn("where", vn > 0.0, ul, ur)
            if shape.chance(0.5):
                carried = k.let(("carried", "upstream"), carried)
            flux, text = vn * carried, f"w * (u_l where w > 0 else u_r) with w = {speed.name}[f]"
        else:
            flux, text = 0.5 * vn * (ul + ur), f"0.5 * {speed.name}[f] * (u_l + u_r)"
        if mixed:
            nu = k.scalar(("nu", "diffusivity"), s, 0.1, 0.6)
            flux, text = flux + nu * (ul - ur), f"{text} + {nu.name} * (u_l - u_r)"
    if area is not None:
        flux, text = (
            area[f] * flux if shape.chance(0.5) else (flux) * area[f],
            f"{area.name}[f] * ({text})",
        )
    if level >= 4:
        cap = k.scalar(("max_flux", "flux_cap"), s, 0.3, 0.7)
        flux, text = fn("clamp", flux, -cap, cap), f"{text}, clamped to +-{cap.name}"
    flux = k.let(("flux", "q", "transfer"), flux)
    k.atomic("sub", net, left, flux)
    k.atomic("add", net, right, flux)
    done = f"For each face f between cells {a.name}[f] (u_l) and {b.name}[f] (u_r) of {u.name}: "
    done += f"subtract q = {text} "
    done += f"from {net.name} of the first and add it to {net.name} of the second cell."
    if total is not None:
        size = fn("abs", flux)
        if shape.chance(0.5):
            size = k.let(("size", "moved"), size)
        k.atomic("add", total, left, size)
        k.atomic("add", total, right, size)
        done += f" Add |q| to {total.name} of both."
    return Title(
        k.name("face_fluxes", "flux_residual", "exchange_fluxes", "finite_volume_step"),
        f"{done}{loops}",
    )


def vertex_normals(k: KernelBuilder, level: int) -> Title:
    """Normals, areas or masses of triangles, spread over their three vertices."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    vec = Vec(3, s)
    n, m = k.size("num_faces", 40, 64), k.size("num_verts", 14, 20)
    flat = shape.chance(0.5)
    faces = k.array(
        ("faces", "triangles", "indices"),
        INT32,
        (n, "3") if flat else f"3*{n}",
        init=f"index_of:{m}",
    )
    x = k.array(("verts", "points", "vertices"), vec, m, low=-1.0, high=1.0)
    form = shape.choice(("normal", "area", "unit", "mass") if level >= 2 else ("normal", "area"))
    density = None
    if form == "mass" or (level >= 3 and shape.chance(0.5)):
        density = (
            k.array(("density", "thickness"), s, n, low=0.5, high=2.0)
            if shape.chance(0.5)
            else k.scalar(("density", "rho"), s, 0.5, 2.0)
        )
    vector = form in ("normal", "unit")
    out = k.accumulator(
        ("normals", "vertex_normals") if vector else ("vertex_area", "lumped_mass", "weights"),
        vec if vector else s,
        m,
    )
    valence = (
        k.accumulator(("valence", "face_count"), INT32, m)
        if level >= 3 and shape.chance(0.5)
        else None
    )
    center = k.accumulator(("centroid", "moment"), vec, "1") if level >= 4 else None
    degenerate = ""
    (t,) = k.thread(n, names=(k.name("t", "tri", "tid"),))
    ids = [
        k.let(name, faces[t, c] if flat else faces[3 * t + c])
        for c, name in enumerate(
            k.draw.word.choice((("i", "j", "l"), ("a", "b", "c"), ("v0", "v1", "v2")))
        )
    ]
    if form != "normal" or shape.chance(0.3):
        first, second, third_ = ids
        same = op("or", fn("eq", first, second), fn("eq", second, third_))
        with k.if_(op("or", same, fn("eq", first, third_))):
            k.return_()
        degenerate = " Triangles with two equal vertices are skipped."
    p = [k.let(name, x[v]) for name, v in zip(("p0", "p1", "p2"), ids, strict=True)]
    cross = _cross_of(k, p, vec, level)
    value: Expr
    if form == "normal":
        value, text = cross, "cross(p1 - p0, p2 - p0)"
    elif form == "unit":
        value, text = fn("normalize", cross), "the unit normal of cross(p1 - p0, p2 - p0)"
    else:
        third = 0.5 * fn("length", cross) / 3.0 if shape.chance(0.5) else fn("length", cross) / 6.0
        value, text = third, "a third of the area"
    if density is not None:
        factor: Expr = density[t] if density.type != s else density
        value, text = factor * value, f"{density.name} times {text}"
    share = k.let(("share", "contribution", "w"), value)
    for v in ids:
        k.atomic("add", out, v, share)
        if valence is not None:
            k.atomic("add", valence, v, 1)
    done = f"For each triangle t with corners p0, p1, p2 (rows of {faces.name} into {x.name}), "
    done += f"add {text} to {out.name} at its three vertices"
    done += f"; count its vertices in {valence.name}" if valence is not None else ""
    if center is not None:
        k.atomic("add", center, 0, (p[0] + p[1] + p[2]) / 3.0)
        done += f"; add the mean of its corners to {center.name}[0]"
    name = k.name(f"vertex_{form}", f"accumulate_{form}", "mesh_assembly", f"triangle_{form}")
    return Title(name, f"{done}.{degenerate}")


def _cross_of(k: KernelBuilder, p: list[Var], vec: Vec, level: int) -> Expr:
    if level >= 3 and k.draw.shape.chance(0.4):
        name = helper(
            k,
            ("face_normal", "area_vector"),
            [("a", vec), ("b", vec), ("c", vec)],
            lambda _, a, b, c: fn("cross", b - a, c - a),
        )
        return k.let(("n", "normal"), k.call(name, *p))
    if k.draw.shape.chance(0.5):
        e0, e1 = k.let(("e0", "u"), p[1] - p[0]), k.let(("e1", "w"), p[2] - p[0])
        return k.let(("n", "normal"), fn("cross", e0, e1))
    return k.let(("n", "normal"), fn("cross", p[1] - p[0], p[2] - p[0]))
