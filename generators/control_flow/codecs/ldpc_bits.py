"""Bit nodes of low-density parity-check codes: totals, and messages back to the checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from generators.build import KernelBuilder
from generators.build.registry import Title
from generators.kit.masks import one_if
from generators.program.dtypes import FLOAT32, INT32
from generators.program.expr import Operand, Var


@dataclass
class _Bits:
    """A thread for each code bit, and the messages of its edges: by bit, by slot, or listed."""

    at: tuple[Var, ...]
    dims: tuple[str, ...]
    incoming: Var
    shape: tuple[str, ...]
    place: Callable[[Var], tuple[Operand, ...]]
    said: str


def _bits(k: KernelBuilder, level: int) -> _Bits:
    batched, listed = k.draw.shape.chance(0.4), level > 1 and k.draw.shape.chance(0.5)
    slots_first = not listed and k.draw.shape.chance(0.4)
    k.size("code_bits", 20, 26)
    k.size("var_degree", 3, 4)
    lead = (k.size("frames", 3, 4),) if batched else ()
    at = k.thread(*lead, "code_bits", names=(*(("f",) if batched else ()), k.name("v n")))
    frame, v = at[:-1], at[-1]
    dims: tuple[str, ...] = ("code_bits", "var_degree")
    if listed:
        edges = k.array("edge_ids var_edges", INT32, dims, init="permutation")
        shape: tuple[str, ...] = (*lead, "code_bits*var_degree")
        said = f"on the edges in row {v.name} of {edges.name}"
    else:
        shape = (*lead, *(dims[::-1] if slots_first else dims))
        said = f"in its {'column' if slots_first else 'row'}"
    incoming = k.array("check_to_var c2v", FLOAT32, shape, low=-5.0, high=5.0)

    def place(j: Var) -> tuple[Operand, ...]:
        if listed:
            return (*frame, k.let("e edge", edges[v, j]))
        return (*frame, j, v) if slots_first else (*frame, v, j)

    return _Bits(at, (*lead, "code_bits"), incoming, shape, place, said)


def variable_nodes(k: KernelBuilder, level: int) -> Title:
    """Variable nodes: the channel's ratio and the messages of all checks, less that of the edge."""
    n = _bits(k, level)
    llrs = k.array("channel_llrs llr_in", FLOAT32, n.dims, low=-4.0, high=4.0)
    degree = k.size_param("var_degree col_weight", "var_degree")
    total = k.let("total posterior_llr", llrs[n.at])
    before = set(k.used)
    with k.for_("j slot", degree) as j:
        k.augment(total, "add", n.incoming[n.place(j)])
    parts = _totals(k, level, n, total)
    if level > 1:
        k.again(before, *(p.name for p in k.params))
        out = k.out("var_to_check v2c", FLOAT32, n.shape)
        with k.for_("j slot", degree) as j:
            here = n.place(j)
            k.store(out, here, total - n.incoming[here])
        parts = [f"for each edge, {out.name} gets the total less the message on it", *parts]
    text = f"Variable-node update of LDPC decoding: the total of bit {n.at[-1].name} is its "
    text += f"{llrs.name} plus the {degree.name} messages of {n.incoming.name} {n.said}. "
    names = "variable_node_update bit_node_update" if level > 1 else "posterior_llrs sum_llrs"
    done = "; ".join(parts)
    return Title(
        k.name(names), f"{text}{done[0].upper()}{done[1:]}." if level > 1 else f"{text}{done}."
    )


def _totals(k: KernelBuilder, level: int, n: _Bits, total: Var) -> list[str]:
    """Outputs of a bit: its total, what it is decided to be."""
    parts = []
    if level == 1 or k.draw.shape.chance(0.3):
        form = k.draw.shape.choice(("bits", "total"))
        if form == "total":
            out = k.out("posterior posterior_llrs_out", FLOAT32, n.dims)
            k.store(out, n.at, total)
            parts.append(f"{out.name} gets the total")
        else:
            hard = k.out("hard_bits decisions", INT32, n.dims)
            k.store(hard, n.at, one_if(total < 0.0))
            parts.append(f"{hard.name} gets 1 where the total is negative, else 0")
    return parts
