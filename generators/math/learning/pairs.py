"""Losses that compare embeddings: contrastive rows, triplets, pairs with a margin."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import dot, exp, log, most, sqrt
from generators.math.learning.tables import alike
from generators.program.dtypes import INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class _Space:
    """How embeddings are stored: as vectors, or as rows of a table that are looped over."""

    k: KernelBuilder
    type: Scalar
    width: int
    """Components of a vector; 0 for rows of a table."""

    @property
    def element(self) -> Type:
        return Vec(self.width, self.type) if self.width else self.type

    def array(self, names: str, count: str) -> Var:
        dims = (count,) if self.width else (count, "dim")
        return self.k.array(names, self.element, dims, low=-1.0, high=1.0)

    def product(self, x: Var, i: Expr, y: Var, j: Expr, names: str) -> Var:
        """The dot product of two embeddings."""
        k = self.k
        if self.width:
            return k.let(names, dot(x[i], y[j]))
        total = k.let(names, k.lift(0.0, self.type))
        k.used.discard("d")
        with k.for_("d", extent(x, 1)) as d:
            k.augment(total, "add", x[i, d] * y[j, d])
        return total

    def distance(self, x: Var, i: Expr, y: Var, j: Expr, names: str) -> Var:
        """The squared distance of two embeddings."""
        k = self.k
        if self.width:
            return k.let(names, fn("length_sq", x[i] - y[j]))
        total = k.let(names, k.lift(0.0, self.type))
        k.used.discard("d")
        with k.for_("d", extent(x, 1)) as d:
            diff = k.let("diff delta", x[i, d] - y[j, d])
            k.augment(total, "add", diff * diff)
        k.used.discard(diff.name)
        return total


def _space(k: KernelBuilder, chance: float = 0.5) -> _Space:
    shape = k.draw.shape
    type_ = k.draw.wide_float_type()
    if shape.chance(chance):
        return _Space(k, type_, shape.choice((3, 4, 8)))
    k.size("dim", 4, 6)
    return _Space(k, type_, 0)


def _positive(k: KernelBuilder, i: Var, paired: bool) -> tuple[Var, str]:
    """Which key is an anchor's positive: the one with its own number, or a given one; in words."""
    if paired:
        return i, "the row with the same number"
    chosen = k.array("positives positive_ids", INT32, "anchors", init="index_of:keys")
    return k.let("positive pos_id", chosen[i]), f"the row {chosen.name}[{i.name}]"


@idiom
def info_nce(k: KernelBuilder, level: int) -> Title:
    """Contrastive loss of each anchor: its positive's similarity against those of all keys."""
    shape = k.draw.shape
    s = _space(k, 0.0)
    paired = shape.chance(0.45)
    k.size("anchors", 12, 20)
    columns = "anchors" if paired else k.size("keys", 7, 11)
    (i,) = k.thread("anchors", names=[k.name("i anchor a")])
    names = alike(k, "queries z_a image_embeds", "keys z_b text_embeds")
    x, y = s.array(names[0], "anchors"), s.array(names[1], columns)
    heat = k.scalar("temperature tau", s.type, 0.3, 1.0)
    inverse = shape.chance(0.4)
    factor = k.let("inv_tau sharp", 1.0 / heat) if inverse else heat
    mine, told = _positive(k, i, paired)
    stop = k.size_param("num_keys n_keys", columns) if shape.chance(0.3) else extent(y, 0)

    def score(j: Var) -> Var:
        product = s.product(x, i, y, j, "sim similarity cos_ij")
        return k.let("score logit z", product * factor if inverse else product / factor)

    hit, top, total = _scored(s, score, mine, stop)
    losses = k.out("losses nce_loss loss", s.type, "anchors")
    k.store(losses, i, top + log(total) - hit)
    text = f"InfoNCE loss of each row of {x.name} against all rows of {y.name}: scores are dot "
    text += f"products over {heat.name}. {losses.name} gets their log-sum-exp, by a running "
    text += f"maximum, less the score of the positive, {told}."
    if level > 1 and shape.chance(0.3):
        probs = k.out("pos_probs match_prob", s.type, "anchors")
        k.store(probs, i, exp(hit - top) / total)
        text += f" {probs.name} gets the softmax of the scores at the positive."
    return Title(k.name("info_nce contrastive_loss info_nce_rows"), text)


def _scored(s: _Space, score: Callable[[Var], Var], mine: Var, stop: Expr) -> tuple[Var, Var, Var]:
    """The positive's score, the largest of all, and the sum of exponentials of scores less that:
    all in one loop, or the positive by itself before."""
    k, shape = s.k, s.k.draw.shape
    apart = shape.chance(0.35) and mine.name not in k.threads
    if apart:
        before = set(k.used)
        hit = score(mine)
        k.used &= before | {hit.name}
    else:
        hit = k.let("hit pos_score", k.lift(0.0, s.type))
    top = k.let("top run_max m", k.lift(-1.0e30, s.type))
    total = k.let("total denom sum_exp", k.lift(0.0, s.type))
    with k.for_("j n key_id", stop) as j:
        found = score(j)
        if not apart:
            with k.if_(fn("eq", j, mine)):
                k.assign(hit, found)
        if shape.chance(0.5):
            higher = k.let("new_max higher", most(top, found))
            k.assign(total, total * exp(top - higher) + exp(found - higher))
            k.assign(top, higher)
        else:
            with k.if_(found > top):
                k.assign(total, total * exp(top - found))
                k.assign(top, found)
            k.augment(total, "add", exp(found - top))
    return hit, top, total


