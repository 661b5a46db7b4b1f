"""Images scattered: warped forward along a flow, projected onto a detector."""

from __future__ import annotations

from generators.atomic.parallel.parts import both, guarded
from generators.atomic.parallel.pixels import Pixel, pixels
from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var


@idiom(depth=3)
def bilinear_splat(k: KernelBuilder, level: int) -> Title:
    """Forward warping: every pixel moves along its flow and is shared by the four around it."""
    shape = k.draw.shape
    with pixels(k, level) as p:
        image = p.image("image source img", FLOAT32, 0.1, 1.0)
        vec = shape.chance(0.4)
        if vec:
            flow = p.image("flow motion", Vec(2, FLOAT32), -1.6, 1.6)
            moved = p.let("f shift", p.own(flow), 1.0)
            by: tuple[Expr, ...] = moved[0], moved[1]
            about = f"{flow.name} (x, y)"
        else:
            flows = [p.image(n, FLOAT32, -1.6, 1.6) for n in ("flow_x", "flow_y")]
            by, about = tuple(p.own(f) for f in flows), "flow_x and flow_y"
        scale = None
        if shape.chance(0.3):
            scale = k.scalar("time_t", FLOAT32, 0.4, 0.9)
            by = tuple(scale * part for part in by)
        moved_to = k.draw.word.choice((("tx", "ty"), ("gx", "gy"), ("x_new", "y_new")))
        x = k.let(moved_to[0], cast(p.x, FLOAT32) + by[0])
        y = k.let(moved_to[1], cast(p.y, FLOAT32) + by[1])
        value = p.let("value", p.own(image), 1.0)
        nearest = shape.chance(0.25)
        s = _Splat(p, image, level)
        if nearest:
            s.nearest(y, x, value)
        else:
            s.four(y, x, value)
    both_ = "" if vec else ", both"
    about += f"{both_} times {scale.name}{',' * (not vec)}" if scale is not None else ""
    text = _splat_text(s, image.name, about, nearest)
    names = "forward_warp splat_pixels" if nearest else "forward_warp splat_bilinear"
    return Title(k.name(names), text)


def _splat_text(s: _Splat, image: str, about: str, nearest: bool) -> str:
    text = f"Forward warping along a flow: move each pixel of {image} by {about} and add "
    if nearest:
        text += f"it to the nearest pixel of {s.out.name} (rint of both coordinates)"
        text += f", and 1 to {s.mass.name} there" if s.mass is not None else ""
    else:
        text += f"its bilinear shares to the four pixels of {s.out.name} around that place"
        text += f", and the shares themselves to {s.mass.name}" if s.mass is not None else ""
    return f"{text}. What falls outside of the image is dropped."


class _Splat:
    """An image that pixels are added to, and the sum of their shares."""

    def __init__(self, p: Pixel, image: Var, level: int) -> None:
        self.p, shape = p, p.k.draw.shape
        self.out = p.k.accumulator("warped splatted target_img", FLOAT32, p.dims)
        self.mass: Var | None = None
        if level > 1 and shape.chance(0.6):
            self.mass = p.k.accumulator("weights coverage", FLOAT32, p.dims)
        self.looped = shape.chance(0.5)

    def _add(self, y: Expr, x: Expr, share: Expr | None, value: Expr) -> None:
        p, k = self.p, self.p.k
        with k.if_(both(y >= 0, y < p.height, x >= 0, x < p.width)):
            place = p.index(y, x)
            k.atomic("add", self.out, place, value if share is None else share * value)
            if self.mass is not None:
                k.atomic("add", self.mass, place, 1.0 if share is None else share)

    def nearest(self, y: Expr, x: Expr, value: Expr) -> None:
        k = self.p.k
        row = k.let("iy yn", cast(fn("rint", y), INT32))
        self._add(row, k.let("ix xn", cast(fn("rint", x), INT32)), None, value)

    def four(self, y: Expr, x: Expr, value: Expr) -> None:
        k = self.p.k
        y0 = k.let("y0", cast(fn("floor", y), INT32))
        x0 = k.let("x0", cast(fn("floor", x), INT32))
        names = k.draw.word.choice((("wy", "wx"), ("fy", "fx")))
        wy = k.let(names[0], y - cast(y0, FLOAT32))
        wx = k.let(names[1], x - cast(x0, FLOAT32))
        if not self.looped:
            for row, part_y in ((y0, 1.0 - wy), (y0 + 1, wy)):
                for column, part_x in ((x0, 1.0 - wx), (x0 + 1, wx)):
                    self._add(row, column, part_y * part_x, value)
            return
        with k.for_("dy oy", 2) as dy:
            across = k.let("part_y sy", fn("where", fn("eq", dy, 0), 1.0 - wy, wy))
            below = k.let("row yi", y0 + dy)
            with k.for_("dx ox", 2) as dx:
                along = fn("where", fn("eq", dx, 0), 1.0 - wx, wx)
                share = k.let("share w", across * along)
                self._add(below, k.let("col xi", x0 + dx), share, value)


