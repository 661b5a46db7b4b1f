"""Boxes: matching anchors to objects, suppressing boxes that overlap better ones."""

from __future__ import annotations

from generators.build import BodyBuilder, KernelBuilder, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most
from generators.kit.naming import BY_LEVEL, routine
from generators.program.dtypes import FLOAT32, INT32, Scalar, Vec
from generators.program.expr import Expr, Var

_BOX = Vec(4, FLOAT32)
UINT8 = Scalar("uint8")


class _Boxes:
    """How boxes lie: centre and size in a vec4 or in four columns; and their overlap."""

    def __init__(self, k: KernelBuilder, level: int, generalised: bool = True) -> None:
        shape = k.draw.shape
        self.k, self.packed = k, shape.chance(0.55)
        self.centred, self.bounded = shape.chance(0.5), shape.chance(0.35)
        self.generalised = generalised and level > 2 and shape.chance(0.25)
        self.measure = routine(
            k,
            max(0.5, BY_LEVEL[level]),
            "giou box_giou" if self.generalised else "iou box_iou",
            {"a": _BOX, "b": _BOX},
            self._overlap,
            f"{self.what.capitalize()} of boxes ({'cx, cy' if self.centred else 'x, y'}, w, h).",
        )

    @property
    def what(self) -> str:
        return (
            "generalised intersection over union"
            if self.generalised
            else ("intersection over union")
        )

    @property
    def form(self) -> str:
        """What a box is, in words."""
        parts = (
            f"the x and y of its {'centre' if self.centred else 'lower corner'}, width and height"
        )
        return f"A box is {'a vec4 of ' if self.packed else ''}{parts}."

    def stop(self, x: Var, axis: int, size: str) -> Expr:
        """How many boxes are looped over."""
        return self.k.size_param(f"num_{size}", size) if self.bounded else extent(x, axis)

    def array(self, names: str, *dims: str) -> Var:
        if self.packed:
            return self.k.array(names, _BOX, dims, low=0.5, high=3.0)
        return self.k.array(names, FLOAT32, (*dims, "4"), low=0.5, high=3.0)

    def read(self, names: str, x: Var, *at: Expr) -> Var:
        if self.packed:
            return self.k.let(names, x[at])
        parts = [x[at + (self.k.lift(n, INT32),)] for n in range(4)]
        return self.k.let(names, make(_BOX, *parts))

    def _ends(self, body: BodyBuilder, stem: str, box: Expr, n: int) -> tuple[Expr, Expr]:
        """Where a box begins and ends along an axis: in locals where that takes arithmetic and is
        read more than once."""
        start, size, axis = box[n], box[n + 2], "xy"[n]
        low: Expr = start
        high: Expr = start + size
        if self.centred:
            low = body.let(f"{stem}_{axis}0", start - 0.5 * size)
            high = start + 0.5 * size
        if self.centred or self.generalised:
            high = body.let(f"{stem}_{axis}1", high)
        return low, high

    def _overlap(self, body: BodyBuilder, a: Expr, b: Expr) -> Expr:
        spans = [(self._ends(body, "a", a, n), self._ends(body, "b", b, n)) for n in (0, 1)]

        def side(n: int) -> tuple[Expr, Expr]:
            (low_a, high_a), (low_b, high_b) = spans[n]
            return most(low_a, low_b), least(high_a, high_b)

        zero = body.lift(0.0, FLOAT32)
        width, height = (
            body.let(names, most(high - low, zero))
            for names, (low, high) in zip(("iw", "ih"), (side(0), side(1)), strict=True)
        )
        inter = body.let("inter common", width * height)
        union = body.let("union", a[2] * a[3] + b[2] * b[3] - inter)
        if not self.generalised:
            return inter / union
        hull = [
            body.let(
                name,
                most(of_a[1], of_b[1]) - least(of_a[0], of_b[0]),
            )
            for (of_a, of_b), name in zip(spans, ("hull_w", "hull_h"), strict=True)
        ]
        area = body.let("hull_area", hull[0] * hull[1])
        return inter / union - (area - union) / area


