"""Decoding: cuts of sorted rows, banned repeats, accepted drafts, ends of sequences."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import KernelBuilder, extent, fn
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Const, Expr, Var


def _rows(k: KernelBuilder, words: str = "b seq row") -> tuple[tuple[str, ...], tuple[Var, ...]]:
    """A thread for each sequence, or for each beam of each."""
    if k.draw.shape.chance(0.4):
        k.size("batch", 5, 7)
        k.size("beams", 3, 4)
        return ("batch", "beams"), k.thread("batch", "beams", names=[k.name("b"), k.name("m beam")])
    k.size("batch", 16, 24)
    return ("batch",), k.thread("batch", names=[k.name(words)])


def _stop(k: KernelBuilder, x: Var, axis: int, size: str, names: str) -> Expr:
    if k.draw.shape.chance(0.35):
        return k.size_param(names, size)
    return extent(x, axis)


@idiom
def nucleus_cut(k: KernelBuilder, level: int) -> Title:
    """Top-p, top-k and min-p: how far a sorted row of logits goes, and what is drawn of it."""
    shape = k.draw.shape
    dims, at = _rows(k)
    k.size("vocab", 14, 20)
    x = k.array(
        "sorted_logits logits_sorted", FLOAT32, (*dims, "vocab"), low=-3.0, high=3.0, init="sorted"
    )
    stop = _stop(k, x, len(dims), "vocab", "vocab_size num_tokens")
    last = k.let("last top_id", stop - 1)
    top = k.let("top best", x[at + (last,)])
    heat = None
    if shape.chance(0.4):
        heat = k.scalar("temperature tau", FLOAT32, 0.6, 1.6)

    def weight(c: Expr) -> Expr:
        gap = x[at + (c,)] - top
        return exp(gap if heat is None else gap / heat)

    total = None
    way = shape.choice(("top_p", "min_p", "both"))
    drawn, massed = shape.chance(0.5), shape.chance(0.5)
    if way != "min_p" or (massed and not drawn):
        total = k.let("total denom", k.lift(0.0, FLOAT32))
        with k.for_("c j", stop) as c:
            k.augment(total, "add", weight(c))
    count = k.let("kept num_kept", k.lift(0, INT32))
    mass = k.let("mass cumulative", k.lift(0.0, FLOAT32))
    rule = _cut(k, (dims, at, way), (stop, total), lambda n: weight(last - n), (count, mass))
    over = "" if heat is None else f" / {heat.name}"
    text = f"Truncate sorted logits (rows of {x.name}, the largest last): in the softmax of "
    text += f"{x.name}{over}, from the largest down, a token is kept {rule}. "
    if drawn:
        return _drawn(k, dims, at, weight, (last, count, mass), text)
    return _counted(k, dims, at, (count, mass, total if massed else None), text)


def _counted(
    k: KernelBuilder,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    found: tuple[Var, Var, Var | None],
    text: str,
) -> Title:
    """Store how many tokens are kept, and their probability where the total is given."""
    count, mass, total = found
    counts = k.out("kept_counts cut_sizes", INT32, dims)
    k.store(counts, at, count)
    text += f"{counts.name} gets the number kept."
    if total is not None:
        masses = k.out("kept_mass coverage", FLOAT32, dims)
        k.store(masses, at, mass / total)
        text += f" {masses.name} gets their total probability."
    return Title(k.name("nucleus_cut top_p_filter truncate_sorted"), text)


def _cut(
    k: KernelBuilder,
    of: tuple[tuple[str, ...], tuple[Var, ...], str],
    row: tuple[Expr, Var | None],
    weight: Callable[[Expr], Expr],
    kept: tuple[Var, Var],
) -> str:
    """Count what is kept, and its mass, up to a limit of mass, of number or of size; the rule."""
    shape, (dims, at, way), (stop, total), (count, mass) = k.draw.shape, of, row, kept
    bound: Expr
    per_row = shape.chance(0.4)
    if way == "min_p":
        bound, name = _limit(k, "min_p floor_p", dims, at, per_row, 0.05, 0.3)
    else:
        low, high = (0.5, 0.98) if way == "both" else (0.4, 0.95)
        bound, name = _limit(k, "top_p nucleus", dims, at, per_row or way == "both", low, high)
    at_most = None
    if way == "both":
        at_most = k.scalar("top_k max_kept", INT32, 3, 5)
    goal = k.let("goal wanted", bound * total) if total is not None and way != "min_p" else bound
    with k.for_("n step", stop) as n:
        w = k.let("w e", weight(n))
        if way == "min_p":
            with k.if_(w < goal):
                k.break_()
        else:
            test: Expr = mass >= goal
            if at_most is not None:
                test = fn("or", test, n >= at_most)
            with k.if_(test):
                k.break_()
        k.augment(mass, "add", w)
        k.augment(count, "add", 1)
    if way == "min_p":
        return f"as long as its probability is at least {name} times the largest"
    rule = f"as long as the mass before it is below {name}"
    return rule if at_most is None else f"{rule}, and at most {at_most.name} of them"


def _limit(
    k: KernelBuilder,
    names: str,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    per_row: bool,
    low: float,
    high: float,
) -> tuple[Expr, str]:
    """A limit of the launch, or of each row."""
    if not per_row:
        limit = k.scalar(names, FLOAT32, low, high)
        return limit, limit.name
    limits = k.array(
        f"{names.split()[0]}_rows {names.split()[0]}s", FLOAT32, dims, low=low, high=high
    )
    return k.let(names, limits[at]), f"the row's {limits.name}"


def _drawn(
    k: KernelBuilder,
    dims: tuple[str, ...],
    at: tuple[Var, ...],
    weight: Callable[[Expr], Expr],
    found: tuple[Var, Var, Var],
    text: str,
) -> Title:
    """Draw one of the kept tokens with a given uniform number."""
    last, count, mass = found
    uniforms = k.array("uniforms u_rand", FLOAT32, dims, low=0.02, high=0.98)
    target = k.let("target threshold", uniforms[at] * mass)
    chosen = k.let("chosen pick", last)
    running = k.let("running cdf", k.lift(0.0, FLOAT32))
    with k.for_("q s", count) as q:
        k.augment(running, "add", weight(last - q))
        k.assign(chosen, last - q)
        with k.if_(running >= target):
            k.break_()
    out = k.out("next_ids sampled", INT32, dims)
    k.store(out, at, chosen)
    text += f"{out.name} gets the index of the first kept one at which the running mass reaches "
    text += f"{uniforms.name} times that of all kept."
    return Title(k.name("sample_top_p sample_nucleus draw_truncated"), text)


def _order(k: KernelBuilder) -> tuple[Expr, str]:
    """How many tokens of an n-gram come before its last, and n in words."""
    if k.draw.shape.chance(0.5):
        number = k.draw.shape.choice((2, 3, 3))
        return k.lift(number - 1, INT32), str(number)
    size = k.scalar("ngram_size n_gram", INT32, 2, 3)
    return k.let("prefix num_before", size - 1), size.name


@idiom
def banned_ngrams(k: KernelBuilder, level: int) -> Title:
    """Next tokens that would repeat an n-gram of the sequence lose their score, or some of it."""
    shape = k.draw.shape
    dims, at = _rows(k)
    k.size("max_len", 18, 24, minimum=16)
    k.size("vocab", 4, 6, minimum=3)
    tokens = k.array("tokens generated_ids", INT32, (*dims, "max_len"), init="index_of:vocab")
    before, order = _order(k)
    length = _stop(k, tokens, len(dims), "max_len", "max_len num_steps")
    told = ""
    if shape.chance(0.5):
        lengths = k.array("lengths seq_lens", INT32, dims, init="index_of:max_len+1")
        length = k.let("length num_tokens", lengths[at])
        told = f" Only the first {lengths.name} tokens of a sequence count."
    way = shape.choice(("ban", "penalty", "flags"))
    if way == "flags":
        x = k.out("banned blocked", INT32, (*dims, "vocab"))
        with k.for_("v tok", extent(x, len(dims))) as v:
            k.store(x, (*at, v), 0)
    else:
        x = k.array("logits scores", FLOAT32, (*dims, "vocab"), role="inout", low=-3.0, high=3.0)
    tail = k.let("suffix tail", length - before)
    amount: Expr = k.lift(1, INT32)
    if way == "ban":
        amount = k.scalar("mask_value banned_score", FLOAT32, -60.0, -50.0)
    if way == "penalty":
        amount = k.scalar("penalty repeat_cost", FLOAT32, 0.3, 1.0)
    with k.for_("s start", tail) as start:
        test = _repeated(k, tokens, at, (start, tail), before)
        with k.if_(test):
            after = k.let("next_id repeated", tokens[at + (start + before,)])
            k.store(x, (*at, after), amount, "sub" if way == "penalty" else "")
    what = {
        "ban": f"gets the score {k.params[-1].name} in {x.name}",
        "flags": f"is marked with 1 in {x.name}, all others with 0",
        "penalty": f"loses {k.params[-1].name} from its score in {x.name} each time",
    }[way]
    text = f"Repeated n-grams, n = {order}: wherever the last n - 1 tokens of a sequence of "
    text += f"{tokens.name} stand earlier in it, the token after them there {what}.{told}"
    return Title(k.name("ban_repeated_ngrams block_ngrams no_repeat_ngram"), text)


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
    dims, at = _rows(k)
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
    text = f"Greedy speculative decoding: for each sequence, {counts.name} gets how many leading "
    text += f"tokens of {draft.name} equal those of {best.name}, up to the first mismatch.{told}"
    if shape.chance(0.6):
        bonus = k.out("next_ids bonus", INT32, dims)
        k.store(bonus, at, best[at + (count,)])
        text += f" {bonus.name} gets the token of {best.name} right after them."
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
            ratio = k.let("ratio odds", p[at + (j,)] / q[at + (j,)])
            return u[at + (j,)] >= ratio
        return u[at + (j,)] * q[at + (j,)] >= p[at + (j,)]

    _leading(k, stop, count, refused)
    k.store(counts, at, count)
    text = f"Speculative sampling: for each sequence, {counts.name} gets how many drafted tokens "
    text += f"are accepted, those before the first with {u.name} >= {p.name} / {q.name}.{told}"
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
    if k.draw.shape.chance(0.6):
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
