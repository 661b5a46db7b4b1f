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
    depth = w.size("kdim", 4, 8, "k_dim depth inner")
    left, right = alike(k, "a b_mat", "x weight", "lhs rhs", "acts w")
    a = w.tensor(left, (*batch, m, depth))
    b = w.tensor(right, (depth, n) if w.chance(0.4, 2) else (*batch, depth, n))
    steps = ["alpha"] * w.chance(0.4) + ["bias"] * w.chance(0.7)
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
    w.told.insert(0, f"Multiply {a.name} by {b.name}{shared} {item}.")
    names = "gemm_bias_act" if {"bias", "act"} <= {*steps} else "gemm_epilogue fused_gemm"
    if steps in (["bias"], []):
        names = "linear_forward" if steps else "gemm matmul"
    return Title(k.name(names), w.text())


def _epilogue(
    w: Work, steps: list[str], total: Expr, dims: tuple[str, ...], at: tuple[Expr, ...]
) -> Expr:
    """What is done to a product before it is stored."""
    value = total
    if "alpha" in steps:
        alpha = w.number("alpha scale", 0.3, 0.9)
        value = alpha * value
        w.say(f"The product is scaled by {written(alpha)}.")
    if "bias" in steps:
        by_row = w.chance(0.2)
        bias = w.tensor("bias beta_vec", dims[-2:-1] if by_row else dims[-1:])
        value = value + bias[at[-2] if by_row else at[-1]]
        w.say(f"{bias.name} of the {'row' if by_row else 'column'} is added.")
    if "act" in steps:
        way = w.k.draw.shape.choice(sorted(SAID))
        value = _act(w, way, w.k.let("pre z u", value))
        w.say(f"Then {SAID[way]} is applied.")
    if "residual" in steps:
        residual = w.tensor("residual skip", dims)
        value = value + residual[at]
        w.say(f"{residual.name} is added{' after that' if 'act' in steps else ''}.")
    return value


def _stored(w: Work, value: Expr, dims: tuple[str, ...], at: tuple[Expr, ...]) -> None:
    """Store a result, or mix it into what is there."""
    if w.chance(0.08):
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
    rows, groups = w.size("rows", 14, 20), w.size("experts", 3, 5, "num_groups num_experts")
    depth, n = w.size("depth", 4, 7, "k_dim depth"), w.size("n", 4, 7, "n num_cols")
    search = w.k.draw.shape.weighted({"walk": 2, "bisect": 2 * (level > 1), "ids": 1})
    x = w.tensor("x tokens a", (rows, depth))
    weight = w.tensor("weights w expert_weights", (groups, depth, n))
    bias = w.tensor("bias group_bias", (groups, n)) if w.chance(0.4) else None
    scale = w.tensor("scales gates", (rows,), 0.2, 1.0) if w.chance(0.3, 2) else None
    if search == "ids":
        ids = k.array("group_ids expert_ids", INT32, rows, init=f"index_of:{groups}")
        said = f"the matrix that {ids.name} names"
    else:
        ends = k.array("group_ends offsets", INT32, groups, init="sorted", low=1, high=20)
        said = f"that of its group: the first that ends behind the row ({ends.name}), or the last"
    with w.each((rows, n), ("r row t", "j col c"), line=0.0) as (r, c):
        g = k.let("g group expert", ids[r]) if search == "ids" else _group(w, ends, r, search)
        total = w.sum("acc total")
        with w.loop("p kk d", depth) as p:
            k.augment(total, "add", x[r, p] * weight[g, p, c])
        value: Expr = total if bias is None else total + bias[g, c]
        value = value if scale is None else scale[r] * value
        w.say(f"Multiply each row of {x.name} by one matrix of {weight.name}, {said}.")
        if bias is not None:
            w.say(f"{bias.name} of the group is added.")
        if scale is not None:
            w.say(f"The sum is multiplied by {scale.name} of the row.")
        _stored(w, value, (rows, n), (r, c))
    return Title(k.name("grouped_gemm expert_gemm", "ragged_matmul segment_matmul"), w.text())


