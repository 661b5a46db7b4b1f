"""Scores of models by the bin they fall into, or by the thresholds they reach."""

from __future__ import annotations

from contextlib import nullcontext

from generators.atomic.parallel.parts import COUNTS, Shared, Work, extent_of, named, work
from generators.build import KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import least
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Const, Expr, Var

_SPAN = (48, 72)


@idiom(depth=2)
def calibration_bins(k: KernelBuilder, level: int) -> Title:
    """Reliability diagrams: predictions by confidence, with how often they are right."""
    shape = k.draw.shape
    real = k.draw.wide_float_type()
    k.size("conf_bins", 5, 8)
    with work(k, level, "n", (72, 96), "i s", "models", "list lists blocks") as w:
        conf = w.read("confidence probs scores", real, 0.02, 0.98)
        bins = extent_of(k, "conf_bins")
        p = w.let("p conf", conf, 1.0)
        slot = least(cast(p * cast(bins, real), INT32), bins - 1)
        slot = w.let("slot bin_id bucket", slot, 1.0)
        binary = shape.chance(0.4)
        if binary:
            labels = w.read("labels outcomes truth", INT32, 0, 1)
            hit: Expr = fn("ne", labels, k.lift(0, INT32))
            said = f"{written(labels)} is not 0"
        else:
            k.size("classes", 3, 4)
            truth = w.read("truth targets", INT32, init="index_of:classes")
            guess = w.read("predicted guesses", INT32, init="index_of:classes")
            hit = fn("eq", guess, truth)
            said = f"{written(guess)} == {written(truth)}"
        kind = shape.weighted(COUNTS)
        hits = w.shared("hits correct", kind, ("conf_bins",))
        counts = w.shared("counts totals", kind, ("conf_bins",))
        sums = w.shared("conf_sums prob_sums", real, ("conf_bins",))
        sums.update("add", (slot,), p)
        if counts is not None:
            counts.update("add", (slot,), 1)
        with k.if_(hit):
            hits.update("add", (slot,), 1)
    text = "Reliability diagram: for each prediction of confidence p, add p to "
    text += sums.said("b") + (f", 1 to {counts.said('b')}" if counts is not None else "")
    text += (
        f", and 1 to {hits.said('b')} where {said}. Here p = {written(conf)} and b = min(int(p * "
    )
    text += f"{written(bins)}), {written(bins)} - 1)."
    return Title(k.name("calibration_bins reliability_counts bin_confidence"), text)


@idiom(depth=3)
def threshold_counts(k: KernelBuilder, level: int) -> Title:
    """Cumulative histograms and ROC counts: every threshold that a score reaches counts it."""
    shape, size = k.draw.shape, k.size("thresholds", 6, 9)
    type_, low, high = shape.choice((*((FLOAT32, -2.0, 2.0),) * 2, (INT32, 0, 40)))
    with work(k, level, "n", _SPAN, "i s", "batch", "list lists blocks") as w:
        load = w.read("scores", type_, low, high)
        score = w.let("score v", load, 1.0)
        cuts = k.array("thresholds cuts", type_, size, init="sorted", low=low, high=high)
        split, upto = level < 3 and shape.chance(0.4), False
        value: Expr = k.lift(1, shape.weighted(COUNTS))
        weight = None
        if shape.chance(0.3):
            weight = w.read("weights sample_weight", FLOAT32, 0.5, 2.0)
            value = named(k, "w amount", weight, 1.0)
        if level >= 3 and shape.chance(0.6):
            return _by_interval(w, cuts, score, written(load), value)
        assert isinstance(value.type, Scalar)
        if split:
            label = w.read("labels truth", INT32, 0, 1)
            names_ = k.draw.word.choice((("true_pos", "false_pos"), ("tp", "fp")))
            above, below = (w.shared(n, value.type, ("thresholds",)) for n in names_)
            flag = named(k, "positive is_pos", fn("ne", label, k.lift(0, INT32)), 1.0)
        else:
            upto = level < 3 and shape.chance(0.4)
            names = "at_most num_below" if upto else "at_least survivors"
            above = w.shared(names, value.type, ("thresholds",))
        early = shape.chance(0.5) and not upto
        with k.for_("t j", extent(cuts)) as t:
            if early:
                with k.if_(score < cuts[t]):
                    k.break_()
            test = score <= cuts[t] if upto else fn("ge", score, cuts[t])
            with nullcontext() if early else k.if_(test):
                _reached(k, t, value, above, (flag, below) if split else None)
    what = "1" if weight is None else written(weight)
    text = _told_thresholds(written(load), cuts.name, upto, f"add {what} to {above.said('t')}")
    if split:
        text = f"Counts for a ROC curve: {text} where {written(label)} is 1, else to "
        return Title(k.name("roc_counts count_positives"), f"{text}{below.said('t')}.")
    return Title(k.name("cumulative_histogram threshold_counts"), f"Cumulative histogram: {text}.")


def _told_thresholds(score: str, cuts: str, upto: bool, then: str) -> str:
    reached = "does not exceed" if upto else "reaches"
    text = f"for every threshold t that {score} {reached} ({score} {'<=' if upto else '>='} "
    return f"{text}{cuts}[t]; {cuts} ascend), {then}"


def _by_interval(w: Work, cuts: Var, score: Expr, said: str, value: Expr) -> Title:
    """A binary search: one atomic an item, where a suffix sum counts for all lower thresholds."""
    k = w.k
    assert isinstance(value.type, Scalar)
    out = w.shared("interval_counts last_reached", value.type, ("thresholds",))
    low, high = k.let("lo first", k.lift(0, INT32)), k.let("hi end", extent(cuts))
    with k.while_(low < high):
        middle = k.let("mid", (low + high) // 2)
        with k.if_(score >= cuts[middle]):
            k.assign(low, middle + 1)
        with k.else_():
            k.assign(high, middle)
    with k.if_(low > 0):
        out.update("add", (low - 1,), value)
    what = "1" if isinstance(value, Const) else "its weight"
    text = (
        f"First pass of a cumulative histogram: find t, the last of the ascending {cuts.name} that "
    )
    text += (
        f"{said} reaches, by binary search, and add {what} to {out.said('t')}, if there is one. "
    )
    return Title(k.name("threshold_intervals count_intervals"), f"{text}A suffix sum follows.")


def _reached(
    k: KernelBuilder, t: Expr, value: Expr, above: Shared, other: tuple[Expr, Shared] | None
) -> None:
    if other is None:
        above.update("add", (t,), value)
        return
    with k.if_(other[0]):
        above.update("add", (t,), value)
    with k.else_():
        other[1].update("add", (t,), value)
