"""Pinhole cameras: points from the world to the camera and to pixels, and back."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, field, fn, make
from generators.build.registry import Title, idiom
from generators.kit.pieces import helper
from generators.program.dtypes import INT32, Type, Vec
from generators.program.expr import Expr, Var, op
from generators.program.ir import FieldInit
from generators.vector.rigid.parts import Rig, is_set, mask, maybe_named, rig, told, unless


class Extra:
    """Further outputs for each point: its depth, whether it is in the image, its error."""

    def __init__(self, r: Rig, level: int) -> None:
        k, shape = r.k, r.k.draw.shape
        kinds = shape.sample(("depth", "inside", "error"), 1 if level == 3 else 2)
        self.r, self.text = r, ""
        self.outs: dict[str, Var] = {}
        for kind in sorted(kinds):
            if kind == "depth":
                self.form = shape.choice(("z", "range", "inverse"))
                out = k.out(("depths", "ranges"), r.scalar, r.dims)
                text = {"z": "z", "range": "the length of (x, y, z)", "inverse": "1 / z"}
                self.text += f" {out.name} gets {text[self.form]} there, else 0."
            elif kind == "inside":
                self.half = r.given(
                    (), ("half_size", "bound"), r.scalar, 1.0, 2.2, forms={"fixed": 1}
                )
                out = k.out(("visible_out", "in_image", "seen_flags"), INT32, r.dims)
                self.text += f" {out.name} gets 1 there if both pixel coordinates are less than "
                self.text += f"{told(self.half)} in size, else 0."
            else:
                self.seen = r.given(("observed", "measured_uv"), (), Vec(2, r.scalar), -1.5, 1.5,
                                    forms={"each": 1})  # fmt: skip
                self.robust = level >= 4 and shape.chance(0.6)
                out = k.out(("errors", "residuals"), r.scalar, r.dims)
                self.text += f" {out.name} gets the squared distance s of the pixel from "
                self.text += told(self.seen) + (", as s / (1 + s)" if self.robust else "")
                self.text += " there, else 0."
            self.outs[kind] = out

    def miss(self) -> None:
        for kind, out in self.outs.items():
            self.r.k.store(out, self.r.at, 0 if kind == "inside" else 0.0)

    def hit(self, p: Var, pixel: Expr) -> None:
        k, r = self.r.k, self.r
        for kind, out in self.outs.items():
            if kind == "depth":
                values = {"z": p[2], "range": fn("length", p), "inverse": 1.0 / p[2]}
                k.store(out, r.at, values[self.form])
            elif kind == "inside":
                larger = fn("max", fn("abs", pixel[0]), fn("abs", pixel[1]))
                one, nought = k.lift(1, INT32), k.lift(0, INT32)
                k.store(out, r.at, fn("where", larger < self.half, one, nought))
            else:
                miss = maybe_named(k, ("gap", "miss"), pixel - self.seen)
                square = k.let(("square", "sq_err"), fn("length_sq", miss))
                k.store(out, r.at, square / (1.0 + square) if self.robust else square)


class Lens:
    """Focal lengths, principal point and distortion: parameters or a struct by value."""

    def __init__(self, r: Rig, level: int) -> None:
        k, shape = r.k, r.k.draw.shape
        self.r, self.square = r, shape.chance(0.4)
        self.distorted = level >= 3 and shape.chance(0.6)
        keys = ["f"] if self.square else ["fx", "fy"]
        keys += ["cx", "cy"] if shape.chance(0.75) else []
        keys += ["k1", "k2"][: shape.integer(1, 2)] if self.distorted else []
        self.values: dict[str, Expr] = {}
        if shape.chance(0.3 + 0.06 * level):
            fields = [FieldInit(key, r.scalar, "uniform", *map(str, _range(key))) for key in keys]
            struct = k.struct(k.name("Camera", "Intrinsics", "Pinhole"),
                              *((f.name, f.type) for f in fields))  # fmt: skip
            camera = k.scalar(("camera", "lens", "intrinsics"), struct, fields=fields)
            self.values = {key: field(camera, key) for key in keys}
        else:
            for key in keys:
                low, high = _range(key)
                self.values[key] = k.scalar(_NAMES[key], r.scalar, low, high)

    def told(self, key: str) -> str:
        return told(self.values[key])

    def project(self, b: BodyBuilder, p: Expr) -> tuple[Expr, Expr]:
        """The pixel coordinates of a point in the camera's frame."""
        x = b.let(("xn", "nx", "u_n"), p[0] / p[2])
        y = b.let(("yn", "ny", "v_n"), p[1] / p[2])
        if self.distorted:
            r2 = b.let(("r2", "rad_sq"), x * x + y * y)
            bend: Expr = 1.0 + self.values["k1"] * r2
            if "k2" in self.values:
                bend = bend + self.values["k2"] * r2 * r2
            bend = b.let(("bend", "warp_f", "radial"), bend)
            b.augment(x, "mul", bend)
            b.augment(y, "mul", bend)
        fx = self.values["f" if self.square else "fx"]
        fy = self.values["f" if self.square else "fy"]
        u, v = fx * x, fy * y
        if "cx" in self.values:
            u, v = u + self.values["cx"], v + self.values["cy"]
        return u, v

    @property
    def text(self) -> str:
        f = (self.told("f"),) * 2 if self.square else (self.told("fx"), self.told("fy"))
        bend = ""
        if self.distorted:
            more = f" + {self.told('k2')} * r^4" if "k2" in self.values else ""
            bend = f" times (1 + {self.told('k1')} * r^2{more}), r^2 = (x/z)^2 + (y/z)^2"
        plus = [f" + {self.told(c)}" if c in self.values else "" for c in ("cx", "cy")]
        return f"({f[0]} * x/z{plus[0]}, {f[1]} * y/z{plus[1]})" + (
            f", x/z and y/z first multiplied by{bend.removeprefix(' times')}" if bend else ""
        )


