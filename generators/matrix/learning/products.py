"""Products of layers: with an epilogue, in groups, with narrow weights, low rank, gated."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from generators.build import KernelBuilder, cast
from generators.build.registry import Title, idiom
from generators.kit.functions import clamp, exp, least
from generators.kit.naming import BY_LEVEL, applied
from generators.kit.sources import zero
from generators.kit.text import written
from generators.matrix.learning.forms import Tensor, Work, alike, work
from generators.matrix.learning.gates import SAID, activated
from generators.matrix.parts import index
from generators.program.dtypes import INT32, Scalar
from generators.program.expr import Expr, Var

_ROWS, _COLS = "i row m_idx", "j col n_idx"


def _act(w: Work, way: str, value: Expr) -> Expr:
    """An activation, in place or by a helper function."""
    names = f"{way}_act {way}"
    return applied(w.k, BY_LEVEL[w.level], names, {"x": value}, lambda b, x: activated(b, way, x))


@idiom
def gemm_epilogue(k: KernelBuilder, level: int) -> Title:
    """A matrix product whose result passes a scale, bias, activation and residual in one kernel."""
    w = work(k, level, turning=0.3, flattening=0.25)
    batch = (w.size("b", 2, 3, "batch num_batches"),) if w.chance(0.3, 2) else ()
    m, n = w.size("m", 6, 9, "m num_rows"), w.size("n", 6, 9, "n num_cols")
    depth = w.size("kdim", 4, 8, "k_dim inner")
    left, right = alike(k, "a b", "x weight", "lhs rhs", "acts w")
    a = w.tensor(left, (*batch, m, depth))
    b = w.tensor(right, (depth, n) if w.chance(0.4, 2) else (*batch, depth, n))
    steps = ["bias"] * w.chance(0.8) or ["alpha"] * w.chance(0.5)
    steps += ["act"] * w.chance(0.6) + ["residual"] * w.chance(0.5, 2)
    with w.each((*batch, m, n), ("g item", _ROWS, _COLS)[1 - len(batch) :]) as at:
        lead, (i, j) = at[:-2], at[-2:]
        total = w.sum("acc total s")
        with w.loop("p kk t", depth) as p:
            own = lead if len(b.dims) == 3 else ()
            k.augment(total, "add", a[index(*lead, i, p)] * b[index(*own, p, j)])
        value = _epilogue(w, steps, total, (*batch, m, n), at)
        _stored(w, value, (*batch, m, n), at)
    item = "for every item of the batch" if batch else ""
    shared = ", the same matrix for all," if batch and len(b.dims) == 2 else ""
    w.told.insert(0, f"Multiply {a.name} by {b.name}{shared}{f' {item}' * bool(item)}.")
    names = "gemm_bias_act" if {"bias", "act"} <= {*steps} else "fused_gemm"
    if steps in (["bias"], []):
        names = "linear_forward" if steps else "gemm matmul"
    return Title(k.name(names), w.text())


def _epilogue(
    w: Work, steps: list[str], total: Expr, dims: tuple[str, ...], at: tuple[Expr, ...]
) -> Expr:
    """What is done to a product before it is stored."""
    value = total
    if "alpha" in steps:
        alpha = w.number("alpha", 0.3, 0.9)
        value = alpha * value
        w.say(f"Scale the product by {written(alpha)}.")
    if "bias" in steps:
        bias = w.tensor("bias", dims[-1:])
        value = value + bias[at[-1]]
        w.say(f"Add {bias.name} of the column.")
    if "act" in steps:
        way = w.k.draw.shape.choice(sorted(SAID))
        value = _act(w, way, w.k.let("pre z u", value))
        w.say(f"Apply {SAID[way]}.")
    if "residual" in steps:
        residual = w.tensor("residual skip", dims, turns=False)
        value = value + residual[at]
        w.say(f"Add {residual.name}.")
    return value


def _stored(w: Work, value: Expr, dims: tuple[str, ...], at: tuple[Expr, ...]) -> None:
    """Store a result, or mix it into what is there."""
    if w.chance(0.05):
        out = w.tensor("c out y", dims, role="inout")
        if w.chance(0.5):
            out.store(at, value, "add")
            w.say(f"The result is added to {out.name}.")
        else:
            beta = w.number("beta keep", 0.3, 0.9)
            out.store(at, value + beta * out[at])
            w.say(f"{out.name} becomes the result plus {written(beta)} times its old value.")
        return
    out = w.out("c out y", dims)
    out.store(at, value)
    w.say(f"{out.name} gets the result.")


@idiom
def grouped_gemm(k: KernelBuilder, level: int) -> Title:
    """Rows sorted by group, each multiplied with its group's matrix; groups end at offsets."""
    w = work(k, level, turning=0.3, flattening=0.25)
    rows, groups = w.size("tokens", 14, 20), w.size("experts", 3, 5, "num_experts")
    depth, n = w.size("features", 4, 7, "in_dim"), w.size("n", 4, 7, "out_dim n")
    search = w.k.draw.shape.weighted({"walk": 2, "bisect": 2 * (level > 1), "ids": 1})
    x = w.tensor("x acts", (rows, depth))
    weight = w.tensor("weights expert_weights", (groups, depth, n))
    bias = w.tensor("bias expert_bias", (groups, n), turns=False) if w.chance(0.4) else None
    scale = w.tensor("gates route_weights", (rows,), 0.2, 1.0) if w.chance(0.3, 2) else None
    if search == "ids":
        ids = k.array("expert_ids", INT32, rows, init=f"index_of:{groups}")
        said = f"the expert in {ids.name}"
    else:
        ends = k.array("expert_ends group_ends", INT32, groups, init="sorted", low=1, high=20)
        how = "bisection" if search == "bisect" else "a walk over the ends"
        said = f"its expert. Tokens are sorted by expert; expert e has those before {ends.name}[e]"
        said += f", the last one all that are left, which {how} finds"
    with w.each((rows, n), ("r row t", "j col c")) as (r, c):
        g = k.let("expert e_id", ids[r]) if search == "ids" else _group(w, ends, r, search)
        total = w.sum("acc total")
        with w.loop("p kk d", depth) as p:
            k.augment(total, "add", x[r, p] * weight[g, p, c])
        value: Expr = total if bias is None else total + bias[g, c]
        value = value if scale is None else scale[r] * value
        w.say(
            f"Grouped matrix product: each token of {x.name} times the matrix in {weight.name} of"
        )
        w.told[-1] += f" {said}."
        if bias is not None:
            w.say(f"Add {bias.name} of the expert.")
        if scale is not None:
            w.say(f"Multiply by the token's weight in {scale.name}.")
        _stored(w, value, (rows, n), (r, c))
    return Title(k.name("grouped_gemm expert_gemm", "moe_matmul"), w.text())


