"""Decoding of low-density parity-check codes by messages: min-sum, sum-product, layers.

R. Gallager, Low-Density Parity-Check Codes, 1963; J. Chen, M. Fossorier, IEEE Trans. Commun. 50
(2002); layers: D. Hocevar, SiPS 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import BodyBuilder, KernelBuilder, fn
from generators.build.registry import Title, idiom
from generators.control_flow.codecs.ldpc_bits import variable_nodes
from generators.kit.functions import clamp, exp, least, log, most, where
from generators.kit.masks import one_if
from generators.kit.naming import routine
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Expr, Operand, Var

_EDGES = 96
"""How many edges offsets may reach to."""
_FAR = 1.0e30


@dataclass
class _Check:
    """The edges of a thread's parity check, of one frame or of one of a batch."""

    k: KernelBuilder
    check: Var
    frame: Var | None
    first: Expr
    stop: Expr
    edges: str
    said: str
    regular: bool

    def dims(self) -> tuple[str, ...]:
        return (self.edges, "frames") if self.frame is not None else (self.edges,)

    def at(self, edge: Expr) -> tuple[Operand, ...]:
        return (edge, self.frame) if self.frame is not None else (edge,)

    def messages(self) -> tuple[Var, Var, str]:
        """Messages to the check and those from it; in place where offsets say which edges it has.

        Edges beyond the last offset have no check and keep what they have.
        """
        if self.regular:
            data = self.k.array("var_to_check v2c", FLOAT32, self.dims(), low=-10.0, high=10.0)
            out = self.k.out("check_to_var c2v", FLOAT32, self.dims())
            return data, out, ""
        data = self.k.array(
            "messages edge_llrs", FLOAT32, self.dims(), role="inout", low=-10.0, high=10.0
        )
        return data, data, ", in place"


def _check(k: KernelBuilder) -> _Check:
    """Checks by offsets, or all with as many edges."""
    shape = k.draw.shape
    batched, regular = shape.chance(0.4), shape.chance(0.45)
    k.size("parity_checks", *((20, 26) if not batched else (16, 20)))
    dims: tuple[str, ...] = ("parity_checks",)
    names = [k.name("c check row")]
    if batched:
        k.size("frames", 4, 6)
        dims, names = (*dims, "frames"), [*names, k.name("f frame")]
    at = k.thread(*dims, names=names)
    frame = at[1] if batched else None
    if regular:
        k.size("check_degree", 4, 6, minimum=2)
        degree = k.size_param("check_degree row_weight", "check_degree")
        first = k.let("start first", at[0] * degree)
        edges = "parity_checks*check_degree"
        name = at[0].name
        said = f"check {name} having the {degree.name} edges from {name} * {degree.name} on"
        return _Check(k, at[0], frame, first, first + degree, edges, said, True)
    starts = k.array(
        "check_starts row_ptr", INT32, "parity_checks+1", init="sorted", low=0, high=_EDGES
    )
    k.size("edges", _EDGES, 110, minimum=_EDGES)
    first = k.let("start first", starts[at[0]])
    stop = k.let("stop last", starts[at[0] + 1])
    said = f"check {at[0].name} having the edges from {starts.name}[{at[0].name}] up to "
    said += f"{starts.name}[{at[0].name} + 1] (exclusive)"
    return _Check(k, at[0], frame, first, stop, "edges", said, False)


@dataclass
class _Correction:
    """What min-sum does to a magnitude, since it overestimates it."""

    apply: Callable[[Expr], Expr]
    said: str
    name: str


def _correction(k: KernelBuilder) -> _Correction:
    form = k.draw.shape.weighted({"plain": 1, "normalized": 2, "offset": 2})
    if form == "normalized":
        factor = k.scalar("alpha norm_factor", FLOAT32, 0.7, 0.9)
        return _Correction(lambda m: factor * m, f"{factor.name} times ", "normalized_min_sum")
    if form == "offset":
        beta = k.scalar("beta offset", FLOAT32, 0.1, 0.5)
        said = f"max(0, m - {beta.name}) for m "
        return _Correction(lambda m: most(m - beta, 0.0), said, "offset_min_sum")
    return _Correction(lambda m: m, "", "min_sum")


