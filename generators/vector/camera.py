"""Cameras: points to pixels, pixels to rays, lens distortion."""

from __future__ import annotations

from collections.abc import Mapping

from generators.build import BodyBuilder, KernelBuilder, cast, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log, most
from generators.kit.naming import BY_LEVEL, applied, maybe
from generators.kit.outputs import deliver
from generators.kit.records import Part, record
from generators.kit.sites import Site, launch, over
from generators.kit.sources import given
from generators.kit.words import say
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var
from generators.vector.shelf import VectorShelf, further, settings

Parts = Mapping[str, Expr]


class Camera:
    """A camera as a struct by value, or as parameters of the kernel."""

    def __init__(self, site: Site, level: int, scalar: Scalar, projects: bool = False) -> None:
        shape = site.k.draw.shape
        self.k, self.site, self.scalar = site.k, site, scalar
        self.vec, self.flat = Vec(3, scalar), Vec(2, scalar)
        self.square = shape.chance(0.4)
        self.posed = level >= 2 or (projects and shape.chance(0.6))
        self.aimed, self.lens = self.posed, ""
        if projects and shape.chance(0.4 if level == 1 else 0.6):
            self.lens = shape.choice(("radial", "two_terms", "division"))
        focal = Part("focal f_len", scalar, 0.8, 1.8)
        if not self.square:
            focal = Part("focal f_xy", self.flat, 0.8, 1.8)
        parts = {"focal": focal, "center": Part("center principal_point", self.flat, -0.3, 0.3)}
        if self.posed:
            parts["eye"] = Part("eye position cam_pos", self.vec, -0.8, 0.8)
        if self.aimed:
            names = site.k.draw.word.choice(("right up forward", "x_axis y_axis z_axis")).split()
            axes = zip(("right", "up", "forward"), names, strict=True)
            parts |= {key: Part(name, self.vec, init="unit") for key, name in axes}
        if self.aimed and projects:
            parts["near"] = Part("near min_depth z_near", scalar, 0.4, 0.9)
        if self.lens:
            parts["k1"] = Part("k1 dist_k1 lens_k", scalar, 0.02, 0.1)
        if self.lens == "two_terms":
            parts["k2"] = Part("k2 dist_k2 lens_k2", scalar, 0.001, 0.01)
        self.record = record(site, "Camera Pinhole Intrinsics", parts, 0.65, shared=True)
        self.parts: Parts = self.record.values
        self.say = self.record.say

    def focal(self, parts: Parts, axis: int) -> Expr:
        return parts["focal"] if self.square else parts["focal"][axis]

    def setting(self, names: str, low: float, high: float, each: int = 0) -> Expr:
        """A number that all share, or (for some) one of each point."""
        return given(self.site, names, self.scalar, low, high, shared=4, each=each)

    @property
    def bend(self) -> str:
        """What the lens multiplies points of the image plane by, r their distance from the axis."""
        if self.lens == "division":
            return f"1 / (1 + {self.say('k1')} * r^2)"
        more = f" + {self.say('k2')} * r^4" if self.lens == "two_terms" else ""
        return f"(1 + {self.say('k1')} * r^2{more})"

    @property
    def formula(self) -> str:
        """How a point becomes a pixel."""
        say, seen = self.say, "with (x, y, z) = p"
        if self.aimed:
            seen = f"with x, y and z the parts of p - {say('eye')} along {say('right')}, "
            seen += f"{say('up')} and {say('forward')} (z at least {say('near')})"
        focal = f"multiplied by {say('focal')}{'' if self.square else ' (by component)'}"
        bent = f"scaled by {self.bend}, r being its length, " if self.lens else ""
        return f"{seen}, the pixel is (x, y) / z, {bent}{focal} and moved by {say('center')}"

    def pixel(self, level: int, point: Expr) -> Expr:
        """The projection in a helper that takes the camera, or in place."""
        k, r = self.k, self.record
        if r.whole is None or not (level >= 4 or k.draw.shape.chance(BY_LEVEL[level])):
            return to_pixel(k, self, self.parts, point)

        def inner(b: BodyBuilder, whole: Expr, p: Expr) -> Expr:
            return to_pixel(b, self, {key: field(whole, f.name) for key, f in r.fields.items()}, p)

        names = "project_point to_pixel world_to_image"
        return applied(k, 1.0, names, {"cam": r.whole, "p": point}, inner)