@idiom
def suppress_boxes(k: KernelBuilder, level: int) -> Title:
    """Non-maximum suppression: which boxes overlap a better one, by a flag, softly or counted."""
    shape = k.draw.shape
    boxes = _Boxes(k, level, generalised=False)
    k.size("batch", 2, 3)
    k.size("boxes", 14, 20)
    lead = ("batch",)
    at = k.thread(*lead, "boxes", names=[k.name("b img"), k.name("i box n")])
    x = boxes.array("boxes_xywh rects detections", *lead, "boxes")
    scores = k.array("scores confidence", FLOAT32, (*lead, "boxes"), low=0.05, high=1.0)
    k.half_inputs = False  # Corners of boxes need more than eleven bits.
    way = shape.choice(("flag", "flag", "soft", "gauss", "count"))
    names, low, high = _BOUNDS.get(way, ("iou_threshold max_overlap", 0.1, 0.5))
    bound = k.scalar(names, FLOAT32, low, high)
    classes = None
    if shape.chance(0.35):
        classes = k.array("class_ids labels", INT32, (*lead, "boxes"), low=0, high=1)
    mine, own = boxes.read("box mine", x, *at), k.let("own_score score", scores[at])
    names, start = _HELD[way]
    held = k.let(names, k.lift(start, FLOAT32 if way in ("soft", "gauss") else INT32))
    last = boxes.stop(scores, len(lead), "boxes")
    with k.for_("j m other", last) as j:
        there = (*at[:-1], j)
        other = k.let("other_score score_j", scores[there])
        better = fn("or", other > own, fn("and", other >= own, j < at[-1]))
        if classes is not None:
            better = fn("and", better, fn("eq", classes[there], classes[at]))
        with k.if_(better):
            rival = boxes.read("other_box box_j", x, *there)
            overlap = k.let("overlap", boxes.measure(mine, rival))
            if way == "gauss":
                k.augment(held, "mul", exp(-(overlap * overlap) / bound))
            else:
                with k.if_(overlap > bound):
                    _beaten(k, way, held, overlap)
    same = " of the same class" if classes is not None else ""
    against = f"boxes{same} with a larger score (or an equal one and before it)"
    with_it = f"{boxes.what} with it"
    text = _kept(k, way, at, (own, held), (against, with_it, bound.name))
    return Title(k.name("suppress_boxes nms_step nms_keep"), f"{text} {boxes.form}")


_HELD: dict[str, tuple[str, float]] = {
    "flag": ("kept keep_i", 1),
    "soft": ("decay factor", 1.0),
    "gauss": ("decay factor", 1.0),
    "count": ("beaten hits", 0),
}
"""What is held of a box while it meets the others: names, and where that begins."""
_BOUNDS = {"gauss": ("sigma decay_width", 0.3, 0.7)}
"""The number by which overlaps are judged, where it is no threshold: names and range."""


def _decayed(k: KernelBuilder, at: tuple[Var, ...], score: Expr, by: str, against: str) -> str:
    """Store a score that better boxes made less (Bodla et al., ICCV 2017, in one pass)."""
    out = k.out("decayed soft_scores", FLOAT32, k.launch_dim)
    k.store(out, at, score)
    text = f"Soft suppression in one pass: {out.name} gets each score times the product of {by} "
    return f"{text}over all {against}."


def _beaten(k: KernelBuilder, way: str, held: Var, overlap: Var) -> None:
    """What a better box that overlaps does to a box."""
    if way == "flag":
        k.assign(held, 0)
        k.break_()
    elif way == "count":
        k.augment(held, "add", 1)
    else:
        k.augment(held, "mul", 1.0 - overlap)


