"""Meshes: fluxes between cells, and what triangles give to their vertices."""

from __future__ import annotations

from generators.atomic.graphs import _ends, _skip_loops
from generators.build import KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Vec
from generators.program.expr import Expr, Var, op


@idiom
def face_fluxes(k: KernelBuilder, level: int) -> Title:
    """Fluxes through faces between cells: what leaves one cell enters the other."""
    shape, s = k.draw.shape, k.draw.wide_float_type()
    n, m = k.size("num_faces", 56, 80), k.size("num_cells", 10, 15)
    a, b = _ends(k, n, m)
    u = k.array(("phi", "temperature", "concentration", "rho"), s, m, low=0.2, high=2.0)
    area = k.array(("area", "face_area"), s, n, low=0.3, high=1.5) if shape.chance(0.5) else None
    form = shape.choice(("diffusion", "upwind", "central"))
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
    walls = ("closed", "is_wall")
    closed = k.array(walls, INT32, n, low=0, high=1) if shape.chance(0.3) else None
    (f,) = k.thread(n, names=(k.name("f", "face", "tid"),))
    left, right = k.let(("left", "owner", "i"), a[f]), k.let(("right", "neighbor", "j"), b[f])
    loops = _skip_loops(k, left, right, 0.4 if level >= 2 else 0.0)
    loops += _shut(k, closed, f)
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
            w = f"{speed.name}[f]"
            flux, text = vn * carried, f"{w} * (u_l where {w} > 0, else u_r)"
        else:
            flux, text = 0.5 * vn * (ul + ur), f"0.5 * {speed.name}[f] * (u_l + u_r)"
        if mixed:
            nu = k.scalar(("nu", "diffusivity"), s, 0.1, 0.6)
            flux, text = flux + nu * (ul - ur), f"{text} + {nu.name} * (u_l - u_r)"
    if form == "diffusion" and shape.chance(0.5):
        conductivity = k.scalar(("conductivity", "diffusion"), s, 0.2, 1.2)
        flux, text = conductivity * flux, f"{conductivity.name} * ({text})"
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


def _shut(k: KernelBuilder, closed: Var | None, f: Var) -> str:
    """Nothing goes through closed faces; says so."""
    if closed is None:
        return ""
    with k.if_(fn("ne", closed[f], 0)):
        k.return_()
    return f" Nothing passes where {closed.name} is set."


@idiom
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
        k.let(name, faces[t, c] if flat else faces[3 * t + c if c else 3 * t])
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