_RANGES = {"f": (0.5, 1.3), "c": (-0.5, 0.5), "k1": (-0.04, 0.06), "k2": (-0.003, 0.003)}


def _range(key: str) -> tuple[float, float]:
    return _RANGES[key] if key in _RANGES else _RANGES[key[0]]


_NAMES = {
    "f": ("focal", "f_len"),
    "fx": ("fx", "focal_x"),
    "fy": ("fy", "focal_y"),
    "cx": ("cx", "center_x"),
    "cy": ("cy", "center_y"),
    "k1": ("k1", "dist_1"),
    "k2": ("k2", "dist_2"),
}


def _into_camera(r: Rig, level: int, p: Expr) -> tuple[Expr, str]:
    """The point in the frame of the camera of its row."""
    k, shape = r.k, r.k.draw.shape
    forms = {"first": 4, "shared": 2} if len(r.dims) > 1 else {"shared": 3, "each": 1}
    form = shape.weighted({"pose": 3, "extrinsic": 3, "rpy": 3, "split": 2, "matrix": 2})
    if form in ("pose", "extrinsic", "matrix"):
        many = ("cam_poses", "cameras") if form == "pose" else ("extrinsics", "world_to_cam")
        one = ("cam_pose",) if form == "pose" else ("extrinsic",)
        pose = r.given(many, one, r.pose, -1.0, 1.0, init="unit", forms=forms)
        if form == "matrix":
            m = k.let(("m", "view_mat"), fn("transform_to_matrix", pose))
            h = k.let(("h", "hom"), m * make(Vec(4, r.scalar), p[0], p[1], p[2], r.real(1.0)))
            return make(r.vec, h[0], h[1], h[2]), f"through the transform {told(pose)}"
        if form == "extrinsic":
            return fn("transform_point", pose, p), f"through the transform {told(pose)}"
        into: Expr = fn("transform_inverse", pose)
        if shape.chance(0.5):
            into = k.let(("world_to_cam", "view"), into)
        return fn("transform_point", into, p), f"through the inverse of the transform {told(pose)}"
    eye = r.given(("eyes", "origins"), ("eye", "cam_pos"), r.vec, -1.0, 1.0, forms=forms)
    if form == "split":
        rot = r.given(("cam_rots",), ("cam_rot",), r.quat, init="unit", forms=forms)
        text = f"as {{0}} - {told(eye)} rotated by the inverse of {told(rot)}"
        return fn("quat_rotate_inv", rot, p - eye), text
    angles = r.given(("cam_rpy", "cam_angles"), ("cam_rpy",), r.vec, -1.2, 1.2, forms=forms)
    e = k.let(("e", "tilt"), angles)
    rot = k.let(("rot", "cam_q"), fn("normalize", fn("quat_rpy", e[0], e[1], e[2])))
    text = f"as {{0}} - {told(eye)} rotated by the inverse of the rotation of roll, pitch and yaw "
    return fn("quat_rotate_inv", rot, p - eye), f"{text}in {told(angles)}"