def _kept(
    k: KernelBuilder,
    way: str,
    at: tuple[Var, ...],
    found: tuple[Var, Var],
    said: tuple[str, str, str],
) -> str:
    """Store what is left of a box; in words."""
    (own, held), (against, overlap, bound) = found, said
    dims = k.launch_dim
    if way == "gauss":
        against += f", overlap being the {overlap}"
        return _decayed(k, at, own * held, f"exp(-overlap^2 / {bound})", against)
    against += f" whose {overlap} exceeds {bound}"
    if way == "soft":
        return _decayed(k, at, own * held, "1 - overlap", against)
    names = "keep survivors" if way == "flag" else "num_better beaten_by"
    out = k.out(names, INT32, dims)
    k.store(out, at, held)
    if way == "count":
        return f"{out.name} gets, for each box, the number of {against}."
    return f"{out.name} gets 0 for a box if there are {against}, else 1."


@idiom
def match_anchors(k: KernelBuilder, level: int) -> Title:
    """Anchors matched to the object that they overlap best; what is trained on each."""
    shape = k.draw.shape
    boxes = _Boxes(k, level)
    k.size("batch", 5, 7)
    k.size("anchors", 14, 20)
    k.size("objects", 3, 4)
    lead = ("batch",)
    at = k.thread(*lead, "anchors", names=[k.name("b img"), k.name("a anchor i")])
    anchors = boxes.array("anchors anchor_boxes", "anchors")
    objects = boxes.array("gt_boxes target_boxes", *lead, "objects")
    k.half_inputs = False  # Corners of boxes need more than eleven bits.
    high = k.scalar("pos_threshold fg_threshold", FLOAT32, 0.25, 0.5)
    mine = boxes.read("box anchor_box", anchors, at[-1])
    none = -2.0 if boxes.generalised else -1.0
    best = k.let("best_overlap", k.lift(none, FLOAT32))
    chosen = k.let("best_gt matched", k.lift(-1, INT32))
    count, told = boxes.stop(objects, len(lead), "objects"), ""
    if shape.chance(0.35):
        number = k.array("num_objects gt_counts", INT32, lead, init="index_of:objects+4")
        count = k.let("valid n_gt", least(number[at[0]], count))
        told = (
            f" Only the first {number.name} objects of an image count; where there are none, the "
        )
        told += f"largest is {none:g}."
    with k.for_("j g obj", count) as j:
        there = (*at[:-1], j)
        overlap = k.let("overlap", boxes.measure(mine, boxes.read("target gt", objects, *there)))
        with k.if_(overlap > best):
            k.assign(best, overlap)
            k.assign(chosen, j)
    text = f"the object of {objects.name} with the largest {boxes.what} (the first of equal ones)"
    text = _matched(k, at, (best, chosen), high, text)
    return Title(
        k.name("match_anchors assign_anchors anchor_targets"), f"{text} {boxes.form}{told}"
    )


def _matched(
    k: KernelBuilder, at: tuple[Var, ...], found: tuple[Var, Var], high: Var, what: str
) -> str:
    """Store the match where it is good enough, often with a band that is left out; in words."""
    shape, dims, (best, chosen) = k.draw.shape, k.launch_dim, found
    ids = k.out("match_ids assigned", INT32, dims)
    low = None
    if shape.chance(0.5):
        low = k.scalar(high.name.replace("pos", "neg").replace("fg", "bg"), FLOAT32, 0.08, 0.22)
    with k.if_(best < (high if low is None else low)):
        k.assign(chosen, -1)
    if low is not None:
        with k.elif_(best < high):
            k.assign(chosen, -2)
    k.store(ids, at, chosen)
    text = f"{ids.name} gets, for each anchor, {what}"
    if low is None:
        text += f", or -1 where that is below {high.name}."
    else:
        text += f", or -1 where that is below {low.name}, else -2 where it is below {high.name}."
    if shape.chance(0.5):
        values = k.out("max_overlaps overlaps", FLOAT32, dims)
        k.store(values, at, best)
        text += f" {values.name} gets the largest."
    return text
