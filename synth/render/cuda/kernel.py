"""What a program's plain CUDA consists of, whatever its style: names, sizes, types, signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

from generators.program import ir
from generators.program.dtypes import INT32, Array, Type
from generators.program.expr import Extent, Load, Op
from generators.program.serial import serial
from generators.program.walk import expressions, statements
from synth.render.cuda.body import Body
from synth.render.cuda.device.functions import Library
from synth.render.cuda.dialect.current import spoken
from synth.render.cuda.lines import leaving, wrapped
from synth.render.cuda.schedule import Schedule
from synth.render.cuda.text import TAB, WIDTH
from synth.render.cuda.types import computed, inner_types, stored_name, wide_alignment
from synth.render.ranges.edges import edges_of
from synth.render.text import names_of
from validate.row.sizes import parse as parse_size
from validate.row.sizes import symbols

C_WORDS = frozenset({"min", "max", "threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})


@dataclass(frozen=True)
class Scratch:
    """An array that only the answer knows: its row dtype, and how many elements it has as a formula
    of size symbols. Nobody may read it before it is written."""

    name: str
    dtype: str
    count: str


@dataclass(frozen=True)
class Passed:
    """A parameter that the program does not have: scratch memory of that name, or with a
    ``formula`` of size symbols an ``int``."""

    name: str
    kind: str
    formula: str = ""


@dataclass(frozen=True)
class Stage:
    """One kernel of several: its name, body and grid as of `Written`, and what it is passed beyond
    what the program has."""

    name: str
    lines: list[str]
    grid: list[str]
    passed: tuple[Passed, ...]


@dataclass
class Written:
    """What a style writes: the lines of the kernel's body, the blocks of its grid along x, y and z
    as formulas of size symbols, and device functions that stand before it.

    Where the answer has several kernels, this one is the first and ``then`` the others, in order;
    ``scratch`` is memory that they share, and ``passed`` what the first takes of it.
    """

    lines: list[str]
    grid: list[str]
    functions: list[str] = field(default_factory=list)
    passed: tuple[Passed, ...] = ()
    then: list[Stage] = field(default_factory=list)
    scratch: list[Scratch] = field(default_factory=list)


class KernelText:
    """The parts of a program's text that all styles share."""

    def __init__(self, program: ir.Program, schedule: Schedule) -> None:
        self.program = program
        self.kernel = program.kernel
        self.schedule = schedule
        self.serial = serial(program)
        taken = self._all_names() | {s.name for s in program.structs}
        self.names = {n: f"{n}_" for n in taken if n in spoken().reserved}
        functions = {f.name for f in program.functions} & spoken().builtins
        self.names |= {name: f"{name}_" for name in sorted(functions)}
        self.taken = {*taken, *self.names.values()}
        aligned = aligned_elements(program.kernel)
        self.library = Library(frozenset(taken), self.names, edges_of(self.serial), aligned)
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
            while name in taken or name in spoken().reserved:
                name += "_size"
            found[size.symbol] = given.get(size.symbol, name)
        self.size_params = {s: n for s, n in found.items() if s not in given}
        self.taken |= set(found.values())
        return found

    def size(self, expression: str) -> str:
        """A size expression in C++; notes which sizes become parameters."""
        for symbol in sorted(symbols(expression)):
            if symbol in self.size_params:
                self.used_symbols[symbol] = None
        return " + ".join(
            product(number, [self.symbol_names[n] for n in names])
            for number, names in parse_size(expression)
        )

    def shapes(self) -> dict[str, list[str]]:
        """Extents of each array that the text needs, in C++."""
        needed: dict[str, set[int]] = {}
        body = self.serial.kernel.body
        for e in expressions(body):
            if isinstance(e, Load):
                needed.setdefault(e.array.name, set()).update(range(1, len(e.indices)))
            elif isinstance(e, Extent):
                needed.setdefault(e.array.name, set()).add(e.axis)
            elif isinstance(e, Op) and e.op == "lower_bound":
                needed.setdefault(e.args[0].name, set()).add(0)  # type: ignore[attr-defined]
        for s in statements(body):
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

    def params(self) -> list[tuple[str, str]]:
        """Name and type of each parameter: the program's in order, then the sizes it needs."""
        found = []
        for p in self.kernel.params:
            name = self.names.get(p.name, p.name)
            if isinstance(p.type, Array):
                found.append((name, self.library.pointer(p.type.element, p.role == "in")))
            else:
                self.library.type(computed(p.type))
                found.append((name, stored_name(computed(p.type))))
        found += [(self.symbol_names[s], "int") for s in self.used_symbols]
        return found

    def signature(self, params: list[tuple[str, str]], name: str) -> list[str]:
        shown = [
            f"{kind} {spoken().restrict} {name}" if kind.endswith("*") else f"{kind} {name}"
            for name, kind in params
        ]
        bounds = ""
        if self.schedule.launch_bounds:
            block = (*self.schedule.block, 1, 1)[:3]
            extents = dict(zip("xyz", block, strict=True))
            bounds = spoken().launch_bounds.format(threads=prod(block), **extents)
        head = f"{spoken().kernel}{bounds}{name}("
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
        head = f"{spoken().plain_function}{self._value_type(function.result)} {name}({listed})"
        comment = wrapped(0, f"// {function.doc}") if function.doc else []
        return [*comment, *wrapped(0, head), "{", *inner, "}", ""]

    def _value_type(self, type_: Type) -> str:
        return self.library.type(computed(type_))

    def head(self) -> list[str]:
        """Includes, types and device functions."""
        texts = self.library.texts()
        lines = [
            part
            for text in texts
            for line in text.split("\n")
            for part in wrapped(len(line) - len(line.lstrip()), line.strip())
        ]
        half = spoken().scalars["float16"]
        has_half = any(half in t for t in texts) or any(half in kind for _, kind in self.params())
        asked = sorted(self.library.extensions)
        enabled = [f"#pragma OPENCL EXTENSION {name} : enable" for name in asked]
        return [*spoken().head, *(spoken().half_head if has_half else ()), *enabled, *lines]

    def fresh(self, *wanted: str) -> str:
        """The first of some names that nothing in the text has, or it with an underscore."""
        had = self.taken | self.library.offsets | C_WORDS | spoken().reserved
        for name in (*wanted, *(f"{w}_" for w in wanted), *(f"{w}_of_block" for w in wanted)):
            if name not in had:
                self.taken.add(name)
                self.library.taken = frozenset(self.taken)
                return name
        raise AssertionError(f"all of {wanted} are taken")

    def threads(self) -> list[str]:
        """The thread's place along each launch dimension, as C++ has it."""
        return [self.names.get(n, n) for n in self.kernel.threads]

    def extents(self) -> list[str]:
        """The launch dimensions in C++."""
        return [self.size(d) for d in self.kernel.launch_dim]

    def given(self) -> dict[str, Type]:
        """The variables that the body starts with."""
        found: dict[str, Type] = {p.name: p.type for p in self.kernel.params}
        found.update(dict.fromkeys(self.kernel.threads, INT32))
        return found

    def formulas(self) -> list[str]:
        """The launch dimensions as formulas of size symbols."""
        dims = [parse_size(text) for text in self.kernel.launch_dim]
        return [" + ".join(product(*term) for term in terms) for terms in dims]