def _group(w: Work, ends: Var, row: Expr, search: str) -> Var:
    """The group of a row: by a walk over the ends, or by bisection."""
    k = w.k
    last = w.count("experts") - 1
    if search == "walk":
        g = k.let("g group expert", k.lift(0, INT32))
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
    per = _PACKED[word.name]
    m, n = w.size("m", 6, 9, "m num_rows"), w.size("n", 6, 9, "n num_cols")
    words, groups = 1 if per == 8 else shape.choice((2, 4)), w.size("groups", 2, 3, "num_groups")
    inner, packed = f"{per * words}*groups", "groups" if words == 1 else f"{words}*groups"
    by_col = shape.chance(0.5)
    dims = (n,) if shape.chance(0.35) else (m, n)
    x = w.tensor("x acts", (*dims[:-1], inner), fixed=True)
    top = 2**word.bits - 1
    stored = (n, packed) if by_col else (packed, n)
    q = w.tensor("packed qweight", stored, 0, top, type_=word, fixed=True)
    scales = w.tensor("scales group_scales", (n, groups) if by_col else (groups, n), 0.05, 0.2)
    zeros = w.tensor("zeros zero_points", scales.dims, 5.0, 9.0) if w.chance(0.4) else None
    said = "8" if zeros is None else f"{zeros.name} of the group and column"
    w.say(
        f"Multiply {x.name} by four-bit weights, {per} in a word of {q.name} along the depth, "
        f"lowest bits first: a weight is (bits - {said}) * {scales.name} of its group of "
        f"{per * words} and column."
    )
    with w.each(dims, (_ROWS, "j col")[2 - len(dims) :]) as at:
        total = w.sum("acc total")
        with w.loop("g group", groups) as g:
            own = (at[-1], g) if by_col else (g, at[-1])
            scale = k.let("scale step", scales[own])
            zero_at = k.lift(8.0, w.type_) if zeros is None else k.let("zero z", zeros[own])
            part = k.let("part group_sum", zero(w.type_))
            if words == 1:
                _nibbles(w, q[own], per, g * per, x, at, part, zero_at)
            else:
                with k.for_("v word_i", words) as v:
                    slot = k.let("slot place", g * words + v)
                    bits = q[(at[-1], slot) if by_col else (slot, at[-1])]
                    _nibbles(w, bits, per, slot * per, x, at, part, zero_at)
            k.augment(total, "add", scale * part)
        _stored(w, total, dims, at)
    return Title(k.name("int4_gemm w4_product packed_weight_product"), w.text())


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
    bits = k.let("bits word packed_w", word)
    scalar = bits.type
    assert isinstance(scalar, Scalar)
    start = k.let("base start", first)
    with k.for_("b nib t", per) as b:
        if scalar.bits == 8:
            wide = cast(bits, INT32)
            q: Expr = (wide >> (4 * b)) & 15
        else:
            q = (bits >> cast(4 * b, scalar)) & 15
        level = k.let("level w_int", cast(q, w.type_))
        k.augment(part, "add", (level - zero_at) * x[index(*at[:-1], start + b)])


@idiom
def low_rank_product(k: KernelBuilder, level: int) -> Title:
    """A product with a matrix and a low-rank update beside it, each token maybe by its own one."""
    w = work(k, level, turning=0.3, flattening=0.2)
    m, n = w.size("m", 8, 12, "m num_tokens"), w.size("n", 5, 8, "n out_dim")
    depth, rank = w.size("depth", 4, 7, "in_dim depth"), w.size("rank", 2, 3, "rank lora_rank")
    several = w.chance(0.4, 2)
    extra = (w.size("adapters", 2, 4, minimum=2),) if several else ()
    x = w.tensor("x tokens", (m, depth))
    base = w.tensor("w weight base", (depth, n)) if w.chance(0.7) else None
    down = w.tensor("lora_a down", (*extra, depth, rank))
    up = w.tensor("lora_b up", (*extra, rank, n))
    skip = several and base is not None and w.chance(0.5, 2)
    ids = None
    if several:
        ids = k.array("adapter_ids adapters_of", INT32, m, low=-1 if skip else 0, high=1)
    scale = w.number("scaling lora_scale", 0.3, 0.9)
    f = _Thin(w, x, base, down, up, scale, ids, skip)
    with w.each((m, n), ("i token", "j col")) as (i, j):
        which: tuple[Expr, ...] = () if ids is None else (k.let("a adapter", ids[i]),)
        if base is None:
            value: Expr = scale * f.update(which, i, j)
        else:
            total = w.sum("acc total")
            with w.loop("p d", depth) as p:
                k.augment(total, "add", x[i, p] * base[p, j])
            with k.if_(which[0] >= 0) if skip else nullcontext():
                k.augment(total, "add", scale * f.update(which, i, j))
            value = total
        f.say()
        _stored(w, value, (m, n), (i, j))
    return Title(k.name("lora_linear low_rank_forward adapter_product"), w.text())


