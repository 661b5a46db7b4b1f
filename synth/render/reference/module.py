"""A program as plain Python with ``math`` and NumPy: what the kernel means, in exact numbers.

Floats are Python floats, integers Python integers, and composites NumPy arrays; a composite is
copied where a later change of one name would otherwise show under another.
"""

from __future__ import annotations

from collections.abc import Sequence

from generators.program import expr, ir
from generators.program.dtypes import Array, Mat, Scalar, Struct, Transform, Type, Vec, scalar_of
from generators.program.serial import serial
from synth.render.doc import Doc, Prec, attribute, binary, call, listing, subscript
from synth.render.python_walk import AUGMENTED, PythonRenderer
from synth.render.ranges.edges import edges_of
from synth.render.reference.helpers import helper_texts, spelled
from synth.render.reference.ops import REFERENCE_ATOMICS, REFERENCE_OPS
from synth.render.reference.printers import holds, is_product, mutated, wrapped
from synth.render.text import (
    changed,
    constant_text,
    docstring,
    names_of,
    number,
    pi_text,
    signature,
)

_VIEWS = frozenset(
    [
        "transpose",
        "transform_get_translation",
        "transform_get_rotation",
        "spatial_top",
        "spatial_bottom",
    ]
)
"""Ops that print as a view of their argument."""

_IMPORTS = {
    frozenset(): [],
    frozenset({"math"}): ["import math"],
    frozenset({"np"}): ["import numpy as np"],
    frozenset({"math", "np"}): ["import math", "", "import numpy as np"],
}