@idiom(depth=3)
def detector_sums(k: KernelBuilder, level: int) -> Title:
    """Radon transform by pixels: each value goes to the detector bins that its rays meet."""
    shape = k.draw.shape
    with pixels(k, level) as p:
        image = p.image("image density attenuation", FLOAT32, 0.1, 1.0)
        # As many bins as the two sides are longer than the diagonal.
        turned, dims = shape.chance(0.4), (k.size("angles", 4, 6), "height+width")
        dims = dims[::-1] if turned else dims
        out = p.shared("sinogram projections detector", FLOAT32, dims)
        names = ("cos_table", "sin_table")
        cosines, sines = (k.array(n, FLOAT32, "angles", low=-1.0, high=1.0) for n in names)
        bins = k.size_param("num_bins n_bins", "height+width")
        value = p.let("value mu", p.own(image), 1.0)
        size = k.scalar("bin_width det_spacing", FLOAT32, 0.8, 1.2) if shape.chance(0.5) else None
        middle = k.scalar("center_bin axis_bin", FLOAT32, 1.2, 3.0)
        names_ = k.draw.word.choice((("xc", "yc"), ("px", "py")))
        x = k.let(names_[0], _placed(p.x, p.width))
        y = k.let(names_[1], _placed(p.y, p.height))
        linear = shape.chance(0.6)
        with k.for_("a angle_id t", extent(cosines)) as a:
            s = k.let("s offset", x * cosines[a] + y * sines[a])
            place: Expr = s if size is None else s / size
            place = k.let("u place", place + middle)
            slot = k.let("slot bin_id", cast(fn("floor" if linear else "rint", place), INT32))
            test = both(slot >= 0, slot + 1 < bins) if linear else both(slot >= 0, slot < bins)
            with guarded(k, test, True):
                part = k.let("w frac", place - cast(slot, FLOAT32)) if linear else None
                first = value if part is None else (1.0 - part) * value
                out.update("add", (slot, a) if turned else (a, slot), first)
                if part is not None:
                    after = (slot + 1, a) if turned else (a, slot + 1)
                    out.update("add", after, part * value)
    about = f"{image.name}, at (x, y) from the middle of the image, x to the right and y down"
    where = out.said(*(("bin", "a") if turned else ("a", "bin")))
    u = "x * cos_table[a] + y * sin_table[a]"
    u = f"{u} + {middle.name}" if size is None else f"({u}) / {size.name} + {middle.name}"
    text = _radon_text(about, where, u, linear)
    return Title(k.name("project_pixels radon_scatter forward_project"), text)


def _radon_text(about: str, where: str, u: str, linear: bool) -> str:
    text = f"Radon transform by pixels: for each pixel of {about}, and each "
    text += "angle a, " + ("share the value linearly between " if linear else "add the value to ")
    text += f"{where}{' and the bin after it' if linear else ''}, if "
    text += "both exist" if linear else "there is that bin"
    return f"{text}. Here u = {u} and bin is {'floor(u)' if linear else 'rint(u)'}."


def _placed(place: Expr, count: Expr) -> Expr:
    """A row or column as a float, from the middle of the image."""
    return cast(place, FLOAT32) - 0.5 * cast(count - 1, FLOAT32)