def to_pixel(b: BodyBuilder, cam: Camera, parts: Parts, p: Expr) -> Expr:
    """The pixel of a point, which lies ahead of the camera."""
    q: Expr = b.let("rel q", p - parts["eye"]) if cam.posed else p
    if cam.aimed:
        axes = {"xc": "right", "yc": "up", "zc": "forward"}
        x, y, z = (b.let(name, dot(q, parts[axis])) for name, axis in axes.items())
        return _divided(b, cam, parts, (x, y, b.let("depth w", most(z, parts["near"]))))
    return _divided(b, cam, parts, (q[0], q[1], maybe(b, "depth z", q[2], 0.4)))


def _divided(b: BodyBuilder, cam: Camera, parts: Parts, xyz: tuple[Expr, Expr, Expr]) -> Expr:
    """The perspective division, distortion, focal length and principal point."""
    x, y, depth = xyz
    fx, fy, center = cam.focal(parts, 0), cam.focal(parts, 1), parts["center"]
    if not cam.lens and b.draw.shape.chance(0.4):
        return make(cam.flat, fx * x / depth + center[0], fy * y / depth + center[1])
    inv = b.let("inv_z rz", 1.0 / depth)
    if not cam.lens:
        return make(cam.flat, fx * x * inv + center[0], fy * y * inv + center[1])
    xn, yn = b.let("xn x_img", x * inv), b.let("yn y_img", y * inv)
    r2 = b.let("r2 radius_sq", xn * xn + yn * yn)
    rate = parts["k1"] + parts["k2"] * r2 if cam.lens == "two_terms" else parts["k1"]
    factor = 1.0 + r2 * rate
    bend = b.let("bend radial", 1.0 / factor if cam.lens == "division" else factor)
    return make(cam.flat, fx * bend * xn + center[0], fy * bend * yn + center[1])


def _projected(k: KernelBuilder, level: int, site: Site, scalar: Scalar) -> str:
    """Points to the image."""
    cam = Camera(site, level, scalar, projects=True)
    if cam.aimed or k.draw.shape.chance(0.9):
        low, high = (-2.0, 2.0) if cam.aimed else (0.6, 3.0)
        source: Expr = site.read("points landmarks vertices seen_points", cam.vec, low, high)
        where = say(k, source)
    else:
        flat = site.read("points_xy lateral", cam.flat, -1.5, 1.5)
        deep = site.read("depths ranges", scalar, 2.0, 5.0)
        where = f"(x, y) of {say(k, flat)} with z from {say(k, deep)}"
        side = k.let("xy side", flat)
        source = make(cam.vec, side[0], side[1], deep)
    uv = cam.pixel(level, k.let("p point", source))
    distorted = " with radial distortion" if cam.lens else ""
    done = (
        f"Project each point to the image of a pinhole camera{distorted}. For each p of {where}, "
    )
    done += f"{cam.formula}. Take the pixel."
    if level >= 3:
        uv = k.let("image_pt coords", uv)
    done += deliver(site, level, "pixels image_points uv_out", uv)
    if level >= 4:
        for form in k.draw.shape.sample(("error", "robust", "bin"), 2 if level >= 5 else 1):
            done += _checked(cam, form, uv)
    return done


def _checked(cam: Camera, form: str, uv: Expr) -> str:
    """The column of tiles that the point is in, or how far it is from where it was seen."""
    k, site = cam.k, cam.site
    if form == "bin":
        cell = cam.setting("tile bin_size", 0.1, 0.3)
        out = site.put("tiles columns", cast(fn("floor", uv[0] / cell), INT32))
        return f" {out.name} gets floor(its x / {say(k, cell)})."
    seen = site.read("observed keypoints", cam.flat, -1.0, 1.0)
    gap = k.let("resid err", uv - seen)
    if form == "error":
        out = site.put("pixel_errors errors", fn("length", gap))
        return f" {out.name} gets its distance from {say(k, seen)}."
    scale = cam.setting("sigma huber_scale", 0.3, 1.0)
    out = site.put("costs robust_cost", log(1.0 + dot(gap, gap) / (scale * scale)))
    name = say(k, scale)
    return f" {out.name} gets log(1 + d^2 / {name}^2), d its distance from {say(k, seen)}."


