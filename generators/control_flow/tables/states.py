"""Steps through states: the forward variables of CTC, and paths read back from pointers."""

from __future__ import annotations

from collections.abc import Callable

from generators.build import BodyBuilder, KernelBuilder, cast, extent, fn
from generators.build.registry import Title, idiom
from generators.control_flow.kit import same
from generators.kit.functions import exp, least, log, most
from generators.kit.masks import one_if
from generators.kit.naming import helper
from generators.program.dtypes import FLOAT32, INT32, Scalar
from generators.program.expr import Expr, Var

NEVER = -1.0e30
"""Stands for the logarithm of zero: finite, so that differences of two are no NaN."""


def _frame(k: KernelBuilder, logs: bool, b: Expr) -> tuple[Callable[[Expr], Expr], str]:
    """The score of a class in this frame: a row for each sequence, or one frame of many."""
    shape, span = k.draw.shape, (-6.0, 0.0) if logs else (0.0, 1.0)
    names = "log_probs frame_scores" if logs else "probs frame_probs"
    if shape.chance(0.5):
        rows = k.array(names, FLOAT32, ("batch", "classes"), low=span[0], high=span[1])
        return lambda c: rows[b, c], rows.name
    k.size("frames", 3, 5, minimum=3)
    first = shape.chance(0.5)
    dims = ("frames", "batch", "classes") if first else ("batch", "frames", "classes")
    table = k.array(names, FLOAT32, dims, low=span[0], high=span[1])
    t = k.scalar("t frame step", INT32, 0, 2)
    return lambda c: table[(t, b, c) if first else (b, t, c)], f"{table.name} at {t.name}"


@idiom
def ctc_step(k: KernelBuilder, level: int) -> Title:
    """One step of the forward variables of connectionist temporal classification (Graves et al.,
    ICML 2006)."""
    shape = k.draw.shape
    k.size("batch", 6, 10)
    k.size("labels", 3, 5, minimum=2)
    k.size("classes", 5, 8, minimum=4)
    across = shape.chance(0.35)
    names = k.name("b seq"), k.name("s pos slot")
    dims: tuple[str, ...] = ("batch", "2*labels+1")
    at = k.thread(*(dims[::-1] if across else dims), names=names[::-1] if across else names)
    b, s = at[::-1] if across else at
    logs, kept = shape.chance(0.6), dims[::-1] if across else dims
    low, high = (-6.0, 0.0) if logs else (0.0, 1.0)
    alpha = k.array("alpha prev_alpha", FLOAT32, kept, low=low, high=high)
    labels = k.array("targets label_ids", INT32, ("batch", "labels"), low=1, high=3)
    score, scored = _frame(k, logs, b)
    out = k.out("next_alpha new_alpha", FLOAT32, kept)
    beyond = "" if logs else _beyond(k, level, b, s, out, at)
    blank: Expr = k.lift(0, INT32)
    last = shape.chance(0.4)
    if last:
        blank = k.size_param("num_classes class_count", "classes") - 1

    total, label = _reached(k, alpha, labels, (b, s), across, blank, logs)
    k.store(out, at, total + score(label) if logs else total * score(label))
    what = "the logarithm of the sum of the exponentials" if logs else "the sum"
    zero = "the last class" if last else "class 0"
    text = f"A step of CTC's forward variables over labels with a blank ({zero}) around each: odd "
    text += f"positions s have label s // 2 of {labels.name}, even ones the blank. {out.name} at "
    text += f"position s gets {what} of {alpha.name} at s, at s - 1 (where s > 0) and at s - 2 "
    text += "(where s is odd, above 1, and its label differs from the one before), "
    text += f"{'plus' if logs else 'times'} {scored} of the class at s.{beyond}"
    if logs:
        text += " The logarithm of zero is kept as the finite number -1e30."
    return Title(k.name("ctc_step ctc_alpha", "ctc_forward_step"), text)