@dataclass
class _Two:
    """The two smallest magnitudes, where the smallest is, and the sign of all."""

    least: Var
    second: Var
    place: Var
    sign: Var

    def take(self, k: KernelBuilder, value: Expr, place: Expr) -> None:
        size = k.let("mag abs_v", abs(value))
        with k.if_(value < 0.0):
            k.assign(self.sign, -self.sign)
        with k.if_(size < self.least):
            k.assign(self.second, self.least)
            k.assign(self.least, size)
            k.assign(self.place, place)
        with k.elif_(size < self.second):
            k.assign(self.second, size)

    def other(self, k: KernelBuilder, value: Expr, place: Expr, fix: _Correction) -> Expr:
        """The message to an edge: without its own."""
        kept = where(fn("eq", place, self.place), self.second, self.least)
        size = k.let("out_mag kept", fix.apply(kept))
        return where(value < 0.0, -self.sign, self.sign) * size


def _two(k: KernelBuilder, start: Operand) -> _Two:
    names = k.draw.word.choice((("min1", "min2"), ("smallest", "second")))
    least, second = (k.let(name, k.lift(start, FLOAT32)) for name in names)
    place = k.let("min_at arg_min", k.lift(-1, INT32))
    return _Two(least, second, place, k.let("sign sign_all", k.lift(1.0, FLOAT32)))


def _min_sum(k: KernelBuilder, level: int) -> Title:
    """Check nodes by the two smallest magnitudes of their messages."""
    c = _check(k)
    data, out, placed = c.messages()
    fix = _correction(k)
    cap = None if c.regular else k.scalar("max_llr llr_limit", FLOAT32, 11.0, 15.0)
    two = _two(k, _FAR if cap is None else cap)
    with k.for_("e edge", c.stop, start=c.first) as e:
        two.take(k, k.let("v msg", data[c.at(e)]), e)
    with k.for_("e edge", c.stop, start=c.first) as e:
        own = k.let("own msg_in", data[c.at(e)])
        k.store(out, c.at(e), two.other(k, own, e, fix))
    text = f"Check-node update of LDPC decoding by {fix.name.replace('_', '-')}{placed}: "
    text += (
        f"for each edge, {out.name} gets {fix.said}the smallest magnitude of {data.name} over the "
    )
    text += "other edges of its check, with the product of their signs (0 counts as positive), "
    text += f"{c.said}."
    if cap is not None:
        text += f" An edge that is alone in its check gets {cap.name} for that magnitude, which is "
        text += "the most there is."
    return Title(k.name(f"{fix.name}_check {fix.name}_update check_node_update"), text)


def _sum_product(k: KernelBuilder, level: int) -> Title:
    """Check nodes exactly: products of tanh, sums of their logarithms, or pair by pair."""
    c = _check(k)
    data, out, placed = c.messages()
    ways = (_by_phi, _by_tanh, _by_pairs) if c.regular else (_by_phi,)
    done = k.draw.shape.choice(ways)(k, c, data, out)
    text = f"Check-node update of LDPC decoding by the sum-product rule{placed}: for each edge, "
    text += f"{out.name} gets 2 * atanh of the product of tanh(m / 2) over the messages m in "
    text += f"{data.name} of the other edges of its check, {c.said}. {done}"
    return Title(k.name("sum_product_check tanh_rule_check check_node_update"), text)


