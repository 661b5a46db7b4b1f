"""Sums and bounds by row, object and index: reductions, boxes of objects, added rows."""

from __future__ import annotations

from dataclasses import replace

from generators.atomic.entries import Ledger
from generators.atomic.tally import INT64, Tally, indices, threads
from generators.atomic.totals import accumulate
from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.formulas import formulas
from generators.kit.functions import least, most
from generators.kit.sites import Site, over
from generators.program.dtypes import INT32, Scalar, Vec
from generators.program.expr import Expr, Var

_PAIRS = Ledger(
    {"x": ("x", -2.0, 2.0), "y": ("y", -2.0, 2.0)},
    formulas(
        dot_product=("dot dot_xy", lambda x, y: x * y),
        squared_distance=("dist_sq squared_distances", lambda x, y: (x - y) * (x - y)),
        manhattan_distance=("l1_dist manhattan_distances", lambda x, y: abs(x - y)),
        squared_norm=("x_norm_sq x_sum_of_squares", lambda x: x * x),
        squared_norm_y=("y_norm_sq y_sum_of_squares", lambda y: y * y),
        overlap=("overlaps shared_mass", lambda x, y: least(x, y)),
    ),
    entry="element",
    group="",
    second="",
    each="rows cols",
    record="Pair",
    beside=frozenset({"squared_norm_y"}),
    pairs={
        "cosine_terms cosine_sums": ("dot_product", "squared_norm", "squared_norm_y"),
        "dot_and_norm projection_sums": ("dot_product", "squared_norm"),
    },
    grouped=False,
    phrases={
        "cosine_terms cosine_sums": "Terms of the cosine similarity of x and y",
        "dot_and_norm projection_sums": "Terms of the projection of y on x",
        "dot_product": "Dot product of x and y",
        "squared_distance": "Squared Euclidean distance of x and y",
        "manhattan_distance": "Manhattan distance of x and y",
        "squared_norm": "Squared norm of x",
        "overlap": "Overlap of two histograms x and y, the sum of their minima,",
    },
)
_WHOLE = replace(_PAIRS, inputs={"x": ("x", -20, 50), "y": ("y", -20, 50)}, whole=True)


@idiom
def reduction(k: KernelBuilder, level: int) -> Title:
    """Dot products and distances of two arrays: over all elements, rows, columns or chunks."""
    return accumulate(k, level, _WHOLE if k.draw.shape.chance(0.25) else _PAIRS)


