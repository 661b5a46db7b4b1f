"""Pinhole cameras: points from the world to the camera and to pixels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn, make
from generators.build.registry import Title, idiom
from generators.kit.masks import as_flag, flag, opposite
from generators.kit.naming import applied, maybe
from generators.kit.records import Part, record
from generators.kit.sources import filled, given
from generators.kit.words import say
from generators.program.dtypes import INT32, Mat, Vec
from generators.program.expr import Expr, Var, op
from generators.vector.rigid.parts import Rig, by_matrix, rig


@dataclass(frozen=True)
class Measure:
    """A further output for each point: the value where it is seen, and what says so."""

    out: Var
    value: Callable[[Var, Expr], Expr]


def _depth(r: Rig, level: int) -> tuple[Measure, str]:
    form = r.k.draw.shape.integer(0, 2)
    text = f"{('z', 'the length of (x, y, z)', '1 / z')[form]} there"

    def value(p: Var, pixel: Expr) -> Expr:
        return (p[2], fn("length", p), 1.0 / p[2])[form]

    names = ("depths z_depths", "ranges ray_lengths", "inv_depths disparities")[form]
    return Measure(r.out(names, r.scalar), value), text


def _inside(r: Rig, level: int) -> tuple[Measure, str]:
    k = r.k
    width_name, height_name = k.draw.word.choice((("width", "height"), ("img_w", "img_h")))
    width = k.scalar(width_name, r.scalar, 60.0, 90.0)
    height = k.scalar(height_name, r.scalar, 40.0, 70.0)
    text = f"1 there if the pixel lies in [0, {width.name}) x [0, {height.name})"

    def value(p: Var, pixel: Expr) -> Expr:
        across = op("and", pixel[0] >= 0.0, pixel[0] < width)
        down = op("and", pixel[1] >= 0.0, pixel[1] < height)
        return as_flag(op("and", across, down), INT32)

    return Measure(r.out("visible_out in_image seen_flags", INT32), value), text


def _miss(r: Rig, level: int) -> tuple[Measure, str]:
    k = r.k
    seen = r.read("observed measured_uv", Vec(2, r.scalar), 0.0, 90.0)
    squared = k.draw.shape.chance(0.5)
    text = f"the {'squared ' * squared}distance of the pixel from {say(k, seen)} there"

    def value(p: Var, pixel: Expr) -> Expr:
        miss = maybe(k, "residual offset", pixel - seen, 0.6)
        return fn("length_sq" if squared else "length", miss)

    names = "squared_errors sq_errors" if squared else "reprojection_errors pixel_errors"
    return Measure(r.out(names, r.scalar), value), text


_RANGES = {"f": (15.0, 40.0), "c": (25.0, 45.0), "k1": (-0.04, 0.06), "k2": (-0.003, 0.003)}
_NAMES = {
    "f": "focal f_len",
    "fx": "fx focal_x",
    "fy": "fy focal_y",
    "cx": "cx center_x",
    "cy": "cy center_y",
    "k1": "k1 radial_k1",
    "k2": "k2 radial_k2",
}


class Lens:
    """Focal lengths, principal point and distortion: parameters or a struct by value."""

    def __init__(self, r: Rig, level: int) -> None:
        shape, self.pixel = r.k.draw.shape, Vec(2, r.scalar)
        keys = ["f"] if shape.chance(0.4) else ["fx", "fy"]
        keys += ["cx", "cy"]
        if level >= 3 and shape.chance(0.6):
            keys += ["k1", "k2"][: shape.integer(1, 2)]
        parts, style = {}, shape.integer(0, 1)
        for key in keys:
            name = _NAMES[key].split()[style]
            parts[key] = Part(name, r.scalar, *_RANGES[key if key in _RANGES else key[0]])
        struct = 0.3 + 0.06 * level
        lens = record(r, "Camera Intrinsics Pinhole", parts, struct, shared=True)
        self.values, self.said = lens.values, {key: lens.say(key) for key in keys}

    def project(self, b: BodyBuilder, p: Expr, values: Mapping[str, Expr]) -> Expr:
        """The pixel coordinates of a point in the camera's frame."""
        x, y = b.let("xn nx u_n", p[0] / p[2]), b.let("yn ny v_n", p[1] / p[2])
        if "k1" in values:
            r2 = b.let("r2 rad_sq", x * x + y * y)
            bend: Expr = 1.0 + values["k1"] * r2
            if "k2" in values:
                bend = bend + values["k2"] * r2 * r2
            bend = b.let("distort radial", bend)
            b.augment(x, "mul", bend)
            b.augment(y, "mul", bend)
        fx, fy = (values.get(key, values.get("f")) for key in ("fx", "fy"))
        assert fx is not None
        assert fy is not None
        return make(self.pixel, fx * x + values["cx"], fy * y + values["cy"])

    @property
    def text(self) -> str:
        said = self.said
        fx, fy = said.get("fx", said.get("f")), said.get("fy", said.get("f"))
        done = f"({fx} * x/z + {said['cx']}, {fy} * y/z + {said['cy']})"
        if "k1" in said:
            more = f" + {said['k2']} * r^4" if "k2" in said else ""
            done += f", x/z and y/z first multiplied by 1 + {said['k1']} * r^2{more} with "
            done += "r^2 = (x/z)^2 + (y/z)^2"
        return done


