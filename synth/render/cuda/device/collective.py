"""Device functions in which the threads of a warp or of a block join their values."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple

from generators.program.dtypes import Scalar, Type, scalar_of
from synth.render.cuda.device.functions import Library, real
from synth.render.cuda.dialect.current import need_shuffles, spoken
from synth.render.cuda.lines import wrapped
from synth.render.cuda.types import parts

WARP = 32
WORDS = {"add": "sum", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}
_SIGNS = {"add": "+", "and": "&", "or": "|", "xor": "^"}


def joined(join: str, scalar: Scalar, left: str, right: str) -> str:
    """Two values joined, in C++."""
    if join in _SIGNS:
        return f"{left} {_SIGNS[join]} {right}"
    if scalar.is_float:
        return f"{real(scalar, f'f{join}')}({left}, {right})"
    return f"{join}({left}, {right})"


def join_into(join: str, scalar: Scalar, target: str, value: str) -> str:
    """The statement that joins a value into a variable."""
    if join in _SIGNS:
        return f"{target} {_SIGNS[join]}= {value};"
    return f"{target} = {joined(join, scalar, target, value)};"


def identity(join: str, scalar: Scalar) -> str:
    """What joining leaves every value as it is, as a literal of C++."""
    end = spoken().suffixes.get(scalar.name, "")
    if join in ("add", "or", "xor"):
        return "0.0f" if scalar.name == "float32" else "0.0" if scalar.is_float else "0"
    if join == "and":
        return "-1" if scalar.name[0] == "i" else f"~0{end}"
    sign = "" if join == "min" else "-"
    if scalar.is_float:
        return f"{sign}{spoken().infinity[scalar.name]}"
    if scalar.name[0] == "u":
        return f"0x{'f' * (scalar.bits // 4)}{end}" if join == "min" else "0"
    if scalar.bits == 32:
        return "2147483647" if join == "min" else "(-2147483647 - 1)"
    most = f"9223372036854775807{end}"
    return most if join == "min" else f"(-{most} - 1)"


def warp_join(lib: Library, join: str, type_: Type, lanes: int = WARP) -> str:
    """Ask for the function that joins a value over the lanes of a warp, or over so many of them
    that are side by side; its name."""
    need_shuffles(f"joining values ({WORDS[join]})")
    name = f"warp_{WORDS[join]}" if lanes == WARP else f"{WORDS[join]}_of_{lanes}_lanes"
    held, scalar = lib.type(type_), scalar_of(type_)
    lines = [f"    for (int offset = {lanes // 2}; offset > 0; offset /= 2) {{"]
    for part in _parts(type_):
        other = f"__shfl_xor_sync(0xffffffff, value{part}, offset)"
        lines.append(f"        {join_into(join, scalar, f'value{part}', other)}")
    lines += ["    }", "    return value;"]
    return lib.write(name, (type_,), _function(lib, name, held, lines))


def block_join(lib: Library, values: Sequence[tuple[str, Type]], threads: int, again: bool) -> str:
    """Ask for the function that joins values, each a join and a type, over a block of whole warps,
    for all of its threads; its name.

    One value is returned; several are joined in place, behind the same barrier. ``again``: the
    kernel calls it more than once, so that its shared memory must be free first.
    """
    words = [WORDS[join] for join, _ in values]
    name = "_".join(["block", *(words if len(set(words)) > 1 else words[:1])])
    warps, types = threads // WARP, tuple(type_ for _, type_ in values)
    alone = len(values) == 1
    named = [("value", "partial")] if alone else [(c, f"{c}_partial") for c in ascii_lowercase]
    held = [
        _Held(v, place, join, type_, warp_join(lib, join, type_))
        for (v, place), (join, type_) in zip(named, values, strict=False)
    ]
    assert len(held) == len(values), f"{len(values)} values in one call"
    lines = [
        *(f"    __shared__ {lib.type(h.type)} {h.place}[{warps}];" for h in held),
        f"    const int lane = threadIdx.x % {WARP};",
        *(f"    {h.name} = {h.within}({h.name});" for h in held),
        *(["    __syncthreads();"] if again else []),
        "    if (lane == 0) {",
        *(f"        {h.place}[threadIdx.x / {WARP}] = {h.name};" for h in held),
        "    }",
        "    __syncthreads();",
        *(line for h in held for line in h.of_all_warps(warps, alone)),
    ]
    if alone:
        lines += [] if isinstance(types[0], Scalar) else ["    return value;"]
        return lib.write(name, types, _function(lib, name, lib.type(types[0]), lines))
    params = ", ".join(f"{lib.type(h.type)}& {h.name}" for h in held)
    body = "\n".join(lines)
    text = f"{spoken().function}void {lib.spelled(name)}({params})\n{{\n{body}\n}}\n"
    return lib.write(name, types, text)


def block_scan(lib: Library, scalar: Scalar, threads: int, again: bool = False) -> str:
    """Ask for the function that gives each thread of a block of whole warps the sum of its value
    and those of all threads before it; its name. ``again``: as :func:`block_join` has it."""
    need_shuffles("a sum over all threads before")
    kind, warps = lib.type(scalar), threads // WARP
    lines = [
        f"    __shared__ {kind} totals[{warps}];",
        f"    const int lane = threadIdx.x % {WARP};",
        f"    for (int offset = 1; offset < {WARP}; offset *= 2) {{",
        f"        const {kind} before = __shfl_up_sync(0xffffffff, value, offset);",
        "        if (lane >= offset) {",
        "            value += before;",
        "        }",
        "    }",
        *(["    __syncthreads();"] if again else []),
        f"    if (lane == {WARP - 1}) {{",
        f"        totals[threadIdx.x / {WARP}] = value;",
        "    }",
        "    __syncthreads();",
        f"    for (int warp = 0; warp < threadIdx.x / {WARP}; ++warp) {{",
        "        value += totals[warp];",
        "    }",
        "    return value;",
    ]
    return lib.write("block_scan", (scalar,), _function(lib, "block_scan", kind, lines))


class _Held(NamedTuple):
    """A value that a block joins: where each warp puts its own, and what joins a warp's."""

    name: str
    place: str
    join: str
    type: Type
    within: str

    def of_all_warps(self, warps: int, alone: bool) -> list[str]:
        """The lines that join the values of all warps, in each of them; of a scalar that is
        ``alone`` they return the result."""
        scalar = scalar_of(self.type)
        if isinstance(self.type, Scalar):
            start = identity(self.join, scalar)
            value = f"lane < {warps} ? {self.place}[lane] : {start}"
            head = "return " if alone else f"{self.name} = "
            return wrapped(4, f"{head}{self.within}({value});")
        lines = [f"    {self.name} = {self.place}[0];", f"    for (int k = 1; k < {warps}; ++k) {{"]
        for part in _parts(self.type):
            step = join_into(self.join, scalar, f"{self.name}{part}", f"{self.place}[k]{part}")
            lines.append(f"        {step}")
        return [*lines, "    }"]


def _parts(type_: Type) -> list[str]:
    return [""] if isinstance(type_, Scalar) else list(parts(type_))


def _function(lib: Library, name: str, held: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    return f"{spoken().function}{held} {lib.spelled(name)}({held} value)\n{{\n{body}\n}}\n"
