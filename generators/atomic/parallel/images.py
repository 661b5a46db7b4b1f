"""Tallies over images that look at pairs and at votes: textures, lines and circles."""

from __future__ import annotations

from generators.atomic.parallel.parts import COUNTS, Shared, both, extent_of, guarded, named
from generators.atomic.parallel.pixels import Pixel, pixels
from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import cos, sin
from generators.kit.naming import maybe_all
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Const, Expr, Var


@idiom(depth=2)
def cooccurrence_counts(k: KernelBuilder, level: int) -> Title:
    """Grey-level co-occurrence: how often two levels lie at an offset from each other.

    R. M. Haralick, K. Shanmugam, I. Dinstein, IEEE Trans. SMC 3 (1973).
    """
    shape = k.draw.shape
    with pixels(k, level) as p:
        step = k.draw.value.choice((32, 64)) if shape.chance(0.4) else 0
        levels = str(256 // step) if step else k.size("levels", 4, 6)
        init = {"low": 0, "high": 255} if step else {"init": "index_of:levels"}
        image = p.image("image gray" if step else "image codes quantized", INT32, **init)
        out = p.shared("glcm cooccurrence pair_counts", shape.weighted(COUNTS), (levels, levels))
        c = _Pairs(p, image, step, shape.chance(0.4), out)
        own = p.let("a ref center", c.code(p.own(image)), 1.0)
        way = shape.choice(("params", "literal", "several") if level > 1 else ("params", "literal"))
        if way == "several":
            k.size("shifts", 3, 4)
            rows, cols = (k.array(n, INT32, "shifts", low=0, high=2) for n in ("dy", "dx"))
            with k.for_("o q", extent(rows)) as o:
                c.count(own, (rows[o], cols[o]), True)
            at = f"({rows.name}[o], {cols.name}[o]), for every o"
        elif way == "params":
            by = k.scalar("dy row_offset", INT32, 0, 2), k.scalar("dx col_offset", INT32, 0, 3)
            c.count(own, by, p.inner)
            at = f"({by[0].name}, {by[1].name})"
        else:
            fixed = k.draw.value.choice(((0, 1), (1, 0), (1, 1), (0, 2)))
            c.count(own, (k.lift(fixed[0], INT32), k.lift(fixed[1], INT32)), p.inner)
            at = str(fixed)
    text = f"Grey-level co-occurrence: for each pixel of {image.name} of level a and the pixel of "
    text += (
        f"level c at the offset {at}, in rows and columns, from it, if that lies inside, add 1 to "
    )
    text += out.said("a", "c")
    text += f" and to {out.said('c', 'a')}" if c.mirror else ""
    text += f". The level is the value // {step}." if step else "."
    text += " Offsets are not negative." if way != "literal" else ""
    return Title(k.name("glcm_counts cooccurrence_matrix texture_pairs"), text)


class _Pairs:
    """Pairs of pixels, counted by their levels."""

    def __init__(self, p: Pixel, image: Var, step: int, mirror: bool, out: Shared) -> None:
        self.p, self.image, self.step, self.mirror, self.out = p, image, step, mirror, out

    def code(self, value: Expr) -> Expr:
        return value // self.step if self.step else value

    def count(self, own: Expr, by: tuple[Expr, Expr], inner: bool) -> None:
        p, k = self.p, self.p.k
        place, tests = [], []
        for names, start, shift, stop in (
            ("y2 ny", p.y, by[0], p.height),
            ("x2 nx", p.x, by[1], p.width),
        ):
            if isinstance(shift, Const) and shift.value == 0:
                place.append(start)
                continue
            place.append(named(k, names, start + shift, 0.7))
            tests.append(place[-1] < stop)
        with guarded(k, both(*tests), inner):
            other = p.let("other", self.code(self.image[p.index(*place)]), 0.5 + 0.5 * self.mirror)
            self.out.update("add", (own, other), 1)
            if self.mirror:
                self.out.update("add", (other, own), 1)


@idiom(depth=3)
def hough_votes(k: KernelBuilder, level: int) -> Title:
    """Hough transforms: pixels of edges vote for the lines or circles that they may lie on.

    R. O. Duda, P. E. Hart, CACM 15 (1972).
    """
    name = "hough_votes cast_votes hough_accumulate"
    return Title(
        k.name(name), _from_points(k) if k.draw.shape.chance(0.4) else _from_image(k, level)
    )


def _from_points(k: KernelBuilder) -> str:
    """A list of points, with weights at times."""
    k.size("edge_points", 24, 36)
    (i,) = k.thread("edge_points", names=(k.name("i p"),))
    xs, ys = (k.array(n, FLOAT32, "edge_points", low=1.0, high=9.0) for n in ("px", "py"))
    x, y = k.let("x", xs[i]), k.let("y", ys[i])
    value: Expr = k.lift(1, k.draw.shape.weighted(COUNTS))
    what = "1"
    if k.draw.shape.chance(0.3):
        weights = k.array("weights strength", FLOAT32, "edge_points", low=0.5, high=2.0)
        value, what = named(k, "w vote", weights[i]), f"{weights.name} of the point"
    text = _votes(k, (x, y), value, what)
    return f"{text.format(each=f'each point (x, y) of {xs.name} and {ys.name}')}"


def _from_image(k: KernelBuilder, level: int) -> str:
    """The pixels of an image that are marked, or bright enough."""
    with pixels(k, level) as p:
        if k.draw.shape.chance(0.5):
            image = p.image("edges edge_mask", INT32, 0, 1)
            test, about = fn("ne", p.own(image), k.lift(0, INT32)), f"where {image.name} is set"
        else:
            image = p.image("magnitude gradients", FLOAT32, 0.0, 1.0)
            cut = k.scalar("threshold min_magnitude", FLOAT32, 0.4, 0.7)
            test, about = p.own(image) > cut, f"where {image.name} is more than {cut.name}"
        with p.guard(test):
            names = k.draw.word.choice((("xf", "yf"), ("fx", "fy")))
            x, y = (k.let(n, cast(c, FLOAT32)) for n, c in zip(names, (p.x, p.y), strict=True))
            one = k.lift(1, k.draw.shape.weighted(COUNTS))
            text = _votes(k, (x, y), one, "1", p.lead)
    return text.format(each=f"each pixel {about}, of column x and row y,")


def _votes(
    k: KernelBuilder, at: tuple[Expr, Expr], value: Expr, what: str, lead: tuple[Expr, ...] = ()
) -> str:
    """Votes of one point for all angles, and the sentence on them; ``lead`` is its image."""
    shape = k.draw.shape
    k.size("angles", 7, 9)
    tables = None
    if shape.chance(0.5):
        names = ("cos_table", "sin_table")
        tables = [k.array(n, FLOAT32, "angles", low=-1.0, high=1.0) for n in names]
        count: Expr = extent(tables[0])
        angle = f"c = {names[0]}[t] and s = {names[1]}[t]"
    else:
        count = extent_of(k, "angles")
        step = k.scalar("angle_step d_theta", FLOAT32, 0.4, 0.55)
        angle = f"c and s the cosine and the sine of t * {step.name}"
    vote = (_Circle if shape.chance(0.4) else _Line)(k, value, lead)
    with k.for_("t a theta_id", count) as t:
        if tables is not None:
            turn: list[Expr] = [table[t] for table in tables]
        else:
            theta = k.let("theta angle", cast(t, FLOAT32) * step)
            turn = [cos(theta), sin(theta)]
        names = k.draw.word.choice((("c", "s"), ("ct", "st"), ("cos_t", "sin_t")))
        c, s = maybe_all(k, dict(zip(names, turn, strict=True)))
        vote.cast(at, (c, s), t)
    return f"{vote.about}: for {{each}} and every angle t, {vote.said(what)}, with {angle}."


class _Circle:
    """Votes for the centres of circles of one radius."""

    about = "Hough transform for circles of one radius"

    def __init__(self, k: KernelBuilder, value: Expr, lead: tuple[Expr, ...]) -> None:
        self.k, self.value, self.lead = k, value, lead
        sides = k.size("acc_height", 8, 10), k.size("acc_width", 8, 10)
        dims = (*("images" for _ in lead), *sides)
        assert isinstance(value.type, Scalar)
        self.out = k.accumulator("votes centers accumulator", value.type, dims)
        self.radius = k.scalar("radius r0", FLOAT32, 1.5, 3.0)

    def cast(self, at: tuple[Expr, Expr], turn: tuple[Expr, Expr], t: Expr) -> None:
        k, places = self.k, []
        names_ = k.draw.word.choice((("cx", "cy"), ("col_c", "row_c")))
        for names, place, part in zip(names_, at, turn, strict=True):
            places.append(k.let(names, cast(fn("rint", place - self.radius * part), INT32)))
        cx, cy = places
        axis = len(self.lead)
        width, height = extent(self.out, axis + 1), extent(self.out, axis)
        tests = (cx >= 0, cy >= 0, cx < width, cy < height)
        with guarded(k, both(*tests), True):
            k.atomic("add", self.out, (*self.lead, cy, cx), self.value)

    def said(self, what: str) -> str:
        r, place = self.radius.name, self.out.name
        place += "".join(f"[{written(part)}]" for part in self.lead)
        text = f"add {what} to {place} at the centre, column x - {r} * c and row y - {r} * s, "
        return f"{text}both by rint, if that lies inside"


class _Line:
    """Votes for lines by their distance from the origin."""

    about = "Hough transform for lines"

    def __init__(self, k: KernelBuilder, value: Expr, lead: tuple[Expr, ...]) -> None:
        shape = k.draw.shape
        self.k, self.value, self.lead, self.axis = k, value, lead, shape.choice((0, 1))
        k.size("rhos", 8, 11)
        dims: tuple[str, ...] = ("rhos", "angles") if self.axis == 0 else ("angles", "rhos")
        assert isinstance(value.type, Scalar)
        dims = (*("images" for _ in lead), *dims)
        self.out = k.accumulator("votes accumulator lines", value.type, dims)
        # Distances have signs: half of the bins are for negative ones.
        self.size = k.scalar("rho_step rho_bin_size", FLOAT32, 0.7, 1.0)
        self.most = k.scalar("rho_max max_rho", FLOAT32, 3.2, 4.5) if shape.chance(0.5) else None

    def cast(self, at: tuple[Expr, Expr], turn: tuple[Expr, Expr], t: Expr) -> None:
        k, count = self.k, extent(self.out, len(self.lead) + self.axis)
        rho: Expr = k.let("rho dist", at[0] * turn[0] + at[1] * turn[1])
        if self.most is not None:
            value = cast(fn("floor", (rho + self.most) / self.size), INT32)
        else:
            value = cast(fn("rint", rho / self.size), INT32) + count // 2
        slot = k.let("rho_bin r_bin", value)
        with guarded(k, both(slot >= 0, slot < count), True):
            place = (slot, t) if self.axis == 0 else (t, slot)
            k.atomic("add", self.out, (*self.lead, *place), self.value)

    def said(self, what: str) -> str:
        if self.most is not None:
            slot = f"bin = floor((x * c + y * s + {self.most.name}) / {self.size.name})"
        else:
            slot = f"bin = rint((x * c + y * s) / {self.size.name}) + bins // 2"
            slot += f", {self.out.name} having that many bins for each angle"
        parts = ("bin", "t") if self.axis == 0 else ("t", "bin")
        place = f"{self.out.name}[{', '.join([*map(written, self.lead), *parts])}]"
        return f"add {what} to {place} if there is that bin, {slot}"