@dataclass(frozen=True)
class _Thin:
    """A matrix and the two thin ones beside it; who has which."""

    w: Work
    x: Tensor
    base: Tensor | None
    down: Tensor
    up: Tensor
    scale: Expr
    ids: Var | None
    skip: bool

    def update(self, which: tuple[Expr, ...], i: Expr, j: Expr) -> Var:
        """A row times two thin matrices, a component of the middle at a time."""
        w, k = self.w, self.w.k
        update = k.let("update delta", zero(w.type_))
        with w.loop("r q", "rank") as r:
            hidden = k.let("hidden mid", zero(w.type_))
            with w.loop("d e", "depth") as d:
                k.augment(hidden, "add", self.x[i, d] * self.down[index(*which, d, r)])
            k.augment(update, "add", hidden * self.up[index(*which, r, j)])
        return update

    def say(self) -> None:
        w, x, base = self.w, self.x.name, self.base
        own = f"{x} times {base.name}, plus " if base is not None else ""
        w.say(
            f"Compute {own}{written(self.scale)} times the low-rank product of {x}, "
            f"{self.down.name} and {self.up.name}."
        )
        if self.ids is not None:
            none = ", none where it is negative" if self.skip else ""
            w.say(f"{self.ids.name} names the pair of low-rank matrices of a row{none}.")


@idiom
def gated_product(k: KernelBuilder, level: int) -> Title:
    """Two products of one input, of which one gates the other: SwiGLU, GeGLU, ReGLU."""
    w = work(k, level, turning=0.3, flattening=0.25)
    m, n = w.size("m", 6, 9, "m num_tokens"), w.size("n", 6, 9, "hidden width")
    depth = w.size("depth", 4, 8, "depth in_dim")
    merged = w.chance(0.4)
    x = w.tensor("x tokens", (m, depth))
    if merged:
        gate_w = up_w = w.tensor("w_gate_up w13", (depth, f"2*{n}"), fixed=True)
        of = f"the first and second half of the columns of {gate_w.name}"
    else:
        first, second = alike(k, "w_gate w_up", "gate_weight up_weight", "w1 w3")
        gate_w, up_w = w.tensor(first, (depth, n)), w.tensor(second, (depth, n))
        of = f"{gate_w.name} and {up_w.name}"
    biased = w.chance(0.3)
    names = ("gate_bias", "up_bias") if biased else ()
    biases = [w.tensor(name, (n,)) for name in names]
    w.say(f"Multiply {x.name} by {of}: a gate and a value{', each plus its bias' * biased}.")
    with w.each((m, n), ("i token", "j col")) as (i, j):
        gate, up = w.sum("gate g"), w.sum("up u lin")
        with w.loop("p d", depth) as p:
            value = k.let("v xv", x[i, p])
            k.augment(gate, "add", value * gate_w[p, j])
            k.augment(up, "add", value * up_w[p, w.count(n) + j if merged else j])
        for of_one, bias in zip((gate, up), biases, strict=False):
            k.augment(of_one, "add", bias[j])
        _stored(w, _gated(w, gate, up), (m, n), (i, j))
    return Title(k.name("swiglu_product gated_linear", "glu_forward fused_glu"), w.text())


def _gated(w: Work, gate: Var, up: Var) -> Expr:
    """A value times what its gate is activated to; seldom both are limited first."""
    k = w.k
    way = k.draw.shape.choice(("silu", "gelu", "gelu_tanh", "relu", "sigmoid"))
    if w.chance(0.25, 3):
        limit = w.number("limit clip", 0.8, 1.4)
        k.assign(gate, least(gate, limit))
        k.assign(up, clamp(up, -limit, limit))
        said = written(limit)
        w.say(f"The gate is at most {said}; the value is clamped between -{said} and {said}.")
    w.say(f"The value is multiplied by {SAID.get(way, 'the sigmoid')} of the gate.")
    opened: Expr = 1.0 / (1.0 + exp(-gate)) if way == "sigmoid" else _act(w, way, gate)
    return opened * up