def aligned_elements(kernel: ir.Kernel) -> dict[Type, int]:
    """Elements of arrays to align so that one load brings more of them, none that other types in
    memory consist of: those would change."""
    held = [p.type.element if isinstance(p.type, Array) else p.type for p in kernel.params]
    inside: set[Type] = set()
    while held:
        inside.update(inner := inner_types(held.pop()))
        held += inner
    elements = {p.type.element for p in kernel.params if isinstance(p.type, Array)} - inside
    return {element: wide for element in elements if (wide := wide_alignment(element))}


def product(number: int, names: Sequence[str]) -> str:
    """``2 * n * m``."""
    words = [str(number)] if number != 1 or not names else []
    return " * ".join([*words, *names])


def factor(text: str) -> str:
    """A size as a factor of a product."""
    return f"({text})" if "+" in text else text


def divisor(text: str) -> str:
    """A size as what a product is divided by."""
    return text if text.isidentifier() or text.isdigit() or text.startswith("(") else f"({text})"


def leave_before(body: Body, s: ir.Statement, test: Callable[[], str]) -> None:
    """Have threads leave before a statement; ``test`` says which when the text comes there."""

    def leave(s: ir.Statement, depth: int) -> None:
        body.lines += leaving(depth * TAB, test())
        body.usual(s, depth)

    body.special[id(s)] = leave
