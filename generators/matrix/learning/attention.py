"""Attention: a thread for each query, keys and values as vectors, softmax in one pass or two."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, extent, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, least, log, most, tanh
from generators.kit.text import written
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class _Heads:
    """Queries, keys and values of one head or of several, and where a thread stands in them."""

    k: KernelBuilder
    vec: Vec
    batch: tuple[Expr, ...]
    """Indices before that of a key: the head of keys and values."""
    query: Expr
    head: Var
    many: str
    """How many heads the queries have."""
    row: Var
    keys: Var
    values: Var
    said: str

    @property
    def count(self) -> Expr:
        return extent(self.keys, len(self.batch))

    def key(self, j: Expr) -> Expr:
        return self.keys[index(*self.batch, j)]

    def value(self, j: Expr) -> Expr:
        return self.values[index(*self.batch, j)]


_NAMES = (("q", "k", "v"), ("queries", "keys", "values"), ("query", "key", "value"))


def _heads(k: KernelBuilder, level: int, seen: str) -> _Heads:
    """Several heads, or items of a batch; from level 4 on several query heads to a key head."""
    shape = k.draw.shape
    vec = Vec(shape.choice((32, 64)), FLOAT32)
    by_item = seen == "length"
    groups = shape.choice((2, 4)) if level > 3 and not by_item and shape.chance(0.6) else 1
    itself = seen in ("causal", "window")
    lead = "batch" if by_item else "heads"
    k.size(lead, 3, 5)
    queries_of = "tokens" if itself else "queries"
    keys_of = "tokens" if itself else "keys"
    k.size(queries_of, 8, 16)
    if not itself:
        k.size(keys_of, 8, 16)
    names = (k.name("b item" if by_item else "h head"), k.name("i row"))
    many = f"{groups}*{lead}" if groups > 1 else lead
    at = k.thread(many, queries_of, names=names)
    batch: tuple[Expr, ...] = at[:-1]
    said = f"Softmax attention of each {'item' if by_item else 'head'}"
    if groups > 1:
        size = k.size_param("group_size heads_per_kv", str(groups))
        batch = (k.let("kv_head kv", at[0] // size),)
        said = "Grouped-query attention: query head h reads key/value head"
        said += f" h / {size.name}, rounded down"
    first, second, third = k.draw.word.choice(_NAMES)
    queries = k.array(first, vec, (many, queries_of), low=-1.0, high=1.0)
    keys = k.array(second, vec, (lead, keys_of), low=-1.0, high=1.0)
    values = k.array(third, vec, (lead, keys_of), low=-1.0, high=1.0)
    query = k.let("q_i q_row", queries[at])
    return _Heads(k, vec, batch, query, at[0], many, at[-1], keys, values, said)


@dataclass(frozen=True)
class _Scores:
    """How a score is made of a query and a key, which keys count, and what is said of both."""

    h: _Heads
    scale: Expr
    cap: Expr | None
    slope: Expr | None
    slopes: Var | None
    seen: str
    length: Expr | None
    window: Expr | None

    def of(self, j: Expr) -> Expr:
        """The score of the key at ``j``, in locals."""
        k = self.h.k
        found: Expr = fn("dot", self.h.query, self.h.key(j))
        found = self.scale * found
        if self.cap is not None:
            found = self.cap * tanh(found / self.cap)
        if self.slope is not None:
            found = found - self.slope * cast(abs(self.h.row - j), FLOAT32)
        return k.let("score s logit", found)

    def stop(self) -> Expr:
        """One past the last key that counts."""
        count = self.h.count
        if self.seen == "causal":
            return self.h.row + 1
        if self.length is not None:
            return self.h.k.let("length num_keys", least(self.length, count))
        return count

    def start(self) -> Expr | None:
        """The first key that counts, where it is not the first of all."""
        if self.window is None:
            return None
        return self.h.k.let("first start", most(self.h.row - self.window, 0))


def _scores(h: _Heads, level: int, seen: str) -> _Scores:
    k, shape = h.k, h.k.draw.shape
    scale = k.scalar("scale sm_scale", FLOAT32, 0.15, 0.4)
    cap = k.scalar("softcap", FLOAT32, 2.0, 6.0) if level > 2 and shape.chance(0.25) else None
    slope = slopes = None
    if level > 2 and seen in ("causal", "window") and shape.chance(0.3):
        slopes = k.array("slopes alibi_slopes", FLOAT32, h.many, low=0.02, high=0.2)
        slope = k.let("slope m", slopes[h.head])
    length = window = None
    if seen == "length":
        lengths = k.array("key_lengths num_valid", INT32, "batch", low=1, high=16)
        length = lengths[h.batch[0]]
    if seen == "window":
        window = k.scalar("window", INT32, 2, 6)
    seen = "causal" if seen == "window" else seen
    return _Scores(h, scale, cap, slope, slopes, seen, length, window)


def _said(s: _Scores) -> str:
    """The scores in words."""
    score = f"{written(s.scale)} * dot(q, k)"
    if isinstance(s.cap, Var):
        score = f"{s.cap.name} * tanh({score} / {s.cap.name})"
    if s.slopes is not None:
        score += f" less {s.slopes.name} of the query's head times the distance of query and key"
    text = f"The score of a query and a key is {score}"
    if isinstance(s.window, Var):
        return f"{text}. Query i attends to keys max(i - {s.window.name}, 0) to i, both included"
    if s.seen == "causal":
        return f"{text}. Query i attends to keys 0 to i"
    if s.length is not None:
        names = ", ".join(p.name for p in s.h.k.params if p.name in ("key_lengths", "num_valid"))
        return f"{text}. Of an item's keys only the first {names}, at least one, count"
    return text


def _one_pass(s: _Scores) -> tuple[Var, Var, Var]:
    """Running maximum, total and weighted sum; both are scaled down when the maximum grows."""
    h, k = s.h, s.h.k
    start, stop = s.start(), s.stop()
    top = k.let("running_max m", k.lift(-1.0e30, FLOAT32))
    total = k.let("denom l", k.lift(0.0, FLOAT32))
    acc = k.let("acc o", make(h.vec, k.lift(0.0, FLOAT32)))
    with k.for_("j t", stop, start=0 if start is None else start) as j:
        score = s.of(j)
        higher = k.let("new_max m_new", most(top, score))
        fade = k.let("correction alpha", exp(top - higher))
        weight = k.let("weight p", exp(score - higher))
        k.assign(total, total * fade + weight)
        k.assign(acc, acc * fade + weight * h.value(j))
        k.assign(top, higher)
    return top, total, acc


def _two_passes(s: _Scores) -> tuple[Var, Var, Var]:
    h, k = s.h, s.h.k
    start, stop = s.start(), s.stop()
    first = 0 if start is None else start
    top = k.let("row_max m", k.lift(-1.0e30, FLOAT32))
    before = set(k.used)
    with k.for_("j t", stop, start=first) as j:
        k.assign(top, most(top, s.of(j)))
    k.again(before)
    total = k.let("denom l", k.lift(0.0, FLOAT32))
    acc = k.let("acc o", make(h.vec, k.lift(0.0, FLOAT32)))
    with k.for_("j t", stop, start=first) as j:
        weight = k.let("weight p", exp(s.of(j) - top))
        k.augment(total, "add", weight)
        k.augment(acc, "add", weight * h.value(j))
    return top, total, acc


@idiom
def attention(k: KernelBuilder, level: int) -> Title:
    """Softmax attention of one query: keys scored, values mixed, in one pass or in two."""
    shape = k.draw.shape
    seen = shape.weighted(
        {"all": 3 if level < 3 else 1, "causal": 3, "window": 2 * (level > 2), "length": 1}
    )
    h = _heads(k, level, seen)
    s = _scores(h, level, seen)
    online = shape.chance(0.25 if level < 3 else 0.6)
    top, total, acc = (_one_pass if online else _two_passes)(s)
    dims = k.launch_dim
    at = tuple(Var(name, INT32) for name in k.threads)
    out = k.out("out attended", h.vec, dims)
    k.store(out, at, acc / total)
    how = "in one pass with a running maximum" if online else "stable by subtracting the maximum"
    text = (
        f"{h.said}. {_said(s)}. {out.name} gets the values of the keys averaged with the softmax "
        f"of the scores, {how}."
    )
    if level > 2 and shape.chance(0.2 + 0.1 * level):
        lse = k.out("lse log_sum_exp", FLOAT32, dims)
        k.store(lse, at, top + log(total))
        text += f" {lse.name} gets the log of the sum of exp(score)."
    names = "flash_attention" if online else "attention_forward"
    if seen in ("causal", "window"):
        names = "causal_attention" if seen == "causal" else "sliding_window_attention"
    return Title(k.name("attention", names), text)
