"""A program as the CUDA C++ that an engineer would write: one kernel, nothing but CUDA itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from generators import ir
from generators.dtypes import INT32, Array, Type
from generators.expr import Extent, Load, Op
from generators.walk import expressions, statements
from synth import cuda_random, cuda_rigid, cuda_spatial
from synth.cuda_body import Body
from synth.cuda_device import Library
from synth.cuda_offsets import NOTHING, flat_index, without_unused
from synth.cuda_schedule import Schedule, schedule_for
from synth.cuda_text import WIDTH, wrapped
from synth.cuda_types import KEYWORDS, computed
from synth.render_text import names_of
from validate.sizes import parse as parse_size
from validate.sizes import symbols

REGISTERED = (cuda_random, cuda_rigid, cuda_spatial)
"""Modules that register device functions when they are imported."""


@dataclass(frozen=True)
class Plain:
    """The text, its parameters in order (name, C++ type and, after those of the program, the size
    symbol that is to be passed), and the launch that it needs, by size symbols."""

    text: str
    args: list[dict[str, str | None]]
    launch: dict[str, Any]
    schedule: Schedule

    def columns(self) -> dict[str, Any]:
        """The columns of a row that hold plain CUDA."""
        return {
            "cuda_plain": self.text,
            "plain_args": self.args,
            "plain_launch": self.launch,
            "schedule": self.schedule.to_json(),
        }


def render(program: ir.Program, schedule: Schedule | None = None) -> Plain:
    """The plain CUDA of a program under a schedule, by default the one drawn for it."""
    return _Plain(program, schedule or schedule_for(program)).made()


class _Plain:
    """Prints one program."""

    def __init__(self, program: ir.Program, schedule: Schedule) -> None:
        self.program = program
        self.kernel = program.kernel
        self.schedule = schedule
        taken = self._all_names() | {s.name for s in program.structs}
        self.names = {n: f"{n}_" for n in taken if n in KEYWORDS}
        self.library = Library(frozenset(taken), self.names)
        self.symbol_names = self._symbols(taken)
        self.used_symbols: dict[str, None] = {}

    def _all_names(self) -> set[str]:
        loops = [
            s.name
            for body in (self.kernel.body, *(f.body for f in self.program.functions))
            for s in statements(body)
            if isinstance(s, ir.For)
        ]
        fields = [name for s in self.program.structs for name, _ in s.fields]
        return names_of(self.program) | set(self.kernel.threads) | set(loops) | set(fields)

    def _symbols(self, taken: set[str]) -> dict[str, str]:
        """How each size symbol is written: a parameter that stands for it, or its own name."""
        given = {
            p.init.partition(":")[2]: self.names.get(p.name, p.name)
            for p in self.kernel.params
            if p.init.startswith("size:")
        }
        found = {}
        for size in self.program.sizes:
            name = size.symbol
            while name in taken or name in KEYWORDS:
                name += "_size"
            found[size.symbol] = given.get(size.symbol, name)
        self.size_params = {s: n for s, n in found.items() if s not in given}
        return found

    def size(self, expression: str) -> str:
        """A size expression in C++; notes which sizes become parameters."""
        for symbol in sorted(symbols(expression)):
            if symbol in self.size_params:
                self.used_symbols[symbol] = None
        return " + ".join(
            _product(factor, [self.symbol_names[n] for n in names])
            for factor, names in parse_size(expression)
        )

    def made(self) -> Plain:
        kernel = self.kernel
        functions = [line for f in self.program.functions for line in self.function(f)]
        shapes = self.shapes()
        leave = "continue;" if self.schedule.style == "grid_stride" else "return;"
        body = Body(self.library, self.names, shapes, leave)
        given: dict[str, Type] = {p.name: p.type for p in kernel.params}
        given.update(dict.fromkeys(kernel.threads, INT32))
        depth = 2 if self.schedule.style == "grid_stride" else 1
        extents = [self.size(d) for d in kernel.launch_dim]
        numbered = self.schedule.style == "grid_stride" or len(extents) == 4
        known = flat_index(kernel.threads, extents) if numbered else NOTHING
        inner = body.run(kernel.body, given, depth, known)
        around = without_unused(self.indices(), inner)
        end = ["    }"] if self.schedule.style == "grid_stride" else []
        params = self.params()
        lines = [*self.signature(params), "{", *around, *inner, *end, "}"]
        text = "\n".join([*self.head(), *functions, *lines, ""])
        own: list[str | None] = [None] * len(kernel.params)
        args: list[dict[str, str | None]] = [
            {"name": name, "type": kind, "size": size}
            for (name, kind), size in zip(params, [*own, *self.used_symbols], strict=True)
        ]
        return Plain(text, args, self.launch(), self.schedule)

    def shapes(self) -> dict[str, list[str]]:
        """Extents of each array that the text needs, in C++."""
        needed: dict[str, set[int]] = {}
        for e in expressions(self.kernel.body):
            if isinstance(e, Load):
                needed.setdefault(e.array.name, set()).update(range(1, len(e.indices)))
            elif isinstance(e, Extent):
                needed.setdefault(e.array.name, set()).add(e.axis)
            elif isinstance(e, Op) and e.op == "lower_bound":
                needed.setdefault(e.args[0].name, set()).add(0)  # type: ignore[attr-defined]
        for s in statements(self.kernel.body):
            if isinstance(s, ir.Store | ir.Atomic):
                needed.setdefault(s.array.name, set()).update(range(1, len(s.indices)))
        return {
            p.name: [
                self.size(text) if axis in needed.get(p.name, ()) else ""
                for axis, text in enumerate(p.shape)
            ]
            for p in self.kernel.params
            if isinstance(p.type, Array)
        }

    def indices(self) -> list[str]:
        """The lines that find the thread's place, and leave where there is none."""
        threads = [self.names.get(n, n) for n in self.kernel.threads]
        extents = [self.size(d) for d in self.kernel.launch_dim]
        if self.schedule.style == "grid_stride":
            return self._grid_stride(threads, extents)
        if len(threads) == 4:
            return [*self._flat_start(extents), *self._unpacked(threads, extents, "index", 1)]
        lines = [
            f"    const int {name} = blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis};"
            for name, axis in zip(threads[::-1], "xyz", strict=False)
        ]
        tests = " || ".join(f"{n} >= {_factor(e)}" for n, e in zip(threads, extents, strict=True))
        return [*lines, *wrapped(4, f"if ({tests}) {{"), "        return;", "    }"]

    def _flat_start(self, extents: list[str]) -> list[str]:
        total = " * ".join(_factor(e) for e in extents)
        return [
            "    const int index = blockIdx.x * blockDim.x + threadIdx.x;",
            f"    if (index >= {total}) {{",
            "        return;",
            "    }",
        ]

    def _unpacked(
        self, threads: list[str], extents: list[str], index: str, depth: int
    ) -> list[str]:
        """The thread's place along each dimension, from its number."""
        pad, lines = "    " * depth, []
        for k, name in enumerate(threads):
            after = [_factor(e) for e in extents[k + 1 :]]
            value = index
            if after:
                product = " * ".join(after)
                value = f"{index} / ({product})" if len(after) > 1 else f"{index} / {after[0]}"
            if k:
                value = f"{value} % {_factor(extents[k])}"
            lines.append(f"{pad}const int {name} = {value};")
        return lines

    def _grid_stride(self, threads: list[str], extents: list[str]) -> list[str]:
        total = " * ".join(_factor(e) for e in extents)
        index = threads[0] if len(threads) == 1 else "index"
        lines = [
            "    const int stride = blockDim.x * gridDim.x;",
            f"    for (int {index} = blockIdx.x * blockDim.x + threadIdx.x; {index} < {total}; "
            f"{index} += stride) {{",
        ]
        if len(threads) > 1:
            lines += self._unpacked(threads, extents, index, 2)
        return [
            part for line in lines for part in wrapped(4 * (1 + (line[4] == " ")), line.strip())
        ]

    def params(self) -> list[tuple[str, str]]:
        """Name and type of each parameter: the program's in order, then the sizes it needs."""
        found = []
        for p in self.kernel.params:
            name = self.names.get(p.name, p.name)
            if isinstance(p.type, Array):
                kind = self.library.type(p.type.element)
                const = "const " if p.role == "in" else ""
                found.append((name, f"{const}{kind}*"))
            else:
                found.append((name, self.library.type(computed(p.type))))
        found += [(self.symbol_names[s], "int") for s in self.used_symbols]
        return found

    def signature(self, params: list[tuple[str, str]]) -> list[str]:
        shown = [
            f"{kind} __restrict__ {name}" if kind.endswith("*") else f"{kind} {name}"
            for name, kind in params
        ]
        bounds = ""
        if self.schedule.launch_bounds:
            bounds = f"__launch_bounds__({prod(self.schedule.block)}) "
        head = f'extern "C" __global__ void {bounds}{self.kernel.name}('
        line = f"{head}{', '.join(shown)})"
        if len(line) <= WIDTH:
            return [line]
        return [head, *(f"    {p}{',' if p is not shown[-1] else ')'}" for p in shown)]

    def function(self, function: ir.Function) -> list[str]:
        body = Body(self.library, self.names, {}, "return;")
        given = {p.name: p.type for p in function.params}
        inner = body.run(function.body, given, 1)
        listed = ", ".join(
            f"{self._value_type(p.type)} {self.names.get(p.name, p.name)}" for p in function.params
        )
        name = self.names.get(function.name, function.name)
        head = f"__device__ {self._value_type(function.result)} {name}({listed})"
        comment = wrapped(0, f"// {function.doc}") if function.doc else []
        return [*comment, *wrapped(0, head), "{", *inner, "}", ""]

    def _value_type(self, type_: Type) -> str:
        return self.library.type(computed(type_))

    def head(self) -> list[str]:
        """Includes, types and device functions."""
        texts = [t for t in self.library.types.values() if t]
        texts += list(self.library.functions.values())
        lines = [
            part
            for text in texts
            for line in text.split("\n")
            for part in wrapped(len(line) - len(line.lstrip()), line.strip())
        ]
        half = any("__half" in t for t in texts) or any(
            "__half" in kind for _, kind in self.params()
        )
        return [*(["#include <cuda_fp16.h>", ""] if half else []), *lines]

    def launch(self) -> dict[str, Any]:
        extents = [
            " + ".join(_product(*term) for term in parse_size(d)) for d in self.kernel.launch_dim
        ]
        block = self.schedule.block
        if self.schedule.style == "grid_stride" or len(extents) == 4:
            per_block = block[0] * (4 if self.schedule.style == "grid_stride" else 1)
            total = " * ".join(_factor(e) for e in extents)
            grid = [f"({total} + {per_block - 1}) / {per_block}"]
        else:
            pairs = zip(extents[::-1], block, strict=True)
            grid = [f"({_factor(e)} + {b - 1}) / {b}" for e, b in pairs]
        return {"grid": grid, "block": list(block), "shared_bytes": 0}


def _product(factor: int, names: Sequence[str]) -> str:
    words = [str(factor)] if factor != 1 or not names else []
    return " * ".join([*words, *names])


def _factor(text: str) -> str:
    return f"({text})" if "+" in text else text
