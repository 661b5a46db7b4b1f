"""Cameras: points to pixels, pixels to rays, lens distortion, clip space."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log
from generators.kit.naming import routine
from generators.kit.outputs import deliver
from generators.kit.records import Part
from generators.kit.sites import Site, launch
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Struct, Type, Vec
from generators.program.expr import Expr, Var
from generators.program.ir import FieldInit


class Camera:
    """A camera as a struct by value, or as parameters of the kernel."""

    def __init__(
        self, k: KernelBuilder, level: int, scalar: Scalar, projects: bool = False
    ) -> None:
        self.k, self.scalar = k, scalar
        self.vec, self.flat = Vec(3, scalar), Vec(2, scalar)
        self.square = k.draw.shape.chance(0.4)
        self.posed = level >= 2 or (projects and k.draw.shape.chance(0.6))
        self.aimed = level >= 3
        parts = [
            Part("focal f_len", scalar, 0.8, 1.8)
            if self.square
            else Part("focal f_xy", self.flat, 0.8, 1.8),
            Part("center principal offset_px", self.flat, -0.3, 0.3),
        ]
        if self.posed:
            parts.append(Part("eye position cam_pos", self.vec, -0.8, 0.8))
        if self.aimed:
            parts += [
                Part("right x_axis", self.vec, init="unit"),
                Part("up y_axis", self.vec, init="unit"),
                Part("forward z_axis", self.vec, init="unit"),
            ]
            near = Part("near min_depth z_near", scalar, 0.4, 0.9)
            parts += [near] if projects else []
        self.lens = _lens(k, level) if projects else ""
        self.lens_at = len(parts)
        if self.lens:
            parts.append(Part("k1 dist_k1 lens_k", scalar, 0.02, 0.1))
        if self.lens == "two_terms":
            parts.append(Part("k2 dist_k2 lens_k2", scalar, 0.001, 0.01))
        self.struct: Struct | None = None
        self.fields: tuple[FieldInit, ...] = ()
        if k.draw.shape.chance(0.65):
            title = k.draw.word.choice(("Camera", "Pinhole", "Intrinsics"))
            self.struct, self.fields = struct_of(k, title, parts)
            whole = k.scalar("cam camera view", self.struct, fields=self.fields)
            self.whole: Expr = whole
            self.parts: list[Expr] = [field(whole, f.name) for f in self.fields]
        else:
            self.parts = [k.scalar(p.names, p.type, p.low, p.high, init=p.init) for p in parts]
        self.names = [say(k, p) for p in self.parts]

    def focal(self, parts: list[Expr], c: int) -> Expr:
        return parts[0] if self.square else parts[0][c]

    @property
    def bend(self) -> str:
        """What the lens multiplies points of the image plane by, r their distance from the axis."""
        k1, *more = self.names[self.lens_at :]
        if self.lens == "division":
            return f"1 / (1 + {k1} * r^2)"
        return f"(1 + {k1} * r^2{f' + {more[0]} * r^4' if more else ''})"


def _lens(k: KernelBuilder, level: int) -> str:
    """How the lens distorts, if it does."""
    if not k.draw.shape.chance(0.4 if level == 1 else 0.6):
        return ""
    return k.draw.shape.choice(("radial", "two_terms", "division"))


def to_pixel(b: BodyBuilder, cam: Camera, parts: list[Expr], p: Expr) -> Expr:
    """The pixel of a point, which lies ahead of the camera."""
    q: Expr = p
    if cam.posed:
        q = b.let("rel q", p - parts[2])
    if cam.aimed:
        axes = zip(("xc", "yc", "zc"), parts[3:6], strict=True)
        x, y, z = (b.let(n, dot(q, axis)) for n, axis in axes)
        depth = b.let("depth w", fn("max", z, parts[6]))
        return _divided(b, cam, parts, (x, y, depth))
    ahead: Expr = b.let("depth z", q[2]) if b.draw.shape.chance(0.4) else q[2]
    return _divided(b, cam, parts, (q[0], q[1], ahead))


def _divided(b: BodyBuilder, cam: Camera, parts: list[Expr], xyz: tuple[Expr, Expr, Expr]) -> Expr:
    """The perspective division, distortion, focal length and principal point."""
    x, y, depth = xyz
    fx, fy = cam.focal(parts, 0), cam.focal(parts, 1)
    if not cam.lens and b.draw.shape.chance(0.4):
        return make(cam.flat, fx * x / depth + parts[1][0], fy * y / depth + parts[1][1])
    inv = b.let("inv_z rz", 1.0 / depth)
    if not cam.lens:
        return make(cam.flat, fx * x * inv + parts[1][0], fy * y * inv + parts[1][1])
    xn, yn = b.let("xn x_img", x * inv), b.let("yn y_img", y * inv)
    r2 = b.let("r2 radius_sq", xn * xn + yn * yn)
    k1, *more = parts[cam.lens_at :]
    factor = 1.0 + r2 * (k1 + more[0] * r2) if more else 1.0 + k1 * r2
    bend = b.let("bend radial", 1.0 / factor if cam.lens == "division" else factor)
    return make(cam.flat, fx * bend * xn + parts[1][0], fy * bend * yn + parts[1][1])


_COMMON = {"shared": 3, "literal": 2}


def _use(k: KernelBuilder, level: int, cam: Camera, point: Expr) -> Expr:
    """The projection in a helper that takes the camera, or in place."""
    if cam.struct is None or not (named_helper(k, level) or level >= 4):
        return to_pixel(k, cam, cam.parts, point)
    kinds: list[tuple[str, Type]] = [("cam", cam.struct), ("p", cam.vec)]

    def inner(b: BodyBuilder, whole: Expr, p: Expr) -> Expr:
        return to_pixel(b, cam, [field(whole, f.name) for f in cam.fields], p)

    use = routine(k, 1.0, "project_point to_pixel world_to_image", kinds, inner)
    return use(cam.whole, point)


def _formula(cam: Camera) -> str:
    names = cam.names
    q = f"q = p - {names[2]}, " if cam.posed else "q = p, " if cam.aimed else ""
    if cam.aimed:
        xyz = (
            f"x, y, z = dot(q, {names[3]}), dot(q, {names[4]}), max(dot(q, {names[5]}), {names[6]})"
        )
    else:
        xyz = "x, y, z = q" if cam.posed else "x, y, z = p"
    image = "m" if cam.lens else "(x, y) / z"
    focal = f"{names[0]} * {image}" + ("" if cam.square else " by component")
    bent = f"m = (x, y) / z times {cam.bend} with r = |(x, y) / z|, " if cam.lens else ""
    return f"{q}{xyz}, {bent}u = {focal} + {names[1]}"


def _projected(k: KernelBuilder, level: int, site: Site, scalar: Scalar) -> str:
    """Points to the image."""
    cam = Camera(k, level, scalar, projects=True)
    if cam.aimed:
        points = site.array("points landmarks vertices", cam.vec, -2.0, 2.0)
        p: Expr = k.let("p point", points[site.at])
        where = points.name
    elif k.draw.shape.chance(0.5):
        names_of = ("points", "seen_points", "cam_points")
        points = site.array(names_of, cam.vec, 0.6, 3.0)
        p = k.let("p point", points[site.at])
        where = points.name
    else:
        flat = site.array("points_xy lateral", cam.flat, -1.5, 1.5)
        deep = site.array("depths ranges", scalar, 2.0, 5.0)
        xy = k.let("xy side", flat[site.at])
        p = k.let("p point", make(cam.vec, xy[0], xy[1], deep[site.at]))
        where = f"({flat.name}, {deep.name})"
    uv = _use(k, level, cam, p)
    done = f"For p = {where}, let {_formula(cam)}. Take u."
    if level >= 3:
        uv = k.let("image_pt coords", uv)
    done += deliver(site, level, "pixels image_points uv_out", uv)
    if level >= 4:
        for form in k.draw.shape.sample("error robust bin", 2 if level >= 5 else 1):
            done += _checked(k, site, cam, form, uv)
    return done


def _checked(k: KernelBuilder, site: Site, cam: Camera, form: str, uv: Expr) -> str:
    """The column of tiles that the point is in, or how far it is from where it was seen."""
    if form == "bin":
        cell = given(site, "tile bin_size", cam.scalar, 0.1, 0.3, forms=_COMMON)
        column = cast(fn("floor", uv[0] / cell), INT32)
        out = site.put("tiles columns", column)
        return f" {out.name} gets floor(its x / {say(k, cell)})."
    seen = site.array("observed keypoints", cam.flat, -1.0, 1.0)
    gap = k.let("resid err", uv - seen[site.at])
    if form == "error":
        out = site.put("pixel_errors errors", fn("length", gap))
        return f" {out.name} gets its distance from {seen.name}."
    scale = given(site, "sigma huber_scale", cam.scalar, 0.3, 1.0, forms=_COMMON)
    value = log(1.0 + dot(gap, gap) / (scale * scale))
    out = site.put("costs robust_cost", value)
    name = say(k, scale)
    return f" {out.name} gets log(1 + d^2 / {name}^2), d its distance from {seen.name}."


def _rays(k: KernelBuilder, level: int, site: Site, scalar: Scalar) -> str:
    """A ray through each pixel of the launch."""
    shape = k.draw.shape
    cam = Camera(k, level, scalar)
    row, col = site.at
    words = zip((("height", "rows"), ("width", "cols")), site.dims, strict=True)
    height, width = (k.size_param(w, d) for w, d in words)
    pair, slopes = (k.draw.word.choice(c) for c in (("u v", "px py"), ("x y", "dx dy", "sx sy")))
    u = k.let(pair.split()[0], (cast(col, scalar) + 0.5) / cast(width, scalar) - 0.5)
    v = k.let(pair.split()[1], (cast(row, scalar) + 0.5) / cast(height, scalar) - 0.5)
    done = f"For pixel ({row.name}, {col.name}) let u = ({col.name} + 0.5) / {width.name} - 0.5, "
    done += f"v = ({row.name} + 0.5) / {height.name} - 0.5, "
    names = cam.names
    x = k.let(slopes.split()[0], (u - cam.parts[1][0]) / cam.focal(cam.parts, 0))
    y = k.let(slopes.split()[1], (v - cam.parts[1][1]) / cam.focal(cam.parts, 1))
    done += f"(x, y) = ((u, v) - {names[1]}) / {names[0]} by component, "
    if cam.aimed:
        aim: Expr = cam.parts[5] + x * cam.parts[3] + y * cam.parts[4]
        done += f"d = {names[5]} + x * {names[3]} + y * {names[4]}"
    else:
        aim = make(cam.vec, x, y, k.lift(1.0, scalar))
        done += "d = (x, y, 1)"
    d = k.let("d ray_dir aim", aim)
    if level == 1:
        done += ". Take d / |d|."
        return done + deliver(site, level, "rays ray_dirs", fn("normalize", d))
    depth = site.array("depth depth_map range_image", scalar, 0.5, 3.0)
    form = shape.choice(("plane", "range"))
    reach = depth[site.at]
    offset = reach * d if form == "plane" else reach * fn("normalize", d)
    point = k.let("point world", cam.parts[2] + offset)
    way = "d" if form == "plane" else "d / |d|"
    done += f". Take {names[2]} + {depth.name} * {way}."
    done += deliver(site, level, "points_out cloud world_points", point)
    if level >= 4:
        done += _cloud(k, level, site, cam, point, reach)
    return done


def _cloud(k: KernelBuilder, level: int, site: Site, cam: Camera, point: Var, reach: Expr) -> str:
    """What else is told of a point of the cloud."""
    done = ""
    for form in k.draw.shape.sample("height plane fade usable", 2 if level >= 5 else 1):
        if form == "height":
            up = k.scalar("gravity_dir world_up", cam.vec, init="unit")
            out = site.put("heights elevation", dot(point, up))
            done += f" {out.name} gets its dot product with {up.name}."
        elif form == "plane":
            n = k.scalar("plane_n floor_normal", cam.vec, init="unit")
            offset = given(site, "plane_d floor_d", cam.scalar, 0.1, 0.6, forms=_COMMON)
            out = site.put("clearance floor_dist", dot(point, n) - offset)
            done += f" {out.name} gets its dot product with {n.name}, less {say(k, offset)}."
        elif form == "usable":
            most = given(site, "max_range far_limit", cam.scalar, 1.2, 2.4, forms=_COMMON)
            seen = fn("where", reach < most, k.lift(1, INT32), k.lift(0, INT32))
            out = site.put("usable in_range", seen)
            done += f" {out.name} gets 1 where {say(k, reach)} is less than {say(k, most)}, else"
            done += " 0."
        else:
            rate = given(site, "fog extinction", cam.scalar, 0.1, 0.5, forms={**_COMMON, "each": 1})
            out = site.put("visibility fade_out", exp(-rate * fn("length", point)))
            done += f" {out.name} gets exp(-{say(k, rate)} * its length)."
    return done


@idiom
def pinhole_camera(k: KernelBuilder, level: int) -> Title:
    """Points to pixels through a camera, and pixels to rays and points."""
    scalar = k.draw.wide_float_type()
    if k.draw.shape.chance(0.75 if level == 1 else 0.5):
        site = launch(k, list=5, batch=3 + level // 3)
        done = _projected(k, level, site, scalar)
        return Title(k.name("project_points to_image camera_projection"), done)
    site = launch(k, grid=1)
    return Title(k.name("camera_rays unproject backproject"), _rays(k, level, site, scalar))
