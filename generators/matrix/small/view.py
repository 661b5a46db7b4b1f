"""4 x 4 transforms of graphics: model, view and projection, clip tests, viewports, normals."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.matrix.small.extras import Extra, extras
from generators.matrix.small.grid import Grid, from_rows, grid, held, say
from generators.program import ir
from generators.program.dtypes import FLOAT32, INT32, Mat, Scalar, Type, Vec
from generators.program.expr import Expr, Var, literal


def _lens(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> tuple[Expr, str]:
    """The projection: given, perspective of its numbers, or orthographic."""
    mat = Mat(4, 4, scalar)
    way = k.draw.shape.choice(
        ("given", "perspective", "orthographic") if level >= 2 else ("given",)
    )
    nil, one = literal(0, scalar), literal(1, scalar)
    if way == "given":
        source = g.supply(("proj", "projection"), ("projs", "projections"), mat, -0.4, 0.8)
        return held(k, ("pm", "lens"), source), say(source)
    if way == "orthographic":
        size = g.supply(
            ("half_size", "extent"), ("half_sizes", "extents"), Vec(3, scalar), 1.0, 3.0
        )
        s = held(k, ("s", "ext"), size)
        value = fn("diag", make(Vec(4, scalar), one / s[0], one / s[1], -one / s[2], one))
        return k.let(("pm", "ortho"), value), f"diag(1 / s0, 1 / s1, -1 / s2, 1), s = {say(size)}"
    names = ("focal", "near", "far")
    bounds = (("0.8", "2.0"), ("0.1", "0.5"), ("6.0", "12.0"))
    if level >= 3 and k.draw.shape.chance(0.5):
        inits = [
            ir.FieldInit(name, scalar, "uniform", *bound)
            for name, bound in zip(names, bounds, strict=True)
        ]
        fields: tuple[tuple[str, Type], ...] = tuple((f.name, f.type) for f in inits)
        struct = k.struct(k.name("Camera", "Lens", "View"), *fields)
        cam = k.scalar(("camera", "cam"), struct, fields=inits)
        parts: list[Expr] = [field(cam, name) for name in names]
        of = f" of {cam.name}"
    else:
        parts = [
            k.scalar((name,), scalar, *bound) for name, bound in zip(names, bounds, strict=True)
        ]
        of = ""
    f, near, far = parts
    depth = k.let(("depth", "range_z"), far - near)
    a = k.let(("za", "c22"), -(far + near) / depth)
    b = k.let(("zb", "c23"), -2.0 * far * near / depth)
    entries = ((f, nil, nil, nil), (nil, f, nil, nil), (nil, nil, a, b), (nil, nil, -one, nil))
    value = from_rows(k, mat, [make(Vec(4, scalar), *line) for line in entries])
    text = "((f, 0, 0, 0), (0, f, 0, 0), (0, 0, -(far + near) / (far - near), -2 far near /"
    text += f" (far - near)), (0, 0, -1, 0)), f the focal{of}"
    return k.let(("pm", "persp"), value), text


def _viewed(k: KernelBuilder, g: Grid, scalar: Scalar, level: int) -> tuple[Expr, str]:
    """Model and view: given, or a camera that looks at a point."""
    mat, vec = Mat(4, 4, scalar), Vec(3, scalar)
    way = k.draw.shape.choice(("model", "both", "look") if level >= 3 else ("model", "both"))
    model = g.supply(("model", "world"), ("models", "world_mats"), mat, -1.0, 1.0)
    if way == "model":
        return held(k, ("mm", "obj"), model), f"{say(model)}"
    if way == "both":
        view = g.supply(("view", "camera_inv"), ("views", "camera_invs"), mat, -1.0, 1.0)
        value = k.let(("mv", "model_view"), view * model)
        return value, f"{say(view)} * {say(model)}"
    eyes = g.array(("eyes", "camera_pos"), vec, 1.5, 3.0)
    aim = g.supply(("look_at", "focus"), ("targets", "focuses"), vec, -0.5, 0.5)
    e = k.let(("eye", "from_p"), eyes[g.index])
    back = k.let(("back", "zc"), fn("normalize", e - aim))
    up = make(vec, literal(0, scalar), literal(1, scalar), literal(0, scalar))
    side = k.let(("side", "xc"), fn("normalize", fn("cross", up, back)))
    top = k.let(("top", "yc"), fn("cross", back, side))
    wide = Vec(4, scalar)
    rows = [make(wide, a[0], a[1], a[2], -fn("dot", a, e)) for a in (side, top, back)]
    rows.append(make(wide, *(literal(n, scalar) for n in (0, 0, 0, 1))))
    view_m = k.let(("view_m", "look"), from_rows(k, mat, rows))
    value = k.let(("mv", "model_view"), view_m * model)
    text = f"V * {say(model)}, V with the rows (a, -dot(a, e)) for a = x, y, z and (0, 0, 0, 1),"
    text += f" e = {eyes.name}, z = normalize(e - {say(aim)}), x = normalize(cross((0, 1, 0), z)),"
    return value, f"{text} y = cross(z, x)"


@idiom
def view_transform(k: KernelBuilder, level: int) -> Title:
    """Vertices through model, view and projection; and what rasterizers do next."""
    shape = k.draw.shape
    g = grid(k, None, "i", "tid", "vert")
    scalar = k.draw.shape.weighted({FLOAT32: 6, Scalar("float64"): 1})
    vec, wide = Vec(3, scalar), Vec(4, scalar)
    points = g.array(("vertices", "positions", "points"), vec, -1.0, 1.0)
    p = k.let(("p", "pos"), points[g.index])
    mv, text = _viewed(k, g, scalar, level)
    lens, lens_text = _lens(k, g, scalar, 1 if "cross" in text else level)
    hom = make(wide, p[0], p[1], p[2], literal(1, scalar))
    early = shape.chance(0.5)
    if early:
        mvp = k.let(("mvp", "full"), lens * mv)
        clip = k.let(("clip", "c"), mvp * hom)
    else:
        view_p = k.let(("view_p", "cam_p"), mv * hom)
        clip = k.let(("clip", "c"), lens * view_p)
    done = f"Let c = P * M * (p, 1), p = {points.name}, M = {text}, P = {lens_text}."
    if level == 1 or shape.chance(0.3):
        target = g.write(("clip_out", "clip_pos"), clip)
        done += f" {target.name} gets c."
    ndc = None
    if level >= 2:
        ndc, more = _divided(k, g, clip, vec, level)
        done += more
    if level >= 3:
        done += _tested(k, g, clip, scalar)
    if level >= 4 and ndc is not None:
        lit = level >= 5 or shape.chance(0.5)
        done += _shaded(k, g, mv, vec, scalar) if lit else _placed(k, g, ndc, scalar)
        done += _placed(k, g, ndc, scalar) if level >= 5 else ""
    menu = {
        "depth": Extra(("depths", "w_out"), lambda: clip[3], "c[3]"),
        "height": Extra(("heights", "clip_y"), lambda: clip[1] - clip[3], "c[1] - c[3]"),
        "ahead": Extra(("view_z", "distances"), lambda: clip[2] + clip[3], "c[2] + c[3]"),
        "radius": Extra(
            ("radii", "off_center"),
            lambda: fn("sqrt", clip[0] * clip[0] + clip[1] * clip[1] + 0.01),
            "sqrt(c[0]^2 + c[1]^2 + 0.01)",
        ),
        "origin": Extra(
            ("origins", "translation"),
            lambda: make(vec, mv[0, 3], mv[1, 3], mv[2, 3]),
            "(M[0, 3], M[1, 3], M[2, 3])",
        ),
    }
    if isinstance(mv, Var) and mv.name in {q.name for q in k.params}:
        del menu["origin"]
    done += extras(g, menu, (shape.integer(0, 1), 0, 1, 1, 1)[level - 1])
    return Title(k.name("view_transform", "transform_vertices", "project_vertices"), done)


def _divided(k: KernelBuilder, g: Grid, clip: Expr, vec: Vec, level: int) -> tuple[Expr, str]:
    """Division by w, which is at least some small value."""

    def build(body: BodyBuilder, c: Expr) -> Expr:
        inv = body.let(("inv_w", "iw"), 1.0 / fn("max", c[3], 0.1))
        return make(vec, c[0] * inv, c[1] * inv, c[2] * inv)

    if level >= 3 and k.draw.shape.chance(0.6):
        made = helper(k, ("to_ndc", "perspective_divide"), (("c", clip.type),), build)
        ndc = k.let(("ndc", "n"), k.call(made, clip))
    else:
        ndc = k.let(("ndc", "n"), build(k, clip))
    target = g.write(("ndc_out", "normalized"), ndc)
    text = "n = (c0, c1, c2) / max(c3, 0.1)"
    return ndc, f" {target.name} gets {text}."


def _tested(k: KernelBuilder, g: Grid, clip: Expr, scalar: Scalar) -> str:
    """Outcodes of the clip planes, or one flag for all of them."""
    code = k.let(("code", "mask_bits"), k.lift(0, INT32))
    if k.draw.shape.chance(0.5):
        for bit, axis in ((1, 0), (4, 1)):
            with k.if_(clip[axis] < -clip[3]):
                k.assign(code, code + bit)
            with k.if_(clip[axis] > clip[3]):
                k.assign(code, code + 2 * bit)
        target = g.write(("outcodes", "clip_codes"), code)
        return (
            f" {target.name} sums 1 where c0 < -c3, 2 where c0 > c3, 4 where c1 < -c3, 8 where"
            " c1 > c3."
        )
    guard = g.supply(("guard", "margin"), ("margins",), scalar, 0.7, 1.8)
    edge = k.let(("edge", "bound"), guard * fn("abs", clip[3]))
    within = fn("and", fn("abs", clip[0]) < edge, fn("abs", clip[1]) < edge)
    with k.if_(within):
        k.assign(code, 1)
    target = g.write(("visible", "kept"), code)
    text = f"1 where |c[0]| and |c[1]| are below {say(guard)} * |c[3]|, else 0"
    return f" {target.name} gets {text}."


def _shaded(k: KernelBuilder, g: Grid, mv: Expr, vec: Vec, scalar: Scalar) -> str:
    """Normals by the upper 3 x 3 part, lit by a lamp."""
    source = g.array(("normals", "vertex_normals"), vec, init="unit")
    n = k.let(("nrm", "n_local"), source[g.index])
    rows = [make(vec, mv[r, 0], mv[r, 1], mv[r, 2]) for r in range(3)]
    upper = k.let(("upper", "linear"), fn("matrix_from_rows", *rows))
    turned = k.let(("turned", "n_view"), upper * n)
    light = g.supply(("light", "sun"), ("lights", "lamps"), vec, -1.0, 1.0)
    size = k.let(("n_size", "norm_n"), fn("length", turned))
    lit = k.let(("lit", "lambert"), fn("dot", turned, light) / size)
    ambient = g.supply(("ambient", "fill"), ("ambients", "fills"), scalar, 0.1, 0.4)
    wrap = k.draw.shape.chance(0.4)
    if wrap:
        value = ambient + (0.5 * lit + 0.5) * (0.5 * lit + 0.5)
        text = f"{say(ambient)} + (l / 2 + 1 / 2)^2"
    else:
        value = ambient + fn("max", lit, 0.0)
        text = f"{say(ambient)} + max(l, 0)"
    target = g.write(("shading", "intensity"), value)
    return (
        f" With m = M's upper left 3 x 3 * {source.name}, l = dot(m, {say(light)}) / |m|,"
        f" {target.name} gets {text}."
    )


def _placed(k: KernelBuilder, g: Grid, ndc: Expr, scalar: Scalar) -> str:
    """Pixels of a viewport, y downward."""
    size = k.scalar(("viewport", "resolution"), Vec(2, scalar), 8.0, 64.0)
    x = 0.5 * (ndc[0] + 1.0) * size[0]
    y = 0.5 * (1.0 - ndc[1]) * size[1]
    target = g.write(("pixels", "screen"), make(Vec(2, scalar), x, y))
    name = size.name
    text = f"((n0 + 1) / 2 * {name}[0], (1 - n1) / 2 * {name}[1])"
    return f" {target.name} gets {text}."