def _into_camera(r: Rig, p: Expr) -> tuple[Expr, str]:
    """The point in the frame of the camera of its row."""
    k, shape = r.k, r.k.draw.shape
    ways = {"first": 1} if r.rank > 1 else {"shared": 1}
    # The pose that all threads share would be inverted once, on the host.
    form = shape.weighted(
        {"pose": 3 * (r.rank > 1), "extrinsic": 3, "rotation": 3, "split": 2, "matrix": 2}
    )
    if form == "matrix":
        view = given(r, "view_mat extrinsic_mat", Mat(4, 4, r.scalar), -1.0, 1.0, forms=ways)
        return by_matrix(r, view, p), f"through the 4 x 4 matrix {say(k, view)}"
    if form in ("pose", "extrinsic"):
        names = "cam_pose camera_pose" if form == "pose" else "world_to_cam extrinsic"
        pose = given(r, names, r.pose, -1.0, 1.0, init="unit", forms=ways)
        text = f"through the transform {say(k, pose)}"
        if form == "extrinsic":
            return fn("transform_point", pose, p), text
        into = maybe(k, "to_cam view", fn("transform_inverse", pose))
        return fn("transform_point", into, p), text.replace("the", "the inverse of the")
    if form == "rotation":
        # Of world to camera, as calibrations give it: x_cam = R x + t.
        turned = given(r, "view_rot", Mat(3, 3, r.scalar), -1.0, 1.0, forms=ways)
        shift = given(r, "view_t", r.vec, -1.0, 1.0, forms=ways)
        text = f"as {say(k, turned)} * {{0}} + {say(k, shift)}"
        return turned * p + shift, text
    eye = given(r, "eye cam_position", r.vec, -1.0, 1.0, forms=ways)
    rot = given(r, "cam_rot", r.quat, init="unit", forms=ways)
    turn = f"the rotation {say(k, rot)}"
    text = f"as {{0}} - {say(k, eye)} rotated by the inverse of {turn}"
    return fn("quat_rotate_inv", rot, p - eye), text


@idiom(depth=3)
def extrinsic_camera(k: KernelBuilder, level: int) -> Title:
    """Pixels of points seen by cameras, with distortion, clipping and depth."""
    r = rig(k, "i tid p", list=2, batch=5)
    points = given(r, "point landmark vertex", r.vec, -3.0, 3.0, last=3, each=1)
    lens = Lens(r, level)
    world: Expr = points
    if level > 1 or k.draw.shape.chance(0.5):
        world = k.let("world_p x_w landmark", points)
    seen, text = _into_camera(r, world)
    p = k.let("pc cam_p seen", seen)
    near = k.scalar("near z_near near_plane", r.scalar, 0.5, 2.5)
    name = say(k, points)
    camera = "a pinhole camera" + (" with radial distortion" if "k1" in lens.values else "")
    of = name.partition("[")[0]
    done = f"Project world points by {camera}. Each point of {of} comes to the camera's frame as "
    done += f"(x, y, z), {text.format(name)}."
    done += _clipped(r, level, lens, p, near)
    return Title(k.name("project_points pinhole_project points_to_pixels world_to_pixels"), done)


def _clipped(r: Rig, level: int, lens: Lens, p: Var, near: Expr) -> str:
    """Pixels of what lies before the near plane; other points get a value of their own."""
    k, shape = r.k, r.k.draw.shape
    out = r.out("pixels uv image_points", lens.pixel)
    missing = filled(lens.pixel, -1.0)
    before, shown = p[2] > near, f"z > {say(k, near)}"
    chosen = shape.sample((_depth, _inside, _miss), {1: 0, 2: 0, 3: 1}.get(level, 2))
    more = [measure(r, level) for measure in chosen]
    if more and _inside not in chosen and r.rank > 1 and shape.chance(0.1):
        test = flag(r, "tracked valid enabled")
        before, shown = op("and", before, test.value), f"{shown} and {test.on}"

    def fill() -> None:
        k.store(out, r.at, missing)
        for measure, _ in more:
            k.store(measure.out, r.at, 0)

    def project() -> None:
        chance = 0.5 * (level >= 3)
        pixel = _called(k, lens, p) if shape.chance(chance) else lens.project(k, p, lens.values)
        if more or shape.chance(0.4):
            pixel = k.let("pixel uv", pixel)
        k.store(out, r.at, pixel)
        for measure, _ in more:
            k.store(measure.out, r.at, measure.value(p, pixel))

    swapped = shape.chance(0.5)
    if level >= 2 and not more and shape.chance(0.4):
        fill()
        with k.if_(before):
            project()
    else:
        first, second = (fill, project) if swapped else (project, fill)
        with k.if_(opposite(before) if swapped else before):
            first()
        with k.else_():
            second()
    done = f" Where {shown}, {out.name} gets {lens.text}; points behind get (-1, -1)."
    return done + "".join(f" {m.out.name} gets {text}, else 0." for m, text in more)


def _called(k: KernelBuilder, lens: Lens, p: Expr) -> Expr:
    """The projection in a helper function; its lens goes along as arguments."""

    def build(b: BodyBuilder, p: Expr, *parts: Expr) -> Expr:
        return lens.project(b, p, dict(zip(lens.values, parts, strict=True)))

    doc = "Pixel of a point before the camera."
    return applied(k, 1.0, "project to_pixel", {"p": p, **lens.values}, build, doc)
