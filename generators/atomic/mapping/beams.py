"""Beams of range scanners and depth cameras, and the grid maps that they update."""

from __future__ import annotations

from collections.abc import Sequence

from generators.atomic.parallel.parts import both, extent_of
from generators.build import KernelBuilder, cast, fn, make
from generators.kit.functions import cos, sin
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Quat, Type, Vec
from generators.program.expr import Expr, Operand, Var

_SIDES = {2: (("height", "width"), ("ny", "nx")), 3: (("nz", "ny", "nx"),)}
_VEC3 = Vec(3, FLOAT32)
CELLS = {2: (9, 11), 3: (6, 7)}


class Map:
    """A grid of cells over the plane or over space."""

    def __init__(self, k: KernelBuilder, axes: int) -> None:
        shape, low = k.draw.shape, CELLS[axes][0]
        self.k, self.axes = k, "xyz"[:axes]
        self.dims = k.draw.value.choice(_SIDES[axes])
        for side in self.dims:
            k.size(side, low, CELLS[axes][1])
        self.flat, self.inverse = shape.chance(0.4), shape.chance(0.5)
        names = "inv_resolution inv_cell" if self.inverse else "resolution cell_size"
        span = (1.0, 1.3) if self.inverse else (0.75, 1.0)
        self.scale = k.scalar(names, FLOAT32, *span)
        vec = Vec(axes, FLOAT32)
        moved = shape.chance(0.5)
        self.origin = k.scalar("map_origin grid_origin", vec, -0.2, 0.2) if moved else None
        self.letter = k.draw.word.choice(("c", "i", "g"))

    def counts(self) -> list[Expr]:
        """How many cells there are along x, y and z."""
        return [extent_of(self.k, side) for side in reversed(self.dims)]

    def cells(self, parts: Sequence[Expr], letter: str = "") -> list[Var]:
        """The cell of a place along each axis, in locals."""
        k, found = self.k, list[Var]()
        for n, place in enumerate(parts):
            moved = place if self.origin is None else place - self.origin[n]
            scaled = moved * self.scale if self.inverse else moved / self.scale
            name = f"{letter or self.letter}{self.axes[n]}"
            found.append(k.let(name, cast(fn("floor", scaled), INT32)))
        return found

    def centre(self, cells: Sequence[Expr]) -> list[Expr]:
        """The middle of a cell."""
        found = list[Expr]()
        for n, cell in enumerate(cells):
            middle = cast(cell, FLOAT32) + 0.5
            place = middle / self.scale if self.inverse else middle * self.scale
            found.append(place if self.origin is None else self.origin[n] + place)
        return found

    def inside(self, cells: Sequence[Expr]) -> Expr:
        ends = zip(cells, self.counts(), strict=True)
        return both(*(test for cell, end in ends for test in (cell >= 0, cell < end)))

    def place(self, cells: Sequence[Expr]) -> tuple[Operand, ...]:
        if not self.flat:
            return tuple(reversed(cells))
        *rest, place = cells
        for cell, count in zip(reversed(rest), reversed(self.counts()[:-1]), strict=True):
            place = place * count + cell
        return (place,)

    def array(self, names: str, type_: Type, start: object = 0) -> Var:
        dims = "*".join(self.dims) if self.flat else self.dims
        return self.k.accumulator(names, type_, dims, start)

    def said(self) -> str:
        """How cells are found and laid out."""
        counts = [written(c) for c in self.counts()]
        about = "p" if self.origin is None else f"(p - {self.origin.name})"
        text = f" The cell of a place p is floor({about} {'*' if self.inverse else '/'} "
        text += f"{self.scale.name}) along each axis. The map has {' x '.join(counts)} cells along "
        text += f"{', '.join(self.axes)}, and cells outside of it are left out"
        if self.flat:
            number = "c" + self.axes[-1]
            for axis, count in zip(reversed(self.axes[:-1]), reversed(counts[:-1]), strict=True):
                number = f"{f'({number})' if ' + ' in number else number} * {count} + c{axis}"
            return f"{text}; cell ({', '.join('c' + a for a in self.axes)}) is number {number}."
        return f"{text}; x is the last index."


class Evidence:
    """What the ends of beams and the cells that beams pass add to a map, maybe ``weight`` times."""

    def __init__(self, m: Map, kind: str, hit: bool = True, passed: bool = True) -> None:
        k, self.m = m.k, m
        self.weight: Expr | None = None
        self.changes = dict[str, tuple[Var, Operand]]()
        whole = kind in ("fixed", "counts")
        type_ = INT32 if whole else FLOAT32
        if kind == "counts":
            names = {"hit": "hits hit_counts", "miss": "misses free_counts"}
        else:
            out = m.array("log_odds evidence", type_)
        for what, wanted in (("hit", hit), ("miss", passed)):
            if wanted and kind == "counts":
                self.changes[what] = m.array(names[what], type_), 1
            elif wanted:
                name, *spans = _CHANGES[what]
                self.changes[what] = out, k.scalar(name, type_, *spans[whole])

    def give(self, what: str, cells: Sequence[Expr]) -> None:
        """A ``hit`` or a ``miss`` of a cell."""
        array, amount = self.changes[what]
        amount = self.weight * amount if self.weight is not None else amount
        self.m.k.atomic("add", array, self.m.place(cells), amount)

    def said(self, what: str) -> str:
        array, amount = self.changes[what]
        told = amount.name if isinstance(amount, Var) else str(amount)
        return f"add {'w * ' * (self.weight is not None)}{told} to {array.name}"