@idiom
def extrinsic_camera(k: KernelBuilder, level: int) -> Title:
    """Pixels of points seen by cameras, with distortion, clipping and depth."""
    shape = k.draw.shape
    r = rig(k, ("i", "tid", "p"), ("cam", "view_id", "frame"), grids={1: 2, 2: 5})
    points = r.given(("points", "landmarks", "vertices"), (), r.vec, -3.0, 3.0,
                     forms={"each": 1} if len(r.dims) == 1 else {"last": 3, "each": 1})  # fmt: skip
    lens = Lens(r, level)
    world: Expr = points
    if level > 1 or shape.chance(0.5):
        world = k.let(("world_p", "x_w", "landmark"), points)
    local, text = _into_camera(r, level, world)
    p = k.let(("pc", "cam_p", "seen"), local)
    near = r.given((), ("near",), r.scalar, 0.4, 1.0, forms={"fixed": 1})
    name = told(points)
    done = f"Take each point of {name} to the camera's frame as (x, y, z), {text.format(name)}."
    clipped = level >= 2 or shape.chance(0.5)
    vec2 = Vec(2, r.scalar)
    if not clipped:
        k.set(p, 2, fn("max", p[2], near))
        u, v = lens.project(k, p)
        out = r.store(("pixels", "uv", "image_points"), make(vec2, u, v))
        done += f" With z raised to {told(near)} where it is less, {out.name} gets {lens.text}."
        return Title(k.name("project_points", "pinhole_project", "points_to_pixels"), done)
    done += _clipped(r, level, lens, p, near, vec2)
    return Title(k.name("project_points", "pinhole_project", "world_to_pixels"), done)


def _clipped(r: Rig, level: int, lens: Lens, p: Var, near: Expr, vec2: Vec) -> str:
    """Pixels of what lies before the near plane; other points get a value of their own."""
    k, shape = r.k, r.k.draw.shape
    out = k.out(("pixels", "uv", "image_points"), vec2, r.dims)
    missing = make(vec2, r.real(-1.0), r.real(-1.0))
    condition: Expr = p[2] > near
    shown = f"z > {told(near)}"
    extra = Extra(r, level) if level >= 3 else None
    if extra is not None and "inside" not in extra.outs and len(r.dims) > 1 and shape.chance(0.6):
        flag = mask(r, ("tracked", "valid", "enabled"), ("tracked",))
        condition, shown = op("and", condition, flag), f"{shown} and {is_set(flag)}"
    early = level >= 2 and extra is None and shape.chance(0.4)

    def fill() -> None:
        k.store(out, r.at, missing)
        if extra is not None:
            extra.miss()

    def project() -> None:
        if level >= 3 and shape.chance(0.5):
            pixel: Expr = _called(k, lens, p, vec2)
        else:
            pixel = make(vec2, *lens.project(k, p))
        if extra is not None or shape.chance(0.4):
            pixel = k.let(("pixel", "uv_here", "spot"), pixel)
        k.store(out, r.at, pixel)
        if extra is not None:
            extra.hit(p, pixel)

    if early:
        fill()
        with k.if_(condition):
            project()
    elif shape.chance(0.5):
        with k.if_(condition):
            project()
        with k.else_():
            fill()
    else:
        with k.if_(unless(condition) if level >= 3 else p[2] <= near):
            fill()
        with k.else_():
            project()
    done = f" Where {shown}, {out.name} gets {lens.text}; elsewhere it gets (-1, -1)."
    return done + (extra.text if extra is not None else "")


def _called(k: KernelBuilder, lens: Lens, p: Expr, vec2: Vec) -> Expr:
    """The projection in a helper function; its lens goes along as arguments."""
    values = dict(lens.values)
    params: list[tuple[str, Type]] = [("p", p.type), *((n, v.type) for n, v in values.items())]

    def build(b: BodyBuilder, p: Expr, *parts: Expr) -> Expr:
        lens.values = dict(zip(values, parts, strict=True))
        result = make(vec2, *lens.project(b, p))
        lens.values = values
        return result

    name = helper(k, ("project", "to_pixel"), params, build, "Pixel of a point before the camera.")
    return k.call(name, p, *values.values())
