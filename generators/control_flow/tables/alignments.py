"""Alignments: a thread fills the table of two sequences row by row, and keeps one row of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import minus, same
from generators.control_flow.parallel.lanes import Lanes, Seq, lanes, length, named
from generators.control_flow.strings.automata import text_of
from generators.kit.functions import least, most, where
from generators.kit.text import written
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Const, Expr, Var

FAR = 1.0e6
"""More than any path through a table of these sizes costs."""
_TEXTS = (("query", "target"), ("source", "target"), ("text_a", "text_b"), ("seq_a", "seq_b"))
_SIGNALS = (("signal_a", "signal_b"), ("queries", "templates"), ("measured", "model"))
"""What two texts and two signals are called."""


@dataclass
class _Pair:
    """Two sequences of each thread, how many elements of them count, and the row that is kept."""

    t: Lanes
    x: Seq
    y: Seq
    n: Expr
    m: Expr
    line: Seq
    said: str


def _pair(
    t: Lanes, level: int, x: Seq, y: Seq, type_: Scalar, names: str = "costs dp_row table_row"
) -> _Pair:
    """How far the sequences go, and an array for a row, one entry longer than the second."""
    k = t.k
    n, counted = length(x, level, "n")
    line = t.array(names, type_, "cols+1", role="out")
    return _Pair(t, x, y, n, named(k, "m", y.whole()), line, counted)


def _texts(k: KernelBuilder, level: int) -> _Pair:
    """Two texts of few symbols for each thread."""
    t = lanes(k, level, "pair p", low=8, high=14, layouts="rows rows columns")
    k.size("chars", 8, 12)
    k.size("cols", 6, 10)
    names = k.draw.word.choice(_TEXTS)
    x, kind = text_of(t, names[0], "chars", 3)
    y = t.array(names[1], kind, "cols", 0, 3)
    return _pair(t, level, x, y, INT32, "dp_row table_row")


def _weights(
    k: KernelBuilder, level: int, *steps: tuple[str, int, tuple[int, int]]
) -> tuple[Expr, ...]:
    """What steps cost: all numbers, or all parameters of these names and ranges."""
    if k.draw.shape.chance(0.2 + 0.1 * level):
        return tuple(k.scalar(names, INT32, *span) for names, _, span in steps)
    return tuple(k.lift(number, INT32) for _, number, _ in steps)


def _times(count: Expr, cost: Expr) -> Expr:
    """A cost so many times."""
    return count if isinstance(cost, Const) and int(cost.value) == 1 else count * cost


@idiom(depth=2)
def edit_distance(k: KernelBuilder, level: int) -> Title:
    """Levenshtein distance with weights (Wagner and Fischer, J. ACM 21, 1974)."""
    shape = k.draw.shape
    p = _texts(k, level)
    gap, swap = _weights(
        k, level, ("gap_cost indel_cost", 1, (2, 3)), ("subst_cost substitution_cost", 1, (1, 3))
    )
    line, nested = p.line, shape.chance(0.5)
    with k.for_("j c", p.m + 1) as j:
        line.put(j, _times(j, gap))
    with k.for_("i r", p.n) as i:
        diagonal = k.let("diagonal corner", line[0])
        line.put(0, _times(i + 1, gap))
        own: Expr = k.let("a own symbol_a", p.x[i]) if shape.chance(0.5) else p.x[i]
        with k.for_("q col", p.m) as q:
            up = k.let("up above", line[q + 1])
            kept = diagonal + where(same(own, p.y[q]), k.lift(0, INT32), swap)
            steps = least(up, line[q]) + gap if nested else least(up + gap, line[q] + gap)
            line.put(q + 1, least(kept, steps))
            k.assign(diagonal, up)
    out = p.t.each_out("distances edits", INT32)
    excess = level > 2 and shape.chance(0.3)
    k.store(out, p.t.at, line[p.m] - _times(fn("abs", p.n - p.m), gap) if excess else line[p.m])
    said = f"the edit distance of {p.x.name}{p.said} and {p.y.name}"
    if excess:
        said += " less what their lengths alone ask for"
    return Title(
        k.name("edit_distance levenshtein", "wagner_fischer"),
        f"For {p.t.each}, {out.name} gets {said}: insertions and deletions cost {written(gap)}, "
        f"replacements {written(swap)}. {p.line.name} holds one row of the table, at the end the "
        f"last.",
    )


@idiom
def common_subsequence(k: KernelBuilder, level: int) -> Title:
    """The longest common subsequence or substring of two texts (Hirschberg, CACM 18, 1975)."""
    shape = k.draw.shape
    p = _texts(k, level)
    joined = shape.chance(0.5)
    ends = joined and level > 1 and shape.chance(0.5)
    line = p.line
    with k.for_("j c", p.m + 1) as j:
        line.put(j, 0)
    best = k.let("best longest", k.lift(0, INT32)) if joined else None
    last = k.let("ends_at best_end", k.lift(0, INT32)) if ends else None
    with k.for_("i r", p.n) as i:
        before = k.let("before diagonal", k.lift(0, INT32))
        with k.for_("q col", p.m) as q:
            up = k.let("up above", line[q + 1])
            with k.if_(same(p.x[i], p.y[q])):
                line.put(q + 1, before + 1)
                if best is not None:
                    _longer(k, best, last, before + 1, i)
            with k.else_():
                line.put(q + 1, 0 if joined else most(up, line[q]))
            k.assign(before, up)
    out = p.t.each_out("run_lengths longest_runs" if joined else "lcs_lengths lengths_out", INT32)
    k.store(out, p.t.at, line[p.m] if best is None else best)
    what = "common substring" if joined else "common subsequence"
    text = f"For {p.t.each}, {out.name} gets the length of the longest {what} of "
    text += f"{p.x.name}{p.said} and {p.y.name}. {line.name} holds one row of the table."
    if last is not None:
        where_out = p.t.each_out("end_positions last_at", INT32)
        k.store(where_out, p.t.at, last)
        text += f" {where_out.name} gets where in {p.x.name} the first such run ends, 0 if none."
    names = "longest_common_substring" if joined else "longest_common_subsequence lcs_length"
    return Title(k.name(names), text)


def _longer(k: KernelBuilder, best: Var, last: Var | None, size: Expr, i: Expr) -> None:
    """Keep the longest run so far."""
    if last is None:
        k.assign(best, most(best, size))
        return
    with k.if_(size > best):
        k.assign(best, size)
        k.assign(last, i)


@idiom
def local_alignment(k: KernelBuilder, level: int) -> Title:
    """Smith-Waterman or Needleman-Wunsch scores with a cost for each gap (J. Mol. Biol. 147, 1981;
    48, 1970), by matches or by a table of scores."""
    shape = k.draw.shape
    p = _texts(k, level)
    local = shape.chance(0.6)
    table = None
    if shape.chance(0.45):
        table = k.array("substitution blosum score_table", INT32, ("4", "4"), low=-3, high=4)
    equal, other = ("match_score reward", 2, (2, 4)), ("mismatch_cost mismatch", 1, (1, 2))
    gaps = ("gap_cost gap_penalty", 1, (1, 2))
    weights = _weights(k, level, *([gaps] if table is not None else [gaps, equal, other]))
    gap = weights[0]
    best = _scored(p, local, table, weights)
    out = p.t.each_out("alignment_scores scores_out", INT32)
    k.store(out, p.t.at, p.line[p.m] if best is None else best)
    if table is not None:
        pays_said = f"{table.name}[a, b] for symbols a and b"
    else:
        pays_said = f"{written(weights[1])} for equal symbols, -{written(weights[2])} for others"
    kind = "best local alignment" if local else "best alignment from end to end"
    return Title(
        k.name("smith_waterman local_scores" if local else "needleman_wunsch global_scores"),
        f"For {p.t.each}, {out.name} gets the score of the {kind} of {p.x.name}{p.said} with "
        f"{p.y.name}: {pays_said}, less {written(gap)} for each symbol in a gap. {p.line.name} "
        f"holds one row of the table.",
    )


def _scored(p: _Pair, local: bool, table: Var | None, weights: tuple[Expr, ...]) -> Var | None:
    """Fill the table; the best score anywhere, where alignments may begin and end anywhere."""
    k, line, gap = p.t.k, p.line, weights[0]
    with k.for_("j c", p.m + 1) as j:
        line.put(j, 0 if local else -_times(j, gap))
    best = k.let("best top_score", k.lift(0, INT32)) if local else None
    with k.for_("i r", p.n) as i:
        corner = k.let("corner diagonal", line[0])
        if not local:
            line.put(0, -_times(i + 1, gap))
        with k.for_("q col", p.m) as q:
            up = k.let("up above", line[q + 1])
            a, b = p.x[i], p.y[q]
            pays = _paid(a, b, weights) if table is None else table[_index(a), _index(b)]
            score = k.let("score h", most(corner + pays, most(up, line[q]) - gap))
            if best is not None:
                k.assign(score, most(score, 0))
                k.assign(best, most(best, score))
            line.put(q + 1, score)
            k.assign(corner, up)
    return best


def _paid(a: Expr, b: Expr, weights: tuple[Expr, ...]) -> Expr:
    """What two symbols side by side score."""
    return where(same(a, b), weights[1], minus(weights[2]))


def _index(e: Expr) -> Expr:
    """A symbol as an index."""
    return e if e.type == INT32 else cast(e, INT32)


@idiom
def time_warping(k: KernelBuilder, level: int) -> Title:
    """Dynamic time warping of two signals (Sakoe and Chiba, IEEE Trans. ASSP 26, 1978)."""
    shape = k.draw.shape
    t = lanes(k, level, "pair p", low=8, high=14, layouts="rows rows columns")
    k.size("samples", 7, 11)
    k.size("cols", 6, 10)
    names = k.draw.word.choice(_SIGNALS)
    x = t.array(names[0], FLOAT32, "samples", -1.0, 1.0)
    y = t.array(names[1], FLOAT32, "cols", -1.0, 1.0)
    p = _pair(t, level, x, y, FLOAT32)
    squared = shape.chance(0.5)
    band = k.scalar("band radius window", INT32, 3, 6) if level > 1 and shape.chance(0.6) else None
    line, far = p.line, k.let("far unreached", k.lift(FAR, FLOAT32))
    with k.for_("j c", p.m) as j:
        line.put(j + 1, far)
    line.put(0, 0.0)
    with k.for_("i r", p.n) as i:
        corner = k.let("corner diagonal", line[0])
        line.put(0, far)
        with k.for_("q col", p.m) as q:
            up = k.let("up above", line[q + 1])
            d = k.let("d diff", x[i] - y[q])
            cost: Expr = least(corner, least(up, line[q])) + (d * d if squared else fn("abs", d))
            if band is not None:
                cost = where(fn("abs", i - q) <= band, cost, far)
            line.put(q + 1, cost)
            k.assign(corner, up)
    out = t.each_out("distances dtw_costs", FLOAT32)
    root = squared and shape.chance(0.4)
    k.store(out, t.at, fn("sqrt", line[p.m]) if root else line[p.m])
    each = "squared differences" if squared else "absolute differences"
    text = f"Dynamic time warping: for {t.each}, {out.name} gets the "
    text += f"{'root of the ' if root else ''}least sum of {each} of {x.name}{p.said} and {y.name} "
    text += "along a path from their first samples to their last ones, by steps to the next "
    text += "sample of one or of both"
    if band is not None:
        text += f", the places of the two no more than {band.name} apart "
        text += f"({FAR**0.5 if root else FAR:g} where there is no such path)"
    return Title(k.name("time_warping dtw_distance"), f"{text}. {line.name} holds one row of it.")


@idiom
def increasing_run(k: KernelBuilder, level: int) -> Title:
    """The longest increasing subsequence by tails and bisection (Fredman, Discrete Math. 11,
    1975)."""
    shape = k.draw.shape
    t = lanes(k, level, "row r")
    k.size("count_max", 9, 14)
    type_ = shape.choice((INT32, INT32, FLOAT32))
    span = (-9, 20) if type_ == INT32 else (-5.0, 5.0)
    x = t.array("values sequence prices", type_, "count_max", *span)
    tails = t.array("tails pile_tops", type_, "count_max", span[0], span[1], role="inout")
    n, counted = length(x, level)
    equal, falls = shape.chance(0.4), shape.chance(0.35)
    size = k.let("size piles", k.lift(0, INT32))
    with k.for_("i j", n) as i:
        v = k.let("v value", x[i])
        lo = _pile(k, tails, size, lambda top: _before(top, v, equal, falls))
        tails.put(lo, v)
        k.assign(size, most(size, lo + 1))
    strict = not (equal or falls)
    out = t.each_out("lis_lengths" if strict else "longest subseq_lengths", INT32)
    k.store(out, t.at, size)
    what = ("never falls", "always rises", "never rises", "always falls")[2 * falls + (not equal)]
    return Title(
        k.name("lis_length" if strict else "monotone_subsequence", "patience_piles"),
        f"For {t.each}, {out.name} gets the length of the longest subsequence of "
        f"{x.name}{counted} that {what}. Entry n of {tails.name} keeps the "
        f"{'greatest' if falls else 'least'} last element of those of n + 1 elements; beyond the "
        f"longest it is left as it is.",
    )


def _before(top: Expr, v: Expr, equal: bool, falls: bool) -> Expr:
    """Whether ``v`` may follow ``top``."""
    if falls:
        return top >= v if equal else top > v
    return top <= v if equal else top < v


def _pile(k: KernelBuilder, tails: Seq, size: Var, before: Callable[[Expr], Expr]) -> Var:
    """The first pile whose top the value does not follow: by bisection, or from the last one on."""
    if k.draw.shape.chance(0.35):
        lo = k.let("at slot", size)
        with k.while_(lo > 0):
            with k.if_(before(tails[lo - 1])):
                k.break_()
            k.augment(lo, "sub", 1)
        return lo
    names = k.draw.word.choice((("lo", "hi"), ("left", "right")))
    lo, hi = k.let(names[0], k.lift(0, INT32)), k.let(names[1], size)
    with k.while_(lo < hi):
        mid = k.let("mid", (lo + hi) // 2)
        with k.if_(before(tails[mid])):
            k.assign(lo, mid + 1)
        with k.else_():
            k.assign(hi, mid)
    return lo
