"""Device functions with which lanes of a warp that update one element do so with one atomic."""

from __future__ import annotations

from collections.abc import Callable

from generators.program.dtypes import Scalar, Type, scalar_of
from synth.render.cuda.device.collective import WORDS, identity, join_into
from synth.render.cuda.device.functions import Library, built
from synth.render.cuda.dialect.current import need_shuffles
from synth.render.cuda.types import parts

Atomic = Callable[[str], str]
"""The statement of an atomic at ``*address`` with the variable of that name."""


def neutral(lib: Library, join: str, type_: Type) -> str:
    """What joining leaves every value as it is, of composites too."""
    one = identity(join, scalar_of(type_))
    return one if isinstance(type_, Scalar) else built(lib, type_, [one] * len(parts(type_)))


def peers_join(lib: Library, join: str, type_: Type, atomic: Atomic) -> str:
    """Ask for the function that joins the values of lanes with the same address by halves; its
    name.

    ``name(address, value)`` may stand where only some lanes of a warp come. It matches addresses
    and not indices: lanes that come from different calls may then be there together.
    """
    need_shuffles("joining updates that meet")
    name, held = f"warp_aggregated_{WORDS[join]}", lib.type(type_)
    places = [""] if isinstance(type_, Scalar) else parts(type_)
    shuffled = [f"__shfl_sync(active, value{p}, next)" for p in places]
    other = shuffled[0] if isinstance(type_, Scalar) else built(lib, type_, shuffled)
    joins = [join_into(join, scalar_of(type_), f"value{p}", f"other{p}") for p in places]
    lines = [
        *_PEERS,
        "    // Lanes of odd rank give their value to the one before and are done.",
        "    unsigned int above = peers & (0xfffffffeu << lane);",
        "    int rank = __popc(peers & ((1u << lane) - 1u));",
        "    while (__any_sync(active, above != 0u)) {",
        "        const int next = above != 0u ? __ffs(above) - 1 : lane;",
        f"        const {held} other = {other};",
        "        if (above != 0u) {",
        *(f"            {line}" for line in joins),
        "        }",
        "        above &= ~__ballot_sync(active, rank % 2 == 1);",
        "        rank /= 2;",
        "    }",
        "    if (lane == __ffs(peers) - 1) {",
        f"        {atomic('value')}",
        "    }",
    ]
    return _written(lib, name, type_, f"{held} value", lines)


def peers_count(lib: Library, type_: Scalar, atomic: Atomic) -> str:
    """Ask for the function that adds 1 for each lane with the same address; its name."""
    need_shuffles("counting updates that meet")
    held = lib.type(type_)
    lines = [
        *_PEERS,
        "    if (lane == __ffs(peers) - 1) {",
        f"        const {held} count = __popc(peers);",
        f"        {atomic('count')}",
        "    }",
    ]
    return _written(lib, "warp_aggregated_count", type_, "", lines)


_PEERS = (
    "    const int lane = threadIdx.x % 32;",
    "    const unsigned int active = __activemask();",
    "    const unsigned int peers = __match_any_sync(active, (unsigned long long)address);",
)


def _written(lib: Library, name: str, type_: Type, value: str, lines: list[str]) -> str:
    params = ", ".join([f"{lib.type(type_)}* address", *([value] if value else [])])
    body = "\n".join(lines)
    text = f"__device__ void {lib.spelled(name)}({params})\n{{\n{body}\n}}\n"
    return lib.write(name, (type_,), text)