class _Reference(PythonRenderer):
    """Prints one program."""

    ops = REFERENCE_OPS

    def __init__(self, program: ir.Program) -> None:
        super().__init__(program)
        self.modules: set[str] = set()
        self.helpers: set[str] = set()
        self.edges = edges_of(program)
        self.taken = names_of(program)
        self.copied: set[str] = set()
        self.mutated: set[str] = set()
        self.constant: set[str] = set()
        self.not_negative = set(program.kernel.threads)

    def module(self) -> str:
        for function in self.program.functions:
            self.function(function)
        self.kernel(self.program.kernel)
        modules, texts = helper_texts(self.helpers, self.taken)
        self.modules |= modules
        head = [line for text in texts for line in ("", "", text)]
        structs = [line for struct in self.program.structs for line in self.struct(struct)]
        imports = _IMPORTS[frozenset(self.modules)]
        return "\n".join([*imports, *structs, *head, *self.lines, ""]).lstrip("\n")

    def helper(self, name: str) -> str:
        """Ask for a helper; the name under which the text defines it."""
        self.helpers.add(name)
        return spelled(name, self.taken)

    def struct(self, struct: Struct) -> list[str]:
        names = [name for name, _ in struct.fields]
        lines = ["", "", f"class {struct.name}:"]
        lines += [f"    {line}" for line in signature("def __init__", ["self", *names], ":")]
        lines += [f"        self.{name} = {name}" for name in names]
        if struct.name in self.copied:
            value = call(struct.name, [Doc(f"self.{name}") for name in names])
            outer, self.lines = self.lines, []
            self.put(2, "return ", value)
            lines += ["", "    def copy(self):", *self.lines]
            self.lines = outer
        return lines

    def function(self, function: ir.Function) -> None:
        names = [p.name for p in function.params]
        self.lines += ["", "", *signature(f"def {function.name}", names, ":")]
        self.lines += docstring(function.doc, 1)
        self.mutated = mutated(function.body)
        self.own_copies(function.params, 1)
        self.body(function.body, 1)

    def kernel(self, kernel: ir.Kernel) -> None:
        names = [p.name for p in kernel.params]
        taken = {*names, *(f.name for f in self.program.functions)}
        dim = next(n for n in ("dim", "launch_dim", "dim_", "launch_dim_") if n not in taken)
        thread = next(n for n in ("thread", "run_thread", "thread_") if n not in taken)
        self.mutated = mutated(kernel.body)
        assigned = self.mutated | changed(kernel.body)
        self.constant = {p.name for p in kernel.params if p.role == "in"}
        own = [p for p in kernel.params if p.name in assigned]
        args = ", ".join([*kernel.threads, *(p.name for p in own)])
        self.lines += ["", "", *signature(f"def {kernel.name}", [dim, *names], ":")]
        if kernel.doc:
            self.lines += [*docstring(kernel.doc, 1), ""]
        self.lines.append(f"    def {thread}({args}):")
        self.own_copies([expr.Var(p.name, p.type) for p in own], 2)
        self.body(kernel.body, 2)
        self.lines.append("")
        for k, name in enumerate(kernel.threads):
            self.lines.append(f"{'    ' * (k + 1)}for {name} in range({dim}[{k}]):")
        self.lines.append(f"{'    ' * (len(kernel.threads) + 1)}{thread}({args})")

    def own_copies(self, params: Sequence[expr.Var], depth: int) -> None:
        """Copy the parameters that the body changes in place."""
        for param in params:
            if param.name in self.mutated and not isinstance(param.type, Scalar):
                self.put(depth, f"{param.name} = ", self.copy_of(Doc(param.name), param.type))

    # Copies

    def copy_of(self, doc: Doc, type_: Type) -> Doc:
        if isinstance(type_, Struct):
            self.copied.add(type_.name)
        return attribute(doc, "copy()")

    def is_shared(self, e: expr.Expr, target: str) -> bool:
        """Whether the value is one that another name, or an array, may change later."""
        match e:
            case expr.Var():
                return e.name in self.mutated or target in self.mutated
            case expr.Load():
                # An element of an array of structs is replaced, never changed in place.
                rewritten = not isinstance(e.type, Struct) and e.array.name not in self.constant
                return rewritten or target in self.mutated
            case expr.Field():
                return target in self.mutated
            case expr.Call():
                # A helper may return one of its arguments.
                return target in self.mutated or any(self.is_shared(a, "") for a in e.args)
            case expr.Op(op="where"):
                return any(self.is_shared(a, target) for a in e.args[1:])
            case expr.Op() if e.op in _VIEWS:
                return self.is_shared(e.args[0], target)
        return False

    def value(self, e: expr.Expr, target: str = "") -> Doc:
        """A value that is kept: a copy where a later change could show through."""
        doc = self.show(e)
        if isinstance(e.type, Scalar) or not self.is_shared(e, target):
            return doc
        return self.copy_of(doc, e.type)

    # Expressions

    def const(self, e: expr.Const, bits: bool = False) -> Doc:
        if (pi := pi_text(e.value, "math")) is not None:
            self.modules.add("math")
            return pi
        unsigned = e.type.is_unsigned
        return number(constant_text(e.value, unsigned=unsigned, bits=bits))

    def cast(self, e: expr.Cast) -> Doc:
        value, source, target = self.show(e.value), scalar_of(e.value.type), e.type
        if source == target or (source.is_float and target.is_float):
            return value
        if target.is_float or target.name == "bool":
            return call("float" if target.is_float else "bool", [value])
        if not source.is_int:
            return call("int", [value])
        from_zero = isinstance(e.value, expr.Var) and e.value.name in self.not_negative
        if not target.is_unsigned or holds(target, source, from_zero):
            return value
        return wrapped(value, target)

    def construct(self, e: expr.Construct) -> Doc:
        if isinstance(e.type, Struct):
            return call(e.type.name, [self.value(a) for a in e.args])
        args = self.show_all(e.args)
        self.modules.add("np")
        if isinstance(e.type, Transform):
            return call("np.concatenate", [listing(args)])
        whole = [] if scalar_of(e.type).is_float else [Doc("dtype=object")]
        if len(args) == 1 and isinstance(e.type, Vec | Mat):
            # One value for all components.
            shape = Doc(str(e.type.size if isinstance(e.type, Vec) else e.type.shape))
            if args[0].text == "0.0":
                return call("np.zeros", [shape])
            return call("np.full", [shape, *args, *whole])
        if isinstance(e.type, Mat):
            rows, cols = e.type.shape
            args = [listing(args[k * cols : (k + 1) * cols]) for k in range(rows)]
        return call("np.array", [listing(args), *whole])

    # Statements

    def assign(self, s: ir.Assign, depth: int) -> None:
        self.put(depth, f"{s.name} = ", self.value(s.value, s.name))

    def augmented(self, target: Doc, type_: Type, op: str, value: expr.Expr, depth: int) -> None:
        if not op:
            doc = self.value(value) if isinstance(type_, Struct) else self.show(value)
            self.put(depth, f"{target.text} = ", doc, "", target)
            return
        unsigned = not isinstance(type_, Struct | Array) and scalar_of(type_).is_unsigned
        product = is_product(op, type_)
        if not unsigned and not product:
            self.put(depth, f"{target.text} {AUGMENTED[op]} ", self.show(value), "", target)
            return
        left = expr.Var(target.text, type_)
        whole = REFERENCE_OPS[op](
            self, [target, self.show(value)], expr.Op(op, (left, value), type_)
        )
        self.put(depth, f"{target.text} = ", whole, "", target)

    def return_(self, s: ir.Return, depth: int) -> None:
        if s.value is None:
            super().return_(s, depth)
            return
        # A local that is returned is not changed any more.
        before, self.mutated = self.mutated, set()
        self.put(depth, "return ", self.value(s.value))
        self.mutated = before

    def set_field(self, s: ir.SetField, depth: int) -> None:
        self.put(depth, f"{s.name}.{s.field} = ", self.value(s.value))

    def atomic(self, s: ir.Atomic, depth: int) -> None:
        target = subscript(Doc(s.array.name), self.show_all(s.indices))
        if s.op in ("add", "sub"):
            self.augmented(target, s.value.type, s.op, s.value, depth)
            return
        if s.op in ("exch", "cas"):
            self.swap(s, target, depth)
            return
        symbol, value = REFERENCE_ATOMICS[s.op], self.show(s.value)
        if s.op not in ("min", "max"):
            self.put(depth, f"{target.text} {symbol}= ", value, "", target)
            return
        if not isinstance(s.value.type, Scalar):
            self.modules.add("np")
            symbol = f"np.{symbol}imum"
        self.put(depth, f"{target.text} = ", call(symbol, [target, value]), "", target)

    def swap(self, s: ir.Atomic, target: Doc, depth: int) -> None:
        if s.compare is not None:
            test = binary("==", Prec.COMPARE, target, self.show(s.compare))
            self.put(depth, "if ", test, ":")
            depth += 1
        self.put(depth, f"{target.text} = ", self.show(s.value), "", target)

    def sample(self, s: ir.Sample, depth: int) -> None:
        drawn = call(self.helper(s.sampler), self.show_all((s.state, *s.args)))
        self.put(depth, f"{s.name}, {s.state.name} = ", drawn)


def render(program: ir.Program) -> str:
    """The plain Python module of a program: it defines ``kernel_name(dim, *args)``."""
    return _Reference(serial(program)).module()
