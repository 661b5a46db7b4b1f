"""Counts and sums by class, expert, bin or code, as metrics and codebooks take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, most
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var

UINT8, INT64 = Scalar("uint8"), Scalar("int64")


def _samples(
    k: KernelBuilder, names: str = "i sample", size: str = "samples"
) -> tuple[tuple[str, ...], tuple[Var, ...]]:
    """A thread for each sample, of a list or of a batch of lists."""
    if k.draw.shape.chance(0.4):
        k.size("batch", 4, 5)
        k.size("steps", 9, 13)
        return ("batch", "steps"), k.thread("batch", "steps", names=[k.name("b"), k.name("t step")])
    k.size(size, 40, 64)
    return (size,), k.thread(size, names=[k.name(names)])


@idiom(depth=3)
def expert_load(k: KernelBuilder, level: int) -> Title:
    """Load balance of routed experts: tokens counted at their expert, probabilities summed."""
    shape = k.draw.shape
    dims, at = _samples(k, "t token", "tokens")
    k.size("experts", 4, 6)
    logits = k.array("router_logits gate_logits", FLOAT32, (*dims, "experts"), low=-2.0, high=2.0)
    stop: Expr = extent(logits, len(dims))
    if shape.chance(0.35):
        stop = k.size_param("num_experts n_experts", "experts")

    def x(e: Var) -> Expr:
        return logits[at + (e,)]

    told = _only_valid(k, dims, at)
    per_batch = len(dims) > 1 and shape.chance(0.5)
    loop = k.draw.word.choice(("e", "j"))
    lead = at[:1] if per_batch else ()
    shape_of = (*dims[:1], "experts") if per_batch else ("experts",)
    top, given = k.let("top best", k.lift(-1.0e30, FLOAT32)), shape.chance(0.35)
    where = ", ".join(i.name for i in at)
    who = f"token ({where})" if len(at) > 1 else f"token {where}"
    text = (
        f"Load of the experts of a router: each {who} goes to the first expert of its largest logit"
    )
    start: Expr = k.lift(0, INT32)
    if given:
        ids = k.array("expert_ids assigned", INT32, dims, init="index_of:experts")
        start = ids[at]
        text = f"Load of the experts of a router: each {who} goes to its expert {ids.name}[{where}]"
    chosen = k.let("expert chosen", start)
    with k.for_(loop, stop) as e:
        if given:
            k.assign(top, most(top, x(e)))
        else:
            _raise(k, x(e), e, top, None if given else chosen)
    text += _Router(k, x, stop, (*lead,), shape_of, loop).tally(top, chosen, given)
    text += " Each sequence of the batch has its own counts and sums." if per_batch else ""
    text += f" The softmax is over the token's {logits.name}.{told}"
    return Title(k.name("expert_load balance_counts moe_load_stats"), text)


def _raise(k: KernelBuilder, logit: Expr, e: Var, top: Var, chosen: Var | None) -> None:
    """Keep the largest logit, and which expert has it."""
    v = k.let("logit score", logit)
    with k.if_(v > top):
        k.assign(top, v)
        if chosen is not None:
            k.assign(chosen, e)


def _only_valid(k: KernelBuilder, dims: tuple[str, ...], at: tuple[Var, ...]) -> str:
    """Often, tokens without a flag end; the sentence on that."""
    if not k.draw.shape.chance(0.35):
        return ""
    type_ = UINT8 if k.draw.shape.chance(0.5) else INT32
    valid = k.array("mask valid", type_, dims, low=0, high=1)
    with k.if_(fn("eq", valid[at], 0)):
        k.return_()
    return f" Tokens whose {valid.name} is 0 are left out."


@dataclass(frozen=True)
class _Router:
    """A token's logits, and where sums of each expert are kept."""

    k: KernelBuilder
    x: Callable[[Var], Expr]
    stop: Expr
    lead: tuple[Var, ...]
    dims: tuple[str, ...]
    loop: str

    def tally(self, top: Var, chosen: Var, given: bool) -> str:
        """Count the token at its expert, and sum or raise something beside that; in words."""
        k = self.k
        # The loss of balance takes the mean probability of every expert, gates that of the chosen.
        way = k.draw.shape.choice(("probs", "probs", "probs", "own"))
        counts = k.accumulator("expert_counts load", INT32, self.dims)
        k.atomic("add", counts, (*self.lead, chosen), 1)
        total = k.let("total denom", k.lift(0.0, FLOAT32))
        k.used.discard(self.loop)
        with k.for_(self.loop, self.stop) as m:
            k.augment(total, "add", exp(self.x(m) - top))
        names = "gate_sums chosen_prob_sums" if way == "own" else "prob_sums importance"
        sums = k.accumulator(names, FLOAT32, self.dims)
        text = f", is counted there in {counts.name}, and adds its softmax probability "
        if way == "own":
            own = exp(self.x(chosen) - top) if given else k.lift(1.0, FLOAT32)
            k.atomic("add", sums, (*self.lead, chosen), own / total)
            return f"{text}of that expert to {sums.name} there."
        k.used.discard(self.loop)
        with k.for_(self.loop, self.stop) as q:
            k.atomic("add", sums, (*self.lead, q), exp(self.x(q) - top) / total)
        return f"{text}of every expert to {sums.name}."


