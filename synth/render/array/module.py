"""A program as a NumPy function of whole arrays: inputs in, outputs out."""

from __future__ import annotations

from dataclasses import replace

from generators.program import ir
from generators.program.dtypes import INT32, Array, Scalar
from synth.render.array.dialects.dialect import Dialect
from synth.render.array.dialects.numpy_dialect import NumPy
from synth.render.array.dialects.torch_dialect import Torch
from synth.render.array.flat import flattened
from synth.render.array.linear import Linear, linear_of
from synth.render.array.loops import Bodies
from synth.render.array.prune import changed_in_place, names_in, pruned
from synth.render.array.scopes import ends_thread, leaves_early, parts_changed, stored
from synth.render.array.tiles import TileKernel
from synth.render.array.values import (
    Axis,
    NoForm,
    Value,
    aligned,
    docstring_of,
    parts_of,
    place_on,
    union,
)
from synth.render.doc import Doc
from synth.render.ranges.edges import edges_of
from synth.render.text import docstring, names_of, signature
from validate.statuses import ArrayStatus


def render(program: ir.Program) -> str:
    """The whole-array version of a program in NumPy: a module that defines ``kernel_name``.

    Its parameters are the inputs (roles in and inout) by name, then the sizes that it needs and no
    input has as a dimension; it returns the outputs (roles out and inout) in the order of the
    kernel's parameters, changes none of its arguments, and keeps dtypes. Raises NoForm where the
    program has no such version.
    """
    return Module(program, NumPy()).text()


def render_torch(program: ir.Program) -> str:
    """The whole-array version of a program in PyTorch, as :func:`render` makes it in NumPy: tensors
    in, tensors out, scalars as numbers of Python. Raises NoForm likewise."""
    given = [p.name for p in program.kernel.params if p.role != "out" and p.shape]
    if not given:
        raise NoForm(ArrayStatus.COMPOSITE, "no array to read")
    return Module(program, Torch(given[0])).text()


def columns(program: ir.Program) -> dict[str, str | None]:
    """``array_python`` and ``array_reason`` of a row."""
    try:
        return {"array_python": render(program), "array_reason": None}
    except NoForm as found:
        return {"array_python": None, "array_reason": found.reason}


class Module:
    """A module of one library's dialect."""

    def __init__(self, program: ir.Program, dialect: Dialect) -> None:
        self.program = replace(program, kernel=flattened(program.kernel))
        self.dialect = dialect
        self.calls: dict[str, list[bool]] = {}
        self.edges = edges_of(self.program)
        self.helpers: set[str] = set()

    def text(self) -> str:
        # Callers first: what they give decides on what a parameter is.
        kernel = self.kernel(self.program.kernel)
        bodies = [self.function(f) for f in reversed(self.program.functions)]
        functions = [line for body in reversed(bodies) for line in body]
        taken = names_of(self.program)
        if self.helpers & taken:
            raise NoForm(ArrayStatus.GUARD, "names that helpers have")
        known = self.dialect.helpers
        helpers = [line for name in known if name in self.helpers for line in self.helper(name)]
        body = [*helpers, *functions, *kernel]
        maths = ["import math", ""] if "math." in "".join(body) else []
        return "\n".join([*maths, *self.dialect.imports, *body, ""])

    def helper(self, name: str) -> list[str]:
        return ["", "", *self.dialect.helpers[name].rstrip().split("\n")]

    def kernel(self, kernel: ir.Kernel) -> list[str]:
        kind = TileKernel if isinstance(kernel, ir.TiledKernel) else _Kernel
        frame = kind(self.program, self.edges, self.dialect)
        frame.calls = self.calls
        lines = frame.lines_of_kernel(kernel)
        self.helpers |= frame.helpers
        return ["", "", *lines]

    def function(self, function: ir.Function) -> list[str]:
        given = self.calls.get(function.name, [False] * len(function.params))
        numbers = {p.name for p, one in zip(function.params, given, strict=True) if one}
        tensors = [p.name for p in function.params if p.name not in numbers]
        frame = _Function(self.program, self.edges, self.dialect.inside(tensors))
        frame.calls, frame.numbers = self.calls, numbers
        lines = frame.lines_of_function(function)
        self.helpers |= frame.helpers
        return ["", "", *lines]


