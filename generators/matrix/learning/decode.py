"""Attention in pieces: against a cache in pages, scores alone, weights times values."""

from __future__ import annotations

from dataclasses import dataclass

from generators.build import KernelBuilder, cast, fn, make
from generators.build.registry import Title, idiom
from generators.kit.functions import exp, log, most, tanh
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.parts import index
from generators.program.dtypes import FLOAT32, INT32, Vec
from generators.program.expr import Expr, Var


@dataclass(frozen=True)
class _Pages:
    """A cache in pages of vectors, the query of a thread, and which tokens it attends to."""

    w: Work
    keys: Tensor
    values: Tensor
    table: Var
    page: Expr
    inner: bool
    query: Var
    scale: Expr
    seq: Expr
    head: Expr

    def place(self, t: Expr) -> tuple[Expr, ...]:
        """Where token ``t`` lies: its page, its place there, its head, as the cache has them."""
        k = self.w.k
        block = k.let("page block", self.table[self.seq, t // self.page])
        slot = k.let("slot in_page", t % self.page)
        return (block, slot, self.head) if self.inner else (block, self.head, slot)

    def score(self, at: tuple[Expr, ...]) -> Var:
        k = self.w.k
        return k.let("score logit", self.scale * fn("dot", self.query, self.keys[at]))

    def zero(self, top: Expr, sink: Expr | None) -> tuple[Var, Var]:
        """The sum of weights, which has a sink's already, and that of weighted values."""
        k = self.w.k
        own = k.lift(0.0, FLOAT32) if sink is None else exp(sink - top)
        total = k.let("denom l", k.lift(1.0, FLOAT32) if sink is top else own)
        return total, k.let("acc o", make(self.query.type, k.lift(0.0, FLOAT32)))

    def mixed(self, start: Expr, stop: Expr, sink: Expr | None) -> tuple[Var, Var, Var]:
        """Largest score, sum of weights, weighted values: with one pass over the cache."""
        k = self.w.k
        first = k.lift(-1.0e30, FLOAT32) if sink is None else sink
        top = k.let("running_max m", first)
        total, acc = self.zero(top, None if sink is None else top)
        with k.for_("t pos", stop, start=start) as t:
            at = self.place(t)
            score = self.score(at)
            higher = k.let("new_max m_new", most(top, score))
            fade = k.let("correction alpha", exp(top - higher))
            weight = k.let("weight p", exp(score - higher))
            k.assign(total, total * fade + weight)
            k.assign(acc, acc * fade + weight * self.values[at])
            k.assign(top, higher)
        return top, total, acc

    def twice(self, start: Expr, stop: Expr, sink: Expr | None) -> tuple[Var, Var, Var]:
        """The same with two passes: the largest score first."""
        k = self.w.k
        sink = None if sink is None else k.let("sink", sink)
        top = k.let("row_max m", k.lift(-1.0e30, FLOAT32) if sink is None else sink)
        before = set(k.used)
        with k.for_("t pos", stop, start=start) as t:
            k.assign(top, most(top, self.score(self.place(t))))
        k.again(before)
        total, acc = self.zero(top, sink)
        with k.for_("t pos", stop, start=start) as t:
            at = self.place(t)
            weight = k.let("weight p", exp(self.score(at) - top))
            k.augment(total, "add", weight)
            k.augment(acc, "add", weight * self.values[at])
        return top, total, acc


_PAGES = 2
"""Pages that the longest sequence has at the sizes of a test."""
_GROUP = "group_size heads_per_kv"
"""How many query heads share a head of keys and values."""


def _shared_head(k: KernelBuilder, head: Var, groups: int) -> tuple[Expr, str]:
    """The head of keys and values that a query head reads, and which one that is in words."""
    if groups == 1:
        return head, ""
    size = k.size_param(_GROUP, str(groups))
    return k.let("kv_head kv", head // size), f"h / {size.name}, rounded down"


def _pages(k: KernelBuilder, w: Work) -> tuple[_Pages, tuple[Var, Var], str, int, str]:
    """The arrays, the thread's sequence and head, most tokens of a sequence, what heads share."""
    shape = k.draw.shape
    vec, page = Vec(shape.choice((32, 64)), FLOAT32), shape.choice((16, 32))
    groups = shape.choice((2, 4)) if w.chance(0.6, 2) else 1
    w.size("batch", 3, 4, "batch num_seqs")
    heads = "heads" if groups == 1 else str(shape.choice((4, 8)))
    q_heads, inner = heads if groups == 1 else str(groups * int(heads)), shape.chance(0.5)
    if groups == 1:
        w.size(heads, 2, 3)
    w.size("pages", 6, 9)
    w.size("max_pages", _PAGES, 3, minimum=_PAGES)
    w.words[q_heads] = "num_heads q_heads"
    q = w.tensor("q queries", ("batch", q_heads), type_=vec)
    dims = ("pages", str(page), heads) if inner else ("pages", heads, str(page))
    names = alike(k, "k_cache v_cache", "key_pages value_pages", "cache_k cache_v")
    keys, values = (w.tensor(n, dims, type_=vec, fixed=True) for n in names)
    table = k.array("page_table block_tables", INT32, ("batch", "max_pages"), init="index_of:pages")
    size: Expr = k.lift(page, INT32)
    if shape.chance(0.75):
        size = k.size_param("page_size block_size", str(page))
    scale = w.number("scale sm_scale", 0.15, 0.4, 0.0)
    s, h = k.thread("batch", q_heads, names=(k.name("s seq b"), k.name("h head")))
    kv, shared = _shared_head(k, h, groups)
    shared = f" (head h reads key/value head {shared})" if shared else ""
    query = k.let("query qv", q[s, h])
    made = _Pages(w, keys, values, table, size, inner, query, scale, s, kv)
    return made, (s, h), q_heads, page * _PAGES, shared


@idiom
def paged_attention(k: KernelBuilder, level: int) -> Title:
    """One decoded token a sequence against a cache in pages that a table names."""
    w = work(k, level)
    w.type_ = FLOAT32
    p, (s, h), q_heads, longest, shared = _pages(k, w)
    lengths = k.array("seq_lens context_lengths", INT32, "batch", low=1, high=longest)
    length = k.let("length num_tokens", lengths[s])
    start: Expr = k.lift(0, INT32)
    said = ""
    if w.chance(0.3, 2):
        window = k.scalar("window", INT32, longest // 2 - 2, longest // 2 + 2)
        start = k.let("first start", most(length - window, 0))
        said = f" Only the last {window.name} tokens of a sequence are attended to."
    online = w.chance(0.5)
    sink = w.tensor("sinks sink_logits", (q_heads,)) if w.chance(0.2, 3) else None
    first = None if sink is None else sink[h]
    top, total, acc = (p.mixed if online else p.twice)(start, length, first)
    out = w.out("out attended", ("batch", q_heads), type_=p.query.type)
    out.store((s, h), acc / total)
    heads = f" and head{shared}"
    w.say(
        f"Decode attention with a paged KV cache: the single query of each sequence{heads} attends "
        f"to the {lengths.name}[{s.name}] tokens cached so far, at least one, with scores "
        f"{written(p.scale)} * dot(q, k). "
        f"Token t lies in page {p.table.name}[{s.name}, t / {written(p.page)}], slot t mod "
        f"{written(p.page)}; the cache has axes (page, "
        f"{'slot, head' if p.inner else 'head, slot'}).{said}"
    )
    if sink is not None:
        w.say(
            f"An attention sink is a further score, {sink.name} of the head, which counts in the "
            "softmax but has no value."
        )
    passes = "in one pass with a running maximum" if online else "after a pass for the maximum"
    w.say(f"{out.name} gets the values averaged with the softmax of the scores, {passes}.")
    if w.chance(0.35, 3):
        lse = w.out("lse log_denoms", ("batch", q_heads), type_=FLOAT32)
        lse.store((s, h), top + log(total))
        w.say(f"{lse.name} gets the log of the softmax's denominator.")
    return Title(k.name("paged_attention decode_paged_attention", "decode_attention"), w.text())


@idiom
def attention_scores(k: KernelBuilder, level: int) -> Title:
    """Scores of queries and keys before the softmax: scaled, capped, with slopes and masks."""
    w = work(k, level, turning=0.25, flattening=0.2)
    w.type_ = FLOAT32
    lead: tuple[str, ...] = ()
    lead += (w.size("b", 2, 3, "batch num_batches"),) if w.chance(0.4, 2) else ()
    lead += (w.size("heads", 2, 3, "heads num_heads"),) if w.chance(0.7, 2) else ()
    itself = w.chance(0.75)
    rows = w.size("queries", 4, 7, "seq_len" if itself else "num_queries q_len")
    cols = rows if itself else w.size("keys", 4, 7, "num_keys k_len")
    dim = w.size("dim", 3, 5, "head_dim")
    first, second = alike(k, "q k", "query key", "q_proj k_proj")
    q, keys = w.tensor(first, (*lead, rows, dim)), w.tensor(second, (*lead, cols, dim))
    dims = (*lead, rows, cols)
    names = [{"b": "b item", "heads": "h head"}[x] for x in lead]
    names += k.draw.word.choice(("i j", "row col", "qi kj")).split()
    scale = w.number("scale inv_sqrt_d", 0.3, 0.8)
    with w.each(dims, names) as at:
        i, j = at[-2:]
        dot = w.sum("dot qk acc")
        with w.loop("d c", dim) as d:
            k.augment(dot, "add", q[index(*at[:-2], i, d)] * keys[index(*at[:-2], j, d)])
        score = k.let("score logit", scale * dot)
        every = {"b": "item", "heads": "head"}
        each = " and ".join(every[x] for x in lead)
        w.say(f"Attention scores{' of each ' * bool(lead)}{each}: {written(scale)} times the dot")
        w.told[-1] += f" product of each query in {q.name} with each key in {keys.name}."
        _bent(w, score, at, lead, cols)
        low = k.draw.value.choice((-1.0e9, -1.0e4, -65504.0))
        masked = _seen(w, at, lead, itself, f"{low:g}" if low > -1.0e5 else "-1e9")
        out = w.out("scores logits", dims)
        if masked is None:
            out.store(at, score)
        else:
            _store_seen(w, out, at, (masked, score, low))
        w.say(f"{out.name} gets the result.")
    text = w.text()
    return Title(k.name("attention_scores qk_scores", "score_matrix attention_logits"), text)


def _store_seen(w: Work, out: Tensor, at: tuple[Var, ...], parts: tuple[Expr, Var, float]) -> None:
    """Store a score where its key is seen, else a low one."""
    masked, score, low = parts
    if w.chance(0.5):
        out.store(at, fn("where", masked, score, low))
        return
    with w.k.if_(masked):
        out.store(at, score)
    with w.k.else_():
        out.store(at, low)


def _bent(w: Work, score: Var, at: tuple[Var, ...], lead: tuple[str, ...], cols: str) -> None:
    """Cap a score, take off what distance costs where both are places of one sequence, add a
    bias."""
    k, (i, j) = w.k, at[-2:]
    if w.chance(0.3, 2):
        cap = w.number("cap softcap", 2.0, 6.0)
        k.assign(score, cap * tanh(score / cap))
        w.say(f"Scores are capped as {written(cap)} * tanh(score / {written(cap)}).")
    ways = {"none": 4, "bias": 2}
    ways |= {"alibi": 3, "table": 2} if cols == "queries" else {}
    way = k.draw.shape.weighted(ways)
    if way == "alibi":
        by_head = "heads" in lead
        slope = (
            w.tensor("slopes alibi_slopes", ("heads",), 0.05, 0.5)[at[lead.index("heads")]]
            if by_head
            else w.number("slope alibi_slope", 0.05, 0.5)
        )
        far = cast(abs(i - j), w.type_) if w.chance(0.5) else abs(cast(i - j, w.type_))
        k.augment(score, "sub", slope * far)
        w.say(f"{written(slope)} times the distance of their places is subtracted (ALiBi).")
    elif way == "table":
        side = w.count("queries")
        table = w.tensor("rel_bias relative_bias", ("2*queries",), fixed=True)
        k.augment(score, "add", table[i - j + side - 1])
        w.say(f"Query i and key j get the relative bias {table.name}[i - j + n - 1], n")
        w.told[-1] += f" being {written(side)}."
    elif way == "bias":
        bias = w.tensor("attn_bias pair_bias", ("queries", cols), turns=False)
        k.augment(score, "add", bias[i, j])
        w.say(f"{bias.name} of the pair is added.")


def _seen(
    w: Work, at: tuple[Var, ...], lead: tuple[str, ...], itself: bool, low: str
) -> Expr | None:
    """Whether a query sees a key, or None where all see all."""
    k, (i, j) = w.k, at[-2:]
    ways = {"all": 4, "lengths": 3}
    ways |= {"causal": 4, "window": 2 * (w.level > 1)} if itself else {}
    way = k.draw.shape.weighted(ways)
    if way == "causal":
        w.say(f"Keys later than the query are masked out with {low}.")
        return j <= i
    if way == "window":
        reach = k.scalar("window", INT32, 1, 2)
        w.say(f"Keys more than {reach.name} places away are masked out with {low}.")
        return abs(i - j) <= reach
    if way == "lengths":
        if "b" not in lead:
            count = k.scalar("num_valid key_count", INT32, 2, 4)
            w.say(f"Keys from index {count.name} on are padding and masked out with {low}.")
            return j < count
        lengths = k.array("key_lengths lengths", INT32, "b", low=2, high=4)
        w.say(f"Keys from {lengths.name} of the item on are padding and masked out with {low}.")
        return j < lengths[at[0]]
    return None


@idiom
def attention_values(k: KernelBuilder, level: int) -> Title:
    """Attention weights times values: softmax of given scores or given weights, heads shared."""
    w = work(k, level, turning=0.25, flattening=0.2)
    w.type_, form = FLOAT32, k.draw.shape.choice(("weights", "normed", "logits"))
    groups = k.draw.shape.choice((1, 2)) if w.chance(0.5, 2) else 1
    heads = w.size("heads", 2, 3, "heads num_heads")
    many = f"{groups}*{heads}" if groups > 1 else heads
    w.words[many] = "q_heads num_q_heads" if groups > 1 else "heads num_heads"
    causal = w.chance(0.35)
    rows = w.size("queries", 3, 5, "seq_len" if causal else "num_queries q_len")
    cols = rows if causal else w.size("keys", 4, 7, "num_keys k_len")
    dim = w.size("dim", 3, 5, "head_dim")
    names = alike(k, "probs values", "weights values", "attn v")
    low = -1.5 if form == "logits" else 0.1
    probs = w.tensor("logits scores" if form == "logits" else names[0], (many, rows, cols), low)
    values = w.tensor(names[1], (heads, cols, dim))
    norms = _norms(w, form, (many, rows))
    merged = w.chance(0.4)
    dims = (rows, many, dim) if merged else (many, rows, dim)
    call = {rows: "i query", many: "h head", dim: "d c"}
    with w.each(dims, [call[x] for x in dims]) as at:
        h, i = (at[1], at[0]) if merged else (at[0], at[1])
        kv, shared = _shared_head(k, h, groups)
        total = w.sum("acc mixed")
        stop: Expr = i + 1 if causal else w.count(cols)
        with k.for_("j key t", stop) as j:
            weight = probs[h, i, j]
            if form == "logits" and norms is not None:
                weight = k.let("p weight", exp(weight - norms[h, i]))
            k.augment(total, "add", weight * values[kv, j, at[2]])
        value: Expr = total / norms[h, i] if form == "normed" and norms is not None else total
        gate = w.tensor("gate head_gates", (many,), 0.3, 1.0) if w.chance(0.25, 3) else None
        value = value if gate is None else gate[h] * value
        out = w.out("out context", dims)
        out.store(at, value)
    _values_said(w, probs, values, norms, form, causal)
    w.told += [f"Query head h reads value head {shared}."] * bool(shared)
    w.told += [] if gate is None else [f"Multiply by the head's gate in {gate.name}."]
    w.say(f"{out.name} has axes ({'query, head' if merged else 'head, query'}, feature).")
    return Title(k.name("attention_values weights_times_values", "mix_values pv_product"), w.text())


def _norms(w: Work, form: str, dims: tuple[str, str]) -> Tensor | None:
    """What weights are divided by, or what logits are less of; None where they are ready."""
    if form == "weights":
        return None
    if form == "logits":
        return w.exact(w.tensor("lse log_denoms", dims, 1.5, 2.5, turns=False))
    return w.exact(w.tensor("row_sums denoms", dims, 2.0, 4.0, turns=False))


def _values_said(
    w: Work,
    probs: Tensor,
    values: Tensor,
    norms: Tensor | None,
    form: str,
    causal: bool,
) -> None:
    norm = norms.name if norms else ""
    what = {
        "weights": f"the attention weights {probs.name}",
        "normed": f"the unnormalised weights {probs.name}, divided by the row sums {norm}",
        "logits": f"the weights exp({probs.name} - {norm})",
    }[form]
    keys = "keys 0 to i of query i" if causal else "all keys"
    w.say(f"Attention output: for each head and query, sum {values.name} over {keys} with {what}.")