def _top_class(
    k: KernelBuilder, dims: tuple[str, ...], at: tuple[Var, ...]
) -> tuple[Var, Expr, str]:
    """The largest probability of a sample, whether its class is the label, and that in words."""
    k.size("classes", 4, 5)
    p = k.array("probs predictions", FLOAT32, (*dims, "classes"), low=0.02, high=0.98)
    best = k.let("conf top_p", p[at + (k.lift(0, INT32),)])
    guess = k.let("pred guess", k.lift(0, INT32))
    with k.for_("c j", extent(p, len(dims)), start=1) as c, k.if_(p[at + (c,)] > best):
        k.assign(best, p[at + (c,)])
        k.assign(guess, c)
    labels = k.array("labels targets", INT32, dims, init="index_of:classes")
    hit = fn("eq", guess, labels[at])
    said = f"the largest of its {p.name}, and it is a hit where the first class that has it is its "
    said += f"entry of {labels.name}"
    return best, hit, said


@idiom(depth=3)
def reliability_bins(k: KernelBuilder, level: int) -> Title:
    """Reliability: confidences and hits summed by bins of confidence, as for the ECE."""
    shape = k.draw.shape
    dims, at = _samples(k)
    k.size("conf_bins", 5, 8)
    classes = shape.chance(0.5)
    weight: Expr | None = None
    if classes:
        best, hit, said = _top_class(k, dims, at)
    else:
        p = k.array("probs confidence", FLOAT32, dims, low=0.01, high=0.99)
        best = k.let("conf p", p[at])
        labels = k.array("hits correct", UINT8 if shape.chance(0.4) else INT32, dims, low=0, high=1)
        hit = fn("ne", labels[at], 0)
        where = ", ".join(i.name for i in at)
        said = f"{p.name}[{where}], and it is a hit where {labels.name}[{where}] is not 0"
    if shape.chance(0.3):
        weights = k.array("sample_weights weights", FLOAT32, dims, low=0.2, high=1.5)
        weight = k.let("w weight", weights[at])
        said += f"; confidences and hits are weighted by {weights.name}"
    per = len(dims) > 1 and shape.chance(0.4)
    lead, out_dims = (at[:1], (dims[0], "conf_bins")) if per else ((), ("conf_bins",))
    slot, said_bins = _bin_of(k, best)
    confs = k.accumulator("conf_sums conf_total", FLOAT32, out_dims)
    term: Expr = best if weight is None else weight * best
    k.atomic("add", confs, (*lead, slot), term)
    hits = k.accumulator("hit_sums num_correct", FLOAT32 if weight is not None else INT32, out_dims)
    with k.if_(hit):
        k.atomic("add", hits, (*lead, slot), 1 if weight is None else weight)
    names = "bin_counts counts" if weight is None else "bin_weights weight_sums"
    counts = k.accumulator(names, FLOAT32 if weight is not None else INT32, out_dims)
    k.atomic("add", counts, (*lead, slot), 1 if weight is None else weight)
    text = f"Calibration sums for the expected calibration error, over {said_bins}: add up in "
    text += f"{confs.name} the confidences, in {hits.name} the hits and in {counts.name} the "
    text += f"{'samples' if weight is None else 'weights of the samples'} of each bin"
    text += ", for each sequence of the batch." if per else "."
    text += f" The confidence of a sample is {said}."
    return Title(k.name("calibration_sums reliability_sums ece_bins"), text)