def _by_phi(k: KernelBuilder, c: _Check, data: Var, out: Var) -> str:
    """Magnitudes by phi(x) = -log(tanh(x / 2)), which is its own inverse."""

    def build(b: BodyBuilder, x: Expr) -> Expr:
        held = b.let("held xc", most(x, 0.02))
        return -log(fn("tanh", 0.5 * held))

    phi = routine(k, 1.0, "phi phi_fn", {"x": FLOAT32}, build)
    total, sign = k.let("total phi_sum", k.lift(0.0, FLOAT32)), k.let("sign", k.lift(1.0, FLOAT32))
    with k.for_("e edge", c.stop, start=c.first) as e:
        v = k.let("v msg", data[c.at(e)])
        k.augment(total, "add", phi(abs(v)))
        with k.if_(v < 0.0):
            k.assign(sign, -sign)
    with k.for_("e edge", c.stop, start=c.first) as e:
        own = k.let("own msg_in", data[c.at(e)])
        size = k.let("out_mag mag", phi(total - phi(abs(own))))
        k.store(out, c.at(e), where(own < 0.0, -sign, sign) * size)
    return (
        "By signs (0 counts as positive) and magnitudes: phi of the sum of phi over the others, "
        "which is that of all less its own, where phi(x) = -log(tanh(x / 2)) of x, of 0.02 where "
        "x is smaller."
    )


def _by_tanh(k: KernelBuilder, c: _Check, data: Var, out: Var) -> str:
    with k.for_("e edge", c.stop, start=c.first) as e:
        product = k.let("product prod", k.lift(1.0, FLOAT32))
        with k.for_("o other", c.stop, start=c.first) as o, k.if_(fn("ne", o, e)):
            held = k.let("m held", clamp(data[c.at(o)], -5.0, 5.0))
            k.assign(product, product * fn("tanh", 0.5 * held))
        k.store(out, c.at(e), log((1.0 + product) / (1.0 - product)))
    return "Messages are clamped to [-5, 5]; 2 * atanh(p) is log((1 + p) / (1 - p))."


def _by_pairs(k: KernelBuilder, c: _Check, data: Var, out: Var) -> str:
    def build(b: BodyBuilder, x: Expr, y: Expr) -> Expr:
        size = b.let("mag size", least(abs(x), abs(y)))
        signed = b.let("base signed", where(x * y < 0.0, -size, size))
        up, down = exp(-abs(x + y)), exp(-abs(x - y))
        return signed + log(1.0 + up) - log(1.0 + down)

    types = {"x": FLOAT32, "y": FLOAT32}
    join = routine(k, 1.0, "box_plus boxplus", types, build)
    with k.for_("e edge", c.stop, start=c.first) as e:
        total = k.let("acc joined", k.lift(30.0, FLOAT32))
        with k.for_("o other", c.stop, start=c.first) as o, k.if_(fn("ne", o, e)):
            k.assign(total, join(total, data[c.at(o)]))
        k.store(out, c.at(e), total)
    return (
        "They are joined one by one, beginning with 30: two of them, x and y, give the smaller "
        "magnitude with the sign of x * y, plus log(1 + exp(-|x + y|)) - log(1 + exp(-|x - y|))."
    )


def _syndrome(k: KernelBuilder, level: int) -> Title:
    """Whether the decided bits satisfy each check."""
    c = _check(k)
    k.size("code_bits", 24, 30)
    ids = k.array("edge_bits col_idx", INT32, c.edges, init="index_of:code_bits")
    dims = ("code_bits", "frames") if c.frame is not None else ("code_bits",)
    llrs = k.array("posterior total_llrs", FLOAT32, dims, low=-4.0, high=4.0)
    odd = k.let("parity odd", k.lift(0, INT32))
    with k.for_("e edge", c.stop, start=c.first) as e:
        value = llrs[c.at(k.let("b bit", ids[e]))]
        if k.draw.shape.chance(0.5):
            k.assign(odd, odd ^ one_if(value < 0.0))
        else:
            with k.if_(value < 0.0):
                k.assign(odd, 1 - odd)
    dims = ("parity_checks", "frames") if c.frame is not None else ("parity_checks",)
    out = k.out("syndrome unsatisfied", INT32, dims)
    k.store(out, c.at(c.check), odd)
    text = f"Syndrome of an LDPC code: {out.name} gets 1 for each check of which an odd number of "
    text += (
        f"bits is 1, else 0; a bit is 1 where {llrs.name} is negative, {ids.name} is the bit of "
    )
    text += f"an edge, {c.said}."
    return Title(k.name("ldpc_syndrome parity_checks_failed check_syndrome"), text)


