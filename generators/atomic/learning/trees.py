"""Histograms of gradients, from which boosted trees choose their splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp
from generators.program.dtypes import FLOAT32, INT32, Scalar, Type, Vec
from generators.program.expr import Expr, Var

INT8, INT64 = Scalar("int8"), Scalar("int64")
UINT8, UINT16, UINT32 = Scalar("uint8"), Scalar("uint16"), Scalar("uint32")
_VEC2 = Vec(2, FLOAT32)


@dataclass(frozen=True)
class _Rows:
    """Rows of a training set, and which of them a thread takes."""

    k: KernelBuilder
    row: Expr
    rest: tuple[Var, ...]
    """The thread's indices beside that of the row."""
    said: str
    listed: bool
    total: str = "num_rows"


def _rows(k: KernelBuilder, level: int, second: str) -> _Rows:
    """A thread for each row, and each of ``second`` where there is one; of all rows or of some."""
    listed = level > 1 and k.draw.shape.chance(0.4)
    first = k.size("node_rows", 18, 22) if listed else k.size("num_rows", 30, 36)
    total = f"2*{first}" if listed else first
    names = [
        k.name("t pos" if listed else "row i"),
        *([k.name("w" if second == "feature_words" else "f")] if second else []),
    ]
    i, *rest = k.thread(first, *([second] if second else []), names=names)
    if not listed:
        return _Rows(k, i, tuple(rest), "every row", False)
    ids = k.array("row_ids row_indices", INT32, first, init=f"index_of:{total}")
    return _Rows(k, k.let("row i", ids[i]), tuple(rest), f"every row of {ids.name}", True, total)


@dataclass(frozen=True)
class _Gradient:
    """A row's gradient and hessian, what they are in words, and the type of sums."""

    k: KernelBuilder
    g: Expr
    h: Expr | None
    said: str
    type: Scalar = FLOAT32


def _gradient(r: _Rows, level: int) -> _Gradient:
    """What a row adds: stored, as a pair, made from a prediction, or as whole numbers."""
    k, row = r.k, r.row
    ways = {"two": 4, "pair": 2 * (level > 1), "made": 2 * (level > 2), "whole": 2 * (level > 3)}
    way = k.draw.shape.weighted({w: n for w, n in ways.items() if n})
    if way == "made":
        return _made(r)
    if way == "pair":
        pairs = k.array("gpair grad_pairs", _VEC2, r.total, low=-1.0, high=1.0)
        both = k.let("gp pair", pairs[row])
        return _Gradient(
            k, both[0], both[1], f"its gradient and hessian, the components of {pairs.name},"
        )
    if way == "whole":
        g = k.array("grad_q quantized_grad", INT8, r.total, low=-31, high=31)
        h = k.array("hess_q quantized_hess", INT8, r.total, low=0, high=31)
        said = f"its quantised {g.name} and {h.name}"
        return _Gradient(k, g[row], h[row], said, INT32)
    g = k.array("grad gradients", FLOAT32, r.total, low=-1.0, high=1.0)
    h = k.array("hess hessians", FLOAT32, r.total, low=0.05, high=1.0)
    return _Gradient(k, g[row], h[row], f"its {g.name} and {h.name}")


def _made(r: _Rows) -> _Gradient:
    """Gradients of a loss, from the margin or the prediction so far."""
    k, row = r.k, r.row
    logistic = k.draw.shape.chance(0.6)
    names = "margins raw_scores" if logistic else "predictions preds"
    scores = k.array(names, FLOAT32, r.total, low=-2.0, high=2.0)
    if logistic:
        labels = k.array("labels targets", FLOAT32, r.total, low=0.0, high=1.0)
        p = k.let("p prob", 1.0 / (1.0 + exp(-scores[row])))
        g, h = k.let("g", p - labels[row]), k.let("h", p * (1.0 - p))
        said = f"p - {labels.name} and p * (1 - p), p being the sigmoid of {scores.name},"
        return _Gradient(k, g, h, said)
    labels = k.array("targets labels", FLOAT32, r.total, low=-2.0, high=2.0)
    g = k.let("g resid_grad", scores[row] - labels[row])
    return _Gradient(k, g, None, f"{scores.name} - {labels.name} and 1")