@idiom
def triplet_margin(k: KernelBuilder, level: int) -> Title:
    """Triplet loss: from given triplets, aligned rows, or the hardest of each row's batch."""
    shape = k.draw.shape
    s = _space(k, 0.0)
    ways = {"aligned": 3, "indexed": 3, "hardest": 2 * (level > 2) + level // 4}
    way = shape.weighted(ways)
    n = k.size("samples", 16, 24) if way == "hardest" else k.size("triplets", 24, 40)
    margin = k.scalar("margin alpha", s.type, 0.2, 1.0)
    squared = shape.chance(0.4)
    (i,) = k.thread(n, names=[k.name("i t tid")])
    if way == "hardest":
        near, far, told = _hardest(s, i)
    else:
        near, far, told = _given(s, i, indexed=way == "indexed")
    kind = "squared distance"
    if not squared:
        eps = k.draw.value.choice((1e-6, 1e-8, 1e-4))
        names = alike(k, "d_pos pos_dist", "d_neg neg_dist")
        near, far = k.let(names[0], sqrt(near + eps)), k.let(names[1], sqrt(far + eps))
        kind = f"distance (sqrt(squared distance + {eps:g}))"
    soft = level > 1 and shape.chance(0.3)
    gap = k.let("gap violation", near - far + margin)
    value: Expr = most(gap, k.lift(0.0, s.type))
    if soft:
        value = value + log(1.0 + exp(-abs(gap)))
    losses = k.out("losses triplet_losses loss", s.type, n)
    k.store(losses, i, value)
    what = f"{kind} to the positive - {kind.split(' (')[0]} to the negative + {margin.name}"
    text = f"Triplet margin loss. With gap = {what}, {losses.name} gets "
    text += "log(1 + exp(gap)), written without overflow. " if soft else "max(gap, 0). "
    if level > 1 and shape.chance(0.25 + 0.05 * level):
        active = k.out("active violated", INT32, n)
        k.store(active, i, fn("where", gap > 0.0, k.lift(1, INT32), 0))
        told += f" {active.name} gets 1 where the gap is above 0, else 0."
    return Title(k.name("triplet_loss triplet_margin_loss metric_loss"), text + told)


def _given(s: _Space, i: Var, indexed: bool) -> tuple[Expr, Expr, str]:
    """Distances in triplets of rows of three tables, or of one table by index."""
    k, rows = s.k, "triplets"
    names = alike(k, "pos_dist_sq pos_sq", "neg_dist_sq neg_sq")
    if not indexed:
        x, p, n = (s.array(role, rows) for role in ("anchors", "positives", "negatives"))
        near = s.distance(x, i, p, i, names[0])
        return (
            near,
            s.distance(x, i, n, i, names[1]),
            "Anchors, positives and negatives are the rows of three arrays.",
        )
    k.size("items", 12, 16)
    x = s.array("embeddings z features", "items")
    ids = [
        k.array(role, INT32, rows, init="index_of:items")
        for role in ("anchor_ids", "positive_ids", "negative_ids")
    ]
    a, p, n = (k.let(name, v[i]) for name, v in zip("apn", ids, strict=True))
    near, far = s.distance(x, a, x, p, names[0]), s.distance(x, a, x, n, names[1])
    return near, far, f"{ids[0].name}, {ids[1].name} and {ids[2].name} name rows of {x.name}."


def _hardest(s: _Space, i: Var) -> tuple[Expr, Expr, str]:
    """Distances to the farthest row with the anchor's label and the nearest with another."""
    k = s.k
    x = s.array("embeddings z features", "samples")
    labels = k.array("labels classes", INT32, "samples", low=0, high=9)
    own = k.let("own label", labels[i])
    names = alike(k, "hardest_pos far_pos", "hardest_neg near_neg")
    near = k.let(names[0], k.lift(0.0, s.type))
    far = k.let(names[1], k.lift(1.0e6, s.type))
    with k.for_("j n", extent(labels)) as j:
        found = s.distance(x, i, x, j, "dist_sq sq")
        if k.draw.shape.chance(0.5):
            with k.if_(fn("eq", labels[j], own)):
                k.assign(near, most(near, found))
            with k.else_():
                k.assign(far, fn("min", far, found))
        else:
            same = k.let("same_class same", fn("eq", labels[j], own))
            with k.if_(fn("and", same, found > near)):
                k.assign(near, found)
            with k.if_(fn("and", fn("not", same), found < far)):
                k.assign(far, found)
    told = f"Each row of {x.name} is an anchor: its positive is the farthest row with the same "
    told += f"entry of {labels.name}, its negative the nearest with another one (at a squared "
    told += "distance of 1e6 if there is none)."
    return near, far, told
