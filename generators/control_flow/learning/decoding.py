"""Decoding: banned repeats, accepted drafts, ends of sequences."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import index
from generators.kit.functions import least
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Const, Expr, Var


def sequences(k: KernelBuilder) -> tuple[str, ...]:
    """The axes of what is decoded: sequences, or beams of each."""
    if k.draw.shape.chance(0.4):
        return k.size("batch", 5, 7), k.size("beams", 3, 4)
    return (k.size("batch", 16, 24),)


def lead_names(k: KernelBuilder, dims: tuple[str, ...]) -> list[str]:
    """What a thread calls its sequence, and its beam."""
    return [k.name("b seq row")] if len(dims) == 1 else [k.name("b"), k.name("m beam")]


def _stop(k: KernelBuilder, x: Var, axis: int, size: str, names: str) -> Expr:
    if k.draw.shape.chance(0.35):
        return k.size_param(names, size)
    return extent(x, axis)


def _order(k: KernelBuilder) -> tuple[Expr, str]:
    """How many tokens of an n-gram come before its last, and n in words."""
    if k.draw.shape.chance(0.5):
        number = k.draw.shape.choice((2, 3, 3))
        return k.lift(number - 1, INT32), str(number)
    size = k.scalar("ngram_size n_gram", INT32, 2, 3)
    return k.let("prefix num_before", size - 1), size.name


@idiom
def banned_ngrams(k: KernelBuilder, level: int) -> Title:
    """Next tokens that would repeat an n-gram of the sequence, found by a thread for each place."""
    shape = k.draw.shape
    dims = sequences(k)
    k.size("max_len", 18, 24, minimum=16)
    k.size("vocab", 3, 4, minimum=3)
    lead = lead_names(k, dims)
    *at, start = k.thread(*dims, "max_len", names=[*lead, k.name("start pos")])
    tokens = k.array("tokens generated_ids", INT32, (*dims, "max_len"), init="index_of:vocab")
    before, order = _order(k)
    length = _stop(k, tokens, len(dims), "max_len", "max_len num_steps")
    told = ""
    if shape.chance(0.6):
        lengths = k.array("lengths seq_lens", INT32, dims, init="index_of:max_len+1")
        length = k.let("length num_tokens", lengths[tuple(at)])
        told = f" Only the first {lengths.name} tokens of a sequence count."
    tail = k.let("suffix tail", length - before)
    with k.if_(start >= tail):
        k.return_()
    way = shape.choice(("ban", "flags", "count"))
    with k.if_(_repeated(k, tokens, tuple(at), (start, tail), before)):
        after = k.let("next_id repeated", tokens[index(*at, start + before)])
        what = _marked(k, way, (*dims, "vocab"), (*at, after))
    text = f"Repeated n-grams, n = {order}: wherever the last n - 1 tokens of a sequence of "
    text += f"{tokens.name} stand earlier in it, the token after them there {what}.{told}"
    text += " A thread for each place at which they may stand."
    return Title(k.name("ban_repeated_ngrams block_ngrams no_repeat_ngram"), text)


def _marked(k: KernelBuilder, way: str, dims: tuple[str, ...], at: tuple[Expr, ...]) -> str:
    """What becomes of a token that would repeat an n-gram; in words."""
    if way == "ban":
        x = k.array("logits scores", FLOAT32, dims, role="inout", low=-3.0, high=3.0)
        value = k.scalar("mask_value banned_score", FLOAT32, -2.0e4, -1.0e4)
        k.atomic("min", x, at, value)
        return f"has its score in {x.name} lowered atomically to {value.name}"
    if way == "flags":
        x = k.accumulator("banned blocked", INT32, dims)
        k.atomic("max", x, at, 1)
        return f"is marked atomically with 1 in {x.name}, which is 0 at first"
    x = k.accumulator("repeat_counts ngram_hits", INT32, dims)
    k.atomic("add", x, at, 1)
    return f"is counted atomically in {x.name}, which is 0 at first"


def _repeated(
    k: KernelBuilder, tokens: Var, at: tuple[Var, ...], starts: tuple[Expr, Expr], before: Expr
) -> Expr:
    """Whether tokens from one place on are those from another, by counting what is or is not."""
    start, tail = starts
    if isinstance(before, Const) and before.value == 1:
        return fn("eq", tokens[at + (start,)], tokens[at + (tail,)])
    if k.draw.shape.chance(0.5):
        same = k.let("same matched", k.lift(0, INT32))
        with k.for_("g o", before) as g:
            with k.if_(fn("ne", tokens[at + (start + g,)], tokens[at + (tail + g,)])):
                k.break_()
            k.augment(same, "add", 1)
        return fn("eq", same, before)
    differ = k.let("differ mismatches", k.lift(0, INT32))
    with k.for_("g o", before) as g:
        own, other = tokens[at + (start + g,)], tokens[at + (tail + g,)]
        with k.if_(fn("ne", own, other)):
            k.augment(differ, "add", 1)
    return fn("eq", differ, 0)


@idiom
def accept_draft(k: KernelBuilder, level: int) -> Title:
    """Speculative decoding: how many drafted tokens are kept, and which comes after them."""
    shape = k.draw.shape
    dims = (k.size("batch", 16, 24),)
    at = k.thread(*dims, names=[k.name("b seq row")])
    k.size("drafted", 5, 7)
    greedy = shape.chance(0.4)
    top = 1 if greedy else 900
    draft = k.array("draft_ids drafted_tokens", INT32, (*dims, "drafted"), low=0, high=top)
    p = draft
    if not greedy:
        p = k.array("target_probs p_target", FLOAT32, (*dims, "drafted"), low=0.1, high=1.0)
    stop = _stop(k, p, len(dims), "drafted", "num_draft draft_len")
    told = ""
    if shape.chance(0.35):
        lengths = k.array("draft_lens num_valid", INT32, dims, init="index_of:drafted+4")
        stop = k.let("limit valid", least(lengths[at], stop))
        told = f" Only the first {lengths.name} drafted tokens of a sequence count."
    count = k.let("accepted num_kept", k.lift(0, INT32))
    counts = k.out("accept_counts accepted_lens", INT32, dims)
    if greedy:
        return _accept_equal(k, dims, at, draft, stop, (count, counts), told)
    return _accept_by_chance(k, dims, at, (draft, p), stop, (count, counts), told)


def _accept_equal(
    k: KernelBuilder,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    draft: Var,
    stop: Expr,
    kept: tuple[Var, Var],
    told: str,
) -> Title:
    """Drafted tokens are kept up to the first that is not what the large model chose."""
    shape, (count, counts) = k.draw.shape, kept
    best = k.array("target_ids verified", INT32, (*dims, "drafted+1"), low=0, high=1)
    _leading(k, stop, count, lambda j: fn("ne", draft[at + (j,)], best[at + (j,)]))
    k.store(counts, at, count)
    text = f"Greedy speculative decoding: {best.name} holds the large model's choice at each place "
    text += f"of {draft.name}, and one more after the last. For each sequence, {counts.name} gets "
    text += f"how many tokens of {draft.name} come before the first that is not the choice.{told}"
    if shape.chance(0.6):
        bonus = k.out("next_ids bonus", INT32, dims)
        k.store(bonus, at, best[at + (count,)])
        text += f" {bonus.name} gets the choice at the place right after them."
    return Title(k.name("accept_greedy_draft verify_draft count_accepted"), text)


def _accept_by_chance(
    k: KernelBuilder,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    arrays: tuple[Var, Var],
    stop: Expr,
    kept_so_far: tuple[Var, Var],
    told: str,
) -> Title:
    """Drafted tokens are kept with the ratio of probabilities (Leviathan et al., ICML 2023)."""
    shape, (count, counts), (draft, p) = k.draw.shape, kept_so_far, arrays
    k.half_inputs = False  # Uniform numbers of eleven bits would be too coarse.
    names = "draft_probs" if p.name == "target_probs" else "q_draft"
    q = k.array(names, FLOAT32, (*dims, "drafted"), low=0.1, high=0.7)
    u = k.array("uniforms u_rand", FLOAT32, (*dims, "drafted"), low=0.02, high=0.98)
    divides = shape.chance(0.4)

    def refused(j: Var) -> Expr:
        if divides:
            return u[at + (j,)] >= k.let("ratio odds", p[at + (j,)] / q[at + (j,)])
        return u[at + (j,)] * q[at + (j,)] >= p[at + (j,)]

    _leading(k, stop, count, refused)
    k.store(counts, at, count)
    text = f"Speculative sampling: for each sequence, {counts.name} gets how many drafted tokens "
    text += f"are accepted, those before the first with {u.name} >= {p.name} / {q.name}, the "
    text += f"probabilities of the drafted tokens in the large and in the small model.{told}"
    kept = k.out("kept_ids accepted_ids", INT32, (*dims, "drafted"))
    pad = k.scalar("pad_id filler", INT32, -100, -1) if shape.chance(0.5) else k.lift(-1, INT32)
    with k.for_("c place", extent(p, len(dims))) as c:
        if shape.chance(0.5):
            k.store(kept, (*at, c), fn("where", c < count, draft[at + (c,)], pad))
        else:
            with k.if_(c < count):
                k.store(kept, (*at, c), draft[at + (c,)])
            with k.else_():
                k.store(kept, (*at, c), pad)
    filler = pad.name if isinstance(pad, Var) else "-1"
    text += f" {kept.name} gets these of {draft.name}, {filler} after them."
    return Title(k.name("accept_draft verify_draft speculative_accept"), text)


def _leading(k: KernelBuilder, stop: Expr, count: Var, ends: Callable[[Var], Expr]) -> None:
    """Count what comes before the first for which a test holds: by break, or by a flag."""
    if k.draw.shape.chance(0.8):
        with k.for_("j n", stop) as j:
            with k.if_(ends(j)):
                k.break_()
            k.augment(count, "add", 1)
        return
    alive = k.let("alive going", k.lift(1, INT32))
    with k.for_("j n", stop) as j:
        with k.if_(ends(j)):
            k.assign(alive, 0)
        k.augment(count, "add", alive)
