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
    row: Var
    keys: Var
    values: Var
    said: list[str]

    @property
    def count(self) -> Expr:
        return extent(self.keys, len(self.batch))

    def key(self, j: Expr) -> Expr:
        return self.keys[index(*self.batch, j)]

    def value(self, j: Expr) -> Expr:
        return self.values[index(*self.batch, j)]


def _heads(k: KernelBuilder, level: int) -> _Heads:
    """One head; from level 2 on often several, from level 4 on several queries to a key head."""
    shape = k.draw.shape
    vec = Vec(shape.choice((4, 4, 8) if level > 1 else (4,)), FLOAT32)
    k.size("queries", 10, 20)
    k.size("keys", 8, 16)
    several = level > 1 and shape.chance(0.7)
    groups = shape.choice((2, 4)) if several and level > 3 and shape.chance(0.6) else 1
    dims = ("heads",) if several else ()
    if several:
        k.size("heads", 3, 5)
    lead = (k.name("h head"),) if several else ()
    names = (*lead, k.name("i query row"))
    of_queries = tuple(f"{groups}*heads" if groups > 1 else d for d in dims)
    at = k.thread(*of_queries, "queries", names=names)
    batch: tuple[Expr, ...] = at[:-1]
    said = ["For each query q"]
    if groups > 1:
        batch = (k.let("kv_head kv", at[0] // groups),)
        said = [
            f"For each query q of head {at[0].name}, with keys and values of head "
            f"{at[0].name} / {groups}"
        ]
    queries = k.array("queries q", vec, (*of_queries, "queries"), low=-1.0, high=1.0)
    keys = k.array("keys k", vec, (*dims, "keys"), low=-1.0, high=1.0)
    values = k.array("values v", vec, (*dims, "keys"), low=-1.0, high=1.0)
    query = k.let("query qi q_row", queries[at])
    return _Heads(k, vec, batch, query, at[-1], keys, values, said)


@dataclass(frozen=True)
class _Scores:
    """How a score is made of a query and a key, which keys count, and what is said of both."""

    h: _Heads
    scale: Expr | None
    cap: Expr | None
    slope: Expr | None
    seen: str
    length: Expr | None
    window: Expr | None

    def of(self, j: Expr) -> Expr:
        """The score of the key at ``j``, in locals."""
        k = self.h.k
        found: Expr = fn("dot", self.h.query, self.h.key(j))
        if self.scale is not None:
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
            return self.h.k.let("last stop", least(self.h.row + 1, count))
        if self.length is not None:
            return self.h.k.let("length num_keys", least(self.length, count))
        return count

    def start(self) -> Expr | None:
        """The first key that counts, where it is not the first of all."""
        if self.window is None:
            return None
        return self.h.k.let(
            "first start", most(least(self.h.row, self.h.count - 1) - self.window, 0)
        )


def _scores(h: _Heads, level: int) -> _Scores:
    k, shape = h.k, h.k.draw.shape
    root = {4: "2.0", 8: "2.828427"}[h.vec.size]
    way = shape.weighted({"none": 1 if level < 3 else 0, "literal": 2, "shared": 2})
    scale: Expr | None = None
    if way == "shared":
        scale = k.scalar("scale inv_sqrt_d", FLOAT32, 0.4, 1.0)
    elif way == "literal":
        scale = k.lift(round(1.0 / float(root), 6), FLOAT32)
    cap = k.scalar("cap softcap", FLOAT32, 2.0, 6.0) if level > 2 and shape.chance(0.25) else None
    slope = None
    if level > 2 and shape.chance(0.35):
        slope = k.scalar("slope alibi", FLOAT32, 0.02, 0.2)
    seen = shape.weighted(
        {"all": 4 if level < 3 else 1, "causal": 3, "window": level > 2, "length": 2}
    )
    length = window = None
    if seen == "length":
        lengths = k.array("lengths key_lengths num_valid", INT32, "queries", low=1, high=20)
        length = lengths[h.row]
    if seen == "window":
        window = k.scalar("window reach", INT32, 2, 6)
    return _Scores(h, scale, cap, slope, "causal" if seen == "window" else seen, length, window)


def _said(s: _Scores) -> str:
    """The scores in words."""
    parts = ["score every key k by dot(q, k)"]
    if s.scale is not None:
        name = s.scale.name if isinstance(s.scale, Var) else written(s.scale)
        parts = [f"score every key k by {name} * dot(q, k)"]
    if isinstance(s.cap, Var):
        parts.append(f"capped as {s.cap.name} * tanh(score / {s.cap.name})")
    if isinstance(s.slope, Var):
        parts.append(f"less {s.slope.name} for each place between them")
    text = ", ".join(parts)
    if isinstance(s.window, Var):
        return f"{text}. Only the query's place and the {s.window.name} before it count"
    if s.seen == "causal":
        return f"{text}. Keys behind the query's place do not count"
    if s.length is not None:
        return f"{text}. Only the first keys count, as many as its length says"
    return text


def _one_pass(s: _Scores) -> tuple[Var, Var, Var]:
    """Running maximum, total and weighted sum; both are scaled down when the maximum grows."""
    h, k = s.h, s.h.k
    start, stop = s.start(), s.stop()
    top = k.let("top running_max m", k.lift(-1.0e30, FLOAT32))
    total = k.let("total denom l", k.lift(0.0, FLOAT32))
    acc = k.let("acc mixed o", make(h.vec, k.lift(0.0, FLOAT32)))
    with k.for_("j key t", stop, start=0 if start is None else start) as j:
        score = s.of(j)
        higher = k.let("higher new_max m_new", most(top, score))
        fade = k.let("fade correction alpha", exp(top - higher))
        weight = k.let("weight p", exp(score - higher))
        k.assign(total, total * fade + weight)
        k.assign(acc, acc * fade + weight * h.value(j))
        k.assign(top, higher)
    return top, total, acc


def _two_passes(s: _Scores) -> tuple[Var, Var, Var]:
    h, k = s.h, s.h.k
    start, stop = s.start(), s.stop()
    first = 0 if start is None else start
    top = k.let("top row_max m", k.lift(-1.0e30, FLOAT32))
    with k.for_("j key t", stop, start=first) as j:
        k.assign(top, most(top, s.of(j)))
    total = k.let("total denom l", k.lift(0.0, FLOAT32))
    acc = k.let("acc mixed o", make(h.vec, k.lift(0.0, FLOAT32)))
    with k.for_("n kk u", stop, start=first) as n:
        weight = k.let("weight p", exp(s.of(n) - top))
        k.augment(total, "add", weight)
        k.augment(acc, "add", weight * h.value(n))
    return top, total, acc


@idiom
def attention(k: KernelBuilder, level: int) -> Title:
    """Softmax attention of one query: keys scored, values mixed, in one pass or in two."""
    h = _heads(k, level)
    s = _scores(h, level)
    online = k.draw.shape.chance(0.25 if level < 3 else 0.6)
    top, total, acc = (_one_pass if online else _two_passes)(s)
    dims = k.launch_dim
    at = tuple(Var(name, INT32) for name in k.threads)
    out = k.out("out mixed attended", h.vec, dims)
    k.store(out, at, acc / total)
    how = "in one pass with a running maximum" if online else "stable by subtracting the maximum"
    text = (
        f"{h.said[0]}, {_said(s)}. {out.name} gets the values mixed by the scores' softmax, {how}."
    )
    if level > 2 and k.draw.shape.chance(0.3 + 0.1 * level):
        lse = k.out("lse log_norms", FLOAT32, dims)
        k.store(lse, at, top + log(total))
        text += f" {lse.name} gets the log of the summed exponentials."
    return Title(k.name("attention flash_attention attend_rows", "decode_attention"), text)