class _Bounds(Tally):
    """Boxes of objects: their points' least and greatest coordinates."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.vec = Vec(shape.choice((2, 3, 3)), k.draw.wide_float_type())
        forms = {1: "points", 2: "points margin", 3: "margin triangles", 4: "chunks triangles"}
        self.form = shape.choice(forms.get(level, "runs").split())
        if self.form in ("chunks", "runs"):
            k.size("num_threads", 7, 10)
            k.size("per_thread", 4, 8)
            (t,) = k.thread("num_threads", names=(k.name("t thread_id"),))
            super().__init__(level, Site(k, "chunk", ("num_threads*per_thread",), (t,)))
        else:
            size = "num_triangles" if self.form == "triangles" else "num_points"
            names = "t tri" if self.form == "triangles" else "i p"
            super().__init__(level, threads(k, size, 64, 90, names))

    def point(self, s: Site, array: Var | None = None) -> Expr:
        array = array or s.array("points positions", self.vec, -2.0, 2.0)
        return self.k.let("pt pos", array[s.at])

    def boxes(self, dims: str) -> tuple[Var, Var]:
        k, far = self.k, "1.0e6"
        lows, highs = k.draw.word.choice((("aabb_min", "aabb_max"), ("box_min", "box_max")))
        return k.accumulator(lows, self.vec, dims, far), k.accumulator(
            highs, self.vec, dims, f"-{far}"
        )


@idiom
def group_extremes(k: KernelBuilder, level: int) -> Title:
    """Bounding boxes of the objects of a scene, by atomic minimum and maximum of vectors."""
    b = _Bounds(k, level)
    build = {"points": _of_points, "margin": _of_points, "triangles": _of_triangles}
    text = build.get(b.form, _of_chunks)(b)
    whole = any(p.shape == ("1",) for p in k.params)
    names = "cloud_bounds bounding_box" if whole else "object_bounds bounding_boxes grow_boxes"
    return Title(k.name(names), text)


def _owner(b: _Bounds, s: Site) -> Expr:
    b.k.size("objects", *((20, 28) if b.form == "triangles" else (5, 8)))
    owner = s.read("object_of object_ids", INT32, init="index_of:objects")
    return b.k.let("obj owner", owner)


def _of_points(b: _Bounds) -> str:
    """A thread for each point; particles have a radius."""
    k, s = b.k, b.s
    p, whole = b.point(s), b.chance(0.25)
    low: Expr = p
    high: Expr = p
    about = ""
    if b.form == "margin":
        unit = b.vec.scalar
        each = b.chance(0.6)
        r = s.read("radii", unit, 0.1, 0.5) if each else k.scalar("margin", unit, 0.05, 0.2)
        reach = k.let("reach", make(b.vec, r))
        low, high = k.let("low", p - reach), k.let("high", p + reach)
        about = f", widened by {'its radius' if each else 'the margin'} on every side,"
    at = k.lift(0, INT32) if whole else _owner(b, s)
    lower, upper = b.boxes("1" if whole else "objects")
    k.atomic("min", lower, at, low)
    k.atomic("max", upper, at, high)
    of = "the whole cloud" if whole else "each object"
    where = "[0]" if whole else " of its object"
    text = f"Axis-aligned bounding box of {of}: every point{about} lowers {lower.name}{where} and "
    return f"{text}raises {upper.name}{where}, component by component."


def _of_triangles(b: _Bounds) -> str:
    """A thread for each triangle of an indexed mesh."""
    k, s = b.k, b.s
    (t,) = s.at
    k.size("num_verts", 70, 90)
    ids = k.array("triangles faces", INT32, (s.dims[0], "3"), init="index_of:num_verts")
    verts = k.array("vertices points", b.vec, "num_verts", low=-2.0, high=2.0)
    corners = [k.let(f"p{c}", verts[ids[t, c]]) for c in range(3)]
    low = k.let("low", least(*corners))
    high = k.let("high", most(*corners))
    at = _owner(b, s)
    lower, upper = b.boxes("objects")
    k.atomic("min", lower, at, low)
    k.atomic("max", upper, at, high)
    text = "Axis-aligned bounding box of each object of a mesh: the corners of every triangle are "
    text += f"joined first, then {lower.name} and {upper.name} of its object are lowered and raised"
    return f"{text}, component by component."


def _of_chunks(b: _Bounds) -> str:
    """A thread joins a chunk of points, of all objects or as long as they are of one."""
    k, (t,) = b.k, b.s.at
    points = b.s.array("points positions", b.vec, -2.0, 2.0)
    runs = b.form == "runs"
    count = k.size_param("per_thread points_per_thread", "per_thread")
    first = k.let("first start", t * count)
    if runs:
        k.size("objects", 4, 6)
        owners = b.s.array("object_of object_ids", INT32, init="index_of:objects")
        current = k.let("current", owners[first])
    low = k.let("low", points[first])
    high = k.let("high", low)
    lower, upper = b.boxes("objects" if runs else "1")

    def flush(at: Expr) -> None:
        k.atomic("min", lower, at, low)
        k.atomic("max", upper, at, high)

    with k.for_("j step", count, start=1) as j:
        i = k.let("i", first + j)
        p = k.let("p pt", points[i])
        if runs:
            obj = k.let("obj owner", owners[i])
            with k.if_(fn("ne", obj, current)):
                flush(current)
                k.assign(current, obj)
                k.assign(low, p)
                k.assign(high, p)
        k.assign(low, least(low, p))
        k.assign(high, most(high, p))
    flush(current if runs else k.lift(0, INT32))
    text = f"Axis-aligned bounding box of {'each object' if runs else 'a point cloud'}: "
    text += f"each thread joins {b.say(count)} consecutive points, "
    if runs:
        text += f"and where {owners.name} changes, and at the end, lowers {lower.name} and raises "
        return f"{text}{upper.name} of that object by the box of the run, component by component."
    text += f"then lowers {lower.name}[0] and raises {upper.name}[0] by their box, component by "
    return f"{text}component."


_MATRICES = {Scalar("float32"): 8, INT32: 3, INT64: 1, Scalar("float64"): 1}


class _Rows(Tally):
    """Rows of a matrix that are added to the rows that an index names."""

    def __init__(self, k: KernelBuilder, level: int) -> None:
        shape = k.draw.shape
        self.type = shape.weighted(_MATRICES)
        forms = {1: ("list", "grid"), 2: ("grid", "checked", "counted"), 3: ("row", "checked")}
        self.form = shape.choice(forms.get(level, ("runs",)))
        self.width = k.draw.value.choice((4, 8))
        k.size("num_groups", 6, 9)
        if self.form == "list":
            super().__init__(level, threads(k, "n", 64, 96, "i e"))
        elif self.form == "row":
            super().__init__(
                level, over(k, "num_rows", indices(k, "i row"), ((24, 32),), inner="dim")
            )
        elif self.form == "runs":
            k.size("chunks", 5, 7)
            k.size("dim", 3, 5)
            at = k.thread("chunks", "dim", names=(k.name("t chunk"), k.name("c f")))
            super().__init__(level, Site(k, "runs", (f"{self.width}*chunks", "dim"), at))
        else:
            s = over(k, "num_rows dim", indices(k, "i row", "c f"), ((24, 32), (3, 5)))
            super().__init__(level, s)

    def index(self) -> Var:
        """The array of segments; rows of no segment have a negative one."""
        checked = self.form == "checked"
        how = (
            {"init": "uniform", "low": -2, "high": 5}
            if checked
            else {"init": "index_of:num_groups"}
        )
        if checked:
            self.k.size("num_groups", 6, 9, minimum=6)
        return self.s.array("segment_ids index", INT32, axes=(0,), **how)

    def values(self, s: Site) -> Var:
        span = (-2.0, 2.0) if self.type.is_float else (-20, 50)
        return s.array("values src", self.type, *span)

    def out(self, names: str = "") -> Var:
        dims = ("num_groups", *(["dim"] if self.form != "list" else []))
        return self.k.accumulator(names or "sums segment_sums out", self.type, dims)


@idiom
def scatter(k: KernelBuilder, level: int) -> Title:
    """Scatter-add of values or of rows to the segments that an index array names."""
    r = _Rows(k, level)
    return _scattered_runs(r) if r.form == "runs" else _scattered(r)


def _scattered(r: _Rows) -> Title:
    """A thread for each element, or for each row."""
    k, s = r.k, r.s
    index = r.index()
    seg = k.let("seg segment", index[s.at[0]])
    text = "Scatter-add: "
    if r.form == "checked":
        r.skip(seg < 0, f"{index.name} is negative")
    weight: Expr | None = None
    if r.chance(0.4, 2) and r.type.is_float:
        weight = s.read("weights scale", r.type, 0.2, 1.5, axes=(0,))
        weight = k.let("w weight", weight) if r.form == "row" else weight
    counts = None
    if r.form == "row":
        with s.loop("c f", "num_features row_width") as e:
            values, out = r.values(e), r.out()
            value = values[e.at]
            k.atomic("add", out, (seg, e.at[-1]), value if weight is None else weight * value)
        text += f"each thread adds its row of {values.name}"
    else:
        values, out = r.values(s), r.out()
        value = values[s.at]
        k.atomic("add", out, (seg, *s.at[1:]), value if weight is None else weight * value)
        if r.form == "counted":
            counts = k.accumulator("counts segment_sizes", INT32, "num_groups")
            with k.if_(fn("eq", s.at[1], k.lift(0, INT32))):
                k.atomic("add", counts, seg, 1)
        text += f"add {values.name}[{s.where}]"
    at = f"{index.name}[{r.say(s.at[0])}]"
    text += f", times {r.say(weight)}," if weight is not None else ""
    if r.form == "row":
        text += f" to row {at} of {out.name}."
    else:
        each = s.where if s.rank == 1 else f"({s.where})"
        text += f" to {out.name}[{', '.join([at, *map(r.say, s.at[1:])])}] for every {each}."
    if counts is not None:
        text += f" The first column's threads count the rows of each segment in {counts.name}."
    if r.form == "checked":
        text += " Rows with a negative index belong to no segment and are left out."
    return Title(k.name("scatter_add segment_sum index_add"), text)


def _scattered_runs(r: _Rows) -> Title:
    """A thread for each column of a chunk of rows, which sums rows of one segment first."""
    k, (t, c) = r.k, r.s.at
    mean = r.chance(0.4) and r.type.is_float
    index, values, out = r.index(), r.values(r.s), r.out("means segment_means" if mean else "")
    first = k.let("first start", t * r.width)
    current = k.let("current seg", index[first])
    sizes = None
    if mean:
        sizes = k.array("segment_sizes counts", INT32, "num_groups", low=1, high=9)
    acc = k.let("acc partial", k.lift(0, r.type))

    def flush() -> None:
        value: Expr = acc
        if sizes is not None:
            value = acc / cast(sizes[current], r.type)
        k.atomic("add", out, (current, c), value)

    with k.for_("j step", r.width) as j:
        i = k.let("i row", first + j)
        here = k.let("here next_seg", index[i])
        with k.if_(fn("ne", here, current)):
            flush()
            k.assign(acc, k.lift(0, r.type))
            k.assign(current, here)
        k.augment(acc, "add", values[i, c])
    flush()
    text = f"{'Mean' if mean else 'Sum'} of the rows of each segment: a thread goes through column "
    text += f"{r.say(c)} of {r.width} consecutive rows of {values.name}, sums runs of equal "
    text += f"{index.name} in a register, and adds a run's sum"
    text += f", divided by {sizes.name} of its segment," if sizes is not None else ""
    text += f" to {out.name} where the segment changes and at the end."
    names = "segment_mean scatter_mean" if mean else "scatter_add segment_sum index_add"
    return Title(k.name(names), text)
