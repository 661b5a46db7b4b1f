"""Matrices of a product that are no matrices in memory: where their elements lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class View:
    """Arrays that are seen as the matrices a, b and c of a product.

    `arrays` are their names in the kernel; `sizes` its `int` parameters, from which `m`, `n` and
    `k` are had: formulas of them, in C. `shape` is what the kernel makes of its sizes, a
    `const Shape`, after which `functions` ask: `find_a` and `find_b` of the sides in `gathered`,
    each `bool(const Shape&, int, int, size_t&)`, false where there is nothing but a zero; and
    `place_of_c` where `scattered`. The product's transposes say along which of its axes threads
    that follow one another read. `groups` are products of their own; a block of group `blockIdx.y`
    moves arrays by `moved`, formulas of `shape`. `row_bias`: bias is added by rows. `aligned`: what
    must be whole vectors of elements.
    """

    about: str
    arrays: Mapping[str, str]
    sizes: tuple[str, ...]
    m: str
    n: str
    k: str
    shape: str
    functions: str
    gathered: str
    constants: tuple[tuple[str, str], ...] = ()
    scattered: bool = False
    groups: int = 1
    moved: Mapping[str, str] | None = None
    row_bias: bool = False
    aligned: str = ""

    def __hash__(self) -> int:
        return hash((self.about, self.functions, self.constants))


def kernel_lines(view: View, bias: bool) -> list[str]:
    """What a kernel makes of its sizes, and where its group's arrays begin."""
    lines = [f"const Shape shape = {{{view.shape}}};"]
    lines += [f"const int {name} = {getattr(view, name)};" for name in "mnk"]
    if view.groups > 1:
        lines.append("const size_t group = blockIdx.y;")
        for name, by in (view.moved or {}).items():
            if name != "bias" or bias:
                lines.append(f"{name} += group * {by};")
    return [f"    {line}" for line in lines]
