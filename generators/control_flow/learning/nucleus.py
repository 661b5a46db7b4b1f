"""Truncated sampling: what of a vocabulary top-p, top-k and min-p leave, and what is drawn of it.

A. Holtzman et al., The Curious Case of Neural Text Degeneration, ICLR 2020.
"""

from __future__ import annotations

from generators.build import KernelBuilder, extent
from generators.build.registry import Title, idiom
from generators.control_flow.kit import both, branch, index
from generators.control_flow.learning.decoding import lead_names, sequences
from generators.kit.functions import least, log, where
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Var


@idiom
def nucleus_cut(k: KernelBuilder, level: int) -> Title:
    """Top-p and min-p: logits that are cut off, how many are kept, a token drawn of those."""
    ways = {"mask": 3, "min_p": 2, "count": 2, "draw": 3 * (level > 1)}
    way = k.draw.shape.weighted({name: n for name, n in ways.items() if n})
    # Sums of probabilities need more than the eleven bits of a half.
    k.half_inputs = False
    if way in ("mask", "min_p"):
        return _masked(k) if way == "mask" else _above_share(k)
    return _searched(k, drawn=way == "draw")


def _limit(
    k: KernelBuilder, names: str, dims: tuple[str, ...], at: tuple[Var, ...], low: float
) -> tuple[Expr, str]:
    """A limit of the launch, or of each sequence; in words."""
    if k.draw.shape.chance(0.6):
        limit = k.scalar(names, FLOAT32, low, 0.8 if low > 0.3 else 0.2)
        return limit, limit.name
    stem = names.split()[0]
    limits = k.array(f"{stem}_rows {stem}s", FLOAT32, dims, low=low, high=0.8)
    return limits[at], f"the sequence's {limits.name}"


def _masked(k: KernelBuilder) -> Title:
    """A thread for each token: its logit where the mass before it leaves it in the nucleus."""
    dims = sequences(k)
    k.size("vocab", 14, 20)
    lead = lead_names(k, dims)
    at = k.thread(*dims, "vocab", names=[*lead, k.name("c j rank")])
    x = k.array("sorted_logits logits_sorted", FLOAT32, (*dims, "vocab"), low=-3.0, high=3.0)
    sums = _sums(k, dims)
    top_p, said = _limit(k, "top_p nucleus_p", dims, at[:-1], 0.4)
    top_k = k.scalar("top_k max_kept", INT32, 8, 11) if k.draw.shape.chance(0.4) else None
    filler = k.scalar("mask_value filter_value", FLOAT32, -2.0e4, -1.0e4)
    before = k.let("before mass_before", k.lift(0.0, FLOAT32))
    with k.if_(at[-1] > 0):
        k.assign(before, sums[index(*at[:-1], at[-1] - 1)])
    kept = before < top_p if top_k is None else both(before < top_p, at[-1] < top_k)
    out = k.out("filtered kept_logits", FLOAT32, (*dims, "vocab"))
    if k.draw.shape.chance(0.5):
        k.store(out, at, where(kept, x[at], filler))
    else:
        with k.if_(kept):
            k.store(out, at, x[at])
        with k.else_():
            k.store(out, at, filler)
    text = f"Top-p filtering of {x.name}, which are sorted from the largest down: {out.name} gets "
    text += f"the logit of a token where the probability of all before it is below {said}"
    text += "" if top_k is None else f" and fewer than {top_k.name} are before it"
    text += f", else {filler.name}. {_SUMS.format(sums.name)}"
    return Title(k.name("top_p_filter nucleus_mask filter_top_p"), text)


_SUMS = "{} holds the sums of the probabilities up to and with each token."


def _sums(k: KernelBuilder, dims: tuple[str, ...]) -> Var:
    """The running sums of sorted probabilities."""
    names = "cum_probs cumulative"
    return k.array(names, FLOAT32, (*dims, "vocab"), init="sorted", low=0.05, high=1.0)