def _bin_of(k: KernelBuilder, value: Var) -> tuple[Var, str]:
    """The bin of a value: of equal ones, by the inner bounds that lie below it, or by a search."""
    shape = k.draw.shape
    way = shape.choice(("equal", "edges", "search"))
    if way == "equal":
        number = k.size_param("num_bins n_bins", "conf_bins")
        place = cast(value * cast(number, FLOAT32), INT32)
        place = least(place, number - 1)
        return k.let("slot bin_id", place), "equal bins of [0, 1]"
    edges = k.array("edges bounds", FLOAT32, "conf_bins", low=0.0, high=0.95, init="sorted")
    said = f"bins that begin at the ascending {edges.name} (the first takes what lies below, too)"
    slot = k.let("slot bin_id", k.lift(0, INT32))
    if way == "edges":
        with k.for_("m edge_id", extent(edges), start=1) as m, k.if_(value >= edges[m]):
            k.assign(slot, m)
        return slot, said
    high = k.let("hi end", extent(edges))
    with k.while_(high - slot > 1):
        middle = k.let("mid half", (slot + high) // 2)
        with k.if_(value >= edges[middle]):
            k.assign(slot, middle)
        with k.else_():
            k.assign(high, middle)
    return slot, said


_CODES = "k_clusters"


@idiom(depth=4)
def codebook_update(k: KernelBuilder, level: int) -> Title:
    """K-means and vector quantisation: samples added to the nearest code, and counted there."""
    shape = k.draw.shape
    grouped = shape.chance(0.4)
    k.size("samples", *((14, 18) if grouped else (40, 60)))
    group = (k.size("groups", 2, 3),) if grouped else ()
    k.size(_CODES, 5, 7)
    width = shape.choice((2, 3, 4)) if shape.chance(0.5) else 0
    more = () if width else (k.size("dim", 3, 5),)
    element = Vec(width, FLOAT32) if width else FLOAT32
    dims = ("samples", *group)
    at = k.thread(*dims, names=[k.name("i s"), *([k.name("g part")] * grouped)])
    b = _Book(k, at, at[1:], (*group, _CODES, *more), element, width)
    x = k.array("vectors points", element, (*dims, *more), low=-1.0, high=1.0)
    known, residual = shape.chance(0.3 if level < 3 else 0.08), shape.chance(0.3)
    book = None
    if residual or not known:
        book = k.array("codebook centroids centers", element, b.whole, low=-1.0, high=1.0)
    least_d = None
    if known or book is None:
        ids = k.array("assignments code_ids", INT32, dims, init=f"index_of:{_CODES}")
        best, where = k.let("code nearest", ids[at]), f"at its given code ({ids.name})"
    else:
        least_d, best = b.nearest(x, book)
        where = f"at the nearest code of {book.name} (the first of equal ones)"
    w, told = None, x.name
    told = f"{x.name} less the code" if residual else told
    if shape.chance(0.35):
        weights = k.array("weights importance", FLOAT32, dims, low=0.3, high=1.5)
        w, told = k.let("w weight", weights[at]), f"{told}, times {weights.name},"
    sums = k.accumulator("residual_sums" if residual else "code_sums new_sums", element, b.whole)
    b.add(x, book if residual else None, sums, best, w)
    about = "Product quantisation" if grouped else "Vector quantisation"
    text = f"{about}, sums for the update of a codebook: each {'part of a ' * grouped}sample adds "
    text += f"{told} to {sums.name} {where}"
    text += b.noted(group, least_d, best, w)
    text += " Every part has a codebook of its own." if grouped else ""
    return Title(k.name("codebook_sums vq_update"), text)


@dataclass(frozen=True)
class _Book:
    """Codes as vectors or as rows that are looped over, one book or one for each part."""

    k: KernelBuilder
    at: tuple[Var, ...]
    part: tuple[Var, ...]
    whole: tuple[str, ...]
    element: Type
    width: int
    own: list[Var] = field(default_factory=list)
    """The sample's vector, where it has a local."""

    def nearest(self, x: Var, book: Var) -> tuple[Var, Var]:
        """The smallest squared distance to a code, and which code that is."""
        k = self.k
        smallest = k.let("best_d nearest_d", k.lift(1.0e30, FLOAT32))
        best = k.let("code nearest", k.lift(0, INT32))
        own = k.let("own point_i", x[self.at]) if self.width else None
        self.own.extend([own] if own is not None else [])
        with k.for_("c j", extent(book, len(self.part))) as c:
            if self.width:
                gap = (x[self.at] if own is None else own) - book[self.part + (c,)]
                d = k.let("d dist_sq", fn("length_sq", gap))
            else:
                d = k.let("d dist_sq", k.lift(0.0, FLOAT32))
                with k.for_("f", extent(x, len(self.at))) as f:
                    diff = k.let(
                        "gap diff",
                        x[self.at + (f,)] - book[self.part + (c, f)],
                    )
                    k.augment(d, "add", diff * diff)
            with k.if_(d < smallest):
                k.assign(smallest, d)
                k.assign(best, c)
        return smallest, best

    def add(self, x: Var, book: Var | None, sums: Var, code: Var, w: Var | None) -> None:
        """Add the sample, or what it lacks of its code, to the code's sum."""
        k = self.k

        def put(inner: tuple[Var, ...]) -> None:
            place = (*self.part, code, *inner)
            value: Expr = self.own[0] if self.own else x[self.at + inner]
            value = value if book is None else value - book[place]
            k.atomic("add", sums, place, value if w is None else w * value)

        if self.width:
            put(())
        else:
            k.used.discard("f")
            with k.for_("f", extent(x, len(self.at))) as f:
                put((f,))

    def noted(self, group: tuple[str, ...], distance: Var | None, code: Var, w: Var | None) -> str:
        """Add to the count of the code, and to the total of distances at times; in words."""
        k = self.k
        text = ""
        if distance is not None and k.draw.shape.chance(0.35):
            error = k.accumulator("total_error inertia", FLOAT32, group or "1")
            cost = distance if w is None else w * distance
            k.atomic("add", error, self.part or (k.lift(0, INT32),), cost)
            times = "" if w is None else ", times its weight,"
            of = " of the part" * bool(group)
            text = f", and its squared distance to the code{times} to {error.name}{of}"
        counts = k.accumulator("code_counts usage", FLOAT32 if w else INT32, (*group, _CODES))
        k.atomic("add", counts, (*self.part, code), 1 if w is None else w)
        joint = "," if text else " and"
        return f"{joint} {'its weight' if w else '1'} to {counts.name} there{text}."