_CHANGES: dict[str, tuple[str, tuple[float, float], tuple[int, int]]] = {
    "hit": ("l_occ log_odds_hit", (0.6, 1.2), (4, 9)),
    "miss": ("l_free log_odds_miss", (-0.5, -0.3), (-3, -1)),
}
"""Names of what a beam adds, and its range in floats and in whole numbers."""


class Beams:
    """A thread's beam: where it starts, where it points to, and how far it reaches."""

    k: KernelBuilder
    at: tuple[Var, ...]
    dims: tuple[str, ...]
    origin: list[Expr]
    direction: list[Expr]
    range: Expr
    longest: float
    told: str

    def point(self, t: Expr) -> list[Expr]:
        """The place that far along the beam."""
        return [o + t * d for o, d in zip(self.origin, self.direction, strict=True)]

    def end(self) -> list[Expr]:
        return self.point(self.range)

    def limit(self, least: float = 0.6) -> Var:
        """The longest range that is a measurement, at ``least`` that share of the longest."""
        span = (least * self.longest, 0.75 * self.longest)
        return self.k.scalar("max_range range_max", FLOAT32, *span)


class Scan(Beams):
    """Beams of one scanner or of several scans: where they start, point to, and end."""

    def __init__(self, k: KernelBuilder, axes: int, more: str = "") -> None:
        shape = k.draw.shape
        self.k, self.vec = k, Vec(axes, FLOAT32)
        self.lead = (k.size("scans", 3, 4),) if shape.chance(0.4) else ()
        few, many = ((18, 22), (60, 70)) if more else ((44, 52), (150, 170))
        k.size("num_beams", *(few if self.lead else many))
        names = [k.name("s scan") for _ in self.lead] + [k.name("i b beam")]
        if more:
            names.append(k.name("j step"))
        dims = (*self.lead, "num_beams")
        whole = k.thread(*dims, *([more] if more else []), names=names)
        self.at, self.dims = whole[: len(dims)], dims
        self.sample = whole[-1]
        self.middle = 0.45 * CELLS[axes][0]
        self.longest = 8.0 if axes == 2 else 6.0
        ranges = k.array("ranges scan_ranges", FLOAT32, dims, low=0.4, high=self.longest)
        self.range = k.let("r range_i dist", ranges[self.at])
        self.told = f"range {written(ranges[self.at])}"
        (self._planar if axes == 2 else self._spatial)()

    def _planar(self) -> None:
        """Bearings in the plane, and the place and heading of the robot."""
        k, shape, middle = self.k, self.k.draw.shape, self.middle
        span = (middle - 0.7, middle + 0.7)
        lone = shape.chance(0.5)
        if lone and not self.lead:
            parts = [k.scalar(n, FLOAT32, *span) for n in ("robot_x", "robot_y")]
            yaw = k.scalar("heading yaw", FLOAT32, -1.0, 1.0)
            pose = f"place ({parts[0].name}, {parts[1].name}) and heading {yaw.name}"
            heading: Expr = yaw
            self.origin = [*parts]
        elif lone:
            xs = [k.array(f"pose_{a}", FLOAT32, self.lead, low=span[0], high=span[1]) for a in "xy"]
            turn = k.array("headings yaws", FLOAT32, self.lead, low=-3.0, high=3.0)
            self.origin = [k.let(f"{a}0", x[self.at[0]]) for a, x in zip("xy", xs, strict=True)]
            heading = turn[self.at[0]]
            pose = f"place ({xs[0].name}, {xs[1].name}) and heading {turn.name} of its scan"
        else:
            self.origin, heading, pose = self._vector_pose(span)
        theta = k.let("theta angle", heading + self._bearing())
        self.direction = [k.let("dir_x ux", cos(theta)), k.let("dir_y uy", sin(theta))]
        self.told = f"beam of bearing {self.bearing} (to the heading) and {self.told} from {pose}"

    def _vector_pose(self, span: tuple[float, float]) -> tuple[list[Expr], Expr, str]:
        """Place and heading, each of a vector or a parameter."""
        k = self.k
        if not self.lead:
            place = k.scalar("robot_pos sensor_pos", self.vec, *span)
            heading = k.scalar("heading yaw", FLOAT32, -1.0, 1.0)
            return [place[0], place[1]], heading, f"place {place.name} and heading {heading.name}"
        places = k.array("scan_pos sensor_pos", self.vec, self.lead, low=span[0], high=span[1])
        turns = k.array("headings yaws", FLOAT32, self.lead, low=-3.0, high=3.0)
        place_ = k.let("start p0", places[self.at[0]])
        told = f"place {places.name} and heading {turns.name} of its scan"
        return [place_[0], place_[1]], turns[self.at[0]], told

    def _bearing(self) -> Expr:
        """The angle of a beam to the heading."""
        k, beam = self.k, self.at[-1]
        if k.draw.shape.chance(0.5):
            angles = k.array("angles bearings", FLOAT32, "num_beams", low=-3.0, high=3.0)
            self.bearing = written(angles[beam])
            return angles[beam]
        first = k.scalar("angle_min start_angle", FLOAT32, -3.1, -2.0)
        step = k.scalar("angle_step angle_increment", FLOAT32, 0.03, 0.04)
        angle = first + cast(beam, FLOAT32) * step
        self.bearing = written(angle)
        return angle

    def _spatial(self) -> None:
        """Unit directions in space, maybe of a sensor that has an orientation."""
        k, shape = self.k, self.k.draw.shape
        span = (self.middle - 0.5, self.middle + 0.5)
        shared = not self.lead or shape.chance(0.5)
        axes: tuple[str, ...] = ("num_beams",) if shared else self.dims
        at = self.at[-1:] if shared else self.at
        dirs = k.array("directions ray_dirs", self.vec, axes, init="unit")
        if self.lead:
            starts = k.array("origins sensor_pos", self.vec, self.lead, low=span[0], high=span[1])
            start: Expr = k.let("start o", starts[self.at[0]])
            name = f"{starts.name} of its scan"
        else:
            start = k.scalar("sensor_pos ray_origin", self.vec, *span)
            name = start.name
        way = dirs[at]
        self.told = f"beam of unit direction {written(way)} and {self.told} from {name}"
        ray = k.let("d ray", way)
        self.origin = [start[c] for c in range(3)]
        self.direction = [ray[c] for c in range(3)]