class _Sums:
    """The histograms: of gradients and of hessians (or counts), apart or in one array."""

    def __init__(self, k: KernelBuilder, grad: _Gradient, dims: tuple[str, ...]) -> None:
        self.k, self.grad = k, grad
        ways = {"apart": 4, "last": 2 * (len(dims) < 4), "pairs": 2}
        if grad.h is None:
            ways = {"apart": 1}
        elif grad.type == INT32:
            ways = {"apart": 1, "packed": 2}
        self.way = k.draw.shape.weighted(ways)
        if self.way == "apart":
            self.sums = k.accumulator("grad_hist hist_g", grad.type, dims)
            kind = INT32 if grad.h is None else grad.type
            names = "count_hist bin_counts" if grad.h is None else "hess_hist hist_h"
            self.more = k.accumulator(names, kind, dims)
            return
        whole = (*dims, "2") if self.way == "last" else dims
        elements: dict[str, Type] = {"last": grad.type, "pairs": _VEC2, "packed": INT64}
        self.sums = k.accumulator("hist histograms", elements[self.way], whole)

    def said(self, place: str) -> str:
        if self.way == "apart":
            return f"{self.sums.name}[{place}] and {self.more.name}[{place}]"
        if self.way == "last":
            return f"{self.sums.name}[{place}, 0] and {self.sums.name}[{place}, 1]"
        if self.way == "pairs":
            return f"the two components of {self.sums.name}[{place}]"
        return f"{self.sums.name}[{place}], as one 64-bit number g * 2^32 + h"

    def add(self, place: tuple[Expr, ...]) -> None:
        k, g = self.k, self.grad
        first = cast(g.g, g.type)
        if g.h is None:
            k.atomic("add", self.sums, place, first)
            k.atomic("add", self.more, place, 1)
            return
        second = cast(g.h, g.type)
        if self.way == "pairs":
            k.atomic("add", self.sums, place, make(_VEC2, first, second))
        elif self.way == "packed":
            both = cast(g.g, INT64) * k.lift(2**32, INT64) + cast(g.h, INT64)
            k.atomic("add", self.sums, place, k.let("packed both", both))
        elif self.way == "last":
            for n, value in enumerate((first, second)):
                k.atomic("add", self.sums, (*place, k.lift(n, INT32)), value)
        else:
            k.atomic("add", self.sums, place, first)
            k.atomic("add", self.more, place, second)


def _node(r: _Rows, level: int) -> tuple[tuple[str, ...], tuple[Expr, ...], str, str]:
    """The tree's node that a row is in: sizes, index and words; rows of other nodes end."""
    k, shape = r.k, r.k.draw.shape
    ways = {"none": 3, "level": 3 * (level > 2), "even": 2 * (level > 3), "one": 2 * (level > 1)}
    way = shape.weighted({w: n for w, n in ways.items() if n})
    if way == "none" or r.listed:
        return (), (), "", ""
    k.size("tree_nodes", 4, 4)
    count = "2*tree_nodes" if way == "even" else "tree_nodes"
    ids = k.array("node_ids positions", INT32, "num_rows", init=f"index_of:{count}")
    node = k.let("node nid", ids[r.row])
    if way == "one":
        wanted = k.scalar("target_node node_id", INT32, 0, 2)
        with k.if_(fn("ne", node, wanted)):
            k.return_()
        return (), (), "", f" Only rows with {ids.name} equal to {wanted.name} count."
    if way == "even":
        with k.if_(fn("eq", node & 1, 1)):
            k.return_()
        slot = k.let("slot pair", node >> k.lift(1, INT32))
        text = f" Only rows of even nodes count, n being {ids.name}[row] / 2; what the odd siblings"
        return ("tree_nodes",), (slot,), "n, ", f"{text} have follows by subtraction."
    start = k.scalar("first_node level_start", INT32, 1, 2)
    slot = k.let("slot local_node", node - start)
    with k.if_(slot < 0):
        k.return_()
    text = f" n is {ids.name}[row] - {start.name}; rows for which it is negative are left out."
    return ("tree_nodes",), (slot,), "n, ", text