def _rays(k: KernelBuilder, level: int, site: Site, scalar: Scalar) -> str:
    """A ray through each pixel of the launch."""
    cam = Camera(site, level, scalar)
    row, col = (index for index in site.at if isinstance(index, Var))
    height = k.size_param("height num_rows", site.dims[0])
    width = k.size_param("width num_cols", site.dims[1])
    (u_name, v_name), (x_name, y_name) = (
        k.draw.word.choice(c).split() for c in (("u v", "px py"), ("x y", "dx dy", "sx sy"))
    )
    u = k.let(u_name, (cast(col, scalar) + 0.5) / cast(width, scalar) - 0.5)
    v = k.let(v_name, (cast(row, scalar) + 0.5) / cast(height, scalar) - 0.5)
    center, parts = cam.parts["center"], cam.parts
    x = k.let(x_name, (u - center[0]) / cam.focal(parts, 0))
    y = k.let(y_name, (v - center[1]) / cam.focal(parts, 1))
    along = k.draw.shape.chance(0.5)
    kind = "range" if along else "depth"
    task = "Find the viewing ray of each pixel of a pinhole camera"
    task = task if level == 1 else f"Lift each pixel of a pinhole camera's {kind} image to a point"
    done = f"{task}. The pixel's centre, scaled to [-0.5, 0.5] by "
    done += f"{width.name} and {height.name}, less {cam.say('center')} and over "
    done += f"{cam.say('focal')}, is (a, b); the ray's direction is d = "
    if cam.aimed:
        aim: Expr = parts["forward"] + x * parts["right"] + y * parts["up"]
        done += f"{cam.say('forward')} + a * {cam.say('right')} + b * {cam.say('up')}"
    else:
        aim = make(cam.vec, x, y, k.lift(1.0, scalar))
        done += "(a, b, 1)"
    d = k.let("d ray_dir aim", aim)
    if level == 1:
        unit = fn("normalize", d)
        return f"{done}. Take d / |d|." + deliver(site, level, "rays ray_dirs", unit)
    reach = site.read("range_image ranges" if along else "depth depth_map", scalar, 0.5, 3.0)
    offset = reach * fn("normalize", d) if along else reach * d
    point = k.let("point world", parts["eye"] + offset)
    done += f". Take {cam.say('eye')} + {say(k, reach)} * {'d / |d|' if along else 'd'}."
    done += deliver(site, level, "points_out cloud world_points", point)
    done += " Let p be that point." if level >= 4 else ""
    return done + (_cloud(cam, level, point, reach) if level >= 4 else "")


def _cloud(cam: Camera, level: int, point: Var, reach: Expr) -> str:
    """What else is told of a point of the cloud."""
    ways = {"shared": 3}
    parts = settings(cam.scalar, ways, _CLOUD_RANGES) | {
        "up": Part("gravity_dir world_up", cam.vec, init="unit", forms={"shared": 1}),
        "n": Part("plane_n floor_normal", cam.vec, init="unit", forms={"shared": 1}),
    }
    known = {"p": point, "reach": reach}
    names = {"p": "p", "reach": say(cam.k, reach)}
    count = 2 if level >= 5 else 1
    return further(cam.site, _CLOUD.cards, count, known, parts, names)


_CLOUD_RANGES = {
    "far": ("max_range far_limit", 1.2, 2.4),
    "height": ("plane_d floor_d", 0.1, 0.6),
    "fog": ("fog extinction", 0.1, 0.5),
}
_CLOUD = VectorShelf(scalars="reach far height fog")
_CLOUD.add("elevation", "heights elevation", lambda p, up: dot(p, up))
_CLOUD.add("clearance", "clearance floor_dist", lambda p, n, height: dot(p, n) - height)
_CLOUD.add("visibility", "visibility fade_out", lambda p, fog: exp(-fog * fn("length", p)))
_CLOUD.add(
    "usable",
    "usable in_range",
    lambda reach, far: cast(reach < far, INT32),
    "1 where {reach} is less than {far}, else 0",
)


@idiom(depth=2)
def pinhole_camera(k: KernelBuilder, level: int) -> Title:
    """Points to pixels through a camera, and pixels to rays and points."""
    scalar = k.draw.wide_float_type()
    if k.draw.shape.chance(0.75 if level == 1 else 0.5):
        site = launch(k, list=5, batch=3 + level // 3)
        done = _projected(k, level, site, scalar)
        return Title(k.name("project_points pinhole_project camera_projection"), done)
    sides = k.draw.word.choice(("h w", "height width", "img_h img_w"))
    at = k.draw.word.choice(("row col", "y x", "i j"))
    site = over(k, sides, at, ((7, 10), (7, 11)), form="grid")
    names = "camera_rays pixel_rays ray_directions" if level == 1 else "unproject_depth backproject"
    return Title(k.name(names), _rays(k, level, site, scalar))