class DepthImage(Beams):
    """Depth images of a pinhole camera, each from its own pose: one, or ``several``."""

    def __init__(self, k: KernelBuilder, several: bool) -> None:
        self.k, self.longest = k, 6.0
        lead = (k.size("views", 4, 4),) if several else ()
        rows = k.size("img_h", *((6, 7) if several else (8, 9)))
        columns = k.size("img_w", *((7, 8) if several else (10, 11)))
        names = k.draw.word.choice((("v", "u"), ("y", "x"), ("row", "col")))
        self.dims = (*lead, rows, columns)
        self.at = k.thread(*self.dims, names=[*(k.name("n view") for _ in lead), *names])
        depth = k.array("depth depth_maps", FLOAT32, self.dims, low=0.5, high=5.0)
        z = k.let("z depth_i", depth[self.at])
        fx, fy = (k.scalar(f"f{a}", FLOAT32, 4.0, 7.0) for a in "xy")
        span = (2.2, 4.2) if several else (3.0, 5.0)
        cx, cy = (k.scalar(f"c{a}", FLOAT32, *span) for a in "xy")
        v, u = (cast(i, FLOAT32) for i in self.at[-2:])
        ray = k.let("ray p_cam", make(_VEC3, (u - cx) / fx * z, (v - cy) / fy * z, z))
        start, turn, told = self._pose(lead)
        self.range = k.let("r dist", fn("length", ray))
        way = k.let("d dir", fn("quat_rotate", turn, ray) / self.range)
        self.origin = [start[c] for c in range(3)]
        self.direction = [way[c] for c in range(3)]
        v_, u_ = names
        self.told = f"pixel ({v_}, {u_}) of {depth.name}, with z its value, whose beam of range r "
        self.told += f"goes to the point (({u_} - {cx.name}) / {fx.name} * z, ({v_} - {cy.name}) / "
        self.told += f"{fy.name} * z, z) of the camera's frame ({told})"

    def _pose(self, lead: tuple[str, ...]) -> tuple[Expr, Expr, str]:
        """Place and orientation of the camera, and both in words."""
        k, middle, quat = self.k, 0.45 * CELLS[3][0], Quat(FLOAT32)
        span = (middle - 0.5, middle + 0.5)
        if not lead:
            turn = k.scalar("cam_rot orientation", quat, -1.0, 1.0, init="unit")
            start = k.scalar("cam_pos eye", _VEC3, *span)
            return start, turn, f"at {start.name}, rotated by {turn.name}"
        turns = k.array("cam_rot orientations", quat, lead, low=-1.0, high=1.0, init="unit")
        starts = k.array("cam_pos eyes", _VEC3, lead, low=span[0], high=span[1])
        told = f"at {written(starts[self.at[0]])}, rotated by {written(turns[self.at[0]])}"
        return k.let("start o", starts[self.at[0]]), turns[self.at[0]], told