def _dense(r: _Rows, level: int, looped: bool) -> Iterator[tuple[Expr, Expr, str]]:
    """One code for each row and feature; by a thread each, or along the features of a row."""
    k, shape = r.k, r.k.draw.shape
    type_ = shape.weighted({UINT8: 4, UINT16: 1, INT32: 2})
    across = shape.chance(0.4)
    sizes = ("features", r.total) if across else (r.total, "features")
    codes = k.array("binned bin_codes", type_, sizes, init="index_of:bins")

    def code(f: Expr) -> Expr:
        place = (f, r.row) if across else (r.row, f)
        return k.let("b bin_id", cast(codes[place], INT32))

    said = f"{codes.name}{'[f, row]' if across else '[row, f]'}"
    if not looped:
        yield r.rest[0], code(r.rest[0]), said
        return
    with k.for_("f feature", extent(codes, 0 if across else 1)) as f:
        yield f, code(f), said


def _words(r: _Rows) -> Iterator[tuple[Expr, Expr, str]]:
    """Codes of 4 bits, eight of them in a word."""
    k = r.k
    packed = k.array(
        "packed_bins packed", UINT32, (r.total, "feature_words"), low=0, high=2**32 - 1
    )
    (w,) = r.rest
    word = k.let("word bits", packed[(r.row, w)])
    with k.for_("j nibble", 8) as j:
        shift = cast(4 * j, UINT32)
        b = k.let("b bin_id", cast((word >> shift) & k.lift(15, UINT32), INT32))
        said = f"nibble f % 8, counted from the lowest, of {packed.name}[row, f // 8]"
        yield k.let("f feature", 8 * w + j), b, said


def _sparse(r: _Rows) -> Iterator[tuple[Expr | None, Expr, str]]:
    """Bins that count on through all features: rows of one length with gaps, or of their own."""
    k = r.k
    if k.draw.shape.chance(0.5):
        offsets = k.array(
            "row_ptr row_offsets", INT32, f"{r.total}+1", init="sorted", low=0, high=40
        )
        k.size("nnz", 44, 52, minimum=40)
        entries = k.array("bin_index gidx", INT32, "nnz", init="index_of:total_bins")
        with k.for_("e entry", offsets[r.row + 1], start=offsets[r.row]) as e:
            said = f"each of {entries.name} from {offsets.name}[row] up to the next row's"
            yield None, k.let("b bin_id", entries[e]), said
        return
    k.size("max_entries", 3, 5)
    entries = k.array("gidx ellpack", INT32, (r.total, "max_entries"), init="index_of:total_bins+1")
    null = k.size_param("null_bin missing_bin", "total_bins")
    with k.for_("e entry", extent(entries, 1)) as e:
        b = k.let("b bin_id", entries[(r.row, e)])
        with k.if_(b < null):
            yield None, b, f"each of {entries.name}[row] that is not {null.name} (missing)"


@idiom
def gradient_histograms(k: KernelBuilder, level: int) -> Title:
    """Sums of gradient and hessian by feature and bin, as histogram-based boosting takes them.

    T. Chen, C. Guestrin, KDD 2016; G. Ke et al., NIPS 2017.
    """
    ways = {
        "dense": 5,
        "loop": 3 * (level > 1),
        "words": 3 * (level > 2),
        "sparse": 3 * (level > 2),
    }
    way = k.draw.shape.weighted({w: n for w, n in ways.items() if n})
    if way in ("dense", "loop"):
        k.size("features", 3, 4)
    elif way == "words":
        k.size("feature_words", 2, 2)
    r = _rows(k, level, {"dense": "features", "words": "feature_words"}.get(way, ""))
    nodes, lead, n, told = _node(r, level)
    grad = _gradient(r, level)
    k.size(*(("total_bins", 9, 12) if way == "sparse" else ("bins", 4, 6)))
    last = ("total_bins",) if way == "sparse" else ("features", "bins")
    if way == "words":
        k.sizes.pop("bins")
        last = ("8*feature_words", "16")
    sums = _Sums(k, grad, (*nodes, *last))
    codes = {"words": _words, "sparse": _sparse}.get(way)
    found = codes(r) if codes else _dense(r, level, way == "loop")
    said = ""
    for feature, b, code in found:
        sums.add((*lead, b) if feature is None else (*lead, feature, b))
        said = code
    text = f"Gradient histograms of a boosted tree: for {r.said} and each "
    text += f"{'entry' if way == 'sparse' else 'feature f'} of it, add {grad.said} to "
    text += f"{sums.said(n + ('b' if way == 'sparse' else 'f, b'))}, where b is {said}.{told}"
    text += " Bins are numbered through all features." if way == "sparse" else ""
    return Title(k.name("gradient_histogram build_histograms grad_hist"), text)
