"""Two keys of a program: ``structure`` (names and literals abstracted) and ``rename`` (names only).

Names are numbered by where they are defined (parameters by position, locals by their first
assignment), operands of commuting ops are ordered by their own text, and only what the Python text
shows takes part: no value ranges, sizes, layout, comments or descriptions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, fields

from generators.program import ir
from generators.program.dtypes import Scalar, Struct, Type
from generators.program.expr import (
    Call,
    Cast,
    Component,
    Const,
    Construct,
    Expr,
    Extent,
    Field,
    Load,
    Op,
    Var,
)
from generators.program.ops import OPS
from generators.program.tiles import TileApply, TileExpr, TileLoad


@dataclass(frozen=True)
class Keys:
    """First 16 hex digits of the sha256 of each canonical text."""

    structure: str
    rename: str


def program_keys(program: ir.Program) -> Keys:
    """The structure key and the rename key of a program."""
    return Keys(_digest(program, literals=False), _digest(program, literals=True))


def _digest(program: ir.Program, *, literals: bool) -> str:
    text = _Writer(program, literals).text()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Writer:
    """Prints one program canonically, with literals or with ``#`` in their place."""

    def __init__(self, program: ir.Program, literals: bool) -> None:
        self.program = program
        self.literals = literals
        self.functions = {f.name: f"f{k}" for k, f in enumerate(program.functions)}
        self.structs = {s.name: k for k, s in enumerate(program.structs)}
        self.names: dict[str, str] = {}
        self.defined = 0

    def text(self) -> str:
        parts = [self.struct(s) for s in self.program.structs]
        parts += [self.function(f) for f in self.program.functions]
        kernel = self.program.kernel
        self.names, self.defined = {}, 0
        params = [f"{self.define(p.name)}:{self.type(p.type)}" for p in kernel.params]
        threads = [self.define(name) for name in kernel.threads]
        if isinstance(kernel, ir.TiledKernel) and self.literals:
            parts.append(f"blocks of {kernel.block_dim}")
        parts.append(f"kernel({','.join(params)};{','.join(threads)}){self.body(kernel.body)}")
        return "\n".join(parts)

    def struct(self, struct: Struct) -> str:
        return f"struct({','.join(self.type(t) for _, t in struct.fields)})"

    def function(self, function: ir.Function) -> str:
        self.names, self.defined = {}, 0
        params = [f"{self.define(v.name)}:{self.type(v.type)}" for v in function.params]
        return f"func({','.join(params)}){self.type(function.result)}{self.body(function.body)}"

    def define(self, name: str) -> str:
        return self.names[name] if name in self.names else self.define_anew(name)

    def define_anew(self, name: str) -> str:
        """A loop variable is a new one, whether its name was used before or not."""
        self.defined += 1
        self.names[name] = f"v{self.defined}"
        return self.names[name]

    def type(self, type_: Type) -> str:
        if isinstance(type_, Struct):
            return f"S{self.structs[type_.name]}"
        text = str(type_)
        if text.startswith("array") and isinstance(getattr(type_, "element", None), Struct):
            return f"{text[:6]}[S{self.structs[text[7:-1]]}]"
        return text

    def body(self, statements: ir.Body) -> str:
        return "{" + ";".join(filter(None, map(self.statement, statements))) + "}"

    def all(self, expressions: Iterable[Expr]) -> str:
        return ",".join(map(self.expr, expressions))

    def statement(self, s: ir.Statement) -> str:
        match s:
            case ir.Assign():
                value = self.expr(s.value)
                return f"{self.define(s.name)}={value}"
            case ir.AugAssign():
                return f"{self.names[s.name]} {s.op}={self.expr(s.value)}"
            case ir.SetComponent():
                target = f"{self.names[s.name]}[{self.component(s.indices)}]"
                return f"{target}{s.op}={self.expr(s.value)}"
            case ir.SetField():
                return f"{self.names[s.name]}.{_position(s.type, s.field)}={self.expr(s.value)}"
            case ir.Store():
                target = f"{self.names[s.array.name]}[{self.all(s.indices)}]"
                return f"{target}{s.op}={self.expr(s.value)}"
            case ir.Atomic():
                return self.atomic(s)
            case ir.Sample():
                drawn = f"{s.sampler}({self.all((s.state, *s.args))})"
                return f"{self.define(s.name)}={drawn}"
            case ir.If():
                arms = [f"{self.expr(c)}?{self.body(b)}" for c, b in s.branches]
                return f"if({':'.join(arms)}:{self.body(s.orelse)})"
            case ir.For():
                bounds = f"{self.expr(s.start)},{self.expr(s.stop)},{self.step(s.step)}"
                return f"for({self.define_anew(s.name)},{bounds}){self.body(s.body)}"
            case ir.While():
                return f"while({self.expr(s.condition)}){self.body(s.body)}"
            case ir.Return():
                return "return " + (self.expr(s.value) if s.value else "")
            case _:
                return self.other(s)

    def other(self, s: ir.Statement) -> str:
        match s:
            case ir.TileMatmul():
                return f"{self.names[s.name]}+={self.names[s.a.name]}@{self.names[s.b.name]}"
            case ir.TileStore():
                target = f"{self.names[s.array.name]}[{self.all(s.offset)}]"
                return f"tile {target}{s.op}={self.expr(s.value)}"
        return "" if isinstance(s, ir.Comment) else type(s).__name__.lower()

    def atomic(self, s: ir.Atomic) -> str:
        target = f"{self.names[s.array.name]}[{self.all(s.indices)}]"
        compare = f"{self.expr(s.compare)}," if s.compare else ""
        return f"atomic_{s.op}({target},{compare}{self.expr(s.value)})"

    def step(self, step: int) -> str:
        return str(step) if self.literals else "+" if step > 0 else "-"

    def expr(self, e: Expr) -> str:
        match e:
            case Const():
                return f"{e.type.name}:{self.literal(e)}"
            case Var():
                return self.names[e.name]
            case Op():
                args = [self.expr(a) for a in e.args] or [self.type(e.type)]
                if _commutes(e):
                    args.sort()
                return f"{e.op}({','.join(args)})"
            case Cast():
                return f"{e.type.name}({self.expr(e.value)})"
            case Load():
                return f"{self.names[e.array.name]}[{self.all(e.indices)}]"
            case Extent():
                return f"{self.names[e.array.name]}.shape{e.axis}"
            case Component():
                return f"{self.expr(e.value)}[{self.component(e.indices)}]"
            case Field():
                return f"{self.expr(e.value)}.{_position(e.value.type, e.name)}"
            case Call():
                return f"{self.functions[e.function]}({self.all(e.args)})"
            case Construct():
                return f"{self.type(e.type)}({self.all(e.args)})"
        return self.tile(e)

    def tile(self, e: Expr) -> str:
        """Its class, what it is made of, and all that is no expression."""
        if not isinstance(e, TileExpr):
            raise TypeError(f"{type(e).__name__} is no expression")
        said = [str(getattr(e, f.name)) for f in fields(e) if f.name in _SAID]  # type: ignore[arg-type]
        if isinstance(e, TileApply):
            said.append(self.functions[e.function])
        if isinstance(e, TileLoad):
            said.append(self.names[e.array.name])
        return f"{type(e).__name__}({','.join([*said, self.all(e.parts)])})"

    def literal(self, constant: Const) -> str:
        if not self.literals:
            return "#"
        value = constant.value
        return repr(float(value)) if isinstance(value, str) else str(value)

    def component(self, indices: tuple[Expr, ...]) -> str:
        # v[0] and v[1] differ in structure: a component index names a part, it is no number.
        return ",".join(str(i.value) if isinstance(i, Const) else self.expr(i) for i in indices)


_SAID = frozenset({"type", "op", "how", "axis", "shared"})


def _position(struct: Type, field: str) -> int:
    assert isinstance(struct, Struct)
    return [name for name, _ in struct.fields].index(field)


def _commutes(e: Op) -> bool:
    if e.op == "mul":
        return any(isinstance(a.type, Scalar) for a in e.args)
    return OPS[e.op].commutes
