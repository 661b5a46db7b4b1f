"""Matrices changed in place or entry by entry: rank updates, attention scores."""

from __future__ import annotations

from generators.build import KernelBuilder, cast, fn
from generators.build.registry import Title, idiom
from generators.kit.pieces import zero
from generators.matrix.large.core import at, cells
from generators.matrix.large.finish import finish
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var, op

_NAMES = {
    2: (("i", "j"), ("row", "col"), ("r", "q")),
    3: (("b", "i", "j"), ("batch", "row", "col"), ("head", "q", "t")),
}


@idiom
def rank_update(k: KernelBuilder, level: int) -> Title:
    """A matrix plus outer products: of one pair, symmetric pairs, or sums over samples."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    form = shape.choice(("outer", "two", "samples", "weighted_samples"))
    lead = (k.size("b", 3, 4),) if shape.chance(0.4) else ()
    n, m = k.size("n", 5, 8), k.size("m", 5, 8)
    rows: tuple[str, ...] = (k.size("s", 3, 5),) if "samples" in form else ()
    before = k.array("a matrix cov", scalar, (*lead, n, m), low=-1.0, high=1.0)
    x = k.array("x u features", scalar, (*lead, *rows, n), low=-1.0, high=1.0)
    y = k.array("y v deltas", scalar, (*lead, *rows, m), low=-1.0, high=1.0)
    weights = None
    if form == "weighted_samples":
        weights = k.array("w weights", scalar, (*lead, *rows), low=0.2, high=1.0)
    count = k.trip_count("samples count", rows[0]) if rows else None
    c = cells(k, scalar, (*lead, n, m), *_NAMES[2 + len(lead)])
    head, (i, j) = c.at[:-2], c.at[-2:]
    spot = ", ".join(v.name for v in c.at)
    if count is None:
        xi, yj = x[at(*head, i)], y[at(*head, j)]
        value: Expr = xi * yj
        text = f"{x.name}[{i.name}] * {y.name}[{j.name}]"
        if form == "two":
            p = k.array("p left", scalar, (*lead, n), low=-1.0, high=1.0)
            q = k.array("q right", scalar, (*lead, m), low=-1.0, high=1.0)
            value = value + p[at(*head, i)] * q[at(*head, j)]
            text += f" + {p.name}[{i.name}] * {q.name}[{j.name}]"
        change = k.let("change update prod", value)
    else:
        change = k.let("change total acc", zero(scalar))
        with k.for_("s t p", count) as s:
            term: Expr = x[at(*head, s, i)] * y[at(*head, s, j)]
            if weights is not None:
                term = weights[at(*head, s)] * term
            k.augment(change, "add", term)
        text = f"the sum over samples s of {x.name}[s, {i.name}] * {y.name}[s, {j.name}]"
        text += f" * {weights.name}[s]" if weights is not None else ""
    c.say(f"D[{spot}] = {text}{', per item of the batch' if lead else ''}.")
    triangle = shape.choice(("all", "lower", "upper")) if level >= 2 else "all"
    rate, rate_text = c.factor("alpha rate", "rates gains", 0.2, 0.9)
    sign = shape.choice(("add", "sub"))
    if shape.chance(0.4):
        keep, keep_text = c.factor("decay forget", "decays", 0.5, 0.95)
        old: Expr = keep * before[c.at]
        old_text = f"{keep_text} * {before.name}"
    else:
        old, old_text = before[c.at], before.name
    moved = old + rate * change if sign == "add" else old - rate * change
    value_text = f"{old_text} {'+' if sign == 'add' else '-'} {rate_text} * D"
    if triangle == "all":
        result = k.let("updated entry value", moved)
        c.say(f"The entry is {value_text}.")
    else:
        result = k.let("updated entry value", before[c.at])
        with k.if_(j <= i if triangle == "lower" else j >= i):
            k.assign(result, moved)
        where = "<=" if triangle == "lower" else ">="
        c.say(f"The entry is {value_text} where {j.name} {where} {i.name}, else {before.name}.")
    if level >= 3 and shape.chance(0.5):
        ridge = k.scalar("ridge damping", scalar, 0.2, 0.8)
        with k.if_(op("eq", i, j)):
            k.augment(result, "add", ridge)
        c.say(f"{ridge.name} is added on the diagonal.")
    finish(c, max(level - 1, 1), result, "out a_new new_matrix", active=False)
    return Title(k.name("rank_update outer_update syrk_like ger_update"), c.text)


@idiom
def mask_scores(k: KernelBuilder, level: int) -> Title:
    """Attention scores before the softmax: scaled products with causal, band and length masks."""
    shape = k.draw.shape
    scalar = k.draw.wide_float_type()
    lead = (k.size("b", 3, 4),) if shape.chance(0.6) else ()
    n, m, inner = k.size("q", 5, 7), k.size("t", 5, 7), k.size("d", 3, 5)
    q = k.array("queries q_in", scalar, (*lead, n, inner), low=-1.0, high=1.0)
    shared = shape.chance(0.25)
    key_lead = () if shared else lead
    keys = k.array("keys k_in", scalar, (*key_lead, m, inner), low=-1.0, high=1.0)
    low = k.scalar("masked_value fill", scalar, -9.0, -5.0)
    kinds = ("causal", "causal_strict", "band", "given", "window", "length")
    kind = shape.choice(kinds[:4] if level == 1 else kinds)
    if not lead and kind == "length":
        kind = "causal"
    allowed = given = reach = None
    if kind in ("band", "window"):
        reach = k.scalar("reach window bandwidth", INT32, 1, 3)
    elif kind == "length":
        allowed = k.array("lengths key_counts", INT32, lead, low=1, high=4)
    elif kind == "given":
        given = k.array("allowed keep", Scalar("bool"), (n, m))
    depth = k.trip_count("head_dim depth", inner)
    c = cells(k, scalar, (*lead, n, m), *_NAMES[2 + len(lead)])
    head, (i, j) = c.at[:-2], c.at[-2:]
    score = k.let("score dotted acc", zero(scalar))
    with k.for_("f d p", depth) as f:
        k.augment(score, "add", q[at(*head, i, f)] * keys[at(*(() if shared else head), j, f)])
    c.say(f"The score of query {i.name} and key {j.name} is the inner product of their rows of")
    c.say(f"{q.name} and {keys.name}{', per item of the batch' if lead else ''}.")
    scale = shape.choice(("param", "root", "each"))
    if scale == "param":
        by = k.scalar("scale inv_temperature", scalar, 0.3, 0.9)
        k.augment(score, "mul", by)
        c.say(f"It is multiplied by {by.name}.")
    elif scale == "root":
        k.augment(score, "div", fn("sqrt", cast(depth, scalar)))
        c.say("It is divided by the square root of the row length.")
    else:
        at_q, text = c.along("scales gains", 0.4, 1.2)
        k.augment(score, "mul", at_q)
        c.say(f"It is multiplied by {text}.")
    if level >= 2 and shape.chance(0.5):
        slope = k.scalar("slope distance_penalty", scalar, 0.1, 0.5)
        k.augment(score, "sub", slope * cast(fn("abs", i - j), scalar))
        c.say(f"{slope.name} * |{i.name} - {j.name}| is subtracted.")
    if level >= 3 and shape.chance(0.5):
        cap = k.scalar("cap soft_cap", scalar, 0.5, 2.0)
        k.assign(score, cap * fn("tanh", score / cap))
        c.say(f"The score s becomes {cap.name} * tanh(s / {cap.name}).")
    hidden, text = _hidden(kind, i, j, head, reach, given, allowed)
    if shape.chance(0.5):
        k.assign(score, op("where", hidden, low, score))
    else:
        with k.if_(hidden):
            k.assign(score, low)
    c.say(f"It is {low.name} where {text}.")
    finish(c, max(level - 2, 1), score, "scores logits out", skip="activate mask")
    return Title(k.name(f"mask_scores {kind}_scores attention_scores"), c.text)


def _hidden(
    kind: str,
    i: Var,
    j: Var,
    head: tuple[Var, ...],
    reach: Var | None,
    given: Var | None,
    allowed: Var | None,
) -> tuple[Expr, str]:
    """Which pairs of query and key are masked out."""
    if reach is not None:
        far = fn("abs", i - j) > reach
        if kind == "band":
            return far, f"|{i.name} - {j.name}| > {reach.name}"
        text = f"{j.name} > {i.name} or {i.name} - {j.name} > {reach.name}"
        return op("or", j > i, i - j > reach), text
    if given is not None:
        return op("not", given[i, j]), f"{given.name}[{i.name}, {j.name}] is false"
    if allowed is not None:
        return j >= allowed[head], f"{j.name} >= {allowed.name}[{head[0].name}]"
    if kind == "causal":
        return j > i, f"{j.name} > {i.name}"
    return j >= i, f"{j.name} >= {i.name}"