class _Kernel(Bodies):
    def __init__(self, program: ir.Program, edges: object, dialect: Dialect) -> None:
        kernel = program.kernel
        super().__init__({p.name: p.shape for p in kernel.params}, edges, dialect)
        self.taken = names_of(program)
        self.functions = {f.name: f for f in program.functions}
        self.least = {size.symbol: size.min for size in program.sizes}
        self.parameters = names_of(program) | set(kernel.threads)
        for p in kernel.params:
            if p.init.startswith("size:"):
                self.lengths[p.name] = p.init.removeprefix("size:")

    def lines_of_kernel(self, kernel: ir.Kernel) -> list[str]:
        self.prepare(kernel)
        self.body(kernel.body)
        inputs = [p for p in kernel.params if p.role != "out"]
        outputs = [p.name for p in kernel.params if p.role != "in"]
        returned = [self.returned.get(name, name) for name in outputs]
        body = pruned([*self.places(kernel, inputs), *self.lines], returned)
        for _ in range(2):
            # A name that two of them had is one of its own when the first is a function.
            body = pruned(self.dialect.named(body), returned)
        read = names_in(body)
        asked, head = self.sizes_of(inputs, read)
        # Sizes that a kernel is told are those of its arrays.
        told = {p.name for p in inputs if p.init.startswith("size:")}
        names = [p.name for p in inputs if p.name in read or p.name not in told] + asked
        lines = signature(f"def {kernel.name}", names, ":")
        lines += docstring_of(kernel)
        return [*lines, *head, *body, f"    return {', '.join(returned)}"]

    def prepare(self, kernel: ir.Kernel) -> None:
        self.changing = stored(kernel.body) | parts_changed(kernel.body)
        for name, size in zip(kernel.threads, kernel.launch_dim, strict=True):
            axis = Axis(name, size)
            self.order.append(axis)
            self.axis_of[name] = axis
            self.env[name] = place_on(axis)
        for p in kernel.params:
            if isinstance(p.type, Array):
                self.arrays[p.name] = p.type
                if p.role == "out":
                    self.undefined.add(p.name)
            else:
                parts_of(p.type)
                number = isinstance(p.type, Scalar)
                linear = None
                if isinstance(p.type, Scalar) and p.type.is_int:
                    linear = linear_of(self.lengths.get(p.name, "")) or Linear(0, {f"@{p.name}": 1})
                self.env[p.name] = Value(Doc(p.name), p.type, number=number, linear=linear)

    def sizes_of(self, inputs: list[ir.Param], read: set[str]) -> tuple[list[str], list[str]]:
        """Sizes among the names that are read: those that the text asks for, and the lines for
        those that shapes of inputs give."""
        asked: list[str] = []
        found: dict[str, str] = {}
        for p in inputs:
            for k, size in enumerate(p.shape):
                if size.isidentifier() and size not in found:
                    found[size] = f"{p.name}.shape[{k}]" if len(p.shape) > 1 else f"len({p.name})"
        lines = []
        for size in sorted(self.sizes):
            name = self.size_name(size)
            if name not in read:
                continue
            if size in found:
                lines.append(f"    {name} = {found[size]}")
            else:
                asked.append(name)
        return asked, lines

    def places(self, kernel: ir.Kernel, inputs: list[ir.Param]) -> list[str]:
        """Copies of what changes, and places of threads that are read as numbers."""
        written = stored(kernel.body)
        copies = [
            p.name for p in inputs if p.name in written and changed_in_place(self.lines, p.name)
        ]
        lines = [f"    {name} = {self.dialect.copied(Doc(name)).text}" for name in copies]
        for t, extent in zip(kernel.threads, kernel.launch_dim, strict=True):
            if t in self.named:
                places = self.dialect.made("arange", [self.size(extent)], INT32)
                lines.append(f"    {t} = {places.text}")
        return lines


class _Function(Bodies):
    """A helper: every parameter is an array of the same form, or a number."""

    def __init__(self, program: ir.Program, edges: object, dialect: Dialect) -> None:
        super().__init__({}, edges, dialect)
        self.in_function = True
        self.numbers: set[str] = set()
        """Parameters that every call gives a number."""
        self.functions = {f.name: f for f in program.functions}
        self.taken = names_of(program)

    def lines_of_function(self, function: ir.Function) -> list[str]:
        axis = Axis("*", "?")
        self.order.append(axis)
        for p in function.params:
            parts_of(p.type)
            self.env[p.name] = Value(Doc(p.name), p.type, (axis,))
            if self.dialect.numbers_differ and p.name in self.numbers:
                self.env[p.name] = Value(Doc(p.name), p.type, number=True)
        value = self.result(function.body)
        self.put("return ", value.doc)
        lines = signature(f"def {function.name}", [p.name for p in function.params], ":")
        return [*lines, *docstring(function.doc, 1), *self.lines]

    def result(self, body: ir.Body) -> Value:
        """The value of a body: where branches return, a choice."""
        for place, s in enumerate(body):
            self.later.append(body[place + 1 :])
            if isinstance(s, ir.Return):
                assert s.value is not None
                self.later.pop()
                return self.value(s.value)
            if isinstance(s, ir.If) and any(leaves_early(b) for _, b in s.branches):
                found = self.chosen(s, body[place + 1 :])
                self.later.pop()
                return found
            self.body((s,))
            self.later.pop()
        raise NoForm(ArrayStatus.WALK, "helpers that end in branches")

    def chosen(self, s: ir.If, rest: ir.Body) -> Value:
        tests, values = [], []
        for condition, branch in s.branches:
            if not ends_thread(branch):
                raise NoForm(ArrayStatus.WALK, "helpers that end in branches")
            tests.append(self.value(condition))
            values.append(self.result(branch))
        if s.orelse and not ends_thread(s.orelse):
            raise NoForm(ArrayStatus.WALK, "helpers that end in branches")
        value = self.result(s.orelse or rest)
        for test, new in reversed(list(zip(tests, values, strict=True))):
            if new.weak != value.weak:
                new, value = self.firm(new), self.firm(value)
            axes = union([test, new, value], self.order)
            chosen = aligned(test, axes, parts_of(new.type))
            weak = new.weak and value.weak
            value = Value(self.dialect.where(chosen, new.doc, value.doc), new.type, axes, weak)
        return value