def _group(w: Work, ends: Var, row: Expr, search: str) -> Var:
    """The group of a row: by a walk over the ends, or by bisection."""
    k = w.k
    last = w.count("experts") - 1
    if search == "walk":
        g = k.let("expert e_id", k.lift(0, INT32))
        with k.for_("e q", last) as e, k.if_(row >= ends[e]):
            k.assign(g, e + 1)
        return g
    lo, hi = k.let("lo", k.lift(0, INT32)), k.let("hi", last)
    with k.while_(lo < hi):
        mid = k.let("mid", (lo + hi) // 2)
        with k.if_(ends[mid] <= row):
            k.assign(lo, mid + 1)
        with k.else_():
            k.assign(hi, mid)
    return lo


_PACKED = {"int32": 8, "uint32": 8, "uint8": 2}


@idiom
def int4_product(k: KernelBuilder, level: int) -> Title:
    """Weights of four bits, packed several to a word, with a scale and zero point a group."""
    shape = k.draw.shape
    w = work(k, level, flattening=0.25)
    word = Scalar(shape.choice(("uint32", "uint8")))
    per, unit = _PACKED[word.name], "byte" if word.bits == 8 else "word"
    m, n = w.size("m", 4, 6, "m num_rows"), w.size("out_features", 6, 9, "n out_features")
    words = shape.choice((4, 8)) if per == 8 else shape.choice((16, 32))
    groups = w.size("groups", 2, 3, "num_groups")
    inner, packed = f"{per * words}*groups", f"{words}*groups"
    by_col = shape.chance(0.5)
    dims = (n,) if shape.chance(0.35) else (m, n)
    x = w.tensor("x acts", (*dims[:-1], inner), fixed=True)
    top = 2**word.bits - 1
    stored = (n, packed) if by_col else (packed, n)
    q = w.tensor("qweight packed_w", stored, 0, top, type_=word, fixed=True)
    scales = w.tensor("scales group_scales", (n, groups) if by_col else (groups, n), 0.05, 0.2)
    zeros = w.tensor("zeros zero_points", scales.dims, 5.0, 9.0) if w.chance(0.4) else None
    said = "8" if zeros is None else f"{zeros.name} of the group"
    w.say(
        f"Multiply {x.name} by 4-bit weights packed {per} to a {unit} of {q.name} along the depth, "
        f"lowest bits first. Groups of {per * words} weights of a column share a scale in "
        f"{scales.name}; a weight is (nibble - {said}) * scale. Columns are the "
        f"{'first' if by_col else 'second'} axis of {q.name} and {scales.name}."
    )
    with w.each(dims, (_ROWS, "j col")[2 - len(dims) :]) as at:
        total = w.sum("acc total")
        with w.loop("g group", groups) as g:
            own = (at[-1], g) if by_col else (g, at[-1])
            scale = k.let("scale", scales[own])
            zero_at = k.lift(8.0, w.type_) if zeros is None else k.let("zero", zeros[own])
            part = k.let("part group_sum", zero(w.type_))
            with k.for_(f"v {unit}_i", words) as v:
                slot = k.let(f"slot {unit}_idx", g * words + v)
                bits = q[(at[-1], slot) if by_col else (slot, at[-1])]
                _nibbles(w, bits, per, slot * per, x, at, part, zero_at)
            k.augment(total, "add", scale * part)
        _stored(w, total, dims, at)
    names = "int4_gemv w4_gemv" if len(dims) == 1 else "int4_gemm w4_matmul"
    return Title(k.name(names), w.text())


def _nibbles(
    w: Work,
    word: Expr,
    per: int,
    first: Expr,
    x: Tensor,
    at: tuple[Expr, ...],
    part: Var,
    zero_at: Expr,
) -> None:
    """Add the products of all weights of one word."""
    k = w.k
    bits = k.let("bits pair" if per == 2 else "bits word", word)
    scalar = bits.type
    assert isinstance(scalar, Scalar)
    start = k.let("base start", first)
    with k.for_("b nib t", per) as b:
        if scalar.bits == 8:
            wide = cast(bits, INT32)
            q: Expr = (wide >> (4 * b)) & 15
        else:
            q = (bits >> cast(4 * b, scalar)) & 15
        nibble = k.let("nibble w_int", cast(q, w.type_))
        k.augment(part, "add", (nibble - zero_at) * x[index(*at[:-1], start + b)])


@idiom
def low_rank_product(k: KernelBuilder, level: int) -> Title:
    """Low-rank adapters: down to the rank, or up again beside the full product."""
    w = work(k, level, turning=0.3, flattening=0.2)
    shrinks = w.chance(0.35)
    based = not shrinks and w.chance(0.6)
    m, depth = w.size("m", 8, 12, "num_tokens"), "hidden" if based else "features"
    if shrinks or based:
        w.size(depth, 4, 7, "in_dim")
    if based:
        # Beside the full product the rank is small: one of those in use.
        rank = str(k.draw.shape.choice((4, 8, 16)))
        w.words[rank] = "rank"
    else:
        rank = w.size("rank", 2, 3, "rank")
    several = w.chance(0.5, 2)
    extra = (w.size("adapters", 2, 4, minimum=2),) if several else ()
    skip = several and w.chance(0.4, 3)
    names = alike(k, "lora_a lora_b x_lora", "w_down w_up x_down", "a_mat b_mat xa")
    ids = None
    if several:
        ids = k.array("adapter_ids", INT32, m, low=-1 if skip else 0, high=1)
    thin = _Thin(w, extra, names, ids, skip)
    title = thin.shrink(m, depth, rank) if shrinks else thin.expand(m, depth, rank, based)
    if ids is not None:
        none = "; a negative one means no adapter" if skip else ""
        w.say(f"{ids.name} names the adapter of a token{none}.")
    return Title(title, w.text())


@dataclass(frozen=True)
class _Thin:
    """One adapter or several, and which token has which."""

    w: Work
    extra: tuple[str, ...]
    names: list[str]
    ids: Var | None
    skip: bool

    def which(self, i: Expr) -> tuple[Expr, ...]:
        return () if self.ids is None else (self.w.k.let("adapter a_id", self.ids[i]),)

    def shrink(self, m: str, depth: str, rank: str) -> str:
        """The features of a token times the first thin matrix."""
        w, k = self.w, self.w.k
        x = w.tensor("x acts", (m, depth))
        down = w.tensor(self.names[0], (*self.extra, depth, rank))
        with w.each((m, rank), ("i token", "r")) as (i, r):
            which = self.which(i)
            total = w.sum("acc total")
            with k.if_(which[0] >= 0) if self.skip else nullcontext(), w.loop("p d", depth) as p:
                k.augment(total, "add", x[i, p] * down[index(*which, p, r)])
            w.say(f"LoRA shrink: multiply {x.name} by the low-rank factor {down.name}.")
            out = w.out(self.names[2], (m, rank))
            out.store((i, r), total)
            w.say(f"{out.name} gets the result.")
        return k.name("lora_shrink lora_down")

    def expand(self, m: str, depth: str, rank: str, based: bool) -> str:
        """What came of that times the second thin matrix, beside the full product or alone."""
        w, k = self.w, self.w.k
        n = w.size("n", 5, 8, "out_dim")
        base = x = None
        if based:
            x = w.tensor("x acts", (m, depth))
            base = w.tensor("weight w", (depth, n))
        hidden = w.tensor(self.names[2], (m, rank), fixed=True)
        up = w.tensor(self.names[1], (*self.extra, rank, n))
        scale = w.number("scaling lora_scale", 0.3, 0.9)
        with w.each((m, n), ("i token", "j col")) as (i, j):
            which = self.which(i)
            total = w.sum("acc total")
            if x is not None and base is not None:
                with w.loop("p d", depth) as p:
                    k.augment(total, "add", x[i, p] * base[p, j])
            with k.if_(which[0] >= 0) if self.skip else nullcontext():
                alone = base is None and not self.skip
                update = total if alone else k.let("update delta", zero(w.type_))
                with w.loop("r q", rank) as r:
                    k.augment(update, "add", hidden[i, r] * up[index(*which, r, j)])
                k.augment(total, *(("mul", scale) if alone else ("add", scale * update)))
            own = f"{x.name} times {base.name}, plus " if x is not None and base is not None else ""
            kind = "LoRA linear layer" if own else "LoRA expand"
            w.say(
                f"{kind}: {own}{written(scale)} times {hidden.name} (the tokens times the other "
                f"low-rank factor) times {up.name}."
            )
            names = "out y"
            if own or w.chance(0.5):
                out = w.out(names, (m, n))
                out.store((i, j), total)
                w.say(f"{out.name} gets the result.")
            else:
                out = w.tensor(names, (m, n), role="inout")
                out.store((i, j), total, "add")
                w.say(f"The result is added to {out.name}.")
        return k.name("lora_linear lora_forward" if own else "lora_expand lora_up")


@idiom
def gated_product(k: KernelBuilder, level: int) -> Title:
    """Two products of one input, of which one gates the other: SwiGLU, GeGLU, ReGLU."""
    w = work(k, level, flattening=0.25)
    m, n = w.size("m", 6, 9, "num_tokens"), w.size("n", 6, 9, "hidden")
    depth = w.size("features", 4, 8, "in_dim")
    merged, turned = w.chance(0.4), w.chance(0.35)
    x = w.tensor("x tokens", (m, depth))
    if merged:
        gate_w = up_w = w.tensor("w_gate_up w13", (depth, f"2*{n}"), fixed=True)
        of = f"the first and second half of the columns of {gate_w.name}"
    else:
        first, second = alike(k, "w_gate w_up", "gate_weight up_weight", "w1 w3")
        whole = (n, depth) if turned else (depth, n)
        gate_w, up_w = w.tensor(first, whole), w.tensor(second, whole)
        of = f"{gate_w.name} and {up_w.name}"
    biased = w.chance(0.3)
    names = ("gate_bias", "up_bias") if biased else ()
    biases = [w.tensor(name, (n,)) for name in names]
    turned = turned and not merged
    stored = ", both stored transposed," if turned else ""
    w.say(
        f"Gated linear unit: multiply {x.name} by {of}{stored} for a gate and a value"
        f"{', each plus its bias' * biased}."
    )
    with w.each((m, n), ("i token", "j col")) as (i, j):
        gate, up = (w.sum(name) for name in alike(k, "gate up", "g u", "gate lin"))
        with w.loop("p d", depth) as p:
            value = k.let("v xv", x[i, p])
            k.augment(gate, "add", value * gate_w[(j, p) if turned else (p, j)])
            own = w.count(n) + j if merged else j
            k.augment(up, "add", value * up_w[(j, p) if turned else (p, own)])
        for of_one, bias in zip((gate, up), biases, strict=False):
            k.augment(of_one, "add", bias[j])
        way = k.draw.shape.choice(("silu", "silu", "gelu", "gelu_tanh", "relu", "sigmoid"))
        _stored(w, _gated(w, gate, up, way), (m, n), (i, j))
    unit = {"silu": "swiglu", "relu": "reglu", "sigmoid": "glu"}.get(way, "geglu")
    return Title(k.name(f"{unit}_forward fused_{unit}", f"{unit}_product"), w.text())


def _gated(w: Work, gate: Var, up: Var, way: str) -> Expr:
    """A value times what its gate is activated to; seldom both are limited first."""
    k = w.k
    if way == "silu" and w.chance(0.25, 3):
        limit = w.number("limit clip", 0.8, 1.4)
        k.assign(gate, least(gate, limit))
        k.assign(up, clamp(up, -limit, limit))
        said = written(limit)
        w.say(f"The gate is at most {said}; the value is clamped between -{said} and {said}.")
    w.say(f"Multiply the value by {SAID.get(way, 'the sigmoid')} of the gate.")
    opened: Expr = 1.0 / (1.0 + exp(-gate)) if way == "sigmoid" else _act(w, way, gate)
    return opened * up