def _layer(k: KernelBuilder, level: int) -> Title:
    """A layer of a quasi-cyclic code: totals take the new messages at once."""
    batched, numbered = (k.draw.shape.chance(0.5) for _ in range(2))
    lead = (k.size("frames", 2, 3),) if batched else ()
    for name, low, high in (("lifting", 6, 8), ("base_cols", 6, 8)):
        k.size(name, low, high)
    at = k.thread(*lead, "lifting", names=(*(("f",) if batched else ()), k.name("z lane")))
    frame, z = at[:-1], at[-1]
    dims = (*lead, "base_cols", "lifting")
    layer: tuple[Operand, ...] = ()
    rows: tuple[str, ...] = ()
    if numbered:
        rows = (k.size("base_rows", 3, 4, minimum=3),)
        layer = (k.scalar("layer base_row_idx", INT32, 0, 2),)
    shifts = k.array("shifts base_matrix", INT32, (*rows, "base_cols"), low=-3, high=6)
    totals = k.array("posterior total_llrs", FLOAT32, dims, role="inout", low=-6.0, high=6.0)
    edges = (*lead, *rows, *dims[-2:])
    old = k.array("layer_messages c2v", FLOAT32, edges, role="inout", low=-2.0, high=2.0)
    cols = k.size_param("num_cols base_cols", "base_cols")
    size = k.size_param("lift lifting_size", "lifting")
    fix = _correction(k)
    cap = k.scalar("max_message message_limit", FLOAT32, 2.0, 3.0)
    two = _two(k, cap)

    def place(col: Var) -> tuple[Operand, ...]:
        return (*frame, col, k.let("lane_at rotated", (z + shifts[layer + (col,)]) % size))

    before = set(k.used)
    with k.for_("col c", cols) as col, k.if_(shifts[layer + (col,)] >= 0):
        v = k.let("v extrinsic", totals[place(col)] - old[frame + layer + (col, z)])
        two.take(k, v, col)
    k.again(before)
    with k.for_("col c", cols) as col, k.if_(shifts[layer + (col,)] >= 0):
        here, own = place(col), frame + layer + (col, z)
        v = k.let("v extrinsic", totals[here] - old[own])
        new = k.let("new_msg updated", two.other(k, v, col, fix))
        k.store(old, own, new)
        k.store(totals, here, v + new)
    names = (cap.name, shifts.name, totals.name, old.name, z.name, size.name)
    return Title(k.name("layered_min_sum ldpc_layer qc_ldpc_layer"), _layer_told(fix, *names))


def _layer_told(
    fix: _Correction, cap: str, shifts: str, totals: str, old: str, lane: str, size: str
) -> str:
    return (
        f"One layer of layered LDPC decoding by {fix.name.replace('_', '-')}, of a quasi-cyclic "
        f"code: check {lane} of the layer has an edge for each block column whose shift in "
        f"{shifts} is not negative, to bit ({lane} + shift) % {size} of that block. With v = "
        f"{totals} of that bit less {old} of the edge, {old} becomes {fix.said}the smaller of "
        f"{cap} and the smallest |v| over the other edges of the check, with the product of their "
        f"signs (0 counts as positive), and {totals} becomes v plus that."
    )


_FORMS = {
    1: (variable_nodes, _syndrome),
    2: (variable_nodes, _syndrome),
    3: (_min_sum,),
    4: (_sum_product,),
    5: (_layer,),
}


@idiom
def ldpc_messages(k: KernelBuilder, level: int) -> Title:
    """Messages of LDPC decoding: variable nodes, syndromes, min-sum, sum-product, layers."""
    return k.draw.shape.choice(_FORMS[level])(k, level)