def _above_share(k: KernelBuilder) -> Title:
    """Min-p (Nguyen et al., ICLR 2025): by logits alone, as a softmax keeps their differences."""
    dims = sequences(k)
    k.size("vocab", 14, 20)
    lead = lead_names(k, dims)
    at = k.thread(*dims, "vocab", names=[*lead, k.name("v tok")])
    given = k.draw.shape.chance(0.5)
    names = "logits scores"
    x = k.array(names, FLOAT32, (*dims, "vocab"), role="in" if given else "inout", low=-3, high=3)
    peaks = k.array("row_max max_logits", FLOAT32, dims, low=2.0, high=3.0)
    min_p, said = _limit(k, "min_p floor_p", dims, at[:-1], 0.05)
    heat = None
    if k.draw.shape.chance(0.4):
        heat = k.scalar("temperature tau", FLOAT32, 0.6, 1.6)
    filler = k.scalar("mask_value filter_value", FLOAT32, -2.0e4, -1.0e4)
    reach = log(min_p) if heat is None else heat * log(min_p)
    floor = k.let("floor lowest", peaks[at[:-1]] + reach)
    out = x
    if given:
        out = k.out("filtered kept_logits", FLOAT32, (*dims, "vocab"))
        k.store(out, at, where(x[at] < floor, filler, x[at]))
    else:
        with k.if_(x[at] < floor):
            k.store(x, at, filler)
    over = x.name if heat is None else f"{x.name} / {heat.name}"
    text = f"Min-p filtering: tokens whose probability in the softmax of {over} is below {said} "
    text += f"times the largest get {filler.name} in {out.name}, all others "
    text += f"{'their logit' if given else 'stay'}. {peaks.name} holds the largest of each row."
    return Title(k.name("min_p_filter filter_min_p mask_unlikely"), text)


_ENDS = ("lo left", "hi right", "mid")


def _first(
    k: KernelBuilder,
    sums: Var,
    at: tuple[Var, ...],
    stop: Expr,
    least_sum: Expr,
    names: tuple[str, str, str] = _ENDS,
) -> Var:
    """The first place at which the sums reach a number, or ``stop``: by bisection, whose ends and
    middle have these names."""
    lo, hi = k.let(names[0], k.lift(0, INT32)), k.let(names[1], stop)
    with k.while_(lo < hi):
        mid = k.let(names[2], (lo + hi) // 2)
        branch(k, (sums[index(*at, mid)] < least_sum, (lo, mid + 1)), (None, (hi, mid)))
    return lo


def _searched(k: KernelBuilder, drawn: bool) -> Title:
    """A thread for each sequence bisects in the sums for the end of the nucleus."""
    dims = sequences(k)
    k.size("vocab", 14, 20)
    lead = lead_names(k, dims)
    at = k.thread(*dims, names=lead)
    sums = _sums(k, dims)
    stop: Expr = extent(sums, len(dims))
    if k.draw.shape.chance(0.4):
        stop = k.size_param("vocab_size num_tokens", "vocab")
    top_p, said = _limit(k, "top_p nucleus_p", dims, at, 0.4)
    goal = top_p if isinstance(top_p, Var) else k.let("p goal", top_p)
    top_k = k.scalar("top_k max_kept", INT32, 8, 11) if k.draw.shape.chance(0.3) else None
    end = _first(k, sums, at, stop - 1, goal)
    kept = k.let("kept num_kept", end + 1 if top_k is None else least(end + 1, top_k))
    text = f"Rows of {sums.name} hold running sums of probabilities, sorted from the largest "
    text += f"down. The nucleus ends with the first sum that is at least {said} (the last if none "
    text += "is)"
    text += "" if top_k is None else f" and has {top_k.name} tokens at most"
    if drawn:
        return _drawn(k, (dims, at), sums, kept, text)
    counts = k.out("kept_counts nucleus_sizes", INT32, dims)
    k.store(counts, at, kept)
    text += f". {counts.name} gets how many tokens it has."
    if k.draw.shape.chance(0.4):
        masses = k.out("kept_mass coverage", FLOAT32, dims)
        k.store(masses, at, sums[index(*at, kept - 1)])
        text += f" {masses.name} gets their probability."
    return Title(k.name("nucleus_size count_nucleus top_p_cut"), text)


def _drawn(
    k: KernelBuilder,
    of: tuple[tuple[str, ...], tuple[Var, ...]],
    sums: Var,
    kept: Var,
    text: str,
) -> Title:
    """Draw one of the kept tokens with a given uniform number, by bisection again."""
    dims, at = of
    ids = k.array("sorted_ids token_ids", INT32, (*dims, "vocab"), low=0, high=900)
    uniforms = k.array("uniforms u_rand", FLOAT32, dims, low=0.02, high=0.98)
    target = k.let("target wanted", uniforms[at] * sums[index(*at, kept - 1)])
    names = ("first begin", "end final", "middle half_way")
    first = _first(k, sums, at, kept - 1, target, names)
    out = k.out("next_ids sampled", INT32, dims)
    k.store(out, at, ids[index(*at, first)])
    text += f". {out.name} gets the token, of {ids.name}, at the first sum that is at least "
    text += f"{uniforms.name} times the sum of the whole nucleus."
    return Title(k.name("sample_top_p sample_nucleus draw_from_nucleus"), text)