def _reached(
    k: KernelBuilder,
    alpha: Var,
    labels: Var,
    place: tuple[Expr, Expr],
    across: bool,
    blank: Expr,
    logs: bool,
) -> tuple[Expr, Var]:
    """What comes from the one, two or three positions before, and the label of this one."""
    b, s = place

    def before(steps: int) -> Expr:
        at = s - steps if steps else s
        return alpha[(at, b) if across else (b, at)]

    at_once = logs and k.draw.shape.chance(0.6)
    if at_once:
        total = k.let("stay", before(0))
        step = k.let("advance", k.lift(NEVER, FLOAT32))
        skip = k.let("skip", k.lift(NEVER, FLOAT32))
    else:
        total = step = skip = k.let("total acc", before(0))
    added = _adder(k) if logs and not at_once else ""

    def come(var: Var, steps: int) -> None:
        value = before(steps)
        if not at_once:
            value = k.call(added, total, value) if added else total + value
        k.assign(var, value)

    with k.if_(s > 0):
        come(step, 1)
    label = k.let("label cls", blank)
    odd = same(s % 2, 1) if k.draw.shape.chance(0.5) else same(s & 1, 1)
    with k.if_(odd):
        k.assign(label, labels[b, s // 2])
        with k.if_(s > 1), k.if_(fn("ne", labels[b, s // 2 - 1], label)):
            come(skip, 2)
    return (_log_sum(k, total, step, skip) if at_once else total), label


def _adder(k: KernelBuilder) -> str:
    """A function that adds two numbers given by their logarithms."""
    return helper(k, "log_add logaddexp", [("a", FLOAT32), ("b", FLOAT32)], _log_add)


def _log_sum(k: KernelBuilder, *parts: Var) -> Expr:
    """log of the sum of the exponentials of these."""
    top = k.let("top peak", most(*parts))
    first, *rest = (exp(part - top) for part in parts)
    total = k.let("total acc", first + rest[0] + rest[1])
    return top + log(total)


def _beyond(k: KernelBuilder, level: int, b: Expr, s: Expr, out: Var, at: tuple[Var, ...]) -> str:
    """Positions behind the last label of a shorter sequence; in words."""
    if not k.draw.shape.chance(0.1 + 0.1 * level):
        return ""
    counts = k.array("target_lengths label_counts", INT32, "batch", init="index_of:labels+1")
    with k.if_(s > 2 * counts[b]):
        k.store(out, at, 0.0)
        k.return_()
    return f" Positions s above 2 * {counts.name} get 0."


def _log_add(body: BodyBuilder, a: Expr, b: Expr) -> Expr:
    """log(exp(a) + exp(b))."""
    high = body.let("high larger", most(a, b))
    return high + log(exp(a - high) + exp(b - high))


def _ends(k: KernelBuilder, b: Expr) -> tuple[Var, str]:
    """The last state of a path: given, or that of the best score."""
    if k.draw.shape.chance(0.4):
        last = k.array("last_states end_states", INT32, "batch", init="index_of:states")
        return k.let("state cur", last[b]), last.name
    scores = k.array("final_scores delta", FLOAT32, ("batch", "states"), low=-6.0, high=0.0)
    state = k.let("state cur", k.lift(0, INT32))
    if k.draw.shape.chance(0.5):
        count = extent(scores, 1)
        with k.for_("c u", count, start=1) as c, k.if_(scores[b, c] > scores[b, state]):
            k.assign(state, c)
        return state, f"the first state of the largest {scores.name}"
    top = k.let("best top", scores[b, 0])
    with k.for_("c u", extent(scores, 1), start=1) as c, k.if_(scores[b, c] > top):
        k.assign(top, scores[b, c])
        k.assign(state, c)
    return state, f"the first state of the largest {scores.name}"


@idiom
def path_traceback(k: KernelBuilder, level: int) -> Title:
    """The best path read back from pointers, from its last state to its first."""
    shape = k.draw.shape
    k.size("batch", 14, 24)
    k.size("steps", 6, 9, minimum=2)
    k.size("states", 4, 7)
    (b,) = k.thread("batch", names=(k.name("b seq"),))
    first, path_first = shape.chance(0.5), shape.chance(0.3)
    dims = ("steps", "batch", "states") if first else ("batch", "steps", "states")
    type_ = shape.choice((INT32, INT32, Scalar("int16"), Scalar("int64")))
    back = k.array("backpointers psi came_from", type_, dims, init="index_of:states")
    state, said = _ends(k, b)
    path_dims = ("steps", "batch") if path_first else ("batch", "steps")
    path = k.out("paths best_states", INT32, path_dims)
    steps: Expr = extent(back, 0 if first else 1)
    counted = ""
    if shape.chance(0.15 + 0.1 * level):
        lengths = k.array("lengths num_frames", INT32, "batch", init="index_of:steps+4")
        whole = steps
        steps = k.let("n last_step", least(lengths[b], whole))
        with k.for_("z pad", whole, start=steps) as z:
            k.store(path, (z, b) if path_first else (b, z), -1)
        counted = f" Only the first {lengths.name} steps count; the others get -1."
    changes = k.let("changes switches", k.lift(0, INT32)) if shape.chance(0.15 * level) else None
    with k.for_("back r", steps) as q:
        t = k.let("t", steps - 1 - q)
        k.store(path, (t, b) if path_first else (b, t), state)
        with k.if_(t > 0):  # The first step has no state before it.
            came = back[(t, b, state) if first else (b, t, state)]
            before = came if type_ == INT32 else cast(came, INT32)
            if changes is not None:
                before = k.let("before prev", before)
                _count_change(k, changes, before, state)
            k.assign(state, before)
    text = f"Trace the best path of each sequence back: at its last step {path.name} gets {said}; "
    text += f"at each step t before, {path.name} gets what {back.name} holds at step t + 1 for the "
    text += f"state there.{counted}"
    text += _changed(k, b, changes)
    return Title(k.name("viterbi_traceback read_back_path", "backtrace"), text)


def _changed(k: KernelBuilder, b: Expr, changes: Var | None) -> str:
    """Store how often the state changes, where that is counted; in words."""
    if changes is None:
        return ""
    out = k.out("num_changes switch_counts", INT32, "batch")
    k.store(out, (b,), changes)
    return f" {out.name} gets how often the state changes along the path."


def _count_change(k: KernelBuilder, changes: Var, before: Expr, state: Expr) -> None:
    """One more where a pointer leads to another state."""
    moved = fn("ne", before, state)
    if k.draw.shape.chance(0.5):
        with k.if_(moved):
            k.augment(changes, "add", 1)
    else:
        k.augment(changes, "add", one_if(moved))
